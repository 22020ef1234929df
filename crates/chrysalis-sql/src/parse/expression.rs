//! Expressions: arithmetic, CASE, functions of values, aggregates and conditions.

use std::cell::Cell;

use sqlparser::ast::{
    BinaryOperator, CeilFloorKind, DataType, DateTimeField, DuplicateTreatment, Expr as Sql, Function as Call,
    FunctionArg, FunctionArgExpr, FunctionArguments, GroupByExpr, Query, SelectItem, SetExpr, Spanned, Statement,
    TableFactor, UnaryOperator, Value,
};

use chrysalis_query::question::{ColumnName, Comparison, Constant, Function};
use chrysalis_query::statement::{AggregateCall, Arithmetic, DatePart, Expr, ScalarFunction, TableColumn};
use chrysalis_query::{Position, QueryError};
use chrysalis_table::edits;

use super::condition::{constant, double_quoted, is_moment, like};
use super::start_of;

pub(super) const FUNCTIONS: &str =
    "ask COUNT(*), COUNT, SUM, AVG, MIN, MAX, COUNT(DISTINCT), MEDIAN, PERCENTILE_CONT, VAR or STDDEV of a column";
const VALUES: &str = "use +, -, *, /, //, %, CASE, ABS, FLOOR, CEIL, ROUND, COALESCE, NULLIF, LOWER, UPPER, CAST, EXTRACT \
                      or YEAR and the like";

/// Levels of an expression, which is read and evaluated by recursion.
const MAX_LEVELS: u32 = 100;

thread_local! {
    static LEVEL: Cell<u32> = const { Cell::new(0) };
}

/// One more level, until it is dropped.
struct Level;

impl Level {
    fn enter() -> Option<Level> {
        LEVEL.set(LEVEL.get() + 1);
        let level = Level;
        (LEVEL.get() <= MAX_LEVELS).then_some(level)
    }
}

impl Drop for Level {
    fn drop(&mut self) {
        LEVEL.set(LEVEL.get() - 1);
    }
}

