//! Lives that a change divides: the publisher's specification counts whoever changed as two people, one before the change
//! and one after, whose sets of values have nothing in common. Here the tables alone say where that may have been.

use super::signatures::Signatures;

/// The most sets that are tried for one life.
const MAX_STEPS: usize = 2_000;

/// How many more parts than the fewest that are conceivable are tried.
const MORE_PARTS: usize = 2;

/// Where the parts of a life begin, given the sets of values that somebody's groups may have shown, one release after the
/// other: in each part they can all have shown one and the same set, and it has nothing in common with that of any former
/// part. The fewest parts that explain the life; `None` if none were found.
pub(super) fn parts(shown: &[&[u32]], signatures: &Signatures) -> Option<Vec<usize>> {
    let stretches = stretches(shown)?;
    let mut search = Search { shown, signatures, former: Vec::new(), starts: Vec::new(), steps: 0 };
    let is_found = (stretches..=(stretches + MORE_PARTS).min(shown.len())).any(|n| search.begin(0, n));
    is_found.then_some(search.starts)
}

/// The sets that are among both; both ascend.
fn both(one: &[u32], other: &[u32]) -> Vec<u32> {
    one.iter().copied().filter(|set| other.binary_search(set).is_ok()).collect()
}

/// The fewest stretches of releases with a set in common each; `None` where somebody fits no group.
fn stretches(shown: &[&[u32]]) -> Option<usize> {
    let (mut own, mut n) = (Vec::new(), 0);
    for next in shown {
        let still = both(&own, next);
        (own, n) = if still.is_empty() { (next.to_vec(), n + 1) } else { (still, n) };
        if own.is_empty() {
            return None;
        }
    }
    Some(n)
}

struct Search<'a> {
    shown: &'a [&'a [u32]],
    signatures: &'a Signatures,
    /// The sets of the parts so far, and where they begin.
    former: Vec<u32>,
    starts: Vec<usize>,
    steps: usize,
}

impl Search<'_> {
    /// Whether the life from a release on has so many parts.
    fn begin(&mut self, from: usize, n_parts: usize) -> bool {
        if n_parts == 0 {
            return from == self.shown.len();
        }
        // The sets of ever longer stretches; long ones are tried first.
        let mut own: Vec<Vec<u32>> = Vec::new();
        for next in &self.shown[from..] {
            let still = own.last().map_or_else(|| next.to_vec(), |own| both(own, next));
            if still.is_empty() {
                break;
            }
            own.push(still);
        }
        if n_parts == 1 && own.len() < self.shown.len() - from {
            return false;
        }
        self.starts.push(from);
        let lengths = (1..=own.len()).rev().take(if n_parts == 1 { 1 } else { own.len() });
        for (length, sets) in lengths.map(|length| (length, &own[length - 1])) {
            for &set in sets {
                self.steps += 1;
                if self.steps > MAX_STEPS {
                    return false;
                }
                if !self.former.iter().all(|former| self.signatures.are_apart(*former, set)) {
                    continue;
                }
                self.former.push(set);
                if self.begin(from + length, n_parts - 1) {
                    return true;
                }
                self.former.pop();
            }
        }
        self.starts.pop();
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where the parts begin of a life whose groups may have shown these sets of values.
    fn starts(shown: &[&[&[u32]]]) -> Option<Vec<usize>> {
        let mut signatures = Signatures::default();
        let mut number = |sets: &&[&[u32]]| {
            let mut numbers: Vec<u32> = sets.iter().map(|set| signatures.number(set.iter().copied())).collect();
            numbers.sort_unstable();
            numbers
        };
        let shown: Vec<Vec<u32>> = shown.iter().map(&mut number).collect();
        parts(&shown.iter().map(Vec::as_slice).collect::<Vec<_>>(), &signatures)
    }

    #[test]
    fn lives_are_divided_where_nothing_else_explains_them() {
        let (low, high, between): (&[u32], &[u32], &[u32]) = (&[1, 2, 3], &[4, 5, 6], &[3, 4, 7]);
        assert_eq!(starts(&[&[low], &[low], &[low, high]]), Some(vec![0]));
        assert_eq!(starts(&[&[low], &[low, high], &[high]]), Some(vec![0, 2]));
        assert_eq!(starts(&[&[low], &[between]]), None, "they have a value in common");
        assert_eq!(starts(&[&[low], &[high], &[low]]), None, "a former set does not come back");
        assert_eq!(starts(&[&[low], &[high], &[&[8, 9, 10]]]), Some(vec![0, 1, 2]));
        // All groups of the first two months may show what has a value in common with the set of the third.
        assert_eq!(starts(&[&[low, between], &[low, between], &[high]]), Some(vec![0, 2]));
        // The longest stretch ends with such a set, and the change came before.
        assert_eq!(starts(&[&[low, between], &[high, between], &[high]]), Some(vec![0, 1]));
        assert_eq!(starts(&[&[low], &[], &[low]]), None, "nobody stands nowhere");
    }

    #[test]
    fn lives_that_cannot_be_explained_do_not_take_forever() {
        let sets: Vec<Vec<u32>> = (0..60).map(|at| vec![0, at + 1, at + 100]).collect();
        let all: Vec<&[u32]> = sets.iter().map(Vec::as_slice).collect();
        let months: Vec<&[&[u32]]> = (0..30).map(|at| &all[2 * at..2 * at + 2]).collect();
        assert_eq!(starts(&months), None);
    }
}
