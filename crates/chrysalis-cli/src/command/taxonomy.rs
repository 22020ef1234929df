use std::path::Path;
use std::process::ExitCode;

use chrysalis::table::{Column, Kind, TaxonomyError, TaxonomyFile, propose};
use chrysalis::taxonomy::{CoverageReport, TaxonomyReport};
use chrysalis::words::{count, counted};
use chrysalis::{Error, Watch, files};
use serde_json::json;

use crate::args::{Cli, TaxonomyArgs};
use crate::failure::{AUDIT_FAILED, DONE, Failure};
use crate::progress::Phases;
use crate::render::{self, Report};

pub(crate) fn run(args: &TaxonomyArgs, cli: &Cli) -> Result<ExitCode, Failure> {
    let phases = Phases::new(cli);
    check_effect(args)?;
    let files: Vec<(&Path, TaxonomyFile)> = args
        .files
        .iter()
        .map(|path| Ok((path.as_path(), files::read_taxonomy(path, args.memory.unwrap_or_default())?)))
        .collect::<Result<_, Failure>>()?;
    let column = match (&args.data, &args.column) {
        (Some(data), Some(column)) => Some(read_column(args, data, column, &phases)?),
        _ => None,
    };
    phases.finish();
    match &column {
        Some((column, kind)) if args.propose => {
            print_proposal(column, *kind, cli, &phases)?;
            Ok(ExitCode::from(DONE))
        }
        _ => {
            let is_fine = print_checks(&files, column.as_ref().map(|(column, _)| column), cli)?;
            Ok(ExitCode::from(if is_fine { DONE } else { AUDIT_FAILED }))
        }
    }
}

/// Flags on how to read a table must be about the one column that is read.
fn check_effect(args: &TaxonomyArgs) -> Result<(), Failure> {
    let Some(column) = &args.column else {
        return match args.read.is_silent() {
            true => Ok(()),
            false => Err(Failure::bad_input(
                "no table is read, so options for reading one have no effect",
                "name the table with --data and its column with --column, or leave these options out",
            )),
        };
    };
    match args.read.columns().find(|name| *name != column) {
        Some(other) => {
            let message = format!("only column `{column}` is read, so options for `{other}` have no effect");
            Err(Failure::bad_input(message, "leave it out, or check the spelling"))
        }
        None => Ok(()),
    }
}

/// The column as `publish` would read it together with a taxonomy, and the kind that was asked for.
fn read_column(
    args: &TaxonomyArgs,
    data: &str,
    name: &str,
    phases: &Phases,
) -> Result<(Column, Option<Kind>), Failure> {
    let draft = args.read.over(data)?;
    let input = draft.open()?;
    draft.check_names(input.header(), std::iter::once(&name.to_owned()).chain(draft.attributes.keys()))?;
    let mut request = draft.request(name)?;
    let kind = request.kind;
    request.kind = if args.propose { Some(Kind::Category) } else { kind.or(Some(Kind::Category)) };
    if args.propose {
        request.order.clear();
    }
    let (table, _) = files::read_prepared(&draft, input, &[request], "read", phases)?;
    let source = draft.source_name().unwrap_or_default();
    let (table, _) = table.with_missing(draft.missing_policy()?).map_err(|error| Error::from(error).about(&source))?;
    let column = table.column(name).cloned();
    let column = column.ok_or_else(|| Failure::internal(format!("column `{name}` was not read")))?;
    if column.domain().values().is_empty() {
        let message = format!("column `{name}` of {source} has no value");
        return Err(Failure::bad_input(message, "name another column"));
    }
    Ok((column, kind))
}

/// Prints only the lines of a taxonomy file, because they are meant to become one.
fn print_proposal(column: &Column, kind: Option<Kind>, cli: &Cli, phases: &Phases) -> Result<(), Failure> {
    let failed =
        |error: TaxonomyError| Error::from(error).about(&format!("no taxonomy for column `{}`", column.name()));
    let (file, grouping) = propose(column, kind).map_err(failed)?;
    // A proposal must be acceptable to the program itself.
    file.bind(column.domain()).map_err(failed)?;
    let n_levels = file.n_levels();
    let values = counted(file.n_lines() as u64, "value");
    phases.note(&format!("{values} of `{}` in {n_levels} levels, by {}", column.name(), grouping.name()));
    let owned = |line: Vec<&str>| line.into_iter().map(str::to_owned).collect();
    let levels = (0..n_levels).map(|level| format!("level_{level}")).collect();
    let report = Report {
        blocks: vec![file.lines().map(|line| line.join(";")).collect::<Vec<_>>().join("\n")],
        json: json!({"column": column.name(), "grouping": grouping.name(), "lines": file.lines().collect::<Vec<_>>()}),
        rows: std::iter::once(levels).chain(file.lines().map(owned)).collect(),
    };
    report.print(cli.output)
}

/// Prints the reports, and returns whether every file fits.
fn print_checks(files: &[(&Path, TaxonomyFile)], column: Option<&Column>, cli: &Cli) -> Result<bool, Failure> {
    let report = |(path, file): &(&Path, TaxonomyFile)| TaxonomyReport::new(&path.display().to_string(), file, column);
    let reports = files.iter().map(report).collect::<Result<Vec<_>, _>>()?;
    let is_fine = reports.iter().all(|report| report.problem.is_none());
    let mut blocks = Vec::new();
    let mut rows = vec![["file", "depth", "label", "parent", "values", "rows"].map(str::to_owned).to_vec()];
    for report in &reports {
        let verdict = match (&report.problem, column) {
            (Some(problem), Some(column)) => format!("does NOT fit column `{}`: {problem}", column.name()),
            (None, Some(column)) => format!("fits column `{}`", column.name()),
            (_, None) => "is sound".to_owned(),
        };
        let facts = render::facts(&facts(report));
        blocks.extend([format!("{} {verdict}\n{facts}", report.file), report.tree.drawn()]);
        rows.extend(report.tree.rows(&report.file));
    }
    Report::new(blocks, &json!({"ok": is_fine, "taxonomies": reports}), rows)?.print(cli.output)?;
    Ok(is_fine)
}

/// How many names are spelled out.
const LISTED: usize = 10;

fn listed<'a>(names: impl Iterator<Item = &'a str> + Clone) -> String {
    let n = names.clone().count();
    let mut text = names.take(LISTED).collect::<Vec<_>>().join(", ");
    if n > LISTED {
        text.push_str(&format!(" and {} more", n - LISTED));
    }
    if n == 0 { "none".into() } else { format!("{} ({text})", count(n as u64)) }
}

fn facts(report: &TaxonomyReport) -> Vec<(&'static str, String)> {
    let labels = report.labels_per_level.iter().map(ToString::to_string).collect::<Vec<_>>().join(" / ");
    let mut facts =
        vec![("values", count(report.values)), ("labels per level", format!("{labels}, from values to the root"))];
    if let Some(CoverageReport { column, rows, without_line, never_occur, missing_rows }) = &report.coverage {
        let missing = match missing_rows {
            0 => String::new(),
            rows => format!(", {} without a value (no line needed)", counted(*rows, "row")),
        };
        facts.push(("column", format!("{column}: {}{missing}", counted(*rows, "row"))));
        facts.push(("without a line", listed(without_line.iter().map(|(value, _)| value.as_str()))));
        facts.push(("never occur", listed(never_occur.iter().map(String::as_str))));
    }
    facts
}
