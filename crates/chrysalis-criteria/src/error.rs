use chrysalis_table::{Kind, Knob, Remedy};
use thiserror::Error;

/// What can be wrong with a principle as it was written.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CriteriaError {
    /// No such principle.
    #[error("`{text}` is not a principle")]
    Unknown {
        /// What was written.
        text: String,
    },
    /// Several principles where one is expected.
    #[error("`{text}` is several principles where one is expected")]
    Several {
        /// What was written.
        text: String,
        /// The principles, one by one.
        parts: Vec<String>,
    },
    /// A known principle with parameters that make no sense.
    #[error("`{text}`: {problem}")]
    Parameter {
        /// What was written.
        text: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A principle that cannot be asked of the column it is written with.
    #[error("`{text}`: {problem}")]
    Column {
        /// What was written.
        text: String,
        /// The principle alone.
        principle: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A principle about sensitive values, without a sensitive column.
    #[error("`{text}` needs a sensitive column")]
    NoSensitive {
        /// The principle.
        text: String,
    },
    /// A principle that subtracts values, on a column that is not numeric.
    #[error("`{text}` needs a numeric sensitive column, but `{column}` is {kind}")]
    NotNumeric {
        /// The principle.
        text: String,
        /// The sensitive column.
        column: String,
        /// Its kind.
        kind: Kind,
    },
    /// An (l,α) principle without categories.
    #[error("`{text}` needs the values of `{column}` in categories, from most to least sensitive")]
    NoCategories {
        /// The principle.
        text: String,
        /// The sensitive column.
        column: String,
    },
    /// A principle that weighs the values of each person equally, where some persons have too many.
    #[error(
        "`{text}` gives every value of a person an equal share, but some have so many values of `{column}` that shares cannot be counted exactly"
    )]
    TooManyValues {
        /// The principle.
        text: String,
        /// The sensitive column.
        column: String,
        /// The most values that a person may have.
        most: u64,
    },
    /// Categories that do not split the domain.
    #[error("the categories of `{column}` {problem}")]
    Categories {
        /// The sensitive column.
        column: String,
        /// What is wrong with them.
        problem: String,
    },
    /// Weights that cannot be read.
    #[error("`{text}` is not a weighting: {problem}")]
    Weights {
        /// What was written.
        text: String,
        /// What is wrong with it.
        problem: String,
    },
}

impl CriteriaError {
    /// What the user can do about it.
    pub fn hint(&self) -> Remedy {
        match self {
            CriteriaError::Unknown { .. } => {
                "write one of k=10, distinct-l=4, l=4, entropy-l=4, recursive-l=3,4, t=0.2, ke=4,100, alpha-k=0.5,10, \
                 distinct-l-alpha=3,1, entropy-l-alpha=2,2, recursive-l-alpha=3,4,2, beta=1"
                    .into()
            }
            CriteriaError::Several { parts, .. } => {
                let each = Remedy::from("require each on its own:");
                parts.iter().take(5).fold(each, |remedy, part| remedy.words(" ").knob(Knob::Require, part))
            }
            CriteriaError::Parameter { .. } => Remedy::from("see ").manual().words(" for what each parameter means"),
            CriteriaError::Column { principle, .. } => Remedy::from("write ").knob(Knob::Require, principle),
            CriteriaError::NoSensitive { .. } => Remedy::from("name one with ").knob(Knob::Sensitive, ""),
            CriteriaError::NotNumeric { .. } => "choose an integer or real column, or another principle".into(),
            CriteriaError::NoCategories { column, .. } => {
                let example = format!("{column}=A|B;C;…");
                Remedy::from("list them, most sensitive first, with ").knob(Knob::Categories, example)
            }
            CriteriaError::TooManyValues { most, .. } => {
                Remedy::from("keep fewer rows of each person, with ").knob(Knob::RowsPerPerson, most.to_string())
            }
            CriteriaError::Categories { .. } => "list every value of the column once, in exactly one category".into(),
            CriteriaError::Weights { .. } => {
                "write \"uniform\", \"sensitivity(2)\", or one number per category from 0 to 1".into()
            }
        }
    }
}
