//! The help table, computed again from the permuted values: what any number of hits in a group can add up to, and what
//! its least, greatest and mean values are expected to be.

use chrysalis_dialect::expr::{Direction, X, all, any, call, case, col, int, number, or_zero, sum};
use chrysalis_dialect::select::{Ctes, Rows};
use chrysalis_release::{HELP_COLUMNS, RoleName};
use chrysalis_table::Kind;

use crate::frame::{Frame, call_max, call_min, check, columns_of};
use crate::{Decides, Statement};

/// Numbers that are computed in floating point must agree to this share.
const TOLERANCE: f64 = 1e-9;

pub(crate) fn statements(frame: &Frame<'_>) -> Vec<Statement> {
    let (Some(id), Some(_)) = (frame.id(), frame.layout.shape.help) else { return Vec::new() };
    let mut all = Vec::new();
    for at in frame.with_role(RoleName::Sensitive) {
        let attribute = frame.attribute(at);
        let Some(table) = frame.layout.shape.help_table(&attribute.name, frame.has_several()) else { continue };
        let help = Help { frame, id, table, at };
        all.extend([help.rows(), help.bounds(), help.means(), help.expectations(true), help.expectations(false)]);
    }
    all
}

struct Help<'a> {
    frame: &'a Frame<'a>,
    id: &'static str,
    table: String,
    at: usize,
}

