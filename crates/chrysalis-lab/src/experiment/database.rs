//! How long questions take in a database: directly over the microdata, and rewritten over the release (ke 7.2).

use std::time::Instant;

use chrysalis::Error;
use chrysalis_load::{Database, LoadError};
use chrysalis_query::{Plan, Question};
use chrysalis_release::Release;
use chrysalis_sql::rewrite::original;
use chrysalis_sql::{Dialect, rewrite};
use chrysalis_table::Table;

use super::measure::Times;

/// The name of the microdata's table; no release has a table of that name.
const MICRODATA: &str = "microdata";

/// Sums of many reals differ in their last digits, depending on the order of addition.
const ROUNDING: f64 = 1e-9;

/// How often every statement runs: the fastest run is the least disturbed.
const ROUNDS: usize = 3;

/// Asks the first aggregate of every question in both ways, alternating, in one SQLite database that holds both.
pub(super) fn times(release: &Release, microdata: &Table, questions: &[Question]) -> Result<Times, Error> {
    let mut database = Database::new().map_err(refused)?;
    database.load(release).map_err(refused)?;
    database.add(MICRODATA, microdata).map_err(refused)?;
    let (mut originals, mut rewritten) = (Vec::new(), Vec::new());
    for (at, question) in questions.iter().enumerate() {
        let question = Question { aggregates: question.aggregates[..1].to_vec(), ..question.clone() };
        let plan = Plan::new(&question, &release.manifest)?;
        let statements = [original(&plan, MICRODATA, Dialect::Sqlite), rewrite(&plan, release, Dialect::Sqlite)?];
        let mut found = [(Vec::new(), f64::INFINITY), (Vec::new(), f64::INFINITY)];
        for _ in 0..ROUNDS {
            for (statement, (numbers, least)) in statements.iter().zip(&mut found) {
                let started = Instant::now();
                let rows = database.run(statement).map_err(refused)?;
                *least = least.min(1000.0 * started.elapsed().as_secs_f64());
                *numbers = rows.into_iter().flatten().collect();
            }
        }
        let [(truth, original_ms), (told, rewritten_ms)] = found;
        if !agree(&truth, &told) {
            let message = format!("question {at}: the database says {truth:?}, and {told:?} once it is rewritten");
            return Err(Error::internal(message));
        }
        originals.push(original_ms);
        rewritten.push(rewritten_ms);
    }
    Ok(Times { original_ms: median(originals), rewritten_ms: median(rewritten) })
}

fn refused(error: LoadError) -> Error {
    Error::request(error.to_string(), error.hint())
}

/// Whether the true answer lies within the bounds; `told` has estimate, lower and upper.
fn agree(truth: &[Option<f64>], told: &[Option<f64>]) -> bool {
    match (truth, told) {
        // No row matches, so there are no numbers, or there is no answer row.
        ([None], [None, ..] | []) => true,
        ([Some(truth)], [Some(_), Some(lower), Some(upper), ..]) => {
            let room = ROUNDING * truth.abs();
            lower - room <= *truth && *truth <= upper + room
        }
        _ => false,
    }
}

/// The median; NaN if there are no times.
fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_truth_must_lie_within_the_bounds() {
        let told = [Some(5.0), Some(4.0), Some(6.0), Some(0.5)];
        assert!(agree(&[Some(4.0)], &told) && agree(&[Some(6.0)], &told));
        assert!(!agree(&[Some(3.9)], &told) && !agree(&[None], &told) && !agree(&[Some(1.0)], &[]));
        assert!(agree(&[None], &[None; 4]) && agree(&[None], &[]));
        assert!(median(vec![3.0, 1.0, 2.0]) == 2.0 && median(Vec::new()).is_nan());
    }
}
