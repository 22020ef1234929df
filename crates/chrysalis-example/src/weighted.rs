//! Drawing from a list of weighted items in constant time.

use rand::Rng;

/// Items with integer weights, stored for the alias method (Walker 1977, in Vose's form).
///
/// Each cell holds its own item and one other; a draw picks a cell evenly and then one of the two.
/// All arithmetic is on integers, so a draw means the same on every machine.
pub(crate) struct WeightedDraw<T> {
    cells: Vec<Cell<T>>,
    total: u64,
}

struct Cell<T> {
    /// Out of `total`: how often the cell's own item is taken.
    keep: u64,
    own: T,
    other: T,
}

impl<T: Copy> WeightedDraw<T> {
    /// Weights are relative; at least one is positive, and their sum is below 2^32.
    pub(crate) fn new(items: impl IntoIterator<Item = (T, u32)>) -> Self {
        let mut cells: Vec<Cell<T>> =
            items.into_iter().map(|(item, weight)| Cell { keep: weight.into(), own: item, other: item }).collect();
        let total: u64 = cells.iter().map(|cell| cell.keep).sum();
        assert!(0 < total && total < 1 << 32, "weights must sum to 1..2^32, not {total}");

        // In units of 1 / (total * cells) every cell has room for exactly `total`.
        let n_cells = cells.len() as u64;
        for cell in &mut cells {
            cell.keep *= n_cells;
        }
        let (mut short, mut over): (Vec<usize>, Vec<usize>) = (0..cells.len()).partition(|&i| cells[i].keep < total);
        while let (Some(taker), Some(&giver)) = (short.pop(), over.last()) {
            cells[taker].other = cells[giver].own;
            cells[giver].keep -= total - cells[taker].keep;
            if cells[giver].keep < total {
                over.pop();
                short.push(giver);
            }
        }
        // PROOF: what is left to place always equals `total` times the cells not yet closed, so the
        // takers never outlast the givers, and the givers that remain hold exactly `total`.
        debug_assert!(short.is_empty() && over.iter().all(|&i| cells[i].keep == total));
        Self { cells, total }
    }

    /// One item; takes one 64-bit word from `rng`, whatever the weights.
    pub(crate) fn draw(&self, rng: &mut impl Rng) -> T {
        let word = rng.next_u64();
        let cell = &self.cells[below(word >> 32, self.cells.len() as u64) as usize];
        if below(word & 0xffff_ffff, self.total) < cell.keep { cell.own } else { cell.other }
    }
}

/// Maps a 32-bit number evenly onto `0..bound`; the bias is below `bound / 2^32`.
pub(crate) fn below(bits: u64, bound: u64) -> u64 {
    (bits * bound) >> 32
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand::rngs::ChaCha12Rng;

    /// Sums what every cell gives to each item: exact, no drawing.
    fn shares(weights: &[u32]) -> Vec<u64> {
        let weighted = WeightedDraw::new(weights.iter().copied().enumerate());
        let mut shares = vec![0; weights.len()];
        for cell in &weighted.cells {
            shares[cell.own] += cell.keep;
            shares[cell.other] += weighted.total - cell.keep;
        }
        shares
    }

    #[test]
    fn cells_together_hold_exactly_the_weights() {
        for weights in [&[5][..], &[1, 1], &[0, 3, 0], &[1, 2, 3, 4], &[1000, 1, 1, 0, 7, 7, 13]] {
            let n_items = weights.len() as u64;
            let expected: Vec<u64> = weights.iter().map(|&weight| u64::from(weight) * n_items).collect();
            assert_eq!(shares(weights), expected, "{weights:?}");
        }
    }

    #[test]
    fn an_item_without_weight_is_never_drawn() {
        let weighted = WeightedDraw::new([('a', 0), ('b', 1), ('c', 0), ('d', 2)]);
        let mut rng = ChaCha12Rng::seed_from_u64(1);
        assert!((0..10_000).all(|_| matches!(weighted.draw(&mut rng), 'b' | 'd')));
    }

    #[test]
    #[should_panic(expected = "weights must sum to 1..2^32, not 0")]
    fn a_list_without_any_weight_is_refused() {
        WeightedDraw::new([('a', 0)]);
    }
}
