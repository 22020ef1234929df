//! Drawn worlds are worlds that the release allows, whatever its form; they differ, and seeds repeat them.

#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use std::collections::BTreeMap;

use chrysalis_publish::method::{Anatomy, Angel, Fallback, Generalize, Method, Permute, RankSwap, Shuffle};
use chrysalis_publish::partitioner::Nobody;
use chrysalis_publish::{AttributeSpec, Job, Microdata, Partition, Past, TaxonomySource};
use chrysalis_release::{EstimateMode, Release, SeriesEntry};
use chrysalis_sample::{Draw, Origin, SampleError, Sampler};
use chrysalis_table::{Column, Role, Table, Unwatched, Value, no_progress};
use chrysalis_testkit::strategies::{RandomTable, fixed, tables};
use common::{check_world, text};
use proptest::prelude::*;
use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;

fn rng(seed: u64) -> ChaCha20Rng {
    ChaCha20Rng::seed_from_u64(seed)
}

fn angel(k: u32, marginals: &[&[&str]]) -> Angel {
    let owned = |names: &&[&str]| names.iter().map(|&name| name.to_owned()).collect();
    Angel {
        k: k.into(),
        marginals: marginals.iter().map(owned).collect(),
        bucket_columns: Vec::new(),
        for_reconstruction: false,
        fallback: Fallback::Never,
    }
}

fn data(random: &RandomTable) -> Microdata {
    let mut roles: Vec<AttributeSpec> = random
        .quasi
        .iter()
        .map(|(name, taxonomy)| AttributeSpec {
            taxonomy: taxonomy.clone().map(TaxonomySource::File),
            ..AttributeSpec::new(name.clone(), Role::QuasiIdentifier)
        })
        .collect();
    roles.push(AttributeSpec::new("s", Role::Sensitive));
    Microdata::new(random.table.clone(), &roles).unwrap()
}

fn simple(table: &Table, quasi: &[&str], sensitive: &[&str]) -> Microdata {
    let of = |names: &[&str], role: Role| names.iter().map(move |name| AttributeSpec::new(*name, role)).collect();
    let roles: [Vec<AttributeSpec>; 2] = [of(quasi, Role::QuasiIdentifier), of(sensitive, Role::Sensitive)];
    Microdata::new(table.clone(), &roles.concat()).unwrap()
}

fn released(method: &dyn Method, data: &Microdata, groups: &Partition) -> Option<Release> {
    method.check(data).ok()?;
    Job::new(data, &[], groups, &mut rng(5), &Unwatched).run(method).ok().map(|made| made.release)
}

fn world(release: &Release, draw: Draw, seed: u64) -> Table {
    Sampler::open(release).unwrap().world(draw, &mut rng(seed), &no_progress).unwrap()
}

const DRAWS: [Draw; 3] = [
    Draw { estimate: EstimateMode::Even, bootstrap: false },
    Draw { estimate: EstimateMode::Learned, bootstrap: false },
    Draw { estimate: EstimateMode::Learned, bootstrap: true },
];

proptest! {
    #![proptest_config(fixed(60))]

    #[test]
    fn worlds_of_every_form_are_worlds_that_the_release_allows(
        random in tables(1..=24),
        sizes in prop::collection::vec(1u32..7, 24),
        seed in any::<u64>(),
    ) {
        let data = data(&random);
        let rows = random.table.rows() as u32;
        let (mut left, mut groups) = (rows, Vec::new());
        for size in sizes {
            let size = size.min(left);
            if size > 0 {
                groups.push(size);
                left -= size;
            }
        }
        if left > 0 {
            groups.push(left);
        }
        let groups = Partition::new((0..rows).collect(), &groups);
        let names: Vec<&str> = random.quasi.iter().map(|(name, _)| name.as_str()).collect();
        let pairs: Vec<&[&str]> = names.windows(2).collect();
        let methods: [Box<dyn Method>; 7] = [
            Box::new(Generalize), Box::new(Anatomy), Box::new(Permute), Box::new(Shuffle),
            Box::new(angel(2, &[])), Box::new(angel(2, &[&names[..1]])), Box::new(angel(3, &pairs)),
        ];
        for method in methods {
            let Some(release) = released(&*method, &data, &groups) else { continue };
            for draw in DRAWS {
                let drawn = world(&release, draw, seed);
                check_world(&release, &drawn);
                prop_assert!(drawn == world(&release, draw, seed), "a seed repeats");
            }
        }
    }
}

/// Forty people whose disease follows from their age, in groups of four that mix young and old.
fn patients() -> (Table, Partition) {
    let ages: Vec<i64> = (0..80).map(|row| if row % 2 == 0 { 20 + row / 8 } else { 60 + row / 8 }).collect();
    let diseases: Vec<&str> = (0..80).map(|row| if row % 2 == 0 { "flu" } else { "ulcer" }).collect();
    let table = Table::new(vec![
        Column::integers("age", &ages),
        Column::texts("sex", (0..80).map(|row| if row % 4 < 2 { "F" } else { "M" })),
        Column::texts("disease", diseases.into_iter()),
    ]);
    (table, Partition::new((0..80).collect(), &[4; 20]))
}

