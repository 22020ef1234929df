use std::ops::RangeInclusive;

use chrysalis_table::{Column, Table, TaxonomyFile};
use proptest::prelude::*;

use super::columns::{categories_for, column_of, kinds};
use super::taxonomies::taxonomy_over;
use crate::{SensitiveColumn, oracle};

const QUASI: [&str; 3] = ["a", "b", "c"];

/// A table of one to three quasi attributes of mixed kinds, some with taxonomies, and a sensitive column `s` with
/// categories.
#[derive(Clone, Debug)]
pub struct RandomTable {
    /// All columns: quasi, then `s`.
    pub table: Table,
    /// The quasi attributes.
    pub quasi: Vec<(String, Option<TaxonomyFile>)>,
    /// The sensitive column.
    pub sensitive: SensitiveColumn,
}

impl RandomTable {
    /// The quasi columns with their taxonomies.
    ///
    /// # Panics
    /// Never: all of them are in the table.
    pub fn attributes(&self) -> Vec<(&Column, Option<&TaxonomyFile>)> {
        self.quasi.iter().map(|(name, file)| (self.table.column(name).unwrap(), file.as_ref())).collect()
    }

    /// The sensitive values of some rows.
    pub fn counts(&self, rows: &[u32]) -> chrysalis_table::SaCounts {
        crate::papers::counts(&self.table, "s", rows)
    }

    /// The penalty of a group, by the oracle.
    pub fn ncp(&self, rows: &[u32]) -> f64 {
        oracle::group_ncp(&self.attributes(), rows)
    }

    /// The same rows in another order. Domains stay as they are.
    #[must_use]
    pub fn reordered(&self, rows: &[u32]) -> RandomTable {
        RandomTable { table: self.table.gather(rows), ..self.clone() }
    }
}

/// Random tables of that many rows.
pub fn tables(rows: RangeInclusive<usize>) -> impl Strategy<Value = RandomTable> {
    rows.prop_flat_map(tables_of)
}

/// Random tables of exactly that many rows.
pub fn tables_of(rows: usize) -> impl Strategy<Value = RandomTable> {
    let quasi = (1..=3usize).prop_flat_map(move |n| {
        QUASI[..n].iter().map(|name| column_of(name, kinds(), rows).boxed()).collect::<Vec<_>>()
    });
    (quasi, column_of("s", kinds(), rows)).prop_flat_map(|(quasi, sensitive)| {
        let maybe = |column: &Column, weight: f64| {
            let over = taxonomy_over(column.domain());
            prop::option::weighted(weight, over).boxed()
        };
        let taxonomies: Vec<_> = quasi.iter().map(|column| maybe(column, 0.4)).collect();
        let categories = categories_for(sensitive.domain());
        let sensitive_taxonomy = maybe(&sensitive, 0.3);
        (Just(quasi), Just(sensitive), taxonomies, sensitive_taxonomy, categories).prop_map(
            |(quasi, sensitive, taxonomies, taxonomy, categories)| {
                let plain = SensitiveColumn::of(&sensitive);
                let named = quasi.iter().map(|column| column.name().to_owned()).zip(taxonomies).collect();
                let mut columns = quasi;
                columns.push(sensitive);
                RandomTable {
                    table: Table::new(columns),
                    quasi: named,
                    sensitive: SensitiveColumn::new("s", plain.domain, plain.counts, taxonomy, Some(categories)),
                }
            },
        )
    })
}
