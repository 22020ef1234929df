//! The way through the page, as the page's requests: opened, priced, published, asked; and that the recipe gives the
//! same release again.

#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use std::fs;
use std::path::Path;

use chrysalis::{Seed, Unwatched, files, publish};
use common::{Running, hospital};
use serde_json::{Value, json};

/// Every file of a folder.
fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut all: Vec<(String, Vec<u8>)> = entries
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read(&path).unwrap()))
        .collect();
    all.sort();
    all
}

/// What `chrysalis publish RECIPE --out OUT --seed SEED` does.
fn repeat(recipe: &Path, out: &Path, seed: u64) {
    let draft = files::draft(recipe.to_str().unwrap()).unwrap().read_taxonomies().unwrap();
    let input = draft.open().unwrap();
    let mut recipe = draft.check(input.header()).unwrap().without(&input.unreadable());
    draft.provide_key(&mut recipe, Some(out), &Unwatched).unwrap();
    let table = files::read(input, recipe.requests(), "read", &Unwatched).unwrap();
    let made = publish(table, &recipe, Seed::Fixed(seed), &Unwatched).unwrap();
    files::write(&made.release, out, recipe.format(), false, &Unwatched).unwrap();
}

fn published(running: &Running, table: &Value, more: Value) -> Value {
    let mut request = json!({"draft": table["draft"]});
    request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let told = running.run("POST", &format!("api/tables/{}/publish", table["table"]), request.to_string().as_bytes());
    assert_eq!(told["state"], "done", "{told}");
    told["result"].clone()
}

#[test]
fn what_is_proposed_can_be_published_as_it_is_and_its_recipe_gives_the_same_release() {
    let running = Running::start();
    let csv = hospital(2_000);
    let table = running.open("patients.csv", &csv);
    assert_eq!((&table["rows"], table["unclear"].is_null()), (&json!(2_000), true));
    let checked =
        running.post(&format!("api/tables/{}/check", table["table"]), &json!({"draft": table["draft"]})).json();
    assert!(checked["refusal"].is_null() && checked["require"].as_array().unwrap().len() > 1, "{checked}");

    let made = published(&running, &table, json!({"folder": "out", "seed": 7}));
    assert_eq!(running.written(), ["out", "out.certificate.html", "out.chrysalis.toml"]);
    assert_eq!(made["told"]["verdict"], "exposed", "a fixed seed is for experiments");
    // The recipe names the table as it was uploaded: it goes beside it.
    fs::write(running.home.path().join("patients.csv"), &csv).unwrap();
    let again = running.home.path().join("again");
    repeat(&running.home.path().join("out.chrysalis.toml"), &again, 7);
    assert_eq!(contents(&running.home.path().join("out")), contents(&again));
    assert!(made["command"].as_str().unwrap().ends_with("/out --seed 7"), "{}", made["command"]);

    // Without a seed, nobody can undo the randomness.
    let made = published(&running, &table, json!({}));
    assert_eq!(made["told"]["verdict"], "holds", "{}", made["told"]["headline"]);
    let zip = running.get(&format!("api/releases/{}/release.zip", made["release"]));
    assert!(zip.body.starts_with(b"PK\x03\x04") && zip.head.contains("attachment"), "{}", zip.head);
    let page = running.get(&format!("api/releases/{}/certificate.html", made["release"]));
    assert!(
        page.head.contains("attachment") && String::from_utf8_lossy(&page.body).contains("Certificate of the release")
    );
}

