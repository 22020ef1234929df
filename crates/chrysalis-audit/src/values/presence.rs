//! Which row is whose where values are shown as they are (pa, Lemma 1), and how much that reveals about who is in the
//! data.

use std::cmp::Ordering;

use chrysalis_release::Attribute;
use chrysalis_table::exact::BigRational;
use chrysalis_table::{Code, Column, Kind, Table, Watch};
use num_bigint::BigUint;
use num_traits::One;

use super::tables::ValueTables;
use super::tally::Tally;
use crate::attack::foremost;
use crate::columns::Positions;
use crate::measure::{GroupCounts, to_float};
use crate::promise::show;
use crate::{Groups, Presence, RowLinking, RowLinkingOver, WorstGroup};

/// Floats this close are compared exactly.
const NEAR: f64 = 1e-9;

/// Π counts / n^d.
#[derive(Clone, Debug)]
struct Chance {
    counts: Vec<u32>,
    rows: u64,
}

impl Chance {
    fn float(&self) -> f64 {
        self.counts.iter().map(|&count| f64::from(count) / self.rows as f64).product()
    }

    fn compare(&self, other: &Chance) -> Ordering {
        let (a, b) = (self.float(), other.float());
        if (a - b).abs() > NEAR * a.max(b) {
            return a.total_cmp(&b);
        }
        let product = |chance: &Chance, by: &Chance| {
            let counts = chance.counts.iter().fold(BigUint::one(), |product, &count| product * count);
            counts * BigUint::from(by.rows).pow(by.counts.len() as u32)
        };
        product(self, other).cmp(&product(other, self))
    }

    fn exact(&self) -> BigRational {
        let counts = self.counts.iter().fold(BigUint::one(), |product, &count| product * count);
        BigRational::new(counts.into(), BigUint::from(self.rows).pow(self.counts.len() as u32).into())
    }

    fn row_linking(&self, group: Option<i64>, over: RowLinkingOver) -> RowLinking {
        let delta = self.exact();
        RowLinking { delta: to_float(Some(&delta)), delta_text: show(&delta), group, over }
    }
}

/// Exact values: a person who looks like nobody else has one row.
pub(super) fn own_row() -> RowLinking {
    RowLinking { delta: 1.0, delta_text: "1".into(), group: None, over: RowLinkingOver::ExactValues }
}

/// Exact values: everybody in the data is shown.
pub(super) fn certain(tables: &ValueTables<'_>) -> Presence {
    let combinations: f64 =
        tables.quasi.iter().map(|(attribute, column)| conceivable_values(attribute, column)).product();
    let rows = tables.table.rows();
    Presence {
        certain_rows: rows as u64,
        certain_group: None,
        covered: (rows as f64 / combinations).min(1.0),
        population: None,
    }
}

/// Permuted columns: a group covers everybody who has a value of each of its columns.
pub(super) fn covered(tables: &ValueTables<'_>, tally: &Tally, samples: &[GroupCounts]) -> Presence {
    let sizes: Vec<f64> =
        tables.quasi.iter().map(|(attribute, column)| conceivable_values(attribute, column)).collect();
    let n_values = |group: usize| samples.iter().map(move |sample| sample.group(group).values.len());
    let groups = || (0..tally.sizes.len()).filter(|&group| tally.sizes[group] > 0);
    let share = |group: usize| n_values(group).zip(&sizes).map(|(n, size)| n as f64 / size).product::<f64>();
    // Where only one column has different values, all rows are true whatever its order.
    let is_certain = |&group: &usize| n_values(group).filter(|&n| n > 1).count() <= 1;
    Presence {
        population: None,
        certain_rows: groups().filter(is_certain).map(|group| tally.sizes[group]).sum(),
        certain_group: groups().filter(is_certain).filter_map(|group| tally.ids[group]).min(),
        covered: groups().map(share).sum::<f64>().min(1.0),
    }
}

/// How many values a person could have: whole numbers and days between the ends of the domain, words of the manifest, and
/// the reals and datetimes that occur. Nobody is expected at every microsecond.
fn conceivable_values(attribute: &Attribute, column: &Column) -> f64 {
    let (kind, domain) = (Kind::from(attribute.kind), &attribute.domain);
    let end = |end: &Option<serde_json::Value>| end.as_ref().and_then(|end| Positions::of(attribute).of_json(end));
    let n = match kind {
        Kind::Integer | Kind::Date => {
            end(&domain.min).zip(end(&domain.max)).map(|(first, last)| last as f64 - first as f64 + 1.0)
        }
        Kind::Ordinal | Kind::Category => Some(domain.order().len() as f64),
        Kind::Real | Kind::DateTime => None,
    };
    n.unwrap_or(column.domain().len() as f64).max(1.0)
}

/// The quasi values of every group, column by column.
pub(super) fn samples(tables: &ValueTables<'_>, tally: &Tally, watch: &dyn Watch) -> Vec<GroupCounts> {
    let sample = |column: &Column| {
        watch.pause();
        GroupCounts::new(&tally.groups, column.codes(), column.domain().len())
    };
    tables.quasi.iter().map(|(_, column)| sample(column)).collect()
}

