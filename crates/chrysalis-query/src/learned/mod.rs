//! Estimates that use all that a release says, and standard errors that reckon with the model (see `spec.md`).
//!
//! Bounds are those of `aggregate`. What is learned replaces the even spread of every group over its box. Where quasi
//! values are exact or permuted the even estimate stays, with an error that reckons with the model.

mod atoms;
mod grid;
mod paired;
mod positions;
mod rows;
mod spread;
mod totals;
mod values;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use chrysalis_release::Detail;
use chrysalis_release::view::Labels;
use chrysalis_table::{Code, Progress, Value};

use crate::aggregate::{Estimate, Side};
use crate::estimate::Hit;
use crate::question::Function;
use crate::value_set::ValueSet;
use crate::{Cell, OpenRelease, Plan, PlannedAggregate, QueryError};
use grid::{Grid, Measured, SetShares};
pub(crate) use paired::{Draw, DrawnBy, lean, lean_of_products};
pub(crate) use positions::{Ends, Positions, Scale};
pub(crate) use rows::{HitValues, LearnedGroup, LearnedRows, with_learned};
use spread::Spread;
use totals::{Chances, Counted, Moments};
pub(crate) use values::ValueClasses;

/// The grids of a release's attributes, made when a question first needs them.
#[derive(Debug, Default)]
pub(crate) struct Grids {
    known: Mutex<BTreeMap<(String, usize), Arc<Grid>>>,
}

impl Grids {
    fn get(&self, table: &str, field: usize, make: impl FnOnce() -> Grid) -> Arc<Grid> {
        let key = (table.to_owned(), field);
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(grid) = known().get(&key) {
            return Arc::clone(grid);
        }
        // Made outside the lock; should two questions make it at the same time, both make the same.
        let grid = Arc::new(make());
        Arc::clone(known().entry(key).or_insert(grid))
    }
}

/// A sensitive attribute in GROUP BY with more values than this is learned about as a whole.
const MAX_VALUES: usize = 64;

/// What the rows of one answer have in common.
pub(crate) struct Learner<'a> {
    release: &'a OpenRelease,
    plan: &'a Plan,
    /// The quasi attributes in GROUP BY.
    keys: Vec<usize>,
    fields: Vec<LearnedField<'a>>,
    known: Mutex<BTreeMap<SideKey, Arc<Learned>>>,
    /// A place to stop.
    progress: Progress<'a>,
}

/// What was learned from the rows that count.
struct Learned {
    rows: Spreads,
    /// From their positive and from their negative numbers, if those are asked about; `None` if there are none.
    signed: [Option<Spreads>; 2],
    /// How many rows there are, unless they are those of all values.
    counted: Option<Counted>,
}

/// Per field, the distribution of some mass; `None` where it stays even.
type Spreads = Vec<Option<Spread>>;

struct LearnedField<'a> {
    field: usize,
    labels: &'a Labels,
    grid: Arc<Grid>,
}

/// A condition, measured: of the attributes in GROUP BY, and of others box by box.
struct Admitted {
    keys: Vec<(usize, Measured)>,
    boxes: Vec<Vec<(usize, Measured)>>,
}

/// Which rows count, and whether their numbers do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct SideKey {
    aggregate: usize,
    value: Option<Code>,
    together: Option<Code>,
    are_numbers: bool,
}

/// One aggregate of one row of an answer.
pub(crate) struct Asked<'s> {
    /// The place of the aggregate in the plan.
    pub(crate) at: usize,
    pub(crate) planned: &'s PlannedAggregate,
    /// The values that count.
    pub(crate) side: Side<'s>,
    /// A value of the sensitive attribute in GROUP BY, if that is the one asked about.
    pub(crate) value: Option<Code>,
    /// A value in GROUP BY of another sensitive attribute, if it is shown together with the one asked about.
    pub(crate) together: Option<Code>,
    /// The values of the quasi attributes in GROUP BY.
    pub(crate) group: &'s [Option<Value>],
    /// Hits of the condition, before conditions on other sensitive attributes and after.
    pub(crate) found: &'s [&'s [Hit]],
    pub(crate) pieces: &'s [&'s [Hit]],
    /// What is certain about it, with the even estimate.
    pub(crate) even: Estimate,
}

