//! What was found about the parts of a release becomes what is found about all of it. Whatever is counted by groups adds
//! up, and the worst group of all is the worst of the worst: nothing here is estimated.

use chrysalis_release::{Detail, Manifest, RoleName};
use chrysalis_table::Kind;
use chrysalis_table::exact::{BigRational, from_float};
use num_bigint::BigInt;
use num_traits::Zero;

use super::Looked;
use super::survey::{WholeColumn, has_counts};
use crate::attack::{
    self, EndPlacement, Holders, NumberEnds, Subject, WorstGroup, extremes, foremost, linking_worst, presence,
    row_linking, similarity,
};
use crate::measure::to_float;
use crate::promise::{Measured, promised_values};
use crate::report::{Linking, Presence, RowLinking, Similarity, Utility};
use crate::{Attacks, AuditReport, Background, Bystander, Check, Disclosure, Finding, RuledOut};

/// How many findings about parts are spelled out.
const LISTED: usize = 10;

/// One report about a sensitive attribute, or about a release without any. The manifest is about that attribute alone.
pub(super) fn merged(
    manifest: &Manifest,
    sensitive: Option<(&str, &WholeColumn)>,
    parts: Vec<Looked>,
) -> Option<AuditReport> {
    let first = parts.first()?.report.clone();
    let reports = || parts.iter().map(|part| &part.report);
    let rows = reports().map(|report| report.rows).sum();
    let groups = reports().map(|report| report.groups).sum();
    let attacks = Merging { manifest, sensitive, parts: &parts, rows }.attacks();
    let checks = checks(&reports().map(|report| report.checks.as_slice()).collect::<Vec<_>>(), manifest, groups);
    let disclosure = disclosure(&reports().map(|report| report.disclosure.as_ref()).collect::<Vec<_>>());
    let utility = utility(&reports().map(|report| report.utility.as_ref()).collect::<Vec<_>>());
    let all = parts.into_iter().map(|part| part.principles);
    let principles: Option<Vec<Measured>> =
        all.reduce(|known, more| known.into_iter().zip(more).map(|(known, more)| known.merged(more)).collect());
    let principles = principles.into_iter().flatten().map(Measured::result).collect();
    Some(AuditReport { principles, checks, attacks, disclosure, utility, rows, groups, ..first })
}

/// Rows that parts give away add up.
pub(super) fn disclosure(parts: &[Option<&Disclosure>]) -> Option<Disclosure> {
    let all: Vec<&Disclosure> = parts.iter().copied().collect::<Option<_>>()?;
    let first = (*all.first()?).clone();
    Some(Disclosure {
        certain_rows: all.iter().map(|found| found.certain_rows).sum(),
        disclosed_rows: all.iter().map(|found| found.disclosed_rows).sum(),
        ..first
    })
}

fn utility(parts: &[Option<&Utility>]) -> Option<Utility> {
    let all: Vec<&Utility> = parts.iter().copied().collect::<Option<_>>()?;
    all.first()?;
    // The bound is a sum over groups, and exists only where all of them keep what is promised.
    let bounds: Option<Vec<f64>> = all.iter().map(|found| found.rce_bound).collect();
    let rce_bound = bounds.map(|bounds| bounds.iter().sum());
    Some(Utility { rce: all.iter().map(|found| found.rce).sum(), rce_bound })
}

/// One check of each name. A finding that is not about all parts says which part it is about.
pub(super) fn checks(parts: &[&[Check]], manifest: &Manifest, groups: u64) -> Vec<Check> {
    let mut names: Vec<&'static str> = Vec::new();
    for check in parts.iter().copied().flatten() {
        if !names.contains(&check.name) {
            names.push(check.name);
        }
    }
    names.into_iter().map(|name| check(name, parts, manifest, groups)).collect()
}

