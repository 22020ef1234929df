//! Exact quasi values beside the sensitive values of their group; see `spec.md`.

use std::collections::BTreeMap;

use chrysalis_release::{COUNT, Form, GROUP_ID, PERSONS, Scope, Values};
use chrysalis_table::{Codes, Column, Table, Watch};
use rayon::prelude::*;

use super::frame::{self, Order};
use super::{Method, Outcome, together};
use crate::microdata::Persons;
use crate::series::{counterfeits_table, values_table};
use crate::{Grouping, Job, Microdata, Partition, PublishError, SensitiveColumn};

/// The publication `anatomy`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Anatomy;

impl Method for Anatomy {
    fn form(&self) -> Form {
        Form::Anatomy
    }

    fn check(&self, data: &Microdata) -> Result<(), PublishError> {
        if data.sensitive_columns().len() == 0 {
            return Err(nothing_sensitive(self.form()));
        }
        let names = shown_columns(data).map(|column| column.name().to_owned());
        frame::check_names(names.chain([GROUP_ID.to_owned()]))?;
        check_sensitive_names(data, self.form())
    }

    fn publish(&self, job: &mut Job<'_>) -> Result<Outcome, PublishError> {
        let (data, watch) = (job.data(), job.watch());
        let grouping = job.group(Scope::Group)?;
        let partition = grouping.partition();
        // Step 1.
        let shown = frame::draw_ids(partition, job.rng());
        // Step 2.
        let exact: Vec<&Column> = shown_columns(data).collect();
        let keys: Vec<&Codes> = exact.iter().map(|column| column.codes()).collect();
        let order = Order::canonical(partition, &shown, &keys, watch);
        let mut columns: Vec<Column> = exact
            .par_iter()
            .map(|column| {
                watch.pause();
                column.gather(&order.rows)
            })
            .collect();
        columns.push(frame::group_ids(partition.n_groups(), &order.place));
        // Step 3.
        let shape = self.form().shape();
        let mut tables = vec![(shape.people.to_owned(), Table::new(columns))];
        tables.extend(tables_of_values(data, self.form(), &grouping, &shown, watch));
        let release = frame::release(data, self.form(), frame::ShownGroups::of(&grouping, &shown), tables);
        let disclosure = job.disclosure(&[partition], self.form());
        Ok(Outcome::new(release, partition, Vec::new(), Some(disclosure)))
    }
}

/// The error of forms that separate quasi values from sensitive ones, when no sensitive column is named.
pub(super) fn nothing_sensitive(form: Form) -> PublishError {
    PublishError::request(format!(
        "{form} separates quasi values from sensitive ones, but no sensitive column is \
                                   named"
    ))
}

fn shown_columns(data: &Microdata) -> impl Iterator<Item = &Column> {
    data.quasi().map(|(column, _)| column).chain(data.other())
}

/// Refuses sensitive columns whose names clash with other columns of their tables, or whose tables would have the same
/// name.
pub(super) fn check_sensitive_names(data: &Microdata, form: Form) -> Result<(), PublishError> {
    let (shape, has_several) = (form.shape(), data.sensitive_columns().len() > 1);
    let is_counted = matches!(shape.values, Values::Counted(_));
    let id = shape.group_id.unwrap_or(GROUP_ID);
    let mut tables: BTreeMap<String, String> = BTreeMap::new();
    let mut add = |table: String, shows: &str| match tables.insert(table.clone(), shows.to_owned()) {
        None => Ok(()),
        Some(other) => {
            let problem = format!("`{other}` and `{shows}` would both be shown in a table `{table}`");
            Err(PublishError::remedied(problem, "rename one of the columns".into()))
        }
    };
    for column in data.sensitive_columns().map(|column| column.name()) {
        if is_counted {
            let persons = data.persons().map(|_| PERSONS);
            frame::check_names([id, COUNT, column].into_iter().chain(persons).map(str::to_owned))?;
        }
        let counted = is_counted.then(|| shape.values_table_of(column, has_several));
        for table in counted.into_iter().chain(shape.help_table(column, has_several)) {
            add(table, column)?;
        }
    }
    for set in data.together() {
        shape.together_table(set.iter().map(String::as_str)).map_or(Ok(()), |table| add(table, &set.join(", ")))?;
    }
    Ok(())
}

