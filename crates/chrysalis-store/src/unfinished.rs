//! What this process is writing and has not put in its place.
//!
//! A run that is stopped unwinds and removes it on the way. A process that cannot wait for that asks for the removal itself.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

static HELD: Mutex<Held> = Mutex::new(Held { paths: Vec::new(), has_placed: false });

struct Held {
    paths: Vec<PathBuf>,
    /// Whether anything was put in its place yet.
    has_placed: bool,
}

fn held() -> MutexGuard<'static, Held> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One thing that is being written, for as long as it is.
pub(crate) struct Unfinished(PathBuf);

impl Unfinished {
    /// Creates something to write to. Nobody gives up between its creation and its being known here.
    pub(crate) fn create<T>(
        create: impl FnOnce() -> io::Result<T>,
        path: impl FnOnce(&T) -> &Path,
    ) -> io::Result<(T, Unfinished)> {
        let mut held = held();
        let created = create()?;
        let path = path(&created).to_owned();
        held.paths.push(path.clone());
        Ok((created, Unfinished(path)))
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        held().paths.retain(|path| *path != self.0);
    }
}

/// Puts things in their places. Nobody gives up meanwhile, and after the first success nobody can.
pub(crate) fn place<T, E>(put: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    let mut held = held();
    let put = put();
    held.has_placed |= put.is_ok();
    put
}

/// Removes all that this process has begun to write, unless some of what it writes is in its place already, in which case it
/// changes nothing and says `false`.
///
/// After `true` nothing can be written any more: threads that try wait for the end of the process, which must come next.
pub fn give_up() -> bool {
    let held = held();
    if held.has_placed {
        return false;
    }
    for path in &held.paths {
        // Somebody may be about to create one more file in the folder; after that the folder is gone for them too.
        for _ in 0..10 {
            let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
            if removed.is_ok() || !path.exists() {
                break;
            }
        }
    }
    std::mem::forget(held);
    true
}
