//! Newton's method for two equations in two unknowns, with steps that never leave the domain and never make it worse.

/// Two values.
pub(super) type Pair = [f64; 2];

/// Two equations: their values, and their derivatives by row.
pub(super) struct Point {
    pub(super) value: Pair,
    pub(super) derivatives: [Pair; 2],
}

/// More steps than any start that converges takes.
const STEPS: usize = 200;
/// The shortest step, as a share of Newton's.
const SHORTEST: f64 = 1e-9;

/// A root of `system` near `start`, or `None`. `system` is `None` outside its domain, and `small` says which values count
/// as zero.
pub(super) fn root(
    start: Pair,
    system: impl Fn(Pair) -> Option<Point>,
    small: impl Fn(Pair, &Point) -> bool,
) -> Option<Pair> {
    let size = |point: &Point| point.value[0].hypot(point.value[1]);
    let mut at = start;
    let mut here = system(at)?;
    for _ in 0..STEPS {
        let [[a, b], [c, d]] = here.derivatives;
        let determinant = a * d - b * c;
        let [x, y] = here.value;
        let step = [(d * x - b * y) / determinant, (a * y - c * x) / determinant];
        if !step.iter().all(|step| step.is_finite()) {
            break;
        }
        let mut share = 1.0;
        let better = loop {
            let next = [at[0] - share * step[0], at[1] - share * step[1]];
            match system(next) {
                Some(there) if size(&there) < size(&here) => break Some((next, there)),
                _ if share < SHORTEST => break None,
                _ => share /= 2.0,
            }
        };
        match better {
            Some((next, there)) => (at, here) = (next, there),
            // Nothing is better within the precision of the numbers.
            None => break,
        }
    }
    small(at, &here).then_some(at)
}
