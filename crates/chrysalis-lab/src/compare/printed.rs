//! The numbers for terminals, programs and spreadsheets.

use chrysalis::words::{count, counted};
use chrysalis::{Numbers, finite, rows_json};
use chrysalis_evaluate::workload::{AggregateAccuracy, Summary};
use serde_json::{Map, Value, json};

use super::advice::Advice;
use super::found_again;
use super::measures::ALL;
use super::trial::Trial;

/// As JSON, which is also written beside the page.
pub(super) fn json(trials: &[Trial], advice: &[Advice], asked: Value) -> Value {
    json!({
        "rows": trials.iter().find_map(|trial| trial.numbers()).map(|numbers| numbers.rows),
        "questions": asked,
        "runs": trials.iter().map(run).collect::<Vec<_>>(),
        "choose": advice.iter().map(chosen).collect::<Vec<_>>(),
    })
}

fn chosen(advice: &Advice) -> Value {
    json!({"goal": advice.goal.trim_end_matches(':'), "runs": advice.runs, "sentence": advice.sentence})
}

fn run(trial: &Trial) -> Value {
    let mut json = json!({
        "name": trial.run.name,
        "series": trial.run.series,
        "varied": trial.run.varied,
        "command": trial.run.command,
    });
    let members = match &trial.found {
        Ok(numbers) => made(numbers),
        Err(error) => json!({"guarantees": trial.require, "made": false, "reason": error.message}),
    };
    if let (Some(json), Value::Object(members)) = (json.as_object_mut(), members) {
        json.extend(members);
    }
    json
}

fn made(numbers: &Numbers) -> Value {
    let by_attribute: Map<String, Value> =
        numbers.ncp_by_attribute.iter().map(|(name, loss)| (name.clone(), json!(loss))).collect();
    let measured: Map<String, Value> =
        numbers.measured.iter().map(|(principle, words)| (principle.clone(), json!(words))).collect();
    let mut json = json!({
        "guarantees": numbers.guarantees,
        "measured": measured,
        "made": true,
        "method": numbers.method,
        "partitioner": numbers.partitioner,
        "ok": numbers.findings.is_empty(),
        "findings": numbers.findings,
        "groups": numbers.groups,
        "smallest_group": numbers.sizes.0,
        "largest_group": numbers.sizes.1,
        "suppressed_rows": numbers.suppressed,
    });
    if let Some(members) = json.as_object_mut() {
        for measure in ALL {
            members.insert(measure.key.to_owned(), json!(measure.of(numbers).and_then(finite)));
        }
        members.insert("ncp_by_attribute".to_owned(), json!(by_attribute));
        let discernibility = u64::try_from(numbers.discernibility).unwrap_or(u64::MAX);
        members.insert("discernibility".to_owned(), json!(discernibility));
        members.insert("average_group_size".to_owned(), json!(numbers.average_group_size));
        let attacks: Map<String, Value> =
            numbers.attacks.iter().map(|(attack, words)| ((*attack).to_owned(), json!(words))).collect();
        members.insert("attacks".to_owned(), json!(attacks));
        members.insert("answers".to_owned(), numbers.questions.iter().map(aggregate).collect());
        members.insert("found_again".to_owned(), found_again::json(numbers.found_again.as_ref()));
        members.insert("rows_drawn".to_owned(), json!(numbers.drawn.as_ref().map(rows_json)));
    }
    json
}

fn aggregate(found: &AggregateAccuracy) -> Value {
    let spread = |spread: &Summary| {
        let [q5, q25, q50, q75, q95] = spread.quantiles.map(finite);
        json!({"mean": finite(spread.mean), "q5": q5, "q25": q25, "median": q50, "q75": q75, "q95": q95})
    };
    json!({
        "name": found.name,
        "judged": found.judged,
        "inside": found.inside_share(),
        "error": found.error.as_ref().map(spread),
        "width": found.width.as_ref().map(spread),
        "open": found.open,
        "covered": found.covered_share(),
        "reach": found.reach,
        "even": found.even.map(|even| {
            json!({"error": even.error.as_ref().map(spread), "covered": found.covered_evenly(), "reach": even.reach})
        }),
    })
}

/// The result of the audit in a word.
fn verdict(trial: &Trial) -> &'static str {
    match (trial.numbers(), trial.sound()) {
        (None, _) => "not made",
        (Some(_), None) => "FAILED",
        (Some(numbers), _) if numbers.guarantees.is_empty() => "no promise",
        _ => "holds",
    }
}

/// For spreadsheets: a header and one line per run.
pub(super) fn rows(trials: &[Trial]) -> Vec<Vec<String>> {
    let mut header = vec!["run", "method", "partitioner", "promise", "audit", "groups"];
    header.extend(ALL.iter().map(|measure| measure.key));
    header.push("reason");
    let row = |trial: &Trial| {
        let numbers = trial.numbers();
        let text = |text: fn(&Numbers) -> String| numbers.map(text).unwrap_or_default();
        let mut row = vec![
            trial.run.name.clone(),
            text(|numbers| numbers.method.to_string()),
            text(|numbers| numbers.partitioner.clone()),
            trial.promise(),
            verdict(trial).to_owned(),
            text(|numbers| numbers.groups.to_string()),
        ];
        let value = |measure: &&super::measures::Measure| numbers.and_then(|numbers| measure.of(numbers));
        row.extend(ALL.iter().map(|measure| value(measure).map(|value| value.to_string()).unwrap_or_default()));
        row.push(trial.found.as_ref().err().map(|error| error.message.clone()).unwrap_or_default());
        row
    };
    let header = header.into_iter().map(str::to_owned).collect();
    std::iter::once(header).chain(trials.iter().map(row)).collect()
}

/// The output for a terminal.
pub struct PrintedComparison {
    /// The headline.
    pub title: String,
    /// The names of the columns.
    pub header: Vec<&'static str>,
    /// One line per run.
    pub rows: Vec<Vec<String>>,
    /// Why runs could not be made, and what the audits found wrong.
    pub reasons: Vec<String>,
}

pub(super) fn table(trials: &[Trial]) -> PrintedComparison {
    let made = || trials.iter().filter_map(|trial| trial.numbers());
    let told: Vec<_> = ALL.into_iter().filter(|measure| made().any(|numbers| measure.of(numbers).is_some())).collect();
    let rows = made().next().map_or(0, |numbers| numbers.rows);
    let mut header = vec!["run", "promise", "audit", "groups"];
    header.extend(told.iter().map(|measure| measure.short));
    let row = |trial: &Trial| {
        let numbers = trial.numbers();
        let mut row = vec![trial.run.name.clone(), trial.promise(), verdict(trial).to_owned()];
        row.push(numbers.map(|numbers| count(numbers.groups)).unwrap_or_default());
        let value = |measure: &super::measures::Measure| {
            numbers.and_then(|numbers| measure.of(numbers)).map(measure.shown).unwrap_or_default()
        };
        row.extend(told.iter().map(|measure| value(measure)));
        row
    };
    let unmade = trials.iter().filter_map(|trial| Some(format!("{}: {}", trial.run.name, trial.found.as_ref().err()?)));
    let broken = trials.iter().flat_map(|trial| {
        let findings = trial.numbers().map_or(&[][..], |numbers| &numbers.findings);
        findings.iter().map(|finding| format!("{}: {finding}", trial.run.name))
    });
    PrintedComparison {
        title: format!("Compared {} of {}", counted(made().count() as u64, "release"), counted(rows, "row")),
        header,
        rows: trials.iter().map(row).collect(),
        reasons: unmade.chain(broken).collect(),
    }
}
