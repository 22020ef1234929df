//! The values that may be hit, group by group (step 9 of `spec.md`).
//!
//! Columns: the keys of the plan; `g`, the group; `y`, a value; `m`, how often it occurs there; and of the group `n`, its
//! rows; `e`, `l`, `u` and `v`, how many rows satisfy the conditions (expected, least, most, variance); `d`, the variance
//! of a draw per unit of spread; `i`, the probability that a row matches; `io`, its variance; and `ok`, 1 if all rows
//! match for certain, else 0.

use chrysalis_query::inquiry::{Mapped, Operand, Term};
use chrysalis_query::{Field, Plan, QueryError};
use chrysalis_release::{Detail, Release, RoleName};

use super::super::expr::{X, case, cases, col, count_rows, int, null, number, or_zero};
use super::super::hits::Hit;
use super::super::select::{Ctes, Rows};
use super::super::{CountedValues, Dialect, Writer, beside, hits, parts, refused, sets};
use super::terms::Terms;

/// The columns of groups.
pub(super) const OF_GROUP: [&str; 9] = ["n", "e", "l", "u", "v", "d", "i", "io", "ok"];

/// What may be hit, as a statement of its own, and whether every world has the same hits.
pub(super) struct Picks {
    pub(super) ctes: Ctes,
    pub(super) rows: Rows,
    pub(super) is_certain: bool,
}

/// Writes the values of one operand.
pub(super) fn write(
    plan: &Plan,
    operand: &Operand,
    release: &Release,
    dialect: Dialect,
    is_distinct: bool,
) -> Result<Picks, QueryError> {
    let bare = bare(plan);
    let mut picks = Writing::new(plan, &bare, release, dialect, is_distinct)?;
    let (rows, is_certain) = match operand {
        Operand::Constant(constant) => picks.of_values(ValuesOf::Sensitive, &|_, _| Ok(number(*constant)))?,
        Operand::Sensitive(mapped) => {
            picks.of_values(ValuesOf::Sensitive, &|picks, value| picks.sensitive(mapped, value))?
        }
        Operand::Rows(mapped) => picks.of_rows(mapped, None)?,
        Operand::Product(factor, value) => picks.of_rows(factor, Some(value))?,
    };
    Ok(Picks { ctes: picks.writer.ctes, rows, is_certain })
}

/// A plan of which only the hits are needed.
pub(super) fn bare(plan: &Plan) -> Plan {
    let mut bare = plan.clone();
    bare.aggregates.clear();
    bare.valued.clear();
    bare.conditions.truncate(1);
    bare
}

pub(super) struct Writing<'a> {
    pub(super) writer: Writer<'a>,
    /// Whether sensitive values matter, and not only how many rows a group has.
    needs_sensitive: bool,
    /// Whether values only need to be told apart.
    is_distinct: bool,
}

/// Where values come from of which only the groups are known.
#[derive(Clone, Copy)]
enum ValuesOf {
    /// From the keys of hits.
    Keys,
    /// From the sensitive values of a group.
    Sensitive,
}

impl<'a> Writing<'a> {
    /// For what is left of a plan.
    pub(super) fn new(
        plan: &'a Plan,
        bare: &'a Plan,
        release: &'a Release,
        dialect: Dialect,
        is_distinct: bool,
    ) -> Result<Self, QueryError> {
        let writer = Writer { plan: bare, ..Writer::new(plan, release, dialect)? };
        Ok(Writing { writer, needs_sensitive: plan.needs_sensitive(), is_distinct })
    }

    pub(super) fn dialect(&self) -> Dialect {
        self.writer.dialect
    }

    /// A term over the columns that `column` gives.
    pub(super) fn value(&self, mapped: &Mapped, column: &dyn Fn(usize) -> X) -> Result<X, QueryError> {
        let terms = Terms { dialect: self.dialect(), fields: self.writer.fields(), column };
        match (&mapped.term, &mapped.names) {
            (Term::Attribute(field), Some(_)) if self.is_distinct => Ok(column(*field)),
            (term, Some(names)) => terms.numbered(term, &|scalar| names.get(&scalar.key()).copied()),
            (term, None) => Ok(self.dialect().double(terms.number(term)?)),
        }
    }

