//! Releases of a series, whose groups may show values that nobody has: bounds hold over single months and over
//! differences of months, and rewritten SQL says the same.

#![allow(clippy::print_stdout, reason = "how much was compared is worth knowing")]
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use chrysalis_load::load;
use chrysalis_query::{
    AggregateAnswer, Answer, EstimateMode, Inquiry, OpenRelease, QueryError, Reply, Tables, Versioned,
};
use chrysalis_release::Manifest;
use chrysalis_sql::rewrite::rewrite_inquiry;
use chrysalis_sql::{Dialect, parse};
use chrysalis_store::{Format, read_release, write_release};
use chrysalis_table::{Kind, Value, no_progress};
use chrysalis_testkit::engines::{Engine, PostgresServer};
use common::ask::Ask;
use common::compared::{ask_postgres, compare, sqlite};
use common::grammar::random;
use common::months::{FORMS, Months};
use common::{rng, truth};
use rand::RngExt;
use rand::rngs::ChaCha20Rng;
use sqlparser::dialect::DatabricksDialect;
use sqlparser::parser::Parser;

fn months(form: &str, n: usize, rng: &mut ChaCha20Rng) -> Months {
    loop {
        let kind = [Kind::Integer, Kind::Category, Kind::Integer][rng.random_range(0..3)];
        let mut require = vec![format!("m={}", rng.random_range(2..4))];
        // Groups of more people show every value several times.
        if rng.random_bool(0.5) {
            require.push(format!("k={}", rng.random_range(4..6)));
        }
        if let Some(made) = Months::random(form, (kind, &require, n), rng) {
            return made;
        }
    }
}

fn opened(made: &Months) -> Vec<OpenRelease> {
    made.releases.iter().map(|release| OpenRelease::new(release).unwrap()).collect()
}

/// Answers a statement over all months; `None` if it is refused as the spec allows.
fn asked(open: &[OpenRelease], sql: &str, mode: EstimateMode) -> Option<Reply> {
    let manifests: Vec<&Manifest> = open.iter().map(OpenRelease::manifest).collect();
    let bound = Versioned::new(&parse::statement(sql).unwrap(), &manifests, &Tables::default());
    match bound {
        Ok(bound) => Some(bound.answer(|at| Some(&open[at]), mode, &|_| ()).unwrap()),
        Err(QueryError::Unanswerable { .. }) => None,
        Err(error) => panic!("{sql}: {error}"),
    }
}

#[track_caller]
fn holds(said: &AggregateAnswer, truth: Option<f64>, context: &dyn Fn() -> String) {
    let Some(truth) = truth else { return };
    let slack = 1e-9 * (1.0 + truth.abs());
    let lower = said.lower.is_some_and(|lower| lower <= truth + slack);
    let upper = said.upper.is_some_and(|upper| truth <= upper + slack);
    assert!(lower && upper, "truth {truth}: {said:?}\n{}", context());
    // A stretch of reals that is touched at a single point has bounds only.
    let Some(estimate) = said.estimate else { return };
    assert!(said.lower.unwrap() <= estimate && estimate <= said.upper.unwrap(), "{said:?}\n{}", context());
    assert!(said.std_error.unwrap() >= 0.0);
}

#[test]
fn the_truth_of_every_month_lies_inside_the_bounds() {
    let (mut counterfeits, mut questions, mut several) = (0, 0, 0);
    for seed in 0..chrysalis_testkit::sampled(40, 600) as u64 {
        let mut rng = rng(seed);
        let form = FORMS[seed as usize % 3];
        let made = months(form, 4, &mut rng);
        let open = opened(&made);
        counterfeits += made.counterfeits;
        several += usize::from(made.times > 1);
        for _ in 0..10 {
            let at = rng.random_range(0..open.len());
            let world = &made.worlds[at];
            let ask = Ask::random(world, 1, &mut rng).with_more(world);
            let sql = ask.sql(world).replace("FROM microdata", &format!("FROM microdata VERSION AS OF {}", at + 1));
            let mode = [EstimateMode::Even, EstimateMode::Learned][rng.random_range(0..2)];
            let Some(reply) = asked(&open, &sql, mode) else { continue };
            for row in &reply.answer.rows {
                let key: Vec<_> = row.group.iter().map(|value| value.as_ref().map(Value::to_string)).collect();
                let own = (0..world.rows.len()).filter(|&row| truth::key(world, &ask, row) == key);
                let own: Vec<_> = own.map(|row| &world.rows[row]).collect();
                let truths = truth::answer(&ask, own.iter().copied());
                for (said, truth) in row.aggregates.iter().zip(truths) {
                    questions += 1;
                    holds(said, truth, &|| format!("{form} {seed} {key:?}\n{sql}\n{world:?}"));
                }
            }
        }
    }
    let told =
        format!("{counterfeits} counterfeits, {questions} questions, values shown several times in {several} series");
    println!("{told}");
    assert!(counterfeits > 40 && questions > 500 && several > 3, "{told}");
}

