//! Inquiries answered: plans, then atoms, then expressions, HAVING, ORDER BY and LIMIT (step 10 of `spec.md`).

use std::cmp::Ordering;
use std::collections::BTreeMap;

use chrysalis_table::{Kind, Progress, Value, no_progress};
use rayon::prelude::*;

use super::keys::{Key, KeyKind};
use super::post::{Known, Post, RowValues};
use super::{Combo, Inquiry, Way};
use crate::aggregate::{Chosen, Estimate, Paired, of_choices, sum_of_products, weighted_mean};
use crate::answer::{AggregateAnswer, Answer, AnswerRow, Explanation};
use crate::gather::Gathered;
use crate::question::Function;
use crate::{EstimateMode, OpenRelease, QueryError};

/// An answer, and notes on it.
#[derive(Clone, Debug)]
pub struct Reply {
    /// The answer.
    pub answer: Answer,
    /// Notes on what the release does not have, and on what HAVING and LIMIT may have left out, in sentences.
    pub notes: Vec<String>,
}

/// What is known about one row before expressions are computed.
#[derive(Default)]
struct Gathering {
    native: Vec<Option<Estimate>>,
    choices: Vec<Vec<Chosen>>,
    /// Piece by piece.
    products: Vec<Vec<Vec<Paired>>>,
    because: Explanation,
    is_row: bool,
}

struct Row {
    group: Vec<Option<Value>>,
    atoms: Vec<Estimate>,
    because: Explanation,
}

impl OpenRelease {
    /// Answers an inquiry made for this release's manifest.
    pub fn inquire(&self, inquiry: &Inquiry, mode: EstimateMode) -> Result<Reply, QueryError> {
        self.inquire_watched(inquiry, mode, &no_progress)
    }

    /// The same, with `progress` as a place to stop: it is told nothing.
    pub fn inquire_watched(
        &self,
        inquiry: &Inquiry,
        mode: EstimateMode,
        progress: Progress<'_>,
    ) -> Result<Reply, QueryError> {
        if let Some(plan) = &inquiry.plain {
            return Ok(Reply { answer: self.answer_watched(plan, mode, progress)?, notes: inquiry.notes.clone() });
        }
        let rows: Vec<Vec<Row>> = inquiry
            .combos
            .par_iter()
            .map(|combo| inquiry.rows(self, combo, mode, progress))
            .collect::<Result<_, _>>()?;
        let mut rows: Vec<Row> = rows.into_iter().flatten().collect();
        rows.sort_by(|a, b| inquiry.by_keys(&a.group, &b.group));
        inquiry.finish(rows)
    }
}

impl Inquiry {
    /// The rows of one combination of values of terms.
    fn rows(
        &self,
        release: &OpenRelease,
        combo: &Combo,
        mode: EstimateMode,
        progress: Progress<'_>,
    ) -> Result<Vec<Row>, QueryError> {
        let n = self.atoms.len();
        let new = || Gathering {
            native: vec![None; n],
            choices: vec![Vec::new(); n],
            products: vec![Vec::new(); n],
            ..Gathering::default()
        };
        let mut found: BTreeMap<Vec<KeyText>, (Vec<Option<Value>>, Gathering)> = BTreeMap::new();
        for part in &combo.parts {
            let ways: Vec<Way> = part.owners.iter().map(|&atom| self.atoms[atom].way).collect();
            for (row, gathered) in release.gather(&part.plan, (&part.operands, &ways), mode, progress)? {
                let key: Vec<KeyText> =
                    row.group.iter().map(|value| value.as_ref().map(|value| format!("{value:?}"))).collect();
                let (_, gathering) = found.entry(key).or_insert_with(|| (row.group.clone(), new()));
                for (aggregate, &atom) in row.aggregates.iter().zip(&part.natives) {
                    let estimate = Estimate::of(aggregate);
                    gathering.native[atom] = Some(added(gathering.native[atom], estimate));
                    if atom == 0 {
                        gathering.is_row |= aggregate.upper.is_some_and(|upper| upper > 0.0);
                        gathering.because.add(&row.because);
                    }
                }
                for (gathered, &atom) in gathered.into_iter().zip(&part.owners) {
                    match gathered {
                        Gathered::Chosen(chosen) => gathering.choices[atom].extend(chosen),
                        Gathered::Paired(paired) => gathering.products[atom].push(paired),
                    }
                }
            }
        }
        let has_keys = !self.keys.keys.is_empty();
        if !has_keys && found.is_empty() {
            found.insert(Vec::new(), (Vec::new(), new()));
        }
        let is_shown = |gathering: &Gathering| gathering.is_row || !has_keys;
        let rows = found.into_values().filter(|(_, gathering)| is_shown(gathering));
        Ok(rows.map(|(native, gathering)| self.row(combo, &native, &gathering)).collect())
    }

