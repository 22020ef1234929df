//! Wall time, processor time and peak memory of another process.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::shell::{self, Failure};

/// One run of a program, start to end.
#[derive(Clone, Copy)]
pub(crate) struct Timing {
    pub(crate) seconds: f64,
    /// Seconds of all its processors together, if the system reports them (Linux).
    pub(crate) cpu_seconds: Option<f64>,
    /// Peak resident set size, if the system reports it (Linux).
    pub(crate) peak_bytes: Option<u64>,
}

/// Runs `command` to its end. Its output goes to `stdout_file`; its messages are shown only if it fails.
pub(crate) fn run(command: &mut Command, stdout_file: &Path) -> Result<Timing, Failure> {
    let messages_file = stdout_file.with_extension("stderr");
    let create = |path: &Path| {
        File::create(path).map_err(|error| Failure::new(format!("cannot write {}: {error}", path.display())))
    };
    command.stdin(Stdio::null());
    command.stdout(create(stdout_file)?);
    command.stderr(create(&messages_file)?);

    let shown = shell::shown(command);
    let cannot = |error| Failure::new(format!("cannot start {shown}: {error}"));
    let cpu_before = cpu_of_children();
    let start = Instant::now();
    let mut child = command.spawn().map_err(cannot)?;
    let pid = child.id();
    let has_ended = AtomicBool::new(false);
    // Waiting and watching use two threads, so that watching does not round the time up.
    let (status, seconds, peak_bytes) = thread::scope(|scope| {
        let watcher = scope.spawn(|| watch_peak(pid, &has_ended));
        let status = child.wait();
        let seconds = start.elapsed().as_secs_f64();
        has_ended.store(true, Ordering::Relaxed);
        (status, seconds, watcher.join().unwrap_or(None))
    });
    let status = status.map_err(cannot)?;
    if status.success() {
        let cpu_seconds = cpu_before.zip(cpu_of_children()).map(|(before, after)| after - before);
        return Ok(Timing { seconds, cpu_seconds, peak_bytes });
    }
    let said = fs::read_to_string(&messages_file).unwrap_or_default();
    Err(Failure::new(format!("{shown} failed ({status}): {}", said.trim())))
}

/// The kernel keeps the high-water mark itself, so polling every 10 ms misses at most the growth of the last 10 ms.
fn watch_peak(pid: u32, has_ended: &AtomicBool) -> Option<u64> {
    let status = format!("/proc/{pid}/status");
    let mut peak = None;
    while !has_ended.load(Ordering::Relaxed) {
        let now = fs::read_to_string(&status).ok().as_deref().and_then(high_water_mark);
        peak = peak.max(now);
        thread::sleep(Duration::from_millis(10));
    }
    peak
}

/// The `VmHWM` line of `/proc/<pid>/status`, in bytes.
fn high_water_mark(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

/// Seconds that all processes we started and waited for have used so far. Chores start one at a time.
fn cpu_of_children() -> Option<f64> {
    fs::read_to_string("/proc/self/stat").ok().as_deref().and_then(waited_for)
}

/// `cutime` and `cstime` of `/proc/<pid>/stat`: the 14th and 15th field after the program's name, which is in brackets
/// and may contain spaces. Linux counts in hundredths of a second there.
fn waited_for(stat: &str) -> Option<f64> {
    let (_, fields) = stat.rsplit_once(") ")?;
    let mut ticks = fields.split(' ').skip(13).map(str::parse::<u32>);
    let (user, system) = (ticks.next()?.ok()?, ticks.next()?.ok()?);
    Some((f64::from(user) + f64::from(system)) / 100.0)
}

/// The middle value; for an even number of values, the mean of the two in the middle. NaN if there are none.
pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = values.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => f64::NAN,
        odd if odd % 2 == 1 => sorted[middle],
        _ => f64::midpoint(sorted[middle - 1], sorted[middle]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_high_water_mark_is_read_from_the_kernels_text() {
        let status = "Name:\tchrysalis\nVmPeak:\t  900 kB\nVmHWM:\t   321 kB\nThreads:\t2\n";
        assert_eq!(high_water_mark(status), Some(321 * 1024));
        assert_eq!(high_water_mark("Name:\tzombie\n"), None);
    }

    #[test]
    fn processor_time_of_children_is_read_from_the_kernels_text() {
        let stat = "17 (a (b) c) S 1 17 17 0 -1 4194304 100 2000 0 0 11 12 250 50 20 0 1 0 900 0 0";
        assert_eq!(waited_for(stat), Some(3.0));
        assert_eq!(waited_for("17 (zombie) Z 1"), None);
    }

    #[test]
    fn the_median_is_the_middle() {
        assert_eq!(median([3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median([4.0, 1.0, 2.0, 3.0]), 2.5);
        assert!(median([]).is_nan());
    }
}
