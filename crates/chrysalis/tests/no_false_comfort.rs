//! No publication that succeeds gives a sensitive value away: thousands of small random tables, every form with groups,
//! and every principle, judged by the audit and by brute force over all worlds.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that cannot go on has failed, and tells its counts"
)]

use std::collections::BTreeSet;

use chrysalis::table::{Column, Table, Unwatched};
use chrysalis::{Draft, Evidence, Fault, Form, Published, Release, Seed, audit, publish};
use rand::rngs::ChaCha20Rng;
use rand::{RngExt, SeedableRng};
use serde_json::{Value as Json, json};

/// Publications per form that must succeed.
const SUCCESSES: usize = 2_000;
/// The most tries this may take.
const TRIES: u64 = 60_000;

/// A table of a few people: two quasi columns, a sensitive one, and sometimes one that is kept as it is.
struct People {
    quasi: Vec<[i64; 2]>,
    sensitive: Vec<i64>,
    kept: Option<Vec<i64>>,
}

impl People {
    fn draw(rng: &mut ChaCha20Rng, may_keep: bool) -> People {
        let n = rng.random_range(4..=6);
        let mut numbers = |most: i64| -> Vec<i64> { (0..n).map(|_| rng.random_range(0..most)).collect() };
        let (a, b) = (numbers(4), numbers(3));
        let sensitive = numbers(4);
        let kept = numbers(3);
        let keeps = may_keep && rng.random_range(0..3) == 0;
        let quasi = a.into_iter().zip(b).map(|(a, b)| [a, b]).collect();
        People { quasi, sensitive, kept: keeps.then_some(kept) }
    }

    /// Sensitive values as words, or as numbers so far apart that only equal ones are near.
    fn table(&self, are_numbers: bool) -> Table {
        let column = |at: usize| self.quasi.iter().map(|row| row[at]).collect::<Vec<i64>>();
        let mut columns = vec![Column::integers("a", &column(0)), Column::integers("b", &column(1))];
        if let Some(kept) = &self.kept {
            columns.push(Column::integers("kept", kept));
        }
        columns.push(match are_numbers {
            true => Column::integers("s", &self.sensitive),
            false => {
                let words: Vec<String> = self.sensitive.iter().map(|value| format!("v{value}")).collect();
                Column::texts("s", words.iter().map(String::as_str))
            }
        });
        Table::new(columns)
    }
}

const PRINCIPLES: [&str; 12] = [
    "k=2",
    "k=3",
    "l=1.5",
    "l=2",
    "distinct-l=2",
    "entropy-l=1.3",
    "recursive-l=3,2",
    "t=0.5",
    "t=0.9",
    "beta=1",
    "beta=3",
    "alpha-k=0.9,2",
];

fn draft(form: Form, people: &People, are_numbers: bool, rng: &mut ChaCha20Rng) -> Draft {
    let mut require = vec![PRINCIPLES[rng.random_range(0..PRINCIPLES.len())].to_owned()];
    if rng.random_range(0..2) == 0 {
        require.push(PRINCIPLES[rng.random_range(0..PRINCIPLES.len())].to_owned());
    }
    let mut release = json!({"method": form.name()});
    match form {
        Form::Shuffle => require = vec![["k=2", "ke=2,1", "distinct-l=2", "k=3"][rng.random_range(0..4)].to_owned()],
        Form::Angel => require.extend(["t=0.9".to_owned(), "k=2".to_owned()]),
        Form::Anatomy | Form::Permute => {
            let partitioner = ["nearby", "anatomize", "mondrian"][rng.random_range(0..3)];
            release["partitioner"] = json!(partitioner);
        }
        Form::Generalize => {
            release["partitioner"] = json!(["compact", "mondrian"][rng.random_range(0..2)]);
        }
        Form::Butterfly | Form::RankSwap => {}
    }
    let mut said = std::collections::BTreeSet::new();
    require.retain(|text| said.insert(text.clone()));
    release["require"] = json!(require);
    let quasi = if form == Form::Butterfly { json!([["a"], ["b"]]) } else { json!(["a", "b"]) };
    let mut draft = json!({"quasi": quasi, "sensitive": "s", "release": release});
    if people.kept.is_some() {
        draft["other"] = json!(["kept"]);
    }
    if are_numbers {
        draft["attributes"] = json!({"s": {"near": 1}});
        if require.iter().any(|text| text.starts_with("ke")) {
            draft["attributes"] = Json::Object(serde_json::Map::new());
        }
    }
    serde_json::from_value(draft).unwrap()
}

