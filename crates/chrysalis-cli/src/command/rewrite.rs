use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;

use chrysalis_query::rewrite::{looked_at, rewrite};
use chrysalis_store::{read_columns, read_manifest};
use serde_json::json;

use super::query::{located, plans, questions};
use crate::args::{Cli, Output, RewriteArgs};
use crate::failure::{DONE, Failure};
use crate::render;

pub(crate) fn run(args: &RewriteArgs, cli: &Cli) -> Result<ExitCode, Failure> {
    let is_file = args.file.is_some();
    let questions = questions(args.question.as_deref(), args.file.as_deref())?;
    let manifest = read_manifest(&args.release)?;
    let plans = plans(&questions, &manifest, is_file)?;
    let mut wanted: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (table, columns) in plans.iter().flat_map(looked_at) {
        wanted.entry(table).or_default().extend(columns);
    }
    let wanted: Vec<(String, Vec<String>)> =
        wanted.into_iter().map(|(table, columns)| (table, columns.into_iter().collect())).collect();
    let release = read_columns(&args.release, manifest, &wanted)?;
    let mut text = String::new();
    for (at, plan) in plans.iter().enumerate() {
        let sql = rewrite(plan, &release, args.dialect).map_err(|error| located(error, at, is_file))?;
        match cli.output {
            Output::Table => text.push_str(&format!("{sql};\n")),
            Output::Json => text.push_str(&format!("{}\n", json!({"dialect": args.dialect.name(), "sql": sql}))),
            Output::Csv => {
                let header = if at == 0 { "sql\n" } else { "" };
                text.push_str(&format!("{header}\"{}\"\n", sql.replace('"', "\"\"")));
            }
        }
    }
    render::write(&text)?;
    Ok(ExitCode::from(DONE))
}