/// One aggregate of a question, in parentheses, about one month.
fn inner(ask: &Ask, made: &Months, at: usize) -> String {
    let sql = ask.sql(&made.worlds[at]);
    format!("({})", sql.replace("FROM microdata", &format!("FROM microdata VERSION AS OF {}", at + 1)))
}

#[test]
fn true_differences_between_months_lie_inside_the_bounds() {
    let (mut compared, mut narrow) = (0, 0);
    for seed in 0..chrysalis_testkit::sampled(40, 600) as u64 {
        let mut rng = rng(1_000 + seed);
        let form = FORMS[seed as usize % 3];
        let made = months(form, 4, &mut rng);
        let open = opened(&made);
        for _ in 0..8 {
            let (a, b) = (rng.random_range(0..4), rng.random_range(0..4));
            let mut ask = Ask::random(&made.worlds[a], 0, &mut rng).with_more(&made.worlds[a]);
            ask.aggregates = vec![ask.aggregates[rng.random_range(0..ask.aggregates.len())]];
            let (x, y) = (inner(&ask, &made, a), inner(&ask, &made, b));
            let sql = format!("SELECT {x} - {y} AS d, 2 * {x} + {y} AS s, {x} / {y} AS q, ABS({y} - {x}) AS a");
            let Some(reply) = asked(&open, &sql, EstimateMode::Learned) else { continue };
            let [of_a, of_b] = [a, b].map(|at| truth::answer(&ask, made.worlds[at].rows.iter())[0]);
            let (Some(of_a), Some(of_b)) = (of_a, of_b) else { continue };
            let said = &reply.answer.rows[0].aggregates;
            let context = || format!("{form} {seed}\n{sql}");
            holds(&said[0], Some(of_a - of_b), &context);
            holds(&said[1], Some(2.0 * of_a + of_b), &context);
            holds(&said[3], Some((of_a - of_b).abs()), &context);
            if of_b != 0.0 && said[2].lower.is_some() && said[2].upper.is_some() && said[2].estimate.is_some() {
                holds(&said[2], Some(of_a / of_b), &context);
            }
            compared += 1;
            narrow += usize::from(said[0].lower != said[0].upper);
        }
    }
    assert!(compared > 100 && narrow > 50, "{compared} compared, {narrow} open");
}

#[test]
fn what_single_releases_say_is_what_versions_say() {
    let mut rng = rng(7);
    let made = months("anatomy", 3, &mut rng);
    let open = opened(&made);
    for (at, world) in made.worlds.iter().enumerate() {
        let ask = Ask::random(world, 1, &mut rng);
        let sql = ask.sql(world);
        let alone = asked(&open[at..=at], &sql, EstimateMode::Even).map(|reply| reply.answer);
        let versioned = sql.replace("FROM microdata", &format!("FROM microdata version as of {}", at + 1));
        assert_eq!(alone, asked(&open, &versioned, EstimateMode::Even).map(|reply| reply.answer));
        if at == 2 {
            assert_eq!(alone, asked(&open, &sql, EstimateMode::Even).map(|reply| reply.answer), "the latest");
        }
    }
}

#[test]
fn what_cannot_be_asked_of_versions_is_refused_in_words() {
    let made = months("anatomy", 3, &mut rng(3));
    let open = opened(&made);
    let manifests: Vec<&Manifest> = open.iter().map(OpenRelease::manifest).collect();
    let refused = |sql: &str, manifests: &[&Manifest], said: &str| {
        let bound = parse::statement(sql).and_then(|it| Versioned::new(&it, manifests, &Tables::default()));
        let error = bound.map(|_| ()).unwrap_err();
        assert!(error.to_string().contains(said), "{sql}: {error}");
    };
    let all = &manifests[..];
    refused(
        "SELECT COUNT(*) FROM microdata VERSION AS OF 9",
        all,
        "release 9 of the series is asked, and there are releases 1 to 3",
    );
    refused(
        "SELECT COUNT(*) FROM microdata VERSION AS OF 9",
        &all[..1],
        "release 9 of the series is asked, and this is release 1",
    );
    refused("SELECT COUNT(*) FROM microdata VERSION AS OF june", all, "VERSION AS OF takes the number of a release");
    let mut alone = made.releases[0].manifest.clone();
    alone.series = None;
    refused("SELECT COUNT(*) FROM microdata VERSION AS OF 1", &[&alone], "belongs to none");
    refused("SELECT (SELECT COUNT(*) FROM microdata GROUP BY s) - 1", all, "has to give one number");
    refused("SELECT (SELECT COUNT(*), COUNT(s) FROM microdata) - 1", all, "has to give one number");
    refused("SELECT (SELECT COUNT(*) FROM microdata) - s", all, "computes with the answers");
    refused(
        "SELECT (SELECT COUNT(*) FROM microdata) AS a, 2 * (SELECT COUNT(*) FROM microdata) AS a",
        all,
        "two columns",
    );
    refused("SELECT (SELECT COUNT(*) FROM microdata) LIMIT 1", all, "has one row");
    refused(
        "SELECT COUNT(*) - (SELECT COUNT(*) FROM microdata VERSION AS OF 1) FROM microdata",
        all,
        "question inside",
    );
    refused("SELECT COUNT(*) FROM microdata WHERE s = (SELECT MAX(s) FROM microdata)", all, "question inside");
    refused("SELECT COUNT(*) FROM microdata JOIN microdata VERSION AS OF 1 ON s = s", all, "joined with itself");
    refused("SELECT 1", all, "has no FROM");
}

