//! A release by cells, audited part by part and in one piece: the same promises, levels, rows and verdict, on releases
//! that are as they should be and on others.

#![allow(clippy::unwrap_used, reason = "tests")]

mod by_cells;

use std::fs;
use std::path::Path;
use std::sync::Mutex;

use chrysalis::report::AuditOutcome;
use chrysalis::store::read_release;
use chrysalis::{Counted, Draft, Evidence, Fault, Form, Knob, Manifest, Memory, ToAudit, Unwatched, Watch, audit};
use chrysalis_audit::{Attacks, Finding, Utility};
use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};

use by_cells::{People, by_cells, draft};

/// Attacks that are not run part by part, if they are run at all.
const NOT_RUN: [&str; 3] = ["learned", "republishing", "insider"];

fn in_one_piece(folder: &Path) -> AuditOutcome {
    let release = read_release(folder).unwrap();
    audit(&release, Evidence { folder: Some(folder), ..Evidence::default() }, &Unwatched).unwrap()
}

fn by_parts(folder: &Path) -> AuditOutcome {
    let release = ToAudit::open_in_parts(folder, Memory::default()).unwrap().expect("it is in parts");
    release.audit(Evidence { folder: Some(folder), ..Evidence::default() }, &Unwatched).unwrap()
}

#[track_caller]
fn near(a: f64, b: f64, what: &str) {
    assert!((a - b).abs() <= 1e-9 * a.abs().max(b.abs()), "{what}: {a} and {b}");
}

#[track_caller]
fn same_utility(whole: Option<&Utility>, parts: Option<&Utility>) {
    assert_eq!(whole.is_some(), parts.is_some());
    let Some((whole, parts)) = whole.zip(parts) else { return };
    near(whole.rce, parts.rce, "rce");
    assert_eq!(whole.rce_bound.is_some(), parts.rce_bound.is_some());
    near(whole.rce_bound.unwrap_or(0.0), parts.rce_bound.unwrap_or(0.0), "bound");
}

#[track_caller]
fn same_attacks(whole: &Attacks, parts: &Attacks) {
    assert_eq!(whole.linking, parts.linking);
    assert_eq!(whole.row_linking, parts.row_linking);
    assert_eq!(whole.similarity, parts.similarity);
    assert_eq!(whole.background, parts.background);
    assert_eq!(whole.subtraction, parts.subtraction);
    assert_eq!(whole.extremes, parts.extremes);
    assert_eq!(whole.bystander, parts.bystander);
    assert_eq!(whole.together, parts.together);
    assert_eq!(whole.minimality, parts.minimality);
    assert_eq!(whole.presence.is_some(), parts.presence.is_some());
    if let Some((whole, parts)) = whole.presence.as_ref().zip(parts.presence.as_ref()) {
        assert_eq!((whole.certain_rows, whole.certain_group), (parts.certain_rows, parts.certain_group));
        near(whole.covered, parts.covered, "covered");
    }
    assert!(parts.learned.is_none() && parts.republishing.is_none() && parts.insider.is_none());
    let names = |all: &[Finding]| all.iter().map(|finding| finding.attack).collect::<Vec<_>>();
    assert_eq!(names(&whole.findings), names(&parts.findings));
    for (whole, parts) in whole.findings.iter().zip(&parts.findings) {
        if NOT_RUN.contains(&whole.attack) && whole != parts {
            assert!(!parts.was_run && parts.sentence.starts_with("Not run:"), "{parts:?}");
        } else {
            assert_eq!(whole, parts);
        }
    }
}

