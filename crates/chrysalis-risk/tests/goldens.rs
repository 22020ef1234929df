//! Figures that the tests of ARX and sdcMicro expect, typed in by hand from their sources.

use chrysalis_risk::{Asked, Basis, Measured, Population, RiskError, measure};
use chrysalis_table::{Column, Table, Unwatched};
use proptest::prelude::*;

/// A table of words; an empty one is missing.
fn table(rows: &[&[&str]]) -> Table {
    let column = |at: usize| Column::texts(format!("c{at}"), rows.iter().map(move |row| row[at]));
    Table::new((0..rows[0].len()).map(column).collect())
}

fn ask(table: &Table, population: Population<'_>, wildcard: bool) -> Result<Measured, RiskError> {
    let quasi: Vec<&Column> = table.columns().iter().collect();
    measure(&Asked { quasi: &quasi, population, wildcard, threshold: 0.2, max_size: None }, &Unwatched)
}

fn found(table: &Table, population: Population<'_>, wildcard: bool) -> Measured {
    ask(table, population, wildcard).expect("a report")
}

fn classes(found: &Measured) -> Vec<u64> {
    (0..found.rows as usize).map(|row| found.row(row).class).collect()
}

fn journalist(found: &Measured) -> Vec<f64> {
    (0..found.rows as usize).map(|row| found.row(row).journalist).collect()
}

#[track_caller]
fn close(found: &[f64], expected: &[f64], slack: f64) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= slack, "{found} instead of {expected}");
    }
}

/// `TestWildcardMatching` of ARX: three tables, and how many rows each row matches.
#[test]
fn arx_wildcards() {
    let first = table(&[
        &["M", "4711"],
        &["M", "4711"],
        &["M", "4711"],
        &["", "4711"],
        &["", "4711"],
        &["F", "4712"],
        &["F", ""],
        &["M", ""],
    ]);
    let second = table(&[
        &["", "F", "North"],
        &["68", "F", "North"],
        &["68", "", "North"],
        &["", "", "North"],
        &["", "", "North"],
        &["", "", "North"],
        &["68", "F", ""],
        &["68", "", "South"],
        &["68", "F", "South"],
        &["68", "F", "South"],
    ]);
    let third = table(&[
        &["73", "C18.7"],
        &["73", "C18.7"],
        &["", "C18.7"],
        &["", "C18.7"],
        &["", "C18.2"],
        &["67", "C18.2"],
        &["67", "C18.2"],
        &["67", "C18.7"],
        &["67", "C18.7"],
        &["67", "C18.7"],
    ]);
    let expected: [(&Table, &[u64]); 3] = [
        (&first, &[6, 6, 6, 7, 7, 2, 4, 6]),
        (&second, &[7, 7, 7, 7, 7, 7, 10, 4, 4, 4]),
        (&third, &[4, 4, 7, 7, 3, 3, 3, 5, 5, 5]),
    ];
    for (table, sizes) in expected {
        let found = found(table, Population::Unknown, true);
        assert_eq!(classes(&found), sizes);
        let mean = sizes.iter().map(|&size| 1.0 / size as f64).sum::<f64>() / sizes.len() as f64;
        let least = *sizes.iter().min().expect("rows");
        close(&[found.prosecutor.mean, found.prosecutor.max], &[mean, 1.0 / least as f64], 1e-15);
    }
}

/// `TestRiskQuasiIdentifiers` of ARX: distinction and separation of every set of columns.
#[test]
fn arx_distinction_and_separation() {
    let rows = [
        ["20", "Female", "CA"],
        ["30", "Female", "CA"],
        ["40", "Female", "TX"],
        ["20", "Male", "NY"],
        ["40", "Male", "CA"],
    ];
    let (age, sex, state) = (0, 1, 2);
    let expected: [(&[usize], f64, f64); 7] = [
        (&[sex], 0.4, 0.6),
        (&[state], 0.6, 0.7),
        (&[age], 0.6, 0.8),
        (&[sex, state], 0.8, 0.9),
        (&[age, state], 1.0, 1.0),
        (&[sex, age], 1.0, 1.0),
        (&[sex, age, state], 1.0, 1.0),
    ];
    for (columns, distinction, separation) in expected {
        let rows: Vec<Vec<&str>> = rows.iter().map(|row| columns.iter().map(|&at| row[at]).collect()).collect();
        let rows: Vec<&[&str]> = rows.iter().map(Vec::as_slice).collect();
        let found = found(&table(&rows), Population::Unknown, false);
        close(&[found.distinction.expect("no wildcards")], &[distinction], 1e-15);
        close(&[found.separation.expect("no wildcards")], &[separation], 1e-15);
        if columns.len() == 1 {
            close(&[found.columns[0].distinction, found.columns[0].separation], &[distinction, separation], 1e-15);
        }
    }
}

