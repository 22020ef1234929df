//! How a database sees the tables of a release: databases that read files get a view of each, under the name that
//! statements use. PostgreSQL and SQLite hold tables of their own, which have to be loaded.

use std::path::{Path, PathBuf};

use chrysalis_dialect::Dialect;
use chrysalis_release::{KindName, Manifest, TableEntry};

/// One file of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableFile {
    /// Where it is.
    pub path: PathBuf,
    /// Whether it is Parquet; otherwise it is CSV.
    pub is_parquet: bool,
}

/// Statements that make the tables of a release in a folder visible; none for databases that hold tables themselves.
pub fn setup(manifest: &Manifest, folder: &Path, dialect: Dialect) -> Vec<String> {
    let files = |table: &TableEntry| -> Vec<TableFile> {
        let file = |name: &String| TableFile { path: folder.join(name), is_parquet: name.ends_with(".parquet") };
        table.parts.iter().map(|part| file(&part.file)).collect()
    };
    let view = |table: &TableEntry| view(table, &files(table), dialect);
    match dialect {
        Dialect::Postgres | Dialect::Sqlite => Vec::new(),
        Dialect::DuckDb | Dialect::Spark => manifest.tables.iter().map(view).collect(),
    }
}

fn view(table: &TableEntry, files: &[TableFile], dialect: Dialect) -> String {
    let quote = dialect.name_quote();
    let named = |name: &str| format!("{quote}{}{quote}", dialect.escaped_name(name));
    let text = |text: &str| dialect.text(text).0.to_string();
    let path = |file: &TableFile| text(&file.path.display().to_string());
    let paths: Vec<String> = files.iter().map(path).collect();
    let name = named(&table.name);
    let is_parquet = files.iter().all(|file| file.is_parquet);
    match dialect {
        Dialect::Spark if is_parquet => {
            let file = |file: &TableFile| format!("parquet.{}", named(&file.path.display().to_string()));
            let all: Vec<String> = files.iter().map(|it| format!("SELECT * FROM {}", file(it))).collect();
            format!("CREATE OR REPLACE TEMPORARY VIEW {name} AS {}", all.join(" UNION ALL "))
        }
        Dialect::Spark => {
            let columns = table.columns.iter().map(|column| format!("{} {}", named(&column.name), spark(column.kind)));
            let columns: Vec<String> = columns.collect();
            let path = paths.first().map_or("''", String::as_str);
            format!(
                "CREATE OR REPLACE TEMPORARY VIEW {name} ({}) USING csv OPTIONS (path {path}, header 'true', nullValue '')",
                columns.join(", ")
            )
        }
        _ if is_parquet => {
            format!("CREATE OR REPLACE VIEW {name} AS SELECT * FROM read_parquet([{}])", paths.join(", "))
        }
        _ => {
            let columns =
                table.columns.iter().map(|column| format!("{}: '{}'", text(&column.name), duckdb(column.kind)));
            let columns: Vec<String> = columns.collect();
            format!(
                "CREATE OR REPLACE VIEW {name} AS SELECT * FROM read_csv([{}], header = true, nullstr = '', columns = {{{}}})",
                paths.join(", "),
                columns.join(", ")
            )
        }
    }
}

fn duckdb(kind: KindName) -> &'static str {
    match kind {
        KindName::Integer => "BIGINT",
        KindName::Real => "DOUBLE",
        KindName::Date => "DATE",
        KindName::DateTime => "TIMESTAMP",
        KindName::Ordinal | KindName::Category => "VARCHAR",
    }
}

fn spark(kind: KindName) -> &'static str {
    match kind {
        KindName::DateTime => "TIMESTAMP_NTZ",
        KindName::Ordinal | KindName::Category => "STRING",
        other => duckdb(other),
    }
}
