//! A shuffled release without a condition on the sensitive column: the help table knows the bounds for every number of
//! hits (ke 5.2).

use chrysalis_release::GROUP_ID;
use chrysalis_release::shuffled::HELP;

use super::expr::{X, call, col, count_rows, sum};
use super::select::Rows;
use super::{Writer, hits};
use crate::question::Function;

/// Writes `hits` with a whole number `h` to find rows of `help` by.
pub(super) fn write_hits(writer: &mut Writer<'_>) {
    let group = writer.column("q", GROUP_ID);
    let rows = hits::scan(writer).item(group.clone(), "g").item(count_rows(), "h").group_by([group]);
    writer.ctes.add("hits", rows);
}

/// Groups that are so few that rows of `help` may be found by their number of hits alone.
const FEW: u64 = 256;

/// Finds the rows of `help`.
///
/// With an index, by both columns. Without one, by the number of hits where groups are few, and the group is compared
/// afterwards: DuckDB passes over most of a table while it reads it for a join with one key, and hashes every row with two.
fn on_group_and_hits(writer: &Writer<'_>) -> X {
    let (group, hits) = (writer.column("p", GROUP_ID), writer.column("p", "hits"));
    let is_hits = hits.eq(col("hits.h"));
    // PROOF: a number of hits occurs at most once per group, so without keys there are at most FEW² pairs to compare.
    let has_few = writer.plan.keys.is_empty() && writer.release.manifest.groups <= FEW;
    if has_few && !writer.dialect.has_index() {
        return is_hits.and(group.clone().at_least(col("hits.g")).and(group.at_most(col("hits.g"))));
    }
    group.eq(col("hits.g")).and(is_hits)
}

/// Whether the answer needs the number of hits.
fn needs_hits(writer: &Writer<'_>) -> bool {
    !writer.is_helped() || writer.asks(&[Function::Count, Function::Avg])
}

/// Groups with their hits, beside their rows of `help` where numbers are asked for.
pub(super) fn joined(writer: &Writer<'_>) -> Rows {
    let rows = Rows::of("hits");
    if writer.asks(&super::NUMERIC) {
        rows.join_table(writer.dialect, HELP, "p", on_group_and_hits(writer))
    } else {
        rows
    }
}

/// Writes `cells`, where more than sums over [`joined`] rows is needed: groups with their hits, their sizes and what the help
/// table says; and `helped`, the part of the answer that follows from that alone.
pub(super) fn write_cells(writer: &mut Writer<'_>) {
    let rows = joined(writer).items(writer.key_items("hits")).item(col("hits.g"), "g");
    let mut rows = rows.item(number(writer, "size"), "n");
    for condition in 0..writer.plan.conditions.len() {
        rows = rows.items(writer.hit_items("hits", condition));
    }
    let asked = |functions: &[Function], names: &[&'static str]| {
        if writer.asks(functions) { names.to_vec() } else { Vec::new() }
    };
    let sums = asked(&[Function::Sum, Function::Avg], &["mean", "variance", "sum_lb", "sum_ub"]);
    let extremes = [asked(&[Function::Min], &["min_lb", "min_ub"]), asked(&[Function::Max], &["max_lb", "max_ub"])];
    for name in sums.into_iter().chain(extremes.into_iter().flatten()) {
        rows = rows.item(number(writer, name), name);
    }
    let column = |name: &str| col(&format!("cells.{name}"));
    let items = items(writer, "cells", &column);
    let helped = Rows::of("cells").items(writer.key_items("cells")).group_by(writer.keys("cells")).items(items);
    writer.ctes.add("cells", rows);
    writer.ctes.add("helped", helped);
}

/// The sums of an answer by key, over [`joined`] rows.
pub(super) fn part(writer: &Writer<'_>) -> Rows {
    joined(writer).items(writer.key_items("hits")).group_by(writer.keys("hits")).items(sums(writer))
}

/// What is summed up over [`joined`] rows.
pub(super) fn sums(writer: &Writer<'_>) -> Vec<(X, String)> {
    items(writer, "hits", &|name| number(writer, name))
}

/// A number of the help table.
fn number(writer: &Writer<'_>, name: &str) -> X {
    // PROOF: means and variances are published as floating-point numbers.
    let is_float = matches!(name, "mean" | "variance") && writer.dialect.has_types();
    let column = writer.column("p", name);
    if is_float { column } else { writer.dialect.double(column) }
}

/// What is summed up over rows of a table with hits, where `help` gives the help table's numbers.
fn items(writer: &Writer<'_>, table: &str, help: &dyn Fn(&str) -> X) -> Vec<(X, String)> {
    let mut items = Vec::new();
    for (condition, counted) in writer.pairs().into_iter().filter(|_| needs_hits(writer)) {
        items.push((sum(col(&format!("{table}.e{condition}"))), format!("ce{condition}{}", counted.letter())));
    }
    let mut item = |x: X, name: &str| items.push((x, name.to_owned()));
    if writer.asks(&[Function::Sum, Function::Avg]) {
        item(sum(help("mean")), "se");
        item(sum(help("variance")), "sv");
        item(sum(help("sum_lb")), "sl");
        item(sum(help("sum_ub")), "su");
    }
    if writer.asks(&[Function::Min]) {
        item(call("MIN", vec![help("min_lb")]), "nl");
        item(call("MIN", vec![help("min_ub")]), "nu");
    }
    if writer.asks(&[Function::Max]) {
        item(call("MAX", vec![help("max_lb")]), "xl");
        item(call("MAX", vec![help("max_ub")]), "xu");
    }
    items
}
