use std::process::ExitCode;

use chrysalis::words::{count, counted, number};
use chrysalis::{EvaluateReport, Manifest, Measures, evaluate, finite, values};
use chrysalis_evaluate::rows::{LearnerScore, MarginalDistance, RowsWorth};
use chrysalis_evaluate::workload::{Accuracy, Summary, Workload};
use chrysalis_evaluate::{Distances, Divergence, ReconstructionError, Subspace};
use chrysalis_release::RoleName;

use super::{evaluate_series, read_microdata, read_whole};
use crate::args::{Cli, EvaluateArgs};
use crate::failure::{DONE, Failure};
use crate::progress::Phases;
use crate::render::{self, Report};

pub(crate) fn run(args: &EvaluateArgs, cli: &Cli) -> Result<ExitCode, Failure> {
    let phases = Phases::new(cli);
    let subspaces = args.attributes.iter();
    let subspaces = subspaces.map(|text| Subspace { attributes: values::names(text), table: args.table.clone() });
    let wrong = |problem: String| Failure::bad_input(format!("workload: {problem}"), "name one of the workloads");
    let measures = Measures {
        subspaces: subspaces.collect(),
        family: args.workload.as_ref().map(|name| values::workload(name).map_err(wrong)).transpose()?,
        queries: args.queries,
        selectivity: args.selectivity,
        dimensions: args.dimensions,
        seed: args.seed,
        estimates: args.estimate,
        about: args.about.clone(),
        worlds: args.worlds,
        target: args.target.clone(),
        holdout: None,
    };
    if !args.others.is_empty() {
        return evaluate_series::run(args, &measures, cli);
    }
    let release = read_whole(&args.release, args.memory, &phases)?;
    let microdata = read_microdata(&args.microdata, &args.source, &[&release.manifest], &phases)?;
    let holdout = args.holdout.as_ref();
    let holdout = holdout.map(|file| read_microdata(file, &args.source, &[&release.manifest], &phases)).transpose()?;
    let measures = Measures { holdout, ..measures };
    let report = evaluate(&release, &microdata, &measures, &phases)?;
    phases.finish();
    Report::flattened(blocks(&report, &release.manifest), &report)?.print(cli.output)?;
    Ok(ExitCode::from(DONE))
}

fn blocks(report: &EvaluateReport, manifest: &Manifest) -> Vec<String> {
    let found = &report.found;
    let promise = if report.guarantees.is_empty() { "no promise".into() } else { report.guarantees.join(", ") };
    let about = report.about.as_ref().map_or_else(String::new, |column| format!(", as far as `{column}` is concerned"));
    let title =
        format!("{} by {}, {promise}: {}{about}", report.method, report.partitioner, counted(found.rows, "row"));
    let row = |it: &Divergence| {
        let kl = finite(it.kl).map_or_else(|| "infinite".to_owned(), |kl| format!("{kl:.4}"));
        vec![it.attributes.join(", "), it.table.clone(), count(it.points), kl]
    };
    let rows: Vec<Vec<String>> = found.divergences.iter().map(row).collect();
    let divergences = render::table(&["attributes", "from table", "points", "KL-divergence"], &rows);
    let mut blocks = vec![title, divergences, losses(report), by_attribute(report, manifest)];
    if let Some(found) = &report.rows {
        blocks.extend(drawn_rows(found));
    }
    if let Some(accuracy) = &report.accuracy {
        blocks.extend(questions(accuracy, report.seed));
    }
    blocks
}

fn losses(report: &EvaluateReport) -> String {
    let found = &report.found;
    let has_buckets = report.method.shape().marginals.is_some();
    let word = if has_buckets { "bucket" } else { "group" };
    let mut facts = vec![
        ("loss (NCP)", format!("{} per cell (0 nothing lost, 1 nothing left)", number(found.ncp.mean()))),
        ("DM", u64::try_from(found.discernibility).map_or_else(|_| found.discernibility.to_string(), count)),
    ];
    if let Some(average) = found.average_group_size {
        facts.push(("CAVG", format!("{} (1 is the least a k allows)", number(average))));
    }
    if let Some(ReconstructionError { rce, bound }) = report.reconstruction {
        let least =
            bound.map_or(String::new(), |bound| format!(" (the promise allows no less than {})", number(bound)));
        facts.push(("RCE", format!("{}{least}", number(rce))));
    }
    facts.push(("groups", counted(found.groups, word)));
    render::facts(&facts)
}

/// The loss of every attribute, alone and with the sensitive one; of the pairs of quasi attributes, only the worst.
fn by_attribute(report: &EvaluateReport, manifest: &Manifest) -> String {
    let Distances { attributes, pairs } = &report.distances;
    let first = manifest.with_role(RoleName::Sensitive).next().map_or("", |it| it.name.as_str());
    let sensitive = report.about.as_deref().unwrap_or(first);
    let rows: Vec<Vec<String>> = attributes
        .iter()
        .map(|single| {
            let name = &single.attributes[0];
            let ncp = report.found.ncp_by_attribute.iter().find(|(known, _)| known == name);
            let ncp = ncp.map_or(String::new(), |(_, sum)| number(sum / report.found.rows.max(1) as f64));
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

/// Distances of drawn rows, and one table of accuracies.
fn drawn_rows(found: &RowsWorth) -> Vec<String> {
    let percent = |share: f64| format!("{} %", number(share * 100.0));
    let line = |it: &MarginalDistance| {
        let sets = format!("{} of {}", counted(it.compared as u64, "set"), counted(it.ways as u64, "column"));
        vec![sets, percent(it.mean), percent(it.max), it.worst.join(", ")]
    };
    let title =
        format!("Rows drawn from the release ({}), against the microdata", counted(found.worlds as u64, "world"));
    let lines: Vec<Vec<String>> = found.marginals.iter().map(line).collect();
    let table = render::table(&["share of rows that differ", "mean", "most", "in"], &lines);
    let mut blocks = vec![format!("{title}\n{table}")];
    if let Some(learning) = &found.learning {
        let score = |it: &LearnerScore| vec![it.learner.name().to_owned(), percent(it.microdata), percent(it.drawn)];
        let most = vec!["most frequent value".to_owned(), percent(learning.majority), percent(learning.majority)];
        let lines: Vec<Vec<String>> = std::iter::once(most).chain(learning.scores.iter().map(score)).collect();
        let title = format!(
            "Accuracy of predicting {}{} in {} microdata rows {}",
            learning.target,
            if learning.is_ranged { " (four ranges)" } else { "" },
            count(learning.tested as u64),
            if learning.is_unpublished { "that were not published" } else { "that were not trained on" },
        );
        blocks.push(format!("{title}\n{}", render::table(&["trained on", "microdata", "drawn rows"], &lines)));
    }
    blocks
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
        if let Some(even) = &aggregate.even {
            rows.push(line(format!("{}, error of even estimates", aggregate.name), &even.error));
        }
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
    let (open, covered) =
        accuracy.aggregates.iter().fold((0, 0), |(open, covered), it| (open + it.open, covered + it.covered));
    let evenly = accuracy.aggregates.iter().map(|it| it.even.map(|even| even.covered)).sum::<Option<u64>>();
    let reach = match open {
        0 => String::new(),
        _ => format!(
            "\n  {} of {} that bounds leave open lie within two standard errors of the estimate{}",
            count(covered),
            count(open),
            evenly.map_or_else(String::new, |evenly| format!(" ({} with even estimates)", count(evenly)))
        ),
    };
    vec![title, format!("{table}\n{held}{reach}")]
}
