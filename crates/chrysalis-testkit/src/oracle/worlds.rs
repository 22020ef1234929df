/// Whether people in these groups with these values would give what a release shows.
pub(crate) type IsShown<'a> = dyn Fn(&[Option<usize>], &[usize]) -> bool + 'a;

/// What a release says about the groups that people may be in, and what its groups show.
pub struct ReleaseSeen<'a> {
    /// For every person, the groups that may hold them; none for a person who is not in this release.
    pub candidates: Vec<Vec<usize>>,
    /// Whether people in these groups (`None` for a person who is not in the release) with these values would give what
    /// is shown.
    pub is_shown: &'a IsShown<'a>,
}

/// The number of worlds; and for every person and value, in how many of them the person has the value. A world gives
/// each person a value below `n_values`, and a group in every release, so that every release shows what it does.
pub fn worlds(n_people: usize, n_values: usize, releases: &[ReleaseSeen<'_>]) -> (u128, Vec<Vec<u128>>) {
    let mut n_worlds = 0;
    let mut having = vec![vec![0; n_values]; n_people];
    let mut values = vec![0; n_people];
    loop {
        // Once values are given, who is in which group of one release does not depend on the others.
        let n: u128 = releases.iter().map(|release| memberships(release, &values)).product();
        n_worlds += n;
        having.iter_mut().zip(&values).for_each(|(having, &value)| having[value] += n);
        if !advance(&mut values, |_| n_values) {
            return (n_worlds, having);
        }
    }
}

/// The number of ways to place people that give what a release shows.
fn memberships(release: &ReleaseSeen<'_>, values: &[usize]) -> u128 {
    let choices = |person: usize| release.candidates[person].len().max(1);
    let mut chosen = vec![0; values.len()];
    let mut groups = vec![None; values.len()];
    let mut n = 0;
    loop {
        for (group, (candidates, &choice)) in groups.iter_mut().zip(release.candidates.iter().zip(&chosen)) {
            *group = candidates.get(choice).copied();
        }
        n += u128::from((release.is_shown)(&groups, values));
        if !advance(&mut chosen, choices) {
            return n;
        }
    }
}

/// Advances to the next number, each digit below its own base; `false` after the last number.
fn advance(digits: &mut [usize], base: impl Fn(usize) -> usize) -> bool {
    for (at, digit) in digits.iter_mut().enumerate() {
        *digit += 1;
        if *digit < base(at) {
            return true;
        }
        *digit = 0;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three people in one group with values 0, 0, 1; the first two are also in a group with 0 and 1.
    #[test]
    fn worlds_of_three_people() {
        let having = |groups: &[Option<usize>], values: &[usize], group: usize| {
            let mut found: Vec<usize> = groups
                .iter()
                .zip(values)
                .filter(|(known, _)| **known == Some(group))
                .map(|(_, &value)| value)
                .collect();
            found.sort_unstable();
            found
        };
        let first = |groups: &[Option<usize>], values: &[usize]| having(groups, values, 0) == [0, 0, 1];
        let second = |groups: &[Option<usize>], values: &[usize]| having(groups, values, 0) == [0, 1];
        let one = ReleaseSeen { candidates: vec![vec![0]; 3], is_shown: &first };
        assert_eq!(worlds(3, 2, std::slice::from_ref(&one)), (3, vec![vec![2, 1]; 3]));
        let two = ReleaseSeen { candidates: vec![vec![0], vec![0], vec![]], is_shown: &second };
        assert_eq!(worlds(3, 2, &[one, two]), (2, vec![vec![1, 1], vec![1, 1], vec![2, 0]]));
    }
}
