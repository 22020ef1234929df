use std::collections::BTreeMap;

use chrysalis_table::{Code, Watch};

use super::super::finder::{Finder, classes};
use super::super::shares::{self, Likes};
use super::signatures::Signatures;
use super::{Seat, changes};
use crate::boxes::index::Index;
use crate::source::relevant_with;
use crate::{AuditError, NotCounted};

/// Where people with the same quasi values can be in one month.
pub(super) struct Spot {
    /// A row of such a person.
    row: usize,
    /// The groups of the view, ascending.
    pub(super) groups: Vec<u32>,
    /// The blocks of these groups, and the signatures that they show, each once.
    pub(super) blocks: Vec<u32>,
    pub(super) signatures: Vec<u32>,
}

/// One month's people.
pub(super) struct MonthPeople {
    pub(super) spots: Vec<Spot>,
    table: chrysalis_table::Table,
    /// People with several rows.
    pub(super) several: u64,
    /// How many rows there are, and how many were published.
    pub(super) rows: (u64, u64),
}

/// Everybody who was ever there.
pub(super) struct People {
    pub(super) months: Vec<MonthPeople>,
    pub(super) names: Vec<String>,
    /// Where each of them can be, month after month: the place among the spots of that month.
    pub(super) lives: Vec<Vec<Option<u32>>>,
}

impl People {
    pub(super) fn new(seats: &[Seat<'_>], watch: &dyn Watch) -> Result<People, AuditError> {
        let mut numbers: BTreeMap<String, u32> = BTreeMap::new();
        let mut people = People { months: Vec::new(), names: Vec::new(), lives: Vec::new() };
        for (at, seat) in seats.iter().enumerate() {
            let Some((table, person)) = seat.month.people else { continue };
            let manifest = &seat.month.release.manifest;
            let (table, _) = relevant_with(manifest, table, Some(person))?;
            let column = table.column(person).ok_or_else(|| AuditError::UnknownColumn {
                what: "microdata",
                column: person.to_owned(),
                columns: table.columns().iter().map(|column| column.name().to_owned()).collect(),
            })?;
            let classes = classes(&[&seat.view], &table, watch);
            let finder = Finder::new(&seat.view, &table, true, watch);
            let boxes = finder.boxes();
            let index = Index::new(&boxes, watch);
            let spot = |row: usize| {
                watch.pause();
                let groups = finder.groups(&index, row);
                let places = groups.iter().flat_map(|&group| &seat.view.groups[group as usize].places);
                let blocks = distinct(places.map(|place| place.block).collect());
                let signatures = distinct(blocks.iter().map(|&block| seat.signature[block as usize]).collect());
                Spot { row, groups, blocks, signatures }
            };
            let spots = classes.some_rows().into_iter().map(spot).collect();
            // The number of everybody in this month.
            let number = |code: Code| {
                let next = numbers.len() as u32;
                let text = column.domain().text(code).into_owned();
                let number = *numbers.entry(text.clone()).or_insert(next);
                if number == next {
                    people.names.push(text);
                    people.lives.push(Vec::new());
                }
                number
            };
            let of_code: Vec<u32> = (0..column.domain().len() as Code).map(number).collect();
            let mut several = 0;
            for (row, code) in column.codes().iter().enumerate() {
                watch.pause_at(row);
                let life = &mut people.lives[of_code[code as usize] as usize];
                life.resize(seats.len(), None);
                several += u64::from(life[at].replace(classes.of_row[row]).is_some());
            }
            let rows = (table.rows() as u64, manifest.rows);
            people.months.push(MonthPeople { spots, table: table.clone(), several, rows });
        }
        people.lives.iter_mut().for_each(|life| life.resize(seats.len(), None));
        Ok(people)
    }

    /// Where somebody can be in a month.
    pub(super) fn spot(&self, month: usize, life: &[Option<u32>]) -> Option<&Spot> {
        life[month].map(|spot| &self.months[month].spots[spot as usize])
    }

    /// The months in which somebody is there, and where.
    pub(super) fn spots<'a>(&'a self, life: &'a [Option<u32>]) -> impl Iterator<Item = (usize, &'a Spot)> {
        (0..life.len()).filter_map(|month| Some((month, self.spot(month, life)?)))
    }

    /// People who can be in the same places in all months, as far as they fit at all. Whoever changed is two of them.
    pub(super) fn kinds(
        &self,
        seats: &[Seat<'_>],
        signatures: &Signatures,
        watch: &dyn Watch,
    ) -> Result<Vec<Likes>, NotCounted> {
        let mut alike: BTreeMap<&[Option<u32>], u64> = BTreeMap::new();
        self.lives.iter().for_each(|life| *alike.entry(life.as_slice()).or_default() += 1);
        let views: Vec<_> = seats.iter().map(|seat| &seat.view).collect();
        let placing: Vec<_> =
            views.iter().zip(&self.months).map(|(view, month)| shares::Placing::new(view, &month.table)).collect();
        let mut n_places = 0;
        let mut kinds = Vec::with_capacity(alike.len());
        for (life, people) in alike {
            watch.pause();
            for months in self.parts(life, signatures) {
                let (mut places, mut margins) = (Vec::with_capacity(life.len()), Vec::with_capacity(life.len()));
                for (month, placing) in placing.iter().enumerate().take(life.len()) {
                    let spot = self.spot(month, life).filter(|_| months.contains(&month));
                    places.push(spot.map_or_else(Vec::new, |spot| placing.places(&spot.groups)));
                    margins.push(spot.map_or_else(Vec::new, |spot| placing.margins(spot.row)));
                }
                n_places += places.iter().map(Vec::len).sum::<usize>();
                if n_places > shares::MAX_PLACES {
                    return Err(NotCounted::TooManyOverlaps);
                }
                let there = months.iter().filter_map(|&month| Some((month, self.spot(month, life)?)));
                let there: Vec<_> = there.map(|(month, spot)| (views[month], spot.groups.as_slice())).collect();
                if shares::has_common_value(there.iter().copied()) {
                    kinds.push(Likes { people, places, margins });
                }
            }
        }
        Ok(kinds)
    }

    /// The months in which somebody is there, as one life or, after a change, as several.
    fn parts(&self, life: &[Option<u32>], signatures: &Signatures) -> Vec<Vec<usize>> {
        let there: Vec<(usize, &Spot)> = self.spots(life).collect();
        // Whoever fits nowhere is counted elsewhere.
        if there.iter().any(|(_, spot)| spot.groups.is_empty()) {
            return Vec::new();
        }
        let shown: Vec<&[u32]> = there.iter().map(|(_, spot)| spot.signatures.as_slice()).collect();
        let mut starts = changes::parts(&shown, signatures).unwrap_or_else(|| vec![0]);
        starts.push(there.len());
        let months = |part: &[usize]| there[part[0]..part[1]].iter().map(|(month, _)| *month).collect();
        starts.windows(2).map(months).collect()
    }
}

pub(super) fn distinct(mut numbers: Vec<u32>) -> Vec<u32> {
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}
