//! Who is in which group, and what an attacker believes about them there.

use chrysalis_table::Codes;

use crate::measure::Group;

/// Sweeps of the matching; more would change only the third digit of a belief.
const SWEEPS: usize = 4;

/// Members by group. A member is a published row, or all people with the same quasi values.
pub(super) struct Crowd {
    starts: Vec<u32>,
    members: Vec<u32>,
    /// How many rows each member stands for.
    weights: Vec<f32>,
}

impl Crowd {
    /// Every row of a release, one by one.
    pub(super) fn of_rows(of_row: &[u32], n_groups: usize) -> Crowd {
        let mut starts = vec![0_u32; n_groups + 1];
        of_row.iter().for_each(|&group| starts[group as usize + 1] += 1);
        (0..n_groups).for_each(|group| starts[group + 1] += starts[group]);
        let mut next = starts.clone();
        let mut members = vec![0; of_row.len()];
        for (row, &group) in (0..).zip(of_row) {
            members[next[group as usize] as usize] = row;
            next[group as usize] += 1;
        }
        Crowd { starts, weights: vec![1.0; members.len()], members }
    }

    /// Members that stand for several rows: (group, member, rows), ascending.
    pub(super) fn of_entries(entries: &[(u32, u32, f32)], n_groups: usize) -> Crowd {
        let first = |group: usize| entries.partition_point(|entry| (entry.0 as usize) < group) as u32;
        Crowd {
            starts: (0..=n_groups).map(first).collect(),
            members: entries.iter().map(|entry| entry.1).collect(),
            weights: entries.iter().map(|entry| entry.2).collect(),
        }
    }

    pub(super) fn n_groups(&self) -> usize {
        self.starts.len() - 1
    }

    pub(super) fn members(&self, group: usize) -> (&[u32], &[f32]) {
        let range = self.starts[group] as usize..self.starts[group + 1] as usize;
        (&self.members[range.clone()], &self.weights[range])
    }

    /// At most `n` stretches of groups with about equally many members, which depend on the crowd alone.
    pub(super) fn stretches(&self, n: usize) -> Vec<std::ops::Range<usize>> {
        let total = self.members.len();
        let end = |part: usize| self.starts.partition_point(|&start| (start as usize) < total * part / n);
        let ends: Vec<usize> = (0..=n).map(|part| if part == n { self.n_groups() } else { end(part) }).collect();
        ends.windows(2).map(|pair| pair[0].min(self.n_groups())..pair[1]).filter(|range| !range.is_empty()).collect()
    }
}

/// What is seen of every member: a code per attribute, which selects a line of that attribute's table of
/// log-likelihoods.
pub(super) struct Likelihoods<'a> {
    pub(super) codes: Vec<&'a Codes>,
    pub(super) tables: Vec<&'a [f32]>,
    /// The class of every sensitive code; tables have a column per class.
    pub(super) class_of: &'a [u32],
    pub(super) n_classes: usize,
}

