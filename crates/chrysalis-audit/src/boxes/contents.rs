//! Whether cells and values are ones that the manifest knows.

use std::collections::{BTreeMap, BTreeSet};

use chrysalis_table::{Code, Kind, Watch};

use super::cells::{BoxTable, Cells};
use super::label;
use crate::columns::Positions;
use crate::findings::Findings;
use crate::{Check, Groups};

/// Ranges begin before they end and touch the attribute's domain, in every table.
pub(super) fn ranges(tables: &[BoxTable<'_>], watch: &dyn Watch) -> Check {
    let mut findings = Findings::new("ranges");
    let mut n_ranges = 0;
    for published in tables {
        for cells in published.quasi.iter().filter(|cells| cells.is_range()) {
            n_ranges += ranges_of(published, cells, &mut findings, watch);
        }
    }
    findings.check(format!("{n_ranges} different ranges"))
}

fn ranges_of(published: &BoxTable<'_>, cells: &Cells<'_>, findings: &mut Findings, watch: &dyn Watch) -> usize {
    let (attribute, name) = (cells.attribute, &cells.attribute.name);
    let positions = Positions::of(attribute);
    let (lows, highs) = (positions.of_column(cells.low), positions.of_column(cells.high));
    let domain = &attribute.domain;
    let (first, last) = match Kind::from(attribute.kind) {
        Kind::Ordinal => (Some(0), (domain.order().len() as i64).checked_sub(1).filter(|&last| last >= 0)),
        _ => {
            let place = |end: &Option<serde_json::Value>| end.as_ref().and_then(|end| positions.of_json(end));
            (place(&domain.min), place(&domain.max))
        }
    };
    if last.is_none() && highs.iter().any(Option::is_some) {
        findings.add("domains", || format!("the manifest gives no domain for `{name}`"));
    }
    let different = Groups::of_columns(&[cells.low, cells.high], published.table.rows(), watch);
    let rows = representatives(&different);
    for &row in &rows {
        let (low, high) = (lows[cells.low.code(row) as usize], highs[cells.high.code(row) as usize]);
        let group = || published.group_of(row);
        if high.is_none() && low.is_some() {
            findings.add("ranges without an end", || format!("group {}: `{name}` has no upper end", group()));
        } else if low > high {
            findings.add("ranges that end before they begin", || {
                format!("group {}: the range of `{name}` ends before it begins", group())
            });
        } else if high.is_some() && (high < first || last.is_some() && low > last) {
            findings.add("ranges outside the domain", || {
                format!("group {}: the range of `{name}` lies outside its domain", group())
            });
        }
        if low.is_none() && !domain.missing {
            findings.add("missing values", || {
                format!("group {}: `{name}` may be missing, but its domain has no missing value", group())
            });
        }
    }
    rows.len()
}

/// One row of every group.
fn representatives(groups: &Groups) -> Vec<usize> {
    let mut rows = vec![0; groups.n_groups];
    groups.of_row.iter().enumerate().rev().for_each(|(row, &group)| rows[group as usize] = row);
    rows
}

/// Every label of every table stands for values of the domain, and `members` mentions nothing else.
pub(super) fn labels(tables: &[BoxTable<'_>]) -> Check {
    let mut findings = Findings::new("labels");
    let Some(published) = tables.first() else { return findings.check(String::new()) };
    let sets = published.label_sets();
    let mut used: BTreeSet<(&str, String)> = BTreeSet::new();
    for cells in tables.iter().flat_map(|table| &table.quasi).filter(|cells| !cells.is_range()) {
        let name = cells.attribute.name.as_str();
        let occurs = cells.low.histogram();
        for code in (0..cells.low.domain().len() as Code).filter(|&code| occurs[code as usize] > 0) {
            let label = cells.low.domain().text(code).into_owned();
            if !sets.contains_key(&(name.to_owned(), label.clone())) {
                findings.add("labels without members", || format!("label `{label}` of `{name}` has no members"));
            }
            used.insert((name, label));
        }
    }
    stray_members(published, &sets, &used, &mut findings);
    let (members, n_rows) = published.members.map_or(("", 0), |members| (members.name, members.table.rows()));
    let n_members: usize = sets.values().map(BTreeSet::len).sum();
    if n_members != n_rows {
        findings.add("repeated members", || format!("{} rows of `{members}` repeat another", n_rows - n_members));
    }
    findings.check(format!("{} labels, {n_members} members", used.len()))
}

fn stray_members(
    published: &BoxTable<'_>,
    sets: &BTreeMap<(String, String), BTreeSet<String>>,
    used: &BTreeSet<(&str, String)>,
    findings: &mut Findings,
) {
    let members = published.members.map_or("", |members| members.name);
    let quasi = || published.quasi.iter().filter(|cells| !cells.is_range());
    let domains: BTreeMap<&str, BTreeSet<String>> =
        quasi().map(|cells| (cells.attribute.name.as_str(), texts(&cells.attribute.domain.values))).collect();
    for ((attribute, label), values) in sets {
        let Some(domain) = domains.get(attribute.as_str()) else {
            findings.add("stray attributes", || format!("`{members}` mentions `{attribute}`, which has no labels"));
            continue;
        };
        if !used.contains(&(attribute.as_str(), label.clone())) {
            findings
                .add("stray labels", || format!("label `{label}` of `{attribute}` is in `{members}`, but not used"));
        }
        wrong_members(attribute, label, values, domain, findings);
        for value in values.difference(domain) {
            findings.add("stray values", || {
                format!("label `{label}` of `{attribute}` stands for `{value}`, which is not in the domain")
            });
        }
    }
}

/// A label that says what it stands for (a value, `{a,b}`, or `*` for the whole domain) has exactly those members.
fn wrong_members(
    attribute: &str,
    label: &str,
    values: &BTreeSet<String>,
    domain: &BTreeSet<String>,
    findings: &mut Findings,
) {
    let said = match label {
        // A value that is written like a set may be a taxonomy's, where it stands for itself, or there is no taxonomy,
        // and it stands for the set: alone it would have quotes.
        _ if domain.contains(label) => {
            let itself = BTreeSet::from([label.to_owned()]);
            Some(label::set(label).filter(|said| said == values).unwrap_or(itself))
        }
        "*" => Some(domain.clone()),
        _ => label::set(label),
    };
    let Some(said) = said else { return };
    for value in said.difference(values) {
        findings.add("missing members", || {
            format!("label `{label}` of `{attribute}` stands for `{value}` too, which is not among its members")
        });
    }
    for value in values.difference(&said) {
        findings.add("extra members", || {
            format!("label `{label}` of `{attribute}` does not stand for `{value}`, which is among its members")
        });
    }
}

/// The words of a manifest's domain; the missing one is empty.
fn texts(values: &Option<Vec<serde_json::Value>>) -> BTreeSet<String> {
    values.iter().flatten().map(|value| value.as_str().unwrap_or_default().to_owned()).collect()
}
