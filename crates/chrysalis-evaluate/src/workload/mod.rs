//! Workloads: many random questions of one kind, asked of a release and answered by the microdata.
//!
//! | family | paper | conditions | asks for |
//! |---|---|---|---|
//! | [`Family::Pa`] | pa 4.2 | w − 1 random quasi attributes and the sensitive one: an interval of ⌊\|A\|·s^(1/(w+1))⌋ values each | COUNT |
//! | [`Family::Angel`] | angel 6 | every attribute: ⌈\|A\|·s^(1/d)⌉ values, an interval where they have an order, any otherwise | COUNT |
//! | [`Family::KeRange`] | ke 7.1 | an ordered quasi attribute (w of them): an interval of ⌊\|A\|·s^(1/w)⌋ values | AVG, SUM, COUNT |
//! | [`Family::KeArbitrary`] | ke 7.1 | every quasi attribute (w of them): any ⌈\|A\|·s^(1/w)⌉ values | AVG, SUM, COUNT |
//!
//! |A| counts the values that occur in the microdata. lalpha has no workload. ke's arbitrary questions pick rows one by
//! one; so do ours if some quasi attribute has a different value in every row. Otherwise they pick values, as a long
//! list after IN does, and the rows follow from those.
//!
//! Questions go through the engine that analysts use; the truth is counted over the microdata. Which questions are
//! drawn depends only on the microdata, the parameters and the generator, so two releases of one table get the same
//! questions.

mod generate;
mod judge;
mod pose;
mod swapped;
mod truth;
mod within;

use std::fmt;
use std::str::FromStr;

use chrysalis_criteria::Minimum;
use chrysalis_query::question::{Function, Question};
use chrysalis_query::{EstimateMode, OpenRelease, Plan};
use chrysalis_release::{Manifest, Release, RoleName};
use chrysalis_table::{Column, Kind, Table, Watch};
use rand::CryptoRng;
use rayon::prelude::*;

use crate::EvaluateError;
use generate::Query;
use judge::ToldAnswer;
pub use judge::{Accuracy, AggregateAccuracy, EvenAccuracy, QUANTILES, Summary};
use truth::Truth;

/// The most questions in one workload.
pub const MAX_QUERIES: usize = 1_000_000;

/// The papers' kinds of random questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Intervals on some attributes and on the sensitive one.
    Pa,
    /// Sets of values of every attribute.
    Angel,
    /// Intervals of an ordered quasi attribute.
    KeRange,
    /// Any values of quasi attributes.
    KeArbitrary,
}

impl Family {
    /// All of them.
    pub const ALL: [Family; 4] = [Family::Pa, Family::Angel, Family::KeRange, Family::KeArbitrary];

    /// The name that users write.
    pub fn name(self) -> &'static str {
        match self {
            Family::Pa => "pa",
            Family::Angel => "angel",
            Family::KeRange => "ke-range",
            Family::KeArbitrary => "ke-arbitrary",
        }
    }

    /// The family that suits a release: pa's if the sensitive values are words, ke's if they are numbers.
    pub fn suited(manifest: &Manifest) -> Family {
        let is_numeric = |role| manifest.with_role(role).any(|it| Kind::from(it.kind).is_numeric());
        let is_ordered = manifest.with_role(RoleName::Quasi).any(|it| Kind::from(it.kind).is_ordered());
        match (is_numeric(RoleName::Sensitive), is_ordered) {
            (false, _) => Family::Pa,
            (true, true) => Family::KeRange,
            (true, false) => Family::KeArbitrary,
        }
    }

    /// Whether it asks for sums and averages, which only numbers have.
    pub fn needs_numbers(self) -> bool {
        matches!(self, Family::KeRange | Family::KeArbitrary)
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Family {
    type Err = EvaluateError;

    fn from_str(text: &str) -> Result<Self, EvaluateError> {
        let unknown = || EvaluateError::Workload {
            problem: format!("there is no workload `{}`", text.chars().take(40).collect::<String>()),
            hint: format!("the workloads are {}", Family::ALL.map(Family::name).join(", ")).into(),
        };
        Family::ALL.into_iter().find(|family| family.name() == text).ok_or_else(unknown)
    }
}

/// Which questions to ask, and how many.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// Their kind.
    pub family: Family,
    /// How many.
    pub queries: usize,
    /// The papers' s: the share of the space of values that a question covers, above 0 and at most 1.
    pub selectivity: f64,
    /// The papers' w: how many attributes a question constrains. If absent: 4 for pa, 1 for ke-range, otherwise all.
    pub dimensions: Option<usize>,
    /// Attributes whose order means nothing although their kind has one, such as codes: angel picks any values.
    pub unordered: Vec<String>,
}

