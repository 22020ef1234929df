//! What an attacker believes about people, whether or not their groups are known.

use chrysalis_table::Code;
use rayon::prelude::*;

use super::super::view::AttackerView;
use super::crowd::{Crowd, Likelihoods, normalize};
use super::model::Model;
use super::people::{Places, Victims};
use crate::measure::Group;

/// Values whose weights are this close to the largest count as equally likely.
const TIED: f64 = 1.0 - 1e-6;

/// What is believed about one kind of people, after learning and from the groups alone.
pub(super) struct Minds {
    pub(super) learned: Mind,
    pub(super) groups: Mind,
    pub(super) touched: Vec<Code>,
}

/// A weight for every sensitive code.
pub(super) struct Mind(Vec<f64>);

impl Minds {
    pub(super) fn new(n_values: usize) -> Minds {
        Minds { learned: Mind(vec![0.0; n_values]), groups: Mind(vec![0.0; n_values]), touched: Vec::new() }
    }

    /// Adds what is believed about people who are in `group` with this weight.
    pub(super) fn add(&mut self, group: Group<'_>, weight: f64, line: &[f32]) {
        for (&(code, count), &share) in group.values.iter().zip(line) {
            let at = code as usize;
            if self.groups.0[at] == 0.0 {
                self.touched.push(code);
            }
            self.learned.0[at] += weight * f64::from(share);
            self.groups.0[at] += weight * f64::from(count) / group.size as f64;
        }
    }

    pub(super) fn clear(&mut self) {
        for code in self.touched.drain(..) {
            self.learned.0[code as usize] = 0.0;
            self.groups.0[code as usize] = 0.0;
        }
    }
}

impl Mind {
    /// How sure the likeliest values are, and which they are.
    pub(super) fn best(&self, touched: &[Code]) -> (f64, Vec<Code>) {
        let weight = |code: &Code| self.0[*code as usize];
        let total: f64 = touched.iter().map(weight).sum();
        let most = touched.iter().map(weight).fold(0.0, f64::max);
        let tied = touched.iter().copied().filter(|code| weight(code) >= most * TIED).collect();
        (if total > 0.0 { most / total } else { 0.0 }, tied)
    }
}

/// What the attacker believes about a kind of people. `of` fills in the minds and returns the group that most of the
/// people's weight is in, or `None` where no group can hold them.
pub(super) trait Beliefs: Sync {
    fn of(&self, place: usize, kind: u32, minds: &mut Minds) -> Option<u32>;
}

/// Beliefs where people's groups are not known: every group that may hold them counts by how many of its rows could be
/// theirs.
pub(super) struct Open<'a> {
    evidence: Likelihoods<'a>,
    places: &'a Places,
    view: &'a AttackerView<'a>,
    /// Per group, how much rarer its values are than its rows suggest: features that its rows have in common say
    /// nothing about which of them has which value.
    rarity: Vec<Vec<f32>>,
}

impl<'a> Open<'a> {
    pub(super) fn new(
        victims: &'a Victims,
        view: &'a AttackerView<'a>,
        model: &'a Model,
        places: &'a Places,
    ) -> Open<'a> {
        let crowd = Crowd::of_rows(view.of_row, view.target.ids.len());
        let rows = model.of_cells(&view.quasi);
        let of_group = |group: usize| {
            view.target.watch.pause();
            rows.rarity(view.target.sample.group(group), crowd.members(group))
        };
        let rarity = (0..crowd.n_groups()).into_par_iter().with_min_len(64).map(of_group).collect();
        Open { evidence: model.of_bins(&victims.bins), places, view, rarity }
    }
}

impl Beliefs for Open<'_> {
    fn of(&self, place: usize, kind: u32, minds: &mut Minds) -> Option<u32> {
        let mut line = Vec::new();
        for &(group, weight) in &self.places[place] {
            let values = self.view.target.sample.group(group as usize);
            line.resize(values.values.len(), 0.0);
            self.evidence.alone(values, kind, &mut line);
            line.iter_mut().zip(&self.rarity[group as usize]).for_each(|(share, rarity)| *share *= rarity);
            normalize(&mut line);
            minds.add(values, weight.into(), &line);
        }
        foremost_place(&self.places[place])
    }
}

fn foremost_place(places: &[(u32, f32)]) -> Option<u32> {
    let most = places.iter().max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
    most.map(|&(group, _)| group)
}

/// Beliefs where it is known who is in every group: those about all members of a group are worked out together.
pub(super) struct SettledBeliefs<'a> {
    view: &'a AttackerView<'a>,
    places: &'a Places,
    /// Per group, one line of beliefs for each of its members.
    lines: Vec<Vec<f32>>,
    /// Per kind and group that it may be in, the index of its line in that group.
    line_of: Vec<Vec<u32>>,
}

impl<'a> SettledBeliefs<'a> {
    pub(super) fn new(
        victims: &'a Victims,
        view: &'a AttackerView<'a>,
        model: &'a Model,
        kinds: &[u32],
        places: &'a Places,
        is_exact: bool,
    ) -> SettledBeliefs<'a> {
        let mut entries: Vec<(u32, u32, f32)> = Vec::new();
        for (&kind, places) in kinds.iter().zip(places) {
            let people = victims.n_people[kind as usize] as f32;
            entries.extend(places.iter().map(|&(group, rows)| (group, kind, if is_exact { rows } else { people })));
        }
        view.target.watch.pause();
        entries.par_sort_unstable_by_key(|&(group, kind, _)| (group, kind));
        view.target.watch.pause();
        let crowd = Crowd::of_entries(&entries, view.target.ids.len());
        let evidence = model.of_bins(&victims.bins);
        let of_group = |group: usize| {
            view.target.watch.pause();
            let mut lines = Vec::new();
            evidence.together(view.target.sample.group(group), crowd.members(group), &mut lines);
            lines
        };
        let lines = (0..crowd.n_groups()).into_par_iter().with_min_len(64).map(of_group).collect();
        let line_of = |(&kind, places): (&u32, &Vec<(u32, f32)>)| {
            let line = |&(group, _): &(u32, f32)| {
                crowd.members(group as usize).0.partition_point(|&member| member < kind) as u32
            };
            places.iter().map(line).collect()
        };
        SettledBeliefs { view, places, lines, line_of: kinds.iter().zip(places).map(line_of).collect() }
    }
}

impl Beliefs for SettledBeliefs<'_> {
    fn of(&self, place: usize, _: u32, minds: &mut Minds) -> Option<u32> {
        for (&(group, weight), &line) in self.places[place].iter().zip(&self.line_of[place]) {
            let values = self.view.target.sample.group(group as usize);
            let n = values.values.len();
            let lines = &self.lines[group as usize];
            minds.add(values, weight.into(), &lines[line as usize * n..(line as usize + 1) * n]);
        }
        foremost_place(&self.places[place])
    }
}