    pub(super) fn sensitive(&self, mapped: &Mapped, value: &X) -> Result<X, QueryError> {
        self.value(mapped, &|_| value.clone())
    }

    /// Values of which only the groups are known.
    fn of_values(
        &mut self,
        of: ValuesOf,
        y: &dyn Fn(&Self, &X) -> Result<X, QueryError>,
    ) -> Result<(Rows, bool), QueryError> {
        let dialect = self.dialect();
        let is_certain = self.drawn()?;
        let mut rows = Rows::of("drawn");
        let quasi: Vec<usize> = self.keys_of_drawn();
        rows = quasi.iter().fold(rows, |rows, at| rows.item(col(&format!("drawn.k{at}")), &format!("k{at}")));
        rows = rows.item(col("drawn.g"), "g");
        let has_values = self.needs_sensitive && self.writer.plan.sensitive.is_some();
        if has_values {
            let values = self.writer.values();
            let y = y(self, &values.value)?;
            let group = self.writer.group("s");
            let mut each = Rows::of_table(dialect, &values.table, "s").item(group, "g");
            each = each.item(values.times.clone().unwrap_or_else(|| dialect.double(int(1))), "m");
            each = each.filter(self.writer.counts(CountedValues::Where));
            rows = match of {
                ValuesOf::Keys => rows.filter(Some(y.clone().present())).item(y, "y"),
                ValuesOf::Sensitive => {
                    each = each.item(y.clone(), "y").filter(Some(y.present()));
                    rows.item(col("each_value.y"), "y")
                }
            };
            if let Some(at) = self.writer.sensitive_key() {
                each = each.item(values.value.clone(), &format!("k{at}"));
                rows = rows.item(col(&format!("each_value.k{at}")), &format!("k{at}"));
            }
            self.writer.ctes.add("each_value", each);
            rows = rows.join("each_value", col("each_value.g").eq(col("drawn.g")));
            rows = rows.item(col("each_value.m"), "m");
        } else {
            let y = y(self, &null())?;
            let y = if self.is_distinct { y } else { dialect.double(y) };
            rows = rows.filter(Some(y.clone().present())).item(y, "y").item(col("drawn.n"), "m");
        }
        let rows = ["n", "e", "l", "u", "v", "d"]
            .into_iter()
            .fold(rows, |rows, name| rows.item(col(&format!("drawn.{name}")), name));
        Ok((certain_rows(dialect, rows), is_certain))
    }

    /// The keys that hits are known by.
    fn keys_of_drawn(&self) -> Vec<usize> {
        let asked = self.writer.sensitive_key();
        (0..self.writer.plan.keys.len()).filter(|at| Some(*at) != asked).collect()
    }

    /// Writes `group_sizes` (`g`, `n`) and `drawn`: the hits of every group, with the conditions on other sensitive columns,
    /// but without the one on the column that is asked about. Returns whether they are all rows of all groups.
    fn drawn(&mut self) -> Result<bool, QueryError> {
        let dialect = self.dialect();
        self.sizes();
        let n = || col("group_sizes.n");
        let has_hits = self.writer.has_hits();
        let (mut rows, hit, table) = if has_hits {
            hits::write(&mut self.writer)?;
            let rows = Rows::of("hits").join("group_sizes", col("group_sizes.g").eq(col("hits.g")));
            (rows, self.writer.hit("hits", 0), "hits")
        } else {
            let hit = Hit { expected: n(), least: n(), most: n(), variance: None };
            (Rows::of("group_sizes"), hit, "group_sizes")
        };
        rows = rows.item(col(&format!("{table}.g")), "g").item(n(), "n");
        if has_hits {
            let keys = self.keys_of_drawn();
            rows = keys.iter().fold(rows, |rows, at| rows.item(col(&format!("hits.k{at}")), &format!("k{at}")));
        }
        let spread = beside::per_pair(&self.writer, &hit, &n(), !self.writer.is_thinned());
        let spread = cases(vec![(n().greater(int(1)), spread)], Some(int(0)));
        let rows = rows
            .item(hit.expected, "e")
            .item(hit.least, "l")
            .item(hit.most.clone(), "u")
            .item(dialect.double(hit.variance.unwrap_or_else(|| int(0))), "v")
            .item(dialect.double(spread), "d")
            .filter(Some(hit.most.greater(int(0))));
        self.writer.ctes.add("drawn", rows);
        Ok(!has_hits)
    }

