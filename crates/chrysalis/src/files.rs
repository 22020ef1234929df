//! From files and record batches to values and back: specs, taxonomies, tables, releases.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use chrysalis_arrow::{ArrowError, RecordBatch, RecordBatchReader, Schema};
use chrysalis_release::{Manifest, Release, RoleName};
use chrysalis_store::{Format, Input, Source, StoreError, manifests_beside, write_release};
use chrysalis_table::{
    ColumnRequest, Counted, CsvOptions, Knob, Memory, MissingPolicy, Remedy, Stopped, Table, TableError, TaxonomyFile,
    TextReading, Watch,
};
use serde::de::DeserializeOwned;

use crate::prepare::Nobody;
use crate::{Draft, Error, Key, MicrodataPlan, PreparedColumn, Recipe, TaxonomyDraft, values};

/// A draft for a file: the content of a spec (`.toml`), or just the table.
pub fn draft(file: &str) -> Result<Draft, Error> {
    if file.ends_with(".toml") {
        let spec = load_spec(Path::new(file))?;
        return match spec.input {
            Some(_) => Ok(spec),
            None => Err(Error::request(format!("{file} names no input"), "add a line `input = \"data.csv\"`")),
        };
    }
    Ok(Draft { input: Some(PathBuf::from(file)), ..Draft::default() })
}

/// Reads a spec; a mistake is shown with its position in the text. Paths in a spec are relative to its folder.
fn load_spec(path: &Path) -> Result<Draft, Error> {
    let text = read_text(path)?;
    let hint = "correct it there; in a terminal, `chrysalis init FILE` writes a spec to start from";
    let mut spec: Draft = parse_toml(path, &text, hint)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    if let Some(input) = spec.input.as_mut().filter(|input| input.as_os_str() != "-") {
        *input = folder.join(&*input);
    }
    let files = [&mut spec.key, &mut spec.series, &mut spec.like, &mut spec.release.population_table];
    for file in files.into_iter().flatten() {
        *file = folder.join(&*file);
    }
    for earlier in spec.after.iter_mut().flatten() {
        *earlier = folder.join(&*earlier);
    }
    for attribute in spec.attributes.values_mut() {
        if let Some(TaxonomyDraft::File(file)) = &mut attribute.taxonomy {
            *file = folder.join(&*file);
        }
    }
    let wrong =
        |problem: String| Error::request(format!("{}: {problem}", path.display()), Remedy::from("see ").manual());
    if let Some(text) = &spec.delimiter {
        values::delimiter(text).map_err(|problem| wrong(format!("delimiter: {problem}")))?;
    }
    if let Some(text) = &spec.encoding {
        values::encoding(text).map_err(|problem| wrong(format!("encoding: {problem}")))?;
    }
    if let Some(text) = &spec.date_format {
        values::date_format(text).map_err(|problem| wrong(format!("date_format: {problem}")))?;
    }
    if let Some(text) = &spec.missing {
        values::missing(text).map_err(|problem| wrong(format!("missing: {problem}")))?;
    }
    Ok(spec)
}

impl Draft {
    /// Reads the taxonomies that are files. Paths are relative to the current folder.
    pub fn read_taxonomies(self) -> Result<Draft, Error> {
        self.read_taxonomies_within(None)
    }

    /// The same, but refuses a taxonomy that would take more than `memory`.
    pub fn read_taxonomies_within(mut self, memory: Option<Memory>) -> Result<Draft, Error> {
        let mut has_files = false;
        for attribute in self.attributes.values_mut() {
            if let Some(TaxonomyDraft::File(path)) = &attribute.taxonomy {
                has_files = true;
                let file = read_taxonomy(path, memory.unwrap_or_default())?;
                attribute.taxonomy = Some(TaxonomyDraft::Read(Arc::new(file)));
            }
        }
        if memory.is_some() && !has_files {
            let message = format!("`{}` has no effect, because no taxonomy is read from a file", Knob::Memory);
            return Err(Error::request(message, "leave it out"));
        }
        Ok(self)
    }