/// ARX's example of seven people, before and after it is made 2-anonymous (ages and zip codes in ranges, sexes gone).
#[test]
fn arx_example_of_seven_people() {
    let before = table(&[
        &["34", "male", "81667"],
        &["45", "female", "81675"],
        &["66", "male", "81925"],
        &["70", "female", "81931"],
        &["34", "female", "81931"],
        &["70", "male", "81931"],
        &["45", "male", "81931"],
    ]);
    let found_before = found(&before, Population::Size(35.0), false);
    assert_eq!(
        (found_before.prosecutor.mean, found_before.prosecutor.max, found_before.sample_uniques),
        (1.0, 1.0, 1.0)
    );
    assert_eq!(found_before.population_uniques.and_then(|found| found.chosen_share()), Some(1.0));
    let after = table(&[
        &["<50", "816**"],
        &["<50", "816**"],
        &[">=50", "819**"],
        &[">=50", "819**"],
        &["<50", "819**"],
        &[">=50", "819**"],
        &["<50", "819**"],
    ]);
    let found_after = found(&after, Population::Size(70.0), false);
    assert_eq!((found_after.prosecutor.mean, found_after.prosecutor.max), (3.0 / 7.0, 0.5));
    assert_eq!(found_after.population_uniques.and_then(|found| found.chosen_share()), Some(0.0));
}

const WEIGHTS: [f64; 8] = [18.0, 45.5, 39.0, 17.0, 92.0, 8.0, 123.5, 51.0];

/// `test_indivRisk` of sdcMicro, without missing values.
#[test]
fn sdcmicro_individual_risk() {
    let sample = table(&[
        &["2", "3", "1"],
        &["3", "3", "3"],
        &["2", "3", "1"],
        &["2", "3", "2"],
        &["3", "3", "1"],
        &["3", "3", "1"],
        &["1", "4", "1"],
        &["2", "3", "1"],
    ]);
    let weighted = found(&sample, Population::Weights(&WEIGHTS), false);
    let approximate = [
        0.013_698_63,
        0.085_791_29,
        0.013_698_63,
        0.177_075_83,
        0.018_778_83,
        0.018_778_83,
        0.039_316_25,
        0.013_698_63,
    ];
    close(&journalist(&weighted), &approximate, 5e-9);
    let exact = [
        0.013_552_97,
        0.085_791_29,
        0.013_552_97,
        0.177_075_83,
        0.018_778_83,
        0.018_778_83,
        0.039_316_25,
        0.013_552_97,
    ];
    let individual = weighted.individual.expect("weights");
    close(&[individual.exact.mean, individual.exact.max], &[exact.iter().sum::<f64>() / 8.0, 0.177_075_83], 5e-9);
    close(&[individual.approximate.mean], &[approximate.iter().sum::<f64>() / 8.0], 5e-9);
    let plain = found(&sample, Population::Unknown, false);
    assert_eq!(classes(&plain), [3, 1, 3, 1, 2, 2, 1, 3]);
    assert_eq!((plain.basis, weighted.basis), (Basis::Sample, Basis::Weights));
}

/// The same with missing values, which match anything.
#[test]
fn sdcmicro_individual_risk_with_missing_values() {
    let sample = table(&[
        &["2", "3", "1"],
        &["3", "3", "3"],
        &["2", "3", ""],
        &["2", "3", "2"],
        &["3", "3", "1"],
        &["3", "3", "1"],
        &["1", "4", ""],
        &["", "3", "1"],
    ]);
    let weighted = found(&sample, Population::Weights(&WEIGHTS), true);
    let approximate = [
        0.013_698_630,
        0.085_791_288,
        0.010_554_090,
        0.032_466_112,
        0.009_836_066,
        0.009_836_066,
        0.039_316_254,
        0.005_973_716,
    ];
    close(&journalist(&weighted), &approximate, 5e-10);
    let exact: [f64; 8] = [
        0.013_552_968,
        0.085_791_288,
        0.010_504_889,
        0.032_466_112,
        0.009_756_889,
        0.009_756_889,
        0.039_316_254,
        0.005_962_551,
    ];
    close(&[weighted.individual.expect("weights").exact.mean], &[exact.iter().sum::<f64>() / 8.0], 5e-10);
    assert_eq!(classes(&weighted), [3, 1, 4, 2, 3, 3, 1, 5]);
}

