//! Honest releases, forged ones, and the verdict of the audit.

use std::fs;
use std::path::{Path, PathBuf};

use chrysalis::store::{Format, Input, MANIFEST, Source, read_release, write_release};
use chrysalis::table::{CsvOptions, Kind, no_progress};
use chrysalis::{Draft, Evidence, Form, Manifest, Release, Seed, Unwatched, audit, files, publish};
use rand::RngExt;
use rand::rngs::ChaCha20Rng;
use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};

use crate::people::{self, People};
use crate::sheet::{Head, Sheet};

/// A release as it was published, with everything that its owner knows.
#[derive(Clone, Debug)]
pub(crate) struct Honest {
    pub(crate) form: Form,
    pub(crate) format: Format,
    pub(crate) people: People,
    pub(crate) draft: Json,
    /// The microdata as a file.
    pub(crate) source: PathBuf,
    pub(crate) folder: PathBuf,
    pub(crate) manifest: Manifest,
    pub(crate) json: Json,
    pub(crate) sheets: Vec<Sheet>,
}

impl Honest {
    /// Publishes random people in a form; `None` if that fails.
    pub(crate) fn draw(form: Form, rng: &mut ChaCha20Rng, at: &Path) -> Option<Honest> {
        let people = People::draw(rng);
        let draft = people::draft(form, rng);
        fs::create_dir_all(at).unwrap();
        let source = at.join("people.csv");
        fs::write(&source, people.csv()).unwrap();
        Honest::publish(form, people, draft, source, at.join("honest"), rng)
    }

    pub(crate) fn publish(
        form: Form,
        people: People,
        draft: Json,
        source: PathBuf,
        folder: PathBuf,
        rng: &mut ChaCha20Rng,
    ) -> Option<Honest> {
        let asked: Draft = serde_json::from_value(draft.clone()).unwrap();
        let input = open(&source);
        let recipe = asked.check(input.header()).unwrap_or_else(|error| panic!("{error}: {draft}"));
        let table = files::read(input, recipe.requests(), "read", &Unwatched).unwrap();
        let made = publish(table, &recipe, Seed::Fixed(rng.random()), &Unwatched).ok()?;
        let mut release = made.release;
        // As if it had been made with a secret seed: the mark of a fixed one would be one more thing to lie about.
        release.manifest.reproducible = false;
        let manifest = write_release(&release, &folder, recipe.format(), false, &no_progress).unwrap();
        let json: Json = serde_json::from_slice(&fs::read(folder.join(MANIFEST)).unwrap()).unwrap();
        let read = read_release(&folder).unwrap();
        let order = |column: &str| {
            let name = |end: &str| column.strip_suffix(end).and_then(|name| manifest.attribute(name));
            let known = manifest.attribute(column).or_else(|| name("_min")).or_else(|| name("_max"));
            known.map_or_else(Vec::new, |attribute| attribute.domain.order())
        };
        let tables = manifest.tables.iter().zip(&read.tables);
        let sheets = tables.map(|(entry, table)| Sheet::of(&entry.name, table, order)).collect();
        Some(Honest { form, format: recipe.format(), people, draft, source, folder, manifest, json, sheets })
    }

    pub(crate) fn sensitive(&self) -> &str {
        self.draft["sensitive"].as_str().unwrap()
    }
}

fn open(source: &Path) -> Input {
    let options = CsvOptions { delimiter: Some(b','), ..CsvOptions::default() };
    Input::open(&Source::Path(source.to_owned()), &options).unwrap()
}

/// Replaces the bytes of a file; `None` if that cannot be done.
type Rewrite = Box<dyn Fn(&[u8]) -> Option<Vec<u8>>>;

/// Changes to files after they are written.
pub(crate) enum After {
    /// Replaces the bytes of a table's file and corrects its hash.
    Bytes(usize, Rewrite),
    /// Renames the file of a table.
    Rename(usize, String),
    /// Adds a file.
    Add(String, Vec<u8>),
    /// Changes the text of the manifest.
    Text(Box<dyn Fn(&str) -> String>),
    /// Changes the manifest after hashes are in it.
    Json(Box<dyn Fn(&mut Json)>),
}

/// A release under forgery.
pub(crate) struct Fake<'a> {
    pub(crate) honest: &'a Honest,
    pub(crate) json: Json,
    pub(crate) sheets: Vec<Sheet>,
    pub(crate) after: Vec<After>,
}

