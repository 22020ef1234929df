//! What a release is worth: how far an analyst who has only the release is from the microdata.
//!
//! The owner has both and can compare them. Every measure works from the published tables, never from the partition the
//! publisher kept in memory, so any release can be judged, whoever made it.
//!
//! - KL-divergence: between the distribution of the microdata and the one an analyst would rebuild from the release
//!   (angel, equation 7), over all quasi attributes or some of them. Sums run only over the points where there are
//!   people, so the cost is that of sorting the rows, not the size of the universe.
//! - NCP, DM and CAVG: the loss due to generalization itself.
//! - [`distances`]: how far the shares of each attribute's values, and of each pair's, are from the truth.
//! - [`reconstruction_error`]: pa's RCE, and the least it can be.
//! - [`rows`]: how far rows that are drawn from a release are from the microdata, and what can be learned from them.
//! - [`workload`]: the papers' random questions, asked through the engine that analysts use; errors, widths of bounds, and
//!   whether the bounds hold.
//!
//! # Example
//!
//! Rows that are shown as they are, in one group: the analyst knows the shares of both columns, but not which values
//! belong together.
//!
//! ```
//! use chrysalis_evaluate::{Subspace, evaluate};
//! # use chrysalis_publish::{AttributeSpec, Job, Microdata, Partition, method::Anatomy};
//! # use chrysalis_table::{Column, Role, Table, Unwatched};
//! # use rand::SeedableRng;
//! let table = Table::new(vec![
//!     Column::texts("sex", ["F", "M"].into_iter()),
//!     Column::texts("disease", ["flu", "cold"].into_iter()),
//! ]);
//! # let roles = [AttributeSpec::new("sex", Role::QuasiIdentifier), AttributeSpec::new("disease", Role::Sensitive)];
//! # let data = Microdata::new(table.clone(), &roles).unwrap();
//! # let together = Partition::new(vec![0, 1], &[2]);
//! # let mut rng = rand::rngs::ChaCha20Rng::seed_from_u64(1);
//! # let release = Job::new(&data, &[], &together, &mut rng, &Unwatched).run(&Anatomy).unwrap().release;
//! let found = evaluate(&release, &table, &[Subspace::whole()], &Unwatched)?;
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
mod opened;
mod permuted;
mod rce;
pub mod rows;
mod tree;
mod universe;
pub mod workload;

pub use chrysalis_criteria::loss::Rce as ReconstructionError;
use chrysalis_criteria::loss::{Ncp, kl_divergence};
use chrysalis_release::{Detail, Release, RoleName, TableLayout, View};
use chrysalis_table::{Table, Watch};
use rayon::prelude::*;

pub use distance::{Distance, Distances, distances};
pub use error::EvaluateError;
pub use rce::reconstruction_error;
use universe::Universe;

/// Quasi attributes over which distributions are compared, together with the sensitive one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subspace {
    /// The attributes; empty means all quasi attributes.
    pub attributes: Vec<String>,
    /// The table of people to use, if there are several. If absent, the one with the fewest attributes beyond these.
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
    /// Groups, or, where the rows of a group may look different, buckets of the table with all attributes.
    pub groups: u64,
    /// One per subspace, in order.
    pub divergences: Vec<Divergence>,
    /// The penalty over all rows and attributes.
    pub ncp: Ncp,
    /// The penalty of every quasi attribute, summed over rows.
    pub ncp_by_attribute: Vec<(String, f64)>,
    /// Σ n² over groups.
    pub discernibility: u128,
    /// (rows / groups) / k, if a k is promised.
    pub average_group_size: Option<f64>,
}

/// The divergence between two distributions.
#[derive(Clone, Debug)]
pub struct Divergence {
    /// The quasi attributes compared.
    pub attributes: Vec<String>,
    /// The table from which the distribution was rebuilt.
    pub table: String,
    /// KL-divergence in nats; infinite if the release excludes somebody who is in the microdata.
    pub kl: f64,
    /// How many points of the universe have at least one person.
    pub points: u64,
}

