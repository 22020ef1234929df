/// Kullback-Leibler divergence in nats: Σ p ln(p/q) over pairs of an actual share p and the share q that a reader of
/// the release would reconstruct (lalpha, section 3.1; angel, equation 7).
///
/// Pairs with p = 0 add nothing. Infinite where something that occurs is thought impossible.
pub fn kl_divergence(shares: impl Iterator<Item = (f64, f64)>) -> f64 {
    shares.filter(|(actual, _)| *actual > 0.0).map(|(actual, guess)| actual * (actual / guess).ln()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_distributions_are_no_distance_apart() {
        assert_eq!(kl_divergence([(0.5, 0.5), (0.5, 0.5), (0.0, 0.3)].into_iter()), 0.0);
    }

    #[test]
    fn half_the_rows_spread_over_two_cells_cost_half_a_bit() {
        let found = kl_divergence([(0.5, 0.5), (0.5, 0.25)].into_iter());
        assert!((found - 0.5 * 2f64.ln()).abs() < 1e-15);
        assert!(kl_divergence([(1.0, 0.0)].into_iter()).is_infinite());
    }
}
