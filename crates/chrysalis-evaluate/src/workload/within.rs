//! ke's constrained arbitrary queries (7.2): some groups, and a share of the rows of each.

use chrysalis_release::{Detail, Release, Shape};
use chrysalis_table::{Code, Column, Watch};
use rand::CryptoRng;
use rand::seq::SliceRandom;

use super::Workload;
use super::generate::{self, ChosenCodes, Condition, Query};
use crate::universe::translated;
use crate::{EvaluateError, error, opened};

/// Draws questions that pick rows of a release one by one, by an attribute that the release shows as it is.
///
/// `columns` are that attribute's and the sensitive one's columns of the microdata.
pub(super) fn queries(
    release: &Release,
    columns: &[&Column; 2],
    (workload, share): (&Workload, f64),
    rng: &mut dyn CryptoRng,
    watch: &dyn Watch,
) -> Result<Vec<Query>, EvaluateError> {
    generate::check(columns, workload)?;
    if !(share > 0.0 && share <= 1.0) {
        let problem = format!("a share of {share} of a group's rows is not above 0 and at most 1");
        return Err(EvaluateError::Workload { problem, hint: "for example 0.3".into() });
    }
    let name = columns[0].name();
    let groups = groups(release, columns[0])?;
    let mut groups = groups.ok_or_else(|| EvaluateError::Workload {
        problem: format!("the release has no table with groups and the values of `{name}` as they are"),
        hint: format!("ask one by {}", error::forms(has_exact_groups)).into(),
    })?;
    let n_groups = part(groups.len(), workload.selectivity);
    let mut query = || {
        watch.pause();
        let (chosen, _) = groups.partial_shuffle(rng, n_groups);
        let mut codes: Vec<Code> = Vec::new();
        for group in chosen {
            let n_rows = part(group.len(), share);
            codes.extend_from_slice(group.partial_shuffle(rng, n_rows).0);
        }
        codes.sort_unstable();
        codes.dedup();
        Query { conditions: vec![Condition { column: 0, codes: ChosenCodes::Any(codes) }] }
    };
    Ok((0..workload.queries).map(|_| query()).collect())
}

/// A share of `n`, at least one.
fn part(n: usize, share: f64) -> usize {
    // A cast from a float saturates.
    ((n as f64 * share).round() as usize).clamp(1, n.max(1))
}

/// Whether rows of a group can be picked one by one.
fn has_exact_groups(shape: &Shape) -> bool {
    match shape.detail {
        Detail::Exact => shape.group_id.is_some(),
        Detail::Permuted | Detail::GroupBoxes | Detail::RowBoxes => false,
    }
}

/// The values of every group's rows, as codes of the microdata; `None` if the release has no groups of exact values.
fn groups(release: &Release, own: &Column) -> Result<Option<Vec<Vec<Code>>>, EvaluateError> {
    if !has_exact_groups(&release.manifest.method.shape()) {
        return Ok(None);
    }
    let view = opened::open(release)?;
    let field = view.fields.iter().position(|field| field.name == own.name());
    let Some(column) = field.and_then(|field| view.column(field)) else { return Ok(None) };
    let codes = translated(&column.domain, own);
    let of_group = |group: usize| -> Vec<Code> {
        view.groups.rows(group).filter_map(|row| codes[column.codes.get(row) as usize]).collect()
    };
    Ok(Some((0..view.groups.len()).map(of_group).filter(|group| !group.is_empty()).collect()))
}
