//! Sums of products of a column that stands in its row with a sensitive one of which only the group is known, where rows
//! are known exactly (step 9e of `spec.md`).
//!
//! A group of n rows has n factors and n values: those that do not count are 0. The least sum pairs factors in descending
//! with values in ascending order, and the greatest both in the same order. Places in these orders are counted from 1;
//! zeros need none.

use chrysalis_query::inquiry::Mapped;
use chrysalis_query::{Plan, QueryError};
use chrysalis_release::{Detail, Release};

use super::super::expr::{Direction, X, call, case, cases, col, count_rows, int, sum};
use super::super::select::{Ctes, Rows};
use super::super::{CountedValues, Dialect, Writer, hits, refused};
use super::choices::root;
use super::picks::Writing;

/// Writes the sum for one plan: its keys and `e`, `l`, `u`, `s`.
pub(super) fn write(
    plan: &Plan,
    (factor, value): (&Mapped, &Mapped),
    release: &Release,
    dialect: Dialect,
) -> Result<(Ctes, Rows), QueryError> {
    if plan.shape.detail != Detail::Exact {
        return refused(
            "a sum of products of columns that stand in different rows is rewritten as SQL only where rows are known exactly",
        );
    }
    let bare = super::picks::bare(plan);
    let mut writing = Writing::new(plan, &bare, release, dialect, false)?;
    writing.check_thinned()?;
    writing.sizes();
    factors(&mut writing, factor)?;
    values(&mut writing, value)?;
    let rows = pairs(&mut writing.writer);
    Ok((writing.writer.ctes, rows))
}

/// Writes `factors`: for every row that matches its factor `w`, its places from below and above, how many factors its
/// group has, and what they spread.
fn factors(writing: &mut Writing<'_>, factor: &Mapped) -> Result<(), QueryError> {
    let writer = &writing.writer;
    let name = |field: usize| writer.fields()[field].name.clone();
    let w = writing.value(factor, &|field| writer.column("q", &name(field)))?;
    let mut rows = hits::matching(writer).filter(Some(w.clone().present()));
    let quasi = writer.quasi_keys();
    for (at, field) in &quasi {
        rows = rows.item(writer.column("q", &name(*field)), &format!("k{at}"));
    }
    let rows = rows.item(writer.group("q"), "g").item(w, "w");
    writing.writer.ctes.add("each_row", rows);
    let places: Vec<usize> = quasi.into_iter().map(|(at, _)| at).collect();
    let keys = |table: &str| -> Vec<X> { places.iter().map(|at| col(&format!("{table}.k{at}"))).collect() };
    let with_keys = |rows: Rows, table: &str| {
        places.iter().fold(rows, |rows, at| rows.item(col(&format!("{table}.k{at}")), &format!("k{at}")))
    };
    let group = |table: &str| -> Vec<X> { keys(table).into_iter().chain([col(&format!("{table}.g"))]).collect() };
    let column = |name: &str| col(&format!("each_row.{name}"));
    let by = group("each_row");
    let rank = |direction| call("ROW_NUMBER", Vec::new()).over(&by, [(column("w"), direction)]);
    let n = || col("group_sizes.n");
    let rows = Rows::of("each_row").join("group_sizes", col("group_sizes.g").eq(column("g")));
    let rows = with_keys(rows, "each_row").item(column("g"), "g").item(n(), "n").item(column("w"), "w");
    let rows = rows.item(rank(Direction::Up), "up").item(rank(Direction::Down), "down");
    let rows = rows.item(writing.dialect().double(count_rows().over(&by, None)), "rows_of");
    let rows = rows.item(sum(column("w")).over(&by, None) / n(), "mean");
    writing.writer.ctes.add("ranked_rows", rows);
    let rows = with_keys(Rows::of("ranked_rows"), "ranked_rows");
    let rows = ["g", "n", "w", "up", "down", "rows_of"]
        .into_iter()
        .fold(rows, |rows, name| rows.item(col(&format!("ranked_rows.{name}")), name));
    let spread = spread("ranked_rows", col("ranked_rows.w"), int(1), &group("ranked_rows"));
    writing.writer.ctes.add("factors", rows.item(spread, "spread"));
    Ok(())
}

