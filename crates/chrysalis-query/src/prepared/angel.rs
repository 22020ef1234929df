//! The generalized tables of an angel release: for every row a box in which it lies.

use chrysalis_release::generalized::MEMBERS;
use chrysalis_release::{Release, RoleName, angelized};
use chrysalis_table::Column;
use rayon::prelude::*;

use super::{Groups, Labels, labels_of};
use crate::{Field, QueryError};

/// One table. Rows are taken batch after batch.
#[derive(Debug)]
pub(super) struct Boxed {
    pub(super) name: String,
    /// By field; of every row.
    pub(super) labels: Vec<Option<Labels>>,
}

/// All tables that were read. `ids` are the batch ids of one of them.
pub(super) fn tables(release: &Release, fields: &[Field], ids: &Column) -> Result<Vec<Boxed>, QueryError> {
    let sizes = ids.histogram();
    let mut tables = Vec::new();
    for (entry, _) in angelized::generalized_tables(&release.manifest) {
        let table = release.table(&entry.name)?;
        let Some(own) = table.column(angelized::BATCH_ID) else { continue };
        if own.domain() != ids.domain() || own.histogram() != sizes {
            return Err(QueryError::broken(format!("table `{}` has other batches than the others", entry.name)));
        }
        let rows = Groups::of_rows(&Groups::new(own));
        let members = release.table(MEMBERS).ok();
        let of_field = |field: &Field| {
            if field.role == RoleName::Quasi { labels_of(field, table, members, &rows) } else { Ok(None) }
        };
        let labels = fields.par_iter().map(of_field).collect::<Result<_, _>>()?;
        tables.push(Boxed { name: entry.name.clone(), labels });
    }
    Ok(tables)
}
