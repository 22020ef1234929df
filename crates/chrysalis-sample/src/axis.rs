//! The values of an attribute as a few cells, over which distributions are learned.

use chrysalis_release::view::Label;
use chrysalis_table::{Domain, Kind};

/// Up to this many values, each is a cell of its own.
const FINE: usize = 128;
/// More ordered values are gathered into this many cells of about the same number of rows.
const COARSE: usize = 64;
/// Points of a range that stand for it when cells are formed.
const PROBES: i64 = 4;

/// The cells of an attribute that is shown as ranges and labels. Cell 0 is the missing value, if there is one.
#[derive(Clone, Debug)]
pub(crate) struct Axis {
    has_missing: bool,
    cuts: Cuts,
}

/// Where cells begin, ascending, and where the last one ends.
#[derive(Clone, Debug)]
enum Cuts {
    /// Whole numbers or ranks; the end is the last one.
    Whole(Vec<i64>, i64),
    Real(Vec<f64>, f64),
}

/// The part of a label that lies in one cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Part {
    pub(crate) cell: u16,
    /// The share of the cell that the label covers.
    pub(crate) fraction: f32,
    /// How many points of the label are in the cell; for reals, the length.
    pub(crate) points: f32,
}

impl Axis {
    /// Cells for some labels, each with how many rows it has.
    pub(crate) fn new(labels: &[Label], rows: &[u32]) -> Axis {
        let has_missing = labels.iter().any(Label::has_missing);
        let mut whole: Vec<(i64, u64)> = Vec::new();
        let mut real: Vec<(f64, u64)> = Vec::new();
        for (label, &rows) in labels.iter().zip(rows) {
            let weight = u64::from(rows);
            match label {
                Label::Points { ends: Some((low, high)), .. } => {
                    let step = (i128::from(*high) - i128::from(*low)) / i128::from(PROBES);
                    let probe = |at: i64| i64::try_from(i128::from(*low) + step * i128::from(at)).unwrap_or(*high);
                    whole.extend((0..PROBES).map(probe).chain([*high]).map(|point| (point, weight)));
                }
                Label::Members { ranks, .. } => whole.extend(ranks.iter().map(|&rank| (rank as i64, weight))),
                Label::Stretch { ends: Some((low, high)), .. } => {
                    let probe = |at: i64| low + (high - low) * (at as f64 / PROBES as f64);
                    let finite = (0..=PROBES).map(probe).filter(|point| point.is_finite());
                    real.extend(finite.chain([*low, *high]).map(|point| (point, weight)));
                }
                Label::Points { .. } | Label::Stretch { .. } => {}
            }
        }
        whole.sort_unstable();
        real.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let cuts = match (whole.first(), whole.last(), real.last()) {
            (Some(&(first, _)), Some(&(last, _)), _) => {
                let all = (i128::from(last) - i128::from(first) < FINE as i128).then(|| (first..=last).collect());
                Cuts::Whole(all.unwrap_or_else(|| quantiles(&whole, i64::eq)), last)
            }
            (_, _, Some(&(last, _))) => Cuts::Real(quantiles(&real, f64::eq), last),
            _ => Cuts::Whole(Vec::new(), 0),
        };
        Axis { has_missing, cuts }
    }

    pub(crate) fn n_cells(&self) -> usize {
        let cells = match &self.cuts {
            Cuts::Whole(starts, _) => starts.len(),
            Cuts::Real(starts, _) => starts.len(),
        };
        cells + usize::from(self.has_missing)
    }

    fn cell(&self, place: usize) -> u16 {
        // PROOF: there are at most `FINE` + 1 cells.
        (place + usize::from(self.has_missing)) as u16
    }

