mod reproduce;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use chrysalis::store::write_files;
use chrysalis::{Seed, Watch, files};
use chrysalis_lab::compare;

use super::place::{check_free, check_page};
use crate::args::{Cli, CompareArgs};
use crate::failure::{AUDIT_FAILED, DONE, Failure};
use crate::progress::Phases;
use crate::render::{self, Report};
use reproduce::TypedCommand;

pub(crate) fn run(args: &CompareArgs, cli: &Cli) -> Result<ExitCode, Failure> {
    let phases = Phases::new(cli);
    let numbers_file = place(&args.report, args.force)?;
    let draft = args.draft()?;
    compare::asking(&draft)?;
    let input = draft.open()?;
    let typed = TypedCommand::new(args)?;
    let mut runs = compare::runs(&draft, input.header(), &|run| typed.command(run))?;
    compare::check_effect(typed.release(), &runs)?;
    runs.iter_mut().try_for_each(|run| draft.provide_key(&mut run.recipe, None, &phases))?;
    let table = files::read(input, &compare::requests(&runs), "read", &phases)?;
    compare::provide_population(&mut runs, &table, &phases)?;
    let found = compare::run(runs, &table, &draft, Seed::from(args.seed), &phases)?;
    phases.finish();
    let numbers = format!("{:#}\n", found.json());
    let page = found.page();
    write_files(&[(&numbers_file, numbers.as_bytes()), (&args.report, page.as_bytes())], args.force)?;
    if args.seed.is_some() {
        phases.note("made with --seed: anybody who knows the seed can undo the randomness. For experiments only.");
    }
    let written = format!("Written: {} and {}", args.report.display(), numbers_file.display());
    Report { json: found.json(), blocks: blocks(&found, written), rows: found.rows() }.print(cli.output)?;
    Ok(ExitCode::from(if found.is_sound() { DONE } else { AUDIT_FAILED }))
}

fn blocks(found: &compare::Report, written: String) -> Vec<String> {
    let table = found.table();
    let mut blocks = vec![table.title, render::table(&table.header, &table.rows)];
    let indented = |lines: Vec<String>| lines.iter().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n");
    if !table.reasons.is_empty() {
        blocks.push(indented(table.reasons));
    }
    if !found.advice.is_empty() {
        blocks.push(indented(found.advice.iter().map(|it| format!("{} {}", it.goal, it.sentence)).collect()));
    }
    blocks.push(written);
    blocks
}

/// The page must end in `.html`, and its numbers go to a `.json` file; neither may exist unless `--force` is given.
fn place(report: &Path, force: bool) -> Result<PathBuf, Failure> {
    check_page(report, "report", "for example --report comparison.html; its numbers go to comparison.json")?;
    let numbers = report.with_extension("json");
    for path in [report, &numbers] {
        check_free(path, "report", force)?;
    }
    Ok(numbers)
}
