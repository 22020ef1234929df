//! Measures of a release.

use chrysalis::{Error, words};
use chrysalis_criteria::Minimum;
use chrysalis_evaluate::workload::{Accuracy, Questions};
use chrysalis_evaluate::{Evaluation, Subspace, evaluate, reconstruction_error};
use chrysalis_release::{GROUP_ID, Release, RoleName, Values};
use chrysalis_table::{Table, Watch};
use serde::Deserialize;

use super::run::ExperimentRun;

/// A number that describes a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Measure {
    ErrorMean,
    ErrorMedian,
    WidthMean,
    WidthMedian,
    Inside,
    Kl,
    Ncp,
    NcpSum,
    Dm,
    Cavg,
    Groups,
    Rce,
    RceBound,
    OpenRows,
    SumOfRanges,
    LargestRange,
    Seconds,
    PartitionSeconds,
    OriginalMs,
    RewrittenMs,
    Overhead,
}

impl Measure {
    /// The name as written in a file.
    pub(super) fn name(self) -> &'static str {
        match self {
            Measure::ErrorMean => "error-mean",
            Measure::ErrorMedian => "error-median",
            Measure::WidthMean => "width-mean",
            Measure::WidthMedian => "width-median",
            Measure::Inside => "inside",
            Measure::Kl => "kl",
            Measure::Ncp => "ncp",
            Measure::NcpSum => "ncp-sum",
            Measure::Dm => "dm",
            Measure::Cavg => "cavg",
            Measure::Groups => "groups",
            Measure::Rce => "rce",
            Measure::RceBound => "rce-bound",
            Measure::OpenRows => "open-rows",
            Measure::SumOfRanges => "sum-of-ranges",
            Measure::LargestRange => "largest-range",
            Measure::Seconds => "seconds",
            Measure::PartitionSeconds => "partition-seconds",
            Measure::OriginalMs => "original-ms",
            Measure::RewrittenMs => "rewritten-ms",
            Measure::Overhead => "overhead",
        }
    }

    /// The name as people read it.
    pub(super) fn label(self) -> &'static str {
        match self {
            Measure::ErrorMean => "mean relative error",
            Measure::ErrorMedian => "median relative error",
            Measure::WidthMean => "mean relative width of the bounds",
            Measure::WidthMedian => "median relative width of the bounds",
            Measure::Inside => "true answers within the bounds",
            Measure::Kl => "KL-divergence (nats)",
            Measure::Ncp => "loss per cell (NCP)",
            Measure::NcpSum => "loss (NCP, summed)",
            Measure::Dm => "discernibility (DM)",
            Measure::Cavg => "average group size (CAVG)",
            Measure::Groups => "groups",
            Measure::Rce => "reconstruction error (RCE)",
            Measure::RceBound => "lower bound of RCE",
            Measure::OpenRows => "rows open to the similarity attack",
            Measure::SumOfRanges => "sum of the groups' ranges",
            Measure::LargestRange => "largest range of a group",
            Measure::Seconds => "seconds to publish",
            Measure::PartitionSeconds => "seconds to form groups",
            Measure::OriginalMs => "milliseconds of the original question over the microdata",
            Measure::RewrittenMs => "milliseconds of the rewritten question over the release",
            Measure::Overhead => "time of the rewritten question / time of the original",
        }
    }

    pub(super) fn is_share(self) -> bool {
        matches!(
            self,
            Measure::ErrorMean | Measure::ErrorMedian | Measure::WidthMean | Measure::WidthMedian | Measure::Inside
        )
    }

    /// A value as people read it.
    pub(super) fn shown(self, value: f64) -> String {
        match self {
            _ if self.is_share() => format!("{} %", short(value * 100.0)),
            Measure::Dm | Measure::Groups | Measure::OpenRows | Measure::SumOfRanges | Measure::LargestRange => {
                words::count(value.round() as u64)
            }
            _ => short(value),
        }
    }

    fn needs_database(self) -> bool {
        matches!(self, Measure::OriginalMs | Measure::RewrittenMs | Measure::Overhead)
    }

    fn needs_evaluation(self) -> bool {
        matches!(self, Measure::Kl | Measure::Dm | Measure::Cavg | Measure::Groups | Measure::Ncp | Measure::NcpSum)
    }
}

