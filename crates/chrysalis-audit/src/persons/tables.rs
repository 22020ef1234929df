//! What a release says about persons, decoded without trusting it.

use chrysalis_release::{Attribute, Cell, Holds, Manifest, PERSONS, Release, Values};
use chrysalis_table::{Code, Column, Kind, Table, Value};

use crate::columns::{find, group_ids, only_sensitive};
use crate::measure::GroupCounts;
use crate::profile::check_size;
use crate::{AuditError, Groups};

/// A release in which a person may have several rows. Groups have one numbering for all tables, ascending by id.
pub(crate) struct PersonTables<'a> {
    pub(super) release: &'a Release,
    pub(super) manifest: &'a Manifest,
    /// Persons of the whole release, as the manifest says.
    pub(super) count: u64,
    /// Whether all persons of a group are said to have equally many rows.
    pub(super) rows_known: bool,
    pub(super) ids: Vec<Option<i64>>,
    /// The table with a row per row of the microdata, and the groups of its rows.
    pub(super) people: &'a Table,
    pub(super) groups: Groups,
    /// Rows of every group.
    pub(super) rows: Vec<u64>,
    /// The table of groups, line by line: the group, and its persons if they are a number.
    pub(super) lines: Vec<(u32, Option<i64>)>,
    /// Persons of every group, as far as they can be true; 0 where the table of groups does not say.
    pub(super) persons: Vec<u64>,
    pub(super) values: Option<ShownValues<'a>>,
}

/// The sensitive values of groups.
pub(super) struct ShownValues<'a> {
    pub(super) attribute: &'a Attribute,
    /// The column of values, in whichever table.
    pub(super) column: &'a Column,
    /// The lines of the table that counts values; empty where values stand in rows.
    pub(super) lines: Vec<ValueLine>,
    /// Rows with each value. Impossible counts are left out.
    pub(super) counts: GroupCounts,
    /// Persons who have each value, out of the persons of the group; absent where the tables do not say.
    pub(super) having: Option<GroupCounts>,
}

/// A line of the table that counts values.
pub(super) struct ValueLine {
    pub(super) group: u32,
    pub(super) code: Code,
    /// Rows with the value, if they can be that many.
    pub(super) count: Option<u32>,
    /// Persons who have it, if that is a number.
    pub(super) persons: Option<i64>,
}

impl<'a> PersonTables<'a> {
    /// What a release with one sensitive attribute at most says about persons; `None` where it counts rows.
    pub(crate) fn open(release: &'a Release) -> Result<Option<PersonTables<'a>>, AuditError> {
        let manifest = &release.manifest;
        let layout = manifest.layout();
        let (Some(said), Some(id)) = (manifest.persons, layout.shape.group_id) else { return Ok(None) };
        let named = |holds: Holds| layout.tables.iter().find(move |table| table.holds == holds);
        let integers = |table: &'a Table, name: &str, column: &str| find(table, name, column, Kind::Integer);
        let people = release.table(layout.shape.people)?;
        check_size("the release", people.rows())?;
        let group = integers(people, layout.shape.people, id)?;
        let of_groups = named(Holds::Groups).map_or("", |table| table.name.as_str());
        let groups_table = release.table(of_groups)?;
        let (listed, persons) = (integers(groups_table, of_groups, id)?, integers(groups_table, of_groups, PERSONS)?);
        let attribute = only_sensitive(manifest)?;
        let counted = match (layout.shape.values, attribute) {
            (Values::Counted(_), Some(_)) => named(Holds::Values),
            (Values::Counted(_) | Values::Beside | Values::Swapped, _) => None,
        };
        let counted = counted.map(|of| release.table(&of.name).map(|table| (of, table))).transpose()?;
        let value_ids = counted.map(|(of, table)| integers(table, &of.name, id)).transpose()?;
        let mut ids: Vec<Option<i64>> =
            [Some(group), Some(listed), value_ids].into_iter().flatten().flat_map(group_ids).collect();
        ids.sort_unstable();
        ids.dedup();
        let groups = Groups { of_row: numbered(&ids, group), n_groups: ids.len() };
        let rows = groups.sizes();
        let lines: Vec<(u32, Option<i64>)> = numbered(&ids, listed).into_iter().zip(whole_numbers(persons)).collect();
        let persons = believed(&lines, &rows);
        let values = match (attribute, counted, value_ids) {
            (Some(attribute), Some((of, table)), Some(value_ids)) => {
                let count = layout_column(of, Cell::Count).map(|name| integers(table, &of.name, name)).transpose()?;
                let having =
                    layout_column(of, Cell::Persons).map(|name| integers(table, &of.name, name)).transpose()?;
                let column = find(table, &of.name, &attribute.name, attribute.kind.into())?;
                let lines = value_lines(numbered(&ids, value_ids), column, (count, having), people.rows());
                Some(ShownValues::counted(attribute, column, lines, &persons, having.is_some())?)
            }
            (Some(attribute), ..) => {
                let column = find(people, layout.shape.people, &attribute.name, attribute.kind.into())?;
                let counts = GroupCounts::new(&groups, column.codes(), column.domain().len());
                Some(ShownValues { attribute, column, lines: Vec::new(), counts, having: None })
            }
            (None, ..) => None,
        };
        let (count, rows_known) = (said.count, said.rows_known);
        Ok(Some(PersonTables {
            release,
            manifest,
            count,
            rows_known,
            ids,
            people,
            groups,
            rows,
            lines,
            persons,
            values,
        }))
    }

    /// The id of a group for messages.
    pub(super) fn name(&self, group: usize) -> String {
        self.ids[group].map_or_else(|| "(missing)".to_owned(), |id| id.to_string())
    }

    /// `group` or `batch`.
    pub(super) fn word(&self) -> &'static str {
        self.manifest.method.shape().group_word
    }

