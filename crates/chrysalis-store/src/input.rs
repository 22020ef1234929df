use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use chrysalis_arrow::RecordBatchReader;
use chrysalis_table::{Codes, Column, ColumnRequest, CsvOptions, CsvReader, Progress, Table, TableError, no_progress};

use crate::batches_in::BatchesInput;
use crate::limits::Declared;
use crate::parquet_in::ParquetInput;
use crate::{ForeignFormat, StoreError};

/// Where a table comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A file.
    Path(PathBuf),
    /// Standard input, written `-`.
    Stdin,
}

impl Source {
    /// Its name in messages.
    pub fn name(&self) -> String {
        match self {
            Source::Path(path) => path.display().to_string(),
            Source::Stdin => "standard input".into(),
        }
    }
}

/// An opened table whose column names are known. Its format and its compression are recognized by its first bytes.
pub struct Input {
    name: String,
    content: Content,
    /// Bytes of the file, if known.
    size: Option<u64>,
    /// Whether they are compressed.
    is_packed: bool,
    bytes_read: Arc<AtomicU64>,
    allow_empty: bool,
}

enum Content {
    Csv(CsvReader<Box<dyn Read + Send>>),
    Parquet(ParquetInput),
    Batches(BatchesInput),
}

const GZIP: &[u8] = b"\x1f\x8b";
const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd";
const PARQUET: &[u8] = b"PAR1";

impl Input {
    /// Opens a file of a release, which must not hold more than its manifest declares.
    pub(crate) fn open_part(path: &Path, declared: &Declared) -> Result<Input, StoreError> {
        Input::open_within(&Source::Path(path.to_owned()), &declared.csv(), Some(*declared))
    }

    /// Opens a file or standard input.
    pub fn open(source: &Source, options: &CsvOptions) -> Result<Input, StoreError> {
        Input::open_within(source, options, None)
    }

    /// Opens the content of a file that is in memory already. `name` is what messages call it.
    pub fn of_bytes(name: String, bytes: Bytes, options: &CsvOptions) -> Result<Input, StoreError> {
        if bytes.starts_with(PARQUET) {
            let content = Content::Parquet(ParquetInput::from_bytes(name.clone(), bytes)?);
            let allow_empty = options.allow_empty;
            return Ok(Input::unsized_of(name, content, allow_empty));
        }
        let size = Some(bytes.len() as u64);
        Input::from_reader(name, io::Cursor::new(bytes), size, options)
    }

    fn open_within(source: &Source, options: &CsvOptions, declared: Option<Declared>) -> Result<Input, StoreError> {
        match source {
            Source::Stdin => Input::from_reader(source.name(), io::stdin(), None, options),
            Source::Path(path) => {
                let io_error = |source| StoreError::Io { action: "read", path: path.clone(), source };
                let file = File::open(path).map_err(io_error)?;
                let metadata = file.metadata().map_err(io_error)?;
                if metadata.is_dir() {
                    return Err(io_error(io::Error::other("it is a folder")));
                }
                let mut start = Vec::new();
                if metadata.is_file() {
                    (&file).take(4).read_to_end(&mut start).map_err(io_error)?;
                    io::Seek::rewind(&mut &file).map_err(io_error)?;
                }
                if start == PARQUET {
                    let content = Content::Parquet(ParquetInput::from_file(source.name(), path, declared)?);
                    return Ok(Input::unsized_of(source.name(), content, options.allow_empty));
                }
                let size = metadata.is_file().then_some(metadata.len());
                Input::from_reader(source.name(), file, size, options)
            }
        }
    }

    fn unsized_of(name: String, content: Content, allow_empty: bool) -> Input {
        Input { name, content, size: None, is_packed: false, bytes_read: Arc::default(), allow_empty }
    }

    fn from_reader(
        name: String,
        reader: impl Read + Send + 'static,
        size: Option<u64>,
        options: &CsvOptions,
    ) -> Result<Input, StoreError> {
        let table_error = |error: TableError| StoreError::Table { path: name.clone(), error };
        let bytes_read = Arc::new(AtomicU64::new(0));
        let counted = CountingReader { inner: reader, n: Arc::clone(&bytes_read) };
        let mut reader = BufReader::with_capacity(1 << 18, counted);
        let start = reader.fill_buf().map_err(|error| table_error(error.into()))?;
        if start.starts_with(PARQUET) {
            let mut bytes = Vec::new();
            reader.read_to_end(&mut bytes).map_err(|error| table_error(error.into()))?;
            let content = Content::Parquet(ParquetInput::from_bytes(name.clone(), Bytes::from(bytes))?);
            return Ok(Input { bytes_read, ..Input::unsized_of(name, content, options.allow_empty) });
        }
        if let Some(format) = ForeignFormat::of(&name, start) {
            return Err(StoreError::Foreign { path: name, format });
        }
        let is_packed = start.starts_with(GZIP) || start.starts_with(ZSTD);
        let unpacked: Box<dyn Read + Send> = if start.starts_with(GZIP) {
            Box::new(flate2::bufread::MultiGzDecoder::new(reader))
        } else if start.starts_with(ZSTD) {
            Box::new(zstd::Decoder::with_buffer(reader).map_err(|error| table_error(error.into()))?)
        } else {
            Box::new(reader)
        };
        let csv = CsvReader::open(unpacked, options).map_err(table_error)?;
        Ok(Input { name, content: Content::Csv(csv), size, is_packed, bytes_read, allow_empty: options.allow_empty })
    }

