//! Expressions as trees, built almost as one would write SQL.

use std::ops::{Add, Div, Mul, Sub};

use sqlparser::ast::helpers::attached_token::AttachedToken;
use sqlparser::ast::{
    BinaryOperator, CaseWhen, CastKind, DataType, DuplicateTreatment, Expr, Function, FunctionArg, FunctionArgExpr,
    FunctionArgumentList, FunctionArguments, Ident, ObjectName, OrderByExpr, OrderByOptions, OrderBySort,
    UnaryOperator, Value as Literal, WindowSpec, WindowType,
};

/// An expression.
#[derive(Clone, Debug)]
pub struct X(pub Expr);

/// A column of our own, or of one of our CTEs: `cells.n`.
pub fn col(name: &str) -> X {
    match name.split_once('.') {
        Some((table, name)) => X(Expr::CompoundIdentifier(vec![Ident::new(table), Ident::new(name)])),
        None => X(Expr::Identifier(Ident::new(name))),
    }
}

/// A name that is printed as it is.
pub fn word(text: &str) -> ObjectName {
    ObjectName::from(vec![Ident::new(text)])
}

/// A whole number.
pub fn int(number: impl Into<i128>) -> X {
    X(Expr::Value(Literal::Number(number.into().to_string(), false).into()))
}

/// A number, in a notation that no database takes for a decimal.
pub fn number(number: f64) -> X {
    X(Expr::Value(Literal::Number(format!("{number:e}"), false).into()))
}

/// `NULL`.
pub fn null() -> X {
    X(Expr::Value(Literal::Null.into()))
}

/// The empty text.
pub fn empty_text() -> X {
    X(Expr::Value(Literal::SingleQuotedString(String::new()).into()))
}

/// A condition that is always or never true.
pub fn truth(truth: bool) -> X {
    // SQLite understands TRUE since 3.23; every version understands a comparison.
    int(i64::from(truth)).eq(int(1))
}

/// A function of these arguments.
pub fn call(name: &str, args: Vec<X>) -> X {
    let args = args.into_iter().map(|arg| FunctionArg::Unnamed(FunctionArgExpr::Expr(arg.0))).collect();
    function(name, args)
}

/// `COUNT(*)`.
pub fn count_rows() -> X {
    function("COUNT", vec![FunctionArg::Unnamed(FunctionArgExpr::Wildcard)])
}

/// `SUM(x)`.
pub fn sum(x: X) -> X {
    call("SUM", vec![x])
}

/// `COUNT(DISTINCT x)`.
pub fn count_distinct(x: X) -> X {
    let mut count = call("COUNT", vec![x]);
    if let Expr::Function(Function { args: FunctionArguments::List(list), .. }) = &mut count.0 {
        list.duplicate_treatment = Some(DuplicateTreatment::Distinct);
    }
    count
}

fn function(name: &str, args: Vec<FunctionArg>) -> X {
    X(Expr::Function(Function {
        name: word(name),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(FunctionArgumentList { duplicate_treatment: None, args, clauses: Vec::new() }),
        within_group: Vec::new(),
        filter: None,
        null_treatment: None,
        over: None,
    }))
}

/// `CAST(x AS type)`.
pub fn cast(x: X, data_type: DataType) -> X {
    X(Expr::Cast { kind: CastKind::Cast, expr: Box::new(x.0), data_type, format: None })
}

/// `CASE WHEN condition THEN yes ELSE no END`.
pub fn case(condition: X, yes: X, no: X) -> X {
    cases(vec![(condition, yes)], Some(no))
}

/// `CASE WHEN … THEN … … [ELSE …] END`.
pub fn cases(conditions: Vec<(X, X)>, otherwise: Option<X>) -> X {
    let when = |(condition, result): (X, X)| CaseWhen { condition: condition.0, result: result.0 };
    X(Expr::Case {
        case_token: AttachedToken::empty(),
        end_token: AttachedToken::empty(),
        operand: None,
        conditions: conditions.into_iter().map(when).collect(),
        else_result: otherwise.map(|x| Box::new(x.0)),
    })
}

/// `COALESCE(x, 0)`.
pub fn or_zero(x: X) -> X {
    call("COALESCE", vec![x, int(0)])
}

