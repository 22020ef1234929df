//! The private folder of a release that several processes write together, as each of them sees it.

use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use chrysalis_release::PartEntry;
use chrysalis_table::{Progress, Table};
use tempfile::Builder;

use crate::folder::write_part;
use crate::{Format, StoreError};

/// A private folder that one process made, and will remove: a [`Spill`](crate::Spill).
///
/// Whatever is put there appears whole, and may be put there twice: a task can be repeated, or run at two places at once.
#[derive(Clone, Debug)]
pub struct SharedFolder {
    path: PathBuf,
    /// What messages name: the place of the release.
    beside: PathBuf,
}

impl SharedFolder {
    /// The folder that was made beside a place.
    pub fn at(path: &Path, beside: &Path) -> Self {
        SharedFolder { path: path.to_owned(), beside: beside.to_owned() }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Keeps bytes under a name, which nobody but their owner may read.
    pub fn put(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        let put = || {
            let mut file = Builder::new().permissions(Permissions::from_mode(0o600)).tempfile_in(&self.path)?;
            file.write_all(bytes)?;
            file.persist(self.path.join(name)).map_err(|error| error.error).map(drop)
        };
        put().map_err(|error| self.failed(&error))
    }

    /// Whether this process sees the folder.
    pub fn is_there(&self) -> bool {
        self.path.is_dir()
    }

    /// Removes what was put there under a name.
    pub fn remove(&self, name: &str) {
        // What is not there needs no removing.
        let _ = fs::remove_file(self.path.join(name));
    }

    /// The bytes that were put there under a name.
    pub fn get(&self, name: &str) -> Result<Vec<u8>, StoreError> {
        fs::read(self.path.join(name)).map_err(|error| self.failed(&error))
    }

    /// Writes a table, or one of its parts, numbered from 1: under a name of its own in this folder, and then renamed to the name
    /// that it has in the folder of the release.
    ///
    /// Two who write the same part write the same bytes, so it does not matter who is first, or whether one is killed. Who
    /// comes too late finds no folder, and leaves nothing in the release.
    pub fn write_part(
        &self,
        release: &Path,
        table_name: &str,
        part: Option<usize>,
        table: &Table,
        format: Format,
        progress: Progress<'_>,
    ) -> Result<PartEntry, StoreError> {
        let write = || {
            let own = tempfile::tempdir_in(&self.path)?;
            let entry = write_part(own.path(), table_name, part, table, format, progress)?;
            fs::rename(own.path().join(&entry.file), release.join(&entry.file))?;
            Ok(entry)
        };
        write().map_err(|error| self.failed(&error))
    }

    /// The folder's own name is nobody's business.
    fn failed(&self, error: &io::Error) -> StoreError {
        StoreError::Io { action: "write to", path: self.beside.clone(), source: error.kind().into() }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use chrysalis_table::Column;

    use super::*;

    #[test]
    fn what_is_put_there_is_private_and_may_be_put_there_twice() {
        let folder = tempfile::tempdir().unwrap();
        let shared = SharedFolder::at(folder.path(), Path::new("release"));
        shared.put("secret", b"one").unwrap();
        shared.put("secret", b"two").unwrap();
        assert_eq!(shared.get("secret").unwrap(), b"two");
        let mode = fs::metadata(folder.path().join("secret")).unwrap().permissions().mode();
        assert_eq!((mode & 0o777, fs::read_dir(folder.path()).unwrap().count()), (0o600, 1));
        assert_eq!(shared.get("plan").unwrap_err().to_string(), "cannot write to release: entity not found");
    }

    #[test]
    fn a_part_that_is_written_twice_is_there_once_and_one_that_comes_late_is_not() {
        let (folder, release) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let shared = SharedFolder::at(folder.path(), Path::new("release"));
        let table = Table::new(vec![Column::integers("group_id", &[1, 2, 2])]);
        let place = release.path().to_owned();
        let write = || shared.write_part(&place, "groups", Some(3), &table, Format::Csv, &|_| {});
        let (once, again) = (write().unwrap(), write().unwrap());
        assert_eq!((&once, once.file.as_str(), once.rows), (&again, "groups-3.csv", 3));
        assert_eq!(fs::read_to_string(release.path().join("groups-3.csv")).unwrap(), "group_id\n1\n2\n2\n");
        assert_eq!(fs::read_dir(release.path()).unwrap().count(), 1);
        drop(release);
        assert!(write().is_err() && !place.exists());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left of what came too late");
    }
}