/// A file that was named at the start is read where it is, and its recipe works from anywhere.
#[test]
fn a_named_file_is_read_where_it_is() {
    let ground = tempfile::tempdir().unwrap();
    let file = ground.path().join("patients.csv");
    fs::write(&file, hospital(1_000)).unwrap();
    let running = Running::with(chrysalis_studio::Limits::default(), Some(file.display().to_string()));
    let state = running.get("api/state").json();
    let told = running.wait(state["job"].as_u64().unwrap());
    let table = told["result"].clone();
    assert_eq!(table["name"], "patients.csv");
    assert!(table["draft"]["input"].is_null(), "the page does not choose the file");
    let made = published(&running, &table, json!({"folder": "out", "seed": 3}));
    let recipe = running.home.path().join("out.chrysalis.toml");
    assert_eq!(fs::read_to_string(&recipe).unwrap(), made["recipe"].as_str().unwrap());
    repeat(&recipe, &running.home.path().join("again"), 3);
    assert_eq!(contents(&running.home.path().join("out")), contents(&running.home.path().join("again")));

    // The recipe is a spec that the studio opens again, with the same choices.
    let reopened = Running::with(chrysalis_studio::Limits::default(), Some(recipe.display().to_string()));
    let told = reopened.wait(reopened.get("api/state").json()["job"].as_u64().unwrap());
    assert_eq!(told["result"]["draft"]["release"], table["draft"]["release"], "{told}");
}

#[test]
fn exposure_is_that_of_the_columns_that_are_known() {
    let running = Running::start();
    let table = running.open("a.csv", b"age,sex,disease\n20,f,flu\n20,f,cold\n31,m,flu\n40,f,ulcer\n");
    let path = format!("api/tables/{}/exposure", table["table"]);
    let found = |columns: Value| running.post(&path, &json!({"columns": columns})).json()["unique_rows"].clone();
    assert_eq!(found(json!(["age", "sex"])), 2);
    assert_eq!(found(json!(["sex"])), 1);
    assert_eq!(found(json!([])), 0);
    assert!(running.post(&path, &json!({"columns": ["zip"]})).message().contains("no column `zip`"));
}

#[test]
fn the_price_is_that_of_the_release_that_would_be_made() {
    let running = Running::start();
    let table = running.open("patients.csv", &hospital(2_000));
    let request = json!({"draft": table["draft"]}).to_string();
    let told = running.run("POST", &format!("api/tables/{}/price", table["table"]), request.as_bytes());
    let (price, made) = (&told["result"], published(&running, &table, json!({"seed": 1})));
    assert_eq!(price["tried_rows"], 2_000);
    assert_eq!((&price["loss"], &price["disclosed_rows"]), (&made["report"]["ncp"], &json!(0)));
    // The sentence on the page: no disease is surer than 1 in 4.
    assert_eq!(table["draft"]["release"]["require"], json!(["k=10", "l=4"]));
    let linking = price["attacks"].as_array().unwrap().iter().find(|it| it["name"] == "linking").unwrap();
    let share: f64 =
        linking["score"].as_str().unwrap().split(['\u{a0}', ' ']).find_map(|word| word.parse().ok()).unwrap();
    assert!(share <= 25.0 && price["smallest_group"].as_u64().unwrap() >= 10, "{linking}");
    assert!(price["error"].as_f64().unwrap() > 0.0 && price["chart"].as_str().unwrap().starts_with("<svg"));
    assert!(!price["chart"].as_str().unwrap().contains("<style"), "the policy allows no style inside the page");
}

/// The number beside the sentence that nobody's group leaves a single value, counted from the release's own tables.
#[test]
fn rows_that_are_left_a_single_value_are_those_of_the_published_tables() {
    let running = Running::start();
    let table = running.open("patients.csv", &hospital(1_000));
    let mut found = Vec::new();
    for require in [json!(["k=2"]), json!(["k=3"]), json!(["k=2", "l=2"]), json!(["k=10", "l=4"])] {
        let mut table = table.clone();
        table["draft"]["release"] = json!({"method": "anatomy", "require": require, "format": "csv"});
        let request = json!({"draft": table["draft"]}).to_string();
        let told = running.run("POST", &format!("api/tables/{}/price", table["table"]), request.as_bytes());
        let price = &told["result"];
        table["draft"]["release"]["accept"] =
            json!(if price["disclosed_rows"] == 0 { vec![] } else { vec!["disclosure"] });
        let name = format!("out{}", found.len());
        published(&running, &table, json!({"seed": 1, "folder": name}));
        let alone = left_alone(&running.home.path().join(name));
        assert_eq!(price["certain_rows"], alone, "{require}");
        found.push(alone);
    }
    assert!(found[0] > 0 && found[2..] == [0, 0], "{found:?}");
}

