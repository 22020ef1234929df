//! Angel through the command line: the paper's tables and example 6, the attack of table 2, and refusals.

#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use common::{parse_csv, run};

fn paper(folder: &Path, name: &str) {
    fs::copy(common::papers().join(name), folder.join("data.csv")).unwrap();
}

#[track_caller]
fn publish(folder: &Path, arguments: &str, out: &str) {
    run(folder, &format!("publish data.csv {arguments} --format csv --out {out}")).expect(0);
    run(folder, &format!("audit {out} --microdata data.csv")).expect(0);
}

/// A CSV as rows of text, with the wanted columns in order.
fn cells(text: &str, columns: &[&str]) -> Vec<Vec<String>> {
    let mut rows = parse_csv(text).into_iter();
    let header = rows.next().unwrap();
    let places: Vec<usize> =
        columns.iter().map(|name| header.iter().position(|known| known == name).unwrap()).collect();
    rows.map(|row| places.iter().map(|&place| row[place].clone()).collect()).collect()
}

/// Batches by their rows in several tables, regardless of their ids.
fn by_batch(tables: &[(String, Vec<&str>)], id: &str) -> Vec<Vec<Vec<Vec<String>>>> {
    let mut batches: BTreeMap<String, Vec<Vec<Vec<String>>>> = BTreeMap::new();
    for (at, (text, columns)) in tables.iter().enumerate() {
        let ids = cells(text, &[id]);
        for (own, row) in ids.into_iter().zip(cells(text, columns)) {
            let batch = batches.entry(own[0].clone()).or_insert_with(|| vec![Vec::new(); tables.len()]);
            batch[at].push(row);
        }
    }
    let mut batches: Vec<_> = batches.into_values().collect();
    batches.iter_mut().flatten().for_each(|rows| rows.sort());
    batches.sort();
    batches
}

/// Compares published tables with printed ones: file, printed file, columns.
#[track_caller]
fn check_printed(folder: &Path, out: &str, tables: &[(&str, &str, &[&str])]) {
    let read = |path: std::path::PathBuf| fs::read_to_string(path).unwrap();
    let ours: Vec<_> =
        tables.iter().map(|(file, _, columns)| (read(folder.join(out).join(file)), columns.to_vec())).collect();
    let star = |text: String| text.replace(",*,", ",\"{F,M}\",");
    let printed: Vec<_> =
        tables.iter().map(|(_, path, columns)| (star(read(common::papers().join(path))), columns.to_vec())).collect();
    assert_eq!(by_batch(&ours, "batch_id"), by_batch(&printed, "batch_id"));
}

const BT: &[&str] = &["disease", "count"];
const GT: &[&str] = &["age_min", "age_max", "sex"];

