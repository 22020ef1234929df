//! Whether values were exchanged at all, which only the microdata can tell.

use chrysalis_table::{Codes, Table, Watch};

use super::tables::ValueTables;
use crate::findings::Findings;
use crate::grouping::Key;
use crate::source::join;
use crate::{Check, Groups};

/// Where all values are different, the first row that looks for a partner finds one, and both change.
pub(super) fn check(tables: &ValueTables<'_>, microdata: &Table, watch: &dyn Watch) -> Option<Check> {
    let (attribute, column) = tables.sensitive?;
    let mut findings = Findings::new("swapped");
    let (n_people, n_rows) = (microdata.rows(), tables.table.rows());
    if n_rows < 2 || column.histogram().iter().any(|&rows| rows > 1) {
        let what = &attribute.name;
        return Some(
            findings.check(format!("cannot tell: rows with equal values of `{what}` may change places unseen")),
        );
    }
    let columns = tables.quasi.iter().chain(&tables.others).chain(tables.sensitive.iter());
    let joined: Vec<(Codes, usize)> =
        columns.filter_map(|(attribute, column)| Some(join(microdata.column(&attribute.name)?, column))).collect();
    let keys: Vec<Key<'_>> = joined.iter().map(|(codes, n_codes)| Key { codes, n_codes: *n_codes }).collect();
    let tuples = Groups::of_keys(&keys, n_people + n_rows, watch);
    let mut is_real = vec![false; tuples.n_groups];
    tuples.of_row[..n_people].iter().for_each(|&tuple| is_real[tuple as usize] = true);
    let kept = tuples.of_row[n_people..].iter().filter(|&&tuple| is_real[tuple as usize]).count();
    if kept == n_rows {
        findings.add("not swapped", || format!("all of {n_rows} rows show their own values: nothing was exchanged"));
    }
    Some(findings.check(format!("{kept} of {n_rows} rows show a combination of values that somebody has")))
}
