//! Releases of the same people, month after month: what the ledger keeps, what is refused, and what a crash leaves.

#![allow(clippy::unwrap_used, reason = "tests")]

mod common;
#[path = "common/town.rs"]
mod town;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use common::run;
use town::{Dice, ROLES, Town, hash, publish};

#[test]
fn months_are_published_audited_and_asked() {
    for method in ["anatomy", "permute", "generalize"] {
        let ground = tempfile::tempdir().unwrap();
        let folder = ground.path();
        let mut town = Town::new(7, 300);
        let mut counterfeits = 0;
        for month in 1..=4 {
            if month > 1 {
                town.leave(60);
                town.come(15);
            }
            town.write(&folder.join(format!("month-{month}.csv")));
            let format = if month % 2 == 0 { "csv" } else { "parquet" };
            let line = publish(month, &format!("--method {method} --format {format} --output json"));
            let made = run(folder, &line).expect(0).json();
            assert_eq!(made["series"]["number"], month, "{made}");
            assert_eq!(made["disclosed_rows"], 0);
            counterfeits += made["series"]["counterfeits"].as_u64().unwrap();
            let release = format!("release-{month}");
            let manifest: serde_json::Value =
                serde_json::from_slice(&fs::read(folder.join(&release).join("release.json")).unwrap()).unwrap();
            let previous = manifest["series"]["previous"].as_str();
            let before = (month > 1).then(|| hash(&folder.join(format!("release-{}/release.json", month - 1))));
            assert_eq!(previous, before.as_deref());
            assert!(manifest["features"].as_array().unwrap().iter().any(|feature| feature == "series"));
            run(folder, &format!("audit {release} --microdata month-{month}.csv")).expect(0);
            for (age, disease) in [(17, 3), (50, 1), (70, 5)] {
                let sql = format!("SELECT COUNT(*) FROM microdata WHERE age > {age} AND disease = 'd{disease}'");
                let answer = run(folder, &format!("query {release} \"{sql}\" --output json")).expect(0).json();
                let told = |bound: &str| {
                    answer["rows"][0]["aggregates"][0][bound].as_f64().unwrap_or_else(|| panic!("{answer}"))
                };
                let truth = town.count(age, disease);
                assert!(told("lower") <= truth && truth <= told("upper"), "{method} {truth}: {answer}");
                assert!(told("lower") <= told("estimate") && told("estimate") <= told("upper"));
            }
            let all = run(folder, &format!("query {release} \"SELECT COUNT(*) FROM microdata\" --output json"));
            let all = all.expect(0).json();
            assert_eq!(all["rows"][0]["aggregates"][0]["lower"].as_f64(), Some(town.people.len() as f64), "{all}");
            assert_eq!(all["rows"][0]["aggregates"][0]["upper"].as_f64(), Some(town.people.len() as f64));
        }
        assert!(counterfeits > 0, "no counterfeit was needed, so nothing was tested");
        assert_eq!(fs::metadata(folder.join("ledger")).unwrap().permissions().mode() & 0o777, 0o600);
        let shown = run(folder, "series ledger --output json").expect(0).json();
        assert_eq!(shown["releases"].as_array().unwrap().len(), 4);
        assert_eq!(shown["people"], town.next);
        assert_eq!(shown["releases"][3]["manifest"], hash(&folder.join("release-4/release.json")));
        run(folder, "series ledger").expect(0);
        run(folder, "rewrite release-4 \"SELECT COUNT(*) FROM microdata\" --dialect duckdb").expect(0);
    }
}

