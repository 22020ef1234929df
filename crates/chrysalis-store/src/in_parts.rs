//! A release whose tables are too large to be held: its parts are written one by one, by one process or by many, and it
//! is put in its place when the last of them is there.

use std::io;
use std::path::{Path, PathBuf};

use chrysalis_release::{ENCODING, Manifest, PartEntry, VERSION};
use chrysalis_table::{Progress, Table};
use sha2::{Digest, Sha256};

use crate::{Spill, StoreError};
use crate::folder::{Format, HashingWriter, MANIFEST, check_place, hex, sync_folder, write_bytes, write_synced};
use crate::temporary::{TemporaryFolder, parent_of, remove_abandoned};

/// A release in the making, beside its place. Dropped, it is removed with all that is in it; after a crash the next run in
/// the same folder removes it.
pub struct ReleaseInParts {
    out: PathBuf,
    replace: bool,
    beside: TemporaryFolder,
}

impl ReleaseInParts {
    /// Begins a release in a folder that must not exist yet, unless `replace` takes the place of the release that is
    /// there.
    pub fn begin(out: &Path, replace: bool) -> Result<Self, StoreError> {
        check_place(out, replace)?;
        let parent = parent_of(out);
        if !parent.is_dir() {
            let source = io::Error::new(io::ErrorKind::NotFound, "there is no such folder");
            return Err(StoreError::Io { action: "write to", path: parent, source });
        }
        remove_abandoned(&parent);
        // The error's own text names the temporary folder, which is nobody's business.
        let beside = TemporaryFolder::create_in(&parent).map_err(|error| failed(out, error.kind().into()))?;
        Ok(ReleaseInParts { out: out.to_owned(), replace, beside })
    }

    /// Where parts are written.
    pub fn folder(&self) -> &Path {
        self.beside.path()
    }

    /// Writes the manifest, whose parts are all there, and puts the release in its place.
    pub fn finish(self, manifest: &Manifest) -> Result<Manifest, StoreError> {
        let ReleaseInParts { out, replace, beside } = self;
        let manifest = Manifest { version: VERSION, encoding: ENCODING, ..manifest.clone() };
        let json = manifest.to_json();
        let json = json.map_err(|error| StoreError::Release { path: out.display().to_string(), error })?;
        write_synced(&beside.path().join(MANIFEST), json.as_bytes())
            .and_then(|()| beside.sync())
            .map_err(|source| failed(&out, source))?;
        check_place(&out, replace)?;
        beside.put_in_place(&out, replace).map_err(|source| match source.kind() {
            io::ErrorKind::AlreadyExists => StoreError::Exists { path: out.clone() },
            _ => failed(&out, source),
        })?;
        let parent = parent_of(&out);
        sync_folder(&parent).map_err(|source| StoreError::Io { action: "sync", path: parent, source })?;
        Ok(manifest)
    }
}

/// Writes one part of a table, numbered from 0: under a name of its own among the rows that wait, and then renamed to the
/// name that it has in the folder of the release. Two who write the same part write the same bytes, so it does not matter
/// who is first, or whether one is killed; and who comes too late finds no folder, and leaves nothing in the release.
pub fn write_part(
    name: &str,
    table: &Table,
    part: usize,
    folder: &Path,
    scratch: &Spill,
    format: Format,
    progress: Progress<'_>,
) -> Result<PartEntry, StoreError> {
    let file = format.file_of(name, Some(part + 1));
    let place = folder.join(&file);
    let write = || {
        let (own, path) = scratch.file_of_its_own(0o644)?.into_parts();
        let mut out = HashingWriter { file: own, hash: Sha256::new() };
        write_bytes(table, &mut out, format, progress)?;
        out.file.sync_all()?;
        path.persist(&place).map_err(|error| error.error)?;
        Ok(hex(&out.hash.finalize()))
    };
    let sha256 = write().map_err(|source: io::Error| failed(&place, source.kind().into()))?;
    Ok(PartEntry { file, rows: table.rows() as u64, sha256 })
}

fn failed(path: &Path, source: io::Error) -> StoreError {
    StoreError::Io { action: "write to", path: path.to_owned(), source }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use chrysalis_table::Column;

    use super::*;

    #[test]
    fn parts_written_twice_are_the_same_and_nothing_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("release");
        let (begun, scratch) = (ReleaseInParts::begin(&out, false).unwrap(), Spill::beside(&out).unwrap());
        let of_a_task = Spill::at(scratch.folder(), &out);
        let table = Table::new(vec![Column::integers("group_id", &[1, 2, 2])]);
        let write = || write_part("groups", &table, 2, begun.folder(), &of_a_task, Format::Csv, &|_| {});
        let (once, again) = (write().unwrap(), write().unwrap());
        assert_eq!(once, again);
        assert_eq!((once.file.as_str(), once.rows), ("groups-3.csv", 3));
        let part = begun.folder().join("groups-3.csv");
        assert_eq!(fs::read_to_string(&part).unwrap(), "group_id\n1\n2\n2\n");
        assert_eq!(fs::metadata(&part).unwrap().permissions().mode() & 0o777, 0o644);
        // A task that comes too late finds no folder to write to.
        let gone = begun.folder().to_owned();
        drop(begun);
        assert!(write_part("groups", &table, 2, &gone, &of_a_task, Format::Csv, &|_| {}).is_err());
        drop(scratch);
        assert!(write_part("groups", &table, 2, &gone, &of_a_task, Format::Csv, &|_| {}).is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left");
    }
}
