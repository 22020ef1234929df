//! Several releases of one table, side by side.

use std::path::{Path, PathBuf};

use chrysalis::store::write_files;
use chrysalis::{Draft, Error, Seed, files};
use chrysalis_lab::compare::{self as lab, Run};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{OrRaise, refused};
use crate::keywords::{Verb, draft, memory};
use crate::publish::{POPULATION, TABLE, population};
use crate::stream::Given;
use crate::work;

/// What a comparison found.
#[pyclass(frozen, module = "chrysalis._native")]
pub(crate) struct Comparison {
    page: String,
    json: String,
    #[pyo3(get)]
    is_sound: bool,
    #[pyo3(get)]
    notes: Vec<String>,
}

/// Makes, judges and measures several releases of a table.
#[pyfunction]
#[pyo3(signature = (table, keywords, seed=None, progress=None))]
pub(crate) fn compare(
    py: Python<'_>,
    table: &Bound<'_, PyAny>,
    keywords: &Bound<'_, PyDict>,
    seed: Option<u64>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Comparison> {
    let people = population(keywords)?;
    let memory = memory(keywords)?;
    let said = draft(keywords, Verb::Compare)?;
    let given = Given::new(table, "table")?;
    let ((page, json, is_sound), told) = work::run(py, progress, move |watch| {
        let own = said.release.clone();
        let mut draft: Draft = given.draft_within(said, memory)?;
        lab::asking(&draft)?;
        let input = given.open(&draft, TABLE)?;
        let mut runs = lab::runs(&draft, input.header(), &|run| call(run, seed))?;
        lab::check_effect(&own, &runs)?;
        runs.iter_mut().try_for_each(|run| draft.provide_key(&mut run.recipe, None, watch))?;
        let table = files::read(input, &lab::requests(&runs), "read", watch)?;
        let people = people.map(Given::gathered).transpose()?;
        let given = |draft: &Draft| {
            // Runs may name files of their own.
            let is_it = draft.release.population_table.as_deref() == Some(Path::new(POPULATION));
            let people = people.as_ref().filter(|_| is_it)?;
            let source = Draft { input: None, ..draft.clone() };
            Some(people.given().open(&source, POPULATION))
        };
        lab::provide_population_of(&mut runs, &table, &given, watch)?;
        // The page names the table.
        draft.input.get_or_insert_with(|| PathBuf::from(TABLE));
        let found = lab::run(runs, &table, &draft, Seed::from(seed), watch)?;
        Ok::<_, Error>((found.page(), found.json().to_string(), found.is_sound()))
    })?;
    Ok(Comparison { page, json, is_sound, notes: told.notes })
}

#[pymethods]
impl Comparison {
    /// All numbers, as JSON.
    fn json(&self) -> &str {
        &self.json
    }

    /// The page, as HTML.
    fn html(&self) -> &str {
        &self.page
    }

    /// Writes the page, and its numbers beside it.
    #[pyo3(signature = (path, force=false))]
    fn page(&self, py: Python<'_>, path: PathBuf, force: bool) -> PyResult<()> {
        if path.extension().is_none_or(|extension| extension != "html") {
            let message = format!("{} does not end in .html", path.display());
            return Err(refused(
                py,
                message,
                "for example `page(\"comparison.html\")`; its numbers go to comparison.json",
            ));
        }
        let numbers = path.with_extension("json");
        write_files(&[(&numbers, self.json.as_bytes()), (&path, self.page.as_bytes())], force).or_raise(py)
    }
}

/// The call that publishes one of the runs.
fn call(run: &Run, seed: Option<u64>) -> String {
    let Ok(serde_json::Value::Object(release)) = serde_json::to_value(&run.draft.release) else { return String::new() };
    let said = release.iter().map(|(name, value)| {
        let value = match value {
            serde_json::Value::Bool(true) => "True".to_owned(),
            serde_json::Value::Bool(false) => "False".to_owned(),
            serde_json::Value::String(text) if text == POPULATION => "…".to_owned(),
            value => value.to_string(),
        };
        format!("{name}={value}")
    });
    let seed = seed.map(|seed| format!("seed={seed}"));
    let arguments: Vec<String> = std::iter::once("table, …".to_owned()).chain(said).chain(seed).collect();
    format!("chrysalis.publish({})", arguments.join(", "))
}