/// The groups in which a conceivable row is likeliest to be; none where values are exact.
pub(super) fn likeliest(samples: &[GroupCounts], tally: &Tally) -> Vec<WorstGroup> {
    if samples.is_empty() {
        return Vec::new();
    }
    let all: Vec<(f64, usize)> =
        (0..tally.sizes.len()).filter_map(|group| Some((most(samples, tally, group)?.float(), group))).collect();
    let worst = foremost(all, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let exact = |(_, group): (f64, usize)| Some((most(samples, tally, group)?.exact(), group));
    let mut worst: Vec<(BigRational, usize)> = worst.into_iter().filter_map(exact).collect();
    worst.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    worst.iter().map(|(level, group)| WorstGroup::exact(tally.ids[*group], tally.sizes[*group], level)).collect()
}

/// A person with the most frequent value of every column of a group; `None` where it has no rows.
fn most(samples: &[GroupCounts], tally: &Tally, group: usize) -> Option<Chance> {
    let most = |sample: &GroupCounts| sample.group(group).values.iter().map(|&(_, count)| count).max();
    let rows = tally.sizes[group];
    (rows > 0).then(|| Chance { counts: samples.iter().filter_map(most).collect(), rows })
}

/// The worst case of every group, a person with the most frequent value of each of its columns; the worst group first.
fn conceivable(samples: &[GroupCounts], tally: &Tally, watch: &dyn Watch) -> Vec<(Chance, usize)> {
    let groups = 0..tally.sizes.len();
    let mut chances: Vec<(Chance, usize)> =
        groups.filter_map(|group| Some((most(samples, tally, group)?, group))).collect();
    chances.sort_by(|(a, first), (b, second)| {
        watch.pause();
        b.compare(a).then(first.cmp(second))
    });
    chances
}

/// The largest δ of permuted quasi columns, over the people if they are known.
pub(super) fn attack(
    tables: &ValueTables<'_>,
    tally: &Tally,
    samples: &[GroupCounts],
    microdata: Option<&Table>,
    watch: &dyn Watch,
) -> Option<RowLinking> {
    let chances = conceivable(samples, tally, watch);
    let Some(microdata) = microdata else {
        let (chance, group) = chances.first()?;
        return Some(chance.row_linking(tally.ids[*group], RowLinkingOver::Conceivable));
    };
    let people = People::new(tables, microdata, watch);
    let mut search = Search { samples, people: &people, best: None, watch };
    for (bound, group) in &chances {
        // PROOF: groups come with the largest bound first, so no later one can do better either.
        if search.best.as_ref().is_some_and(|(best, _)| bound.compare(best).is_le()) {
            break;
        }
        search.descend(*group, &mut bound.clone(), 0, 0..people.rows.len());
    }
    let (chance, group) = search.best?;
    Some(chance.row_linking(tally.ids[group], RowLinkingOver::People))
}

/// The different people by published codes, sorted. People with a value that is published nowhere are left out.
struct People {
    rows: Vec<Vec<Code>>,
}

impl People {
    fn new(tables: &ValueTables<'_>, microdata: &Table, watch: &dyn Watch) -> People {
        let columns: Vec<(&Column, &Column)> = tables
            .quasi
            .iter()
            .filter_map(|(attribute, column)| Some((microdata.column(&attribute.name)?, *column)))
            .collect();
        let translate = |(source, shown): &(&Column, &Column)| -> Vec<Option<Code>> {
            let codes = 0..source.domain().len() as Code;
            codes.map(|code| shown.domain().code_of(source.domain().value(code))).collect()
        };
        let maps: Vec<Vec<Option<Code>>> = columns.iter().map(translate).collect();
        let sources: Vec<&Column> = columns.iter().map(|(source, _)| *source).collect();
        let groups = Groups::of_columns(&sources, microdata.rows(), watch);
        let person =
            |&row: &usize| sources.iter().zip(&maps).map(|(source, map)| map[source.code(row) as usize]).collect();
        let mut rows: Vec<Vec<Code>> = groups.some_rows().iter().filter_map(person).collect();
        rows.sort_unstable();
        People { rows }
    }
}

/// A depth-first search through the people as a tree of values, which skips branches that cannot beat the best.
struct Search<'a> {
    samples: &'a [GroupCounts],
    people: &'a People,
    best: Option<(Chance, usize)>,
    watch: &'a dyn Watch,
}

impl Search<'_> {
    /// `chance` holds the counts chosen so far and, from `depth` on, the largest there are.
    fn descend(&mut self, group: usize, chance: &mut Chance, depth: usize, range: std::ops::Range<usize>) {
        if range.is_empty() || self.best.as_ref().is_some_and(|(best, _)| chance.compare(best).is_le()) {
            return;
        }
        let Some(sample) = self.samples.get(depth) else {
            self.best = Some((chance.clone(), group));
            return;
        };
        self.watch.pause();
        let most = chance.counts[depth];
        let mut values = sample.group(group).values.to_vec();
        values.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
        for (code, count) in values {
            let rows = &self.people.rows[range.clone()];
            let first = range.start + rows.partition_point(|person| person[depth] < code);
            let after = range.start + rows.partition_point(|person| person[depth] <= code);
            chance.counts[depth] = count;
            self.descend(group, chance, depth + 1, first..after);
        }
        chance.counts[depth] = most;
    }
}
