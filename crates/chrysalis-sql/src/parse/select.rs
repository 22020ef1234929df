//! The clauses of a SELECT: which are understood, and what to say about the others.

use std::collections::BTreeSet;

use sqlparser::ast::{
    Distinct, DuplicateTreatment, Expr, FunctionArg, FunctionArgExpr, FunctionArguments, GroupByExpr, Ident,
    JoinConstraint, JoinOperator, LimitClause, ObjectName, ObjectNamePart, OrderByKind, OrderByOptions, OrderBySort,
    Query, Select, SelectItem, SetExpr, Spanned, Statement, TableFactor,
};

use super::condition::{self, Names};
use super::expression::{self, FUNCTIONS};
use super::{EXAMPLE, TABLE, start_of, version};
use chrysalis_query::question::{Aggregate, ColumnName, Function, Question};
use chrysalis_query::statement::{self, Item, Join, Order};
use chrysalis_query::{Position, QueryError};

/// Reads a statement; `plain` is set where it needs nothing but columns, constants and aggregates of columns.
pub(super) fn statement(sql: Statement, at: Option<Position>) -> Result<statement::Statement, QueryError> {
    let plain = question(sql.clone(), at);
    let Statement::Query(query) = sql else {
        let problem = "only SELECT statements are answered: a release can be asked, not changed";
        return Err(QueryError::question(at, problem, EXAMPLE));
    };
    let (limit, offset) = limits(&query, at)?;
    let order_by = order_by(&query, at)?;
    let select = select_of(*query, at)?;
    let mut items = Vec::with_capacity(select.projection.len());
    for item in &select.projection {
        let (expr, alias) = match item {
            SelectItem::UnnamedExpr(expression) => (expression, None),
            SelectItem::ExprWithAlias { expr, alias } => (expr, Some(alias)),
            _ => {
                let problem = "rows cannot be selected: a release answers aggregates";
                return Err(QueryError::question(start_of(item.span()), problem, FUNCTIONS));
            }
        };
        let at = start_of(expr.span());
        let text = || match expr {
            Expr::CompoundIdentifier(parts) => parts.last().map(|ident| ident.value.clone()).unwrap_or_default(),
            Expr::Identifier(ident) => ident.value.clone(),
            _ => version::as_written(&expr.to_string().to_lowercase()).chars().take(80).collect(),
        };
        let read = expression::read(expr)?;
        let name = alias.map_or_else(text, |alias| alias.value.clone());
        items.push(Item { expr: read, name, has_alias: alias.is_some(), at });
    }
    let is_of_answers = select.from.is_empty() && items.iter().any(|item| item.expr.has_question());
    let Sources { alias, version, joins } = match is_of_answers {
        true => Sources { alias: TABLE.to_owned(), version: None, joins: Vec::new() },
        false => sources(&select, at)?,
    };
    let keys = match &select.group_by {
        GroupByExpr::Expressions(keys, modifiers) if modifiers.is_empty() => keys,
        _ => {
            let problem = "GROUP BY ALL, ROLLUP, CUBE and the like are not understood";
            return Err(QueryError::question(at, problem, "name columns and expressions after GROUP BY"));
        }
    };
    let group_by = keys.iter().map(|key| numbered(key, &items)).collect::<Result<Vec<_>, _>>()?;
    let order_by: Vec<Order> = order_by
        .into_iter()
        .map(|(expr, options)| {
            let is_descending = is_descending(&options);
            Ok(Order {
                expr: numbered(&expr, &items)?,
                is_descending,
                nulls_first: options.nulls_first.unwrap_or(false),
            })
        })
        .collect::<Result<_, QueryError>>()?;
    if let Some(error) = select.selection.as_ref().and_then(expression::quoted_by_mistake) {
        return Err(error);
    }
    let condition = select.selection.as_ref().map(expression::read).transpose()?;
    let having = select.having.as_ref().map(expression::read).transpose()?;
    let plain = plain.ok();
    if is_of_answers {
        let is_more = condition.is_some() || having.is_some() || !group_by.is_empty() || !order_by.is_empty();
        if is_more || limit.is_some() || offset > 0 {
            let problem = "a SELECT of answers has one row, so it takes no WHERE, GROUP BY, HAVING, ORDER BY or LIMIT";
            return Err(QueryError::question(at, problem, "put conditions into the questions in parentheses"));
        }
    }
    Ok(statement::Statement {
        plain,
        items,
        version,
        joins,
        condition,
        group_by,
        having,
        order_by,
        limit,
        offset,
        alias,
        is_of_answers,
        at,
    })
}

