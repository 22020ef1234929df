use std::process::ExitCode;

use serde_json::json;

use super::query::questions;
use crate::args::{Cli, Output, RewriteArgs};
use crate::failure::{DONE, Failure};
use crate::render;

/// What the statements compute.
const ESTIMATES: &str = "-- The bounds of `chrysalis query`, and the estimates of `chrysalis query --estimate even`.\n";

pub(crate) fn run(args: &RewriteArgs, cli: &Cli) -> Result<ExitCode, Failure> {
    let questions = questions(args.question.as_deref(), args.file.as_deref(), &args.tables)?;
    // Statements travel on their own, so they say what they compute.
    let mut text = if cli.output == Output::Table { ESTIMATES.to_owned() } else { String::new() };
    let statements = questions.rewrite(&args.release, args.dialect, args.memory.unwrap_or_default())?;
    for (at, sql) in statements.into_iter().enumerate() {
        match cli.output {
            Output::Table => text.push_str(&format!("{sql};\n")),
            Output::Json => {
                text.push_str(&format!("{}\n", json!({"dialect": args.dialect.name(), "estimate": "even", "sql": sql})))
            }
            Output::Csv => {
                let header = if at == 0 { "sql\n" } else { "" };
                text.push_str(&format!("{header}\"{}\"\n", sql.replace('"', "\"\"")));
            }
        }
    }
    render::write(&text)?;
    Ok(ExitCode::from(DONE))
}
