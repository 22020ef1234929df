//! The releases to compare: those that are listed, or a default set that shows what the methods are like.

use std::collections::BTreeSet;

use chrysalis::catalogue::{self, MethodEntry};
use chrysalis::store::Input;
use chrysalis::{Draft, Error, QuasiDraft, Recipe, ReleaseDraft, RunDraft};
use chrysalis_criteria::{PopulationSpec, PrincipleSpec, Requirement};
use chrysalis_release::{Detail, Needs};
use chrysalis_table::{ColumnRequest, Knob, Remedy, Table, Watch};

use super::vary::{BlankFiller, VariedValues};

/// The partitioner that not every principle can be asked of.
const TRANSPARENT: &str = "transparent";

/// More runs than this are no longer a comparison, and take forever.
const MAX_RUNS: usize = 200;

/// One release to make.
pub struct Run {
    /// Unique among the runs.
    pub name: String,
    /// The common name of runs that differ only in a parameter.
    pub series: String,
    /// The values that distinguish it in its series.
    pub varied: VariedValues,
    /// Everything that was asked for.
    pub draft: Draft,
    /// The checked draft: what will be done.
    pub recipe: Recipe,
    /// The command with which a door would publish it.
    pub command: String,
}

/// The runs of a draft, checked against the columns of its table before a row is read: those it lists, or a default set
/// that shows what the methods are like. `command` spells how a door would publish one of them.
pub fn runs(draft: &Draft, header: &[String], command: &dyn Fn(&Run) -> String) -> Result<Vec<Run>, Error> {
    if draft.after.as_ref().is_some_and(|after| !after.is_empty()) {
        let message = format!(
            "`{}` has no effect on a comparison: its releases are never handed out, so what they tell beside earlier ones is \
             not judged",
            Knob::After
        );
        let remedy = Remedy::from("leave ").knob(Knob::After, "").words(" out, and name it when you publish");
        return Err(Error::request(message, remedy));
    }
    if draft.like.is_some() {
        let message =
            format!("`{}` has no effect on a comparison, whose runs form groups in ways of their own", Knob::Like);
        let remedy = Remedy::from("leave ").knob(Knob::Like, "").words(" out, and name it when you publish");
        return Err(Error::request(message, remedy));
    }
    let listed = draft.compare.as_ref().map_or(&[][..], |compare| &compare.runs);
    let entries = if listed.is_empty() { usual(draft)? } else { listed.to_vec() };
    let mut runs = Vec::new();
    for entry in &entries {
        for varied in combinations(entry)? {
            let at = runs.len() + 1;
            runs.push(run(draft, header, entry, varied).map_err(|error| match listed.is_empty() {
                true => error,
                false => error.about(&format!("run {at}")),
            })?);
            if runs.len() > MAX_RUNS {
                let message = format!("there are more than {MAX_RUNS} runs to compare");
                return Err(Error::request(message, "compare fewer methods or fewer values at a time"));
            }
        }
    }
    tell_apart(&mut runs);
    for run in &mut runs {
        run.command = command(run);
    }
    Ok(runs)
}

/// The default set, which shows what the methods are like, as far as they fit what is known about the table: methods
/// for several users first, then those that everyone knows.
fn usual(draft: &Draft) -> Result<Vec<RunDraft>, Error> {
    let require = draft.release.require.iter().flatten();
    let require = require.map(|text| text.parse()).collect::<Result<Vec<Requirement>, _>>()?;
    let is_sensitive = !draft.sensitive_columns().is_empty();
    let is_k_alone = require.iter().all(|required| !required.principle.needs_sensitive());
    let has_users = draft.users_know().len() > 1;
    let asks_population = require.iter().any(|required| required.principle.needs_population());
    let fits = |entry: &&MethodEntry| {
        let shape = entry.form.shape();
        let shows_labels = shape.detail == Detail::GroupBoxes;
        // People can be counted only under labels that everybody sees.
        if asks_population && (!shows_labels || shape.has_users) {
            return false;
        }
        // Batches need a principle of their own.
        (!shape.has_users || has_users) && (shows_labels || is_sensitive) && (shape.marginals.is_none() || !is_k_alone)
    };
    let mut methods: Vec<&MethodEntry> = catalogue::METHODS.iter().filter(fits).collect();
    methods.sort_by_key(|entry| (!entry.form.shape().has_users, entry.form.shape().needs == Needs::Numbers));
    let mut runs: Vec<RunDraft> = methods.iter().flat_map(|entry| tried(entry, &require)).collect();
    // The draft's own release belongs to the set, unless it is there already.
    let own = &draft.release;
    let mut is_known = false;
    for run in &runs {
        let known = run.release.clone().over(own)?;
        is_known |= known.method == own.method && (own.partitioner.is_none() || known.partitioner == own.partitioner);
    }
    if own.method.is_some() && !is_known {
        runs.insert(0, RunDraft::default());
    }
    Ok(runs)
}

