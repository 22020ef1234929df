//! Values that belong together: a taxonomy proposed for a column, or compared with it after it was edited.

use std::sync::Arc;

use axum::extract::{Path, State};
use bytes::Bytes;
use chrysalis::table::{Column, Coverage, Kind, TaxonomyFile, propose};
use chrysalis::words::count;
use chrysalis::{Draft, Error, Remedy, files};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Accepted, accepted, parsed, started};
use crate::error::Reply;
use crate::jobs::Job;
use crate::state::Studio;
use crate::tables::{Loaded, is_keyed_step};

/// The most values of a column that a page can show as a tree.
const MOST_VALUES: usize = 5_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    draft: Draft,
    column: String,
    /// Lines to compare with the column; proposed if absent.
    #[serde(default)]
    lines: Option<Vec<Vec<String>>>,
    #[serde(default)]
    population: Option<u64>,
}

/// Lines from values to the root, how many rows are under each, and what does not fit.
pub(crate) async fn groups(
    State(studio): State<Arc<Studio>>,
    Path((_, id)): Path<(String, u64)>,
    body: Bytes,
) -> Reply {
    let asked = parsed::<Asked>(&body)?;
    let Accepted { loaded, draft, .. } = accepted(&studio, id, asked.draft, asked.population)?;
    started(studio.jobs.start(move |job| {
        let (column, kind) = as_written(&loaded, &draft, &asked.column, job)?;
        let failed = |error| Error::from(error).about(&format!("the groups of `{}`", asked.column));
        let (file, grouping) = match &asked.lines {
            Some(lines) => (TaxonomyFile::from_lines(lines).map_err(failed)?, None),
            None => propose(&column, kind).map(|(file, by)| (file, Some(by.name()))).map_err(failed)?,
        };
        let found = Coverage::new(&file, &column).map_err(failed)?;
        let problem = file.bind(column.domain()).err().map(|error| error.to_string());
        Ok(json!({
            "lines": file.lines().collect::<Vec<_>>(),
            "rows": found.rows,
            "grouping": grouping,
            "without_line": found.without_line,
            "missing": found.missing,
            "problem": problem.filter(|_| found.without_line.is_empty()),
        }))
    }))
}

/// A column as it is published, its values spelled as in the file; and the kind that was asked for.
fn as_written(loaded: &Loaded, draft: &Draft, name: &str, job: &Job) -> Result<(Column, Option<Kind>), Error> {
    draft.check_names(&loaded.header, std::iter::once(&name.to_owned()))?;
    // A look at values makes no key.
    if draft.attributes.get(name).is_some_and(|said| said.prepare.iter().any(|step| is_keyed_step(step))) {
        let message =
            format!("`{name}` is replaced by pseudonyms or moved with your key, so that its values have no groups");
        return Err(Error::request(message, "leave its groups out"));
    }
    let mut request = draft.request(name)?;
    let kind = request.kind;
    (request.kind, request.order) = (Some(Kind::Category), Vec::new());
    // Only the column itself matters: what is said of others may be about rows that are not read.
    let mut own = draft.clone();
    own.attributes.retain(|known, _| known == name);
    let (table, _) = files::read_prepared(&own, loaded.input()?, &[request], "read", job)?;
    let (table, _) = table.with_missing(draft.missing_policy()?)?;
    let column = table.column(name).cloned();
    let column = column.ok_or_else(|| Error::internal(format!("column `{name}` was not read")))?;
    let values = column.domain().values().len();
    if values == 0 {
        return Err(Error::request(format!("column `{name}` has no value"), "choose another column"));
    }
    if values > MOST_VALUES {
        let message = format!(
            "`{name}` has {} values, more than the {} that can be edited here",
            count(values as u64),
            count(MOST_VALUES as u64)
        );
        let remedy = Remedy::from("shorten or round its values first, or write a file of groups with the command line");
        return Err(Error::request(message, remedy));
    }
    Ok((column, kind))
}

/// Which ways of publishing look at groups of values, and which partitioners do.
pub(crate) fn ways() -> Value {
    let methods = chrysalis::catalogue::METHODS.iter();
    let methods = methods.map(|entry| json!([entry.form.name(), entry.looks_at_taxonomies(), entry.partitioner]));
    let partitioners = chrysalis::catalogue::PARTITIONERS.iter();
    let partitioners = partitioners.map(|entry| json!([entry.name, entry.looks_at_taxonomies]));
    json!({
        "methods": methods.collect::<Vec<_>>(),
        "partitioners": partitioners.collect::<Vec<_>>(),
        "usual": chrysalis::catalogue::DEFAULT_METHOD.name(),
    })
}
