//! Ranges and labels, the same for all rows of a group.

use chrysalis_release::{Manifest, Release};
use chrysalis_table::{Table, Watch};

use super::Judge;
use crate::intersection::{self, JoinedReleases, JoinedView};
use crate::parts::{Extent, Looked};
use crate::{AuditError, AuditReport, attack, boxes};

pub(super) struct GeneralizeJudge;

impl Judge for GeneralizeJudge {
    fn audit(
        &self,
        release: &Release,
        microdata: Option<&Table>,
        watch: &dyn Watch,
    ) -> Result<AuditReport, AuditError> {
        boxes::audit(release, microdata, watch)
    }

    fn audit_part(&self, release: &Release, extent: Extent<'_>, watch: &dyn Watch) -> Result<Looked, AuditError> {
        boxes::look(release, None, extent, watch)
    }

    fn views<'a>(
        &self,
        release: &'a Release,
        joined: &mut JoinedReleases<'_>,
    ) -> Result<Vec<JoinedView<'a>>, AuditError> {
        intersection::of_groups(release, joined)
    }

    fn hides_people(&self) -> bool {
        true
    }

    /// Groups that mondrian cut can be replayed, as long as counts alone decide the promises.
    fn against_replay(&self, manifest: &Manifest) -> Option<String> {
        attack::against_replay_of_cuts(manifest)
    }
}
