//! Terms as SQL: expressions over the columns of one person (step 3a of `spec.md`).
//!
//! Numbers are computed as doubles, which hold whole numbers up to 2^53. Conditions become sets of values, as everywhere
//! else; functions on which databases differ are written out, value by value.

use chrysalis_query::inquiry::{Scalar, Term};
use chrysalis_query::question::Comparison;
use chrysalis_query::statement::{Arithmetic, ScalarFunction};
use chrysalis_query::{Field, QueryError};
use chrysalis_table::Kind;

use super::super::expr::{X, all, any, call, cases, int, null, number, truth};
use super::super::{Dialect, refused, sets};

/// The most values of an expression that are written out.
const MAX_LISTED: usize = 400;

/// Terms over columns of some table.
pub(super) struct Terms<'a> {
    pub(super) dialect: Dialect,
    pub(super) fields: &'a [Field],
    /// The column of an attribute.
    pub(super) column: &'a dyn Fn(usize) -> X,
}

impl Terms<'_> {
    /// The number that a term is; NULL where it is none.
    pub(super) fn number(&self, term: &Term) -> Result<X, QueryError> {
        Ok(match term {
            Term::Attribute(field) if self.fields[*field].kind.is_numeric() => {
                self.dialect.double((self.column)(*field))
            }
            Term::Constant(scalar) => scalar.number().map_or_else(|| self.dialect.double(null()), number),
            Term::Negate(inner) => int(0) - self.number(inner)?,
            Term::Arithmetic(a, operator, b) => {
                let (is_whole, a, b) = (self.is_whole(a) && self.is_whole(b), self.number(a)?, self.number(b)?);
                match operator {
                    Arithmetic::Add => a + b,
                    Arithmetic::Subtract => a - b,
                    Arithmetic::Multiply => a * b,
                    Arithmetic::Divide => self.dialect.double(a) / b.or_null(),
                    Arithmetic::DivideWhole => towards_zero(self.dialect.double(a) / b.or_null()),
                    Arithmetic::Remainder if is_whole => {
                        a.clone() - b.clone() * towards_zero(self.dialect.double(a) / b.or_null())
                    }
                    Arithmetic::Remainder => {
                        return refused("% of numbers with decimals is not rewritten as SQL: databases differ on it");
                    }
                }
            }
            Term::Case(branches, otherwise) if !is_text(term, self.fields) => {
                let branch = |(when, then): &(Term, Term)| Ok((self.condition(when, false)?, self.number(then)?));
                let branches = branches.iter().map(branch).collect::<Result<Vec<_>, QueryError>>()?;
                cases(branches, otherwise.as_deref().map(|term| self.number(term)).transpose()?)
            }
            Term::Call(function, given) if is_of_numbers(*function) && !is_text(term, self.fields) => {
                self.function(*function, given)?
            }
            other => self.listed(other)?,
        })
    }

    fn function(&self, function: ScalarFunction, given: &[Term]) -> Result<X, QueryError> {
        let args = given.iter().map(|term| self.number(term)).collect::<Result<Vec<_>, QueryError>>()?;
        let first = args.first().cloned().unwrap_or_else(null);
        Ok(match function {
            ScalarFunction::Coalesce => call("COALESCE", args),
            ScalarFunction::NullIf => call("NULLIF", args),
            ScalarFunction::Abs => call("ABS", vec![first]),
            ScalarFunction::Floor => call("FLOOR", vec![first]),
            ScalarFunction::Ceil => call("CEIL", vec![first]),
            ScalarFunction::Sqrt => {
                cases(vec![(first.clone().at_least(int(0)), call("SQRT", vec![self.dialect.double(first)]))], None)
            }
            ScalarFunction::ToInteger => to_even(first),
            ScalarFunction::Round => match given.get(1) {
                None => rounded(first),
                Some(Term::Constant(digits)) => match digits.number().filter(|digits| digits.abs() <= 15.0) {
                    Some(digits) => {
                        let scale = 10_f64.powi(digits as i32);
                        rounded(first * number(scale)) / number(scale)
                    }
                    None => self.dialect.double(null()),
                },
                Some(_) => return refused("ROUND to a number of decimals that is no constant is not rewritten as SQL"),
            },
            // PROOF: `is_of_numbers` lets no others pass.
            _ => self.dialect.double(first),
        })
    }

    /// Whether a condition is TRUE, or with `is_negated` whether it is FALSE; UNKNOWN counts as no.
    pub(super) fn condition(&self, term: &Term, is_negated: bool) -> Result<X, QueryError> {
        let each = |parts: &[Term]| parts.iter().map(|part| self.condition(part, is_negated)).collect::<Result<_, _>>();
        Ok(match term {
            Term::Constant(scalar) => truth(*scalar == Scalar::Boolean(!is_negated)),
            Term::Not(inner) => self.condition(inner, !is_negated)?,
            Term::And(parts) if !is_negated => all(each(parts)?),
            Term::Or(parts) if is_negated => all(each(parts)?),
            Term::And(parts) | Term::Or(parts) => any(each(parts)?),
            leaf => match leaf.fields().as_slice() {
                [field] => {
                    let (yes, no) = leaf.truth(*field, self.fields)?;
                    let set = if is_negated { no } else { yes };
                    sets::is_in(self.dialect, &(self.column)(*field), &self.fields[*field], &set)
                }
                _ => self.comparison(leaf, is_negated)?,
            },
        })
    }

    /// A condition on several columns, or on none.
    fn comparison(&self, term: &Term, is_negated: bool) -> Result<X, QueryError> {
        let holds = match term {
            Term::Compare(a, comparison, b) if !is_text(a, self.fields) && !is_text(b, self.fields) => {
                compared(*comparison, self.number(a)?, self.number(b)?)
            }
            Term::IsNull(inner) => self.number(inner)?.missing(),
            _ => return refused("a condition on several columns inside an expression is not rewritten as SQL"),
        };
        Ok(if is_negated { holds.negated() } else { holds })
    }

    /// A term of one attribute whose values are written out.
    fn listed(&self, term: &Term) -> Result<X, QueryError> {
        self.numbered(term, &|scalar| scalar.number())
    }

    /// The same, with a number for each of the term's values.
    pub(super) fn numbered(&self, term: &Term, number_of: &dyn Fn(&Scalar) -> Option<f64>) -> Result<X, QueryError> {
        let fields = term.fields();
        let [field] = fields.as_slice() else {
            return refused("an expression of words or dates of several columns is not rewritten as SQL");
        };
        let classes = term.classes(*field, self.fields)?;
        if classes.len() > MAX_LISTED {
            let name = &self.fields[*field].name;
            return refused(format!(
                "an expression over `{name}` has {} values, and SQL writes out {MAX_LISTED} at most",
                classes.len()
            ));
        }
        let column = (self.column)(*field);
        let branch = |(scalar, set)| {
            let number_of = number_of(&scalar)?;
            Some((sets::is_in(self.dialect, &column, &self.fields[*field], &set), number(number_of)))
        };
        let branches: Vec<(X, X)> = classes.into_iter().filter_map(branch).collect();
        Ok(self.dialect.double(if branches.is_empty() { null() } else { cases(branches, None) }))
    }

    /// Whether a term is made of whole numbers only.
    fn is_whole(&self, term: &Term) -> bool {
        match term {
            Term::Attribute(field) => self.fields[*field].kind == Kind::Integer,
            Term::Constant(scalar) => matches!(scalar, Scalar::Integer(_)),
            Term::Negate(inner) => self.is_whole(inner),
            Term::Arithmetic(a, operator, b) => *operator != Arithmetic::Divide && self.is_whole(a) && self.is_whole(b),
            _ => false,
        }
    }
}

