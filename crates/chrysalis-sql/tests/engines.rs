//! Rewritten questions in DuckDB, SQLite, PostgreSQL and, if it is installed, Spark: they must agree with our own
//! answers, and the truth must lie within the bounds.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "tests")]

mod common;

use std::path::Path;

use chrysalis_load::{Target, load};
use chrysalis_publish::method::{Anatomy, Angel, Butterfly, Fallback, Generalize, Method, Permute, Shuffle};
use chrysalis_publish::partitioner::ByColumn;
use chrysalis_publish::{AttributeSpec, Job, Microdata, Partitioner, QuasiIdentifiers};
use chrysalis_query::{Answer, OpenRelease, Plan};
use chrysalis_release::{Form, Release};
use chrysalis_sql::{Dialect, parse, rewrite};
use chrysalis_store::{Format, read_release, write_release};
use chrysalis_table::{Column, Role, Table, Unwatched, no_progress};
use chrysalis_testkit::engines::{Engine, PostgresServer};
use chrysalis_testkit::questions::{Questions, SENSITIVE, Sensitive, survey, survey_of_several};
use common::compared::{ask_postgres, compare, number, same_keys, sqlite};
use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;
use serde_json::Value as Json;

const QUASI: [&str; 6] = ["age", "weight", "joined", "seen", "grade", "city"];
/// The number of questions per release, which every engine must answer alike.
fn wanted() -> usize {
    chrysalis_testkit::sampled(50, 110)
}

fn publish(publisher: &dyn Method, table: &Table) -> Release {
    let quasi = QUASI.map(|name| AttributeSpec::new(name, Role::QuasiIdentifier));
    let sensitive = SENSITIVE.iter().filter(|name| table.column(name).is_some());
    let sensitive = sensitive.map(|name| AttributeSpec::new(*name, Role::Sensitive));
    let attributes: Vec<AttributeSpec> = quasi.into_iter().chain(sensitive).collect();
    let data = Microdata::new(table.clone(), &attributes).unwrap();
    let goal = data.goal(&[]).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(5);
    let groups = ByColumn { column: "part".into() };
    let partition = groups.partition(&data, &goal, &mut rng, &no_progress).unwrap();
    // Butterflies form their own groups.
    let promised = if publisher.form() == Form::Butterfly { vec!["k=5".parse().unwrap()] } else { Vec::new() };
    Job::new(&data, &promised, &partition, &mut rng, &Unwatched).run(publisher).unwrap().release
}

/// A release in every database that is installed.
struct Engines {
    release: Release,
    open: OpenRelease,
    duckdb: Option<Engine>,
    sqlite: Option<Engine>,
    spark: Option<Engine>,
    truth: Option<Engine>,
    postgres: Option<postgres::Client>,
}

impl Engines {
    fn new(publisher: &dyn Method, table: &Table, folder: &Path, server: Option<&PostgresServer>) -> Self {
        write_release(&publish(publisher, table), &folder.join("release"), Format::Parquet, false, &no_progress)
            .unwrap();
        let release = read_release(&folder.join("release")).unwrap();
        let (file, raw) = (folder.join("release.db"), folder.join("raw.db"));
        load(&release, &sqlite(&file), &|_| {}).unwrap();
        let mut microdata = release.clone();
        microdata.manifest.tables.truncate(1);
        microdata.manifest.tables[0].name = "microdata".into();
        microdata.tables = vec![table.clone()];
        load(&microdata, &sqlite(&raw), &|_| {}).unwrap();
        let postgres = server.map(|server| {
            let address = server.address("chrysalis");
            load(&release, &Target::parse(&address, None, None).unwrap(), &|_| {}).unwrap();
            postgres::Client::connect(&address, postgres::NoTls).unwrap()
        });
        Engines {
            open: OpenRelease::new(&release).unwrap(),
            duckdb: Engine::duckdb(&folder.join("release")),
            sqlite: Engine::sqlite(&file),
            spark: Engine::spark(&folder.join("release")),
            truth: Engine::sqlite(&raw),
            postgres,
            release,
        }
    }

    fn statement(&self, plan: &Plan, dialect: Dialect) -> String {
        rewrite(plan, &self.release, dialect).unwrap()
    }

    /// What is wrong with the engines' answers, in words.
    fn judge(&mut self, plan: &Plan, answer: &Answer) -> Vec<String> {
        let shown = |name: &str, problem: String, statement: &str| match std::env::var_os("CHRYSALIS_SHOW_SQL") {
            Some(_) => format!("{name}: {problem}\n{statement}"),
            None => format!("{name}: {problem}"),
        };
        let mut wrong = Vec::new();
        let [duckdb, lite, spark] =
            [Dialect::DuckDb, Dialect::Sqlite, Dialect::Spark].map(|dialect| self.statement(plan, dialect));
        let rows = [
            ("DuckDB", self.duckdb.as_mut().map(|engine| engine.ask(&duckdb)), &duckdb),
            ("SQLite", self.sqlite.as_mut().map(|engine| engine.ask(&lite)), &lite),
            ("Spark", self.spark.as_mut().map(|engine| engine.ask(&spark)), &spark),
        ];
        for (name, rows, statement) in rows {
            let problem = rows.and_then(|rows| rows.and_then(|rows| compare(answer, &rows)).err());
            wrong.extend(problem.map(|problem| shown(name, problem, statement)));
        }
        let statement = self.statement(plan, Dialect::Postgres);
        if let Some(client) = &mut self.postgres {
            let problem = ask_postgres(client, &statement).and_then(|rows| compare(answer, &rows)).err();
            wrong.extend(problem.map(|problem| shown("PostgreSQL", problem, &statement)));
        }
        wrong
    }
}

