//! Publish, audit, ask and compare through the library alone, from record batches to record batches.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, RecordBatchReader, StringArray};
use chrysalis::table::ColumnRequest;
use chrysalis::{Analyst, Draft, Evidence, Form, Knob, QuestionPlan, Recipe, Seed, Table, Unwatched};
use serde_json::{Value, json};

const ROWS: i64 = 600;

/// Two batches, as Python or Spark would hand them over.
fn batches() -> Vec<RecordBatch> {
    let batch = |rows: std::ops::Range<i64>| {
        let age: ArrayRef = Arc::new(Int64Array::from_iter_values(rows.clone().map(|row| 20 + row * 7 % 60)));
        let sex: ArrayRef =
            Arc::new(StringArray::from_iter_values(rows.clone().map(|row| ["F", "M"][(row % 2) as usize])));
        let wage: ArrayRef = Arc::new(Float64Array::from_iter_values(rows.map(|row| 1000.0 + (row * 37 % 400) as f64)));
        RecordBatch::try_from_iter([("age", age), ("sex", sex), ("wage", wage)]).unwrap()
    };
    vec![batch(0..ROWS / 3), batch(ROWS / 3..ROWS)]
}

fn table(wanted: &[ColumnRequest]) -> Table {
    let batches = batches();
    chrysalis::files::read_batches(&batches[0].schema(), batches.into_iter().map(Ok), wanted, &Unwatched).unwrap()
}

fn recipe(release: Value) -> Recipe {
    let header = chrysalis::arrow::header(&batches()[0].schema()).unwrap();
    draft(release).check(&header).unwrap()
}

fn draft(release: Value) -> Draft {
    serde_json::from_value(json!({ "quasi": ["age", "sex"], "sensitive": "wage", "release": release })).unwrap()
}

#[test]
fn every_form_is_published_audited_and_asked_from_record_batches() {
    for form in Form::ALL.iter().filter(|form| !form.shape().has_users) {
        let recipe = recipe(json!({ "method": form.name(), "require": ["distinct-l=4", "ke=2,4"] }));
        let microdata = table(recipe.requests());
        let made = chrysalis::publish(microdata.clone(), &recipe, Seed::Secret, &Unwatched).unwrap();

        let with = Evidence { microdata: Some(&microdata), ..Evidence::default() };
        let audit = chrysalis::audit(&made.release, with, &Unwatched).unwrap();
        assert!(audit.ok(), "{form}: {audit:?}");

        // The release turns into record batches again, with as many rows as it declares.
        for (entry, table) in made.release.manifest.tables.iter().zip(&made.release.tables) {
            let batches = chrysalis::arrow::batches(table);
            assert_eq!(batches.schema().fields().len(), entry.columns.len());
            assert_eq!(batches.map(|batch| batch.unwrap().num_rows() as u64).sum::<u64>(), entry.rows);
        }

        if !made.release.manifest.promises.is_empty() {
            let analyst = Analyst::open(made.release).unwrap();
            let answer =
                analyst.ask("SELECT COUNT(*), SUM(wage) FROM microdata WHERE age >= 40 AND sex = 'F'").unwrap();
            let truth = (0..ROWS).filter(|row| 20 + row * 7 % 60 >= 40 && row % 2 == 0);
            let wages: f64 = truth.clone().map(|row| 1000.0 + (row * 37 % 400) as f64).sum();
            let told = &answer.answer.rows[0].aggregates;
            for (told, truth) in told.iter().zip([truth.count() as f64, wages]) {
                assert!(told.lower <= Some(truth) && Some(truth) <= told.upper, "{form}: {told:?} {truth}");
            }
        }
    }
}

#[test]
fn recipes_are_compared() {
    let recipes = [recipe(json!({ "require": ["k=5"] })), recipe(json!({ "require": ["k=50"] }))];
    let named: Vec<(String, &Recipe)> =
        [("five", &recipes[0]), ("fifty", &recipes[1])].map(|(n, r)| (n.into(), r)).into();
    let asking = QuestionPlan { queries: Some(100), ..QuestionPlan::default() };
    let compared =
        chrysalis::compare(&table(recipes[0].requests()), &named, &asking, Seed::Secret, &Unwatched).unwrap();
    let [five, fifty] = [0, 1].map(|at: usize| compared.trials[at].sound().unwrap());
    assert!(five.ncp < fifty.ncp && five.groups > fifty.groups, "{five:?} {fifty:?}");
    assert!(!five.questions.is_empty());
}

/// A remedy names a knob as a value, and a door spells it.
#[test]
fn mistakes_name_a_knob() {
    let header = chrysalis::arrow::header(&batches()[0].schema()).unwrap();
    let error = draft(json!({ "require": ["k=5"], "marginals": [["age"]] })).check(&header).unwrap_err();
    assert!(error.message.contains("marginal"), "{error:?}");
    assert!(!error.remedy.spelled(&Dashes).is_empty());
}

struct Dashes;

impl chrysalis::Spelling for Dashes {
    fn knob(&self, knob: Knob, value: &str) -> String {
        format!("<{} {value}>", knob.name())
    }

    fn manual(&self) -> String {
        "<the manual>".to_owned()
    }
}
