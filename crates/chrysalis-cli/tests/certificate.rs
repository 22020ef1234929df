//! `audit --certificate`: what the page says about good, bad and exposed releases, and the page in a browser.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "tests")]

mod common;

#[path = "common/browser.rs"]
mod browser;

use std::fs;
use std::path::Path;

use browser::Browser;
use common::{Release, run};
use serde_json::json;
use sha2::{Digest as _, Sha256};

/// The example's release.
fn hospital() -> tempfile::TempDir {
    let ground = tempfile::tempdir().unwrap();
    run(ground.path(), "example --rows 1000 --out hospital").expect(0);
    run(ground.path(), "publish hospital/chrysalis.toml --format csv --out release").expect(0);
    ground
}

fn page(folder: &Path, arguments: &str, code: i32) -> String {
    let line = format!("audit release --certificate page.html --force {arguments}");
    run(folder, &line).expect(code);
    fs::read_to_string(folder.join("page.html")).unwrap()
}

/// The text between two marks.
fn between<'a>(page: &'a str, start: &str, end: &str) -> &'a str {
    page.split(start).nth(1).unwrap_or_else(|| panic!("no {start}")).split(end).next().unwrap()
}

fn banner(page: &str) -> &str {
    between(page, "<div class=\"banner ", "</div>")
}

#[test]
fn a_certificate_says_what_is_promised_and_has_the_hash_of_every_file() {
    let ground = hospital();
    let folder = ground.path();
    let html = page(folder, "", 0);
    assert!(banner(&html).starts_with("good\""), "{}", banner(&html));
    assert!(banner(&html).contains("Every promise holds"), "{}", banner(&html));
    assert!(html.contains("is right with a chance of at most 25 %"), "l=4 in plain words");
    assert!(html.contains("Every group has at least 10 rows."), "k=10 in plain words");
    // Words come before numbers, and hashes last.
    let order = ["published", "promised", "not-protected", "assumptions", "checked", "attacks", "files"];
    let places: Vec<usize> = order.iter().map(|id| html.find(&format!("<section id=\"{id}\">")).unwrap()).collect();
    assert!(places.is_sorted(), "{places:?}");
    for file in ["release.json", "generalized.csv", "members.csv"] {
        let hash: String = Sha256::digest(fs::read(folder.join("release").join(file)).unwrap())
            .iter()
            .map(|it| format!("{it:02x}"))
            .collect();
        assert!(html.contains(&format!("<td class=\"name\">{file}</td><td class=\"hash\">{hash}</td>")), "{file}");
    }
    // Nobody looked at the source, and the page says so; nothing on it claims that attackers cannot do what was not tried.
    assert!(html.contains("Not the source table"), "evidence");
    assert!(html.contains("cannot tell") && html.contains("does not apply"), "both are said");
    let with = page(folder, "--microdata hospital/patients.csv", 0);
    assert!(with.contains("The source table: that the release is faithful to it"), "evidence");
    assert!(!with.contains("Not the source table"));
    for part in ["http:", "https:", "src=", "url(", "@import", "<link"] {
        assert!(!html.contains(part), "{part}");
    }
}

#[test]
fn accepted_disclosure_never_looks_reassuring() {
    let ground = tempfile::tempdir().unwrap();
    let folder = ground.path();
    let rows = ["21,flu", "22,flu", "23,flu", "31,cold", "32,cough", "33,ulcer", "41,gout", "42,mumps", "43,polio"];
    fs::write(folder.join("people.csv"), format!("age,disease\n{}\n", rows.join("\n"))).unwrap();
    let line = "publish people.csv --quasi age --sensitive disease --intervals age=10 --partitioner full-domain --levels age=1 \
                --require k=3 --accept disclosure --out release";
    run(folder, line).expect(0);
    let html = page(folder, "", 0);
    assert!(banner(&html).starts_with("bad\""), "{}", banner(&html));
    assert!(banner(&html).contains("NOT PROTECTED: 3 rows are disclosed"), "{}", banner(&html));
    assert!(banner(&html).contains("3 of 9 rows (33.3 %)"), "{}", banner(&html));
    assert!(!html.contains("Every promise holds") && !html.contains("banner good"), "{html}");
    assert!(html.contains("Risks that the owner accepted") && html.contains("It has 3 such rows."), "{html}");
    assert!(html.contains("`disease`: no promise is about its values."), "{html}");
}

