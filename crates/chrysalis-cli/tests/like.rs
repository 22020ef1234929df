//! Releases whose groups are those of an earlier one.

#![allow(clippy::unwrap_used, reason = "tests")]

mod common;
#[path = "common/town.rs"]
mod town;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use common::{Outcome, run};
use town::{Town, publish};

#[track_caller]
fn refuse(folder: &Path, line: &str, code: i32, words: &str) -> Outcome {
    let refused = run(folder, line);
    assert!(refused.complaint(&[code]).is_none(), "{}", refused.complaint(&[code]).unwrap());
    assert!(refused.stderr.contains(words), "expected `{words}`\n{refused}");
    refused
}

/// A release of everybody in a table with one row per person.
fn plain(month: usize, more: &str) -> String {
    format!("publish month-{month}.csv --quasi age,ward --sensitive disease --require l=3 --quiet {more}")
}

/// A release of people who are published once.
fn once(month: usize, more: &str) -> String {
    let line = publish(month, "").replace("m=3", "l=3").replace("--series ledger", "--series once/ledger");
    format!("{} --only-new {more}", line.replace("--out ", "--out once/"))
}

/// The labels of a release's groups: what stands between the group's id and the disease.
fn labels(folder: &Path, release: &str) -> BTreeSet<String> {
    let text = fs::read_to_string(folder.join(release).join("generalized.csv")).unwrap();
    let label = |line: &str| line.split_once(',').unwrap().1.rsplit_once(',').unwrap().0.to_owned();
    text.lines().skip(1).map(label).collect()
}

/// Month by month only people who are new: nobody is in two releases, so that these need not be judged beside each other, and
/// most labels stay.
#[test]
fn new_people_get_the_labels_of_those_before() {
    let ground = tempfile::tempdir().unwrap();
    let folder = ground.path();
    let mut town = Town::new(71, 3_000);
    fs::create_dir(folder.join("once")).unwrap();
    town.write(&folder.join("month-1.csv"));
    let first = "--format csv --partitioner mondrian --require k=20";
    run(folder, &once(1, first)).expect(0);
    town.come(3_000);
    town.write(&folder.join("month-2.csv"));
    let line = once(2, "--format csv --like once/release-1 --output json");
    let made = run(folder, &line).expect(0).json();
    assert!(made["after"].is_null() && made["partitioner"] == "like", "{made}");
    let like = |name: &str| made["like"][name].as_u64().unwrap();
    let (before, after) = (labels(folder, "once/release-1"), labels(folder, "once/release-2"));
    assert_eq!(like("groups"), before.len() as u64);
    assert_eq!(like("kept"), before.intersection(&after).count() as u64);
    assert!(4 * like("kept") > 3 * like("groups"), "{made}");
    run(folder, "audit once/release-2").expect(0);
    // The summary says so.
    town.come(3_000);
    town.write(&folder.join("month-3.csv"));
    let made = run(folder, &once(3, "--like once/release-1").replace("--quiet", "")).expect(0);
    assert!(made.stdout.contains("earlier groups keep their labels"), "{made}");
    // A release that the ledger does not know may have the same people.
    run(folder, &plain(1, "--out plain")).expect(0);
    town.come(50);
    town.write(&folder.join("month-4.csv"));
    refuse(folder, &once(4, "--like plain"), 2, "the ledger once/ledger does not know plain");
    let also = once(4, "--like once/release-1 --after plain");
    refuse(folder, &also, 2, "`only_new` and `after` do not go together");
    assert!(!folder.join("once/release-4").exists());
}

