/// The least cost of carrying every surplus to where there is a deficit: the earth mover's distance, by definition.
///
/// `surplus` sums to zero. Successive shortest paths by Bellman and Ford over the residual graph; fit for a dozen places.
///
/// # Panics
/// When the surpluses do not sum to zero.
pub fn least_cost(surplus: &[i128], cost: impl Fn(usize, usize) -> i128) -> i128 {
    assert_eq!(surplus.iter().sum::<i128>(), 0, "what leaves must arrive");
    let n = surplus.len();
    let mut open = surplus.to_vec();
    let mut carried = vec![vec![0i128; n]; n];
    while open.iter().any(|&surplus| surplus > 0) {
        // Cheapest way from any place with surplus to every other place; undoing what was carried earns its cost back.
        let mut length: Vec<Option<i128>> = open.iter().map(|&surplus| (surplus > 0).then_some(0)).collect();
        let mut from: Vec<Option<(usize, bool)>> = vec![None; n];
        for _ in 0..n {
            for a in 0..n {
                for b in 0..n {
                    let Some(here) = length[a].filter(|_| a != b) else { continue };
                    let mut relax = |reached: i128, undo: bool| {
                        if length[b].is_none_or(|known| reached < known) {
                            length[b] = Some(reached);
                            from[b] = Some((a, undo));
                        }
                    };
                    relax(here + cost(a, b), false);
                    if carried[b][a] > 0 {
                        relax(here - cost(b, a), true);
                    }
                }
            }
        }
        let sinks = (0..n).filter(|&place| open[place] < 0);
        let sink = sinks.min_by_key(|&place| length[place]).unwrap();
        let mut path = Vec::new();
        let mut at = sink;
        while let Some((before, undo)) = from[at] {
            path.push((before, at, undo));
            at = before;
        }
        let room = path.iter().filter(|(.., undo)| *undo).map(|&(a, b, _)| carried[b][a]);
        let amount = room.chain([open[at], -open[sink]]).min().unwrap();
        for (a, b, undo) in path {
            if undo {
                carried[b][a] -= amount;
            } else {
                carried[a][b] += amount;
            }
        }
        open[at] -= amount;
        open[sink] += amount;
    }
    (0..n).flat_map(|a| (0..n).map(move |b| (a, b))).map(|(a, b)| carried[a][b] * cost(a, b)).sum()
}
