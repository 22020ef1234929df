//! A release whose tables are too large to be held: its parts are written one by one, by one process or by many, and it
//! is put in its place when the last of them is there.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use chrysalis_release::{ENCODING, Manifest, PartEntry, VERSION};
use chrysalis_table::{Progress, Table};
use sha2::{Digest, Sha256};
use tempfile::Builder;

use crate::StoreError;
use crate::folder::{Format, HashingWriter, MANIFEST, check_place, hex, sync_folder, write_bytes, write_synced};
use crate::temporary::{TemporaryFolder, parent_of, remove_abandoned};

/// A release in the making, and a private folder for what must be remembered until it is made.
///
/// Both are beside the place of the release. Dropped, they are removed with all that is in them; after a crash the next
/// run in the same folder removes them.
pub struct ReleaseInParts {
    out: PathBuf,
    replace: bool,
    beside: TemporaryFolder,
    private: TemporaryFolder,
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
        let make = || {
            let (beside, private) = (TemporaryFolder::create_in(&parent)?, TemporaryFolder::create_in(&parent)?);
            // LEAK: rows and secrets lie here. Nothing is in it before others are shut out.
            fs::set_permissions(private.path(), Permissions::from_mode(0o700))?;
            Ok((beside, private))
        };
        // The error's own text names the temporary folder, which is nobody's business.
        let (beside, private) = make().map_err(|error: io::Error| failed(out, error.kind().into()))?;
        Ok(ReleaseInParts { out: out.to_owned(), replace, beside, private })
    }

    /// Where parts are written.
    pub fn folder(&self) -> &Path {
        self.beside.path()
    }

    /// A folder that only its owner may read, for secrets and rows.
    pub fn private(&self) -> &Path {
        self.private.path()
    }

    /// Writes the manifest, whose parts are all there, and puts the release in its place.
    pub fn finish(self, manifest: &Manifest) -> Result<Manifest, StoreError> {
        let ReleaseInParts { out, replace, beside, private } = self;
        let manifest = Manifest { version: VERSION, encoding: ENCODING, ..manifest.clone() };
        let json = manifest.to_json();
        let json = json.map_err(|error| StoreError::Release { path: out.display().to_string(), error })?;
        write_synced(&beside.path().join(MANIFEST), json.as_bytes())
            .and_then(|()| beside.sync())
            .map_err(|source| failed(&out, source))?;
        // Whoever is still at work on a part that is there already finds its folder gone.
        drop(private);
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

/// Writes one part of a table, numbered from 0, under a name of its own in `scratch`, and then renames it to the name that
/// it has in `folder`, which must be in the same file system. Two who write the same part write the same bytes, so it
/// does not matter who is first, or whether one is killed.
pub fn write_part(
    name: &str,
    table: &Table,
    part: usize,
    folder: &Path,
    scratch: &Path,
    format: Format,
    progress: Progress<'_>,
) -> Result<PartEntry, StoreError> {
    let file = format.file_of(name, Some(part + 1));
    let place = folder.join(&file);
    let write = || {
        let (own, path) = Builder::new().permissions(Permissions::from_mode(0o644)).tempfile_in(scratch)?.into_parts();
        let mut out = HashingWriter { file: own, hash: Sha256::new() };
        write_bytes(table, &mut out, format, progress)?;
        out.file.sync_all()?;
        path.persist(&place).map_err(|error| error.error)?;
        Ok(hex(&out.hash.finalize()))
    };
    let sha256 = write().map_err(|source: io::Error| failed(&place, source.kind().into()))?;
    Ok(PartEntry { file, rows: table.rows() as u64, sha256 })
}

/// Writes a file of the private folder whole: whoever reads it finds all of it or nothing.
pub fn write_private(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let write = || {
        let mut file = Builder::new().permissions(Permissions::from_mode(0o600)).tempfile_in(parent_of(path))?;
        io::Write::write_all(&mut file, bytes)?;
        file.persist(path).map_err(|error| error.error).map(drop)
    };
    write().map_err(|source: io::Error| failed(path, source.kind().into()))
}

fn failed(path: &Path, source: io::Error) -> StoreError {
    StoreError::Io { action: "write to", path: path.to_owned(), source }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use chrysalis_table::Column;

    use super::*;

    #[test]
    fn parts_are_private_until_they_are_a_release_and_nothing_else_stays() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("release");
        let begun = ReleaseInParts::begin(&out, false).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(begun.private()), 0o700);
        let secret = begun.private().join("secret");
        write_private(&secret, b"one").unwrap();
        write_private(&secret, b"two").unwrap();
        assert_eq!((fs::read(&secret).unwrap(), mode(&secret)), (b"two".to_vec(), 0o600));
        let table = Table::new(vec![Column::integers("group_id", &[1, 2, 2])]);
        let write = || write_part("groups", &table, 2, begun.folder(), begun.private(), Format::Csv, &|_| {}).unwrap();
        let (once, again) = (write(), write());
        assert_eq!(once, again);
        assert_eq!((once.file.as_str(), once.rows), ("groups-3.csv", 3));
        assert_eq!(fs::read_to_string(begun.folder().join("groups-3.csv")).unwrap(), "group_id\n1\n2\n2\n");
        assert_eq!(mode(&begun.folder().join("groups-3.csv")), 0o644);
        // A task that comes too late finds no folder to write to, and the error does not say where that was.
        let (gone, scratch) = (begun.folder().to_owned(), begun.private().to_owned());
        drop(begun);
        assert!(write_part("groups", &table, 2, &gone, &scratch, Format::Csv, &|_| {}).is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left");
    }
}
