//! What goes beyond the groups of one release: the same table again, one person more or less, and who has the largest value.

use chrysalis_table::{Codes, Kind, Value};

use super::*;
use crate::testing::audit;
use crate::{Attacks, Extremes};

/// Ages and rooms are numbers, some of which only one person has; costs are numbers, too.
fn people(n: u64, seed: u64) -> Table {
    let number = |offset: u64, below: u64| -> Vec<i64> {
        (0..n).map(|row| mixed(row + offset + seed * 1_000, below) as i64).collect()
    };
    Table::new(vec![
        Column::integers("age", &number(1, n * 2)),
        Column::integers("room", &number(300, n)),
        words("job", "j", &(0..n).map(|row| mixed(row + 77, 4)).collect::<Vec<_>>()),
        Column::integers("cost", &number(500, n / 2)),
    ])
}

fn groups(n: u64, seed: u64) -> Vec<i64> {
    (0..n).map(|row| 1 + mixed(row * 7 + seed, n / 5) as i64).collect()
}

/// People who are the only ones with a number at which a range of their own group ends.
fn placed_by_hand(table: &Table, groups: &[i64]) -> u64 {
    let is_placed = |person: &usize| {
        table.columns()[..2].iter().any(|column| {
            let own = column.code(*person);
            let codes = || (0..table.rows()).map(|row| column.code(row));
            let of_group = || codes().zip(groups).filter(|(_, group)| **group == groups[*person]).map(|(code, _)| code);
            let is_alone = codes().filter(|code| *code == own).count() == 1;
            is_alone && (of_group().min() == Some(own) || of_group().max() == Some(own))
        })
    };
    (0..table.rows()).filter(is_placed).count() as u64
}

fn extremes_of(release: &Release, microdata: Option<&Table>) -> Extremes {
    audit(release, microdata).unwrap().attacks.extremes.unwrap()
}

#[test]
fn people_are_placed_where_they_alone_end_a_range() {
    let mut n_placed = 0;
    for seed in 0..12 {
        let (table, groups) = (people(40, seed), groups(40, seed));
        let expected = placed_by_hand(&table, &groups);
        n_placed += expected;
        let release = generalized(Form::Generalize, &table, &groups, &["k=1"]);
        assert_eq!(extremes_of(&release, Some(&table)).placed_people, Some(expected), "{seed}");
        // Buckets are the same groups, whatever the batches.
        let batches: Vec<i64> = (0..40).map(|row| row % 4).collect();
        let release = angel(&table, &batches, &groups, &["k=1"]);
        assert_eq!(extremes_of(&release, Some(&table)).placed_people, Some(expected), "{seed}");
    }
    assert!(n_placed > 20, "{n_placed}");
}

#[test]
fn users_place_people_by_what_they_know() {
    let (table, groups) = (people(40, 3), groups(40, 3));
    let mut release = generalized(Form::Butterfly, &table, &groups, &["k=1"]);
    release.manifest.quasi_identifiers = vec![vec!["job".into()], vec!["age".into(), "room".into(), "job".into()]];
    let report = audit(&release, Some(&table)).unwrap();
    // The second user sees the groups themselves, the first no ranges at all.
    assert_eq!(report.attacks.extremes.unwrap().placed_people, Some(placed_by_hand(&table, &groups)));
    let alone = extremes_of(&release, None);
    assert_eq!((alone.has_ranges, alone.placed_people), (true, None), "of the second it cannot be told");
}

