//! What a reader of the table may rely on.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use crate::{COLUMNS, DISEASE_TAXONOMY, Hospital, OCCUPATION_TAXONOMY, Patient, SPEC, Sex, write_csv};

const ROWS: usize = 50_000;

fn patients() -> impl Iterator<Item = Patient> {
    Hospital::new(1).take(ROWS)
}

fn csv(rows: u64, seed: u64) -> String {
    let mut out = Vec::new();
    write_csv(&mut out, rows, seed).unwrap();
    String::from_utf8(out).unwrap()
}

fn counts<T: Ord>(values: impl Iterator<Item = T>) -> BTreeMap<T, usize> {
    let mut counts = BTreeMap::new();
    for value in values {
        *counts.entry(value).or_default() += 1;
    }
    counts
}

/// The leaves, after checking that the taxonomy has three levels and no name twice.
fn leaves(taxonomy: &'static str) -> BTreeSet<&'static str> {
    let mut leaves = BTreeSet::new();
    let mut parents = BTreeSet::new();
    for line in taxonomy.lines() {
        let levels: Vec<&str> = line.split(';').collect();
        let [leaf, parent, "*"] = levels[..] else { panic!("`{line}` is not `leaf;parent;*`") };
        assert!(leaves.insert(leaf), "`{leaf}` occurs twice");
        parents.insert(parent);
    }
    assert!(leaves.is_disjoint(&parents), "a leaf and an inner node share a name");
    leaves
}

#[test]
fn one_seed_gives_one_table() {
    assert_eq!(csv(2_000, 42), csv(2_000, 42));
    assert!(csv(2_000, 42).starts_with(&csv(500, 42)), "fewer rows are a prefix of more");
    assert_ne!(csv(10, 42), csv(10, 43));
}

/// A change here changes every documented number that rests on the example table.
#[test]
fn the_first_patients_of_seed_1_stay_who_they_are() {
    assert_eq!(
        csv(3, 1),
        "patient_id,age,sex,zip_code,occupation,admission_date,disease,cost\n\
         P44917856,25,M,01210,builder,2024-01-16,alcohol dependence,3078\n\
         P70802057,6,M,01210,pupil,2023-04-14,urinary infection,4788\n\
         P24299354,89,F,12106,retired,2024-11-23,breast cancer,12718\n"
    );
}

#[test]
fn ten_thousand_rows_of_seed_1_keep_their_checksum() {
    // FNV-1a: short enough to stand here, and a changed byte anywhere shows.
    let sum = csv(10_000, 1)
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    assert_eq!(sum, 0xa89d_ef78_8887_4d34, "{sum:#x}");
}

#[test]
fn patient_ids_are_unique_and_in_no_order() {
    let ids: Vec<_> = patients().map(|patient| patient.id).collect();
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ROWS);
    let ascents = ids.windows(2).filter(|pair| pair[0] < pair[1]).count();
    assert!((ROWS * 49 / 100..ROWS * 51 / 100).contains(&ascents), "{ascents} ascents");
    assert!(ids.iter().all(|id| id.to_string().len() == 9));
}

#[test]
fn no_disease_has_a_tenth_of_the_rows() {
    let counts = counts(patients().map(|patient| patient.disease));
    assert!(counts.values().all(|&found| found * 10 < ROWS), "{counts:?}");
    assert!(counts.values().all(|&found| found * 100 >= ROWS), "each has at least one percent: {counts:?}");
}

#[test]
fn every_occupation_and_disease_is_a_leaf_and_every_leaf_occurs() {
    let occupations: BTreeSet<_> = patients().filter_map(|patient| patient.occupation).collect();
    assert_eq!(occupations, leaves(OCCUPATION_TAXONOMY));
    let diseases: BTreeSet<_> = patients().map(|patient| patient.disease).collect();
    assert_eq!(diseases, leaves(DISEASE_TAXONOMY));
}

#[test]
fn about_one_occupation_in_a_hundred_is_missing() {
    let missing = patients().filter(|patient| patient.occupation.is_none()).count();
    assert!((ROWS * 8 / 1000..ROWS * 12 / 1000).contains(&missing), "{missing} of {ROWS}");
}

#[test]
fn occupations_suit_the_age() {
    for patient in patients() {
        let ages = match patient.occupation {
            None => 0..=100,
            Some("child") => 0..=5,
            Some("pupil") => 6..=18,
            Some("student") => 16..=44,
            Some("retired") => 60..=100,
            Some("physician") => 26..=100,
            Some("teacher" | "engineer") => 26..=74,
            Some("homemaker" | "driver") => 19..=74,
            Some(_) => 16..=100,
        };
        assert!(ages.contains(&patient.age), "{patient:?}");
    }
}

#[test]
fn diseases_follow_sex_and_season() {
    assert!(patients().all(|patient| patient.disease != "breast cancer" || patient.sex == Sex::Female));
    let influenza = patients().filter(|patient| patient.disease == "influenza");
    let by_month = counts(influenza.map(|patient| patient.admission_date.month));
    assert!(by_month[&1] > 5 * by_month[&7], "{by_month:?}");
}

#[test]
fn zip_codes_have_five_digits_and_some_begin_with_zero() {
    let codes: BTreeSet<String> = patients().map(|patient| patient.zip_code.to_string()).collect();
    assert!(codes.iter().all(|code| code.len() == 5));
    assert_eq!(codes.len(), 96);
    assert_eq!(codes.iter().filter(|code| code.starts_with('0')).count(), 48);
    let prefixes: BTreeSet<&str> = codes.iter().map(|code| &code[..3]).collect();
    assert_eq!(Vec::from_iter(prefixes), ["012", "013", "067", "120", "121", "122"]);
}

#[test]
fn admissions_cover_two_years_day_by_day() {
    let days: BTreeSet<String> = patients().map(|patient| patient.admission_date.to_string()).collect();
    assert_eq!(days.len(), 731);
    assert_eq!(days.first().unwrap(), "2023-01-01");
    assert_eq!(days.last().unwrap(), "2024-12-31");
    assert!(days.contains("2024-02-29"));
}

#[test]
fn costs_are_positive_spread_out_and_skewed() {
    let mut costs: Vec<u64> = Hospital::new(1).take(10_000).map(|patient| patient.cost.into()).collect();
    costs.sort_unstable();
    assert!(costs[0] > 0);
    assert!(costs.iter().collect::<BTreeSet<_>>().len() > 5_000);
    let (median, mean) = (costs[costs.len() / 2], costs.iter().sum::<u64>() / costs.len() as u64);
    assert!(mean * 10 > median * 13, "mean {mean}, median {median}");
}

#[test]
fn no_field_needs_quotes() {
    let text = csv(5_000, 3);
    assert!(text.is_ascii() && !text.contains(['"', '\'', ';', '\r']));
    assert!(text.lines().all(|line| line.split(',').count() == COLUMNS.len()));
}

#[test]
fn the_spec_names_every_column_but_cost() {
    let named: Vec<&str> =
        SPEC.lines().filter_map(|line| line.strip_prefix("[attributes.")?.strip_suffix("]")).collect();
    assert_eq!(named, COLUMNS[..7]);
}

#[test]
fn a_full_disk_is_reported() {
    let mut disk = [0; 100];
    let error = write_csv(&mut &mut disk[..], 1_000, 1).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::WriteZero);
}
