//! Datetimes through the command line: from a file to a release, questions, rewritten questions, and an audit.

#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use std::fs;
use std::path::Path;

use common::{Release, chrysalis, finish, run};

/// Two groups of four: the first before 1970, the second in 2024.
const VISITS: &str = "seen,disease,part\n\
                      1969-12-31T23:00:00,flu,1\n1969-12-31T23:20:00,cold,1\n\
                      1969-12-31 23:40:00,angina,1\n1969-12-31T23:59:59.5,gout,1\n\
                      2024-03-01T14:00:00,flu,2\n2024-03-01 14:05,cold,2\n\
                      2024-03-01T14:30:00Z,angina,2\n2024-03-01T15:00:00,gout,2\n";
const PUBLISH: &str = "publish visits.csv --quasi seen --sensitive disease --require l=4 --partitioner column \
                       --group-column part --accept disclosure --out release --force";

fn ground() -> tempfile::TempDir {
    let ground = tempfile::tempdir().unwrap();
    fs::write(ground.path().join("visits.csv"), VISITS).unwrap();
    ground
}

fn count(folder: &Path, condition: &str) -> [f64; 3] {
    let question = format!("SELECT COUNT(*) FROM microdata WHERE {condition}");
    let mut command = chrysalis(folder);
    command.args(["query", "release", &question, "--estimate", "even", "--output", "json"]);
    let json = finish(&mut command, question.clone()).expect(0).json();
    ["estimate", "lower", "upper"].map(|name| json["rows"][0]["aggregates"][0][name].as_f64().unwrap())
}

#[test]
fn ranges_of_moments_are_published_asked_and_audited() {
    let ground = ground();
    let folder = ground.path();
    for format in ["csv", "parquet"] {
        run(folder, &format!("{PUBLISH} --method generalize --format {format}")).expect(0);
        let manifest = Release::at(folder.join("release")).manifest();
        let seen = &manifest["attributes"][0];
        assert_eq!((&seen["kind"], &seen["domain"]["min"]), (&"datetime".into(), &"1969-12-31T23:00:00".into()));
        // The second group covers an hour; half an hour and a microsecond at its end is half of its points.
        let [estimate, lower, upper] = count(folder, "seen > TIMESTAMP '2024-03-01 14:30:00'");
        assert!((estimate - 2.0).abs() < 1e-6, "{estimate}");
        assert_eq!((lower, upper), (0.0, 4.0));
        // A date is its midnight; all of the first group is before 1970, and all of the second after.
        assert_eq!(count(folder, "seen >= '1970-01-01'"), [4.0; 3]);
        assert_eq!(count(folder, "seen < '1970-01-01T00:00:00'"), [4.0; 3]);
        assert_eq!(count(folder, "seen BETWEEN '0001-01-01' AND '9999-12-31T23:59:59.999999'"), [8.0; 3]);
        assert_eq!(count(folder, "seen = '2024-03-01T15:00:00.000001'"), [0.0; 3]);
        run(folder, "audit release --microdata visits.csv").expect(0);
        run(folder, "evaluate release --microdata visits.csv").expect(0);
    }
    let wrong = "query release \"SELECT COUNT(*) FROM microdata WHERE seen > '2024-13-45T99:99'\"";
    let text = run(folder, wrong).expect(2).stderr;
    assert!(text.contains("write a datetime as 'YYYY-MM-DDTHH:MM:SS'"), "{text}");
}

#[test]
fn csv_tables_hold_moments_in_one_spelling() {
    let ground = ground();
    let folder = ground.path();
    run(folder, &format!("{PUBLISH} --method generalize --format csv")).expect(0);
    let cells = Release::at(folder.join("release")).cells("generalized.csv");
    let text = format!("{cells:?}");
    for end in ["1969-12-31T23:00:00", "1969-12-31T23:59:59.5", "2024-03-01T14:00:00", "2024-03-01T15:00:00"] {
        assert!(text.contains(&format!("{end:?}")), "{text}");
    }
}

