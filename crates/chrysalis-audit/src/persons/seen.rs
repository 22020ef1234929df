//! Groups of persons, as somebody sees them: groups or batches as they are, the classes of a user who knows some
//! attributes, or the buckets of a table.

use std::collections::BTreeMap;

use chrysalis_release::{Cell, Detail, TableLayout};
use chrysalis_table::{Code, Column, Kind, Table, Watch};

use super::tables::{PersonTables, numbered};
use crate::Groups;
use crate::columns::find;
use crate::measure::GroupCounts;

/// Groups as an attacker sees them.
pub(super) struct Seen {
    /// What the attacker knows, where there are several users.
    pub(super) user: Option<Vec<String>>,
    /// The group of every row of the table of people.
    pub(super) classes: Groups,
    /// Published ids; classes of users have none.
    pub(super) ids: Vec<Option<i64>>,
    /// Persons of every group.
    pub(super) sizes: Vec<u64>,
    /// Rows of every group.
    pub(super) rows: Vec<u64>,
    pub(super) values: Option<SeenValues>,
    /// The class of every group that has rows.
    class_of: Vec<Option<u32>>,
    /// The least number of rows of any person, group by group.
    least_rows: Vec<u64>,
}

/// The sensitive values of groups.
pub(super) struct SeenValues {
    /// Rows with each value.
    pub(super) counts: GroupCounts,
    /// Persons who have each value, out of the persons of the group. Where the tables do not show that, as many as can
    /// be: every row another person's.
    pub(super) having: GroupCounts,
    /// Whether the tables show it.
    pub(super) is_shown: bool,
}

/// The values of persons in groups: of every group that is known, how much of every value its persons have, if each
/// person gives equal parts of one whole to all their different values.
pub(super) struct Masses {
    pub(super) sample: GroupCounts,
    /// Groups that are not known.
    pub(super) open: u64,
}

/// The parts that the persons of one group give to values, in units of which every person has `scale`.
pub(super) type GroupMasses = Vec<(Code, u64)>;

impl Seen {
    /// One for everybody or, where there are several users, one for each.
    pub(super) fn all(tables: &PersonTables<'_>, watch: &dyn Watch) -> Vec<Seen> {
        if !tables.manifest.method.shape().has_users {
            return vec![Seen::of_groups(tables)];
        }
        let sets = &tables.manifest.quasi_identifiers;
        let seen = |set: &Vec<String>| {
            watch.pause();
            Seen::of_user(tables, set, watch)
        };
        sets.iter().map(seen).collect()
    }

    fn of_groups(tables: &PersonTables<'_>) -> Seen {
        let values = tables.values.as_ref().map(|values| {
            let is_shown = values.having.is_some() || tables.is_one_each();
            let having = values.having.clone().unwrap_or_else(|| at_most(&values.counts, &tables.persons));
            SeenValues { counts: values.counts.clone(), having: at_most(&having, &tables.persons), is_shown }
        });
        let n = tables.ids.len();
        Seen {
            user: None,
            classes: tables.groups.clone(),
            ids: tables.ids.clone(),
            sizes: tables.persons.clone(),
            rows: tables.rows.clone(),
            values,
            class_of: (0..n as u32).map(|group| (tables.rows[group as usize] > 0).then_some(group)).collect(),
            least_rows: (0..n).map(|group| tables.least_rows(group)).collect(),
        }
    }

