use chrysalis_table::{Code, Watch};

use super::{Past, SeriesGroups, sensitive};
use crate::{Microdata, PublishError};

impl SeriesGroups {
    /// Whether every group shows at least m values, each equally often and no less often than rows have it, and everybody
    /// keeps the signature that they had, or else gets one that has nothing in common with any earlier one.
    ///
    /// LEAK: a release promises m-invariance only after this check.
    pub(crate) fn check(&self, data: &Microdata, past: &Past, m: u64, watch: &dyn Watch) -> Result<(), PublishError> {
        let column = sensitive(data)?;
        let mut taken = vec![0_u32; column.domain().len()];
        for (group, rows) in self.partition.groups().enumerate() {
            watch.pause_at(group);
            let shown = self.shown(group);
            let is_sorted = shown.windows(2).all(|pair| pair[0] < pair[1]);
            if rows.is_empty() || (shown.len() as u64) < m || !is_sorted {
                return Err(wrong("a group shows too few values"));
            }
            for &row in rows {
                let value: Code = column.code(row as usize);
                if shown.binary_search(&value).is_err() || taken[value as usize] == self.times[group] {
                    return Err(wrong("more rows of a group have a value than it shows"));
                }
                taken[value as usize] += 1;
                let Some(life) = past.of_row[row as usize] else { continue };
                let life = &past.lives[life as usize];
                let former = |&signature: &u32| &past.signatures[signature as usize];
                let keeps = life.last().map(former).is_some_and(|last| last == shown);
                let is_apart = |signature: &u32| former(signature).iter().all(|value| !shown.contains(value));
                let starts_anew = past.takes_changes && life.iter().all(is_apart);
                if !keeps && !starts_anew {
                    return Err(wrong("somebody's group shows other values than before"));
                }
            }
            rows.iter().for_each(|&row| taken[column.code(row as usize) as usize] = 0);
        }
        Ok(())
    }
}

fn wrong(problem: &str) -> PublishError {
    PublishError::Internal(format!("groups were formed for a series, but {problem}"))
}
