//! `k-map` and `delta-presence`: promises about people who could be in the data, counted here from the published files.

#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use common::{Outcome, parse_csv, run};

const ROLES: &str =
    "--quasi age,city --sensitive disease --taxonomy city=city.csv --intervals age=5,20 --partitioner full-domain";

/// 400 people of four cities, of whom every fifth is published; the population also has cities and ages that nobody has
/// who is published.
fn people() -> tempfile::TempDir {
    let ground = tempfile::tempdir().unwrap();
    let cities = ["Bonn", "Kiel", "Nice", "Lyon"];
    let person = |at: usize| (20 + (at * at + 7 * at) % 37, cities[(at / 3 + at * at) % 4], at % 7);
    let line = |at: usize| {
        let (age, city, ill) = person(at);
        format!("{age},{city},i{ill}\n")
    };
    let inside: String = (0..400).step_by(5).map(line).collect();
    let mut all: String = (0..400).map(|at| line(at).rsplit_once(',').unwrap().0.to_owned() + "\n").collect();
    all.push_str("19,Nice\n99,Bonn\n41,Metz\n,Bonn\n33,\n");
    fs::write(ground.path().join("inside.csv"), format!("age,city,disease\n{inside}")).unwrap();
    fs::write(ground.path().join("all.csv"), format!("age,city\n{all}")).unwrap();
    let taxonomy = "Bonn;Germany;*\nKiel;Germany;*\nNice;France;*\nLyon;France;*\nMetz;France;*\n";
    fs::write(ground.path().join("city.csv"), taxonomy).unwrap();
    ground
}

fn publish(folder: &Path, flags: &str) -> Outcome {
    let line = format!(
        "publish inside.csv {ROLES} --accept disclosure {flags} --format csv --out release --force --output json"
    );
    run(folder, &line)
}

/// For every group its rows and the people of a table under its labels, and how many people are under no labels.
fn under_labels(folder: &Path, people: &str) -> (BTreeMap<String, (u64, u64)>, u64) {
    let table = |path: &str| -> Vec<BTreeMap<String, String>> {
        let mut rows = parse_csv(&fs::read_to_string(folder.join(path)).unwrap()).into_iter();
        let header = rows.next().unwrap();
        rows.map(|row| header.iter().cloned().zip(row).collect()).collect()
    };
    let members: BTreeSet<(String, String)> =
        table("release/members.csv").into_iter().map(|row| (row["label"].clone(), row["value"].clone())).collect();
    let mut found: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    let published = table("release/generalized.csv");
    let mut boxes: BTreeMap<String, &BTreeMap<String, String>> = BTreeMap::new();
    for row in &published {
        found.entry(row["group_id"].clone()).or_default().0 += 1;
        boxes.insert(row["group_id"].clone(), row);
    }
    let mut outside = 0;
    for person in table(people) {
        let covers = |shown: &BTreeMap<String, String>| {
            let age = person["age"].parse::<i64>().ok();
            let (low, high) = (shown["age_min"].parse::<i64>().ok(), shown["age_max"].parse::<i64>().unwrap());
            age.is_some_and(|age| low.is_some_and(|low| low <= age) && age <= high)
                && members.contains(&(shown["city"].clone(), person["city"].clone()))
        };
        let groups: Vec<&String> = boxes.iter().filter(|(_, shown)| covers(shown)).map(|(id, _)| id).collect();
        outside += u64::from(groups.is_empty());
        for id in groups {
            found.get_mut(id).unwrap().1 += 1;
        }
    }
    (found, outside)
}

#[test]
fn every_group_has_enough_people_under_its_labels() {
    let ground = people();
    let folder = ground.path();
    for (k, suppress) in [(2, "0"), (5, "0"), (12, "0.3")] {
        let flags = format!("--require k-map={k} --population-table all.csv --suppress {suppress}");
        let json = publish(folder, &flags).expect(0).json();
        assert_eq!((&json["proven_optimal"], &json["guarantees"][0]), (&true.into(), &format!("k-map={k}").into()));
        let (groups, _) = under_labels(folder, "all.csv");
        let fewest = groups.values().map(|(_, people)| *people).min().unwrap();
        assert!(fewest >= k, "{fewest} {groups:?}");
        let smallest = groups.values().map(|(rows, _)| *rows).min().unwrap();
        assert!(k == 2 || smallest < k, "k-map asks for less than k: {groups:?}");
        // With the table the audit finds the same numbers; without it, it cannot tell.
        let told = run(folder, "audit release --population-table all.csv --output json").expect(0).json();
        assert_eq!(
            (&told["principles"][0]["holds"], &told["principles"][0]["worst"]),
            (&true.into(), &(fewest as f64).into())
        );
        let open = run(folder, "audit release --microdata inside.csv").expect(0);
        assert!(open.stdout.contains("Nobody can tell whether the promises hold"), "{open}");
        let words = open.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains("can be checked only with a table of them"), "{open}");
        // A smaller population breaks the promise.
        let lines: Vec<String> =
            fs::read_to_string(folder.join("all.csv")).unwrap().lines().map(str::to_owned).collect();
        let few: Vec<String> =
            lines.iter().enumerate().filter(|(at, _)| at % 5 == 0).map(|(_, line)| line.clone()).collect();
        fs::write(folder.join("few.csv"), few.join("\n") + "\n").unwrap();
        let (groups, _) = under_labels(folder, "few.csv");
        let holds = groups.values().all(|(_, people)| *people >= k);
        let code = if holds { 0 } else { 4 };
        run(folder, "audit release --population-table few.csv").expect(code);
    }
    // LEAK: nothing of the population is in the release.
    for entry in fs::read_dir(folder.join("release")).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        assert!(!text.contains("Metz") && !text.contains("all.csv"), "{text}");
    }
}

