//! Columns that were each permuted on their own: every two of them, and one of them beside all others.

use chrysalis_table::{Code, Column, Table, Watch};
use rayon::prelude::*;

use super::super::locate;
use super::super::tables::ValueTables;
use super::super::tally::Tally;
use super::odds::{Block, Board, Evidence, Odds};
use super::{Rows, Test, beside, surprise};
use crate::measure::GroupCounts;
use crate::source::join;

/// The most people whose groups are looked for: if a few thousand do not make a test sharp, more would not either.
const PEOPLE: usize = 5_000;

pub(super) fn tests(
    tables: &ValueTables<'_>,
    (tally, rows): (&Tally, &Rows),
    columns: &[GroupCounts],
    microdata: &Table,
    watch: &dyn Watch,
) -> Vec<Test> {
    let names: Vec<&str> = tables.quasi.iter().map(|(attribute, _)| attribute.name.as_str()).collect();
    let sources: Option<Vec<&Column>> = names.iter().map(|name| microdata.column(name)).collect();
    let Some(sources) = sources.filter(|sources| sources.len() >= 2 && columns.len() == sources.len()) else {
        return Vec::new();
    };
    let shown: Vec<&Column> = tables.quasi.iter().map(|(_, column)| *column).collect();
    // The column with the most values in its groups tells the most.
    let variety = |column: &GroupCounts| (0..rows.n_groups()).map(|at| column.group(at).values.len()).sum::<usize>();
    let variety: Vec<usize> = columns.iter().map(variety).collect();
    let richest = (0..columns.len()).rev().max_by_key(|&at| variety[at]).unwrap_or(0);
    let mut tests = vec![jointly(&names, &sources, &shown, (richest, rows), watch)];
    let located = Located::new(tables, tally, columns, (microdata, &sources, &shown), watch);
    let pairs: Vec<(usize, usize)> = (0..names.len()).flat_map(|a| (a + 1..names.len()).map(move |b| (a, b))).collect();
    let most = rows.most();
    let test = |&(a, b): &(usize, usize)| {
        let (a, b) = if variety[a] < variety[b] { (b, a) } else { (a, b) };
        let mut odds = Odds::new(most);
        let mut evidence = Evidence::default();
        for people in located.people.chunk_by(|a, b| a.0 == b.0) {
            watch.pause();
            let group = people[0].0 as usize;
            let board = board((a, b), people, &located.codes, (columns, &shown), (group, rows.of(group)));
            board.iter().for_each(|board| odds.add(board, &mut evidence));
        }
        Test { what: format!("`{}` beside `{}`", names[b], names[a]), evidence }
    };
    tests.extend(pairs.par_iter().map(test).collect::<Vec<Test>>());
    tests
}

/// One column beside all others as they are shown: given these, all its orders are equally likely.
fn jointly(
    names: &[&str],
    sources: &[&Column],
    shown: &[&Column],
    (moved, rows): (usize, &Rows),
    watch: &dyn Watch,
) -> Test {
    let mut joined: Vec<_> = sources.iter().zip(shown).map(|(source, shown)| join(source, shown)).collect();
    let (own, _) = joined.remove(moved);
    let n_people = sources[moved].codes().len();
    let evidence = beside::evidence(&joined, &own, n_people, rows, watch);
    // What the true order would show does not follow from what is shown now: the pairs say whether it would be noticed.
    Test { what: format!("`{}` beside all other columns", names[moved]), evidence: evidence.without_true_order() }
}

/// People whose group is known.
struct Located {
    /// Their group and their place in `codes`, ascending.
    people: Vec<(u32, u32)>,
    /// Their values as the release numbers them.
    codes: Vec<Vec<Code>>,
}

impl Located {
    fn new(
        tables: &ValueTables<'_>,
        tally: &Tally,
        columns: &[GroupCounts],
        (microdata, sources, shown): (&Table, &[&Column], &[&Column]),
        watch: &dyn Watch,
    ) -> Located {
        let step = microdata.rows().div_ceil(PEOPLE).max(1);
        let rows: Vec<usize> = (0..microdata.rows()).step_by(step).collect();
        let places = locate::among_columns(tables, tally, columns, (microdata, &rows), watch);
        let mut people: Vec<(u32, u32)> = Vec::new();
        for (at, places) in (0u32..).zip(&places) {
            people.extend((places.len() == 1).then(|| (places[0].0, at)));
        }
        people.sort_unstable();
        let of_column = |(source, shown): (&&Column, &&Column)| -> Vec<Code> {
            let translate = |code: Code| shown.domain().code_of(source.domain().value(code)).unwrap_or(Code::MAX);
            let of_code: Vec<Code> = (0..source.domain().len() as Code).map(translate).collect();
            rows.iter().map(|&row| of_code[source.code(row) as usize]).collect()
        };
        Located { people, codes: sources.iter().zip(shown).map(of_column).collect() }
    }
}

/// What the rows of a group show of column b beside column a, where some of its people are known.
fn board(
    (a, b): (usize, usize),
    people: &[(u32, u32)],
    codes: &[Vec<Code>],
    (columns, shown): (&[GroupCounts], &[&Column]),
    (group, rows): (usize, &[u32]),
) -> Option<Board> {
    let (of_a, of_b) = (columns[a].group(group).values, columns[b].group(group).values);
    if of_a.len() < 2 || of_b.len() < 2 {
        return None;
    }
    let mut own: Vec<(Code, Code)> =
        people.iter().map(|&(_, person)| (codes[a][person as usize], codes[b][person as usize])).collect();
    own.sort_unstable();
    let place = |values: &[(Code, u32)], code: Code| values.binary_search_by_key(&code, |&(code, _)| code).ok();
    let mut blocks: Vec<Block> = of_b.iter().map(|&(_, copies)| Block { copies, ..Block::default() }).collect();
    // Which value of b is wanted beside each value of a, as its place in the group.
    let mut wishes: Vec<(Code, usize)> = Vec::new();
    for run in own.chunk_by(|x, y| x.0 == y.0) {
        let Some(rows) = place(of_a, run[0].0).map(|at| of_a[at].1) else { continue };
        let values = run.chunk_by(|x, y| x == y);
        let values = values.filter_map(|same| Some((same.len() as u32, place(of_b, same[0].1)?)));
        let worth = |&(people, at): &(u32, usize)| surprise(people, of_b[at].1, rows_of(columns, a, group));
        let best = values.reduce(|best, other| if worth(&other) > worth(&best) { other } else { best });
        let Some((n_own, at)) = best else { continue };
        wishes.push((run[0].0, at));
        blocks[at].wanting += rows;
        blocks[at].if_true += n_own.min(rows);
    }
    for &row in rows {
        let wish = wishes.binary_search_by_key(&shown[a].code(row as usize), |&(code, _)| code);
        if let Ok(at) = wish.map(|wish| wishes[wish].1) {
            blocks[at].found += u32::from(shown[b].code(row as usize) == of_b[at].0);
        }
    }
    Some(Board { rows: rows.len() as u32, blocks })
}

fn rows_of(columns: &[GroupCounts], column: usize, group: usize) -> usize {
    columns[column].sizes()[group] as usize
}
