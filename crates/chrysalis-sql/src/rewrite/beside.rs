//! Conditions on sensitive columns other than the one asked about: they thin the hits (step 6a).
//!
//! Columns are permuted independently, so the hits that satisfy one more condition are a draw without replacement. The
//! hits of the quasi side are in `hits_0`; every other column takes them one step further, and the last step is `hits`.

use chrysalis_query::value_set::ValueSet;
use chrysalis_release::{Detail, RoleName};

use super::expr::{X, cases, col, int, sum};
use super::hits::Hit;
use super::select::Rows;
use super::{Writer, sets};

/// What is asked of another sensitive column.
#[derive(Clone, Copy)]
struct Beside<'a> {
    field: usize,
    /// The values that the WHERE clause admits; `None` is all of them.
    set: Option<&'a ValueSet>,
    /// Its position among the keys, if it is one.
    key: Option<usize>,
}

impl<'a> Writer<'a> {
    /// The position among the keys of a sensitive column that is not the one asked about.
    fn other_key(&self) -> Option<usize> {
        let is_other =
            |key: &usize| Some(*key) != self.plan.sensitive && self.fields()[*key].role == RoleName::Sensitive;
        self.plan.keys.iter().position(is_other)
    }

    /// Whether anything is asked of other sensitive columns.
    pub(super) fn is_thinned(&self) -> bool {
        !self.plan.beside.is_empty() || self.other_key().is_some()
    }

    fn besides(&self) -> Vec<Beside<'a>> {
        let plan = self.plan;
        let key = self.other_key().map(|at| (at, plan.keys[at]));
        let of_where = plan.beside.iter().map(|(field, set)| Beside {
            field: *field,
            set: Some(set),
            key: key.filter(|(_, key)| key == field).map(|(at, _)| at),
        });
        let mut besides: Vec<Beside<'a>> = of_where.collect();
        if let Some((at, field)) = key.filter(|(_, key)| besides.iter().all(|beside| beside.field != *key)) {
            besides.push(Beside { field, set: None, key: Some(at) });
        }
        besides
    }

    /// The name of the CTE with the hits of the quasi side.
    pub(super) fn quasi_hits(&self) -> &'static str {
        if self.is_thinned() { "hits_0" } else { "hits" }
    }
}

/// Writes, for every other sensitive column, `beside_i` (how many of a group's `n` values count) and the hits that are
/// left.
pub(super) fn write(writer: &mut Writer<'_>) {
    let besides = writer.besides();
    let mut keys: Vec<usize> = writer.quasi_keys().into_iter().map(|(at, _)| at).collect();
    for (step, &beside) in besides.iter().enumerate() {
        let counts = format!("beside_{step}");
        match beside.key {
            Some(_) => counts_by_value(writer, beside, &counts),
            None => counts_by_group(writer, beside, &counts),
        }
        let before = format!("hits_{step}");
        let is_last = step + 1 == besides.len();
        let after = if is_last { "hits".to_owned() } else { format!("hits_{}", step + 1) };
        let rows = thinned(writer, beside, &counts, &before, &keys);
        writer.ctes.add(&after, rows);
        keys.extend(beside.key);
    }
}

/// How many values each group has, and how many of them the condition admits.
fn counts_by_group(writer: &mut Writer<'_>, beside: Beside<'_>, name: &str) {
    let (values, group) = (writer.values_of(beside.field), writer.group("s"));
    let field = &writer.fields()[beside.field];
    let admitted = beside.set.map(|set| sets::is_in(writer.dialect, &values.value, field, set));
    let rows = Rows::of_table(writer.dialect, &values.table, "s").item(group.clone(), "g").group_by([group]);
    let rows = rows.item(values.occurrences(writer.dialect, None), "n");
    let rows = rows.item(values.occurrences(writer.dialect, admitted), "c");
    writer.ctes.add(name, rows);
}