#[test]
fn angel_tables_1_3_4_and_6_through_the_command_line() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    paper(folder, "angel/table-1.csv");
    let common = "--quasi age,sex --sensitive disease --partitioner column --require l=2";
    let angel = format!("{common} --require k=2 --method angel");
    publish(folder, &format!("{angel} --group-column batch_id --bucket-column bucket_id"), "table-3");
    check_printed(folder, "table-3", &[("bt.csv", "angel/table-3a.csv", BT), ("gt.csv", "angel/table-3b.csv", GT)]);
    publish(folder, &format!("{angel} --group-column group_id --bucket-column group_id"), "table-4");
    check_printed(folder, "table-4", &[("bt.csv", "angel/table-4a.csv", BT), ("gt.csv", "angel/table-4b.csv", GT)]);
    publish(folder, &format!("{common} --method generalize --group-column group_id"), "table-1");
    let columns = ["age_min", "age_max", "sex", "disease"];
    let sorted = |text: &str| {
        let mut rows = cells(&text.replace(",*,", ",\"{F,M}\","), &columns);
        rows.sort();
        rows
    };
    let printed = fs::read_to_string(common::papers().join("angel/table-1b.csv")).unwrap();
    let ours = fs::read_to_string(folder.join("table-1/generalized.csv")).unwrap();
    assert_eq!(sorted(&ours), sorted(&printed));
    publish(folder, &format!("{common} --method anatomy --group-column group_id"), "table-6");
    let text = |path: &Path| fs::read_to_string(path).unwrap();
    let ours = |file: &str, columns| (text(&folder.join("table-6").join(file)), columns);
    let printed = |file: &str, columns| (text(&common::papers().join(file)), columns);
    assert_eq!(
        by_batch(&[ours("qit.csv", vec!["age", "sex"]), ours("st.csv", BT.to_vec())], "group_id"),
        by_batch(
            &[printed("angel/table-6a.csv", vec!["age", "sex"]), printed("angel/table-6b.csv", BT.to_vec())],
            "group_id"
        )
    );
    // Example 6, as counts: 1.1 from table 1b, 2 from table 3; the true answer is 2.
    for (release, expected) in [("table-1", 1.1), ("table-3", 2.0)] {
        let question = "SELECT COUNT(*) FROM microdata WHERE age BETWEEN 35 AND 45 AND disease = 'pneumonia'";
        let answer =
            run(folder, &format!("query {release} \"{question}\" --estimate even --output json")).expect(0).json();
        let found = &answer["rows"][0]["aggregates"][0];
        assert!((found["estimate"].as_f64().unwrap() - expected).abs() < 1e-12, "{release}: {answer}");
        assert!(found["lower"].as_f64().unwrap() <= 2.0 && found["upper"].as_f64().unwrap() >= 2.0);
    }
}

#[test]
fn angel_table_7_passes_where_tables_2b_and_2c_are_caught() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    paper(folder, "angel/table-2a.csv");
    let common = "--sensitive disease --partitioner column --require l=2";
    let whole = format!("{common} --quasi age,sex,zipcode --group-column batch_id");
    let angel =
        "--method angel --require k=2 --bucket-column bucket_id --bucket-column zipcode_bucket_id --marginal zipcode";
    publish(folder, &format!("{whole} {angel}"), "table-7");
    let zipcodes: &[&str] = &["zipcode_min", "zipcode_max"];
    check_printed(
        folder,
        "table-7",
        &[
            ("bt.csv", "angel/table-7a.csv", BT),
            ("gt.csv", "angel/table-7b.csv", &["age_min", "age_max", "sex", "zipcode_min", "zipcode_max"]),
            ("gt_zipcode.csv", "angel/table-7c.csv", zipcodes),
        ],
    );
    publish(folder, &whole, "table-2b");
    publish(folder, &format!("{common} --quasi zipcode --group-column zipcode_bucket_id"), "table-2c");
    for microdata in ["", "--microdata data.csv"] {
        let audit = run(folder, &format!("audit table-2b --with table-2c {microdata} --output json")).expect(4).json();
        assert_eq!(audit["principles"][0]["holds"], true, "alone it keeps its promise");
        let attack = &audit["attacks"]["intersection"][0];
        assert_eq!((attack["fewest"].as_u64(), attack["promised"].as_u64()), (Some(1), Some(2)), "{attack}");
        run(folder, &format!("audit table-7 --with table-7 {microdata}")).expect(0);
    }
    let said = run(folder, "audit table-2b --with table-2c --microdata data.csv").expect(4).stdout;
    assert!(
        said.contains("2 of 6 people of the microdata are left with fewer sensitive values than promised"),
        "{said}"
    );
}

