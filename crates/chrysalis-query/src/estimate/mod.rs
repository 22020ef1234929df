//! Hits per group: how many of a group's rows satisfy the condition on the quasi side (step 6 of `spec.md`).
//!
//! This is the boundary between forms. There is one file per way of showing quasi values, which turns a condition into
//! [`Hit`]s; everything after that, in `aggregate`, is the same for all of them.

mod exact;
mod group_boxes;
mod keys;
mod one_box;
mod permuted;
mod row_boxes;
mod rows;
mod share;

use chrysalis_release::Detail;

use crate::{OpenRelease, Plan, QueryError};
pub(crate) use group_boxes::Split;
pub(crate) use keys::{HitsByKey, KeyValues};
pub(crate) use rows::{MatchingRows, RowHits, RowsByKey, matching_rows};
pub(crate) use share::{Measure, n_points};

/// What is known about the hits in one group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Hit {
    /// The group.
    pub(crate) group: u32,
    /// The least number of rows that match.
    pub(crate) least: u32,
    /// The most rows that can match; never 0.
    pub(crate) most: u32,
    /// The expected number of rows that match, over all worlds the release allows.
    pub(crate) expected: f64,
    /// The expected number of rows that do not match. It is computed separately to stay precise where it is small.
    pub(crate) others: f64,
    /// The variance of the number of rows that match.
    pub(crate) variance: f64,
}

impl Hit {
    /// A group of `size` rows whose number of hits is known.
    pub(crate) fn certain(group: usize, hits: u32, size: u32) -> Self {
        let others = f64::from(size.saturating_sub(hits));
        Hit { group: group as u32, least: hits, most: hits, expected: f64::from(hits), others, variance: 0.0 }
    }
}

impl Hit {
    /// The hits that also satisfy a condition on a sensitive attribute other than the one asked about. `c` of the
    /// group's `n` rows satisfy it, and which they are is unknown. `None` if there can be no such hit (step 6a).
    pub(crate) fn thinned(&self, n: u32, c: u32) -> Option<Hit> {
        // PROOF: at most n − c hits fall on other rows, so at least least + c − n fall on these.
        let least = (u64::from(self.least) + u64::from(c)).saturating_sub(u64::from(n)) as u32;
        let most = self.most.min(c);
        if most == 0 {
            return None;
        }
        let (rows, share) = (f64::from(n), f64::from(c) / f64::from(n));
        let expected = self.expected * share;
        let others = self.others + self.expected * (f64::from(n - c) / rows);
        let variance = variance_of_draw(self, rows, share, share * (1.0 - share));
        Some(Hit { group: self.group, least, most, expected, others, variance })
    }
}

/// The variance of Σz over the hits of one group of `n` rows, where z has this mean and variance over the rows: a draw
/// without replacement of an uncertain number of rows.
pub(crate) fn variance_of_draw(hit: &Hit, n: f64, mean: f64, variance: f64) -> f64 {
    // E[h(n−h)] = e(n−e) − v.
    let spread = hit.expected * hit.others - hit.variance;
    let drawn = if n > 1.0 { (spread / (n - 1.0)).max(0.0) * variance } else { 0.0 };
    drawn + hit.variance * mean * mean
}

/// The hits of one of the plan's conditions, for every combination of values of the quasi attributes in GROUP BY.
///
/// # Contract
/// Groups that cannot have a hit are left out. Combinations are in ascending order, and so are the groups within one.
/// In every world that the release allows, the number of hits in a group lies between `least` and `most`.
pub(crate) fn hits(
    release: &OpenRelease,
    plan: &Plan,
    condition: usize,
    keys: &[usize],
) -> Result<HitsByKey, QueryError> {
    let condition = &plan.conditions[condition];
    let mut found = match plan.shape.detail {
        Detail::Exact => exact::hits(release, plan, condition, keys),
        Detail::Permuted => permuted::hits(release, plan, condition, keys),
        Detail::GroupBoxes => group_boxes::hits(release, plan, condition, keys),
        Detail::RowBoxes => row_boxes::hits(release, plan, condition, keys),
    }?;
    if release.has_counterfeits() {
        // Step 6c. A counterfeit value is that of a row which nobody has, and which never matches.
        for hit in found.combinations.iter_mut().flat_map(|one| one.pieces.iter_mut()).flatten() {
            let group = hit.group as usize;
            hit.others += f64::from(release.size(group) - release.groups().size(group));
        }
    }
    Ok(found)
}
