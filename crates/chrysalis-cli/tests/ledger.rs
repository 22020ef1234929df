//! What the ledger of a series must not be used for, and what lies beside a release.

#![allow(clippy::unwrap_used, reason = "tests")]

mod common;
#[path = "common/town.rs"]
mod town;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use common::{Outcome, run};
use town::{Dice, Town, hash, publish};

#[track_caller]
fn refuse(folder: &Path, line: &str, code: i32, words: &str) -> Outcome {
    let refused = run(folder, line);
    assert!(refused.complaint(&[code]).is_none(), "{}", refused.complaint(&[code]).unwrap());
    assert!(refused.stderr.contains(words), "expected `{words}`\n{refused}");
    refused
}

fn put(path: &Path, bytes: &[u8]) {
    fs::write(path, bytes).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
}

fn n_releases(folder: &Path, ledger: &str) -> usize {
    run(folder, &format!("series {ledger} --output json")).expect(0).json()["releases"].as_array().unwrap().len()
}

/// A release of people who are published once.
fn once(month: usize, more: &str) -> String {
    format!(
        "{} --only-new {more}",
        publish(month, "").replace("m=3", "l=2").replace("--series ledger", "--series once")
    )
}

/// One release that is not of a series.
fn plain(month: usize, more: &str) -> String {
    format!("publish month-{month}.csv --quasi age,ward --sensitive disease --require l=3 --method anatomy {more}")
}

/// The same people under other numbers would all be newcomers, in groups that can be intersected with those of before.
#[test]
fn people_are_known_by_one_column_only() {
    let ground = tempfile::tempdir().unwrap();
    let folder = ground.path();
    Town::new(31, 200).write(&folder.join("month-1.csv"));
    let text = fs::read_to_string(folder.join("month-1.csv")).unwrap();
    let numbered = text.lines().enumerate().map(|(at, line)| match at {
        0 => format!("{line},ssn\n"),
        _ => format!("{line},s{}\n", 7 * at),
    });
    fs::write(folder.join("month-2.csv"), numbered.collect::<String>()).unwrap();
    fs::create_dir(folder.join("apart")).unwrap();
    let apart = |line: String| line.replace("--series once", "--series apart/once").replace("--out ", "--out apart/");
    let other = |line: String| line.replace("--person id", "--person ssn");
    run(folder, &publish(1, "")).expect(0);
    run(folder, &apart(once(1, ""))).expect(0);
    let told = refuse(folder, &other(publish(2, "")), 2, "the ledger ledger tells people apart by `id`, not by `ssn`");
    assert!(told.stderr.contains("--person id"), "{told}");
    refuse(folder, &apart(other(once(2, ""))), 2, "tells people apart by `id`, not by `ssn`");
    let audit = "audit release-1 --microdata month-2.csv --person ssn --series ledger";
    refuse(folder, audit, 2, "tells people apart by `id`, not by `ssn`");
    // The same column with other numbers in it.
    fs::write(folder.join("month-2.csv"), text.replace("\np", "\nq")).unwrap();
    for line in [publish(2, ""), apart(once(2, ""))] {
        let made = run(folder, &line.replace("--quiet", "")).expect(0);
        assert!(made.stderr.contains("knows 200 persons, and none of them is in this table"), "{made}");
    }
    fs::write(folder.join("month-3.csv"), text).unwrap();
    let made = run(folder, &publish(3, "").replace("--quiet", "")).expect(0);
    assert!(!made.stderr.contains("none of them is in this table"), "{made}");
}

