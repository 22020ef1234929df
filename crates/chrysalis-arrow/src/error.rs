use arrow_schema::ArrowError;
use chrysalis_table::{Kind, Remedy, TableError};
use thiserror::Error;

/// What can be wrong with input record batches.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ArrowTableError {
    /// A fault of the table that they hold.
    #[error(transparent)]
    Table(#[from] TableError),
    /// A column of a type that people's tables do not have.
    #[error("column `{column}` has the type {found}")]
    ColumnType {
        /// The column.
        column: String,
        /// Its type.
        found: String,
    },
    /// A column with values that would lose digits.
    #[error("column `{column}` of type {found} has {finer}")]
    Digits {
        /// The column.
        column: String,
        /// Its type.
        found: String,
        /// What these values are.
        finer: &'static str,
    },
    /// A column whose batches do not agree on what it is.
    #[error("column `{column}` is {before} in one batch and {found} in another")]
    TypeChanges {
        /// The column.
        column: String,
        /// What it was first.
        before: Kind,
        /// What it is later.
        found: Kind,
    },
    /// A batch whose columns are not those of the schema.
    #[error("a batch has the columns {}, the schema says {}", .found.join(", "), .expected.join(", "))]
    Columns {
        /// What the batch has.
        found: Vec<String>,
        /// What the schema says.
        expected: Vec<String>,
    },
    /// The source of the batches failed.
    #[error("cannot get the record batches: {}", briefly(.0))]
    Source(#[from] ArrowError),
}

impl ArrowTableError {
    /// What the user can do about it.
    pub fn hint(&self) -> Remedy {
        match self {
            ArrowTableError::Table(error) => error.hint(),
            ArrowTableError::ColumnType { .. } => {
                "turn it into numbers, text or a date before publishing, or leave the column out".into()
            }
            ArrowTableError::Digits { .. } => {
                "round it before publishing, turn it into text, or leave the column out".into()
            }
            ArrowTableError::TypeChanges { .. } => "give the column one type in all batches".into(),
            ArrowTableError::Columns { .. } => "hand over batches that all have the columns of the schema".into(),
            ArrowTableError::Source(_) => "check what the batches are made from".into(),
        }
    }
}

/// What a source says, without the trace of its calls that Python adds on further lines.
fn briefly(error: &ArrowError) -> String {
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    line.split(". Detail:").next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_columns_and_types_and_say_what_to_do() {
        let check = |error: ArrowTableError, message: &str, hint: &str| {
            assert_eq!(error.to_string(), message);
            assert_eq!(error.hint(), hint);
        };
        check(TableError::NoRows.into(), "the table has no rows", "check that the export that made it succeeded");
        check(
            ArrowTableError::ColumnType { column: "at".into(), found: "Time64(ns)".into() },
            "column `at` has the type Time64(ns)",
            "turn it into numbers, text or a date before publishing, or leave the column out",
        );
        check(
            ArrowTableError::Digits {
                column: "at".into(),
                found: "Timestamp(ns)".into(),
                finer: "moments finer than a microsecond",
            },
            "column `at` of type Timestamp(ns) has moments finer than a microsecond",
            "round it before publishing, turn it into text, or leave the column out",
        );
        check(
            ArrowTableError::TypeChanges { column: "a".into(), before: Kind::Integer, found: Kind::Category },
            "column `a` is integer in one batch and category in another",
            "give the column one type in all batches",
        );
        check(
            ArrowTableError::Columns { found: vec!["a".into()], expected: vec!["a".into(), "b".into()] },
            "a batch has the columns a, the schema says a, b",
            "hand over batches that all have the columns of the schema",
        );
        check(
            ArrowError::ComputeError("division by zero".into()).into(),
            "cannot get the record batches: Compute error: division by zero",
            "check what the batches are made from",
        );
        let traced = "IOError: the connection is gone. Detail: Python exception: Traceback\n  File \"a.py\"";
        check(
            ArrowError::CDataInterface(traced.into()).into(),
            "cannot get the record batches: C Data interface error: IOError: the connection is gone",
            "check what the batches are made from",
        );
    }
}
