//! The CTE `pool`: the values of the cells with their ranks, and the bounds that follow from them (step 7).

use super::Writer;
use super::cells::worth_taking;
use super::expr::{Direction, X, call, case, col, int, sum};
use super::select::Rows;
use chrysalis_query::question::Function;

/// Writes `pool`: the keys, the value `y`, how often it occurs (`m`), its rank, that is, how many values are at most
/// `y` (`upto`), how many values count (`c`), the least and most that are hit (`lo`, `hi`), and for sums how many are
/// worth taking.
pub(super) fn write(writer: &mut Writer<'_>) {
    let rows = if writer.sensitive_key().is_some() {
        by_value(writer)
    } else if writer.plan.keys.is_empty() {
        // Values of groups that are not hit need no ranks.
        let on = writer.group("s").eq(col("cells.g"));
        let rows = Rows::of("cells").join_table(writer.dialect, &writer.values().table, "s", on);
        cell_items(writer, ranks(writer, rows))
    } else {
        let rows = Rows::of_table(writer.dialect, &writer.values().table, "s");
        let rows = ranks(writer, rows.item(writer.group("s"), "g"));
        writer.ctes.add("ranked", rows);
        let rows = Rows::of("ranked").join("cells", col("cells.g").eq(col("ranked.g")));
        let rows =
            ["y", "m", "upto"].into_iter().fold(rows, |rows, name| rows.item(col(&format!("ranked.{name}")), name));
        cell_items(writer, rows)
    };
    writer.ctes.add("pool", rows);
}

fn cell_items(writer: &Writer<'_>, rows: Rows) -> Rows {
    let present = writer.present();
    let (least, most) = writer.reach("cells", (0, present));
    let mut rows = rows
        .items(writer.key_items("cells"))
        .item(writer.counted("cells", present), "c")
        .item(least, "lo")
        .item(most, "hi")
        .item(col("cells.n"), "n")
        .item(writer.hit("cells", 0).expected, "e");
    if writer.asks(&[Function::Sum]) {
        rows = rows.item(worth_taking(writer, "cells", true), "neg").item(worth_taking(writer, "cells", false), "pos");
    }
    rows
}

/// The values of `s` that count, ranked within their groups.
fn ranks(writer: &Writer<'_>, rows: Rows) -> Rows {
    let (dialect, values) = (writer.dialect, writer.values());
    let rows = rows.filter(writer.counts(writer.present()));
    let (group, order) = ([writer.group("s")], Some((values.value.clone(), Direction::Up)));
    let (times, upto) = match &values.times {
        Some(times) => (times.clone(), sum(times.clone()).over(&group, order)),
        None => (dialect.double(int(1)), dialect.double(call("ROW_NUMBER", Vec::new()).over(&group, order))),
    };
    rows.item(dialect.double(values.value), "y").item(times, "m").item(upto, "upto")
}

/// Where the sensitive column is a key, a cell has one value.
fn by_value(writer: &Writer<'_>) -> Rows {
    let at = writer.sensitive_key().unwrap_or_default();
    let count = || writer.counted("cells", writer.present());
    let value = writer.dialect.double(col(&format!("cells.k{at}")));
    let rows = Rows::of("cells").item(value, "y").item(count(), "m").item(count(), "upto");
    cell_items(writer, rows).filter(Some(count().greater(int(0))))
}

/// How many of a value's copies are among the first few values, counted from the smallest or from the largest.
struct TakenCopies {
    before: X,
    upto: X,
}

impl TakenCopies {
    fn from(direction: Direction) -> Self {
        let (upto, times, count) = (|| col("pool.upto"), || col("pool.m"), || col("pool.c"));
        match direction {
            Direction::Up => TakenCopies { before: upto() - times(), upto: upto() },
            Direction::Down => TakenCopies { before: count() - upto(), upto: count() - upto() + times() },
        }
    }

    fn among(&self, writer: &Writer<'_>, first: X) -> X {
        writer.dialect.clamped(first - self.before.clone(), int(0), col("pool.m"))
    }

    /// The copies whose rank is above one number and at most another.
    fn between(&self, writer: &Writer<'_>, above: X, upto: X) -> X {
        let dialect = writer.dialect;
        let to = dialect.least(self.upto.clone(), upto);
        dialect.greatest(int(0), to - dialect.greatest(self.before.clone(), above))
    }
}