/// All months together, with their tables and the ledger; and what must be noticed.
#[test]
fn months_are_audited_together() {
    for method in ["anatomy", "permute", "generalize"] {
        let ground = tempfile::tempdir().unwrap();
        let folder = ground.path();
        let mut town = Town::new(17, 240);
        for month in 1..=3 {
            if month > 1 {
                town.leave(40);
                town.come(20);
            }
            town.write(&folder.join(format!("month-{month}.csv")));
            run(folder, &publish(month, &format!("--method {method}"))).expect(0);
        }
        let line = "audit release-3 --microdata month-3.csv --person id --with release-1 --with release-2 \
                    --with-microdata month-1.csv,month-2.csv --output json";
        for more in ["", " --series ledger"] {
            let found = run(folder, &format!("{line}{more}")).expect(0).json();
            let checks = found["checks"].as_array().unwrap();
            let detail = |name: &str| {
                let check = checks.iter().find(|check| check["check"] == name || check["name"] == name);
                check.unwrap_or_else(|| panic!("{name}: {found}"))["detail"].as_str().unwrap().to_owned()
            };
            assert!(detail("sequence").starts_with("releases 1, 2, 3 of one series"), "{}", detail("sequence"));
            let kept = detail("signatures");
            assert!(kept.starts_with("of 280 people in 3 releases,"), "{kept}");
            assert_eq!(kept.contains("the one that the ledger remembers"), !more.is_empty(), "{kept}");
            assert!(detail("intersection").contains("at least 3 sensitive values each"), "{found}");
            assert!(detail("subtraction").contains("none of them gives away"), "{found}");
        }
        run(folder, "audit release-2 --with release-1 --series ledger").expect(0);
        // Releases in another order, of which one was made from another table.
        let swapped = line.replace("month-1.csv,month-2.csv", "month-2.csv,month-1.csv");
        run(folder, &swapped).expect(4);
        // The first two months in another series: people get other values.
        fs::create_dir(folder.join("other")).unwrap();
        for month in 1..=2 {
            let other = publish(month, &format!("--method {method}"));
            let other = other.replace("--series ledger", "--series other/ledger").replace("--out ", "--out other/");
            // With four values each, nobody's sets are what they were.
            let other = other.replace("m=3", "m=4");
            run(folder, &other).expect(0);
        }
        let mixed = run(folder, &line.replace("--with release-2", "--with other/release-2")).expect(4);
        assert!(mixed.stdout.contains("is release 2, but the one before it is not release-1"), "{mixed}");
        // Where everybody may be in many groups, only the ledger can tell.
        if method == "anatomy" {
            assert!(
                mixed.stdout.contains("cannot have stood in groups with one and the same set of values"),
                "{mixed}"
            );
        }
        let ledger = run(folder, "audit other/release-2 --series ledger").expect(4);
        assert!(ledger.stdout.contains("but not the one that the ledger remembers"), "{ledger}");
        for (wrong, words) in [
            (line.replace(",month-2.csv", ""), "1 tables of other releases are named, but 2 releases"),
            (line.replace("--person id", ""), "only beside that of this one, and if it is known whose a row is"),
        ] {
            let refused = run(folder, &wrong);
            assert!(refused.complaint(&[2]).is_none() && refused.stderr.contains(words), "{refused}");
        }
    }
}

