//! The whole grammar as rewritten SQL: DuckDB, SQLite, PostgreSQL and, if it is installed, Spark must give the numbers that
//! `query --estimate even` gives, for every form. Without Spark, its statements are parsed.

#![allow(clippy::print_stdout, reason = "how much was compared is worth knowing")]
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use std::collections::BTreeMap;
use std::path::Path;

use chrysalis_load::{Target, load};
use chrysalis_query::{Answer, EstimateMode, Inquiry, OpenRelease, QueryError, Tables};
use chrysalis_release::Release;
use chrysalis_sql::rewrite::rewrite_inquiry;
use chrysalis_sql::{Dialect, parse};
use chrysalis_store::{Format, read_release, write_release};
use chrysalis_table::{Kind, no_progress};
use chrysalis_testkit::engines::{Engine, PostgresServer};
use common::compared::{ask_postgres, compare, sqlite};
use common::grammar::random;
use common::{World, rng};
use rand::RngExt;
use rand::rngs::ChaCha20Rng;
use sqlparser::dialect::DatabricksDialect;
use sqlparser::parser::Parser;

const FORMS: [&str; 7] = ["anatomy", "shuffle", "permute", "generalize", "angel", "angel with a marginal", "butterfly"];

/// A release in the databases that are installed.
struct Databases {
    release: Release,
    open: OpenRelease,
    tables: Tables,
    duckdb: Option<Engine>,
    sqlite: Option<Engine>,
    spark: Option<Engine>,
    postgres: Option<postgres::Client>,
}

impl Databases {
    fn new(release: &Release, folder: &Path, server: Option<&PostgresServer>) -> Self {
        write_release(release, &folder.join("release"), Format::Parquet, false, &no_progress).unwrap();
        let release = read_release(&folder.join("release")).unwrap();
        load(&release, &sqlite(&folder.join("release.db")), &|_| {}).unwrap();
        let postgres = server.map(|server| {
            let address = server.address("chrysalis");
            load(&release, &Target::parse(&address, None, None).unwrap(), &|_| {}).unwrap();
            postgres::Client::connect(&address, postgres::NoTls).unwrap()
        });
        let spark = std::env::var_os("CHRYSALIS_SPARK_PYTHON").and_then(|_| Engine::spark(&folder.join("release")));
        Databases {
            open: OpenRelease::new(&release).unwrap(),
            tables: Tables::default(),
            duckdb: Engine::duckdb(&folder.join("release")),
            sqlite: Engine::sqlite(&folder.join("release.db")),
            spark,
            postgres,
            release,
        }
    }

    fn inquiry(&self, sql: &str) -> Result<Inquiry, QueryError> {
        Inquiry::new(&parse::statement(sql)?, self.open.manifest(), &self.tables)
    }

    fn answer(&self, inquiry: &Inquiry) -> Answer {
        self.open.inquire(inquiry, EstimateMode::Even).unwrap().answer
    }

    fn statement(&self, inquiry: &Inquiry, dialect: Dialect) -> Result<String, QueryError> {
        rewrite_inquiry(inquiry, &self.release, dialect)
    }

    /// What is wrong with the databases' answers, in words.
    fn judge(&mut self, inquiry: &Inquiry, answer: &Answer) -> Vec<String> {
        let statement = |dialect| self.statement(inquiry, dialect).unwrap();
        let [duckdb, lite, postgres, spark] =
            [Dialect::DuckDb, Dialect::Sqlite, Dialect::Postgres, Dialect::Spark].map(statement);
        let mut wrong = Vec::new();
        let mut note = |name: &str, sql: &str, rows: Result<Vec<Vec<serde_json::Value>>, String>| {
            if let Err(problem) = rows.and_then(|rows| compare(answer, &rows)) {
                let shown = std::env::var_os("CHRYSALIS_SHOW_SQL").map(|_| format!("\n{sql}")).unwrap_or_default();
                wrong.push(format!("{name}: {problem}{shown}"));
            }
        };
        self.duckdb.iter_mut().for_each(|engine| note("DuckDB", &duckdb, engine.ask(&duckdb)));
        self.sqlite.iter_mut().for_each(|engine| note("SQLite", &lite, engine.ask(&lite)));
        self.spark.iter_mut().for_each(|engine| note("Spark", &spark, engine.ask(&spark)));
        self.postgres.iter_mut().for_each(|client| note("PostgreSQL", &postgres, ask_postgres(client, &postgres)));
        if let Err(error) = Parser::parse_sql(&DatabricksDialect {}, &spark) {
            wrong.push(format!("Spark: {error}\n{spark}"));
        }
        wrong
    }
}

