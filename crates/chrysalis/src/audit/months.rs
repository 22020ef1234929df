//! Releases of a series, judged together.

use std::fmt;
use std::path::Path;

use chrysalis_audit::{KnownLives, Month, SeriesAudit, audit_series};
use chrysalis_release::Release;
use chrysalis_table::{Knob, Remedy, Watch};

use crate::series::{Ledger, PersonHash, Unfinished, read_with_next};
use crate::{Error, Evidence, files};

/// What the ledger of a series knows, to be compared with releases. It is not repaired.
pub struct KnownLedger {
    name: String,
    ledger: Ledger,
    hash: Box<dyn Fn(&str) -> PersonHash + Sync + Send>,
    unfinished: Option<Unfinished>,
}

impl fmt::Debug for KnownLedger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.ledger.fmt(f)
    }
}

impl KnownLedger {
    /// Reads a ledger.
    pub fn read(path: &Path) -> Result<KnownLedger, Error> {
        let name = path.display().to_string();
        let (ledger, unfinished) = read_with_next(path)?;
        if ledger.signatures().is_none() {
            let message = format!("the ledger {name} is of people who are published once, and follows nobody");
            return Err(Error::request(message, crate::series::other_ledger()));
        }
        Ok(KnownLedger { name, hash: Box::new(ledger.hasher()?), ledger, unfinished })
    }
}

/// Refuses evidence that has no effect on this release.
pub(super) fn check_request(release: &Release, with: &Evidence<'_>) -> Result<(), Error> {
    let is_series = release.manifest.series.is_some();
    if !is_series && with.ledger.is_some() {
        let message = format!("`{}` has no effect: this is no release of a series", Knob::Series);
        return Err(Error::request(message, Remedy::from("leave ").knob(Knob::Series, "").words(" out")));
    }
    if !is_series && !with.other_microdata.is_empty() {
        let message = "tables of other releases have no effect: this is no release of a series";
        return Err(Error::request(message, Remedy::from("leave ").knob(Knob::WithMicrodata, "").words(" out")));
    }
    let n = with.other_microdata.len();
    if n > 0 && n != with.others.len() {
        return Err(files::too_many_tables(n, with.others.len()));
    }
    if n > 0 && (with.microdata.is_none() || with.person.is_none()) {
        let message =
            "the tables of other releases are of use only beside that of this one, and if it is known whose a row is";
        let remedy = Remedy::from("name that table, and the column that tells people apart with ");
        return Err(Error::request(message, remedy.knob(Knob::Person, "patient_id")));
    }
    Ok(())
}

/// What releases of a series tell together; `None` where there is nothing to compare.
pub(super) fn audit(release: &Release, with: &Evidence<'_>, watch: &dyn Watch) -> Result<Option<SeriesAudit>, Error> {
    let has_people = with.microdata.is_some() && with.person.is_some();
    if release.manifest.series.is_none() || with.others.is_empty() && with.ledger.is_none() && !has_people {
        return Ok(None);
    }
    let hash = |at: usize| with.hashes.get(at).and_then(Option::as_deref);
    let people = |table| Some((table, with.person?));
    let own = Month { name: "this release", release, sha256: hash(0), people: with.microdata.and_then(people) };
    let mut months = vec![own];
    for (at, (name, release)) in with.others.iter().enumerate() {
        let people = with.other_microdata.get(at).and_then(people);
        months.push(Month { name, release, sha256: hash(at + 1), people });
    }
    let Some(known) = with.ledger else { return Ok(Some(audit_series(&months, None, watch)?)) };
    known.unfinished.iter().for_each(|unfinished| watch.note(&unfinished.to_string()));
    if let Some(person) = with.person {
        known.ledger.check_person(person, &known.name)?;
    }
    let manifests: Vec<&str> = known.ledger.releases().iter().map(|release| release.manifest.as_str()).collect();
    let of = |person: &str| known.ledger.signatures_of(&(known.hash)(person));
    let lives = KnownLives { releases: &manifests, signatures: known.ledger.signatures().unwrap_or(&[]), of: &of };
    Ok(Some(audit_series(&months, Some(&lives), watch)?))
}
