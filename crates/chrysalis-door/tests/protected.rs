//! Every sentence of docs/guides/what-is-protected.md has a test that demonstrates it. The tests that exist only for
//! that page are here and use the library alone; the last test compares the page with all tests.

#![allow(clippy::unwrap_used, reason = "tests")]

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

// (a) Everyone's quasi values.

/// With `l=2`, nobody's value is believed with a probability above one half, and somebody's with exactly one half.
#[track_caller]
fn guesses_keep_the_promise(form: Form, release: &Value, others: &[&str]) {
    let (mut n_tried, mut n_reached) = (0, 0);
    for seed in 0..120 {
        let people = People::drawn(seed);
        let made = match people.publish(form, others, release, seed) {
            Ok(made) => made.release,
            Err(error) => {
                assert_eq!(error.fault, Fault::Infeasible, "{form}: {error}");
                continue;
            }
        };
        n_tried += 1;
        for known in users(form) {
            for belief in Shown::of(&made).beliefs(&people, &known) {
                let (most, all) = (belief.values().max().unwrap(), belief.values().sum::<u64>());
                assert!(2 * most <= all, "{form}, seed {seed}: {belief:?}");
                n_reached += usize::from(2 * most == all);
            }
        }
    }
    assert!(n_tried > 40 && n_reached > 40, "{form}: {n_tried} tables, {n_reached} beliefs at the limit");
}

#[test]
fn generalize_no_guess_beats_the_promise_over_all_worlds() {
    guesses_keep_the_promise(Form::Generalize, &usual(Form::Generalize), &[]);
    guesses_keep_the_promise(Form::Generalize, &json!({ "require": ["l=2"], "partitioner": "mondrian" }), &[]);
}

#[test]
fn anatomy_no_guess_beats_the_promise_over_all_worlds() {
    guesses_keep_the_promise(Form::Anatomy, &usual(Form::Anatomy), &[]);
}

#[test]
fn permute_no_guess_beats_the_promise_over_all_worlds() {
    guesses_keep_the_promise(Form::Permute, &usual(Form::Permute), &[]);
}

#[test]
fn shuffle_no_guess_beats_the_promise_over_all_worlds() {
    guesses_keep_the_promise(Form::Shuffle, &json!({ "require": ["l=2"], "partitioner": "anatomize" }), &[]);
}

#[test]
fn angel_no_guess_beats_the_promise_over_all_worlds() {
    guesses_keep_the_promise(Form::Angel, &usual(Form::Angel), &[]);
}

#[test]
fn butterfly_no_guess_of_a_user_beats_the_promise_over_all_worlds() {
    guesses_keep_the_promise(Form::Butterfly, &usual(Form::Butterfly), &[]);
}

#[test]
fn rows_of_a_generalized_group_look_alike() {
    for seed in 0..40 {
        let Ok(made) = People::drawn(seed).publish(Form::Generalize, &[], &usual(Form::Generalize), seed) else {
            continue;
        };
        let rows = people_rows(&made.release, &["group_id", "a_min", "a_max", "b_min", "b_max"]);
        let looks: BTreeSet<&Vec<String>> = rows.iter().collect();
        assert_eq!(looks.len() as u64, made.release.manifest.groups);
        assert!(looks.iter().all(|look| rows.iter().filter(|row| row == look).count() > 1));
    }
}

/// Two of six people share a group and a value.
fn with_a_pair() -> People {
    let quasi = [[1, 1], [1, 1], [5, 5], [5, 5], [9, 9], [9, 9]];
    let g = vec![1, 1, 2, 2, 3, 3];
    People { g, ..People::new(&quasi, &[1, 1, 2, 3, 4, 5]) }
}

#[test]
fn disclosed_rows_stop_a_publication_unless_they_are_accepted_and_then_it_says_so() {
    for form in WITH_GROUPS {
        let people = with_a_pair();
        let mut release = by(form, "g", "k=2");
        let error = people.publish(form, &[], &release, 1).unwrap_err();
        // The command line exits with code 3 for this fault.
        assert_eq!(error.fault, Fault::Infeasible, "{form}: {error}");
        assert!(error.message.starts_with("2 of 6 rows (33.3 %) would be disclosed"), "{form}: {error}");
        release["accept"] = json!(["disclosure"]);
        let Published { release: mut made, report } = people.publish(form, &[], &release, 1).unwrap();
        assert_eq!((report.certain_rows, report.disclosed_rows), (Some(2), Some(2)), "{form}");
        assert!(made.manifest.accepts_disclosure(), "{form}");
        let audited = audit(&made, Evidence::default(), &Unwatched).unwrap();
        let found = audited.disclosure.clone().unwrap();
        assert_eq!((found.disclosed_rows, found.is_accepted, audited.ok()), (2, true, true), "{form}");
        made.manifest.accepted.clear();
        assert!(!audit(&made, Evidence::default(), &Unwatched).unwrap().ok(), "{form}");
        // What counts is what the groups contain, not what was asked for: with other values nobody is disclosed.
        let apart = People { values: vec![1, 2, 1, 3, 4, 5], ..with_a_pair() };
        let made = apart.publish(form, &[], &by(form, "g", "k=2"), 1).unwrap();
        assert_eq!(made.report.disclosed_rows, Some(0), "{form}");
        assert!(!made.release.manifest.accepts_disclosure(), "{form}");
    }
}

