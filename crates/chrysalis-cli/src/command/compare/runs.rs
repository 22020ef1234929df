//! The releases to compare: those the spec lists, or a set that shows what the methods are like.

use std::collections::BTreeSet;

use chrysalis_criteria::PrincipleSpec;
use chrysalis_table::{ColumnRequest, Role, Table};

use super::reproduce;
use super::spec::{DEFAULT_METHOD, RunSpec, Varied, fill, filled};
use crate::args::{Choices, CompareArgs};
use crate::failure::Failure;
use crate::plan::{Draft, Plan};
use crate::spec::ReleaseSpec;

/// More than this is no comparison any more, and takes forever.
const MAX_RUNS: usize = 200;

/// One release to make.
pub(super) struct Run {
    /// Different for every run.
    pub(super) name: String,
    /// What the run has in common with those that differ in a parameter only.
    pub(super) series: String,
    /// What sets it apart in its series.
    pub(super) varied: Varied,
    pub(super) plan: Plan,
    /// The command that publishes it.
    pub(super) command: String,
}

/// All runs, in order. Every plan is checked before the first row is read.
pub(super) fn runs(draft: &Draft, args: &CompareArgs, header: &[String]) -> Result<Vec<Run>, Failure> {
    let base = RunSpec::from_flags(&args.choices).over(&draft.spec.release);
    let listed = draft.spec.compare.as_ref().map_or(&[][..], |compare| &compare.runs);
    let entries = if listed.is_empty() { usual(draft, args, &base)? } else { listed.to_vec() };
    let mut runs = Vec::new();
    for entry in &entries {
        for varied in combinations(entry)? {
            runs.push(run(draft, args, header, &base, entry, varied).map_err(|failure| match listed.is_empty() {
                true => failure,
                false => failure.about(&format!("run {}", runs.len() + 1)),
            })?);
            if runs.len() > MAX_RUNS {
                let message = format!("[compare] lists more than {MAX_RUNS} runs");
                return Err(Failure::bad_input(message, "compare fewer methods or fewer values at a time"));
            }
        }
    }
    tell_apart(&mut runs);
    Ok(runs)
}

/// A set that shows what the methods are like, as far as they fit what is known of the table.
fn usual(draft: &Draft, args: &CompareArgs, base: &ReleaseSpec) -> Result<Vec<RunSpec>, Failure> {
    let mut runs = Vec::new();
    let is_sensitive = args.choices.sensitive.is_some() || !draft.with_role(Role::Sensitive).is_empty();
    let require = base.require.iter().map(|text| text.parse()).collect::<Result<Vec<PrincipleSpec>, _>>()?;
    let is_k_alone = require.iter().all(|spec| matches!(spec, PrincipleSpec::KAnonymity { .. }));
    if sets(draft, &args.choices).len() > 1 {
        runs.push(RunSpec::of("butterfly", None));
    }
    runs.extend([RunSpec::of("generalize", Some("compact")), RunSpec::of("generalize", Some("mondrian"))]);
    if is_sensitive {
        runs.extend([RunSpec::of("anatomy", Some("nearby")), RunSpec::of("permute", Some("nearby"))]);
    }
    // Angel wants a principle for its batches.
    if is_sensitive && !is_k_alone {
        runs.push(RunSpec::of("angel", Some("nearby")));
    }
    let fits_sorted = |spec: &PrincipleSpec| {
        matches!(spec, PrincipleSpec::KAnonymity { .. } | PrincipleSpec::DistinctL { .. } | PrincipleSpec::Ke { .. })
    };
    if is_sensitive {
        // Sorted values cannot be cut for every principle.
        let partitioner = if require.iter().all(fits_sorted) { "min-sum" } else { "nearby" };
        runs.push(RunSpec::of("shuffle", Some(partitioner)));
    }
    // What the spec itself asks for belongs to the set, unless it is there already.
    let own = RunSpec::default().over(base);
    let is_known = runs
        .iter()
        .map(|run| run.over(base))
        .any(|known| known.method == own.method && (own.partitioner.is_none() || known.partitioner == own.partitioner));
    if own.method.is_some() && !is_known {
        runs.insert(0, RunSpec::default());
    }
    Ok(runs)
}

/// What every user knows, from flags or spec.
fn sets(draft: &Draft, choices: &Choices) -> Vec<Vec<String>> {
    let names = |text: &String| text.split(',').map(|name| name.trim().to_owned()).collect();
    match &choices.quasi[..] {
        [] => draft.spec.quasi_identifiers.clone(),
        flags => flags.iter().map(names).collect(),
    }
}

