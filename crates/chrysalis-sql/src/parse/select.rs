//! The clauses of a SELECT: which are understood, and what to say about the others.

use std::collections::BTreeSet;

use sqlparser::ast::{
    Distinct, DuplicateTreatment, Expr, FunctionArg, FunctionArgExpr, FunctionArguments, GroupByExpr, Ident,
    ObjectNamePart, Query, Select, SelectItem, SetExpr, Spanned, Statement, TableFactor,
};

use super::condition::{self, Names};
use super::{EXAMPLE, TABLE, start_of};
use chrysalis_query::question::{Aggregate, ColumnName, Function, Question};
use chrysalis_query::{Position, QueryError};

const FUNCTIONS: &str = "ask COUNT(*), COUNT, SUM, AVG, MIN or MAX of a column";

pub(super) fn question(statement: Statement, at: Option<Position>) -> Result<Question, QueryError> {
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

/// A SELECT with nothing around it that would change its answer.
fn plain_select(query: Query, at: Option<Position>) -> Result<Box<Select>, QueryError> {
    let refuse = |clause: &str, hint: &str| {
        Err(QueryError::question(at, format!("{clause} cannot be asked of a release"), hint.to_owned()))
    };
    let alone = "ask one plain SELECT over microdata";
    if query.with.is_some() {
        return refuse("WITH", alone);
    }
    if query.order_by.is_some() {
        return refuse("ORDER BY", "leave it out: answers come in ascending order of the GROUP BY columns");
    }
    if query.limit_clause.is_some() || query.fetch.is_some() {
        return refuse("LIMIT", "leave it out: a question gets all its answers");
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
    if select.having.is_some() {
        return refuse("HAVING", "leave it out and filter the answers, whose bounds say what is certain");
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
    if has_more { refuse("a clause of this SELECT", "use FROM, WHERE and GROUP BY only") } else { Ok(select) }
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
    let TableFactor::Table { name, alias, args: None, .. } = &source.relation else {
        let problem = "the question asks something other than a table";
        return Err(QueryError::question(start_of(source.relation.span()), problem, "write FROM microdata"));
    };
    let is_microdata = match name.0.as_slice() {
        [ObjectNamePart::Identifier(ident)] => ident.value.eq_ignore_ascii_case(TABLE),
        _ => false,
    };
    if !is_microdata {
        let shown: String = name.to_string().chars().take(60).collect();
        let problem = format!("there is no table `{shown}` to ask");
        let hint = "write FROM microdata: questions are about the table behind the release, not about its files";
        return Err(QueryError::question(start_of(source.relation.span()), problem, hint));
    }
    Ok(Names { alias: alias.as_ref().map(|alias| alias.name.value.clone()) })
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
    let Some(function) = Function::ALL.iter().copied().find(|function| function.name() == text) else {
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
