//! What a reader of the visits may rely on.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use crate::{DISEASE_TAXONOMY, Hospital, PatientId, VISIT_COLUMNS, Visit, Visits, write_visits};

const PATIENTS: usize = 30_000;

fn visits() -> Vec<Visit> {
    Visits::new(1, PATIENTS as u64).collect()
}

fn by_patient(visits: &[Visit]) -> BTreeMap<PatientId, Vec<&Visit>> {
    let mut by_patient: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for visit in visits {
        by_patient.entry(visit.patient).or_default().push(visit);
    }
    by_patient
}

fn export(patients: u64, seed: u64) -> String {
    let mut out = Vec::new();
    let n_visits = write_visits(&mut out, patients, seed).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert_eq!(text.lines().count() as u64, 1 + n_visits);
    text
}

#[test]
fn one_seed_gives_one_export() {
    assert_eq!(export(2_000, 42), export(2_000, 42));
    assert_ne!(export(10, 42), export(10, 43));
}

#[test]
fn the_first_visits_of_seed_1_stay_as_they_are() {
    assert_eq!(
        export(3, 1).lines().take(4).collect::<Vec<_>>(),
        [
            ";visit_id;patient_id;name;age;sex;zip_code;admitted;diagnosis;cost;days",
            "0;V15812683;P44917856;Niels Netensen;25;M;01210;2024-01-16 17:36;alcohol dependence;3078,31;2",
            "1;V87893941;P70802057;Leon Dorislund;6;M;01210;2023-04-14 09:52;urinary infection;4787,83;11",
            "2;V17929271;P24299354;Clara Temerfeld;89;F;12106;2024-11-23 10:18;breast cancer;12718,24;4",
        ]
    );
}

#[test]
fn visits_of_two_thousand_patients_keep_their_checksum() {
    let sum = export(2_000, 1)
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    assert_eq!(sum, 0x258f_ddc5_2045_2db0, "{sum:#x}");
}

/// Both files are about the same people.
#[test]
fn everybody_in_the_table_of_patients_comes_and_the_first_visit_is_the_stay_there() {
    let visits = visits();
    let by_patient = by_patient(&visits);
    assert_eq!(by_patient.len(), PATIENTS);
    for patient in Hospital::new(1).take(PATIENTS) {
        let first = by_patient[&patient.id][0];
        assert_eq!((first.sex, first.zip_code), (patient.sex, patient.zip_code));
        assert_eq!((first.admission_date, first.diagnosis), (patient.admission_date, patient.disease));
        assert_eq!((first.cents + 50) / 100, patient.cost);
        assert!(first.age.is_none_or(|age| age == patient.age));
    }
}

#[test]
fn most_come_once_and_nobody_more_than_eight_times() {
    let visits = visits();
    let mut by_number = [0; 9];
    for (_, visits) in by_patient(&visits) {
        by_number[visits.len()] += 1;
    }
    assert!((PATIENTS * 65 / 100..PATIENTS * 75 / 100).contains(&by_number[1]), "{by_number:?}");
    assert!(by_number[1..].is_sorted_by(|a, b| a > b), "{by_number:?}");
    assert!(by_number[8] * 1000 > PATIENTS, "{by_number:?}");
}

#[test]
fn a_patient_stays_who_they_are_grows_older_and_seldom_moves() {
    let visits = visits();
    let (mut again, mut moved, mut older, mut same) = (0, 0, 0, 0);
    for (_, visits) in by_patient(&visits) {
        for pair in visits.windows(2) {
            let [earlier, later] = pair else { unreachable!("windows of two") };
            assert_eq!((earlier.name, earlier.sex), (later.name, later.sex));
            assert!(earlier.admission_date < later.admission_date);
            again += 1;
            moved += usize::from(earlier.zip_code != later.zip_code);
            same += usize::from(earlier.diagnosis == later.diagnosis);
            if let (Some(before), Some(after)) = (earlier.age, later.age) {
                assert!((before..=before + 1).contains(&after), "{earlier:?} {later:?}");
                older += usize::from(before < after);
            }
        }
    }
    for (part, percent) in [(moved, 2..4), (older, 24..29), (same, 51..56)] {
        assert!(percent.contains(&(part * 100 / again)), "{part} of {again} are not {percent:?} %");
    }
}

