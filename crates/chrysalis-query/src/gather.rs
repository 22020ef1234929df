//! The values that may be hit, row by row of an answer: what aggregates other than plain ones are computed from (step 9 of
//! `spec.md`).

mod draws;
mod products;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, OnceLock};

use chrysalis_release::Detail;
use chrysalis_release::view::{CodedColumn, Label, Labels, Multisets};
use chrysalis_table::{Code, Codes, Kind, Value};

use crate::aggregate::{Chosen, Paired, Pick};
use crate::code_test::CodeTest;
use crate::estimate::{self, Hit, MatchingRows, RowHits, RowsByKey, Split};
use crate::inquiry::Way;
use crate::learned::{Ends, LearnedRows, Learner, Positions, Scale, ValueClasses};
use crate::listed::Listed;
use crate::question::Function;
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
    /// Whether estimates and errors may use all groups together.
    can_learn: bool,
    /// The function whose estimate and error do so, and the share below a quantile.
    function: Option<(Function, f64)>,
    /// Classes of sensitive values that were learned about.
    classes: OnceLock<Arc<ValueClasses>>,
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
        (operands, ways): (&[Operand], &[Way]),
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
        let make = |(operand, way): (&Operand, &Way)| {
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
            let function = match way {
                Way::Choices(Function::Min | Function::Max | Function::CountDistinct, _) => None,
                Way::Choices(function, fraction) => Some((*function, *fraction)),
                _ => None,
            };
            let (can_learn, classes) = (learner.is_some(), OnceLock::new());
            Ok(Gatherer { source, sensitive, rows: rows.clone(), own, can_learn, function, classes })
        };
        operands.iter().zip(ways).map(make).collect()
    }

    /// Whether all groups together say more about its numbers, or about who has them.
    pub(crate) fn learns(&self, plan: &Plan) -> bool {
        self.source.scale().is_some()
            || (plan.shape.detail.is_labelled() && self.function.is_some() && self.is_of_hits())
    }

    /// Whether its numbers are those of the values that hits have.
    fn is_of_hits(&self) -> bool {
        matches!(self.source, Source::Constant(_) | Source::Sensitive | Source::Key(..))
    }

    pub(crate) fn gather(&self, release: &OpenRelease, plan: &Plan, place: &Place<'_>) -> Gathered {
        let mut chosen: Vec<Chosen> = match &self.source {
            Source::Constant(_) | Source::Key(..) | Source::Sensitive => self.of_hits(release, plan, place),
            Source::Permuted(column, numbers, test) => {
                let hits = place.pieces.iter().flat_map(|piece| piece.iter());
                hits.filter_map(|hit| permuted(release, place, hit, column, (numbers, test))).collect()
            }
            Source::Exact(_) | Source::Labels(..) => {
                let value = |row: usize, group: usize| self.value(&self.source, plan, row, group);
                let learned = self.learned(place);
                let learned = learned.as_ref().map(|(rows, positions)| (*rows, positions));
                let chosen = |hits: &RowHits| self.of_rows(release, place, hits, &value, learned);
                self.hits(place).iter().filter_map(chosen).collect()
            }
            Source::Product(factor) => return self.product(release, plan, place, factor),
        };
        if let Some(function) = self.function.filter(|_| self.can_learn && !plan.shape.detail.is_labelled()) {
            self.lean(release, plan, place, function, &mut chosen);
        }
        Gathered::Chosen(chosen)
    }

    /// The number that every row of an answer has, if it has one.
    fn same_number(&self, plan: &Plan, place: &Place<'_>) -> Option<f64> {
        match &self.source {
            Source::Constant(number) => Some(*number),
            Source::Key(at, mapped) => {
                let value = place.group[*at].clone();
                mapped.number(&mapped.term.eval(&|_| value.clone(), &plan.fields))
            }
            _ => None,
        }
    }

    /// Sensitive values, or numbers that all rows share.
    fn of_hits(&self, release: &OpenRelease, plan: &Plan, place: &Place<'_>) -> Vec<Chosen> {
        let same = self.same_number(plan, place);
        let is_sensitive = matches!(self.source, Source::Sensitive);
        let number = |code: Code| if is_sensitive { self.sensitive[code as usize] } else { same };
        let is_learned = plan.shape.detail.is_labelled() && self.function.is_some();
        let learned = place.learned.filter(|_| is_learned).map(|rows| rows.values(&self.sensitive, &self.classes));
        let hits = place.pieces.iter().flat_map(|piece| piece.iter()).enumerate();
        let chosen = |(at, hit): (usize, &Hit)| {
            let mut chosen = of_values(release, place, hit, number)?;
            chosen.learned = learned.as_ref().map(|learned| learned.group(at, &chosen.picks));
            Some(chosen)
        };
        hits.filter_map(chosen).collect()
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
}

fn each_row<'h>(release: &'h OpenRelease, hits: &'h RowHits) -> Box<dyn Iterator<Item = (usize, Split)> + 'h> {
    match &hits.rows {
        MatchingRows::All(split) => Box::new(release.groups().rows(hits.group as usize).map(|row| (row, *split))),
        MatchingRows::Each(rows) => Box::new(rows.iter().map(|&(row, split)| (row as usize, split))),
    }
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
