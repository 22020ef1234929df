use chrysalis_query::{AggregateAnswer, Answer, AnswerRow, EstimateMode, Inquiry, Plan, Reply, Versioned};
use chrysalis_release::{Detail, Manifest};
use chrysalis_table::Value;
use serde_json::{Map, json};

use crate::words::{count, counted, number};

/// An answer, and where its numbers come from.
#[derive(Clone, Debug)]
pub struct AnswerReport {
    /// The answer.
    pub answer: Answer,
    /// The explanation of its numbers, line by line.
    pub explanation: Vec<String>,
    /// Notes on what was asked for and the release does not have, in sentences.
    pub notes: Vec<String>,
}

/// How answers are combined.
const OF_ANSWERS: &str = "The answers are computed from those of several questions: bounds from the worst cases of all of \
                          them together, standard errors as if the questions had nothing to do with each other.";

/// Where the numbers of a question come from, but for the hits of its rows.
fn lines(inquiry: &Inquiry, estimates: EstimateMode) -> Vec<String> {
    let mut lines: Vec<String> = inquiry.first_plan().map(|plan| hits_known(plan).to_owned()).into_iter().collect();
    lines.extend(inquiry.first_plan().map(sensitive));
    lines.extend(inquiry.ways().into_iter().map(|(name, way)| format!("{name}: {way}")));
    if let Some(plan) = inquiry.plan() {
        lines.extend(plan.aggregates.iter().map(|aggregate| {
            let way = if plan.weighs(aggregate) { WAY_OF_WEIGHTS } else { aggregate.function.way() };
            format!("{}: {way}", aggregate.name)
        }));
        lines.extend((estimates == EstimateMode::Learned).then(|| learned(plan).to_owned()));
    }
    lines
}

/// How aggregates of survey weights are computed.
const WAY_OF_WEIGHTS: &str = "from the weights of the rows that can match, each as likely as its values are to be those \
                              asked for; bounds from the smallest and the largest weights that can be among them.";

impl AnswerReport {
    pub(crate) fn of_versions(
        reply: Reply,
        asked: &Versioned,
        manifests: &[&Manifest],
        estimates: EstimateMode,
    ) -> Self {
        let several = manifests.len() > 1;
        let number = |release: usize| manifests[release].series.as_ref().map(|entry| entry.number);
        let which = |release: usize| number(release).filter(|_| several).map(|it| format!("This is release {it}."));
        if let Some(only) = asked.single() {
            let mut report = AnswerReport::new(reply, &only.inquiry, manifests[only.release], estimates);
            report.explanation.splice(0..0, which(only.release));
            return report;
        }
        let mut explanation = vec![OF_ANSWERS.to_owned()];
        for (at, question) in asked.questions.iter().enumerate() {
            let of_series = number(question.release).map_or_else(String::new, |it| format!(", of release {it}"));
            explanation.push(format!("Question {}{of_series}:", at + 1));
            explanation.extend(lines(&question.inquiry, estimates));
        }
        let Reply { answer, notes } = reply;
        AnswerReport { answer, explanation, notes }
    }

    fn new(reply: Reply, inquiry: &Inquiry, manifest: &Manifest, estimates: EstimateMode) -> Self {
        let Reply { answer, notes } = reply;
        let mut explanation = lines(inquiry, estimates);
        // What is known about hits comes after how it is known.
        let known = explanation.len().min(1);
        explanation.splice(known..known, answer.rows.iter().map(|row| hits(&answer, row, manifest)));
        AnswerReport { answer, explanation, notes }
    }

