//! The outside referees: Python packages that judge our numbers and our speed, in a virtual environment under
//! `target/referee`. Python is not needed to build or use Chrysalis, so a missing referee is reported, but is not a
//! failure.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{fs, io};

use crate::shell::{self, Failure};

/// `cargo xtask referees`.
pub(crate) fn run() -> Result<(), Failure> {
    let python = prepare().map_err(Failure::new)?;
    println!("referees: {}", python.display());
    match prepare_postgres() {
        Ok(folder) => println!("referees: PostgreSQL in {}", folder.display()),
        Err(reason) => println!("referees: no PostgreSQL: {reason}"),
    }
    match prepare_chromium() {
        Ok(program) => println!("referees: Chromium is {}", program.display()),
        Err(reason) => println!("referees: no Chromium: {reason}"),
    }
    match prepare_axe() {
        Ok(file) => println!("referees: axe-core is {}", file.display()),
        Err(reason) => println!("referees: no axe-core: {reason}"),
    }
    Ok(())
}

/// Where PostgreSQL's programs are; installs Debian's package if possible.
pub(crate) fn prepare_postgres() -> Result<PathBuf, String> {
    if let Some(folder) = postgres_programs() {
        return Ok(folder);
    }
    install("PostgreSQL", "postgresql")?;
    postgres_programs().ok_or_else(|| "the package has no initdb".to_owned())
}

/// On the path, or where Debian puts them; the tests look in the same places.
fn postgres_programs() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = versions.map(|entry| entry.path().join("bin")).collect();
    folders.sort();
    let on_path = std::env::var_os("PATH").map(|path| std::env::split_paths(&path).collect::<Vec<_>>());
    let found = |folder: &PathBuf| folder.join("initdb").is_file() && folder.join("pg_ctl").is_file();
    folders.into_iter().rev().chain(on_path.into_iter().flatten()).find(found)
}

/// The browser in which tests open reports; installs Debian's package if possible.
pub(crate) fn prepare_chromium() -> Result<PathBuf, String> {
    if let Some(program) = chromium() {
        return Ok(program);
    }
    install("Chromium", "chromium")?;
    chromium().ok_or_else(|| "the package has no chromium".to_owned())
}

/// Where the environment variable says, or on the path under one of its names; the tests look in the same places.
fn chromium() -> Option<PathBuf> {
    if let Some(program) = std::env::var_os("CHRYSALIS_CHROMIUM") {
        return Some(program.into());
    }
    let folders: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH")?).collect();
    let names = ["chromium", "chromium-browser", "chrome-headless-shell", "google-chrome", "google-chrome-stable"];
    names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name))).find(|path| path.is_file())
}

/// The Java that Spark runs on; installs Debian's package if possible.
pub(crate) fn prepare_java() -> Result<(), String> {
    let is_there = || Command::new("java").arg("-version").output().is_ok_and(|output| output.status.success());
    if is_there() {
        return Ok(());
    }
    install("Java", "openjdk-17-jre-headless")?;
    if is_there() { Ok(()) } else { Err("the package has no java".to_owned()) }
}

/// The version of axe-core, which judges whether everybody can use the studio's page.
const AXE: &str = "axe-core@4.14.0";

