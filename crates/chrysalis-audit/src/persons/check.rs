//! Whether what a release says about persons can be true.

use chrysalis_release::{Detail, GROUPS};
use chrysalis_table::Watch;

use super::seen::buckets;
use super::tables::PersonTables;
use crate::Check;
use crate::attack::counted;
use crate::findings::Findings;

/// From the tables alone: every group has a possible number of persons, and so has every value of a group.
pub(super) fn check(tables: &PersonTables<'_>, watch: &dyn Watch) -> Check {
    let mut findings = Findings::new("persons");
    form(tables, &mut findings);
    watch.pause();
    lines(tables, &mut findings);
    groups(tables, &mut findings);
    watch.pause();
    values(tables, &mut findings);
    in_buckets(tables, &mut findings, watch);
    let word = tables.word();
    let words = if word == "batch" { "batches" } else { "groups" };
    let equal =
        if tables.rows_known { format!("; all persons of a {word} have equally many rows") } else { String::new() };
    let n = tables.persons.iter().filter(|&&persons| persons > 0).count() as u64;
    findings.check(format!(
        "{} with {} in {}{equal}",
        counted(tables.count, "person", "persons"),
        counted(tables.rows.iter().sum(), "row", "rows"),
        counted(n, word, words),
    ))
}

/// Where rows can be counted, somebody's number of rows is as good as known.
fn form(tables: &PersonTables<'_>, findings: &mut Findings) {
    let shape = tables.manifest.method.shape();
    let hides_rows = shape.detail == Detail::GroupBoxes;
    if !hides_rows && !tables.rows_known {
        findings.add("rows that can be counted", || {
            let form = tables.manifest.method;
            format!(
                "the rows of a person can be counted in a release by {form}, but the manifest does not reckon with that"
            )
        });
    }
}

/// The table of groups lists every group once, in order.
fn lines(tables: &PersonTables<'_>, findings: &mut Findings) {
    let (word, mut listed) = (tables.word(), vec![0_u32; tables.ids.len()]);
    tables.lines.iter().for_each(|&(group, _)| listed[group as usize] += 1);
    for (group, &times) in listed.iter().enumerate() {
        let id = || tables.name(group);
        match (times, tables.rows[group]) {
            (0, rows) if rows > 0 => {
                findings.add("groups without persons", || format!("`{GROUPS}` does not list {word} {}", id()));
            }
            (0 | 1, rows) if rows > 0 => {}
            (0, _) => {}
            (_, 0) => {
                findings.add("groups without rows", || format!("`{GROUPS}` lists {word} {}, which has no rows", id()))
            }
            _ => findings.add("groups listed twice", || format!("`{GROUPS}` lists {word} {} {times} times", id())),
        }
    }
    if !tables.lines.is_sorted_by_key(|&(group, _)| group) {
        findings.add("order", || format!("the lines of `{GROUPS}` are not in the order of their ids"));
    }
}

fn groups(tables: &PersonTables<'_>, findings: &mut Findings) {
    let word = tables.word();
    let mut total: i128 = 0;
    for &(group, said) in &tables.lines {
        let (rows, id) = (tables.rows[group as usize], || tables.name(group as usize));
        let said = said.unwrap_or(0);
        total += i128::from(said);
        let persons = u64::try_from(said).unwrap_or(0);
        if persons == 0 || persons > rows {
            let rows = counted(rows, "row", "rows");
            findings.add("impossible persons", || format!("{word} {}: {said} persons, where it has {rows}", id()));
        } else if tables.rows_known && !rows.is_multiple_of(persons) {
            let rows = counted(rows, "row", "rows");
            findings.add("unequal rows", || {
                format!("{word} {}: its {persons} persons cannot have equally many of its {rows}", id())
            });
        }
    }
    if total != i128::from(tables.count) {
        let said = tables.count;
        findings.add("persons", || format!("`{GROUPS}` has {total} persons, the manifest says {said}"));
    }
}

/// What stands beside the counts of values.
fn values(tables: &PersonTables<'_>, findings: &mut Findings) {
    let Some(values) = tables.values.as_ref().filter(|values| values.having.is_some()) else { return };
    let (word, mut sums) = (tables.word(), vec![0_u64; tables.ids.len()]);
    for line in &values.lines {
        let group = line.group as usize;
        let (persons, each) = (tables.persons[group], tables.least_rows(group));
        let having = line.persons.and_then(|persons| u64::try_from(persons).ok()).unwrap_or(0);
        sums[group] = sums[group].saturating_add(having);
        // An impossible count is another check's finding, and a group without persons is one already.
        let Some(count) = line.count.map(u64::from).filter(|_| persons > 0) else { continue };
        let (said, rows) = (line.persons.unwrap_or(0), counted(count, "row", "rows"));
        let (id, has) = (|| tables.name(group), |n: u64| counted(n, "person", "persons"));
        if having == 0 || having > count {
            findings.add("persons without a row", || {
                format!("{word} {}: {said} persons are said to have a value that occurs in {rows}", id())
            });
        } else if having > persons {
            findings.add("persons of another group", || {
                format!("{word} {}: {having} persons are said to have a value, where it has {}", id(), has(persons))
            });
        } else if count > having.saturating_mul(each) && tables.rows[group].is_multiple_of(persons) {
            findings.add("rows without a person", || {
                let of = counted(each, "row", "rows");
                format!("{word} {}: {} of {of} cannot have {rows} with one value", id(), has(having))
            });
        }
    }
    for (group, &sum) in sums.iter().enumerate() {
        let persons = tables.persons[group];
        if sum < persons && tables.rows[group] > 0 {
            findings.add("persons without a value", || {
                let (id, has) = (tables.name(group), counted(persons, "person", "persons"));
                format!("{word} {id}: {has}, but all its values together are had by {sum}")
            });
        }
    }
}

/// All rows of a person are in one bucket and in one batch, so the rows of a batch in a bucket are those of whole
/// persons.
fn in_buckets(tables: &PersonTables<'_>, findings: &mut Findings, watch: &dyn Watch) {
    for seen in buckets(tables, watch) {
        for (batch, rows) in seen.placed.broken {
            let (id, each) = (tables.name(batch as usize), tables.least_rows(batch as usize));
            let name = &seen.table;
            findings.add("persons in two buckets", || {
                let of = counted(each, "row", "rows");
                format!(
                    "batch {id}: {rows} of its rows show the same cells in `{name}`, which persons of {of} each cannot"
                )
            });
        }
    }
}
