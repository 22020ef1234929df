//! The sets of values that groups show, and what of them is left to everybody.

use std::collections::BTreeMap;

use chrysalis_table::Watch;

use super::people::{People, distinct};
use super::{KnownLives, Seat, changes};
use crate::attack::{count, counted};
use crate::findings::Findings;
use crate::{Check, Finding, NotCounted, SeriesLeft, SeriesReplay, Shares};

/// All sets of values that groups of some release show, numbered.
#[derive(Default)]
pub(super) struct Signatures {
    numbers: BTreeMap<Vec<u32>, u32>,
    values: Vec<Vec<u32>>,
}

impl Signatures {
    pub(super) fn number(&mut self, values: impl Iterator<Item = u32>) -> u32 {
        let values = distinct(values.collect());
        let next = self.values.len() as u32;
        let number = *self.numbers.entry(values.clone()).or_insert(next);
        if number == next {
            self.values.push(values);
        }
        number
    }

    pub(super) fn of(&self, number: u32) -> &[u32] {
        &self.values[number as usize]
    }

    pub(super) fn are_apart(&self, one: u32, other: u32) -> bool {
        self.of(one).iter().all(|value| self.of(other).binary_search(value).is_err())
    }
}

/// What the ledger says, in the numbers of this audit.
pub(super) struct Remembered<'a> {
    lives: &'a KnownLives<'a>,
    /// The number of every signature of the ledger that some value of a release has.
    numbers: Vec<Option<u32>>,
}

