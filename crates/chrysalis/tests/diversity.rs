//! False diversity: values that look alike, numbers that are near each other, missing values, and taxonomies and orders
//! that make everything near. Each trick is tried on the publisher, which must refuse it or form proper groups, and on
//! the audit, which must not accept such a release as diverse.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use chrysalis::report::AuditOutcome;
use chrysalis::table::{Codes, Column, Counted, Domain, Kind, Table, Unwatched, Value, Watch, folded};
use chrysalis::{Draft, Evidence, Fault, Manifest, Published, Release, Seed, audit, profile, publish};
use serde_json::{Value as Json, json};

/// Records the notes it receives.
#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

impl Watch for Notes {
    fn phase(&self, _: &'static str, _: Option<u64>, _: Counted) {}

    fn advance(&self, _: u64) {}

    fn note(&self, sentence: &str) {
        self.0.lock().unwrap().push(sentence.to_owned());
    }
}

/// A sensitive column `s`, groups `g`, and a quasi column `a` that is different for everyone.
fn table(sensitive: Column, groups: &[i64]) -> Table {
    let n = sensitive.codes().len() as i64;
    Table::new(vec![Column::integers("a", &(0..n).collect::<Vec<_>>()), Column::integers("g", groups), sensitive])
}

fn words(words: &[&str]) -> Column {
    Column::texts("s", words.iter().copied())
}

fn ordinal(order: &[&str], words: &[&str]) -> Column {
    let values = order.iter().map(|word| Value::Text((*word).into())).collect();
    let code = |word: &&str| order.iter().position(|known| known == word).unwrap() as u32;
    let codes = Codes::collect(order.len(), words.iter().map(code));
    Column::new("s", Arc::new(Domain::new(Kind::Ordinal, values, false)), codes)
}

fn draft(require: &[&str], more: Json) -> Draft {
    let mut draft = json!({"quasi": ["a"], "sensitive": "s", "release": {"method": "anatomy", "require": require}});
    for (name, value) in more.as_object().unwrap() {
        match (draft["release"].as_object_mut().unwrap(), value) {
            (release, Json::Object(members)) if name == "release" => release.extend(members.clone()),
            _ => draft[name] = value.clone(),
        }
    }
    serde_json::from_value(draft).unwrap()
}

fn published(table: &Table, draft: &Draft) -> Result<(Published, Vec<String>), chrysalis::Error> {
    let header: Vec<String> = table.columns().iter().map(|column| column.name().to_owned()).collect();
    let recipe = draft.clone().check(&header)?;
    let columns = recipe.requests().iter().map(|request| table.column(&request.name).unwrap().clone());
    let notes = Notes::default();
    let made = publish(Table::new(columns.collect()), &recipe, Seed::Fixed(7), &notes)?;
    Ok((made, notes.0.into_inner().unwrap()))
}

/// Why the publisher refuses.
fn refusal(table: &Table, draft: &Draft) -> String {
    let error = published(table, draft).unwrap_err();
    assert_eq!(error.fault, Fault::Infeasible, "{}", error.message);
    error.message
}

/// The groups of a column, published under k=2, with another promise put into the manifest.
fn forged(sensitive: Column, groups: &[i64], promise: &str, attributes: Json) -> AuditOutcome {
    let release = json!({"partitioner": "column", "group_column": "g", "accept": ["disclosure"]});
    let draft = draft(&["k=2"], json!({"release": release, "attributes": attributes}));
    let (made, _) = published(&table(sensitive, groups), &draft).unwrap();
    let mut manifest: Json = serde_json::from_str(&made.release.manifest.to_json().unwrap()).unwrap();
    for table in manifest["tables"].as_array_mut().unwrap() {
        let name = format!("{}.csv", table["name"].as_str().unwrap());
        table["parts"] = json!([{"file": name, "rows": table["rows"], "sha256": ""}]);
    }
    manifest["promises"] = json!([{"principle": promise, "of": "group", "unit": "rows"}]);
    if !promise.starts_with("k=") {
        manifest["promises"][0]["about"] = json!("s");
    }
    let manifest = Manifest::parse(manifest.to_string().as_bytes()).unwrap();
    audit(&Release { manifest, tables: made.release.tables }, Evidence::default(), &Unwatched).unwrap()
}

/// The audit's verdict on a promise: whether it holds, the worst level, and how it was measured.
fn judged(sensitive: Column, groups: &[i64], promise: &str) -> (bool, String, String) {
    let found = forged(sensitive, groups, promise, json!({}));
    let result = &found.principles[0];
    (result.holds, result.worst_text.clone(), result.measured.clone())
}

/// The sensitive values of every group, as the release shows them.
fn groups_of(release: &Release) -> Vec<Vec<String>> {
    let st = release.table("st").unwrap();
    let text = |name: &str, row: usize| {
        let column = st.column(name).unwrap();
        column.domain().text(column.code(row)).into_owned()
    };
    let mut groups: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in 0..st.rows() {
        let n: usize = text("count", row).parse().unwrap();
        groups.entry(text("group_id", row)).or_default().extend(std::iter::repeat_n(text("s", row), n));
    }
    groups.into_values().collect()
}

/// Every group must satisfy the condition, and the audit must agree.
fn check_groups(made: &Published, is_fine: impl Fn(&[String]) -> bool) {
    for group in groups_of(&made.release) {
        assert!(is_fine(&group), "{group:?}");
    }
    let found = audit(&made.release, Evidence::default(), &Unwatched).unwrap();
    assert!(found.promises_hold(), "{:?}", found.principles);
}

const PARTITIONERS: [&str; 5] = ["nearby", "anatomize", "similar", "mondrian", "compact"];

fn by(partitioner: &str) -> Json {
    json!({"release": {"partitioner": partitioner}})
}

mod look_alikes {
    use super::*;