/// Three significant digits.
fn short(value: f64) -> String {
    match value.abs() {
        _ if value == 0.0 => "0".to_owned(),
        size if size >= 1000.0 => words::count(value.round().abs() as u64),
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 1.0 => format!("{value:.2}"),
        size if size >= 0.1 => format!("{value:.3}"),
        size if size >= 0.000_1 => format!("{value:.4}"),
        _ => format!("{value:.1e}"),
    }
}

/// A release and everything it was made from.
pub(super) struct Sample<'a> {
    pub(super) release: &'a Release,
    pub(super) table: &'a Table,
    pub(super) run: &'a ExperimentRun,
    pub(super) seconds: f64,
    pub(super) partition_seconds: f64,
    /// For rank-swap: the minimum numbers within which values were swapped.
    pub(super) swapping: Option<Minimum>,
    /// The questions, if the run has a workload.
    pub(super) questions: Option<&'a Questions>,
    pub(super) watch: &'a dyn Watch,
}

/// Milliseconds to parse and run a statement to its end, in the fastest of its runs: the median over all questions.
pub(super) struct Times {
    pub(super) original_ms: f64,
    pub(super) rewritten_ms: f64,
}

/// Results that several measures share.
#[derive(Default)]
struct SharedMeasures {
    accuracy: Option<Accuracy>,
    evaluation: Option<Evaluation>,
    times: Option<Times>,
}

impl Sample<'_> {
    /// The values of some measures; `None` where a release has no such value.
    pub(super) fn measured(&self, measures: &[Measure]) -> Result<Vec<Option<f64>>, Error> {
        let wants = |needs: fn(Measure) -> bool| measures.iter().any(|measure| needs(*measure));
        let mut known = SharedMeasures::default();
        if wants(Measure::is_share) {
            known.accuracy = Some(self.ask()?);
        }
        // A swapped table has neither groups nor labels to measure.
        if self.swapping.is_none() && wants(Measure::needs_evaluation) {
            known.evaluation = Some(self.evaluation(measures)?);
        }
        if wants(Measure::needs_database) {
            known.times = Some(self.times()?);
        }
        measures.iter().map(|measure| self.value(*measure, &known)).collect()
    }

    #[cfg(feature = "databases")]
    fn times(&self) -> Result<Times, Error> {
        super::database::times(self.release, self.table, self.questions()?.questions())
    }

    #[cfg(not(feature = "databases"))]
    fn times(&self) -> Result<Times, Error> {
        let message = "this experiment times questions in a database, and this build has none";
        Err(Error::request(message, "build with the feature `databases`"))
    }

    fn value(&self, measure: Measure, known: &SharedMeasures) -> Result<Option<f64>, Error> {
        // ke's first aggregate is the average; the others have only a count.
        let first = known.accuracy.as_ref().and_then(|accuracy| accuracy.aggregates.first());
        let (found, times) = (known.evaluation.as_ref(), known.times.as_ref());
        Ok(match measure {
            Measure::ErrorMean => first.and_then(|it| it.error).map(|error| error.mean),
            Measure::ErrorMedian => first.and_then(|it| it.error).map(|error| error.median()),
            Measure::WidthMean => first.and_then(|it| it.width).map(|width| width.mean),
            Measure::WidthMedian => first.and_then(|it| it.width).map(|width| width.median()),
            Measure::Inside => first.map(|it| it.inside_share()),
            Measure::OriginalMs => times.map(|it| it.original_ms),
            Measure::RewrittenMs => times.map(|it| it.rewritten_ms),
            Measure::Overhead => times.map(|it| it.rewritten_ms / it.original_ms),
            Measure::Kl => found.and_then(|it| it.divergences.first()).map(|it| it.kl),
            Measure::Ncp => found.map(|it| it.ncp.mean()),
            Measure::NcpSum => found.map(|it| it.ncp.sum),
            Measure::Dm => found.map(|it| it.discernibility as f64),
            Measure::Groups => found.map(|it| it.groups as f64),
            Measure::Cavg => found.and_then(|it| {
                let least = self.run.least_group.map(|k| it.rows as f64 / it.groups.max(1) as f64 / k as f64);
                it.average_group_size.or(least)
            }),
            Measure::Rce => reconstruction_error(self.release)?.map(|it| it.rce),
            Measure::RceBound => reconstruction_error(self.release)?.and_then(|it| it.bound),
            Measure::OpenRows => {
                let similarity = chrysalis_audit::audit(self.release, None, self.watch)?.attacks.similarity;
                similarity.map(|similarity| similarity.rows as f64)
            }
            Measure::SumOfRanges => ranges(self.release)?.map(|ranges| ranges.iter().sum()),
            Measure::LargestRange => ranges(self.release)?.map(|ranges| ranges.into_iter().fold(0.0, f64::max)),
            Measure::Seconds => Some(self.seconds),
            Measure::PartitionSeconds => Some(self.partition_seconds),
        })
    }

    fn evaluation(&self, measures: &[Measure]) -> Result<Evaluation, Error> {
        let compare = &self.run.compare;
        let n = compare.first.unwrap_or(usize::MAX);
        let attributes: Vec<String> = compare.attributes.iter().take(n).cloned().collect();
        let subspace = Subspace { attributes, table: compare.table.clone() };
        let subspaces = if measures.contains(&Measure::Kl) { vec![subspace] } else { Vec::new() };
        Ok(evaluate(self.release, self.table, &subspaces, self.watch)?)
    }

    fn questions(&self) -> Result<&Questions, Error> {
        let missing = || Error::request("a measure needs questions, and there are none", "add a [workload]");
        self.questions.ok_or_else(missing)
    }

    fn ask(&self) -> Result<Accuracy, Error> {
        let questions = self.questions()?;
        Ok(match self.swapping {
            Some(minimum) => questions.ask_swapped(self.release, minimum, self.table, self.watch)?,
            None => questions.ask(self.release, self.watch)?,
        })
    }
}

