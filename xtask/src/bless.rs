//! `cargo xtask bless`: rewrites the expected transcripts. Read the diff before committing it.

use crate::shell::{self, Failure};

pub(crate) fn run() -> Result<(), Failure> {
    let mut command = shell::cargo(&["test", "-p", "chrysalis-cli", "--test", "transcripts"]);
    shell::run(command.env("CHRYSALIS_BLESS", "1"))
}
