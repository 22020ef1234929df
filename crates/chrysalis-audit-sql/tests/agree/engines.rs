//! Databases that hold the tables of a release, honest or not, without keys.

use chrysalis_audit_sql::Dialect;
use chrysalis_load::Database;
use chrysalis_release::Release;
use chrysalis_table::{Kind, Table};
use chrysalis_testkit::engines::{Engine, PostgresServer};

/// A database under test.
pub(crate) enum Judge {
    Sqlite(Box<Database>),
    DuckDb(Engine),
    Postgres(
        Box<postgres::Client>,
        #[expect(dead_code, reason = "the server stops when it is dropped")] PostgresServer,
    ),
}

impl Judge {
    pub(crate) fn sqlite() -> Judge {
        Judge::Sqlite(Box::new(Database::new().unwrap()))
    }

    pub(crate) fn duckdb(folder: &std::path::Path) -> Option<Judge> {
        Engine::duckdb(folder).map(Judge::DuckDb)
    }

    pub(crate) fn postgres() -> Option<Judge> {
        let server = PostgresServer::start()?;
        let client = postgres::Client::connect(&server.address("chrysalis"), postgres::NoTls).unwrap();
        Some(Judge::Postgres(Box::new(client), server))
    }

    pub(crate) fn dialect(&self) -> Dialect {
        match self {
            Judge::Sqlite(_) => Dialect::Sqlite,
            Judge::DuckDb(_) => Dialect::DuckDb,
            Judge::Postgres(..) => Dialect::Postgres,
        }
    }

    /// Replaces whatever tables there are by those of a release.
    pub(crate) fn take(&mut self, release: &Release) {
        let tables = || release.manifest.tables.iter().map(|entry| entry.name.as_str()).zip(&release.tables);
        let dialect = self.dialect();
        match self {
            Judge::Sqlite(database) => {
                **database = Database::new().unwrap();
                tables().for_each(|(name, table)| database.add(name, table).unwrap());
            }
            Judge::DuckDb(engine) => {
                for (name, table) in tables() {
                    for statement in created(name, table, dialect) {
                        engine.ask(&statement).unwrap_or_else(|said| panic!("{said}: {statement}"));
                    }
                }
            }
            Judge::Postgres(client, _) => {
                client.batch_execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public").unwrap();
                for (name, table) in tables() {
                    created(name, table, dialect).iter().for_each(|it| client.batch_execute(it).unwrap());
                }
            }
        }
    }

    /// Adds a table, or replaces it.
    pub(crate) fn add(&mut self, name: &str, table: &Table) {
        let dialect = self.dialect();
        match self {
            Judge::Sqlite(database) => {
                // A table that is not there yet cannot be dropped.
                database.run(&format!("DROP TABLE IF EXISTS \"{name}\"")).unwrap();
                database.add(name, table).unwrap();
            }
            Judge::DuckDb(engine) => {
                for statement in created(name, table, dialect) {
                    engine.ask(&statement).unwrap_or_else(|said| panic!("{said}: {statement}"));
                }
            }
            Judge::Postgres(client, _) => {
                client.batch_execute(&format!("DROP TABLE IF EXISTS \"{name}\"")).unwrap();
                created(name, table, dialect).iter().for_each(|it| client.batch_execute(it).unwrap());
            }
        }
    }

    /// How many rows a statement returns.
    pub(crate) fn count(&mut self, sql: &str) -> Result<usize, String> {
        match self {
            Judge::Sqlite(database) => database.run(sql).map(|rows| rows.len()).map_err(|error| error.to_string()),
            Judge::DuckDb(engine) => engine.ask(sql).map(|rows| rows.len()),
            Judge::Postgres(client, _) => {
                let said = client
                    .simple_query(sql)
                    .map_err(|error| error.as_db_error().map_or_else(|| error.to_string(), ToString::to_string))?;
                Ok(said.iter().filter(|it| matches!(it, postgres::SimpleQueryMessage::Row(_))).count())
            }
        }
    }
}

/// Statements that create and fill a table, in DuckDB or PostgreSQL.
fn created(name: &str, table: &Table, dialect: Dialect) -> Vec<String> {
    let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
    let kind = |kind: Kind| match kind {
        Kind::Integer => "BIGINT",
        Kind::Real => "DOUBLE PRECISION",
        Kind::Date => "DATE",
        Kind::DateTime => "TIMESTAMP",
        Kind::Ordinal | Kind::Category => "TEXT",
    };
    let columns: Vec<String> = table
        .columns()
        .iter()
        .map(|column| format!("{} {}", quoted(column.name()), kind(column.domain().kind())))
        .collect();
    let replace = if dialect == Dialect::DuckDb { "CREATE OR REPLACE TABLE" } else { "CREATE TABLE" };
    let mut all = vec![format!("{replace} {} ({})", quoted(name), columns.join(", "))];
    let cell = |row: usize| {
        let cells = table.columns().iter().map(|column| match column.domain().value(column.code(row)) {
            None => "NULL".to_owned(),
            Some(value) if column.domain().kind().is_numeric() => value.to_string(),
            Some(value) => format!("'{}'", value.to_string().replace('\'', "''")),
        });
        format!("({})", cells.collect::<Vec<_>>().join(", "))
    };
    let rows: Vec<usize> = (0..table.rows()).collect();
    all.extend(rows.chunks(500).map(|rows| {
        let rows: Vec<String> = rows.iter().map(|&row| cell(row)).collect();
        format!("INSERT INTO {} VALUES {}", quoted(name), rows.join(", "))
    }));
    all
}
