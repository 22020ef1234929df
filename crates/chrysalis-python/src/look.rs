//! What a table is like before anything is published: its profile, its risk, taxonomies for its columns, and a table to
//! try things on; and what a ledger remembers.

use std::path::PathBuf;
use std::sync::Arc;

use chrysalis::table::{Column, Kind, TaxonomyError, TaxonomyFile, propose};
use chrysalis::taxonomy::TaxonomyReport;
use chrysalis::{
    Draft, Error, RiskDraft, TaxonomyDraft, Watch, files, profile as profile_of, read_for_risk, read_ledger,
    read_population, read_population_of, risk as risk_of,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::refused;
use crate::keywords::{Verb, draft, memory};
use crate::publish::{POPULATION, TABLE};
use crate::release::table_of_csv;
use crate::stream::Given;
use crate::table::Table;
use crate::work;

fn text(report: &impl serde::Serialize) -> Result<String, Error> {
    serde_json::to_string(report).map_err(|error| Error::internal(error.to_string()))
}

/// What a table satisfies today. Returns the report as JSON, and notes.
#[pyfunction]
#[pyo3(signature = (table, keywords, progress=None))]
pub(crate) fn profile(
    py: Python<'_>,
    table: &Bound<'_, PyAny>,
    keywords: &Bound<'_, PyDict>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<(String, Vec<String>)> {
    let memory = memory(keywords)?;
    let said = draft(keywords, Verb::Profile)?;
    let given = Given::new(table, "table")?;
    let ((report, notes), mut told) = work::run(py, progress, move |watch| {
        let draft = given.draft_within(said, memory)?;
        let input = given.open(&draft, TABLE)?;
        let requests = files::requests(&input, &draft, watch)?;
        let (table, _) = files::read_prepared(&draft, input, &requests, "read", watch)?;
        let found = profile_of(table, &draft, watch)?;
        Ok((text(&found)?, found.notes))
    })?;
    told.notes.extend(notes);
    Ok((report, told.notes))
}

/// How easily the rows of a table are found again. Returns the report as JSON, and notes.
#[pyfunction]
#[pyo3(signature = (table, keywords, population=None, population_table=None, fraction=None, threshold=None,
                    max_size=None, rows=None, progress=None))]