    #[test]
    fn that_are_too_frequent_together_are_refused_by_all_their_names() {
        let column = words(&["HIV", "HIV", "HIV", "HIV ", "HIV ", "hiv", "flu", "flu", "cold"]);
        let message = refusal(&table(column, &[0; 9]), &draft(&["l=2"], json!({})));
        let expected = "cannot reach l=2: values `HIV`, `HIV ` and `hiv` of `s`, which look alike, have 6 of 9 rows (66.67 %), at \
                        most 50.00 % may have it";
        assert_eq!(message, expected);
    }

    #[test]
    fn are_spread_over_groups_and_shown_as_they_are() {
        let spellings = ["HIV", "HIV ", "hiv", "Caf\u{e9}", "Cafe\u{301}", "flu", "FLU", "cold", "gout", "rash"];
        let rows: Vec<&str> = spellings.into_iter().cycle().take(40).collect();
        for partitioner in PARTITIONERS {
            let (made, notes) = published(&table(words(&rows), &[0; 40]), &draft(&["l=3"], by(partitioner))).unwrap();
            check_groups(&made, |group| {
                let looks: Vec<String> = group.iter().map(|text| folded(text).into_owned()).collect();
                looks.iter().all(|look| looks.iter().filter(|other| *other == look).count() * 3 <= group.len())
            });
            let mut shown: Vec<String> = groups_of(&made.release).concat();
            let mut given: Vec<String> = rows.iter().map(|text| (*text).to_owned()).collect();
            shown.sort();
            given.sort();
            assert_eq!(shown, given, "{partitioner}");
            assert!(
                notes.contains(
                    &"`HIV`, `HIV ` and `hiv` look alike: they count as one value in every promise; if they are one \
                  value, make them one in the table"
                        .to_owned()
                )
            );
            assert_eq!(notes.iter().filter(|note| note.contains("look alike")).count(), 3, "{notes:?}");
        }
    }

