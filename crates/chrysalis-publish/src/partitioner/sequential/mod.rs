use chrysalis_criteria::Principle;
use chrysalis_table::{Progress, SaCounts};
use rand::CryptoRng;

use super::Partitioner;
use crate::{Microdata, Partition, PublishError};

/// Groups of rows that follow each other in the input: a baseline; see `spec.md`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sequential;

impl Partitioner for Sequential {
    fn name(&self) -> &'static str {
        "sequential"
    }

    fn partition(
        &self,
        data: &Microdata,
        goal: &dyn Principle,
        _rng: &mut dyn CryptoRng,
        progress: Progress<'_>,
    ) -> Result<Partition, PublishError> {
        let code = |row: u32| data.sensitive().map_or(0, |column| column.code(row as usize));
        let (n, n_codes) = (data.rows() as u32, data.sensitive_counts().domain_len());
        // Step 1.
        let mut open = SaCounts::new(n_codes);
        let mut sizes: Vec<u32> = Vec::new();
        let mut n_open = 0;
        for row in 0..n {
            open.add(code(row));
            n_open += 1;
            if open.total() >= goal.least_size() && goal.holds(&open) {
                sizes.push(n_open);
                open.clear();
                n_open = 0;
            }
        }
        // Step 2.
        let mut last = n_open;
        while last > 0 {
            let Some(before) = sizes.pop() else {
                sizes.push(last);
                break;
            };
            last += before;
            let start = n - last;
            if goal.holds(&SaCounts::of(n_codes, (start..n).map(code))) {
                sizes.push(last);
                last = 0;
            }
        }
        progress(u64::from(n));
        Ok(Partition::new((0..n).collect(), &sizes))
    }
}
