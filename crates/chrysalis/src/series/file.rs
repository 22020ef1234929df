//! The ledger's file, and how it and a release appear together or not at all.
//!
//! 1. The next ledger is staged beside the ledger, with the hash of the manifest that is about to be there.
//! 2. The release is put in its place.
//! 3. The next ledger takes the place of the ledger.
//!
//! A run that finds a staged ledger was preceded by one that ended between 1 and 3. Whether the release is there, with
//! that very manifest, says which of the two ledgers is right. It may have been moved since, so it is looked for wherever
//! releases of the series lie.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use chrysalis_release::{Manifest, Release, RoleName};
use chrysalis_store::{
    Format, PrivateFolder, StoreError, manifest_sha256, manifests_in, next_of, place_of_private, read_private,
    write_release_once,
};
use chrysalis_table::{Counted, Knob, Remedy, Stopped, Watch};

use super::ledger::{Ledger, other_ledger};
use super::{Remembered, SeriesReport, Unfinished};
use crate::{Error, Recipe};

/// A ledger that only this run may change.
#[derive(Debug)]
pub struct OpenLedger {
    folder: PrivateFolder,
    name: String,
    is_new: bool,
}

/// What may be told about the ledger in a file. A step that was left half done is not repaired.
pub fn read_ledger(path: &Path) -> Result<SeriesReport, Error> {
    let (ledger, unfinished) = read_with_next(path)?;
    Ok(SeriesReport { unfinished, ..ledger.report() })
}

/// The ledger in a file, and the run that staged another one beside it. Nothing is repaired.
pub(crate) fn read_with_next(path: &Path) -> Result<(Ledger, Option<Unfinished>), Error> {
    let name = path.display().to_string();
    let place = place_of_private(path)?;
    let staged = match read_private(&next_of(&place))? {
        Some(bytes) => Ledger::decode(&bytes, &next_of(path).display().to_string())?,
        None => Ledger::new(None, String::new(), String::new())?,
    };
    let unfinished = staged.last().map(|last| {
        let is_published = is_there(&staged, &place, Path::new(&last.folder));
        Unfinished { number: last.number, is_published, ledger: name.clone() }
    });
    match (read_private(path)?, &unfinished) {
        (Some(bytes), _) => Ok((Ledger::decode(&bytes, &name)?, unfinished)),
        (None, None) => Err(no_ledger(&name)),
        (None, Some(unfinished)) => {
            let message = format!("the ledger {name} is not there yet: {}", unfinished.what());
            Err(Error::request(message, Remedy::from("publish again with the same ledger, which puts that right")))
        }
    }
}

fn no_ledger(name: &str) -> Error {
    Error::request(format!("there is no ledger {name}"), other_ledger())
}

/// A staged ledger is right if its last release is there: where it was to be, or wherever it may have been moved.
fn repair(folder: &PrivateFolder, (name, out): (&str, &Path), watch: &dyn Watch) -> Result<(), Error> {
    match settled(folder, out)? {
        Staged::Nothing => {}
        Staged::WasPublished { number } => watch.note(&format!(
            "the last run ended after release {number} was written and before the ledger {name} said so: the ledger says so \
             now"
        )),
        Staged::WasNot { number, place } => watch.note(&format!(
            "the last run ended before its release was written, or that was taken away since: release {number} is neither \
             {place} nor beside the others. The ledger {name} is as it was before that run; a release {number} that turns up \
             must not be handed out"
        )),
    }
    Ok(())
}

/// What became of a staged ledger.
enum Staged {
    Nothing,
    WasPublished { number: u64 },
    WasNot { number: u64, place: String },
}

fn settled(folder: &PrivateFolder, out: &Path) -> Result<Staged, Error> {
    let next = folder.next();
    let Some(bytes) = read_private(&next)? else { return Ok(Staged::Nothing) };
    let staged = Ledger::decode(&bytes, &next.display().to_string())?;
    let Some(last) = staged.last() else {
        folder.forget()?;
        return Ok(Staged::Nothing);
    };
    let number = last.number;
    if is_there(&staged, folder.path(), out) {
        folder.settle()?;
        return Ok(Staged::WasPublished { number });
    }
    folder.forget()?;
    Ok(Staged::WasNot { number, place: last.folder.clone() })
}