fn check(name: &'static str, parts: &[&[Check]], manifest: &Manifest, groups: u64) -> Check {
    let found: Vec<(usize, &Check)> = (1..)
        .zip(parts)
        .flat_map(|(part, checks)| {
            checks.iter().filter(move |check| check.name == name).map(move |check| (part, check))
        })
        .collect();
    let ok = found.iter().all(|(_, check)| check.ok);
    let mut each = found.iter().map(|(_, check)| &check.findings);
    let first = each.next();
    let findings = match first {
        Some(first) if each.all(|findings| findings == first) => first.clone(),
        _ => {
            let named = found
                .iter()
                .flat_map(|(part, check)| check.findings.iter().map(move |finding| format!("part {part}: {finding}")));
            listed(named.collect())
        }
    };
    let details: Vec<&str> = found.iter().map(|(_, check)| check.detail.as_str()).collect();
    let detail = match (ok, name) {
        (false, _) => findings.join("; "),
        (true, "groups") => {
            let both =
                if has_counts(manifest.method.shape().values) { ", of the same size in both tables" } else { "" };
            format!("{groups} groups by group id, each in one of {} parts{both}", parts.len())
        }
        (true, _) => told(&details),
    };
    Check { name, ok, detail, findings }
}

/// The first few of many findings.
pub(super) fn listed(mut findings: Vec<String>) -> Vec<String> {
    let n = findings.len();
    if n > LISTED {
        findings.truncate(LISTED);
        findings.push(format!("{} more findings in other parts", n - LISTED));
    }
    findings
}

/// What all parts say; if they say different numbers of the same things, the sum of these.
fn told(details: &[&str]) -> String {
    let Some(first) = details.first() else { return String::new() };
    if details.iter().all(|detail| detail == first) {
        return (*first).to_owned();
    }
    let counted = |detail: &&str| {
        let (number, rest) = detail.split_once(' ')?;
        Some((number.parse::<u64>().ok()?, rest.to_owned()))
    };
    let all: Option<Vec<(u64, String)>> = details.iter().map(counted).collect();
    match all.filter(|all| all.iter().all(|(_, rest)| *rest == all[0].1)) {
        // Parts may have some of them in common.
        Some(all) if all[0].1.contains("different") => {
            format!("{} {}, counted in every part", all.iter().map(|(n, _)| n).sum::<u64>(), all[0].1)
        }
        Some(all) => format!("{} {}", all.iter().map(|(n, _)| n).sum::<u64>(), all[0].1),
        None => format!("{first}, in the first of {} parts, and likewise in the others", details.len()),
    }
}

struct Merging<'a> {
    manifest: &'a Manifest,
    sensitive: Option<(&'a str, &'a WholeColumn)>,
    parts: &'a [Looked],
    /// Of all parts.
    rows: u64,
}

