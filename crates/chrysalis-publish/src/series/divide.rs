use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use chrysalis_table::{Code, Column};

use super::{Family, Past};

/// People of one signature, by the value that they have.
pub(super) struct Bucket {
    pub(super) signature: u32,
    /// The rows with each value of the signature.
    pub(super) rows: Vec<Vec<u32>>,
    /// In how many groups they are to be shown; no value has more rows.
    pub(super) groups: usize,
    /// Whether some of them were published before.
    pub(super) has_past: bool,
}

impl Bucket {
    fn new(signature: u32, family: &Family) -> Self {
        Bucket { signature, rows: vec![Vec::new(); family.values(signature).len()], groups: 0, has_past: false }
    }

    /// How many people share the value that most have.
    pub(super) fn most(&self) -> usize {
        self.rows.iter().map(Vec::len).max().unwrap_or(0)
    }

    /// How many people there are.
    pub(super) fn len(&self) -> usize {
        self.rows.iter().map(Vec::len).sum()
    }

    /// Newcomers take places that are free.
    pub(super) fn fill(&mut self, family: &Family, newcomers: &mut [Vec<u32>]) {
        for (rows, &value) in self.rows.iter_mut().zip(family.values(self.signature)) {
            let waiting = &mut newcomers[value as usize];
            let n = (self.groups - rows.len()).min(waiting.len());
            rows.extend(waiting.drain(waiting.len() - n..));
        }
    }
}

/// How many people a bucket has too few of one value. Chance makes a value lack about as many as the square root of the
/// groups, so the greatest lack is the one that has most beside that.
#[derive(PartialEq, Eq)]
struct Lack {
    short: usize,
    groups: usize,
    bucket: Reverse<usize>,
    place: usize,
}

impl Ord for Lack {
    fn cmp(&self, other: &Self) -> Ordering {
        // PROOF: people are numbered in 32 bits, so the products fit 128 bits.
        let squared = |one: &Lack, two: &Lack| (one.short as u128).pow(2) * two.groups as u128;
        squared(self, other).cmp(&squared(other, self)).then_with(|| self.bucket.cmp(&other.bucket))
    }
}

impl PartialOrd for Lack {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// People who stay by signature, and newcomers by value.
pub(super) struct Divided {
    /// One bucket per signature, in its place.
    pub(super) buckets: Vec<Bucket>,
    pub(super) newcomers: Vec<Vec<u32>>,
    /// People whose value left their signature: their rows.
    pub(super) changed: Vec<u32>,
    pub(super) n_changed: u64,
    pub(super) stay: u64,
}

impl Divided {
    /// The bucket of a signature.
    pub(super) fn bucket(&mut self, signature: u32, family: &Family) -> &mut Bucket {
        for fresh in self.buckets.len()..family.len() {
            self.buckets.push(Bucket::new(fresh as u32, family));
        }
        &mut self.buckets[signature as usize]
    }

    /// Step 2. Each bucket becomes as many groups as its most frequent value has people: where other values have fewer,
    /// newcomers take their places. Returns how many people the buckets have then.
    pub(super) fn balance(&mut self, family: &Family) -> u64 {
        let mut lacks: Vec<BinaryHeap<Lack>> = self.newcomers.iter().map(|_| BinaryHeap::new()).collect();
        for (at, bucket) in self.buckets.iter_mut().enumerate() {
            bucket.has_past = bucket.len() > 0;
            bucket.groups = bucket.most();
            for (place, (rows, &value)) in bucket.rows.iter().zip(family.values(bucket.signature)).enumerate() {
                let short = bucket.groups - rows.len();
                let lack = Lack { short, groups: bucket.groups, bucket: Reverse(at), place };
                lacks[value as usize].extend((short > 0).then_some(lack));
            }
        }
        for (waiting, lacks) in self.newcomers.iter_mut().zip(&mut lacks) {
            while let Some(mut lack) = lacks.pop() {
                let Some(row) = waiting.pop() else { break };
                self.buckets[lack.bucket.0].rows[lack.place].push(row);
                lack.short -= 1;
                lacks.extend((lack.short > 0).then_some(lack));
            }
        }
        self.buckets.iter().map(|bucket| bucket.len() as u64).sum()
    }

    /// More groups of a signature, whose places newcomers take.
    pub(super) fn add(&mut self, signature: u32, groups: usize, family: &Family) {
        let bucket = self.bucket(signature, family);
        bucket.groups += groups;
        self.buckets[signature as usize].fill(family, &mut self.newcomers);
    }
}

/// Step 1.
pub(super) fn divide(column: &Column, past: &Past, family: &Family, rows: &[u32]) -> Divided {
    let mut divided = Divided {
        buckets: (0..family.len()).map(|signature| Bucket::new(signature as u32, family)).collect(),
        newcomers: vec![Vec::new(); column.domain().len()],
        changed: Vec::new(),
        n_changed: 0,
        stay: 0,
    };
    for &row in rows {
        let value: Code = column.code(row as usize);
        let life = past.of_row[row as usize].map(|life| &past.lives[life as usize]);
        let Some(&signature) = life.and_then(|life| life.last()) else {
            divided.newcomers[value as usize].push(row);
            continue;
        };
        divided.stay += 1;
        match family.place(signature, value) {
            Some(place) => divided.buckets[signature as usize].rows[place].push(row),
            None => divided.changed.push(row),
        }
    }
    divided.n_changed = divided.changed.len() as u64;
    divided
}