/// Rows of groups in which only one disease occurs.
fn left_alone(release: &Path) -> u64 {
    let tables =
        contents(release).into_iter().filter(|(name, _)| Path::new(name).extension().is_some_and(|it| it == "csv"));
    let texts: Vec<String> = tables.map(|(_, bytes)| String::from_utf8(bytes).unwrap()).collect();
    let text = texts.iter().find(|text| text.lines().next().unwrap().split(',').any(|name| name == "disease")).unwrap();
    let place = |wanted: &str| text.lines().next().unwrap().split(',').position(|name| name == wanted).unwrap();
    let (group, count) = (place("group_id"), place("count"));
    let mut groups: std::collections::BTreeMap<&str, Vec<u64>> = std::collections::BTreeMap::new();
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        groups.entry(cells[group]).or_default().push(cells[count].parse().unwrap());
    }
    groups.values().filter(|counts| counts.len() == 1).map(|counts| counts[0]).sum()
}

#[test]
fn a_sample_that_cannot_keep_a_promise_gives_way_to_all_rows() {
    let running = Running::start();
    let table = running.open("patients.csv", &hospital(21_000));
    let price = |k: u64| {
        let mut draft = table["draft"].clone();
        draft["release"]["require"] = json!([format!("k={k}")]);
        let request = json!({"draft": draft}).to_string();
        running.run("POST", &format!("api/tables/{}/price", table["table"]), request.as_bytes())
    };
    assert_eq!(price(10)["result"]["tried_rows"], 20_000);
    let told = price(20_500);
    assert_eq!((&told["result"]["tried_rows"], &told["result"]["fell_back"]), (&json!(21_000), &json!(true)), "{told}");
    let mut draft = table["draft"].clone();
    draft["release"]["require"] = json!(["k=20500"]);
    // One way is enough.
    draft["compare"] = json!({"runs": [{"method": "generalize", "partitioner": "mondrian"}], "queries": 20});
    let request = json!({"draft": draft}).to_string();
    let told = running.run("POST", &format!("api/tables/{}/compare", table["table"]), request.as_bytes());
    assert_eq!((&told["result"]["tried_rows"], &told["result"]["runs"][0]["made"]), (&json!(21_000), &json!(true)));
    let told = price(22_000);
    assert_eq!((&told["state"], &told["error"]["fault"]), (&json!("failed"), &json!("infeasible")), "{told}");
}

