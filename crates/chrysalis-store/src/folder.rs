//! A release as a folder: written beside its place, synced, then renamed.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use chrysalis_release::{Manifest, Release, ReleaseError, TableEntry};
use chrysalis_table::{ColumnRequest, CsvOptions, Kind, Table};
use rayon::prelude::*;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use sha2::{Digest, Sha256};

use crate::{Input, Source, StoreError, csv_out, parquet_out};

/// The file that makes a folder a release.
pub const MANIFEST: &str = "release.json";

/// A manifest is a few kilobytes, or a few megabytes where a sensitive column has very many values.
const MAX_MANIFEST: u64 = 256 << 20;

/// How tables are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Format {
    /// Parquet.
    #[default]
    Parquet,
    /// CSV.
    Csv,
}

impl Format {
    fn extension(self) -> &'static str {
        match self {
            Format::Parquet => "parquet",
            Format::Csv => "csv",
        }
    }
}

/// Writes a release to a folder that must not exist yet, unless `force` replaces the release that is there.
///
/// Whatever happens on the way, the folder is either the whole new release or what it was before.
pub fn write_release(release: &Release, out: &Path, format: Format, force: bool) -> Result<Manifest, StoreError> {
    check_place(out, force)?;
    let parent = match out.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    };
    let io_error = |action, path: &Path| {
        let path = path.to_owned();
        move |source| StoreError::Io { action, path, source }
    };
    // Dropped, and so removed, on every early return.
    if !parent.is_dir() {
        let source = io::Error::new(io::ErrorKind::NotFound, "there is no such folder");
        return Err(StoreError::Io { action: "write to", path: parent, source });
    }
    let beside = tempfile::Builder::new()
        .prefix(".chrysalis-")
        .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .tempdir_in(&parent)
        // The error's own text names the temporary folder, which is nobody's business.
        .map_err(|error| io_error("write to", out)(error.kind().into()))?;
    let mut manifest = release.manifest.clone();
    for (entry, table) in manifest.tables.iter_mut().zip(&release.tables) {
        entry.file = format!("{}.{}", entry.name, format.extension());
        let path = beside.path().join(&entry.file);
        entry.sha256 = write_table(table, &path, format).map_err(io_error("write to", out))?;
    }
    let json = manifest.to_json().map_err(|error| StoreError::Release { path: out.display().to_string(), error })?;
    let path = beside.path().join(MANIFEST);
    write_synced(&path, json.as_bytes()).map_err(io_error("write to", out))?;
    sync_folder(beside.path()).map_err(io_error("write to", out))?;
    put_in_place(beside.path(), out, force).map_err(|source| match source.kind() {
        io::ErrorKind::AlreadyExists => StoreError::Exists { path: out.to_owned() },
        _ => StoreError::Io { action: "write to", path: out.to_owned(), source },
    })?;
    sync_folder(&parent).map_err(io_error("sync", &parent))?;
    Ok(manifest)
}

/// Refuses early, before hours of work, what [`write_release`] would refuse at the end.
pub fn check_place(out: &Path, force: bool) -> Result<(), StoreError> {
    if fs::symlink_metadata(out).is_err() {
        return Ok(());
    }
    if !force {
        return Err(StoreError::Exists { path: out.to_owned() });
    }
    if !out.is_symlink() && holds_only_a_release(out) {
        Ok(())
    } else {
        Err(StoreError::NotARelease { path: out.to_owned() })
    }
}

/// Whether a folder holds nothing but a release, or nothing at all: `--force` removes no file that we did not write.
fn holds_only_a_release(folder: &Path) -> bool {
    let Ok(entries) = fs::read_dir(folder) else { return false };
    let names: Vec<_> = entries.map(|entry| entry.map(|entry| entry.file_name())).collect();
    if names.is_empty() {
        return true;
    }
    let Ok(manifest) = read_manifest(folder) else { return false };
    names.into_iter().all(|name| {
        let name = name.ok().and_then(|name| name.into_string().ok());
        name.is_some_and(|name| name == MANIFEST || manifest.tables.iter().any(|table| table.file == name))
    })
}

