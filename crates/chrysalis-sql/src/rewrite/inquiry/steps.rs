//! Expressions of aggregates, with intervals (step 10 of `spec.md`). Every operation is a CTE of its own, because it uses
//! its operands several times.

use chrysalis_query::QueryError;
use chrysalis_query::inquiry::{Post, Scalar};
use chrysalis_query::statement::{Arithmetic, ScalarFunction};

use super::super::expr::{X, all, any, call, case, cases, col, int, null, number, or_zero, truth};
use super::super::select::{Ctes, Rows};
use super::super::{Dialect, refused};
use super::choices::root;
use super::terms::{compared, rounded, to_even, towards_zero};

/// What an expression is, as columns of the last CTE.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "a statement has few of them, and none lives long")]
pub(super) enum Node {
    Number(Number),
    /// A text, a date or a datetime, compared in the order in which it stands here.
    Other(X),
    /// A condition, decided by estimates.
    Truth(X),
    /// NULL, whatever happens.
    Null,
}

/// Four columns.
#[derive(Clone, Debug)]
pub(super) struct Number {
    pub(super) estimate: X,
    pub(super) lower: X,
    pub(super) upper: X,
    pub(super) std_error: X,
    pub(super) is_whole: bool,
    /// The number itself, if it is a constant.
    constant: Option<f64>,
}

impl Number {
    pub(super) fn ends(&self) -> [&X; 4] {
        [&self.estimate, &self.lower, &self.upper, &self.std_error]
    }

    fn constant(constant: f64) -> Self {
        let x = || number(constant);
        let is_whole = constant.fract() == 0.0;
        Number { estimate: x(), lower: x(), upper: x(), std_error: int(0), is_whole, constant: Some(constant) }
    }

    fn map(&self, f: impl Fn(X) -> X, is_whole: bool) -> Number {
        Number {
            estimate: f(self.estimate.clone()),
            lower: f(self.lower.clone()),
            upper: f(self.upper.clone()),
            std_error: self.std_error.clone(),
            is_whole,
            constant: None,
        }
    }

    fn has_ends(&self) -> X {
        self.lower.clone().present().and(self.upper.clone().present())
    }
}

/// The name by which every step calls the one before it. Names of the answer's columns may be anything, so columns are
/// never named without it.
pub(super) const LAST: &str = "answer";

/// The chain of CTEs.
pub(super) struct Steps {
    pub(super) dialect: Dialect,
    pub(super) ctes: Ctes,
    /// The last CTE, and its columns.
    pub(super) table: String,
    pub(super) columns: Vec<String>,
    /// For each atom whether it is a whole number.
    pub(super) whole: Vec<bool>,
    /// What the keys are.
    pub(super) keys: Vec<Node>,
    pub(super) n_numbers: usize,
}

impl Steps {
    /// The columns of an atom, or of a step.
    fn numbered(&self, at: usize, is_whole: bool) -> Number {
        let [estimate, lower, upper, std_error] =
            ['e', 'l', 'u', 's'].map(|letter| col(&format!("{LAST}.{letter}{at}")));
        Number { estimate, lower, upper, std_error, is_whole, constant: None }
    }

    /// Adds a number as columns of a new CTE; without an estimate it has no error.
    fn step(&mut self, number: Number) -> Node {
        let at = self.n_numbers;
        self.n_numbers += 1;
        let error = cases(vec![(number.estimate.clone().present(), number.std_error)], None);
        let columns = [('e', number.estimate), ('l', number.lower), ('u', number.upper), ('s', error)];
        let columns = columns.map(|(letter, x)| (format!("{letter}{at}"), x));
        self.cte(&format!("step_{at}"), columns);
        Node::Number(self.numbered(at, number.is_whole))
    }

    /// The same, with the estimate inside its bounds.
    fn clamped_step(&mut self, number: Number) -> Node {
        let Node::Number(raw) = self.step(number) else { return Node::Null };
        let inside = self.dialect.clamped(raw.estimate.clone(), raw.lower.clone(), raw.upper.clone());
        let is_known = raw.has_ends().and(raw.estimate.clone().present());
        let estimate = cases(vec![(is_known, inside)], Some(raw.estimate.clone()));
        self.step(Number { estimate, ..raw })
    }