#[test]
fn presence_stays_within_its_bounds_and_is_measured_against_the_population() {
    let ground = people();
    let folder = ground.path();
    publish(folder, "--require delta-presence=0,0.25 --population-table all.csv").expect(0);
    let (groups, outside) = under_labels(folder, "all.csv");
    assert!(groups.values().all(|(rows, people)| 4 * rows <= *people), "{groups:?}");
    let told = run(folder, "audit release --population-table all.csv --output json").expect(0).json();
    let found = &told["attacks"]["presence"]["population"];
    let worst = groups.values().map(|(rows, people)| *rows as f64 / *people as f64).fold(0.0, f64::max);
    assert!((found["chance"].as_f64().unwrap() - worst).abs() < 1e-12, "{found} {worst}");
    assert_eq!((&found["outside"], &found["people"]), (&outside.into(), &405.into()), "{found}");
    let sentence = told["attacks"]["presence"]["finding"].as_str().unwrap();
    assert!(sentence.contains("nowhere is the chance higher") && !sentence.contains("cannot be bounded"), "{sentence}");
    // Presence is measured for any release with ranges and labels, whatever it promises.
    run(folder, "publish inside.csv --quasi age,city --sensitive disease --require k=3 --out other").expect(0);
    let other = run(folder, "audit other --population-table all.csv --output json").expect(0).json();
    assert!(other["attacks"]["presence"]["population"]["chance"].as_f64().unwrap() > 0.0, "{other}");
    // Nobody may be under no labels where presence has a lower bound, and five people of the population always are.
    let failed = publish(folder, "--require delta-presence=0.05,0.5 --population-table all.csv");
    assert!(failed.stderr.contains("cannot reach delta-presence=0.05,0.5"), "{failed}");
    assert!(failed.complaint(&[3]).is_none(), "{:?}", failed.complaint(&[3]));
    let lines: Vec<String> = fs::read_to_string(folder.join("all.csv")).unwrap().lines().map(str::to_owned).collect();
    fs::write(folder.join("known.csv"), lines[..401].join("\n") + "\n").unwrap();
    let json = publish(folder, "--require delta-presence=0.05,0.5 --population-table known.csv").expect(0).json();
    let (groups, outside) = under_labels(folder, "known.csv");
    assert_eq!(outside, 0, "{json}");
    assert!(groups.values().all(|(rows, people)| 20 * rows >= *people && 2 * rows <= *people), "{groups:?}");
    run(folder, "audit release --population-table known.csv").expect(0);
    let lost = run(folder, "audit release --population-table all.csv").expect(4);
    assert!(lost.stdout.contains("under no labels"), "{lost}");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let ground = people();
    let folder = ground.path();
    let refused = |line: &str, message: &str| {
        let outcome = run(folder, line);
        assert!(outcome.stderr.contains(message), "{line}: {}", outcome.stderr);
        assert!(outcome.complaint(&[2]).is_none(), "{:?}", outcome.complaint(&[2]));
    };
    let roles = "publish inside.csv --quasi age,city --sensitive disease --out no";
    let table = "--population-table all.csv";
    refused(&format!("{roles} --require k-map=5 --partitioner full-domain"), "needs a table of the people");
    refused(&format!("{roles} --require delta-presence=0,0.5 {table}"), "may rise or fall when groups are merged");
    refused(&format!("{roles} --require k-map=5 {table} --method anatomy"), "which anatomy does not show");
    refused(&format!("{roles} --require k=5 {table}"), "no principle is about it");
    refused(&format!("{roles} --require k-map=5 --partitioner full-domain --population-table none.csv"), "none.csv");
    fs::write(folder.join("partial.csv"), "age\n20\n").unwrap();
    refused(&format!("{roles} --require k-map=5 --partitioner full-domain --population-table partial.csv"), "city");
    fs::write(folder.join("words.csv"), "age,city\nold,Bonn\n").unwrap();
    refused(&format!("{roles} --require k-map=5 --partitioner full-domain --population-table words.csv"), "age");
    assert!(!folder.join("no").exists());
    run(folder, "publish inside.csv --quasi age,city --sensitive disease --require l=2 --method anatomy --out exact")
        .expect(0);
    refused("audit exact --population-table all.csv", "does not show the same ranges and labels");
}

