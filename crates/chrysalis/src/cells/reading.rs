//! The input, read once and kept on disk as positions in dictionaries, and read again from there as often as needed.

use std::sync::Arc;

use chrysalis_store::{Input, Spill, SpillFile, StoreError};
use chrysalis_table::{Codes, Column, ColumnRequest, Counted, Domain, Knob, MissingPolicy, Remedy, Table, TableError};
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
}

impl Waiting {
    fn add(&mut self, piece: &[Codes]) -> Result<(), StoreError> {
        for (all, codes) in self.columns.iter_mut().zip(piece) {
            all.extend(codes.iter());
        }
        self.rows += piece.first().map_or(0, Codes::len) as u64;
        match self.columns.first().is_some_and(|codes| codes.len() >= AT_ONCE) {
            true => self.put_down(),
            false => Ok(()),
        }
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
        let mut waiting = Waiting { file: spill.write(ROWS)?, columns: vec![Vec::new(); wanted.len()], rows: 0 };
        let entries = input.read_pieces(wanted, &mut |piece| waiting.add(&piece), &|n| watch.tell(n))?;
        waiting.put_down()?;
        waiting.file.finish()?;
        let values = entries.iter().map(|column| column.domain().len() as u64).sum::<u64>();
        if values.saturating_mul(BYTES_PER_VALUE) > memory.bytes() {
            return Err(too_many_values(&entries, memory));
        }
        let column = |column: Column| KeptColumn {
            name: column.name().to_owned(),
            domain: Arc::clone(column.domain()),
            code_of: column.codes().clone(),
        };
        Ok(Kept { spill, rows: waiting.rows, columns: entries.into_iter().map(column).collect() })
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

fn too_many_values(entries: &[Column], memory: Memory) -> Error {
    let most = entries.iter().max_by_key(|column| column.domain().len());
    let (name, values) = most.map_or(("", 0), |column| (column.name(), column.domain().len() as u64));
    let message = format!(
        "`{name}` has {} different values: more than are kept in {memory} of memory, where all values of all columns \
         must be at once",
        count(values)
    );
    let all: u64 = entries.iter().map(|column| column.domain().len() as u64).sum();
    let enough = Memory::of(all.saturating_mul(BYTES_PER_VALUE).div_ceil(100_000_000) * 100_000_000);
    let remedy = Remedy::from("round or shorten it with ").knob(Knob::Prepare, format!("{name}=round:100"));
    Error::request(
        message,
        remedy.words(", or allow more with ").knob(Knob::Memory, enough.to_string().replace(' ', "")),
    )
}
