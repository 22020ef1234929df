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

/// The part of the answer that the help table gives.
pub(super) fn part(writer: &Writer<'_>) -> Rows {
    joined(writer).items(writer.key_items("hits")).group_by(writer.keys("hits")).items(items(writer))
}

/// What is summed up over [`joined`] rows.
pub(super) fn items(writer: &Writer<'_>) -> Vec<(X, String)> {
    let dialect = writer.dialect;
    let help = |name: &str| dialect.double(writer.column("p", name));
    // PROOF: means and variances are published as floating-point numbers.
    let float = |name: &str| if dialect.has_types() { writer.column("p", name) } else { help(name) };
    let mut items = Vec::new();
    for (condition, counted) in writer.pairs().into_iter().filter(|_| needs_hits(writer)) {
        items.push((sum(col(&format!("hits.e{condition}"))), format!("ce{condition}{}", counted.letter())));
    }
    let mut item = |x: X, name: &str| items.push((x, name.to_owned()));
    if writer.asks(&[Function::Sum, Function::Avg]) {
        item(sum(float("mean")), "se");
        item(sum(float("variance")), "sv");
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
