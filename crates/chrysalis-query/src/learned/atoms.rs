//! The small stretches of an attribute's domain between which a distribution can differ (step 1 of `spec.md`).

use chrysalis_release::view::Label;

use crate::estimate::n_points;

/// The most atoms of an attribute with ranges, and of one with sets of words.
const MAX_RANGES: usize = 256;
const MAX_WORDS: usize = 1024;

/// Adjacent atoms; the missing value is one of its own, before all others.
#[derive(Debug)]
pub(super) struct Atoms {
    has_missing: bool,
    cuts: Cuts,
    /// The number of points or the length of each atom.
    pub(super) sizes: Vec<f64>,
}

#[derive(Debug)]
enum Cuts {
    /// Where each atom begins, and where the last one ends: whole numbers, days, microseconds or ranks of words.
    Whole(Vec<i128>),
    Real(Vec<f64>),
}

/// A part of a label: some adjacent atoms, and which share of each of them the label covers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Run {
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) share: f64,
}

impl Atoms {
    /// The atoms of an attribute; `None` if its labels are of different kinds or list too many words.
    pub(super) fn new(labels: &[Label]) -> Option<Atoms> {
        let has_missing = labels.iter().any(Label::has_missing);
        let cuts = cuts(labels)?;
        let mut atoms = Atoms { has_missing, cuts, sizes: Vec::new() };
        atoms.sizes = (0..atoms.len()).map(|at| n_points(&atoms.label(at))).collect();
        Some(atoms)
    }

    /// No atoms.
    pub(super) fn none() -> Atoms {
        Atoms { has_missing: false, cuts: Cuts::Whole(Vec::new()), sizes: Vec::new() }
    }

    pub(super) fn len(&self) -> usize {
        let cuts = match &self.cuts {
            Cuts::Whole(cuts) => cuts.len(),
            Cuts::Real(cuts) => cuts.len(),
        };
        cuts.saturating_sub(1) + usize::from(self.has_missing)
    }

    /// An atom as a label, so that a condition can be measured against it.
    pub(super) fn label(&self, at: usize) -> Label {
        let shift = usize::from(self.has_missing);
        let missing = at < shift;
        match &self.cuts {
            Cuts::Whole(cuts) => {
                let ends = (!missing).then(|| (cuts[at - shift] as i64, (cuts[at - shift + 1] - 1) as i64));
                Label::Points { ends, missing }
            }
            Cuts::Real(cuts) => {
                let ends = (!missing).then(|| (cuts[at - shift], cuts[at - shift + 1]));
                Label::Stretch { ends, missing }
            }
        }
    }

    /// The parts of a label, in ascending order.
    pub(super) fn runs(&self, label: &Label) -> Vec<Run> {
        let mut runs = Vec::new();
        if label.has_missing() && self.has_missing {
            runs.push(Run { from: 0, to: 1, share: 1.0 });
        }
        let shift = u32::from(self.has_missing);
        match (label, &self.cuts) {
            (Label::Points { ends: Some((low, high)), .. }, Cuts::Whole(cuts)) => {
                let (low, high) = (i128::from(*low), i128::from(*high) + 1);
                let first = cuts.partition_point(|cut| *cut <= low).saturating_sub(1);
                let last = cuts.partition_point(|cut| *cut < high).saturating_sub(1);
                let share = |at: usize| {
                    let (from, to) = (cuts[at].max(low), cuts[at + 1].min(high));
                    (to - from) as f64 / (cuts[at + 1] - cuts[at]) as f64
                };
                push_runs(&mut runs, first, last, shift, share);
            }
            (Label::Stretch { ends: Some((low, high)), .. }, Cuts::Real(cuts)) => {
                let most = cuts.len() - 2;
                let first = cuts.partition_point(|cut| *cut <= *low).saturating_sub(1).min(most);
                let last = cuts.partition_point(|cut| *cut < *high).saturating_sub(1).clamp(first, most);
                let share = |at: usize| {
                    let (from, to) = (cuts[at].max(*low), cuts[at + 1].min(*high));
                    // Halves, because the length of the longest stretches overflows.
                    let share = (to * 0.5 - from * 0.5) / (cuts[at + 1] * 0.5 - cuts[at] * 0.5);
                    if first == last { 1.0 } else { share.clamp(f64::MIN_POSITIVE, 1.0) }
                };
                push_runs(&mut runs, first, last, shift, share);
            }
            (Label::Members { ranks, .. }, Cuts::Whole(_)) => {
                for run in ranks.chunk_by(|a, b| a + 1 == *b) {
                    let (from, to) = (run[0] as u32 + shift, run[run.len() - 1] as u32 + 1 + shift);
                    runs.push(Run { from, to, share: 1.0 });
                }
            }
            _ => {}
        }
        runs
    }
}