/// The distribution that an analyst would rebuild, at points of the universe.
pub(crate) trait Reconstruction: Sync {
    /// D*(Q,x) for each value x that occurs with a point Q, as codes of the microdata. `values` is ascending.
    fn shares(&self, point: &[u32], values: &[u32]) -> Vec<f64>;
}

/// Distributions this close are equal up to rounding, which may even make the sum negative.
const ROUNDING: f64 = 1e-12;

/// Compares a release with the microdata it was made from.
///
/// The microdata must have the published attributes, read with the manifest's kinds.
///
/// # Cost
/// O(n log n) in the rows, times the number of boxes that cover a point: one if recoding is strict, more in a subspace.
pub fn evaluate(
    release: &Release,
    microdata: &Table,
    subspaces: &[Subspace],
    watch: &dyn Watch,
) -> Result<Evaluation, EvaluateError> {
    let microdata = universe::relevant(&release.manifest, microdata)?;
    let view = opened::open(release)?;
    let divergence = |subspace| divergence(&view, &microdata, subspace, watch);
    let divergences = subspaces.iter().map(divergence).collect::<Result<_, _>>()?;
    watch.pause();
    loss::measure(&view, &microdata, divergences)
}

fn divergence(
    view: &View,
    microdata: &Table,
    subspace: &Subspace,
    watch: &dyn Watch,
) -> Result<Divergence, EvaluateError> {
    watch.pause();
    let fields = fields(view, subspace)?;
    let universe = Universe::new(view, microdata, &fields)?;
    let table = table_of(view, &fields, subspace.table.as_deref())?;
    let reconstruction = reconstruction(view, &table.name, &universe)?;
    let total = universe.rows() as f64;
    let shares: Vec<Vec<(f64, f64)>> = universe
        .points()
        .par_iter()
        .map(|point| {
            watch.pause();
            let values: Vec<u32> = point.values.iter().map(|&(value, _)| value).collect();
            let guesses = reconstruction.shares(&point.codes, &values);
            point.values.iter().map(|&(_, count)| f64::from(count) / total).zip(guesses).collect()
        })
        .collect();
    let points = shares.iter().map(|shares| shares.len() as u64).sum();
    let kl = kl_divergence(shares.into_iter().flatten());
    Ok(Divergence {
        attributes: opened::names(view, &fields),
        table: table.name.clone(),
        kl: if kl.abs() < ROUNDING { 0.0 } else { kl },
        points,
    })
}

/// The quasi attributes of a subspace, in the manifest's order.
fn fields(view: &View, subspace: &Subspace) -> Result<Vec<usize>, EvaluateError> {
    let all: Vec<usize> = opened::with_role(view, RoleName::Quasi).collect();
    if subspace.attributes.is_empty() {
        return Ok(all);
    }
    let known = opened::names(view, &all);
    match subspace.attributes.iter().find(|name| !known.contains(name)) {
        Some(name) => Err(EvaluateError::NotQuasi { name: name.clone(), known }),
        None => Ok(all.into_iter().filter(|&at| subspace.attributes.contains(&view.fields[at].name)).collect()),
    }
}

fn reconstruction(view: &View, table: &str, universe: &Universe<'_>) -> Result<Box<dyn Reconstruction>, EvaluateError> {
    Ok(match view.layout.shape.detail {
        Detail::Exact => Box::new(exact::Exact::new(view, universe)?),
        Detail::Permuted => Box::new(permuted::PermutedGroups::new(view, universe)?),
        Detail::GroupBoxes | Detail::RowBoxes => Box::new(boxes::Boxes::new(view, table, universe)?),
    })
}

/// The table of people from which attributes are rebuilt: the one named, or the narrowest that shows them.
pub(crate) fn table_of<'a>(
    view: &'a View,
    fields: &[usize],
    wanted: Option<&str>,
) -> Result<&'a TableLayout, EvaluateError> {
    let shows_all = |table: &&TableLayout| fields.iter().all(|field| table.shows.contains(field));
    let found = match wanted {
        None => view.layout.narrowest(fields),
        Some(name) => view.layout.people().filter(shows_all).find(|table| table.name == name),
    };
    let table = wanted.unwrap_or(view.layout.shape.people);
    found.ok_or_else(|| EvaluateError::NoTable { table: table.to_owned() })
}
