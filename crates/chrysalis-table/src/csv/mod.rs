//! CSV input: delimiter detected or given, quotes, a byte order mark, any line ending except a lone carriage return.
//!
//! One thread cuts the stream at record borders; the others turn each piece into codes of a small dictionary of its own
//! and drop the text. At the end the dictionaries are merged and sorted. So memory follows the codes.

mod dialect;
mod dictionary;
mod encoding;
mod parse;
mod pieces;

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex};

use rayon::prelude::*;

use crate::column::DictionaryChunk;
use crate::reading::{Style, bands};
use crate::table::resolve;
use crate::{Code, Codes, Column, ColumnRequest, Kind, Progress, Table, TableError, TextReading, Value, no_progress};
use dictionary::ParsedColumn;
use encoding::Decoder;
pub use encoding::Encoding;
use parse::{FieldSelection, ParsedPiece};
use pieces::Pieces;

/// How to read a CSV stream.
#[derive(Clone, Debug)]
pub struct CsvOptions {
    /// The byte between fields; detected among `,`, `;`, tab and `|` when absent.
    pub delimiter: Option<u8>,
    /// How many bytes a thread gets at a time.
    pub piece_len: usize,
    /// Whether a header without rows is a table. It is not for a source; it may be for a table of a release.
    pub allow_empty: bool,
    /// How many rows there may be. Reading stops soon after there are more.
    pub most_rows: u64,
    /// How many bytes of text there may be. Reading stops soon after there are more.
    pub most_bytes: u64,
    /// How the file is encoded; when absent, a byte order mark tells, and without one it is UTF-8.
    pub encoding: Option<Encoding>,
    /// How texts are read.
    pub reading: TextReading,
}

impl Default for CsvOptions {
    fn default() -> Self {
        CsvOptions {
            delimiter: None,
            piece_len: 1 << 20,
            allow_empty: false,
            most_rows: u64::from(u32::MAX),
            most_bytes: u64::MAX,
            encoding: None,
            reading: TextReading::default(),
        }
    }
}

/// A CSV stream whose header has been read.
pub struct CsvReader<R> {
    pieces: Pieces<Decoder<R>>,
    delimiter: u8,
    header: Vec<String>,
    /// Whether rows begin with an index, which has no name in the header.
    has_index: bool,
    reading: TextReading,
    allow_empty: bool,
    most_rows: u64,
}

impl<R: Read> CsvReader<R> {
    /// Reads the header and settles the delimiter.
    pub fn open(input: R, options: &CsvOptions) -> Result<Self, TableError> {
        let input = Decoder::new(input, options.encoding);
        let mut pieces = Pieces::new(input, options.piece_len, options.most_bytes);
        let start = pieces.peek()?;
        dialect::check_encoding(start)?;
        let bom = if start.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        pieces.skip(bom);
        let delimiter = match options.delimiter {
            Some(delimiter) => delimiter,
            None => dialect::detect_delimiter(pieces.peek()?),
        };
        pieces.set_delimiter(delimiter);
        let header = pieces.take_record()?.ok_or(TableError::Empty)?;
        let mut header = parse::header(&header, delimiter, options.reading.recognizes)?;
        let reading = options.reading.clone();
        // pandas writes an index under an empty name; R leaves the name out altogether.
        let is_unnamed = header.first().is_some_and(String::is_empty);
        if is_unnamed {
            header.remove(0);
        }
        let has_index =
            is_unnamed || reading.recognizes && parse::begins_with_row_name(pieces.peek()?, delimiter, header.len());
        let (allow_empty, most_rows) = (options.allow_empty, options.most_rows);
        Ok(CsvReader { pieces, delimiter, header, has_index, reading, allow_empty, most_rows })
    }

    /// The column names.
    pub fn header(&self) -> &[String] {
        &self.header
    }

    /// Whether the first field of every row is an index without a name, as pandas and R write it. It is passed over.
    pub fn has_index(&self) -> bool {
        self.has_index
    }

    /// The delimiter in use.
    pub fn delimiter(&self) -> char {
        char::from(self.delimiter)
    }

    /// Reads the wanted columns, in the order they are asked for; all others are passed over.
    pub fn read(self, wanted: &[ColumnRequest]) -> Result<Table, TableError> {
        self.read_with(wanted, &no_progress)
    }

