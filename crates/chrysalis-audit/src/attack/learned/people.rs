//! The people of the microdata, where they may be in a release, and whether bets on them are won.

use chrysalis_table::{Code, Codes, Column, Table};
use rayon::prelude::*;

use super::super::view::AttackerView;
use super::beliefs::{Beliefs, Minds, Open, SettledBeliefs};
use super::model::Model;
use super::{Bets, promised, surer};
use crate::Groups;
use crate::attack::finding::foremost;

/// The groups that people may be in, and how many rows of each could be theirs.
pub(crate) type Places = Vec<Vec<(u32, f32)>>;

/// The people, as far as they are known.
pub(crate) struct KnownPeople<'a> {
    pub(crate) microdata: &'a Table,
    /// Finds the groups that the people of these rows may be in.
    pub(crate) locate: &'a (dyn Fn(&[usize]) -> Places + Sync),
    /// Whether quasi values are published as they are, so that it is known who is in every group.
    pub(crate) is_exact: bool,
}

/// The most kinds of people bet on where their groups are not known, so that many groups must be searched for each.
const MOST_KINDS: usize = 20_000;

/// People by kind: those of one kind have the same quasi values.
pub(super) struct Victims {
    pub(super) n_people: Vec<u32>,
    /// The kinds whose values are all published somewhere.
    is_shown: Vec<bool>,
    /// A row of every kind.
    rows: Vec<usize>,
    /// Per attribute of the view, the bin of every kind.
    pub(super) bins: Vec<Codes>,
    /// Per kind, sensitive values as published codes with the number of people, ascending.
    starts: Vec<usize>,
    truth: Vec<(Code, u32)>,
}

impl Victims {
    pub(super) fn new(view: &AttackerView<'_>, known: &KnownPeople<'_>) -> Victims {
        let table = known.microdata;
        let columns: Vec<Option<&Column>> = view.quasi.iter().map(|shown| table.column(shown.name)).collect();
        let kinds =
            Groups::of_columns(&columns.iter().copied().flatten().collect::<Vec<_>>(), table.rows(), view.target.watch);
        let rows = kinds.some_rows();
        let mut is_shown = vec![true; kinds.n_groups];
        let mut bins_of = |(shown, column): (&super::super::shown::ShownAttribute<'_>, &Option<&Column>)| {
            view.target.watch.pause();
            let bins = column.map(|column| shown.bins_of_values(column)).unwrap_or_default();
            let bin = |(kind, &row): (usize, &usize)| {
                let bin = column.and_then(|column| bins[column.code(row) as usize]);
                is_shown[kind] &= bin.is_some();
                bin.unwrap_or(0)
            };
            Codes::collect(shown.n_bins, rows.iter().enumerate().map(bin))
        };
        let bins = view.quasi.iter().zip(&columns).map(&mut bins_of).collect();
        view.target.watch.pause();
        let (starts, truth) = truth(view, table, &kinds);
        let n_people = starts.windows(2).map(|ends| truth[ends[0]..ends[1]].iter().map(|(_, n)| n).sum()).collect();
        Victims { n_people, is_shown, rows, bins, starts, truth }
    }

    fn truth(&self, kind: usize) -> &[(Code, u32)] {
        &self.truth[self.starts[kind]..self.starts[kind + 1]]
    }

    /// Whether every sensitive value is a class of its own.
    pub(super) fn is_told_apart(&self, model: &Model) -> bool {
        model.n_classes == model.class_of.len()
    }

    /// Bets on everybody, or on a sample of kinds where every group that may hold them must be searched.
    pub(super) fn bets(&self, view: &AttackerView<'_>, model: &Model, known: &KnownPeople<'_>) -> Bets {
        let shown: Vec<u32> = (0..self.rows.len() as u32).filter(|&kind| self.is_shown[kind as usize]).collect();
        let locate =
            |kinds: &[u32]| (known.locate)(&kinds.iter().map(|&kind| self.rows[kind as usize]).collect::<Vec<_>>());
        let some = |step: usize| shown.iter().copied().step_by(step).collect::<Vec<u32>>();
        let few = some(shown.len().div_ceil(MOST_KINDS).max(1));
        let places = locate(&few);
        let is_certain = known.is_exact || (view.is_joint && places.iter().all(|places| places.len() <= 1));
        if !is_certain {
            return self.judge(view, model, &few, &Open::new(self, view, model, &places));
        }
        let places = if few.len() < shown.len() { locate(&shown) } else { places };
        let settled = SettledBeliefs::new(self, view, model, &shown, &places, known.is_exact);
        self.judge(view, model, &shown, &settled)
    }

