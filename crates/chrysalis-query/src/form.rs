//! The forms of release that can be asked, as the analyst sees them.

use chrysalis_release::{GROUP_ID, Manifest, anatomy, angelized, generalized, permuted, shuffled};

use crate::QueryError;

/// A form of release.
///
/// Another form is another variant here, its hits in `estimate/`, and nothing else: what is done with hits is the same
/// for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `qit` and `st`: quasi values are exact.
    Anatomy,
    /// `permuted` and `help`: quasi values are exact.
    Shuffle,
    /// `pqt` and `pst`: every quasi column is permuted inside its group.
    Permute,
    /// `generalized` and `members`: ranges and labels.
    Generalize,
    /// `bt`, `gt`, `gt_…` and `members`: ranges and labels, and batches that say which sensitive values belong to them.
    Angel,
}

/// What a form lets one say about the hits in a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hits {
    /// Rows can be looked at: hits are known.
    Exact,
    /// Each column's values are known, but not what stands beside what.
    Permuted,
    /// A box is known in which every row of a group lies.
    Generalized,
    /// For every row of a group a box is known in which it lies.
    Boxed,
}

impl Hits {
    /// Whether quasi values are ranges and labels.
    pub fn is_labelled(self) -> bool {
        matches!(self, Hits::Generalized | Hits::Boxed)
    }
}

impl Form {
    /// The form of a release, or why it cannot be asked.
    pub fn of(manifest: &Manifest) -> Result<Form, QueryError> {
        match manifest.method.as_str() {
            "anatomy" => Ok(Form::Anatomy),
            "shuffle" => Ok(Form::Shuffle),
            "permute" => Ok(Form::Permute),
            // Rows of a group show the same labels in either.
            "generalize" | "butterfly" => Ok(Form::Generalize),
            "angel" => Ok(Form::Angel),
            "rank-swap" => Err(QueryError::unanswerable(
                None,
                "a release by rank-swap does not tell which rows were swapped, so no bound would hold",
                "publish the table with anatomy, permute, shuffle, angel, butterfly or generalize",
            )),
            other => Err(QueryError::unanswerable(
                None,
                format!("releases by `{}` cannot be asked", other.chars().take(40).collect::<String>()),
                "ask one by anatomy, permute, shuffle, angel, butterfly or generalize",
            )),
        }
    }

    /// What it lets one say about hits.
    pub fn hits(self) -> Hits {
        match self {
            Form::Anatomy | Form::Shuffle => Hits::Exact,
            Form::Permute => Hits::Permuted,
            Form::Generalize => Hits::Generalized,
            Form::Angel => Hits::Boxed,
        }
    }

    /// The table with a row per person; for angel, that with all quasi attributes.
    pub fn quasi_table(self) -> &'static str {
        match self {
            Form::Anatomy => anatomy::QUASI_TABLE,
            Form::Shuffle => shuffled::TABLE,
            Form::Permute => permuted::QUASI_TABLE,
            Form::Generalize => generalized::TABLE,
            Form::Angel => angelized::TABLE,
        }
    }

    /// The table of sensitive values with the column that counts them, where they have a table of their own.
    pub fn sensitive_table(self) -> Option<(&'static str, &'static str)> {
        match self {
            Form::Anatomy => Some((anatomy::SENSITIVE_TABLE, anatomy::COUNT)),
            Form::Permute => Some((permuted::SENSITIVE_TABLE, permuted::COUNT)),
            Form::Angel => Some((angelized::BATCH_TABLE, angelized::COUNT)),
            Form::Shuffle | Form::Generalize => None,
        }
    }

    /// The column that says which rows share their sensitive values.
    pub fn group_id(self) -> &'static str {
        match self {
            Form::Angel => angelized::BATCH_ID,
            Form::Anatomy | Form::Shuffle | Form::Permute | Form::Generalize => GROUP_ID,
        }
    }
}
