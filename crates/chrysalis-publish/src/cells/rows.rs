//! Whether the same rows came again: a keyed number that stands for rows as a multiset, in whatever order they come.

use chrysalis_table::{Column, Domain};
use rayon::prelude::*;

use super::Secret;
use super::secret::sip;

/// The number of no rows. The number of several rows is the sum of theirs, modulo 2⁶⁴.
pub(super) const NONE: u64 = 0;

/// The number of every row, from its values in these columns. Whoever does not have the secret can neither compute it nor
/// tell it from a random one; other rows have the same sum by accident once in 2⁶⁴ times.
pub(super) fn numbers(secret: &Secret, columns: &[&Column], rows: usize) -> Vec<u64> {
    let key = secret.words("rows");
    let known: Vec<Vec<u64>> =
        columns.par_iter().enumerate().map(|(at, column)| hashes_of(key, at as u64, column)).collect();
    let number = |row: usize| {
        let of_column = |(column, hashes): (&&Column, &Vec<u64>)| hashes[column.code(row) as usize];
        columns.iter().zip(&known).map(of_column).fold(key[0], mixed)
    };
    (0..rows).into_par_iter().with_min_len(1 << 12).map(number).collect()
}

/// A keyed hash of every value that occurs in a column, by code.
fn hashes_of(key: [u64; 2], column: u64, of: &Column) -> Vec<u64> {
    let mut occurs = vec![false; of.domain().len()];
    of.codes().iter().for_each(|code| occurs[code as usize] = true);
    let hash = |(code, occurs): (usize, &bool)| if *occurs { hash(key, column, of.domain(), code as u32) } else { 0 };
    occurs.iter().enumerate().map(hash).collect()
}

/// A keyed hash of every value of a column.
pub(super) fn hashes(key: [u64; 2], column: u64, domain: &Domain) -> Vec<u64> {
    (0..domain.len() as u32).into_par_iter().map(|code| hash(key, column, domain, code)).collect()
}

fn hash(key: [u64; 2], column: u64, domain: &Domain, code: u32) -> u64 {
    let mut text = column.to_le_bytes().to_vec();
    match domain.value(code) {
        None => text.push(0),
        Some(value) => {
            text.push(1);
            text.extend_from_slice(value.to_string().as_bytes());
        }
    }
    sip(key, &text)
}

/// Spreads the hashes of several values over one.
pub(super) fn mixed(all: u64, value: u64) -> u64 {
    let product = u128::from(all.rotate_left(29) ^ value ^ 0x9e37_79b9_7f4a_7c15) * 0xa076_1d64_78bd_642f;
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_one_number_in_any_order_and_other_rows_have_another() {
        let secret = Secret::from_bytes([3; 32]);
        let sum = |ages: &[i64], words: &[&str]| {
            let columns = [Column::integers("age", ages), Column::texts("word", words.iter().copied())];
            let of_rows = numbers(&secret, &columns.iter().collect::<Vec<_>>(), ages.len());
            of_rows.into_iter().fold(NONE, u64::wrapping_add)
        };
        let one = sum(&[1, 2, 2], &["a", "b", "c"]);
        assert_eq!(one, sum(&[2, 2, 1], &["c", "b", "a"]));
        // Every column alone has the same values as before.
        assert_ne!(one, sum(&[1, 2, 2], &["b", "a", "c"]));
        assert_ne!(one, sum(&[1, 2, 2], &["a", "b", "b"]));
        assert_ne!(one, sum(&[1, 2], &["a", "b"]));
    }
}
