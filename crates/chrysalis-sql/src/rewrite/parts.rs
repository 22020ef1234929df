//! The parts of an answer, and the answer (steps 7 and 8).

use chrysalis_release::RoleName;
use chrysalis_table::Kind;
use sqlparser::ast::{Ident, OrderByExpr};

use super::expr::{Direction, X, call, case, cases, col, int, null, or_zero, ordered, sum};
use super::select::Rows;
use super::{CountedValues, NUMERIC, Writer, cells, extremes, help, hits, pool, weights};
use chrysalis_query::question::Function;
use chrysalis_query::{PlannedAggregate, QueryError};

/// Rows by key: the CTE they come from, and its columns other than the keys.
struct KeyedRows {
    table: String,
    items: Vec<(X, String)>,
}

/// What the answer is read from: one row per key, or rows to be summed.
pub(super) struct Source {
    rows: Rows,
    /// The sums as expressions, where no CTE has them as columns.
    sums: Vec<(X, String)>,
}

impl Source {
    fn cte(name: &str) -> Self {
        Source { rows: Rows::of_alias(name, "answer"), sums: Vec::new() }
    }

    fn column(&self, name: &str) -> X {
        let sum = self.sums.iter().find(|(_, known)| known == name);
        sum.map_or_else(|| col(&format!("answer.{name}")), |(x, _)| x.clone())
    }
}

/// Writes everything before the answer.
pub(super) fn source(writer: &mut Writer<'_>) -> Result<Source, QueryError> {
    if writer.plan.weight().is_some() {
        return weights::write(writer).map(Source::cte);
    }
    if writer.needs_values() && writer.is_helped() {
        help::write_hits(writer);
        let is_found = help::needs_numbers(writer);
        if is_found {
            help::write_found(writer);
        }
        if writer.plan.keys.is_empty() && writer.plan.aggregates.len() == 1 {
            // Without a CTE, DuckDB plans in a seventh less time, unless sums are needed more than once.
            let rows = if is_found { Rows::of("found") } else { help::joined(writer) };
            return Ok(Source { rows, sums: help::items(writer) });
        }
        let rows = help::part(writer);
        writer.ctes.add("helped", rows);
        return Ok(Source::cte("helped"));
    }
    merged(writer).map(Source::cte)
}

