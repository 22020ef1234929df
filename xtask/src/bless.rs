//! `cargo xtask bless`: rewrites the expected transcripts and the recorded comparison. Read the diff before committing it.

use crate::shell::{self, Failure};

pub(crate) fn run() -> Result<(), Failure> {
    let mut command = shell::cargo(&["test", "-p", "chrysalis-cli", "--test", "transcripts", "--test", "compare"]);
    shell::run(command.env("CHRYSALIS_BLESS", "1"))
}
