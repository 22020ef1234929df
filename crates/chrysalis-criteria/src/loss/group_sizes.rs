/// Discernibility (DM): Σ n² over groups; every row is charged the size of its group.
pub fn discernibility(sizes: impl Iterator<Item = u64>) -> u128 {
    sizes.map(|size| u128::from(size) * u128::from(size)).sum()
}

/// Normalized average group size (CAVG): (rows / groups) / k. 1 is the best a k-anonymous partition can reach.
pub fn average_group_size(rows: u64, groups: u64, k: u64) -> f64 {
    rows as f64 / groups as f64 / k as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_five_and_four() {
        assert_eq!(discernibility([5, 4].into_iter()), 41);
        assert!((average_group_size(9, 2, 4) - 1.125).abs() < 1e-12);
    }
}