#[test]
fn the_spec_can_say_what_the_flags_can() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    paper(folder, "angel/table-2a.csv");
    let spec = "input = \"data.csv\"\n[attributes.age]\nrole = \"quasi\"\n[attributes.sex]\nrole = \"quasi\"\n\
                [attributes.zipcode]\nrole = \"quasi\"\n[attributes.disease]\nrole = \"sensitive\"\n[release]\n\
                method = \"angel\"\nrequire = [\"l=2\", \"k=2\"]\npartitioner = \"column\"\ngroup_column = \"batch_id\"\n\
                bucket_columns = [\"bucket_id\", \"zipcode_bucket_id\"]\nmarginals = [[\"zipcode\"]]\n";
    fs::write(folder.join("spec.toml"), spec).unwrap();
    let summary = run(folder, "publish spec.toml --format csv --out release --output json").expect(0).json();
    assert_eq!(summary["buckets"]["gt_zipcode"]["buckets"], 3, "{summary}");
    assert_eq!(summary["is_simple_generalization"], false);
    assert_eq!(summary["guarantees"], serde_json::json!(["l=2", "k=2"]));
    assert!(folder.join("release/gt_zipcode.csv").is_file());
}

#[test]
fn what_angel_cannot_do_is_refused_with_a_reason() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    paper(folder, "angel/table-1.csv");
    let check = |arguments: &str, code: i32, message: &str| {
        let outcome = run(folder, &format!("publish data.csv --quasi age,sex {arguments} --out release"));
        assert_eq!(outcome.code, Some(code), "{arguments}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(message), "{arguments}: {}", outcome.stderr);
        assert!(!folder.join("release").exists());
    };
    let angel = "--method angel --sensitive disease --require l=2";
    check("--method angel --require k=2 --sensitive disease", 2, "angel needs a principle for batches");
    check("--method angel --require k=2 --require l=2", 2, "`l=2` needs a sensitive column");
    check(angel, 3, "cannot reach k=10");
    check(&format!("{angel} --require k=2 --marginal name"), 2, "a marginal names `name`, which is not a quasi column");
    check(&format!("{angel} --require k=2 --marginal age,sex"), 2, "the marginal `age,sex` names a column twice");
    check(&format!("{angel} --require k=2 --bucket-column none"), 2, "no column `none`");
    check("--sensitive disease --require l=2 --marginal age", 2, "`marginal` goes with the method angel");
    check("--sensitive disease --require l=2 --bucket-column name", 2, "`bucket_column` goes with the method angel");
    check(&format!("{angel} --require k=3 --bucket-column bucket_id"), 3, "of column `bucket_id` fails it");
}

#[test]
fn evaluate_tells_how_far_a_release_is_from_its_microdata() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    paper(folder, "angel/table-1.csv");
    let common = "--quasi age,sex --sensitive disease --partitioner column --require l=2 --group-column";
    publish(folder, &format!("{common} group_id"), "generalized");
    publish(folder, &format!("{common} batch_id --method angel --require k=2 --bucket-column bucket_id"), "angel");
    let kl = |release: &str| {
        let line = format!("evaluate {release} --microdata data.csv --attributes age --output json");
        let found = run(folder, &line).expect(0).json();
        assert_eq!(found["divergences"][1]["attributes"], serde_json::json!(["age"]));
        found["divergences"][0]["kl"].as_f64().unwrap()
    };
    // 1/8 at every person's point; rebuilt: 1/2 over 80 points, and 1/4 over 6.
    assert!((kl("generalized") - 20f64.ln()).abs() < 1e-12 && (kl("angel") - 3f64.ln()).abs() < 1e-12);
    let said = run(folder, "evaluate angel --microdata data.csv").expect(0).stdout;
    assert!(said.contains("1.0986") && said.contains("CAVG"), "{said}");
    let csv = run(folder, "evaluate angel --microdata data.csv --output csv").expect(0).stdout;
    assert!(csv.starts_with("name,value\nmethod,angel\n"), "{csv}");
    let refused = run(folder, "evaluate angel --microdata data.csv --attributes name").expect(2).stderr;
    assert!(refused.contains("`name` is not a quasi attribute") && refused.contains("age, sex"), "{refused}");
}

