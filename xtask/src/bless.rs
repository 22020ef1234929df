//! `cargo xtask bless`: rewrites the expected transcripts, the recorded comparison, `docs/reference` and `schema/`. Read the
//! diff before committing it.

use crate::shell::{self, Failure};

pub(crate) fn run() -> Result<(), Failure> {
    let tests = ["transcripts", "compare", "reference"].map(|name| ["--test", name]);
    let mut command = shell::cargo(&["test", "-p", "chrysalis-cli", "--features", "databases"]);
    command.args(tests.as_flattened());
    shell::run(command.env("CHRYSALIS_BLESS", "1"))?;
    let mut schemas =
        shell::cargo(&["test", "-p", "chrysalis", "-p", "chrysalis-release", "--test", "draft", "--test", "manifest"]);
    shell::run(schemas.env("CHRYSALIS_BLESS", "1"))
}
