//! What a Parquet file holds besides its table, whoever wrote it: metadata, statistics, indexes, filters, dictionary
//! entries that no row has, and bytes that belong to nothing.
//!
//! The footer and the page headers are read again here, and strictly ([`thrift`]): readers of Parquet skip fields that
//! they do not know, which are just the ones that could carry something. Field numbers are those of the format's own
//! description.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;

use chrysalis_table::{Column, Progress, Table};

use super::pages::{Plain, are_places, without_levels};
use super::thrift::{self, Fields, Thrift};

const MAGIC: &[u8] = b"PAR1";
/// The name of our writer in a file, and of the root of its schema.
const OURS: &[u8] = b"chrysalis";

/// Where the microsecond stands among the units of time.
const MICROSECOND: i64 = 2;

const DATA: i64 = 0;
const DICTIONARY: i64 = 2;
const UNCOMPRESSED: i64 = 0;
const ZSTD: i64 = 6;
const PLAIN: i64 = 0;
const RLE: i64 = 3;
const IN_DICTIONARY: i64 = 8;

/// What a file holds besides its table, in the order in which it was found; nothing if all is well.
pub(super) fn look(path: &Path, table: &Table, progress: Progress<'_>) -> io::Result<Vec<&'static str>> {
    let mut file = File::open(path)?;
    let length = file.seek(SeekFrom::End(0))?;
    let mut look = Look { file, length, table, found: Vec::new(), taken: vec![(0, 4)], progress };
    look.file()?;
    Ok(look.found)
}

struct Look<'a> {
    file: File,
    length: u64,
    table: &'a Table,
    found: Vec<&'static str>,
    /// The stretches of the file that are accounted for.
    taken: Vec<(u64, u64)>,
    progress: Progress<'a>,
}

/// One page, without its bytes.
struct Page {
    start: u64,
    /// Including the header.
    length: u64,
    uncompressed: u64,
    kind: i64,
    values: usize,
    encoding: i64,
}

fn is_microsecond(unit: &Fields) -> bool {
    unit.beyond(&[MICROSECOND]).is_none() && unit.fields(MICROSECOND).is_some_and(Fields::is_empty)
}