#[test]
fn exact_forms_show_who_is_in_the_table() {
    for form in EXACT {
        for seed in 0..20 {
            let people = People::drawn(seed);
            let Ok(made) = people.publish(form, &[], &usual(form), seed) else { continue };
            let truth = [0, 1].map(|at: usize| texts(people.quasi.iter().map(|row| row[at])));
            assert_eq!(people_rows(&made.release, &["a", "b"]), sorted_rows(&truth), "{form}");
        }
    }
}

#[test]
fn tight_ranges_end_at_values_of_people() {
    for form in WITH_RANGES {
        let mut n_ends = 0;
        for seed in 0..40 {
            let people = People::drawn(seed);
            let Ok(made) = people.publish(form, &[], &usual(form), seed) else { continue };
            for ranges in Shown::of(&made.release).ranges {
                for (at, (low, high)) in ranges.into_iter().enumerate() {
                    let is_somebodys = |end: i64| people.quasi.iter().any(|row| row[at] == end);
                    assert!(is_somebodys(low) && is_somebodys(high), "{form}: {low} to {high}");
                    n_ends += usize::from(low < high);
                }
            }
        }
        assert!(n_ends > 40, "{form}: {n_ends} ranges");
    }
}

#[test]
fn permuted_columns_hold_values_of_people_and_rows_where_the_others_are_equal() {
    let quasi = [[30, 1], [31, 1], [32, 1], [50, 2], [60, 3], [70, 4]];
    let people = People { g: vec![1, 1, 1, 2, 2, 2], ..People::new(&quasi, &[1, 2, 3, 1, 2, 3]) };
    let truth = |rows: &[[i64; 2]]| sorted_rows(&[0, 1].map(|at: usize| texts(rows.iter().map(|row| row[at]))));
    let mut n_mixed = 0;
    for seed in 0..20 {
        let release = people.release(Form::Permute, &[], &by(Form::Permute, "g", "l=3"), seed);
        for (at, name) in ["a", "b"].into_iter().enumerate() {
            let mut column = cells(&release, "pqt", name);
            let mut known = texts(quasi.iter().map(|row| row[at]));
            column.sort();
            known.sort();
            assert_eq!(column, known, "{name}");
        }
        // In the first group everyone's `b` is 1, so its rows are real people's rows.
        let rows = people_rows(&release, &["a", "b"]);
        assert!(truth(&quasi[..3]).iter().all(|row| rows.contains(row)), "{rows:?}");
        n_mixed += usize::from(rows != truth(&quasi));
    }
    assert!(n_mixed > 10, "rows of the second group are mixed in {n_mixed} of 20 releases");
}

/// 600 people with six values; `a` matches the value in eight of ten cases, and `b` is different for everyone.
#[test]
fn shuffled_groups_together_show_what_people_with_a_value_are_like() {
    let values: Vec<i64> = (0..600).map(|row| row % 6).collect();
    let clue = |row: i64| if mixed(row as u64, 10) < 8 { row % 6 } else { mixed(row as u64 + 5_000, 6) };
    let quasi: Vec<[i64; 2]> = (0..600).map(|row| [clue(row), mixed(row as u64 + 9_000, 1_000_000)]).collect();
    let people = People::new(&quasi, &values);
    let release = people.release(Form::Shuffle, &[], &json!({ "require": ["l=3"], "partitioner": "anatomize" }), 1);
    let table = people.table();
    let with = Evidence { microdata: Some(&table), ..Evidence::default() };
    let scored = audit(&release, with, &Unwatched).unwrap().attacks.learned.clone().unwrap().scored.unwrap();
    assert!(scored.right > scored.right_from_groups * 1.15, "{scored:?}");
}

#[test]
fn shuffled_groups_hold_numbers_next_to_each_other() {
    let values: Vec<i64> = (0..30).map(|row| row * 7 % 30).collect();
    let quasi: Vec<[i64; 2]> = (0..30).map(|row| [row, row % 4]).collect();
    let release = People::new(&quasi, &values).release(Form::Shuffle, &[], &json!({ "require": ["ke=3,2000"] }), 1);
    let mut groups: BTreeMap<String, Vec<i64>> = BTreeMap::new();
    for (id, value) in cells(&release, "permuted", "group_id").into_iter().zip(cells(&release, "permuted", "s")) {
        groups.entry(id).or_default().push(value.parse::<i64>().unwrap() / 1_000);
    }
    for group in groups.values_mut() {
        group.sort_unstable();
        let (first, last) = (group[0], group[group.len() - 1]);
        assert!(group.len() >= 3 && last - first >= 2, "what was required: {group:?}");
        assert_eq!(*group, (first..=last).collect::<Vec<_>>(), "no value of another group lies between");
    }
}

