//! Looks for the cheapest combination of levels; see `spec.md` for the lemmas that the comments name.

use std::cell::Cell;

use chrysalis_table::Progress;
use foldhash::fast::FixedState;
use hashbrown::HashSet;
use rayon::prelude::*;

use super::Stop;
use super::judge::{Problem, Verdict};
use super::key::Key;
use super::lattice::Node;
use super::tuples::Groups;
use super::walk::Walk;

/// Nodes that are looked at together. Fixed, so that the result does not depend on the number of threads.
const ROUND: usize = 8;
/// The groups of at most this many nodes are kept for rolling up.
const MOST_KEPT: usize = 1024;
/// Room for the groups that are kept, in addition to twice that of the exact groups.
const LEAST_ROOM: usize = 1 << 22;
/// A search that is limited to n nodes also stops once its walk has asked this many times n whether to stop.
const LOOKS_PER_NODE: u64 = 8;

/// What a search knows so far.
pub(super) struct Search<'a, K> {
    problem: &'a Problem<'a>,
    stop: &'a Stop,
    /// Groups to roll up from, smallest first; those of the exact values are last.
    sources: Vec<Groups<K>>,
    n_kept: usize,
    /// What each level of each attribute costs. PROOF of pruning: no level costs less than nothing, nor less than a lower one.
    base: Vec<Vec<f64>>,
    /// Nodes with nothing feasible at or below them, none below another.
    ruled_out: Vec<Node>,
    /// Nodes, and how much more than its levels every node below costs at least.
    extras: Vec<(Node, f64)>,
    /// Nodes, and how much every node above costs at least.
    floors: Vec<(Node, f64)>,
    seen: HashSet<Node, FixedState>,
    pub(super) best: (f64, Node),
    pub(super) checked: u64,
    /// How many nodes were reported as settled: judged, or passed over for good.
    n_told: u128,
}

/// A node's verdict, and its groups where they are worth keeping.
type JudgedNode<K> = (Verdict, Option<Groups<K>>);

impl<'a, K: Key> Search<'a, K> {
    pub(super) fn new(problem: &'a Problem<'a>, exact: Groups<K>, stop: &'a Stop) -> Self {
        let lattice = &problem.lattice;
        let levels = |axis: usize| (0..lattice.n_levels(axis)).map(|level| problem.base(axis, level)).collect();
        Search {
            problem,
            stop,
            n_kept: 0,
            sources: vec![exact],
            base: (0..lattice.n_axes()).map(levels).collect(),
            ruled_out: Vec::new(),
            extras: Vec::new(),
            floors: Vec::new(),
            seen: HashSet::default(),
            best: (f64::INFINITY, lattice.top()),
            checked: 0,
            n_told: 0,
        }
    }

    /// Searches until the best node is proven (`true`) or the search is told to stop (`false`).
    pub(super) fn run(&mut self, progress: Progress<'_>) -> bool {
        // Step 3. The top always passes, so there is always something to publish.
        let top = self.problem.lattice.top();
        let judged = vec![self.judge(top)];
        self.absorb(judged);
        self.lay_spine();
        self.descend();
        // Steps 4 and 5.
        let mut from = None;
        let n_looks = Cell::new(0);
        while !self.is_over() {
            let Some(round) = self.open_nodes(from, &n_looks) else { return false };
            let Some(&last) = round.last() else {
                self.tell(self.problem.lattice.size(), progress);
                return true;
            };
            let found: Vec<Vec<JudgedNode<K>>> = round.par_iter().map(|&node| self.explore(node)).collect();
            found.into_iter().for_each(|judged| self.absorb(judged));
            // Nodes below those of this round were passed over in the hope that the round rules them out: go back to
            // the first node that does not.
            let disappoints = |node: &&Node| !self.is_ruled_out(**node);
            let reached = round.iter().find(disappoints).copied().unwrap_or(last);
            self.tell(self.problem.lattice.n_down_to(reached), progress);
            from = Some(reached);
        }
        false
    }

    /// Asked between rounds, where nothing depends on the number of threads.
    fn is_over(&self) -> bool {
        self.checked >= self.stop.most_nodes || (self.stop.is_over)()
    }

