//! Promises and what they cost.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use chrysalis::catalogue::METHODS;
use chrysalis::table::Role;
use chrysalis::{Draft, Error, Fault, Feasibility, Price, QuestionPlan, Seed, Unwatched, Watch, price};
use chrysalis_lab::compare as lab;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Accepted, accepted, computed, download, failed, parsed, started};
use crate::charts;
use crate::error::{Reply, shown};
use crate::jobs::Job;
use crate::state::Studio;
use crate::tables::SAMPLE;

/// Questions of a trial.
const QUESTIONS: usize = 200;
/// The largest l that is offered.
const MOST_L: u64 = 20;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Choices {
    draft: Draft,
    /// Whether all rows are to be used, and not only a sample.
    #[serde(default)]
    all_rows: bool,
    /// The number of the uploaded table of a population.
    #[serde(default)]
    population: Option<u64>,
}

/// Whether the choices can be carried out, and what the table could keep at most: from its counts alone.
pub(crate) async fn check(State(studio): State<Arc<Studio>>, Path((_, id)): Path<(String, u64)>, body: Bytes) -> Reply {
    let choices = parsed::<Choices>(&body)?;
    let chosen = accepted(&studio, id, choices.draft, choices.population)?;
    computed(move || {
        let recipe = chosen.trial_recipe(&Unwatched)?;
        let loaded = &chosen.loaded;
        let feasibility = Feasibility::of(loaded.columns(recipe.requests(), &Unwatched)?, &recipe)?;
        let sensitive: Vec<&str> = recipe.with_role(Role::Sensitive).collect();
        let is_numeric = |name: &str| loaded.table.column(name).is_some_and(|it| it.domain().kind().is_numeric());
        let limits = sensitive.iter().map(|name| {
            let about = |text: String| if sensitive.len() > 1 { format!("{name}:{text}") } else { text };
            let most_l = (2..=MOST_L).rev().find(|l| feasibility.allows(&about(format!("l={l}"))));
            json!({"column": name, "most_l": most_l, "preventing": feasibility.preventing(name)})
        });
        let refused = recipe.require().iter().map(ToString::to_string).filter(|text| !feasibility.allows(text));
        Ok(json!({
            "columns": limits.collect::<Vec<_>>(),
            "require": recipe.require().iter().map(ToString::to_string).collect::<Vec<_>>(),
            "refused": refused.collect::<Vec<_>>(),
            "method": recipe.form().name(),
            "partitioner": recipe.partitioner(),
            "methods": methods(!sensitive.is_empty(), sensitive.iter().all(|name| is_numeric(name))),
            "refusal": feasibility.check().err().as_ref().map(shown),
        }))
    })
    .await
}

/// The ways of publishing that one user's table can have.
fn methods(is_sensitive: bool, is_numeric: bool) -> Value {
    let fits = METHODS.iter().filter(|entry| {
        let shape = entry.form.shape();
        let has_values = is_sensitive || entry.form == chrysalis::catalogue::DEFAULT_METHOD;
        shape.may_promise && !shape.has_users && has_values && (is_numeric || !entry.needs_numbers())
    });
    fits.map(|entry| json!({"name": entry.form.name(), "about": entry.about.replace('\n', " ")})).collect()
}

/// A trial: the release that these choices would give, made in memory of some rows or of all, attacked and asked.
pub(crate) async fn trial(State(studio): State<Arc<Studio>>, Path((_, id)): Path<(String, u64)>, body: Bytes) -> Reply {
    let choices = parsed::<Choices>(&body)?;
    let chosen = accepted(&studio, id, choices.draft, choices.population)?;
    started(studio.jobs.start(move |job| {
        let recipe = chosen.trial_recipe(job)?;
        let Accepted { loaded, draft, .. } = &chosen;
        let asking = QuestionPlan { queries: Some(QUESTIONS), ..QuestionPlan::default() };
        let rows = loaded.table.rows();
        // A sample of rows takes people with several rows apart, and is a smaller part of a population.
        let is_whole = choices.all_rows || draft.person.is_some() || draft.release.population_table.is_some();
        let try_on = |is_whole: bool| {
            let table = match is_whole {
                true => loaded.columns(recipe.requests(), job)?,
                false => loaded.sampled(recipe.requests(), job)?,
            };
            let n = table.rows();
            Ok::<_, Error>((price(table, &recipe, &asking, Seed::Fixed(1), job)?, n))
        };
        let is_sample = !is_whole && rows > SAMPLE;
        match try_on(is_whole) {
            Ok((found, tried)) => Ok(priced(&found, tried, rows)),
            // A sample has fewer people for every group, and other shares: all rows may keep what it cannot.
            Err(error) if is_sample && error.fault == Fault::Infeasible => {
                job.announce("some rows alone cannot keep the promise, so all are taken");
                let (found, tried) = try_on(true)?;
                let mut told = priced(&found, tried, rows);
                told["fell_back"] = json!(true);
                Ok(told)
            }
            Err(error) => Err(error),
        }
    }))
}

