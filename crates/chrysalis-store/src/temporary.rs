//! Temporary folders and files, and whose they are.
//!
//! A writer holds a lock on its temporary folder or file for as long as that exists, and the system releases the lock
//! when the process ends, however that happens. So anything that has a name of ours and no lock was left behind by a
//! run that was killed, and the next run removes it.

use std::ffi::OsStr;
use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FlockOperation, Mode, OFlags, RenameFlags, flock, open, renameat_with};
use rustix::io::Errno;
use tempfile::{Builder, NamedTempFile, TempDir};

use crate::unfinished::{self, UnfinishedWrite};

const PREFIX: &str = ".chrysalis-";
/// Random letters and digits after the prefix.
const N_RANDOM: usize = 6;
/// How often a name may be taken away before that is no accident.
const TRIES: usize = 100;

/// The folder that contains a path.
pub(crate) fn parent_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// A folder that is removed with its contents, unless it is put in its place.
pub(crate) struct TemporaryFolder {
    // Dropped first, so that it is locked until it is gone.
    folder: TempDir,
    lock: File,
    _unfinished: UnfinishedWrite,
}

impl TemporaryFolder {
    /// Creates one in the given folder.
    pub(crate) fn create_in(parent: &Path) -> io::Result<Self> {
        TemporaryFolder::create_for(parent, 0o755)
    }

    /// The same for those whom `mode` allows to look into it.
    pub(crate) fn create_for(parent: &Path, mode: u32) -> io::Result<Self> {
        for _ in 0..TRIES {
            let (folder, unfinished) = UnfinishedWrite::create(|| builder(mode).tempdir_in(parent), TempDir::path)?;
            let lock = match File::open(folder.path()) {
                Ok(lock) => lock,
                // The cleanup of another run found it before it was locked.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            if own(&lock, folder.path())? {
                return Ok(TemporaryFolder { folder, lock, _unfinished: unfinished });
            }
        }
        Err(io::ErrorKind::ResourceBusy.into())
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes the folder's own entries to disk.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.lock.sync_all()
    }

    /// One rename. With `replace` the two folders trade places, and the old one is removed under the temporary name.
    pub(crate) fn put_in_place(mut self, place: &Path, replace: bool) -> io::Result<()> {
        let has_exchanged = unfinished::place(|| renamed(self.path(), place, replace))?;
        // Otherwise the temporary name is free now, and whatever takes it next is not ours to remove.
        self.folder.disable_cleanup(!has_exchanged);
        Ok(())
    }
}

/// Renames a folder; says whether the two have traded places.
fn renamed(from: &Path, place: &Path, replace: bool) -> io::Result<bool> {
    let is_exchange = replace && place.exists();
    let flags = if is_exchange { RenameFlags::EXCHANGE } else { RenameFlags::NOREPLACE };
    match renameat_with(CWD, from, CWD, place, flags) {
        Err(Errno::INVAL | Errno::NOSYS) => without_flags(from, place, replace).map(|()| false),
        done => Ok(done.map(|()| is_exchange)?),
    }
}