    /// Adds a CTE with all columns so far, and some more.
    fn cte(&mut self, name: &str, more: impl IntoIterator<Item = (String, X)>) {
        let own = |rows: Rows, column: &String| rows.item(col(&format!("{LAST}.{column}")), column);
        let rows = self.columns.iter().fold(Rows::of_alias(&self.table, LAST), own);
        let more: Vec<(String, X)> = more.into_iter().collect();
        let rows = more.iter().fold(rows, |rows, (name, x)| rows.item(self.dialect.double(x.clone()), name));
        self.ctes.add(name, rows);
        self.columns.extend(more.into_iter().map(|(name, _)| name));
        name.clone_into(&mut self.table);
    }

    pub(super) fn node(&mut self, post: &Post) -> Result<Node, QueryError> {
        Ok(match post {
            Post::Atom(at) => Node::Number(self.numbered(*at, self.whole[*at])),
            Post::Key(at) => self.keys[*at].clone(),
            Post::Constant(scalar) => constant(self.dialect, scalar),
            Post::Negate(inner) => {
                let inner = self.node(inner)?;
                self.arithmetic(&Node::Number(Number::constant(0.0)), Arithmetic::Subtract, &inner)?
            }
            Post::Arithmetic(a, operator, b) => {
                let (a, b) = (self.node(a)?, self.node(b)?);
                self.arithmetic(&a, *operator, &b)?
            }
            Post::Share { factor, part, rest } => self.share(*factor, *part, *rest),
            Post::Mean { ratio, bounds } => {
                let Node::Number(mut ratio) = self.node(ratio)? else { return Ok(Node::Null) };
                let exact = self.numbered(*bounds, false);
                ratio.lower = self.both(&ratio.lower, &exact.lower, Dialect::greatest);
                ratio.upper = self.both(&ratio.upper, &exact.upper, Dialect::least);
                self.clamped_step(ratio)
            }
            Post::Call(function, given) => {
                let given = given.iter().map(|part| self.node(part)).collect::<Result<Vec<_>, _>>()?;
                self.call(*function, &given)?
            }
            condition => Node::Truth(self.condition(condition)?),
        })
    }

    /// One of two numbers, or what `choose` makes of both where both are known.
    fn both(&self, a: &X, b: &X, choose: fn(Dialect, X, X) -> X) -> X {
        let chosen = choose(self.dialect, a.clone(), b.clone());
        let are_known = a.clone().present().and(b.clone().present());
        cases(vec![(are_known, chosen)], Some(call("COALESCE", vec![a.clone(), b.clone()])))
    }

    /// A condition on estimates, in three-valued logic.
    pub(super) fn condition(&mut self, post: &Post) -> Result<X, QueryError> {
        let unknown = || cases(vec![(truth(false), truth(true))], None);
        Ok(match post {
            Post::Compare(a, comparison, b) => match (self.node(a)?, self.node(b)?) {
                (Node::Number(a), Node::Number(b)) => compared(*comparison, a.estimate, b.estimate),
                (Node::Other(a), Node::Other(b)) => compared(*comparison, a, b),
                (Node::Truth(a), Node::Truth(b)) => compared(*comparison, as_number(a), as_number(b)),
                _ => unknown(),
            },
            Post::And(parts) => all(parts.iter().map(|part| self.condition(part)).collect::<Result<_, _>>()?),
            Post::Or(parts) => any(parts.iter().map(|part| self.condition(part)).collect::<Result<_, _>>()?),
            Post::Not(inner) => self.condition(inner)?.negated(),
            Post::IsNull(inner) => match self.node(inner)? {
                Node::Number(number) => number.estimate.missing(),
                Node::Other(x) => x.missing(),
                Node::Truth(x) => as_number(x).missing(),
                Node::Null => truth(true),
            },
            other => match self.node(other)? {
                Node::Truth(x) => x,
                _ => unknown(),
            },
        })
    }

