//! Aggregates of values that may be hit (steps 9a, 9b and 9d of `spec.md`).
//!
//! An aggregate is a statement of its own: `raw` has the values of all its parts, `picks` one row per group and value,
//! `placed` how many values of the group are no greater (`upto`), and `pool` how many must be hit and how many can be
//! (`lo`, `hi`).

use chrysalis_query::question::Function;

use super::super::Dialect;
use super::super::expr::{Direction, X, call, case, cases, col, count_rows, int, null, number, or_zero, sum};
use super::super::select::{Ctes, Rows};
use super::picks::OF_GROUP;

/// Stands in for a probability of 0, so that it has a logarithm.
const IMPOSSIBLE: f64 = 1e-300;
/// The logarithm of a probability too small to affect any sum, and far enough from underflow.
const NEVER: i64 = -300;

/// An aggregate under construction.
pub(super) struct Choices {
    pub(super) dialect: Dialect,
    pub(super) ctes: Ctes,
    /// The number of keys.
    pub(super) n_keys: usize,
}

impl Choices {
    pub(super) fn keys(&self, table: &str) -> Vec<X> {
        (0..self.n_keys).map(|at| col(&format!("{table}.k{at}"))).collect()
    }

    pub(super) fn with_keys(&self, table: &str) -> Rows {
        let keys = (0..self.n_keys).map(|at| (col(&format!("{table}.k{at}")), format!("k{at}")));
        Rows::of(table).items(keys)
    }

    /// The columns that tell groups apart.
    fn group(&self, table: &str) -> Vec<X> {
        self.keys(table).into_iter().chain(["p", "g"].map(|name| col(&format!("{table}.{name}")))).collect()
    }

    /// All columns of a table, to be passed on.
    pub(super) fn all_of(&self, table: &str, names: &[&str]) -> Rows {
        names.iter().fold(self.with_keys(table), |rows, name| rows.item(col(&format!("{table}.{name}")), name))
    }

    /// Writes `picks`, `placed` and `pool` from `raw`.
    pub(super) fn pool(&mut self) {
        let names: Vec<&str> = ["p", "g", "y"].into_iter().chain(OF_GROUP).collect();
        let by: Vec<X> = names.iter().map(|name| col(&format!("raw.{name}"))).collect();
        let rows = self.all_of("raw", &names).item(sum(col("raw.m")), "m");
        self.ctes.add("picks", rows.group_by(self.keys("raw")).group_by(by));
        let names: Vec<&str> = names.into_iter().chain(["m"]).collect();
        let (group, m) = (self.group("picks"), || sum(col("picks.m")));
        let rows = self.all_of("picks", &names).item(m().over(&group, None), "c");
        let rows = rows.item(m().over(&group, Some((col("picks.y"), Direction::Up))), "upto");
        self.ctes.add("placed", rows);
        let names: Vec<&str> = names.into_iter().chain(["c", "upto"]).collect();
        let column = |name: &str| col(&format!("placed.{name}"));
        // Of the rows that match for certain, all but n − l satisfy the other conditions.
        let least = self.dialect.greatest(int(0), column("l") + column("c") - column("n")) * column("ok");
        let most = self.dialect.least(column("u"), column("c"));
        let rows = self.all_of("placed", &names).item(least, "lo").item(most.clone(), "hi");
        self.ctes.add("pool", rows.filter(Some(most.greater(int(0)))));
    }

    /// Writes the aggregate from `pool`: the keys and `e`, `l`, `u`, `s`. `None` if no SQL is written for it.
    pub(super) fn aggregate(&mut self, function: Function, fraction: f64, is_certain: bool) -> Option<Rows> {
        Some(match function {
            Function::Sum => self.total(),
            Function::Avg => self.average(),
            Function::Min => self.extreme(Direction::Up),
            Function::Max => self.extreme(Direction::Down),
            Function::CountDistinct => self.distinct(),
            Function::Quantile => self.quantile(fraction),
            Function::VarPop if is_certain => self.spread(false, false),
            Function::VarSamp if is_certain => self.spread(true, false),
            Function::StddevPop if is_certain => self.spread(false, true),
            Function::StddevSamp if is_certain => self.spread(true, true),
            _ => return None,
        })
    }

    /// How often a value is expected to be hit.
    pub(super) fn weight(&self, table: &str) -> X {
        let column = |name: &str| col(&format!("{table}.{name}"));
        column("m") * column("i") * column("e") / column("n")
    }

