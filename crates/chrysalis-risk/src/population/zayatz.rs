use super::Histogram;

/// Step 4.1. Population uniques by Zayatz: the class sizes of the sample are taken for those of the population.
pub(super) fn uniques(sample: &Histogram, population: f64) -> Option<f64> {
    let (n, uniques) = (sample.rows(), sample.classes_of(1));
    // P(one of i is drawn)/P(the only one is drawn) = i·Π_{j=1..i−1} (N−n−j+1)/(N−j), from the hypergeometric.
    let (mut drawn, mut product, mut size) = (0.0, 1.0, 1);
    for (next, classes) in sample.iter() {
        while size < next && product > 0.0 {
            let j = size as f64;
            product *= ((population - n - j + 1.0) / (population - j)).max(0.0);
            size += 1;
        }
        if product == 0.0 {
            break;
        }
        drawn += classes * next as f64 * product;
    }
    let conditional = uniques / drawn;
    Some(uniques * conditional * population / n).filter(|found| found.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two uniques and two pairs, six of twelve rows drawn: P(1 | size 1) = 1/2 and P(1 | size 2) = 2·(6/12)·(6/11) = 6/11,
    /// so a sample unique is one of the population with probability (2·1/2)/(2·1/2 + 2·6/11) = 11/23, and there are
    /// 2·11/23·12/6 of them.
    #[test]
    fn by_hand() {
        let sample = Histogram::new(vec![(1, 2.0), (2, 2.0)]);
        let found = uniques(&sample, 12.0).expect("a number");
        assert!((found - 44.0 / 23.0).abs() < 1e-12);
    }
}
