//! `chrysalis experiment`: one figure of every paper on made-up data, and invalid files.

#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::{Outcome, run};

fn shipped(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments").join(format!("{name}.toml")).canonicalize().unwrap()
}

/// Runs with an empty data folder.
fn experiment(folder: &Path, files: &[PathBuf], flags: &str) -> Outcome {
    fs::create_dir_all(folder.join("nothing")).unwrap();
    let files: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    run(folder, &format!("experiment {} --data nothing --out out {flags}", files.join(" ")))
}

#[test]
fn a_figure_of_every_paper_is_made_on_made_up_data() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let names = ["pa-figure-1", "angel-table-9", "lalpha-figure-5", "butterfly-comparison", "ke-figure-7"];
    let files: Vec<PathBuf> = names.iter().map(|name| shipped(name)).collect();
    let found = experiment(folder, &files, "--output json").expect(0).json();
    let read = |name: &str| fs::read_to_string(folder.join("out").join(name)).unwrap();
    for (name, found) in names.iter().zip(found["experiments"].as_array().unwrap()) {
        let (csv, text) = (read(&format!("{name}.csv")), read(&format!("{name}.md")));
        let runs = found["runs"].as_array().unwrap();
        assert!(csv.starts_with("experiment,panel,series,parameter,value,rows,stand_in,"), "{csv}");
        assert_eq!(csv.lines().count(), runs.len() + 1, "{name}");
        for part in ["> The paper: ", "**made-up patients, standing in for real data**", "|---|"] {
            assert!(text.contains(part), "{name}: {part}\n{text}");
        }
        // Every chart that the text refers to exists and is an image.
        let pictures: Vec<&str> = text.split("](").skip(1).map(|rest| rest.split_once(')').unwrap().0).collect();
        assert!(!pictures.is_empty());
        for picture in pictures {
            assert!(read(picture).starts_with("<svg") && read(picture).ends_with("</svg>\n"), "{picture}");
        }
        for run in runs {
            assert_eq!(run["stand_in"], true);
            let measures = run["measures"].as_object().unwrap();
            let is_known = |value: &serde_json::Value| value.is_number();
            assert!(run["out_of_reach"] == true || measures.values().any(is_known), "{name}: {run}");
            if let Some(inside) = measures.get("inside").and_then(serde_json::Value::as_f64) {
                assert_eq!(inside, 1.0, "{name}: {run}");
            }
        }
    }
    let all = read("results.md");
    assert!(all.contains("## pa, figure 1: ") && all.contains("## butterfly, comparison: "), "{all}");
    // The paper's printed numbers are beside ours.
    assert!(read("angel-table-9.md").contains("| as printed |"));
}

const SMALL: &str = r#"
title = "t"
paper = "p"
figure = "figure 0"
claim = "c"
measures = ["groups", "sum-of-ranges", "original-ms", "rewritten-ms", "overhead"]
[sweep]
parameter = "k"
values = [2, 900]
[data]
rows = 50
quasi = ["age"]
sensitive = "loss"
columns = [
    { name = "age", between = [17, 90] },
    { name = "loss", between = [155, 3900], follows = "age", variance = 5 },
]
[workload]
family = "ke-range"
queries = 5
selectivity = 0.4
[[series]]
name = "one"
method = "shuffle"
require = ["ke={k},10"]
"#;

#[test]
fn an_experiment_can_make_up_its_own_columns_and_say_what_is_out_of_reach() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("small.toml"), SMALL).unwrap();
    let said = experiment(folder, &["small.toml".into()], "").expect(0).stdout;
    assert!(said.contains("made-up columns, 50 rows") && said.contains("out of reach"), "{said}");
    let csv = fs::read_to_string(folder.join("out/small.csv")).unwrap();
    let first: Vec<&str> = csv.lines().nth(1).unwrap().split(',').collect();
    assert_eq!(first[..7], ["small", "", "one", "k", "2", "50", "false"]);
    assert!(first[7].parse::<f64>().unwrap() >= 2.0 && first[8].parse::<f64>().unwrap() >= 20.0, "{csv}");
    // The database took some time for both, and its answers were checked.
    let [original, rewritten, overhead]: [f64; 3] = [9, 10, 11].map(|at| first[at].parse().unwrap());
    assert!(original > 0.0 && rewritten > 0.0 && (overhead - rewritten / original).abs() < 1e-9, "{csv}");
    // Running it again gives the same, except for times.
    experiment(folder, &["small.toml".into()], "").expect(0);
    let again = fs::read_to_string(folder.join("out/small.csv")).unwrap();
    assert_eq!(again.lines().nth(1).unwrap().split(',').collect::<Vec<_>>()[..9], first[..9]);
}

