use std::process::ExitCode;

use chrysalis_evaluate::workload::{self, Accuracy, AggregateAccuracy, Family, QUANTILES, Summary, Workload};
use chrysalis_evaluate::{
    Distance, Distances, Divergence, Evaluation, ReconstructionError, Subspace, distances, evaluate,
    reconstruction_error,
};
use chrysalis_release::{Manifest, Release, RoleName};
use chrysalis_store::read_release;
use chrysalis_table::Table;
use serde_json::{Value, json};

use super::audit::read_microdata;
use super::publish::flatten;
use crate::args::{Cli, EvaluateArgs};
use crate::failure::{DONE, Failure};
use crate::progress::{Phases, Unit};
use crate::randomness::generator;
use crate::render::{self, Report, count, counted, number};

/// Everything that was measured.
struct Measured {
    found: Evaluation,
    distances: Distances,
    reconstruction: Option<ReconstructionError>,
    accuracy: Option<Accuracy>,
    seed: u64,
}

pub(crate) fn run(args: &EvaluateArgs, cli: &Cli) -> Result<ExitCode, Failure> {
    let mut phases = Phases::new(cli.quiet);
    let release = phases.run("read", None, Unit::Rows, |_| read_release(&args.release))?;
    let microdata = read_microdata(&args.microdata, args.delimiter, &[&release.manifest], &mut phases)?;
    check_microdata(&release.manifest, &microdata)?;
    let list = |text: &String| text.split(',').map(|name| name.trim().to_owned()).collect();
    let parts = args.attributes.iter().map(|text| Subspace { attributes: list(text), table: args.table.clone() });
    let subspaces: Vec<Subspace> = std::iter::once(Subspace::whole()).chain(parts).collect();
    let found = phases.run("evaluate", None, Unit::Rows, |_| evaluate(&release, &microdata, &subspaces))?;
    let measured = Measured {
        found,
        distances: phases.run("distances", None, Unit::Rows, |_| distances(&release, &microdata))?,
        reconstruction: reconstruction_error(&release)?,
        accuracy: asked(args, &release, &microdata, &mut phases)?,
        seed: args.seed,
    };
    report(&measured, &release.manifest).print(cli.output)?;
    Ok(ExitCode::from(DONE))
}

/// Whether the table can be the one that was published: nobody is missing, and who is too many has missing values.
fn check_microdata(manifest: &Manifest, microdata: &Table) -> Result<(), Failure> {
    let (published, found) = (manifest.rows, microdata.rows() as u64);
    let may_have_dropped = microdata.columns().iter().any(|column| column.domain().has_missing());
    if found == published || (found > published && may_have_dropped) {
        return Ok(());
    }
    let problem = format!("the release has {}, the microdata {}", counted(published, "row"), count(found));
    Err(Failure::bad_input(problem, "name the table that the release was made of"))
}

fn asked(
    args: &EvaluateArgs,
    release: &Release,
    microdata: &Table,
    phases: &mut Phases,
) -> Result<Option<Accuracy>, Failure> {
    if args.queries == 0 {
        return Ok(None);
    }
    let workload = Workload {
        family: args.workload.unwrap_or_else(|| Family::suited(&release.manifest)),
        queries: args.queries,
        selectivity: args.selectivity,
        dimensions: args.dimensions,
        unordered: Vec::new(),
    };
    let mut rng = generator(Some(args.seed))?;
    let found = phases.run("questions", None, Unit::Rows, |_| workload::ask(release, microdata, workload, &mut rng));
    Ok(Some(found?))
}

fn report(measured: &Measured, manifest: &Manifest) -> Report {
    let json = to_json(measured, manifest);
    let rows = std::iter::once(vec!["name".to_owned(), "value".to_owned()]).chain(flatten("", &json)).collect();
    Report { blocks: blocks(measured, manifest), json, rows }
}

