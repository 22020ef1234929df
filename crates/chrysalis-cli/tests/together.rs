//! `--together` through the command line: from a file to a release, a question, an audit, and what is refused.

#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use std::fs;

use common::{Release, run};

/// Two groups of four. Every drug is given for one disease, but in the second group two diseases share a drug.
const VISITS: &str = "age,disease,drug,part\n\
                      20,flu,a,1\n21,cold,b,1\n22,angina,c,1\n23,gout,d,1\n\
                      40,flu,a,2\n41,cold,b,2\n42,angina,c,2\n43,gout,c,2\n";
const PUBLISH: &str = "publish visits.csv --quasi age --sensitive disease --sensitive drug --require distinct-l=3 \
                       --partitioner column --group-column part --out release --force --format csv";

#[test]
fn pairs_are_published_asked_and_audited() {
    let ground = tempfile::tempdir().unwrap();
    let folder = ground.path();
    fs::write(folder.join("visits.csv"), VISITS).unwrap();
    let question = "query release \"SELECT COUNT(*) FROM microdata WHERE disease = 'gout' AND drug = 'c'\" --estimate even --output json";
    let bounds = |text: &str| {
        let json = run(folder, text).expect(0).json();
        ["lower", "estimate", "upper"].map(|name| json["rows"][0]["aggregates"][0][name].as_f64().unwrap())
    };
    for method in ["anatomy", "generalize", "permute"] {
        run(folder, &format!("{PUBLISH} --method {method}")).expect(0);
        assert_eq!(bounds(question)[2], 2.0, "{method}: any of two people may have both");
        let told = run(folder, &format!("{PUBLISH} --method {method} --together disease,drug")).expect(0).stdout;
        assert!(told.contains("disease, drug: nothing is promised about combinations"), "{told}");
        let manifest = Release::at(folder.join("release")).manifest();
        assert_eq!(manifest["together"], serde_json::json!([["disease", "drug"]]));
        assert_eq!(manifest["features"], serde_json::json!(["several-sensitive", "together"]));
        assert_eq!(bounds(question), [1.0, 1.0, 1.0], "{method}");
        let report = run(folder, "audit release --microdata visits.csv --output json").expect(0).json();
        let pairs = &report["attacks"]["together"]["pairs"];
        // The disease tells the drug; the drug tells the disease but for two of eight people.
        assert_eq!((&pairs[0]["known"], &pairs[0]["certain_share"]), (&"disease".into(), &1.0.into()));
        assert_eq!((&pairs[1]["certain_rows"], &pairs[1]["expected_right"]), (&6.into(), &0.875.into()));
        assert_eq!(pairs[1]["expected_right_from_group"], 0.25);
        let words = run(folder, "audit release").expect(0).stdout;
        assert!(words.contains("are shown together"), "{words}");
    }
    let cells = Release::at(folder.join("release")).cells("pst_disease_drug.csv");
    assert_eq!((cells[0].join(","), cells.len()), ("group_id,disease,drug,count".to_owned(), 9));
}

#[test]
fn what_cannot_be_shown_together_is_refused_in_flags() {
    let ground = tempfile::tempdir().unwrap();
    let folder = ground.path();
    fs::write(folder.join("visits.csv"), VISITS).unwrap();
    let refused = |flags: &str, expected: &str| {
        let text = run(folder, &format!("{PUBLISH} {flags}")).expect(2).stderr;
        assert!(text.contains(expected), "{text}");
    };
    refused(
        "--together disease",
        "error: `together = disease` has no effect: it takes two columns\nhint: leave --together out",
    );
    refused("--together disease,age", "error: `together` names `age`, which is not a sensitive column");
    refused("--together disease,drug --together drug,disease", "error: `together` names `drug` twice");
}
