//! `cargo xtask spark`: tests the Python package on a Spark cluster of this machine's own. PySpark is large, so it has an
//! environment for itself, and everyday work does not wait for it.

use std::path::{Path, PathBuf};

use crate::bench::data;
use crate::python;
use crate::referees::{Environment, prepare_java};
use crate::shell::{self, Failure};

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

/// `cargo xtask bench-spark`: what a cluster takes beside one machine. `--data` names the folder of the maker of rows; all
/// other arguments are the script's.
pub(crate) fn bench(arguments: &[String], called_from: &Path) -> Result<(), Failure> {
    let mut rest = arguments.to_vec();
    let mut folder = None;
    if let Some(at) = rest.iter().position(|argument| argument == "--data") {
        let value = rest.get(at + 1).ok_or_else(|| Failure::usage("--data wants a folder"))?;
        folder = Some(called_from.join(value));
        rest.drain(at..at + 2);
    }
    let maker = data::folder(folder.as_deref()).join(data::MAKER);
    if !maker.is_file() {
        println!("skipped: there is no {}; --data names the folder that holds it", maker.display());
        return Ok(());
    }
    let place = shell::target_dir().join("bench-spark");
    let mut said = vec![place.display().to_string(), maker.display().to_string()];
    said.append(&mut rest);
    python::bench_on_cluster("release", &prepare().map_err(Failure::new)?, &said)
}
