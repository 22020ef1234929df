//! Small files that nobody but their owner may read.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::StoreError;
use crate::temporary::{TemporaryFile, parent_of};

/// More than any secret has.
const MOST_BYTES: u64 = 4096;
/// What others may not do: anything.
const OTHERS: u32 = 0o077;

/// Reads a secret; `None` if there is no such file.
///
/// LEAK: a secret that others may read is none, so it is refused. The permissions are those of the file that is read,
/// not of whatever has its name a moment later.
pub fn read_secret(path: &Path) -> Result<Option<Vec<u8>>, StoreError> {
    let failed = |source| StoreError::Io { action: "read", path: path.to_owned(), source };
    let wrong = |problem: &'static str| StoreError::Secret { path: path.to_owned(), problem };
    match fs::metadata(path) {
        // A pipe could keep us waiting.
        Ok(found) if !found.is_file() => return Err(wrong("it is not a file")),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    }
    let file = File::open(path).map_err(failed)?;
    if file.metadata().map_err(failed)?.permissions().mode() & OTHERS != 0 {
        return Err(wrong("others than its owner may read or change it"));
    }
    let mut bytes = Vec::new();
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
    match bytes.len() as u64 {
        ..=MOST_BYTES => Ok(Some(bytes)),
        _ => Err(wrong("it is larger than any key")),
    }
}

/// Writes a secret with mode 600. It appears whole or not at all, and never replaces anything: `false` if there is
/// something already.
pub fn make_secret(path: &Path, bytes: &[u8]) -> Result<bool, StoreError> {
    let failed = |source: io::Error| StoreError::Io { action: "write", path: path.to_owned(), source };
    let mut beside = TemporaryFile::create_in(&parent_of(path), 0o600).map_err(failed)?;
    beside.file.write_all(bytes).and_then(|()| beside.file.as_file().sync_all()).map_err(failed)?;
    // Not counted as a result of this run: one that is stopped later may still say that it wrote nothing.
    match beside.file.persist_noclobber(path) {
        Ok(_) => Ok(true),
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(failed(error.error.kind().into())),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use std::fs::Permissions;

    use super::*;

    #[test]
    fn a_secret_is_its_owners_and_is_never_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        assert_eq!(read_secret(&path).unwrap(), None);
        assert!(make_secret(&path, b"first").unwrap());
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(!make_secret(&path, b"second").unwrap());
        assert_eq!(read_secret(&path).unwrap().unwrap(), b"first");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing lies beside it");
    }

    #[test]
    fn what_others_may_read_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        make_secret(&path, b"secret").unwrap();
        for mode in [0o640, 0o604, 0o620, 0o601] {
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            let error = read_secret(&path).unwrap_err();
            let text = format!("{} is not used as a key: others than its owner may read or change it", path.display());
            assert_eq!(error.to_string(), text);
            assert_eq!(error.hint(), format!("chmod 600 {}", path.display()).as_str());
        }
        fs::set_permissions(&path, Permissions::from_mode(0o400)).unwrap();
        assert!(read_secret(&path).is_ok());
        assert!(read_secret(folder.path()).unwrap_err().to_string().ends_with("it is not a file"));
        let large = folder.path().join("large");
        make_secret(&large, &[b'a'; 5000]).unwrap();
        assert!(read_secret(&large).unwrap_err().to_string().ends_with("it is larger than any key"));
        assert!(make_secret(&folder.path().join("nowhere/key"), b"secret").is_err());
    }
}
