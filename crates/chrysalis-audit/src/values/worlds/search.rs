use std::collections::BTreeMap;

use super::Work;
use super::index::{Problem, ShownAttribute};
use super::propagate::State;

/// The rest, divided into problems that share no group and no people.
pub(super) fn components(problem: &Problem, state: &State, work: &mut Work<'_>) -> Vec<Problem> {
    let mut parents: Vec<u32> = (0..problem.n_groups as u32).collect();
    let kinds: Vec<u32> = (0..state.people.len() as u32).filter(|&kind| state.people[kind as usize] > 0).collect();
    let mut home = Vec::with_capacity(kinds.len());
    for &kind in &kinds {
        let mut groups = state.candidates(problem, kind, work).into_iter();
        let first = groups.next().unwrap_or(0);
        groups.for_each(|group| {
            let (a, b) = (root(&mut parents, first), root(&mut parents, group));
            parents[a.max(b) as usize] = a.min(b);
        });
        home.push(first);
    }
    let mut parts: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (&kind, &group) in kinds.iter().zip(&home) {
        parts.entry(root(&mut parents, group)).or_default().push(kind);
    }
    // What a group shows belongs to the part of the group; groups are found by value, so every value is looked at once.
    let mut shown: BTreeMap<u32, Vec<ShownAttribute>> = BTreeMap::new();
    for (column, lists) in problem.columns.iter().enumerate() {
        for value in 0..lists.n_values() as u32 {
            work.watch.pause();
            for place in lists.places(value).filter(|&place| state.shown[column][place] > 0) {
                let part = root(&mut parents, lists.groups[place]);
                let columns = shown.entry(part).or_insert_with(|| vec![Vec::new(); problem.columns.len()]);
                columns[column].push((value, lists.groups[place], state.shown[column][place]));
            }
        }
    }
    let part = |(root, kinds): (u32, Vec<u32>)| {
        work.watch.pause();
        let shown = shown.remove(&root).unwrap_or_else(|| vec![Vec::new(); problem.columns.len()]);
        compact(problem, state, &kinds, shown)
    };
    parts.into_iter().map(part).collect()
}

fn root(parents: &mut [u32], mut group: u32) -> u32 {
    while parents[group as usize] != group {
        let parent = parents[group as usize];
        parents[group as usize] = parents[parent as usize];
        group = parent;
    }
    group
}

/// A part with values and groups numbered anew.
fn compact(problem: &Problem, state: &State, kinds: &[u32], mut shown: Vec<ShownAttribute>) -> Problem {
    let n_columns = problem.columns.len();
    let mut codes: Vec<u32> = kinds.iter().flat_map(|&kind| problem.values(kind).iter().copied()).collect();
    let mut groups: Vec<u32> = shown.iter().flatten().map(|&(_, group, _)| group).collect();
    groups.sort_unstable();
    groups.dedup();
    let place = |sorted: &[u32], number: u32| sorted.partition_point(|&known| known < number) as u32;
    for (column, shown) in shown.iter_mut().enumerate() {
        let of_people = codes.iter().skip(column).step_by(n_columns).copied();
        let mut values: Vec<u32> = shown.iter().map(|&(value, ..)| value).chain(of_people).collect();
        values.sort_unstable();
        values.dedup();
        for (value, group, _) in shown.iter_mut() {
            (*value, *group) = (place(&values, *value), place(&groups, *group));
        }
        codes.iter_mut().skip(column).step_by(n_columns).for_each(|value| *value = place(&values, *value));
    }
    let people = kinds.iter().map(|&kind| state.people[kind as usize]).collect();
    Problem::new(shown, codes, people, groups.len())
}

/// Step 3: tries every group for one person after another. `None` when there is no work left to spend.
pub(super) fn attempt(problem: &Problem, mut state: State, work: &mut Work<'_>) -> Option<bool> {
    let size: usize = state.shown.iter().map(Vec::len).sum();
    work.spend(size as u64);
    let choice = match state.settle(problem, work) {
        Err(_) => return Some(false),
        Ok(_) if state.n_left() == 0 => return Some(true),
        Ok(choice) => choice?,
    };
    let (kind, groups) = choice;
    let mut is_open = false;
    for group in groups {
        let mut next = state.clone();
        if next.assign(problem, kind, group, 1).is_err() {
            continue;
        }
        match attempt(problem, next, work) {
            Some(true) => return Some(true),
            Some(false) => {}
            None => is_open = true,
        }
        if work.is_spent() {
            return None;
        }
    }
    if is_open { None } else { Some(false) }
}
