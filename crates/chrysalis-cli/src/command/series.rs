use std::process::ExitCode;

use chrysalis::words::{count, counted};
use chrysalis::{SeriesReport, read_ledger};

use crate::args::{Cli, SeriesArgs};
use crate::failure::{DONE, Failure};
use crate::render::{self, Report};

pub(crate) fn run(args: &SeriesArgs, cli: &Cli) -> Result<ExitCode, Failure> {
    let report = read_ledger(&args.ledger)?;
    Report::flattened(blocks(&report), &report)?.print(cli.output)?;
    Ok(ExitCode::from(DONE))
}

fn blocks(report: &SeriesReport) -> Vec<String> {
    let promise = match (report.m, &report.column) {
        (Some(m), Some(column)) => format!("m={m} for {column}"),
        _ => "people are published once".to_owned(),
    };
    let mut facts = vec![("promise", promise), ("people", format!("{} were published", count(report.people)))];
    if report.m.is_some() {
        facts.push(("signatures", count(report.signatures)));
    }
    if let Some(last) = report.releases.last() {
        let room = match last.room {
            0 => "no further newcomer is sure to find a place in such a release without counterfeits".to_owned(),
            n => format!(
                "{} with one and the same value would have found a place in the last release without counterfeits",
                counted(n, "more newcomer")
            ),
        };
        facts.extend(report.m.map(|_| ("room", room)));
    }
    facts.extend(report.unfinished.iter().map(|unfinished| ("unfinished", unfinished.to_string())));
    let row = |release: &chrysalis::ReleaseRecord| {
        let numbers = [
            release.number,
            release.rows,
            release.stay,
            release.newcomers,
            release.changed,
            release.left_out,
            release.counterfeits,
            release.groups,
        ];
        let hash = release.manifest.chars().take(12).collect();
        numbers.into_iter().map(count).chain([hash]).collect()
    };
    let rows: Vec<Vec<String>> = report.releases.iter().map(row).collect();
    let header = ["release", "rows", "stay", "new", "changed", "left out", "counterfeits", "groups", "manifest"];
    let title = format!("A series of {}", counted(report.releases.len() as u64, "release"));
    vec![title, render::table(&header, &rows), render::facts(&facts)]
}
