//! The expectation of MIN and MAX over random worlds, given that there is a hit (step 7).

use super::expr::{Direction, X, call, col, int, number, or_zero, sum};
use super::select::Rows;
use super::{Writer, numbers};

/// Writes CTEs for the expectation and variance of the minimum (or maximum); returns the columns and their CTE.
pub(super) fn write(writer: &mut Writer<'_>, direction: Direction) -> (Vec<(X, String)>, String) {
    let letter = if direction == Direction::Up { 'n' } else { 'x' };
    if writer.sensitive_key().is_some() {
        return by_value(writer, letter);
    }
    let (odds, chances) = (format!("odds_{letter}"), format!("chances_{letter}"));
    let (dialect, keys) = (writer.dialect, |table: &str| writer.keys(table));
    // The probability that a copy of a value is not hit, given that no copy before it is hit.
    let rank = match direction {
        Direction::Up => col("pool.upto"),
        Direction::Down => col("pool.c") - col("pool.upto") + int(1),
    };
    let mut rows = Rows::of("pool").items(writer.key_items("pool")).item(col("pool.y"), "y");
    let rank = if writer.most_times() > 1 {
        rows = rows.join("copies", col("copies.i").less(col("pool.m")));
        match direction {
            Direction::Up => rank - col("copies.i"),
            Direction::Down => rank + col("copies.i"),
        }
    } else {
        rank
    };
    let miss = int(1) - col("pool.e") / (col("pool.n") - rank + int(1));
    let log = sum(call("LN", vec![dialect.greatest(number(IMPOSSIBLE), miss)]));
    let by_value =
        rows.item(dialect.greatest(int(2 * NEVER), log), "s").group_by(keys("pool")).group_by([col("pool.y")]);
    // P(min ≥ y) − P(min > y), as a running product of probabilities.
    let own = |name: char| col(&format!("{odds}.{name}"));
    let running = || sum(own('s')).over(&keys(&odds), Some((own('y'), direction)));
    let chance = |log: X| call("EXP", vec![dialect.greatest(int(NEVER), log)]);
    let chance = chance(running() - own('s')) - chance(running());
    let chance = Rows::of(&odds).items(writer.key_items(&odds)).item(own('y'), "y").item(chance, "p");
    let (y, p) = (|| col(&format!("{chances}.y")), || col(&format!("{chances}.p")));
    let over = |x: X| sum(x).over(&keys(&chances), None);
    let mean = over(y() * p()) / over(p()).or_null();
    let last = format!("expected_{letter}");
    let centred = Rows::of(&chances).items(writer.key_items(&chances)).item(y(), "y").item(p(), "p").item(mean, "mean");
    if writer.most_times() > 1 && direction_is_first(writer, direction) {
        numbers::write(writer, "copies", writer.most_times());
    }
    writer.ctes.add(&odds, by_value);
    writer.ctes.add(&chances, chance);
    writer.ctes.add(&last, centred);
    let column = |name: &str| col(&format!("{last}.{name}"));
    let variance = sum(column("p") * (column("y") - column("mean")).squared()) / sum(column("p")).or_null();
    let items = vec![(call("MAX", vec![column("mean")]), format!("{letter}e")), (variance, format!("{letter}v"))];
    (items, last)
}

/// Stands in for a probability of 0, so that it has a logarithm.
const IMPOSSIBLE: f64 = 1e-300;
/// The logarithm of a probability too small to affect any sum. PostgreSQL raises an error where a number underflows to
/// 0; this is far enough from underflow that products with values do not underflow either.
const NEVER: i64 = -300;

/// Both directions share the CTE `copies`; whichever comes first writes it.
fn direction_is_first(writer: &Writer<'_>, direction: Direction) -> bool {
    direction == Direction::Up || !writer.asks(&[chrysalis_query::question::Function::Min])
}

/// Where the sensitive column is a key, all values of a cell are the same.
fn by_value(_: &Writer<'_>, letter: char) -> (Vec<(X, String)>, String) {
    let is_possible = Some(col("pool.e").greater(int(0)));
    let value = call("MAX", vec![col("pool.y")]).filter(is_possible.clone());
    let spread = or_zero(sum(int(0)).filter(is_possible));
    (vec![(value, format!("{letter}e")), (spread, format!("{letter}v"))], "pool".to_owned())
}
