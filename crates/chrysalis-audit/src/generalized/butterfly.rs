//! The form of `butterfly`: generalized rows for several users, each of whom knows one quasi-identifier.
//!
//! To a user, rows look the same that show the same labels on the attributes the user knows. These classes are found in
//! the table alone, and every promise is measured on them, quasi-identifier by quasi-identifier.

mod attacks;
#[cfg(test)]
mod tests;

use chrysalis_criteria::PrincipleSpec;
use chrysalis_release::{Manifest, Release};
use chrysalis_table::Table;

use super::cells::Published;
use super::{contents, faithful, structure, suppressed};
use crate::findings::Findings;
use crate::measure::Sample;
use crate::promise::judge;
use crate::sensitive::{linking, sensitive_values};
use crate::{AuditError, AuditReport, Check, Groups, Linking, Pooling, PrincipleResult};

/// What somebody sees who knows some attributes.
struct Seen {
    attributes: Vec<String>,
    classes: Groups,
    sizes: Vec<u64>,
    sample: Option<Sample>,
}

impl Seen {
    fn new(published: &Published<'_>, attributes: &[String]) -> Seen {
        let known = |name: &str| attributes.iter().any(|attribute| attribute == name);
        let cells = published.quasi.iter().filter(|cells| known(&cells.attribute.name));
        let columns: Vec<_> = cells.flat_map(|cells| [cells.low, cells.high]).collect();
        let classes = Groups::of_columns(&columns, published.table.rows());
        let sample =
            published.sensitive.map(|(_, column)| Sample::new(&classes, column.codes(), column.domain().len()));
        Seen { attributes: attributes.to_vec(), sizes: classes.sizes(), classes, sample }
    }

    /// Classes have no id.
    fn linking(&self) -> Option<Linking> {
        self.sample.as_ref().and_then(|sample| linking(sample, &vec![None; self.sizes.len()]))
    }

    fn smallest(&self) -> u64 {
        self.sizes.iter().copied().min().unwrap_or(0)
    }
}

/// Judges a butterfly release.
pub(crate) fn audit(release: &Release, microdata: Option<&Table>) -> Result<AuditReport, AuditError> {
    let published = Published::open(release)?;
    let manifest = &release.manifest;
    let groups = Groups { of_row: published.group.codes().iter().collect(), n_groups: published.group.domain().len() };
    let sizes = groups.sizes();
    let users: Vec<Seen> = manifest.quasi_identifiers.iter().map(|set| Seen::new(&published, set)).collect();
    let whole = published.sensitive.map(|(_, column)| column.histogram());
    let shown = published.sensitive.zip(whole.as_ref());
    let shown = shown.map(|((attribute, column), whole)| (attribute, column.domain().as_ref(), whole.as_slice()));
    let mut checks = vec![
        structure::tables(release, &published),
        structure::groups(&published, &groups, &sizes),
        sets(&published, &users, &sizes),
        contents::ranges(std::slice::from_ref(&published)),
        contents::labels(std::slice::from_ref(&published)),
        sensitive_values(shown),
        structure::row_order(&published),
    ];
    checks.extend(suppressed::check(&published, &groups, &sizes));
    if let Some(microdata) = microdata {
        checks.push(faithful::check(&published, microdata)?);
    }
    Ok(AuditReport {
        principles: principles(&published, &users)?,
        checks,
        attacks: attacks::attacks(&published, &users, microdata)?,
        utility: None,
        rows: published.table.rows() as u64,
        groups: sizes.iter().filter(|&&size| size > 0).count() as u64,
    })
}

/// There are quasi-identifiers, and group ids tell nothing that labels do not.
fn sets(published: &Published<'_>, users: &[Seen], sizes: &[u64]) -> Check {
    let mut findings = Findings::new("quasi-identifiers");
    if users.is_empty() || users.iter().any(|user| user.attributes.is_empty()) {
        findings.add("sets", || "the manifest names no quasi-identifier, or an empty one".to_owned());
    }
    let n_groups = sizes.iter().filter(|&&size| size > 0).count();
    let n_looks = Groups::of_columns(&published.cell_columns(), published.table.rows()).n_groups;
    // LEAK: ids could tell butterflies apart that look the same, or carry anything else.
    if n_groups != n_looks {
        findings.add("ids", || format!("{n_groups} group ids tell {n_looks} different rows of cells apart"));
    }
    let each = users.iter().map(|user| format!("{} for {}", user.sizes.len(), user.attributes.join(", ")));
    findings.check(format!("classes: {}", each.collect::<Vec<_>>().join("; ")))
}

/// Every promise for every user.
fn principles(published: &Published<'_>, users: &[Seen]) -> Result<Vec<PrincipleResult>, AuditError> {
    let mut results = Vec::new();
    for promise in &published.manifest.guarantees {
        let one = Manifest { guarantees: vec![promise.clone()], ..published.manifest.clone() };
        for user in users {
            let shown = published.sensitive.zip(user.sample.as_ref());
            let shown = shown.map(|((attribute, column), sample)| (attribute, column.domain().as_ref(), sample));
            let no_ids = vec![None; user.sizes.len()];
            let of_user = judge(&one, &user.sizes, &no_ids, shown)?.into_iter().map(|result| PrincipleResult {
                worst_text: format!("{} for {}", result.worst_text, user.attributes.join(", ")),
                ..result
            });
            results.extend(of_user);
        }
    }
    Ok(results)
}

/// More pairs than anybody reads about.
const MOST_PAIRS: usize = 100;

/// What every two users learn together.
fn pooling(published: &Published<'_>) -> Vec<Pooling> {
    let sets = &published.manifest.quasi_identifiers;
    let promised = published.manifest.guarantees.iter().filter_map(|promise| match promise.parse() {
        Ok(PrincipleSpec::KAnonymity { k } | PrincipleSpec::AlphaK { k, .. }) => Some(k),
        _ => None,
    });
    let promised = promised.max().unwrap_or(1);
    let pairs = (0..sets.len()).flat_map(|second| (0..second).map(move |first| (first, second)));
    let of_pair = |(first, second): (usize, usize)| {
        let mut attributes = sets[first].clone();
        attributes.extend(sets[second].iter().filter(|name| !sets[first].contains(name)).cloned());
        let seen = Seen::new(published, &attributes);
        let small = seen.sizes.iter().filter(|&&size| size < promised);
        Pooling {
            attributes,
            classes: seen.sizes.len() as u64,
            smallest: seen.smallest(),
            promised,
            rows_below: small.sum(),
            confidence: seen.linking().map(|linking| linking.confidence),
        }
    };
    pairs.take(MOST_PAIRS).map(of_pair).collect()
}
