//! Helpers for tests of the binary: running it with a time limit, comparing folders, editing releases.

#![allow(dead_code, reason = "every test file uses a part of this")]
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "tests")]

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File};
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use sha2::{Digest, Sha256};

/// A run that takes longer than this hangs.
const PATIENCE: Duration = Duration::from_secs(20);

/// The result of one run of `chrysalis`.
pub(crate) struct Outcome {
    pub(crate) command: String,
    /// `None` if it was killed, by us after `PATIENCE` or by a signal.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) seconds: f64,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let exit = self.code.map_or_else(|| "killed".to_owned(), |code| format!("exit {code}"));
        // Escaped, because some tests provoke output that must not reach a terminal.
        writeln!(f, "$ {}", self.command)?;
        for line in self.stdout.lines().take(12).chain(self.stderr.lines().take(30)) {
            let shown: String = line.chars().take(300).collect();
            writeln!(f, "{}", shown.replace(char::is_control, "\u{fffd}"))?;
        }
        write!(f, "{exit} after {:.1} s", self.seconds)
    }
}

impl Outcome {
    /// The run, which must have ended with this code.
    #[track_caller]
    pub(crate) fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "expected exit {code}\n{self}");
        self
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("not JSON ({error})\n{self}"))
    }

    /// What is wrong with the way this run refused its input, if anything: it must end by itself with one of the codes,
    /// print one `error:` line and one `hint:` line, print no result and never show a panic.
    pub(crate) fn complaint(&self, codes: &[i32]) -> Option<String> {
        let lines = || self.stderr.lines().filter(|line| !line.starts_with("note: "));
        let count = |start: &str| lines().filter(|line| line.starts_with(start)).count();
        let wrong = match self.code {
            None => "did not end by itself".to_owned(),
            Some(code) if !codes.contains(&code) => format!("exit {code}, expected one of {codes:?}"),
            _ if self.stderr.contains("panicked") || self.stderr.contains("RUST_BACKTRACE") => {
                "a panic shows".to_owned()
            }
            Some(2 | 3) if count("error: ") != 1 => format!("{} `error:` lines, expected one", count("error: ")),
            Some(2 | 3) if count("hint: ") != 1 => format!("{} `hint:` lines, expected one", count("hint: ")),
            Some(2 | 3) if lines().next_back().is_none_or(|line| !line.starts_with("hint: ")) => {
                "the hint is not last".into()
            }
            Some(2 | 3) if !self.stdout.is_empty() => "a result was printed".to_owned(),
            Some(_) => return None,
        };
        Some(format!("{wrong}\n{self}"))
    }

    /// The maker of a table or a release must not be able to control the reader's terminal.
    pub(crate) fn escapes(&self) -> Option<String> {
        let escapes = has_control(&self.stderr) || has_control(&self.stdout);
        escapes.then(|| format!("control characters reach the terminal\n{self}"))
    }
}

fn has_control(text: &str) -> bool {
    text.chars().any(|character| character.is_control() && character != '\n' && character != '\t')
}

/// `chrysalis`, in a folder, with an environment that does not depend on the terminal.
pub(crate) fn chrysalis(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chrysalis"));
    command.current_dir(folder).stdin(Stdio::null());
    for name in ["COLUMNS", "RUST_BACKTRACE", "CLICOLOR_FORCE", "RAYON_NUM_THREADS"] {
        command.env_remove(name);
    }
    command.env("NO_COLOR", "1");
    command
}

/// Runs `chrysalis` with the words of `line`; `< file` at its end is standard input.
pub(crate) fn run(folder: &Path, line: &str) -> Outcome {
    let mut words = split(line);
    let mut command = chrysalis(folder);
    if let Some(at) = words.iter().position(|word| word == "<") {
        let input = File::open(folder.join(&words[at + 1])).unwrap();
        command.stdin(input);
        words.truncate(at);
    }
    finish(command.args(&words), format!("chrysalis {line}"))
}

/// Waits for the command, but no longer than `PATIENCE`.
pub(crate) fn finish(command: &mut Command, written: String) -> Outcome {
    // Files, not pipes, so nobody has to read them while the child runs.
    let (mut out, mut err) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
    command.stdout(out.try_clone().unwrap()).stderr(err.try_clone().unwrap());
    let start = Instant::now();
    let mut child = command.spawn().unwrap();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break Some(status);
        }
        if start.elapsed() > PATIENCE {
            child.kill().unwrap();
            child.wait().unwrap();
            break None;
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let seconds = start.elapsed().as_secs_f64();
    Outcome {
        command: written,
        code: status.and_then(|status| status.code()),
        stdout: content(&mut out),
        stderr: content(&mut err),
        seconds,
    }
}

