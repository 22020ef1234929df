//! What the tests of partitioners and methods share.

#![allow(dead_code, reason = "each test file uses its part")]

use chrysalis_testkit::required;
use std::collections::BTreeSet;

use chrysalis_criteria::{Principle, PrincipleSpec};
use chrysalis_publish::{AttributeSpec, Microdata, Partition, Partitioner, PublishError, TaxonomySource};
use chrysalis_table::{Role, Table, no_progress};
use chrysalis_testkit::strategies::RandomTable;
use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;

pub(crate) fn rng(seed: u64) -> ChaCha20Rng {
    ChaCha20Rng::seed_from_u64(seed)
}

pub(crate) fn specs(texts: &[&str]) -> Vec<PrincipleSpec> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

pub(crate) fn quasi(name: &str, taxonomy: Option<TaxonomySource>) -> AttributeSpec {
    AttributeSpec { taxonomy, ..AttributeSpec::new(name, Role::QuasiIdentifier) }
}

/// The attributes of a random table, as an owner would state them.
pub(crate) fn attributes(data: &RandomTable) -> Vec<AttributeSpec> {
    let source = |file: &Option<_>| file.clone().map(TaxonomySource::File);
    let mut attributes: Vec<AttributeSpec> = data.quasi.iter().map(|(name, file)| quasi(name, source(file))).collect();
    attributes.push(AttributeSpec {
        taxonomy: source(&data.sensitive.taxonomy),
        categories: data.sensitive.categories.clone(),
        ..AttributeSpec::new("s", Role::Sensitive)
    });
    attributes
}

pub(crate) fn microdata(data: &RandomTable) -> Microdata {
    Microdata::new(data.table.clone(), &attributes(data)).unwrap()
}

/// Plain quasi columns and perhaps a sensitive one.
pub(crate) fn plain(table: Table, names: &[&str], sensitive: Option<&str>) -> Microdata {
    let mut attributes: Vec<AttributeSpec> = names.iter().map(|name| quasi(name, None)).collect();
    attributes.extend(sensitive.map(|name| AttributeSpec::new(name, Role::Sensitive)));
    Microdata::new(table, &attributes).unwrap()
}

/// Binds the principles and forms the groups.
pub(crate) fn partition(
    partitioner: &dyn Partitioner,
    data: &Microdata,
    specs: &[PrincipleSpec],
    seed: u64,
) -> Result<Partition, PublishError> {
    let goal = data.goal(&required(specs))?;
    partition_for(partitioner, data, &goal, seed)
}

pub(crate) fn partition_for(
    partitioner: &dyn Partitioner,
    data: &Microdata,
    goal: &dyn Principle,
    seed: u64,
) -> Result<Partition, PublishError> {
    partitioner.partition(data, goal, &mut rng(seed), &no_progress)
}

/// The groups as sets, so that neither their order nor that of their rows matters.
pub(crate) fn as_sets(partition: &Partition) -> BTreeSet<BTreeSet<u32>> {
    partition.groups().map(|group| group.iter().copied().collect()).collect()
}

/// Runs in a pool of that many threads.
pub(crate) fn in_threads<T: Send>(n: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap().install(work)
}
