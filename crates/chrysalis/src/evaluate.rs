use chrysalis_evaluate::rows::{self, LearnerScore, Learning, Lesson, MarginalDistance, RowsWorth};
use chrysalis_evaluate::workload::{self, Accuracy, AggregateAccuracy, Family, QUANTILES, Summary, Workload};
use chrysalis_evaluate::{Distance, Distances, Divergence, Evaluation, ReconstructionError, Subspace};
use chrysalis_query::EstimateMode;
use chrysalis_release::{Form, Manifest, Release, RoleName};
use chrysalis_table::{Counted, Stopped, Table, Watch};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::words::{count, counted};
use crate::{Error, Sampling, Seed, sample};

/// What to measure about a release.
#[derive(Clone, Debug)]
pub struct Measures {
    /// Quasi attributes over which distributions are compared, in addition to all of them.
    pub subspaces: Vec<Subspace>,
    /// The kind of questions; by default the one that suits the release.
    pub family: Option<Family>,
    /// How many questions; 0 means none.
    pub queries: usize,
    /// The share of the space of values that a question covers.
    pub selectivity: f64,
    /// How many attributes a question has conditions on.
    pub dimensions: Option<usize>,
    /// The seed of the questions. It is no secret.
    pub seed: u64,
    /// How the release estimates the answers; learned estimates are compared with even ones.
    pub estimates: EstimateMode,
    /// If several columns are sensitive: the one to look at; the first if absent.
    pub about: Option<String>,
    /// How many tables of rows are drawn and compared; 0 means none.
    pub worlds: usize,
    /// The column that learners predict; the sensitive one if absent.
    pub target: Option<String>,
    /// Rows like those of the microdata that were not published, for testing what was learned.
    pub holdout: Option<Table>,
}

impl Default for Measures {
    fn default() -> Self {
        Measures {
            subspaces: Vec::new(),
            family: None,
            queries: 1000,
            selectivity: 0.05,
            dimensions: None,
            seed: 1,
            estimates: EstimateMode::default(),
            about: None,
            worlds: 1,
            target: None,
            holdout: None,
        }
    }
}

/// What a release is worth.
#[derive(Clone, Debug)]
pub struct EvaluateReport {
    /// How groups are shown.
    pub method: Form,
    /// The partitioner that formed them.
    pub partitioner: String,
    /// The principles that hold, as users write them.
    pub guarantees: Vec<String>,
    /// Losses and divergences.
    pub found: Evaluation,
    /// Distances by attribute and pair.
    pub distances: Distances,
    /// pa's reconstruction error, if the form has one.
    pub reconstruction: Option<ReconstructionError>,
    /// How well questions were answered, if any were asked.
    pub accuracy: Option<Accuracy>,
    /// What drawn rows are worth, if any were drawn.
    pub rows: Option<RowsWorth>,
    /// The seed of the questions.
    pub seed: u64,
    /// The sensitive column that was looked at, if there are several.
    pub about: Option<String>,
}

/// Compares a release with the microdata it was made from, which must be read with the manifest's kinds.
pub fn evaluate(
    release: &Release,
    microdata: &Table,
    measures: &Measures,
    watch: &dyn Watch,
) -> Result<EvaluateReport, Error> {
    Stopped::catch(|| {
        let about = looked_at(&release.manifest, measures.about.as_deref())?;
        check_microdata(&release.manifest, microdata)?;
        let rows = drawn(release, microdata, measures, about.as_deref(), watch)?;
        let alone = about.as_deref().map(|column| release.about(column)).transpose()?;
        let release = alone.as_ref().unwrap_or(release);
        let manifest = &release.manifest;
        let subspaces: Vec<Subspace> =
            std::iter::once(Subspace::whole()).chain(measures.subspaces.iter().cloned()).collect();
        watch.phase("evaluate", None, Counted::Rows);
        let found = chrysalis_evaluate::evaluate(release, microdata, &subspaces, watch)?;
        watch.phase("distances", None, Counted::Rows);
        let distances = chrysalis_evaluate::distances(release, microdata, watch)?;
        Ok(EvaluateReport {
            method: manifest.method,
            partitioner: manifest.partitioner.clone(),
            guarantees: manifest.guarantees(),
            found,
            distances,
            reconstruction: chrysalis_evaluate::reconstruction_error(release)?,
            accuracy: asked(release, microdata, measures, watch)?,
            rows,
            seed: measures.seed,
            about,
        })
    })?
}

