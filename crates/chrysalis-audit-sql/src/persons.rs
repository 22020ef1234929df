//! Whether what a release says about persons can be true.

use chrysalis_dialect::expr::{X, all, any, case, col, count_rows, int, or_zero, sum};
use chrysalis_dialect::select::{Ctes, Rows};
use chrysalis_release::{COUNT, Detail, GROUPS, PERSONS, RoleName, TableLayout};

use crate::Statement;
use crate::frame::{Frame, check, columns_of};
use crate::seen::{Seen, Sight};

pub(crate) fn statements(frame: &Frame<'_>) -> Vec<Statement> {
    let (Some(persons), Some(id)) = (frame.manifest.persons, frame.id()) else { return Vec::new() };
    let mut all = vec![listed(frame, id), possible(frame, id, persons.rows_known), total(frame, persons.count)];
    if persons.rows_known && frame.is_counted() {
        for at in frame.with_role(RoleName::Sensitive) {
            all.extend(frame.layout.values_of(at).map(|table| of_values(frame, id, at, table)));
            all.extend(frame.layout.values_of(at).map(|table| having_a_value(frame, id, at, table)));
        }
    }
    if frame.layout.shape.detail == Detail::RowBoxes {
        all.extend(frame.layout.people().map(|table| in_buckets(frame, id, table, persons.rows_known)));
    }
    all
}

/// The table of groups lists every group once.
fn listed(frame: &Frame<'_>, id: &str) -> Statement {
    let own = frame.column("t", id);
    let mut ctes = Ctes::default();
    let rows = |table: &str, n_rows: i64, n_lines: i64| {
        let rows = frame.rows(table, "t").item(own.clone(), id).item(count_rows() * int(n_rows), "n_rows");
        rows.item(count_rows() * int(n_lines), "n_lines").group_by([own.clone()])
    };
    ctes.add_union("sides", vec![rows(&frame.people().name, 1, 0), rows(GROUPS, 0, 1)]);
    let key = col(&format!("sides.{id}"));
    let (n_rows, n_lines) = (sum(col("sides.n_rows")), sum(col("sides.n_lines")));
    let rows = Rows::of("sides").item(key.clone(), id).item(n_rows.clone(), "n_rows").item(n_lines.clone(), "n_lines");
    let word = frame.layout.shape.group_word;
    check(
        "check/persons/listed",
        format!(
            "`{GROUPS}` lists every {word} that has rows once, and no other. A row is a {word} for which that is not true."
        ),
        ctes,
        rows.group_by([key]).having(n_rows.eq(int(0)).or(n_lines.differs(int(1)))),
    )
}

/// Every group has a possible number of persons.
fn possible(frame: &Frame<'_>, id: &str, rows_known: bool) -> Statement {
    let own = frame.column("t", id);
    let mut ctes = Ctes::default();
    let rows = frame.rows(&frame.people().name, "t").item(own.clone(), id).item(count_rows(), "n_rows");
    ctes.add("rows_of", rows.group_by([own]));
    let (said, n_rows) = (frame.column("g", PERSONS), col("rows_of.n_rows"));
    let mut wrong =
        vec![said.clone().missing(), said.clone().less(int(1)), said.clone().greater(or_zero(n_rows.clone()))];
    if rows_known {
        wrong.push(n_rows.clone().modulo(said.clone().or_null()).greater(int(0)));
    }
    let rows = frame.rows(GROUPS, "g").left_join("rows_of", frame.column("g", id).eq(col(&format!("rows_of.{id}"))));
    let rows = rows.item(frame.column("g", id), id).item(said, "persons").item(n_rows, "n_rows");
    let word = frame.layout.shape.group_word;
    let equal = if rows_known { ", all with equally many of them" } else { "" };
    check(
        "check/persons/possible",
        format!(
            "every {word} has at least one person and no more persons than rows{equal}. A row is a {word} for which that is not true."
        ),
        ctes,
        rows.filter(Some(any(wrong))),
    )
}

/// All persons together are as many as the manifest says.
fn total(frame: &Frame<'_>, count: u64) -> Statement {
    let found = or_zero(sum(frame.column("g", PERSONS)));
    let rows = frame.rows(GROUPS, "g").item(found.clone(), "found").item(int(count), "said");
    check(
        "check/persons/total",
        format!("`{GROUPS}` has as many persons as the manifest says. A row says how many it has instead."),
        Ctes::default(),
        rows.having(found.differs(int(count))),
    )
}