    /// A value's part in the variance of the sum of `z` over the hits (step 7a); `table` has the mean `z_mean` of its
    /// group. What is to be added once per group is spread over its values.
    pub(super) fn variance(&self, table: &str) -> X {
        let column = |name: &str| col(&format!("{table}.{name}"));
        let (m, n, z, mean) = (|| column("m"), || column("n"), || column("z"), || column("z_mean"));
        let share = m() / column("c");
        let others = self.dialect.greatest(int(0), n() - column("c"));
        let squares = m() * (z() * column("i") - mean()).squared() + share.clone() * others * mean().squared();
        let drawn = self.dialect.greatest(int(0), column("d")) / n() * squares;
        let of_boxes = column("e") / n() * m() * z().squared() * column("io");
        drawn + of_boxes + share * column("v") * mean().squared()
    }

    /// Writes `centred` from a table that has `z`.
    pub(super) fn centre(&mut self, table: &str, kept: &[&str]) {
        let column = |name: &str| col(&format!("{table}.{name}"));
        let mean = sum(column("z") * column("i") * column("m")).over(&self.group(table), None) / column("n");
        let names: Vec<&str> = POOL.into_iter().chain(kept.iter().copied()).collect();
        let rows = self.all_of(table, &names).item(mean, "z_mean");
        self.ctes.add("centred", rows);
    }

    fn total(&mut self) -> Rows {
        let rows = self.all_of("pool", &POOL).item(col("pool.y"), "z");
        self.ctes.add("valued", rows);
        self.centre("valued", &["z"]);
        let y = || col("centred.y");
        let end = |direction: Direction| {
            let copies = Copies::of("centred", direction);
            let worth = match direction {
                Direction::Up => self.dialect.least(y(), int(0)),
                Direction::Down => self.dialect.greatest(y(), int(0)),
            };
            sum(y() * copies.that_must(self.dialect) + worth * copies.that_may(self.dialect))
        };
        let (estimate, lower, upper) = (sum(y() * self.weight("centred")), end(Direction::Up), end(Direction::Down));
        let rows = self.with_keys("centred").group_by(self.keys("centred"));
        let rows = rows.item(estimate, "e").item(lower, "l").item(upper, "u");
        let rows = rows.item(root(self.dialect, sum(self.variance("centred"))), "s");
        self.clamped(rows)
    }

    fn average(&mut self) -> Rows {
        let keys = self.keys("pool");
        let over = |x: X| sum(x).over(&keys, None);
        let weight = || self.weight("pool");
        let ratio = over(col("pool.y") * weight()) / over(weight()).or_null();
        let rows = self.all_of("pool", &POOL).item(ratio, "r");
        self.ctes.add("rated", rows);
        let rows = self.all_of("rated", &POOL).item(col("rated.r"), "r");
        self.ctes.add("valued", rows.item(col("rated.y") - col("rated.r"), "z"));
        self.centre("valued", &["z", "r"]);
        // By value: what must be hit, what may be, what is expected, and the variance.
        let y = || col("centred.y");
        let mut rows = self.with_keys("centred").item(y(), "y").item(call("MAX", vec![col("centred.r")]), "r");
        for (direction, letter) in SIDES {
            let copies = Copies::of("centred", direction);
            let (must, may) = (copies.that_must(self.dialect), copies.that_may(self.dialect));
            rows = rows
                .item(sum(y() * must.clone()), &format!("s{letter}"))
                .item(sum(must), &format!("c{letter}"))
                .item(sum(may), &format!("m{letter}"));
        }
        rows = rows.item(sum(self.weight("centred")), "w").item(sum(self.variance("centred")), "vz");
        self.ctes.add("steps", rows.group_by(self.keys("centred")).group_by([y()]));
        let keys = self.keys("steps");
        let mut rows = self.all_of("steps", &["r", "w", "vz"]);
        let mut bounds = Vec::new();
        for (direction, letter) in SIDES {
            let column = |name: char| col(&format!("steps.{name}{letter}"));
            let whole = |x: X| sum(x).over(&keys, None);
            let running = |x: X| sum(x).over(&keys, Some((col("steps.y"), direction)));
            let taken = running(col("steps.y") * column('m'));
            let average = (whole(column('s')) + taken) / (whole(column('c')) + running(column('m'))).or_null();
            rows = rows.item(average, &format!("a{letter}"));
            rows = rows.item(whole(column('s')) / whole(column('c')).or_null(), &format!("b{letter}"));
            let best = |name: char| {
                let column = col(&format!("averages.{name}{letter}"));
                call(if direction == Direction::Up { "MIN" } else { "MAX" }, vec![column])
            };
            let either = |a: X, b: X| call("COALESCE", vec![a, b]);
            let (a, b) = (either(best('a'), best('b')), either(best('b'), best('a')));
            let is_better = match direction {
                Direction::Up => a.clone().less(b.clone()),
                Direction::Down => a.clone().greater(b.clone()),
            };
            bounds.push(case(is_better, a, b));
        }
        self.ctes.add("averages", rows);
        let estimate = call("MAX", vec![col("averages.r")]);
        let error = root(self.dialect, sum(col("averages.vz"))) / sum(col("averages.w")).or_null();
        let mut rows = self.with_keys("averages").group_by(self.keys("averages")).item(estimate, "e");
        for (bound, name) in bounds.into_iter().zip(["l", "u"]) {
            rows = rows.item(bound, name);
        }
        self.clamped(rows.item(error, "s"))
    }

