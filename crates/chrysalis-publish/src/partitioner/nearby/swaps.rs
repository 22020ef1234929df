use super::points::Point;

/// At most this many points of one value are compared with each other.
const MOST_SLOTS: usize = 64;
/// The most passes over all pairs of them.
const MOST_PASSES: usize = 4;
/// An exchange must lower the cost by more than rounding could.
const WORTHWHILE: f32 = 0.999;

/// A place in a group for a point of one value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Slot {
    value: u32,
    /// How many slots for that value its group has before this one.
    repeat: u32,
    group: u32,
    /// The position of its point.
    place: u32,
}

/// Buffers for the work on a block.
pub(super) struct Scratch<const D: usize> {
    sums: Vec<[f32; D]>,
    /// The group of every place.
    group_of: Vec<u32>,
    /// Value and place of every point.
    keys: Vec<u64>,
    /// What each point of a value would cost in each slot of that value.
    costs: Vec<f32>,
    /// Which point is in which slot.
    holder: Vec<usize>,
    moved: Vec<Point<D>>,
}

impl<const D: usize> Scratch<D> {
    pub(super) fn new() -> Self {
        Scratch {
            sums: Vec::new(),
            group_of: Vec::new(),
            keys: Vec::new(),
            costs: Vec::new(),
            holder: Vec::new(),
            moved: Vec::new(),
        }
    }
}

/// Lets points of one value change places between the groups of a block, if that makes both groups more compact. No
/// group's sensitive values change, so every principle still holds.
pub(super) fn improve<const D: usize>(points: &mut [Point<D>], sizes: &[u32], scratch: &mut Scratch<D>) {
    scratch.sums.clear();
    scratch.group_of.clear();
    scratch.keys.clear();
    let mut start = 0;
    for (group, &size) in (0u32..).zip(sizes) {
        let mut sum = [0.0; D];
        for place in start..start + size {
            let point = &points[place as usize];
            scratch.group_of.push(group);
            // Groups are in the order of their places, and one number is sorted faster than several.
            scratch.keys.push(u64::from(point.value) << 32 | u64::from(place));
            sum.iter_mut().zip(point.at).for_each(|(sum, at)| *sum += f32::from(at));
        }
        scratch.sums.push(sum);
        start += size;
    }
    scratch.keys.sort_unstable();
    let slot = |&key: &u64| {
        // PROOF: the low half of a key is a place.
        let place = key as u32;
        Slot { value: (key >> 32) as u32, repeat: 0, group: scratch.group_of[place as usize], place }
    };
    let mut slots: Vec<Slot> = scratch.keys.iter().map(slot).collect();
    tell_repeats_apart(&mut slots);
    for slots in slots.chunk_by(|a, b| (a.value, a.repeat) == (b.value, b.repeat)) {
        slots.chunks(MOST_SLOTS).filter(|slots| slots.len() > 1).for_each(|slots| {
            improve_value(points, sizes, slots, scratch);
        });
    }
}

/// Where a group has a value several times, only one slot of each group takes part at a time.
fn tell_repeats_apart(slots: &mut [Slot]) {
    let mut has_repeats = false;
    for at in 1..slots.len() {
        let before = slots[at - 1];
        if (before.value, before.group) == (slots[at].value, slots[at].group) {
            slots[at].repeat = before.repeat + 1;
            has_repeats = true;
        }
    }
    if has_repeats {
        slots.sort_unstable();
    }
}

/// Exchanges the points of one value, two at a time, where that lowers the sum of squared distances inside groups.
///
/// No two of the slots are in one group, so everything else stays fixed: this is an assignment problem, solved by
/// exchanges.
fn improve_value<const D: usize>(points: &mut [Point<D>], sizes: &[u32], slots: &[Slot], scratch: &mut Scratch<D>) {
    let Scratch { sums, costs, holder, moved, .. } = scratch;
    let n = slots.len();
    costs.clear();
    costs.resize(n * n, 0.0);
    for (b, slot) in slots.iter().enumerate() {
        // The centre of the group without this slot. A point at distance x from it adds x²·(size − 1)/size.
        let size = sizes[slot.group as usize] as f32;
        let scale = 1.0 / (size - 1.0).max(1.0);
        let mut centre = sums[slot.group as usize];
        for (centre, &at) in centre.iter_mut().zip(&points[slot.place as usize].at) {
            *centre = (*centre - f32::from(at)) * scale;
        }
        for (a, from) in slots.iter().enumerate() {
            let point = &points[from.place as usize].at;
            let mut sum = 0.0;
            for axis in 0..D {
                let step = f32::from(point[axis]) - centre[axis];
                sum += step * step;
            }
            costs[a * n + b] = sum * (size - 1.0) / size;
        }
    }
    holder.clear();
    holder.extend(0..n);
    let mut has_changed = false;
    for _ in 0..MOST_PASSES {
        let mut is_better = false;
        for a in 0..n {
            for b in a + 1..n {
                let (p, q) = (holder[a] * n, holder[b] * n);
                if costs[p + b] + costs[q + a] < (costs[p + a] + costs[q + b]) * WORTHWHILE {
                    holder.swap(a, b);
                    is_better = true;
                }
            }
        }
        has_changed |= is_better;
        if !is_better {
            break;
        }
    }
    if !has_changed {
        return;
    }
    moved.clear();
    moved.extend(holder.iter().map(|&from| points[slots[from].place as usize]));
    for (point, slot) in moved.iter().zip(slots) {
        let old = points[slot.place as usize].at;
        for axis in 0..D {
            sums[slot.group as usize][axis] += f32::from(point.at[axis]) - f32::from(old[axis]);
        }
        points[slot.place as usize] = *point;
    }
}