#[test]
fn groups_of_values_are_proposed_compared_and_part_of_the_recipe() {
    let running = Running::start();
    let csv = hospital(2_000);
    let mut table = running.open("patients.csv", &csv);
    let path = format!("api/tables/{}/groups", table["table"]);
    let ask = |more: Value| {
        let mut request = json!({"draft": table["draft"], "column": "occupation"});
        request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        running.run("POST", &path, request.to_string().as_bytes())
    };
    let told = ask(json!({}))["result"].clone();
    let mut lines = told["lines"].as_array().unwrap().clone();
    let rows: u64 = told["rows"].as_array().unwrap().iter().map(|rows| rows.as_u64().unwrap()).sum();
    assert_eq!((told["grouping"].as_str(), rows + told["missing"].as_u64().unwrap()), (Some("neighbours"), 2_000));
    assert!(told["problem"].is_null() && lines.len() > 5 && lines[0].as_array().unwrap().len() > 2, "{told}");

    // Lines that lack a value, and lines that are no tree.
    let (gone, rows) = (lines.pop().unwrap(), told["rows"].as_array().unwrap().last().unwrap().clone());
    let without = ask(json!({"lines": lines}))["result"]["without_line"].clone();
    assert_eq!(without, json!([[gone[0], rows]]));
    let torn = ask(json!({"lines": [["a", "A", "*"], ["b", "*"]]}));
    assert!(torn["error"]["message"].as_str().unwrap().contains("groups of `occupation`"), "{torn}");
    let unknown = ask(json!({"column": "shoes"}));
    assert!(unknown["error"]["message"].as_str().unwrap().contains("shoes"), "{unknown}");

    // Everybody's occupation is a group of the owner's: the release shows it, and the recipe gives the same release.
    let all: Vec<Value> = lines.iter().chain([&gone]).map(|line| json!([line[0], "at work", "*"])).collect();
    table["draft"]["attributes"]["occupation"]["taxonomy"] = json!(all);
    table["draft"]["release"]["format"] = json!("csv");
    published(&running, &table, json!({"folder": "out", "seed": 5}));
    let shown = contents(&running.home.path().join("out"));
    let (_, rows) = shown.iter().find(|(name, _)| name == "generalized.csv").unwrap();
    assert!(String::from_utf8_lossy(rows).contains(",at work,"));
    fs::write(running.home.path().join("patients.csv"), &csv).unwrap();
    repeat(&running.home.path().join("out.chrysalis.toml"), &running.home.path().join("again"), 5);
    assert_eq!(shown, contents(&running.home.path().join("again")));
}

/// A key is made where the owner says when something is published, and only the owner can read it. With it, the recipe
/// gives the same release.
#[test]
fn pseudonyms_need_a_key_whose_place_is_typed() {
    let running = Running::start();
    let csv = hospital(1_000);
    let mut table = running.open("patients.csv", &csv);
    table["draft"]["attributes"]["zip_code"] = json!({"role": "quasi", "prepare": ["pseudonym"]});
    table["draft"]["key"] = json!("mine.key");
    let request = json!({"draft": table["draft"]}).to_string();
    let told = running.run("POST", &format!("api/tables/{}/price", table["table"]), request.as_bytes());
    assert_eq!((&told["state"], running.written().is_empty()), (&json!("done"), true), "a trial makes no key: {told}");
    let mut compared = table["draft"].clone();
    compared["compare"] = json!({"runs": [{"method": "generalize"}, {"method": "anatomy"}], "queries": 20});
    let request = json!({"draft": compared}).to_string();
    let told = running.run("POST", &format!("api/tables/{}/compare", table["table"]), request.as_bytes());
    assert_eq!((&told["state"], running.written().is_empty()), (&json!("done"), true), "{told}");

    let made = published(&running, &table, json!({"folder": "out", "seed": 3}));
    let key = running.home.path().join("mine.key");
    #[cfg(unix)]
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&key).unwrap().permissions()) & 0o777, 0o600);
    let failed: Vec<_> = made["told"]["checks"].as_array().unwrap().iter().filter(|it| it["ok"] == false).collect();
    assert!(failed.iter().all(|it| it["name"].as_str().unwrap().contains("seed")), "{failed:?}");
    let secret = fs::read_to_string(&key).unwrap();
    for (name, bytes) in contents(&running.home.path().join("out")) {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        assert!(!text.contains(secret.trim()) && !text.contains("mine.key"), "{name}");
    }
    fs::write(running.home.path().join("patients.csv"), &csv).unwrap();
    repeat(&running.home.path().join("out.chrysalis.toml"), &running.home.path().join("again"), 3);
    assert_eq!(contents(&running.home.path().join("out")), contents(&running.home.path().join("again")));
}

