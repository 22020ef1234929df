//! The CTE `hits` of angel: every row of a batch lies somewhere in the box of its bucket.

use std::collections::BTreeMap;

use chrysalis_release::{max_column, min_column};
use chrysalis_table::Kind;

use super::Writer;
use super::expr::{Direction, X, call, col, count_rows, int, or_zero, sum};
use super::group_boxes::{Sets, label_items, shares};
use super::select::Rows;
use chrysalis_query::QueryError;

/// Writes `labels` (one row per batch and box), what `group_boxes` derives from it, and `hits`, summed by batch.
pub(super) fn write(writer: &mut Writer<'_>) -> Result<(), QueryError> {
    let sets = Sets::of(writer);
    labels(writer, &sets);
    shares(writer, &sets, &["g", "b", "n"])?;
    hits(writer);
    Ok(())
}

fn labels(writer: &mut Writer<'_>, sets: &Sets) {
    let dialect = writer.dialect;
    let batch = writer.group("t");
    let columns = shown_columns(writer, sets);
    let by: Vec<X> = std::iter::once(batch.clone()).chain(columns.values().cloned()).collect();
    // Keys are joined on `g`, which must identify boxes; the order makes it the same wherever the CTE is read.
    let place = if writer.quasi_keys().is_empty() {
        batch.clone()
    } else {
        call("ROW_NUMBER", Vec::new()).over(&[], by.iter().cloned().map(|x| (x, Direction::Up)))
    };
    let rows = Rows::of_table(dialect, &writer.plan.table, "t").item(place, "g").item(batch, "b").group_by(by);
    let rows = rows.item(dialect.double(count_rows()), "n");
    let rows =
        label_items(writer, sets, rows, &|name| columns.get(name).cloned().unwrap_or_else(|| writer.column("t", name)));
    writer.ctes.add("labels", rows);
}

/// The columns of the attributes that matter, by name.
fn shown_columns(writer: &Writer<'_>, sets: &Sets) -> BTreeMap<String, X> {
    let names = sets.sets.keys().flat_map(|&field| {
        let attribute = &writer.fields()[field];
        match attribute.kind {
            Kind::Category => vec![attribute.name.clone()],
            _ => vec![min_column(&attribute.name), max_column(&attribute.name)],
        }
    });
    names.map(|name| (name.clone(), writer.column("t", &name))).collect()
}

/// Rows are independent of each other, so their means and variances add up.
fn hits(writer: &mut Writer<'_>) {
    let dialect = writer.dialect;
    let mut rows = Rows::of("shares").item(col("shares.b"), "g").group_by([col("shares.b")]);
    // Only the rows that may be hit: where no sensitive value matters, neither do the other rows.
    rows = rows.item(sum(col("shares.n")), "n");
    for (at, _) in writer.quasi_keys() {
        let key = col(&format!("shares.k{at}"));
        rows = rows.item(key.clone(), &format!("k{at}")).group_by([key]);
    }
    for at in 0..writer.plan.conditions.len() {
        let column = |letter: char| col(&format!("shares.{letter}{at}"));
        // Rounding must not make a share exceed 1.
        let share = |letter: char| dialect.least(int(1), or_zero(column(letter)));
        rows = rows
            .item(sum(col("shares.n") * share('r')), &format!("e{at}"))
            .item(sum(dialect.least(column('l'), column('u'))), &format!("l{at}"))
            .item(sum(column('u')), &format!("u{at}"))
            .item(sum(col("shares.n") * share('r') * share('q')), &format!("v{at}"));
    }
    writer.ctes.add(writer.quasi_hits(), rows.filter(Some(col("shares.u0").greater(int(0)))));
}
