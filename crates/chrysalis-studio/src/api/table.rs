//! Opening a table, and how exposed its people are.

use std::sync::{Arc, PoisonError};

use axum::body::Body;
use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use chrysalis::{Draft, Error, Unwatched, exposure};
use serde::Deserialize;
use serde_json::{Value, json};

use super::groups;
use super::{announced, computed, failed, parsed, received, started};
use crate::charts;
use crate::describe;
use crate::error::{Json, Reply, refused};
use crate::jobs::Job;
use crate::state::Studio;
use crate::tables::{Loaded, Upload};

/// What a page needs first: the job that reads the file named at the start, if there is one.
pub(crate) async fn state(State(studio): State<Arc<Studio>>) -> Reply {
    Ok(Json(json!({
        "job": first(&studio)?,
        "file": studio.file,
        "home": studio.home.display().to_string(),
        "most_upload": studio.limits.upload,
        "ways": groups::ways(),
        "version": env!("CARGO_PKG_VERSION"),
    })))
}

/// The job that reads the file named at the start. What it read may have made room for other tables, or the job itself
/// for others: then it is read again.
fn first(studio: &Arc<Studio>) -> Result<Option<u64>, Error> {
    let mut first = studio.first.lock().unwrap_or_else(PoisonError::into_inner);
    let (Some(file), Some(job)) = (&studio.file, *first) else { return Ok(None) };
    let is_there = match studio.jobs.result(job) {
        Some(Some(told)) => told["table"].as_u64().is_none_or(|table| studio.tables.has(table)),
        // It is under way.
        Some(None) => true,
        None => false,
    };
    if !is_there {
        *first = Some(open_file(studio, file.clone())?);
    }
    Ok(*first)
}

/// What a page shows of a table that is open.
pub(crate) async fn about(State(studio): State<Arc<Studio>>, Path((_, id)): Path<(String, u64)>) -> Reply {
    let loaded = studio.tables.get(id)?;
    computed(move || {
        let mut told = describe::table(&loaded, &loaded.notes);
        told["table"] = json!(id);
        Ok(told)
    })
    .await
}

/// Reads the file that was named at the start.
pub(crate) fn open_file(studio: &Arc<Studio>, file: String) -> Result<u64, Error> {
    let own = Arc::clone(studio);
    studio.jobs.start(move |job| Ok(held(&own, Loaded::open_file(&file, job)?, job)))
}

fn held(studio: &Studio, mut loaded: Loaded, job: &Job) -> Value {
    loaded.notes = job.notes();
    let mut told = describe::table(&loaded, &loaded.notes);
    told["table"] = json!(studio.tables.put(loaded));
    told
}

/// Receives a table and begins to read it. It stays in memory. `?encoding=…` says how to understand its bytes.
pub(crate) async fn upload(
    State(studio): State<Arc<Studio>>,
    Path((_, name)): Path<(String, String)>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    body: Body,
) -> Response {
    match uploaded(&studio, &name, &headers, body).await {
        Ok(Upload { name, bytes, .. }) => {
            let own = Arc::clone(&studio);
            let encoding = query.as_deref().and_then(|query| query.strip_prefix("encoding=")).map(str::to_owned);
            let job = studio.jobs.start(move |job| {
                let loaded = Loaded::open_bytes(name, bytes, encoding, job)?;
                Ok(held(&own, loaded, job))
            });
            started(job).into_response()
        }
        Err(refusal) => *refusal,
    }
}

/// Receives a table of the people who could be in another. It is read when something is asked about them.
pub(crate) async fn population(
    State(studio): State<Arc<Studio>>,
    Path((_, name)): Path<(String, String)>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let people = match uploaded(&studio, &name, &headers, body).await {
        Ok(people) => people,
        Err(refusal) => return *refusal,
    };
    match people.open(&Draft::default()).map(|input| input.header().to_vec()) {
        Ok(columns) => {
            let name = people.name.clone();
            Json(json!({"population": studio.populations.put(people), "name": name, "columns": columns}))
                .into_response()
        }
        Err(error) => failed(error),
    }
}

async fn uploaded(studio: &Studio, name: &str, headers: &HeaderMap, body: Body) -> Result<Upload, Box<Response>> {
    let Ok(_permit) = Arc::clone(&studio.uploads).try_acquire_owned() else {
        let sentence = "other files are being received; try again in a moment";
        return Err(Box::new(refused(StatusCode::SERVICE_UNAVAILABLE, sentence)));
    };
    let bytes = received(body, announced(headers), studio.limits.upload).await;
    let bytes = bytes.map_err(|(status, sentence)| Box::new(refused(status, sentence)))?;
    let name = file_name(name).map_err(|error| Box::new(failed(error)))?;
    Ok(Upload::new(name, bytes))
}

/// The name alone: it is for messages and for the recipe, and never opened.
fn file_name(name: &str) -> Result<String, Error> {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    if last.is_empty() || last.starts_with('-') || last == ".." || last.chars().any(char::is_control) {
        return Err(Error::request("this file has no usable name", "give it a name such as table.csv"));
    }
    Ok(last.to_owned())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Known {
    columns: Vec<String>,
}

/// How many people stand alone with what others may know.
pub(crate) async fn exposed(
    State(studio): State<Arc<Studio>>,
    Path((_, id)): Path<(String, u64)>,
    body: Bytes,
) -> Reply {
    let (loaded, known) = (studio.tables.get(id)?, parsed::<Known>(&body)?);
    computed(move || {
        let found = exposure(&loaded.table, &known.columns, &Unwatched)?;
        let mut told = json!(found);
        told["chart"] = json!(charts::exposure(&found));
        Ok(told)
    })
    .await
}
