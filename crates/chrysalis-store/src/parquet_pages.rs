//! What the pages of a Parquet file claim, read from their headers before anything is unpacked.
//!
//! A page says how many bytes it unpacks to and how many values it holds, and a reader makes room for both. A page of a
//! few bytes can claim gigabytes, so claims are compared with what the declared rows can need.

use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};

use parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};

use crate::StoreError;
use crate::limits::Declared;

/// How long a page header may be: its statistics hold two values.
const MOST_HEADER: usize = 64 << 10;
/// How deep lists and structs may be nested: a page header has three levels.
const MOST_DEPTH: usize = 8;

/// Plain, dictionary, run lengths and packed levels: with these a page holds no more than it says. Others, such as
/// prefixes of the previous value, can say a lot in no bytes.
const ENCODINGS: [i64; 5] = [0, 2, 3, 4, 8];

const DATA_PAGE: i64 = 0;
const DICTIONARY_PAGE: i64 = 2;
const DATA_PAGE_V2: i64 = 3;

/// What all pages examined so far claim to unpack to.
#[derive(Default)]
pub(crate) struct Claims {
    unpacked: u64,
}

impl Claims {
    /// Adds the pages of one column in one row group, and compares what they claim with the rows.
    pub(crate) fn add(
        &mut self,
        file: impl Read + Seek,
        name: &str,
        group: &RowGroupMetaData,
        chunk: &ColumnChunkMetaData,
        declared: &Declared,
    ) -> Result<(), StoreError> {
        let broken = |problem: &str| StoreError::Parquet { path: name.to_owned(), problem: problem.to_owned() };
        let outside = |_: io::Error| broken("a page lies outside of it");
        let count = |n: i64| u64::try_from(n).map_err(|_| broken("it has a negative number of something"));
        let rows = count(group.num_rows())?;
        let (start, length) = place(chunk).ok_or_else(|| broken("a column has no place in it"))?;
        let mut file = BufReader::with_capacity(MOST_HEADER, file);
        file.seek(SeekFrom::Start(start)).map_err(outside)?;
        let (mut at, mut values, mut n_pages) = (0, 0_u64, 0_u64);
        while at < length {
            let found = header(&mut file, start.saturating_add(at)).map_err(outside)?;
            let (page, header) = found.ok_or_else(|| broken("a page has no header"))?;
            let (packed, size, held) = (count(page.packed)?, count(page.unpacked)?, count(page.values)?);
            self.unpacked = self.unpacked.saturating_add(size);
            declared.check_text(name, self.unpacked)?;
            n_pages += 1;
            match page.kind {
                // Every entry takes at least a byte, unless it is the only one.
                DICTIONARY_PAGE if held > size.max(1) => {
                    return Err(declared.swollen(name, format!("has a dictionary that claims {held} entries")));
                }
                DATA_PAGE | DATA_PAGE_V2 => {
                    values = values.saturating_add(held);
                    if !ENCODINGS.contains(&page.encoding) {
                        let problem = format!("a page has the encoding {}, which releases do not use", page.encoding);
                        return Err(broken(&problem));
                    }
                }
                _ => {}
            }
            if values > rows || n_pages > rows.saturating_add(16) {
                let claim = format!("has {n_pages} pages that claim {values} values in a group of {rows} rows");
                return Err(declared.swollen(name, claim));
            }
            at = at.saturating_add(header).saturating_add(packed);
            file.seek_relative(i64::try_from(packed).unwrap_or(i64::MAX)).map_err(outside)?;
        }
        Ok(())
    }
}

/// Where the pages of a column lie.
fn place(chunk: &ColumnChunkMetaData) -> Option<(u64, u64)> {
    let start = chunk.dictionary_page_offset().filter(|start| *start > 0).unwrap_or(chunk.data_page_offset());
    Some((u64::try_from(start).ok()?, u64::try_from(chunk.compressed_size()).ok()?))
}

/// What a page header says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct PageHeader {
    kind: i64,
    unpacked: i64,
    packed: i64,
    values: i64,
    encoding: i64,
}

/// The page header at the file's position, which is `at`, and its length in bytes; `None` if there is none.
fn header<R: Read + Seek>(file: &mut BufReader<R>, at: u64) -> io::Result<Option<(PageHeader, u64)>> {
    let mut found = parse(file.fill_buf()?);
    if found.is_none() {
        // The buffer may end inside the header: it is filled again from the start of the header.
        file.seek(SeekFrom::Start(at))?;
        found = parse(file.fill_buf()?);
    }
    file.consume(found.map_or(0, |(_, length)| length));
    Ok(found.map(|(page, length)| (page, length as u64)))
}