/// A method with the partitioners it is tried with by default.
fn tried(entry: &MethodEntry, require: &[Requirement]) -> Vec<RunDraft> {
    let is_minimum = |required: &Requirement| {
        matches!(
            required.principle,
            PrincipleSpec::KAnonymity { .. } | PrincipleSpec::DistinctL { .. } | PrincipleSpec::Ke { .. }
        )
    };
    let bounds_presence = |required: &Requirement| {
        matches!(required.principle, PrincipleSpec::OfPopulation(PopulationSpec::DeltaPresence { .. }))
    };
    let run = |name: &Option<&'static str>| {
        // Not every principle can be satisfied by cutting sorted values.
        let is_for_minima = name.and_then(catalogue::partitioner).is_some_and(|found| found.is_for_minima);
        let partitioner = match *name {
            _ if require.iter().any(bounds_presence) => Some("full-domain"),
            Some(_) if is_for_minima && !require.iter().all(is_minimum) => Some("nearby"),
            name => name,
        };
        let release = ReleaseDraft {
            method: Some(entry.form.name().to_owned()),
            partitioner: partitioner.map(str::to_owned),
            ..ReleaseDraft::default()
        };
        RunDraft { release, ..RunDraft::default() }
    };
    let has_proof = require.iter().all(|required| required.principle.may_be_transparent());
    // Groups that are formed without a look at sensitive values say nothing about them.
    let has_use = require.iter().any(|required| required.principle.needs_sensitive());
    let is_offered = |name: &&Option<&'static str>| **name != Some(TRANSPARENT) || (has_proof && has_use);
    let mut runs: Vec<RunDraft> = entry.tried_with.iter().filter(is_offered).map(run).collect();
    // Only one partitioner may be left.
    runs.dedup_by(|a, b| a.release.partitioner == b.release.partitioner);
    runs
}

/// Every combination of the varied values; the last name changes fastest.
fn combinations(entry: &RunDraft) -> Result<Vec<VariedValues>, Error> {
    let mut all = vec![VariedValues::new()];
    for (key, values) in &entry.vary {
        if values.is_empty() {
            let message = format!("`{key}` has no values to vary over");
            return Err(Error::request(
                message,
                format!("list some, such as 2, 4 and 8, or take `{key}` out of `vary`"),
            ));
        }
        if all.len().saturating_mul(values.len()) > MAX_RUNS {
            let message = format!("what varies has more than {MAX_RUNS} combinations");
            return Err(Error::request(message, "list fewer values, or compare in several steps"));
        }
        let with = |varied: &VariedValues, text: String| {
            let mut more = varied.clone();
            more.insert(key.clone(), text);
            more
        };
        all = all.iter().flat_map(|varied| values.iter().map(move |value| with(varied, value.text()))).collect();
    }
    Ok(all)
}

fn run(draft: &Draft, header: &[String], entry: &RunDraft, varied: VariedValues) -> Result<Run, Error> {
    let mut filling = BlankFiller::new(&varied);
    if entry.release.format.is_some() {
        let message = "`format` has no effect on a run: a comparison writes no release";
        return Err(Error::request(message, "leave it out"));
    }
    // A run's own settings replace those of all runs before placeholders are filled in.
    let own = filling.release(&entry.release)?;
    let base = ReleaseDraft {
        require: draft.release.require.clone().filter(|_| own.require.is_none()),
        ..draft.release.clone()
    };
    let base = filling.release(&base)?;
    let name = entry.name.as_ref().map(|name| filling.text(name)).transpose()?;
    filling.check_all_used()?;
    let chosen = Draft { release: own, ..Draft::default() };
    let mut own = chosen.or(Draft { release: base, compare: None, ..draft.clone() });
    let form = own.release.method()?.form;
    let sets = draft.users_know();
    if !form.shape().has_users && sets.len() > 1 {
        // A method for one quasi-identifier protects all of them at once.
        let union: Vec<String> = sets.concat().into_iter().collect::<BTreeSet<_>>().into_iter().collect();
        match &own.quasi {
            Some(_) => own.quasi = Some(QuasiDraft::One(union)),
            None => own.quasi_identifiers = vec![union],
        }
    }
    let recipe = own.check(header)?;
    let by = recipe.partitioner().map_or_else(|| form.name().to_owned(), |by| format!("{form} by {by}"));
    let parameters: Vec<String> = varied.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let parameters = parameters.join(", ");
    let (series, name) = match (&entry.name, name) {
        (Some(pattern), Some(name)) if pattern.contains('{') => (by, name),
        (_, Some(name)) if parameters.is_empty() => (name.clone(), name),
        (_, Some(name)) => (name.clone(), format!("{name}, {parameters}")),
        (_, None) if parameters.is_empty() => (by.clone(), by),
        (_, None) => (by.clone(), format!("{by}, {parameters}")),
    };
    Ok(Run { name, series, varied, draft: own, recipe, command: String::new() })
}