/// What a release's folder holds beside its manifest and the files that this names, sorted; folders end with a slash.
pub fn stray_files(folder: &Path, manifest: &Manifest) -> Result<Vec<String>, StoreError> {
    let io_error = |source| StoreError::Io { action: "read", path: folder.to_owned(), source };
    let mut strays = Vec::new();
    for entry in fs::read_dir(folder).map_err(io_error)? {
        let entry = entry.map_err(io_error)?;
        let name = entry.file_name();
        if name != MANIFEST && manifest.tables.iter().all(|table| name != table.file.as_str()) {
            let is_folder = entry.file_type().map_err(io_error)?.is_dir();
            strays.push(format!("{}{}", name.to_string_lossy(), if is_folder { "/" } else { "" }));
        }
    }
    strays.sort_unstable();
    Ok(strays)
}

/// One rename. With `force` the two folders change places, and the old release is removed with the temporary folder.
fn put_in_place(beside: &Path, out: &Path, force: bool) -> io::Result<()> {
    let flags = if force && out.exists() { RenameFlags::EXCHANGE } else { RenameFlags::NOREPLACE };
    match renameat_with(CWD, beside, CWD, out, flags) {
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => {
            // A file system without these flags: the old release steps aside, then the new one takes its place.
            if out.exists() {
                if !force {
                    return Err(io::ErrorKind::AlreadyExists.into());
                }
                fs::remove_dir_all(out)?;
            }
            fs::rename(beside, out)
        }
        result => Ok(result?),
    }
}

fn write_table(table: &Table, path: &Path, format: Format) -> io::Result<String> {
    let mut out = Hashed { file: File::create_new(path)?, hash: Sha256::new() };
    match format {
        Format::Parquet => parquet_out::write(table, &mut out).map_err(|error| match error {
            parquet::errors::ParquetError::External(error) => match error.downcast::<io::Error>() {
                Ok(error) => *error,
                Err(error) => io::Error::other(error),
            },
            error => io::Error::other(error),
        })?,
        Format::Csv => csv_out::write(table, &mut out)?,
    }
    out.file.sync_all()?;
    Ok(hex(&out.hash.finalize()))
}

