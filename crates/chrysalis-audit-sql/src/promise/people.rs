//! Promises about the people who could be in the data: how many of them are under the labels of every group.

use chrysalis_criteria::{PopulationSpec, Rational, show_rational};
use chrysalis_dialect::expr::{X, all, any, call, col, count_rows, int, null, or_zero, sum};
use chrysalis_dialect::select::{Ctes, Rows};
use chrysalis_release::{MEMBERS_COLUMNS, max_column, min_column};
use chrysalis_table::Kind;

use super::{Written, check_products, exactly};
use crate::PEOPLE;
use crate::frame::{Frame, parts};
use crate::labels::text_of;

/// No table has more people than this, so that numbers of them can be multiplied.
const MOST_PEOPLE: u64 = u32::MAX as u64;

/// What a principle asks for, in words.
pub(super) fn meaning(spec: &PopulationSpec, word: &str) -> String {
    match spec {
        PopulationSpec::KMap { k } => {
            format!("at least {k} people of the table `{PEOPLE}` are under the ranges and labels of every {word}.")
        }
        PopulationSpec::DeltaPresence { low, high } => format!(
            "of the people of the table `{PEOPLE}` under the ranges and labels of a {word}, at least {} and at most {} are \
             in the data{}.",
            show_rational(*low),
            show_rational(*high),
            if is_zero(low) { "" } else { ", and nobody is under none" }
        ),
    }
}

fn is_zero(number: &Rational) -> bool {
    *number == Rational::from_integer(0)
}