/// Reads the tables of the population that runs are judged by, each once.
pub fn provide_population(runs: &mut [Run], table: &Table, watch: &dyn Watch) -> Result<(), Error> {
    provide_population_of(runs, table, &|_| None, watch)
}

/// The same, where a run's table need not be a file: `given` opens it, if it is known in another way.
pub fn provide_population_of(
    runs: &mut [Run],
    table: &Table,
    given: &dyn Fn(&Draft) -> Option<Result<Input, Error>>,
    watch: &dyn Watch,
) -> Result<(), Error> {
    for at in 0..runs.len() {
        let (known, rest) = runs.split_at_mut(at);
        let Some(run) = rest.first_mut() else { break };
        let file = &run.draft.release.population_table;
        let is_same = |other: &&Run| file.is_some() && other.draft.release.population_table == *file;
        let is_read = known.iter().find(is_same).is_some_and(|other| run.recipe.share_population(&other.recipe));
        if is_read {
            continue;
        }
        match given(&run.draft) {
            Some(input) => run.draft.use_population(&mut run.recipe, input?, table, watch)?,
            None => run.draft.provide_population(&mut run.recipe, table, watch)?,
        }
    }
    Ok(())
}

/// A setting for all runs must have an effect on at least one of them.
pub fn check_effect(said: &ReleaseDraft, runs: &[Run]) -> Result<(), Error> {
    let mut knobs = said.turned();
    knobs.retain(|knob| !runs.iter().any(|run| run.draft.release.turned().contains(knob)));
    let is_method_of = |run: &Run| run.draft.release.method == said.method;
    // Partitioners that find butterflies appear only in the draft.
    let is_partitioner_of = |run: &Run| {
        let of_recipe = run.recipe.partitioner().is_some() && run.recipe.partitioner() == said.partitioner.as_deref();
        of_recipe || run.draft.release.partitioner == said.partitioner
    };
    knobs.extend((said.method.is_some() && !runs.iter().any(is_method_of)).then_some(Knob::Method));
    knobs.extend((said.partitioner.is_some() && !runs.iter().any(is_partitioner_of)).then_some(Knob::Partitioner));
    let Some(&knob) = knobs.first() else { return Ok(()) };
    let message = format!("`{knob}` has no effect on any of the {} releases that are compared", runs.len());
    let remedy = Remedy::from("leave ").knob(knob, "").words(" out, or list runs that it has an effect on: ");
    let remedy = remedy.knob(Knob::Runs, "");
    Err(Error::request(message, remedy))
}

/// Makes names unique: by the promise, or else by a number.
fn tell_apart(runs: &mut [Run]) {
    let names: Vec<String> = runs.iter().map(|run| run.name.clone()).collect();
    let is_shared = |name: &String| names.iter().filter(|other| *other == name).count() > 1;
    for run in runs.iter_mut().filter(|run| is_shared(&run.name)) {
        let promise: Vec<String> = run.recipe.require().iter().map(ToString::to_string).collect();
        run.name = format!("{}, {}", run.name, promise.join(", "));
    }
    let mut seen = BTreeSet::new();
    for run in runs {
        let name = run.name.clone();
        let mut next = 2;
        while !seen.insert(run.name.clone()) {
            run.name = format!("{name} ({next})");
            next += 1;
        }
    }
}

/// Every column that some run needs, once.
pub fn requests(runs: &[Run]) -> Vec<ColumnRequest> {
    let mut all: Vec<ColumnRequest> = Vec::new();
    for request in runs.iter().flat_map(|run| run.recipe.requests()) {
        if all.iter().all(|known| known.name != request.name) {
            all.push(request.clone());
        }
    }
    all
}
