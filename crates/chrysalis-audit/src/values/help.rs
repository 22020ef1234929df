//! The help table, recomputed from the permuted values alone (ke 5.1).

use chrysalis_table::{Code, Column, Value, Watch};

use super::tables::{Help, ValueTables};
use super::tally::Tally;
use crate::Check;
use crate::findings::Findings;

/// How far a published number may lie from the recomputed one, as a share of it. Whole numbers must be equal.
const TOLERANCE: f64 = 1e-9;
/// Sums of reals lose digits to the largest of them; an error of this share of all values together is allowed.
const SLACK: f64 = 1e-12;

/// Every group has one row for every possible number of hits, and every number in it is right.
pub(super) fn check(tables: &ValueTables<'_>, tally: &Tally, watch: &dyn Watch) -> Option<Check> {
    let (help, (attribute, column)) = (tables.help.as_ref()?, tables.sensitive?);
    let mut findings = Findings::new("help");
    let numbers: Vec<Number> = (0..column.domain().len() as Code).filter_map(|code| number(column, code)).collect();
    if numbers.len() < column.domain().len() {
        findings.add("missing values", || format!("`{}` is missing in some rows, so it has no sums", attribute.name));
        return Some(findings.check(String::new()));
    }
    let lines = Lines::new(help, tally, &mut findings);
    let sample = tally.sample.as_ref()?;
    for group in 0..tally.ids.len() {
        watch.pause();
        let values = sample.group(group).values.iter();
        let values: Vec<Number> =
            values.flat_map(|&(code, count)| std::iter::repeat_n(numbers[code as usize], count as usize)).collect();
        let bounds = Bounds::of(values);
        for hits in 1..=tally.sizes[group] as usize {
            let Some(row) = lines.row(group, hits) else {
                findings.add("missing rows", || format!("group {}: no row for {hits} hits", tally.name(group)));
                continue;
            };
            let is_right =
                |(at, column): (usize, &&Column)| bounds.is_right(at, hits, number(column, column.code(row)));
            for (_, column) in help.numbers.iter().enumerate().filter(|&cell| !is_right(cell)) {
                findings.add("wrong numbers", || {
                    format!("group {}: `{}` for {hits} hits is wrong", tally.name(group), column.name())
                });
            }
        }
    }
    Some(findings.check(format!("{} rows, every number recomputed", help.table.rows())))
}

/// Which row of the help table is about which group and number of hits.
struct Lines {
    starts: Vec<usize>,
    /// One more than the row; 0 where there is none.
    rows: Vec<usize>,
}

impl Lines {
    fn new(help: &Help<'_>, tally: &Tally, findings: &mut Findings) -> Lines {
        let mut starts = vec![0];
        tally.sizes.iter().for_each(|&size| starts.push(starts[starts.len() - 1] + size as usize));
        let mut rows = vec![0; starts[starts.len() - 1]];
        for (row, group) in tally.of_rows(help.group).into_iter().enumerate() {
            let group = group as usize;
            let hits = match help.hits.domain().value(help.hits.code(row)) {
                Some(Value::Integer(hits)) => usize::try_from(*hits).ok(),
                _ => None,
            };
            let size = tally.sizes[group] as usize;
            match hits.filter(|hits| (1..=size).contains(hits)) {
                None => findings.add("stray rows", || {
                    format!("group {}: a row for an impossible number of hits", tally.name(group))
                }),
                Some(hits) => {
                    let known = &mut rows[starts[group] + hits - 1];
                    if *known > 0 {
                        findings
                            .add("repeated rows", || format!("group {}: two rows for {hits} hits", tally.name(group)));
                    }
                    *known = row + 1;
                }
            }
        }
        Lines { starts, rows }
    }

    fn row(&self, group: usize, hits: usize) -> Option<usize> {
        self.rows[self.starts[group] + hits - 1].checked_sub(1)
    }
}

/// A number as it is published.
#[derive(Clone, Copy)]
enum Number {
    Whole(i64),
    Real(f64),
}

impl Number {
    fn float(self) -> f64 {
        match self {
            Number::Whole(number) => number as f64,
            Number::Real(number) => number,
        }
    }
}

fn number(column: &Column, code: Code) -> Option<Number> {
    match column.domain().value(code)? {
        Value::Integer(number) => Some(Number::Whole(*number)),
        Value::Real(number) => Some(Number::Real(*number)),
        Value::Date(_) | Value::DateTime(_) | Value::Text(_) => None,
    }
}

/// The values of one group, ascending, and what follows from them.
struct Bounds {
    values: Vec<Number>,
    /// Sums of the smallest values, exact for whole numbers: none, one, two, …
    whole: Vec<i128>,
    real: Vec<f64>,
    /// The sum of all values without their signs.
    size: f64,
    variance: f64,
    least: Extremes,
    /// Of the negated values.
    greatest: Extremes,
}