#[test]
fn worlds_differ_and_threads_do_not_matter() {
    let (table, groups) = patients();
    let data = simple(&table, &["age", "sex"], &["disease"]);
    for method in [&Generalize as &dyn Method, &Anatomy, &Permute] {
        let release = released(method, &data, &groups).unwrap();
        let draw = Draw { bootstrap: true, ..Draw::default() };
        let one = world(&release, draw, 1);
        assert!(one != world(&release, draw, 2), "{}", method.form());
        let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        assert!(alone.install(|| world(&release, draw, 1)) == one);
    }
}

#[test]
fn columns_say_what_is_exact_and_what_is_drawn() {
    let (table, groups) = patients();
    let data = simple(&table, &["age", "sex"], &["disease"]);
    let origins = |method: &dyn Method| {
        let release = released(method, &data, &groups).unwrap();
        Sampler::open(&release).unwrap().columns().iter().map(|it| it.origin).collect::<Vec<_>>()
    };
    assert_eq!(origins(&Anatomy), [Origin::Exact, Origin::Exact, Origin::Dealt]);
    assert_eq!(origins(&Generalize), [Origin::Boxed, Origin::Boxed, Origin::Exact]);
    assert_eq!(origins(&Permute), [Origin::Dealt; 3]);
    assert_eq!(origins(&angel(2, &[])), [Origin::Boxed, Origin::Boxed, Origin::Dealt]);
    assert_eq!((Origin::Exact.name(), Origin::Dealt.name(), Origin::Boxed.name()), ("exact", "drawn", "drawn"));
}

#[test]
fn a_form_without_groups_is_refused() {
    let (table, groups) = patients();
    let table = Table::new(vec![table.columns()[1].clone(), table.columns()[0].clone()]);
    let release = released(&RankSwap, &simple(&table, &["sex"], &["age"]), &groups).unwrap();
    let refused = Sampler::open(&release).unwrap_err();
    assert!(matches!(refused, SampleError::Method { .. }));
    assert!(refused.to_string().contains("they have no groups"), "{refused}");
    assert!(refused.hint().to_string().contains("anatomy"));
}

/// Two groups of three: all 3!·3! worlds of anatomy are equally likely when drawn evenly, and every age of a box is.
#[test]
fn even_draws_have_even_frequencies() {
    let table = Table::new(vec![
        Column::integers("age", &[1, 2, 3, 11, 12, 16]),
        Column::texts("disease", ["a", "b", "c", "a", "b", "c"].into_iter()),
    ]);
    let data = simple(&table, &["age"], &["disease"]);
    let groups = Partition::new((0..6).collect(), &[3, 3]);
    let even = Draw { estimate: EstimateMode::Even, bootstrap: false };
    let anatomy = released(&Anatomy, &data, &groups).unwrap();
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    for seed in 0..7200 {
        let drawn = world(&anatomy, even, seed);
        *seen.entry((0..6).map(|row| text(&drawn, "disease", row)).collect()).or_default() += 1;
    }
    assert_eq!(seen.len(), 36);
    // 200 each; six standard deviations are 84.
    assert!(seen.values().all(|&count| (116..=284).contains(&count)), "{seen:?}");

    let generalized = released(&Generalize, &data, &groups).unwrap();
    let mut ages: BTreeMap<i64, u32> = BTreeMap::new();
    for seed in 0..2000 {
        let drawn = world(&generalized, even, seed);
        (0..6).for_each(|row| *ages.entry(text(&drawn, "age", row).parse().unwrap()).or_default() += 1);
    }
    // Three rows over 1..=3 and three over 11..=16: 2,000 for each of the first, 1,000 for each of the others.
    let expected = |age: i64| if age <= 3 { 2000 } else { 1000 };
    assert_eq!(ages.keys().copied().collect::<Vec<_>>(), [1, 2, 3, 11, 12, 13, 14, 15, 16]);
    assert!(ages.iter().all(|(&age, &count)| count.abs_diff(expected(age)) < 200), "{ages:?}");
}

/// One group says nothing about which values go together, so what is learned from it is even as well.
#[test]
fn one_group_teaches_nothing() {
    let table = Table::new(vec![
        Column::texts("sex", ["F", "F", "M", "M"].into_iter()),
        Column::texts("disease", ["a", "a", "b", "b"].into_iter()),
    ]);
    let data = simple(&table, &["sex"], &["disease"]);
    let release = released(&Anatomy, &data, &Partition::new((0..4).collect(), &[4])).unwrap();
    let both = (0..1500).filter(|&seed| {
        let drawn = world(&release, Draw::default(), seed);
        (0..4).all(|row| (text(&drawn, "sex", row) == "F") == (text(&drawn, "disease", row) == "a"))
    });
    // One of six ways to deal two a's to four people: 250; six standard deviations are 87.
    let n_both = both.count();
    assert!((163..=337).contains(&n_both), "{n_both}");
}

