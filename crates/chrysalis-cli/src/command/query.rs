use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;
use std::process::ExitCode;

use chrysalis::report::{AnswerReport, short};
use chrysalis::table::Value;
use chrysalis::words::csv_line;
use chrysalis::{Questions, Watch};
use chrysalis_query::{AggregateAnswer, Answer, AnswerRow};

use crate::args::{Cli, Output, QueryArgs};
use crate::failure::{DONE, Failure};
use crate::progress::Phases;
use crate::render;

/// People write questions by hand: a file larger than this is something else.
const MAX_FILE: u64 = 16 << 20;

pub(crate) fn run(args: &QueryArgs, cli: &Cli) -> Result<ExitCode, Failure> {
    let questions = questions(args.question.as_deref(), args.file.as_deref(), &args.tables)?.estimates(args.estimate);
    let releases: Vec<PathBuf> = std::iter::once(&args.release).chain(&args.others).cloned().collect();
    let answers = questions.ask_series(&releases, args.memory.unwrap_or_default())?;
    let phases = Phases::new(cli);
    for (at, answer) in answers.iter().enumerate() {
        let which = if args.file.is_some() { format!("question {}: ", at + 1) } else { String::new() };
        answer.notes.iter().for_each(|note| phases.note(&format!("{which}{note}")));
    }
    let between = if cli.output == Output::Json { "" } else { "\n" };
    let answers: Vec<String> = answers.iter().map(|answer| shown(answer, cli.output, args.explain)).collect();
    render::write(&answers.join(between))?;
    Ok(ExitCode::from(DONE))
}

/// The one question of the command line, or the questions of a file, with the public tables that they may join.
pub(super) fn questions(
    question: Option<&str>,
    file: Option<&str>,
    tables: &[(String, PathBuf)],
) -> Result<Questions, Failure> {
    let mut questions = match file {
        Some(file) => Questions::of_file(&read(file)?, name(file))?,
        None => Questions::one(question.unwrap_or_default())?,
    };
    for (name, path) in tables {
        questions = questions.with_table(name, &read(&path.display().to_string())?)?;
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

const NUMBERS: [&str; 4] = ["estimate", "lower", "upper", "std_error"];

fn shown(report: &AnswerReport, output: Output, is_explained: bool) -> String {
    match output {
        Output::Json => format!("{}\n", report.json(is_explained)),
        Output::Csv => to_csv(&report.answer),
        Output::Table => {
            let mut text = to_table(&report.answer);
            if is_explained {
                let lines = report.explanation.iter().map(|line| format!("\n  {line}")).collect::<String>();
                text = format!("{text}\n\nWhere the numbers come from{lines}");
            }
            format!("{}\n", render::printable(&text))
        }
    }
}

fn header(answer: &Answer) -> Vec<&str> {
    answer.keys.iter().map(String::as_str).chain(["aggregate"]).chain(NUMBERS).collect()
}

fn numbers(aggregate: &AggregateAnswer) -> [Option<f64>; 4] {
    [aggregate.estimate, aggregate.lower, aggregate.upper, aggregate.std_error]
}

/// One line per row and aggregate.
fn lines<'a>(answer: &'a Answer, number: fn(f64) -> String, null: &'a str) -> impl Iterator<Item = Vec<String>> + 'a {
    let line = move |row: &AnswerRow, aggregate: &AggregateAnswer| {
        let key = |value: &Option<Value>| value.as_ref().map_or_else(|| null.to_owned(), Value::to_string);
        let keys = row.group.iter().map(key);
        let cell = |value: Option<f64>| value.map_or_else(|| null.to_owned(), number);
        keys.chain([aggregate.name.clone()]).chain(numbers(aggregate).map(cell)).collect()
    };
    answer.rows.iter().flat_map(move |row| row.aggregates.iter().map(move |aggregate| line(row, aggregate)))
}

fn to_table(answer: &Answer) -> String {
    if answer.rows.is_empty() {
        return "No row can match.".to_owned();
    }
    render::table(&header(answer), &lines(answer, short, "NULL").collect::<Vec<_>>())
}

fn to_csv(answer: &Answer) -> String {
    let header: Vec<String> = header(answer).into_iter().map(str::to_owned).collect();
    std::iter::once(header).chain(lines(answer, |number| number.to_string(), "")).map(|line| csv_line(&line)).collect()
}
