//! What attackers can do, with a score for each attack that has one.

use chrysalis_audit::{Attacks, Finding};
use serde::Serialize;

use crate::report::AuditOutcome;
use crate::words::{self, count, counted};

/// An attack.
#[derive(Clone, Debug, Serialize)]
pub struct ToldAttack {
    /// Its name, with the sensitive column where there are several.
    pub name: String,
    /// Whether it was run.
    pub state: AttackState,
    /// What it achieves, in a few words; empty if it was not run, or if there is no figure for it.
    pub score: String,
    /// What was found, or why it was not run.
    pub sentence: String,
}

/// Whether an attack was run. An attack that does not apply cannot be mounted; what one that was not measured would achieve,
/// nobody knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AttackState {
    /// It was run.
    Measured,
    /// It makes no sense for this release.
    DoesNotApply,
    /// It was not run, so nothing is known.
    NotMeasured,
}

/// All attacks; where several columns are sensitive, those on each of them first.
pub(super) fn told(outcome: &AuditOutcome) -> Vec<ToldAttack> {
    let mut told: Vec<ToldAttack> = Vec::new();
    for column in &outcome.columns {
        let attacks = &column.attacks;
        told.extend(attacks.findings.iter().map(|finding| attack(finding, attacks, Some(&column.column))));
    }
    let is_of_column = |finding: &&Finding| outcome.columns.iter().any(|it| it.attacks.findings.contains(finding));
    let rest = outcome.attacks.findings.iter().filter(|finding| !is_of_column(finding));
    told.extend(rest.map(|finding| attack(finding, &outcome.attacks, None)));
    // What was measured comes first, what does not apply last.
    told.sort_by_key(|attack| match attack.state {
        AttackState::Measured => 0,
        AttackState::NotMeasured => 1,
        AttackState::DoesNotApply => 2,
    });
    told
}

fn attack(finding: &Finding, attacks: &Attacks, column: Option<&str>) -> ToldAttack {
    let name = finding.attack.replace('_', " ");
    let is_vain = ["Does not apply", "Not run: nothing sensitive is published"];
    let state = match finding {
        _ if finding.was_run => AttackState::Measured,
        _ if is_vain.iter().any(|words| finding.sentence.starts_with(words)) => AttackState::DoesNotApply,
        _ => AttackState::NotMeasured,
    };
    ToldAttack {
        name: column.map_or(name.clone(), |column| format!("{name} (`{column}`)")),
        state,
        score: if finding.was_run { score(finding.attack, attacks).unwrap_or_default() } else { String::new() },
        sentence: finding.sentence.clone(),
    }
}

/// A number keeps its sign.
fn percent(share: f64) -> String {
    words::percent(share).replace(' ', "\u{a0}")
}

/// The figure of an attack that an owner would ask for.
fn score(name: &str, attacks: &Attacks) -> Option<String> {
    let people = |n: u64| if n == 1 { "1 person".to_owned() } else { format!("{} people", count(n)) };
    Some(match name {
        "linking" => format!("right: {} at best", percent(attacks.linking.as_ref()?.confidence)),
        "row_linking" => format!("right: {} at best", percent(attacks.row_linking.as_ref()?.delta)),
        "presence" if attacks.presence.as_ref()?.population.is_some() => {
            format!("right: {} at best", percent(attacks.presence.as_ref()?.population.as_ref()?.share))
        }
        "presence" => format!("certain for {}", counted(attacks.presence.as_ref()?.certain_rows, "row")),
        "similarity" => format!("{} open", counted(attacks.similarity.as_ref()?.rows, "row")),
        "background" => format!("right: {} at best", percent(attacks.background.as_ref()?.steps.last()?.confidence)),
        "learned" => match &attacks.learned.as_ref()?.scored {
            Some(scored) => format!("right: {} of bets", percent(scored.right / scored.people.max(1) as f64)),
            None => format!("believes: {} on average", percent(attacks.learned.as_ref()?.mean_confidence)),
        },
        "minimality" => format!("right: {} at best", percent(attacks.minimality.as_ref()?.confidence)),
        "republishing" => {
            let found = attacks.republishing.as_ref()?;
            let share = found.expected_determined / found.people.max(1) as f64;
            format!("{} certain after {}", percent(share), counted(found.releases, "release"))
        }
        "subtraction" => format!("right: {}", percent(attacks.subtraction?.confidence)),
        "bystander" => format!("{} disclosed", counted(attacks.bystander.as_ref()?.disclosed_rows, "row")),
        "insider" => {
            format!("believes: {} on average", percent(attacks.insider.as_ref()?.worst_pair()?.mean_confidence))
        }
        "joining" => format!("{} below k", people(attacks.joining.as_ref()?.narrowed)),
        "intersection" => {
            let narrowed: u64 = attacks.intersection.iter().map(|found| found.narrowed).max()?;
            format!("{} narrowed", people(narrowed))
        }
        "series" => format!("{} narrowed", people(attacks.series.as_ref()?.narrowed)),
        "pooling" => format!("{} below k", counted(attacks.pooling.iter().map(|found| found.rows_below).max()?, "row")),
        _ => return None,
    })
}