/// The refusals of a series, each in words.
#[test]
fn what_does_not_fit_the_series_is_refused_in_words() {
    let ground = tempfile::tempdir().unwrap();
    let folder = ground.path();
    let mut town = Town::new(3, 200);
    town.write(&folder.join("month-1.csv"));
    let refuse = |line: &str, code: i32, words: &str| {
        let refused = run(folder, line);
        assert!(refused.complaint(&[code]).is_none(), "{}", refused.complaint(&[code]).unwrap());
        assert!(refused.stderr.contains(words), "expected `{words}`\n{refused}");
    };
    let one = "publish month-1.csv --quasi age,ward --sensitive disease --out r --quiet";
    refuse(&format!("{one} --require m=3"), 2, "`m=3` is about a series of releases, but no ledger is named");
    refuse(&format!("{one} --require m=3 --series ledger"), 2, "no column says whose a row is");
    refuse(&format!("{one} --require k=3 --series ledger --person id"), 2, "nothing is required of a series");
    refuse(&format!("{one} --require k=3 --only-new"), 2, "`only_new` has no effect");
    refuse(&publish(1, "--transparent"), 2, "`m=3` cannot be transparent");
    refuse(&publish(1, "--partitioner mondrian"), 2, "so a partitioner has no effect");
    refuse(&publish(1, "--require l=2"), 2, "`l=2` cannot be promised beside m=3: it is about how many values");
    refuse(&publish(1, "--require t=0.2"), 2, "the difference to what is shown would tell counterfeits");
    refuse(&publish(1, "--method shuffle"), 2, "shuffle has no place for counterfeit values");
    refuse(&publish(1, "").replace("m=3", "m=13"), 3, "cannot reach m=13");
    refuse("series ledger", 2, "there is no ledger");
    assert!(!folder.join("ledger").exists(), "nothing was published, so nothing is remembered");
    run(folder, &publish(1, "")).expect(0);
    let first = fs::read(folder.join("ledger")).unwrap();
    // Somebody twice.
    let text = fs::read_to_string(folder.join("month-1.csv")).unwrap();
    fs::write(folder.join("month-2.csv"), format!("{text}p5,40,w1,d1\n")).unwrap();
    refuse(&publish(2, ""), 2, "1 person has several rows");
    // Another promise.
    refuse(
        &publish(1, "").replace("m=3", "m=4").replace("release-1", "release-2"),
        2,
        "the ledger is of a series with m=3",
    );
    // A value that left its signature: every other one of twelve did.
    town.people.get_mut(&9).unwrap().2 += 6;
    let signatures = (0..12).find(|disease| {
        town.people.get_mut(&9).unwrap().2 = *disease;
        town.write(&folder.join("month-2.csv"));
        run(folder, &publish(2, "")).code == Some(3) || {
            let _ = fs::remove_dir_all(folder.join("release-2"));
            fs::write(folder.join("ledger"), &first).unwrap();
            false
        }
    });
    assert!(signatures.is_some(), "some value is outside of the signature");
    refuse(&publish(2, ""), 3, "1 person has a value of `disease` that their groups never showed");
    let made = run(folder, &publish(2, "--values-change")).expect(0);
    assert!(made.stdout.contains("1 person whose value changed"), "{made}");
    run(folder, "audit release-2").expect(0);
    let second = fs::read(folder.join("ledger")).unwrap();
    // A ledger that is older than the releases, damaged, new, of another series, or readable by others.
    town.write(&folder.join("month-3.csv"));
    let with_ledger = |bytes: &[u8]| {
        fs::write(folder.join("ledger"), bytes).unwrap();
        fs::set_permissions(folder.join("ledger"), fs::Permissions::from_mode(0o600)).unwrap();
    };
    with_ledger(&first);
    refuse(&publish(3, ""), 2, "is older than the releases: it ends with release 1");
    for at in [0, 30, 300, second.len() / 2, second.len() - 1] {
        let mut flipped = second.clone();
        flipped[at] ^= 4;
        with_ledger(&flipped);
        let words = if at == 0 { "is not a ledger of this version" } else { "is damaged" };
        refuse(&publish(3, ""), 2, words);
        refuse("series ledger", 2, words);
    }
    fs::remove_file(folder.join("ledger")).unwrap();
    refuse(&publish(3, ""), 2, "is new, but ./release-");
    // The same wherever the release is to be: they lie beside the ledger.
    fs::create_dir(folder.join("elsewhere")).unwrap();
    let elsewhere = |line: &str| line.replace("release-3", "elsewhere/release");
    refuse(&elsewhere(&publish(3, "")), 2, "is new, but ");
    run(folder, &elsewhere(&publish(3, "")).replace("--series ledger", "--series elsewhere/ledger")).expect(0);
    refuse(&publish(3, "").replace("--series ledger", "--series elsewhere/ledger"), 2, "is of another series");
    fs::remove_dir_all(folder.join("elsewhere")).unwrap();
    // An old copy of the ledger, far from any release: it remembers where the first one lies.
    fs::create_dir(folder.join("far")).unwrap();
    fs::write(folder.join("far/ledger"), &first).unwrap();
    fs::set_permissions(folder.join("far/ledger"), fs::Permissions::from_mode(0o600)).unwrap();
    let far = publish(3, "").replace("--series ledger", "--series far/ledger").replace("release-3", "far/release");
    refuse(&far, 2, "is older than the releases: it ends with release 1");
    with_ledger(&second);
    fs::set_permissions(folder.join("ledger"), fs::Permissions::from_mode(0o644)).unwrap();
    refuse(&publish(3, ""), 2, "others than its owner may read or change it");
    with_ledger(&second);
    run(folder, &publish(3, "")).expect(0);
    refuse(
        &publish(3, "").replace("--series ledger", "--series release-4/ledger").replace("release-3", "release-4"),
        2,
        "would be part of the release",
    );
}