/// A ledger that does not know all releases gives people other values, or publishes them again.
#[test]
fn an_old_copy_of_a_ledger_is_refused_wherever_releases_show_it() {
    let ground = tempfile::tempdir().unwrap();
    let folder = ground.path();
    let mut town = Town::new(37, 200);
    for month in 1..=4 {
        town.come(40);
        town.write(&folder.join(format!("month-{month}.csv")));
    }
    run(folder, &publish(1, "")).expect(0);
    run(folder, &publish(2, "")).expect(0);
    let second = fs::read(folder.join("ledger")).unwrap();
    run(folder, &publish(3, "")).expect(0);
    let third = fs::read(folder.join("ledger")).unwrap();
    // Another release 3, in the place of the first one.
    put(&folder.join("ledger"), &second);
    let before = hash(&folder.join("release-3/release.json"));
    refuse(folder, &publish(3, "--force"), 2, "is older than the releases: it ends with release 2");
    assert_eq!(hash(&folder.join("release-3/release.json")), before);
    // Other columns are no other series.
    let less = publish(4, "").replace("--quasi age,ward", "--quasi age");
    refuse(folder, &less, 2, "is older than the releases: it ends with release 2");
    // Many other things lie there.
    for at in 0..1_200 {
        fs::create_dir(folder.join(format!("a{at}"))).unwrap();
    }
    refuse(folder, &publish(4, ""), 2, "is older than the releases: it ends with release 2");
    // Two releases that follow the same one.
    fs::rename(folder.join("release-3"), ground.path().join("a1/release-3")).unwrap();
    run(folder, &publish(3, "")).expect(0);
    fs::rename(folder.join("a1/release-3"), folder.join("other")).unwrap();
    refuse(folder, &publish(4, ""), 2, "the ledger ledger knows another release 3 of the series than ./other");
    fs::remove_dir_all(folder.join("release-3")).unwrap();
    put(&folder.join("ledger"), &third);
    run(folder, &publish(4, "--force")).expect(0);
}

#[test]
fn an_old_copy_of_a_ledger_publishes_nobody_again() {
    let ground = tempfile::tempdir().unwrap();
    let folder = ground.path();
    let mut town = Town::new(41, 150);
    for month in 1..=3 {
        town.write(&folder.join(format!("month-{month}.csv")));
        town.come(50);
    }
    run(folder, &once(1, "")).expect(0);
    let first = fs::read(folder.join("once")).unwrap();
    run(folder, &once(2, "")).expect(0);
    put(&folder.join("once"), &first);
    let words = "the ledger once does not know ./release-2, which shows the same columns";
    refuse(folder, &once(3, ""), 2, words);
    refuse(folder, &once(2, "--force"), 2, words);
    fs::remove_file(folder.join("once")).unwrap();
    refuse(folder, &once(3, ""), 2, "the ledger once does not know ./release-1, which shows the same columns");
}

/// Two names of one ledger are one ledger.
#[test]
fn a_link_to_a_ledger_is_that_ledger() {
    let ground = tempfile::tempdir().unwrap();
    let folder = ground.path();
    let mut town = Town::new(43, 200);
    for month in 1..=4 {
        town.come(20);
        town.write(&folder.join(format!("month-{month}.csv")));
    }
    fs::create_dir(folder.join("links")).unwrap();
    symlink("../ledger", folder.join("links/ledger")).unwrap();
    let linked = |line: String| line.replace("--series ledger", "--series links/ledger");
    refuse(folder, &linked(publish(1, "")), 2, "it is a link to a file that is not there");
    run(folder, &publish(1, "")).expect(0);
    run(folder, &linked(publish(2, ""))).expect(0);
    assert!(folder.join("links/ledger").is_symlink());
    assert_eq!((n_releases(folder, "ledger"), n_releases(folder, "links/ledger")), (2, 2));
    run(folder, &publish(3, "")).expect(0);
    assert_eq!((n_releases(folder, "ledger"), n_releases(folder, "links/ledger")), (3, 3));
}

