//! Lots drawn over finished groups, so that who replays the algorithm cannot tell worlds apart by which groups come out.
//!
//! Two rows of different groups are picked, whatever their sensitive values, and change places with a chance that falls with
//! what that costs (Metropolis and others 1953). Where this is done often enough, groups π come out as often as exp(−cost(π)/heat)
//! says, among all that pass. Let two members of a group exchange their values: whatever holds that group passes in both worlds
//! and costs the same, so its chance differs only by what all that pass sum up to, and that hardly depends on two rows.

use chrysalis_criteria::Principle;
use chrysalis_table::SaCounts;
use rand::rngs::ChaCha8Rng;
use rand::{CryptoRng, RngExt, SeedableRng};

/// What an exchange may cost, in what a row costs on average: the higher, the less groups tell, and the more they lose.
pub(super) const HEAT: f64 = 0.25;
/// About so many rows are looked at in all: small tables are stirred longer.
const LOOKS_IN_ALL: u64 = 16_000_000;
/// Groups are put into another order so often at most, and every row is picked so often in each.
const MOST_ROUNDS: u64 = 8;
const MOST_SWEEPS: u64 = 16;

/// In how many orders to stir groups of these sizes, and how often to pick every row in each.
pub(super) fn rounds_and_sweeps(sizes: impl Iterator<Item = u32>) -> (usize, usize) {
    // To judge an exchange takes a look at every row of both groups.
    let looks: u64 = sizes.map(|size| u64::from(size) * u64::from(size)).sum();
    let sweeps = (LOOKS_IN_ALL / looks.max(1)).clamp(1, MOST_ROUNDS * MOST_SWEEPS);
    let rounds = sweeps.min(MOST_ROUNDS);
    (rounds as usize, (sweeps / rounds) as usize)
}

/// Rows that stand this many bits of places apart, in the order of groups, do not change places.
const BITS_APART: u32 = 7;

/// A row that can stand in a group.
pub(super) trait Member: Copy {
    /// Its sensitive code.
    fn value(&self) -> u32;
}

/// What groups cost.
pub(super) trait Cost<T> {
    /// By how much the cost of two groups rises where row `a` of the first and row `b` of the second change places.
    fn rise(&self, first: &[T], a: usize, second: &[T], b: usize) -> f64;
}

/// Randomness that can be divided among blocks of groups, whichever thread works on them.
pub(super) struct Lots {
    key: [u8; 32],
}

impl Lots {
    pub(super) fn new(rng: &mut dyn CryptoRng) -> Self {
        let mut key = [0; 32];
        rng.fill_bytes(&mut key);
        Lots { key }
    }

    /// The lots of one block in one round.
    pub(super) fn of(&self, round: usize, block: usize) -> ChaCha8Rng {
        let mut lots = ChaCha8Rng::from_seed(self.key);
        lots.set_stream((round as u64) << 32 | block as u64);
        lots
    }
}

/// How groups are stirred.
pub(super) struct Stirrer<'a> {
    pub(super) goal: &'a dyn Principle,
    /// Whether values that are apart are kept apart: where no group holds one twice, none will.
    pub(super) keeps_apart: bool,
    /// What an exchange may cost, about.
    pub(super) heat: f64,
    /// How often each row is picked, on average.
    pub(super) sweeps: usize,
    /// By how much the cost of a row may rise in all, on average.
    pub(super) slack: f64,
}

impl Stirrer<'_> {
    /// Exchanges rows between groups that stand one after the other. Sizes stay as they are, and every group passes.
    pub(super) fn stir<T: Member>(
        &self,
        members: &mut [T],
        sizes: &[u32],
        cost: &impl Cost<T>,
        counts: &mut SaCounts,
        lots: &mut ChaCha8Rng,
    ) {
        let n = members.len();
        if sizes.len() < 2 {
            return;
        }
        let mut group_of: Vec<u32> = Vec::with_capacity(n);
        let mut starts: Vec<u32> = Vec::with_capacity(sizes.len());
        for (group, &size) in (0u32..).zip(sizes) {
            starts.push(group_of.len() as u32);
            group_of.extend((0..size).map(|_| group));
        }
        let is_apart = self.keeps_apart && are_apart(members, sizes);
        let slack = self.slack * n as f64;
        let mut risen = 0.0;
        for _ in 0..n * self.sweeps {
            // The same two places are picked as often whoever stands there: that makes the way back as likely as the way there.
            let i = lots.random_range(0..n);
            // Near places more often than far ones.
            let least = 1 << lots.random_range(0..BITS_APART);
            let j = i + lots.random_range(least..2 * least);
            if j >= n || group_of[i] == group_of[j] {
                continue;
            }
            let most = -self.heat * f64::from(lots.random::<f32>().max(f32::MIN_POSITIVE).ln());
            let range = |group: u32| {
                let start = starts[group as usize] as usize;
                start..start + sizes[group as usize] as usize
            };
            let (first, second) = (range(group_of[i]), range(group_of[j]));
            let (a, b) = (i - first.start, j - second.start);
            let rise = cost.rise(&members[first.clone()], a, &members[second.clone()], b);
            if rise <= most
                && risen + rise <= slack
                && (!is_apart || stay_apart(&members[first.clone()], a, &members[second.clone()], b))
                && self.passes(&members[first], a, &members[second], b, counts)
            {
                members.swap(i, j);
                risen += rise;
            }
        }
    }

    /// Whether both groups pass once two rows have changed places.
    fn passes<T: Member>(&self, first: &[T], a: usize, second: &[T], b: usize, counts: &mut SaCounts) -> bool {
        let (going, coming) = (first[a].value(), second[b].value());
        if going == coming {
            return true;
        }
        let mut holds = |group: &[T], but: usize, value: u32| {
            counts.clear();
            group.iter().enumerate().for_each(|(at, member)| counts.add(if at == but { value } else { member.value() }));
            self.goal.holds(counts)
        };
        holds(first, a, coming) && holds(second, b, going)
    }
}

/// Whether no row meets its own value where two change places.
fn stay_apart<T: Member>(first: &[T], a: usize, second: &[T], b: usize) -> bool {
    let lacks = |group: &[T], but: usize, value: u32| {
        group.iter().enumerate().all(|(at, member)| at == but || member.value() != value)
    };
    lacks(first, a, second[b].value()) && lacks(second, b, first[a].value())
}

/// Whether no group holds a value twice.
fn are_apart<T: Member>(members: &[T], sizes: &[u32]) -> bool {
    let mut rest = members;
    let mut values = Vec::new();
    sizes.iter().all(|&size| {
        let (group, after) = rest.split_at(size as usize);
        rest = after;
        values.clear();
        values.extend(group.iter().map(Member::value));
        values.sort_unstable();
        values.windows(2).all(|pair| pair[0] != pair[1])
    })
}
