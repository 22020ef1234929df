//! Sensitive values per batch, ranges and labels per bucket.

use chrysalis_release::{Manifest, Release};
use chrysalis_table::{Table, Watch};

use super::Judge;
use crate::attack::Draws;
use crate::intersection::{self, Joined, JoinedView};
use crate::{AuditError, AuditReport, attack, boxes};

pub(super) struct AngelJudge;

impl Judge for AngelJudge {
    fn audit(
        &self,
        release: &Release,
        microdata: Option<&Table>,
        watch: &dyn Watch,
    ) -> Result<AuditReport, AuditError> {
        boxes::audit_batches(release, microdata, watch)
    }

    fn views<'a>(&self, release: &'a Release, joined: &mut Joined<'_>) -> Result<Vec<JoinedView<'a>>, AuditError> {
        intersection::of_buckets(release, joined)
    }

    fn hides_people(&self) -> bool {
        false
    }

    fn against_replay(&self, manifest: &Manifest) -> Option<String> {
        Some(attack::against_replay_of_batches(&manifest.partitioner))
    }

    /// Cuts may have taken the place of batches that were drawn, and need not do so again.
    fn draws(&self, partitioner: &str) -> Draws {
        match Draws::of(partitioner) {
            Draws::Nothing(_) if matches!(partitioner, "mondrian" | "full-domain") => Draws::Groups,
            draws => draws,
        }
    }
}
