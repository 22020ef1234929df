//! Arithmetic and conditions on aggregates: what bounds of the parts say about the whole (step 10 of `spec.md`).

use chrysalis_table::Value;

use crate::aggregate::Estimate;
use crate::answer::AggregateAnswer;
use crate::question::Comparison;
use crate::statement::{Arithmetic, ScalarFunction};
use crate::term::Scalar;

/// An expression over aggregates and keys.
#[derive(Clone, Debug, PartialEq)]
pub enum Post {
    /// An aggregate.
    Atom(usize),
    /// A value of GROUP BY.
    Key(usize),
    /// A constant.
    Constant(Scalar),
    /// `-x`.
    Negate(Box<Post>),
    /// `x + y` and the like.
    Arithmetic(Box<Post>, Arithmetic, Box<Post>),
    /// `factor · part / whole`, where the rows of a count are part of those of another: the count, and that of the rest.
    Share {
        /// What the share is multiplied with.
        factor: f64,
        /// The count of the part.
        part: usize,
        /// The count of the others.
        rest: usize,
    },
    /// The weighted mean of two aggregates, whose exact bounds are an atom of their own.
    Mean {
        /// The quotient of the two.
        ratio: Box<Post>,
        /// The atom with the bounds.
        bounds: usize,
    },
    /// A function of values.
    Call(ScalarFunction, Vec<Post>),
    /// `x < y` and the like.
    Compare(Box<Post>, Comparison, Box<Post>),
    /// All hold.
    And(Vec<Post>),
    /// At least one holds.
    Or(Vec<Post>),
    /// The inner condition does not hold.
    Not(Box<Post>),
    /// `x IS NULL`.
    IsNull(Box<Post>),
}

/// The values of a row's atoms and keys.
pub(crate) struct RowValues<'a> {
    pub(crate) atoms: &'a [Estimate],
    /// For each atom whether it is a whole number.
    pub(crate) whole: &'a [bool],
    pub(crate) keys: &'a [Option<Value>],
    /// For each key whether all its values are whole numbers.
    pub(crate) whole_keys: &'a [bool],
}

/// Numbers between two ends, or a constant that is none.
#[derive(Clone, Debug)]
pub(crate) enum Known {
    Number { estimate: Estimate, is_whole: bool },
    Other(Scalar),
}

/// What is known about a condition: by the estimates, and whether the bounds settle it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Verdict {
    pub(crate) by_estimate: Option<bool>,
    pub(crate) can_be_true: bool,
    pub(crate) can_fail: bool,
}

impl Post {
    pub(crate) fn known(&self, row: &RowValues<'_>) -> Known {
        match self {
            Post::Atom(at) => Known::Number { estimate: row.atoms[*at], is_whole: row.whole[*at] },
            Post::Key(at) => match known(Scalar::of(row.keys[*at].clone())) {
                Known::Number { estimate, .. } => Known::Number { estimate, is_whole: row.whole_keys[*at] },
                other => other,
            },
            Post::Constant(scalar) => known(scalar.clone()),
            Post::Negate(inner) => {
                let zero = Known::Number { estimate: certain(0.0), is_whole: true };
                arithmetic(Arithmetic::Subtract, &zero, &inner.known(row))
            }
            Post::Arithmetic(a, operator, b) => arithmetic(*operator, &a.known(row), &b.known(row)),
            Post::Share { factor, part, rest } => {
                Known::Number { estimate: share(*factor, row.atoms[*part], row.atoms[*rest]), is_whole: false }
            }
            Post::Mean { ratio, bounds } => match ratio.known(row) {
                Known::Number { mut estimate, is_whole } => {
                    let exact = row.atoms[*bounds];
                    estimate.lower = tighter(estimate.lower, exact.lower, f64::max);
                    estimate.upper = tighter(estimate.upper, exact.upper, f64::min);
                    Known::Number { estimate: estimate.inside(), is_whole }
                }
                other => other,
            },
            Post::Call(function, given) => {
                call(*function, &given.iter().map(|part| part.known(row)).collect::<Vec<_>>())
            }
            condition => {
                let verdict = condition.verdict(row);
                known(verdict.by_estimate.map_or(Scalar::Null, Scalar::Boolean))
            }
        }
    }

