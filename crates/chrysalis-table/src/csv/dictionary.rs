//! Dictionaries: one per column and piece while parsing, one per column when the pieces are merged.

use foldhash::fast::FixedState;
use hashbrown::HashTable;
use std::hash::{BuildHasher, Hash};

use crate::column::DictionaryChunk;
use crate::{Code, Codes};

/// Fields of up to this many bytes are looked up as one machine word.
const WORD: usize = 8;

const RECENT: usize = 256;
/// Marks an empty slot: a zero byte below a nonzero one. No key looks like that, because no text contains a zero byte.
const NO_KEY: u64 = 1 << 63;

fn hash(value: impl Hash) -> u64 {
    // The order of these tables reaches no output, so a fixed state is enough; keys come from the owner's own file.
    FixedState::with_seed(0x9e37_79b9).hash_one(value)
}

/// The distinct texts of one column in one piece, in order of appearance, and a code per row.
pub(super) struct LocalColumn {
    codes: Codes,
    texts: Texts,
    /// The most recent short fields, by a few bits of their hash: in most columns almost every lookup ends here.
    recent: Box<[(u64, Code); RECENT]>,
    short: HashTable<(u64, Code)>,
    long: HashTable<Code>,
}

/// A piece's column once all its fields are read, without the lookup tables, which are larger than all the rest.
pub(super) struct ParsedColumn {
    codes: Codes,
    texts: Texts,
}

/// Many small texts in one allocation.
#[derive(Default)]
pub(super) struct Texts {
    bytes: String,
    ends: Vec<usize>,
}

impl Texts {
    fn get(&self, code: Code) -> &str {
        let index = code as usize;
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.bytes[start..self.ends[index]]
    }

    fn push(&mut self, text: &str) -> Code {
        self.bytes.push_str(text);
        self.ends.push(self.bytes.len());
        (self.ends.len() - 1) as Code
    }

    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        (0..self.ends.len() as Code).map(|code| self.get(code))
    }
}

impl LocalColumn {
    pub(super) fn new(rows: usize) -> Self {
        LocalColumn {
            codes: Codes::with_capacity(1, rows),
            texts: Texts::default(),
            recent: Box::new([(NO_KEY, 0); RECENT]),
            short: HashTable::new(),
            long: HashTable::new(),
        }
    }

    /// Appends a row with the field that `bytes` has from `start` to `end`; `false` when a new text is not UTF-8.
    ///
    /// The field must not contain a zero byte: that is what keeps short keys apart.
    #[inline]
    pub(super) fn push(&mut self, bytes: &[u8], start: usize, end: usize) -> bool {
        let code =
            if end - start <= WORD { self.short_code(bytes, start, end) } else { self.long_code(&bytes[start..end]) };
        match code {
            Some(code) => {
                self.codes.push(code);
                true
            }
            None => false,
        }
    }

    /// Its codes and texts.
    pub(super) fn parsed(self) -> ParsedColumn {
        ParsedColumn { codes: self.codes, texts: self.texts }
    }

    #[inline]
    fn short_code(&mut self, bytes: &[u8], start: usize, end: usize) -> Option<Code> {
        let key = word(bytes, start, end - start);
        let hash = mix(key);
        let recent = &mut self.recent[(hash >> 20) as usize % RECENT];
        if recent.0 == key {
            return Some(recent.1);
        }
        let code = match self.short.find(hash, |&(known, _)| known == key) {
            Some(&(_, code)) => code,
            None => {
                let code = self.texts.push(std::str::from_utf8(&bytes[start..end]).ok()?);
                self.short.insert_unique(hash, (key, code), |&(known, _)| mix(known));
                code
            }
        };
        *recent = (key, code);
        Some(code)
    }

    fn long_code(&mut self, field: &[u8]) -> Option<Code> {
        let texts = &mut self.texts;
        let hashed = hash(field);
        if let Some(&code) = self.long.find(hashed, |&code| texts.get(code).as_bytes() == field) {
            return Some(code);
        }
        let code = texts.push(std::str::from_utf8(field).ok()?);
        self.long.insert_unique(hashed, code, |&code| hash(texts.get(code).as_bytes()));
        Some(code)
    }
}

/// Up to eight bytes as one number. Where eight can be read at once, the rest is masked away.
#[inline]
fn word(bytes: &[u8], start: usize, len: usize) -> u64 {
    if let Some(eight) = bytes.get(start..start + WORD).and_then(|eight| <[u8; WORD]>::try_from(eight).ok()) {
        let unused = 8 * (WORD - len);
        return u64::from_le_bytes(eight).checked_shl(unused as u32).map_or(0, |shifted| shifted >> unused);
    }
    let mut word = [0; WORD];
    word[..len].copy_from_slice(&bytes[start..start + len]);
    u64::from_le_bytes(word)
}

/// Spreads a word over all bits: the table takes the slot from the low bits and the tag from the high ones.
fn mix(key: u64) -> u64 {
    let product = u128::from(key ^ 0x9e37_79b9_7f4a_7c15) * 0xa076_1d64_78bd_642f;
    (product as u64) ^ ((product >> 64) as u64)
}

/// The distinct texts of a whole column.
#[derive(Default)]
pub(super) struct MergedTexts {
    texts: Texts,
    /// Every text by its hash, which is kept: looking it up again would cost more than all the rest.
    index: HashTable<(u64, Code)>,
}

impl MergedTexts {
    /// Adds a piece's texts; returns its codes with their mapping into this dictionary.
    pub(super) fn absorb(&mut self, local: ParsedColumn) -> DictionaryChunk {
        let to_dictionary = local.texts.iter().map(|text| self.code(text)).collect();
        DictionaryChunk { codes: local.codes, to_dictionary }
    }

    fn code(&mut self, text: &str) -> Code {
        let texts = &mut self.texts;
        let hashed = hash(text);
        if let Some(&(_, code)) = self.index.find(hashed, |&(of, code)| of == hashed && texts.get(code) == text) {
            return code;
        }
        let code = texts.push(text);
        self.index.insert_unique(hashed, (hashed, code), |&(of, _)| of);
        code
    }

    /// How many texts there are.
    pub(super) fn len(&self) -> usize {
        self.texts.ends.len()
    }

    /// The texts, in the order of their codes.
    pub(super) fn into_texts(self) -> Texts {
        self.texts
    }
}
