//! One machine: rows wait on disk for their cell to be published.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use chrysalis_release::{HELP_COLUMNS, Manifest, PartEntry, Values};
use chrysalis_store::{Input, ReleaseFolder, Spill, SpillFile, bytes_per_row};
use chrysalis_table::{Counted, Knob, Memory, Remedy, Role, Stopped, Table, Watch};

use super::reading::Kept;
use super::{
    Block, CellCounts, CellFacts, CellPlan, CellRelease, Concluded, GroupNumbers, ROUNDS, Secret, Tally, add_steps,
    block_len, check, concluded, decode, draw, large, most, numbered, publish_cell, redrawn, requests, secret, settled,
    survey_with,
};
use crate::report::PublishReport;
use crate::words::count;
use crate::{Error, Recipe, Seed};

/// Where a release is to stand.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// Its folder.
    pub out: &'a Path,
    /// Whether it may replace a release that is there.
    pub force: bool,
}

/// What publishing takes per row of a cell: codes, sorting, grouping, tables. In one piece it was measured as 75 to 80; the
/// rest is for the copies that cells make.
const BYTES_PER_ROW: u64 = 130;
/// What everything else takes at most: dictionaries, rows that are read or routed, the program itself.
const APART: u64 = 128_000_000;

/// What a row of a cell takes: when it is published, or when it is audited in the same memory, part by part. A plan from a
/// sample is off by a little, so that cells may be a quarter larger than planned.
fn bytes_per_cell_row(recipe: &Recipe) -> u64 {
    let n = |role: Role| recipe.with_role(role).count();
    let (quasi, other, sensitive) = (n(Role::QuasiIdentifier), n(Role::Other), n(Role::Sensitive));
    let shape = recipe.form.shape();
    // A range has two ends; a table of values has the group's number, a value and a count.
    let ends = if shape.detail.is_labelled() { 2 } else { 1 };
    let (beside, tables) = match shape.values {
        Values::Counted(_) => (0, sensitive),
        Values::Beside | Values::Swapped => (sensitive, 0),
    };
    let people = bytes_per_row(ends * quasi + other + beside + 1);
    let help = if shape.help.is_some() { bytes_per_row(HELP_COLUMNS.len()) } else { 0 };
    let audited = people + tables as u64 * bytes_per_row(3) + sensitive as u64 * help;
    BYTES_PER_ROW.max(audited + audited / 4)
}

/// How many rows a cell may have.
fn most_rows(memory: Memory, recipe: &Recipe) -> Result<u64, Error> {
    let rows = memory.bytes().saturating_sub(APART) / bytes_per_cell_row(recipe);
    if rows < 100_000 {
        let message = format!("{memory} of memory is too little to publish in");
        return Err(Error::request(message, Remedy::from("allow more with ").knob(Knob::Memory, "500MB")));
    }
    Ok(rows)
}

/// Publishes a table that need not fit into memory: about `memory` is used, whatever its size, and disk beside the
/// release.
///
/// # Guarantees
/// Those of [`crate::publish`]. Whatever happens, no rows are left on disk: neither on any exit, nor after a crash once
/// something is published there again.
pub fn publish_by_cells(
    input: Input,
    recipe: &Recipe,
    memory: Memory,
    place: Place<'_>,
    seed: Seed,
    watch: &dyn Watch,
) -> Result<(Manifest, PublishReport), Error> {
    check(recipe)?;
    let most_rows = most_rows(memory, recipe)?;
    let limits = (memory, most(most_rows), most_rows);
    Stopped::catch(|| by_cells(input, recipe, limits, place, seed, watch))?
}

/// The same with cells of up to about so many rows, for tests.
#[doc(hidden)]
pub fn publish_by_cells_of(
    input: Input,
    recipe: &Recipe,
    most_rows: u64,
    place: Place<'_>,
    seed: Seed,
    watch: &dyn Watch,
) -> Result<(Manifest, PublishReport), Error> {
    check(recipe)?;
    Stopped::catch(|| by_cells(input, recipe, (Memory::default(), u64::MAX, most_rows), place, seed, watch))?
}

