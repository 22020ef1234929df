//! One machine: rows wait on disk for their cell to be published.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use chrysalis_release::{HELP_COLUMNS, Manifest, PartEntry, Values};
use chrysalis_store::{Input, ReleaseFolder, Spill, SpillFile, bytes_per_row};
use chrysalis_table::{Counted, Knob, Memory, Remedy, Role, Stopped, Table, Watch};

use super::reading::Kept;
use super::{
    CellCounts, CellFacts, CellPlan, CellRelease, Concluded, GroupNumbers, Secret, Tally, add_steps, check, concluded,
    decode, draw, numbered, publish_cell, secret, settled, survey,
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
    // A plan from a sample is off by a little.
    let limits = (memory, most_rows + most_rows / 4, most_rows);
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
    let (plan, became, tally) = run.routed(input, memory, most_rows)?;
    run.check_cells(&plan, memory, limit)?;
    let (cells, parts) = run.published(&plan, &became)?;
    let Concluded { mut manifest, report, shared } = concluded(&plan, &cells, recipe, tally, seed, watch)?;
    for (entry, parts) in manifest.tables.iter_mut().zip(parts) {
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

impl Run<'_> {
    /// Steps 1 to 4: all rows by cell on disk. Returns the plan, which cell each of the files belongs to, and what was
    /// done to the rows.
    fn routed(&self, input: Input, memory: Memory, most_rows: u64) -> Result<(CellPlan, Vec<u32>, Tally), Error> {
        let Run { recipe, spill, watch, .. } = *self;
        let requests: Vec<_> =
            recipe.requests.iter().filter(|request| !self.is_suspect(&request.name)).cloned().collect();
        let kept = Kept::read(input, &requests, spill, memory, watch)?;
        watch.phase("survey", Some(kept.rows), Counted::Rows);
        let (mut survey, mut tally) = (survey(recipe, self.secret), Tally::default());
        kept.each(recipe, watch, &mut |rows| {
            tally.dropped += rows.dropped;
            add_steps(&mut tally.steps, rows.steps);
            Ok(survey.add(&rows.table)?)
        })?;
        let plan = draw(&survey, recipe, most_rows, watch)?;
        drop(survey);
        watch.phase("route", Some(kept.rows), Counted::Rows);
        watch.detail(&format!("routing {} rows to {} cells", count(kept.rows), count(plan.n_cells() as u64)));
        let files: Result<Vec<SpillFile>, _> = (0..plan.n_cells()).map(|cell| spill.write(&routed(cell))).collect();
        let (mut files, mut counts) = (files?, CellCounts::default());
        kept.each(recipe, watch, &mut |rows| {
            let cells = plan.route(&rows.table)?;
            counts.merge(&plan.count_routed(&rows.table, &cells)?);
            for block in plan.blocks_of(&rows.table, &cells)? {
                files[block.cell as usize].add(&block.bytes)?;
            }
            Ok(())
        })?;
        files.into_iter().try_for_each(SpillFile::finish)?;
        kept.forget()?;
        let (plan, became) = settled(&plan, &counts, recipe)?;
        Ok((plan, became, tally))
    }

    /// Columns that are read only to see whether people have several rows are not kept: each would be a large
    /// dictionary.
    fn is_suspect(&self, name: &str) -> bool {
        let is_suspect = self.recipe.suspects.iter().any(|known| known == name);
        if is_suspect {
            self.watch.note(&format!(
                "`{name}` sounds as if it tells people apart: whether people have several rows is not looked at in a table \
                 that is published cell by cell"
            ));
        }
        is_suspect
    }

    /// A cell must fit into memory.
    fn check_cells(&self, plan: &CellPlan, memory: Memory, limit: u64) -> Result<(), Error> {
        let largest = (0..plan.n_cells() as u32).map(|cell| plan.rows(cell)).max().unwrap_or(0);
        self.watch.detail(&format!("{} cells, the largest of {} rows", plan.n_cells(), count(largest)));
        if largest <= limit {
            return Ok(());
        }
        let enough = (largest * bytes_per_cell_row(self.recipe) + APART).div_ceil(100_000_000) * 100_000_000;
        let message = format!(
            "{} of {} rows must stay together in one cell, because smaller ones would not keep every promise or no column \
             tells their rows apart; that does not fit into {memory} of memory",
            count(largest),
            count(plan.whole().rows)
        );
        let enough = Memory::of(enough).to_string().replace(' ', "");
        Err(Error::request(message, Remedy::from("allow more with ").knob(Knob::Memory, enough)))
    }

    /// Steps 5 and 6: every cell published on its own; then all groups numbered, which takes their number.
    fn published(&self, plan: &CellPlan, became: &[u32]) -> Result<(Vec<CellFacts>, Vec<Vec<PartEntry>>), Error> {
        let Run { recipe, secret, spill, folder, watch } = *self;
        let n_cells = plan.n_cells() as u32;
        watch.phase("partition", Some(plan.whole().rows), Counted::Rows);
        let quiet = RowsOnly { inner: watch, counts: AtomicBool::new(false) };
        let mut cells: Vec<CellFacts> = Vec::with_capacity(plan.n_cells());
        for cell in 0..n_cells {
            let made = publish_cell(plan, recipe, secret, cell, &self.rows_of(plan, became, cell)?, &quiet)?;
            spill.keep(&published(cell), &made.to_bytes()?)?;
            cells.push(made.facts);
        }
        let total: u64 = cells.iter().map(CellFacts::groups).sum();
        let numbers = GroupNumbers::new(secret, total);
        watch.phase("write", None, Counted::Rows);
        let mut parts: Vec<Vec<PartEntry>> =
            cells.first().map_or_else(Vec::new, |facts| vec![Vec::new(); facts.manifest.tables.len()]);
        let mut first = 0;
        for (cell, facts) in (0_u32..).zip(&cells) {
            let made = CellRelease::from_bytes(&spill.read(&published(cell))?)?;
            spill.remove(&published(cell))?;
            let part = (n_cells > 1).then_some(cell as usize + 1);
            for (name, table) in numbered(made.tables, facts.groups(), &numbers, first, watch)? {
                let entry = folder.write_part(&name, part, &table, &|n| watch.tell(n))?;
                let place = facts.manifest.tables.iter().position(|table| table.name == name);
                place.map(|place| parts[place].push(entry));
            }
            first += facts.groups();
        }
        Ok((cells, parts))
    }

    /// The rows of a cell, from the files of all cells that became it.
    fn rows_of(&self, plan: &CellPlan, became: &[u32], cell: u32) -> Result<Table, Error> {
        let mut blocks = Vec::new();
        for (file, _) in became.iter().enumerate().filter(|(_, now)| **now == cell) {
            blocks.extend(self.spill.read(&routed(file))?);
            self.spill.remove(&routed(file))?;
        }
        Ok(decode(plan.whole(), &blocks)?)
    }
}

/// The file of the rows of a cell.
fn routed(cell: usize) -> String {
    format!("rows-{cell}")
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
