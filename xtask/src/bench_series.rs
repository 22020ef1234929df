//! `cargo xtask bench-series`: twenty releases of 200,000 people who come and go.
//!
//! The measurement is a test of `chrysalis-publish`, because it needs the signatures that only a publisher sees; the chore
//! runs it in an optimized build, and the test prints the table for docs/results/series.md. It fails where a limit is not
//! met. A series and a plain anatomy run of the same rows alternate in one process.

use std::path::{Path, PathBuf};

use crate::shell::{self, Failure};

/// The table that the people come from.
const CENSUS: &str = "census_sal_500k.csv.gz";

pub(crate) struct Options {
    data: PathBuf,
}

impl Options {
    /// The folder with the table: `--data DIR`, or the environment variable `CHRYSALIS_DATA`.
    pub(crate) fn parse(arguments: &[String], called_from: &Path) -> Result<Self, Failure> {
        let data = match arguments {
            [] => std::env::var_os("CHRYSALIS_DATA")
                .map(PathBuf::from)
                .ok_or_else(|| Failure::usage("--data DIR is missing"))?,
            [flag, folder] if flag == "--data" => called_from.join(folder),
            _ => return Err(Failure::usage("bench-series takes --data DIR")),
        };
        match data.join(CENSUS).is_file() {
            true => Ok(Self { data }),
            false => Err(Failure::new(format!("there is no {CENSUS} in {}", data.display()))),
        }
    }
}

pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let mut command = shell::cargo(&["test", "--release", "-p", "chrysalis-publish", "--test", "publishing"]);
    command.args([
        "--",
        "--exact",
        "--nocapture",
        "series_census::census_takes_few_counterfeits_and_plain_releases_expose_people",
    ]);
    command.env("CHRYSALIS_SLOW", "1").env("CHRYSALIS_DATA", &options.data);
    shell::run(&mut command)
}
