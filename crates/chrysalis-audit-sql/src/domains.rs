//! Whether the manifest's domains are no wider than what is published of them.

use chrysalis_dialect::expr::{X, all, any, call, col, count_rows, int, sum};
use chrysalis_dialect::select::{Ctes, Rows};
use chrysalis_release::{Cell, TableLayout, max_column, min_column};
use chrysalis_table::Kind;

use crate::Statement;
use crate::boxes::{add_members, labelled};
use crate::frame::{Frame, call_max, call_min, check, flag};

pub(crate) fn statements(frame: &Frame<'_>) -> Vec<Statement> {
    let mut statements = Vec::new();
    for at in 0..frame.manifest.attributes.len() {
        let shows =
            |cell: Cell| frame.layout.tables.iter().find(move |table| table.columns.iter().any(|it| it.cell == cell));
        if let Some(table) = shows(Cell::Value(at)) {
            statements.extend(listed(frame, at, table));
            statements.extend(ends(frame, at, table));
        } else if shows(Cell::Low(at)).is_some() {
            let tables = frame.layout.people().filter(|table| table.shows.contains(&at));
            statements.extend(tables.filter_map(|table| covered(frame, at, table)));
        } else if frame.layout.people().any(|table| labelled(frame, table).any(|it| it == at)) {
            statements.extend(explained(frame, at));
        }
    }
    statements
}

fn name(frame: &Frame<'_>, at: usize, table: Option<&TableLayout>) -> String {
    let attribute = &frame.attribute(at).name;
    match table.filter(|_| frame.layout.people().count() > 1) {
        Some(table) => format!("check/manifest/domain/{}/{attribute}", table.name),
        None => format!("check/manifest/domain/{attribute}"),
    }
}

/// Where values are listed, each occurs.
fn listed(frame: &Frame<'_>, at: usize, table: &TableLayout) -> Option<Statement> {
    let attribute = frame.attribute(at);
    let kind = Kind::from(attribute.kind);
    let values = attribute.domain.values.as_ref().filter(|values| !values.is_empty())?;
    let mut ctes = Ctes::default();
    ctes.add_list("listed", &["value"], values.iter().map(|value| vec![frame.literal(kind, value)]).collect());
    let column = frame.column("t", &attribute.name);
    let found = frame.rows(&table.name, "t").item(column, "value").distinct();
    ctes.add("found", found);
    let side = |cte: &str, n: i64| Rows::of(cte).item(col(&format!("{cte}.value")), "value").item(int(n), "n");
    ctes.add_union("sides", vec![side("listed", 1), side("found", -1)]);
    let rows = Rows::of("sides").item(col("sides.value"), "value").group_by([col("sides.value")]);
    Some(check(
        name(frame, at, None),
        format!(
            "the values that the manifest lists of `{}` are those that occur. A row is a value for which that is not true.",
            attribute.name
        ),
        ctes,
        rows.having(sum(col("sides.n")).differs(int(0))),
    ))
}

/// Where a domain has ends, these occur, and it has missing values exactly if some value is missing.
fn ends(frame: &Frame<'_>, at: usize, table: &TableLayout) -> Option<Statement> {
    let attribute = frame.attribute(at);
    let kind = Kind::from(attribute.kind);
    if !kind.has_distances() {
        return None;
    }
    let column = frame.column("t", &attribute.name);
    let mut ctes = Ctes::default();
    let rows =
        frame.rows(&table.name, "t").item(call_min(column.clone()), "least").item(call_max(column.clone()), "greatest");
    ctes.add("found", rows.item(call_max(flag(column.missing())), "is_missing"));
    let end = |found: X, said: &Option<serde_json::Value>| match said {
        Some(said) => found.clone().missing().or(found.differs(frame.literal(kind, said))),
        None => found.present(),
    };
    let (least, greatest) = (col("found.least"), col("found.greatest"));
    let wrong = any(vec![
        end(least.clone(), &attribute.domain.min),
        end(greatest.clone(), &attribute.domain.max),
        col("found.is_missing").differs(int(i64::from(attribute.domain.missing))),
    ]);
    let rows =
        Rows::of("found").item(least, "least").item(greatest, "greatest").item(col("found.is_missing"), "is_missing");
    Some(check(
        format!("{}/ends", name(frame, at, None)),
        format!(
            "the least and the greatest value of `{}` are those that the manifest gives, and values are missing exactly if it \
             says so. A row has what was found instead.",
            attribute.name
        ),
        ctes,
        rows.filter(Some(wrong)),
    ))
}