    fn row(&self, combo: &Combo, native: &[Option<Value>], gathering: &Gathering) -> Row {
        let mut values = combo.values.iter();
        let group = self.keys.keys.iter().map(|key| match &key.kind {
            KeyKind::Native(at) => native[*at].clone(),
            // PROOF: a combination has a value for every term.
            KeyKind::Classes(_) => values.next().and_then(crate::term::Scalar::value),
        });
        let group = group.collect();
        let atoms = self.atoms.iter().enumerate().map(|(at, atom)| match atom.way {
            Way::Native(function) => gathering.native[at].unwrap_or_else(|| nothing(function)),
            Way::Choices(function, fraction) => of_choices(function, fraction, &gathering.choices[at]),
            Way::Products => {
                let pieces = gathering.products[at].iter().map(|paired| sum_of_products(paired));
                pieces.fold(None, |all, piece| Some(added(all, piece))).unwrap_or_default()
            }
            Way::MeanBounds => match weighted_mean(&gathering.products[at].concat()) {
                Some((lower, upper)) => Estimate { lower: Some(lower), upper: Some(upper), ..Estimate::default() },
                None => Estimate::default(),
            },
        });
        Row { group, atoms: atoms.collect(), because: gathering.because }
    }

    /// Ascending by keys, missing values first; words of ordinals in their order.
    fn by_keys(&self, a: &[Option<Value>], b: &[Option<Value>]) -> Ordering {
        let one = |at: usize| {
            let ranks = (self.rank_of(at, &a[at]), self.rank_of(at, &b[at]));
            ranks.0.cmp(&ranks.1).then_with(|| values_in_order(&a[at], &b[at]))
        };
        (0..a.len()).map(one).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    }

    fn finish(&self, rows: Vec<Row>) -> Result<Reply, QueryError> {
        let whole: Vec<bool> = self.atoms.iter().map(|atom| atom.is_whole).collect();
        let whole_keys = self.whole_keys();
        let values = |row: &Row, f: &mut dyn FnMut(&RowValues<'_>)| {
            f(&RowValues { atoms: &row.atoms, whole: &whole, keys: &row.group, whole_keys: &whole_keys });
        };
        let mut notes = self.notes.clone();
        let mut kept: Vec<Row> = rows;
        if let Some(having) = &self.having {
            let (mut certain, mut shown, mut possible) = (0_usize, Vec::new(), 0_usize);
            for row in kept {
                let mut verdict = None;
                values(&row, &mut |known| verdict = Some(having.verdict(known)));
                match verdict {
                    Some(verdict) if verdict.by_estimate == Some(true) => {
                        certain += usize::from(!verdict.can_fail);
                        shown.push(row);
                    }
                    Some(verdict) => possible += usize::from(verdict.can_be_true),
                    None => {}
                }
            }
            notes.push(format!(
                "HAVING is decided by estimates: {certain} of the {} rows shown satisfy it for certain, and {possible} of those \
                 left out might",
                shown.len()
            ));
            kept = shown;
        }
        if !self.order_by.is_empty() {
            let mut keyed: Vec<(Vec<SortKey>, Row)> = Vec::with_capacity(kept.len());
            for row in kept {
                let mut keys = Vec::new();
                values(&row, &mut |known| {
                    keys = self.order_by.iter().map(|(post, ..)| self.sort_key(post, known)).collect()
                });
                keyed.push((keys, row));
            }
            keyed.sort_by(|(a, _), (b, _)| {
                let one = |((a, b), (_, is_descending, nulls_first)): ((&SortKey, &SortKey), &(Post, bool, bool))| {
                    a.order(b, *is_descending, *nulls_first)
                };
                a.iter().zip(b).zip(&self.order_by).map(one).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
            });
            notes.extend(self.limit_note(&keyed));
            kept = keyed.into_iter().map(|(_, row)| row).collect();
        }
        let offset = usize::try_from(self.offset).unwrap_or(usize::MAX);
        let limit = self.limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
        let kept: Vec<Row> = kept.into_iter().skip(offset).take(limit).collect();
        notes.extend(self.outputs.iter().filter_map(|output| {
            let mut open = 0;
            kept.iter().for_each(|row| values(row, &mut |known| open += usize::from(output.post.is_open(known))));
            let name = &output.name;
            match (open, kept.len()) {
                (0, _) => None,
                (1, 1) => Some(format!("`{name}` has no bounds: its divisor may be 0, or as close to it as one likes")),
                (open, rows) => Some(format!(
                    "`{name}` has no bounds in {open} of {rows} rows: its divisor may be 0 there, or as close to it as one \
                     likes"
                )),
            }
        }));
        let kept = kept.into_iter();
        let rows = kept.map(|row| {
            let mut aggregates = Vec::with_capacity(self.outputs.len());
            values(&row, &mut |known| {
                aggregates =
                    self.outputs.iter().map(|output| answer(&output.name, &output.post.known(known))).collect();
            });
            AnswerRow { group: row.group, aggregates, because: row.because }
        });
        let answer = Answer { keys: self.keys.keys.iter().map(|key| key.name.clone()).collect(), rows: rows.collect() };
        Ok(Reply { answer, notes })
    }

