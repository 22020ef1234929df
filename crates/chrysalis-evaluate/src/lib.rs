//! What a release is worth: how far an analyst who has only the release is from the microdata.
//!
//! The owner holds both and can tell. Every measure works from the published tables, never from the partition the publisher
//! kept in memory, so any release can be judged, whoever made it.
//!
//! - KL-divergence: between the distribution of the microdata and the one an analyst would rebuild from the release
//!   (angel, equation 7), over all quasi attributes or some of them. Sums run over the points where somebody is, so the
//!   cost is that of sorting the rows, not the size of the universe.
//! - NCP, DM and CAVG: what generalization itself lost.
//! - [`distances`]: how far the shares of every attribute's values, and of every two attributes', are from the truth.
//! - [`reconstruction_error`]: pa's RCE, and the least it can be.
//! - [`workload`]: the papers' random questions, asked through the engine that analysts use; errors, widths of bounds, and
//!   whether the bounds hold.
//!
//! # Example
//!
//! Rows that are shown as they are, in one group: the analyst knows the shares of both columns, not what goes with what.
//!
//! ```
//! use chrysalis_evaluate::{Subspace, evaluate};
//! # use chrysalis_publish::{AttributeSpec, Microdata, Partition, method::{Anatomy, Origin, Publisher}};
//! # use chrysalis_table::{Column, Role, Table};
//! # use rand::SeedableRng;
//! let table = Table::new(vec![
//!     Column::texts("sex", ["F", "M"].into_iter()),
//!     Column::texts("disease", ["flu", "cold"].into_iter()),
//! ]);
//! # let roles = [AttributeSpec::new("sex", Role::QuasiIdentifier), AttributeSpec::new("disease", Role::Sensitive)];
//! # let data = Microdata::new(table.clone(), &roles).unwrap();
//! # let origin = Origin { partitioner: "column", guarantees: &[] };
//! # let mut rng = rand::rngs::ChaCha20Rng::seed_from_u64(1);
//! # let release = Anatomy.publish(&data, &Partition::new(vec![0, 1], &[2]), origin, &mut rng).unwrap().release;
//! let found = evaluate(&release, &table, &[Subspace::whole()])?;
//! assert!((found.divergences[0].kl - 2f64.ln()).abs() < 1e-12);
//! # Ok::<(), chrysalis_evaluate::EvaluateError>(())
//! ```

mod blurred;
mod boxes;
mod coverage;
mod distance;
mod error;
mod exact;
mod loss;
mod permuted;
mod rce;
mod tree;
mod universe;
pub mod workload;

use chrysalis_criteria::loss::{Ncp, kl_divergence};
use chrysalis_release::{Release, RoleName, angelized, generalized};
use chrysalis_table::Table;
use rayon::prelude::*;

pub use distance::{Distance, Distances, distances};
pub use error::EvaluateError;
pub use rce::{ReconstructionError, reconstruction_error};
use universe::Universe;

/// Quasi attributes over which distributions are compared, together with the sensitive one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subspace {
    /// The attributes; empty means all quasi attributes.
    pub attributes: Vec<String>,
    /// For angel: the generalized table to use. Absent, the one with the fewest attributes beyond these.
    pub table: Option<String>,
}

impl Subspace {
    /// All quasi attributes.
    pub fn whole() -> Self {
        Subspace::default()
    }
}

/// What was measured.
#[derive(Clone, Debug)]
pub struct Evaluation {
    /// Rows of the release.
    pub rows: u64,
    /// Groups; for angel, buckets of the table with all attributes.
    pub groups: u64,
    /// One per subspace, in order.
    pub divergences: Vec<Divergence>,
    /// The penalty over all rows and attributes.
    pub ncp: Ncp,
    /// The penalty of every quasi attribute, summed over rows.
    pub ncp_by_attribute: Vec<(String, f64)>,
    /// Σ n² over groups.
    pub discernibility: u128,
    /// (rows / groups) / k, where a k is promised.
    pub average_group_size: Option<f64>,
}

/// The distance of two distributions.
#[derive(Clone, Debug)]
pub struct Divergence {
    /// The quasi attributes compared.
    pub attributes: Vec<String>,
    /// The table from which the distribution was rebuilt.
    pub table: String,
    /// KL-divergence in nats; infinite where the release excludes somebody who is in the microdata.
    pub kl: f64,
    /// How many points of the universe have somebody.
    pub points: u64,
}

/// What an analyst would think of points of the universe.
pub(crate) trait Reconstruction: Sync {
    /// D*(Q,x) for every value x of some that occur with a point Q of quasi values, as codes of the microdata. Values ascend.
    fn shares(&self, point: &[u32], values: &[u32]) -> Vec<f64>;
}

