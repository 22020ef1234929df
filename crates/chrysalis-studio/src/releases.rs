//! Releases that were made here.

use std::fs;
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
    /// Columns, and what else the page wants to know for questions.
    pub(crate) about: serde_json::Value,
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

    /// The release, its certificate and its recipe in one file.
    pub(crate) fn archive(&self) -> Result<Vec<u8>, Error> {
        let mut files = files_of(&self.folder.path())?;
        files.push(("certificate.html".to_owned(), self.certificate.clone().into_bytes()));
        files.push(("chrysalis.toml".to_owned(), self.recipe.clone().into_bytes()));
        zip(&files)
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
