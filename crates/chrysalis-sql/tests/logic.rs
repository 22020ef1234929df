//! Value sets and three-valued logic compared with an evaluator that tests every value; and which questions are refused
//! when they are bound to a release.

#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use chrysalis_query::value_set::{Ranges, RealCut};
use chrysalis_query::{Plan, QueryError};
use chrysalis_sql::{ask, parse};
use chrysalis_table::{Date, Kind, Value};
use common::ask::{self, Ask};
use common::{World, rng, truth};
use proptest::prelude::*;
use rand::RngExt;

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { failure_persistence: None, cases, ..ProptestConfig::default() }
}

fn integers() -> impl Strategy<Value = Vec<(i128, i128)>> {
    proptest::collection::vec((-6_i128..7, -6_i128..7), 0..5)
}

fn reals() -> impl Strategy<Value = Vec<(RealCut, RealCut)>> {
    let cut = (-3_i32..4, any::<bool>()).prop_map(|(at, after)| RealCut { at: f64::from(at), after });
    proptest::collection::vec((cut.clone(), cut), 0..5)
}

proptest! {
    #![proptest_config(config(500))]

    #[test]
    fn ranges_of_integers_are_sets(a in integers(), b in integers()) {
        let (left, right) = (Ranges::union_of(a.clone()), Ranges::union_of(b.clone()));
        let is_in = |ranges: &[(i128, i128)], n: i64| ranges.iter().any(|&(from, to)| from <= n.into() && i128::from(n) < to);
        for n in (-8..9).chain([i64::MIN, i64::MAX]) {
            prop_assert_eq!(left.contains(n), is_in(&a, n));
            prop_assert_eq!(left.union(&right).contains(n), is_in(&a, n) || is_in(&b, n));
            prop_assert_eq!(left.intersection(&right).contains(n), is_in(&a, n) && is_in(&b, n));
            prop_assert_eq!(left.complement().contains(n), !is_in(&a, n));
        }
        prop_assert_eq!(left.complement().complement(), left.clone());
        let closed: Vec<_> = left.closed().map(|(low, high)| (i128::from(low.unwrap()), i128::from(high.unwrap()) + 1)).collect();
        prop_assert_eq!(Ranges::union_of(closed), left);
    }

    #[test]
    fn ranges_of_reals_are_sets(a in reals(), b in reals()) {
        let (left, right) = (Ranges::union_of(a.clone()), Ranges::union_of(b.clone()));
        let is_in = |ranges: &[(RealCut, RealCut)], x: f64| {
            ranges.iter().any(|(from, to)| {
                (from.at < x || (from.at == x && !from.after)) && (x < to.at || (x == to.at && to.after))
            })
        };
        for x in (-9..10).map(|half| f64::from(half) / 2.0) {
            prop_assert_eq!(left.contains(x), is_in(&a, x));
            prop_assert_eq!(left.union(&right).contains(x), is_in(&a, x) || is_in(&b, x));
            prop_assert_eq!(left.intersection(&right).contains(x), is_in(&a, x) && is_in(&b, x));
            prop_assert_eq!(left.complement().contains(x), !is_in(&a, x));
        }
        prop_assert_eq!(left.complement().complement(), left);
    }

    /// A condition on one attribute becomes one value set, which contains exactly the values for which SQL says TRUE.
    #[test]
    fn a_condition_on_one_attribute_becomes_the_values_for_which_it_is_true(seed in any::<u64>()) {
        let mut rng = rng(seed);
        let kind = Kind::ALL[rng.random_range(0..5)];
        let world = World::random(&mut rng, 12, 1, kind, 0.2);
        let release = world.publish("anatomy", &mut rng).unwrap();
        let condition = ask::condition(&world, &[world.sensitive()], 4, &mut rng);
        let question = Ask { condition: Some(condition.clone()), aggregates: vec![("count", None)], keys: Vec::new() };
        let text = question.sql(&world);
        let plan = Plan::new(&parse::parse_one(&text).unwrap(), release.manifest()).unwrap();
        prop_assert!(plan.conditions[0].tree.is_none());
        let (field, set) = (&plan.fields[plan.sensitive.unwrap()], plan.sensitive_set.unwrap());
        for row in &world.rows {
            let value = row[world.sensitive()].as_ref().map(|value| Value::parse(kind, &value.text()).unwrap());
            prop_assert_eq!(field.contains(&set, value.as_ref()), truth::holds(&condition, row) == Some(true), "{} {:?}", text, value);
        }
    }
}

