//! What labels stand for.

use std::collections::BTreeSet;

use chrysalis_dialect::Dialect;
use chrysalis_dialect::expr::{X, all, any, call, case, col, count_rows, empty_text, int, or_zero, sum};
use chrysalis_dialect::select::{Ctes, Rows};
use chrysalis_release::set_label;

use crate::boxes::{add_members, everything, labelled};
use crate::frame::{Frame, call_max, check, columns_of, flag};
use crate::{Decides, Statement};

/// A text of which the missing one is empty.
pub(crate) fn text_of(x: X) -> X {
    call("COALESCE", vec![x, empty_text()])
}

/// The check of labels that say what they stand for. It alone errs because of words, not of numbers.
pub(crate) const MEANING: &str = "check/labels/meaning";

pub(crate) fn statements(frame: &Frame<'_>) -> Vec<Statement> {
    let Some(members) = frame.layout.shape.members else { return Vec::new() };
    if !frame.manifest.tables.iter().any(|table| table.name == members) {
        return Vec::new();
    }
    let attributes: BTreeSet<usize> = frame.layout.people().flat_map(|table| labelled(frame, table)).collect();
    let mut ctes = Ctes::default();
    let Some(()) = add_members(frame, &mut ctes) else { return Vec::new() };
    let twice = check(
        "check/labels/twice",
        format!("`{members}` lists nothing twice. A row is listed more than once."),
        ctes,
        everything("stands_for")
            .group_by(["attribute", "label", "value"].map(|name| col(&format!("stands_for.{name}"))))
            .having(count_rows().greater(int(1))),
    );
    if attributes.is_empty() {
        let rows = frame.rows(members, "m").item(count_rows(), "n_rows").having(count_rows().greater(int(0)));
        let about =
            format!("`{members}` says nothing, because no attribute has labels. A row says how many rows it has.");
        return vec![twice, check("check/labels/stray", about, Ctes::default(), rows)];
    }
    vec![
        twice,
        without_members(frame, &attributes),
        stray(frame, &attributes),
        values(frame, &attributes),
        meaning(frame, &attributes),
    ]
}

/// Adds `used`: the labels that tables show.
fn add_used(frame: &Frame<'_>, ctes: &mut Ctes) {
    let mut parts = Vec::new();
    for table in frame.layout.people() {
        for at in labelled(frame, table) {
            let name = &frame.attribute(at).name;
            let label = text_of(frame.column("t", name));
            parts.push(
                frame
                    .rows(&table.name, "t")
                    .item(frame.dialect.text(name), "attribute")
                    .item(label, "label")
                    .distinct(),
            );
        }
    }
    ctes.add_union("shown_labels", parts);
    ctes.add("used", columns_of("shown_labels", &["attribute", "label"]).item(int(1), "there").distinct());
}

/// Adds `known`: the values of all attributes with labels, and how each is written inside a label of several.
fn add_known(frame: &Frame<'_>, ctes: &mut Ctes, attributes: &BTreeSet<usize>, is_written: bool) {
    let mut rows = Vec::new();
    for &at in attributes {
        let attribute = frame.attribute(at);
        for value in attribute.domain.values.iter().flatten() {
            let word = value.as_str().unwrap_or_default();
            let text = |text: &str| frame.dialect.text(text);
            let mut row = vec![text(&attribute.name), text(word), int(1)];
            row.extend(is_written.then(|| text(&written(word))));
            rows.push(row);
        }
    }
    if rows.is_empty() {
        let nothing = || frame.dialect.text("");
        rows.push([nothing(), nothing(), int(1)].into_iter().chain(is_written.then(nothing)).collect());
    }
    let names = ["attribute", "value", "there", "written"];
    ctes.add_list("known", &names[..if is_written { 4 } else { 3 }], rows);
}

/// A value as it is written among others in a label.
fn written(word: &str) -> String {
    // A set of two: what is written of the first is what precedes the second.
    let pair = set_label([word, "x"].into_iter());
    pair.strip_prefix('{').and_then(|rest| rest.strip_suffix(",x}")).unwrap_or(word).to_owned()
}

/// Rows of a CTE for which another has no row with the same columns.
fn lacking(first: &str, second: &str, names: &[&str], shown: &[&str]) -> Rows {
    let on = names.iter().map(|name| col(&format!("{first}.{name}")).eq(col(&format!("{second}.{name}"))));
    let rows = Rows::of(first).left_join(second, all(on.collect()));
    let rows = shown.iter().fold(rows, |rows, name| rows.item(col(&format!("{first}.{name}")), name));
    rows.filter(Some(col(&format!("{second}.there")).missing()))
}

fn without_members(frame: &Frame<'_>, _: &BTreeSet<usize>) -> Statement {
    let mut ctes = Ctes::default();
    add_used(frame, &mut ctes);
    add_members(frame, &mut ctes);
    ctes.add("explained", columns_of("stands_for", &["attribute", "label"]).item(int(1), "there").distinct());
    check(
        "check/labels/explained",
        "every label that is shown stands for some value. A row is a label that nothing explains.",
        ctes,
        lacking("used", "explained", &["attribute", "label"], &["attribute", "label"]),
    )
}

