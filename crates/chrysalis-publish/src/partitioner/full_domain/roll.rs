//! Rolling groups up to a higher node: labels are looked up, rows are not counted again.

use super::judge::Problem;
use super::key::{Key, Slot};
use super::lattice::Node;
use super::tuples::{Groups, number_by_hash};

/// Groups of which only the sizes are known so far, and the smaller groups that they come from.
#[derive(Debug)]
pub(super) struct RolledGroups<K> {
    pub(super) node: Node,
    /// For every group of the source, the group that it becomes part of.
    pub(super) group_of: Vec<u32>,
    pub(super) keys: Vec<K>,
    pub(super) sizes: Vec<u32>,
}

/// Neighbouring attributes are looked up together as long as their slots have no more bits than this, and the table has
/// at most one entry for every `GROUPS_PER_ENTRY` groups.
const MOST_BITS: u32 = 12;
const GROUPS_PER_ENTRY: usize = 4;

/// Neighbouring attributes of a key that change together on the way up.
struct Step {
    slot: Slot,
    /// The attributes, first to last.
    axes: Vec<usize>,
    /// For every content of the slot, what it becomes in the higher node.
    above: Vec<u32>,
    /// For every content of the slot, what it adds to the number of a group.
    number: Vec<u32>,
}

impl<K: Key> Groups<K> {
    /// The groups of a higher node.
    pub(super) fn roll_up(&self, problem: &Problem<'_>, to: Node) -> RolledGroups<K> {
        let steps = self.steps(problem, to);
        let n_above = |axis: &usize| problem.axes[*axis].n_labels(problem.lattice.level(to, *axis)) as u64;
        let conceivable = steps.iter().flat_map(|step| &step.axes).map(n_above).fold(1, u64::saturating_mul);
        let rolled = |key: K| {
            steps.iter().fold(K::ZERO, |new, step| new.with(step.slot, step.above[key.get(step.slot) as usize]))
        };
        // With few conceivable groups, a table of all of them is faster than hashing.
        if conceivable > (4 * self.keys.len() as u64).clamp(1 << 12, 1 << 31) {
            let (group_of, keys, sizes) =
                number_by_hash(self.keys.len(), |at| rolled(self.keys[at]), |at| self.sizes[at]);
            return RolledGroups { node: to, group_of, keys, sizes };
        }
        let mut index = vec![u32::MAX; conceivable as usize];
        let (mut keys, mut sizes): (Vec<K>, Vec<u32>) = (Vec::new(), Vec::new());
        let group_of = self.keys.iter().zip(&self.sizes).map(|(&key, &size)| {
            let number = steps.iter().fold(0, |sum, step| sum + step.number[key.get(step.slot) as usize]);
            let group = &mut index[number as usize];
            if *group == u32::MAX {
                *group = keys.len() as u32;
                keys.push(rolled(key));
                sizes.push(0);
            }
            sizes[*group as usize] += size;
            *group
        });
        RolledGroups { node: to, group_of: group_of.collect(), keys, sizes }
    }

    /// The groups of a higher node, with all that they hold.
    pub(super) fn above(&self, problem: &Problem<'_>, to: Node) -> Groups<K> {
        let RolledGroups { node, group_of, keys, sizes } = self.roll_up(problem, to);
        let contents = self.contents.above(&group_of, keys.len(), problem.n_values);
        Groups { node, keys, sizes, contents }
    }

    /// The attributes that still tell groups apart in the higher node, in as few steps as tables of a reasonable size
    /// allow.
    fn steps(&self, problem: &Problem<'_>, to: Node) -> Vec<Step> {
        let mut steps: Vec<Step> = Vec::new();
        let is_told_apart = |axis: &usize| problem.axes[*axis].n_labels(problem.lattice.level(to, *axis)) > 1;
        for axis in (0..problem.axes.len()).filter(is_told_apart) {
            let slot = problem.slots[axis];
            let n_entries = |step: &Step, up: u32| self.n_labels(problem, step.axes[0]) << up;
            let joined = steps.last().and_then(|step| {
                let first = problem.slots[step.axes[0]];
                let (slot, up) = first.joined(slot, MOST_BITS)?;
                (n_entries(step, up) * GROUPS_PER_ENTRY <= self.keys.len()).then_some(slot)
            });
            match (joined, steps.last_mut()) {
                (Some(slot), Some(step)) => {
                    step.slot = slot;
                    step.axes.push(axis);
                }
                _ => steps.push(Step { slot, axes: vec![axis], above: Vec::new(), number: Vec::new() }),
            }
        }
        let mut stride = 1u64;
        for step in &mut steps {
            self.fill(problem, to, step, &mut stride);
        }
        steps
    }

    fn n_labels(&self, problem: &Problem<'_>, axis: usize) -> usize {
        problem.axes[axis].n_labels(problem.lattice.level(self.node, axis))
    }

    /// Fills the tables of a step, the lowest attribute first: each further attribute repeats the tables for every one
    /// of its labels.
    fn fill(&self, problem: &Problem<'_>, to: Node, step: &mut Step, stride: &mut u64) {
        (step.above, step.number) = (vec![0], vec![0]);
        let mut n_filled = 1;
        for &axis in step.axes.iter().rev() {
            let slot = problem.slots[axis];
            let (from, level) = (problem.lattice.level(self.node, axis), problem.lattice.level(to, axis));
            // Slots have room for more labels than there are. And whatever lies between two attributes of a step tells
            // no groups apart in the higher node.
            let n_below = step.slot.lift(slot, 1) as usize;
            let repeated = |table: &mut Vec<u32>| -> Vec<u32> {
                table.resize(n_filled, 0);
                table.iter().copied().cycle().take(n_below).collect()
            };
            let (above, number) = (repeated(&mut step.above), repeated(&mut step.number));
            // Numbers that are too large are never used: then there are too many conceivable groups for a table.
            let unit = u32::try_from(*stride).unwrap_or(0);
            (step.above, step.number) = (Vec::new(), Vec::new());
            for label in 0..self.n_labels(problem, axis) as u32 {
                let label = if from < level { problem.axes[axis].up(from, level)[label as usize] } else { label };
                step.above.extend(above.iter().map(|part| part | step.slot.lift(slot, label)));
                step.number.extend(number.iter().map(|part| part.wrapping_add(label.wrapping_mul(unit))));
            }
            n_filled = n_below << slot.n_bits();
            *stride = stride.saturating_mul(problem.axes[axis].n_labels(level) as u64);
        }
    }
}
