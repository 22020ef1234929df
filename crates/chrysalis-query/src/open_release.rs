use chrysalis_release::view::{CodedColumn, Combinations, Groups, Labels, Multisets};
use chrysalis_release::{Manifest, Release, ReleaseError, View};

use crate::learned::Grids;
use crate::{Plan, QueryError, askable};

/// A release that can be asked any number of questions: all work that does not depend on the question is done once.
///
/// A column that the tables lack is no error until a question needs it, so a front end may read only the columns that
/// [`Plan::columns`] names.
///
/// # Cost
/// Opening costs as much as a [`View`]. A question then costs one pass over the codes of the columns it names, and one
/// over the sensitive values of the groups it touches.
#[derive(Debug)]
pub struct OpenRelease {
    view: View,
    /// What learned estimates know about attributes, whatever the question.
    grids: Grids,
}

impl OpenRelease {
    /// Opens a release.
    pub fn new(release: &Release) -> Result<OpenRelease, QueryError> {
        askable(&release.manifest)?;
        Ok(OpenRelease { view: View::with_counterfeits(release)?, grids: Grids::default() })
    }

    /// What the release says about itself.
    pub fn manifest(&self) -> &Manifest {
        &self.view.manifest
    }

    pub(crate) fn grids(&self) -> &Grids {
        &self.grids
    }

    /// The rows of every group, all of which are somebody's.
    pub(crate) fn groups(&self) -> &Groups {
        &self.view.groups
    }

    /// Groups by how many values they show: as many as they have rows, unless some are counterfeit.
    pub(crate) fn shown(&self) -> &Groups {
        &self.view.shown
    }

    /// How many values a group shows.
    pub(crate) fn size(&self, group: usize) -> u32 {
        self.view.shown.size(group)
    }

    /// Whether some values are nobody's.
    pub(crate) fn has_counterfeits(&self) -> bool {
        self.view.counterfeits() > 0
    }

    pub(crate) fn column(&self, plan: &Plan, field: usize) -> Result<&CodedColumn, QueryError> {
        self.view.column(field).ok_or_else(|| self.lacks(plan, field))
    }

    /// The labels of every group, or of every row of the plan's table, group by group, if rows have their own.
    pub(crate) fn labels(&self, plan: &Plan, field: usize) -> Result<&Labels, QueryError> {
        self.view.labels(&plan.table, field).ok_or_else(|| self.lacks(plan, field))
    }

    /// The values of a sensitive attribute in every group.
    pub(crate) fn multisets(&self, plan: &Plan, field: usize) -> Result<&Multisets, QueryError> {
        let table = || plan.counted_values_of(field).map_or_else(|| plan.table.clone(), |(table, _)| table);
        let lacks = || ReleaseError::MissingColumn { table: table(), column: plan.fields[field].name.clone() };
        self.view.values(field).ok_or_else(|| lacks().into())
    }

    /// The combinations of a sensitive attribute's values with those of others that are shown together with it.
    pub(crate) fn combinations(&self, plan: &Plan, field: usize, set: &[usize]) -> Result<&Combinations, QueryError> {
        let lacks = || {
            let table = plan.combinations_table(set).unwrap_or_else(|| plan.table.clone());
            ReleaseError::MissingColumn { table, column: plan.fields[field].name.clone() }
        };
        self.view.combinations(field).ok_or_else(|| lacks().into())
    }

    fn lacks(&self, plan: &Plan, field: usize) -> QueryError {
        let (table, column) = (plan.table.clone(), plan.fields[field].name.clone());
        ReleaseError::MissingColumn { table, column }.into()
    }
}
