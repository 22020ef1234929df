use std::sync::Arc;

use axum::extract::{Path, State};
use serde_json::json;

use crate::error::{Json, Reply};
use crate::state::Studio;

/// How far a job is, or what came of it.
pub(crate) async fn look(State(studio): State<Arc<Studio>>, Path((_, id)): Path<(String, u64)>) -> Reply {
    Ok(Json(studio.jobs.ask(id).await?))
}

/// Asks a job to stop.
pub(crate) async fn stop(State(studio): State<Arc<Studio>>, Path((_, id)): Path<(String, u64)>) -> Reply {
    studio.jobs.stop(id);
    Ok(Json(json!({})))
}