/// The cells of a published column, as text.
fn cells(release: &Release, table: &str, column: &str) -> Vec<String> {
    let column = release.table(table).unwrap().column(column).unwrap().clone();
    (0..column.codes().len()).map(|row| column.domain().text(column.code(row)).into_owned()).collect()
}

fn numbers(release: &Release, table: &str, column: &str) -> Vec<i64> {
    cells(release, table, column).iter().map(|text| text.parse().unwrap()).collect()
}

/// The sensitive values of every group, from a table of counts or from its rows.
fn values_of(release: &Release, group: &str) -> BTreeSet<String> {
    let shape = release.manifest.method.shape();
    let (table, id) = (shape.values_table(), shape.group_id.unwrap());
    let pairs = cells(release, table, id).into_iter().zip(cells(release, table, "s"));
    pairs.filter(|(id, _)| id == group).map(|(_, value)| value).collect()
}

/// The possible values of each person over all worlds: all assignments of published rows to people that `fits` allows.
/// `of_row` gives the possible values of the person assigned to a row.
fn possible(
    n: usize,
    fits: &dyn Fn(usize, usize) -> bool,
    of_row: &dyn Fn(usize) -> BTreeSet<String>,
) -> Vec<BTreeSet<String>> {
    let of_rows: Vec<BTreeSet<String>> = (0..n).map(of_row).collect();
    let mut values = vec![BTreeSet::new(); n];
    let mut rows: Vec<usize> = Vec::new();
    assign(n, fits, &mut rows, &mut |rows| {
        for (person, &row) in rows.iter().enumerate() {
            values[person].extend(of_rows[row].iter().cloned());
        }
    });
    values
}

fn assign(n: usize, fits: &dyn Fn(usize, usize) -> bool, rows: &mut Vec<usize>, found: &mut dyn FnMut(&[usize])) {
    if rows.len() == n {
        return found(rows);
    }
    for row in 0..n {
        if !rows.contains(&row) && fits(rows.len(), row) {
            rows.push(row);
            assign(n, fits, rows, found);
            rows.pop();
        }
    }
}

/// How many people's values are certain to an attacker who knows everyone's quasi values and kept columns.
fn certain_in_all_worlds(release: &Release, people: &People) -> u64 {
    let shape = release.manifest.method.shape();
    let (n, table) = (people.quasi.len(), shape.people);
    let kept = people.kept.as_ref().map(|kept| (kept, numbers(release, table, "kept")));
    let knows_kept = |person: usize, row: usize| kept.as_ref().is_none_or(|(of, shown)| of[person] == shown[row]);
    let names = ["a", "b"];
    let count = |possible: Vec<BTreeSet<String>>| {
        assert!(possible.iter().all(|values| !values.is_empty()), "the true world is one of them");
        possible.iter().filter(|values| values.len() == 1).count() as u64
    };
    let ids = || cells(release, table, shape.group_id.unwrap());
    match release.manifest.method {
        Form::Anatomy | Form::Shuffle => {
            let (shown, ids) = (names.map(|name| numbers(release, table, name)), ids());
            let fits = |person: usize, row: usize| {
                (0..2).all(|at| people.quasi[person][at] == shown[at][row]) && knows_kept(person, row)
            };
            count(possible(n, &fits, &|row| values_of(release, &ids[row])))
        }
        Form::Permute => {
            let (shown, ids) = (names.map(|name| numbers(release, table, name)), ids());
            // It does not matter which rows a person gets, only the group: the multisets of its columns must come out.
            let mut values = vec![BTreeSet::new(); n];
            assign(n, &|_, _| true, &mut Vec::new(), &mut |rows| {
                let comes_out = |at: usize| {
                    let mut theirs: Vec<(&String, i64)> =
                        rows.iter().enumerate().map(|(person, &row)| (&ids[row], people.quasi[person][at])).collect();
                    let mut ours: Vec<(&String, i64)> = ids.iter().zip(shown[at].iter().copied()).collect();
                    theirs.sort_unstable();
                    ours.sort_unstable();
                    theirs == ours
                };
                if (0..2).all(comes_out) {
                    for (person, &row) in rows.iter().enumerate() {
                        values[person].insert(ids[row].clone());
                    }
                }
            });
            let all = |ids: &BTreeSet<String>| ids.iter().flat_map(|id| values_of(release, id)).collect();
            count(values.iter().map(all).collect())
        }
        Form::Generalize | Form::Angel | Form::Butterfly => {
            let ends = names.map(|name| {
                let end = |what: &str| numbers(release, table, &format!("{name}_{what}"));
                (end("min"), end("max"))
            });
            let covers = |person: usize, row: usize, at: usize| {
                let value = people.quasi[person][at];
                ends[at].0[row] <= value && value <= ends[at].1[row]
            };
            let ids = ids();
            if release.manifest.method == Form::Angel {
                let fits =
                    |person: usize, row: usize| (0..2).all(|at| covers(person, row, at)) && knows_kept(person, row);
                return count(possible(n, &fits, &|row| values_of(release, &ids[row])));
            }
            let own = cells(release, table, "s");
            let of_row = |row: usize| BTreeSet::from([own[row].clone()]);
            let known: Vec<Vec<usize>> = match release.manifest.method {
                Form::Butterfly => vec![vec![0], vec![1]],
                _ => vec![vec![0, 1]],
            };
            let of_user = |attributes: &Vec<usize>| {
                let fits = |person: usize, row: usize| {
                    attributes.iter().all(|&at| covers(person, row, at)) && knows_kept(person, row)
                };
                count(possible(n, &fits, &of_row))
            };
            known.iter().map(of_user).max().unwrap()
        }
        Form::RankSwap => 0,
    }
}