/// Everything that both ways find must be the same.
#[track_caller]
fn same(whole: &AuditOutcome, parts: &AuditOutcome) {
    assert_eq!(whole.principles, parts.principles);
    assert_eq!((whole.rows, whole.groups, whole.reading), (parts.rows, parts.groups, parts.reading));
    assert_eq!(whole.disclosure, parts.disclosure);
    let checks = |found: &AuditOutcome| {
        let mut all: Vec<(&str, bool)> = found.checks.iter().map(|check| (check.name, check.ok)).collect();
        all.sort_unstable();
        all
    };
    assert_eq!(checks(whole), checks(parts));
    assert_eq!((whole.ok(), whole.verdict()), (parts.ok(), parts.verdict()));
    same_utility(whole.utility.as_ref(), parts.utility.as_ref());
    same_attacks(&whole.attacks, &parts.attacks);
    assert_eq!(whole.columns.len(), parts.columns.len());
    for (whole, parts) in whole.columns.iter().zip(&parts.columns) {
        assert_eq!((&whole.column, &whole.disclosure), (&parts.column, &parts.disclosure));
        same_utility(whole.utility.as_ref(), parts.utility.as_ref());
        same_attacks(&whole.attacks, &parts.attacks);
    }
}

fn published(people: &People, draft: &Draft, most_rows: u64, out: &Path) -> Manifest {
    let (manifest, _) = by_cells(people, 1 << 16, draft, most_rows, out).unwrap();
    assert!(manifest.tables[0].parts.len() > 1, "{draft:?}");
    manifest
}

#[track_caller]
fn check(people: &People, draft: &Draft) {
    let ground = tempfile::tempdir().unwrap();
    let out = ground.path().join("release");
    published(people, draft, 700, &out);
    let (whole, parts) = (in_one_piece(&out), by_parts(&out));
    assert!(whole.ok(), "{draft:?}\n{}", serde_json::to_string_pretty(&whole).unwrap());
    same(&whole, &parts);
}

#[test]
fn every_form_and_principle_is_judged_alike() {
    let people = People::draw(21, 3_000);
    let cases: &[(&str, &[&str])] = &[
        ("generalize", &["k=10"]),
        ("generalize", &["l=3", "k=5"]),
        ("generalize", &["t=0.3"]),
        ("generalize", &["beta=2"]),
        ("generalize", &["distinct-l=4"]),
        ("generalize", &["entropy-l=3"]),
        ("generalize", &["recursive-l=3,2"]),
        ("generalize", &["alpha-k=0.4,6"]),
        ("anatomy", &["l=4"]),
        ("anatomy", &["l=3", "k=6"]),
        ("anatomy", &["t=0.3"]),
        ("anatomy", &["beta=2"]),
        ("permute", &["l=4"]),
        ("permute", &["k=10", "l=2"]),
        ("permute", &["t=0.4"]),
    ];
    for (method, require) in cases {
        check(&people, &draft(method, json!("disease"), require, json!({})));
    }
}

#[test]
fn numbers_several_columns_and_other_columns_are_judged_alike() {
    let people = People::draw(22, 3_000);
    let check = |draft: Draft| check(&people, &draft);
    check(draft("shuffle", json!("cost"), &["ke=3,500"], json!({})));
    check(draft("generalize", json!("cost"), &["ke=3,500", "k=5"], json!({})));
    let accepting = || json!({"release": {"accept": ["disclosure"]}});
    check(draft("generalize", json!("cost"), &["t=0.3"], accepting()));
    check(draft("generalize", json!(["disease", "cost"]), &["disease:l=3", "cost:ke=2,300"], json!({})));
    check(draft("generalize", json!(["disease", "cost"]), &["disease:t=0.3", "cost:t=0.3"], accepting()));
    check(draft("anatomy", json!(["disease", "cost"]), &["l=3"], json!({})));
    let together = json!({"release": {"together": [["disease", "cost"]]}});
    check(draft("anatomy", json!(["disease", "cost"]), &["l=2"], together));
    let other = || json!({"other": ["kept"], "release": {"accept": ["disclosure"]}});
    check(draft("generalize", json!("disease"), &["l=4"], other()));
    check(draft("anatomy", json!("disease"), &["l=3"], other()));
    check(draft("generalize", json!(["disease", "cost"]), &["disease:l=3", "cost:ke=2,300"], other()));
    check(draft("generalize", json!([]), &["k=7"], json!({})));
    check(draft("generalize", json!("disease"), &["k=4", "l=2"], json!({"ordinary": ["flu"]})));
    check(draft("generalize", json!("disease"), &["k=4"], accepting()));
    for partitioner in ["top-down", "compact", "nearby", "similar"] {
        let method = if ["nearby", "similar"].contains(&partitioner) { "anatomy" } else { "generalize" };
        check(draft(method, json!("disease"), &["l=3"], json!({"release": {"partitioner": partitioner}})));
    }
}

