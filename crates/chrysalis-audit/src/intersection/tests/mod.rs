//! Angel table 2: two tables that each keep a promise, but not together.

use chrysalis_release::{ENCODING, Form, Manifest, Release, RoleName, VERSION};
use chrysalis_table::{Column, Table};
use chrysalis_testkit::papers;

mod permuted;
mod shares;

use crate::boxes::tests::attribute;
use crate::testing::{audit, entry, promises};
use crate::{Intersection, IntersectionLeft, IntersectionOver, Shares, SharesOver, intersect};

fn release(path: &str, quasi: &[&str], guarantees: &[&str]) -> Release {
    let (rows, source) = (papers::table(path), papers::table("angel/table-2a.csv"));
    let known: Vec<&str> = rows.columns().iter().map(Column::name).collect();
    let mut columns: Vec<&str> =
        known.iter().copied().filter(|name| *name != "disease" && *name != "group_id").collect();
    columns.insert(0, "group_id");
    columns.push("disease");
    let columns = columns.iter().map(|name| rows.column(name).unwrap().clone());
    let table = Table::new(columns.collect());
    let words = |name: &str, words: [&'static str; 2]| Column::texts(name, words.into_iter());
    let mut tables = vec![("generalized", table)];
    if quasi.contains(&"sex") {
        let members = vec![words("attribute", ["sex", "sex"]), words("label", ["F", "M"]), words("value", ["F", "M"])];
        tables.push(("members", Table::new(members)));
    }
    let roles = quasi.iter().map(|name| (*name, RoleName::Quasi)).chain([("disease", RoleName::Sensitive)]);
    Release {
        manifest: Manifest {
            version: VERSION,
            encoding: ENCODING,
            method: Form::Generalize,
            partitioner: "column".into(),
            rows: 6,
            groups: 3,
            promises: promises(Form::Generalize, Some("disease"), guarantees),
            attributes: roles.map(|(name, role)| attribute(role, source.column(name).unwrap())).collect(),
            together: Vec::new(),
            quasi_identifiers: vec![quasi.iter().map(|name| (*name).to_owned()).collect()],
            tables: tables.iter().map(|(name, table)| entry(name, table)).collect(),
            persons: None,
            suppressed: 0,
            reproducible: false,
            transparent: false,
            series: None,
            accepted: vec![chrysalis_release::Accepted::Disclosure],
        },
        tables: tables.into_iter().map(|(_, table)| table).collect(),
    }
}

fn table_2b(guarantees: &[&str]) -> Release {
    release("angel/table-2b.csv", &["age", "sex", "zipcode"], guarantees)
}

fn table_2c(guarantees: &[&str]) -> Release {
    release("angel/table-2c.csv", &["zipcode"], guarantees)
}

#[test]
fn intersecting_angel_tables_2b_and_2c_reveals_alan() {
    let microdata = papers::table("angel/table-2a.csv");
    let (one, other) = (table_2b(&["l=2"]), table_2c(&["l=2"]));
    let holds = |release: &Release| audit(release, None).unwrap().principles.iter().all(|result| result.holds);
    assert!(holds(&one) && holds(&other), "each of them is 2-diverse");
    let (check, found) = intersect(&one, &other, "2c", Some(&microdata)).unwrap();
    assert!(!check.ok);
    // Alan has pneumonia and Carrie bronchitis for sure; the others keep two diseases each.
    let expected = Intersection {
        with: "2c".into(),
        left: IntersectionLeft::Values,
        promised: 2,
        fewest: Some(1),
        narrowed: 2,
        people: 6,
        contradicted: 0,
        counts_differ_by: Some(0),
        over: IntersectionOver::People,
        // Counting worlds reveals two more people: only two worlds remain (docs/errata.md).
        shares: Ok(Shares {
            promised: Some(chrysalis_criteria::Rational::new(1, 2)),
            largest: Some(1.0),
            is_largest_exact: true,
            people: 6,
            estimated: 0,
            above: 4,
            right: Some(4),
            impossible: 0,
            over: SharesOver::People,
        }),
    };
    assert_eq!(found, expected);
    assert_eq!(
        check.findings,
        [
            "together with 2c, 2 of 6 people of the microdata are left with fewer sensitive values than promised (1 in the worst \
             case, 2 promised)",
            "together with 2c, for 4 of 6 people of the microdata a bet is better than promised: one of their values \
             has a share of up to 100.0 % of the worlds that fit all releases, where at most 50.0 % is promised"
        ]
    );
    // Without the microdata, everybody who could be where groups meet is tried.
    let (check, found) = intersect(&one, &other, "2c", None).unwrap();
    assert!(!check.ok && found.fewest == Some(1) && found.over == IntersectionOver::Conceivable, "{found:?}");
}

#[test]
fn a_release_tells_nothing_new_about_itself() {
    for microdata in [None, Some(papers::table("angel/table-2a.csv"))] {
        let (check, found) = intersect(&table_2b(&["l=2"]), &table_2b(&["l=2"]), "itself", microdata.as_ref()).unwrap();
        assert!(check.ok, "{check:?}");
        assert_eq!((found.fewest, found.narrowed), (Some(2), 0));
    }
}

/// `k` promises no number of values, but two tables together must not make certain what neither does alone.
#[test]
fn what_neither_table_gives_away_both_must_not() {
    let (check, found) = intersect(&table_2b(&["k=2"]), &table_2c(&["k=2"]), "2c", None).unwrap();
    assert!(!check.ok && found.promised == 1, "{found:?}");
}

/// Two months of one hospital share most people, not all.
#[test]
fn people_who_are_not_in_both_releases_are_told_as_such() {
    let microdata = papers::table("angel/table-2a.csv");
    let (_, found) = intersect(&table_2b(&["l=2"]), &table_2b(&["l=2"]), "april", Some(&microdata)).unwrap();
    let found = Intersection { contradicted: 2, ..found };
    let rest = "so one of them was not made from this table (it may be from another month); nothing can be concluded \
                about these people, and the others were still checked";
    let expected = format!(
        "together with april, 2 of 6 people of the microdata are left with no sensitive value, or fit no group of one release: the \
         releases do not have the same rows, {rest}"
    );
    let check = found.check();
    assert_eq!((check.ok, check.detail), (false, expected));
    let people = Intersection { left: IntersectionLeft::People, ..found }.check();
    let start = "together with april, 2 of 6 people of the microdata fit no group of one of the releases: they do";
    assert!(people.detail.starts_with(start), "{people:?}");
}

#[test]
fn swapped_values_are_refused() {
    let mut other = table_2c(&["l=2"]);
    other.manifest.method = Form::RankSwap;
    let error = intersect(&table_2b(&["l=2"]), &other, "2c", None).unwrap_err();
    assert!(error.to_string().starts_with("a release by method `rank-swap` may show people the values"), "{error}");
    assert!(error.hint().to_string().contains("`permute`"), "{}", error.hint());
}
