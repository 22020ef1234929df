//! (l,α)-diversity: categories of values with weights.

use chrysalis_criteria::{Rational, parse_rational};
use chrysalis_dialect::expr::{X, case, col, int, sum};
use chrysalis_dialect::select::{Ctes, Rows};
use chrysalis_table::folded;

use super::{Body, Written, check_products, readings, spread, union};
use crate::Decides;
use crate::counting::Counting;
use crate::frame::{call_max, columns_of, parts, same, sum_if};
use crate::seen::Seen;

/// What is asked of the frequencies of categories.
#[derive(Clone, Copy)]
pub(super) enum Extra {
    Nothing,
    Entropy,
    Recursive(Rational),
}

/// At least l different values whose weights add up to at least α, and what is asked besides.
pub(super) fn weighted(seen: &Seen<'_>, counting: &Counting<'_>, l: u64, alpha: &Rational, extra: Extra) -> Written {
    let (list, scale, heaviest) = categories(counting)?;
    check_products(
        seen.frame.dialect,
        &[seen.frame.manifest.rows, heaviest.max(1), (*alpha.denom()).max(*alpha.numer()), scale],
    )?;
    let mut ctes = Ctes::default();
    ctes.add_list("categories", &["value", "category", "weight"], list);
    seen.add_shown(&mut ctes, counting.at);
    counting.add_counted(&mut ctes, seen);
    let (key, value, n) = (seen.key_of("counted"), col("counted.value"), col("counted.n"));
    let is_missing = col("counted.value").missing();
    let there = sum(case(is_missing.clone(), int(0), n.clone())).over(std::slice::from_ref(&key), []);
    let on = match counting.attribute.domain.missing {
        true => same(col("categories.value"), value),
        false => col("categories.value").eq(value),
    };
    let rows = Rows::of("counted").left_join("categories", on).item(key, seen.key());
    let rows = rows.item(col("categories.category"), "category").item(col("categories.weight"), "weight");
    // Missing values weigh nothing, unless a group has nothing else.
    let counts = match counting.is_strict {
        true => case(is_missing, case(there.greater(int(0)), int(0), int(1)), int(1)),
        false => int(1),
    };
    let rows = rows.item(counts, "counts").item(n, "n").item(col("counted.size"), "size");
    ctes.add("weighed", rows);
    let (numerator, denominator) = parts(alpha);
    let (n, key) = (col("weighed.n"), seen.key_of("weighed"));
    let weight = sum_if(col("weighed.counts").eq(int(1)), n.clone() * col("weighed.weight"));
    let weight = chrysalis_dialect::expr::or_zero(weight);
    let light = Rows::of("weighed").item(key.clone(), seen.key()).item(call_max(col("weighed.size")), "size");
    let light = light.group_by([key.clone()]).having((weight * denominator).less(numerator * int(scale)));
    ctes.add("too_light", light);
    let (few, mut decides) = spread::different(&mut ctes, seen, counting, l, false)?;
    ctes.add("few", few);
    ctes.add("too_few", columns_of("few", &[seen.key(), "size"]));
    let mut broken = vec!["too_few", "too_light"];
    if !matches!(extra, Extra::Nothing) {
        let by = |reading: i64, filter: Option<X>| {
            let category = col("weighed.category");
            let rows = Rows::of("weighed").item(int(reading), "reading").item(key.clone(), seen.key());
            rows.item(sum(n.clone()), "n").filter(filter).group_by([key.clone(), category])
        };
        ctes.add_union("readings", vec![by(1, None), by(2, Some(col("weighed.counts").eq(int(1))))]);
        let rows = match extra {
            Extra::Recursive(c) => readings::add_heavy(&mut ctes, seen, "readings", &c, l),
            Extra::Entropy | Extra::Nothing => {
                decides = Decides::ErrsTowardsComplaint;
                readings::too_uneven(seen, "readings", &Rational::from_integer(l))
            }
        };
        ctes.add("uneven", rows);
        ctes.add("too_uneven", columns_of("uneven", &[seen.key(), "size"]));
        broken.push("too_uneven");
    }
    let rows = union(&mut ctes, &broken, &[seen.key(), "size"]).distinct();
    Ok(Body { ctes, rows, decides })
}

/// Every value with its category and its weight as a whole number, the scale of weights, and the largest of them. Values
/// that look alike are in the most sensitive category of any of them.
fn categories(counting: &Counting<'_>) -> Result<(Vec<Vec<X>>, u64, u64), String> {
    let attribute = counting.attribute;
    let none = || "The sensitive attribute has no categories with weights.".to_owned();
    let names = attribute.categories.as_ref().ok_or_else(none)?;
    let weights: Vec<Rational> = attribute
        .weights
        .iter()
        .flatten()
        .map(|text| parse_rational(text))
        .collect::<Option<_>>()
        .ok_or("A weight is not a number.")?;
    if names.len() != weights.len() || weights.is_empty() {
        return Err(none());
    }
    let large = || "The weights have no common denominator of 64 bits.".to_owned();
    let scale = weights.iter().try_fold(1_u64, |all, weight| {
        let (mut a, mut b) = (all, *weight.denom());
        while b > 0 {
            (a, b) = (b, a % b);
        }
        all.checked_mul(*weight.denom() / a)
    });
    let scale = scale.ok_or_else(large)?;
    let scaled: Vec<u64> = weights
        .iter()
        .map(|weight| weight.numer().checked_mul(scale / weight.denom()))
        .collect::<Option<_>>()
        .ok_or_else(large)?;
    let text = |json: &serde_json::Value| match json {
        serde_json::Value::Null => String::new(),
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let category = |word: &str| names.iter().position(|all| all.iter().any(|name| name == word));
    let is_alike =
        |a: &str, b: &str| a == b || counting.is_strict && !counting.kind().has_distances() && folded(a) == folded(b);
    let values: Vec<&serde_json::Value> = attribute.domain.values.iter().flatten().collect();
    let words: Vec<(String, Option<usize>)> =
        values.iter().map(|value| text(value)).map(|word| (word.clone(), category(&word))).collect();
    let mut list = Vec::new();
    for (value, (word, _)) in values.iter().zip(&words) {
        let alike = words.iter().filter(|(other, _)| is_alike(word, other)).map(|(_, category)| *category);
        let lowest = alike.min().flatten().ok_or("A value is in no category.")?;
        let (place, weight) = (int(lowest as i64), int(scaled[lowest]));
        list.push(vec![counting.frame.literal(counting.kind(), value), place, weight]);
    }
    if list.is_empty() {
        return Err("The manifest lists no values.".to_owned());
    }
    Ok((list, scale, scaled.iter().copied().max().unwrap_or(1)))
}
