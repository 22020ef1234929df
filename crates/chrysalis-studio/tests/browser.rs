//! The studio in Debian's Chromium: every scenario of `referee/studio.py`. Skipped where playwright or a browser is
//! missing: `cargo xtask referees` installs both.

#![allow(clippy::unwrap_used, clippy::print_stderr, clippy::print_stdout, reason = "tests")]

mod common;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use common::hospital;

/// A Python with playwright.
fn python() -> Option<PathBuf> {
    let named = std::env::var_os("CHRYSALIS_REFEREE_PYTHON").map(PathBuf::from)?;
    let works = Command::new(&named).args(["-c", "import playwright"]).stderr(Stdio::null()).status();
    works.is_ok_and(|status| status.success()).then_some(named)
}

/// Where the environment variable says, or on the path under one of its names.
fn has_chromium() -> bool {
    let names = ["chromium", "chromium-browser", "chrome-headless-shell", "google-chrome", "google-chrome-stable"];
    let folders: Vec<PathBuf> =
        std::env::var_os("PATH").map(|path| std::env::split_paths(&path).collect()).unwrap_or_default();
    std::env::var_os("CHRYSALIS_CHROMIUM").is_some()
        || names.iter().any(|name| folders.iter().any(|folder| folder.join(name).is_file()))
}

#[test]
fn a_browser_finds_its_way() {
    let Some(python) = python() else {
        eprintln!("skipped: CHRYSALIS_REFEREE_PYTHON names no Python with playwright (see `cargo xtask referees`)");
        return;
    };
    if !has_chromium() {
        eprintln!("skipped: no Chromium (see `cargo xtask referees`)");
        return;
    }
    let ground = tempfile::tempdir().unwrap();
    let place = |name: &str, rows: u64| {
        let path = ground.path().join(name);
        std::fs::write(&path, hospital(rows)).unwrap();
        path
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut command = Command::new(python);
    command.arg(root.join("referee/studio.py")).arg("test").arg(env!("CARGO_BIN_EXE_chrysalis-studio"));
    command.arg(place("patients.csv", 2_000)).arg("--large").arg(place("many.csv", 500_000));
    let data = std::env::var_os("CHRYSALIS_DATA").map_or_else(|| root.join("../shared/data"), PathBuf::from);
    let adult = data.join("adult.csv.gz");
    match adult.is_file() {
        true => drop(command.arg("--adult").arg(adult)),
        false => eprintln!("skipped: Adult, because there is no {}", adult.display()),
    }
    // Fetched by `cargo xtask referees`.
    let axe = root.join("target/axe/node_modules/axe-core/axe.min.js");
    match axe.is_file() {
        true => drop(command.env("CHRYSALIS_AXE", axe)),
        false => eprintln!("skipped: axe-core, which `cargo xtask referees` fetches with npm"),
    }
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    println!("{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && said.contains("ok first_release"), "a scenario failed");
}
