//! The CTE `hits` of ranges and labels: every row of a group lies somewhere in its box.

use std::collections::{BTreeMap, BTreeSet};

use chrysalis_release::{COUNT, COUNTERFEITS, MEMBERS_COLUMNS, max_column, min_column};
use chrysalis_table::{Column, Kind, Value};

use super::expr::{X, all, any, call, case, col, count_rows, int, null, number, or_zero, product, sum, total};
use super::select::Rows;
use super::{Writer, numbers, sets};
use chrysalis_query::value_set::{Ranges, RealEnd, ValueSet, Values};
use chrysalis_query::{Cell, Field, QueryError};

/// The most key values of one attribute that an answer may list.
const MAX_KEYS: i128 = 10_000;

/// The value sets of a question, by attribute; column names contain their positions.
pub(super) struct Sets {
    pub(super) sets: BTreeMap<usize, Vec<ValueSet>>,
}

impl Sets {
    pub(super) fn of(writer: &Writer<'_>) -> Self {
        let mut sets: BTreeMap<usize, Vec<ValueSet>> = BTreeMap::new();
        for (_, field) in writer.quasi_keys() {
            sets.entry(field).or_default();
        }
        let conditions = writer.plan.conditions.iter();
        for (&field, set) in conditions.flat_map(|it| it.boxes.iter().chain(&it.complement)).flat_map(|cell| &cell.sets)
        {
            let known = sets.entry(field).or_default();
            if !known.contains(set) {
                known.push(set.clone());
            }
        }
        Sets { sets }
    }

    /// The column that says how much of a label a set covers, or, for `z`, whether they touch.
    fn column(&self, letter: char, field: usize, set: &ValueSet) -> X {
        let at = self.sets.get(&field).and_then(|sets| sets.iter().position(|known| known == set)).unwrap_or(0);
        col(&format!("spans.{letter}{field}_{at}"))
    }
}

/// Writes `labels` (one row per group), `set_i` (the values of labels), `spans` (how much of them matches) and `hits`.
pub(super) fn write(writer: &mut Writer<'_>) -> Result<(), QueryError> {
    let sets = Sets::of(writer);
    labels(writer, &sets);
    shares(writer, &sets, &["g", "n"])?;
    hits(writer);
    Ok(())
}

/// Writes `set_i`, `spans`, `key_i` and `shares` (how much of every label matches, how much does not, and whether all
/// or any of it does) from `labels`. The columns of `labels` named in `kept` are passed on; `g` identifies its rows.
pub(super) fn shares(writer: &mut Writer<'_>, sets: &Sets, kept: &[&str]) -> Result<(), QueryError> {
    spans(writer, sets, kept);
    for (at, field) in writer.quasi_keys() {
        key(writer, at, field)?;
    }
    matched(writer, sets, kept);
    Ok(())
}

/// The rows of a group share their labels, so any one of them will do.
fn labels(writer: &mut Writer<'_>, sets: &Sets) {
    let dialect = writer.dialect;
    let group = writer.group("t");
    let mut rows = Rows::of_table(dialect, &writer.plan.table, "t").item(group.clone(), "g");
    let mut n = dialect.double(count_rows());
    if writer.plan.is_of_series {
        counterfeits(writer);
        rows = rows.left_join("false_values", col("false_values.g").eq(group.clone()));
        // Rows that nobody has are no hits (step 6c).
        n = n - or_zero(call("MAX", vec![col("false_values.n")]));
    }
    let rows = rows.item(n, "n").group_by([group]);
    let rows = label_items(writer, sets, rows, &|name| call("MIN", vec![writer.column("t", name)]));
    writer.ctes.add("labels", rows);
}

/// Writes `false_values`: how many of a group's rows nobody has.
fn counterfeits(writer: &mut Writer<'_>) {
    let (dialect, group) = (writer.dialect, writer.group("f"));
    let count = dialect.double(sum(writer.column("f", COUNT)));
    let rows = Rows::of_table(dialect, COUNTERFEITS, "f").item(group.clone(), "g").item(count, "n");
    writer.ctes.add("false_values", rows.group_by([group]));
}

