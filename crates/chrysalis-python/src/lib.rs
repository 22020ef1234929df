//! The Python package of Chrysalis, the part in Rust: parse, call, and hand over what Python renders. It contains no
//! algorithms.
//!
//! `keywords.rs` turns the keywords of a call into a `Draft` (`examples.rs`: what they look like); `stream.rs` takes tables from other programs and gives them
//! back, without a copy through text; `held.rs` holds releases; `work.rs` lets go of Python's lock while work is done, shows how far it is, and
//! stops it when somebody presses Ctrl-C. The classes that people see are written in Python, under `python/chrysalis`.

mod answer;
mod cluster;
mod compare;
mod errors;
mod examples;
mod held;
mod keywords;
mod knobs;
mod look;
mod publish;
mod release;
mod stream;
mod table;
mod work;

use std::ffi::OsString;
use std::process::ExitCode;

use pyo3::prelude::*;

/// The native half of the package `chrysalis`.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::command;
    #[pymodule_export]
    use crate::answer::Answer;
    #[pymodule_export]
    use crate::cluster::{
        ClusterJob, audit_sql, cluster_count, cluster_merge_again, cluster_merge_counts, cluster_merge_surveys,
        cluster_publish, cluster_route, cluster_survey, cluster_survey_again, cluster_write, manifest, rewrite,
    };
    #[pymodule_export]
    use crate::compare::{Comparison, compare};
    #[pymodule_export]
    use crate::look::{check_taxonomy, example, profile, propose_taxonomy, risk, series};
    #[pymodule_export]
    use crate::publish::publish;
    #[pymodule_export]
    use crate::release::{Release, open};
    #[pymodule_export]
    use crate::table::Table;
}

/// Runs the `chrysalis` command with these arguments, its own name first, and returns the exit code.
#[pyfunction]
fn command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    let code = py.detach(|| chrysalis_cli::main(arguments));
    // An exit code does not tell its number, but can be compared.
    (0..=u8::MAX).find(|number| ExitCode::from(*number) == code).unwrap_or(1)
}
