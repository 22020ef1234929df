use chrysalis_table::{Column, Table, Unwatched};
use proptest::prelude::*;

use super::*;
use crate::{Asked, Measured, Population, measure};

/// The minimal uniques of a row, straight from the definition: all sets of columns, all rows.
fn brute_force(table: &[Vec<u32>], row: usize, limit: usize, wild: bool) -> Vec<Vec<usize>> {
    let n_columns = table[0].len();
    let is_same = |a: u32, b: u32| a == b || wild && (a == 0 || b == 0);
    let is_unique = |set: u64| {
        let matches = |other: &Vec<u32>| {
            (0..n_columns).filter(|at| set >> at & 1 == 1).all(|at| is_same(other[at], table[row][at]))
        };
        table.iter().filter(|other| matches(other)).count() == 1
    };
    // What a row lacks is no part of what singles it out.
    let has_all = |set: u64| !wild || (0..n_columns).all(|at| set >> at & 1 == 0 || table[row][at] != 0);
    let is_minimal = |set: &u64| {
        set.count_ones() as usize <= limit
            && has_all(*set)
            && is_unique(*set)
            && (0..n_columns)
                .filter(|at| set >> at & 1 == 1)
                .all(|at| set == &(1 << at) || !is_unique(set & !(1 << at)))
    };
    let mut sets: Vec<u64> = (1..1u64 << n_columns).filter(is_minimal).collect();
    sets.sort_unstable_by_key(|set| (set.count_ones(), *set));
    sets.into_iter().map(|set| (0..n_columns).filter(|at| set >> at & 1 == 1).collect()).collect()
}

/// A table of words; 0 is a missing value.
fn table(rows: &[Vec<u32>]) -> Table {
    let words: Vec<Vec<String>> = rows
        .iter()
        .map(|row| row.iter().map(|&code| if code == 0 { String::new() } else { format!("v{code}") }).collect())
        .collect();
    let column = |at: usize| Column::texts(format!("c{at}"), words.iter().map(move |row| row[at].as_str()));
    Table::new((0..rows[0].len()).map(column).collect())
}

fn measured(rows: &[Vec<u32>], limit: Option<usize>, wild: bool) -> Measured {
    let table = table(rows);
    let quasi: Vec<&Column> = table.columns().iter().collect();
    let asked =
        Asked { quasi: &quasi, population: Population::Unknown, wildcard: wild, threshold: 0.2, max_size: limit };
    measure(&asked, &Unwatched).expect("a report")
}

fn scores(found: &Measured) -> Vec<f64> {
    (0..found.rows as usize).map(|row| found.row(row).suda).collect()
}

/// Words as codes, in order of appearance.
fn coded(rows: &[&[&str]]) -> Vec<Vec<u32>> {
    let mut known: Vec<&str> = Vec::new();
    let mut code = |word| {
        let place = known.iter().position(|other| *other == word).unwrap_or_else(|| {
            known.push(word);
            known.len() - 1
        });
        place as u32 + 1
    };
    rows.iter().map(|row| row.iter().map(|&word| code(word)).collect()).collect()
}

/// The example of the guide to disclosure control that sdcMicro tests its SUDA with, and the scores it expects.
#[test]
fn sdcmicro_scores_of_the_guide_table() {
    let rows = coded(&[
        &["Urban", "Female", "Secondary incomplete", "Employed"],
        &["Urban", "Female", "Secondary incomplete", "Employed"],
        &["Urban", "Female", "Primary incomplete", "Non-LF"],
        &["Urban", "Male", "Secondary complete", "Employed"],
        &["Rural", "Female", "Secondary complete", "Unemployed"],
        &["Urban", "Male", "Secondary complete", "Employed"],
        &["Urban", "Female", "Primary complete", "Non-LF"],
        &["Urban", "Male", "Post-secondary", "Unemployed"],
        &["Urban", "Female", "Secondary incomplete", "Non-LF"],
        &["Urban", "Female", "Secondary incomplete", "Non-LF"],
    ]);
    let found = measured(&rows, None, false);
    assert_eq!(scores(&found), [0.0, 0.0, 6.0, 0.0, 12.0, 0.0, 6.0, 10.0, 0.0, 0.0]);
    assert_eq!(found.row(4).minimal_uniques, [vec![0], vec![1, 2], vec![1, 3], vec![2, 3]]);
    assert_eq!(found.suda.by_size, [4, 5, 0, 0]);
}

/// The example of Templ's book, of which sdcMicro tests the last four rows.
#[test]
fn sdcmicro_scores_of_the_book_table() {
    let rows = coded(&[
        &["20s", "male", "50k+", "highschool"],
        &["20s", "male", "50k+", "highschool"],
        &["20s", "male", "50k-", "highschool"],
        &["20s", "male", "50k-", "highschool"],
        &["20s", "female", "50k-", "university"],
        &["20s", "female", "50k-", "highschool"],
        &["20s", "female", "50k-", "middleschool"],
        &["60s", "male", "50k-", "university"],
    ]);
    assert_eq!(scores(&measured(&rows, None, false))[4..], [4.0, 2.0, 6.0, 8.0]);
}

