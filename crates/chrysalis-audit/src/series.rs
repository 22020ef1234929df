//! Releases of a series: their groups may show counterfeit values, which nobody has.
//!
//! What a series adds is judged here, from the tables alone: how many values every group shows, that it shows them equally
//! often, that counterfeits make up the difference between values and rows, and how many people groups really have. For everything else a release is
//! judged as somebody sees it who cannot tell counterfeits from others: with a further row in every group for each of
//! them. Whether people keep their values from release to release is another question, which takes several releases.

use std::collections::BTreeMap;

use chrysalis_criteria::PrincipleSpec;
use chrysalis_release::{COUNT, COUNTERFEITS, Detail, Manifest, Release, RoleName, TableEntry, Values};
use chrysalis_table::{Code, Column, Kind, Table, Value, Watch};

use crate::columns::{find, group_ids, only_sensitive};
use crate::findings::Findings;
use crate::profile::check_size;
use crate::source::relevant;
use crate::{AuditError, AuditReport, Check, Groups, PrincipleResult};

/// What the tables of a release of a series say about its groups.
pub(crate) struct Seen {
    /// The same release with a further row for every counterfeit, and without the table that counts them.
    pub(crate) padded: Release,
    /// What was found.
    pub(crate) check: Check,
    /// How many people every group has, by its id.
    people: BTreeMap<Option<i64>, u64>,
    counterfeits: u64,
}

impl Seen {
    /// How many people a group has, counterfeits not counted.
    pub(crate) fn people(&self, group: Option<i64>) -> u64 {
        self.people.get(&group).copied().unwrap_or(0)
    }

    /// Says of people what was said of rows with counterfeits among them: how many there are, and how many a group has.
    pub(crate) fn correct(&self, manifest: &Manifest, report: &mut AuditReport) {
        report.rows = manifest.rows;
        for check in report.checks.iter_mut().filter(|check| check.name == "tables" && check.ok) {
            let (rows, counterfeits) = (manifest.rows, self.counterfeits);
            check.detail = format!(
                "{rows} rows, {} attributes; beside them {counterfeits} counterfeit values",
                manifest.attributes.len()
            );
        }
        let promised = manifest.promises.iter().zip(&mut report.principles);
        for (promise, result) in promised {
            let PrincipleSpec::KAnonymity { k } = *promise.principle() else { continue };
            let fewest = self.people.iter().map(|(id, n)| (*n, *id)).min();
            let (fewest, group) = fewest.unwrap_or((0, None));
            *result = PrincipleResult {
                holds: fewest >= k,
                worst: fewest as f64,
                worst_text: fewest.to_string(),
                worst_group: group,
                ..result.clone()
            };
        }
    }
}

/// One group.
#[derive(Clone, Debug, Default)]
struct SeenGroup {
    /// Rows in the table of people.
    rows: u64,
    /// Every value it shows, and how often.
    values: Vec<(Code, u64)>,
    counterfeits: u64,
}

impl SeenGroup {
    fn shown(&self) -> u64 {
        self.values.iter().fold(0, |sum, (_, count)| sum.saturating_add(*count))
    }

    /// The rows that are somebody's; `None` where there are fewer rows than counterfeits.
    fn people(&self, is_counted: bool) -> Option<u64> {
        // Where values stand beside rows, some of the rows are counterfeits'.
        if is_counted { Some(self.rows) } else { self.rows.checked_sub(self.counterfeits) }
    }
}

