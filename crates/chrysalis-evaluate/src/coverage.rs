//! Which of the microdata's values the published labels cover.

use chrysalis_release::view::{self, Field};
use chrysalis_release::{Detail, View};
use chrysalis_table::{Code, Column, Kind, Value};

use crate::{EvaluateError, opened};

/// The labels of one attribute.
pub(crate) struct Coverage {
    /// The distinct labels.
    pub(crate) labels: Vec<Label>,
    /// The label of every row of the published table, group by group.
    pub(crate) of_row: Vec<u32>,
}

/// What a label covers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Label {
    /// The first and the last code of the microdata that it covers; the first is larger if it covers none.
    pub(crate) ends: (Code, Code),
    /// The codes between them that it covers, if those are not all.
    pub(crate) codes: Option<Vec<Code>>,
    /// How many values it covers, including those that do not occur in the microdata.
    pub(crate) points: f64,
    /// The penalty of one row with this label.
    pub(crate) ncp: f64,
}

impl Label {
    pub(crate) fn covers(&self, code: Code) -> bool {
        let is_listed = |codes: &Vec<Code>| codes.binary_search(&code).is_ok();
        self.ends.0 <= code && code <= self.ends.1 && self.codes.as_ref().is_none_or(is_listed)
    }
}

impl Coverage {
    /// The labels that a table shows of an attribute, compared with the attribute's column in the microdata.
    pub(crate) fn new(view: &View, table: &str, field: usize, column: &Column) -> Result<Self, EvaluateError> {
        let shown = opened::labels(view, table, field)?;
        let places = Places::new(&view.fields[field], column);
        Ok(Coverage {
            labels: shown.labels.iter().map(|label| places.label(label)).collect(),
            of_row: of_row(view, &shown.of),
        })
    }
}

/// The label of every row, from the labels of groups where all rows of a group have the same.
fn of_row(view: &View, of: &[u32]) -> Vec<u32> {
    match view.layout.shape.detail {
        Detail::Exact | Detail::Permuted | Detail::RowBoxes => of.to_vec(),
        Detail::GroupBoxes => {
            let rows = |(group, &label)| std::iter::repeat_n(label, view.groups.size(group) as usize);
            of.iter().enumerate().flat_map(rows).collect()
        }
    }
}

/// The places of the microdata's values in the attribute's order.
struct Places<'a> {
    field: &'a Field,
    column: &'a Column,
    /// For an ordered attribute, by code: the number or the rank. The missing value has none and comes first.
    own: Vec<Option<f64>>,
    /// The same without the missing value, ascending.
    known: Vec<f64>,
}

impl<'a> Places<'a> {
    fn new(field: &'a Field, column: &'a Column) -> Self {
        let place = |value: &Value| match value {
            Value::Text(word) => Some(field.rank(word).map_or(f64::INFINITY, |rank| rank as f64)),
            Value::Real(number) => Some(*number),
            Value::Integer(_) | Value::Date(_) | Value::DateTime(_) => value.whole().map(|place| place as f64),
        };
        let codes = if field.kind.is_ordered() { column.domain().len() } else { 0 };
        let own: Vec<Option<f64>> =
            (0..codes as Code).map(|code| column.domain().value(code).and_then(place)).collect();
        Places { field, column, known: own.iter().copied().flatten().collect(), own }
    }

    fn label(&self, label: &view::Label) -> Label {
        match label {
            view::Label::Points { ends, missing } => {
                // Subtracted as integers: large numbers that are close together may be equal as floats.
                let length = ends.map_or(0.0, |(low, high)| (i128::from(high) - i128::from(low)) as f64);
                self.range(ends.map(|(low, high)| (low as f64, high as f64)), length, *missing)
            }
            view::Label::Stretch { ends, missing } => {
                self.range(*ends, ends.map_or(0.0, |(low, high)| high - low), *missing)
            }
            view::Label::Members { ranks, missing } => self.set(ranks, *missing),
        }
    }

    /// A range and its length; with the missing value it begins at the attribute's least value.
    fn range(&self, ends: Option<(f64, f64)>, length: f64, missing: bool) -> Label {
        let (low, high) = (ends.map(|(low, _)| low).filter(|_| !missing), ends.map(|(_, high)| high));
        let from =
            if missing || ends.is_some() { self.own.partition_point(|place| *place < low) } else { self.own.len() };
        let to = self.own.partition_point(|place| *place <= high);
        let points = match (self.field.kind, ends) {
            (_, None) => 0.0,
            (Kind::Real, Some((low, high))) => {
                let first = self.known.partition_point(|at| *at < low);
                self.known.partition_point(|at| *at <= high).saturating_sub(first).max(1) as f64
            }
            (_, Some(_)) => length.max(0.0) + 1.0,
        };
        let width = self.known.last().zip(self.known.first()).map_or(0.0, |(last, first)| last - first);
        let ncp = match (missing, ends) {
            (true, None) => 0.0,
            (false, Some(_)) if width > 0.0 => (length / width).clamp(0.0, 1.0),
            (false, Some(_)) => 0.0,
            (true, Some(_)) | (false, None) => 1.0,
        };
        let ends = if to > from { (from as Code, to as Code - 1) } else { (1, 0) };
        Label { ends, codes: None, points: (points + f64::from(u8::from(missing))).max(1.0), ncp }
    }

    /// A set of words, with the missing value if it is included.
    fn set(&self, ranks: &[usize], missing: bool) -> Label {
        let code_of = |value: Option<&Value>| self.column.domain().code_of(value);
        let words = ranks.iter().map(|&rank| Value::Text(self.field.words[rank].clone()));
        let mut codes: Vec<Code> = words.filter_map(|word| code_of(Some(&word))).collect();
        codes.extend(code_of(None).filter(|_| missing));
        codes.sort_unstable();
        let ends = codes.first().copied().zip(codes.last().copied()).unwrap_or((1, 0));
        let is_whole = codes.len() == (ends.1 + 1).saturating_sub(ends.0) as usize;
        let points = (ranks.len() + usize::from(missing)) as f64;
        let n_values = self.field.words.len() + usize::from(self.field.has_missing);
        let ncp = if points > 1.0 { points / n_values as f64 } else { 0.0 };
        Label { ends, codes: (!is_whole).then_some(codes), points, ncp }
    }
}
