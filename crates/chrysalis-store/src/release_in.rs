//! Reads a release from its folder: unless every file is what the manifest says, nothing is read.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use chrysalis_release::{Cell, Layout, Manifest, PartEntry, Release, ReleaseError, TableEntry};
use chrysalis_table::{ColumnRequest, Kind, Memory, Progress, Table, TableError, no_progress};
use rayon::prelude::*;
use sha2::{Digest, Sha256};

use crate::folder::hex;
use crate::limits::{Declared, check_rows};
use crate::temporary::{is_our_name, parent_of};
use crate::{Input, MANIFEST, StoreError, parts};

/// Reads a release, verifying version, paths, hashes, columns and row counts.
pub fn read_release(folder: &Path) -> Result<Release, StoreError> {
    read_release_within(folder, Memory::default())
}

/// Like [`read_release`], but refuses a release that declares more than fits into the allowed memory.
pub fn read_release_within(folder: &Path, memory: Memory) -> Result<Release, StoreError> {
    read_release_watched(folder, memory, &no_progress)
}

/// Like [`read_release_within`]; `progress` is told the rows of every file that is read, and may stop it.
pub fn read_release_watched(folder: &Path, memory: Memory, progress: Progress<'_>) -> Result<Release, StoreError> {
    let manifest = read_manifest_within(folder, memory)?;
    let sizes: Vec<(u64, usize)> = manifest.tables.iter().map(|entry| (entry.rows, entry.columns.len())).collect();
    check_rows(&folder.display().to_string(), &sizes, memory)?;
    let layout = manifest.layout();
    let tables = manifest.tables.iter().map(|entry| {
        let wanted = requests(entry, &manifest, &layout, None);
        parts::read(entry, &wanted, |part| {
            let path = folder.join(&part.file);
            check_plain_file(&path, &part.file)?;
            verify_hash(&path, part, progress)?;
            let table = read_part(&path, entry, part, &wanted, memory, progress)?;
            progress(part.rows);
            Ok(table)
        })
    });
    Ok(Release { tables: tables.collect::<Result<_, _>>()?, manifest })
}

/// Reads only some columns of some tables, given as pairs of a table and its columns; all other tables are left empty.
///
/// The files are verified as by [`read_release`]: their whole hashes, in parallel with the decoding.
pub fn read_columns(
    folder: &Path,
    manifest: Manifest,
    wanted: &[(String, Vec<String>)],
) -> Result<Release, StoreError> {
    read_columns_within(folder, manifest, wanted, Memory::default())
}

/// Like [`read_columns`], but refuses columns whose declared rows do not fit into the allowed memory.
pub fn read_columns_within(
    folder: &Path,
    manifest: Manifest,
    wanted: &[(String, Vec<String>)],
    memory: Memory,
) -> Result<Release, StoreError> {
    let size = |entry: &TableEntry| {
        let (_, columns) = wanted.iter().find(|(table, _)| *table == entry.name)?;
        Some((entry.rows, columns.len()))
    };
    let sizes: Vec<(u64, usize)> = manifest.tables.iter().filter_map(size).collect();
    check_rows(&folder.display().to_string(), &sizes, memory)?;
    let layout = manifest.layout();
    let read = |entry: &TableEntry| {
        let Some((_, columns)) = wanted.iter().find(|(table, _)| *table == entry.name) else {
            return Ok(Table::default());
        };
        let wanted = requests(entry, &manifest, &layout, Some(columns.as_slice()));
        parts::read(entry, &wanted, |part| {
            let path = folder.join(&part.file);
            check_plain_file(&path, &part.file)?;
            let (verified, table) = rayon::join(
                || verify_hash(&path, part, &no_progress),
                || read_part(&path, entry, part, &wanted, memory, &no_progress),
            );
            verified.and(table)
        })
    };
    let tables = manifest.tables.par_iter().map(read).collect::<Result<_, _>>()?;
    Ok(Release { tables, manifest })
}

/// Reads a release's manifest alone.
pub fn read_manifest(folder: &Path) -> Result<Manifest, StoreError> {
    read_manifest_within(folder, Memory::default())
}

/// Like [`read_manifest`], but refuses a manifest that would take more memory than allowed.
pub fn read_manifest_within(folder: &Path, memory: Memory) -> Result<Manifest, StoreError> {
    let bytes = manifest_bytes(folder, memory)?;
    let path = folder.join(MANIFEST).display().to_string();
    Manifest::parse_within(&bytes, memory).map_err(|error| StoreError::Release { path, error })
}

/// The bytes of a release's manifest.
pub(crate) fn manifest_bytes(folder: &Path, memory: Memory) -> Result<Vec<u8>, StoreError> {
    if folder.is_file() {
        return Err(StoreError::NotAFolder { path: folder.to_owned() });
    }
    let path = folder.join(MANIFEST);
    check_plain_file(&path, MANIFEST)?;
    let io_error = |source| StoreError::Io { action: "read", path: path.clone(), source };
    let release_error = |error| StoreError::Release { path: path.display().to_string(), error };
    let mut bytes = Vec::new();
    let file = File::open(&path).map_err(io_error)?;
    Manifest::check_bytes(file.metadata().map_err(io_error)?.len(), memory).map_err(release_error)?;
    file.take(Manifest::most_bytes(memory) + 1).read_to_end(&mut bytes).map_err(io_error)?;
    Ok(bytes)
}