/// Partitioners that know nothing of the population reach k-map by merging groups, each judged here from the files.
#[test]
fn every_partitioner_of_generalize_reaches_k_map() {
    let ground = people();
    let folder = ground.path();
    for partitioner in ["compact", "mondrian", "top-down", "nearby"] {
        for require in ["--require k-map=6", "--require k-map=9 --require k=2 --require distinct-l=2"] {
            let line = format!(
                "publish inside.csv --quasi age,city --sensitive disease --taxonomy city=city.csv --intervals age=5,20 \
                 --partitioner {partitioner} --accept disclosure {require} --population-table all.csv --format csv --out \
                 release --force --output json"
            );
            let json = run(folder, &line).expect(0).json();
            let k = if require.contains("k-map=6") { 6 } else { 9 };
            assert_eq!(json["guarantees"][0], format!("k-map={k}"), "{json}");
            let (groups, _) = under_labels(folder, "all.csv");
            let fewest = groups.values().map(|(_, people)| *people).min().unwrap();
            assert!(fewest >= k && groups.len() > 3, "{partitioner}, {require}: {groups:?}");
            let told = run(folder, "audit release --population-table all.csv --output json").expect(0).json();
            let told =
                &told["principles"].as_array().unwrap().iter().find(|it| it["principle"] == format!("k-map={k}"));
            assert_eq!(told.unwrap()["worst"], fewest as f64);
        }
    }
    let line = "publish inside.csv --quasi age,city --sensitive disease --require k-map=500 --population-table all.csv --out no";
    let failed = run(folder, line);
    assert!(failed.stderr.contains("cannot reach k-map=500"), "{failed}");
    assert!(failed.stderr.contains("the strongest that this table allows is k-map="), "{failed}");
    assert!(failed.complaint(&[3]).is_none(), "{:?}", failed.complaint(&[3]));
}

#[test]
fn releases_are_compared_under_k_map() {
    let ground = people();
    let folder = ground.path();
    let roles = "inside.csv --quasi age,city --sensitive disease --taxonomy city=city.csv --intervals age=5,20";
    let compare = |require: &str| {
        let line = format!(
            "compare {roles} --require {require} --population-table all.csv --queries 50 --report r.html --force --output json"
        );
        run(folder, &line).expect(0).json()
    };
    let report = compare("k-map=6");
    let runs = report["runs"].as_array().unwrap();
    let names: Vec<&str> = runs.iter().map(|run| run["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["generalize by compact", "generalize by mondrian"], "other forms show no labels");
    for run in runs {
        assert_eq!((&run["ok"], &run["guarantees"][0]), (&true.into(), &"k-map=6".into()), "{run}");
        assert!(run["command"].as_str().unwrap().contains("--population-table all.csv"), "{run}");
        assert!(run["attacks"]["presence"].as_str().unwrap().contains("has the table of the population"), "{run}");
        let found = &run["found_again"];
        assert!(found["after"]["mean"].as_f64() < found["before"]["mean"].as_f64(), "{found}");
    }
    let report = compare("delta-presence=0,0.25");
    assert_eq!(report["runs"][0]["name"], "generalize by full-domain");
    assert_eq!((report["runs"].as_array().unwrap().len(), &report["runs"][0]["ok"]), (1, &true.into()), "{report}");
}

#[test]
fn statements_about_the_population_need_its_table() {
    let ground = people();
    let folder = ground.path();
    publish(folder, "--require k-map=5 --population-table all.csv").expect(0);
    let open = run(folder, "audit release --sql duckdb").expect(0).stdout;
    assert!(open.contains("promise/k-map=5") && open.contains("only who has a table of them can check it"), "{open}");
    let with = run(folder, "audit release --sql duckdb --population-table all.csv").expect(0).stdout;
    assert!(with.contains("VIEW \"population\" AS SELECT * FROM read_csv(['all.csv']"), "{with}");
    assert!(with.contains("under_labels.n_people < 5"), "{with}");
    let loaded = run(folder, "audit release --sql postgres --population-table all.csv").expect(0).stdout;
    assert!(loaded.contains("must be in a table `population`"), "{loaded}");
    run(folder, "publish inside.csv --quasi age,city --sensitive disease --require k=3 --out plain").expect(0);
    let refused = run(folder, "audit plain --sql duckdb --population-table all.csv").expect(2);
    assert!(refused.stderr.contains("the release promises nothing about it"), "{refused}");
}
