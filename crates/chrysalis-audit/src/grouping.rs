use chrysalis_table::{Codes, Column, Unwatched, Watch, each_width};
use foldhash::fast::FixedState;
use hashbrown::HashMap;

/// Tables of up to this many bits are indexed directly instead of hashed: 4M counters of four bytes.
const DENSE_BITS: u32 = 22;
/// Rows that are numbered before the work can be stopped again.
const STRETCH: usize = 1 << 16;

/// Which rows share a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Groups {
    /// The group of every row, below `n_groups`.
    pub of_row: Vec<u32>,
    /// Number of groups.
    pub n_groups: usize,
}

/// One code per row, all below `n_codes`.
#[derive(Clone, Copy)]
pub(crate) struct Key<'a> {
    pub(crate) codes: &'a Codes,
    pub(crate) n_codes: usize,
}

impl<'a> Key<'a> {
    pub(crate) fn of(column: &'a Column) -> Self {
        Key { codes: column.codes(), n_codes: column.domain().len() }
    }

    fn bits(&self) -> u32 {
        bits(self.n_codes)
    }
}

/// The number of bits that tell `n` things apart.
fn bits(n: usize) -> u32 {
    usize::BITS - n.saturating_sub(1).leading_zeros()
}

impl Groups {
    /// Rows with equal values in all these columns; all rows together where there is no column.
    pub fn of_columns(columns: &[&Column], rows: usize, watch: &dyn Watch) -> Groups {
        let keys: Vec<Key<'_>> = columns.iter().map(|column| Key::of(column)).collect();
        Groups::of_keys(&keys, rows, watch)
    }

    /// Packs as many codes into 64 bits as fit, numbers the combinations, and continues with that number as the first
    /// key.
    pub(crate) fn of_keys(keys: &[Key<'_>], rows: usize, watch: &dyn Watch) -> Groups {
        let mut groups = Groups { of_row: vec![0; rows], n_groups: usize::from(rows > 0) };
        let mut rest = keys;
        while !rest.is_empty() {
            // PROOF: a group number and a code take at most 32 bits each, so at least one key is taken.
            let mut n_bits = bits(groups.n_groups);
            let fits = |key: &&Key<'_>| {
                n_bits += key.bits();
                n_bits <= u64::BITS
            };
            let n = rest.iter().take_while(fits).count().max(1);
            let (now, later) = rest.split_at(n);
            groups = number(&groups, now, watch);
            rest = later;
        }
        groups
    }

    /// A row of every group; 0 for a group without rows.
    pub(crate) fn some_rows(&self) -> Vec<usize> {
        let mut rows = vec![0; self.n_groups];
        self.of_row.iter().enumerate().for_each(|(row, &group)| rows[group as usize] = row);
        rows
    }

    /// Number of rows in every group.
    pub fn sizes(&self) -> Vec<u64> {
        let mut sizes = vec![0; self.n_groups];
        self.of_row.iter().for_each(|&group| sizes[group as usize] += 1);
        sizes
    }
}

/// Groups of rows that agree on the earlier groups and on more keys, numbered by first appearance.
fn number(earlier: &Groups, keys: &[Key<'_>], watch: &dyn Watch) -> Groups {
    let n_bits = bits(earlier.n_groups) + keys.iter().map(Key::bits).sum::<u32>();
    let mut packed: Vec<u64> = earlier.of_row.iter().map(|&group| u64::from(group)).collect();
    for key in keys {
        watch.pause();
        append(&mut packed, key);
    }
    let mut n_groups = 0;
    let mut fresh = || {
        n_groups += 1;
        n_groups - 1
    };
    let mut of_row = Vec::with_capacity(packed.len());
    if n_bits <= DENSE_BITS {
        let mut known = vec![u32::MAX; 1 << n_bits];
        let mut look_up = |&key: &u64| {
            let place = &mut known[key as usize];
            if *place == u32::MAX {
                *place = fresh();
            }
            *place
        };
        for stretch in packed.chunks(STRETCH) {
            watch.pause();
            of_row.extend(stretch.iter().map(&mut look_up));
        }
    } else {
        let mut known: HashMap<u64, u32, FixedState> = HashMap::default();
        for stretch in packed.chunks(STRETCH) {
            watch.pause();
            of_row.extend(stretch.iter().map(|&key| *known.entry(key).or_insert_with(&mut fresh)));
        }
    }
    Groups { of_row, n_groups: n_groups as usize }
}

fn append(packed: &mut [u64], key: &Key<'_>) {
    let shift = key.bits();
    each_width!(key.codes, codes => {
        for (packed, &code) in packed.iter_mut().zip(codes) {
            *packed = *packed << shift | u64::from(code);
        }
    });
}

/// How many rows every combination of these keys has, in no particular order.
pub(crate) fn combination_sizes(keys: &[Key<'_>], rows: usize) -> Vec<u32> {
    let n_bits: u32 = keys.iter().map(Key::bits).sum();
    if n_bits > DENSE_BITS {
        let groups = Groups::of_keys(keys, rows, &Unwatched);
        let mut sizes = vec![0; groups.n_groups];
        groups.of_row.iter().for_each(|&group| sizes[group as usize] += 1);
        return sizes;
    }
    let mut packed = vec![0; rows];
    keys.iter().for_each(|key| append(&mut packed, key));
    let mut sizes = vec![0; 1 << n_bits];
    packed.iter().for_each(|&key| sizes[key as usize] += 1);
    sizes.retain(|&size| size > 0);
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(columns: &[Vec<u32>], n_codes: usize) {
        let rows = columns.first().map_or(3, Vec::len);
        let codes: Vec<Codes> = columns.iter().map(|codes| Codes::collect(n_codes, codes.iter().copied())).collect();
        let keys: Vec<Key<'_>> = codes.iter().map(|codes| Key { codes, n_codes }).collect();
        let groups = Groups::of_keys(&keys, rows, &Unwatched);
        let mut sizes = groups.sizes();
        let some_rows = groups.some_rows();
        assert!((0..).zip(&some_rows).all(|(group, &row)| groups.of_row[row] == group));
        for a in 0..rows {
            for b in 0..a {
                let agree = columns.iter().all(|codes| codes[a] == codes[b]);
                assert_eq!(groups.of_row[a] == groups.of_row[b], agree);
            }
        }
        let mut direct: Vec<u64> = combination_sizes(&keys, rows).into_iter().map(u64::from).collect();
        direct.sort_unstable();
        sizes.sort_unstable();
        assert_eq!(direct, sizes);
    }

    proptest! {
        #[test]
        fn rows_stand_together_exactly_when_they_agree(
            n_codes in prop::sample::select(vec![1usize, 2, 300, 70_000, 3_000_000_000]),
            seed in prop::collection::vec(prop::collection::vec(0u32..3, 12), 0..5),
        ) {
            // Three codes spread over the domain, so that rows agree sometimes, however large it is.
            let spread = |code: u32| (code as usize * (n_codes - 1) / 2) as u32;
            let columns: Vec<Vec<u32>> = seed.iter().map(|codes| codes.iter().map(|&code| spread(code)).collect()).collect();
            check(&columns, n_codes);
        }
    }
}