impl<'a> Merging<'a> {
    fn each<T: 'a>(&self, found: impl Fn(&'a Attacks) -> Option<&'a T>) -> Vec<&'a T> {
        self.parts.iter().filter_map(|part| found(&part.report.attacks)).collect()
    }

    fn attacks(&self) -> Attacks {
        let mut attacks = self.parts[0].report.attacks.clone();
        let shape = self.manifest.method.shape();
        let subject = self.sensitive.map(|(sensitive, _)| Subject { sensitive, group_word: shape.group_word });
        attacks.linking = self.linking();
        attacks.row_linking = self.row_linking();
        attacks.presence = self.presence();
        attacks.similarity = self.similarity();
        let background = self.background();
        attacks.background = background.as_ref().map(|(found, _)| found.clone());
        attacks.bystander = self.bystander();
        let mut findings = Vec::new();
        for finding in &attacks.findings {
            let told = match (finding.attack, subject) {
                ("linking", Some(subject)) => attacks.linking.as_ref().map(|found| {
                    let level = exact(&found.confidence_text, found.confidence);
                    linking_worst(subject, Some(found), Some(level), self.by_level("linking"))
                }),
                ("row_linking", _) => attacks
                    .row_linking
                    .as_ref()
                    .map(|found| row_linking(Some(found), self.rows, self.by_level("row_linking"))),
                ("presence", _) => Some(presence(attacks.presence.as_ref(), attacks.row_linking.as_ref(), self.rows)),
                ("similarity", Some(subject)) => attacks
                    .similarity
                    .as_ref()
                    .map(|found| similarity(subject, Some(found), self.by_rows("similarity"))),
                ("background", Some(subject)) => background.as_ref().map(|(found, worst)| {
                    let steps = found.steps.iter().map(|step| {
                        let level = exact(&step.confidence_text, step.confidence);
                        (step.clone(), level)
                    });
                    attack::background(subject, &steps.collect::<Vec<_>>(), found.l, worst.clone())
                }),
                ("bystander", _) => attacks.bystander.as_ref().map(|found| self.told_bystander(found)),
                _ => None,
            };
            findings.push(told.unwrap_or_else(|| finding.clone()));
        }
        let (found, finding) = self.extremes(shape.group_word);
        attacks.extremes = found;
        findings.iter_mut().filter(|known| known.attack == finding.attack).for_each(|known| *known = finding.clone());
        attacks.findings = findings;
        attacks
    }

    fn linking(&self) -> Option<Linking> {
        let all = self.each(|attacks| attacks.linking.as_ref());
        let level = |found: &Linking| exact(&found.confidence_text, found.confidence);
        let worst = all.iter().map(|found| level(found)).max()?;
        let reach: Vec<&&Linking> = all.iter().filter(|found| level(found) == worst).collect();
        let first = reach.iter().min_by_key(|found| found.group)?;
        Some(Linking { rows: reach.iter().map(|found| found.rows).sum(), ..(***first).clone() })
    }

    fn row_linking(&self) -> Option<RowLinking> {
        let all = self.each(|attacks| attacks.row_linking.as_ref());
        let level = |found: &RowLinking| exact(&found.delta_text, found.delta);
        let worst = all.iter().map(|found| level(found)).max()?;
        all.into_iter().filter(|found| level(found) == worst).min_by_key(|found| found.group).cloned()
    }

    fn presence(&self) -> Option<Presence> {
        let all = self.each(|attacks| attacks.presence.as_ref());
        all.first()?;
        Some(Presence {
            certain_rows: all.iter().map(|found| found.certain_rows).sum(),
            certain_group: all.iter().filter_map(|found| found.certain_group).min(),
            covered: all.iter().map(|found| found.covered).sum::<f64>().min(1.0),
            population: None,
        })
    }

    fn similarity(&self) -> Option<Similarity> {
        let all = self.each(|attacks| attacks.similarity.as_ref());
        let mut sum = (*all.first()?).clone();
        for found in &all[1..] {
            (sum.rows, sum.groups) = (sum.rows + found.rows, sum.groups + found.groups);
            for (of, more) in sum.by_category.iter_mut().zip(&found.by_category) {
                (of.rows, of.groups) = (of.rows + more.rows, of.groups + more.groups);
            }
        }
        Some(sum)
    }

    /// As many steps as the fewest values of any group call for, which every part has taken, and the worst groups of the
    /// last one.
    fn background(&self) -> Option<(Background, Vec<WorstGroup>)> {
        let all = self.each(|attacks| attacks.background.as_ref());
        let l = match promised_values(&self.manifest.promises) {
            promised if promised > 1 => promised,
            _ => all.iter().map(|found| found.l).min()?,
        };
        let n_steps = all.iter().map(|found| found.steps.len()).min()?;
        let level = |step: &RuledOut| exact(&step.confidence_text, step.confidence);
        let step = |at: usize| {
            let steps = || all.iter().map(|found| &found.steps[at]);
            let worst = steps().map(level).max()?;
            let reach: Vec<&RuledOut> = steps().filter(|step| level(step) == worst).collect();
            let first = (*reach.iter().min_by_key(|step| step.group)?).clone();
            Some(RuledOut { rows: reach.iter().map(|step| step.rows).sum(), ..first })
        };
        let steps: Vec<RuledOut> = (0..n_steps).filter_map(step).collect();
        let last = self.parts.iter().filter_map(|part| part.seen.background.get(n_steps.checked_sub(1)?));
        let worst = ranked(last.flatten().cloned().collect());
        Some((Background { l, steps }, worst))
    }

    fn bystander(&self) -> Option<Bystander> {
        let all = self.each(|attacks| attacks.bystander.as_ref());
        let first = (*all.first()?).clone();
        Some(Bystander {
            alone_rows: all.iter().map(|found| found.alone_rows).sum(),
            certain_rows: all.iter().map(|found| found.certain_rows).sum(),
            disclosed_rows: all.iter().map(|found| found.disclosed_rows).sum(),
            ..first
        })
    }

    fn told_bystander(&self, found: &Bystander) -> Finding {
        // Where several attributes stand in rows, each is permuted on its own, and the manifest that is about one of them
        // does not list the columns that are kept beside all.
        let is_permuted = self.manifest.with_role(RoleName::Other).next().is_none();
        match is_permuted {
            true => found.finding_of_permuted(self.rows),
            false => Bystander::finding(Some(found), self.rows),
        }
    }

    fn extremes(&self, group_word: &str) -> (Option<crate::Extremes>, Finding) {
        let is_range = |kind: Kind| kind.is_ordered();
        let has_ranges = match self.manifest.method.shape().detail {
            Detail::GroupBoxes | Detail::RowBoxes => {
                self.manifest.with_role(RoleName::Quasi).any(|it| is_range(it.kind.into()))
            }
            Detail::Exact | Detail::Permuted => false,
        };
        let placed = if has_ranges { EndPlacement::CannotTell } else { EndPlacement::NoRanges };
        let holders = self.parts.iter().fold(Holders::Nobody, |all, part| all.and(part.seen.largest.clone()));
        let numbers = self
            .sensitive
            .and_then(|(name, whole)| NumberEnds::of_counts(name, &whole.domain, &whole.counts))
            .map(|numbers| numbers.held_by(holders, group_word));
        extremes(numbers, placed)
    }

    fn worst_groups(&self, name: &str) -> Vec<WorstGroup> {
        let findings = self.parts.iter().flat_map(|part| &part.report.attacks.findings);
        findings.filter(|finding| finding.attack == name).flat_map(|finding| finding.worst_groups.clone()).collect()
    }

    fn by_level(&self, name: &str) -> Vec<WorstGroup> {
        ranked(self.worst_groups(name))
    }

    fn by_rows(&self, name: &str) -> Vec<WorstGroup> {
        foremost(self.worst_groups(name), |a, b| b.rows.cmp(&a.rows).then(a.id.cmp(&b.id)))
    }
}

