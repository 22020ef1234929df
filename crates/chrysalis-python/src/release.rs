//! A release: saving it, judging it, and asking it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use chrysalis::certificate::Certificate;
use chrysalis::report::AuditOutcome;
use chrysalis::store::{Format, check_place, read_release_within, write_file};
use chrysalis::table::{CsvOptions, CsvReader};
use chrysalis::{
    Analyst, Counted, Dialect, Draft, Error, EstimateMode, Evidence, KnownLedger, Manifest, Measures, Memory,
    Questions, Remedy, Sampling, Seed, Subspace, Tables, Watch, audit, evaluate, files, sample, values,
};
use chrysalis_lab::certificate;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::answer::Answer;
use crate::errors::{OrRaise, refused};
use crate::keywords::{Verb, draft, memory_of};
use crate::publish::{POPULATION, TABLE};
use crate::stream::Given;
use crate::table::Table;
use crate::work;

/// A release in memory, or one that was published to a folder and is read when somebody asks for more than its manifest.
#[pyclass(frozen, module = "chrysalis._native")]
pub(crate) struct Release {
    manifest: Manifest,
    /// Empty until it is read.
    release: OnceLock<Arc<chrysalis::Release>>,
    /// Opened at the first question.
    analyst: OnceLock<Arc<Analyst>>,
    place: Mutex<Option<Place>>,
    /// How it is written unless somebody says otherwise.
    format: Format,
    /// How much memory reading it may take.
    memory: Memory,
}

/// Where a release is.
#[derive(Clone)]
struct Place {
    /// The folder that it was read from, or saved to.
    folder: PathBuf,
    /// Whether it was saved there: then the files know more than the release in memory, such as their names.
    is_saved: bool,
}

/// Reads a release from its folder.
#[pyfunction]
#[pyo3(signature = (folder, memory=None, progress=None))]
pub(crate) fn open(
    py: Python<'_>,
    folder: PathBuf,
    memory: Option<&Bound<'_, PyAny>>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Release> {
    let memory = memory.map(memory_of).transpose()?.unwrap_or_default();
    let place = folder.clone();
    let (release, _) = work::run(py, progress, move |watch| {
        watch.phase("read", None, Counted::Rows);
        Ok(read_release_within(&place, memory)?)
    })?;
    Ok(Release { memory, ..Release::new(Arc::new(release), Some(folder), Format::Parquet) })
}

impl Release {
    pub(crate) fn new(release: Arc<chrysalis::Release>, folder: Option<PathBuf>, format: Format) -> Release {
        let place = folder.map(|folder| Place { folder, is_saved: false });
        let manifest = release.manifest.clone();
        Release { release: release.into(), ..Release::of(manifest, place, format) }
    }

    fn of(manifest: Manifest, place: Option<Place>, format: Format) -> Release {
        let (release, analyst, memory) = (OnceLock::new(), OnceLock::new(), Memory::default());
        Release { manifest, release, analyst, place: Mutex::new(place), format, memory }
    }

    /// One that was written to a folder just now, and is not in memory.
    pub(crate) fn on_disk(manifest: Manifest, folder: PathBuf, format: Format) -> Release {
        Release::of(manifest, Some(Place { folder, is_saved: true }), format)
    }

    /// One that was written to a folder just now.
    pub(crate) fn saved(release: Arc<chrysalis::Release>, folder: PathBuf, format: Format) -> Release {
        let place = Some(Place { folder, is_saved: true });
        Release { place: Mutex::new(place), ..Release::new(release, None, format) }
    }

    /// All of it; whoever comes while it is read reads it, too, and one of the two stays.
    fn whole(&self) -> Result<Arc<chrysalis::Release>, Error> {
        if let Some(known) = self.release.get() {
            return Ok(Arc::clone(known));
        }
        let place = self.place().ok_or_else(|| Error::internal("a release is neither in memory nor in a folder"))?;
        let read = Arc::new(read_release_within(&place.folder, self.memory)?);
        Ok(Arc::clone(self.release.get_or_init(|| read)))
    }

    fn place(&self) -> Option<Place> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Opens it for questions once; whoever comes meanwhile opens it, too, and one of the two stays.
    fn analyst(&self) -> Result<Arc<Analyst>, Error> {
        if let Some(known) = self.analyst.get() {
            return Ok(Arc::clone(known));
        }
        let made = Arc::new(Analyst::open((*self.whole()?).clone())?);
        Ok(Arc::clone(self.analyst.get_or_init(|| made)))
    }
}

#[pymethods]
impl Release {
    /// The manifest as JSON.
    fn manifest(&self, py: Python<'_>) -> PyResult<String> {
        self.manifest.to_json().or_raise(py)
    }

    /// The folder that it was read from, or saved to.
    #[getter]
    fn path(&self) -> Option<PathBuf> {
        self.place().map(|place| place.folder)
    }

    /// The names of its tables.
    fn table_names(&self) -> Vec<String> {
        self.manifest.tables.iter().map(|table| table.name.clone()).collect()
    }

