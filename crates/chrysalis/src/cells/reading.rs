//! The input, read once and kept on disk as positions in dictionaries, and read again from there as often as needed.

use std::sync::Arc;

use chrysalis_store::{Input, Spill, SpillFile, StoreError};
use chrysalis_table::{
    Codes, Column, ColumnRequest, Counted, Domain, Kind, Knob, MissingPolicy, Remedy, Table, TableError,
};
use chrysalis_table::{Memory, Watch};

use super::prepared;
use crate::cells::PreparedRows;
use crate::words::count;
use crate::{Error, Recipe};

/// The file of all rows.
const ROWS: &str = "rows";
/// Rows that are handed on together.
const AT_ONCE: usize = 1 << 18;
/// What a value of a dictionary takes at most, while it is read and afterwards.
const BYTES_PER_VALUE: u64 = 160;

/// All rows of a table, on disk.
pub(super) struct Kept<'a> {
    spill: &'a Spill,
    columns: Vec<KeptColumn>,
    pub(super) rows: u64,
}

/// A column whose dictionary is known.
struct KeptColumn {
    name: String,
    domain: Arc<Domain>,
    /// For every position in the dictionary its code.
    code_of: Codes,
}

/// Pieces that wait until there are enough rows.
struct Waiting {
    file: SpillFile,
    columns: Vec<Vec<u32>>,
    rows: u64,
    /// How many different values each column has so far.
    values: Vec<u64>,
    /// How many all columns may have together.
    most: u64,
}

impl Waiting {
    fn add(&mut self, piece: &[Codes]) -> Result<(), StoreError> {
        for ((all, codes), values) in self.columns.iter_mut().zip(piece).zip(&mut self.values) {
            let fresh = all.len();
            all.extend(codes.iter());
            // A dictionary only grows, so its last position that occurs tells how long it is.
            *values = all[fresh..].iter().fold(*values, |values, &code| values.max(u64::from(code) + 1));
        }
        if self.has_too_many() {
            // Nobody reads this: what is said instead has the columns' names.
            return Err(StoreError::Io {
                action: "keep",
                path: "".into(),
                source: std::io::ErrorKind::OutOfMemory.into(),
            });
        }
        self.rows += piece.first().map_or(0, Codes::len) as u64;
        match self.columns.first().is_some_and(|codes| codes.len() >= AT_ONCE) {
            true => self.put_down(),
            false => Ok(()),
        }
    }

    fn has_too_many(&self) -> bool {
        self.values.iter().sum::<u64>() > self.most
    }

    fn put_down(&mut self) -> Result<(), StoreError> {
        let narrow = |codes: &mut Vec<u32>| {
            let most = codes.iter().max().map_or(0, |most| *most as usize);
            Codes::collect(most + 1, codes.drain(..))
        };
        let columns: Vec<Codes> = self.columns.iter_mut().map(narrow).collect();
        Spill::add_piece(&mut self.file, &columns)
    }
}

impl<'a> Kept<'a> {
    /// Reads all of a table.
    pub(super) fn read(
        input: Input,
        wanted: &[ColumnRequest],
        spill: &'a Spill,
        memory: Memory,
        watch: &dyn Watch,
    ) -> Result<Self, Error> {
        let unit = if input.size().is_some() { Counted::Bytes } else { Counted::Rows };
        watch.phase("read", input.size(), unit);
        input.notes().iter().for_each(|note| watch.note(note));
        watch.detail(&format!("reading {} of {} columns", wanted.len(), input.header().len()));
        let mut waiting = Waiting {
            file: spill.write(ROWS)?,
            columns: vec![Vec::new(); wanted.len()],
            rows: 0,
            values: vec![0; wanted.len()],
            most: memory.bytes() / BYTES_PER_VALUE,
        };
        let read = input.read_pieces(wanted, &mut |piece| waiting.add(&piece), &|n| watch.tell(n));
        if waiting.has_too_many() {
            return Err(too_many_values(wanted, &waiting.values, memory));
        }
        let entries = read?;
        waiting.put_down()?;
        waiting.file.finish()?;
        let column = |column: Column| KeptColumn {
            name: column.name().to_owned(),
            domain: Arc::clone(column.domain()),
            code_of: column.codes().clone(),
        };
        Ok(Kept { spill, rows: waiting.rows, columns: entries.into_iter().map(column).collect() })
    }

    /// All words of an ordinal column, from lowest to highest.
    pub(super) fn order(&self, name: &str) -> Option<Vec<String>> {
        let domain = &self.columns.iter().find(|column| column.name == name)?.domain;
        let words = || domain.values().iter().map(ToString::to_string).collect();
        (domain.kind() == Kind::Ordinal).then(words)
    }

    /// Hands on all rows as they are published, many at a time.
    pub(super) fn each(
        &self,
        recipe: &Recipe,
        watch: &dyn Watch,
        each: &mut dyn FnMut(PreparedRows) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if recipe.missing == MissingPolicy::Error {
            self.refuse_missing(recipe)?;
        }
        self.each_piece(&mut |table| {
            let rows = table.rows() as u64;
            let made = prepared(table, recipe)?;
            if made.table.rows() > 0 || made.dropped > 0 {
                each(made)?;
            }
            watch.tell(rows);
            Ok(())
        })
    }

    fn each_piece(&self, each: &mut dyn FnMut(Table) -> Result<(), Error>) -> Result<(), Error> {
        self.spill.pieces(ROWS, self.columns.len(), &mut |piece| {
            let column = |(known, entries): (&KeptColumn, Codes)| {
                let codes = entries.iter().map(|entry| known.code_of.get(entry as usize));
                let codes = Codes::collect(known.domain.len(), codes);
                Column::new(&*known.name, Arc::clone(&known.domain), codes)
            };
            each(Table::new(self.columns.iter().zip(piece).map(column).collect()))
        })
    }

    /// The rows are needed no more.
    pub(super) fn forget(self) -> Result<(), Error> {
        Ok(self.spill.remove(ROWS)?)
    }

    /// A missing value where none is allowed: says in which row the first one is, and how many there are.
    fn refuse_missing(&self, recipe: &Recipe) -> Result<(), Error> {
        let Some(at) = self.columns.iter().position(|column| column.domain.has_missing()) else { return Ok(()) };
        let (mut first, mut found, mut before) = (0, 0, 0);
        self.each_piece(&mut |table| {
            for (row, code) in table.columns()[at].codes().iter().enumerate() {
                if code == 0 {
                    first = if found == 0 { before + row + 1 } else { first };
                    found += 1;
                }
            }
            before += table.rows();
            Ok(())
        })?;
        let column = self.columns[at].name.clone();
        Err(recipe.in_source(TableError::MissingValue { column, row: first, count: found }.into()))
    }
}

/// `values`: how many were met before reading stopped.
fn too_many_values(wanted: &[ColumnRequest], values: &[u64], memory: Memory) -> Error {
    let most = wanted.iter().zip(values).max_by_key(|(_, values)| **values);
    let (name, found) = most.map_or(("", 0), |(request, values)| (request.name.as_str(), *values));
    let message = format!(
        "`{name}` has {} different values or more: with those of the other columns that is more than are kept in {memory} of \
         memory, where all must be at once",
        count(found)
    );
    let remedy = Remedy::from("round or shorten it with ").knob(Knob::Prepare, format!("{name}=round:100"));
    Error::request(message, remedy.words(", leave it out, or allow more with ").knob(Knob::Memory, ""))
}
