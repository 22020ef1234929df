//! Individual risk: what a class of f rows in the sample, which stands for F people, says about 1/(people who share
//! the key) (spec.md, step 6).

/// Above this class size the series is summed, below it the recurrence is exact enough.
const SERIES_FROM: u64 = 30;

/// E(1/Fₖ | f) by the formulas that sdcMicro uses: exact for f = 1 and 2, approximate for larger classes.
///
/// `people` is what the rows of the class stand for; no fewer than `f`, otherwise every person is in the table and the
/// risk is 1/f.
pub fn approximate_risk(f: u64, people: f64) -> f64 {
    let rows = f as f64;
    let p = rows / people;
    if p.is_nan() || p >= 1.0 {
        return 1.0 / rows;
    }
    let odds = p / (1.0 - p);
    match f {
        0 => 0.0,
        1 => odds * (1.0 / p).ln(),
        // The difference of two nearly equal terms when p is close to 1.
        2 if p > 0.9 => exact_risk(f, people),
        2 => odds - odds * odds * (1.0 / p).ln(),
        _ => p / (rows - (1.0 - p)),
    }
}

/// The same without approximation: ∫₀¹ p·x^(f−1) / (p + (1−p)x) dx.
pub fn exact_risk(f: u64, people: f64) -> f64 {
    let rows = f as f64;
    let p = rows / people;
    if f == 0 {
        return 0.0;
    }
    if p.is_nan() || p >= 1.0 {
        return 1.0 / rows;
    }
    let q = 1.0 - p;
    if q <= 0.5 || f >= SERIES_FROM {
        // p·Σⱼ qʲ·B(f, j+1), all terms positive.
        let mut term = 1.0 / rows;
        let mut sum = term;
        let mut j = 1.0;
        while term > 1e-18 * sum {
            term *= q * j / (rows + j);
            sum += term;
            j += 1.0;
        }
        return p * sum;
    }
    // a·J_f with J_1 = ln((1+a)/a), J_f = 1/(f−1) − a·J_(f−1), which is stable because a < 1.
    let a = p / q;
    let mut j = (1.0 / a).ln_1p();
    for size in 2..=f {
        j = 1.0 / (size - 1) as f64 - a * j;
    }
    a * j
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The integral by Simpson's rule.
    fn integral(f: u64, people: f64) -> f64 {
        let p = f as f64 / people;
        let value = |x: f64| p * x.powi(f as i32 - 1) / (p + (1.0 - p) * x);
        let n = 2_000_000;
        let inner: f64 = (1..n).map(|i| value(f64::from(i) / f64::from(n)) * if i % 2 == 1 { 4.0 } else { 2.0 }).sum();
        (value(0.0) + inner + value(1.0)) / (3.0 * f64::from(n))
    }

    #[test]
    fn the_exact_risk_is_the_integral() {
        for (f, people) in
            [(1, 17.0), (2, 100.0), (3, 108.0), (5, 7.0), (29, 3000.0), (30, 3000.0), (40, 41.0), (7, 14.0)]
        {
            let (found, expected) = (exact_risk(f, people), integral(f, people));
            assert!((found - expected).abs() < 1e-9, "{f} of {people}: {found} {expected}");
        }
    }

    #[test]
    fn a_class_that_is_the_whole_population_has_the_risk_of_its_rows() {
        assert_eq!(approximate_risk(4, 4.0), 0.25);
        assert_eq!(exact_risk(4, 3.0), 0.25);
        assert!((exact_risk(1, 1.000_001) - 1.0).abs() < 1e-6);
        assert!((approximate_risk(2, 2.000_001) - 0.5).abs() < 1e-6);
    }

    /// sdcMicro's own test of `indivRisk`, whose weights are those of Capobianchi, Polettini and Lucarelli.
    #[test]
    fn sdcmicro_individual_risks() {
        let classes = [(3, 108.0), (1, 45.5), (1, 17.0), (2, 100.0), (1, 123.5)];
        let approximate = [0.013_698_63, 0.085_791_29, 0.177_075_83, 0.018_778_83, 0.039_316_25];
        let exact = [0.013_552_97, 0.085_791_29, 0.177_075_83, 0.018_778_83, 0.039_316_25];
        for (at, &(f, people)) in classes.iter().enumerate() {
            assert!((approximate_risk(f, people) - approximate[at]).abs() < 5e-9);
            assert!((exact_risk(f, people) - exact[at]).abs() < 5e-9);
        }
    }
}
