//! `query` through the command line: the papers' numbers, the output formats, and questions that nobody should ask.

#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use std::fs;
use std::path::Path;

use common::{Outcome, chrysalis, finish, papers, run};
use serde_json::Value;

/// Publishes a paper's table in its own groups.
#[track_caller]
fn publish(folder: &Path, paper: &str, arguments: &str, format: &str) {
    fs::copy(papers().join(paper), folder.join("data.csv")).unwrap();
    let line = format!(
        "publish data.csv {arguments} --partitioner column --group-column group_id --accept disclosure --out release --force --format {format}"
    );
    run(folder, &line).expect(0);
}

fn pa(folder: &Path, method: &str, format: &str) {
    let arguments = format!("--quasi age,sex --sensitive disease --method {method} --require l=4");
    publish(folder, "pa/table-1.csv", &arguments, format);
}

fn ke(folder: &Path, method: &str, format: &str) {
    let arguments = format!("--quasi age,zipcode,gender --sensitive salary --method {method} --require k=3");
    publish(folder, "ke/figure-1.csv", &arguments, format);
}

fn ask(folder: &Path, question: &str, more: &[&str]) -> Outcome {
    let mut command = chrysalis(folder);
    // The papers' estimates, which databases compute too.
    command.args(["query", "release", question, "--estimate", "even"]).args(more);
    finish(&mut command, format!("chrysalis query release {question:?} --estimate even {more:?}"))
}

/// The first aggregate of the first row: estimate, lower, upper.
#[track_caller]
fn numbers(folder: &Path, question: &str) -> [f64; 3] {
    let answer = ask(folder, question, &["--output", "json"]).expect(0).json();
    let aggregate = &answer["rows"][0]["aggregates"][0];
    ["estimate", "lower", "upper"].map(|name| aggregate[name].as_f64().unwrap())
}

#[track_caller]
fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-12 * expected.abs().max(1.0), "{found} is not {expected}");
}

#[test]
fn pa_examples_1_and_2_one_question_three_releases() {
    let folder = tempfile::tempdir().unwrap();
    let question = "SELECT COUNT(*) FROM microdata WHERE age BETWEEN 40 AND 70 AND sex = 'F' AND disease = 'Flu'";
    for (method, expected) in [("anatomy", 9.0 / 10.0), ("permute", 171.0 / 200.0), ("generalize", 16.0 / 41.0)] {
        for format in ["csv", "parquet"] {
            pa(folder.path(), method, format);
            let [estimate, lower, upper] = numbers(folder.path(), question);
            close(estimate, expected);
            assert_eq!((lower, upper), (0.0, 2.0), "{method}");
        }
    }
    // The hits that pa's example 2 counts: 2 to 3 in the first group, 1 to 2 in the second.
    pa(folder.path(), "permute", "csv");
    let hits = "SELECT COUNT(*) FROM microdata WHERE age BETWEEN 40 AND 70 AND sex = 'F'";
    let answer = ask(folder.path(), hits, &["--output", "json", "--explain"]).expect(0).json();
    let because = &answer["rows"][0]["because"];
    assert_eq!((because["certain"].as_u64(), because["possible"].as_u64()), (Some(3), Some(5)));
}

#[test]
fn ke_section_2_sums_averages_and_minima() {
    let folder = tempfile::tempdir().unwrap();
    let sum = "SELECT SUM(salary) FROM microdata WHERE age BETWEEN 35 AND 55";
    let average = "SELECT AVG(salary) FROM microdata WHERE age > 50";
    let minimum = "SELECT MIN(salary) FROM microdata WHERE gender = 'F'";
    for format in ["csv", "parquet"] {
        ke(folder.path(), "shuffle", format);
        assert_eq!(numbers(folder.path(), sum), [535_000.0, 530_000.0, 540_000.0]);
        assert_eq!(numbers(folder.path(), average), [80_000.0; 3]);
        let [estimate, lower, upper] = numbers(folder.path(), minimum);
        assert_eq!((lower, upper), (65_000.0, 70_000.0));
        assert!(lower < estimate && estimate < upper);
        ke(folder.path(), "generalize", format);
        let [_, lower, upper] = numbers(folder.path(), sum);
        assert_eq!((lower, upper), (375_000.0, 615_000.0));
        assert_eq!(numbers(folder.path(), average), [80_000.0; 3]);
    }
    // A permuted table shows each column's values, so its bounds are at least as tight as a generalized one's.
    ke(folder.path(), "permute", "parquet");
    let [_, lower, upper] = numbers(folder.path(), sum);
    assert!(375_000.0 <= lower && upper <= 615_000.0);
}