#[test]
fn what_two_users_see_together_is_not_counted_as_disclosed() {
    // Each user finds two rows with two values; a user who knows both `a` and `b` finds one row.
    let people = People::new(&[[1, 1], [1, 2], [2, 1], [2, 2]], &[1, 2, 3, 4]);
    let made = people.publish(Form::Butterfly, &[], &json!({ "require": ["l=2"] }), 1).unwrap();
    assert_eq!((made.report.certain_rows, made.report.disclosed_rows), (Some(0), Some(0)));
    let audited = audit(&made.release, Evidence::default(), &Unwatched).unwrap();
    assert!(audited.ok());
    let [pooling] = &audited.attacks.pooling[..] else { panic!("{:?}", audited.attacks.pooling) };
    assert_eq!((pooling.smallest, pooling.confidence), (1, Some(1.0)));
}

#[test]
fn swapped_values_are_not_counted_and_some_people_keep_their_own() {
    // Values are swapped in pairs, so at least one of seven people keeps their own.
    let quasi: Vec<[i64; 2]> = (0..7).map(|row| [row, 0]).collect();
    let people = People::new(&quasi, &[1, 2, 3, 4, 5, 6, 7]);
    for seed in 0..10 {
        let made = people.publish(Form::RankSwap, &[], &usual(Form::RankSwap), seed).unwrap();
        assert_eq!((made.report.certain_rows, made.report.disclosed_rows), (None, None));
        assert_eq!(audit(&made.release, Evidence::default(), &Unwatched).unwrap().disclosure, None);
        let shown = people_rows(&made.release, &["a", "s"]);
        let own = sorted_rows(&[texts(0..7), people.texts()]);
        assert!(shown.iter().zip(&own).any(|(shown, own)| shown == own), "{shown:?}");
    }
}

#[test]
fn the_manifest_tells_the_ends_of_numbers_every_word_and_every_count() {
    let jobs = ["baker", "nurse", "baker", "pilot", "nurse", "baker", "nurse", "baker"];
    let table = Table::new(vec![
        Column::integers("age", &[23, 27, 35, 59, 61, 65, 66, 97]),
        Column::texts("job", jobs.into_iter()),
        Column::integers("s", &[1_000, 2_000, 1_000, 3_000, 4_000, 2_000, 3_000, 1_000]),
    ]);
    for &form in WITH_GROUPS.iter().chain([&Form::RankSwap]) {
        let mut release = usual(form);
        release["method"] = json!(form.name());
        let quasi = if form.shape().has_users { json!([["age"], ["job"]]) } else { json!(["age", "job"]) };
        let draft: Draft =
            serde_json::from_value(json!({ "quasi": quasi, "sensitive": "s", "release": release })).unwrap();
        let recipe = draft.check(&["age".to_owned(), "job".to_owned(), "s".to_owned()]).unwrap();
        let manifest = publish(table.clone(), &recipe, Seed::Secret, &Unwatched).unwrap().release.manifest;
        let domain = |name: &str| manifest.attributes.iter().find(|it| it.name == name).unwrap().domain.clone();
        assert_eq!((domain("age").min, domain("age").max), (Some(json!(23)), Some(json!(97))), "{form}");
        assert_eq!(domain("job").values, Some(vec![json!("baker"), json!("nurse"), json!("pilot")]), "{form}");
        assert_eq!(domain("s").counts, Some(vec![3, 2, 2, 1]), "{form}");
    }
}

/// Groups are given where possible; elsewhere no two people look alike.
#[test]
fn no_form_shows_the_order_of_the_input() {
    let quasi: Vec<[i64; 2]> = (0..12).map(|row| [row * 5 % 12, row % 3]).collect();
    let values: Vec<i64> = (0..12).map(|row| row * 7 % 12).collect();
    let people = People { g: (0..12).map(|row| row % 4).collect(), ..People::new(&quasi, &values) };
    let reversed = |column: &[i64]| column.iter().rev().copied().collect::<Vec<_>>();
    let turned = People {
        g: reversed(&people.g),
        ..People::new(&quasi.iter().rev().copied().collect::<Vec<_>>(), &reversed(&values))
    };
    for &form in WITH_GROUPS.iter().chain([&Form::RankSwap]) {
        let request = if form == Form::RankSwap { usual(form) } else { by(form, "g", "distinct-l=2") };
        let shown = |people: &People| -> Vec<Vec<Vec<String>>> {
            let release = people.release(form, &[], &request, 5);
            let of_table = |table: &Table| table.columns().iter().map(texts_of).collect();
            release.tables.iter().map(of_table).collect()
        };
        assert_eq!(shown(&people), shown(&turned), "{form}");
    }
}

