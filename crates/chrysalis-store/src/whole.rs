//! Single files and folders that appear whole or not at all.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

use chrysalis_table::{Progress, Table};
use tempfile::NamedTempFile;

use crate::folder::{Format, write_bytes};
use crate::temporary::{TemporaryFile, TemporaryFolder, parent_of, remove_abandoned};
use crate::{StoreError, unfinished};

/// Writes a file that must not exist yet, unless `force` replaces it.
pub fn write_file(path: &Path, bytes: &[u8], force: bool) -> Result<(), StoreError> {
    write_files(&[(path, bytes)], force)
}

/// Writes files that must not exist yet, unless `force` replaces them.
///
/// All are written beside their places before the first is put there, so a full disk changes nothing. If one then
/// cannot be put in its place, those before it that are new are removed again; those that were replaced stay.
pub fn write_files(files: &[(&Path, &[u8])], force: bool) -> Result<(), StoreError> {
    let folders: BTreeSet<_> = files.iter().map(|(path, _)| parent_of(path)).collect();
    folders.iter().for_each(|folder| remove_abandoned(folder));
    let written = files.iter().map(|(path, bytes)| beside(path, bytes));
    let (written, _unfinished): (Vec<_>, Vec<_>) =
        written.collect::<Result<Vec<_>, _>>()?.into_iter().map(|beside| (beside.file, beside.unfinished)).unzip();
    let places = files.iter().map(|(path, _)| *path);
    unfinished::place(|| put_in_place(places.zip(written), force))
}

fn put_in_place<'a>(written: impl Iterator<Item = (&'a Path, NamedTempFile)>, force: bool) -> Result<(), StoreError> {
    let mut fresh = Vec::new();
    for (path, file) in written {
        let was_there = path.symlink_metadata().is_ok();
        let put = if force { file.persist(path) } else { file.persist_noclobber(path) };
        if let Err(error) = put {
            for path in fresh {
                // Nothing more can be done about this; the first error is reported.
                let _ = fs::remove_file(path);
            }
            return Err(failed(path, &error.error));
        }
        fresh.extend((!was_there).then_some(path));
    }
    Ok(())
}

fn beside(path: &Path, bytes: &[u8]) -> Result<TemporaryFile, StoreError> {
    let mut beside = TemporaryFile::create_in(&parent_of(path), 0o644).map_err(|source| failed(path, &source))?;
    let written = io::Write::write_all(&mut beside.file, bytes).and_then(|()| beside.file.as_file().sync_all());
    written.map_err(|source| failed(path, &source))?;
    Ok(beside)
}

/// The error's own text names the temporary file, which is nobody's business.
fn failed(path: &Path, source: &io::Error) -> StoreError {
    match source.kind() {
        io::ErrorKind::AlreadyExists => StoreError::Exists { path: path.to_owned() },
        kind => StoreError::Io { action: "write", path: path.to_owned(), source: kind.into() },
    }
}

/// Writes tables to files that must not exist yet, unless `force` replaces them; all of them or none. Reports how many
/// rows are done.
pub fn write_tables(
    tables: &[(&Path, &Table)],
    format: Format,
    force: bool,
    progress: Progress<'_>,
) -> Result<(), StoreError> {
    let bytes = |(path, table): &(&Path, &Table)| {
        let mut bytes = Vec::new();
        write_bytes(table, &mut bytes, format, progress).map_err(|source| failed(path, &source))?;
        Ok(bytes)
    };
    let written: Vec<Vec<u8>> = tables.iter().map(bytes).collect::<Result<_, StoreError>>()?;
    let files: Vec<(&Path, &[u8])> =
        tables.iter().map(|(path, _)| *path).zip(written.iter().map(Vec::as_slice)).collect();
    write_files(&files, force)
}

/// Writes a new folder: `fill` puts files into a temporary folder beside it, which then takes its place.
pub fn write_folder(path: &Path, fill: impl FnOnce(&Path) -> io::Result<()>) -> Result<(), StoreError> {
    if fs::symlink_metadata(path).is_ok() {
        return Err(StoreError::Exists { path: path.to_owned() });
    }
    let parent = parent_of(path);
    remove_abandoned(&parent);
    let write = || {
        let beside = TemporaryFolder::create_in(&parent)?;
        fill(beside.path())?;
        beside.sync()?;
        beside.put_in_place(path, false)
    };
    write().map_err(|source| failed(path, &source))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn files_come_together_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("folder")).unwrap();
        fs::write(at("mine"), "mine").unwrap();
        let write = |names: [&str; 2], force| {
            let paths = names.map(at);
            write_files(&[(&paths[0], b"one"), (&paths[1], b"two")], force)
        };
        // A second place that cannot be taken, which shows before or after the first file is in its own.
        for (second, force) in [("nowhere/b", true), ("folder", true), ("mine", false)] {
            assert!(write(["a", second], force).is_err(), "{second}");
            assert!(!at("a").exists(), "{second}");
        }
        assert!(write(["mine", "nowhere/b"], true).is_err());
        assert_eq!(fs::read(at("mine")).unwrap(), b"mine");
        write(["mine", "b"], true).unwrap();
        assert_eq!((fs::read(at("mine")).unwrap(), fs::read(at("b")).unwrap()), (b"one".to_vec(), b"two".to_vec()));
        let mut left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["b", "folder", "mine"], "nothing lies beside them");
    }
}
