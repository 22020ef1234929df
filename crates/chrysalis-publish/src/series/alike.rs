use chrysalis_table::{Code, Column};

use crate::Microdata;

/// All values, in an order in which neighbours are values of people who look alike: by the mean of the
/// quasi column in which people of different values differ most, compared with people of the same value. Places in a
/// column are those of its codes.
///
/// LEAK: the order looks at all values of all people, as the choice of the most frequent ones does. What is promised is
/// promised for whoever does not replay the choice.
pub(super) fn alike(data: &Microdata, column: &Column) -> Vec<Code> {
    let rows = column.histogram();
    let of_column = |quasi: &Column| {
        let mut sums = vec![0_u128; rows.len()];
        let (mut all, mut squares) = (0_u128, 0_u128);
        for (value, at) in column.codes().iter().zip(quasi.codes().iter()) {
            let at = u128::from(at);
            sums[value as usize] += at;
            all += at;
            squares += at * at;
        }
        let n = column.codes().len().max(1) as f64;
        let spread = squares as f64 - all as f64 * all as f64 / n;
        let means = sums.iter().zip(&rows).map(|(&sum, &rows)| sum as f64 / rows.max(1) as f64);
        let means: Vec<f64> = means.collect();
        let of_value = |(mean, &rows): (&f64, &u64)| (mean - all as f64 / n).powi(2) * rows as f64;
        let between: f64 = means.iter().zip(&rows).map(of_value).sum();
        (if spread > 0.0 { between / spread } else { 0.0 }, means)
    };
    let best = data.quasi().map(|(quasi, _)| of_column(quasi)).max_by(|a, b| a.0.total_cmp(&b.0));
    let mut values: Vec<Code> = (0..rows.len() as Code).collect();
    if let Some((_, means)) = best {
        values.sort_by(|&a, &b| means[a as usize].total_cmp(&means[b as usize]));
    }
    values
}
