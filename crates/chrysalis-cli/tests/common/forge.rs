//! A careful forger: changes a release and corrects hashes, counts and the manifest's own text, so that only the lie
//! itself can be found. `forge_parquet.rs` writes Parquet as no honest writer would.

#![allow(dead_code, reason = "every test file uses a part of this")]
#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// A release in a folder, about to be forged.
pub(crate) struct Forger {
    pub(crate) folder: PathBuf,
}

impl Forger {
    /// A copy of a release, to be changed. Anything at the target is removed.
    pub(crate) fn copy(from: &Path, to: &Path) -> Self {
        if to.exists() {
            fs::remove_dir_all(to).unwrap();
        }
        fs::create_dir_all(to).unwrap();
        for entry in fs::read_dir(from).unwrap() {
            let path = entry.unwrap().path();
            fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
        }
        Forger { folder: to.to_owned() }
    }

    pub(crate) fn bytes(&self, file: &str) -> Vec<u8> {
        fs::read(self.folder.join(file)).unwrap()
    }

    pub(crate) fn text(&self, file: &str) -> String {
        String::from_utf8(self.bytes(file)).unwrap()
    }

    pub(crate) fn manifest(&self) -> Value {
        serde_json::from_slice(&self.bytes("release.json")).unwrap()
    }

    /// Changes the content of the manifest, in the writer's own spelling.
    pub(crate) fn say(&self, change: impl FnOnce(&mut Value)) {
        let mut manifest = self.manifest();
        change(&mut manifest);
        let text = format!("{}\n", serde_json::to_string_pretty(&manifest).unwrap());
        fs::write(self.folder.join("release.json"), text).unwrap();
    }

    /// Changes the text of the manifest, whatever it then says.
    pub(crate) fn spell(&self, change: impl FnOnce(String) -> String) {
        let text = self.text("release.json");
        let changed = change(text.clone());
        assert_ne!(changed, text, "nothing was changed");
        fs::write(self.folder.join("release.json"), changed).unwrap();
    }

    /// Replaces the file of a table and updates its hash.
    pub(crate) fn replace(&self, file: &str, bytes: &[u8]) {
        assert_ne!(self.bytes(file), bytes, "nothing was changed");
        fs::write(self.folder.join(file), bytes).unwrap();
        self.say(|manifest| part_of(manifest, file)["sha256"] = json!(sha256(bytes)));
    }

    /// Renames the file of a table.
    pub(crate) fn rename(&self, file: &str, name: &str) {
        fs::rename(self.folder.join(file), self.folder.join(name)).unwrap();
        self.say(|manifest| part_of(manifest, file)["file"] = json!(name));
    }

    /// Changes the cells of a CSV table, header first; writes them as the writer would, and updates the counts.
    pub(crate) fn edit(&self, file: &str, change: impl FnOnce(&mut Vec<Vec<String>>)) {
        let mut cells = parse_csv(&self.text(file));
        change(&mut cells);
        self.replace(file, to_csv(&cells).as_bytes());
        self.repair();
    }

    /// Updates the numbers of rows and groups and the counts of sensitive values to match the CSV tables.
    pub(crate) fn repair(&self) {
        let manifest = self.manifest();
        let tables = manifest["tables"].as_array().unwrap();
        let mut cells: BTreeMap<String, Vec<Vec<String>>> = BTreeMap::new();
        for table in tables {
            let file = table["parts"][0]["file"].as_str().unwrap();
            cells.insert(table["name"].as_str().unwrap().to_owned(), parse_csv(&self.text(file)));
        }
        let column = |name: &str, column: &str| -> Option<Vec<String>> {
            let rows = &cells[name];
            let at = rows[0].iter().position(|header| header == column)?;
            Some(rows[1..].iter().map(|row| row[at].clone()).collect())
        };
        let is_people = |table: &&Value| {
            let columns: Vec<&str> =
                table["columns"].as_array().unwrap().iter().map(|column| column["name"].as_str().unwrap()).collect();
            !columns.contains(&"count") && !columns.contains(&"hits") && columns != ["attribute", "label", "value"]
        };
        let people = tables.iter().find(is_people).unwrap()["name"].as_str().unwrap();
        let ids = column(people, "group_id").or_else(|| column(people, "batch_id"));
        self.say(|manifest| {
            for table in manifest["tables"].as_array_mut().unwrap() {
                let rows = cells[table["name"].as_str().unwrap()].len() - 1;
                table["rows"] = json!(rows);
                table["parts"][0]["rows"] = json!(rows);
            }
            manifest["rows"] = json!(cells[people].len() - 1);
            if let Some(mut ids) = ids {
                ids.sort();
                ids.dedup();
                manifest["groups"] = json!(ids.len());
            }
            let attributes = manifest["attributes"].as_array_mut().unwrap();
            for attribute in attributes.iter_mut().filter(|attribute| attribute["role"] == "sensitive") {
                let name = attribute["name"].as_str().unwrap().to_owned();
                let counted = cells.keys().find(|table| column(table, "count").is_some());
                let table = counted.map_or(people, String::as_str);
                let values = column(table, &name).unwrap();
                let times = column(table, "count")
                    .map_or_else(|| vec![1; values.len()], |all| all.iter().map(|n| n.parse().unwrap_or(0)).collect());
                let count = |value: &Value| -> u64 {
                    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                    let text = if value.is_null() { String::new() } else { text };
                    values.iter().zip(&times).filter(|(known, _)| **known == text).map(|(_, n)| *n).sum()
                };
                let counts: Vec<u64> = attribute["domain"]["values"].as_array().unwrap().iter().map(count).collect();
                attribute["domain"]["counts"] = json!(counts);
            }
        });
    }
}

/// The entry of a file in the manifest.
pub(crate) fn part_of<'a>(manifest: &'a mut Value, file: &str) -> &'a mut Value {
    let tables = manifest["tables"].as_array_mut().unwrap().iter_mut();
    let mut parts = tables.flat_map(|table| table["parts"].as_array_mut().unwrap());
    parts.find(|part| part["file"] == file).unwrap()
}

pub(crate) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The cells of a file that the writer wrote.
pub(crate) fn parse_csv(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut field, mut is_quoted) = (Vec::new(), Vec::new(), String::new(), false);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if is_quoted && letters.peek() == Some(&'"') => field.extend(letters.next()),
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => row.push(std::mem::take(&mut field)),
            '\n' if !is_quoted => {
                row.push(std::mem::take(&mut field));
                rows.push(std::mem::take(&mut row));
            }
            letter => field.push(letter),
        }
    }
    rows
}

/// The reverse, with the writer's rules for quotes.
pub(crate) fn to_csv(rows: &[Vec<String>]) -> String {
    let quoted = |field: &String| {
        let needs = field.contains([',', '"', '\n', '\r', ';', '\t', '|']) || field.trim() != field;
        if needs { format!("\"{}\"", field.replace('"', "\"\"")) } else { field.clone() }
    };
    rows.iter().map(|row| row.iter().map(quoted).collect::<Vec<_>>().join(",") + "\n").collect()
}
