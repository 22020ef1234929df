//! How far the shares of one to three columns' values are from those of the microdata.

use rayon::prelude::*;

use super::coded::Scale;

/// At most this many sets of columns are compared; more are thinned out evenly.
const MOST_SETS: usize = 1000;
/// Up to this many cells are counted in a list, more by sorting.
const DENSE: usize = 1 << 20;

/// Total variation distances over all sets of so many columns.
#[derive(Clone, Debug, PartialEq)]
pub struct MarginalDistance {
    /// How many columns are in a set.
    pub ways: usize,
    /// How many sets were compared.
    pub compared: usize,
    /// The mean over the sets.
    pub mean: f64,
    /// The largest.
    pub max: f64,
    /// The set that is farthest apart.
    pub worst: Vec<String>,
}

/// Compares tables with the microdata, all of them coded on the same scales, and takes the mean over the tables.
pub(super) fn distances(scales: &[Scale], microdata: &[Vec<u16>], worlds: &[Vec<Vec<u16>>]) -> Vec<MarginalDistance> {
    let of_ways = |ways: usize| {
        let all = sets(scales.len(), ways);
        let step = all.len().div_ceil(MOST_SETS).max(1);
        let chosen: Vec<&Vec<usize>> = all.iter().step_by(step).collect();
        let distance = |set: &&Vec<usize>| {
            let sum: f64 = worlds.iter().map(|world| distance(scales, set, microdata, world)).sum();
            sum / worlds.len().max(1) as f64
        };
        let found: Vec<f64> = chosen.par_iter().map(distance).collect();
        let worst = (0..found.len()).max_by(|&a, &b| found[a].total_cmp(&found[b]).then(b.cmp(&a)))?;
        Some(MarginalDistance {
            ways,
            compared: found.len(),
            mean: found.iter().sum::<f64>() / found.len() as f64,
            max: found[worst],
            worst: chosen[worst].iter().map(|&at| scales[at].name.clone()).collect(),
        })
    };
    (1..=3).filter_map(of_ways).collect()
}

/// All sets of that many columns, in order.
fn sets(columns: usize, ways: usize) -> Vec<Vec<usize>> {
    let mut sets = vec![Vec::new()];
    for _ in 0..ways {
        let longer = |set: &Vec<usize>| {
            let from = set.last().map_or(0, |last| last + 1);
            let set = set.clone();
            (from..columns).map(move |next| [&set[..], &[next]].concat())
        };
        sets = sets.iter().flat_map(longer).collect();
    }
    sets
}

/// Half the sum of the differences of shares.
fn distance(scales: &[Scale], set: &[usize], a: &[Vec<u16>], b: &[Vec<u16>]) -> f64 {
    let cells: usize = set.iter().map(|&at| scales[at].n_cells).product();
    let key = |table: &[Vec<u16>], row: usize| {
        set.iter().fold(0_usize, |key, &at| key * scales[at].n_cells + usize::from(table[at][row]))
    };
    let rows = |table: &[Vec<u16>]| table.first().map_or(0, Vec::len);
    let (of_a, of_b) = (1.0 / rows(a).max(1) as f64, 1.0 / rows(b).max(1) as f64);
    let sum: f64 = if cells <= DENSE {
        let mut counts = vec![(0_u32, 0_u32); cells];
        (0..rows(a)).for_each(|row| counts[key(a, row)].0 += 1);
        (0..rows(b)).for_each(|row| counts[key(b, row)].1 += 1);
        counts.iter().map(|&(a, b)| (f64::from(a) * of_a - f64::from(b) * of_b).abs()).sum()
    } else {
        let mut keys: Vec<(usize, bool)> = (0..rows(a)).map(|row| (key(a, row), true)).collect();
        keys.extend((0..rows(b)).map(|row| (key(b, row), false)));
        keys.sort_unstable();
        let of_run = |run: &[(usize, bool)]| {
            let n_a = run.iter().filter(|(_, is_a)| *is_a).count();
            (n_a as f64 * of_a - (run.len() - n_a) as f64 * of_b).abs()
        };
        keys.chunk_by(|x, y| x.0 == y.0).map(of_run).sum()
    };
    let distance = sum / 2.0;
    // Shares are fractions, so they are off by rounding errors.
    if distance < 1e-12 { 0.0 } else { distance.min(1.0) }
}

#[cfg(test)]
mod tests {
    use chrysalis_table::Column;

    use super::*;

    #[test]
    fn distances_by_hand() {
        let (x, y) = (Column::integers("x", &[1, 1, 2, 2]), Column::integers("y", &[1, 2, 1, 2]));
        let scales = [Scale::of(&x), Scale::of(&y)];
        let microdata = vec![scales[0].cells(&x), scales[1].cells(&y)];
        // The same columns, paired differently: 1-1 and 2-2 twice each.
        let paired = vec![scales[0].cells(&x), scales[1].cells(&Column::integers("y", &[1, 1, 2, 2]))];
        let found = distances(&scales, &microdata, std::slice::from_ref(&paired));
        assert_eq!((found[0].mean, found[0].compared), (0.0, 2));
        assert_eq!(
            (found[1].mean, found[1].max, &found[1].worst[..]),
            (0.5, 0.5, &["x".to_owned(), "y".to_owned()][..])
        );
        assert_eq!(found.len(), 2, "there are no three columns");
        // The mean over two tables, one of which is the microdata.
        let both = distances(&scales, &microdata, &[paired, microdata.clone()]);
        assert_eq!(both[1].mean, 0.25);
    }

    #[test]
    fn sets_are_all_combinations() {
        assert_eq!(sets(4, 2).len(), 6);
        assert_eq!(sets(10, 3).len(), 120);
        assert_eq!(sets(2, 3).len(), 0);
        assert_eq!(sets(3, 3), [[0, 1, 2]]);
    }
}
