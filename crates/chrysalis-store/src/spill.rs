//! Rows that wait on disk while a table that does not fit into memory is published.
//!
//! LEAK: these are the owner's microdata. The folder stands beside the release, so that it is on a disk that the owner
//! chose; nobody but the owner may look into it (mode 700, its files 600); it is removed on every exit, and after a
//! crash by the next run, which finds it without its lock.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chrysalis_table::{Codes, Column, Domain, Kind, Table, Value, each_width};

use crate::StoreError;
use crate::temporary::{TemporaryFolder, parent_of, remove_abandoned};

/// A private folder for rows that wait. It is removed with this value.
pub struct Spill {
    folder: TemporaryFolder,
    /// What messages name: the place of the release.
    beside: PathBuf,
}

/// A file of such a folder that is being written.
pub struct SpillFile {
    file: BufWriter<File>,
    beside: PathBuf,
}

/// Bytes that wait in memory until they are written, by file: there may be many files.
const BUFFER: usize = 1 << 16;

impl Spill {
    /// Makes a folder beside a place, and clears away what killed runs left there.
    pub fn beside(place: &Path) -> Result<Self, StoreError> {
        let parent = parent_of(place);
        let failed = |source: io::Error| StoreError::Io {
            action: "keep rows beside",
            path: place.to_owned(),
            source: source.kind().into(),
        };
        remove_abandoned(&parent);
        let folder = TemporaryFolder::create_for(&parent, 0o700).map_err(failed)?;
        Ok(Spill { folder, beside: place.to_owned() })
    }

    /// Begins a file.
    pub fn write(&self, name: &str) -> Result<SpillFile, StoreError> {
        let opened = OpenOptions::new().write(true).create_new(true).mode(0o600).open(self.path(name));
        let file = opened.map_err(|error| self.failed(&error))?;
        Ok(SpillFile { file: BufWriter::with_capacity(BUFFER, file), beside: self.beside.clone() })
    }

