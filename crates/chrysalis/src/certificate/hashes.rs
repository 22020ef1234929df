//! The files that a certificate is about.

use std::fs;
use std::path::Path;

use chrysalis_release::Manifest;
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::Error;

/// A file of a release.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FileHash {
    /// Its name.
    pub file: String,
    /// SHA-256 of its bytes, in hexadecimal.
    pub sha256: String,
}

/// The manifest's file.
const MANIFEST: &str = "release.json";

/// Every file: those of the tables have the hashes that were compared when they were read; the manifest's is taken here.
pub(super) fn of(manifest: &Manifest, folder: Option<&Path>) -> Result<Vec<FileHash>, Error> {
    let mut files = Vec::new();
    if let Some(folder) = folder {
        let path = folder.join(MANIFEST);
        let unreadable = |problem: &dyn std::fmt::Display| {
            Error::request(format!("cannot read {} again: {problem}", path.display()), "audit the release once more")
        };
        let bytes = fs::read(&path).map_err(|error| unreadable(&error))?;
        // A certificate must not be about another manifest than the one that was judged.
        if Manifest::parse(&bytes).ok().as_ref() != Some(manifest) {
            return Err(unreadable(&"it changed during the audit"));
        }
        let sha256 = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        files.push(FileHash { file: MANIFEST.to_owned(), sha256 });
    }
    let parts = manifest.tables.iter().flat_map(|table| &table.parts);
    files.extend(parts.map(|part| FileHash { file: part.file.clone(), sha256: part.sha256.to_lowercase() }));
    Ok(files)
}