    /// Like [`CsvReader::read`], and reports how many bytes are done.
    pub fn read_with(self, wanted: &[ColumnRequest], progress: Progress<'_>) -> Result<Table, TableError> {
        let n_before = usize::from(self.has_index);
        let places: Vec<usize> = resolve(&self.header, wanted)?.into_iter().map(|place| place + n_before).collect();
        let selection = FieldSelection::new(self.delimiter, self.header.len() + n_before, &places);
        let parsed = parse_all(self.pieces, &selection, self.most_rows, progress)?;
        let rows: usize = parsed.iter().map(|piece| piece.rows).sum();
        if rows == 0 && !self.allow_empty {
            return Err(TableError::NoRows);
        }
        let mut by_column: Vec<Vec<ParsedColumn>> = wanted.iter().map(|_| Vec::with_capacity(parsed.len())).collect();
        for piece in parsed {
            for (all, local) in by_column.iter_mut().zip(piece.columns) {
                all.push(local);
            }
        }
        let columns = wanted.par_iter().zip(by_column).map(|(request, locals)| {
            progress(0);
            merge(request, &self.reading, locals)
        });
        Ok(Table::new(columns.collect::<Result<_, _>>()?))
    }
}

impl<R: Read> CsvReader<R> {
    /// Reads the wanted columns piece by piece, so that no more than a few pieces are in memory: `each` is handed the rows
    /// of one piece after the other, by column, as positions in dictionaries that only grow. In the end every dictionary is
    /// returned, as a column with one row per position.
    pub fn read_pieces<E: From<TableError>>(
        mut self,
        wanted: &[ColumnRequest],
        each: &mut dyn FnMut(Vec<Codes>) -> Result<(), E>,
        progress: Progress<'_>,
    ) -> Result<Vec<Column>, E> {
        let n_before = usize::from(self.has_index);
        let places: Vec<usize> = resolve(&self.header, wanted)?.into_iter().map(|place| place + n_before).collect();
        let selection = FieldSelection::new(self.delimiter, self.header.len() + n_before, &places);
        let mut all: Vec<dictionary::MergedTexts> = wanted.iter().map(|_| dictionary::MergedTexts::default()).collect();
        let at_once = rayon::current_num_threads() * PIECES_PER_THREAD;
        let mut rows = 0;
        loop {
            let mut pieces = Vec::with_capacity(at_once);
            let mut cut_error = None;
            while pieces.len() < at_once && cut_error.is_none() {
                match self.pieces.next_piece() {
                    Ok(Some(piece)) => pieces.push(piece),
                    Ok(None) => break,
                    Err(error) => cut_error = Some(error),
                }
            }
            let is_last = pieces.len() < at_once;
            let n_bytes = pieces.iter().map(|piece| piece.bytes.len() as u64).sum();
            let parse = |piece: &pieces::Piece| parse::piece(&piece.bytes, piece.first_line, &selection);
            let parsed: Vec<_> = pieces.par_iter().map(parse).collect();
            drop(pieces);
            // The first error in the order of the file, whatever thread met it.
            for piece in parsed {
                let piece = piece?;
                rows += piece.rows as u64;
                if rows > self.most_rows {
                    return Err(TableError::TooManyRows { limit: self.most_rows }.into());
                }
                let columns = all.par_iter_mut().zip(piece.columns);
                each(columns.map(|(all, local)| all.absorb(local).in_dictionary(all.len())).collect())?;
            }
            progress(n_bytes);
            if let Some(error) = cut_error {
                return Err(error.into());
            }
            if is_last {
                break;
            }
        }
        if rows == 0 && !self.allow_empty {
            return Err(TableError::NoRows.into());
        }
        let entries = |(request, texts): (&ColumnRequest, dictionary::MergedTexts)| {
            let all: Vec<Code> = (0..texts.len() as Code).collect();
            let chunk = DictionaryChunk { codes: Codes::collect(all.len(), all.iter().copied()), to_dictionary: all };
            column(request, &self.reading, &texts.into_texts(), vec![chunk])
        };
        let columns: Vec<_> = wanted.par_iter().zip(all).map(entries).collect();
        Ok(columns.into_iter().collect::<Result<_, _>>()?)
    }
}

/// Pieces in flight per thread: enough to keep all threads busy, few enough to keep memory small.
const PIECES_PER_THREAD: usize = 3;

