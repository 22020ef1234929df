//! The driver's half of publishing on a cluster: it sees counts and facts, never rows.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use chrysalis::cells::{self, CellCounts, CellFacts, CellPlan, Concluded, ROUNDS, Tally};
use chrysalis::store::{ReleaseFolder, SharedFolder, Spill};
use chrysalis::{Counted, Draft, Error, PartEntry, Recipe, Seed};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyDict;

use super::task::{Numbers, Order, Surveyed, bytes_of, counted, surveyed, surveyed_again, value_of};
use crate::errors::{OrRaise, refused};
use crate::keywords::{Verb, draft};
use crate::publish::TABLE;
use crate::stream::Given;
use crate::work;

/// A cell, and the parts of every table that it wrote.
type Written = (u32, Vec<(String, PartEntry)>);

/// A release in the making, whose rows are elsewhere.
#[pyclass(frozen, module = "chrysalis._native")]
pub(crate) struct ClusterJob {
    recipe: Recipe,
    seed: Seed,
    rows_per_cell: u64,
    shared: SharedFolder,
    /// Columns that tasks need.
    #[pyo3(get)]
    columns: Vec<String>,
    /// The folder that tasks share with the driver.
    #[pyo3(get)]
    private: PathBuf,
    state: Mutex<State>,
}

/// What there is until the job is closed.
#[derive(Default)]
struct State {
    /// Both folders are removed with these values.
    folders: Option<(ReleaseFolder, Spill)>,
    plan: Option<CellPlan>,
    /// What was counted by the plan.
    counts: CellCounts,
    /// How often large cells were cut again.
    round: usize,
    tally: Tally,
    /// What the release says beside its tables, once all cells are judged.
    concluded: Option<Concluded>,
    notes: Vec<String>,
}

#[pymethods]
impl ClusterJob {
    /// Checks what is asked for against the columns of an empty table, and makes the folders.
    #[new]
    fn new(
        py: Python<'_>,
        table: &Bound<'_, PyAny>,
        keywords: &Bound<'_, PyDict>,
        out: PathBuf,
        seed: Option<u64>,
        force: bool,
        rows_per_cell: u64,
    ) -> PyResult<ClusterJob> {
        let said = draft(keywords, Verb::Publish)?;
        let given = Given::new(table, "df")?;
        if said.memory.is_some() {
            let message = "`memory` has no effect on a cluster, where a task holds the rows of a cell";
            return Err(refused(py, message, "leave it out, and say `rows_per_cell` if cells are to be smaller"));
        }
        let seed = Seed::from(seed);
        let (made, told) = work::run(py, None, move |watch| {
            let mut draft: Draft = given.draft(said)?;
            let input = given.open(&draft, TABLE)?;
            let header = input.header().to_vec();
            let mut recipe = draft.check(&header)?.without(&input.unreadable());
            cells::check(&recipe)?;
            let absolute = |path: PathBuf| std::path::absolute(&path).unwrap_or(path);
            let out = absolute(out);
            if recipe.needs_key() {
                draft.key = Some(absolute(draft.key_file()));
            }
            draft.provide_key(&mut recipe, Some(&out), watch)?;
            let columns = cells::requests(&recipe, watch).into_iter().map(|request| request.name).collect();
            let folders = (ReleaseFolder::begin(&out, recipe.format(), force)?, Spill::beside(&out)?);
            let shared = folders.1.shared();
            // LEAK: the secret goes this way alone. Closures, broadcasts and rows are logged and spilled by Spark.
            shared.put(Order::SECRET, cells::secret(seed)?.bytes())?;
            let order = Order { draft, header, out, folder: folders.0.path().to_owned(), rows_per_cell };
            shared.put(Order::NAME, &bytes_of(&order)?)?;
            Ok((recipe, columns, folders, shared))
        })?;
        let (recipe, columns, folders, shared) = made;
        let private = shared.path().to_owned();
        let state = Mutex::new(State { folders: Some(folders), notes: told.notes, ..State::default() });
        Ok(ClusterJob { recipe, seed, rows_per_cell, shared, columns, private, state })
    }

    /// Draws the plan from surveys of all rows.
    fn plan(&self, py: Python<'_>, surveys: Vec<PyBackedBytes>) -> PyResult<()> {
        let (recipe, shared, most_rows) = (self.recipe.clone(), self.shared.clone(), self.rows_per_cell);
        let ((plan, tally), told) = work::run(py, None, move |watch| {
            if surveys.is_empty() {
                return Err(Error::request("the data frame has no rows", "check what it was made from"));
            }
            let Surveyed { survey, dropped, steps, lacking } = surveyed(&surveys)?;
            cells::check_lacking(&lacking, &recipe)?;
            let plan = cells::draw(&survey, &recipe, most_rows, watch)?;
            shared.put(&Order::drawn(0), &bytes_of(&plan)?)?;
            Ok((plan, Tally { dropped, steps }))
        })?;
        let mut state = self.state();
        (state.plan, state.tally) = (Some(plan), tally);
        state.notes.extend(told.notes);
        Ok(())
    }

