//! A release as an attacker sees it, whatever its form.

use chrysalis_release::Promise;
use chrysalis_table::{Domain, Watch};

use super::shown::ShownAttribute;
use crate::measure::GroupCounts;

/// Whose values are attacked, in words.
#[derive(Clone, Copy)]
pub(crate) struct Subject<'a> {
    /// The sensitive attribute.
    pub(crate) sensitive: &'a str,
    /// What a group is called.
    pub(crate) group_word: &'a str,
}

impl<'a> AttackTarget<'a> {
    pub(crate) fn subject(&self) -> Subject<'a> {
        Subject { sensitive: self.sensitive, group_word: self.group_word }
    }
}

/// Groups with their sensitive values: what is needed to attack people whose group is known.
#[derive(Clone, Copy)]
pub(crate) struct AttackTarget<'a> {
    /// The sensitive values of every group.
    pub(crate) sample: &'a GroupCounts,
    /// Their published ids.
    pub(crate) ids: &'a [Option<i64>],
    /// The sensitive attribute.
    pub(crate) sensitive: &'a str,
    pub(crate) domain: &'a Domain,
    /// What is promised.
    pub(crate) promises: &'a [Promise],
    /// What a group is called: `group`, `batch`, or the class of a user who knows some attributes.
    pub(crate) group_word: &'a str,
    /// Stops an attack when asked to.
    pub(crate) watch: &'a dyn Watch,
}

/// The same, with what is shown of every row: its group (a batch, or a class of one user, in forms that have them) and
/// the quasi attributes.
pub(crate) struct AttackerView<'a> {
    pub(crate) target: AttackTarget<'a>,
    /// The group of every published row.
    pub(crate) of_row: &'a [u32],
    pub(crate) quasi: Vec<ShownAttribute<'a>>,
    /// Whether the values of a row belong together; otherwise every column was permuted on its own.
    pub(crate) is_joint: bool,
}
