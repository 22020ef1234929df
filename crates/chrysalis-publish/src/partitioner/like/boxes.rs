//! Step 1: the boxes of an earlier release, from what it shows.

use std::collections::{BTreeMap, BTreeSet};

use chrysalis_release::view::{CodedColumn, Field, Label};
use chrysalis_release::{Detail, Form, Release, RoleName, View, set_label};
use chrysalis_table::{Kind, Knob, Remedy, Value};

use crate::{Microdata, PublishError};

/// What one label stands for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Cover {
    /// Everything between two values, and perhaps the missing one.
    Range { ends: Option<(Value, Value)>, missing: bool },
    /// Words, ascending, and perhaps the missing one.
    Words { words: Vec<Box<str>>, missing: bool, label: Option<String> },
}

/// One quasi attribute of an earlier release.
#[derive(Clone, Debug, PartialEq)]
struct Attribute {
    name: String,
    kind: Kind,
    /// The distinct labels.
    covers: Vec<Cover>,
}

/// The boxes that the groups of a release span, each once: nothing else of the release is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct EarlierBoxes {
    attributes: Vec<Attribute>,
    /// The label of every box and attribute, box after box.
    labels: Vec<u32>,
}

impl EarlierBoxes {
    /// Reads them off a release. It is an error if its form shows no boxes of groups.
    pub fn of(release: &Release, view: &View) -> Result<EarlierBoxes, PublishError> {
        check_form(release.manifest.method)?;
        let mut attributes = Vec::new();
        let mut columns: Vec<Vec<u32>> = Vec::new();
        for (at, field) in view.fields.iter().enumerate().filter(|(_, field)| field.role == RoleName::Quasi) {
            let of_groups = covers(release, view, at)?;
            let mut known: Vec<Cover> = of_groups.clone();
            known.sort_unstable();
            known.dedup();
            let place = |cover: &Cover| known.partition_point(|other| other < cover) as u32;
            columns.push(of_groups.iter().map(place).collect());
            attributes.push(Attribute { name: field.name.clone(), kind: field.kind, covers: known });
        }
        let mut boxes: Vec<Vec<u32>> =
            (0..view.groups.len()).map(|group| columns.iter().map(|column| column[group]).collect()).collect();
        boxes.sort_unstable();
        boxes.dedup();
        Ok(EarlierBoxes { attributes, labels: boxes.concat() })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.labels.len() / self.attributes.len().max(1)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// The quasi columns, and of which kind they are.
    pub fn columns(&self) -> impl Iterator<Item = (&str, Kind)> {
        self.attributes.iter().map(|attribute| (attribute.name.as_str(), attribute.kind))
    }

    /// The place of an attribute.
    pub(super) fn place(&self, name: &str) -> Option<usize> {
        self.attributes.iter().position(|attribute| attribute.name == name)
    }

    /// The distinct labels of an attribute.
    pub(super) fn covers(&self, attribute: usize) -> &[Cover] {
        &self.attributes[attribute].covers
    }

    /// Which of them a box shows.
    pub(super) fn label(&self, of: u32, attribute: usize) -> usize {
        self.labels[of as usize * self.attributes.len() + attribute] as usize
    }

    /// What a box shows of an attribute.
    pub(super) fn cover(&self, of: u32, attribute: usize) -> &Cover {
        &self.attributes[attribute].covers[self.label(of, attribute)]
    }

    /// Refuses tables with other quasi columns.
    pub(super) fn check(&self, data: &Microdata) -> Result<(), PublishError> {
        let remedy = || Remedy::from("name the same columns with ").knob(Knob::Quasi, self.names().join(","));
        for (column, _) in data.quasi() {
            let (name, kind) = (column.name(), column.domain().kind());
            match self.attributes.iter().find(|attribute| attribute.name == name) {
                None => {
                    let problem =
                        format!("the earlier release has no quasi column `{name}`, so its groups say nothing of it");
                    return Err(PublishError::remedied(problem, remedy()));
                }
                Some(known) if known.kind != kind => {
                    let problem = format!(
                        "`{name}` is {kind} here, and {} in the earlier release: its groups do not fit",
                        known.kind
                    );
                    let remedy = Remedy::from("read it alike with ").knob(Knob::Kind, format!("{name}={}", known.kind));
                    return Err(PublishError::remedied(problem, remedy));
                }
                Some(_) => {}
            }
        }
        let is_there = |name: &str| data.quasi().any(|(column, _)| column.name() == name);
        match self.attributes.iter().find(|attribute| !is_there(&attribute.name)) {
            None => Ok(()),
            Some(lacking) => {
                let problem = format!(
                    "the groups of the earlier release are told apart by `{}` too, which is no quasi column here",
                    lacking.name
                );
                Err(PublishError::remedied(problem, remedy()))
            }
        }
    }

    fn names(&self) -> Vec<&str> {
        self.attributes.iter().map(|attribute| attribute.name.as_str()).collect()
    }
}

/// Refuses forms that show no box of a group.
fn check_form(form: Form) -> Result<(), PublishError> {
    let Some(why) = obstacle(form) else { return Ok(()) };
    let forms = Form::ALL.iter().filter(|form| obstacle(**form).is_none()).map(|form| form.name());
    let forms: Vec<&str> = forms.collect();
    let problem = format!("a release of the form {form} is no plan for another: {why}");
    Err(PublishError::remedied(problem, Remedy::from(format!("name a release of {}", forms.join(", ")))))
}

/// Why a form shows no box of a group.
fn obstacle(form: Form) -> Option<&'static str> {
    let shape = form.shape();
    if shape.has_users {
        Some("its rows are in other groups for every user")
    } else if shape.marginals.is_some() {
        Some("its labels are those of buckets and its values those of batches, so that no group has both")
    } else if shape.group_id.is_none() {
        Some("it has no groups")
    } else {
        None
    }
}

