//! A release: saving it, judging it, and asking it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use chrysalis::certificate::Certificate;
use chrysalis::report::AuditOutcome;
use chrysalis::store::{check_place, write_file};
use chrysalis::table::{CsvOptions, CsvReader};
use chrysalis::{
    Counted, Dialect, Draft, Error, EstimateMode, Evidence, Knob, KnownLedger, Manifest, Measures, Memory, Questions,
    Remedy, Sampling, Seed, Subspace, Tables, Watch, evaluate, files, sample, values,
};
use chrysalis_lab::certificate;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::answer::Answer;
use crate::errors::{OrRaise, refused};
use crate::held::Held;
use crate::keywords::{Verb, draft, memory_of};
use crate::publish::{POPULATION, TABLE};
use crate::stream::Given;
use crate::table::Table;
use crate::work;

/// A release.
#[pyclass(frozen, module = "chrysalis._native")]
pub(crate) struct Release {
    held: Arc<Held>,
}

/// Opens a release in its folder.
#[pyfunction]
#[pyo3(signature = (folder, memory=None, progress=None))]
pub(crate) fn open(
    py: Python<'_>,
    folder: PathBuf,
    memory: Option<&Bound<'_, PyAny>>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Release> {
    let memory = memory.map(memory_of).transpose()?.unwrap_or_default();
    let (held, _) = work::run(py, progress, move |watch| Held::open(folder, memory, watch))?;
    Ok(Release::new(held))
}

impl Release {
    pub(crate) fn new(held: Held) -> Release {
        Release { held: Arc::new(held) }
    }
}

#[pymethods]
impl Release {
    /// The manifest as JSON.
    fn manifest(&self, py: Python<'_>) -> PyResult<String> {
        self.held.manifest.to_json().or_raise(py)
    }

    /// The folder that it was read from, or saved to.
    #[getter]
    fn path(&self) -> Option<PathBuf> {
        self.held.folder()
    }

    /// The names of its tables.
    fn table_names(&self) -> Vec<String> {
        self.held.manifest.tables.iter().map(|table| table.name.clone()).collect()
    }

    /// One of its tables.
    #[pyo3(signature = (name, progress=None))]
    fn table(&self, py: Python<'_>, name: &str, progress: Option<&Bound<'_, PyAny>>) -> PyResult<Table> {
        let held = Arc::clone(&self.held);
        let (release, _) = work::run(py, progress, move |watch| held.whole(watch))?;
        Ok(Table::of(Arc::new(release.table(name).or_raise(py)?.clone())))
    }

