use chrysalis_release::Release;
use chrysalis_table::{Table, no_progress};
use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};

use crate::schema::DatabaseSchema;
use crate::{LoadError, sqlite};

type Function = fn(f64) -> f64;

const PLACE: &str = "the SQLite database in memory";

/// A SQLite database in memory, gone when it is dropped: for callers that want answers and know no database.
pub struct Database {
    connection: Connection,
}

impl Database {
    /// An empty database.
    pub fn new() -> Result<Database, LoadError> {
        let connection = Connection::open_in_memory().map_err(|error| refused("open", &error))?;
        // The linked SQLite was built without its mathematical functions, which rewritten questions use.
        let functions: [(&str, Function); 3] = [("sqrt", f64::sqrt), ("ln", f64::ln), ("exp", f64::exp)];
        let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
        for (name, function) in functions {
            let call = move |context: &Context<'_>| Ok(context.get::<Option<f64>>(0)?.map(function));
            connection
                .create_scalar_function(name, 1, flags, call)
                .map_err(|error| refused("add a function", &error))?;
        }
        Ok(Database { connection })
    }

    /// Creates and fills the release's tables, with the keys and indexes that [`load`](crate::load) gives them.
    pub fn load(&mut self, release: &Release) -> Result<(), LoadError> {
        sqlite::load_into(&mut self.connection, &DatabaseSchema::of(release)?, PLACE, &no_progress)
    }

    /// Creates and fills a table that belongs to no release, without keys and indexes.
    pub fn add(&mut self, name: &str, rows: &Table) -> Result<(), LoadError> {
        sqlite::load_into(&mut self.connection, &DatabaseSchema::of_table(name, rows)?, PLACE, &no_progress)
    }

    /// Runs a statement to its end and returns the numbers of its rows; `None` where a field is not a number.
    pub fn run(&self, statement: &str) -> Result<Vec<Vec<Option<f64>>>, LoadError> {
        let numbers = |row: &Row<'_>| {
            let n_columns = row.as_ref().column_count();
            (0..n_columns).map(|at| row.get_ref(at).map(number)).collect::<rusqlite::Result<Vec<_>>>()
        };
        let mut prepared = self.connection.prepare(statement).map_err(|error| refused("read a statement", &error))?;
        let rows = prepared.query_map([], numbers).and_then(Iterator::collect);
        rows.map_err(|error| refused("run a statement", &error))
    }
}

fn number(value: ValueRef<'_>) -> Option<f64> {
    match value {
        ValueRef::Integer(number) => Some(number as f64),
        ValueRef::Real(number) => Some(number),
        ValueRef::Null | ValueRef::Text(_) | ValueRef::Blob(_) => None,
    }
}

fn refused(step: &str, error: &rusqlite::Error) -> LoadError {
    // SQLite repeats the statement, which may be long.
    let problem = sqlite::said(error).chars().take(200).collect();
    LoadError::Refused { place: PLACE.to_owned(), step: step.to_owned(), problem }
}
