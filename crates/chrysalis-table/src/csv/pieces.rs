//! Cuts a byte stream into pieces that begin and end at record borders.

use std::io::{ErrorKind, Read};

use crate::TableError;

/// A record longer than this is taken for a quote that was never closed.
const MAX_RECORD: usize = 64 << 20;

/// Bytes to look at when guessing what kind of file this is.
const SAMPLE: usize = 64 << 10;

/// Whole records, and the line number the first one starts on.
pub(super) struct Piece {
    pub(super) bytes: Vec<u8>,
    pub(super) first_line: u64,
}

pub(super) struct Pieces<R> {
    input: R,
    piece_len: usize,
    delimiter: u8,
    /// Bytes read and not yet handed out.
    pending: Vec<u8>,
    at_end: bool,
    line: u64,
    n_bytes: u64,
    most_bytes: u64,
}

impl<R: Read> Pieces<R> {
    pub(super) fn new(input: R, piece_len: usize, most_bytes: u64) -> Self {
        let (piece_len, pending) = (piece_len.max(1), Vec::new());
        Pieces { input, piece_len, delimiter: b',', pending, at_end: false, line: 1, n_bytes: 0, most_bytes }
    }

    pub(super) fn set_delimiter(&mut self, delimiter: u8) {
        self.delimiter = delimiter;
    }

    /// The next bytes of the stream, without consuming them.
    pub(super) fn peek(&mut self) -> Result<&[u8], TableError> {
        self.fill(self.piece_len.max(SAMPLE))?;
        Ok(&self.pending)
    }

    pub(super) fn skip(&mut self, n: usize) {
        self.pending.drain(..n);
    }

    /// The next record with its line end; blank lines before it are skipped.
    pub(super) fn take_record(&mut self) -> Result<Option<Vec<u8>>, TableError> {
        loop {
            let border = loop {
                let border = borders(&self.pending, self.delimiter).next();
                match border {
                    Some(border) => break border,
                    None if self.at_end => break self.pending.len(),
                    None => self.grow()?,
                }
            };
            if border == 0 {
                return Ok(None);
            }
            let record: Vec<u8> = self.pending.drain(..border).collect();
            self.line += count_lines(&record);
            if !record.iter().all(|byte| matches!(byte, b'\n' | b'\r')) {
                return Ok(Some(record));
            }
        }
    }

    /// The next whole records, about as many bytes as a piece should have.
    pub(super) fn next_piece(&mut self) -> Result<Option<Piece>, TableError> {
        self.fill(self.piece_len)?;
        let border = loop {
            match last_border(&self.pending, self.delimiter) {
                _ if self.at_end => break self.pending.len(),
                Some(border) => break border,
                None => self.grow()?,
            }
        };
        if border == 0 {
            return Ok(None);
        }
        let rest = self.pending[border..].to_vec();
        let mut bytes = std::mem::replace(&mut self.pending, rest);
        bytes.truncate(border);
        let first_line = self.line;
        self.line += count_lines(&bytes);
        Ok(Some(Piece { bytes, first_line }))
    }

    fn grow(&mut self) -> Result<(), TableError> {
        if self.pending.len() > MAX_RECORD {
            return Err(TableError::LongRecord { line: self.line, limit: MAX_RECORD });
        }
        self.fill((self.pending.len() * 2).max(self.piece_len))
    }

    /// Reads until `len` bytes are pending or the stream ends.
    fn fill(&mut self, len: usize) -> Result<(), TableError> {
        let mut filled = self.pending.len();
        if self.at_end || filled >= len {
            return Ok(());
        }
        self.pending.resize(len, 0);
        while filled < len && !self.at_end {
            match self.input.read(&mut self.pending[filled..]) {
                Ok(0) => self.at_end = true,
                Ok(n) => {
                    filled += n;
                    self.n_bytes += n as u64;
                    if self.n_bytes > self.most_bytes {
                        return Err(TableError::TooMuchText { limit: self.most_bytes });
                    }
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        self.pending.truncate(filled);
        Ok(())
    }
}

fn count_lines(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

/// One past the last line end outside quotes.
fn last_border(bytes: &[u8], delimiter: u8) -> Option<usize> {
    if memchr::memchr(b'"', bytes).is_none() {
        return memchr::memrchr(b'\n', bytes).map(|end| end + 1);
    }
    borders(bytes, delimiter).last()
}

/// One past every line end outside quotes. As in the parser, a quote opens a field only where the field begins.
fn borders(bytes: &[u8], delimiter: u8) -> impl Iterator<Item = usize> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            if bytes.get(at) == Some(&b'"') {
                at = after_quoted(bytes, at + 1)?;
            }
            let end = at + memchr::memchr2(delimiter, b'\n', bytes.get(at..)?)?;
            at = end + 1;
            if bytes[end] == b'\n' {
                return Some(at);
            }
        }
    })
}

/// One past the quote that closes a field whose content starts at `from`; a doubled quote does not close it.
pub(super) fn after_quoted(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        at += memchr::memchr(b'"', bytes.get(at..)?)? + 1;
        if bytes.get(at) != Some(&b'"') {
            return Some(at);
        }
        at += 1;
    }
}
