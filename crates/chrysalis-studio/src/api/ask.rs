//! Questions to a release, and attacks with a second one.

use std::path::Path as FilePath;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use chrysalis::store::read_release_within;
use chrysalis::{Dialect, Error, Evidence, Memory, Remedy, audit};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{announced, computed, failed, parsed, received as receive_body, started};
use crate::charts;
use crate::error::{Json, Reply, refused};
use crate::releases::Made;
use crate::state::Studio;

/// What a page needs to ask a release.
pub(crate) async fn about(State(studio): State<Arc<Studio>>, Path((_, id)): Path<(String, u64)>) -> Reply {
    let made = studio.releases.get(id)?;
    Ok(Json(json!({"name": made.name, "about": made.about})))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    sql: String,
}

/// An answer, with its bounds, a picture, and the same question for databases.
pub(crate) async fn ask(State(studio): State<Arc<Studio>>, Path((_, id)): Path<(String, u64)>, body: Bytes) -> Reply {
    let (made, question) = (studio.releases.get(id)?, parsed::<Question>(&body)?);
    computed(move || {
        let answer = made.analyst.ask(&question.sql)?;
        // Not every question can be written for every database.
        let rewritten = Dialect::ALL.iter().filter_map(|dialect| {
            let sql = made.analyst.rewrite(&question.sql, *dialect).ok()?;
            Some((dialect.name().to_owned(), json!(sql)))
        });
        let mut told = answer.json(true);
        told["keys"] = json!(answer.answer.keys);
        told["explanation"] = json!(answer.explanation);
        told["chart"] = json!(charts::answer(&answer));
        told["rewritten"] = Value::Object(rewritten.collect());
        Ok(told)
    })
    .await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
enum Other {
    /// A release that was received.
    Received(u64),
    /// Another release that was made here.
    Release(u64),
    /// A folder that the owner typed.
    Folder(String),
}

/// What somebody who gets two releases of the same people can do with them.
pub(crate) async fn intersect(
    State(studio): State<Arc<Studio>>,
    Path((_, id)): Path<(String, u64)>,
    body: Bytes,
) -> Reply {
    let (made, other) = (studio.releases.get(id)?, parsed::<Other>(&body)?);
    let own = Arc::clone(&studio);
    started(studio.jobs.start(move |job| intersected(&own, &made, &other, job)))
}

fn intersected(studio: &Studio, made: &Made, other: &Other, job: &crate::jobs::Job) -> Result<Value, Error> {
    let (name, second) = match other {
        Other::Received(id) => {
            let folder = studio.received.get(*id)?;
            ("the second release".to_owned(), read_release_within(folder.path(), Memory::default())?)
        }
        Other::Release(id) => {
            let other = studio.releases.get(*id)?;
            (other.name.clone(), other.read()?)
        }
        Other::Folder(typed) => {
            if FilePath::new(typed).components().any(|part| part == std::path::Component::ParentDir) {
                return Err(Error::request("a folder must be named without `..`", "name it in full"));
            }
            (typed.clone(), read_release_within(&studio.home.join(typed), Memory::default())?)
        }
    };
    let release = made.read()?;
    let microdata = made.loaded.microdata(&release.manifest, &made.draft, job)?;
    let others = [(name.as_str(), &second)];
    let person = made.draft.clone().suited_to(&[&release.manifest]).person;
    let with = Evidence {
        microdata: Some(&microdata),
        person: person.as_deref(),
        others: &others,
        replay: Some(0),
        ..Evidence::default()
    };
    let outcome = audit(&release, with, job)?;
    let findings = outcome.attacks.findings.iter().filter(|finding| finding.attack == "intersection");
    let findings: Vec<_> = findings.map(|it| json!({"sentence": it.sentence, "prevention": it.prevention})).collect();
    let checks = outcome.checks.iter().filter(|check| !check.ok);
    let checks: Vec<_> = checks.map(|it| json!({"name": it.name, "detail": it.detail})).collect();
    let narrowed: u64 = outcome.attacks.intersection.iter().map(|found| found.narrowed).max().unwrap_or(0);
    Ok(json!({"name": name, "findings": findings, "failed": checks, "narrowed": narrowed}))
}

/// Makes room for a release from elsewhere.
pub(crate) async fn receive(State(studio): State<Arc<Studio>>) -> Reply {
    let folder = tempfile::tempdir();
    let folder = folder.map_err(|error| Error::request(format!("there is no room for a release: {error}"), ""))?;
    Ok(Json(json!({"received": studio.received.put(folder)})))
}

/// Receives one of its files.
pub(crate) async fn received(
    State(studio): State<Arc<Studio>>,
    Path((_, id, name)): Path<(String, u64, String)>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let folder = match studio.received.get(id) {
        Ok(folder) => folder,
        Err(error) => return failed(error),
    };
    // LEAK: a name with a path in it would be written elsewhere.
    let is_plain = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.');
    if name.starts_with('.') || name.is_empty() || !name.chars().all(is_plain) {
        return failed(Error::request(
            "a release has no file of that name",
            Remedy::from("choose the folder of a release"),
        ));
    }
    let held = std::fs::read_dir(folder.path())
        .map(|files| files.flatten().filter_map(|it| it.metadata().ok()).map(|it| it.len()).sum::<u64>());
    let room = studio.limits.upload.saturating_sub(held.unwrap_or(u64::MAX));
    let bytes = match receive_body(body, announced(&headers), room).await {
        Ok(bytes) => bytes,
        Err((status, sentence)) => return refused(status, sentence),
    };
    match std::fs::write(folder.path().join(&name), &bytes) {
        Ok(()) => Json(json!({})).into_response(),
        Err(error) => failed(Error::request(format!("there is no room for a release: {error}"), "")),
    }
}
