//! Tables larger than memory: published cell by cell.
//!
//! What is decided stands in [`chrysalis_publish::cells`]; here a recipe is brought to it. One machine
//! ([`publish_by_cells`]) and a cluster take the same steps:
//!
//! 1. [`survey`] of every part of the table, merged;
//! 2. a plan drawn from it ([`draw`]);
//! 3. every row routed to its cell, and counted ([`CellPlan::blocks`], [`CellPlan::count`]);
//! 4. cuts undone where a side would fail ([`settled`]), and cells that are too large cut again ([`redrawn`]);
//! 5. every cell published on its own ([`publish_cell`]);
//! 6. its groups numbered as groups of the whole ([`chrysalis_publish::cells::numbered`]);
//! 7. a manifest for all of them ([`concluded`]).

mod one_machine;
mod reading;
mod unasked;

use chrysalis_publish::cells::Sides;
use chrysalis_publish::method::Method;
use chrysalis_publish::{Microdata, Partitioner};
use chrysalis_table::{Column, ColumnRequest, Kind, Knob, MissingPolicy, Remedy, Role, Table, Watch};

use crate::partitioner::Choice;
use crate::prepare::Nobody;
use crate::publish::{Refusal, finished, measure, settle};
use crate::report::PublishReport;
use crate::{Error, PreparedColumn, Recipe, Seed, assumptions, disclosure, publish, weight};

pub use chrysalis_publish::cells::{
    Block, CellCounts, CellFacts, CellPlan, CellRelease, GroupNumbers, Secret, Survey, Whole, block_len, decode,
    numbered,
};
pub use one_machine::{Place, publish_by_cells, publish_by_cells_of};
pub use unasked::unasked;

/// Refuses what cannot be done cell by cell, before a row is read.
pub fn check(recipe: &Recipe) -> Result<(), Error> {
    chrysalis_publish::cells::check_form(recipe.form).map_err(|error| refused(recipe, &error.to_string()))?;
    let name = || recipe.partitioner.build().name();
    let problem = match &recipe.partitioner {
        Choice::FullDomain { .. } => format!("`{}` shows every column at one level in the whole table", name()),
        Choice::Column(_) => format!("`{}` takes groups that are given, which cells would tear", name()),
        Choice::Sequential => format!("`{}` follows the order of the rows, which cells change", name()),
        Choice::Like => "the groups of an earlier release are looked for in the whole table".to_owned(),
        _ if !recipe.earlier.folders.is_empty() => {
            "what a release tells beside earlier ones is judged from the whole table".to_owned()
        }
        _ if recipe.series.is_some() => "a series follows people through the whole table".to_owned(),
        _ if recipe.persons.is_some() => {
            "the rows of a person may belong to different cells, and promises are to be about persons".to_owned()
        }
        _ if recipe.population.is_some() || recipe.require.iter().any(|it| it.principle.needs_population()) => {
            "people of a population are counted in the whole table".to_owned()
        }
        _ if recipe.require.iter().any(|it| it.principle.needs_series()) => {
            "what is promised of a series follows people through the whole table".to_owned()
        }
        _ => return Ok(()),
    };
    Err(refused(recipe, &problem))
}

fn refused(recipe: &Recipe, problem: &str) -> Error {
    let message = format!("this cannot be published cell by cell: {problem}");
    let remedy = match recipe.memory() {
        Some(_) => Remedy::from("leave ").knob(Knob::Memory, "").words(" out, or choose something else"),
        None => Remedy::from("choose something else, or publish on one machine that holds the whole table"),
    };
    Error::request(message, remedy)
}

/// A secret for a release.
pub fn secret(seed: Seed) -> Result<Secret, Error> {
    use rand::Rng;
    let mut bytes = [0; 32];
    seed.generator()?.fill_bytes(&mut bytes);
    Ok(Secret::from_bytes(bytes))
}

/// The columns that are read. Those that are read only to see whether people have several rows are not: each would be a
/// large dictionary.
pub fn requests(recipe: &Recipe, watch: &dyn Watch) -> Vec<ColumnRequest> {
    let is_suspect = |name: &String| recipe.suspects.contains(name);
    let suspects = recipe.requests.iter().map(|request| &request.name).filter(|name| is_suspect(name));
    for name in suspects {
        watch.note(&format!(
            "`{name}` sounds as if it tells people apart: whether people have several rows is not looked at in a table that \
             is published cell by cell"
        ));
    }
    recipe.requests.iter().filter(|request| !is_suspect(&request.name)).cloned().collect()
}

