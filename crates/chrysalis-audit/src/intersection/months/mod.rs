//! Several releases of one series: what whoever has all of them can conclude, when it is known who was there in which.
//!
//! People come and go between these releases, so one table of people does not do: every month has its own. From the
//! published tables and these follows in which groups each person can be, month after month, and with that
//!
//! - whether somebody's groups can all show the same set of values, the person's *signature* (`signatures`);
//! - the shares of values over all worlds that fit all releases (`shares`);
//! - whose value remains when the values of one group are taken from those of another (`subtraction`).
//!
//! It shares nothing with the publisher, who knows the signatures: here they are read off the tables.

mod changes;
mod people;
mod replaying;
mod sequence;
mod signatures;
mod subtraction;

use std::collections::BTreeMap;

use chrysalis_criteria::{PrincipleSpec, Rational};
use chrysalis_release::Release;
use chrysalis_table::{Table, Watch};

use super::shares;
use super::views::{JoinedReleases, JoinedView};
use crate::form::judge;
use crate::series::{self, Seen};
use crate::{AuditError, Check, Finding, SeriesLeft};
use people::People;

/// One release of a series, and what is known about it.
#[derive(Clone, Copy, Debug)]
pub struct Month<'a> {
    /// What findings call it.
    pub name: &'a str,
    /// The release.
    pub release: &'a Release,
    /// SHA-256 of its manifest.
    pub sha256: Option<&'a str>,
    /// The table that it was made from, prepared as it was, and the column that says whose a row is.
    pub people: Option<(&'a Table, &'a str)>,
}

/// What the owner remembers of a series.
#[derive(Clone, Copy)]
pub struct KnownLives<'a> {
    /// The hash of the manifest of every release, the first one first.
    pub releases: &'a [&'a str],
    /// All signatures, as texts of values.
    pub signatures: &'a [Vec<String>],
    /// The signatures that a person was ever given, by their places; `None` for somebody who was never published.
    pub of: &'a dyn Fn(&str) -> Option<Vec<u32>>,
}

impl std::fmt::Debug for KnownLives<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "KnownLives({} releases, {} signatures)", self.releases.len(), self.signatures.len())
    }
}

/// What was found about several releases of a series.
#[derive(Clone, Debug)]
pub struct SeriesAudit {
    /// What was checked.
    pub checks: Vec<Check>,
    /// The attack of whoever has all releases, in words.
    pub finding: Finding,
    /// What it leaves to everybody; absent without the tables of all months.
    pub left: Option<SeriesLeft>,
}

/// A month, as it is looked at.
struct Seat<'a> {
    month: &'a Month<'a>,
    view: JoinedView<'a>,
    /// The signature that every block shows, by its number.
    signature: Vec<u32>,
    /// How many people every block has.
    real: Vec<u64>,
}

/// What several releases of a series tell together.
///
/// # Errors
/// If one of them is not a release of a series, or a table is not that of its release.
pub fn audit_series(
    months: &[Month<'_>],
    lives: Option<&KnownLives<'_>>,
    watch: &dyn Watch,
) -> Result<SeriesAudit, AuditError> {
    let mut months: Vec<Month<'_>> = months.to_vec();
    let number = |month: &Month<'_>| month.release.manifest.series.as_ref().map_or(0, |entry| entry.number);
    months.sort_by_key(number);
    if let Some(month) = months.iter().find(|month| month.release.manifest.series.is_none()) {
        return Err(AuditError::NoSeries { name: month.name.to_owned() });
    }
    let seen: Vec<Seen> =
        months.iter().filter_map(|month| series::look(month.release, watch).transpose()).collect::<Result<_, _>>()?;
    let padded: Vec<&Release> = seen.iter().map(|seen| &seen.padded).collect();
    let mut joined = JoinedReleases { all: &padded, numbers: BTreeMap::new(), watch };
    let mut signatures = signatures::Signatures::default();
    let mut seats: Vec<Seat<'_>> = Vec::with_capacity(months.len());
    for ((month, seen), padded) in months.iter().zip(&seen).zip(&padded) {
        let mut views = judge(padded.manifest.method).views(padded, &mut joined)?;
        let Some(view) = views.pop() else { continue };
        let ids = crate::columns::group_ids(view.published.group);
        let mut real = vec![0; view.blocks.len()];
        for group in &view.groups {
            let id = ids[view.published.group.code(group.row) as usize];
            group.places.iter().for_each(|place| real[place.block as usize] = seen.people(id));
        }
        let of_block = |block: &super::views::Block| signatures.number(block.values.iter().map(|(value, _)| *value));
        let signature = view.blocks.iter().map(of_block).collect();
        seats.push(Seat { month, view, signature, real });
    }
    let mut checks = vec![sequence::check(&months, lives)];
    let known = lives.map(|lives| signatures::Remembered::new(lives, &mut signatures, &joined.numbers));
    if seats.iter().any(|seat| seat.month.people.is_none()) {
        checks.extend(known.map(|known| known.only(&seats)));
        return Ok(SeriesAudit { checks, finding: Finding::not_run("series", WHO_IS_THERE), left: None });
    }
    let people = People::new(&seats, watch)?;
    let kept = signatures::Kept::new(&people, &seats, &signatures, known.as_ref(), watch);
    checks.push(kept.check(known.is_some()));
    let least = months.iter().map(|month| least_values(month.release)).max().unwrap_or(1);
    let views: Vec<&JoinedView<'_>> = seats.iter().map(|seat| &seat.view).collect();
    let counted = people.kinds(&seats, &signatures, watch).and_then(|kinds| {
        let promised = Rational::new(1, least.max(1));
        let set_of = |seat: usize, block: usize| seats[seat].signature[block];
        shares::of_kinds(&views, kinds, &set_of, Some(promised), watch)
    });
    let subtracted = subtraction::check(&people, &seats, watch);
    let replay = replaying::tell(&seats, &signatures, least);
    let left = SeriesLeft { replay, ..signatures::values_left(&people, &signatures, (least, counted), watch) };
    checks.extend([left.check(), subtracted]);
    let finding = left.finding(&months.iter().map(|month| month.name).collect::<Vec<_>>());
    Ok(SeriesAudit { checks, finding, left: Some(left) })
}

/// Why nothing can be said about people.
const WHO_IS_THERE: &str = "Not run: who was there in which month is known only with the table of every month, and the \
                            column that says whose a row is.";

/// The m that a release promises.
fn least_values(release: &Release) -> u64 {
    let least = release.manifest.promises.iter().filter_map(|promise| match promise.principle() {
        PrincipleSpec::MInvariance { m } => Some(*m),
        _ => None,
    });
    least.max().unwrap_or(1)
}
