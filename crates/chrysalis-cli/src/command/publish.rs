use std::process::ExitCode;

use chrysalis_criteria::PrincipleSpec;
use chrysalis_criteria::loss::average_group_size;
use chrysalis_publish::method::{BucketFacts, ButterflyFacts, Outcome, UserFacts};
use chrysalis_publish::{Recoding, ShownLevel};
use chrysalis_release::{Attribute, Manifest, Published, RoleName};
use chrysalis_store::{Format, Input, check_place, write_release};
use serde_json::json;

use crate::args::{self, Cli, PublishArgs};
use crate::failure::{DONE, Failure};
use crate::maker::{Made, make};
use crate::plan::{Draft, Method, Plan};
use crate::progress::{Phases, Unit};
use crate::randomness::generator;
use crate::render::{self, Report, count, counted, number};
use crate::spec::Spec;

pub(crate) fn run(args: &PublishArgs, cli: &Cli) -> Result<ExitCode, Failure> {
    let mut phases = Phases::new(cli.quiet);
    check_place(&args.out, args.force)?;
    let draft = Draft::new(&args.file, &args.choices.read)?;
    let input = Input::open(&draft.source, &draft.options)?;
    let format = format(&draft.spec, args)?;
    let plan = Plan::new(&draft, &args.choices, input.header())?;
    let size = input.size();
    let table = phases.run("read", size, Unit::Bytes, |progress| input.read_with(&plan.requests, progress))?;
    let table_error = |error| chrysalis_store::StoreError::Table { path: draft.source.name(), error };
    let (table, dropped_rows) = table.with_missing(draft.missing).map_err(table_error)?;
    if table.rows() == 0 {
        return Err(Failure::bad_input("every row lacks a value, so nothing is left", "use --missing as-value"));
    }
    let mut rng = generator(args.seed)?;
    let Made { mut outcome, recoding } = make(&plan, table, &mut rng, &mut phases)?;
    outcome.release.manifest.reproducible = args.seed.is_some();
    let manifest =
        phases.run("write", None, Unit::Rows, |_| write_release(&outcome.release, &args.out, format, args.force))?;
    if args.seed.is_some() {
        phases.note("made with --seed: whoever knows the seed can undo the randomness. For experiments only.");
    }
    if manifest.groups == 1 && manifest.rows > 1 && plan.method != Method::Angel {
        let why = match recoding.as_ref().map(|recoding| recoding.search.proven) {
            None => "no cut left both sides satisfied",
            Some(true) => "no combination of lower levels is better",
            Some(false) => "time ran out before lower levels were found",
        };
        phases.note(&format!("{why}, so all rows are one group: nothing is left of the quasi columns"));
    }
    let recoding = recoding.as_ref();
    let summary =
        Summary { args, plan: &plan, outcome: &outcome, manifest: &manifest, recoding, dropped_rows, phases: &phases };
    summary.report().print(cli.output)?;
    Ok(ExitCode::from(DONE))
}

fn format(spec: &Spec, args: &PublishArgs) -> Result<Format, Failure> {
    match (&args.format, &spec.release.format) {
        (Some(format), _) => Ok(*format),
        (None, Some(text)) => args::format(text)
            .map_err(|error| Failure::bad_input(format!("format: {error}"), "see `chrysalis publish --help`")),
        (None, None) => Ok(Format::default()),
    }
}

/// What the owner wants to know.
struct Summary<'a> {
    args: &'a PublishArgs,
    plan: &'a Plan,
    outcome: &'a Outcome,
    manifest: &'a Manifest,
    recoding: Option<&'a Recoding>,
    dropped_rows: usize,
    phases: &'a Phases,
}