    /// Bets on some kinds, given the beliefs about them, and scores the bets.
    fn judge(&self, view: &AttackerView<'_>, model: &Model, kinds: &[u32], beliefs: &dyn Beliefs) -> Bets {
        let truth = self.is_told_apart(model).then(|| self.taught(view, model));
        let n_values = view.target.domain.len();
        let promised = promised(view);
        let of_stretch = |(at, kinds): (usize, &[u32])| {
            let mut bets = Bets::default();
            let mut minds = Minds::new(n_values);
            view.target.watch.pause();
            for (place, &kind) in (at * STRETCH..).zip(kinds) {
                let Some(group) = beliefs.of(place, kind, &mut minds) else { continue };
                let people = f64::from(self.n_people[kind as usize]);
                let (learned, from_groups) = (minds.learned.best(&minds.touched), minds.groups.best(&minds.touched));
                bets.add(people, learned.0, from_groups.0, promised);
                bets.surest.push((learned.0, group));
                let (right, right_from_groups) = (self.right(kind, &learned.1), self.right(kind, &from_groups.1));
                bets.right += right;
                bets.right_from_groups += right_from_groups;
                if self.n_people[kind as usize] == 1 {
                    bets.unique += 1.0;
                    bets.unique_right += right;
                    bets.unique_right_from_groups += right_from_groups;
                }
                bets.right_from_truth +=
                    truth.as_ref().map_or(0.0, |taught| self.right(kind, &[taught[kind as usize]]));
                minds.clear();
            }
            bets.surest = one_per_group(std::mem::take(&mut bets.surest));
            bets
        };
        let all: Vec<Bets> = kinds.par_chunks(STRETCH).enumerate().map(of_stretch).collect();
        let mut bets = all.into_iter().fold(Bets::default(), Bets::merge);
        bets.surest = one_per_group(bets.surest);
        bets
    }

    /// Bets won on the people of a kind, where all these values look equally likely.
    fn right(&self, kind: u32, values: &[Code]) -> f64 {
        let truth = self.truth(kind as usize);
        let people = |value: &Code| {
            let found = truth.binary_search_by_key(value, |&(code, _)| code);
            found.map_or(0.0, |at| f64::from(truth[at].1))
        };
        values.iter().map(people).sum::<f64>() / values.len().max(1) as f64
    }

    /// The likeliest value of every kind, for an attacker who learned from the microdata and has no release.
    fn taught(&self, view: &AttackerView<'_>, model: &Model) -> Vec<Code> {
        let of_kind = |kind: usize| {
            let known = self.truth(kind).iter().filter(|(code, _)| (*code as usize) < model.class_of.len());
            known.map(move |&(code, people)| (kind, model.class_of[code as usize], f64::from(people)))
        };
        let people = (0..self.rows.len()).flat_map(of_kind);
        let taught = Model::of_truth(view, people, &self.bins);
        let evidence = taught.of_bins(&self.bins);
        // The whole table as one group.
        let whole = (0..).zip(view.target.sample.whole()).map(|(code, &count)| (code, count as u32));
        let values: Vec<(Code, u32)> = whole.filter(|(_, count)| *count > 0).collect();
        let group = crate::measure::Group { size: view.target.sample.rows(), values: &values };
        let best = |line: &mut Vec<f32>, kind: usize| {
            view.target.watch.pause();
            evidence.alone(group, kind as u32, line);
            let best = (0..line.len()).max_by(|&a, &b| line[a].total_cmp(&line[b]).then(b.cmp(&a)));
            best.map_or(0, |at| values[at].0)
        };
        (0..self.rows.len()).into_par_iter().map_init(|| vec![0.0; values.len()], best).collect()
    }
}

const STRETCH: usize = 1024;

/// The surest bet of every group.
fn one_per_group(mut bets: Vec<(f64, u32)>) -> Vec<(f64, u32)> {
    bets.sort_by(|a, b| a.1.cmp(&b.1).then(b.0.total_cmp(&a.0)));
    bets.dedup_by_key(|bet| bet.1);
    foremost(bets, surer)
}

/// Sensitive values by kind of person, as published codes.
fn truth(view: &AttackerView<'_>, table: &Table, kinds: &Groups) -> (Vec<usize>, Vec<(Code, u32)>) {
    let domain = view.target.domain;
    let column = table.column(view.target.sensitive);
    let published = |column: &Column| -> Vec<Code> {
        let codes = 0..column.domain().len() as Code;
        codes.map(|code| domain.code_of(column.domain().value(code)).unwrap_or(Code::MAX)).collect()
    };
    let translated = column.map(published).unwrap_or_default();
    let code = |row: usize| column.map_or(Code::MAX, |column| translated[column.code(row) as usize]);
    let mut all: Vec<(u32, Code)> = kinds.of_row.iter().enumerate().map(|(row, &kind)| (kind, code(row))).collect();
    all.par_sort_unstable();
    let mut truth = Vec::new();
    let mut starts = vec![0];
    for of_kind in all.chunk_by(|a, b| a.0 == b.0) {
        truth.extend(of_kind.chunk_by(|a, b| a == b).map(|run| (run[0].1, run.len() as u32)));
        starts.push(truth.len());
    }
    (starts, truth)
}
