//! A large file that nobody but its owner may read, and what is to become of it.
//!
//! The next state of the file is staged beside it under a name of its own, `NAME.next`, so that whoever comes after a
//! crash finds both states and can tell which of them is right.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use sha2::{Digest, Sha256};

use crate::folder::{MANIFEST, hex};
use crate::temporary::{TemporaryFile, parent_of, remove_abandoned};
use crate::{StoreError, read_manifest};

/// What others may not do: anything.
const OTHERS: u32 = 0o077;

/// Reads a private file; `None` if there is no such file.
///
/// LEAK: what others may read is not private, so it is refused. The permissions are those of the file that is read.
pub fn read_private(path: &Path) -> Result<Option<Vec<u8>>, StoreError> {
    let failed = |source| StoreError::Io { action: "read", path: path.to_owned(), source };
    let wrong = |problem: &'static str| StoreError::Private { path: path.to_owned(), problem };
    match fs::metadata(path) {
        // A pipe could keep us waiting.
        Ok(found) if !found.is_file() => return Err(wrong("it is not a file")),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    }
    let mut file = File::open(path).map_err(failed)?;
    if file.metadata().map_err(failed)?.permissions().mode() & OTHERS != 0 {
        return Err(wrong("others than its owner may read or change it"));
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(failed)?;
    Ok(Some(bytes))
}

/// Where a private file really is: the next state takes the place of the file, and not that of a link to it.
pub fn place_of_private(path: &Path) -> Result<PathBuf, StoreError> {
    match fs::canonicalize(path) {
        Ok(place) => Ok(place),
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(StoreError::Io { action: "open", path: path.to_owned(), source: error })
        }
        Err(_) if path.is_symlink() => {
            Err(StoreError::Private { path: path.to_owned(), problem: "it is a link to a file that is not there" })
        }
        Err(_) => {
            let place = fs::canonicalize(parent_of(path)).ok().zip(path.file_name());
            Ok(place.map_or_else(|| path.to_owned(), |(folder, name)| folder.join(name)))
        }
    }
}

/// SHA-256 of the manifest in a folder; `None` if there is no manifest that can be read.
pub fn manifest_sha256(folder: &Path) -> Option<String> {
    // Limits are those of reading a manifest.
    read_manifest(folder).ok()?;
    fs::read(folder.join(MANIFEST)).ok().map(|bytes| hex(&Sha256::digest(bytes)))
}

/// The folder with a private file, which only one run at a time may change.
#[derive(Debug)]
pub struct PrivateFolder {
    path: PathBuf,
    folder: PathBuf,
    /// Held as long as this value lives; the system releases it when the process ends, however that happens.
    lock: File,
}

impl PrivateFolder {
    /// Locks the folder of a private file, and clears away what killed runs left behind. Links are followed.
    pub fn lock(path: &Path) -> Result<PrivateFolder, StoreError> {
        let path = &place_of_private(path)?;
        let folder = parent_of(path);
        let failed = |source| StoreError::Io { action: "open the folder of", path: path.to_owned(), source };
        let lock = File::open(&folder).map_err(failed)?;
        match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(rustix::io::Errno::WOULDBLOCK) => {
                let problem = "another run is using a ledger in the same folder";
                return Err(StoreError::Private { path: path.to_owned(), problem });
            }
            Err(error) => return Err(failed(error.into())),
        }
        remove_abandoned(&folder);
        Ok(PrivateFolder { path: path.to_owned(), folder, lock })
    }

    /// Where the file is, whatever links led to it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where the next state of the file is staged.
    pub fn next(&self) -> PathBuf {
        next_of(&self.path)
    }

    /// Stages the next state: it is on disk, with mode 600, when this returns.
    pub fn stage(&self, bytes: &[u8]) -> Result<(), StoreError> {
        let failed = |source: io::Error| StoreError::Io { action: "write", path: self.path.clone(), source };
        let mut beside = TemporaryFile::create_in(&self.folder, 0o600).map_err(failed)?;
        beside.file.write_all(bytes).and_then(|()| beside.file.as_file().sync_all()).map_err(failed)?;
        beside.file.persist(self.next()).map_err(|error| failed(error.error.kind().into()))?;
        self.lock.sync_all().map_err(failed)
    }

    /// The staged state takes the place of the file.
    pub fn settle(&self) -> Result<(), StoreError> {
        let failed = |source| StoreError::Io { action: "write", path: self.path.clone(), source };
        fs::rename(self.next(), &self.path).and_then(|()| self.lock.sync_all()).map_err(failed)
    }

    /// The staged state is forgotten.
    pub fn forget(&self) -> Result<(), StoreError> {
        let failed = |source| StoreError::Io { action: "remove", path: self.next(), source };
        fs::remove_file(self.next()).and_then(|()| self.lock.sync_all()).map_err(failed)
    }
}

/// Where the next state of a private file is staged.
pub fn next_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".next");
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use std::fs::Permissions;

    use super::*;

    #[test]
    fn a_staged_state_is_private_and_takes_the_place_of_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger");
        let held = PrivateFolder::lock(&path).unwrap();
        assert_eq!(read_private(&path).unwrap(), None);
        held.stage(b"first").unwrap();
        assert_eq!(fs::metadata(held.next()).unwrap().permissions().mode() & 0o777, 0o600);
        held.settle().unwrap();
        held.stage(b"second").unwrap();
        assert_eq!(read_private(&path).unwrap().unwrap(), b"first");
        held.forget().unwrap();
        assert!(held.forget().is_err() && held.settle().is_err());
        assert_eq!(read_private(&path).unwrap().unwrap(), b"first");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing lies beside it");
    }

    /// Two names of one file have one future.
    #[test]
    fn what_a_link_leads_to_is_replaced_and_not_the_link() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("ledger"), folder.path().join("links"));
        fs::create_dir(&link).unwrap();
        std::os::unix::fs::symlink(&real, link.join("ledger")).unwrap();
        let error = PrivateFolder::lock(&link.join("ledger")).unwrap_err();
        assert!(error.to_string().ends_with("it is a link to a file that is not there"), "{error}");
        for (path, bytes) in [(&real, b"first"), (&link.join("ledger"), b"again"), (&real, b"third")] {
            let held = PrivateFolder::lock(path).unwrap();
            held.stage(bytes).unwrap();
            assert!(PrivateFolder::lock(&real).is_err(), "one run at a time");
            held.settle().unwrap();
            assert_eq!(held.path(), fs::canonicalize(&real).unwrap());
            assert_eq!(read_private(&real).unwrap().unwrap(), bytes);
            assert_eq!(read_private(&link.join("ledger")).unwrap().unwrap(), bytes);
        }
        assert!(link.join("ledger").is_symlink());
    }

    #[test]
    fn one_run_at_a_time_and_nobody_else_may_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger");
        let held = PrivateFolder::lock(&path).unwrap();
        let error = PrivateFolder::lock(&path).unwrap_err();
        let text =
            format!("{} is not used as a ledger: another run is using a ledger in the same folder", path.display());
        assert_eq!((error.to_string(), error.hint()), (text, "wait until it has ended".into()));
        held.stage(b"bytes").unwrap();
        held.settle().unwrap();
        drop(held);
        assert!(PrivateFolder::lock(&path).is_ok());
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        let error = read_private(&path).unwrap_err();
        assert!(error.to_string().ends_with("others than its owner may read or change it"), "{error}");
        assert!(read_private(folder.path()).unwrap_err().to_string().ends_with("it is not a file"));
        assert_eq!(manifest_sha256(folder.path()), None);
    }
}
