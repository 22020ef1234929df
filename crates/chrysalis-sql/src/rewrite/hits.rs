//! The CTE `hits` of exact forms, and how the columns of `hits` are read for all forms (step 6).

use chrysalis_release::{Detail, GROUP_ID};

use super::expr::{X, col, count_rows};
use super::select::Rows;
use super::{Writer, beside, group_boxes, permuted, row_boxes, sets};
use chrysalis_query::QueryError;

/// Writes `hits`. Its columns: `g`, the quasi keys, and for every condition what is known about the number of hits.
pub(super) fn write(writer: &mut Writer<'_>) -> Result<(), QueryError> {
    match writer.plan.shape.detail {
        Detail::Exact => exact(writer),
        Detail::Permuted => permuted::write(writer),
        Detail::GroupBoxes => group_boxes::write(writer)?,
        Detail::RowBoxes => row_boxes::write(writer)?,
    }
    beside::write(writer);
    Ok(())
}

/// How many rows match, counted in one scan.
fn exact(writer: &mut Writer<'_>) {
    let rows = scan(writer).item(writer.column("q", GROUP_ID), "g").group_by([writer.column("q", GROUP_ID)]);
    writer.ctes.add(writer.quasi_hits(), rows);
}

/// The rows of the quasi table, counted by key for every condition.
pub(super) fn scan(writer: &Writer<'_>) -> Rows {
    // PROOF: every other condition is the first one with something added.
    let counted = |at: usize| if at == 0 { count_rows() } else { count_rows().filter(condition(writer, at)) };
    let item = |at: usize| (writer.dialect.double(counted(at)), format!("e{at}"));
    matches(writer).items((0..writer.plan.conditions.len()).map(item))
}

/// The rows of the quasi table that match, by key.
pub(super) fn matches(writer: &Writer<'_>) -> Rows {
    let mut rows = matching(writer);
    for (at, field) in writer.quasi_keys() {
        let column = || writer.column("q", &writer.fields()[field].name);
        rows = rows.item(column(), &format!("k{at}")).group_by([column()]);
    }
    rows
}

/// The rows of the quasi table that match, one by one.
pub(super) fn matching(writer: &Writer<'_>) -> Rows {
    // PROOF: only exact forms have conditions on values themselves; other forms ask only without a condition.
    Rows::of_table(writer.dialect, writer.plan.shape.people, "q").filter(condition(writer, 0))
}

fn condition(writer: &Writer<'_>, at: usize) -> Option<X> {
    let column = |field: usize| writer.column("q", &writer.fields()[field].name);
    let tree = writer.plan.conditions[at].tree.as_ref();
    tree.map(|tree| sets::holds(writer.dialect, tree, writer.fields(), &column))
}

/// What a CTE says about the hits of a condition.
#[derive(Clone)]
pub(super) struct Hit {
    pub(super) expected: X,
    pub(super) least: X,
    pub(super) most: X,
    /// `None` if the number is certain.
    pub(super) variance: Option<X>,
}

impl Writer<'_> {
    /// The hits of a condition, as columns of `table`.
    pub(super) fn hit(&self, table: &str, condition: usize) -> Hit {
        self.hit_of(table, condition, !self.is_exact())
    }

    /// The same for hits whose number is uncertain, or certain.
    pub(super) fn hit_of(&self, table: &str, condition: usize, is_uncertain: bool) -> Hit {
        let column = |letter: char| col(&format!("{table}.{letter}{condition}"));
        if !is_uncertain {
            return Hit { expected: column('e'), least: column('e'), most: column('e'), variance: None };
        }
        Hit { expected: column('e'), least: column('l'), most: column('u'), variance: Some(column('v')) }
    }

    /// The columns that hold the hits of a condition.
    pub(super) fn hit_items(&self, table: &str, condition: usize) -> Vec<(X, String)> {
        let letters: &[char] = if self.is_exact() { &['e'] } else { &['e', 'l', 'u', 'v'] };
        letters
            .iter()
            .map(|letter| (col(&format!("{table}.{letter}{condition}")), format!("{letter}{condition}")))
            .collect()
    }
}