/// Equal boxes, of which one person left, give that person's value away; a newcomer, too.
#[test]
fn where_people_may_overlap_releases_are_judged_together() {
    let ground = tempfile::tempdir().unwrap();
    let folder = ground.path();
    let people: Vec<String> = (0..12).map(|at| format!("{},w{},d{}", 20 + at, at / 6, at % 4)).collect();
    let write = |month: usize, people: &[String]| {
        fs::write(folder.join(format!("month-{month}.csv")), format!("age,ward,disease\n{}\n", people.join("\n")))
            .unwrap();
    };
    write(1, &people);
    write(2, &people[1..]);
    let more: Vec<String> = people.iter().cloned().chain(["22,w0,d9".to_owned()]).collect();
    write(3, &more);
    run(folder, &plain(1, "--require k=6 --out first").replace("l=3", "l=2")).expect(0);
    let like = |month: usize, more: &str| plain(month, &format!("--like first {more}")).replace("l=3", "l=2");
    // The same people again tell nothing new.
    let again = run(folder, &like(1, "--out again --output json")).expect(0).json();
    assert_eq!((again["after"]["releases"].as_u64(), again["after"]["known"].as_u64()), (Some(1), Some(12)), "{again}");
    assert_eq!((again["like"]["kept"].as_u64(), again["like"]["groups"].as_u64()), (Some(2), Some(2)), "{again}");
    // Named twice, it is judged once.
    let twice = run(folder, &like(1, "--after ./first --out twice --output json")).expect(0).json();
    assert_eq!(twice["after"]["releases"].as_u64(), Some(1), "{twice}");
    let left = refuse(folder, &like(2, "--out second"), 3, "1 person of an earlier release who left could be bet on");
    assert!(!folder.join("second").exists(), "{left}");
    refuse(folder, &like(3, "--out third"), 3, "it cannot be determined what the releases tell together");
    // People may have several rows, and no ledger says who was published.
    fs::write(
        folder.join("month-4.csv"),
        format!(
            "id,age,ward,disease\n{}\n",
            (0..12).map(|at| format!("p{at},{}", people[at])).collect::<Vec<_>>().join("\n")
        ),
    )
    .unwrap();
    refuse(folder, &like(4, "--person id --out fourth"), 2, "only tables with one row per person can be judged");
    // Nothing of the earlier release's folder is in the new one.
    let manifest = fs::read_to_string(folder.join("again/release.json")).unwrap();
    assert!(manifest.contains("\"like\"") && !manifest.contains("first"), "{manifest}");
}

/// What has no effect or no meaning beside it.
#[test]
fn what_contradicts_it_is_refused() {
    let ground = tempfile::tempdir().unwrap();
    let folder = ground.path();
    Town::new(73, 200).write(&folder.join("month-1.csv"));
    run(folder, &plain(1, "--partitioner mondrian --out first")).expect(0);
    let like = |more: &str| plain(1, &format!("--like first --out second {more}"));
    let apart = |what: &str| format!("`{what}` and `like` do not go together");
    for (more, what) in [
        ("--partitioner compact", "partitioner"),
        ("--relaxed", "relaxed"),
        ("--suppress 0.1", "suppress"),
        ("--time-limit 3", "time_limit"),
        ("--transparent", "transparent"),
        ("--method rank-swap", "rank-swap"),
        ("--method angel", "angel"),
        ("--require k-map=5 --population-table month-1.csv", "k-map=5"),
        ("--require m=3 --series ledger --person id", "m=3"),
    ] {
        refuse(folder, &like(more), 2, &apart(what));
    }
    refuse(
        folder,
        &like("--method shuffle").replace("disease", "age").replace("age,", "").replace("l=3", "k=5"),
        2,
        "nobody has worked out",
    );
    refuse(folder, &like("--memory 1GB"), 2, "looked for in the whole table");
    run(folder, &publish(1, "")).expect(0);
    refuse(folder, &plain(1, "--like release-1 --out second"), 2, "is a release of a series");
    run(folder, &plain(1, "--method angel --out angel")).expect(0);
    refuse(folder, &plain(1, "--like angel --out second"), 2, "is no plan for another");
    // A spec names it relative to itself, and a flag takes the place of a partitioner in a spec.
    fs::create_dir(folder.join("spec")).unwrap();
    let spec = "input = '../month-1.csv'\nquasi = ['age', 'ward']\nsensitive = 'disease'\n";
    let release = "\n[release]\nrequire = ['l=3']\n";
    fs::write(folder.join("spec/like.toml"), format!("{spec}like = '../first'\n{release}")).unwrap();
    fs::write(folder.join("spec/cut.toml"), format!("{spec}{release}partitioner = 'mondrian'\nrelaxed = true\n"))
        .unwrap();
    for line in ["spec/like.toml --out by-spec", "spec/cut.toml --like first --out by-flag"] {
        let made = run(folder, &format!("publish {line} --quiet --output json")).expect(0).json();
        assert_eq!(made["partitioner"], "like", "{made}");
    }
    refuse(folder, "compare spec/like.toml --report report.html", 2, "`like` has no effect on a comparison");
}
