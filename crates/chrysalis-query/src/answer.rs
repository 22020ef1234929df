//! A plan answered from a prepared release (steps 6 to 8 of `spec.md`).

use std::collections::BTreeMap;

use chrysalis_release::ReleaseError;
use chrysalis_release::view::{CodedColumn, Multisets};
use chrysalis_table::{Code, Codes, Progress, Value, no_progress};
use rayon::prelude::*;

use crate::OpenRelease;
use crate::aggregate::{Estimate, Side, WeightedSide, aggregate, most};
use crate::code_test::{CodeTest, passing};
use crate::estimate::{self, Hit, HitsByKey, KeyValues, RowsByKey};
use crate::gather::{Gathered, Gatherer, Operand, Place};
use crate::inquiry::Way;
use crate::learned::{Asked, HitValues, Learner};
use crate::listed::{Listed, Part};
use crate::{EstimateMode, Plan, QueryError};

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
    /// Answers a plan made for this release's manifest with the papers' estimates, which rewritten SQL computes too.
    pub fn answer(&self, plan: &Plan) -> Result<Answer, QueryError> {
        self.answer_with(plan, EstimateMode::Even)
    }

    /// Answers a plan made for this release's manifest.
    pub fn answer_with(&self, plan: &Plan, mode: EstimateMode) -> Result<Answer, QueryError> {
        self.answer_watched(plan, mode, &no_progress)
    }

    /// The same, with `progress` as a place to stop: it is told nothing.
    pub(crate) fn answer_watched(
        &self,
        plan: &Plan,
        mode: EstimateMode,
        progress: Progress<'_>,
    ) -> Result<Answer, QueryError> {
        let keys = plan.keys.iter().map(|&key| plan.fields[key].name.clone()).collect();
        let rows = self.gather(plan, (&[], &[]), mode, progress)?;
        Ok(Answer { keys, rows: rows.into_iter().map(|(row, _)| row).collect() })
    }

    /// Answers a plan, and lists for each of the operands which values may be hit, row by row of the answer; `ways` say what
    /// is computed from them.
    pub(crate) fn gather(
        &self,
        plan: &Plan,
        operands: (&[Operand], &[Way]),
        mode: EstimateMode,
        progress: Progress<'_>,
    ) -> Result<Vec<(AnswerRow, Vec<Gathered>)>, QueryError> {
        let answering = AnswerScan::new(self, plan, operands, mode, progress)?;
        let mut rows = answering.rows()?;
        // Combinations are sorted by their quasi keys, but a sensitive key may come before those in GROUP BY.
        rows.sort_by(|(a, ..), (b, ..)| a.cmp(b));
        Ok(rows.into_iter().map(|(_, row, gathered)| (row, gathered)).collect())
    }
}

/// A row, preceded by the rank of each of its key values, and followed by the values that operands may be hit with.
type RankedRow = (Vec<u32>, AnswerRow, Vec<Gathered>);

/// Hits in pieces that can be processed in parallel.
type Pieces<'a> = Vec<&'a [Hit]>;

struct AnswerScan<'a> {
    release: &'a OpenRelease,
    plan: &'a Plan,
    /// The sensitive attribute that is asked about, with conditions on those that are shown together with it.
    asked: Option<Part<'a>>,
    /// The codes of the sensitive values that the WHERE clause admits.
    test: Option<CodeTest>,
    /// The same for each aggregate.
    tests: Vec<Option<CodeTest>>,
    /// The sensitive attribute in GROUP BY.
    key: Option<SensitiveKey<'a>>,
    /// Conditions on sensitive attributes that are shown apart from the one that is asked about.
    beside: Vec<Part<'a>>,
    /// Hits by condition.
    found: Vec<HitsByKey>,
    /// The rows that may match, and their weights, if an aggregate is over these.
    weighed: Option<(RowsByKey, Weights<'a>)>,
    /// For every condition: the place of each combination of key values. Empty if there is only one condition.
    places: Vec<BTreeMap<Vec<Option<Value>>, usize>>,
    /// For learned estimates.
    learner: Option<Learner<'a>>,
    /// What values are wanted of.
    gatherers: Vec<Gatherer<'a>>,
    /// A place to stop.
    progress: Progress<'a>,
}

