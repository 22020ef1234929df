//! What is judged differently from form to form, one file per form.
//!
//! Everything else in this crate goes by what a release looks like (its [`Shape`](chrysalis_release::Shape)), or asks
//! the judge of its form. Judges decode releases on their own: nothing here is shared with the code that answers
//! questions from releases.

mod anatomy;
mod angel;
mod butterfly;
mod generalize;
mod permute;
mod rank_swap;
mod shuffle;
#[cfg(feature = "toy-form")]
mod toy;

use chrysalis_release::{Form, Manifest, Release};
use chrysalis_table::{Table, Watch};

use crate::attack::Draws;
use crate::intersection::{JoinedReleases, JoinedView};
use crate::parts::{Extent, Looked};
use crate::{AuditError, AuditReport};

/// Judges the releases of one form.
pub(crate) trait Judge: Sync {
    /// Judges a release.
    fn audit(&self, release: &Release, microdata: Option<&Table>, watch: &dyn Watch)
    -> Result<AuditReport, AuditError>;

    /// Judges one part of a release, whose groups are all in it.
    fn audit_part(&self, release: &Release, _: Extent<'_>, _: &dyn Watch) -> Result<Looked, AuditError> {
        let problem = format!("releases by method `{}` are not divided by groups", release.manifest.method);
        Err(AuditError::InOnePiece { problem })
    }

    /// A release as seen by an attacker who has others too: one view per table or user.
    fn views<'a>(
        &self,
        release: &'a Release,
        joined: &mut JoinedReleases<'_>,
    ) -> Result<Vec<JoinedView<'a>>, AuditError>;

    /// Whether people are hidden among others, so that these others can be counted.
    fn hides_people(&self) -> bool;

    /// Why nothing can be concluded from what was not cut, or at least not here; `None` where groups can be replayed.
    fn against_replay(&self, manifest: &Manifest) -> Option<String>;

    /// What is drawn at random when the same table is published again.
    fn draws(&self, partitioner: &str) -> Draws {
        Draws::of(partitioner)
    }
}

/// The judge of a form. No other place in this crate tells forms apart.
pub(crate) fn judge(form: Form) -> &'static dyn Judge {
    match form {
        Form::Generalize => &generalize::GeneralizeJudge,
        Form::Anatomy => &anatomy::AnatomyJudge,
        Form::Permute => &permute::PermuteJudge,
        Form::Shuffle => &shuffle::ShuffleJudge,
        Form::Angel => &angel::AngelJudge,
        Form::Butterfly => &butterfly::ButterflyJudge,
        Form::RankSwap => &rank_swap::RankSwapJudge,
        #[cfg(feature = "toy-form")]
        Form::Toy => &toy::Toy,
    }
}

/// The names of some forms, for messages.
pub(crate) fn names_of(is_meant: impl Fn(Form) -> bool) -> Vec<&'static str> {
    Form::ALL.iter().copied().filter(|&form| is_meant(form)).map(Form::name).collect()
}

#[cfg(test)]
mod tests {
    use chrysalis_release::{Detail, Values};
    use chrysalis_table::Column;

    use super::*;
    use crate::attack::tests::{verbatim, words};
    use crate::intersect;
    use crate::testing::audit;

    #[test]
    fn people_hide_where_whole_groups_show_the_same_cells() {
        for &form in Form::ALL {
            assert_eq!(judge(form).hides_people(), form.shape().detail == Detail::GroupBoxes, "{form}");
        }
    }

    /// Whatever such a form is called: tables, promises, attacks and faithfulness go by its shape.
    #[test]
    fn exact_rows_with_counted_values_are_judged_whatever_the_form() {
        let people = Table::new(vec![
            Column::integers("age", &[20, 30, 40, 50, 60, 70]),
            words("disease", "d", &[1, 2, 3, 1, 2, 3]),
        ]);
        let is_meant = |form: &&Form| match (form.shape().detail, form.shape().values) {
            (Detail::Exact, Values::Counted(_)) => true,
            (Detail::Exact, Values::Beside | Values::Swapped) => false,
            (Detail::Permuted | Detail::GroupBoxes | Detail::RowBoxes, _) => false,
        };
        for &form in Form::ALL.iter().filter(is_meant) {
            let release = verbatim(form, &people, &[1, 1, 1, 2, 2, 2], &["k=3", "l=3"]);
            for microdata in [None, Some(&people)] {
                let report = audit(&release, microdata).unwrap();
                assert!(report.ok() && report.attacks.learned.is_some(), "{form}: {report:?}");
                assert_eq!((report.principles.len(), report.attacks.findings.len()), (2, 11), "{form}");
            }
            let broken = verbatim(form, &people, &[1, 1, 1, 2, 2, 2], &["l=4"]);
            assert!(!audit(&broken, None).unwrap().ok(), "{form}");
            let (check, found) = intersect(&release, &release, "itself", Some(&people)).unwrap();
            assert!(check.ok && found.fewest == Some(3), "{form}: {found:?}");
        }
    }
}
