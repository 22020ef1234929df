//! `compare`: the runs that a spec lists, the files it writes, and the page in a browser.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "tests")]

mod common;

#[path = "common/browser.rs"]
mod browser;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use browser::Browser;
use serde_json::Value;

/// The example's patients, and a spec that compares four methods for three values of l, and one that cannot be made.
fn hospital() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    common::run(folder.path(), "example --rows 1500 --out hospital").expect(0);
    let mut spec = fs::read_to_string(folder.path().join("hospital/chrysalis.toml")).unwrap();
    for method in ["anatomy", "permute", "generalize"] {
        writeln!(spec, "\n[[compare.runs]]\nmethod = '{method}'\nrequire = ['l={{l}}']\nvary = {{ l = [2, 4, 6] }}")
            .unwrap();
    }
    spec += "\n[[compare.runs]]\nname = 'batches'\nmethod = 'angel'\nmarginals = [['age', 'sex']]\n";
    spec += "\n[[compare.runs]]\nname = 'too much'\nmethod = 'anatomy'\nrequire = ['l=50']\n";
    fs::write(folder.path().join("hospital/compare.toml"), spec).unwrap();
    folder
}

fn json(folder: &Path, name: &str) -> Value {
    serde_json::from_slice(&fs::read(folder.join(name)).unwrap()).unwrap()
}

fn named<'a>(report: &'a Value, name: &str) -> &'a Value {
    let runs = report["runs"].as_array().unwrap();
    runs.iter().find(|run| run["name"] == name).unwrap_or_else(|| panic!("no run {name} in {report}"))
}

#[test]
fn runs_are_made_audited_and_measured() {
    let folder = hospital();
    let line = "compare hospital/compare.toml --report out.html --queries 200 --output json";
    let outcome = common::run(folder.path(), line).expect(0);
    let report = json(folder.path(), "out.json");
    assert_eq!(outcome.json(), report, "standard output and the file say the same");
    assert_eq!(report["runs"].as_array().unwrap().len(), 11);
    for l in ["2", "4", "6"] {
        for series in ["anatomy by nearby", "permute by nearby", "generalize by compact"] {
            let run = named(&report, &format!("{series}, l={l}"));
            assert_eq!((&run["ok"], &run["varied"]["l"]), (&Value::Bool(true), &Value::from(l)), "{run}");
            let promised = 1.0 / l.parse::<f64>().unwrap();
            assert!(run["linking"].as_f64().unwrap() <= promised, "{run}");
            let answers = run["answers"].as_array().unwrap();
            assert!(answers.iter().all(|answer| answer["inside"] == 1.0), "bounds hold: {run}");
            assert!(run["median_error"].as_f64().unwrap() >= 0.0 && run["kl"].as_f64().unwrap() > 0.0, "{run}");
        }
        // Exact quasi values cannot be rebuilt worse than permuted ones of the same groups.
        let kl = |series: &str| named(&report, &format!("{series}, l={l}"))["kl"].as_f64().unwrap();
        assert!(kl("anatomy by nearby") < kl("permute by nearby"), "{report}");
    }
    let batches = named(&report, "batches");
    assert_eq!((&batches["method"], &batches["guarantees"][0]), (&"angel".into(), &"k=10".into()), "{batches}");
    // LEAK: nothing about the machine is on the page except what was passed.
    let page = fs::read_to_string(folder.path().join("out.html")).unwrap() + &report.to_string();
    let here = folder.path().file_name().unwrap().to_string_lossy().into_owned();
    let host = fs::read_to_string("/etc/hostname").unwrap_or_default();
    // A host name may be an ordinary word.
    let host = if host.trim().len() > 7 { host.trim() } else { "/etc" };
    for word in [here.as_str(), host, "/home/", "/root", "/tmp"] {
        assert!(!page.contains(word), "`{word}` is in the report");
    }
    let failed = named(&report, "too much");
    assert_eq!(failed["made"], false);
    assert!(failed["reason"].as_str().unwrap().starts_with("cannot reach l=50"), "{failed}");
}

/// The output without what depends on the clock: the column of seconds and the advice about it.
fn timeless(text: &str) -> String {
    let mut lines = String::new();
    for line in text.lines().filter(|line| !line.contains("It must be quick")) {
        let is_row = line.starts_with(' ') && !line.starts_with("  ");
        let line = if is_row { line.rsplit_once(' ').map_or(line, |(rest, _)| rest.trim_end()) } else { line };
        // The rule's length depends on the longest seconds.
        let line = if line.starts_with('─') { "─────" } else { line };
        writeln!(lines, "{line}").unwrap();
    }
    lines
}

