//! Tables that are published cell by cell although nobody asked for it, because they would not fit.

use chrysalis_store::Input;
use chrysalis_table::Memory;

use super::check;
use crate::Recipe;

/// What a byte of a CSV file takes in memory while it is published in one piece, for rows as short as those of a census:
/// measured, 21 bytes of text and 75 of memory a row, which is 3.6. Longer rows take less.
const PER_BYTE: u64 = 4;
/// How many bytes of text a byte of a compressed file stands for, at the most that tables about people usually have. It cannot
/// be known before the file is read, and cells that were not needed cost less than memory that is not there.
const UNPACKED: u64 = 8;
/// The share of the free memory that is used: one in this many.
const SHARE: u64 = 2;

/// How much memory to publish in if a table would not fit into what is free, and can be published by cells.
pub fn unasked(input: &Input, recipe: &Recipe) -> Option<Memory> {
    let size = input.size().filter(|_| input.delimiter().is_some())?;
    let size = if input.is_packed() { size.saturating_mul(UNPACKED) } else { size };
    let free = free(&std::fs::read_to_string("/proc/meminfo").ok()?)?;
    let read = |path: &str| std::fs::read_to_string(path).ok();
    needed(size, limited(&read).map_or(free, |limit| limit.min(free)))
        .filter(|_| recipe.memory().is_none() && check(recipe).is_ok())
}

fn needed(size: u64, free: u64) -> Option<Memory> {
    (size.saturating_mul(PER_BYTE) > free).then(|| Memory::of(free / SHARE))
}

/// The memory that a new program can have, in bytes, as Linux says it.
fn free(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

/// The memory that this process and others in its control group may have, in bytes, if Linux limits that: the least limit of
/// the group and of those that it is in. Containers are limited so, and `MemAvailable` does not know it.
fn limited(read: &dyn Fn(&str) -> Option<String>) -> Option<u64> {
    let told = read("/proc/self/cgroup")?;
    let of_lines = told.lines().filter_map(|line| {
        let mut parts = line.splitn(3, ':');
        let (_, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
        // The second version has one hierarchy, which names no controllers.
        let (root, file) = match controllers {
            "" => ("/sys/fs/cgroup", "memory.max"),
            _ if controllers.split(',').any(|one| one == "memory") => {
                ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
            }
            _ => return None,
        };
        // In a container the path may be one of the host, which is not seen there; then the root is its own.
        let groups = std::iter::successors(Some(path.trim_end_matches('/')), |path| Some(path.rsplit_once('/')?.0));
        groups.filter_map(|group| read(&format!("{root}{group}/{file}"))?.trim().parse::<u64>().ok()).min()
    });
    of_lines.min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_limit_of_all_control_groups_counts() {
        let files = |known: &'static [(&str, &str)]| {
            move |path: &str| known.iter().find(|(name, _)| *name == path).map(|(_, text)| (*text).to_owned())
        };
        let second = files(&[
            ("/proc/self/cgroup", "0::/jobs/one\n"),
            ("/sys/fs/cgroup/jobs/one/memory.max", "max\n"),
            ("/sys/fs/cgroup/jobs/memory.max", "4000000000\n"),
            ("/sys/fs/cgroup/memory.max", "8000000000\n"),
        ]);
        assert_eq!(limited(&second), Some(4_000_000_000));
        let first = files(&[
            ("/proc/self/cgroup", "3:cpu:/a\n2:memory:/docker/abc\n"),
            ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "2000000000\n"),
        ]);
        assert_eq!(limited(&first), Some(2_000_000_000));
        assert_eq!(limited(&files(&[("/proc/self/cgroup", "0::/\n")])), None);
        assert_eq!(limited(&|_| None), None);
    }

    #[test]
    fn a_table_that_would_not_fit_gets_half_of_what_is_free() {
        let said = "MemTotal:       24602192 kB\nMemFree:          519312 kB\nMemAvailable:   16000000 kB\n";
        assert_eq!(free(said), Some(16_384_000_000));
        assert_eq!(free("MemTotal: 1 kB"), None);
        assert_eq!(needed(4_000_000_000, 16_384_000_000), None);
        assert_eq!(needed(4_500_000_000, 16_384_000_000), Some(Memory::of(8_192_000_000)));
        assert_eq!(needed(u64::MAX, 16_384_000_000), Some(Memory::of(8_192_000_000)));
    }
}
