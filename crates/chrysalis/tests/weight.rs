//! Survey weights at the hall: named once, kept exactly, judged like every column that is kept, and added up by
//! questions.

#![allow(clippy::unwrap_used, reason = "tests")]

use chrysalis::table::{Column, Table};
use chrysalis::{
    Analyst, Draft, Error, Evidence, Manifest, Measures, Published, Seed, Unwatched, audit, evaluate, publish,
};
use serde_json::{Value, json};

const ROWS: i64 = 240;

fn table() -> Table {
    let each = |of: fn(i64) -> i64| (0..ROWS).map(of).collect::<Vec<i64>>();
    let diseases = ["flu", "cold", "ulcer", "asthma"];
    Table::new(vec![
        Column::integers("age", &each(|row| 20 + row * 7 % 60)),
        Column::texts("sex", (0..ROWS).map(|row| if row % 3 == 0 { "F" } else { "M" })),
        Column::integers("pwgtp", &each(|row| 10 * (1 + row % 2))),
        Column::reals("half", &each(|row| row % 5).iter().map(|n| *n as f64 / 2.0).collect::<Vec<f64>>()),
        Column::integers("debt", &each(|row| row % 4 - 1)),
        Column::integers("serial", &each(|row| row)),
        Column::texts("disease", (0..ROWS).map(|row| diseases[(row % 7 % 4) as usize])),
    ])
}

fn value(column: &Column, row: usize) -> chrysalis::table::Value {
    column.domain().value(column.code(row)).unwrap().clone()
}

fn header() -> Vec<String> {
    table().columns().iter().map(|column| column.name().to_owned()).collect()
}

fn draft(weight: &str, release: Value) -> Draft {
    let mut whole = json!({"quasi": ["age", "sex"], "sensitive": "disease", "weight": weight, "release": release});
    whole["release"]["require"] = json!(["k=4", "l=2"]);
    serde_json::from_value(whole).unwrap()
}

fn published(weight: &str, release: Value) -> Result<Published, Error> {
    publish(table(), &draft(weight, release).check(&header())?, Seed::Fixed(1), &Unwatched)
}

#[test]
fn a_weight_is_kept_exactly_marked_audited_and_asked_in_every_form_that_keeps_columns() {
    let table = table();
    for method in ["generalize", "anatomy", "angel"] {
        for weight in ["pwgtp", "half"] {
            let accepted = json!({"method": method, "accept": ["disclosure"]});
            let made = published(weight, accepted).unwrap();
            // The manifest survives being written and read, and says what it needs.
            let text = made.release.manifest.to_json().unwrap();
            assert!(text.contains("\"weight\": true"), "{text}");
            let manifest = &made.release.manifest;
            assert_eq!(manifest.weight().map(|it| it.name.as_str()), Some(weight), "{method}");
            // Nothing of it changed.
            let people = made.release.tables.iter().find(|it| it.column(weight).is_some()).unwrap();
            let kept = |table: &Table| {
                let column = table.column(weight).unwrap();
                let mut numbers: Vec<f64> = (0..table.rows()).map(|row| value(column, row).number().unwrap()).collect();
                numbers.sort_by(f64::total_cmp);
                numbers
            };
            assert_eq!(kept(people), kept(&table), "{method}");
            let with = Evidence { microdata: Some(&table), ..Evidence::default() };
            let report = audit(&made.release, with, &Unwatched).unwrap();
            assert_eq!(report.kept, [weight], "{method}");
            let measures = Measures { queries: 60, ..Measures::default() };
            let worth = evaluate(&made.release, &table, &measures, &Unwatched).unwrap().accuracy.unwrap();
            let weighed = worth.aggregates.last().unwrap();
            assert_eq!(weighed.name, format!("sum({weight})"), "{method}");
            assert!(weighed.judged > 0 && weighed.inside == weighed.judged, "{method} {weighed:?}");
            let analyst = Analyst::open(made.release).unwrap();
            let answer = analyst.ask(&format!("SELECT SUM({weight}) FROM microdata WHERE disease = 'flu'")).unwrap();
            let sum = &answer.answer.rows[0].aggregates[0];
            let column = |name: &str| table.column(name).unwrap();
            let is_flu = |row: &usize| value(column("disease"), *row).to_string() == "flu";
            let weight_of = |row: usize| value(column(weight), row).number().unwrap();
            let truth: f64 = (0..table.rows()).filter(is_flu).map(weight_of).sum();
            assert!(sum.lower.unwrap() <= truth && truth <= sum.upper.unwrap(), "{method} {sum:?} {truth}");
        }
    }
}

#[track_caller]
fn refused(found: Result<Published, Error>, message: &str) {
    let Err(error) = found else { panic!("accepted, expected: {message}") };
    assert!(error.message.contains(message), "{}", error.message);
    assert!(!error.remedy.is_empty(), "{}", error.message);
}

