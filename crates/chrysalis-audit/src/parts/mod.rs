//! A release judged part by part, when it is larger than memory.
//!
//! Tables of such a release are in parts, and no group is divided among them. So whatever concerns one group alone is
//! judged within its part, and the worst group of the release is the worst of its parts. What compares groups with the
//! whole table (distances, gains, ordinary values, numbers that are near each other) takes the whole table's values from
//! a first pass over all parts ([`Survey`]). What no part shows alone is judged across parts, in memory that does not
//! grow with rows: whether group ids are the numbers from 1 on and every group is in one part (a bit per group), what the
//! manifest says of its columns and what labels stand for (some rows of every part, [`outline`]), and numbers of rows.
//!
//! Attacks that learn from all groups at once are not run, and the report says so.

mod ids;
mod merge;
mod outline;
mod survey;

use std::collections::BTreeMap;

use chrysalis_release::{Cell, Detail, Holds, Manifest, Release, RoleName, Values};
use chrysalis_table::Watch;

use self::ids::Ids;
use self::outline::Outline;
pub use self::survey::Survey;
use self::survey::Whole;
use crate::attack::{AttackTarget, Holders, NEEDS_ALL_GROUPS, Together, WorstGroup, no_insider, worst_by_step};
use crate::measure::GroupCounts;
use crate::promise::Measured;
use crate::several::{self, Columns};
use crate::transparent::Hull;
use crate::{Attacks, AuditError, AuditReport, Check, Disclosure, Finding, boxes, form, manifest, transparent};

/// Whether groups are all of a release, or those of one of its parts.
#[derive(Clone, Copy)]
pub(crate) enum Extent<'a> {
    All,
    /// Of a part: how often each sensitive value occurs in the whole table.
    Part(&'a [u64]),
}

impl Extent<'_> {
    pub(crate) fn is_part(self) -> bool {
        matches!(self, Extent::Part(_))
    }

    /// Groups, compared with the table to which they belong.
    pub(crate) fn of(self, sample: GroupCounts) -> GroupCounts {
        match self {
            Extent::All => sample,
            Extent::Part(whole) => sample.within(whole.to_vec()),
        }
    }
}

/// What was found in some groups, and what it takes to bring it together with what is found in others.
pub(crate) struct Looked {
    pub(crate) report: AuditReport,
    pub(crate) principles: Vec<Measured>,
    pub(crate) seen: GroupsSeen,
}

/// What attacks saw of groups besides what their findings say.
#[derive(Clone, Debug)]
pub(crate) struct GroupsSeen {
    /// For every number of values that an attacker rules out, the groups that are hit hardest.
    background: Vec<Vec<WorstGroup>>,
    /// The groups that have the largest number.
    largest: Holders,
}

impl Default for GroupsSeen {
    fn default() -> Self {
        GroupsSeen { background: Vec::new(), largest: Holders::Nobody }
    }
}

impl GroupsSeen {
    pub(crate) fn of(target: &AttackTarget<'_>, attacks: &Attacks) -> GroupsSeen {
        let background = worst_by_step(target, attacks.background.as_ref());
        GroupsSeen { background, largest: Holders::of(target) }
    }
}

fn in_one_piece(problem: impl Into<String>) -> AuditError {
    AuditError::InOnePiece { problem: problem.into() }
}

/// Refuses releases that parts do not show well enough.
fn check(manifest: &Manifest) -> Result<(), AuditError> {
    let shape = manifest.method.shape();
    let is_by_groups = match (shape.detail, shape.values) {
        (Detail::RowBoxes, _) | (_, Values::Swapped) => false,
        (Detail::Exact | Detail::Permuted | Detail::GroupBoxes, Values::Beside | Values::Counted(_)) => {
            !shape.has_users && shape.group_id.is_some()
        }
    };
    let problem = match manifest {
        _ if !is_by_groups => format!("releases by method `{}` are not divided by groups", manifest.method),
        _ if manifest.persons.is_some() => "its promises count persons".to_owned(),
        _ if manifest.series.is_some() => "it belongs to a series".to_owned(),
        _ if manifest.suppressed > 0 => "rows are suppressed in it".to_owned(),
        _ if manifest.partitioner == "sequential" => "its groups follow the order of the rows".to_owned(),
        _ if manifest.rows > u64::from(u32::MAX) => {
            format!("it has {} rows, and at most {} can be compared with each other", manifest.rows, u32::MAX)
        }
        _ => return Ok(()),
    };
    Err(in_one_piece(problem))
}

