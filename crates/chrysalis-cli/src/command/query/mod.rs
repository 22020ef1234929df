mod explain;
mod show;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::process::ExitCode;

use chrysalis_query::{Asked, Plan, QueryError, Question, sql};
use chrysalis_release::Manifest;
use chrysalis_store::{read_columns, read_manifest};
use rayon::prelude::*;

use crate::args::{Cli, QueryArgs};
use crate::failure::{DONE, Failure};
use crate::render;

/// Questions are written by people: a file beyond this is something else.
const MAX_FILE: u64 = 64 << 20;

pub(crate) fn run(args: &QueryArgs, cli: &Cli) -> Result<ExitCode, Failure> {
    // Whatever is wrong with a question is said before any table is read.
    let questions = questions(args.question.as_deref(), args.file.as_deref())?;
    let manifest = read_manifest(&args.release)?;
    let plans = plans(&questions, &manifest, args.file.is_some())?;
    let release = read_columns(&args.release, manifest, &wanted(&plans))?;
    let asked = Asked::new(release)?;
    let answers: Vec<_> = plans.par_iter().map(|plan| asked.answer(plan)).collect();
    let mut text = String::new();
    for (at, (plan, answer)) in plans.iter().zip(answers).enumerate() {
        let answer = answer.map_err(|error| located(error, at, args.file.is_some()))?;
        if at > 0 {
            text.push_str(show::between(cli.output));
        }
        text.push_str(&show::answer(&answer, plan, &asked, cli.output, args.explain));
    }
    render::write(&text)?;
    Ok(ExitCode::from(DONE))
}

/// The one question of the command line, or those of a file.
pub(crate) fn questions(question: Option<&str>, file: Option<&str>) -> Result<Vec<Question>, Failure> {
    let Some(file) = file else {
        return Ok(vec![sql::parse_one(question.unwrap_or_default())?]);
    };
    let questions = sql::parse(&read(file)?)?;
    if questions.is_empty() {
        let hint = "write questions such as SELECT COUNT(*) FROM microdata, with ; between them";
        return Err(Failure::bad_input(format!("{} has no question", name(file)), hint));
    }
    Ok(questions)
}

fn name(file: &str) -> &str {
    if file == "-" { "standard input" } else { file }
}

fn read(file: &str) -> Result<String, Failure> {
    let failed =
        |error: io::Error| Failure::bad_input(format!("cannot read {}: {error}", name(file)), "check the path");
    let mut bytes = Vec::new();
    let reader: Box<dyn Read> =
        if file == "-" { Box::new(io::stdin()) } else { Box::new(File::open(file).map_err(failed)?) };
    reader.take(MAX_FILE + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > MAX_FILE {
        let problem = format!("{} is larger than {} MB", name(file), MAX_FILE >> 20);
        return Err(Failure::bad_input(problem, "name a file of questions, or split it"));
    }
    String::from_utf8(bytes)
        .map_err(|_| Failure::bad_input(format!("{} is not UTF-8 text", name(file)), "save it as UTF-8"))
}

pub(crate) fn plans(questions: &[Question], manifest: &Manifest, is_file: bool) -> Result<Vec<Plan>, Failure> {
    let plan = |(at, question)| Plan::new(question, manifest).map_err(|error| located(error, at, is_file));
    questions.iter().enumerate().map(plan).collect()
}

/// Says which question of a file is meant.
pub(crate) fn located(error: QueryError, at: usize, is_file: bool) -> Failure {
    if !is_file {
        return error.into();
    }
    Failure::bad_input(format!("question {}: {error}", at + 1), error.hint())
}

/// All columns that some question needs, by table.
fn wanted(plans: &[Plan]) -> Vec<(String, Vec<String>)> {
    let mut wanted: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for needed in plans.iter().flat_map(Plan::columns) {
        let columns = wanted.entry(needed.table).or_default();
        columns.extend(needed.columns);
        columns.sort_unstable();
        columns.dedup();
    }
    wanted.into_iter().collect()
}
