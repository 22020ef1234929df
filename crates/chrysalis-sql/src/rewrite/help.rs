//! A shuffled release asked without a condition on the sensitive column: the help table has the answers for every
//! number of hits (ke 5.2).

use chrysalis_release::{GROUP_ID, HELP_COLUMNS, Release};
use chrysalis_table::{Column, Table};

use super::expr::{Direction, X, call, col, count_rows, int, sum};
use super::select::Rows;
use super::{EXTREMES, Writer, asks, hits};
use chrysalis_query::Plan;
use chrysalis_query::question::Function;

/// The columns of `help` that say where the values of a group lie.
pub(super) const ENDS: [&str; 3] = [GROUP_ID, "min_lb", "max_ub"];

/// Whether `help` has the expectations of MIN and MAX. It has if no two groups' values overlap, because then the least
/// and the greatest value hit each come from a single group.
pub(super) fn finds_extremes(plan: &Plan, release: &Release) -> bool {
    let Some(name) = plan.help_table().filter(|_| asks(plan, &EXTREMES)) else { return false };
    let help = release.manifest.tables.iter().find(|table| table.name == name);
    let has = |name: &&str| help.is_some_and(|table| table.columns.iter().any(|column| column.name == *name));
    let is_told = HELP_COLUMNS.iter().all(has);
    let ranges = if is_told { release.table(&name).ok().and_then(ranges) } else { None };
    ranges.is_some_and(|mut ranges| {
        ranges.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        ranges.windows(2).all(|pair| pair[0].1 <= pair[1].0)
    })
}

/// The least and the greatest value of every group.
fn ranges(help: &Table) -> Option<Vec<(f64, f64)>> {
    let [group, least, greatest] = ENDS.map(|name| help.column(name));
    let (group, least, greatest) = (group?, least?, greatest?);
    let number = |column: &Column, row: usize| column.domain().value(column.code(row))?.number();
    let mut ranges: Vec<Option<(f64, f64)>> = vec![None; group.domain().len()];
    for row in 0..help.rows() {
        let range = &mut ranges[group.code(row) as usize];
        if range.is_none() {
            *range = Some((number(least, row)?, number(greatest, row)?));
        }
    }
    Some(ranges.into_iter().flatten().collect())
}

/// Writes `hits` with the integer `h` that identifies a group's row of `help`.
pub(super) fn write_hits(writer: &mut Writer<'_>) {
    let rows = if needs_hits(writer) { hits::scan(writer) } else { hits::matches(writer) };
    let group = writer.column("q", GROUP_ID);
    let rows = rows.item(group.clone(), "g").item(count_rows(), "h").group_by([group]);
    writer.ctes.add("hits", rows);
}

/// With at most this many groups, rows of `help` may be looked up by their number of hits alone.
const FEW: u64 = 256;

/// The join condition that finds the rows of `help`.
///
/// With an index, it compares both columns. Without one and with few groups, it looks up the number of hits and
/// compares the group afterwards: for a join on one key, DuckDB skips most of a table while reading it; for two keys,
/// it hashes every row.
fn on_group_and_hits(writer: &Writer<'_>) -> X {
    let (group, hits) = (writer.column("p", GROUP_ID), writer.column("p", "hits"));
    let is_hits = hits.eq(col("hits.h"));
    // PROOF: each group has at most one row per number of hits, so without keys at most FEW² pairs are compared.
    let has_few = writer.plan.keys.is_empty() && writer.release.manifest.groups <= FEW;
    if has_few && !writer.dialect.has_index() {
        return is_hits.and(group.clone().at_least(col("hits.g")).and(group.at_most(col("hits.g"))));
    }
    group.eq(col("hits.g")).and(is_hits)
}

/// Whether the answer needs the number of hits.
fn needs_hits(writer: &Writer<'_>) -> bool {
    writer.asks(&[Function::Count, Function::Avg])
}

/// Groups with their hits, joined with their rows of `help`.
pub(super) fn joined(writer: &Writer<'_>) -> Rows {
    Rows::of("hits").join_table(writer.dialect, &writer.help(), "p", on_group_and_hits(writer))
}

/// Whether rows must be numbered to find the first group of each key.
pub(super) fn needs_numbers(writer: &Writer<'_>) -> bool {
    writer.asks(&EXTREMES) && !writer.dialect.has_first()
}

