//! `chrysalis taxonomy`: its findings, its drawings, and that its proposals can be used to publish.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "tests")]

mod common;

use std::fs;
use std::path::Path;

const PEOPLE: &str = "age,zip_code,city,born,code\n21,01234,Bonn,1999-01-02,A10\n22,01235,Kiel,1998-05-06,A11\n\
                      35,01399,Lyon,1985-12-24,B10\n36,20000,Nice,1984-02-29,B20\n47,20001,Bonn,1973-07-07,C30\n\
                      48,20099,Kiel,1972-08-08,C31\n59,99999,,1961-09-09,C32\n60,99998,Nice,1960-10-10,C40\n";
const CITY: &str = "Bonn;Germany;*\nKiel;Germany;*\nUlm;Germany;*\nLyon;France;*\nNice;France;*\n";

fn ground() -> tempfile::TempDir {
    let ground = tempfile::tempdir().unwrap();
    fs::write(ground.path().join("people.csv"), PEOPLE).unwrap();
    fs::write(ground.path().join("city.csv"), CITY).unwrap();
    ground
}

#[test]
fn a_file_is_checked_and_drawn() {
    let ground = ground();
    let text = common::run(ground.path(), "taxonomy city.csv").expect(0).stdout;
    assert!(text.contains("5 / 2 / 1, from values to the root"), "{text}");
    let tree = "  *  (5 values)\n    Germany  (3 values)\n      Bonn\n      Kiel\n      Ulm\n    France  (2 values)\n      Lyon\n      Nice\n";
    assert!(text.ends_with(tree), "{text}");
}

#[test]
fn a_column_tells_what_is_missing_and_what_never_occurs() {
    let ground = ground();
    let folder = ground.path();
    let text = common::run(folder, "taxonomy city.csv --data people.csv --column city").expect(0).stdout;
    assert!(text.contains("city: 8 rows, 1 row without a value (no line needed)"), "{text}");
    assert!(text.contains("without a line    none"), "{text}");
    assert!(text.contains("never occur       1 (Ulm)"), "{text}");
    assert!(text.contains("Germany  (3 values, 4 rows)"), "{text}");

    fs::write(folder.join("short.csv"), "Bonn;Germany;*\nKiel;Germany;*\n").unwrap();
    let outcome = common::run(folder, "taxonomy short.csv --data people.csv --column city --output json").expect(4);
    let json = outcome.json();
    assert_eq!((&json["ok"], &json["taxonomies"][0]["problem"]), (&false.into(), &"2 values have no line".into()));
    assert_eq!(json["taxonomies"][0]["without_line"][1]["value"], "Nice");
    assert_eq!(json["taxonomies"][0]["without_line"][1]["rows"], 2);

    let text = common::run(folder, "taxonomy short.csv --data people.csv --column city").expect(4).stdout;
    assert!(text.starts_with("short.csv does NOT fit column `city`: 2 values have no line\n"), "{text}");
    fs::write(folder.join("gaps.csv"), "21;x;*\n22;y;*\n35;x;*\n36;x;*\n47;x;*\n48;x;*\n59;x;*\n60;x;*\n").unwrap();
    let text =
        common::run(folder, "taxonomy gaps.csv --data people.csv --column age --kind age=integer").expect(4).stdout;
    assert!(text.starts_with("gaps.csv does NOT fit column `age`: "), "{text}");
    common::run(folder, "taxonomy gaps.csv --data people.csv --column age").expect(0);

    let csv = common::run(folder, "taxonomy city.csv --data people.csv --column city --output csv").expect(0).stdout;
    assert!(
        csv.starts_with("file,depth,label,parent,values,rows\ncity.csv,0,*,,5,7\ncity.csv,1,Germany,*,3,4\n"),
        "{csv}"
    );
}

/// Proposes a taxonomy for a column, publishes with it, and audits.
fn round_trip(folder: &Path, column: &str, kind: &str) -> Vec<String> {
    let proposed =
        common::run(folder, &format!("taxonomy --propose --data people.csv --column {column}{kind}")).expect(0);
    let name = format!("{column}.taxonomy.csv");
    fs::write(folder.join(&name), &proposed.stdout).unwrap();
    common::run(folder, &format!("taxonomy {name} --data people.csv --column {column}{kind}")).expect(0);
    for partitioner in ["mondrian", "full-domain"] {
        let out = format!("{column}-{partitioner}{}", kind.len());
        let line = format!(
            "publish people.csv --quasi {column} --taxonomy {column}={name}{kind} --require k=2 --partitioner {partitioner} --out {out}"
        );
        common::run(folder, &line).expect(0);
        common::run(folder, &format!("audit {out} --microdata people.csv")).expect(0);
    }
    proposed.stdout.lines().map(str::to_owned).collect()
}