    /// Opens the table, after which its columns are known.
    pub fn open(&self) -> Result<Input, Error> {
        let Some(input) = &self.input else { return Err(Error::request("no table is named", "name a file")) };
        let source = if input.as_os_str() == "-" { Source::Stdin } else { Source::Path(input.clone()) };
        self.opened(Input::open(&source, &self.csv_options()?)?)
    }

    /// The same for the content of a file that is in memory already; the draft's input only names it.
    pub fn open_bytes(&self, bytes: Bytes) -> Result<Input, Error> {
        let name = self.source_name().unwrap_or_default();
        self.opened(Input::of_bytes(name, bytes, &self.csv_options()?)?)
    }

    fn opened(&self, input: Input) -> Result<Input, Error> {
        let said = [
            (Knob::Delimiter, self.delimiter.is_some()),
            (Knob::Encoding, self.encoding.is_some()),
            (Knob::Na, self.na.is_some()),
            (Knob::DateFormat, self.date_format.is_some()),
        ];
        match said.into_iter().find(|(_, is_said)| *is_said && input.delimiter().is_none()) {
            None => Ok(input),
            Some((knob, _)) => {
                let message = format!("`{knob}` has no effect on Parquet, whose columns have types of their own");
                Err(Error::request(message, Remedy::from("leave ").knob(knob, "").words(" out")))
            }
        }
    }

    /// Takes a table that is in memory instead of a file. Messages call it `name`.
    pub fn open_batches(&self, name: &str, batches: Box<dyn RecordBatchReader + Send>) -> Result<Input, Error> {
        let said = [
            (Knob::Delimiter, self.delimiter.is_some()),
            (Knob::Encoding, self.encoding.is_some()),
            (Knob::Na, self.na.is_some()),
            (Knob::DateFormat, self.date_format.is_some()),
        ];
        match said.into_iter().find(|(_, is_said)| *is_said) {
            None => Ok(Input::of_batches(name, batches)?),
            Some((knob, _)) => {
                let message = format!("`{knob}` has no effect on {name}: it is about files, and {name} is in memory");
                Err(Error::request(message, Remedy::from("leave ").knob(knob, "").words(" out")))
            }
        }
    }

    fn csv_options(&self) -> Result<CsvOptions, Error> {
        fn read<T>(
            knob: Knob,
            text: Option<&String>,
            parse: fn(&str) -> Result<T, String>,
        ) -> Result<Option<T>, Error> {
            let wrong = |problem| Error::request(format!("{knob}: {problem}"), Remedy::from("see ").manual());
            text.map(|text| parse(text).map_err(wrong)).transpose()
        }
        let reading = TextReading {
            recognizes: true,
            na: self.na.clone().unwrap_or_default(),
            date_format: read(Knob::DateFormat, self.date_format.as_ref(), values::date_format)?,
        };
        Ok(CsvOptions {
            delimiter: read(Knob::Delimiter, self.delimiter.as_ref(), values::delimiter)?,
            encoding: read(Knob::Encoding, self.encoding.as_ref(), values::encoding)?,
            reading,
            ..CsvOptions::default()
        })
    }
}

/// The usual name of a key.
const KEY: &str = "chrysalis.key";

impl Draft {
    /// The text of a spec that says the same. Taxonomies that were read become lines.
    pub fn to_toml(&self) -> Result<String, Error> {
        toml::to_string(self).map_err(|error| Error::internal(format!("a draft that cannot be written: {error}")))
    }
}

impl Draft {
    /// The file with the owner's key: the one that is named, or `chrysalis.key` beside the table.
    pub fn key_file(&self) -> PathBuf {
        let beside = self.input.as_ref().filter(|input| input.as_os_str() != "-").and_then(|input| input.parent());
        self.key.clone().unwrap_or_else(|| beside.unwrap_or(Path::new("")).join(KEY))
    }

    /// Gives a recipe the key that its preparations need, if they need one. A key that is not there yet is made, with a
    /// note. `out` is where the release will be, if it is written.
    pub fn provide_key(&self, recipe: &mut Recipe, out: Option<&Path>, watch: &dyn Watch) -> Result<(), Error> {
        if recipe.needs_key() {
            recipe.key = Some(self.own_key(out, watch)?);
        }
        Ok(())
    }