/// For shuffled releases: the range of each group's sensitive values.
fn ranges(release: &Release) -> Result<Option<Vec<f64>>, Error> {
    let sensitive = release.manifest.with_role(RoleName::Sensitive).next();
    let shape = release.manifest.method.shape();
    // Values are beside the rows of their group, and the existence of a table of bounds means that they are numbers.
    let is_meant = shape.values == Values::Beside && shape.help.is_some();
    let (Ok(table), Some(sensitive)) = (release.table(shape.people), sensitive.filter(|_| is_meant)) else {
        return Ok(None);
    };
    let (Some(ids), Some(values)) = (table.column(GROUP_ID), table.column(&sensitive.name)) else { return Ok(None) };
    let mut ends: Vec<Option<(f64, f64)>> = vec![None; ids.domain().len()];
    for row in 0..table.rows() {
        let Some(value) = values.domain().value(values.code(row)).and_then(|value| value.number()) else { continue };
        let own = &mut ends[ids.code(row) as usize];
        *own = Some(own.map_or((value, value), |(low, high)| (low.min(value), high.max(value))));
    }
    Ok(Some(ends.into_iter().flatten().map(|(low, high)| high - low).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_measure_is_read_by_its_name() {
        for measure in [Measure::ErrorMean, Measure::Kl, Measure::SumOfRanges, Measure::RewrittenMs] {
            let read: Measure = toml::Value::String(measure.name().to_owned()).try_into().unwrap();
            assert_eq!(read, measure);
        }
    }

    #[test]
    fn numbers_have_three_digits_that_matter() {
        let shown: Vec<String> = [0.0, 0.031_23, 0.512_9, 3.271_59, 42.123, 512.3, 1_234_567.0].map(short).to_vec();
        assert_eq!(shown, ["0", "0.0312", "0.513", "3.27", "42.1", "512", "1,234,567"]);
        assert_eq!(Measure::WidthMean.shown(0.1234), "12.3 %");
    }
}
