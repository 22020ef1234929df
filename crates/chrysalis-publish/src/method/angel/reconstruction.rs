//! How well an analyst can rebuild the microdata from batches and buckets (equation 7).

use chrysalis_table::Column;
use rayon::prelude::*;

use crate::Partition;

/// The sensitive values of every batch and how often each occurs, by value.
pub(super) struct Batches {
    of_row: Vec<u32>,
    starts: Vec<u32>,
    values: Vec<(u32, u32)>,
    sizes: Vec<u32>,
}

impl Batches {
    pub(super) fn new(sensitive: &Column, partition: &Partition) -> Self {
        let mut of_row = vec![0; partition.n_rows()];
        let (mut starts, mut values, mut codes) = (vec![0], Vec::new(), Vec::new());
        for (batch, rows) in (0u32..).zip(partition.groups()) {
            codes.clear();
            for &row in rows {
                of_row[row as usize] = batch;
                codes.push(sensitive.code(row as usize));
            }
            codes.sort_unstable();
            values.extend(codes.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as u32)));
            starts.push(values.len() as u32);
        }
        let sizes = partition.sizes().map(|size| size as u32).collect();
        Batches { of_row, starts, values, sizes }
    }

    fn values(&self, batch: u32) -> &[(u32, u32)] {
        &self.values[self.starts[batch as usize] as usize..self.starts[batch as usize + 1] as usize]
    }
}

/// −Σ ln D*(Q,x) over all rows: n times the KL-divergence, up to terms that do not depend on the release.
///
/// `points` says for every bucket how many points of the quasi space its labels cover.
pub(super) fn surprise(sensitive: &Column, batches: &Batches, buckets: &Partition, points: &[f64]) -> f64 {
    let n_values = sensitive.domain().len();
    let n_rows = buckets.n_rows() as f64;
    let of_bucket = |mixture: &mut Mixture, bucket: usize| {
        let rows = buckets.group(bucket);
        let size = rows.len() as f64;
        let weight = (size / n_rows / points[bucket]).ln();
        -(weight * size + mixture.log_likelihood(sensitive, batches, rows))
    };
    let each: Vec<f64> =
        (0..buckets.n_groups()).into_par_iter().map_init(|| Mixture::new(n_values), of_bucket).collect();
    each.iter().sum()
}

/// Buffers for equation 2.
struct Mixture {
    shares: Vec<f64>,
    batches: Vec<u32>,
    codes: Vec<u32>,
}

impl Mixture {
    fn new(n_values: usize) -> Self {
        Mixture { shares: vec![0.0; n_values], batches: Vec::new(), codes: Vec::new() }
    }

    /// Σ ln f(x) over the rows of a bucket, where f is the mixture of their batches.
    fn log_likelihood(&mut self, sensitive: &Column, batches: &Batches, rows: &[u32]) -> f64 {
        let Mixture { shares, batches: ids, codes } = self;
        ids.clear();
        codes.clear();
        ids.extend(rows.iter().map(|&row| batches.of_row[row as usize]));
        ids.sort_unstable();
        codes.extend(rows.iter().map(|&row| sensitive.code(row as usize)));
        codes.sort_unstable();
        let n_distinct = codes.chunk_by(|a, b| a == b).count();
        for run in ids.chunk_by(|a, b| a == b) {
            let values = batches.values(run[0]);
            let weight = run.len() as f64 / f64::from(batches.sizes[run[0] as usize]);
            if values.len() <= 8 * n_distinct {
                values.iter().for_each(|&(code, count)| shares[code as usize] += weight * f64::from(count));
                continue;
            }
            // A large batch: look for the bucket's few values only.
            for code in codes.chunk_by(|a, b| a == b).map(|run| run[0]) {
                if let Ok(at) = values.binary_search_by_key(&code, |&(code, _)| code) {
                    shares[code as usize] += weight * f64::from(values[at].1);
                }
            }
        }
        let size = rows.len() as f64;
        let likelihood =
            codes.chunk_by(|a, b| a == b).map(|run| run.len() as f64 * (shares[run[0] as usize] / size).ln()).sum();
        for run in ids.chunk_by(|a, b| a == b) {
            let values = batches.values(run[0]);
            if values.len() <= 8 * n_distinct {
                values.iter().for_each(|&(code, _)| shares[code as usize] = 0.0);
            }
        }
        codes.iter().for_each(|&code| shares[code as usize] = 0.0);
        likelihood
    }
}