impl<'a> Learner<'a> {
    pub(crate) fn new(
        release: &'a OpenRelease,
        plan: &'a Plan,
        keys: &[usize],
        progress: Progress<'a>,
    ) -> Result<Self, QueryError> {
        let mut fields = Vec::new();
        if plan.shape.detail.is_labelled() {
            for field in plan.quasi_fields() {
                let labels = release.labels(plan, field)?;
                let groups = (plan.shape.detail == Detail::GroupBoxes).then(|| release.groups());
                let grid = release.grids().get(&plan.table, field, || Grid::new(labels, groups));
                fields.push(LearnedField { field, labels, grid });
            }
        }
        Ok(Learner { release, plan, keys: keys.to_vec(), fields, known: Mutex::default(), progress })
    }

    /// The learned estimate of an aggregate, inside its bounds, and a standard error that reckons with the model.
    pub(crate) fn estimate(&self, asked: &Asked<'_>) -> Estimate {
        if asked.even.estimate.is_none() || asked.even.lower == asked.even.upper {
            return asked.even;
        }
        let function = asked.planned.function;
        if !self.plan.shape.detail.is_labelled() {
            return paired::with_error(asked, self.release.shown());
        }
        let learned = self.learned(asked);
        let admitted = self.admitted(asked.planned.condition, asked.group);
        let rows = self.in_boxes(asked, &admitted, &learned.rows);
        match function {
            Function::Count => totals::count(asked, &rows, learned.counted),
            Function::Sum | Function::Avg => {
                let signed =
                    learned.signed.each_ref().map(|it| it.as_ref().map(|it| self.in_boxes(asked, &admitted, it)));
                totals::numbers(asked, &rows, signed.each_ref().map(Option::as_ref), learned.counted)
            }
            _ => totals::extreme(asked, &rows),
        }
    }

    /// For every hit in `pieces`: how likely a row that counts is to be among the hits.
    fn in_boxes(&self, asked: &Asked<'_>, admitted: &Admitted, spreads: &Spreads) -> Chances {
        let share = self.share(admitted, spreads);
        let is_grouped = self.is_grouped();
        let chance = |hit: &Hit| {
            if is_grouped {
                return share(hit.group as usize);
            }
            let rows = self.release.groups().rows(hit.group as usize);
            let n = rows.len() as f64;
            // Which bucket a row is in cannot be told, so half of it stays even.
            f64::midpoint(rows.map(&share).sum(), hit.expected) / n
        };
        let found: Vec<f64> = asked.found.iter().flat_map(|piece| piece.iter()).map(chance).collect();
        let chances = Chances::thinned(asked, &found);
        if is_grouped { chances } else { chances.dealt(asked) }
    }

    /// Whether all rows of a group have one label.
    fn is_grouped(&self) -> bool {
        self.plan.shape.detail == Detail::GroupBoxes
    }

    /// What a condition and the values of the quasi attributes in GROUP BY admit.
    fn admitted(&self, condition: usize, group: &[Option<Value>]) -> Admitted {
        let condition = &self.plan.conditions[condition];
        let of_field = |field: usize, set: &ValueSet| {
            let at = self.fields.iter().position(|it| it.field == field)?;
            let it = &self.fields[at];
            Some((at, it.grid.measure(it.labels, set)))
        };
        let of_key = |(key, value): (&usize, &Option<Value>)| {
            let field = &self.plan.fields[*key];
            of_field(*key, &field.only(value.as_ref()))
        };
        let keys = self.keys.iter().zip(group).filter_map(of_key).collect();
        // The boxes that admit the key values, without them.
        let admits = |cell: &&Cell| {
            let of_key = |(key, value): (&usize, &Option<Value>)| {
                let set = cell.sets.get(key);
                set.is_none_or(|set| self.plan.fields[*key].contains(set, value.as_ref()))
            };
            self.keys.iter().zip(group).all(of_key)
        };
        let measured = |cell: &Cell| {
            let plain = cell.sets.iter().filter(|(field, _)| !self.keys.contains(field));
            plain.filter_map(|(&field, set)| of_field(field, set)).collect()
        };
        Admitted { keys, boxes: condition.boxes.iter().filter(admits).map(measured).collect() }
    }

