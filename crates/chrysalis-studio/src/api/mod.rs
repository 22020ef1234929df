//! Every view as JSON: one file per part of the page.

pub(crate) mod ask;
pub(crate) mod jobs;
pub(crate) mod price;
pub(crate) mod publish;
pub(crate) mod table;

use axum::body::Body;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::{Bytes, BytesMut};
use chrysalis::{Error, Remedy};
use http_body_util::BodyExt;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::task::spawn_blocking;

use crate::error::{Failure, Json, Reply};
use crate::jobs::caught;

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
