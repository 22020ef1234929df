//! Covert channels: releases with correct promises, hashes and counts that say something else besides. The audit must
//! refuse each of them.

#![allow(clippy::unwrap_used, reason = "tests")]
#![allow(clippy::type_complexity, reason = "a table of cases needs no name for its columns")]

#[path = "../common/mod.rs"]
mod common;
mod files;
#[path = "../common/forge.rs"]
mod forge;
#[path = "../common/forge_parquet.rs"]
mod forge_parquet;
mod manifests;
mod parquet_files;
mod roles;

use std::path::{Path, PathBuf};

use common::run;
use forge::Forger;
use serde_json::Value;
use tempfile::TempDir;

/// Sound releases of one table, by name.
struct Ground {
    folder: TempDir,
}

const HOW: [(&str, &str); 8] = [
    ("generalize", "--method generalize --quasi age,sex,occupation --require k=5 --require l=2"),
    (
        "suppress",
        "--method generalize --partitioner full-domain --suppress 0.2 --quasi age,sex --require k=5 --require l=2",
    ),
    ("anatomy", "--method anatomy --quasi age,sex,zip_code --other occupation --require l=2"),
    ("permute", "--method permute --quasi age,sex,occupation --require l=2"),
    ("shuffle", "--method shuffle --quasi age,sex,occupation --require ke=2,10"),
    ("angel", "--method angel --quasi age,sex,occupation --require l=2 --require k=5 --marginal sex,age"),
    ("butterfly", "--method butterfly --quasi age,sex --quasi age,occupation --require k=5"),
    ("rank-swap", "--method rank-swap --quasi age,sex,occupation --require ke=2,1"),
];

impl Ground {
    fn new(names: &[&str], format: &str) -> Ground {
        let ground = Ground { folder: tempfile::tempdir().unwrap() };
        run(ground.folder.path(), "example --rows 400 --out hospital").expect(0);
        for (name, how) in HOW.iter().filter(|(name, _)| names.contains(name)) {
            let sensitive = if ["shuffle", "rank-swap"].contains(name) { "cost" } else { "disease" };
            let accept = if *name == "rank-swap" { "" } else { "--accept disclosure" };
            let line = format!("{how} --sensitive {sensitive} {accept} --format {format} --out {name}");
            let line = format!("publish hospital/patients.csv {line}");
            run(ground.folder.path(), &line).expect(0);
            run(ground.folder.path(), &format!("audit {name}")).expect(0);
        }
        ground
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A copy of a release, to be changed.
    fn forger(&self, name: &str) -> Forger {
        Forger::copy(&self.path(name), &self.path("forged"))
    }

    /// The findings of the failed checks, with the checks' names; the audit must exit with this code.
    #[track_caller]
    fn findings(&self, options: &str, code: i32) -> Vec<(String, String)> {
        let outcome = run(self.folder.path(), &format!("audit forged {options} --output json")).expect(code);
        let report = outcome.json();
        let checks = report["checks"].as_array().unwrap().iter().filter(|check| check["ok"] == false);
        let of_check = |check: &Value| -> Vec<(String, String)> {
            let name = check["name"].as_str().unwrap().to_owned();
            let all = check["findings"].as_array().unwrap().iter();
            all.map(|finding| (name.clone(), finding.as_str().unwrap().to_owned())).collect()
        };
        checks.flat_map(of_check).collect()
    }

    /// One lie, which exactly one check must find, in these words.
    #[track_caller]
    fn found(&self, name: &str, what: &str, lie: impl FnOnce(&Forger), check: &str, words: &str) {
        lie(&self.forger(name));
        let findings = self.findings("", 4);
        assert!(findings.iter().any(|(by, finding)| by == check && finding.contains(words)), "{what}: {findings:?}");
        assert!(findings.iter().all(|(by, _)| by == check), "{what}: {findings:?}");
    }
}

/// The detail text of a check.
fn detail(folder: &Path, line: &str, check: &str) -> String {
    let report = run(folder, &format!("{line} --output json")).expect(0).json();
    let checks = report["checks"].as_array().unwrap();
    checks.iter().find(|known| known["name"] == check).unwrap()["detail"].as_str().unwrap().to_owned()
}

/// Every form in both formats: an owner who publishes and audits with this program is not accused of anything.
#[test]
fn honest_releases_of_every_form_are_canonical() {
    let names: Vec<&str> = HOW.iter().map(|(name, _)| *name).collect();
    for format in ["csv", "parquet"] {
        let ground = Ground::new(&names, format);
        for name in &names {
            let detail = detail(ground.folder.path(), &format!("audit {name}"), "files");
            let words = "named by the manifest, and nothing else; canonical: every table has the bytes that the writer would write";
            assert!(detail.ends_with(words), "{name} {format}: {detail}");
        }
    }
}
