//! The values that may be hit, row by row of an answer: what aggregates other than plain ones are computed from (step 9 of
//! `spec.md`).

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use chrysalis_release::Detail;
use chrysalis_release::view::{CodedColumn, Label, Labels, Multisets};
use chrysalis_table::{Code, Codes, Kind, Value};

use crate::aggregate::{Chosen, Factor, Paired, Pick};
use crate::code_test::CodeTest;
use crate::estimate::{self, Hit, MatchingRows, RowHits, RowsByKey, Split};
use crate::learned::{Ends, LearnedRows, Learner, Positions, Scale};
use crate::listed::Listed;
use crate::term::{Scalar, Term, classes, is_monotone};
use crate::value_set::{ValueSet, Values};
use crate::{OpenRelease, Plan, QueryError};

/// What an aggregate is over.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// The same number for every hit.
    Constant(f64),
    /// A term of the sensitive attribute that is asked about.
    Sensitive(Mapped),
    /// A term of other attributes.
    Rows(Mapped),
    /// The product of a term of other attributes and one of the sensitive attribute.
    Product(Mapped, Mapped),
}

/// A term whose values are numbers, or are numbered.
#[derive(Clone, Debug, PartialEq)]
pub struct Mapped {
    /// The term.
    pub term: Term,
    /// Numbers that stand for values which are none.
    pub names: Option<Arc<HashMap<String, f64>>>,
}

impl Mapped {
    fn number(&self, scalar: &Scalar) -> Option<f64> {
        match &self.names {
            Some(names) if *scalar != Scalar::Null => names.get(&scalar.key()).copied(),
            _ => scalar.number(),
        }
    }

    /// The number behind every code of a domain.
    fn numbers(&self, plan: &Plan, domain: &chrysalis_table::Domain) -> Vec<Option<f64>> {
        let number = |code: Code| {
            let value = domain.value(code).cloned();
            self.number(&self.term.eval(&|_| value.clone(), &plan.fields))
        };
        (0..domain.len() as Code).map(number).collect()
    }
}

/// The values of an operand, group by group.
#[derive(Clone, Debug)]
pub(crate) enum Gathered {
    Chosen(Vec<Chosen>),
    Paired(Vec<Paired>),
}

/// One row of an answer: the hits behind it, and the sensitive values that count.
pub(crate) struct Place<'a> {
    /// The digits of the quasi keys.
    pub(crate) digits: &'a [u32],
    /// The values of all keys.
    pub(crate) group: &'a [Option<Value>],
    pub(crate) pieces: &'a [&'a [Hit]],
    pub(crate) listed: Option<&'a Listed<'a>>,
    pub(crate) test: Option<&'a CodeTest>,
    pub(crate) beside: &'a [Listed<'a>],
    /// What all groups together say about the rows.
    pub(crate) learned: Option<&'a LearnedRows<'a>>,
}

/// Gathers the values of one operand.
pub(crate) struct Gatherer<'a> {
    source: Source<'a>,
    /// The number behind every sensitive value.
    sensitive: Vec<Option<f64>>,
    /// The rows that may match.
    rows: Option<Arc<RowsByKey>>,
    /// The sensitive values in the same rows, if they are those of the same people.
    own: Option<&'a Codes>,
}

