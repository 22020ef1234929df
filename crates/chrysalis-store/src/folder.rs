//! A release as a folder: written beside its place, synced, then renamed.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use chrysalis_release::{ENCODING, Manifest, PartEntry, Release, VERSION};
use chrysalis_table::{Memory, Progress, Table};
use sha2::{Digest, Sha256};

use crate::temporary::{TemporaryFolder, parent_of, remove_abandoned};
use crate::{StoreError, csv_out, parquet_out, read_manifest_within};

/// The file that makes a folder a release.
pub const MANIFEST: &str = "release.json";

/// Memory that reading the manifest of a release may take if the release is to be replaced.
const OWN_MANIFEST: u64 = 8_000_000_000;

/// How tables are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Format {
    /// Parquet.
    #[default]
    Parquet,
    /// CSV.
    Csv,
}

impl Format {
    /// The format that a file's name says, by its extension.
    pub fn of_file(path: &Path) -> Option<Format> {
        let extension = path.extension()?.to_str()?;
        [Format::Parquet, Format::Csv].into_iter().find(|format| extension.eq_ignore_ascii_case(format.extension()))
    }

    fn extension(self) -> &'static str {
        match self {
            Format::Parquet => "parquet",
            Format::Csv => "csv",
        }
    }

    /// The name of a table's file, or of one of its files, which are numbered from 1.
    pub(crate) fn file_of(self, table: &str, part: Option<usize>) -> String {
        let part = part.map_or_else(String::new, |part| format!("-{part}"));
        format!("{table}{part}.{}", self.extension())
    }
}

/// Writes a release to a folder that must not exist yet, unless `force` replaces the release that is there, and reports
/// how many rows of all its tables are done.
///
/// Whatever happens on the way, a stop included, the folder is either the whole new release or what it was before.
pub fn write_release(
    release: &Release,
    out: &Path,
    format: Format,
    force: bool,
    progress: Progress<'_>,
) -> Result<Manifest, StoreError> {
    write_release_once(release, out, format, force, progress, &|_| Ok(()))
}

/// The same, but first carries out `before`, with the SHA-256 of the manifest, as the last step before the release is
/// there: where it fails, there is no release.
pub fn write_release_once(
    release: &Release,
    out: &Path,
    format: Format,
    force: bool,
    progress: Progress<'_>,
    before: &dyn Fn(&str) -> Result<(), StoreError>,
) -> Result<Manifest, StoreError> {
    let folder = ReleaseFolder::begin(out, format, force)?;
    let mut manifest = release.manifest.clone();
    for (entry, table) in manifest.tables.iter_mut().zip(&release.tables) {
        entry.parts = vec![folder.write_part(&entry.name, None, table, progress)?];
    }
    folder.finish(manifest, progress, before)
}

/// A release that is being written: its files stand beside its place until all of them are there. Dropped, and so
/// removed, on every early return and on unwinding.
pub struct ReleaseFolder {
    beside: TemporaryFolder,
    out: PathBuf,
    format: Format,
    force: bool,
}

impl ReleaseFolder {
    /// Begins a release, and clears away what killed runs left behind.
    pub fn begin(out: &Path, format: Format, force: bool) -> Result<Self, StoreError> {
        check_place(out, force)?;
        let parent = parent_of(out);
        if !parent.is_dir() {
            let source = io::Error::new(io::ErrorKind::NotFound, "there is no such folder");
            return Err(StoreError::Io { action: "write to", path: parent, source });
        }
        remove_abandoned(&parent);
        let beside = TemporaryFolder::create_in(&parent)
            // The error's own text names the temporary folder, which is nobody's business.
            .map_err(|error| failed("write to", out)(error.kind().into()))?;
        Ok(ReleaseFolder { beside, out: out.to_owned(), format, force })
    }

    /// Where its files are until it is finished. Nobody but its owner can look into the folder that it is in.
    pub fn path(&self) -> &Path {
        self.beside.path()
    }

    /// Writes a table, or one of its parts, which are numbered from 1, and reports how many rows are done.
    pub fn write_part(
        &self,
        table_name: &str,
        part: Option<usize>,
        table: &Table,
        progress: Progress<'_>,
    ) -> Result<PartEntry, StoreError> {
        let entry = write_part(self.path(), table_name, part, table, self.format, progress);
        let entry = entry.map_err(failed("write to", &self.out))?;
        progress(0);
        Ok(entry)
    }

