//! A plan answered from a prepared release (steps 6 to 8 of `spec.md`).

use std::collections::BTreeMap;

use chrysalis_release::view::Multisets;
use chrysalis_table::{Code, Value};
use rayon::prelude::*;

use crate::OpenRelease;
use crate::aggregate::{Estimate, Side, aggregate, most};
use crate::code_test::{CodeTest, passing};
use crate::estimate::{self, Hit, HitsByKey, KeyValues};
use crate::value_set::ValueSet;
use crate::{Plan, QueryError};

/// The answer to a question: one row, or one per combination of GROUP BY values.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The names of the GROUP BY columns.
    pub keys: Vec<String>,
    /// In ascending order of the keys, missing values first.
    pub rows: Vec<AnswerRow>,
}

/// The answer for one combination of GROUP BY values.
#[derive(Clone, Debug, PartialEq)]
pub struct AnswerRow {
    /// The values, in the order of the keys; `None` is missing.
    pub group: Vec<Option<Value>>,
    /// In the order of the question.
    pub aggregates: Vec<AggregateAnswer>,
    /// Where the numbers come from.
    pub because: Explanation,
}

/// What a release says about one aggregate. `None` is NULL.
///
/// The true answer always lies between `lower` and `upper`. For COUNT and SUM the estimate is the mean over all worlds
/// that the release allows, and `std_error` their standard deviation.
#[derive(Clone, Debug, PartialEq)]
pub struct AggregateAnswer {
    /// The alias, or `avg(salary)`.
    pub name: String,
    /// The expectation.
    pub estimate: Option<f64>,
    /// The least it can be.
    pub lower: Option<f64>,
    /// The most it can be.
    pub upper: Option<f64>,
    /// How far the truth typically is from the estimate.
    pub std_error: Option<f64>,
}

/// How many rows satisfy the condition on the quasi side, before sensitive values are considered.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Explanation {
    /// Groups with a possible hit.
    pub groups: u64,
    /// Their rows.
    pub rows: u64,
    /// Rows that match for certain.
    pub certain: u64,
    /// Rows that may match.
    pub possible: u64,
    /// Rows expected to match.
    pub expected: f64,
}

impl OpenRelease {
    /// Answers a plan made for this release's manifest.
    pub fn answer(&self, plan: &Plan) -> Result<Answer, QueryError> {
        let answering = AnswerScan::new(self, plan)?;
        let mut rows = answering.rows()?;
        // Combinations are sorted by their quasi keys, but a sensitive key may come before those in GROUP BY.
        rows.sort_by(|(a, _), (b, _)| a.cmp(b));
        let keys = plan.keys.iter().map(|&key| plan.fields[key].name.clone()).collect();
        Ok(Answer { keys, rows: rows.into_iter().map(|(_, row)| row).collect() })
    }
}

/// A row, preceded by the rank of each of its key values.
type RankedRow = (Vec<u32>, AnswerRow);

/// Hits in pieces that can be processed in parallel.
type Pieces<'a> = Vec<&'a [Hit]>;

