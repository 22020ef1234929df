//! The second half of step 3: rows change groups while that lowers the penalty.

use super::grow::join_best;
use super::pool::Pool;
use super::rules::Rules;

/// A change must lower the penalty by more than rounding could.
const WORTHWHILE: f64 = 1e-7;
/// The most passes over all rows.
const MOST_PASSES: usize = 3;

/// Moves rows, exchanges rows and dissolves groups; no group ever fails on the way.
pub(super) fn polish(pool: &mut Pool<'_>, rules: &mut Rules<'_>) {
    for _ in 0..MOST_PASSES {
        let mut has_changed = false;
        for group in 0..pool.len() {
            let mut at = 0;
            while at < pool.pieces[group].len() {
                let (atom, count) = pool.pieces[group][at];
                let moved = move_out(pool, group, atom as usize, count, rules)
                    || (count > 1 && move_out(pool, group, atom as usize, 1, rules))
                    || exchange(pool, group, atom as usize, rules);
                has_changed |= moved;
                at += usize::from(!moved);
            }
        }
        let mut group = 0;
        while group < pool.len() {
            let gone = dissolve(pool, group, rules);
            has_changed |= gone;
            group += usize::from(!gone);
        }
        if !has_changed {
            return;
        }
    }
}

/// The cost of `count` rows of an atom in the group where they cost least, and that group, if the cost is below `most`.
fn best_home(pool: &Pool<'_>, from: usize, atom: usize, count: u32, most: f64) -> Option<(f64, usize)> {
    let mut best: Option<(f64, usize)> = None;
    for group in (0..pool.len()).filter(|&group| group != from) {
        let before = pool.cost_of(group);
        let size = f64::from(pool.sizes[group] + count);
        let bound = best.map_or(most, |(cost, _)| cost);
        let width = pool.width_with(group, atom, (bound + before) / size);
        let cost = size * width - before;
        if cost < bound {
            best = Some((cost, group));
        }
    }
    best
}

/// Moves rows to the group where they cost least.
fn move_out(pool: &mut Pool<'_>, group: usize, atom: usize, count: u32, rules: &mut Rules<'_>) -> bool {
    let size = pool.sizes[group];
    if size < rules.least + count || pool.widths[group] == 0.0 {
        return false;
    }
    let saved = pool.cost_of(group) - f64::from(size - count) * pool.width_without(group, (atom, count));
    let Some((_, home)) = best_home(pool, group, atom, count, saved - WORTHWHILE) else { return false };
    let allowed =
        rules.allow(pool, group, Some((atom, count)), None) && rules.allow(pool, home, None, Some((atom, count)));
    if allowed {
        pool.remove(group, atom, count);
        pool.add(home, atom, count);
    }
    allowed
}

/// Moves a row to the group where it costs least, and takes another row in its place: from a group that can spare it,
/// or from the group that the row moves to.
fn exchange(pool: &mut Pool<'_>, group: usize, atom: usize, rules: &mut Rules<'_>) -> bool {
    let whole = pool.cost_of(group);
    if whole == 0.0 {
        return false;
    }
    let size = f64::from(pool.sizes[group]);
    let narrowed = pool.width_without(group, (atom, 1));
    if narrowed >= pool.widths[group] {
        return false;
    }
    let Some((added, home)) = best_home(pool, group, atom, 1, f64::INFINITY) else { return false };
    let mut best: Option<(f64, usize, usize)> = None;
    let mut bound = -WORTHWHILE;
    let (mut ends, mut other_ends) = (Vec::new(), Vec::new());
    pool.shrunk(group, (atom, 1), &mut ends);
    for giver in (0..pool.len()).filter(|&giver| giver != group) {
        let is_swap = giver == home;
        if !is_swap && pool.sizes[giver] <= rules.least {
            continue;
        }
        let (cost, n) = (pool.cost_of(giver), f64::from(pool.sizes[giver]));
        for &(other, _) in &pool.pieces[giver] {
            let other = other as usize;
            // Whichever row leaves, the giver costs nothing at best.
            let spare = if is_swap { -cost } else { added - cost };
            let limit = (bound - spare + whole) / size;
            if limit <= narrowed {
                break;
            }
            let width = pool.width_exchanged(group, (atom, 1), &ends, other, limit);
            if width >= limit {
                continue;
            }
            let here = size * width - whole;
            let there = if is_swap {
                pool.shrunk(giver, (other, 1), &mut other_ends);
                n * pool.width_exchanged(giver, (other, 1), &other_ends, atom, f64::INFINITY) - cost
            } else {
                (n - 1.0) * pool.width_without(giver, (other, 1)) - cost + added
            };
            if here + there < bound
                && rules.allow(pool, group, Some((atom, 1)), Some((other, 1)))
                && rules.allow(pool, giver, Some((other, 1)), is_swap.then_some((atom, 1)))
                && (is_swap || rules.allow(pool, home, None, Some((atom, 1))))
            {
                bound = here + there;
                best = Some((bound, giver, other));
            }
        }
    }
    let Some((_, giver, other)) = best else { return false };
    pool.remove(group, atom, 1);
    pool.add(group, other, 1);
    pool.remove(giver, other, 1);
    pool.add(home, atom, 1);
    true
}

/// Gives all rows of a group to others where that costs less.
fn dissolve(pool: &mut Pool<'_>, group: usize, rules: &mut Rules<'_>) -> bool {
    let whole = pool.cost_of(group);
    if whole == 0.0 || pool.len() < 2 {
        return false;
    }
    let before = pool.cost();
    let mut trial = pool.clone();
    trial.forget(group);
    for &(atom, count) in &pool.pieces[group] {
        for _ in 0..count {
            if join_best(&mut trial, atom as usize, 1, rules).is_none() || trial.cost() >= before - WORTHWHILE {
                return false;
            }
        }
    }
    *pool = trial;
    true
}
