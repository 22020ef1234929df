//! Public tables for questions, read from CSV.

use chrysalis_table::{CsvOptions, CsvReader};

use crate::Error;

/// The header and the rows of a small CSV file. Cells are texts; an empty one is missing.
pub(crate) fn read(name: &str, text: &str) -> Result<(Vec<String>, Vec<Vec<String>>), Error> {
    let reader =
        CsvReader::open(text.as_bytes(), &CsvOptions::default()).map_err(|error| Error::from(error).about(name))?;
    let header: Vec<String> = reader.header().to_vec();
    let wanted: Vec<chrysalis_table::ColumnRequest> = header
        .iter()
        .map(|column| chrysalis_table::ColumnRequest::of_kind(column, chrysalis_table::Kind::Category))
        .collect();
    let table = reader.read(&wanted).map_err(|error| Error::from(error).about(name))?;
    let cell = |column: &chrysalis_table::Column, row: usize| {
        column.domain().value(column.codes().get(row)).map(ToString::to_string).unwrap_or_default()
    };
    let rows = (0..table.rows()).map(|row| table.columns().iter().map(|column| cell(column, row)).collect());
    Ok((header, rows.collect()))
}