/// The labels of `t`: a set in `t0`, or the ends of a range in `x0` and `y0` and in `m0` whether the missing value is
/// included. `shared` gives the common value of a group's rows in a column.
pub(super) fn label_items(writer: &Writer<'_>, sets: &Sets, mut rows: Rows, shared: &dyn Fn(&str) -> X) -> Rows {
    let dialect = writer.dialect;
    for &field in sets.sets.keys() {
        let attribute = &writer.fields()[field];
        if attribute.kind == Kind::Category {
            rows = rows.item(call("COALESCE", vec![shared(&attribute.name), dialect.text("")]), &format!("t{field}"));
            continue;
        }
        let low = shared(&min_column(&attribute.name));
        let high = writer.place(attribute, shared(&max_column(&attribute.name)));
        let floor = floor(attribute).map_or_else(|| high.clone(), |floor| dialect.least(number(floor), high.clone()));
        // An empty lower end includes the missing value.
        let from = call("COALESCE", vec![writer.place(attribute, low.clone()), floor]);
        rows = rows
            .item(case(low.missing(), int(1), int(0)), &format!("m{field}"))
            .item(from, &format!("x{field}"))
            .item(high, &format!("y{field}"));
    }
    rows
}

/// Where ranges that include the missing value begin.
fn floor(field: &Field) -> Option<f64> {
    let min = field.min.as_ref();
    match field.kind {
        Kind::Ordinal => Some(0.0),
        Kind::Real => min.and_then(Value::number),
        _ => min.and_then(Value::whole).map(|place| place as f64),
    }
}

/// For every attribute: the points of the label (`p`), how many of them are in each set (`s`), and whether the label
/// touches the set (`z`).
fn spans(writer: &mut Writer<'_>, sets: &Sets, kept: &[&str]) {
    let dialect = writer.dialect;
    for (&field, sets) in &sets.sets {
        if writer.fields()[field].kind == Kind::Category {
            members(writer, field, sets);
        }
    }
    let mut rows = kept.iter().fold(Rows::of("labels"), |rows, name| rows.item(col(&format!("labels.{name}")), name));
    for (&field, sets) in &sets.sets {
        let attribute = &writer.fields()[field];
        if attribute.kind == Kind::Category {
            let cte = format!("set_{field}");
            rows = rows.join(&cte, col(&format!("{cte}.t")).eq(col(&format!("labels.t{field}"))));
            rows = rows.item(col(&format!("{cte}.p")), &format!("p{field}"));
            for at in 0..sets.len() {
                rows = rows.item(col(&format!("{cte}.s{at}")), &format!("s{field}_{at}"));
            }
            continue;
        }
        let range = Range::new(attribute, field);
        rows = rows.item(range.points(dialect), &format!("p{field}"));
        for (at, set) in sets.iter().enumerate() {
            rows = rows.item(range.inside(dialect, set), &format!("s{field}_{at}"));
            if attribute.kind == Kind::Real {
                rows = rows.item(range.touches(set), &format!("z{field}_{at}"));
            }
        }
    }
    writer.ctes.add("spans", rows);
}

/// How many values a label has, and how many of them are in each set.
fn members(writer: &mut Writer<'_>, field: usize, sets: &[ValueSet]) {
    let dialect = writer.dialect;
    let attribute = &writer.fields()[field];
    let [of, label, value] = MEMBERS_COLUMNS.map(|name| writer.column("m", name));
    let label = || call("COALESCE", vec![label.clone(), dialect.text("")]);
    let mut rows = Rows::of_table(dialect, writer.members(), "m").filter(Some(of.eq(dialect.text(&attribute.name))));
    rows = rows.item(label(), "t").item(dialect.double(count_rows()), "p").group_by([label()]);
    for (at, set) in sets.iter().enumerate() {
        let inside = sets::is_in(dialect, &value, attribute, set);
        rows = rows.item(dialect.double(count_rows().filter(Some(inside))), &format!("s{at}"));
    }
    writer.ctes.add(&format!("set_{field}"), rows);
}

/// A range of an ordered attribute: columns of `labels`.
struct Range<'a> {
    field: &'a Field,
    from: X,
    to: X,
    missing: X,
}

impl<'a> Range<'a> {
    fn new(field: &'a Field, at: usize) -> Self {
        let column = |letter: char| col(&format!("labels.{letter}{at}"));
        Range { field, from: column('x'), to: column('y'), missing: column('m') }
    }

    /// `value` if there is a range at all, plus the missing value if `missing` and the label includes it.
    fn with_missing(&self, value: X, missing: bool) -> X {
        let value = if self.field.has_missing { case(self.to.clone().missing(), int(0), value) } else { value };
        if missing && self.field.has_missing { value + self.missing.clone() } else { value }
    }

