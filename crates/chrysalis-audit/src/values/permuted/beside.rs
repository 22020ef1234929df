//! One column that was permuted beside others that were not.

use chrysalis_table::{Codes, Table, Watch};
use rayon::prelude::*;

use super::super::tables::ValueTables;
use super::odds::{Block, Board, Evidence, Odds};
use super::{Rows, Test, surprise};
use crate::Groups;
use crate::grouping::Key;
use crate::source::join;

/// The sensitive column beside everything else.
pub(super) fn tests(tables: &ValueTables<'_>, rows: &Rows, microdata: &Table, watch: &dyn Watch) -> Vec<Test> {
    let fixed = tables.quasi.iter().chain(&tables.others);
    let fixed: Option<Vec<_>> = fixed.map(|(it, column)| Some(join(microdata.column(&it.name)?, column))).collect();
    let Some(((attribute, column), fixed)) = tables.sensitive.zip(fixed.filter(|fixed| !fixed.is_empty())) else {
        return Vec::new();
    };
    let Some(source) = microdata.column(&attribute.name) else { return Vec::new() };
    let (moved, _) = join(source, column);
    let evidence = evidence(&fixed, &moved, microdata.rows(), rows, watch);
    vec![Test { what: format!("`{}`", attribute.name), evidence }]
}

/// What the groups say about one moved column beside fixed ones. Columns hold people first, then published rows.
pub(super) fn evidence(
    fixed: &[(Codes, usize)],
    moved: &Codes,
    n_people: usize,
    rows: &Rows,
    watch: &dyn Watch,
) -> Evidence {
    let keys: Vec<Key<'_>> = fixed.iter().map(|(codes, n_codes)| Key { codes, n_codes: *n_codes }).collect();
    let kinds = Groups::of_keys(&keys, n_people + rows.rows.len(), watch);
    watch.pause();
    let people = People::new(&kinds, moved, n_people);
    watch.pause();
    let mut odds = Odds::new(rows.most());
    let mut evidence = Evidence::default();
    let shown = |&row: &u32| {
        let at = n_people + row as usize;
        (kinds.of_row[at], moved.get(at))
    };
    let of_group = |group: usize| {
        watch.pause_at(group);
        board(&people, rows.of(group).iter().map(shown).collect())
    };
    let boards: Vec<Option<Board>> = (0..rows.n_groups()).into_par_iter().with_min_len(64).map(of_group).collect();
    for (at, board) in boards.iter().enumerate() {
        watch.pause_at(at);
        board.iter().for_each(|board| odds.add(board, &mut evidence));
    }
    evidence
}

/// The values of people by kind, which is what the fixed columns show of them; each value with its number of people.
struct People {
    /// Where the values of every kind begin; one more entry at the end.
    starts: Vec<u32>,
    /// Values and people, ascending by value.
    values: Vec<(u32, u32)>,
}

impl People {
    fn new(kinds: &Groups, moved: &Codes, n_people: usize) -> People {
        let mut pairs: Vec<(u32, u32)> = (0..n_people).map(|row| (kinds.of_row[row], moved.get(row))).collect();
        pairs.par_sort_unstable();
        let (mut starts, mut values) = (vec![0; kinds.n_groups + 1], Vec::new());
        for run in pairs.chunk_by(|a, b| a == b) {
            values.push((run[0].1, run.len() as u32));
            starts[run[0].0 as usize + 1] = values.len() as u32;
        }
        (1..starts.len()).for_each(|at| starts[at] = starts[at].max(starts[at - 1]));
        People { starts, values }
    }

    fn of(&self, kind: u32) -> &[(u32, u32)] {
        &self.values[self.starts[kind as usize] as usize..self.starts[kind as usize + 1] as usize]
    }
}

/// What a group's rows want and show; `None` where the group has only one value. `shown` holds the kind and value of
/// every row.
fn board(people: &People, mut shown: Vec<(u32, u32)>) -> Option<Board> {
    let n = shown.len();
    let mut values: Vec<u32> = shown.iter().map(|&(_, value)| value).collect();
    values.sort_unstable();
    let copies: Vec<(u32, u32)> = values.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as u32)).collect();
    if copies.len() < 2 {
        return None;
    }
    let mut blocks: Vec<Block> = copies.iter().map(|&(_, copies)| Block { copies, ..Block::default() }).collect();
    shown.sort_unstable();
    for run in shown.chunk_by(|a, b| a.0 == b.0) {
        let own = people.of(run[0].0);
        let mut wishes: Vec<(u32, usize)> = Vec::new();
        // Iterate over the shorter list and search the longer one.
        if own.len() <= copies.len() {
            let at = |value: u32| copies.binary_search_by_key(&value, |&(value, _)| value).ok();
            wishes.extend(own.iter().filter_map(|&(value, people)| Some((people, at(value)?))));
        } else {
            let people = |value: u32| own.binary_search_by_key(&value, |&(value, _)| value).ok().map(|at| own[at].1);
            wishes.extend(copies.iter().enumerate().filter_map(|(at, &(value, _))| Some((people(value)?, at))));
        }
        let worth = |&(people, at): &(u32, usize)| surprise(people, copies[at].1, n);
        let best = wishes.iter().reduce(|best, other| if worth(other) > worth(best) { other } else { best });
        let Some(&(n_own, at)) = best else { continue };
        let (value, rows) = (copies[at].0, run.len() as u32);
        let block = &mut blocks[at];
        block.wanting += rows;
        block.found += run.iter().filter(|(_, shown)| *shown == value).count() as u32;
        // Rows of a kind with one wish would show it; with several wishes, only if everybody of this kind is in this
        // group.
        let n_of_kind: u32 = own.iter().map(|&(_, people)| people).sum();
        block.if_true += match wishes.len() {
            1 => rows,
            _ if n_of_kind == rows => n_own,
            _ => 0,
        };
    }
    Some(Board { rows: n as u32, blocks })
}