/// The sensitive attribute in GROUP BY.
struct SensitiveKey<'a> {
    field: usize,
    values: &'a Multisets,
    /// Whether it is the one that is asked about.
    is_asked: bool,
}

impl<'a> AnswerScan<'a> {
    fn new(
        release: &'a OpenRelease,
        plan: &'a Plan,
        operands: (&[Operand], &[Way]),
        mode: EstimateMode,
        progress: Progress<'a>,
    ) -> Result<Self, QueryError> {
        let asked = plan.sensitive.filter(|_| plan.needs_sensitive());
        let mut asked = asked.map(|field| Part::new(release, plan, field)).transpose()?;
        let key = |field: usize| {
            let is_asked = Some(field) == plan.sensitive;
            // Codes are those of the values that are listed.
            let own = asked.as_ref().filter(|_| is_asked).map(Part::values);
            let values = own.map_or_else(|| release.multisets(plan, field), Ok)?;
            Ok::<_, QueryError>(SensitiveKey { field, values, is_asked })
        };
        let key = plan.sensitive_key().map(key).transpose()?;
        let mut beside: Vec<Part<'a>> = Vec::new();
        let conditions = plan.beside.iter().map(|(field, set)| (*field, Some(set)));
        let of_key = key.iter().filter(|key| !key.is_asked).map(|key| (key.field, None));
        for (field, set) in conditions.chain(of_key) {
            let known = asked.iter_mut().chain(&mut beside).find(|part| part.has(field));
            match (known, set) {
                (Some(part), Some(set)) => part.restrict(field, set),
                (Some(_), None) => {}
                (None, set) => {
                    let mut part = Part::new(release, plan, field)?;
                    set.into_iter().for_each(|set| part.restrict(field, set));
                    beside.push(part);
                }
            }
        }
        let listed = asked.as_ref().map(Part::values);
        let test =
            |set: &Option<_>| listed.zip(set.as_ref()).and_then(|(values, set)| CodeTest::of_values(values, set));
        let quasi_keys: Vec<usize> =
            plan.keys.iter().copied().filter(|key| Some(*key) != plan.sensitive_key()).collect();
        let found = (0..plan.conditions.len())
            .map(|condition| {
                progress(0);
                estimate::hits(release, plan, condition, &quasi_keys)
            })
            .collect::<Result<Vec<HitsByKey>, _>>()?;
        let weighed = plan.weight().map(|field| {
            let weights = Weights::new(release, plan, field)?;
            Ok::<_, QueryError>((estimate::matching_rows(release, plan, &quasi_keys)?, weights))
        });
        let place = |found: &HitsByKey| {
            (0..).zip(&found.combinations).map(|(at, one)| (values(found, &one.digits), at)).collect()
        };
        // Nobody has worked out what counterfeits teach about ranges and labels.
        let can_learn = !release.has_counterfeits() || !plan.shape.detail.is_labelled();
        let learns = mode == EstimateMode::Learned && can_learn;
        let learner = learns.then(|| Learner::new(release, plan, &quasi_keys, progress)).transpose()?;
        let gatherers = Gatherer::all(release, plan, operands, listed, &quasi_keys, learner.as_ref())?;
        Ok(AnswerScan {
            learner,
            release,
            plan,
            gatherers,
            progress,
            test: test(&plan.sensitive_set),
            tests: plan.aggregates.iter().map(|aggregate| test(&aggregate.set)).collect(),
            asked,
            key,
            beside,
            weighed: weighed.transpose()?,
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
        let Some(&SensitiveKey { values: multisets, is_asked, .. }) = self.key.as_ref() else {
            return self.row(at, digits.clone(), group, &pieces, None).into_iter().collect();
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
                self.row(at, digits, group, &pieces, Some(code))
            })
            .collect()
    }

    /// The hits that satisfy the conditions on sensitive attributes shown apart as well; `None` if there are none.
    fn thinned(&self, pieces: &[Pieces<'_>], beside: &[Listed<'_>]) -> Option<Vec<Vec<Vec<Hit>>>> {
        if beside.is_empty() {
            return None;
        }
        let thin = |hit: &Hit| {
            let group = hit.group as usize;
            let size = self.release.size(group);
            beside.iter().try_fold(*hit, |hit, listed| hit.thinned(size, listed.count(group, None)))
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

    fn side<'s>(&'s self, values: Option<&'s Listed<'s>>, test: Option<&'s CodeTest>) -> Side<'s> {
        Side { groups: self.release.shown(), values, test }
    }

    /// What counts for an aggregate of weights; `test` is the condition on the sensitive values asked about, which are
    /// those of `asked`, and `beside` are conditions on others.
    fn weighted<'s>(
        &'s self,
        weights: &'s Weights<'a>,
        test: Option<&'s CodeTest>,
        asked: Option<&'s Listed<'s>>,
        beside: &'s [Listed<'s>],
    ) -> WeightedSide<'s> {
        let own = weights.beside_values.zip(test);
        let asked = asked.filter(|_| own.is_none()).map(|listed| (listed, test));
        WeightedSide {
            groups: self.release.shown(),
            codes: &weights.column.codes,
            numbers: &weights.numbers,
            own,
            drawn: asked.into_iter().chain(beside.iter().map(|listed| (listed, None))).collect(),
        }
    }