/// Rows as they are published.
#[derive(Debug)]
pub struct PreparedRows {
    /// The rows.
    pub table: Table,
    /// How many rows were dropped because they lack a value.
    pub dropped: u64,
    /// What was done to columns, and how many rows that changed.
    pub steps: Vec<PreparedColumn>,
}

/// Brings some rows, with the columns that the recipe asks for, to what is published: drops what lacks a value, or
/// refuses it, and prepares columns. There may be no rows left.
pub fn prepared(table: Table, recipe: &Recipe) -> Result<PreparedRows, Error> {
    let (table, dropped) = table.with_missing(recipe.missing).map_err(|error| recipe.in_source(error.into()))?;
    let nobody = if recipe.missing == MissingPolicy::Drop { Nobody::Ignored } else { Nobody::Refused };
    let (table, steps) = recipe.preparation.carry_out(table, recipe.key.as_ref(), nobody)?;
    Ok(PreparedRows { table, dropped: dropped as u64, steps })
}

/// How often values are missing in each column of some rows, where none may be. Whoever has only some of the rows cannot say in
/// which one of the table that is.
pub fn lacking(table: &Table, recipe: &Recipe) -> Vec<(String, u64)> {
    if recipe.missing != MissingPolicy::Error {
        return Vec::new();
    }
    let columns = table.columns().iter().filter(|column| column.domain().has_missing());
    let count = |column: &Column| column.codes().iter().filter(|&code| code == 0).count() as u64;
    columns.map(|column| (column.name().to_owned(), count(column))).filter(|(_, n)| *n > 0).collect()
}

/// Refuses a table that lacks values: the sums of what [`lacking`] said of its parts.
pub fn check_lacking(lacking: &[(String, u64)], recipe: &Recipe) -> Result<(), Error> {
    let found = recipe.requests.iter().find_map(|request| lacking.iter().find(|(name, _)| *name == request.name));
    let Some((column, n)) = found else { return Ok(()) };
    let remedy = Remedy::from("fill them in, or use ").knob(Knob::Missing, "as-value").words(" or ");
    let message = format!("column `{column}` has {n} missing values");
    Err(Error::request(message, remedy.knob(Knob::Missing, "drop")))
}

/// Adds up what was done to several parts of a table.
pub fn add_steps(all: &mut Vec<PreparedColumn>, more: Vec<PreparedColumn>) {
    if all.is_empty() {
        *all = more;
        return;
    }
    all.iter_mut().zip(more).for_each(|(step, more)| step.changed_rows += more.changed_rows);
}

/// Step 1: a survey of no rows, for rows as [`prepared`] returns them.
pub fn survey(recipe: &Recipe, secret: &Secret) -> Survey {
    survey_with(recipe, secret, &|_| None)
}

/// The same where a reader has seen all words of a column, in their order.
fn survey_with(recipe: &Recipe, secret: &Secret, read: &dyn Fn(&str) -> Option<Vec<String>>) -> Survey {
    let is_kept = |role: Role| role != Role::Identifier;
    let order = |name: &str| {
        let of_plan = recipe.preparation.columns.iter().find(|plan| plan.name == name).map(|plan| plan.order.clone());
        let of_request = recipe.requests.iter().find(|request| request.name == name).map(|it| it.order.clone());
        let given = of_plan.into_iter().chain(of_request).find(|order| !order.is_empty());
        given.or_else(|| read(name)).unwrap_or_default()
    };
    let columns = recipe.attributes.iter().filter(|said| is_kept(said.role));
    let columns = columns.map(|said| (said.name.clone(), Kind::Category, order(&said.name)));
    let quasi = recipe.with_role(Role::QuasiIdentifier).map(str::to_owned).collect();
    Survey::new(columns, quasi, secret)
}

/// Step 2: a plan whose cells have up to about so many rows.
///
/// Also says what the owner should know, and refuses what the table as a whole cannot keep.
pub fn draw(survey: &Survey, recipe: &Recipe, most_rows: u64, watch: &dyn Watch) -> Result<CellPlan, Error> {
    let whole = survey.whole();
    if whole.rows == 0 {
        return Err(publish::nothing_left());
    }
    if let Some(column) = recipe.weight().and_then(|name| whole.column(name)) {
        weight::check_domain(column.domain(), column.counts(), column.name())?;
    }
    let outline = Microdata::outline(&recipe.attributes, whole)?.showing_together(&recipe.together)?;
    disclosure::check_constant(&outline)?;
    let counts = |column: &Column| whole.column(column.name()).map(|it| it.counts().to_vec()).unwrap_or_default();
    disclosure::identifiers_among_quasi(&outline, &counts).iter().for_each(|note| watch.note(note));
    assumptions::of(&outline, &recipe.require).iter().for_each(|note| watch.note(note));
    disclosure::check_identifying(&disclosure::identifying_by(&outline, &counts), recipe)?;
    outline.goal(&recipe.require)?;
    Ok(CellPlan::draw(survey, &sides(recipe), most_rows)?)
}

