//! WHERE clauses.

use sqlparser::ast::{BinaryOperator, DataType, Expr, Spanned, TimezoneInfo, UnaryOperator, Value, ValueWithSpan};

use super::{TABLE, start_of};
use chrysalis_query::question::{ColumnName, Comparison, Condition, Constant, Predicate, Test};
use chrysalis_query::{Position, QueryError};

const TESTS: &str =
    "compare a column with constants: =, <>, <, <=, >, >=, BETWEEN, IN, LIKE, IS NULL; join with AND, OR, NOT";

/// The names by which the table can be referred to.
pub(super) struct Names {
    pub(super) alias: Option<String>,
}

impl Names {
    /// A column, with or without the table's name in front.
    pub(super) fn column(&self, expression: &Expr) -> Option<ColumnName> {
        let ident = match expression {
            Expr::Identifier(ident) => ident,
            Expr::CompoundIdentifier(parts) => match parts.as_slice() {
                [table, ident] if self.is_table(&table.value) => ident,
                _ => return None,
            },
            Expr::Nested(inner) => return self.column(inner),
            _ => return None,
        };
        let at = start_of(ident.span);
        Some(ColumnName { text: ident.value.clone(), is_quoted: ident.quote_style.is_some(), at })
    }

    fn is_table(&self, name: &str) -> bool {
        name.eq_ignore_ascii_case(self.alias.as_deref().unwrap_or(TABLE))
    }
}

/// Reads a condition. Chains of AND and OR are unrolled, because long ones are too deep to recurse into.
pub(super) fn read(expression: &Expr, names: &Names) -> Result<Condition, QueryError> {
    match expression {
        Expr::Nested(inner) => read(inner, names),
        Expr::UnaryOp { op: UnaryOperator::Not | UnaryOperator::BangNot, expr } => Ok(not(true, read(expr, names)?)),
        Expr::BinaryOp { op: BinaryOperator::And, .. } => chain(expression, &BinaryOperator::And, names),
        Expr::BinaryOp { op: BinaryOperator::Or, .. } => chain(expression, &BinaryOperator::Or, names),
        Expr::BinaryOp { left, op, right } => compare(expression, left, op, right, names),
        Expr::Between { expr, negated, low, high } => {
            let (low, high) = (constant(low)?, constant(high)?);
            test(expr, *negated, Predicate::Between(low, high), names)
        }
        Expr::InList { expr, list, negated } => {
            let list = list.iter().map(constant).collect::<Result<_, _>>()?;
            test(expr, *negated, Predicate::In(list), names)
        }
        Expr::Like { negated, any: false, expr, pattern, escape_char } => {
            test(expr, *negated, like(pattern, escape_char.as_deref())?, names)
        }
        Expr::IsNull(expr) => test(expr, false, Predicate::IsNull, names),
        Expr::IsNotNull(expr) => test(expr, true, Predicate::IsNull, names),
        Expr::InSubquery { .. } | Expr::Exists { .. } | Expr::Subquery(_) => {
            Err(QueryError::question(place(expression), "a question inside a question is not answered", TESTS))
        }
        Expr::Identifier(_) | Expr::CompoundIdentifier(_) => {
            let problem = "a column stands where a condition is expected";
            Err(QueryError::question(place(expression), problem, TESTS))
        }
        Expr::Value(_) => Err(constants_only(place(expression))),
        _ => {
            let shown: String = expression.to_string().chars().take(60).collect();
            Err(QueryError::question(place(expression), format!("`{shown}` is not understood as a condition"), TESTS))
        }
    }
}

fn chain(expression: &Expr, joined_by: &BinaryOperator, names: &Names) -> Result<Condition, QueryError> {
    let mut parts = Vec::new();
    let mut rest = expression;
    while let Expr::BinaryOp { left, op, right } = rest {
        if op != joined_by {
            break;
        }
        parts.push(read(right, names)?);
        rest = left;
    }
    parts.push(read(rest, names)?);
    parts.reverse();
    Ok(if *joined_by == BinaryOperator::And { Condition::All(parts) } else { Condition::Any(parts) })
}

fn compare(
    expression: &Expr,
    left: &Expr,
    op: &BinaryOperator,
    right: &Expr,
    names: &Names,
) -> Result<Condition, QueryError> {
    let comparison = match op {
        BinaryOperator::Eq => Comparison::Equal,
        BinaryOperator::NotEq => Comparison::NotEqual,
        BinaryOperator::Lt => Comparison::Less,
        BinaryOperator::LtEq => Comparison::LessOrEqual,
        BinaryOperator::Gt => Comparison::Greater,
        BinaryOperator::GtEq => Comparison::GreaterOrEqual,
        other => {
            let problem = format!("the operator `{other}` is not understood in a condition");
            return Err(QueryError::question(place(expression), problem, TESTS));
        }
    };
    match (names.column(left), names.column(right)) {
        (Some(_), Some(_)) => {
            let problem = "two columns are compared with each other, which a release cannot answer";
            let other = || QueryError::question(place(expression), problem, TESTS);
            Err(double_quoted(right).or_else(|| double_quoted(left)).unwrap_or_else(other))
        }
        (Some(_), None) => test(left, false, Predicate::Compare(comparison, constant(right)?), names),
        (None, Some(_)) => test(right, false, Predicate::Compare(comparison.mirrored(), constant(left)?), names),
        (None, None) => {
            let is_constant = constant(left).is_ok() && constant(right).is_ok();
            let other = || QueryError::question(place(expression), "no column of the table is compared here", TESTS);
            Err(if is_constant { constants_only(place(expression)) } else { other() })
        }
    }
}

