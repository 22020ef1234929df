//! Where the numbers of an answer come from, in words.

use chrysalis_query::question::Function;
use chrysalis_query::{Answer, AnswerRow, Asked, Hits, Plan, PlannedAggregate};

use super::show::short;
use crate::render::{count, counted};

pub(super) fn words(answer: &Answer, plan: &Plan, asked: &Asked) -> String {
    let mut lines = vec!["How it came about".to_owned(), format!("  {}", form(plan))];
    lines.extend(answer.rows.iter().map(|row| format!("  {}", hits(answer, row, asked))));
    lines.push(format!("  {}", sensitive(plan)));
    lines.extend(plan.aggregates.iter().map(|aggregate| format!("  {}: {}", aggregate.name, method(aggregate))));
    lines.join("\n")
}

fn form(plan: &Plan) -> &'static str {
    match plan.form.hits() {
        _ if plan.conditions[0].tree.is_none() && plan.keys.is_empty() => {
            "There is no condition on the quasi attributes, so every row of every group is a hit."
        }
        Hits::Exact => "Quasi values are published as they are, so the hits of every group are known.",
        Hits::Permuted => {
            "Columns are permuted inside their groups: of n rows with h₁, h₂, … matches per column, n·(h₁/n)·(h₂/n)·… \
             hits are expected, at least Σh − (d−1)·n and at most the smallest h."
        }
        Hits::Generalized => {
            "Quasi values are published as ranges and sets: the share of a group's box that the condition covers is \
             expected to be hit; all rows for certain where it covers everything, none where it does not touch."
        }
        Hits::Boxed => {
            "Quasi values are published as ranges and sets, row by row: of every row of a batch the share of its box that the \
             condition covers is expected to be hit; a row is hit for certain where it covers everything, and never where it \
             does not touch."
        }
    }
}

fn hits(answer: &Answer, row: &AnswerRow, asked: &Asked) -> String {
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
        counted(asked.manifest().groups, "group"),
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
        "Of each group the values of `{}` are known ({which} count), but not whose they are: every way to hand them out is \
         equally likely.",
        field.name
    )
}

fn method(aggregate: &PlannedAggregate) -> &'static str {
    match aggregate.function {
        Function::Count => {
            "estimate Σ hits·c/n for c of a group's n values that count; bounds Σ max(0, hits + c − n) and Σ min(hits, c), \
             with the least and the most hits."
        }
        Function::Sum => {
            "estimate Σ hits·mean; bounds from the smallest and the largest values of every group, as many as can be hit."
        }
        Function::Avg => {
            "estimate the ratio of the estimated sum and count; bounds are the extreme averages over all choices of \
             values that can be hit."
        }
        Function::Min => {
            "estimate the expected minimum; it cannot lie below the least value that can be hit, nor above what some \
             group's certain hits must reach."
        }
        Function::Max => {
            "estimate the expected maximum; it cannot lie above the greatest value that can be hit, nor below what some \
             group's certain hits must reach."
        }
    }
}