#[test]
fn answers_come_in_three_forms() {
    let folder = tempfile::tempdir().unwrap();
    ke(folder.path(), "shuffle", "parquet");
    let question = "SELECT gender, COUNT(*) AS n, MAX(salary) FROM microdata GROUP BY gender";
    let table = ask(folder.path(), question, &[]).expect(0).stdout;
    assert!(table.contains(" gender   aggregate     estimate   lower   upper   std_error\n"), "{table}");
    assert!(table.contains(" F        n                    3       3       3           0\n"), "{table}");
    let csv = ask(folder.path(), question, &["--output", "csv"]).expect(0).stdout;
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines[0], "gender,aggregate,estimate,lower,upper,std_error");
    assert_eq!(lines[1], "F,n,3,3,3,0");
    assert!(lines[2].starts_with("F,max(salary),") && lines[2].contains(",75000,85000,"), "{csv}");
    assert_eq!(lines.len(), 5);
    let json = ask(folder.path(), question, &["--output", "json"]).expect(0).json();
    assert_eq!(json["rows"][1]["group"]["gender"], "M");
    assert_eq!(json["rows"][1]["aggregates"][0]["name"], "n");
    assert_eq!(json["rows"][1]["aggregates"][0]["lower"], 6.0);
    assert!(json["rows"][0].get("because").is_none());
    // An aggregate over no rows is NULL, and a key that no row can have is left out.
    let none = ask(folder.path(), "SELECT MAX(salary) FROM microdata WHERE age > 99", &["--output", "json"]).expect(0);
    assert_eq!(none.json()["rows"][0]["aggregates"][0]["upper"], Value::Null);
    let none = "SELECT COUNT(*) FROM microdata WHERE age > 99 GROUP BY gender";
    assert_eq!(ask(folder.path(), none, &["--output", "json"]).expect(0).json()["rows"], Value::Array(Vec::new()));
    assert_eq!(ask(folder.path(), none, &[]).expect(0).stdout, "No row can match.\n");
}

#[test]
fn an_explanation_tells_groups_and_hits() {
    let folder = tempfile::tempdir().unwrap();
    pa(folder.path(), "permute", "csv");
    let question = "SELECT COUNT(*) FROM microdata WHERE age BETWEEN 40 AND 70 AND sex = 'F' AND disease = 'Flu'";
    let said = ask(folder.path(), question, &["--explain"]).expect(0).stdout;
    let expected = "2 of 2 groups can have hits, with 9 rows in all: 3 hits certain, 5 possible, 3.9000 expected.";
    assert!(said.contains(expected), "{said}");
    assert!(said.contains("Columns are permuted inside their groups"), "{said}");
}

#[test]
fn a_file_of_questions_is_answered_in_order() {
    let folder = tempfile::tempdir().unwrap();
    ke(folder.path(), "shuffle", "parquet");
    let questions = "-- two questions; the second has a ; in it\nSELECT COUNT(*) FROM microdata;\n\n\
                     SELECT SUM(salary) FROM microdata WHERE zipcode <> ';' OR age = 35;\n";
    let refused = "SELECT COUNT(*) FROM microdata;\nSELECT COUNT(*) FROM microdata WHERE height = 3;";
    fs::write(folder.path().join("q.sql"), questions.replace("zipcode <> ';'", "gender <> ';'")).unwrap();
    fs::write(folder.path().join("refused.sql"), refused).unwrap();
    fs::write(folder.path().join("empty.sql"), " ; ;\n-- nothing\n").unwrap();
    for line in ["query release --file q.sql --output json", "query release --file - --output json < q.sql"] {
        let said = run(folder.path(), line).expect(0).stdout;
        let answers: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(answers.len(), 2, "{said}");
        assert_eq!(answers[0]["rows"][0]["aggregates"][0]["estimate"], 9.0);
        assert_eq!(answers[1]["rows"][0]["aggregates"][0]["estimate"], 615_000.0);
    }
    let check = |line: &str, message: &str| {
        let outcome = run(folder.path(), line);
        assert_eq!(outcome.complaint(&[2]), None);
        assert!(outcome.stderr.contains(message), "{outcome}");
    };
    check(
        "query release --file refused.sql",
        "error: question 2: line 2, column 38: the release has no column `height`",
    );
    check("query release --file refused.sql", "hint: the columns that can be asked are: age, zipcode, gender, salary");
    check("query release --file empty.sql", "empty.sql has no question");
    check("query release --file absent.sql", "cannot read absent.sql");
    check("query release", "required arguments were not provided");
    check("query release 'SELECT COUNT(*) FROM microdata' --file q.sql", "cannot be used with");
    check("query absent 'SELECT COUNT(*) FROM microdata'", "cannot read absent/release.json");
}

