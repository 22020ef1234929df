//! Answers, as columns of numbers.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, Date32Array, Float64Array, Int64Array, RecordBatch, StringArray, TimestampMicrosecondArray,
};
use arrow_schema::{Field, Schema};
use chrysalis::Error;
use chrysalis::report::AnswerReport;
use chrysalis::table::Value;
use pyo3::prelude::*;

use crate::errors::OrRaise;
use crate::table::Table;

/// An answer.
#[pyclass(frozen, module = "chrysalis._native")]
pub(crate) struct Answer {
    report: AnswerReport,
}

impl Answer {
    pub(crate) fn new(report: AnswerReport) -> Answer {
        Answer { report }
    }
}

#[pymethods]
impl Answer {
    /// As JSON, with the hits behind every row.
    fn json(&self) -> String {
        self.report.json(true).to_string()
    }

    /// Where the numbers come from, line by line.
    #[getter]
    fn explanation(&self) -> Vec<String> {
        self.report.explanation.clone()
    }

    /// Notes on what was asked for and the release does not have.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.report.notes.clone()
    }

    /// As a table: the keys, and of every aggregate the estimate under its name, its bounds and its standard error.
    fn table(&self, py: Python<'_>) -> PyResult<Table> {
        batch(&self.report).map(Table::of_batch).or_raise(py)
    }
}

fn batch(report: &AnswerReport) -> Result<RecordBatch, Error> {
    let answer = &report.answer;
    let mut columns: Vec<(String, ArrayRef)> = Vec::new();
    for (at, name) in answer.keys.iter().enumerate() {
        let keys: Vec<Option<&Value>> =
            answer.rows.iter().map(|row| row.group.get(at).and_then(Option::as_ref)).collect();
        columns.push((name.clone(), keys_of(&keys)));
    }
    let names = answer.rows.first().map(|row| row.aggregates.iter().map(|it| it.name.clone()).collect::<Vec<_>>());
    for (at, name) in names.unwrap_or_default().into_iter().enumerate() {
        let numbers = answer.rows.iter().map(|row| {
            let aggregate = row.aggregates.get(at)?;
            Some([aggregate.estimate, aggregate.lower, aggregate.upper, aggregate.std_error])
        });
        let numbers: Vec<[Option<f64>; 4]> = numbers.map(Option::unwrap_or_default).collect();
        for (which, suffix) in ["", "_lower", "_upper", "_std_error"].into_iter().enumerate() {
            let array: Float64Array = numbers.iter().map(|number| number[which]).collect();
            columns.push((format!("{name}{suffix}"), Arc::new(array)));
        }
    }
    let fields = columns.iter().map(|(name, array)| Field::new(name, array.data_type().clone(), true));
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let arrays = columns.into_iter().map(|(_, array)| array).collect();
    let options = arrow_array::RecordBatchOptions::new().with_row_count(Some(answer.rows.len()));
    RecordBatch::try_new_with_options(schema, arrays, &options).map_err(|error| Error::internal(error.to_string()))
}

/// Keys of one column, in the type that all of them have, or as texts.
fn keys_of(keys: &[Option<&Value>]) -> ArrayRef {
    fn all<T>(keys: &[Option<&Value>], pick: impl Fn(&Value) -> Option<T>) -> Option<Vec<Option<T>>> {
        let typed = |key: &Option<&Value>| match key {
            None => Some(None),
            Some(value) => pick(value).map(Some),
        };
        keys.iter().map(typed).collect()
    }
    let is_known = keys.iter().any(Option::is_some);
    let integer = |value: &Value| if let Value::Integer(number) = value { Some(*number) } else { None };
    let real = |value: &Value| if let Value::Real(number) = value { Some(*number) } else { None };
    let date = |value: &Value| if let Value::Date(date) = value { Some(date.0) } else { None };
    let moment = |value: &Value| if let Value::DateTime(moment) = value { Some(moment.0) } else { None };
    if let Some(numbers) = all(keys, integer).filter(|_| is_known) {
        return Arc::new(Int64Array::from(numbers));
    }
    if let Some(numbers) = all(keys, real) {
        return Arc::new(Float64Array::from(numbers));
    }
    if let Some(dates) = all(keys, date) {
        return Arc::new(Date32Array::from(dates));
    }
    if let Some(moments) = all(keys, moment) {
        return Arc::new(TimestampMicrosecondArray::from(moments));
    }
    let texts = keys.iter().map(|key| key.map(ToString::to_string));
    Arc::new(texts.collect::<StringArray>())
}
