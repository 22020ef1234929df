//! The combinations of several columns' values, numbered: partitioners count them as if they were one column's values.

use std::sync::Arc;

use chrysalis_table::{Code, Codes, Column, Domain, Kind, Value};
use rayon::prelude::*;

/// The combinations that occur, in ascending order of their codes.
#[derive(Clone, Debug)]
pub(crate) struct Combined {
    /// The combination of every row.
    pub(crate) column: Column,
    /// By column: its value in every combination.
    pub(crate) value_of: Vec<Arc<[Code]>>,
}

impl Combined {
    /// LEAK: combinations are numbered by their values, never by where they first occur.
    pub(crate) fn new(columns: &[&Column]) -> Combined {
        let rows = columns.first().map_or(0, |column| column.codes().len());
        let mut codes: Vec<Code> = vec![0; rows];
        let mut tuples: Vec<Vec<Code>> = vec![Vec::new()];
        for column in columns {
            let n = column.domain().len() as u64;
            let key = |row: usize| u64::from(codes[row]) * n + u64::from(column.code(row));
            let keys: Vec<u64> = (0..rows).into_par_iter().map(key).collect();
            let numbered = Numbers::new(&keys, tuples.len() as u64 * n);
            tuples = numbered.keys().iter().map(|&key| extended(&tuples, key, n)).collect();
            codes = keys.par_iter().map(|&key| numbered.number(key)).collect();
        }
        let name = columns.iter().map(|column| column.name()).collect::<Vec<_>>().join(", ");
        let domain = Domain::new(Kind::Integer, (0..tuples.len() as i64).map(Value::Integer).collect(), false);
        let codes = Codes::collect(tuples.len(), codes.into_iter());
        let value_of = (0..columns.len()).map(|at| tuples.iter().map(|tuple| tuple[at]).collect()).collect();
        Combined { column: Column::new(name, Arc::new(domain), codes), value_of }
    }
}

fn extended(tuples: &[Vec<Code>], key: u64, n: u64) -> Vec<Code> {
    let mut tuple = tuples[(key / n) as usize].clone();
    // PROOF: the remainder is a code of a column, which has 32 bits.
    tuple.push((key % n) as Code);
    tuple
}

/// The keys that occur, numbered in ascending order.
enum Numbers {
    /// By key: its number, for keys that are not much more than the rows.
    Dense(Vec<Code>, Vec<u64>),
    /// The keys alone.
    Sparse(Vec<u64>),
}

impl Numbers {
    fn new(keys: &[u64], n_keys: u64) -> Numbers {
        /// A table of this many entries is small whatever the rows.
        const FREE: u64 = 1 << 20;
        if n_keys <= FREE.max(keys.len() as u64) {
            let mut occurs = vec![0; n_keys as usize];
            keys.iter().for_each(|&key| occurs[key as usize] = 1);
            let mut found = Vec::new();
            for (key, number) in (0..).zip(&mut occurs) {
                if *number == 1 {
                    // PROOF: no more keys occur than there are rows, which are numbered in 32 bits.
                    *number = found.len() as Code;
                    found.push(key);
                }
            }
            return Numbers::Dense(occurs, found);
        }
        let mut found = keys.to_vec();
        found.par_sort_unstable();
        found.dedup();
        Numbers::Sparse(found)
    }

    fn keys(&self) -> &[u64] {
        match self {
            Numbers::Dense(_, keys) | Numbers::Sparse(keys) => keys,
        }
    }

    /// The number of a key that occurs.
    fn number(&self, key: u64) -> Code {
        match self {
            Numbers::Dense(numbers, _) => numbers[key as usize],
            Numbers::Sparse(keys) => keys.partition_point(|&known| known < key) as Code,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn combinations_are_numbered_by_their_values() {
        let a = Column::integers("a", &[7, 5, 7, 5]);
        let b = Column::integers("b", &[1, 2, 1, 1]);
        let c = Column::integers("c", &[9, 9, 9, 9]);
        let combined = Combined::new(&[&a, &b, &c]);
        assert_eq!(combined.column.name(), "a, b, c");
        let codes: Vec<Code> = combined.column.codes().iter().collect();
        // (5,1,9) (5,2,9) (7,1,9), in this order.
        assert_eq!(codes, [2, 1, 2, 0]);
        let values: Vec<&[Code]> = combined.value_of.iter().map(|values| &values[..]).collect();
        assert_eq!(values, [&[0, 0, 1][..], &[0, 1, 0], &[0, 0, 0]]);
    }

    #[test]
    fn few_rows_of_many_values_are_numbered_alike() {
        let keys = [5_000_000_000, 7, 5_000_000_000, 8];
        let sparse = Numbers::new(&keys, 1 << 40);
        let dense = Numbers::new(&[5, 7, 5, 8].map(|key: u64| key - 4), 10);
        assert_eq!(keys.map(|key| sparse.number(key)), [2, 0, 2, 1]);
        assert_eq!([1, 3, 1, 4].map(|key| dense.number(key)), [0, 1, 0, 2]);
        assert!(matches!(sparse, Numbers::Sparse(_)) && matches!(dense, Numbers::Dense(..)));
    }
}
