//! A release as Python holds it: in memory, or in a folder and read when somebody asks for more than its manifest.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use chrysalis::store::{Format, read_release_watched};
use chrysalis::{Analyst, Counted, Error, Manifest, Memory, Release, ToAudit, Watch};

/// A release, and what is known of it so far.
pub(crate) struct Held {
    pub(crate) manifest: Manifest,
    /// Empty until it is read.
    release: OnceLock<Arc<Release>>,
    /// Opened at the first question.
    analyst: OnceLock<Arc<Analyst>>,
    place: Mutex<Option<Place>>,
    /// How it is written unless somebody says otherwise.
    pub(crate) format: Format,
    /// How much memory reading it may take.
    pub(crate) memory: Memory,
}

/// Where a release is.
#[derive(Clone)]
pub(crate) struct Place {
    /// The folder that it was read from, or saved to.
    pub(crate) folder: PathBuf,
    /// Whether it was saved there: then the files know more than the release in memory, such as their names.
    pub(crate) is_saved: bool,
}

impl Held {
    fn of(manifest: Manifest, release: Option<Release>, place: Option<Place>) -> Held {
        let (release, analyst) = (release.map(Arc::new), OnceLock::new());
        let release = release.map_or_else(OnceLock::new, OnceLock::from);
        let (place, memory) = (Mutex::new(place), Memory::default());
        Held { manifest, release, analyst, place, format: Format::Parquet, memory }
    }

    /// One that was made just now, in this folder if it was written to one.
    pub(crate) fn made(release: Release, folder: Option<PathBuf>, format: Format) -> Held {
        let place = folder.map(|folder| Place { folder, is_saved: true });
        Held { format, ..Held::of(release.manifest.clone(), Some(release), place) }
    }

    /// One that was written to a folder just now, and is not in memory.
    pub(crate) fn on_disk(manifest: Manifest, folder: PathBuf, format: Format) -> Held {
        Held { format, ..Held::of(manifest, None, Some(Place { folder, is_saved: true })) }
    }

    /// Reads one from its folder. If it does not fit into memory, but each of its parts does, its manifest alone is kept.
    pub(crate) fn open(folder: PathBuf, memory: Memory, watch: &dyn Watch) -> Result<Held, Error> {
        watch.phase("read", None, Counted::Rows);
        let held = match ToAudit::open_watched(&folder, memory, watch)? {
            ToAudit::InOnePiece(release) => {
                let place = Place { folder, is_saved: false };
                Held::of(release.manifest.clone(), Some(release), Some(place))
            }
            ToAudit::PartByPart { release, .. } => Held::on_disk(release.manifest().clone(), folder, Format::Parquet),
        };
        Ok(Held { memory, ..held })
    }

    /// All of it; whoever comes while it is read reads it, too, and one of the two stays.
    pub(crate) fn whole(&self, watch: &dyn Watch) -> Result<Arc<Release>, Error> {
        if let Some(known) = self.release.get() {
            return Ok(Arc::clone(known));
        }
        let place = self.place().ok_or_else(|| Error::internal("a release is neither in memory nor in a folder"))?;
        let rows = self.manifest.tables.iter().map(|table| table.rows).sum();
        watch.phase("read", Some(rows), Counted::Rows);
        let read = Arc::new(read_release_watched(&place.folder, self.memory, &|n| watch.tell(n))?);
        Ok(Arc::clone(self.release.get_or_init(|| read)))
    }

    /// Opens it for questions once; whoever comes meanwhile opens it, too, and one of the two stays.
    pub(crate) fn analyst(&self, watch: &dyn Watch) -> Result<Arc<Analyst>, Error> {
        if let Some(known) = self.analyst.get() {
            return Ok(Arc::clone(known));
        }
        let whole = self.whole(watch)?;
        watch.phase("open", None, Counted::Rows);
        watch.pause();
        let made = Arc::new(Analyst::open((*whole).clone())?);
        Ok(Arc::clone(self.analyst.get_or_init(|| made)))
    }

    /// What is to be audited. What was saved is judged by its files, and so is what a certificate is about, hashes and all.
    pub(crate) fn to_audit(&self, by_files: bool, memory: Memory, watch: &dyn Watch) -> Result<ToAudit, Error> {
        let place = self.place().filter(|place| place.is_saved || by_files);
        match (place, self.release.get()) {
            (Some(place), _) => {
                watch.phase("read", None, Counted::Rows);
                ToAudit::open_watched(&place.folder, memory, watch)
            }
            (None, Some(release)) => Ok(ToAudit::InOnePiece((**release).clone())),
            (None, None) => Err(Error::internal("a release is neither in memory nor in a folder")),
        }
    }

    pub(crate) fn place(&self) -> Option<Place> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn folder(&self) -> Option<PathBuf> {
        self.place().map(|place| place.folder)
    }

    /// Remembers where it was saved.
    pub(crate) fn saved_to(&self, folder: &Path) {
        let place = Place { folder: folder.to_owned(), is_saved: true };
        *self.place.lock().unwrap_or_else(PoisonError::into_inner) = Some(place);
    }
}
