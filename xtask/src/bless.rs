//! `cargo xtask bless`: rewrites the expected transcripts, the recorded comparison, `docs/reference` and `schema/`. Read the
//! diff before committing it.

use crate::shell::{self, Failure};

pub(crate) fn run() -> Result<(), Failure> {
    let tests = ["transcripts", "compare", "reference", "draft", "manifest"].map(|name| ["--test", name]);
    // The whole workspace, so that it shares the build of `cargo xtask ci`.
    let mut command = shell::cargo(&["test", "--workspace", "--features", "chrysalis-cli/databases"]);
    command.args(tests.as_flattened());
    shell::run(command.env("CHRYSALIS_BLESS", "1"))
}