    /// The logarithm of the probability that no copy of a value is hit.
    fn missed(&self) -> X {
        let chance = col("pool.i") * col("pool.e") / col("pool.n");
        let miss = self.dialect.clamped(int(1) - chance, number(IMPOSSIBLE), int(1));
        sum(col("pool.m") * call("LN", vec![self.dialect.double(miss)]))
    }

    fn chance(&self, log: X) -> X {
        call("EXP", vec![self.dialect.greatest(int(NEVER), log)])
    }

    fn extreme(&mut self, direction: Direction) -> Rows {
        let must = || col("pool.lo").at_least(int(1));
        // The lo-th value from the far end cannot be missed.
        let is_sure = match direction {
            Direction::Up => must().and(col("pool.upto").greater(col("pool.c") - col("pool.lo"))),
            Direction::Down => must().and((col("pool.upto") - col("pool.m")).less(col("pool.lo"))),
        };
        let log = self.dialect.greatest(int(2 * NEVER), self.missed());
        let rows = self.with_keys("pool").item(col("pool.y"), "y").item(log, "log");
        let rows = rows.item(call("MAX", vec![case(is_sure, int(1), int(0))]), "sure");
        self.ctes.add("odds", rows.group_by(self.keys("pool")).group_by([col("pool.y")]));
        let own = || col("odds.log");
        let running = || sum(own()).over(&self.keys("odds"), Some((col("odds.y"), direction)));
        let here = self.chance(running() - own()) - self.chance(running());
        let rows = self.all_of("odds", &["y", "sure"]).item(here, "here");
        self.ctes.add("chances", rows);
        let over = |x: X| sum(x).over(&self.keys("chances"), None);
        let mean = over(col("chances.y") * col("chances.here")) / over(col("chances.here")).or_null();
        let rows = self.all_of("chances", &["y", "sure", "here"]).item(mean, "mean");
        self.ctes.add("expected", rows);
        let column = |name: &str| col(&format!("expected.{name}"));
        let end = |name: &str| call(name, vec![column("y")]);
        let sure = |name: &str| end(name).filter(Some(column("sure").eq(int(1))));
        let (lower, upper) = match direction {
            Direction::Up => (end("MIN"), call("COALESCE", vec![sure("MIN"), end("MAX")])),
            Direction::Down => (call("COALESCE", vec![sure("MAX"), end("MIN")]), end("MAX")),
        };
        let variance = sum(column("here") * (column("y") - column("mean")).squared()) / sum(column("here")).or_null();
        let rows = self.with_keys("expected").group_by(self.keys("expected"));
        let rows = rows.item(call("MAX", vec![column("mean")]), "e").item(lower, "l").item(upper, "u");
        let rows = rows.item(root(self.dialect, variance), "s");
        self.clamped(rows)
    }

    fn distinct(&mut self) -> Rows {
        let dialect = self.dialect;
        let column = |name: &str| col(&format!("pool.{name}"));
        // By value: how likely it is missed, and whether some group cannot avoid it.
        let is_sure = column("lo").greater(column("c") - column("m"));
        let rows = self.with_keys("pool").item(self.chance(self.missed()), "miss");
        let rows = rows.item(call("MAX", vec![case(is_sure, int(1), int(0))]), "sure");
        self.ctes.add("by_value", rows.group_by(self.keys("pool")).group_by([column("y")]));
        // By group: how many values it has, and how few its hits can share.
        let order = [(column("m"), Direction::Down), (column("y"), Direction::Up)];
        let rows = self.all_of("pool", &["p", "g", "m", "lo", "hi"]);
        let rows = rows.item(sum(column("m")).over(&self.group("pool"), order), "first");
        self.ctes.add("ordered", rows);
        let column = |name: &str| col(&format!("ordered.{name}"));
        let is_needed = (column("first") - column("m")).less(column("lo"));
        let rows = self.with_keys("ordered").item(sum(case(is_needed, int(1), int(0))), "few");
        let rows = rows.item(dialect.least(dialect.double(count_rows()), call("MAX", vec![column("hi")])), "many");
        self.ctes.add("by_group", rows.group_by(self.group("ordered")));
        let (hit, miss) = (int(1) - col("by_value.miss"), col("by_value.miss"));
        let names = ["e", "v", "sure", "n", "few", "many"];
        let unknown = || dialect.double(null());
        let of_values = [
            sum(hit.clone()),
            sum(hit * miss),
            dialect.double(sum(col("by_value.sure"))),
            dialect.double(count_rows()),
            unknown(),
            unknown(),
        ];
        let few = dialect.double(call("MAX", vec![col("by_group.few")]));
        let of_groups = [unknown(), unknown(), unknown(), unknown(), few, sum(col("by_group.many"))];
        let arm = |table: &str, columns: [X; 6]| {
            let rows = self.with_keys(table).group_by(self.keys(table));
            columns.into_iter().zip(names).fold(rows, |rows, (x, name)| rows.item(x, name))
        };
        let arms = vec![arm("by_value", of_values), arm("by_group", of_groups)];
        self.ctes.add_union("told", arms);
        let most = |name: &str| call("MAX", vec![col(&format!("told.{name}"))]);
        let rows = self.with_keys("told").group_by(self.keys("told")).item(most("e"), "e");
        let rows = rows.item(dialect.greatest(or_zero(most("sure")), or_zero(most("few"))), "l");
        let rows = rows.item(dialect.least(or_zero(most("n")), or_zero(most("many"))), "u");
        let rows = rows.item(root(dialect, most("v")), "s");
        self.clamped(rows)
    }