#[test]
fn thousands_of_questions_share_one_release() {
    let folder = tempfile::tempdir().unwrap();
    ke(folder.path(), "generalize", "parquet");
    let question = |age: usize| format!("SELECT COUNT(*), SUM(salary) FROM microdata WHERE age <= {age};\n");
    fs::write(folder.path().join("q.sql"), (0..3000).map(|at| question(at % 70)).collect::<String>()).unwrap();
    let said = run(folder.path(), "query release --file q.sql --output json").expect(0).stdout;
    assert_eq!(said.lines().count(), 3000);
    assert_eq!(said.lines().nth(69), said.lines().nth(69 + 70));
}

#[test]
fn rank_swap_is_refused_with_a_reason() {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(papers().join("ke/figure-1.csv"), folder.path().join("data.csv")).unwrap();
    let line = "publish data.csv --quasi age,gender --sensitive salary --method rank-swap --require k=1 --out release";
    run(folder.path(), line).expect(0);
    let outcome = ask(folder.path(), "SELECT COUNT(*) FROM microdata", &[]);
    assert_eq!(outcome.complaint(&[2]), None);
    assert!(outcome.stderr.contains("does not tell which rows were swapped"), "{outcome}");
}

#[test]
fn columns_kept_as_they_are_can_be_asked_where_quasi_values_are_exact() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = "--quasi age --other gender --sensitive salary --require k=3 --method";
    publish(folder.path(), "ke/figure-1.csv", &format!("{arguments} anatomy"), "parquet");
    assert_eq!(numbers(folder.path(), "SELECT COUNT(*) FROM microdata WHERE gender = 'F'"), [3.0; 3]);
    publish(folder.path(), "ke/figure-1.csv", &format!("{arguments} generalize"), "parquet");
    let outcome = ask(folder.path(), "SELECT COUNT(*) FROM microdata WHERE gender = 'F'", &[]);
    assert_eq!(outcome.complaint(&[2]), None);
    assert!(outcome.stderr.contains("`gender` is published beside generalized rows"), "{outcome}");
}