fn priced(found: &Price, tried: usize, rows: usize) -> Value {
    let (report, told) = (&found.report, &found.told);
    let error = found.questions.first().and_then(|asked| asked.error.as_ref()).map(|error| error.quantiles[2]);
    let by_column = &report.ncp_by_attribute;
    json!({
        "rows": rows,
        "tried_rows": tried,
        "groups": report.groups,
        "smallest_group": report.smallest_group,
        "largest_group": report.largest_group,
        "loss": report.ncp,
        "loss_by_column": by_column.iter().map(|(name, loss)| json!([name, loss])).collect::<Vec<_>>(),
        "error": error.and_then(chrysalis::finite),
        "certain_rows": report.certain_rows,
        "disclosed_rows": report.disclosed_rows,
        "attacks": told.attacks,
        "promises": told.promises,
        "not_protected": told.not_protected,
        "assumptions": told.assumptions,
        "tables": found.tables.iter()
            .map(|it| json!({"table": it.table, "rows": it.rows, "columns": it.columns})).collect::<Vec<_>>(),
        "chart": charts::loss(by_column),
    })
}

/// All methods that fit, side by side.
pub(crate) async fn compare(
    State(studio): State<Arc<Studio>>,
    Path((_, id)): Path<(String, u64)>,
    body: Bytes,
) -> Reply {
    let choices = parsed::<Choices>(&body)?;
    let chosen = accepted(&studio, id, choices.draft, choices.population)?;
    let own = Arc::clone(&studio);
    started(studio.jobs.start(move |job| {
        let rows = chosen.loaded.table.rows();
        let needs_all = chosen.draft.person.is_some() || chosen.draft.release.population_table.is_some();
        let mut is_whole = choices.all_rows || rows <= SAMPLE || needs_all;
        let mut found = compared(&chosen, is_whole, job);
        if !is_whole && is_infeasible(&found) {
            job.announce("all rows, because some alone cannot keep the promise");
            is_whole = true;
            found = compared(&chosen, is_whole, job);
        }
        let found = found?;
        let mut told = found.json();
        told["page"] = json!(own.pages.put(found.page()));
        told["rows"] = json!(rows);
        told["tried_rows"] = json!(if is_whole { rows } else { SAMPLE });
        Ok(told)
    }))
}

/// Whether no way could be carried out.
fn is_infeasible(found: &Result<lab::Report, Error>) -> bool {
    match found {
        Ok(report) => report.trials.iter().all(|trial| trial.found.is_err()),
        Err(error) => error.fault == Fault::Infeasible,
    }
}

fn compared(chosen: &Accepted, is_whole: bool, job: &Job) -> Result<lab::Report, Error> {
    let Accepted { loaded, draft, people } = chosen;
    // The choice among methods is what is asked for.
    let mut draft = draft.clone();
    (draft.release.method, draft.release.partitioner) = (None, None);
    let mut runs = lab::runs(&draft, &loaded.header, &|_| String::new())?;
    for at in 0..runs.len() {
        let (known, rest) = runs.split_at_mut(at);
        let Some(lab::Run { draft, recipe, .. }) = rest.first_mut() else { break };
        draft.provide_trial_key(recipe)?;
        if !known.iter().any(|other| recipe.share_population(&other.recipe)) {
            loaded.provide_people(recipe, draft, people.as_deref(), job)?;
        }
    }
    let wanted = lab::requests(&runs);
    let table = if is_whole { loaded.columns(&wanted, job)? } else { loaded.sampled(&wanted, job)? };
    lab::run(runs, &table, &draft, Seed::Fixed(1), job)
}

/// The page about a comparison, to keep.
pub(crate) async fn page(State(studio): State<Arc<Studio>>, Path((_, id)): Path<(String, u64)>) -> Response {
    match studio.pages.get(id) {
        Ok(page) => download("comparison.html", "text/html; charset=utf-8", page.as_bytes().to_vec()),
        Err(error) => failed(error).into_response(),
    }
}
