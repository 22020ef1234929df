//! Ranges, and the groups that show them.

use chrysalis_dialect::expr::{X, all, any, col, count_distinct, count_rows, int, or_zero, sum};
use chrysalis_dialect::select::{Ctes, Rows};
use chrysalis_release::{Cell, Detail, MEMBERS_COLUMNS, TableLayout, max_column, min_column};
use chrysalis_table::Kind;

use crate::Statement;
use crate::frame::{Frame, call_max, call_min, check, columns_of, flag, n_different, undecided};
use crate::labels::text_of;

pub(crate) fn statements(frame: &Frame<'_>) -> Vec<Statement> {
    let mut all = Vec::new();
    match frame.layout.shape.detail {
        Detail::Exact | Detail::Permuted => return all,
        Detail::GroupBoxes => {
            all.extend(cells(frame));
            all.extend(suppressed(frame));
            all.extend(frame.layout.shape.has_users.then(|| looks(frame)).flatten());
        }
        Detail::RowBoxes => all.extend(buckets(frame)),
    }
    for table in frame.layout.people() {
        all.extend(table.shows.iter().filter_map(|&at| ranges(frame, table, at)));
    }
    all
}

/// All rows of a group show the same ranges and labels.
fn cells(frame: &Frame<'_>) -> Option<Statement> {
    let (id, people) = (frame.id()?, frame.people());
    let own = frame.column("t", id);
    let names: Vec<&str> = frame.cells(people, |_| true).collect();
    let differ = names.iter().map(|name| n_different(frame.column("t", name)).greater(int(1))).collect();
    let rows = frame.rows(&people.name, "t").item(own.clone(), id).item(count_rows(), "n_rows");
    Some(check(
        "check/groups/cells",
        "all rows of a group show the same ranges and labels, so that they hide each other. A row is a group whose rows \
         differ.",
        Ctes::default(),
        rows.group_by([own]).having(any(differ)),
    ))
}

/// Ids tell nothing that ranges and labels do not.
fn looks(frame: &Frame<'_>) -> Option<Statement> {
    let (id, people) = (frame.id()?, frame.people());
    let names: Vec<&str> = frame.cells(people, |_| true).collect();
    let mut ctes = Ctes::default();
    let rows = names.iter().fold(frame.rows(&people.name, "t"), |rows, name| {
        rows.item(frame.column("t", name), &format!("c{}", names.iter().position(|it| it == name).unwrap_or(0)))
    });
    ctes.add("looks", rows.distinct());
    ctes.add("n_looks", Rows::of("looks").item(count_rows(), "n"));
    let own = frame.column("t", id);
    let n = count_distinct(own.clone()) + call_max(flag(own.missing()));
    ctes.add("n_groups", frame.rows(&people.name, "t").item(n, "n"));
    let rows = Rows::of("n_groups").cross("n_looks", "n_looks").item(col("n_groups.n"), "group_ids");
    let rows = rows.item(col("n_looks.n"), "different_rows").filter(Some(col("n_groups.n").differs(col("n_looks.n"))));
    Some(check(
        "check/quasi-identifiers",
        "group ids tell apart exactly the rows that look different. A row says how many ids tell how many looks apart.",
        ctes,
        rows,
    ))
}

/// Every table of people has the same number of rows.
fn buckets(frame: &Frame<'_>) -> Option<Statement> {
    let tables: Vec<&TableLayout> = frame.layout.people().collect();
    let of_table = |table: &&TableLayout| {
        frame.rows(&table.name, "t").item(frame.dialect.text(&table.name), "table_name").item(count_rows(), "n_rows")
    };
    let mut ctes = Ctes::default();
    ctes.add_union("tables", tables.iter().map(of_table).collect());
    let n = col("tables.n_rows");
    let rows = Rows::of("tables").item(call_min(n.clone()), "fewest").item(call_max(n.clone()), "most");
    Some(check(
        "check/buckets",
        "all tables of people have the same number of rows. A row says how many they have at least and at most.",
        ctes,
        rows.having(call_min(n.clone()).less(call_max(n))),
    ))
}

/// Ranges begin before they end, and touch the attribute's domain.
fn ranges(frame: &Frame<'_>, table: &TableLayout, at: usize) -> Option<Statement> {
    let attribute = frame.attribute(at);
    if !Kind::from(attribute.kind).is_ordered() {
        return None;
    }
    let id = frame.id()?;
    let (low, high) =
        (frame.column("t", &min_column(&attribute.name)), frame.column("t", &max_column(&attribute.name)));
    let mut ctes = Ctes::default();
    let rows = frame.rows(&table.name, "t").item(frame.column("t", id), id);
    let rows = rows.item(frame.place(attribute, low), "low").item(frame.place(attribute, high), "high");
    ctes.add("ranges", rows);
    let (low, high) = (col("ranges.low"), col("ranges.high"));
    let mut wrong: Vec<X> = vec![low.clone().present().and(high.clone().missing()), low.clone().greater(high.clone())];
    let (first, last) = frame.ends(attribute);
    match (first, last) {
        (Some(first), Some(last)) => {
            wrong.push(high.clone().less(first));
            wrong.push(low.clone().greater(last));
        }
        _ => wrong.push(high.clone().present()),
    }
    if !attribute.domain.missing {
        wrong.push(low.clone().missing());
    }
    let name = match frame.layout.people().count() {
        1 => format!("check/ranges/{}", attribute.name),
        _ => format!("check/ranges/{}/{}", table.name, attribute.name),
    };
    let key = col(&format!("ranges.{id}"));
    let rows = Rows::of("ranges").item(key.clone(), id).item(low.clone(), "low").item(high.clone(), "high");
    let unit = match Kind::from(attribute.kind) {
        Kind::Integer | Kind::Real => "",
        Kind::Date => " (days since 1970-01-01)",
        Kind::DateTime => " (microseconds since 1970-01-01)",
        Kind::Ordinal | Kind::Category => " (places in the order of the words)",
    };
    Some(check(
        name,
        format!(
            "every range of `{}` in `{}` begins before it ends, lies within the domain at least in part, and is open below \
             only if values may be missing. A row is another range{unit}.",
            attribute.name, table.name
        ),
        ctes,
        rows.filter(Some(any(wrong))).group_by([key, low, high]),
    ))
}