fn content(file: &mut File) -> String {
    let mut bytes = Vec::new();
    file.rewind().unwrap();
    file.read_to_end(&mut bytes).unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Words as a shell splits them: blanks separate, single and double quotes group. No variables, no escapes.
pub(crate) fn split(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for character in line.chars() {
        match quote {
            Some(open) if character == open => quote = None,
            Some(_) => word.get_or_insert_default().push(character),
            None if character == '\'' || character == '"' => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            None if character.is_whitespace() => words.extend(word.take()),
            None => word.get_or_insert_default().push(character),
        }
    }
    assert!(quote.is_none(), "an open quote in: {line}");
    words.extend(word);
    words
}

/// Every file below a folder with its bytes; folders and links are included.
pub(crate) fn listing(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(&next).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(folder).unwrap().to_string_lossy().into_owned();
            let kind = fs::symlink_metadata(&path).unwrap().file_type();
            if kind.is_dir() {
                found.insert(format!("{name}/"), Vec::new());
                open.push(path);
            } else if kind.is_file() {
                found.insert(name, fs::read(&path).unwrap());
            } else {
                found.insert(format!("{name} (special)"), Vec::new());
            }
        }
    }
    found
}

/// The differences between two listings, in words; empty if there are none.
pub(crate) fn difference(before: &BTreeMap<String, Vec<u8>>, after: &BTreeMap<String, Vec<u8>>) -> String {
    let mut words = String::new();
    for (name, bytes) in after {
        match before.get(name) {
            None => words.push_str(&format!("left behind: {name}\n")),
            Some(old) if old != bytes => words.push_str(&format!("changed: {name}\n")),
            Some(_) => {}
        }
    }
    for name in before.keys().filter(|name| !after.contains_key(*name)) {
        words.push_str(&format!("gone: {name}\n"));
    }
    words
}

pub(crate) fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy_folder(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}

/// The worked tables of the papers.
pub(crate) fn papers() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../chrysalis-testkit/papers")
}

/// A file of the shared data folder, or `None` with a printed sentence.
pub(crate) fn data(name: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("CHRYSALIS_DATA")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"), PathBuf::from);
    let path = folder.join(name);
    if !path.is_file() {
        eprintln!("skipped: no data folder ({} is not there; set CHRYSALIS_DATA)", path.display());
        return None;
    }
    Some(path.canonicalize().unwrap())
}

/// A release folder, for reading and for tampering.
pub(crate) struct Release {
    pub(crate) folder: PathBuf,
}

impl Release {
    pub(crate) fn at(folder: impl Into<PathBuf>) -> Self {
        Release { folder: folder.into() }
    }

    pub(crate) fn manifest(&self) -> Value {
        serde_json::from_slice(&fs::read(self.folder.join("release.json")).unwrap()).unwrap()
    }

    pub(crate) fn write_manifest(&self, manifest: &Value) {
        // In the writer's own spelling, so that the audit finds the lie itself.
        let text = format!("{}\n", serde_json::to_string_pretty(manifest).unwrap());
        fs::write(self.folder.join("release.json"), text).unwrap();
    }

    /// Replaces a table's file and corrects its hash in the manifest, as a careful forger would.
    pub(crate) fn forge(&self, file: &str, bytes: &[u8]) {
        fs::write(self.folder.join(file), bytes).unwrap();
        let mut manifest = self.manifest();
        let tables = manifest["tables"].as_array_mut().unwrap();
        let parts = tables.iter_mut().flat_map(|table| table["parts"].as_array_mut().unwrap());
        let entry = parts.into_iter().find(|part| part["file"] == file).unwrap();
        entry["sha256"] = Value::from(sha256(bytes));
        self.write_manifest(&manifest);
    }

    /// The cells of a CSV table, header first.
    pub(crate) fn cells(&self, file: &str) -> Vec<Vec<String>> {
        parse_csv(&fs::read_to_string(self.folder.join(file)).unwrap())
    }

    /// The groups of the generalized table as a multiset, without their ids: each group is its sorted rows.
    pub(crate) fn groups(&self) -> Vec<Vec<Vec<String>>> {
        let cells = self.cells("generalized.csv");
        assert_eq!(cells[0][0], "group_id");
        let mut groups: BTreeMap<String, Vec<Vec<String>>> = BTreeMap::new();
        for row in &cells[1..] {
            groups.entry(row[0].clone()).or_default().push(row[1..].to_vec());
        }
        let mut groups: Vec<_> = groups.into_values().collect();
        groups.iter_mut().for_each(|rows| rows.sort());
        groups.sort();
        groups
    }
}

pub(crate) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A small CSV reader of our own, so that the tests do not trust the product's.
pub(crate) fn parse_csv(text: &str) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    let (mut row, mut field, mut quoted) = (Vec::new(), String::new(), false);
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' if quoted && characters.peek() == Some(&'"') => {
                characters.next();
                field.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(std::mem::take(&mut field)),
            '\n' if !quoted => {
                row.push(std::mem::take(&mut field));
                rows.push(std::mem::take(&mut row));
            }
            _ => field.push(character),
        }
    }
    assert!(field.is_empty() && row.is_empty(), "the file does not end with a line end");
    rows
}

pub(crate) fn to_csv(rows: &[Vec<String>]) -> String {
    let quote = |field: &String| {
        if field.contains([',', '"', '\n']) { format!("\"{}\"", field.replace('"', "\"\"")) } else { field.clone() }
    };
    rows.iter().map(|row| row.iter().map(quote).collect::<Vec<_>>().join(",") + "\n").collect()
}
