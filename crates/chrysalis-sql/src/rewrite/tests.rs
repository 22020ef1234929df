//! The shape of statements. Databases check their numbers, in `tests/engines.rs`.

use chrysalis_release::{Manifest, Release};
use chrysalis_table::Table;
use sqlparser::dialect::{DatabricksDialect, Dialect as Syntax, DuckDbDialect, PostgreSqlDialect, SQLiteDialect};
use sqlparser::parser::Parser;

use super::expr::{X, all, col, int};
use super::{Dialect, original, rewrite};
use chrysalis_query::Plan;

use crate::parse;

const QUESTIONS: [&str; 6] = [
    "SELECT COUNT(*) FROM microdata WHERE age > 30",
    "SELECT SUM(pay), AVG(pay) FROM microdata WHERE city = 'it''s \\'",
    "SELECT MIN(pay), MAX(pay), COUNT(pay) FROM microdata WHERE joined >= '2020-02-29' AND pay > 3",
    "SELECT city, AVG(pay) FROM microdata WHERE pay BETWEEN 1 AND 9 GROUP BY city",
    "SELECT pay, COUNT(*) FROM microdata WHERE age < 20 OR joined IS NULL GROUP BY pay",
    "SELECT age, joined, COUNT(city), SUM(pay) AS \"S\"\"um`s\" FROM microdata GROUP BY age, joined",
];

