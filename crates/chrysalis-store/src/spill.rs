//! Rows that wait on disk while a table that does not fit into memory is published.
//!
//! LEAK: these are the owner's microdata. The folder stands beside the release, so that it is on a disk that the owner
//! chose; nobody but the owner may look into it (mode 700, its files 600); it is removed on every exit, and after a
//! crash by the next run, which finds it without its lock.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use chrysalis_table::{Codes, each_width};

use crate::temporary::{TemporaryFolder, parent_of, remove_abandoned};
use crate::{SharedFolder, StoreError};

/// A private folder for rows that wait. It is removed with this value.
pub struct Spill {
    folder: TemporaryFolder,
    /// What messages name: the place of the release.
    beside: PathBuf,
}

/// A file of such a folder that is being written. It is open only while bytes go to disk, so that there may be more of them
/// than a process may have open.
pub struct SpillFile {
    path: PathBuf,
    waiting: Vec<u8>,
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
        let folder = TemporaryFolder::private_in(&parent).map_err(failed)?;
        Ok(Spill { folder, beside: place.to_owned() })
    }

    /// The same folder for processes that help.
    pub fn shared(&self) -> SharedFolder {
        SharedFolder::at(self.folder.path(), &self.beside)
    }

    /// Begins a file.
    pub fn write(&self, name: &str) -> Result<SpillFile, StoreError> {
        let path = self.path(name);
        let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        made.map_err(|error| self.failed(&error))?;
        Ok(SpillFile { path, waiting: Vec::new(), beside: self.beside.clone() })
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

    /// Keeps bytes under a name.
    pub fn keep(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        let mut file = self.write(name)?;
        file.add(bytes)?;
        file.finish()
    }

    /// The folder itself.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Hands back lists of rows that were added one after the other, each with its number of rows before it. `len` says how
    /// many bytes so many rows have; each list is handed on with its number.
    pub fn blocks<E: From<StoreError>>(
        &self,
        name: &str,
        len: &dyn Fn(u32) -> usize,
        each: &mut dyn FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut reader = self.reader(name)?;
        let mut block = Vec::new();
        loop {
            let mut head = [0; 4];
            match reader.read_exact(&mut head) {
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
                read => read.map_err(|error| self.failed(&error))?,
            }
            block.clear();
            block.extend(head);
            block.resize(head.len() + len(u32::from_le_bytes(head)), 0);
            reader.read_exact(&mut block[head.len()..]).map_err(|error| self.failed(&error))?;
            each(&block)?;
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
    pub fn pieces<E: From<StoreError>>(
        &self,
        name: &str,
        n_columns: usize,
        each: &mut dyn FnMut(Vec<Codes>) -> Result<(), E>,
    ) -> Result<(), E> {
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
}

impl SpillFile {
    /// Appends bytes.
    pub fn add(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        self.waiting.extend_from_slice(bytes);
        if self.waiting.len() >= BUFFER { self.put_down() } else { Ok(()) }
    }

    /// Hands over what still waits in memory.
    pub fn finish(mut self) -> Result<(), StoreError> {
        self.put_down()
    }

    fn put_down(&mut self) -> Result<(), StoreError> {
        let append = || OpenOptions::new().append(true).open(&self.path)?.write_all(&self.waiting);
        append().map_err(|error| self.failed(&error))?;
        // Memory is not kept: there may be many files.
        self.waiting = Vec::new();
        Ok(())
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn rows_that_wait_come_back_as_they_were_and_nobody_else_may_read_them() {
        let place = tempfile::tempdir().unwrap();
        let spill = Spill::beside(&place.path().join("release")).unwrap();
        let mut file = spill.write("p").unwrap();
        let pieces = [vec![Codes::U8(vec![1, 2])], vec![Codes::U16(vec![300])], vec![Codes::U32(vec![70_000, 1])]];
        pieces.iter().for_each(|piece| Spill::add_piece(&mut file, piece).unwrap());
        file.finish().unwrap();
        let mut back = Vec::new();
        spill
            .pieces::<StoreError>("p", 1, &mut |piece| {
                back.push(piece);
                Ok(())
            })
            .unwrap();
        assert_eq!(back, pieces);
        spill.keep("k", b"kept").unwrap();
        assert_eq!(spill.read("k").unwrap(), b"kept");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(spill.folder.path()), mode(&spill.path("p"))), (0o700, 0o600));
        assert_eq!(spill.read("nothing").unwrap(), Vec::<u8>::new());
        spill.remove("p").unwrap();
        drop(spill);
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
    }

    /// More files than a process may have open, unless somebody raised that.
    #[test]
    fn there_may_be_many_files_and_blocks_come_back_one_by_one() {
        let place = tempfile::tempdir().unwrap();
        let spill = Spill::beside(&place.path().join("release")).unwrap();
        let mut files: Vec<SpillFile> = (0..3_000).map(|n| spill.write(&format!("rows-{n}")).unwrap()).collect();
        for round in 1..=2 {
            files.iter_mut().for_each(|file| file.add(&[2, 0, 0, 0, round, round]).unwrap());
        }
        files.into_iter().for_each(|file| file.finish().unwrap());
        let mut back = Vec::new();
        spill
            .blocks::<StoreError>("rows-2999", &|rows| rows as usize, &mut |block| {
                back.push(block.to_vec());
                Ok(())
            })
            .unwrap();
        assert_eq!(back, [[2, 0, 0, 0, 1, 1], [2, 0, 0, 0, 2, 2]]);
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
