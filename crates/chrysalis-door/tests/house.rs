//! House rules that no compiler checks, and the lists of CONTRIBUTING.md: which files a new form, principle or SQL
//! function touches.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::path::{Path, PathBuf};

use chrysalis::Form;

/// The only file that contains the names of forms.
const FORMS: &str = "crates/chrysalis-release/src/form.rs";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// One source file of the product, without its tests.
struct Source {
    /// Relative to the root of the repository.
    path: String,
    /// The code, without comments and string literals.
    code: String,
    /// The string literals.
    texts: Vec<String>,
}

fn sources() -> Vec<Source> {
    let mut found = Vec::new();
    for krate in std::fs::read_dir(root().join("crates")).unwrap() {
        let krate = krate.unwrap();
        if krate.file_name() != "chrysalis-testkit" {
            collect(&krate.path().join("src"), &mut found);
        }
    }
    assert!(found.len() > 100, "the product has more than {} files", found.len());
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

fn collect(folder: &Path, into: &mut Vec<Source>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() && name != "tests" {
            collect(&path, into);
        } else if name.ends_with(".rs") && !["tests.rs", "testing.rs"].contains(&name) {
            let text = std::fs::read_to_string(&path).unwrap();
            let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
            let (code, texts) = split(text);
            let path = path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
            into.push(Source { path, code, texts });
        }
    }
}

/// Splits a source into its code, without comments and string literals, and its string literals.
fn split(source: &str) -> (String, Vec<String>) {
    let (mut code, mut texts) = (String::new(), Vec::new());
    let mut rest = source;
    while let Some(next) = rest.chars().next() {
        let skipped = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if let Some(hashes) = raw_string(rest) {
            let (open, close) = (hashes + 2, format!("\"{}", "#".repeat(hashes)));
            let end = open + rest[open..].find(&close).unwrap();
            texts.push(rest[open..end].to_owned());
            end + close.len()
        } else if next == '"' {
            let mut escaped = false;
            let is_end = |letter: char| {
                let is_end = letter == '"' && !escaped;
                escaped = letter == '\\' && !escaped;
                is_end
            };
            let end = 1 + rest[1..].find(is_end).unwrap();
            texts.push(rest[1..end].to_owned());
            end + 1
        } else if rest.starts_with("'\"'") || rest.starts_with("'\\\"'") {
            rest[1..].find('\'').unwrap() + 2
        } else {
            code.push(next);
            next.len_utf8()
        };
        rest = &rest[skipped..];
    }
    (code, texts)
}

/// The number of `#` before a raw string's quote.
fn raw_string(rest: &str) -> Option<usize> {
    let hashes = rest.strip_prefix('r')?;
    let n = hashes.len() - hashes.trim_start_matches('#').len();
    hashes[n..].starts_with('"').then_some(n)
}

fn has_word(text: &str, word: &str) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || ['_', '-', '{'].contains(&letter);
    text.match_indices(word).any(|(at, _)| {
        !text[..at].chars().next_back().is_some_and(is_part)
            && !text[at + word.len()..].chars().next().is_some_and(is_part)
    })
}

fn files_with(is_named: impl Fn(&Source) -> bool) -> Vec<String> {
    sources().into_iter().filter(|source| is_named(source)).map(|source| source.path).collect()
}

#[test]
fn sources_are_taken_apart() {
    let (code, texts) = split("a \"b \\\" c\" d // e \"f\"\n'\"' r#\"g\"h\"# i");
    assert_eq!((code.as_str(), texts.len()), ("a  d \n  i", 2));
    assert_eq!(texts, ["b \\\" c", "g\"h"]);
    assert!(
        has_word("or permute, may", "permute")
            && !has_word("permuted", "permute")
            && !has_word("pre-permute", "permute")
    );
}

/// With one exception: a family of random questions is called `angel` as well, and its help mentions it.
#[test]
fn a_form_has_its_name_in_one_file() {
    let names =
        |source: &Source| source.texts.iter().any(|text| Form::ALL.iter().any(|form| has_word(text, form.name())));
    let workload = ["crates/chrysalis-cli/src/args/mod.rs", "crates/chrysalis-evaluate/src/workload/mod.rs"];
    assert_eq!(files_with(names), [workload[0], workload[1], FORMS]);
    let others = |source: &Source| {
        let is_meant = |form: &&Form| **form != Form::Angel;
        source.texts.iter().any(|text| Form::ALL.iter().filter(is_meant).any(|form| has_word(text, form.name())))
    };
    assert_eq!(files_with(others), [FORMS]);
}