// (b) Columns that are kept as they are.

#[test]
fn exact_forms_show_kept_columns_beside_exact_quasi_values() {
    for form in EXACT {
        for seed in 0..20 {
            let people = People::drawn(seed);
            let Ok(made) = people.publish(form, &["ward"], &usual(form), seed) else { continue };
            let truth = [0, 1].map(|at: usize| texts(people.quasi.iter().map(|row| row[at])));
            let truth = [truth[0].clone(), truth[1].clone(), texts(people.ward.iter().copied())];
            assert_eq!(people_rows(&made.release, &["a", "b", "ward"]), sorted_rows(&truth), "{form}");
        }
    }
}

#[test]
fn anatomy_kept_columns_tell_no_more_of_values() {
    guesses_keep_the_promise(Form::Anatomy, &usual(Form::Anatomy), &["ward"]);
}

#[test]
fn shuffle_kept_columns_tell_no_more_of_values() {
    guesses_keep_the_promise(Form::Shuffle, &json!({ "require": ["l=2"], "partitioner": "anatomize" }), &["ward"]);
}

#[test]
fn angel_kept_columns_tell_no_more_of_values() {
    guesses_keep_the_promise(Form::Angel, &usual(Form::Angel), &["ward"]);
}

/// Everyone looks alike; of the three people in ward 0, two have the same value.
#[track_caller]
fn kept_columns_beat_the_promise(form: Form) {
    let people = People { ward: vec![0, 0, 0, 1, 1, 1], ..People::new(&[[7, 7]; 6], &[1, 1, 2, 2, 3, 4]) };
    let made = people.publish(form, &["ward"], &by(form, "g", "l=2"), 1).unwrap();
    assert_eq!((made.report.groups, made.report.disclosed_rows), (1, Some(0)), "{form}");
    let audited = audit(&made.release, Evidence::default(), &Unwatched).unwrap();
    assert!(audited.ok() && audited.attacks.linking.as_ref().unwrap().confidence <= 0.5);
    for known in users(form) {
        let belief = &Shown::of(&made.release).beliefs(&people, &known)[0];
        let (most, all) = (belief["1000"], belief.values().sum::<u64>());
        assert_eq!(3 * most, 2 * all, "{form}: {belief:?}");
    }
}

#[test]
fn generalize_kept_columns_can_make_a_guess_better_than_promised() {
    kept_columns_beat_the_promise(Form::Generalize);
}

#[test]
fn butterfly_kept_columns_can_make_a_guess_better_than_promised() {
    kept_columns_beat_the_promise(Form::Butterfly);
}

/// Everyone is in a ward of their own.
fn alone_in_wards() -> People {
    let quasi = [[1, 1], [1, 1], [5, 5], [5, 5], [9, 9], [9, 9]];
    People { ward: (0..6).collect(), g: vec![1, 1, 2, 2, 3, 3], ..People::new(&quasi, &[1, 2, 3, 1, 2, 3]) }
}

#[track_caller]
fn kept_columns_disclose(form: Form) {
    let people = alone_in_wards();
    let mut release = by(form, "g", "k=2");
    assert_eq!(people.publish(form, &[], &release, 1).unwrap().report.disclosed_rows, Some(0), "{form}");
    let error = people.publish(form, &["ward"], &release, 1).unwrap_err();
    assert_eq!(error.fault, Fault::Infeasible, "{form}: {error}");
    assert!(error.message.contains("6 of 6 rows") && error.message.contains("together with `ward`"), "{form}: {error}");
    release["accept"] = json!(["disclosure"]);
    let made = people.release(form, &["ward"], &release, 1);
    let audited = audit(&made, Evidence::default(), &Unwatched).unwrap();
    let found = audited.attacks.bystander.clone().unwrap();
    assert_eq!((found.is_beside, found.certain_rows, found.disclosed_rows), (true, 6, 6), "{form}");
    assert_eq!(audited.disclosure.as_ref().unwrap().disclosed_rows, 6, "{form}");
}

#[test]
fn generalize_kept_columns_that_give_values_away_stop_the_publication() {
    kept_columns_disclose(Form::Generalize);
}

#[test]
fn butterfly_kept_columns_that_give_values_away_stop_the_publication() {
    kept_columns_disclose(Form::Butterfly);
}

#[test]
fn kept_columns_do_not_stand_beside_values_where_these_are_shown_for_groups() {
    for form in [Form::Anatomy, Form::Shuffle, Form::Angel] {
        let made = alone_in_wards().publish(form, &["ward"], &by(form, "g", "k=2"), 1).unwrap();
        assert_eq!(made.report.disclosed_rows, Some(0), "{form}");
        let audited = audit(&made.release, Evidence::default(), &Unwatched).unwrap();
        let found = audited.attacks.bystander.clone().unwrap();
        assert_eq!((found.is_beside, found.alone_rows, found.disclosed_rows), (false, 6, 0), "{form}");
    }
}

