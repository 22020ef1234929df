//! pa's reconstruction error (RCE): how far a reader's idea of every row is from the row itself.
//!
//! For a row with the sensitive value v, equation 9 is 1 − 2·c(v)·δ + δ²·Σc², c counted in its group and δ the chance that
//! the row's quasi values stand together. Who has which values is what the release hides: over all worlds it allows, c(v)
//! is Σc²/n on average, and δ and δ² are products over the permuted columns of Σ(n_i/n)² and Σ(n_i/n)³.

use chrysalis_criteria::{PrincipleSpec, Rational};
use chrysalis_release::{GROUP_ID, Release, RoleName, anatomy, permuted, shuffled};
use chrysalis_table::Code;

use crate::EvaluateError;
use crate::boxes::{Distributions, sizes};
use crate::coverage::find;
use crate::permuted::histograms;

/// The error of a release.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReconstructionError {
    /// Summed over all rows.
    pub rce: f64,
    /// The least it can be for the frequency l that was promised (pa, theorem 2). Absent where no such l is promised and
    /// kept, and for permuted columns where a sensitive value repeats in a group (errata pa-thm2).
    pub bound: Option<f64>,
}

/// One group as equation 9 sees it.
struct Group {
    rows: u64,
    /// Its sensitive values' counts.
    counts: Vec<u64>,
    /// The expected δ and δ².
    delta: f64,
    delta_squared: f64,
}

/// The reconstruction error of a release with exact or permuted quasi values; other forms have none.
pub fn reconstruction_error(release: &Release) -> Result<Option<ReconstructionError>, EvaluateError> {
    let (table, of_values) = match release.manifest.method.as_str() {
        "anatomy" => (anatomy::QUASI_TABLE, anatomy::SENSITIVE_TABLE),
        "permute" => (permuted::QUASI_TABLE, permuted::SENSITIVE_TABLE),
        "shuffle" => (shuffled::TABLE, shuffled::TABLE),
        _ => return Ok(None),
    };
    let Some(sensitive) = release.manifest.with_role(RoleName::Sensitive).next() else { return Ok(None) };
    let rows = (table, release.table(table)?);
    let values = find((of_values, release.table(of_values)?), &sensitive.name)?;
    let found = Distributions::new(release, rows, GROUP_ID, values)?;
    let sizes = sizes(&found.of_row, found.shares.len());
    let is_permuted = table == permuted::QUASI_TABLE;
    let deltas = if is_permuted { deltas(release, rows, &found.of_row, &sizes)? } else { inverses(&sizes) };
    let group = |at: usize| Group {
        rows: sizes[at] as u64,
        counts: found.shares[at].iter().map(|(_, share)| (share * sizes[at]).round() as u64).collect(),
        delta: deltas[at].0,
        delta_squared: deltas[at].1,
    };
    let groups: Vec<Group> = (0..sizes.len()).map(group).filter(|group| group.rows > 0).collect();
    let l = promised(&release.manifest.guarantees).filter(|l| groups.iter().all(|group| group.keeps(*l)));
    let bound = l.and_then(|l| match is_permuted {
        true => least(&groups, l),
        false => Some(rows.1.rows() as f64 * (1.0 - 1.0 / float(l))),
    });
    Ok(Some(ReconstructionError { rce: groups.iter().map(Group::error).sum(), bound }))
}

/// Exact quasi values: everybody in a group of n is any of its rows with a chance of 1/n.
fn inverses(sizes: &[f64]) -> Vec<(f64, f64)> {
    sizes.iter().map(|size| (1.0 / size, 1.0 / (size * size))).collect()
}

fn deltas(
    release: &Release,
    rows: (&str, &chrysalis_table::Table),
    of_row: &[u32],
    sizes: &[f64],
) -> Result<Vec<(f64, f64)>, EvaluateError> {
    let mut deltas = vec![(1.0, 1.0); sizes.len()];
    for attribute in release.manifest.with_role(RoleName::Quasi) {
        let column = find(rows, &attribute.name)?;
        let own: Vec<Option<Code>> = (0..column.domain().len() as Code).map(Some).collect();
        let counted = histograms(of_row, sizes.len(), column, &own);
        for ((delta, counted), size) in deltas.iter_mut().zip(&counted).zip(sizes) {
            let moment = |power: i32| counted.iter().map(|(_, count)| (count / size).powi(power)).sum::<f64>();
            delta.0 *= moment(2);
            delta.1 *= moment(3);
        }
    }
    Ok(deltas)
}

/// The largest frequency l among the promises.
fn promised(guarantees: &[String]) -> Option<Rational> {
    let l = |text: &String| match text.parse() {
        Ok(PrincipleSpec::FrequencyL { l }) => Some(l),
        _ => None,
    };
    guarantees.iter().filter_map(l).max()
}

fn float(l: Rational) -> f64 {
    *l.numer() as f64 / *l.denom() as f64
}

/// Whether `count` times l is at most `rows`, decided in whole numbers.
fn is_within(count: u64, l: Rational, rows: u64) -> bool {
    // PROOF: both factors fit 64 bits, so their products fit 128.
    u128::from(count) * u128::from(*l.numer()) <= u128::from(rows) * u128::from(*l.denom())
}

/// Theorem 2, which needs every sensitive value to be alone in its group.
fn least(groups: &[Group], l: Rational) -> Option<f64> {
    let holds = |group: &Group| is_within(1, l, group.rows) && group.counts.iter().all(|count| *count <= 1);
    let of_group = |group: &Group| group.rows as f64 * (1.0 + float(l) * group.delta_squared - 2.0 * group.delta);
    groups.iter().all(holds).then(|| groups.iter().map(of_group).sum())
}

impl Group {
    fn error(&self) -> f64 {
        let rows = self.rows as f64;
        let squares: f64 = self.counts.iter().map(|&count| count as f64 * count as f64).sum();
        rows - 2.0 * squares * self.delta + rows * squares * self.delta_squared
    }

    fn keeps(&self, l: Rational) -> bool {
        self.counts.iter().all(|&count| is_within(count, l, self.rows))
    }
}
