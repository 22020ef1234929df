//! Answers compared with the truth.

use chrysalis_query::question::Function;
use chrysalis_query::{AggregateAnswer, Answer};

use super::truth::Truth;
use super::{Workload, pose};

/// The quantiles that a [`Summary`] gives.
pub const QUANTILES: [f64; 5] = [0.05, 0.25, 0.5, 0.75, 0.95];

/// Sums of many reals differ in their last digits, depending on the order of addition.
const ROUNDING: f64 = 1e-9;

/// How well a release answered a workload.
#[derive(Clone, Debug)]
pub struct Accuracy {
    /// What was asked.
    pub workload: Workload,
    /// How many attributes a question has conditions on.
    pub dimensions: usize,
    /// One per aggregate, in the order of the question.
    pub aggregates: Vec<AggregateAccuracy>,
}

/// How well one aggregate was answered.
#[derive(Clone, Debug, Default)]
pub struct AggregateAccuracy {
    /// `count(*)`, `avg(salary)`.
    pub name: String,
    /// Questions that have a true answer: sums and averages over no rows have none.
    pub judged: u64,
    /// How many of those have a true answer within the bounds.
    pub inside: u64,
    /// How many of those have a true answer other than 0; errors and widths are relative to it.
    pub nonzero: u64,
    /// |truth − estimate| / |truth|.
    pub error: Option<Summary>,
    /// (upper − lower) / |truth|.
    pub width: Option<Summary>,
    /// Of the judged questions, those whose bounds leave something open and that got a standard error.
    pub open: u64,
    /// How many of those have a true answer within two standard errors of the estimate.
    pub covered: u64,
    /// The median of two standard errors divided by the median of |truth − estimate|, over the open questions: how far
    /// standard errors reach beyond what they must cover.
    pub reach: Option<f64>,
    /// How the papers' even estimates do on the same questions, where these here are learned.
    pub even: Option<EvenAccuracy>,
}

/// How well an aggregate was answered by even estimates. Bounds are the same.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EvenAccuracy {
    /// |truth − estimate| / |truth|.
    pub error: Option<Summary>,
    /// How many of the open questions have a true answer within two standard errors of the estimate.
    pub covered: u64,
    /// The median of two standard errors divided by the median of |truth − estimate|, over the open questions.
    pub reach: Option<f64>,
}

impl From<&AggregateAccuracy> for EvenAccuracy {
    fn from(even: &AggregateAccuracy) -> Self {
        EvenAccuracy { error: even.error, covered: even.covered, reach: even.reach }
    }
}

impl AggregateAccuracy {
    /// Compares the true answers with what was told about the aggregate at a place of each answer.
    pub(super) fn new(
        name: String,
        truths: impl Iterator<Item = Option<f64>>,
        answers: &[Vec<ToldAnswer>],
        at: usize,
    ) -> AggregateAccuracy {
        let mut found = AggregateAccuracy { name, ..AggregateAccuracy::default() };
        let (mut errors, mut widths) = (Vec::new(), Vec::new());
        let (mut distances, mut reaches) = (Vec::new(), Vec::new());
        for (truth, answer) in truths.zip(answers) {
            let Some(told) = answer.get(at) else { continue };
            let Some(truth) = truth else { continue };
            found.judged += 1;
            let bounds = told.lower.zip(told.upper);
            found.inside += u64::from(bounds.is_some_and(|bounds| is_inside(truth, bounds)));
            if let (Some(estimate), Some(std_error), Some((lower, upper))) = (told.estimate, told.std_error, bounds)
                && lower < upper
            {
                let (distance, reach) = ((truth - estimate).abs(), 2.0 * std_error);
                found.open += 1;
                found.covered += u64::from(distance <= reach + ROUNDING * truth.abs());
                distances.push(distance);
                reaches.push(reach);
            }
            if truth != 0.0 {
                found.nonzero += 1;
                errors.push((truth - told.estimate.unwrap_or(0.0)).abs() / truth.abs());
                widths.extend(bounds.map(|(lower, upper)| (upper - lower) / truth.abs()));
            }
        }
        found.error = Summary::of(errors);
        found.width = Summary::of(widths);
        let medians = Summary::of(reaches).zip(Summary::of(distances));
        found.reach = medians.map(|(reach, distance)| reach.median() / distance.median()).filter(|it| it.is_finite());
        found
    }

    /// The share of true answers within two standard errors, among the questions that leave something open.
    pub fn covered_share(&self) -> Option<f64> {
        (self.open > 0).then(|| self.covered as f64 / self.open as f64)
    }

    /// The same share for even estimates, where they were asked for beside learned ones.
    pub fn covered_evenly(&self) -> Option<f64> {
        self.even.filter(|_| self.open > 0).map(|even| even.covered as f64 / self.open as f64)
    }

