use std::sync::Arc;

use chrysalis_release::{COUNT, COUNTERFEITS};
use chrysalis_table::{Codes, Column, Table};

use super::SeriesGroups;
use crate::method::group_numbers;

/// The values that are shown, group after group in the order of ids, and the place of each one's group. Values that are
/// never shown leave the domain.
pub(crate) fn shown_values(column: &Column, groups: &SeriesGroups, shown: &[u32]) -> (Column, Vec<u32>) {
    let of = |&group: &u32| groups.shown(group as usize);
    let values = shown.iter().flat_map(of).copied();
    let codes = Codes::collect(column.domain().len(), values);
    let place: Vec<u32> =
        (0_u32..).zip(shown).flat_map(|(place, group)| std::iter::repeat_n(place, of(group).len())).collect();
    let all: Vec<u32> = (0..codes.len() as u32).collect();
    (Column::new(column.name(), Arc::clone(column.domain()), codes).gather(&all), place)
}

/// The table of sensitive values: every group shows each of its values once, whether somebody has it or not.
pub(crate) fn values_table(column: &Column, groups: &SeriesGroups, shown: &[u32], id: &str) -> Table {
    let (values, place) = shown_values(column, groups, shown);
    let counts = Column::integers(COUNT, &vec![1; values.codes().len()]);
    Table::new(vec![group_numbers(id, shown.len(), &place), values, counts])
}

/// How many values of a group nobody has; groups without such values are left out.
pub(crate) fn counterfeits_table(groups: &SeriesGroups, shown: &[u32], id: &str) -> (String, Table) {
    let with_some = || (0_u32..).zip(shown).filter(|(_, group)| groups.counterfeits(**group as usize) > 0);
    let ids: Vec<i64> = with_some().map(|(place, _)| i64::from(place) + 1).collect();
    // PROOF: a group has fewer counterfeits than there are codes.
    let counts: Vec<i64> = with_some().map(|(_, group)| groups.counterfeits(*group as usize) as i64).collect();
    (COUNTERFEITS.to_owned(), Table::new(vec![Column::integers(id, &ids), Column::integers(COUNT, &counts)]))
}
