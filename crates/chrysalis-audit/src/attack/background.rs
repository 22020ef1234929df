//! An attacker who knows what a person does *not* have; see `spec.md`, background.

use chrysalis_table::exact::BigRational;
use rayon::iter::ParallelIterator;

use super::finding::{Finding, WorstGroup, chance, count, counted, worst_groups};
use super::view::{AttackTarget, Subject};
use crate::measure::{self, Fraction, Group, to_float};
use crate::promise::{promised_values, show};

/// The most values that an attacker is assumed to rule out.
const MOST_RULED_OUT: u64 = 8;

/// An attacker finds a person's group, rules out some of its values and bets on the most frequent of the rest.
#[derive(Clone, Debug, PartialEq)]
pub struct Background {
    /// The number of values that the promises leave possible for everybody; without such a promise, the fewest values
    /// in a group.
    pub l: u64,
    /// One step per number of values ruled out, from 1.
    pub steps: Vec<RuledOut>,
}

/// How sure the attacker is once some values are ruled out.
#[derive(Clone, Debug, PartialEq)]
pub struct RuledOut {
    /// How many values are ruled out.
    pub values: u64,
    /// The chance of being right in the worst case.
    pub confidence: f64,
    /// The same as an exact fraction.
    pub confidence_text: String,
    /// The group where it is reached; the lowest id where there are several.
    pub group: Option<i64>,
    /// Rows whose sensitive value can be guessed with that chance.
    pub rows: u64,
}

/// Runs the attack for j = 1 … l − 2 (at least 1, at most 8) values ruled out.
pub(crate) fn attack(target: &AttackTarget<'_>) -> (Option<Background>, Finding) {
    let sample = target.sample;
    let Some(fewest) = measure::distinct(sample) else {
        return (None, Finding::not_run("background", "Not run: the release has no rows."));
    };
    let promised = promised_values(target.promises);
    let l = if promised > 1 { promised } else { fewest.level };
    let most = l.saturating_sub(2).clamp(1, MOST_RULED_OUT);
    let steps: Vec<(RuledOut, BigRational)> = (1..=most).filter_map(|values| step(target, values)).collect();
    let worst = steps.last().map(|(last, _)| worst(target, last.values)).unwrap_or_default();
    let finding = finding(target.subject(), &steps, l, worst);
    (Some(Background { l, steps: steps.into_iter().map(|(step, _)| step).collect() }), finding)
}

fn step(target: &AttackTarget<'_>, values: u64) -> Option<(RuledOut, BigRational)> {
    let (sample, ids) = (target.sample, target.ids);
    let counts = |group: Group<'_>| {
        target.watch.pause();
        Counts::of(group)
    };
    let worst = sample.worst(|group| counts(group).worst(values as usize), Fraction::compare)?;
    let rows = sample.groups().map(|(_, group)| counts(group).rows_open_to(values as usize, &worst.level));
    let confidence = worst.level.exact()?;
    let ruled_out = RuledOut {
        values,
        confidence: to_float(Some(&confidence)),
        confidence_text: show(&confidence),
        group: ids.get(worst.group).copied().flatten(),
        rows: rows.sum(),
    };
    Some((ruled_out, confidence))
}

/// The counts of a group, the largest first.
struct Counts {
    sorted: Vec<u64>,
    size: u64,
}

impl Counts {
    fn of(group: Group<'_>) -> Counts {
        let mut sorted: Vec<u64> = group.counts().collect();
        sorted.sort_unstable_by(|a, b| b.cmp(a));
        Counts { sorted, size: group.size }
    }

    /// How sure the attacker becomes of the value at `place` once the `j` most frequent others are ruled out.
    fn confidence(&self, place: usize, j: usize) -> Fraction {
        let others = self.sorted.iter().enumerate().filter(|(at, _)| *at != place).take(j);
        let ruled_out: u64 = others.map(|(_, count)| count).sum();
        Fraction::new(self.sorted[place].into(), u128::from(self.size - ruled_out))
    }

    /// PROOF: for every value up to place j the same other values remain, so the most frequent is the surest; a value
    /// beyond place j is less frequent and has more others left beside it.
    fn worst(&self, j: usize) -> Fraction {
        if self.sorted.is_empty() { Fraction::new(0, 1) } else { self.confidence(0, j) }
    }