/// Whatever the question, the command ends by itself, soon, with one `error:` and one `hint:` line.
#[test]
fn hostile_questions_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    pa(folder.path(), "generalize", "csv");
    let select = "SELECT COUNT(*) FROM microdata";
    let many = |part: &str, n: usize| part.repeat(n);
    let numbers: Vec<String> = (0..150_000).map(|n| n.to_string()).collect();
    let wide: Vec<String> = (0..70).map(|n| format!("(age = {n} AND sex = 'F')")).collect();
    let texts = [
        String::new(),
        ";;;".to_owned(),
        "--".to_owned(),
        "/* open".to_owned(),
        format!("{select}; DROP TABLE microdata"),
        format!("{select} WHERE disease = ''; DELETE FROM st; --'"),
        format!("{select} WHERE age = disease --"),
        format!("{select} UNION SELECT COUNT(*) FROM st"),
        "SELECT * FROM st".to_owned(),
        "SELECT COUNT(*) FROM st".to_owned(),
        "SELECT COUNT(*) FROM \"../release/st\"".to_owned(),
        "SELECT COUNT(*) FROM read_csv('/etc/passwd')".to_owned(),
        "COPY microdata TO '/tmp/x'".to_owned(),
        "ATTACH 'x.db'".to_owned(),
        "SELECT pg_sleep(100) FROM microdata".to_owned(),
        format!("{select} WHERE {}age = 1{}", many("(", 10_000), many(")", 10_000)),
        format!("{select} WHERE {}", many("(", 100_000)),
        format!("{select} WHERE {}", many("NOT ", 100_000)),
        format!("{select} WHERE age = {}1", many("- ", 100_000)),
        format!("{select} WHERE age = 1{}", many(" AND age = 1", 50_000)),
        format!("{select} WHERE age = 1{}", many(" + 1", 100_000)),
        format!("{select} WHERE age IN ({})", numbers.join(",")),
        format!("SELECT {} FROM microdata", many("COUNT(*),", 50_000)),
        format!("SELECT COUNT({}age{}) FROM microdata", many("(", 10_000), many(")", 10_000)),
        format!("SELECT {}1{}", many("CASE WHEN 1=1 THEN ", 5_000), many(" END", 5_000)),
        format!("{select} WHERE age > 1e999999999"),
        format!("{select} WHERE age > {}.{}e", many("9", 400), many("9", 400)),
        format!("{select} WHERE disease = '{}", many("x", 1 << 20)),
        format!("{select} WHERE disease LIKE 3"),
        format!("{select} WHERE \u{1b}[31m = 1"),
        format!("{select} WHERE disease = \u{0}"),
        format!("SELECT MEDIAN({}age{}) FROM microdata", many("ABS(", 200), many(")", 200)),
        format!("{select} WHERE age {}", many("IS NULL ", 900)),
        format!("SELECT SUM(age{}) FROM microdata", many(" * 9", 900)),
        format!("{select} JOIN st ON age = st.age"),
        format!("{select} GROUP BY age * 1e308 * 1e308, sex // 0"),
        format!("{select} LIMIT 99999999999999999999"),
        "SELECT PERCENTILE_CONT(1.5) WITHIN GROUP (ORDER BY age) FROM microdata".to_owned(),
        format!("{select} WHERE {}", wide.join(" OR ")),
        format!("{select} GROUP BY {}", many("age,", 3_000)),
        format!("{select} GROUP BY 1"),
        format!("{select} GROUP BY ROLLUP (age)"),
        "\u{202e}SELECT COUNT(*) FROM microdata".to_owned(),
    ];
    let mut wrong = Vec::new();
    for text in &texts {
        // In a file, because a command line has its own length limit.
        fs::write(folder.path().join("q.sql"), text).unwrap();
        let outcome = run(folder.path(), "query release --file q.sql");
        let complaint = outcome.complaint(&[2]).or_else(|| outcome.escapes());
        wrong.extend(complaint.map(|complaint| format!("{}\n{complaint}", text.chars().take(100).collect::<String>())));
        if text.len() < 100_000 && !text.contains('\0') {
            let outcome = ask(folder.path(), text, &[]);
            wrong.extend(outcome.complaint(&[2]).or_else(|| outcome.escapes()));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n\n{}", wrong.len(), wrong.join("\n\n"));
}

/// Strange, but still questions.
#[test]
fn odd_questions_are_answered() {
    let folder = tempfile::tempdir().unwrap();
    pa(folder.path(), "anatomy", "csv");
    let numbers: Vec<String> = (0..20_000).map(|n| n.to_string()).collect();
    for (condition, expected) in [
        ("disease = 'Flu'' OR ''1''=''1'".to_owned(), 0.0),
        ("disease LIKE '%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%_%'".to_owned(), 9.0),
        (format!("age IN ({})", numbers.join(", ")), 9.0),
        ("age BETWEEN -1e300 AND 99999999999999999999999999999999999999999999".to_owned(), 9.0),
        ("((((((((((age))))))))) > 0)".to_owned(), 9.0),
        ("NOT NOT NOT (age > 0)".to_owned(), 0.0),
        (vec!["age > 0"; 500].join(" AND "), 9.0),
        ("65 = age".to_owned(), 1.0),
        ("disease = 'Flu'; --'".to_owned(), 2.0),
        ("age <> 65 AND \"sex\" = 'M'".to_owned(), 3.0),
    ] {
        let answer =
            ask(folder.path(), &format!("SELECT COUNT(*) FROM microdata WHERE {condition}"), &["--output", "json"]);
        let estimate = answer.expect(0).json()["rows"][0]["aggregates"][0]["estimate"].as_f64();
        assert_eq!(estimate, Some(expected), "{}", condition.chars().take(100).collect::<String>());
    }
}

#[test]
fn a_quotient_whose_divisor_may_be_0_is_noted() {
    let folder = tempfile::tempdir().unwrap();
    ke(folder.path(), "shuffle", "csv");
    // Averages lie on both sides of 54,800.
    let question =
        "SELECT SUM(salary) / (AVG(salary) - 54800) AS x, SUM(salary) / COUNT(*) AS y FROM microdata WHERE age < 40";
    let answer = ask(folder.path(), question, &["--output", "json"]).expect(0);
    let json = answer.json();
    let [x, y] = [0, 1].map(|at| &json["rows"][0]["aggregates"][at]);
    assert!(x["lower"].is_null() && x["upper"].is_null() && !y["lower"].is_null(), "{answer}");
    let note = "`x` has no bounds: its divisor may be 0, or as close to it as one likes";
    assert_eq!(json["notes"], serde_json::json!([note]));
    assert!(answer.stderr.contains(note), "{answer}");
}

#[test]
fn a_public_table_that_no_question_uses_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    ke(folder.path(), "shuffle", "csv");
    fs::write(folder.path().join("words.csv"), "gender,word\nM,men\nF,women\n").unwrap();
    let unused = "SELECT COUNT(*) FROM microdata";
    let used = "SELECT w.word, COUNT(*) FROM microdata JOIN words w ON microdata.gender = w.gender GROUP BY w.word";
    for (command, more) in [("query", ""), ("rewrite", " --dialect sqlite")] {
        let asked =
            |sql: &str| run(folder.path(), &format!("{command} release \"{sql}\" --table words=words.csv{more}"));
        let refused = asked(unused).expect(2);
        assert!(refused.stderr.contains("no question uses the public table `words`"), "{refused}");
        let answered = asked(used).expect(0);
        assert!(answered.stdout.contains("women"), "{answered}");
    }
}