#[test]
fn transparent_releases_and_parquet_are_judged_alike() {
    let people = People::draw(23, 6_000);
    for (method, require) in [("anatomy", "l=2"), ("generalize", "k=8"), ("permute", "k=8")] {
        let transparent = json!({"release": {"transparent": true}});
        check(&people, &draft(method, json!("disease"), &[require], transparent));
    }
    for method in ["anatomy", "generalize", "permute"] {
        check(&people, &draft(method, json!("disease"), &["l=3"], json!({"release": {"format": "parquet"}})));
    }
}

/// The text of one file of a release, changed; the manifest then says what is there.
struct Forger<'a> {
    folder: &'a Path,
    manifest: Manifest,
}

impl Forger<'_> {
    fn new(folder: &Path) -> Forger<'_> {
        Forger { folder, manifest: read_release(folder).unwrap().manifest }
    }

    fn lines(&self, table: &str, part: usize) -> Vec<Vec<String>> {
        let entry = self.manifest.tables.iter().find(|entry| entry.name == table).unwrap();
        let text = fs::read_to_string(self.folder.join(&entry.parts[part].file)).unwrap();
        text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
    }

    fn put(&mut self, table: &str, part: usize, lines: &[Vec<String>]) {
        let entry = self.manifest.tables.iter_mut().find(|entry| entry.name == table).unwrap();
        let text: String = lines.iter().map(|line| line.join(",") + "\n").collect();
        fs::write(self.folder.join(&entry.parts[part].file), &text).unwrap();
        entry.parts[part].rows = lines.len() as u64 - 1;
        entry.parts[part].sha256 = Sha256::digest(&text).iter().map(|byte| format!("{byte:02x}")).collect();
        entry.rows = entry.parts.iter().map(|part| part.rows).sum();
    }

    fn finish(&self) {
        fs::write(self.folder.join("release.json"), self.manifest.to_json().unwrap()).unwrap();
    }
}

fn place(lines: &[Vec<String>], column: &str) -> usize {
    lines[0].iter().position(|name| name == column).unwrap()
}

/// Publishes a release, has it changed, and has both judge what came out: both must complain.
#[track_caller]
fn forged(draft: &Draft, change: impl Fn(&mut Forger<'_>)) -> (AuditOutcome, AuditOutcome) {
    let ground = tempfile::tempdir().unwrap();
    let out = ground.path().join("release");
    published(&People::draw(24, 3_000), draft, 700, &out);
    let mut forger = Forger::new(&out);
    change(&mut forger);
    forger.finish();
    let (whole, parts) = (in_one_piece(&out), by_parts(&out));
    assert!(!whole.ok() && !parts.ok(), "{}", serde_json::to_string_pretty(&parts.checks_json()).unwrap());
    assert_eq!(whole.verdict(), parts.verdict());
    (whole, parts)
}

trait Told {
    fn checks_json(&self) -> Json;
    fn failed(&self) -> Vec<&str>;
}

impl Told for AuditOutcome {
    fn checks_json(&self) -> Json {
        serde_json::to_value(self).unwrap()["checks"].clone()
    }

    /// The checks that fail, and the promises that are broken.
    fn failed(&self) -> Vec<&str> {
        let checks = self.checks.iter().filter(|check| !check.ok).map(|check| check.name);
        let promises = self.principles.iter().filter(|it| !it.holds).map(|it| it.principle.as_str());
        let mut all: Vec<&str> = checks.chain(promises).collect();
        all.sort_unstable();
        all
    }
}

fn generalized(require: &[&str]) -> Draft {
    draft("generalize", json!("disease"), require, json!({}))
}

fn people_table(form: Form) -> &'static str {
    form.shape().people
}