/// The bounds of SUM, MIN and MAX, each as one aggregate over `pool`.
pub(super) fn bounds(writer: &Writer<'_>) -> Vec<(X, String)> {
    let dialect = writer.dialect;
    let (y, lo, hi) = (|| col("pool.y"), || col("pool.lo"), || col("pool.hi"));
    let mut items = Vec::new();
    if writer.asks(&[Function::Sum]) || (writer.asks(&[Function::Avg]) && writer.is_certain()) {
        for (direction, worth, name) in [(Direction::Up, "neg", "sl"), (Direction::Down, "pos", "su")] {
            // Where the number is certain, it does not matter which values would be worth taking.
            let n = if writer.is_certain() { hi() } else { dialect.clamped(col(&format!("pool.{worth}")), lo(), hi()) };
            items.push((sum(y() * TakenCopies::from(direction).among(writer, n)), name.to_owned()));
        }
    }
    if writer.asks(&[Function::Min, Function::Max]) {
        let certain = || lo().at_least(int(1));
        let possible = || Some(hi().at_least(int(1)));
        let least = || call("MIN", vec![y()]).filter(possible());
        let greatest = || call("MAX", vec![y()]).filter(possible());
        // The (c − lo + 1)-th smallest value, and the (c − lo + 1)-th largest.
        let low_enough = certain().and(col("pool.upto").greater(col("pool.c") - lo()));
        let high_enough = certain().and((col("pool.upto") - col("pool.m")).less(lo()));
        let surely_below = call("MIN", vec![y()]).filter(Some(low_enough));
        let surely_above = call("MAX", vec![y()]).filter(Some(high_enough));
        items.extend([
            (least(), "nl".to_owned()),
            (call("COALESCE", vec![surely_below, greatest()]), "nu".to_owned()),
            (call("COALESCE", vec![surely_above, least()]), "xl".to_owned()),
            (greatest(), "xu".to_owned()),
        ]);
    }
    items
}

/// Writes `averages`, from which the bounds of AVG follow: first the values that must be hit, then those that may be,
/// the most extreme first.
pub(super) fn averages(writer: &mut Writer<'_>) -> (Vec<(X, String)>, &'static str) {
    let (y, lo, hi) = (|| col("pool.y"), || col("pool.lo"), || col("pool.hi"));
    let mut steps = Rows::of("pool").items(writer.key_items("pool")).item(y(), "y");
    for (direction, letter) in SIDES {
        let taken = TakenCopies::from(direction);
        let must = || taken.among(writer, lo());
        let may = || taken.between(writer, lo(), hi());
        steps = steps
            .item(sum(y() * must()), &format!("s{letter}"))
            .item(sum(must()), &format!("c{letter}"))
            .item(sum(may()), &format!("m{letter}"));
    }
    steps = steps.group_by(writer.keys("pool")).group_by([y()]);
    writer.ctes.add("steps", steps);
    let keys = writer.keys("steps");
    let mut rows = Rows::of("steps").items(writer.key_items("steps"));
    let mut items = Vec::new();
    for (direction, letter) in SIDES {
        let column = |name: char| col(&format!("steps.{name}{letter}"));
        let whole = |x: X| sum(x).over(&keys, None);
        let running = |x: X| sum(x).over(&keys, Some((col("steps.y"), direction)));
        let most = running(col("steps.y") * column('m'));
        let average = (whole(column('s')) + most) / (whole(column('c')) + running(column('m'))).or_null();
        rows = rows.item(average, &format!("a{letter}"));
        rows = rows.item(whole(column('s')) / whole(column('c')).or_null(), &format!("b{letter}"));
        let best = |name: char| {
            call(if direction == Direction::Up { "MIN" } else { "MAX" }, vec![col(&format!("averages.{name}{letter}"))])
        };
        let either = |a: X, b: X| call("COALESCE", vec![a, b]);
        let (a, b) = (either(best('a'), best('b')), either(best('b'), best('a')));
        let bound = if direction == Direction::Up {
            case(a.clone().less(b.clone()), a, b)
        } else {
            case(a.clone().greater(b.clone()), a, b)
        };
        items.push((bound, format!("a{letter}")));
    }
    writer.ctes.add("averages", rows);
    (items, "averages")
}

const SIDES: [(Direction, char); 2] = [(Direction::Up, 'l'), (Direction::Down, 'u')];