/// Groups overlap: in twenty of them all are young and have the flu, in twenty all are old and have an ulcer; forty more mix
/// two of each. What the pure groups say is learned for the mixed ones.
#[test]
fn what_some_groups_say_is_learned_for_the_others() {
    let of_group = |group: usize| match group % 4 {
        0 => [0; 4],
        1 => [1; 4],
        _ => [0, 0, 1, 1],
    };
    let old: Vec<usize> = (0..160).flat_map(of_group).collect();
    let ages: Vec<i64> = old.iter().enumerate().map(|(row, &old)| 20 + 40 * old as i64 + (row % 3) as i64).collect();
    let table = Table::new(vec![
        Column::integers("age", &ages),
        Column::texts("disease", old.iter().map(|&old| ["flu", "ulcer"][old])),
    ]);
    let data = simple(&table, &["age"], &["disease"]);
    let groups = Partition::new((0..640).collect(), &[4; 160]);
    for (method, even_share) in [(&Anatomy as &dyn Method, 0.5), (&Permute, 0.5), (&Generalize, 0.5)] {
        let release = released(method, &data, &groups).unwrap();
        let share = |draw: Draw| {
            let drawn = world(&release, draw, 11);
            check_world(&release, &drawn);
            let is_right = |row: &usize| {
                let age: i64 = text(&drawn, "age", *row).parse().unwrap();
                (age < 41) == (text(&drawn, "disease", *row) == "flu")
            };
            (0..640).filter(is_right).count() as f64 / 640.0
        };
        let (even, learned) = (share(DRAWS[0]), share(DRAWS[1]));
        assert!((even - (0.5 + even_share / 2.0)).abs() < 0.08, "{}: {even}", method.form());
        assert!(learned > 0.9, "{}: {learned}", method.form());
    }
}

#[test]
fn broken_releases_end_in_an_error_not_in_a_panic() {
    let (table, groups) = patients();
    let data = simple(&table, &["age", "sex"], &["disease"]);
    for method in [&Generalize as &dyn Method, &Anatomy, &Permute, &angel(2, &[&["age"]])] {
        let release = released(method, &data, &groups).unwrap();
        for table in 0..release.tables.len() {
            // Without a table; with a table in which one column is missing; with half its rows.
            let mut lacking = release.clone();
            lacking.tables[table] = Table::default();
            try_all(&lacking);
            for column in 0..release.tables[table].columns().len() {
                let mut lacking = release.clone();
                let mut columns = release.tables[table].columns().to_vec();
                columns.remove(column);
                lacking.tables[table] = Table::new(columns);
                try_all(&lacking);
            }
            let mut half = release.clone();
            let rows: Vec<u32> = (0..release.tables[table].rows() as u32 / 2).collect();
            half.tables[table] = release.tables[table].gather(&rows);
            try_all(&half);
        }
    }
}

fn try_all(release: &Release) {
    if let Ok(sampler) = Sampler::open(release) {
        let _ = sampler.world(Draw::default(), &mut rng(1), &no_progress);
    }
}

/// Of three people, whose group showed a, b and c, the one with c has left: which value nobody has is drawn.
#[test]
fn counterfeit_values_are_left_out_at_random() {
    for method in [&Anatomy as &dyn Method, &Permute, &Generalize] {
        let own = Column::texts("s", ["a", "b"].into_iter());
        let wide = own.with_values(vec![Value::Text("c".into())], |_| 0);
        let data = simple(&Table::new(vec![Column::integers("q", &[1, 2]), wide]), &["q"], &["s"]);
        let past = Past {
            signatures: vec![vec![0, 1, 2]],
            lives: vec![vec![0]],
            of_row: vec![Some(0), Some(0)],
            takes_changes: false,
            entry: SeriesEntry { number: 2, previous: Some("0".repeat(64)) },
        };
        let require = ["m=3".parse().unwrap()];
        let made = Job::new(&data, &require, &Nobody, &mut rng(5), &Unwatched).after(&past).run(method).unwrap();
        for estimate in [EstimateMode::Even, EstimateMode::Learned] {
            let mut left_out: BTreeMap<String, u32> = BTreeMap::new();
            for seed in 0..300 {
                let world = world(&made.release, Draw { estimate, bootstrap: false }, seed);
                assert_eq!(world.rows(), 2);
                let column = world.column("s").unwrap();
                let drawn: Vec<String> =
                    (0..2).map(|row| column.domain().text(column.code(row)).into_owned()).collect();
                assert_ne!(drawn[0], drawn[1]);
                let missed = ["a", "b", "c"].into_iter().find(|value| !drawn.contains(&(*value).to_owned()));
                *left_out.entry(missed.unwrap().to_owned()).or_default() += 1;
            }
            // A hundred each, give or take five standard deviations.
            assert!(left_out.len() == 3 && left_out.values().all(|n| (60..=140).contains(n)), "{left_out:?}");
        }
    }
}