/// An expression of GROUP BY or ORDER BY, where a number is a place in the SELECT list.
fn numbered(expr: &Expr, items: &[Item]) -> Result<statement::Expr, QueryError> {
    let Some(place) = expression::whole(expr) else { return expression::read(expr) };
    let found = usize::try_from(place).ok().and_then(|place| items.get(place.checked_sub(1)?));
    found.map(|item| item.expr.clone()).ok_or_else(|| {
        let problem = format!("there is no column number {place} in the SELECT list");
        QueryError::question(start_of(expr.span()), problem, format!("it has {} columns", items.len()))
    })
}

pub(super) fn is_descending(options: &OrderByOptions) -> bool {
    matches!(options.sort, Some(OrderBySort::Desc))
}

fn order_by(query: &Query, at: Option<Position>) -> Result<Vec<(Expr, OrderByOptions)>, QueryError> {
    let Some(order) = &query.order_by else { return Ok(Vec::new()) };
    match &order.kind {
        OrderByKind::Expressions(parts) if parts.iter().all(|part| part.with_fill.is_none()) => {
            Ok(parts.iter().map(|part| (part.expr.clone(), part.options.clone())).collect())
        }
        _ => Err(QueryError::question(at, "this ORDER BY is not understood", "name columns and expressions after it")),
    }
}

/// LIMIT and OFFSET.
fn limits(query: &Query, at: Option<Position>) -> Result<(Option<u64>, u64), QueryError> {
    let number = |expr: &Expr| {
        let wrong =
            || QueryError::question(start_of(expr.span()).or(at), "LIMIT takes a number of rows", "write LIMIT 10");
        expression::whole(expr).ok_or_else(wrong)
    };
    if query.fetch.is_some() {
        return Err(QueryError::question(at, "FETCH is not understood", "write LIMIT 10"));
    }
    match &query.limit_clause {
        None => Ok((None, 0)),
        Some(LimitClause::LimitOffset { limit, offset, limit_by }) if limit_by.is_empty() => {
            let offset = offset.as_ref().map(|offset| number(&offset.value)).transpose()?;
            Ok((limit.as_ref().map(number).transpose()?, offset.unwrap_or(0)))
        }
        Some(LimitClause::OffsetCommaLimit { offset, limit }) => Ok((Some(number(limit)?), number(offset)?)),
        Some(_) => Err(QueryError::question(at, "LIMIT BY is not understood", "write LIMIT 10")),
    }
}

/// The tables that are asked.
struct Sources {
    /// What microdata is called.
    alias: String,
    version: Option<u64>,
    joins: Vec<Join>,
}

