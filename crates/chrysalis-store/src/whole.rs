//! Single files and folders that appear whole or not at all.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::StoreError;

fn parent_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// Writes a file that must not exist yet, unless `force` replaces it.
pub fn write_file(path: &Path, bytes: &[u8], force: bool) -> Result<(), StoreError> {
    let failed = |source: io::Error| match source.kind() {
        io::ErrorKind::AlreadyExists => StoreError::Exists { path: path.to_owned() },
        kind => StoreError::Io { action: "write", path: path.to_owned(), source: kind.into() },
    };
    let mut file = tempfile::Builder::new()
        .prefix(".chrysalis-")
        .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644))
        .tempfile_in(parent_of(path))
        .map_err(failed)?;
    io::Write::write_all(&mut file, bytes).and_then(|()| file.as_file().sync_all()).map_err(failed)?;
    let put = if force { file.persist(path) } else { file.persist_noclobber(path) };
    put.map(drop).map_err(|error| failed(error.error))
}

/// Writes a new folder: `fill` puts files into a folder beside it, which then takes its place.
pub fn write_folder(path: &Path, fill: impl FnOnce(&Path) -> io::Result<()>) -> Result<(), StoreError> {
    if fs::symlink_metadata(path).is_ok() {
        return Err(StoreError::Exists { path: path.to_owned() });
    }
    let failed =
        |source: io::Error| StoreError::Io { action: "write", path: path.to_owned(), source: source.kind().into() };
    let beside = tempfile::Builder::new()
        .prefix(".chrysalis-")
        .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .tempdir_in(parent_of(path))
        .map_err(failed)?;
    fill(beside.path()).and_then(|()| File::open(beside.path())?.sync_all()).map_err(failed)?;
    fs::rename(beside.path(), path).map_err(failed)
}
