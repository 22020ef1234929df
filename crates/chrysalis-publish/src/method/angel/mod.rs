//! Batches of sensitive values and buckets of quasi values; see `spec.md` for the steps that the comments number.

mod buckets;
mod chunk;
mod exchange;
mod joined;
mod reconstruction;

use std::collections::BTreeSet;

use chrysalis_criteria::loss::discernibility;
use chrysalis_release::{BATCH_ID, Form, Promise, Scope, marginal_table};
use chrysalis_table::Column;

use super::anatomy::{check_sensitive_names, nothing_sensitive, sensitive_tables};
use super::frame::{self, ShownGroups};
use super::generalize::{Summary, column_names, members};
use super::{Method, Outcome};
use crate::microdata::Persons;
use crate::partitioner::{Compact, Mondrian, Partitioner, compact_by_density};
use crate::{Job, Microdata, Partition, PublishError};
use buckets::Buckets;
pub use joined::JoinedFacts;
use joined::joined;
use reconstruction::{Batches, surprise};

/// The publication `angel`.
///
/// # Guarantees
/// Every bucket of every table by itself has at least k rows, unless the manifest promises no `k=` ([`Fallback`]);
/// [`JoinedFacts`] says what is left once the tables are joined. Every batch satisfies the principles under which it
/// was formed. For principles that depend on distributions alone, so does what an attacker can learn about any person.
/// # Against whom
/// An attacker who knows all quasi values of everybody and sees all tables.
/// # Cost
/// One run of `mondrian` per table, one for the simple generalization, and up to two of `compact` where it may be
/// better: O(n log n).
/// # Paper
/// angel, sections 3 and 4.
#[derive(Clone, Debug)]
pub struct Angel {
    /// The least number of rows in a bucket; 1 shows quasi values as they are.
    pub k: u64,
    /// Sets of quasi attributes, by name, that get a table of their own.
    pub marginals: Vec<Vec<String>>,
    /// Columns of the input that hold the buckets of `gt` and, in order, of the marginals. `mondrian` forms the buckets
    /// of tables that have no column.
    pub bucket_columns: Vec<String>,
    /// Whether buckets are cut, and rows exchanged between batches, to improve the reconstruction.
    pub for_reconstruction: bool,
    /// What to do if the simple generalization allows a better reconstruction.
    pub fallback: Fallback,
}

/// Whether the equivalent of the simple generalization is published if it allows a better reconstruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fallback {
    /// Never: batches and buckets stay as they are.
    Never,
    /// Yes, formed under all requirements, `k=` included.
    KeepingK,
    /// Yes, formed under the principles of batches alone, as in the paper. `k=` is then promised only if it happens to
    /// hold.
    PrinciplesAlone,
}

/// What an angel release is made of.
#[derive(Clone, Debug)]
pub struct Angelization {
    /// The buckets of every generalized table.
    pub buckets: Vec<BucketFacts>,
    /// Whether batches and buckets are the groups of the simple generalization.
    pub is_simple: bool,
    /// What joining the tables leaves; `None` if there is only one.
    pub joined: Option<JoinedFacts>,
}

/// The buckets of one table.
#[derive(Clone, Debug)]
pub struct BucketFacts {
    /// The table.
    pub table: String,
    /// How many buckets it has.
    pub buckets: u64,
    /// The sizes of the smallest and the largest.
    pub sizes: (u64, u64),
}

impl Method for Angel {
    fn form(&self) -> Form {
        Form::Angel
    }

    fn check(&self, data: &Microdata) -> Result<(), PublishError> {
        if data.sensitive_columns().len() == 0 {
            return Err(nothing_sensitive(self.form()));
        }
        let quasi = data.quasi().flat_map(|(column, _)| column_names(column));
        let rest = data.other().map(|column| column.name().to_owned());
        frame::check_names(quasi.chain(rest).chain([BATCH_ID.to_owned()]))?;
        check_sensitive_names(data, self.form())?;
        if self.bucket_columns.len() > self.marginals.len() + 1 {
            let problem = format!(
                "{} bucket columns are named for {} tables of buckets",
                self.bucket_columns.len(),
                self.marginals.len() + 1
            );
            return Err(PublishError::request(problem));
        }
        self.attributes(data).map(drop)
    }