/// Questions with their true answers.
pub struct Questions {
    workload: Workload,
    dimensions: usize,
    /// The columns with conditions, the sensitive one last.
    names: Vec<String>,
    queries: Vec<Query>,
    questions: Vec<Question>,
    truths: Vec<Truth>,
    /// The name of the survey weight whose sum is asked for as well, with the true answers.
    weighed: Option<(String, Vec<Truth>)>,
    estimates: EstimateMode,
}

impl Questions {
    /// Draws questions and computes their answers over the microdata.
    ///
    /// # Cost
    /// O(rows · conditions) per question, on all cores: a second for 1,000 questions over 500,000 rows.
    pub fn draw(
        microdata: &Table,
        quasi: &[String],
        sensitive: &str,
        workload: Workload,
        rng: &mut dyn CryptoRng,
        watch: &dyn Watch,
    ) -> Result<Questions, EvaluateError> {
        // Sorted by name, so that the order in which a release lists its attributes does not change the questions.
        let mut names: Vec<String> = quasi.to_vec();
        names.sort_unstable();
        names.push(sensitive.to_owned());
        let columns = columns(microdata, &names)?;
        let (queries, dimensions) = generate::queries(&columns, &workload, rng, watch)?;
        let questions = queries.iter().map(|query| pose::question(&columns, query, workload.family)).collect();
        let truths = truth::all(&columns, &queries, watch);
        Ok(Questions {
            workload,
            dimensions,
            names,
            queries,
            questions,
            truths,
            weighed: None,
            estimates: EstimateMode::Even,
        })
    }

    /// The same questions, which also ask for the sum of a survey weight: how many people of the population the rows
    /// that match stand for. `microdata` must be the table the questions were drawn from.
    pub fn weighed(mut self, microdata: &Table, weight: &str, watch: &dyn Watch) -> Result<Questions, EvaluateError> {
        let names: Vec<String> = self.names.iter().cloned().chain([weight.to_owned()]).collect();
        let columns = columns(microdata, &names)?;
        for question in &mut self.questions {
            question.aggregates.push(pose::aggregate(Function::Sum, weight));
        }
        // The conditions are on the columns before the last, whose numbers are added up.
        self.weighed = Some((weight.to_owned(), truth::all(&columns, &self.queries, watch)));
        Ok(self)
    }

    /// Draws ke's constrained arbitrary questions (7.2) for a release with exact quasi values. `workload.selectivity`
    /// is the share of the groups that a question touches, and `share` the share of rows that it picks from each of
    /// them, by the values of the attribute `by`. If those values are distinct, it picks no other rows.
    pub fn draw_within(
        release: &Release,
        microdata: &Table,
        (by, sensitive): (&str, &str),
        (workload, share): (Workload, f64),
        rng: &mut dyn CryptoRng,
        watch: &dyn Watch,
    ) -> Result<Questions, EvaluateError> {
        let names = vec![by.to_owned(), sensitive.to_owned()];
        let columns = columns(microdata, &names)?;
        let queries = within::queries(release, &[columns[0], columns[1]], (&workload, share), rng, watch)?;
        let questions = queries.iter().map(|query| pose::question(&columns, query, workload.family)).collect();
        let truths = truth::all(&columns, &queries, watch);
        Ok(Questions {
            workload,
            dimensions: 1,
            names,
            queries,
            questions,
            truths,
            weighed: None,
            estimates: EstimateMode::Even,
        })
    }

    /// How a release is to estimate the answers; evenly unless said otherwise, as the papers do. Learned estimates are
    /// compared with even ones.
    #[must_use]
    pub fn estimates(mut self, estimates: EstimateMode) -> Questions {
        self.estimates = estimates;
        self
    }

    /// The questions, as an analyst would ask them.
    pub fn questions(&self) -> &[Question] {
        &self.questions
    }

