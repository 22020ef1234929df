//! The CTEs `sizes` and `cells`: groups with their sensitive values, and how many of those are hit (step 7).

use chrysalis_table::Value;

use super::expr::{X, call, case, cases, col, count_rows, int, or_zero, sum};
use super::select::Rows;
use super::{CountedValues, Dialect, NUMERIC, Writer, beside, sets};
use chrysalis_query::question::Function;

/// The table of sensitive values, under the name `s`.
pub(super) struct Values {
    pub(super) table: String,
    /// How often a row's value occurs; `None` means once.
    pub(super) times: Option<X>,
    pub(super) value: X,
}

impl Values {
    /// How many values there are in the rows where the condition holds, repetitions included.
    pub(super) fn occurrences(&self, dialect: Dialect, condition: Option<X>) -> X {
        match &self.times {
            Some(times) => or_zero(sum(times.clone()).filter(condition)),
            None => dialect.double(count_rows().filter(condition)),
        }
    }
}

impl Writer<'_> {
    /// The values of the sensitive column that is asked about.
    pub(super) fn values(&self) -> Values {
        // PROOF: only called where values matter, and then there is such a column.
        self.values_of(self.plan.sensitive.unwrap_or_default())
    }

    /// The values of any sensitive column.
    pub(super) fn values_of(&self, field: usize) -> Values {
        let (table, count) = match self.plan.counted_values_of(field) {
            Some((table, count)) => (table, Some(count)),
            None => (self.plan.shape.people.to_owned(), None),
        };
        let times = count.map(|count| self.dialect.double(self.column("s", count)));
        Values { table, times, value: self.column("s", &self.fields()[field].name) }
    }

    /// Whether a value of `s` counts; `None` if all of them do.
    pub(super) fn counts(&self, counted: CountedValues) -> Option<X> {
        self.counts_in(&self.values().value, counted)
    }

    /// The same for values of the sensitive attribute in another column.
    pub(super) fn counts_at(&self, value: &X) -> Option<X> {
        self.counts_in(value, CountedValues::Where)
    }

    fn counts_in(&self, value: &X, counted: CountedValues) -> Option<X> {
        let field = &self.fields()[self.plan.sensitive?];
        let mut set = match &self.plan.sensitive_set {
            Some(set) => set.clone(),
            None => field.everything(true),
        };
        if counted == CountedValues::Present {
            set.missing = false;
        }
        (!field.is_full(&set)).then(|| sets::is_in(self.dialect, value, field, &set))
    }

    /// How many values `s` has in the rows where the condition holds, repetitions included.
    pub(super) fn occurrences(&self, condition: Option<X>) -> X {
        self.values().occurrences(self.dialect, condition)
    }

    /// The most times that one value occurs in a group.
    pub(super) fn most_times(&self) -> u64 {
        let Some((table, count)) = self.plan.counted_values() else { return 1 };
        let column = self.release.table(&table).ok().and_then(|table| table.column(count));
        let largest = column.and_then(|column| column.domain().bounds()).map(|(_, largest)| largest);
        match largest {
            Some(Value::Integer(times)) => u64::try_from(*times).unwrap_or(1),
            _ => 1,
        }
    }

    /// The number of values that count in a cell.
    pub(super) fn counted(&self, table: &str, counted: CountedValues) -> X {
        let name = if self.is_full(counted) { "n".to_owned() } else { format!("c{}", counted.letter()) };
        col(&format!("{table}.{name}"))
    }

    /// The least and the most values of a cell that are hit.
    pub(super) fn reach(&self, table: &str, (condition, counted): (usize, CountedValues)) -> (X, X) {
        if self.is_full(counted) {
            let hit = self.hit(table, condition);
            return (hit.least, hit.most);
        }
        let column = |end: &str| col(&format!("{table}.{end}{condition}{}", counted.letter()));
        (column("lo"), column("hi"))
    }

    /// The kinds of counted values that need a column of their own.
    fn counted_columns(&self) -> Vec<CountedValues> {
        let mut counted: Vec<CountedValues> = self.pairs().into_iter().map(|(_, counted)| counted).collect();
        counted.sort_unstable();
        counted.dedup();
        counted.retain(|counted| !self.is_full(*counted));
        counted
    }

    fn needs_spread(&self) -> bool {
        self.sensitive_key().is_none() && self.asks(&[Function::Sum, Function::Avg])
    }

    /// Whether the deviations from the mean need a second pass.
    fn needs_second_pass(&self) -> bool {
        self.needs_spread() && !(self.dialect.has_variance() && self.most_times() == 1)
    }
}

/// Writes `sizes`.
fn sizes(writer: &mut Writer<'_>) {
    match writer.sensitive_key() {
        Some(at) => sizes_by_value(writer, at),
        None => sizes_by_group(writer),
    }
}