    fn points(&self, dialect: super::Dialect) -> X {
        let length = self.to.clone() - self.from.clone();
        let points = if self.field.kind == Kind::Real { self.or_point(int(1), length) } else { length + int(1) };
        dialect.double(self.with_missing(points, true))
    }

    /// One expression for a range that is a single number, and another for a longer range.
    fn or_point(&self, point: X, stretch: X) -> X {
        case(self.from.clone().eq(self.to.clone()), point, stretch)
    }

    fn inside(&self, dialect: super::Dialect, set: &ValueSet) -> X {
        let overlap = |low: Option<X>, high: Option<X>, step: i64| {
            let from = low.map_or_else(|| self.from.clone(), |low| dialect.greatest(self.from.clone(), low));
            let to = high.map_or_else(|| self.to.clone(), |high| dialect.least(self.to.clone(), high));
            let length = if step == 0 { to - from } else { to - from + int(step) };
            dialect.greatest(int(0), length)
        };
        let inside = match &set.values {
            Values::Reals(ranges) => {
                let lengths = ranges
                    .ends()
                    .map(|(low, high)| overlap(low.map(|end| number(end.at)), high.map(|end| number(end.at)), 0));
                self.or_point(case(self.touches_value(set), int(1), int(0)), total(lengths.collect()))
            }
            _ => total(closed(set).into_iter().map(|(low, high)| overlap(low.map(int), high.map(int), 1)).collect()),
        };
        dialect.double(self.with_missing(inside, set.missing))
    }

    /// 1 where label and set have a value in common, 0 elsewhere.
    fn touches(&self, set: &ValueSet) -> X {
        let missing = (set.missing && self.field.has_missing).then(|| self.missing.clone().eq(int(1)));
        let value = self.to.clone().present().and(self.touches_value(set));
        case(any(missing.into_iter().chain([value]).collect()), int(1), int(0))
    }

    fn touches_value(&self, set: &ValueSet) -> X {
        let Values::Reals(ranges) = &set.values else { return any(Vec::new()) };
        let reaches = |x: X, end: RealEnd, up: bool| match (up, end.is_closed) {
            (true, true) => x.at_least(number(end.at)),
            (true, false) => x.greater(number(end.at)),
            (false, true) => x.at_most(number(end.at)),
            (false, false) => x.less(number(end.at)),
        };
        let touch = |(low, high): (Option<RealEnd>, Option<RealEnd>)| {
            let low = low.map(|end| reaches(self.to.clone(), end, true));
            let high = high.map(|end| reaches(self.from.clone(), end, false));
            all(low.into_iter().chain(high).collect())
        };
        any(ranges.ends().map(touch).collect())
    }
}

/// The integers, days or ranks in a set, as closed ranges.
fn closed(set: &ValueSet) -> Vec<(Option<i64>, Option<i64>)> {
    match &set.values {
        Values::Integers(ranges) => ranges.closed().collect(),
        Values::Reals(_) => Vec::new(),
        Values::Words(words) => {
            let ranks = (0..).zip(words).filter(|(_, is_in)| **is_in).map(|(rank, _): (i128, _)| (rank, rank + 1));
            Ranges::union_of(ranks.collect()).closed().collect()
        }
    }
}

/// Writes `key_i`: the values of a key attribute that a group's label allows.
fn key(writer: &mut Writer<'_>, at: usize, field: usize) -> Result<(), QueryError> {
    let (dialect, name) = (writer.dialect, format!("key_{at}"));
    let attribute = &writer.fields()[field];
    if attribute.kind == Kind::Category {
        let [of, label, value] = MEMBERS_COLUMNS.map(|name| writer.column("m", name));
        let label = call("COALESCE", vec![label, dialect.text("")]).eq(col(&format!("labels.t{field}")));
        let on = of.eq(dialect.text(&attribute.name)).and(label);
        let rows = Rows::of("labels").join_table(dialect, writer.members(), "m", on);
        writer.ctes.add(&name, rows.item(col("labels.g"), "g").item(value, "k"));
        return Ok(());
    }
    let (first, size) = candidates(writer, field)?;
    let series = format!("{name}_series");
    numbers::write(writer, &series, size);
    let place = || dialect.double(int(first) + col(&format!("{series}.i")));
    let column = |letter: char| col(&format!("labels.{letter}{field}"));
    let within = column('x').at_most(place()).and(column('y').at_least(place()));
    let listed = Rows::of("labels").join(&series, within).item(col("labels.g"), "g").item(place(), "k");
    let missing = Rows::of("labels").item(col("labels.g"), "g").item(dialect.double(null()), "k");
    let missing = missing.filter(Some(column('m').eq(int(1))));
    writer.ctes.add_union(&name, if attribute.has_missing { vec![listed, missing] } else { vec![listed] });
    Ok(())
}

