//! The page, compared with all tests.

use super::*;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The bullets of a section, each on one line.
fn bullets(section: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut is_inside = false;
    for line in section.lines() {
        if let Some(text) = line.strip_prefix("- ") {
            found.push(text.to_owned());
            is_inside = true;
        } else if let (true, Some(text)) = (is_inside, line.strip_prefix("  ")) {
            let last = found.last_mut().unwrap();
            last.push(' ');
            last.push_str(text.trim());
        } else {
            is_inside = false;
        }
    }
    found
}

/// The names of all tests under `crates`.
fn tests() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut folders: Vec<PathBuf> = Vec::new();
    for krate in std::fs::read_dir(root().join("crates")).unwrap() {
        folders.extend(["src", "tests"].map(|name| krate.as_ref().unwrap().path().join(name)));
    }
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|it| it == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                let lines: Vec<&str> = text.lines().map(str::trim).collect();
                let named = |at: usize| Some(lines[at].strip_prefix("fn ")?.split_once('(')?.0.to_owned());
                let has_mark = |at: &usize| {
                    lines[..*at].iter().rev().take_while(|line| line.starts_with("#[")).any(|line| *line == "#[test]")
                };
                found.extend((0..lines.len()).filter(has_mark).filter_map(named));
            }
        }
    }
    found
}

/// What attackers know, as in every form's section.
const KNOWN: [&str; 4] =
    ["Everybody's quasi values", "The columns kept as they are", "Another release of the same people", "The algorithm"];

#[test]
fn every_sentence_of_the_guide_has_a_test() {
    let page = std::fs::read_to_string(root().join("docs/guides/what-is-protected.md")).unwrap();
    let tests = tests();
    let names = Form::ALL.iter().map(|form| form.name()).filter(|name| *name != "toy");
    for name in names.chain(["Every form"]) {
        let section = page.split("\n## ").find(|text| text.lines().next() == Some(name));
        let section = section.unwrap_or_else(|| panic!("the guide has no section `{name}`"));
        for known in KNOWN {
            let part = section.split("\n### ").find(|text| text.lines().next() == Some(known));
            let part = part.unwrap_or_else(|| panic!("`{name}` does not say what comes of `{known}`"));
            assert!(!bullets(part).is_empty(), "`{name}` says nothing of `{known}`");
        }
        for bullet in bullets(section) {
            let test = bullet.strip_suffix(" -->").and_then(|text| Some(text.rsplit_once("<!-- test: ")?.1));
            let test = test.unwrap_or_else(|| panic!("`{name}`: no test is named behind `{bullet}`"));
            assert!(tests.contains(test), "`{name}`: there is no test `{test}`, named behind `{bullet}`");
            assert_eq!(bullet.matches("<!--").count(), 1, "`{name}`: {bullet}");
        }
    }
}