    /// Reports how many nodes are settled in all. The walk never goes back before the last node that it reached.
    fn tell(&mut self, n_settled: u128, progress: Progress<'_>) {
        progress(u64::try_from(n_settled - self.n_told).unwrap_or(u64::MAX));
        self.n_told = n_settled;
    }

    /// Rolls up to a few nodes of even height, from which higher nodes can be formed at less cost.
    fn lay_spine(&mut self) {
        let lattice = &self.problem.lattice;
        let axes = 0..lattice.n_axes();
        let most = axes.clone().map(|axis| lattice.n_levels(axis)).max().unwrap_or(1);
        for height in 1..most {
            let even = |node, axis| lattice.with(node, axis, height.min(lattice.n_levels(axis) - 1));
            let node = axes.clone().fold(lattice.bottom(), even);
            self.keep(self.source(node).above(self.problem, node));
        }
    }

    /// From the top down, always to the cheapest lower neighbour, as long as that gains: a good first bound.
    fn descend(&mut self) {
        let mut at = self.best;
        loop {
            let lattice = &self.problem.lattice;
            let lower = (0..lattice.n_axes()).filter_map(|axis| lattice.lowered(at.1, axis));
            let lower: Vec<Node> = lower.filter(|node| !self.seen.contains(node)).collect();
            if self.is_over() {
                return;
            }
            let judged: Vec<JudgedNode<K>> = lower.par_iter().map(|&node| self.judge(node)).collect();
            let costs = judged.iter().filter_map(|(verdict, _)| Some((verdict.cost?, verdict.node)));
            let next = costs.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            self.absorb(judged);
            match next {
                Some(next) if next.0 < at.0 => at = next,
                _ => return,
            }
        }
    }

    /// Judges a node. If it rules out all nodes below, looks for a higher one that rules out more. If all nodes above
    /// it cost too much, looks for a lower one of which this is true.
    fn explore(&self, node: Node) -> Vec<JudgedNode<K>> {
        let first = self.judge(node);
        let (fails, is_dear) = (first.0.rules_out_below, first.0.least_above >= self.best.0);
        let mut judged = vec![first];
        if fails {
            // Somewhere on the way up is the last node that fails.
            let fails =
                |node: Node| self.is_ruled_out(node).then_some(true).or(self.seen.contains(&node).then_some(false));
            self.last_on(&self.way_up(node), &mut judged, fails, |verdict| verdict.rules_out_below);
        } else if is_dear {
            let is_known = |_| None;
            self.last_on(&self.way_down(node), &mut judged, is_known, |verdict| verdict.least_above >= self.best.0);
        }
        judged
    }

    /// Looks for the last node on a path that is like the first. After the first node that is unlike it, none is like
    /// it.
    fn last_on(
        &self,
        path: &[Node],
        judged: &mut Vec<JudgedNode<K>>,
        known: impl Fn(Node) -> Option<bool>,
        is_like: impl Fn(&Verdict) -> bool,
    ) {
        let (mut low, mut high) = (0, path.len());
        while low + 1 < high && !(self.stop.is_over)() {
            let middle = low.midpoint(high);
            let like = known(path[middle]).unwrap_or_else(|| {
                judged.push(self.judge(path[middle]));
                judged.last().is_some_and(|(verdict, _)| is_like(verdict))
            });
            if like { low = middle } else { high = middle }
        }
    }

    /// The way from a node to the bottom, the last attribute first, because the nodes that come next in the walk are
    /// near.
    fn way_down(&self, node: Node) -> Vec<Node> {
        let lattice = &self.problem.lattice;
        let mut path = vec![node];
        let mut at = node;
        for axis in (0..lattice.n_axes()).rev() {
            while let Some(next) = lattice.lowered(at, axis) {
                path.push(next);
                at = next;
            }
        }
        path
    }

