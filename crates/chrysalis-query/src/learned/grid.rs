//! One attribute of a release, prepared for learning (steps 1 to 3 of `spec.md`). It depends on no question.

use chrysalis_release::view::{Groups, Label, Labels};
use chrysalis_table::no_progress;

use super::atoms::{Atoms, Run};
use super::spread::Spread;
use crate::estimate::Measure;
use crate::value_set::ValueSet;

/// An attribute with more labels than this is spread evenly.
const MAX_LABELS: usize = 1 << 16;

/// A set of labels larger than this is taken to be tight without a look at all pairs.
const MAX_PAIRED: usize = 2_000;

/// How strongly small groups with wide labels are taken to hold rare values, in halvings; the last one is "not at all".
const STRENGTHS: usize = 5;

/// The most rounds in which the distribution and what it says about wide labels are adapted to each other.
const ADAPTATIONS: usize = 5;

/// Labels of an attribute, and what is known about how they came about.
#[derive(Debug)]
pub(crate) struct Grid {
    pub(super) atoms: Atoms,
    pub(super) labels: Vec<LabelParts>,
    pub(super) units: Vec<Unit>,
    /// The unit of every place: of every group, or of every row if rows have their own labels.
    unit_of: Vec<u32>,
    /// The share of the rows at every place that are known to lie at the label's ends, or one at each of its words.
    pinned_of: Vec<f64>,
    /// For every class of units: how likely a row with a value in each atom is to get such a label.
    pub(super) chances: Vec<Vec<f64>>,
}

/// A label as parts of the grid.
#[derive(Debug)]
pub(super) struct LabelParts {
    pub(super) runs: Vec<Run>,
    /// The atoms that rows must be in if labels are tight; none if they need not be tight.
    pub(super) pins: Vec<u32>,
    /// Whether it is too narrow for this grid, so that its rows are spread evenly.
    pub(super) is_narrow: bool,
}

/// Places with the same label whose groups are about equally large.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Unit {
    pub(super) label: u32,
    pub(super) class: u32,
}

impl Grid {
    /// For the labels of groups, or, where `groups` is absent, of rows.
    pub(crate) fn new(labels: &Labels, groups: Option<&Groups>) -> Grid {
        let few = labels.labels.len() <= MAX_LABELS;
        let atoms = few.then(|| Atoms::new(&labels.labels)).flatten();
        let Some(atoms) = atoms else { return Grid::even(labels) };
        let mut parts: Vec<LabelParts> = labels.labels.iter().map(|label| parts(&atoms, label)).collect();
        if groups.is_none() || !are_tight(&parts, atoms.len()) {
            parts.iter_mut().for_each(|part| part.pins.clear());
        }
        let size = |place: usize| groups.map_or(1.0, |groups| f64::from(groups.size(place)));
        let mut classes = Classes::new(&parts);
        let typical = if classes.are_left_over(labels, groups) { f64::INFINITY } else { typical_size(groups) };
        let unit = |place: usize| {
            let label = labels.of[place];
            Unit { label, class: classes.of(label as usize, size(place), typical) }
        };
        let mut units: Vec<Unit> = (0..labels.of.len()).map(unit).collect();
        classes.keep(&mut units);
        let of_place = units.clone();
        units.sort_unstable();
        units.dedup();
        // PROOF: `units` has every unit of a place.
        let unit_of = of_place.iter().map(|unit| units.binary_search(unit).unwrap_or(0) as u32).collect();
        let pinned = |place: usize| (parts[labels.of[place] as usize].pins.len() as f64 / size(place)).min(1.0);
        let mut grid = Grid {
            pinned_of: (0..labels.of.len()).map(pinned).collect(),
            chances: vec![vec![1.0; atoms.len()]; classes.kept.len()],
            atoms,
            labels: parts,
            units,
            unit_of,
        };
        grid.adapt(&classes, size);
        grid
    }

    /// An attribute of which nothing is learned.
    fn even(labels: &Labels) -> Grid {
        let narrow = |_: &Label| LabelParts { runs: Vec::new(), pins: Vec::new(), is_narrow: true };
        Grid {
            atoms: Atoms::none(),
            labels: labels.labels.iter().map(narrow).collect(),
            units: (0..labels.labels.len() as u32).map(|label| Unit { label, class: 0 }).collect(),
            unit_of: labels.of.clone(),
            pinned_of: vec![0.0; labels.of.len()],
            chances: vec![Vec::new()],
        }
    }