/// Cuts and parses. The first error in file order wins, whichever thread met it; having more rows than allowed is such
/// an error.
fn parse_all<R: Read>(
    mut pieces: Pieces<R>,
    selection: &FieldSelection,
    most_rows: u64,
    progress: Progress<'_>,
) -> Result<Vec<ParsedPiece>, TableError> {
    let (n_rows, has_failed) = (AtomicU64::new(0), AtomicBool::new(false));
    let in_flight = (Mutex::new(0usize), Condvar::new());
    let limit = rayon::current_num_threads() * PIECES_PER_THREAD;
    let done: Mutex<Vec<(usize, Result<ParsedPiece, TableError>)>> = Mutex::new(Vec::new());
    let mut cut_error = None;
    rayon::in_place_scope(|scope| {
        for index in 0.. {
            wait_below(limit, &in_flight);
            let piece = match pieces.next_piece() {
                Ok(Some(piece)) => piece,
                Ok(None) => break,
                Err(error) => {
                    cut_error = Some(error);
                    break;
                }
            };
            let (in_flight, done, n_rows, has_failed) = (&in_flight, &done, &n_rows, &has_failed);
            scope.spawn(move |_| {
                let result = parse::piece(&piece.bytes, piece.first_line, selection);
                let n_bytes = piece.bytes.len() as u64;
                drop(piece);
                n_rows.fetch_add(result.as_ref().map_or(0, |piece| piece.rows as u64), Ordering::Relaxed);
                has_failed.fetch_or(result.is_err(), Ordering::Relaxed);
                lock(done).push((index, result));
                *lock(&in_flight.0) -= 1;
                in_flight.1.notify_one();
                // Last, because it does not return once the work is to stop, and the cutting thread waits for the count
                // above.
                progress(n_bytes);
            });
            progress(0);
            if has_failed.load(Ordering::Relaxed) || n_rows.load(Ordering::Relaxed) > most_rows {
                break;
            }
        }
    });
    let mut done = done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    done.sort_by_key(|(index, _)| *index);
    let (mut parsed, mut n_rows) = (Vec::with_capacity(done.len()), 0);
    for (_, piece) in done {
        let piece = piece?;
        n_rows += piece.rows as u64;
        if n_rows > most_rows {
            return Err(TableError::TooManyRows { limit: most_rows });
        }
        parsed.push(piece);
    }
    match cut_error {
        Some(error) => Err(error),
        None => Ok(parsed),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Waits for a free slot. A thread of the pool does other work meanwhile, so that a pool of one cannot deadlock.
fn wait_below(limit: usize, (count, freed): &(Mutex<usize>, Condvar)) {
    let mut busy = lock(count);
    while *busy >= limit {
        if rayon::current_thread_index().is_some() {
            drop(busy);
            rayon::yield_now();
            busy = lock(count);
        } else {
            busy = freed.wait(busy).unwrap_or_else(std::sync::PoisonError::into_inner);
        }
    }
    *busy += 1;
}

/// One column from the pieces' dictionaries.
fn merge(request: &ColumnRequest, reading: &TextReading, locals: Vec<ParsedColumn>) -> Result<Column, TableError> {
    let mut all = dictionary::MergedTexts::default();
    let chunks: Vec<DictionaryChunk> = locals.into_iter().map(|local| all.absorb(local)).collect();
    column(request, reading, &all.into_texts(), chunks)
}

/// One column from its dictionary of texts.
fn column(
    request: &ColumnRequest,
    reading: &TextReading,
    texts: &dictionary::Texts,
    chunks: Vec<DictionaryChunk>,
) -> Result<Column, TableError> {
    let present: Vec<&str> = texts.iter().filter(|text| !reading.is_missing(text)).collect();
    let (kind, style) = match request.kind {
        Some(kind) => (kind, Style::of(reading, kind, &present).unwrap_or(Style::Plain)),
        None => Style::infer(reading, &present),
    };
    let ranks = match kind {
        Kind::Ordinal if request.kind.is_none() => bands(&present)
            .map(|ranks| present.iter().copied().zip(ranks).collect::<BTreeMap<&str, usize>>())
            .unwrap_or_default(),
        Kind::Ordinal => request.ranks(),
        _ => BTreeMap::new(),
    };
    let mut order = Vec::new();
    let mut values = Vec::with_capacity(texts.iter().len());
    for text in texts.iter() {
        let is_missing = reading.is_missing(text);
        let value = if is_missing { None } else { Some(value(request, kind, &style, text)?) };
        if kind == Kind::Ordinal {
            order.push(if is_missing { 0 } else { rank(request, &ranks, text)? });
        }
        values.push(value);
    }
    Ok(Column::from_dictionary(&request.name, kind, values, &order, chunks))
}

fn value(request: &ColumnRequest, kind: Kind, style: &Style, text: &str) -> Result<Value, TableError> {
    style.parse(kind, text).ok_or_else(|| TableError::WrongKind {
        column: request.name.clone(),
        value: text.chars().take(40).collect(),
        kind,
    })
}

fn rank(request: &ColumnRequest, ranks: &BTreeMap<&str, usize>, text: &str) -> Result<usize, TableError> {
    ranks
        .get(text)
        .copied()
        .ok_or_else(|| TableError::NotInOrder { column: request.name.clone(), value: text.chars().take(40).collect() })
}
