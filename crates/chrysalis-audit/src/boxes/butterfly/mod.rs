//! Generalized rows for several users, each of whom knows one quasi-identifier.
//!
//! To a user, rows look the same if they show the same ranges and labels in the attributes that the user knows. These
//! classes are found from the table alone, and every promise is measured on them, quasi-identifier by quasi-identifier.

mod attacks;
#[cfg(test)]
mod tests;

use chrysalis_release::{Promise, Release, Scope};
use chrysalis_table::{Table, Watch};

use super::cells::BoxTable;
use super::{contents, faithful, structure, suppressed};
use crate::disclosure;
use crate::findings::{Findings, in_turn};
use crate::measure::GroupCounts;
use crate::promise::{JudgedGroups, judge};
use crate::sensitive::{linking, sensitive_values};
use crate::{AuditError, AuditReport, Check, Groups, Linking, Pooling, PrincipleResult, Reading};

/// What a user who knows some attributes sees.
struct UserView {
    attributes: Vec<String>,
    classes: Groups,
    sizes: Vec<u64>,
    sample: Option<GroupCounts>,
}

impl UserView {
    fn new(published: &BoxTable<'_>, attributes: &[String], watch: &dyn Watch) -> UserView {
        let known = |name: &str| attributes.iter().any(|attribute| attribute == name);
        let cells = published.quasi.iter().filter(|cells| known(&cells.attribute.name));
        let columns: Vec<_> = cells.flat_map(|cells| [cells.low, cells.high]).collect();
        let classes = Groups::of_columns(&columns, published.table.rows(), watch);
        let sample =
            published.sensitive.map(|(_, column)| GroupCounts::new(&classes, column.codes(), column.domain().len()));
        UserView { attributes: attributes.to_vec(), sizes: classes.sizes(), classes, sample }
    }

    /// Classes have no id.
    fn linking(&self) -> Option<Linking> {
        self.sample.as_ref().and_then(|sample| linking(sample, &vec![None; self.sizes.len()]))
    }

    fn smallest(&self) -> u64 {
        self.sizes.iter().copied().min().unwrap_or(0)
    }
}

/// Judges a release for several users.
pub(crate) fn audit(
    release: &Release,
    microdata: Option<&Table>,
    watch: &dyn Watch,
) -> Result<AuditReport, AuditError> {
    let published = BoxTable::open(release)?;
    let manifest = &release.manifest;
    let groups = Groups { of_row: published.group.codes().iter().collect(), n_groups: published.group.domain().len() };
    let sizes = groups.sizes();
    let users: Vec<UserView> =
        manifest.quasi_identifiers.iter().map(|set| UserView::new(&published, set, watch)).collect();
    let whole = published.sensitive.map(|(_, column)| column.histogram());
    let shown = published.sensitive.zip(whole.as_ref());
    let shown = shown.map(|((attribute, column), whole)| (attribute, column.domain().as_ref(), whole.as_slice()));
    let looks: [&dyn Fn() -> Check; 7] = [
        &|| structure::tables(release, &published),
        &|| structure::groups(&published, &groups, &sizes, watch),
        &|| sets(&published, &users, &sizes, watch),
        &|| contents::ranges(std::slice::from_ref(&published), watch),
        &|| contents::labels(std::slice::from_ref(&published)),
        &|| sensitive_values(shown),
        &|| structure::row_order(&published, watch),
    ];
    let mut checks = in_turn(&looks, watch);
    checks.extend(suppressed::check(&published, &groups, &sizes));
    if let Some(microdata) = microdata {
        checks.push(faithful::check(&published, microdata, watch)?);
    }
    let mut attacks = attacks::attacks(&published, &users, microdata, watch)?;
    let with_values = users.iter().filter_map(|user| Some((&user.classes, user.sample.as_ref()?)));
    let seen: Vec<_> = with_values.map(|(groups, values)| disclosure::SeenRows { groups, values, sure: &[] }).collect();
    let disclosure = super::disclosed(&published, &seen, &mut attacks, watch)?;
    Ok(AuditReport {
        columns: Vec::new(),
        reading: Reading::of(manifest),
        principles: principles(&published, &users, watch)?,
        checks,
        attacks,
        disclosure,
        utility: None,
        rows: published.table.rows() as u64,
        groups: sizes.iter().filter(|&&size| size > 0).count() as u64,
    })
}

/// There are quasi-identifiers, and group ids tell nothing that ranges and labels do not.
fn sets(published: &BoxTable<'_>, users: &[UserView], sizes: &[u64], watch: &dyn Watch) -> Check {
    let mut findings = Findings::new("quasi-identifiers");
    if users.is_empty() || users.iter().any(|user| user.attributes.is_empty()) {
        findings.add("sets", || "the manifest names no quasi-identifier, or an empty one".to_owned());
    }
    let n_groups = sizes.iter().filter(|&&size| size > 0).count();
    let n_looks = Groups::of_columns(&published.cell_columns(), published.table.rows(), watch).n_groups;
    // LEAK: ids could tell apart butterflies that look the same, or carry anything else.
    if n_groups != n_looks {
        findings.add("ids", || format!("{n_groups} group ids tell {n_looks} different rows of cells apart"));
    }
    let each = users.iter().map(|user| format!("{} for {}", user.sizes.len(), user.attributes.join(", ")));
    findings.check(format!("classes: {}", each.collect::<Vec<_>>().join("; ")))
}

/// Every promise for every user. Classes have no id.
fn principles(
    published: &BoxTable<'_>,
    users: &[UserView],
    watch: &dyn Watch,
) -> Result<Vec<PrincipleResult>, AuditError> {
    let evidence = users.iter().map(|user| {
        let shown = published.sensitive.zip(user.sample.as_ref());
        let shown = shown.map(|((attribute, column), sample)| (attribute, column.domain().as_ref(), sample));
        Ok(JudgedGroups::new(published.manifest, &user.sizes, &[], shown)?.seen_by(&user.attributes))
    });
    let evidence: Vec<JudgedGroups<'_>> = evidence.collect::<Result<_, AuditError>>()?;
    let of_users = |scope: Scope| match scope {
        Scope::User => Some(&evidence[..]),
        Scope::Group | Scope::Batch | Scope::Bucket => None,
    };
    judge(published.manifest, of_users, watch)
}

/// The most pairs of users that are reported.
const MOST_PAIRS: usize = 100;

/// What every two users learn together.
fn pooling(published: &BoxTable<'_>, watch: &dyn Watch) -> Vec<Pooling> {
    let sets = &published.manifest.quasi_identifiers;
    let promised = Promise::largest_k(published.manifest.promises.iter()).unwrap_or(1);
    let pairs = (0..sets.len()).flat_map(|second| (0..second).map(move |first| (first, second)));
    let of_pair = |(first, second): (usize, usize)| {
        let mut attributes = sets[first].clone();
        attributes.extend(sets[second].iter().filter(|name| !sets[first].contains(name)).cloned());
        let seen = UserView::new(published, &attributes, watch);
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
