//! How a database sees the tables of a release: databases that read files get a view of each, under the name that
//! statements use. PostgreSQL and SQLite hold tables of their own, which have to be loaded.

use std::path::{Path, PathBuf};

use chrysalis_dialect::Dialect;
use chrysalis_dialect::view::{Columns, of_csv, of_parquet};
use chrysalis_release::{KindName, Manifest, RoleName, TableEntry};

use crate::PEOPLE;

/// Statements that make the tables of a release in a folder visible; none for databases that hold tables themselves.
pub fn setup(manifest: &Manifest, folder: &Path, dialect: Dialect) -> Vec<String> {
    let view = |table: &TableEntry| {
        let paths: Vec<PathBuf> = table.parts.iter().map(|part| folder.join(&part.file)).collect();
        let columns = table.columns.iter().map(|column| (column.name.as_str(), column.kind)).collect();
        view(&table.name, &paths, columns, dialect, true)
    };
    match dialect {
        Dialect::Postgres | Dialect::Sqlite => Vec::new(),
        Dialect::DuckDb | Dialect::Spark => manifest.tables.iter().map(view).collect(),
    }
}

/// A statement that makes a table of the people who could be in the data visible as `population`; none for databases
/// that hold tables themselves.
pub fn setup_people(manifest: &Manifest, file: &Path, dialect: Dialect) -> Option<String> {
    let columns = manifest.with_role(RoleName::Quasi).map(|it| (it.name.as_str(), it.kind)).collect();
    let reads_files = matches!(dialect, Dialect::DuckDb | Dialect::Spark);
    reads_files.then(|| view(PEOPLE, &[file.to_owned()], columns, dialect, false))
}

/// A view of files, of which the columns are all, or some of them.
fn view(name: &str, files: &[PathBuf], columns: Vec<(&str, KindName)>, dialect: Dialect, are_all: bool) -> String {
    let paths: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    let is_parquet = files.iter().all(|file| file.extension().is_some_and(|end| end == "parquet"));
    if is_parquet {
        return of_parquet(dialect, name, &paths).to_string();
    }
    if dialect == Dialect::Spark {
        return spark_csv(name, files, columns, are_all);
    }
    let columns = columns.into_iter().map(|(name, kind)| (name, duckdb(kind))).collect();
    let columns = if are_all { Columns::All(columns) } else { Columns::Some(columns) };
    of_csv(name, &paths, &columns).to_string()
}

/// Spark's views of CSV files have a clause (`USING csv OPTIONS …`) that the syntax tree of views lacks, so this statement
/// alone is text; its names and texts are escaped like those in trees.
fn spark_csv(name: &str, files: &[PathBuf], columns: Vec<(&str, KindName)>, are_all: bool) -> String {
    let dialect = Dialect::Spark;
    let quote = dialect.name_quote();
    let named = |name: &str| format!("{quote}{}{quote}", dialect.escaped_name(name));
    let columns: Vec<String> =
        columns.into_iter().map(|(name, kind)| format!("{} {}", named(name), spark(kind))).collect();
    // A list of some columns would be taken for the first ones of the file.
    let columns = if are_all { format!(" ({})", columns.join(", ")) } else { String::new() };
    let infer = if are_all { "" } else { ", inferSchema 'true'" };
    let path = dialect.text(&spark_path(files)).0;
    // Otherwise a backslash would escape what follows it, and two quotes inside quotes would be two.
    let options = format!("path {path}, header 'true', nullValue '', escape '\"'{infer}");
    format!("CREATE OR REPLACE TEMPORARY VIEW {}{columns} USING csv OPTIONS ({options})", named(name))
}

/// The one path that a view of files takes: a pattern, if there are several files, which are in the same folder.
fn spark_path(files: &[PathBuf]) -> String {
    // Letters that stand for others in patterns.
    let plain = |text: &str| -> String {
        let escaped = |letter: char| {
            let escape = "{}[]*?\\,".contains(letter).then_some('\\');
            escape.into_iter().chain(std::iter::once(letter))
        };
        text.chars().flat_map(escaped).collect()
    };
    let (Some(first), true) = (files.first(), files.len() > 1) else {
        return files.first().map(|file| plain(&file.display().to_string())).unwrap_or_default();
    };
    let folder = first.parent().unwrap_or(Path::new("")).display().to_string();
    let name = |file: &PathBuf| plain(&file.file_name().unwrap_or_default().to_string_lossy());
    format!("{}/{{{}}}", plain(&folder), files.iter().map(name).collect::<Vec<_>>().join(","))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_in_spark_reads_all_parts_and_cells_in_quotes() {
        let files = ["st-1.csv", "st-2.csv"].map(|name| Path::new("/data/[1], a*").join(name));
        let columns = || vec![("group_id", KindName::Integer), ("dis`ease", KindName::Category)];
        let all = view("st", &files, columns(), Dialect::Spark, true);
        assert_eq!(
            all,
            "CREATE OR REPLACE TEMPORARY VIEW `st` (`group_id` BIGINT, `dis``ease` STRING) USING csv OPTIONS \
             (path '/data/\\\\[1\\\\]\\\\, a\\\\*/{st-1.csv,st-2.csv}', header 'true', nullValue '', escape '\"')"
        );
        let one = view("st", &files[..1], columns(), Dialect::Spark, false);
        assert!(
            one.contains("(path '/data/\\\\[1\\\\]\\\\, a\\\\*/st-1.csv', header")
                && one.ends_with("inferSchema 'true')")
        );
    }
}
