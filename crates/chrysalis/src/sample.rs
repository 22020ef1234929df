use chrysalis_release::{EstimateMode, Form, Release, RoleName};
use chrysalis_sample::{ColumnDrawn, Draw, Sampler};
use chrysalis_table::{Counted, Stopped, Table, Watch};
use serde::{Serialize, Serializer};
use serde_json::json;

use crate::words::count;
use crate::{Error, Seed};

/// The most worlds that are drawn at once.
pub const MOST_WORLDS: usize = 1000;

/// What to draw.
#[derive(Clone, Copy, Debug)]
pub struct Sampling {
    /// How many tables.
    pub worlds: usize,
    /// From which distribution.
    pub estimate: EstimateMode,
}

impl Default for Sampling {
    fn default() -> Self {
        Sampling { worlds: 1, estimate: EstimateMode::Learned }
    }
}

/// Tables in the original columns, each of which could have been published like this.
#[derive(Clone, Debug)]
pub struct Sampled {
    /// The tables.
    pub worlds: Vec<Table>,
    /// What they are.
    pub report: SampleReport,
}

/// What was drawn.
#[derive(Clone, Debug)]
pub struct SampleReport {
    /// How groups are shown in the release.
    pub method: Form,
    /// Rows of each table.
    pub rows: u64,
    /// Groups of these rows.
    pub groups: u64,
    /// How many tables.
    pub worlds: usize,
    /// From which distribution.
    pub estimate: EstimateMode,
    /// Whether the same tables can be drawn again.
    pub is_seeded: bool,
    /// The columns, and which of them are exact.
    pub columns: Vec<ColumnDrawn>,
}

/// Draws tables from the worlds that a release allows. Of several, each is drawn from a distribution that is learned from
/// groups drawn with replacement, so that they differ as much as the release leaves open.
pub fn sample(release: &Release, sampling: &Sampling, seed: Seed, watch: &dyn Watch) -> Result<Sampled, Error> {
    if sampling.worlds == 0 || sampling.worlds > MOST_WORLDS {
        let message = format!("{} worlds cannot be drawn", count(sampling.worlds as u64));
        return Err(Error::request(message, format!("ask for 1 to {}", count(MOST_WORLDS as u64))));
    }
    Stopped::catch(|| {
        let sampler = Sampler::open(release)?;
        let draw = Draw { estimate: sampling.estimate, bootstrap: sampling.worlds > 1 };
        watch.phase("draw", Some(sampler.steps(draw) * sampling.worlds as u64), Counted::Rows);
        let mut rng = seed.generator()?;
        let worlds = (0..sampling.worlds)
            .map(|_| sampler.world(draw, &mut rng, &|n| watch.tell(n)))
            .collect::<Result<Vec<_>, _>>()?;
        let report = SampleReport {
            method: release.manifest.method,
            rows: sampler.rows() as u64,
            groups: release.manifest.groups,
            worlds: sampling.worlds,
            estimate: sampling.estimate,
            is_seeded: seed.is_fixed(),
            columns: sampler.columns(),
        };
        Ok(Sampled { worlds, report })
    })?
}

impl Serialize for SampleReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let column = |it: &ColumnDrawn| {
            let role: RoleName = it.role;
            json!({"name": it.name, "role": role, "values": it.origin.name(), "how": it.origin.in_words()})
        };
        json!({
            "method": self.method,
            "rows": self.rows,
            "groups": self.groups,
            "worlds": self.worlds,
            "estimate": self.estimate.name(),
            "seeded": self.is_seeded,
            "columns": self.columns.iter().map(column).collect::<Vec<_>>(),
        })
        .serialize(serializer)
    }
}
