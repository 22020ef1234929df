//! Dictionaries: one per column and piece while parsing, one per column when the pieces are merged.

use foldhash::fast::FixedState;
use hashbrown::HashTable;
use std::hash::{BuildHasher, Hash};

use crate::column::DictionaryChunk;
use crate::{Code, Codes};

/// Fields of up to this many bytes are looked up as one machine word.
const WORD: usize = 8;

fn hash(value: impl Hash) -> u64 {
    // The order of these tables reaches no output, so a fixed state is enough; keys come from the owner's own file.
    FixedState::with_seed(0x9e37_79b9).hash_one(value)
}

/// The distinct texts of one column in one piece, in order of appearance, and a code per row.
pub(super) struct LocalColumn {
    pub(super) codes: Codes,
    texts: Texts,
    short: HashTable<(u64, Code)>,
    long: HashTable<Code>,
}

/// Many small texts in one allocation.
#[derive(Default)]
struct Texts {
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

    fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.ends.len() as Code).map(|code| self.get(code))
    }
}

impl LocalColumn {
    pub(super) fn new(rows: usize) -> Self {
        LocalColumn {
            codes: Codes::with_capacity(1, rows),
            texts: Texts::default(),
            short: HashTable::new(),
            long: HashTable::new(),
        }
    }

    /// Appends a row with this field; `false` when a new text is not UTF-8.
    ///
    /// The field must not contain a zero byte: that is what keeps short keys apart.
    pub(super) fn push(&mut self, field: &[u8]) -> bool {
        let code = if field.len() <= WORD { self.short_code(field) } else { self.long_code(field) };
        match code {
            Some(code) => {
                self.codes.push(code);
                true
            }
            None => false,
        }
    }

    fn short_code(&mut self, field: &[u8]) -> Option<Code> {
        let mut word = [0; WORD];
        word[..field.len()].copy_from_slice(field);
        let key = u64::from_le_bytes(word);
        let hash = mix(key);
        if let Some(&(_, code)) = self.short.find(hash, |&(known, _)| known == key) {
            return Some(code);
        }
        let code = self.texts.push(std::str::from_utf8(field).ok()?);
        self.short.insert_unique(hash, (key, code), |&(known, _)| mix(known));
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

/// Spreads a word over all bits: the table takes its place from the low and its tag from the high ones.
fn mix(key: u64) -> u64 {
    let product = u128::from(key ^ 0x9e37_79b9_7f4a_7c15) * 0xa076_1d64_78bd_642f;
    (product as u64) ^ ((product >> 64) as u64)
}

/// The distinct texts of a whole column.
#[derive(Default)]
pub(super) struct Merged {
    texts: Vec<Box<str>>,
    index: HashTable<Code>,
}

impl Merged {
    /// Adds a piece's texts; gives back its codes with the way to ours.
    pub(super) fn absorb(&mut self, local: LocalColumn) -> DictionaryChunk {
        let to_dictionary = local.texts.iter().map(|text| self.code(text)).collect();
        DictionaryChunk { codes: local.codes, to_dictionary }
    }

    fn code(&mut self, text: &str) -> Code {
        let texts = &mut self.texts;
        let hashed = hash(text);
        if let Some(&code) = self.index.find(hashed, |&code| *texts[code as usize] == *text) {
            return code;
        }
        let code = texts.len() as Code;
        texts.push(text.into());
        self.index.insert_unique(hashed, code, |&code| hash(&*texts[code as usize]));
        code
    }

    pub(super) fn into_texts(self) -> Vec<Box<str>> {
        self.texts
    }
}
