//! The intersection attack: two releases of the same data, and what a person's groups in both leave open.
//!
//! Who knows a person's quasi values finds the groups that may hold the person in either release. Each gives a set of
//! sensitive values, and only what is in both sets is possible. Angel tables 2b and 2c are both 2-diverse, and together
//! leave Alan one disease.
//!
//! Where columns are permuted inside groups (`permute`), a person may be in every group that has each of the person's
//! values, whichever rows they stand in.
//!
//! What one release shows as it is may be a quasi attribute of the other. Then who has both need not know it of anybody:
//! rows are joined by it (butterfly tables II and III).

mod corners;
#[cfg(test)]
mod tests;
mod views;

use std::collections::BTreeMap;

use chrysalis_release::Release;
use chrysalis_table::{Column, Table};
use rayon::prelude::*;

use super::cells::Cells;
use super::index::{Boxes, Index, Mark};
use super::space::Axis;
use crate::findings::Findings;
use crate::promise::promised_values;
use crate::source::people;
use crate::{AuditError, Check, Groups, Intersection, IntersectionOver};
use views::View;

/// Attacks a release with the help of another one. With the microdata the people are those; without, whoever could stand
/// where two groups meet.
pub(crate) fn attack(
    release: &Release,
    other: &Release,
    name: &str,
    microdata: Option<&Table>,
) -> Result<(Check, Intersection), AuditError> {
    let mut numbers = BTreeMap::new();
    let own = views::open(release, other, &mut numbers)?;
    let others = views::open(other, release, &mut numbers)?;
    let promised = promised_values(&release.manifest.guarantees).max(promised_values(&other.manifest.guarantees));
    let known = microdata.map(|table| people(&[&release.manifest, &other.manifest], table)).transpose()?;
    let mut outcome = Outcome { fewest: None, narrowed: 0, people: 0 };
    for one in &own {
        for another in &others {
            let found = match &known {
                Some(table) => pair(one, another, table, promised),
                None => pair(one, another, &corners::people(one, another)?, promised),
            };
            outcome = outcome.worse(found);
        }
    }
    let over = if microdata.is_some() { IntersectionOver::People } else { IntersectionOver::Conceivable };
    let intersection = Intersection {
        with: name.to_owned(),
        promised,
        fewest: outcome.fewest,
        narrowed: outcome.narrowed,
        people: outcome.people,
        over,
    };
    Ok((intersection.check(), intersection))
}

impl Intersection {
    fn check(&self) -> Check {
        let mut findings = Findings::new("intersection");
        let whom = match self.over {
            IntersectionOver::People => "people of the microdata",
            IntersectionOver::Conceivable => "conceivable people",
        };
        let fewest = self.fewest.unwrap_or(0);
        if self.narrowed > 0 {
            findings.add("narrowed", || {
                format!(
                    "together with {}, {} of {} {whom} are left with fewer sensitive values than promised ({fewest} in the \
                     worst case, {} promised)",
                    self.with, self.narrowed, self.people, self.promised
                )
            });
        }
        findings.check(format!(
            "together with {}, {} {whom} keep at least {fewest} sensitive values each",
            self.with, self.people
        ))
    }
}

struct Outcome {
    fewest: Option<u64>,
    narrowed: u64,
    people: u64,
}

impl Outcome {
    fn worse(self, other: Outcome) -> Outcome {
        let fewest = match (self.fewest, other.fewest) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        Outcome { fewest, narrowed: self.narrowed.max(other.narrowed), people: self.people.max(other.people) }
    }
}