fn sizes_by_group(writer: &mut Writer<'_>) {
    let (dialect, values) = (writer.dialect, writer.values());
    let group = writer.group("s");
    let mut rows = Rows::of_table(dialect, &values.table, "s").item(group.clone(), "g").group_by([group.clone()]);
    if writer.plan.keys.is_empty() && writer.has_small_groups() {
        // PROOF: without keys a group has one row of hits. Groups that are not hit do not need their sizes.
        rows = rows.join("hits", col("hits.g").eq(group.clone()));
    }
    rows = rows.item(writer.occurrences(None), "n");
    for counted in writer.counted_columns() {
        rows = rows.item(writer.occurrences(writer.counts(counted)), &format!("c{}", counted.letter()));
    }
    let counts = writer.counts(writer.present());
    let present = || counts.clone();
    let y = || dialect.double(values.value.clone());
    if writer.needs_spread() {
        let weighted = values.times.clone().map_or_else(y, |times| times * y());
        rows = rows.item(or_zero(sum(weighted).filter(present())), "sy");
        if !writer.needs_second_pass() {
            rows = rows.item(or_zero(call("VAR_POP", vec![y()]).filter(present())), "vy");
        }
    }
    if writer.asks(&[Function::Sum]) && has_both_signs(writer) {
        let with = |test: X| Some(present().map_or_else(|| test.clone(), |present| present.and(test.clone())));
        rows = rows.item(writer.occurrences(with(y().less(int(0)))), "neg");
        rows = rows.item(writer.occurrences(with(y().greater(int(0)))), "pos");
    }
    writer.ctes.add("sizes", rows);
    if writer.needs_second_pass() {
        let mean = col("sizes.sy") / writer.counted("sizes", writer.present());
        let deviation = (y() - mean).squared();
        let weighted = values.times.map_or_else(|| deviation.clone(), |times| times * deviation.clone());
        let rows = Rows::of_table(dialect, &values.table, "s").join("sizes", col("sizes.g").eq(group));
        let rows = rows.filter(present()).item(col("sizes.g"), "g").item(sum(weighted), "dd");
        writer.ctes.add("deviations", rows.group_by([col("sizes.g")]));
    }
}

/// One row per group and sensitive value.
fn sizes_by_value(writer: &mut Writer<'_>, at: usize) {
    let (dialect, values) = (writer.dialect, writer.values());
    let group = writer.group("s");
    let scan = || Rows::of_table(dialect, &values.table, "s").item(group.clone(), "g");
    let whole = scan().item(writer.occurrences(None), "n").group_by([group.clone()]);
    let each = scan().item(values.value.clone(), "k").filter(writer.counts(CountedValues::Where));
    let each = match &values.times {
        Some(times) => each.item(times.clone(), "c"),
        None => each.item(dialect.double(count_rows()), "c").group_by([group.clone(), values.value.clone()]),
    };
    writer.ctes.add("group_sizes", whole);
    writer.ctes.add("value_sizes", each);
    let k = || col("value_sizes.k");
    let mut rows = Rows::of("value_sizes").join("group_sizes", col("group_sizes.g").eq(col("value_sizes.g")));
    rows = rows.item(col("value_sizes.g"), "g").item(k(), &format!("k{at}")).item(col("group_sizes.n"), "n");
    for counted in writer.counted_columns() {
        let count = match counted {
            CountedValues::Where => col("value_sizes.c"),
            CountedValues::Present => case(k().missing(), int(0), col("value_sizes.c")),
        };
        rows = rows.item(count, &format!("c{}", counted.letter()));
    }
    if writer.asks(&NUMERIC) {
        rows = rows.item(or_zero(dialect.double(k())) * col("value_sizes.c"), "sy");
    }
    writer.ctes.add("sizes", rows);
}

/// Whether there may be values on both sides of zero.
fn has_both_signs(writer: &Writer<'_>) -> bool {
    let (min, max) = writer.sensitive_ends();
    min.is_none_or(|min| min < 0.0) && max.is_none_or(|max| max > 0.0)
}

/// How many of a cell's values are worth taking for the least sum (or the greatest, if not `is_least`).
pub(super) fn worth_taking(writer: &Writer<'_>, table: &str, is_least: bool) -> X {
    let counted = writer.counted(table, writer.present());
    if writer.sensitive_key().is_some() {
        let test = if is_least {
            col(&format!("{table}.sy")).less(int(0))
        } else {
            col(&format!("{table}.sy")).greater(int(0))
        };
        return case(test, counted, int(0));
    }
    if has_both_signs(writer) {
        return col(&format!("{table}.{}", if is_least { "neg" } else { "pos" }));
    }
    // All values are on one side of zero, so all of them are worth taking, or none.
    let is_negative = writer.sensitive_ends().1.is_some_and(|max| max <= 0.0);
    if is_negative == is_least { counted } else { int(0) }
}