#[test]
fn people_can_be_published_once_under_any_principle() {
    let ground = tempfile::tempdir().unwrap();
    let folder = ground.path();
    let mut town = Town::new(5, 150);
    let line = |month: usize| {
        format!(
            "publish month-{month}.csv {ROLES} --require l=2 --series ledger --only-new --out release-{month} --quiet"
        )
    };
    town.write(&folder.join("month-1.csv"));
    run(folder, &line(1)).expect(0);
    let refused = run(folder, &line(1).replace("release-1", "again"));
    assert!(refused.complaint(&[3]).is_none() && refused.stderr.contains("everybody in the table"), "{refused}");
    town.come(60);
    town.write(&folder.join("month-2.csv"));
    let made = run(folder, &format!("{} --output json", line(2))).expect(0).json();
    assert_eq!((made["rows"].as_u64(), made["series"]["left_out"].as_u64()), (Some(60), Some(150)), "{made}");
    run(folder, "audit release-2").expect(0);
    let shown = run(folder, "series ledger --output json").expect(0).json();
    assert_eq!((shown["people"].as_u64(), shown["m"].as_u64()), (Some(210), None));
}

/// Without a ledger, a release is judged beside those that are named.
#[test]
fn earlier_releases_are_judged_by_what_they_show() {
    let ground = tempfile::tempdir().unwrap();
    let folder = ground.path();
    let mut town = Town::new(23, 200);
    town.write(&folder.join("month-1.csv"));
    let plain = |month: usize, more: &str| {
        format!(
            "publish month-{month}.csv --quasi age,ward --sensitive disease --require l=3 --method anatomy --quiet {more}"
        )
    };
    run(folder, &plain(1, "--out first")).expect(0);
    let refuse = |line: &str, code: i32, words: &str| {
        let refused = run(folder, line);
        assert!(refused.complaint(&[code]).is_none(), "{}", refused.complaint(&[code]).unwrap());
        assert!(refused.stderr.contains(words), "expected `{words}`\n{refused}");
    };
    // Most of the same people in other groups.
    town.leave(10);
    town.come(10);
    town.write(&folder.join("month-2.csv"));
    refuse(&plain(2, "--out second --after first"), 3, "what the releases tell together");
    assert!(!folder.join("second").exists());
    // People of another town.
    let text = fs::read_to_string(folder.join("month-2.csv")).unwrap();
    let (header, rows) = text.split_once('\n').unwrap();
    fs::write(folder.join("month-3.csv"), format!("{header}\n{}", rows.replace(",w", ",elsewhere"))).unwrap();
    let made = run(folder, &plain(3, "--out third --after first --output json")).expect(0).json();
    assert_eq!((made["after"]["known"].as_u64(), made["after"]["releases"].as_u64()), (Some(0), Some(1)), "{made}");
    let made = run(folder, &plain(3, "--out fourth --after first").replace(" --quiet", "")).expect(0);
    assert!(made.stdout.contains("0 persons may have been in 1 earlier release"), "{made}");
    // What has no effect, or cannot be judged.
    refuse(&publish(1, "--after first"), 2, "beside releases that its ledger does not know");
    let once = plain(3, "--out fifth --after first --person id");
    refuse(&format!("{once} --series once --only-new"), 2, "`only_new` and `after` do not go together");
    refuse(&once, 2, "`person` says that somebody may have several");
    run(folder, &publish(1, "")).expect(0);
    refuse(&plain(3, "--out fifth --after release-1"), 2, "is a release of a series");
    refuse(&plain(3, "--out fifth --after first").replace("anatomy", "angel"), 2, "nobody has worked out");
    refuse(&plain(3, "--out fifth --after nowhere"), 2, "nowhere");
}