/// A run that was killed between its two steps, and a release that was moved before the next one.
#[test]
fn a_release_that_was_moved_is_found_again() {
    let ground = tempfile::tempdir().unwrap();
    let folder = ground.path();
    let mut town = Town::new(47, 200);
    for month in 1..=3 {
        town.come(20);
        town.write(&folder.join(format!("month-{month}.csv")));
    }
    run(folder, &publish(1, "")).expect(0);
    let first = fs::read(folder.join("ledger")).unwrap();
    run(folder, &publish(2, "")).expect(0);
    let second = fs::read(folder.join("ledger")).unwrap();
    let half_done = || {
        put(&folder.join("ledger"), &first);
        put(&folder.join("ledger.next"), &second);
    };
    half_done();
    fs::rename(folder.join("release-2"), folder.join("february")).unwrap();
    let made = run(folder, &publish(3, "").replace("--quiet", "")).expect(0);
    assert!(made.stderr.contains("the last run ended after release 2 was written"), "{made}");
    assert_eq!(n_releases(folder, "ledger"), 3);
    // Where it is nowhere near, nothing is said of it that nobody knows.
    half_done();
    fs::remove_dir_all(folder.join("release-3")).unwrap();
    fs::create_dir(folder.join("archive")).unwrap();
    fs::rename(folder.join("february"), folder.join("archive/february")).unwrap();
    let made = run(folder, &publish(3, "").replace("--quiet", "")).expect(0);
    assert!(made.stderr.contains("or that was taken away since: release 2 is neither"), "{made}");
    assert!(made.stderr.contains("that turns up must not be handed out"), "{made}");
    assert_eq!(n_releases(folder, "ledger"), 2);
}

/// What a killed run left under a temporary name was never published.
#[test]
fn a_release_that_was_not_finished_is_none() {
    let ground = tempfile::tempdir().unwrap();
    let folder = ground.path();
    let town = Town::new(71, 200);
    (1..=3).for_each(|month| town.write(&folder.join(format!("month-{month}.csv"))));
    fs::create_dir(folder.join("far")).unwrap();
    let far = |month: usize| publish(month, "").replace("--series ledger", "--series far/ledger");
    run(folder, &far(1)).expect(0);
    let first = fs::read(folder.join("far/ledger")).unwrap();
    run(folder, &far(2)).expect(0);
    fs::rename(folder.join("far/ledger"), folder.join("far/ledger.next")).unwrap();
    put(&folder.join("far/ledger"), &first);
    fs::rename(folder.join("release-2"), folder.join(".chrysalis-Stale1")).unwrap();
    let made = run(folder, &far(3).replace("--quiet", "")).expect(0);
    assert!(made.stderr.contains("the last run ended before its release was written"), "{made}");
    assert_eq!(n_releases(folder, "far/ledger"), 2);
    assert!(!folder.join(".chrysalis-Stale1").exists());
}

/// What a ledger does not know, and nobody named, can be intersected all the same.
#[test]
fn releases_beside_that_nobody_looked_at_are_named() {
    let ground = tempfile::tempdir().unwrap();
    let folder = ground.path();
    let mut town = Town::new(53, 200);
    town.write(&folder.join("month-1.csv"));
    town.come(5);
    town.write(&folder.join("month-2.csv"));
    run(folder, &plain(1, "--out first")).expect(0);
    // Who is refused is not sent to a series, which would tell as much.
    let told = refuse(folder, &plain(2, "--out second --after first --quiet"), 3, "");
    assert!(!told.stderr.contains("series"), "{told}");
    let made = run(folder, &publish(2, "").replace("--quiet", "")).expect(0);
    let note = "./first looks like another release of the same table, and the ledger ledger does not know it";
    assert!(made.stderr.contains(note) && made.stderr.contains("nothing is promised of the two together"), "{made}");
    // The ledger's own releases are safe together.
    town.write(&folder.join("month-3.csv"));
    let made = run(folder, &publish(3, "").replace("--quiet", "")).expect(0);
    assert!(made.stderr.contains(note) && !made.stderr.contains("./release-2 looks like"), "{made}");
    // People of another town, judged beside one release of the first, and not beside another.
    let text = fs::read_to_string(folder.join("month-2.csv")).unwrap();
    let (header, rows) = text.split_once('\n').unwrap();
    fs::write(folder.join("month-4.csv"), format!("{header}\n{}", rows.replace(",w", ",elsewhere"))).unwrap();
    for name in ["release-2", "release-3"] {
        fs::remove_dir_all(folder.join(name)).unwrap();
    }
    run(folder, &plain(4, "--out third")).expect(0);
    let made = run(folder, &plain(4, "--out fourth --after first")).expect(0);
    assert!(!made.stderr.contains("./first looks like"), "{made}");
    assert!(made.stderr.contains("./third looks like another release of the same table, and was not judged"), "{made}");
}

