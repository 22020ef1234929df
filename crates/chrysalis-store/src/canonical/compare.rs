//! Where a CSV file departs from what the writer would write, and what it has instead.

use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;

use chrysalis_table::{Progress, Table};

use crate::Format;
use crate::folder::write_bytes;

/// How a file differs from what the writer would write for its table, with the line where that begins.
pub(super) fn csv(path: &Path, table: &Table, progress: Progress<'_>) -> io::Result<String> {
    let mut start = Vec::new();
    File::open(path)?.take(4).read_to_end(&mut start)?;
    let packed = [(&b"\x1f\x8b"[..], "gzip"), (b"\x28\xb5\x2f\xfd", "zstd"), (b"\xef\xbb\xbf", "")];
    match packed.iter().find(|(magic, _)| start.starts_with(magic)) {
        Some((_, "")) => return Ok("it begins with a byte order mark".to_owned()),
        Some((_, packed)) => return Ok(format!("it is packed by {packed}, which has room for names and comments")),
        None => {}
    }
    let mut against = Against { file: BufReader::new(File::open(path)?), line: 1, last: b'\n', found: None };
    write_bytes(table, &mut against, Format::Csv, &|_| progress(0))?;
    let (line, what) = match against.found {
        Some((line, theirs)) => (line, describe(theirs, against.last)),
        None => (against.line, "there is more after the table"),
    };
    Ok(format!("{what}, in line {line}"))
}

/// Describes the file's first byte that differs, after the last byte that was the same.
fn describe(theirs: Option<u8>, last: u8) -> &'static str {
    match theirs {
        Some(b' ' | b'\t') => "there are blanks around a cell",
        Some(b'\r') => "lines end differently",
        Some(b'\n') if last == b'\n' => "there is an empty line",
        Some(b'"') => "a cell has quotes that it does not need",
        None => "the file ends too soon",
        Some(_) => "a cell is spelled differently",
    }
}

/// Compares what is written to it with a file, up to the first difference.
struct Against {
    file: BufReader<File>,
    line: u64,
    /// The last byte that was the same.
    last: u8,
    /// The line, and what the file has there; nothing if it has ended.
    found: Option<(u64, Option<u8>)>,
}

impl Write for Against {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.found.is_some() {
            return Ok(bytes.len());
        }
        let mut theirs = Vec::with_capacity(bytes.len());
        (&mut self.file).take(bytes.len() as u64).read_to_end(&mut theirs)?;
        for (at, &byte) in bytes.iter().enumerate() {
            if theirs.get(at) != Some(&byte) {
                self.found = Some((self.line, theirs.get(at).copied()));
                break;
            }
            self.last = byte;
            self.line += u64::from(byte == b'\n');
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