/// Reads an expression.
pub(super) fn read(sql: &Sql) -> Result<Expr, QueryError> {
    let Some(_level) = Level::enter() else {
        let problem = format!("an expression is nested more than {MAX_LEVELS} deep");
        return Err(QueryError::question(None, problem, super::guard::SIMPLER));
    };
    let at = start_of(sql.span());
    let boxed = |sql: &Sql| read(sql).map(Box::new);
    Ok(match sql {
        Sql::Nested(inner) => read(inner)?,
        Sql::Identifier(ident) => Expr::Column(None, name(ident)),
        Sql::CompoundIdentifier(parts) => match parts.as_slice() {
            [table, ident] => Expr::Column(Some(table.value.clone()), name(ident)),
            _ => return Err(misunderstood(sql)),
        },
        Sql::Value(_) | Sql::TypedString(_) => Expr::Constant(constant(sql)?, at),
        Sql::UnaryOp { op: UnaryOperator::Plus, expr } => read(expr)?,
        Sql::UnaryOp { op: UnaryOperator::Minus, expr } => match read(expr)? {
            Expr::Constant(Constant::Integer(number), at) => Expr::Constant(Constant::Integer(-number), at),
            Expr::Constant(Constant::Real(number), at) => Expr::Constant(Constant::Real(-number), at),
            other => Expr::Negate(Box::new(other)),
        },
        Sql::UnaryOp { op: UnaryOperator::Not | UnaryOperator::BangNot, expr } => Expr::Not(boxed(expr)?),
        Sql::BinaryOp { op: BinaryOperator::And, .. } => Expr::And(chain(sql, &BinaryOperator::And)?),
        Sql::BinaryOp { op: BinaryOperator::Or, .. } => Expr::Or(chain(sql, &BinaryOperator::Or)?),
        Sql::BinaryOp { left, op, right } => binary(sql, left, op, right)?,
        Sql::Between { expr, negated, low, high } => {
            not(*negated, Expr::Between(boxed(expr)?, boxed(low)?, boxed(high)?))
        }
        Sql::InList { expr, list, negated } => {
            let list = list.iter().map(read).collect::<Result<_, _>>()?;
            not(*negated, Expr::In(boxed(expr)?, list))
        }
        Sql::InSubquery { expr, subquery, negated } => {
            not(*negated, Expr::InTable(boxed(expr)?, Box::new(public_column(subquery, at)?)))
        }
        Sql::Like { negated, any: false, expr, pattern, escape_char } => {
            let chrysalis_query::question::Predicate::Like { pattern, escape } = like(pattern, escape_char.as_deref())?
            else {
                return Err(misunderstood(sql));
            };
            not(*negated, Expr::Like(boxed(expr)?, pattern, escape))
        }
        Sql::IsNull(expr) => Expr::IsNull(boxed(expr)?),
        Sql::IsNotNull(expr) => not(true, Expr::IsNull(boxed(expr)?)),
        Sql::Case { operand, conditions, else_result, .. } => {
            let mut branches = Vec::with_capacity(conditions.len());
            for branch in conditions {
                let condition = match operand {
                    None => read(&branch.condition)?,
                    Some(operand) => {
                        Expr::Compare(boxed(operand)?, Comparison::Equal, Box::new(read(&branch.condition)?))
                    }
                };
                branches.push((condition, read(&branch.result)?));
            }
            Expr::Case(branches, else_result.as_deref().map(boxed).transpose()?)
        }
        Sql::Extract { field, expr, .. } => {
            let part = date_part(&field_name(field), at)?;
            Expr::Call(ScalarFunction::Part(part), vec![read(expr)?])
        }
        Sql::Floor { expr, field } => rounded(ScalarFunction::Floor, expr, field, sql)?,
        Sql::Ceil { expr, field } => rounded(ScalarFunction::Ceil, expr, field, sql)?,
        Sql::Cast { expr, data_type, format: None, .. } => cast(expr, data_type, sql)?,
        Sql::Function(call) => function(call, sql)?,
        Sql::Subquery(query) => {
            let inner = super::select::statement(Statement::Query(query.clone()), at)?;
            Expr::Question(Box::new(inner))
        }
        Sql::Exists { .. } => {
            let problem =
                "a question inside a question is not answered: its rows would have to be matched with people's";
            let hint =
                "ask the inner question first, and write its answer as a number; IN (SELECT …) asks a public table";
            return Err(QueryError::question(at, problem, hint));
        }
        _ => return Err(misunderstood(sql)),
    })
}

fn name(ident: &sqlparser::ast::Ident) -> ColumnName {
    ColumnName { text: ident.value.clone(), is_quoted: ident.quote_style.is_some(), at: start_of(ident.span) }
}

fn not(is_negated: bool, expr: Expr) -> Expr {
    if is_negated { Expr::Not(Box::new(expr)) } else { expr }
}

fn misunderstood(sql: &Sql) -> QueryError {
    let shown: String = sql.to_string().chars().take(60).collect();
    QueryError::question(start_of(sql.span()), format!("`{shown}` is not understood"), VALUES)
}

/// The parts of a chain of AND or OR, which may be too long to recurse into.
fn chain(sql: &Sql, joined_by: &BinaryOperator) -> Result<Vec<Expr>, QueryError> {
    let (mut parts, mut rest) = (Vec::new(), sql);
    while let Sql::BinaryOp { left, op, right } = rest {
        if op != joined_by {
            break;
        }
        parts.push(read(right)?);
        rest = left;
    }
    parts.push(read(rest)?);
    parts.reverse();
    Ok(parts)
}