    /// The cells that a label covers, ascending; none if the label stands for nothing.
    pub(crate) fn cover(&self, label: &Label, parts: &mut Vec<Part>) {
        parts.clear();
        if label.has_missing() {
            parts.push(Part { cell: 0, fraction: 1.0, points: 1.0 });
        }
        match (label, &self.cuts) {
            (Label::Points { ends: Some((low, high)), .. }, Cuts::Whole(starts, last)) => {
                let first = starts.partition_point(|start| start <= low).saturating_sub(1);
                for place in first..starts.len() {
                    let (start, end) = whole_cell(starts, *last, place);
                    if start > *high {
                        break;
                    }
                    let points = count(start.max(*low), end.min(*high));
                    let fraction = (points / count(start, end)) as f32;
                    parts.push(Part { cell: self.cell(place), fraction, points: points as f32 });
                }
            }
            (Label::Members { ranks, .. }, Cuts::Whole(starts, last)) => {
                let place_of = |rank: usize| starts.partition_point(|&start| start <= rank as i64).saturating_sub(1);
                for run in ranks.chunk_by(|&a, &b| place_of(a) == place_of(b)) {
                    let place = place_of(run[0]);
                    let (start, end) = whole_cell(starts, *last, place);
                    let points = run.len() as f64;
                    let fraction = (points / count(start, end)) as f32;
                    parts.push(Part { cell: self.cell(place), fraction, points: points as f32 });
                }
            }
            (Label::Stretch { ends: Some((low, high)), .. }, Cuts::Real(starts, last)) => {
                let first = starts.partition_point(|start| start <= low).saturating_sub(1);
                let before = parts.len();
                for place in first..starts.len() {
                    let (start, end) = real_cell(starts, *last, place);
                    let overlap = end.min(*high) - start.max(*low);
                    if start > *high || overlap <= 0.0 {
                        continue;
                    }
                    let fraction = (overlap / (end - start)).clamp(1e-6, 1.0);
                    let fraction = if fraction.is_nan() { 1.0 } else { fraction as f32 };
                    parts.push(Part { cell: self.cell(place), fraction, points: overlap.min(1e30) as f32 });
                }
                if parts.len() == before {
                    parts.push(Part { cell: self.cell(first), fraction: 1.0, points: 1.0 });
                }
            }
            _ => {}
        }
    }

    /// The points of a label that lie in a cell that it covers.
    pub(crate) fn inside(&self, cell: u16, label: &Label) -> Inside {
        let Some(place) = usize::from(cell).checked_sub(usize::from(self.has_missing)) else { return Inside::Missing };
        match (label, &self.cuts) {
            (Label::Points { ends: Some((low, high)), .. }, Cuts::Whole(starts, last)) => {
                let (start, end) = whole_cell(starts, *last, place);
                Inside::Whole(start.max(*low), end.min(*high))
            }
            (Label::Members { ranks, .. }, Cuts::Whole(starts, last)) => {
                let (start, end) = whole_cell(starts, *last, place);
                let from = ranks.partition_point(|&rank| (rank as i64) < start);
                let to = ranks.partition_point(|&rank| rank as i64 <= end);
                Inside::Members(from, to)
            }
            (Label::Stretch { ends: Some((low, high)), .. }, Cuts::Real(starts, last)) => {
                let (start, end) = real_cell(starts, *last, place);
                Inside::Real(start.max(*low), end.min(*high))
            }
            _ => Inside::Missing,
        }
    }
}

/// What a label and a cell have in common.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Inside {
    Missing,
    /// Whole numbers or ranks, first and last.
    Whole(i64, i64),
    /// A stretch of the label's list of ranks: from, and the one after the last.
    Members(usize, usize),
    Real(f64, f64),
}

fn whole_cell(starts: &[i64], last: i64, place: usize) -> (i64, i64) {
    (starts[place], starts.get(place + 1).map_or(last, |next| next - 1))
}

fn real_cell(starts: &[f64], last: f64, place: usize) -> (f64, f64) {
    (starts[place], starts.get(place + 1).copied().unwrap_or(last))
}

fn count(first: i64, last: i64) -> f64 {
    (i128::from(last) - i128::from(first) + 1) as f64
}

/// At most `COARSE` of these ascending values, with about the same weight between each two; the first is one of them.
fn quantiles<T: Copy>(values: &[(T, u64)], same: impl Fn(&T, &T) -> bool) -> Vec<T> {
    let total: u64 = values.iter().map(|(_, weight)| weight).sum();
    let (mut chosen, mut seen): (Vec<T>, u64) = (Vec::new(), 0);
    for (value, weight) in values {
        let is_due = u128::from(seen) * COARSE as u128 >= chosen.len() as u128 * u128::from(total);
        if is_due && chosen.len() < COARSE && chosen.last().is_none_or(|last| !same(last, value)) {
            chosen.push(*value);
        }
        seen += weight;
    }
    chosen
}