/// Distributions this close are equal but for rounding, which may even bring the sum below zero.
const ROUNDING: f64 = 1e-12;

/// Compares a release with the microdata it was made from.
///
/// The microdata hold the published attributes, read with the manifest's kinds.
///
/// # Cost
/// O(n log n) in the rows, times the boxes that cover a point: one where recoding is strict, more in a subspace.
pub fn evaluate(release: &Release, microdata: &Table, subspaces: &[Subspace]) -> Result<Evaluation, EvaluateError> {
    let (microdata, _) = universe::relevant(&release.manifest, microdata)?;
    let divergences =
        subspaces.iter().map(|subspace| divergence(release, &microdata, subspace)).collect::<Result<_, _>>()?;
    loss::measure(release, &microdata, divergences)
}

fn divergence(release: &Release, microdata: &Table, subspace: &Subspace) -> Result<Divergence, EvaluateError> {
    let attributes = attributes(release, subspace)?;
    let universe = Universe::new(release, microdata, &attributes)?;
    let (table, reconstruction) = reconstruction(release, &universe, &attributes, subspace.table.as_deref())?;
    let total = universe.rows() as f64;
    let shares: Vec<Vec<(f64, f64)>> = universe
        .points()
        .par_iter()
        .map(|point| {
            let values: Vec<u32> = point.values.iter().map(|&(value, _)| value).collect();
            let guesses = reconstruction.shares(&point.codes, &values);
            point.values.iter().map(|&(_, count)| f64::from(count) / total).zip(guesses).collect()
        })
        .collect();
    let points = shares.iter().map(|shares| shares.len() as u64).sum();
    let kl = kl_divergence(shares.into_iter().flatten());
    Ok(Divergence { attributes, table, kl: if kl.abs() < ROUNDING { 0.0 } else { kl }, points })
}

fn attributes(release: &Release, subspace: &Subspace) -> Result<Vec<String>, EvaluateError> {
    let all: Vec<String> = release.manifest.with_role(RoleName::Quasi).map(|it| it.name.clone()).collect();
    if subspace.attributes.is_empty() {
        return Ok(all);
    }
    match subspace.attributes.iter().find(|name| !all.contains(name)) {
        Some(name) => Err(EvaluateError::NotQuasi { name: name.clone(), known: all }),
        None => Ok(all.into_iter().filter(|name| subspace.attributes.contains(name)).collect()),
    }
}

fn reconstruction<'a>(
    release: &'a Release,
    universe: &'a Universe<'a>,
    attributes: &[String],
    table: Option<&str>,
) -> Result<(String, Box<dyn Reconstruction + 'a>), EvaluateError> {
    let method = release.manifest.method.as_str();
    let own = table_of(release, attributes, table)?;
    let made: Box<dyn Reconstruction> = match method {
        "generalize" | "butterfly" | "angel" => Box::new(boxes::Boxes::new(release, &own, universe, attributes)?),
        "permute" => Box::new(permuted::Permuted::new(release, universe, attributes)?),
        _ => Box::new(exact::Exact::new(release, &own, universe, attributes)?),
    };
    Ok((own, made))
}

/// The table with a row per person from which attributes are rebuilt.
pub(crate) fn table_of(release: &Release, attributes: &[String], table: Option<&str>) -> Result<String, EvaluateError> {
    let method = release.manifest.method.as_str();
    let own = match method {
        "generalize" | "butterfly" => generalized::TABLE.to_owned(),
        "angel" => narrowest(release, attributes, table)?,
        "anatomy" => chrysalis_release::anatomy::QUASI_TABLE.to_owned(),
        "shuffle" => chrysalis_release::shuffled::TABLE.to_owned(),
        "permute" => chrysalis_release::permuted::QUASI_TABLE.to_owned(),
        _ => return Err(EvaluateError::Method { method: method.chars().take(40).collect() }),
    };
    match table {
        Some(table) if table != own => Err(EvaluateError::NoTable { table: table.to_owned() }),
        _ => Ok(own),
    }
}

/// The table named, or the one with the fewest attributes beyond those asked for.
fn narrowest(release: &Release, attributes: &[String], wanted: Option<&str>) -> Result<String, EvaluateError> {
    let tables = angelized::generalized_tables(&release.manifest);
    let fits = |shown: &[&chrysalis_release::Attribute]| {
        attributes.iter().all(|name| shown.iter().any(|attribute| attribute.name == *name))
    };
    let fitting = tables.iter().filter(|(entry, shown)| fits(shown) && wanted.is_none_or(|name| entry.name == name));
    let found = fitting.min_by_key(|(_, shown)| shown.len()).map(|(entry, _)| entry.name.clone());
    found.ok_or_else(|| EvaluateError::NoTable { table: wanted.unwrap_or(angelized::TABLE).to_owned() })
}