/// The tables of sensitive values with their names. In a release of a series, a table of counterfeits follows them.
pub(super) fn tables_of_values(
    data: &Microdata,
    form: Form,
    grouping: &Grouping,
    shown: &[u32],
    watch: &dyn Watch,
) -> Vec<(String, Table)> {
    let (shape, columns) = (form.shape(), data.sensitive_columns());
    let id = shape.group_id.unwrap_or(GROUP_ID);
    let Some(series) = grouping.series() else {
        return sensitive_tables(data, form, grouping.partition(), shown, watch);
    };
    let table = |column: SensitiveColumn<'_>| {
        (shape.values_table_of(column.name(), false), values_table(column.column(), series, shown, id))
    };
    columns.map(table).chain([counterfeits_table(series, shown, id)]).collect()
}

/// The tables of sensitive values with their names, one per sensitive column, and one per set of columns that are shown
/// together.
pub(super) fn sensitive_tables(
    data: &Microdata,
    form: Form,
    partition: &Partition,
    shown: &[u32],
    watch: &dyn Watch,
) -> Vec<(String, Table)> {
    let (shape, has_several) = (form.shape(), data.sensitive_columns().len() > 1);
    let id = shape.group_id.unwrap_or(GROUP_ID);
    let table = |column: SensitiveColumn<'_>| {
        let persons = data.persons().filter(|persons| persons.rows_known);
        let values = sensitive_table(column.column(), partition, shown, id, persons, watch);
        (shape.values_table_of(column.name(), has_several), values)
    };
    let combinations = together::tables(data, form, partition, shown, watch);
    data.sensitive_columns().map(table).chain(combinations).collect()
}

/// One row per group and value, sorted by group id, then by value.
///
/// With `persons`, also how many persons have the value.
fn sensitive_table(
    column: &Column,
    partition: &Partition,
    shown: &[u32],
    id: &str,
    persons: Option<&Persons>,
    watch: &dyn Watch,
) -> Table {
    let Counted { place, values, counts, persons: n_persons } = counted(column, partition, shown, persons, watch);
    let values = Codes::collect(column.domain().len(), values.into_iter());
    let mut columns = vec![
        frame::ids(id, partition.n_groups(), &place),
        Column::new(column.name(), std::sync::Arc::clone(column.domain()), values),
        Column::integers(COUNT, &counts),
    ];
    columns.extend(persons.map(|_| Column::integers(PERSONS, &n_persons)));
    Table::new(columns)
}

/// A row per group, in the order of ids, and value that it has.
#[derive(Default)]
pub(super) struct Counted {
    /// The place of the group.
    pub(super) place: Vec<u32>,
    /// The value.
    pub(super) values: Vec<u32>,
    /// In how many rows it stands.
    pub(super) counts: Vec<i64>,
    /// How many persons have it; empty if nobody says whose rows are.
    persons: Vec<i64>,
}

/// Groups are counted in pieces of this many, on all cores.
const GROUPS_PER_PIECE: usize = 1 << 12;

/// How often the values of a column occur in every group.
pub(super) fn counted(
    column: &Column,
    partition: &Partition,
    shown: &[u32],
    persons: Option<&Persons>,
    watch: &dyn Watch,
) -> Counted {
    let pieces: Vec<Counted> = shown
        .par_chunks(GROUPS_PER_PIECE)
        .enumerate()
        // PROOF: groups are numbered in 32 bits.
        .map(|(piece, shown)| counted_from((piece * GROUPS_PER_PIECE) as u32, column, partition, shown, persons, watch))
        .collect();
    let mut all = Counted::default();
    for piece in pieces {
        all.place.extend(piece.place);
        all.values.extend(piece.values);
        all.counts.extend(piece.counts);
        all.persons.extend(piece.persons);
    }
    all
}

/// The same for some groups, of which the first one is at this place.
fn counted_from(
    first: u32,
    column: &Column,
    partition: &Partition,
    shown: &[u32],
    persons: Option<&Persons>,
    watch: &dyn Watch,
) -> Counted {
    let mut all = Counted::default();
    // Each is a value and a person: one number is sorted faster than two.
    let mut codes: Vec<u64> = Vec::new();
    let value = |code: u64| (code >> 32) as u32;
    let whose = |row: u32| persons.map_or(0, |persons| persons.of_row(row));
    for (at, &group) in (first..).zip(shown) {
        watch.pause_at(at as usize);
        codes.clear();
        let code = |&row: &u32| u64::from(column.code(row as usize)) << 32 | u64::from(whose(row));
        codes.extend(partition.group(group as usize).iter().map(code));
        codes.sort_unstable();
        for run in codes.chunk_by(|a, b| value(*a) == value(*b)) {
            all.place.push(at);
            all.values.push(value(run[0]));
            all.counts.push(run.len() as i64);
            all.persons.extend(persons.map(|_| run.chunk_by(|a, b| a == b).count() as i64));
        }
    }
    all
}