    /// For each key whether all its values are whole numbers.
    fn whole_keys(&self) -> Vec<bool> {
        let is_whole = |key: &Key| match &key.kind {
            KeyKind::Native(at) => self.fields[self.keys.native[*at]].kind == Kind::Integer,
            KeyKind::Classes(classes) => classes.iter().all(|(value, _)| {
                value.number().map_or(*value == crate::term::Scalar::Null, |number| number.fract() == 0.0)
            }),
        };
        self.keys.keys.iter().map(is_whole).collect()
    }

    /// The place of a word among those of an ordinal key.
    fn rank_of(&self, key: usize, value: &Option<Value>) -> Option<usize> {
        let (KeyKind::Native(place), Some(Value::Text(word))) = (&self.keys.keys[key].kind, value) else { return None };
        let field = &self.fields[self.keys.native[*place]];
        if field.kind == Kind::Ordinal { field.rank(word) } else { None }
    }

    fn sort_key(&self, post: &Post, row: &RowValues<'_>) -> SortKey {
        if let Post::Key(at) = post {
            let value = row.keys[*at].clone();
            return SortKey::Other { rank: self.rank_of(*at, &value), value };
        }
        match post.known(row) {
            Known::Number { estimate, .. } => {
                SortKey::Number { estimate: estimate.estimate, lower: estimate.lower, upper: estimate.upper }
            }
            Known::Other(scalar) => SortKey::Other { rank: None, value: scalar.value() },
        }
    }

    /// Whether rows beyond LIMIT might belong among those shown.
    fn limit_note(&self, rows: &[(Vec<SortKey>, Row)]) -> Option<String> {
        let end = usize::try_from(self.offset.saturating_add(self.limit?)).ok()?;
        let last = rows.get(end.checked_sub(1)?)?;
        let rest = rows.get(end..).filter(|rest| !rest.is_empty())?;
        let is_descending = self.order_by.first()?.1;
        let (SortKey::Number { lower, upper, .. }, _) = (last.0.first()?, ()) else { return None };
        let could = |key: &SortKey| match key {
            SortKey::Number { upper: other, .. } if is_descending => {
                other.unwrap_or(f64::INFINITY) > lower.unwrap_or(f64::NEG_INFINITY)
            }
            SortKey::Number { lower: other, .. } => other.unwrap_or(f64::NEG_INFINITY) < upper.unwrap_or(f64::INFINITY),
            _ => false,
        };
        let n = rest.iter().filter(|(keys, _)| keys.first().is_some_and(could)).count();
        (n > 0).then(|| {
            format!("ORDER BY goes by estimates: by their bounds, {n} of the {} rows that LIMIT left out might belong among those shown", rest.len())
        })
    }
}

