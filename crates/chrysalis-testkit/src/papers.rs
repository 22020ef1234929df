//! The papers' worked tables; `papers/README.md` says where each is printed.

use chrysalis_table::{Code, ColumnRequest, CsvOptions, CsvReader, SaCounts, Table, TaxonomyFile};

macro_rules! files {
    ($($path:literal,)*) => { &[$(($path, include_str!(concat!("../papers/", $path)))),*] };
}

/// Every file, with its text.
pub const FILES: &[(&str, &str)] = files![
    "angel/table-1.csv",
    "angel/table-1b.csv",
    "angel/table-2a.csv",
    "angel/table-2b.csv",
    "angel/table-2c.csv",
    "angel/table-3a.csv",
    "angel/table-3b.csv",
    "angel/table-4a.csv",
    "angel/table-4b.csv",
    "angel/table-5a.csv",
    "angel/table-5b.csv",
    "angel/table-6a.csv",
    "angel/table-6b.csv",
    "angel/table-7a.csv",
    "angel/table-7b.csv",
    "angel/table-7c.csv",
    "angel/table-8.csv",
    "butterfly/occupation.taxonomy.csv",
    "butterfly/table-1.csv",
    "butterfly/table-2.csv",
    "butterfly/table-3.csv",
    "butterfly/table-4.csv",
    "butterfly/vehicle.taxonomy.csv",
    "ke/age.taxonomy.csv",
    "ke/figure-1.csv",
    "ke/figure-2.csv",
    "ke/figure-3.csv",
    "ke/figure-4-help.csv",
    "ke/gender.taxonomy.csv",
    "ke/multiset-min-max-exact.csv",
    "ke/multiset.csv",
    "ke/zipcode.taxonomy.csv",
    "lalpha/age.taxonomy.csv",
    "lalpha/country.taxonomy.csv",
    "lalpha/disease.taxonomy.csv",
    "lalpha/figure-2a.csv",
    "lalpha/table-1.csv",
    "lalpha/table-2.csv",
    "lalpha/table-3.csv",
    "lalpha/table-4.csv",
    "lalpha/table-5.csv",
    "lalpha/table-6.csv",
    "lalpha/table-7.csv",
    "lalpha/table-8-zip_code.taxonomy.csv",
    "lalpha/table-8a.csv",
    "lalpha/table-8b.csv",
    "lalpha/weights.csv",
    "lalpha/zip_code.taxonomy.csv",
    "pa/table-1.csv",
    "pa/table-2.csv",
    "pa/table-3-qit.csv",
    "pa/table-3-st.csv",
    "pa/table-4-pqt.csv",
    "pa/table-4-pst.csv",
];

/// The text of a file.
///
/// # Panics
/// When there is no such file.
pub fn text(path: &str) -> &'static str {
    FILES.iter().find(|(name, _)| *name == path).unwrap_or_else(|| panic!("no file `{path}` in papers/")).1
}

/// A table with all its columns and inferred kinds.
///
/// # Panics
/// When there is no such file, or it is no table.
pub fn table(path: &str) -> Table {
    let options = CsvOptions { delimiter: Some(b','), ..CsvOptions::default() };
    let reader = CsvReader::open(text(path).as_bytes(), &options).unwrap();
    let wanted: Vec<ColumnRequest> = reader.header().iter().map(ColumnRequest::named).collect();
    reader.read(&wanted).unwrap()
}

/// A taxonomy.
///
/// # Panics
/// When there is no such file, or it is no taxonomy.
pub fn taxonomy(path: &str) -> TaxonomyFile {
    TaxonomyFile::parse(text(path)).unwrap()
}

/// The texts of some columns, row by row.
///
/// # Panics
/// When the table lacks a column.
pub fn cells(table: &Table, columns: &[&str]) -> Vec<Vec<String>> {
    let columns: Vec<_> = columns.iter().map(|name| table.column(name).unwrap()).collect();
    let row = |row| columns.iter().map(|column| column.domain().text(column.code(row)).into_owned()).collect();
    (0..table.rows()).map(row).collect()
}

/// The rows that share a value of `column`, value after value.
///
/// # Panics
/// When the table lacks the column.
pub fn groups(table: &Table, column: &str) -> Vec<Vec<u32>> {
    let column = table.column(column).unwrap();
    let mut groups = vec![Vec::new(); column.domain().len()];
    (0u32..).zip(column.codes().iter()).for_each(|(row, code)| groups[code as usize].push(row));
    groups
}

/// How often each value of `column` occurs in some rows.
///
/// # Panics
/// When the table lacks the column.
pub fn counts(table: &Table, column: &str, rows: &[u32]) -> SaCounts {
    let column = table.column(column).unwrap();
    SaCounts::of(column.domain().len(), rows.iter().map(|&row| -> Code { column.code(row as usize) }))
}

/// The categories of lalpha, Table 4, most sensitive first.
pub fn lalpha_categories() -> Vec<Vec<String>> {
    let table = table("lalpha/table-4.csv");
    groups(&table, "category_id")
        .iter()
        .map(|rows| rows.iter().map(|&row| cells(&table, &["disease"])[row as usize][0].clone()).collect())
        .collect()
}
