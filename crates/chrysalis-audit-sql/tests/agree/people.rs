//! Promises about the people who could be in the data: the audit looks them up in the boxes of groups, statements join
//! them, and both say the same of populations that keep the promise and of others.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use chrysalis::{Draft, Seed, Unwatched, publish};
use chrysalis_audit_sql::{Decides, Dialect, PEOPLE, setup_people, statements, statements_with_people};
use chrysalis_release::Release;
use chrysalis_table::{Column, Table};
use serde_json::{Value as Json, json};

use crate::honest::{Dice, people};
use crate::judges;
use crate::verdict::audit;

const QUASI: [&str; 5] = ["age", "sex", "zip", "joined", "height"];

/// Some of the people, some of them twice: a population with the values of the table.
fn population(seed: u64, rows: usize) -> Table {
    let table = people();
    let mut dice = Dice(seed);
    let drawn: Vec<u32> = (0..rows).map(|_| dice.below(table.rows()) as u32).collect();
    let columns = QUASI.map(|name| table.column(name).unwrap().gather(&drawn));
    Table::new(columns.to_vec())
}

fn csv(table: &Table) -> String {
    let mut text = table.columns().iter().map(Column::name).collect::<Vec<_>>().join(",") + "\n";
    for row in 0..table.rows() {
        let cell = |column: &Column| format!("\"{}\"", column.domain().text(column.code(row)));
        let cells: Vec<String> = table.columns().iter().map(cell).collect();
        writeln!(text, "{}", cells.join(",")).unwrap();
    }
    text
}

fn made(folder: &Path, people_of: &Table, release: Json) -> Release {
    let table = people();
    let file = folder.join("people.csv");
    std::fs::write(&file, csv(people_of)).unwrap();
    let mut draft = json!({"quasi": QUASI, "sensitive": "disease", "release": release});
    draft["release"]["population_table"] = json!(file);
    draft["release"]["accept"] = json!(["disclosure"]);
    draft["attributes"] = json!({"age": {"intervals": [10, 20]}});
    let draft: Draft = serde_json::from_value(draft).unwrap();
    let header: Vec<String> = table.columns().iter().map(|column| column.name().to_owned()).collect();
    let mut recipe = draft.check(&header).unwrap();
    draft.provide_population(&mut recipe, &table, &Unwatched).unwrap();
    publish(table, &recipe, Seed::Fixed(7), &Unwatched).unwrap().release
}

#[test]
fn people_under_labels_are_counted_alike() {
    let folder = tempfile::tempdir().unwrap();
    let everybody = population(0x1234_5678_9abc_def1, 400);
    let releases = [
        made(folder.path(), &everybody, json!({"require": ["k-map=5", "k=2"], "partitioner": "mondrian"})),
        made(folder.path(), &everybody, json!({"require": ["k-map=12"]})),
        made(folder.path(), &everybody, json!({"require": ["k-map=9"], "partitioner": "full-domain", "suppress": 0.2})),
        made(folder.path(), &everybody, json!({"require": ["delta-presence=0,0.9"], "partitioner": "full-domain"})),
    ];
    let populations =
        [everybody, population(0x2545_f491_4f6c_dd1d, 60), population(0x9e37_79b9_7f4a_7c15, 200), population(77, 1)];
    let (mut kept, mut broken) = (0, 0);
    for mut judge in judges(folder.path()) {
        for release in &releases {
            judge.take(release);
            for people in &populations {
                judge.add(PEOPLE, people);
                let mut report = audit(release).unwrap();
                chrysalis_audit::measure_population(&mut report, release, people, &Unwatched).unwrap();
                for statement in statements_with_people(&release.manifest, judge.dialect()) {
                    let Some(promise) = &statement.promise else { continue };
                    let told = report.principles.iter().find(|it| it.principle == *promise).unwrap();
                    let sql = statement.sql.as_ref().unwrap_or_else(|| panic!("{promise}: {}", statement.about));
                    let rows = judge.count(sql).unwrap_or_else(|said| panic!("{said}\n{sql}"));
                    assert_eq!(rows == 0, told.holds, "{promise} in {}: {rows} rows, {told:?}\n{sql}", judge.dialect());
                    if promise.contains("k=") {
                        continue;
                    }
                    assert_eq!(statement.decides, Decides::Exactly);
                    *(if told.holds { &mut kept } else { &mut broken }) += 1;
                }
            }
        }
    }
    assert!(kept >= 4 && broken >= 8, "{kept} kept, {broken} broken");
    // Whoever has no table of them is told so, and nothing else.
    for dialect in Dialect::ALL {
        let all = statements(&releases[0].manifest, dialect);
        let open = all.iter().find(|it| it.promise.as_deref() == Some("k-map=5")).unwrap();
        assert!(open.sql.is_none() && open.about.contains("only who has a table of them can check it"), "{open:?}");
    }
}

/// A lower bound on presence is broken by people under no labels, too.
#[test]
fn nobody_may_be_under_no_labels_where_presence_has_a_lower_bound() {
    let folder = tempfile::tempdir().unwrap();
    let table = people();
    let columns = QUASI.map(|name| table.column(name).unwrap().clone());
    let inside = Table::new(columns.to_vec());
    let release = made(
        folder.path(),
        &inside,
        json!({"require": ["delta-presence=0.5,1"], "partitioner": "full-domain", "metric": "height"}),
    );
    let others = population(5, 30);
    let found: BTreeSet<bool> = judges(folder.path())
        .into_iter()
        .flat_map(|mut judge| {
            judge.take(&release);
            [&inside, &others].map(|people| {
                judge.add(PEOPLE, people);
                let mut report = audit(&release).unwrap();
                chrysalis_audit::measure_population(&mut report, &release, people, &Unwatched).unwrap();
                let all = statements_with_people(&release.manifest, judge.dialect());
                let statement = all.iter().find(|it| it.promise.as_deref() == Some("delta-presence=0.5,1")).unwrap();
                let rows = judge.count(statement.sql.as_ref().unwrap()).unwrap();
                assert_eq!(rows == 0, report.principles[0].holds, "{:?}", report.principles);
                rows == 0
            })
        })
        .collect();
    assert!(found.contains(&true), "{found:?}");
}

#[test]
fn files_of_people_are_made_visible_where_databases_read_files() {
    let folder = tempfile::tempdir().unwrap();
    let release = made(folder.path(), &population(9, 300), json!({"require": ["k-map=3"]}));
    let view = |name: &str, dialect| setup_people(&release.manifest, Path::new(name), dialect);
    let duckdb = view("it's.csv", Dialect::DuckDb).unwrap();
    assert!(
        duckdb.starts_with("CREATE OR REPLACE VIEW \"population\" AS SELECT * FROM read_csv(['it''s.csv']"),
        "{duckdb}"
    );
    assert!(duckdb.contains("types = {'age': 'BIGINT', 'sex': 'VARCHAR'"), "{duckdb}");
    assert!(view("a.parquet", Dialect::Spark).unwrap().contains("parquet.`a.parquet`"));
    assert!(view("a.csv", Dialect::Spark).unwrap().contains("USING csv"));
    assert!(view("a.csv", Dialect::Postgres).is_none() && view("a.csv", Dialect::Sqlite).is_none());
}