/// Judges what a series adds; `None` for other releases.
pub(crate) fn look(release: &Release, watch: &dyn Watch) -> Result<Option<Seen>, AuditError> {
    let manifest = &release.manifest;
    let Some(entry) = &manifest.series else { return Ok(None) };
    let shape = manifest.method.shape();
    let (Some(id), Some(attribute)) = (shape.group_id, only_sensitive(manifest)?) else {
        return Err(AuditError::NoSensitive { method: manifest.method });
    };
    let people = release.table(shape.people)?;
    let group = find(people, shape.people, id, Kind::Integer)?;
    let listed = release.table(COUNTERFEITS)?;
    let (listed_id, count) =
        (find(listed, COUNTERFEITS, id, Kind::Integer)?, find(listed, COUNTERFEITS, COUNT, Kind::Integer)?);
    let mut groups: BTreeMap<Option<i64>, SeenGroup> = BTreeMap::new();
    let mut findings = Findings::new("series");
    for (id, rows) in group_ids(group).into_iter().zip(group.histogram()) {
        groups.entry(id).or_default().rows += rows;
    }
    // Values stand in rows of a table of their own, or in those of people.
    let (name, is_counted) = match shape.values {
        Values::Counted(name) => (name, true),
        Values::Beside | Values::Swapped => (shape.people, false),
    };
    let table = release.table(name)?;
    let (of_value, value) =
        (find(table, name, id, Kind::Integer)?, find(table, name, &attribute.name, attribute.kind.into())?);
    let times = if is_counted { Some(find(table, name, COUNT, Kind::Integer)?) } else { None };
    let ids = group_ids(of_value);
    for row in 0..table.rows() {
        watch.pause_at(row);
        let n = times.map_or(Some(1), |times| number(times, row));
        let n = n.and_then(|n| u64::try_from(n).ok()).unwrap_or(0);
        groups.entry(ids[of_value.code(row) as usize]).or_default().values.push((value.code(row), n));
    }
    for row in 0..listed.rows() {
        let (of, n) = (number(listed_id, row), number(count, row));
        let known = groups.get_mut(&of);
        match (known, n.and_then(|n| u64::try_from(n).ok()).filter(|n| *n > 0)) {
            (Some(group), Some(n)) if group.counterfeits == 0 => group.counterfeits = n,
            _ => findings.add("counterfeits", || {
                format!("row {} of `{COUNTERFEITS}` names no group, one that was named before, or no count", row + 1)
            }),
        }
        if row > 0 && number(listed_id, row - 1) >= of {
            findings.add("order", || format!("the rows of `{COUNTERFEITS}` are not in the order of their groups"));
        }
    }
    let least = manifest.promises.iter().filter_map(|promise| match promise.principle() {
        PrincipleSpec::MInvariance { m } => Some(*m),
        _ => None,
    });
    let least = least.max().unwrap_or(1);
    judge(&mut groups, least, is_counted, &mut findings);
    let counterfeits: u64 = groups.values().fold(0, |sum, group| sum.saturating_add(group.counterfeits));
    let expected = manifest.rows.saturating_add(if is_counted { 0 } else { counterfeits });
    if people.rows() as u64 != expected {
        let (found, rows) = (people.rows(), manifest.rows);
        findings.add("rows", || {
            format!(
                "`{}` has {found} rows, which {rows} people and {counterfeits} counterfeits do not explain",
                shape.people
            )
        });
    }
    check_size(
        "the release with its counterfeits",
        usize::try_from(manifest.rows.saturating_add(counterfeits)).unwrap_or(usize::MAX),
    )?;
    let of_group = |(id, group): (&Option<i64>, &SeenGroup)| (*id, group.people(is_counted).unwrap_or(0));
    let n_people = groups.iter().map(of_group).collect();
    let check = findings.check(format!(
        "release {} of a series: {} groups show at least {least} values each, all equally often; {counterfeits} of them are \
         counterfeit. Whether everybody keeps theirs shows only beside the other releases",
        entry.number,
        groups.len()
    ));
    let padded = padded(release, shape.people, group, if is_counted { Some(&groups) } else { None });
    Ok(Some(Seen { padded, check, people: n_people, counterfeits }))
}

