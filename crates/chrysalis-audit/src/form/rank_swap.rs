//! Exact quasi values, sensitive values exchanged with close ones: no groups, and nothing to promise.

use chrysalis_release::{Manifest, Release};
use chrysalis_table::{Table, Watch};

use super::Judge;
use crate::intersection::{JoinedReleases, JoinedView};
use crate::{AuditError, AuditReport, values};

pub(super) struct RankSwapJudge;

impl Judge for RankSwapJudge {
    fn audit(
        &self,
        release: &Release,
        microdata: Option<&Table>,
        watch: &dyn Watch,
    ) -> Result<AuditReport, AuditError> {
        values::audit(release, microdata, watch)
    }

    /// A value may be almost anybody's, so nothing follows from it.
    fn views<'a>(&self, release: &'a Release, _: &mut JoinedReleases<'_>) -> Result<Vec<JoinedView<'a>>, AuditError> {
        Err(AuditError::SwappedIntersection { method: release.manifest.method })
    }

    fn hides_people(&self) -> bool {
        false
    }

    fn against_replay(&self, _: &Manifest) -> Option<String> {
        Some("Does not apply: there are no groups that could have been cut.".to_owned())
    }
}
