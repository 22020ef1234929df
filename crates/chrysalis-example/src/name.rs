//! Names that look like names and belong to nobody.

use std::fmt;

use rand::Rng;

use crate::patient::Sex;
use crate::weighted::below;

/// A first name and a surname, written with a space between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Name {
    first: &'static str,
    /// Surnames are put together from syllables: many of them, and hardly one that exists.
    surname: [&'static str; 3],
}

#[rustfmt::skip]
const FIRST: [[&str; 16]; 2] = [
    ["Ada", "Bela", "Clara", "Dora", "Elsa", "Flora", "Greta", "Hanna",
     "Ida", "Jana", "Klara", "Lena", "Mina", "Nora", "Olga", "Rosa"],
    ["Adam", "Boris", "Carl", "David", "Emil", "Felix", "Georg", "Hugo",
     "Ivan", "Jonas", "Karel", "Leon", "Marek", "Niels", "Oskar", "Ruben"],
];

#[rustfmt::skip]
const SYLLABLES: [[&str; 16]; 3] = [
    ["Ba", "Bre", "Do", "Fa", "Gro", "Ha", "Ka", "Lo", "Ma", "Ne", "Pra", "Ro", "Sta", "Te", "Vo", "Wi"],
    ["bel", "den", "dor", "gan", "len", "lin", "man", "mer", "nar", "nes", "ran", "ris", "ten", "tor", "ven", "zel"],
    ["bach", "berg", "by", "dal", "feld", "hof", "ic", "lund", "mark", "ova", "ruud", "sen", "ski", "son", "stad", "wick"],
];

impl Name {
    /// Takes one word from `rng`.
    pub(crate) fn draw(sex: Sex, rng: &mut impl Rng) -> Self {
        let word = rng.next_u64();
        let pick = |list: &[&'static str; 16], i: u64| list[below((word >> (16 * i) & 0xffff) << 16, 16) as usize];
        Self { first: pick(&FIRST[sex.index()], 3), surname: [0, 1, 2].map(|i| pick(&SYLLABLES[i], i as u64)) }
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [begin, middle, end] = self.surname;
        write!(f, "{} {begin}{middle}{end}", self.first)
    }
}