/// Every group has a real row, at least so many values, all of them equally often, and as many counterfeits as it takes.
fn judge(groups: &mut BTreeMap<Option<i64>, SeenGroup>, least: u64, is_counted: bool, findings: &mut Findings) {
    for (id, group) in groups {
        let name = || id.map_or_else(|| "(missing)".to_owned(), |id| id.to_string());
        group.values.sort_unstable();
        let times: Vec<u64> = group
            .values
            .chunk_by(|one, next| one.0 == next.0)
            .map(|same| same.iter().fold(0, |sum: u64, (_, count)| sum.saturating_add(*count)))
            .collect();
        if times.windows(2).any(|pair| pair[0] != pair[1]) || times.contains(&0) {
            findings.add("uneven values", || format!("group {} shows some values more often than others", name()));
        }
        let (shown, values) = (group.shown(), times.len() as u64);
        if values < least {
            findings.add("too few values", || format!("group {} shows {values} values, {least} are promised", name()));
        }
        if group.people(is_counted).is_none_or(|real| real == 0) {
            findings.add("groups without people", || format!("group {} has nothing but counterfeits", name()));
        }
        if is_counted && group.rows.checked_add(group.counterfeits) != Some(shown) {
            let (rows, counterfeits) = (group.rows, group.counterfeits);
            findings.add("groups of two sizes", || {
                format!("group {} has {rows} rows and {counterfeits} counterfeits, but {shown} values", name())
            });
        }
        // What does not add up must not make the padded release large.
        group.counterfeits = group.counterfeits.min(shown);
    }
}

/// LEAK: nobody can tell counterfeits from other values, so attackers reckon with a person for each.
fn padded(
    release: &Release,
    people: &str,
    group: &Column,
    groups: Option<&BTreeMap<Option<i64>, SeenGroup>>,
) -> Release {
    let manifest = &release.manifest;
    let ids = group_ids(group);
    let rows = group.codes().len();
    // The last row of a group stands for its counterfeits as well, so that the order of rows stays canonical.
    let mut more = vec![0; ids.len()];
    for (more, id) in more.iter_mut().zip(&ids) {
        *more = groups.and_then(|groups| groups.get(id)).map_or(0, |group| group.counterfeits);
    }
    let mut last = vec![usize::MAX; ids.len()];
    (0..rows).for_each(|row| last[group.code(row) as usize] = row);
    let mut order: Vec<u32> = Vec::with_capacity(rows);
    for row in 0..rows {
        let code = group.code(row) as usize;
        // PROOF: rows are numbered in 32 bits, also with counterfeits: their number was checked.
        let times = 1 + if last[code] == row { more[code] } else { 0 };
        order.extend(std::iter::repeat_n(row as u32, usize::try_from(times).unwrap_or(1)));
    }
    let (mut tables, mut entries) = (Vec::new(), Vec::new());
    for (entry, table) in manifest.tables.iter().zip(&release.tables) {
        if entry.name == COUNTERFEITS {
            continue;
        }
        let before = table.rows();
        let table = if entry.name == people && groups.is_some() { table.gather(&order) } else { table.clone() };
        // What the manifest says wrongly stays wrong.
        let more = (table.rows() - before) as u64;
        entries.push(TableEntry { rows: entry.rows.saturating_add(more), ..entry.clone() });
        tables.push(table);
    }
    let rows = if groups.is_some() { order.len() } else { rows } as u64;
    Release { manifest: Manifest { rows, tables: entries, series: None, ..manifest.clone() }, tables }
}

fn number(column: &Column, row: usize) -> Option<i64> {
    match column.domain().value(column.code(row)) {
        Some(Value::Integer(number)) => Some(*number),
        _ => None,
    }
}

/// Why an attack that compares a release with the next one has nothing to compare in a series.
pub(crate) fn why_not(attack: &str) -> Option<&'static str> {
    match attack {
        "subtraction" => Some(
            "Not run: in a series, values are counted as they are shown, counterfeits included, and these counts follow from \
             the groups. What one release after another tells is bounded by what each person's groups have in common.",
        ),
        "republishing" => Some(
            "Not run: the next release of the series shows everybody the same values, and rules none of them out. That it \
             does is checked with both releases.",
        ),
        _ => None,
    }
}

