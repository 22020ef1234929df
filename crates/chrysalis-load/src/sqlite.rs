//! Loading into a SQLite file.

use std::path::Path;

use chrysalis_table::{Code, Column, Kind, Progress, Value};
use rusqlite::types::{ToSqlOutput, Value as Field, ValueRef};
use rusqlite::{Connection, ToSql, Transaction};

use crate::LoadError;
use crate::rows::STRIDE;
use crate::schema::{DatabaseSchema, TableSchema, list, quoted};

/// Part of the CREATE statement, whose text SQLite keeps.
const MARK: &str = "/* loaded from a chrysalis release */";

pub(crate) fn load(schema: &DatabaseSchema<'_>, file: &Path, progress: Progress<'_>) -> Result<(), LoadError> {
    let place = format!("sqlite:{}", file.display());
    let cannot_write = |error: rusqlite::Error| LoadError::File { place: place.clone(), problem: said(&error) };
    let mut fresh = Fresh((!file.exists()).then_some(file));
    let mut connection = Connection::open(file).map_err(cannot_write)?;
    load_into(&mut connection, schema, &place, progress)?;
    fresh.0 = None;
    Ok(())
}

/// A file that was not there before: it is removed unless something was written to it, however loading ends.
struct Fresh<'a>(Option<&'a Path>);

impl Drop for Fresh<'_> {
    fn drop(&mut self) {
        let is_empty = |file: &&Path| file.metadata().is_ok_and(|found| found.is_file() && found.len() == 0);
        if let Some(file) = self.0.filter(is_empty) {
            // We created it, so we can remove it; if not, an empty file does no harm.
            let _ = std::fs::remove_file(file);
        }
    }
}

/// Loads into a database that is open.
pub(crate) fn load_into(
    connection: &mut Connection,
    schema: &DatabaseSchema<'_>,
    place: &str,
    progress: Progress<'_>,
) -> Result<(), LoadError> {
    let cannot_write = |error: rusqlite::Error| LoadError::File { place: place.to_owned(), problem: said(&error) };
    let transaction = connection.transaction().map_err(cannot_write)?;
    for table in &schema.tables {
        drop_old(&transaction, table, place)?;
    }
    for table in &schema.tables {
        let refused = |error: rusqlite::Error| {
            // The first statement that writes is the first to meet a read-only file.
            match error.sqlite_error_code() {
                Some(rusqlite::ErrorCode::ReadOnly | rusqlite::ErrorCode::CannotOpen) => cannot_write(error),
                _ => LoadError::Refused {
                    place: place.to_owned(),
                    step: format!("fill `{}`", table.name),
                    problem: said(&error),
                },
            }
        };
        fill(&transaction, table, progress).map_err(refused)?;
    }
    transaction.execute_batch("ANALYZE").and_then(|()| transaction.commit()).map_err(cannot_write)
}

/// The error in one line, without SQLite's code numbers.
pub(crate) fn said(error: &rusqlite::Error) -> String {
    match error {
        rusqlite::Error::SqliteFailure(_, Some(text)) => text.clone(),
        error => error.to_string(),
    }
}

fn drop_old(transaction: &Transaction<'_>, table: &TableSchema<'_>, place: &str) -> Result<(), LoadError> {
    let cannot_write = |error: rusqlite::Error| LoadError::File { place: place.to_owned(), problem: said(&error) };
    let mut find = transaction
        .prepare(
            "SELECT coalesce(sql, '') FROM sqlite_master WHERE name = ?1 COLLATE NOCASE AND type IN ('table', 'view')",
        )
        .map_err(cannot_write)?;
    let found: Result<Vec<String>, _> = find.query_map([table.name], |row| row.get(0)).and_then(Iterator::collect);
    for made_by in found.map_err(cannot_write)? {
        if !made_by.contains(MARK) {
            return Err(LoadError::Taken { place: place.to_owned(), table: table.name.to_owned() });
        }
        transaction.execute_batch(&format!("DROP TABLE {}", quoted(table.name))).map_err(cannot_write)?;
    }
    Ok(())
}

fn fill(transaction: &Transaction<'_>, table: &TableSchema<'_>, progress: Progress<'_>) -> rusqlite::Result<()> {
    transaction.execute_batch(&create(table))?;
    let marks = vec!["?"; table.rows.columns().len()].join(", ");
    let mut insert = transaction.prepare(&format!("INSERT INTO {} VALUES ({marks})", quoted(table.name)))?;
    let columns: Vec<(&Column, Vec<Field>)> =
        table.rows.columns().iter().map(|column| (column, fields(column))).collect();
    for row in 0..table.rows.rows() {
        for (at, (column, fields)) in columns.iter().enumerate() {
            insert.raw_bind_parameter(at + 1, BorrowedField(&fields[column.code(row) as usize]))?;
        }
        insert.raw_execute()?;
        if (row + 1).is_multiple_of(STRIDE) {
            progress(STRIDE as u64);
        }
    }
    progress((table.rows.rows() % STRIDE) as u64);
    if !table.index.is_empty() {
        let name = quoted(&format!("{}_index", table.name));
        transaction.execute_batch(&format!(
            "CREATE INDEX {name} ON {} ({})",
            quoted(table.name),
            list(&table.index)
        ))?;
    }
    Ok(())
}

fn create(table: &TableSchema<'_>) -> String {
    let column = |column: &Column| {
        let not_null = if table.primary_key.iter().any(|name| name == column.name()) { " NOT NULL" } else { "" };
        format!("{} {}{not_null}", quoted(column.name()), type_of(column.domain().kind()))
    };
    let mut parts: Vec<String> = table.rows.columns().iter().map(column).collect();
    let mut end = "";
    if !table.primary_key.is_empty() {
        parts.push(format!("PRIMARY KEY ({})", list(&table.primary_key)));
        // The rows are kept in the order of the key, without a second copy of it.
        end = " WITHOUT ROWID";
    }
    format!("CREATE TABLE {} {MARK} ({}){end}", quoted(table.name), parts.join(", "))
}

fn type_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Integer => "INTEGER",
        Kind::Real => "REAL",
        // Dates are text of the form YYYY-MM-DD, datetimes of the form YYYY-MM-DDTHH:MM:SS with as many decimals as
        // they need: the order of such texts is that of the moments.
        Kind::Date | Kind::DateTime | Kind::Ordinal | Kind::Category => "TEXT",
    }
}

fn fields(column: &Column) -> Vec<Field> {
    let field = |code: Code| match column.domain().value(code) {
        None => Field::Null,
        Some(Value::Integer(number)) => Field::Integer(*number),
        Some(Value::Real(number)) => Field::Real(*number),
        Some(value @ (Value::Date(_) | Value::DateTime(_))) => Field::Text(value.to_string()),
        Some(Value::Text(text)) => Field::Text(text.to_string()),
    };
    (0..column.domain().len() as Code).map(field).collect()
}

/// A field that is bound without being copied.
struct BorrowedField<'a>(&'a Field);

impl ToSql for BorrowedField<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(ValueRef::from(self.0)))
    }
}
