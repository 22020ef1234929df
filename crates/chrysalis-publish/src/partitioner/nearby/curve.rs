use super::points::Point;

/// Fewer points than this are not worth another task.
const POINTS_PER_TASK: usize = 4_096;

/// How much the spread of the attribute that is cut last counts; that of any other counts 1.
const LAST: f64 = 1e-12;

/// How many points are sampled to find the middle.
const SAMPLE: usize = 128;

/// Step 3. Puts points in the order of a curve that stays close to itself: the leaves of a kd-tree, each half entered
/// where the other was left. The attribute `last` is cut only where no other tells points apart, so that neighbours on
/// it end up together.
pub(super) fn order<const D: usize>(points: &mut [Point<D>], last: Option<usize>) {
    split(points, 0, last);
}

/// `turned` has a bit for every attribute that runs downwards here.
fn split<const D: usize>(mut points: &mut [Point<D>], mut turned: u64, last: Option<usize>) {
    loop {
        let Some((axis, mean)) = widest(points, last) else { return };
        let down = turned >> axis & 1 == 1;
        let cut = near_median(points, axis);
        let mut middle = divide(points, |point| (point.at[axis] <= cut) != down);
        if middle == 0 || middle == points.len() {
            // The sample was on one side only; the mean has points on both sides.
            middle = divide(points, |point| (point.at[axis] <= mean) != down);
        }
        let (first, second) = points.split_at_mut(middle);
        // The second half runs the other way on every other attribute, so it starts where the first half ends.
        let back = turned ^ !(1 << axis);
        if first.len().min(second.len()) >= POINTS_PER_TASK {
            rayon::join(|| split(first, turned, last), || split(second, back, last));
            return;
        }
        // The call goes to the smaller half, so the stack stays shallow.
        if first.len() <= second.len() {
            split(first, turned, last);
            (points, turned) = (second, back);
        } else {
            split(second, back, last);
            points = first;
        }
    }
}

/// The attribute with the largest variance, `last` only where no other has any, and its mean, rounded down.
fn widest<const D: usize>(points: &[Point<D>], last: Option<usize>) -> Option<(usize, u16)> {
    let origin = points.first()?.at;
    let (mut sums, mut squares) = ([0i64; D], [0i64; D]);
    for point in points {
        for axis in 0..D {
            let step = i64::from(point.at[axis]) - i64::from(origin[axis]);
            sums[axis] += step;
            squares[axis] += step * step;
        }
    }
    let n = points.len() as f64;
    let mut best = (0.0, 0);
    // Where all are equal both sums are 0, so rounding cannot make them look wide.
    for axis in (0..D).filter(|&axis| squares[axis] > 0) {
        let spread = squares[axis] as f64 - sums[axis] as f64 * sums[axis] as f64 / n;
        let spread = if Some(axis) == last { spread * LAST } else { spread };
        if spread > best.0 {
            best = (spread, axis);
        }
    }
    let (spread, axis) = best;
    // PROOF: the floor of a mean of unequal whole numbers is at least the least and below the largest of them.
    let mean = sums[axis].div_euclid(points.len() as i64) + i64::from(origin[axis]);
    (spread > 0.0).then_some((axis, mean as u16))
}

/// The last coordinate of the lower half, estimated from a sample. Equal coordinates stay together.
fn near_median<const D: usize>(points: &[Point<D>], axis: usize) -> u16 {
    let mut sample = [0u16; SAMPLE];
    let mut n = 0;
    for (place, point) in sample.iter_mut().zip(points.iter().step_by(points.len().div_ceil(SAMPLE))) {
        *place = point.at[axis];
        n += 1;
    }
    let sample = &mut sample[..n];
    sample.sort_unstable();
    let median = sample[n / 2];
    let below = sample.partition_point(|&at| at < median);
    let above = n - sample.partition_point(|&at| at <= median);
    if below >= above { median.saturating_sub(1) } else { median }
}

/// Puts the points that go first before the others, and returns how many they are.
fn divide<const D: usize>(points: &mut [Point<D>], goes_first: impl Fn(&Point<D>) -> bool) -> usize {
    let mut middle = 0;
    for at in 0..points.len() {
        if goes_first(&points[at]) {
            points.swap(middle, at);
            middle += 1;
        }
    }
    middle
}