    /// The value of an expression whose atoms are answers, and whether it has no bounds because of a divisor.
    pub(crate) fn of_answers(
        &self,
        name: &str,
        answers: &[AggregateAnswer],
        whole: &[bool],
    ) -> (AggregateAnswer, bool) {
        let atoms: Vec<Estimate> = answers.iter().map(Estimate::of).collect();
        let row = RowValues { atoms: &atoms, whole, keys: &[], whole_keys: &[] };
        (super::answer::answer(name, &self.known(&row)), self.is_open(&row))
    }

    fn children(&self) -> Vec<&Post> {
        match self {
            Post::Atom(_) | Post::Key(_) | Post::Constant(_) | Post::Share { .. } => Vec::new(),
            Post::Negate(x) | Post::Not(x) | Post::IsNull(x) | Post::Mean { ratio: x, .. } => vec![x],
            Post::Arithmetic(x, _, y) | Post::Compare(x, _, y) => vec![x, y],
            Post::Call(_, parts) | Post::And(parts) | Post::Or(parts) => parts.iter().collect(),
        }
    }

    /// Whether it has no bounds because a divisor may be 0, and as close to 0 as one likes.
    pub(crate) fn is_open(&self, row: &RowValues<'_>) -> bool {
        let is_bounded = match self.known(row) {
            Known::Number { estimate, .. } => estimate.lower.is_some() && estimate.upper.is_some(),
            Known::Other(_) => true,
        };
        !is_bounded && self.has_open_divisor(row)
    }

    fn has_open_divisor(&self, row: &RowValues<'_>) -> bool {
        let own = match self {
            Post::Arithmetic(_, Arithmetic::Divide | Arithmetic::DivideWhole, divisor) => match divisor.known(row) {
                Known::Number { estimate, is_whole } => estimate
                    .lower
                    .zip(estimate.upper)
                    .is_some_and(|ends| ends != (0.0, 0.0) && without_zero(ends, is_whole).is_none()),
                Known::Other(_) => false,
            },
            _ => false,
        };
        own || self.children().into_iter().any(|part| part.has_open_divisor(row))
    }

    /// What is known about a condition.
    pub(crate) fn verdict(&self, row: &RowValues<'_>) -> Verdict {
        match self {
            Post::Compare(a, comparison, b) => compare(*comparison, &a.known(row), &b.known(row)),
            Post::And(parts) => joined(parts.iter().map(|part| part.verdict(row)), false),
            Post::Or(parts) => joined(parts.iter().map(|part| part.verdict(row)), true),
            Post::Not(inner) => inner.verdict(row).negated(),
            Post::IsNull(inner) => match inner.known(row) {
                Known::Number { estimate, .. } => {
                    let is_null = estimate.lower.is_none() && estimate.upper.is_none();
                    Verdict { by_estimate: Some(estimate.estimate.is_none()), can_be_true: true, can_fail: !is_null }
                }
                Known::Other(scalar) => settled(Some(scalar == Scalar::Null)),
            },
            other => match other.known(row) {
                Known::Other(Scalar::Boolean(truth)) => settled(Some(truth)),
                _ => settled(None),
            },
        }
    }
}

fn tighter(a: Option<f64>, b: Option<f64>, choose: fn(f64, f64) -> f64) -> Option<f64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(choose(a, b)),
        (a, b) => a.or(b),
    }
}

fn known(scalar: Scalar) -> Known {
    match scalar.number() {
        Some(number) if !matches!(scalar, Scalar::Boolean(_)) => {
            Known::Number { estimate: certain(number), is_whole: number.fract() == 0.0 }
        }
        _ => Known::Other(scalar),
    }
}

fn certain(number: f64) -> Estimate {
    Estimate { estimate: Some(number), lower: Some(number), upper: Some(number), std_error: Some(0.0) }
}

/// NULL, whatever happens.
fn null() -> Known {
    Known::Other(Scalar::Null)
}

/// Rounded down, and up, where an operation may have rounded.
fn down(x: f64) -> f64 {
    if x.fract() == 0.0 && x.abs() < 9e15 { x } else { x - x.abs() * 4e-16 }
}

fn up(x: f64) -> f64 {
    -down(-x)
}

