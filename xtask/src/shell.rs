//! Starting other programs, and what a chore says when one fails.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs, io};

/// Why a chore stopped, and the exit code it stops with.
#[derive(Debug)]
pub(crate) struct Failure {
    /// One sentence for people; empty if the failing program has already explained it.
    pub(crate) message: String,
    pub(crate) code: u8,
}

impl Failure {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), code: 1 }
    }

    /// The chore was called incorrectly.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self { message: message.into(), code: 2 }
    }
}

/// The cargo that runs us, with its usual output.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let program = env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = Command::new(program);
    command.args(arguments);
    command
}

/// Whether `cargo <subcommand>` is installed.
pub(crate) fn has_cargo_command(subcommand: &str) -> bool {
    cargo(&[subcommand, "--version"]).stdin(Stdio::null()).output().is_ok_and(|output| output.status.success())
}

/// Runs a command to its end with our own standard streams; its exit code becomes ours.
pub(crate) fn run(command: &mut Command) -> Result<(), Failure> {
    let status = command.status().map_err(|error| Failure::new(format!("cannot start {}: {error}", shown(command))))?;
    if status.success() {
        return Ok(());
    }
    // If it was ended by a signal, there is no code to pass on.
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Err(Failure { message: format!("{} failed ({status})", shown(command)), code: code.unwrap_or(1) })
}

/// The command as a person would type it.
pub(crate) fn shown(command: &Command) -> String {
    let program = PathBuf::from(command.get_program());
    let name = program.file_stem().unwrap_or(command.get_program());
    let words = std::iter::once(name).chain(command.get_args());
    let line: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
    format!("`{}`", line.join(" "))
}

/// The folder where cargo builds, relative to the repository's root.
pub(crate) fn target_dir() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from)
}

/// Builds `chrysalis` under a profile, with additional features, and returns its path.
pub(crate) fn build_chrysalis(profile: &str, features: &[&str]) -> Result<PathBuf, Failure> {
    run(&mut cargo(&["build", "--profile", profile, "-p", "chrysalis-cli", "--features", &features.join(",")]))?;
    let name = format!("chrysalis{}", env::consts::EXE_SUFFIX);
    let binary = target_dir().join(profile).join(name);
    // Systems differ in how they look up a relative program name that contains a folder.
    std::path::absolute(&binary).map_err(|error| Failure::new(format!("cannot find {}: {error}", binary.display())))
}

/// Makes a folder empty, creating it if needed.
pub(crate) fn empty_dir(folder: &Path) -> Result<(), Failure> {
    let made = match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => fs::create_dir_all(folder),
    };
    made.map_err(|error| Failure::new(format!("cannot empty {}: {error}", folder.display())))
}

/// The value after an option such as `--rows`: an integer of at least one.
pub(crate) fn count(option: &str, value: Option<&String>) -> Result<usize, Failure> {
    value
        .and_then(|text| text.parse().ok())
        .filter(|&number| number > 0)
        .ok_or_else(|| Failure::usage(format!("{option} wants a whole number of at least 1")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_is_a_positive_whole_number() {
        let parsed = |text: &str| count("--rows", Some(&text.to_owned())).ok();
        assert_eq!(parsed("20000"), Some(20_000));
        assert_eq!(parsed("0"), None);
        assert_eq!(parsed("-1"), None);
        assert_eq!(parsed("many"), None);
        assert!(count("--rows", None).is_err_and(|failure| failure.code == 2));
    }

    #[test]
    fn a_command_is_shown_without_its_folder() {
        let mut command = Command::new("some/where/chrysalis");
        command.args(["audit", "release"]);
        assert_eq!(shown(&command), "`chrysalis audit release`");
    }
}
