//! Reads a release part by part, so that only one part of every table is in memory.

use std::path::{Path, PathBuf};

use chrysalis_release::{Cell, Layout, Manifest, PartEntry, Release, TableEntry};
use chrysalis_table::{Memory, Table, no_progress};
use rayon::prelude::*;

use crate::StoreError;
use crate::limits::check_rows_and;
use crate::release_in::{check_plain_file, read_part, requests, verify_hash};

/// A release whose groups are divided among parts: part n of every table with group ids is about the same groups.
/// Whether that is true, its reader has to check.
pub struct PartByPart {
    folder: PathBuf,
    manifest: Manifest,
    layout: Layout,
    n_parts: usize,
    /// The tables that are not in parts, in their places.
    shared: Vec<Option<Table>>,
    memory: Memory,
}

/// Bits per group that readers keep for every table, to see that no group has rows in two parts.
const BITS_PER_GROUP: u64 = 1;

impl PartByPart {
    /// Opens a release by its manifest; `None` if its tables are not in equally many parts. Refuses a part that does not
    /// fit into the allowed memory.
    pub fn open(folder: &Path, manifest: Manifest, memory: Memory) -> Result<Option<PartByPart>, StoreError> {
        let layout = manifest.layout();
        let Some(n_parts) = n_parts(&manifest, &layout) else { return Ok(None) };
        let mut opened =
            PartByPart { folder: folder.to_owned(), manifest, layout, n_parts, shared: Vec::new(), memory };
        (0..n_parts).try_for_each(|part| opened.check_size(part))?;
        let shared = opened.manifest.tables.iter().map(|entry| match &entry.parts[..] {
            [only] => opened.read_file(entry, only, None).map(Some),
            _ => Ok(None),
        });
        let shared = shared.collect::<Result<_, StoreError>>()?;
        opened.shared = shared;
        Ok(Some(opened))
    }

    /// What the release says about itself.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The folder of the release.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// How much memory reading it may take.
    pub fn memory(&self) -> Memory {
        self.memory
    }

    /// How many parts there are.
    pub fn parts(&self) -> usize {
        self.n_parts
    }

    /// One part: its rows of every table that is in parts, and the other tables whole. Verified like
    /// [`read_release`](crate::read_release). The manifest lists the rows and the file of this part.
    pub fn read(&self, part: usize) -> Result<Release, StoreError> {
        self.read_of(part, &|_| Some(None))
    }

    /// The same with some columns of some tables, given as pairs of a table and its columns; all other tables are empty.
    pub fn read_columns(&self, part: usize, wanted: &[(String, Vec<String>)]) -> Result<Release, StoreError> {
        self.read_of(part, &|entry| {
            let (_, columns) = wanted.iter().find(|(table, _)| *table == entry.name)?;
            Some(Some(columns.as_slice()))
        })
    }

    fn read_of<'a>(
        &self,
        part: usize,
        wanted: &(dyn Fn(&TableEntry) -> Option<Option<&'a [String]>> + Sync),
    ) -> Result<Release, StoreError> {
        let read = |(entry, shared): (&TableEntry, &Option<Table>)| match (wanted(entry), shared, file(entry, part)) {
            (None, ..) | (_, None, None) => Ok(Table::default()),
            (Some(_), Some(table), _) => Ok(table.clone()),
            (Some(columns), None, Some(file)) => self.read_file(entry, file, columns),
        };
        let tables: Vec<Result<Table, StoreError>> =
            self.manifest.tables.par_iter().zip(self.shared.par_iter()).map(read).collect();
        let tables = tables.into_iter().collect::<Result<_, _>>()?;
        Ok(Release { tables, manifest: self.manifest_of(part) })
    }

    fn read_file(&self, entry: &TableEntry, part: &PartEntry, columns: Option<&[String]>) -> Result<Table, StoreError> {
        let wanted = requests(entry, &self.manifest, &self.layout, columns);
        let path = self.folder.join(&part.file);
        check_plain_file(&path, &part.file)?;
        let (verified, table) = rayon::join(
            || verify_hash(&path, part, &no_progress),
            || read_part(&path, entry, part, &wanted, self.memory, &no_progress),
        );
        verified.and(table)
    }

    /// The manifest of one part.
    fn manifest_of(&self, part: usize) -> Manifest {
        let of_part = |entry: &TableEntry| match file(entry, part) {
            Some(file) => TableEntry { rows: file.rows, parts: vec![file.clone()], ..entry.clone() },
            None => entry.clone(),
        };
        Manifest { tables: self.manifest.tables.iter().map(of_part).collect(), ..self.manifest.clone() }
    }

    fn check_size(&self, part: usize) -> Result<(), StoreError> {
        let tables = self.manifest.tables.iter();
        let sizes: Vec<(u64, usize)> =
            tables.map(|entry| (file(entry, part).map_or(entry.rows, |file| file.rows), entry.columns.len())).collect();
        // There cannot be more groups than rows.
        let n_groups = self.manifest.groups.min(self.manifest.rows);
        let bits = n_groups.saturating_mul(BITS_PER_GROUP).saturating_mul(sizes.len() as u64);
        let place = format!("{}, part {}", self.folder.display(), part + 1);
        check_rows_and(&place, &sizes, bits / 8, self.memory)
    }
}

/// The file of a table that has the rows of a part; `None` if the table is not in parts.
fn file(entry: &TableEntry, part: usize) -> Option<&PartEntry> {
    entry.parts.get(part).filter(|_| entry.parts.len() > 1)
}

/// The number of parts, if every table with group ids has as many, and at least two, and all others are one file.
fn n_parts(manifest: &Manifest, layout: &Layout) -> Option<usize> {
    let mut n_parts = None;
    for entry in &manifest.tables {
        let table = layout.table(&entry.name)?;
        let has_ids = table.columns.iter().any(|column| column.cell == Cell::GroupId);
        match (has_ids, entry.parts.len()) {
            (true, 0 | 1) => return None,
            (true, n) if n_parts.is_some_and(|known| known != n) => return None,
            (true, n) => n_parts = Some(n),
            (false, 1) => {}
            (false, _) => return None,
        }
    }
    n_parts
}