/// Writes the parts of the answer; returns the CTE with one row per key.
fn merged(writer: &mut Writer<'_>) -> Result<&'static str, QueryError> {
    if !writer.needs_values() && (writer.is_exact() || !writer.has_hits()) {
        return Ok(plain(writer));
    }
    if !writer.has_hits() {
        return Ok(whole(writer));
    }
    hits::write(writer)?;
    cells::write(writer);
    let mut parts = vec![KeyedRows { table: "cells".into(), items: counts_and_sums(writer) }];
    if writer.asks(&[Function::Avg]) && !writer.is_certain() {
        parts.push(ratio(writer));
    }
    if writer.asks(&NUMERIC) {
        pool::write(writer);
        let bounds = pool::bounds(writer);
        if !bounds.is_empty() {
            parts.push(KeyedRows { table: "pool".into(), items: bounds });
        }
        if writer.asks(&[Function::Avg]) && !writer.is_certain() {
            let (items, table) = pool::averages(writer);
            parts.push(KeyedRows { table: table.into(), items });
        }
        parts.extend(expectations(writer));
    }
    merge(writer, parts);
    Ok("merged")
}

/// For questions that only count rows.
fn plain(writer: &mut Writer<'_>) -> &'static str {
    let rows = hits::scan(writer);
    writer.ctes.add("counted", rows);
    let mut rows = Rows::of("counted").items(writer.key_items("counted"));
    for (condition, counted) in writer.pairs() {
        let name = format!("ce{condition}{}", counted.letter());
        rows = rows.item(col(&format!("counted.e{condition}")), &name);
    }
    writer.ctes.add("merged", rows);
    "merged"
}

/// For questions that every row satisfies: the sensitive values alone give the true answer, whatever the form.
fn whole(writer: &mut Writer<'_>) -> &'static str {
    let (dialect, values) = (writer.dialect, writer.values());
    let mut rows = Rows::of_table(dialect, &values.table, "s");
    if let Some(at) = writer.sensitive_key() {
        rows = rows.item(values.value.clone(), &format!("k{at}")).group_by([values.value.clone()]);
        rows = rows.filter(writer.counts(CountedValues::Where));
    }
    for (condition, counted) in writer.pairs() {
        let count = writer.occurrences(writer.counts(counted));
        rows = rows.item(count, &format!("ce{condition}{}", counted.letter()));
    }
    if writer.asks(&NUMERIC) {
        let y = || dialect.double(values.value.clone());
        let present = || writer.counts(writer.present());
        let weighted = || values.times.clone().map_or_else(y, |times| times * y());
        let same = [
            (&[Function::Sum, Function::Avg][..], 's', sum(weighted())),
            (&[Function::Min][..], 'n', call("MIN", vec![y()])),
            (&[Function::Max][..], 'x', call("MAX", vec![y()])),
        ];
        for (_, letter, x) in same.into_iter().filter(|(functions, ..)| writer.asks(functions)) {
            let items = ['e', 'l', 'u'].map(|end| (x.clone().filter(present()), format!("{letter}{end}")));
            rows = rows.items(items).item(dialect.double(int(0)), &format!("{letter}v"));
        }
    }
    writer.ctes.add("merged", rows);
    "merged"
}

/// Estimates, bounds and variances of counts, and estimates and variances of sums.
fn counts_and_sums(writer: &Writer<'_>) -> Vec<(X, String)> {
    let mut items = Vec::new();
    for (condition, counted) in writer.pairs() {
        let name = |letter: char| format!("c{letter}{condition}{}", counted.letter());
        let expected = writer.hit("cells", condition).expected;
        let share = || writer.counted("cells", counted) / col("cells.n");
        let estimate = if writer.is_full(counted) { expected } else { expected * share() };
        let (least, most) = writer.reach("cells", (condition, counted));
        let ends = writer.count_ends(counted).iter().zip([estimate, least, most]);
        items.extend(ends.map(|(letter, x)| (sum(x), name(*letter))));
        if let Some(variance) = writer.variance(condition, counted, None, None) {
            items.push((sum(variance), name('v')));
        }
    }
    if writer.asks(&[Function::Sum, Function::Avg]) {
        let estimate = writer.hit("cells", 0).expected * col("cells.sy") / col("cells.n");
        items.push((sum(estimate), "se".into()));
        let mean = col("cells.sy") / writer.counted("cells", writer.present()).or_null();
        if let Some(variance) = writer.variance(0, writer.present(), Some(&mean), Some(col("cells.dd"))) {
            items.push((sum(variance), "sv".into()));
        }
    }
    items
}

/// The variance of a ratio: the variance of the sum, over the hits, of their values' distances from the ratio.
fn ratio(writer: &mut Writer<'_>) -> KeyedRows {
    let present = writer.present();
    let keys = writer.keys("cells");
    let expected = || writer.hit("cells", 0).expected;
    let over = |x: X| sum(x).over(&keys, None);
    let counted = writer.counted("cells", present);
    let count = || counted.clone();
    let total = over(expected() * col("cells.sy") / col("cells.n"));
    let ratio = total / over(expected() * count() / col("cells.n")).or_null();
    let mut rows = Rows::of("cells").items(writer.key_items("cells"));
    rows = rows.item(ratio, "r").item(col("cells.n"), "n").item(col("cells.sy"), "sy").item(col("cells.dd"), "dd");
    rows = rows.items(writer.hit_items("cells", 0));
    if !writer.is_full(present) {
        rows = rows.item(count(), &format!("c{}", present.letter()));
    }
    writer.ctes.add("ratios", rows);
    // The same formula as for a sum, centred on the ratio instead of zero.
    let mean = col("cells.sy") / count().or_null() - col("cells.r");
    let variance = writer.variance(0, present, Some(&mean), Some(col("cells.dd")));
    let items = variance.map(|variance| vec![(sum(variance), "av".to_owned())]).unwrap_or_default();
    KeyedRows { table: "ratios AS cells".into(), items }
}

/// The expectations of MIN and MAX.
fn expectations(writer: &mut Writer<'_>) -> Vec<KeyedRows> {
    let mut parts = Vec::new();
    for (function, direction) in [(Function::Min, Direction::Up), (Function::Max, Direction::Down)] {
        if writer.asks(&[function]) {
            let (items, table) = extremes::write(writer, direction);
            parts.push(KeyedRows { table, items });
        }
    }
    parts
}

/// Writes `merged`: all parts, merged by key. A NULL key would break a join; a union does not mind it.
fn merge(writer: &mut Writer<'_>, parts: Vec<KeyedRows>) {
    let names: Vec<String> = parts.iter().flat_map(|part| part.items.iter().map(|(_, name)| name.clone())).collect();
    let is_alone = parts.len() == 1;
    let mut rows = Vec::with_capacity(parts.len());
    for part in parts {
        let (cte, alias) = part.table.split_once(" AS ").unwrap_or((&part.table, &part.table));
        let mut select = if cte == alias { Rows::of(cte) } else { Rows::of_alias(cte, alias) };
        select = select.items(writer.key_items(alias));
        for name in &names {
            let own = part.items.iter().find(|(_, own)| own == name).map(|(x, _)| x.clone());
            select = select.item(own.unwrap_or_else(|| writer.dialect.double(null())), name);
        }
        rows.push(select.group_by(writer.keys(alias)));
    }
    if is_alone {
        writer.ctes.add_union("merged", rows);
        return;
    }
    writer.ctes.add_union("parts", rows);
    let mut merged = Rows::of("parts").items(writer.key_items("parts")).group_by(writer.keys("parts"));
    for name in &names {
        merged = merged.item(call("MAX", vec![col(&format!("parts.{name}"))]), name);
    }
    writer.ctes.add("merged", merged);
}

/// The last SELECT: keys, then four columns for every aggregate.
pub(super) fn answer(writer: &Writer<'_>, source: &Source) -> (Rows, Vec<OrderByExpr>) {
    let dialect = writer.dialect;
    let quoted = |name: &str| Ident::with_quote(dialect.name_quote(), dialect.escaped_name(name));
    let mut rows = source.rows.clone();
    let mut order = Vec::new();
    for (at, &field) in writer.plan.keys.iter().enumerate() {
        let key = col(&format!("answer.k{at}"));
        rows = rows.named(key_value(writer, field, key.clone()), quoted(&writer.fields()[field].name));
        order.push(ordered(key_order(writer, field, key), Direction::Up, Some(true)));
    }
    for aggregate in &writer.plan.aggregates {
        let name = output_name(writer, aggregate);
        let numbers = Numbers::of(writer, source, aggregate);
        let ends = [
            ("estimate", numbers.estimate),
            ("lower", numbers.lower),
            ("upper", numbers.upper),
            ("std_error", numbers.std_error),
        ];
        for (end, x) in ends {
            // PROOF: columns computed from the help table are sums and extremes of doubles, and a database with types
            // knows that; planning a cast for each of them took DuckDB 8 % of the question's time.
            let is_double = writer.is_helped() && dialect.has_types() && !x.is_constant();
            let x = if is_double { x } else { dialect.double(x) };
            rows = rows.named(x, quoted(&format!("{name}_{end}")));
        }
    }
    (rows, order)
}

/// The answer as rows of a larger statement: keys as the CTEs have them (`k0`), then four columns for every aggregate:
/// `e0` (the estimate), `l0` and `u0` (the bounds), `s0` (the standard error).
pub(super) fn raw(writer: &Writer<'_>, source: &Source) -> Rows {
    let mut rows = source.rows.clone().items(writer.key_items("answer"));
    for (at, aggregate) in writer.plan.aggregates.iter().enumerate() {
        let Numbers { estimate, lower, upper, std_error } = Numbers::of(writer, source, aggregate);
        for (letter, x) in [('e', estimate), ('l', lower), ('u', upper), ('s', std_error)] {
            rows = rows.item(writer.dialect.double(x), &format!("{letter}{at}"));
        }
    }
    rows
}

/// `alias`, `avg_salary` or `count_all`.
fn output_name(writer: &Writer<'_>, aggregate: &PlannedAggregate) -> String {
    match aggregate.field {
        _ if aggregate.has_alias => aggregate.name.clone(),
        None => format!("{}_all", aggregate.function.name()),
        Some(field) => format!("{}_{}", aggregate.function.name(), writer.fields()[field].name),
    }
}

/// Whether a key is represented by an integer that stands for a date, a datetime, a number or a rank.
fn is_place(writer: &Writer<'_>, field: usize) -> bool {
    writer.plan.shape.detail.is_labelled()
        && writer.fields()[field].role != RoleName::Sensitive
        && writer.fields()[field].kind != Kind::Category
}

pub(super) fn key_value(writer: &Writer<'_>, field: usize, key: X) -> X {
    let attribute = &writer.fields()[field];
    match attribute.kind {
        _ if !is_place(writer, field) => key,
        Kind::Date => writer.dialect.date_of(key),
        Kind::DateTime => writer.dialect.datetime_of(key),
        Kind::Ordinal => {
            let words = (0_i64..).zip(attribute.words.iter());
            cases(words.map(|(rank, word)| (key.clone().eq(int(rank)), writer.dialect.text(word))).collect(), None)
        }
        _ => writer.dialect.integer(key),
    }
}

pub(super) fn key_order(writer: &Writer<'_>, field: usize, key: X) -> X {
    let attribute = &writer.fields()[field];
    match attribute.kind {
        _ if is_place(writer, field) => key,
        Kind::Ordinal => writer.place(attribute, key),
        Kind::Category => writer.dialect.bytewise(key),
        _ => key,
    }
}

/// The four numbers of an answer.
struct Numbers {
    estimate: X,
    lower: X,
    upper: X,
    std_error: X,
}

impl Numbers {
    fn of(writer: &Writer<'_>, source: &Source, aggregate: &PlannedAggregate) -> Self {
        let column = |name: &str| source.column(name);
        if writer.plan.weighs(aggregate) {
            let root = call("SQRT", vec![writer.dialect.greatest(int(0), column("wv"))]);
            let std_error = cases(vec![(column("we").present(), root)], None);
            let [estimate, lower, upper] = ["we", "wl", "wu"].map(column);
            return Numbers { estimate, lower, upper, std_error };
        }
        let present = writer.present();
        let count = |letter: char, (condition, counted): (usize, CountedValues)| {
            let is_own = letter == 'v' || writer.count_ends(counted).contains(&letter);
            column(&format!("c{}{condition}{}", if is_own { letter } else { 'e' }, counted.letter()))
        };
        let is_helped = writer.is_helped();
        // PROOF: published variances are not negative; those computed from sums may be, by a rounding error.
        let root = |x: X| call("SQRT", vec![if is_helped { x } else { writer.dialect.greatest(int(0), x) }]);
        if aggregate.function == Function::Count {
            let pair = writer.pair(aggregate);
            let has_variance = !writer.is_full(pair.1) || !writer.is_exact();
            let std_error = if has_variance && writer.has_hits() { root(or_zero(count('v', pair))) } else { int(0) };
            return Numbers {
                estimate: or_zero(count('e', pair)),
                lower: or_zero(count('l', pair)),
                upper: or_zero(count('u', pair)),
                std_error,
            };
        }
        // Values of no rows are NULL. Planning these guards took DuckDB a fifth of the question's time.
        let guarded =
            |x: X| if is_helped { x } else { cases(vec![(count('u', (0, present)).greater(int(0)), x)], None) };
        let hits = || if is_helped { count('e', (0, present)) } else { count('e', (0, present)).or_null() };
        let numbers = match aggregate.function {
            Function::Sum => [column("se"), column("sl"), column("su"), root(column("sv"))],
            Function::Avg if writer.is_certain() => {
                [column("se") / hits(), column("sl") / hits(), column("su") / hits(), root(column("sv")) / hits()]
            }
            Function::Avg => {
                let std_error = case(hits().missing(), null(), root(or_zero(column("av"))) / hits());
                [column("se") / hits(), column("al"), column("au"), std_error]
            }
            Function::Min | Function::Count => extreme(writer, source, 'n', &root),
            Function::Max => extreme(writer, source, 'x', &root),
            // PROOF: these have no rewriting, so they were refused before.
            Function::CountDistinct | Function::Quantile => [null(), null(), null(), null()],
            Function::VarPop | Function::VarSamp => [null(), null(), null(), null()],
            Function::StddevPop | Function::StddevSamp => [null(), null(), null(), null()],
            #[cfg(feature = "toy-function")]
            Function::Toy => [null(), null(), null(), null()],
        };
        let [estimate, lower, upper, std_error] = numbers.map(guarded);
        Numbers { estimate, lower, upper, std_error }
    }
}

fn extreme(writer: &Writer<'_>, source: &Source, letter: char, root: &dyn Fn(X) -> X) -> [X; 4] {
    let column = |name: char| source.column(&format!("{letter}{name}"));
    if writer.is_helped() {
        // PROOF: published expectations lie inside their bounds.
        return [column('e'), column('l'), column('u'), root(column('v'))];
    }
    let clamped = writer.dialect.clamped(column('e'), column('l'), column('u'));
    let estimate = cases(vec![(column('e').present(), clamped)], None);
    let std_error = cases(vec![(column('e').present(), root(or_zero(column('v'))))], None);
    [estimate, column('l'), column('u'), std_error]
}
