//! One run: made in memory, judged by the audit, measured against the microdata.

use std::time::Instant;

use chrysalis_audit::AuditReport;
use chrysalis_evaluate::workload::AggregateAccuracy;
use chrysalis_evaluate::{Subspace, evaluate};
use chrysalis_release::Release;
use chrysalis_table::Table;
use rand::CryptoRng;

use super::questions::Asker;
use super::runs::Run;
use crate::failure::Failure;
use crate::maker::{Made, make};
use crate::progress::{Phases, Unit};

/// Rows of each published table that the report shows.
const SAMPLE_ROWS: usize = 8;

/// A run and what came of it.
pub(super) struct Trial {
    pub(super) run: Run,
    pub(super) found: Result<Numbers, Failure>,
}

impl Trial {
    /// The numbers, where the run could be made.
    pub(super) fn numbers(&self) -> Option<&Numbers> {
        self.found.as_ref().ok()
    }

    /// The numbers of a release that keeps its promises.
    pub(super) fn sound(&self) -> Option<&Numbers> {
        self.numbers().filter(|numbers| numbers.findings.is_empty())
    }

    /// What the run was asked to promise.
    pub(super) fn promise(&self) -> String {
        let wanted: Vec<String> = self.run.plan.require.iter().map(ToString::to_string).collect();
        let kept = self.numbers().map_or(wanted, |numbers| numbers.guarantees.clone());
        if kept.is_empty() { "nothing".to_owned() } else { kept.join(", ") }
    }
}

/// All that is told about a release.
pub(super) struct Numbers {
    pub(super) method: String,
    pub(super) partitioner: String,
    pub(super) guarantees: Vec<String>,
    pub(super) rows: u64,
    pub(super) groups: u64,
    pub(super) suppressed: u64,
    /// The smallest and the largest group.
    pub(super) sizes: (u64, u64),
    /// What the audit found wrong; empty for a release that keeps its promises.
    pub(super) findings: Vec<String>,
    pub(super) linking: Option<f64>,
    pub(super) presence: Option<f64>,
    /// The share of rows in groups of one category.
    pub(super) similar: Option<f64>,
    /// The share of people whose value is guessed right by an attacker who learns across groups.
    pub(super) learned: Option<f64>,
    /// How many times as often as by one who looks at groups alone.
    pub(super) lift: Option<f64>,
    /// What attacks come to, in words: their names and sentences.
    pub(super) attacks: Vec<(&'static str, String)>,
    pub(super) ncp: f64,
    pub(super) ncp_by_attribute: Vec<(String, f64)>,
    /// Infinite where the release excludes somebody who is in the microdata; absent where it cannot be measured.
    pub(super) kl: Option<f64>,
    pub(super) discernibility: u128,
    pub(super) average_group_size: Option<f64>,
    /// How well random questions are answered; the first aggregate is the one that is compared.
    pub(super) questions: Vec<AggregateAccuracy>,
    pub(super) seconds: f64,
    pub(super) samples: Vec<Sample>,
}

/// The first rows of a published table.
pub(super) struct Sample {
    pub(super) table: String,
    pub(super) rows: u64,
    pub(super) header: Vec<String>,
    pub(super) cells: Vec<Vec<String>>,
}

#[cfg(test)]
impl Trial {
    /// A made-up run by its linking confidence, its presence and its median error.
    pub(super) fn made_up(series: &str, varied: &[(&str, &str)], linking: f64, presence: f64, error: f64) -> Trial {
        use crate::plan::{AngelPlan, Method, PartitionerChoice, Plan};
        use chrysalis_evaluate::workload::Summary;
        let (method, partitioner) = (Method::Anatomy, PartitionerChoice::Nearby);
        let (attributes, requests, dropped, require) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let angel = AngelPlan::default();
        let plan = Plan { attributes, requests, dropped, method, partitioner, require, angel, users: None };
        let varied: super::spec::Varied =
            varied.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let parameters: String = varied.iter().map(|(key, value)| format!(", {key}={value}")).collect();
        let (name, series) = (format!("{series}{parameters}"), series.to_owned());
        let spread = Some(Summary { mean: error, quantiles: [0.0, error / 2.0, error, 2.0 * error, 3.0 * error] });
        let answers = AggregateAccuracy {
            name: "count(*)".to_owned(),
            judged: 9,
            inside: 9,
            nonzero: 9,
            error: spread,
            width: spread,
        };
        let numbers = Numbers {
            method: "anatomy".to_owned(),
            partitioner: "nearby".to_owned(),
            guarantees: vec!["l=4".to_owned()],
            rows: 100,
            groups: 20,
            suppressed: 0,
            sizes: (4, 6),
            findings: Vec::new(),
            linking: Some(linking),
            presence: Some(presence),
            similar: None,
            learned: None,
            lift: None,
            attacks: Vec::new(),
            ncp: 0.0,
            ncp_by_attribute: Vec::new(),
            kl: None,
            discernibility: 500,
            average_group_size: None,
            questions: vec![answers],
            seconds: 0.5,
            samples: Vec::new(),
        };
        Trial { run: Run { name, series, varied, plan, command: "chrysalis".to_owned() }, found: Ok(numbers) }
    }

