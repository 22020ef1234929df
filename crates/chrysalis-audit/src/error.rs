use chrysalis_release::{Form, ReleaseError, Values};
use chrysalis_table::{Kind, Knob, Remedy};
use thiserror::Error;

use crate::form::{judge, names_of};

/// Why something could not be measured at all. What was measured and found wanting is in the report instead.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AuditError {
    /// A release whose sensitive values are not those of their own rows.
    #[error(
        "a release by method `{method}` may show people the values of others, so intersecting it with other releases \
         rules nothing out"
    )]
    SwappedIntersection {
        /// The method.
        method: Form,
    },
    /// More combinations of groups than can be examined one by one.
    #[error("the releases have {combinations} combinations of groups, too many to examine without the microdata")]
    TooManyPairs {
        /// How many.
        combinations: usize,
    },
    /// Groups that overlap so much that people may be in too many combinations of them.
    #[error("the groups of the releases overlap too much: people may be in more than {least} combinations of them")]
    TooManyOverlaps {
        /// How many are too many.
        least: usize,
    },
    /// A release that belongs to no series.
    #[error("{name} is no release of a series")]
    NoSeries {
        /// What findings call it.
        name: String,
    },
    /// More tables than can be combined with each other.
    #[error("the tables of the releases can be combined in {combinations} ways, but at most {most} can be tried")]
    TooManyTables {
        /// In how many ways.
        combinations: usize,
        /// How many can be tried.
        most: usize,
    },
    /// Releases whose sensitive columns are not the same, so that they say nothing about each other.
    #[error("{name} protects `{theirs}` and this release protects `{ours}`, so they rule out nothing in each other")]
    OtherSensitive {
        /// The other release.
        name: String,
        /// Its sensitive attribute.
        theirs: String,
        /// The sensitive attribute of this release.
        ours: String,
    },
    /// A form that does not hide people among others, together with a release that does nothing else.
    #[error(
        "one of the releases has no sensitive column, so people are counted instead, but a release by method \
         `{method}` hides nobody among others"
    )]
    HidesNobody {
        /// The method.
        method: Form,
    },
    /// A release without a sensitive column, and no microdata to count people with.
    #[error(
        "one of the releases has no sensitive column, and without the microdata nobody knows how many people share their groups in all of them"
    )]
    NobodyToCount,
    /// A table or column that the form needs is not there.
    #[error(transparent)]
    Release(#[from] ReleaseError),
    /// A published column of the wrong kind.
    #[error("column `{column}` of table `{table}` is {found}, not {expected}")]
    WrongKind {
        /// The table.
        table: String,
        /// The column.
        column: String,
        /// What it is.
        found: Kind,
        /// What the manifest says.
        expected: Kind,
    },
    /// A promise that means nothing for this release.
    #[error("the manifest promises `{principle}`, which cannot be checked: {problem}")]
    Promise {
        /// The promise.
        principle: String,
        /// Why it cannot be checked.
        problem: String,
    },
    /// An attribute described in a way that makes no sense.
    #[error("the manifest describes `{attribute}` badly: {problem}")]
    Attribute {
        /// The attribute.
        attribute: String,
        /// What is wrong.
        problem: String,
    },
    /// A form that needs a sensitive attribute, in a manifest without one.
    #[error("a release by method `{method}` needs a sensitive attribute, but the manifest has none")]
    NoSensitive {
        /// The method.
        method: Form,
    },
    /// A release that cannot be judged part by part.
    #[error("this release cannot be audited part by part: {problem}")]
    InOnePiece {
        /// Why not.
        problem: String,
    },
    /// Nothing to measure.
    #[error("{what} has no rows")]
    NoRows {
        /// What has none.
        what: &'static str,
    },
    /// More rows than 32 bits can number.
    #[error("{what} has {rows} rows, but at most {} can be measured", u32::MAX)]
    TooManyRows {
        /// What has them.
        what: &'static str,
        /// How many.
        rows: usize,
    },
    /// A taxonomy of some other column.
    #[error("the taxonomy is not one over the values of `{column}`")]
    Taxonomy {
        /// The column.
        column: String,
    },
    /// A column that was named but does not exist.
    #[error("the {what} has no column `{column}`")]
    UnknownColumn {
        /// The table or the microdata.
        what: &'static str,
        /// The column.
        column: String,
        /// The columns that exist.
        columns: Vec<String>,
    },
    /// Microdata that were read with a different kind than the release was made with.
    #[error("column `{column}` of the microdata is {found}, but {expected} in the release")]
    MicrodataKind {
        /// The column.
        column: String,
        /// What it is.
        found: Kind,
        /// What the manifest says.
        expected: Kind,
    },
}