/// Ranges that end at round numbers, some of which are nobody's.
#[test]
fn intervals_place_nobody() {
    let (table, groups) = (people(40, 1), groups(40, 1));
    assert!(placed_by_hand(&table, &groups) > 0);
    let mut release = generalized(Form::Generalize, &table, &groups, &["k=1"]);
    let rounded = |column: &Column| {
        let ends: Vec<i64> = (0..column.codes().len())
            .map(|row| match column.domain().value(column.code(row)) {
                Some(Value::Integer(end)) => *end,
                _ => 0,
            })
            .collect();
        let name = column.name();
        match name {
            "age_min" | "room_min" => Column::integers(name, &ends.iter().map(|end| end / 10 * 10).collect::<Vec<_>>()),
            "age_max" | "room_max" => {
                Column::integers(name, &ends.iter().map(|end| end / 10 * 10 + 9).collect::<Vec<_>>())
            }
            _ => column.clone(),
        }
    };
    release.tables[0] = Table::new(release.tables[0].columns().iter().map(rounded).collect());
    let found = extremes_of(&release, Some(&table));
    assert_eq!((found.has_ranges, found.placed_people), (true, Some(0)));
}

#[test]
fn rows_that_show_nothing_place_nobody() {
    // The oldest is suppressed, with the youngest: their group shows the whole domain, and says nothing about who is in
    // it.
    let table = Table::new(vec![
        Column::integers("age", &[10, 20, 30, 40, 50, 60]),
        words("disease", "d", &[1, 2, 1, 2, 1, 2]),
    ]);
    let mut release = generalized(Form::Generalize, &table, &[1, 2, 2, 3, 3, 1], &["k=2"]);
    assert_eq!(extremes_of(&release, Some(&table)).placed_people, Some(6));
    release.manifest.suppressed = 2;
    assert_eq!(extremes_of(&release, Some(&table)).placed_people, Some(4));
}

#[test]
fn the_largest_number_tells_its_group_in_every_form() {
    let costs = [5, 5, 7, 9, 9, 80];
    let table = Table::new(vec![
        Column::integers("age", &[20, 30, 40, 50, 60, 70]),
        words("job", "j", &[1, 2, 1, 2, 1, 2]),
        Column::integers("cost", &costs),
    ]);
    let groups = [1, 1, 1, 1, 2, 2];
    let mut butterfly = generalized(Form::Butterfly, &table, &groups, &["k=2"]);
    butterfly.manifest.quasi_identifiers = vec![vec!["age".into(), "job".into()]];
    let releases = [
        verbatim(Form::Anatomy, &table, &groups, &["distinct-l=2"]),
        verbatim(Form::Permute, &table, &groups, &["distinct-l=2"]),
        generalized(Form::Generalize, &table, &groups, &["distinct-l=2"]),
        angel(&table, &groups, &groups, &["distinct-l=2"]),
        butterfly,
    ];
    for release in &releases {
        let (form, report) = (release.manifest.method, audit(release, None).unwrap());
        let found = report.attacks.extremes.unwrap();
        let told = (found.largest_once, found.smallest_once, found.group_of_largest);
        assert_eq!(told, (Some(true), Some(false), Some(2)), "{form}");
        let finding = finding(&report.attacks.findings, "extremes");
        assert!(finding.sentence.contains("the largest occurs once, the smallest more often"), "{finding:?}");
        assert!(!finding.prevention.is_empty() && finding.worst_groups.len() == 1, "{form}");
        // The sentence must not show a person's value.
        assert!(!finding.sentence.contains("80"), "{finding:?}");
        assert_eq!(found.has_ranges, finding.sentence.contains("does not show whether"), "{form}");
    }
    // A missing number is neither the smallest nor the largest, and a largest number in two groups points to no group.
    let values = vec![None, Some(Value::Integer(4)), Some(Value::Integer(6))];
    let codes = Codes::collect(3, [0, 1, 2, 0, 2, 1].into_iter());
    let cost = Column::from_entries("cost", Kind::Integer, values, &[], vec![codes]);
    let table = Table::new(vec![table.columns()[0].clone(), cost]);
    let release = verbatim(Form::Permute, &table, &groups, &["distinct-l=2"]);
    let found = extremes_of(&release, None);
    let told = (found.largest_once, found.smallest_once, found.group_of_largest);
    assert_eq!(told, (Some(false), Some(false), None));
}

fn republished(release: &mut Release, partitioner: &str) -> Attacks {
    release.manifest.partitioner = partitioner.into();
    audit(release, None).unwrap().attacks
}

