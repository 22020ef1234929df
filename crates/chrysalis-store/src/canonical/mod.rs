//! Whether the files of a release hold its tables and nothing else.
//!
//! LEAK: a file can say more than the table that is read from it: in metadata, in the order of a dictionary, in spaces
//! around a cell, in the way a number is spelled. No list of such places is ever complete. So the tables that were read
//! are written once more, and the bytes must be the same: then everything in the file follows from its table. That
//! needs the writer's byte layout, the manifest's `encoding`. If this program does not write that layout, CSV is
//! compared with our own layout anyway, because CSV leaves nothing open, and the structure of Parquet is examined.
//!
//! Only an audit pays for this; reading and querying a release do not.

mod compare;
mod pages;
mod structure;
mod thrift;

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use chrysalis_release::{ENCODING, Manifest, PartEntry, Release, TableEntry, VERSION};
use chrysalis_table::{Memory, Progress, Table};
use rayon::prelude::*;
use sha2::{Digest, Sha256};

use crate::folder::{HashingWriter, hex, write_bytes};
use crate::release_in::manifest_bytes;
use crate::{Format, MANIFEST, StoreError};

/// What the files of a release turned out to be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilesReport {
    /// Files of tables with exactly the bytes that our writer would write.
    pub written_again: u64,
    /// Parquet files in a layout that we do not write, whose structure is in order.
    pub looked_at: u64,
    /// What differs, in a sentence each.
    pub findings: Vec<String>,
}

/// What one file of a table turned out to be.
enum Seen {
    WrittenAgain,
    LookedAt,
    Differs(String),
}

/// Examines the bytes of a release that was read from a folder: its manifest, and the files of all its tables.
pub fn look_at_files(folder: &Path, release: &Release, progress: Progress<'_>) -> Result<FilesReport, StoreError> {
    let all: Vec<(&TableEntry, &Table)> = release.manifest.tables.iter().zip(&release.tables).collect();
    let looks: Vec<Result<Vec<Seen>, StoreError>> =
        all.par_iter().map(|(entry, table)| files_of(folder, entry, table, &release.manifest, progress)).collect();
    told(manifest(folder, &release.manifest)?, looks)
}

/// The same for one part of every table, where tables are in parts; `whole` is the manifest of the release. With the first
/// part, its text is examined, and all tables that have no parts.
pub fn look_at_part(
    folder: &Path,
    whole: &Manifest,
    part: usize,
    tables: &[Table],
    progress: Progress<'_>,
) -> Result<FilesReport, StoreError> {
    let all: Vec<(&TableEntry, &Table)> = whole.tables.iter().zip(tables).collect();
    let look = |(entry, table): &(&TableEntry, &Table)| match entry.parts.len() {
        1 if part > 0 => Ok(Vec::new()),
        1 => files_of(folder, entry, table, whole, progress),
        _ => file_of(folder, entry, part, table, whole, progress),
    };
    let looks: Vec<Result<Vec<Seen>, StoreError>> = all.par_iter().map(look).collect();
    let text = if part == 0 { manifest(folder, whole)? } else { None };
    told(text, looks)
}

fn told(manifest: Option<String>, looks: Vec<Result<Vec<Seen>, StoreError>>) -> Result<FilesReport, StoreError> {
    let mut report = FilesReport { findings: manifest.into_iter().collect(), ..FilesReport::default() };
    for seen in looks {
        for seen in seen? {
            match seen {
                Seen::WrittenAgain => report.written_again += 1,
                Seen::LookedAt => report.looked_at += 1,
                Seen::Differs(sentence) => report.findings.push(sentence),
            }
        }
    }
    Ok(report)
}

impl FilesReport {
    /// What was seen of other files of the same release, too.
    pub fn add(&mut self, more: FilesReport) {
        self.written_again += more.written_again;
        self.looked_at += more.looked_at;
        self.findings.extend(more.findings);
    }
}