    /// Step 3: how likely wide labels are for rare and for frequent values, from all rows.
    fn adapt(&mut self, classes: &Classes, size: impl Fn(usize) -> f64) {
        let masses: Vec<f64> = (0..self.unit_of.len()).map(size).collect();
        let (free, pinned) = self.masses(|place| masses[place]);
        let mut at_least = vec![0.0; classes.n_widths];
        for (unit, mass) in self.units.iter().zip(free.iter().zip(&pinned)) {
            let width = classes.width[unit.label as usize];
            at_least[..=width].iter_mut().for_each(|sum| *sum += mass.0 + mass.1);
        }
        for _ in 0..ADAPTATIONS {
            let Some(spread) = Spread::learn(self, (&free, &pinned), None, &no_progress) else { return };
            let rows: Vec<f64> = spread.rows().collect();
            let limits: Vec<Option<f64>> = at_least.iter().map(|&mass| saturation(&rows, mass)).collect();
            for (chances, &(width, strength)) in self.chances.iter_mut().zip(&classes.kept).filter(|it| it.1.0 > 0) {
                let power = Classes::power(strength);
                let chance = |rows: &f64| limits[width].map_or(1.0, |limit| (limit / (limit + rows)).powf(power));
                *chances = rows.iter().map(chance).collect();
            }
        }
    }

    /// The masses of all places, added up per unit: those that are free, and those that are pinned.
    pub(super) fn masses(&self, mass: impl Fn(usize) -> f64) -> (Vec<f64>, Vec<f64>) {
        let (mut free, mut pinned) = (vec![0.0; self.units.len()], vec![0.0; self.units.len()]);
        for (place, (&unit, &share)) in self.unit_of.iter().zip(&self.pinned_of).enumerate() {
            let mass = mass(place);
            if mass != 0.0 {
                free[unit as usize] += mass * (1.0 - share);
                pinned[unit as usize] += mass * share;
            }
        }
        (free, pinned)
    }

    /// Which share of the rows at a place satisfies a condition that was measured.
    pub(super) fn share(&self, place: usize, set: &SetShares) -> f64 {
        let unit = self.unit_of[place] as usize;
        let (free, pinned) = (set.free[unit], self.pinned_of[place]);
        if pinned > 0.0 { pinned * set.pinned[unit] + (1.0 - pinned) * free } else { free }
    }

    /// The unit of a place, and the share of its rows that is pinned.
    pub(super) fn unit_at(&self, place: usize) -> (usize, f64) {
        (self.unit_of[place] as usize, self.pinned_of[place])
    }

    /// Measures a condition on this attribute.
    pub(super) fn measure(&self, labels: &Labels, set: &ValueSet) -> Measured {
        let measure = Measure::new(set);
        let even: Vec<f64> = labels.labels.iter().map(|label| measure.of(label).share).collect();
        let of_atoms = (0..self.atoms.len()).map(|at| measure.of(&self.atoms.label(at)).share).collect();
        let at_pins = |(label, part): (usize, &LabelParts)| {
            let has_pins = !part.pins.is_empty();
            if has_pins { at_ends(&labels.labels[label], &measure, even[label]) } else { 0.0 }
        };
        let pinned = self.labels.iter().enumerate().map(at_pins).collect();
        Measured { of_atoms, pinned, even }
    }

    /// The shares of a condition under a distribution.
    pub(super) fn shares(&self, measured: &Measured, spread: Option<&Spread>) -> SetShares {
        let of_units = |of_labels: &[f64]| self.units.iter().map(|unit| of_labels[unit.label as usize]).collect();
        let free = match spread {
            Some(spread) => spread.shares(self, &measured.of_atoms, &measured.even),
            None => of_units(&measured.even),
        };
        SetShares { free, pinned: of_units(&measured.pinned) }
    }
}

/// Which shares of atoms and of labels a condition admits: of labels the share if rows are spread evenly, and that of pins.
pub(super) struct Measured {
    of_atoms: Vec<f64>,
    even: Vec<f64>,
    pinned: Vec<f64>,
}

/// The shares of a condition, by unit: among rows that may be anywhere in the label, and among those that are pinned.
pub(super) struct SetShares {
    free: Vec<f64>,
    pinned: Vec<f64>,
}

fn parts(atoms: &Atoms, label: &Label) -> LabelParts {
    let runs = atoms.runs(label);
    let n: u32 = runs.iter().map(|run| run.to - run.from).sum();
    let has_parts = runs.iter().any(|run| run.share < 1.0);
    // A pin must be a point of its own on the grid.
    let is_point = |at: &u32| atoms.sizes[*at as usize] == 1.0;
    let mut pins: Vec<u32> = match label {
        Label::Members { .. } => runs.iter().flat_map(|run| run.from..run.to).collect(),
        Label::Points { .. } => {
            let ends = runs.first().zip(runs.last());
            ends.map_or_else(Vec::new, |(first, last)| vec![first.from, last.to - 1])
        }
        Label::Stretch { .. } => Vec::new(),
    };
    pins.dedup();
    if n <= 1 || has_parts || !pins.iter().all(is_point) {
        pins.clear();
    }
    LabelParts { is_narrow: n <= 1 || (has_parts && n < 4), runs, pins }
}

/// The share of a label's pins that lies in a set: its ends, or all of its words, which are as many as even says.
fn at_ends(label: &Label, measure: &Measure<'_>, even: f64) -> f64 {
    let Label::Points { ends: Some((low, high)), missing } = label else { return even };
    let first = if *missing { None } else { Some((*low, *low)) };
    let first = measure.of(&Label::Points { ends: first, missing: *missing }).share;
    let last = measure.of(&Label::Points { ends: Some((*high, *high)), missing: false }).share;
    (first + last) / 2.0
}