/// axe-core as one script; fetched with npm if possible. The tests look in the same place.
pub(crate) fn prepare_axe() -> Result<PathBuf, String> {
    let folder = shell::target_dir().join("axe");
    let file = folder.join("node_modules/axe-core/axe.min.js");
    if file.is_file() {
        return Ok(file);
    }
    println!("referees: fetching {AXE} with npm");
    fs::create_dir_all(&folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    let mut npm = Command::new("npm");
    npm.args(["install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix"]).arg(&folder).arg(AXE);
    quietly(&mut npm)?;
    if file.is_file() { Ok(file) } else { Err("the package has no axe.min.js".to_owned()) }
}

fn install(name: &str, package: &str) -> Result<(), String> {
    println!("referees: installing {name} with apt-get");
    let apt = |arguments: &[&str]| {
        let mut command = Command::new("apt-get");
        quietly(command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive"))
    };
    let arguments = ["install", "--yes", "--no-install-recommends", package];
    // A fresh machine has no package list yet, or an old one.
    apt(&arguments).or_else(|_| apt(&["update"]).and_then(|()| apt(&arguments)))
}

/// A virtual environment that contains exactly what a file of requirements asks for.
pub(crate) struct Environment {
    /// Its folder under `target`.
    pub(crate) folder: &'static str,
    /// The file of requirements.
    pub(crate) requirements: &'static str,
    /// Packages whose import shows that it works.
    pub(crate) imports: &'static str,
}

/// The outside referees.
const REFEREES: Environment = Environment {
    folder: "referee",
    requirements: "referee/requirements.txt",
    imports: "duckdb, polars, pycanon, playwright, PIL",
};

/// The Python of the referees' environment, as an absolute path; or why there is none.
pub(crate) fn prepare() -> Result<PathBuf, String> {
    REFEREES.prepare()
}

impl Environment {
    /// Its Python, as an absolute path; or why there is none. A second call reuses the environment.
    pub(crate) fn prepare(&self) -> Result<PathBuf, String> {
        let requirements = self.requirements;
        let wanted =
            fs::read_to_string(requirements).map_err(|error| format!("cannot read {requirements}: {error}"))?;
        let environment = std::path::absolute(shell::target_dir().join(self.folder))
            .map_err(|error| format!("cannot place the virtual environment: {error}"))?;
        let python = python_of(&environment);
        let stamp = environment.join("stamp");
        if fs::read_to_string(&stamp).is_ok_and(|made| made == stamp_of(&wanted)) && self.works(&python) {
            return Ok(python);
        }

        println!("installing {requirements} with pip");
        match fs::remove_dir_all(&environment) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(format!("cannot remove the old environment: {error}"));
            }
            _ => {}
        }
        let mut make = Command::new("python3");
        quietly(make.args(["-m", "venv"]).arg(&environment))?;
        let mut install = Command::new(&python);
        install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
        quietly(install.args(["--requirement", requirements]))?;
        // Written last, so that an interrupted install is repeated.
        fs::write(&stamp, stamp_of(&wanted)).map_err(|error| format!("cannot write the stamp: {error}"))?;
        Ok(python)
    }

    /// Whether it works: a system upgrade may remove the Python it points to.
    fn works(&self, python: &Path) -> bool {
        Command::new(python)
            .args(["-c", &format!("import {}", self.imports)])
            .stdin(Stdio::null())
            .output()
            .is_ok_and(|output| output.status.success())
    }
}

pub(crate) fn python_of(environment: &Path) -> PathBuf {
    if cfg!(windows) { environment.join("Scripts").join("python.exe") } else { environment.join("bin").join("python") }
}

/// 64-bit FNV-1a: the standard library's hasher may change between Rust versions.
fn stamp_of(requirements: &str) -> String {
    let hash = requirements
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    format!("{hash:016x}\n")
}

/// Runs without output; on failure returns the last line the program printed.
pub(crate) fn quietly(command: &mut Command) -> Result<(), String> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("cannot start {}: {error}", shell::shown(command)))?;
    if output.status.success() {
        return Ok(());
    }
    // pip complains on one stream, venv on the other.
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    let last = said.lines().rev().find(|line| !line.trim().is_empty());
    let last = last.unwrap_or("it said nothing").trim();
    Err(format!("{} failed: {last}", shell::shown(command)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stamp_is_fnv_1a_and_tells_versions_apart() {
        assert_eq!(stamp_of(""), "cbf29ce484222325\n");
        assert_eq!(stamp_of("a"), "af63dc4c8601ec8c\n");
        assert_ne!(stamp_of("polars==2.1.0\n"), stamp_of("polars==2.1.1\n"));
    }
}
