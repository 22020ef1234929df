//! What published labels cover of the microdata's values.

use std::collections::BTreeMap;

use chrysalis_release::generalized::{MEMBERS, MEMBERS_COLUMNS, max_column, min_column};
use chrysalis_release::{Attribute, Release, ReleaseError};
use chrysalis_table::{Code, Column, Kind, Table, Value};

use crate::EvaluateError;

/// The labels of one attribute.
pub(crate) struct Coverage {
    /// The distinct labels.
    pub(crate) labels: Vec<Label>,
    /// The label of every row of the published table.
    pub(crate) of_row: Vec<u32>,
}

/// What a label stands for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Label {
    /// The first and the last code of the microdata that it covers; the first is larger where it covers none.
    pub(crate) ends: (Code, Code),
    /// The codes between them that it covers, where those are not all.
    pub(crate) codes: Option<Vec<Code>>,
    /// How many values it stands for, also those that nobody has.
    pub(crate) points: f64,
    /// What one row loses by it.
    pub(crate) ncp: f64,
}

impl Label {
    pub(crate) fn covers(&self, code: Code) -> bool {
        let is_listed = |codes: &Vec<Code>| codes.binary_search(&code).is_ok();
        self.ends.0 <= code && code <= self.ends.1 && self.codes.as_ref().is_none_or(is_listed)
    }
}

impl Coverage {
    /// The labels that a table shows of an attribute, held against the column of the microdata.
    pub(crate) fn new(
        release: &Release,
        table: (&str, &Table),
        attribute: &Attribute,
        column: &Column,
    ) -> Result<Self, EvaluateError> {
        if Kind::from(attribute.kind).is_ordered() {
            let low = find(table, &min_column(&attribute.name))?;
            Ok(ranges(attribute, column, low, find(table, &max_column(&attribute.name))?))
        } else {
            sets(release, attribute, column, find(table, &attribute.name)?)
        }
    }
}

pub(crate) fn find<'a>((name, table): (&str, &'a Table), column: &str) -> Result<&'a Column, EvaluateError> {
    let lacks = || ReleaseError::MissingColumn { table: name.to_owned(), column: column.to_owned() };
    table.column(column).ok_or_else(|| lacks().into())
}

/// Places of an ordered attribute's values: the number or the rank. The missing value has none and comes first.
fn place(attribute: &Attribute, words: &BTreeMap<String, f64>, value: Option<&Value>) -> Option<f64> {
    let value = value?;
    match attribute.kind.into() {
        Kind::Ordinal => Some(words.get(&value.to_string()).copied().unwrap_or(f64::INFINITY)),
        _ => value.number(),
    }
}

fn ranges(attribute: &Attribute, column: &Column, low: &Column, high: &Column) -> Coverage {
    let words: BTreeMap<String, f64> =
        (0_u32..).zip(attribute.domain.order()).map(|(at, word)| (word, f64::from(at))).collect();
    let places = |column: &Column| -> Vec<Option<f64>> {
        (0..column.domain().len() as Code).map(|code| place(attribute, &words, column.domain().value(code))).collect()
    };
    // Codes of an ordered column ascend with their places, the missing value first.
    let (own, lows, highs) = (places(column), places(low), places(high));
    let known: Vec<f64> = own.iter().copied().flatten().collect();
    let width = known.last().zip(known.first()).map_or(0.0, |(last, first)| last - first);
    let label = |low: Option<f64>, high: Option<f64>| {
        let from = own.partition_point(|place| *place < low) as Code;
        let to = own.partition_point(|place| *place <= high) as Code;
        let missing = f64::from(u8::from(low.is_none()));
        let floor = low.or(known.first().copied());
        let points = match (Kind::from(attribute.kind), floor.zip(high)) {
            (_, None) => 0.0,
            (Kind::Real, Some((floor, high))) => {
                let (first, after) = (known.partition_point(|at| *at < floor), known.partition_point(|at| *at <= high));
                after.saturating_sub(first).max(1) as f64
            }
            (_, Some((floor, high))) => (high - floor).max(0.0) + 1.0,
        };
        let ncp = match (low, high) {
            (None, None) => 0.0,
            (Some(low), Some(high)) if width > 0.0 => ((high - low) / width).clamp(0.0, 1.0),
            (Some(_), Some(_)) => 0.0,
            _ => 1.0,
        };
        let ends = if to > from { (from, to - 1) } else { (1, 0) };
        Label { ends, codes: None, points: (points + missing).max(1.0), ncp }
    };
    let mut index: BTreeMap<(Code, Code), u32> = BTreeMap::new();
    let mut labels = Vec::new();
    let mut of_row = Vec::with_capacity(low.codes().len());
    for ends in low.codes().iter().zip(high.codes().iter()) {
        let next = labels.len() as u32;
        let at = *index.entry(ends).or_insert(next);
        if at == next {
            labels.push(label(lows[ends.0 as usize], highs[ends.1 as usize]));
        }
        of_row.push(at);
    }
    Coverage { labels, of_row }
}

fn sets(release: &Release, attribute: &Attribute, column: &Column, shown: &Column) -> Result<Coverage, EvaluateError> {
    let members = (MEMBERS, release.table(MEMBERS)?);
    let [attributes, labels, values] = MEMBERS_COLUMNS.map(|name| find(members, name));
    let (attributes, labels, values) = (attributes?, labels?, values?);
    let mut sets: BTreeMap<String, (f64, Vec<Code>)> = BTreeMap::new();
    let code_of: BTreeMap<String, Code> =
        (0..column.domain().len() as Code).map(|code| (column.domain().text(code).into_owned(), code)).collect();
    for row in 0..members.1.rows() {
        if attributes.domain().text(attributes.code(row)) != attribute.name.as_str() {
            continue;
        }
        let set = sets.entry(labels.domain().text(labels.code(row)).into_owned()).or_default();
        set.0 += 1.0;
        set.1.extend(code_of.get(&*values.domain().text(values.code(row))));
    }
    let n_values = attribute.domain.values.as_ref().map_or(column.domain().len(), Vec::len);
    let label = |code: Code| {
        let text = shown.domain().text(code);
        let (points, mut codes) = sets
            .get(&*text)
            .cloned()
            .ok_or_else(|| EvaluateError::broken(format!("a label of `{}` stands for nothing", attribute.name)))?;
        codes.sort_unstable();
        codes.dedup();
        let ends = codes.first().copied().zip(codes.last().copied()).unwrap_or((1, 0));
        let is_whole = codes.len() == (ends.1 + 1).saturating_sub(ends.0) as usize;
        let ncp = if points > 1.0 { points / n_values as f64 } else { 0.0 };
        Ok::<_, EvaluateError>(Label { ends, codes: (!is_whole).then_some(codes), points, ncp })
    };
    let labels = (0..shown.domain().len() as Code).map(label).collect::<Result<_, _>>()?;
    Ok(Coverage { labels, of_row: shown.codes().iter().collect() })
}