/// Step 2: labels are tight if some of them overlap without one containing the other. Levels of a taxonomy and
/// intervals never do.
fn are_tight(parts: &[LabelParts], n_atoms: usize) -> bool {
    if parts.len() > MAX_PAIRED {
        return true;
    }
    let bits = |part: &LabelParts| {
        let mut bits = vec![0_u64; n_atoms.div_ceil(64)];
        part.runs
            .iter()
            .flat_map(|run| run.from..run.to)
            .for_each(|at| bits[at as usize / 64] |= 1 << (at as usize % 64));
        bits
    };
    let sets: Vec<Vec<u64>> = parts.iter().map(bits).collect();
    let cross = |a: &[u64], b: &[u64]| {
        let (mut both, mut only_a, mut only_b) = (false, false, false);
        for (a, b) in a.iter().zip(b) {
            both |= a & b != 0;
            only_a |= a & !b != 0;
            only_b |= b & !a != 0;
        }
        both && only_a && only_b
    };
    (0..sets.len()).any(|a| (0..a).any(|b| cross(&sets[a], &sets[b])))
}

/// The size of the middle one of all groups.
fn typical_size(groups: Option<&Groups>) -> f64 {
    let Some(groups) = groups else { return 1.0 };
    let mut sizes: Vec<u32> = (0..groups.len()).map(|group| groups.size(group)).collect();
    sizes.sort_unstable();
    sizes.get(sizes.len() / 2).map_or(1.0, |&size| f64::from(size.max(1)))
}

/// Units by the width of their labels and the size of their groups.
struct Classes {
    /// The width of every label, as a power of two.
    width: Vec<usize>,
    n_widths: usize,
    /// The width and the strength of every class that has units.
    kept: Vec<(usize, usize)>,
}

impl Classes {
    fn new(parts: &[LabelParts]) -> Self {
        let width = |part: &LabelParts| {
            let n: f64 = part.runs.iter().map(|run| f64::from(run.to - run.from) * run.share).sum();
            n.max(1.0).log2() as usize
        };
        let width: Vec<usize> = parts.iter().map(width).collect();
        let n_widths = width.iter().max().map_or(1, |most| most + 1);
        Classes { width, n_widths, kept: Vec::new() }
    }

    /// Whether rows in groups with wide labels have no more others around them than rows in groups with narrow ones:
    /// then it is not their size that makes labels wide.
    fn are_left_over(&self, labels: &Labels, groups: Option<&Groups>) -> bool {
        let Some(groups) = groups else { return false };
        let mean = |is_wide: bool| {
            let some = labels.of.iter().enumerate().filter(|(_, label)| (self.width[**label as usize] > 0) == is_wide);
            let add = |(rows, squares): (f64, f64), (group, _): (usize, &u32)| {
                let n = f64::from(groups.size(group));
                (rows + n, squares + n * n)
            };
            let (rows, squares) = some.fold((0.0, 0.0), add);
            squares / rows
        };
        // NaN, where all labels are wide or all are narrow, never passes.
        mean(true) <= mean(false)
    }

    fn of(&self, label: usize, size: f64, typical: f64) -> u32 {
        let width = self.width[label];
        let halvings = if width == 0 { 0.0 } else { 2.0 * (size / typical).max(1.0).log2() };
        (width * STRENGTHS + (halvings.round() as usize).min(STRENGTHS - 1)) as u32
    }

    /// Leaves out classes without units, and numbers the others anew.
    fn keep(&mut self, units: &mut [Unit]) {
        let mut used: Vec<u32> = units.iter().map(|unit| unit.class).collect();
        used.sort_unstable();
        used.dedup();
        // PROOF: `used` has every class of a unit.
        units.iter_mut().for_each(|unit| unit.class = used.binary_search(&unit.class).unwrap_or(0) as u32);
        self.kept = used.iter().map(|&class| (class as usize / STRENGTHS, class as usize % STRENGTHS)).collect();
    }

    fn power(strength: usize) -> f64 {
        if strength + 1 == STRENGTHS { 0.0 } else { 0.5_f64.powi(strength as i32) }
    }
}

/// The limit L with Σ rows·L/(L+rows) = `wide`; `None` if all rows are wide.
fn saturation(rows: &[f64], wide: f64) -> Option<f64> {
    let total: f64 = rows.iter().sum();
    // NaN never passes.
    if !(wide > 0.0 && wide < total * (1.0 - 1e-9)) {
        return None;
    }
    let held = |limit: f64| rows.iter().map(|rows| rows * (limit / (limit + rows))).sum::<f64>();
    let (mut low, mut high) = ((total * 1e-12).ln(), (total * 1e6).ln());
    for _ in 0..40 {
        let middle = f64::midpoint(low, high);
        if held(middle.exp()) < wide { low = middle } else { high = middle }
    }
    Some(f64::midpoint(low, high).exp())
}