/// Kills runs at random moments over a series: release and ledger agree, or the next run sees to it.
#[test]
fn killed_runs_leave_a_ledger_that_agrees_with_the_releases() {
    let kills = if std::env::var_os("CHRYSALIS_SLOW").is_some() { 200 } else { 25 };
    let ground = tempfile::tempdir().unwrap();
    let folder = ground.path();
    let mut town = Town::new(11, 4_000);
    let mut dice = Dice(99);
    let (mut month, mut n_whole, mut n_none, mut n_repaired) = (1, 0, 0, 0);
    town.write(&folder.join("month-1.csv"));
    let start = Instant::now();
    run(folder, &publish(1, "")).expect(0);
    // How long a run takes: other work on the machine may change that at any time, so every kill corrects it.
    let mut full = start.elapsed().as_secs_f64();
    let releases = |folder: &Path| {
        let shown = run(folder, "series ledger --output json").expect(0).json();
        shown["releases"].as_array().unwrap().len()
    };
    for _ in 0..kills {
        let next = month + 1;
        town.leave(10);
        town.come(10);
        town.write(&folder.join(format!("month-{next}.csv")));
        let mut command = common::chrysalis(folder);
        let child = command.args(common::split(&publish(next, ""))).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let mut child = child.unwrap();
        let share = 0.4 + 0.8 * dice.below(10_000) as f64 / 10_000.0;
        thread::sleep(Duration::from_secs_f64(full * share));
        let _ = child.kill();
        child.wait().unwrap();
        let is_there = folder.join(format!("release-{next}")).exists();
        full *= if is_there { 0.9 } else { 1.1 };
        let staged = folder.join("ledger.next").exists();
        // The ledger knows the release, or the next run finds out that it is there.
        if releases(folder) == month && is_there {
            assert!(staged, "a release that nobody remembers");
        }
        n_repaired += usize::from(staged);
        if is_there {
            n_whole += 1;
            month = next;
            continue;
        }
        n_none += 1;
        run(folder, &publish(next, "")).expect(0);
        assert!(!folder.join("ledger.next").exists());
        assert_eq!(releases(folder), next);
        month = next;
    }
    // Whatever the last kill left, one more run puts in order.
    town.write(&folder.join(format!("month-{}.csv", month + 1)));
    run(folder, &publish(month + 1, "")).expect(0);
    assert_eq!(releases(folder), month + 1);
    for number in [2, month, month + 1] {
        let release: serde_json::Value =
            serde_json::from_slice(&fs::read(folder.join(format!("release-{number}/release.json"))).unwrap()).unwrap();
        assert_eq!(release["series"]["number"], number);
        let before = hash(&folder.join(format!("release-{}/release.json", number - 1)));
        assert_eq!(release["series"]["previous"], before);
    }
    println!("{kills} kills: {n_whole} releases came through, {n_none} did not, {n_repaired} ledgers were staged");
    assert!(n_none > 0, "no run was killed in time");
}

