/// Visits every partition of the items 0…n−1 once. A group is a bit mask of its items.
///
/// Every item joins one of the groups before it or opens a new one: 1, 2, 5, 15, 52, 203, 877, 4140, 21147 ways.
pub fn for_each_partition(n: u32, visit: &mut dyn FnMut(&[u32])) {
    fn place(item: u32, n: u32, groups: &mut Vec<u32>, visit: &mut dyn FnMut(&[u32])) {
        if item == n {
            return visit(groups);
        }
        for at in 0..groups.len() {
            groups[at] |= 1 << item;
            place(item + 1, n, groups, visit);
            groups[at] &= !(1 << item);
        }
        groups.push(1 << item);
        place(item + 1, n, groups, visit);
        groups.pop();
    }
    place(0, n, &mut Vec::new(), visit);
}

/// The items of a mask.
pub fn members(group: u32) -> Vec<u32> {
    (0..u32::BITS).filter(|item| group & (1 << item) != 0).collect()
}

/// The least total cost over all partitions of n items, and a partition that has it.
///
/// `cost` says what a group costs, or that it is not allowed; it is asked once per group. `None` when no partition is
/// allowed.
pub fn best_partition(n: u32, cost: impl Fn(&[u32]) -> Option<f64>) -> Option<(f64, Vec<u32>)> {
    let costs: Vec<Option<f64>> =
        (0..1u32 << n).map(|group| if group == 0 { None } else { cost(&members(group)) }).collect();
    let mut best: Option<(f64, Vec<u32>)> = None;
    for_each_partition(n, &mut |groups| {
        let total: Option<f64> = groups.iter().map(|&group| costs[group as usize]).sum();
        if let Some(total) = total
            && best.as_ref().is_none_or(|(least, _)| total < *least)
        {
            best = Some((total, groups.to_vec()));
        }
    });
    best
}
