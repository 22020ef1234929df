//! What the tests of measures share: tables with roles, and releases of them.

#![allow(dead_code, reason = "every test file uses a part of this")]
#![allow(clippy::unwrap_used, reason = "tests")]

use chrysalis_publish::method::{Angel, Fallback, Origin, Publisher};
use chrysalis_publish::partitioner::ByColumn;
use chrysalis_publish::{AttributeSpec, Microdata, Partition, Partitioner};
use chrysalis_release::Release;
use chrysalis_table::{Role, Table, no_progress};
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

pub(crate) fn publish_as(
    publisher: &dyn Publisher,
    data: &Microdata,
    partition: &Partition,
    guarantees: &[&str],
) -> Release {
    let guarantees: Vec<_> = guarantees.iter().map(|text| text.parse().unwrap()).collect();
    let origin = Origin { partitioner: "column", guarantees: &guarantees };
    publisher.publish(data, partition, origin, &mut rng(3)).unwrap().release
}

pub(crate) fn publish(publisher: &dyn Publisher, data: &Microdata, partition: &Partition) -> Release {
    publish_as(publisher, data, partition, &["k=2"])
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
