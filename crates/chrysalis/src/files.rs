//! From files and record batches to values, and back: specs, taxonomies, tables, releases.

use std::path::{Path, PathBuf};

use chrysalis_arrow::{ArrowError, RecordBatch, Schema};
use chrysalis_release::{Manifest, Release};
use chrysalis_store::{Format, Input, Source, write_release};
use chrysalis_table::{ColumnRequest, Counted, CsvOptions, Remedy, Stopped, Table, TaxonomyFile, Watch};
use serde::de::DeserializeOwned;

use crate::{Draft, Error, TaxonomyDraft, values};

/// A draft for a file: what a spec (`.toml`) says, or a table and nothing else.
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

/// Reads a spec; a mistake is shown with its place in the text. Paths in it are seen from its folder.
fn load_spec(path: &Path) -> Result<Draft, Error> {
    let text = read_text(path)?;
    let mut spec: Draft = parse_toml(path, &text, "`chrysalis init FILE` writes a spec to start from")?;
    let folder = path.parent().unwrap_or(Path::new(""));
    if let Some(input) = spec.input.as_mut().filter(|input| input.as_os_str() != "-") {
        *input = folder.join(&*input);
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
    if let Some(text) = &spec.missing {
        values::missing(text).map_err(|problem| wrong(format!("missing: {problem}")))?;
    }
    Ok(spec)
}

impl Draft {
    /// Reads the taxonomies that are files. Paths are seen from where we stand.
    pub fn read_taxonomies(mut self) -> Result<Draft, Error> {
        for attribute in self.attributes.values_mut() {
            if let Some(TaxonomyDraft::File(path)) = &attribute.taxonomy {
                attribute.taxonomy = Some(TaxonomyDraft::Lines(read_taxonomy(path)?.lines().to_vec()));
            }
        }
        Ok(self)
    }

    /// Opens the table: its columns are known from here on.
    pub fn open(&self) -> Result<Input, Error> {
        let Some(input) = &self.input else { return Err(Error::request("no table is named", "name a file")) };
        let source = if input.as_os_str() == "-" { Source::Stdin } else { Source::Path(input.clone()) };
        let wrong = |problem: String| Error::request(format!("delimiter: {problem}"), Remedy::from("see ").manual());
        let delimiter = self.delimiter.as_ref().map(|text| values::delimiter(text).map_err(wrong)).transpose()?;
        Ok(Input::open(&source, &CsvOptions { delimiter, ..CsvOptions::default() })?)
    }
}

/// Reads columns of a table that is open. The phase is called `name`.
pub fn read(input: Input, wanted: &[ColumnRequest], name: &'static str, watch: &dyn Watch) -> Result<Table, Error> {
    watch.phase(name, input.size(), Counted::Bytes);
    watch.detail(&format!("reading {} of {} columns", wanted.len(), input.header().len()));
    Ok(Stopped::catch(|| input.read_with(wanted, &|n| watch.tell(n)))??)
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

/// Writes a release to a folder, whole or not at all: see [`write_release`].
pub fn write(release: &Release, out: &Path, format: Format, force: bool, watch: &dyn Watch) -> Result<Manifest, Error> {
    watch.phase("write", None, Counted::Rows);
    Ok(Stopped::catch(|| write_release(release, out, format, force, &|n| watch.tell(n)))??)
}

/// Reads TOML; a mistake is shown with its place in the text.
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

/// Reads a taxonomy file.
pub fn read_taxonomy(path: &Path) -> Result<TaxonomyFile, Error> {
    let text = read_text(path)?;
    TaxonomyFile::parse(&text).map_err(|error| Error::from(error).about(&path.display().to_string()))
}

/// Specs and taxonomies are small; anything larger is some other file.
const MAX_TEXT: u64 = 64 << 20;

/// Reads a small text file.
pub fn read_text(path: &Path) -> Result<String, Error> {
    let failed = |problem: String| {
        let message = format!("cannot read {}: {problem}", path.display());
        Error::request(message, "check that the path names the right text file")
    };
    let size = std::fs::metadata(path).map_err(|error| failed(error.to_string()))?.len();
    if size > MAX_TEXT {
        return Err(failed(format!("it has {size} bytes, more than any spec or taxonomy")));
    }
    let bytes = std::fs::read(path).map_err(|error| failed(error.to_string()))?;
    String::from_utf8(bytes).map_err(|_| failed("it is not UTF-8 text".into()))
}
