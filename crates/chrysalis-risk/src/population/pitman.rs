use super::Histogram;
use super::newton::{Pair, Point, root};
use crate::special::ln_gamma;

/// Step 4.2. Population uniques by Pitman's sampling formula, with θ and α of greatest likelihood.
pub(super) fn uniques(sample: &Histogram, population: f64) -> Option<f64> {
    let likelihood = Likelihood::new(sample);
    let starts = std::iter::once(likelihood.guess()).chain(likelihood.starts());
    let small = |[_, alpha]: Pair, at: &Point| {
        // Sums of so many terms are known to about ten digits.
        let slack = 1e-6 + 1e-11 * likelihood.n_classes / alpha;
        at.value.iter().all(|value| value.abs() <= slack)
    };
    let mut fits = starts.filter_map(|start| root(start, |at| likelihood.slopes(at), small));
    let [theta, alpha] = fits.next()?;
    let found = (ln_gamma(theta + 1.0) - ln_gamma(theta + alpha) + alpha * population.ln()).exp();
    Some(found).filter(|found| (0.0..=population).contains(found))
}

/// The likelihood of class sizes.
struct Likelihood {
    rows: f64,
    n_classes: f64,
    uniques: f64,
    pairs: f64,
    /// How many classes have more than j rows, for j = 1, 2, …: stretches of sizes over which that does not change.
    larger: Vec<(u64, u64, f64)>,
}

impl Likelihood {
    fn new(sample: &Histogram) -> Self {
        let n_classes = sample.n_classes();
        let mut larger = Vec::new();
        let (mut from, mut left) = (1, n_classes);
        for (size, classes) in sample.iter() {
            if size > from {
                larger.push((from, size, left));
                from = size;
            }
            left -= classes;
        }
        let (uniques, pairs) = (sample.classes_of(1), sample.classes_of(2));
        Likelihood { rows: sample.rows(), n_classes, uniques, pairs, larger }
    }

    /// Hoshino's first guess, from the first two class sizes.
    fn guess(&self) -> Pair {
        let (n, u, c1) = (self.rows, self.n_classes, self.uniques);
        let pairs = if self.pairs == 0.0 { 1.0 } else { self.pairs };
        let c = c1 * (c1 - 1.0) / pairs;
        let theta = (n * u * c - c1 * (n - 1.0) * (2.0 * u + c)) / (2.0 * c1 * u + c1 * c - n * c);
        [theta, (theta * (c1 - n) + (n - 1.0) * c1) / (n * u)]
    }

    /// Where to begin if the first guess leads nowhere.
    fn starts(&self) -> impl Iterator<Item = Pair> + use<> {
        let u = self.n_classes;
        let thetas = [0.01, 0.1, 1.0, 10.0].map(|share| share * u).into_iter().chain([1.0]);
        thetas.flat_map(|theta| [0.5, 0.1, 0.9].map(|alpha| [theta, alpha]))
    }

    /// The slopes of the logarithm of the likelihood, which are zero where it is greatest, and their derivatives.
    /// `None` outside 0 < α < 1, θ ≥ 0.
    fn slopes(&self, [theta, alpha]: Pair) -> Option<Point> {
        if !((0.0..f64::INFINITY).contains(&theta) && alpha > 0.0 && alpha < 1.0) {
            return None;
        }
        // Σ over classes i = 1..u−1 of 1/(θ+iα), and its relatives.
        let (mut o1, mut o3, mut d1, mut d3, mut d5) = (0.0, 0.0, 0.0, 0.0, 0.0);
        for i in 1..self.n_classes.round() as u64 {
            let i = i as f64;
            let inverse = 1.0 / (theta + i * alpha);
            let square = inverse * inverse;
            o1 += inverse;
            o3 += i * inverse;
            d1 += square;
            d5 += i * square;
            d3 += i * i * square;
        }
        // Σ over rows i = 1..n−1 of 1/(θ+i).
        let (mut o2, mut d2) = (0.0, 0.0);
        for i in 1..self.rows.round() as u64 {
            let inverse = 1.0 / (theta + i as f64);
            o2 += inverse;
            d2 += inverse * inverse;
        }
        // Σ over classes of size s of Σ_{j=1..s−1} 1/(j−α), summed by j.
        let (mut o4, mut d4) = (0.0, 0.0);
        for &(from, to, classes) in &self.larger {
            for j in from..to {
                let inverse = 1.0 / (j as f64 - alpha);
                o4 += classes * inverse;
                d4 += classes * inverse * inverse;
            }
        }
        let value = [o1 - o2, o3 - o4];
        let derivatives = [[d2 - d1, -d5], [-d5, -d3 - d4]];
        value.iter().all(|value| value.is_finite()).then_some(Point { value, derivatives })
    }
}
