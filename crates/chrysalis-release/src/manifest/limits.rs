//! How large a manifest may be: the allowed memory limits its bytes and entries, the declared rows limit its lists.
//!
//! A publisher lists the values that occur, so no list of values is longer than the table. To forge a longer list, an
//! attacker has to declare as many rows, and then these are compared with what is allowed.

use chrysalis_table::Memory;

use super::{Attribute, Manifest};
use crate::ReleaseError;

/// The most memory that one byte of a manifest takes, from the first look to the last answer.
const MEMORY_PER_BYTE: u64 = 32;
/// The most memory that one entry of a list takes.
const MEMORY_PER_ENTRY: u64 = 512;

/// More attributes, columns of a table, files, promises or sets of quasi-identifiers than any real release has.
const MOST_LISTED: usize = 20_000;
/// This many values are allowed however few rows there are.
const FREE: u64 = 1_000;

impl Manifest {
    /// How many bytes a manifest may have.
    pub fn most_bytes(memory: Memory) -> u64 {
        memory.part(MEMORY_PER_BYTE).bytes()
    }

    /// Refuses a manifest by its size alone, before it is read.
    pub fn check_bytes(bytes: u64, memory: Memory) -> Result<(), ReleaseError> {
        let most = Manifest::most_bytes(memory);
        if bytes <= most {
            return Ok(());
        }
        let (found, allowed) = (Memory::of(bytes).to_string(), Memory::of(most).to_string());
        Err(ReleaseError::TooLarge { found, allowed, memory, needed: bytes.saturating_mul(MEMORY_PER_BYTE) })
    }
}

/// Refuses a manifest by its number of bytes and entries, before it is read.
pub(super) fn check_text(bytes: &[u8], memory: Memory) -> Result<(), ReleaseError> {
    Manifest::check_bytes(bytes.len() as u64, memory)?;
    let entries = memchr::memchr_iter(b',', bytes).count() as u64;
    let most = memory.part(MEMORY_PER_ENTRY).bytes();
    if entries <= most {
        return Ok(());
    }
    let needed = entries.saturating_mul(MEMORY_PER_ENTRY);
    Err(ReleaseError::TooLarge { found: format!("{entries} entries"), allowed: most.to_string(), memory, needed })
}

/// Refuses lists that no table of the declared size can fill.
pub(super) fn check_lists(manifest: &Manifest) -> Result<(), ReleaseError> {
    let lists = [
        ("attributes", manifest.attributes.len()),
        ("tables", manifest.tables.len()),
        ("promises", manifest.promises.len()),
        ("quasi-identifiers", manifest.quasi_identifiers.len()),
        ("columns shown together", manifest.together.iter().map(Vec::len).sum()),
        ("sets of columns shown together", manifest.together.len()),
        ("accepted risks", manifest.accepted.len()),
        ("files", manifest.tables.iter().map(|table| table.parts.len()).sum()),
        ("columns", manifest.tables.iter().map(|table| table.columns.len()).sum()),
        ("columns of quasi-identifiers", manifest.quasi_identifiers.iter().map(Vec::len).sum()),
    ];
    if let Some((what, n)) = lists.into_iter().find(|(_, n)| *n > MOST_LISTED) {
        return Err(ReleaseError::Excess { what: what.to_owned(), found: n as u64, allowed: MOST_LISTED as u64 });
    }
    manifest.attributes.iter().try_for_each(|attribute| check_values(attribute, manifest.rows))
}

fn check_values(attribute: &Attribute, rows: u64) -> Result<(), ReleaseError> {
    let values = attribute.domain.values.as_ref().map_or(0, Vec::len) as u64;
    // The missing value needs a row as well, so nothing is added for it.
    let most = rows.saturating_add(FREE);
    let of = |what: &str| format!("{what} of `{}`", attribute.name);
    if values > most {
        return Err(ReleaseError::Excess { what: of("values"), found: values, allowed: most });
    }
    let most = values.saturating_add(FREE);
    let nested = |lists: &Option<Vec<Vec<String>>>| lists.iter().flatten().map(|list| list.len() as u64).sum::<u64>();
    let lists = [
        ("lines in the taxonomy", attribute.taxonomy.as_ref().map_or(0, Vec::len) as u64),
        ("values in the categories", nested(&attribute.categories)),
        ("categories", attribute.categories.as_ref().map_or(0, Vec::len) as u64),
        ("weights", attribute.weights.as_ref().map_or(0, Vec::len) as u64),
        ("ordinary values", attribute.ordinary.as_ref().map_or(0, Vec::len) as u64),
    ];
    match lists.into_iter().find(|(_, n)| *n > most) {
        Some((what, found)) => Err(ReleaseError::Excess { what: of(what), found, allowed: most }),
        None => Ok(()),
    }
}