/// A key value as text, for finding rows of the same group.
type KeyText = Option<String>;

fn values_in_order(a: &Option<Value>, b: &Option<Value>) -> Ordering {
    let number = |value: &Value| value.whole().map(|whole| whole as f64).or(value.number());
    match (a, b) {
        (None, None) => Ordering::Equal,
        (None, _) => Ordering::Less,
        (_, None) => Ordering::Greater,
        (Some(Value::Text(a)), Some(Value::Text(b))) => a.cmp(b),
        (Some(a), Some(b)) => number(a).partial_cmp(&number(b)).unwrap_or(Ordering::Equal),
    }
}

/// What rows are sorted by.
enum SortKey {
    Number {
        estimate: Option<f64>,
        lower: Option<f64>,
        upper: Option<f64>,
    },
    /// A value, with its place among the words of an ordinal.
    Other {
        value: Option<Value>,
        rank: Option<usize>,
    },
}

impl SortKey {
    fn order(&self, other: &Self, is_descending: bool, nulls_first: bool) -> Ordering {
        let turned = |order: Ordering| if is_descending { order.reverse() } else { order };
        let nulls = |a: bool, b: bool| if nulls_first { b.cmp(&a) } else { a.cmp(&b) };
        match (self, other) {
            (SortKey::Number { estimate: a, .. }, SortKey::Number { estimate: b, .. }) => match (a, b) {
                (Some(a), Some(b)) => turned(a.total_cmp(b)),
                (a, b) => nulls(a.is_none(), b.is_none()),
            },
            (SortKey::Other { value: a, rank }, SortKey::Other { value: b, rank: other }) => match (a, b) {
                (Some(_), Some(_)) => turned(rank.cmp(other).then_with(|| values_in_order(a, b))),
                (a, b) => nulls(a.is_none(), b.is_none()),
            },
            _ => Ordering::Equal,
        }
    }
}

/// The sum of what pieces say. A sum over no rows is NULL, and adds nothing to others.
fn added(a: Option<Estimate>, b: Estimate) -> Estimate {
    let Some(a) = a else { return b };
    let sum = |a: Option<f64>, b: Option<f64>| match (a, b) {
        (Some(a), Some(b)) => Some(a + b),
        (a, b) => a.or(b),
    };
    // An empty sum counts as 0 in the bounds of the others.
    let widened =
        |total: Option<f64>, one: Option<f64>, other: Option<f64>, end: fn(f64, f64) -> f64| match (one, other) {
            (Some(_), Some(_)) => total,
            (Some(x), None) | (None, Some(x)) => Some(end(x, x)),
            _ => None,
        };
    let (lower, upper) = (sum(a.lower, b.lower), sum(a.upper, b.upper));
    Estimate {
        estimate: sum(a.estimate, b.estimate),
        lower: widened(lower, a.lower, b.lower, f64::min),
        upper: widened(upper, a.upper, b.upper, f64::max),
        // Pieces are hits of the same groups, and err alike: no correlation makes it more than the sum.
        std_error: sum(a.std_error, b.std_error),
    }
}

fn nothing(function: Function) -> Estimate {
    match function {
        Function::Count => Estimate { estimate: Some(0.0), lower: Some(0.0), upper: Some(0.0), std_error: Some(0.0) },
        _ => Estimate::default(),
    }
}

pub(super) fn answer(name: &str, known: &Known) -> AggregateAnswer {
    let estimate = match known {
        Known::Number { estimate, .. } => *estimate,
        Known::Other(scalar) => {
            let number = scalar.number();
            Estimate { estimate: number, lower: number, upper: number, std_error: number.map(|_| 0.0) }
        }
    };
    AggregateAnswer::new(name.to_owned(), estimate)
}

impl Estimate {
    pub(super) fn of(answer: &AggregateAnswer) -> Self {
        let &AggregateAnswer { estimate, lower, upper, std_error, .. } = answer;
        Estimate { estimate, lower, upper, std_error }
    }
}

impl Explanation {
    pub(crate) fn add(&mut self, other: &Explanation) {
        self.groups += other.groups;
        self.rows += other.rows;
        self.certain += other.certain;
        self.possible += other.possible;
        self.expected += other.expected;
    }
}