/// The groups with too few people under their labels, or too large or small a share of them.
pub(super) fn of_people(frame: &Frame<'_>, spec: &PopulationSpec) -> Written {
    let Some(id) = frame.id() else { return Err("The release has no groups.".to_owned()) };
    let table = frame.people();
    let prepared = table.shows.iter().map(|&at| frame.attribute(at)).find(|attribute| attribute.prepared.is_some());
    if let Some(attribute) = prepared {
        return Err(format!(
            "`{}` was prepared before it was published, and so would the values of `{PEOPLE}` have to be.",
            attribute.name
        ));
    }
    let mut ctes = Ctes::default();
    // Groups, with what they show.
    // Rows without an id are a group of their own, as in every other statement.
    let own = call("COALESCE", vec![frame.column("t", id), int(0)]);
    let mut boxes = frame.rows(&table.name, "t").item(own.clone(), id).item(count_rows(), "n_rows");
    let mut people = frame.rows(PEOPLE, "p");
    let (mut cells, mut keys) = (vec![own], Vec::new());
    let mut conditions: Vec<X> = Vec::new();
    let mut labelled: Vec<(usize, &str)> = Vec::new();
    for (number, &at) in table.shows.iter().enumerate() {
        let attribute = frame.attribute(at);
        let (name, value) = (&attribute.name, format!("value_{number}"));
        let known = col(&format!("people.{value}"));
        if Kind::from(attribute.kind).is_ordered() {
            let place = frame.place(attribute, frame.column("p", name));
            people = people.item(place.clone(), &value);
            keys.push(place);
            let ends = [(min_column(name), "low"), (max_column(name), "high")];
            for (column, end) in &ends {
                let place = frame.place(attribute, frame.column("t", column));
                boxes = boxes.item(place.clone(), &format!("{end}_{number}"));
                cells.push(place);
            }
            let (low, high) = (col(&format!("boxes.low_{number}")), col(&format!("boxes.high_{number}")));
            // A range without a low end starts at the missing value.
            let is_missing = known.clone().missing().and(low.clone().missing());
            let is_above = low.clone().missing().or(known.clone().at_least(low));
            conditions.push(is_missing.or(is_above.and(known.at_most(high))));
        } else {
            let text = text_of(frame.column("p", name));
            people = people.item(text.clone(), &value);
            keys.push(text);
            let label = text_of(frame.column("t", name));
            boxes = boxes.item(label.clone(), &format!("label_{number}"));
            cells.push(label);
            conditions.push(known.eq(col(&format!("members_{number}.value"))));
            labelled.push((number, name));
        }
    }
    ctes.add("boxes", boxes.group_by(cells));
    ctes.add("people", people.item(count_rows(), "n").group_by(keys.clone()));
    // What their labels stand for.
    let mut joined = Rows::of("boxes");
    for (number, name) in &labelled {
        let members = format!("members_{number}");
        let [of, label, value] = MEMBERS_COLUMNS.map(|column| text_of(frame.column("m", column)));
        let listed = frame.layout.shape.members.unwrap_or_default();
        let rows = frame.rows(listed, "m").item(label, "label").item(value, "value");
        ctes.add(&members, rows.filter(Some(of.eq(frame.dialect.text(name)))).distinct());
        let is_shown = col(&format!("{members}.label")).eq(col(&format!("boxes.label_{number}")));
        joined = joined.join(&members, is_shown);
    }
    // Every group with the people under its labels.
    let key = |cte: &str| col(&format!("{cte}.{id}"));
    let joined = joined.join("people", all(conditions));
    let names: Vec<String> = (0..keys.len()).map(|number| format!("value_{number}")).collect();
    let found =
        names.iter().fold(joined.item(key("boxes"), id), |rows, name| rows.item(col(&format!("people.{name}")), name));
    ctes.add("found", found.item(col("people.n"), "n"));
    let counted = Rows::of("found").item(key("found"), id).item(sum(col("found.n")), "n_people");
    ctes.add("counted", counted.group_by([key("found")]));
    let under = Rows::of("boxes").left_join("counted", key("counted").eq(key("boxes"))).item(key("boxes"), id);
    let under = under.item(col("boxes.n_rows"), "n_rows").item(or_zero(col("counted.n_people")), "n_people");
    ctes.add("under_labels", under);
    let (rows, people) = (col("under_labels.n_rows"), col("under_labels.n_people"));
    let shown = Rows::of("under_labels").item(key("under_labels"), id).item(rows.clone(), "n_rows");
    let shown = shown.item(people.clone(), "n_people");
    match spec {
        PopulationSpec::KMap { k } => exactly(ctes, shown.filter(Some(people.less(int(*k))))),
        PopulationSpec::DeltaPresence { low, high } => {
            let largest = [low, high].map(|share| (*share.numer()).max(*share.denom())).into_iter().max().unwrap_or(1);
            check_products(frame.dialect, &[MOST_PEOPLE, largest])?;
            let ((least, of_least), (most, of_most)) = (parts(low), parts(high));
            let is_too_small = (rows.clone() * of_least).less(people.clone() * least);
            let is_too_large = (rows * of_most).greater(people.clone() * most);
            let broken = shown.filter(Some(any(vec![people.eq(int(0)), is_too_small, is_too_large])));
            if is_zero(low) {
                return exactly(ctes, broken);
            }
            ctes.add("broken", broken);
            add_nowhere(&mut ctes, &names, frame, id);
            let columns = |cte: &str| {
                let of = |name: &str| col(&format!("{cte}.{name}"));
                Rows::of(cte).item(of(id), id).item(of("n_rows"), "n_rows").item(of("n_people"), "n_people")
            };
            ctes.add_union("complaints", vec![columns("broken"), columns("nowhere")]);
            exactly(ctes, columns("complaints"))
        }
    }
}

/// Adds `nowhere`: how many people are under no group's labels, if there are any.
fn add_nowhere(ctes: &mut Ctes, names: &[String], frame: &Frame<'_>, id: &str) {
    let of = |cte: &str, name: &str| col(&format!("{cte}.{name}"));
    let somewhere = names.iter().fold(Rows::of("found"), |rows, name| rows.item(of("found", name), name));
    ctes.add("somewhere", somewhere.item(int(1), "is_there").distinct());
    let same = names.iter().map(|name| crate::frame::same(of("somewhere", name), of("people", name))).collect();
    let rows = Rows::of("people").left_join("somewhere", all(same)).item(frame.dialect.integer(null()), id);
    let n = sum(col("people.n"));
    let rows = rows.item(int(0), "n_rows").item(n.clone(), "n_people");
    let rows = rows.filter(Some(col("somewhere.is_there").missing()));
    ctes.add("nowhere", rows.having(n.greater(int(0))));
}