/// The two states that a kill can leave between the steps, made by hand.
#[test]
fn a_half_done_step_is_noticed_and_repaired() {
    let ground = tempfile::tempdir().unwrap();
    let folder = ground.path();
    let town = Town::new(13, 200);
    for month in 1..=4 {
        town.write(&folder.join(format!("month-{month}.csv")));
    }
    run(folder, &publish(1, "")).expect(0);
    let first = fs::read(folder.join("ledger")).unwrap();
    run(folder, &publish(2, "")).expect(0);
    let second = fs::read(folder.join("ledger")).unwrap();
    let put = |name: &str, bytes: &[u8]| {
        fs::write(folder.join(name), bytes).unwrap();
        fs::set_permissions(folder.join(name), fs::Permissions::from_mode(0o600)).unwrap();
    };
    // The release is there, the ledger does not say so. Who only reads says it, and repairs nothing.
    put("ledger", &first);
    put("ledger.next", &second);
    let told = |number: usize, words: &str, is_published: bool| {
        let shown = run(folder, "series ledger").expect(0);
        let what = format!("the run that was to publish release {number} ended {words}, or is still under way");
        assert!(shown.stdout.split_whitespace().collect::<Vec<_>>().join(" ").contains(&what), "{shown}");
        let json = run(folder, "series ledger --output json").expect(0).json();
        assert_eq!(json["unfinished"], serde_json::json!({ "number": number, "is_published": is_published }));
        let line = "audit release-1 --microdata month-1.csv --person id --series ledger";
        let audited = run(folder, line);
        assert!(audited.stderr.split_whitespace().collect::<Vec<_>>().join(" ").contains(&what), "{audited}");
        assert!(folder.join("ledger.next").exists());
    };
    told(2, "after it was written and before the ledger said so", true);
    let line = publish(3, "").replace("--quiet", "");
    let made = run(folder, &line).expect(0);
    assert!(made.stderr.contains("the last run ended after release 2 was written"), "{made}");
    // The ledger says so, the release is not there.
    let third = fs::read(folder.join("ledger")).unwrap();
    fs::remove_dir_all(folder.join("release-3")).unwrap();
    put("ledger", &second);
    put("ledger.next", &third);
    told(3, "before it was written", false);
    let made = run(folder, &publish(4, "").replace("--quiet", "")).expect(0);
    assert!(made.stderr.contains("the last run ended before its release was written"), "{made}");
    let shown = run(folder, "series ledger --output json").expect(0).json();
    assert_eq!(shown["releases"].as_array().unwrap().len(), 3);
    assert!(!folder.join("ledger.next").exists());
    assert!(shown["unfinished"].is_null(), "{shown}");
    // A first run that was cut off leaves no ledger yet.
    fs::rename(folder.join("ledger"), folder.join("ledger.next")).unwrap();
    let shown = run(folder, "series ledger").expect(2);
    assert!(
        shown.stderr.contains("the ledger ledger is not there yet: the run that was to publish release 3 ended"),
        "{shown}"
    );
}

/// What was handed out stays: the next release is made to stand beside it.
#[test]
fn no_release_takes_the_place_of_one_of_its_series() {
    let ground = tempfile::tempdir().unwrap();
    let folder = ground.path();
    let town = Town::new(19, 200);
    town.write(&folder.join("month-1.csv"));
    run(folder, &publish(1, "")).expect(0);
    let (manifest, ledger) = (hash(&folder.join("release-1/release.json")), hash(&folder.join("ledger")));
    let refused = run(folder, &publish(1, "--force")).expect(2);
    assert!(refused.stderr.contains("release-1 holds release 1 of this series"), "{refused}");
    assert_eq!(hash(&folder.join("release-1/release.json")), manifest);
    assert_eq!(hash(&folder.join("ledger")), ledger);
    // Any other release there gives way.
    run(folder, "publish month-1.csv --quasi ward --sensitive disease --require l=2 --out other --quiet").expect(0);
    let line = publish(1, "--force").replace("--out release-1", "--out other");
    run(folder, &line).expect(0);
    assert!(folder.join("other/release.json").exists() && hash(&folder.join("other/release.json")) != manifest);
}