/// `FROM microdata [VERSION AS OF number] [AS name] [JOIN table ON …]`.
fn sources(select: &Select, at: Option<Position>) -> Result<Sources, QueryError> {
    let [source] = select.from.as_slice() else {
        let problem = match select.from.len() {
            0 => "the question has no FROM",
            _ => "the question joins tables without saying how",
        };
        return Err(QueryError::question(at, problem, "write FROM microdata, or FROM microdata JOIN table ON …"));
    };
    let (alias, version) = microdata(&source.relation)?;
    let mut joins = Vec::new();
    for join in &source.joins {
        let at = start_of(join.relation.span());
        let TableFactor::Table { name, alias: other, args: None, .. } = &join.relation else {
            let problem = "the question joins something other than a table";
            return Err(QueryError::question(
                at,
                problem,
                "join a public table: JOIN regions ON region = regions.name",
            ));
        };
        let table = table_name(name);
        if version::of_name(name).is_some() {
            let problem = "microdata is joined with itself: which pairs of people exist is what a release hides";
            let hint = "ask about each side in a question of its own; a JOIN takes public tables";
            return Err(QueryError::question(at, problem, hint));
        }
        let (constraint, is_left) = match &join.join_operator {
            JoinOperator::Join(constraint) | JoinOperator::Inner(constraint) => (constraint, false),
            JoinOperator::Left(constraint) | JoinOperator::LeftOuter(constraint) => (constraint, true),
            _ => {
                let problem = "only JOIN and LEFT JOIN of public tables are understood";
                return Err(QueryError::question(at, problem, "write JOIN table ON column = table.column"));
            }
        };
        let alias = other.as_ref().map_or_else(|| table.clone(), |alias| alias.name.value.clone());
        let on = match constraint {
            JoinConstraint::On(expr) => expression::read(expr)?,
            JoinConstraint::Using(names) => using(names, &alias, at)?,
            _ => statement::Expr::And(Vec::new()),
        };
        let statement::Expr::Compare(a, chrysalis_query::question::Comparison::Equal, b) = on else {
            let problem = "a JOIN is understood with one equation, of a column of microdata and one of the table";
            return Err(QueryError::question(at, problem, "write JOIN table ON column = table.column"));
        };
        joins.push(Join { table, alias, is_left, on: (a, b), at });
    }
    Ok(Sources { alias, version, joins })
}

/// `USING (column)`.
fn using(names: &[ObjectName], alias: &str, at: Option<Position>) -> Result<statement::Expr, QueryError> {
    let [name] = names else {
        let problem = "a JOIN is understood with one column";
        return Err(QueryError::question(at, problem, "write JOIN table ON column = table.column"));
    };
    let column = || ColumnName { text: table_name(name), is_quoted: false, at };
    Ok(statement::Expr::Compare(
        Box::new(statement::Expr::Column(Some(TABLE.to_owned()), column())),
        chrysalis_query::question::Comparison::Equal,
        Box::new(statement::Expr::Column(Some(alias.to_owned()), column())),
    ))
}

pub(super) fn table_name(name: &ObjectName) -> String {
    match name.0.as_slice() {
        [ObjectNamePart::Identifier(ident)] => ident.value.clone(),
        _ => name.to_string(),
    }
}

fn question(statement: Statement, at: Option<Position>) -> Result<Question, QueryError> {
    let Statement::Query(query) = statement else {
        let problem = "only SELECT statements are answered: a release can be asked, not changed";
        return Err(QueryError::question(at, problem, EXAMPLE));
    };
    let select = plain_select(*query, at)?;
    let names = from_clause(&select, at)?;
    let group_by = group_by(&select.group_by, &names)?;
    let (aggregates, keys) = projection(&select.projection, &names)?;
    for key in &keys {
        if !group_by.iter().any(|column| is_same(column, key)) {
            let problem = format!("`{}` is selected, but not in GROUP BY", key.text);
            let hint = format!("add GROUP BY {}, or ask an aggregate of it", key.text);
            return Err(QueryError::question(key.at, problem, hint));
        }
    }
    if aggregates.is_empty() {
        return Err(QueryError::question(at, "no aggregate is asked for", FUNCTIONS));
    }
    let mut seen = BTreeSet::new();
    for aggregate in &aggregates {
        if !seen.insert(&aggregate.name) {
            let problem = format!("two columns of the answer are named `{}`", aggregate.name);
            return Err(QueryError::question(aggregate.at, problem, "ask once, or name one of them with AS"));
        }
    }
    let condition = select.selection.as_ref().map(|expr| condition::read(expr, &names)).transpose()?;
    Ok(Question { aggregates, condition, group_by })
}

/// A SELECT with nothing around it but what a plain question has.
fn plain_select(query: Query, at: Option<Position>) -> Result<Box<Select>, QueryError> {
    let is_plain = query.order_by.is_none() && query.limit_clause.is_none() && query.fetch.is_none();
    let select = select_of(query, at)?;
    if is_plain && select.having.is_none() {
        return Ok(select);
    }
    Err(QueryError::question(at, "the question has more than FROM, WHERE and GROUP BY", EXAMPLE))
}