fn arithmetic(operator: Arithmetic, a: &Known, b: &Known) -> Known {
    let (Known::Number { estimate: a, is_whole: a_whole }, Known::Number { estimate: b, is_whole: b_whole }) = (a, b)
    else {
        return null();
    };
    let is_whole = *a_whole && *b_whole && operator != Arithmetic::Divide;
    let both = |f: &dyn Fn(f64, f64) -> Option<f64>| a.estimate.zip(b.estimate).and_then(|(a, b)| f(a, b));
    let ends = |e: &Estimate| e.lower.zip(e.upper);
    // Aggregates over the same rows err together, in a direction that is not known: no correlation makes it more than this.
    let error = |by_a: f64, by_b: f64| {
        let (a, b) = (a.std_error.unwrap_or(0.0) * by_a, b.std_error.unwrap_or(0.0) * by_b);
        Some(a.abs() + b.abs())
    };
    let is_nothing = |e: &Estimate| e.estimate.is_none() && e.lower.is_none() && e.upper.is_none();
    if is_nothing(a) || is_nothing(b) {
        return Known::Number { estimate: Estimate::default(), is_whole };
    }
    let sum = |x: Option<f64>, y: Option<f64>, round: fn(f64) -> f64| x.zip(y).map(|(x, y)| round(x + y));
    let negated = |x: Option<f64>| x.map(|x| -x);
    let estimate = match operator {
        Arithmetic::Add => Estimate {
            estimate: both(&|a, b| Some(a + b)),
            lower: sum(a.lower, b.lower, down),
            upper: sum(a.upper, b.upper, up),
            std_error: error(1.0, 1.0),
        },
        Arithmetic::Subtract => Estimate {
            estimate: both(&|a, b| Some(a - b)),
            lower: sum(a.lower, negated(b.upper), down),
            upper: sum(a.upper, negated(b.lower), up),
            std_error: error(1.0, 1.0),
        },
        Arithmetic::Multiply => {
            let ends = ends(a).zip(ends(b)).map(|(a, b)| corners(a, b, |x, y| x * y));
            Estimate {
                estimate: both(&|a, b| Some(a * b)),
                lower: ends.map(|ends| down(ends.0)),
                upper: ends.map(|ends| up(ends.1)),
                std_error: error(b.estimate.unwrap_or(0.0), a.estimate.unwrap_or(0.0)),
            }
        }
        Arithmetic::Divide | Arithmetic::DivideWhole => {
            let whole = operator == Arithmetic::DivideWhole;
            let quotient = |x: f64, y: f64| if whole { (x / y).trunc() } else { x / y };
            let ends = ends(a)
                .zip(ends(b).and_then(|ends| without_zero(ends, *b_whole)))
                .map(|(a, b)| corners(a, b, quotient));
            let by_b = b.estimate.filter(|b| *b != 0.0).unwrap_or(1.0);
            Estimate {
                estimate: both(&|a, b| (b != 0.0).then(|| quotient(a, b))),
                lower: ends.map(|ends| down(ends.0)),
                upper: ends.map(|ends| up(ends.1)),
                std_error: error(1.0 / by_b, a.estimate.unwrap_or(0.0) / (by_b * by_b)),
            }
        }
        // The remainder of an uncertain number is anybody's guess, but no larger than the divisor.
        Arithmetic::Remainder => {
            let is_known = a.lower == a.upper && b.lower == b.upper;
            let known = both(&|a, b| (b != 0.0).then(|| a % b));
            let most = b.upper.zip(b.lower).map(|(upper, lower)| upper.abs().max(lower.abs()));
            Estimate {
                estimate: known,
                lower: if is_known { known } else { most.map(|most| -most) },
                upper: if is_known { known } else { most },
                std_error: if is_known { Some(0.0) } else { most.map(|most| most / 2.0) },
            }
        }
    };
    let estimate = Estimate { std_error: estimate.std_error.filter(|_| estimate.estimate.is_some()), ..estimate };
    Known::Number { estimate: finite(estimate).inside(), is_whole }
}

/// What no double can hold is not known.
fn finite(estimate: Estimate) -> Estimate {
    let finite = |x: Option<f64>| x.filter(|x| x.is_finite());
    Estimate {
        estimate: finite(estimate.estimate),
        lower: finite(estimate.lower),
        upper: finite(estimate.upper),
        std_error: finite(estimate.std_error),
    }
}

fn corners(a: (f64, f64), b: (f64, f64), f: impl Fn(f64, f64) -> f64) -> (f64, f64) {
    let all = [f(a.0, b.0), f(a.0, b.1), f(a.1, b.0), f(a.1, b.1)];
    (all.iter().copied().fold(f64::INFINITY, f64::min), all.iter().copied().fold(f64::NEG_INFINITY, f64::max))
}