/// What every group shows of an attribute.
fn covers(release: &Release, view: &View, at: usize) -> Result<Vec<Cover>, PublishError> {
    let field = &view.fields[at];
    let lacks = || PublishError::request(format!("the earlier release does not show its column `{}`", field.name));
    let shape = release.manifest.method.shape();
    if shape.detail != Detail::GroupBoxes {
        return Ok(spans(view, field, view.column(at).ok_or_else(lacks)?));
    }
    let labels = view.labels(shape.people, at).ok_or_else(lacks)?;
    // Labels of words are listed as the codes of their column are.
    let column = release.table(shape.people).ok().and_then(|table| table.column(&field.name));
    let text = |label: usize| column.map(|column| column.domain().text(label as u32).into_owned());
    let known: Vec<Cover> =
        labels.labels.iter().enumerate().map(|(label, shown)| of_label(shown, field, text(label))).collect();
    Ok(labels.of.iter().map(|&label| known[label as usize].clone()).collect())
}

fn of_label(label: &Label, field: &Field, text: Option<String>) -> Cover {
    match label {
        Label::Points { ends, missing } if field.kind == Kind::Ordinal => {
            let place = |end: i64| usize::try_from(end).unwrap_or(0).min(field.words.len());
            let words = ends.map_or_else(Vec::new, |(low, high)| {
                let (low, high) = (place(low), place(high.saturating_add(1)));
                field.words.get(low..high).unwrap_or_default().to_vec()
            });
            words_of(words, *missing, None)
        }
        Label::Points { ends, missing } => {
            let value = |end: i64| Value::from_whole(field.kind, end);
            let ends = ends.and_then(|(low, high)| Some((value(low)?, value(high)?)));
            Cover::Range { ends, missing: *missing }
        }
        Label::Stretch { ends, missing } => {
            let ends = ends.map(|(low, high)| (Value::Real(low), Value::Real(high)));
            Cover::Range { ends, missing: *missing }
        }
        Label::Members { ranks, missing } => {
            let words = ranks.iter().filter_map(|&rank| field.words.get(rank).cloned()).collect();
            words_of(words, *missing, text)
        }
    }
}

/// Words, with their label if it does not follow from them.
fn words_of(mut words: Vec<Box<str>>, missing: bool, label: Option<String>) -> Cover {
    words.sort_unstable();
    words.dedup();
    let own: Vec<&str> = missing.then_some("").into_iter().chain(words.iter().map(|word| &**word)).collect();
    let label = label.filter(|label| *label != set_label(own.iter().copied()));
    Cover::Words { words, missing, label }
}

/// Where values are exact: what the rows of every group span.
fn spans(view: &View, field: &Field, column: &CodedColumn) -> Vec<Cover> {
    let mut known: BTreeMap<(u32, u32), Cover> = BTreeMap::new();
    let mut span = |group: usize| {
        let codes = view.groups.rows(group).map(|row| column.codes.get(row));
        let lowest = u32::from(column.domain.has_missing());
        if field.kind.is_ordered() && field.kind != Kind::Ordinal {
            let missing = codes.clone().any(|code| code < lowest);
            let known_codes = codes.filter(|&code| code >= lowest);
            let ends = known_codes.fold(None, |ends: Option<(u32, u32)>, code| {
                Some(ends.map_or((code, code), |(low, high)| (low.min(code), high.max(code))))
            });
            let value = |code: u32| column.domain.value(code).cloned();
            return match (ends, missing) {
                (Some(ends), false) => known
                    .entry(ends)
                    .or_insert_with(|| Cover::Range { ends: value(ends.0).zip(value(ends.1)), missing })
                    .clone(),
                (ends, _) => Cover::Range { ends: ends.and_then(|(low, high)| value(low).zip(value(high))), missing },
            };
        }
        let codes: BTreeSet<u32> = codes.collect();
        let missing = codes.first().is_some_and(|&code| code < lowest);
        let ranks: Vec<usize> = codes
            .range(lowest..)
            .filter_map(|&code| column.ranks.get((code - lowest) as usize).copied().flatten())
            .collect();
        let words: Vec<Box<str>> = match (field.kind, ranks.iter().min(), ranks.iter().max()) {
            (Kind::Ordinal, Some(&low), Some(&high)) => field.words[low..=high].to_vec(),
            _ => ranks.iter().map(|&rank| field.words[rank].clone()).collect(),
        };
        words_of(words, missing, None)
    };
    (0..view.groups.len()).map(&mut span).collect()
}
