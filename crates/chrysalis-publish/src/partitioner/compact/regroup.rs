//! Step 4: wide groups are taken apart; their rows join other groups, or find partners that other groups can spare.

use chrysalis_criteria::Principle;
use chrysalis_table::{Progress, SaCounts, pause_at};
use rand::RngExt;
use rand::rngs::ChaCha20Rng;
use rayon::prelude::*;

use super::atoms::{Atoms, Groups, Piece};
use super::dissolution::{Dissolution, Neighbourhood};
use super::hull::Hull;
use super::line::{Line, Measure};

/// In how many orders to look for partners.
const N_ORDERS: usize = 6;
/// Groups with more pieces stay together. If the goal needs more rows than `MOST_LEAST`, all groups do.
const MOST_PIECES: usize = 512;
const MOST_LEAST: u64 = 256;

/// Plans the dissolution of all wide groups at once, then carries out the plans that do not conflict.
pub(super) fn regroup(
    atoms: &Atoms,
    measures: &[Measure],
    groups: Groups,
    goal: &dyn Principle,
    n_values: usize,
    rng: &mut ChaCha20Rng,
    progress: Progress<'_>,
) -> Groups {
    if goal.least_size() > MOST_LEAST {
        return groups;
    }
    let group_of: Vec<u32> =
        (0..groups.len() as u32).flat_map(|group| groups.group(group as usize).iter().map(move |_| group)).collect();
    let lines: Vec<Line> = measures.iter().map(Line::whole).collect();
    let hulls = Hull::all(&lines, atoms, &groups);
    let keys: Vec<Vec<usize>> = (0..N_ORDERS).map(|_| priorities(measures, &lines, rng)).collect();
    let ordered = |key: &Vec<usize>| {
        progress(0);
        order(atoms, &groups, key)
    };
    let (orders, places): (Vec<_>, Vec<_>) = keys.par_iter().map(ordered).unzip();
    let neighbourhood = Neighbourhood {
        atoms,
        lines: &lines,
        groups: &groups,
        group_of: &group_of,
        hulls: &hulls,
        orders: &orders,
        places: &places,
        goal,
        // PROOF: at most MOST_LEAST.
        least: goal.least_size().max(1) as u32,
    };
    let is_wide = |&group: &u32| hulls[group as usize].width > 0.0 && groups.group(group as usize).len() <= MOST_PIECES;
    let wide: Vec<u32> = (0..groups.len() as u32).filter(is_wide).collect();
    let mut dissolutions: Vec<Dissolution> = wide
        .par_iter()
        .map_init(
            || SaCounts::new(n_values),
            |counts, &group| {
                pause_at(progress, group as usize);
                neighbourhood.dissolution(group, counts)
            },
        )
        .flatten()
        .collect();
    dissolutions.sort_by(|a, b| b.gain.total_cmp(&a.gain).then(a.group.cmp(&b.group)));
    let mut state = State::new(&neighbourhood, n_values);
    for (at, dissolution) in dissolutions.iter().enumerate() {
        pause_at(progress, at);
        state.carry_out(dissolution);
    }
    state.into_groups()
}

/// The groups in an order in which neighbours lie close together.
pub(super) fn side_by_side(
    atoms: &Atoms,
    measures: &[Measure],
    lines: &[Line],
    groups: &Groups,
    rng: &mut ChaCha20Rng,
) -> Groups {
    let key = priorities(measures, lines, rng);
    let cells = |group: usize| {
        let cells = groups.group(group).first().map_or(&[][..], |piece| atoms.cells(piece.atom));
        key.iter().filter_map(move |&at| cells.get(at))
    };
    let mut order: Vec<usize> = (0..groups.len()).collect();
    order.sort_by(|&a, &b| cells(a).cmp(cells(b)));
    let mut sorted = Groups::default();
    order.into_iter().for_each(|group| sorted.push(groups.group(group).iter().copied()));
    sorted
}

/// Attributes in a random order in which expensive ones tend to come first.
fn priorities(measures: &[Measure], lines: &[Line], rng: &mut ChaCha20Rng) -> Vec<usize> {
    let mut wait = |weight: f64| -rng.random::<f64>().max(f64::MIN_POSITIVE).ln() / weight.max(1e-9);
    let weights = measures.iter().zip(lines).map(|(measure, line)| measure.weight(line.n.max(1)));
    let mut keyed: Vec<(f64, usize)> = weights.enumerate().map(|(at, weight)| (wait(weight), at)).collect();
    keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
    keyed.into_iter().map(|(_, at)| at).collect()
}

/// All pieces sorted by attributes in the order of `key`, and the position of each piece.
fn order(atoms: &Atoms, groups: &Groups, key: &[usize]) -> (Vec<u32>, Vec<u32>) {
    let mut order: Vec<u32> = (0..groups.pieces.len() as u32).collect();
    let cells = |piece: u32| {
        let cells = atoms.cells(groups.pieces[piece as usize].atom);
        key.iter().map(move |&at| cells[at])
    };
    order.sort_unstable_by(|&a, &b| cells(a).cmp(cells(b)).then(a.cmp(&b)));
    let mut places = vec![0; order.len()];
    (0u32..).zip(&order).for_each(|(place, &piece)| places[piece as usize] = place);
    (order, places)
}

