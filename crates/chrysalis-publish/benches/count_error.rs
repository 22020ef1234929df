//! The error of pa's count queries under every partitioner, in the anatomy and the permute form.
//!
//! ```text
//! cargo bench -p chrysalis-publish --bench count_error -- FILE.csv --rows 100000 \
//!     --quasi age,gender,education --sensitive salary_class --l 2,4,6,8,10 --queries 1000
//! ```
//!
//! Also `--category a,b` (columns to read as words), `--seed N`, `--w 4`, `--s 0.1`, `--only nearby,similar`, and
//! `--repeat N` (put the rows N times over, to see how time grows).

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a program to look at numbers with")]

mod options;

use std::fs::File;
use std::time::Instant;

use chrysalis_publish::partitioner::{Anatomize, Compact, FullDomain, Mondrian, Nearby, Sequential, Similar, TopDown};
use chrysalis_publish::{AttributeSpec, Microdata, Partition, Partitioner};
use chrysalis_table::{ColumnRequest, CsvOptions, CsvReader, Kind, Role, Table, no_progress};
use rand::rngs::ChaCha20Rng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rayon::prelude::*;

/// An interval of codes per condition: attribute (the last one is the sensitive one), first and one past the last.
struct Query(Vec<(usize, u32, u32)>);

fn main() {
    let (file, options) = options::options();
    let list = |name: &str| -> Vec<String> {
        options.get(name).map_or(Vec::new(), |text| text.split(',').map(str::to_owned).collect())
    };
    let number = |name: &str, default: f64| options.get(name).map_or(default, |text| text.parse().unwrap());
    let (quasi, categories, only) = (list("quasi"), list("category"), list("only"));
    let sensitive = options.get("sensitive").expect("--sensitive").clone();

    let request = |name: &String| match categories.contains(name) {
        true => ColumnRequest::of_kind(name, Kind::Category),
        false => ColumnRequest::named(name),
    };
    let wanted: Vec<ColumnRequest> = quasi.iter().chain([&sensitive]).map(request).collect();
    let reader = CsvReader::open(File::open(file).unwrap(), &CsvOptions::default()).unwrap();
    let table = reader.read(&wanted).unwrap();
    let n_rows = (number("rows", f64::INFINITY) as usize).min(table.rows()) as u32;
    let rows: Vec<u32> = (0..number("repeat", 1.0) as u32).flat_map(|_| 0..n_rows).collect();
    let table = table.gather(&rows);
    let mut attributes: Vec<AttributeSpec> =
        quasi.iter().map(|name| AttributeSpec::new(name, Role::QuasiIdentifier)).collect();
    attributes.push(AttributeSpec::new(&sensitive, Role::Sensitive));
    let data = Microdata::new(table, &attributes).unwrap();
    let seed = number("seed", 1.0) as u64;
    let queries = queries(data.table(), number("queries", 1000.0) as usize, number("w", 4.0), number("s", 0.1), seed);
    println!("{} rows, {} quasi attributes, {} queries\n", data.rows(), quasi.len(), queries.len());
    println!("|  l | partitioner | groups | largest | seconds | anatomy mean | median | permute mean | median |");
    println!("|---:|---|---:|---:|---:|---:|---:|---:|---:|");
    let (similar, mondrian, full_domain) = (Similar::default(), Mondrian::default(), FullDomain::default());
    let all: [&dyn Partitioner; 8] =
        [&Anatomize, &Sequential, &similar, &full_domain, &TopDown, &mondrian, &Compact, &Nearby];
    for l in options.get("l").map_or("10", String::as_str).split(',') {
        let goal = data.goal(&[format!("l={l}").parse().unwrap()]).unwrap();
        for partitioner in all.into_iter().filter(|one| only.is_empty() || only.iter().any(|name| name == one.name())) {
            let start = Instant::now();
            let mut rng = ChaCha20Rng::seed_from_u64(seed);
            let partition = partitioner.partition(&data, &goal, &mut rng, &no_progress).unwrap();
            let seconds = start.elapsed().as_secs_f64();
            let (n_groups, largest) = (partition.n_groups(), partition.sizes().max().unwrap_or(0));
            print!("| {l:>2} | {:<9} | {n_groups:>6} | {largest:>3} | {seconds:>6.2} |", partitioner.name());
            for errors in errors(data.table(), &partition, &queries) {
                let mean = errors.iter().sum::<f64>() / errors.len() as f64;
                let median = errors.get(errors.len() / 2).copied().unwrap_or(0.0);
                print!(" {:>7.4} % | {:>7.4} % |", 100.0 * mean, 100.0 * median);
            }
            println!();
        }
    }
}

