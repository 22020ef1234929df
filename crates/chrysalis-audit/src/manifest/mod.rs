//! Whether a manifest says what an honest publisher of its form would say, and nothing else.
//!
//! LEAK: whatever a reader skips or takes on trust can carry a message or give false comfort: ids with gaps, values
//! that no row has, rows that are said to be suppressed where none can be. Only what follows from the tables and the
//! manifest is judged here. The owner's own choices (the order of columns and of promises, which values are ordinary)
//! can carry a message, too, which nobody can detect.

mod domains;
mod prepared;
#[cfg(test)]
mod tests;

use chrysalis_criteria::{PrincipleSpec, parse_rational, show_rational};
use chrysalis_release::{
    Accepted, Attribute, Cell, Detail, Holds, Layout, Manifest, Promise, Release, RoleName, TableLayout, marginal_table,
};
use chrysalis_table::{Kind, Value, Watch};

use crate::columns::from_json;
use crate::findings::Findings;
use crate::{Check, Disclosure};

/// Checks everything that a manifest says besides its promises.
pub(crate) fn check(release: &Release, disclosure: Option<&Disclosure>, watch: &dyn Watch) -> Check {
    let mut findings = Findings::new("manifest");
    let manifest = &release.manifest;
    let layout = manifest.layout();
    groups(manifest, &mut findings);
    attributes(manifest, &mut findings);
    tables(manifest, &layout, &mut findings);
    accepted(manifest, disclosure, &mut findings);
    for at in 0..manifest.attributes.len() {
        watch.pause();
        domains::check(release, &layout, at, &mut findings);
    }
    findings.check("nothing beyond what the form and the tables call for".to_owned())
}

/// The partitioners that may have formed the groups of a release.
const PARTITIONERS: [&str; 20] = [
    "compact",
    "mondrian",
    "full-domain",
    "top-down",
    "column",
    "anatomize",
    "similar",
    "nearby",
    "min-sum",
    "min-max",
    "min-max-exact",
    "max-groups",
    "sequential",
    "like",
    SERIES,
    TRANSPARENT,
    "body-first",
    "union",
    "given",
    NOBODY,
];
/// Those that may suppress rows: groups that come from elsewhere may come from such a partitioner.
const SUPPRESS: [&str; 2] = ["full-domain", "given"];
/// The partitioner that makes a release transparent; no other does.
const TRANSPARENT: &str = "transparent";
/// The partitioner of series; no other keeps signatures.
const SERIES: &str = "series";
/// The partitioner's name where there are no groups.
const NOBODY: &str = "none";

/// Whether a manifest may name this partitioner.
pub fn knows_partitioner(name: &str) -> bool {
    PARTITIONERS.contains(&name)
}

fn groups(manifest: &Manifest, findings: &mut Findings) {
    let (shape, partitioner) = (manifest.method.shape(), manifest.partitioner.as_str());
    let has_groups = shape.group_id.is_some();
    if !knows_partitioner(partitioner) || (partitioner == NOBODY) == has_groups {
        let name: String = partitioner.chars().take(40).collect();
        findings.add("partitioners", || format!("no partitioner named `{name}` forms groups of this form"));
    }
    if manifest.series.is_some() != (partitioner == SERIES) {
        findings.add("series", || format!("groups keep signatures if `{SERIES}` formed them, and only then"));
    }
    transparency(manifest, findings);
    if !has_groups && manifest.groups != 0 {
        findings.add("groups", || format!("there are no groups, but the manifest says {}", manifest.groups));
    }
    let may_suppress = match shape.detail {
        Detail::GroupBoxes => !shape.has_users && SUPPRESS.contains(&partitioner),
        Detail::Exact | Detail::Permuted | Detail::RowBoxes => false,
    };
    if manifest.suppressed > 0 && !may_suppress {
        let n = manifest.suppressed;
        findings.add("suppressed rows", || {
            format!("{n} rows are said to be suppressed, but this form by `{partitioner}` suppresses none")
        });
    }
    if (1..manifest.promises.len()).any(|at| manifest.promises[..at].contains(&manifest.promises[at])) {
        findings.add("repetitions", || "a promise is made twice".to_owned());
    }
    let sets = &manifest.quasi_identifiers;
    let quasi: Vec<&String> = manifest.with_role(RoleName::Quasi).map(|attribute| &attribute.name).collect();
    let is_one = sets.len() == 1 && sets[0].iter().eq(quasi);
    let repeats = |set: &Vec<String>| (1..set.len()).any(|at| set[..at].contains(&set[at]));
    let are_sets = !sets.iter().any(repeats) && (1..sets.len()).all(|at| !sets[..at].contains(&sets[at]));
    if !(is_one || shape.has_users && are_sets) {
        findings.add("quasi-identifiers", || {
            "the quasi-identifiers are not those of the attributes, each once and in their order".to_owned()
        });
    }
}