/// A release without rows: enough for statements that depend on nothing but the manifest.
fn release(method: &str) -> Release {
    let quasi = if method == "generalize" { "generalized" } else { "exact" };
    let attribute = |name: &str, role: &str, kind: &str, domain: &str| {
        format!(r#"{{"name":"{name}","role":"{role}","kind":"{kind}","published":"{quasi}","domain":{domain}}}"#)
    };
    let attributes = [
        attribute("age", "quasi", "integer", r#"{"min":1,"max":99,"missing":true}"#),
        attribute("joined", "quasi", "date", r#"{"min":"2020-01-01","max":"2020-03-31","missing":true}"#),
        attribute("city", "quasi", "category", r#"{"values":[null,"it's \\","b\"c`d"],"missing":true}"#),
        attribute("pay", "sensitive", "integer", r#"{"min":1,"max":9,"values":[1,5,9],"counts":[1,1,1]}"#),
    ];
    let names: &[&str] = match method {
        "anatomy" => &["qit", "st"],
        "permute" => &["pqt", "pst"],
        "shuffle" => &["permuted", "help"],
        _ => &["generalized", "members"],
    };
    let table = |name: &&str| format!(r#"{{"name":"{name}","file":"{name}.csv","rows":0,"columns":[],"sha256":""}}"#);
    let json = format!(
        r#"{{"format":"chrysalis-release","version":1,"method":"{method}","partitioner":"column","rows":3,"groups":1,
        "guarantees":[],"attributes":[{}],"quasi_identifiers":[],"tables":[{}]}}"#,
        attributes.join(","),
        names.iter().map(table).collect::<Vec<_>>().join(",")
    );
    let manifest = Manifest::parse(json.as_bytes()).unwrap();
    Release { tables: vec![Table::default(); manifest.tables.len()], manifest }
}

fn statement(method: &str, question: &str, dialect: Dialect) -> Option<String> {
    let release = release(method);
    let plan = Plan::new(&parse::parse_one(question).unwrap(), &release.manifest).unwrap();
    // Without rows there are no ranges whose points can be listed.
    let lists_points = method == "generalize" && question.contains("GROUP BY age");
    (!lists_points).then(|| rewrite(&plan, &release, dialect).unwrap())
}

fn syntax(dialect: Dialect) -> &'static dyn Syntax {
    match dialect {
        Dialect::Postgres => &PostgreSqlDialect {},
        Dialect::DuckDb => &DuckDbDialect {},
        Dialect::Sqlite => &SQLiteDialect {},
        Dialect::Spark => &DatabricksDialect {},
    }
}

fn each(mut check: impl FnMut(&str, &str, Dialect, &str)) {
    for method in ["anatomy", "permute", "shuffle", "generalize"] {
        for question in QUESTIONS {
            for dialect in Dialect::ALL {
                if let Some(statement) = statement(method, question, dialect) {
                    check(method, question, dialect, &statement);
                }
            }
        }
    }
}

#[test]
fn statements_parse_again_in_their_dialect() {
    each(|method, question, dialect, statement| {
        let parsed = Parser::parse_sql(syntax(dialect), statement);
        let parsed = parsed.unwrap_or_else(|error| panic!("{method}, {dialect}: {question}\n{error}\n{statement}"));
        assert_eq!(parsed.len(), 1);
    });
}

#[test]
fn spark_differs_from_duckdb_only_where_it_must() {
    for method in ["anatomy", "permute", "shuffle", "generalize"] {
        for question in QUESTIONS {
            let of = |dialect| statement(method, question, dialect);
            let (Some(duckdb), Some(spark)) = (of(Dialect::DuckDb), of(Dialect::Spark)) else { continue };
            // The only differences: quotes around names, escapes in text, the name of a type, and days.
            let duckdb = duckdb.replace("\"S\"\"um`s", "\"S\"um``s").replace("'it''s \\'", "'it\\'s \\\\'");
            let duckdb =
                duckdb.replace('"', "`").replace("DOUBLE PRECISION", "DOUBLE").replace("`S`um``s", "`S\"um``s");
            let duckdb = duckdb.replace("b`c`d", "b\"c`d");
            let days = |text: &str| {
                let text = text
                    .replace("CAST(DATEDIFF(", "CAST(")
                    .replace(", DATE '1970-01-01') AS", " - DATE '1970-01-01' AS");
                text.split_whitespace().collect::<Vec<_>>().join(" ")
            };
            assert_eq!(days(&spark), days(&duckdb), "{method}: {question}");
        }
    }
}

#[test]
fn a_count_of_exact_rows_is_one_scan_and_a_shuffled_sum_joins_help() {
    let count = statement("anatomy", QUESTIONS[0], Dialect::Postgres).unwrap();
    assert!(!count.contains("group_id") && !count.contains("\"st\""), "{count}");
    let sum = statement("shuffle", QUESTIONS[1], Dialect::Postgres).unwrap();
    assert_eq!(sum.matches("\"permuted\"").count(), 1, "{sum}");
    assert!(sum.contains("p.\"hits\" = hits.h") && !sum.contains("OVER"), "{sum}");
}

#[test]
fn single_numbers_are_listed_and_stretches_compared() {
    let asked = |condition: &str| {
        let question = format!("SELECT COUNT(*) FROM microdata WHERE {condition}");
        statement("anatomy", &question, Dialect::Sqlite).unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert!(asked("age IN (3, 5, 9)").contains("q.\"age\" IN (3, 5, 9)"), "{}", asked("age IN (3, 5, 9)"));
    let mixed = asked("age IN (3, 9) OR age BETWEEN 20 AND 30");
    assert!(mixed.contains("q.\"age\" IN (3, 9)") && mixed.contains("q.\"age\" BETWEEN 20 AND 30"), "{mixed}");
    assert!(asked("age = 3").contains("q.\"age\" = 3"));
    // Many short stretches become one list.
    let pairs: Vec<String> = (0..10).map(|at| format!("{}, {}", at * 5, at * 5 + 1)).collect();
    let many = asked(&format!("age IN ({})", pairs.join(", ")));
    assert!(many.contains(&format!("q.\"age\" IN ({})", pairs.join(", "))) && !many.contains("BETWEEN"), "{many}");
}

#[test]
fn parentheses_stand_where_they_matter() {
    let (a, b, c) = (|| col("a"), || col("b"), || col("c"));
    let shown = |x: X| x.0.to_string();
    assert_eq!(shown((a() - b()) - c()), "a - b - c");
    assert_eq!(shown(a() - (b() - c())), "a - (b - c)");
    assert_eq!(shown((a() + b()) * c() / (a() * b())), "(a + b) * c / (a * b)");
    assert_eq!(shown(a() * b() + c()), "a * b + c");
    assert_eq!(shown(a().less(b()).eq(c())), "(a < b) = c");
    assert_eq!(
        shown((a() + b()).less(c()).and(a().missing()).or(b().one_of(vec![c()]))),
        "a + b < c AND a IS NULL OR b IN (c)"
    );
    assert_eq!(shown(a().eq(b()).or(a().eq(c())).and(b().between(a(), c()))), "(a = b OR a = c) AND b BETWEEN a AND c");
    // Hundreds of parts do not become a chain of hundreds.
    let deep = shown(all((0..100).map(|at| a().eq(int(at))).collect()));
    assert!(deep.contains(") AND ("), "{deep}");
}

#[test]
fn the_question_itself_is_asked_of_the_microdata() {
    let asked = |question: &str| {
        let plan = Plan::new(&parse::parse_one(question).unwrap(), &release("shuffle").manifest).unwrap();
        let text = original(&plan, "people", Dialect::Sqlite);
        Parser::parse_sql(&SQLiteDialect {}, &text).unwrap();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(
        asked("SELECT AVG(pay) FROM microdata WHERE age >= 30 AND pay > 3"),
        "SELECT AVG(m.\"pay\") AS \"avg(pay)\" FROM \"people\" AS m WHERE m.\"age\" >= 30 AND m.\"pay\" >= 4"
    );
    let two = release_of_two("shuffle").manifest;
    let both = parse::parse_one("SELECT SUM(pay) FROM microdata WHERE debt = 5 AND pay > 3").unwrap();
    let both = original(&Plan::new(&both, &two).unwrap(), "people", Dialect::Sqlite);
    assert!(both.contains("m.\"pay\" >= 4 AND m.\"debt\" = 5"), "{both}");
    assert_eq!(
        asked("SELECT city, COUNT(*) AS n FROM microdata GROUP BY city"),
        "SELECT m.\"city\" AS \"city\", COUNT(*) AS \"n\" FROM \"people\" AS m GROUP BY m.\"city\""
    );
}

/// The same release with another sensitive column, `debt`.
fn release_of_two(method: &str) -> Release {
    let mut release = release(method);
    let mut debt = release.manifest.attributes[3].clone();
    debt.name = "debt".to_owned();
    release.manifest.attributes.push(debt);
    release
}

#[test]
fn a_question_about_two_columns_counts_the_other_one_by_group() {
    let questions = [
        "SELECT COUNT(*), SUM(pay), AVG(pay) FROM microdata WHERE age > 30 AND debt = 5 AND pay > 1",
        "SELECT debt, city, MIN(pay), COUNT(city) FROM microdata WHERE debt < 9 GROUP BY debt, city",
    ];
    for (method, tables) in [
        ("anatomy", ["\"st_pay\"", "\"st_debt\""]),
        ("permute", ["\"pst_pay\"", "\"pst_debt\""]),
        ("shuffle", ["\"pay\"", "\"debt\""]),
        ("generalize", ["\"pay\"", "\"debt\""]),
    ] {
        let release = release_of_two(method);
        for question in questions {
            let plan = Plan::new(&parse::parse_one(question).unwrap(), &release.manifest).unwrap();
            for dialect in Dialect::ALL {
                let statement = rewrite(&plan, &release, dialect).unwrap();
                let parsed = Parser::parse_sql(syntax(dialect), &statement);
                parsed.unwrap_or_else(|error| panic!("{method}, {dialect}: {question}\n{error}\n{statement}"));
                let named = statement.replace('`', "\"");
                assert!(tables.iter().all(|table| named.contains(table)), "{method}: {statement}");
                assert!(named.contains("beside_0.c / beside_0.n") && !named.contains("beside_1"), "{statement}");
                assert!(!named.contains("\"help"), "{method}: what `help` says is about all hits\n{statement}");
            }
        }
    }
}

#[test]
fn without_an_index_few_groups_are_found_by_hits_alone() {
    for dialect in Dialect::ALL {
        let sum = statement("shuffle", QUESTIONS[1], dialect).unwrap();
        assert_eq!(sum.contains(" = hits.g"), dialect.has_index(), "{sum}");
        assert_eq!(sum.contains(">= hits.g"), !dialect.has_index(), "{sum}");
    }
    // With keys, a group has many numbers of hits.
    let by_age = statement("shuffle", QUESTIONS[5], Dialect::DuckDb).unwrap();
    assert!(by_age.contains(" = hits.g") && !by_age.contains(">= hits.g"), "{by_age}");
}

#[test]
fn a_word_cannot_leave_its_quotes() {
    for dialect in [Dialect::Postgres, Dialect::DuckDb, Dialect::Sqlite] {
        let text = |word: &str| dialect.text(word).0.to_string();
        assert_eq!(text("it's"), "'it''s'");
        assert_eq!(text("a''b"), "'a''''b'");
        assert_eq!(text("\\'; DROP TABLE st; --"), "'\\''; DROP TABLE st; --'");
    }
    let text = |word: &str| Dialect::Spark.text(word).0.to_string();
    assert_eq!(text("it's"), "'it\\'s'");
    assert_eq!(text("\\'x"), "'\\\\\\'x'");
    assert_eq!(text("a\\"), "'a\\\\'");
}
