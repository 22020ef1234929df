//! Surplus rows: how many are dropped, and which.

use std::collections::BTreeSet;

use serde_json::json;

use crate::common::{Dice, Row, groups, published, table};

/// Persons with one to five rows, each row with a stamp of its own.
fn rows(n_persons: usize) -> Vec<Row> {
    let mut dice = Dice(11);
    let mut rows = Vec::new();
    for person in 0..n_persons {
        for _ in 0..1 + dice.below(5) {
            let number = Some(rows.len() as i64);
            rows.push(Row {
                person,
                quasi: vec![person as i64 % 9],
                words: vec![format!("d{}", dice.below(30))],
                number,
            });
        }
    }
    rows
}

/// The stamps of the rows that are left, from every form that shows them.
fn left(rows: &[Row], most: u64, method: &str, seed: u64) -> (BTreeSet<i64>, Option<u64>) {
    let draft = json!({
        "person": "id", "rows_per_person": most, "quasi": ["age"], "sensitive": ["disease", "stamp"],
        "attributes": {"stamp": {"near": 1}}, "release": {"method": method, "require": ["k=2", "disease:l=2"]},
    });
    let made = published(&table(rows), &draft, seed).unwrap();
    let stamps = groups(&made.release, &["age"], &["stamp"]).into_values().flat_map(|mut group| {
        let shown = group.values.remove("stamp").unwrap();
        assert!(shown.values().all(|it| it.0 == 1));
        shown.into_keys().map(|text| text.parse::<i64>().unwrap()).collect::<Vec<_>>()
    });
    let stamps: Vec<i64> = stamps.collect();
    let different: BTreeSet<i64> = stamps.iter().copied().collect();
    assert_eq!((different.len() as u64, stamps.len()), (made.release.manifest.rows, different.len()));
    (different, made.report.surplus_rows)
}

#[test]
fn the_surplus_is_dropped_and_counted() {
    let rows = rows(60);
    let of_person = |person: usize| rows.iter().filter(move |row| row.person == person);
    for method in ["generalize", "anatomy"] {
        for most in 1..=6_u64 {
            let (left, reported) = left(&rows, most, method, most);
            let kept = |person: usize| of_person(person).filter(|row| left.contains(&row.number.unwrap())).count();
            for person in 0..60 {
                assert_eq!(kept(person), of_person(person).count().min(most as usize), "{method}, at most {most}");
            }
            let surplus: usize = (0..60).map(|person| of_person(person).count().saturating_sub(most as usize)).sum();
            assert_eq!(reported, Some(surplus as u64), "{method}, at most {most}");
            assert_eq!(left.len(), rows.len() - surplus);
        }
    }
}

/// Over many seeds every row stays sometimes and goes sometimes, about as often as any other of its person.
#[test]
fn which_rows_stay_is_random() {
    let rows = rows(12);
    let n_seeds = 120;
    let mut stayed = vec![0_usize; rows.len()];
    for seed in 0..n_seeds {
        left(&rows, 1, "generalize", seed).0.into_iter().for_each(|stamp| stayed[stamp as usize] += 1);
    }
    for (row, &stayed) in rows.iter().zip(&stayed) {
        let n = rows.iter().filter(|other| other.person == row.person).count();
        let expected = n_seeds as f64 / n as f64;
        // Six standard errors.
        let most = 6.0 * (expected * (1.0 - 1.0 / n as f64)).sqrt();
        assert!((stayed as f64 - expected).abs() <= most, "row {row:?} of {n} stayed {stayed} times of {n_seeds}");
    }
}