fn binary(sql: &Sql, left: &Sql, op: &BinaryOperator, right: &Sql) -> Result<Expr, QueryError> {
    let comparison = match op {
        BinaryOperator::Eq => Some(Comparison::Equal),
        BinaryOperator::NotEq => Some(Comparison::NotEqual),
        BinaryOperator::Lt => Some(Comparison::Less),
        BinaryOperator::LtEq => Some(Comparison::LessOrEqual),
        BinaryOperator::Gt => Some(Comparison::Greater),
        BinaryOperator::GtEq => Some(Comparison::GreaterOrEqual),
        _ => None,
    };
    if let Some(comparison) = comparison {
        return Ok(Expr::Compare(Box::new(read(left)?), comparison, Box::new(read(right)?)));
    }
    let arithmetic = match op {
        BinaryOperator::Plus => Arithmetic::Add,
        BinaryOperator::Minus => Arithmetic::Subtract,
        BinaryOperator::Multiply => Arithmetic::Multiply,
        BinaryOperator::Divide => Arithmetic::Divide,
        BinaryOperator::DuckIntegerDivide => Arithmetic::DivideWhole,
        BinaryOperator::Modulo => Arithmetic::Remainder,
        _ => return Err(misunderstood(sql)),
    };
    // Long sums lean to the left, too deep to recurse into.
    let (mut rest, mut tail) = (left, vec![(arithmetic, right)]);
    while let Sql::BinaryOp { left, op, right } = rest {
        let arithmetic = match op {
            BinaryOperator::Plus => Arithmetic::Add,
            BinaryOperator::Minus => Arithmetic::Subtract,
            BinaryOperator::Multiply => Arithmetic::Multiply,
            BinaryOperator::Divide => Arithmetic::Divide,
            BinaryOperator::DuckIntegerDivide => Arithmetic::DivideWhole,
            BinaryOperator::Modulo => Arithmetic::Remainder,
            _ => break,
        };
        tail.push((arithmetic, right));
        rest = left;
    }
    if tail.len() > MAX_CHAIN {
        let problem = format!("more than {MAX_CHAIN} numbers are joined in one expression");
        return Err(QueryError::question(start_of(sql.span()), problem, "write a shorter one"));
    }
    let mut expr = read(rest)?;
    for (arithmetic, right) in tail.into_iter().rev() {
        expr = Expr::Arithmetic(Box::new(expr), arithmetic, Box::new(read(right)?));
    }
    Ok(expr)
}

/// Expressions are evaluated by recursion.
const MAX_CHAIN: usize = 200;

fn rounded(function: ScalarFunction, expr: &Sql, field: &CeilFloorKind, sql: &Sql) -> Result<Expr, QueryError> {
    match field {
        CeilFloorKind::DateTimeField(DateTimeField::NoDateTime) => Ok(Expr::Call(function, vec![read(expr)?])),
        _ => Err(misunderstood(sql)),
    }
}

fn cast(expr: &Sql, data_type: &DataType, sql: &Sql) -> Result<Expr, QueryError> {
    let function = match data_type {
        DataType::Int(_) | DataType::Integer(_) | DataType::BigInt(_) | DataType::SmallInt(_) => {
            ScalarFunction::ToInteger
        }
        DataType::Double(_) | DataType::DoublePrecision | DataType::Float(_) | DataType::Real => ScalarFunction::ToReal,
        // A date in quotes stays what it is: a text that is compared with dates.
        data_type if is_moment(data_type) && matches!(expr, Sql::Value(_)) => return read(expr),
        _ => return Err(misunderstood(sql)),
    };
    Ok(Expr::Call(function, vec![read(expr)?]))
}

fn field_name(field: &DateTimeField) -> String {
    field.to_string().to_lowercase()
}

fn date_part(name: &str, at: Option<Position>) -> Result<DatePart, QueryError> {
    Ok(match name {
        "year" | "years" => DatePart::Year,
        "quarter" => DatePart::Quarter,
        "month" | "months" => DatePart::Month,
        "day" | "days" | "dayofmonth" => DatePart::Day,
        "dow" | "dayofweek" | "weekday" => DatePart::DayOfWeek,
        "isodow" => DatePart::IsoDayOfWeek,
        "doy" | "dayofyear" => DatePart::DayOfYear,
        "hour" | "hours" => DatePart::Hour,
        _ => {
            let shown: String = name.chars().take(40).collect();
            let hint = "use YEAR, QUARTER, MONTH, DAY, DOW, ISODOW, DOY or HOUR";
            return Err(QueryError::question(at, format!("`{shown}` is no part of a date that is understood"), hint));
        }
    })
}

