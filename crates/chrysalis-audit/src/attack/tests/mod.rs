//! Releases of every form from one table and its groups, and every attack on every form.

mod beyond;
mod matrix;
mod papers;
mod several;

use chrysalis_release::{Attribute, DomainEntry, ENCODING, Form, Manifest, Release, RoleName, VERSION};
use chrysalis_table::{Column, Table};

use crate::Finding;
use crate::testing::{entry, promises};

/// A number that looks random and is not, below `n`.
pub(crate) fn mixed(seed: u64, n: u64) -> u64 {
    let mut x = seed.wrapping_add(0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    (x ^ x >> 31) % n
}

/// A column of words made from numbers.
pub(crate) fn words(name: &str, prefix: &str, numbers: &[u64]) -> Column {
    let texts: Vec<String> = numbers.iter().map(|number| format!("{prefix}{number}")).collect();
    Column::texts(name, texts.iter().map(String::as_str))
}

/// Groups of `l` rows with different sensitive values, as anatomize forms them: from the values with the most rows
/// left.
pub(super) fn dealt(sensitive: &[u64], l: usize) -> Vec<i64> {
    let mut left: std::collections::BTreeMap<u64, Vec<usize>> = std::collections::BTreeMap::new();
    (0..sensitive.len()).for_each(|row| left.entry(sensitive[row]).or_default().push(row));
    left.values_mut().for_each(|rows| rows.sort_by_key(|&row| mixed(row as u64, 1 << 40)));
    let mut groups = vec![0; sensitive.len()];
    for group in 1..=(sensitive.len() / l) as i64 {
        let mut values: Vec<(usize, u64, u64)> =
            left.iter().map(|(&value, rows)| (rows.len(), mixed(group as u64 * 64 + value, 1 << 40), value)).collect();
        values.sort_unstable();
        for &(_, _, value) in values.iter().rev().take(l) {
            groups[left.get_mut(&value).unwrap().pop().unwrap()] = group;
        }
    }
    groups
}

/// The last column is sensitive, all others are quasi.
pub(crate) fn release_of(
    form: Form,
    people: &Table,
    tables: Vec<(&str, Table)>,
    groups: usize,
    guarantees: &[&str],
) -> Release {
    let last = people.columns().len() - 1;
    let attribute = |(at, column): (usize, &Column)| {
        let is_sensitive = at == last;
        let shape = form.shape();
        Attribute {
            name: column.name().to_owned(),
            role: if is_sensitive { RoleName::Sensitive } else { RoleName::Quasi },
            kind: column.domain().kind().into(),
            published: if is_sensitive { shape.sensitive() } else { shape.detail.published() },
            domain: DomainEntry::of(column.domain(), is_sensitive.then(|| column.histogram())),
            taxonomy: None,
            categories: None,
            weights: None,
            ordinary: None,
            near: None,
            prepared: None,
            weight: false,
        }
    };
    let names = |columns: &[Column]| columns.iter().map(|column| column.name().to_owned()).collect();
    Release {
        manifest: Manifest {
            version: VERSION,
            encoding: ENCODING,
            method: form,
            partitioner: "column".into(),
            rows: people.rows() as u64,
            groups: groups as u64,
            promises: promises(form, Some(people.columns()[last].name()), guarantees),
            attributes: people.columns().iter().enumerate().map(attribute).collect(),
            together: Vec::new(),
            quasi_identifiers: vec![names(&people.columns()[..last])],
            tables: tables.iter().map(|(name, table)| entry(name, table)).collect(),
            persons: None,
            suppressed: 0,
            reproducible: false,
            transparent: false,
            series: None,
            accepted: vec![chrysalis_release::Accepted::Disclosure],
        },
        tables: tables.into_iter().map(|(_, table)| table).collect(),
    }
}

/// How often each sensitive value occurs in each group, as (group, value, count).
fn counted(people: &Table, groups: &[i64], id: &str) -> Table {
    let sensitive = &people.columns()[people.columns().len() - 1];
    let mut lines: Vec<(i64, u32)> =
        groups.iter().enumerate().map(|(row, &group)| (group, sensitive.code(row))).collect();
    lines.sort_unstable();
    let runs: Vec<&[(i64, u32)]> = lines.chunk_by(|a, b| a == b).collect();
    let first = |code: u32| (0..people.rows()).find(|&row| sensitive.code(row) == code).unwrap() as u32;
    let values = sensitive.gather(&runs.iter().map(|run| first(run[0].1)).collect::<Vec<_>>());
    Table::new(vec![
        Column::integers(id, &runs.iter().map(|run| run[0].0).collect::<Vec<_>>()),
        values,
        Column::integers("count", &runs.iter().map(|run| run.len() as i64).collect::<Vec<_>>()),
    ])
}

fn n_groups(groups: &[i64]) -> usize {
    groups.iter().collect::<std::collections::BTreeSet<_>>().len()
}

/// Rows by group; `key` decides the order within a group.
fn by_group(groups: &[i64], key: impl Fn(usize) -> u64) -> Vec<u32> {
    let mut rows: Vec<u32> = (0..groups.len() as u32).collect();
    rows.sort_by_key(|&row| (groups[row as usize], key(row as usize)));
    rows
}

/// Exact quasi values, or every column permuted inside its group.
pub(crate) fn verbatim(form: Form, people: &Table, groups: &[i64], guarantees: &[&str]) -> Release {
    let last = people.columns().len() - 1;
    let is_permuted = form == Form::Permute;
    let column = |(at, column): (usize, &Column)| {
        let key = |row: usize| if is_permuted { mixed((row * 31 + at) as u64, 1 << 40) } else { row as u64 };
        column.gather(&by_group(groups, key))
    };
    let mut columns: Vec<Column> = people.columns()[..last].iter().enumerate().map(column).collect();
    let mut ids = groups.to_vec();
    ids.sort_unstable();
    columns.push(Column::integers("group_id", &ids));
    let (main, side) = (form.shape().people, form.shape().values_table());
    let tables = vec![(main, Table::new(columns)), (side, counted(people, groups, "group_id"))];
    release_of(form, people, tables, n_groups(groups), guarantees)
}

/// Columns with the range or the set of every row's group, and the lines of `members` that the sets need.
fn cells(people: &Table, groups: &[i64]) -> (Vec<Column>, Vec<[String; 3]>) {
    let (mut columns, mut members) = (Vec::new(), Vec::new());
    for column in &people.columns()[..people.columns().len() - 1] {
        let rows_of = |row: usize| (0..people.rows()).filter(move |&other| groups[other] == groups[row]);
        if column.domain().kind().is_ordered() {
            let end = |row: usize, is_high: bool| {
                let by_code = |&other: &usize| column.code(other);
                let end = if is_high { rows_of(row).max_by_key(by_code) } else { rows_of(row).min_by_key(by_code) };
                column.domain().text(column.code(end.unwrap())).parse::<i64>().unwrap()
            };
            let ends = |is_high: bool| (0..people.rows()).map(|row| end(row, is_high)).collect::<Vec<_>>();
            columns.push(Column::integers(format!("{}_min", column.name()), &ends(false)));
            columns.push(Column::integers(format!("{}_max", column.name()), &ends(true)));
            continue;
        }
        let set = |row: usize| {
            let texts = rows_of(row).map(|other| column.domain().text(column.code(other)).into_owned());
            texts.collect::<std::collections::BTreeSet<String>>()
        };
        let label = |set: &std::collections::BTreeSet<String>| {
            let words: Vec<&str> = set.iter().map(String::as_str).collect();
            if words.len() == 1 { words[0].to_owned() } else { format!("{{{}}}", words.join(",")) }
        };
        let sets: Vec<_> = (0..people.rows()).map(set).collect();
        let labels: Vec<String> = sets.iter().map(label).collect();
        for set in &sets {
            members.extend(set.iter().map(|word| [column.name().to_owned(), label(set), word.clone()]));
        }
        columns.push(Column::texts(column.name(), labels.iter().map(String::as_str)));
    }
    members.sort();
    members.dedup();
    (columns, members)
}

fn members_table(members: &[[String; 3]]) -> Table {
    let text = |(at, name): (usize, &str)| Column::texts(name, members.iter().map(move |line| line[at].as_str()));
    Table::new(["attribute", "label", "value"].into_iter().enumerate().map(text).collect())
}

/// Ranges and labels, for one user or several.
pub(crate) fn generalized(form: Form, people: &Table, groups: &[i64], guarantees: &[&str]) -> Release {
    let (mut columns, members) = cells(people, groups);
    columns.insert(0, Column::integers("group_id", groups));
    columns.push(people.columns()[people.columns().len() - 1].clone());
    let rows = by_group(groups, |row| row as u64);
    let tables = vec![("generalized", Table::new(columns).gather(&rows)), ("members", members_table(&members))];
    release_of(form, people, tables, n_groups(groups), guarantees)
}

/// Sensitive values by batch, ranges and labels by bucket.
pub(crate) fn angel(people: &Table, batches: &[i64], buckets: &[i64], guarantees: &[&str]) -> Release {
    let (mut columns, members) = cells(people, buckets);
    columns.push(Column::integers("batch_id", batches));
    let rows = by_group(batches, |row| row as u64);
    let tables = vec![
        ("bt", counted(people, batches, "batch_id")),
        ("gt", Table::new(columns).gather(&rows)),
        ("members", members_table(&members)),
    ];
    release_of(Form::Angel, people, tables, n_groups(batches), guarantees)
}

/// The finding of an attack.
pub(crate) fn finding<'a>(findings: &'a [Finding], attack: &str) -> &'a Finding {
    findings.iter().find(|finding| finding.attack == attack).unwrap()
}
