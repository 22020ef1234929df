//! A statement as it was written, before it is bound to a release: expressions over columns, constants and aggregates.

use crate::Position;
use crate::question::{ColumnName, Comparison, Constant, Function, Question};

/// One SELECT.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// The same as a plain question, if it is one: aggregates of columns, conditions on columns, columns in GROUP BY.
    pub plain: Option<Question>,
    /// What is selected.
    pub items: Vec<Item>,
    /// Which release of a series is asked, by its number; the latest one if not said.
    pub version: Option<u64>,
    /// The public tables that are joined.
    pub joins: Vec<Join>,
    /// The WHERE clause.
    pub condition: Option<Expr>,
    /// The GROUP BY clause.
    pub group_by: Vec<Expr>,
    /// The HAVING clause.
    pub having: Option<Expr>,
    /// The ORDER BY clause.
    pub order_by: Vec<Order>,
    /// The most rows to show.
    pub limit: Option<u64>,
    /// The rows to leave out before these.
    pub offset: u64,
    /// The name by which the table is called in front of its columns.
    pub alias: String,
    /// Whether it has no FROM, and computes with the answers of questions in parentheses.
    pub is_of_answers: bool,
    /// Where it begins.
    pub at: Option<Position>,
}

impl Statement {
    /// Whether it joins a public table, or looks into it.
    pub fn uses(&self, table: &str) -> bool {
        self.looks_into(&|name: &str| name.eq_ignore_ascii_case(table))
    }

    fn looks_into(&self, is_it: &dyn Fn(&str) -> bool) -> bool {
        let items = self.items.iter().map(|item| &item.expr);
        let orders = self.order_by.iter().map(|order| &order.expr);
        let mut exprs = items.chain(&self.condition).chain(&self.group_by).chain(&self.having).chain(orders);
        self.joins.iter().any(|join| is_it(&join.table)) || exprs.any(|expr| expr.looks_into(is_it))
    }
}

/// An expression of the SELECT list.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// The expression.
    pub expr: Expr,
    /// Its name in the answer: the alias, or the text in lower case.
    pub name: String,
    /// Whether that is an alias.
    pub has_alias: bool,
    /// Where it stands in the text.
    pub at: Option<Position>,
}

/// `JOIN table AS alias ON column = alias.key`.
#[derive(Clone, Debug, PartialEq)]
pub struct Join {
    /// The public table.
    pub table: String,
    /// The name by which the statement calls it.
    pub alias: String,
    /// Whether rows without a partner are kept.
    pub is_left: bool,
    /// The two sides of the condition, in the order in which they stand.
    pub on: (Box<Expr>, Box<Expr>),
    /// Where it stands in the text.
    pub at: Option<Position>,
}

/// One part of ORDER BY.
#[derive(Clone, Debug, PartialEq)]
pub struct Order {
    /// What rows are ordered by.
    pub expr: Expr,
    /// Whether the greatest comes first.
    pub is_descending: bool,
    /// Whether NULL comes first.
    pub nulls_first: bool,
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// A column, with the name of its table if there is one in front.
    Column(Option<String>, ColumnName),
    /// A literal.
    Constant(Constant, Option<Position>),
    /// `-x`.
    Negate(Box<Expr>),
    /// `x + y` and the like.
    Arithmetic(Box<Expr>, Arithmetic, Box<Expr>),
    /// `x < y` and the like.
    Compare(Box<Expr>, Comparison, Box<Expr>),
    /// All hold.
    And(Vec<Expr>),
    /// At least one holds.
    Or(Vec<Expr>),
    /// The inner condition does not hold.
    Not(Box<Expr>),
    /// `x BETWEEN low AND high`.
    Between(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `x IN (…)`.
    In(Box<Expr>, Vec<Expr>),
    /// `x IN (SELECT column FROM table WHERE condition)`.
    InTable(Box<Expr>, Box<TableColumn>),
    /// `x LIKE pattern ESCAPE letter`; a pattern of `None` is NULL.
    Like(Box<Expr>, Option<String>, Option<char>),
    /// `x IS NULL`.
    IsNull(Box<Expr>),
    /// `CASE WHEN condition THEN x … ELSE y END`.
    Case(Vec<(Expr, Expr)>, Option<Box<Expr>>),
    /// A function of values.
    Call(ScalarFunction, Vec<Expr>),
    /// An aggregate.
    Aggregate(Box<AggregateCall>),
    /// The one number that another question asks.
    Question(Box<Statement>),
}

/// A column of a public table, of the rows that satisfy a condition.
#[derive(Clone, Debug, PartialEq)]
pub struct TableColumn {
    /// The table.
    pub table: String,
    /// The column.
    pub column: ColumnName,
    /// Which rows; columns are those of the table.
    pub condition: Option<Expr>,
    /// Where it stands in the text.
    pub at: Option<Position>,
}

/// An aggregate with its arguments.
#[derive(Clone, Debug, PartialEq)]
pub struct AggregateCall {
    /// The function.
    pub function: Function,
    /// What it is over; `None` is the star of `COUNT(*)`.
    pub over: Option<Expr>,
    /// The share of values below a quantile.
    pub fraction: Option<f64>,
    /// FILTER (WHERE …).
    pub filter: Option<Expr>,
    /// The text in lower case.
    pub text: String,
    /// Where it stands in the text.
    pub at: Option<Position>,
}

/// Operators on numbers. As in DuckDB, `/` divides numbers as reals, and `//` is the whole part of a quotient.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `//`
    DivideWhole,
    /// `%`
    Remainder,
}