    /// One of its tables.
    fn table(&self, py: Python<'_>, name: &str) -> PyResult<Table> {
        let release = py.detach(|| self.whole()).or_raise(py)?;
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
        let format = format.map(values::format).transpose().map_err(wrong)?.unwrap_or(self.format);
        let (release, out) = (py.detach(|| self.whole()).or_raise(py)?, folder.clone());
        let (manifest, _) = work::run(py, progress, move |watch| {
            check_place(&out, force)?;
            files::write(&release, &out, format, force, watch)
        })?;
        let beside = files::releases_beside(&folder, &manifest);
        let place = Place { folder, is_saved: true };
        *self.place.lock().unwrap_or_else(PoisonError::into_inner) = Some(place);
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
        let memory = memory.map(memory_of).transpose()?.unwrap_or(self.memory);
        let said = draft(keywords, Verb::Read)?;
        let microdata = microdata.map(|table| Given::new(table, "microdata")).transpose()?;
        let population = population.map(|table| Given::new(table, "population_table")).transpose()?;
        let with_microdata: Vec<Given> =
            with_microdata.iter().map(|table| Given::new(table, "with_microdata")).collect::<PyResult<_>>()?;
        let folders: Vec<Option<PathBuf>> =
            others.iter().map(|(_, other)| other.get().place().map(|place| place.folder)).collect();
        let whole = |(name, other): (String, Bound<'_, Release>)| -> PyResult<(String, Arc<chrysalis::Release>)> {
            let other = other.get();
            Ok((name, py.detach(|| other.whole()).or_raise(py)?))
        };
        let others: Vec<(String, Arc<chrysalis::Release>)> = others.into_iter().map(whole).collect::<PyResult<_>>()?;
        let (release, place) = (self.release.get().cloned(), self.place());
        let (outcome, mut told) = work::run(py, progress, move |watch| {
            // What was saved is judged by its files, and a certificate is about files, hashes and all.
            let is_read = place.as_ref().filter(|place| place.is_saved || certificate.is_some());
            let release = match (is_read, release) {
                (None, Some(release)) => release,
                (Some(place), _) => Arc::new(read_release_within(&place.folder, memory)?),
                (None, None) => return Err(Error::internal("a release is neither in memory nor in a folder")),
            };
            let folder = place.map(|place| place.folder);
            // Releases of a series have a table each.
            let is_of_series = release.manifest.series.is_some();
            let same = others.iter().filter(|_| !is_of_series).map(|(_, other)| &other.manifest);
            let manifests: Vec<&Manifest> = std::iter::once(&release.manifest).chain(same).collect();
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
                    Some(files::read_population_from(input, &draft, &release.manifest, watch)?)
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
            let outcome = audit(&release, with, watch)?;
            if let Some(place) = certificate {
                write_certificate(&place, &release, &outcome, &with, force)?;
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

    /// Answers a question, about the latest of several releases of a series if the folders of others are given.
    #[pyo3(signature = (question, tables=vec![], estimate="learned", progress=None, others=vec![]))]
    fn query(
        &self,
        py: Python<'_>,
        question: String,
        tables: Vec<(String, Bound<'_, PyAny>)>,
        estimate: &str,
        progress: Option<&Bound<'_, PyAny>>,
        others: Vec<PathBuf>,
    ) -> PyResult<Answer> {
        let estimate = estimate_of(py, estimate)?;
        let public = public_tables(py, tables)?;
        if !others.is_empty() {
            let Some(place) = self.place() else {
                return Err(refused(py, "this release is in no folder, so no series can be checked", "save it first"));
            };
            let folders: Vec<PathBuf> = std::iter::once(place.folder).chain(others).collect();
            let ask = move |_: &dyn Watch| {
                let questions = Questions::one(&question)?.estimates(estimate).joining(public);
                let answers = questions.ask_series(&folders, Memory::default())?;
                answers.into_iter().next().ok_or_else(|| Error::internal("one question has one answer"))
            };
            return Ok(Answer::new(work::run(py, progress, ask)?.0));
        }
        // Opening takes long the first time; the release is shared, so the analyst is kept even if the question fails.
        let analyst = self.opened(py, progress)?;
        let ask = move |_: &dyn Watch| analyst.ask_with(&question, &public, estimate);
        let (report, _) = work::run(py, progress, ask)?;
        Ok(Answer::new(report))
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
        let analyst = self.opened(py, progress)?;
        Ok(work::run(py, progress, move |_| analyst.rewrite_with(&question, &public, dialect))?.0)
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
        let release = py.detach(|| self.whole()).or_raise(py)?;
        let (report, told) = work::run(py, progress, move |watch| {
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
        let release = py.detach(|| self.whole()).or_raise(py)?;
        let (made, _) = work::run(py, progress, move |watch| sample(&release, &sampling, Seed::from(seed), watch))?;
        let report = serde_json::to_string(&made.report).map_err(|error| Error::internal(error.to_string()));
        let tables = made.worlds.into_iter().map(|table| Table::of(Arc::new(table))).collect();
        Ok((tables, report.or_raise(py)?))
    }
}

impl Release {
    fn opened(&self, py: Python<'_>, progress: Option<&Bound<'_, PyAny>>) -> PyResult<Arc<Analyst>> {
        if self.analyst.get().is_none() {
            let release = Release::new(py.detach(|| self.whole()).or_raise(py)?, None, self.format);
            let (made, _) = work::run(py, progress, move |_| release.analyst())?;
            self.analyst.get_or_init(|| made);
        }
        self.analyst().or_raise(py)
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
    release: &chrysalis::Release,
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
    let page = certificate::page(&Certificate::of(name, release, outcome, with)?);
    Ok(write_file(place, page.as_bytes(), force)?)
}

/// A table from a small CSV text.
pub(crate) fn table_of_csv(text: &[u8]) -> Result<chrysalis::Table, Error> {
    let options = CsvOptions::default();
    let reader = CsvReader::open(text, &options)?;
    let wanted: Vec<_> = reader.header().iter().map(chrysalis::table::ColumnRequest::named).collect();
    Ok(reader.read(&wanted)?)
}
