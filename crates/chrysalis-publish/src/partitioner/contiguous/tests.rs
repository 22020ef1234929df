use super::exact::Problem;
use super::passes::{self, Line};

/// Sorted numbers with ke=k,e.
struct Numbers {
    numbers: Vec<i64>,
    k: usize,
    e: i64,
}

impl Numbers {
    fn distinct(&self, start: usize, end: usize) -> usize {
        self.numbers[start..end].chunk_by(|a, b| a == b).count()
    }

    fn exact(&self) -> Option<f64> {
        let mut values = self.numbers.clone();
        values.dedup();
        let copies: Vec<u64> = values.iter().map(|v| self.numbers.iter().filter(|n| *n == v).count() as u64).collect();
        let reach: Vec<usize> = values
            .iter()
            .map(|low| values.iter().position(|high| high - low >= self.e).unwrap_or(values.len()))
            .collect();
        let floats: Vec<f64> = values.iter().map(|&v| v as f64).collect();
        let problem = Problem { values: &floats, copies: &copies, distinct: self.k, reach: &reach };
        let (bound, groups) = problem.solve(f64::INFINITY)?;
        let contiguous = passes::min_max(self).map(|ends| ranges(&self.numbers, &ends).into_iter().max());
        if let Some(Some(most)) = contiguous {
            assert_eq!(problem.solve(most as f64).map(|(bound, _)| bound), Some(bound), "below contiguous groups");
        }
        self.check_family(&values, &copies, bound, &groups);
        Some(bound)
    }

    /// Checks that the groups are a solution, not only that the bound is right.
    fn check_family(&self, values: &[i64], copies: &[u64], bound: f64, groups: &[Vec<usize>]) {
        for (value, &copies) in copies.iter().enumerate() {
            let used = groups.iter().filter(|group| group.contains(&value)).count() as u64;
            assert!((1..=copies).contains(&used), "value {} is used {used} times of {copies}", values[value]);
        }
        for group in groups {
            let (low, high) = (values[group[0]], values[group[group.len() - 1]]);
            assert!(group.is_sorted_by(|a, b| a < b) && group.len() >= self.k, "{group:?}");
            assert!(high - low >= self.e && (high - low) as f64 <= bound, "{group:?} within {bound}");
        }
    }
}

impl Line for Numbers {
    fn len(&self) -> usize {
        self.numbers.len()
    }
    fn value(&self, at: usize) -> f64 {
        self.numbers[at] as f64
    }
    fn may_be_group(&self, start: usize, end: usize) -> bool {
        self.distinct(start, end) >= self.k && self.numbers[end - 1] - self.numbers[start] >= self.e
    }
}

fn ranges(numbers: &[i64], ends: &[usize]) -> Vec<i64> {
    let starts = std::iter::once(0).chain(ends.iter().copied());
    starts.zip(ends).map(|(start, &end)| numbers[end - 1] - numbers[start]).collect()
}

/// Best sum, best maximum and most groups over all contiguous partitions.
fn brute_contiguous(line: &Numbers) -> Option<(i64, i64, usize)> {
    let n = line.len();
    let mut best: Option<(i64, i64, usize)> = None;
    for borders in 0u32..1 << (n - 1) {
        let ends: Vec<usize> = (1..=n).filter(|&end| end == n || borders & (1 << (end - 1)) != 0).collect();
        let starts = std::iter::once(0).chain(ends.iter().copied());
        if starts.zip(&ends).all(|(start, &end)| line.may_be_group(start, end)) {
            let ranges = ranges(&line.numbers, &ends);
            let (sum, max) = (ranges.iter().sum(), ranges.iter().copied().max().unwrap_or(0));
            let (s, m, g) = best.unwrap_or((sum, max, ends.len()));
            best = Some((s.min(sum), m.min(max), g.max(ends.len())));
        }
    }
    best
}

/// Least largest range over all set partitions.
fn brute_sets(line: &Numbers) -> Option<i64> {
    fn place(line: &Numbers, at: usize, groups: &mut Vec<Vec<i64>>, best: &mut Option<i64>) {
        let Some(&number) = line.numbers.get(at) else {
            let ok = |group: &Vec<i64>| {
                let distinct = group.chunk_by(|a, b| a == b).count();
                distinct >= line.k && group[group.len() - 1] - group[0] >= line.e
            };
            if groups.iter().all(ok) {
                let worst = groups.iter().map(|group| group[group.len() - 1] - group[0]).max().unwrap_or(0);
                *best = Some(best.map_or(worst, |known| known.min(worst)));
            }
            return;
        };
        for index in 0..groups.len() {
            groups[index].push(number);
            place(line, at + 1, groups, best);
            groups[index].pop();
        }
        groups.push(vec![number]);
        place(line, at + 1, groups, best);
        groups.pop();
    }
    let mut best = None;
    place(line, 0, &mut Vec::new(), &mut best);
    best
}

/// A small generator of its own, so that the same 2,400 multisets are tried everywhere.
fn multisets() -> impl Iterator<Item = Numbers> {
    let mut state = 0x2545_f491_4f6c_dd1du64;
    let mut below = move |n: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % n
    };
    (0..2_400).map(move |round| {
        // Mostly up to eight values, which are fast to enumerate, and nine now and then.
        let n = if round % 12 == 0 { 9 } else { 1 + below(8) };
        let mut numbers: Vec<i64> = (0..n).map(|_| below(12) as i64).collect();
        numbers.sort_unstable();
        Numbers { numbers, k: 1 + below(4) as usize, e: below(7) as i64 }
    })
}

#[test]
fn contiguous_partitions_are_optimal_on_thousands_of_multisets() {
    let mut n_feasible = 0;
    for line in multisets() {
        let what = format!("{:?} with ke={},{}", line.numbers, line.k, line.e);
        let expected = brute_contiguous(&line);
        let sum = passes::min_sum(&line).map(|ends| ranges(&line.numbers, &ends).iter().sum::<i64>());
        assert_eq!(sum, expected.map(|(sum, _, _)| sum), "min-sum of {what}");
        let max = passes::min_max(&line).map(|ends| ranges(&line.numbers, &ends).into_iter().max().unwrap_or(0));
        assert_eq!(max, expected.map(|(_, max, _)| max), "min-max of {what}");
        let most = passes::max_groups(&line).map(|ends| ends.len());
        assert_eq!(most, expected.map(|(_, _, most)| most), "max-groups of {what}");
        n_feasible += usize::from(expected.is_some());
    }
    assert!(n_feasible > 1_000, "only {n_feasible} of the multisets can be partitioned");
}

#[test]
fn the_exact_partition_is_optimal_among_all_on_thousands_of_multisets() {
    for line in multisets() {
        let what = format!("{:?} with ke={},{}", line.numbers, line.k, line.e);
        assert_eq!(line.exact().map(|bound| bound as i64), brute_sets(&line), "min-max-exact of {what}");
    }
}

#[test]
fn ke_section_6_2_multiset_has_5_exactly_and_7_contiguously() {
    let line = Numbers { numbers: vec![1, 2, 3, 5, 5, 6, 6, 8], k: 4, e: 5 };
    assert_eq!(line.exact(), Some(5.0));
    assert_eq!(ranges(&line.numbers, &passes::min_max(&line).unwrap()), [7]);
    assert_eq!(ranges(&line.numbers, &passes::min_sum(&line).unwrap()), [7]);
}