impl Help<'_> {
    fn name(&self, part: &str) -> String {
        self.frame.named(&format!("check/help/{part}"), &self.frame.attribute(self.at).name)
    }

    fn is_real(&self) -> bool {
        Kind::from(self.frame.attribute(self.at).kind) == Kind::Real
    }

    fn of(&self, cte: &str) -> X {
        col(&format!("{cte}.{}", self.id))
    }

    /// Adds `sorted`: the values of every group in ascending order, with their number `n`, and the sums up to each.
    fn add_sorted(&self, ctes: &mut Ctes) {
        let frame = self.frame;
        let (own, value) = (frame.column("t", self.id), frame.column("t", &frame.attribute(self.at).name));
        let rows = frame.rows(&frame.people().name, "t").item(own.clone(), self.id).item(value.clone(), "value");
        let place = call("ROW_NUMBER", Vec::new()).over(std::slice::from_ref(&own), [(value.clone(), Direction::Up)]);
        ctes.add("numbered", rows.item(place, "place").filter(Some(value.present())));
        let (own, value, place) = (self.of("numbered"), col("numbered.value"), col("numbered.place"));
        let keys = [own.clone()];
        let rows = Rows::of("numbered").item(own, self.id).item(value.clone(), "value").item(place.clone(), "place");
        let rows = rows.item(call("COUNT", vec![value.clone()]).over(&keys, []), "n");
        let rows = rows.item(sum(value.clone()).over(&keys, [(place, Direction::Up)]), "up_to");
        let rows = rows.item(sum(value.clone()).over(&keys, []), "total");
        let rows = rows.item(sum(call("ABS", vec![value.clone()])).over(&keys, []), "size");
        let rows = rows.item(call_min(value.clone()).over(&keys, []), "least");
        ctes.add("sorted", rows.item(call_max(value).over(&keys, []), "greatest"));
    }

    /// Adds `shown`: the help table with some of its columns.
    fn add_shown(&self, ctes: &mut Ctes, names: &[&str]) {
        let frame = self.frame;
        let rows = frame.rows(&self.table, "h").item(frame.column("h", self.id), self.id);
        let rows = rows.item(frame.column("h", HELP_COLUMNS[1]), "hits");
        let rows = names.iter().fold(rows, |rows, name| rows.item(frame.column("h", name), name));
        ctes.add("shown", rows);
    }

    /// Every group has one row for every possible number of hits.
    fn rows(&self) -> Statement {
        let frame = self.frame;
        let mut ctes = Ctes::default();
        let (own, value) = (frame.column("t", self.id), frame.column("t", &frame.attribute(self.at).name));
        let place = call("ROW_NUMBER", Vec::new()).over(std::slice::from_ref(&own), [(value.clone(), Direction::Up)]);
        let rows = frame.rows(&frame.people().name, "t").item(own.clone(), self.id).item(place, "hits");
        // A missing value has no sum.
        ctes.add("possible", rows.item(case(value.missing(), int(2), int(1)), "n"));
        let rows = frame.rows(&self.table, "h").item(frame.column("h", self.id), self.id);
        ctes.add("listed", rows.item(frame.column("h", "hits"), "hits").item(int(-1), "n"));
        let names = [self.id, "hits", "n"];
        ctes.add_union("sides", ["possible", "listed"].map(|cte| columns_of(cte, &names)).to_vec());
        let keys = [self.of("sides"), col("sides.hits")];
        let rows = Rows::of("sides").item(keys[0].clone(), self.id).item(keys[1].clone(), "hits");
        check(
            self.name("rows"),
            format!(
                "`{}` has one row for every group and every number of hits from 1 to its rows, of which none lacks its \
                 value. A row is a group and a number of hits for which that is not true.",
                self.table
            ),
            ctes,
            rows.group_by(keys).having(sum(col("sides.n")).differs(int(0))),
        )
    }

    /// Whether two numbers differ by more than rounding; `slack` is allowed besides.
    fn differs(&self, shown: X, target: X, slack: X) -> X {
        let dialect = self.frame.dialect;
        let (shown, target) = (dialect.double(shown), dialect.double(target));
        let abs = |x: X| call("ABS", vec![x]);
        let size = dialect.greatest(abs(shown.clone()), abs(target.clone()));
        let off = abs(shown.clone() - target).greater(size * number(TOLERANCE) + slack * number(TOLERANCE));
        shown.missing().or(off)
    }

    fn is_off(&self, shown: X, target: X) -> X {
        match self.is_real() {
            true => self.differs(shown, target, col("sorted.size") * number(1e-3)),
            false => shown.clone().missing().or(shown.differs(target)),
        }
    }

    /// Sums and values of so many hits.
    fn bounds(&self) -> Statement {
        let mut ctes = Ctes::default();
        self.add_sorted(&mut ctes);
        self.add_shown(&mut ctes, &HELP_COLUMNS[2..8]);
        let of = |name: &str| col(&format!("shown.{name}"));
        let at =
            |alias: &str, place: X| self.of(alias).eq(self.of("shown")).and(col(&format!("{alias}.place")).eq(place));
        ctes.add("rest", columns_of("sorted", &[self.id, "place", "value", "up_to"]));
        ctes.add("nexts", columns_of("sorted", &[self.id, "place", "value"]));
        let (n, hits) = (col("sorted.n"), of("hits"));
        let rows = Rows::of("shown").join("sorted", at("sorted", hits.clone()));
        let rows = rows.left_join("rest", at("rest", n.clone() - hits.clone()));
        let rows = rows.join("nexts", at("nexts", n - hits.clone() + int(1)));
        let targets = [
            ("sum_lb", col("sorted.up_to")),
            ("sum_ub", col("sorted.total") - or_zero(col("rest.up_to"))),
            ("min_lb", col("sorted.least")),
            ("min_ub", col("nexts.value")),
            ("max_lb", col("sorted.value")),
            ("max_ub", col("sorted.greatest")),
        ];
        let wrong = targets.iter().map(|(name, target)| self.is_off(of(name), target.clone())).collect();
        let rows = rows.item(self.of("shown"), self.id).item(hits, "hits").filter(Some(any(wrong)));
        let mut statement = check(
            self.name("bounds"),
            format!(
                "the bounds of sums, minima and maxima in `{}` are those of the permuted values. A row is a group and a number of hits with a wrong bound.",
                self.table
            ),
            ctes,
            rows,
        );
        if self.is_real() {
            statement.decides = Decides::ErrsTowardsComplaint;
        }
        statement
    }

    /// Mean and variance of the sum.
    fn means(&self) -> Statement {
        let dialect = self.frame.dialect;
        let mut ctes = Ctes::default();
        self.add_sorted(&mut ctes);
        let (value, n, total) =
            (dialect.double(col("sorted.value")), dialect.double(col("sorted.n")), dialect.double(col("sorted.total")));
        let off = value.clone() - total.clone() / n.clone();
        let rows = Rows::of("sorted").item(self.of("sorted"), self.id).item(call_max(n.clone()), "n");
        let rows = rows.item(call_max(total), "total").item(sum(off.squared()) / call_max(n), "variance");
        ctes.add("moments", rows.item(sum(value.squared()), "square").group_by([self.of("sorted")]));
        self.add_shown(&mut ctes, &["mean", "variance"]);
        let of = |name: &str| col(&format!("moments.{name}"));
        let hits = col("shown.hits");
        let mean = of("total") / of("n") * hits.clone();
        let rest = case(of("n").greater(int(1)), of("n") - int(1), int(1));
        let variance = dialect.double(hits.clone()) * (of("n") - hits.clone()) / rest * of("variance");
        let wrong = any(vec![
            self.differs(col("shown.mean"), mean, call("ABS", vec![of("total")])),
            self.differs(col("shown.variance"), variance, of("square") * number(1e-3)),
        ]);
        let rows = Rows::of("shown").join("moments", self.of("moments").eq(self.of("shown")));
        let rows = rows.item(self.of("shown"), self.id).item(hits, "hits").filter(Some(wrong));
        let mut statement = check(
            self.name("means"),
            format!(
                "the means and variances of sums in `{}` are those of the permuted values, to nine digits. A row is a group and a number of hits with a wrong one.",
                self.table
            ),
            ctes,
            rows,
        );
        statement.decides = Decides::ErrsTowardsComplaint;
        statement
    }

    /// Mean and variance of the least value hit, or of the greatest.
    fn expectations(&self, is_least: bool) -> Statement {
        let dialect = self.frame.dialect;
        let mut ctes = Ctes::default();
        self.add_sorted(&mut ctes);
        // From one value to the next: the least value drawn lies beyond if all values drawn do.
        ctes.add("next_values", columns_of("sorted", &[self.id, "place", "value"]));
        let on =
            self.of("next_values").eq(self.of("sorted")).and(col("next_values.place").eq(col("sorted.place") + int(1)));
        let (value, next) = (dialect.double(col("sorted.value")), dialect.double(col("next_values.value")));
        let (from, to, beyond) = match is_least {
            true => {
                let first = dialect.double(col("sorted.least"));
                (value - first.clone(), next - first, col("sorted.n") - col("sorted.place"))
            }
            false => {
                let last = dialect.double(col("sorted.greatest"));
                (last.clone() - next, last - value, col("sorted.place"))
            }
        };
        let is_step = col("sorted.value").less(col("next_values.value"));
        let rows = Rows::of("sorted")
            .join("next_values", on)
            .item(self.of("sorted"), self.id)
            .item(col("sorted.place"), "place");
        let rows = rows.item(from, "near_end").item(to, "far_end").item(beyond, "beyond").item(col("sorted.n"), "n");
        ctes.add("steps", rows.filter(Some(is_step)));
        let of = |name: &str| col(&format!("steps.{name}"));
        ctes.add("draws", Rows::of("sorted").item(self.of("sorted"), self.id).item(col("sorted.place"), "hits"));
        let hits = col("draws.hits");
        let on = self.of("draws").eq(self.of("steps")).and(hits.clone().at_most(of("beyond")));
        let each =
            dialect.double(of("beyond") - hits.clone() + int(1)) / dialect.double(of("n") - hits.clone() + int(1));
        let chance =
            sum(call("LN", vec![each])).over(&[self.of("steps"), of("place")], [(hits.clone(), Direction::Up)]);
        let rows = Rows::of("steps").join("draws", on).item(self.of("steps"), self.id).item(hits, "hits");
        let rows = rows.item(of("far_end") - of("near_end"), "width").item(of("far_end") + of("near_end"), "both_ends");
        ctes.add("chances", rows.item(chance, "log_chance"));
        let of = |name: &str| col(&format!("chances.{name}"));
        // Smaller chances than 10^-39 are not followed any further; some databases refuse numbers near zero.
        let chance = case(of("log_chance").greater(int(-90)), call("EXP", vec![of("log_chance")]), int(0));
        let moved = chance * of("width");
        let rows = Rows::of("chances").item(self.of("chances"), self.id).item(of("hits"), "hits");
        let rows = rows.item(sum(moved.clone()), "mean").item(sum(moved * of("both_ends")), "square");
        ctes.add("moments", rows.group_by([self.of("chances"), of("hits")]));
        let (mean_name, variance_name) = match is_least {
            true => ("min_mean", "min_variance"),
            false => ("max_mean", "max_variance"),
        };
        self.add_shown(&mut ctes, &[mean_name, variance_name]);
        let rows = Rows::of("sorted").item(self.of("sorted"), self.id).item(call_min(col("sorted.value")), "least");
        ctes.add("ends", rows.item(call_max(col("sorted.value")), "greatest").group_by([self.of("sorted")]));
        let (mean, square) = (or_zero(col("moments.mean")), or_zero(col("moments.square")));
        let (end, target) = match is_least {
            true => (dialect.double(col("ends.least")), dialect.double(col("ends.least")) + mean.clone()),
            false => (dialect.double(col("ends.greatest")), dialect.double(col("ends.greatest")) - mean.clone()),
        };
        let variance = square.clone() - mean.clone().squared();
        let wrong = any(vec![
            self.differs(col(&format!("shown.{mean_name}")), target, call("ABS", vec![end.clone()]) + mean),
            self.differs(col(&format!("shown.{variance_name}")), variance, square + end.squared() * number(1e-12)),
        ]);
        let on = all(vec![self.of("moments").eq(self.of("shown")), col("moments.hits").eq(col("shown.hits"))]);
        let rows = Rows::of("shown").join("ends", self.of("ends").eq(self.of("shown"))).left_join("moments", on);
        let rows = rows.item(self.of("shown"), self.id).item(col("shown.hits"), "hits").filter(Some(wrong));
        let (part, word) = if is_least { ("minima", "least") } else { ("maxima", "greatest") };
        let mut statement = check(
            self.name(part),
            format!(
                "the expected {word} value of so many hits, and its variance, are in `{}` what follows from the permuted values, to nine digits. A row is a group and a number of hits with a wrong one.",
                self.table
            ),
            ctes,
            rows,
        );
        statement.decides = Decides::ErrsTowardsComplaint;
        statement
    }
}