#[test]
fn the_example_is_compared_as_recorded() {
    let folder = tempfile::tempdir().unwrap();
    common::run(folder.path(), "example --rows 1000 --out hospital").expect(0);
    let line = "compare hospital/chrysalis.toml --report comparison.html --seed 1 --queries 200";
    let printed = timeless(&common::run(folder.path(), line).expect(0).stdout);
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/compare.txt");
    if std::env::var_os("CHRYSALIS_BLESS").is_some_and(|value| value == "1") {
        fs::create_dir_all(recorded.parent().unwrap()).unwrap();
        fs::write(&recorded, &printed).unwrap();
    }
    let expected = fs::read_to_string(&recorded).unwrap();
    assert_eq!(printed, expected, "If this is meant, run `cargo xtask bless` and read the diff.");
}

#[test]
fn the_command_that_is_told_makes_that_release() {
    let folder = hospital();
    common::run(folder.path(), "compare hospital/compare.toml --report out.html --queries 0 --seed 5").expect(0);
    let report = json(folder.path(), "out.json");
    let page = fs::read_to_string(folder.path().join("out.html")).unwrap();
    assert!(
        page.contains("each makes the release that was measured here") && !page.contains("Randomness is drawn anew")
    );
    for name in ["generalize by compact, l=4", "permute by nearby, l=6", "batches"] {
        let run = named(&report, name);
        let line = run["command"].as_str().unwrap().strip_prefix("chrysalis ").unwrap().to_owned();
        let made = common::run(folder.path(), &format!("{line} --force --output json")).expect(0).json();
        for (ours, theirs) in [("method", "method"), ("groups", "groups"), ("guarantees", "guarantees")] {
            assert_eq!(made[ours], run[theirs], "{line}");
        }
        assert_eq!((&made["smallest_group"], &made["largest_group"]), (&run["smallest_group"], &run["largest_group"]));
    }
}

#[test]
fn without_runs_the_usual_methods_are_compared() {
    let folder = tempfile::tempdir().unwrap();
    let mut csv = "age,sex,name,cost\n".to_owned();
    for n in 0..400 {
        writeln!(csv, "{},{},p{n},{}", 20 + n * 7 % 60, ["F", "M"][n % 2], 100 + n * 37 % 900).unwrap();
    }
    fs::write(folder.path().join("people.csv"), csv).unwrap();
    let base = "compare people.csv --quasi age,sex --sensitive cost --queries 100";
    let line = format!("{base} --require distinct-l=3 --report a.html --output csv");
    let outcome = common::run(folder.path(), &line).expect(0);
    let rows = common::parse_csv(&outcome.stdout);
    let names: Vec<&str> = rows[1..].iter().map(|row| row[0].as_str()).collect();
    let usual = [
        "generalize by compact",
        "generalize by mondrian",
        "generalize by transparent",
        "anatomy by nearby",
        "anatomy by transparent",
        "permute by nearby",
        "angel by nearby",
        "shuffle by min-sum",
    ];
    assert_eq!(names, usual);
    assert!(rows[1..].iter().all(|row| row[4] == "holds"), "{rows:?}");
    // k alone says nothing about batches, and without a sensitive column only generalization is left.
    let line = format!("{base} --require k=5 --report b.html --output json");
    let runs = common::run(folder.path(), &line).expect(0).json()["runs"].as_array().unwrap().len();
    assert_eq!(runs, 5);
    let line = "compare people.csv --quasi age,sex --require k=5 --report c.html --output json";
    let runs = common::run(folder.path(), line).expect(0).json()["runs"].as_array().unwrap().len();
    assert_eq!(runs, 2);
}

#[test]
fn several_quasi_identifiers_bring_butterflies() {
    let folder = tempfile::tempdir().unwrap();
    let mut csv = "age,sex,job,city,disease\n".to_owned();
    for n in 0..300 {
        let place = |of: usize, step: usize| n * step / 3 % of;
        writeln!(csv, "{},{},j{},c{},d{}", 20 + place(50, 7), n % 2, place(6, 5), place(5, 11), n % 7).unwrap();
    }
    fs::write(folder.path().join("people.csv"), csv).unwrap();
    let line = "compare people.csv --quasi age,job --quasi age,city --sensitive disease --require k=5 --report a.html \
                --queries 50 --output json";
    let report = common::run(folder.path(), line).expect(0).json();
    let butterfly = named(&report, "butterfly");
    assert_eq!(butterfly["ok"], true);
    let words = butterfly["command"].as_str().unwrap();
    assert!(words.contains("--quasi age,job --quasi age,city") && words.contains("--method butterfly"), "{words}");
    let union = named(&report, "generalize by compact");
    assert!(union["command"].as_str().unwrap().contains("--quasi age,city,job "), "{union}");
}

