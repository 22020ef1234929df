//! What a release of a series adds: groups may show counterfeit values, which nobody has.

use chrysalis_dialect::expr::{X, all, any, case, col, count_rows, int, or_zero, sum};
use chrysalis_dialect::select::{Ctes, Rows};
use chrysalis_release::{COUNT, COUNTERFEITS, RoleName};

use crate::Statement;
use crate::frame::{Frame, call_max, call_min, check, column_of, columns_of, undecided};
use chrysalis_release::Cell;

pub(crate) fn statements(frame: &Frame<'_>) -> Vec<Statement> {
    let Some((id, at)) = frame.id().zip(frame.with_role(RoleName::Sensitive).next()) else { return Vec::new() };
    if frame.manifest.series.is_none() {
        return Vec::new();
    }
    vec![
        counts(frame, id),
        groups(frame, id, at),
        people(frame),
        undecided(
            "check/series/people",
            "whether everybody's group shows the same values in every release takes the other releases, and who is in them.",
        ),
    ]
}

/// Every line of `counterfeits` counts the counterfeits of one group.
fn counts(frame: &Frame<'_>, id: &str) -> Statement {
    let (own, count) = (frame.column("f", id), frame.column("f", COUNT));
    let mut ctes = Ctes::default();
    let of_people = frame.rows(&frame.people().name, "t").item(frame.column("t", id), id);
    ctes.add("known", of_people.distinct());
    let rows = frame.rows(COUNTERFEITS, "f").item(own.clone(), id).item(count_rows(), "lines");
    let rows = rows.item(call_min(count.clone()), "least").item(sum(count.clone()), "n");
    ctes.add("listed", rows.item(sum(missing(count)), "unknown").group_by([own]));
    let of = |name: &str| col(&format!("listed.{name}"));
    let rows = Rows::of("listed").left_join("known", col(&format!("known.{id}")).eq(of(id)));
    let wrong = any(vec![
        col(&format!("known.{id}")).missing(),
        of("lines").greater(int(1)),
        of("unknown").greater(int(0)),
        of("least").less(int(1)),
    ]);
    let rows = rows.item(of(id), id).item(of("lines"), "n_lines").item(of("n"), "counterfeits");
    check(
        "check/series/counts",
        format!(
            "every line of `{COUNTERFEITS}` names another group of the release, and counts at least one counterfeit. A row is a \
             group of which that is not true."
        ),
        ctes,
        rows.filter(Some(wrong)),
    )
}

fn missing(x: X) -> X {
    case(x.missing(), int(1), int(0))
}

/// Every group has a real row, shows its values equally often, and counterfeits make up the difference between rows and
/// values.
fn groups(frame: &Frame<'_>, id: &str, at: usize) -> Statement {
    let mut ctes = Ctes::default();
    let (own, people) = (frame.column("t", id), &frame.people().name);
    let zero = |rows: Rows, names: &[&str]| names.iter().fold(rows, |rows, name| rows.item(int(0), name));
    let rows = frame.rows(people, "t").item(own.clone(), id).item(count_rows(), "n_rows").group_by([own.clone()]);
    let mut sides = vec![zero(rows, &["n_values", "n_shown", "least", "most", "n_false"])];
    // How often each value of a group is shown.
    let value = frame.column("t", &frame.attribute(at).name);
    let counted = frame.layout.values_of(at).filter(|_| frame.is_counted());
    let times = match counted {
        Some(values) => {
            let n = frame.column("t", column_of(values, Cell::Count).unwrap_or(COUNT));
            frame.rows(&values.name, "t").item(sum(case(n.clone().greater(int(0)), n, int(0))), "n")
        }
        None => frame.rows(people, "t").item(count_rows(), "n"),
    };
    ctes.add("times", times.item(own.clone(), id).group_by([own.clone(), value]));
    let n = || col("times.n");
    let rows = Rows::of("times").item(col(&format!("times.{id}")), id).item(int(0), "n_rows");
    let rows = rows.item(count_rows(), "n_values").item(sum(n()), "n_shown").item(call_min(n()), "least");
    let rows = rows.item(call_max(n()), "most").item(int(0), "n_false");
    sides.push(rows.group_by([col(&format!("times.{id}"))]));
    let count = frame.column("t", COUNT);
    let rows = frame.rows(COUNTERFEITS, "t").filter(Some(count.clone().greater(int(0)))).item(own.clone(), id);
    let rows = zero(rows, &["n_rows", "n_values", "n_shown", "least", "most"]).item(call_max(count), "n_false");
    sides.push(rows.group_by([own]));
    ctes.add_union("sides", sides);
    let of = |name: &str| col(&format!("sides.{name}"));
    let whole = |name: &str| or_zero(sum(of(name)));
    let rows = Rows::of("sides").item(of(id), id).item(whole("n_rows"), "n_rows");
    let rows = rows.item(whole("n_values"), "n_values").item(whole("n_shown"), "n_shown");
    let rows = rows.item(whole("n_false"), "counterfeits").item(whole("least"), "least");
    ctes.add("groups_shown", rows.item(whole("most"), "most").group_by([of(id)]));
    let of = |name: &str| col(&format!("groups_shown.{name}"));
    // Where values stand beside rows, some of the rows are counterfeits'.
    let wrong = match counted {
        Some(_) => any(vec![of("n_rows").eq(int(0)), (of("n_rows") + of("counterfeits")).differs(of("n_shown"))]),
        None => of("n_rows").at_most(of("counterfeits")),
    };
    let is_even = all(vec![of("least").eq(of("most")), of("least").greater(int(0))]);
    let wrong = any(vec![wrong, is_even.negated(), of("n_values").less(int(least(frame)))]);
    check(
        "check/series/groups",
        format!(
            "every group has a row that is somebody's, and shows at least {} values, all equally often; counterfeits make up \
             the difference to its rows. A row is a group of which that is not true.",
            least(frame)
        ),
        ctes,
        columns_of("groups_shown", &[id, "n_rows", "n_values", "n_shown", "counterfeits", "least", "most"])
            .filter(Some(wrong)),
    )
}