/// The groups with the highest levels; ties go to the lowest ids.
fn ranked(groups: Vec<WorstGroup>) -> Vec<WorstGroup> {
    let with_level = |group: WorstGroup| (exact(&group.level_text, group.level), group);
    let all: Vec<(BigRational, WorstGroup)> = groups.into_iter().map(with_level).collect();
    let first = foremost(all, |a, b| b.0.cmp(&a.0).then(a.1.id.cmp(&b.1.id)));
    first.into_iter().map(|(_, group)| group).collect()
}

/// An exact number as it is shown: `0.25` or `3/7`. If it is neither, the nearest float stands for it.
fn exact(text: &str, float: f64) -> BigRational {
    let read = || {
        if let Some((numerator, denominator)) = text.split_once('/') {
            let denominator: BigInt = denominator.parse().ok()?;
            return (!denominator.is_zero()).then_some(BigRational::new(numerator.parse().ok()?, denominator));
        }
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let scale = BigInt::from(10).pow(u32::try_from(fraction.len()).ok()?);
        Some(BigRational::new(format!("{whole}{fraction}").parse().ok()?, scale))
    };
    let is_right = |number: &BigRational| (to_float(Some(number)) - float).abs() <= 1e-9 * float.abs().max(1e-300);
    read().filter(is_right).or_else(|| from_float(float)).unwrap_or_else(BigRational::zero)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_numbers_are_read_as_they_are_shown() {
        let number = |a: i64, b: i64| BigRational::new(a.into(), b.into());
        assert_eq!(exact("3/7", 3.0 / 7.0), number(3, 7));
        assert_eq!(exact("0.25", 0.25), number(1, 4));
        assert_eq!(exact("1", 1.0), number(1, 1));
        assert_eq!(exact("unbounded", 0.5), number(1, 2));
    }

    #[test]
    fn numbers_add_up_where_parts_say_the_same() {
        assert_eq!(told(&["3 counts, all positive", "4 counts, all positive"]), "7 counts, all positive");
        assert_eq!(told(&["canonical", "canonical"]), "canonical");
        assert_eq!(told(&["3 different ranges", "4 different ranges"]), "7 different ranges, counted in every part");
    }
}
