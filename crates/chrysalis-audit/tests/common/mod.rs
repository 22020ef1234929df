//! The shared data sets, where they are.

// Clippy knows tests by their attribute; helpers of tests have none.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::path::PathBuf;

use chrysalis_table::{ColumnRequest, CsvOptions, CsvReader, Table};

/// All columns of a shared file; `None`, and a line that says so, where it is absent.
pub(crate) fn table(file: &str) -> Option<Table> {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let folder = std::env::var_os("CHRYSALIS_DATA").map_or_else(beside, PathBuf::from);
    let Ok(bytes) = std::fs::File::open(folder.join(file)) else {
        println!("skipped: `{file}` is not here; set CHRYSALIS_DATA to the folder that holds it");
        return None;
    };
    let reader = CsvReader::open(flate2::read::MultiGzDecoder::new(bytes), &CsvOptions::default()).unwrap();
    let wanted: Vec<ColumnRequest> = reader.header().iter().map(ColumnRequest::named).collect();
    Some(reader.read(&wanted).unwrap())
}