/// What two tables together say of everybody. A promise of nothing still means that nobody is told for sure, unless one
/// table alone does.
fn pair(one: &View<'_>, another: &View<'_>, people: &Table, promised: u64) -> Outcome {
    let names: Vec<&str> = one.attributes().chain(another.attributes()).collect();
    let columns: Vec<&Column> = people.columns().iter().filter(|column| names.contains(&column.name())).collect();
    let classes = Groups::of_columns(&columns, people.rows());
    let mut rows = vec![(0_usize, 0_u64); classes.n_groups];
    for (row, &class) in classes.of_row.iter().enumerate() {
        rows[class as usize] = (row, rows[class as usize].1 + 1);
    }
    let (first, second) = (Finder::new(one, people, false), Finder::new(another, people, false));
    let (first_boxes, second_boxes) = (first.boxes(), second.boxes());
    let (first_index, second_index) = (Index::new(&first_boxes), Index::new(&second_boxes));
    let (first_own, second_own) = (Finder::new(one, people, true), Finder::new(another, people, true));
    let (first_own_boxes, second_own_boxes) = (first_own.boxes(), second_own.boxes());
    let (first_own_index, second_own_index) = (Index::new(&first_own_boxes), Index::new(&second_own_boxes));
    let of_class = |&(row, n): &(usize, u64)| {
        let (a, b) = (first.values(&first_index, row), second.values(&second_index, row));
        let both = a.iter().filter(|value| b.binary_search(value).is_ok()).count() as u64;
        // Nobody stands where the tables contradict each other.
        if both == 0 {
            return Outcome { fewest: None, narrowed: 0, people: 0 };
        }
        // What either release says to who knows nothing beyond its own quasi attributes.
        let own = |found: Vec<u32>, finder: &Finder<'_>, own: &Finder<'_>, index: &Index<'_>| {
            if own.axes.len() < finder.axes.len() { own.values(index, row) } else { found }
        };
        let (a, b) = (own(a, &first, &first_own, &first_own_index), own(b, &second, &second_own, &second_own_index));
        let alone = a.len().min(b.len()) as u64;
        let least = promised.max(alone.min(2));
        Outcome { fewest: Some(both), narrowed: if both < least { n } else { 0 }, people: n }
    };
    let found: Vec<Outcome> = rows.par_iter().map(of_class).collect();
    found.into_iter().fold(Outcome { fewest: None, narrowed: 0, people: 0 }, |sum, one| Outcome {
        narrowed: sum.narrowed + one.narrowed,
        people: sum.people + one.people,
        fewest: match (sum.fewest, one.fewest) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        },
    })
}

/// Finds the groups of a table that may hold a person.
struct Finder<'a> {
    view: &'a View<'a>,
    axes: Vec<Axis<'a>>,
    columns: Vec<&'a Column>,
    /// All values of all groups, ascending.
    values: Vec<u32>,
}

impl<'a> Finder<'a> {
    /// By its own quasi attributes, or also by what it shows of those of the other release.
    fn new(view: &'a View<'a>, people: &'a Table, is_own: bool) -> Self {
        let n_cells = if is_own { view.n_own } else { view.published.quasi.len() };
        let known = view
            .published
            .quasi
            .iter()
            .take(n_cells)
            .filter_map(|cells| Some((cells, people.column(&cells.attribute.name)?)));
        let known: Vec<_> = known.collect();
        let axis = |cells: &Cells<'a>, column: &Column| match view.is_permuted {
            true => Axis::of_groups(cells, view.published.group, column),
            false => Axis::new(cells, column, &view.sets),
        };
        Finder {
            view,
            axes: known.iter().map(|(cells, column)| axis(cells, column)).collect(),
            columns: known.iter().map(|(_, column)| *column).collect(),
            values: distinct(view.groups.iter().flat_map(|group| &group.values)),
        }
    }

    fn boxes(&self) -> Boxes<'_> {
        let intervals = self.view.groups.iter().flat_map(|group| self.axes.iter().map(|axis| axis.interval(group.row)));
        Boxes { axes: &self.axes, intervals: intervals.collect(), n: self.view.groups.len() }
    }

    /// All values of all groups that may hold the person of a row, ascending.
    fn values(&self, index: &Index<'_>, row: usize) -> Vec<u32> {
        let point: Vec<u32> =
            self.axes.iter().zip(&self.columns).map(|(axis, column)| axis.rank(column.code(row))).collect();
        let mut is_found = vec![false; self.values.last().map_or(0, |last| *last as usize + 1)];
        let mut values = Vec::new();
        index.visit(Mark::Unseen, &point, |group| {
            for &value in &self.view.groups[group as usize].values {
                if !std::mem::replace(&mut is_found[value as usize], true) {
                    values.push(value);
                }
            }
            // Where all values are possible no other group matters.
            values.len() < self.values.len()
        });
        values.sort_unstable();
        values
    }
}

/// Some values, each once, ascending.
fn distinct<'a>(values: impl Iterator<Item = &'a u32>) -> Vec<u32> {
    let mut values: Vec<u32> = values.copied().collect();
    values.sort_unstable();
    values.dedup();
    values
}
