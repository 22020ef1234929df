//! What this process is writing and has not yet put in its place.
//!
//! A stopped run removes it while it unwinds. A process that cannot wait for that calls [`give_up`].

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

/// Something that is being written, for as long as this value lives.
pub(crate) struct UnfinishedWrite(PathBuf);

impl UnfinishedWrite {
    /// Creates something to write to. [`give_up`] cannot run between its creation and its registration here.
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

/// Puts things in their places. [`give_up`] cannot run meanwhile, and refuses after the first success.
pub(crate) fn place<T, E>(put: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    let mut pending = pending();
    let put = put();
    pending.has_placed |= put.is_ok();
    put
}

/// Another name that is also ours, so that the next run removes it if this process ends too soon.
pub(crate) fn aside(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    let (start, last) = name.split_at_checked(name.len().checked_sub(1)?)?;
    Some(path.with_file_name(format!("{start}{}", if last == "x" { "y" } else { "x" })))
}

/// Removes everything that this process has begun to write. If something is in its place already, it changes nothing
/// and returns `false`.
///
/// After `true` nothing can be written any more: threads that try wait for the end of the process, which must come
/// next.
pub fn give_up() -> bool {
    let pending = pending();
    if pending.has_placed {
        return false;
    }
    for path in &pending.paths {
        // A thread may be creating one file after another in the folder: once renamed, the folder is gone for that
        // thread.
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
