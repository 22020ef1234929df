//! A table on which evenness is far from the truth.

use chrysalis_table::Kind;
use rand::RngExt;

use super::{Col, Val, World, rng};

/// People whose first attribute is skewed and goes with the second and with the sensitive one; groups of ten neighbours
/// in an order that mixes both.
pub(crate) fn skewed(seed: u64, n_rows: usize) -> World {
    const WORDS: [&str; 4] = ["ab", "b", "ba", "c,d"];
    let mut rng = rng(seed);
    let mut people: Vec<(i32, usize, usize)> = (0..n_rows)
        .map(|_| {
            let age = (0..4).map(|_| rng.random_range(0..12)).min().unwrap()
                + rng.random_range(0..20) * rng.random_range(0..2);
            let word = if rng.random_bool(0.7) { 0 } else { rng.random_range(0..4) };
            let illness = if rng.random_bool(0.5) { (age as usize / 8).min(3) } else { rng.random_range(0..4) };
            (age, word, illness)
        })
        .collect();
    people.sort_by_cached_key(|person| person.0 / 6 * 100 + rng.random_range(0..600));
    let rows = people.iter().map(|(age, word, illness)| {
        vec![Some(Val::Number(f64::from(*age))), Some(Val::Word(WORDS[*word])), Some(Val::Word(WORDS[*illness]))]
    });
    World {
        cols: vec![
            Col { name: "a", kind: Kind::Integer },
            Col { name: "w", kind: Kind::Category },
            Col { name: "s", kind: Kind::Category },
        ],
        rows: rows.collect(),
        groups: (0..n_rows).collect::<Vec<_>>().chunks(10).map(<[usize]>::to_vec).collect(),
        n_buckets: 40,
    }
}