/// For a key: how often each value occurs in a group.
fn counts_by_value(writer: &mut Writer<'_>, beside: Beside<'_>, name: &str) {
    let (values, group) = (writer.values_of(beside.field), writer.group("s"));
    let each = format!("{name}_values");
    let rows = Rows::of_table(writer.dialect, &values.table, "s").item(group.clone(), "g");
    let rows = rows.item(values.value.clone(), "k").item(values.occurrences(writer.dialect, None), "c");
    writer.ctes.add(&each, rows.group_by([group, values.value]));
    let column = |column: &str| col(&format!("{each}.{column}"));
    let rows = Rows::of(&each).item(column("g"), "g").item(column("k"), "k").item(column("c"), "c");
    let rows = rows.item(sum(column("c")).over(&[column("g")], None), "n");
    writer.ctes.add(name, rows);
}

/// The hits that satisfy one more condition, or have one more key value.
fn thinned(writer: &Writer<'_>, beside: Beside<'_>, counts: &str, before: &str, keys: &[usize]) -> Rows {
    let dialect = writer.dialect;
    let (n, c) = (|| col(&format!("{counts}.n")), || col(&format!("{counts}.c")));
    let group = || col(&format!("{before}.g"));
    let mut rows = Rows::of(before).join(counts, col(&format!("{counts}.g")).eq(group()));
    rows = rows.item(group(), "g").item(n(), "n");
    rows = keys.iter().fold(rows, |rows, at| rows.item(col(&format!("{before}.k{at}")), &format!("k{at}")));
    if let Some(at) = beside.key {
        let value = col(&format!("{counts}.k"));
        let field = &writer.fields()[beside.field];
        let admitted = beside.set.filter(|set| !field.is_full(set));
        rows = rows.filter(admitted.map(|set| sets::is_in(dialect, &value, field, set)));
        rows = rows.item(value, &format!("k{at}"));
    }
    let is_quasi = before == writer.quasi_hits();
    let is_uncertain = !is_quasi || writer.plan.shape.detail != Detail::Exact;
    for condition in 0..writer.plan.conditions.len() {
        let hit = writer.hit_of(before, condition, is_uncertain);
        let spread = per_pair(writer, &hit, &n(), is_quasi);
        let drawn = cases(vec![(n().greater(int(1)), dialect.greatest(int(0), spread))], Some(int(0)));
        let drawn = drawn * (c() / n()) * ((n() - c()) / n());
        let variance = match hit.variance {
            Some(variance) => drawn + variance * (c() / n()).squared(),
            None => drawn,
        };
        rows = rows
            .item(hit.expected * (c() / n()), &format!("e{condition}"))
            .item(dialect.greatest(int(0), hit.least + c() - n()), &format!("l{condition}"))
            .item(dialect.least(hit.most.clone(), c()), &format!("u{condition}"))
            .item(variance, &format!("v{condition}"));
        if condition == 0 {
            rows = rows.filter(Some(dialect.least(hit.most, c()).greater(int(0))));
        }
    }
    rows
}

/// E[h(n−h)]/(n−1), for hits as the quasi side has them or as an earlier step left them.
pub(super) fn per_pair(writer: &Writer<'_>, hit: &Hit, n: &X, is_quasi: bool) -> X {
    let e = hit.expected.clone();
    let chosen = match &hit.variance {
        None => e.clone() * (n.clone() - e),
        // PROOF: the rows of a group share one box and match independently with equal probability, so E[h(n−h)]/(n−1)
        // is the variance itself, and no precision is lost in a difference. A draw has a fixed size, so this ends there.
        // Rows that nobody has match less, so in a series it does not hold.
        Some(variance) if is_quasi && writer.plan.shape.detail == Detail::GroupBoxes && !writer.plan.is_of_series => {
            return variance.clone();
        }
        Some(variance) => n.clone() * e.clone() - variance.clone() - e.squared(),
    };
    chosen / (n.clone() - int(1))
}