/// What earlier releases tell is judged by `publish` alone, so nothing else may seem to judge it.
#[test]
fn a_comparison_judges_nothing_beside_earlier_releases() {
    let ground = tempfile::tempdir().unwrap();
    let folder = ground.path();
    Town::new(59, 100).write(&folder.join("month-1.csv"));
    let spec = "input = 'month-1.csv'\nquasi = ['age', 'ward']\nsensitive = 'disease'\nafter = ['first']\n\n[release]\n\
                method = 'anatomy'\nrequire = ['l=2']\n";
    fs::write(folder.join("chrysalis.toml"), spec).unwrap();
    refuse(folder, "compare chrysalis.toml --report report.html", 2, "`after` has no effect on a comparison");
    assert!(!folder.join("report.html").exists());
}

/// One table per release.
#[test]
fn a_release_is_evaluated_with_one_table() {
    let ground = tempfile::tempdir().unwrap();
    let folder = ground.path();
    let mut town = Town::new(61, 150);
    for month in 1..=2 {
        town.write(&folder.join(format!("month-{month}.csv")));
        run(folder, &publish(month, "")).expect(0);
        town.come(10);
    }
    let line = "evaluate release-2 --microdata month-2.csv --queries 0 --worlds 0 --with release-1=";
    refuse(
        folder,
        &format!("{line}month-2.csv --with ./release-1=month-1.csv"),
        2,
        "./release-1 is named with two tables, month-2.csv and month-1.csv",
    );
    run(folder, &format!("{line}month-1.csv --with ./release-1=month-1.csv")).expect(0);
}

/// People whose disease changed, where that is allowed: nobody says that an honest series broke its promise to them.
#[test]
fn a_series_with_changes_keeps_its_promise_to_the_audit() {
    for method in ["anatomy", "permute", "generalize"] {
        let ground = tempfile::tempdir().unwrap();
        let folder = ground.path();
        let (mut town, mut dice) = (Town::new(67, 240), Dice(5));
        let (mut changed, mut before) = (0, BTreeSet::new());
        for month in 1..=4 {
            if month > 1 {
                town.leave(20);
                town.come(40);
                // Nobody twice: whoever has a former value again stops the run.
                let there: Vec<u32> = town.people.keys().copied().collect();
                for _ in 0..20 {
                    let who = there[dice.below(there.len() as u64) as usize];
                    if before.insert(who) {
                        town.people.get_mut(&who).unwrap().2 = dice.below(12);
                    }
                }
            }
            town.write(&folder.join(format!("month-{month}.csv")));
            let made = run(folder, &publish(month, &format!("--method {method} --values-change --output json")));
            changed += made.expect(0).json()["series"]["changed"].as_u64().unwrap();
        }
        assert!(changed > 20, "{changed} people changed");
        let line = "audit release-4 --microdata month-4.csv --person id --with release-1 --with release-2 --with release-3 \
                    --with-microdata month-1.csv,month-2.csv,month-3.csv --output json";
        for more in ["", " --series ledger"] {
            let found = run(folder, &format!("{line}{more}")).expect(0).json();
            let checks = found["checks"].as_array().unwrap();
            let detail = |name: &str| {
                let check = checks.iter().find(|check| check["check"] == name || check["name"] == name).unwrap();
                check["detail"].as_str().unwrap().to_owned()
            };
            assert!(detail("intersection").contains("at least 3 sensitive values each"), "{found}");
            if method == "anatomy" || !more.is_empty() {
                assert!(detail("signatures").contains("changed to a set that has no value in common"), "{found}");
            }
        }
    }
}