    /// As JSON, with the hits behind every row if `is_explained`.
    pub fn json(&self, is_explained: bool) -> serde_json::Value {
        let row = |row: &AnswerRow| {
            let keys = self.answer.keys.iter().cloned().zip(row.group.iter().map(key));
            let aggregates: Vec<_> = row.aggregates.iter().map(aggregate).collect();
            let mut object = json!({"group": keys.collect::<Map<_, _>>(), "aggregates": aggregates});
            if is_explained {
                let because = &row.because;
                object["because"] = json!({
                    "groups": because.groups,
                    "rows": because.rows,
                    "certain": because.certain,
                    "possible": because.possible,
                    "expected": because.expected,
                });
            }
            object
        };
        let mut report = json!({"rows": self.answer.rows.iter().map(row).collect::<Vec<_>>()});
        if !self.notes.is_empty() {
            report["notes"] = json!(self.notes);
        }
        report
    }
}

fn aggregate(aggregate: &AggregateAnswer) -> serde_json::Value {
    json!({
        "name": aggregate.name,
        "estimate": aggregate.estimate,
        "lower": aggregate.lower,
        "upper": aggregate.upper,
        "std_error": aggregate.std_error,
    })
}

fn key(value: &Option<Value>) -> serde_json::Value {
    match value {
        None => serde_json::Value::Null,
        Some(Value::Integer(number)) => json!(number),
        Some(Value::Real(number)) => json!(number),
        Some(value) => json!(value.to_string()),
    }
}

/// Integers as such, other numbers with the digits that matter.
pub fn short(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 { format!("{}", value + 0.0) } else { number(value) }
}

/// What learning adds to the even estimates described before.
fn learned(plan: &Plan) -> &'static str {
    if plan.shape.detail.is_labelled() {
        "Estimates are learned: groups are spread over their ranges and labels by a distribution that fits all groups, \
         and standard errors reckon with the model."
    } else {
        "Standard errors reckon with what rows of a group may have in common."
    }
}

fn hits_known(plan: &Plan) -> &'static str {
    match plan.shape.detail {
        _ if plan.conditions[0].tree.is_none() && plan.keys.is_empty() => {
            "There is no condition on the quasi attributes, so every row of every group is a hit."
        }
        Detail::Exact => "Quasi values are published as they are, so the hits of every group are known.",
        Detail::Permuted => {
            "Columns are permuted inside their groups: of n rows with h₁, h₂, … matches per column, n·(h₁/n)·(h₂/n)·… \
             hits are expected, at least Σh − (d−1)·n and at most the smallest h."
        }
        Detail::GroupBoxes => {
            "Quasi values are published as ranges and sets: the share of a group's box that the condition covers is \
             expected to be hit: all rows for certain if it covers the whole box, none if it does not touch the box."
        }
        Detail::RowBoxes => {
            "Quasi values are published as ranges and sets, row by row: every row of a batch is expected to be hit by \
             the share of its box that the condition covers, for certain if it covers the whole box, and never if it \
             does not touch the box."
        }
    }
}

fn hits(answer: &Answer, row: &AnswerRow, manifest: &Manifest) -> String {
    let because = &row.because;
    let keys = answer.keys.iter().zip(&row.group).map(|(name, value)| match value {
        Some(value) => format!("{name} = {value}"),
        None => format!("{name} missing"),
    });
    let place = keys.collect::<Vec<_>>().join(", ");
    let place = if place.is_empty() { String::new() } else { format!("{place}: ") };
    format!(
        "{place}{} of {} can have hits, with {} in all: {} certain, {} possible, {} expected.",
        count(because.groups),
        counted(manifest.groups, "group"),
        counted(because.rows, "row"),
        counted(because.certain, "hit"),
        count(because.possible),
        short(because.expected),
    )
}

fn sensitive(plan: &Plan) -> String {
    let Some(field) = plan.sensitive.map(|at| &plan.fields[at]) else {
        return "The release has no sensitive column, so hits are rows.".to_owned();
    };
    let which = if plan.sensitive_set.is_some() { "those its condition admits" } else { "all of them" };
    format!(
        "For each group, the values of `{}` are known ({which} count), but not whose they are: every way of assigning \
         them is equally likely.",
        field.name
    )
}