impl Bounds {
    fn of(values: Vec<Number>) -> Bounds {
        let (mut whole, mut real, mut size) = (vec![0i128], vec![0.0], 0.0);
        for value in &values {
            let exact = if let Number::Whole(number) = value { i128::from(*number) } else { 0 };
            whole.push(whole[whole.len() - 1] + exact);
            real.push(real[real.len() - 1] + value.float());
            size += value.float().abs();
        }
        let n = values.len();
        let square = |value: &Number| {
            let off = match value {
                // PROOF: below 2³² values of 64 bits, so the difference stays below 2⁹⁷; nothing cancels in floats.
                Number::Whole(number) => (n as i128 * i128::from(*number) - whole[n]) as f64 / n as f64,
                Number::Real(number) => number - real[n] / n as f64,
            };
            off * off
        };
        let variance = values.iter().map(square).sum::<f64>() / n.max(1) as f64;
        let numbers: Vec<f64> = values.iter().map(|value| value.float()).collect();
        let negated: Vec<f64> = numbers.iter().rev().map(|number| -number).collect();
        let (least, greatest) = (Extremes::of(&numbers), Extremes::of(&negated));
        Bounds { values, whole, real, size, variance, least, greatest }
    }

    /// The sum of the values from one place up to another.
    fn sum(&self, from: usize, to: usize) -> Target {
        match self.values.first() {
            Some(Number::Whole(_)) => Target::Whole(self.whole[to] - self.whole[from]),
            _ => Target::Real(self.real[to] - self.real[from], SLACK * self.size),
        }
    }

    fn value(&self, at: usize) -> Target {
        match self.values[at] {
            Number::Whole(number) => Target::Whole(number.into()),
            Number::Real(number) => Target::Real(number, 0.0),
        }
    }

    /// Whether a published number is right; `at` counts the columns of the form after `hits`.
    fn is_right(&self, at: usize, hits: usize, shown: Option<Number>) -> bool {
        let n = self.values.len();
        // Where sizes do not agree, which is a finding elsewhere, nothing is right.
        if hits > n {
            return false;
        }
        let target = match at {
            0 => self.sum(0, hits),
            1 => self.sum(n - hits, n),
            2 => self.value(0),
            3 => self.value(n - hits),
            4 => self.value(hits - 1),
            5 => self.value(n - 1),
            6 => Target::Real(self.total() / n as f64 * hits as f64, SLACK * self.size),
            7 => {
                let spread = (n - hits) as f64 / (n.max(2) - 1) as f64;
                // A deviation carries the rounding of its mean, and is squared.
                let slack = (SLACK * self.size).powi(2);
                Target::Real(hits as f64 * spread * self.variance, slack)
            }
            8 => self.least.mean(hits, 1.0),
            9 => self.least.variance(hits),
            10 => self.greatest.mean(hits, -1.0),
            _ => self.greatest.variance(hits),
        };
        shown.is_some_and(|shown| target.is_met(shown))
    }

    fn total(&self) -> f64 {
        let n = self.values.len();
        if matches!(self.values.first(), Some(Number::Whole(_))) { self.whole[n] as f64 } else { self.real[n] }
    }
}

/// The expected least of 1, 2, … values, all choices equally likely: moments of how far it lies above the first value.
struct Extremes {
    first: f64,
    span: f64,
    mean: Vec<f64>,
    square: Vec<f64>,
}

/// Smaller chances are not followed any further.
const NEVER: f64 = 1e-40;

impl Extremes {
    /// Of values in ascending order.
    fn of(values: &[f64]) -> Extremes {
        let (n, first) = (values.len(), values.first().copied().unwrap_or(0.0));
        let (mut mean, mut square) = (vec![0.0; n], vec![0.0; n]);
        // The least value drawn lies beyond a step from one value to the next if all values drawn do.
        for (at, pair) in values.windows(2).enumerate().filter(|(_, pair)| pair[0] < pair[1]) {
            let (from, to) = (pair[0] - first, pair[1] - first);
            let above = n - at - 1;
            let mut chance = 1.0;
            for drawn in 0..above {
                chance *= (above - drawn) as f64 / (n - drawn) as f64;
                if chance < NEVER {
                    break;
                }
                mean[drawn] += chance * (to - from);
                square[drawn] += chance * (to - from) * (to + from);
            }
        }
        let span = values.last().map_or(0.0, |last| last - first);
        Extremes { first, span, mean, square }
    }

    fn mean(&self, hits: usize, sign: f64) -> Target {
        // PROOF: the steps that were not followed sum up to the span at most, each with a chance below NEVER.
        Target::Real(sign * (self.first + self.mean[hits - 1]), SLACK * self.first.abs() + NEVER * self.span)
    }

    fn variance(&self, hits: usize) -> Target {
        let (mean, square) = (self.mean[hits - 1], self.square[hits - 1]);
        // The difference of two squares is off by their last digits, and so is every step between large numbers.
        let rounding = SLACK * square + (SLACK * self.first).powi(2) + f64::MIN_POSITIVE;
        Target::Real(square - mean * mean, rounding + NEVER * self.span * self.span)
    }
}

/// The number that should be there; reals with the error that is allowed besides the tolerance.
enum Target {
    Whole(i128),
    Real(f64, f64),
}

impl Target {
    fn is_met(&self, shown: Number) -> bool {
        match (self, shown) {
            (Target::Whole(number), Number::Whole(shown)) => *number == i128::from(shown),
            (Target::Whole(_), Number::Real(_)) => false,
            (Target::Real(number, slack), shown) => {
                let shown = shown.float();
                number.is_finite() && (number - shown).abs() <= TOLERANCE * number.abs().max(shown.abs()) + slack
            }
        }
    }
}
