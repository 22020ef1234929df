use super::Secret;
use super::secret::sip;

/// Rounds of the Feistel network.
const ROUNDS: u64 = 10;

/// The numbers of all groups of a release: one random permutation of 1…G, of which every part can be computed alone.
///
/// A Feistel network over the least power of four that is not below G permutes 0…; whoever lands at G or above goes on
/// until that is no longer so (cycle walking), which makes it a permutation of 0…G − 1.
#[derive(Clone, Debug)]
pub struct GroupNumbers {
    key: [u64; 2],
    total: u64,
    /// Bits of one half.
    half: u32,
}

impl GroupNumbers {
    /// The numbers of `total` groups.
    pub fn new(secret: &Secret, total: u64) -> Self {
        let bits = u64::BITS - total.saturating_sub(1).leading_zeros();
        GroupNumbers { key: secret.words("group numbers"), total, half: bits.div_ceil(2).max(1) }
    }

    /// How many there are.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The number, from 1 on, of a group by its place among all groups of all cells, from 0 on.
    pub fn of(&self, place: u64) -> u64 {
        debug_assert!(place < self.total);
        let mut at = place;
        loop {
            at = self.permuted(at);
            // PROOF: a walk along a cycle comes back to its start, which is below the total.
            if at < self.total {
                return at + 1;
            }
        }
    }

    fn permuted(&self, at: u64) -> u64 {
        let mask = (1 << self.half) - 1;
        let (mut left, mut right) = (at >> self.half, at & mask);
        for round in 0..ROUNDS {
            let mut text = [0; 16];
            text[..8].copy_from_slice(&round.to_le_bytes());
            text[8..].copy_from_slice(&right.to_le_bytes());
            (left, right) = (right, left ^ sip(self.key, &text) & mask);
        }
        left << self.half | right
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_given_once() {
        for total in [1, 2, 3, 4, 5, 16, 17, 100, 1000, 4097] {
            for seed in 0..5 {
                let numbers = GroupNumbers::new(&Secret::from_bytes([seed; 32]), total);
                let mut all: Vec<u64> = (0..total).map(|place| numbers.of(place)).collect();
                all.sort_unstable();
                assert!(all.iter().copied().eq(1..=total), "{total}");
            }
        }
    }

    /// Over many secrets every order of three comes up about equally often: chi-squared with 5 degrees of freedom is above
    /// 20.5 once in a thousand times.
    #[test]
    fn orders_are_equally_likely() {
        let mut found = std::collections::BTreeMap::new();
        for seed in 0..6000_u32 {
            let mut bytes = [0; 32];
            bytes[..4].copy_from_slice(&seed.to_le_bytes());
            let numbers = GroupNumbers::new(&Secret::from_bytes(bytes), 3);
            *found.entry([numbers.of(0), numbers.of(1), numbers.of(2)]).or_insert(0_u32) += 1;
        }
        let chi: f64 = found.values().map(|&n| (f64::from(n) - 1000.0).powi(2) / 1000.0).sum();
        assert!(found.len() == 6 && chi < 20.5, "{found:?}");
    }
}
