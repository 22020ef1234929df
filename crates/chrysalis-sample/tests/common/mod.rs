//! An independent judge of drawn worlds: it reads the published tables as texts and shares nothing with the sampler.

#![allow(dead_code, reason = "every test file uses a part of this")]
#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::{BTreeMap, BTreeSet};

use chrysalis_release::{Cell, Holds, Published, Release, RoleName, TableLayout, Values};
use chrysalis_table::{Kind, Table, Value};

/// All that a release says a world must keep; panics with what is not kept.
pub(crate) fn check_world(release: &Release, world: &Table) {
    let manifest = &release.manifest;
    let layout = manifest.layout();
    let names: Vec<&str> = manifest.attributes.iter().map(|it| it.name.as_str()).collect();
    let drawn: Vec<&str> = world.columns().iter().map(|column| column.name()).collect();
    assert_eq!(drawn, names, "the original columns, in order");
    assert_eq!(world.rows() as u64, manifest.rows);
    for (column, attribute) in world.columns().iter().zip(&manifest.attributes) {
        assert_eq!(column.domain().kind(), Kind::from(attribute.kind), "{}", column.name());
        assert!(column.histogram().iter().all(|&count| count > 0), "only values that occur: {}", column.name());
    }
    let id = layout.shape.group_id.unwrap();
    let people = layout.people().next().unwrap();
    let groups = rows_by_group(release, people, id);
    let mut next = 0;
    let of_world: Vec<Vec<usize>> = groups
        .values()
        .map(|rows| {
            next += rows.len();
            (next - rows.len()..next).collect()
        })
        .collect();
    let published = release.table(&people.name).unwrap();

    // Columns that stand beside each other because they are one person's.
    let own: Vec<&str> = manifest
        .attributes
        .iter()
        .filter(|it| match it.role {
            RoleName::Quasi => it.published == Published::Exact,
            RoleName::Other => true,
            RoleName::Sensitive => layout.shape.values == Values::Beside && it.published == Published::Exact,
            RoleName::Identifier => false,
        })
        .map(|it| it.name.as_str())
        .collect();
    // Sets of columns that were permuted or counted as one.
    let mut dealt: Vec<Vec<&str>> =
        manifest.together.iter().map(|set| set.iter().map(String::as_str).collect()).collect();
    for attribute in &manifest.attributes {
        let name = attribute.name.as_str();
        let is_shown = attribute.published != Published::Generalized && !own.contains(&name);
        if is_shown && !dealt.iter().flatten().any(|known| *known == name) {
            dealt.push(vec![name]);
        }
    }
    for ((group, rows), drawn) in groups.iter().zip(&of_world) {
        if !own.is_empty() {
            assert_eq!(tuples(published, &own, rows), tuples(world, &own, drawn), "group {group}: {own:?}");
        }
        for set in &dealt {
            let expected = match counted(release, set, id, *group) {
                Some(expected) => expected,
                None => tuples(published, set, rows),
            };
            assert_eq!(expected, tuples(world, set, drawn), "group {group}: {set:?}");
        }
    }
    for table in layout.people() {
        check_boxes(release, table, id, world, &of_world);
    }
}

/// Whether every row of a group has a row of the table whose labels cover it, each used once.
fn check_boxes(release: &Release, table: &TableLayout, id: &str, world: &Table, of_world: &[Vec<usize>]) {
    let groups = rows_by_group(release, table, id);
    for ((group, rows), drawn) in groups.iter().zip(of_world) {
        assert_eq!(rows.len(), drawn.len());
        let covers =
            |row: usize, drawn: usize| table.shows.iter().all(|&at| covers(release, table, at, row, world, drawn));
        let mut holder: Vec<Option<usize>> = vec![None; rows.len()];
        for at in 0..drawn.len() {
            let mut seen = vec![false; rows.len()];
            let found = augment(at, &mut holder, &mut seen, &|place, at| covers(rows[place], drawn[at]));
            assert!(found, "group {group}: a row fits no row of {}", table.name);
        }
    }
}