fn arguments(call: &Call) -> Option<Vec<&Sql>> {
    let FunctionArguments::List(list) = &call.args else { return None };
    if !list.clauses.is_empty() || list.duplicate_treatment.is_some() {
        return None;
    }
    let argument = |argument: &'_ FunctionArg| -> Option<()> {
        matches!(argument, FunctionArg::Unnamed(FunctionArgExpr::Expr(_))).then_some(())
    };
    list.args.iter().try_for_each(argument)?;
    Some(
        list.args
            .iter()
            .filter_map(|argument| match argument {
                FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr),
                _ => None,
            })
            .collect(),
    )
}

fn function(call: &Call, sql: &Sql) -> Result<Expr, QueryError> {
    let text: String = call.name.to_string().to_lowercase().chars().take(40).collect();
    let at = start_of(sql.span());
    if let Some(scalar) = scalar(&text) {
        let is_plain = call.over.is_none() && call.filter.is_none() && call.within_group.is_empty();
        let wrong = || QueryError::question(at, format!("{text} does not take these arguments"), VALUES);
        let given = arguments(call).filter(|_| is_plain).ok_or_else(wrong)?;
        let is_right = match scalar {
            ScalarFunction::Coalesce => !given.is_empty(),
            ScalarFunction::NullIf => given.len() == 2,
            ScalarFunction::Round => matches!(given.len(), 1 | 2),
            _ => given.len() == 1,
        };
        if !is_right {
            return Err(wrong());
        }
        return Ok(Expr::Call(scalar, given.into_iter().map(read).collect::<Result<_, _>>()?));
    }
    if matches!(text.as_str(), "date_part" | "datepart") {
        let given = arguments(call).unwrap_or_default();
        let [part, date] = given.as_slice() else { return Err(misunderstood(sql)) };
        let Constant::Text(part) = constant(part)? else { return Err(misunderstood(sql)) };
        return Ok(Expr::Call(ScalarFunction::Part(date_part(&part.to_lowercase(), at)?), vec![read(date)?]));
    }
    aggregate(call, &text, sql)
}

fn scalar(text: &str) -> Option<ScalarFunction> {
    Some(match text {
        "abs" => ScalarFunction::Abs,
        "floor" => ScalarFunction::Floor,
        "ceil" | "ceiling" => ScalarFunction::Ceil,
        "round" => ScalarFunction::Round,
        "sqrt" => ScalarFunction::Sqrt,
        "coalesce" => ScalarFunction::Coalesce,
        "nullif" => ScalarFunction::NullIf,
        "lower" => ScalarFunction::Lower,
        "upper" => ScalarFunction::Upper,
        "year" | "quarter" | "month" | "day" | "dayofmonth" | "dayofweek" | "weekday" | "isodow" | "dayofyear"
        | "hour" => ScalarFunction::Part(date_part(text, None).ok()?),
        _ => return None,
    })
}