#[test]
fn columns_that_look_like_identifiers_are_not_kept_unless_they_are_accepted() {
    let quasi: Vec<[i64; 2]> = (0..40).map(|row| [row / 4, row % 4]).collect();
    let people =
        People { ward: (0..40).collect(), ..People::new(&quasi, &(0..40).map(|row| row % 8).collect::<Vec<_>>()) };
    for &form in WITH_GROUPS.iter().chain([&Form::RankSwap]).filter(|form| form.shape().keeps_others) {
        let mut release = usual(form);
        let error = people.publish(form, &["ward"], &release, 1).unwrap_err();
        assert_eq!(error.fault, Fault::Infeasible, "{form}: {error}");
        assert!(error.message.contains("looks as if it identifies people"), "{form}: {error}");
        let mut accept = vec!["identifying=ward"];
        // If everyone's row is known, so is the value beside it.
        accept.extend(matches!(form, Form::Generalize | Form::Butterfly).then_some("disclosure"));
        release["accept"] = json!(accept);
        let made = people.release(form, &["ward"], &release, 1);
        assert!(made.manifest.accepted.iter().any(|risk| risk.to_string() == "identifying=ward"), "{form}");
    }
}

// (c) Another release of the same people.

/// How often each sensitive value occurs, according to the manifest.
fn counts(release: &Release) -> BTreeMap<String, i64> {
    let domain = &release.manifest.attributes.iter().find(|it| it.name == "s").unwrap().domain;
    let values = domain.values.iter().flatten().map(ToString::to_string);
    values.zip(domain.counts.iter().flatten().map(|&count| count as i64)).collect()
}

#[test]
fn who_leaves_between_two_releases_is_told_by_subtraction() {
    let quasi: Vec<[i64; 2]> = (0..12).map(|row| [row, row % 3]).collect();
    let values: Vec<i64> = (0..12).map(|row| row * 5 % 6).collect();
    for &form in WITH_GROUPS.iter().chain([&Form::RankSwap]) {
        for leaving in 0..12 {
            let (mut rest, mut left) = (quasi.clone(), values.clone());
            rest.remove(leaving);
            left.remove(leaving);
            let before = counts(&People::new(&quasi, &values).release(form, &[], &usual(form), 1));
            let after = counts(&People::new(&rest, &left).release(form, &[], &usual(form), 2));
            let fewer: Vec<&String> = before
                .iter()
                .filter(|(value, n)| after.get(*value).copied().unwrap_or(0) < **n)
                .map(|it| it.0)
                .collect();
            assert_eq!(fewer, [&(values[leaving] * 1_000).to_string()], "{form}");
        }
    }
}

/// The values that all releases together leave possible for each person, for a user who knows the columns `known`.
fn left(releases: &[Release], people: &People, known: &[usize]) -> Vec<BTreeSet<String>> {
    let shown: Vec<Shown> = releases.iter().map(Shown::of).collect();
    let of_person = |quasi: &[i64; 2]| {
        let all = shown.iter().map(|shown| shown.allowed(*quasi, known));
        all.reduce(|one, other| &one & &other).unwrap()
    };
    people.quasi.iter().map(of_person).collect()
}

/// Two releases with crossing groups leave two values each, but together leave somebody only one.
#[track_caller]
fn two_releases_leave_one_value(form: Form, n_alone: usize) {
    let quasi = [[10, 0], [20, 0], [30, 0], [40, 0]];
    let people = People { g: vec![1, 1, 2, 2], h: vec![1, 2, 1, 2], ..People::new(&quasi, &[1, 2, 3, 4]) };
    let releases = ["g", "h"].map(|column| people.release(form, &[], &by(form, column, "distinct-l=2"), 1));
    for release in &releases {
        assert!(left(std::slice::from_ref(release), &people, &[0, 1]).iter().all(|values| values.len() >= 2), "{form}");
    }
    let alone: Vec<BTreeSet<String>> = left(&releases, &people, &[0, 1]);
    assert_eq!(alone.iter().filter(|values| values.len() == 1).count(), n_alone, "{form}: {alone:?}");
    assert!(alone.iter().zip(people.texts()).all(|(values, own)| values.contains(&own)));
    // The audit reports this before the second release is handed out.
    let table = people.table();
    let with = Evidence { microdata: Some(&table), others: &[("other", &releases[1])], ..Evidence::default() };
    let audited = audit(&releases[0], with, &Unwatched).unwrap();
    assert!(!audited.ok());
    assert_eq!(audited.attacks.intersection[0].narrowed, n_alone as u64, "{form}");
}

#[test]
fn generalize_two_releases_can_leave_one_value() {
    two_releases_leave_one_value(Form::Generalize, 2);
}

#[test]
fn shuffle_two_releases_can_leave_one_value() {
    two_releases_leave_one_value(Form::Shuffle, 4);
}

