use std::process::ExitCode;

use chrysalis::words::csv_line;
use chrysalis::{AuditStatement, Dialect, SqlAudit, audit_as_sql};

use crate::args::{AuditArgs, Cli, Output};
use crate::failure::{DONE, Failure};
use crate::render;

/// Prints the audit of a release as statements for a database.
pub(crate) fn run(args: &AuditArgs, dialect: Dialect, cli: &Cli) -> Result<ExitCode, Failure> {
    let audit =
        audit_as_sql(&args.release, dialect, args.population_table.as_deref(), args.memory.unwrap_or_default())?;
    let text = match cli.output {
        Output::Table => file(&audit, dialect, args.population_table.is_some()),
        Output::Json => {
            let json =
                serde_json::to_string(&audit.statements).map_err(|error| Failure::internal(error.to_string()))?;
            format!("{json}\n")
        }
        Output::Csv => {
            let header = ["name", "about", "promise", "decides", "sql"].map(str::to_owned).to_vec();
            std::iter::once(header).chain(audit.statements.iter().map(row)).map(|row| csv_line(&row)).collect()
        }
    };
    render::write(&text)?;
    Ok(ExitCode::from(DONE))
}

fn row(statement: &AuditStatement) -> Vec<String> {
    let or_empty = |text: &Option<String>| text.clone().unwrap_or_default();
    let (promise, sql) = (or_empty(&statement.promise), or_empty(&statement.sql));
    vec![statement.name.clone(), statement.about.clone(), promise, statement.decides.words().to_owned(), sql]
}

/// A file to run in a database: what it is, how to make the tables visible, and the statements.
fn file(audit: &SqlAudit, dialect: Dialect, has_people: bool) -> String {
    let decided = audit.statements.iter().filter(|statement| statement.sql.is_some()).count();
    let left_out = audit.statements.len() - decided;
    let mut blocks = vec![format!(
        "-- The audit of a release as {decided} statements for {dialect}. Each returns what breaks a promise or a check, and\n\
         -- no row when all is well. What cannot be decided in SQL ({left_out} of {} promises and checks) is said below.\n",
        audit.statements.len()
    )];
    match audit.setup.is_empty() {
        true => {
            let place = if dialect == Dialect::Sqlite { "sqlite:FILE" } else { "postgres://…" };
            blocks.push(format!("-- The tables come first: `chrysalis load RELEASE {place}`.\n"));
            if has_people {
                blocks.push(
                    "-- The people who could be in the data must be in a table `population`, with the quasi columns under\n\
                     -- the names that they have in the release.\n"
                        .to_owned(),
                );
            }
        }
        false => {
            let views: Vec<String> = audit.setup.iter().map(|statement| format!("{statement};\n")).collect();
            blocks.push(format!("-- The tables, as views of the files.\n{}", views.concat()));
        }
    }
    blocks.extend(audit.statements.iter().map(AuditStatement::text));
    blocks.join("\n")
}