/// Only one partitioner is proved to be transparent, for some forms and some principles.
fn transparency(manifest: &Manifest, findings: &mut Findings) {
    let shape = manifest.method.shape();
    if manifest.transparent != (manifest.partitioner == TRANSPARENT) {
        findings.add("transparency", || {
            format!("groups are transparent if `{TRANSPARENT}` formed them, and only then: the manifest says otherwise")
        });
    }
    if manifest.transparent && (shape.has_users || shape.marginals.is_some() || !shape.may_promise) {
        findings.add("transparency", || "nobody has proved that releases of this form can be transparent".to_owned());
    }
    let lacks_proof = |promise: &&Promise| {
        matches!(
            promise.principle(),
            PrincipleSpec::OfPopulation(_)
                | PrincipleSpec::MInvariance { .. }
                | PrincipleSpec::DistinctLAlpha { .. }
                | PrincipleSpec::EntropyLAlpha { .. }
                | PrincipleSpec::RecursiveLAlpha { .. }
        )
    };
    for promise in manifest.promises.iter().filter(lacks_proof).filter(|_| manifest.transparent) {
        let principle = promise.principle().to_string();
        findings.add("transparency", || format!("no way to keep `{principle}` is proved to be transparent"));
    }
}

/// Quasi columns come first, then those that are kept, then the sensitive one, which alone may have a taxonomy and
/// categories.
fn attributes(manifest: &Manifest, findings: &mut Findings) {
    let place = |attribute: &Attribute| match attribute.role {
        RoleName::Quasi => 0,
        RoleName::Other => 1,
        RoleName::Sensitive => 2,
        RoleName::Identifier => 3,
    };
    if !manifest.attributes.iter().map(place).is_sorted() {
        findings.add("attributes", || "the attributes are not listed in the order that publishing uses".to_owned());
    }
    for attribute in &manifest.attributes {
        prepared::check(attribute, findings);
        let name = &attribute.name;
        let has_more = attribute.taxonomy.is_some() || attribute.categories.is_some() || attribute.weights.is_some();
        if has_more && attribute.role != RoleName::Sensitive {
            findings.add("idle facts", || {
                format!("`{name}` is not sensitive, so its taxonomy and categories have no effect")
            });
        }
        if attribute.categories.is_some() != attribute.weights.is_some() {
            findings.add("idle facts", || {
                format!("`{name}` has categories without weights, or weights without categories")
            });
        }
        let is_odd = attribute.weights.iter().flatten().any(|text| !is_plain_fraction(text));
        if is_odd || attribute.near.as_ref().is_some_and(|text| !is_plain_number(text)) {
            findings.add("spelling", || format!("a number of `{name}` is not spelled as publishing spells it"));
        }
        if repeats(attribute.ordinary.as_deref().unwrap_or_default()) {
            findings.add("repetitions", || format!("`{name}` calls a value ordinary twice"));
        }
    }
    for attribute in manifest.with_role(RoleName::Sensitive) {
        taxonomy(attribute, findings);
    }
}

/// The lines of a taxonomy are those of the domain's values, each once and in their order.
fn taxonomy(attribute: &Attribute, findings: &mut Findings) {
    let Some(lines) = &attribute.taxonomy else { return };
    let kind = Kind::from(attribute.kind);
    let values = attribute.domain.values.iter().flatten().filter(|value| !value.is_null());
    let leaves = lines.iter().map(|line| line.first().and_then(|leaf| Value::parse(kind, leaf)));
    let fits = leaves.eq(values.map(|value| from_json(kind, value)));
    if !fits {
        let name = &attribute.name;
        findings.add("taxonomies", || {
            format!("the lines of the taxonomy of `{name}` are not those of its values, in their order")
        });
    }
}

/// `36/49`, in lowest terms.
fn is_plain_fraction(text: &str) -> bool {
    parse_rational(text).is_some_and(|number| number.to_string() == text)
}