    fn publish(&self, job: &mut Job<'_>) -> Result<Outcome, PublishError> {
        let (data, watch) = (job.data(), job.watch());
        // Batches and buckets are made of persons, where these may have several rows.
        let sensitive = data.units().sensitive();
        let sensitive = sensitive.ok_or_else(|| PublishError::Internal("no sensitive column".into()))?;
        let partition = job.group_units(Scope::Batch)?;
        // Step 1.
        let attributes = self.attributes(data)?;
        let of_units: Vec<Vec<usize>> = attributes.iter().map(|attributes| lifted(data, attributes)).collect();
        let mut tables: Vec<Buckets> =
            (0..of_units.len()).map(|at| self.buckets(job, at, &of_units[at])).collect::<Result<_, _>>()?;
        // Step 2.
        let batches = self.batches(job, sensitive, partition, &tables[0])?;
        // Step 3.
        let simple = self.simpler(job, sensitive, &batches, &tables[0])?;
        let is_simple = simple.is_some();
        let (batches, partitioner) = match simple {
            Some((whole, partitioner)) => {
                let batches = whole.partition.clone();
                tables[0] = whole;
                (batches, partitioner)
            }
            None => (batches, job.partitioner()),
        };
        let joined = joined(&batches, &tables, self.k, watch);
        let tables: Vec<Buckets> =
            tables.into_iter().zip(&attributes).map(|(buckets, attributes)| buckets.of_rows(job, attributes)).collect();
        let batches = job.check(job.to_rows(batches), Scope::Batch, partitioner)?;
        let bucket_partitions: Vec<&Partition> = tables.iter().map(|buckets| &buckets.partition).collect();
        let of_buckets = match self.fallback {
            // The simple generalization may have smaller buckets.
            Fallback::PrinciplesAlone if is_simple => job.promise_if_held(&bucket_partitions, Scope::Bucket)?,
            _ => job.promise(&bucket_partitions, Scope::Bucket)?,
        };
        // Step 4.
        let shown = frame::draw_ids(batches.partition(), job.rng());
        let mut named = sensitive_tables(data, self.form(), batches.partition(), &shown, watch);
        // Step 5.
        let shape = self.form().shape();
        let names = self.table_names();
        let kept: Vec<&Column> = data.other().collect();
        for (at, (name, buckets)) in names.iter().zip(&tables).enumerate() {
            let kept = if at == 0 { kept.as_slice() } else { &[] };
            named.push((name.clone(), buckets.table(batches.partition(), &shown, kept, watch)));
        }
        if let Some(name) = shape.members {
            named.push((name.to_owned(), members(tables.iter().flat_map(|buckets| &buckets.summaries))));
        }
        let groups = ShownGroups {
            promises: in_order(job, batches.promises().iter().chain(&of_buckets)),
            ..ShownGroups::of(&batches, &shown)
        };
        let release = frame::release(data, self.form(), groups, named);
        let ncp = |summary: &Summary| (summary.name().to_owned(), summary.ncp(&tables[0].partition));
        let lost = tables[0].summaries.iter().map(ncp).collect();
        let disclosure = job.disclosure(&[batches.partition()], self.form());
        let mut outcome = Outcome::new(release, batches.partition(), lost, Some(disclosure));
        let facts = |(name, buckets): (&String, &Buckets)| BucketFacts {
            table: name.clone(),
            buckets: buckets.partition.n_groups() as u64,
            sizes: (buckets.partition.sizes().min().unwrap_or(0), buckets.partition.sizes().max().unwrap_or(0)),
        };
        // Rows look alike within a bucket, so buckets are what discernibility counts.
        outcome.discernibility = discernibility(tables[0].partition.sizes());
        outcome.angelization =
            Some(Angelization { buckets: names.iter().zip(&tables).map(facts).collect(), is_simple, joined });
        Ok(outcome)
    }
}

/// The columns that some quasi attributes became in the table that groups are made of.
fn lifted(data: &Microdata, attributes: &[usize]) -> Vec<usize> {
    match data.persons() {
        Some(persons) => attributes.iter().flat_map(|&at| &persons.places[at]).copied().collect(),
        None => attributes.to_vec(),
    }
}

/// The promises of batches and buckets together, in the order in which the owner asked for them.
fn in_order<'a>(job: &Job<'_>, promises: impl Iterator<Item = &'a Promise>) -> Vec<Promise> {
    let asked = job.required(Scope::Group);
    let place = |promise: &Promise| asked.iter().position(|asked| asked.principle == *promise.principle());
    let mut promises: Vec<Promise> = promises.cloned().collect();
    promises.sort_by_key(place);
    promises
}

impl Angel {
    /// The quasi attributes of every table, `gt` first, by index.
    fn attributes(&self, data: &Microdata) -> Result<Vec<Vec<usize>>, PublishError> {
        let place = |name: &String| {
            let place = data.quasi().position(|(column, _)| column.name() == name);
            place
                .ok_or_else(|| PublishError::request(format!("a marginal names `{name}`, which is not a quasi column")))
        };
        let mut tables = vec![(0..data.quasi().len()).collect::<Vec<usize>>()];
        for marginal in &self.marginals {
            let mut places = marginal.iter().map(place).collect::<Result<Vec<_>, _>>()?;
            places.sort_unstable();
            if places.windows(2).any(|pair| pair[0] == pair[1]) || places.is_empty() || tables.contains(&places) {
                let text = marginal.join(",");
                return Err(PublishError::request(format!("the marginal `{text}` names a column twice, or none")));
            }
            tables.push(places);
        }
        Ok(tables)
    }