    #[test]
    fn are_one_value_for_the_audit() {
        let trick = || words(&["HIV", "HIV ", "hiv", "flu", "cold", "FLU"]);
        let groups = [1, 1, 1, 2, 2, 2];
        let alike = "values that look alike count as one";
        assert_eq!(judged(trick(), &groups, "l=1.5"), (false, "1".into(), alike.into()));
        assert_eq!(judged(trick(), &groups, "distinct-l=2"), (false, "1".into(), alike.into()));
        assert!(!judged(trick(), &groups, "entropy-l=1.5").0);
        assert!(!judged(trick(), &groups, "recursive-l=3,2").0);
        assert!(!judged(trick(), &groups, "alpha-k=0.5,2").0);
        let spellings = || words(&["Caf\u{e9}", "Cafe\u{301}", "flu", "flu "]);
        assert_eq!(judged(spellings(), &[1, 1, 2, 2], "distinct-l=2"), (false, "1".into(), alike.into()));
        // Words that merely resemble each other are different.
        assert!(judged(words(&["HIV", "HPV", "flu", "flu 2"]), &[1, 1, 2, 2], "distinct-l=2").0);
    }

    #[test]
    fn of_one_group_are_certain() {
        let found =
            forged(words(&["HIV", "hiv", "flu", "cold", "gout", "rash"]), &[1, 1, 2, 2, 3, 3], "k=2", json!({}));
        let found = found.disclosure.as_ref().unwrap();
        assert_eq!((found.certain_rows, found.disclosed_rows), (2, 2));
        assert!(found.rule.ends_with("values that look alike count as one"), "{}", found.rule);
        // The publisher counts the same rows, and refuses.
        let release = json!({"release": {"partitioner": "column", "group_column": "g"}});
        let column = words(&["HIV", "hiv", "flu", "cold", "gout", "rash"]);
        let message = refusal(&table(column, &[1, 1, 2, 2, 3, 3]), &draft(&["k=2"], release));
        assert!(message.starts_with("2 of 6 rows (33.3 %) would be disclosed"), "{message}");
        let message = published(&table(words(&["HIV", "hiv", "HIV "]), &[1, 1, 1]), &draft(&["k=2"], json!({})));
        let message = message.unwrap_err().message;
        assert_eq!(message, "every row has what looks like the same value of `s`, so nothing about it can be hidden");
    }

    #[test]
    fn of_an_ordinary_value_are_ordinary() {
        let rows: Vec<&str> = ["No", "no", "No", "No", "yes", "No", "no", "No"].into_iter().cycle().take(48).collect();
        let ordinary = json!({"ordinary": ["No"]});
        let (made, _) = published(&table(words(&rows), &[0; 48]), &draft(&["l=4"], ordinary)).unwrap();
        let named = made.release.manifest.attribute("s").unwrap().ordinary.clone().unwrap();
        assert_eq!(named, ["No", "no"]);
        check_groups(&made, |group| group.iter().filter(|text| *text == "yes").count() * 4 <= group.len());
    }

    #[test]
    fn are_told_by_profile() {
        let draft: Draft = serde_json::from_value(json!({"quasi": ["a"], "sensitive": "s"})).unwrap();
        let found = profile(table(words(&["HIV", "hiv", " "]), &[1, 1, 1]), &draft, &Unwatched).unwrap();
        let alike = "`HIV` and `hiv` look alike: they count as one value in every promise; if they are one value, \
                     make them one in the table";
        assert_eq!(found.notes, [alike]);
        let blank = profile(table(words(&["HIV", "", " "]), &[1, 1, 1]), &draft, &Unwatched).unwrap().notes;
        let missing = "`(missing)` and ` ` look as if `s` were missing: they count as no value that protects anybody \
                       in every promise; if they are one value, make them one in the table";
        assert_eq!(blank, [missing]);
    }
}

mod missing_values {
    use super::*;