impl Likelihoods<'_> {
    /// Adds up the log-likelihoods of some sensitive values for a member.
    fn likelihoods(&self, member: u32, values: &[(u32, u32)], out: &mut [f32]) {
        out.fill(0.0);
        for (codes, table) in self.codes.iter().zip(&self.tables) {
            let line = codes.get(member as usize) as usize * self.n_classes;
            let line = &table[line..line + self.n_classes];
            for (sum, &(code, _)) in out.iter_mut().zip(values) {
                *sum += line[self.class_of[code as usize] as usize];
            }
        }
    }

    /// How likely every value of a group is for one member, on its own: c(v)·P(evidence | v), adding up to one.
    pub(super) fn alone(&self, group: Group<'_>, member: u32, out: &mut [f32]) {
        self.weighed(group, member, 1.0, out);
    }

    /// The same with likelihoods raised to some power.
    fn weighed(&self, group: Group<'_>, member: u32, power: f32, out: &mut [f32]) {
        self.likelihoods(member, group.values, out);
        let most = out.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        for (share, &(_, count)) in out.iter_mut().zip(group.values) {
            *share = count as f32 * (power * (*share - most)).exp();
        }
        normalize(out);
    }

    /// The same for all members of a group, one line each. Every value is handed out as often as the group has it:
    /// lines and columns are scaled alternately (Sinkhorn). Scaling alone is too timid in small groups (for two members
    /// it gives the square root of the odds), so likelihoods are first raised to n/(n − 1), which makes it exact for
    /// two.
    pub(super) fn together(&self, group: Group<'_>, crowd: (&[u32], &[f32]), out: &mut Vec<f32>) {
        let rows: f32 = crowd.1.iter().sum();
        let power = if rows > 1.0 { rows / (rows - 1.0) } else { 1.0 };
        self.scaled(group, crowd, power, out);
    }

    /// How much rarer every value of a group is than its members suggest: anybody else who might be in the group is
    /// weighed by c(v)·P(evidence | v) times this.
    pub(super) fn rarity(&self, group: Group<'_>, crowd: (&[u32], &[f32])) -> Vec<f32> {
        self.scaled(group, crowd, 1.0, &mut Vec::new())
    }

    /// Fills in the lines; returns the factor that each column was multiplied by in total.
    fn scaled(&self, group: Group<'_>, crowd: (&[u32], &[f32]), power: f32, out: &mut Vec<f32>) -> Vec<f32> {
        let (members, weights) = crowd;
        let n_values = group.values.len();
        let mut factors = vec![1.0; n_values];
        out.clear();
        out.resize(members.len() * n_values, 0.0);
        if n_values == 0 {
            return factors;
        }
        for (line, &member) in out.chunks_exact_mut(n_values).zip(members) {
            self.weighed(group, member, power, line);
        }
        let rows: f32 = weights.iter().sum();
        let mut sums = vec![0.0_f32; n_values];
        let n_sweeps = if n_values > 1 { SWEEPS } else { 0 };
        for _ in 0..n_sweeps {
            sums.fill(0.0);
            for (line, weight) in out.chunks_exact(n_values).zip(weights) {
                sums.iter_mut().zip(line).for_each(|(sum, share)| *sum += weight * share);
            }
            for ((sum, factor), &(_, count)) in sums.iter_mut().zip(&mut factors).zip(group.values) {
                // A share that is too small for a float cannot be scaled.
                let wanted = count as f32 * rows / group.size as f32;
                *sum = if *sum > 0.0 { (wanted / *sum).clamp(1e-6, 1e6) } else { 1.0 };
                *factor *= *sum;
            }
            for line in out.chunks_exact_mut(n_values) {
                line.iter_mut().zip(&sums).for_each(|(share, factor)| *share *= factor);
                normalize(line);
            }
        }
        factors
    }
}

pub(super) fn normalize(line: &mut [f32]) {
    let sum: f32 = line.iter().sum();
    if sum > 0.0 {
        line.iter_mut().for_each(|share| *share /= sum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::GroupCounts;

    /// Two members and two values.
    fn evidence<'a>(codes: &'a Codes, table: &'a [f32]) -> Likelihoods<'a> {
        Likelihoods { codes: vec![codes], tables: vec![table], class_of: &[0, 1], n_classes: 2 }
    }

    #[test]
    fn values_are_handed_out_as_often_as_the_group_has_them() {
        let sample = GroupCounts::from_counts(1, 2, vec![(0, 0, 1), (0, 1, 1)]);
        let codes = Codes::U8(vec![0, 1]);
        // Alone, both members look like value 0; together, only one of them can have it.
        let table = [0.8_f32.ln(), 0.2_f32.ln(), 0.6_f32.ln(), 0.4_f32.ln()];
        let evidence = evidence(&codes, &table);
        let crowd = Crowd::of_rows(&[0, 0], 1);
        let mut beliefs = Vec::new();
        for (member, expected) in [(0, 0.8_f32), (1, 0.6)] {
            let mut line = [0.0; 2];
            evidence.alone(sample.group(0), member, &mut line);
            assert!((line[0] - expected).abs() < 1e-6, "{line:?}");
        }
        evidence.together(sample.group(0), crowd.members(0), &mut beliefs);
        // The two assignments weigh 0.8·0.4 and 0.2·0.6: 8/11 for the first.
        assert!((beliefs[0] - 8.0 / 11.0).abs() < 2e-3, "{beliefs:?}");
        assert!((beliefs[0] + beliefs[2] - 1.0).abs() < 2e-3, "{beliefs:?}");
    }

    #[test]
    fn stretches_cover_every_group_once() {
        let crowd = Crowd::of_rows(&[0, 2, 2, 5, 5, 5], 7);
        for n in 1..9 {
            let all: Vec<usize> = crowd.stretches(n).into_iter().flatten().collect();
            assert_eq!(all, (0..7).collect::<Vec<_>>(), "{n}");
        }
        assert_eq!(crowd.members(2).0, [1, 2]);
        assert!(crowd.members(1).0.is_empty());
    }
}