/// Every combination of what varies; the last name changes fastest.
fn combinations(entry: &RunSpec) -> Result<Vec<Varied>, Failure> {
    let mut all = vec![Varied::new()];
    for (key, values) in &entry.vary {
        if values.is_empty() {
            let message = format!("`{key}` varies over no values");
            return Err(Failure::bad_input(message, format!("list some, for example vary = {{ {key} = [2, 4, 8] }}")));
        }
        if all.len().saturating_mul(values.len()) > MAX_RUNS {
            let message = format!("what varies has more than {MAX_RUNS} combinations");
            return Err(Failure::bad_input(message, "list fewer values, or compare in several steps"));
        }
        let with = |varied: &Varied, text: String| {
            let mut more = varied.clone();
            more.insert(key.clone(), text);
            more
        };
        all = all.iter().flat_map(|varied| values.iter().map(move |value| with(varied, value.text()))).collect();
    }
    Ok(all)
}

fn run(
    draft: &Draft,
    args: &CompareArgs,
    header: &[String],
    base: &ReleaseSpec,
    entry: &RunSpec,
    varied: Varied,
) -> Result<Run, Failure> {
    let release = filled(&entry.over(base), entry.name.as_ref(), &varied)?;
    let method = release.method.clone().unwrap_or_else(|| DEFAULT_METHOD.to_owned());
    // The release stands in the spec now; a flag would win over it.
    let mut choices = Choices {
        quasi: args.choices.quasi.clone(),
        sensitive: args.choices.sensitive.clone(),
        other: args.choices.other.clone(),
        taxonomies: args.choices.taxonomies.clone(),
        intervals: args.choices.intervals.clone(),
        prefixes: args.choices.prefixes.clone(),
        categories: args.choices.categories.clone(),
        weights: args.choices.weights.clone(),
        read: args.choices.read.clone(),
        ..Choices::default()
    };
    let mut spec = draft.spec.clone();
    let sets = sets(draft, &choices);
    if method != "butterfly" && sets.len() > 1 {
        // Methods for one quasi-identifier protect all of them at once.
        let union: Vec<String> = sets.concat().into_iter().collect::<BTreeSet<_>>().into_iter().collect();
        if !choices.quasi.is_empty() {
            choices.quasi = vec![union.join(",")];
        }
        spec.quasi_identifiers = vec![union];
    }
    spec.release = release;
    let own = Draft { spec, source: draft.source.clone(), options: draft.options.clone(), missing: draft.missing };
    let plan = Plan::new(&own, &choices, header)?;
    let partitioner = plan.partitioner.build().name();
    let by = match method.as_str() {
        "butterfly" | "rank-swap" => method.clone(),
        _ => format!("{method} by {partitioner}"),
    };
    let named = (method != "butterfly").then_some(partitioner);
    let command = reproduce::command(args, &choices, &own.spec, &draft.spec.release, named);
    let parameters: Vec<String> = varied.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let parameters = parameters.join(", ");
    let (series, name) = match &entry.name {
        Some(name) if name.contains('{') => (by, fill(name, &varied, &mut Vec::new())?),
        Some(name) if parameters.is_empty() => (name.clone(), name.clone()),
        Some(name) => (name.clone(), format!("{name}, {parameters}")),
        None if parameters.is_empty() => (by.clone(), by),
        None => (by.clone(), format!("{by}, {parameters}")),
    };
    Ok(Run { name, series, varied, plan, command })
}

/// No two runs have the same name: what they promise tells them apart, or else a number.
fn tell_apart(runs: &mut [Run]) {
    let names: Vec<String> = runs.iter().map(|run| run.name.clone()).collect();
    let is_shared = |name: &String| names.iter().filter(|other| *other == name).count() > 1;
    for run in runs.iter_mut().filter(|run| is_shared(&run.name)) {
        let promise: Vec<String> = run.plan.require.iter().map(ToString::to_string).collect();
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
pub(super) fn requests(runs: &[Run]) -> Vec<ColumnRequest> {
    let mut all: Vec<ColumnRequest> = Vec::new();
    for request in runs.iter().flat_map(|run| &run.plan.requests) {
        if all.iter().all(|known| known.name != request.name) {
            all.push(request.clone());
        }
    }
    all
}

/// The columns of one run.
pub(super) fn columns_of(run: &Run, table: &Table) -> Table {
    let columns = run.plan.requests.iter().filter_map(|request| table.column(&request.name)).cloned();
    Table::new(columns.collect())
}