    /// Writes the manifest, carries out `before` with its SHA-256, and puts the release in its place.
    pub fn finish(
        self,
        manifest: Manifest,
        progress: Progress<'_>,
        before: &dyn Fn(&str) -> Result<(), StoreError>,
    ) -> Result<Manifest, StoreError> {
        let ReleaseFolder { beside, out, force, .. } = self;
        let manifest = Manifest { version: VERSION, encoding: ENCODING, ..manifest };
        let json =
            manifest.to_json().map_err(|error| StoreError::Release { path: out.display().to_string(), error })?;
        write_synced(&beside.path().join(MANIFEST), json.as_bytes()).map_err(failed("write to", &out))?;
        beside.sync().map_err(failed("write to", &out))?;
        // The last place to stop: from here on the release is there.
        progress(0);
        // Something may have been put there meanwhile.
        check_place(&out, force)?;
        before(&hex(&Sha256::digest(json.as_bytes())))?;
        beside.put_in_place(&out, force).map_err(|source| match source.kind() {
            io::ErrorKind::AlreadyExists => StoreError::Exists { path: out.clone() },
            _ => StoreError::Io { action: "write to", path: out.clone(), source },
        })?;
        let parent = parent_of(&out);
        sync_folder(&parent).map_err(failed("sync", &parent))?;
        Ok(manifest)
    }
}

/// Writes a table, or one of its parts, into a folder: in a cluster, whoever has the rows of a part writes it.
pub fn write_part(
    folder: &Path,
    table_name: &str,
    part: Option<usize>,
    table: &Table,
    format: Format,
    progress: Progress<'_>,
) -> io::Result<PartEntry> {
    let file = format.file_of(table_name, part);
    let sha256 = write_table(table, &folder.join(&file), format, progress)?;
    Ok(PartEntry { file, rows: table.rows() as u64, sha256 })
}

fn failed<'a>(action: &'static str, path: &'a Path) -> impl Fn(io::Error) -> StoreError + use<'a> {
    move |source| StoreError::Io { action, path: path.to_owned(), source }
}

/// Refuses early, before hours of work, what [`write_release`] would refuse at the end.
pub fn check_place(out: &Path, force: bool) -> Result<(), StoreError> {
    if fs::symlink_metadata(out).is_err() {
        return Ok(());
    }
    if !force {
        return Err(StoreError::Exists { path: out.to_owned() });
    }
    if !out.is_symlink() && holds_only_a_release(out) {
        Ok(())
    } else {
        Err(StoreError::NotARelease { path: out.to_owned() })
    }
}

/// Whether a folder holds nothing but a release, or nothing at all: we never replace a file that we did not write.
fn holds_only_a_release(folder: &Path) -> bool {
    let Ok(entries) = fs::read_dir(folder) else { return false };
    let names: Vec<_> = entries.map(|entry| entry.map(|entry| entry.file_name())).collect();
    if names.is_empty() {
        return true;
    }
    // The release is the owner's own, and its manifest may be larger than one from elsewhere.
    let Ok(manifest) = read_manifest_within(folder, Memory::of(OWN_MANIFEST)) else { return false };
    names.into_iter().all(|name| {
        let name = name.ok().and_then(|name| name.into_string().ok());
        name.is_some_and(|name| name == MANIFEST || manifest.files().any(|file| file == name))
    })
}

/// What a release's folder holds besides its manifest and the files that the manifest names, sorted; folders end with a
/// slash.
pub fn stray_files(folder: &Path, manifest: &Manifest) -> Result<Vec<String>, StoreError> {
    let io_error = |source| StoreError::Io { action: "read", path: folder.to_owned(), source };
    let mut strays = Vec::new();
    for entry in fs::read_dir(folder).map_err(io_error)? {
        let entry = entry.map_err(io_error)?;
        let name = entry.file_name();
        if name != MANIFEST && manifest.files().all(|file| name != file) {
            let is_folder = entry.file_type().map_err(io_error)?.is_dir();
            strays.push(format!("{}{}", name.to_string_lossy(), if is_folder { "/" } else { "" }));
        }
    }
    strays.sort_unstable();
    Ok(strays)
}

fn write_table(table: &Table, path: &Path, format: Format, progress: Progress<'_>) -> io::Result<String> {
    let mut out = HashingWriter { file: File::create_new(path)?, hash: Sha256::new() };
    write_bytes(table, &mut out, format, progress)?;
    out.file.sync_all()?;
    Ok(hex(&out.hash.finalize()))
}

/// Writes the bytes of a table, wherever they go.
pub(crate) fn write_bytes(
    table: &Table,
    out: impl Write + Send,
    format: Format,
    progress: Progress<'_>,
) -> io::Result<()> {
    match format {
        Format::Parquet => parquet_out::write(table, out, progress).map_err(|error| match error {
            parquet::errors::ParquetError::External(error) => match error.downcast::<io::Error>() {
                Ok(error) => *error,
                Err(error) => io::Error::other(error),
            },
            error => io::Error::other(error),
        }),
        Format::Csv => csv_out::write(table, out, progress),
    }
}

fn write_synced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create_new(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// Hashes what it writes.
pub(crate) struct HashingWriter<W> {
    pub(crate) file: W,
    pub(crate) hash: Sha256,
}

impl<W: Write> Write for HashingWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = self.file.write(bytes)?;
        self.hash.update(&bytes[..n]);
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