#[test]
fn a_value_that_was_changed_in_one_part_is_noticed() {
    for draft in [generalized(&["l=3"]), draft("permute", json!("disease"), &["l=3"], json!({}))] {
        let (whole, parts) = forged(&draft, |forger| {
            let table = forger.manifest.method.shape().values_table();
            let mut lines = forger.lines(table, 1);
            let at = place(&lines, "disease");
            let other = lines[1..].iter().map(|line| line[at].clone()).find(|value| *value != lines[3][at]).unwrap();
            lines[3][at] = other;
            forger.put(table, 1, &lines);
        });
        let found = |outcome: &AuditOutcome| outcome.failed().contains(&"sensitive values");
        assert!(found(&whole) && found(&parts), "{:?} {:?}", whole.failed(), parts.failed());
        assert_eq!(whole.failed(), parts.failed());
    }
}

#[test]
fn a_promise_that_is_broken_in_one_part_is_broken() {
    let draft = draft("anatomy", json!("disease"), &["l=3"], json!({}));
    let (whole, parts) = forged(&draft, |forger| {
        // Of one group, all values become one: the counts of the whole table no longer fit either.
        let mut lines = forger.lines("st", 1);
        let (id, count) = (place(&lines, "group_id"), place(&lines, "count"));
        let group = lines[1][id].clone();
        let rows: u64 =
            lines.iter().filter(|line| line[id] == group).map(|line| line[count].parse::<u64>().unwrap()).sum();
        let mut first = true;
        lines.retain(|line| line[id] != group || std::mem::replace(&mut first, false));
        lines[1][count] = rows.to_string();
        forger.put("st", 1, &lines);
    });
    assert_eq!(whole.principles, parts.principles);
    assert!(whole.failed().contains(&"l=3"), "{:?}", whole.failed());
    assert_eq!(whole.failed(), parts.failed());
    assert_eq!(whole.disclosure, parts.disclosure);
}

#[test]
fn a_group_in_two_parts_is_noticed() {
    // Half of a group moves to the next part.
    let (whole, parts) = forged(&generalized(&["k=6"]), |forger| {
        let table = people_table(forger.manifest.method);
        let (mut from, mut to) = (forger.lines(table, 0), forger.lines(table, 1));
        let id = place(&from, "group_id");
        let group = from[1][id].clone();
        let size = from.iter().filter(|line| line[id] == group).count();
        let moved: Vec<Vec<String>> = from.drain(1..1 + size / 2).collect();
        let number = |line: &Vec<String>| line[id].parse::<u64>().unwrap();
        let at = to[1..].iter().position(|line| number(line) > number(&moved[0])).map_or(to.len(), |at| at + 1);
        to.splice(at..at, moved);
        forger.put(table, 0, &from);
        forger.put(table, 1, &to);
    });
    assert_eq!(whole.failed(), ["row order"]);
    // Each half is judged on its own, so that the promise is broken, too.
    assert!(["groups", "row order"].iter().all(|name| parts.failed().contains(name)), "{:?}", parts.failed());
    let told = parts.checks.iter().find(|check| check.name == "groups").unwrap();
    assert!(told.detail.contains("judged in pieces"), "{told:?}");
}

