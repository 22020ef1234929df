use chrysalis_publish::method::Outcome;
use chrysalis_publish::{Job, Microdata};
use chrysalis_release::{Accepted, Release};
use chrysalis_table::{Knob, Remedy, Stopped, Table, Unwatched, Watch};

use crate::partitioner::Choice;
use crate::prepare::Nobody;
use crate::report::{PublishReport, SeriesStep};
use crate::words::counted;
use crate::{
    Error, PreparedColumn, Recipe, Remembered, Seed, after, assumptions, disclosure, persons, population, series,
    weight,
};

/// A release, and what the owner wants to know about it.
#[derive(Debug)]
pub struct Published {
    /// The release, which may be handed out.
    pub release: Release,
    /// How it was made, and what it costs.
    pub report: PublishReport,
    /// For a release of a series: what its ledger is to say once it is there.
    pub remembered: Option<Remembered>,
}

/// Carries out a recipe on a table that has the columns it asks for.
///
/// # Guarantees
/// The release promises what was seen to hold in the groups it shows, and nothing else. It depends on the rows as a
/// set, not on their order or on the number of threads. A release made with a fixed seed is marked as such.
///
/// # Errors
/// It is an error if rows would be disclosed, or if a column kept as it is looks as if it identified people, unless the
/// recipe accepts that risk by name.
pub fn publish(table: Table, recipe: &Recipe, seed: Seed, watch: &dyn Watch) -> Result<Published, Error> {
    if recipe.memory.is_some() {
        let message = format!("`{}` has no effect on a table that is in memory already", Knob::Memory);
        let remedy = Remedy::from("leave ").knob(Knob::Memory, "").words(" out, or publish a file to a folder");
        return Err(Error::request(message, remedy));
    }
    let whole = WholeTable::of(table, recipe, watch)?;
    carried_out(whole, recipe, seed, Refusal::OfDisclosure, watch)
}

/// The same for releases that are only compared and never handed out: disclosed rows are counted, but stop nothing.
pub fn publish_to_compare(table: Table, recipe: &Recipe, seed: Seed, watch: &dyn Watch) -> Result<Published, Error> {
    publish_whole(WholeTable::of(table, recipe, &Unwatched)?, recipe, seed, watch)
}

/// The same for a table that is prepared already.
pub(crate) fn publish_whole(
    table: WholeTable,
    recipe: &Recipe,
    seed: Seed,
    watch: &dyn Watch,
) -> Result<Published, Error> {
    carried_out(table, recipe, seed, Refusal::Never, watch)
}

/// The table to publish: without rows that lack a value, if the recipe drops them, and with its columns prepared.
#[derive(Clone)]
pub(crate) struct WholeTable {
    pub(crate) table: Table,
    dropped_rows: usize,
    prepared: Vec<PreparedColumn>,
}

impl WholeTable {
    pub(crate) fn of(table: Table, recipe: &Recipe, watch: &dyn Watch) -> Result<WholeTable, Error> {
        Stopped::catch(|| {
            let table = persons::noticed(table, recipe, watch);
            let (table, dropped_rows) = complete(table, recipe)?;
            recipe.preparation.notes(&table).iter().for_each(|note| watch.note(note));
            let (table, prepared) = recipe.preparation.carry_out(table, recipe.key.as_ref(), Nobody::Refused)?;
            Ok(WholeTable { table, dropped_rows, prepared })
        })?
    }
}

/// What stops a publication whose promises are kept.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// Risks that were not accepted by name.
    OfDisclosure,
    Never,
}

fn carried_out(
    whole: WholeTable,
    recipe: &Recipe,
    seed: Seed,
    refusal: Refusal,
    watch: &dyn Watch,
) -> Result<Published, Error> {
    Stopped::catch(|| {
        let WholeTable { table, dropped_rows, prepared } = whole;
        let mut rng = seed.generator()?;
        let once = recipe.series.as_ref().filter(|plan| plan.only_new);
        let (table, left_out) = match once {
            Some(plan) => series::without_known(table, plan, watch)?,
            None => (table, 0),
        };
        // Everybody is known from now on, whatever is dropped at random.
        let all_new = once.map(|plan| (plan, table.clone()));
        let (table, followed) = match recipe.series.as_ref().filter(|plan| !plan.only_new) {
            Some(plan) => {
                series::Followed::new(table, plan, recipe, watch).map(|(table, followed)| (table, Some(followed)))?
            }
            None => (table, None),
        };
        let (table, surplus_rows) = match &recipe.persons {
            Some(plan) => persons::without_surplus(table, plan, &mut rng)?,
            None => (table, 0),
        };
        if let Some(name) = recipe.weight() {
            weight::check_values(&table, name)?;
        }
        let mut data = Microdata::new(table, &recipe.attributes)?.showing_together(&recipe.together)?;
        population::check_read(recipe)?;
        if let Some(people) = &recipe.population {
            data = data.within(people.prepared(recipe)?);
        }
        if let Some(plan) = &recipe.persons {
            data = data.of_persons(&plan.spec)?;
        }
        disclosure::check_constant(&data)?;
        let identifying = disclosure::identifying(&data);
        if refusal == Refusal::OfDisclosure {
            disclosure::identifiers_among_quasi(&data, &|column| column.histogram())
                .iter()
                .for_each(|note| watch.note(note));
            assumptions::of(&data, &recipe.require).iter().for_each(|note| watch.note(note));
            disclosure::check_identifying(&identifying, recipe)?;
        }
        let partitioner = recipe.build_partitioner();
        watch.detail(&told(&data, recipe));
        let mut job = Job::new(&data, &recipe.require, &*partitioner, &mut rng, watch);
        if let Some(followed) = &followed {
            job = job.after(&followed.past);
        }
        let mut outcome = job.run(&*recipe.method())?;
        settle(&mut outcome, &data, recipe, identifying, refusal)?;
        let after = match refusal {
            Refusal::OfDisclosure => after::check(&data, &outcome.release, recipe, watch)?,
            Refusal::Never => None,
        };
        let of_series = followed.zip(outcome.series.as_ref());
        let remembered = of_series.map(|(followed, groups)| followed.remembered(&data, groups, watch)).transpose()?;
        let mut published = finished(outcome, recipe, dropped_rows as u64, seed, watch);
        measure(&mut published.report, &data, recipe);
        published.remembered = match all_new {
            Some((plan, table)) => {
                Some(series::remembered_once(&table, plan, (published.release.manifest.groups, left_out))?)
            }
            None => remembered,
        };
        published.report.series = published.remembered.as_ref().and_then(Remembered::release).map(SeriesStep::from);
        published.report.after = after;
        published.report.prepared = prepared;
        published.report.surplus_rows = recipe.persons.as_ref().and_then(|plan| plan.most_rows).map(|_| surplus_rows);
        Ok(published)
    })?
}

