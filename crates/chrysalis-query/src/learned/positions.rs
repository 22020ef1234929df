//! Where in their labels rows are: what aggregates of numbers in ranges need (step 8 of `spec.md`).

use std::sync::Arc;

use chrysalis_release::view::{Label, Labels};

use super::grid::Grid;
use super::spread::{Spread, running};
use super::{Learned, Learner};
use crate::estimate::Measure;
use crate::value_set::ValueSet;

/// The least and greatest number of a term over some values, and whether all of them have one; nothing if none has.
pub(crate) type Ends = Option<(f64, f64, bool)>;

/// A term of one attribute, as numbers on its grid. It depends on the condition and on no row of the answer.
#[derive(Debug)]
pub(crate) struct Scale {
    /// The place of the attribute among those that are learned about.
    at: usize,
    /// The ends of the numbers in each atom, less the origin.
    atoms: Vec<(f64, f64)>,
    /// The share of each atom that the condition admits, and the share that has a number beside.
    admitted: Vec<f64>,
    counted: Vec<f64>,
    /// The same for every label as a whole: its ends and its share.
    labels: Vec<(Ends, f64)>,
    origin: f64,
}

/// Expectations over the rows at a place: the shares that are admitted and that count; number and square of the latter.
#[derive(Clone, Copy, Debug, Default)]
struct Moments {
    admitted: f64,
    counted: f64,
    sum: f64,
    squares: f64,
}

/// The numbers of the rows of one answer, place by place.
#[derive(Debug)]
pub(crate) struct Positions {
    grid: Arc<Grid>,
    scale: Arc<Scale>,
    /// Of every unit: of rows anywhere in the label, and of those that are pinned.
    free: Vec<Moments>,
    pinned: Vec<Moments>,
    /// Per class of units: the weight of each atom, as far as it counts; nothing where labels are spread evenly.
    weighted: Vec<Vec<f64>>,
    /// Whether a unit is spread evenly.
    is_even: Vec<bool>,
}

/// A row's number as far as it is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Position {
    /// Of the rows that the condition admits, the share that has a number.
    pub(super) share: f64,
    pub(super) mean: f64,
    pub(super) variance: f64,
}

impl Learner<'_> {
    /// A term of an attribute on the grid of the attribute; `ends` says which numbers the admitted values of a label have.
    pub(crate) fn scale(
        &self,
        field: usize,
        admitted: &ValueSet,
        ends: impl Fn(&[Label]) -> Result<Vec<Ends>, crate::QueryError>,
    ) -> Result<Option<Arc<Scale>>, crate::QueryError> {
        let Some(at) = self.fields.iter().position(|it| it.field == field) else { return Ok(None) };
        let (grid, labels) = (&self.fields[at].grid, self.fields[at].labels);
        let atoms: Vec<Label> = (0..grid.atoms.len()).map(|at| grid.atoms.label(at)).collect();
        Ok(Some(Arc::new(Scale::new(at, &atoms, labels, &ends(&atoms)?, &ends(&labels.labels)?, admitted))))
    }

    pub(super) fn positions(&self, scale: &Arc<Scale>, learned: &Learned) -> Positions {
        Positions::new(&self.fields[scale.at].grid, scale, learned.rows[scale.at].as_ref())
    }
}

impl Scale {
    fn new(
        at: usize,
        atoms: &[Label],
        labels: &Labels,
        of_atoms: &[Ends],
        of_labels: &[Ends],
        admitted: &ValueSet,
    ) -> Scale {
        let measure = Measure::new(admitted);
        let shares = |labels: &[Label]| labels.iter().map(|label| measure.of(label).share).collect::<Vec<f64>>();
        let origin = of_labels.iter().flatten().next().map_or(0.0, |(low, high, _)| middle(*low, *high));
        let admitted = shares(atoms);
        let counted = admitted.iter().zip(of_atoms).map(|(share, ends)| if ends.is_some() { *share } else { 0.0 });
        let ends = |ends: &Ends| ends.map_or((0.0, 0.0), |(low, high, _)| (low - origin, high - origin));
        Scale {
            at,
            atoms: of_atoms.iter().map(ends).collect(),
            counted: counted.collect(),
            admitted,
            labels: of_labels.iter().copied().zip(shares(&labels.labels)).collect(),
            origin,
        }
    }

    /// A label whose rows are spread evenly over it.
    fn even(&self, label: u32) -> Moments {
        let (ends, admitted) = self.labels[label as usize];
        let Some((low, high, _)) = ends else { return Moments { admitted, ..Moments::default() } };
        Moments::default().with(1.0, (admitted, admitted), (low - self.origin, high - self.origin))
    }
}

impl Moments {
    /// With more rows, of which these shares are admitted and count, and whose numbers are anywhere between two.
    fn with(self, weight: f64, (admitted, counted): (f64, f64), (low, high): (f64, f64)) -> Moments {
        Moments {
            admitted: self.admitted + weight * admitted,
            counted: self.counted + weight * counted,
            sum: self.sum + weight * counted * middle(low, high),
            squares: self.squares + weight * counted * (low * low + low * high + high * high) / 3.0,
        }
    }

    fn mixed(self, share: f64, other: Moments) -> Moments {
        let mix = |a: f64, b: f64| share * a + (1.0 - share) * b;
        Moments {
            admitted: mix(self.admitted, other.admitted),
            counted: mix(self.counted, other.counted),
            sum: mix(self.sum, other.sum),
            squares: mix(self.squares, other.squares),
        }
    }
}