    /// Rows whose value is guessed with a chance of at least `level`.
    fn rows_open_to(&self, j: usize, level: &Fraction) -> u64 {
        let is_open = |place: &usize| self.confidence(*place, j).compare(level).is_ge();
        // Equal counts give equal confidence and smaller counts never more, so stop at the first value below the level.
        (0..self.sorted.len()).take_while(is_open).map(|place| self.sorted[place]).sum()
    }
}

/// The groups that are hit hardest once so many values are ruled out.
fn worst(target: &AttackTarget<'_>, values: u64) -> Vec<WorstGroup> {
    worst_groups(target.sample, target.ids, |group| Counts::of(group).worst(values as usize))
}

/// The same for every number of values that is ruled out.
pub(crate) fn worst_by_step(target: &AttackTarget<'_>, found: Option<&Background>) -> Vec<Vec<WorstGroup>> {
    let steps = found.into_iter().flat_map(|found| &found.steps);
    steps.map(|step| worst(target, step.values)).collect()
}

/// The attack in words.
pub(crate) fn finding(
    subject: Subject<'_>,
    steps: &[(RuledOut, BigRational)],
    l: u64,
    worst: Vec<WorstGroup>,
) -> Finding {
    let (Some((first, first_chance)), Some((last, last_chance))) = (steps.first(), steps.last()) else {
        return Finding::not_run("background", "Not run: no group has a sensitive value.");
    };
    let name = subject.sensitive;
    let mut sentence = format!(
        "An attacker who finds a person's {} and can rule out one other `{name}` is right about the person's own in up to {} of cases; \
         {} open to a guess this good.",
        subject.group_word,
        chance(first_chance),
        counted(first.rows, "row is", "rows are"),
    );
    if last.values > 1 {
        let more = format!(
            " With {} ruled out it is up to {}, for {}.",
            last.values,
            chance(last_chance),
            counted(last.rows, "row", "rows")
        );
        sentence.push_str(&more);
    }
    let sure = steps.iter().find(|(step, _)| step.confidence >= 1.0);
    let prevention = match sure {
        Some((step, _)) => format!(
            "more different values in every group: distinct-l={} keeps an attacker with {} ruled out from certainty.",
            count(step.values + 2),
            step.values
        ),
        None => format!("an l larger than {l}, or recursive-l, which is designed against this attack."),
    };
    Finding::new("background", sentence, prevention).with_groups(worst)
}

#[cfg(test)]
mod tests {
    use chrysalis_table::Code;

    use super::*;
    use crate::measure::GroupCounts;

    fn counts(of: &[u32]) -> GroupCounts {
        let lines = (0..).zip(of).map(|(code, &count): (Code, &u32)| (0, code, count)).collect();
        GroupCounts::from_counts(1, of.len(), lines)
    }

    #[test]
    fn the_worst_case_is_the_worst_of_all_choices() {
        // Every value of the victim, and every set of j others that could be ruled out.
        for of in [&[3, 2, 2, 1][..], &[1, 1, 1], &[5], &[4, 4, 1, 1, 1], &[1, 2, 3, 4, 5]] {
            let sample = counts(of);
            for j in 0..4_usize {
                let mut best = (0_u64, 1_u64);
                for victim in 0..of.len() {
                    for set in (0_u32..1 << of.len()).filter(|set| set >> victim & 1 == 0) {
                        if set.count_ones() as usize != j.min(of.len() - 1) {
                            continue;
                        }
                        let left = (0..of.len()).filter(|at| set >> at & 1 == 0).map(|at| u64::from(of[at])).sum();
                        let own = u64::from(of[victim]);
                        if own * best.1 > best.0 * left {
                            best = (own, left);
                        }
                    }
                }
                let found = Counts::of(sample.group(0)).worst(j);
                assert_eq!(found.numerator * u128::from(best.1), found.denominator * u128::from(best.0), "{of:?} {j}");
            }
        }
    }

    #[test]
    fn rows_are_those_whose_own_value_becomes_that_sure() {
        let group = Counts { sorted: vec![3, 3, 2, 1], size: 9 };
        // With one ruled out: 3/(9 − 3), for either value of three rows.
        assert_eq!(group.rows_open_to(1, &group.worst(1)), 6);
        // With three ruled out, every value is certain.
        assert_eq!(group.rows_open_to(3, &group.worst(3)), 9);
    }
}
