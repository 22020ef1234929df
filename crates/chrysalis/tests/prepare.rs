//! Columns that are prepared before they are published: what comes out, what is promised about it, and what is refused.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use chrysalis::report::AuditOutcome;
use chrysalis::table::{Column, ColumnRequest, Kind};
use chrysalis::{
    Counted, Draft, Error, Evidence, Key, Knob, MicrodataPlan, Published, Release, Seed, Table, Unwatched, Watch,
    audit, commented_spec, compare, evaluate, files, profile, publish,
};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Sixty rows of thirty patients.
fn patients() -> String {
    let mut text = "id,age,cost,admitted,ward,disease\n".to_owned();
    for row in 0..60 {
        let (age, cost) = (20 + (row * 7) % 71, 150 * row - 999);
        let (month, day) = (1 + row % 12, 1 + (row * 5) % 28);
        let disease = ["flu", "cold", "ulcer", "asthma", "gout"][row as usize % 5];
        let missing = if row == 7 { String::new() } else { format!("20{}-{month:02}-{day:02}", 10 + row % 9) };
        text.push_str(&format!("P{},{age},{cost},{missing},0{}-{},{disease}\n", row / 2, row % 4, row % 3));
    }
    text
}

/// A folder with a table.
struct Ground(tempfile::TempDir);

impl Ground {
    fn new() -> Ground {
        Ground::with(&patients())
    }

