//! The reconstruction error (pa eq. 9) and its lower bound (pa, Theorem 2, where it holds), from what the release
//! shows.

use chrysalis_criteria::Rational;
use chrysalis_criteria::loss::{Rce, RceGroup, reconstruction_error};
use chrysalis_table::Watch;

use crate::Utility;
use crate::measure::GroupCounts;

/// Permuted quasi columns: each sample holds one column. `promised` is the frequency l.
pub(super) fn permuted(
    columns: &[GroupCounts],
    sensitive: &GroupCounts,
    promised: Option<Rational>,
    watch: &dyn Watch,
) -> Utility {
    let moment = |group: usize, power: i32| -> f64 {
        let of_column = |sample: &GroupCounts| -> f64 {
            let group = sample.group(group);
            group.counts().map(|count| (count as f64 / group.size as f64).powi(power)).sum()
        };
        columns.iter().map(of_column).product()
    };
    let groups = groups(sensitive, |group| {
        watch.pause();
        (moment(group, 2), moment(group, 3))
    });
    utility(reconstruction_error(&groups, promised, true))
}

/// Exact quasi values: δ is 1/n.
pub(super) fn exact(sensitive: &GroupCounts, promised: Option<Rational>) -> Utility {
    let groups = groups(sensitive, |group| RceGroup::exact_deltas(sensitive.sizes()[group]));
    utility(reconstruction_error(&groups, promised, false))
}

fn groups(sensitive: &GroupCounts, deltas: impl Fn(usize) -> (f64, f64)) -> Vec<RceGroup> {
    let groups = (0..sensitive.sizes().len()).filter(|&group| sensitive.sizes()[group] > 0);
    let of_group = |index: usize| {
        let group = sensitive.group(index);
        RceGroup::new(group.size, group.counts(), deltas(index))
    };
    groups.map(of_group).collect()
}

fn utility(found: Rce) -> Utility {
    Utility { rce: found.rce, rce_bound: found.bound }
}
