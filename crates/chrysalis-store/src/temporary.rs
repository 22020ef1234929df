//! Temporary folders and files, and whose they are.
//!
//! A writer holds a lock for as long as its temporary folder or file exists, and the system releases the lock when the process
//! ends, however that happens. So anything that has a name of ours and no lock was left behind by a run that was killed, and
//! the next run removes it.
//!
//! The lock of a folder is that of a file in it, because some file systems (NFS) lock no folders. The file's name says on which
//! machine it was made: a lock may not reach other machines, so what another machine left is left to it. None of this is in a
//! release: a folder that is to be put in its place stands inside the temporary one.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

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
///
/// LEAK: what is in it is unfinished, and perhaps not to be published at all: nobody but its owner may look into it (mode 700).
pub(crate) struct TemporaryFolder {
    /// The temporary folder. It is locked until it is gone.
    outer: PathBuf,
    /// What is written to: the folder itself, or one inside it that has the mode of a finished one.
    inner: PathBuf,
    _lock: File,
    _unfinished: UnfinishedWrite,
}

impl TemporaryFolder {
    /// Creates one in the given folder, for something that others may look into once it is in its place.
    pub(crate) fn create_in(parent: &Path) -> io::Result<Self> {
        let mut folder = TemporaryFolder::private_in(parent)?;
        let inner = folder.outer.join(INSIDE);
        DirBuilder::new().mode(0o755).create(&inner)?;
        folder.inner = inner;
        Ok(folder)
    }

    /// Creates one in the given folder, for something that stays its owner's own.
    pub(crate) fn private_in(parent: &Path) -> io::Result<Self> {
        for _ in 0..TRIES {
            let made = || builder(0o700).tempdir_in(parent);
            let (folder, unfinished) = UnfinishedWrite::create(made, TempDir::path)?;
            if let Some(lock) = own_folder(folder.path(), &host())? {
                let outer = folder.keep();
                return Ok(TemporaryFolder { inner: outer.clone(), outer, _lock: lock, _unfinished: unfinished });
            }
        }
        Err(io::ErrorKind::ResourceBusy.into())
    }

    pub(crate) fn path(&self) -> &Path {
        &self.inner
    }

    /// Writes the folder's own entries to disk.
    pub(crate) fn sync(&self) -> io::Result<()> {
        File::open(&self.inner)?.sync_all()
    }

    /// One rename. With `replace` the two folders trade places, and the old one is removed under the temporary name.
    pub(crate) fn put_in_place(self, place: &Path, replace: bool) -> io::Result<()> {
        unfinished::place(|| renamed(&self.inner, &self.outer.join(ASIDE), place, replace))
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        remove_folder(&self.outer);
    }
}

/// The folder inside a temporary one that is to be put in its place, and the one that it replaces.
const INSIDE: &str = "whole";
const ASIDE: &str = "old";
/// What the name of the file begins with whose lock is a folder's. The name of the machine follows.
const LOCK: &str = "lock-";
/// How often a folder is removed that somebody still writes to, and how long it takes to give up on it.
const REMOVALS: u32 = 20;
const PATIENCE: Duration = Duration::from_millis(1_000);

/// Removes a folder that others may still be writing to: under another name they do not find it.
fn remove_folder(path: &Path) {
    let aside = unfinished::aside(path).filter(|aside| fs::rename(path, aside).is_ok());
    let path = aside.as_deref().unwrap_or(path);
    for _ in 0..REMOVALS {
        match fs::remove_dir_all(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => std::thread::sleep(PATIENCE / REMOVALS),
            _ => return,
        }
    }
}

/// The name of this machine, as part of a file's name.
fn host() -> String {
    let told = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let plain = told.trim().chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' });
    plain.take(100).collect()
}

/// Locks a folder that is new, or was found without a lock. `None` if somebody else was faster.
fn own_folder(folder: &Path, host: &str) -> io::Result<Option<File>> {
    let path = folder.join(format!("{LOCK}{host}"));
    let made = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path);
    let lock = match made {
        Ok(lock) => lock,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::AlreadyExists) => {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    if !own(&lock, &path)? {
        return Ok(None);
    }
    if locks(folder)?.len() > 1 {
        // Another machine was faster, and its folder is to have its lock alone.
        fs::remove_file(&path)?;
        return Ok(None);
    }
    Ok(Some(lock))
}

/// The names of machines whose locks are in a folder.
fn locks(folder: &Path) -> io::Result<Vec<String>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        found.extend(name.to_str().and_then(|name| name.strip_prefix(LOCK)).map(str::to_owned));
    }
    Ok(found)
}