    /// The variance of values that are all known, or its root.
    fn spread(&mut self, is_sample: bool, is_root: bool) -> Rows {
        let keys = self.keys("pool");
        let over = |x: X| sum(x).over(&keys, None);
        let n = || over(col("pool.m"));
        let rows = self.all_of("pool", &["y", "m"]).item(over(col("pool.y") * col("pool.m")) / n(), "mean");
        let rows = rows.item(n(), "all_m");
        self.ctes.add("means", rows);
        let column = |name: &str| col(&format!("means.{name}"));
        let n = || call("MAX", vec![column("all_m")]);
        let squares = sum(column("m") * (column("y") - column("mean")).squared());
        let n_less = if is_sample { n() - int(1) } else { n() };
        let variance = squares / n_less.or_null();
        let value = if is_root { call("SQRT", vec![variance]) } else { variance };
        let rows = self.with_keys("means").group_by(self.keys("means"));
        self.known(rows, value)
    }

    /// A number that is the same in every world.
    fn known(&self, rows: Rows, value: X) -> Rows {
        let rows = ["e", "l", "u"].into_iter().fold(rows, |rows, name| rows.item(value.clone(), name));
        let error = cases(vec![(value.present(), int(0))], None);
        rows.item(self.dialect.double(error), "s")
    }

    /// The same with the estimate clamped into its bounds.
    pub(super) fn clamped(&mut self, rows: Rows) -> Rows {
        self.ctes.add("numbers", rows);
        let column = |name: &str| col(&format!("numbers.{name}"));
        let inside = self.dialect.clamped(column("e"), column("l"), column("u"));
        let estimate = cases(vec![(column("e").present(), inside)], None);
        let error = cases(vec![(column("e").present(), column("s"))], None);
        self.with_keys("numbers").item(estimate, "e").item(column("l"), "l").item(column("u"), "u").item(error, "s")
    }
}

/// The columns of `pool`.
pub(super) const POOL: [&str; 17] =
    ["p", "g", "y", "n", "e", "l", "u", "v", "d", "i", "io", "ok", "m", "c", "upto", "lo", "hi"];

const SIDES: [(Direction, char); 2] = [(Direction::Up, 'l'), (Direction::Down, 'u')];

/// How many copies of a value are taken, if values are taken from the smallest or from the largest.
struct Copies {
    before: X,
    upto: X,
    times: X,
    least: X,
    most: X,
}

impl Copies {
    fn of(table: &str, direction: Direction) -> Self {
        let column = |name: &str| col(&format!("{table}.{name}"));
        let (upto, times, count) = (|| column("upto"), || column("m"), || column("c"));
        let (before, upto) = match direction {
            Direction::Up => (upto() - times(), upto()),
            Direction::Down => (count() - upto(), count() - upto() + times()),
        };
        Copies { before, upto, times: times(), least: column("lo"), most: column("hi") }
    }

    /// Those among the first that must be hit.
    fn that_must(&self, dialect: Dialect) -> X {
        dialect.clamped(self.least.clone() - self.before.clone(), int(0), self.times.clone())
    }

    /// Those among the next that may be hit.
    fn that_may(&self, dialect: Dialect) -> X {
        let to = dialect.least(self.upto.clone(), self.most.clone());
        dialect.greatest(int(0), to - dialect.greatest(self.before.clone(), self.least.clone()))
    }
}

/// The root of a variance, which may be negative by a rounding error.
pub(super) fn root(dialect: Dialect, variance: X) -> X {
    call("SQRT", vec![dialect.greatest(int(0), variance)])
}