    /// The same, if its audit had failed.
    pub(super) fn broken(mut self) -> Trial {
        if let Ok(numbers) = &mut self.found {
            numbers.findings.push("l=4 does not hold: 3".to_owned());
        }
        self
    }
}

/// Makes and measures one release.
pub(super) fn trial(
    run: &Run,
    table: &Table,
    rng: &mut impl CryptoRng,
    asker: &mut Asker,
    phases: &mut Phases,
) -> Result<Numbers, Failure> {
    let started = Instant::now();
    let Made { outcome, .. } = make(&run.plan, table.clone(), rng, phases)?;
    let seconds = started.elapsed().as_secs_f64();
    let release = &outcome.release;
    let audit = phases.run("audit", None, Unit::Rows, |_| chrysalis_audit::audit(release, Some(table)))?;
    // A form that cannot be measured is still a release: its other numbers are told.
    let whole = [Subspace::whole()];
    let worth = phases.run("evaluate", None, Unit::Rows, |_| evaluate(release, table, &whole)).ok();
    let kl = worth.as_ref().and_then(|found| found.divergences.first()).map(|divergence| divergence.kl);
    let rows = release.manifest.rows.max(1) as f64;
    let scored = audit.attacks.learned.as_ref().and_then(|learned| learned.scored.as_ref());
    let own: Vec<(String, f64)> = outcome.ncp_by_attribute.clone();
    let by_attribute = worth.as_ref().map_or(own, |found| found.ncp_by_attribute.clone());
    Ok(Numbers {
        method: release.manifest.method.clone(),
        partitioner: release.manifest.partitioner.clone(),
        guarantees: release.manifest.guarantees.clone(),
        rows: release.manifest.rows,
        groups: release.manifest.groups,
        suppressed: release.manifest.suppressed,
        sizes: outcome.group_sizes,
        findings: findings(&audit),
        linking: audit.attacks.linking.as_ref().map(|linking| linking.confidence),
        presence: audit.attacks.presence.as_ref().map(|presence| presence.delta),
        similar: audit.attacks.similarity.as_ref().map(|similar| similar.rows as f64 / rows),
        learned: scored.map(|scored| scored.right / scored.people.max(1) as f64),
        lift: scored.map(|scored| scored.lift),
        attacks: audit
            .attacks
            .findings
            .iter()
            .filter(|it| it.was_run)
            .map(|it| (it.attack, it.sentence.clone()))
            .collect(),
        ncp: worth.as_ref().map_or(outcome.ncp.mean(), |found| found.ncp.mean()),
        ncp_by_attribute: by_attribute.into_iter().map(|(name, sum)| (name, sum / rows)).collect(),
        kl,
        discernibility: worth.as_ref().map_or(outcome.discernibility, |found| found.discernibility),
        average_group_size: worth.as_ref().and_then(|found| found.average_group_size),
        questions: asker.ask(release, table, phases),
        seconds,
        samples: samples(release),
    })
}

/// Every promise that is broken and every check that failed, in words.
fn findings(audit: &AuditReport) -> Vec<String> {
    let promises = audit.principles.iter().filter(|principle| !principle.holds);
    let promises = promises.map(|principle| format!("{} does not hold: {}", principle.principle, principle.worst_text));
    let checks = audit.checks.iter().filter(|check| !check.ok);
    promises.chain(checks.map(|check| format!("{}: {}", check.name, check.detail))).collect()
}

/// LEAK: what is shown comes from the published tables alone, never from the microdata.
fn samples(release: &Release) -> Vec<Sample> {
    let tables = release.manifest.tables.iter().zip(&release.tables);
    let sample = |(entry, table): (&chrysalis_release::TableEntry, &Table)| {
        let text = |column: &chrysalis_table::Column, row: usize| column.domain().text(column.code(row)).into_owned();
        let row = |row: usize| table.columns().iter().map(|column| text(column, row)).collect();
        Sample {
            table: entry.name.clone(),
            rows: table.rows() as u64,
            header: table.columns().iter().map(|column| column.name().to_owned()).collect(),
            cells: (0..table.rows().min(SAMPLE_ROWS)).map(row).collect(),
        }
    };
    tables.map(sample).collect()
}
