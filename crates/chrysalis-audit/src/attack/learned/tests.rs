//! Tables in which there is something to learn, and tables in which there is not.

use chrysalis_release::{Form, Release};
use chrysalis_table::{Column, Table};

use super::Learned;
use crate::attack::tests::{angel, dealt, generalized, mixed, verbatim, words};
use crate::testing::audit;

const ROWS: u64 = 1_200;

/// Six sensitive values; `clue` follows them in `strength` of ten cases, `noise` never does, and tells people apart.
fn people(strength: u64) -> (Table, Vec<u64>) {
    let sensitive: Vec<u64> = (0..ROWS).map(|row| row % 6).collect();
    let clue: Vec<u64> =
        (0..ROWS).map(|row| if mixed(row, 10) < strength { row % 6 } else { mixed(row + 5_000, 6) }).collect();
    let noise: Vec<i64> = (0..ROWS).map(|row| mixed(row + 9_000, 1_000_000) as i64).collect();
    let table = Table::new(vec![
        words("clue", "c", &clue),
        Column::integers("noise", &noise),
        words("secret", "s", &sensitive),
    ]);
    (table, sensitive)
}

fn learned(release: &Release, people: &Table) -> Learned {
    audit(release, Some(people)).unwrap().attacks.learned.unwrap()
}

#[test]
fn a_planted_clue_is_learned_from_random_groups() {
    let (table, sensitive) = people(8);
    let release = verbatim(Form::Anatomy, &table, &dealt(&sensitive, 3), &["l=3"]);
    let scored = learned(&release, &table).scored.unwrap();
    let share = |right: f64| right / scored.people as f64;
    // From the groups alone a third is right; an attacker who knew the clue's strength would be right four times in
    // five.
    assert!(share(scored.right) > share(scored.right_from_groups) + 0.15, "{scored:?}");
    assert!(share(scored.right) > 0.7, "{scored:?}");
    let rows = audit(&release, None).unwrap().attacks.learned.unwrap();
    assert!(rows.lift > 1.8 && rows.above_promise > ROWS / 2, "{rows:?}");
    assert!((rows.baseline - 1.0 / 3.0).abs() < 1e-5 && rows.promised == Some(1.0 / 3.0));
}

#[test]
fn a_clue_is_learned_behind_labels_and_from_permuted_columns_too() {
    let (table, sensitive) = people(8);
    let groups = dealt(&sensitive, 3);
    // Neighbours by noise, so that it is known who is where and the clue must be learned from labels with several words.
    let mut by_noise: Vec<usize> = (0..ROWS as usize).collect();
    by_noise.sort_by_key(|&row| table.columns()[1].code(row));
    let neighbours = |n: usize| {
        let mut groups = vec![0; by_noise.len()];
        by_noise.iter().enumerate().for_each(|(at, &row)| groups[row] = (at / n) as i64);
        groups
    };
    for release in [
        generalized(Form::Generalize, &table, &neighbours(6), &["k=6"]),
        angel(&table, &groups, &neighbours(2), &["l=3", "k=2"]),
        verbatim(Form::Permute, &table, &groups, &["l=3"]),
    ] {
        let method = release.manifest.method;
        let scored = learned(&release, &table).scored.unwrap();
        assert!(scored.right > scored.right_from_groups * 1.15, "{method}: {scored:?}");
    }
}

#[test]
fn nothing_is_learned_where_there_is_nothing_to_learn() {
    let (table, sensitive) = people(0);
    for release in [
        verbatim(Form::Anatomy, &table, &dealt(&sensitive, 3), &["l=3"]),
        generalized(Form::Generalize, &table, &dealt(&sensitive, 3), &["l=3"]),
    ] {
        let scored = learned(&release, &table).scored.unwrap();
        let gain = (scored.right - scored.right_from_groups) / scored.people as f64;
        assert!(gain.abs() < 0.05, "{scored:?}");
    }
}

#[test]
fn the_result_does_not_depend_on_the_number_of_threads() {
    let (table, sensitive) = people(6);
    let release = verbatim(Form::Anatomy, &table, &dealt(&sensitive, 4), &["l=4"]);
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| audit(&release, Some(&table)).unwrap().attacks)
    };
    assert_eq!(with(1), with(3));
}

/// The same attack, slowly: likelihoods as plain arrays, beliefs by enumerating all assignments of a group's values to
/// its rows.
fn slow_lift(clues: &[usize], secrets: &[usize], groups: &[i64], n_rounds: usize) -> f64 {
    let (n_clues, n_secrets) = (6, 6);
    let mut likely = vec![vec![1.0; n_secrets]; n_clues];
    let ids: std::collections::BTreeSet<i64> = groups.iter().copied().collect();
    let mut mean = 0.0;
    for _ in 0..=n_rounds {
        let mut sums = vec![vec![0.0_f64; n_secrets]; n_clues];
        mean = 0.0;
        for id in &ids {
            let rows: Vec<usize> = (0..groups.len()).filter(|&row| groups[row] == *id).collect();
            let values: Vec<usize> = rows.iter().map(|&row| secrets[row]).collect();
            // Groups of three: all six ways.
            let ways = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
            let weight = |way: &[usize; 3]| (0..3).map(|at| likely[clues[rows[at]]][values[way[at]]]).product::<f64>();
            let total: f64 = ways.iter().map(weight).sum();
            for (at, &row) in rows.iter().enumerate() {
                let belief =
                    |value: usize| ways.iter().filter(|way| values[way[at]] == value).map(weight).sum::<f64>() / total;
                mean += values.iter().map(|&value| belief(value)).fold(0.0, f64::max) / groups.len() as f64;
                // The three values of a group differ.
                values.iter().for_each(|&value| sums[clues[row]][value] += belief(value));
            }
        }
        let of_secret: Vec<f64> = (0..n_secrets).map(|value| sums.iter().map(|line| line[value]).sum()).collect();
        let of_clue: Vec<f64> = sums.iter().map(|line| line.iter().sum()).collect();
        for clue in 0..n_clues {
            for value in 0..n_secrets {
                let added = n_clues as f64;
                let expected = of_clue[clue] / groups.len() as f64;
                likely[clue][value] = (sums[clue][value] + added * expected) / (of_secret[value] + added);
            }
        }
    }
    mean * 3.0
}

#[test]
fn beliefs_agree_with_all_assignments_one_by_one() {
    let (table, sensitive) = people(7);
    let groups = dealt(&sensitive, 3);
    let one = Table::new(vec![table.columns()[0].clone(), table.columns()[2].clone()]);
    let found = audit(&verbatim(Form::Anatomy, &one, &groups, &["l=3"]), None).unwrap().attacks.learned.unwrap();
    let clues: Vec<usize> = (0..ROWS as usize).map(|row| table.columns()[0].code(row) as usize).collect();
    let secrets: Vec<usize> = sensitive.iter().map(|&value| value as usize).collect();
    let expected = slow_lift(&clues, &secrets, &groups, super::model::ROUNDS);
    assert!((found.lift / expected - 1.0).abs() < 0.1, "{} {expected}", found.lift);
}
