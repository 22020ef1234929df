//! From a table to a release.

use std::path::PathBuf;

use chrysalis::cells::{Place, publish_by_cells, unasked};
use chrysalis::report::PublishReport;
use chrysalis::store::{Format, check_place};
use chrysalis::{Draft, Error, Knob, Manifest, Memory, OpenLedger, Remedy, Seed, files};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{OrRaise, refused};
use crate::held::Held;
use crate::keywords::{Verb, draft, memory};
use crate::release::Release;
use crate::stream::Given;
use crate::work;

/// How messages call the table that was passed.
pub(crate) const TABLE: &str = "the table";
/// How messages call a table of the population that was passed.
pub(crate) const POPULATION: &str = "the table of the population";

/// Takes a table of the population out of the keywords, if it is a table and not the path of one.
pub(crate) fn population(keywords: &Bound<'_, PyDict>) -> PyResult<Option<Given>> {
    let Some(table) = keywords.get_item("population_table")? else { return Ok(None) };
    if !table.hasattr("__arrow_c_stream__")? {
        return Ok(None);
    }
    let given = Given::new(&table, "population_table")?;
    // The draft says that there is one, and messages may say which.
    keywords.set_item("population_table", POPULATION)?;
    Ok(Some(given))
}

/// What was published.
enum Made {
    InMemory(chrysalis::Release),
    /// By cells: it may be larger than memory, and nothing but its manifest was kept.
    OnDisk(Manifest),
}

/// Publishes a table, into a folder if one is named. Returns the release, the report as JSON, and notes.
#[pyfunction]
#[pyo3(signature = (table, keywords, seed=None, folder=None, force=false, progress=None))]
#[allow(clippy::too_many_arguments, reason = "keywords, each handed on as it is")]
pub(crate) fn publish(
    py: Python<'_>,
    table: &Bound<'_, PyAny>,
    keywords: &Bound<'_, PyDict>,
    seed: Option<u64>,
    folder: Option<PathBuf>,
    force: bool,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<(Release, String, Vec<String>)> {
    let population = population(keywords)?;
    let memory = memory(keywords)?;
    let said = draft(keywords, Verb::Publish)?;
    let given = Given::new(table, "table")?;
    if force && folder.is_none() {
        return Err(refused(py, "`force` has no effect: no folder is named", "name one with `folder`"));
    }
    let place = folder.clone();
    let (made, mut told) = work::run(py, progress, move |watch| {
        let draft: Draft = match &place {
            Some(_) => given.draft_in(said, memory)?,
            None => given.draft_within(said, memory)?,
        };
        let input = given.open(&draft, TABLE)?;
        let mut recipe = draft.check(input.header())?.without(&input.unreadable());
        if let Some(out) = &place {
            check_place(out, force)?;
        }
        if place.is_none() && recipe.memory().is_some() {
            let message = format!("`{}` has no effect on a release that stays in memory", Knob::Memory);
            let remedy = Remedy::from("name a folder to publish to with ").knob(Knob::Out, "release");
            return Err(Error::request(message, remedy.words(", or leave ").knob(Knob::Memory, "").words(" out")));
        }
        draft.provide_key(&mut recipe, place.as_deref(), watch)?;
        if let Some(out) = &place {
            // A fixed seed makes the same release on every machine, however much memory that has.
            let unasked = unasked(&input, &recipe).filter(|_| seed.is_none());
            if let Some(memory) = unasked {
                watch.note(&format!(
                    "the table may not fit into memory: it is published cell by cell, in about {memory}"
                ));
            }
            if let Some(memory) = recipe.memory().or(unasked) {
                let at = Place { out, force };
                let (manifest, report) = publish_by_cells(input, &recipe, memory, at, Seed::from(seed), watch)?;
                return Ok((Made::OnDisk(manifest), report, recipe.format()));
            }
        }
        let ledger = match &place {
            Some(out) => OpenLedger::open(&mut recipe, out, watch)?,
            None => None,
        };
        draft.provide_earlier(&mut recipe, Memory::default(), watch)?;
        let table = files::read(input, recipe.requests(), "read", watch)?;
        match population {
            Some(people) => {
                let source = Draft { input: None, ..draft.clone() };
                let people = people.open(&source, POPULATION)?;
                source.use_population(&mut recipe, people, &table, watch)?;
            }
            None => draft.provide_population(&mut recipe, &table, watch)?,
        }
        let mut made = chrysalis::publish(table, &recipe, Seed::from(seed), watch)?;
        if let Some(out) = &place {
            match ledger.zip(made.remembered.take()) {
                Some((ledger, remembered)) => {
                    ledger.write((&made.release, remembered), out, (recipe.format(), force), watch)?;
                }
                None => {
                    files::write(&made.release, out, recipe.format(), force, watch)?;
                }
            }
        }
        Ok::<(Made, PublishReport, Format), Error>((Made::InMemory(made.release), made.report, recipe.format()))
    })?;
    let (made, mut report, format) = made;
    told.notes.extend(report.notes.iter().cloned());
    (report.phases, report.seconds) = (told.phases, Some(told.seconds));
    let report = json(&report).or_raise(py)?;
    let release = match (made, folder) {
        (Made::InMemory(release), folder) => Held::made(release, folder, format),
        (Made::OnDisk(manifest), folder) => Held::on_disk(manifest, folder.unwrap_or_default(), format),
    };
    Ok((Release::new(release), report, told.notes))
}

fn json(report: &PublishReport) -> Result<String, Error> {
    serde_json::to_string(report).map_err(|error| Error::internal(error.to_string()))
}
