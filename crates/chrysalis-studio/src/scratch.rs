//! Temporary folders, all of them in one that is gone when the studio has ended, whoever still looks at them.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use std::{fs, io, thread};

use tempfile::TempDir;

/// Where releases wait to be downloaded, and where those from elsewhere are received.
#[derive(Default)]
pub(crate) struct Scratch(Mutex<State>);

#[derive(Default)]
enum State {
    /// Nobody needed a folder yet.
    #[default]
    Unused,
    Open(TempDir),
    /// The studio has ended.
    Closed,
}

impl Scratch {
    /// A new folder that only this user can read.
    pub(crate) fn folder(&self) -> io::Result<TempDir> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(*state, State::Unused) {
            *state = State::Open(private().prefix("chrysalis-studio-").tempdir()?);
        }
        match &*state {
            State::Open(all) => private().tempdir_in(all.path()),
            State::Unused | State::Closed => Err(io::Error::other("the studio has ended")),
        }
    }

    /// Removes everything, and gives no folder any more. A thread may be reading there, or writing one more file.
    pub(crate) fn close(&self) {
        let state = std::mem::replace(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner), State::Closed);
        let State::Open(all) = state else { return };
        let path: PathBuf = all.keep();
        for _ in 0..50 {
            let removed = fs::remove_dir_all(&path);
            if removed.is_ok() || !path.exists() {
                break;
            }
            thread::sleep(Duration::from_millis(20));
        }
    }
}

/// What makes folders that only this user may look into: by default anybody may.
fn private() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.permissions(fs::Permissions::from_mode(0o700));
    builder
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_gone_at_the_end_though_somebody_holds_it() {
        let scratch = Scratch::default();
        let (one, other) = (scratch.folder().unwrap(), scratch.folder().unwrap());
        fs::write(one.path().join("a"), "b").unwrap();
        let all = one.path().parent().unwrap().to_owned();
        assert_eq!(other.path().parent(), Some(all.as_path()));
        for folder in [&*all, one.path()] {
            assert_eq!(fs::metadata(folder).unwrap().permissions().mode() & 0o777, 0o700);
        }
        scratch.close();
        assert!(!all.exists() && scratch.folder().is_err());
    }
}