/// How a question over a permuted release with the columns a, d, w, o and s is refused.
fn refusal(question: &str) -> String {
    let mut rng = rng(7);
    let mut world = World::random(&mut rng, 12, 2, Kind::Category, 0.0);
    world.cols =
        [("a", Kind::Integer), ("d", Kind::Date), ("w", Kind::Category), ("o", Kind::Ordinal), ("s", Kind::Category)]
            .map(|(name, kind)| common::Col { name, kind })
            .to_vec();
    world.rows =
        (0..12).map(|_| world.cols.iter().map(|col| Some(common::value(col.kind, &mut rng))).collect()).collect();
    let release = world.publish("permute", &mut rng).unwrap();
    let error: QueryError = ask(&release, question).unwrap_err();
    format!("{error} / {}", error.hint())
}

#[test]
fn refusals_say_where_and_what_to_ask_instead() {
    let check = |question: &str, parts: &[&str]| {
        let said = refusal(question);
        for part in parts {
            assert!(said.contains(part), "{question}\n{said}\nlacks {part}");
        }
    };
    check(
        "SELECT COUNT(*) FROM microdata WHERE name = 'Bob'",
        &["line 1, column 38", "no column `name`", "asked are: a, d, w, o, s"],
    );
    check("SELECT MODE(a) FROM microdata", &["column 8", "`mode` is not answered", "GROUP BY the column"]);
    check("SELECT RANK() OVER (ORDER BY a) FROM microdata", &["column 8", "whose values stand beside", "GROUP BY"]);
    check("SELECT SUM(w) FROM microdata", &["only for a sensitive column", "COUNT(*) GROUP BY w"]);
    check("SELECT SUM(s) FROM microdata", &["sum needs numbers", "COUNT(*)"]);
    check("SELECT SUM(DISTINCT a) FROM microdata", &["DISTINCT", "COUNT(DISTINCT"]);
    check("SELECT a FROM microdata GROUP BY a", &["no aggregate"]);
    check("SELECT a, COUNT(*) FROM microdata", &["not in GROUP BY", "add GROUP BY a"]);
    check("SELECT * FROM microdata", &["rows cannot be selected"]);
    check("SELECT COUNT(*) FROM people", &["no table `people`", "FROM microdata"]);
    check("SELECT COUNT(*) FROM microdata, microdata", &["joins"]);
    check("SELECT COUNT(*) FROM microdata x JOIN microdata y ON x.a = y.a", &["joined with itself", "public tables"]);
    check("SELECT COUNT(*) FROM microdata JOIN towns ON w = towns.w", &["no public table `towns`", "`tables`"]);
    check("SELECT COUNT(*) FROM microdata WHERE a = w", &["several columns, a and w", "constants"]);
    check("SELECT SUM(a + s) FROM microdata", &["`s` holds values of kind category"]);
    check(
        "SELECT COUNT(*) FROM microdata WHERE w = \"b\"",
        &["line 1, column 42", "double quotes name columns, so \"b\" is not text here", "hold text: write 'b'"],
    );
    check("SELECT COUNT(*) FROM microdata WHERE w IN ('a', \"b's\")", &["double quotes", "write 'b''s'"]);
    check("SELECT COUNT(*) FROM microdata WHERE w LIKE \"a%\"", &["double quotes", "write 'a%'"]);
    check("SELECT COUNT(*) FROM microdata WHERE a LIKE 'x'", &["LIKE asks about words"]);
    check("SELECT COUNT(*) FROM microdata WHERE a = 'x'", &["'x' is not a value of `a`", "a number"]);
    check("SELECT COUNT(*) FROM microdata WHERE w = 3", &["3 is not a value of `w`", "single quotes"]);
    check("SELECT COUNT(*) FROM microdata WHERE d > '2020'", &["'2020' is not a value of `d`", "YYYY-MM-DD"]);
    check("SELECT COUNT(*) FROM microdata WHERE o < 'top'", &["no value 'top'", "in order: low, mid, high"]);
    check("SELECT COUNT(*) FROM microdata WHERE a IN (SELECT a FROM microdata)", &["a question inside a question"]);
    check("SELECT COUNT(*) FROM microdata HAVING a > 3", &["`a` is used beside aggregates", "GROUP BY a"]);
    check("SELECT COUNT(*) FROM microdata ORDER BY 3", &["no column number 3"]);
    check("SELECT COUNT(*) FROM microdata LIMIT a", &["LIMIT takes a number"]);
    let deep = format!("SELECT COUNT(*) FROM microdata WHERE a {}", "= 1 ".repeat(900));
    check(&deep, &["nested more than 100 deep"]);
    let nested = format!("SELECT COUNT(*) FROM microdata WHERE a {}", "IS NULL ".repeat(600));
    check(&nested, &["deep"]);
    check("SELECT COUNT(*), COUNT(*) FROM microdata", &["two columns of the answer", "AS"]);
    check("SELECT COUNT(*)\nFROM microdata\nWHERE a >", &["line 3, column", "cannot be read"]);
    check("SELECT COUNT(*) FROM microdata; SELECT COUNT(*) FROM microdata", &["2 statements", "`file`"]);
    check("DROP TABLE microdata", &["only SELECT statements"]);
    check("", &["no question"]);
    check("SELECT COUNT(*) FROM microdata WHERE a > 1e999", &["too large a number"]);
    check("SELECT COUNT(*) FROM microdata WHERE w LIKE 'a!' ESCAPE '!'", &["escapes nothing"]);
}