/// All of these, as a tree no deeper than necessary.
pub fn all(parts: Vec<X>) -> X {
    balanced(parts, &X::and).unwrap_or_else(|| truth(true))
}

/// Any of these.
pub fn any(parts: Vec<X>) -> X {
    balanced(parts, &X::or).unwrap_or_else(|| truth(false))
}

/// The sum of these.
pub fn total(parts: Vec<X>) -> X {
    balanced(parts, &|a, b| a + b).unwrap_or_else(|| int(0))
}

/// The product of these, as a chain from left to right.
pub fn product(parts: Vec<X>) -> Option<X> {
    parts.into_iter().reduce(|a, b| a * b)
}

/// The longest chain that is left unbalanced; no database finds this many parts too deep.
const CHAIN: usize = 16;

/// Joins parts in a balanced tree: databases refuse trees that are too deep, and a long chain is one.
fn balanced(mut parts: Vec<X>, join: &impl Fn(X, X) -> X) -> Option<X> {
    if parts.len() > CHAIN {
        let right = parts.split_off(parts.len() / 2);
        return Some(join(balanced(parts, join)?, balanced(right, join)?));
    }
    parts.into_iter().reduce(join)
}

fn binary(left: X, op: BinaryOperator, right: X) -> X {
    let rank = Rank::of(&op);
    let (left, right) = (left.beside(rank, false), right.beside(rank, true));
    X(Expr::BinaryOp { left: Box::new(left), op, right: Box::new(right) })
}

/// Operator precedence, from loosest to tightest, as all dialects have it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Or,
    And,
    Comparison,
    Sum,
    Product,
}

impl Rank {
    fn of(op: &BinaryOperator) -> Self {
        match op {
            BinaryOperator::Or => Rank::Or,
            BinaryOperator::And => Rank::And,
            BinaryOperator::Plus | BinaryOperator::Minus => Rank::Sum,
            BinaryOperator::Multiply | BinaryOperator::Divide | BinaryOperator::Modulo => Rank::Product,
            _ => Rank::Comparison,
        }
    }
}

impl X {
    /// As an operand of an operator, with parentheses only where they matter: DuckDB's parser spends more time on them
    /// than on anything else.
    fn beside(self, outer: Rank, is_right: bool) -> Expr {
        let rank = match &self.0 {
            Expr::BinaryOp { op, .. } => Rank::of(op),
            Expr::InList { .. } | Expr::IsNull(_) | Expr::IsNotNull(_) | Expr::Between { .. } => Rank::Comparison,
            _ => return self.operand(),
        };
        // Chains associate from left to right; comparisons do not chain.
        let is_chained = rank == outer && !is_right && rank != Rank::Comparison;
        if rank > outer || is_chained { self.0 } else { self.operand() }
    }

    /// In parentheses, unless it is a single term.
    fn operand(self) -> Expr {
        match self.0 {
            expr @ (Expr::Identifier(_)
            | Expr::CompoundIdentifier(_)
            | Expr::Value(_)
            | Expr::Function(_)
            | Expr::Cast { .. }
            | Expr::TypedString(_)
            | Expr::Nested(_)) => expr,
            expr => Expr::Nested(Box::new(expr)),
        }
    }

    /// Whether it is a literal.
    pub fn is_constant(&self) -> bool {
        matches!(self.0, Expr::Value(_))
    }

    /// `x % y`.
    pub fn modulo(self, other: X) -> X {
        binary(self, BinaryOperator::Modulo, other)
    }

    /// `x || y`, of texts.
    pub fn followed_by(self, other: X) -> X {
        X(Expr::BinaryOp {
            left: Box::new(self.operand()),
            op: BinaryOperator::StringConcat,
            right: Box::new(other.operand()),
        })
    }

    /// `x = y`.
    #[allow(clippy::should_implement_trait, reason = "a comparison in SQL, not in Rust")]
    pub fn eq(self, other: X) -> X {
        binary(self, BinaryOperator::Eq, other)
    }

    /// `x <> y`.
    pub fn differs(self, other: X) -> X {
        binary(self, BinaryOperator::NotEq, other)
    }