    #[test]
    fn are_no_second_value() {
        let trick = || words(&["HIV", "", "flu", "", "cold", ""]);
        let groups = [1, 1, 2, 2, 3, 3];
        let protects = "missing values protect nobody";
        assert_eq!(judged(trick(), &groups, "l=2"), (false, "1".into(), protects.into()));
        assert_eq!(judged(trick(), &groups, "distinct-l=2"), (false, "1".into(), protects.into()));
        assert!(!judged(trick(), &groups, "entropy-l=1.5").0);
        assert!(!judged(trick(), &groups, "recursive-l=3,2").0);
        assert!(!judged(trick(), &groups, "alpha-k=0.5,2").0);
        // An invisible blank is not a value, either.
        assert!(!judged(words(&["HIV", " ", "flu", "\u{a0}"]), &[1, 1, 2, 2], "l=2").0);
        // With enough other values the promise holds: half of the rows that have a value.
        let enough = words(&["HIV", "flu", "", "cold", "gout", ""]);
        assert_eq!(judged(enough, &[1, 1, 1, 2, 2, 2], "l=2"), (true, "2".into(), protects.into()));
        // That a value is missing can be learned as well, so the plain reading still applies.
        let most = words(&["HIV", "flu", "", "", "", ""]);
        assert_eq!(judged(most, &[1; 6], "l=2"), (false, "1.5".into(), protects.into()));
    }

    #[test]
    fn join_groups_that_are_diverse_without_them() {
        let values = ["HIV", "flu", "cold", "gout", "rash", ""];
        let rows: Vec<&str> = values.into_iter().cycle().take(60).collect();
        for partitioner in PARTITIONERS {
            let (made, _) = published(&table(words(&rows), &[0; 60]), &draft(&["l=3"], by(partitioner))).unwrap();
            check_groups(&made, |group| {
                let there: Vec<&String> = group.iter().filter(|text| !text.is_empty()).collect();
                let count = |text: &String| there.iter().filter(|other| **other == text).count();
                (group.len() - there.len()) * 3 <= group.len()
                    && there.iter().all(|text| count(text) * 3 <= there.len())
            });
            // Dealt out by value, ten missing values do not force everything into one group.
            let least = if partitioner == "anatomize" { 8 } else { 1 };
            assert!(made.report.groups >= least, "{partitioner}: {} groups", made.report.groups);
        }
    }

    #[test]
    fn are_named_where_they_stand_in_the_way() {
        let often = words(&["", "", "", "", "", "", "HIV", "flu", "cold", "gout"]);
        let message = refusal(&table(often, &[0; 10]), &draft(&["l=2"], json!({})));
        assert_eq!(message, "cannot reach l=2: `s` is missing in 6 of 10 rows (60.00 %), at most 50.00 % may have it");
        let few = words(&["", "", "", "", "HIV", "HIV", "HIV", "flu", "cold", "gout"]);
        let message = refusal(&table(few, &[0; 10]), &draft(&["l=2.5"], json!({})));
        let expected = "cannot reach l=2.5: value `HIV` of `s` has 3 of 6 rows that have one (50.00 %), at most 40.00 % may have it";
        assert_eq!(message, expected);
        let message = refusal(&table(words(&["", "HIV", "HIV", ""]), &[0; 4]), &draft(&["distinct-l=2"], json!({})));
        assert_eq!(
            message,
            "cannot reach distinct-l=2: `s` has 1 distinct value (missing values protect nobody), a group needs 2"
        );
    }
}

mod near_numbers {
    use super::*;

    /// Salaries from 1,000 to 100,000 in steps of 1,000, so that salaries less than about 900 apart are near; and some
    /// within three of 1,000.
    fn salaries() -> Vec<i64> {
        (1..=100).map(|n| n * 1_000).chain([1_001, 1_002, 1_003]).collect()
    }