/// k-map counts people under labels, all of whom may be in the data: it must not look as if presence were hidden.
#[test]
fn only_a_bound_on_presence_is_said_to_hide_presence() {
    let ground = tempfile::tempdir().unwrap();
    let folder = ground.path();
    let person = |at: usize| format!("{},{}", 20 + at * 7 % 40, ["Bonn", "Kiel"][at % 2]);
    let inside: String = (0..60).map(|at| format!("{},i{}\n", person(at), at % 7)).collect();
    let all: String = (0..240).map(|at| person(at) + "\n").collect();
    fs::write(folder.join("people.csv"), format!("age,city,disease\n{inside}")).unwrap();
    fs::write(folder.join("all.csv"), format!("age,city\n{all}")).unwrap();
    let publish = |require: &str| {
        let line = format!(
            "publish people.csv --quasi age,city --sensitive disease --intervals age=5,10 {require} --accept disclosure \
             --population-table all.csv --out release --force"
        );
        run(folder, &line).expect(0);
    };
    let not_protected = |page: &str| between(page, "<section id=\"not-protected\">", "</section>").to_owned();
    let presence = "Whether a person is in the data";
    publish("--require k-map=12 --require l=2");
    let html = page(folder, "--population-table all.csv", 0);
    assert!(banner(&html).contains("from the published tables and the table of the population"), "{}", banner(&html));
    assert!(not_protected(&html).contains(presence), "{}", not_protected(&html));
    assert!(html.contains("The table of the population holds everybody who could be in the data."), "{html}");
    // Without the table nobody can tell, and the page does not look good.
    let open = page(folder, "", 0);
    assert!(banner(&open).starts_with("open\""), "{}", banner(&open));
    assert!(banner(&open).contains("Nobody can tell"), "{}", banner(&open));
    publish("--require delta-presence=0,0.5 --require l=2 --partitioner full-domain");
    let html = page(folder, "--population-table all.csv", 0);
    assert!(!not_protected(&html).contains(presence), "{}", not_protected(&html));
}

/// Rows that keep a column as it is do not look the same to whoever knows that column.
#[test]
fn rows_are_said_to_look_the_same_only_if_they_do() {
    let ground = tempfile::tempdir().unwrap();
    let folder = ground.path();
    let rows: String = (0..40).map(|at| format!("{},w{},i{}\n", 20 + at, at % 2, at % 8)).collect();
    fs::write(folder.join("people.csv"), format!("age,ward,disease\n{rows}")).unwrap();
    let words = "They look the same, so whoever knows what attackers may know cannot tell which of them";
    for (flags, looks_same) in
        [("--require k=8", true), ("--require k=8 --other ward", false), ("--require k=8 --method anatomy", false)]
    {
        let line = format!(
            "publish people.csv --quasi age --sensitive disease {flags} --accept disclosure --out release --force"
        );
        run(folder, &line).expect(0);
        let html = page(folder, "", 0);
        assert_eq!(html.contains(words), looks_same, "{flags}");
    }
}

#[test]
fn a_failed_audit_says_so_at_the_top() {
    let ground = hospital();
    let folder = ground.path();
    let release = Release::at(folder.join("release"));
    let mut manifest = release.manifest();
    let promise = manifest["promises"].as_array_mut().unwrap().iter_mut().find(|it| it["principle"] == "k=10").unwrap();
    promise["principle"] = "k=100".into();
    release.write_manifest(&manifest);
    let html = page(folder, "", 4);
    assert!(banner(&html).starts_with("bad\""), "{}", banner(&html));
    assert!(banner(&html).contains("FAILED: do not rely on this release"), "{}", banner(&html));
    assert!(banner(&html).contains("The promise k=100 is broken: the worst group has 10."), "{}", banner(&html));
    assert!(html.contains("<td class=\"bad\">NO</td>"), "the table says it too");
}

