//! Answers as tables, JSON and CSV.

use chrysalis_query::{AggregateAnswer, Answer, AnswerRow, Asked, Plan};
use chrysalis_table::Value;
use serde_json::{Map, json};

use super::explain;
use crate::args::Output;
use crate::render;

const NUMBERS: [&str; 4] = ["estimate", "lower", "upper", "std_error"];

/// What stands between two answers.
pub(super) fn between(output: Output) -> &'static str {
    if output == Output::Json { "" } else { "\n" }
}

pub(super) fn answer(answer: &Answer, plan: &Plan, asked: &Asked, output: Output, is_explained: bool) -> String {
    match output {
        Output::Json => format!("{}\n", to_json(answer, is_explained)),
        Output::Csv => to_csv(answer),
        Output::Table => {
            let mut text = to_table(answer);
            if is_explained {
                text = format!("{text}\n\n{}", explain::words(answer, plan, asked));
            }
            format!("{}\n", render::printable(&text))
        }
    }
}

fn header(answer: &Answer) -> Vec<&str> {
    answer.keys.iter().map(String::as_str).chain(["aggregate"]).chain(NUMBERS).collect()
}

fn numbers(aggregate: &AggregateAnswer) -> [Option<f64>; 4] {
    [aggregate.estimate, aggregate.lower, aggregate.upper, aggregate.std_error]
}

/// One line per row and aggregate.
fn lines<'a>(answer: &'a Answer, number: fn(f64) -> String, null: &'a str) -> impl Iterator<Item = Vec<String>> + 'a {
    let line = move |row: &AnswerRow, aggregate: &AggregateAnswer| {
        let key = |value: &Option<Value>| value.as_ref().map_or_else(|| null.to_owned(), Value::to_string);
        let keys = row.group.iter().map(key);
        let cell = |value: Option<f64>| value.map_or_else(|| null.to_owned(), number);
        keys.chain([aggregate.name.clone()]).chain(numbers(aggregate).map(cell)).collect()
    };
    answer.rows.iter().flat_map(move |row| row.aggregates.iter().map(move |aggregate| line(row, aggregate)))
}

fn to_table(answer: &Answer) -> String {
    if answer.rows.is_empty() {
        return "No row can match.".to_owned();
    }
    render::table(&header(answer), &lines(answer, short, "NULL").collect::<Vec<_>>())
}

fn to_csv(answer: &Answer) -> String {
    let header: Vec<String> = header(answer).into_iter().map(str::to_owned).collect();
    std::iter::once(header)
        .chain(lines(answer, |number| number.to_string(), ""))
        .map(|line| render::csv_line(&line))
        .collect()
}

/// Whole numbers as such, others with the digits that matter.
pub(super) fn short(number: f64) -> String {
    if number.fract() == 0.0 && number.abs() < 1e15 { format!("{}", number + 0.0) } else { render::number(number) }
}

fn to_json(answer: &Answer, is_explained: bool) -> serde_json::Value {
    let row = |row: &AnswerRow| {
        let keys = answer.keys.iter().cloned().zip(row.group.iter().map(key));
        let aggregates: Vec<_> = row.aggregates.iter().map(aggregate).collect();
        let mut object = json!({"group": keys.collect::<Map<_, _>>(), "aggregates": aggregates});
        if is_explained {
            let because = &row.because;
            object["because"] = json!({
                "groups": because.groups,
                "rows": because.rows,
                "certain": because.certain,
                "possible": because.possible,
                "expected": because.expected,
            });
        }
        object
    };
    json!({"rows": answer.rows.iter().map(row).collect::<Vec<_>>()})
}

fn aggregate(aggregate: &AggregateAnswer) -> serde_json::Value {
    json!({
        "name": aggregate.name,
        "estimate": aggregate.estimate,
        "lower": aggregate.lower,
        "upper": aggregate.upper,
        "std_error": aggregate.std_error,
    })
}

fn key(value: &Option<Value>) -> serde_json::Value {
    match value {
        None => serde_json::Value::Null,
        Some(Value::Integer(number)) => json!(number),
        Some(Value::Real(number)) => json!(number),
        Some(value) => json!(value.to_string()),
    }
}
