//! Bad input of every kind: refused with one `error:` line, one `hint:` line and the right exit code; never a panic,
//! never a hang, and nothing left behind.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "tests")]

#[path = "../common/mod.rs"]
mod common;
mod disks;
mod forged;
mod parquet;
mod requests;
mod tables;

use std::fs;
use std::path::Path;

/// A folder with files, in which commands are tried one after the other.
struct Ground {
    folder: tempfile::TempDir,
    wrong: Vec<String>,
}

impl Ground {
    fn new(files: &[(&str, &[u8])]) -> Self {
        let ground = Ground { folder: tempfile::tempdir().unwrap(), wrong: Vec::new() };
        for (name, bytes) in files {
            let path = ground.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        ground
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The command must exit with one of the codes, report the error properly, and leave the folder as it was.
    fn refuses(&mut self, line: &str, codes: &[i32]) {
        let before = common::listing(self.path());
        let outcome = common::run(self.path(), line);
        self.wrong.extend(outcome.complaint(codes).or_else(|| outcome.escapes()));
        let difference = common::difference(&before, &common::listing(self.path()));
        if !difference.is_empty() {
            self.wrong.push(format!("{difference}{outcome}"));
        }
    }

    /// Reports everything that went wrong, with a few cases in full.
    #[track_caller]
    fn done(self) {
        let shown: Vec<&str> = self.wrong.iter().take(8).map(String::as_str).collect();
        assert!(self.wrong.is_empty(), "{} wrong:\n\n{}\n", self.wrong.len(), shown.join("\n\n"));
    }
}