#[test]
fn names_are_found_without_regard_to_case_unless_quoted() {
    let mut rng = rng(3);
    let world = World::random(&mut rng, 6, 1, Kind::Integer, 0.0);
    let release = world.publish("anatomy", &mut rng).unwrap();
    assert!(ask(&release, "select count(S) from Microdata as m where m.s > 0").is_ok());
    assert!(ask(&release, "select count(\"s\") from microdata").is_ok());
    assert!(ask(&release, "select count(\"S\") from microdata").is_err());
}

#[test]
fn constants_beyond_all_values_match_nothing_or_everything() {
    let mut rng = rng(5);
    let world = World::random(&mut rng, 9, 2, Kind::Integer, 0.0);
    let release = world.publish("anatomy", &mut rng).unwrap();
    let count = |condition: &str| {
        ask(&release, &format!("SELECT COUNT(*) FROM microdata WHERE {condition}")).unwrap().rows[0].aggregates[0]
            .estimate
    };
    for everything in [
        "s < 99999999999999999999999999",
        "s > -1e300",
        "s <> 0.5",
        "s >= -9223372036854775808",
        "s < 9223372036854775808",
    ] {
        assert_eq!(count(everything), Some(9.0), "{everything}");
    }
    for nothing in [
        "s > 99999999999999999999999999",
        "s = 0.5",
        "s = NULL",
        "s <> NULL",
        "s NOT IN (1, NULL)",
        "s > 9223372036854775807",
    ] {
        assert_eq!(count(nothing), Some(0.0), "{nothing}");
    }
    assert_eq!(Date::parse("2020-01-01"), Some(Date(18262)));
}