fn write_synced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create_new(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// Hashes what it writes.
struct Hashed {
    file: File,
    hash: Sha256,
}

impl Write for Hashed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = self.file.write(bytes)?;
        self.hash.update(&bytes[..n]);
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Reads a release, verifying version, paths, hashes, columns and row counts.
pub fn read_release(folder: &Path) -> Result<Release, StoreError> {
    let manifest = read_manifest(folder)?;
    let tables = manifest.tables.iter().map(|entry| {
        let path = folder.join(&entry.file);
        check_plain_file(&path, &entry.file)?;
        verify_hash(&path, entry)?;
        read_table(&path, entry, &manifest, None)
    });
    Ok(Release { tables: tables.collect::<Result<_, _>>()?, manifest })
}

/// Reads only some columns of some tables, whose names come with them; all other tables are left empty.
///
/// What is read is verified as [`read_release`] does: the hashes of whole files, side by side with the decoding.
pub fn read_columns(
    folder: &Path,
    manifest: Manifest,
    wanted: &[(String, Vec<String>)],
) -> Result<Release, StoreError> {
    let read = |entry: &TableEntry| {
        let Some((_, columns)) = wanted.iter().find(|(table, _)| *table == entry.name) else {
            return Ok(Table::default());
        };
        let path = folder.join(&entry.file);
        check_plain_file(&path, &entry.file)?;
        let (verified, table) =
            rayon::join(|| verify_hash(&path, entry), || read_table(&path, entry, &manifest, Some(columns.as_slice())));
        verified.and(table)
    };
    let tables = manifest.tables.par_iter().map(read).collect::<Result<_, _>>()?;
    Ok(Release { tables, manifest })
}

/// Reads a release's manifest alone.
pub fn read_manifest(folder: &Path) -> Result<Manifest, StoreError> {
    let path = folder.join(MANIFEST);
    check_plain_file(&path, MANIFEST)?;
    let io_error = |source| StoreError::Io { action: "read", path: path.clone(), source };
    let mut bytes = Vec::new();
    let file = File::open(&path).map_err(io_error)?;
    file.take(MAX_MANIFEST).read_to_end(&mut bytes).map_err(io_error)?;
    Manifest::parse(&bytes).map_err(|error| StoreError::Release { path: path.display().to_string(), error })
}

/// LEAK: a link could lead outside the release, and a pipe could keep us waiting for ever.
fn check_plain_file(path: &Path, name: &str) -> Result<(), StoreError> {
    let metadata = fs::symlink_metadata(path);
    let metadata = metadata.map_err(|source| StoreError::Io { action: "read", path: path.to_owned(), source })?;
    if metadata.is_file() {
        return Ok(());
    }
    let error = ReleaseError::UnsafeFile { file: name.to_owned() };
    Err(StoreError::Release { path: path.display().to_string(), error })
}

fn verify_hash(path: &Path, entry: &TableEntry) -> Result<(), StoreError> {
    let io_error = |source| StoreError::Io { action: "read", path: path.to_owned(), source };
    let mut file = File::open(path).map_err(io_error)?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 18];
    loop {
        let n = file.read(&mut buffer).map_err(io_error)?;
        if n == 0 {
            break;
        }
        hash.update(&buffer[..n]);
    }
    if hex(&hash.finalize()) == entry.sha256.to_lowercase() {
        Ok(())
    } else {
        Err(StoreError::Hash { file: path.display().to_string() })
    }
}

/// All columns of a table, or only those that are named.
fn read_table(
    path: &Path,
    entry: &TableEntry,
    manifest: &Manifest,
    only: Option<&[String]>,
) -> Result<Table, StoreError> {
    let options = CsvOptions { delimiter: Some(b','), allow_empty: true, ..CsvOptions::default() };
    let input = Input::open(&Source::Path(path.to_owned()), &options)?;
    let mismatch =
        |found: String, expected: String| StoreError::Mismatch { file: path.display().to_string(), found, expected };
    let names: Vec<&String> = entry.columns.iter().map(|column| &column.name).collect();
    if !input.header().iter().eq(names.iter().copied()) {
        let list = |names: &[String]| format!("the columns {}", names.join(", "));
        let expected: Vec<String> = names.into_iter().cloned().collect();
        return Err(mismatch(list(input.header()), list(&expected)));
    }
    let wanted: Vec<ColumnRequest> = entry
        .columns
        .iter()
        .filter(|column| only.is_none_or(|only| only.contains(&column.name)))
        .map(|column| ColumnRequest {
            name: column.name.clone(),
            kind: Some(column.kind.into()),
            order: if Kind::from(column.kind) == Kind::Ordinal { order_of(manifest, &column.name) } else { Vec::new() },
        })
        .collect();
    let table = input.read(&wanted)?;
    if table.rows() as u64 != entry.rows {
        return Err(mismatch(format!("{} rows", table.rows()), entry.rows.to_string()));
    }
    Ok(table)
}

/// The order of an ordinal column: that of its attribute, whose name it has but for a `_min` or `_max`.
fn order_of(manifest: &Manifest, column: &str) -> Vec<String> {
    let stem = column.strip_suffix("_min").or_else(|| column.strip_suffix("_max"));
    let attribute = manifest.attribute(column).or_else(|| manifest.attribute(stem?));
    attribute.map_or_else(Vec::new, |attribute| attribute.domain.order())
}