    /// All of a file; nothing if it was never begun.
    pub fn read(&self, name: &str) -> Result<Vec<u8>, StoreError> {
        match fs::read(self.path(name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            read => read.map_err(|error| self.failed(&error)),
        }
    }

    /// A file from its beginning.
    pub fn reader(&self, name: &str) -> Result<impl Read + use<>, StoreError> {
        let file = File::open(self.path(name)).map_err(|error| self.failed(&error))?;
        Ok(BufReader::with_capacity(1 << 18, file))
    }

    /// Removes a file whose rows are no longer needed.
    pub fn remove(&self, name: &str) -> Result<(), StoreError> {
        match fs::remove_file(self.path(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(self.failed(&error)),
            _ => Ok(()),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The folder's own name is nobody's business.
    fn failed(&self, error: &io::Error) -> StoreError {
        StoreError::Io { action: "keep rows beside", path: self.beside.clone(), source: error.kind().into() }
    }

    /// Keeps rows as positions in dictionaries that are not complete yet: see [`Spill::pieces`].
    pub fn add_piece(file: &mut SpillFile, columns: &[Codes]) -> Result<(), StoreError> {
        let rows = columns.first().map_or(0, Codes::len) as u64;
        file.add(&rows.to_le_bytes())?;
        for codes in columns {
            file.add(&bytes_of(codes))?;
        }
        Ok(())
    }

    /// Hands back what [`Spill::add_piece`] kept, piece by piece.
    pub fn pieces(
        &self,
        name: &str,
        n_columns: usize,
        each: &mut dyn FnMut(Vec<Codes>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let mut reader = self.reader(name)?;
        loop {
            let mut head = [0; 8];
            match reader.read_exact(&mut head) {
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
                read => read.map_err(|error| self.failed(&error))?,
            }
            let rows = u64::from_le_bytes(head) as usize;
            let read = (0..n_columns).map(|_| codes_from(&mut reader, rows)).collect::<io::Result<Vec<Codes>>>();
            each(read.map_err(|error| self.failed(&error))?)?;
        }
    }

    /// Keeps a table until [`Spill::read_table`] asks for it.
    pub fn write_table(&self, name: &str, table: &Table) -> Result<(), StoreError> {
        let mut file = self.write(name)?;
        file.add(&(table.columns().len() as u64).to_le_bytes())?;
        file.add(&(table.rows() as u64).to_le_bytes())?;
        for column in table.columns() {
            let domain = column.domain();
            file.text(column.name())?;
            file.text(domain.kind().name())?;
            file.add(&[u8::from(domain.has_missing())])?;
            file.add(&(domain.values().len() as u64).to_le_bytes())?;
            for value in domain.values() {
                file.text(&value.to_string())?;
            }
            file.add(&bytes_of(column.codes()))?;
        }
        file.finish()
    }

    /// A table that was kept.
    pub fn read_table(&self, name: &str) -> Result<Table, StoreError> {
        let mut reader = self.reader(name)?;
        table_from(&mut reader).map_err(|error| self.failed(&error))
    }
}

impl SpillFile {
    /// Appends bytes.
    pub fn add(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        self.file.write_all(bytes).map_err(|error| self.failed(&error))
    }

    /// Hands over what still waits in memory.
    pub fn finish(mut self) -> Result<(), StoreError> {
        self.file.flush().map_err(|error| self.failed(&error))
    }

    fn text(&mut self, text: &str) -> Result<(), StoreError> {
        self.add(&(text.len() as u32).to_le_bytes())?;
        self.add(text.as_bytes())
    }

    fn failed(&self, error: &io::Error) -> StoreError {
        StoreError::Io { action: "keep rows beside", path: self.beside.clone(), source: error.kind().into() }
    }
}

/// One byte for the width of a code, then the codes.
fn bytes_of(codes: &Codes) -> Vec<u8> {
    let width = match codes {
        Codes::U8(_) => 1,
        Codes::U16(_) => 2,
        Codes::U32(_) => 4,
    };
    let mut bytes = Vec::with_capacity(1 + codes.len() * width);
    bytes.push(width as u8);
    each_width!(codes, codes => bytes.extend(codes.iter().flat_map(|code| code.to_le_bytes())));
    bytes
}

fn codes_from(reader: &mut impl Read, rows: usize) -> io::Result<Codes> {
    let mut width = [0];
    reader.read_exact(&mut width)?;
    let mut bytes = vec![0; rows * usize::from(width[0])];
    reader.read_exact(&mut bytes)?;
    match width[0] {
        1 => Ok(Codes::U8(bytes)),
        2 => Ok(Codes::U16(bytes.as_chunks::<2>().0.iter().map(|bytes| u16::from_le_bytes(*bytes)).collect())),
        4 => Ok(Codes::U32(bytes.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect())),
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

fn number_from(reader: &mut impl Read) -> io::Result<usize> {
    let mut bytes = [0; 8];
    reader.read_exact(&mut bytes)?;
    usize::try_from(u64::from_le_bytes(bytes)).map_err(|_| io::ErrorKind::InvalidData.into())
}

fn text_from(reader: &mut impl Read) -> io::Result<String> {
    let mut len = [0; 4];
    reader.read_exact(&mut len)?;
    let mut bytes = vec![0; u32::from_le_bytes(len) as usize];
    reader.read_exact(&mut bytes)?;
    String::from_utf8(bytes).map_err(|_| io::ErrorKind::InvalidData.into())
}

fn table_from(reader: &mut impl Read) -> io::Result<Table> {
    let wrong = || io::Error::from(io::ErrorKind::InvalidData);
    let (n_columns, rows) = (number_from(reader)?, number_from(reader)?);
    let mut columns = Vec::with_capacity(n_columns);
    for _ in 0..n_columns {
        let name = text_from(reader)?;
        let kind: Kind = text_from(reader)?.parse().map_err(|_| wrong())?;
        let mut missing = [0];
        reader.read_exact(&mut missing)?;
        let n_values = number_from(reader)?;
        let mut values = Vec::with_capacity(n_values);
        for _ in 0..n_values {
            values.push(Value::parse(kind, &text_from(reader)?).ok_or_else(wrong)?);
        }
        let domain = Domain::new(kind, values, missing[0] != 0);
        columns.push(Column::new(name, Arc::new(domain), codes_from(reader, rows)?));
    }
    Ok(Table::new(columns))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn rows_that_wait_come_back_as_they_were_and_nobody_else_may_read_them() {
        let place = tempfile::tempdir().unwrap();
        let spill = Spill::beside(&place.path().join("release")).unwrap();
        let table = Table::new(vec![
            Column::integers("a", &[3, -1, 3]),
            Column::texts("b", ["x", "", "y\n"].into_iter()),
            Column::reals("c", &[0.1, 1e300, -2.5]),
        ]);
        spill.write_table("t", &table).unwrap();
        assert_eq!(spill.read_table("t").unwrap(), table);
        let mut file = spill.write("p").unwrap();
        let pieces = [vec![Codes::U8(vec![1, 2])], vec![Codes::U16(vec![300])], vec![Codes::U32(vec![70_000, 1])]];
        pieces.iter().for_each(|piece| Spill::add_piece(&mut file, piece).unwrap());
        file.finish().unwrap();
        let mut back = Vec::new();
        spill.pieces("p", 1, &mut |piece| Ok(back.push(piece))).unwrap();
        assert_eq!(back, pieces);
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(spill.folder.path()), mode(&spill.path("p"))), (0o700, 0o600));
        assert_eq!(spill.read("nothing").unwrap(), Vec::<u8>::new());
        spill.remove("p").unwrap();
        drop(spill);
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
    }

    /// What a killed run leaves has no lock; the next run removes it, and leaves what is locked alone.
    #[test]
    fn rows_that_a_killed_run_left_are_removed_by_the_next_one() {
        let place = tempfile::tempdir().unwrap();
        let release = place.path().join("release");
        let left = place.path().join(".chrysalis-abc123");
        fs::create_dir(&left).unwrap();
        fs::write(left.join("cell-1"), "rows").unwrap();
        let other = Spill::beside(&release).unwrap();
        let spill = Spill::beside(&release).unwrap();
        assert!(!left.exists() && other.folder.path().exists() && spill.folder.path().exists());
    }
}
