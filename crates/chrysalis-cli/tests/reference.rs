//! `docs/reference` says what the program says: it is generated from the catalogue and from `--help`. `cargo xtask
//! bless` rewrites it.

#![cfg(feature = "databases")]
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use chrysalis::catalogue::{METHODS, PARTITIONERS, PRINCIPLES};

const MADE: &str = "<!-- Made by `cargo xtask bless`. -->";

#[track_caller]
fn check(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference").join(name);
    if std::env::var_os("CHRYSALIS_BLESS").is_some_and(|value| value == "1") {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == text,
        "docs/reference/{name} is not what the program says: run `cargo xtask bless`, read the diff"
    );
}

#[test]
fn methods() {
    let mut text = format!("# Methods\n\n{MADE}\n\n`chrysalis publish --method NAME`: how groups are shown.\n");
    for entry in METHODS {
        let about: Vec<&str> = entry.about.lines().collect();
        write!(text, "\n## {}\n\n{}.\n", entry.form, about.join("\n")).unwrap();
        let by = entry
            .partitioner
            .map_or_else(|| "none: it forms its groups itself, or has none".into(), |name| format!("`{name}`"));
        write!(text, "\n- partitioner where none is named: {by}\n").unwrap();
        for knob in entry.knobs {
            writeln!(text, "- option of its own: `--{}`", knob.name().replace('_', "-")).unwrap();
        }
    }
    check("methods.md", &text);
}

#[test]
fn partitioners() {
    let mut text =
        format!("# Partitioners\n\n{MADE}\n\n`chrysalis publish --partitioner NAME`: how groups are formed.\n\n");
    text += "| name | what it does | taxonomies | options of its own |\n|---|---|---|---|\n";
    for entry in PARTITIONERS {
        let options: Vec<String> =
            entry.knobs.iter().map(|knob| format!("`--{}`", knob.name().replace('_', "-"))).collect();
        let taxonomies = if entry.looks_at_taxonomies || entry.is_for_users { "yes" } else { "no" };
        writeln!(text, "| `{}` | {} | {taxonomies} | {} |", entry.name, entry.about, options.join(", ")).unwrap();
    }
    text += "\nPartitioners that look at no taxonomies form groups without them; what `generalize` then shows still follows them.\n";
    check("partitioners.md", &text);
}

#[test]
fn principles() {
    let mut text =
        format!("# Principles\n\n{MADE}\n\n`chrysalis publish --require PRINCIPLE`: what must hold in every group. ");
    text += "Several may be given.\n\n| for example | asks for |\n|---|---|\n";
    for entry in PRINCIPLES {
        writeln!(text, "| `{}` | {} |", entry.example, entry.about).unwrap();
    }
    check("principles.md", &text);
}

#[test]
fn commands() {
    let folder = tempfile::tempdir().unwrap();
    let help = |line: &str| common::run(folder.path(), line).expect(0).stdout;
    let whole = help("--help");
    let listed = whole.lines().skip_while(|line| !line.starts_with("Commands:")).skip(1);
    let names =
        listed.take_while(|line| !line.is_empty()).filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names: Vec<&str> =
        names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help").collect();
    assert!(names.contains(&"publish") && names.len() > 10, "{names:?}");
    let mut text = format!("# Commands\n\n{MADE}\n\n```text\n{whole}```\n");
    for name in names {
        write!(text, "\n## {name}\n\n```text\n{}```\n", help(&format!("{name} --help"))).unwrap();
    }
    check("commands.md", &text);
}
