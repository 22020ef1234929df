//! The tasks' half of publishing on a cluster. Everything that a task knows beyond its rows comes from the private folder.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use chrysalis::cells::{self, CellCounts, CellPlan, CellRelease, GroupNumbers, PreparedRows, Secret, Survey};
use chrysalis::store::SharedFolder;
use chrysalis::{Draft, Error, Key, PreparedColumn, Recipe, Table, Unwatched, Watch, files};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::errors::OrRaise;
use crate::publish::TABLE;
use crate::stream::Given;
use crate::work;

/// What is asked for.
#[derive(Serialize, Deserialize)]
pub(super) struct Order {
    pub(super) draft: Draft,
    /// The columns of the data frame.
    pub(super) header: Vec<String>,
    /// The place of the release, which messages name.
    pub(super) out: PathBuf,
    /// Where its parts are written.
    pub(super) folder: PathBuf,
    /// How many rows a cell is to have.
    pub(super) rows_per_cell: u64,
}

/// Names in the private folder.
impl Order {
    pub(super) const NAME: &str = "order";
    pub(super) const SECRET: &str = "secret";
    pub(super) const NUMBERS: &str = "numbers";

    /// The plan whose cells are counted, in some round.
    pub(super) fn drawn(round: usize) -> String {
        format!("drawn-{round}")
    }

    /// The plan that is left of it. Rows are routed by that of the last round.
    pub(super) fn settled(round: usize) -> String {
        format!("settled-{round}")
    }
}

/// How many groups there are, and how many before each cell.
#[derive(Serialize, Deserialize)]
pub(super) struct Numbers {
    pub(super) total: u64,
    pub(super) before: Vec<u64>,
}

pub(super) fn bytes_of(value: &impl Serialize) -> Result<Vec<u8>, Error> {
    serde_json::to_vec(value).map_err(|error| Error::internal(error.to_string()))
}

pub(super) fn value_of<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Error> {
    serde_json::from_slice(bytes).map_err(|error| Error::internal(error.to_string()))
}

/// What a task knows.
struct Task {
    shared: SharedFolder,
    order: Order,
    recipe: Recipe,
}

impl Task {
    fn of(private: &Path, watch: &dyn Watch) -> Result<Task, Error> {
        let shared = SharedFolder::at(private, private);
        if !shared.is_there() {
            let parent = private.parent().unwrap_or(private).display();
            let message = format!("a machine of the cluster does not see the folder {parent}: it is not shared");
            return Err(Error::request(message, "put `out` on storage that all machines see at the same place"));
        }
        let order: Order = value_of(&shared.get(Order::NAME)?)?;
        let mut recipe = order.draft.check(&order.header)?;
        if recipe.needs_key() && Key::read(&order.draft.key_file())?.is_none() {
            let message = format!("a machine of the cluster does not see the key {}", order.draft.key_file().display());
            return Err(Error::request(message, "put it on storage that all machines share"));
        }
        order.draft.provide_key(&mut recipe, Some(&order.out), watch)?;
        Ok(Task { shared: SharedFolder::at(private, &order.out), order, recipe })
    }

    fn secret(&self) -> Result<Secret, Error> {
        let bytes: Result<[u8; 32], Vec<u8>> = self.shared.get(Order::SECRET)?.try_into();
        bytes.map(Secret::from_bytes).map_err(|_| Error::internal("the secret has another length"))
    }

    /// A plan, which many tasks of a process use.
    fn plan(&self, name: &str) -> Result<Arc<CellPlan>, Error> {
        static KNOWN: Mutex<Option<(PathBuf, String, Arc<CellPlan>)>> = Mutex::new(None);
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, _, plan)) = known.as_ref().filter(|(folder, of, _)| *folder == self.order.folder && of == name)
        {
            return Ok(Arc::clone(plan));
        }
        let plan: Arc<CellPlan> = Arc::new(value_of(&self.shared.get(name)?)?);
        *known = Some((self.order.folder.clone(), name.to_owned(), Arc::clone(&plan)));
        Ok(plan)
    }

    /// Rows as they came.
    fn read(&self, given: Given, watch: &dyn Watch) -> Result<Table, Error> {
        let input = given.open(&self.order.draft, TABLE)?;
        files::read(input, &cells::requests(&self.recipe, &Unwatched), "read", watch)
    }

    /// Rows as they are published.
    fn rows(&self, given: Given, watch: &dyn Watch) -> Result<PreparedRows, Error> {
        cells::prepared(self.read(given, watch)?, &self.recipe)
    }
}