    fn of_user(tables: &PersonTables<'_>, known: &[String], watch: &dyn Watch) -> Seen {
        let layout = tables.manifest.layout();
        let is_known = |at: usize| known.contains(&tables.manifest.attributes[at].name);
        let columns = layout.people().next().map_or_else(Vec::new, |of| cells(of, tables.people, is_known));
        let classes = Groups::of_columns(&columns, tables.people.rows(), watch);
        let placed = Placed::new(tables, &classes, &tables.groups.of_row);
        let rows = classes.sizes();
        let mut class_of = vec![None; tables.ids.len()];
        let mut least_rows = vec![u64::MAX; classes.n_groups];
        for (&class, &group) in classes.of_row.iter().zip(&tables.groups.of_row) {
            class_of[group as usize] = Some(class);
            least_rows[class as usize] = least_rows[class as usize].min(tables.least_rows(group as usize));
        }
        let values = tables.values.as_ref().map(|values| {
            let counts = GroupCounts::new(&classes, values.column.codes(), values.column.domain().len());
            let having = at_most(&counts, &placed.persons);
            SeenValues { counts, having, is_shown: placed.persons == rows }
        });
        let ids = vec![None; classes.n_groups];
        Seen { user: Some(known.to_vec()), ids, sizes: placed.persons, rows, values, class_of, least_rows, classes }
    }

    /// Values that every person of some group has, as far as the tables tell, ascending.
    pub(super) fn sure(&self) -> Vec<(u32, Code)> {
        let Some(values) = &self.values else { return Vec::new() };
        let mut sure = Vec::new();
        for (group, &persons) in self.sizes.iter().enumerate().filter(|(_, persons)| **persons > 0) {
            let (counts, having) = (values.counts.group(group), values.having.group(group));
            let said = having.values.iter().filter(|_| values.is_shown);
            let said = said.filter(|&&(_, having)| u64::from(having) >= persons).map(|&(code, _)| code);
            // Persons without a value have all their rows among those with other values.
            let rest = |count: u32| self.rows[group].saturating_sub(count.into());
            let forced =
                counts.values.iter().filter(|&&(_, count)| persons == 1 || rest(count) < self.least_rows[group]);
            let mut codes: Vec<Code> = said.chain(forced.map(|&(code, _)| code)).collect();
            codes.sort_unstable();
            codes.dedup();
            sure.extend(codes.into_iter().map(|code| (group as u32, code)));
        }
        sure
    }

    /// The same masses for the classes that groups are seen as; `None` where they are too many to count.
    pub(super) fn masses(&self, of_groups: &[Option<GroupMasses>], n_codes: usize) -> Option<Masses> {
        let mut is_open = vec![false; self.sizes.len()];
        let mut lines: BTreeMap<(u32, Code), u64> = BTreeMap::new();
        for (class, masses) in
            self.class_of.iter().zip(of_groups).filter_map(|(class, masses)| Some(((*class)?, masses)))
        {
            match masses {
                None => is_open[class as usize] = true,
                Some(masses) => {
                    masses.iter().for_each(|&(code, mass)| *lines.entry((class, code)).or_default() += mass)
                }
            }
        }
        lines.retain(|&(class, _), _| !is_open[class as usize]);
        // Levels are measured in 32 bits.
        let total: u64 = lines.values().try_fold(0_u64, |sum, &mass| sum.checked_add(mass))?;
        u32::try_from(total).ok()?;
        let lines = lines.into_iter().map(|((class, code), mass)| (class, code, mass as u32)).collect();
        let sample = GroupCounts::from_counts(self.sizes.len(), n_codes, lines);
        Some(Masses { sample, open: is_open.iter().filter(|open| **open).count() as u64 })
    }
}

/// No value has more persons than its group.
fn at_most(counts: &GroupCounts, sizes: &[u64]) -> GroupCounts {
    let most = |group: usize| u32::try_from(sizes[group]).unwrap_or(u32::MAX);
    let of_group = |group: usize| {
        counts.group(group).values.iter().map(move |&(code, count)| (group as u32, code, count.min(most(group))))
    };
    let lines = (0..sizes.len()).flat_map(of_group).collect();
    GroupCounts::from_counts(sizes.len(), counts.whole().len(), lines).with_sizes(sizes.to_vec())
}