/// Writes `found`: [`joined`] rows, numbered within each key by their values, ascending (`up`) or descending (`down`).
pub(super) fn write_found(writer: &mut Writer<'_>) {
    let keys = writer.keys("hits");
    let mut rows = joined(writer).items(writer.key_items("hits"));
    if needs_hits(writer) {
        let conditions = 0..writer.plan.conditions.len();
        rows = rows.items(conditions.map(|at| (col(&format!("hits.e{at}")), format!("e{at}"))));
    }
    let mut names: Vec<&str> = Vec::new();
    if writer.asks(&[Function::Sum, Function::Avg]) {
        names.extend(["mean", "variance", "sum_lb", "sum_ub"]);
    }
    for (function, columns, direction) in [
        (Function::Min, ["min_mean", "min_variance", "min_lb", "min_ub"], Direction::Up),
        (Function::Max, ["max_mean", "max_variance", "max_lb", "max_ub"], Direction::Down),
    ] {
        if writer.asks(&[function]) {
            names.extend(columns);
            let order = [(middle(&|name| writer.column("p", name)), direction)];
            rows = rows.item(call("ROW_NUMBER", Vec::new()).over(&keys, order), number(direction));
        }
    }
    rows = names.into_iter().fold(rows, |rows, name| rows.item(writer.column("p", name), name));
    writer.ctes.add("found", rows);
}

/// The column with the row numbers.
fn number(direction: Direction) -> &'static str {
    if direction == Direction::Up { "up" } else { "down" }
}

/// Twice the midpoint of a group's values. PROOF: ranges that do not overlap are in the order of their midpoints, and
/// two ranges with the same midpoint are the same single value.
fn middle(column: &dyn Fn(&str) -> X) -> X {
    column("min_lb") + column("max_ub")
}

/// The answers for every key.
pub(super) fn part(writer: &Writer<'_>) -> Rows {
    let (rows, table) = if needs_numbers(writer) { (Rows::of("found"), "found") } else { (joined(writer), "hits") };
    rows.items(writer.key_items(table)).group_by(writer.keys(table)).items(items(writer))
}

/// The aggregates over rows of `found` if it is written, else over [`joined`] rows.
pub(super) fn items(writer: &Writer<'_>) -> Vec<(X, String)> {
    let dialect = writer.dialect;
    let is_found = needs_numbers(writer);
    let column = |name: &str| if is_found { col(&format!("found.{name}")) } else { writer.column("p", name) };
    let help = |name: &str| dialect.double(column(name));
    // PROOF: means and variances are published as floating-point numbers.
    let float = |name: &str| if dialect.has_types() { column(name) } else { help(name) };
    let hits = if is_found { "found" } else { "hits" };
    let mut items = Vec::new();
    for (condition, counted) in writer.pairs().into_iter().filter(|_| needs_hits(writer)) {
        items.push((sum(col(&format!("{hits}.e{condition}"))), format!("ce{condition}{}", counted.letter())));
    }
    let mut item = |x: X, name: &str| items.push((x, name.to_owned()));
    if writer.asks(&[Function::Sum, Function::Avg]) {
        item(sum(float("mean")), "se");
        item(sum(float("variance")), "sv");
        item(sum(help("sum_lb")), "sl");
        item(sum(help("sum_ub")), "su");
    }
    // PROOF: values of groups do not overlap, so the least value hit is in the first group, whose mean is the least.
    let of_first = |name: &str, by: &str, direction: Direction| {
        if is_found {
            let is_first = col(&format!("found.{}", number(direction))).eq(int(1));
            return call("MAX", vec![float(name)]).filter(Some(is_first));
        }
        call(by, vec![float(name), middle(&column)])
    };
    if writer.asks(&[Function::Min]) {
        item(call("MIN", vec![float("min_mean")]), "ne");
        item(of_first("min_variance", "MIN_BY", Direction::Up), "nv");
        item(call("MIN", vec![help("min_lb")]), "nl");
        item(call("MIN", vec![help("min_ub")]), "nu");
    }
    if writer.asks(&[Function::Max]) {
        item(call("MAX", vec![float("max_mean")]), "xe");
        item(of_first("max_variance", "MAX_BY", Direction::Down), "xv");
        item(call("MAX", vec![help("max_lb")]), "xl");
        item(call("MAX", vec![help("max_ub")]), "xu");
    }
    items
}
