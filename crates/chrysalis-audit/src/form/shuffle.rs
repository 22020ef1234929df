//! Exact quasi values, the sensitive column permuted inside its group, and a table of bounds.

use chrysalis_release::{Manifest, Release};
use chrysalis_table::{Table, Watch};

use super::Judge;
use crate::intersection::{self, JoinedReleases, JoinedView};
use crate::parts::{Extent, Looked};
use crate::{AuditError, AuditReport, attack, values};

pub(super) struct ShuffleJudge;

impl Judge for ShuffleJudge {
    fn audit(
        &self,
        release: &Release,
        microdata: Option<&Table>,
        watch: &dyn Watch,
    ) -> Result<AuditReport, AuditError> {
        values::audit(release, microdata, watch)
    }

    fn audit_part(&self, release: &Release, extent: Extent<'_>, watch: &dyn Watch) -> Result<Looked, AuditError> {
        values::audit_part(release, extent, watch)
    }

    fn views<'a>(
        &self,
        release: &'a Release,
        joined: &mut JoinedReleases<'_>,
    ) -> Result<Vec<JoinedView<'a>>, AuditError> {
        intersection::of_values(release, joined)
    }

    fn hides_people(&self) -> bool {
        false
    }

    fn against_replay(&self, manifest: &Manifest) -> Option<String> {
        Some(attack::against_replay_by(&manifest.partitioner))
    }
}