/// pa 4.2: w − 1 quasi attributes and the sensitive one, each with a random interval of ⌊|A|·s^(1/(w+1))⌋ values.
fn queries(table: &Table, n: usize, w: f64, s: f64, seed: u64) -> Vec<Query> {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let columns = table.columns();
    let mut quasi: Vec<usize> = (0..columns.len() - 1).collect();
    let interval = |attribute: usize, rng: &mut ChaCha20Rng| {
        let n_values = columns[attribute].domain().len();
        let length = ((n_values as f64 * s.powf(1.0 / (w + 1.0))).floor() as usize).max(1);
        let start = rng.random_range(0..=n_values - length);
        (attribute, start as u32, (start + length) as u32)
    };
    (0..n)
        .map(|_| {
            quasi.shuffle(&mut rng);
            let chosen = quasi[..(w as usize - 1).min(quasi.len())].iter().copied().chain([columns.len() - 1]);
            Query(chosen.map(|attribute| interval(attribute, &mut rng)).collect())
        })
        .collect()
}

/// The relative errors of both forms, sorted; queries whose true count is 0 are left out.
fn errors(table: &Table, partition: &Partition, queries: &[Query]) -> [Vec<f64>; 2] {
    // Group after group, so that a query reads straight ahead.
    let rows: Vec<u32> = partition.groups().flatten().copied().collect();
    let columns: Vec<Vec<u16>> = table
        .columns()
        .par_iter()
        .map(|column| rows.iter().map(|&row| u16::try_from(column.code(row as usize)).unwrap()).collect())
        .collect();
    let sizes: Vec<usize> = partition.groups().map(<[u32]>::len).collect();
    let answers: Vec<(u64, f64, f64)> = queries.par_iter().map(|query| answer(&columns, &sizes, query)).collect();
    let relative = |of: fn(&(u64, f64, f64)) -> f64| {
        let known = answers.iter().filter(|answer| answer.0 > 0);
        let mut errors: Vec<f64> = known.map(|one| (of(one) - one.0 as f64).abs() / one.0 as f64).collect();
        errors.sort_by(f64::total_cmp);
        errors
    };
    [relative(|answer| answer.1), relative(|answer| answer.2)]
}

/// The true count, the estimate from exact quasi values, and the one from permuted columns.
fn answer(columns: &[Vec<u16>], sizes: &[usize], Query(conditions): &Query) -> (u64, f64, f64) {
    let (mut actual, mut anatomy, mut permute) = (0, 0.0, 0.0);
    let (sensitive, quasi) = conditions.split_last().unwrap();
    let is_in = |&(attribute, first, end): &(usize, u32, u32), row: usize| {
        (first..end).contains(&u32::from(columns[attribute][row]))
    };
    let mut start = 0;
    for &size in sizes {
        let n = size as f64;
        let (mut hits, mut marginal, mut c) = (0, [0u32; 64], 0);
        for row in start..start + size {
            let mut all = true;
            for (count, condition) in marginal.iter_mut().zip(quasi) {
                let matches = is_in(condition, row);
                *count += u32::from(matches);
                all &= matches;
            }
            let has_value = is_in(sensitive, row);
            hits += u32::from(all);
            c += u32::from(has_value);
            actual += u64::from(all && has_value);
        }
        start += size;
        let share = f64::from(c) / n;
        anatomy += f64::from(hits) * share;
        permute += n * marginal[..quasi.len()].iter().map(|&count| f64::from(count) / n).product::<f64>() * share;
    }
    (actual, anatomy, permute)
}
