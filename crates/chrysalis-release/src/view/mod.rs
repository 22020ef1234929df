//! The E-M view of a release, whatever its form (angel, section 3): groups, for each group its sensitive values, and
//! for each group or row what is shown of the quasi attributes. Decoded once, for queries and for evaluation.
//!
//! The audit does not use it: the judge decodes releases itself.

mod combinations;
mod field;
mod groups;
mod labels;
mod multisets;

use std::sync::Arc;

use chrysalis_table::{Codes, Column, Domain, Table};
use rayon::prelude::*;

pub use combinations::{Combinations, OtherValues};
pub use field::Field;
pub use groups::Groups;
pub use labels::{Label, Labels};
pub use multisets::{GroupValues, Multisets};

use crate::{
    COUNT, COUNTERFEITS, Cell, Detail, Layout, Manifest, Published, Release, ReleaseError, RoleName, TableLayout,
    Values,
};

/// A decoded release. Rows are ordered by group, and groups by their ids.
///
/// A missing column is no error until it is needed, so that a front end may read only some of the columns.
///
/// # Cost
/// A pass over the rows, and a sort inside every group if the sensitive values have no table of their own.
#[derive(Debug)]
pub struct View {
    /// What the release says about itself.
    pub manifest: Manifest,
    /// Its tables.
    pub layout: Layout,
    /// Its attributes, in the manifest's order.
    pub fields: Vec<Field>,
    /// Which rows form a group. In a release of a series, only rows that are somebody's.
    pub groups: Groups,
    /// Which values a group shows, as rows: those of [`View::groups`] and, in a release of a series, one for every
    /// counterfeit value. Only its sizes mean anything.
    pub shown: Groups,
    /// By field: exact or permuted values, row by row.
    columns: Vec<Option<CodedColumn>>,
    /// Ranges and labels, by table of people.
    boxes: Vec<Boxes>,
    /// By field: the values of sensitive attributes, group by group.
    values: Vec<Option<Multisets>>,
    /// Attributes that are shown together: combinations of their values, looked at from each attribute.
    together: Vec<Combinations>,
}

/// One code per row, rows ordered by group.
#[derive(Debug)]
pub struct CodedColumn {
    /// The codes.
    pub codes: Codes,
    /// What they stand for.
    pub domain: Arc<Domain>,
    /// For words: the place of every value among the attribute's listed words.
    pub ranks: Vec<Option<usize>>,
}

/// What one table of people shows as ranges and labels.
#[derive(Debug)]
struct Boxes {
    table: String,
    /// By field; of every group, or of every row.
    labels: Vec<Option<Labels>>,
}

impl View {
    /// Decodes a release whose values are all somebody's. Forms without groups have no such view.
    pub fn open(release: &Release) -> Result<View, ReleaseError> {
        let view = View::with_counterfeits(release)?;
        match view.counterfeits() {
            0 => Ok(view),
            counterfeits => Err(ReleaseError::Counterfeits { counterfeits }),
        }
    }