    fn with(csv: &str) -> Ground {
        let ground = Ground(tempfile::tempdir().unwrap());
        fs::write(ground.at("patients.csv"), csv).unwrap();
        ground
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A draft for the table: `prepare` has the steps of columns, `more` anything else.
    fn draft(&self, quasi: &[&str], prepare: &Value, more: &Value) -> Draft {
        let mut draft = json!({
            "input": self.at("patients.csv"),
            "quasi": quasi,
            "sensitive": "disease",
            "release": { "method": "anatomy", "require": ["l=2"] },
        });
        for (name, steps) in prepare.as_object().unwrap() {
            draft["attributes"][name]["prepare"] = steps.clone();
        }
        for (name, value) in more.as_object().unwrap() {
            draft[name] = value.clone();
        }
        serde_json::from_value(draft).unwrap()
    }

    fn publish(&self, draft: &Draft) -> Result<Published, Error> {
        publish_watched(draft, &Unwatched)
    }

    /// Audits as a door does: the microdata are read and prepared as the manifest says.
    fn audit(&self, release: &Release, said: Value) -> Result<AuditOutcome, Error> {
        let mut draft: Draft = serde_json::from_value(said).unwrap();
        draft.input = Some(self.at("patients.csv"));
        let table = files::read_microdata(draft.open()?, &[&release.manifest], &draft, &Unwatched)?;
        audit(release, Evidence { microdata: Some(&table), replay: Some(0), ..Evidence::default() }, &Unwatched)
    }
}

fn publish_watched(draft: &Draft, watch: &dyn Watch) -> Result<Published, Error> {
    let input = draft.open()?;
    let mut recipe = draft.check(input.header())?;
    draft.provide_key(&mut recipe, None, watch)?;
    let table = files::read(input, recipe.requests(), "read", watch)?;
    publish(table, &recipe, Seed::Fixed(1), watch)
}

#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

impl Watch for Notes {
    fn phase(&self, _: &'static str, _: Option<u64>, _: Counted) {}

    fn advance(&self, _: u64) {}

    fn note(&self, sentence: &str) {
        self.0.lock().unwrap().push(sentence.to_owned());
    }
}

fn texts(column: &Column) -> Vec<String> {
    (0..column.codes().len()).map(|row| column.domain().text(column.code(row)).into_owned()).collect()
}

/// The prepared values of the table's columns, in the order of its rows.
fn prepared(draft: &Draft, columns: &[&str]) -> Result<Table, Error> {
    let wanted: Vec<ColumnRequest> = columns.iter().map(|name| draft.request(name)).collect::<Result<_, _>>()?;
    Ok(files::read_prepared(draft, draft.open()?, &wanted, "read", &Unwatched)?.0)
}

fn findings(outcome: &AuditOutcome) -> Vec<&str> {
    outcome.checks.iter().filter(|check| !check.ok).map(|check| check.name).collect()
}

#[test]
fn the_summary_and_the_manifest_say_what_was_done() {
    let ground = Ground::new();
    let steps = json!({ "age": ["bottom:30", "top:80"], "cost": ["round:1000"], "admitted": ["top:2030-01-01"] });
    let made = ground.publish(&ground.draft(&["age", "cost", "admitted"], &steps, &json!({}))).unwrap();
    let ages: Vec<i64> = (0..60).map(|row| 20 + (row * 7) % 71).collect();
    let below = ages.iter().filter(|age| **age < 30).count();
    let above = ages.iter().filter(|age| **age > 80).count();
    let told = serde_json::to_value(&made.report).unwrap()["prepared"].clone();
    assert_eq!(
        told,
        json!([
            { "column": "age", "preparation": "bottom:30", "changed_rows": below },
            { "column": "age", "preparation": "top:80", "changed_rows": above },
            // −999 + 150 · row is a multiple of 1000 for no row below 60: 150 · row would end in 999.
            { "column": "cost", "preparation": "round:1000", "changed_rows": 60 },
            { "column": "admitted", "preparation": "top:2030-01-01", "changed_rows": 0 },
        ])
    );
    assert!(below > 0 && above > 0);
    let manifest = &made.release.manifest;
    let of = |name: &str| manifest.attribute(name).unwrap().prepared.clone();
    assert_eq!(of("age"), Some(vec!["bottom:30".to_owned(), "top:80".to_owned()]));
    assert_eq!(of("disease"), None);
    let domain = &manifest.attribute("age").unwrap().domain;
    assert_eq!((domain.min.clone(), domain.max.clone()), (Some(json!(30)), Some(json!(80))));
    // The manifest is read as it was written, and lists the feature.
    let written = manifest.to_json().unwrap();
    let json: Value = serde_json::from_str(&written).unwrap();
    assert_eq!(json["features"], json!(["prepared"]));
}

#[test]
fn an_audit_prepares_the_microdata_as_the_release_was() {
    let ground = Ground::new();
    let quasi = ["age", "cost", "admitted", "ward"];
    let steps =
        json!({ "age": ["top:80"], "cost": ["round:1000"], "admitted": ["date:quarter"], "ward": ["prefix:2"] });
    let made = ground.publish(&ground.draft(&quasi, &steps, &json!({}))).unwrap();
    let outcome = ground.audit(&made.release, json!({})).unwrap();
    assert!(outcome.ok(), "{:?}", findings(&outcome));
    let sentence = "Prepared before they were published: `age` (top:80); `cost` (round:1000); `admitted` (date:quarter); \
                    `ward` (prefix:2).";
    assert_eq!(outcome.told_prepared().unwrap(), sentence);
    assert_eq!(serde_json::to_value(&outcome).unwrap()["prepared"]["age"], json!(["top:80"]));
    // The same with a key and persons.
    let steps = json!({ "admitted": ["shift", "date:month"], "ward": ["prefix:2", "pseudonym"] });
    let draft = ground.draft(&["age", "admitted", "ward"], &steps, &json!({ "person": "id" }));
    let made = ground.publish(&draft).unwrap();
    assert_eq!(made.report.prepared[0].changed_rows, 59, "one date is missing");
    let keyed = json!({ "key": ground.at("chrysalis.key"), "person": "id" });
    let outcome = ground.audit(&made.release, keyed).unwrap();
    assert!(outcome.ok(), "{:?}", findings(&outcome));
    assert!(made.release.manifest.attribute("id").is_none());
    let left_out = made.report.dropped_columns.iter().find(|column| column.name == "id").unwrap();
    assert_eq!(left_out.reason, "tells persons apart");
}

#[test]
fn a_release_that_was_prepared_otherwise_is_not_faithful() {
    let ground = Ground::new();
    let steps = json!({ "age": ["top:60"], "ward": ["pseudonym"] });
    let made = ground.publish(&ground.draft(&["age", "ward"], &steps, &json!({}))).unwrap();
    let key = json!({ "key": ground.at("chrysalis.key") });
    assert!(ground.audit(&made.release, key.clone()).unwrap().ok());
    let lie = |name: &str, steps: &[&str], said: &Value| {
        let mut release = made.release.clone();
        let attribute = release.manifest.attributes.iter_mut().find(|attribute| attribute.name == name).unwrap();
        attribute.prepared = (!steps.is_empty()).then(|| steps.iter().map(|step| (*step).to_owned()).collect());
        let outcome = ground.audit(&release, said.clone()).unwrap();
        findings(&outcome).iter().map(|name| (*name).to_owned()).collect::<Vec<_>>()
    };
    assert!(lie("age", &["top:61"], &key).contains(&"faithful".to_owned()));
    assert!(lie("age", &[], &key).contains(&"faithful".to_owned()));
    assert!(lie("ward", &["prefix:3", "pseudonym"], &key).contains(&"faithful".to_owned()));
    // What the values themselves show.
    assert!(lie("age", &["top:50"], &key).contains(&"manifest".to_owned()));
    assert!(lie("ward", &["prefix:3"], &json!({})).contains(&"manifest".to_owned()));
    // The key of another.
    Key::make(&ground.at("other.key")).unwrap().unwrap();
    let other = ground.audit(&made.release, json!({ "key": ground.at("other.key") })).unwrap();
    assert!(findings(&other).contains(&"faithful"), "{:?}", findings(&other));
}

#[test]
fn a_spec_says_how_a_release_should_have_been_prepared() {
    let ground = Ground::new();
    let made = ground.publish(&ground.draft(&["age"], &json!({ "age": ["top:60"] }), &json!({}))).unwrap();
    let judged = |steps: Value| {
        let draft = ground.draft(&["age"], &steps, &json!({}));
        let asked = draft.check(draft.open().unwrap().header()).unwrap();
        let with = Evidence { asked: Some(&asked), ..Evidence::default() };
        let outcome = audit(&made.release, with, &Unwatched).unwrap();
        let roles = outcome.checks.iter().find(|check| check.name == "roles").unwrap();
        (roles.ok, roles.findings.join("; "))
    };
    assert_eq!(judged(json!({ "age": ["top:60"] })), (true, String::new()));
    let wrong = "`age` is prepared round:5 in the spec, but top:60 in the release";
    assert_eq!(judged(json!({ "age": ["round:5"] })), (false, wrong.to_owned()));
    let wrong = "`age` is prepared not at all in the spec, but top:60 in the release";
    assert_eq!(judged(json!({})), (false, wrong.to_owned()));
    // A spec with a key is of use for a release without one.
    let draft = ground.draft(&["age"], &json!({ "age": ["pseudonym"] }), &json!({ "key": "a.key", "person": "id" }));
    let suited = draft.suited_to(&[&made.release.manifest]);
    assert_eq!((suited.key, suited.person), (None, None));
}

#[test]
fn what_an_audit_needs_must_be_there_and_nothing_else() {
    let ground = Ground::new();
    let steps = json!({ "admitted": ["shift:7"] });
    let made = ground.publish(&ground.draft(&["age", "admitted"], &steps, &json!({ "person": "id" }))).unwrap();
    let refused = |release: &Release, said: Value| {
        let error = ground.audit(release, said).unwrap_err();
        (error.message, error.remedy.knobs().map(|(knob, _)| knob).next())
    };
    let key = ground.at("chrysalis.key");
    let message = "the dates of this release were moved by person, but no column says whose a row is".to_owned();
    assert_eq!(refused(&made.release, json!({ "key": key })), (message, Some(Knob::Person)));
    let message =
        "the microdata of this release can be prepared with the owner's key alone, and none is named".to_owned();
    assert_eq!(refused(&made.release, json!({ "person": "id" })), (message, Some(Knob::Key)));
    let gone = ground.at("gone.key");
    let message = format!("there is no key {}", gone.display());
    assert_eq!(refused(&made.release, json!({ "person": "id", "key": gone })), (message, Some(Knob::Key)));
    assert!(!gone.exists(), "an audit makes no key");
    let plain = ground.publish(&ground.draft(&["age"], &json!({}), &json!({}))).unwrap().release;
    let message = "`key` has no effect: no column of this release was prepared with a key".to_owned();
    assert_eq!(refused(&plain, json!({ "key": key })), (message, Some(Knob::Key)));
    let message = "`person` has no effect: this release counts rows, and no date of it was moved".to_owned();
    assert_eq!(refused(&plain, json!({ "person": "id" })), (message, Some(Knob::Person)));
    // Programs that read the microdata themselves get the same answers.
    let plan = MicrodataPlan::new(&[&made.release.manifest], Some("id")).unwrap();
    assert!(plan.is_keyed() && plan.requests().contains(&ColumnRequest::of_kind("id", Kind::Category)));
}

#[test]
fn releases_that_prepared_a_column_differently_are_not_compared() {
    let ground = Ground::new();
    let of = |steps: Value| ground.publish(&ground.draft(&["age"], &steps, &json!({}))).unwrap().release;
    let (one, other) = (of(json!({ "age": ["top:60"] })), of(json!({})));
    let others = [("other", &other)];
    let error = audit(&one, Evidence { others: &others, ..Evidence::default() }, &Unwatched).unwrap_err();
    let message = "the releases prepared `age` differently (top:60 and not at all), so they cannot be compared";
    assert_eq!(error.message, message);
    let alike = of(json!({ "age": ["top:60"] }));
    let others = [("alike", &alike)];
    assert!(audit(&one, Evidence { others: &others, ..Evidence::default() }, &Unwatched).is_ok());
}

#[test]
fn one_value_has_one_pseudonym_whatever_its_column_is_called() {
    let one = Ground::with("mrn,disease\n007,flu\n12,cold\n007,flu\n,gout\n");
    let two = Ground::with("patient,disease\n12,flu\n007,cold\nx,gout\n");
    let of = |ground: &Ground, column: &str, key: &Path| {
        let steps = json!({ column: ["pseudonym"] });
        texts(&prepared(&ground.draft(&[column], &steps, &json!({ "key": key })), &[column]).unwrap().columns()[0])
    };
    let (key, other) = (one.at("a.key"), one.at("b.key"));
    let (first, second) = (of(&one, "mrn", &key), of(&two, "patient", &key));
    assert_eq!((&first[0], &first[1]), (&second[1], &second[0]), "digits are texts: 12 is 12 beside 007 and beside x");
    assert_eq!((&first[0], first[3].as_str()), (&first[2], ""));
    assert!(first.iter().filter(|text| !text.is_empty()).all(|text| text.len() == 26));
    let others = of(&one, "mrn", &other);
    assert!(first.iter().zip(&others).take(3).all(|(a, b)| a != b), "another key, other pseudonyms");
}

#[test]
fn numbers_and_words_become_what_is_said_of_them() {
    let ground = Ground::new();
    let kinds = |more: Value, steps: Value, column: &str| {
        let mut draft = ground.draft(&[column], &steps, &json!({}));
        let said = serde_json::from_value::<chrysalis::AttributeDraft>(more).unwrap();
        let known = draft.attributes.get_mut(column).unwrap();
        (known.kind, known.order) = (said.kind, said.order);
        let made = ground.publish(&draft).unwrap();
        let outcome = ground.audit(&made.release, json!({})).unwrap();
        assert!(outcome.ok(), "{:?}", findings(&outcome));
        let attribute = made.release.manifest.attribute(column).unwrap();
        (Kind::from(attribute.kind), attribute.domain.order())
    };
    assert_eq!(kinds(json!({}), json!({ "age": ["top:60"] }), "age").0, Kind::Integer);
    assert_eq!(kinds(json!({ "kind": "real" }), json!({ "age": ["top:60.5"] }), "age").0, Kind::Real);
    assert_eq!(kinds(json!({}), json!({ "admitted": ["date:year"] }), "admitted").0, Kind::Date);
    // Orders and kinds are about what comes out.
    assert_eq!(kinds(json!({ "kind": "category" }), json!({ "age": ["round:50"] }), "age").0, Kind::Category);
    let order = json!(["50", "0", "100"]);
    let words: Vec<String> = ["50", "0", "100"].map(str::to_owned).to_vec();
    assert_eq!(kinds(json!({ "order": order }), json!({ "age": ["round:50"] }), "age").0, Kind::Ordinal);
    assert_eq!(kinds(json!({ "order": order }), json!({ "age": ["round:50"] }), "age").1, words);
    let order = json!({ "order": ["03", "01", "00", "02"] });
    assert_eq!(
        kinds(order, json!({ "ward": ["prefix:2"] }), "ward"),
        (Kind::Ordinal, ["03", "01", "00", "02"].map(str::to_owned).to_vec())
    );
}

/// What is refused before a row is read, or because of what the rows have.
#[test]
fn what_cannot_be_prepared_says_what_to_do() {
    let ground = Ground::new();
    let refused = |quasi: &[&str], steps: Value, more: Value, message: &str, knob: Option<Knob>| {
        let Err(error) = ground.publish(&ground.draft(quasi, &steps, &more)) else { panic!("accepted: {message}") };
        assert!(error.message.contains(message), "{}", error.message);
        assert!(!error.remedy.is_empty(), "{message}");
        if let Some(knob) = knob {
            assert!(error.remedy.knobs().any(|(named, _)| named == knob), "{message}: {}", error.remedy);
        }
    };
    let none = || json!({});
    let age = |steps: Value| json!({ "age": steps });
    refused(
        &["age"],
        age(json!(["median"])),
        none(),
        &format!(
            "column `age`: `median` is not a preparation: expected {}",
            "round:N, top:N, bottom:N, date:year, date:quarter, date:month, date:week, prefix:N, pseudonym, shift or shift:7"
        ),
        Some(Knob::Prepare),
    );
    refused(
        &["age"],
        age(json!(["round:5", "prefix:2"])),
        none(),
        "column `age`: `round:5` is for numbers and `prefix:2` for words: they do not go together",
        Some(Knob::Prepare),
    );
    refused(
        &["age"],
        age(json!(["top:60.5"])),
        none(),
        "`top:60.5` is no whole number, but column `age` has whole numbers only",
        Some(Knob::Kind),
    );
    refused(
        &["age"],
        age(json!(["date:year"])),
        none(),
        "`date:year` is for dates, but column `age` is integer",
        Some(Knob::DateFormat),
    );
    refused(
        &["ward"],
        json!({ "ward": ["round:5"] }),
        none(),
        "`round:5` is for numbers, but column `ward` is category",
        Some(Knob::Kind),
    );
    refused(
        &["age"],
        json!({ "ward": ["prefix:2"] }),
        none(),
        "column `ward` has a preparation but no role",
        Some(Knob::Quasi),
    );
    refused(&["age"], json!({ "wrad": ["prefix:2"] }), none(), "there is no column `wrad`", None);
    refused(
        &["admitted"],
        json!({ "admitted": ["shift"] }),
        none(),
        "`shift` moves the dates of `admitted` by person, but no column says whose a row is",
        Some(Knob::Person),
    );
    refused(
        &["admitted"],
        json!({ "admitted": ["shift"] }),
        json!({ "person": "idd" }),
        "there is no column `idd`",
        None,
    );
    refused(
        &["age"],
        age(json!(["top:60"])),
        json!({ "key": "chrysalis.key" }),
        "`key` has no effect: no column is prepared with it",
        Some(Knob::Key),
    );
    // Roles and kinds.
    let mut draft = ground.draft(&["age"], &json!({ "id": ["pseudonym"] }), &none());
    draft.attributes.get_mut("id").unwrap().role = Some("identifier".to_owned().try_into().unwrap());
    let message = "`prepare` has no effect on column `id`, which is identifier";
    assert_eq!(ground.publish(&draft).unwrap_err().message, message);
    let mut draft = ground.draft(&["age"], &age(json!(["prefix:1"])), &none());
    draft.attributes.get_mut("age").unwrap().kind = Some("integer".to_owned().try_into().unwrap());
    let message = "`prefix:1` is for words, but column `age` is said to be integer";
    assert_eq!(ground.publish(&draft).unwrap_err().message, message);
    // Groups are taken as they are.
    let mut draft = ground.draft(&["age"], &json!({ "ward": ["prefix:2"] }), &none());
    draft.release.partitioner = Some("column".to_owned());
    draft.release.group_column = Some("ward".to_owned());
    let message = "`prepare` has no effect on column `ward`, which only holds groups";
    assert_eq!(ground.publish(&draft).unwrap_err().message, message);
}

#[test]
fn dates_that_belong_together_are_moved_together() {
    let text = "id,born,died,age,disease\n1,1950-01-01,2020-02-29,1,flu\n1,1950-01-01,2021-01-01,2,cold\n2,1960-06-06,,3,gout\n,1970-01-01,2020-01-01,4,flu\n";
    let ground = Ground::with(text);
    let steps = |born: &str, died: &str| json!({ "born": [born], "died": [died] });
    let draft = |born: &str, died: &str, more: Value| ground.draft(&["born", "died"], &steps(born, died), &more);
    let error = ground.publish(&draft("shift", "shift:7", json!({ "person": "id" }))).unwrap_err();
    let message = "`born` is moved by `shift` and `died` by `shift:7`, so the time between them is lost";
    assert_eq!(error.message, message);
    let error = ground.publish(&draft("shift", "shift", json!({ "person": "id" }))).unwrap_err();
    assert_eq!(error.message, "1 row without a person in `id`: dates are moved by person");
    assert_eq!(error.remedy.knobs().next(), Some((Knob::Missing, "drop")));
    let moved = prepared(&draft("shift:7", "shift:7", json!({ "person": "id", "missing": "drop" })), &["born", "died"])
        .unwrap();
    assert_eq!(moved.columns().len(), 2, "the person is gone");
    let day = |column: usize, row: usize| {
        let column = &moved.columns()[column];
        column.domain().value(column.code(row)).and_then(|value| value.number()).unwrap()
    };
    // 1950-01-01 is day −7305, 2020-02-29 day 18321, 2021-01-01 day 18628.
    assert_eq!((day(1, 0) - day(0, 0), day(1, 1) - day(0, 1)), (25_626.0, 25_933.0));
    assert_eq!(day(0, 0), day(0, 1));
    let by = day(0, 0) + 7305.0;
    assert!(by != 0.0 && by.abs() <= 183.0 && by % 7.0 == 0.0, "{by}");
}

#[test]
fn a_date_that_many_have_is_pointed_out() {
    let mut text = "id,left,age,disease\n".to_owned();
    for row in 0..60 {
        let left = if row % 5 == 0 {
            "9998-12-31".to_owned()
        } else {
            format!("2020-{:02}-{:02}", 1 + row % 12, 1 + row % 28)
        };
        text.push_str(&format!("{row},{left},{row},{}\n", ["flu", "cold", "gout"][row % 3]));
    }
    let ground = Ground::with(&text);
    let draft = ground.draft(&["age", "left"], &json!({ "left": ["shift"] }), &json!({ "person": "id" }));
    let notes = Notes::default();
    publish_watched(&draft, &notes).unwrap();
    let notes = notes.0.into_inner().unwrap();
    let expected = "12 of 60 rows have the date 9998-12-31 in `left`: if it can be guessed, it tells by how much all dates \
                    of these people were moved. If it stands for something else, read it as missing";
    assert!(notes.iter().any(|note| note == expected), "{notes:?}");
    assert!(notes.iter().any(|note| note.starts_with("made the key ")), "{notes:?}");
    // Known to be missing, nothing is said.
    let notes = Notes::default();
    publish_watched(&Draft { na: Some(vec!["9998-12-31".to_owned()]), ..draft }, &notes).unwrap();
    assert!(notes.0.into_inner().unwrap().iter().all(|note| !note.contains("moved") && !note.contains("key")));
}

#[test]
fn a_key_is_made_beside_the_table_and_kept() {
    let ground = Ground::new();
    let draft = ground.draft(&["ward"], &json!({ "ward": ["pseudonym"] }), &json!({}));
    assert_eq!(draft.key_file(), ground.at("chrysalis.key"));
    ground.publish(&draft).unwrap();
    let key = fs::read(ground.at("chrysalis.key")).unwrap();
    assert_eq!(fs::metadata(ground.at("chrysalis.key")).unwrap().permissions().mode() & 0o777, 0o600);
    ground.publish(&draft).unwrap();
    assert_eq!(fs::read(ground.at("chrysalis.key")).unwrap(), key, "never replaced");
    // One that others may read is none.
    fs::set_permissions(ground.at("chrysalis.key"), Permissions::from_mode(0o644)).unwrap();
    let error = ground.publish(&draft).unwrap_err();
    assert!(
        error.message.ends_with("is not used as a key: others than its owner may read or change it"),
        "{}",
        error.message
    );
    // A key within a release would be published.
    let recipe = || draft.check(draft.open().unwrap().header()).unwrap();
    let error = draft.provide_key(&mut recipe(), Some(ground.0.path()), &Unwatched).unwrap_err();
    assert!(error.message.ends_with("would be part of the release"), "{}", error.message);
    // Standard input has no folder.
    assert_eq!(Draft { input: Some("-".into()), ..Draft::default() }.key_file(), PathBuf::from("chrysalis.key"));
    // A release that needs a key is not made without one.
    fs::set_permissions(ground.at("chrysalis.key"), Permissions::from_mode(0o600)).unwrap();
    let recipe = recipe();
    let table = files::read(draft.open().unwrap(), recipe.requests(), "read", &Unwatched).unwrap();
    assert_eq!(publish(table, &recipe, Seed::Fixed(1), &Unwatched).unwrap_err().message, "the key was not read");
}

/// Paths in a spec are relative to the spec.
#[test]
fn a_spec_names_its_key() {
    let ground = Ground::new();
    fs::create_dir(ground.at("specs")).unwrap();
    let spec = "input = '../patients.csv'\nkey = 'mine.key'\nquasi = ['ward']\nsensitive = 'disease'\n\
                [attributes.ward]\nprepare = ['prefix:2', 'pseudonym']\n[release]\nmethod = 'anatomy'\nrequire = ['l=2']\n";
    fs::write(ground.at("specs/chrysalis.toml"), spec).unwrap();
    let draft = files::draft(ground.at("specs/chrysalis.toml").to_str().unwrap()).unwrap();
    ground.publish(&draft).unwrap();
    assert!(ground.at("specs/mine.key").exists() && !ground.at("chrysalis.key").exists());
}

#[test]
fn profiles_comparisons_and_measures_see_prepared_values() {
    let ground = Ground::new();
    let steps = json!({ "age": ["round:50"], "ward": ["pseudonym"] });
    let draft = ground.draft(&["age", "ward"], &steps, &json!({}));
    let table = prepared(&draft, &["id", "age", "cost", "admitted", "ward", "disease"]).unwrap();
    let found = profile(table.clone(), &draft, &Unwatched).unwrap();
    assert_eq!(found.columns.iter().find(|column| column.name == "age").unwrap().distinct, 3, "0, 50 and 100");
    // A comparison prepares what it is given, once.
    let mut recipe = draft.check(draft.open().unwrap().header()).unwrap();
    draft.provide_key(&mut recipe, None, &Unwatched).unwrap();
    let raw = files::read(draft.open().unwrap(), recipe.requests(), "read", &Unwatched).unwrap();
    let recipes = [("one".to_owned(), &recipe)];
    let found = compare(&raw, &recipes, &chrysalis::QuestionPlan::default(), Seed::Fixed(1), &Unwatched).unwrap();
    assert!(found.trials[0].sound().is_some(), "{:?}", found.trials[0].found.as_ref().map(|numbers| &numbers.findings));
    // Measures need the same values.
    let made = ground.publish(&draft).unwrap();
    let said = Draft { input: draft.input.clone(), key: Some(ground.at("chrysalis.key")), ..Draft::default() };
    let microdata = files::read_microdata(said.open().unwrap(), &[&made.release.manifest], &said, &Unwatched).unwrap();
    let report = evaluate(
        &made.release,
        &microdata,
        &chrysalis::Measures { queries: 0, ..chrysalis::Measures::default() },
        &Unwatched,
    )
    .unwrap();
    assert!(report.found.divergences[0].kl.is_finite());
    // A spec that is written again keeps what was said.
    let door = chrysalis::AtDoor { publish: "p", sentence: "s", manual: "m" };
    let keyed = Draft { key: Some("mine.key".into()), ..draft };
    let spec = commented_spec("patients.csv", &table, &keyed, &door).unwrap();
    assert!(spec.contains("prepare = [\"round:50\"]"), "{spec}");
    let again: Draft = toml::from_str(&spec).unwrap();
    assert!(again.check(&["id", "age", "cost", "admitted", "ward", "disease"].map(str::to_owned)).is_ok(), "{spec}");
}

#[test]
fn a_manifest_with_odd_preparations_is_refused() {
    let ground = Ground::new();
    let made = ground.publish(&ground.draft(&["age"], &json!({ "age": ["top:60"] }), &json!({}))).unwrap();
    let out = ground.at("release");
    let manifest = files::write(&made.release, &out, chrysalis::store::Format::Csv, false, &Unwatched).unwrap();
    let parse = |steps: Value| {
        let mut json: Value = serde_json::from_str(&manifest.to_json().unwrap()).unwrap();
        json["attributes"][0]["prepared"] = steps;
        chrysalis::Manifest::parse(json.to_string().as_bytes()).map_err(|error| error.to_string())
    };
    assert!(parse(json!(["top:60"])).is_ok());
    let refused =
        |steps: Value, message: &str| assert_eq!(parse(steps).unwrap_err(), format!("the manifest says {message}"));
    refused(json!(["top:060"]), "`age` was prepared by `top:060`, which is written `top:60`");
    refused(json!([]), "`age` was prepared, but no preparation is listed");
    refused(
        json!(["top:60", "date:year"]),
        "`age` was prepared, but `top:60` is for numbers and `date:year` for dates: they do not go together",
    );
    refused(json!(["date:year"]), "`age` was prepared by `date:year`, which is for dates, but it is integer");
    refused(json!(["pseudonym"]), "`age` was prepared by `pseudonym`, which is for words, but it is integer");
    assert!(
        parse(json!(["blur"]))
            .unwrap_err()
            .starts_with("the manifest says `age` was prepared, but `blur` is not a preparation")
    );
    // Older readers must be able to refuse it.
    let mut json: Value = serde_json::from_str(&manifest.to_json().unwrap()).unwrap();
    json["features"] = json!([]);
    let error = chrysalis::Manifest::parse(json.to_string().as_bytes()).unwrap_err().to_string();
    assert_eq!(error, "the manifest says it needs the feature `prepared`, which it does not list");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Two files about some of the same people: every person is moved by the same number of days in both, and nobody's
    /// intervals change.
    #[test]
    fn persons_move_alike_in_all_files(
        one in prop::collection::vec((0u32..8, 0i32..20_000), 1..30),
        two in prop::collection::vec((0u32..8, 0i32..20_000), 1..30),
        step in prop::sample::select(vec!["shift", "shift:7"]),
    ) {
        let key = tempfile::tempdir().unwrap();
        let mut by_person = std::collections::BTreeMap::new();
        for (rows, names) in [(&one, ["who", "day"]), (&two, ["patient", "admitted"])] {
            let [who, day] = names;
            let line = |(person, days): &(u32, i32)| format!("p{person},{},flu\n", chrysalis::table::Date(*days));
            let csv = format!("{who},{day},disease\n") + &rows.iter().map(line).collect::<String>();
            let ground = Ground::with(&csv);
            let more = json!({ "person": who, "key": key.path().join("k") });
            let moved = prepared(&ground.draft(&[day], &json!({ day: [step] }), &more), &[day]).unwrap();
            let column = &moved.columns()[0];
            for (row, (person, days)) in rows.iter().enumerate() {
                let found = column.domain().value(column.code(row)).and_then(|value| value.number()).unwrap() as i32;
                prop_assert_eq!(*by_person.entry(*person).or_insert(found - days), found - days);
            }
        }
        prop_assert!(by_person.values().all(|days| *days != 0 && days.abs() <= 183));
        prop_assert!(step == "shift" || by_person.values().all(|days| days % 7 == 0));
    }
}