impl Look<'_> {
    fn add(&mut self, what: &'static str) {
        if !self.found.contains(&what) {
            self.found.push(what);
        }
    }

    fn add_if(&mut self, is_there: bool, what: &'static str) {
        if is_there {
            self.add(what);
        }
    }

    fn bytes(&mut self, start: u64, length: u64) -> io::Result<Vec<u8>> {
        let length = length.min(self.length.saturating_sub(start));
        self.file.seek(SeekFrom::Start(start))?;
        let mut bytes = Vec::new();
        (&self.file).take(length).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn file(&mut self) -> io::Result<()> {
        let end = self.bytes(self.length.saturating_sub(8), 8)?;
        let footer_length = end.iter().take(4).rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
        let footer_start = self.length.saturating_sub(8).saturating_sub(footer_length);
        let footer = self.bytes(footer_start, footer_length)?;
        let head = self.bytes(0, 4)?;
        let Some((fields, used)) = thrift::read(&footer) else {
            self.add("a footer that is spelled as no writer spells it");
            return Ok(());
        };
        let is_whole = used == footer.len() && head == MAGIC && end.ends_with(MAGIC);
        self.add_if(!is_whole, GAPS);
        self.taken.push((footer_start, self.length));
        self.footer(&fields)?;
        self.taken.sort_unstable();
        let is_dense = self.taken.windows(2).all(|pair| pair[0].1 == pair[1].0);
        self.add_if(!is_dense, GAPS);
        Ok(())
    }

    fn footer(&mut self, fields: &Fields) -> io::Result<()> {
        self.add_if(fields.get(5).is_some(), METADATA);
        self.add_if(fields.get(6) != Some(&Thrift::Bytes(OURS.to_vec())), "another name of its writer");
        self.add_if(fields.beyond(&[1, 2, 3, 4, 5, 6, 7]).is_some(), FIELDS);
        self.add_if(fields.int(3) != i64::try_from(self.table.rows()).ok() || fields.int(1) != Some(1), UNTRUE);
        // Values are ordered by type, or, for reals, by their bits.
        let is_plain_order = |order: &Fields| {
            order.beyond(&[1, 2]).is_none()
                && [1, 2].iter().filter_map(|&field| order.fields(field)).all(Fields::is_empty)
        };
        let columns = self.table.columns().len();
        let orders = fields.list(7).len();
        self.add_if(!fields.structs(7).all(is_plain_order) || fields.structs(7).count() != orders, FIELDS);
        self.add_if(orders != columns && orders != 0, UNTRUE);
        self.schema(fields);
        let mut start = 0;
        for (ordinal, group) in fields.structs(4).enumerate() {
            let rows = usize::try_from(group.int(3).unwrap_or(0)).unwrap_or(0).min(self.table.rows() - start);
            self.row_group(group, ordinal, start..start + rows)?;
            start += rows;
        }
        self.add_if(start != self.table.rows(), UNTRUE);
        Ok(())
    }

    fn schema(&mut self, fields: &Fields) {
        let mut elements = fields.structs(2);
        let columns = self.table.columns();
        let root = elements.next();
        let is_root = root
            .is_some_and(|root| root.get(4) == Some(&Thrift::Bytes(OURS.to_vec())) && root.beyond(&[4, 5]).is_none());
        let elements: Vec<&Fields> = elements.collect();
        let is_plain = |element: &&Fields| {
            let kind = element.fields(10);
            // A text, a day, a microsecond, or a whole number of some width.
            let is_known = kind.is_none_or(|kind| {
                let is_width = |of: &Fields| of.beyond(&[1, 2]).is_none();
                // Whether it is in UTC, and a unit, which has no fields of its own.
                let is_unit = |of: &Fields| is_width(of) && of.fields(2).is_some_and(is_microsecond);
                kind.beyond(&[1, 6, 8, 10]).is_none()
                    && [1, 6].iter().filter_map(|&field| kind.fields(field)).all(Fields::is_empty)
                    && kind.fields(8).is_none_or(is_unit)
                    && kind.fields(10).is_none_or(is_width)
            });
            is_known && element.beyond(&[1, 3, 4, 6, 10]).is_none()
        };
        self.add_if(!is_root || !elements.iter().all(is_plain), FIELDS);
        self.add_if(elements.len() != columns.len(), UNTRUE);
    }

    fn row_group(&mut self, group: &Fields, ordinal: usize, rows: Range<usize>) -> io::Result<()> {
        self.add_if(group.beyond(&[1, 2, 3, 5, 6, 7]).is_some(), FIELDS);
        let chunks: Vec<&Fields> = group.structs(1).collect();
        self.add_if(chunks.len() != self.table.columns().len(), UNTRUE);
        let (mut unpacked, mut packed, mut first) = (0, 0, None);
        let table = self.table;
        for (chunk, column) in chunks.into_iter().zip(table.columns()) {
            (self.progress)(0);
            let (start, uncompressed, compressed) = self.chunk(chunk, column, rows.clone())?;
            unpacked += uncompressed;
            packed += compressed;
            first = first.or(Some(start));
        }
        let said = |field: i64| group.int(field).and_then(|number| u64::try_from(number).ok());
        let is_true = said(2) == Some(unpacked)
            && said(6).is_none_or(|said| said == packed)
            && said(5).is_none_or(|said| Some(said) == first)
            && said(7).is_none_or(|said| said == ordinal as u64);
        self.add_if(!is_true, UNTRUE);
        Ok(())
    }

    /// Where a chunk begins, and its length before and after compression.
    fn chunk(&mut self, chunk: &Fields, column: &Column, rows: Range<usize>) -> io::Result<(u64, u64, u64)> {
        self.add_if(chunk.get(6).is_some() || chunk.get(7).is_some(), "column indexes");
        self.add_if(chunk.beyond(&[2, 3, 4, 5, 6, 7]).is_some(), FIELDS);
        self.add_if(chunk.int(2) != Some(0), UNTRUE);
        let Some(meta) = chunk.fields(3) else {
            self.add(UNTRUE);
            return Ok((0, 0, 0));
        };
        self.add_if(meta.get(8).is_some(), METADATA);
        self.add_if(meta.get(12).is_some() || meta.get(16).is_some(), "statistics");
        self.add_if(meta.get(14).is_some() || meta.get(15).is_some(), "Bloom filters");
        self.add_if(meta.beyond(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 15, 16]).is_some(), FIELDS);
        let said = |field: i64| meta.int(field).and_then(|number| u64::try_from(number).ok());
        let start = said(11).or(said(9)).unwrap_or(0);
        let end = start.saturating_add(said(7).unwrap_or(0));
        let pages = self.pages(start, end, (meta, column), rows.clone())?;
        let (unpacked, packed) = (pages.iter().map(|page| page.uncompressed).sum(), end - start);
        let data: Vec<&Page> = pages.iter().filter(|page| page.kind == DATA).collect();
        let values: usize = data.iter().map(|page| page.values).sum();
        let name = [Thrift::Bytes(column.name().as_bytes().to_vec())];
        let is_true = said(6) == Some(unpacked)
            && said(9) == data.first().map(|page| page.start)
            && said(5) == Some(values as u64)
            && values == rows.len()
            && meta.list(3) == name
            && says_encodings(meta, &pages);
        self.add_if(!is_true, UNTRUE);
        self.dictionary(&pages, column, rows.start);
        self.taken.push((start, end));
        self.offset_index(chunk, (&data, column), rows.start)?;
        Ok((start, unpacked, packed))
    }

    /// Follows the pages of a chunk up to its end.
    fn pages(
        &mut self,
        start: u64,
        end: u64,
        (meta, column): (&Fields, &Column),
        rows: Range<usize>,
    ) -> io::Result<Vec<Page>> {
        let (mut at, mut row) = (start, rows.start);
        let mut pages = Vec::new();
        while at < end {
            (self.progress)(0);
            let header = self.bytes(at, (end - at).min(MAX_HEADER))?;
            let Some((fields, header_length)) = thrift::read(&header) else {
                self.add("pages whose header is spelled as no writer spells it");
                return Ok(pages);
            };
            let Some(page) = self.page(&fields, at, header_length as u64) else {
                self.add(UNTRUE);
                return Ok(pages);
            };
            let bytes = self.bytes(at + header_length as u64, page.length - header_length as u64)?;
            let n_values = match page.kind {
                DATA => {
                    let those = row..row.saturating_add(page.values).min(rows.end);
                    row = those.end;
                    those.filter(|&row| column.domain().value(column.code(row)).is_some()).count()
                }
                _ => page.values,
            };
            self.contents(&page, meta, &bytes, n_values);
            at += page.length;
            pages.push(page);
        }
        self.add_if(at != end, UNTRUE);
        Ok(pages)
    }

    fn page(&mut self, fields: &Fields, start: u64, header: u64) -> Option<Page> {
        let (kind, uncompressed, compressed) = (fields.int(1)?, fields.int(2)?, fields.int(3)?);
        self.add_if(fields.get(4).is_some(), "checksums of pages");
        let (about, known) = match kind {
            DATA => (fields.fields(5)?, [1, 2, 3, 5, 4]),
            DICTIONARY => (fields.fields(7)?, [1, 2, 3, 7, 4]),
            _ => return None,
        };
        self.add_if(fields.beyond(&known).is_some(), FIELDS);
        self.add_if(kind == DATA && about.get(5).is_some(), "statistics");
        let fields_of_kind: &[i64] = if kind == DATA { &[1, 2, 3, 4, 5] } else { &[1, 2, 3] };
        self.add_if(about.beyond(fields_of_kind).is_some(), FIELDS);
        let is_said = match kind {
            DATA => about.int(3) == Some(RLE) && about.int(4) == Some(RLE),
            _ => about.get(3).is_none_or(|is_sorted| *is_sorted == Thrift::Bool(false)),
        };
        self.add_if(!is_said, FIELDS);
        Some(Page {
            start,
            length: header.checked_add(u64::try_from(compressed).ok()?)?,
            uncompressed: header.checked_add(u64::try_from(uncompressed).ok()?)?,
            kind,
            values: usize::try_from(about.int(1)?).ok()?,
            encoding: about.int(2)?,
        })
    }

    /// Whether the bytes of a page are its values and nothing else.
    fn contents(&mut self, page: &Page, meta: &Fields, bytes: &[u8], n_values: usize) {
        let (codec, plain) = (meta.int(4), meta.int(1).and_then(Plain::of_type));
        let header = page.length.saturating_sub(bytes.len() as u64);
        let length = usize::try_from(page.uncompressed.saturating_sub(header)).unwrap_or(usize::MAX);
        let unpacked = match codec {
            Some(UNCOMPRESSED) => Some(bytes.to_vec()),
            Some(ZSTD) => {
                // LEAK: further frames, some of which every reader skips, could follow the first.
                let is_one = bytes.starts_with(ZSTD_FRAME)
                    && zstd::zstd_safe::find_frame_compressed_size(bytes).is_ok_and(|end| end == bytes.len());
                is_one.then(|| zstd::bulk::decompress(bytes, length.min(MAX_PAGE)).ok()).flatten()
            }
            _ => None,
        };
        let fills = unpacked.filter(|unpacked| unpacked.len() == length).zip(plain).is_some_and(|(unpacked, plain)| {
            match (page.kind, page.encoding) {
                (DICTIONARY, PLAIN) => plain.fills(&unpacked, n_values),
                (DATA, PLAIN) => without_levels(&unpacked, page.values).is_some_and(|rest| plain.fills(rest, n_values)),
                (DATA, IN_DICTIONARY) => {
                    without_levels(&unpacked, page.values).is_some_and(|rest| are_places(rest, n_values))
                }
                _ => false,
            }
        });
        self.add_if(!fills, "pages with more than their values, or packed differently from ours");
    }

    /// A dictionary must have as many entries as its rows have distinct values. Each value needs one, so no entry is
    /// left over or repeated.
    fn dictionary(&mut self, pages: &[Page], column: &Column, start: usize) {
        let entries: usize = pages.iter().filter(|page| page.kind == DICTIONARY).map(|page| page.values).sum();
        let has_places = |page: &&Page| page.kind == DATA && page.encoding == IN_DICTIONARY;
        let rows: usize = pages.iter().filter(has_places).map(|page| page.values).sum();
        let mut occurs = vec![false; column.domain().len()];
        let end = start.saturating_add(rows).min(column.codes().len());
        (start..end).for_each(|row| occurs[column.code(row) as usize] = true);
        let values = (0..).zip(&occurs).filter(|(code, occurs)| **occurs && column.domain().value(*code).is_some());
        let is_first = pages.iter().skip(1).all(|page| page.kind == DATA);
        self.add_if(values.count() != entries || !is_first, "dictionary entries that no row has, or repeated ones");
    }

    /// Checks the offset index, in which our writers say where pages begin and how long their texts are.
    fn offset_index(&mut self, chunk: &Fields, (data, column): (&[&Page], &Column), start: usize) -> io::Result<()> {
        let said = |field: i64| chunk.int(field).and_then(|number| u64::try_from(number).ok());
        let (Some(offset), Some(length)) = (said(4), said(5)) else {
            self.add_if(chunk.get(4).is_some() || chunk.get(5).is_some(), UNTRUE);
            return Ok(());
        };
        self.taken.push((offset, offset.saturating_add(length)));
        let bytes = self.bytes(offset, length)?;
        let Some((fields, _)) = thrift::read(&bytes).filter(|(_, used)| *used == bytes.len()) else {
            self.add("offset indexes that are spelled as no writer spells them");
            return Ok(());
        };
        let (mut row, mut places, mut lengths) = (0, Vec::new(), Vec::new());
        for page in data {
            places.push([page.start as i64, page.length as i64, row as i64]);
            let rows =
                (start + row..start.saturating_add(row + page.values)).take_while(|&row| row < column.codes().len());
            let texts: usize = rows.map(|row| column.domain().text(column.code(row)).len()).sum();
            lengths.push(Thrift::Int(texts as i64));
            row += page.values;
        }
        let shown = fields.structs(1).map(|place| [1, 2, 3].map(|field| place.int(field).unwrap_or(-1)));
        let is_plain = fields.structs(1).all(|place| place.beyond(&[1, 2, 3]).is_none());
        let has_lengths = fields.get(2).is_none() || fields.list(2) == lengths;
        let is_true = shown.eq(places) && is_plain && has_lengths && fields.beyond(&[1, 2]).is_none();
        self.add_if(!is_true, "offset indexes that are not true");
        Ok(())
    }
}