    /// Writes it to a folder, completely or not at all. Returns the manifest as JSON, and other releases beside it that
    /// look like releases of the same table.
    #[pyo3(signature = (folder, format=None, force=false, progress=None))]
    fn save(
        &self,
        py: Python<'_>,
        folder: PathBuf,
        format: Option<&str>,
        force: bool,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(String, Vec<PathBuf>)> {
        let wrong = |problem| refused(py, format!("`format`: {problem}"), "name one of the two");
        let format = format.map(values::format).transpose().map_err(wrong)?.unwrap_or(self.held.format);
        let (held, out) = (Arc::clone(&self.held), folder.clone());
        let (manifest, _) = work::run(py, progress, move |watch| {
            check_place(&out, force)?;
            files::write(&*held.whole(watch)?, &out, format, force, watch)
        })?;
        let beside = files::releases_beside(&folder, &manifest);
        self.held.saved_to(&folder);
        Ok((manifest.to_json().or_raise(py)?, beside))
    }

    /// Judges it. Returns the report as JSON, the headline, and notes.
    #[pyo3(signature = (keywords, microdata=None, population=None, others=vec![], with_microdata=vec![], series=None,
                        sensitive=vec![], replay=None, certificate=None, force=false, memory=None, progress=None))]
    #[allow(clippy::too_many_arguments, reason = "keywords, each handed on as it is")]
    fn audit(
        &self,
        py: Python<'_>,
        keywords: &Bound<'_, PyDict>,
        microdata: Option<&Bound<'_, PyAny>>,
        population: Option<&Bound<'_, PyAny>>,
        others: Vec<(String, Bound<'_, Release>)>,
        with_microdata: Vec<Bound<'_, PyAny>>,
        series: Option<PathBuf>,
        sensitive: Vec<String>,
        replay: Option<usize>,
        certificate: Option<PathBuf>,
        force: bool,
        memory: Option<&Bound<'_, PyAny>>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(String, bool, Vec<String>, Vec<String>)> {
        let memory = memory.map(memory_of).transpose()?.unwrap_or(self.held.memory);
        let said = draft(keywords, Verb::Read)?;
        let microdata = microdata.map(|table| Given::new(table, "microdata")).transpose()?;
        let population = population.map(|table| Given::new(table, "population_table")).transpose()?;
        let with_microdata: Vec<Given> =
            with_microdata.iter().map(|table| Given::new(table, "with_microdata")).collect::<PyResult<_>>()?;
        let others: Vec<(String, Arc<Held>)> =
            others.into_iter().map(|(name, other)| (name, Arc::clone(&other.get().held))).collect();
        let held = Arc::clone(&self.held);
        let (outcome, mut told) = work::run(py, progress, move |watch| {
            let release = held.to_audit(certificate.is_some(), memory, watch)?;
            release.check_evidence(&[
                (Knob::Microdata, microdata.is_some()),
                (Knob::With, !others.is_empty()),
                (Knob::PopulationTable, population.is_some()),
                (Knob::WithMicrodata, !with_microdata.is_empty()),
                (Knob::Series, series.is_some()),
            ])?;
            let folder = held.folder();
            let folders: Vec<Option<PathBuf>> = others.iter().map(|(_, other)| other.folder()).collect();
            let whole = |(name, other): &(String, Arc<Held>)| Ok((name.clone(), other.whole(watch)?));
            let others: Vec<(String, Arc<chrysalis::Release>)> =
                others.iter().map(whole).collect::<Result<_, Error>>()?;
            // Releases of a series have a table each.
            let manifest = release.manifest();
            let is_of_series = manifest.series.is_some();
            let same = others.iter().filter(|_| !is_of_series).map(|(_, other)| &other.manifest);
            let manifests: Vec<&Manifest> = std::iter::once(manifest).chain(same).collect();
            if with_microdata.len() > others.len() {
                return Err(files::too_many_tables(with_microdata.len(), others.len()));
            }
            let mut other_microdata = Vec::with_capacity(with_microdata.len());
            for (given, (_, other)) in with_microdata.into_iter().zip(&others) {
                let draft = given.draft(said.clone())?;
                let input = given.open(&draft, TABLE)?;
                other_microdata.push(files::read_microdata(input, &[&other.manifest], &draft, watch)?);
            }
            let ledger = series.as_deref().map(KnownLedger::read).transpose()?;
            let hash = |folder: &Option<PathBuf>| folder.as_deref().and_then(files::manifest_sha256);
            let hashes: Vec<Option<String>> = std::iter::once(hash(&folder)).chain(folders.iter().map(hash)).collect();
            let (microdata, person) = match microdata {
                Some(given) => {
                    let draft = given.draft(said.clone())?;
                    let input = given.open(&draft, TABLE)?;
                    draft.check_names(input.header(), sensitive.iter())?;
                    (Some(files::read_microdata(input, &manifests, &draft, watch)?), draft.person)
                }
                None => (None, None),
            };
            let population = match population {
                Some(given) => {
                    let draft = given.draft(Draft { person: None, ..said })?;
                    let input = given.open(&draft, POPULATION)?;
                    Some(files::read_population_from(input, &draft, manifest, watch)?)
                }
                None => None,
            };
            let others: Vec<(&str, &chrysalis::Release)> =
                others.iter().map(|(name, other)| (name.as_str(), &**other)).collect();
            let with = Evidence {
                microdata: microdata.as_ref(),
                person: person.as_deref(),
                population: population.as_ref(),
                others: &others,
                other_microdata: &other_microdata,
                hashes: &hashes,
                ledger: ledger.as_ref(),
                folder: folder.as_deref(),
                sensitive: &sensitive,
                asked: None,
                replay,
            };
            let outcome = release.audit(with, watch)?;
            if let Some(place) = certificate {
                write_certificate(&place, manifest, &outcome, &with, force)?;
            }
            Ok(outcome)
        })?;
        if outcome.reproducible {
            let seeded = "this release was made with a fixed seed: anybody who knows it can undo the randomness";
            told.notes.push(seeded.to_owned());
        }
        let headline: Vec<String> = std::iter::once(outcome.verdict().to_owned())
            .chain(outcome.told_untold())
            .chain(outcome.not_promised())
            .chain(outcome.told_prepared())
            .collect();
        let report = serde_json::to_string(&outcome).map_err(|error| Error::internal(error.to_string()));
        Ok((report.or_raise(py)?, outcome.ok(), headline, told.notes))
    }

    /// Answers a question, about the latest of several releases of a series if others are given: their folders, and the
    /// releases themselves if somebody holds them.
    #[pyo3(signature = (question, tables=vec![], estimate="learned", progress=None, others=vec![]))]
    fn query(
        &self,
        py: Python<'_>,
        question: String,
        tables: Vec<(String, Bound<'_, PyAny>)>,
        estimate: &str,
        progress: Option<&Bound<'_, PyAny>>,
        others: Vec<(PathBuf, Option<Bound<'_, Release>>)>,
    ) -> PyResult<Answer> {
        let estimate = estimate_of(py, estimate)?;
        let public = public_tables(py, tables)?;
        let own = Arc::clone(&self.held);
        if others.is_empty() {
            let ask = move |watch: &dyn Watch| {
                let analyst = own.analyst(watch)?;
                watch.phase("answer", None, Counted::Rows);
                analyst.ask_watched(&question, &public, estimate, watch)
            };
            return Ok(Answer::new(work::run(py, progress, ask)?.0));
        }
        let Some(place) = own.place() else {
            return Err(refused(py, "this release is in no folder, so no series can be checked", "save it first"));
        };
        let known =
            others.into_iter().map(|(folder, other)| (folder, other.map(|other| Arc::clone(&other.get().held))));
        let known: Vec<(PathBuf, Option<Arc<Held>>)> =
            std::iter::once((place.folder, Some(own))).chain(known).collect();
        let ask = move |watch: &dyn Watch| {
            let questions = Questions::one(&question)?.estimates(estimate).joining(public);
            let folders: Vec<PathBuf> = known.iter().map(|(folder, _)| folder.clone()).collect();
            let held = |folder: &Path| {
                let (_, held) = known.iter().find(|(known, _)| known == folder)?;
                Some(held.as_ref()?.analyst(watch))
            };
            let memory = known.first().and_then(|(_, own)| own.as_ref()).map_or_else(Memory::default, |own| own.memory);
            let answers = questions.ask_held(&folders, memory, &held, watch)?;
            answers.into_iter().next().ok_or_else(|| Error::internal("one question has one answer"))
        };
        Ok(Answer::new(work::run(py, progress, ask)?.0))
    }

    /// The same question as a statement for a database that holds the release's tables.
    #[pyo3(signature = (question, dialect, tables=vec![], progress=None))]
    fn rewrite(
        &self,
        py: Python<'_>,
        question: String,
        dialect: &str,
        tables: Vec<(String, Bound<'_, PyAny>)>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<String> {
        let wrong = |problem: String| refused(py, format!("`dialect`: {problem}"), "name one of the databases");
        let dialect: Dialect =
            dialect.parse().map_err(|error: <Dialect as std::str::FromStr>::Err| wrong(error.to_string()))?;
        let public = public_tables(py, tables)?;
        let held = Arc::clone(&self.held);
        let write = move |watch: &dyn Watch| held.analyst(watch)?.rewrite_with(&question, &public, dialect);
        Ok(work::run(py, progress, write)?.0)
    }

    /// Compares it with its microdata. Returns the report as JSON, and notes.
    #[pyo3(signature = (keywords, microdata, options, holdout=None, progress=None))]
    fn evaluate(
        &self,
        py: Python<'_>,
        keywords: &Bound<'_, PyDict>,
        microdata: &Bound<'_, PyAny>,
        options: &Bound<'_, PyDict>,
        holdout: Option<&Bound<'_, PyAny>>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(String, Vec<String>)> {
        let said = draft(keywords, Verb::Read)?;
        let given = Given::new(microdata, "microdata")?;
        let holdout = holdout.map(|table| Given::new(table, "holdout")).transpose()?;
        let mut measures = measures(py, options)?;
        let held = Arc::clone(&self.held);
        let (report, told) = work::run(py, progress, move |watch| {
            let release = held.whole(watch)?;
            let read = |given: Given, name: &str| {
                let draft = given.draft(said.clone())?;
                files::read_microdata(given.open(&draft, name)?, &[&release.manifest], &draft, watch)
            };
            let microdata = read(given, TABLE)?;
            measures.holdout = holdout.map(|given| read(given, "the holdout")).transpose()?;
            let report = evaluate(&release, &microdata, &measures, watch)?;
            serde_json::to_string(&report).map_err(|error| Error::internal(error.to_string()))
        })?;
        Ok((report, told.notes))
    }

    /// Draws tables in the original columns from the worlds that it allows.
    #[pyo3(signature = (worlds=1, seed=None, estimate="learned", progress=None))]
    fn sample(
        &self,
        py: Python<'_>,
        worlds: usize,
        seed: Option<u64>,
        estimate: &str,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(Vec<Table>, String)> {
        let sampling = Sampling { worlds, estimate: estimate_of(py, estimate)? };
        let held = Arc::clone(&self.held);
        let draw = move |watch: &dyn Watch| sample(&*held.whole(watch)?, &sampling, Seed::from(seed), watch);
        let (made, _) = work::run(py, progress, draw)?;
        let report = serde_json::to_string(&made.report).map_err(|error| Error::internal(error.to_string()));
        let tables = made.worlds.into_iter().map(|table| Table::of(Arc::new(table))).collect();
        Ok((tables, report.or_raise(py)?))
    }
}

fn estimate_of(py: Python<'_>, text: &str) -> PyResult<EstimateMode> {
    text.parse().map_err(|problem: String| refused(py, problem, "name one of the two"))
}

/// What to measure, from the options of a call.
fn measures(py: Python<'_>, options: &Bound<'_, PyDict>) -> PyResult<Measures> {
    let mut measures = Measures::default();
    let mut from_table = None;
    for (name, value) in options {
        let name: String = name.extract()?;
        match name.as_str() {
            "attributes" => {
                let sets: Vec<Vec<String>> = value.extract()?;
                measures.subspaces = sets.into_iter().map(|attributes| Subspace { attributes, table: None }).collect();
            }
            "from_table" => from_table = Some(value.extract()?),
            "workload" => {
                let wrong =
                    |problem: String| refused(py, format!("`workload`: {problem}"), "name one of the workloads");
                measures.family = Some(values::workload(value.extract()?).map_err(wrong)?);
            }
            "queries" => measures.queries = value.extract()?,
            "selectivity" => measures.selectivity = value.extract()?,
            "dimensions" => measures.dimensions = Some(value.extract()?),
            "seed" => measures.seed = value.extract()?,
            "estimate" => measures.estimates = estimate_of(py, value.extract()?)?,
            "about" => measures.about = Some(value.extract()?),
            "worlds" => measures.worlds = value.extract()?,
            "target" => measures.target = Some(value.extract()?),
            other => return Err(refused(py, format!("there is no keyword `{other}`"), "leave it out")),
        }
    }
    if from_table.is_some() && measures.subspaces.is_empty() {
        let message = "`from_table` has no effect without `attributes`";
        return Err(refused(py, message, "say which attributes to take from it, or leave it out"));
    }
    measures.subspaces.iter_mut().for_each(|subspace| subspace.table.clone_from(&from_table));
    Ok(measures)
}

/// Public tables that questions may join. They are small, and their cells are compared as text.
pub(crate) fn public_tables(py: Python<'_>, tables: Vec<(String, Bound<'_, PyAny>)>) -> PyResult<Tables> {
    let mut public = Tables::default();
    for (name, table) in tables {
        let (header, rows) = cells(py, Given::new(&table, "tables")?, &name)?;
        public.add(&name, header, rows).or_raise(py)?;
    }
    Ok(public)
}

/// The cells of a table as texts; an empty one is missing.
type Cells = (Vec<String>, Vec<Vec<String>>);

fn cells(py: Python<'_>, given: Given, name: &str) -> PyResult<Cells> {
    let name = name.to_owned();
    let read = move |watch: &dyn Watch| -> Result<Cells, Error> {
        let draft = given.draft(Draft::default())?;
        let input = given.open(&draft, &name)?;
        let wanted = files::requests(&input, &draft, watch)?;
        let table = files::read(input, &wanted, "read", watch)?;
        let cell = |column: &chrysalis::table::Column, row: usize| {
            column.domain().value(column.code(row)).map(ToString::to_string).unwrap_or_default()
        };
        let rows = (0..table.rows()).map(|row| table.columns().iter().map(|column| cell(column, row)).collect());
        let header = table.columns().iter().map(|column| column.name().to_owned()).collect();
        Ok((header, rows.collect()))
    };
    Ok(work::run(py, None, read)?.0)
}

/// Writes the page about a release that travels with it: whole or not at all, and not into the release.
fn write_certificate(
    place: &Path,
    manifest: &Manifest,
    outcome: &AuditOutcome,
    with: &Evidence<'_>,
    force: bool,
) -> Result<(), Error> {
    let Some(folder) = with.folder else {
        let message = "a certificate names the hashes of files, and this release was not saved yet";
        return Err(Error::request(message, "save it first"));
    };
    let real = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let parent = place.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if real(parent).starts_with(real(folder)) {
        let message = "a certificate inside the release would be published with it, and the next audit would fail";
        return Err(Error::request(message, Remedy::from("write it beside the release")));
    }
    let folder = real(folder);
    let name =
        folder.file_name().map_or_else(|| folder.display().to_string(), |name| name.to_string_lossy().into_owned());
    let page = certificate::page(&Certificate::of_manifest(name, manifest, outcome, with)?);
    Ok(write_file(place, page.as_bytes(), force)?)
}

/// A table from a small CSV text.
pub(crate) fn table_of_csv(text: &[u8]) -> Result<chrysalis::Table, Error> {
    let options = CsvOptions::default();
    let reader = CsvReader::open(text, &options)?;
    let wanted: Vec<_> = reader.header().iter().map(chrysalis::table::ColumnRequest::named).collect();
    Ok(reader.read(&wanted)?)
}