/// Writes `cells` and the CTEs it needs, except `hits`.
pub(super) fn write(writer: &mut Writer<'_>) {
    let has_sizes = writer.needs_values();
    if has_sizes {
        sizes(writer);
    }
    let base = if has_sizes { "sizes" } else { "hits" };
    let at_base = |name: &str| col(&format!("{base}.{name}"));
    let mut rows = Rows::of(base);
    if has_sizes {
        rows = rows.join("hits", col("hits.g").eq(col("sizes.g")));
    }
    rows = rows.item(at_base("g"), "g").item(at_base("n"), "n");
    for at in 0..writer.plan.keys.len() {
        let table = if writer.sensitive_key() == Some(at) { "sizes" } else { "hits" };
        rows = rows.item(col(&format!("{table}.k{at}")), &format!("k{at}"));
    }
    for condition in 0..writer.plan.conditions.len() {
        rows = rows.items(writer.hit_items("hits", condition));
    }
    for counted in writer.counted_columns() {
        let name = format!("c{}", counted.letter());
        rows = rows.item(at_base(&name), &name);
    }
    for pair in writer.pairs().into_iter().filter(|(_, counted)| !writer.is_full(*counted)) {
        let (least, most) = reach_of(writer, pair);
        let letter = pair.1.letter();
        rows = rows.item(least, &format!("lo{}{letter}", pair.0)).item(most, &format!("hi{}{letter}", pair.0));
    }
    rows = number_items(writer, rows);
    let most = if writer.is_full(CountedValues::Where) {
        writer.hit("hits", 0).most
    } else {
        reach_of(writer, (0, CountedValues::Where)).1
    };
    writer.ctes.add("cells", rows.filter(Some(most.greater(int(0)))));
}

fn reach_of(writer: &Writer<'_>, (condition, counted): (usize, CountedValues)) -> (X, X) {
    let hit = writer.hit("hits", condition);
    let count = writer.counted("sizes", counted);
    let least = writer.dialect.greatest(int(0), hit.least + count.clone() - col("sizes.n"));
    (least, writer.dialect.least(hit.most, count))
}

/// Sums and deviations, if an aggregate needs them.
fn number_items(writer: &Writer<'_>, mut rows: Rows) -> Rows {
    if writer.sensitive_key().is_some() {
        if writer.asks(&NUMERIC) {
            rows = rows.item(col("sizes.sy"), "sy").item(writer.dialect.double(int(0)), "dd");
        }
        return rows;
    }
    if writer.needs_spread() {
        rows = rows.item(col("sizes.sy"), "sy");
        rows = if writer.needs_second_pass() {
            rows.left_join("deviations", col("deviations.g").eq(col("sizes.g")))
                .item(or_zero(col("deviations.dd")), "dd")
        } else {
            rows.item(col("sizes.vy") * writer.counted("sizes", writer.present()), "dd")
        };
    }
    if writer.asks(&[Function::Sum]) && has_both_signs(writer) {
        rows = rows.item(col("sizes.neg"), "neg").item(col("sizes.pos"), "pos");
    }
    rows
}

impl Writer<'_> {
    /// The variance, over the cell's worlds, of the sum over its hits of a number that is 0 for values that do not
    /// count. Of the values that count, `mean` is the mean (`None` is 1) and `deviations` the sum of squared deviations
    /// from it.
    pub(super) fn variance(
        &self,
        condition: usize,
        counted: CountedValues,
        mean: Option<&X>,
        deviations: Option<X>,
    ) -> Option<X> {
        let hit = self.hit("cells", condition);
        let n = col("cells.n");
        let per_pair = beside::per_pair(self, &hit, &n, !self.is_thinned());
        let spread = || cases(vec![(n.clone().greater(int(1)), per_pair.clone())], Some(int(0)));
        let count = self.counted("cells", counted);
        let between = (!self.is_full(counted)).then(|| {
            timed(count.clone(), mean.map(|mean| mean.clone().squared())) * (n.clone() - count.clone()) / n.clone()
        });
        let inside = match (deviations, between) {
            (Some(a), Some(b)) => Some(a + b),
            (a, b) => a.or(b),
        };
        let first = inside.map(|inside| spread() * (inside / n.clone()));
        let second = hit.variance.map(|variance| variance * (timed(count, mean.cloned()) / n).squared());
        match (first, second) {
            (Some(a), Some(b)) => Some(a + b),
            (a, b) => a.or(b),
        }
    }
}

fn timed(x: X, factor: Option<X>) -> X {
    match factor {
        Some(factor) => x * factor,
        None => x,
    }
}
