use std::process::ExitCode;

use chrysalis_evaluate::{Divergence, Evaluation, Subspace, evaluate};
use chrysalis_release::Manifest;
use chrysalis_store::read_release;
use serde_json::json;

use super::audit::read_microdata;
use super::publish::flatten;
use crate::args::{Cli, EvaluateArgs};
use crate::failure::{DONE, Failure};
use crate::progress::{Phases, Unit};
use crate::render::{self, Report, count, counted, number};

pub(crate) fn run(args: &EvaluateArgs, cli: &Cli) -> Result<ExitCode, Failure> {
    let mut phases = Phases::new(cli.quiet);
    let release = phases.run("read", None, Unit::Rows, |_| read_release(&args.release))?;
    let microdata = read_microdata(&args.microdata, args.delimiter, &[&release.manifest], &mut phases)?;
    let list = |text: &String| text.split(',').map(|name| name.trim().to_owned()).collect();
    let parts = args.attributes.iter().map(|text| Subspace { attributes: list(text), table: args.table.clone() });
    let subspaces: Vec<Subspace> = std::iter::once(Subspace::whole()).chain(parts).collect();
    let found = phases.run("evaluate", None, Unit::Rows, |_| evaluate(&release, &microdata, &subspaces))?;
    report(&found, &release.manifest).print(cli.output)?;
    Ok(ExitCode::from(DONE))
}

fn report(found: &Evaluation, manifest: &Manifest) -> Report {
    let json = to_json(found, manifest);
    let rows = std::iter::once(vec!["name".to_owned(), "value".to_owned()]).chain(flatten("", &json)).collect();
    Report { blocks: blocks(found, manifest), json, rows }
}

/// JSON has no infinity: a release that excludes somebody is infinitely far away, and null.
fn finite(kl: f64) -> Option<f64> {
    kl.is_finite().then_some(kl)
}

fn to_json(found: &Evaluation, manifest: &Manifest) -> serde_json::Value {
    let divergence = |it: &Divergence| json!({"attributes": it.attributes, "table": it.table, "kl": finite(it.kl), "points": it.points});
    let mean = |sum: f64| sum / found.rows.max(1) as f64;
    let by_attribute: serde_json::Map<String, serde_json::Value> =
        found.ncp_by_attribute.iter().map(|(name, sum)| (name.clone(), json!(mean(*sum)))).collect();
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
    })
}

fn blocks(found: &Evaluation, manifest: &Manifest) -> Vec<String> {
    let promise = if manifest.guarantees.is_empty() { "no promise".into() } else { manifest.guarantees.join(", ") };
    let title = format!("{} by {}, {promise}: {}", manifest.method, manifest.partitioner, counted(found.rows, "row"));
    let row = |it: &Divergence| {
        let kl = finite(it.kl).map_or_else(|| "infinite".to_owned(), |kl| format!("{kl:.4}"));
        vec![it.attributes.join(", "), it.table.clone(), count(it.points), kl]
    };
    let rows: Vec<Vec<String>> = found.divergences.iter().map(row).collect();
    let table = render::table(&["attributes", "from table", "points", "KL-divergence"], &rows);
    let word = if manifest.method == "angel" { "bucket" } else { "group" };
    let mut facts = vec![
        ("loss (NCP)", format!("{} per cell (0 nothing lost, 1 nothing left)", number(found.ncp.mean()))),
        ("DM", u64::try_from(found.discernibility).map_or_else(|_| found.discernibility.to_string(), count)),
    ];
    if let Some(average) = found.average_group_size {
        facts.push(("CAVG", format!("{} (1 is the least a k allows)", number(average))));
    }
    facts.push(("groups", counted(found.groups, word)));
    vec![title, table, render::facts(&facts)]
}
