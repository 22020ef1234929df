//! The sensitive attribute: what the manifest says about it, and the attacks on it.

use chrysalis_release::Attribute;
use chrysalis_table::{Domain, Kind, Taxonomy, TaxonomyFile, Value};
use rayon::iter::ParallelIterator;

use crate::columns::from_json;
use crate::findings::Findings;
use crate::measure::{self, Categories, Fraction, GroupCounts};
use crate::promise::show;
use crate::{AuditError, Check, Linking, Similarity, SimilarityOf};

/// Sensitive values are those of the domain, each as often as the manifest says.
///
/// The counts say how often each code of the published domain occurs.
pub(crate) fn sensitive_values(shown: Option<(&Attribute, &Domain, &[u64])>) -> Check {
    let mut findings = Findings::new("sensitive values");
    let Some((attribute, domain, found)) = shown else {
        return findings.check("no sensitive attribute".into());
    };
    let (name, kind) = (&attribute.name, Kind::from(attribute.kind));
    let (Some(values), Some(counts)) = (&attribute.domain.values, &attribute.domain.counts) else {
        findings.add("domains", || format!("the manifest does not say how often the values of `{name}` occur"));
        return findings.check(String::new());
    };
    let mut is_known = vec![false; domain.len()];
    let mut codes = Vec::new();
    for (json, &count) in values.iter().zip(counts) {
        let value: Option<Value> = from_json(kind, json);
        let code = if json.is_null() || value.is_some() { domain.code_of(value.as_ref()) } else { None };
        let occurs = code.map_or(0, |code| found[code as usize]);
        if let Some(code) = code {
            is_known[code as usize] = true;
            codes.push(code);
        }
        if occurs != count {
            findings.add("values that occur a different number of times", || {
                format!("a value of `{name}` occurs {occurs} times, the manifest says {count}")
            });
        }
    }
    if !codes.is_sorted_by(|a, b| a < b) {
        findings.add("order", || format!("the manifest lists the values of `{name}` in a different order"));
    }
    let unknown = (0..domain.len()).filter(|&code| !is_known[code] && found[code] > 0);
    for count in unknown.map(|code| found[code]) {
        findings.add("values outside the domain", || {
            format!("a value of `{name}` that is not in the domain occurs {count} times")
        });
    }
    findings.check(format!("{} values of `{name}`, each as often as the manifest says", values.len()))
}

/// The taxonomy of the sensitive attribute, if it has one.
pub(crate) fn taxonomy(attribute: &Attribute, domain: &Domain) -> Result<Option<Taxonomy>, AuditError> {
    let Some(lines) = &attribute.taxonomy else { return Ok(None) };
    // A domain of nothing but missing values has no lines, and no values that could be far apart.
    if lines.is_empty() && domain.values().is_empty() {
        return Ok(None);
    }
    let bad = |problem: String| AuditError::Attribute { attribute: attribute.name.clone(), problem };
    let file = TaxonomyFile::from_lines(lines).map_err(|error| bad(error.to_string()))?;
    file.bind(domain).map(Some).map_err(|error| bad(error.to_string()))
}

/// The categories of the sensitive attribute with their weights, if it has them.
pub(crate) fn categories(attribute: &Attribute, domain: &Domain) -> Result<Option<Categories>, AuditError> {
    let Some(names) = &attribute.categories else { return Ok(None) };
    let weights = attribute.weights.as_deref().unwrap_or_default();
    let bad = |problem: String| AuditError::Attribute { attribute: attribute.name.clone(), problem };
    Categories::new(domain, names, weights).map(Some).map_err(bad)
}

/// The best that an attacker who knows every quasi value can do: bet on the most frequent value of the worst group.
pub(crate) fn linking(sample: &GroupCounts, ids: &[Option<i64>]) -> Option<Linking> {
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

/// How many groups have all their sensitive values in one category (lalpha, section 2), and which groups these are;
/// `None` without categories.
pub(crate) fn similarity(
    shown: Option<(&Attribute, &Domain, &GroupCounts)>,
) -> Result<(Option<Similarity>, Vec<usize>), AuditError> {
    let Some((attribute, domain, sample)) = shown else { return Ok((None, Vec::new())) };
    let Some(known) = categories(attribute, domain)? else { return Ok((None, Vec::new())) };
    let names = attribute.categories.iter().flatten();
    let mut by_category: Vec<SimilarityOf> =
        names.map(|values| SimilarityOf { values: values.clone(), rows: 0, groups: 0 }).collect();
    let exposed = sample.groups().filter_map(|(index, group)| {
        let counts = known.counts(group);
        let mut present = counts.iter().enumerate().filter(|(_, count)| **count > 0);
        let only = present.next().map(|(category, &rows)| (index, category, rows));
        only.filter(|_| present.next().is_none())
    });
    let mut exposed_groups = Vec::new();
    for (index, category, rows) in exposed.collect::<Vec<(usize, usize, u64)>>() {
        exposed_groups.push(index);
        if let Some(found) = by_category.get_mut(category) {
            found.rows += rows;
            found.groups += 1;
        }
    }
    let (rows, groups) = by_category.iter().fold((0, 0), |(rows, groups), of| (rows + of.rows, groups + of.groups));
    Ok((Some(Similarity { rows, groups, by_category }), exposed_groups))
}