/// Where the values of rows come from.
enum Source<'a> {
    Constant(f64),
    Sensitive,
    /// The key at this place, and the term of it.
    Key(usize, Mapped),
    /// The number of every row.
    Exact(Vec<Option<f64>>),
    /// A permuted column: the numbers of its codes, and which of them the condition admits.
    Permuted(&'a CodedColumn, Vec<Option<f64>>, CodeTest),
    /// Labels, the least and greatest number behind each, with whether there may be none, and where these numbers are
    /// learned about.
    Labels(&'a Labels, Vec<Ends>, Option<Arc<Scale>>),
    Product(Box<Source<'a>>),
}

impl<'a> Gatherer<'a> {
    pub(crate) fn all(
        release: &'a OpenRelease,
        plan: &'a Plan,
        operands: &[Operand],
        listed: Option<&Multisets>,
        quasi_keys: &[usize],
        learner: Option<&Learner<'_>>,
    ) -> Result<Vec<Self>, QueryError> {
        let needs_rows = |operand: &Operand| matches!(operand, Operand::Rows(_) | Operand::Product(..));
        let has_rows = plan.shape.detail != Detail::Permuted && operands.iter().any(needs_rows);
        let rows = has_rows.then(|| estimate::matching_rows(release, plan, quasi_keys)).transpose()?.map(Arc::new);
        let is_own = plan.needs_sensitive() && plan.has_weights_beside_values();
        let own = plan.sensitive.filter(|_| is_own && has_rows);
        // Where the rows' own values were not kept, those of their group are known all the same.
        let own = own.and_then(|field| release.column(plan, field).ok()).map(|column| &column.codes);
        let make = |operand: &Operand| {
            let of_values =
                |mapped: &Mapped| listed.map(|values| mapped.numbers(plan, &values.domain)).unwrap_or_default();
            let (source, sensitive) = match operand {
                Operand::Constant(number) => (Source::Constant(*number), Vec::new()),
                Operand::Sensitive(mapped) => (Source::Sensitive, of_values(mapped)),
                Operand::Rows(mapped) => (Source::rows(release, plan, mapped, learner)?, Vec::new()),
                Operand::Product(mapped, of_sensitive) => {
                    (Source::Product(Box::new(Source::rows(release, plan, mapped, learner)?)), of_values(of_sensitive))
                }
            };
            Ok(Gatherer { source, sensitive, rows: rows.clone(), own })
        };
        operands.iter().map(make).collect()
    }

    /// Whether its numbers stand in ranges that all groups together say more about.
    pub(crate) fn learns(&self) -> bool {
        self.source.scale().is_some()
    }

    pub(crate) fn gather(&self, release: &OpenRelease, plan: &Plan, place: &Place<'_>) -> Gathered {
        let constant = |number: f64| {
            let hits = place.pieces.iter().flat_map(|piece| piece.iter());
            hits.filter_map(|hit| of_values(release, place, hit, |_| Some(number))).collect()
        };
        match &self.source {
            Source::Constant(number) => Gathered::Chosen(constant(*number)),
            Source::Key(at, mapped) => {
                let value = place.group[*at].clone();
                let number = mapped.number(&mapped.term.eval(&|_| value.clone(), &plan.fields));
                Gathered::Chosen(number.map(constant).unwrap_or_default())
            }
            Source::Sensitive => {
                let hits = place.pieces.iter().flat_map(|piece| piece.iter());
                let number = |code: Code| self.sensitive[code as usize];
                Gathered::Chosen(hits.filter_map(|hit| of_values(release, place, hit, number)).collect())
            }
            Source::Permuted(column, numbers, test) => {
                let hits = place.pieces.iter().flat_map(|piece| piece.iter());
                Gathered::Chosen(
                    hits.filter_map(|hit| permuted(release, place, hit, column, (numbers, test))).collect(),
                )
            }
            Source::Exact(_) | Source::Labels(..) => {
                let value = |row: usize, group: usize| self.value(&self.source, plan, row, group);
                let learned = self.learned(place);
                let learned = learned.as_ref().map(|(rows, positions)| (*rows, positions));
                let chosen = |hits: &RowHits| self.of_rows(release, place, hits, &value, learned);
                Gathered::Chosen(self.hits(place).iter().filter_map(chosen).collect())
            }
            Source::Product(factor) => self.product(release, plan, place, factor),
        }
    }

    /// What is learned about the rows, and where in their labels they are.
    fn learned<'l>(&self, place: &Place<'l>) -> Option<(&'l LearnedRows<'l>, Arc<Positions>)> {
        place.learned.zip(self.source.scale()).map(|(rows, scale)| (rows, rows.positions(scale)))
    }

    fn hits(&self, place: &Place<'_>) -> &[RowHits] {
        self.rows.as_ref().and_then(|rows| rows.get(place.digits)).map_or(&[], Vec::as_slice)
    }

    /// The least and greatest number of a row, and whether it has one for certain.
    fn value(&self, source: &Source<'_>, plan: &Plan, row: usize, group: usize) -> Ends {
        match source {
            Source::Exact(numbers) => numbers[row].map(|number| (number, number, true)),
            Source::Labels(labels, ends, _) => {
                let at = if plan.shape.detail == Detail::GroupBoxes { group } else { row };
                ends[labels.of[at] as usize]
            }
            _ => None,
        }
    }

    /// A group whose rows have values of their own (step 7a).
    fn of_rows(
        &self,
        release: &OpenRelease,
        place: &Place<'_>,
        hits: &RowHits,
        value: &dyn Fn(usize, usize) -> Ends,
        learned: Option<(&LearnedRows<'_>, &Arc<Positions>)>,
    ) -> Option<Chosen> {
        let group = hits.group as usize;
        let size = release.size(group);
        let drawn = self.drawn(place, group, size)?;
        let own = self.own.zip(place.test);
        let counts = |row: usize| own.is_none_or(|(codes, test)| test.holds(codes.get(row)));
        let mut of_learned = Vec::new();
        let mut picks: Vec<Pick> = Vec::new();
        for (row, split) in each_row(release, hits).filter(|(row, _)| counts(*row)) {
            let Some((low, high, is_number)) = value(row, group) else { continue };
            let is_certain = split.is_certain && is_number;
            let Split { inside, outside, .. } = split;
            let pick = Pick { low, high, count: 1, is_certain, inside, outside };
            // All rows of a group may be alike.
            match picks.last_mut() {
                Some(last) if (Pick { count: 1, ..*last }) == pick && matches!(hits.rows, MatchingRows::All(_)) => {
                    last.count += 1;
                }
                _ => {
                    let at = if matches!(hits.rows, MatchingRows::All(_)) { group } else { row };
                    of_learned.extend(learned.map(|(rows, positions)| rows.pick(at, inside, positions)));
                    picks.push(pick);
                }
            }
        }
        let certain: u32 = picks.iter().filter(|pick| pick.is_certain).map(|pick| pick.count).sum();
        let rows: u32 = picks.iter().map(|pick| pick.count).sum();
        // PROOF: at most n − m of the rows that match for certain are among those that the conditions leave out.
        let must = (certain + drawn.least).saturating_sub(size);
        let mut chosen = Chosen::new(picks, size, drawn, must, rows.min(drawn.most))?;
        chosen.learned = learned.map(|(rows, positions)| rows.group(of_learned, positions));
        Some(chosen)
    }

    /// How many rows of a group satisfy the conditions on sensitive values of which only the groups are known.
    fn drawn(&self, place: &Place<'_>, group: usize, size: u32) -> Option<Hit> {
        let is_own = self.own.is_some() && place.test.is_some();
        let asked = place.listed.filter(|_| !is_own).map(|listed| listed.count(group, place.test));
        let beside = place.beside.iter().map(|listed| listed.count(group, None));
        asked.into_iter().chain(beside).try_fold(Hit::certain(group, size, size), |hit, count| hit.thinned(size, count))
    }

    fn product(&self, release: &OpenRelease, plan: &Plan, place: &Place<'_>, factor: &Source<'_>) -> Gathered {
        if let (Some(own), Source::Exact(numbers)) = (self.own, factor) {
            // Both stand in the row of their person.
            let value = |row: usize, _: usize| {
                let product = numbers[row]? * self.sensitive[own.get(row) as usize]?;
                Some((product, product, true))
            };
            let hits = self.hits(place).iter();
            return Gathered::Chosen(
                hits.filter_map(|hits| self.of_rows(release, place, hits, &value, None)).collect(),
            );
        }
        let values = |group: usize| -> Vec<(f64, u32)> {
            let Some(listed) = place.listed else { return Vec::new() };
            let passing = listed.passing(group, place.test);
            passing.filter_map(|(code, count)| Some((self.sensitive[code as usize]?, count))).collect()
        };
        // A condition on another sensitive column leaves it open which rows count.
        let is_open = !place.beside.is_empty();
        let mut paired = Vec::new();
        match factor {
            Source::Key(at, mapped) => {
                let value = place.group[*at].clone();
                let number = mapped.number(&mapped.term.eval(&|_| value.clone(), &plan.fields));
                for hit in place.pieces.iter().flat_map(|piece| piece.iter()) {
                    let group = hit.group as usize;
                    let n = release.size(group);
                    let factors = number
                        .into_iter()
                        .flat_map(|number| factors_of(hit, hit.most, std::iter::repeat_n(number, hit.most as usize)));
                    paired.push(Paired { factors: factors.collect(), n, values: values(group) });
                }
            }
            Source::Permuted(column, numbers, test) => {
                for hit in place.pieces.iter().flat_map(|piece| piece.iter()) {
                    let group = hit.group as usize;
                    let codes = release.groups().rows(group).map(|row| column.codes.get(row));
                    let admitted: Vec<Option<f64>> =
                        codes.filter(|code| test.holds(*code)).map(|code| numbers[code as usize]).collect();
                    let m = admitted.len() as u32;
                    let factors = factors_of(hit, m, admitted.into_iter().flatten()).collect();
                    paired.push(Paired { factors, n: release.size(group), values: values(group) });
                }
            }
            _ => {
                let learned = self.learned(place);
                for hits in self.hits(place) {
                    let group = hits.group as usize;
                    let thinning = if is_open { self.beside_share(release, place, group) } else { 1.0 };
                    let factor = |(row, split): (usize, Split)| {
                        let (low, high, is_number) = self.value(factor, plan, row, group)?;
                        let is_certain = split.is_certain && is_number && !is_open;
                        let (a, b) =
                            (Factor::new(low, is_certain, split.inside), Factor::new(high, is_certain, split.inside));
                        let at = if matches!(hits.rows, MatchingRows::All(_)) { group } else { row };
                        let expected = match &learned {
                            Some((rows, positions)) => rows.pick(at, split.inside, positions).expected(),
                            None => (a.expected + b.expected) / 2.0,
                        } * thinning;
                        Some(Factor { low: a.low.min(b.low), high: a.high.max(b.high), expected })
                    };
                    let factors = each_row(release, hits).filter_map(factor).collect();
                    paired.push(Paired { factors, n: release.size(group), values: values(group) });
                }
            }
        }
        Gathered::Paired(paired)
    }

    /// The share of a group's rows that are expected to satisfy conditions on other sensitive columns.
    fn beside_share(&self, release: &OpenRelease, place: &Place<'_>, group: usize) -> f64 {
        let n = f64::from(release.size(group));
        place.beside.iter().map(|listed| f64::from(listed.count(group, None)) / n).product()
    }
}

fn each_row<'h>(release: &'h OpenRelease, hits: &'h RowHits) -> Box<dyn Iterator<Item = (usize, Split)> + 'h> {
    match &hits.rows {
        MatchingRows::All(split) => Box::new(release.groups().rows(hits.group as usize).map(|row| (row, *split))),
        MatchingRows::Each(rows) => Box::new(rows.iter().map(|&(row, split)| (row as usize, split))),
    }
}

/// The factors of rows of which `hit.least` to `hit.most` are hit.
fn factors_of(hit: &Hit, m: u32, numbers: impl Iterator<Item = f64>) -> impl Iterator<Item = Factor> {
    let is_certain = hit.least == m;
    let chance = hit.expected / f64::from(m.max(1));
    numbers.map(move |number| Factor::new(number, is_certain, chance))
}

/// A group whose values are known, but not whose they are (step 7).
fn of_values(
    release: &OpenRelease,
    place: &Place<'_>,
    hit: &Hit,
    number: impl Fn(Code) -> Option<f64>,
) -> Option<Chosen> {
    let group = hit.group as usize;
    let n = release.size(group);
    let picks: Vec<Pick> = match place.listed {
        None => number(0).map(|number| Pick::known(number, n)).into_iter().collect(),
        Some(listed) => {
            let values = listed.passing(group, place.test);
            values.filter_map(|(code, count)| Some(Pick::known(number(code)?, count))).collect()
        }
    };
    let c: u32 = picks.iter().map(|pick| pick.count).sum();
    // PROOF: at most n − c hits fall on other values, so at least least + c − n fall on these.
    let must = (u64::from(hit.least) + u64::from(c)).saturating_sub(u64::from(n)) as u32;
    Chosen::new(picks, n, *hit, must, hit.most.min(c))
}

/// A group with a permuted column: hits have some of the values that the condition admits.
fn permuted(
    release: &OpenRelease,
    place: &Place<'_>,
    hit: &Hit,
    column: &CodedColumn,
    (numbers, test): (&[Option<f64>], &CodeTest),
) -> Option<Chosen> {
    let group = hit.group as usize;
    let n = release.size(group);
    // The sensitive conditions draw from the hits once more.
    let hit = match place.listed {
        Some(listed) => hit.thinned(n, listed.count(group, place.test))?,
        None => *hit,
    };
    let mut counts: BTreeMap<Code, u32> = BTreeMap::new();
    let codes = release.groups().rows(group).map(|row| column.codes.get(row));
    codes.filter(|code| test.holds(*code)).for_each(|code| *counts.entry(code).or_insert(0) += 1);
    let admitted: u32 = counts.values().sum();
    let picks: Vec<Pick> =
        counts.into_iter().filter_map(|(code, count)| Some(Pick::known(numbers[code as usize]?, count))).collect();
    let m: u32 = picks.iter().map(|pick| pick.count).sum();
    // PROOF: every hit has an admitted value, and of these all but m are NULL.
    let must = hit.least.saturating_sub(admitted - m);
    let most = hit.most.min(m);
    // Of the rows that the condition admits, `m` have a number: hits are spread over them.
    let rows = f64::from(admitted);
    let drawn = Hit { expected: hit.expected.min(rows), others: (rows - hit.expected).max(0.0), ..hit };
    Chosen::new(picks, admitted, drawn, must, most)
}

impl<'a> Source<'a> {
    /// Where numbers in ranges are learned about.
    fn scale(&self) -> Option<&Arc<Scale>> {
        match self {
            Source::Labels(_, _, scale) => scale.as_ref(),
            Source::Product(factor) => factor.scale(),
            _ => None,
        }
    }

    fn rows(
        release: &'a OpenRelease,
        plan: &'a Plan,
        mapped: &Mapped,
        learner: Option<&Learner<'_>>,
    ) -> Result<Self, QueryError> {
        let fields = mapped.term.fields();
        if plan.shape.detail == Detail::Exact {
            return Ok(Source::Exact(row_numbers(release, plan, mapped, &fields)?));
        }
        let [field] = fields.as_slice() else {
            return Err(QueryError::broken("a term of several columns was asked of a form that hides their rows"));
        };
        if let Some(at) = plan.keys.iter().position(|key| key == field) {
            return Ok(Source::Key(at, mapped.clone()));
        }
        if plan.fields[*field].is_weight {
            return Ok(Source::Exact(row_numbers(release, plan, mapped, &fields)?));
        }
        let boxes = &plan.conditions[0].boxes;
        let everything = || plan.fields[*field].everything(true);
        let admitted = boxes
            .iter()
            .map(|cell| cell.sets.get(field).cloned().unwrap_or_else(everything))
            .fold(plan.fields[*field].nothing(), |any, set| any.union(&set));
        if plan.shape.detail == Detail::Permuted {
            let column = release.column(plan, *field)?;
            let numbers = mapped.numbers(plan, &column.domain);
            return Ok(Source::Permuted(column, numbers, CodeTest::of(column, &admitted)));
        }
        let labels = release.labels(plan, *field)?;
        let ends = |labels: &[Label]| label_ends(plan, *field, mapped, labels, &admitted);
        // Names have no order that could be learned.
        let learner = learner.filter(|_| mapped.names.is_none());
        let scale = learner.map(|learner| learner.scale(*field, &admitted, ends)).transpose()?.flatten();
        Ok(Source::Labels(labels, ends(&labels.labels)?, scale))
    }
}

fn row_numbers(
    release: &OpenRelease,
    plan: &Plan,
    mapped: &Mapped,
    fields: &[usize],
) -> Result<Vec<Option<f64>>, QueryError> {
    let columns: Vec<&CodedColumn> =
        fields.iter().map(|&field| release.column(plan, field)).collect::<Result<_, _>>()?;
    if let [column] = columns.as_slice() {
        let numbers = mapped.numbers(plan, &column.domain);
        return Ok((0..column.codes.len()).map(|row| numbers[column.codes.get(row) as usize]).collect());
    }
    let n = columns.first().map_or(0, |column| column.codes.len());
    let mut known: HashMap<Vec<Code>, Option<f64>> = HashMap::new();
    let number = |row: usize| {
        let codes: Vec<Code> = columns.iter().map(|column| column.codes.get(row)).collect();
        let person = |field: usize| {
            let at = fields.iter().position(|known| *known == field)?;
            columns[at].domain.value(codes[at]).cloned()
        };
        *known.entry(codes.clone()).or_insert_with(|| mapped.number(&mapped.term.eval(&person, &plan.fields)))
    };
    Ok((0..n).map(number).collect())
}

/// The ends of a term over the values of each label that the condition admits.
fn label_ends(
    plan: &Plan,
    field: usize,
    mapped: &Mapped,
    labels: &[Label],
    admitted: &ValueSet,
) -> Result<Vec<Ends>, QueryError> {
    let kind = plan.fields[field].kind;
    if kind.is_numeric() && mapped.names.is_none() && is_monotone(&mapped.term) {
        let hull = hull(admitted);
        let number = |end: f64| {
            let value = if kind == Kind::Integer { Value::Integer(end as i64) } else { Value::Real(end) };
            mapped.number(&mapped.term.eval(&|_| Some(value.clone()), &plan.fields))
        };
        let end = |label: &Label| {
            let (ends, missing) = match label {
                Label::Points { ends, missing } => (ends.map(|(low, high)| (low as f64, high as f64)), *missing),
                Label::Stretch { ends, missing } => (*ends, *missing),
                Label::Members { missing, .. } => (None, *missing),
            };
            let (low, high) = ends?;
            let (low, high) = (low.max(hull.0), high.min(hull.1));
            if low > high {
                return None;
            }
            let (a, b) = (number(low)?, number(high)?);
            // The missing value has no number.
            Some((a.min(b), a.max(b), !(missing && admitted.missing)))
        };
        return Ok(labels.iter().map(end).collect());
    }
    let classes = classes(&mapped.term, field, &plan.fields)?;
    let classes: Vec<(Option<f64>, ValueSet)> =
        classes.iter().map(|(scalar, set)| (mapped.number(scalar), set.intersection(admitted))).collect();
    let measures: Vec<(Option<f64>, estimate::Measure<'_>)> =
        classes.iter().map(|(number, set)| (*number, estimate::Measure::new(set))).collect();
    let end = |label: &Label| {
        let (mut ends, mut is_certain): (Option<(f64, f64)>, bool) = (None, true);
        for (number, measure) in measures.iter().filter(|(_, measure)| measure.touches(label)) {
            let _ = measure;
            match number {
                Some(number) => {
                    let (low, high) = ends.unwrap_or((*number, *number));
                    ends = Some((low.min(*number), high.max(*number)));
                }
                None => is_certain = false,
            }
        }
        ends.map(|(low, high)| (low, high, is_certain))
    };
    Ok(labels.iter().map(end).collect())
}

/// The least and greatest number of a set.
fn hull(set: &ValueSet) -> (f64, f64) {
    let ends = match &set.values {
        Values::Integers(ranges) => {
            let ranges = ranges.ranges();
            ranges.first().zip(ranges.last()).map(|(first, last)| (first.0 as f64, (last.1 - 1) as f64))
        }
        Values::Reals(ranges) => {
            let ranges = ranges.ranges();
            ranges.first().zip(ranges.last()).map(|(first, last)| (first.0.at, last.1.at))
        }
        Values::Words(_) => Some((f64::NEG_INFINITY, f64::INFINITY)),
    };
    ends.unwrap_or((f64::INFINITY, f64::NEG_INFINITY))
}