/// JSON has no infinity: a release that excludes somebody is infinitely far away, and null.
fn finite(kl: f64) -> Option<f64> {
    kl.is_finite().then_some(kl)
}

fn to_json(measured: &Measured, manifest: &Manifest) -> Value {
    let found = &measured.found;
    let divergence = |it: &Divergence| json!({"attributes": it.attributes, "table": it.table, "kl": finite(it.kl), "points": it.points});
    let mean = |sum: f64| sum / found.rows.max(1) as f64;
    let by_attribute: serde_json::Map<String, Value> =
        found.ncp_by_attribute.iter().map(|(name, sum)| (name.clone(), json!(mean(*sum)))).collect();
    let distance = |it: &Distance| json!({"attributes": it.attributes, "table": it.table, "distance": it.distance, "bucketed": it.is_bucketed});
    let distances = |all: &[Distance]| all.iter().map(distance).collect::<Vec<_>>();
    json!({
        "method": manifest.method,
        "partitioner": manifest.partitioner,
        "guarantees": manifest.guarantees,
        "rows": found.rows,
        "groups": found.groups,
        "divergences": found.divergences.iter().map(divergence).collect::<Vec<_>>(),
        "ncp": found.ncp.mean(),
        "ncp_sum": found.ncp.sum,
        "ncp_by_attribute": by_attribute,
        "discernibility": u64::try_from(found.discernibility).unwrap_or(u64::MAX),
        "average_group_size": found.average_group_size,
        "rce": measured.reconstruction.map(|it| it.rce),
        "rce_bound": measured.reconstruction.and_then(|it| it.bound),
        "distances": {
            "attributes": distances(&measured.distances.attributes),
            "pairs": distances(&measured.distances.pairs),
        },
        "workload": measured.accuracy.as_ref().map(|accuracy| workload_json(accuracy, measured.seed)),
    })
}

fn workload_json(accuracy: &Accuracy, seed: u64) -> Value {
    let summary = |summary: Option<Summary>| {
        summary.map(|it| {
            let quantiles: serde_json::Map<String, Value> = QUANTILES
                .iter()
                .zip(it.quantiles)
                .map(|(share, value)| (format!("{:.0}%", share * 100.0), json!(value)))
                .collect();
            json!({"mean": it.mean, "median": it.median(), "quantiles": quantiles})
        })
    };
    let aggregate = |it: &AggregateAccuracy| {
        json!({
            "name": it.name,
            "judged": it.judged,
            "inside": it.inside_share(),
            "nonzero": it.nonzero,
            "error": summary(it.error),
            "width": summary(it.width),
        })
    };
    json!({
        "family": accuracy.workload.family.name(),
        "queries": accuracy.workload.queries,
        "selectivity": accuracy.workload.selectivity,
        "dimensions": accuracy.dimensions,
        "seed": seed,
        "aggregates": accuracy.aggregates.iter().map(aggregate).collect::<Vec<_>>(),
    })
}

fn blocks(measured: &Measured, manifest: &Manifest) -> Vec<String> {
    let found = &measured.found;
    let promise = if manifest.guarantees.is_empty() { "no promise".into() } else { manifest.guarantees.join(", ") };
    let title = format!("{} by {}, {promise}: {}", manifest.method, manifest.partitioner, counted(found.rows, "row"));
    let row = |it: &Divergence| {
        let kl = finite(it.kl).map_or_else(|| "infinite".to_owned(), |kl| format!("{kl:.4}"));
        vec![it.attributes.join(", "), it.table.clone(), count(it.points), kl]
    };
    let rows: Vec<Vec<String>> = found.divergences.iter().map(row).collect();
    let divergences = render::table(&["attributes", "from table", "points", "KL-divergence"], &rows);
    let mut blocks = vec![title, divergences, losses(measured, manifest), by_attribute(measured, manifest)];
    if let Some(accuracy) = &measured.accuracy {
        blocks.extend(questions(accuracy, measured.seed));
    }
    blocks
}