fn by_cells(
    input: Input,
    recipe: &Recipe,
    (memory, limit, most_rows): (Memory, u64, u64),
    place: Place<'_>,
    seed: Seed,
    watch: &dyn Watch,
) -> Result<(Manifest, PublishReport), Error> {
    let secret = secret(seed)?;
    let folder = ReleaseFolder::begin(place.out, recipe.format(), place.force)?;
    let spill = Spill::beside(place.out)?;
    let run = Run { recipe, secret: &secret, spill: &spill, folder: &folder, watch };
    let (mut routed, tally) = run.routed(input, memory, most_rows)?;
    for round in 1..=ROUNDS {
        let large = large(&routed.plan, most_rows);
        if large.is_empty() {
            break;
        }
        routed = run.routed_again(routed, &large, most_rows, round)?;
    }
    run.check_cells(&routed.plan, memory, limit)?;
    let cells = run.grouped(&routed)?;
    // LEAK: what groups give away is judged before any of them is written as it would be published.
    let Concluded { mut manifest, report, shared } = concluded(&routed.plan, &cells, recipe, tally, seed, watch)?;
    for (entry, parts) in manifest.tables.iter_mut().zip(run.written(&cells)?) {
        entry.parts = parts;
    }
    for (name, table) in &shared {
        let part = folder.write_part(name, None, table, &|n| watch.tell(n))?;
        manifest.tables.iter_mut().filter(|entry| entry.name == *name).for_each(|entry| {
            entry.parts = vec![part.clone()];
        });
    }
    let manifest = folder.finish(manifest, &|n| watch.tell(n), &|_| Ok(()))?;
    Ok((manifest, report))
}

/// What every step of a run needs.
struct Run<'a> {
    recipe: &'a Recipe,
    secret: &'a Secret,
    spill: &'a Spill,
    folder: &'a ReleaseFolder,
    watch: &'a dyn Watch,
}

/// All rows by cell on disk.
struct Routed {
    plan: CellPlan,
    counts: CellCounts,
    /// By cell, the files that hold its rows.
    files: Vec<Vec<String>>,
}

impl Routed {
    /// Undoes cuts. `files` are those of the cells of the plan as it was drawn.
    fn settled(drawn: &CellPlan, counts: &CellCounts, files: Vec<Vec<String>>, recipe: &Recipe) -> Result<Self, Error> {
        let (plan, became) = settled(drawn, counts, recipe)?;
        let mut together = vec![Vec::new(); plan.n_cells()];
        for (files, &cell) in files.into_iter().zip(&became) {
            together[cell as usize].extend(files);
        }
        let became: Vec<Option<u32>> = became.into_iter().map(Some).collect();
        Ok(Routed { counts: counts.moved(&became, plan.n_cells()), plan, files: together })
    }
}

/// Files that rows are routed to, by cell.
struct Files<'a> {
    spill: &'a Spill,
    round: usize,
    open: BTreeMap<u32, SpillFile>,
}

impl Files<'_> {
    fn add(&mut self, block: &Block) -> Result<(), Error> {
        let file = match self.open.entry(block.cell) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(fresh) => fresh.insert(self.spill.write(&routed(self.round, block.cell))?),
        };
        Ok(file.add(&block.bytes)?)
    }

    /// Hands over what waits, and the names by cell.
    fn finish(self, files: &mut [Vec<String>]) -> Result<(), Error> {
        for (cell, file) in self.open {
            file.finish()?;
            files[cell as usize].push(routed(self.round, cell));
        }
        Ok(())
    }
}