    /// Takes a table that is in memory, or comes from another program, as a stream of record batches. Messages call it
    /// `name`.
    pub fn of_batches(name: &str, batches: Box<dyn RecordBatchReader + Send>) -> Result<Input, StoreError> {
        let content = Content::Batches(BatchesInput::new(name, batches)?);
        Ok(Input::unsized_of(name.to_owned(), content, false))
    }

    /// The file, as messages name it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The column names.
    pub fn header(&self) -> &[String] {
        match &self.content {
            Content::Csv(csv) => csv.header(),
            Content::Parquet(parquet) => parquet.header(),
            Content::Batches(batches) => batches.header(),
        }
    }

    /// The columns of types that are not read, with these types. They may be there as long as nobody asks for them.
    pub fn unreadable(&self) -> Vec<(String, String)> {
        match &self.content {
            Content::Csv(_) => Vec::new(),
            Content::Parquet(parquet) => parquet.unreadable(),
            Content::Batches(batches) => batches.unreadable(),
        }
    }

    /// What was decided about the file that its owner may not expect.
    pub fn notes(&self) -> Vec<String> {
        let has_index = matches!(&self.content, Content::Csv(csv) if csv.has_index());
        let sentence = "the first column has no name: it is taken for an index, and left out";
        has_index.then(|| format!("{}: {sentence}", self.name)).into_iter().collect()
    }

    /// The delimiter of a CSV file.
    pub fn delimiter(&self) -> Option<char> {
        match &self.content {
            Content::Csv(csv) => Some(csv.delimiter()),
            Content::Parquet(_) | Content::Batches(_) => None,
        }
    }

    /// Bytes on disk, if known: what `progress` adds up to.
    pub fn size(&self) -> Option<u64> {
        self.size
    }

    /// Whether these bytes are compressed: then the table has many more.
    pub fn is_packed(&self) -> bool {
        self.is_packed
    }

    /// Reads the wanted columns.
    pub fn read(self, wanted: &[ColumnRequest]) -> Result<Table, StoreError> {
        self.read_with(wanted, &no_progress)
    }

    /// Like [`Input::read`], and reports how many bytes of a CSV file are done. For Parquet it reports nothing, but can
    /// be stopped as well.
    pub fn read_with(self, wanted: &[ColumnRequest], progress: Progress<'_>) -> Result<Table, StoreError> {
        let name = self.name;
        let table_error = |error: TableError| StoreError::Table { path: name.clone(), error };
        let told = AtomicU64::new(0);
        let tell = |_: u64| {
            let now = self.bytes_read.load(Ordering::Relaxed);
            progress(now.saturating_sub(told.fetch_max(now, Ordering::Relaxed)));
        };
        match self.content {
            Content::Csv(csv) => csv.read_with(wanted, &tell).map_err(table_error),
            Content::Parquet(parquet) => parquet.read(wanted, self.allow_empty, progress),
            Content::Batches(batches) => batches.read(wanted, progress),
        }
    }
}

impl Input {
    /// Reads the wanted columns piece by piece, so that memory follows the dictionaries and not the rows: `each` is handed
    /// the rows of one piece after the other, by column, as positions in dictionaries that only grow. In the end every
    /// dictionary is returned, as a column with one row per position. Reports what [`Input::read_with`] reports, and how
    /// many rows of other sources are done.
    pub fn read_pieces(
        self,
        wanted: &[ColumnRequest],
        each: &mut dyn FnMut(Vec<Codes>) -> Result<(), StoreError>,
        progress: Progress<'_>,
    ) -> Result<Vec<Column>, StoreError> {
        let name = self.name;
        let told = AtomicU64::new(0);
        let tell = |_: u64| {
            let now = self.bytes_read.load(Ordering::Relaxed);
            progress(now.saturating_sub(told.fetch_max(now, Ordering::Relaxed)));
        };
        match self.content {
            Content::Csv(csv) => csv
                .read_pieces(wanted, &mut |codes| each(codes).map_err(Failed::Store), &tell)
                .map_err(|failed| match failed {
                    Failed::Table(error) => StoreError::Table { path: name.clone(), error },
                    Failed::Store(error) => error,
                }),
            Content::Parquet(parquet) => parquet.read_pieces(wanted, self.allow_empty, each, progress),
            Content::Batches(batches) => batches.read_pieces(wanted, each, progress),
        }
    }
}

/// What stopped a reader of pieces: the text, or whoever took the pieces.
enum Failed {
    Table(TableError),
    Store(StoreError),
}

impl From<TableError> for Failed {
    fn from(error: TableError) -> Self {
        Failed::Table(error)
    }
}

/// Counts the bytes that come off the disk, before unpacking, so that a progress bar knows the end.
struct CountingReader<R> {
    inner: R,
    n: Arc<AtomicU64>,
}

impl<R: Read> Read for CountingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        self.n.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}
