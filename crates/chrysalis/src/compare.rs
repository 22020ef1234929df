//! Several recipes on one table: each release is made in memory, judged by the audit, measured against the microdata
//! and asked the same questions.

use std::time::Instant;

use chrysalis_audit::AuditReport;
use chrysalis_evaluate::Subspace;
use chrysalis_evaluate::rows::{Lesson, RowsWorth};
use chrysalis_evaluate::workload::{Accuracy, AggregateAccuracy, Family, MAX_QUERIES, Questions, Workload};
use chrysalis_release::{EstimateMode, Form, Manifest, Release, RoleName, TableEntry};
use chrysalis_table::{Counted, Stopped, Table, Unwatched, Watch};

use crate::evaluate::rows_worth;
use crate::publish::{WholeTable, publish_whole};
use crate::words::count;
use crate::{Error, Evidence, Fault, Published, Recipe, RowsFoundAgain, Sampling, Seed, audit};

/// The questions that every release is asked.
#[derive(Clone, Debug, Default)]
pub struct QuestionPlan {
    /// The kind of questions; by default the one that suits the release.
    pub family: Option<Family>,
    /// How many; 0 means none.
    pub queries: Option<usize>,
    /// The share of the space that a question covers.
    pub selectivity: Option<f64>,
    /// How many attributes a question has conditions on.
    pub dimensions: Option<usize>,
}

/// The default number of questions.
const QUERIES: usize = 1000;
/// The default share of the space that a question covers.
const SELECTIVITY: f64 = 0.05;
/// Questions are no secret: every comparison draws the same ones, and so does `evaluate`.
const SEED: u64 = 1;

/// All trials, in the order of the recipes, and the questions.
#[derive(Debug)]
pub struct Comparison {
    /// One per recipe.
    pub trials: Vec<Trial>,
    /// The accuracy of the first release that answered, which also describes the questions; `None` without one.
    pub asked: Option<Accuracy>,
    /// The seed of the questions.
    pub seed: u64,
}

/// The result of one recipe.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The name of the run.
    pub name: String,
    /// The principles it was to promise, as users write them.
    pub require: Vec<String>,
    /// The numbers, or why there is no such release.
    pub found: Result<Numbers, Error>,
}

impl Trial {
    /// The numbers, if the release could be made.
    pub fn numbers(&self) -> Option<&Numbers> {
        self.found.as_ref().ok()
    }

    /// The numbers of a release that keeps its promises.
    pub fn sound(&self) -> Option<&Numbers> {
        self.numbers().filter(|numbers| numbers.findings.is_empty())
    }

    /// The numbers of a release that may be recommended: it keeps its promises and discloses nobody's value.
    pub fn safe(&self) -> Option<&Numbers> {
        self.sound().filter(|numbers| numbers.disclosed_rows == Some(0))
    }

    /// The principles that are promised, or were to be.
    pub fn promise(&self) -> String {
        let kept = self.numbers().map_or(&self.require, |numbers| &numbers.guarantees);
        if kept.is_empty() { "nothing".to_owned() } else { kept.join(", ") }
    }
}

