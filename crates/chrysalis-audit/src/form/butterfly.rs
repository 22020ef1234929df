//! Ranges and labels for several users, each of whom knows one quasi-identifier.

use chrysalis_release::{Manifest, Release};
use chrysalis_table::{Table, Watch};

use super::Judge;
use crate::attack::Draws;
use crate::intersection::{self, JoinedReleases, JoinedView};
use crate::{AuditError, AuditReport, boxes};

pub(super) struct ButterflyJudge;

impl Judge for ButterflyJudge {
    fn audit(
        &self,
        release: &Release,
        microdata: Option<&Table>,
        watch: &dyn Watch,
    ) -> Result<AuditReport, AuditError> {
        boxes::audit_for_users(release, microdata, watch)
    }

    fn views<'a>(
        &self,
        release: &'a Release,
        joined: &mut JoinedReleases<'_>,
    ) -> Result<Vec<JoinedView<'a>>, AuditError> {
        intersection::of_users(release, joined)
    }

    fn hides_people(&self) -> bool {
        true
    }

    fn against_replay(&self, manifest: &Manifest) -> Option<String> {
        let form = manifest.method;
        Some(format!(
            "Not replayed: a {form} is chosen from many by its loss, which small groups do not show; which one came \
             out may reveal values."
        ))
    }

    fn draws(&self, _: &str) -> Draws {
        Draws::LOOK_ALIKES
    }
}
