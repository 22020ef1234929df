//! Turns conditions on codes into a question that any release of the table can be asked.

use chrysalis_query::question::{
    Aggregate, ColumnName, Condition as Sentence, Constant, Function, Predicate, Question, Test,
};
use chrysalis_table::{Code, Column, Kind, Value};

use super::Family;
use super::generate::{ChosenCodes, Condition, Query};

/// What a family asks for.
pub(super) fn functions(family: Family) -> &'static [Function] {
    if family.needs_numbers() { &[Function::Avg, Function::Sum, Function::Count] } else { &[Function::Count] }
}

pub(super) fn question(columns: &[&Column], query: &Query, family: Family) -> Question {
    let sensitive = columns[columns.len() - 1].name();
    Question {
        aggregates: functions(family).iter().map(|&function| aggregate(function, sensitive)).collect(),
        condition: Some(Sentence::All(query.conditions.iter().map(|condition| test(columns, condition)).collect())),
        group_by: Vec::new(),
    }
}

/// `avg(salary)`, `count(*)`.
pub(super) fn aggregate(function: Function, sensitive: &str) -> Aggregate {
    let of = (function != Function::Count).then_some(sensitive);
    Aggregate {
        name: format!("{function}({})", of.unwrap_or("*")),
        has_alias: false,
        function,
        column: of.map(named),
        at: None,
    }
}

fn named(name: &str) -> ColumnName {
    ColumnName { text: name.to_owned(), is_quoted: true, at: None }
}

fn test(columns: &[&Column], condition: &Condition) -> Sentence {
    let column = columns[condition.column];
    let predicate = match &condition.codes {
        // Words without an order have no intervals, although their codes do.
        ChosenCodes::Interval(codes) if column.domain().kind() != Kind::Category => {
            Predicate::Between(constant(column, codes.start), constant(column, codes.end - 1))
        }
        chosen => Predicate::In(chosen.codes().map(|code| constant(column, code)).collect()),
    };
    Sentence::Test(Test { column: named(column.name()), predicate, at: None })
}

fn constant(column: &Column, code: Code) -> Constant {
    match column.domain().value(code) {
        None => Constant::Null,
        Some(Value::Integer(number)) => Constant::Integer(i128::from(*number)),
        Some(Value::Real(number)) => Constant::Real(*number),
        Some(value @ (Value::Date(_) | Value::DateTime(_) | Value::Text(_))) => Constant::Text(value.to_string()),
    }
}
