//! Tables that are published cell by cell although nobody asked for it, because they would not fit.

use chrysalis_store::Input;
use chrysalis_table::Memory;

use super::check;
use crate::Recipe;

/// What a byte of a CSV file takes in memory while it is published in one piece, for rows as short as those of a census:
/// measured, 21 bytes of text and 75 of memory a row. Longer rows take less.
const PER_BYTE: u64 = 3;
/// The share of the free memory that is used: one in this many.
const SHARE: u64 = 2;

/// How much memory to publish in if a table would not fit into what is free, and can be published by cells.
pub fn unasked(input: &Input, recipe: &Recipe) -> Option<Memory> {
    let size = input.size().filter(|_| input.delimiter().is_some())?;
    let free = free(&std::fs::read_to_string("/proc/meminfo").ok()?)?;
    needed(size, free).filter(|_| recipe.memory().is_none() && check(recipe).is_ok())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_that_would_not_fit_gets_half_of_what_is_free() {
        let said = "MemTotal:       24602192 kB\nMemFree:          519312 kB\nMemAvailable:   16000000 kB\n";
        assert_eq!(free(said), Some(16_384_000_000));
        assert_eq!(free("MemTotal: 1 kB"), None);
        assert_eq!(needed(5_000_000_000, 16_384_000_000), None);
        assert_eq!(needed(6_000_000_000, 16_384_000_000), Some(Memory::of(8_192_000_000)));
        assert_eq!(needed(u64::MAX, 16_384_000_000), Some(Memory::of(8_192_000_000)));
    }
}
