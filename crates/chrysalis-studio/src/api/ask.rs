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
use crate::releases::{Made, Received};
use crate::state::Studio;

/// What a page needs to show a release and to ask it.
pub(crate) async fn about(State(studio): State<Arc<Studio>>, Path((_, id)): Path<(String, u64)>) -> Reply {
    let made = studio.releases.get(id)?;
    let mut told = made.told.clone();
    told["name"] = json!(made.name);
    told["release"] = json!(id);
    Ok(Json(told))
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
    let met = &outcome.attacks.intersection;
    let surer = met.iter().filter_map(|found| found.shares.as_ref().ok()).any(|shares| shares.above > 0);
    Ok(json!({
        "name": name,
        "findings": findings,
        "failed": checks,
        // People who keep less than promised, and whether anybody's value is surer than promised.
        "narrowed": met.iter().map(|found| found.narrowed).max().unwrap_or(0),
        "surer": surer,
        // People to whom the two leave nothing: the rows are not the same.
        "contradicted": met.iter().map(|found| found.contradicted).max().unwrap_or(0),
        "in_common": met.iter().any(|found| found.fewest.is_some()),
    }))
}

/// Makes room for a release from elsewhere.
pub(crate) async fn receive(State(studio): State<Arc<Studio>>) -> Reply {
    let folder = studio.scratch.folder().map_err(|error| no_room(&error))?;
    Ok(Json(json!({"received": studio.received.put(Received::new(folder))})))
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
    let _turn = folder.turn().await;
    let room = studio.limits.upload.saturating_sub(folder.held(&name).unwrap_or(u64::MAX));
    let bytes = match receive_body(body, announced(&headers), room).await {
        Ok(bytes) => bytes,
        Err((status, sentence)) => return refused(status, sentence),
    };
    match std::fs::write(folder.path().join(&name), &bytes) {
        Ok(()) => Json(json!({})).into_response(),
        Err(error) => failed(no_room(&error)),
    }
}

fn no_room(error: &std::io::Error) -> Error {
    let remedy = Remedy::from("make room on the disk, or type the name of its folder, which is then read where it is");
    Error::request(format!("there is no room to receive the second release: {error}"), remedy)
}
