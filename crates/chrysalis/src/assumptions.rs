//! What a promise assumes about values, stated so that the owner can object.

use chrysalis_criteria::{Alike, Near, PrincipleSpec, Requirement};
use chrysalis_publish::{Microdata, SensitiveColumn};
use chrysalis_table::{Code, Column, Kind};

/// How many values are spelled out, and how many sets of values.
const LISTED: usize = 5;

/// What a recipe assumes about its sensitive columns.
pub(crate) fn of(data: &Microdata, require: &[Requirement]) -> Vec<String> {
    data.sensitive_columns().flat_map(|column| of_column(column, require)).collect()
}

fn of_column(sensitive: SensitiveColumn<'_>, require: &[Requirement]) -> Vec<String> {
    let column = sensitive.column();
    let required = || {
        let concerns = require.iter().filter(|required| required.may_concern(column.name()));
        concerns.map(|required| &required.principle)
    };
    let mut notes = look_alikes(column, sensitive.looks());
    let measures_closeness = |spec: &&PrincipleSpec| matches!(spec, PrincipleSpec::TCloseness { .. });
    if let Some(t) = required().find(measures_closeness)
        && column.domain().kind() == Kind::Ordinal
        && sensitive.taxonomy().is_none()
    {
        let name = column.name();
        notes.push(format!(
            "{t} uses the order that was given for `{name}`: it assumes that neighbouring values are nearly the same, \
             which makes {t} weaker than it is for words without an order"
        ));
    }
    let weighs = required().find(|spec| spec.weighs());
    let weights = sensitive.categories().map_or(&[][..], |categories| categories.weights());
    if let (Some(spec), [first, others @ ..]) = (weighs, weights)
        && !others.is_empty()
        && others.iter().all(|other| other == first)
    {
        let name = column.name();
        notes.push(format!(
            "all categories of `{name}` weigh the same, so {spec} counts rows where it should weigh how bad their \
             values are"
        ));
    }
    notes
}

/// Notes on words in a column that look alike, or look like a missing value.
pub(crate) fn look_alikes(column: &Column, looks: &Alike) -> Vec<String> {
    let domain = column.domain();
    let quoted = |code: &Code| format!("`{}`", domain.display(*code).escape_debug());
    let sets = looks.sets();
    let note = |set: &Vec<Code>| {
        let names: Vec<String> = set.iter().take(LISTED).map(quoted).collect();
        let names = match names.split_last() {
            Some((last, others)) if set.len() <= LISTED => format!("{} and {last}", others.join(", ")),
            _ => format!("{} and {} others", names.join(", "), set.len() - names.len()),
        };
        let name = column.name();
        let (looks, count) = if looks.is_missing(set[0]) {
            ("look as if `".to_owned() + name + "` were missing", "no value that protects anybody")
        } else {
            ("look alike".to_owned(), "one value")
        };
        format!(
            "{names} {looks}: they count as {count} in every promise; if they are one value, make them one in the \
                 table"
        )
    };
    let mut notes: Vec<String> = sets.iter().take(LISTED).map(note).collect();
    if sets.len() > LISTED {
        notes.push(format!("{} more sets of values of `{}` look alike", sets.len() - LISTED, column.name()));
    }
    notes
}

/// The same for a column of a table that is not being published yet.
pub(crate) fn look_alikes_of(column: &Column) -> Vec<String> {
    look_alikes(column, &Alike::new(column.domain(), &Near::Nothing))
}