/// What the tables tell of every group: all, where every person has one row or one value.
pub(super) fn shown_masses(tables: &PersonTables<'_>, scale: u64) -> Vec<Option<GroupMasses>> {
    let of_group = |group: usize| -> Option<GroupMasses> {
        let (values, persons) = (tables.values.as_ref()?, tables.persons[group]);
        let counts = values.counts.group(group);
        let scaled = |values: &[(Code, u32)]| values.iter().map(|&(code, n)| (code, u64::from(n) * scale)).collect();
        if let [(code, _)] = counts.values {
            return Some(vec![(*code, persons * scale)]);
        }
        if persons == tables.rows[group] && persons == counts.size {
            return Some(scaled(counts.values));
        }
        let having = values.having.as_ref()?.group(group);
        (having.counts().sum::<u64>() == persons).then(|| scaled(having.values))
    };
    (0..tables.ids.len()).map(of_group).collect()
}

/// The columns that show some of the quasi attributes of a table.
fn cells<'a>(of: &TableLayout, table: &'a Table, is_known: impl Fn(usize) -> bool) -> Vec<&'a Column> {
    let is_cell = |cell: Cell| match cell {
        Cell::Low(at) | Cell::High(at) | Cell::Label(at) => of.shows.contains(&at) && is_known(at),
        _ => false,
    };
    let columns = of.columns.iter().filter(|column| is_cell(column.cell));
    columns.filter_map(|column| table.column(&column.name)).collect()
}

/// The buckets of one table.
pub(super) struct Buckets {
    pub(super) table: String,
    pub(super) placed: Placed,
}

/// Persons of classes into which groups were divided.
pub(super) struct Placed {
    /// Persons of every class, as far as its rows are those of whole persons.
    pub(super) persons: Vec<u64>,
    /// Of every class, the groups of its persons and how many are of each, ascending by group.
    pub(super) members: Vec<Vec<(u32, u64)>>,
    /// Groups with rows in a class that are not those of whole persons, and how many rows.
    pub(super) broken: Vec<(u32, u64)>,
}

impl Placed {
    fn new(tables: &PersonTables<'_>, classes: &Groups, group_of_row: &[u32]) -> Placed {
        let mut pairs: Vec<(u32, u32)> = classes.of_row.iter().copied().zip(group_of_row.iter().copied()).collect();
        pairs.sort_unstable();
        let mut placed = Placed {
            persons: vec![0; classes.n_groups],
            members: vec![Vec::new(); classes.n_groups],
            broken: Vec::new(),
        };
        for run in pairs.chunk_by(|a, b| a == b) {
            let (class, group, rows) = (run[0].0, run[0].1, run.len() as u64);
            let all = tables.persons[group as usize];
            let is_whole = rows == tables.rows[group as usize];
            let each = tables.least_rows(group as usize);
            if !(is_whole || tables.rows_known && rows.is_multiple_of(each)) {
                placed.broken.push((group, rows));
            }
            let persons = match is_whole {
                true => all,
                false => (rows / each).min(all),
            };
            placed.persons[class as usize] += persons;
            placed.members[class as usize].push((group, persons));
        }
        placed
    }
}

/// The buckets of every table with row boxes; none for other forms.
pub(super) fn buckets(tables: &PersonTables<'_>, watch: &dyn Watch) -> Vec<Buckets> {
    let layout = tables.manifest.layout();
    if layout.shape.detail != Detail::RowBoxes {
        return Vec::new();
    }
    let of_table = |of: &TableLayout| {
        watch.pause();
        let table = tables.release.table(&of.name).ok()?;
        let batch = find(table, &of.name, layout.shape.group_id?, Kind::Integer).ok()?;
        let classes = Groups::of_columns(&cells(of, table, |_| true), table.rows(), watch);
        let placed = Placed::new(tables, &classes, &numbered(&tables.ids, batch));
        Some(Buckets { table: of.name.clone(), placed })
    };
    layout.people().filter_map(of_table).collect()
}