/// `1000`, `0.5` or `1/3`.
fn is_plain_number(text: &str) -> bool {
    parse_rational(text).is_some_and(|number| show_rational(number) == text)
}

fn repeats<T: PartialEq>(all: &[T]) -> bool {
    (1..all.len()).any(|at| all[..at].contains(&all[at]))
}

/// Tables and their columns are those of the form, in its order.
fn tables(manifest: &Manifest, layout: &Layout, findings: &mut Findings) {
    let listed = manifest.tables.iter().map(|table| (&table.name, table.columns.iter().map(|column| &column.name)));
    let mut expected = layout.tables.iter();
    for (name, columns) in listed {
        let fits =
            |table: &TableLayout| table.name == *name && table.columns.iter().map(|it| &it.name).eq(columns.clone());
        if !expected.next().is_some_and(fits) {
            findings.add("tables", || format!("`{name}` or its columns are not in the order of the form"));
        }
    }
    if let Some(table) = expected.next() {
        findings.add("tables", || format!("the manifest does not list `{}`", table.name));
    }
    for table in layout.people().skip(1) {
        let name = &table.name;
        if !is_named_after(manifest, table) {
            findings.add("names", || format!("`{name}` is not named after the columns that it shows"));
        }
    }
}

/// Whether the table of a marginal is named after its attributes, in any order, with a number where that name is taken.
fn is_named_after(manifest: &Manifest, table: &TableLayout) -> bool {
    let start = manifest.method.shape().marginals.unwrap_or_default();
    let shown = table.shows.iter().map(|&at| manifest.attributes[at].name.as_str());
    let plain = |name: &str| {
        let parts: Vec<String> = shown.clone().map(|part| marginal_table("", std::iter::once(part))).collect();
        let length = start.len() + parts.iter().map(String::len).sum::<usize>() + parts.len().saturating_sub(1);
        name.len() == length && name.starts_with(start) && parts.iter().all(|part| name.contains(part.as_str()))
    };
    let numbered = table.name.rsplit_once('_').is_some_and(|(base, number)| {
        let is_number = number.parse::<u64>().is_ok_and(|n| n >= 2 && n.to_string() == number);
        is_number && plain(base) && manifest.tables.iter().any(|other| other.name == base)
    });
    plain(&table.name) || numbered
}

fn accepted(manifest: &Manifest, disclosure: Option<&Disclosure>, findings: &mut Findings) {
    let disclosed = disclosure.map_or(0, |found| found.disclosed_rows);
    // Where several classes look the same to a user, the publisher counts the finer ones, and asks for acceptance more
    // often.
    // What all persons of a group have is known to the publisher, and shown only where persons are counted beside values.
    let is_hidden = manifest.persons.is_some_and(|persons| persons.count < manifest.rows);
    let is_counted_alike = !manifest.method.shape().has_users && !is_hidden;
    if manifest.accepted.contains(&Accepted::Disclosure) && disclosed == 0 && is_counted_alike {
        findings.add("idle acceptance", || "disclosure is accepted, but nothing is disclosed".to_owned());
    }
    if repeats(&manifest.accepted) {
        findings.add("repetitions", || "a risk is accepted twice".to_owned());
    }
}

/// Ids are the numbers from 1 on, in every table that has them: any others could carry a message.
pub(crate) fn ids(release: &Release) -> Option<Check> {
    let layout = release.manifest.layout();
    let word = layout.shape.group_word;
    let mut findings = Findings::new("ids");
    let mut n_ids = None;
    for table in &layout.tables {
        let of_group = table.columns.iter().find(|column| column.cell == Cell::GroupId);
        let column = of_group.and_then(|id| release.table(&table.name).ok()?.column(&id.name));
        let Some(domain) = column.map(|column| column.domain()) else { continue };
        // Groups without counterfeits are not listed.
        if table.holds == Holds::Counterfeits {
            continue;
        }
        let is_dense = domain.values().iter().zip(1..).all(|(id, number)| *id == Value::Integer(number));
        if !is_dense {
            let (name, n) = (&table.name, domain.values().len());
            findings.add("ids", || format!("the {word} ids of `{name}` are not the numbers from 1 to {n}"));
        }
        if table.holds == Holds::People {
            n_ids = n_ids.or(Some(domain.values().len()));
        }
    }
    n_ids.map(|n| findings.check(format!("{word} ids are the numbers from 1 to {n}")))
}
