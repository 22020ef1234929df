//! Releases of one series, one after the other: each manifest names the hash of the one before.

use std::path::PathBuf;

use chrysalis_release::{Manifest, SeriesEntry};
use chrysalis_store::{manifest_sha256, read_manifest_within};
use chrysalis_table::{Knob, Memory, Remedy};

use crate::Error;

/// A release in a folder, of which so far only the manifest was read.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    pub(crate) folder: PathBuf,
    pub(crate) manifest: Manifest,
}

/// Folders with releases of one series, by number; the errors are those of asking them together.
pub fn in_order(folders: &[PathBuf], memory: Memory) -> Result<Vec<PathBuf>, Error> {
    Ok(chain(folders, memory)?.into_iter().map(|link| link.folder).collect())
}

/// A link, and what its place in the chain depends on.
struct Claim {
    link: Link,
    entry: SeriesEntry,
    hash: String,
}

/// The releases in these folders, the latest last. A single one may be of no series; several have to be the releases of
/// one series, none missing in between. A folder may be named twice.
pub(crate) fn chain(folders: &[PathBuf], memory: Memory) -> Result<Vec<Link>, Error> {
    let read = |folder: &PathBuf| {
        let manifest = read_manifest_within(folder, memory)?;
        Ok::<_, Error>(Link { folder: folder.clone(), manifest })
    };
    let links: Vec<Link> = folders.iter().map(read).collect::<Result<_, _>>()?;
    if links.len() < 2 {
        return Ok(links);
    }
    let mut claims: Vec<Claim> = Vec::with_capacity(links.len());
    for link in links {
        let hash = manifest_sha256(&link.folder)
            .ok_or_else(|| Error::request(format!("{} cannot be read", link.folder.display()), "name it again"))?;
        if claims.iter().any(|known| known.hash == hash) {
            continue;
        }
        let Some(entry) = link.manifest.series.clone() else {
            let message = format!("{} is not a release of a series", link.folder.display());
            let remedy = Remedy::from("ask it alone: only releases of one series are asked together, with ");
            return Err(Error::request(message, remedy.knob(Knob::With, "")));
        };
        claims.push(Claim { link, entry, hash });
    }
    claims.sort_by_key(|claim| claim.entry.number);
    for pair in claims.windows(2) {
        follows(&pair[0], &pair[1])?;
    }
    Ok(claims.into_iter().map(|claim| claim.link).collect())
}

/// Whether a release is the next one of the same series.
fn follows(before: &Claim, after: &Claim) -> Result<(), Error> {
    let name = |claim: &Claim| claim.link.folder.display().to_string();
    let (early, late) = (before.entry.number, after.entry.number);
    if early == late {
        let message = format!("{} and {} both say that they are release {late}", name(before), name(after));
        return Err(Error::request(message, "name the releases of one series only"));
    }
    if early + 1 < late {
        let missing = match late - early {
            2 => format!("release {} is missing", early + 1),
            _ => format!("releases {} to {} are missing", early + 1, late - 1),
        };
        let message = format!("{missing} between {} and {}", name(before), name(after));
        let remedy = Remedy::from("without them nobody can see that these are of one series: name them too, with ");
        return Err(Error::request(message, remedy.knob(Knob::With, "")));
    }
    if after.entry.previous.as_ref() != Some(&before.hash) {
        let message = format!(
            "{} says that it is release {late} and follows another release {early} than {}",
            name(after),
            name(before)
        );
        let hint =
            "name the releases of one series only, as they were published: a manifest changes its hash with every byte";
        return Err(Error::request(message, hint));
    }
    Ok(())
}
