//! COUNT(DISTINCT …) (step 9d of `spec.md`).

use std::collections::{BTreeMap, BTreeSet};

use super::Estimate;
use super::choice::Chosen;

pub(super) fn distinct(groups: &[Chosen]) -> Estimate {
    let mut can: BTreeMap<u64, f64> = BTreeMap::new();
    let (mut must, mut at_least, mut at_most, mut ranges) = (BTreeSet::new(), 0_usize, 0_u64, 0_u64);
    for group in groups {
        let mut by_value: BTreeMap<u64, u32> = BTreeMap::new();
        let mut of_group = 0_u64;
        let mut has_ranges = false;
        for pick in &group.picks {
            if pick.low != pick.high {
                has_ranges = true;
                continue;
            }
            let key = (pick.low + 0.0).to_bits();
            let miss = (1.0 - group.chance(pick)).powf(f64::from(pick.count));
            *can.entry(key).or_insert(1.0) *= miss;
            *by_value.entry(key).or_insert(0) += if pick.is_certain { pick.count } else { 0 };
        }
        of_group += by_value.len() as u64;
        let certain: u32 = by_value.values().sum();
        if has_ranges {
            // A value in a range may be any; the group adds no more values than it has hits.
            ranges += u64::from(group.most);
            at_least = at_least.max(usize::from(group.must > 0));
            continue;
        }
        at_most += of_group.min(u64::from(group.most));
        // A value is hit in every world where the others are too few for the hits.
        must.extend(by_value.iter().filter(|(_, count)| group.must > certain - **count).map(|(key, _)| *key));
        // The fewest values that `must` hits can share.
        let mut counts: Vec<u32> = by_value.values().copied().collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let (mut covered, mut fewest) = (0, 0);
        for count in counts {
            if covered >= group.must {
                break;
            }
            covered += count;
            fewest += 1;
        }
        at_least = at_least.max(fewest);
    }
    let lower = at_least.max(must.len()) as f64;
    let upper = (can.len() as u64).min(at_most).saturating_add(ranges) as f64;
    let chances = || can.values().map(|miss| (1.0 - miss, *miss));
    let estimate: f64 = chances().map(|(hit, _)| hit).sum();
    let variance: f64 = chances().map(|(hit, miss)| hit * miss).sum();
    let (estimate, error) =
        if ranges > 0 { ((lower + upper) / 2.0, (upper - lower) / 4.0) } else { (estimate, variance.max(0.0).sqrt()) };
    Estimate { estimate: Some(estimate), lower: Some(lower), upper: Some(upper), std_error: Some(error) }.inside()
}
