//! The form of `generalize`: ranges and labels in place of values.

mod cells;
mod contents;
mod faithful;
mod index;
mod matching;
mod space;
mod structure;
#[cfg(test)]
mod tests;

use chrysalis_release::Release;
use chrysalis_table::{Code, Table, Taxonomy, TaxonomyFile, Value};

use crate::measure::{self, Categories, Fraction, Sample};
use crate::promise::{Evidence, Sensitive, show};
use crate::{Attacks, AuditError, AuditReport, Groups, Linking};
use cells::Published;

/// Judges a generalized release. Groups are the rows with one group id; the check `groups` sees to it that all of them
/// show the same cells, so that an attacker can tell no two of them apart.
pub(crate) fn audit(release: &Release, microdata: Option<&Table>) -> Result<AuditReport, AuditError> {
    let published = Published::open(release)?;
    let groups = Groups { of_row: published.group.codes().iter().collect(), n_groups: published.group.domain().len() };
    let ids: Vec<Option<i64>> = (0..groups.n_groups as Code).map(|code| published.group_id(code)).collect();
    let sizes = groups.sizes();

    let mut checks = vec![
        structure::tables(release, &published),
        structure::groups(&published, &groups, &sizes),
        contents::ranges(&published),
        contents::labels(&published),
        contents::sensitive_values(&published),
        structure::row_order(&published),
    ];
    if let Some(microdata) = microdata {
        checks.push(faithful::check(&published, microdata)?);
    }

    let sample = published.sensitive.map(|(_, column)| Sample::new(&groups, column.codes(), column.domain().len()));
    let taxonomy = taxonomy(&published)?;
    let categories = categories(&published)?;
    let sensitive = published.sensitive.zip(sample.as_ref()).map(|((_, column), sample)| Sensitive {
        domain: column.domain(),
        taxonomy: taxonomy.as_ref(),
        categories: categories.as_ref(),
        sample,
    });
    let evidence = Evidence { sizes: &sizes, sensitive, ids: &ids };
    let promises = &release.manifest.guarantees;
    Ok(AuditReport {
        principles: promises.iter().map(|promise| evidence.judge(promise)).collect::<Result<_, _>>()?,
        checks,
        attacks: Attacks { linking: sample.as_ref().and_then(|sample| linking(sample, &ids)) },
        rows: published.table.rows() as u64,
        groups: sizes.iter().filter(|&&size| size > 0).count() as u64,
    })
}

impl Published<'_> {
    fn group_id(&self, code: Code) -> Option<i64> {
        match self.group.domain().value(code) {
            Some(Value::Integer(id)) => Some(*id),
            _ => None,
        }
    }
}

fn taxonomy(published: &Published<'_>) -> Result<Option<Taxonomy>, AuditError> {
    let Some((attribute, column)) = published.sensitive else { return Ok(None) };
    let Some(lines) = &attribute.taxonomy else { return Ok(None) };
    let bad = |problem: String| AuditError::Attribute { attribute: attribute.name.clone(), problem };
    let file = TaxonomyFile::from_lines(lines).map_err(|error| bad(error.to_string()))?;
    file.bind(column.domain()).map(Some).map_err(|error| bad(error.to_string()))
}

fn categories(published: &Published<'_>) -> Result<Option<Categories>, AuditError> {
    let Some((attribute, column)) = published.sensitive else { return Ok(None) };
    let Some(names) = &attribute.categories else { return Ok(None) };
    let weights = attribute.weights.as_deref().unwrap_or_default();
    let bad = |problem: String| AuditError::Attribute { attribute: attribute.name.clone(), problem };
    Categories::new(column.domain(), names, weights).map(Some).map_err(bad)
}

/// The best an attacker can do who knows every quasi value: bet on the most frequent value of the worst group.
fn linking(sample: &Sample, ids: &[Option<i64>]) -> Option<Linking> {
    use rayon::iter::ParallelIterator;
    let worst = measure::share(sample)?;
    let is_worst = |fraction: Fraction| fraction.compare(&worst.level).is_eq();
    let rows = sample.groups().map(|(_, group)| {
        let at_risk = group.counts().filter(|&count| is_worst(Fraction::new(count.into(), group.size.into())));
        at_risk.sum::<u64>()
    });
    let confidence = worst.level.exact()?;
    Some(Linking {
        confidence: measure::to_float(Some(&confidence)),
        confidence_text: show(&confidence),
        group: ids.get(worst.group).copied().flatten(),
        rows: rows.sum(),
    })
}
