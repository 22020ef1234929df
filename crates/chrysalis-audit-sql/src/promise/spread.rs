//! How many different values groups have, and how far numbers span.

use chrysalis_criteria::Rational;
use chrysalis_dialect::expr::{X, any, call, col, count_rows, int};
use chrysalis_dialect::select::{Ctes, Rows};
use chrysalis_table::Kind;

use super::{Body, Written, exactly, largest_size};
use crate::Decides;
use crate::counting::Counting;
use crate::frame::{call_max, call_min, parts};
use crate::seen::Seen;

/// The most steps from one number to the next that is far enough below it.
const MOST_STEPS: u64 = 40;

/// Rows of groups that have fewer than l different values; `counted` is there. A group with nothing but missing values
/// has one.
pub(super) fn different(
    ctes: &mut Ctes,
    seen: &Seen<'_>,
    counting: &Counting<'_>,
    l: u64,
    are_persons: bool,
) -> Result<(Rows, Decides), String> {
    let key = seen.key_of("counted");
    let too_few_persons = || largest_size("counted").less(int(l));
    if !counting.has_near() || l <= 1 {
        let n = if counting.is_strict { call("COUNT", vec![col("counted.value")]) } else { count_rows() };
        let mut broken = Vec::new();
        if l > 1 {
            broken.push(n.clone().less(int(l)));
        }
        if are_persons {
            broken.push(too_few_persons());
        }
        let rows = Rows::of("counted").item(key.clone(), seen.key()).item(n, "different_values");
        let rows = rows.item(largest_size("counted"), "size").group_by([key]).having(any(broken));
        return Ok((rows, Decides::Exactly));
    }
    if l > MOST_STEPS {
        return Err(format!("More than {MOST_STEPS} numbers that are far apart are not counted in one statement."));
    }
    counting.add_placed(ctes, seen, "counted");
    // From the largest number down: for every number, the largest one that is far enough below it.
    let (low, high) = (col("smaller.place"), col("placed.place"));
    let is_far = low.clone().less(high.clone()).and(counting.is_near(low.clone(), high).negated());
    let on = seen.key_of("placed").eq(seen.key_of("smaller"));
    let rows = counting.with_width(Rows::of("placed").cross("placed", "smaller")).filter(Some(on.and(is_far)));
    let rows = rows.item(seen.key_of("placed"), seen.key()).item(col("placed.place"), "place");
    ctes.add("far", rows.item(call_max(low), "below").group_by([seen.key_of("placed"), col("placed.place")]));
    let rows = Rows::of("placed").item(seen.key_of("placed"), seen.key()).item(call_max(col("placed.place")), "place");
    ctes.add("value_1", rows.group_by([seen.key_of("placed")]));
    for step in 2..=l {
        let before = format!("value_{}", step - 1);
        let on = seen.key_of("far").eq(seen.key_of(&before)).and(col("far.place").eq(col(&format!("{before}.place"))));
        let rows = Rows::of(&before).join("far", on).item(seen.key_of(&before), seen.key());
        ctes.add(&format!("value_{step}"), rows.item(col("far.below"), "place"));
    }
    let last = format!("value_{l}");
    let rows = Rows::of("counted").left_join(&last, seen.key_of("counted").eq(seen.key_of(&last)));
    let rows = rows.item(key.clone(), seen.key()).item(largest_size("counted"), "size").group_by([key]);
    let has_few = call_max(col(&format!("{last}.place"))).missing();
    let decides = if counting.is_rough() { Decides::ErrsTowardsComplaint } else { Decides::Exactly };
    let broken = if are_persons { has_few.or(too_few_persons()) } else { has_few };
    Ok((rows.having(broken), decides))
}

/// ke: at least k numbers, which span at least e.
pub(super) fn spread(seen: &Seen<'_>, counting: &Counting<'_>, k: u64, e: &Rational, are_persons: bool) -> Written {
    if !counting.kind().is_numeric() {
        return Err("The sensitive attribute has no numbers.".to_owned());
    }
    let mut ctes = Ctes::default();
    seen.add_shown(&mut ctes, counting.at);
    let (key, value) = (seen.key_of("shown"), col("shown.value"));
    let rows = Rows::of("shown").item(key.clone(), seen.key()).item(call("COUNT", vec![value.clone()]), "numbers");
    let rows = rows.item(call_min(value.clone()), "least").item(call_max(value), "greatest");
    ctes.add("spans", rows.item(largest_size("shown"), "size").group_by([key]));
    let (least, greatest) = (col("spans.least"), col("spans.greatest"));
    let span = greatest.clone() - least.clone();
    let (numerator, denominator) = parts(e);
    let mut broken = vec![col("spans.numbers").less(int(k))];
    let is_exact = counting.kind() != Kind::Real || *e.denom() == 1 && *e.numer() < 1 << 53;
    if *e.numer() > 0 {
        // Nothing but missing values span nothing.
        broken.push(least.clone().missing());
    }
    match (counting.kind(), is_exact) {
        (Kind::Real, true) => {
            broken.push(span.clone().less(seen.frame.dialect.double(numerator.clone())));
            let off = rounding_error(greatest.clone(), least.clone());
            broken.push(span.eq(seen.frame.dialect.double(numerator)).and(off.less(int(0))));
        }
        (Kind::Real, false) => {
            let e = *e.numer() as f64 / *e.denom() as f64;
            broken.push(span.less(seen.frame.real(e * (1.0 + 1e-12))));
        }
        _ => broken.push((span * denominator).less(numerator)),
    }
    if are_persons {
        broken.push(col("spans.size").less(int(k)));
    }
    let rows = Rows::of("spans").item(seen.key_of("spans"), seen.key()).item(col("spans.numbers"), "numbers");
    let rows = rows.item(least, "least").item(greatest, "greatest").item(col("spans.size"), "size");
    let rows = rows.filter(Some(any(broken)));
    match is_exact {
        true => exactly(ctes, rows),
        false => Ok(Body { ctes, rows, decides: Decides::ErrsTowardsComplaint }),
    }
}

/// What rounding took from a difference of two reals, exactly (Knuth's two-sum).
fn rounding_error(a: X, b: X) -> X {
    let s = a.clone() - b.clone();
    let part = s.clone() - a.clone();
    (a - (s - part.clone())) - (b + part)
}