    /// The same for a trial, whose release nobody sees: with a key that is not there yet, one is used that is forgotten
    /// afterwards. Nothing is written.
    pub fn provide_trial_key(&self, recipe: &mut Recipe) -> Result<(), Error> {
        if recipe.needs_key() {
            recipe.key = Some(match Key::read(&self.key_file())? {
                Some(key) => key,
                None => Key::forgotten()?,
            });
        }
        Ok(())
    }

    fn own_key(&self, out: Option<&Path>, watch: &dyn Watch) -> Result<Key, Error> {
        let path = self.key_file();
        // LEAK: everything in the folder of a release is published.
        let place = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        if out.is_some_and(|out| place(&path).starts_with(place(out))) {
            let message = format!("the key {} would be part of the release", path.display());
            return Err(Error::request(message, Remedy::from("name another place with ").knob(Knob::Key, "")));
        }
        if let Some(key) = Key::read(&path)? {
            return Ok(key);
        }
        match Key::make(&path)? {
            Some(key) => {
                watch.note(&format!(
                    "made the key {}: keep it secret, and keep it, because the same pseudonyms and shifts need it again",
                    path.display()
                ));
                Ok(key)
            }
            // Another run was faster.
            None => Key::read(&path)?.ok_or_else(|| Error::internal("a key was there and is gone")),
        }
    }
}

/// Reads columns of an open table and prepares them as the draft says. The requests say what they are to be afterwards.
pub fn read_prepared(
    draft: &Draft,
    input: Input,
    wanted: &[ColumnRequest],
    name: &'static str,
    watch: &dyn Watch,
) -> Result<(Table, Vec<PreparedColumn>), Error> {
    let is_wanted = |name: &String| wanted.iter().any(|known| known.name == *name);
    // All that the draft says is checked, whatever is wanted of it.
    draft.check_names(input.header(), draft.attributes.keys())?;
    let others = draft.attributes.keys().filter(|name| !is_wanted(name)).map(|name| draft.request(name));
    let others = others.collect::<Result<Vec<_>, _>>()?;
    let columns = wanted.iter().chain(&others).map(|wanted| draft.column_plan(wanted));
    let columns = columns.collect::<Result<Vec<_>, _>>()?;
    let plan = draft.plan(input.header(), columns.into_iter().flatten().collect())?.for_columns(wanted);
    let key = plan.is_keyed().then(|| draft.own_key(None, watch)).transpose()?;
    let table = read(input, &plan.requests(wanted), name, watch)?;
    let nobody = if draft.missing_policy()? == MissingPolicy::Drop { Nobody::Ignored } else { Nobody::Refused };
    plan.carry_out(table, key.as_ref(), nobody)
}

/// All columns of an open table, for a look at all of them. Columns of types that are not read are left out, with a
/// note, unless the draft names them.
pub fn requests(input: &Input, draft: &Draft, watch: &dyn Watch) -> Result<Vec<ColumnRequest>, Error> {
    let unreadable = input.unreadable();
    let named: Vec<String> = draft.named_columns(input.header());
    let mut requests = Vec::new();
    for name in input.header() {
        match unreadable.iter().find(|(column, _)| column == name && !named.contains(name)) {
            Some((column, found)) => {
                let file = input.name();
                watch.note(&format!(
                    "{file}: column `{column}` has the type {found}, which is not read: it is left out"
                ));
            }
            None => requests.push(draft.request(name)?),
        }
    }
    Ok(requests)
}

/// Reads columns of an open table. `name` is the name of the phase.
pub fn read(input: Input, wanted: &[ColumnRequest], name: &'static str, watch: &dyn Watch) -> Result<Table, Error> {
    watch.phase(name, input.size(), Counted::Bytes);
    input.notes().iter().for_each(|note| watch.note(note));
    watch.detail(&format!("reading {} of {} columns", wanted.len(), input.header().len()));
    Ok(Stopped::catch(|| input.read_with(wanted, &|n| watch.tell(n)))??)
}

