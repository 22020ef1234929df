//! `cargo xtask studio-pictures`: photographs every step of the studio, light and dark, wide and narrow, from the running
//! program. Look at them before committing.

use std::env::consts::EXE_SUFFIX;
use std::process::Command;

use crate::referees;
use crate::shell::{self, Failure};

/// Where `docs/guides/studio.md` looks for them.
const OUT: &str = "docs/guides/studio";

/// `cargo xtask studio-pictures`.
pub(crate) fn run() -> Result<(), Failure> {
    let python = referees::prepare().map_err(Failure::new)?;
    let chromium = referees::prepare_chromium().map_err(Failure::new)?;
    shell::run(&mut shell::cargo(&["build", "-p", "chrysalis-cli", "-p", "chrysalis-studio"]))?;
    let programs = shell::target_dir().join("debug");
    let folder = shell::target_dir().join("studio-pictures");
    shell::empty_dir(&folder)?;
    let hospital = folder.join("hospital");
    let mut example = Command::new(programs.join(format!("chrysalis{EXE_SUFFIX}")));
    shell::run(example.args(["example", "--rows", "5000", "--out"]).arg(&hospital))?;
    let absolute = |path: std::path::PathBuf| {
        std::path::absolute(&path).map_err(|error| Failure::new(format!("cannot find {}: {error}", path.display())))
    };
    let mut pictures = Command::new(python);
    pictures
        .args(["referee/studio.py", "pictures"])
        .arg(absolute(programs.join(format!("chrysalis-studio{EXE_SUFFIX}")))?);
    pictures.arg(absolute(hospital.join("patients.csv"))?).args(["--out", OUT]).env("CHRYSALIS_CHROMIUM", chromium);
    shell::run(&mut pictures)?;
    println!("studio-pictures: look at {OUT}");
    Ok(())
}
