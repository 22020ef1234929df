//! Sensitive values per batch, ranges and labels per bucket.

use chrysalis_release::{Manifest, Release};
use chrysalis_table::{Table, Watch};

use super::Judge;
use crate::attack::Draws;
use crate::intersection::{self, JoinedReleases, JoinedView};
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

    fn views<'a>(
        &self,
        release: &'a Release,
        joined: &mut JoinedReleases<'_>,
    ) -> Result<Vec<JoinedView<'a>>, AuditError> {
        intersection::of_buckets(release, joined)
    }

    fn hides_people(&self) -> bool {
        false
    }

    fn against_replay(&self, manifest: &Manifest) -> Option<String> {
        Some(attack::against_replay_of_batches(&manifest.partitioner))
    }

    /// Batches of people who lie close together exchange rows afterwards, in an order that is drawn at random. Where
    /// the groups of a simple generalization serve better, they replace the batches, and most likely will again.
    fn draws(&self, partitioner: &str) -> Draws {
        match partitioner {
            "nearby" => Draws::Groups,
            "mondrian" => Draws::Little(
                "these batches were cut, not drawn at random, but batches that are drawn may win next \
                               time",
            ),
            _ => Draws::of(partitioner),
        }
    }
}