fn parse(bytes: &[u8]) -> Option<(PageHeader, usize)> {
    let mut reader = Compact { bytes, at: 0 };
    let mut page = PageHeader::default();
    reader.fields(0, &mut |path, number| match path {
        [1] => page.kind = number,
        [2] => page.unpacked = number,
        [3] => page.packed = number,
        [5 | 7 | 8, 1] => page.values = number,
        [5, 2] | [8, 4] => page.encoding = number,
        _ => {}
    })?;
    Some((page, reader.at))
}

/// Thrift's compact protocol, as much of it as page headers need: numbers by their path of field ids.
struct Compact<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Compact<'_> {
    fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    fn skip(&mut self, n: u64) -> Option<()> {
        self.at = self.at.checked_add(usize::try_from(n).ok()?)?;
        (self.at <= self.bytes.len()).then_some(())
    }

    fn varint(&mut self) -> Option<u64> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    fn number(&mut self) -> Option<i64> {
        let folded = self.varint()?;
        Some((folded >> 1) as i64 ^ -((folded & 1) as i64))
    }

    /// The fields of a struct, to its end.
    fn fields(&mut self, depth: usize, found: &mut dyn FnMut(&[i64], i64)) -> Option<()> {
        if depth > MOST_DEPTH {
            return None;
        }
        let mut id = 0_i64;
        loop {
            let head = self.byte()?;
            let kind = head & 0x0f;
            if kind == 0 {
                return Some(());
            }
            id = if head >> 4 == 0 { self.number()? } else { id.checked_add(i64::from(head >> 4))? };
            match kind {
                // In a struct, the kind of a field tells true from false.
                1 | 2 => {}
                3 => self.skip(1)?,
                4..=6 => found(&[id], self.number()?),
                12 => self.fields(depth + 1, &mut |path, number| {
                    if let [inner] = path {
                        found(&[id, *inner], number);
                    }
                })?,
                kind => self.skip_value(kind, depth)?,
            }
        }
    }

    fn skip_value(&mut self, kind: u8, depth: usize) -> Option<()> {
        match kind {
            // In a list, a boolean takes a byte.
            1..=3 => self.skip(1),
            4..=6 => self.varint().map(|_| ()),
            7 => self.skip(8),
            8 => {
                let length = self.varint()?;
                self.skip(length)
            }
            9 | 10 => {
                let head = self.byte()?;
                let n = if head >> 4 == 15 { self.varint()? } else { u64::from(head >> 4) };
                (0..n).try_for_each(|_| self.skip_item(head & 0x0f, depth))
            }
            12 => self.fields(depth + 1, &mut |_, _| {}),
            // Page headers have no maps.
            _ => None,
        }
    }

    fn skip_item(&mut self, kind: u8, depth: usize) -> Option<()> {
        if depth > MOST_DEPTH { None } else { self.skip_value(kind, depth + 1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Field headers are (delta of the id) · 16 + kind; numbers are zigzag-encoded, so that 1 is 2 and −1 is 1.
    #[test]
    fn a_page_header_is_read_and_what_does_not_matter_is_passed_over() {
        let data = [
            0x15, 0x00, // 1: kind 0, a data page
            0x15, 0x80, 0x02, // 2: unpacked 128
            0x15, 0x14, // 3: packed 10
            0x15, 0x01, // 4: a checksum, −1
            0x1c, 0x15, 0x06, 0x15, 0x10, 0x15, 0x06, 0x15, 0x06, // 5: 3 values, encoding 8, levels by runs
            0x1c, 0x18, 0x02, b'a', b'b', 0x11, 0x00, // 5.5: statistics: bytes, and a boolean
            0x00, 0x00, 0xff,
        ];
        let expected = PageHeader { kind: 0, unpacked: 128, packed: 10, values: 3, encoding: 8 };
        assert_eq!(parse(&data), Some((expected, data.len() - 1)));
        for end in 0..data.len() - 1 {
            assert_eq!(parse(&data[..end]), None, "{end}");
        }
        assert_eq!(parse(&[0x1c; 100]), None, "structs inside each other");
        assert_eq!(parse(&[0x19, 0xf5, 0xff, 0xff, 0xff, 0xff, 0x0f]), None, "a list without end");
    }
}
