//! Releases larger than memory: read part by part, and judged so.

use std::path::Path;

use chrysalis_audit::{PartsAudit, Survey};
use chrysalis_release::{Manifest, Release};
use chrysalis_store::{FilesReport, PartByPart, StoreError, look_at_part, read_manifest_within, read_release_watched};
use chrysalis_table::{Counted, Knob, Memory, Stopped, Unwatched, Watch};

use super::{files, outcome, roles};
use crate::report::AuditOutcome;
use crate::words::count;
use crate::{Error, Evidence, replay};

/// A release that is to be audited.
pub enum ToAudit {
    /// It fits into the allowed memory.
    InOnePiece(Release),
    /// It does not, but each of its parts does.
    PartByPart {
        /// The release.
        release: PartByPart,
        /// What its tables would take together, in bytes.
        needed: u64,
    },
}

impl ToAudit {
    /// Opens the release in a folder; what takes more memory than allowed is to be read part by part, if that is possible.
    pub fn open(folder: &Path, memory: Memory) -> Result<ToAudit, Error> {
        ToAudit::open_watched(folder, memory, &Unwatched)
    }

    /// The same, with somebody who is told how much is read and may stop it.
    pub fn open_watched(folder: &Path, memory: Memory, watch: &dyn Watch) -> Result<ToAudit, Error> {
        let read = || read_release_watched(folder, memory, &|n| watch.tell(n));
        let too_large = match Stopped::catch(read)? {
            Ok(release) => return Ok(ToAudit::InOnePiece(release)),
            Err(error) => error,
        };
        let StoreError::TooLarge { needed, .. } = too_large else { return Err(too_large.into()) };
        let manifest = read_manifest_within(folder, memory)?;
        match PartByPart::open(folder, manifest, memory)? {
            Some(release) => Ok(ToAudit::PartByPart { release, needed }),
            None => Err(too_large.into()),
        }
    }

    /// The same, but part by part even if it fits, for tests; `None` if it is not in parts.
    #[doc(hidden)]
    pub fn open_in_parts(folder: &Path, memory: Memory) -> Result<Option<ToAudit>, Error> {
        let release = PartByPart::open(folder, read_manifest_within(folder, memory)?, memory)?;
        Ok(release.map(|release| ToAudit::PartByPart { release, needed: memory.bytes() }))
    }

    /// What the release says about itself.
    pub fn manifest(&self) -> &Manifest {
        match self {
            ToAudit::InOnePiece(release) => &release.manifest,
            ToAudit::PartByPart { release, .. } => release.manifest(),
        }
    }

    /// Refuses, before it is read, evidence that can be compared only with a release in one piece. For each kind of it,
    /// whether it is there.
    pub fn check_evidence(&self, used: &[(Knob, bool)]) -> Result<(), Error> {
        match (self, used.iter().find(|(_, is_used)| *is_used)) {
            (ToAudit::PartByPart { needed, .. }, Some((knob, _))) => Err(only_in_one_piece(*knob, *needed)),
            _ => Ok(()),
        }
    }

    /// Judges the release.
    ///
    /// # Guarantees
    /// Part by part, the verdict is that of [`audit`](crate::audit) of the release in one piece, in about the memory that
    /// its largest part takes. Attacks that learn from all groups of a release at once are not run, and the report says
    /// so. Only the release itself, its folder and the roles of columns are looked at then; other evidence is refused.
    pub fn audit(&self, with: Evidence<'_>, watch: &dyn Watch) -> Result<AuditOutcome, Error> {
        match self {
            ToAudit::InOnePiece(release) => super::audit(release, with, watch),
            ToAudit::PartByPart { release, .. } => {
                self.check_evidence(&[
                    (Knob::Microdata, with.microdata.is_some() || with.asked.is_some()),
                    (Knob::PopulationTable, with.population.is_some()),
                    (Knob::With, !with.others.is_empty()),
                    (Knob::WithMicrodata, !with.other_microdata.is_empty()),
                    (Knob::Series, with.ledger.is_some()),
                ])?;
                part_by_part(release, with, watch)
            }
        }
    }
}

fn only_in_one_piece(knob: Knob, needed: u64) -> Error {
    let evidence = match knob {
        Knob::With => "other releases",
        Knob::WithMicrodata => "tables of other releases",
        Knob::PopulationTable => "a table of the population",
        Knob::Series => "a ledger",
        _ => "microdata",
    };
    let message = format!(
        "{evidence} can be compared only with a release that is read in one piece, and this one does not fit into the memory \
         that is allowed, so that it would be audited part by part"
    );
    Error::request(message, Memory::more(needed, 1))
}

/// Audits a release part by part, in about the memory that its largest part takes.
fn part_by_part(release: &PartByPart, with: Evidence<'_>, watch: &dyn Watch) -> Result<AuditOutcome, Error> {
    Stopped::catch(|| {
        let (manifest, n_parts, memory) = (release.manifest(), release.parts(), release.memory());
        watch.note(&format!(
            "the release does not fit into {memory} of memory in one piece: it is audited part by part, without attacks that \
             learn from all groups at once"
        ));
        watch.phase("survey", Some(manifest.rows), Counted::Rows);
        let mut survey = Survey::new(manifest, memory)?;
        let wanted = survey.wanted();
        for part in 0..n_parts {
            let found = release.read_columns(part, &wanted)?;
            survey.add(&found)?;
            watch.tell(rows(&found.manifest));
        }
        watch.phase("audit", Some(manifest.rows), Counted::Rows);
        let mut judge = PartsAudit::new(manifest, survey)?;
        let mut seen = FilesReport::default();
        for part in 0..n_parts {
            watch.detail(&format!("part {} of {}", count(part as u64 + 1), count(n_parts as u64)));
            let found = release.read(part)?;
            let n_rows = rows(&found.manifest);
            // One after the other, so that only one of them takes memory; each of them uses all threads.
            if let Some(folder) = with.folder {
                seen.add(look_at_part(folder, manifest, part, &found.tables, &|_| watch.pause())?);
            }
            judge.judge(found, watch)?;
            watch.tell(n_rows);
        }
        let mut report = judge.finish(watch)?;
        report.checks.extend(with.folder.map(|folder| files::seen(folder, manifest, seen)).transpose()?);
        report.checks.extend(roles::check(manifest, with.sensitive, None));
        let (replay, finding) = replay::attack(manifest, None, with.replay, watch);
        report.attacks.replay = replay;
        report.attacks.findings.push(finding);
        Ok(outcome(report, manifest))
    })?
}

/// The rows that a part has of the table of people.
fn rows(part: &Manifest) -> u64 {
    let people = part.tables.iter().find(|entry| entry.name == part.method.shape().people);
    people.map_or(0, |entry| entry.rows)
}