/// Relaxed cuts are those of a partitioner, which a series does not have.
#[test]
fn relaxed_cuts_have_no_effect_on_a_series() {
    let ground = tempfile::tempdir().unwrap();
    let folder = ground.path();
    Town::new(23, 60).write(&folder.join("month-1.csv"));
    let refused = run(folder, &publish(1, "--relaxed")).expect(2);
    let words = "`m=3` itself decides who stands together, so relaxed cuts have no effect";
    assert!(refused.stderr.contains(words), "{refused}");
    assert!(!folder.join("release-1").exists() && !folder.join("ledger").exists());
}

/// Whoever comes alone with a disease that nobody had is named to the owner.
#[test]
fn a_lone_newcomer_is_pointed_out() {
    let ground = tempfile::tempdir().unwrap();
    let folder = ground.path();
    let write = |month: usize, last: &str| {
        let rows: String = (0..12).map(|who| format!("{who},{},1,d{}\n", 20 + who, who % 4)).collect();
        fs::write(folder.join(format!("month-{month}.csv")), format!("id,age,ward,disease\n{rows}{last}")).unwrap();
    };
    write(1, "");
    write(2, "77,40,1,new\n");
    run(folder, &publish(1, "")).expect(0);
    let made = run(folder, &publish(2, "").replace("--quiet", "")).expect(0);
    let words = "1 person stands in groups of values that no group showed together before";
    assert!(made.stderr.contains(words), "{made}");
    // So does the audit say, which has nothing but the releases and who was there.
    let line = "audit release-2 --microdata month-2.csv --person id --with release-1 --with-microdata month-1.csv";
    let found = run(folder, &format!("{line} --output json")).expect(0).json();
    let told = &found["attacks"]["series"];
    assert_eq!((&told["replay_people"], &told["replay_share_at_least"]), (&1.into(), &1.0.into()), "{told}");
    assert!(told["finding"].as_str().unwrap().contains("the best of these bets is certain to be right"), "{told}");
    // Without the first month, nobody can say.
    let alone = run(folder, "audit release-2 --microdata month-2.csv --person id --output json").expect(0).json();
    assert!(alone["attacks"]["series"]["replay_people"].is_null(), "{alone}");
    assert!(alone["attacks"]["series"]["finding"].as_str().unwrap().contains("cannot be said"), "{alone}");
}

/// Newcomers enough for three values that are new leave nobody surer than one in three.
#[test]
fn newcomers_who_come_together_tell_nothing_more() {
    let ground = tempfile::tempdir().unwrap();
    let folder = ground.path();
    let old: String = (0..12).map(|who| format!("{who},{},1,d{}\n", 20 + who, who % 4)).collect();
    let new = "77,40,1,new\n78,40,1,newer\n79,41,1,newest\n";
    fs::write(folder.join("month-1.csv"), format!("id,age,ward,disease\n{old}")).unwrap();
    fs::write(folder.join("month-2.csv"), format!("id,age,ward,disease\n{old}{new}")).unwrap();
    run(folder, &publish(1, "")).expect(0);
    run(folder, &publish(2, "")).expect(0);
    let line = "audit release-2 --microdata month-2.csv --person id --with release-1 --with-microdata month-1.csv";
    let found = run(folder, &format!("{line} --output json")).expect(0).json();
    let told = &found["attacks"]["series"];
    assert_eq!(told["replay_people"], 0, "{told}");
    assert!(
        told["replay_share_at_least"].is_null() && told["finding"].as_str().unwrap().contains("cannot tell"),
        "{told}"
    );
}
