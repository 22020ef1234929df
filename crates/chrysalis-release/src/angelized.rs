//! The form of `angel`: sensitive values per batch in one table, generalized quasi values per bucket in others.
//!
//! `bt`(batch_id, sensitive, count), one row per batch and sensitive value; `gt`(per ordered quasi attribute `a`: `a_min`,
//! `a_max`; per category: its label; other…; batch_id), one row per person; one `gt_<attributes>` of the same shape per
//! marginal, with some of the attributes; and `members`(attribute, label, value) as in [`generalized`](crate::generalized).
//!
//! A *bucket* is the set of rows of one such table that show the same labels. Buckets have no id: batches tie the tables
//! together, and nothing else does.

use crate::generalized::min_column;
use crate::{Attribute, ColumnEntry, KindName, Manifest, RoleName, TableEntry};

/// Name of the table of sensitive values.
pub const BATCH_TABLE: &str = "bt";
/// Name of the table with all quasi attributes.
pub const TABLE: &str = "gt";
/// The column that says to which batch a row belongs.
pub const BATCH_ID: &str = "batch_id";
/// The column of `bt` that says how often a value occurs in its batch.
pub const COUNT: &str = "count";
/// What the names of tables of marginals begin with.
const MARGINAL: &str = "gt_";

/// The name of a marginal's table: its attributes, letters and digits as they are and `_` for anything else.
pub fn marginal_table<'a>(attributes: impl Iterator<Item = &'a str>) -> String {
    let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '_' };
    let names: Vec<String> = attributes.map(|name| name.chars().map(plain).collect()).collect();
    format!("{MARGINAL}{}", names.join("_"))
}

/// The tables of generalized rows, `gt` first, and the quasi attributes each of them shows.
pub fn generalized_tables(manifest: &Manifest) -> Vec<(&TableEntry, Vec<&Attribute>)> {
    let is_whole = |table: &&TableEntry| table.name == TABLE;
    let is_marginal = |table: &&TableEntry| table.name.starts_with(MARGINAL);
    let tables = manifest.tables.iter().filter(is_whole).chain(manifest.tables.iter().filter(is_marginal));
    tables.map(|table| (table, manifest.with_role(RoleName::Quasi).filter(|it| shows(table, it)).collect())).collect()
}

/// Whether a table has the columns of an attribute.
fn shows(table: &TableEntry, attribute: &Attribute) -> bool {
    let name = match attribute.kind {
        KindName::Category => attribute.name.clone(),
        KindName::Integer | KindName::Real | KindName::Date | KindName::Ordinal => min_column(&attribute.name),
    };
    table.columns.iter().any(|column: &ColumnEntry| column.name == name)
}

#[cfg(test)]
mod tests {
    use super::marginal_table;

    #[test]
    fn marginals_have_names_that_files_can_have() {
        assert_eq!(marginal_table(["age", "zip code"].into_iter()), "gt_age_zip_code");
        assert_eq!(marginal_table(["../größe"].into_iter()), "gt____gr__e");
    }
}
