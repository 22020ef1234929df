//! The kinds of lie. Each is a small function whose comment says why the resulting release is certain to be a lie; it
//! gives up if the release at hand is not suitable.

mod boxes;
mod csv;
mod disclosed;
mod files;
mod idle;
mod manifest;
mod order;
mod parquet;
mod promises;
mod rows;
mod tables;

use rand::rngs::ChaCha20Rng;

use crate::release::{Auditor, Fake};

/// What remains to be done after a lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Finish {
    /// Update everything that follows from the tables.
    Mend,
    /// Leave it as it is: what follows from the tables is the lie itself.
    AsItIs,
}

pub(crate) type Forge = fn(&mut Fake<'_>, &mut ChaCha20Rng) -> Option<Finish>;

/// One kind of lie.
#[derive(Clone, Copy)]
pub(crate) struct Lie {
    pub(crate) name: &'static str,
    pub(crate) auditor: Auditor,
    pub(crate) forge: Forge,
}

/// A lie that the release alone reveals.
const fn alone(name: &'static str, forge: Forge) -> Lie {
    Lie { name, auditor: Auditor::Tables, forge }
}

/// A lie that only the microdata reveal.
const fn held(name: &'static str, forge: Forge) -> Lie {
    Lie { name, auditor: Auditor::Microdata, forge }
}

/// All kinds of lie.
pub(crate) fn all() -> Vec<Lie> {
    [
        promises::LIES,
        rows::LIES,
        disclosed::LIES,
        boxes::LIES,
        tables::LIES,
        order::LIES,
        manifest::LIES,
        idle::LIES,
        files::LIES,
        csv::LIES,
        parquet::LIES,
    ]
    .concat()
}
