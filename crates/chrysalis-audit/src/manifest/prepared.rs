//! Whether values look as if they had been prepared in the way that the manifest says. With the microdata, the check of
//! faithfulness says more.

use chrysalis_release::{Attribute, Bound, Period, Preparation};
use chrysalis_table::{Kind, Value};

use crate::columns::from_json;
use crate::findings::Findings;

/// LEAK: a manifest that claims a preparation which did not happen gives false comfort.
pub(super) fn check(attribute: &Attribute, findings: &mut Findings) {
    // A step may undo what the one before it made sure of, so only the last one shows.
    let Some(last) = attribute.preparations().ok().and_then(|steps| steps.last().copied()) else { return };
    let (domain, kind) = (&attribute.domain, Kind::from(attribute.kind));
    let values = domain.min.iter().chain(&domain.max).chain(domain.values.iter().flatten());
    let shows = |value: Option<Value>| value.is_none_or(|value| is_result(last, &value));
    if !values.filter(|value| !value.is_null()).all(|value| shows(from_json(kind, value))) {
        let name = &attribute.name;
        findings.add("prepared values", || {
            format!("`{name}` is said to be prepared by `{last}`, but has values that do not come out of it")
        });
    }
}

/// Whether a value can come out of a step; `true` for values that became words since.
fn is_result(step: Preparation, value: &Value) -> bool {
    match (step, value) {
        (Preparation::Round(width), Value::Integer(number)) => width.whole().is_none_or(|width| number % width == 0),
        (Preparation::Top(Bound::Number(most)), Value::Integer(_) | Value::Real(_)) => {
            value.number().is_some_and(|number| number <= most.float())
        }
        (Preparation::Top(Bound::Date(last)), Value::Date(date)) => date.0 <= last.0,
        (Preparation::Bottom(Bound::Number(least)), Value::Integer(_) | Value::Real(_)) => {
            value.number().is_some_and(|number| number >= least.float())
        }
        (Preparation::Bottom(Bound::Date(first)), Value::Date(date)) => date.0 >= first.0,
        (Preparation::Date(period), Value::Date(date)) => match (period, date.parts()) {
            (Period::Year, Some((_, month, day))) => (month, day) == (1, 1),
            (Period::Quarter, Some((_, month, day))) => day == 1 && [1, 4, 7, 10].contains(&month),
            (Period::Month, Some((_, _, day))) => day == 1,
            // 1970-01-05 was a Monday.
            (Period::Week, Some(_)) => (i64::from(date.0) - 4).rem_euclid(7) == 0,
            (_, None) => false,
        },
        (Preparation::Prefix(length), Value::Text(text)) => text.chars().count() <= usize::from(length),
        (Preparation::Pseudonym, Value::Text(text)) => {
            text.len() == 26 && text.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'2'..=b'7'))
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn values_show_whether_a_step_was_taken() {
        let check = |step: &str, kind: Kind, good: &[&str], bad: &[&str]| {
            let is_result = |text: &str| is_result(step.parse().unwrap(), &Value::parse(kind, text).unwrap());
            good.iter().for_each(|text| assert!(is_result(text), "{step}: {text}"));
            bad.iter().for_each(|text| assert!(!is_result(text), "{step}: {text}"));
        };
        check("round:5", Kind::Integer, &["0", "-15", "100"], &["1", "-14"]);
        check("top:90", Kind::Integer, &["90", "-3"], &["91"]);
        check("top:0.5", Kind::Real, &["0.5"], &["0.51"]);
        check("bottom:18", Kind::Integer, &["18", "90"], &["17"]);
        check("top:2020-12-31", Kind::Date, &["2020-12-31"], &["2021-01-01"]);
        check("bottom:2020-12-31", Kind::Date, &["2020-12-31"], &["2020-12-30"]);
        check("date:year", Kind::Date, &["2024-01-01"], &["2024-02-01", "2024-01-02"]);
        check("date:quarter", Kind::Date, &["2024-10-01"], &["2024-11-01", "2024-10-02"]);
        check("date:month", Kind::Date, &["2024-11-01"], &["2024-11-30"]);
        check("date:week", Kind::Date, &["2020-12-28", "1969-12-29"], &["2021-01-01"]);
        check("prefix:2", Kind::Category, &["Öl", "E"], &["E11"]);
        check("pseudonym", Kind::Category, &["mf2wsyykwf7b4d5grf2qd34vla"], &["17", "MF2WSYYKWF7B4D5GRF2QD34VLA"]);
        check("shift", Kind::Date, &["2024-02-29"], &[]);
        // Numbers that became words.
        check("top:90", Kind::Category, &["91"], &[]);
    }
}
