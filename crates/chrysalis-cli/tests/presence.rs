//! Half of the people are published, and everyone whom a group covers is assumed to be among them: how often that is
//! right, and what the reports say about it.

#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use common::{parse_csv, run};

const QUASI: [&str; 4] = ["age", "sex", "zip_code", "occupation"];

/// Rows as maps from column names to text.
fn rows(path: &Path) -> Vec<BTreeMap<String, String>> {
    let mut rows = parse_csv(&fs::read_to_string(path).unwrap()).into_iter();
    let header = rows.next().unwrap();
    rows.map(|row| header.iter().cloned().zip(row).collect()).collect()
}

/// The people in a table, and the people not in it.
type Halves = (Vec<BTreeMap<String, String>>, Vec<BTreeMap<String, String>>);

/// 4,000 people, of whom one in every `step` is published. Returns those inside and those outside.
fn people(folder: &Path, step: usize) -> Halves {
    run(folder, "example --rows 4000 --out hospital").expect(0);
    let text = fs::read_to_string(folder.join("hospital/patients.csv")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let part = |is_meant: &dyn Fn(usize) -> bool| {
        let kept = lines[1..].iter().enumerate().filter(|(at, _)| is_meant(*at)).map(|(_, line)| *line);
        std::iter::once(lines[0]).chain(kept).collect::<Vec<_>>().join("\n") + "\n"
    };
    fs::write(folder.join("inside.csv"), part(&|at| at % step == 0)).unwrap();
    fs::write(folder.join("outside.csv"), part(&|at| at % step != 0)).unwrap();
    (rows(&folder.join("inside.csv")), rows(&folder.join("outside.csv")))
}

fn number(text: &str) -> f64 {
    text.parse().unwrap()
}

/// Whether some group of a generalized release has ranges and sets that cover a person.
fn covered_by_boxes(release: &Path) -> impl Fn(&BTreeMap<String, String>) -> bool {
    let members: BTreeSet<(String, String, String)> = rows(&release.join("members.csv"))
        .into_iter()
        .map(|row| (row["attribute"].clone(), row["label"].clone(), row["value"].clone()))
        .collect();
    let mut boxes = rows(&release.join("generalized.csv"));
    boxes.dedup_by(|a, b| a["group_id"] == b["group_id"]);
    let covers = move |person: &BTreeMap<String, String>, shown: &BTreeMap<String, String>| {
        QUASI.iter().all(|&name| match shown.get(&format!("{name}_min")) {
            Some(low) => {
                let value = number(&person[name]);
                number(low) <= value && value <= number(&shown[&format!("{name}_max")])
            }
            None => members.contains(&(name.to_owned(), shown[name].clone(), person[name].clone())),
        })
    };
    move |person| boxes.iter().any(|shown| covers(person, shown))
}

/// The share of correct bets among those on people whom a group covers.
fn right((inside, outside): &Halves, covers: impl Fn(&BTreeMap<String, String>) -> bool) -> f64 {
    let n = |people: &[BTreeMap<String, String>]| people.iter().filter(|person| covers(person)).count() as f64;
    let (there, not) = (n(inside), n(outside));
    assert_eq!(there, inside.len() as f64, "a release covers everybody in it");
    there / (there + not)
}

fn publish(folder: &Path, arguments: &str) -> serde_json::Value {
    let quasi = QUASI.join(",");
    let command = format!(
        "publish inside.csv --quasi {quasi} --sensitive disease {arguments} --format csv --seed 7 --out release --force"
    );
    run(folder, &command).expect(0);
    let audit = run(folder, "audit release --microdata inside.csv").expect(0);
    let words = audit.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let said = "Not protected: an attacker can assume that everybody whom a group covers is in the data";
    assert!(words.contains(said), "{words}");
    run(folder, "audit release --microdata inside.csv --output json").expect(0).json()
}

#[test]
fn who_is_covered_is_mostly_there_whatever_the_chance_of_a_row() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let half = people(folder, 2);
    let release = folder.join("release");

    let audit = publish(folder, "--method generalize --require k=10");
    let generalized = right(&half, covered_by_boxes(&release));
    let delta = audit["attacks"]["row_linking"]["delta"].as_f64().unwrap();
    assert!(delta <= 0.1 && generalized > 0.7, "{generalized}, {delta}");

    let audit_permuted = publish(folder, "--method permute --require l=10");
    let mut groups: BTreeMap<String, Vec<BTreeSet<String>>> = BTreeMap::new();
    for row in rows(&release.join("pqt.csv")) {
        let sets = groups.entry(row["group_id"].clone()).or_insert_with(|| vec![BTreeSet::new(); QUASI.len()]);
        sets.iter_mut().zip(QUASI).for_each(|(set, name)| set.extend([row[name].clone()]));
    }
    let is_in = |person: &BTreeMap<String, String>, sets: &Vec<BTreeSet<String>>| {
        sets.iter().zip(QUASI).all(|(set, name)| set.contains(&person[name]))
    };
    let permuted = right(&half, |person| groups.values().any(|sets| is_in(person, sets)));
    let delta_permuted = audit_permuted["attacks"]["row_linking"]["delta"].as_f64().unwrap();
    assert!(delta_permuted <= 0.2 && permuted > 0.65, "{permuted}, {delta_permuted}");
    // No report says that presence is protected, and the probability of a row is where it belongs.
    for audit in [&audit, &audit_permuted] {
        let presence = &audit["attacks"]["presence"];
        assert_eq!(presence["protected"], false);
        let covered = presence["covered_at_most"].as_f64().unwrap();
        assert!(covered > 0.0 && covered < 0.5, "{presence}");
        assert!(presence["finding"].as_str().unwrap().contains("cannot be bounded without knowing who is not"));
        let row = &audit["attacks"]["row_linking"];
        assert!(row["finding"].as_str().unwrap().contains("row"), "{row}");
    }
}

/// The advice helps: fewer bets are right if a smaller share of the possible people is published.
#[test]
fn a_small_sample_hides_who_is_there_better_than_half() {
    let rate = |step: usize| {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let people = people(folder, step);
        publish(folder, "--method generalize --require k=10");
        right(&people, covered_by_boxes(&folder.join("release")))
    };
    let (half, twentieth) = (rate(2), rate(20));
    assert!(twentieth < half / 2.0, "{half}, {twentieth}");
}