/// A SELECT with nothing around it that would change its answer, but for ORDER BY and LIMIT.
fn select_of(query: Query, at: Option<Position>) -> Result<Box<Select>, QueryError> {
    let refuse = |clause: &str, hint: &str| {
        Err(QueryError::question(at, format!("{clause} cannot be asked of a release"), hint.to_owned()))
    };
    let alone = "ask one plain SELECT over microdata";
    if query.with.is_some() {
        return refuse("WITH", alone);
    }
    let has_more = !query.locks.is_empty()
        || query.for_clause.is_some()
        || query.settings.is_some()
        || query.format_clause.is_some()
        || !query.pipe_operators.is_empty();
    if has_more {
        return refuse("a clause after the SELECT", alone);
    }
    let select = match *query.body {
        SetExpr::Select(select) => select,
        SetExpr::SetOperation { op, .. } => {
            return refuse(&op.to_string(), "ask the parts as separate questions");
        }
        _ => return refuse("a statement without SELECT", alone),
    };
    match select.distinct {
        None | Some(Distinct::All) => {}
        Some(_) => return refuse("SELECT DISTINCT", "use GROUP BY to get one answer per value"),
    }
    let has_more = select.top.is_some()
        || select.into.is_some()
        || select.prewhere.is_some()
        || select.qualify.is_some()
        || select.exclude.is_some()
        || select.select_modifiers.is_some()
        || select.value_table_mode.is_some()
        || !select.lateral_views.is_empty()
        || !select.connect_by.is_empty()
        || !select.cluster_by.is_empty()
        || !select.distribute_by.is_empty()
        || !select.sort_by.is_empty()
        || !select.named_window.is_empty();
    let known = "use FROM, JOIN, WHERE, GROUP BY, HAVING, ORDER BY and LIMIT only";
    if has_more { refuse("a clause of this SELECT", known) } else { Ok(select) }
}

/// `FROM microdata`, perhaps under another name.
fn from_clause(select: &Select, at: Option<Position>) -> Result<Names, QueryError> {
    let [source] = select.from.as_slice() else {
        let problem = match select.from.len() {
            0 => "the question has no FROM",
            _ => "the question joins tables, and a release has only one to ask",
        };
        return Err(QueryError::question(at, problem, "write FROM microdata"));
    };
    if let Some(join) = source.joins.first() {
        let problem = "the question joins tables, and a release has only one to ask";
        return Err(QueryError::question(start_of(join.relation.span()), problem, "write FROM microdata"));
    }
    let (alias, _) = microdata(&source.relation)?;
    Ok(Names { alias: Some(alias) })
}

/// The name by which microdata is called, if this is it, and the version that is asked for.
fn microdata(relation: &TableFactor) -> Result<(String, Option<u64>), QueryError> {
    let TableFactor::Table { name, alias, args: None, .. } = relation else {
        let problem = "the question asks something other than a table";
        return Err(QueryError::question(start_of(relation.span()), problem, "write FROM microdata"));
    };
    let Some(version) = version::of_name(name) else {
        let shown: String = name.to_string().chars().take(60).collect();
        let problem = format!("there is no table `{shown}` to ask");
        let hint = "write FROM microdata: questions are about the table behind the release, not about its files";
        return Err(QueryError::question(start_of(relation.span()), problem, hint));
    };
    Ok((alias.as_ref().map_or_else(|| TABLE.to_owned(), |alias| alias.name.value.clone()), version))
}

