//! What stops a release that keeps its promises: rows whose sensitive value can be inferred all the same, and columns
//! kept as they are that identify people.

use chrysalis_criteria::{Near, Requirement};
use chrysalis_publish::{Disclosure, Microdata, SensitiveColumn};
use chrysalis_release::Accepted;
use chrysalis_table::{Code, Column, Knob, Remedy};

use crate::guess::{self, GuessedRole};
use crate::words::{count, counted};
use crate::{Error, Fault, Recipe};

/// The columns kept as they are that look as if they identify people, each with the reason.
pub(crate) fn identifying(data: &Microdata) -> Vec<(String, String)> {
    identifying_by(data, &|column| column.histogram())
}

/// The same where the rows are elsewhere: `counts` says how often each value occurs.
pub(crate) fn identifying_by(data: &Microdata, counts: &dyn Fn(&Column) -> Vec<u64>) -> Vec<(String, String)> {
    let rows = data.whole_rows();
    let reason = |column: &Column| {
        let reason = guess::identifying_by(column, &counts(column), rows)?;
        Some((column.name().to_owned(), reason))
    };
    data.other().filter_map(reason).collect()
}

/// LEAK: a column that numbers or describes people undoes everything that is promised about the others.
pub(crate) fn check_identifying(found: &[(String, String)], recipe: &Recipe) -> Result<(), Error> {
    let accepted = &recipe.accepted;
    let is_accepted = |name: &String| accepted.contains(&Accepted::Identifying(name.clone()));
    if let Some((name, reason)) = found.iter().find(|(name, _)| !is_accepted(name)) {
        let message = format!("`{name}` would be kept as it is, but it looks as if it identifies people: {reason}");
        let remedy = match recipe.weight() == Some(name.as_str()) {
            true => Remedy::from("leave ")
                .knob(Knob::Weight, "")
                .words(" out, round it with ")
                .knob(Knob::Prepare, format!("{name}=round:100")),
            false => Remedy::from("leave it out of ").knob(Knob::Other, ""),
        };
        let remedy = remedy
            .words(", or accept it by name: ")
            .knob(Knob::Accept, Accepted::Identifying(name.clone()).to_string());
        return Err(Error { fault: Fault::Infeasible, message, remedy });
    }
    let idle = accepted.iter().find_map(|risk| match risk {
        Accepted::Identifying(name) if !found.iter().any(|(known, _)| known == name) => Some(name),
        Accepted::Identifying(_) | Accepted::Disclosure => None,
    });
    match idle {
        None => Ok(()),
        Some(name) => {
            let message = format!("there is nothing to accept: `{name}` does not look as if it identifies people");
            Err(Error::request(message, Remedy::from("leave ").knob(Knob::Accept, "").words(" out")))
        }
    }
}

/// LEAK: rows are disclosed, and the owner did not accept that.
pub(crate) fn refused(data: &Microdata, recipe: &Recipe, found: &Disclosure) -> Error {
    let (column, near) = match data.sensitive_columns().nth(found.column()) {
        Some(column) => (column.name(), column.near(&recipe.require)),
        None => ("", Near::Nothing),
    };
    let share = 100.0 * found.disclosed_rows as f64 / data.whole_rows().max(1) as f64;
    let others: Vec<String> = data.other().map(|column| format!("`{}`", column.name())).collect();
    let what = match near {
        Near::Nothing => format!("a single value of `{column}`"),
        _ => format!("a single `{column}`, or values less than {} apart", shown(near.width())),
    };
    let what = match data.n_persons() {
        Some(_) => format!("{what}, or one that all persons of the group have"),
        None => what,
    };
    let by_groups = found.disclosed_rows - found.disclosed_by_others;
    let how = match (by_groups, found.disclosed_by_others) {
        (_, 0) => format!("their groups leave {what}"),
        (0, _) => format!("their groups together with {} leave {what}", others.join(", ")),
        (_, by_others) => {
            format!("their groups leave {what} ({} of them only together with {})", count(by_others), others.join(", "))
        }
    };
    let rows = counted(data.whole_rows() as u64, "row");
    let message = format!("{} of {rows} ({share:.1} %) would be disclosed: {how}", count(found.disclosed_rows));
    let mut remedy = Remedy::none();
    if by_groups > 0 {
        remedy = match preventing(data, recipe, column, &near) {
            Some(requirement) => Remedy::from("add ").knob(Knob::Require, requirement.to_string()),
            None => {
                Remedy::from(format!("no requirement prevents it in this table: choose a column other than `{column}`"))
            }
        };
    }
    if found.disclosed_by_others > 0 {
        let words = if by_groups > 0 { ", and leave columns out of " } else { "leave columns out of " };
        remedy = remedy.words(words).knob(Knob::Other, "").words(" or name them with ").knob(Knob::Quasi, "");
    }
    let remedy = remedy.words("; or accept it by name: ").knob(Knob::Accept, Accepted::Disclosure.to_string());
    Error { fault: Fault::Infeasible, message, remedy }
}

