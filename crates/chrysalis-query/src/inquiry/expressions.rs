//! What can be said about expressions before they are atoms.

use crate::QueryError;
use crate::question::ColumnName;
use crate::statement::{AggregateCall, Arithmetic, Expr, Item};
use crate::term::{Scalar, Term};

/// Whether an expression of the SELECT list has this name.
pub(super) fn is_name_of(item: &Item, column: &ColumnName) -> bool {
    item.has_alias && item.name.eq_ignore_ascii_case(&column.text)
}

/// A divisor without `NULLIF(…, 0)` around it: division by 0 is NULL anyway.
pub(super) fn divisor(expr: &Expr) -> &Expr {
    match expr {
        Expr::Call(crate::statement::ScalarFunction::NullIf, given) => match given.as_slice() {
            [inner, Expr::Constant(crate::question::Constant::Integer(0), _)] => inner,
            _ => expr,
        },
        _ => expr,
    }
}

/// A condition that a term is not NULL.
pub(super) fn present(term: &Term) -> Term {
    match term {
        Term::Arithmetic(a, Arithmetic::Add | Arithmetic::Subtract | Arithmetic::Multiply, b)
            if term.fields().len() > 1 =>
        {
            Term::And(vec![present(a), present(b)])
        }
        Term::Arithmetic(a, Arithmetic::Divide, b) if term.fields().len() > 1 => {
            let zero = Box::new(Term::Constant(Scalar::Integer(0)));
            let divides = Term::Compare(b.clone(), crate::question::Comparison::NotEqual, zero);
            Term::And(vec![present(a), present(b), divides])
        }
        Term::Case(branches, otherwise) if term.fields().len() > 1 => {
            let branches = branches.iter().map(|(when, then)| (when.clone(), present(then))).collect();
            let otherwise = otherwise.as_deref().map_or(Term::Constant(Scalar::Boolean(false)), present);
            Term::Case(branches, Some(Box::new(otherwise)))
        }
        Term::Constant(scalar) => Term::Constant(Scalar::Boolean(*scalar != Scalar::Null)),
        other => Term::Not(Box::new(Term::IsNull(Box::new(other.clone())))),
    }
}

/// Whether a condition leaves out persons without a value of an attribute.
pub(super) fn excludes_missing(term: &Term, asked: Option<usize>) -> bool {
    match term {
        Term::Test(field, sets) => Some(*field) == asked && !sets.0.missing,
        Term::Not(inner) => matches!(&**inner, Term::Test(field, sets) if Some(*field) == asked && !sets.1.missing),
        Term::And(parts) => parts.iter().any(|part| excludes_missing(part, asked)),
        _ => false,
    }
}

/// Whether a term of whole numbers may be none.
pub(super) fn has_division(term: &Term) -> bool {
    use crate::statement::ScalarFunction::{Abs, Ceil, Coalesce, Floor, ToInteger};
    match term {
        Term::Arithmetic(a, operator, b) => *operator == Arithmetic::Divide || has_division(a) || has_division(b),
        Term::Attribute(_) | Term::Constant(Scalar::Integer(_) | Scalar::Null) => false,
        Term::Negate(inner) => has_division(inner),
        Term::Call(Abs | Ceil | Coalesce | Floor | ToInteger, given) => given.iter().any(has_division),
        Term::Case(branches, otherwise) => {
            branches.iter().map(|(_, then)| then).chain(otherwise.as_deref()).any(has_division)
        }
        _ => true,
    }
}

/// Splits a product into a factor of other attributes and one of the sensitive attribute.
pub(super) fn factors(
    term: &Term,
    is_divided: bool,
    is_sensitive: &dyn Fn(usize) -> bool,
    rows: &mut Option<Term>,
    values: &mut Option<Term>,
) -> bool {
    let own = term.fields();
    let n_sensitive = own.iter().filter(|&&field| is_sensitive(field)).count();
    if n_sensitive == 0 || n_sensitive == own.len() {
        let side = if n_sensitive == 0 { rows } else { values };
        let one = || Term::Constant(Scalar::Integer(1));
        let operator = if is_divided { Arithmetic::Divide } else { Arithmetic::Multiply };
        *side = Some(match side.take() {
            None if !is_divided => term.clone(),
            known => Term::Arithmetic(Box::new(known.unwrap_or_else(one)), operator, Box::new(term.clone())),
        });
        return true;
    }
    match term {
        Term::Arithmetic(a, Arithmetic::Multiply, b) => {
            factors(a, is_divided, is_sensitive, rows, values) && factors(b, is_divided, is_sensitive, rows, values)
        }
        Term::Arithmetic(a, Arithmetic::Divide, b) => {
            factors(a, is_divided, is_sensitive, rows, values) && factors(b, !is_divided, is_sensitive, rows, values)
        }
        Term::Negate(inner) => {
            let minus = Term::Constant(Scalar::Integer(-1));
            factors(&minus, is_divided, is_sensitive, rows, values)
                && factors(inner, is_divided, is_sensitive, rows, values)
        }
        _ => false,
    }
}

pub(super) fn too_mixed(call: &AggregateCall) -> QueryError {
    let problem =
        format!("{} mixes columns of which the release does not show who has which values together", call.text);
    let hint = "ask aggregates of one column, of a product of a sensitive column with another one, or of a CASE over them; \
                SUM(a + b) is SUM(a) + SUM(b)";
    QueryError::unanswerable(call.at, problem, hint)
}