fn stray(frame: &Frame<'_>, _: &BTreeSet<usize>) -> Statement {
    let mut ctes = Ctes::default();
    add_used(frame, &mut ctes);
    add_members(frame, &mut ctes);
    check(
        "check/labels/stray",
        "every label that is explained is shown. A row explains a label that no table shows.",
        ctes,
        lacking("stands_for", "used", &["attribute", "label"], &["attribute", "label", "value"]),
    )
}

fn values(frame: &Frame<'_>, attributes: &BTreeSet<usize>) -> Statement {
    let mut ctes = Ctes::default();
    add_known(frame, &mut ctes, attributes, false);
    add_members(frame, &mut ctes);
    check(
        "check/labels/values",
        "labels stand for values of their attribute's domain. A row is a label and a value that is not in the domain.",
        ctes,
        lacking("stands_for", "known", &["attribute", "value"], &["attribute", "label", "value"]),
    )
}

/// A label that says what it stands for (a value, `{a,b}`, or `*` for the whole domain) has exactly those members.
fn meaning(frame: &Frame<'_>, attributes: &BTreeSet<usize>) -> Statement {
    let dialect = frame.dialect;
    let mut ctes = Ctes::default();
    add_known(frame, &mut ctes, attributes, true);
    add_members(frame, &mut ctes);
    let (label, value, written) = (col("stands_for.label"), col("stands_for.value"), col("known.written"));
    let comma = || dialect.text(",");
    let body = length_part(dialect, label.clone());
    let inside = comma().followed_by(body).followed_by(comma());
    let is_inside = dialect.position(inside, comma().followed_by(written.clone()).followed_by(comma())).greater(int(0));
    let on = col("known.attribute").eq(col("stands_for.attribute")).and(col("known.value").eq(value.clone()));
    let rows = Rows::of("stands_for").left_join("known", on);
    let rows = rows.item(col("stands_for.attribute"), "attribute").item(label.clone(), "label");
    let rows = rows.item(count_rows(), "n_members").item(call_max(flag(value.eq(label.clone()))), "has_itself");
    let rows =
        rows.item(sum(flag(is_inside)), "n_written").item(or_zero(sum(call("LENGTH", vec![written]))), "letters");
    ctes.add("labels", rows.group_by([col("stands_for.attribute"), label]));
    // Whether the label is itself a value of the domain, and how many values there are.
    let on = col("known.attribute").eq(col("labels.attribute")).and(col("known.value").eq(col("labels.label")));
    let names = ["attribute", "label", "n_members", "has_itself", "n_written", "letters"];
    let rows = names
        .iter()
        .fold(Rows::of("labels").left_join("known", on), |rows, name| rows.item(col(&format!("labels.{name}")), name));
    ctes.add("judged", rows.item(flag(col("known.there").present()), "is_value"));
    let own = col("known.attribute");
    ctes.add("domains", Rows::of("known").item(own.clone(), "attribute").item(count_rows(), "n").group_by([own]));
    let of = |name: &str| col(&format!("judged.{name}"));
    let is_set = |label: X| {
        let first = call("SUBSTR", vec![label.clone(), int(1), int(1)]).eq(dialect.text("{"));
        let last =
            call("SUBSTR", vec![label.clone(), call("LENGTH", vec![label.clone()]), int(1)]).eq(dialect.text("}"));
        // A single value is written like a set only if it has quotes.
        let is_quoted = call("SUBSTR", vec![label.clone(), int(1), int(2)]).eq(dialect.text("{\""));
        let has_several = dialect.position(label, dialect.text(",")).greater(int(0));
        all(vec![first, last, has_several.or(is_quoted)])
    };
    // Braces and commas: a set of n values is n + 1 letters longer than what is written of them.
    let is_complete = || {
        let length = of("letters") + of("n_members") + int(1);
        of("n_written").eq(of("n_members")).and(call("LENGTH", vec![of("label")]).eq(length))
    };
    let wrong = case(
        of("is_value").eq(int(1)),
        flag(of("n_members").differs(int(1)).or(of("has_itself").eq(int(0)))),
        case(
            of("label").eq(dialect.text("*")),
            flag(of("n_members").differs(col("domains.n"))),
            flag(is_set(of("label")).and(is_complete().negated())),
        ),
    );
    let rows = Rows::of("judged").join("domains", col("domains.attribute").eq(of("attribute")));
    let rows = rows.item(of("attribute"), "attribute").item(of("label"), "label").item(of("n_members"), "n_members");
    let mut statement = check(
        MEANING,
        "a label that says what it stands for (a value of the domain, `{a,b}`, or `*` for all values) stands for exactly \
         that. A row is a label that stands for something else. (A node of a taxonomy that is written like a set is taken \
         for one.)",
        ctes,
        rows.filter(Some(any(vec![wrong.eq(int(1))]))),
    );
    statement.decides = Decides::ErrsTowardsComplaint;
    statement
}

/// A label without its first and last letter.
fn length_part(_: Dialect, label: X) -> X {
    let length = call("LENGTH", vec![label.clone()]) - int(2);
    let length = case(length.clone().greater(int(0)), length, int(0));
    call("SUBSTR", vec![label, int(2), length])
}