/// Reads the microdata behind some releases: the attributes of these releases, with their kinds, prepared as they were.
/// The draft says where the key is and whose a row is, if that is needed.
pub fn read_microdata(input: Input, manifests: &[&Manifest], draft: &Draft, watch: &dyn Watch) -> Result<Table, Error> {
    let plan = MicrodataPlan::new(manifests, draft.person.as_deref())?;
    plan.check_key(draft.key.is_some())?;
    if let Some(person) = &draft.person {
        draft.check_names(input.header(), std::iter::once(person))?;
    }
    let missing = |path: &Path| {
        let message = format!("there is no key {}", path.display());
        Error::request(message, Remedy::from("name the file that the release was made with: ").knob(Knob::Key, ""))
    };
    let key = draft.key.as_ref().map(|path| Key::read(path)?.ok_or_else(|| missing(path))).transpose()?;
    let wanted = plan.requests();
    watch.phase("microdata", input.size(), Counted::Bytes);
    input.notes().iter().for_each(|note| watch.note(note));
    watch.detail(&format!("reading {} of {} columns", wanted.len(), input.header().len()));
    let table = Stopped::catch(|| input.read_with(wanted, &|n| watch.tell(n)))?.map_err(not_the_microdata)?;
    plan.prepared(table, key.as_ref())
}

/// The error for tables of other releases that are not one for each of these.
pub fn too_many_tables(tables: usize, releases: usize) -> Error {
    let message = format!("{tables} tables of other releases are named, but {releases} releases");
    let remedy = Remedy::from("name one for each of them, in their order, with ").knob(Knob::WithMicrodata, "");
    Error::request(message, remedy)
}

/// SHA-256 of the manifest in a folder, if there is one.
pub fn manifest_sha256(folder: &Path) -> Option<String> {
    chrysalis_store::manifest_sha256(folder)
}

/// Reads a table of the people who could be in the data, as far as a release shows their attributes.
pub fn read_population(file: &str, draft: &Draft, manifest: &Manifest, watch: &dyn Watch) -> Result<Table, Error> {
    let draft = Draft { input: Some(file.into()), ..draft.clone() };
    crate::population::read(draft.open()?, &draft, manifest, watch)
}

/// The same for a table that is open.
pub fn read_population_from(
    input: Input,
    draft: &Draft,
    manifest: &Manifest,
    watch: &dyn Watch,
) -> Result<Table, Error> {
    crate::population::read(input, draft, manifest, watch)
}

/// Names and kinds come from the releases, so there is no point in suggesting others: this must be another table.
fn not_the_microdata(error: StoreError) -> Error {
    let remedy = match &error {
        StoreError::Table { error: TableError::UnknownColumn { .. }, .. } => {
            "name the table that the release was made from"
        }
        StoreError::Table { error: TableError::WrongKind { .. } | TableError::NotInOrder { .. }, .. } => {
            "the release says what its columns hold: name the table that it was made from"
        }
        _ => return error.into(),
    };
    Error::request(error.to_string(), remedy)
}

/// Reads columns of record batches.
pub fn read_batches(
    schema: &Schema,
    batches: impl Iterator<Item = Result<RecordBatch, ArrowError>>,
    wanted: &[ColumnRequest],
    watch: &dyn Watch,
) -> Result<Table, Error> {
    watch.phase("read", None, Counted::Rows);
    Ok(Stopped::catch(|| chrysalis_arrow::read(schema, batches, wanted, &|n| watch.tell(n)))??)
}

/// Writes a release to a folder, completely or not at all: see [`write_release`].
pub fn write(release: &Release, out: &Path, format: Format, force: bool, watch: &dyn Watch) -> Result<Manifest, Error> {
    watch.phase("write", None, Counted::Rows);
    Ok(Stopped::catch(|| write_release(release, out, format, force, &|n| watch.tell(n)))??)
}

/// Releases in the same parent folder that look like releases of the same table: the same sensitive column, most of the
/// quasi columns, and about as many rows.
pub fn releases_beside(out: &Path, manifest: &Manifest) -> Vec<PathBuf> {
    let is_same = |(_, other): &(PathBuf, Manifest)| is_of_the_same_table(manifest, other);
    manifests_beside(out).into_iter().filter(is_same).map(|(folder, _)| folder).collect()
}