    pub(super) fn sizes(&mut self) {
        let dialect = self.dialect();
        let group = self.writer.group("s");
        let (table, count) = match self.writer.plan.sensitive {
            Some(_) => (self.writer.values().table, self.writer.occurrences(None)),
            None => (self.writer.plan.table.clone(), dialect.double(count_rows())),
        };
        let rows = Rows::of_table(dialect, &table, "s").item(group.clone(), "g").item(count, "n").group_by([group]);
        self.writer.ctes.add("group_sizes", rows);
    }

    /// Values that stand in rows of their own, times values of the sensitive column in the same rows if they are given.
    fn of_rows(&mut self, factor: &Mapped, times: Option<&Mapped>) -> Result<(Rows, bool), QueryError> {
        let plan = self.writer.plan;
        let fields = factor.term.fields();
        let is_weight = fields.iter().all(|&field| self.writer.fields()[field].is_weight);
        match plan.shape.detail {
            Detail::Exact if times.is_none() => self.exact(factor),
            Detail::GroupBoxes if is_weight => self.weights(factor, times),
            Detail::Permuted | Detail::GroupBoxes | Detail::RowBoxes if times.is_none() => {
                let [field] = fields.as_slice() else { return refused(self.mixed()) };
                if let Some(at) = plan.keys.iter().position(|key| key == field) {
                    let key = col(&format!("drawn.k{at}"));
                    let key = parts::key_value(&self.writer, *field, key);
                    // A key's value is the same for all hits.
                    return self.of_values(ValuesOf::Keys, &|picks, _| picks.value(factor, &|_| key.clone()));
                }
                if plan.shape.detail == Detail::Permuted {
                    return self.permuted(factor, *field);
                }
                let name = &self.writer.fields()[*field].name;
                refused(format!(
                    "`{name}` is published as ranges or labels, and aggregates over it are not rewritten as SQL"
                ))
            }
            _ => refused(self.mixed()),
        }
    }