struct AnswerScan<'a> {
    release: &'a OpenRelease,
    plan: &'a Plan,
    multisets: Option<&'a Multisets>,
    /// The codes of the sensitive values that the WHERE clause admits.
    test: Option<CodeTest>,
    /// The same for each aggregate.
    tests: Vec<Option<CodeTest>>,
    /// The values of the sensitive attribute in GROUP BY, and whether it is the one that is asked about.
    key: Option<(&'a Multisets, bool)>,
    /// Conditions on other sensitive attributes.
    beside: Vec<(&'a Multisets, Option<CodeTest>)>,
    /// Hits by condition.
    found: Vec<HitsByKey>,
    /// For every condition: the place of each combination of key values. Empty if there is only one condition.
    places: Vec<BTreeMap<Vec<Option<Value>>, usize>>,
}

impl<'a> AnswerScan<'a> {
    fn new(release: &'a OpenRelease, plan: &'a Plan) -> Result<Self, QueryError> {
        let asked = plan.sensitive.filter(|_| plan.needs_sensitive());
        let multisets = asked.map(|field| release.multisets(plan, field)).transpose()?;
        let key = |field: usize| Ok::<_, QueryError>((release.multisets(plan, field)?, Some(field) == plan.sensitive));
        let key = plan.sensitive_key().map(key).transpose()?;
        let beside = |(field, set): &(usize, ValueSet)| {
            let multisets = release.multisets(plan, *field)?;
            Ok::<_, QueryError>((multisets, CodeTest::of_values(multisets, set)))
        };
        let beside = plan.beside.iter().map(beside).collect::<Result<_, _>>()?;
        let test = |set: &Option<_>| {
            multisets.zip(set.as_ref()).and_then(|(multisets, set)| CodeTest::of_values(multisets, set))
        };
        let quasi_keys: Vec<usize> =
            plan.keys.iter().copied().filter(|key| Some(*key) != plan.sensitive_key()).collect();
        let found = (0..plan.conditions.len())
            .map(|condition| estimate::hits(release, plan, condition, &quasi_keys))
            .collect::<Result<Vec<HitsByKey>, _>>()?;
        let place = |found: &HitsByKey| {
            (0..).zip(&found.combinations).map(|(at, one)| (values(found, &one.digits), at)).collect()
        };
        Ok(AnswerScan {
            release,
            plan,
            multisets,
            test: test(&plan.sensitive_set),
            tests: plan.aggregates.iter().map(|aggregate| test(&aggregate.set)).collect(),
            key,
            beside,
            places: if found.len() > 1 { found.iter().map(place).collect() } else { Vec::new() },
            found,
        })
    }

    fn rows(&self) -> Result<Vec<RankedRow>, QueryError> {
        let combinations = 0..self.found[0].combinations.len();
        let rows: Vec<Vec<RankedRow>> = combinations.into_par_iter().map(|at| self.combination(at)).collect();
        Ok(rows.into_iter().flatten().collect())
    }

    /// The rows of one combination of quasi keys: one row, or one per sensitive value.
    fn combination(&self, at: usize) -> Vec<RankedRow> {
        let digits = &self.found[0].combinations[at].digits;
        let group = values(&self.found[0], digits);
        let pieces: Vec<Pieces<'_>> =
            (0..self.found.len()).map(|condition| self.pieces(condition, at, &group)).collect();
        let Some((multisets, is_asked)) = self.key else {
            return self.row(digits.clone(), group, &pieces, None).into_iter().collect();
        };
        // What the WHERE clause admits of another attribute is among the conditions beside.
        let test = self.test.as_ref().filter(|_| is_asked);
        let split: Vec<BTreeMap<Code, Vec<Hit>>> =
            pieces.iter().map(|pieces| by_value(pieces, multisets, test)).collect();
        let codes: Vec<Code> = split[0].keys().copied().collect();
        codes
            .into_par_iter()
            .filter_map(|code| {
                let pieces: Vec<Pieces<'_>> =
                    split.iter().map(|split| split.get(&code).map(Vec::as_slice).into_iter().collect()).collect();
                let (digits, group) = self.with_sensitive(digits, &group, code, multisets);
                self.row(digits, group, &pieces, Some(code))
            })
            .collect()
    }

    /// The hits that satisfy the conditions on other sensitive attributes as well, and have the given value of the one
    /// in GROUP BY; `None` if nothing is asked of others.
    fn thinned(&self, pieces: &[Pieces<'_>], value: Option<Code>) -> Option<Vec<Vec<Vec<Hit>>>> {
        let of_key = self.key.filter(|(_, is_asked)| !is_asked).zip(value);
        let of_key = of_key.map(|((multisets, _), code)| (multisets, Some(CodeTest::Between(code..code + 1))));
        let beside: Vec<(&Multisets, Option<&CodeTest>)> =
            self.beside.iter().chain(&of_key).map(|(multisets, test)| (*multisets, test.as_ref())).collect();
        if beside.is_empty() {
            return None;
        }
        let thin = |hit: &Hit| {
            let group = hit.group as usize;
            let size = self.release.groups().size(group);
            beside.iter().try_fold(*hit, |hit, (multisets, test)| {
                let c = passing(multisets.group(group), *test).map(|(_, count)| count).sum();
                hit.thinned(size, c)
            })
        };
        let of_piece = |piece: &&[Hit]| piece.iter().filter_map(thin).collect::<Vec<Hit>>();
        Some(pieces.iter().map(|pieces| pieces.par_iter().map(of_piece).collect()).collect())
    }

    fn pieces(&self, condition: usize, at: usize, group: &[Option<Value>]) -> Pieces<'_> {
        let place = if condition == 0 { Some(at) } else { self.places[condition].get(group).copied() };
        let combination = place.map(|place| &self.found[condition].combinations[place]);
        combination.iter().flat_map(|combination| combination.pieces.iter().map(Vec::as_slice)).collect()
    }

    /// Inserts the sensitive key at its place in GROUP BY.
    fn with_sensitive(
        &self,
        digits: &[u32],
        group: &[Option<Value>],
        code: Code,
        multisets: &Multisets,
    ) -> (Vec<u32>, Vec<Option<Value>>) {
        let (mut digits, mut group) = (digits.to_vec(), group.to_vec());
        let at = self.plan.keys.iter().position(|key| Some(*key) == self.plan.sensitive_key()).unwrap_or(0);
        digits.insert(at, code);
        group.insert(at, multisets.domain.value(code).cloned());
        (digits, group)
    }

    fn side<'s>(&'s self, test: Option<&'s CodeTest>) -> Side<'s> {
        Side { groups: self.release.groups(), multisets: self.multisets, test }
    }

    /// `None` if no row can have this combination of GROUP BY values.
    fn row(
        &self,
        digits: Vec<u32>,
        group: Vec<Option<Value>>,
        pieces: &[Pieces<'_>],
        value: Option<Code>,
    ) -> Option<RankedRow> {
        let because = Explanation::new(self.release, &pieces[0]);
        let thinned = self.thinned(pieces, value);
        let thinned: Option<Vec<Pieces<'_>>> =
            thinned.as_ref().map(|all| all.iter().map(|pieces| pieces.iter().map(Vec::as_slice).collect()).collect());
        let pieces = thinned.as_deref().unwrap_or(pieces);
        let value = value.filter(|_| self.key.is_some_and(|(_, is_asked)| is_asked));
        let is_grouped = !self.plan.keys.is_empty();
        let counts = CountingValues::new(self.test.as_ref(), value);
        if is_grouped && most(self.side(counts.test()), &pieces[0]) == 0 {
            return None;
        }
        let aggregates = self.plan.aggregates.iter().zip(&self.tests).map(|(planned, test)| {
            let counts = CountingValues::new(test.as_ref(), value);
            let estimate = aggregate(planned.function, self.side(counts.test()), &pieces[planned.condition]);
            AggregateAnswer::new(planned.name.clone(), estimate)
        });
        Some((digits, AnswerRow { aggregates: aggregates.collect(), group, because }))
    }
}

/// The sensitive values that count. With a sensitive key, only the key's value remains, if it is one of them.
enum CountingValues<'a> {
    Asked(Option<&'a CodeTest>),
    Only(CodeTest),
}

impl<'a> CountingValues<'a> {
    fn new(test: Option<&'a CodeTest>, value: Option<Code>) -> Self {
        match value {
            None => CountingValues::Asked(test),
            Some(code) => {
                let is_in = test.is_none_or(|test| test.holds(code));
                CountingValues::Only(CodeTest::Between(code..code + Code::from(is_in)))
            }
        }
    }

    fn test(&self) -> Option<&CodeTest> {
        match self {
            CountingValues::Asked(test) => *test,
            CountingValues::Only(test) => Some(test),
        }
    }
}

fn values(found: &HitsByKey, digits: &[u32]) -> Vec<Option<Value>> {
    found.keys.iter().zip(digits).map(|(key, &digit): (&KeyValues, _)| key.value(digit)).collect()
}

/// For every value that counts, the hits of the groups that contain it.
fn by_value(pieces: &[&[Hit]], multisets: &Multisets, test: Option<&CodeTest>) -> BTreeMap<Code, Vec<Hit>> {
    let mut by_value: BTreeMap<Code, Vec<Hit>> = BTreeMap::new();
    for hit in pieces.iter().flat_map(|piece| piece.iter()) {
        for (code, _) in passing(multisets.group(hit.group as usize), test) {
            by_value.entry(code).or_default().push(*hit);
        }
    }
    by_value
}

impl AggregateAnswer {
    fn new(name: String, estimate: Estimate) -> Self {
        let Estimate { estimate, lower, upper, std_error } = estimate;
        AggregateAnswer { name, estimate, lower, upper, std_error }
    }
}

impl Explanation {
    fn new(release: &OpenRelease, pieces: &[&[Hit]]) -> Self {
        let mut because = Explanation::default();
        for hit in pieces.iter().flat_map(|piece| piece.iter()) {
            because.groups += 1;
            because.rows += u64::from(release.groups().size(hit.group as usize));
            because.certain += u64::from(hit.least);
            because.possible += u64::from(hit.most);
            because.expected += hit.expected;
        }
        because
    }
}