#[test]
fn an_id_that_two_groups_have_is_noticed() {
    for draft in [generalized(&["k=6"]), draft("anatomy", json!("disease"), &["l=3"], json!({}))] {
        let (whole, parts) = forged(&draft, |forger| {
            let tables: Vec<String> = forger.manifest.tables.iter().map(|entry| entry.name.clone()).collect();
            let known = {
                let lines = forger.lines(&tables[0], 1);
                let id = place(&lines, "group_id");
                lines[1][id].clone()
            };
            // The first group of the first part takes the id of the first group of the second.
            for table in tables.iter().filter(|name| *name != "members") {
                let mut lines = forger.lines(table, 0);
                let id = place(&lines, "group_id");
                let own = lines[1][id].clone();
                lines.iter_mut().filter(|line| line[id] == own).for_each(|line| line[id].clone_from(&known));
                let header = lines.remove(0);
                lines.sort_by_key(|line| line[id].parse::<u64>().unwrap());
                lines.insert(0, header);
                forger.put(table, 0, &lines);
            }
        });
        for name in ["ids", "groups", "row order"] {
            assert!(whole.failed().contains(&name) && parts.failed().contains(&name), "{name}: {:?}", parts.failed());
        }
    }
}

#[test]
fn a_whole_group_that_moved_to_another_part_is_judged_there() {
    let ground = tempfile::tempdir().unwrap();
    let out = ground.path().join("release");
    published(&People::draw(24, 3_000), &generalized(&["t=0.3"]), 700, &out);
    let mut forger = Forger::new(&out);
    let table = people_table(forger.manifest.method);
    let (mut from, mut to) = (forger.lines(table, 0), forger.lines(table, 1));
    let id = place(&from, "group_id");
    let number = |line: &Vec<String>| line[id].parse::<u64>().unwrap();
    let group = number(&from[1]);
    let size = from[1..].iter().filter(|line| number(line) == group).count();
    let moved: Vec<Vec<String>> = from.drain(1..=size).collect();
    let at = to[1..].iter().position(|line| number(line) > group).map_or(to.len(), |at| at + 1);
    to.splice(at..at, moved);
    forger.put(table, 0, &from);
    forger.put(table, 1, &to);
    forger.finish();
    same(&in_one_piece(&out), &by_parts(&out));
}

#[test]
fn parts_that_are_missing_or_foreign_are_noticed() {
    // The last part of every table is left out, and the manifest lists the rest.
    let anatomy = draft("anatomy", json!("disease"), &["t=0.3"], json!({}));
    let (whole, parts) = forged(&anatomy, |forger| {
        let last = forger.manifest.tables[0].parts.len() - 1;
        for entry in &mut forger.manifest.tables {
            let gone = entry.parts.remove(last);
            fs::remove_file(forger.folder.join(gone.file)).unwrap();
            entry.rows -= gone.rows;
        }
    });
    for name in ["groups", "ids", "sensitive values", "tables"] {
        assert!(whole.failed().contains(&name) && parts.failed().contains(&name), "{name}: {:?}", parts.failed());
    }
    assert_eq!(whole.principles, parts.principles);
    // A part of another release of the same people.
    let (whole, parts) = forged(&generalized(&["l=3"]), |forger| {
        let ground = tempfile::tempdir().unwrap();
        let other = ground.path().join("other");
        published(&People::draw(25, 3_000), &generalized(&["l=3"]), 700, &other);
        let foreign = Forger::new(&other).lines(people_table(Form::Generalize), 1);
        forger.put(people_table(Form::Generalize), 1, &foreign);
    });
    let found = |outcome: &AuditOutcome| outcome.failed().contains(&"sensitive values");
    assert!(found(&whole) && found(&parts), "{:?}", parts.failed());
    assert!(parts.failed().contains(&"row order") && whole.failed().contains(&"row order"), "{:?}", parts.failed());
}

