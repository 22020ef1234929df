//! Whether the tables have the rows, groups and counts that the manifest says, and agree with each other.

use chrysalis_dialect::expr::{X, any, case, col, count_distinct, count_rows, int, sum};
use chrysalis_dialect::select::{Ctes, Rows};
use chrysalis_release::{COUNT, COUNTERFEITS, Cell, Detail, Holds, RoleName, TableLayout};

use crate::Statement;
use crate::frame::{Frame, call_max, call_min, check, column_of, columns_of, flag, undecided};

pub(crate) fn statements(frame: &Frame<'_>) -> Vec<Statement> {
    let mut all = vec![rows(frame)];
    all.extend(groups(frame));
    all.extend(frame.with_role(RoleName::Sensitive).filter_map(|at| sizes(frame, at)));
    all.extend(frame.with_role(RoleName::Sensitive).flat_map(|at| counts(frame, at)));
    all.extend(together(frame));
    all.extend(ids(frame));
    all
}

/// What the tables in a database cannot show.
pub(crate) fn left_out(frame: &Frame<'_>) -> Vec<Statement> {
    let mut all = vec![
        undecided(
            "check/row order",
            "tables in a database have no order; in the files, rows must be in canonical order.",
        ),
        undecided(
            "check/files",
            "the bytes of the files and their hashes are not in the database; load the tables from the files of the \
             release, and compare the SHA-256 of each with the manifest.",
        ),
        undecided(
            "check/manifest",
            "whether the manifest says nothing beyond what its form calls for does not depend on the tables; what does \
             depend on them is checked above.",
        ),
    ];
    if frame.layout.shape.detail == Detail::RowBoxes && frame.layout.people().count() > 1 {
        all.push(undecided(
            "check/marginals",
            "whether the rows of a batch in one table can be those of the same people in another is a matching problem.",
        ));
    }
    all
}

