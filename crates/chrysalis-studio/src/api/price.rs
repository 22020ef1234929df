//! Promises and what they cost.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use chrysalis::catalogue::METHODS;
use chrysalis::table::Role;
use chrysalis::{Draft, Error, Feasibility, Price, QuestionPlan, Seed, Unwatched, price};
use chrysalis_lab::compare as lab;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{computed, download, failed, parsed, started};
use crate::charts;
use crate::error::{Reply, shown};
use crate::state::Studio;
use crate::tables::Loaded;

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
}

/// Whether the choices can be carried out, and what the table could keep at most: from its counts alone.
pub(crate) async fn check(State(studio): State<Arc<Studio>>, Path((_, id)): Path<(String, u64)>, body: Bytes) -> Reply {
    let (loaded, choices) = (studio.tables.get(id)?, parsed::<Choices>(&body)?);
    computed(move || {
        let draft = loaded.accept(choices.draft)?;
        let recipe = loaded.recipe(&draft)?;
        let feasibility = Feasibility::of(loaded.columns(recipe.requests(), &Unwatched)?, &recipe)?;
        let sensitive: Vec<&str> = recipe.with_role(Role::Sensitive).collect();
        let is_numeric = |name: &str| loaded.table.column(name).is_some_and(|it| it.domain().kind().is_numeric());
        let limits = sensitive.iter().map(|name| {
            let about = |text: String| if sensitive.len() > 1 { format!("{name}:{text}") } else { text };
            let most_l = (2..=MOST_L).rev().find(|l| feasibility.allows(&about(format!("l={l}"))));
            json!({"column": name, "most_l": most_l, "preventing": feasibility.preventing(name)})
        });
        Ok(json!({
            "columns": limits.collect::<Vec<_>>(),
            "require": recipe.require().iter().map(ToString::to_string).collect::<Vec<_>>(),
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
    let (loaded, choices) = (studio.tables.get(id)?, parsed::<Choices>(&body)?);
    started(studio.jobs.start(move |job| {
        let draft = loaded.accept(choices.draft)?;
        let recipe = loaded.recipe(&draft)?;
        let asking = QuestionPlan { queries: Some(QUESTIONS), ..QuestionPlan::default() };
        let rows = loaded.table.rows();
        // A sample of rows takes people with several rows apart.
        let is_whole = choices.all_rows || draft.person.is_some();
        let try_on = |is_whole: bool| {
            let table = match is_whole {
                true => loaded.columns(recipe.requests(), job)?,
                false => loaded.sampled(recipe.requests(), job)?,
            };
            let n = table.rows();
            Ok::<_, Error>((price(table, &recipe, &asking, Seed::Fixed(1), job)?, n))
        };
        let (found, tried) = try_on(is_whole)?;
        Ok(priced(&found, tried, rows))
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
    let (loaded, choices) = (studio.tables.get(id)?, parsed::<Choices>(&body)?);
    let own = Arc::clone(&studio);
    started(studio.jobs.start(move |job| {
        let draft = loaded.accept(choices.draft)?;
        let found = compared(&loaded, draft, choices.all_rows, job)?;
        let mut told = found.json();
        told["page"] = json!(own.pages.put(found.page()));
        told["tried_rows"] =
            json!(if choices.all_rows { loaded.table.rows() } else { loaded.table.rows().min(crate::tables::SAMPLE) });
        Ok(told)
    }))
}

fn compared(loaded: &Loaded, mut draft: Draft, all_rows: bool, job: &crate::jobs::Job) -> Result<lab::Report, Error> {
    // The choice among methods is what is asked for.
    (draft.release.method, draft.release.partitioner) = (None, None);
    let runs = lab::runs(&draft, &loaded.header, &|_| String::new())?;
    let wanted = lab::requests(&runs);
    let table = match all_rows || draft.person.is_some() {
        true => loaded.columns(&wanted, job)?,
        false => loaded.sampled(&wanted, job)?,
    };
    lab::run(runs, &table, &draft, Seed::Fixed(1), job)
}

/// The page about a comparison, to keep.
pub(crate) async fn page(State(studio): State<Arc<Studio>>, Path((_, id)): Path<(String, u64)>) -> Response {
    match studio.pages.get(id) {
        Ok(page) => download("comparison.html", "text/html; charset=utf-8", page.as_bytes().to_vec()),
        Err(error) => failed(error).into_response(),
    }
}
