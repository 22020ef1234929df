//! A release as an attacker sees it, whatever its form.

use chrysalis_release::Promise;
use chrysalis_table::{Domain, Watch};

use super::shown::ShownAttribute;
use crate::measure::GroupCounts;

/// Groups with their sensitive values: what is needed to attack who is known to stand in one.
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
    /// What a group is called: `group`, `batch`, or the class of somebody who knows some attributes.
    pub(crate) group_word: &'a str,
    /// Who may stop an attack.
    pub(crate) watch: &'a dyn Watch,
}

/// The same with what is shown of every row: groups (batches, or the classes of one user, where there are such), and
/// the quasi attributes.
pub(crate) struct AttackerView<'a> {
    pub(crate) target: AttackTarget<'a>,
    /// The group of every published row.
    pub(crate) of_row: &'a [u32],
    pub(crate) quasi: Vec<ShownAttribute<'a>>,
    /// Whether the values of a row belong together; otherwise every column was permuted on its own.
    pub(crate) is_joint: bool,
}