/// The name of the audit's check of groups.
pub(crate) fn groups_check(frame: &Frame<'_>) -> &'static str {
    if frame.layout.shape.detail == Detail::RowBoxes { "batches" } else { "groups" }
}

/// Every table has as many rows as the manifest says.
fn rows(frame: &Frame<'_>) -> Statement {
    // In a series, some rows of people may be nobody's: see `series`.
    let people = (frame.people().name.as_str(), frame.manifest.rows);
    let mut listed: Vec<(&str, u64)> = Some(people).filter(|_| frame.manifest.series.is_none()).into_iter().collect();
    listed.extend(frame.manifest.tables.iter().map(|table| (table.name.as_str(), table.rows)));
    let count = |&(name, rows): &(&str, u64)| {
        let counted = frame.rows(name, "t").item(frame.dialect.text(name), "table_name");
        counted.item(count_rows(), "found").item(int(rows), "listed")
    };
    let mut ctes = Ctes::default();
    listed.dedup();
    ctes.add_union("tables", listed.iter().map(count).collect());
    let rows = columns_of("tables", &["table_name", "found", "listed"]);
    check(
        "check/tables",
        "every table has as many rows as the manifest lists. A row is a table with another number of them. (A table or a \
         column that is not there is an error of the database; further columns are not seen.)",
        ctes,
        rows.filter(Some(col("tables.found").differs(col("tables.listed")))),
    )
}

/// Every row has an id, and there are as many ids as the manifest says.
fn groups(frame: &Frame<'_>) -> Vec<Statement> {
    let (Some(id), name) = (frame.id(), groups_check(frame)) else { return Vec::new() };
    let word = frame.layout.shape.group_word;
    let has_id = |table: &&TableLayout| match frame.layout.shape.detail {
        Detail::RowBoxes => matches!(table.holds, Holds::People | Holds::Values),
        Detail::Exact | Detail::Permuted | Detail::GroupBoxes => table.name == frame.people().name,
    };
    let lost = |table: &TableLayout| {
        let own = frame.column("t", id);
        let rows = frame.rows(&table.name, "t").item(frame.dialect.text(&table.name), "table_name");
        rows.item(count_rows(), "n_rows").filter(Some(own.missing()))
    };
    let mut ctes = Ctes::default();
    ctes.add_union("lost", frame.layout.tables.iter().filter(has_id).map(lost).collect());
    let rows = columns_of("lost", &["table_name", "n_rows"]).filter(Some(col("lost.n_rows").greater(int(0))));
    let mut all = vec![check(
        format!("check/{name}/missing"),
        format!("every row has a {word} id. A row is a table with rows that have none."),
        ctes,
        rows,
    )];
    let groups = int(frame.manifest.groups);
    let counted = frame.with_role(RoleName::Sensitive).next().and_then(|at| frame.layout.values_of(at));
    let rows = match (frame.layout.shape.detail, counted) {
        (Detail::RowBoxes, Some(table)) => {
            let count = frame.column("t", column_of(table, Cell::Count).unwrap_or_default());
            frame.rows(&table.name, "t").filter(Some(frame.is_possible(count)))
        }
        _ => frame.rows(&frame.people().name, "t"),
    };
    let n = count_distinct(frame.column("t", id));
    let rows = rows.item(n.clone(), "found").item(groups.clone(), "listed").having(n.differs(groups));
    let about = format!("there are as many {word} ids as the manifest says. A row says how many there are instead.");
    all.push(check(format!("check/{name}/number"), about, Ctes::default(), rows));
    all
}

/// The ids of the table of people and of the table of values are the same, and so are the sizes.
fn sizes(frame: &Frame<'_>, at: usize) -> Option<Statement> {
    let (id, values) = (frame.id()?, frame.layout.values_of(at)?);
    if !frame.is_counted() {
        return None;
    }
    let word = frame.layout.shape.group_word;
    let count = frame.column("t", column_of(values, Cell::Count)?);
    let believed = case(frame.is_possible(count.clone()), count, int(0));
    let mut ctes = Ctes::default();
    let tables: Vec<&TableLayout> = frame.layout.people().collect();
    for (number, people) in tables.iter().enumerate() {
        let own = frame.column("t", id);
        let rows = frame.rows(&people.name, "t").item(own.clone(), id).item(count_rows(), "n_rows");
        let rows =
            rows.item(int(0), "n_values").item(int(0), "n_lines").item(int(0), "n_false").group_by([own.clone()]);
        let of_values = frame.rows(&values.name, "t").item(own.clone(), id).item(int(0), "n_rows");
        let of_values = of_values.item(sum(believed.clone()), "n_values").item(count_rows(), "n_lines");
        let of_values = of_values.item(int(0), "n_false").group_by([own]);
        // In a series, some of the values are nobody's.
        let of_nobody = frame.manifest.series.as_ref().map(|_| {
            let (own, count) = (frame.column("t", id), frame.column("t", COUNT));
            let rows = frame.rows(COUNTERFEITS, "t").filter(Some(count.clone().greater(int(0))));
            let rows =
                rows.item(own.clone(), id).item(int(0), "n_rows").item(int(0), "n_values").item(int(0), "n_lines");
            rows.item(call_max(count), "n_false").group_by([own])
        });
        let both = format!("both_{number}");
        ctes.add_union(&both, [rows, of_values].into_iter().chain(of_nobody).collect());
        let of = |name: &str| col(&format!("{both}.{name}"));
        let (n_rows, n_values, n_lines) = (sum(of("n_rows")), sum(of("n_values")), sum(of("n_lines")));
        let rows = Rows::of(&both).item(frame.dialect.text(&people.name), "table_name").item(of(id), id);
        let rows = rows.item(n_rows.clone(), "n_rows").item(n_values.clone(), "n_values").group_by([of(id)]);
        let is_there = (n_rows.clone() + n_lines.clone()).greater(int(0));
        let differs = (n_rows.clone() + sum(of("n_false"))).differs(n_values);
        let wrong = is_there.and(any(vec![differs, n_rows.eq(int(0)), n_lines.eq(int(0))]));
        ctes.add(&format!("different_{number}"), rows.having(wrong));
    }
    let names = ["table_name", id, "n_rows", "n_values"];
    let parts = (0..tables.len()).map(|number| columns_of(&format!("different_{number}"), &names)).collect();
    ctes.add_union("different", parts);
    Some(check(
        frame.named(&format!("check/{}/sizes", groups_check(frame)), &frame.attribute(at).name),
        format!(
            "every {word} has as many rows in every table of people as `{}` counts values in it. A row is a {word} of \
             two sizes, or in one table only.",
            values.name
        ),
        ctes,
        columns_of("different", &names),
    ))
}

/// Counts are positive and no larger than the release, and no group lists a value twice.
fn counts(frame: &Frame<'_>, at: usize) -> Vec<Statement> {
    let Some((id, values)) = frame.id().zip(frame.layout.values_of(at)).filter(|_| frame.is_counted()) else {
        return Vec::new();
    };
    let name = &frame.attribute(at).name;
    let count = frame.column("t", column_of(values, Cell::Count).unwrap_or_default());
    let (own, value) = (frame.column("t", id), frame.column("t", name));
    let rows = frame.rows(&values.name, "t").item(own.clone(), id).item(count.clone(), "n");
    let wrong = count.clone().missing().or(frame.is_possible(count).negated());
    let word = frame.layout.shape.group_word;
    let possible = check(
        frame.named("check/counts/possible", name),
        format!(
            "every count of `{}` is at least 1, and no larger than the release. A row is another count.",
            values.name
        ),
        Ctes::default(),
        rows.filter(Some(wrong)),
    );
    let rows = frame.rows(&values.name, "t").item(own.clone(), id).item(count_rows(), "lines");
    let twice = check(
        frame.named("check/counts/twice", name),
        format!("no {word} lists a value of `{name}` twice. A row is a {word} that does."),
        Ctes::default(),
        rows.group_by([own, value]).having(count_rows().greater(int(1))),
    );
    vec![possible, twice]
}

/// The counts of combinations agree with those of each attribute.
fn together(frame: &Frame<'_>) -> Vec<Statement> {
    let mut all = Vec::new();
    for set in frame.manifest.together_sets() {
        let (Some(table), Some(id)) = (frame.layout.combinations_of(&set), frame.id()) else { continue };
        let (own, count) = (frame.column("t", id), frame.column("t", chrysalis_release::COUNT));
        let names: Vec<&str> = set.iter().map(|&at| frame.attribute(at).name.as_str()).collect();
        let keys = || std::iter::once(own.clone()).chain(names.iter().map(|name| frame.column("t", name)));
        let rows = frame.rows(&table.name, "t").item(own.clone(), id).item(count_rows(), "lines");
        let impossible = call_max(flag(count.clone().missing().or(count.clone().less(int(1)))));
        let wrong = count_rows().greater(int(1)).or(impossible.greater(int(0)));
        all.push(check(
            format!("check/together/{}/lines", names.join(",")),
            format!(
                "`{}` lists every combination of a group once, with a positive count. A row is one that it does not.",
                table.name
            ),
            Ctes::default(),
            rows.group_by(keys()).having(wrong),
        ));
        for &at in &set {
            let Some(values) = frame.layout.values_of(at) else { continue };
            let name = &frame.attribute(at).name;
            let mut ctes = Ctes::default();
            let value = frame.column("t", name);
            let of_table = |table: &str, sign: i64| {
                let n = case(count.clone().greater(int(0)), count.clone() * int(sign), int(0));
                frame.rows(table, "t").item(own.clone(), id).item(value.clone(), "value").item(n, "n")
            };
            ctes.add_union("sides", vec![of_table(&values.name, 1), of_table(&table.name, -1)]);
            let (key, value) = (col(&format!("sides.{id}")), col("sides.value"));
            let rows = Rows::of("sides").item(key.clone(), id).item(sum(col("sides.n")), "too_many");
            all.push(check(
                format!("check/together/{}/{name}", names.join(",")),
                format!(
                    "`{}` counts every value of `{name}` in a group as often as `{}` does. A row is a group and how many \
                     more `{}` counts of one value.",
                    table.name, values.name, values.name
                ),
                ctes,
                rows.group_by([key, value]).having(sum(col("sides.n")).differs(int(0))),
            ));
        }
    }
    all
}

/// Ids are the numbers from 1 on, in every table that has them.
fn ids(frame: &Frame<'_>) -> Option<Statement> {
    let id = frame.id()?;
    let own = || frame.column("t", id);
    // Groups without counterfeits are not listed among them.
    let has_id = |table: &&TableLayout| table.holds != Holds::Counterfeits && column_of(table, Cell::GroupId).is_some();
    let of_table = |table: &TableLayout| {
        let rows = frame.rows(&table.name, "t").item(frame.dialect.text(&table.name), "table_name");
        let rows = rows.item(call_min(own()), "least").item(call_max(own()), "greatest");
        rows.item(count_distinct(own()), "different")
    };
    let mut ctes = Ctes::default();
    ctes.add_union("ids", frame.layout.tables.iter().filter(has_id).map(of_table).collect());
    let wrong: Vec<X> = vec![col("ids.least").differs(int(1)), col("ids.greatest").differs(col("ids.different"))];
    let rows = columns_of("ids", &["table_name", "least", "greatest", "different"]).filter(Some(any(wrong)));
    let word = frame.layout.shape.group_word;
    let about =
        format!("the {word} ids of every table are the numbers from 1 on. A row is a table where they are not.");
    Some(check("check/ids", about, ctes, rows))
}
