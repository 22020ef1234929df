//! Runs of neighbouring groups, which threads work on one by one.

/// A block has at least this many rows.
const ROWS_PER_BLOCK: usize = 512;

/// Cuts groups, which `rows` holds one after the other, into blocks of at least `n_groups` groups: their rows and sizes.
pub(super) fn blocks<'a, T>(
    rows: &'a mut [T],
    sizes: &'a mut [u32],
    n_groups: usize,
) -> Vec<(&'a mut [T], &'a mut [u32])> {
    let mut blocks = Vec::new();
    let (mut rest, mut rest_sizes) = (rows, sizes);
    while !rest_sizes.is_empty() {
        let (mut groups, mut n_rows) = (0, 0);
        while groups < rest_sizes.len() && (groups < n_groups || n_rows < ROWS_PER_BLOCK) {
            n_rows += rest_sizes[groups] as usize;
            groups += 1;
        }
        let (block, others) = rest.split_at_mut(n_rows);
        let (block_sizes, other_sizes) = rest_sizes.split_at_mut(groups);
        blocks.push((block, block_sizes));
        (rest, rest_sizes) = (others, other_sizes);
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_hold_whole_groups_and_everything_once() {
        let mut sizes: Vec<u32> = (0..40).map(|group| 1 + 61 * (group % 3)).collect();
        let mut rows: Vec<u32> = (0..sizes.iter().sum()).collect();
        let (all, expected) = (rows.clone(), sizes.clone());
        let cut = blocks(&mut rows, &mut sizes, 8);
        assert_eq!(cut.iter().flat_map(|(rows, _)| rows.iter().copied()).collect::<Vec<_>>(), all);
        assert_eq!(cut.iter().flat_map(|(_, sizes)| sizes.iter().copied()).collect::<Vec<_>>(), expected);
        for (rows, sizes) in &cut[..cut.len() - 1] {
            assert!(sizes.len() >= 8 && rows.len() >= ROWS_PER_BLOCK);
            assert_eq!(rows.len(), sizes.iter().sum::<u32>() as usize);
        }
    }
}
