//! What the audit says of a release, what the statements say, and whether they agree.

use std::collections::BTreeSet;

use chrysalis_audit::AuditReport;
use chrysalis_audit_sql::{Decides, statements};
use chrysalis_release::Release;
use chrysalis_table::Unwatched;

use crate::engines::Judge;

/// Checks that no statement can make: the audit may complain alone.
pub(crate) const NOT_IN_TABLES: [&str; 3] = ["row order", "marginals", "files"];
/// Checks of which a part depends on the manifest alone.
pub(crate) const PARTLY_IN_TABLES: [&str; 3] = ["manifest", "tables", "quasi-identifiers"];

/// Two judgements of one release.
#[derive(Debug, Default)]
pub(crate) struct Verdict {
    pub(crate) audit_complains: bool,
    pub(crate) sql_complains: bool,
    /// Complaints of the audit that no statement can make.
    pub(crate) only_audit: BTreeSet<String>,
    /// Where they disagree.
    pub(crate) wrong: Vec<String>,
    pub(crate) statements: usize,
    pub(crate) undecided: BTreeSet<String>,
}

pub(crate) fn audit(release: &Release) -> Option<AuditReport> {
    chrysalis_audit::audit(release, None, &Unwatched).ok()
}

/// Runs every statement, and compares.
pub(crate) fn compare(release: &Release, report: &AuditReport, judge: &mut Judge) -> Verdict {
    let mut verdict = Verdict::default();
    judge.take(release);
    let (mut complaints, mut undecided) = (BTreeSet::new(), BTreeSet::new());
    let mut decided = BTreeSet::new();
    let mut rough = BTreeSet::new();
    for statement in statements(&release.manifest, judge.dialect()) {
        let what = match (&statement.promise, statement.name.split('/').collect::<Vec<_>>()[..].to_vec()) {
            (Some(promise), _) => format!("promise {promise}"),
            (None, parts) if parts[0] == "check" => format!("check {}", parts[1]),
            (None, parts) => parts[0].to_owned(),
        };
        let Some(sql) = &statement.sql else {
            undecided.insert(what);
            continue;
        };
        verdict.statements += 1;
        decided.insert(what.clone());
        if statement.decides == Decides::ErrsTowardsComplaint {
            rough.insert(what.clone());
        }
        match judge.count(sql) {
            Ok(0) => {}
            Ok(_) => {
                complaints.insert(what);
            }
            Err(said) => verdict.wrong.push(format!("{}: {said}\n{sql}", statement.name)),
        }
    }
    let mut audited = BTreeSet::new();
    let broken = report.principles.iter().filter(|result| result.is_broken());
    audited.extend(broken.map(|result| format!("promise {}", result.principle)));
    audited.extend(report.checks.iter().filter(|check| !check.ok).map(|check| format!("check {}", check.name)));
    audited.extend(report.disclosure.iter().filter(|found| !found.ok()).map(|_| "disclosure".to_owned()));
    for what in audited.difference(&complaints) {
        let name = what.trim_start_matches("check ");
        let is_expected = NOT_IN_TABLES.contains(&name)
            || PARTLY_IN_TABLES.contains(&name)
            || (undecided.contains(what) && !decided.contains(what));
        match is_expected {
            true => drop(verdict.only_audit.insert(what.clone())),
            false => verdict.wrong.push(format!("only the audit complains: {what}: {}", details(report, name))),
        }
    }
    for what in complaints.difference(&audited) {
        verdict.wrong.push(format!("only SQL complains: {what}{}", if rough.contains(what) { " (rough)" } else { "" }));
    }
    verdict.audit_complains = !report.ok();
    verdict.sql_complains = !complaints.is_empty();
    verdict.undecided = undecided;
    verdict
}

fn details(report: &AuditReport, name: &str) -> String {
    let check = report.checks.iter().find(|check| check.name == name).map(|check| check.detail.clone());
    let promise = report.principles.iter().find(|it| name.ends_with(&it.principle)).map(|it| it.worst_text.clone());
    check.or(promise).unwrap_or_default()
}
