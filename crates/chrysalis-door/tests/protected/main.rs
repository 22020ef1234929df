//! Every sentence of docs/guides/what-is-protected.md has a test that demonstrates it. The tests that exist only for
//! that page are here, one file for each thing an attacker may know, and use the library alone; `page.rs` compares the page with all
//! tests.

#![allow(clippy::unwrap_used, reason = "tests")]

mod algorithm;
mod kept;
mod page;
mod quasi;
mod republished;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use chrysalis::table::{Column, Table};
use chrysalis::{Draft, Error, Evidence, Fault, Form, Published, Release, Seed, Unwatched, audit, publish};
use serde_json::{Value, json};

const WITH_GROUPS: [Form; 6] =
    [Form::Generalize, Form::Anatomy, Form::Permute, Form::Shuffle, Form::Angel, Form::Butterfly];
const EXACT: [Form; 3] = [Form::Anatomy, Form::Shuffle, Form::RankSwap];
const WITH_RANGES: [Form; 3] = [Form::Generalize, Form::Angel, Form::Butterfly];

/// A number below `n` that looks random and is not.
fn mixed(seed: u64, n: u64) -> i64 {
    let mut x = seed.wrapping_add(0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((x ^ x >> 31) % n) as i64
}

/// A few people: quasi columns `a` and `b`, a column `ward` that may be kept as it is, a sensitive column `s` of
/// numbers that are far apart, and `g` and `h` for given groups.
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

    /// Six people, some of whom look alike.
    fn drawn(seed: u64) -> People {
        let draw = |column: u64, most: u64| (0..6).map(move |row| mixed(seed * 1_000 + column * 100 + row, most));
        let quasi: Vec<[i64; 2]> = draw(0, 5).zip(draw(1, 3)).map(|(a, b)| [a, b]).collect();
        let values: Vec<i64> = draw(2, 4).collect();
        People { ward: draw(3, 3).collect(), ..People::new(&quasi, &values) }
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

    /// The sensitive values as a release shows them.
    fn texts(&self) -> Vec<String> {
        self.values.iter().map(|value| (value * 1_000).to_string()).collect()
    }

    /// In a form with several users, the first user knows `a` and the second `b`.
    fn publish(&self, form: Form, others: &[&str], release: &Value, seed: u64) -> Result<Published, Error> {
        let mut release = release.clone();
        release["method"] = json!(form.name());
        let quasi = if form.shape().has_users { json!([["a"], ["b"]]) } else { json!(["a", "b"]) };
        let mut draft = json!({ "quasi": quasi, "sensitive": "s", "other": others, "release": release });
        // Only equal numbers count as one value. This cannot be set beside `ke`, or where nothing is counted.
        if form.shape().group_id.is_some() && !draft["release"]["require"].to_string().contains("ke=") {
            draft["attributes"] = json!({ "s": { "near": 1 } });
        }
        let table = self.table();
        let header: Vec<String> = table.columns().iter().map(|column| column.name().to_owned()).collect();
        let draft: Draft = serde_json::from_value(draft).unwrap();
        publish(table, &draft.check(&header)?, Seed::Fixed(seed), &Unwatched)
    }

    #[track_caller]
    fn release(&self, form: Form, others: &[&str], release: &Value, seed: u64) -> Release {
        self.publish(form, others, release, seed).unwrap().release
    }
}

/// A request that every form accepts, with groups that it forms itself.
fn usual(form: Form) -> Value {
    match form {
        Form::Shuffle => json!({ "require": ["distinct-l=2"] }),
        Form::Angel => json!({ "require": ["l=2", "k=2"] }),
        Form::RankSwap => json!({ "require": ["ke=2,1"] }),
        _ => json!({ "require": ["l=2"] }),
    }
}

/// Groups given by a column of the table. Butterfly forms its own groups, of pairs.
fn by(form: Form, column: &str, require: &str) -> Value {
    match form {
        Form::Butterfly => json!({ "require": [require] }),
        Form::Angel => {
            let mut all = vec![require, "t=0.9"];
            all.extend((require != "k=2").then_some("k=2"));
            json!({ "require": all, "partitioner": "column", "group_column": column, "bucket_columns": [column] })
        }
        _ => json!({ "require": [require], "partitioner": "column", "group_column": column }),
    }
}

fn texts_of(column: &Column) -> Vec<String> {
    (0..column.codes().len()).map(|row| column.domain().text(column.code(row)).into_owned()).collect()
}

/// A column of a published table as text.
fn cells(release: &Release, table: &str, column: &str) -> Vec<String> {
    texts_of(release.table(table).unwrap().column(column).unwrap())
}

/// Some columns of the table with one row per person, as sorted rows.
fn people_rows(release: &Release, columns: &[&str]) -> Vec<Vec<String>> {
    let table = release.manifest.method.shape().people;
    sorted_rows(&columns.iter().map(|column| cells(release, table, column)).collect::<Vec<_>>())
}

fn sorted_rows(columns: &[Vec<String>]) -> Vec<Vec<String>> {
    let row = |row: usize| columns.iter().map(|column| column[row].clone()).collect();
    let mut rows: Vec<Vec<String>> = (0..columns[0].len()).map(row).collect();
    rows.sort();
    rows
}

fn texts(numbers: impl Iterator<Item = i64>) -> Vec<String> {
    numbers.map(|number| number.to_string()).collect()
}

// What rows show, and all worlds that they allow.

/// Everything shown about each published row.
struct Shown {
    group: Vec<String>,
    /// The range of each quasi value.
    ranges: Vec<[(i64, i64); 2]>,
    ward: Option<Vec<i64>>,
    /// How many sixtieths of its owner's belief each value gets: the row's own value, or any of its group's.
    values: Vec<BTreeMap<String, u64>>,
    /// Whether columns were permuted independently, so that a row belongs to nobody.
    is_permuted: bool,
}

impl Shown {
    fn of(release: &Release) -> Shown {
        let form = release.manifest.method;
        let (shape, people) = (form.shape(), release.table(form.shape().people).unwrap());
        let numbers = |name: &str| -> Vec<i64> {
            cells(release, shape.people, name).iter().map(|text| text.parse().unwrap()).collect()
        };
        let ends = |name: &str| match people.column(name) {
            Some(_) => (numbers(name), numbers(name)),
            None => (numbers(&format!("{name}_min")), numbers(&format!("{name}_max"))),
        };
        let ends = ["a", "b"].map(ends);
        let group = cells(release, shape.people, shape.group_id.unwrap());
        let is_own = matches!(form, Form::Generalize | Form::Butterfly);
        let of_row = |row: usize| match is_own {
            true => BTreeMap::from([(cells(release, shape.people, "s")[row].clone(), 60)]),
            false => values_of(release, &group[row]),
        };
        Shown {
            ranges: (0..group.len()).map(|row| [0, 1].map(|at: usize| (ends[at].0[row], ends[at].1[row]))).collect(),
            ward: people.column("ward").map(|_| numbers("ward")),
            values: (0..group.len()).map(of_row).collect(),
            is_permuted: form == Form::Permute,
            group,
        }
    }

    fn covers(&self, row: usize, quasi: [i64; 2], known: &[usize]) -> bool {
        known.iter().all(|&at| self.ranges[row][at].0 <= quasi[at] && quasi[at] <= self.ranges[row][at].1)
    }

    /// Whether these rows may belong to the people, in this order.
    fn is_world(&self, rows: &[i64], people: &People, known: &[usize]) -> bool {
        if self.is_permuted {
            return known.iter().all(|&at| {
                let mut theirs: Vec<(&String, i64)> = rows
                    .iter()
                    .zip(&people.quasi)
                    .map(|(&row, quasi)| (&self.group[row as usize], quasi[at]))
                    .collect();
                let mut shown: Vec<(&String, i64)> =
                    self.group.iter().zip(&self.ranges).map(|(group, ranges)| (group, ranges[at].0)).collect();
                theirs.sort_unstable();
                shown.sort_unstable();
                theirs == shown
            });
        }
        rows.iter().enumerate().all(|(person, &row)| {
            let is_ward = self.ward.as_ref().is_none_or(|ward| ward[row as usize] == people.ward[person]);
            is_ward && self.covers(row as usize, people.quasi[person], known)
        })
    }

    /// The beliefs about each person of an attacker who knows everyone's quasi values (and wards, if they are shown)
    /// and considers all worlds equally likely. A world assigns each row to a person, and each of a group's values to a
    /// member.
    fn beliefs(&self, people: &People, known: &[usize]) -> Vec<BTreeMap<String, u64>> {
        let mut beliefs = vec![BTreeMap::new(); people.quasi.len()];
        let all: Vec<i64> = (0..people.quasi.len() as i64).collect();
        for rows in arrangements(&all).iter().filter(|rows| self.is_world(rows, people, known)) {
            for (belief, &row) in beliefs.iter_mut().zip(rows) {
                for (value, weight) in &self.values[row as usize] {
                    *belief.entry(value.clone()).or_default() += weight;
                }
            }
        }
        assert!(beliefs.iter().all(|belief| !belief.is_empty()), "the true world is one of them");
        beliefs
    }

    /// The values that a person may have according to one release.
    fn allowed(&self, quasi: [i64; 2], known: &[usize]) -> BTreeSet<String> {
        let rows = (0..self.group.len()).filter(|&row| self.covers(row, quasi, known));
        rows.flat_map(|row| self.values[row].keys().cloned()).collect()
    }
}

/// The values of a group, in sixtieths.
fn values_of(release: &Release, group: &str) -> BTreeMap<String, u64> {
    let shape = release.manifest.method.shape();
    let table = shape.values_table();
    let ids = cells(release, table, shape.group_id.unwrap());
    let counts = match table == shape.people {
        true => vec!["1".to_owned(); ids.len()],
        false => cells(release, table, "count"),
    };
    let mut values: BTreeMap<String, u64> = BTreeMap::new();
    for ((id, value), count) in ids.iter().zip(cells(release, table, "s")).zip(counts) {
        if id == group {
            *values.entry(value).or_default() += count.parse::<u64>().unwrap();
        }
    }
    let size: u64 = values.values().sum();
    assert!(60 % size == 0, "groups of up to six rows");
    values.values_mut().for_each(|count| *count *= 60 / size);
    values
}

/// All distinct permutations of some numbers.
fn arrangements(numbers: &[i64]) -> Vec<Vec<i64>> {
    if numbers.is_empty() {
        return vec![Vec::new()];
    }
    let distinct: BTreeSet<i64> = numbers.iter().copied().collect();
    let beginning_with = |first: i64| {
        let mut rest = numbers.to_vec();
        rest.remove(rest.iter().position(|number| *number == first).unwrap());
        arrangements(&rest).into_iter().map(move |tail| [vec![first], tail].concat())
    };
    distinct.into_iter().flat_map(beginning_with).collect()
}

/// What each user knows: the positions of quasi columns.
fn users(form: Form) -> Vec<Vec<usize>> {
    if form.shape().has_users { vec![vec![0], vec![1]] } else { vec![vec![0, 1]] }
}
