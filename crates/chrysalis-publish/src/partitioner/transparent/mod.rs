//! Groups whose choice says nothing about who has which value; see `spec.md` for the steps that the comments number.

use chrysalis_criteria::Principle;
use chrysalis_table::{Knob, Progress, Remedy, SaCounts};
use rand::CryptoRng;
use rand::seq::SliceRandom;
use rayon::prelude::*;

use super::Partitioner;
use super::anatomize::dealt;
use super::dealing::Dealing;
use super::mondrian::blind_cuts;
use super::stir::Lots;
use crate::{Microdata, Partition, PublishError};

/// Cuts by quasi values alone, where every way to hand the values out would pass, and deals what is left at random.
///
/// # Guarantees
/// Every principle, in every group; and the likelihood of the groups is equal over all worlds that a release of them
/// allows, so that knowing this algorithm adds no evidence.
/// # Cost
/// O(n log n).
/// # Paper
/// Ours; the proof is in `spec.md`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Transparent;

impl Partitioner for Transparent {
    fn name(&self) -> &'static str {
        "transparent"
    }

    fn partition(
        &self,
        data: &Microdata,
        goal: &dyn Principle,
        rng: &mut dyn CryptoRng,
        progress: Progress<'_>,
    ) -> Result<Partition, PublishError> {
        if goal.safe_size(data.sensitive_counts()).is_none() {
            let problem = format!("nobody has proved a safe way to cut for {goal}, so nothing can be transparent");
            let remedy =
                Remedy::from("require k, l, distinct-l, entropy-l, recursive-l, alpha-k, beta, t or ke, or leave ")
                    .knob(Knob::Transparent, "")
                    .words(" out");
            return Err(PublishError::remedied(problem, remedy));
        }
        // Step 1.
        let mut rows: Vec<u32> = (0..data.rows() as u32).collect();
        rows.shuffle(rng);
        // Step 2.
        let cells = blind_cuts(data, goal, rows, &|_| progress(0));
        // Step 3.
        if goal.is_size_only() || data.is_combined() {
            progress(data.rows() as u64);
            return Ok(cells);
        }
        let n_values = data.sensitive_counts().domain_len();
        let (dealing, lots) = (Dealing::of(goal, n_values), Lots::new(rng));
        let groups: Vec<(Vec<u32>, Vec<u32>)> = (0..cells.n_groups())
            .into_par_iter()
            .map_init(
                || SaCounts::new(n_values),
                |counts, cell| {
                    progress(cells.group(cell).len() as u64);
                    let (mut rows, mut lots) = (cells.group(cell).to_vec(), lots.of(0, cell));
                    rows.shuffle(&mut lots);
                    let sizes = dealt(data, goal, &dealing, &mut rows, counts, &mut lots);
                    (rows, sizes)
                },
            )
            .collect();
        let (rows, sizes): (Vec<Vec<u32>>, Vec<Vec<u32>>) = groups.into_iter().unzip();
        Ok(Partition::new(rows.concat(), &sizes.concat()))
    }
}