/// Whether the true rows lie within the bounds of our answer.
fn inside(answer: &Answer, truth: &[Vec<Json>]) -> Result<(), String> {
    for row in truth {
        let (keys, numbers) = row.split_at(answer.keys.len());
        let Some(ours) = answer.rows.iter().find(|row| same_keys(&row.group, keys)) else {
            return Err(format!("no row for {keys:?}"));
        };
        for (aggregate, truth) in ours.aggregates.iter().zip(numbers) {
            let Some(truth) = number(truth) else { continue };
            let slack = 1e-9 * truth.abs().max(1.0);
            let (Some(low), Some(high)) = (aggregate.lower, aggregate.upper) else {
                return Err(format!("{} is {truth}, not NULL", aggregate.name));
            };
            if truth < low - slack || truth > high + slack {
                return Err(format!("{} is {truth}, not in [{low}, {high}]", aggregate.name));
            }
        }
    }
    Ok(())
}

/// Asks random questions of one form, over each kind of sensitive column, until enough of them are answered.
#[track_caller]
fn check(publisher: &dyn Method, columns: &[Sensitive], keys: &[&'static str]) {
    check_arranged(publisher, columns, keys, |survey| survey);
}

/// The same, with the groups arranged differently.
#[track_caller]
fn check_arranged(publisher: &dyn Method, columns: &[Sensitive], keys: &[&'static str], arrange: fn(Table) -> Table) {
    let server = PostgresServer::start();
    for (seed, &sensitive) in (1..).zip(columns) {
        let table = arrange(survey(240, sensitive, seed));
        check_questions(publisher, &table, Questions::new(sensitive, keys, seed), server.as_ref());
    }
}

/// The same, over releases with several sensitive columns.
#[track_caller]
fn check_several(publisher: &dyn Method, columns: &[&[Sensitive]], keys: &[&'static str]) {
    let server = PostgresServer::start();
    for (seed, &sensitive) in (11..).zip(columns) {
        let table = survey_of_several(240, sensitive, seed);
        check_questions(publisher, &table, Questions::of_several(sensitive, keys, seed), server.as_ref());
    }
}

#[track_caller]
fn check_questions(publisher: &dyn Method, table: &Table, questions: Questions, server: Option<&PostgresServer>) {
    let folder = tempfile::tempdir().unwrap();
    let mut engines = Engines::new(publisher, table, folder.path(), server);
    let (mut answered, mut refused, mut failed) = (0, 0, Vec::new());
    for question in questions {
        let plan = parse::parse_one(&question.asked).and_then(|asked| Plan::new(&asked, engines.open.manifest()));
        let Ok(plan) = plan else {
            refused += 1;
            assert!(refused < 50 + answered, "refused too often: {}", question.asked);
            continue;
        };
        let answer = engines.open.answer(&plan).unwrap();
        let mut wrong = engines.judge(&plan, &answer);
        if let Some(truth) = &mut engines.truth {
            let rows = truth.ask(&question.truth);
            let problem = rows.and_then(|rows| inside(&answer, &rows)).err();
            wrong.extend(problem.map(|problem| format!("truth: {problem}")));
        }
        if !wrong.is_empty() {
            failed.push(format!("{}\n{}", question.asked, wrong.join("\n")));
        }
        answered += 1;
        if answered == wanted() {
            break;
        }
    }
    assert!(failed.is_empty(), "{} of {answered} questions:\n{}", failed.len(), failed.join("\n\n"));
}

#[test]
fn anatomy_is_answered_alike_everywhere() {
    check(&Anatomy, &[Sensitive::Incomplete, Sensitive::Reals, Sensitive::Words], &QUASI);
}

#[test]
fn several_columns_of_anatomy_are_answered_alike_everywhere() {
    let columns: [&[Sensitive]; 3] = [
        &[Sensitive::Integers, Sensitive::Reals],
        &[Sensitive::Words, Sensitive::Incomplete],
        &[Sensitive::Integers, Sensitive::Words, Sensitive::Reals],
    ];
    check_several(&Anatomy, &columns, &QUASI);
}

#[test]
fn several_columns_of_shuffle_are_answered_alike_everywhere() {
    let two = [Sensitive::Integers; 2];
    check_several(&Shuffle, &[&two, &[Sensitive::Integers; 3]], &QUASI);
}

#[test]
fn several_columns_of_permute_are_answered_alike_everywhere() {
    let three = [Sensitive::Incomplete, Sensitive::Integers, Sensitive::Integers];
    check_several(&Permute, &[&[Sensitive::Integers, Sensitive::Words], &three], &QUASI);
}

#[test]
fn several_columns_of_generalize_are_answered_alike_everywhere() {
    let three = [Sensitive::Words, Sensitive::Integers, Sensitive::Incomplete];
    let keys = ["age", "joined", "grade", "city"];
    check_several(&Generalize, &[&[Sensitive::Integers, Sensitive::Reals], &three], &keys);
}

#[test]
fn several_columns_of_angel_are_answered_alike_everywhere() {
    let three = [Sensitive::Reals, Sensitive::Words, Sensitive::Integers];
    let keys = ["age", "joined", "grade", "city"];
    check_several(&angel(), &[&[Sensitive::Integers, Sensitive::Incomplete], &three], &keys);
}

#[test]
fn shuffle_is_answered_alike_everywhere() {
    check(&Shuffle, &[Sensitive::Integers, Sensitive::Integers], &QUASI);
}

/// Groups in the order of pay, as in ke's partitions: their values touch but do not overlap.
fn by_rank(survey: Table) -> Table {
    let pay = survey.column("pay").unwrap();
    let mut rows: Vec<usize> = (0..survey.rows()).collect();
    rows.sort_by_key(|&row| pay.code(row));
    let mut parts = vec![0; survey.rows()];
    for (rank, row) in (0..).zip(rows) {
        parts[row] = (rank * rank) / 800;
    }
    with_parts(&survey, &parts)
}

fn with_parts(survey: &Table, parts: &[i64]) -> Table {
    let others = survey.columns().iter().filter(|column| column.name() != "part").cloned();
    Table::new(others.chain([Column::integers("part", parts)]).collect())
}

#[test]
fn shuffle_of_ranks_is_answered_alike_everywhere() {
    check_arranged(&Shuffle, &[Sensitive::Integers, Sensitive::Integers], &QUASI, by_rank);
}

#[test]
fn permute_is_answered_alike_everywhere() {
    check(&Permute, &[Sensitive::Incomplete, Sensitive::Integers, Sensitive::Words], &QUASI);
}

#[test]
fn generalize_is_answered_alike_everywhere() {
    check(&Generalize, &[Sensitive::Reals, Sensitive::Integers, Sensitive::Words], &["age", "joined", "grade", "city"]);
}

fn angel() -> Angel {
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    let marginals = vec![names(&["age", "city"]), names(&["grade"]), names(&["weight", "joined", "seen"])];
    Angel { k: 5, marginals, bucket_columns: Vec::new(), for_reconstruction: true, fallback: Fallback::Never }
}

#[test]
fn angel_is_answered_alike_everywhere() {
    check(&angel(), &[Sensitive::Reals, Sensitive::Integers, Sensitive::Words], &["age", "joined", "grade", "city"]);
}

#[test]
fn butterfly_is_answered_alike_everywhere() {
    let sets = [["age", "weight", "joined", "seen"], ["age", "seen", "grade", "city"]];
    let sets = sets.map(|set| set.map(str::to_owned).to_vec());
    let users = QuasiIdentifiers::new(sets.to_vec()).unwrap();
    let butterfly = Butterfly { quasi_identifiers: users, hierarchy: None };
    check(&butterfly, &[Sensitive::Reals, Sensitive::Integers, Sensitive::Words], &["age", "joined", "grade", "city"]);
}

/// In a large group, most of the probabilities that an extreme lies at a given value are too small for a double.
#[test]
fn large_groups_have_extremes_everywhere() {
    let survey = survey(3000, Sensitive::Integers, 3);
    let table = with_parts(&survey, &vec![0; survey.rows()]);
    let (folder, server) = (tempfile::tempdir().unwrap(), PostgresServer::start());
    for (number, publisher) in [&Shuffle as &dyn Method, &Anatomy].into_iter().enumerate() {
        let folder = folder.path().join(number.to_string());
        std::fs::create_dir(&folder).unwrap();
        let mut engines = Engines::new(publisher, &table, &folder, server.as_ref());
        let question = "SELECT MIN(pay), MAX(pay), SUM(pay), AVG(pay), COUNT(*) FROM microdata WHERE weight < 60";
        let plan = Plan::new(&parse::parse_one(question).unwrap(), engines.open.manifest()).unwrap();
        let answer = engines.open.answer(&plan).unwrap();
        assert_eq!(engines.judge(&plan, &answer), Vec::<String>::new());
        // A single group overlaps with no other, so the help table has the whole answer.
        let statement = engines.statement(&plan, Dialect::DuckDb);
        assert_eq!(statement.contains("\"help\""), publisher.form() == Form::Shuffle, "{statement}");
        assert_eq!(statement.contains("pool"), publisher.form() == Form::Anatomy, "{statement}");
    }
}