impl<'a> Remembered<'a> {
    pub(super) fn new(
        lives: &'a KnownLives<'a>,
        signatures: &mut Signatures,
        values: &BTreeMap<String, u32>,
    ) -> Remembered<'a> {
        let number = |texts: &Vec<String>| {
            let codes: Option<Vec<u32>> = texts.iter().map(|text| values.get(text).copied()).collect();
            Some(signatures.number(codes?.into_iter()))
        };
        Remembered { numbers: lives.signatures.iter().map(number).collect(), lives }
    }

    fn of(&self, person: &str) -> Option<Vec<u32>> {
        let life = (self.lives.of)(person)?;
        Some(life.iter().filter_map(|&at| self.numbers.get(at as usize).copied().flatten()).collect())
    }

    /// Groups that show what the ledger gave nobody.
    fn strange(&self, seats: &[Seat<'_>], findings: &mut Findings) {
        for seat in seats {
            let is_strange = |signature: &&u32| !self.numbers.contains(&Some(**signature));
            let n = seat.signature.iter().filter(is_strange).count();
            if n > 0 {
                let name = seat.month.name;
                findings.add("unknown signatures", || {
                    format!("{n} groups of {name} show a set of values that the ledger gave nobody")
                });
            }
        }
    }

    /// What the ledger alone can show.
    pub(super) fn only(&self, seats: &[Seat<'_>]) -> Check {
        let mut findings = Findings::new("signatures");
        self.strange(seats, &mut findings);
        findings.check(
            "every group shows a set of values that the ledger gave somebody; whether everybody stands where theirs is shown \
             takes the table of every month"
                .to_owned(),
        )
    }
}

/// Whether everybody keeps a signature.
#[derive(Default)]
pub(super) struct Kept {
    findings: Option<Findings>,
    people: u64,
    /// People who are in several releases.
    stay: u64,
    /// People who changed to a set of values that has nothing in common with the former.
    changed: u64,
    months: usize,
}

impl Kept {
    pub(super) fn new(
        people: &People,
        seats: &[Seat<'_>],
        signatures: &Signatures,
        known: Option<&Remembered<'_>>,
        watch: &dyn Watch,
    ) -> Kept {
        let mut kept = Kept { people: people.lives.len() as u64, months: seats.len(), ..Kept::default() };
        let mut findings = Findings::new("signatures");
        for (seat, month) in seats.iter().zip(&people.months) {
            let (name, (rows, published)) = (seat.month.name, month.rows);
            if rows != published {
                findings.add("another table", || format!("{name} has {published} rows, and its table {rows}"));
            }
            if month.several > 0 {
                let several = month.several;
                findings.add("people with several rows", || {
                    format!("{several} rows of {name} are further rows of people who have one already")
                });
            }
        }
        if let Some(known) = known {
            known.strange(seats, &mut findings);
        }
        let (mut nowhere, mut broken, mut unknown) = (0_u64, 0_u64, 0_u64);
        // By month and signature: people who have it for life, and whether everybody has one.
        let mut having: Vec<BTreeMap<u32, u64>> = vec![BTreeMap::new(); seats.len()];
        let mut is_certain = known.is_some();
        for (who, life) in people.lives.iter().enumerate() {
            watch.pause_at(who);
            let there: Vec<(usize, &[u32])> =
                people.spots(life).map(|(month, spot)| (month, spot.signatures.as_slice())).collect();
            kept.stay += u64::from(there.len() > 1);
            if there.iter().any(|(_, shown)| shown.is_empty()) {
                nowhere += 1;
                is_certain = false;
                continue;
            }
            match known.map(|known| known.of(&people.names[who])) {
                Some(None) => unknown += 1,
                Some(Some(own)) => {
                    let fits = |(_, shown): &(usize, &[u32])| own.iter().any(|one| shown.binary_search(one).is_ok());
                    broken += u64::from(!there.iter().all(fits));
                    kept.changed += u64::from(own.len() > 1);
                    match own[..] {
                        [one] => there.iter().for_each(|(month, _)| *having[*month].entry(one).or_default() += 1),
                        _ => is_certain = false,
                    }
                }
                None => {
                    let shown: Vec<&[u32]> = there.iter().map(|(_, shown)| *shown).collect();
                    match changes::parts(&shown, signatures) {
                        Some(parts) => kept.changed += u64::from(parts.len() > 1),
                        None => broken += 1,
                    }
                }
            }
        }
        let mut add = |n: u64, kind: &'static str, what: &str| {
            if n > 0 {
                let people = counted(n, "person", "people");
                findings.add(kind, || format!("{people} {what}"));
            }
        };
        add(nowhere, "nowhere", "fit no group of a release that was made from a table with them");
        add(unknown, "unknown", "were published, but the ledger does not know them");
        let what = match known {
            Some(_) => "can stand in no group with the values that the ledger gave them",
            None => "cannot have stood in groups with one and the same set of values",
        };
        add(broken, "another set of values", what);
        if is_certain {
            for (seat, having) in seats.iter().zip(&having) {
                let mut real: BTreeMap<u32, u64> = BTreeMap::new();
                seat.signature.iter().zip(&seat.real).for_each(|(one, n)| *real.entry(*one).or_default() += n);
                if &real != having {
                    let name = seat.month.name;
                    findings.add("other numbers", || {
                        format!(
                            "groups of {name} have other numbers of people than the ledger gave their sets of values"
                        )
                    });
                }
            }
        }
        kept.findings = Some(findings);
        kept
    }

    pub(super) fn check(self, has_ledger: bool) -> Check {
        let (people, stay) = (counted(self.people, "person", "people"), count(self.stay));
        let changed = match self.changed {
            0 => String::new(),
            n => format!(
                "; {} changed to a set that has no value in common with the former",
                counted(n, "person", "people")
            ),
        };
        let ledger = if has_ledger { ", the one that the ledger remembers" } else { ", as far as quasi values tell" };
        let fine = format!(
            "of {people} in {} releases, {stay} are in several; the groups of each show the same set of values{ledger}{changed}",
            self.months
        );
        self.findings.unwrap_or_else(|| Findings::new("signatures")).check(fine)
    }
}

/// The values that all of somebody's groups show, in every release that the person is in. Whoever changed counts as two, one
/// before and one after: it is no secret that the value is not the former one.
pub(super) fn values_left(
    people: &People,
    signatures: &Signatures,
    (promised, shares): (u64, Result<Shares, NotCounted>),
    watch: &dyn Watch,
) -> SeriesLeft {
    let mut left = SeriesLeft { people: 0, promised, fewest: None, narrowed: 0, shares, replay: None };
    // People who can be in the same places keep the same values.
    let mut known: BTreeMap<Vec<&[u32]>, u64> = BTreeMap::new();
    for (who, life) in people.lives.iter().enumerate() {
        watch.pause_at(who);
        let mut there: Vec<&[u32]> = people.spots(life).map(|(_, spot)| spot.signatures.as_slice()).collect();
        if !there.is_empty() && there.iter().all(|shown| !shown.is_empty()) {
            // The same places again rule nothing out.
            there.dedup();
            *known.entry(there).or_default() += 1;
        }
    }
    for (there, n) in known {
        watch.pause();
        let all = |shown: &&[u32]| distinct(shown.iter().flat_map(|&one| signatures.of(one)).copied().collect());
        let kept = |months: &[&[u32]]| {
            let mut months = months.iter().map(all);
            let first = months.next().unwrap_or_default();
            let both = |kept: Vec<u32>, shown: Vec<u32>| {
                kept.into_iter().filter(|value| shown.binary_search(value).is_ok()).collect()
            };
            months.fold(first, both).len() as u64
        };
        // A life that nothing explains is looked at as a whole.
        let mut starts = changes::parts(&there, signatures).unwrap_or_else(|| vec![0]);
        starts.push(there.len());
        let kept = starts.windows(2).map(|part| kept(&there[part[0]..part[1]])).min().unwrap_or(0);
        left.people += n;
        left.fewest = Some(left.fewest.map_or(kept, |fewest| fewest.min(kept)));
        left.narrowed += if kept < promised { n } else { 0 };
    }
    left
}

impl SeriesLeft {
    pub(super) fn check(&self) -> Check {
        let (least, shares) = (self.promised, self.shares.as_ref());
        let mut findings = Findings::new("intersection");
        let (n, narrowed, fewest) = (self.people, self.narrowed, self.fewest.unwrap_or(0));
        if narrowed > 0 {
            findings.add("narrowed", || {
                format!(
                    "all releases together leave {narrowed} of {n} people fewer sensitive values than promised ({fewest} in \
                     the worst case, {least} promised)"
                )
            });
        }
        if let Some(above) = shares.ok().and_then(Shares::above_in_words) {
            findings.add("shares", || format!("all releases together: {above}"));
        }
        let counted = match shares {
            Ok(shares) if shares.largest.is_some() => format!("; {}", shares.largest_in_words()),
            Ok(_) => String::new(),
            Err(reason) => format!("; {}", reason.sentence()),
        };
        findings
            .check(format!("all releases together leave {n} people at least {fewest} sensitive values each{counted}"))
    }

    pub(super) fn finding(&self, names: &[&str]) -> Finding {
        let (least, shares) = (self.promised, self.shares.as_ref());
        let people = counted(self.people, "person", "people");
        let mut sentence = format!(
            "An attacker who has {}, and knows who was there in which month, can rule out values that one of them does not \
             allow: of {people}, {} keep fewer than the {} promised, and the worst off keep {}.",
            super::super::named(names),
            count(self.narrowed),
            counted(least, "value", "values"),
            self.fewest.unwrap_or(0),
        );
        match shares {
            Ok(shares) => sentence.push_str(&format!(" {}", shares.sentence())),
            Err(reason) => {
                let words = reason.sentence();
                sentence.push_str(&format!(" {}{}.", words[..1].to_uppercase(), &words[1..]));
            }
        }
        sentence.push_str(&format!(" {}", SeriesReplay::sentence(self.replay)));
        let above = shares.map_or(0, |shares| shares.above);
        let prevention = match self.narrowed.max(above) {
            0 => "",
            _ => "keeping the same set of values for everybody, with one ledger for all releases.",
        };
        Finding::new("series", sentence, prevention)
    }
}
