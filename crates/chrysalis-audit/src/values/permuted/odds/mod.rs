//! How likely a random permutation is to show what a release shows; `spec.md` has the formulas.

use std::collections::BTreeMap;
use std::sync::Arc;

/// Shares of people who could have been left beside their own value: one test each, which is sharpest for that share.
const LEFT: [f64; 10] = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 0.6, 0.9, 0.99, 0.999];
/// How much rarer than by chance own values could have been made: one test each.
const RARER: [f64; 6] = [0.0, 0.3, 0.6, 0.8, 0.9, 0.97];
/// Tests of one board.
const TESTS: usize = LEFT.len() + RARER.len();
/// Groups up to this size are counted exactly: beyond it, terms leave the range of a float, and bounds take over.
const EXACT: usize = 512;
/// Groups up to this size need no logarithms: no term is above 999^64·2^64·e^64.
const SMALL: usize = 64;
/// What rounding may add to a sum of terms of both signs, relative to the sum of their absolute values.
const ROUNDING: f64 = 1e-10;
/// What rounding may take from a logarithm of positive terms.
const SLACK: f64 = 1e-9;

/// The rows of one group, and which of them would show their person's own value if nothing had been permuted.
#[derive(Clone, Debug, Default)]
pub(super) struct Board {
    /// Rows of the group.
    pub(super) rows: u32,
    /// One entry per value that some row wants.
    pub(super) blocks: Vec<Block>,
}

/// One value of a group.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Block {
    /// Rows that want this value: their person has it, and they want no other.
    pub(super) wanting: u32,
    /// How often the group has the value.
    pub(super) copies: u32,
    /// Rows among `wanting` that show it.
    pub(super) found: u32,
    /// Rows among `wanting` that would show it for certain if nothing had been permuted.
    pub(super) if_true: u32,
}

/// What all groups say together.
#[derive(Clone, Debug, Default)]
pub(super) struct Evidence {
    /// Rows that could show their person's own value.
    pub(super) wanting: u64,
    /// Those that do.
    pub(super) found: u64,
    /// How many a random permutation shows on average.
    pub(super) expected: f64,
    /// ln of the ratio of what is seen to what a random permutation gives, per test.
    many: [f64; LEFT.len()],
    few: [f64; RARER.len()],
    /// The same for rows in their true order.
    if_true: [f64; LEFT.len()],
}

impl Evidence {
    /// ln of an upper bound on the chance that a random permutation shows so many or so few.
    ///
    /// PROOF: every ratio has mean one or less under a random permutation, so it reaches 1/p with a chance of at most p
    /// (Markov), and one of `TESTS` of them does so with a chance of at most `TESTS`·p.
    pub(super) fn ln_chance(&self) -> f64 {
        ln_chance(self.many.iter().chain(&self.few))
    }

    /// Leaves open what the true order would show.
    pub(super) fn without_true_order(self) -> Evidence {
        Evidence { if_true: [f64::NEG_INFINITY; LEFT.len()], ..self }
    }

    /// The same if nothing had been permuted: unless that chance is small, nothing could have been noticed.
    pub(super) fn ln_chance_if_true(&self) -> f64 {
        ln_chance(self.if_true.iter())
    }
}

fn ln_chance<'a>(ratios: impl Iterator<Item = &'a f64>) -> f64 {
    let best = ratios.copied().fold(f64::NEG_INFINITY, f64::max);
    ((TESTS as f64).ln() - best).min(0.0)
}

/// ln of the means of every test for one kind of board.
struct Means {
    many: [f64; LEFT.len()],
    few: [f64; RARER.len()],
}

/// Rows, and what every block wants and has.
type Kind = (u32, Vec<(u32, u32)>);

/// Means of boards, each kind computed once.
pub(super) struct Odds {
    /// ln k! by k.
    ln_factorials: Vec<f64>,
    known: BTreeMap<Kind, Arc<Means>>,
}

impl Odds {
    /// For groups of up to `most_rows` rows.
    pub(super) fn new(most_rows: usize) -> Odds {
        let mut ln_factorials = vec![0.0; most_rows + 1];
        (1..=most_rows).for_each(|k| ln_factorials[k] = ln_factorials[k - 1] + (k as f64).ln());
        Odds { ln_factorials, known: BTreeMap::new() }
    }

    /// Adds what a group says.
    pub(super) fn add(&mut self, board: &Board, evidence: &mut Evidence) {
        let rows = f64::from(board.rows);
        let blocks = board.blocks.iter().filter(|block| block.wanting > 0 && block.copies > 0);
        let mut kind: Vec<(u32, u32)> = blocks.clone().map(|block| (block.wanting, block.copies)).collect();
        if kind.is_empty() {
            return;
        }
        kind.sort_unstable();
        let means = self.means((board.rows, kind));
        let mut found = 0;
        for block in blocks {
            evidence.wanting += u64::from(block.wanting);
            evidence.expected += f64::from(block.wanting) * f64::from(block.copies) / rows;
            found += block.found;
            for (at, &left) in LEFT.iter().enumerate() {
                let factor = (odds(left) * rows / f64::from(block.copies)).ln_1p();
                evidence.many[at] += f64::from(block.found) * factor;
                evidence.if_true[at] += f64::from(block.if_true) * factor;
            }
        }
        evidence.found += u64::from(found);
        for (at, mean) in means.many.iter().enumerate() {
            evidence.many[at] -= mean;
            evidence.if_true[at] -= mean;
        }
        for (at, (&rarer, mean)) in RARER.iter().zip(&means.few).enumerate() {
            // 0·ln 0 counts as 0, because 0^0 is 1.
            evidence.few[at] += if found == 0 { 0.0 } else { f64::from(found) * rarer.ln() };
            evidence.few[at] -= mean;
        }
    }