impl Run<'_> {
    /// Steps 1 to 4. Also returns what was done to the rows.
    fn routed(&self, input: Input, memory: Memory, most_rows: u64) -> Result<(Routed, Tally), Error> {
        let Run { recipe, spill, watch, .. } = *self;
        let kept = Kept::read(input, &requests(recipe, watch), spill, memory, watch)?;
        watch.phase("survey", Some(kept.rows), Counted::Rows);
        let mut tally = Tally::default();
        let mut survey = survey_with(recipe, self.secret, &|name| kept.order(name));
        kept.each(recipe, watch, &mut |rows| {
            tally.dropped += rows.dropped;
            add_steps(&mut tally.steps, rows.steps);
            Ok(survey.add(&rows.table)?)
        })?;
        let plan = draw(&survey, recipe, most_rows, watch)?;
        drop(survey);
        watch.phase("route", Some(kept.rows), Counted::Rows);
        watch.detail(&format!("routing {} rows to {} cells", count(kept.rows), count(plan.n_cells() as u64)));
        let mut to = Files { spill, round: 0, open: BTreeMap::new() };
        let mut counts = plan.no_counts();
        kept.each(recipe, watch, &mut |rows| {
            let cells = plan.route(&rows.table)?;
            plan.count_routed(&mut counts, &rows.table, &cells, self.secret)?;
            plan.blocks_of(&rows.table, &cells)?.iter().try_for_each(|block| to.add(block))
        })?;
        let mut files = vec![Vec::new(); plan.n_cells()];
        to.finish(&mut files)?;
        kept.forget()?;
        Ok((Routed::settled(&plan, &counts, files, recipe)?, tally))
    }

    /// Step 4: large cells cut again, by what their own rows say.
    fn routed_again(&self, routed: Routed, large: &[u32], most_rows: u64, round: usize) -> Result<Routed, Error> {
        let Run { recipe, secret, spill, watch, .. } = *self;
        let Routed { plan, counts, files } = routed;
        watch.phase("route", Some(2 * large.iter().map(|&cell| plan.rows(cell)).sum::<u64>()), Counted::Rows);
        watch.detail(&format!("{} cells are too large and are cut again", count(large.len() as u64)));
        let mut surveys = Vec::with_capacity(large.len());
        for &cell in large {
            let mut survey = plan.survey(large.len(), secret);
            self.each_block(&plan, &files[cell as usize], &mut |rows| Ok(survey.add(rows)?))?;
            surveys.push((cell, survey));
        }
        let (drawn, now) = redrawn(&plan, &counts, &surveys, recipe, most_rows)?;
        drop(surveys);
        let mut counts = counts.moved(&now, drawn.n_cells());
        let mut by_cell = vec![Vec::new(); drawn.n_cells()];
        for (names, now) in files.into_iter().zip(now) {
            if let Some(cell) = now {
                by_cell[cell as usize] = names;
                continue;
            }
            let mut to = Files { spill, round, open: BTreeMap::new() };
            self.each_block(&plan, &names, &mut |rows| {
                let cells = drawn.route(rows)?;
                drawn.count_routed(&mut counts, rows, &cells, secret)?;
                drawn.blocks_of(rows, &cells)?.iter().try_for_each(|block| to.add(block))
            })?;
            to.finish(&mut by_cell)?;
            names.iter().try_for_each(|name| spill.remove(name))?;
        }
        Routed::settled(&drawn, &counts, by_cell, recipe)
    }

    /// Hands on the rows of some files, a block at a time.
    fn each_block(
        &self,
        plan: &CellPlan,
        files: &[String],
        each: &mut dyn FnMut(&Table) -> Result<(), Error>,
    ) -> Result<(), Error> {
        for name in files {
            self.spill.blocks(name, &|rows| block_len(plan.whole(), rows), &mut |block| {
                let rows = decode(plan.whole(), block)?;
                each(&rows)?;
                self.watch.tell(rows.rows() as u64);
                Ok::<(), Error>(())
            })?;
        }
        Ok(())
    }

    /// A cell must fit into memory.
    fn check_cells(&self, plan: &CellPlan, memory: Memory, limit: u64) -> Result<(), Error> {
        let all = 0..plan.n_cells() as u32;
        let Some(largest) = all.max_by_key(|&cell| plan.rows(cell)) else { return Ok(()) };
        let rows = plan.rows(largest);
        self.watch.detail(&format!("{} cells, the largest of {} rows", plan.n_cells(), count(rows)));
        if rows <= limit {
            return Ok(());
        }
        let enough = (rows * bytes_per_cell_row(self.recipe) + APART).div_ceil(100_000_000) * 100_000_000;
        let (found, of) = (count(rows), count(plan.whole().rows));
        let message = match plan.is_undone(largest) {
            true => format!(
                "{found} of {of} rows stay together in one cell, because no cut of them was found whose sides would both keep \
                 every promise; that does not fit into {memory} of memory"
            ),
            false => format!(
                "{found} of {of} rows stay together in one cell, because no quasi column tells enough of them apart; that \
                 does not fit into {memory} of memory"
            ),
        };
        let enough = Memory::of(enough).to_string().replace(' ', "");
        Err(Error::request(message, Remedy::from("allow more with ").knob(Knob::Memory, enough)))
    }

    /// Step 5: every cell published on its own, to wait for the numbers of its groups.
    fn grouped(&self, routed: &Routed) -> Result<Vec<CellFacts>, Error> {
        let Run { recipe, secret, spill, watch, .. } = *self;
        let plan = &routed.plan;
        watch.phase("partition", Some(plan.whole().rows), Counted::Rows);
        let quiet = RowsOnly { inner: watch, counts: AtomicBool::new(false) };
        let mut cells: Vec<CellFacts> = Vec::with_capacity(plan.n_cells());
        for (cell, files) in (0_u32..).zip(&routed.files) {
            let made = publish_cell(plan, recipe, secret, cell, &self.rows_of(plan, files)?, &quiet)?;
            spill.keep(&published(cell), &made.to_bytes()?)?;
            cells.push(made.facts);
        }
        Ok(cells)
    }

    /// Step 6: all groups numbered, which takes their number, and the parts written.
    fn written(&self, cells: &[CellFacts]) -> Result<Vec<Vec<PartEntry>>, Error> {
        let Run { secret, spill, folder, watch, .. } = *self;
        let numbers = GroupNumbers::new(secret, cells.iter().map(CellFacts::groups).sum());
        watch.phase("write", None, Counted::Rows);
        let mut parts: Vec<Vec<PartEntry>> =
            cells.first().map_or_else(Vec::new, |facts| vec![Vec::new(); facts.manifest.tables.len()]);
        let mut first = 0;
        for (cell, facts) in (0_u32..).zip(cells) {
            let made = CellRelease::from_bytes(&spill.read(&published(cell))?)?;
            spill.remove(&published(cell))?;
            let part = (cells.len() > 1).then_some(cell as usize + 1);
            for (name, table) in numbered(made.tables, facts.groups(), &numbers, first, watch)? {
                let entry = folder.write_part(&name, part, &table, &|n| watch.tell(n))?;
                let place = facts.manifest.tables.iter().position(|table| table.name == name);
                if let Some(place) = place {
                    parts[place].push(entry);
                }
            }
            first += facts.groups();
        }
        Ok(parts)
    }

    /// The rows of a cell, from its files.
    fn rows_of(&self, plan: &CellPlan, files: &[String]) -> Result<Table, Error> {
        let mut blocks = Vec::new();
        for name in files {
            blocks.extend(self.spill.read(name)?);
            self.spill.remove(name)?;
        }
        Ok(decode(plan.whole(), &blocks)?)
    }
}

/// The file of the rows of a cell, as they were routed in some round.
fn routed(round: usize, cell: u32) -> String {
    format!("rows-{round}-{cell}")
}

/// The file of a cell that is published but not yet numbered.
fn published(cell: u32) -> String {
    format!("made-{cell}")
}

/// Passes on how many rows are grouped, but none of the phases that every cell goes through.
struct RowsOnly<'a> {
    inner: &'a dyn Watch,
    /// Whether rows are being grouped.
    counts: AtomicBool,
}

impl Watch for RowsOnly<'_> {
    fn phase(&self, name: &'static str, _: Option<u64>, counted: Counted) {
        self.counts.store(name == "partition" && counted == Counted::Rows, Ordering::Relaxed);
    }

    fn advance(&self, n: u64) {
        if self.counts.load(Ordering::Relaxed) {
            self.inner.advance(n);
        }
    }

    fn detail(&self, sentence: &str) {
        self.inner.detail(sentence);
    }

    fn note(&self, sentence: &str) {
        self.inner.note(sentence);
    }

    fn stopped(&self) -> bool {
        self.inner.stopped()
    }
}