/// A random question, perhaps with HAVING, ORDER BY and LIMIT. Thresholds and orders are such that a rounding error
/// changes nothing.
fn question(world: &World, rng: &mut ChaCha20Rng) -> String {
    let mut wanted = random(world, rng);
    // The fewer aggregates, the more questions can be rewritten as a whole.
    wanted.items.truncate(rng.random_range(1..4));
    let mut sql = wanted.sql(&[]);
    if rng.random_bool(0.8) {
        // Few of these are rewritten, so few are asked.
        for (name, other) in [("VAR_POP", "SUM"), ("VAR_SAMP", "AVG"), ("STDDEV_SAMP", "MEDIAN"), ("STDDEV_POP", "MAX")]
        {
            sql = sql.replace(name, other);
        }
    }
    if rng.random_bool(0.2) {
        sql += &format!(" HAVING COUNT(*) > {}.37", rng.random_range(0..3));
    }
    if rng.random_bool(0.3) {
        let by = if wanted.keys.is_empty() || rng.random_bool(0.5) { "ROUND(7.1307 * COUNT(*), 2)" } else { "k0" };
        sql += &format!(" ORDER BY {by}{}", ["", " DESC"][rng.random_range(0..2)]);
        if rng.random_bool(0.5) {
            sql += &format!(" LIMIT {} OFFSET {}", rng.random_range(1..4), rng.random_range(0..2));
        }
    }
    sql
}

/// Quotients whose divisor is 0 but for a rounding error are left out: the other engine may say NULL.
fn is_stable(answer: &Answer) -> bool {
    let numbers = answer.rows.iter().flat_map(|row| &row.aggregates);
    numbers.into_iter().all(|one| {
        let ends = [one.estimate, one.lower, one.upper, one.std_error];
        ends.into_iter().flatten().all(|number| number.abs() < 1e7)
    })
}

/// A reason without what it is said about.
fn reason(error: &str) -> String {
    let known = ["found by a search", "found by halving", "ranges or labels", "union of", "stand in different rows"];
    let known = known.into_iter().find(|part| error.contains(part));
    known.map_or_else(|| error.chars().take(80).collect(), str::to_owned)
}

fn check(form: &str) {
    let server = PostgresServer::start();
    let (mut asked, mut answered, mut rewritten, mut numbers) = (0, 0, 0, 0);
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    let mut failed = Vec::new();
    let mut seed = 7_000;
    let wanted = chrysalis_testkit::sampled(12, 600);
    while asked < wanted {
        seed += 1;
        let mut rng = rng(seed);
        let kind = [Kind::Integer, Kind::Real, Kind::Category, Kind::Integer][rng.random_range(0..4)];
        let kind = if form == "shuffle" { Kind::Integer } else { kind };
        let missing = [0.0, 0.2][rng.random_range(0..2)];
        let missing = if form == "shuffle" { 0.0 } else { missing };
        let world = World::random(&mut rng, 24, 5, kind, missing);
        let Some(release) = world.release(form, &mut rng) else { continue };
        let folder = tempfile::tempdir().unwrap();
        let mut databases = Databases::new(&release, folder.path(), server.as_ref());
        for _ in 0..wanted.min(30) {
            let sql = question(&world, &mut rng);
            asked += 1;
            let inquiry = match databases.inquiry(&sql) {
                Ok(inquiry) => inquiry,
                Err(QueryError::Unanswerable { .. }) => continue,
                Err(error) => panic!("{sql}: {error}"),
            };
            answered += 1;
            if let Err(error) = databases.statement(&inquiry, Dialect::DuckDb) {
                *reasons.entry(reason(&error.to_string())).or_default() += 1;
                continue;
            }
            let answer = databases.answer(&inquiry);
            if !is_stable(&answer) {
                continue;
            }
            rewritten += 1;
            numbers += answer.rows.iter().map(|row| row.aggregates.len()).sum::<usize>() * 4;
            let wrong = databases.judge(&inquiry, &answer);
            if !wrong.is_empty() {
                failed.push(format!("seed {seed}: {sql}\n{}", wrong.join("\n")));
            }
        }
    }
    println!("{form}: {asked} questions, {answered} answered, {rewritten} rewritten, {numbers} numbers compared");
    reasons.iter().for_each(|(reason, n)| println!("  {n} not rewritten: {reason}"));
    let shown: Vec<&String> = failed.iter().take(12).collect();
    assert!(failed.is_empty(), "{form}: {} of {rewritten}:\n{shown:#?}", failed.len());
    // Aggregates of ranges and labels are not rewritten.
    let least = if ["anatomy", "shuffle", "permute"].contains(&form) { answered / 3 } else { answered / 20 };
    assert!(rewritten > least, "{form}: only {rewritten} of {answered} rewritten");
}

#[test]
fn anatomy_says_the_same_in_sql() {
    check(FORMS[0]);
}

#[test]
fn shuffle_says_the_same_in_sql() {
    check(FORMS[1]);
}

#[test]
fn permute_says_the_same_in_sql() {
    check(FORMS[2]);
}

#[test]
fn generalize_says_the_same_in_sql() {
    check(FORMS[3]);
}

#[test]
fn angel_says_the_same_in_sql() {
    check(FORMS[4]);
}

#[test]
fn angel_with_a_marginal_says_the_same_in_sql() {
    check(FORMS[5]);
}

#[test]
fn butterfly_says_the_same_in_sql() {
    check(FORMS[6]);
}