    fn mixed(&self) -> &'static str {
        "a product of columns that stand in different rows is not rewritten as SQL for this form of release"
    }

    /// Rows that show their values. How many of them satisfy the sensitive condition is known, but not which.
    fn exact(&mut self, mapped: &Mapped) -> Result<(Rows, bool), QueryError> {
        let dialect = self.dialect();
        self.check_thinned()?;
        self.sizes();
        let name = |field: usize| self.writer.fields()[field].name.clone();
        let y = self.value(mapped, &|field| self.writer.column("q", &name(field)))?;
        let mut rows = hits::matching(&self.writer).filter(Some(y.clone().present()));
        for (at, field) in self.writer.quasi_keys() {
            rows = rows.item(self.writer.column("q", &name(field)), &format!("k{at}"));
        }
        let rows = rows.item(self.writer.group("q"), "g").item(y, "y").item(dialect.double(int(1)), "m");
        self.writer.ctes.add("each_row", rows);
        let asks_values = !self.writer.is_full(CountedValues::Where);
        let mut rows = Rows::of("each_row").join("group_sizes", col("group_sizes.g").eq(col("each_row.g")));
        let n = || col("group_sizes.n");
        let c = if asks_values {
            self.counted();
            rows = rows.join("counted", col("counted.g").eq(col("each_row.g")));
            col("counted.c")
        } else {
            n()
        };
        for at in 0..self.writer.plan.keys.len() {
            let table = if self.writer.sensitive_key() == Some(at) { "counted" } else { "each_row" };
            rows = rows.item(col(&format!("{table}.k{at}")), &format!("k{at}"));
        }
        let spread = c.clone() * (n() - c.clone()) / (n() - int(1)).or_null();
        let rows =
            ["g", "y", "m"].into_iter().fold(rows, |rows, name| rows.item(col(&format!("each_row.{name}")), name));
        let rows = rows
            .item(n(), "n")
            .item(c.clone(), "e")
            .item(c.clone(), "l")
            .item(c.clone(), "u")
            .item(dialect.double(int(0)), "v")
            .item(dialect.double(or_zero(spread)), "d")
            .filter(asks_values.then(|| c.greater(int(0))));
        Ok((certain_rows(dialect, rows), !asks_values))
    }

    /// Writes `counted`: how many of a group's sensitive values count (`c`), by value if they are a key.
    fn counted(&mut self) {
        let (dialect, values, group) = (self.dialect(), self.writer.values(), self.writer.group("s"));
        let counts = self.writer.counts(CountedValues::Where);
        let mut rows = Rows::of_table(dialect, &values.table, "s").item(group.clone(), "g").filter(counts);
        rows = rows.item(values.occurrences(dialect, None), "c").group_by([group]);
        if let Some(at) = self.writer.sensitive_key() {
            rows = rows.item(values.value.clone(), &format!("k{at}")).group_by([values.value]);
        }
        self.writer.ctes.add("counted", rows);
    }

    pub(super) fn check_thinned(&self) -> Result<(), QueryError> {
        if !self.writer.is_thinned() {
            return Ok(());
        }
        let problem = "an aggregate over a column that is not sensitive, with conditions on several sensitive columns, is \
                       not rewritten as SQL";
        refused(problem)
    }

    /// Survey weights in rows that match as likely as their group's label says.
    fn weights(&mut self, factor: &Mapped, times: Option<&Mapped>) -> Result<(Rows, bool), QueryError> {
        let dialect = self.dialect();
        self.check_thinned()?;
        let plan = self.writer.plan;
        let asks_values = !self.writer.is_full(CountedValues::Where);
        if (asks_values || times.is_some()) && !plan.has_weights_beside_values() {
            let problem = "the weights of this release stand in other rows than the values asked for, and such an aggregate \
                           is not rewritten as SQL";
            return refused(problem);
        }
        let is_whole = self.drawn()?;
        let name = |field: usize| self.writer.fields()[field].name.clone();
        let column = |field: usize| self.writer.column("q", &name(field));
        let mut y = self.value(factor, &column)?;
        if let Some(times) = times {
            y = y * self.value(times, &column)?;
        }
        let on = col("drawn.g").eq(self.writer.group("q"));
        let mut rows = Rows::of("drawn").join_table(dialect, plan.shape.people, "q", on);
        if let (true, Some(field)) = (asks_values, plan.sensitive) {
            rows = rows.filter(self.writer.counts_at(&column(field)));
        }
        for at in 0..plan.keys.len() {
            let is_sensitive = self.writer.fields()[plan.keys[at]].role == RoleName::Sensitive;
            let key = if is_sensitive { column(plan.keys[at]) } else { col(&format!("drawn.k{at}")) };
            rows = rows.item(key, &format!("k{at}"));
        }
        let n = || col("drawn.n");
        let is_sure = case(col("drawn.l").greater(int(0)), int(1), int(0));
        let rows = rows
            .filter(Some(y.clone().present()))
            .item(col("drawn.g"), "g")
            .item(y, "y")
            .item(dialect.double(int(1)), "m")
            .item(n(), "n")
            .item(n(), "e")
            .item(n(), "l")
            .item(n(), "u")
            .item(dialect.double(int(0)), "v")
            .item(dialect.double(int(0)), "d")
            .item(col("drawn.e") / n(), "i")
            .item(col("drawn.v") / n(), "io")
            .item(is_sure, "ok");
        Ok((rows, is_whole))
    }

    /// A permuted column: hits have some of the values that the condition admits.
    fn permuted(&mut self, mapped: &Mapped, field: usize) -> Result<(Rows, bool), QueryError> {
        let dialect = self.dialect();
        self.drawn()?;
        let asks_values = !self.writer.is_full(CountedValues::Where);
        let name = self.writer.fields()[field].name.clone();
        let column = self.writer.column("q", &name);
        let y = self.value(mapped, &|_| column.clone())?;
        let group = self.writer.group("q");
        let admitted = admitted(self.writer.plan, field, &self.writer.fields()[field]);
        let admitted = admitted.map(|set| sets::is_in(dialect, &column, &self.writer.fields()[field], &set));
        let scan = || Rows::of_table(dialect, self.writer.plan.shape.people, "q").filter(admitted.clone());
        let all = scan().item(group.clone(), "g").item(dialect.double(count_rows()), "a").group_by([group.clone()]);
        let each = scan().item(group, "g").item(y.clone(), "y").filter(Some(y.present()));
        self.writer.ctes.add("admitted", all);
        self.writer.ctes.add("each_row", each);
        let mut rows = Rows::of("drawn").join("admitted", col("admitted.g").eq(col("drawn.g")));
        let (n, a) = (|| col("drawn.n"), || col("admitted.a"));
        let [e, l, u, v] = ["e", "l", "u", "v"].map(|name| col(&format!("drawn.{name}")));
        let (mut e, mut l, mut u, mut v) = (e, l, u, v);
        if asks_values {
            // The sensitive condition draws from the hits once more.
            self.counted();
            let c = || col("counted.c");
            rows = rows.join("counted", col("counted.g").eq(col("drawn.g")));
            let drawn = dialect.greatest(int(0), col("drawn.d")) * (c() / n()) * ((n() - c()) / n());
            v = drawn + v * (c() / n()).squared();
            e = e * (c() / n());
            l = dialect.greatest(int(0), l + c() - n());
            u = dialect.least(u, c());
        }
        for at in 0..self.writer.plan.keys.len() {
            let table = if self.writer.sensitive_key() == Some(at) { "counted" } else { "drawn" };
            rows = rows.item(col(&format!("{table}.k{at}")), &format!("k{at}"));
        }
        rows =
            rows.item(col("drawn.g"), "g").item(a(), "a").item(e, "e").item(l, "l").item(u.clone(), "u").item(v, "v");
        self.writer.ctes.add("chosen", rows.filter(Some(u.greater(int(0)))));
        let mut rows = Rows::of("chosen").join("each_row", col("each_row.g").eq(col("chosen.g")));
        rows = rows.items(self.writer.key_items("chosen"));
        let (e, a) = (|| col("chosen.e"), || col("chosen.a"));
        let spread = e() * dialect.greatest(int(0), a() - e()) - col("chosen.v");
        let spread = spread / (a() - int(1)).or_null();
        let rows = rows
            .item(col("chosen.g"), "g")
            .item(col("each_row.y"), "y")
            .item(dialect.double(int(1)), "m")
            .item(a(), "n")
            .item(dialect.least(e(), a()), "e")
            .item(col("chosen.l"), "l")
            .item(col("chosen.u"), "u")
            .item(col("chosen.v"), "v")
            .item(dialect.double(or_zero(spread)), "d");
        Ok((certain_rows(dialect, rows), false))
    }
}

/// The values of an attribute that some box of the condition admits; `None` is all of them.
fn admitted(plan: &Plan, field: usize, attribute: &Field) -> Option<chrysalis_query::value_set::ValueSet> {
    let boxes = &plan.conditions.first()?.boxes;
    let sets: Option<Vec<_>> = boxes.iter().map(|cell| cell.sets.get(&field)).collect();
    Some(sets?.into_iter().fold(attribute.nothing(), |any, set| any.union(set)))
}

/// Rows that match for certain.
fn certain_rows(dialect: Dialect, rows: Rows) -> Rows {
    rows.item(dialect.double(int(1)), "i").item(dialect.double(int(0)), "io").item(int(1), "ok")
}
