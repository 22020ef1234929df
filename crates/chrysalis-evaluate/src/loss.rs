//! The loss due to generalization: NCP, DM and CAVG, from the published tables.

use chrysalis_criteria::loss::{Ncp, average_group_size, discernibility, range_ncp, set_ncp};
use chrysalis_release::{Detail, RoleName, View};
use chrysalis_table::{Code, Table};
use rayon::prelude::*;

use crate::coverage::Coverage;
use crate::{Divergence, EvaluateError, Evaluation, opened};

/// All measures except the divergences, which are passed in. `microdata` is what `universe::relevant` returns.
pub(crate) fn measure(
    view: &View,
    microdata: &Table,
    divergences: Vec<Divergence>,
) -> Result<Evaluation, EvaluateError> {
    let mut ncp_by_attribute = Vec::new();
    let mut labels: Vec<Vec<u32>> = Vec::new();
    for field in opened::with_role(view, RoleName::Quasi) {
        let ncp = match view.layout.shape.detail {
            Detail::Exact => 0.0,
            Detail::Permuted => of_groups(view, field)?,
            Detail::GroupBoxes | Detail::RowBoxes => {
                let coverage = Coverage::new(view, view.layout.shape.people, field, &microdata.columns()[field])?;
                let ncp = coverage.of_row.iter().map(|&label| coverage.labels[label as usize].ncp).sum();
                labels.push(coverage.of_row);
                ncp
            }
        };
        ncp_by_attribute.push((view.fields[field].name.clone(), ncp));
    }
    let rows = opened::n_rows(view);
    let sizes = group_sizes(view, &labels);
    Ok(Evaluation {
        rows,
        groups: sizes.len() as u64,
        divergences,
        ncp: Ncp {
            sum: ncp_by_attribute.iter().map(|(_, ncp)| ncp).sum(),
            cells: rows * ncp_by_attribute.len() as u64,
        },
        ncp_by_attribute,
        discernibility: discernibility(sizes.iter().copied()),
        average_group_size: view
            .manifest
            .promised_k()
            .filter(|_| !sizes.is_empty())
            .map(|k| average_group_size(rows, sizes.len() as u64, k)),
    })
}

/// How many rows look alike: those of each group, or of each bucket where the rows of a group may differ.
fn group_sizes(view: &View, labels: &[Vec<u32>]) -> Vec<u64> {
    match view.layout.shape.detail {
        Detail::Exact | Detail::Permuted | Detail::GroupBoxes => {
            let sizes = (0..view.groups.len()).map(|group| u64::from(view.groups.size(group)));
            sizes.filter(|size| *size > 0).collect()
        }
        Detail::RowBoxes => {
            let key = |row: u32| labels.iter().map(move |labels| labels[row as usize]);
            let mut rows: Vec<u32> = (0..opened::n_rows(view) as u32).collect();
            rows.par_sort_unstable_by(|&a, &b| key(a).cmp(key(b)));
            rows.chunk_by(|&a, &b| key(a).eq(key(b))).map(|bucket| bucket.len() as u64).collect()
        }
    }
}

/// The penalty of a permuted column: the range or set of each group's values counts as its label.
fn of_groups(view: &View, field: usize) -> Result<f64, EvaluateError> {
    let column = opened::column(view, field)?;
    let domain = &column.domain;
    let penalty = |group: usize| {
        let mut codes: Vec<Code> = view.groups.rows(group).map(|row| column.codes.get(row)).collect();
        codes.sort_unstable();
        codes.dedup();
        let Some((&low, &high)) = codes.first().zip(codes.last()) else { return 0.0 };
        let one =
            if domain.kind().is_ordered() { range_ncp(domain, low, high) } else { set_ncp(codes.len(), domain.len()) };
        f64::from(view.groups.size(group)) * one
    };
    Ok((0..view.groups.len()).map(penalty).sum())
}