    /// For every place: the share of its rows that is admitted.
    fn share(&self, admitted: &Admitted, spreads: &Spreads) -> impl Fn(usize) -> f64 + use<'_, 'a> {
        let shares = |sets: &Vec<(usize, Measured)>| -> Vec<(&LearnedField<'_>, SetShares)> {
            let share = |(at, measured): &(usize, Measured)| {
                let it = &self.fields[*at];
                (it, it.grid.shares(measured, spreads[*at].as_ref()))
            };
            sets.iter().map(share).collect()
        };
        let (keys, boxes) = (shares(&admitted.keys), admitted.boxes.iter().map(shares).collect::<Vec<_>>());
        let product = |sets: &Vec<(&LearnedField<'_>, SetShares)>, place: usize| {
            sets.iter().map(|(it, set)| it.grid.share(place, set)).product::<f64>()
        };
        move |place: usize| {
            let inside: f64 = boxes.iter().map(|sets| product(sets, place)).sum();
            (inside * product(&keys, place)).min(1.0)
        }
    }

    /// The distributions of all attributes, learned once for all rows of an answer.
    fn learned(&self, asked: &Asked<'_>) -> Arc<Learned> {
        let many = self.plan.sensitive_key().is_some() && asked.side.n_values() > MAX_VALUES;
        let value = asked.value.filter(|_| !many);
        let same = |other: &PlannedAggregate| other.set == asked.planned.set;
        let aggregate = self.plan.aggregates.iter().position(same).unwrap_or(asked.at);
        let are_numbers = matches!(asked.planned.function, Function::Sum | Function::Avg);
        let key = SideKey { aggregate, value, together: asked.together, are_numbers };
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(learned) = known().get(&key) {
            return Arc::clone(learned);
        }
        let side = if many { asked.side.without_test() } else { asked.side };
        let groups = self.release.groups();
        let moments: Vec<Moments> = (0..groups.len()).map(|group| Moments::of(side, group, are_numbers)).collect();
        let inside = |(group, it): (usize, &Moments)| it.rows * (1.0 - it.rows / f64::from(groups.size(group).max(1)));
        let counted = (!many).then(|| Counted {
            total: moments.iter().map(|it| it.rows).sum(),
            inside: moments.iter().enumerate().map(inside).sum(),
        });
        let rows = self.spreads(|group| moments[group].rows, None);
        let signed = |sign: usize| {
            let is_any = moments.iter().any(|it| it.sums[sign] > 0.0);
            is_any.then(|| self.spreads(|group| moments[group].sums[sign], Some(&rows)))
        };
        let signed = [signed(0), signed(1)];
        let learned = Learned { rows, signed, counted };
        Arc::clone(known().entry(key).or_insert_with(|| Arc::new(learned)))
    }

    /// Learns from the mass of every group, starting from what was learned from other masses.
    fn spreads(&self, mass: impl Fn(usize) -> f64, start: Option<&Spreads>) -> Spreads {
        let groups = self.release.groups();
        let of_rows = (self.plan.shape.detail == Detail::RowBoxes).then(|| groups.of_rows_in_order());
        let learned = |(at, it): (usize, &LearnedField<'_>)| {
            let (free, pinned) = match &of_rows {
                None => it.grid.masses(&mass),
                Some(batch) => it.grid.masses(|row| {
                    let batch = batch[row] as usize;
                    mass(batch) / f64::from(groups.size(batch).max(1))
                }),
            };
            Spread::learn(&it.grid, (&free, &pinned), start.and_then(|start| start[at].as_ref()), self.progress)
        };
        self.fields.iter().enumerate().map(learned).collect()
    }
}