#[test]
fn groups_that_are_drawn_anew_leave_nobody_a_choice_for_long() {
    let values: Vec<u64> = (0..48).map(|row| row % 6).collect();
    let ages: Vec<i64> = (0..48).map(|row| 20 + if row < 24 { 0 } else { row }).collect();
    let table = Table::new(vec![Column::integers("age", &ages), words("disease", "d", &values)]);
    let groups = dealt(&values, 3);
    let releases = [
        // Half of the people share their age with others.
        (verbatim(Form::Anatomy, &table, &groups, &["l=3"]), 24),
        (verbatim(Form::Permute, &table, &groups, &["l=3"]), 48),
        (generalized(Form::Generalize, &table, &groups, &["l=3"]), 48),
        (angel(&table, &groups, &groups, &["l=3"]), 48),
    ];
    for (mut release, people) in releases {
        let form = release.manifest.method;
        for partitioner in ["anatomize", "similar", "somebody"] {
            let attacks = republished(&mut release, partitioner);
            let found = attacks.republishing.unwrap();
            assert_eq!((found.releases, found.people), (10, people), "{form}");
            // Each value is in half of the groups.
            let expected = people as f64 * (1.0 - 0.5_f64.powi(9)).powi(2);
            assert!((found.expected_determined - expected).abs() < 0.2, "{form}: {found:?}");
            let finding = finding(&attacks.findings, "republishing");
            assert!(finding.was_run && finding.prevention.starts_with("publishing a table once"), "{finding:?}");
        }
        for partitioner in ["column", "sequential"] {
            let attacks = republished(&mut release, partitioner);
            let finding = finding(&attacks.findings, "republishing");
            let said = finding.sentence.contains("gives the same groups");
            assert!(attacks.republishing.is_none() && said, "{finding:?}");
        }
        // Batches exchange rows in an order that is drawn at random, and give way to cuts only where these serve
        // better.
        for (partitioner, said, of_batches) in [
            ("nearby", "among neighbouring people", None),
            ("compact", "among neighbouring people", Some("among neighbouring people")),
            ("mondrian", "gives the same groups", Some("batches that are drawn may win")),
        ] {
            let attacks = republished(&mut release, partitioner);
            let said = if form == Form::Angel { of_batches } else { Some(said) };
            assert_eq!(attacks.republishing.is_none(), said.is_some(), "{form} {partitioner}");
            let finding = finding(&attacks.findings, "republishing");
            assert!(finding.sentence.contains(said.unwrap_or("drawn anew")), "{form}: {finding:?}");
        }
        let sorted = republished(&mut release, "min-sum").republishing.unwrap();
        assert!(sorted.expected_determined > 0.0 && sorted.expected_determined < people as f64, "{form}: {sorted:?}");
    }
}

#[test]
fn nobody_is_found_again_where_all_look_alike() {
    let table = Table::new(vec![Column::integers("age", &[30; 4]), words("disease", "d", &[1, 2, 1, 2])]);
    let mut release = verbatim(Form::Anatomy, &table, &[1, 1, 2, 2], &["l=2"]);
    let attacks = republished(&mut release, "anatomize");
    assert!(attacks.republishing.is_none());
    let said = &finding(&attacks.findings, "republishing").sentence;
    assert!(said.starts_with("Nobody can be found again for certain"), "{said}");
}

#[test]
fn subtraction_is_certain_in_every_form_that_has_something_to_subtract() {
    let table = people(20, 0);
    for release in [
        verbatim(Form::Permute, &table, &groups(20, 0), &["k=1"]),
        generalized(Form::Generalize, &table, &groups(20, 0), &["k=1"]),
    ] {
        let attacks = audit(&release, None).unwrap().attacks;
        assert_eq!(attacks.subtraction.unwrap().confidence, 1.0);
        let finding = finding(&attacks.findings, "subtraction");
        assert!(finding.sentence.contains("knows the person's `cost` for certain"), "{finding:?}");
        assert!(finding.was_run && !finding.prevention.is_empty());
    }
}
