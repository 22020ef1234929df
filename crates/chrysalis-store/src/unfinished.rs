//! What this process is writing and has not put in its place.
//!
//! A run that is stopped unwinds and removes it on the way. A process that cannot wait for that asks for the removal itself.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

static PENDING: Mutex<PendingPaths> = Mutex::new(PendingPaths { paths: Vec::new(), has_placed: false });

struct PendingPaths {
    paths: Vec<PathBuf>,
    /// Whether anything was put in its place yet.
    has_placed: bool,
}

fn pending() -> MutexGuard<'static, PendingPaths> {
    PENDING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One thing that is being written, for as long as it is.
pub(crate) struct UnfinishedWrite(PathBuf);

impl UnfinishedWrite {
    /// Creates something to write to. Nobody gives up between its creation and its being known here.
    pub(crate) fn create<T>(
        create: impl FnOnce() -> io::Result<T>,
        path: impl FnOnce(&T) -> &Path,
    ) -> io::Result<(T, UnfinishedWrite)> {
        let mut pending = pending();
        let created = create()?;
        let path = path(&created).to_owned();
        pending.paths.push(path.clone());
        Ok((created, UnfinishedWrite(path)))
    }
}

impl Drop for UnfinishedWrite {
    fn drop(&mut self) {
        pending().paths.retain(|path| *path != self.0);
    }
}

/// Puts things in their places. Nobody gives up meanwhile, and after the first success nobody can.
pub(crate) fn place<T, E>(put: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    let mut pending = pending();
    let put = put();
    pending.has_placed |= put.is_ok();
    put
}

/// Another name that is as much ours, should the process end before what has it is removed.
fn aside(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    let (start, last) = name.split_at_checked(name.len().checked_sub(1)?)?;
    Some(path.with_file_name(format!("{start}{}", if last == "x" { "y" } else { "x" })))
}

/// Removes all that this process has begun to write, unless some of what it writes is in its place already, in which case it
/// changes nothing and says `false`.
///
/// After `true` nothing can be written any more: threads that try wait for the end of the process, which must come next.
pub fn give_up() -> bool {
    let pending = pending();
    if pending.has_placed {
        return false;
    }
    for path in &pending.paths {
        // Somebody may be creating one file after the other in the folder: under another name it is gone for them.
        let aside = aside(path).filter(|aside| fs::rename(path, aside).is_ok());
        let path = aside.as_ref().unwrap_or(path);
        for _ in 0..10 {
            let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
            if removed.is_ok() || !path.exists() {
                break;
            }
        }
    }
    std::mem::forget(pending);
    true
}