/// Whole atoms become one run; the atoms at both ends may be covered in part.
fn push_runs(runs: &mut Vec<Run>, first: usize, last: usize, shift: u32, share: impl Fn(usize) -> f64) {
    for at in first..=last {
        let (place, share) = (at as u32 + shift, share(at));
        match runs.last_mut() {
            Some(run) if run.to == place && run.share == share => run.to += 1,
            _ => runs.push(Run { from: place, to: place + 1, share }),
        }
    }
}

fn cuts(labels: &[Label]) -> Option<Cuts> {
    let (mut whole, mut real, mut words) = (Vec::new(), Vec::new(), 0);
    for label in labels {
        match label {
            Label::Points { ends, .. } => {
                whole.extend(ends.iter().flat_map(|(low, high)| [i128::from(*low), i128::from(*high) + 1]));
            }
            Label::Stretch { ends, .. } => real.extend(ends.iter().flat_map(|(low, high)| [*low, *high])),
            Label::Members { ranks, .. } => words = words.max(ranks.last().map_or(0, |last| last + 1)),
        }
    }
    match (whole.is_empty(), real.is_empty(), words) {
        (true, true, words) if words <= MAX_WORDS => Some(Cuts::Whole((0..=words as i128).collect())),
        (false, true, 0) => {
            let (first, end) = (whole.iter().copied().min()?, whole.iter().copied().max()?);
            if end - first <= MAX_RANGES as i128 {
                return Some(Cuts::Whole((first..=end).collect()));
            }
            whole.sort_unstable();
            whole.dedup();
            Some(Cuts::Whole(few(&whole)))
        }
        (true, false, 0) => {
            real.sort_unstable_by(f64::total_cmp);
            real.dedup();
            // An attribute with one value has nothing to learn.
            (real.len() > 1).then(|| Cuts::Real(few(&real)))
        }
        _ => None,
    }
}

/// All cuts if they are few, else some of them, the first and the last included.
fn few<T: Copy>(cuts: &[T]) -> Vec<T> {
    if cuts.len() <= MAX_RANGES + 1 {
        return cuts.to_vec();
    }
    (0..=MAX_RANGES).map(|at| cuts[at * (cuts.len() - 1) / MAX_RANGES]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(low: i64, high: i64) -> Label {
        Label::Points { ends: Some((low, high)), missing: false }
    }

    #[test]
    fn few_points_are_atoms_of_their_own() {
        let labels = [points(3, 5), points(4, 9), Label::Points { ends: None, missing: true }];
        let atoms = Atoms::new(&labels).unwrap();
        assert_eq!(atoms.len(), 8);
        assert_eq!(atoms.label(0), Label::Points { ends: None, missing: true });
        assert_eq!(atoms.label(2), points(4, 4));
        assert_eq!(atoms.runs(&points(4, 9)), [Run { from: 2, to: 8, share: 1.0 }]);
    }

    #[test]
    fn many_points_share_atoms_and_labels_cover_parts_of_them() {
        let labels: Vec<Label> = (0..2_000).map(|at| points(at * 1_000, at * 1_000 + 1_999)).collect();
        let atoms = Atoms::new(&labels).unwrap();
        assert_eq!(atoms.len(), MAX_RANGES);
        for label in &labels {
            let covered: f64 = atoms
                .runs(label)
                .iter()
                .map(|run| (run.from..run.to).map(|at| run.share * atoms.sizes[at as usize]).sum::<f64>())
                .sum();
            assert!((covered - 2_000.0).abs() < 1e-6, "{covered}");
        }
    }

    #[test]
    fn the_widest_domains_do_not_overflow() {
        let labels = [points(i64::MIN, i64::MAX), points(0, 0)];
        let atoms = Atoms::new(&labels).unwrap();
        assert_eq!(atoms.len(), 3);
        assert_eq!(atoms.runs(&labels[0]), [Run { from: 0, to: 3, share: 1.0 }]);
        let reals = [
            Label::Stretch { ends: Some((-f64::MAX, f64::MAX)), missing: false },
            Label::Stretch { ends: Some((0.0, 0.0)), missing: false },
        ];
        let atoms = Atoms::new(&reals).unwrap();
        assert_eq!(atoms.runs(&reals[0]), [Run { from: 0, to: 2, share: 1.0 }]);
        assert_eq!(atoms.runs(&reals[1]).len(), 1);
    }

    #[test]
    fn words_are_runs_of_ranks() {
        let labels = [Label::Members { ranks: vec![0, 1, 4], missing: false }];
        let atoms = Atoms::new(&labels).unwrap();
        let runs = [Run { from: 0, to: 2, share: 1.0 }, Run { from: 4, to: 5, share: 1.0 }];
        assert_eq!(atoms.runs(&labels[0]), runs);
        let many = [Label::Members { ranks: vec![MAX_WORDS], missing: false }];
        assert!(Atoms::new(&many).is_none());
    }
}