/// What to write in place of a function that is not understood.
fn instead_of(text: &str) -> String {
    let known = match text {
        "if" | "iif" | "ifelse" | "decode" => "write CASE WHEN … THEN … ELSE … END",
        "ifnull" | "nvl" | "isnull" => "write COALESCE(x, y)",
        "count_if" | "countif" | "sumif" | "sum_if" | "avgif" => {
            "write COUNT(*) FILTER (WHERE …), or SUM and AVG with it"
        }
        "percentile" | "percentile_disc" | "quantile" | "quantile_disc" | "approx_quantile" | "approx_percentile" => {
            "write PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY wage)"
        }
        "approx_count_distinct" | "approx_distinct" => "write COUNT(DISTINCT …)",
        "mode" => "ask COUNT(*) with GROUP BY the column, ORDER BY COUNT(*) DESC and LIMIT 1",
        "std" | "stdev" => "write STDDEV, VAR_SAMP, STDDEV_POP or VAR_POP",
        "var" => "write VAR_SAMP or VAR_POP",
        "date_trunc" | "strftime" | "to_char" | "date_format" | "datetrunc" => {
            "group by parts of the date: YEAR(date), MONTH(date), EXTRACT(ISODOW FROM date)"
        }
        "substr" | "left" | "right" | "concat" | "replace" | "regexp_matches" | "starts_with" => {
            "texts are not taken apart: write CASE WHEN column LIKE 'A%' THEN … END, or join a public table"
        }
        _ => "",
    };
    if !known.is_empty() {
        return known.to_owned();
    }
    let others =
        ["median", "variance", "stddev", "mean", "abs", "floor", "ceil", "round", "sqrt", "coalesce", "nullif"];
    let more = ["lower", "upper", "year", "quarter", "month", "day", "hour"];
    let names = Function::ALL.iter().map(|function| function.name()).chain(others).chain(more);
    let near = names.map(|name| (edits(text, name), name)).filter(|(n, _)| *n <= (text.len() / 3).max(1)).min();
    match near {
        Some((_, name)) => format!("did you mean {}? {FUNCTIONS}", name.to_uppercase()),
        None => format!("{FUNCTIONS}; {VALUES}"),
    }
}

fn aggregate(call: &Call, text: &str, sql: &Sql) -> Result<Expr, QueryError> {
    let at = start_of(sql.span());
    if call.over.is_some() {
        let problem = format!(
            "{text} OVER a window needs every row in its place, and a release hides whose values stand beside each other"
        );
        let hint = "ask the aggregate with GROUP BY, and order the answers with ORDER BY";
        return Err(QueryError::question(at, problem, hint));
    }
    let unknown = || QueryError::question(at, format!("the function `{text}` is not answered"), instead_of(text));
    let takes_one = || QueryError::question(at, format!("{text} takes one column or expression"), FUNCTIONS);
    let mut fraction = None;
    let mut function = match text {
        "median" => Function::Quantile,
        "percentile_cont" | "quantile_cont" => Function::Quantile,
        "variance" => Function::VarSamp,
        "stddev" => Function::StddevSamp,
        "mean" => Function::Avg,
        _ => Function::ALL.iter().copied().find(|function| function.name() == text).ok_or_else(unknown)?,
    };
    let is_plain = call.null_treatment.is_none() && matches!(call.parameters, FunctionArguments::None);
    let FunctionArguments::List(list) = &call.args else { return Err(takes_one()) };
    if !is_plain || !list.clauses.is_empty() {
        return Err(takes_one());
    }
    let mut given: Vec<&FunctionArg> = list.args.iter().collect();
    let share = |sql: &FunctionArg| {
        let FunctionArg::Unnamed(FunctionArgExpr::Expr(sql)) = sql else { return Err(takes_one()) };
        let share = match constant(sql)? {
            Constant::Integer(number) => number as f64,
            Constant::Real(number) => number,
            _ => f64::NAN,
        };
        if (0.0..=1.0).contains(&share) {
            return Ok(share);
        }
        let problem = format!("{text} takes a share of the values, from 0 to 1");
        Err(QueryError::question(at, problem, "write, for example, PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY wage)"))
    };
    let mut over = None;
    match text {
        "median" => fraction = Some(0.5),
        "quantile_cont" if given.len() == 2 => fraction = Some(share(given.remove(1))?),
        "percentile_cont" => {
            let [order] = call.within_group.as_slice() else {
                let problem = "percentile_cont needs the column that it orders by";
                let hint = "write PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY wage)";
                return Err(QueryError::question(at, problem, hint));
            };
            let [only] = given.as_slice() else { return Err(takes_one()) };
            let mut asked = share(only)?;
            if super::select::is_descending(&order.options) {
                asked = 1.0 - asked;
            }
            fraction = Some(asked);
            over = Some(read(&order.expr)?);
            given.clear();
        }
        _ => {}
    }
    if !call.within_group.is_empty() && text != "percentile_cont" {
        return Err(QueryError::question(at, format!("{text} WITHIN GROUP is not understood"), FUNCTIONS));
    }
    if list.duplicate_treatment == Some(DuplicateTreatment::Distinct) {
        if function != Function::Count {
            let is_same = matches!(function, Function::Min | Function::Max);
            let hint = if is_same { "leave DISTINCT out: it changes nothing" } else { "ask COUNT(DISTINCT …)" };
            return Err(QueryError::question(at, format!("{text}(DISTINCT …) is not answered"), hint));
        }
        function = Function::CountDistinct;
    }
    if over.is_none() {
        over = match given.as_slice() {
            [FunctionArg::Unnamed(FunctionArgExpr::Wildcard)] if function == Function::Count => None,
            [] if function == Function::Count => None,
            [FunctionArg::Unnamed(FunctionArgExpr::Expr(expr))] => Some(read(expr)?),
            _ => return Err(takes_one()),
        };
    }
    if over.as_ref().is_some_and(Expr::has_aggregate) {
        let problem = "an aggregate of an aggregate is not answered";
        return Err(QueryError::question(at, problem, "ask the inner one with GROUP BY"));
    }
    let filter = call.filter.as_deref().map(read).transpose()?;
    let text: String = sql.to_string().to_lowercase().chars().take(80).collect();
    Ok(Expr::Aggregate(Box::new(AggregateCall { function, over, fraction, filter, text, at })))
}