    /// The share of true answers within the bounds: 1, unless there is a bug.
    pub fn inside_share(&self) -> f64 {
        if self.judged == 0 { 1.0 } else { self.inside as f64 / self.judged as f64 }
    }
}

/// A summary of many numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// Their mean.
    pub mean: f64,
    /// Their quantiles at the shares [`QUANTILES`]; the third is the median.
    pub quantiles: [f64; 5],
}

impl Summary {
    /// `None` if there are no numbers.
    pub fn of(mut numbers: Vec<f64>) -> Option<Summary> {
        numbers.sort_by(f64::total_cmp);
        let last = numbers.len().checked_sub(1)?;
        // Interpolated linearly between two ranks.
        let quantile = |share: f64| {
            let place = share * last as f64;
            let (below, above) = (numbers[place.floor() as usize], numbers[place.ceil() as usize]);
            below + (above - below) * place.fract()
        };
        Some(Summary { mean: numbers.iter().sum::<f64>() / numbers.len() as f64, quantiles: QUANTILES.map(quantile) })
    }

    /// The median.
    pub fn median(&self) -> f64 {
        self.quantiles[2]
    }
}

/// What a release says about one aggregate. `None` is NULL.
#[derive(Clone, Copy, Debug)]
pub(super) struct ToldAnswer {
    pub(super) estimate: Option<f64>,
    pub(super) lower: Option<f64>,
    pub(super) upper: Option<f64>,
    pub(super) std_error: Option<f64>,
}

impl ToldAnswer {
    /// What an answer says about its aggregates: without GROUP BY it has one row.
    pub(super) fn of(answer: &Answer) -> Vec<ToldAnswer> {
        let told = |it: &AggregateAnswer| ToldAnswer {
            estimate: it.estimate,
            lower: it.lower,
            upper: it.upper,
            std_error: it.std_error,
        };
        answer.rows.first().map_or_else(Vec::new, |row| row.aggregates.iter().map(told).collect())
    }
}

impl Accuracy {
    /// Each of `answers` has one entry per aggregate, or none; `sensitive` is the column of sums and averages.
    pub(super) fn new(
        workload: &Workload,
        dimensions: usize,
        (truths, answers): (&[Truth], &[Vec<ToldAnswer>]),
        sensitive: &str,
    ) -> Accuracy {
        let aggregate = |(at, &function): (usize, &Function)| {
            let name = pose::aggregate(function, sensitive).name;
            AggregateAccuracy::new(name, truths.iter().map(|truth| truth.answer(function)), answers, at)
        };
        let functions = pose::functions(workload.family);
        Accuracy {
            workload: workload.clone(),
            dimensions,
            aggregates: functions.iter().enumerate().map(aggregate).collect(),
        }
    }
}

fn is_inside(truth: f64, (lower, upper): (f64, f64)) -> bool {
    let room = |bound: f64| ROUNDING * bound.abs().max(truth.abs());
    lower - room(lower) <= truth && truth <= upper + room(upper)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_a_hundred_and_one_numbers_are_their_places() {
        let found = Summary::of((0..=100).rev().map(f64::from).collect()).unwrap();
        assert_eq!(found.quantiles, [5.0, 25.0, 50.0, 75.0, 95.0]);
        assert_eq!((found.mean, found.median()), (50.0, 50.0));
        let two = Summary::of(vec![4.0, 0.0]).unwrap();
        assert_eq!((two.mean, two.quantiles[1], two.median()), (2.0, 1.0, 2.0));
        assert_eq!(Summary::of(Vec::new()), None);
    }

    #[test]
    fn coverage_counts_questions_that_leave_something_open() {
        let told = |estimate: f64, upper: f64, std_error: f64| {
            vec![ToldAnswer {
                estimate: Some(estimate),
                lower: Some(0.0),
                upper: Some(upper),
                std_error: Some(std_error),
            }]
        };
        // Off by 1 with 2·1 beside it, off by 4 with 2·1, and a single point.
        let answers = [told(9.0, 20.0, 1.0), told(6.0, 20.0, 1.0), told(0.0, 0.0, 0.0)];
        let truths = [Some(10.0), Some(10.0), Some(0.0)].into_iter();
        let found = AggregateAccuracy::new("count(*)".into(), truths, &answers, 0);
        assert_eq!((found.judged, found.open, found.covered, found.covered_share()), (3, 2, 1, Some(0.5)));
        assert_eq!(found.reach, Some(2.0 / 2.5));
        assert_eq!(AggregateAccuracy::default().covered_share(), None);
    }

    #[test]
    fn a_truth_beyond_a_bound_is_outside_and_rounding_is_not() {
        assert!(is_inside(2.0, (2.0, 2.0)) && !is_inside(2.1, (1.0, 2.0)) && !is_inside(0.9, (1.0, 2.0)));
        assert!(is_inside(0.1 + 0.2, (0.0, 0.3)));
    }
}