#[test]
fn rewritten_questions_say_the_same_of_releases_with_counterfeits() {
    let server = PostgresServer::start();
    let (mut rewritten, mut counterfeits, mut failed) = (0, 0, Vec::new());
    for seed in 0..chrysalis_testkit::sampled(9, 60) as u64 {
        let mut rng = rng(4_000 + seed);
        let form = FORMS[seed as usize % 3];
        let made = months(form, 4, &mut rng);
        counterfeits += made.counterfeits;
        let world = &made.worlds[3];
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("release");
        write_release(&made.releases[3], &place, Format::Parquet, false, &no_progress).unwrap();
        let release = read_release(&place).unwrap();
        let file = folder.path().join("release.db");
        load(&release, &sqlite(&file), &|_| {}).unwrap();
        let mut engines =
            [("DuckDB", Engine::duckdb(&place), Dialect::DuckDb), ("SQLite", Engine::sqlite(&file), Dialect::Sqlite)];
        let mut postgres = server.as_ref().map(|server| {
            let address = server.address("chrysalis");
            load(&release, &chrysalis_load::Target::parse(&address, None, None).unwrap(), &|_| {}).unwrap();
            ::postgres::Client::connect(&address, ::postgres::NoTls).unwrap()
        });
        let open = OpenRelease::new(&release).unwrap();
        for number in 0..40 {
            let sql = if number % 2 == 0 {
                Ask::random(world, 1, &mut rng).sql(world)
            } else {
                random(world, &mut rng).sql(&[])
            };
            let inquiry = match Inquiry::new(&parse::statement(&sql).unwrap(), open.manifest(), &Tables::default()) {
                Ok(inquiry) => inquiry,
                Err(QueryError::Unanswerable { .. }) => continue,
                Err(error) => panic!("{sql}: {error}"),
            };
            let statement = |dialect| rewrite_inquiry(&inquiry, &release, dialect);
            if statement(Dialect::DuckDb).is_err() {
                continue;
            }
            let answer: Answer = open.inquire(&inquiry, EstimateMode::Even).unwrap().answer;
            let numbers = answer.rows.iter().flat_map(|row| &row.aggregates);
            // Quotients whose divisor is 0 but for a rounding error are left out: the other engine may say NULL.
            if numbers.flat_map(|it| [it.estimate, it.std_error, it.lower, it.upper]).flatten().any(|it| it.abs() > 1e7)
            {
                continue;
            }
            rewritten += 1;
            let mut wrong = Vec::new();
            for (name, engine, dialect) in &mut engines {
                let Some(engine) = engine else { continue };
                let sql = statement(*dialect).unwrap();
                wrong.extend(
                    engine.ask(&sql).and_then(|rows| compare(&answer, &rows)).err().map(|it| format!("{name}: {it}")),
                );
            }
            if let Some(client) = &mut postgres {
                let rows = ask_postgres(client, &statement(Dialect::Postgres).unwrap());
                wrong.extend(rows.and_then(|rows| compare(&answer, &rows)).err().map(|it| format!("PostgreSQL: {it}")));
            }
            if let Err(error) = Parser::parse_sql(&DatabricksDialect {}, &statement(Dialect::Spark).unwrap()) {
                wrong.push(format!("Spark: {error}"));
            }
            if !wrong.is_empty() {
                failed.push(format!("{form} {seed}: {sql}\n{}", wrong.join("\n")));
            }
        }
    }
    println!("{rewritten} questions rewritten");
    let shown: Vec<&String> = failed.iter().take(8).collect();
    assert!(failed.is_empty(), "{} of {rewritten}: {shown:#?}", failed.len());
    assert!(rewritten > 80 && counterfeits > 10, "{rewritten} rewritten, {counterfeits} counterfeits");
}