/// `SELECT column FROM table [WHERE condition]`, over a public table.
fn public_column(query: &Query, at: Option<Position>) -> Result<TableColumn, QueryError> {
    let refuse = || {
        let problem = "a question inside a question is not answered, except for a column of a public table";
        let hint = "write IN (SELECT column FROM table WHERE …) with a table that is given along with the question";
        QueryError::question(at, problem, hint)
    };
    let SetExpr::Select(select) = &*query.body else { return Err(refuse()) };
    let has_more = query.with.is_some()
        || query.limit_clause.is_some()
        || query.fetch.is_some()
        || select.having.is_some()
        || select.top.is_some()
        || select.qualify.is_some()
        || !matches!(&select.group_by, GroupByExpr::Expressions(keys, modifiers) if keys.is_empty() && modifiers.is_empty());
    let ([source], [item]) = (select.from.as_slice(), select.projection.as_slice()) else { return Err(refuse()) };
    let (TableFactor::Table { name, args: None, .. }, true) = (&source.relation, source.joins.is_empty()) else {
        return Err(refuse());
    };
    let expr = match item {
        SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => expr,
        _ => return Err(refuse()),
    };
    let Expr::Column(_, column) = read(expr)? else { return Err(refuse()) };
    if has_more {
        return Err(refuse());
    }
    if super::select::table_name(name).eq_ignore_ascii_case(super::TABLE) {
        return Err(refuse());
    }
    let condition = select.selection.as_ref().map(read).transpose()?;
    Ok(TableColumn { table: super::select::table_name(name), column, condition, at })
}

/// The error for text in double quotes, if that is what stands here.
pub(super) fn quoted_by_mistake(sql: &Sql) -> Option<QueryError> {
    match sql {
        Sql::BinaryOp { right, .. } => double_quoted(right),
        Sql::InList { list, .. } => list.iter().find_map(double_quoted),
        _ => None,
    }
}

/// Whether a literal is a whole number: `GROUP BY 1`.
pub(super) fn whole(sql: &Sql) -> Option<u64> {
    match sql {
        Sql::Value(value) => match &value.value {
            Value::Number(text, _) => text.parse().ok(),
            _ => None,
        },
        _ => None,
    }
}