fn augment(
    at: usize,
    holder: &mut Vec<Option<usize>>,
    seen: &mut Vec<bool>,
    fits: &dyn Fn(usize, usize) -> bool,
) -> bool {
    for place in 0..holder.len() {
        if seen[place] || !fits(place, at) {
            continue;
        }
        seen[place] = true;
        if holder[place].is_none_or(|other| augment(other, holder, seen, fits)) {
            holder[place] = Some(at);
            return true;
        }
    }
    false
}

/// Whether what a row of a table shows of an attribute covers the value of a drawn row.
fn covers(release: &Release, layout: &TableLayout, at: usize, row: usize, world: &Table, drawn: usize) -> bool {
    let attribute = &release.manifest.attributes[at];
    let table = release.table(&layout.name).unwrap();
    let column_of = |cell: Cell| layout.columns.iter().find(|it| it.cell == cell).map(|it| it.name.as_str());
    let value = text(world, &attribute.name, drawn);
    if let Some(label) = column_of(Cell::Label(at)) {
        let label = text(table, label, row);
        let members = release.table("members").unwrap();
        return (0..members.rows()).any(|entry| {
            text(members, "attribute", entry) == attribute.name
                && text(members, "label", entry) == label
                && text(members, "value", entry) == value
        });
    }
    let Some((low, high)) = column_of(Cell::Low(at)).zip(column_of(Cell::High(at))) else { return true };
    let (low, high) = (text(table, low, row), text(table, high, row));
    if value.is_empty() {
        return low.is_empty();
    }
    let order = attribute.domain.order();
    let place = |text: &str| -> f64 {
        match Kind::from(attribute.kind) {
            Kind::Ordinal => order.iter().position(|word| word == text).unwrap() as f64,
            kind => Value::parse(kind, text).unwrap().number().unwrap(),
        }
    };
    !high.is_empty() && place(&value) <= place(&high) && (low.is_empty() || place(&low) <= place(&value))
}

/// The rows of a table by group, groups in the order of their ids.
fn rows_by_group(release: &Release, table: &TableLayout, id: &str) -> BTreeMap<i64, Vec<usize>> {
    let table = release.table(&table.name).unwrap();
    let mut groups: BTreeMap<i64, Vec<usize>> = BTreeMap::new();
    for row in 0..table.rows() {
        groups.entry(text(table, id, row).parse().unwrap()).or_default().push(row);
    }
    groups
}

/// The combinations of some columns in a group, if a table counts them.
fn counted(release: &Release, columns: &[&str], id: &str, group: i64) -> Option<Vec<Vec<String>>> {
    let layout = release.manifest.layout();
    let wanted: BTreeSet<&str> = columns.iter().copied().collect();
    let shows = |table: &&TableLayout| {
        let values = table.columns.iter().filter(|it| matches!(it.cell, Cell::Value(_)));
        matches!(table.holds, Holds::Values | Holds::Combinations)
            && values.map(|it| it.name.as_str()).collect::<BTreeSet<_>>() == wanted
    };
    let table = release.table(&layout.tables.iter().find(shows)?.name).unwrap();
    let mut found = Vec::new();
    for row in (0..table.rows()).filter(|&row| text(table, id, row) == group.to_string()) {
        let values: Vec<String> = columns.iter().map(|name| text(table, name, row)).collect();
        let count: usize = text(table, "count", row).parse().unwrap();
        found.extend(std::iter::repeat_n(values, count));
    }
    found.sort();
    Some(found)
}

fn tuples(table: &Table, columns: &[&str], rows: &[usize]) -> Vec<Vec<String>> {
    let mut found: Vec<Vec<String>> =
        rows.iter().map(|&row| columns.iter().map(|name| text(table, name, row)).collect()).collect();
    found.sort();
    found
}

pub(crate) fn text(table: &Table, column: &str, row: usize) -> String {
    let column = table.column(column).unwrap();
    column.domain().text(column.code(row)).into_owned()
}
