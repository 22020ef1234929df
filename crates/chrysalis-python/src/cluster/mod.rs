//! For clusters. `job.rs` and `task.rs` are the two halves of publishing a table whose rows are on many machines; this
//! file has what a cluster needs of a release that it reads itself, of which only the manifest is read here.

mod job;
mod task;

use std::path::PathBuf;

use chrysalis::store::read_manifest_within;
use chrysalis::{AuditStatement, Counted, Dialect, Error, Questions, audit_as_sql};
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::errors::{OrRaise, refused};
use crate::keywords::memory_of;
use crate::release::public_tables;
use crate::work;

pub(crate) use job::ClusterJob;
pub(crate) use task::{
    cluster_count, cluster_merge_again, cluster_merge_counts, cluster_merge_surveys, cluster_publish, cluster_route,
    cluster_survey, cluster_survey_again, cluster_write,
};

/// The manifest of a release in a folder, as JSON. Its tables are not read.
#[pyfunction]
#[pyo3(signature = (folder, memory=None))]
pub(crate) fn manifest(py: Python<'_>, folder: PathBuf, memory: Option<&Bound<'_, PyAny>>) -> PyResult<String> {
    let memory = memory.map(memory_of).transpose()?.unwrap_or_default();
    read_manifest_within(&folder, memory).or_raise(py)?.to_json().or_raise(py)
}

/// The audit of a release in a folder as SQL: a JSON list of statements.
#[pyfunction]
#[pyo3(signature = (folder, dialect, memory=None))]
pub(crate) fn audit_sql(
    py: Python<'_>,
    folder: PathBuf,
    dialect: &str,
    memory: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let memory = memory.map(memory_of).transpose()?.unwrap_or_default();
    let statements = audit_as_sql(&folder, dialect_of(py, dialect)?, None, memory).or_raise(py)?.statements;
    let told = |one: &AuditStatement| {
        json!({
            "name": one.name, "about": one.about, "promise": one.promise, "decides": one.decides.words(), "sql": one.sql,
        })
    };
    Ok(statements.iter().map(told).collect::<Value>().to_string())
}

/// A question as one statement for a database that holds the tables of a release in a folder. Only columns whose labels
/// the statement names are read.
#[pyfunction]
#[pyo3(signature = (folder, question, dialect, tables=vec![], memory=None))]
pub(crate) fn rewrite(
    py: Python<'_>,
    folder: PathBuf,
    question: &str,
    dialect: &str,
    tables: Vec<(String, Bound<'_, PyAny>)>,
    memory: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let memory = memory.map(memory_of).transpose()?.unwrap_or_default();
    let dialect = dialect_of(py, dialect)?;
    let questions = Questions::one(question).or_raise(py)?.joining(public_tables(py, tables)?);
    let (mut statements, _) = work::run(py, None, move |watch| {
        watch.phase("read", None, Counted::Rows);
        questions.rewrite(&folder, dialect, memory)
    })?;
    statements.pop().ok_or_else(|| Error::internal("a question without a statement")).or_raise(py)
}

fn dialect_of(py: Python<'_>, dialect: &str) -> PyResult<Dialect> {
    dialect.parse().map_err(|problem: String| refused(py, format!("`dialect`: {problem}"), "name one of them"))
}