    /// `None` if no row can have this combination of GROUP BY values.
    fn row(
        &self,
        at: usize,
        digits: Vec<u32>,
        group: Vec<Option<Value>>,
        pieces: &[Pieces<'_>],
        value: Option<Code>,
    ) -> Option<RankedRow> {
        (self.progress)(0);
        let because = Explanation::new(self.release, &pieces[0]);
        // A value of another attribute in GROUP BY is one more condition on the attributes that it is shown with.
        let of_key = self.key.as_ref().filter(|key| !key.is_asked).zip(value);
        let only = |part: &Part<'a>| of_key.and_then(|(key, code)| part.only(key.field, key.values, code));
        let of_asked = self.asked.as_ref().and_then(only);
        let of_beside: Vec<_> = self.beside.iter().map(only).collect();
        let listed = self.asked.as_ref().map(|part| part.listed(of_asked.as_ref()));
        let beside = self.beside.iter().zip(&of_beside).map(|(part, only)| part.listed(only.as_ref()));
        let beside: Vec<Listed<'_>> = beside.collect();
        let thinned = self.thinned(pieces, &beside);
        let quasi = group_of_quasi(self.plan, &group);
        let found = pieces;
        let thinned: Option<Vec<Pieces<'_>>> =
            thinned.as_ref().map(|all| all.iter().map(|pieces| pieces.iter().map(Vec::as_slice).collect()).collect());
        let pieces = thinned.as_deref().unwrap_or(pieces);
        let together = value.filter(|_| of_asked.is_some());
        let value = value.filter(|_| self.key.as_ref().is_some_and(|key| key.is_asked));
        let is_grouped = !self.plan.keys.is_empty();
        let counts = CountingValues::new(self.test.as_ref(), value);
        if is_grouped && most(self.side(listed.as_ref(), counts.test()), &pieces[0]) == 0 {
            return None;
        }
        let aggregates = self.plan.aggregates.iter().zip(&self.tests).enumerate().map(|(place, (planned, test))| {
            (self.progress)(0);
            let counts = CountingValues::new(test.as_ref(), value);
            let estimate = match &self.weighed {
                Some((rows, weights)) if self.plan.weighs(planned) => {
                    let rows = rows.get(&self.found[0].combinations[at].digits).map_or(&[][..], Vec::as_slice);
                    let side = self.weighted(weights, counts.test(), listed.as_ref(), &beside);
                    side.aggregate(planned.function, rows)
                }
                _ => {
                    let side = self.side(listed.as_ref(), counts.test());
                    let even = aggregate(planned.function, side, &pieces[planned.condition]);
                    self.learner.as_ref().map_or(even, |learner| {
                        let (found, pieces) = (&found[planned.condition][..], &pieces[planned.condition][..]);
                        let asked =
                            Asked { at: place, planned, side, value, together, group: &quasi, found, pieces, even };
                        let learned = learner.estimate(&asked);
                        // Where nothing is expected to be hit, no extreme is either.
                        if learned.estimate.is_some() { learned } else { even }
                    })
                }
            };
            AggregateAnswer::new(planned.name.clone(), estimate)
        });
        let aggregates = aggregates.collect();
        let needs = self.gatherers.iter().any(|gatherer| gatherer.learns(self.plan));
        let learned = self.learner.as_ref().filter(|_| needs).map(|learner| {
            let side = self.side(listed.as_ref(), counts.test());
            let (found, pieces) = (&found[0][..], &pieces[0][..]);
            learner.rows(HitValues { side, value, together, group: &quasi, found, pieces })
        });
        let place = Place {
            digits: &self.found[0].combinations[at].digits,
            group: &group,
            pieces: &pieces[0],
            listed: listed.as_ref(),
            test: counts.test(),
            beside: &beside,
            learned: learned.as_ref(),
        };
        let gathered = self.gatherers.iter().map(|gatherer| gatherer.gather(self.release, self.plan, &place)).collect();
        Some((digits, AnswerRow { aggregates, group, because }, gathered))
    }
}

/// Survey weights.
struct Weights<'a> {
    column: &'a CodedColumn,
    /// The number behind every code.
    numbers: Vec<f64>,
    /// The sensitive values in the same rows, if they are those of the same people.
    beside_values: Option<&'a Codes>,
}