/// Renames a folder; another one that is at the place comes aside.
fn renamed(from: &Path, aside: &Path, place: &Path, replace: bool) -> io::Result<()> {
    let is_exchange = replace && place.exists();
    let flags = if is_exchange { RenameFlags::EXCHANGE } else { RenameFlags::NOREPLACE };
    match renameat_with(CWD, from, CWD, place, flags) {
        Err(Errno::INVAL | Errno::NOSYS) => without_flags(from, aside, place, replace),
        done => Ok(done?),
    }
}

/// For file systems without these flags: the old folder is moved aside, then the new one takes its place; if that
/// fails, the old one is moved back.
fn without_flags(from: &Path, aside: &Path, place: &Path, replace: bool) -> io::Result<()> {
    if !place.exists() {
        return fs::rename(from, place);
    }
    if !replace {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    fs::rename(place, aside)?;
    fs::rename(from, place).or_else(|error| fs::rename(aside, place).and(Err(error)))
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
    let found = fs::symlink_metadata(path)?;
    if found.is_dir() {
        return remove_folder_if_abandoned(path, &host());
    }
    let handle = opened(path)?;
    flock(&handle, FlockOperation::NonBlockingLockExclusive)?;
    // The name may have passed to something else before the lock was ours: it may even belong to a release by now.
    if leads_to(path, &handle)? && handle.metadata()?.is_file() {
        return fs::remove_file(path);
    }
    Ok(())
}

fn remove_folder_if_abandoned(path: &Path, host: &str) -> io::Result<()> {
    let lock = match locks(path)?.as_slice() {
        // Its maker was killed before it was locked, or is about to lock it and will find that it is ours.
        [] => own_folder(path, host)?,
        [one] if one == host => {
            let lock = path.join(format!("{LOCK}{host}"));
            let handle = opened(&lock)?;
            flock(&handle, FlockOperation::NonBlockingLockExclusive)?;
            leads_to(&lock, &handle)?.then_some(handle)
        }
        _ => None,
    };
    if lock.is_some() {
        remove_folder(path);
    }
    Ok(())
}

/// For writing, because NFS locks nothing else.
fn opened(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(File::from(open(path, flags, Mode::empty())?))
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
        let elsewhere = at(".chrysalis-Remote");
        fs::create_dir(&elsewhere).unwrap();
        fs::write(elsewhere.join("lock-another-machine"), "").unwrap();
        let lock = at(".chrysalis-Locked").join(format!("lock-{}", host()));
        let held = [lock, at(".chrysalis-locke2")].map(|path| {
            let handle = File::create(path).unwrap();
            flock(&handle, FlockOperation::LockExclusive).unwrap();
            handle
        });
        remove_abandoned(folder.path());
        assert!(elsewhere.is_dir(), "what another machine made is its own");
        fs::remove_dir_all(elsewhere).unwrap();
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
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(temporary.path().parent().unwrap()), 0o700, "nobody looks into what is unfinished");
        temporary.put_in_place(&folder.path().join("place"), false).unwrap();
        assert_eq!(names(folder.path()), ["place"]);
        assert_eq!(names(&folder.path().join("place")), [] as [String; 0], "no lock is in what is finished");
        fs::create_dir(folder.path().join("plain")).unwrap();
        assert_eq!(mode(&folder.path().join("place")) & 0o700, mode(&folder.path().join("plain")) & 0o700);
        assert!(mode(&folder.path().join("place")) & 0o022 == 0);
    }

    /// A task that was stopped may write for a while; what it writes to is gone all the same.
    #[test]
    fn a_folder_that_somebody_writes_to_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let temporary = TemporaryFolder::private_in(folder.path()).unwrap();
        let (place, is_over) = (temporary.path().to_owned(), AtomicBool::new(false));
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut at = 0;
                while !is_over.load(Ordering::Relaxed) {
                    at += 1;
                    let _ = fs::write(place.join(format!("cell-{at}")), "rows");
                }
            });
            thread::sleep(Duration::from_millis(20));
            drop(temporary);
            assert_eq!(names(folder.path()), [] as [String; 0]);
            is_over.store(true, Ordering::Relaxed);
        });
        assert_eq!(names(folder.path()), [] as [String; 0]);
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
        let aside = at("aside");
        let without_flags = |from: &Path, place: &Path, replace| without_flags(from, &aside, place, replace);
        fs::create_dir(at("place")).unwrap();
        fs::write(at("place").join("old"), "old").unwrap();
        assert_eq!(without_flags(&at("absent"), &at("place"), true).unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(names(&at("place")), ["old"], "it came back");
        fs::create_dir(at("new")).unwrap();
        fs::write(at("new").join("new"), "new").unwrap();
        assert_eq!(without_flags(&at("new"), &at("place"), false).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        without_flags(&at("new"), &at("place"), true).unwrap();
        assert_eq!(names(&at("place")), ["new"]);
        assert_eq!(names(folder.path()), ["aside", "place"]);
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