/// A swapped table has no groups, but a reader who knows how far values were moved has bounds, and they hold.
#[test]
fn a_swapped_table_is_asked_for_rows_picked_one_by_one() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let text = SMALL
        .replace("\"original-ms\", \"rewritten-ms\", \"overhead\"", "\"width-mean\", \"error-mean\", \"inside\"")
        .replace("[2, 900]", "[2, 20]")
        .replace("quasi = [\"age\"]", "quasi = [\"age\", \"row\"]")
        .replace("columns = [", "columns = [\n    { name = \"row\", numbered = true },")
        .replace("family = \"ke-range\"", "family = \"ke-arbitrary\"\nattributes = [\"row\"]")
        .replace("method = \"shuffle\"", "method = \"rank-swap\"");
    fs::write(folder.join("swapped.toml"), text).unwrap();
    let found = experiment(folder, &["swapped.toml".into()], "--output json").expect(0).json();
    let runs: Vec<&serde_json::Value> =
        found["experiments"][0]["runs"].as_array().unwrap().iter().map(|run| &run["measures"]).collect();
    let width = |run: &serde_json::Value| run["width-mean"].as_f64().unwrap();
    for run in &runs {
        assert!(run["groups"].is_null() && run["sum-of-ranges"].is_null(), "{run}");
        assert_eq!(run["inside"], 1.0, "{run}");
        assert!(run["error-mean"].as_f64().unwrap() <= width(run), "{run}");
    }
    assert!(0.0 < width(runs[0]) && width(runs[0]) < width(runs[1]), "{runs:?}");
}

#[test]
fn files_that_make_no_sense_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let series = SMALL.find("[[series]]").unwrap();
    let cases = [
        (SMALL.replace("claim", "clam"), "missing field `claim`"),
        (SMALL.replace("figure = ", "figur = \"x\"\nfigure = "), "figur"),
        (SMALL.replace("title = \"t\"", "title = "), "line 2"),
        (SMALL.replace("\"groups\"", "\"grops\""), "grops"),
        (
            SMALL.replace("[\"groups\", \"sum-of-ranges\", \"original-ms\", \"rewritten-ms\", \"overhead\"]", "[]"),
            "`measures` is empty",
        ),
        (SMALL.replace("[2, 900]", "[]"), "`sweep.values` is empty"),
        (SMALL[..series].to_owned(), "there is no [[series]]"),
        (SMALL.replace("[[series]]", "[series]"), "[[series]]"),
        (SMALL.replace("name = \"one\"", "paper = [1.0]"), "has no name"),
        (SMALL.replace("name = \"one\"", "name = \"one\"\npaper = [1.0]"), "another number of values"),
        (SMALL.replace("method = \"shuffle\"", "method = \"shufle\""), "shufle"),
        (SMALL.replace("ke={k},10", "ke={l},10"), "{l}"),
        (SMALL.replace("rows = 50", "rows = 0"), "0 rows cannot be made up"),
        (SMALL.replace("rows = 50", "rows = 99999999999"), "cannot be made up"),
        (SMALL.replace("rows = 50", "rows = -1"), "series `one`"),
        (SMALL.replace("rows = 50", "rows = 50\nattributes = 7"), "7 attributes are wanted"),
        (SMALL.replace("rows = 50", "rows = 50\nhospital = true\nfile = \"x.csv\""), "no [stand_in]"),
        (SMALL.replace("[17, 90]", "[90, 17]"), "not two numbers in order"),
        (SMALL.replace("[17, 90]", "[-9223372036854775808, 9223372036854775807]"), "too far apart"),
        (SMALL.replace("follows = \"age\"", "follows = \"aga\""), "names no column"),
        (SMALL.replace("variance = 5", "variance = -5"), "not a number of at least 0"),
        (SMALL.replace("variance = 5", "variance = nan"), "not a number of at least 0"),
        (SMALL.replace("selectivity = 0.4", "selectivity = 0.0"), "a selectivity of 0"),
        (SMALL.replace("queries = 5", "queries = 0"), "0 questions"),
        (SMALL.replace("ke-range", "ke-rnge"), "ke-rnge"),
        (SMALL.replace("queries = 5", "queries = 5\nattributes = [\"sex\"]"), "`sex`, which is no quasi attribute"),
        (SMALL.replace("queries = 5", "queries = 5\nrows_of_groups = 0.0"), "a share of 0 of a group's rows"),
        (
            SMALL
                .replace("queries = 5", "queries = 5\nrows_of_groups = 0.3")
                .replace("method = \"shuffle\"", "method = \"permute\""),
            "no table with groups and the values of `age`",
        ),
        (SMALL.replace(", between = [17, 90]", ""), "neither `words`, `between` nor `numbered`"),
        (SMALL.replace("[workload]\nfamily = \"ke-range\"\nqueries = 5\nselectivity = 0.4", ""), "add a [workload]"),
    ];
    for (text, part) in cases {
        fs::write(folder.join("bad.toml"), &text).unwrap();
        let refused = experiment(folder, &["bad.toml".into()], "");
        assert_eq!(refused.complaint(&[2]), None, "{part}");
        assert!(refused.stderr.contains(part), "{part}\n{}", refused.stderr);
        assert!(!folder.join("out/bad.csv").exists(), "{part}");
    }
    for line in ["experiment missing.toml", "experiment", "experiment bad.toml --data nowhere"] {
        assert_eq!(run(folder, line).complaint(&[2]), None, "{line}");
    }
}