/// Functions of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScalarFunction {
    /// `ABS`.
    Abs,
    /// `FLOOR`.
    Floor,
    /// `CEIL`.
    Ceil,
    /// `ROUND`, to whole numbers or to a number of decimals.
    Round,
    /// `SQRT`.
    Sqrt,
    /// `COALESCE`.
    Coalesce,
    /// `NULLIF`.
    NullIf,
    /// `LOWER`.
    Lower,
    /// `UPPER`.
    Upper,
    /// `CAST … AS INTEGER`.
    ToInteger,
    /// `CAST … AS DOUBLE`.
    ToReal,
    /// A part of a date.
    Part(DatePart),
}

/// Parts of dates and datetimes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatePart {
    /// The year.
    Year,
    /// 1 to 4.
    Quarter,
    /// 1 to 12.
    Month,
    /// 1 to 31.
    Day,
    /// 0 is Sunday.
    DayOfWeek,
    /// 1 is Monday, 7 Sunday.
    IsoDayOfWeek,
    /// 1 to 366.
    DayOfYear,
    /// 0 to 23; 0 for dates.
    Hour,
}

impl Expr {
    /// The parts of this expression.
    pub fn children(&self) -> Vec<&Expr> {
        match self {
            Expr::Column(..) | Expr::Constant(..) | Expr::Question(_) => Vec::new(),
            Expr::Negate(x) | Expr::Not(x) | Expr::IsNull(x) | Expr::Like(x, ..) | Expr::InTable(x, _) => vec![x],
            Expr::Arithmetic(x, _, y) | Expr::Compare(x, _, y) => vec![x, y],
            Expr::And(parts) | Expr::Or(parts) | Expr::Call(_, parts) => parts.iter().collect(),
            Expr::Between(x, low, high) => vec![x, low, high],
            Expr::In(x, list) => std::iter::once(&**x).chain(list).collect(),
            Expr::Case(branches, otherwise) => {
                branches.iter().flat_map(|(when, then)| [when, then]).chain(otherwise.as_deref()).collect()
            }
            Expr::Aggregate(call) => call.over.iter().chain(&call.filter).collect(),
        }
    }

    /// Whether an aggregate is part of it.
    pub fn has_aggregate(&self) -> bool {
        matches!(self, Expr::Aggregate(_)) || self.children().into_iter().any(Expr::has_aggregate)
    }

    /// Whether the answer of another question is part of it.
    pub fn has_question(&self) -> bool {
        matches!(self, Expr::Question(_)) || self.children().into_iter().any(Expr::has_question)
    }

    fn looks_into(&self, is_it: &dyn Fn(&str) -> bool) -> bool {
        let own = match self {
            Expr::InTable(_, source) => is_it(&source.table),
            Expr::Question(inner) => inner.looks_into(is_it),
            _ => false,
        };
        own || self.children().into_iter().any(|part| part.looks_into(is_it))
    }

    /// Where its first part that says so stands in the text.
    pub fn at(&self) -> Option<Position> {
        match self {
            Expr::Column(_, column) => column.at,
            Expr::Constant(_, at) => *at,
            Expr::Aggregate(call) => call.at,
            Expr::Question(inner) => inner.at,
            other => other.children().into_iter().find_map(Expr::at),
        }
    }
}