    fn arithmetic(&mut self, a: &Node, operator: Arithmetic, b: &Node) -> Result<Node, QueryError> {
        let (Node::Number(a), Node::Number(b)) = (a, b) else { return Ok(Node::Null) };
        let is_whole = a.is_whole && b.is_whole && operator != Arithmetic::Divide;
        let error = |by_a: Option<X>, by_b: Option<X>| {
            let side = |error: &X, by: Option<X>| {
                let error = or_zero(error.clone());
                by.map_or_else(|| error.clone(), |by| call("ABS", vec![error.clone() * by]))
            };
            match (a.constant, b.constant) {
                (Some(_), Some(_)) => int(0),
                (Some(_), None) => side(&b.std_error, by_b),
                (None, Some(_)) => side(&a.std_error, by_a),
                (None, None) => side(&a.std_error, by_a) + side(&b.std_error, by_b),
            }
        };
        let (ae, be) = (a.estimate.clone(), b.estimate.clone());
        let number = |estimate: X, lower: X, upper: X, std_error: X| Number {
            estimate,
            lower,
            upper,
            std_error,
            is_whole,
            constant: None,
        };
        let [al, au, bl, bu] = [&a.lower, &a.upper, &b.lower, &b.upper].map(Clone::clone);
        let found = match operator {
            Arithmetic::Add => number(ae + be, al + bl, au + bu, error(None, None)),
            Arithmetic::Subtract => number(ae - be, al - bu, au - bl, error(None, None)),
            Arithmetic::Multiply => {
                let (lower, upper) = match (a.constant, b.constant) {
                    (Some(c), _) if c >= 0.0 => (bl * ae.clone(), bu * ae.clone()),
                    (Some(_), _) => (bu * ae.clone(), bl * ae.clone()),
                    (_, Some(c)) if c >= 0.0 => (al * be.clone(), au * be.clone()),
                    (_, Some(_)) => (au * be.clone(), al * be.clone()),
                    _ => self.corners(a, b, |x, y| x * y),
                };
                let error = error(Some(or_zero(be.clone())), Some(or_zero(ae.clone())));
                number(ae * be, lower, upper, error)
            }
            Arithmetic::Divide | Arithmetic::DivideWhole => {
                let is_division = operator == Arithmetic::Divide;
                let by = |x: X, y: X| {
                    let quotient = self.dialect.double(x) / y.or_null();
                    if is_division { quotient } else { towards_zero(quotient) }
                };
                let estimate = by(ae.clone(), be.clone());
                let divisor = be.clone().or_null();
                let by_b = or_zero(ae) / (divisor.clone() * divisor.clone());
                let std_error = error(Some(self.dialect.double(int(1)) / divisor), Some(by_b));
                let (lower, upper) = match b.constant {
                    Some(0.0) => (self.dialect.double(null()), self.dialect.double(null())),
                    Some(c) if c > 0.0 => (by(al, be.clone()), by(au, be)),
                    Some(_) => (by(au, be.clone()), by(al, be)),
                    None => {
                        let b = self.without_zero(b);
                        self.corners(a, &b, by)
                    }
                };
                number(estimate, lower, upper, std_error)
            }
            Arithmetic::Remainder => {
                return refused(
                    "% of an aggregate is not rewritten as SQL: an error in the last digit would change it",
                );
            }
        };
        // The estimate of a divisor may be closer to 0 than the divisor can be.
        let is_quotient = matches!(operator, Arithmetic::Divide | Arithmetic::DivideWhole);
        Ok(if is_quotient { self.clamped_step(found) } else { self.step(found) })
    }

