use chrysalis_table::Unwatched;
use proptest::prelude::*;

use super::*;

/// People as values per column; groups as a list of people, of whom only the columns are shown.
fn problem(people: &[Vec<u32>], shown: &[Vec<Vec<u32>>]) -> Problem {
    let n_columns = people[0].len();
    let mut columns = vec![std::collections::BTreeMap::new(); n_columns];
    for (group, rows) in (0..).zip(shown) {
        for row in rows {
            for (column, &value) in row.iter().enumerate() {
                *columns[column].entry((value, group)).or_insert(0) += 1;
            }
        }
    }
    let columns =
        columns.into_iter().map(|shown| shown.into_iter().map(|((value, group), n)| (value, group, n)).collect());
    let mut kinds = std::collections::BTreeMap::new();
    people.iter().for_each(|person| *kinds.entry(person.clone()).or_insert(0) += 1);
    let codes = kinds.keys().flatten().copied().collect();
    Problem::new(columns.collect(), codes, kinds.values().copied().collect(), shown.len())
}

/// By trying everything.
fn is_possible(people: &[Vec<u32>], shown: &[Vec<Vec<u32>>], taken: &mut [Vec<Vec<u32>>]) -> bool {
    let Some((person, rest)) = people.split_first() else { return true };
    for group in 0..shown.len() {
        let fits = (0..person.len()).all(|column| {
            let n = |rows: &[Vec<u32>]| rows.iter().filter(|row| row[column] == person[column]).count();
            n(&shown[group]) > n(&taken[group])
        });
        if fits {
            taken[group].push(person.clone());
            let is_done = is_possible(rest, shown, taken);
            taken[group].pop();
            if is_done {
                return true;
            }
        }
    }
    false
}

fn groups(n_columns: usize) -> impl Strategy<Value = Vec<Vec<Vec<u32>>>> {
    prop::collection::vec(prop::collection::vec(prop::collection::vec(0u32..3, n_columns), 1..4), 1..4)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn what_was_published_of_people_is_possible(shown in (1usize..4).prop_flat_map(groups)) {
        let people: Vec<Vec<u32>> = shown.iter().flatten().cloned().collect();
        prop_assert_eq!(decide(&problem(&people, &shown), &Unwatched), Verdict::Possible);
    }

    #[test]
    fn every_verdict_is_that_of_trying_everything(
        (shown, swaps) in (2usize..4).prop_flat_map(|n| (groups(n), prop::collection::vec((0usize..9, 0usize..9, 0..n), 1..4))),
    ) {
        let people: Vec<Vec<u32>> = shown.iter().flatten().cloned().collect();
        // Exchange single values between people: every column keeps its multiset over all.
        let mut altered = people.clone();
        for (a, b, column) in swaps {
            let (a, b) = (a % people.len(), b % people.len());
            let value = altered[a][column];
            altered[a][column] = altered[b][column];
            altered[b][column] = value;
        }
        let expected = is_possible(&altered, &shown, &mut vec![Vec::new(); shown.len()]);
        let verdict = decide(&problem(&altered, &shown), &Unwatched);
        let is_open = matches!(verdict, Verdict::Open { .. });
        prop_assert!(!is_open);
        prop_assert_eq!(verdict == Verdict::Possible, expected, "{:?}", verdict);
    }
}
