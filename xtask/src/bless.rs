//! `cargo xtask bless`: rewrites the expected transcripts, the recorded comparison and `docs/reference`. Read the diff before committing it.

use crate::shell::{self, Failure};

pub(crate) fn run() -> Result<(), Failure> {
    let tests = ["transcripts", "compare", "reference"].map(|name| ["--test", name]);
    let mut command = shell::cargo(&["test", "-p", "chrysalis-cli", "--features", "databases"]);
    command.args(tests.as_flattened());
    shell::run(command.env("CHRYSALIS_BLESS", "1"))
}
