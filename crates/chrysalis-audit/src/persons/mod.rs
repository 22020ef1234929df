//! Releases in which a person may have several rows.
//!
//! All rows of a person are in one group, and promises count persons. A release says how many persons every group has
//! and, where everybody's number of rows is taken as known, how many of them have each sensitive value. What follows
//! from that is measured here, whatever the form; `spec.md` has the definitions. What the tables cannot show is said to
//! be unknown, never to hold.

mod attacks;
mod check;
mod disclosed;
mod fit;
mod profile;
mod promises;
mod seen;
mod source;
mod tables;
#[cfg(test)]
mod tests;

use chrysalis_release::Release;
use chrysalis_table::{Table, Watch};

use crate::profile::check_size;
use crate::{AuditError, AuditReport};
pub use profile::{PersonLevels, profile_persons};
use promises::Known;
use seen::Seen;
use source::SourcePersons;
use tables::PersonTables;

/// The persons of the microdata, where a release counts persons and the column that tells them apart is named.
pub(crate) struct KnownPersons(SourcePersons);

impl KnownPersons {
    /// Whether rows of the microdata were left out of the release, because their persons had too many.
    pub(crate) fn is_cut(&self) -> bool {
        self.0.is_cut()
    }
}

/// Finds the persons of the microdata; `None` where the release counts rows.
pub(crate) fn known(
    release: &Release,
    (microdata, person): (&Table, &str),
    watch: &dyn Watch,
) -> Result<Option<KnownPersons>, AuditError> {
    let Some(tables) = PersonTables::open(release)? else { return Ok(None) };
    check_size("the microdata", microdata.rows())?;
    SourcePersons::new(&tables, microdata, person, watch).map(|source| Some(KnownPersons(source)))
}

/// Adds to the report of a release's form what is different where persons are counted: its promises, the check
/// `persons`, what it discloses, and attacks on persons.
pub(crate) fn complete(
    report: &mut AuditReport,
    release: &Release,
    known: Option<&KnownPersons>,
    watch: &dyn Watch,
) -> Result<(), AuditError> {
    let Some(tables) = PersonTables::open(release)? else { return Ok(()) };
    let seen = Seen::all(&tables, watch);
    let buckets = seen::buckets(&tables, watch);
    let mut check = check::check(&tables, watch);
    let mut masses = (seen::shown_masses(&tables, 1), promises::NOT_SHOWN.to_owned());
    if let Some(KnownPersons(source)) = known {
        let placed = source::place(&tables, source, watch)?;
        check = source::check(&tables, source, &placed, check);
        masses = source::masses(&tables, source, &placed).unwrap_or((masses.0, promises::TOO_MANY.to_owned()));
        if source.is_cut() {
            report.checks.push(source::faithful_in_part(&release.manifest, &tables, source));
        }
    }
    let (masses, why_open) = masses;
    let known = Known { seen: &seen, buckets: &buckets, masses: &masses, why_open: &why_open };
    report.principles = promises::judge(&tables, &known, watch)?;
    report.checks.push(check);
    disclosed::measure(report, &tables, &seen, watch)?;
    attacks::measure(report, &tables, &seen, &buckets, watch);
    Ok(())
}
