//! Rows at the hall: drawn from releases of every form and with everything that a release may have beside its groups;
//! every promise holds in them, as the publisher and the audit judge it.

#![allow(clippy::unwrap_used, reason = "tests")]

#[path = "../../chrysalis-sample/tests/common/mod.rs"]
mod judge;

use chrysalis::table::{Column, Date, Domain, Kind, Table, Value as Cell};
use chrysalis::{
    Draft, Error, EstimateMode, Evidence, Measures, Release, Sampling, Seed, Unwatched, audit, evaluate, publish,
    sample,
};
use judge::check_world;
use serde_json::{Value, json};

const ROWS: i64 = 300;

/// People whose disease depends on their age, and whose cost depends on their disease.
fn people() -> Table {
    let mixed = |row: i64, times: i64, of: i64| (((row * times + 7) * 2_654_435) >> 5).rem_euclid(of);
    let each = |of: &dyn Fn(i64) -> i64| (0..ROWS).map(of).collect::<Vec<i64>>();
    let ages = each(&|row| 20 + mixed(row, 31, 60));
    let kinds: Vec<i64> = ages.iter().zip(0..).map(|(age, row)| (age / 15 + mixed(row, 17, 3)) % 6).collect();
    let diseases = ["flu", "cold", "ulcer", "asthma", "gout", "angina"];
    let costs: Vec<i64> = kinds.iter().zip(0..).map(|(kind, row)| kind * 900 + mixed(row, 13, 40) * 10).collect();
    let days: Vec<i64> = each(&|row| 18_000 + mixed(row, 53, 900));
    let domain = |days: &[i64]| {
        let mut sorted: Vec<i32> = days.iter().map(|day| *day as i32).collect();
        sorted.sort_unstable();
        sorted.dedup();
        sorted
    };
    let born = domain(&days);
    let codes = days.iter().map(|day| born.binary_search(&(*day as i32)).unwrap() as u32);
    let codes = chrysalis::table::Codes::collect(born.len(), codes);
    let born = Domain::new(Kind::Date, born.iter().map(|&day| Cell::Date(Date(day))).collect(), false);
    Table::new(vec![
        Column::texts(
            "id",
            each(&|row| row / 2).iter().map(|id| format!("p{id:03}")).collect::<Vec<_>>().iter().map(String::as_str),
        ),
        Column::integers("age", &ages),
        Column::texts(
            "sex",
            ages.iter().map(|age| {
                if age % 7 == 3 {
                    ""
                } else if age % 2 == 0 {
                    "F"
                } else {
                    "M"
                }
            }),
        ),
        Column::new("born", born.into(), codes),
        Column::reals(
            "height",
            &each(&|row| mixed(row, 71, 40)).iter().map(|h| (150 + *h) as f64 / 100.0).collect::<Vec<_>>(),
        ),
        Column::integers("wgt", &each(&|row| 10 + row % 3)),
        Column::texts("disease", kinds.iter().map(|kind| diseases[*kind as usize])),
        Column::integers("cost", &costs),
    ])
}

fn draft(method: &str, more: Value) -> Draft {
    let mut whole = json!({
        "quasi": ["age", "sex", "born", "height"], "sensitive": "disease",
        "release": {"method": method, "require": ["k=4", "l=2"], "accept": ["disclosure"]},
    });
    for (key, value) in more.as_object().unwrap() {
        match (key.as_str(), value) {
            ("release", Value::Object(inner)) => {
                inner.iter().for_each(|(key, value)| whole["release"][key] = value.clone());
            }
            _ => whole[key] = value.clone(),
        }
    }
    serde_json::from_value(whole).unwrap()
}

fn published(table: &Table, draft: &Draft) -> Result<Release, Error> {
    let header: Vec<String> = table.columns().iter().map(|column| column.name().to_owned()).collect();
    let recipe = draft.check(&header)?;
    let columns = recipe.requests().iter().map(|request| table.column(&request.name).unwrap().clone()).collect();
    publish(Table::new(columns), &recipe, Seed::Fixed(3), &Unwatched).map(|made| made.release)
}

fn drawn(release: &Release, worlds: usize, seed: u64) -> Vec<Table> {
    let sampling = Sampling { worlds, ..Sampling::default() };
    sample(release, &sampling, Seed::Fixed(seed), &Unwatched).unwrap().worlds
}

