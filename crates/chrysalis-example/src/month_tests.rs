use std::collections::{BTreeMap, BTreeSet};

use crate::{write_csv, write_month};

/// The lines of a month.
fn month(rows: u64, month: u64) -> BTreeSet<String> {
    let mut csv = Vec::new();
    let n = write_month(&mut csv, rows, 5, month).unwrap();
    let lines: BTreeSet<String> = String::from_utf8(csv).unwrap().lines().skip(1).map(str::to_owned).collect();
    assert_eq!(lines.len() as u64, n, "nobody is there twice");
    lines
}

#[test]
fn patients_stay_leave_come_and_come_back() {
    let mut first = Vec::new();
    write_csv(&mut first, 600, 5).unwrap();
    let first: BTreeSet<String> = String::from_utf8(first).unwrap().lines().skip(1).map(str::to_owned).collect();
    let months: Vec<BTreeSet<String>> = (0..12).map(|at| month(600, at)).collect();
    assert_eq!(months[0], first);
    for (one, next) in months.iter().zip(&months[1..]) {
        let stay = one.intersection(next).count();
        assert!((480..=545).contains(&stay) && (560..=605).contains(&next.len()), "{stay} {}", next.len());
    }
    // By patient, in which months.
    let mut lives: BTreeMap<&String, Vec<usize>> = BTreeMap::new();
    for (at, lines) in months.iter().enumerate() {
        lines.iter().for_each(|line| lives.entry(line).or_default().push(at));
    }
    let ids: BTreeSet<&str> = lives.keys().map(|line| line.split(',').next().unwrap()).collect();
    assert_eq!(ids.len(), lives.len(), "what is said of a patient never changes");
    let gaps = |gap: usize| lives.values().filter(|life| life.windows(2).any(|two| two[1] - two[0] == gap)).count();
    assert!(gaps(2) > 5 && gaps(3) > 5 && gaps(4) == 0, "{} {}", gaps(2), gaps(3));
}