#[test]
fn angel_two_releases_can_leave_one_value() {
    two_releases_leave_one_value(Form::Angel, 2);
}

#[test]
fn butterfly_two_releases_can_leave_a_user_one_value() {
    let mut n_alone = 0;
    for seed in 0..120 {
        let people = People::drawn(seed);
        let made = [json!(["l=2"]), json!(["l=2", "k=3"])]
            .map(|require| people.publish(Form::Butterfly, &[], &json!({ "require": require }), seed));
        let [Ok(one), Ok(other)] = made else { continue };
        let releases = [one.release, other.release];
        for known in users(Form::Butterfly) {
            let each = releases.iter().map(|release| left(std::slice::from_ref(release), &people, &known));
            assert!(each.flatten().all(|values| values.len() >= 2), "seed {seed}");
            n_alone += left(&releases, &people, &known).iter().filter(|values| values.len() == 1).count();
        }
    }
    assert!(n_alone > 0);
}

/// 24 people who all look different, six values, and new random groups each time.
#[test]
fn groups_drawn_anew_ten_times_leave_most_people_one_value() {
    let quasi: Vec<[i64; 2]> = (0..24).map(|row| [row, row % 3]).collect();
    let people = People::new(&quasi, &(0..24).map(|row| row % 6).collect::<Vec<_>>());
    let request = json!({ "require": ["l=2"], "partitioner": "anatomize" });
    // In permuted rows, `a` identifies the group.
    for (form, known) in [(Form::Anatomy, &[0, 1][..]), (Form::Permute, &[0])] {
        let releases: Vec<Release> = (0..10).map(|seed| people.release(form, &[], &request, seed)).collect();
        assert!(left(&releases[..1], &people, known).iter().all(|values| values.len() == 2));
        let left = left(&releases, &people, known);
        let alone = left.iter().filter(|values| values.len() == 1).count();
        assert!(alone > 20, "{form}: {alone} of 24");
        assert!(left.iter().zip(people.texts()).all(|(values, own)| values.contains(&own)));
    }
}

/// Everything that a release shows except the ids of its groups and the random order within them: for each group its
/// rows, or its columns if those were permuted, and its values.
fn drawn_view(release: &Release) -> Vec<(Vec<Vec<String>>, Vec<String>)> {
    let (form, shape) = (release.manifest.method, release.manifest.method.shape());
    let (table, id) = (release.table(shape.people).unwrap(), shape.group_id.unwrap());
    let is_drawn = |name: &str| name == id || (form == Form::Shuffle && name == "s");
    let mut groups: BTreeMap<String, (Vec<Vec<String>>, Vec<String>)> = BTreeMap::new();
    for (row, group) in cells(release, shape.people, id).into_iter().enumerate() {
        let columns = table.columns().iter().filter(|column| !is_drawn(column.name()));
        let row = columns.map(|column| column.domain().text(column.code(row)).into_owned()).collect();
        groups.entry(group).or_default().0.push(row);
    }
    if shape.values_table() != shape.people || form == Form::Shuffle {
        for (group, (_, values)) in &mut groups {
            values.extend(values_of(release, group).iter().map(|(value, share)| format!("{value} {share}")));
        }
    }
    for (rows, _) in groups.values_mut() {
        if form == Form::Permute {
            *rows = (0..rows[0].len()).map(|at| rows.iter().map(|row| row[at].clone()).collect()).collect();
            rows.iter_mut().for_each(|column: &mut Vec<String>| column.sort());
        } else {
            rows.sort();
        }
    }
    let mut groups: Vec<_> = groups.into_values().collect();
    groups.sort();
    groups
}

#[track_caller]
fn gives_the_same_again(people: &People, form: Form, request: &Value) -> bool {
    let Ok(first) = people.publish(form, &[], request, 0) else { return false };
    for seed in 1..6 {
        let again = people.release(form, &[], request, seed);
        assert_eq!(drawn_view(&first.release), drawn_view(&again), "{form}, seed {seed}");
    }
    true
}

#[test]
fn mondrian_forms_the_same_groups_again() {
    let request = json!({ "require": ["l=2"], "partitioner": "mondrian" });
    let n_tried =
        (0..60).filter(|&seed| gives_the_same_again(&People::drawn(seed), Form::Generalize, &request)).count();
    assert!(n_tried > 20, "{n_tried}");
}

#[test]
fn sorted_numbers_that_all_differ_form_the_same_groups_again() {
    for seed in 0..10 {
        let people = People { values: vec![3, 1, 6, 2, 5, 4], ..People::drawn(seed) };
        assert!(gives_the_same_again(&people, Form::Shuffle, &usual(Form::Shuffle)));
    }
}

