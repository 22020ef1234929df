//! Groups that lose little; see `spec.md` for the steps that the comments number.

mod atoms;
mod block;
mod cells;
mod dissolution;
mod grow;
mod hull;
mod line;
mod polish;
mod pool;
mod refine;
mod regroup;
mod rules;
mod shed;
mod spare;
mod start;
mod stirring;

use chrysalis_criteria::Principle;
use chrysalis_table::{Column, Progress};
use rand::rngs::ChaCha20Rng;
use rand::seq::SliceRandom;
use rand::{CryptoRng, SeedableRng};
use rayon::prelude::*;

use super::Partitioner;
use super::mondrian::axis::Axis;
use super::mondrian::cut::Worth;
use super::stir::Lots;
use crate::{Microdata, Partition, PublishError};
use atoms::{Atoms, Groups};
use block::Block;
use hull::Hull;
use line::{Line, Measure};
pub(super) use refine::{Refined, Refiner};
use rules::Rules;
use start::Start;
use stirring::Stirring;

/// Forms groups whose generalization loses little, by local search on the penalty (NCP) itself.
///
/// # Guarantees
/// Every principle, in every group. Never more penalty than `mondrian`, from whose groups or better ones it starts.
/// # Cost
/// O(n log n); about ten microseconds for every distinct record. Very large tables get less of the search.
/// # Paper
/// Ours.
#[derive(Clone, Copy, Debug, Default)]
pub struct Compact;

/// Blocks have about this many groups, and rows within these limits.
const GROUPS_PER_BLOCK: usize = 16;
const FEWEST_ROWS_PER_BLOCK: usize = 256;
const MOST_ROWS_PER_BLOCK: usize = 2_048;
/// Blocks with more pieces stay as they are.
const MOST_PIECES_PER_BLOCK: usize = 4_096;
/// Up to the first number of atoms, wide groups are taken apart up to twice; up to the second, once. Beyond the third
/// number no group is improved.
const ATOMS_FOR_TWO: usize = 50_000;
const ATOMS_FOR_ONE: usize = 500_000;
const ATOMS_FOR_BLOCKS: usize = 2_000_000;
/// The same for several sensitive columns: there are more atoms then, and taking groups apart gains little (on 400,000
/// CENSUS-like rows, an NCP of 0.0245 instead of 0.0246 for a third of the time).
const ATOMS_FOR_ONE_OF_SEVERAL: usize = 100_000;
/// How many pieces of groups are improved where several columns are sensitive, those of the costliest blocks first: of
/// 1.4 million (two million CENSUS-like rows) a fifth brings four fifths of the gain, for a quarter of the time.
const PIECES_OF_SEVERAL: usize = 300_000;
/// Groups that need no more rows than these are very small.
const SMALL_GROUP: u64 = 3;

impl Partitioner for Compact {
    fn name(&self) -> &'static str {
        "compact"
    }

    fn partition(
        &self,
        data: &Microdata,
        goal: &dyn Principle,
        rng: &mut dyn CryptoRng,
        progress: Progress<'_>,
    ) -> Result<Partition, PublishError> {
        Ok(groups(data, goal, Worth::Penalty, rng, progress))
    }
}

/// Like `compact`, but with groups in whose boxes the positions of rows surprise a reader least (angel, equation 7)
/// instead of groups that lose least.
pub(crate) fn compact_by_density(
    data: &Microdata,
    goal: &dyn Principle,
    rng: &mut dyn CryptoRng,
    progress: Progress<'_>,
) -> Partition {
    groups(data, goal, Worth::Surprise, rng, progress)
}

