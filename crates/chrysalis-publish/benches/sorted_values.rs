//! The partitioners of sorted values against sorting the same values, on one thread.
//!
//! ```text
//! cargo bench -p chrysalis-publish --bench sorted_values -- 10000000
//! ```

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a program to look at numbers with")]

use std::hint::black_box;
use std::time::Instant;

use chrysalis_publish::partitioner::BySensitive;
use chrysalis_publish::{AttributeSpec, Microdata, Partitioner};
use chrysalis_table::{Column, Role, Table, no_progress};
use rand::rngs::ChaCha20Rng;
use rand::{RngExt, SeedableRng};

fn main() {
    let n: usize =
        std::env::args().skip(1).find(|word| word != "--bench").map_or(10_000_000, |text| text.parse().unwrap());
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    for (what, n_values) in [("few values (5,000)", 5_000), ("a billion values", 1_000_000_000)] {
        let numbers: Vec<i64> = (0..n).map(|_| rng.random_range(0..n_values)).collect();
        let sorting = least(|| {
            let mut copy = numbers.clone();
            let start = Instant::now();
            copy.sort_unstable();
            black_box(copy);
            start.elapsed().as_secs_f64()
        });
        println!("{n} numbers, {what}: sorting them takes {sorting:.2} s");
        let span = n_values / 50;
        let table = Table::new(vec![Column::integers("q", &vec![0; n]), Column::integers("s", &numbers)]);
        let attributes = [AttributeSpec::new("q", Role::QuasiIdentifier), AttributeSpec::new("s", Role::Sensitive)];
        let data = Microdata::new(table, &attributes).unwrap();
        let goal = data.goal(&[format!("ke=10,{span}").parse().unwrap()]).unwrap();
        for partitioner in [BySensitive::MinSum, BySensitive::MinMax, BySensitive::MaxGroups] {
            let seconds = least(|| {
                let start = Instant::now();
                let partition = partitioner.partition(&data, &goal, &mut rng, &no_progress).unwrap();
                black_box(partition);
                start.elapsed().as_secs_f64()
            });
            println!("  {:<11}{seconds:>6.2} s, {:.2} times", partitioner.name(), seconds / sorting);
        }
    }
}

/// The least of three runs.
fn least(mut run: impl FnMut() -> f64) -> f64 {
    (0..3).map(|_| run()).fold(f64::INFINITY, f64::min)
}
