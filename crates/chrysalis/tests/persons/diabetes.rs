//! A real table of patients, many of whom were in hospital several times.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use chrysalis::table::Unwatched;
use chrysalis::{Draft, Seed, files, publish};
use serde_json::json;

use crate::common::{number, text};

/// The table, or `None` with a printed sentence.
fn diabetes() -> Option<PathBuf> {
    let folder = std::env::var_os("CHRYSALIS_DATA")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"), PathBuf::from);
    let path = folder.join("diabetes_hospitals.csv.gz");
    if !path.is_file() {
        eprintln!("skipped: no data folder ({} is not there; set CHRYSALIS_DATA)", path.display());
        return None;
    }
    Some(path)
}

/// No group below ten persons, no diagnosis that more than a quarter of them may have, three different days; and every
/// group has as many patients who fit its box as it says.
#[test]
fn a_real_table_recounted_from_its_release() {
    let Some(path) = diabetes() else { return };
    let draft: Draft = serde_json::from_value(json!({
        "input": path, "person": "patient_nbr", "quasi": ["race", "gender", "age"],
        "sensitive": ["diag_1", "time_in_hospital"],
        "release": {"method": "generalize", "require": ["k=10", "diag_1:l=4", "time_in_hospital:distinct-l=3"]},
    }))
    .unwrap();
    let input = draft.open().unwrap();
    let recipe = draft.check(input.header()).unwrap();
    let table = files::read(input, recipe.requests(), "read", &Unwatched).unwrap();
    let n_patients = table.column("patient_nbr").unwrap().domain().len() as i64;
    assert_eq!((table.rows(), n_patients), (101_766, 71_518));
    let made = publish(table, &recipe, Seed::Fixed(1), &Unwatched).unwrap();
    let release = &made.release;
    let groups = release.table("groups").unwrap();
    let (id, counts) = (groups.column("group_id").unwrap(), groups.column("persons").unwrap());
    let persons: BTreeMap<String, i64> = (0..groups.rows()).map(|row| (text(id, row), number(counts, row))).collect();
    assert_eq!(persons.len(), groups.rows());
    assert_eq!(persons.values().sum::<i64>(), n_patients);
    assert!(persons.values().all(|&n| n >= 10));
    let shown = release.table("generalized").unwrap();
    assert_eq!(shown.rows(), 101_766);
    let column = |name: &str| shown.column(name).unwrap();
    let mut diagnoses: BTreeMap<(String, String), i64> = BTreeMap::new();
    let mut days: BTreeMap<String, BTreeSet<i64>> = BTreeMap::new();
    for row in 0..shown.rows() {
        let group = text(column("group_id"), row);
        *diagnoses.entry((group.clone(), text(column("diag_1"), row))).or_default() += 1;
        days.entry(group).or_default().insert(number(column("time_in_hospital"), row));
    }
    for ((group, diagnosis), count) in diagnoses {
        assert!(4 * count <= persons[&group], "{count} rows with {diagnosis} in group {group} of {}", persons[&group]);
    }
    assert_eq!(days.len(), persons.len());
    assert!(days.values().all(|days| days.len() >= 3));
    assert!(persons.len() > 100, "{} groups keep little", persons.len());
}