/// The first of the points that labels and boxes have in common, and the distance from it to the last.
fn candidates(writer: &Writer<'_>, field: usize) -> Result<(i128, u64), QueryError> {
    let attribute = &writer.fields()[field];
    let whole = attribute.everything(true);
    let boxes = writer.plan.conditions[0].boxes.iter();
    let admitted = boxes.fold(attribute.nothing(), |any, cell| any.union(cell.sets.get(&field).unwrap_or(&whole)));
    let admitted = closed(&admitted).into_iter().map(|(low, high)| {
        (low.map_or(i128::from(i64::MIN), i128::from), high.map_or(i128::from(i64::MAX), i128::from) + 1)
    });
    let points = points(writer, attribute)?.intersection(&Ranges::union_of(admitted.collect()));
    let n_points = points.ranges().iter().map(|(from, to)| to - from).sum::<i128>();
    if n_points > MAX_KEYS && attribute.kind != Kind::Ordinal {
        let problem = format!("`{}` can have more than {MAX_KEYS} values in this release", attribute.name);
        let hint = format!("narrow `{}` with WHERE, or ask about ranges one by one", attribute.name);
        return Err(QueryError::unanswerable(None, problem, hint));
    }
    match (points.ranges().first(), points.ranges().last()) {
        (Some((first, _)), Some((_, end))) => Ok((*first, u64::try_from(end - first).unwrap_or(u64::MAX))),
        _ => Ok((0, 0)),
    }
}

/// All points of an attribute's labels.
fn points(writer: &Writer<'_>, field: &Field) -> Result<Ranges<i128>, QueryError> {
    let table = writer.release.table(&writer.plan.table)?;
    let column = |name: String| {
        table.column(&name).ok_or_else(|| QueryError::broken(format!("the table has no column `{name}`")))
    };
    let (low, high) = (column(min_column(&field.name))?, column(max_column(&field.name))?);
    let pairs: BTreeSet<(u32, u32)> = (0..table.rows()).map(|row| (low.code(row), high.code(row))).collect();
    let place = |column: &Column, code: u32| match column.domain().value(code)? {
        Value::Text(word) => field.rank(word).map(|rank| rank as i128),
        value => value.whole().map(i128::from),
    };
    let floor = floor(field).map_or(0, |floor| floor as i128);
    let range = |(a, b): (u32, u32)| {
        let to = place(high, b)?;
        Some((place(low, a).unwrap_or(floor.min(to)), to + 1))
    };
    Ok(Ranges::union_of(pairs.into_iter().filter_map(range).collect()))
}

fn matched(writer: &mut Writer<'_>, sets: &Sets, kept: &[&str]) {
    let dialect = writer.dialect;
    let keys = writer.quasi_keys();
    let mut rows = kept.iter().fold(Rows::of("spans"), |rows, name| rows.item(col(&format!("spans.{name}")), name));
    for (at, _) in &keys {
        let key = format!("key_{at}");
        rows = rows
            .join(&key, col(&format!("{key}.g")).eq(col("spans.g")))
            .item(col(&format!("{key}.k")), &format!("k{at}"));
    }
    for (at, condition) in writer.plan.conditions.iter().enumerate() {
        let shares: Vec<X> = condition.boxes.iter().map(|cell| share(writer, sets, cell, &keys)).collect();
        // Each key attribute takes one of its label's points.
        let share = keys.iter().fold(total(shares), |share, (_, field)| share / col(&format!("spans.p{field}")));
        let touched = any(condition.boxes.iter().map(|cell| touches(writer, sets, cell, &keys)).collect());
        let mut doubt: Vec<X> = condition.complement.iter().map(|cell| touches(writer, sets, cell, &[])).collect();
        doubt.extend(keys.iter().map(|(_, field)| col(&format!("spans.p{field}")).greater(int(1))));
        let n = || col("spans.n");
        // The share that does not match is computed separately: 1 − ρ would lose it where it is tiny.
        let rest = total(condition.complement.iter().map(|cell| self::share(writer, sets, cell, &[])).collect());
        let is_one = |(_, field): &(usize, usize)| col(&format!("spans.p{field}")).at_most(int(1));
        let rest = match keys.is_empty() {
            true => rest,
            // PROOF: of a label with two or more points, one key is at most a half, so the difference loses no digits.
            false => case(all(keys.iter().map(is_one).collect()), rest, int(1) - share.clone()),
        };
        rows = rows
            .item(dialect.double(share), &format!("r{at}"))
            .item(dialect.double(rest), &format!("q{at}"))
            .item(case(touched, n(), int(0)), &format!("u{at}"))
            .item(case(any(doubt), int(0), n()), &format!("l{at}"));
    }
    writer.ctes.add("shares", rows);
}

