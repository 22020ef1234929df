use chrysalis_criteria::Principle;
use chrysalis_table::{Progress, SaCounts};
use rand::CryptoRng;

use super::Partitioner;
use crate::{Microdata, Partition, PublishError};

/// Groups that were formed elsewhere and come in a column of the input; see `spec.md`.
#[derive(Clone, Debug)]
pub struct ByColumn {
    /// The column's name.
    pub column: String,
}

impl Partitioner for ByColumn {
    fn name(&self) -> &'static str {
        "column"
    }

    fn takes_rows(&self) -> bool {
        true
    }

    fn partition(
        &self,
        data: &Microdata,
        goal: &dyn Principle,
        _rng: &mut dyn CryptoRng,
        progress: Progress<'_>,
    ) -> Result<Partition, PublishError> {
        let column = data
            .table()
            .column(&self.column)
            .ok_or_else(|| PublishError::Internal(format!("group column `{}` was not read", self.column)))?;
        // Step 1. One group per value: a counting sort of the rows by code.
        let sizes: Vec<u32> = column.histogram().into_iter().map(|n| u32::try_from(n).unwrap_or(u32::MAX)).collect();
        let mut next: Vec<u32> = sizes
            .iter()
            .scan(0, |start, size| {
                *start += size;
                Some(*start - size)
            })
            .collect();
        let mut rows = vec![0; data.rows()];
        for (row, code) in (0u32..).zip(column.codes().iter()) {
            rows[next[code as usize] as usize] = row;
            next[code as usize] += 1;
        }
        let partition = Partition::new(rows, &sizes);
        if data.persons().is_some() {
            // The job checks groups of persons, whoever formed them.
            progress(data.rows() as u64);
            return Ok(partition);
        }
        // Step 2. Given or not, every group must satisfy the principles.
        let sensitive = data.sensitive();
        let passes = |group: &&[u32]| {
            let codes = group.iter().map(|&row| sensitive.map_or(0, |column| column.code(row as usize)));
            goal.holds(&SaCounts::of(data.sensitive_counts().domain_len(), codes))
        };
        let failing: Vec<usize> = (0..partition.n_groups()).filter(|&index| !passes(&partition.group(index))).collect();
        if let Some(&first) = failing.first() {
            return Err(PublishError::GroupFails {
                principle: goal.to_string(),
                column: self.column.clone(),
                group: column.domain().display(first as u32).into_owned(),
                n_failing: failing.len(),
                n_groups: partition.n_groups(),
            });
        }
        progress(data.rows() as u64);
        Ok(partition)
    }
}
