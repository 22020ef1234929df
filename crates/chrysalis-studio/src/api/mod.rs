//! Every view as JSON: one file per part of the page.

pub(crate) mod ask;
pub(crate) mod groups;
pub(crate) mod jobs;
pub(crate) mod price;
pub(crate) mod publish;
pub(crate) mod table;
pub(crate) mod tabs;

use std::sync::Arc;

use axum::body::Body;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::{Bytes, BytesMut};
use chrysalis::{Draft, Error, Recipe, Remedy, Watch};
use http_body_util::BodyExt;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::task::spawn_blocking;

use crate::error::{Failure, Json, Reply};
use crate::jobs::caught;
use crate::state::Studio;
use crate::tables::{Loaded, Upload};

/// A table, and what a page chose about it.
pub(crate) struct Accepted {
    pub(crate) loaded: Arc<Loaded>,
    pub(crate) draft: Draft,
    /// The people of the population, if they were uploaded.
    pub(crate) people: Option<Arc<Upload>>,
}

/// Checks what a page chose about a table.
fn accepted(studio: &Studio, id: u64, draft: Draft, population: Option<u64>) -> Result<Accepted, Error> {
    let loaded = studio.tables.get(id)?;
    let people = population.map(|id| studio.populations.get(id)).transpose()?;
    let draft = loaded.accept(draft, people.as_deref(), &studio.home)?;
    Ok(Accepted { loaded, draft, people })
}

impl Accepted {
    /// What a trial of the choices will do.
    pub(crate) fn trial_recipe(&self, watch: &dyn Watch) -> Result<Recipe, Error> {
        self.loaded.trial_recipe(&self.draft, self.people.as_deref(), watch)
    }
}

/// A request's JSON.
fn parsed<T: DeserializeOwned>(body: &Bytes) -> Result<T, Error> {
    serde_json::from_slice(body)
        .map_err(|error| Error::request(format!("the request cannot be understood: {error}"), Remedy::none()))
}

/// Short work, off the threads that answer requests.
async fn computed(work: impl FnOnce() -> Result<Value, Error> + Send + 'static) -> Reply {
    let done = spawn_blocking(|| caught(work)).await;
    Ok(Json(done.map_err(|_| Error::internal("the work ended without a result"))??))
}

/// The number of a job that was started.
fn started(job: Result<u64, Error>) -> Reply {
    Ok(Json(json!({"job": job?})))
}

/// A file to save; never a page to show.
fn download(name: &str, kind: &'static str, bytes: Vec<u8>) -> Response {
    let disposition = format!("attachment; filename=\"{name}\"");
    ([(header::CONTENT_TYPE, kind.to_owned()), (header::CONTENT_DISPOSITION, disposition)], bytes).into_response()
}

/// A body of at most `most` bytes. More are refused, by what is announced if possible, and never all received.
async fn received(mut body: Body, announced: Option<u64>, most: u64) -> Result<Bytes, (StatusCode, &'static str)> {
    let too_large = (StatusCode::PAYLOAD_TOO_LARGE, "this file is too large to be uploaded");
    if announced.is_some_and(|bytes| bytes > most) {
        return Err(too_large);
    }
    let mut bytes = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let broken = |_| (StatusCode::BAD_REQUEST, "the file did not arrive in full");
        let frame = frame.map_err(broken)?;
        let Ok(data) = frame.into_data() else { continue };
        if (bytes.len() + data.len()) as u64 > most {
            return Err(too_large);
        }
        bytes.extend_from_slice(&data);
    }
    Ok(bytes.freeze())
}

/// The bytes that a request announces.
fn announced(headers: &axum::http::HeaderMap) -> Option<u64> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// An error as an answer.
fn failed(error: Error) -> Response {
    Failure(error).into_response()
}