    /// The same for readers that allow for values that nobody has.
    pub fn with_counterfeits(release: &Release) -> Result<View, ReleaseError> {
        let layout = release.manifest.layout();
        let id = layout.shape.group_id.ok_or(ReleaseError::NoGroups { method: release.manifest.method })?;
        let fields: Vec<Field> = release.manifest.attributes.iter().map(Field::new).collect();
        let (name, table) = first_table(release, &layout, id)?;
        let ids = column(table, name, id)?;
        let groups = Groups::new(ids);
        let false_values = counterfeits(release, (id, ids), &groups)?;
        let is_beside = layout.shape.values == Values::Beside;
        let more = |group: usize| false_values.as_ref().map_or(0, |known| known[group]);
        let shown = Groups::of_sizes(
            (0..groups.len()).map(|group| groups.size(group).saturating_add(if is_beside { 0 } else { more(group) })),
        );
        // Where values stand beside rows, their rows are still in order.
        let of_values = if is_beside { &groups } else { &shown };
        let values = (0..fields.len())
            .map(|field| multisets(release, &layout, &fields[field], field, of_values, (id, ids)))
            .collect::<Result<_, _>>()?;
        let has_weight = release.manifest.weight().is_some();
        let is_coded = !layout.shape.detail.is_labelled();
        let coded = |field: &Field| {
            // Sums of weights need each row's weight, and its sensitive value where that is the same person's.
            let is_own = layout.shape.values == Values::Beside && field.published == Published::Exact;
            let wanted = match field.role == RoleName::Sensitive {
                false => is_coded || field.is_weight,
                true => !is_coded && has_weight && is_own,
            };
            let column = table.column(&field.name).filter(|_| wanted)?;
            let (codes, domain) = (groups.arranged(column.codes()), Arc::clone(column.domain()));
            Some(CodedColumn { codes, ranks: field.ranks_of(&domain), domain })
        };
        let columns = fields.par_iter().map(coded).collect();
        let boxes = match layout.shape.detail {
            Detail::Exact | Detail::Permuted => Vec::new(),
            Detail::GroupBoxes => {
                let whole = layout.people().next().map(|whole| group_boxes(release, whole, table, &fields, &groups));
                whole.transpose()?.into_iter().collect()
            }
            Detail::RowBoxes => row_boxes(release, &layout, &fields, (id, ids))?,
        };
        let mut together = Vec::new();
        for set in release.manifest.together_sets() {
            together.extend(Combinations::of(release, &layout, &fields, &set, (id, ids, &groups))?);
        }
        let groups = match (&false_values, is_beside) {
            (Some(known), true) => of_people(&groups, known)?,
            _ => groups,
        };
        let manifest = release.manifest.clone();
        Ok(View { manifest, layout, fields, groups, shown, columns, boxes, values, together })
    }

    /// How many sensitive values nobody has.
    pub fn counterfeits(&self) -> u64 {
        (self.shown.n_rows() - self.groups.n_rows()) as u64
    }

    /// The values of a quasi attribute, or of one that is kept as it is, row by row; none if the column was not read.
    /// If the form shows ranges and labels, there are only the survey weight and, where a row shows a person's own
    /// sensitive value, the sensitive attribute beside a weight.
    pub fn column(&self, field: usize) -> Option<&CodedColumn> {
        self.columns[field].as_ref()
    }

    /// What a table of people shows of a quasi attribute as ranges and labels: of every group, or of every row.
    pub fn labels(&self, table: &str, field: usize) -> Option<&Labels> {
        let boxes = self.boxes.iter().find(|boxes| boxes.table == table)?;
        boxes.labels[field].as_ref()
    }

    /// The values of a sensitive attribute in every group; none if it is not sensitive, or if they were not read.
    pub fn values(&self, field: usize) -> Option<&Multisets> {
        self.values[field].as_ref()
    }

    /// The combinations of a sensitive attribute's values with those that are shown together with it; none if there are
    /// no such attributes, or if they were not read.
    pub fn combinations(&self, field: usize) -> Option<&Combinations> {
        self.together.iter().find(|known| known.field == field)
    }

    /// The sensitive attributes, by their place among the fields.
    pub fn sensitive(&self) -> impl Iterator<Item = usize> {
        (0..self.fields.len()).filter(|&field| self.fields[field].role == RoleName::Sensitive)
    }
}

/// How many of every group's values nobody has; `None` where all are somebody's.
fn counterfeits(
    release: &Release,
    (id, ids): (&str, &Column),
    groups: &Groups,
) -> Result<Option<Vec<u32>>, ReleaseError> {
    if release.manifest.series.is_none() {
        return Ok(None);
    }
    let table = release.table(COUNTERFEITS)?;
    let (own, counts) = (column(table, COUNTERFEITS, id)?, column(table, COUNTERFEITS, COUNT)?);
    let numbers = multisets::numbers_of(counts)?;
    let mut all = vec![0_u32; groups.len()];
    for (row, place) in groups.places(ids, own)?.into_iter().enumerate() {
        let of_group = &mut all[place as usize];
        *of_group = of_group.saturating_add(numbers[counts.code(row) as usize]);
    }
    Ok(Some(all))
}