#[test]
fn counts_that_are_off_are_noticed() {
    let (whole, parts) = forged(&generalized(&["l=3"]), |forger| {
        let sensitive = forger.manifest.attributes.iter_mut().find(|it| it.name == "disease").unwrap();
        let counts = sensitive.domain.counts.as_mut().unwrap();
        counts[0] += 1;
        counts[1] -= 1;
    });
    assert_eq!(whole.failed(), ["sensitive values"]);
    assert_eq!(parts.failed(), ["sensitive values"]);
    let (whole, parts) = forged(&generalized(&["l=3"]), |forger| forger.manifest.groups += 1);
    assert_eq!((whole.failed(), parts.failed()), (vec!["groups"], vec!["groups"]));
    let (whole, parts) = forged(&generalized(&["l=3"]), |forger| forger.manifest.rows += 1);
    assert_eq!((whole.failed(), parts.failed()), (vec!["tables"], vec!["tables"]));
    // A value that nobody has, in the domain of a quasi attribute.
    let (whole, parts) = forged(&generalized(&["l=3"]), |forger| {
        let ward = forger.manifest.attributes.iter_mut().find(|it| it.name == "ward").unwrap();
        ward.domain.values.as_mut().unwrap().push(json!("zoo"));
    });
    assert_eq!(whole.failed(), parts.failed());
    assert!(parts.failed().contains(&"manifest"), "{:?}", parts.failed());
}

#[test]
fn a_file_that_was_changed_is_not_read() {
    let ground = tempfile::tempdir().unwrap();
    let out = ground.path().join("release");
    let manifest = published(&People::draw(24, 3_000), &generalized(&["l=3"]), 700, &out);
    let file = out.join(&manifest.tables[0].parts[1].file);
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replacen("flu", "cold", 1)).unwrap();
    let release = ToAudit::open_in_parts(&out, Memory::default()).unwrap().unwrap();
    let error = release.audit(Evidence::default(), &Unwatched).unwrap_err();
    assert!(error.message.contains("SHA-256"), "{}", error.message);
}

/// A release that does not fit is read part by part, and what cannot be compared with parts is refused with advice.
#[test]
fn what_does_not_fit_is_read_part_by_part() {
    let ground = tempfile::tempdir().unwrap();
    let out = ground.path().join("release");
    let people = People::draw(26, 6_000);
    let draft = draft("anatomy", json!("disease"), &["l=3"], json!({}));
    published(&people, &draft, 700, &out);
    assert!(matches!(ToAudit::open(&out, Memory::default()), Ok(ToAudit::InOnePiece(_))));
    let little = Memory::of(700_000);
    let release = ToAudit::open(&out, little).unwrap();
    assert!(matches!(release, ToAudit::PartByPart { .. }));
    let found = release.audit(Evidence { folder: Some(&out), ..Evidence::default() }, &Unwatched).unwrap();
    assert!(found.ok());
    same(&in_one_piece(&out), &found);
    let table = people.table(&draft);
    let with = Evidence { microdata: Some(&table), ..Evidence::default() };
    let error = release.audit(with, &Unwatched).unwrap_err();
    assert!(error.fault == Fault::Request && error.message.starts_with("microdata can be compared"), "{error:?}");
    assert!(error.remedy.to_string().contains("allow more with `memory = "));
    let error = release.check_evidence(&[(Knob::Microdata, false), (Knob::With, true)]).unwrap_err();
    assert!(error.message.starts_with("other releases can be compared"), "{}", error.message);
    // Not even a part fits, or not even the manifest.
    assert!(ToAudit::open(&out, Memory::of(60_000)).is_err());
}

#[derive(Default)]
struct Counting(Mutex<Vec<(&'static str, u64)>>);

impl Watch for Counting {
    fn phase(&self, name: &'static str, _: Option<u64>, _: Counted) {
        self.0.lock().unwrap().push((name, 0));
    }

    fn advance(&self, n: u64) {
        self.0.lock().unwrap().last_mut().unwrap().1 += n;
    }
}

#[test]
fn rows_are_counted_as_they_are_judged() {
    let ground = tempfile::tempdir().unwrap();
    let out = ground.path().join("release");
    published(&People::draw(27, 3_000), &generalized(&["l=3"]), 700, &out);
    let watch = Counting::default();
    let release = ToAudit::open_in_parts(&out, Memory::default()).unwrap().unwrap();
    release.audit(Evidence::default(), &watch).unwrap();
    assert_eq!(*watch.0.lock().unwrap(), [("survey", 3_000), ("audit", 3_000)]);
}
