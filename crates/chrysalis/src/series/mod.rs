//! Releases of the same people, again and again: the owner's ledger, and what it says about one table.

mod draft;
mod file;
mod ledger;
mod past;

pub use draft::SeriesPlan;
pub(crate) use file::read_with_next;
pub use file::{OpenLedger, read_ledger};
pub(crate) use ledger::{Ledger, PersonHash, other_ledger};
pub use ledger::{ReleaseRecord, SeriesReport, Unfinished};
pub(crate) use past::{Followed, remembered_once, without_known};

/// What the ledger is to say once the release is there.
#[derive(Debug)]
pub struct Remembered {
    pub(crate) ledger: Ledger,
}

impl Remembered {
    /// The release that is to be remembered. Where it is written to is not known yet.
    pub fn release(&self) -> Option<&ReleaseRecord> {
        self.ledger.last()
    }
}