/// Refuses what the recipe does not accept, and completes the manifest.
pub(crate) fn settle(
    outcome: &mut Outcome,
    data: &Microdata,
    recipe: &Recipe,
    identifying: Vec<(String, String)>,
    refusal: Refusal,
) -> Result<(), Error> {
    let found = outcome.disclosure.clone().unwrap_or_default();
    let is_accepted = recipe.accepted.contains(&Accepted::Disclosure) || refusal == Refusal::Never;
    if found.disclosed_rows > 0 && !is_accepted {
        return Err(disclosure::refused(data, recipe, &found));
    }
    let mut accepted = recipe.accepted.clone();
    if refusal == Refusal::Never {
        accepted.push(Accepted::Disclosure);
        accepted.extend(identifying.into_iter().map(|(name, _)| Accepted::Identifying(name)));
    }
    // Accepted risks are recorded only if they were needed.
    accepted.retain(|risk| *risk != Accepted::Disclosure || found.disclosed_rows > 0);
    accepted.dedup();
    outcome.release.manifest.accepted = accepted;
    outcome.release.manifest.transparent = recipe.partitioner == Choice::Transparent;
    for (name, steps) in recipe.prepared() {
        let attributes = outcome.release.manifest.attributes.iter_mut();
        attributes.filter(|attribute| attribute.name == name).for_each(|it| it.prepared = Some(steps.clone()));
    }
    if let Some(name) = recipe.weight() {
        weight::mark(&mut outcome.release, name);
    }
    Ok(())
}

/// Reports how promises were measured. Principles that are not promised were not.
pub(crate) fn measure(report: &mut PublishReport, data: &Microdata, recipe: &Recipe) {
    let mut measured = data.measured(&recipe.require);
    measured.retain(|(principle, _)| report.guarantees.contains(principle));
    report.measured = measured;
}

/// A line that says what is about to be done.
fn told(data: &Microdata, recipe: &Recipe) -> String {
    let by = recipe.partitioner().map_or_else(String::new, |name| format!(" by {name}"));
    let require: Vec<String> = recipe.require.iter().map(ToString::to_string).collect();
    let (rows, quasi) = (counted(data.rows() as u64, "row"), counted(data.quasi().len() as u64, "quasi column"));
    format!("publishing {rows} with {quasi}: {}{by}, {}", recipe.form, require.join(", "))
}

/// The rows to publish: without those that lack a value, if the recipe drops them.
fn complete(table: Table, recipe: &Recipe) -> Result<(Table, usize), Error> {
    let (table, dropped) = table.with_missing(recipe.missing).map_err(|error| recipe.in_source(error.into()))?;
    if table.rows() > 0 {
        return Ok((table, dropped));
    }
    Err(nothing_left())
}

/// The error for a table all of whose rows were dropped.
pub(crate) fn nothing_left() -> Error {
    let remedy = Remedy::from("use ").knob(Knob::Missing, "as-value");
    Error::request("every row lacks a value, so nothing is left", remedy)
}

pub(crate) fn finished(
    mut outcome: Outcome,
    recipe: &Recipe,
    dropped_rows: u64,
    seed: Seed,
    watch: &dyn Watch,
) -> Published {
    outcome.release.manifest.reproducible = seed.is_fixed();
    let manifest = &outcome.release.manifest;
    if manifest.partitioner == "sequential" {
        watch.note("groups of `sequential` follow the order of the input and give it away: for comparisons only");
    }
    if !manifest.method.shape().may_promise {
        watch.note(&format!("{} guarantees nothing: for comparisons only", manifest.method));
    }
    let mut notes = Vec::new();
    if manifest.groups == 1 && manifest.rows > 1 && manifest.method.shape().marginals.is_none() {
        let why = match outcome.recoding.as_ref().map(|recoding| recoding.search.proven) {
            None => "no cut satisfies the principles on both sides",
            Some(true) => "no combination of lower levels is better",
            Some(false) => "time ran out before lower levels were found",
        };
        notes.push(format!("{why}, so all rows are one group: nothing is left of the quasi columns"));
    }
    let report = PublishReport { notes, ..PublishReport::new(&outcome, recipe, dropped_rows) };
    Published { release: outcome.release, report, remembered: None }
}
