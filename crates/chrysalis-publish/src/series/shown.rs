use std::iter::repeat_n;
use std::sync::Arc;

use chrysalis_release::{COUNT, COUNTERFEITS};
use chrysalis_table::{Code, Codes, Column, Table};

use super::SeriesGroups;
use crate::method::group_numbers;

/// The values that are shown, group after group in the order of ids, and the place of each one's group. Values that are
/// never shown leave the domain.
pub(crate) fn shown_values(column: &Column, groups: &SeriesGroups, shown: &[u32]) -> (Column, Vec<u32>) {
    let times = |group: u32| groups.times[group as usize] as usize;
    let of = |&group: &u32| groups.shown(group as usize).iter().flat_map(move |&value| repeat_n(value, times(group)));
    let values = shown.iter().flat_map(of);
    let codes = Codes::collect(column.domain().len(), values);
    let place: Vec<u32> = (0_u32..).zip(shown).flat_map(|(place, group)| of(group).map(move |_| place)).collect();
    let all: Vec<u32> = (0..codes.len() as u32).collect();
    (Column::new(column.name(), Arc::clone(column.domain()), codes).gather(&all), place)
}

/// The table of sensitive values: every group shows each of its values equally often, whether somebody has it or not.
pub(crate) fn values_table(column: &Column, groups: &SeriesGroups, shown: &[u32], id: &str) -> Table {
    let each = (0_u32..).zip(shown).flat_map(|(place, &group)| {
        let times = i64::from(groups.times[group as usize]);
        groups.shown(group as usize).iter().map(move |&value| (place, value, times))
    });
    let each: Vec<(u32, Code, i64)> = each.collect();
    let codes = Codes::collect(column.domain().len(), each.iter().map(|(_, value, _)| *value));
    let places: Vec<u32> = each.iter().map(|(place, ..)| *place).collect();
    let counts: Vec<i64> = each.iter().map(|(.., times)| *times).collect();
    let all: Vec<u32> = (0..codes.len() as u32).collect();
    let values = Column::new(column.name(), Arc::clone(column.domain()), codes).gather(&all);
    Table::new(vec![group_numbers(id, shown.len(), &places), values, Column::integers(COUNT, &counts)])
}

/// How many values of a group nobody has; groups without such values are left out.
pub(crate) fn counterfeits_table(groups: &SeriesGroups, shown: &[u32], id: &str) -> (String, Table) {
    let with_some = || (0_u32..).zip(shown).filter(|(_, group)| groups.counterfeits(**group as usize) > 0);
    let ids: Vec<i64> = with_some().map(|(place, _)| i64::from(place) + 1).collect();
    let counts: Vec<i64> = with_some().map(|(_, group)| groups.counterfeits(*group as usize) as i64).collect();
    (COUNTERFEITS.to_owned(), Table::new(vec![Column::integers(id, &ids), Column::integers(COUNT, &counts)]))
}
