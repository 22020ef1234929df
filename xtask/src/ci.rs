//! `cargo xtask ci`: the README's test command, and exactly what CI runs. Each step says its name
//! and how long it took; the first failure ends the run.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use crate::shell::{self, Failure};
use crate::{check_deps, python, referees, spark};

/// Features that `cargo install` leaves out and tests include.
const FEATURES: &str = "chrysalis-cli/databases";

/// Toys exist only for their test. Running it recompiles half the workspace, so without `--all` it is only type-checked.
const WITH_TOYS: &str =
    "chrysalis-cli/databases,chrysalis-door/toy-form,chrysalis-door/toy-principle,chrysalis-door/toy-function";

/// Example programs of the library.
const EXAMPLES: [&str; 3] = ["publish", "ask", "stop"];

/// How much to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// Long suites on a sample, as CI runs them.
    Sampled,
    /// Long suites in full.
    All,
}

impl Extent {
    pub(crate) fn parse(arguments: &[String]) -> Result<Self, Failure> {
        match arguments {
            [] => Ok(Extent::Sampled),
            [all] if all == "--all" => Ok(Extent::All),
            [other, ..] => Err(Failure::usage(format!("ci has no `{other}`"))),
        }
    }
}

pub(crate) fn run(extent: Extent) -> Result<(), Failure> {
    let start = Instant::now();
    let mut skipped = Vec::new();
    let builds = Builds::new();

    let python = step("referees", || Ok(referees::prepare()))?;
    if let Err(reason) = &python {
        skip(&mut skipped, format!("the referee tests will skip: {reason}"));
    }
    if let Err(reason) = referees::prepare_postgres() {
        skip(&mut skipped, format!("the tests with PostgreSQL will skip: {reason}"));
    }
    if let Err(reason) = referees::prepare_chromium() {
        skip(&mut skipped, format!("the tests that open reports and the studio in a browser will skip: {reason}"));
    }
    if let Err(reason) = referees::prepare_axe() {
        skip(&mut skipped, format!("the studio's page is not judged by axe-core: {reason}"));
    }
    if shell::has_cargo_command("fmt") {
        builds.step("format", &["fmt", "--all", "--check"])?;
    } else {
        skip(&mut skipped, "format is not checked: rustfmt is not installed");
    }
    if shell::has_cargo_command("clippy") {
        builds.step(
            "clippy",
            &["clippy", "--workspace", "--all-targets", "--features", FEATURES, "--", "-D", "warnings"],
        )?;
        // With the features of `cargo install`.
        builds.step("clippy without features", &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])?;
    } else {
        skip(&mut skipped, "lints are not checked: clippy is not installed");
    }
    step("check-deps", check_deps::run)?;

    let python = python.ok();
    let runner: &[&str] = if shell::has_cargo_command("nextest") {
        &["nextest", "run", "--workspace", "--features", FEATURES]
    } else {
        // Without the doc tests, which have their own step.
        &["test", "--workspace", "--features", FEATURES, "--lib", "--bins", "--tests"]
    };
    step("tests", || shell::run(&mut builds.testing(runner, python.as_deref(), extent)))?;
    match python::prepare() {
        Ok(_) => {
            step("python", || python::run(&builds.of_wheel(extent)))?;
        }
        Err(reason) => skip(&mut skipped, format!("the Python package is not built: {reason}")),
    }
    match python::prepare().and_then(|_| spark::prepare()) {
        Ok(_) => {
            step("spark", || spark::run(&builds.of_wheel(extent)))?;
        }
        Err(reason) => skip(&mut skipped, format!("the Python package is not tested on a cluster: {reason}")),
    }
    let toys = |verb| [verb, "--workspace", "--features", WITH_TOYS, "--test", "toys"];
    step("toys", || match extent {
        Extent::Sampled => shell::run(&mut builds.cargo(&toys("check"))),
        Extent::All => shell::run(&mut builds.testing(&toys("test"), python.as_deref(), extent)),
    })?;
    step("examples", || {
        shell::run(&mut builds.cargo(&["build", "--workspace", "--features", FEATURES, "--examples"]))?;
        let folder = shell::target_dir().join("debug/examples");
        EXAMPLES.iter().try_for_each(|name| shell::run(&mut Command::new(folder.join(name))))
    })?;
    let doc_tests = ["test", "--workspace", "--features", FEATURES, "--doc"];
    step("doc tests", || shell::run(&mut builds.testing(&doc_tests, python.as_deref(), extent)))?;
    step("docs", || {
        let mut command = builds.cargo(&["doc", "--workspace", "--features", FEATURES, "--no-deps"]);
        shell::run(command.env("RUSTDOCFLAGS", "-D warnings"))
    })?;

    println!("\nall steps passed in {:.1} s", start.elapsed().as_secs_f64());
    for sentence in skipped {
        println!("note: {sentence}");
    }
    Ok(())
}

/// How cargo is called.
struct Builds {
    /// Nothing was built before: then incremental compilation has nothing to reuse, and only takes time.
    is_cold: bool,
}

impl Builds {
    fn new() -> Self {
        Builds { is_cold: !shell::target_dir().join("debug").exists() }
    }

    fn cargo(&self, arguments: &[&str]) -> Command {
        let mut command = shell::cargo(arguments);
        if self.is_cold {
            command.env("CARGO_INCREMENTAL", "0");
        }
        command
    }

    fn step(&self, name: &str, arguments: &[&str]) -> Result<(), Failure> {
        step(name, || shell::run(&mut self.cargo(arguments)))
    }

    fn of_wheel(&self, extent: Extent) -> python::Options {
        python::Options { is_cold: self.is_cold, is_slow: extent == Extent::All, ..python::Options::default() }
    }

    /// Tests that use a referee find its Python in the environment, and skip if it is missing.
    fn testing(&self, arguments: &[&str], python: Option<&Path>, extent: Extent) -> Command {
        let mut command = self.cargo(arguments);
        if extent == Extent::All {
            command.env("CHRYSALIS_SLOW", "1");
        }
        if let Some(python) = python {
            command.env("CHRYSALIS_REFEREE_PYTHON", python);
        }
        command
    }
}

fn step<T>(name: &str, work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    println!("\n== {name}");
    let start = Instant::now();
    let done = work();
    let outcome = if done.is_ok() { "done" } else { "FAILED" };
    println!("== {name}: {outcome}, {:.1} s", start.elapsed().as_secs_f64());
    done
}

/// Prints the sentence now, and again at the end, where it cannot scroll away.
fn skip(skipped: &mut Vec<String>, sentence: impl Into<String>) {
    let sentence = sentence.into();
    println!("{sentence}");
    skipped.push(sentence);
}