/// The other releases in the folder that contains `out`. A folder whose manifest cannot be read is no release.
pub fn manifests_beside(out: &Path) -> Vec<(PathBuf, Manifest)> {
    let own = fs::canonicalize(out).ok();
    let mut others = manifests_in(&parent_of(out));
    others.retain(|(folder, _)| fs::canonicalize(folder).ok() != own);
    others
}

/// All releases in a folder, however much else is there. What a run has not finished is none.
pub fn manifests_in(parent: &Path) -> Vec<(PathBuf, Manifest)> {
    let Ok(entries) = fs::read_dir(parent) else { return Vec::new() };
    let finished = entries.flatten().filter(|entry| !is_our_name(&entry.file_name()));
    let mut folders: Vec<PathBuf> = finished.map(|entry| entry.path()).collect();
    folders.retain(|folder| fs::symlink_metadata(folder.join(MANIFEST)).is_ok());
    folders.sort_unstable();
    folders.into_iter().filter_map(|folder| read_manifest(&folder).ok().map(|manifest| (folder, manifest))).collect()
}

/// LEAK: a link could lead outside the release, and a pipe could keep us waiting forever.
pub(crate) fn check_plain_file(path: &Path, name: &str) -> Result<(), StoreError> {
    let metadata = fs::symlink_metadata(path);
    let metadata = metadata.map_err(|source| StoreError::Io { action: "read", path: path.to_owned(), source })?;
    if metadata.is_file() {
        return Ok(());
    }
    let error = ReleaseError::UnsafeFile { file: name.to_owned() };
    Err(StoreError::Release { path: path.display().to_string(), error })
}

pub(crate) fn verify_hash(path: &Path, part: &PartEntry, progress: Progress<'_>) -> Result<(), StoreError> {
    let io_error = |source| StoreError::Io { action: "read", path: path.to_owned(), source };
    let mut file = File::open(path).map_err(io_error)?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 18];
    loop {
        let n = file.read(&mut buffer).map_err(io_error)?;
        if n == 0 {
            break;
        }
        progress(0);
        hash.update(&buffer[..n]);
    }
    if hex(&hash.finalize()) == part.sha256.to_lowercase() {
        Ok(())
    } else {
        Err(StoreError::Hash { file: path.display().to_string() })
    }
}

/// The wanted columns of one file of a table.
pub(crate) fn read_part(
    path: &Path,
    entry: &TableEntry,
    part: &PartEntry,
    wanted: &[ColumnRequest],
    memory: Memory,
    progress: Progress<'_>,
) -> Result<Table, StoreError> {
    let (file, declared) = (path.display().to_string(), Declared::new(entry, part, memory));
    let mismatch = |found: String, expected: String| StoreError::Mismatch { file: file.clone(), found, expected };
    // The reader stops at the manifest's limits but knows nothing of manifests, so its errors are put into the
    // manifest's terms.
    let said = |error: StoreError| match &error {
        StoreError::Table { error: TableError::TooManyRows { limit }, .. } if *limit == part.rows => {
            mismatch(format!("more than {limit} rows"), limit.to_string())
        }
        StoreError::Table { error: TableError::TooMuchText { limit }, .. } => {
            declared.check_text(&file, limit.saturating_add(1)).err().unwrap_or(error)
        }
        _ => error,
    };
    let input = Input::open_part(path, &declared).map_err(said)?;
    let names: Vec<&String> = entry.columns.iter().map(|column| &column.name).collect();
    if !input.header().iter().eq(names.iter().copied()) {
        let list = |names: &[String]| format!("the columns {}", names.join(", "));
        let expected: Vec<String> = names.into_iter().cloned().collect();
        return Err(mismatch(list(input.header()), list(&expected)));
    }
    // What is counted is rows, of whole files.
    let table = input.read_with(wanted, &|_| progress(0)).map_err(said)?;
    if table.rows() as u64 != part.rows {
        return Err(mismatch(format!("{} rows", table.rows()), part.rows.to_string()));
    }
    Ok(table)
}

/// All columns of a table, or only those that are named.
pub(crate) fn requests(
    entry: &TableEntry,
    manifest: &Manifest,
    layout: &Layout,
    only: Option<&[String]>,
) -> Vec<ColumnRequest> {
    let columns = entry.columns.iter().filter(|column| only.is_none_or(|only| only.contains(&column.name)));
    let request = columns.map(|column| {
        let kind = Kind::from(column.kind);
        let order = match kind {
            Kind::Ordinal => order_of(manifest, layout, &entry.name, &column.name),
            Kind::Integer | Kind::Real | Kind::Date | Kind::DateTime | Kind::Category => Vec::new(),
        };
        ColumnRequest { name: column.name.clone(), kind: Some(kind), order }
    });
    request.collect()
}

/// The order of an ordinal column: that of the attribute whose values or range ends it contains.
fn order_of(manifest: &Manifest, layout: &Layout, table: &str, column: &str) -> Vec<String> {
    let columns = layout.table(table).into_iter().flat_map(|table| &table.columns);
    let cell = columns.filter(|known| known.name == column).map(|known| known.cell).next();
    let attribute = match cell {
        Some(Cell::Value(at) | Cell::Low(at) | Cell::High(at) | Cell::Label(at) | Cell::Bound(at)) => {
            manifest.attributes.get(at)
        }
        Some(Cell::GroupId | Cell::Count | Cell::Persons | Cell::Hits | Cell::Member) | None => None,
    };
    attribute.map_or_else(Vec::new, |attribute| attribute.domain.order())
}
