use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::points::Point;
use crate::partitioner::anatomize::with_joining;
use crate::partitioner::dealing::Dealing;

/// How many heads a group passes over at most because they clash with it.
const MOST_ASIDE: usize = 16;
/// How many groups on either side a leftover looks at first.
const WINDOW: usize = 2_048;

/// Step 4. Groups of `l` distinct values along the curve. Reorders the points group after group, and returns the sizes.
pub(super) fn deal<const D: usize>(points: &mut [Point<D>], l: usize, dealing: &Dealing) -> Vec<u32> {
    let mut queues = Queues::new(points, dealing);
    let mut members: Vec<u32> = Vec::with_capacity(points.len());
    while queues.take(l, points, dealing, &mut members) {}
    if members.is_empty() {
        return vec![points.len() as u32];
    }
    let mut joining: Vec<(u32, u32)> = Vec::new();
    for place in queues.into_leftovers() {
        let group = nearest_lacking(points, dealing, &members, l, place, &joining);
        joining.push((group, place));
    }
    let (order, sizes) = with_joining(&members, l, joining);
    let ordered: Vec<Point<D>> = order.iter().map(|&place| points[place as usize]).collect();
    points.copy_from_slice(&ordered);
    sizes
}

/// The points of every value in the order of the curve.
struct Queues {
    places: Vec<u32>,
    heads: Vec<u32>,
    ends: Vec<u32>,
    n_left: usize,
    /// Heads of values that may still wait, the first on the curve on top.
    waiting: BinaryHeap<Reverse<(u32, u32)>>,
    /// Values that are in every group from now on, because they have as many points as there are groups to come.
    pressing: Vec<u32>,
    is_pressing: Vec<bool>,
    /// When (in groups formed) a value could press at the earliest.
    calendar: BinaryHeap<Reverse<(u32, u32)>>,
    n_formed: u32,
}

impl Queues {
    fn new<const D: usize>(points: &[Point<D>], dealing: &Dealing) -> Self {
        // Values are numbered anew: a cell has few of the domain's values. Ordinary ones have a queue for every point.
        let mut values: Vec<u32> = points.iter().map(|point| dealing.class(point.value)).collect();
        values.sort_unstable();
        values.dedup();
        let mut n_values = values.len();
        let value = |point: &Point<D>| {
            if dealing.is_ordinary(point.value) {
                n_values += 1;
                return n_values as u32 - 1;
            }
            values.partition_point(|&value| value < dealing.class(point.value)) as u32
        };
        let of_points: Vec<u32> = points.iter().map(value).collect();
        let mut heads = vec![0u32; n_values + 1];
        of_points.iter().for_each(|&value| heads[value as usize + 1] += 1);
        for value in 0..n_values {
            heads[value + 1] += heads[value];
        }
        let mut ends = heads[..n_values].to_vec();
        heads.truncate(n_values);
        let mut places = vec![0; points.len()];
        for (place, &value) in (0u32..).zip(&of_points) {
            let end = &mut ends[value as usize];
            places[*end as usize] = place;
            *end += 1;
        }
        let filled = (0..n_values as u32).filter(|&value| heads[value as usize] < ends[value as usize]);
        let waiting = filled.clone().map(|value| Reverse((places[heads[value as usize] as usize], value))).collect();
        let calendar = filled.map(|value| Reverse((0, value))).collect();
        let is_pressing = vec![false; n_values];
        let n_left = points.len();
        Queues { places, heads, ends, n_left, waiting, pressing: Vec::new(), is_pressing, calendar, n_formed: 0 }
    }

    fn n_in(&self, value: u32) -> u32 {
        self.ends[value as usize] - self.heads[value as usize]
    }