/// The cell of every code of a column whose values are known, and the number of cells.
pub(crate) fn cells_of(domain: &Domain, histogram: &[u64]) -> (Vec<u16>, usize) {
    let n_codes = domain.len();
    if n_codes <= FINE {
        return ((0..n_codes as u16).collect(), n_codes);
    }
    if domain.kind() == Kind::Category {
        // The most frequent words have cells of their own, the others share one.
        let mut by_count: Vec<usize> = (0..n_codes).collect();
        by_count.sort_by_key(|&code| (std::cmp::Reverse(histogram[code]), code));
        let mut cells = vec![FINE as u16 - 1; n_codes];
        by_count.iter().take(FINE - 1).zip(0..).for_each(|(&code, cell)| cells[code] = cell);
        return (cells, FINE);
    }
    let total: u64 = histogram.iter().sum();
    let (mut cells, mut seen, mut cell) = (Vec::with_capacity(n_codes), 0_u64, 0_u16);
    for count in histogram {
        let due = (u128::from(seen) * COARSE as u128 / u128::from(total.max(1))) as u16;
        // Cells have no holes: the next one at most.
        cell = due.min(cell + u16::from(!cells.is_empty()));
        cells.push(cell);
        seen += count;
    }
    (cells, usize::from(cell) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(low: i64, high: i64) -> Label {
        Label::Points { ends: Some((low, high)), missing: false }
    }

    fn parts(axis: &Axis, label: &Label) -> Vec<(u16, f32, f32)> {
        let mut parts = Vec::new();
        axis.cover(label, &mut parts);
        parts.iter().map(|part| (part.cell, part.fraction, part.points)).collect()
    }

    #[test]
    fn few_values_have_cells_of_their_own() {
        let labels = [points(3, 5), Label::Points { ends: Some((3, 3)), missing: true }];
        let axis = Axis::new(&labels, &[2, 1]);
        assert_eq!(axis.n_cells(), 4);
        assert_eq!(parts(&axis, &labels[0]), [(1, 1.0, 1.0), (2, 1.0, 1.0), (3, 1.0, 1.0)]);
        assert_eq!(parts(&axis, &labels[1]), [(0, 1.0, 1.0), (1, 1.0, 1.0)]);
        assert_eq!(axis.inside(2, &labels[0]), Inside::Whole(4, 4));
        assert_eq!(axis.inside(0, &labels[1]), Inside::Missing);
    }

    #[test]
    fn many_values_share_cells_and_a_label_covers_parts_of_them() {
        let labels = [points(0, 999), points(0, 9), points(i64::MIN, i64::MAX)];
        let axis = Axis::new(&labels[..2], &[1, 1]);
        assert!(axis.n_cells() <= COARSE);
        let all = parts(&axis, &labels[0]);
        assert_eq!(all.len(), axis.n_cells());
        assert!(all.iter().all(|&(_, fraction, _)| fraction == 1.0));
        assert_eq!(all.iter().map(|&(_, _, points)| points).sum::<f32>(), 1000.0);
        let some = parts(&axis, &points(5, 6));
        assert_eq!(some.iter().map(|&(_, _, points)| points).sum::<f32>(), 2.0);
        let widest = Axis::new(&labels, &[1, 1, 1]);
        assert!(parts(&widest, &labels[2]).iter().all(|&(_, fraction, _)| fraction == 1.0));
    }

    #[test]
    fn reals_are_covered_by_length_and_a_point_by_its_cell() {
        let label = |low, high| Label::Stretch { ends: Some((low, high)), missing: false };
        let labels = [label(0.0, 4.0), label(2.0, 2.0), label(-1e308, 1e308)];
        let axis = Axis::new(&labels[..2], &[1, 1]);
        let all = parts(&axis, &labels[0]);
        assert!((all.iter().map(|&(_, _, length)| length).sum::<f32>() - 4.0).abs() < 1e-6);
        assert_eq!(parts(&axis, &labels[1]).len(), 1);
        let wide = Axis::new(&labels, &[1, 1, 1]);
        assert!(!parts(&wide, &labels[2]).is_empty());
    }

    #[test]
    fn cells_of_long_domains_have_no_holes() {
        let domain = |kind| {
            let values = (0..1000).map(|at| match kind {
                Kind::Category => chrysalis_table::Value::Text(format!("{at:04}").into()),
                _ => chrysalis_table::Value::Integer(at),
            });
            Domain::new(kind, values.collect(), false)
        };
        let mut histogram = vec![1_u64; 1000];
        histogram[500] = 1_000_000;
        for kind in [Kind::Category, Kind::Integer] {
            let (cells, n_cells) = cells_of(&domain(kind), &histogram);
            let mut seen: Vec<u16> = cells.clone();
            seen.sort_unstable();
            seen.dedup();
            assert_eq!(seen.len(), n_cells);
            assert_eq!(usize::from(seen[n_cells - 1]), n_cells - 1);
        }
    }
}