const METHODS: [&str; 4] = ["generalize", "anatomy", "permute", "angel"];

/// The groups of a world as a column, in the order of its rows.
fn with_groups(release: &Release, world: &Table) -> Table {
    let shape = release.manifest.method.shape();
    let people = release.table(shape.people).unwrap();
    let ids = people.column(shape.group_id.unwrap()).unwrap();
    let mut groups: Vec<i64> = ids.codes().iter().map(i64::from).collect();
    groups.sort_unstable();
    let columns = world.columns().iter().cloned().chain([Column::integers("in_group", &groups)]);
    Table::new(columns.collect())
}

#[test]
fn every_promise_holds_in_the_groups_of_every_drawn_world() {
    let table = people();
    for method in METHODS {
        for require in
            [json!(["k=5"]), json!(["l=3"]), json!(["k=4", "l=2", "distinct-l=3"]), json!(["t=0.4"]), json!(["beta=2"])]
        {
            // Sizes alone say nothing about batches, and are promised of buckets.
            if method == "angel" && require[0].as_str().is_some_and(|first| first.starts_with("k=")) {
                continue;
            }
            let plain = draft(method, json!({"release": {"require": require}}));
            let release = published(&table, &plain).unwrap();
            for world in drawn(&release, 3, 7) {
                check_world(&release, &world);
                // The publisher, given these groups of the world, checks every requirement in every group, and stops
                // if one fails; the audit judges what comes out once more.
                let method = if method == "angel" { "anatomy" } else { method };
                let again = json!({"partitioner": "column", "group_column": "in_group", "require": require});
                let world = with_groups(&release, &world);
                let again = published(&world, &draft(method, json!({"release": again}))).unwrap();
                assert_eq!(again.manifest.groups, release.manifest.groups);
                let found = audit(&again, Evidence { microdata: Some(&world), ..Evidence::default() }, &Unwatched);
                assert!(found.unwrap().report.principles.iter().all(|it| !it.is_broken()), "{method} {require}");
            }
        }
    }
}

/// To an audit that holds the release against it, a drawn world is as good as the microdata.
#[test]
fn the_audit_takes_drawn_worlds_for_the_microdata() {
    let table = people();
    for method in ["anatomy", "permute"] {
        let release = published(&table, &draft(method, json!({}))).unwrap();
        for world in drawn(&release, 2, 5) {
            let found =
                audit(&release, Evidence { microdata: Some(&world), ..Evidence::default() }, &Unwatched).unwrap();
            let failed: Vec<_> = found.report.checks.iter().filter(|check| !check.ok).map(|check| check.name).collect();
            assert!(failed.is_empty(), "{method}: {failed:?}");
        }
    }
}

#[test]
fn whatever_stands_beside_groups_is_kept() {
    let table = people();
    let cases = [
        ("weights and kept columns", json!({"weight": "wgt"}), &["generalize", "anatomy", "angel"][..]),
        (
            "several sensitive columns",
            json!({"sensitive": ["disease", "cost"], "other": ["wgt"]}),
            &["generalize", "anatomy", "angel"],
        ),
        ("several, without columns kept", json!({"sensitive": ["disease", "cost"]}), &METHODS),
        (
            "together",
            json!({"sensitive": ["disease", "cost"], "release": {"together": [["disease", "cost"]]}}),
            &METHODS,
        ),
        (
            "persons",
            json!({"person": "id", "release": {"require": ["k=4", "distinct-l=2"]}}),
            &["generalize", "anatomy", "permute"],
        ),
        ("marginals", json!({"release": {"marginals": [["age", "sex"], ["sex", "born"], ["height"]]}}), &["angel"]),
        ("numbers", json!({"sensitive": "cost", "release": {"require": ["ke=4,100"]}}), &["shuffle"]),
        (
            "prepared",
            json!({"attributes": {"born": {"prepare": ["date:month"]}, "age": {"prepare": ["round:5"]}}}),
            &METHODS,
        ),
    ];
    for (what, more, methods) in cases {
        for method in methods {
            let release = published(&table, &draft(method, more.clone()))
                .unwrap_or_else(|error| panic!("{what}, {method}: {error}"));
            for world in drawn(&release, 2, 9) {
                check_world(&release, &world);
                if what == "prepared" {
                    let texts = |name: &str| {
                        world
                            .column(name)
                            .unwrap()
                            .domain()
                            .values()
                            .iter()
                            .map(ToString::to_string)
                            .collect::<Vec<_>>()
                    };
                    assert!(texts("born").iter().all(|text| text.ends_with("-01")), "first days of months");
                    assert!(texts("age").iter().all(|text| text.ends_with(['0', '5'])), "multiples of five");
                }
                if let Some(height) = world.column("height").filter(|_| what == "prepared") {
                    let is_short = |value: &Cell| value.to_string().len() <= 4;
                    assert!(height.domain().values().iter().all(is_short), "as many decimals as published");
                }
            }
        }
    }
}

