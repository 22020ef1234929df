//! `evaluate` of several releases of a series: one line per release.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use chrysalis::words::{count, number};
use chrysalis::{Measures, ReleaseWorth, SeriesWorth, in_order};

use super::{read_microdata, read_whole};
use crate::args::{Cli, EvaluateArgs};
use crate::failure::{DONE, Failure};
use crate::progress::Phases;
use crate::render::{self, Report};

pub(super) fn run(args: &EvaluateArgs, measures: &Measures, cli: &Cli) -> Result<ExitCode, Failure> {
    let phases = Phases::new(cli);
    let own = (args.release.clone(), args.microdata.clone());
    let others = args.others.iter().map(|(folder, file)| (PathBuf::from(folder), file.display().to_string()));
    let pairs: Vec<(PathBuf, String)> = std::iter::once(own).chain(others).collect();
    check_once(&pairs)?;
    let folders: Vec<PathBuf> = pairs.iter().map(|(folder, _)| folder.clone()).collect();
    let mut worth = SeriesWorth::default();
    for folder in in_order(&folders, args.memory.unwrap_or_default())? {
        // PROOF: the folders in order are some of those that were named.
        let Some((_, file)) = pairs.iter().find(|(named, _)| *named == folder) else { continue };
        let release = read_whole(&folder, args.memory, &phases)?;
        let microdata = read_microdata(file, &args.source, &[&release.manifest], &phases)?;
        worth.add(&release, &microdata, measures, &phases)?;
    }
    phases.finish();
    Report::flattened(blocks(&worth), &worth)?.print(cli.output)?;
    Ok(ExitCode::from(DONE))
}

/// Every release was made from one table.
fn check_once(pairs: &[(PathBuf, String)]) -> Result<(), Failure> {
    let place = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    for (at, (folder, file)) in pairs.iter().enumerate() {
        let is_same = |(known, other): &&(PathBuf, String)| place(known) == place(folder) && other != file;
        if let Some((_, other)) = pairs[..at].iter().find(is_same) {
            let message = format!("{} is named with two tables, {other} and {file}", folder.display());
            return Err(Failure::bad_input(message, "name each release once, with the table that it was made from"));
        }
    }
    Ok(())
}

fn blocks(worth: &SeriesWorth) -> Vec<String> {
    let Some(first) = worth.releases.first() else { return Vec::new() };
    let asked = first.report.accuracy.as_ref().map_or_else(String::new, |accuracy| {
        let workload = &accuracy.workload;
        format!(
            "; {} questions of workload {} about {} attributes",
            count(workload.queries as u64),
            workload.family,
            accuracy.dimensions
        )
    });
    let title = format!("{} releases of a series by {}{asked}", worth.releases.len(), first.report.method);
    let header = ["release", "rows", "counterfeits", "groups", "NCP", "KL", "asked", "mean error", "median", "outside"];
    vec![title, render::table(&header, &worth.releases.iter().map(line).collect::<Vec<_>>())]
}

fn line(it: &ReleaseWorth) -> Vec<String> {
    let (found, percent) = (&it.report.found, |share: f64| format!("{} %", number(share * 100.0)));
    let kl =
        found.divergences.first().and_then(|it| chrysalis::finite(it.kl)).map_or_else(|| "infinite".into(), number);
    let mut cells = vec![count(it.number), count(found.rows), count(it.counterfeits), count(found.groups)];
    cells.extend([number(found.ncp.mean()), kl]);
    let aggregates = it.report.accuracy.iter().flat_map(|accuracy| &accuracy.aggregates);
    let asked = aggregates.clone().find(|one| one.name.starts_with("count")).or(aggregates.clone().next());
    match asked.and_then(|one| Some((one, one.error?))) {
        Some((one, error)) => cells.extend([
            one.name.clone(),
            percent(error.mean),
            percent(error.median()),
            count(one.judged - one.inside),
        ]),
        None => cells.extend(std::iter::repeat_n(String::new(), 4)),
    }
    cells
}
