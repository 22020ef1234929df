//! Every code block of the README and the guides runs.
//!
//! The blocks of a page run in order in one empty folder: ```` ```console ```` contains commands after `$ `, followed
//! by `exit=2` if they are meant to fail; a block with `file=NAME` after its language is written to that file. The
//! output of commands is shown in ```` ```text ```` blocks, which are only for readers. ```` ```python ```` is run by the
//! tests of the Python package.

#![cfg(feature = "databases")]
#![allow(clippy::unwrap_used, reason = "tests")]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The README's cargo commands, which this test skips because something else runs them.
const CARGO: [&str; 3] = ["cargo xtask example", "cargo xtask ci", "cargo install --path crates/chrysalis-cli"];

struct Block {
    line: usize,
    /// The word after the fence.
    language: String,
    /// `key=value` pairs after the language.
    settings: Vec<(String, String)>,
    text: String,
}

impl Block {
    fn setting(&self, key: &str) -> Option<&str> {
        self.settings.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
    }
}

fn blocks(page: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut is_inside = false;
    for (at, line) in page.lines().enumerate() {
        match line.trim_start().strip_prefix("```") {
            Some(_) if is_inside => is_inside = false,
            Some(info) => {
                is_inside = true;
                let mut words = info.split_whitespace().map(str::to_owned);
                let language = words.next().unwrap_or_default();
                let settings =
                    words.filter_map(|word| word.split_once('=').map(|(key, value)| (key.into(), value.into())));
                blocks.push(Block { line: at + 1, language, settings: settings.collect(), text: String::new() });
            }
            None if is_inside => writeln!(blocks.last_mut().unwrap().text, "{line}").unwrap(),
            None => {}
        }
    }
    blocks
}

/// The commands of a console block; a command may span several lines.
fn script(block: &Block) -> String {
    let mut script = String::new();
    let mut goes_on = false;
    for line in block.text.lines() {
        let command = if goes_on { Some(line) } else { line.strip_prefix("$ ") };
        let Some(command) = command else {
            assert!(line.is_empty(), "line {}: `{line}` is no command; show output in a text block", block.line);
            continue;
        };
        goes_on = command.ends_with('\\');
        let is_known = CARGO.iter().any(|known| command.starts_with(known));
        assert!(is_known || !command.starts_with("cargo "), "nobody runs `{command}`");
        if !is_known {
            writeln!(script, "{command}").unwrap();
        }
    }
    script
}

#[track_caller]
fn check(path: &Path) {
    let page = fs::read_to_string(path).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let binary = Path::new(env!("CARGO_BIN_EXE_chrysalis")).parent().unwrap();
    let paths = std::env::join_paths(
        std::iter::once(binary.to_owned()).chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    );
    let paths = paths.unwrap();
    let mut n_run = 0;
    for block in blocks(&page) {
        let place = format!("{}, line {}", path.display(), block.line);
        if let Some(name) = block.setting("file") {
            fs::write(folder.path().join(name), &block.text).unwrap();
            continue;
        }
        match block.language.as_str() {
            "text" => continue,
            // `cargo xtask python` runs these.
            "python" => {
                n_run += 1;
                continue;
            }
            "console" => {}
            other => panic!("{place}: a block in `{other}` is neither run nor written"),
        }
        let script = script(&block);
        let expected: i32 = block.setting("exit").map_or(0, |code| code.parse().unwrap());
        let mut command = Command::new("sh");
        command.args(["-e", "-c", &script]).current_dir(folder.path()).env("PATH", &paths);
        let outcome = command.output().unwrap();
        assert_eq!(
            outcome.status.code(),
            Some(expected),
            "{place}\n{script}\n{}{}",
            String::from_utf8_lossy(&outcome.stdout),
            String::from_utf8_lossy(&outcome.stderr)
        );
        n_run += 1;
    }
    assert!(n_run > 0, "{} has nothing to try", path.display());
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn the_readme_runs() {
    check(&root().join("README.md"));
}

#[test]
fn the_threats_run() {
    check(&root().join("docs/concepts/threats.md"));
}

#[test]
fn every_guide_runs() {
    let guides = fs::read_dir(root().join("docs/guides")).unwrap().map(|entry| entry.unwrap().path());
    let mut guides: Vec<PathBuf> = guides.filter(|path| path.extension().is_some_and(|it| it == "md")).collect();
    guides.sort();
    assert!(!guides.is_empty());
    guides.iter().for_each(|path| check(path));
}