/// Whether the last release of a staged ledger is there: where it was to be, or wherever it may have been moved.
fn is_there(staged: &Ledger, file: &Path, out: &Path) -> bool {
    let Some(last) = staged.last() else { return false };
    let is_it = |place: &Path| manifest_sha256(place).as_ref() == Some(&last.manifest);
    is_it(Path::new(&last.folder)) || releases_near(staged, file, out).iter().any(|(place, _)| is_it(place))
}

/// The releases that lie where the new one is to be and beside it, beside the ledger, and beside those that the ledger
/// remembers: wherever one may be that the ledger should know.
fn releases_near(ledger: &Ledger, file: &Path, out: &Path) -> Vec<(PathBuf, Manifest)> {
    let recorded = ledger.releases().iter().map(|release| Path::new(&release.folder));
    let (mut known, mut near): (Vec<PathBuf>, Vec<_>) = (Vec::new(), Vec::new());
    for path in [out, file].into_iter().chain(recorded) {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let Ok(place) = parent.canonicalize() else { continue };
        if !known.contains(&place) {
            near.extend(manifests_in(parent));
            known.push(place);
        }
    }
    near
}

/// A release that the ledger knows stays where it is.
///
/// LEAK: whoever has it keeps it, and the next releases are made so that they can stand beside it.
fn check_place(ledger: &Ledger, name: &str, out: &Path) -> Result<(), Error> {
    let Some(hash) = manifest_sha256(out) else { return Ok(()) };
    let Some(known) = ledger.releases().iter().find(|known| known.manifest == hash) else { return Ok(()) };
    let message = format!(
        "{} holds release {} of this series, which the ledger {name} remembers: a later one stands beside it, and does not \
         take its place",
        out.display(),
        known.number
    );
    Err(Error::request(message, Remedy::from("name another folder with ").knob(Knob::Out, "")))
}

/// Every release of a series that lies near and follows one that the ledger knows, or has the same columns, must be one that
/// the ledger knows. Where people are published once, so must every other release with these columns.
fn check_near(
    ledger: &Ledger,
    (name, file): (&str, &Path),
    out: &Path,
    (attributes, only_new): (&[&str], bool),
) -> Result<(), Error> {
    let is_alike = |manifest: &Manifest| {
        let has = |role| manifest.with_role(role).all(|attribute| attributes.contains(&attribute.name.as_str()));
        manifest.with_role(RoleName::Sensitive).next().is_some() && has(RoleName::Sensitive) && has(RoleName::Quasi)
    };
    let follows = |manifest: &Manifest| {
        let previous = manifest.series.as_ref().and_then(|entry| entry.previous.as_ref());
        ledger.releases().iter().find(|known| previous == Some(&known.manifest))
    };
    for (folder, manifest) in releases_near(ledger, file, out) {
        let before = follows(&manifest);
        if before.is_none() && !(is_alike(&manifest) && (only_new || manifest.series.is_some())) {
            continue;
        }
        let Some(hash) = manifest_sha256(&folder) else { continue };
        if ledger.releases().iter().any(|known| known.manifest == hash) {
            continue;
        }
        let number = manifest.series.as_ref().map_or(0, |entry| entry.number);
        let folder = folder.display();
        let message = match (ledger.last(), before) {
            (Some(last), Some(before)) if last.number == before.number => format!(
                "the ledger {name} is older than the releases: it ends with release {}, but {folder} is release {number} of \
                 the same series",
                last.number
            ),
            (_, Some(_)) => format!("the ledger {name} knows another release {number} of the series than {folder}"),
            _ if only_new => format!(
                "the ledger {name} does not know {folder}, which shows the same columns: whoever is in it would be published \
                 again"
            ),
            (Some(_), None) => format!(
                "the ledger {name} is of another series: it does not know {folder}, which is release {number} of one"
            ),
            (None, None) => {
                format!("the ledger {name} is new, but {folder} is release {number} of a series already")
            }
        };
        let remedy = other_ledger()
            .words(", or keep series with the same columns in folders of their own, each with its ledger");
        return Err(Error::request(message, remedy));
    }
    Ok(())
}