fn losses(measured: &Measured, manifest: &Manifest) -> String {
    let found = &measured.found;
    let word = if manifest.method == "angel" { "bucket" } else { "group" };
    let mut facts = vec![
        ("loss (NCP)", format!("{} per cell (0 nothing lost, 1 nothing left)", number(found.ncp.mean()))),
        ("DM", u64::try_from(found.discernibility).map_or_else(|_| found.discernibility.to_string(), count)),
    ];
    if let Some(average) = found.average_group_size {
        facts.push(("CAVG", format!("{} (1 is the least a k allows)", number(average))));
    }
    if let Some(ReconstructionError { rce, bound }) = measured.reconstruction {
        let least =
            bound.map_or(String::new(), |bound| format!(" (the promise allows no less than {})", number(bound)));
        facts.push(("RCE", format!("{}{least}", number(rce))));
    }
    facts.push(("groups", counted(found.groups, word)));
    render::facts(&facts)
}

/// What is lost of every attribute, alone and together with the sensitive one; of pairs of quasi attributes the worst.
fn by_attribute(measured: &Measured, manifest: &Manifest) -> String {
    let Distances { attributes, pairs } = &measured.distances;
    let sensitive = manifest.with_role(RoleName::Sensitive).next().map_or("", |it| it.name.as_str());
    let rows: Vec<Vec<String>> = attributes
        .iter()
        .map(|single| {
            let name = &single.attributes[0];
            let ncp = measured.found.ncp_by_attribute.iter().find(|(known, _)| known == name);
            let ncp = ncp.map_or(String::new(), |(_, sum)| number(sum / measured.found.rows.max(1) as f64));
            let joint = pairs.iter().find(|it| it.attributes[0] == *name && it.attributes[1] == sensitive);
            let joint = joint.map_or(String::new(), |it| number(it.distance));
            vec![name.clone(), ncp, number(single.distance), joint]
        })
        .collect();
    let header = ["attribute", "NCP", "distance", &format!("distance with {sensitive}")];
    let table = render::table(&header, &rows);
    let of_quasi = pairs.iter().filter(|it| it.attributes[1] != sensitive && it.distance > 0.0);
    match of_quasi.max_by(|a, b| a.distance.total_cmp(&b.distance)) {
        Some(worst) => format!("{table}\n  farthest pair  {}: {}", worst.attributes.join(", "), number(worst.distance)),
        None => table,
    }
}

fn questions(accuracy: &Accuracy, seed: u64) -> Vec<String> {
    let Workload { family, queries, selectivity, .. } = accuracy.workload;
    let title = format!(
        "{} of workload {family} about {}, selectivity {selectivity}, seed {seed}",
        counted(queries as u64, "question"),
        counted(accuracy.dimensions as u64, "attribute"),
    );
    let percent = |value: f64| format!("{} %", number(value * 100.0));
    let line = |what: String, summary: &Option<Summary>| {
        let values = summary.map_or_else(
            || vec![String::new(); 6],
            |it| std::iter::once(it.mean).chain(it.quantiles).map(percent).collect(),
        );
        std::iter::once(what).chain(values).collect::<Vec<_>>()
    };
    let mut rows = Vec::new();
    for aggregate in &accuracy.aggregates {
        rows.push(line(format!("{}, error", aggregate.name), &aggregate.error));
        rows.push(line(format!("{}, width of bounds", aggregate.name), &aggregate.width));
    }
    let table = render::table(&["relative to the truth", "mean", "5 %", "25 %", "median", "75 %", "95 %"], &rows);
    let (judged, inside) =
        accuracy.aggregates.iter().fold((0, 0), |(judged, inside), it| (judged + it.judged, inside + it.inside));
    let held = if judged == inside {
        format!("  all {} true answers lie within the bounds", count(judged))
    } else {
        format!("  {} of {} true answers lie OUTSIDE the bounds", count(judged - inside), count(judged))
    };
    vec![title, format!("{table}\n{held}")]
}