#[test]
fn what_is_no_weight_is_refused() {
    refused(published("sex", json!({})), "named twice, as weight and as quasi");
    refused(published("disease", json!({})), "named twice, as weight and as sensitive");
    refused(published("debt", json!({})), "has negative values, the least of which is -1");
    refused(published("serial", json!({})), "looks as if it identifies people");
    refused(published("nobody", json!({})), "nobody");
    refused(published("pwgtp", json!({"method": "permute"})), "the weight `pwgtp` would belong to nobody");
    let mut words = draft("sex", json!({}));
    words.quasi = Some(chrysalis::QuasiDraft::One(vec!["age".to_owned()]));
    let recipe = words.check(&header()).unwrap();
    refused(publish(table(), &recipe, Seed::Fixed(1), &Unwatched), "must hold numbers, but it is of kind category");
    let mut twice = draft("pwgtp", json!({}));
    twice.other = Some(vec!["pwgtp".to_owned()]);
    assert!(twice.check(&header()).unwrap_err().message.contains("named twice, as weight and as other"));
    // A risk that is accepted by name is the owner's.
    assert!(published("serial", json!({"accept": ["identifying=serial", "disclosure"]})).is_ok());
}

#[test]
fn a_weight_that_some_rows_lack_is_refused_unless_they_are_dropped() {
    let mut columns = table().columns().to_vec();
    let text: String =
        (0..ROWS).map(|row| if row == 3 { "\n".to_owned() } else { format!("{}\n", 1 + row % 3) }).collect();
    let text = format!("weight,pad\n{}", text.replace('\n', ",x\n"));
    let options = chrysalis::table::CsvOptions { delimiter: Some(b','), ..Default::default() };
    let wanted = [chrysalis::table::ColumnRequest::named("weight")];
    let read = chrysalis::table::CsvReader::open(text.as_bytes(), &options).unwrap().read(&wanted).unwrap();
    columns.push(read.columns()[0].clone());
    let table = Table::new(columns);
    let names: Vec<String> = table.columns().iter().map(|column| column.name().to_owned()).collect();
    let mut draft = draft("weight", json!({"accept": ["disclosure"]}));
    let publish = |draft: &Draft| publish(table.clone(), &draft.check(&names).unwrap(), Seed::Fixed(1), &Unwatched);
    refused(publish(&draft), "the weight `weight` is missing in 1 of 240 rows");
    draft.missing = Some("drop".to_owned());
    assert_eq!(publish(&draft).unwrap().release.manifest.rows, 239);
}

/// A reader must not take a forged weight for one.
#[test]
fn a_manifest_with_a_weight_that_is_none_is_refused() {
    let made = published("pwgtp", json!({"method": "anatomy"})).unwrap();
    let text = made.release.manifest.to_json().unwrap();
    let manifest: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(manifest["features"], json!(["weight"]));
    let problem = |change: &dyn Fn(&mut Value)| {
        let mut changed = manifest.clone();
        changed["tables"].as_array_mut().unwrap().clear();
        change(&mut changed);
        Manifest::parse(changed.to_string().as_bytes()).map(|_| String::new()).unwrap_or_else(|error| error.to_string())
    };
    let at = manifest["attributes"].as_array().unwrap().iter().position(|it| it["name"] == "pwgtp").unwrap();
    assert_eq!(problem(&|_| {}), "");
    assert!(problem(&|it| it["features"] = json!([])).contains("needs the feature `weight`"));
    assert!(problem(&|it| it["attributes"][at]["domain"]["min"] = json!(-1)).contains("does not begin at 0"));
    assert!(problem(&|it| it["attributes"][at]["domain"]["missing"] = json!(true)).contains("some rows lack it"));
    assert!(problem(&|it| it["attributes"][0]["weight"] = json!(true)).contains("more than one weight"));
}

#[test]
fn an_audit_with_the_microdata_notices_weights_of_other_people() {
    let made = published("pwgtp", json!({"method": "anatomy", "accept": ["disclosure"]})).unwrap();
    let table = table();
    let is_faithful = |release: &chrysalis::Release| {
        let with = Evidence { microdata: Some(&table), ..Evidence::default() };
        audit(release, with, &Unwatched).unwrap().ok()
    };
    assert!(is_faithful(&made.release));
    let mut forged = made.release.clone();
    let at = forged.tables.iter().position(|it| it.column("pwgtp").is_some()).unwrap();
    let n = forged.tables[at].rows() as u32;
    // The weights of the row before, so that the same weights occur as often as before.
    let moved: Vec<u32> = (0..n).map(|row| (row + n - 1) % n).collect();
    let columns = forged.tables[at].columns().iter();
    let columns = columns.map(|it| if it.name() == "pwgtp" { it.gather(&moved) } else { it.clone() }).collect();
    forged.tables[at] = Table::new(columns);
    assert!(!is_faithful(&forged));
}
