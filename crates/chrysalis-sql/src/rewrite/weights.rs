//! Sums of survey weights (step 7a).
//!
//! Weights differ from row to row, so the chain of CTEs that counts hits is of no use: it is the rows themselves that are
//! ranked. Columns of `merged` are the keys, `we` (the estimate), `wl` and `wu` (the bounds) and `wv` (the variance).

use chrysalis_query::question::Function;
use chrysalis_query::{Plan, QueryError};
use chrysalis_release::Detail;

use super::expr::{Direction, X, call, case, cases, col, count_rows, int, sum};
use super::select::Rows;
use super::{CountedValues, Writer, hits};

/// Whether a plan has sums of weights beside other aggregates, which are then written apart.
pub(super) fn is_mixed(plan: &Plan) -> bool {
    let n = plan.aggregates.iter().filter(|aggregate| plan.weighs(aggregate)).count();
    n > 0 && n < plan.aggregates.len()
}

/// Refuses what is not rewritten.
pub(super) fn check(writer: &Writer<'_>) -> Result<(), QueryError> {
    let refuse = |problem: &str, hint: &str| {
        Err(QueryError::Question { at: None, problem: problem.to_owned(), hint: hint.into() })
    };
    let aggregates = &writer.plan.aggregates;
    if aggregates.iter().any(|aggregate| writer.plan.weighs(aggregate) && aggregate.function != Function::Sum) {
        return refuse("of a weight, only SUM is rewritten as SQL", "ask the release itself");
    }
    if !aggregates.iter().all(|aggregate| writer.plan.weighs(aggregate)) {
        let problem = "a sum of weights is not rewritten as SQL beside other aggregates";
        return refuse(problem, "ask for it in a question of its own, or ask the release itself");
    }
    if writer.is_thinned() {
        let problem = "a sum of weights with conditions on several sensitive columns is not rewritten as SQL";
        return refuse(problem, "ask the release itself");
    }
    match writer.plan.shape.detail {
        Detail::Exact => Ok(()),
        Detail::GroupBoxes if !asks_values(writer) || writer.plan.has_weights_beside_values() => Ok(()),
        Detail::GroupBoxes | Detail::RowBoxes | Detail::Permuted => {
            let problem = "the weights of this release stand in other rows than the values asked for, and such a sum is \
                           not rewritten as SQL";
            refuse(problem, "ask the release itself")
        }
    }
}

/// Whether sensitive values decide which rows count.
fn asks_values(writer: &Writer<'_>) -> bool {
    !writer.is_full(CountedValues::Where)
}