#[test]
fn two_swapped_releases_narrow_values_down() {
    // Nine neighbours satisfy the minimum: four on each side, or eight on one side for the first and the last. So a
    // value comes from at most eight places away.
    let quasi: Vec<[i64; 2]> = (0..60).map(|row| [row, 0]).collect();
    let people = People::new(&quasi, &(0..60).collect::<Vec<_>>());
    let shown = |seed: u64| -> BTreeMap<i64, i64> {
        let release = people.release(Form::RankSwap, &[], &json!({ "require": ["ke=9,8000"] }), seed);
        let rows = people_rows(&release, &["a", "s"]);
        rows.iter().map(|row| (row[0].parse().unwrap(), row[1].parse::<i64>().unwrap() / 1_000)).collect()
    };
    let (one, other) = (shown(1), shown(2));
    let mut n_narrowed = 0;
    for own in 0..60 {
        let both = (one[&own].max(other[&own]) - 8)..=(one[&own].min(other[&own]) + 8);
        assert!(both.contains(&own), "{own} {both:?}");
        n_narrowed += usize::from(both.count() < 17);
    }
    assert!(n_narrowed > 20, "{n_narrowed} of 60");
}

// (d) The algorithm.

/// The beliefs about each person of an attacker who knows everyone's quasi values and runs the algorithm on every
/// world: a world counts as often as it produces what the release shows, with new random draws each time.
fn replayed(people: &People, form: Form, request: &Value, n_runs: u64) -> Vec<BTreeMap<i64, f64>> {
    let seen = drawn_view(&people.release(form, &[], request, 0));
    let mut beliefs: Vec<BTreeMap<i64, f64>> = vec![BTreeMap::new(); people.values.len()];
    let mut all = 0.0;
    for values in arrangements(&people.values) {
        let world = People { values, ..people.clone() };
        let runs = (0..n_runs).filter_map(|seed| world.publish(form, &[], request, seed).ok());
        let hits = runs.filter(|made| drawn_view(&made.release) == seen).count() as f64;
        all += hits;
        for (belief, &value) in beliefs.iter_mut().zip(&world.values) {
            *belief.entry(value).or_default() += hits;
        }
    }
    beliefs.iter_mut().for_each(|belief| belief.values_mut().for_each(|it| *it /= all));
    beliefs
}

/// Somebody's value is believed with a probability above nine tenths, although one half was promised.
#[track_caller]
fn replaying_betrays(form: Form, people: &People) {
    let beliefs = replayed(people, form, &usual(form), 12);
    let most = beliefs.iter().flat_map(|belief| belief.values()).fold(0.0_f64, |most, &it| most.max(it));
    assert!(most > 0.9, "{form}: {beliefs:?}");
}

/// Two people close together with the same value, and four others far away. In every world where the two have different
/// values they are grouped together, and in hardly any other: anyone who sees them apart knows the value that occurs
/// twice.
fn two_alike() -> People {
    People::new(&[[0, 0], [1, 0], [50, 0], [51, 0], [52, 0], [53, 0]], &[1, 1, 2, 3, 4, 5])
}

#[test]
fn generalize_replaying_compact_can_betray_a_value() {
    replaying_betrays(Form::Generalize, &two_alike());
}

#[test]
fn anatomy_replaying_nearby_can_betray_a_value() {
    replaying_betrays(Form::Anatomy, &two_alike());
}

/// Before the choice among groups with about the same loss was randomized, two of the 180 worlds produced the published
/// groups, and the audit said that nothing follows from them.
#[test]
fn the_audit_does_not_say_that_groups_by_nearby_tell_nothing() {
    let quasi = [1, 6, 11, 14, 16, 17].map(|age| [age, 0]);
    let people = People::new(&quasi, &[1, 1, 2, 3, 2, 4]);
    let request = usual(Form::Anatomy);
    assert_eq!(arrangements(&people.values).len(), 180);
    let beliefs = replayed(&people, Form::Anatomy, &request, 40);
    let most = beliefs.iter().flat_map(|belief| belief.values()).fold(0.0_f64, |most, &it| most.max(it));
    assert!(most > 0.5, "half was promised: {beliefs:?}");
    let release = people.release(Form::Anatomy, &[], &request, 0);
    let table = people.table();
    let with = Evidence { microdata: Some(&table), ..Evidence::default() };
    let audited = serde_json::to_value(audit(&release, with, &Unwatched).unwrap()).unwrap();
    let minimality = audited["attacks"]["not_run"]["minimality"].as_str().unwrap();
    assert!(minimality.starts_with("Not replayed") && minimality.contains("may reveal values"), "{minimality}");
    let replay = audited["attacks"]["replay"]["finding"].as_str().unwrap();
    assert!(replay.ends_with("No promise covers an attacker who replays the algorithm."), "{replay}");
}

#[test]
fn permute_replaying_nearby_can_betray_a_value() {
    replaying_betrays(Form::Permute, &two_alike());
}

#[test]
fn angel_replaying_can_betray_a_value() {
    replaying_betrays(Form::Angel, &two_alike());
}