#[test]
fn proposals_can_be_published_with() {
    let ground = ground();
    let folder = ground.path();
    let ages = round_trip(folder, "age", "");
    assert_eq!(ages, round_trip(folder, "age", " --kind age=integer"));
    assert_eq!((ages.len(), ages[0].as_str()), (8, "21;21..22;21..36;*"));
    assert_eq!(round_trip(folder, "zip_code", "")[0], "01234;0123*;012**;01***;0****;*");
    assert_eq!(round_trip(folder, "code", "")[0], "A10;A1*;A**;*");
    assert_eq!(
        round_trip(folder, "born", " --kind born=date")[0],
        "1960-10-10;1960-10-10..1961-09-09;1960-10-10..1973-07-07;*"
    );
    assert_eq!(
        round_trip(folder, "city", ""),
        ["Bonn;Bonn..Kiel;*", "Kiel;Bonn..Kiel;*", "Lyon;Lyon..Nice;*", "Nice;Lyon..Nice;*"]
    );
    let json = common::run(folder, "taxonomy --propose --data people.csv --column age --output json").expect(0).json();
    assert_eq!((&json["grouping"], &json["lines"][0][1]), (&"intervals".into(), &"21..22".into()));
}

#[test]
fn real_columns_round_trip() {
    let Some(adult) = common::data("adult_train_complete.csv.gz") else { return };
    let ground = tempfile::tempdir().unwrap();
    let folder = ground.path();
    for column in ["age", "native_country", "fnlwgt", "capital_gain", "education"] {
        let line = format!("taxonomy --propose --data {} --column {column}", adult.display());
        fs::write(folder.join("t.csv"), common::run(folder, &line).expect(0).stdout).unwrap();
        let line = format!(
            "publish {} --quasi {column} --taxonomy {column}=t.csv --require k=5 --partitioner full-domain --suppress 0.01 --out {column}",
            adult.display()
        );
        common::run(folder, &line).expect(0);
        common::run(folder, &format!("audit {column}")).expect(0);
    }
}

#[test]
fn hostile_input_ends_in_a_sentence() {
    let ground = ground();
    let folder = ground.path();
    let files: [(&str, &[u8]); 9] = [
        ("empty.csv", b""),
        ("binary.csv", b"\xff\xfe\x00\x01;*\n"),
        ("ragged.csv", b"a;b;*\nc;*\n"),
        ("cycle.csv", b"a;b;c;*\nd;c;b;*\n"),
        ("twice.csv", b"a;x;*\na;y;*\n"),
        ("escape.csv", b"a\x1b[31m;*\n"),
        ("semicolons.csv", b";;;;\n"),
        ("deep.csv", &[b';'; 100_000]),
        ("leaf-is-group.csv", b"a;b;*\nb;c;*\n"),
    ];
    for (name, bytes) in files {
        fs::write(folder.join(name), bytes).unwrap();
        let outcome = common::run(folder, &format!("taxonomy city.csv {name}"));
        assert!(outcome.complaint(&[2]).is_none(), "{name}: {:?}", outcome.complaint(&[2]));
        assert!(outcome.stderr.contains(name) && outcome.escapes().is_none(), "{name}: {}", outcome.stderr);
        assert!(outcome.stdout.is_empty(), "nothing is drawn when a file is broken: {}", outcome.stdout);
    }
    let tables: [(&str, &[u8]); 5] = [
        ("semicolon.tsv", b"x\ty\na;b\t1\nc\t2\n"),
        ("blank.tsv", b"x\ty\n\" a\"\t1\nc\t2\n"),
        ("escape.tsv", b"x\ty\na\x1b[31m\t1\nc\t2\n"),
        ("void.tsv", b"x\ty\n\t1\n\t2\n"),
        ("quote.tsv", b"x\ty\n\"\t1\n"),
    ];
    for (name, bytes) in tables {
        fs::write(folder.join(name), bytes).unwrap();
        let outcome = common::run(folder, &format!("taxonomy --propose --data {name} --column x --delimiter tab"));
        assert!(outcome.complaint(&[2]).is_none(), "{name}: {:?}\n{}", outcome.complaint(&[2]), outcome.stdout);
        assert!(outcome.escapes().is_none(), "{name}: {}", outcome.stderr);
    }
    let usages = [
        "taxonomy",
        "taxonomy --propose",
        "taxonomy --propose --data people.csv",
        "taxonomy city.csv --data people.csv",
        "taxonomy city.csv --column city",
        "taxonomy city.csv --propose --data people.csv --column city",
        "taxonomy nowhere.csv",
        "taxonomy .",
        "taxonomy city.csv --data people.csv --column town",
        "taxonomy city.csv --data nowhere.csv --column city",
        "taxonomy city.csv --data people.csv --column city --kind city=integer",
        "taxonomy --propose --data people.csv --column city --kind city=integer",
        "taxonomy --propose --data people.csv --column city --kind town=integer",
    ];
    for line in usages {
        let outcome = common::run(folder, line);
        assert!(outcome.complaint(&[2]).is_none(), "{line}: {:?}", outcome.complaint(&[2]));
    }
}