#[test]
fn hostile_names_stay_text() {
    let ground = tempfile::tempdir().unwrap();
    let folder = ground.path();
    let name = "<script>alert(1)</script>";
    let rows: Vec<String> = (0..12).map(|row| format!("{},{}", 20 + row, ["<img src=x>", "b", "c"][row % 3])).collect();
    fs::write(folder.join("people.csv"), format!("age,{name}\n{}\n", rows.join("\n"))).unwrap();
    let line = format!("publish people.csv --quasi age --sensitive '{name}' --require l=3 --out release");
    run(folder, &line).expect(0);
    let html = page(folder, "", 0);
    assert!(html.contains("&lt;script&gt;alert(1)"), "the name is there");
    assert!(!html.contains("<script>alert") && !html.contains("<img"), "and is text");
    assert_eq!(html.matches("<script>").count(), 1, "ours alone");
}

#[test]
fn the_file_is_written_beside_the_release_and_replaced_only_when_told_to() {
    let ground = hospital();
    let folder = ground.path();
    let refused = |arguments: &str, message: &str| {
        let outcome = run(folder, &format!("audit release {arguments}"));
        assert!(outcome.stderr.contains(message), "{arguments}: {}", outcome.stderr);
        assert!(outcome.complaint(&[2]).is_none(), "{:?}", outcome.complaint(&[2]));
    };
    refused("--certificate page.txt", "does not end in .html");
    refused("--certificate release/page.html", "would be published with it");
    refused("--certificate nowhere/page.html", "there is no folder nowhere");
    refused("--force", "--certificate");
    assert!(!folder.join("release/page.html").exists());
    fs::write(folder.join("mine.html"), "mine").unwrap();
    refused("--certificate mine.html", "mine.html");
    assert_eq!(fs::read_to_string(folder.join("mine.html")).unwrap(), "mine");
    run(folder, "audit release --certificate mine.html --force").expect(0);
    assert!(fs::read_to_string(folder.join("mine.html")).unwrap().starts_with("<!doctype html>"));
    // A release that cannot be read has no certificate.
    fs::write(folder.join("release/generalized.csv"), "changed").unwrap();
    refused("--certificate none.html", "SHA-256");
    assert!(!folder.join("none.html").exists());
}

#[test]
fn a_browser_shows_it_on_light_and_dark_screens_and_prints_it_on_two_pages() {
    let Some(program) = browser::find() else {
        eprintln!("skipped: no Chromium");
        return;
    };
    let ground = hospital();
    let folder = fs::canonicalize(ground.path()).unwrap();
    page(&folder, "--microdata hospital/patients.csv", 0);
    let mut browser = Browser::start(&program);
    let visit = browser.open(&folder.join("page.html"));
    assert!(visit.messages.is_empty(), "{:?}", visit.messages);
    assert_eq!(visit.requests.len(), 1, "only the page itself: {:?}", visit.requests);
    assert_eq!(
        browser.evaluate("document.documentElement.scrollWidth <= window.innerWidth"),
        json!(true),
        "no scrolling"
    );
    let colours = |browser: &mut Browser, scheme: &str| {
        browser.pretend("screen", scheme);
        let of = |what: &str| format!("getComputedStyle(document.querySelector('.banner .verdict')).{what}");
        (browser.evaluate(&of("color")), browser.evaluate("getComputedStyle(document.body).backgroundColor"))
    };
    let (light, dark) = (colours(&mut browser, "light"), colours(&mut browser, "dark"));
    assert!(light.0 != dark.0 && light.1 != dark.1, "{light:?} {dark:?}");
    // A4 with the margins of the style sheet is 703 by 1017 pixels.
    browser.pretend("print", "light");
    let sheet = json!({"width": 703, "height": 1017, "deviceScaleFactor": 1, "mobile": false});
    browser.call("Emulation.setDeviceMetricsOverride", sheet);
    let height = browser.evaluate("document.documentElement.scrollHeight").as_f64().unwrap();
    assert!(height <= 2.0 * 1017.0, "{height} pixels");
}
