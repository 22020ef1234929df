use std::fmt;
use std::str::FromStr;

use crate::{CriteriaError, PrincipleSpec};

/// A principle, and the sensitive column of which it is required: `disease:l=4`, or `l=4` for every sensitive column
/// that it can be asked of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirement {
    /// The column; `None` for every column, and for principles that only count rows.
    pub about: Option<String>,
    /// The principle.
    pub principle: PrincipleSpec,
}

impl Requirement {
    /// A requirement of every column.
    pub fn of_all(principle: PrincipleSpec) -> Self {
        Requirement { about: None, principle }
    }

    /// A requirement of one column; of none if the principle only counts rows.
    pub fn of(column: &str, principle: PrincipleSpec) -> Self {
        Requirement { about: principle.needs_sensitive().then(|| column.to_owned()), principle }
    }

    /// Whether it names this column, or none.
    pub fn may_concern(&self, column: &str) -> bool {
        self.about.as_deref().is_none_or(|about| about == column)
    }
}

impl From<PrincipleSpec> for Requirement {
    fn from(principle: PrincipleSpec) -> Self {
        Requirement::of_all(principle)
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.about {
            Some(column) => write!(f, "{column}:{}", self.principle),
            None => self.principle.fmt(f),
        }
    }
}

impl FromStr for Requirement {
    type Err = CriteriaError;

    /// The last colon ends the name of the column, because no principle has one.
    fn from_str(text: &str) -> Result<Self, CriteriaError> {
        let Some((column, principle)) = text.rsplit_once(':') else { return Ok(Requirement::of_all(text.parse()?)) };
        let principle: PrincipleSpec = principle.trim().parse()?;
        let column = column.trim();
        if column.is_empty() || !principle.needs_sensitive() {
            let problem = match column {
                "" => "there is no column before the colon".to_owned(),
                _ => format!("it counts rows, whatever their `{column}`"),
            };
            return Err(CriteriaError::Column { text: text.to_owned(), principle: principle.to_string(), problem });
        }
        Ok(Requirement { about: Some(column.to_owned()), principle })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_requirement_names_its_column_before_the_last_colon() {
        for (text, column, principle) in [
            ("disease:l=4", Some("disease"), "l=4"),
            ("l=4", None, "l=4"),
            ("a:b : ke=2,100", Some("a:b"), "ke=2,100"),
            ("k=10", None, "k=10"),
        ] {
            let read: Requirement = text.parse().unwrap();
            assert_eq!((read.about.as_deref(), read.principle.to_string().as_str()), (column, principle), "{text}");
            assert_eq!(read.to_string().parse::<Requirement>().unwrap(), read);
        }
    }

    #[test]
    fn what_counts_rows_has_no_column() {
        let error = |text: &str| text.parse::<Requirement>().unwrap_err();
        let rows = error("disease:k=10");
        assert_eq!(rows.to_string(), "`disease:k=10`: it counts rows, whatever their `disease`");
        assert_eq!(rows.hint().to_string(), "write `require = k=10`");
        assert_eq!(error(":l=2").to_string(), "`:l=2`: there is no column before the colon");
        assert_eq!(error("disease:diversity=3").to_string(), "`diversity=3` is not a principle");
    }
}
