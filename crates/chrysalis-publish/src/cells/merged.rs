//! Step 7: what the facts of all cells together say about the whole release.

use std::collections::BTreeSet;

use chrysalis_criteria::loss::Ncp;
use chrysalis_release::{DomainEntry, Manifest, Release, RoleName};
use chrysalis_table::{Column, Table};

use super::{CellFacts, CellPlan};
use crate::method::Outcome;
use crate::{Disclosure, PublishError};

/// The outcome of a release by cells. Its tables are elsewhere, but for those that say the same for all groups, which are
/// returned with their names.
pub fn merged(plan: &CellPlan, cells: &[CellFacts]) -> Result<(Outcome, Vec<(String, Table)>), PublishError> {
    let internal = |problem: &str| PublishError::Internal(problem.to_owned());
    let first = cells.first().ok_or_else(|| internal("a release by cells has no cells"))?;
    let is_complete = cells.iter().map(|facts| facts.cell).eq(0..plan.n_cells() as u32);
    let rows: u64 = cells.iter().map(|facts| facts.manifest.rows).sum();
    if !is_complete || rows != plan.whole().rows {
        return Err(internal("some cells or rows are missing"));
    }
    let mut manifest: Manifest = first.manifest.clone();
    (manifest.rows, manifest.groups) = (rows, cells.iter().map(CellFacts::groups).sum());
    manifest.suppressed = cells.iter().map(|facts| facts.manifest.suppressed).sum();
    // What is promised of the release holds in every cell, whose groups were checked against the whole table.
    manifest.promises.retain(|promise| cells.iter().all(|facts| facts.manifest.promises.contains(promise)));
    for attribute in &mut manifest.attributes {
        let column = plan.whole().column(&attribute.name).ok_or_else(|| internal("a column was not counted"))?;
        let counts = (attribute.role == RoleName::Sensitive).then(|| column.counts().to_vec());
        attribute.domain = DomainEntry::of(column.domain(), counts);
    }
    let shared = shared(&manifest, cells);
    for (at, entry) in manifest.tables.iter_mut().enumerate() {
        let table = shared.iter().find(|(name, _)| *name == entry.name).map(|(_, table)| table.rows() as u64);
        entry.rows = table.unwrap_or_else(|| cells.iter().map(|facts| facts.manifest.tables[at].rows).sum());
    }
    let mut by_attribute = first.ncp_by_attribute.clone();
    for facts in &cells[1..] {
        by_attribute.iter_mut().zip(&facts.ncp_by_attribute).for_each(|((_, sum), (_, more))| *sum += more);
    }
    let sizes = cells.iter().map(|facts| facts.group_sizes);
    let outcome = Outcome {
        release: Release { manifest, tables: Vec::new() },
        ncp: Ncp {
            sum: cells.iter().fold(0.0, |sum, facts| sum + facts.ncp_sum),
            cells: cells.iter().map(|facts| facts.ncp_cells).sum(),
        },
        ncp_by_attribute: by_attribute,
        discernibility: cells.iter().map(|facts| u128::from(facts.discernibility)).sum(),
        group_sizes: (
            sizes.clone().map(|(least, _)| least).min().unwrap_or(0),
            sizes.map(|(_, most)| most).max().unwrap_or(0),
        ),
        persons: None,
        recoding: None,
        like: None,
        angelization: None,
        butterflies: None,
        series: None,
        disclosure: disclosure(cells),
    };
    Ok((outcome, shared))
}

fn disclosure(cells: &[CellFacts]) -> Option<Disclosure> {
    let mut all = Disclosure::default();
    for facts in cells {
        all.add(facts.disclosure.as_ref()?);
    }
    Some(all)
}

/// The tables that say the same for all groups: every line once, sorted, as one run writes them.
fn shared(manifest: &Manifest, cells: &[CellFacts]) -> Vec<(String, Table)> {
    let of_table = |name: &String| {
        let tables = || cells.iter().flat_map(|facts| facts.shared.iter().filter(move |(known, _)| known == name));
        tables().next()?;
        let lines: BTreeSet<&Vec<String>> = tables().flat_map(|(_, lines)| lines).collect();
        let entry = manifest.tables.iter().find(|entry| entry.name == *name)?;
        let column = |(at, column): (usize, &chrysalis_release::ColumnEntry)| {
            Column::texts(&*column.name, lines.iter().map(move |line| line[at].as_str()))
        };
        Some((name.clone(), Table::new(entry.columns.iter().enumerate().map(column).collect())))
    };
    manifest.tables.iter().filter_map(|entry| of_table(&entry.name)).collect()
}