impl Summary<'_> {
    fn report(&self) -> Report {
        let json = self.json();
        let rows = std::iter::once(vec!["name".to_owned(), "value".to_owned()]).chain(flatten("", &json)).collect();
        Report { blocks: self.blocks(), json, rows }
    }

    /// CAVG needs a k: the size no group may fall below.
    fn average_group_size(&self) -> Option<f64> {
        let k = self.manifest.guarantees.iter().filter_map(|text| match text.parse() {
            Ok(PrincipleSpec::KAnonymity { k } | PrincipleSpec::AlphaK { k, .. }) => Some(k),
            _ => None,
        });
        // What a group is depends on who looks.
        let k = k.filter(|_| self.outcome.butterflies.is_none());
        let buckets = self.outcome.angelization.as_ref().and_then(|angel| angel.buckets.first());
        let groups = buckets.map_or(self.manifest.groups, |facts| facts.buckets);
        k.max().map(|k| average_group_size(self.manifest.rows, groups, k))
    }

    fn json(&self) -> serde_json::Value {
        let (outcome, manifest) = (self.outcome, self.manifest);
        let by_attribute: serde_json::Map<String, serde_json::Value> = outcome
            .ncp_by_attribute
            .iter()
            .map(|(name, sum)| (name.clone(), json!(sum / manifest.rows as f64)))
            .collect();
        let phases: serde_json::Map<String, serde_json::Value> =
            self.phases.done().iter().map(|(name, seconds)| ((*name).to_owned(), json!(seconds))).collect();
        let dropped: Vec<_> =
            self.plan.dropped.iter().map(|(name, reason)| json!({"name": name, "reason": reason})).collect();
        let mut json = json!({
            "out": self.args.out.display().to_string(),
            "method": manifest.method,
            "partitioner": manifest.partitioner,
            "guarantees": manifest.guarantees,
            "rows": manifest.rows,
            "groups": manifest.groups,
            "smallest_group": outcome.group_sizes.0,
            "largest_group": outcome.group_sizes.1,
            "dropped_rows": self.dropped_rows,
            "dropped_columns": dropped,
            "ncp": outcome.ncp.mean(),
            "ncp_sum": outcome.ncp.sum,
            "ncp_by_attribute": by_attribute,
            "discernibility": u64::try_from(outcome.discernibility).unwrap_or(u64::MAX),
            "average_group_size": self.average_group_size(),
            "reproducible": manifest.reproducible,
            "seconds": self.phases.seconds(),
            "phases": phases,
        });
        if let (Some(recoding), Some(members)) = (self.recoding, json.as_object_mut()) {
            members.extend(self.recoding_json(recoding));
        }
        if let (Some(angel), Some(members)) = (&outcome.angelization, json.as_object_mut()) {
            let bucket = |facts: &BucketFacts| {
                let (smallest, largest) = facts.sizes;
                let sizes = json!({"buckets": facts.buckets, "smallest_bucket": smallest, "largest_bucket": largest});
                (facts.table.clone(), sizes)
            };
            let buckets: serde_json::Map<String, serde_json::Value> = angel.buckets.iter().map(bucket).collect();
            members.insert("buckets".into(), json!(buckets));
            members.insert("is_simple_generalization".into(), json!(angel.is_simple));
        }
        if let (Some(facts), Some(members)) = (&outcome.butterflies, json.as_object_mut()) {
            members.extend(self.butterfly_json(facts));
        }
        json
    }

    /// What every user sees, and what the union run would have cost.
    fn butterfly_json(&self, facts: &ButterflyFacts) -> serde_json::Map<String, serde_json::Value> {
        let rows = self.manifest.rows as f64;
        let user = |user: &UserFacts| {
            json!({
                "attributes": user.attributes,
                "classes": user.classes,
                "smallest_class": user.sizes.0,
                "largest_class": user.sizes.1,
            })
        };
        let union: serde_json::Map<String, serde_json::Value> =
            facts.union_by_attribute.iter().map(|(name, sum)| (name.clone(), json!(sum / rows))).collect();
        let tally = &facts.tally;
        let members = [
            ("butterflies", json!(facts.butterflies)),
            ("quasi_identifiers", json!(facts.users.iter().map(user).collect::<Vec<_>>())),
            ("union_ncp_sum", json!(facts.union_loss())),
            ("union_ncp_by_attribute", json!(union)),
            ("saved", json!(self.saved(facts))),
            (
                "nodes",
                json!({
                    "looked_at": tally.nodes,
                    "passed_by_body": tally.passed_by_body,
                    "passed_by_bound": tally.passed_by_bound,
                    "built": tally.built,
                    "kept": tally.kept,
                }),
            ),
        ];
        members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// The share of the union run's loss that butterflies save.
    fn saved(&self, facts: &ButterflyFacts) -> f64 {
        let union = facts.union_loss();
        if union > 0.0 { (union - self.outcome.ncp.sum) / union } else { 0.0 }
    }

    fn butterfly_facts(&self, facts: &ButterflyFacts) -> Vec<(&'static str, String)> {
        let promise = self.manifest.guarantees.join(", ");
        let mut lines = Vec::new();
        for user in &facts.users {
            let (smallest, largest) = (count(user.sizes.0), count(user.sizes.1));
            let classes = format!("{} of {smallest} to {largest} rows", counted(user.classes, "class"));
            lines.push(("every class", format!("{promise} for {}: {classes}", user.attributes.join(", "))));
        }
        let saved = format!("{:.1} %", 100.0 * self.saved(facts));
        let union = number(facts.union_loss() / self.outcome.ncp.cells as f64);
        lines.push((
            "butterflies",
            format!("{}, {saved} less lost than by one class for all users ({union})", count(facts.butterflies)),
        ));
        lines
    }

    /// What every group satisfies, and for angel what its buckets do.
    fn promises(&self) -> Vec<(&'static str, String)> {
        if let Some(facts) = &self.outcome.butterflies {
            return self.butterfly_facts(facts);
        }
        let Some(angel) = &self.outcome.angelization else {
            let kept = &self.manifest.guarantees;
            let promise = if kept.is_empty() { "nothing is promised".into() } else { kept.join(", ") };
            return vec![("every group", promise)];
        };
        let of_batches: Vec<String> = self.plan.of_groups().iter().map(ToString::to_string).collect();
        let is_k_kept = self.manifest.guarantees.len() == self.plan.require.len();
        let mut facts = vec![("every batch", of_batches.join(", "))];
        facts.extend(is_k_kept.then(|| ("every bucket", format!("k={}", self.plan.angel.k))));
        for bucket in &angel.buckets {
            let (smallest, largest) = (count(bucket.sizes.0), count(bucket.sizes.1));
            let text = format!("{} of {smallest} to {largest} rows", counted(bucket.buckets, "bucket"));
            facts.push(("buckets", format!("{}: {text}", bucket.table)));
        }
        if angel.is_simple {
            let advice = if is_k_kept { "" } else { "; for larger buckets ask for a k, such as --require k=10" };
            let text = "the simple generalization reconstructs better: its groups are batches and buckets";
            facts.push(("note", format!("{text}{advice}")));
        }
        facts
    }

    /// Levels, suppressed rows, and how far the search went.
    fn recoding_json(&self, recoding: &Recoding) -> serde_json::Map<String, serde_json::Value> {
        let quasi = self.manifest.with_role(RoleName::Quasi).zip(&recoding.levels);
        let level = |(attribute, shown): (&Attribute, &ShownLevel)| {
            (attribute.name.clone(), json!({"level": shown.level, "top": shown.top}))
        };
        let levels: serde_json::Map<String, serde_json::Value> = quasi.map(level).collect();
        let search = &recoding.search;
        let nodes = u64::try_from(search.nodes).unwrap_or(u64::MAX);
        let members = [
            ("suppressed_rows", json!(self.manifest.suppressed)),
            ("levels", json!(levels)),
            ("metric", json!(search.metric)),
            ("nodes_checked", json!(search.checked)),
            ("nodes", json!(nodes)),
            ("proven_optimal", json!(search.proven)),
        ];
        members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// The first thing an owner must know.
    fn suppressed(&self) -> Option<String> {
        let suppressed = self.manifest.suppressed;
        let percent = 100.0 * suppressed as f64 / self.manifest.rows as f64;
        (suppressed > 0).then(|| {
            let rows = counted(suppressed, "row");
            format!("Suppressed {rows} ({percent:.2} %): shown fully generalized, as one group that satisfies the principles too")
        })
    }

    fn search(&self) -> Option<(&'static str, String)> {
        let search = &self.recoding?.search;
        let nodes = u64::try_from(search.nodes).map_or_else(|_| search.nodes.to_string(), count);
        let checked = format!("{} of {nodes} combinations of levels checked", count(search.checked));
        let (verdict, why) = if search.proven { ("proven", "") } else { ("NOT proven", ", time ran out") };
        Some(("search", format!("{verdict} optimal for {}{why} ({checked})", search.metric)))
    }

    fn blocks(&self) -> Vec<String> {
        let (outcome, manifest) = (self.outcome, self.manifest);
        let has_groups = manifest.groups > 0;
        let groups = if has_groups { format!(" in {}", counted(manifest.groups, "group")) } else { String::new() };
        let title = format!("Published {}{groups} to {}", counted(manifest.rows, "row"), self.args.out.display());
        let mean_size = manifest.rows as f64 / manifest.groups as f64;
        let by = if has_groups { format!(" by {}", manifest.partitioner) } else { String::new() };
        let mut facts = vec![("method", format!("{}{by}", manifest.method))];
        facts.extend(self.promises());
        let (least, most) = outcome.group_sizes;
        if has_groups {
            let name = if outcome.angelization.is_some() { "batch size" } else { "group size" };
            facts.push((name, format!("{} to {}, {mean_size:.1} on average", count(least), count(most))));
        }
        let loss = number(outcome.ncp.mean());
        facts.push(("loss (NCP)", format!("{loss} per cell (0 nothing lost, 1 nothing left)")));
        facts.extend(self.search());
        if self.dropped_rows > 0 {
            facts.push(("dropped rows", format!("{} with missing values", count(self.dropped_rows as u64))));
        }
        for reason in ["identifier", "holds the groups", "not named"] {
            let names = self.plan.dropped.iter().filter(|(_, why)| *why == reason).map(|(name, _)| name.as_str());
            let names = names.collect::<Vec<_>>().join(", ");
            if !names.is_empty() {
                facts.push(("left out", format!("{names} ({reason})")));
            }
        }
        let files = manifest.tables.iter().map(|table| format!("{} ({})", table.file, counted(table.rows, "row")));
        facts.push(("files", files.collect::<Vec<_>>().join(", ")));
        let phases = self.phases.done().iter().map(|(name, seconds)| format!("{name} {seconds:.2}"));
        let phases = phases.collect::<Vec<_>>().join(", ");
        facts.push(("seconds", format!("{:.2} ({phases})", self.phases.seconds())));
        let suppressed = self.suppressed();
        std::iter::once(title).chain(suppressed).chain([self.attributes(), render::facts(&facts)]).collect()
    }

    fn attributes(&self) -> String {
        let mut levels = self.recoding.into_iter().flat_map(|recoding| &recoding.levels);
        let rows: Vec<Vec<String>> = self
            .manifest
            .attributes
            .iter()
            .map(|attribute| {
                let level = if attribute.role == RoleName::Quasi { levels.next() } else { None };
                let level = level.map_or_else(String::new, |shown| format!("{} of {}", shown.level, shown.top));
                let published = match attribute.published {
                    Published::Exact => "exact",
                    Published::Permuted => "permuted",
                    Published::Generalized => "generalized",
                };
                let loss = self.outcome.ncp_by_attribute.iter().find(|(name, _)| *name == attribute.name);
                let loss = loss.map_or_else(String::new, |(_, sum)| number(sum / self.manifest.rows as f64));
                let role = serde_json::to_value(attribute.role).ok();
                let kind = chrysalis_table::Kind::from(attribute.kind);
                let role = role.and_then(|role| role.as_str().map(str::to_owned)).unwrap_or_default();
                let shown = [attribute.name.clone(), role, kind.to_string(), published.to_owned()];
                shown.into_iter().chain(self.recoding.map(|_| level)).chain([loss]).collect()
            })
            .collect();
        let header = ["attribute", "role", "kind", "published", "level", "loss"];
        let header: Vec<&str> = header.into_iter().filter(|name| *name != "level" || self.recoding.is_some()).collect();
        render::table(&header, &rows)
    }
}

/// JSON as name and value, one line per leaf.
pub(crate) fn flatten(prefix: &str, value: &serde_json::Value) -> Vec<Vec<String>> {
    let join = |key: &str| if prefix.is_empty() { key.to_owned() } else { format!("{prefix}.{key}") };
    match value {
        serde_json::Value::Object(map) => map.iter().flat_map(|(key, value)| flatten(&join(key), value)).collect(),
        serde_json::Value::Array(items) => {
            items.iter().enumerate().flat_map(|(at, value)| flatten(&join(&at.to_string()), value)).collect()
        }
        serde_json::Value::String(text) => vec![vec![prefix.to_owned(), text.clone()]],
        serde_json::Value::Null => vec![vec![prefix.to_owned(), String::new()]],
        other => vec![vec![prefix.to_owned(), other.to_string()]],
    }
}