/// Writes `merged` and the CTEs it needs.
pub(super) fn write(writer: &mut Writer<'_>) -> Result<&'static str, QueryError> {
    if writer.is_exact() && asks_values(writer) {
        matched(writer);
        sizes(writer);
        weighed(writer);
        return Ok(merge(writer));
    }
    if writer.is_exact() || !writer.has_hits() {
        known(writer);
        return Ok("merged");
    }
    hits::write(writer)?;
    boxed(writer);
    Ok(merge(writer))
}

fn weight(writer: &Writer<'_>, alias: &str) -> X {
    // PROOF: only called for plans with a weight.
    let name = writer.plan.weight().map_or("", |field| &writer.fields()[field].name);
    writer.dialect.double(writer.column(alias, name))
}

/// Adds up the groups of `weighed`.
fn merge(writer: &mut Writer<'_>) -> &'static str {
    let mut rows = Rows::of("weighed").items(writer.key_items("weighed")).group_by(writer.keys("weighed"));
    for name in ["we", "wl", "wu", "wv"] {
        rows = rows.item(sum(col(&format!("weighed.{name}"))), name);
    }
    writer.ctes.add("merged", rows);
    "merged"
}

/// Rows that are known to count, or not to: their weights are added up.
fn known(writer: &mut Writer<'_>) {
    let mut rows = hits::matches(writer);
    if asks_values(writer) {
        // PROOF: values stand beside the weights, and there is no condition on quasi attributes.
        let field = writer.plan.sensitive.map_or("", |field| &writer.fields()[field].name);
        rows = rows.filter(writer.counts_at(&writer.column("q", field)));
        if let Some(at) = writer.sensitive_key() {
            let key = || writer.column("q", field);
            rows = rows.item(key(), &format!("k{at}")).group_by([key()]);
        }
    }
    for name in ["we", "wl", "wu"] {
        rows = rows.item(sum(weight(writer, "q")), name);
    }
    let rows = rows.item(writer.dialect.double(int(0)), "wv");
    writer.ctes.add("merged", rows);
}

/// Writes `matched`: the rows that match on the quasi side, with their ranks by weight in both directions, and with how
/// many rows of the group and the keys there are (`h`) and what they weigh on average (`m`).
fn matched(writer: &mut Writer<'_>) {
    let group = writer.group("q");
    let keys: Vec<(usize, X)> = writer
        .quasi_keys()
        .into_iter()
        .map(|(at, field)| (at, writer.column("q", &writer.fields()[field].name)))
        .collect();
    let by: Vec<X> = std::iter::once(group.clone()).chain(keys.iter().map(|(_, key)| key.clone())).collect();
    let w = || weight(writer, "q");
    let rank = |direction| call("ROW_NUMBER", Vec::new()).over(&by, [(w(), direction)]);
    let mut rows = hits::matching(writer).item(group, "g");
    for (at, key) in keys {
        rows = rows.item(key, &format!("k{at}"));
    }
    rows = rows.item(w(), "w").item(rank(Direction::Up), "up").item(rank(Direction::Down), "down");
    rows = rows.item(writer.dialect.double(count_rows().over(&by, None)), "h");
    rows = rows.item(call("AVG", vec![w()]).over(&by, None), "m");
    writer.ctes.add("matched", rows);
}

/// Writes `sizes`: how many values a group has (`n`) and how many of them count (`c`), or with a sensitive key, how
/// often each of those occurs.
fn sizes(writer: &mut Writer<'_>) {
    let values = writer.values();
    let group = writer.group("s");
    let scan = || Rows::of_table(writer.dialect, &values.table, "s").item(group.clone(), "g");
    let whole = scan().item(writer.occurrences(None), "n").group_by([group.clone()]);
    let Some(at) = writer.sensitive_key() else {
        let rows = whole.item(writer.occurrences(writer.counts(CountedValues::Where)), "c");
        return writer.ctes.add("sizes", rows);
    };
    let each = scan().item(values.value.clone(), "k").filter(writer.counts(CountedValues::Where));
    let each = each.item(writer.occurrences(None), "c").group_by([group.clone(), values.value.clone()]);
    writer.ctes.add("group_sizes", whole);
    writer.ctes.add("value_sizes", each);
    let rows = Rows::of("value_sizes").join("group_sizes", col("group_sizes.g").eq(col("value_sizes.g")));
    let rows = rows.item(col("value_sizes.g"), "g").item(col("value_sizes.k"), &format!("k{at}"));
    writer.ctes.add("sizes", rows.item(col("group_sizes.n"), "n").item(col("value_sizes.c"), "c"));
}

/// Writes `weighed` from `matched` and `sizes`: c of a group's n rows count, and which they are is unknown.
fn weighed(writer: &mut Writer<'_>) {
    let (w, h, m) = (|| col("matched.w"), || col("matched.h"), || col("matched.m"));
    let (n, c) = (|| col("sizes.n"), || col("sizes.c"));
    let mut rows = Rows::of("matched").join("sizes", col("sizes.g").eq(col("matched.g")));
    rows = rows.filter(Some(c().greater(int(0))));
    for at in 0..writer.plan.keys.len() {
        let table = if writer.sensitive_key() == Some(at) { "sizes" } else { "matched" };
        let key = || col(&format!("{table}.k{at}"));
        rows = rows.item(key(), &format!("k{at}")).group_by([key()]);
    }
    rows = rows.group_by([col("matched.g"), h(), m(), n(), c()]);
    let when = |test: X| sum(case(test, w(), int(0)));
    // Σ(w − A/n)² over the n rows, of which n − h weigh nothing here: no sum of squares is subtracted from another.
    let squares = sum((w() - m()).squared()) + h() * m().squared() * (n() - h()) / n();
    let per_pair = c() * (n() - c()) / (n() * (n() - int(1))).or_null();
    let variance = cases(vec![(n().greater(int(1)), per_pair * squares)], Some(int(0)));
    let rows = rows
        .item(sum(w()) * c() / n(), "we")
        .item(when(col("matched.up").at_most(h() + c() - n())), "wl")
        .item(when(col("matched.down").at_most(c())), "wu")
        .item(writer.dialect.double(variance), "wv");
    writer.ctes.add("weighed", rows);
}

/// Writes `weighed` from `hits` and the rows of boxes: each row matches independently of the others.
fn boxed(writer: &mut Writer<'_>) {
    let dialect = writer.dialect;
    let field = writer.plan.sensitive.map_or("", |field| &writer.fields()[field].name);
    let w = || weight(writer, "q");
    let hit = writer.hit("hits", 0);
    let share = |x: X| x / col("hits.n");
    let mut rows =
        Rows::of("hits").join_table(dialect, writer.plan.shape.people, "q", col("hits.g").eq(writer.group("q")));
    rows = rows.filter(Some(hit.most.clone().greater(int(0))));
    if asks_values(writer) {
        rows = rows.filter(writer.counts_at(&writer.column("q", field)));
    }
    for at in 0..writer.plan.keys.len() {
        let is_sensitive = writer.sensitive_key() == Some(at);
        let key = if is_sensitive { writer.column("q", field) } else { col(&format!("hits.k{at}")) };
        rows = rows.item(key, &format!("k{at}"));
    }
    let variance = hit.variance.map_or_else(|| int(0), |variance| w().squared() * share(variance));
    let rows = rows
        .item(w() * share(hit.expected), "we")
        .item(case(hit.least.greater(int(0)), w(), dialect.double(int(0))), "wl")
        .item(w(), "wu")
        .item(dialect.double(variance), "wv");
    writer.ctes.add("weighed", rows);
}