/// The persons beside a count have rows with the value, and belong to the group.
fn of_values(frame: &Frame<'_>, id: &str, at: usize, table: &TableLayout) -> Statement {
    let mut ctes = Ctes::default();
    Seen::new(frame, Sight::Groups).add_persons(&mut ctes);
    let (said, count) = (frame.column("t", PERSONS), frame.column("t", COUNT));
    let (persons, n_rows) = (col("persons_of.persons"), col("persons_of.n_rows"));
    let is_equal = n_rows.clone().modulo(persons.clone()).eq(int(0));
    let wrong = any(vec![
        said.clone().missing(),
        said.clone().less(int(1)),
        said.clone().greater(count.clone()),
        said.clone().greater(persons.clone()),
        // So many persons, with equally many rows each, have not that many rows.
        all(vec![is_equal, (count.clone() * persons.clone()).greater(said.clone() * n_rows)]),
    ]);
    let rows =
        frame.rows(&table.name, "t").join("persons_of", frame.column("t", id).eq(col(&format!("persons_of.{id}"))));
    let rows = rows.item(frame.column("t", id), id).item(count.clone(), "n_rows").item(said, "persons");
    let believed = frame.is_possible(count).and(persons.greater(int(0)));
    check(
        frame.named("check/persons/values", &frame.attribute(at).name),
        format!(
            "the persons whom `{}` counts beside a value can have that many rows with it. A row is a value for which they cannot.",
            table.name
        ),
        ctes,
        rows.filter(Some(believed.and(wrong))),
    )
}

/// Everybody of a group has some value.
fn having_a_value(frame: &Frame<'_>, id: &str, at: usize, table: &TableLayout) -> Statement {
    let mut ctes = Ctes::default();
    Seen::new(frame, Sight::Groups).add_persons(&mut ctes);
    let (own, said) = (frame.column("t", id), frame.column("t", PERSONS));
    let having = sum(case(said.clone().greater(int(0)), said, int(0)));
    ctes.add("having_one", frame.rows(&table.name, "t").item(own.clone(), id).item(having, "n").group_by([own]));
    let (key, persons) = (col(&format!("persons_of.{id}")), col("persons_of.persons"));
    let rows = Rows::of("persons_of").left_join("having_one", col(&format!("having_one.{id}")).eq(key.clone()));
    let n: X = or_zero(col("having_one.n"));
    let rows = rows.item(key, id).item(persons.clone(), "persons").item(n.clone(), "having_a_value");
    check(
        frame.named("check/persons/everybody", &frame.attribute(at).name),
        format!("in `{}`, everybody of a group has a value. A row is a group with persons who have none.", table.name),
        ctes,
        rows.filter(Some(n.less(persons))),
    )
}

/// All rows of a person are in one bucket, so the rows of a batch in a bucket are those of whole persons.
fn in_buckets(frame: &Frame<'_>, id: &str, table: &TableLayout, rows_known: bool) -> Statement {
    let mut ctes = Ctes::default();
    Seen::new(frame, Sight::Groups).add_each(&mut ctes);
    let own = frame.column("t", id);
    let cells: Vec<X> = frame.cells(table, |_| true).map(|name| frame.column("t", name)).collect();
    let rows = frame.rows(&table.name, "t").item(own.clone(), id).item(count_rows(), "n");
    ctes.add("pieces", rows.group_by(std::iter::once(own).chain(cells)));
    let (n, n_rows) = (col("pieces.n"), col("each_person.n_rows"));
    let is_part = n.clone().differs(n_rows);
    let of_whole = n.modulo(col("each_person.rows_each")).differs(int(0));
    let wrong = if rows_known { is_part.and(of_whole) } else { is_part };
    let on = col(&format!("pieces.{id}")).eq(col(&format!("each_person.{id}")));
    let rows = columns_of("pieces", &[id, "n"]).join("each_person", on).filter(Some(wrong));
    check(
        format!("check/persons/buckets/{}", table.name),
        format!(
            "the rows of a batch that show the same cells in `{}` are those of whole persons. A row is a batch for which they are not.",
            table.name
        ),
        ctes,
        rows,
    )
}
