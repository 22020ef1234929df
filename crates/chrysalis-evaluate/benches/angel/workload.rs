//! angel's count queries (section 6): a condition on every attribute A that admits ⌈|A|·s^(1/6)⌉ of its values.

use chrysalis_query::OpenRelease;
use chrysalis_release::Release;
use chrysalis_table::{Column, Table};
use rand::rngs::ChaCha20Rng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rayon::prelude::*;

/// The mean relative error over `n` queries of volume `s` that at least one person matches.
pub(crate) fn mean_error(
    release: Release,
    table: &Table,
    quasi: &[&str],
    sensitive: &str,
    (n, volume): (usize, f64),
    seed: u64,
) -> f64 {
    let columns: Vec<&Column> = quasi.iter().chain([&sensitive]).map(|name| table.column(name).unwrap()).collect();
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let queries: Vec<Vec<Vec<u32>>> = (0..n)
        .map(|_| columns.iter().map(|column| chosen(column, volume, columns.len(), &mut rng)).collect())
        .collect();
    let open = OpenRelease::new(&release).unwrap();
    let error = |query: &Vec<Vec<u32>>| {
        let actual = actual(&columns, query);
        let conditions: Vec<String> =
            columns.iter().zip(query).map(|(column, codes)| condition(column, codes)).collect();
        let question = format!("SELECT COUNT(*) FROM microdata WHERE {}", conditions.join(" AND "));
        let estimate = chrysalis_sql::ask(&open, &question).unwrap().rows[0].aggregates[0].estimate.unwrap();
        (actual > 0.0).then(|| (estimate - actual).abs() / actual)
    };
    let errors: Vec<f64> = queries.par_iter().filter_map(error).collect();
    errors.iter().sum::<f64>() / errors.len() as f64
}

/// An interval of ages or educations; any values of the others.
fn chosen(column: &Column, volume: f64, dimensions: usize, rng: &mut ChaCha20Rng) -> Vec<u32> {
    let domain = column.domain().len();
    let n = ((domain as f64 * volume.powf(1.0 / dimensions as f64)).ceil() as usize).clamp(1, domain);
    if matches!(column.name(), "age" | "education") {
        let first = rng.random_range(0..=domain - n) as u32;
        return (first..first + n as u32).collect();
    }
    let mut codes: Vec<u32> = (0..domain as u32).collect();
    codes.shuffle(rng);
    codes.truncate(n);
    codes.sort_unstable();
    codes
}

fn condition(column: &Column, codes: &[u32]) -> String {
    let texts: Vec<String> = codes.iter().map(|&code| column.domain().text(code).into_owned()).collect();
    format!("{} IN ({})", column.name(), texts.join(", "))
}

fn actual(columns: &[&Column], query: &[Vec<u32>]) -> f64 {
    let tests: Vec<Vec<bool>> = columns
        .iter()
        .zip(query)
        .map(|(column, codes)| (0..column.domain().len() as u32).map(|code| codes.contains(&code)).collect())
        .collect();
    let matches = |row: &usize| columns.iter().zip(&tests).all(|(column, test)| test[column.code(*row) as usize]);
    (0..columns[0].codes().len()).filter(matches).count() as f64
}
