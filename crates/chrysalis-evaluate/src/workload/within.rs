//! ke's constrained arbitrary queries (7.2): some groups, and a share of the rows of each.

use std::collections::BTreeMap;

use chrysalis_release::{GROUP_ID, Release};
use chrysalis_table::{Code, Column};
use rand::CryptoRng;
use rand::seq::SliceRandom;

use super::Workload;
use super::generate::{self, Chosen, Condition, Query};
use crate::EvaluateError;

/// Draws questions that pick rows of a release one by one, by an attribute that it shows as it is.
///
/// `columns` are that attribute and the sensitive one, of the microdata.
pub(super) fn queries(
    release: &Release,
    columns: &[&Column; 2],
    workload: &Workload,
    share: f64,
    rng: &mut dyn CryptoRng,
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
        hint: "ask one by anatomy or shuffle".into(),
    })?;
    let n_groups = part(groups.len(), workload.selectivity);
    let mut query = || {
        let (chosen, _) = groups.partial_shuffle(rng, n_groups);
        let mut codes: Vec<Code> = Vec::new();
        for group in chosen {
            let n_rows = part(group.len(), share);
            codes.extend_from_slice(group.partial_shuffle(rng, n_rows).0);
        }
        codes.sort_unstable();
        codes.dedup();
        Query { conditions: vec![Condition { column: 0, codes: Chosen::Any(codes) }] }
    };
    Ok((0..workload.queries).map(|_| query()).collect())
}

/// So many of them, at least one.
fn part(n: usize, share: f64) -> usize {
    // A cast of a float saturates.
    ((n as f64 * share).round() as usize).clamp(1, n.max(1))
}

/// The values of every group's rows, as codes of the microdata.
fn groups(release: &Release, own: &Column) -> Result<Option<Vec<Vec<Code>>>, EvaluateError> {
    if !matches!(release.manifest.method.as_str(), "anatomy" | "shuffle") {
        return Ok(None);
    }
    let table = release.table(&crate::table_of(release, &[], None)?)?;
    let Some((ids, values)) = table.column(GROUP_ID).zip(table.column(own.name())) else { return Ok(None) };
    let mut groups: BTreeMap<Code, Vec<Code>> = BTreeMap::new();
    for (id, value) in ids.codes().iter().zip(values.codes().iter()) {
        let known = own.domain().code_of(values.domain().value(value));
        groups.entry(id).or_default().extend(known);
    }
    Ok(Some(groups.into_values().filter(|group| !group.is_empty()).collect()))
}
