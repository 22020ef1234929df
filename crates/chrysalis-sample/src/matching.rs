//! Rows that fit several tables of people at once (spec, step 1).

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use chrysalis_release::view::Label;
use chrysalis_table::Progress;
use rand::CryptoRng;
use rand::seq::SliceRandom;

use crate::SampleError;
use crate::deck::{Boxed, Deck, Marginal, Source};

/// How often a group is tried, each time in another order.
const TRIES: usize = 40;
/// Comparisons of two boxes per group and try: enough for some thousand rows that all differ.
const STEPS: usize = 20_000_000;
/// Pairs of labels whose common part is remembered.
const MOST_KNOWN: usize = 1 << 20;

impl Deck {
    /// The same deck with boxes so small that every row fits a row of every further table of people, each of which is
    /// used once. `None` if there are no further tables.
    pub(crate) fn with_marginals(
        &self,
        rng: &mut dyn CryptoRng,
        progress: Progress<'_>,
    ) -> Result<Option<Deck>, SampleError> {
        if self.marginals.is_empty() {
            return Ok(None);
        }
        let mut boxes = Boxes::new(self);
        for group in 0..self.groups.len() {
            progress(0);
            self.fit_group(group, &mut boxes, rng)?;
        }
        let mut attributes = self.attributes.clone();
        for (attribute, of) in attributes.iter_mut().zip(boxes.of) {
            if let (Source::Boxed(boxed), Some(of)) = (&mut attribute.source, of) {
                *boxed = Boxed::new(&attribute.field, of.labels, of.of)?;
            }
        }
        let (whole, groups) = (self.whole.clone(), Arc::clone(&self.groups));
        Ok(Some(Deck { groups, shown: None, attributes, n_blocks: self.n_blocks, marginals: Vec::new(), whole }))
    }

    fn fit_group(&self, group: usize, boxes: &mut Boxes, rng: &mut dyn CryptoRng) -> Result<(), SampleError> {
        let rows = self.groups.rows(group);
        let mut order: Vec<usize> = (0..self.marginals.len()).collect();
        let before = boxes.saved(rows.clone());
        let mut failed = 0;
        for _ in 0..TRIES {
            let misfit = order.iter().copied().find(|&at| !fit(&self.marginals[at], rows.clone(), boxes, rng));
            let Some(misfit) = misfit else { return Ok(()) };
            failed = misfit;
            boxes.restore(rows.clone(), &before);
            order.shuffle(rng);
        }
        Err(SampleError::Marginal { whole: self.whole.clone(), marginal: self.marginals[failed].table.clone() })
    }
}

/// The labels of every attribute, which become narrower as tables are fitted.
struct Boxes {
    of: Vec<Option<RowLabels>>,
}

struct RowLabels {
    labels: Vec<Label>,
    of: Vec<u32>,
    /// What a label has in common with one of a table, where this is known.
    common: HashMap<(u32, u32, u32), Option<u32>>,
}

impl Boxes {
    fn new(deck: &Deck) -> Boxes {
        let labels = |source: &Source| match source {
            Source::Boxed(boxed) => {
                Some(RowLabels { labels: boxed.labels.clone(), of: boxed.of.clone(), common: HashMap::new() })
            }
            Source::Listed(_) => None,
        };
        Boxes { of: deck.attributes.iter().map(|attribute| labels(&attribute.source)).collect() }
    }

    fn saved(&self, rows: std::ops::Range<usize>) -> Vec<Vec<u32>> {
        self.of.iter().map(|it| it.as_ref().map_or_else(Vec::new, |it| it.of[rows.clone()].to_vec())).collect()
    }

    fn restore(&mut self, rows: std::ops::Range<usize>, saved: &[Vec<u32>]) {
        for (labels, saved) in self.of.iter_mut().zip(saved) {
            if let Some(labels) = labels {
                labels.of[rows.clone()].copy_from_slice(saved);
            }
        }
    }
}

impl RowLabels {
    /// The label of a row and a label of a table, cut down to what they have in common.
    fn common(&mut self, row: usize, (table, label): (u32, u32), other: &Label) -> Option<u32> {
        let key = (self.of[row], table, label);
        if let Some(known) = self.common.get(&key) {
            return *known;
        }
        let place = common(&self.labels[key.0 as usize], other).map(|cut| {
            if cut == self.labels[key.0 as usize] {
                return key.0;
            }
            self.labels.push(cut);
            self.labels.len() as u32 - 1
        });
        if self.common.len() >= MOST_KNOWN {
            self.common.clear();
        }
        self.common.insert(key, place);
        place
    }
}