/// A second table with everybody who could be in the first.
#[test]
fn promises_about_a_population_are_kept_and_checked() {
    let running = Running::start();
    let all = String::from_utf8(hospital(4_000)).unwrap();
    let some: String = all.lines().take(1_001).map(|line| format!("{line}\n")).collect();
    let mut table = running.open("patients.csv", some.as_bytes());
    let sent = running.send("PUT", "api/populations/everybody.csv", all.as_bytes()).json();
    assert!(sent["columns"].as_array().unwrap().contains(&json!("age")), "{sent}");
    table["draft"]["release"]["require"] = json!(["k=5", "l=2", "k-map=30"]);
    table["draft"]["release"]["population_table"] = json!("everybody.csv");
    let without = running.post(&format!("api/tables/{}/check", table["table"]), &json!({"draft": table["draft"]}));
    assert!(without.message().contains("names a file with the people"), "{}", without.json());
    let request = json!({"draft": table["draft"], "population": sent["population"]}).to_string();
    for work in ["price", "compare"] {
        let told = running.run("POST", &format!("api/tables/{}/{work}", table["table"]), request.as_bytes());
        assert_eq!(told["state"], "done", "{work}: {told}");
    }
    let made = published(&running, &table, json!({"population": sent["population"], "folder": "out"}));
    let promise = made["told"]["promises"]
        .as_array()
        .unwrap()
        .iter()
        .find(|it| it["text"].as_str().is_some_and(|it| it.contains("k-map")) || it.to_string().contains("k-map"));
    assert_eq!(promise.unwrap()["holds"], true, "{}", made["told"]["promises"]);
    let wrong = running.send("PUT", "api/populations/a.xlsx", b"PK\x03\x04rest");
    assert!(wrong.message().contains("Excel"), "{}", wrong.json());
}

#[test]
fn what_a_table_cannot_keep_is_said_with_the_most_that_it_can() {
    let running = Running::start();
    let table = running.open("patients.csv", &hospital(1_000));
    let mut draft = table["draft"].clone();
    draft["release"]["require"] = json!(["k=5", "l=15"]);
    let checked = running.post(&format!("api/tables/{}/check", table["table"]), &json!({"draft": draft})).json();
    let most = checked["columns"][0]["most_l"].as_u64().unwrap();
    assert!((2..15).contains(&most), "{checked}");
    assert!(checked["refusal"]["message"].as_str().unwrap().contains("cannot reach"), "{checked}");
    let told = running.run(
        "POST",
        &format!("api/tables/{}/publish", table["table"]),
        json!({"draft": draft, "folder": "out"}).to_string().as_bytes(),
    );
    assert_eq!((&told["state"], &told["error"]["fault"]), (&json!("failed"), &json!("infeasible")));
    assert!(running.written().is_empty());
}

#[test]
fn a_promise_that_gives_people_away_stops_with_a_remedy_that_works() {
    let running = Running::start();
    let table = running.open("patients.csv", &hospital(1_000));
    let mut draft = table["draft"].clone();
    draft["release"]["require"] = json!(["k=2"]);
    let path = format!("api/tables/{}/publish", table["table"]);
    let publish = |draft: &Value| running.run("POST", &path, json!({"draft": draft}).to_string().as_bytes());
    let told = publish(&draft);
    let knobs = told["error"]["knobs"].as_array().unwrap();
    assert!(told["error"]["message"].as_str().unwrap().contains("would be disclosed"), "{told}");
    let advised = knobs.iter().find(|knob| knob["knob"] == "require").unwrap()["value"].clone();
    draft["release"]["require"] = json!(["k=2", advised]);
    assert_eq!(publish(&draft)["state"], "done");
    draft["release"]["require"] = json!(["k=2"]);
    draft["release"]["accept"] = json!(["disclosure"]);
    assert_eq!(publish(&draft)["result"]["told"]["verdict"], "exposed");
}