/// Does the work of a task.
fn run<T: Send + 'static>(
    py: Python<'_>,
    private: PathBuf,
    work: impl FnOnce(&Task, &dyn Watch) -> Result<T, Error> + Send + 'static,
) -> PyResult<T> {
    Ok(work::run(py, None, move |watch| work(&Task::of(&private, watch)?, watch))?.0)
}

/// Surveys some rows.
#[pyfunction]
pub(crate) fn cluster_survey<'py>(
    py: Python<'py>,
    private: PathBuf,
    rows: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyBytes>> {
    let given = Given::new(rows, "df")?;
    let told = run(py, private, move |task, watch| {
        let mut survey = cells::survey(&task.recipe, &task.secret()?);
        let table = task.read(given, watch)?;
        let lacking = cells::lacking(&table, &task.recipe);
        if !lacking.is_empty() {
            // The driver refuses it, when it knows how often that is so in the whole table.
            return bytes_of(&Surveyed { survey, dropped: 0, steps: Vec::new(), lacking });
        }
        let PreparedRows { table, dropped, steps } = cells::prepared(table, &task.recipe)?;
        survey.add(&table)?;
        bytes_of(&Surveyed { survey, dropped, steps, lacking })
    })?;
    Ok(PyBytes::new(py, &told))
}

/// Surveys those of some rows whose cells are too large.
#[pyfunction]
pub(crate) fn cluster_survey_again<'py>(
    py: Python<'py>,
    private: PathBuf,
    rows: &Bound<'py, PyAny>,
    round: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let given = Given::new(rows, "df")?;
    let told = run(py, private, move |task, watch| {
        let table = task.rows(given, watch)?.table;
        let (plan, secret) = (task.plan(&Order::settled(round))?, task.secret()?);
        let cells = plan.route(&table)?;
        let mut surveys: SurveyedAgain = Vec::new();
        let large = cells::large(&plan, task.order.rows_per_cell);
        for &cell in &large {
            let is_own = |(row, &of_row): (u32, &u32)| (of_row == cell).then_some(row);
            let own: Vec<u32> = (0_u32..).zip(&cells).filter_map(is_own).collect();
            let mut survey = plan.survey(large.len(), &secret);
            survey.add(&table.gather(&own))?;
            surveys.push((cell, survey));
        }
        bytes_of(&surveys)
    })?;
    Ok(PyBytes::new(py, &told))
}

/// Counts some rows by their cells.
#[pyfunction]
pub(crate) fn cluster_count<'py>(
    py: Python<'py>,
    private: PathBuf,
    rows: &Bound<'py, PyAny>,
    round: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let given = Given::new(rows, "df")?;
    let told = run(py, private, move |task, watch| {
        let table = task.rows(given, watch)?.table;
        bytes_of(&task.plan(&Order::drawn(round))?.count(&table, &task.secret()?)?)
    })?;
    Ok(PyBytes::new(py, &told))
}