/// What two labels have in common; nothing if they share no value.
fn common(a: &Label, b: &Label) -> Option<Label> {
    let missing = a.has_missing() && b.has_missing();
    let cut = match (a, b) {
        (Label::Points { ends: a, .. }, Label::Points { ends: b, .. }) => {
            let ends = a.zip(*b).map(|(a, b)| (a.0.max(b.0), a.1.min(b.1))).filter(|(low, high)| low <= high);
            Label::Points { ends, missing }
        }
        (Label::Stretch { ends: a, .. }, Label::Stretch { ends: b, .. }) => {
            let ends = a.zip(*b).map(|(a, b)| (a.0.max(b.0), a.1.min(b.1))).filter(|(low, high)| low <= high);
            Label::Stretch { ends, missing }
        }
        (Label::Members { ranks: a, .. }, Label::Members { ranks: b, .. }) => {
            let ranks = a.iter().copied().filter(|rank| b.binary_search(rank).is_ok()).collect();
            Label::Members { ranks, missing }
        }
        _ => return None,
    };
    let is_empty = match &cut {
        Label::Points { ends, .. } => ends.is_none(),
        Label::Stretch { ends, .. } => ends.is_none(),
        Label::Members { ranks, .. } => ranks.is_empty(),
    };
    (!is_empty || missing).then_some(cut)
}

/// Gives every row of a group a row of a table that it has values in common with, each once, and cuts its labels down.
/// False if there is no such assignment, or none was found in time.
fn fit(marginal: &Marginal, rows: std::ops::Range<usize>, boxes: &mut Boxes, rng: &mut dyn CryptoRng) -> bool {
    // Rows of the table that look alike are interchangeable.
    let mut alike: BTreeMap<Vec<u32>, usize> = BTreeMap::new();
    for row in rows.clone() {
        let key = marginal.shown.iter().map(|(_, _, of)| of[row]).collect();
        *alike.entry(key).or_default() += 1;
    }
    let (kinds, rooms): (Vec<Vec<u32>>, Vec<usize>) = alike.into_iter().unzip();
    let mut order: Vec<usize> = rows.clone().collect();
    order.shuffle(rng);
    let mut matching =
        Matching { marginal, kinds: &kinds, rooms, holders: vec![Vec::new(); kinds.len()], steps: STEPS };
    let is_full = order.iter().all(|&row| {
        let mut seen = vec![false; kinds.len()];
        matching.place(row, boxes, &mut seen, rng)
    });
    if !is_full {
        return false;
    }
    for (kind, holders) in matching.holders.iter().enumerate() {
        for &row in holders {
            for (at, (place, labels, _)) in marginal.shown.iter().enumerate() {
                let label = kinds[kind][at];
                let Some(own) = &mut boxes.of[*place] else { continue };
                if let Some(cut) = own.common(row, (marginal.number, label), &labels[label as usize]) {
                    own.of[row] = cut;
                }
            }
        }
    }
    true
}

struct Matching<'a> {
    marginal: &'a Marginal,
    kinds: &'a [Vec<u32>],
    /// How many more rows each kind takes.
    rooms: Vec<usize>,
    holders: Vec<Vec<usize>>,
    steps: usize,
}

impl Matching<'_> {
    /// Finds a place for a row, moving others where that helps: an augmenting path, breadth first.
    fn place(&mut self, row: usize, boxes: &mut Boxes, seen: &mut [bool], rng: &mut dyn CryptoRng) -> bool {
        // Who came to which kind, and from which kind it was moved there.
        let mut came: Vec<Option<(usize, Option<usize>)>> = vec![None; self.kinds.len()];
        let mut waiting: std::collections::VecDeque<(usize, Option<usize>)> = [(row, None)].into();
        let shift = rng.next_u32() as usize;
        while let Some((row, from)) = waiting.pop_front() {
            for at in 0..self.kinds.len() {
                let kind = (at + shift) % self.kinds.len();
                if seen[kind] || !self.fits(row, kind, boxes) {
                    continue;
                }
                seen[kind] = true;
                came[kind] = Some((row, from));
                if self.rooms[kind] > 0 {
                    self.rooms[kind] -= 1;
                    self.shift_along(kind, &came);
                    return true;
                }
                waiting.extend(self.holders[kind].iter().map(|&holder| (holder, Some(kind))));
            }
        }
        false
    }

    fn shift_along(&mut self, last: usize, came: &[Option<(usize, Option<usize>)>]) {
        let mut kind = last;
        while let Some((row, from)) = came[kind] {
            self.holders[kind].push(row);
            let Some(from) = from else { return };
            self.holders[from].retain(|&holder| holder != row);
            kind = from;
        }
    }

    fn fits(&mut self, row: usize, kind: usize, boxes: &mut Boxes) -> bool {
        let Some(left) = self.steps.checked_sub(1) else { return false };
        self.steps = left;
        self.marginal.shown.iter().enumerate().all(|(at, (place, labels, _))| {
            let label = self.kinds[kind][at];
            match &mut boxes.of[*place] {
                Some(own) => own.common(row, (self.marginal.number, label), &labels[label as usize]).is_some(),
                None => true,
            }
        })
    }
}