    /// `x < y`.
    pub fn less(self, other: X) -> X {
        binary(self, BinaryOperator::Lt, other)
    }

    /// `x <= y`.
    pub fn at_most(self, other: X) -> X {
        binary(self, BinaryOperator::LtEq, other)
    }

    /// `x > y`.
    pub fn greater(self, other: X) -> X {
        binary(self, BinaryOperator::Gt, other)
    }

    /// `x >= y`.
    pub fn at_least(self, other: X) -> X {
        binary(self, BinaryOperator::GtEq, other)
    }

    /// `x BETWEEN low AND high`.
    pub fn between(self, low: X, high: X) -> X {
        let [expr, low, high] = [self, low, high].map(|x| Box::new(x.operand()));
        X(Expr::Between { expr, negated: false, low, high })
    }

    /// `x AND y`.
    pub fn and(self, other: X) -> X {
        binary(self, BinaryOperator::And, other)
    }

    /// `x OR y`.
    pub fn or(self, other: X) -> X {
        binary(self, BinaryOperator::Or, other)
    }

    /// `NOT (x)`.
    pub fn negated(self) -> X {
        X(Expr::UnaryOp { op: UnaryOperator::Not, expr: Box::new(self.operand()) })
    }

    /// `x IS NULL`.
    pub fn missing(self) -> X {
        X(Expr::IsNull(Box::new(self.operand())))
    }

    /// `x IS NOT NULL`.
    pub fn present(self) -> X {
        X(Expr::IsNotNull(Box::new(self.operand())))
    }

    /// `x IN (…)`.
    pub fn one_of(self, list: Vec<X>) -> X {
        let list = list.into_iter().map(|x| x.0).collect();
        X(Expr::InList { expr: Box::new(self.operand()), list, negated: false })
    }

    /// `x NOT IN (…)`.
    pub fn none_of(self, list: Vec<X>) -> X {
        let list = list.into_iter().map(|x| x.0).collect();
        X(Expr::InList { expr: Box::new(self.operand()), list, negated: true })
    }

    /// `NULL` in place of zero, to avoid a division by zero.
    pub fn or_null(self) -> X {
        call("NULLIF", vec![self, int(0)])
    }

    /// `x * x`.
    pub fn squared(self) -> X {
        self.clone() * self
    }

    /// An aggregate over only the rows for which the condition holds.
    pub fn filter(mut self, condition: Option<X>) -> X {
        if let Expr::Function(function) = &mut self.0 {
            function.filter = condition.map(|x| Box::new(x.0));
        }
        self
    }

    /// An aggregate over a window; with an order, it runs from the window's beginning to the current row.
    pub fn over(mut self, partition: &[X], order: impl IntoIterator<Item = (X, Direction)>) -> X {
        if let Expr::Function(function) = &mut self.0 {
            function.over = Some(WindowType::WindowSpec(WindowSpec {
                window_name: None,
                partition_by: partition.iter().map(|x| x.0.clone()).collect(),
                order_by: order.into_iter().map(|(x, direction)| ordered(x, direction, None)).collect(),
                window_frame: None,
            }));
        }
        self
    }
}

/// Which values come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Small ones.
    Up,
    /// Large ones.
    Down,
}

/// One part of an ORDER BY.
pub fn ordered(x: X, direction: Direction, nulls_first: Option<bool>) -> OrderByExpr {
    let sort = (direction == Direction::Down).then_some(OrderBySort::Desc);
    OrderByExpr { expr: x.0, options: OrderByOptions { sort, nulls_first }, with_fill: None }
}

impl Add for X {
    type Output = X;

    fn add(self, other: X) -> X {
        binary(self, BinaryOperator::Plus, other)
    }
}

impl Sub for X {
    type Output = X;

    fn sub(self, other: X) -> X {
        binary(self, BinaryOperator::Minus, other)
    }
}

impl Mul for X {
    type Output = X;

    fn mul(self, other: X) -> X {
        binary(self, BinaryOperator::Multiply, other)
    }
}

impl Div for X {
    type Output = X;

    fn div(self, other: X) -> X {
        binary(self, BinaryOperator::Divide, other)
    }
}