#[allow(clippy::too_many_arguments, reason = "keywords, each handed on as it is")]
pub(crate) fn risk(
    py: Python<'_>,
    table: &Bound<'_, PyAny>,
    keywords: &Bound<'_, PyDict>,
    population: Option<u64>,
    population_table: Option<&Bound<'_, PyAny>>,
    fraction: Option<f64>,
    threshold: Option<f64>,
    max_size: Option<usize>,
    rows: Option<PathBuf>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<(String, Vec<String>)> {
    let said = draft(keywords, Verb::Risk)?;
    let given = Given::new(table, "table")?;
    let people = population_table.map(|table| Given::new(table, "population_table")).transpose()?;
    let ((report, notes), mut told) = work::run(py, progress, move |watch| {
        let draft = given.draft(said)?;
        let table = read_for_risk(&draft, given.open(&draft, TABLE)?, watch)?;
        let people = match people {
            Some(Given::File(file)) => Some(read_population(file.as_ref(), &draft, &table, watch)?),
            Some(given) => {
                let source = Draft { input: None, ..draft.clone() };
                Some(read_population_of(given.open(&source, POPULATION)?, &source, &table, watch)?)
            }
            None => None,
        };
        let asked = RiskDraft { population, fraction, threshold, max_size };
        let found = risk_of(table, people, &draft, &asked, watch)?;
        if let Some(file) = &rows {
            found.write_rows(file, watch)?;
        }
        Ok((text(&found)?, found.notes))
    })?;
    told.notes.extend(notes);
    Ok((report, told.notes))
}

/// What a ledger remembers of releases of the same people. Returns the report as JSON, and notes.
#[pyfunction]
pub(crate) fn series(py: Python<'_>, ledger: PathBuf) -> PyResult<(String, Vec<String>)> {
    let ((report, unfinished), mut told) = work::run(py, None, move |_| {
        let found = read_ledger(&ledger)?;
        Ok((text(&found)?, found.unfinished.map(|run| run.to_string())))
    })?;
    told.notes.extend(unfinished);
    Ok((report, told.notes))
}

/// One column as `publish` would read it beside a taxonomy, and the kind that was asked for.
fn column(
    given: Given,
    draft: &Draft,
    name: &str,
    proposes: bool,
    watch: &dyn Watch,
) -> Result<(Column, Option<Kind>), Error> {
    let input = given.open(draft, TABLE)?;
    draft.check_names(input.header(), std::iter::once(&name.to_owned()))?;
    let mut request = draft.request(name)?;
    let kind = request.kind;
    request.kind = if proposes { Some(Kind::Category) } else { kind.or(Some(Kind::Category)) };
    if proposes {
        request.order.clear();
    }
    let (table, _) = files::read_prepared(draft, input, &[request], "read", watch)?;
    let (table, _) = table.with_missing(draft.missing_policy()?)?;
    let column = table.column(name).cloned();
    let column = column.ok_or_else(|| Error::internal(format!("column `{name}` was not read")))?;
    match column.domain().values().is_empty() {
        true => Err(Error::request(format!("column `{name}` has no value"), "name another column")),
        false => Ok((column, kind)),
    }
}

/// A taxonomy for a column: its lines, from value to root, and how values were grouped.
#[pyfunction]
#[pyo3(signature = (table, name, keywords))]
pub(crate) fn propose_taxonomy(
    py: Python<'_>,
    table: &Bound<'_, PyAny>,
    name: String,
    keywords: &Bound<'_, PyDict>,
) -> PyResult<(Vec<Vec<String>>, String)> {
    let memory = memory(keywords)?;
    let said = draft(keywords, Verb::Profile)?;
    let given = Given::new(table, "table")?;
    let (made, _) = work::run(py, None, move |watch| {
        let draft = given.draft_within(said, memory)?;
        let (column, kind) = column(given, &draft, &name, true, watch)?;
        let failed =
            |error: TaxonomyError| Error::from(error).about(&format!("no taxonomy for column `{}`", column.name()));
        let (file, grouping) = propose(&column, kind).map_err(failed)?;
        // A proposal must be acceptable to the program itself.
        file.bind(column.domain()).map_err(failed)?;
        let lines = file.lines().map(|line| line.into_iter().map(str::to_owned).collect()).collect();
        Ok((lines, grouping.name().to_owned()))
    })?;
    Ok(made)
}

/// Examines a taxonomy, together with a column if a table is passed. Returns the report as JSON.
#[pyfunction]
#[pyo3(signature = (taxonomy, keywords, table=None, name=None))]
pub(crate) fn check_taxonomy(
    py: Python<'_>,
    taxonomy: &Bound<'_, PyAny>,
    keywords: &Bound<'_, PyDict>,
    table: Option<&Bound<'_, PyAny>>,
    name: Option<String>,
) -> PyResult<String> {
    let memory = memory(keywords)?;
    let said = draft(keywords, Verb::Profile)?;
    let given = table.map(|table| Given::new(table, "table")).transpose()?;
    if given.is_some() != name.is_some() {
        return Err(refused(py, "a column is looked up in a table", "name both `table` and `column`, or neither"));
    }
    let taxonomy = match taxonomy.extract::<PathBuf>() {
        Ok(path) => TaxonomyDraft::File(path),
        Err(_) => TaxonomyDraft::Lines(taxonomy.extract()?),
    };
    let (report, _) = work::run(py, None, move |watch| {
        let (source, file) = match taxonomy {
            TaxonomyDraft::File(path) => {
                let file = files::read_taxonomy(&path, memory.unwrap_or_default())?;
                (path.display().to_string(), file)
            }
            TaxonomyDraft::Lines(_) if memory.is_some() => {
                let message = "`memory` has no effect, because no taxonomy is read from a file";
                return Err(Error::request(message, "leave it out"));
            }
            TaxonomyDraft::Lines(lines) => {
                let text: Vec<String> = lines.iter().map(|line| line.join(";")).collect();
                ("the taxonomy".to_owned(), TaxonomyFile::parse(&text.join("\n"))?)
            }
            TaxonomyDraft::Read(_) => return Err(Error::internal("a taxonomy was read before its time")),
        };
        let column = match (given, name) {
            (Some(given), Some(name)) => {
                let draft = given.draft(said)?;
                Some(column(given, &draft, &name, false, watch)?.0)
            }
            _ => None,
        };
        let report = TaxonomyReport::new(&source, &file, column.as_ref())?;
        text(&report)
    })?;
    Ok(report)
}

/// The example hospital: as many patients as you like, none of them real.
#[pyfunction]
#[pyo3(signature = (rows, seed))]
pub(crate) fn example(py: Python<'_>, rows: usize, seed: u64) -> PyResult<Table> {
    let (table, _) = work::run(py, None, move |_| {
        let mut csv = Vec::new();
        let rows = u64::try_from(rows).unwrap_or(u64::MAX);
        chrysalis_example::write_csv(&mut csv, rows, seed).map_err(|error| Error::internal(error.to_string()))?;
        table_of_csv(&csv)
    })?;
    Ok(Table::of(Arc::new(table)))
}
