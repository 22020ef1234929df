//! A key with its codes beside it, so that sorting and comparing keys touches no other memory.

use chrysalis_table::Code;

use crate::keys::Keys;

/// Where the codes of a column are in a packed record.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    shift: u32,
    mask: u128,
}

/// The fields of all columns, and the bits that they take.
pub(super) fn fields(keys: &Keys) -> (Vec<Field>, u32) {
    let mut shift = 0;
    let of_column = |&n_codes: &usize| {
        let bits = usize::BITS - n_codes.saturating_sub(1).leading_zeros();
        let mask = ((1u128 << bits) - 1).checked_shl(shift).unwrap_or(0);
        // A column with one code needs no bits, and the bits may be at their end.
        let field = Field { shift: if bits == 0 { 0 } else { shift }, mask };
        shift += bits;
        field
    };
    let fields = keys.n_codes.iter().map(of_column).collect();
    (fields, shift)
}

/// A key and its codes.
pub(super) trait Record: Copy + Send + Sync {
    /// The record of a key, which may be that of one row alone.
    fn new(keys: &Keys, key: u32, is_alone: bool, fields: &[Field]) -> Self;

    fn key(self) -> u32;

    /// Whether one row alone has the key.
    fn is_alone(self) -> bool;

    fn code(self, keys: &Keys, fields: &[Field], column: usize) -> Code;

    /// Those of some columns in which two keys differ.
    fn differences(self, other: Self, keys: &Keys, fields: &[Field], columns: u64) -> u64;
}

/// The columns of a set, ascending.
pub(super) fn columns_of(mut set: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let at = (set != 0).then(|| set.trailing_zeros() as usize)?;
        set &= set - 1;
        Some(at)
    })
}

const ALONE: u32 = 1 << 31;

/// A key whose codes are looked up; for tables whose codes fit into no number.
#[derive(Clone, Copy)]
pub(super) struct Plain {
    key: u32,
    is_alone: bool,
}

impl Record for Plain {
    fn new(_: &Keys, key: u32, is_alone: bool, _: &[Field]) -> Self {
        Plain { key, is_alone }
    }

    fn key(self) -> u32 {
        self.key
    }

    fn is_alone(self) -> bool {
        self.is_alone
    }

    fn code(self, keys: &Keys, _: &[Field], column: usize) -> Code {
        keys.code(self.key, column)
    }

    fn differences(self, other: Self, keys: &Keys, _: &[Field], columns: u64) -> u64 {
        let (one, other) = (keys.codes(self.key), keys.codes(other.key));
        columns_of(columns).filter(|&at| one[at] != other[at]).fold(0, |set, at| set | 1 << at)
    }
}

/// A key with all of its codes in one number.
#[derive(Clone, Copy)]
pub(super) struct Packed<W> {
    codes: W,
    /// The highest bit says whether one row alone has it.
    key: u32,
}

macro_rules! packed {
    ($word:ty) => {
        impl Record for Packed<$word> {
            fn new(keys: &Keys, key: u32, is_alone: bool, fields: &[Field]) -> Self {
                let codes = keys.codes(key).iter().zip(fields);
                let codes = codes.fold(0, |word, (&code, field)| word | <$word>::from(code) << field.shift);
                Packed { codes, key: if is_alone { key | ALONE } else { key } }
            }

            fn key(self) -> u32 {
                self.key & !ALONE
            }

            fn is_alone(self) -> bool {
                self.key & ALONE != 0
            }

            fn code(self, _: &Keys, fields: &[Field], column: usize) -> Code {
                let field = fields[column];
                ((self.codes & field.mask as $word) >> field.shift) as Code
            }

            fn differences(self, other: Self, _: &Keys, fields: &[Field], columns: u64) -> u64 {
                let differ = self.codes ^ other.codes;
                let differs = |at: &usize| differ & fields[*at].mask as $word != 0;
                columns_of(columns).filter(differs).fold(0, |set, at| set | 1 << at)
            }
        }
    };
}

packed!(u64);
packed!(u128);
