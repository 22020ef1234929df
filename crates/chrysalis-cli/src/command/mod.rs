//! One file per verb: read the arguments, call the library, print.

pub(crate) mod audit;
mod audit_certificate;
mod audit_sql;
pub(crate) mod compare;
pub(crate) mod evaluate;
mod evaluate_series;
pub(crate) mod example;
pub(crate) mod experiment;
pub(crate) mod init;
#[cfg(feature = "databases")]
pub(crate) mod load;
pub(crate) mod manual;
mod place;
pub(crate) mod profile;
pub(crate) mod publish;
pub(crate) mod query;
pub(crate) mod rewrite;
pub(crate) mod risk;
pub(crate) mod sample;
pub(crate) mod series;
pub(crate) mod studio;
pub(crate) mod taxonomy;

use std::path::Path;

use chrysalis::store::read_release_within;
use chrysalis::{Counted, Draft, Manifest, Memory, Release, Table, Watch, files};

use crate::args::MicrodataArgs;
use crate::failure::Failure;
use crate::progress::Phases;

/// The release in a folder, read as a phase of its own.
fn read_whole(folder: &Path, memory: Option<Memory>, phases: &Phases) -> Result<Release, Failure> {
    phases.phase("read", None, Counted::Rows);
    Ok(read_release_within(folder, memory.unwrap_or_default())?)
}

/// The published attributes of some releases, read with the kinds they were made with.
fn read_microdata(
    file: &str,
    source: &MicrodataArgs,
    manifests: &[&Manifest],
    phases: &Phases,
) -> Result<Table, Failure> {
    let draft = microdata(file, source);
    Ok(files::read_microdata(draft.open()?, manifests, &draft, phases)?)
}

/// The table that releases were made from.
fn microdata(file: &str, source: &MicrodataArgs) -> Draft {
    Draft { input: Some(file.into()), ..source.draft() }
}

/// Runs work that a signal may stop.
#[cfg(feature = "databases")]
fn stoppable<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    chrysalis::Stopped::catch(work).map_err(|stopped| Failure::from(chrysalis::Error::from(stopped)))?
}
