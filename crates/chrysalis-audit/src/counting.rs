//! What counts as a value of the sensitive column when promises are measured.

use std::collections::BTreeMap;

use chrysalis_release::{Attribute, Manifest};
use chrysalis_table::exact::{self, BigRational};
use chrysalis_table::{Code, Domain, folded};
use num_traits::ToPrimitive;

use crate::AuditError;
use crate::measure::{Fraction, Group, GroupCounts};
use crate::near::{Width, exact};

/// Which values count when a promise is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// Every value by itself, including a missing one: how releases of version 1 were made.
    Plain,
    /// Values that look alike, and numbers that are near each other, are one; a missing value protects nobody.
    Strict,
}

impl Reading {
    /// How the promises of a release are read.
    pub fn of(manifest: &Manifest) -> Reading {
        if manifest.version < 2 { Reading::Plain } else { Reading::Strict }
    }
}

/// Which values of a column count as one, and which as none.
#[derive(Clone, Debug)]
pub(crate) struct Counting<'a> {
    domain: &'a Domain,
    pub(crate) reading: Reading,
    /// For every code, the least code that looks like it.
    pub(crate) looks: Vec<Code>,
    is_missing: Vec<bool>,
    /// How far apart values must be to differ; only where some neighbouring values are nearer than that.
    near: Option<Width>,
    smallest: Option<BigRational>,
    /// Whether every value counts by itself, and none is missing.
    is_plain: bool,
}