impl<'a> Fake<'a> {
    pub(crate) fn of(honest: &'a Honest) -> Fake<'a> {
        let (json, sheets) = (honest.json.clone(), honest.sheets.clone());
        Fake { honest, json, sheets, after: Vec::new() }
    }

    pub(crate) fn form(&self) -> Form {
        self.honest.form
    }

    pub(crate) fn sheet(&self, name: &str) -> &Sheet {
        &self.sheets[self.place(name)]
    }

    pub(crate) fn sheet_mut(&mut self, name: &str) -> &mut Sheet {
        let place = self.place(name);
        &mut self.sheets[place]
    }

    pub(crate) fn place(&self, name: &str) -> usize {
        self.sheets.iter().position(|sheet| sheet.name == name).unwrap()
    }

    /// The table with a row per person and all quasi columns.
    pub(crate) fn rows(&self) -> &Sheet {
        self.sheet(self.form().shape().people)
    }

    pub(crate) fn rows_mut(&mut self) -> &mut Sheet {
        self.sheet_mut(self.form().shape().people)
    }

    /// The table that counts sensitive values, if there is one.
    pub(crate) fn counts(&self) -> Option<&Sheet> {
        let name = self.form().shape().values_table();
        (name != self.form().shape().people).then(|| self.sheet(name))
    }

    pub(crate) fn counts_mut(&mut self) -> Option<&mut Sheet> {
        let name = self.form().shape().values_table();
        (name != self.form().shape().people).then(|| self.sheet_mut(name))
    }

    /// The column of group ids in the table of rows.
    pub(crate) fn id(&self) -> Option<usize> {
        self.form().shape().group_id.map(|name| self.rows().at(name))
    }

    /// Names of the attributes with a role.
    pub(crate) fn with_role(&self, role: &str) -> Vec<String> {
        let attributes = self.json["attributes"].as_array().unwrap().iter();
        attributes.filter(|it| it["role"] == role).map(|it| it["name"].as_str().unwrap().to_owned()).collect()
    }

    pub(crate) fn attribute_mut(&mut self, name: &str) -> &mut Json {
        let attributes = self.json["attributes"].as_array_mut().unwrap();
        attributes.iter_mut().find(|attribute| attribute["name"] == name).unwrap()
    }

    pub(crate) fn attribute(&self, name: &str) -> &Json {
        let attributes = self.json["attributes"].as_array().unwrap();
        attributes.iter().find(|attribute| attribute["name"] == name).unwrap()
    }

    pub(crate) fn sensitive(&self) -> String {
        self.honest.sensitive().to_owned()
    }

    pub(crate) fn kind_of(&self, name: &str) -> Kind {
        self.attribute(name)["kind"].as_str().unwrap().parse().unwrap()
    }

    /// An attribute as a column of the microdata.
    pub(crate) fn head_of(&self, name: &str) -> Head {
        let order = self.honest.manifest.attribute(name).map_or_else(Vec::new, |it| it.domain.order());
        Head { name: name.to_owned(), kind: self.kind_of(name), order }
    }

    /// Updates everything that follows from the tables: the order of rows, numbers of rows and groups, and domains.
    pub(crate) fn mend(&mut self) {
        let (rows, id) = (self.rows().rows.len(), self.id());
        if let Some(id) = id {
            self.json["groups"] = json!(self.rows().ranked(id).len());
        }
        self.json["rows"] = json!(rows);
        let shown = self.form().shape().detail.is_labelled();
        for role in ["quasi", "other"] {
            for name in self.with_role(role) {
                if role == "other" || !shown {
                    let texts = self.rows().rows.iter().map(|row| row[self.rows().at(&name)].clone()).collect();
                    self.mend_domain(&name, texts, false);
                }
            }
        }
        let name = self.sensitive();
        let texts = match self.counts() {
            None => self.rows().rows.iter().map(|row| row[self.rows().at(&name)].clone()).collect(),
            Some(sheet) => {
                let (value, count) = (sheet.at(&name), sheet.at("count"));
                let times = |row: &Vec<String>| row[count].parse::<usize>().unwrap_or(0);
                sheet.rows.iter().flat_map(|row| std::iter::repeat_n(row[value].clone(), times(row))).collect()
            }
        };
        self.mend_domain(&name, texts, true);
        self.sort();
    }

    fn mend_domain(&mut self, name: &str, texts: Vec<String>, counted: bool) {
        let head = self.head_of(name);
        let column = Sheet {
            name: String::new(),
            heads: vec![head.clone()],
            rows: texts.into_iter().map(|text| vec![text]).collect(),
        };
        let ranked = column.ranked(0);
        let is_range = head.kind.has_distances();
        let mut domain = json!({});
        let known: Vec<&String> = ranked.iter().filter(|text| !text.is_empty()).collect();
        if let (true, Some(first), Some(last)) = (is_range, known.first(), known.last()) {
            domain["min"] = json_of(head.kind, first);
            domain["max"] = json_of(head.kind, last);
        }
        if counted || !is_range {
            domain["values"] = ranked.iter().map(|text| json_of(head.kind, text)).collect();
        }
        if counted {
            let count = |text: &String| column.rows.iter().filter(|row| row[0] == *text).count();
            domain["counts"] = ranked.iter().map(|text| json!(count(text))).collect();
        }
        if ranked.first().is_some_and(String::is_empty) {
            domain["missing"] = json!(true);
        }
        self.attribute_mut(name)["domain"] = domain;
    }

    /// Sorts the rows of every table in the order in which they are published.
    pub(crate) fn sort(&mut self) {
        let shape = self.form().shape();
        for sheet in &mut self.sheets {
            let all = 0..sheet.heads.len();
            let id = shape.group_id.and_then(|name| sheet.find(name));
            let columns: Vec<usize> = match sheet.find("hits") {
                Some(hits) if shape.help == Some(sheet.name.as_str()) => [hits].into_iter().chain(id).collect(),
                _ => id.into_iter().chain(all.filter(|at| Some(*at) != id)).collect(),
            };
            sheet.sort_by(&columns);
        }
    }

    /// Writes the release; `None` if one of the changes to files cannot be made.
    pub(crate) fn write(&self, folder: &Path) -> Option<()> {
        let mut release =
            Release { manifest: self.honest.manifest.clone(), tables: self.sheets.iter().map(Sheet::table).collect() };
        for (entry, table) in release.manifest.tables.iter_mut().zip(&release.tables) {
            entry.rows = table.rows() as u64;
        }
        write_release(&release, folder, self.honest.format, false, &no_progress).unwrap();
        let mut json = self.json.clone();
        for (at, table) in release.tables.iter().enumerate() {
            let entry = &mut json["tables"][at];
            entry["rows"] = json!(table.rows());
            let file = folder.join(entry["parts"][0]["file"].as_str().unwrap());
            entry["parts"][0]["rows"] = json!(table.rows());
            entry["parts"][0]["sha256"] = json!(hash(&fs::read(file).unwrap()));
        }
        let mut texts = Vec::new();
        for after in &self.after {
            match after {
                After::Bytes(at, change) => {
                    let part = &mut json["tables"][*at]["parts"][0];
                    let file = folder.join(part["file"].as_str().unwrap());
                    let before = fs::read(&file).unwrap();
                    let bytes = change(&before).filter(|bytes| *bytes != before)?;
                    part["sha256"] = json!(hash(&bytes));
                    fs::write(file, bytes).unwrap();
                }
                After::Rename(at, name) => {
                    let part = &mut json["tables"][*at]["parts"][0];
                    fs::rename(folder.join(part["file"].as_str().unwrap()), folder.join(name)).unwrap();
                    part["file"] = json!(name);
                }
                After::Add(name, bytes) => match name.strip_suffix('/') {
                    Some(name) => fs::create_dir(folder.join(name)).unwrap(),
                    None => fs::write(folder.join(name), bytes).unwrap(),
                },
                After::Json(change) => change(&mut json),
                After::Text(change) => texts.push(change),
            }
        }
        let mut text = canonical(&json);
        for change in texts {
            let changed = change(&text);
            if changed == text {
                return None;
            }
            text = changed;
        }
        fs::write(folder.join(MANIFEST), text).unwrap();
        Some(())
    }
}

/// A manifest as the program would write it, if the program can read it.
fn canonical(json: &Json) -> String {
    let text = format!("{}\n", serde_json::to_string_pretty(json).unwrap());
    match Manifest::parse(text.as_bytes()).and_then(|manifest| manifest.to_json()) {
        Ok(canonical) => canonical,
        Err(_) => text,
    }
}

pub(crate) fn json_of(kind: Kind, text: &str) -> Json {
    match kind {
        _ if text.is_empty() => Json::Null,
        Kind::Integer => json!(text.parse::<i64>().unwrap()),
        Kind::Real => json!(text.parse::<f64>().unwrap()),
        Kind::Date | Kind::DateTime | Kind::Ordinal | Kind::Category => json!(text),
    }
}

pub(crate) fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What an auditor has available.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Auditor {
    /// The release alone.
    Tables,
    /// The microdata as well.
    Microdata,
    /// Only the release and the name of the column that should be protected.
    KnowsSensitive,
}

/// Audits a folder as a door does; an error says what is wrong with it.
pub(crate) fn judge(folder: &Path, source: &Path, sensitive: &str, auditor: Auditor) -> Result<(), String> {
    let release = read_release(folder).map_err(|error| format!("not read: {error}"))?;
    let microdata = match auditor {
        Auditor::Microdata => {
            let read = files::read_microdata(open(source), &[&release.manifest], &Draft::default(), &Unwatched);
            Some(read.map_err(|error| format!("not the microdata: {error}"))?)
        }
        Auditor::Tables | Auditor::KnowsSensitive => None,
    };
    let known = match auditor {
        Auditor::KnowsSensitive => vec![sensitive.to_owned()],
        Auditor::Tables | Auditor::Microdata => Vec::new(),
    };
    let with =
        Evidence { microdata: microdata.as_ref(), folder: Some(folder), sensitive: &known, ..Evidence::default() };
    let outcome = audit(&release, with, &Unwatched).map_err(|error| format!("not audited: {error}"))?;
    if outcome.ok() {
        return Ok(());
    }
    let checks = outcome.checks.iter().filter(|check| !check.ok);
    let promises = outcome.principles.iter().filter(|principle| !principle.holds);
    let disclosed = outcome.disclosure.iter().filter(|found| !found.ok());
    let disclosed = disclosed.map(|found| format!("disclosed: {} rows", found.disclosed_rows));
    let checks = checks.map(|check| format!("{}: {}", check.name, check.detail));
    let promises = promises.map(|it| format!("promise {} fails: {}", it.principle, it.worst_text));
    Err(promises.chain(disclosed).chain(checks).collect::<Vec<_>>().join("; "))
}