impl AuditError {
    /// What the user can do about it.
    pub fn hint(&self) -> Remedy {
        match self {
            AuditError::SwappedIntersection { .. } => made_with(&names_of(|form| match form.shape().values {
                Values::Beside | Values::Counted(_) => true,
                Values::Swapped => false,
            })),
            AuditError::TooManyPairs { .. } | AuditError::NobodyToCount => {
                Remedy::from("name the microdata with ").knob(Knob::Microdata, "")
            }
            AuditError::NoSeries { .. } => "compare releases of one series, or only releases of none".into(),
            AuditError::TooManyOverlaps { .. } | AuditError::TooManyTables { .. } => {
                Remedy::from("name fewer releases with ").knob(Knob::With, "").words(" at once")
            }
            AuditError::OtherSensitive { ours, .. } => format!("name releases that protect `{ours}`").into(),
            AuditError::HidesNobody { .. } => {
                let forms = names_of(|form| judge(form).hides_people());
                made_with(&forms).words(", or only releases with a sensitive column")
            }
            AuditError::Release(error) => error.hint(),
            AuditError::WrongKind { .. }
            | AuditError::Promise { .. }
            | AuditError::Attribute { .. }
            | AuditError::NoSensitive { .. } => {
                "the release was changed after it was published: get it again from its publisher".into()
            }
            AuditError::InOnePiece { .. } => Remedy::from("allow so much memory with ")
                .knob(Knob::Memory, "")
                .words(" that it is audited in one piece"),
            AuditError::NoRows { .. } => "name a file that holds rows below its header".into(),
            AuditError::TooManyRows { .. } => "measure a sample of the rows".into(),
            AuditError::Taxonomy { column } => format!("bind the taxonomy to the domain of `{column}`").into(),
            AuditError::UnknownColumn { columns, .. } => format!("the columns are {}", columns.join(", ")).into(),
            AuditError::MicrodataKind { expected, .. } => {
                format!("read this column as {expected}; if another release reads it otherwise, check each alone")
                    .into()
            }
        }
    }
}

/// `name releases made with`, the first of some forms as a value of the knob, and the others by name.
fn made_with(forms: &[&str]) -> Remedy {
    let (first, others) = forms.split_first().map_or(("", &[][..]), |(first, others)| (*first, others));
    let others = others.iter().enumerate().map(|(at, name)| {
        let link = if at + 1 == others.len() { " or" } else { "," };
        format!("{link} `{name}`")
    });
    Remedy::from("name releases made with ").knob(Knob::Method, first).words(others.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_name_the_forms_that_would_do() {
        let error = AuditError::SwappedIntersection { method: Form::RankSwap };
        assert!(error.to_string().starts_with("a release by method `rank-swap` may show people"), "{error}");
        let hint = error.hint().to_string();
        let start = "name releases made with `method = generalize`, `anatomy`, `permute`, `shuffle`, `angel`";
        assert!(hint.starts_with(start) && hint.contains(" or `") && !hint.contains("rank-swap"), "{hint}");
        assert_eq!(
            AuditError::HidesNobody { method: Form::Anatomy }.hint(),
            "name releases made with `method = generalize` or `butterfly`, or only releases with a sensitive column"
        );
        assert_eq!(AuditError::NobodyToCount.hint(), "name the microdata with `microdata`");
        assert_eq!(
            AuditError::TooManyTables { combinations: 2, most: 1 }.hint(),
            "name fewer releases with `with` at once"
        );
    }
}