fn group_by(clause: &GroupByExpr, names: &Names) -> Result<Vec<ColumnName>, QueryError> {
    let hint = "name columns after GROUP BY";
    let (expressions, modifiers) = match clause {
        GroupByExpr::All(_) => return Err(QueryError::question(None, "GROUP BY ALL is not understood", hint)),
        GroupByExpr::Expressions(expressions, modifiers) => (expressions, modifiers),
    };
    if !modifiers.is_empty() {
        return Err(QueryError::question(None, "GROUP BY with a modifier is not understood", hint));
    }
    let mut columns: Vec<ColumnName> = Vec::new();
    for expression in expressions {
        let Some(column) = names.column(expression) else {
            return Err(QueryError::question(start_of(expression.span()), "GROUP BY takes columns only", hint));
        };
        if !columns.iter().any(|known| is_same(known, &column)) {
            columns.push(column);
        }
    }
    Ok(columns)
}

fn is_same(a: &ColumnName, b: &ColumnName) -> bool {
    a.text == b.text || (!(a.is_quoted && b.is_quoted) && a.text.eq_ignore_ascii_case(&b.text))
}

/// The aggregates, and the plain columns beside them.
fn projection(items: &[SelectItem], names: &Names) -> Result<(Vec<Aggregate>, Vec<ColumnName>), QueryError> {
    let (mut aggregates, mut keys) = (Vec::new(), Vec::new());
    for item in items {
        let (expression, alias) = match item {
            SelectItem::UnnamedExpr(expression) => (expression, None),
            SelectItem::ExprWithAlias { expr, alias } => (expr, Some(alias)),
            _ => {
                let problem = "rows cannot be selected: a release answers aggregates";
                return Err(QueryError::question(start_of(item.span()), problem, FUNCTIONS));
            }
        };
        match names.column(expression) {
            Some(column) => keys.push(column),
            None => aggregates.push(aggregate(expression, alias, names)?),
        }
    }
    Ok((aggregates, keys))
}

fn aggregate(expression: &Expr, alias: Option<&Ident>, names: &Names) -> Result<Aggregate, QueryError> {
    let at = start_of(expression.span());
    let Expr::Function(call) = expression else {
        return Err(QueryError::question(at, "only aggregates and GROUP BY columns can be selected", FUNCTIONS));
    };
    let text: String = call.name.to_string().to_lowercase().chars().take(40).collect();
    let mut plain = Function::ALL.iter().copied().filter(|function| function.is_plain());
    let Some(function) = plain.find(|function| function.name() == text) else {
        return Err(QueryError::question(at, format!("the function `{text}` is not answered"), FUNCTIONS));
    };
    let is_plain = call.over.is_none()
        && call.filter.is_none()
        && call.null_treatment.is_none()
        && call.within_group.is_empty()
        && matches!(call.parameters, FunctionArguments::None);
    if !is_plain {
        let problem = format!("{text} with FILTER, OVER or the like is not answered");
        return Err(QueryError::question(at, problem, "put the condition into WHERE, and the columns into GROUP BY"));
    }
    let list = match &call.args {
        FunctionArguments::List(list) if list.clauses.is_empty() => list,
        _ => return Err(QueryError::question(at, format!("{text} takes one column"), FUNCTIONS)),
    };
    if list.duplicate_treatment == Some(DuplicateTreatment::Distinct) {
        let problem =
            format!("{text}(DISTINCT …) is not answered: which values people share is what the release hides");
        return Err(QueryError::question(at, problem, "use GROUP BY to get one answer per value"));
    }
    let column = match list.args.as_slice() {
        [FunctionArg::Unnamed(FunctionArgExpr::Wildcard)] if function == Function::Count => None,
        [FunctionArg::Unnamed(FunctionArgExpr::Expr(expression))] => match names.column(expression) {
            Some(column) => Some(column),
            None => {
                let problem = format!("{text} takes a column, not an expression");
                return Err(QueryError::question(start_of(expression.span()).or(at), problem, FUNCTIONS));
            }
        },
        _ => return Err(QueryError::question(at, format!("{text} takes one column"), FUNCTIONS)),
    };
    let default = || match &column {
        None => format!("{text}(*)"),
        Some(column) => format!("{text}({})", column.text.to_lowercase()),
    };
    let name = alias.map_or_else(default, |alias| alias.value.clone());
    Ok(Aggregate { name, has_alias: alias.is_some(), function, column, at })
}