/// For file systems without these flags: the old folder is moved aside, then the new one takes its place; if that
/// fails, the old one is moved back.
fn without_flags(from: &Path, place: &Path, replace: bool) -> io::Result<()> {
    if !place.exists() {
        return fs::rename(from, place);
    }
    if !replace {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    let aside = builder(0o755).tempdir_in(parent_of(place))?;
    let old = aside.path().join("old");
    fs::rename(place, &old)?;
    fs::rename(from, place).or_else(|error| fs::rename(&old, place).and(Err(error)))
}

/// A file that is removed unless it is put in its place.
pub(crate) struct TemporaryFile {
    pub(crate) file: NamedTempFile,
    pub(crate) unfinished: UnfinishedWrite,
}

impl TemporaryFile {
    /// Creates one in the given folder, for those whom `mode` allows to read it.
    pub(crate) fn create_in(parent: &Path, mode: u32) -> io::Result<Self> {
        for _ in 0..TRIES {
            let (file, unfinished) =
                UnfinishedWrite::create(|| builder(mode).tempfile_in(parent), NamedTempFile::path)?;
            if own(file.as_file(), file.path())? {
                return Ok(TemporaryFile { file, unfinished });
            }
        }
        Err(io::ErrorKind::ResourceBusy.into())
    }
}

fn builder(mode: u32) -> Builder<'static, 'static> {
    let mut builder = Builder::new();
    builder.prefix(PREFIX).rand_bytes(N_RANDOM).permissions(Permissions::from_mode(mode));
    builder
}

/// Removes what killed runs have left in a folder. Anything that cannot be removed stays: it is in nobody's way.
pub(crate) fn remove_abandoned(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten().filter(|entry| is_our_name(&entry.file_name())) {
        // A folder that vanishes meanwhile, or that belongs to another user, is no reason not to write.
        let _ = remove_if_abandoned(&entry.path());
    }
}

/// Exactly the names that we give: `.chrysalis-notes.txt` is the user's own.
pub(crate) fn is_our_name(name: &OsStr) -> bool {
    let random = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
    random.is_some_and(|random| random.len() == N_RANDOM && random.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

fn remove_if_abandoned(path: &Path) -> io::Result<()> {
    // Neither a link, which could lead anywhere, nor a pipe, which could keep us waiting.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let handle = File::from(open(path, flags, Mode::empty())?);
    let metadata = handle.metadata()?;
    flock(&handle, FlockOperation::NonBlockingLockExclusive)?;
    // The name may have passed to something else before the lock was ours: it may even belong to a release by now.
    if !leads_to(path, &handle)? {
        return Ok(());
    }
    if metadata.is_dir() {
        fs::remove_dir_all(path)
    } else if metadata.is_file() {
        fs::remove_file(path)
    } else {
        Ok(())
    }
}

/// Locks what was just created. `false` if the cleanup of another run was faster.
fn own(handle: &File, path: &Path) -> io::Result<bool> {
    match flock(handle, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => leads_to(path, handle),
        Err(Errno::WOULDBLOCK) => Ok(false),
        // On a file system without locks nobody can take it for abandoned.
        Err(_) => Ok(true),
    }
}

/// Whether a path still leads to what was opened.
fn leads_to(path: &Path, handle: &File) -> io::Result<bool> {
    let opened = handle.metadata()?;
    match fs::symlink_metadata(path) {
        Ok(found) => Ok((found.dev(), found.ino()) == (opened.dev(), opened.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    #[test]
    fn what_nobody_holds_is_removed_and_everything_else_stays() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in [".chrysalis-Stale1", ".chrysalis-Locked", ".chrysalis-longer7", "release"] {
            fs::create_dir(at(name)).unwrap();
            fs::write(at(name).join("generalized.parquet"), "half").unwrap();
        }
        for name in [".chrysalis-stale2", ".chrysalis-locke2", ".chrysalis-a.html", "chrysalis-abcdef"] {
            fs::write(at(name), "half").unwrap();
        }
        std::os::unix::fs::symlink(at("release"), at(".chrysalis-linked")).unwrap();
        let held = [".chrysalis-Locked", ".chrysalis-locke2"].map(|name| {
            let handle = File::open(at(name)).unwrap();
            flock(&handle, FlockOperation::LockExclusive).unwrap();
            handle
        });
        remove_abandoned(folder.path());
        let others = [".chrysalis-a.html", ".chrysalis-linked", ".chrysalis-longer7", "chrysalis-abcdef", "release"];
        let mut left = names(folder.path());
        left.retain(|name| !others.contains(&name.as_str()));
        assert_eq!(left, [".chrysalis-Locked", ".chrysalis-locke2"]);
        assert_eq!(names(&at("release")), ["generalized.parquet"]);
        drop(held);
        remove_abandoned(folder.path());
        assert_eq!(names(folder.path()), others);
    }

    #[test]
    fn temporary_things_are_locked_while_they_exist_and_leave_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let temporary = TemporaryFolder::create_in(folder.path()).unwrap();
        let TemporaryFile { file, .. } = TemporaryFile::create_in(folder.path(), 0o644).unwrap();
        assert!(names(folder.path()).iter().all(|name| is_our_name(OsStr::new(name))));
        remove_abandoned(folder.path());
        assert!(temporary.path().is_dir() && file.path().is_file());
        drop(file);
        temporary.put_in_place(&folder.path().join("place"), false).unwrap();
        assert_eq!(names(folder.path()), ["place"]);
    }

    #[test]
    fn a_folder_takes_an_empty_place_or_changes_places() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("place");
        let put = |text: &str, replace| {
            let temporary = TemporaryFolder::create_in(folder.path()).unwrap();
            fs::write(temporary.path().join(text), text).unwrap();
            temporary.put_in_place(&place, replace)
        };
        put("one", false).unwrap();
        assert_eq!(put("two", false).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(names(&place), ["one"]);
        put("three", true).unwrap();
        assert_eq!(names(&place), ["three"]);
        assert_eq!(names(folder.path()), ["place"]);
    }

    #[test]
    fn without_exchange_the_old_folder_steps_aside() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("place")).unwrap();
        fs::write(at("place").join("old"), "old").unwrap();
        assert_eq!(without_flags(&at("absent"), &at("place"), true).unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(names(&at("place")), ["old"], "it came back");
        fs::create_dir(at("new")).unwrap();
        fs::write(at("new").join("new"), "new").unwrap();
        assert_eq!(without_flags(&at("new"), &at("place"), false).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        without_flags(&at("new"), &at("place"), true).unwrap();
        assert_eq!(names(&at("place")), ["new"]);
        assert_eq!(names(folder.path()), ["place"]);
    }

    /// Many writers, and a cleanup that runs all the time: every writer keeps what it wrote.
    #[test]
    fn writers_and_whoever_clears_away_do_not_meet() {
        let folder = tempfile::tempdir().unwrap();
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while !is_over.load(Ordering::Relaxed) {
                        remove_abandoned(folder.path());
                    }
                });
            }
            let writer = |writer: usize| {
                for round in 0..200 {
                    remove_abandoned(folder.path());
                    let temporary = TemporaryFolder::create_in(folder.path()).unwrap();
                    fs::write(temporary.path().join("a"), "a").unwrap();
                    let TemporaryFile { file, .. } = TemporaryFile::create_in(folder.path(), 0o644).unwrap();
                    thread::yield_now();
                    assert!(temporary.path().join("a").is_file() && file.path().is_file());
                    let place = folder.path().join(format!("{writer}-{round}"));
                    temporary.put_in_place(&place, false).unwrap();
                    file.persist_noclobber(place.join("b")).unwrap();
                }
            };
            let writers: Vec<_> = (0..4).map(|n| scope.spawn(move || writer(n))).collect();
            let ended: Vec<_> = writers.into_iter().map(thread::ScopedJoinHandle::join).collect();
            is_over.store(true, Ordering::Relaxed);
            assert!(ended.iter().all(Result::is_ok));
        });
        assert_eq!(names(folder.path()).len(), 800);
        assert!(names(folder.path()).iter().all(|name| names(&folder.path().join(name)) == ["a", "b"]));
    }
}
