//! What a tab chose, kept for a reload of the page.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use serde::de::IgnoredAny;
use serde_json::json;

use super::parsed;
use crate::error::{Json, Reply};
use crate::state::Studio;

/// What a tab chose, as it said it; nothing if that is not known any more.
pub(crate) async fn get(State(studio): State<Arc<Studio>>, Path((_, name)): Path<(String, String)>) -> Response {
    let chosen = studio.tabs.get(&name).unwrap_or(Bytes::from_static(b"null"));
    let body = [b"{\"chosen\":", &chosen[..], b"}"].concat();
    ([("content-type", "application/json")], body).into_response()
}

/// Keeps what a tab chose. What it says is for the page alone.
pub(crate) async fn put(
    State(studio): State<Arc<Studio>>,
    Path((_, name)): Path<(String, String)>,
    body: Bytes,
) -> Reply {
    parsed::<IgnoredAny>(&body)?;
    studio.tabs.put(&name, body)?;
    Ok(Json(json!({})))
}
