//! `cargo xtask spark`: tests the Python package on a Spark cluster of this machine's own. PySpark is large, so it has an
//! environment for itself, and everyday work does not wait for it.

use std::path::PathBuf;

use crate::python;
use crate::referees::{Environment, prepare_java};
use crate::shell::Failure;

const PYSPARK: Environment = Environment {
    folder: "python/pyspark",
    requirements: "crates/chrysalis-python/requirements-spark.txt",
    imports: "pyspark",
};

/// The Python of the environment with PySpark, or why there can be no cluster.
pub(crate) fn prepare() -> Result<PathBuf, String> {
    prepare_java()?;
    PYSPARK.prepare()
}

/// `cargo xtask spark`.
pub(crate) fn run(options: &python::Options) -> Result<(), Failure> {
    python::run_on_cluster(options, &prepare().map_err(Failure::new)?)
}