    /// The way from a node to the top, always raising the attribute that adds least to the cost.
    fn way_up(&self, node: Node) -> Vec<Node> {
        let lattice = &self.problem.lattice;
        let mut path = vec![node];
        let mut at = node;
        let step = |at: Node, axis: usize| {
            let level = lattice.level(at, axis);
            let next = lattice.raised(at, axis)?;
            Some((self.base[axis][level + 1] - self.base[axis][level], axis, next))
        };
        while let Some((_, _, next)) = (0..lattice.n_axes())
            .filter_map(|axis| step(at, axis))
            .min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)))
        {
            path.push(next);
            at = next;
        }
        path
    }

    fn judge(&self, node: Node) -> JudgedNode<K> {
        let source = self.source(node);
        let (verdict, groups) = self.problem.evaluate(source, node);
        let is_worth_it = |groups: &Groups<K>| groups.keys.len() * 2 <= source.keys.len();
        (verdict, groups.filter(is_worth_it))
    }

    /// The smallest groups from which those of a node can be rolled up.
    fn source(&self, node: Node) -> &Groups<K> {
        let fits = |source: &&Groups<K>| self.problem.lattice.is_below(source.node, node);
        // PROOF: the exact groups are below every node and are never dropped.
        self.sources.iter().find(fits).unwrap_or(&self.sources[self.sources.len() - 1])
    }

    fn keep(&mut self, groups: Groups<K>) {
        let most = self.sources[self.sources.len() - 1].weight() * 2 + LEAST_ROOM;
        if self.sources.len() < MOST_KEPT && self.n_kept + groups.weight() <= most {
            self.n_kept += groups.weight();
            let at = self.sources.partition_point(|source| source.keys.len() < groups.keys.len());
            self.sources.insert(at.min(self.sources.len() - 1), groups);
        }
    }

    /// Takes in verdicts, in their order.
    fn absorb(&mut self, judged: Vec<JudgedNode<K>>) {
        for (verdict, groups) in judged {
            if !self.seen.insert(verdict.node) {
                continue;
            }
            self.checked += 1;
            groups.into_iter().for_each(|groups| self.keep(groups));
            if let Some(cost) = verdict.cost.filter(|&cost| cost < self.best.0) {
                self.best = (cost, verdict.node);
            }
            let lattice = &self.problem.lattice;
            if verdict.rules_out_below && !self.is_ruled_out(verdict.node) {
                self.ruled_out.retain(|&known| !lattice.is_below(known, verdict.node));
                self.ruled_out.push(verdict.node);
            }
            if verdict.extra_below > 0.0 {
                self.extras.push((verdict.node, verdict.extra_below));
            }
            if verdict.least_above > 0.0 {
                self.floors.push((verdict.node, verdict.least_above));
            }
        }
    }

    /// The groups of the exact values.
    pub(super) fn into_exact(mut self) -> Groups<K> {
        self.sources.swap_remove(self.sources.len() - 1)
    }

    fn is_ruled_out(&self, node: Node) -> bool {
        self.ruled_out.iter().any(|&known| self.problem.lattice.is_below(node, known))
    }

    /// The next nodes that could still be better, none below another, after `from` in descending order. `None` if the
    /// search was stopped meanwhile.
    fn open_nodes(&self, from: Option<Node>, n_looks: &Cell<u64>) -> Option<Vec<Node>> {
        let mut round: Vec<Node> = Vec::new();
        let mut from = from;
        let dear = self.floors.iter().filter(|(_, floor)| *floor >= self.best.0);
        let floors: Vec<Node> = dear.map(|(node, _)| *node).collect();
        let is_open = |node: Node, cost: f64| self.is_open(node, cost);
        let stop = || {
            n_looks.set(n_looks.get() + 1);
            (self.stop.is_over)() || n_looks.get() / LOOKS_PER_NODE >= self.stop.most_nodes
        };
        let walk = Walk::new(&self.problem.lattice, (&self.base, self.best.0), &is_open, &stop);
        let mut ruled_out = self.ruled_out.clone();
        while round.len() < ROUND {
            let Some(node) = walk.next(from, &ruled_out, &floors) else { break };
            round.push(node);
            ruled_out.push(node);
            from = Some(node);
        }
        (!walk.was_stopped()).then_some(round)
    }

    /// Whether a node that nothing rules out may still be better.
    fn is_open(&self, node: Node, cost: f64) -> bool {
        let lattice = &self.problem.lattice;
        // Lemma 2, with room for the rounding of two sums.
        let is_dear =
            |&(known, extra): &(Node, f64)| cost + extra * (1.0 - 1e-9) >= self.best.0 && lattice.is_below(node, known);
        !self.seen.contains(&node) && !self.extras.iter().any(is_dear)
    }
}
