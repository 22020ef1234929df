//! Ranges and sets in place of values: one label per group and attribute.

use std::collections::{BTreeMap, HashMap};

use chrysalis_table::{Code, Column, Kind, Table, Value, each_width};

use super::{Field, Groups};
use crate::{MEMBERS_COLUMNS, ReleaseError};

/// The labels of one attribute.
#[derive(Debug)]
pub struct Labels {
    /// The distinct labels.
    pub labels: Vec<Label>,
    /// The label of every group, or, if rows are shown one by one, of every row, ordered by group.
    pub of: Vec<u32>,
}

/// What a label stands for.
#[derive(Clone, Debug, PartialEq)]
pub enum Label {
    /// Whole numbers, days, or ranks of an ordinal's words: first and last; `None` for the missing value alone.
    Points {
        /// The first and the last.
        ends: Option<(i64, i64)>,
        /// Whether the missing value is included.
        missing: bool,
    },
    /// A range of reals.
    Stretch {
        /// The first and the last.
        ends: Option<(f64, f64)>,
        /// Whether the missing value is included.
        missing: bool,
    },
    /// Words by their ranks, ascending.
    Members {
        /// Places among the attribute's listed words.
        ranks: Vec<usize>,
        /// Whether the missing value is included.
        missing: bool,
    },
}

impl Labels {
    /// From the columns of lower and upper ends. An empty lower end reaches down to the missing value.
    pub(super) fn of_ranges(field: &Field, low: &Column, high: &Column, groups: &Groups) -> Result<Self, ReleaseError> {
        let (low_codes, high_codes) = (per_group(low, groups)?, per_group(high, groups)?);
        let mut labels: Vec<Label> = Vec::new();
        let mut known: HashMap<(Code, Code), u32> = HashMap::new();
        let mut of = Vec::with_capacity(low_codes.len());
        for ends in low_codes.into_iter().zip(high_codes) {
            let next = labels.len() as u32;
            let place = *known.entry(ends).or_insert(next);
            if place == next {
                labels.push(range(field, low.domain().value(ends.0), high.domain().value(ends.1))?);
            }
            of.push(place);
        }
        Ok(Labels { labels, of })
    }

    /// From a column of labels and the table that says what they stand for.
    pub(super) fn of_sets(
        field: &Field,
        column: &Column,
        members: &Table,
        groups: &Groups,
    ) -> Result<Self, ReleaseError> {
        let of = per_group(column, groups)?;
        let sets = members_of(field, members)?;
        let label = |code: Code| {
            let text = column.domain().text(code);
            sets.get(&*text).cloned().ok_or_else(|| {
                let shown: String = text.chars().take(40).collect();
                ReleaseError::Nonsense(format!("`{}` has the label `{shown}`, but not what it stands for", field.name))
            })
        };
        let labels = (0..column.domain().len() as Code).map(label).collect::<Result<_, _>>()?;
        Ok(Labels { labels, of })
    }
}

impl Label {
    /// Whether the missing value is included.
    pub fn has_missing(&self) -> bool {
        match self {
            Label::Points { missing, .. } | Label::Stretch { missing, .. } | Label::Members { missing, .. } => *missing,
        }
    }
}

/// The code of every group, which all its rows must share.
fn per_group(column: &Column, groups: &Groups) -> Result<Vec<Code>, ReleaseError> {
    let codes = groups.arranged(column.codes());
    let shared: Option<Vec<Code>> = each_width!(&codes, codes => (0..groups.len())
        .map(|group| {
            let rows = &codes[groups.rows(group)];
            let first = rows.first()?;
            rows.iter().all(|code| code == first).then_some(Code::from(*first))
        })
        .collect());
    shared.ok_or_else(|| ReleaseError::Nonsense(format!("rows of one group differ in `{}`", column.name())))
}

fn range(field: &Field, low: Option<&Value>, high: Option<&Value>) -> Result<Label, ReleaseError> {
    let missing = low.is_none();
    if field.kind == Kind::Real {
        let (low, high) = (low.and_then(Value::number), high.and_then(Value::number));
        let floor = field.min.as_ref().and_then(Value::number);
        let ends = high.map(|high| (low.unwrap_or_else(|| floor.unwrap_or(high).min(high)), high));
        return check(field, Label::Stretch { ends, missing }, ends.is_none_or(|(low, high)| low <= high));
    }
    let place = |value: &Value| match value {
        Value::Text(word) => field.rank(word).and_then(|rank| i64::try_from(rank).ok()),
        value => value.whole(),
    };
    let floor = if field.kind == Kind::Ordinal { Some(0) } else { field.min.as_ref().and_then(place) };
    let ends = high.and_then(place).map(|high| {
        let floor = floor.unwrap_or(high).min(high);
        (low.and_then(place).unwrap_or(floor), high)
    });
    check(field, Label::Points { ends, missing }, ends.is_none_or(|(low, high)| low <= high))
}

fn check(field: &Field, label: Label, is_ok: bool) -> Result<Label, ReleaseError> {
    if is_ok {
        Ok(label)
    } else {
        Err(ReleaseError::Nonsense(format!("`{}` has a range that ends before it begins", field.name)))
    }
}

/// What the labels of one attribute stand for. An empty text is the missing value.
fn members_of(field: &Field, members: &Table) -> Result<BTreeMap<String, Label>, ReleaseError> {
    let column = |name: &str| {
        members.column(name).ok_or_else(|| ReleaseError::Nonsense(format!("the members have no column `{name}`")))
    };
    let [attributes, labels, values] = MEMBERS_COLUMNS.map(column);
    let (attributes, labels, values) = (attributes?, labels?, values?);
    let mut sets: BTreeMap<String, Label> = BTreeMap::new();
    let wanted = attributes.domain().code_of(Some(&Value::Text(field.name.as_str().into())));
    for row in (0..members.rows()).filter(|&row| Some(attributes.code(row)) == wanted) {
        let label = labels.domain().text(labels.code(row)).into_owned();
        let set = sets.entry(label).or_insert_with(|| Label::Members { ranks: Vec::new(), missing: false });
        let Label::Members { ranks, missing } = set else { continue };
        match values.domain().value(values.code(row)) {
            None => *missing = true,
            Some(value) => {
                let text = value.to_string();
                let rank = field.rank(&text).ok_or_else(|| {
                    ReleaseError::Nonsense(format!("a label of `{}` has a member that the manifest lacks", field.name))
                })?;
                ranks.push(rank);
            }
        }
    }
    for set in sets.values_mut() {
        if let Label::Members { ranks, .. } = set {
            ranks.sort_unstable();
            ranks.dedup();
        }
    }
    Ok(sets)
}
