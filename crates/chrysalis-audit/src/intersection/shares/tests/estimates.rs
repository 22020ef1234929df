//! How far estimates are from counts, where both are available.

use super::*;

/// How far the largest shares of estimated cells are from the counted ones, relative to these.
struct Errors {
    all: Vec<f64>,
    /// How many cells an estimate puts above a promise of 1/l, and how many of these are not.
    above: usize,
    wrong: usize,
}

/// Random releases of some people in groups of `size`, as anatomize deals them: people with equal values go to
/// different groups.
fn compare(n: usize, size: usize, n_values: usize, n_releases: usize, cases: u64) -> Errors {
    let mut errors = Errors { all: Vec::new(), above: 0, wrong: 0 };
    for seed in 0..cases {
        let mut draw = Draw::new(seed * 1_000 + (n * 100 + size * 10 + n_values) as u64);
        let values: Vec<usize> = (0..n).map(|_| draw.below(n_values)).collect();
        let releases: Vec<Vec<usize>> = (0..n_releases).map(|_| dealt(&mut draw, &values, size)).collect();
        let sides: Vec<Side> = releases.iter().map(|groups| by_groups(groups, &values)).collect();
        let puzzle = Puzzle::new(&sides, &placed(&releases), &Unwatched).unwrap();
        let (counted, about) = (solve_within(&puzzle, 2_000_000, &Unwatched), solve_within(&puzzle, 0, &Unwatched));
        let promised = chrysalis_criteria::Rational::new(1, size as u64);
        for cell in 0..puzzle.cells.len() {
            if about.known[cell] != KnownPeople::About || !matches!(counted.known[cell], KnownPeople::Exactly(_)) {
                continue;
            }
            let error = crate::SHARE_ERROR_PERCENT as f64 / 100.0;
            let exact = counted.best(&puzzle, cell, Some(promised), 0.0).unwrap();
            let estimate = about.best(&puzzle, cell, Some(promised), error).unwrap();
            errors.all.push((estimate.share - exact.share).abs() / exact.share);
            errors.above += usize::from(estimate.is_above);
            errors.wrong += usize::from(estimate.is_above && !exact.is_above);
        }
    }
    errors.all.sort_by(f64::total_cmp);
    errors
}

fn dealt(draw: &mut Draw, values: &[usize], size: usize) -> Vec<usize> {
    let mut people: Vec<(usize, usize, usize)> =
        (0..values.len()).map(|person| (values[person], draw.below(1 << 20), person)).collect();
    people.sort_unstable();
    let n_groups = (values.len() / size).max(1);
    let mut groups = vec![0; values.len()];
    people.iter().enumerate().for_each(|(at, &(_, _, person))| groups[person] = at % n_groups);
    groups
}

impl Errors {
    fn mean(&self) -> f64 {
        self.all.iter().sum::<f64>() / self.all.len() as f64
    }

    fn quantile(&self, part: f64) -> f64 {
        self.all[((self.all.len() - 1) as f64 * part) as usize]
    }
}

/// The figures of `spec.md`, observed over 8,489 cells: means of 0.4 to 6.3 %, nine in ten within 17 %, 99 in 100
/// within 32 %; 62 of 8,151 that an estimate puts above a promise are not.
#[test]
fn estimates_are_near_what_is_counted() {
    let (mut n_cells, mut above, mut wrong) = (0, 0, 0);
    for (n, size, n_values, n_releases) in
        [(24, 3, 10, 2), (30, 3, 14, 2), (18, 3, 6, 2), (16, 4, 6, 2), (15, 5, 5, 2), (24, 3, 8, 3), (20, 5, 8, 2)]
    {
        let errors = compare(n, size, n_values, n_releases, 200);
        let told = format!(
            "{n} people in {n_releases} releases, groups of {size}, {n_values} values: {} cells, mean {:.4}, 90 % {:.4}, 99 % {:.4}",
            errors.all.len(),
            errors.mean(),
            errors.quantile(0.9),
            errors.quantile(0.99),
        );
        assert!(errors.all.len() > 400 && errors.mean() < 0.07, "{told}");
        assert!(errors.quantile(0.9) < 0.17 && errors.quantile(0.99) < 0.32, "{told}");
        n_cells += errors.all.len();
        above += errors.above;
        wrong += errors.wrong;
    }
    assert!(n_cells > 8_000 && above > 8_000 && wrong * 100 <= above, "{wrong} of {above} of {n_cells}");
}

/// An estimate for one release never exceeds the largest share of its groups.
#[test]
fn estimates_of_one_release_are_its_own_shares() {
    for seed in 0..50 {
        let mut draw = Draw::new(seed);
        let values: Vec<usize> = (0..24).map(|_| draw.below(6)).collect();
        let groups = dealt(&mut draw, &values, 4);
        let sides = [by_groups(&groups, &values)];
        // Everybody fits two groups, so that nothing is settled.
        let n_groups = sides[0].blocks.len();
        let likes = |person: usize| Likes {
            people: 1,
            places: vec![vec![groups[person] as u32, ((groups[person] + 1) % n_groups) as u32]],
            margins: vec![Vec::new()],
        };
        let puzzle = Puzzle::new(&sides, &(0..24).map(likes).collect::<Vec<_>>(), &Unwatched).unwrap();
        let solution = solve_within(&puzzle, 0, &Unwatched);
        let most = sides[0]
            .blocks
            .iter()
            .flat_map(|block| block.values.iter().map(|value| value.1 as f64 / block.rows() as f64));
        let most = most.fold(0.0, f64::max);
        for cell in 0..puzzle.cells.len() {
            let best = solution.best(&puzzle, cell, None, 0.0).unwrap();
            assert!(!best.is_exact && best.share <= most + 1e-3, "seed {seed}: {best:?}, {most}");
        }
    }
}