    /// Undoes the cuts that counts of all rows do not allow. Returns how many cells there are.
    fn settle(&self, py: Python<'_>, counts: Vec<PyBackedBytes>) -> PyResult<usize> {
        let settle = || -> Result<usize, Error> {
            let mut state = self.state();
            let drawn = state.plan.take().ok_or_else(out_of_turn)?;
            let counts = counted(&counts)?;
            let (plan, became) = cells::settled(&drawn, &counts, &self.recipe)?;
            let (n_cells, became) = (plan.n_cells(), became.into_iter().map(Some).collect::<Vec<_>>());
            self.shared.put(&Order::settled(state.round), &bytes_of(&plan)?)?;
            state.counts = counts.moved(&became, n_cells);
            state.plan = Some(plan);
            Ok(n_cells)
        };
        py.detach(settle).or_raise(py)
    }

    /// How often cells were cut again so far.
    #[getter]
    fn round(&self) -> usize {
        self.state().round
    }

    /// Whether cells are so large that they should be cut again.
    fn has_large(&self) -> bool {
        let state = self.state();
        let is_large = |plan: &CellPlan| !cells::large(plan, self.rows_per_cell).is_empty();
        state.round < ROUNDS && state.plan.as_ref().is_some_and(is_large)
    }

    /// Cuts large cells again, by surveys of their rows. All rows are to be counted again.
    fn plan_again(&self, py: Python<'_>, surveys: Vec<PyBackedBytes>) -> PyResult<()> {
        let again = || -> Result<(), Error> {
            let mut state = self.state();
            let settled = state.plan.take().ok_or_else(out_of_turn)?;
            let surveys = surveyed_again(&surveys)?;
            let (plan, _) = cells::redrawn(&settled, &state.counts, &surveys, &self.recipe, self.rows_per_cell)?;
            state.round += 1;
            self.shared.put(&Order::drawn(state.round), &bytes_of(&plan)?)?;
            state.plan = Some(plan);
            Ok(())
        };
        py.detach(again).or_raise(py)
    }

    /// Judges the groups of all cells, of which these are the facts, and numbers them.
    fn number(&self, py: Python<'_>, facts: Vec<PyBackedBytes>) -> PyResult<()> {
        let (recipe, seed, shared) = (self.recipe.clone(), self.seed, self.shared.clone());
        let (plan, tally) = {
            let mut state = self.state();
            (state.plan.take(), std::mem::take(&mut state.tally))
        };
        let (concluded, told) = work::run(py, None, move |watch| {
            let facts = facts.iter().map(|bytes| value_of::<CellFacts>(bytes)).collect::<Result<Vec<_>, _>>();
            let mut facts = facts?;
            facts.sort_unstable_by_key(|one| one.cell);
            // LEAK: what groups give away is judged before any of them is written as it would be published.
            let concluded = cells::concluded(&plan.ok_or_else(out_of_turn)?, &facts, &recipe, tally, seed, watch)?;
            let mut numbers = Numbers { total: 0, before: Vec::with_capacity(facts.len()) };
            for one in &facts {
                numbers.before.push(numbers.total);
                numbers.total += one.groups();
            }
            shared.put(Order::NUMBERS, &bytes_of(&numbers)?)?;
            Ok(concluded)
        })?;
        let mut state = self.state();
        state.concluded = Some(concluded);
        state.notes.extend(told.notes);
        Ok(())
    }

    /// Puts the release in its place. Returns the report as JSON, and notes.
    fn finish(&self, py: Python<'_>, parts: Vec<PyBackedBytes>) -> PyResult<(String, Vec<String>)> {
        let State { folders, concluded, notes, .. } = std::mem::take(&mut *self.state());
        let shared = self.shared.clone();
        let (report, mut told) = work::run(py, None, move |watch| {
            let (folder, private) = folders.ok_or_else(out_of_turn)?;
            let made = concluded.ok_or_else(out_of_turn)?;
            let written = parts.iter().map(|bytes| value_of::<Written>(bytes)).collect::<Result<Vec<_>, _>>();
            let mut written = written?;
            written.sort_unstable_by_key(|(cell, _)| *cell);
            let parts_of = |name: &str| {
                let parts = written.iter().flat_map(|(_, parts)| parts).filter(|(table, _)| table == name);
                parts.map(|(_, part)| part.clone()).collect::<Vec<PartEntry>>()
            };
            watch.phase("write", None, Counted::Rows);
            let progress = |rows| watch.tell(rows);
            let mut manifest = made.manifest;
            for entry in &mut manifest.tables {
                let shared = made.shared.iter().find(|(name, _)| *name == entry.name);
                entry.parts = match shared {
                    Some((name, table)) => vec![folder.write_part(name, None, table, &progress)?],
                    None => parts_of(&entry.name),
                };
            }
            // Tasks that are still at work on what is there already find no folder to write to.
            shared.remove(Order::SECRET);
            drop(private);
            folder.finish(manifest, &progress, &|_| Ok(()))?;
            serde_json::to_string(&made.report).map_err(|error| Error::internal(error.to_string()))
        })?;
        told.notes.splice(0..0, notes);
        Ok((report, told.notes))
    }

    /// Removes whatever is not a release.
    fn close(&self, py: Python<'_>) {
        py.detach(|| {
            // LEAK: first of all, because whoever has it can undo what is published already.
            self.shared.remove(Order::SECRET);
            drop(std::mem::take(&mut *self.state()));
        });
    }
}

impl ClusterJob {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn out_of_turn() -> Error {
    Error::internal("a job on a cluster was continued out of turn")
}
