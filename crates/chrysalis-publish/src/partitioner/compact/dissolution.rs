//! Step 4: how a wide group could be taken apart.

use chrysalis_criteria::Principle;
use chrysalis_table::SaCounts;

use super::atoms::{Atoms, Groups};
use super::hull::Hull;
use super::line::Line;

/// A change must lower the penalty by more than rounding could.
const WORTHWHILE: f64 = 1e-7;
/// How far to look for partners in every order.
const REACH: usize = 8;

/// How one group would be taken apart.
pub(super) struct Dissolution {
    pub(super) group: u32,
    /// Penalty saved.
    pub(super) gain: f64,
    /// Per new group: pieces by place in the list of all pieces, and how many rows of each.
    pub(super) fresh: Vec<Vec<(u32, u32)>>,
    /// Pieces of the group that join another one.
    pub(super) joins: Vec<(u32, u32)>,
}

/// A new group.
struct Fresh {
    /// How much more it costs than its members from other groups cost now.
    cost: f64,
    /// Rows of the group that is taken apart.
    n_own: u32,
    members: Vec<(u32, u32)>,
}

/// All groups as they are, and which pieces are near each other.
pub(super) struct Neighbourhood<'a> {
    pub(super) atoms: &'a Atoms,
    pub(super) lines: &'a [Line],
    pub(super) groups: &'a Groups,
    pub(super) group_of: &'a [u32],
    pub(super) hulls: &'a [Hull],
    pub(super) orders: &'a [Vec<u32>],
    pub(super) places: &'a [Vec<u32>],
    pub(super) goal: &'a dyn Principle,
    pub(super) least: u32,
}

