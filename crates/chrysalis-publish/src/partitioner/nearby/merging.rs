use chrysalis_criteria::Principle;
use chrysalis_table::SaCounts;

/// Merges neighbouring groups until each satisfies the goal, and returns the new sizes.
///
/// `codes` are the sensitive codes of all rows, group after group; `open` is a buffer for counting. A group that
/// satisfies the goal by itself stays as it is. One that does not takes in the groups after it; the last one, if
/// necessary, those before it. All rows together satisfy the goal, so this ends with a single group at the latest.
pub(in crate::partitioner) fn merged_until_all_hold(
    goal: &dyn Principle,
    open: &mut SaCounts,
    codes: &[u32],
    sizes: &[u32],
) -> Vec<u32> {
    let mut merged: Vec<u32> = Vec::with_capacity(sizes.len());
    open.clear();
    let (mut start, mut end, mut worth_a_test) = (0, 0, 0);
    for &size in sizes {
        let next = end + size as usize;
        codes[end..next].iter().for_each(|&code| open.add(code));
        end = next;
        if end - start < worth_a_test {
            continue;
        }
        if goal.holds(open) {
            merged.push((end - start) as u32);
            open.clear();
            (start, worth_a_test) = (end, 0);
        } else {
            // A large group that failed is not tested again before it has grown a little, so testing stays linear.
            worth_a_test = (end - start) + (end - start) / 16;
        }
    }
    while start < end && !goal.holds(open) {
        let Some(size) = merged.pop() else { break };
        codes[start - size as usize..start].iter().for_each(|&code| open.add(code));
        start -= size as usize;
    }
    if start < end {
        merged.push((end - start) as u32);
    }
    merged
}