/// Whether a release of a series shows the microdata, and counterfeits beside them.
pub(crate) fn faithful(release: &Release, microdata: &Table) -> Result<Check, AuditError> {
    let manifest = &release.manifest;
    let shape = manifest.method.shape();
    let (microdata, n_dropped) = relevant(manifest, microdata)?;
    let mut findings = Findings::new("faithful");
    if microdata.rows() as u64 != manifest.rows {
        let (found, rows) = (microdata.rows(), manifest.rows);
        findings.add("rows", || format!("the microdata have {found} rows, {rows} were published"));
    }
    let people = release.table(shape.people)?;
    let kept: Vec<&str> = manifest
        .attributes
        .iter()
        .filter(|attribute| match attribute.role {
            RoleName::Quasi => !shape.detail.is_labelled(),
            RoleName::Other => shape.keeps_others,
            RoleName::Sensitive | RoleName::Identifier => false,
        })
        .map(|attribute| attribute.name.as_str())
        .collect();
    // Rows where values of a row belong together, and otherwise columns one by one.
    let sets: Vec<Vec<&str>> = match shape.detail {
        Detail::Exact => vec![kept],
        Detail::Permuted | Detail::GroupBoxes | Detail::RowBoxes => kept.into_iter().map(|name| vec![name]).collect(),
    };
    for names in &sets {
        let different = different_rows(&microdata, people, names);
        if different > 0 {
            findings.add("quasi values", || {
                format!("{different} different rows of {} are not as often in both", names.join(", "))
            });
        }
    }
    if let Some(attribute) = only_sensitive(manifest)? {
        let known = microdata.column(&attribute.name);
        let name = shape.values_table();
        let shown = release.table(name)?.column(&attribute.name);
        if let Some((known, shown)) = known.zip(shown) {
            let mut shown_times = vec![0_u64; shown.domain().len()];
            let times = release.table(name)?.column(COUNT).filter(|_| matches!(shape.values, Values::Counted(_)));
            for (row, code) in shown.codes().iter().enumerate() {
                let n = times.map_or(Some(1), |times| number(times, row)).and_then(|n| u64::try_from(n).ok());
                shown_times[code as usize] += n.unwrap_or(0);
            }
            for (code, count) in (0..).zip(known.histogram()) {
                let there = shown.domain().code_of(known.domain().value(code));
                let times = there.map_or(0, |code: Code| shown_times[code as usize]);
                if times < count {
                    findings.add("sensitive values", || {
                        format!("a value of `{}` occurs {count} times, and is shown {times} times", attribute.name)
                    });
                }
            }
        }
    }
    let dropped =
        if n_dropped > 0 { format!(" ({n_dropped} rows with missing values left out)") } else { String::new() };
    Ok(findings.check(format!(
        "all people are shown, and every value at least as often as it occurs{dropped}; whether each stands in a group \
         that shows their value was not decided"
    )))
}

/// How many combinations of these columns do not occur equally often in both tables.
fn different_rows(one: &Table, other: &Table, names: &[&str]) -> usize {
    fn columns<'a>(table: &'a Table, names: &[&str]) -> Vec<&'a Column> {
        names.iter().filter_map(|name| table.column(name)).collect()
    }
    let (ones, others) = (columns(one, names), columns(other, names));
    if ones.len() != names.len() || others.len() != names.len() {
        return usize::from(!names.is_empty());
    }
    let joined: Vec<Column> = ones
        .iter()
        .zip(&others)
        .map(|(one, other)| {
            let (codes, n) = crate::source::join(one, other);
            let values = (0..n as i64).map(Value::Integer).collect();
            Column::new("", std::sync::Arc::new(chrysalis_table::Domain::new(Kind::Integer, values, false)), codes)
        })
        .collect();
    let refs: Vec<&Column> = joined.iter().collect();
    let groups = Groups::of_columns(&refs, one.rows() + other.rows(), &chrysalis_table::Unwatched);
    let mut balance = vec![0_i64; groups.n_groups];
    for (row, &group) in groups.of_row.iter().enumerate() {
        balance[group as usize] += if row < one.rows() { 1 } else { -1 };
    }
    balance.iter().filter(|balance| **balance != 0).count()
}