#[test]
fn butterfly_releases_are_drawn_from() {
    let release = published(
        &people(),
        &draft("butterfly", json!({"quasi": [["age", "sex"], ["sex", "height"]], "release": {"require": ["k=4"]}})),
    )
    .unwrap();
    drawn(&release, 2, 1).iter().for_each(|world| check_world(&release, world));
}

#[test]
fn reports_say_what_is_exact_and_worlds_are_counted() {
    let release = published(&people(), &draft("anatomy", json!({}))).unwrap();
    let made =
        sample(&release, &Sampling { worlds: 2, estimate: EstimateMode::Even }, Seed::Fixed(1), &Unwatched).unwrap();
    let report = serde_json::to_value(&made.report).unwrap();
    assert_eq!(report["columns"][0]["values"], "exact");
    assert_eq!(
        report["columns"][4],
        json!({"name": "disease", "role": "sensitive", "values": "drawn",
        "how": "the group's published values, dealt to its rows"})
    );
    assert_eq!((&report["worlds"], &report["estimate"], &report["rows"]), (&json!(2), &json!("even"), &json!(300)));
    assert!(made.worlds[0] != made.worlds[1]);
    for worlds in [0, 1001] {
        let refused =
            sample(&release, &Sampling { worlds, ..Sampling::default() }, Seed::Secret, &Unwatched).unwrap_err();
        assert!(refused.message.contains("cannot be drawn"), "{refused}");
    }
}

#[test]
fn evaluate_measures_rows_and_coverage() {
    let table = people();
    let release = published(&table, &draft("anatomy", json!({}))).unwrap();
    let measures = Measures { queries: 50, target: Some("sex".into()), ..Measures::default() };
    let found = serde_json::to_value(evaluate(&release, &table, &measures, &Unwatched).unwrap()).unwrap();
    let rows = &found["rows_drawn"];
    assert_eq!(rows["marginals"][0]["mean"], 0.0, "every column has its values");
    let pairs = rows["marginals"][1]["mean"].as_f64().unwrap();
    assert!(pairs > 0.0 && pairs < rows["marginals"][2]["max"].as_f64().unwrap(), "{rows}");
    assert_eq!((&rows["learning"]["target"], &rows["learning"]["tested"]), (&json!("sex"), &json!(60)));
    assert_eq!(rows["learning"]["accuracies"].as_array().unwrap().len(), 3);
    let covered = found["workload"]["aggregates"][0]["covered"].as_f64().unwrap();
    assert!((0.0..=1.0).contains(&covered));
    let held_out = Measures { queries: 0, holdout: Some(table.clone()), ..Measures::default() };
    let found = serde_json::to_value(evaluate(&release, &table, &held_out, &Unwatched).unwrap()).unwrap();
    assert_eq!(
        (&found["rows_drawn"]["learning"]["tested"], &found["rows_drawn"]["learning"]["unpublished"]),
        (&json!(300), &json!(true))
    );
    let none = Measures { queries: 0, worlds: 0, target: Some("sex".into()), ..Measures::default() };
    assert!(evaluate(&release, &table, &none, &Unwatched).unwrap_err().message.contains("nothing is learned"));
    let unknown = Measures { queries: 0, target: Some("moth".into()), ..Measures::default() };
    assert!(evaluate(&release, &table, &unknown, &Unwatched).unwrap_err().message.contains("`moth` is not a column"));
}
