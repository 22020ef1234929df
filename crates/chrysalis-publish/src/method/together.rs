//! Sensitive columns that the owner wants together: they are permuted as one, or counted in combination.

use std::sync::Arc;

use chrysalis_release::{COUNT, Form, GROUP_ID};
use chrysalis_table::{Codes, Column, Knob, Remedy, Table, Watch};
use rand::rngs::ChaCha20Rng;
use rand::{CryptoRng, SeedableRng};
use rayon::prelude::*;

use super::permute::{RowsByGroup, key};
use super::{anatomy, frame};
use crate::microdata::Combined;
use crate::{Microdata, Partition, PublishError};

/// Refuses forms that cannot keep columns together.
pub(crate) fn check(data: &Microdata, form: Form) -> Result<(), PublishError> {
    if data.together_sets().is_empty() || form.shape().keeps_together() {
        return Ok(());
    }
    let problem = format!("{form} cannot show columns together");
    Err(PublishError::remedied(problem, Remedy::from("leave ").knob(Knob::Together, "").words(" out")))
}

/// The sensitive columns in their order, group after group: those that are shown together permuted as one, and each of
/// the others on its own.
pub(super) fn permuted(
    data: &Microdata,
    grouped: &RowsByGroup,
    rng: &mut dyn CryptoRng,
    watch: &dyn Watch,
) -> Vec<Codes> {
    let columns: Vec<&Column> = data.sensitive_columns().map(|column| column.column()).collect();
    let sets = data.together_sets();
    let alone = (0..columns.len()).filter(|at| !sets.iter().flatten().any(|other| other == at)).map(|at| vec![at]);
    let mut units: Vec<Vec<usize>> = sets.iter().cloned().chain(alone).collect();
    units.sort_unstable();
    let units: Vec<(Vec<usize>, [u8; 32])> = units.into_iter().map(|unit| (unit, key(rng))).collect();
    let of_unit = |(unit, key): &(Vec<usize>, [u8; 32])| -> Vec<(usize, Codes)> {
        watch.pause();
        let mut rng = ChaCha20Rng::from_seed(*key);
        if let [only] = unit[..] {
            return vec![(only, grouped.permuted(columns[only], &mut rng))];
        }
        let own: Vec<&Column> = unit.iter().map(|&at| columns[at]).collect();
        let combined = Combined::new(&own);
        let moved = grouped.permuted(&combined.column, &mut rng);
        let of_column = |(&at, value_of): (&usize, &Arc<[u32]>)| {
            let codes = moved.iter().map(|combination| value_of[combination as usize]);
            (at, Codes::collect(columns[at].domain().len(), codes))
        };
        unit.iter().zip(&combined.value_of).map(of_column).collect()
    };
    let mut all: Vec<(usize, Codes)> = units.par_iter().flat_map_iter(of_unit).collect();
    all.sort_unstable_by_key(|(at, _)| *at);
    all.into_iter().map(|(_, codes)| codes).collect()
}

/// The tables that count combinations, with their names: one row per group and combination, sorted by group id, then by
/// the values.
pub(super) fn tables(
    data: &Microdata,
    form: Form,
    partition: &Partition,
    shown: &[u32],
    watch: &dyn Watch,
) -> Vec<(String, Table)> {
    let shape = form.shape();
    let id = shape.group_id.unwrap_or(GROUP_ID);
    let columns: Vec<&Column> = data.sensitive_columns().map(|column| column.column()).collect();
    let table = |set: &Vec<usize>| {
        let own: Vec<&Column> = set.iter().map(|&at| columns[at]).collect();
        let name = shape.together_table(own.iter().map(|column| column.name()))?;
        let combined = Combined::new(&own);
        let anatomy::Counted { place, values: combinations, counts, .. } =
            anatomy::counted(&combined.column, partition, shown, None, watch);
        let values = own.iter().zip(&combined.value_of).map(|(column, value_of)| {
            let codes = combinations.iter().map(|&combination| value_of[combination as usize]);
            let codes = Codes::collect(column.domain().len(), codes);
            Column::new(column.name(), Arc::clone(column.domain()), codes)
        });
        let ids = frame::ids(id, partition.n_groups(), &place);
        let all = std::iter::once(ids).chain(values).chain([Column::integers(COUNT, &counts)]);
        Some((name, Table::new(all.collect())))
    };
    data.together_sets().iter().filter_map(table).collect()
}