    /// A distinct name for every table, even if attribute names become alike as parts of a table name.
    fn table_names(&self) -> Vec<String> {
        let shape = self.form().shape();
        let mut names = vec![shape.people.to_owned()];
        let mut taken = BTreeSet::new();
        for marginal in &self.marginals {
            let plain = marginal_table(shape.marginals.unwrap_or_default(), marginal.iter().map(String::as_str));
            let numbered = (2u64..).map(|number| format!("{plain}_{number}"));
            let free = std::iter::once(plain.clone()).chain(numbered).find(|name| !taken.contains(name));
            let name = free.unwrap_or(plain);
            taken.insert(name.clone());
            names.push(name);
        }
        names
    }

    fn buckets(&self, job: &mut Job<'_>, at: usize, attributes: &[usize]) -> Result<Buckets, PublishError> {
        match self.bucket_columns.get(at) {
            Some(column) => Buckets::given(job, attributes, self.k, column),
            None => Buckets::cut(job, attributes, self.k, self.for_reconstruction),
        }
    }

    /// The batches that were formed, with rows exchanged between them if `for_reconstruction` is set.
    fn batches(
        &self,
        job: &mut Job<'_>,
        sensitive: &Column,
        partition: Partition,
        buckets: &Buckets,
    ) -> Result<Partition, PublishError> {
        // LEAK: exchanged persons would come to stand with others who have more or fewer rows.
        let is_apart = job.data().persons().is_some_and(Persons::are_kept_apart);
        if !self.for_reconstruction || is_apart {
            return Ok(partition);
        }
        let goal = job.goal(Scope::Batch)?;
        let watch = job.watch();
        Ok(exchange::improved(sensitive, &goal, &partition, &buckets.partition, job.rng(), watch))
    }

    /// The simple generalization and the partitioner that formed it, if it allows a better reconstruction.
    fn simpler(
        &self,
        job: &mut Job<'_>,
        sensitive: &Column,
        batches: &Partition,
        buckets: &Buckets,
    ) -> Result<Option<(Buckets, &'static str)>, PublishError> {
        let goal = match self.fallback {
            Fallback::Never => return Ok(None),
            Fallback::KeepingK => job.goal(Scope::Group)?,
            Fallback::PrinciplesAlone => job.goal(Scope::Batch)?,
        };
        let (data, watch) = (job.data().units(), job.watch());
        let progress = |_: u64| watch.pause();
        let error = |batches: &Partition, buckets: &Buckets| {
            watch.pause();
            let batches = Batches::new(sensitive, batches);
            watch.pause();
            surprise(sensitive, &batches, &buckets.partition, &buckets.points())
        };
        let own = error(batches, buckets);
        let simple = |groups: Partition, partitioner: &'static str| {
            let simple = Buckets::of(data, groups, watch);
            (error(&simple.partition, &simple), (simple, partitioner))
        };
        let mondrian = Mondrian::default();
        if job.data().persons().is_some() {
            let scope = if self.fallback == Fallback::KeepingK { Scope::Group } else { Scope::Batch };
            let groups = match job.group_persons(&mondrian, &goal, &job.required(scope), None) {
                // Persons with equally many rows may be too few for this.
                Err(PublishError::Infeasible { .. }) => return Ok(None),
                groups => groups?,
            };
            let (error, simple) = simple(groups, mondrian.name());
            return Ok((error < own).then_some(simple));
        }
        let mut best = simple(mondrian.partition(data, &goal, job.rng(), &progress)?, mondrian.name());
        let rows = data.rows();
        let is_promising = best.0 - own < rows as f64 * CATCHES_UP;
        let is_small = rows <= ROWS_FOR_COMPACT_ANYWAY;
        let mut others = Vec::new();
        if is_small || (rows <= ROWS_FOR_COMPACT && is_promising) {
            others.push(compact_by_density(data, &goal, job.rng(), &progress));
        }
        if is_small {
            others.push(Compact.partition(data, &goal, job.rng(), &progress)?);
        }
        for groups in others {
            let other = simple(groups, Compact.name());
            best = if other.0 < best.0 { other } else { best };
        }
        Ok((best.0 < own).then_some(best.1))
    }
}

/// Up to this many rows, `compact` always competes.
const ROWS_FOR_COMPACT_ANYWAY: usize = 100_000;
/// Beyond this many rows, only `mondrian` competes.
const ROWS_FOR_COMPACT: usize = 500_000;
/// How many nats per row `compact` may gain over `mondrian` on large tables; on CENSUS it gains up to a ninth of a nat.
const CATCHES_UP: f64 = 0.5;