impl Positions {
    fn new(grid: &Arc<Grid>, scale: &Arc<Scale>, spread: Option<&Spread>) -> Positions {
        let atom = |at: usize| ((scale.admitted[at], scale.counted[at]), scale.atoms[at]);
        let pinned = |label: u32| {
            let pins = &grid.labels[label as usize].pins;
            let weight = 1.0 / pins.len() as f64;
            pins.iter()
                .map(|pin| atom(*pin as usize))
                .fold(Moments::default(), |sum, (shares, ends)| sum.with(weight, shares, ends))
        };
        let pinned = grid.units.iter().map(|unit| pinned(unit.label)).collect();
        let units = || 0..grid.units.len();
        let Some(spread) = spread else {
            let free = grid.units.iter().map(|unit| scale.even(unit.label)).collect();
            return Positions {
                grid: Arc::clone(grid),
                scale: Arc::clone(scale),
                free,
                pinned,
                weighted: Vec::new(),
                is_even: vec![true; grid.units.len()],
            };
        };
        let mut of_atoms = [(); 4].map(|()| Vec::with_capacity(scale.atoms.len()));
        for at in 0..scale.atoms.len() {
            let (shares, ends) = atom(at);
            let one = Moments::default().with(1.0, shares, ends);
            of_atoms.iter_mut().zip([one.admitted, one.counted, one.sum, one.squares]).for_each(|(all, x)| all.push(x));
        }
        let [admitted, counted, sums, squares] = of_atoms.map(|of_atoms| spread.means(grid, &of_atoms));
        let is_even: Vec<bool> = units().map(|at| admitted[at].is_none()).collect();
        let free = |at: usize| match (is_even[at], admitted[at], counted[at], sums[at], squares[at]) {
            (false, Some(admitted), Some(counted), Some(sum), Some(squares)) => {
                Moments { admitted, counted, sum, squares }
            }
            _ => scale.even(grid.units[at].label),
        };
        Positions {
            free: units().map(free).collect(),
            pinned,
            weighted: spread.weighted(&scale.counted),
            is_even,
            grid: Arc::clone(grid),
            scale: Arc::clone(scale),
        }
    }

    /// The number of a row at a place that the condition admits.
    pub(super) fn of(&self, place: usize) -> Position {
        let (unit, share) = self.grid.unit_at(place);
        let all = if share > 0.0 { self.pinned[unit].mixed(share, self.free[unit]) } else { self.free[unit] };
        if all.counted <= 0.0 || all.admitted <= 0.0 {
            // The grid sees nobody where the label may have somebody.
            let even = self.scale.even(self.grid.units[unit].label);
            let mean = if even.counted > 0.0 { even.sum / even.counted } else { 0.0 };
            return Position {
                share: f64::from(u8::from(even.counted > 0.0)),
                mean: self.scale.origin + mean,
                variance: 0.0,
            };
        }
        let mean = all.sum / all.counted;
        Position {
            share: (all.counted / all.admitted).min(1.0),
            mean: self.scale.origin + mean,
            variance: (all.squares / all.counted - mean * mean).max(0.0),
        }
    }

    /// The numbers of rows at places with these expected hits, each with how many have it.
    pub(super) fn points(&self, hits: impl Iterator<Item = (usize, f64)>) -> Vec<(f64, f64)> {
        let n = self.grid.units.len();
        let (mut free, mut pinned) = (vec![0.0; n], vec![0.0; n]);
        for (place, hits) in hits {
            let (unit, share) = self.grid.unit_at(place);
            let (of_pins, of_others) = (share * self.pinned[unit].counted, (1.0 - share) * self.free[unit].counted);
            let all = if share > 0.0 { of_pins + of_others } else { of_others };
            let part = if share > 0.0 && all > 0.0 { of_pins / all } else { 0.0 };
            pinned[unit] += hits * part;
            free[unit] += hits * (1.0 - part);
        }
        let scale = &self.scale;
        let mut points = Vec::new();
        let mut found = vec![0.0; scale.atoms.len()];
        let mut steps: Vec<Vec<f64>> = self.weighted.iter().map(|weighted| vec![0.0; weighted.len() + 1]).collect();
        let sums: Vec<Vec<f64>> = self.weighted.iter().map(|weighted| running(weighted)).collect();
        for (at, unit) in self.grid.units.iter().enumerate() {
            let part = &self.grid.labels[unit.label as usize];
            if pinned[at] > 0.0 {
                let all: f64 = part.pins.iter().map(|pin| scale.counted[*pin as usize]).sum();
                part.pins
                    .iter()
                    .for_each(|pin| found[*pin as usize] += pinned[at] * scale.counted[*pin as usize] / all);
            }
            if free[at] <= 0.0 {
                continue;
            }
            let class = unit.class as usize;
            let all: f64 = if self.is_even[at] {
                0.0
            } else {
                let sums = &sums[class];
                part.runs.iter().map(|run| run.share * (sums[run.to as usize] - sums[run.from as usize])).sum()
            };
            if all > 0.0 {
                for run in &part.runs {
                    steps[class][run.from as usize] += free[at] / all * run.share;
                    steps[class][run.to as usize] -= free[at] / all * run.share;
                }
            } else if let (Some((low, high, _)), _) = scale.labels[unit.label as usize] {
                points.push((middle(low, high), free[at]));
            }
        }
        for (steps, weighted) in steps.iter().zip(&self.weighted) {
            let mut factor = 0.0;
            for ((found, step), weighted) in found.iter_mut().zip(steps).zip(weighted) {
                factor += step;
                *found += weighted * f64::max(factor, 0.0);
            }
        }
        let atoms = found.into_iter().zip(&scale.atoms).filter(|(found, _)| *found > 0.0);
        points.extend(atoms.map(|(found, (low, high))| (scale.origin + middle(*low, *high), found)));
        points
    }
}

/// The number halfway between two.
fn middle(low: f64, high: f64) -> f64 {
    low / 2.0 + high / 2.0
}