impl Neighbourhood<'_> {
    /// The pieces of a group, by place in the list of all pieces.
    pub(super) fn pieces_of(&self, group: u32) -> std::ops::Range<u32> {
        let start = if group == 0 { 0 } else { self.groups.ends[group as usize - 1] };
        start..self.groups.ends[group as usize]
    }

    fn cells(&self, piece: u32) -> &[u32] {
        self.atoms.cells(self.groups.pieces[piece as usize].atom)
    }

    pub(super) fn value(&self, piece: u32) -> u32 {
        self.atoms.value[self.groups.pieces[piece as usize].atom as usize]
    }

    /// Pieces near a piece in any of the orders.
    fn near(&self, piece: u32, found: &mut Vec<u32>) {
        found.clear();
        for (order, places) in self.orders.iter().zip(self.places) {
            let place = places[piece as usize] as usize;
            found.extend(&order[place.saturating_sub(REACH)..(place + REACH + 1).min(order.len())]);
        }
        found.sort_unstable();
        found.dedup();
    }

    /// The best way found to take a group apart, if that saves anything.
    pub(super) fn dissolution(&self, group: u32, counts: &mut SaCounts) -> Option<Dissolution> {
        let mut left: Vec<(u32, u32)> =
            self.pieces_of(group).map(|piece| (piece, self.groups.pieces[piece as usize].count)).collect();
        let gain = self.hulls[group as usize].cost();
        let mut dissolution = Dissolution { group, gain, fresh: Vec::new(), joins: Vec::new() };
        let mut found = Vec::new();
        // What this dissolution takes from other groups.
        let mut taken: Vec<(u32, u32)> = Vec::new();
        while let Some(&(seed, count)) = left.last() {
            self.near(seed, &mut found);
            let join = self.best_join(seed, count, group, &found, &dissolution);
            let fresh = self.grow(seed, group, &left, &found, &taken, counts);
            // Take whichever costs less per row of the group that finds its place.
            let is_cheaper = |cost: f64, fresh: &Fresh| cost * f64::from(fresh.n_own) <= fresh.cost * f64::from(count);
            match (join, fresh) {
                (Some((cost, home)), fresh) if fresh.as_ref().is_none_or(|fresh| is_cheaper(cost, fresh)) => {
                    dissolution.gain -= cost;
                    dissolution.joins.push((seed, home));
                    left.pop();
                }
                (_, Some(fresh)) => {
                    dissolution.gain -= fresh.cost;
                    for &(piece, n) in &fresh.members {
                        if self.group_of[piece as usize] == group {
                            left.retain(|&(other, _)| other != piece);
                        } else {
                            taken.push((piece, n));
                        }
                    }
                    dissolution.fresh.push(fresh.members);
                }
                (_, None) => return None,
            }
            if dissolution.gain < WORTHWHILE {
                return None;
            }
        }
        Some(dissolution)
    }

    /// The near group where a piece costs least, and what it costs there. A group is joined at most once.
    fn best_join(
        &self,
        seed: u32,
        count: u32,
        group: u32,
        found: &[u32],
        dissolution: &Dissolution,
    ) -> Option<(f64, u32)> {
        let mut best: Option<(f64, u32)> = None;
        let mut last = u32::MAX;
        for &piece in found {
            let home = self.group_of[piece as usize];
            if home == group || home == last || dissolution.joins.iter().any(|join| join.1 == home) {
                continue;
            }
            last = home;
            let hull = &self.hulls[home as usize];
            let before = hull.cost();
            let size = f64::from(hull.size + count);
            let limit = best.map_or(f64::INFINITY, |(cost, _)| (cost + before) / size);
            let cost = size * hull.width_with(self.lines, self.cells(seed), limit) - before;
            if best.is_none_or(|best| cost < best.0) {
                best = Some((cost, home));
            }
        }
        best
    }

    /// A new group around a piece of the old one, from its other pieces and from what near groups can spare.
    fn grow(
        &self,
        seed: u32,
        group: u32,
        left: &[(u32, u32)],
        found: &[u32],
        taken: &[(u32, u32)],
        counts: &mut SaCounts,
    ) -> Option<Fresh> {
        let mut hull = Hull::new(self.lines);
        let mut fresh = Fresh { cost: 0.0, n_own: 0, members: Vec::new() };
        let mut waiting: Vec<(u32, u32)> = left.to_vec();
        waiting.extend(found.iter().filter(|&&piece| self.group_of[piece as usize] != group).filter_map(|&piece| {
            let gone: u32 = taken.iter().filter(|(other, _)| *other == piece).map(|(_, n)| n).sum();
            let n = self.spare(piece, taken).min(self.groups.pieces[piece as usize].count - gone);
            (n > 0).then_some((piece, n))
        }));
        counts.clear();
        let mut next = waiting.iter().position(|&(piece, _)| piece == seed)?;
        loop {
            let (piece, mut n) = waiting.swap_remove(next);
            let home = self.group_of[piece as usize];
            if home == group {
                fresh.n_own += n;
            } else {
                let others = self.spare(piece, taken).saturating_sub(self.n_of(home, &fresh.members));
                n = n.min(others).min(self.least.saturating_sub(hull.size).max(1));
                fresh.cost -= f64::from(n) * self.hulls[home as usize].width;
            }
            if n > 0 {
                hull.add(self.lines, self.cells(piece), n);
                counts.add_many(self.value(piece), n);
                fresh.members.push((piece, n));
            }
            if hull.size >= self.least && self.goal.holds(counts) {
                fresh.cost += hull.cost();
                return Some(fresh);
            }
            if hull.size / 2 > self.least {
                return None;
            }
            next = self.nearest(&hull, &waiting)?;
        }
    }

    /// The piece that widens a new group least.
    fn nearest(&self, hull: &Hull, waiting: &[(u32, u32)]) -> Option<usize> {
        let mut best: Option<(f64, usize)> = None;
        for (at, &(piece, _)) in waiting.iter().enumerate() {
            let limit = best.map_or(f64::INFINITY, |(width, _)| width);
            let width = hull.width_with(self.lines, self.cells(piece), limit);
            if best.is_none_or(|best| width < best.0) {
                best = Some((width, at));
            }
        }
        best.map(|(_, at)| at)
    }

    /// How many of these rows belong to a group.
    fn n_of(&self, group: u32, pieces: &[(u32, u32)]) -> u32 {
        pieces.iter().filter(|(piece, _)| self.group_of[*piece as usize] == group).map(|(_, n)| n).sum()
    }

    /// How many more rows the group of a piece can spare, beyond those that are already taken.
    fn spare(&self, piece: u32, taken: &[(u32, u32)]) -> u32 {
        let home = self.group_of[piece as usize];
        self.hulls[home as usize].size.saturating_sub(self.least).saturating_sub(self.n_of(home, taken))
    }
}
