//! Whether exact values are ones that the manifest knows.

use std::collections::BTreeSet;

use chrysalis_release::Attribute;
use chrysalis_table::{Code, Column, Kind};

use super::tables::ValueTables;
use crate::Check;
use crate::columns::Positions;
use crate::findings::Findings;

/// Quasi and other values lie in their attribute's domain.
pub(super) fn values(tables: &ValueTables<'_>) -> Check {
    let mut findings = Findings::new("values");
    let mut n_values = 0;
    for (attribute, column) in tables.quasi.iter().chain(&tables.others) {
        values_of(attribute, column, &mut findings);
        n_values += column.domain().len();
    }
    findings.check(format!("{n_values} different values, all in their domains"))
}

fn values_of(attribute: &Attribute, column: &Column, findings: &mut Findings) {
    let (name, domain, occurs) = (&attribute.name, column.domain(), column.histogram());
    if domain.has_missing() && occurs.first().is_some_and(|&count| count > 0) && !attribute.domain.missing {
        findings
            .add("missing values", || format!("`{name}` is missing in some rows, but its domain has no missing value"));
    }
    let is_known = known(attribute);
    let codes = (0..domain.len() as Code).filter(|&code| domain.value(code).is_some());
    for count in
        codes.filter(|&code| !is_known(column, code)).map(|code| occurs[code as usize]).filter(|&count| count > 0)
    {
        findings.add("values outside the domain", || {
            format!("a value of `{name}` that is not in the domain occurs {count} times")
        });
    }
    // Rows are compared by code, so the order of codes must be the one that the manifest gives.
    if domain.kind() == Kind::Ordinal && !Positions::of(attribute).of_column(column).is_sorted() {
        findings.add("order", || format!("the manifest lists the values of `{name}` in a different order"));
    }
}

/// A function that says whether the domain holds a value: by its ends for numbers and dates, by its words otherwise.
fn known(attribute: &Attribute) -> impl Fn(&Column, Code) -> bool {
    let kind = Kind::from(attribute.kind);
    let positions = Positions::of(attribute);
    let place = |end: &Option<serde_json::Value>| end.as_ref().and_then(|end| positions.of_json(end));
    let (first, last) = (place(&attribute.domain.min), place(&attribute.domain.max));
    let words: BTreeSet<String> = attribute.domain.order().into_iter().collect();
    move |column: &Column, code: Code| match kind {
        Kind::Ordinal | Kind::Category => words.contains(column.domain().text(code).as_ref()),
        Kind::Integer | Kind::Real | Kind::Date | Kind::DateTime => {
            let place = positions.of_value(column.domain().value(code));
            first.is_some() && last.is_some() && first <= place && place <= last
        }
    }
}
