use std::collections::BTreeMap;

use chrysalis_release::view::{CodedColumn, Field, Label, Labels};
use chrysalis_release::{Detail, RoleName, View};
use chrysalis_table::{Code, Column, Domain, Kind, Value, Watch, folded};
use foldhash::fast::FixedState;
use hashbrown::HashMap;

use crate::{Microdata, PublishError};

/// People with the same quasi values: one of their rows, and how many they are.
pub(super) struct Kinds {
    pub(super) rows: Vec<(usize, u64)>,
}

impl Kinds {
    pub(super) fn of(data: &Microdata) -> Kinds {
        let columns: Vec<&Column> = data.quasi().map(|(column, _)| column).collect();
        let mut known: HashMap<Vec<Code>, usize, FixedState> = HashMap::default();
        let mut rows: Vec<(usize, u64)> = Vec::new();
        for row in 0..data.rows() {
            let key: Vec<Code> = columns.iter().map(|column| column.code(row)).collect();
            let at = *known.entry(key).or_insert(rows.len());
            match rows.get_mut(at) {
                Some((_, n)) => *n += 1,
                None => rows.push((row, 1)),
            }
        }
        Kinds { rows }
    }
}

/// Finds the groups of a release that people fit.
pub(super) struct Fitting<'a> {
    columns: Vec<FittingColumn<'a>>,
    /// Whether all values must be in one and the same row.
    of_rows: bool,
    /// For exact values: the groups with a row of these published codes.
    known: HashMap<Vec<Code>, Vec<u32>, FixedState>,
}

/// What one quasi column says about where people are.
struct FittingColumn<'a> {
    column: &'a Column,
    /// The published code of every code of the table.
    published: Vec<Option<Code>>,
    /// The groups that every code of the table fits, ascending.
    groups: Vec<Vec<u32>>,
}

impl<'a> Fitting<'a> {
    pub(super) fn new(data: &'a Microdata, view: &View) -> Result<Fitting<'a>, PublishError> {
        let of_rows = view.manifest.method.shape().detail == Detail::Exact;
        let mut fitting = Fitting { columns: Vec::new(), of_rows, known: HashMap::default() };
        let lacks = |name: &str| PublishError::request(format!("an earlier release does not show its column `{name}`"));
        let mut coded: Vec<&CodedColumn> = Vec::new();
        for (at, field) in view.fields.iter().enumerate().filter(|(_, field)| field.role == RoleName::Quasi) {
            let Some(column) = data.quasi().map(|(column, _)| column).find(|column| column.name() == field.name) else {
                continue;
            };
            let domain = column.domain();
            let codes = 0..domain.len() as Code;
            let mut own = FittingColumn { column, published: vec![None; domain.len()], groups: Vec::new() };
            match view.column(at) {
                Some(shown) => {
                    own.published = codes.map(|code| shown.domain.code_of(domain.value(code))).collect();
                    if !of_rows {
                        let mut groups: Vec<Vec<u32>> = vec![Vec::new(); shown.domain.len()];
                        for group in 0..view.groups.len() {
                            for row in view.groups.rows(group) {
                                let of_code = &mut groups[shown.codes.get(row) as usize];
                                if of_code.last() != Some(&(group as u32)) {
                                    of_code.push(group as u32);
                                }
                            }
                        }
                        let of = |code: &Option<Code>| code.map_or_else(Vec::new, |code| groups[code as usize].clone());
                        own.groups = own.published.iter().map(of).collect();
                    }
                    coded.push(shown);
                }
                None => {
                    let labels =
                        view.labels(view.manifest.method.shape().people, at).ok_or_else(|| lacks(&field.name))?;
                    own.groups = codes.map(|code| covering(labels, field, domain.value(code))).collect();
                }
            }
            fitting.columns.push(own);
        }
        if of_rows {
            for group in 0..view.groups.len() {
                for row in view.groups.rows(group) {
                    let key = coded.iter().map(|shown| shown.codes.get(row)).collect();
                    let groups = fitting.known.entry(key).or_default();
                    if groups.last() != Some(&(group as u32)) {
                        groups.push(group as u32);
                    }
                }
            }
        }
        Ok(fitting)
    }

    /// The groups that every kind of people fits, ascending.
    pub(super) fn all(&self, kinds: &Kinds, watch: &dyn Watch) -> Vec<Vec<u32>> {
        let of = |(step, &(row, _)): (usize, &(usize, u64))| {
            watch.pause_at(step);
            if self.of_rows {
                let key: Option<Vec<Code>> =
                    self.columns.iter().map(|own| own.published[own.column.code(row) as usize]).collect();
                return key.and_then(|key| self.known.get(&key).cloned()).unwrap_or_default();
            }
            let mut lists: Vec<&Vec<u32>> =
                self.columns.iter().map(|own| &own.groups[own.column.code(row) as usize]).collect();
            lists.sort_by_key(|list| list.len());
            let Some((first, others)) = lists.split_first() else { return Vec::new() };
            let is_in_all = |group: &&u32| others.iter().all(|list| list.binary_search(group).is_ok());
            first.iter().filter(is_in_all).copied().collect()
        };
        kinds.rows.iter().enumerate().map(of).collect()
    }
}

/// The groups whose label covers a value.
fn covering(labels: &Labels, field: &Field, value: Option<&Value>) -> Vec<u32> {
    let covers: Vec<bool> = labels.labels.iter().map(|label| is_covered(label, field, value)).collect();
    (0_u32..).zip(&labels.of).filter(|(_, label)| covers[**label as usize]).map(|(group, _)| group).collect()
}

fn is_covered(label: &Label, field: &Field, value: Option<&Value>) -> bool {
    let Some(value) = value else { return label.has_missing() };
    let rank = || if let Value::Text(word) = value { field.rank(word) } else { None };
    match label {
        Label::Points { ends, .. } => {
            let at = if field.kind == Kind::Ordinal {
                rank().and_then(|rank| i64::try_from(rank).ok())
            } else {
                value.whole()
            };
            ends.zip(at).is_some_and(|((low, high), at)| low <= at && at <= high)
        }
        Label::Stretch { ends, .. } => {
            ends.zip(value.number()).is_some_and(|((low, high), at)| low <= at && at <= high)
        }
        Label::Members { ranks, .. } => rank().is_some_and(|rank| ranks.contains(&rank)),
    }
}

/// The sensitive values that a group shows, and how often. Words that look alike are one value.
pub(super) fn values(view: &View, group: usize) -> BTreeMap<String, u64> {
    let Some(values) = view.sensitive().next().and_then(|field| view.values(field)) else { return BTreeMap::new() };
    let of = values.group(group);
    let mut shown = BTreeMap::new();
    for (&code, &count) in of.codes.iter().zip(of.counts) {
        *shown.entry(look(&values.domain, code)).or_default() += u64::from(count);
    }
    shown
}

/// How a value is written here.
pub(super) fn look(domain: &Domain, code: Code) -> String {
    let text = domain.text(code);
    if domain.kind().has_distances() { text.into_owned() } else { folded(&text).into_owned() }
}