    /// The least and the greatest result over the ends of two numbers.
    fn corners(&self, a: &Number, b: &Number, f: impl Fn(X, X) -> X) -> (X, X) {
        let corner = |x: &X, y: &X| f(x.clone(), y.clone());
        let all = [
            corner(&a.lower, &b.lower),
            corner(&a.lower, &b.upper),
            corner(&a.upper, &b.lower),
            corner(&a.upper, &b.upper),
        ];
        let are_known = || a.has_ends().and(b.has_ends());
        let fold = |choose: fn(Dialect, X, X) -> X| {
            let folded = all.iter().cloned().reduce(|x, y| choose(self.dialect, x, y)).unwrap_or_else(null);
            cases(vec![(are_known(), folded)], None)
        };
        (fold(Dialect::least), fold(Dialect::greatest))
    }

    /// A divisor: where it is 0 the quotient is NULL, so only other numbers matter; a whole number is then at least 1.
    fn without_zero(&self, b: &Number) -> Number {
        let (l, u) = (|| b.lower.clone(), || b.upper.clone());
        let is_off = || l().greater(int(0)).or(u().less(int(0)));
        let (mut lower, mut upper) = (vec![(is_off(), l())], vec![(is_off(), u())]);
        if b.is_whole {
            let from_zero = || l().eq(int(0)).and(u().greater(int(0)));
            let to_zero = || u().eq(int(0)).and(l().less(int(0)));
            lower.extend([(from_zero(), self.dialect.least(u(), int(1))), (to_zero(), l())]);
            upper.extend([(from_zero(), u()), (to_zero(), self.dialect.greatest(l(), int(-1)))]);
        }
        Number { lower: cases(lower, None), upper: cases(upper, None), ..b.clone() }
    }

    fn share(&mut self, factor: f64, part: usize, rest: usize) -> Node {
        let (part, rest) = (self.numbered(part, true), self.numbered(rest, true));
        let ratio = |part: &X, rest: &X| part.clone() / (part.clone() + rest.clone()).or_null();
        let is_some = (part.lower.clone() + rest.upper.clone()).greater(int(0));
        let least = ratio(&part.lower, &rest.upper);
        let most = call("COALESCE", vec![ratio(&part.upper, &rest.lower), int(1)]);
        let most = cases(vec![(is_some.or(part.upper.clone().differs(int(0))), most)], None);
        let (lower, upper) = if factor < 0.0 { (most, least) } else { (least, most) };
        let estimate = ratio(&part.estimate, &rest.estimate);
        let whole = (part.estimate.clone() + rest.estimate.clone()).or_null();
        let of_part = (int(1) - estimate.clone()) * or_zero(part.std_error.clone());
        let of_rest = estimate.clone() * or_zero(rest.std_error.clone());
        let error = (of_part + of_rest) / whole;
        let scaled = |x: X| if factor == 1.0 { x } else { x * number(factor) };
        let error = if factor == 1.0 { error } else { error * number(factor.abs()) };
        let found = Number {
            estimate: scaled(estimate),
            lower: scaled(lower),
            upper: scaled(upper),
            std_error: error,
            is_whole: false,
            constant: None,
        };
        self.clamped_step(found)
    }

