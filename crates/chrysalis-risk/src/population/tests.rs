use super::*;

/// The class sizes of Adult (its training rows without missing values, nine columns) and how many classes have them,
/// counted by pandas.
const ADULT: [(u64, u32); 34] = [
    (1, 15_512),
    (2, 2_098),
    (3, 754),
    (4, 375),
    (5, 189),
    (6, 155),
    (7, 97),
    (8, 73),
    (9, 39),
    (10, 37),
    (11, 29),
    (12, 18),
    (13, 23),
    (14, 14),
    (15, 15),
    (16, 9),
    (17, 11),
    (18, 10),
    (19, 10),
    (20, 5),
    (21, 3),
    (22, 4),
    (23, 3),
    (24, 2),
    (25, 1),
    (26, 3),
    (27, 5),
    (29, 1),
    (30, 2),
    (32, 1),
    (34, 1),
    (35, 1),
    (36, 1),
    (45, 1),
];

fn adult() -> Histogram {
    Histogram::new(ADULT.iter().map(|&(size, count)| (size, f64::from(count))).collect())
}

#[track_caller]
fn close(found: Option<f64>, expected: f64, digits: f64) {
    let found = found.expect("the model fits");
    assert!((found - expected).abs() < digits, "{found} instead of {expected}");
}

#[test]
fn arx_adult_figures() {
    let adult = adult();
    let n = adult.rows();
    assert_eq!((n, adult.n_classes()), (30_162.0, 19_502.0));
    let found = PopulationUniques::estimate(&adult, n / 0.1);
    close(found.zayatz, 0.320_740_239_3, 1e-10);
    close(found.pitman, 0.276_849_94, 1e-8);
    assert_eq!(found.chosen, Some(Model::Pitman));
    // ARX compares these with four digits.
    let chosen = |fraction: f64| PopulationUniques::estimate(&adult, n / fraction).chosen_share();
    close(chosen(0.01), 0.144_608_35, 1e-8);
    close(chosen(0.2), 0.357_709_923_48, 1e-10);
    close(chosen(1.0), 0.514_289_503_348, 1e-12);
}

#[test]
fn without_sample_uniques_there_are_no_population_uniques() {
    let found = PopulationUniques::estimate(&Histogram::new(vec![(2, 5.0), (7, 3.0)]), 1000.0);
    assert_eq!((found.zayatz, found.pitman, found.snb), (Some(0.0), Some(0.0), Some(0.0)));
}

/// Every row is unique: nothing in the sample says how often people repeat, and no model but Zayatz' has an answer.
#[test]
fn a_sample_of_uniques_alone_fits_no_model_with_parameters() {
    let found = PopulationUniques::estimate(&Histogram::new(vec![(1, 7.0)]), 35.0);
    assert_eq!((found.zayatz, found.pitman, found.snb), (Some(1.0), None, None));
    assert_eq!((found.chosen, found.chosen_share()), (Some(Model::Zayatz), Some(1.0)));
}

/// Numbers between 0 and 1 that look random and are always the same (xorshift64*).
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A class of the shifted negative binomial: one person and NB(α, β) more.
    fn class(&mut self, alpha: f64, beta: f64) -> u64 {
        let (mut left, mut more, mut weight) = (self.roll(), 0u64, beta.powf(alpha));
        while left > weight && more < 100_000 {
            left -= weight;
            weight *= (alpha + more as f64) / (more as f64 + 1.0) * (1.0 - beta);
            more += 1;
        }
        more + 1
    }
}

/// A population of 100,000 classes with these parameters, of which a share is drawn: the share of the population that is
/// unique in it, and what is estimated from the sample.
fn drawn(alpha: f64, beta: f64, fraction: f64) -> (f64, PopulationUniques) {
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let (mut people, mut uniques) = (0u64, 0u64);
    let mut sizes: std::collections::BTreeMap<u64, f64> = std::collections::BTreeMap::new();
    for _ in 0..100_000 {
        let class = dice.class(alpha, beta);
        people += class;
        uniques += u64::from(class == 1);
        let sampled = (0..class).filter(|_| dice.roll() < fraction).count() as u64;
        *sizes.entry(sampled).or_default() += f64::from(u8::from(sampled > 0));
    }
    sizes.remove(&0);
    let sample = Histogram::new(sizes.into_iter().collect());
    (uniques as f64 / people as f64, PopulationUniques::estimate(&sample, people as f64))
}

/// What the estimator of SNB is worth where its model is true: nobody's expected figures have part in this.
#[test]
fn snb_finds_the_uniques_of_its_own_populations() {
    for (alpha, beta) in [(0.5, 0.2), (1.0, 0.1), (0.2, 0.05), (2.0, 0.3), (0.1, 0.02), (5.0, 0.5)] {
        for fraction in [0.2, 0.5, 0.8] {
            let (truth, found) = drawn(alpha, beta, fraction);
            let (snb, zayatz) = (found.snb.expect("a fit"), found.zayatz.expect("a number"));
            let told = format!("α {alpha}, β {beta}, fraction {fraction}: {snb} and {zayatz} for {truth}");
            if fraction >= 0.5 {
                assert!((snb - truth).abs() < 0.12 * truth, "{told}");
            }
            if fraction <= 0.5 {
                assert!((snb - truth).abs() < (zayatz - truth).abs(), "{told}");
            }
        }
    }
}