    /// Forms a group if `l` values are left.
    ///
    /// A head that clashes with the group is set aside and waits for the next one; a few at most, so that it does not
    /// wait long.
    fn take<const D: usize>(
        &mut self,
        l: usize,
        points: &[Point<D>],
        dealing: &Dealing,
        members: &mut Vec<u32>,
    ) -> bool {
        if self.n_left < l {
            return false;
        }
        self.look_who_presses((self.n_left / l) as u32);
        if self.pressing.len() > l {
            // Only near the end: the longest queues first.
            let mut pressing = std::mem::take(&mut self.pressing);
            pressing
                .sort_by_key(|&value| (Reverse(self.n_in(value)), self.places[self.heads[value as usize] as usize]));
            self.pressing = pressing;
        }
        let mut chosen: Vec<u32> = self.pressing.iter().copied().take(l).collect();
        let keys = |place: u32| dealing.keys(points[place as usize].value);
        let head = |value: u32| self.places[self.heads[value as usize] as usize];
        let mut taken: Vec<u32> = chosen.iter().flat_map(|&value| keys(head(value))).copied().collect();
        let mut aside: Vec<(u32, u32)> = Vec::new();
        while chosen.len() < l {
            match self.waiting.pop() {
                Some(Reverse((_, value))) if self.is_pressing[value as usize] => {}
                Some(Reverse((place, value))) => {
                    let clashes = keys(place).iter().any(|key| taken.contains(key));
                    if clashes && aside.len() < MOST_ASIDE {
                        aside.push((place, value));
                    } else {
                        taken.extend(keys(place));
                        chosen.push(value);
                    }
                }
                None if aside.is_empty() => return false,
                None => chosen.push(aside.remove(0).1),
            }
        }
        self.waiting.extend(aside.into_iter().map(Reverse));
        for value in chosen {
            let head = &mut self.heads[value as usize];
            members.push(self.places[*head as usize]);
            *head += 1;
            if *head < self.ends[value as usize] && !self.is_pressing[value as usize] {
                self.waiting.push(Reverse((self.places[*head as usize], value)));
            }
        }
        let (heads, ends) = (&self.heads, &self.ends);
        self.pressing.retain(|&value| heads[value as usize] < ends[value as usize]);
        self.n_left -= l;
        self.n_formed += 1;
        true
    }

    /// A value presses once it has as many points as there are groups to come. Each group that it stays out of brings
    /// it one step nearer, so it need not be looked at again before that many groups are formed.
    fn look_who_presses(&mut self, n_groups_left: u32) {
        while let Some(&Reverse((due, value))) = self.calendar.peek() {
            if due > self.n_formed {
                break;
            }
            self.calendar.pop();
            let n = self.n_in(value);
            if n >= n_groups_left {
                self.is_pressing[value as usize] = true;
                self.pressing.push(value);
            } else if n > 0 {
                self.calendar.push(Reverse((self.n_formed + n_groups_left - n, value)));
            }
        }
    }

    fn into_leftovers(self) -> Vec<u32> {
        let part = |(&head, &end): (&u32, &u32)| &self.places[head as usize..end as usize];
        self.heads.iter().zip(&self.ends).flat_map(part).copied().collect()
    }
}

/// The group that is nearest among those without the point's value: near on the curve first, then anywhere.
fn nearest_lacking<const D: usize>(
    points: &[Point<D>],
    dealing: &Dealing,
    members: &[u32],
    l: usize,
    place: u32,
    joining: &[(u32, u32)],
) -> u32 {
    let point = &points[place as usize];
    let n_groups = members.len() / l;
    let group = |index: usize| &members[index * l..(index + 1) * l];
    let value = dealing.class(point.value);
    let is_ordinary = dealing.is_ordinary(point.value);
    let differs = |other: u32| is_ordinary || dealing.class(points[other as usize].value) != value;
    let cost = |index: usize| {
        let lacks = group(index).iter().all(|&other| differs(other))
            && joining.iter().all(|&(into, other)| into as usize != index || differs(other));
        let distance: u64 = group(index).iter().map(|&other| u64::from(point.distance(&points[other as usize]))).sum();
        (!lacks, distance, index)
    };
    let nearest = |range: std::ops::Range<usize>| range.map(cost).min().unwrap_or((true, 0, 0));
    // Groups were formed along the curve, so they are roughly sorted by their first member.
    let (mut low, mut high) = (0, n_groups);
    while low < high {
        let middle = (low + high) / 2;
        if members[middle * l] < place { low = middle + 1 } else { high = middle }
    }
    let found = nearest(low.saturating_sub(WINDOW)..(low + WINDOW).min(n_groups));
    let found = if found.0 { nearest(0..n_groups) } else { found };
    found.2 as u32
}