    /// How many rows every person of a group has at least: all that persons of the group have, where these have equally
    /// many.
    pub(super) fn least_rows(&self, group: usize) -> u64 {
        match (self.rows_known, self.persons[group]) {
            (true, persons) if persons > 0 => (self.rows[group] / persons).max(1),
            _ => 1,
        }
    }

    /// Whether every person has one row.
    pub(super) fn is_one_each(&self) -> bool {
        self.persons == self.rows
    }
}

impl<'a> ShownValues<'a> {
    fn counted(
        attribute: &'a Attribute,
        column: &'a Column,
        lines: Vec<ValueLine>,
        persons: &[u64],
        has_persons: bool,
    ) -> Result<ShownValues<'a>, AuditError> {
        let n_codes = column.domain().len();
        let of_rows: Vec<(u32, Code, u32)> =
            lines.iter().filter_map(|line| Some((line.group, line.code, line.count?))).collect();
        let total: u64 = of_rows.iter().map(|&(_, _, count)| u64::from(count)).sum();
        check_size("the table of sensitive values", usize::try_from(total).unwrap_or(usize::MAX).max(1))?;
        // Persons that cannot be true are read as if every row were another person's.
        let having = |line: &ValueLine| {
            let said = line.persons.and_then(|persons| u32::try_from(persons).ok()).filter(|&persons| persons > 0);
            Some((line.group, line.code, said.map_or(line.count?, |said| said.min(line.count.unwrap_or(said)))))
        };
        let having = has_persons
            .then(|| GroupCounts::from_counts(persons.len(), n_codes, lines.iter().filter_map(having).collect()));
        let having = having.map(|having| having.with_sizes(persons.to_vec()));
        let counts = GroupCounts::from_counts(persons.len(), n_codes, of_rows);
        Ok(ShownValues { attribute, column, lines, counts, having })
    }
}

fn layout_column(of: &chrysalis_release::TableLayout, cell: Cell) -> Option<&str> {
    of.columns.iter().find(|column| column.cell == cell).map(|column| column.name.as_str())
}

fn value_lines(
    groups: Vec<u32>,
    column: &Column,
    (count, having): (Option<&Column>, Option<&Column>),
    rows: usize,
) -> Vec<ValueLine> {
    let counts = count.map(whole_numbers).unwrap_or_default();
    let having = having.map(whole_numbers).unwrap_or_default();
    let possible = |count: i64| u32::try_from(count).ok().filter(|&count| count > 0 && count as usize <= rows);
    let line = |(row, group): (usize, u32)| ValueLine {
        group,
        code: column.code(row),
        count: counts.get(row).copied().flatten().and_then(possible),
        persons: having.get(row).copied().flatten(),
    };
    groups.into_iter().enumerate().map(line).collect()
}

/// The persons of every group: no more than it has rows and, of several lines, the fewest.
fn believed(lines: &[(u32, Option<i64>)], rows: &[u64]) -> Vec<u64> {
    let mut persons: Vec<Option<u64>> = vec![None; rows.len()];
    for &(group, said) in lines {
        let said = said.and_then(|said| u64::try_from(said).ok()).unwrap_or(0).min(rows[group as usize]);
        let known = &mut persons[group as usize];
        *known = Some(known.map_or(said, |known| known.min(said)));
    }
    persons.into_iter().map(Option::unwrap_or_default).collect()
}

/// The number of every row's group.
pub(super) fn numbered(ids: &[Option<i64>], column: &Column) -> Vec<u32> {
    // PROOF: `ids` holds every id of the columns that are numbered, so all are found; others count as the first.
    let of_code: Vec<u32> =
        group_ids(column).iter().map(|id| ids.binary_search(id).unwrap_or_default() as u32).collect();
    column.codes().iter().map(|code| of_code[code as usize]).collect()
}

fn whole_numbers(column: &Column) -> Vec<Option<i64>> {
    let domain = column.domain();
    let number = |code: Code| match domain.value(code) {
        Some(Value::Integer(number)) => Some(*number),
        _ => None,
    };
    let of_code: Vec<Option<i64>> = (0..domain.len() as Code).map(number).collect();
    column.codes().iter().map(|code| of_code[code as usize]).collect()
}