/// `50.01`, `1162`.
fn shown(width: f64) -> String {
    let text = format!("{width:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A sensitive column with a single value has nothing to hide: everyone in the table has that value.
pub(crate) fn check_constant(data: &Microdata) -> Result<(), Error> {
    let is_constant = |column: &SensitiveColumn<'_>| {
        let codes = 0..column.counts().domain_len() as Code;
        data.whole_rows() > 1 && codes.clone().all(|code| column.looks().first(code) == column.looks().first(0))
    };
    match data.sensitive_columns().find(is_constant).map(|column| column.column()) {
        None => Ok(()),
        Some(column) => {
            let same = if column.domain().len() == 1 { "the same value" } else { "what looks like the same value" };
            let message = format!("every row has {same} of `{}`, so nothing about it can be hidden", column.name());
            let remedy =
                Remedy::from("name another column with ").knob(Knob::Sensitive, "").words(", or leave this one out");
            Err(Error::request(message, remedy))
        }
    }
}

/// Quasi columns that look like identifiers: hiding them costs a lot of utility, and leaving them out costs nothing.
/// `counts` says how often each value occurs, because rows may be elsewhere.
pub(crate) fn identifiers_among_quasi(data: &Microdata, counts: &dyn Fn(&Column) -> Vec<u64>) -> Vec<String> {
    let rows = data.whole_rows() as u64;
    let note = |column: &Column| {
        let counts = counts(column);
        // How many values occur once.
        let alone = counts.iter().filter(|&&n| n == 1).count() as u64;
        let is_one = rows >= 20
            && 10 * alone >= 9 * rows
            && guess::suggest_by(column, &counts, data.whole_rows()).role == GuessedRole::Identifier;
        is_one.then(|| {
            format!(
                "`{}` looks like an identifier: {} of {} rows have a value of their own. As a quasi column it makes \
                 groups wide and protects nobody; leaving it out loses less",
                column.name(),
                count(alone),
                count(rows)
            )
        })
    };
    // An owner who gave a taxonomy has decided how to show the column.
    data.quasi().filter(|(_, taxonomy)| taxonomy.is_none()).filter_map(|(column, _)| note(column)).collect()
}

/// A requirement that rules out groups which give a value away, and that this table can satisfy beside the others.
///
/// Numbers that span the width of what counts as near are not one value; nor are the values of a group if none has more
/// than half of the rows, or if there are two of them. If the whole table satisfies a requirement, groups that satisfy
/// it can be formed.
pub(crate) fn preventing(data: &Microdata, recipe: &Recipe, column: &str, near: &Near) -> Option<Requirement> {
    // (k,e) is for numbers only; it cannot be bound to dates.
    let spread = near.rounded_up().map(|width| format!("ke=2,{width}"));
    let texts = spread.into_iter().chain(["l=2".to_owned(), "distinct-l=2".to_owned()]);
    // A value that every person of a group has may stand among many others: only its frequency tells.
    let texts = texts.filter(|text| data.n_persons().is_none() || text.starts_with("l="));
    let is_kept = |required: &Requirement| {
        let all: Vec<Requirement> = recipe.require.iter().cloned().chain([required.clone()]).collect();
        data.goal(&all).is_ok()
    };
    let about = (data.sensitive_columns().len() > 1).then(|| column.to_owned());
    let required = |text: String| Some(Requirement { about: about.clone(), principle: text.parse().ok()? });
    texts.filter_map(required).find(is_kept)
}
