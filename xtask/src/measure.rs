//! Wall time and peak memory of another process.

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
        return Ok(Timing { seconds, peak_bytes });
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
    fn the_median_is_the_middle() {
        assert_eq!(median([3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median([4.0, 1.0, 2.0, 3.0]), 2.5);
        assert!(median([]).is_nan());
    }
}