/// sdcMicro's test of what columns contribute, whatever their order.
#[test]
fn sdcmicro_contributions() {
    let (a, b, c) = ([2, 1, 1], [4, 3, 4], [5, 6, 5]);
    for order in [[a, b, c], [a, c, b], [c, a, b], [c, b, a]] {
        let rows: Vec<Vec<u32>> = (0..3).map(|row| order.iter().map(|column| column[row]).collect()).collect();
        let found = measured(&rows, None, false);
        let expected = |column: &[u32; 3]| if *column == a { 0.5 } else { 0.375 };
        for (column, told) in order.iter().zip(&found.columns) {
            assert_eq!(told.suda_contribution, Some(expected(column)));
        }
    }
}

/// A limit of two columns: M is 2, so a set of one adds (4−1)(4−2) and a set of two adds 4−2.
#[test]
fn a_limit_shortens_the_product() {
    assert_eq!([score(1, 4, 3), score(2, 4, 3), score(3, 4, 3), score(4, 4, 3)], [6.0, 2.0, 1.0, 1.0]);
    assert_eq!([score(1, 4, 2), score(2, 4, 2)], [6.0, 2.0]);
    assert_eq!([score(1, 9, 2), score(2, 9, 2)], [56.0, 7.0]);
    assert_eq!((largest_factor(9, 9), largest_factor(3, 9), largest_factor(1, 1)), (8, 3, 0));
}

/// Missing values match anything: the second row has no set of its own, because the first one may be anybody.
#[test]
fn a_row_that_lacks_everything_hides_all_others() {
    let rows = vec![vec![0, 0, 0], vec![1, 1, 1], vec![2, 2, 1]];
    assert_eq!(scores(&measured(&rows, None, true)), [0.0, 0.0, 0.0]);
    assert_eq!(scores(&measured(&rows, None, false))[1..], [4.0, 4.0]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn minimal_uniques_are_those_of_the_definition(
        n_columns in 1usize..6,
        seed in prop::collection::vec(prop::collection::vec(0u32..4, 6), 1..24),
        limit in 0usize..6,
        wild in any::<bool>(),
    ) {
        let rows: Vec<Vec<u32>> = seed.iter().map(|row| row[..n_columns].to_vec()).collect();
        let limit = Some(limit).filter(|limit| (1..=n_columns).contains(limit));
        let found = measured(&rows, limit, wild);
        let all = limit.unwrap_or(n_columns);
        let mut total = 0.0;
        for row in 0..rows.len() {
            let expected = brute_force(&rows, row, all, wild);
            let told = found.row(row);
            prop_assert_eq!(&told.minimal_uniques, &expected);
            let adds = |set: &Vec<usize>| score(set.len(), n_columns, largest_factor(all, n_columns));
            prop_assert_eq!(told.suda, expected.iter().map(adds).sum::<f64>());
            total += told.suda;
        }
        prop_assert!((found.suda.mean * rows.len() as f64 - total).abs() < 1e-9);
    }

    /// Whether codes are packed into a short number, a long one, or none, the same sets are found.
    #[test]
    fn every_kind_of_record_finds_the_same(
        seed in prop::collection::vec(prop::collection::vec(1u32..5, 7), 2..60),
        limit in 1usize..8,
    ) {
        use super::record::{Packed, Plain, fields};
        let table = table(&seed);
        let quasi: Vec<&Column> = table.columns().iter().collect();
        let keys = Keys::of(&quasi, None, &Unwatched);
        let is_alone: Vec<bool> = keys.rows.iter().map(|&rows| rows == 1).collect();
        let (fields, _) = fields(&keys);
        let sets = |lists: Lists| -> Vec<Vec<u64>> {
            (0..keys.len() as u32)
                .map(|key| {
                    let mut sets: Vec<u64> = lists.of(key).collect();
                    sets.sort_unstable();
                    sets
                })
                .collect()
        };
        let short = sets(refine::search_by::<Packed<u64>>(&keys, &fields, &is_alone, limit, &Unwatched));
        let long = sets(refine::search_by::<Packed<u128>>(&keys, &fields, &is_alone, limit, &Unwatched));
        let plain = sets(refine::search_by::<Plain>(&keys, &fields, &is_alone, limit, &Unwatched));
        prop_assert_eq!(&short, &long);
        prop_assert_eq!(&short, &plain);
    }

    #[test]
    fn rows_that_match_are_counted(
        n_columns in 1usize..5,
        seed in prop::collection::vec(prop::collection::vec(0u32..4, 5), 1..30),
        wild in any::<bool>(),
    ) {
        let rows: Vec<Vec<u32>> = seed.iter().map(|row| row[..n_columns].to_vec()).collect();
        let found = measured(&rows, Some(1), wild);
        let is_same = |a: u32, b: u32| a == b || wild && (a == 0 || b == 0);
        let mut mean = 0.0;
        for (at, row) in rows.iter().enumerate() {
            let matches = rows.iter().filter(|other| row.iter().zip(*other).all(|(&a, &b)| is_same(a, b))).count();
            prop_assert_eq!(found.row(at).class, matches as u64);
            mean += 1.0 / matches as f64 / rows.len() as f64;
        }
        prop_assert!((found.prosecutor.mean - mean).abs() < 1e-12);
    }
}
