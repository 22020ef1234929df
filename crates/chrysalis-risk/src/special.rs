//! Functions that the standard library lacks.

/// ln Γ(x) for x > 0: Stirling's series, after the argument is moved to where six terms give full precision.
pub(crate) fn ln_gamma(x: f64) -> f64 {
    let (mut x, mut shift) = (x, 0.0);
    while x < 12.0 {
        shift += x.ln();
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    let series = 1.0 / 12.0
        - square
            * (1.0 / 360.0
                - square
                    * (1.0 / 1260.0
                        - square * (1.0 / 1680.0 - square * (1.0 / 1188.0 - square * (691.0 / 360_360.0)))));
    (x - 0.5) * x.ln() - x + 0.5 * (2.0 * std::f64::consts::PI).ln() + series / x - shift
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ln_gamma_of_known_arguments() {
        let check = |x: f64, expected: f64| {
            assert!((ln_gamma(x) - expected).abs() <= 1e-14 * expected.abs().max(1.0), "{x}: {}", ln_gamma(x));
        };
        check(1.0, 0.0);
        check(2.0, 0.0);
        check(0.5, std::f64::consts::PI.sqrt().ln());
        check(11.0, 3_628_800f64.ln());
        check(171.0, 706.573_062_245_787_4);
    }
}
