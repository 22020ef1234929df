//! Ask a release questions in SQL: `cargo run -p chrysalis --example ask`.

#![allow(clippy::print_stdout, reason = "examples show what they do")]

use chrysalis::table::{Column, Table};
use chrysalis::{Analyst, Draft, Seed, Unwatched, publish};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let ages: Vec<i64> = (0..200).map(|at| 20 + at * 7 % 60).collect();
    let costs: Vec<i64> = (0..200).map(|at| 100 * (1 + at * 13 % 17)).collect();
    let table = Table::new(vec![Column::integers("age", &ages), Column::integers("cost", &costs)]);
    let draft: Draft = serde_json::from_str(
        r#"{ "quasi": ["age"], "sensitive": "cost", "release": { "method": "anatomy", "require": ["l=4"] } }"#,
    )?;
    let recipe = draft.check(&["age".to_owned(), "cost".to_owned()])?;
    let release = publish(table, &recipe, Seed::Secret, &Unwatched)?.release;

    // From here on only the release is used, not the microdata.
    let analyst = Analyst::open(release)?;
    let question = "SELECT COUNT(*), AVG(cost) FROM microdata WHERE age BETWEEN 30 AND 50 AND cost > 500";
    let answer = analyst.ask(question)?;
    for aggregate in &answer.answer.rows[0].aggregates {
        println!("estimate {:?}, certainly from {:?} to {:?}", aggregate.estimate, aggregate.lower, aggregate.upper);
    }

    // The truth, which only the owner knows, lies within the bounds.
    let truth = (0..200).filter(|&at| (30..=50).contains(&ages[at]) && costs[at] > 500).count() as f64;
    let count = &answer.answer.rows[0].aggregates[0];
    assert!(count.lower <= Some(truth) && Some(truth) <= count.upper);
    Ok(())
}