/// A divisor: where it is 0 the quotient is NULL, so only the other numbers matter. A whole number other than 0 is at
/// least 1. `None` if the quotient has no bounds.
fn without_zero((low, high): (f64, f64), is_whole: bool) -> Option<(f64, f64)> {
    if low > 0.0 || high < 0.0 {
        return Some((low, high));
    }
    match (low == 0.0, high == 0.0, is_whole) {
        (true, false, true) => Some((high.min(1.0), high)),
        (false, true, true) => Some((low, low.max(-1.0))),
        // Its inverse lies between −1 and 1, and so do those of ±1.
        (false, false, true) => None,
        _ => None,
    }
}

/// PROOF: part/(part + rest) rises with the part and falls with the rest.
fn share(factor: f64, part: Estimate, rest: Estimate) -> Estimate {
    let ratio = |part: Option<f64>, rest: Option<f64>| {
        let (part, rest) = part.zip(rest)?;
        (part + rest > 0.0).then(|| part / (part + rest))
    };
    let least = ratio(part.lower, rest.upper);
    let most = ratio(part.upper, rest.lower)
        .or(part.upper.map(|_| 1.0))
        .filter(|_| least.is_some() || part.upper != Some(0.0));
    let scaled = |x: Option<f64>| x.map(|x| x * factor);
    let (least, most) = (scaled(least.map(down)), scaled(most.map(up)));
    let (lower, upper) = if factor < 0.0 { (most, least) } else { (least, most) };
    let estimate = ratio(part.estimate, rest.estimate);
    let std_error = estimate.map(|share| {
        let whole = part.estimate.unwrap_or(0.0) + rest.estimate.unwrap_or(0.0);
        let (of_part, of_rest) = (part.std_error.unwrap_or(0.0), rest.std_error.unwrap_or(0.0));
        factor.abs() * ((1.0 - share) * of_part + share * of_rest) / whole
    });
    Estimate { estimate: scaled(estimate), lower, upper, std_error }.inside()
}

fn call(function: ScalarFunction, given: &[Known]) -> Known {
    let Some(Known::Number { estimate, is_whole }) = given.first() else {
        return match (function, given) {
            (ScalarFunction::Coalesce, [_, rest @ ..]) if !rest.is_empty() => call(function, rest),
            _ => null(),
        };
    };
    let monotone = |f: &dyn Fn(f64) -> f64| Estimate {
        estimate: estimate.estimate.map(f),
        lower: estimate.lower.map(f),
        upper: estimate.upper.map(f),
        std_error: estimate.std_error,
    };
    let (estimate, is_whole) = match function {
        ScalarFunction::Floor => (monotone(&f64::floor), true),
        ScalarFunction::Ceil => (monotone(&f64::ceil), true),
        ScalarFunction::ToInteger => (monotone(&f64::round_ties_even), true),
        ScalarFunction::ToReal => (*estimate, false),
        ScalarFunction::Round => match given.get(1) {
            None => (monotone(&f64::round), true),
            Some(Known::Number { estimate: Estimate { estimate: Some(digits), .. }, .. }) if digits.abs() <= 15.0 => {
                let scale = 10_f64.powi(*digits as i32);
                (monotone(&|x| (x * scale).round() / scale), false)
            }
            _ => return null(),
        },
        ScalarFunction::Sqrt => {
            let root = |x: Option<f64>| x.map(|x| x.max(0.0).sqrt());
            let error = root(estimate.estimate).filter(|root| *root > 0.0).zip(estimate.std_error);
            let std_error = error.map(|(root, error)| error / (2.0 * root));
            (
                Estimate {
                    estimate: root(estimate.estimate),
                    lower: root(estimate.lower).map(down),
                    upper: root(estimate.upper).map(up),
                    std_error,
                },
                false,
            )
        }
        ScalarFunction::Abs => {
            let ends = estimate.lower.zip(estimate.upper).map(|(low, high)| {
                let most = low.abs().max(high.abs());
                (if low <= 0.0 && high >= 0.0 { 0.0 } else { low.abs().min(high.abs()) }, most)
            });
            let of = Estimate {
                estimate: estimate.estimate.map(f64::abs),
                lower: ends.map(|ends| ends.0),
                upper: ends.map(|ends| ends.1),
                std_error: estimate.std_error,
            };
            (of, *is_whole)
        }
        // A number that equals the other is NULL, and any other is itself.
        ScalarFunction::NullIf => (*estimate, *is_whole),
        ScalarFunction::Coalesce => match given.get(1) {
            Some(Known::Number { estimate: other, is_whole: other_whole }) => {
                let join = |a: Option<f64>, b: Option<f64>, f: fn(f64, f64) -> f64| tighter(a, b, f);
                let of = Estimate {
                    estimate: estimate.estimate.or(other.estimate),
                    lower: join(estimate.lower, other.lower, f64::min),
                    upper: join(estimate.upper, other.upper, f64::max),
                    std_error: estimate.std_error.or(other.std_error),
                };
                (of, *is_whole && *other_whole)
            }
            _ => (*estimate, *is_whole),
        },
        ScalarFunction::Lower | ScalarFunction::Upper | ScalarFunction::Part(_) => return null(),
    };
    Known::Number { estimate: estimate.inside(), is_whole }
}