#[test]
fn rewritten_statements_say_which_estimates_they_compute() {
    let folder = tempfile::tempdir().unwrap();
    ke(folder.path(), "shuffle", "csv");
    let line = "rewrite release \"SELECT MEDIAN(salary) FROM microdata WHERE age < 40\" --dialect sqlite";
    let text = run(folder.path(), line).expect(0).stdout;
    assert!(text.starts_with(
        "-- The bounds of `chrysalis query`, and the estimates of `chrysalis query --estimate even`.\nWITH"
    ));
    assert_eq!(run(folder.path(), &format!("{line} --output json")).expect(0).json()["estimate"], "even");
    let refused = run(folder.path(), &line.replace("MEDIAN", "STDDEV")).expect(2);
    assert!(refused.stderr.contains("the bounds of stddev(salary) are found by a search"), "{refused}");
}

/// Only the tables a question needs are read, and those are verified.
#[test]
fn a_tampered_table_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    pa(folder.path(), "anatomy", "csv");
    let path = folder.path().join("release/qit.csv");
    let text = fs::read_to_string(&path).unwrap().replacen("65,M", "66,M", 1);
    fs::write(&path, text).unwrap();
    let outcome = ask(folder.path(), "SELECT COUNT(*) FROM microdata WHERE age > 3", &[]);
    assert_eq!(outcome.complaint(&[2]), None);
    assert!(outcome.stderr.contains("is not the one in the manifest"), "{outcome}");
}

/// A careful forger corrects the hash; tables that contradict each other are still refused.
#[test]
fn tables_that_contradict_each_other_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let question = "SELECT COUNT(*) FROM microdata WHERE age > 3 AND sex = 'F' AND disease = 'Flu'";
    let check = |file: &str, forge: &dyn Fn(&str) -> String, message: &str| {
        let release = common::Release::at(folder.path().join("release"));
        let text = fs::read_to_string(release.folder.join(file)).unwrap();
        release.forge(file, forge(&text).as_bytes());
        let outcome = ask(folder.path(), question, &[]);
        assert_eq!(outcome.complaint(&[2]), None);
        assert!(outcome.stderr.contains(message), "{outcome}");
    };
    pa(folder.path(), "anatomy", "csv");
    check("st.csv", &|text| text.replacen(",1\n", ",2\n", 1), "rows and");
    pa(folder.path(), "anatomy", "csv");
    check("st.csv", &|text| text.replacen(",1\n", ",-1\n", 1), "an impossible count");
    pa(folder.path(), "anatomy", "csv");
    check("st.csv", &|text| text.replacen("\n1,", "\n7,", 1), "a group that the other lacks");
    pa(folder.path(), "generalize", "csv");
    check("generalized.csv", &|text| text.replacen(",50,90,", ",51,90,", 1), "rows of one group differ");
    pa(folder.path(), "generalize", "csv");
    check("generalized.csv", &|text| text.replace(",50,90,", ",90,50,"), "ends before it begins");
    pa(folder.path(), "generalize", "csv");
    check("members.csv", &|text| text.replace("{F,M}", "{F}"), "not what it stands for");
}