/// Everyone's `b` is 0, and the release shows that: the first user knows everything there is to know.
#[test]
fn butterfly_replaying_can_betray_a_value_to_a_user() {
    let people = People::new(&[[5, 0], [5, 0], [0, 0], [2, 0], [5, 0]], &[3, 2, 1, 1, 2]);
    let request = json!({ "require": ["l=1.5"] });
    let shown = Shown::of(&people.release(Form::Butterfly, &[], &request, 0));
    assert!(shown.ranges.iter().all(|ranges| ranges[1] == (0, 0)));
    let beliefs = replayed(&people, Form::Butterfly, &request, 12);
    // Two thirds were promised. The people with 0 and 2 would form a group if they did not both have the value 1.
    assert!(beliefs[2][&1] > 0.9 && beliefs[3][&1] > 0.9, "{beliefs:?}");
}

#[test]
fn anatomize_tells_nothing_to_who_replays_it() {
    let people = People::new(&[[0, 0], [1, 0], [50, 3], [51, 3]], &[1, 2, 1, 2]);
    let request = json!({ "require": ["l=2"], "partitioner": "anatomize" });
    for form in [Form::Anatomy, Form::Permute] {
        for belief in replayed(&people, form, &request, 400) {
            assert!(belief.values().all(|it| (it - 0.5).abs() < 0.1), "{form}: {belief:?}");
        }
    }
}

#[test]
fn groups_by_sorted_numbers_tell_nothing_to_who_replays_them() {
    let people = People::new(&[[0, 0], [1, 0], [2, 1], [50, 3], [51, 3], [52, 2]], &[3, 1, 6, 2, 5, 4]);
    let request = usual(Form::Shuffle);
    let shown = Shown::of(&people.release(Form::Shuffle, &[], &request, 0));
    for (belief, quasi) in replayed(&people, Form::Shuffle, &request, 1).iter().zip(&people.quasi) {
        let row = (0..6).find(|&row| shown.covers(row, *quasi, &[0, 1])).unwrap();
        for (value, it) in belief {
            let share = shown.values[row].get(&(value * 1_000).to_string()).copied().unwrap_or(0);
            assert!((it * 60.0 - share as f64).abs() < 1e-9, "{belief:?} {:?}", shown.values[row]);
        }
    }
}

// The page.

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The bullets of a section, each on one line.
fn bullets(section: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut is_inside = false;
    for line in section.lines() {
        if let Some(text) = line.strip_prefix("- ") {
            found.push(text.to_owned());
            is_inside = true;
        } else if let (true, Some(text)) = (is_inside, line.strip_prefix("  ")) {
            let last = found.last_mut().unwrap();
            last.push(' ');
            last.push_str(text.trim());
        } else {
            is_inside = false;
        }
    }
    found
}

/// The names of all tests under `crates`.
fn tests() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut folders: Vec<PathBuf> = Vec::new();
    for krate in std::fs::read_dir(root().join("crates")).unwrap() {
        folders.extend(["src", "tests"].map(|name| krate.as_ref().unwrap().path().join(name)));
    }
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|it| it == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                let lines: Vec<&str> = text.lines().map(str::trim).collect();
                let named = |at: usize| Some(lines[at].strip_prefix("fn ")?.split_once('(')?.0.to_owned());
                let has_mark = |at: &usize| {
                    lines[..*at].iter().rev().take_while(|line| line.starts_with("#[")).any(|line| *line == "#[test]")
                };
                found.extend((0..lines.len()).filter(has_mark).filter_map(named));
            }
        }
    }
    found
}

/// What attackers know, as in every form's section.
const KNOWN: [&str; 4] =
    ["Everybody's quasi values", "The columns kept as they are", "Another release of the same people", "The algorithm"];

#[test]
fn every_sentence_of_the_guide_has_a_test() {
    let page = std::fs::read_to_string(root().join("docs/guides/what-is-protected.md")).unwrap();
    let tests = tests();
    let names = Form::ALL.iter().map(|form| form.name()).filter(|name| *name != "toy");
    for name in names.chain(["Every form"]) {
        let section = page.split("\n## ").find(|text| text.lines().next() == Some(name));
        let section = section.unwrap_or_else(|| panic!("the guide has no section `{name}`"));
        for known in KNOWN {
            let part = section.split("\n### ").find(|text| text.lines().next() == Some(known));
            let part = part.unwrap_or_else(|| panic!("`{name}` does not say what comes of `{known}`"));
            assert!(!bullets(part).is_empty(), "`{name}` says nothing of `{known}`");
        }
        for bullet in bullets(section) {
            let test = bullet.strip_suffix(" -->").and_then(|text| Some(text.rsplit_once("<!-- test: ")?.1));
            let test = test.unwrap_or_else(|| panic!("`{name}`: no test is named behind `{bullet}`"));
            assert!(tests.contains(test), "`{name}`: there is no test `{test}`, named behind `{bullet}`");
            assert_eq!(bullet.matches("<!--").count(), 1, "`{name}`: {bullet}");
        }
    }
}