fn settled(truth: Option<bool>) -> Verdict {
    Verdict { by_estimate: truth, can_be_true: truth == Some(true), can_fail: truth != Some(true) }
}

fn compare(comparison: Comparison, a: &Known, b: &Known) -> Verdict {
    let (Known::Number { estimate: a, .. }, Known::Number { estimate: b, .. }) = (a, b) else {
        let (Known::Other(a), Known::Other(b)) = (a, b) else { return settled(None) };
        return settled(match crate::term::compared(comparison, a, b) {
            Scalar::Boolean(truth) => Some(truth),
            _ => None,
        });
    };
    let by_estimate = a.estimate.zip(b.estimate).map(|(a, b)| match comparison {
        Comparison::Equal => a == b,
        Comparison::NotEqual => a != b,
        Comparison::Less => a < b,
        Comparison::LessOrEqual => a <= b,
        Comparison::Greater => a > b,
        Comparison::GreaterOrEqual => a >= b,
    });
    let low = |e: &Estimate| e.lower.unwrap_or(f64::NEG_INFINITY);
    let high = |e: &Estimate| e.upper.unwrap_or(f64::INFINITY);
    let is_one = low(a) == high(a) && low(b) == high(b);
    let apart = high(a) < low(b) || high(b) < low(a);
    let (can_be_true, can_fail) = match comparison {
        Comparison::Equal => (!apart, apart || !is_one || low(a) != low(b)),
        Comparison::NotEqual => (!is_one || low(a) != low(b), !apart),
        Comparison::Less => (low(a) < high(b), high(a) >= low(b)),
        Comparison::LessOrEqual => (low(a) <= high(b), high(a) > low(b)),
        Comparison::Greater => (high(a) > low(b), low(a) <= high(b)),
        Comparison::GreaterOrEqual => (high(a) >= low(b), low(a) < high(b)),
    };
    let is_null = |e: &Estimate| e.estimate.is_none() && e.lower.is_none() && e.upper.is_none();
    if is_null(a) || is_null(b) {
        return settled(None);
    }
    Verdict { by_estimate, can_be_true, can_fail }
}

impl Verdict {
    /// NOT turns FALSE into TRUE, and leaves UNKNOWN; so the bounds say less about it.
    fn negated(self) -> Self {
        Verdict {
            by_estimate: self.by_estimate.map(|truth| !truth),
            can_be_true: self.can_fail,
            can_fail: self.can_be_true || self.by_estimate.is_none(),
        }
    }
}

fn joined(parts: impl Iterator<Item = Verdict>, is_or: bool) -> Verdict {
    let start = settled(Some(!is_or));
    parts.fold(start, |all, part| {
        let by_estimate = match (all.by_estimate, part.by_estimate) {
            (Some(a), _) | (_, Some(a)) if a == is_or => Some(is_or),
            (Some(_), Some(_)) => Some(!is_or),
            _ => None,
        };
        if is_or {
            Verdict {
                by_estimate,
                can_be_true: all.can_be_true || part.can_be_true,
                can_fail: all.can_fail && part.can_fail,
            }
        } else {
            Verdict {
                by_estimate,
                can_be_true: all.can_be_true && part.can_be_true,
                can_fail: all.can_fail || part.can_fail,
            }
        }
    })
}