fn is_of_the_same_table(one: &Manifest, other: &Manifest) -> bool {
    let names = |manifest: &Manifest, role: RoleName| -> Vec<String> {
        manifest.with_role(role).map(|attribute| attribute.name.clone()).collect()
    };
    let (quasi, known) = (names(one, RoleName::Quasi), names(other, RoleName::Quasi));
    let shared = quasi.iter().filter(|name| known.contains(name)).count();
    names(one, RoleName::Sensitive) == names(other, RoleName::Sensitive)
        && 2 * shared >= quasi.len().min(known.len()).max(1)
        && 10 * one.rows.abs_diff(other.rows) <= one.rows.max(other.rows)
}

/// Reads TOML; a mistake is shown with its position in the text.
pub fn parse_toml<T: DeserializeOwned>(path: &Path, text: &str, hint: &str) -> Result<T, Error> {
    toml::from_str(text).map_err(|error| {
        let start = error.span().map_or(0, |span| span.start.min(text.len()));
        let before = text.get(..start).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|letter| *letter != '\n').count() + 1;
        let problem = error.message().replace('\n', ", ");
        Error::request(format!("{}, line {line}, column {column}: {problem}", path.display()), hint)
    })
}

/// A byte of a taxonomy file takes at least this much memory, so a file that is too large can be refused unread.
const MEMORY_PER_BYTE: u64 = 16;

/// Reads a taxonomy file, but refuses one that would take more than `memory`.
pub fn read_taxonomy(path: &Path, memory: Memory) -> Result<TaxonomyFile, Error> {
    let (bytes, is_whole) = read_up_to(path, memory.part(MEMORY_PER_BYTE).bytes())?;
    if !is_whole {
        let (most, name) = (memory.part(MEMORY_PER_BYTE), path.display());
        let message = format!("{name} has more than {most}, the largest taxonomy that is read with {memory} of memory");
        return Err(Error::request(message, Memory::more(2 * most.bytes(), MEMORY_PER_BYTE)));
    }
    let text = text(path, bytes)?;
    TaxonomyFile::parse_within(&text, memory).map_err(|error| Error::from(error).about(&path.display().to_string()))
}

/// Files that people write by hand are small; anything larger is some other file.
const MAX_TEXT: u64 = 8 << 20;

/// Reads a small text file, such as a spec.
pub fn read_text(path: &Path) -> Result<String, Error> {
    match read_up_to(path, MAX_TEXT)? {
        (bytes, true) => text(path, bytes),
        (_, false) => Err(unreadable(path, &format!("it has more than {} MB, more than any spec", MAX_TEXT >> 20))),
    }
}

/// Up to `most` bytes of a file, and whether that is all of it.
fn read_up_to(path: &Path, most: u64) -> Result<(Vec<u8>, bool), Error> {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(most.saturating_add(1)).read_to_end(&mut bytes));
    read.map_err(|error| unreadable(path, &error.to_string()))?;
    let is_whole = bytes.len() as u64 <= most;
    Ok((bytes, is_whole))
}

fn text(path: &Path, bytes: Vec<u8>) -> Result<String, Error> {
    String::from_utf8(bytes).map_err(|_| unreadable(path, "it is not UTF-8 text"))
}

fn unreadable(path: &Path, problem: &str) -> Error {
    let message = format!("cannot read {}: {problem}", path.display());
    Error::request(message, "check that the path names the right text file")
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrysalis_table::Kind;

    /// An auditor names neither kinds nor columns.
    #[test]
    fn microdata_that_do_not_fit_are_another_table() {
        let of = |error| {
            let error = not_the_microdata(StoreError::Table { path: "a.csv".into(), error });
            (error.message, error.remedy.to_string())
        };
        let (message, remedy) =
            of(TableError::WrongKind { column: "age".into(), value: "x".into(), kind: Kind::Integer });
        assert_eq!(message, "a.csv: `x` in column `age` is not an integer");
        assert_eq!(remedy, "the release says what its columns hold: name the table that it was made from");
        let (message, remedy) = of(TableError::UnknownColumn { column: "age".into(), columns: vec!["sex".into()] });
        assert_eq!(message, "a.csv: there is no column `age`; the columns are `sex`");
        assert_eq!(remedy, "name the table that the release was made from");
        assert_eq!(of(TableError::NoRows).1, "check that the export that made it succeeded");
    }
}