    fn call(&mut self, function: ScalarFunction, given: &[Node]) -> Result<Node, QueryError> {
        let Some(Node::Number(first)) = given.first() else {
            return match (function, given) {
                (ScalarFunction::Coalesce, [_, rest @ ..]) if !rest.is_empty() => self.call(function, rest),
                _ => Ok(Node::Null),
            };
        };
        let found = match function {
            ScalarFunction::Floor => first.map(|x| call("FLOOR", vec![x]), true),
            ScalarFunction::Ceil => first.map(|x| call("CEIL", vec![x]), true),
            ScalarFunction::ToInteger => first.map(to_even, true),
            ScalarFunction::ToReal => return Ok(Node::Number(Number { is_whole: false, ..first.clone() })),
            ScalarFunction::NullIf => return Ok(Node::Number(first.clone())),
            ScalarFunction::Round => match given.get(1) {
                None => first.map(rounded, true),
                Some(Node::Number(Number { constant: Some(digits), .. })) if digits.abs() <= 15.0 => {
                    let scale = 10_f64.powi(*digits as i32);
                    first.map(|x| rounded(x * number(scale)) / number(scale), false)
                }
                Some(Node::Number(Number { constant: None, .. })) => {
                    return refused("ROUND to a number of decimals that is no constant is not rewritten as SQL");
                }
                Some(_) => return Ok(Node::Null),
            },
            ScalarFunction::Sqrt => {
                let dialect = self.dialect;
                let of = |x: X| cases(vec![(x.clone().present(), root(dialect, x))], None);
                let found = first.map(of, false);
                let error = first.std_error.clone() / (found.estimate.clone() * int(2)).or_null();
                Number { std_error: error, ..found }
            }
            ScalarFunction::Abs => {
                let absolute = |x: &X| call("ABS", vec![x.clone()]);
                let (l, u) = (absolute(&first.lower), absolute(&first.upper));
                let is_across = first.lower.clone().at_most(int(0)).and(first.upper.clone().at_least(int(0)));
                let least = case(is_across, int(0), self.dialect.least(l.clone(), u.clone()));
                let ends = |x: X| cases(vec![(first.has_ends(), x)], None);
                Number {
                    estimate: absolute(&first.estimate),
                    lower: ends(least),
                    upper: ends(self.dialect.greatest(l, u)),
                    std_error: first.std_error.clone(),
                    is_whole: first.is_whole,
                    constant: None,
                }
            }
            ScalarFunction::Coalesce => match given.get(1) {
                Some(Node::Number(second)) => {
                    let either = |a: &X, b: &X| call("COALESCE", vec![a.clone(), b.clone()]);
                    Number {
                        estimate: either(&first.estimate, &second.estimate),
                        lower: self.both(&first.lower, &second.lower, Dialect::least),
                        upper: self.both(&first.upper, &second.upper, Dialect::greatest),
                        std_error: either(&first.std_error, &second.std_error),
                        is_whole: first.is_whole && second.is_whole,
                        constant: None,
                    }
                }
                _ => return Ok(Node::Number(first.clone())),
            },
            ScalarFunction::Lower | ScalarFunction::Upper | ScalarFunction::Part(_) => return Ok(Node::Null),
        };
        Ok(self.step(found))
    }

    /// The four columns of an output.
    pub(super) fn output(&mut self, post: &Post) -> Result<[X; 4], QueryError> {
        let dialect = self.dialect;
        let unknown = || dialect.double(null());
        Ok(match self.node(post)? {
            Node::Number(number) => number.ends().map(Clone::clone),
            Node::Truth(x) => {
                let number = as_number(x);
                let error = cases(vec![(number.clone().present(), int(0))], None);
                [number.clone(), number.clone(), number, error]
            }
            Node::Other(_) | Node::Null => [unknown(), unknown(), unknown(), unknown()],
        })
    }
}

/// 1 where a condition holds, 0 where it does not.
pub(super) fn as_number(condition: X) -> X {
    cases(vec![(condition.clone(), int(1)), (condition.negated(), int(0))], None)
}

fn constant(dialect: Dialect, scalar: &Scalar) -> Node {
    match scalar {
        Scalar::Null => Node::Null,
        Scalar::Integer(number) => Node::Number(Number::constant(*number as f64)),
        Scalar::Real(number) => Node::Number(Number::constant(*number)),
        Scalar::Text(text) => Node::Other(dialect.bytewise(dialect.text(text))),
        Scalar::Boolean(is_true) => Node::Truth(truth(*is_true)),
        Scalar::Date(date) => Node::Other(dialect.date(&date.to_string())),
        Scalar::Moment(moment) => Node::Other(dialect.datetime(*moment)),
    }
}

impl Node {
    /// A key that is a number.
    pub(super) fn key(dialect: Dialect, x: X, is_whole: bool) -> Node {
        let x = || dialect.double(x.clone());
        let std_error = cases(vec![(x().present(), int(0))], None);
        Node::Number(Number { estimate: x(), lower: x(), upper: x(), std_error, is_whole, constant: None })
    }
}
