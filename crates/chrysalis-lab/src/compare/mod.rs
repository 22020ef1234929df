//! Several methods, partitioners and parameters on one table, and a page about them.

mod advice;
mod charts;
mod found_again;
mod measures;
mod page;
mod printed;
mod questions;
mod runs;
mod trial;
mod vary;

use chrysalis::{Comparison, Draft, Error, QuestionPlan, Seed, compare, values};
use chrysalis_table::{Kind, Role, Table, Watch};

pub use advice::Advice;
pub use runs::{Run, check_effect, provide_population, provide_population_of, requests, runs};
pub use trial::Trial;

/// The result of a comparison.
pub struct Report {
    /// All runs, in order.
    pub trials: Vec<Trial>,
    /// Which run to choose for which goal.
    pub advice: Vec<Advice>,
    comparison: QuestionsAsked,
    source: String,
    is_seeded: bool,
}

/// The questions that all releases were asked.
struct QuestionsAsked {
    asked: Option<chrysalis_evaluate::workload::Accuracy>,
    seed: u64,
}

/// Makes, judges and measures all runs that fit the table.
pub fn run(runs: Vec<Run>, table: &Table, draft: &Draft, seed: Seed, watch: &dyn Watch) -> Result<Report, Error> {
    let runs = fitting(runs, table, draft);
    let recipes: Vec<_> = runs.iter().map(|run| (run.name.clone(), &run.recipe)).collect();
    let Comparison { trials, asked, seed: drawn } = compare(table, &recipes, &asking(draft)?, seed, watch)?;
    let trials: Vec<Trial> = runs.into_iter().zip(trials).map(|(run, trial)| Trial { run, trial }).collect();
    let advice = advice::advice(&trials);
    let source = draft.source_name().unwrap_or_default();
    Ok(Report { trials, advice, comparison: QuestionsAsked { asked, seed: drawn }, source, is_seeded: seed.is_fixed() })
}

/// The questions that every release is asked.
pub fn asking(draft: &Draft) -> Result<QuestionPlan, Error> {
    let Some(compare) = &draft.compare else { return Ok(QuestionPlan::default()) };
    let wrong = |problem: String| {
        let remedy = chrysalis::Remedy::from("choose another with ").knob(chrysalis::Knob::Workload, "");
        Error::request(format!("`workload`: {problem}"), remedy)
    };
    Ok(QuestionPlan {
        family: compare.workload.as_ref().map(|name| values::workload(name).map_err(wrong)).transpose()?,
        queries: compare.queries,
        selectivity: compare.selectivity,
        dimensions: compare.dimensions,
    })
}

/// Leaves out runs of the default set that do not fit the table: some forms need numbers. Listed runs all stay, and
/// those that fail are reported with the reason.
fn fitting(runs: Vec<Run>, table: &Table, draft: &Draft) -> Vec<Run> {
    let is_listed = draft.compare.as_ref().is_some_and(|compare| !compare.runs.is_empty());
    let is_numeric = |name: &str| table.column(name).is_some_and(|column| Kind::is_numeric(column.domain().kind()));
    let fits = |run: &Run| {
        let wants_numbers = run.recipe.form().shape().needs == chrysalis_release::Needs::Numbers;
        is_listed || !wants_numbers || run.recipe.with_role(Role::Sensitive).all(is_numeric)
    };
    runs.into_iter().filter(fits).collect()
}

impl Report {
    /// Whether every release that was made keeps its promises.
    pub fn is_sound(&self) -> bool {
        self.trials.iter().all(|trial| trial.found.is_err() || trial.sound().is_some())
    }

    /// The page, which needs no network and no other file.
    pub fn page(&self) -> String {
        let questions = self.comparison.sentence();
        page::page(&self.trials, &self.advice, &self.source, &questions, self.is_seeded).to_html()
    }

    /// The same numbers as JSON.
    pub fn json(&self) -> serde_json::Value {
        printed::json(&self.trials, &self.advice, self.comparison.json())
    }

    /// The same for spreadsheets: a header and one line per run.
    pub fn rows(&self) -> Vec<Vec<String>> {
        printed::rows(&self.trials)
    }

    /// The same for a terminal: a header, one line per run, and remarks below.
    pub fn table(&self) -> printed::PrintedComparison {
        printed::table(&self.trials)
    }
}