/// What is wrong with the text of the manifest.
fn manifest(folder: &Path, manifest: &Manifest) -> Result<Option<String>, StoreError> {
    // Its size was checked when it was read.
    let bytes = manifest_bytes(folder, Memory::of(u64::MAX))?;
    let error = |error| StoreError::Release { path: folder.join(MANIFEST).display().to_string(), error };
    let expected = manifest.rewritten(&bytes).map_err(error)?;
    if bytes == expected.as_bytes() {
        return Ok(None);
    }
    let n = bytes.iter().zip(expected.as_bytes()).take_while(|(found, expected)| found == expected).count();
    let line = 1 + bytes[..n].iter().filter(|&&byte| byte == b'\n').count();
    Ok(Some(format!("`{MANIFEST}` is not written as the writer would write it, from line {line} on")))
}

fn files_of(
    folder: &Path,
    entry: &TableEntry,
    table: &Table,
    manifest: &Manifest,
    progress: Progress<'_>,
) -> Result<Vec<Seen>, StoreError> {
    if entry.parts.len() == 1 {
        return file_of(folder, entry, 0, table, manifest, progress);
    }
    let mut start = 0;
    let mut seen = Vec::new();
    for (at, part) in entry.parts.iter().enumerate() {
        let end = table.rows().min(start + usize::try_from(part.rows).unwrap_or(usize::MAX));
        let rows = table.gather(&(start as u32..end as u32).collect::<Vec<_>>());
        seen.extend(file_of(folder, entry, at, &rows, manifest, progress)?);
        start = end;
    }
    Ok(seen)
}

/// One file of a table, which has these rows.
fn file_of(
    folder: &Path,
    entry: &TableEntry,
    at: usize,
    rows: &Table,
    manifest: &Manifest,
    progress: Progress<'_>,
) -> Result<Vec<Seen>, StoreError> {
    let Some(part) = entry.parts.get(at) else { return Ok(Vec::new()) };
    let path = folder.join(&part.file);
    let io_error = |source| StoreError::Io { action: "read", path: path.clone(), source };
    let format = format_of(&path).map_err(io_error)?;
    let number = (entry.parts.len() > 1).then_some(at + 1);
    let mut seen = Vec::new();
    if part.file != format.file_of(&entry.name, number) {
        let sentence = format!("the writer would not call a file of `{}` `{}`", entry.name, shown(&part.file));
        seen.push(Seen::Differs(sentence));
    }
    seen.push(file(&path, part, rows, format, manifest, progress).map_err(io_error)?);
    Ok(seen)
}

/// The format of a file, whatever its name.
fn format_of(path: &Path) -> io::Result<Format> {
    let mut start = Vec::new();
    File::open(path)?.take(4).read_to_end(&mut start)?;
    Ok(if start == b"PAR1" { Format::Parquet } else { Format::Csv })
}

/// Escapes a name, which may come from a hostile manifest.
fn shown(name: &str) -> String {
    name.escape_debug().to_string()
}

fn file(
    path: &Path,
    part: &PartEntry,
    table: &Table,
    format: Format,
    manifest: &Manifest,
    progress: Progress<'_>,
) -> io::Result<Seen> {
    let name = shown(&part.file);
    if part.sha256.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return Ok(Seen::Differs(format!("the hash of `{name}` is not spelled as the writer would spell it")));
    }
    let is_ours = manifest.version == VERSION && manifest.encoding == ENCODING;
    if !is_ours && format == Format::Parquet {
        let found = structure::look(path, table, progress)?;
        return Ok(match found.is_empty() {
            true => Seen::LookedAt,
            false => Seen::Differs(format!("`{name}` holds more than its table: {}", found.join(", "))),
        });
    }
    let mut hashed = HashingWriter { file: io::sink(), hash: Sha256::new() };
    write_bytes(table, &mut hashed, format, &|_| progress(0))?;
    // The file has the hash that the manifest gives, or it would not have been read.
    if hex(&hashed.hash.finalize()) == part.sha256 {
        return Ok(Seen::WrittenAgain);
    }
    let why = match format {
        Format::Csv => compare::csv(path, table, progress)?,
        Format::Parquet => match structure::look(path, table, progress)? {
            found if found.is_empty() => "pages, row groups or dictionaries are laid out differently".to_owned(),
            found => format!("it holds {}", found.join(", ")),
        },
    };
    Ok(Seen::Differs(format!("`{name}` does not have the bytes that the writer would write: {why}")))
}
