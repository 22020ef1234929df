//! Loading into a PostgreSQL database.

use std::io::Write;

use chrysalis_table::{Column, Kind, Progress};
use postgres::error::SqlState;
use postgres::{Client, NoTls, Transaction};

use crate::LoadError;
use crate::rows::CopyText;
use crate::schema::{DatabaseSchema, TableSchema, list, quoted};
use crate::target::Server;

/// The comment that marks our tables.
const MARK: &str = "loaded from a chrysalis release";

pub(crate) fn load(schema: &DatabaseSchema<'_>, server: &Server, progress: Progress<'_>) -> Result<(), LoadError> {
    let mut client = connect(server)?;
    let mut transaction = client.transaction().map_err(|error| refused(server, "begin", &error))?;
    // A table in another schema of the search path must not be hit by mistake.
    transaction.batch_execute(&schema_statements(server)).map_err(|error| refused(server, "use the schema", &error))?;
    for table in &schema.tables {
        drop_old(&mut transaction, table, server)?;
    }
    for table in &schema.tables {
        let step = format!("fill `{}`", table.name);
        fill(&mut transaction, table, progress).map_err(|error| match error {
            Trouble::Server(error) => refused(server, &step, &error),
            Trouble::Pipe(error) => {
                // COPY reports errors through a writer; the server's own message is inside.
                let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<postgres::Error>());
                let problem = inner.map_or_else(|| error.to_string(), said);
                LoadError::Refused { place: server.to_string(), step: step.clone(), problem }
            }
        })?;
    }
    transaction.commit().map_err(|error| refused(server, "commit", &error))
}

fn connect(server: &Server) -> Result<Client, LoadError> {
    server.config.connect(NoTls).map_err(|error| {
        let hint = match error.code() {
            Some(&SqlState::INVALID_PASSWORD | &SqlState::INVALID_AUTHORIZATION_SPECIFICATION) => {
                "check the user, and the password in the address or in PGPASSWORD"
            }
            Some(&SqlState::INVALID_CATALOG_NAME) => "create that database first, or name another one",
            Some(_) => "ask whoever runs the server",
            None if error.to_string().contains("password missing") => {
                "give the password in PGPASSWORD, or in the address"
            }
            None if error.to_string().contains("TLS") => {
                "TLS is not supported: connect on the server itself or through a tunnel, with sslmode=prefer"
            }
            None => "check host and port, and that the server runs",
        };
        LoadError::Connect { place: server.to_string(), problem: said(&error), hint }
    })
}

/// What the server said, or why it did not get to say anything; one line, and never the password.
fn said(error: &postgres::Error) -> String {
    if let Some(server) = error.as_db_error() {
        return server.message().to_owned();
    }
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(inner) = source {
        let inner_text = inner.to_string();
        if !text.contains(&inner_text) {
            text = format!("{text}: {inner_text}");
        }
        source = inner.source();
    }
    text
}

fn refused(server: &Server, step: &str, error: &postgres::Error) -> LoadError {
    LoadError::Refused { place: server.to_string(), step: step.to_owned(), problem: said(error) }
}

fn schema_statements(server: &Server) -> String {
    match &server.schema {
        Some(schema) => {
            let schema = quoted(schema);
            format!("CREATE SCHEMA IF NOT EXISTS {schema}; SET LOCAL search_path TO {schema}")
        }
        None => String::new(),
    }
}

fn drop_old(transaction: &mut Transaction<'_>, table: &TableSchema<'_>, server: &Server) -> Result<(), LoadError> {
    let step = format!("replace `{}`", table.name);
    let find = "SELECT coalesce(obj_description(c.oid, 'pg_class') = $2, false) AND c.relkind = 'r' \
                FROM pg_class c JOIN pg_namespace s ON s.oid = c.relnamespace \
                WHERE c.relname = $1 AND s.nspname = current_schema()";
    let found = transaction.query_opt(find, &[&table.name, &MARK]).map_err(|error| refused(server, &step, &error))?;
    match found.map(|row| row.get::<_, bool>(0)) {
        None => Ok(()),
        Some(false) => Err(LoadError::Taken { place: server.to_string(), table: table.name.to_owned() }),
        Some(true) => transaction
            .batch_execute(&format!("DROP TABLE {}", quoted(table.name)))
            .map_err(|error| refused(server, &step, &error)),
    }
}

enum Trouble {
    Server(postgres::Error),
    Pipe(std::io::Error),
}

impl From<postgres::Error> for Trouble {
    fn from(error: postgres::Error) -> Self {
        Trouble::Server(error)
    }
}

fn fill(transaction: &mut Transaction<'_>, table: &TableSchema<'_>, progress: Progress<'_>) -> Result<(), Trouble> {
    let name = quoted(table.name);
    transaction.batch_execute(&create(table))?;
    let copy = CopyText::of(table.rows);
    let mut writer = transaction.copy_in(&format!("COPY {name} FROM STDIN"))?;
    let (mut row, mut lines) = (0, Vec::new());
    while row < table.rows.rows() {
        let n = copy.lines(row, &mut lines);
        writer.write_all(&lines).map_err(Trouble::Pipe)?;
        row += n;
        progress(n as u64);
    }
    writer.finish()?;
    // After the rows: building a key in one go is faster than row by row.
    if !table.primary_key.is_empty() {
        transaction.batch_execute(&format!("ALTER TABLE {name} ADD PRIMARY KEY ({})", list(&table.primary_key)))?;
    }
    if !table.index.is_empty() {
        transaction.batch_execute(&format!("CREATE INDEX ON {name} ({})", list(&table.index)))?;
    }
    transaction.batch_execute(&format!("COMMENT ON TABLE {name} IS '{MARK}'; ANALYZE {name}"))?;
    Ok(())
}

fn create(table: &TableSchema<'_>) -> String {
    let column = |column: &Column| format!("{} {}", quoted(column.name()), type_of(column.domain().kind()));
    let columns: Vec<String> = table.rows.columns().iter().map(column).collect();
    format!("CREATE TABLE {} ({})", quoted(table.name), columns.join(", "))
}

fn type_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Integer => "bigint",
        Kind::Real => "double precision",
        Kind::Date => "date",
        Kind::DateTime => "timestamp",
        Kind::Ordinal | Kind::Category => "text",
    }
}