/// The sensitive column to look at, if there are several.
fn looked_at(manifest: &Manifest, about: Option<&str>) -> Result<Option<String>, Error> {
    let sensitive: Vec<&str> = manifest.with_role(RoleName::Sensitive).map(|it| it.name.as_str()).collect();
    let Some(name) = about else {
        return Ok(sensitive.first().filter(|_| sensitive.len() > 1).map(|&it| it.to_owned()));
    };
    if !sensitive.contains(&name) {
        let names: Vec<String> = sensitive.iter().map(|name| format!("`{name}`")).collect();
        let message = format!("`{name}` is not a sensitive column of this release");
        return Err(Error::request(message, format!("there are: {}", names.join(", "))));
    }
    Ok((sensitive.len() > 1).then(|| name.to_owned()))
}

/// Whether the table can be the one that was published: it has as many rows, or more if rows with missing values may
/// have been dropped.
fn check_microdata(manifest: &Manifest, microdata: &Table) -> Result<(), Error> {
    let (published, found) = (manifest.rows, microdata.rows() as u64);
    let may_have_dropped = microdata.columns().iter().any(|column| column.domain().has_missing());
    if found == published || (found > published && may_have_dropped) {
        return Ok(());
    }
    let problem = format!("the release has {}, the microdata {}", counted(published, "row"), count(found));
    Err(Error::request(problem, "name the table that the release was made from"))
}

fn asked(
    release: &Release,
    microdata: &Table,
    measures: &Measures,
    watch: &dyn Watch,
) -> Result<Option<Accuracy>, Error> {
    if measures.queries == 0 {
        return Ok(None);
    }
    let workload = Workload {
        family: measures.family.unwrap_or_else(|| Family::suited(&release.manifest)),
        queries: measures.queries,
        selectivity: measures.selectivity,
        dimensions: measures.dimensions,
        unordered: Vec::new(),
    };
    watch.phase("questions", None, Counted::Rows);
    let mut rng = Seed::Fixed(measures.seed).generator()?;
    Ok(Some(workload::ask(release, microdata, (workload, measures.estimates), &mut rng, watch)?))
}

/// What drawn rows are worth.
fn drawn(
    release: &Release,
    microdata: &Table,
    measures: &Measures,
    about: Option<&str>,
    watch: &dyn Watch,
) -> Result<Option<RowsWorth>, Error> {
    let target = measures.target.as_deref().or(about);
    if measures.worlds == 0 {
        let has_effect = measures.target.is_some() || measures.holdout.is_some();
        let refused = || Error::request("nothing is learned where no rows are drawn", "draw at least one world");
        return if has_effect { Err(refused()) } else { Ok(None) };
    }
    if let Some(name) = target.filter(|name| release.manifest.attributes.iter().all(|it| it.name != **name)) {
        let names: Vec<String> = release.manifest.attributes.iter().map(|it| format!("`{}`", it.name)).collect();
        let message = format!("`{name}` is not a column of this release");
        return Err(Error::request(message, format!("there are: {}", names.join(", "))));
    }
    let sampling = Sampling { worlds: measures.worlds, ..Sampling::default() };
    let lesson = Lesson { target, holdout: measures.holdout.as_ref() };
    rows_worth(release, microdata, &sampling, (lesson, measures.seed), watch).map(Some)
}

/// Draws rows and compares them with the microdata. The seed is no secret.
pub(crate) fn rows_worth(
    release: &Release,
    microdata: &Table,
    sampling: &Sampling,
    (lesson, seed): (Lesson<'_>, u64),
    watch: &dyn Watch,
) -> Result<RowsWorth, Error> {
    let seed = Seed::Fixed(seed);
    let worlds = sample(release, sampling, seed, watch)?.worlds;
    watch.phase("rows", None, Counted::Rows);
    Ok(rows::rows_worth(&release.manifest, microdata, &worlds, lesson, &mut seed.generator()?, watch)?)
}

/// JSON has no infinity, so the infinite divergence of a release that excludes somebody becomes null.
pub fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

impl Serialize for EvaluateReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        json(self).serialize(serializer)
    }
}