/// Functions that are written alike for every database.
fn is_of_numbers(function: ScalarFunction) -> bool {
    use ScalarFunction::{Abs, Ceil, Coalesce, Floor, NullIf, Round, Sqrt, ToInteger, ToReal};
    matches!(function, Abs | Ceil | Coalesce | Floor | NullIf | Round | Sqrt | ToInteger | ToReal)
}

/// Whether a term may be a text, a date or a truth value, which are written out.
fn is_text(term: &Term, fields: &[Field]) -> bool {
    match term {
        Term::Attribute(field) => !fields[*field].kind.is_numeric(),
        Term::Negate(_) | Term::Arithmetic(..) => false,
        Term::Constant(scalar) => !matches!(scalar, Scalar::Integer(_) | Scalar::Real(_) | Scalar::Null),
        Term::Case(branches, otherwise) => {
            branches.iter().map(|(_, then)| then).chain(otherwise.as_deref()).any(|term| is_text(term, fields))
        }
        Term::Call(function, given) => !is_of_numbers(*function) || given.iter().any(|term| is_text(term, fields)),
        _ => true,
    }
}

/// A comparison of two expressions.
pub(super) fn compared(comparison: Comparison, a: X, b: X) -> X {
    match comparison {
        Comparison::Equal => a.eq(b),
        Comparison::NotEqual => a.differs(b),
        Comparison::Less => a.less(b),
        Comparison::LessOrEqual => a.at_most(b),
        Comparison::Greater => a.greater(b),
        Comparison::GreaterOrEqual => a.at_least(b),
    }
}

/// The whole part of a number.
pub(super) fn towards_zero(x: X) -> X {
    cases(vec![(x.clone().less(int(0)), call("CEIL", vec![x.clone()]))], Some(call("FLOOR", vec![x])))
}

/// The nearest whole number; halves go away from zero.
pub(super) fn rounded(x: X) -> X {
    let half = || number(0.5);
    let below = call("CEIL", vec![x.clone() - half()]);
    cases(vec![(x.clone().less(int(0)), below)], Some(call("FLOOR", vec![x + half()])))
}

/// The nearest whole number; halves go to the even one.
pub(super) fn to_even(x: X) -> X {
    let floor = || call("FLOOR", vec![x.clone()]);
    let even = call("FLOOR", vec![(floor() + int(1)) / number(2.0)]) * int(2);
    cases(vec![((x.clone() - floor()).eq(number(0.5)), even)], Some(call("FLOOR", vec![x + number(0.5)])))
}
