//! Releases that were made here.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chrysalis::store::read_release_within;
use chrysalis::{Analyst, Draft, Error, Memory, Release, Remedy};

use crate::tables::Loaded;
use crate::zip::zip;

/// A release, and what goes with it.
pub(crate) struct Made {
    /// What it is called.
    pub(crate) name: String,
    pub(crate) analyst: Analyst,
    /// The table it was made from, and the choices.
    pub(crate) loaded: Arc<Loaded>,
    pub(crate) draft: Draft,
    /// What the page was told: a reload of it asks again.
    pub(crate) told: serde_json::Value,
    pub(crate) certificate: String,
    pub(crate) recipe: String,
    pub(crate) folder: Folder,
}

/// Where a release is.
pub(crate) enum Folder {
    /// Where its owner wanted it.
    Named(PathBuf),
    /// In a folder that only this user can read, until it is downloaded; it goes with the studio.
    Temporary(tempfile::TempDir),
}

/// The name of a release inside a download.
pub(crate) const RELEASE: &str = "release";

impl Folder {
    /// The folder with the release.
    pub(crate) fn path(&self) -> PathBuf {
        match self {
            Folder::Named(path) => path.clone(),
            Folder::Temporary(folder) => folder.path().join(RELEASE),
        }
    }
}

impl Made {
    /// The release, read again: for attacks with others.
    pub(crate) fn read(&self) -> Result<Release, Error> {
        Ok(read_release_within(&self.folder.path(), Memory::default())?)
    }

    /// The release and its certificate in one file, which can be handed out. LEAK: the recipe is the owner's. It names
    /// the owner's files, and lists values of the table that the release may not show.
    pub(crate) fn archive(&self) -> Result<Vec<u8>, Error> {
        let mut files = files_of(&self.folder.path())?;
        files.push(("certificate.html".to_owned(), self.certificate.clone().into_bytes()));
        zip(&files)
    }
}

/// A release from elsewhere that is being received, file after file.
pub(crate) struct Received {
    folder: tempfile::TempDir,
    /// Held while a file is received: files that arrive at once are received one after the other, so that together they
    /// keep the limit, and none of them is written by two requests.
    turn: tokio::sync::Mutex<()>,
}

impl Received {
    pub(crate) fn new(folder: tempfile::TempDir) -> Self {
        Received { folder, turn: tokio::sync::Mutex::default() }
    }

    /// Waits until no other file of it is being received.
    pub(crate) async fn turn(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.turn.lock().await
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The bytes that were received already; a file of this name would be replaced.
    pub(crate) fn held(&self, name: &str) -> io::Result<u64> {
        let mut held = 0;
        for entry in fs::read_dir(self.path())? {
            let entry = entry?;
            held += if entry.file_name() == name { 0 } else { entry.metadata()?.len() };
        }
        Ok(held)
    }
}

/// The files of a release, in the order of their names.
fn files_of(folder: &Path) -> Result<Vec<(String, Vec<u8>)>, Error> {
    let unreadable = |error: std::io::Error| {
        let remedy = Remedy::from("publish it again");
        Error::request(format!("cannot read the release that was made: {error}"), remedy)
    };
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        names.push(entry.map_err(unreadable)?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    let read = |name: &String| Ok((format!("{RELEASE}/{name}"), fs::read(folder.join(name)).map_err(unreadable)?));
    names.iter().map(read).collect()
}