/// Writes `amounts`: for every group and sensitive value that counts the value `y`, how often it occurs (`m`), its first
/// and last place, how many values the group has, and what they spread.
fn values(writing: &mut Writing<'_>, value: &Mapped) -> Result<(), QueryError> {
    let dialect = writing.dialect();
    let values = writing.writer.values();
    let y = writing.sensitive(value, &values.value)?;
    let key = writing.writer.sensitive_key().map(|at| format!("k{at}"));
    let group = writing.writer.group("s");
    let mut rows = Rows::of_table(dialect, &values.table, "s").item(group.clone(), "g").item(y.clone(), "y");
    rows = rows.item(values.occurrences(dialect, None), "m").group_by([group, y.clone()]);
    rows = rows.filter(writing.writer.counts(CountedValues::Where)).filter(Some(y.present()));
    if let Some(key) = &key {
        rows = rows.item(values.value.clone(), key).group_by([values.value]);
    }
    writing.writer.ctes.add("each_value", rows);
    let group = |table: &str| -> Vec<X> {
        let key = key.iter().map(|key| col(&format!("{table}.{key}")));
        key.chain([col(&format!("{table}.g"))]).collect()
    };
    let with_key =
        |rows: Rows, table: &str| key.iter().fold(rows, |rows, key| rows.item(col(&format!("{table}.{key}")), key));
    let column = |name: &str| col(&format!("each_value.{name}"));
    let (by, n) = (group("each_value"), || col("group_sizes.n"));
    let rows = Rows::of("each_value").join("group_sizes", col("group_sizes.g").eq(column("g")));
    let rows = with_key(rows, "each_value").item(column("g"), "g").item(n(), "n");
    let rows = rows.item(column("y"), "y").item(column("m"), "m");
    let rows = rows.item(sum(column("m")).over(&by, None), "c");
    let rows = rows.item(sum(column("m")).over(&by, Some((column("y"), Direction::Up))), "upto");
    let rows = rows.item(dialect.double(count_rows().over(&by, None)), "rows_of");
    let rows = rows.item(sum(column("y") * column("m")).over(&by, None) / n(), "mean");
    writing.writer.ctes.add("ranked_values", rows);
    let column = |name: &str| col(&format!("ranked_values.{name}"));
    // The zeros stand between negative and positive values.
    let last = case(column("y").less(int(0)), column("upto"), column("n") - column("c") + column("upto"));
    let rows = with_key(Rows::of("ranked_values"), "ranked_values");
    let rows = ["g", "y", "m", "rows_of"].into_iter().fold(rows, |rows, name| rows.item(column(name), name));
    let rows = rows.item(last.clone() - column("m") + int(1), "first_place").item(last, "last_place");
    let spread = spread("ranked_values", column("y"), column("m"), &group("ranked_values"));
    writing.writer.ctes.add("amounts", rows.item(spread, "spread"));
    Ok(())
}

/// Σ(x − mean)² over the n rows of a group, those without a number included.
fn spread(table: &str, x: X, times: X, group: &[X]) -> X {
    let column = |name: &str| col(&format!("{table}.{name}"));
    let mean = || column("mean");
    let own = sum((x - mean()).squared() * times.clone()).over(group, None);
    own + (column("n") - sum(times).over(group, None)) * mean().squared()
}

/// The sums over all groups of a key.
fn pairs(writer: &mut Writer<'_>) -> Rows {
    let dialect = writer.dialect;
    let (w, y, n) = (|| col("factors.w"), || col("amounts.y"), || col("factors.n"));
    let is_at = |place: X| place.between(col("amounts.first_place"), col("amounts.last_place"));
    let end = |is_least: bool| {
        // In descending order positive factors come first, in ascending order negative ones.
        let (near, far) = if is_least { ("down", "up") } else { ("up", "down") };
        let first = col(&format!("factors.{near}"));
        let last = n() - col(&format!("factors.{far}")) + int(1);
        let is_first = if is_least { w().greater(int(0)) } else { w().less(int(0)) };
        let place = case(is_first, first, last);
        let zero = || dialect.double(int(0));
        let is_pair = w().differs(int(0)).and(y().differs(int(0))).and(is_at(place));
        case(is_pair, w() * y(), zero())
    };
    let mut rows = Rows::of("factors").join("amounts", col("amounts.g").eq(col("factors.g")));
    for at in 0..writer.plan.keys.len() {
        let table = if writer.sensitive_key() == Some(at) { "amounts" } else { "factors" };
        let key = || col(&format!("{table}.k{at}"));
        rows = rows.item(key(), &format!("k{at}")).group_by([key()]);
    }
    // What is to be added once per group is spread over its pairs.
    let n_pairs = col("factors.rows_of") * col("amounts.rows_of");
    let variance = col("factors.spread") * col("amounts.spread") / (n() - int(1)).or_null() / n_pairs;
    let rows = rows
        .item(sum(w() * y() * col("amounts.m") / n()), "raw_e")
        .item(sum(end(true)), "l")
        .item(sum(end(false)), "u")
        .item(root(dialect, call("COALESCE", vec![sum(variance), dialect.double(int(0))])), "raw_s");
    writer.ctes.add("products", rows);
    let column = |name: &str| col(&format!("products.{name}"));
    let is_some = || column("raw_e").present();
    let inside = dialect.clamped(column("raw_e"), column("l"), column("u"));
    let rows = Rows::of("products").items(writer.key_items("products"));
    let guarded = |x: X| cases(vec![(is_some(), x)], None);
    rows.item(guarded(inside), "e").item(column("l"), "l").item(column("u"), "u").item(guarded(column("raw_s")), "s")
}
