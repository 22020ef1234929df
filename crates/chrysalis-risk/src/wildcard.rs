//! How many rows match a key if a missing value matches anything (spec.md, step 2).

use std::hash::Hash;

use chrysalis_table::Watch;
use foldhash::fast::FixedState;
use hashbrown::HashMap;

use crate::keys::Keys;

/// For every key, the sum of `mass` over the keys that match it, itself included.
pub(crate) fn matching(keys: &Keys, mass: &[f64], watch: &dyn Watch) -> Vec<f64> {
    let n_bits: u32 = keys.n_codes.iter().map(|&n| bits(n)).sum();
    if n_bits <= u128::BITS {
        sums(keys, mass, watch, |key, kept| packed(keys, key, kept))
    } else {
        sums(keys, mass, watch, |key, kept| -> Box<[u32]> {
            let codes = keys.codes(key).iter().enumerate();
            codes.filter(|(at, _)| kept >> at & 1 == 1).map(|(_, &code)| code).collect()
        })
    }
}

fn bits(n: usize) -> u32 {
    usize::BITS - n.saturating_sub(1).leading_zeros()
}

/// The codes of the columns `kept`, as one number.
fn packed(keys: &Keys, key: u32, kept: u64) -> u128 {
    let codes = keys.codes(key).iter().zip(&keys.n_codes).enumerate();
    codes.filter(|(at, _)| kept >> at & 1 == 1).fold(0, |all, (_, (&code, &n))| all << bits(n) | u128::from(code))
}

fn sums<K: Hash + Eq>(keys: &Keys, mass: &[f64], watch: &dyn Watch, project: impl Fn(u32, u64) -> K) -> Vec<f64> {
    // Step 2.1. Keys by pattern: the set of columns in which they lack a value.
    let mut patterns: Vec<(u64, Vec<u32>)> = Vec::new();
    let mut place: HashMap<u64, usize, FixedState> = HashMap::default();
    for key in 0..keys.len() as u32 {
        let pattern = keys.missing(key);
        let at = *place.entry(pattern).or_insert_with(|| {
            patterns.push((pattern, Vec::new()));
            patterns.len() - 1
        });
        patterns[at].1.push(key);
    }
    let every = u64::MAX.checked_shr(64 - keys.n_columns as u32).unwrap_or(0);
    let mut totals = vec![0.0; keys.len()];
    let mut step = 0usize;
    for (pattern, members) in &patterns {
        // Step 2.2. The columns that this pattern and another one both have, and the patterns that leave these.
        let mut others: Vec<(u64, usize)> =
            patterns.iter().enumerate().map(|(at, (other, _))| (every & !(pattern | other), at)).collect();
        others.sort_unstable();
        for together in others.chunk_by(|(a, _), (b, _)| a == b) {
            let kept = together[0].0;
            // Step 2.3. What members add up to for each combination of the columns kept; then every key of the other
            // patterns looks its own up.
            let mut sum: HashMap<K, f64, FixedState> = HashMap::default();
            for &key in members {
                step += 1;
                watch.pause_at(step);
                *sum.entry(project(key, kept)).or_default() += mass[key as usize];
            }
            for &(_, other) in together {
                for &key in &patterns[other].1 {
                    step += 1;
                    watch.pause_at(step);
                    totals[key as usize] += sum.get(&project(key, kept)).copied().unwrap_or(0.0);
                }
            }
        }
    }
    totals
}
