//! What docs/guides/what-is-protected.md says has a test; what had none before is here, through the library alone.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::{BTreeMap, BTreeSet};

use chrysalis::table::{Column, Table};
use chrysalis::{Draft, Error, Evidence, Fault, Form, Published, Release, Seed, Unwatched, audit, publish};
use serde_json::{Value, json};

/// A number that looks random and is not, below `n`.
fn mixed(seed: u64, n: u64) -> u64 {
    let mut x = seed.wrapping_add(0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    (x ^ x >> 31) % n
}

/// Few people: two quasi columns `a` and `b`, a column `ward` that can be kept as it is, and a sensitive column `s` of numbers far
/// apart. `g` and `h` can be used as groups.
#[derive(Clone, Debug)]
struct People {
    quasi: Vec<[i64; 2]>,
    ward: Vec<i64>,
    values: Vec<i64>,
    g: Vec<i64>,
    h: Vec<i64>,
}

impl People {
    fn new(quasi: &[[i64; 2]], values: &[i64]) -> People {
        let n = quasi.len();
        People { quasi: quasi.to_vec(), ward: vec![0; n], values: values.to_vec(), g: vec![1; n], h: vec![1; n] }
    }

    fn table(&self) -> Table {
        let quasi = |at: usize| self.quasi.iter().map(|row| row[at]).collect::<Vec<_>>();
        Table::new(vec![
            Column::integers("a", &quasi(0)),
            Column::integers("b", &quasi(1)),
            Column::integers("ward", &self.ward),
            Column::integers("s", &self.values.iter().map(|value| value * 1_000).collect::<Vec<_>>()),
            Column::integers("g", &self.g),
            Column::integers("h", &self.h),
        ])
    }
}

fn published(people: &People, form: Form, keeps: bool, release: Value, seed: Seed) -> Result<Published, Error> {
    let mut release = release;
    release["method"] = json!(form.name());
    let quasi = if form.shape().has_users { json!([["a"], ["b"]]) } else { json!(["a", "b"]) };
    let mut draft = json!({ "quasi": quasi, "sensitive": "s", "release": release });
    if keeps {
        draft["other"] = json!(["ward"]);
    }
    let require = draft["release"]["require"].to_string();
    if form.shape().group_id.is_some() && !require.contains("ke=") {
        draft["attributes"] = json!({ "s": { "near": 1 } });
    }
    let table = people.table();
    let header: Vec<String> = table.columns().iter().map(|column| column.name().to_owned()).collect();
    let draft: Draft = serde_json::from_value(draft).unwrap();
    publish(table, &draft.check(&header)?, seed, &Unwatched)
}

/// A column of a published table as texts.
fn cells(release: &Release, table: &str, column: &str) -> Vec<String> {
    let column = release.table(table).unwrap().column(column).unwrap();
    (0..column.codes().len()).map(|row| column.domain().text(column.code(row)).into_owned()).collect()
}

/// Everything that a release shows but the numbers of groups, whose order is drawn: per group the rows of the people table and
/// those of the table of values, sorted; where columns were permuted on their own, each column sorted.
fn view(release: &Release) -> Vec<(Vec<Vec<String>>, Vec<String>)> {
    let shape = release.manifest.method.shape();
    let id = shape.group_id.unwrap();
    let mut groups: BTreeMap<String, (Vec<Vec<String>>, Vec<String>)> = BTreeMap::new();
    let people = release.table(shape.people).unwrap();
    let ids = cells(release, shape.people, id);
    let is_apart = shape.values_table() != shape.people;
    let is_permuted = matches!(release.manifest.method, Form::Permute);
    let is_shuffled = matches!(release.manifest.method, Form::Shuffle);
    for (row, id) in ids.iter().enumerate() {
        let group = groups.entry(id.clone()).or_default();
        let mut cells = Vec::new();
        for column in people.columns().iter().filter(|column| column.name() != shape.group_id.unwrap()) {
            let text = column.domain().text(column.code(row)).into_owned();
            if is_shuffled && column.name() == "s" {
                group.1.push(text);
            } else {
                cells.push(text);
            }
        }
        group.0.push(cells);
    }
    if is_apart {
        let counts = cells(release, shape.values_table(), "count");
        let values = cells(release, shape.values_table(), "s");
        for ((id, value), count) in cells(release, shape.values_table(), id).into_iter().zip(values).zip(counts) {
            groups.get_mut(&id).unwrap().1.push(format!("{value} x{count}"));
        }
    }
    let mut groups: Vec<_> = groups.into_values().collect();
    for (rows, values) in &mut groups {
        if is_permuted {
            let width = rows[0].len();
            let mut columns: Vec<Vec<String>> =
                (0..width).map(|at| rows.iter().map(|row| row[at].clone()).collect()).collect();
            columns.iter_mut().for_each(|column| column.sort());
            *rows = columns;
        }
        rows.sort();
        values.sort();
    }
    groups.sort();
    groups
}

fn arrangements(values: &[i64]) -> Vec<Vec<i64>> {
    if values.is_empty() {
        return vec![Vec::new()];
    }
    let distinct: BTreeSet<i64> = values.iter().copied().collect();
    let mut all = Vec::new();
    for first in distinct {
        let mut rest = values.to_vec();
        rest.remove(rest.iter().position(|value| *value == first).unwrap());
        for mut tail in arrangements(&rest) {
            tail.insert(0, first);
            all.push(tail);
        }
    }
    all
}

/// replays
fn replay(people: &People, form: Form, release: &Value, seeds: u64) -> Option<(f64, Vec<BTreeMap<i64, f64>>, usize)> {
    let truth = view(&published(people, form, false, release.clone(), Seed::Fixed(0)).ok()?.release);
    let mut beliefs = vec![BTreeMap::new(); people.values.len()];
    let mut total = 0.0;
    let mut n_worlds = 0;
    for values in arrangements(&people.values) {
        let world = People { values: values.clone(), ..people.clone() };
        let mut hits = 0.0;
        for seed in 0..seeds {
            if let Ok(made) = published(&world, form, false, release.clone(), Seed::Fixed(seed)) {
                hits += f64::from(u8::from(view(&made.release) == truth));
            }
        }
        n_worlds += usize::from(hits > 0.0);
        total += hits;
        for (belief, value) in beliefs.iter_mut().zip(&values) {
            *belief.entry(*value).or_insert(0.0) += hits;
        }
    }
    for belief in &mut beliefs {
        belief.values_mut().for_each(|it| *it /= total);
    }
    let most = beliefs.iter().flat_map(|belief| belief.values().copied()).fold(0.0, f64::max);
    Some((most, beliefs, n_worlds))
}

fn share_of(view: &[(Vec<Vec<String>>, Vec<String>)]) -> usize {
    view.len()
}

#[test]
fn experiment() {
    let cases: Vec<(Form, Value, u64)> = vec![
        (Form::Generalize, json!({"partitioner": "compact", "require": ["l=2"]}), 4),
        (Form::Anatomy, json!({"partitioner": "anatomize", "require": ["l=2"]}), 200),
        (Form::Anatomy, json!({"partitioner": "nearby", "require": ["l=2"]}), 6),
        (Form::Permute, json!({"partitioner": "nearby", "require": ["l=2"]}), 6),
        (Form::Shuffle, json!({"require": ["distinct-l=2"]}), 40),
        (Form::Angel, json!({"require": ["l=2", "k=2"]}), 4),
        (Form::Butterfly, json!({"require": ["l=2"]}), 1),
        (Form::Butterfly, json!({"require": ["l=1.5"]}), 1),
    ];
    for (form, release, seeds) in cases {
        let mut best = (0.0, 0, String::new(), String::new(), Vec::new());
        let mut mean = 0.0;
        let mut n = 0;
        let start = std::time::Instant::now();
        for seed in 0..40_u64 {
            let size = 4 + seed % 3;
            let wide = if form == Form::Butterfly { 1 } else { 4 };
            let quasi: Vec<[i64; 2]> = (0..size)
                .map(|row| [mixed(seed * 100 + row, 6) as i64, mixed(seed * 100 + 50 + row, wide) as i64])
                .collect();
            let mut values: Vec<i64> = [1, 1, 2, 3, 2, 3][..size as usize].to_vec();
            values.rotate_left(mixed(seed, size) as usize);
            let people = People::new(&quasi, &values);
            if seed >= 8 && seeds > 20 {
                break;
            }
            if let Some((most, beliefs, worlds)) = replay(&people, form, &release, seeds) {
                n += 1;
                mean += most;
                if most > best.0 {
                    best = (
                        most,
                        worlds,
                        format!("{quasi:?} {values:?}"),
                        format!("{beliefs:?}"),
                        view(&published(&people, form, false, release.clone(), Seed::Fixed(0)).unwrap().release),
                    );
                }
            }
        }
        println!("{form} {release}: n {n} mean {:.3} best {best:?} {:?}\n", mean / f64::from(n), start.elapsed());
    }
    let _ = (Fault::Infeasible, share_of);
}

#[test]
fn again() {
    let n = 12;
    for seed in 0..3_u64 {
        let quasi: Vec<[i64; 2]> = (0..n).map(|row| [row, mixed(seed * 99 + row as u64, 5) as i64]).collect();
        let values: Vec<i64> = (0..n).map(|row| row * 5 % 12 / 2).collect();
        let people = People::new(&quasi, &values);
        let table = people.table();
        for (form, release) in [
            (Form::Generalize, json!({"require": ["l=2"]})),
            (Form::Generalize, json!({"require": ["l=2"], "partitioner": "mondrian"})),
            (Form::Anatomy, json!({"require": ["l=2"]})),
            (Form::Permute, json!({"require": ["l=2"]})),
            (Form::Shuffle, json!({"require": ["distinct-l=2"]})),
            (Form::Angel, json!({"require": ["l=2", "k=2"]})),
            (Form::Butterfly, json!({"require": ["l=2"]})),
        ] {
            let all: Vec<Release> = (0..10)
                .map(|seed| published(&people, form, false, release.clone(), Seed::Fixed(seed)).unwrap().release)
                .collect();
            let views: BTreeSet<_> = all.iter().map(view).collect();
            let others: Vec<(&str, &Release)> = all[1..].iter().map(|it| ("other", it)).collect();
            let audited = audit(
                &all[0],
                Evidence { microdata: Some(&table), others: &others, ..Evidence::default() },
                &Unwatched,
            )
            .unwrap();
            let found = audited.attacks.intersection.last().unwrap();
            println!(
                "{form} {release}: {} views, fewest {:?} narrowed {} of {}",
                views.len(),
                found.fewest,
                found.narrowed,
                found.people
            );
        }
    }
}