/// The rows of groups that are somebody's.
fn of_people(groups: &Groups, counterfeits: &[u32]) -> Result<Groups, ReleaseError> {
    let real = |(group, more): (usize, &u32)| groups.size(group).checked_sub(*more).filter(|rows| *rows > 0);
    let sizes: Option<Vec<u32>> = counterfeits.iter().enumerate().map(real).collect();
    let sizes = sizes.ok_or_else(|| ReleaseError::Nonsense("a group has nothing but counterfeits".into()))?;
    Ok(Groups::of_sizes(sizes.into_iter()))
}

/// The table that says which groups there are: the first that was read.
fn first_table<'a>(release: &'a Release, layout: &Layout, id: &str) -> Result<(&'static str, &'a Table), ReleaseError> {
    let whole = layout.shape.people;
    let has_ids = |table: &&Table| table.column(id).is_some();
    let read = layout.people().filter_map(|table| release.table(&table.name).ok()).find(has_ids);
    Ok((whole, read.map_or_else(|| release.table(whole), Ok)?))
}

fn column<'a>(table: &'a Table, name: &str, column: &str) -> Result<&'a Column, ReleaseError> {
    let lacks = || ReleaseError::MissingColumn { table: name.to_owned(), column: column.to_owned() };
    table.column(column).ok_or_else(lacks)
}

fn multisets(
    release: &Release,
    layout: &Layout,
    field: &Field,
    at: usize,
    groups: &Groups,
    (id, ids): (&str, &Column),
) -> Result<Option<Multisets>, ReleaseError> {
    if field.role != RoleName::Sensitive {
        return Ok(None);
    }
    let Some(name) = layout.values_of(at).map(|table| table.name.as_str()) else { return Ok(None) };
    let table = release.table(name)?;
    let Some(values) = table.column(&field.name) else { return Ok(None) };
    match layout.shape.values {
        Values::Beside | Values::Swapped => Ok(Some(Multisets::of_rows(values, field, groups))),
        Values::Counted(_) => {
            let (own_ids, counts) = (column(table, name, id)?, column(table, name, COUNT)?);
            Multisets::of_table(values, field, counts, groups.places(ids, own_ids)?, groups).map(Some)
        }
    }
}

fn group_boxes(
    release: &Release,
    layout: &TableLayout,
    table: &Table,
    fields: &[Field],
    groups: &Groups,
) -> Result<Boxes, ReleaseError> {
    let labels = labels(release, layout, table, fields, groups)?;
    Ok(Boxes { table: layout.name.clone(), labels })
}

/// For every row the box in which it lies, for all tables that were read. `ids` belongs to one of them.
fn row_boxes(
    release: &Release,
    layout: &Layout,
    fields: &[Field],
    (id, ids): (&str, &Column),
) -> Result<Vec<Boxes>, ReleaseError> {
    let sizes = ids.histogram();
    let mut boxes = Vec::new();
    for people in layout.people() {
        let table = release.table(&people.name)?;
        let Some(own) = table.column(id) else { continue };
        if own.domain() != ids.domain() || own.histogram() != sizes {
            let word = layout.shape.group_word;
            let problem = format!("table `{}` does not have the same {word}es as the others", people.name);
            return Err(ReleaseError::Nonsense(problem));
        }
        let rows = Groups::of_rows(&Groups::new(own));
        boxes.push(Boxes { table: people.name.clone(), labels: labels(release, people, table, fields, &rows)? });
    }
    Ok(boxes)
}

fn labels(
    release: &Release,
    layout: &TableLayout,
    table: &Table,
    fields: &[Field],
    groups: &Groups,
) -> Result<Vec<Option<Labels>>, ReleaseError> {
    let members = release.manifest.method.shape().members.and_then(|name| release.table(name).ok());
    let of_field = |at: usize| {
        let named = |cell: Cell| {
            let column = layout.columns.iter().find(|column| column.cell == cell)?;
            table.column(&column.name)
        };
        let field = &fields[at];
        if let Some((low, high)) = named(Cell::Low(at)).zip(named(Cell::High(at))) {
            return Labels::of_ranges(field, low, high, groups).map(Some);
        }
        match named(Cell::Label(at)).zip(members) {
            Some((column, members)) => Labels::of_sets(field, column, members, groups).map(Some),
            None => Ok(None),
        }
    };
    (0..fields.len()).into_par_iter().map(of_field).collect()
}