#[test]
fn mistakes_end_before_anything_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::write(root.join("people.csv"), "age,disease\n1,a\n2,b\n3,a\n4,b\n").unwrap();
    let spec = "input = 'people.csv'\n[attributes.age]\nrole = 'quasi'\n[attributes.disease]\nrole = 'sensitive'\n\
                [release]\nrequire = ['l=2']\n";
    let wrong = [
        ("[[compare.runs]]\nmethood = 'anatomy'\n", "unknown field `methood`"),
        ("[[compare.runs]]\nmethod = 'magic'\n", "run 1: `magic` is not a method"),
        ("[[compare.runs]]\nrequire = ['l={l}']\n", "nothing says what to put for the braces"),
        ("[[compare.runs]]\nvary = { l = [2] }\n", "`l` varies, but nothing depends on it"),
        ("[[compare.runs]]\nrequire = ['l={l}']\nvary = { l = [] }\n", "has no values to vary over"),
        ("[[compare.runs]]\nrequire = ['l={l}']\nvary = { l = ['x'] }\n", "run 1: "),
        ("[[compare.runs]]\nmethod = 'anatomy'\nmarginals = [['age']]\n", "`marginal` goes with the method angel"),
        (
            "[[compare.runs]]\nrequire = ['k={a}{b}']\nvary = { a = [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1], b = [1,1,1,1,1,1,1,1,1,1,1,1,1,1] }\n",
            "more than 200 combinations",
        ),
        ("[compare]\nworkload = 'hard'\n", "`workload`: there is no workload `hard`"),
        ("[compare]\nselectivity = 7.0\n", "selectivity"),
        ("[compare]\nqueries = 2000000\n", "2,000,000 questions are more than can be asked"),
        ("[compare]\nruns = 3\n", "line "),
    ];
    let mut problems = String::new();
    for (text, sentence) in wrong {
        fs::write(root.join("wrong.toml"), format!("{spec}{text}")).unwrap();
        let before = common::listing(root);
        let outcome = common::run(root, "compare wrong.toml --report out.html");
        problems += &outcome.complaint(&[2]).unwrap_or_default();
        if !outcome.stderr.contains(sentence) {
            writeln!(problems, "expected `{sentence}`\n{outcome}").unwrap();
        }
        problems += &common::difference(&before, &common::listing(root));
    }
    fs::write(root.join("right.toml"), spec).unwrap();
    fs::write(root.join("listed.toml"), format!("{spec}[[compare.runs]]\nmethod = 'anatomy'\n")).unwrap();
    fs::create_dir(root.join("folder.html")).unwrap();
    for (line, code) in [
        ("compare right.toml --report out.txt", 2),
        ("compare right.toml --report nowhere/out.html", 2),
        ("compare right.toml --report folder.html --force", 2),
        ("compare right.toml --report people.html --require l=9", 3),
        ("compare right.toml", 2),
        ("compare right.toml --report out.html --queries 1000001", 2),
        ("compare right.toml --report out.html --suppress 0.1", 2),
        ("compare right.toml --report out.html --metric dm", 2),
        ("compare listed.toml --report out.html --method permute", 2),
        ("compare listed.toml --report out.html --partitioner mondrian", 2),
        ("compare right.toml --report out.html --kind age=integer --kind age=real", 2),
        ("compare absent.toml --report out.html", 2),
        ("compare people.csv --report out.html --quasi nobody --require k=2", 2),
    ] {
        let before = common::listing(root);
        problems += &common::run(root, line).complaint(&[code]).unwrap_or_default();
        problems += &common::difference(&before, &common::listing(root));
    }
    assert!(problems.is_empty(), "{problems}");
}

#[test]
fn a_report_is_replaced_only_by_force() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::write(root.join("people.csv"), "age,disease\n1,a\n2,b\n3,a\n4,b\n").unwrap();
    let line = "compare people.csv --quasi age --sensitive disease --require l=2 --report out.html";
    for there in ["out.html", "out.json"] {
        fs::write(root.join(there), "mine").unwrap();
        let outcome = common::run(root, line);
        assert_eq!(outcome.complaint(&[2]), None);
        assert_eq!(fs::read(root.join(there)).unwrap(), b"mine");
        common::run(root, &format!("{line} --force")).expect(0);
        assert_ne!(fs::read(root.join(there)).unwrap(), b"mine");
        fs::remove_file(root.join("out.html")).unwrap();
        fs::remove_file(root.join("out.json")).unwrap();
    }
}

/// Names and values that would become markup if they were not escaped.
const NASTY: &str = "<script>alert(1)</script><img src=x onerror=alert(2)>";