fn hits(writer: &mut Writer<'_>) {
    let (dialect, keys) = (writer.dialect, writer.quasi_keys());
    let mut rows = Rows::of("shares").item(col("shares.g"), "g").item(col("shares.n"), "n");
    for (at, _) in &keys {
        rows = rows.item(col(&format!("shares.k{at}")), &format!("k{at}"));
    }
    for at in 0..writer.plan.conditions.len() {
        let column = |letter: char| col(&format!("shares.{letter}{at}"));
        // Rounding must not make a share exceed 1.
        let share = |letter: char| dialect.least(int(1), or_zero(column(letter)));
        rows = rows
            .item(col("shares.n") * share('r'), &format!("e{at}"))
            .item(dialect.least(column('l'), column('u')), &format!("l{at}"))
            .item(column('u'), &format!("u{at}"))
            .item(col("shares.n") * share('r') * share('q'), &format!("v{at}"));
    }
    writer.ctes.add(writer.quasi_hits(), rows.filter(Some(col("shares.u0").greater(int(0)))));
}

/// The share of a box, key attributes aside, or 0 if it does not admit the key values.
fn share(writer: &Writer<'_>, sets: &Sets, cell: &Cell, keys: &[(usize, usize)]) -> X {
    let is_key = |field: usize| keys.iter().any(|(_, key)| *key == field);
    let others = cell.sets.iter().filter(|(field, _)| !is_key(**field));
    let parts = others.map(|(&field, set)| sets.column('s', field, set) / col(&format!("spans.p{field}")));
    let share = product(parts.collect()).unwrap_or_else(|| number(1.0));
    match admits(writer, cell, keys) {
        Some(admits) => case(admits, share, int(0)),
        None => share,
    }
}

/// Whether a box admits the key values.
fn admits(writer: &Writer<'_>, cell: &Cell, keys: &[(usize, usize)]) -> Option<X> {
    let tests: Vec<X> = keys
        .iter()
        .filter_map(|&(at, field)| {
            let (attribute, key) = (&writer.fields()[field], col(&format!("key_{at}.k")));
            let set = cell.sets.get(&field)?;
            if attribute.kind == Kind::Category {
                return Some(sets::is_in(writer.dialect, &key, attribute, set));
            }
            let missing = (set.missing && attribute.has_missing).then(|| key.clone().missing());
            let range = |(low, high): (Option<i64>, Option<i64>)| {
                let low = low.map(|low| key.clone().at_least(int(low)));
                let high = high.map(|high| key.clone().at_most(int(high)));
                let ends: Vec<X> = low.into_iter().chain(high).collect();
                if ends.is_empty() { key.clone().present() } else { all(ends) }
            };
            Some(any(closed(set).into_iter().map(range).chain(missing).collect()))
        })
        .collect();
    (!tests.is_empty()).then(|| all(tests))
}

/// Whether a box has a point in common with the labels and admits the key values.
fn touches(writer: &Writer<'_>, sets: &Sets, cell: &Cell, keys: &[(usize, usize)]) -> X {
    let is_key = |field: usize| keys.iter().any(|(_, key)| *key == field);
    let others = cell.sets.iter().filter(|(field, _)| !is_key(**field));
    let touch = |(&field, set): (&usize, &ValueSet)| {
        let letter = if writer.fields()[field].kind == Kind::Real { 'z' } else { 's' };
        sets.column(letter, field, set).greater(int(0))
    };
    all(others.map(touch).chain(admits(writer, cell, keys)).collect())
}
