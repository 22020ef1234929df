//! `cargo xtask python`: builds the wheel, installs it into a fresh virtual environment, and tests it there: tests,
//! examples of the manual, types, and the notebook.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use crate::referees::{self, Environment, python_of, quietly};
use crate::shell::{self, Failure};

const PACKAGE: &str = "crates/chrysalis-python";
/// Tests that start a cluster where there can be one.
const SPARK_TESTS: &str = "tests/test_spark.py";

/// What builds and tests the wheel.
const TOOLS: Environment = Environment {
    folder: "python/tools",
    requirements: "crates/chrysalis-python/requirements.txt",
    imports: "maturin, pytest, pandas, polars, pyarrow, duckdb, mypy, nbclient",
};

pub(crate) struct Options {
    /// The profile to build with; `dev` unless told otherwise.
    pub(crate) profile: String,
    /// Only build the wheel.
    pub(crate) is_build: bool,
    /// Compile as a run of CI does that found nothing built: otherwise what its tests compiled is compiled again.
    pub(crate) is_cold: bool,
    /// Run long suites in full.
    pub(crate) is_slow: bool,
}

impl Options {
    pub(crate) fn parse(arguments: &[String]) -> Result<Self, Failure> {
        let mut options = Options::default();
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            match argument.as_str() {
                "--profile" => match rest.next() {
                    Some(profile) => options.profile.clone_from(profile),
                    None => return Err(Failure::usage("--profile wants a name")),
                },
                "--build" => options.is_build = true,
                other => return Err(Failure::usage(format!("python has no `{other}`"))),
            }
        }
        Ok(options)
    }
}

impl Default for Options {
    fn default() -> Self {
        Options { profile: "dev".to_owned(), is_build: false, is_cold: false, is_slow: false }
    }
}

/// `cargo xtask python`.
pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let tools = prepare().map_err(Failure::new)?;
    let wheel = build(&tools, options)?;
    println!("python: {}", wheel.display());
    if options.is_build { Ok(()) } else { test(&Installed::new(&tools, &wheel)?.for_tests(options)) }
}

/// `cargo xtask spark`: what needs a cluster. `libraries` is where PySpark is, which is too large for everyday tools.
pub(crate) fn run_on_cluster(options: &Options, spark: &Path) -> Result<(), Failure> {
    let tools = prepare().map_err(Failure::new)?;
    let wheel = build(&tools, options)?;
    let installed = Installed::new(&tools, &wheel)?.with_libraries_of(spark)?.for_tests(options);
    let config = format!("{PACKAGE}/pyproject.toml");
    installed.check(&[
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-c",
        &config,
        &format!("{PACKAGE}/{SPARK_TESTS}"),
    ])
}

/// The Python of the environment with the tools, or why there is none. The package is for Linux today.
pub(crate) fn prepare() -> Result<PathBuf, String> {
    if cfg!(target_os = "linux") { TOOLS.prepare() } else { Err("the package is built for Linux only".to_owned()) }
}

fn beside(python: &Path, program: &str) -> PathBuf {
    python.with_file_name(program)
}

/// Builds the wheel. With the profile and the features of tests, what they compiled is used again.
fn build(tools: &Path, options: &Options) -> Result<PathBuf, Failure> {
    let profile = options.profile.as_str();
    let out = shell::target_dir().join("python/wheel");
    shell::empty_dir(&out)?;
    let mut maturin = Command::new(beside(tools, "maturin"));
    maturin.args(["build", "--manifest-path", &format!("{PACKAGE}/Cargo.toml"), "--profile", profile]);
    if profile == "dev" {
        maturin.args(["--features", "as-in-tests"]);
    }
    if options.is_cold {
        maturin.env("CARGO_INCREMENTAL", "0");
    }
    shell::run(maturin.arg("--interpreter").arg(tools).arg("--out").arg(&out))?;
    let found = fs::read_dir(&out).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut wheels = found.filter(|path| path.extension().is_some_and(|extension| extension == "whl"));
    let wheel = wheels.next().ok_or_else(|| Failure::new("maturin made no wheel"))?;
    std::path::absolute(&wheel).map_err(|error| Failure::new(format!("cannot find {}: {error}", wheel.display())))
}

