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

/// The part of the answer that the help table gives.
pub(super) fn part(writer: &Writer<'_>) -> Rows {
    let dialect = writer.dialect;
    let help = |name: &str| dialect.double(writer.column("p", name));
    let mut rows = Rows::of("hits");
    if writer.asks(&super::NUMERIC) {
        let on = writer.column("p", GROUP_ID).eq(col("hits.g")).and(writer.column("p", "hits").eq(col("hits.h")));
        rows = rows.join_table(dialect, HELP, "p", on);
    }
    rows = rows.items(writer.key_items("hits")).group_by(writer.keys("hits"));
    for (condition, counted) in writer.pairs() {
        let name = |letter: char| format!("c{letter}{condition}{}", counted.letter());
        let hits = || sum(col(&format!("hits.e{condition}")));
        rows = rows.item(hits(), &name('e')).item(hits(), &name('l')).item(hits(), &name('u'));
    }
    let mut item = |x: X, name: &str| rows = std::mem::take(&mut rows).item(x, name);
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
    rows
}
