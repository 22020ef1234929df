//! Helpers for tests of measures: tables with roles, and releases of them.

#![allow(dead_code, reason = "every test file uses a part of this")]
#![allow(clippy::unwrap_used, reason = "tests")]

use chrysalis_publish::method::{Angel, Fallback, Method};
use chrysalis_publish::partitioner::ByColumn;
use chrysalis_publish::{AttributeSpec, Job, Microdata, Partition, Partitioner};
use chrysalis_release::Release;
use chrysalis_table::{Role, Table, Unwatched, no_progress};
use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;

pub(crate) fn microdata(table: &Table, quasi: &[&str], sensitive: &str) -> Microdata {
    let mut attributes: Vec<AttributeSpec> =
        quasi.iter().map(|name| AttributeSpec::new(*name, Role::QuasiIdentifier)).collect();
    attributes.push(AttributeSpec::new(sensitive, Role::Sensitive));
    Microdata::new(table.clone(), &attributes).unwrap()
}

pub(crate) fn rng(seed: u64) -> ChaCha20Rng {
    ChaCha20Rng::seed_from_u64(seed)
}

/// A release with promises, which must hold in these groups.
pub(crate) fn publish_as(method: &dyn Method, data: &Microdata, partition: &Partition, require: &[&str]) -> Release {
    let require: Vec<_> = require.iter().map(|text| text.parse().unwrap()).collect();
    Job::new(data, &require, partition, &mut rng(3), &Unwatched).run(method).unwrap().release
}

/// A release that promises nothing.
pub(crate) fn publish(method: &dyn Method, data: &Microdata, partition: &Partition) -> Release {
    publish_as(method, data, partition, &[])
}

pub(crate) fn by_column(data: &Microdata, column: &str) -> Partition {
    let goal = data.goal(&[]).unwrap();
    let groups = ByColumn { column: column.into() };
    groups.partition(data, &goal, &mut rng(1), &no_progress).unwrap()
}

pub(crate) fn angel(bucket_columns: &[&str], marginals: &[&[&str]]) -> Angel {
    let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    let marginals = marginals.iter().map(|names| owned(names)).collect();
    Angel {
        k: 1,
        marginals,
        bucket_columns: owned(bucket_columns),
        for_reconstruction: false,
        fallback: Fallback::Never,
    }
}