#[test]
fn a_job_that_is_stopped_leaves_nothing_behind() {
    let running = Running::start();
    let table = running.open("patients.csv", &hospital(20_000));
    let request = json!({"draft": table["draft"], "folder": "out"}).to_string();
    let started = running.send("POST", &format!("api/tables/{}/publish", table["table"]), request.as_bytes()).json();
    let job = started["job"].as_u64().unwrap();
    running.send("DELETE", &format!("api/jobs/{job}"), b"");
    assert_eq!(running.wait(job)["state"], "stopped");
    assert!(running.written().is_empty(), "{:?}", running.written());
    // The studio still works.
    published(&running, &table, json!({"folder": "out"}));
}

#[test]
fn a_release_is_asked_and_met_with_a_second_one() {
    let running = Running::start();
    let table = running.open("patients.csv", &hospital(2_000));
    let made = published(&running, &table, json!({"folder": "one"}));
    let path = format!("api/releases/{}", made["release"]);
    let about = running.get(&path).json();
    assert!(
        about["about"]["columns"].as_array().unwrap().iter().any(|column| column["role"] == "sensitive"),
        "{about}"
    );
    let answer = running
        .post(&format!("{path}/ask"), &json!({"sql": "SELECT sex, COUNT(*) FROM microdata GROUP BY sex"}))
        .json();
    let rows = answer["rows"].as_array().unwrap();
    assert!(rows.len() > 1 && answer["rewritten"]["duckdb"].as_str().unwrap().contains("SELECT"), "{answer}");
    let total: f64 = rows.iter().map(|row| row["aggregates"][0]["estimate"].as_f64().unwrap()).sum();
    assert!((total - 2_000.0).abs() < 1e-6, "{total}");
    let wrong = running.post(&format!("{path}/ask"), &json!({"sql": "SELECT age FROM"}));
    assert!(wrong.status == 200 && wrong.json()["error"]["fault"] == "question", "{}", wrong.json());

    let mut other = table.clone();
    other["draft"]["release"]["require"] = json!(["k=4", "l=2"]);
    let second = published(&running, &other, json!({"folder": "two"}));
    for with in [json!({"folder": "two"}), json!({"release": second["release"]})] {
        let told = running.run("POST", &format!("{path}/with"), with.to_string().as_bytes());
        let findings = told["result"]["findings"].as_array().unwrap_or_else(|| panic!("{told}"));
        assert!(!findings.is_empty() && told["result"]["narrowed"].as_u64().unwrap() > 0, "{told}");
        assert!(told["result"]["surer"].is_boolean() && told["result"]["in_common"] == true, "{told}");
    }
    // The files of a release from elsewhere.
    let id = running.post("api/received", &json!({})).json()["received"].clone();
    for (name, bytes) in contents(&running.home.path().join("two")) {
        running.send("PUT", &format!("api/received/{id}/{name}"), &bytes).json();
    }
    let told = running.run("POST", &format!("{path}/with"), json!({"received": id}).to_string().as_bytes());
    assert!(told["result"]["narrowed"].as_u64().unwrap() > 0, "{told}");
}

#[test]
fn a_file_that_is_no_table_is_explained() {
    let running = Running::start();
    for (name, bytes, part) in [
        ("a.xlsx", b"PK\x03\x04rest".as_slice(), "Excel"),
        ("a.csv", b"".as_slice(), "empty"),
        ("a.csv", b"a,b\n1\n".as_slice(), "line"),
    ] {
        let told = running.run("PUT", &format!("api/tables/{name}"), bytes);
        let message = told["error"]["message"].as_str().unwrap_or_default();
        assert_eq!(told["state"], "failed", "{told}");
        assert!(message.contains(part), "{name}: {message}");
    }
    assert!(running.written().is_empty());
}