/// Otherwise a tool that only looks at neighbours would seem to see persons.
#[test]
fn visits_of_one_patient_are_apart() {
    let visits = visits();
    let neighbours = visits.windows(2).filter(|pair| pair[0].patient == pair[1].patient).count();
    assert!(neighbours * 500 < visits.len(), "{neighbours} of {}", visits.len());
}

#[test]
fn visit_ids_are_unique_and_in_no_order() {
    let ids: Vec<_> = visits().iter().map(|visit| visit.id).collect();
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len());
    let ascents = ids.windows(2).filter(|pair| pair[0] < pair[1]).count();
    assert!((ids.len() * 49 / 100..ids.len() * 51 / 100).contains(&ascents), "{ascents} ascents");
}

#[test]
fn few_patients_share_a_name() {
    let visits = visits();
    let names: BTreeSet<String> = visits.iter().map(|visit| visit.name.to_string()).collect();
    assert!(names.len() * 10 > PATIENTS * 8, "{} names of {PATIENTS} patients", names.len());
}

#[test]
fn no_diagnosis_has_a_tenth_of_the_visits_and_each_is_a_leaf() {
    let visits = visits();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for visit in &visits {
        *counts.entry(visit.diagnosis).or_default() += 1;
    }
    assert!(counts.values().all(|&found| found * 10 < visits.len()), "{counts:?}");
    let leaves: BTreeSet<&str> = DISEASE_TAXONOMY.lines().filter_map(|line| line.split(';').next()).collect();
    assert_eq!(counts.into_keys().collect::<BTreeSet<_>>(), leaves);
}

#[test]
fn stays_are_short_and_longer_ones_cost_more() {
    let visits = visits();
    let days: BTreeSet<u8> = visits.iter().map(|visit| visit.days).collect();
    assert_eq!((days.first(), days.last()), (Some(&1), Some(&39)));
    for day in &days {
        let found = visits.iter().filter(|visit| visit.days == *day).count();
        assert!(found * 5 < visits.len(), "{found} of {} stay for {day} days", visits.len());
    }
    let mean = |diagnosis: &str, is_long: bool| {
        let stays = visits.iter().filter(|visit| visit.diagnosis == diagnosis && (visit.days > 8) == is_long);
        let cents: Vec<u64> = stays.map(|visit| visit.cents.into()).collect();
        cents.iter().sum::<u64>() / cents.len() as u64
    };
    for diagnosis in ["stroke", "depression", "pneumonia"] {
        assert!(mean(diagnosis, true) * 10 > mean(diagnosis, false) * 13, "{diagnosis}");
    }
}

#[test]
fn about_one_age_in_two_hundred_is_missing() {
    let visits = visits();
    let missing = visits.iter().filter(|visit| visit.age.is_none()).count();
    assert!((visits.len() * 4 / 1000..visits.len() * 6 / 1000).contains(&missing), "{missing} of {}", visits.len());
}

#[test]
fn the_export_is_what_a_spreadsheet_of_europe_writes() {
    let text = export(3_000, 3);
    assert!(text.is_ascii() && !text.contains(['"', '\'', '\r']));
    for (at, line) in text.lines().enumerate() {
        let fields: Vec<&str> = line.split(';').collect();
        assert_eq!(fields.len(), VISIT_COLUMNS.len());
        if let Some(index) = at.checked_sub(1) {
            assert_eq!(fields[0], index.to_string());
            let (units, cents) = fields[9].split_once(',').unwrap();
            assert!(units.parse::<u32>().is_ok() && cents.len() == 2 && cents.parse::<u8>().is_ok());
            assert!(("2023-01-01 00:00"..="2025-12-31 23:59").contains(&fields[7]), "{}", fields[7]);
        }
    }
}

#[test]
fn a_full_disk_is_reported() {
    let mut disk = [0; 100];
    let error = write_visits(&mut &mut disk[..], 1_000, 1).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::WriteZero);
}
