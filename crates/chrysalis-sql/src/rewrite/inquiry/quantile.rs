//! Quantiles with interpolation (step 9b of `spec.md`).
//!
//! What the spec sums up over groups for a value v changes only at the values of the groups. So every pick has what it
//! changes, and sums of these, from the least value on and from the greatest, say whether the quantile can lie beyond v.

use super::super::expr::{Direction, X, call, case, cases, col, int, number, sum};
use super::super::select::Rows;
use super::choices::{Choices, POOL, root};

/// Sums of shares that differ by less than this part of the whole are taken for equal, here and in `query`.
const NEAR: f64 = 1e-9;

/// More than the fraction's multiples can round, per hit.
const ROUNDING: f64 = 1e-15;

impl Choices {
    pub(super) fn quantile(&mut self, fraction: f64) -> Rows {
        self.marks();
        self.sums();
        let names: Vec<&str> = POOL.into_iter().chain(SUMS).collect();
        let over = |x: X, keys: &[X]| x.over(keys, None);
        let keys = self.keys("sums");
        let estimate = reached("sums", number(fraction));
        let estimate = call(
            "COALESCE",
            vec![over(call("MIN", vec![estimate]), &keys), over(call("MAX", vec![col("sums.y")]), &keys)],
        );
        let estimate = cases(vec![(col("sums.all_w").greater(int(0)), estimate)], None);
        let rows = self.all_of("sums", &names).item(estimate, "r");
        self.ctes.add("guessed", rows);
        let is_below = col("guessed.y").at_most(col("guessed.r"));
        let z = case(is_below, number(1.0 - fraction), number(-fraction));
        let rows = self.all_of("guessed", &names).item(col("guessed.r"), "r").item(z, "z");
        self.ctes.add("valued", rows);
        let kept: Vec<&str> = SUMS.into_iter().chain(["r", "z"]).collect();
        self.centre("valued", &kept);
        let error = sum(self.variance("centred")).over(&self.keys("centred"), None);
        let error = root(self.dialect, error) / col("centred.all_w").or_null();
        let names = ["y", "w", "all_w", "upto_w", "all_m", "upto_m", "bu", "au", "bd", "ad", "known", "r"];
        let rows = self.all_of("centred", &names).item(error, "error");
        self.ctes.add("errors", rows);
        self.finish(fraction)
    }

    /// Writes `marks`: what every pick weighs (`w`), and how much it changes the hits that can lie on its side of a value
    /// beyond it (`bu` from below, `bd` from above) and those that must lie on the other side (`fu`, `fd`).
    fn marks(&mut self) {
        let dialect = self.dialect;
        let column = |name: &str| col(&format!("pool.{name}"));
        let forced = |passed: &X| dialect.greatest(int(0), column("lo") - passed.clone());
        let beside = |passed: &X| dialect.least(passed.clone(), column("hi") - forced(passed));
        let above = || column("c") - column("upto");
        let below = || column("upto") - column("m");
        let chance = dialect.clamped(column("i") * column("e") / column("n"), int(0), int(1));
        let mut rows = self.all_of("pool", &POOL).item(chance * column("m"), "w");
        for (before, after, letter) in [(below(), column("upto"), 'u'), (above(), above() + column("m"), 'd')] {
            rows = rows
                .item(beside(&after) - beside(&before), &format!("b{letter}"))
                .item(forced(&after) - forced(&before), &format!("f{letter}"));
        }
        let is_first = column("upto").eq(column("m"));
        let rows = rows.item(case(is_first, column("lo"), int(0)), "f0");
        let is_known = column("lo").eq(column("c"));
        self.ctes.add("marks", rows.item(case(is_known, int(1), int(0)), "known"));
    }

    /// Writes `sums`: what lies below every value, or above it.
    fn sums(&mut self) {
        let column = |name: &str| col(&format!("marks.{name}"));
        let keys = self.keys("marks");
        let same: Vec<X> = keys.iter().cloned().chain([column("y")]).collect();
        let all = |name: &str| sum(column(name)).over(&keys, None);
        let upto = |name: &str, direction| sum(column(name)).over(&keys, Some((column("y"), direction)));
        let before = |name: &str, direction| upto(name, direction) - sum(column(name)).over(&same, None);
        let rows = self.all_of("marks", &POOL).item(column("w"), "w");
        let rows = rows
            .item(all("w"), "all_w")
            .item(upto("w", Direction::Up), "upto_w")
            .item(all("m"), "all_m")
            .item(upto("m", Direction::Up), "upto_m")
            .item(before("bu", Direction::Up), "bu")
            .item(all("f0") + before("fu", Direction::Up), "au")
            .item(before("bd", Direction::Down), "bd")
            .item(all("f0") + before("fd", Direction::Down), "ad")
            .item(call("MIN", vec![column("known")]).over(&keys, None), "known");
        self.ctes.add("sums", rows);
    }

    fn finish(&mut self, fraction: f64) -> Rows {
        let dialect = self.dialect;
        let column = |name: &str| col(&format!("errors.{name}"));
        let end = |name: &str, x: X| call(name, vec![x]);
        let y = || column("y");
        // The quantile cannot lie below y where too few hits can.
        let holds = |side: char, fraction: f64| {
            let (beside, others) = (column(&format!("b{side}")), column(&format!("a{side}")));
            let left = beside.clone() * number(1.0 - fraction) - others.clone() * number(fraction) + number(fraction);
            beside.clone().eq(int(0)).or(left.at_most((beside + others) * number(ROUNDING)))
        };
        let lower = end("MAX", y()).filter(Some(holds('u', fraction)));
        let upper = end("MIN", y()).filter(Some(holds('d', 1.0 - fraction)));
        let at = |fraction: X| call("COALESCE", vec![end("MIN", reached("errors", fraction)), end("MAX", y())]);
        let low = at(dialect.greatest(int(0), number(fraction) - column("error")));
        let high = at(dialect.least(int(1), number(fraction) + column("error")));
        let error = (high - low) / int(2);
        // Where all values are known, the quantile is that of the values.
        let rank = || (column("all_m") - int(1)) * number(fraction);
        let value = |round: &str| {
            let is_passed = column("upto_m").greater(call(round, vec![rank()]));
            end("MIN", y()).filter(Some(is_passed))
        };
        let part = end("MAX", rank() - call("FLOOR", vec![rank()]));
        let exact = value("FLOOR") + (value("CEIL") - value("FLOOR")) * part;
        let is_known = || end("MIN", column("known")).eq(int(1));
        let either = |x: X| case(is_known(), exact.clone(), x);
        let rows = self.with_keys("errors").group_by(self.keys("errors"));
        let rows = rows.item(either(end("MAX", column("r"))), "e").item(either(lower), "l").item(either(upper), "u");
        let rows = rows.item(case(is_known(), dialect.double(int(0)), error), "s");
        self.clamped(rows)
    }
}

/// The columns that `sums` adds.
const SUMS: [&str; 10] = ["w", "all_w", "upto_w", "all_m", "upto_m", "bu", "au", "bd", "ad", "known"];

/// A value, if this share of the expected hits lies at or below it.
fn reached(table: &str, fraction: X) -> X {
    let column = |name: &str| col(&format!("{table}.{name}"));
    let target = (fraction - number(NEAR)) * column("all_w");
    let is_reached = column("upto_w").at_least(target).and(column("w").greater(int(0)));
    cases(vec![(is_reached, column("y"))], None)
}