    #[test]
    fn are_one_value_for_the_audit() {
        let mut groups: Vec<i64> = (0..103).map(|n| 1 + (n % 25)).collect();
        let trick: Vec<i64> = salaries();
        // 1,000 to 1,003 are a group of their own.
        for (at, group) in groups.iter_mut().enumerate() {
            *group = if trick[at] < 1_010 { 99 } else { *group };
        }
        let near = "values less than 920 apart count as one";
        let column = || Column::integers("s", &trick);
        assert_eq!(judged(column(), &groups, "l=2"), (false, "1".into(), near.into()));
        assert_eq!(judged(column(), &groups, "distinct-l=2"), (false, "1".into(), near.into()));
        assert!(!judged(column(), &groups, "entropy-l=1.5").0);
        assert!(!judged(column(), &groups, "recursive-l=3,2").0);
        assert!(!judged(column(), &groups, "alpha-k=0.5,2").0);
        // The owner may say otherwise, and the manifest records it.
        let found = forged(column(), &groups, "l=3", json!({"s": {"near": 1}}));
        assert_eq!((found.principles[0].holds, found.principles[0].measured.as_str()), (true, ""));
    }

    #[test]
    fn that_differ_in_the_last_digit_are_one_value() {
        let mut reals: Vec<f64> = (1..=96).map(f64::from).collect();
        let hair = 50.0 * f64::EPSILON;
        reals.extend([50.0 + hair, 50.0 + 2.0 * hair, 50.0 + 3.0 * hair]);
        let groups: Vec<i64> = (0..99).map(|at| if reals[at].floor() == 50.0 { 7 } else { (at % 5) as i64 }).collect();
        let (holds, worst, measured) = judged(Column::reals("s", &reals), &groups, "distinct-l=2");
        assert_eq!((holds, worst.as_str()), (false, "1"), "{measured}");
        assert!(measured.starts_with("values less than 0."), "{measured}");
    }

    #[test]
    fn are_dealt_to_different_groups() {
        let mut numbers = salaries();
        numbers.extend((0..30).map(|n| 50_000 + n));
        let n = numbers.len();
        for partitioner in PARTITIONERS {
            let table = table(Column::integers("s", &numbers), &vec![0; n]);
            let (made, _) = published(&table, &draft(&["l=3"], by(partitioner))).unwrap();
            let near = made.report.measured.clone();
            assert_eq!(near, [("l=3".to_owned(), "values less than 900 apart count as one".to_owned())]);
            check_groups(&made, |group| {
                let numbers: Vec<i64> = group.iter().map(|text| text.parse().unwrap()).collect();
                let from = |low: &i64| numbers.iter().filter(|other| **other >= *low && **other - low < 900).count();
                numbers.iter().all(|low| from(low) * 3 <= numbers.len())
            });
        }
    }

    #[test]
    fn are_refused_by_name_where_there_are_too_many() {
        let numbers: Vec<i64> = (0..60).map(|n| 1_000 + n % 4).chain((1..=40).map(|n| n * 1_000)).collect();
        let message = refusal(&table(Column::integers("s", &numbers), &[0; 100]), &draft(&["l=2"], json!({})));
        let expected = "cannot reach l=2: values `1000` to `1003` of `s`, which are near each other, have 61 of 100 rows \
                        (61.00 %), at most 50.00 % may have it";
        assert_eq!(message, expected);
    }

    #[test]
    fn do_not_count_when_sorted_values_are_cut() {
        let numbers: Vec<i64> = (0..20).flat_map(|n| (0..5).map(move |m| n * 1_000 + m)).collect();
        for partitioner in ["max-groups", "min-sum", "min-max"] {
            let more = json!({"release": {"method": "shuffle", "partitioner": partitioner}});
            let table = table(Column::integers("s", &numbers), &[0; 100]);
            let (made, _) = published(&table, &draft(&["distinct-l=3"], more)).unwrap();
            let found = audit(&made.release, Evidence::default(), &Unwatched).unwrap();
            assert!(found.ok(), "{partitioner}: {:?}", found.principles);
            // One out of a crowd of five, all of the next crowd, and one more.
            assert!(made.report.smallest_group >= 7, "{partitioner}: {}", made.report.smallest_group);
        }
        let more = json!({"release": {"method": "shuffle", "partitioner": "min-max-exact"}});
        let error = published(&table(Column::integers("s", &numbers), &[0; 100]), &draft(&["distinct-l=3"], more));
        let message = error.unwrap_err().message;
        assert!(message.contains("it cannot keep numbers apart that are near each other"), "{message}");
    }