fn json(report: &EvaluateReport) -> Value {
    let found = &report.found;
    let divergence = |it: &Divergence| json!({"attributes": it.attributes, "table": it.table, "kl": finite(it.kl), "points": it.points});
    let mean = |sum: f64| sum / found.rows.max(1) as f64;
    let by_attribute: serde_json::Map<String, Value> =
        found.ncp_by_attribute.iter().map(|(name, sum)| (name.clone(), json!(mean(*sum)))).collect();
    let distance = |it: &Distance| json!({"attributes": it.attributes, "table": it.table, "distance": it.distance, "bucketed": it.is_bucketed});
    let distances = |all: &[Distance]| all.iter().map(distance).collect::<Vec<_>>();
    json!({
        "method": report.method,
        "partitioner": report.partitioner,
        "guarantees": report.guarantees,
        "rows": found.rows,
        "groups": found.groups,
        "divergences": found.divergences.iter().map(divergence).collect::<Vec<_>>(),
        "ncp": found.ncp.mean(),
        "ncp_sum": found.ncp.sum,
        "ncp_by_attribute": by_attribute,
        "discernibility": u64::try_from(found.discernibility).unwrap_or(u64::MAX),
        "average_group_size": found.average_group_size,
        "rce": report.reconstruction.map(|it| it.rce),
        "rce_bound": report.reconstruction.and_then(|it| it.bound),
        "distances": {
            "attributes": distances(&report.distances.attributes),
            "pairs": distances(&report.distances.pairs),
        },
        "rows_drawn": report.rows.as_ref().map(rows_json),
        "workload": report.accuracy.as_ref().map(|accuracy| workload_json(accuracy, report.seed)),
    })
}

/// What drawn rows are worth, as it is written everywhere.
pub fn rows_json(found: &RowsWorth) -> Value {
    let marginal = |it: &MarginalDistance| json!({"ways": it.ways, "compared": it.compared, "mean": it.mean, "max": it.max, "worst": it.worst});
    let score = |it: &LearnerScore| json!({"learner": it.learner.name(), "microdata": it.microdata, "drawn": it.drawn});
    let learning = |it: &Learning| {
        json!({
            "target": it.target,
            "ranges": it.is_ranged,
            "tested": it.tested,
            "unpublished": it.is_unpublished,
            "majority": it.majority,
            "accuracies": it.scores.iter().map(score).collect::<Vec<_>>(),
        })
    };
    json!({
        "worlds": found.worlds,
        "marginals": found.marginals.iter().map(marginal).collect::<Vec<_>>(),
        "learning": found.learning.as_ref().map(learning),
    })
}

fn workload_json(accuracy: &Accuracy, seed: u64) -> Value {
    let summary = |summary: Option<Summary>| {
        summary.map(|it| {
            let quantiles: serde_json::Map<String, Value> = QUANTILES
                .iter()
                .zip(it.quantiles)
                .map(|(share, value)| (format!("{:.0}%", share * 100.0), json!(value)))
                .collect();
            json!({"mean": it.mean, "median": it.median(), "quantiles": quantiles})
        })
    };
    let even = |it: &AggregateAccuracy| {
        it.even.map(|even| json!({"error": summary(even.error), "covered": it.covered_evenly(), "reach": even.reach}))
    };
    let aggregate = |it: &AggregateAccuracy| {
        json!({
            "name": it.name,
            "judged": it.judged,
            "inside": it.inside_share(),
            "nonzero": it.nonzero,
            "error": summary(it.error),
            "width": summary(it.width),
            "open": it.open,
            "covered": it.covered_share(),
            "reach": it.reach,
            "even": even(it),
        })
    };
    json!({
        "family": accuracy.workload.family.name(),
        "queries": accuracy.workload.queries,
        "selectivity": accuracy.workload.selectivity,
        "dimensions": accuracy.dimensions,
        "seed": seed,
        "aggregates": accuracy.aggregates.iter().map(aggregate).collect::<Vec<_>>(),
    })
}
