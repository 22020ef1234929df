//! Random questions, the same for every release.

use chrysalis_evaluate::workload::{Accuracy, AggregateAccuracy, Family, MAX_QUERIES, Questions, Workload};
use chrysalis_release::{Manifest, Release, RoleName};
use chrysalis_table::Table;
use serde_json::{Value, json};

use super::spec::CompareSpec;
use crate::args::{CompareArgs, workload};
use crate::failure::Failure;
use crate::progress::{Phases, Unit};
use crate::randomness::generator;
use crate::render::{count, counted};

/// How many questions are asked where nobody says.
const QUERIES: usize = 1000;
/// What share of the space a question covers where nobody says.
const SELECTIVITY: f64 = 0.05;
/// Questions are no secret: everybody gets the same ones, as `evaluate` does.
const SEED: u64 = 1;

/// Who asks every release the same.
pub(super) struct Asker {
    family: Option<Family>,
    queries: usize,
    selectivity: f64,
    dimensions: Option<usize>,
    /// Whether somebody chose what is asked: then questions that cannot be asked are a mistake.
    is_chosen: bool,
    /// Questions by the columns they were drawn from; runs differ in them only where groups come in a column.
    drawn: Vec<(Vec<String>, Option<Questions>)>,
    /// Why questions that somebody chose cannot be asked.
    refused: Option<Failure>,
    /// The first accuracy that was found, for what it says about the questions.
    asked: Option<Accuracy>,
}

impl Asker {
    /// Flags win over the spec.
    pub(super) fn new(args: &CompareArgs, spec: Option<&CompareSpec>) -> Result<Asker, Failure> {
        let none = CompareSpec::default();
        let spec = spec.unwrap_or(&none);
        let in_spec =
            |problem: String| Failure::bad_input(format!("[compare] {problem}"), "see `chrysalis compare --help`");
        let named = spec.workload.as_ref().map(|name| workload(name)).transpose();
        let family = args.workload.or(named.map_err(|problem| in_spec(format!("workload: {problem}")))?);
        let selectivity = args.selectivity.or(spec.selectivity);
        let dimensions = args.dimensions.or(spec.dimensions);
        let queries = args.queries.or(spec.queries).unwrap_or(QUERIES);
        if queries > MAX_QUERIES {
            let message = format!("{} questions are more than can be asked", count(queries as u64));
            let hint = format!("ask at most {}, or 0 for none", count(MAX_QUERIES as u64));
            return Err(Failure::bad_input(message, hint));
        }
        Ok(Asker {
            family,
            queries,
            selectivity: selectivity.unwrap_or(SELECTIVITY),
            dimensions,
            is_chosen: family.is_some() || selectivity.is_some() || dimensions.is_some(),
            drawn: Vec::new(),
            refused: None,
            asked: None,
        })
    }

    /// How well a release answers; nothing where no question can be asked of it.
    pub(super) fn ask(&mut self, release: &Release, table: &Table, phases: &mut Phases) -> Vec<AggregateAccuracy> {
        let Some(questions) = self.questions(&release.manifest, table) else { return Vec::new() };
        // Forms without groups, such as rank-swap, answer nothing.
        let found = phases.run("questions", None, Unit::Rows, |_| questions.ask(release)).ok();
        let aggregates = found.as_ref().map_or_else(Vec::new, |found| found.aggregates.clone());
        if self.asked.is_none() {
            self.asked = found;
        }
        aggregates
    }

    /// A mistake in what is asked, once it has shown.
    pub(super) fn check(&mut self) -> Result<(), Failure> {
        self.refused.take().map_or(Ok(()), Err)
    }

    fn questions(&mut self, manifest: &Manifest, table: &Table) -> Option<&Questions> {
        let columns: Vec<String> = table.columns().iter().map(|column| column.name().to_owned()).collect();
        let known = self.drawn.iter().position(|(known, _)| *known == columns);
        let at = match known {
            Some(at) => at,
            None => {
                // Not every table has questions of the usual kind; whoever chose the kind is told.
                let questions = self.draw(manifest, table).unwrap_or_else(|failure| {
                    self.refused = self.is_chosen.then_some(failure);
                    None
                });
                self.drawn.push((columns, questions));
                self.drawn.len() - 1
            }
        };
        self.drawn[at].1.as_ref()
    }

    fn draw(&self, manifest: &Manifest, table: &Table) -> Result<Option<Questions>, Failure> {
        let Some(sensitive) = manifest.with_role(RoleName::Sensitive).next() else { return Ok(None) };
        if self.queries == 0 {
            return Ok(None);
        }
        let quasi: Vec<String> = manifest.with_role(RoleName::Quasi).map(|attribute| attribute.name.clone()).collect();
        let workload = Workload {
            family: self.family.unwrap_or_else(|| Family::suited(manifest)),
            queries: self.queries,
            selectivity: self.selectivity,
            dimensions: self.dimensions,
            unordered: Vec::new(),
        };
        Ok(Some(Questions::draw(table, &quasi, &sensitive.name, workload, &mut generator(Some(SEED))?)?))
    }

    /// What was asked, for the page; empty where nothing was.
    pub(super) fn sentence(&self) -> String {
        let Some(asked) = &self.asked else { return String::new() };
        let first = asked.aggregates.first().map(|aggregate| aggregate.name.as_str()).unwrap_or_default();
        format!(
            "Every release was asked the same {}, of the kind “{}”: conditions on {}, about {} % of the space each. Errors and \
             widths of bounds are those of {first}.",
            counted(asked.workload.queries as u64, "random question"),
            asked.workload.family,
            counted(asked.dimensions as u64, "attribute"),
            100.0 * asked.workload.selectivity,
        )
    }

    /// What was asked, for programs.
    pub(super) fn json(&self) -> Value {
        self.asked.as_ref().map_or(Value::Null, |asked| {
            json!({
                "workload": asked.workload.family.name(),
                "queries": asked.workload.queries,
                "selectivity": asked.workload.selectivity,
                "dimensions": asked.dimensions,
                "seed": SEED,
            })
        })
    }
}