    #[test]
    fn of_dates_are_counted_by_days() {
        let day = |n: i32| Value::Date(chrysalis::table::Date(n));
        let values: Vec<Value> = (0..4).chain((1..=100).map(|n| n * 40)).map(day).collect();
        let n = values.len();
        let domain = Domain::new(Kind::Date, values, false);
        let column = || Column::new("s", Arc::new(domain.clone()), Codes::collect(n, 0..n as u32));
        let groups: Vec<i64> = (0..n as i64).map(|at| if at < 4 { 0 } else { 1 + at % 20 }).collect();
        let (holds, worst, measured) = judged(column(), &groups, "l=2");
        assert_eq!(
            (holds, worst.as_str(), measured.as_str()),
            (false, "1", "values less than 37.2 apart count as one")
        );
        let (made, _) = published(&table(column(), &groups), &draft(&["l=3"], json!({}))).unwrap();
        check_groups(&made, |group| group.len() >= 3);
    }
}

mod distances {
    use super::*;

    /// Groups of ten with eight rows of one value, in a table with equally many rows of each value.
    fn skewed() -> (Vec<&'static str>, Vec<i64>) {
        let group = |most: &'static str, others: [&'static str; 2]| [[most; 8].as_slice(), others.as_slice()].concat();
        let rows = [group("a", ["b", "c"]), group("b", ["c", "a"]), group("c", ["a", "b"])].concat();
        (rows, (0..30).map(|row| row / 10).collect())
    }

    /// The lines of a taxonomy with `n` levels of a single node above the values.
    fn padded(n: usize) -> Json {
        let line = |value: &str| {
            let levels = (0..n).map(|level| format!("level {level}"));
            std::iter::once(value.to_owned()).chain(levels).chain(["*".to_owned()]).collect::<Vec<_>>()
        };
        json!({"s": {"taxonomy": [line("a"), line("b"), line("c")]}})
    }

    #[test]
    fn sixty_levels_of_one_node_are_worth_nothing() {
        let (rows, groups) = skewed();
        let found = forged(words(&rows), &groups, "t=0.02", padded(60));
        let result = &found.principles[0];
        // Eight tenths instead of one third.
        assert_eq!((result.holds, result.worst_text.as_str()), (false, "7/15"));
        assert_eq!(result.measured, "hierarchical distance, 1 level; 0.4667 by equal distance");
        let more = json!({"attributes": padded(60)});
        let (made, _) = published(&table(words(&rows), &groups), &draft(&["t=0.02"], more)).unwrap();
        check_groups(&made, |group| {
            let count = |value: &str| group.iter().filter(|text| *text == value).count() as f64 / group.len() as f64;
            ["a", "b", "c"].into_iter().all(|value| (count(value) - 1.0 / 3.0).abs() <= 0.02)
        });
        assert_eq!(made.report.measured, [("t=0.02".to_owned(), "hierarchical distance, 1 level".to_owned())]);
    }