/// Questions are answered from the narrowest table, and a database gives the same answer.
#[test]
fn a_question_about_a_marginal_is_asked_of_its_table() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    paper(folder, "angel/table-2a.csv");
    let columns =
        "--partitioner column --group-column batch_id --bucket-column bucket_id --bucket-column zipcode_bucket_id";
    let method = "--method angel --require l=2 --require k=2 --marginal zipcode";
    publish(folder, &format!("--quasi age,sex,zipcode --sensitive disease {method} {columns}"), "release");
    let question = "SELECT COUNT(*) FROM microdata WHERE zipcode < 13000";
    let answer = run(folder, &format!("query release \"{question}\" --estimate even --output json")).expect(0).json();
    let found = &answer["rows"][0]["aggregates"][0];
    assert_eq!((found["lower"].as_f64(), found["upper"].as_f64()), (Some(2.0), Some(2.0)), "{answer}");
    let rewritten = run(folder, &format!("rewrite release \"{question}\" --dialect sqlite")).expect(0).stdout;
    assert!(rewritten.contains("gt_zipcode"), "{rewritten}");
    let both = "SELECT COUNT(*) FROM microdata WHERE zipcode < 13000 AND sex = 'M'";
    let rewritten = run(folder, &format!("rewrite release \"{both}\" --dialect duckdb")).expect(0).stdout;
    assert!(!rewritten.contains("gt_zipcode") && rewritten.contains("gt"), "{rewritten}");
}

/// k holds in each table alone. Both the publisher and the audit count what remains after a join, and both report it.
#[test]
fn tables_that_are_joined_say_whom_they_leave_below_k() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    run(folder, "example --rows 1000 --out hospital").expect(0);
    let publish = "publish hospital/patients.csv --quasi age,sex,occupation --sensitive disease --method angel --require l=4 \
                   --require k=10 --seed 5 --format csv --force";
    let marginals = "--marginal age --marginal sex,occupation";
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let made = run(folder, &format!("{publish} {marginals} --out release")).expect(0);
    let told = run(folder, &format!("{publish} {marginals} --out release --output json")).expect(0).json();
    let below = told["joined"]["people_below_k"].as_u64().unwrap();
    let fewest = told["joined"]["fewest_rows"].as_u64().unwrap();
    assert!(below > 0 && fewest < 10, "{told}");
    let summary = words(&made.stdout);
    let rows = if fewest == 1 { "row" } else { "rows" };
    let joined = format!("joined {below} of 1,000 people keep fewer than 10, the worst off keep {fewest} {rows}");
    assert!(summary.contains("every bucket k=10, in each table alone") && summary.contains(&joined), "{summary}");
    let audit = run(folder, "audit release --microdata hospital/patients.csv --output json").expect(0).json();
    let joining = &audit["attacks"]["joining"];
    // Labels of several buckets can cover a person, which leaves more rows to an attacker.
    let narrowed = joining["narrowed"].as_u64().unwrap();
    assert!(narrowed > 0 && narrowed <= below && joining["fewest"].as_u64().unwrap() >= fewest, "{joining}");
    assert_eq!((&joining["tables"], &joining["promised"], &joining["people"]), (&3.into(), &10.into(), &1000.into()));
    let headline = run(folder, "audit release --microdata hospital/patients.csv").expect(0).stdout;
    let expected = format!(
        "Every promise holds, and no row is disclosed, but its tables, when joined, leave {narrowed} people fewer \
         than k=10 rows: 1,000"
    );
    assert!(words(&headline).starts_with(&expected), "{headline}");
    let alone = run(folder, "audit release --output json").expect(0).json();
    let reason = alone["attacks"]["not_run"]["joining"].as_str().unwrap();
    assert!(
        reason.ends_with("a person keeps once the tables are joined. k=10 is promised for each table alone."),
        "{reason}"
    );
    // A single table has nothing to join with.
    let made = run(folder, &format!("{publish} --out one")).expect(0);
    assert!(!made.stdout.contains("joined") && !made.stdout.contains("in each table alone"), "{}", made.stdout);
    let audit = run(folder, "audit one --microdata hospital/patients.csv --output json").expect(0).json();
    assert!(audit["attacks"].get("joining").is_none());
}