/// Everything reported about a release.
#[derive(Clone, Debug)]
pub struct Numbers {
    /// How groups are shown.
    pub method: Form,
    /// The partitioner that formed them.
    pub partitioner: String,
    /// The principles that hold, as users write them.
    pub guarantees: Vec<String>,
    /// Rows published.
    pub rows: u64,
    /// Groups in the release.
    pub groups: u64,
    /// Rows that are shown fully generalized.
    pub suppressed: u64,
    /// The smallest and the largest group.
    pub sizes: (u64, u64),
    /// Everything the audit found wrong; empty if the release keeps its promises.
    pub findings: Vec<String>,
    /// For each principle: which values count as one, and the distance and weights by which it was measured.
    pub measured: Vec<(String, String)>,
    /// Rows whose sensitive value follows from the release, as counted by the audit; absent without groups.
    pub certain_rows: Option<u64>,
    /// Those of them whose value is not an ordinary one.
    pub disclosed_rows: Option<u64>,
    /// The highest confidence of the linking attack.
    pub linking: Option<f64>,
    /// The highest probability that a given row of a group belongs to a given person.
    pub row_linking: Option<f64>,
    /// The share of rows in groups whose values are all of one category.
    pub similar: Option<f64>,
    /// The share of people whose value is guessed correctly by an attacker who learns across groups.
    pub learned: Option<f64>,
    /// That share, relative to an attacker who looks at each group alone.
    pub lift: Option<f64>,
    /// The results of attacks in words: each attack's name and a sentence.
    pub attacks: Vec<(&'static str, String)>,
    /// The loss per cell.
    pub ncp: f64,
    /// The loss per cell, by attribute.
    pub ncp_by_attribute: Vec<(String, f64)>,
    /// KL-divergence; infinite if the release excludes somebody in the microdata, absent if it cannot be measured.
    pub kl: Option<f64>,
    /// Σ n² over groups.
    pub discernibility: u128,
    /// (rows / groups) / k, if a k is promised.
    pub average_group_size: Option<f64>,
    /// How well random questions are answered; comparisons use the first aggregate.
    pub questions: Vec<AggregateAccuracy>,
    /// How easily rows are found again by their quasi values, before and after.
    pub found_again: Option<RowsFoundAgain>,
    /// What drawn rows are worth; absent if none can be drawn.
    pub drawn: Option<RowsWorth>,
    /// Time to form the groups and to fill the tables.
    pub seconds: f64,
    /// The published tables.
    pub tables: Vec<TableShape>,
}

/// The outline of a published table.
///
/// LEAK: rows of a release that nobody has decided to hand out may be about real people, so none is ever shown.
#[derive(Clone, Debug)]
pub struct TableShape {
    /// The table.
    pub table: String,
    /// Its rows.
    pub rows: u64,
    /// Its columns.
    pub columns: Vec<String>,
}

/// Carries out several recipes on a table that has the columns of all of them. A recipe that cannot be carried out does
/// not stop the others; if none can, that is an error.
pub fn compare(
    table: &Table,
    recipes: &[(String, &Recipe)],
    asking: &QuestionPlan,
    seed: Seed,
    watch: &dyn Watch,
) -> Result<Comparison, Error> {
    let mut asker = Asker::new(asking)?;
    let mut trials = Vec::new();
    for (at, (name, recipe)) in recipes.iter().enumerate() {
        watch.announce(&format!("{} of {}: {name}", at + 1, recipes.len()));
        let columns = recipe.requests.iter().filter_map(|request| table.column(&request.name)).cloned();
        let own = WholeTable::of(Table::new(columns.collect()), recipe, &Unwatched)?;
        let found = numbers(&own, recipe, &mut asker, seed, watch);
        // These two are not the recipe's fault.
        let is_ours = |error: &&Error| matches!(error.fault, Fault::Stopped | Fault::Internal);
        if let Some(error) = found.as_ref().err().filter(is_ours) {
            return Err(error.clone());
        }
        // A mistake in the questions is not the recipe's fault either.
        asker.refused.take().map_or(Ok(()), Err)?;
        let require = recipe.require.iter().map(ToString::to_string).collect();
        trials.push(Trial { name: name.clone(), require, found });
    }
    if trials.iter().any(|trial| trial.found.is_ok()) {
        return Ok(Comparison { trials, asked: asker.asked, seed: SEED });
    }
    Err(Error::none_of(trials.into_iter().filter_map(|trial| trial.found.err()).collect()))
}

fn numbers(
    own: &WholeTable,
    recipe: &Recipe,
    asker: &mut Asker,
    seed: Seed,
    watch: &dyn Watch,
) -> Result<Numbers, Error> {
    let (table, started) = (&own.table, Instant::now());
    let Published { release, report, .. } = publish_whole(own.clone(), recipe, seed, watch)?;
    let seconds = started.elapsed().as_secs_f64();
    // Publishing again would take longer than everything else.
    let population = recipe.population.as_ref().map(|people| people.prepared(recipe)).transpose()?;
    let with =
        Evidence { microdata: Some(table), population: population.as_ref(), replay: Some(0), ..Evidence::default() };
    let audit = audit(&release, with, watch)?.report;
    // A release that cannot be measured still has its other numbers.
    watch.phase("evaluate", None, Counted::Rows);
    let worth = Stopped::catch(|| chrysalis_evaluate::evaluate(&release, table, &[Subspace::whole()], watch))?.ok();
    let questions = Stopped::catch(|| asker.ask(&release, table, watch))?;
    let sampling = Sampling::default();
    let drawn = match rows_worth(&release, table, &sampling, (Lesson::default(), SEED), watch) {
        Err(error) if error.fault == Fault::Stopped => return Err(error),
        found => found.ok(),
    };
    let found_again = Stopped::catch(|| RowsFoundAgain::measure(&release, table, watch))?;
    let rows = release.manifest.rows.max(1) as f64;
    let scored = audit.attacks.learned.as_ref().and_then(|learned| learned.scored.as_ref());
    let by_attribute = worth
        .as_ref()
        .map(|found| found.ncp_by_attribute.iter().map(|(name, sum)| (name.clone(), sum / rows)).collect::<Vec<_>>());
    let attacks = audit.attacks.findings.iter().filter(|it| it.was_run);
    Ok(Numbers {
        method: report.method,
        partitioner: report.partitioner,
        guarantees: report.guarantees,
        rows: report.rows,
        groups: report.groups,
        suppressed: release.manifest.suppressed,
        sizes: (report.smallest_group, report.largest_group),
        findings: findings(&audit),
        measured: measured(&audit),
        certain_rows: audit.disclosure.as_ref().map(|found| found.certain_rows),
        disclosed_rows: audit.disclosure.as_ref().map(|found| found.disclosed_rows),
        linking: audit.attacks.linking.as_ref().map(|linking| linking.confidence),
        row_linking: audit.attacks.row_linking.as_ref().map(|found| found.delta),
        similar: audit.attacks.similarity.as_ref().map(|similar| similar.rows as f64 / rows),
        learned: scored.map(|scored| scored.right / scored.people.max(1) as f64),
        lift: scored.map(|scored| scored.lift),
        attacks: attacks.map(|it| (it.attack, it.sentence.clone())).collect(),
        ncp: worth.as_ref().map_or(report.ncp, |found| found.ncp.mean()),
        ncp_by_attribute: by_attribute.unwrap_or(report.ncp_by_attribute),
        kl: worth.as_ref().and_then(|found| found.divergences.first()).map(|divergence| divergence.kl),
        discernibility: worth.as_ref().map_or(u128::from(report.discernibility), |found| found.discernibility),
        average_group_size: worth.as_ref().and_then(|found| found.average_group_size),
        questions,
        found_again,
        drawn,
        seconds,
        tables: release.manifest.tables.iter().map(shape).collect(),
    })
}

/// How every promise was measured, unless its text says so; once for all users.
fn measured(audit: &AuditReport) -> Vec<(String, String)> {
    let told = audit.principles.iter().filter(|result| !result.measured.is_empty());
    let mut told: Vec<(String, String)> =
        told.map(|result| (result.principle.clone(), result.measured.clone())).collect();
    told.dedup();
    told
}

/// Every broken promise and every failed check, in words.
fn findings(audit: &AuditReport) -> Vec<String> {
    let promises = audit.principles.iter().filter(|principle| principle.is_broken());
    let promises = promises.map(|principle| format!("{} does not hold: {}", principle.principle, principle.worst_text));
    let checks = audit.checks.iter().filter(|check| !check.ok);
    promises.chain(checks.map(|check| format!("{}: {}", check.name, check.detail))).collect()
}

fn shape(entry: &TableEntry) -> TableShape {
    let columns = entry.columns.iter().map(|column| column.name.clone()).collect();
    TableShape { table: entry.name.clone(), rows: entry.rows, columns }
}

/// Asks every release the same questions.
pub(crate) struct Asker {
    asking: QuestionPlan,
    queries: usize,
    /// Questions by the columns they were drawn from. Recipes differ in those only if a column holds groups.
    drawn: Vec<(Vec<String>, Option<Questions>)>,
    /// Why the questions that the user chose cannot be asked.
    refused: Option<Error>,
    asked: Option<Accuracy>,
}

impl Asker {
    pub(crate) fn new(asking: &QuestionPlan) -> Result<Asker, Error> {
        let queries = asking.queries.unwrap_or(QUERIES);
        if queries > MAX_QUERIES {
            let message = format!("{} questions are more than can be asked", count(queries as u64));
            return Err(Error::request(message, format!("ask at most {}, or 0 for none", count(MAX_QUERIES as u64))));
        }
        Ok(Asker { asking: asking.clone(), queries, drawn: Vec::new(), refused: None, asked: None })
    }

