//! What the audit says of publishing a table again and again, against doing so.

#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use std::collections::{BTreeMap, BTreeSet};

use chrysalis_publish::method::{Anatomy, Angel, Butterfly, Fallback, Generalize, Method, Shuffle};
use chrysalis_publish::partitioner::{Anatomize, BySensitive, Compact, Mondrian, Nearby, Nobody, Similar, TopDown};
use chrysalis_publish::{AttributeSpec, Job, Microdata, Partitioner, QuasiIdentifiers};
use chrysalis_release::{Release, Values};
use chrysalis_table::{Column, Role, Table, Unwatched};
use chrysalis_testkit::papers;
use common::{quasi, rng, specs};

/// A number that looks random and is not, below `n`.
fn mixed(seed: u64, n: u64) -> u64 {
    let mut x = seed.wrapping_add(0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    (x ^ x >> 31) % n
}

/// People with two numbers and a word, of whom some look alike, a sensitive number, and a column that tells them apart.
fn people(n: u64, n_values: u64, n_ages: u64) -> Microdata {
    let ages: Vec<i64> = (0..n).map(|row| mixed(row, n_ages) as i64).collect();
    let rooms: Vec<i64> = (0..n).map(|row| mixed(row + 5_000, n_ages) as i64).collect();
    let sexes = (0..n).map(|row| if mixed(row + 9_000, 2) == 0 { "F" } else { "M" });
    let costs: Vec<i64> = (0..n).map(|row| mixed(row + 20_000, n_values) as i64 * 10).collect();
    let table = Table::new(vec![
        Column::integers("age", &ages),
        Column::integers("room", &rooms),
        Column::texts("sex", sexes),
        Column::integers("cost", &costs),
        Column::integers("id", &(0..n as i64).collect::<Vec<_>>()),
    ]);
    let mut attributes: Vec<AttributeSpec> = ["age", "room", "sex"].map(|name| quasi(name, None)).to_vec();
    attributes.push(AttributeSpec::new("cost", Role::Sensitive));
    attributes.push(AttributeSpec::new("id", Role::Other));
    Microdata::new(table, &attributes).unwrap()
}

/// By the column that tells people apart, the values of everybody's group.
fn allowed(release: &Release) -> Vec<BTreeSet<String>> {
    let shape = release.manifest.method.shape();
    let group = shape.group_id.unwrap();
    let people = release.table(shape.people).unwrap();
    let values = match shape.values {
        Values::Counted(name) => release.table(name).unwrap(),
        _ => people,
    };
    let mut of_group: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for row in papers::cells(values, &[group, "cost"]) {
        of_group.entry(row[0].clone()).or_default().insert(row[1].clone());
    }
    let mut rows: Vec<(u64, BTreeSet<String>)> = papers::cells(people, &["id", group])
        .iter()
        .map(|row| (row[0].parse().unwrap(), of_group[&row[1]].clone()))
        .collect();
    rows.sort();
    rows.into_iter().map(|(_, values)| values).collect()
}

fn measure_one(data: &Microdata, partitioner: &dyn Partitioner, method: &dyn Method, goals: &[&str]) {
    let specs = specs(goals);
    let mut left: Vec<Option<BTreeSet<String>>> = vec![None; data.rows()];
    let mut found = None;
    let mut name = String::new();
    for seed in 0..10 {
        let release = match Job::new(data, &specs, partitioner, &mut rng(seed), &Unwatched).run(method) {
            Ok(outcome) => outcome.release,
            Err(error) => {
                println!("{} {error}", partitioner.name());
                return;
            }
        };
        for (left, allowed) in left.iter_mut().zip(allowed(&release)) {
            *left = Some(left.as_ref().map_or_else(|| allowed.clone(), |known| known & &allowed));
        }
        if seed == 0 {
            found = chrysalis_audit::audit(&release, None, &Unwatched).unwrap().attacks.republishing;
            name = format!("{} {}", release.manifest.method, release.manifest.partitioner);
        }
    }
    let mut kinds: BTreeMap<Vec<u32>, u64> = BTreeMap::new();
    let key = |row: usize| data.quasi().map(|(column, _)| column.code(row)).collect::<Vec<_>>();
    (0..data.rows()).for_each(|row| *kinds.entry(key(row)).or_default() += 1);
    let unique = |row: &usize| kinds[&key(*row)] == 1;
    let alone = |row: &usize| left[*row].as_ref().unwrap().len() == 1;
    let n_unique = (0..data.rows()).filter(unique).count();
    let unique_alone = (0..data.rows()).filter(unique).filter(alone).count();
    let all_alone = (0..data.rows()).filter(alone).count();
    println!("   {name}: {found:?}; in truth {unique_alone} of {n_unique} unique, {all_alone} of all");
}

#[test]
fn measure() {
    for (n, ages, values) in [(1_000, 1_000, 20), (1_000, 20, 20), (1_000, 12, 20), (5_000, 30, 50)] {
        let data = people(n, values, ages);
        println!("{n} {ages} {values}");
        let all: [&dyn Partitioner; 3] = [&Anatomize, &Nearby, &Similar::default()];
        for partitioner in all {
            measure_one(&data, partitioner, &Anatomy, &["l=4"]);
        }
        let all: [&dyn Partitioner; 4] =
            [&Compact, &TopDown, &Mondrian { relaxed: false }, &Mondrian { relaxed: true }];
        for partitioner in all {
            measure_one(&data, partitioner, &Generalize, &["l=4"]);
        }
        for fallback in [Fallback::Never, Fallback::KeepingK, Fallback::PrinciplesAlone] {
            for k in [1, 10] {
                let angel =
                    Angel { k, marginals: Vec::new(), bucket_columns: Vec::new(), for_reconstruction: true, fallback };
                measure_one(&data, &Nearby, &angel, &["l=4"]);
            }
        }
        let users =
            QuasiIdentifiers::new(vec![vec!["age".into(), "sex".into()], vec!["room".into(), "sex".into()]]).unwrap();
        measure_one(&data, &Nobody, &Butterfly { quasi_identifiers: users, hierarchy: None }, &["k=10"]);
        for by in [BySensitive::MinSum, BySensitive::MinMax, BySensitive::MaxGroups, BySensitive::MinMaxExact] {
            measure_one(&data, &by, &Shuffle, &["distinct-l=4"]);
        }
    }
}
