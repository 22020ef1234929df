//! Step 3: new groups from scratch, each grown from one atom by what fits best.

use super::block::Block;
use super::pool::Pool;
use super::rules::Rules;

/// A group that has this many times the least size and still fails is given up.
const MOST_GROWTH: u32 = 4;

/// New groups over the atoms of a block; `None` if some rows found no group that takes them.
pub(super) fn grown<'b>(block: &'b Block, rules: &mut Rules<'_>) -> Option<Pool<'b>> {
    let mut grower = Grower::new(block, rules);
    let mut leftovers = Vec::new();
    while let Some(seed) = grower.next_seed() {
        grower.grow(seed, rules, &mut leftovers);
    }
    grower.dense();
    let mut pool = grower.pool;
    for (atom, count) in leftovers {
        join_best(&mut pool, atom, count, rules)?;
    }
    Some(pool)
}

struct Grower<'b> {
    pool: Pool<'b>,
    /// Rows of every atom that have no group yet.
    left: Vec<u32>,
    /// Atoms that have such rows.
    waiting: Vec<usize>,
    least: u32,
    is_size_only: bool,
    last: Option<usize>,
}

impl<'b> Grower<'b> {
    fn new(block: &'b Block, rules: &Rules<'_>) -> Self {
        Grower {
            pool: Pool::new(block),
            left: block.counts.clone(),
            waiting: (0..block.counts.len()).collect(),
            least: rules.least,
            is_size_only: rules.is_size_only,
            last: None,
        }
    }

    /// Whether an atom is large enough for a group of its own, which costs nothing. Such atoms give only what they can
    /// spare.
    fn is_dense(&self, atom: usize) -> bool {
        self.is_size_only && self.left[atom] >= self.least
    }

    /// The atom that lies furthest from the last group.
    fn next_seed(&self) -> Option<usize> {
        let mut sparse = self.waiting.iter().copied().filter(|&atom| !self.is_dense(atom));
        let Some(group) = self.last else { return sparse.next() };
        let mut best: Option<(f64, usize)> = None;
        for atom in sparse {
            let width = self.pool.width_with(group, atom, f64::INFINITY);
            if best.is_none_or(|best| width > best.0) {
                best = Some((width, atom));
            }
        }
        best.map(|(_, atom)| atom)
    }

    /// Takes rows of an atom into a group.
    fn take(&mut self, group: usize, atom: usize, wanted: u32) {
        let left = self.left[atom];
        let count = if self.is_dense(atom) { wanted.min(left - self.least) } else { left };
        self.pool.add(group, atom, count);
        self.left[atom] -= count;
        if self.left[atom] == 0
            && let Some(at) = self.waiting.iter().position(|&other| other == atom)
        {
            self.waiting.swap_remove(at);
        }
    }

    fn grow(&mut self, seed: usize, rules: &mut Rules<'_>, leftovers: &mut Vec<(usize, u32)>) {
        let group = self.pool.open();
        self.take(group, seed, self.least);
        loop {
            let is_large = self.pool.sizes[group] >= self.least;
            if is_large && rules.allow(&self.pool, group, None, None) {
                self.last = Some(group);
                return;
            }
            let is_hopeless = self.pool.sizes[group] / MOST_GROWTH > self.least;
            let next = if is_hopeless { None } else { self.nearest(group, is_large.then_some(&*rules)) };
            let Some(atom) = next else { break };
            self.take(group, atom, self.least.saturating_sub(self.pool.sizes[group]).max(1));
        }
        leftovers.extend(self.pool.pieces[group].iter().map(|&(atom, count)| (atom as usize, count)));
        self.pool.close_last();
    }

    /// The atom that widens a group least. With `rules`, the group is large enough but lacks values: then the atom
    /// whose value is rarest in the group.
    fn nearest(&self, group: usize, rules: Option<&Rules<'_>>) -> Option<usize> {
        let mut best: Option<(u64, f64, usize)> = None;
        for &atom in &self.waiting {
            let is_dense = self.is_dense(atom);
            if is_dense && self.left[atom] == self.least {
                continue;
            }
            let rarity = rules.map_or(0, |rules| rules.count(self.pool.block.values[atom]));
            if best.is_some_and(|best| rarity > best.0) {
                continue;
            }
            let limit = best.map_or(f64::INFINITY, |best| if rarity < best.0 { f64::INFINITY } else { best.1 });
            let width = self.pool.width_with(group, atom, limit);
            if best.is_none_or(|best| rarity < best.0 || width < best.1) {
                best = Some((rarity, width, atom));
            }
        }
        best.map(|(_, _, atom)| atom)
    }

    /// Makes a group of what is left of every atom that is large enough.
    fn dense(&mut self) {
        for atom in std::mem::take(&mut self.waiting) {
            let group = self.pool.open();
            self.pool.add(group, atom, self.left[atom]);
        }
    }
}

/// Puts rows into the group where they cost least.
pub(super) fn join_best(pool: &mut Pool<'_>, atom: usize, count: u32, rules: &mut Rules<'_>) -> Option<()> {
    let mut best: Option<(f64, usize)> = None;
    for group in 0..pool.len() {
        let (size, added) = (f64::from(pool.sizes[group]), f64::from(pool.sizes[group] + count));
        let before = size * pool.widths[group];
        let limit = best.map_or(f64::INFINITY, |(cost, _)| (cost + before) / added);
        let cost = added * pool.width_with(group, atom, limit) - before;
        if best.is_none_or(|best| cost < best.0) && rules.allow(pool, group, None, Some((atom, count))) {
            best = Some((cost, group));
        }
    }
    let (_, group) = best?;
    pool.add(group, atom, count);
    Some(())
}