/// Adds `sizes`: how many people every group has, counterfeits not counted.
pub(crate) fn add_people(frame: &Frame<'_>, id: &str, ctes: &mut Ctes) {
    let (key, people) = (frame.column("v", id), &frame.people().name);
    let side = |rows: Rows, n_rows: X, n_false: X, is_group: i64| {
        rows.item(n_rows, "n_rows").item(n_false, "n_false").item(int(is_group), "is_group")
    };
    let keyed = |table: &str| frame.rows(table, "v").item(key.clone(), id);
    let mut sides = vec![side(keyed(people), count_rows(), int(0), 1).group_by([key.clone()])];
    let values = frame.with_role(RoleName::Sensitive).next().and_then(|at| frame.layout.values_of(at));
    match values.filter(|_| frame.is_counted()) {
        // Rows are people, and a group that only has values has nobody.
        Some(values) => sides.push(side(keyed(&values.name), int(0), int(0), 1).group_by([key.clone()])),
        None => {
            let count = frame.column("v", COUNT);
            let rows = keyed(COUNTERFEITS).filter(Some(count.clone().greater(int(0))));
            sides.push(side(rows, int(0), call_min(count), 0).group_by([key.clone()]));
        }
    }
    ctes.add_union("size_sides", sides);
    let of = |name: &str| col(&format!("size_sides.{name}"));
    let rows = Rows::of("size_sides").item(of(id), id).item(sum(of("n_rows")) - sum(of("n_false")), "size");
    ctes.add("sizes", rows.group_by([of(id)]).having(sum(of("is_group")).greater(int(0))));
}

/// The number of values that is promised of every group.
fn least(frame: &Frame<'_>) -> i64 {
    let of_promise = frame.manifest.promises.iter().filter_map(|promise| match promise.principle() {
        chrysalis_criteria::PrincipleSpec::MInvariance { m } => i64::try_from(*m).ok(),
        _ => None,
    });
    of_promise.max().unwrap_or(1)
}

/// The table of people has the rows that the manifest counts and, where values stand beside them, counterfeits.
fn people(frame: &Frame<'_>) -> Statement {
    let mut ctes = Ctes::default();
    let of = &frame.people().name;
    ctes.add("rows_of", frame.rows(of, "t").item(count_rows(), "found"));
    ctes.add("false_rows", frame.rows(COUNTERFEITS, "t").item(or_zero(sum(frame.column("t", COUNT))), "n"));
    let rows = int(frame.manifest.rows);
    let expected = if frame.is_counted() { rows } else { rows + col("false_rows.n") };
    let rows = Rows::of("rows_of").cross("false_rows", "false_rows").item(col("rows_of.found"), "found");
    check(
        "check/series/rows",
        format!(
            "`{of}` has a row for everybody, and where values stand beside rows, one for every counterfeit. A row says how \
                 many it has instead."
        ),
        ctes,
        rows.item(expected.clone(), "expected").filter(Some(all(vec![col("rows_of.found").differs(expected)]))),
    )
}
