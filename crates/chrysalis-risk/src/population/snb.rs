use super::Histogram;
use super::newton::{Pair, Point, root};

/// Step 4.3. Population uniques by the shifted negative binomial, whose α and β make the expected numbers of sample
/// classes of one and of two rows those that were found.
pub(super) fn uniques(sample: &Histogram, population: f64) -> Option<f64> {
    let fraction = sample.rows() / population;
    let equations = Equations {
        classes: population_classes(sample, fraction),
        fraction,
        uniques: sample.classes_of(1),
        pairs: sample.classes_of(2),
    };
    if equations.pairs == 0.0 {
        // Only β = 1 expects no pairs, and then the number of uniques fits by accident or not at all.
        return None;
    }
    let starts = [0.1, 0.01, 1.0, 10.0, 0.001].into_iter().flat_map(|a| [0.1, 0.5, 0.01, 0.9, 0.99].map(|b| (a, b)));
    let small = |_: Pair, at: &Point| at.value.iter().all(|value| value.abs() <= 1e-9);
    let mut fits = starts.filter_map(|(alpha, beta): (f64, f64)| {
        root([alpha.ln(), (beta / (1.0 - beta)).ln()], |at| equations.at(at), small)
    });
    let [alpha, beta] = parameters(fits.next()?);
    Some(equations.classes * beta.powf(alpha)).filter(|found| (0.0..=population).contains(found))
}

/// Shlosser's estimate of the number of classes in the population.
fn population_classes(sample: &Histogram, fraction: f64) -> f64 {
    let missed = 1.0 - fraction;
    let (mut above, mut below) = (0.0, 0.0);
    for (size, classes) in sample.iter() {
        above += classes * missed.powf(size as f64);
        below += classes * size as f64 * fraction * missed.powf(size as f64 - 1.0);
    }
    sample.n_classes() + sample.classes_of(1) * above / below
}

struct Equations {
    classes: f64,
    fraction: f64,
    uniques: f64,
    pairs: f64,
}

/// Solved in ln α and logit β, so that every step stays where α > 0 and 0 < β < 1.
fn parameters([ln_alpha, logit_beta]: Pair) -> Pair {
    [ln_alpha.exp(), 1.0 / (1.0 + (-logit_beta).exp())]
}

impl Equations {
    /// What is expected of each class size, as a share of what was found, less one.
    fn errors(&self, at: Pair) -> Pair {
        let ([alpha, beta], f) = (parameters(at), self.fraction);
        let x = (1.0 - f) * (1.0 - beta);
        // The probability generating function of a class's size less one, at 1−f.
        let none = (beta / (1.0 - x)).powf(alpha);
        let one = f * none * (alpha * x / (1.0 - x) + 1.0);
        let two = f * f / 2.0 * none * alpha * (1.0 - beta) / ((1.0 - x) * (1.0 - x)) * (2.0 - (1.0 - alpha) * x);
        [self.classes * one / self.uniques - 1.0, self.classes * two / self.pairs - 1.0]
    }

    fn at(&self, at: Pair) -> Option<Point> {
        const STEP: f64 = 1e-6;
        let value = self.errors(at);
        let along = |which: usize| {
            let (mut before, mut after) = (at, at);
            before[which] -= STEP;
            after[which] += STEP;
            let (low, high) = (self.errors(before), self.errors(after));
            [(high[0] - low[0]) / (2.0 * STEP), (high[1] - low[1]) / (2.0 * STEP)]
        };
        let (by_alpha, by_beta) = (along(0), along(1));
        let derivatives = [[by_alpha[0], by_beta[0]], [by_alpha[1], by_beta[1]]];
        let is_finite = value.iter().chain(derivatives.iter().flatten()).all(|value| value.is_finite());
        is_finite.then_some(Point { value, derivatives })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A population whose classes are exactly those of the model, α = 0.5 and β = 0.2, of which every class loses rows
    /// exactly as expected: the fit finds the parameters again.
    #[test]
    fn the_model_finds_its_own_parameters() {
        let (alpha, beta, f, classes): (f64, f64, f64, f64) = (0.5, 0.2, 0.3, 1e6);
        let truth = Equations { classes, fraction: f, uniques: 1.0, pairs: 1.0 };
        let [one, two] = truth.errors([alpha.ln(), (beta / (1.0 - beta)).ln()]);
        let equations = Equations { uniques: one + 1.0, pairs: two + 1.0, ..truth };
        let small = |_: Pair, at: &Point| at.value.iter().all(|value| value.abs() <= 1e-9);
        let found = parameters(root([0.0, 0.0], |at| equations.at(at), small).expect("a fit"));
        assert!((found[0] - alpha).abs() < 1e-6 && (found[1] - beta).abs() < 1e-6, "{found:?}");
        // One row in 1/f of a class of one, and so on: summed over sizes, the closed form.
        let mut direct = 0.0;
        let mut weight = beta.powf(alpha);
        for extra in 0..10_000 {
            let size = f64::from(extra) + 1.0;
            direct += weight * size * f * (1.0 - f).powf(size - 1.0);
            weight *= (alpha + f64::from(extra)) / (f64::from(extra) + 1.0) * (1.0 - beta);
        }
        assert!((direct * classes - one - 1.0).abs() < 1e-6 * direct * classes);
    }
}