/// If rows were suppressed, exactly one group shows the whole domain of every attribute, and it has as many rows.
fn suppressed(frame: &Frame<'_>) -> Option<Statement> {
    let promised = frame.manifest.suppressed;
    if promised == 0 {
        return None;
    }
    let (id, people) = (frame.id()?, frame.people());
    let mut ctes = Ctes::default();
    let mut rows = frame.rows(&people.name, "t");
    let mut whole: Vec<X> = Vec::new();
    for &at in &people.shows {
        let attribute = frame.attribute(at);
        if Kind::from(attribute.kind).is_ordered() {
            let place = |name: String| frame.place(attribute, frame.column("t", &name));
            let (low, high) = (place(min_column(&attribute.name)), place(max_column(&attribute.name)));
            let (Some(first), Some(last)) = frame.ends(attribute) else {
                return Some(undecided("check/suppressed", "the manifest gives no domain for a range."));
            };
            let from_below = match attribute.domain.missing {
                true => low.missing(),
                false => low.clone().missing().or(low.at_most(first)),
            };
            whole.push(from_below.and(high.at_least(last)));
        } else {
            // Labels whose members are all values of the domain.
            let name = format!("whole_{at}");
            let words: Vec<X> = words(frame, at);
            let n = words.len() as i64;
            let [of, label, value] = MEMBERS_COLUMNS.map(|column| text_of(frame.column("m", column)));
            let is_own = of.eq(frame.dialect.text(&attribute.name)).and(value.clone().one_of(words));
            let list = frame.rows(frame.layout.shape.members?, "m").item(label.clone(), "label").filter(Some(is_own));
            ctes.add(&name, list.group_by([label]).having(count_distinct(value).eq(int(n))));
            let shown = text_of(frame.column("t", &attribute.name));
            rows = rows.left_join(&name, col(&format!("{name}.label")).eq(shown));
            whole.push(col(&format!("{name}.label")).present());
        }
    }
    let own = frame.column("t", id);
    let is_hidden = sum(flag(all(whole))).eq(count_rows());
    let rows = rows.item(own.clone(), id).item(count_rows(), "n_rows").group_by([own]);
    ctes.add("hidden", rows.having(is_hidden));
    let (groups, n_rows) = (count_rows(), or_zero(sum(col("hidden.n_rows"))));
    let rows = Rows::of("hidden").item(groups.clone(), "n_groups").item(n_rows.clone(), "n_rows");
    Some(check(
        "check/suppressed",
        format!(
            "exactly one group shows the whole domain of every attribute, and it has the {promised} rows that the manifest \
             calls suppressed. A row says how many groups and rows show nothing instead."
        ),
        ctes,
        rows.having(groups.differs(int(1)).or(n_rows.differs(int(promised)))),
    ))
}

/// The words of an attribute's domain; the missing one is empty.
pub(crate) fn words(frame: &Frame<'_>, at: usize) -> Vec<X> {
    let values = frame.attribute(at).domain.values.iter().flatten();
    values.map(|value| frame.dialect.text(value.as_str().unwrap_or_default())).collect()
}

/// The columns of `members` as texts.
pub(crate) fn add_members(frame: &Frame<'_>, ctes: &mut Ctes) -> Option<()> {
    let table = frame.layout.shape.members?;
    let [of, label, value] = MEMBERS_COLUMNS.map(|column| text_of(frame.column("m", column)));
    let rows = frame.rows(table, "m").item(of, "attribute").item(label, "label").item(value, "value");
    ctes.add("stands_for", rows);
    Some(())
}

/// Whether a table shows an attribute as labels.
pub(crate) fn labelled<'f>(frame: &'f Frame<'_>, table: &'f TableLayout) -> impl Iterator<Item = usize> + 'f {
    let is_shown = |at: &usize| table.columns.iter().any(|column| column.cell == Cell::Label(*at));
    table.shows.iter().copied().filter(is_shown).filter(|&at| !Kind::from(frame.attribute(at).kind).is_ordered())
}

/// The names of CTE columns, in order.
pub(crate) fn everything(cte: &str) -> Rows {
    columns_of(cte, &["attribute", "label", "value"])
}
