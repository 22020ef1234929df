//! Labels of all attributes, packed into as few words as they need.

use std::fmt::Debug;
use std::hash::Hash;

/// Where an attribute's label stands in a key.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    word: usize,
    shift: u32,
    mask: u32,
}

impl Slot {
    /// One slot for both slots and the bits between them, and the shift of `self` in it; `None` unless they are in the
    /// same word, with `self` above, and take at most `most_bits` bits together.
    pub(super) fn joined(self, below: Slot, most_bits: u32) -> Option<(Slot, u32)> {
        let up = self.shift.checked_sub(below.shift).filter(|_| self.word == below.word)?;
        let bits = up + self.n_bits();
        (bits <= most_bits.min(u32::BITS - 1)).then(|| (Slot { mask: (1 << bits) - 1, ..below }, up))
    }

    /// Bits of a label.
    pub(super) fn n_bits(self) -> u32 {
        u32::BITS - self.mask.leading_zeros()
    }

    /// Moves a label of `part` to where it stands in this slot, which covers `part`.
    pub(super) fn lift(self, part: Slot, label: u32) -> u32 {
        label << (part.shift - self.shift)
    }
}

/// Packed labels. The first attribute stands highest, so keys sort like lists of labels.
pub(super) trait Key: Copy + Debug + Eq + Hash + Ord + Send + Sync {
    /// Bits of one word, and number of words.
    const SHAPE: (u32, usize);
    /// Every label 0.
    const ZERO: Self;
    fn get(self, slot: Slot) -> u32;
    /// The key with a label in a slot that held 0.
    fn with(self, slot: Slot, label: u32) -> Self;
}

impl Key for u64 {
    const SHAPE: (u32, usize) = (64, 1);
    const ZERO: Self = 0;
    fn get(self, slot: Slot) -> u32 {
        (self >> slot.shift) as u32 & slot.mask
    }
    fn with(self, slot: Slot, label: u32) -> Self {
        self | u64::from(label) << slot.shift
    }
}

impl Key for u128 {
    const SHAPE: (u32, usize) = (128, 1);
    const ZERO: Self = 0;
    fn get(self, slot: Slot) -> u32 {
        (self >> slot.shift) as u32 & slot.mask
    }
    fn with(self, slot: Slot, label: u32) -> Self {
        self | u128::from(label) << slot.shift
    }
}

/// For many attributes with many values each.
pub(super) type Wide = [u64; 16];

impl Key for Wide {
    const SHAPE: (u32, usize) = (64, 16);
    const ZERO: Self = [0; 16];
    fn get(self, slot: Slot) -> u32 {
        (self[slot.word] >> slot.shift) as u32 & slot.mask
    }
    fn with(mut self, slot: Slot, label: u32) -> Self {
        self[slot.word] |= u64::from(label) << slot.shift;
        self
    }
}

/// A slot for every attribute, given its number of labels, if a key of type `K` has room for all of them.
pub(super) fn slots<K: Key>(n_labels: &[usize]) -> Option<Vec<Slot>> {
    let (bits_of_word, n_words) = K::SHAPE;
    let (mut word, mut free) = (0, bits_of_word);
    n_labels
        .iter()
        .map(|&n| {
            let bits = usize::BITS - n.saturating_sub(1).leading_zeros();
            if bits > free {
                (word, free) = (word + 1, bits_of_word);
            }
            free -= bits;
            // A slot of no bits may stand at the very end, where shifting would overflow.
            let shift = free.min(bits_of_word - 1);
            (word < n_words).then_some(Slot { word, shift, mask: ((1u64 << bits) - 1) as u32 })
        })
        .collect()
}
