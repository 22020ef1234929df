//! A table becomes a release, in memory: what `publish` writes down, `compare` and `experiment` look at.

use chrysalis_criteria::{All, Principle};
use chrysalis_publish::method::{
    Anatomy, Angel, Butterfly, Fallback, Generalize, Origin, Outcome, Permute, Publisher, RankSwap, Shuffle,
};
use chrysalis_publish::partitioner::FullDomain;
use chrysalis_publish::{Microdata, Partition, Recoding};
use chrysalis_table::Table;
use rand::CryptoRng;

use crate::failure::Failure;
use crate::plan::{Method, PartitionerChoice, Plan};
use crate::progress::{Phases, Unit};

/// A release and how it came about.
pub(crate) struct Made {
    pub(crate) outcome: Outcome,
    /// For full-domain and top-down: the levels, and how far the search went.
    pub(crate) recoding: Option<Recoding>,
}

/// Carries out a plan on a table that has at least one row and no missing value left to decide about.
pub(crate) fn make(plan: &Plan, table: Table, mut rng: impl CryptoRng, phases: &mut Phases) -> Result<Made, Failure> {
    let rows = table.rows() as u64;
    let data = Microdata::new(table, &plan.attributes)?;
    // Angel's k is one for buckets, but the whole table must satisfy it too.
    data.goal(&plan.require)?;
    let goal = data.goal(&plan.of_groups())?;
    let publisher = publisher(plan, &goal)?;
    publisher.check(&data)?;
    let partitioner = plan.partitioner.build();
    let butterfly = butterfly(plan);
    let found = match &butterfly {
        Some(butterfly) => Some(phases.run("partition", Some(rows * butterfly.passes()), Unit::Rows, |progress| {
            butterfly.find(&data, &goal, &mut rng, progress)
        })?),
        None => None,
    };
    let partition = match plan.method {
        // They form no groups here.
        Method::RankSwap | Method::Butterfly => Partition::new((0..rows as u32).collect(), &[rows as u32]),
        _ => {
            let (total, unit) = match plan.partitioner {
                PartitionerChoice::FullDomain { .. } => (FullDomain::n_nodes(&data)?, Unit::Nodes),
                _ => (u128::from(rows), Unit::Rows),
            };
            let total = u64::try_from(total).unwrap_or(u64::MAX);
            phases.run("partition", Some(total), unit, |progress| {
                partitioner.partition(&data, &goal, &mut rng, progress)
            })?
        }
    };
    let recoding = partition.recoding().cloned();
    if plan.partitioner == PartitionerChoice::Sequential {
        phases.note("groups of `sequential` follow the order of the input and give it away: for comparisons only");
    }
    if plan.method == Method::RankSwap {
        phases.note("rank-swap guarantees nothing: for comparisons only");
    }
    let origin = Origin { partitioner: partitioner.name(), guarantees: &plan.require };
    let outcome = phases.run("publish", None, Unit::Rows, |_| match butterfly.zip(found) {
        Some((butterfly, found)) => butterfly.show(&data, &found, origin, &mut rng),
        None => publisher.publish(&data, &partition, origin, &mut rng),
    })?;
    Ok(Made { outcome, recoding })
}

fn butterfly(plan: &Plan) -> Option<Butterfly> {
    let hierarchy = match plan.partitioner {
        PartitionerChoice::Butterflies(hierarchy) => hierarchy,
        _ => None,
    };
    plan.users.clone().map(|quasi_identifiers| Butterfly { quasi_identifiers, hierarchy })
}

fn publisher(plan: &Plan, goal: &All) -> Result<Box<dyn Publisher>, Failure> {
    if let Some(butterfly) = butterfly(plan) {
        return Ok(Box::new(butterfly));
    }
    Ok(match plan.method {
        Method::Generalize | Method::Butterfly => Box::new(Generalize),
        Method::Anatomy => Box::new(Anatomy),
        Method::Permute => Box::new(Permute),
        Method::Shuffle => Box::new(Shuffle),
        Method::Angel => Box::new(Angel {
            k: plan.angel.k,
            marginals: plan.angel.marginals.clone(),
            bucket_columns: plan.angel.bucket_columns.clone(),
            // Other partitioners are for comparison: the paper's is mondrian twice, and no more.
            for_reconstruction: plan.partitioner == PartitionerChoice::Nearby,
            fallback: fallback(plan),
        }),
        Method::RankSwap => Box::new(RankSwap {
            minimum: goal.minimum().ok_or_else(|| {
                let message = format!("rank-swap takes ke, k and distinct-l for how far values move, not {goal}");
                Failure::bad_input(message, "for example --require ke=4,100")
            })?,
        }),
    })
}

fn fallback(plan: &Plan) -> Fallback {
    let is_given = !plan.angel.bucket_columns.is_empty() || matches!(plan.partitioner, PartitionerChoice::Column(_));
    match plan.angel.is_k_asked {
        // Who brings batches or buckets wants these.
        _ if is_given => Fallback::Never,
        true => Fallback::KeepingK,
        false => Fallback::PrinciplesAlone,
    }
}