    /// How well a release answers; empty if it cannot be asked.
    pub(crate) fn ask(&mut self, release: &Release, table: &Table, watch: &dyn Watch) -> Vec<AggregateAccuracy> {
        let Some(at) = self.questions(&release.manifest, table, watch) else { return Vec::new() };
        let Some(questions) = &self.drawn[at].1 else { return Vec::new() };
        watch.phase("questions", None, Counted::Rows);
        // A release without groups answers nothing.
        let found = questions.ask(release, watch).ok();
        let aggregates = found.as_ref().map_or_else(Vec::new, |found| found.aggregates.clone());
        if self.asked.is_none() {
            self.asked = found;
        }
        aggregates
    }

    fn questions(&mut self, manifest: &Manifest, table: &Table, watch: &dyn Watch) -> Option<usize> {
        let columns: Vec<String> = table.columns().iter().map(|column| column.name().to_owned()).collect();
        if let Some(known) = self.drawn.iter().position(|(known, _)| *known == columns) {
            return Some(known);
        }
        // Not every table allows the default questions; only a user who chose the questions gets an error.
        let questions = self.draw(manifest, table, watch).unwrap_or_else(|error| {
            let QuestionPlan { family, selectivity, dimensions, .. } = &self.asking;
            let is_chosen = family.is_some() || selectivity.is_some() || dimensions.is_some();
            self.refused = is_chosen.then_some(error);
            None
        });
        self.drawn.push((columns, questions));
        Some(self.drawn.len() - 1)
    }

    fn draw(&self, manifest: &Manifest, table: &Table, watch: &dyn Watch) -> Result<Option<Questions>, Error> {
        let Some(sensitive) = manifest.with_role(RoleName::Sensitive).next() else { return Ok(None) };
        if self.queries == 0 {
            return Ok(None);
        }
        let quasi: Vec<String> = manifest.with_role(RoleName::Quasi).map(|attribute| attribute.name.clone()).collect();
        let workload = Workload {
            family: self.asking.family.unwrap_or_else(|| Family::suited(manifest)),
            queries: self.queries,
            selectivity: self.asking.selectivity.unwrap_or(SELECTIVITY),
            dimensions: self.asking.dimensions,
            unordered: Vec::new(),
        };
        let mut rng = Seed::Fixed(SEED).generator()?;
        let questions = Questions::draw(table, &quasi, &sensitive.name, workload, &mut rng, watch)?;
        // What an analyst gets by default; even estimates are measured beside it.
        Ok(Some(questions.estimates(EstimateMode::Learned)))
    }
}