/// An audit of a release that is given part by part.
///
/// # Guarantees
/// Those of [`audit`](crate::audit) without microdata: the report is [`ok`](AuditReport::ok) if and only if that of the
/// release in one piece is, unless a group is divided among parts, which is a finding here in any case. Promises, rows
/// that are given away and all attacks that are run have the same levels; attacks that learn from all groups at once are
/// not run.
///
/// # Cost
/// Memory for one part, the values of the whole table and one bit per group.
pub struct PartsAudit<'a> {
    manifest: &'a Manifest,
    whole: Whole,
    surveyed: Survey,
    again: Survey,
    ids: Vec<Ids>,
    outline: Outline,
    hulls: Vec<Option<Hull>>,
    parts: Vec<Part>,
    rows: BTreeMap<String, u64>,
}

/// What was found in one part.
struct Part {
    /// By sensitive attribute, or one for all where at most one is sensitive.
    reports: Vec<Looked>,
    of_all: Vec<Check>,
    learned: Vec<Together>,
    disclosure: Option<Disclosure>,
}

impl<'a> PartsAudit<'a> {
    /// Begins the audit of a release whose parts were all surveyed.
    pub fn new(manifest: &'a Manifest, survey: Survey) -> Result<PartsAudit<'a>, AuditError> {
        check(manifest)?;
        let most = manifest.groups.min(manifest.rows);
        let with_ids = manifest.layout().tables.into_iter().filter(|table| {
            table.holds != Holds::Counterfeits && table.columns.iter().any(|column| column.cell == Cell::GroupId)
        });
        Ok(PartsAudit {
            manifest,
            whole: survey.finish()?,
            again: survey.emptied(),
            surveyed: survey,
            ids: with_ids.map(|table| Ids::new(table.name, most)).collect(),
            outline: Outline::default(),
            hulls: Vec::new(),
            parts: Vec::new(),
            rows: BTreeMap::new(),
        })
    }

    /// Judges one part: the rows of its groups in every table that is in parts, and all other tables whole. Its manifest
    /// is that of the release, but lists the rows of this part.
    pub fn judge(&mut self, part: Release, watch: &dyn Watch) -> Result<(), AuditError> {
        self.again.add(&part)?;
        let mut part = self.whole.recoded(part)?;
        let shape = part.manifest.method.shape();
        let mut n_groups = 0;
        for ids in &mut self.ids {
            let column = part.table(&ids.table).ok().and_then(|table| table.column(shape.group_id?));
            let Some(column) = column else { continue };
            ids.add(column.domain());
            if ids.table == shape.people {
                n_groups = column.domain().values().len() as u64;
            }
        }
        for entry in &part.manifest.tables {
            *self.rows.entry(entry.name.clone()).or_default() += entry.rows;
        }
        let people = part.manifest.tables.iter().find(|entry| entry.name == shape.people);
        part.manifest.rows = people.map_or(0, |entry| entry.rows);
        part.manifest.groups = n_groups;
        watch.pause();
        self.outline.add(&part, |table| is_divided(self.manifest, table), watch);
        watch.pause();
        let mut found = self.looked(&part, watch)?;
        if let Some(check) = transparent::check(&part, watch)? {
            found.of_all.push(check);
            self.hulls.push(transparent::hull(&part));
        }
        self.parts.push(found);
        Ok(())
    }

    fn looked(&self, part: &Release, watch: &dyn Watch) -> Result<Part, AuditError> {
        let counts = |name: &str| self.whole.column(name).map(|column| column.counts.clone()).unwrap_or_default();
        if self.manifest.has_several_sensitive() {
            let recoded = |alone: Release| self.whole.recoded(alone);
            let Columns { reports, of_all, learned, disclosure } = several::look_part(part, &recoded, &counts, watch)?;
            let reports = reports.into_iter().map(|(_, looked)| looked).collect();
            return Ok(Part { reports, of_all, learned, disclosure });
        }
        let sensitive = self.manifest.with_role(RoleName::Sensitive).next();
        let counts = sensitive.map(|attribute| counts(&attribute.name)).unwrap_or_default();
        let looked = form::judge(self.manifest.method).audit_part(part, Extent::Part(&counts), watch)?;
        Ok(Part { reports: vec![looked], of_all: Vec::new(), learned: Vec::new(), disclosure: None })
    }

    /// The report about all parts.
    pub fn finish(mut self, watch: &dyn Watch) -> Result<AuditReport, AuditError> {
        let manifest = self.manifest;
        let parts = std::mem::take(&mut self.parts);
        let n_groups = self.ids.iter().find(|ids| ids.table == manifest.method.shape().people).map_or(0, Ids::groups);
        let outline = self.outline.release(manifest);
        let mut all: Vec<Vec<Looked>> = Vec::new();
        let (mut of_all, mut learned, mut disclosures) = (Vec::new(), Vec::new(), Vec::new());
        for part in parts {
            all.resize_with(part.reports.len(), Vec::new);
            all.iter_mut().zip(part.reports).for_each(|(known, looked)| known.push(looked));
            of_all.push(part.of_all);
            add_up(&mut learned, part.learned);
            disclosures.push(part.disclosure);
        }
        let of_all = merge::checks(&of_all.iter().map(Vec::as_slice).collect::<Vec<_>>(), manifest, n_groups);
        let names: Vec<&str> = manifest.with_role(RoleName::Sensitive).map(|it| it.name.as_str()).collect();
        let has_several = manifest.has_several_sensitive();
        let mut reports: Vec<(String, AuditReport)> = Vec::new();
        for (at, looked) in all.into_iter().enumerate() {
            let sensitive = names.get(at).and_then(|name| Some((*name, self.whole.column(name)?)));
            let alone = match (has_several, names.get(at)) {
                (true, Some(name)) => outline.about(name)?,
                _ => outline.clone(),
            };
            let report = merge::merged(&alone.manifest, sensitive, looked);
            let mut report = report.ok_or(AuditError::NoRows { what: "the release" })?;
            self.across(&alone, &mut report)?;
            reports.push((names.get(at).copied().unwrap_or_default().to_owned(), report));
        }
        let mut report = match has_several {
            false => {
                let mut report =
                    reports.pop().map(|(_, report)| report).ok_or(AuditError::NoRows { what: "the release" })?;
                report.attacks.findings.push(no_insider());
                report.checks.extend(of_all);
                report
            }
            true => {
                let disclosure = merge::disclosure(&disclosures.iter().map(Option::as_ref).collect::<Vec<_>>());
                let not_run = (None, Finding::not_run("insider", NEEDS_ALL_GROUPS));
                several::combined(manifest, Columns { reports, of_all, learned, disclosure }, not_run)?
            }
        };
        self.compare_parts(&mut report, watch);
        report.checks.extend(self.ids());
        report.checks.push(manifest::check(&outline, report.disclosure.as_ref(), watch));
        Ok(report)
    }

    /// Checks that take the rows of all parts.
    fn across(&self, outline: &Release, report: &mut AuditReport) -> Result<(), AuditError> {
        let shape = self.manifest.method.shape();
        if shape.members.is_some() && shape.detail == Detail::GroupBoxes {
            let after = report.checks.iter().position(|check| check.name == "ranges").map_or(0, |at| at + 1);
            report.checks.insert(after, boxes::labels(outline)?);
        }
        Ok(())
    }

    /// Whether the parts are together what the manifest says, and nothing stands in two of them.
    fn compare_parts(&self, report: &mut AuditReport, watch: &dyn Watch) {
        let shape = self.manifest.method.shape();
        for entry in self.manifest.tables.iter().filter(|entry| is_divided(self.manifest, &entry.name)) {
            let found = self.rows.get(&entry.name).copied().unwrap_or(0);
            if found != entry.rows {
                let sentence = format!("`{}` has {found} rows, the manifest lists {}", entry.name, entry.rows);
                add(report, "tables", sentence);
            }
        }
        let rows = self.rows.get(shape.people).copied().unwrap_or(0);
        if rows != self.manifest.rows {
            let sentence = format!("`{}` has {rows} rows, the manifest says {}", shape.people, self.manifest.rows);
            add(report, "tables", sentence);
        }
        for ids in &self.ids {
            if ids.divided > 0 {
                let n = ids.divided;
                let sentence =
                    format!("{n} groups have rows in several parts of `{}`, which could tell them apart", ids.table);
                add(report, "row order", sentence);
                let example = ids.example.map_or_else(String::new, |id| format!(" (group {id} is one)"));
                let sentence = format!(
                    "{n} groups of `{}` are divided among parts{example}, so that each was judged in pieces",
                    ids.table
                );
                add(report, "groups", sentence);
            }
            if ids.table == shape.people && ids.groups() != self.manifest.groups {
                let (found, said) = (ids.groups(), self.manifest.groups);
                add(report, "groups", format!("there are {found} group ids, the manifest says {said}"));
            }
        }
        if self.hulls.len() > 1 && self.hulls.iter().all(Option::is_some) {
            let hulls: Vec<&Hull> = self.hulls.iter().flatten().collect();
            if let Some([one, other]) = transparent::not_taken_apart(&hulls, watch) {
                let sentence = format!(
                    "no cut by one column takes parts {} and {} apart, so cuts by quasi values did not form them",
                    one + 1,
                    other + 1
                );
                add(report, transparent::NAME, sentence);
            }
        }
        for (at, attribute) in self.manifest.attributes.iter().enumerate() {
            if self.surveyed.counts(at) != self.again.counts(at) {
                let sentence = format!("the values of `{}` changed while they were read", attribute.name);
                add(report, "sensitive values", sentence);
            }
        }
    }

    /// Ids are the numbers from 1 on, over all parts of every table.
    fn ids(&self) -> Option<Check> {
        let shape = self.manifest.method.shape();
        let word = shape.group_word;
        let of = |ids: &&Ids| !ids.are_dense();
        let sentence =
            |ids: &Ids| format!("the {word} ids of `{}` are not the numbers from 1 to {}", ids.table, ids.groups());
        let findings: Vec<String> = self.ids.iter().filter(of).map(sentence).collect();
        let n = self.ids.iter().find(|ids| ids.table == shape.people)?.groups();
        let detail = match findings.is_empty() {
            true => format!("{word} ids are the numbers from 1 to {n}"),
            false => findings.join("; "),
        };
        Some(Check { name: "ids", ok: findings.is_empty(), detail, findings })
    }
}

/// Whether a table is in parts.
fn is_divided(manifest: &Manifest, table: &str) -> bool {
    manifest.tables.iter().any(|entry| entry.name == table && entry.parts.len() > 1)
}

/// Adds a finding to the check of that name.
fn add(report: &mut AuditReport, name: &'static str, sentence: String) {
    let known = report.checks.iter_mut().find(|check| check.name == name);
    let check = match known {
        Some(check) => check,
        None => {
            report.checks.push(Check { name, ok: true, detail: String::new(), findings: Vec::new() });
            // PROOF: it was pushed just now.
            let last = report.checks.len() - 1;
            &mut report.checks[last]
        }
    };
    check.ok = false;
    check.findings.push(sentence);
    check.detail = check.findings.join("; ");
}

/// Rows that an insider learns about, part by part: they are counted group by group.
fn add_up(known: &mut Vec<Together>, more: Vec<Together>) {
    if known.is_empty() {
        *known = more;
        return;
    }
    for (known, more) in known.iter_mut().zip(more) {
        known.rows += more.rows;
        known.certain_rows += more.certain_rows;
        known.certain_from_group += more.certain_from_group;
        known.right += more.right;
        known.right_from_group += more.right_from_group;
    }
}
