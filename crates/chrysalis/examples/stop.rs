//! Watch a run and stop it: `cargo run -p chrysalis --example stop`.

#![allow(clippy::print_stdout, reason = "examples show what they do")]

use std::sync::atomic::{AtomicU64, Ordering};

use chrysalis::table::{Column, Table};
use chrysalis::{Counted, Draft, Fault, Seed, Watch, publish};

/// Stops the work as soon as groups are being formed.
#[derive(Default)]
struct Impatient {
    phases: AtomicU64,
}

impl Watch for Impatient {
    fn phase(&self, name: &'static str, total: Option<u64>, _: Counted) {
        println!("{name} begins, {total:?} rows");
        self.phases.fetch_add(1, Ordering::Relaxed);
    }

    fn advance(&self, _: u64) {}

    // Called often, from any thread.
    fn stopped(&self) -> bool {
        self.phases.load(Ordering::Relaxed) > 0
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let ages: Vec<i64> = (0..10_000).map(|at| at % 100).collect();
    let table = Table::new(vec![Column::integers("age", &ages)]);
    let draft: Draft = serde_json::from_str(r#"{ "quasi": ["age"], "release": { "require": ["k=10"] } }"#)?;
    let recipe = draft.check(&["age".to_owned()])?;
    match publish(table, &recipe, Seed::Secret, &Impatient::default()) {
        Err(error) if error.fault == Fault::Stopped => println!("{error}"),
        _ => return Err("it was not stopped".into()),
    }
    Ok(())
}