impl OpenLedger {
    /// Opens the ledger of the recipe's series, if it has one, and repairs what a run left half done. `out` is where the
    /// release is to be.
    pub fn open(recipe: &mut Recipe, out: &Path, watch: &dyn Watch) -> Result<Option<OpenLedger>, Error> {
        let Some(plan) = &mut recipe.series else { return Ok(None) };
        let file = place_of_private(&plan.file)?;
        // LEAK: everything in the folder of a release is published.
        let place = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let real = place_of_private(out).unwrap_or_else(|_| out.to_owned());
        if place(&plan.file).starts_with(place(out)) || file.starts_with(real) {
            let message = format!("the ledger {} would be part of the release", plan.file.display());
            return Err(Error::request(message, Remedy::from("name another place with ").knob(Knob::Series, "")));
        }
        let name = plan.file.display().to_string();
        let folder = PrivateFolder::lock(&file)?;
        repair(&folder, (&name, out), watch)?;
        let known = read_private(folder.path())?.map(|bytes| Ledger::decode(&bytes, &name)).transpose()?;
        let is_new = known.is_none();
        let ledger = match known {
            Some(ledger) => ledger,
            None => Ledger::new(None, String::new(), String::new())?,
        };
        let ledger = ledger.of_person(&plan.person, &name)?;
        check_place(&ledger, &name, out)?;
        let attributes: Vec<&str> = recipe.attributes.iter().map(|attribute| attribute.name.as_str()).collect();
        check_near(&ledger, (&name, folder.path()), out, (&attributes, plan.only_new))?;
        plan.ledger = Some(Arc::new(ledger));
        Ok(Some(OpenLedger { folder, name, is_new }))
    }

    /// Writes a release, and what the ledger remembers of it: both are there afterwards, or neither.
    pub fn write(
        self,
        (release, remembered): (&Release, Remembered),
        out: &Path,
        (format, force): (Format, bool),
        watch: &dyn Watch,
    ) -> Result<Manifest, Error> {
        let mut ledger = remembered.ledger;
        let place = std::path::absolute(out).unwrap_or_else(|_| out.to_owned());
        if let Some(last) = ledger.head.releases.last_mut() {
            last.folder = place.display().to_string();
        }
        let stage = |manifest: &str| -> Result<(), StoreError> {
            let mut ledger = ledger.clone();
            if let Some(last) = ledger.head.releases.last_mut() {
                manifest.clone_into(&mut last.manifest);
            }
            let unwritable =
                |_| StoreError::Private { path: PathBuf::from(&self.name), problem: "it cannot be written as bytes" };
            self.folder.stage(&ledger.encode().map_err(unwritable)?)
        };
        watch.phase("write", None, Counted::Rows);
        let written = Stopped::catch(|| write_release_once(release, out, format, force, &|n| watch.tell(n), &stage));
        let manifest = match written {
            Ok(Ok(manifest)) => manifest,
            failed => {
                // Something may have failed after the release was there.
                settled(&self.folder, out)?;
                return Err(match failed {
                    Ok(Err(error)) => error.into(),
                    Err(stopped) => stopped.into(),
                    Ok(Ok(_)) => Error::internal("a release is both written and not"),
                });
            }
        };
        self.folder.settle()?;
        if self.is_new {
            watch.note(&format!(
                "made the ledger {}: keep it secret, because it knows who was published, and keep it, because nothing \
                 else remembers what the next release must keep",
                self.name
            ));
        }
        Ok(manifest)
    }
}