/// sdcMicro's `test_freqCalc`: a suppressed status matches all.
#[test]
fn sdcmicro_frequencies() {
    let before = table(&[&["single"], &["married"], &["married"], &["single"], &["widow"]]);
    assert_eq!(classes(&found(&before, Population::Unknown, true)), [2, 2, 2, 2, 1]);
    let after = table(&[&["single"], &["married"], &["married"], &["single"], &[""]]);
    assert_eq!(classes(&found(&after, Population::Unknown, true)), [3, 3, 3, 3, 5]);
    assert_eq!(classes(&found(&after, Population::Unknown, false)), [2, 2, 2, 2, 1]);
}

/// Two sample classes, one alone in the sample but not in the population, and one that the population lacks.
#[test]
fn journalists_look_people_up() {
    let sample = table(&[&["a"], &["b"], &["b"], &["d"]]);
    let people = table(&[&["a"], &["a"], &["a"], &["a"], &["b"], &["b"], &["c"], &["b"]]);
    let columns: Vec<&Column> = people.columns().iter().collect();
    let found = found(&sample, Population::Table(&columns), false);
    close(&journalist(&found), &[0.25, 1.0 / 3.0, 1.0 / 3.0, 1.0], 1e-15);
    // b: 2 rows of 3 people; a: 1 of 4; d: 1 of 1, because nobody in the table is outside the population.
    close(&[found.marketer, found.journalist.max], &[(0.25 + 2.0 / 3.0 + 1.0) / 4.0, 1.0], 1e-15);
    close(&[found.journalist_success], &[(0.25 + 2.0 / 3.0 + 1.0) / 4.0], 1e-15);
    assert_eq!((found.not_in_population, found.classes), (1, 3));
    // c alone is unique among eight people.
    assert_eq!((found.population, found.measured_uniques), (Some(8.0), Some(0.125)));
    close(&[found.prosecutor.mean, found.journalist.records_at_risk], &[0.75, 1.0], 1e-15);
}

#[test]
fn what_cannot_be_measured_is_said() {
    let sample = table(&[&["a"], &["b"]]);
    let told = |error: RiskError| (error.to_string(), error.hint().to_string());
    let small = ask(&sample, Population::Size(1.0), false).expect_err("too small");
    assert_eq!(
        told(small),
        (
            "the population has 1 rows, but the table has 2: a table is at most the whole population".to_owned(),
            "say how many people the rows were drawn from".to_owned()
        )
    );
    let quasi: Vec<&Column> = sample.columns().iter().collect();
    let asked =
        Asked { quasi: &quasi, population: Population::Unknown, wildcard: false, threshold: 0.2, max_size: Some(2) };
    let limit = measure(&asked, &Unwatched).expect_err("one column");
    let said = "minimal unique sets of up to 2 columns were asked for, but the number of quasi columns is 1";
    assert_eq!(told(limit).0, said);
    let asked = Asked { threshold: 1.5, max_size: None, ..asked };
    assert_eq!(told(measure(&asked, &Unwatched).expect_err("no share")).0, "the threshold 1.5 is not between 0 and 1");
    let asked = Asked { quasi: &[], threshold: 0.2, ..asked };
    assert_eq!(measure(&asked, &Unwatched).expect_err("no columns"), RiskError::NoColumns);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// People who match, counted one by one, with and without wildcards on either side.
    #[test]
    fn people_who_match_are_counted(
        sample in prop::collection::vec(prop::collection::vec(0u8..4, 3), 1..12),
        others in prop::collection::vec(prop::collection::vec(0u8..4, 3), 0..12),
        wild in any::<bool>(),
    ) {
        let words = ["", "a", "b", "c"];
        let spelled = |rows: &[Vec<u8>]| -> Vec<Vec<&'static str>> {
            rows.iter().map(|row| row.iter().map(|&code| words[usize::from(code)]).collect()).collect()
        };
        let everybody: Vec<Vec<u8>> = sample.iter().chain(&others).cloned().collect();
        let (own, all) = (spelled(&sample), spelled(&everybody));
        let own_table = table(&own.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let all_table = table(&all.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let columns: Vec<&Column> = all_table.columns().iter().collect();
        let found = found(&own_table, Population::Table(&columns), wild);
        let is_same = |a: u8, b: u8| a == b || wild && (a == 0 || b == 0);
        for (at, row) in sample.iter().enumerate() {
            let people = everybody.iter().filter(|other| row.iter().zip(*other).all(|(&a, &b)| is_same(a, b))).count();
            prop_assert!((found.row(at).journalist - 1.0 / people as f64).abs() < 1e-15);
        }
        prop_assert_eq!(found.not_in_population, 0);
    }
}
