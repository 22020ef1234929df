//! Step 6: the cheapest vector of levels that passes for all rows at once.

use std::collections::BTreeSet;

use chrysalis_table::SaCounts;

use super::Table;

/// Vectors looked at.
const MOST_VECTORS: usize = 2_000;

/// Goes down from the top through vectors that pass: what fails fails further down too, by monotonicity.
pub(super) fn cheapest(table: &Table<'_>, rows: &[u32], top: &[u8]) -> Vec<u8> {
    let means: Vec<Vec<f64>> = (0..top.len())
        .map(|attribute| {
            let mean = |level: u8| rows.iter().map(|&row| table.label(attribute, level, row).1).sum::<f64>();
            (0..=top[attribute]).map(mean).collect()
        })
        .collect();
    let cost = |levels: &[u8]| levels.iter().zip(&means).map(|(&level, means)| means[level as usize]).sum::<f64>();
    let mut best = (cost(top), top.to_vec());
    let mut seen: BTreeSet<Vec<u8>> = BTreeSet::from([top.to_vec()]);
    let mut waiting = vec![top.to_vec()];
    while let Some(levels) = waiting.pop() {
        for attribute in (0..levels.len()).filter(|&attribute| levels[attribute] > 0) {
            let mut finer = levels.clone();
            finer[attribute] -= 1;
            if seen.len() >= MOST_VECTORS || !seen.insert(finer.clone()) || !passes(table, rows, &finer) {
                continue;
            }
            let cost = cost(&finer);
            if cost < best.0 {
                best = (cost, finer.clone());
            }
            waiting.push(finer);
        }
    }
    best.1
}

fn passes(table: &Table<'_>, rows: &[u32], levels: &[u8]) -> bool {
    // Cells may share a slot by chance, so a slot with too few rows has only cells with too few rows.
    let mut slots = vec![0u32; (2 * rows.len()).next_power_of_two()];
    let shift = 64 - slots.len().ilog2();
    let mut keyed: Vec<(u64, u32)> = Vec::with_capacity(rows.len());
    for &row in rows {
        let mix = |key: u64, label: u32| (key.rotate_left(23) ^ u64::from(label)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let labels = levels.iter().enumerate().map(|(attribute, &level)| table.label(attribute, level, row).0);
        let key = labels.fold(0, mix);
        keyed.push((key, row));
        slots[(key >> shift) as usize] += 1;
    }
    if slots.iter().any(|&n| n > 0 && u64::from(n) < table.goal.least_size()) {
        return false;
    }
    keyed.sort_unstable();
    let mut counts = SaCounts::new(table.n_values);
    keyed.chunk_by(|a, b| a.0 == b.0).all(|cell| {
        counts.clear();
        cell.iter().for_each(|&(_, row)| counts.add(table.value(row)));
        table.goal.holds(&counts)
    })
}