fn groups(
    data: &Microdata,
    goal: &dyn Principle,
    worth: Worth,
    rng: &mut dyn CryptoRng,
    progress: Progress<'_>,
) -> Partition {
    // LEAK: which of several equal rows goes where must not depend on where they stood in the input.
    let mut rows: Vec<u32> = (0..data.rows() as u32).collect();
    rows.shuffle(rng);
    let mut orders = ChaCha20Rng::seed_from_u64(rng.next_u64());
    let lots = Lots::new(rng);
    let mut axes: Vec<(usize, Axis)> =
        data.quasi().map(|(column, taxonomy)| Axis::new(column, taxonomy)).enumerate().collect();
    dearest_first(&mut axes, worth);
    let measures: Vec<Measure> = axes.iter().map(|(_, axis)| Measure::new(axis, worth)).collect();
    let lines: Vec<Line> = measures.iter().map(Line::whole).collect();
    progress(0);
    // Step 1.
    let columns: Vec<&Column> = data.quasi().map(|(column, _)| column).collect();
    let atoms = Atoms::new(&columns, &axes, data.sensitive().filter(|_| !goal.is_size_only()), &rows, progress);
    progress(0);
    // Step 2.
    let start = Start::best(data, goal, &atoms, &axes, &lines, worth, progress);
    let n_values = data.sensitive_counts().domain_len();
    let mut groups = start.groups;
    progress(0);
    // Step 3.
    if atoms.len() <= ATOMS_FOR_BLOCKS {
        if !start.is_in_order {
            groups = regroup::side_by_side(&atoms, &measures, &lines, &groups, &mut orders);
        }
        let mut blocks = blocks(&groups, goal);
        let most = if data.is_combined() { PIECES_OF_SEVERAL } else { usize::MAX };
        keep_costliest(&mut blocks, &Hull::all(&lines, &atoms, &groups), most);
        groups = improved(&atoms, &measures, &groups, &blocks, start.is_in_order, goal, n_values, progress);
    }
    // Step 4. Groups that come from labels gain little from a second round, and so do those that must hold several
    // sensitive values, unless they are very small.
    let is_loose = goal.is_size_only() || goal.least_size() <= SMALL_GROUP;
    let has_second = start.is_in_order && is_loose && atoms.len() <= ATOMS_FOR_TWO;
    let most = if data.is_combined() { ATOMS_FOR_ONE_OF_SEVERAL } else { ATOMS_FOR_ONE };
    let n_rounds = usize::from(atoms.len() <= most) + usize::from(has_second);
    for _ in 0..n_rounds {
        groups = regroup::regroup(&atoms, &measures, groups, goal, n_values, &mut orders, progress);
    }
    // Step 5.
    if worth == Worth::Penalty && !goal.is_size_only() {
        let most = start.most;
        let stirring = Stirring {
            atoms: &atoms,
            measures: &measures,
            lines: &lines,
            goal,
            n_values,
            whole_rows: data.whole_rows(),
            most,
        };
        groups = stirring.stirred(groups, &lots, &mut orders, progress);
    }
    // Step 6.
    let partition = atoms.partition(&groups, progress);
    // Step 7.
    match data.is_combined() && !goal.is_size_only() {
        true => shed::shed(data, goal, &partition, &lots, progress),
        false => partition,
    }
}

/// Puts attributes where a difference is expensive first, so that a sum that is too large is recognized early.
fn dearest_first(axes: &mut [(usize, Axis)], worth: Worth) {
    let weight = |axis: &Axis| Measure::new(axis, worth).weight(axis.n_ranks());
    axes.sort_by(|(_, a), (_, b)| weight(b).total_cmp(&weight(a)));
}

/// Groups to be improved together, or to be left as they are.
struct Stretch {
    groups: Vec<u32>,
    n_pieces: usize,
    is_left: bool,
}

/// All groups in stretches of neighbours. Those with too many pieces are left.
fn blocks(groups: &Groups, goal: &dyn Principle) -> Vec<Stretch> {
    let least = usize::try_from(goal.least_size()).unwrap_or(usize::MAX);
    let n_rows = least.saturating_mul(GROUPS_PER_BLOCK).clamp(FEWEST_ROWS_PER_BLOCK, MOST_ROWS_PER_BLOCK);
    let stretch = |wanted: Vec<u32>| {
        let n_pieces = wanted.iter().map(|&group| groups.group(group as usize).len()).sum();
        Stretch { groups: wanted, n_pieces, is_left: n_pieces > MOST_PIECES_PER_BLOCK }
    };
    groups.stretches(n_rows).into_iter().map(stretch).collect()
}

/// Leaves all blocks but those that cost most for each of their pieces, which have up to that many pieces in all.
fn keep_costliest(blocks: &mut [Stretch], hulls: &[Hull], most_pieces: usize) {
    let cost = |block: &Stretch| {
        block.groups.iter().map(|&group| hulls[group as usize].cost()).sum::<f64>() / block.n_pieces.max(1) as f64
    };
    let mut order: Vec<(f64, usize)> =
        blocks.iter().enumerate().filter(|(_, block)| !block.is_left).map(|(at, block)| (cost(block), at)).collect();
    order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut n = 0;
    for (_, at) in order {
        n += blocks[at].n_pieces;
        blocks[at].is_left = n > most_pieces;
    }
}

/// Step 3. Forms the groups of every block that is not left anew (`anew`), or only changes them, and keeps the old groups where
/// they lose no more.
#[expect(clippy::too_many_arguments, reason = "one step of `groups`, with what the steps before it made")]
fn improved(
    atoms: &Atoms,
    measures: &[Measure],
    groups: &Groups,
    blocks: &[Stretch],
    anew: bool,
    goal: &dyn Principle,
    n_values: usize,
    progress: Progress<'_>,
) -> Groups {
    let parts: Vec<Groups> = blocks
        .par_iter()
        .map_init(
            || Rules::new(goal, n_values),
            |rules, Stretch { groups: wanted, is_left, .. }| {
                progress(0);
                if *is_left {
                    return groups.selected(wanted);
                }
                let block = Block::new(atoms, measures, groups, wanted);
                let pool = block.pool(groups, wanted);
                if pool.cost() == 0.0 {
                    return groups.selected(wanted);
                }
                let grown = if anew { grow::grown(&block, rules) } else { None };
                let mut candidate = grown.unwrap_or_else(|| pool.clone());
                polish::polish(&mut candidate, rules);
                block.groups(if candidate.cost() < pool.cost() { &candidate } else { &pool })
            },
        )
        .collect();
    let mut all = Groups::default();
    for part in &parts {
        (0..part.len()).for_each(|index| all.push(part.group(index).iter().copied()));
    }
    all
}