    fn means(&mut self, kind: Kind) -> Arc<Means> {
        if let Some(known) = self.known.get(&kind) {
            return Arc::clone(known);
        }
        let means = Arc::new(self.computed(&kind));
        self.known.insert(kind, Arc::clone(&means));
        means
    }

    fn computed(&self, (rows, blocks): &Kind) -> Means {
        let n = *rows as usize;
        let mean: f64 = blocks.iter().map(|&(wanting, copies)| f64::from(wanting) * f64::from(copies)).sum::<f64>();
        let bounds = RARER.map(|rarer| lower_bound(mean / f64::from(*rows), rarer));
        if n > EXACT {
            let wanting = blocks.iter().map(|&(wanting, _)| wanting as usize).sum::<usize>().min(n);
            return Means { many: LEFT.map(|left| self.all_different(n, wanting, odds(left)) + SLACK), few: bounds };
        }
        // Rooks on the board, by their number: weighed by 1/copies for many, by 1/n for few.
        let weighed = rooks(blocks, f64::from);
        let plain = rooks(blocks, |_| f64::from(*rows));
        let (many, few) = if n <= SMALL {
            let scale = |coefficients: Vec<f64>| -> Vec<f64> {
                let scaled = coefficients.iter().enumerate();
                scaled.map(|(k, coefficient)| coefficient * self.ln_places(n, k).exp()).collect()
            };
            let (weighed, plain) = (scale(weighed), scale(plain));
            let many = LEFT.map(|left| horner(&weighed, odds(left)).ln());
            (many, RARER.map(|rarer| horner(&plain, rarer - 1.0) + ROUNDING * horner(&plain, 1.0 - rarer)))
        } else {
            let terms = |coefficients: &[f64], factor: f64| -> Vec<f64> {
                let terms = coefficients.iter().enumerate();
                terms.map(|(k, c)| c.ln() + k as f64 * factor.ln() + self.ln_places(n, k)).collect()
            };
            let many = LEFT.map(|left| ln_sum(&terms(&weighed, odds(left))));
            let few = RARER.map(|rarer| {
                let terms = terms(&plain, 1.0 - rarer).into_iter().map(f64::exp).enumerate();
                let (signed, size) = terms.fold((0.0, 0.0), |(signed, size), (k, term)| {
                    (if k % 2 == 0 { signed + term } else { signed - term }, size + term)
                });
                signed + ROUNDING * size
            });
            (many, few)
        };
        let mut few = few.map(|mean: f64| if mean > 0.0 { mean.ln() } else { f64::INFINITY });
        few.iter_mut().zip(bounds).for_each(|(exact, bound)| *exact = exact.min(bound));
        Means { many: many.map(|mean| mean + SLACK), few: few.map(|mean| mean + SLACK) }
    }

    /// ln n^k·(n−k)!/n!.
    fn ln_places(&self, n: usize, k: usize) -> f64 {
        k as f64 * (n as f64).ln() + self.ln_factorials[n - k] - self.ln_factorials[n]
    }

    /// ln Σ C(D,k)·κ^k·n^k·(n−k)!/n!: the mean where all values differ, and an upper bound on it where they do not.
    fn all_different(&self, n: usize, wanting: usize, odds: f64) -> f64 {
        let ln = &self.ln_factorials;
        let term = |k: usize| ln[wanting] - ln[k] - ln[wanting - k] + k as f64 * odds.ln() + self.ln_places(n, k);
        ln_sum(&(0..=wanting).map(term).collect::<Vec<f64>>())
    }
}

/// ε/(1−ε).
fn odds(share: f64) -> f64 {
    share / (1.0 - share)
}

/// Coefficients of Π over blocks of Σ_j C(wanting,j)·copies·(copies−1)…(copies−j+1)·(x/scale)^j.
fn rooks(blocks: &[(u32, u32)], scale: impl Fn(u32) -> f64) -> Vec<f64> {
    let mut product = vec![1.0];
    for &(wanting, copies) in blocks {
        let (mut factor, mut term) = (vec![1.0], 1.0);
        for j in 0..wanting.min(copies) {
            term *= f64::from(wanting - j) / f64::from(j + 1) * f64::from(copies - j) / scale(copies);
            factor.push(term);
        }
        let mut next = vec![0.0; product.len() + factor.len() - 1];
        for (at, a) in product.iter().enumerate() {
            factor.iter().enumerate().for_each(|(by, b)| next[at + by] += a * b);
        }
        product = next;
    }
    product
}

fn horner(coefficients: &[f64], x: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, coefficient| sum * x + coefficient)
}

fn ln_sum(logarithms: &[f64]) -> f64 {
    let most = logarithms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    most + logarithms.iter().map(|ln| (ln - most).exp()).sum::<f64>().ln()
}

/// ln of an upper bound on the mean of z^X, whatever the board: X has mean μ, and ln E e^{θ(X−μ)} ≤ μθ² for θ ≤ 0
/// (Chatterjee 2007, theorem 1.5 with proposition 1.1).
fn lower_bound(mean: f64, rarer: f64) -> f64 {
    let theta = rarer.ln().max(-0.5);
    mean * theta * (1.0 + theta)
}

#[cfg(test)]
mod tests;