#[test]
fn questions_about_moments_are_rewritten_for_every_database() {
    let ground = ground();
    let folder = ground.path();
    run(folder, &format!("{PUBLISH} --method generalize")).expect(0);
    for (dialect, parts) in [
        ("postgres", ["TIMESTAMP '2024-03-01T14:30:00'", "EXTRACT(EPOCH FROM"]),
        ("duckdb", ["TIMESTAMP '2024-03-01T14:30:00'", "EPOCH_US("]),
        ("sqlite", ["'2024-03-01T14:30:00'", "strftime('%s'"]),
        ("spark", ["TIMESTAMP_NTZ '2024-03-01T14:30:00'", "DATE_PART('SECOND'"]),
    ] {
        let question = "SELECT COUNT(*) FROM microdata WHERE seen >= '2024-03-01T14:30:00'";
        let mut command = chrysalis(folder);
        command.args(["rewrite", "release", question, "--dialect", dialect]);
        let text = finish(&mut command, dialect.to_owned()).expect(0).stdout;
        // Boxes are compared as numbers of microseconds; what they are made from differs.
        assert!(text.contains(parts[1]), "{dialect}: {text}");
        run(folder, &format!("{PUBLISH} --method anatomy")).expect(0);
        let mut command = chrysalis(folder);
        command.args(["rewrite", "release", question, "--dialect", dialect]);
        let text = finish(&mut command, dialect.to_owned()).expect(0).stdout;
        assert!(text.contains(parts[0]), "{dialect}: {text}");
        run(folder, &format!("{PUBLISH} --method generalize")).expect(0);
    }
}

#[test]
fn calendar_units_are_intervals() {
    let ground = ground();
    let folder = ground.path();
    let line = format!("{PUBLISH} --method generalize --format csv --intervals seen=hour,day,month,year");
    run(folder, &line).expect(0);
    let text = format!("{:?}", Release::at(folder.join("release")).cells("generalized.csv"));
    assert!(text.contains("\"1969-12-31T23:00:00\", \"1969-12-31T23:59:59.999999\""), "an hour: {text}");
    assert!(text.contains("\"2024-03-01T00:00:00\", \"2024-03-01T23:59:59.999999\""), "a day: {text}");
    run(folder, "audit release --microdata visits.csv").expect(0);

    let refused = |units: &str| {
        let line = format!("{PUBLISH} --method generalize --intervals seen={units}");
        run(folder, &line).expect(2).stderr
    };
    let text = refused("week,month");
    assert!(text.contains("a week may lie in two months"), "{text}");
    assert!(refused("fortnight").contains("`fortnight` is neither a number nor hour, day"));
    assert!(refused("900,day").contains("either numbers or calendar units, not both"));

    let spec = "input = \"visits.csv\"\nsensitive = \"disease\"\n[attributes.seen]\nrole = \"quasi\"\n\
                intervals = [\"day\", \"year\"]\n[release]\nmethod = \"generalize\"\nrequire = [\"l=4\"]\n\
                partitioner = \"column\"\ngroup_column = \"part\"\naccept = [\"disclosure\"]\n";
    fs::write(folder.join("chrysalis.toml"), spec).unwrap();
    run(folder, "publish chrysalis.toml --out release --force --format csv").expect(0);
    let text = format!("{:?}", Release::at(folder.join("release")).cells("generalized.csv"));
    assert!(text.contains("\"1969-12-31T00:00:00\", \"1969-12-31T23:59:59.999999\""), "a day: {text}");
}

#[test]
fn profile_and_init_know_moments() {
    let ground = ground();
    let folder = ground.path();
    let text = run(folder, "profile visits.csv").expect(0).stdout;
    assert!(text.contains("datetime"), "{text}");
    run(folder, "init visits.csv --out visits.toml").expect(0);
    let spec = fs::read_to_string(folder.join("visits.toml")).unwrap();
    assert!(spec.contains("kind = \"datetime\"") && spec.contains("# intervals = [\"hour\", \"day\""), "{spec}");
}
