//! `cargo xtask bench-stop`: how long a run of two million rows takes to end after Ctrl-C, and what it leaves behind.
//!
//! Every form is published once to its end, then started again and interrupted at moments spread evenly over that time.
//! A run that was stopped must exit with code 130 and leave behind neither a release nor anything else.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::bench::data::{self, Input};
use crate::bench::report::{grouped, met};
use crate::bench::{ACCEPTING, Bench, Form, GENERALIZE, MONDRIAN, Options, default_threads};
use crate::measure::median;
use crate::shell::{self, Failure};

/// The most milliseconds that a stopped run may take to end.
const MOST: f64 = 200.0;
/// The exit code of a run that was stopped.
const STOPPED: i32 = 130;

/// Partitioners that work for long stretches between two checks for a stop.
const TOP_DOWN: Form =
    Form { arguments: &["--method", "generalize", "--partitioner", "top-down"], requirement: "k=10", limit: 0.0 };
const FULL_DOMAIN: Form =
    Form { arguments: &["--method", "generalize", "--partitioner", "full-domain"], requirement: "k=10", limit: 0.0 };

/// The result of one interruption.
struct Stop {
    milliseconds: f64,
    /// How far into the run it was, in seconds.
    at: f64,
}

pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let bench = Bench::alone(options)?;
    let input = data::prepare(&bench, options.data.as_deref())?;
    let ground = bench.file("stopped");
    println!("\ndata     {}, {} rows", input.name, grouped(input.rows));
    println!("stops    {} of each, spread evenly over a full run\n", options.repeat);
    println!("{:<44}{:>8}{:>8}{:>12}{:>12}{:>12}", "publish", "full, s", "stops", "median, ms", "worst, ms", "at, s");
    let forms = if input.requirement.is_some() { &[GENERALIZE, MONDRIAN, TOP_DOWN, FULL_DOMAIN][..] } else { &[] };
    for form in forms.iter().chain(input.forms) {
        let command = |out: &str| publish(&bench, &input, form, &ground.join(out));
        shell::empty_dir(&ground)?;
        let start = Instant::now();
        shell::run(command("full").stdout(Stdio::null()).stderr(Stdio::null()))?;
        let full = start.elapsed().as_secs_f64();
        let mut stops = Vec::new();
        for moment in 0..options.repeat {
            shell::empty_dir(&ground)?;
            let delay = full * (moment as f64 + 0.5) / options.repeat as f64;
            stops.extend(stop(&mut command("release"), delay, &ground)?);
        }
        line(form, full, &stops);
    }
    Ok(())
}

fn publish(bench: &Bench, input: &Input, form: &Form, out: &Path) -> Command {
    let mut command = Command::new(&bench.chrysalis);
    command.arg("publish").args(&input.publish).args(form.arguments).args(["--require", form.requirement]);
    command.arg("--out").arg(out).args(["--output", "json"]).args(ACCEPTING);
    default_threads(&mut command);
    command
}

/// Interrupts a run after some seconds; `None` if it had already ended.
fn stop(command: &mut Command, delay: f64, ground: &Path) -> Result<Option<Stop>, Failure> {
    let cannot = |error: std::io::Error| Failure::new(format!("cannot run chrysalis: {error}"));
    let start = Instant::now();
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().map_err(cannot)?;
    thread::sleep(Duration::from_secs_f64(delay).saturating_sub(start.elapsed()));
    if child.try_wait().map_err(cannot)?.is_some() {
        return Ok(None);
    }
    let asked = Instant::now();
    interrupt(&child)?;
    let code = child.wait().map_err(cannot)?.code();
    let milliseconds = asked.elapsed().as_secs_f64() * 1e3;
    match code {
        // The release was already in its place when the signal came.
        Some(0) => Ok(None),
        Some(STOPPED) => left_behind(ground).map(|()| Some(Stop { milliseconds, at: delay })),
        other => Err(Failure::new(format!("a run that was stopped ended with {other:?}, not with {STOPPED}"))),
    }
}

fn interrupt(child: &Child) -> Result<(), Failure> {
    shell::run(Command::new("kill").arg("-INT").arg(child.id().to_string()))
}

fn left_behind(ground: &Path) -> Result<(), Failure> {
    let cannot = |error: std::io::Error| Failure::new(format!("cannot read {}: {error}", ground.display()));
    match fs::read_dir(ground).map_err(cannot)?.next() {
        None => Ok(()),
        Some(entry) => {
            let name = entry.map_err(cannot)?.file_name();
            Err(Failure::new(format!("a run that was stopped left `{}` behind", name.display())))
        }
    }
}

fn line(form: &Form, full: f64, stops: &[Stop]) {
    let worst = stops.iter().max_by(|a, b| a.milliseconds.total_cmp(&b.milliseconds));
    let (worst, at) = worst.map_or((0.0, 0.0), |stop| (stop.milliseconds, stop.at));
    let middle = median(stops.iter().map(|stop| stop.milliseconds));
    let name: Vec<&str> = form.arguments.iter().copied().filter(|word| !word.starts_with("--")).take(2).collect();
    println!(
        "{:<44}{full:>8.2}{:>8}{middle:>12.0}{worst:>12.0}{at:>12.2}  below {MOST:.0} ms: {}",
        name.join(", "),
        stops.len(),
        met(worst < MOST),
    );
}