/// Where ranges are published, both ends of the domain lie in some range, or each of its words does, and it has missing
/// values exactly if some range has no lower end.
fn covered(frame: &Frame<'_>, at: usize, table: &TableLayout) -> Option<Statement> {
    let attribute = frame.attribute(at);
    let mut ctes = Ctes::default();
    let place = |name: String| frame.place(attribute, frame.column("t", &name));
    let rows = frame.rows(&table.name, "t").item(place(min_column(&attribute.name)), "low");
    ctes.add("ranges", rows.item(place(max_column(&attribute.name)), "high").distinct());
    let (low, high) = (col("ranges.low"), col("ranges.high"));
    let is_missing = call_max(flag(low.clone().missing()));
    let mut wrong = vec![is_missing.clone().differs(int(i64::from(attribute.domain.missing)))];
    let about = format!(
        "the ranges of `{}` in `{}` cover its domain, and one of them is open below exactly if values may be missing. A row \
         has what is covered instead.",
        attribute.name, table.name
    );
    if Kind::from(attribute.kind) == Kind::Ordinal {
        let words = attribute.domain.order().len() as i64;
        let rows: Vec<Vec<X>> = (0..words).map(|place| vec![int(place)]).collect();
        if rows.is_empty() {
            return None;
        }
        ctes.add_list("words", &["place"], rows);
        ctes.add("open_below", Rows::of("ranges").item(is_missing, "is_missing"));
        let word = col("words.place");
        let on = all(vec![low.clone().missing().or(low.at_most(word.clone())), word.clone().at_most(high.clone())]);
        let rows =
            Rows::of("words").left_join("ranges", on).cross("open_below", "open_below").item(word.clone(), "word");
        let rows = rows.item(call("COUNT", vec![high.clone()]), "ranges").group_by([word]);
        let none = call("COUNT", vec![high]).eq(int(0));
        let open = call_max(col("open_below.is_missing")).differs(int(i64::from(attribute.domain.missing)));
        return Some(check(name(frame, at, Some(table)), about, ctes, rows.having(none.or(open))));
    }
    let (first, last) = frame.ends(attribute);
    if let Some(first) = first {
        let reaches = is_missing.clone().eq(int(1)).or(call_min(low.clone()).at_most(first));
        wrong.push(reaches.negated());
    }
    if let Some(last) = last {
        wrong.push(call_max(high.clone()).missing().or(call_max(high.clone()).less(last)));
    }
    let rows = Rows::of("ranges").item(call_min(low), "least").item(call_max(high), "greatest");
    let rows = rows.item(is_missing, "is_open_below").having(any(wrong));
    Some(check(name(frame, at, Some(table)), about, ctes, rows))
}

/// Where labels are published, every value is a member of one of them.
fn explained(frame: &Frame<'_>, at: usize) -> Option<Statement> {
    let attribute = frame.attribute(at);
    let words = attribute.domain.values.iter().flatten();
    let words: Vec<Vec<X>> = words.map(|word| vec![frame.dialect.text(word.as_str().unwrap_or_default())]).collect();
    if words.is_empty() {
        return None;
    }
    let mut ctes = Ctes::default();
    ctes.add_list("listed", &["value"], words);
    add_members(frame, &mut ctes)?;
    let own = col("stands_for.attribute").eq(frame.dialect.text(&attribute.name));
    let on = own.and(col("stands_for.value").eq(col("listed.value")));
    let rows = Rows::of("listed").left_join("stands_for", on).item(col("listed.value"), "value");
    let rows = rows.item(count_rows(), "labels").filter(Some(col("stands_for.value").missing()));
    Some(check(
        name(frame, at, None),
        format!("every value of `{}` is behind some label. A row is a value that is not.", attribute.name),
        ctes,
        rows.group_by([col("listed.value")]),
    ))
}