impl<'a> Weights<'a> {
    fn new(release: &'a OpenRelease, plan: &'a Plan, field: usize) -> Result<Self, QueryError> {
        let column = release.column(plan, field)?;
        let number = |code: Code| column.domain.value(code).and_then(Value::number).filter(|number| *number >= 0.0);
        let wrong =
            || ReleaseError::Nonsense(format!("`{}` has a weight that is not 0 or more", plan.fields[field].name));
        let numbers = (0..column.domain.len() as Code).map(|code| number(code).ok_or_else(wrong));
        let asked = plan.sensitive.filter(|_| plan.needs_sensitive() && plan.has_weights_beside_values());
        let beside_values = asked.map(|field| release.column(plan, field)).transpose()?.map(|it| &it.codes);
        Ok(Weights { column, numbers: numbers.collect::<Result<_, _>>()?, beside_values })
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

/// The values of the quasi attributes in GROUP BY.
fn group_of_quasi(plan: &Plan, group: &[Option<Value>]) -> Vec<Option<Value>> {
    let sensitive = plan.sensitive_key();
    plan.keys.iter().zip(group).filter(|(key, _)| Some(**key) != sensitive).map(|(_, value)| value.clone()).collect()
}

fn values(found: &HitsByKey, digits: &[u32]) -> Vec<Option<Value>> {
    found.keys.iter().zip(digits).map(|(key, &digit): (&KeyValues, _)| key.value(digit)).collect()
}

/// For every value that counts, the hits of the groups that contain it.
fn by_value(pieces: &[&[Hit]], multisets: &Multisets, test: Option<&CodeTest>) -> BTreeMap<Code, Vec<Hit>> {
    let mut by_value: BTreeMap<Code, Vec<Hit>> = BTreeMap::new();
    for hit in pieces.iter().flat_map(|piece| piece.iter()) {
        for (code, _) in passing(multisets.group(hit.group as usize), test) {
            let hits = by_value.entry(code).or_default();
            // A group lists a value once for every combination that it is in.
            if hits.last().is_none_or(|last| last.group != hit.group) {
                hits.push(*hit);
            }
        }
    }
    by_value
}

impl AggregateAnswer {
    pub(crate) fn new(name: String, estimate: Estimate) -> Self {
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
