//! What the audit says about publishing a table again and again, compared with doing so.

use chrysalis_testkit::required;
use std::collections::{BTreeMap, BTreeSet};

use crate::common::{as_sets, partition, quasi, rng, specs};
use chrysalis_audit::Finding;
use chrysalis_publish::method::{Anatomy, Angel, Butterfly, Fallback, Generalize, Method, Shuffle};
use chrysalis_publish::partitioner::{
    Anatomize, ByColumn, BySensitive, Compact, FullDomain, Mondrian, Nearby, Nobody, Sequential, Similar, TopDown,
};
use chrysalis_publish::{AttributeSpec, Job, Microdata, Partitioner, QuasiIdentifiers};
use chrysalis_release::{Release, Values};
use chrysalis_table::{Column, Role, Table, Unwatched};
use chrysalis_testkit::papers;

/// A number below `n` that looks random and is not.
fn mixed(seed: u64, n: u64) -> u64 {
    let mut x = seed.wrapping_add(0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    (x ^ x >> 31) % n
}

const PEOPLE: u64 = 400;

/// People who all look different, with a sensitive number, a ward, and a column that identifies them in a release.
fn people() -> Microdata {
    let number =
        |offset: u64, below: u64| -> Vec<i64> { (0..PEOPLE).map(|row| mixed(row + offset, below) as i64).collect() };
    let sexes = (0..PEOPLE).map(|row| if mixed(row + 9_000, 2) == 0 { "F" } else { "M" });
    let table = Table::new(vec![
        Column::integers("age", &number(0, 5_000)),
        Column::integers("room", &number(5_000, 5_000)),
        Column::texts("sex", sexes),
        Column::integers("cost", &number(20_000, 20)),
        Column::integers("ward", &(0..PEOPLE as i64).map(|row| row / 40).collect::<Vec<_>>()),
        Column::integers("id", &(0..PEOPLE as i64).collect::<Vec<_>>()),
    ]);
    let mut attributes: Vec<AttributeSpec> = ["age", "room", "sex"].map(|name| quasi(name, None)).to_vec();
    attributes.push(AttributeSpec::new("cost", Role::Sensitive));
    attributes.push(AttributeSpec::new("id", Role::Other));
    Microdata::new(table, &attributes).unwrap()
}

/// The values of everybody's group, by person. Groups are known by an id, or by the columns in `shown`.
fn allowed(release: &Release, shown: &[&str]) -> Vec<BTreeSet<String>> {
    let shape = release.manifest.method.shape();
    let people = release.table(shape.people).unwrap();
    let values = match shape.values {
        Values::Counted(name) => release.table(name).unwrap(),
        Values::Beside | Values::Swapped => people,
    };
    let group = shape.group_id.unwrap();
    let by = if shown.is_empty() { vec![group] } else { shown.to_vec() };
    let mut of_group: BTreeMap<Vec<String>, BTreeSet<String>> = BTreeMap::new();
    for mut row in papers::cells(values, &[&by[..], &["cost"]].concat()) {
        let value = row.pop().unwrap();
        of_group.entry(row).or_default().insert(value);
    }
    let mut rows: Vec<(u64, BTreeSet<String>)> = papers::cells(people, &[&by[..], &["id"]].concat())
        .into_iter()
        .map(|mut row| (row.pop().unwrap().parse().unwrap(), of_group[&row].clone()))
        .collect();
    rows.sort();
    rows.into_iter().map(|(_, values)| values).collect()
}

/// How many people are left with a single value after ten releases; what the audit expects from the first release; and
/// its finding.
fn check(
    partitioner: &dyn Partitioner,
    method: &dyn Method,
    goal: &str,
    shown: &[&str],
) -> (f64, Option<f64>, Finding) {
    let (data, goal) = (people(), specs(&[goal]));
    let mut left: Vec<Option<BTreeSet<String>>> = vec![None; data.rows()];
    let mut said = None;
    for seed in 0..10 {
        let release =
            Job::new(&data, &required(&goal), partitioner, &mut rng(seed), &Unwatched).run(method).unwrap().release;
        for (left, allowed) in left.iter_mut().zip(allowed(&release, shown)) {
            *left = Some(left.as_ref().map_or_else(|| allowed.clone(), |known| known & &allowed));
        }
        said.get_or_insert_with(|| chrysalis_audit::audit(&release, None, &Unwatched).unwrap().attacks);
    }
    let alone = left.iter().flatten().filter(|left| left.len() == 1).count() as f64;
    let said = said.unwrap();
    let finding = said.findings.into_iter().find(|finding| finding.attack == "republishing").unwrap();
    (alone, said.republishing.map(|found| found.expected_determined), finding)
}

#[test]
fn random_groups_tell_everybody_apart_as_the_audit_expects() {
    // `similar` draws groups from parts of people who are alike, and who have more values in common than people at
    // large.
    for (partitioner, least) in [(&Anatomize as &dyn Partitioner, 0.99), (&Similar::default(), 0.8)] {
        let (alone, expected, finding) = check(partitioner, &Anatomy, "l=4", &[]);
        let expected = expected.unwrap();
        let is_near = alone <= expected * 1.01 && alone >= expected * least;
        assert!(is_near, "{}: {alone}, {expected}", partitioner.name());
        assert!(finding.was_run, "{finding:?}");
    }
}

#[test]
fn batches_of_buckets_are_told_apart_less_than_the_audit_expects() {
    let angel = Angel {
        k: 10,
        marginals: Vec::new(),
        bucket_columns: Vec::new(),
        for_reconstruction: true,
        fallback: Fallback::Never,
    };
    let (alone, expected, _) = check(&Nearby, &angel, "l=4", &[]);
    assert!(alone > PEOPLE as f64 / 4.0 && alone <= expected.unwrap(), "{alone}, {expected:?}");
}

#[test]
fn sorted_values_tell_people_at_borders_apart() {
    for partitioner in [BySensitive::MinMax, BySensitive::MaxGroups, BySensitive::MinMaxExact] {
        let (alone, expected, _) = check(&partitioner, &Shuffle, "distinct-l=4", &[]);
        let expected = expected.unwrap();
        assert!((alone - expected).abs() <= 12.0, "{}: {alone}, {expected}", partitioner.name());
    }
}

#[test]
fn who_looks_like_nobody_stays_where_only_look_alikes_are_drawn() {
    let users = [vec!["age".to_owned(), "sex".to_owned()], vec!["room".to_owned(), "sex".to_owned()]];
    let butterfly = Butterfly { quasi_identifiers: QuasiIdentifiers::new(users.to_vec()).unwrap(), hierarchy: None };
    let all: [(&dyn Partitioner, &dyn Method, &[&str]); 2] =
        [(&TopDown, &Generalize, &[]), (&Nobody, &butterfly, &["age_min", "age_max", "sex"])];
    for (partitioner, method, shown) in all {
        let (alone, expected, finding) = check(partitioner, method, "l=4", shown);
        assert!(alone < PEOPLE as f64 / 20.0, "{} {}: {alone}", method.form(), partitioner.name());
        assert!(expected.is_none() && finding.sentence.starts_with("Not scored"), "{finding:?}");
    }
}

#[test]
fn groups_drawn_among_people_who_lie_close_together_narrow_people_and_are_not_scored() {
    let all: [(&dyn Partitioner, &dyn Method); 2] = [(&Nearby, &Anatomy), (&Compact, &Generalize)];
    for (partitioner, method) in all {
        let (alone, expected, finding) = check(partitioner, method, "l=4", &[]);
        // More than a hundredth of the people, and not all of them.
        assert!(alone > PEOPLE as f64 / 100.0 && alone < PEOPLE as f64, "{}: {alone}", partitioner.name());
        let said = finding.sentence.starts_with("Not scored: groups are drawn anew among neighbouring people");
        assert!(expected.is_none() && said, "{finding:?}");
    }
}

#[test]
fn groups_come_out_the_same_where_nothing_is_drawn() {
    let (data, goal) = (people(), specs(&["l=2"]));
    let ward = ByColumn { column: "ward".into() };
    let all: [&dyn Partitioner; 4] = [&Mondrian { relaxed: false }, &FullDomain::default(), &ward, &Sequential];
    for partitioner in all {
        let first = as_sets(&partition(partitioner, &data, &goal, 1).unwrap());
        for seed in 2..6 {
            assert!(as_sets(&partition(partitioner, &data, &goal, seed).unwrap()) == first, "{}", partitioner.name());
        }
        let (_, expected, finding) = check(partitioner, &Generalize, "l=2", &[]);
        assert!(expected.is_none() && finding.sentence.contains("gives the same groups"), "{finding:?}");
    }
}
