//! `cargo xtask bench`: what publishing costs, compared with what moving the same rows costs.
//!
//! The yardstick is polars: read the CSV, sort by four columns, write Parquet, as a whole process with default
//! settings. It alternates with a whole `chrysalis publish`, so that a busy machine slows both down. After that,
//! mondrian alone, on one thread. The chore only reports; it enforces no limit.

pub(crate) mod data;
pub(crate) mod report;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use serde_json::Value;

use crate::measure::{self, Timing};
use crate::referees;
use crate::shell::{self, Failure};
use data::Input;

pub(crate) struct Options {
    /// The folder the user named, if any.
    pub(crate) data: Option<PathBuf>,
    pub(crate) repeat: usize,
    /// A program that is built already; without one, a release build is made.
    pub(crate) chrysalis: Option<PathBuf>,
}

impl Options {
    /// The options that the benchmarks share.
    pub(crate) fn parse(arguments: &[String], called_from: &Path) -> Result<Self, Failure> {
        let data = env::var_os("CHRYSALIS_DATA").map(|folder| called_from.join(folder));
        let mut options = Self { data, repeat: 5, chrysalis: None };
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--repeat" => options.repeat = shell::count("--repeat", arguments.next())?,
                "--data" => {
                    let folder = arguments.next();
                    let folder = folder.ok_or_else(|| Failure::usage("--data wants a folder"))?;
                    options.data = Some(called_from.join(folder));
                }
                "--chrysalis" => {
                    let program = arguments.next();
                    let program = program.ok_or_else(|| Failure::usage("--chrysalis wants a program"))?;
                    options.chrysalis = Some(called_from.join(program));
                }
                _ => return Err(Failure::usage(format!("the benchmarks have no `{argument}`"))),
            }
        }
        Ok(options)
    }
}

/// The programs and the folder of one benchmark.
pub(crate) struct Bench {
    pub(crate) python: PathBuf,
    pub(crate) chrysalis: PathBuf,
    pub(crate) folder: PathBuf,
}

pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let bench = Bench::prepare(options)?;
    let input = data::prepare(&bench, options.data.as_deref())?;
    report::heading(&input, options.repeat);
    let mut polars = Vec::new();
    let mut publish = Vec::new();
    let mut summary = Value::Null;
    for _ in 0..options.repeat {
        polars.push(bench.move_rows(&input)?);
        let (run, phases) = bench.publish(&input, &GENERALIZE, input.requirement, None)?;
        publish.push(run);
        summary = phases;
        report::pair(polars.len(), &polars, &publish);
    }
    report::comparison(&polars, &publish, &summary);

    let mut partition = Vec::new();
    for _ in 0..options.repeat {
        let (_, printed) = bench.publish(&input, &MONDRIAN, Some("k=10"), Some("1"))?;
        summary = printed;
        let seconds = summary["phases"]["partition"].as_f64();
        partition
            .push(seconds.ok_or_else(|| Failure::new("the summary of `chrysalis publish` has no `phases.partition`"))?);
    }
    report::mondrian(input.rows, &partition, &summary);

    bench.forms(&input, options.repeat)?;
    match data::for_two_users(&bench, options.data.as_deref())? {
        Some(input) => {
            println!("\n{}, {} rows", input.name, report::grouped(input.rows));
            bench.forms(&input, options.repeat)
        }
        None => Ok(()),
    }
}

/// A method with the partitioner it is measured with, and how many times polars' time it may take.
pub(crate) struct Form {
    pub(crate) arguments: &'static [&'static str],
    pub(crate) requirement: &'static str,
    pub(crate) limit: f64,
}

pub(crate) const GENERALIZE: Form = Form { arguments: &["--method", "generalize"], requirement: "l=10", limit: 4.0 };
pub(crate) const MONDRIAN: Form =
    Form { arguments: &["--method", "generalize", "--partitioner", "mondrian"], requirement: "k=10", limit: 4.0 };