fn check(form: Form) {
    let (mut successes, mut refusals, mut certain_somewhere) = (0, 0, 0);
    for seed in 0..TRIES {
        if successes == SUCCESSES {
            break;
        }
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let may_keep = form.shape().keeps_others;
        let people = People::draw(&mut rng, may_keep);
        let are_numbers = form == Form::Shuffle || rng.random_range(0..2) == 0;
        let table = people.table(are_numbers);
        let header: Vec<String> = table.columns().iter().map(|column| column.name().to_owned()).collect();
        let mut draft = draft(form, &people, are_numbers, &mut rng);
        let Ok(recipe) = draft.check(&header) else { panic!("{form}: {draft:?}") };
        let made = publish(table.clone(), &recipe, Seed::Fixed(seed), &Unwatched);
        let is_refused = match &made {
            Ok(_) => false,
            Err(error) if error.message.contains("would be disclosed") => true,
            Err(error) => {
                assert!(matches!(error.fault, Fault::Infeasible | Fault::Request), "{form} {seed}: {error}");
                continue;
            }
        };
        let Published { release, report, .. } = made
            .or_else(|_| {
                draft.release.accept = Some(vec!["disclosure".to_owned()]);
                publish(table.clone(), &draft.check(&header).unwrap(), Seed::Fixed(seed), &Unwatched)
            })
            .unwrap();
        let audited = audit(&release, Evidence::default(), &Unwatched).unwrap();
        let found = audited.disclosure.clone().unwrap();
        let context = format!("{form}, seed {seed}: {:?} {found:?} {draft:?}", people.quasi);
        assert!(audited.ok(), "{context}: {:?}", audited.checks);
        assert!(found.disclosed_rows == 0 || is_refused, "{context}");
        // Several of the publisher's classes may look alike to a user; the publisher then refuses more.
        assert!(found.disclosed_rows > 0 || !is_refused || form == Form::Butterfly, "{context}");
        assert_eq!(release.manifest.accepts_disclosure(), is_refused, "{context}");
        // For users to whom several classes look alike, the publisher counts by the finer classes.
        assert!(report.certain_rows.unwrap() >= found.certain_rows, "{context}");
        assert!(report.disclosed_rows.unwrap() >= found.disclosed_rows, "{context}");
        if form != Form::Butterfly {
            assert_eq!(
                (report.certain_rows, report.disclosed_rows),
                (Some(found.certain_rows), Some(found.disclosed_rows))
            );
        }
        let certain = certain_in_all_worlds(&release, &people);
        assert!(certain <= found.certain_rows, "{context}: {certain} are certain in all worlds");
        certain_somewhere += usize::from(certain > 0);
        if is_refused {
            refusals += 1;
        } else {
            successes += 1;
        }
    }
    assert_eq!(successes, SUCCESSES, "{form}: {refusals} refused");
    assert!(refusals > 0 && certain_somewhere > 0, "{form}: nothing was put to the test");
    println!("{form}: {successes} published, {refusals} refused, in {certain_somewhere} somebody's value was certain");
}

#[test]
fn generalize_discloses_nobody_unasked() {
    check(Form::Generalize);
}

#[test]
fn anatomy_discloses_nobody_unasked() {
    check(Form::Anatomy);
}

#[test]
fn permute_discloses_nobody_unasked() {
    check(Form::Permute);
}

#[test]
fn shuffle_discloses_nobody_unasked() {
    check(Form::Shuffle);
}

#[test]
fn angel_discloses_nobody_unasked() {
    check(Form::Angel);
}

#[test]
fn butterfly_discloses_nobody_unasked() {
    check(Form::Butterfly);
}