/// Whether the encodings that a chunk lists, and the numbers of pages it gives, are those of its pages.
fn says_encodings(meta: &Fields, pages: &[Page]) -> bool {
    let mut used: Vec<i64> = pages.iter().map(|page| page.encoding).chain([RLE]).collect();
    used.sort_unstable();
    used.dedup();
    let listed = meta.list(2).iter().map(|value| if let Thrift::Int(number) = value { *number } else { -1 });
    let counts = meta.structs(13).map(|count| [1, 2, 3].map(|field| count.int(field).unwrap_or(-1)));
    let counted: Vec<[i64; 3]> = counts.collect();
    let n_pages = |kind: i64, encoding: i64| {
        pages.iter().filter(|page| page.kind == kind && page.encoding == encoding).count() as i64
    };
    let total: i64 = counted.iter().map(|count| count[2]).sum();
    let are_true = counted.iter().all(|&[kind, encoding, n]| n > 0 && n == n_pages(kind, encoding));
    let is_plain = meta.structs(13).all(|count| count.beyond(&[1, 2, 3]).is_none());
    listed.eq(used) && is_plain && (meta.get(13).is_none() || are_true && total == pages.len() as i64)
}

const GAPS: &str = "bytes that belong to nothing";
const METADATA: &str = "key-value metadata";
const FIELDS: &str = "fields that our writers do not write";
const UNTRUE: &str = "numbers about itself that are not true";

/// A header has about ten numbers. One that is longer, because of statistics, cannot be read, and that is reported.
const MAX_HEADER: u64 = 1 << 16;
/// Pages of our writers have at most a megabyte, plus one text.
const MAX_PAGE: usize = 1 << 28;
const ZSTD_FRAME: &[u8] = b"\x28\xb5\x2f\xfd";