impl<'a> Counting<'a> {
    pub(crate) fn new(
        manifest: &Manifest,
        attribute: &Attribute,
        domain: &'a Domain,
        whole: &[u64],
    ) -> Result<Counting<'a>, AuditError> {
        match Reading::of(manifest) {
            Reading::Plain => Ok(Counting::plain(domain)),
            Reading::Strict => {
                let near = Width::of(manifest, attribute, domain, whole)?;
                Ok(Counting::strict(domain, whole, near))
            }
        }
    }

    /// Every value by itself.
    pub(crate) fn plain(domain: &'a Domain) -> Counting<'a> {
        let looks = (0..domain.len() as Code).collect();
        let is_missing = vec![false; domain.len()];
        Counting { domain, reading: Reading::Plain, looks, is_missing, near: None, smallest: None, is_plain: true }
    }

    fn strict(domain: &'a Domain, whole: &[u64], near: Option<Width>) -> Counting<'a> {
        let codes = || 0..domain.len() as Code;
        let looks = looks(domain);
        let is_missing: Vec<bool> = codes().map(|code| folded(&domain.text(code)).is_empty()).collect();
        let occur: Vec<Code> =
            codes().filter(|&code| whole[code as usize] > 0 && domain.value(code).is_some()).collect();
        let near = near.filter(|near| occur.windows(2).any(|pair| near.is_near(domain, pair[0], pair[1])));
        let smallest = occur.first().and_then(|&code| domain.value(code)).and_then(exact);
        let is_plain = near.is_none() && !is_missing.contains(&true) && looks.is_sorted_by(|a, b| a < b);
        Counting { domain, reading: Reading::Strict, looks, is_missing, near, smallest, is_plain }
    }

    /// Whether every value counts by itself, and none is missing.
    pub(crate) fn is_plain(&self) -> bool {
        self.is_plain
    }

    pub(crate) fn has_look_alikes(&self) -> bool {
        (0..).zip(&self.looks).any(|(code, &first): (Code, _)| first != code)
    }

    /// Where counting differs from taking every value by itself, in words.
    pub(crate) fn words(&self) -> Vec<String> {
        if self.reading == Reading::Plain {
            return vec!["every value counts by itself, as version 1 counted".to_owned()];
        }
        let mut words = Vec::new();
        if self.has_look_alikes() {
            words.push("values that look alike count as one".to_owned());
        }
        if let Some(near) = &self.near {
            words.push(format!("values less than {} apart count as one", near.shown()));
        }
        if self.is_missing.contains(&true) {
            words.push("missing values protect nobody".to_owned());
        }
        words
    }

    /// Rows of a group whose value is missing.
    pub(crate) fn missing(&self, group: Group<'_>) -> u64 {
        let missing = group.values.iter().filter(|(code, _)| self.is_missing[*code as usize]);
        missing.map(|&(_, count)| u64::from(count)).sum()
    }

    /// Values that are not missing and for which `counts` is true, ascending by code.
    fn present<'g>(
        &'g self,
        group: Group<'g>,
        counts: impl Fn(Code) -> bool + 'g,
    ) -> impl Iterator<Item = (Code, u64)> + 'g {
        let values = group.values.iter().filter(move |(code, _)| !self.is_missing[*code as usize] && counts(*code));
        values.map(|&(code, count)| (code, u64::from(count)))
    }

    /// The most rows that share one value, among the values that count.
    fn most(&self, group: Group<'_>, counts: impl Fn(Code) -> bool) -> u64 {
        let present = self.present(group, counts);
        if let Some(near) = &self.near {
            // For every value as the largest of its stretch: the rows from the first value that is near it.
            let values: Vec<(Code, u64)> = present.collect();
            let (mut first, mut rows, mut most) = (0, 0, 0);
            for &(code, count) in &values {
                rows += count;
                while values[first].0 != code && !near.is_near(self.domain, values[first].0, code) {
                    rows -= values[first].1;
                    first += 1;
                }
                most = most.max(rows);
            }
            return most;
        }
        let mut by_look: BTreeMap<Code, u64> = BTreeMap::new();
        present.for_each(|(code, count)| *by_look.entry(self.looks[code as usize]).or_default() += count);
        by_look.into_values().max().unwrap_or(0)
    }

    /// The largest share of one value among the rows that have one, or the share of missing values if that is larger.
    pub(crate) fn share(&self, group: Group<'_>) -> Fraction {
        if self.is_plain() {
            return Fraction::new(group.max().into(), group.size.into());
        }
        self.share_among(group, |_| true)
    }

    /// The same for values for which `counts` is true.
    pub(crate) fn share_among(&self, group: Group<'_>, counts: impl Fn(Code) -> bool + Copy) -> Fraction {
        let missing = group.values.iter().filter(|(code, _)| self.is_missing[*code as usize] && counts(*code));
        let missing: u64 = missing.map(|&(_, count)| u64::from(count)).sum();
        let of_missing = Fraction::new(missing.into(), group.size.into());
        // Persons may have a value and lack one, so that more of them can lack one than are left.
        let there = group.size.saturating_sub(self.missing(group));
        let of_values = Fraction::new(self.most(group, counts).into(), there.into());
        // Where no row has a value, only missing ones are left.
        if there == 0 || of_values.compare(&of_missing).is_lt() { of_missing } else { of_values }
    }

    /// How many values count as different. A group with nothing but missing values has one.
    pub(crate) fn different(&self, group: Group<'_>) -> u64 {
        if self.is_plain() {
            return group.values.len() as u64;
        }
        let codes: Vec<Code> = self.present(group, |_| true).map(|(code, _)| code).collect();
        let n = match &self.near {
            Some(near) => {
                // From the largest down, every value that is far enough below the last one counted.
                let mut last = None;
                let far = codes.iter().rev().filter(|&&code| {
                    let is_far = last.is_none_or(|last| !near.is_near(self.domain, code, last));
                    if is_far {
                        last = Some(code);
                    }
                    is_far
                });
                far.count()
            }
            None => {
                let mut looks: Vec<Code> = codes.iter().map(|&code| self.looks[code as usize]).collect();
                looks.sort_unstable();
                looks.dedup();
                looks.len()
            }
        };
        n.max(1) as u64
    }

    /// Layouts for principles that measure all frequencies, and must hold in each layout. A layout has a place for
    /// every code; codes with equal places count as one value. Places follow looks or, where numbers can be near each
    /// other, bins of that width, which start at the smallest value in one layout and half a bin before it in another.
    pub(crate) fn layouts(&self) -> Vec<Vec<i128>> {
        let Some((near, smallest)) = self.near.as_ref().zip(self.smallest.as_ref()) else {
            return vec![self.looks.iter().map(|&code| i128::from(code)).collect()];
        };
        let first = exact::to_float(smallest);
        let bin = |code: Code, half: i64| {
            let Some(value) = self.domain.value(code) else { return -1 };
            let float = value.number().map(|value| (value - first) / near.float);
            let float = float.map(|steps| steps + half as f64 / 2.0);
            // A float decides if it is clear of every border; each of its operations is off by less than one part in
            // 2^50.
            let size = value.number().map_or(0.0, f64::abs).max(first.abs()) / near.float;
            if let Some(steps) = float.filter(|steps| steps.is_finite() && *steps < 1e12)
                && (steps - steps.round()).abs() > (size + 1.0) * 1e-12
            {
                return steps.floor() as i128;
            }
            let steps =
                exact(value).map(|value| (value - smallest) / &near.exact + BigRational::new(half.into(), 2.into()));
            steps.and_then(|steps| steps.floor().to_integer().to_i128()).unwrap_or(i128::MAX)
        };
        [0, 1].map(|half| (0..self.domain.len() as Code).map(|code| bin(code, half)).collect()).to_vec()
    }

    /// The frequencies of a group's values in every layout: without missing values, unless there is nothing else, and
    /// with them as one more value.
    pub(crate) fn readings(&self, layouts: &[Vec<i128>], group: Group<'_>) -> Vec<Vec<u64>> {
        if self.is_plain() {
            return vec![group.counts().collect()];
        }
        let missing = self.missing(group);
        let by = |places: &Vec<i128>| {
            let mut rows: BTreeMap<i128, u64> = BTreeMap::new();
            for (code, count) in self.present(group, |_| true) {
                *rows.entry(places[code as usize]).or_default() += count;
            }
            rows.into_values().collect::<Vec<u64>>()
        };
        let mut readings: Vec<Vec<u64>> = layouts.iter().map(by).collect();
        if missing > 0 {
            let with = |counts: &Vec<u64>| counts.iter().copied().chain([missing]).collect();
            let all: Vec<Vec<u64>> = readings.iter().map(with).collect();
            readings.extend(all);
        }
        readings.retain(|counts| !counts.is_empty());
        readings
    }

    /// Whether a row with this code has a value.
    pub(crate) fn is_there(&self, code: Code) -> bool {
        !self.is_missing[code as usize]
    }

    /// The same groups, with values that look alike replaced by the first of them.
    pub(crate) fn by_looks(&self, sample: &GroupCounts) -> GroupCounts {
        let n_groups = sample.sizes().len();
        let lines = (0..n_groups).flat_map(|group| {
            let values = sample.group(group).values;
            values.iter().map(move |&(code, count)| (group as u32, self.looks[code as usize], count))
        });
        // What is compared with the whole table stays so if these are groups of a part of it.
        let mut whole = vec![0; self.domain.len()];
        self.looks.iter().zip(sample.whole()).for_each(|(&first, count)| whole[first as usize] += count);
        GroupCounts::from_counts(n_groups, self.domain.len(), lines.collect()).within(whole)
    }
}

/// For every code, the least code that looks like it; numbers and dates look like nothing else.
pub(crate) fn looks(domain: &Domain) -> Vec<Code> {
    let mut codes: Vec<Code> = (0..domain.len() as Code).collect();
    if domain.kind().has_distances() {
        return codes;
    }
    let folded: Vec<String> = codes.iter().map(|&code| folded(&domain.text(code)).into_owned()).collect();
    // Sorted by look, and by code among equals: the first of every run is the least.
    codes.sort_by_key(|&code| (&folded[code as usize], code));
    let mut looks = vec![0; codes.len()];
    for run in codes.chunk_by(|&a, &b| folded[a as usize] == folded[b as usize]) {
        run.iter().for_each(|&code| looks[code as usize] = run[0]);
    }
    looks
}