#[test]
fn the_page_in_a_browser() {
    let Some(program) = browser::find() else {
        eprintln!("skipped: no Chromium on the path (see `cargo xtask referees`), and CHRYSALIS_CHROMIUM names none");
        return;
    };
    let folder = hospital();
    let root = folder.path();
    let mut csv = format!("age,\"{NASTY}\",city\n");
    for n in 0..60 {
        writeln!(csv, "{},\"{NASTY}{}\",\"'\"\"><b>{}\"", 20 + n % 30, n % 5, n % 3).unwrap();
    }
    fs::write(root.join("nasty.csv"), csv).unwrap();
    common::run(root, "compare hospital/compare.toml --report varied.html --queries 200").expect(0);
    let line = format!("compare nasty.csv --quasi age,city --sensitive '{NASTY}' --require l=2 --report nasty.html");
    common::run(root, &line).expect(0);
    fs::write(root.join("control.html"), "<script>console.error('loud')</script><img src='http://chrysalis.invalid/'>")
        .unwrap();

    let mut browser = Browser::start(&program);
    // First, check that trouble would be noticed.
    let trouble = browser.open(&root.join("control.html"));
    assert!(trouble.messages.iter().any(|message| message.contains("loud")), "{:?}", trouble.messages);
    assert!(trouble.requests.iter().any(|address| address == "http://chrysalis.invalid/"), "{:?}", trouble.requests);

    let usual =
        ["chart-risk-utility", "chart-risks", "chart-found-again", "chart-median-error", "chart-kl", "chart-bounds"];
    let varied = [&usual[..], &["chart-median-error-l", "chart-kl-l"]].concat();
    for (page, plots) in [("varied.html", &varied[..]), ("nasty.html", &usual)] {
        for (media, scheme) in [("screen", "light"), ("screen", "dark"), ("print", "light")] {
            browser.pretend(media, scheme);
            check_page(&mut browser, &root.join(page), plots);
        }
    }
    // Markup in the data is text on the page.
    let text = browser.evaluate("document.body.innerText");
    assert!(text.as_str().unwrap().contains(NASTY), "{text}");
    assert_eq!(browser.evaluate("document.querySelectorAll('img, b, script').length"), 1, "our own script alone");

    browser.pretend("screen", "light");
    browser.open(&root.join("varied.html"));
    check_sorting(&mut browser);
    let printed = browser.call("Page.printToPDF", serde_json::json!({"preferCSSPageSize": true}));
    assert!(printed["data"].as_str().unwrap().len() > 50_000, "a page of paper has something on it");
}

/// No message, no request except the page itself, and every plot present and large enough to be seen.
fn check_page(browser: &mut Browser, page: &Path, plots: &[&str]) {
    let visit = browser.open(page);
    assert!(visit.messages.is_empty(), "{}: {:?}", page.display(), visit.messages);
    assert_eq!(visit.requests, [format!("file://{}", page.display())]);
    let boxes = browser.evaluate(
        "Object.fromEntries([...document.querySelectorAll('svg')].map((svg) => {
           const at = svg.getBoundingClientRect();
           return [svg.id, [at.width, at.height, svg.querySelectorAll('g path, g rect').length]];
         }))",
    );
    let found: Vec<&String> = boxes.as_object().unwrap().keys().collect();
    assert_eq!(found.len(), plots.len(), "{found:?}");
    for plot in plots {
        let [width, height, marks] = [0, 1, 2].map(|at| boxes[plot][at].as_f64().unwrap_or(0.0));
        assert!(width > 300.0 && height > 80.0 && marks > 0.0, "{plot} on {}: {boxes}", page.display());
    }
    let wide = browser.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
    assert_eq!(wide, 0, "{} is wider than its window", page.display());
}

/// Clicking a heading sorts by that column; clicking again reverses the order.
fn check_sorting(browser: &mut Browser) {
    let column = "[...document.querySelectorAll('#summary tbody tr')].map((row) => row.cells[3].dataset.sort)";
    let click = "document.querySelectorAll('#summary thead th')[3].querySelector('button').click()";
    let numbers = |found: Value| -> Vec<f64> {
        let texts = found.as_array().unwrap().clone();
        texts.iter().filter_map(|text| text.as_str().unwrap().parse().ok()).collect()
    };
    browser.evaluate(click);
    let up = numbers(browser.evaluate(column));
    assert!(up.len() > 3 && up.is_sorted(), "{up:?}");
    browser.evaluate(click);
    let down = numbers(browser.evaluate(column));
    assert!(down.is_sorted_by(|a, b| a >= b) && down != up, "{down:?}");
}