/// The forms measured on the CENSUS table, whose sensitive column is numeric.
pub(crate) const FORMS: [Form; 5] = [
    Form { arguments: &["--method", "anatomy", "--partitioner", "anatomize"], requirement: "l=10", limit: 2.0 },
    Form { arguments: &["--method", "anatomy", "--partitioner", "nearby"], requirement: "l=10", limit: 3.0 },
    Form { arguments: &["--method", "permute", "--partitioner", "nearby"], requirement: "l=10", limit: 3.0 },
    Form { arguments: &["--method", "shuffle", "--partitioner", "min-sum"], requirement: "ke=10,9", limit: 2.0 },
    Form {
        arguments: &[
            "--method",
            "angel",
            "--marginal",
            "age,gender,education",
            "--marginal",
            "marital_status,work_class",
            "--require",
            "k=10",
        ],
        requirement: "l=10",
        limit: 6.0,
    },
];

/// The form measured on the CENSUS table with two quasi-identifiers.
pub(crate) const FOR_TWO_USERS: [Form; 1] =
    [Form { arguments: &["--method", "butterfly"], requirement: "k=10", limit: 10.0 }];

impl Bench {
    /// The other forms, each beside polars again: the state of the machine minutes ago is no yardstick.
    fn forms(&self, input: &Input, repeat: usize) -> Result<(), Failure> {
        for form in input.forms {
            let (mut polars, mut publish) = (Vec::new(), Vec::new());
            let mut summary = Value::Null;
            for _ in 0..repeat {
                polars.push(self.move_rows(input)?);
                let (run, printed) = self.publish(input, form, Some(form.requirement), None)?;
                publish.push(run);
                summary = printed;
            }
            report::form(form, &polars, &publish, &summary);
        }
        Ok(())
    }

    pub(crate) fn prepare(options: &Options) -> Result<Self, Failure> {
        let python =
            referees::prepare().map_err(|reason| Failure::new(format!("nothing to measure against: {reason}")))?;
        Bench::with(python, options)
    }

    /// Without a yardstick; the system's Python serves where `gzip` is missing.
    pub(crate) fn alone(options: &Options) -> Result<Self, Failure> {
        Bench::with(PathBuf::from("python3"), options)
    }

    pub(crate) fn with(python: PathBuf, options: &Options) -> Result<Self, Failure> {
        let chrysalis = match &options.chrysalis {
            Some(program) => program.clone(),
            None => shell::build_chrysalis("release", &["databases"])?,
        };
        let folder = shell::target_dir().join("bench");
        fs::create_dir_all(&folder)
            .map_err(|error| Failure::new(format!("cannot make {}: {error}", folder.display())))?;
        Ok(Bench { python, chrysalis, folder })
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// (a) polars, as a whole process.
    fn move_rows(&self, input: &Input) -> Result<Timing, Failure> {
        let mut command = Command::new(&self.python);
        command.arg("referee/move_rows.py");
        command.args([&input.csv, &self.file("moved.parquet")]);
        command.args(&input.sort_by);
        measure::run(default_threads(&mut command), &self.file("move_rows.out"))
    }

    /// (b) chrysalis, as a whole process; also returns the summary it prints.
    fn publish(
        &self,
        input: &Input,
        form: &Form,
        requirement: Option<&str>,
        threads: Option<&str>,
    ) -> Result<(Timing, Value), Failure> {
        let mut command = Command::new(&self.chrysalis);
        command.arg("publish").args(&input.publish);
        command.args(form.arguments);
        command.args(requirement.iter().flat_map(|principle| ["--require", principle]));
        command.arg("--out").arg(self.file("release"));
        command.args(["--force", "--output", "json"]).args(ACCEPTING);
        default_threads(&mut command);
        if let Some(threads) = threads {
            command.env("RAYON_NUM_THREADS", threads);
        }
        let printed = self.file("publish.json");
        let run = measure::run(&mut command, &printed)?;
        let summary = fs::read(&printed).ok();
        let summary = summary.and_then(|json| serde_json::from_slice(&json).ok());
        let summary = summary
            .ok_or_else(|| Failure::new("`chrysalis publish --output json` printed something other than JSON"))?;
        Ok((run, summary))
    }
}

/// `k` alone permits groups with a single sensitive value; such releases are measured and thrown away.
pub(crate) const ACCEPTING: [&str; 2] = ["--accept", "disclosure"];

/// Both programs use every core, whatever the caller's environment says.
pub(crate) fn default_threads(command: &mut Command) -> &mut Command {
    command.env_remove("POLARS_MAX_THREADS").env_remove("RAYON_NUM_THREADS")
}