/// The groups while dissolutions are carried out.
struct State<'a> {
    neighbourhood: &'a Neighbourhood<'a>,
    /// Rows left of every piece.
    left: Vec<u32>,
    /// Rows left of every group.
    sizes: Vec<u32>,
    /// Groups that were taken apart, or joined by others: what was planned for them no longer holds.
    is_changed: Vec<bool>,
    has_given: Vec<bool>,
    joined: Vec<Vec<Piece>>,
    fresh: Vec<Vec<Piece>>,
    counts: SaCounts,
}

impl<'a> State<'a> {
    fn new(neighbourhood: &'a Neighbourhood<'a>, n_values: usize) -> Self {
        let n = neighbourhood.groups.len();
        State {
            neighbourhood,
            left: neighbourhood.groups.pieces.iter().map(|piece| piece.count).collect(),
            sizes: neighbourhood.hulls.iter().map(|hull| hull.size).collect(),
            is_changed: vec![false; n],
            has_given: vec![false; n],
            joined: vec![Vec::new(); n],
            fresh: Vec::new(),
            counts: SaCounts::new(n_values),
        }
    }

    fn piece(&self, piece: u32, count: u32) -> Piece {
        Piece { atom: self.neighbourhood.groups.pieces[piece as usize].atom, count }
    }

    /// Carries out a dissolution, unless others have changed the groups that it was planned for.
    fn carry_out(&mut self, dissolution: &Dissolution) {
        let given = self.given(dissolution);
        if !self.is_possible(dissolution, &given) {
            return;
        }
        for &(piece, home) in &dissolution.joins {
            let joining = self.piece(piece, self.left[piece as usize]);
            self.joined[home as usize].push(joining);
            self.is_changed[home as usize] = true;
        }
        for members in &dissolution.fresh {
            let members = members.iter().map(|&(piece, count)| self.piece(piece, count)).collect();
            self.fresh.push(members);
        }
        for (piece, count) in given {
            let home = self.neighbourhood.group_of[piece as usize] as usize;
            self.left[piece as usize] -= count;
            self.sizes[home] -= count;
            self.has_given[home] = true;
        }
        self.neighbourhood.pieces_of(dissolution.group).for_each(|piece| self.left[piece as usize] = 0);
        self.is_changed[dissolution.group as usize] = true;
    }

    /// The rows that other groups give: every piece once, with all rows it gives.
    fn given(&self, dissolution: &Dissolution) -> Vec<(u32, u32)> {
        let others = dissolution
            .fresh
            .iter()
            .flatten()
            .filter(|(piece, _)| self.neighbourhood.group_of[*piece as usize] != dissolution.group);
        let mut given: Vec<(u32, u32)> = others.copied().collect();
        given.sort_unstable();
        given.chunk_by(|a, b| a.0 == b.0).map(|run| (run[0].0, run.iter().map(|(_, count)| count).sum())).collect()
    }

    fn is_possible(&mut self, dissolution: &Dissolution, given: &[(u32, u32)]) -> bool {
        let neighbourhood = self.neighbourhood;
        let is_free = |group: u32| !self.is_changed[group as usize] && !self.has_given[group as usize];
        let homes_are_free = dissolution.joins.iter().all(|&(_, home)| is_free(home));
        let home_of = |piece: u32| neighbourhood.group_of[piece as usize];
        let has_rows = |&(piece, count): &(u32, u32)| {
            let home = home_of(piece);
            self.left[piece as usize] >= count
                && !self.is_changed[home as usize]
                && dissolution.joins.iter().all(|join| join.1 != home)
        };
        if !is_free(dissolution.group) || !homes_are_free || !given.iter().all(has_rows) {
            return false;
        }
        let mut givers: Vec<u32> = given.iter().map(|&(piece, _)| home_of(piece)).collect();
        // PROOF: pieces of one group stand together, and `given` is sorted by piece.
        givers.dedup();
        let gives = |group: u32| given.iter().filter(move |(piece, _)| home_of(*piece) == group);
        let stays = |group: u32| {
            gives(group).map(|(_, count)| count).sum::<u32>().saturating_add(neighbourhood.least)
                <= self.sizes[group as usize]
        };
        if !givers.iter().all(|&group| stays(group)) {
            return false;
        }
        neighbourhood.goal.is_size_only()
            || givers.iter().all(|&group| self.holds(group, given, None))
                && dissolution.joins.iter().all(|&(piece, home)| self.holds(home, &[], Some(piece)))
    }

    /// Whether a group passes once rows have left it and a piece has come.
    fn holds(&mut self, group: u32, given: &[(u32, u32)], coming: Option<u32>) -> bool {
        self.counts.clear();
        for piece in self.neighbourhood.pieces_of(group) {
            let gone = given.iter().find(|(other, _)| *other == piece).map_or(0, |(_, count)| *count);
            self.counts.add_many(self.neighbourhood.value(piece), self.left[piece as usize] - gone);
        }
        if let Some(piece) = coming {
            self.counts.add_many(self.neighbourhood.value(piece), self.left[piece as usize]);
        }
        self.neighbourhood.goal.holds(&self.counts)
    }

    fn into_groups(self) -> Groups {
        let mut groups = Groups::default();
        for group in 0..self.neighbourhood.groups.len() {
            let kept = self.neighbourhood.pieces_of(group as u32).filter(|&piece| self.left[piece as usize] > 0);
            let kept = kept.map(|piece| self.piece(piece, self.left[piece as usize]));
            let members: Vec<Piece> = kept.chain(self.joined[group].iter().copied()).collect();
            if !members.is_empty() {
                groups.push(members.into_iter());
            }
        }
        self.fresh.into_iter().for_each(|members| groups.push(members.into_iter()));
        groups
    }
}
