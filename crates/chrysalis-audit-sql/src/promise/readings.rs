//! Principles that measure all frequencies of a group: entropy and recursive diversity. Where values may be missing or
//! near each other there are several ways to count them, called readings, and the principle must hold in each.

use chrysalis_criteria::Rational;
use chrysalis_dialect::Dialect;
use chrysalis_dialect::expr::{Direction, X, any, call, case, col, count_rows, int, number, or_zero, sum};
use chrysalis_dialect::select::{Ctes, Rows};

use super::{Body, Written, check_products, exactly, log};
use crate::Decides;
use crate::counting::Counting;
use crate::frame::{call_max, call_min, parts};
use crate::seen::Seen;

/// Adds `readings`: for every group and every way to count, the frequencies of its values.
fn add_readings(ctes: &mut Ctes, seen: &Seen<'_>, counting: &Counting<'_>) -> Result<(), String> {
    seen.add_shown(ctes, counting.at);
    counting.add_counted(ctes, seen);
    let reading = |number: i64, cte: &str| {
        let rows = Rows::of(cte).item(int(number), "reading").item(seen.key_of(cte), seen.key());
        rows.item(col(&format!("{cte}.n")), "n")
    };
    let present = || Some(col("counted.value").present());
    if !counting.is_strict {
        ctes.add("readings", reading(1, "counted"));
        return Ok(());
    }
    let missing = |number: i64| reading(number, "counted").filter(Some(col("counted.value").missing()));
    if !counting.has_near() {
        let parts = vec![reading(1, "counted").filter(present()), reading(2, "counted")];
        ctes.add_union("readings", parts);
        return Ok(());
    }
    if counting.is_rough() {
        return Err("Which reals are near each other depends on borders that floating point cannot decide.".to_owned());
    }
    counting.add_placed(ctes, seen, "counted");
    ctes.add("first_place", Rows::of("line").item(call_min(col("line.place")), "place"));
    // Bins as wide as the width, which begin at the least value, and half a bin before it. A bin is named by its lower
    // end, so that nothing is divided.
    let (numerator, denominator) = counting.width_parts();
    let steps = (col("placed.place") - col("first_place.place")) * denominator;
    for (name, steps, width) in [
        ("bins", steps.clone(), numerator.clone()),
        ("bins_from_the_middle", steps * int(2) + numerator.clone(), numerator * int(2)),
    ] {
        let bin = steps.clone() - or_zero(steps.modulo(width.or_null()));
        let rows = counting.with_width(Rows::of("placed").cross("first_place", "first_place"));
        let rows = rows.item(seen.key_of("placed"), seen.key()).item(sum(col("placed.n")), "n");
        ctes.add(name, rows.group_by([seen.key_of("placed"), bin]));
    }
    let parts = vec![
        reading(1, "bins"),
        reading(2, "bins_from_the_middle"),
        reading(3, "bins"),
        missing(3),
        reading(4, "bins_from_the_middle"),
        missing(4),
    ];
    ctes.add_union("readings", parts);
    Ok(())
}

/// entropy-l.
pub(super) fn entropy(seen: &Seen<'_>, counting: &Counting<'_>, l: &Rational) -> Written {
    let mut ctes = Ctes::default();
    add_readings(&mut ctes, seen, counting)?;
    let rows = too_uneven(seen, "readings", l);
    Ok(Body { ctes, rows, decides: Decides::ErrsTowardsComplaint })
}

/// The groups of a CTE of readings whose entropy is below ln l. Equal frequencies are decided exactly; otherwise a float
/// decides, and within one part in 10^11 of the line it complains.
pub(super) fn too_uneven(seen: &Seen<'_>, cte: &str, l: &Rational) -> Rows {
    let dialect = seen.frame.dialect;
    let (n, key, reading) = (col(&format!("{cte}.n")), seen.key_of(cte), col(&format!("{cte}.reading")));
    let (numerator, denominator) = parts(l);
    let is_even = call_min(n.clone()).eq(call_max(n.clone()));
    let too_few = (count_rows() * denominator).less(numerator);
    let all = dialect.double(sum(n.clone()));
    let line = (*l.numer() as f64 / *l.denom() as f64).ln();
    let entropy =
        all.clone() * call("LN", vec![all.clone()]) - sum(dialect.double(n.clone()) * log(dialect, n.clone()));
    let least = all.clone() * number_of(dialect, line) + all.clone() * call("LN", vec![all + int(1)]) * number(1e-11);
    let broken = any(vec![
        is_even.clone().and(too_few),
        call_min(n.clone()).less(call_max(n.clone())).and(entropy.at_most(least)),
    ]);
    let rows = Rows::of(cte).item(key.clone(), seen.key()).item(count_rows(), "different_values");
    let rows = rows.item(call_max(n.clone()), "most_frequent").item(sum(n), "size");
    rows.group_by([key, reading]).having(broken)
}

fn number_of(dialect: Dialect, real: f64) -> X {
    dialect.double(number(real))
}

/// recursive-l.
pub(super) fn recursive(seen: &Seen<'_>, counting: &Counting<'_>, c: &Rational, l: u64) -> Written {
    check_products(seen.frame.dialect, &[seen.frame.manifest.rows, (*c.numer()).max(*c.denom())])?;
    let mut ctes = Ctes::default();
    add_readings(&mut ctes, seen, counting)?;
    let rows = add_heavy(&mut ctes, seen, "readings", c, l);
    exactly(ctes, rows)
}

/// The groups of a CTE of readings whose most frequent value is not less than c times the tail.
pub(super) fn add_heavy(ctes: &mut Ctes, seen: &Seen<'_>, cte: &str, c: &Rational, l: u64) -> Rows {
    let (n, key, reading) = (col(&format!("{cte}.n")), seen.key_of(cte), col(&format!("{cte}.reading")));
    let place = call("ROW_NUMBER", Vec::new()).over(&[reading.clone(), key.clone()], [(n.clone(), Direction::Down)]);
    let rows = Rows::of(cte).item(reading, "reading").item(key, seen.key()).item(n, "n");
    ctes.add("by_frequency", rows.item(place, "place"));
    let (n, key, reading) = (col("by_frequency.n"), seen.key_of("by_frequency"), col("by_frequency.reading"));
    let tail = sum(case(col("by_frequency.place").at_least(int(l)), n.clone(), int(0)));
    let (numerator, denominator) = parts(c);
    let broken = (call_max(n.clone()) * denominator).at_least(tail.clone() * numerator);
    let rows = Rows::of("by_frequency").item(key.clone(), seen.key()).item(call_max(n.clone()), "most_frequent");
    rows.item(tail, "tail").item(sum(n), "size").group_by([key, reading]).having(broken)
}