/// `cargo xtask python-pictures`: photographs what notebooks show, for docs/guides/python.md.
pub(crate) fn pictures() -> Result<(), Failure> {
    const OUT: &str = "docs/guides";
    let chromium = referees::prepare_chromium().map_err(Failure::new)?;
    let browsers = referees::prepare().map_err(Failure::new)?;
    let tools = prepare().map_err(Failure::new)?;
    let installed = Installed::new(&tools, &build(&tools, &Options::default())?)?.with_libraries_of(&browsers)?;
    let mut script = installed.command(&[&format!("{PACKAGE}/pictures.py"), OUT]);
    shell::run(script.env("CHRYSALIS_CHROMIUM", chromium))?;
    println!("python-pictures: look at {OUT}/python-*.png");
    Ok(())
}

/// The wheel in an environment that has nothing else; tools come from another one.
struct Installed {
    python: PathBuf,
    libraries: String,
    is_slow: bool,
}

impl Installed {
    fn new(tools: &Path, wheel: &Path) -> Result<Installed, Failure> {
        let fresh = shell::target_dir().join("python/fresh");
        shell::empty_dir(&fresh)?;
        let absolute = std::path::absolute(&fresh).map_err(|error| Failure::new(error.to_string()))?;
        let python = python_of(&absolute);
        let mut make = Command::new(tools);
        quietly(make.args(["-m", "venv", "--without-pip"]).arg(&fresh)).map_err(Failure::new)?;
        let mut install = Command::new(tools);
        install.args(["-m", "pip", "--quiet", "--disable-pip-version-check", "--python"]).arg(&python);
        quietly(install.args(["install", "--no-index", "--no-deps"]).arg(wheel)).map_err(Failure::new)?;
        Ok(Installed { python, libraries: libraries_of(tools)?, is_slow: false })
    }

    fn for_tests(self, options: &Options) -> Installed {
        Installed { is_slow: options.is_slow, ..self }
    }

    fn with_libraries_of(self, python: &Path) -> Result<Installed, Failure> {
        Ok(Installed { libraries: format!("{}:{}", self.libraries, libraries_of(python)?), ..self })
    }

    /// Python with these arguments.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.python);
        command.args(arguments).env("PYTHONPATH", &self.libraries).env("PYTHONDONTWRITEBYTECODE", "1");
        command.env("MYPY_CACHE_DIR", shell::target_dir().join("python/mypy"));
        if self.is_slow {
            command.env("CHRYSALIS_SLOW", "1");
        }
        command
    }

    fn check(&self, arguments: &[&str]) -> Result<(), Failure> {
        shell::run(&mut self.command(arguments))
    }
}

fn test(installed: &Installed) -> Result<(), Failure> {
    // The command needs nothing but the wheel.
    shell::run(Command::new(beside(&installed.python, "chrysalis")).arg("--version"))?;
    let config = format!("{PACKAGE}/pyproject.toml");
    let check = |arguments: &[&str]| installed.check(arguments);
    let pytest = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", &config];
    let with_pytest = |more: &[&str]| check(&[&pytest, more].concat());
    with_pytest(&[&format!("{PACKAGE}/tests")])?;
    with_pytest(&["--pyargs", "chrysalis"])?;
    check(&["-m", "mypy", "--config-file", &config, "-p", "chrysalis"])?;
    check(&["-m", "mypy", "--config-file", &config, &format!("{PACKAGE}/tests/typed.py")])?;
    check(&["-m", "mypy.stubtest", "chrysalis._native"])?;
    check(&[&format!("{PACKAGE}/notebook.py"), "docs/guides/hospital.ipynb"])
}

/// `cargo xtask bench-spark`: a script that needs the package and a cluster.
pub(crate) fn bench_on_cluster(profile: &str, spark: &Path, arguments: &[String]) -> Result<(), Failure> {
    let tools = prepare().map_err(Failure::new)?;
    let wheel = build(&tools, &Options { profile: profile.to_owned(), ..Options::default() })?;
    let mut installed = Installed::new(&tools, &wheel)?.with_libraries_of(spark)?;
    // The script starts the cluster as the tests do.
    installed.libraries = format!("{PACKAGE}/tests:{}", installed.libraries);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    installed.check(&[&["referee/spark_bench.py"], arguments.as_slice()].concat())
}

/// Where the packages of an environment are.
fn libraries_of(python: &Path) -> Result<String, Failure> {
    let mut command = Command::new(python);
    command.args(["-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]);
    let output = command.output().map_err(|error| Failure::new(format!("cannot ask Python: {error}")))?;
    let mut libraries = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if let Some(more) = env::var_os("PYTHONPATH") {
        libraries = format!("{libraries}:{}", more.to_string_lossy());
    }
    Ok(libraries)
}