    /// Asks a release all the questions.
    pub fn ask(&self, release: &Release, watch: &dyn Watch) -> Result<Accuracy, EvaluateError> {
        self.ask_prepared(&OpenRelease::new(release)?, watch)
    }

    /// Asks a release that is ready for questions.
    pub fn ask_prepared(&self, release: &OpenRelease, watch: &dyn Watch) -> Result<Accuracy, EvaluateError> {
        let mut accuracy = self.told(release, self.estimates, watch)?;
        if self.estimates == EstimateMode::Learned {
            let even = self.told(release, EstimateMode::Even, watch)?;
            for (found, even) in accuracy.aggregates.iter_mut().zip(&even.aggregates) {
                found.even = Some(EvenAccuracy::from(even));
            }
        }
        Ok(accuracy)
    }

    fn told(&self, release: &OpenRelease, mode: EstimateMode, watch: &dyn Watch) -> Result<Accuracy, EvaluateError> {
        let answer = |question: &Question| {
            watch.pause();
            release.answer_with(&Plan::new(question, release.manifest())?, mode)
        };
        let answers = self.questions.par_iter().map(answer).collect::<Result<Vec<_>, _>>()?;
        Ok(self.accuracy(&answers.iter().map(ToldAnswer::of).collect::<Vec<_>>()))
    }

    /// Asks a release of swapped values, which has no groups, so the query engine cannot answer. The estimates are the
    /// answers of the table as it stands, and the bounds are those of a reader who knows the minimum numbers within
    /// which values were swapped. `microdata` must be the table the questions were drawn from.
    ///
    /// # Cost
    /// O(rows · conditions) per question, on all cores.
    pub fn ask_swapped(
        &self,
        release: &Release,
        minimum: Minimum,
        microdata: &Table,
        watch: &dyn Watch,
    ) -> Result<Accuracy, EvaluateError> {
        let family = self.workload.family;
        if !family.needs_numbers() {
            let problem = format!("{family} questions have conditions on the sensitive values, which were swapped");
            return Err(EvaluateError::Workload {
                problem,
                hint: generate::either(Family::KeRange, Family::KeArbitrary),
            });
        }
        let columns = columns(microdata, &self.names)?;
        let asked = (&self.queries[..], pose::functions(family));
        Ok(self.accuracy(&swapped::answers(release, minimum, &columns, asked, watch)?))
    }

    fn accuracy(&self, answers: &[Vec<ToldAnswer>]) -> Accuracy {
        let sensitive = self.names.last().map_or("", String::as_str);
        let mut accuracy = Accuracy::new(&self.workload, self.dimensions, (&self.truths, answers), sensitive);
        if let Some((weight, truths)) = &self.weighed {
            let name = pose::aggregate(Function::Sum, weight).name;
            let truths = truths.iter().map(|truth| truth.answer(Function::Sum));
            let at = accuracy.aggregates.len();
            accuracy.aggregates.push(AggregateAccuracy::new(name, truths, answers, at));
        }
        accuracy
    }
}

fn columns<'a>(microdata: &'a Table, names: &[String]) -> Result<Vec<&'a Column>, EvaluateError> {
    let column =
        |name: &String| microdata.column(name).ok_or_else(|| EvaluateError::MissingColumn { column: name.clone() });
    names.iter().map(column).collect()
}

/// Draws a workload for a release and asks it. If the release has a survey weight, its sum is asked for as well.
///
/// The microdata must have the published attributes, read with the manifest's kinds.
pub fn ask(
    release: &Release,
    microdata: &Table,
    (workload, estimates): (Workload, EstimateMode),
    rng: &mut dyn CryptoRng,
    watch: &dyn Watch,
) -> Result<Accuracy, EvaluateError> {
    let microdata = crate::universe::relevant(&release.manifest, microdata)?;
    let quasi: Vec<String> = release.manifest.with_role(RoleName::Quasi).map(|it| it.name.clone()).collect();
    let sensitive = release.manifest.with_role(RoleName::Sensitive).next().ok_or(EvaluateError::NoSensitive)?;
    let mut questions = Questions::draw(&microdata, &quasi, &sensitive.name, workload, rng, watch)?;
    if let Some(weight) = release.manifest.weight() {
        questions = questions.weighed(&microdata, &weight.name, watch)?;
    }
    questions.estimates(estimates).ask(release, watch)
}