/// The error for something that looks like text but is the name of a column.
pub(super) fn double_quoted(expression: &Expr) -> Option<QueryError> {
    match expression {
        Expr::Nested(inner) => double_quoted(inner),
        Expr::Identifier(ident) if ident.quote_style == Some('"') => {
            let shown: String = ident.value.chars().take(40).collect();
            let problem = format!("double quotes name columns, so \"{shown}\" is not text here");
            let hint = format!("single quotes hold text: write '{}'", shown.replace('\'', "''"));
            Some(QueryError::question(start_of(ident.span), problem, hint))
        }
        _ => None,
    }
}

fn constants_only(at: Option<Position>) -> QueryError {
    QueryError::question(at, "the condition compares no column: it is the same for everybody", "leave it out")
}

fn test(expression: &Expr, negated: bool, predicate: Predicate, names: &Names) -> Result<Condition, QueryError> {
    match names.column(expression) {
        Some(column) => {
            let at = column.at;
            Ok(not(negated, Condition::Test(Test { column, predicate, at })))
        }
        None => Err(QueryError::question(place(expression), "a condition must start with a column", TESTS)),
    }
}

fn not(negated: bool, condition: Condition) -> Condition {
    if negated { Condition::Not(Box::new(condition)) } else { condition }
}

pub(super) fn like(pattern: &Expr, escape: Option<&Expr>) -> Result<Predicate, QueryError> {
    let text = |expression: &Expr, what: &str| match constant(expression)? {
        Constant::Text(text) => Ok(Some(text)),
        Constant::Null => Ok(None),
        _ => {
            let problem = format!("the {what} of LIKE must be a text");
            Err(QueryError::question(place(expression), problem, "write it in single quotes, such as 'Fl%'"))
        }
    };
    let Some(escape) = escape else { return Ok(Predicate::Like { pattern: text(pattern, "pattern")?, escape: None }) };
    let letters: Vec<char> = text(escape, "escape letter")?.unwrap_or_default().chars().collect();
    let [letter] = letters.as_slice() else {
        let problem = "ESCAPE takes one letter";
        return Err(QueryError::question(place(escape), problem, "write, for example, ESCAPE '!'"));
    };
    Ok(Predicate::Like { pattern: text(pattern, "pattern")?, escape: Some(*letter) })
}

pub(super) fn constant(expression: &Expr) -> Result<Constant, QueryError> {
    let at = place(expression);
    match expression {
        Expr::Nested(inner) => constant(inner),
        Expr::Value(value) => literal(value, at),
        Expr::UnaryOp { op: UnaryOperator::Plus, expr } => constant(expr),
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => match constant(expr)? {
            Constant::Integer(number) => Ok(Constant::Integer(-number)),
            Constant::Real(number) => Ok(Constant::Real(-number)),
            _ => Err(QueryError::question(at, "only a number can have a sign", TESTS)),
        },
        Expr::TypedString(typed) if is_moment(&typed.data_type) => literal(&typed.value, at),
        _ => Err(double_quoted(expression).unwrap_or_else(|| {
            let shown: String = expression.to_string().chars().take(60).collect();
            let hint = "work it out first, and write the result as a number or as a text in single quotes";
            QueryError::question(at, format!("`{shown}` stands where a constant is expected"), hint)
        })),
    }
}

/// `DATE '…'`, `TIMESTAMP '…'` and `DATETIME '…'`. A zone would need a clock that a release does not have.
pub(super) fn is_moment(data_type: &DataType) -> bool {
    use TimezoneInfo::{None as Unsaid, WithoutTimeZone};
    match data_type {
        DataType::Date | DataType::Datetime(_) => true,
        DataType::Timestamp(_, zone) => matches!(zone, Unsaid | WithoutTimeZone),
        _ => false,
    }
}

fn literal(value: &ValueWithSpan, at: Option<Position>) -> Result<Constant, QueryError> {
    match &value.value {
        Value::Null => Ok(Constant::Null),
        Value::Boolean(truth) => Ok(Constant::Boolean(*truth)),
        Value::SingleQuotedString(text) => Ok(Constant::Text(text.clone())),
        Value::Number(text, false) => number(text).ok_or_else(|| {
            let shown: String = text.chars().take(40).collect();
            QueryError::question(at, format!("`{shown}` is too large a number"), "write a number below 1e308")
        }),
        _ => Err(QueryError::question(
            at,
            "this constant is not understood",
            "write a number or a text in single quotes",
        )),
    }
}

/// PROOF: 38 digits fit 128 bits with room for a sign; longer numbers lose only digits that no comparison needs.
fn number(text: &str) -> Option<Constant> {
    if text.len() <= 38
        && let Ok(number) = text.parse()
    {
        return Some(Constant::Integer(number));
    }
    text.parse().ok().filter(|number: &f64| number.is_finite()).map(Constant::Real)
}

fn place(expression: &Expr) -> Option<Position> {
    start_of(expression.span())
}
