use chrysalis_table::Code;

/// What codes have in common that small groups cannot hold twice: two codes with the same key clash.
///
/// Where groups are counted by combinations of values, or by what persons have, two rows of a small group must often
/// differ in every column. A partitioner that knows this need not find out by trying.
#[derive(Clone, Debug, Default)]
pub struct Clashes {
    ends: Vec<u32>,
    keys: Vec<u32>,
}

impl Clashes {
    /// From the keys of every code, in the order of the codes.
    pub(super) fn new(of_codes: impl Iterator<Item = Vec<u32>>) -> Self {
        let mut clashes = Clashes::default();
        for keys in of_codes {
            clashes.keys.extend(keys);
            clashes.ends.push(u32::try_from(clashes.keys.len()).unwrap_or(u32::MAX));
        }
        clashes
    }

    /// Both together: keys of the two differ.
    pub(super) fn with(&self, other: &Clashes) -> Self {
        let past = self.keys.iter().max().map_or(0, |key| key + 1);
        let n_codes = self.ends.len().max(other.ends.len()) as Code;
        let keys = |code: Code| {
            let others = other.keys(code).iter().map(|key| key + past);
            self.keys(code).iter().copied().chain(others).collect()
        };
        Clashes::new((0..n_codes).map(keys))
    }

    /// The keys of a code.
    pub fn keys(&self, code: Code) -> &[u32] {
        let at = code as usize;
        let start = if at == 0 { 0 } else { self.ends.get(at - 1).copied().unwrap_or(0) };
        self.ends.get(at).map_or(&[], |&end| &self.keys[start as usize..end as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_two_columns_are_kept_apart() {
        let first = Clashes::new([vec![0], vec![1], vec![0]].into_iter());
        let second = Clashes::new([vec![5], vec![5, 6], vec![]].into_iter());
        let both = first.with(&second);
        assert_eq!([both.keys(0), both.keys(1), both.keys(2), both.keys(9)], [&[0, 7][..], &[1, 7, 8], &[0], &[]]);
    }
}