    #[test]
    fn an_order_that_was_given_is_named_and_noted() {
        let (rows, groups) = skewed();
        let order = ["a", "b", "c"];
        let found = forged(ordinal(&order, &rows), &groups, "t=0.5", json!({"s": {"kind": "ordinal", "order": order}}));
        let measured = "distance ordered by the order given: `a` < `b` < `c`; 0.4667 by equal distance";
        assert_eq!(found.principles[0].measured, measured);
        let more = json!({"attributes": {"s": {"kind": "ordinal", "order": order}}});
        let (made, notes) = published(&table(ordinal(&order, &rows), &groups), &draft(&["t=0.3"], more)).unwrap();
        let note = "t=0.3 uses the order that was given for `s`: it assumes that neighbouring values are nearly the \
                    same, which makes t=0.3 weaker than it is for words without an order";
        assert!(notes.contains(&note.to_owned()), "{notes:?}");
        let name = "distance ordered by the order given: `a` < `b` < `c`".to_owned();
        assert_eq!(made.report.measured, [("t=0.3".to_owned(), name)]);
        // Sixty spellings of one value do not make an order longer.
        let spellings: Vec<String> = (0..60).map(|n| format!("z{}", "\u{200b}".repeat(n))).collect();
        let order: Vec<&str> = ["a", "b"].into_iter().chain(spellings.iter().map(String::as_str)).collect();
        let rows: Vec<&str> = [vec!["a"; 30], vec!["b"; 30], order[2..].to_vec()].concat();
        let groups: Vec<i64> = (0..120).map(|row| i64::from(row >= 30) + i64::from(row >= 60)).collect();
        let attributes = json!({"s": {"kind": "ordinal", "order": order}});
        let found = forged(ordinal(&order, &rows), &groups, "t=0.4", attributes);
        assert_eq!((found.principles[0].holds, found.principles[0].worst_text.as_str()), (false, "0.625"));
    }

    #[test]
    fn equal_weights_are_named_and_noted() {
        let (rows, groups) = skewed();
        let attributes = json!({"s": {"categories": [["a"], ["b"], ["c"]], "weights": ["0.5", "0.5", "0.5"]}});
        let found = forged(words(&rows), &groups, "distinct-l-alpha=2,1", attributes.clone());
        let measured = "all 3 categories weigh 0.5: none counts as worse than another";
        assert_eq!(found.principles[0].measured, measured);
        let more = json!({"attributes": attributes});
        let (made, notes) = published(&table(words(&rows), &groups), &draft(&["distinct-l-alpha=2,1"], more)).unwrap();
        let note = "all categories of `s` weigh the same, so distinct-l-alpha=2,1 counts rows where it should weigh \
                    how bad their values are";
        assert!(notes.contains(&note.to_owned()), "{notes:?}");
        assert_eq!(made.report.measured, [("distinct-l-alpha=2,1".to_owned(), measured.to_owned())]);
        let uniform = json!({"s": {"categories": [["a"], ["b"], ["c"]]}});
        let found = forged(words(&rows), &groups, "distinct-l-alpha=2,1", uniform);
        assert_eq!(found.principles[0].measured, "categories weigh 0, 0.5, 1");
    }
}

/// Releases of version 1 are read by the rules they were made with.
#[test]
fn version_1_counts_every_value_by_itself() {
    let column = || words(&["HIV", "HIV ", "flu", ""]);
    let release = json!({"partitioner": "column", "group_column": "g", "accept": ["disclosure"]});
    let draft = draft(&["k=2"], json!({"release": release}));
    let (made, _) = published(&table(column(), &[1, 1, 2, 2]), &draft).unwrap();
    let mut manifest: Json = serde_json::from_str(&made.release.manifest.to_json().unwrap()).unwrap();
    let old = manifest.as_object_mut().unwrap();
    ["features", "encoding", "promises", "accepted"].iter().for_each(|name| drop(old.remove(*name)));
    old.insert("version".into(), json!(1));
    old.insert("guarantees".into(), json!(["l=2"]));
    for table in old["tables"].as_array_mut().unwrap() {
        let table = table.as_object_mut().unwrap();
        table.remove("parts");
        table.insert("file".into(), json!(format!("{}.csv", table["name"].as_str().unwrap())));
        table.insert("sha256".into(), json!(""));
    }
    let manifest = Manifest::parse(manifest.to_string().as_bytes()).unwrap();
    let found = audit(&Release { manifest, tables: made.release.tables }, Evidence::default(), &Unwatched).unwrap();
    let result = &found.principles[0];
    assert_eq!((result.holds, result.worst_text.as_str()), (true, "2"));
    assert_eq!(result.measured, "every value counts by itself, as version 1 counted");
    assert_eq!(serde_json::to_value(&found).unwrap()["reading"], "plain");
}
