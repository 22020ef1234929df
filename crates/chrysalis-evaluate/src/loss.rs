//! What generalization lost: NCP, DM and CAVG, from the published tables.

use chrysalis_criteria::PrincipleSpec;
use chrysalis_criteria::loss::{Ncp, average_group_size, discernibility, range_ncp, set_ncp};
use chrysalis_release::{Attribute, GROUP_ID, Release, RoleName, anatomy, angelized, generalized, permuted, shuffled};
use chrysalis_table::{Code, Column, Table};
use rayon::prelude::*;

use crate::boxes::sizes;
use crate::coverage::{Coverage, find};
use crate::{Divergence, EvaluateError, Evaluation};

/// All measures but the divergences, which are known.
pub(crate) fn measure(
    release: &Release,
    microdata: &Table,
    divergences: Vec<Divergence>,
) -> Result<Evaluation, EvaluateError> {
    let name = match release.manifest.method.as_str() {
        "angel" => angelized::TABLE,
        "anatomy" => anatomy::QUASI_TABLE,
        "shuffle" => shuffled::TABLE,
        "permute" => permuted::QUASI_TABLE,
        _ => generalized::TABLE,
    };
    let table = (name, release.table(name)?);
    let mut ncp_by_attribute = Vec::new();
    let mut labels: Vec<Vec<u32>> = Vec::new();
    for attribute in release.manifest.with_role(RoleName::Quasi) {
        let own = microdata.column(&attribute.name);
        let own = own.ok_or_else(|| EvaluateError::MissingColumn { column: attribute.name.clone() })?;
        let ncp = match name {
            generalized::TABLE | angelized::TABLE => {
                let coverage = Coverage::new(release, table, attribute, own)?;
                let ncp = coverage.of_row.iter().map(|&label| coverage.labels[label as usize].ncp).sum();
                labels.push(coverage.of_row);
                ncp
            }
            permuted::QUASI_TABLE => of_groups(table, attribute)?,
            _ => 0.0,
        };
        ncp_by_attribute.push((attribute.name.clone(), ncp));
    }
    let sizes = group_sizes(table, &labels)?;
    let rows = table.1.rows() as u64;
    let k = release.manifest.guarantees.iter().filter_map(|text| match text.parse() {
        Ok(PrincipleSpec::KAnonymity { k } | PrincipleSpec::AlphaK { k, .. }) => Some(k),
        _ => None,
    });
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
        average_group_size: k
            .max()
            // In a butterfly release, what a group is depends on who looks.
            .filter(|_| !sizes.is_empty() && release.manifest.method != "butterfly")
            .map(|k| average_group_size(rows, sizes.len() as u64, k)),
    })
}

/// Rows that stand together: by group id, and for angel by what they show.
fn group_sizes(table: (&str, &Table), labels: &[Vec<u32>]) -> Result<Vec<u64>, EvaluateError> {
    if table.0 != angelized::TABLE {
        let ids = find(table, GROUP_ID)?;
        let sizes = sizes(&ids.codes().iter().collect::<Vec<_>>(), ids.domain().len());
        return Ok(sizes.into_iter().filter(|size| *size > 0.0).map(|size| size as u64).collect());
    }
    let key = |row: u32| labels.iter().map(move |labels| labels[row as usize]);
    let mut rows: Vec<u32> = (0..table.1.rows() as u32).collect();
    rows.par_sort_unstable_by(|&a, &b| key(a).cmp(key(b)));
    Ok(rows.chunk_by(|&a, &b| key(a).eq(key(b))).map(|bucket| bucket.len() as u64).collect())
}

/// The penalty of a permuted column: that of the range or set of every group's values.
fn of_groups(table: (&str, &Table), attribute: &Attribute) -> Result<f64, EvaluateError> {
    let (ids, column): (&Column, &Column) = (find(table, GROUP_ID)?, find(table, &attribute.name)?);
    let mut groups: Vec<Vec<Code>> = vec![Vec::new(); ids.domain().len()];
    for row in 0..table.1.rows() {
        groups[ids.code(row) as usize].push(column.code(row));
    }
    let domain = column.domain();
    let penalty = |codes: &mut Vec<Code>| {
        let size = codes.len() as f64;
        codes.sort_unstable();
        codes.dedup();
        let Some((&low, &high)) = codes.first().zip(codes.last()) else { return 0.0 };
        let one =
            if domain.kind().is_ordered() { range_ncp(domain, low, high) } else { set_ncp(codes.len(), domain.len()) };
        size * one
    };
    Ok(groups.iter_mut().map(penalty).sum())
}