fn sides(recipe: &Recipe) -> Sides<'_> {
    Sides {
        attributes: &recipe.attributes,
        require: &recipe.require,
        transparent: recipe.partitioner == Choice::Transparent,
    }
}

/// Step 4: the plan without the cuts one of whose sides would fail, and for every cell which one it became.
pub fn settled(plan: &CellPlan, counts: &CellCounts, recipe: &Recipe) -> Result<(CellPlan, Vec<u32>), Error> {
    Ok(plan.settled(counts, &sides(recipe))?)
}

/// How often cells that are too large are cut again, at most.
pub const ROUNDS: usize = 8;

/// Step 4: the cells that are much larger than `most_rows`, because cuts did not stand or the sample was wrong about them, and
/// that are worth being cut again.
pub fn large(plan: &CellPlan, most_rows: u64) -> Vec<u32> {
    plan.large(most(most_rows))
}

/// How many rows a cell has that was to have up to about so many: a plan from a sample is off by a little.
fn most(most_rows: u64) -> u64 {
    most_rows.saturating_add(most_rows / 4)
}

/// Step 4: cuts large cells again, by surveys of their own rows ([`CellPlan::survey`]). `counts` are those of the plan. All rows
/// are to be counted by the plan that is returned; for every cell so far it is said which one it is there, if it was not cut.
pub fn redrawn(
    plan: &CellPlan,
    counts: &CellCounts,
    surveys: &[(u32, Survey)],
    recipe: &Recipe,
    most_rows: u64,
) -> Result<(CellPlan, Vec<Option<u32>>), Error> {
    Ok(plan.redrawn(counts, surveys, &sides(recipe), most_rows)?)
}

/// Step 5: one cell, whose groups are numbered from 1 on. Its rows may come in any order.
pub fn publish_cell(
    plan: &CellPlan,
    recipe: &Recipe,
    secret: &Secret,
    cell: u32,
    table: &Table,
    watch: &dyn Watch,
) -> Result<CellRelease, Error> {
    let (method, partitioner): (Box<dyn Method>, Box<dyn Partitioner>) = (recipe.method(), recipe.partitioner.build());
    let spec = chrysalis_publish::cells::CellSpec {
        attributes: &recipe.attributes,
        require: &recipe.require,
        together: &recipe.together,
        method: &*method,
        partitioner: &*partitioner,
    };
    Ok(chrysalis_publish::cells::publish_cell(plan, &spec, secret, cell, table, watch)?)
}

/// What was done to the rows on their way.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Rows that were dropped because they lack a value.
    pub dropped: u64,
    /// What was done to columns.
    pub steps: Vec<PreparedColumn>,
}

/// All that a release by cells says beside its tables.
#[derive(Debug)]
pub struct Concluded {
    /// The manifest; its tables have no parts yet.
    pub manifest: chrysalis_release::Manifest,
    /// What the owner wants to know.
    pub report: PublishReport,
    /// The tables that say the same for all groups, with their names: each is one more part.
    pub shared: Vec<(String, Table)>,
}

/// Step 7: refuses disclosed rows as [`crate::publish`] does, and makes the manifest. `cells` are in the order of the plan.
pub fn concluded(
    plan: &CellPlan,
    cells: &[CellFacts],
    recipe: &Recipe,
    tally: Tally,
    seed: Seed,
    watch: &dyn Watch,
) -> Result<Concluded, Error> {
    let (mut outcome, shared) = chrysalis_publish::cells::merged(plan, cells)?;
    let outline = Microdata::outline(&recipe.attributes, plan.whole())?.showing_together(&recipe.together)?;
    let counts =
        |column: &Column| plan.whole().column(column.name()).map(|it| it.counts().to_vec()).unwrap_or_default();
    let found = disclosure::identifying_by(&outline, &counts);
    settle(&mut outcome, &outline, recipe, found, Refusal::OfDisclosure)?;
    let mut published = finished(outcome, recipe, tally.dropped, seed, watch);
    measure(&mut published.report, &outline, recipe);
    published.report.prepared = tally.steps;
    Ok(Concluded { manifest: published.release.manifest, report: published.report, shared })
}