/// What several surveys say together.
#[pyfunction]
pub(crate) fn cluster_merge_surveys(py: Python<'_>, told: Vec<PyBackedBytes>) -> PyResult<Bound<'_, PyBytes>> {
    let merged = py.detach(|| bytes_of(&surveyed(&told)?)).or_raise(py)?;
    Ok(PyBytes::new(py, &merged))
}

/// What several counts say together.
#[pyfunction]
pub(crate) fn cluster_merge_counts(py: Python<'_>, told: Vec<PyBackedBytes>) -> PyResult<Bound<'_, PyBytes>> {
    let merged = py.detach(|| bytes_of(&counted(&told)?)).or_raise(py)?;
    Ok(PyBytes::new(py, &merged))
}

/// What several surveys of large cells say together.
#[pyfunction]
pub(crate) fn cluster_merge_again(py: Python<'_>, told: Vec<PyBackedBytes>) -> PyResult<Bound<'_, PyBytes>> {
    let merged = py.detach(|| bytes_of(&surveyed_again(&told)?)).or_raise(py)?;
    Ok(PyBytes::new(py, &merged))
}

/// What is told of some rows.
#[derive(Serialize, Deserialize)]
pub(super) struct Surveyed {
    pub(super) survey: Survey,
    /// How many rows were dropped.
    pub(super) dropped: u64,
    /// What was done to columns.
    pub(super) steps: Vec<PreparedColumn>,
    /// Missing values by column, where none may be.
    pub(super) lacking: Vec<(String, u64)>,
}

/// What surveys say together. There is at least one.
pub(super) fn surveyed(told: &[PyBackedBytes]) -> Result<Surveyed, Error> {
    let (first, rest) = told.split_first().ok_or_else(|| Error::internal("nothing was surveyed"))?;
    let mut all: Surveyed = value_of(first)?;
    for more in rest {
        let more: Surveyed = value_of(more)?;
        all.survey.merge(&more.survey)?;
        all.dropped += more.dropped;
        cells::add_steps(&mut all.steps, more.steps);
        for (name, n) in more.lacking {
            match all.lacking.iter_mut().find(|(known, _)| *known == name) {
                Some((_, sum)) => *sum += n,
                None => all.lacking.push((name, n)),
            }
        }
    }
    Ok(all)
}

/// Surveys of the rows of some cells.
type SurveyedAgain = Vec<(u32, Survey)>;

/// What they say together: all of them are of the same cells, in the same order.
pub(super) fn surveyed_again(told: &[PyBackedBytes]) -> Result<SurveyedAgain, Error> {
    let mut all = SurveyedAgain::new();
    for surveys in told {
        let surveys: SurveyedAgain = value_of(surveys)?;
        if all.is_empty() {
            all = surveys;
            continue;
        }
        all.iter_mut().zip(&surveys).try_for_each(|((_, all), (_, more))| all.merge(more))?;
    }
    Ok(all)
}

pub(super) fn counted(told: &[PyBackedBytes]) -> Result<CellCounts, Error> {
    let mut all = CellCounts::default();
    for counts in told {
        all.merge(&value_of(counts)?);
    }
    Ok(all)
}

/// The rows of every cell, as bytes.
#[pyfunction]
pub(crate) fn cluster_route<'py>(
    py: Python<'py>,
    private: PathBuf,
    rows: &Bound<'py, PyAny>,
    round: usize,
) -> PyResult<Vec<(u32, Bound<'py, PyBytes>)>> {
    let given = Given::new(rows, "df")?;
    let blocks = run(py, private, move |task, watch| {
        let table = task.rows(given, watch)?.table;
        Ok(task.plan(&Order::settled(round))?.blocks(&table)?)
    })?;
    Ok(blocks.into_iter().map(|block| (block.cell, PyBytes::new(py, &block.bytes))).collect())
}

/// Publishes the rows of a cell, and puts its tables aside. Returns what is counted of it.
#[pyfunction]
pub(crate) fn cluster_publish(
    py: Python<'_>,
    private: PathBuf,
    cell: u32,
    blocks: Vec<PyBackedBytes>,
    round: usize,
) -> PyResult<Bound<'_, PyBytes>> {
    let told = run(py, private, move |task, watch| {
        let plan = task.plan(&Order::settled(round))?;
        let bytes: Vec<u8> = blocks.iter().flat_map(|block| block.iter().copied()).collect();
        let table = cells::decode(plan.whole(), &bytes)?;
        drop(bytes);
        let made = cells::publish_cell(&plan, &task.recipe, &task.secret()?, cell, &table, watch)?;
        task.shared.put(&name_of(cell), &made.to_bytes()?)?;
        bytes_of(&made.facts)
    })?;
    Ok(PyBytes::new(py, &told))
}

fn name_of(cell: u32) -> String {
    format!("cell-{cell}")
}

/// Writes the parts of a cell that was published. Returns the cell, and what the manifest tells of the parts of every table.
#[pyfunction]
pub(crate) fn cluster_write(py: Python<'_>, private: PathBuf, cell: u32) -> PyResult<Bound<'_, PyBytes>> {
    let told = run(py, private, move |task, watch| {
        let CellRelease { facts, tables } = CellRelease::from_bytes(&task.shared.get(&name_of(cell))?)?;
        let numbers: Numbers = value_of(&task.shared.get(Order::NUMBERS)?)?;
        let ids = GroupNumbers::new(&task.secret()?, numbers.total);
        let before = numbers.before.get(cell as usize).copied();
        let before = before.ok_or_else(|| Error::internal("a cell that is not in the plan"))?;
        let mut parts = Vec::new();
        for (name, table) in cells::numbered(tables, facts.groups(), &ids, before, watch)? {
            // A release of one cell looks like any other.
            let part = (numbers.before.len() > 1).then_some(cell as usize + 1);
            let folder = &task.order.folder;
            let progress = |rows| watch.tell(rows);
            let entry = task.shared.write_part(folder, &name, part, &table, task.recipe.format(), &progress)?;
            parts.push((name, entry));
        }
        bytes_of(&(cell, parts))
    })?;
    Ok(PyBytes::new(py, &told))
}