/// Rows of people with several rows: those whose number other rows have as well.
#[test]
fn a_column_that_numbers_people_says_how_many_rows_are_of_people_with_several() {
    let running = Running::start();
    let mut csv = "patient_id,age,sex,disease\n".to_owned();
    for row in 0..301u64 {
        let (age, sex, disease) =
            (20 + row / 3, if row % 2 == 0 { "f" } else { "m" }, if row % 2 == 0 { "flu" } else { "cold" });
        csv += &format!("P{:05},{age},{sex},{disease}\n", row / 3 * 7919 % 99_991);
    }
    let table = running.open("visits.csv", csv.as_bytes());
    let column = |name: &str| {
        let columns = table["columns"].as_array().unwrap();
        columns.iter().find(|it| it["name"] == name).unwrap().clone()
    };
    // A hundred people with three rows each, and one person with one.
    assert_eq!((&column("patient_id")["guess"], &column("patient_id")["repeated"]), (&json!("person"), &json!(300)));
    assert_eq!(column("age")["repeated"], 0);
    let found =
        running.post(&format!("api/tables/{}/exposure", table["table"]), &json!({"columns": ["age", "sex"]})).json();
    let chart = found["chart"].as_str().unwrap();
    assert!(chart.contains("rows stand alone") && !chart.contains("people"), "{chart}");
}

#[test]
fn the_same_way_has_the_same_error_in_a_trial_and_in_a_comparison() {
    let running = Running::start();
    let table = running.open("patients.csv", &hospital(1_000));
    let mut draft = table["draft"].clone();
    let request = json!({"draft": draft}).to_string();
    let told = running.run("POST", &format!("api/tables/{}/price", table["table"]), request.as_bytes());
    draft["compare"] = json!({"runs": [{"method": "generalize", "partitioner": "compact"}], "queries": 200});
    let request = json!({"draft": draft}).to_string();
    let compared = running.run("POST", &format!("api/tables/{}/compare", table["table"]), request.as_bytes());
    let run = &compared["result"]["runs"][0];
    assert_eq!((&run["median_error"], run["row_linking"].is_number()), (&told["result"]["error"], true), "{run}");
}

#[test]
fn a_table_of_western_europe_is_read_as_such_and_its_recipe_says_so() {
    let running = Running::start();
    let rows: String = (0..300)
        .map(|row| {
            format!("{},{},{}\n", 20 + row % 40, ["f", "m"][row % 2], ["Grippe", "Rhume", "Ulc\u{e8}re"][row % 3])
        })
        .collect();
    let csv: Vec<u8> =
        format!("age,sex,diagnosis\n{rows}").chars().map(|letter| u8::try_from(letter).unwrap()).collect();
    let told = running.run("PUT", "api/tables/western.csv", &csv);
    let knobs = told["error"]["knobs"].as_array().unwrap();
    assert!(knobs.contains(&json!({"knob": "encoding", "value": "latin-1"})), "{told}");
    let told = running.run("PUT", "api/tables/western.csv?encoding=latin-1", &csv);
    let table = told["result"].clone();
    assert_eq!(table["rows"], 300, "{told}");
    let recipe =
        running.post(&format!("api/tables/{}/recipe", table["table"]), &json!({"draft": table["draft"]})).json();
    assert!(recipe["recipe"].as_str().unwrap().contains("encoding = \"latin-1\""), "{recipe}");
    let told = running.run("PUT", "api/tables/western.csv?encoding=klingon", &csv);
    assert_eq!(told["state"], "failed", "{told}");
}

#[test]
fn what_helps_against_a_folder_that_exists_is_a_sentence() {
    let running = Running::start();
    let table = running.open("patients.csv", &hospital(1_000));
    fs::create_dir(running.home.path().join("taken")).unwrap();
    let request = json!({"draft": table["draft"], "folder": "taken"});
    let told = running.post(&format!("api/tables/{}/publish", table["table"]), &request).json();
    let remedy = told["error"]["remedy"].as_str().unwrap();
    assert_eq!(remedy, "choose another name, or replace it with `chrysalis publish --force` in a terminal");
}