#[test]
fn nobody_but_the_format_means_some_other_form() {
    let guesses = |source: &Source| {
        let flat: String = source.code.split_whitespace().collect();
        let compares = ["==Form::", "!=Form::"].iter().any(|text| flat.contains(text));
        let matches = flat.match_indices("matches!(").any(|(at, _)| {
            let inside = &flat[at..];
            inside[..inside.find(';').unwrap_or(inside.len())].contains(",Form::")
        });
        // A match with one arm for a form and one for everything else.
        let wildcard = flat.match_indices("Form::").any(|(at, _)| {
            let before = flat[..at].chars().next_back();
            let arm = flat[at..].find("=>").is_some_and(|to| to < 40 && !flat[at..at + to].contains(['(', ')', ';']));
            let block = &flat[at..at + flat[at..].find("}}").unwrap_or(flat.len() - at)];
            before.is_some_and(|letter| ['{', ',', '|'].contains(&letter)) && arm && block.contains(",_=>")
        });
        compares || matches || wildcard
    };
    let found = files_with(|source| !source.path.starts_with("crates/chrysalis-release/") && guesses(source));
    assert_eq!(found, [] as [&str; 0]);
}

/// It was 24 files before there was a hall.
#[test]
fn few_files_know_one_form() {
    let found = files_with(|source| source.code.contains("Form::Permute"));
    assert_eq!(
        found,
        [
            "crates/chrysalis-audit/src/form/mod.rs",
            "crates/chrysalis-publish/src/method/permute/mod.rs",
            FORMS,
            "crates/chrysalis/src/catalogue.rs",
        ]
    );
}

/// Evidence is only as good as the groups it was computed from.
#[test]
fn only_a_job_looks_at_groups_and_promises() {
    for call in [".hold_in(", "Promise::of("] {
        let found = files_with(|source| source.code.contains(call));
        assert_eq!(found, ["crates/chrysalis-publish/src/job.rs"], "{call}");
    }
}

#[test]
fn only_a_door_speaks_of_flags() {
    let speaks = |text: &String| {
        let flags = text.match_indices("--").filter(|(at, _)| {
            let is_start = !text[..*at].ends_with(['-', '!']);
            is_start && text[at + 2..].chars().next().is_some_and(|letter| letter.is_ascii_lowercase())
        });
        flags.count() > 0
    };
    // The studio says the command that repeats what its page did.
    let doors = ["crates/chrysalis-cli/", "crates/chrysalis-studio/"];
    let is_door = |source: &Source| doors.iter().any(|door| source.path.starts_with(door));
    let found = files_with(|source| !is_door(source) && source.texts.iter().any(speaks));
    assert_eq!(found, [] as [&str; 0]);
}

#[test]
fn the_command_line_parses_and_renders() {
    let mut found = Vec::new();
    collect(&root().join("crates/chrysalis-cli/src"), &mut found);
    let lines = |source: &Source| std::fs::read_to_string(root().join(&source.path)).unwrap().lines().count();
    let lines: usize = found.iter().map(lines).sum();
    // About 210 lines a verb.
    assert!(lines < 4400, "{lines} lines");
}

/// The files that CONTRIBUTING.md names for a toy must be exactly those that mention it.
#[track_caller]
fn check_toy(section: &str, feature: &str) {
    let manual = std::fs::read_to_string(root().join("CONTRIBUTING.md")).unwrap();
    let section = manual.split("\n## ").find(|text| text.starts_with(section)).unwrap();
    let mut told: Vec<&str> =
        section.split('`').filter(|word| word.starts_with("crates/") && word.ends_with(".rs")).collect();
    told.sort_unstable();
    let knows = |source: &Source| source.texts.iter().any(|text| text == feature);
    let mut known = files_with(knows);
    // A toy's own folder or file need not mention the feature.
    known.extend(files_with(|source| source.path.contains("/toy") && is_of(&source.path, feature)));
    known.sort_unstable();
    known.dedup();
    assert_eq!(told, known, "what CONTRIBUTING.md says against what is");
}

fn is_of(path: &str, feature: &str) -> bool {
    match feature {
        "toy-form" => path.contains("/method/") || path.contains("/form/"),
        "toy-principle" => path.contains("/principle/"),
        _ => path.contains("/aggregate/"),
    }
}

#[test]
fn a_new_form_touches_what_is_told() {
    check_toy("A new form", "toy-form");
}

#[test]
fn a_new_principle_touches_what_is_told() {
    check_toy("A new principle", "toy-principle");
}

#[test]
fn a_new_function_touches_what_is_told() {
    check_toy("A new SQL function", "toy-function");
}
