//! lalpha's experiments on Adult: the similarity attack, and what the principles cost (section 5, figure 5).
//!
//! ```text
//! cargo bench -p chrysalis-publish --bench l_alpha -- ADULT.csv TAXONOMIES [PARTITIONER…]
//! ```
//!
//! ADULT.csv is Adult without missing values, TAXONOMIES a folder with `COLUMN.csv` for every quasi attribute of lalpha
//! table 9. A column `health` is made here: one of eight values for every row, drawn with a fixed seed.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a program to look at numbers with")]

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use chrysalis_criteria::loss::{average_group_size, discernibility, kl_divergence};
use chrysalis_criteria::{PrincipleSpec, Weights};
use chrysalis_publish::partitioner::{Compact, FullDomain, Mondrian, TopDown};
use chrysalis_publish::{AttributeSpec, Microdata, Partition, Partitioner, TaxonomySource};
use chrysalis_table::{Column, ColumnRequest, CsvOptions, CsvReader, Kind, Role, Table, TaxonomyFile, no_progress};
use rand::rngs::ChaCha20Rng;
use rand::{RngExt, SeedableRng};
use rayon::prelude::*;

const QUASI: [&str; 7] = ["age", "workclass", "education", "native_country", "marital_status", "race", "sex"];
const HEALTH: [[&str; 2]; 4] =
    [["HIV", "Cancer"], ["Phthisis", "Hepatitis"], ["Obesity", "Asthma"], ["Flu", "Indigestion"]];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let [file, folder, names @ ..] = &arguments[..] else { panic!("ADULT.csv TAXONOMIES [PARTITIONER…]") };
    let data = microdata(file, Path::new(folder));
    let full_domain = FullDomain::default();
    let all: [&dyn Partitioner; 4] = [&Mondrian { relaxed: false }, &full_domain, &TopDown, &Compact];
    let chosen = all.into_iter().filter(|one| names.is_empty() || names.iter().any(|name| name == one.name()));
    for partitioner in chosen {
        println!("\n### {}\n", partitioner.name());
        println!("| principle | groups | open rows | by category, most sensitive first |\n|---|---:|---:|---|");
        let goals = [
            "distinct-l=2",
            "distinct-l=4",
            "distinct-l-alpha=2,2",
            "distinct-l-alpha=4,2",
            "entropy-l-alpha=2,2",
            "recursive-l-alpha=3,2,2",
        ];
        for goal in goals {
            if let Some(partition) = publish(&data, partitioner, goal) {
                let open = similar(&data, &partition);
                let total: u64 = open.iter().sum();
                println!("| `{goal}` | {} | {total} | {open:?} |", partition.n_groups());
            }
        }
        println!("\n| l | principle | groups | DM | CAVG | KL |\n|---:|---|---:|---:|---:|---:|");
        for l in 2..=8u64 {
            let goals = [
                format!("distinct-l={l}"),
                format!("distinct-l-alpha={l},2"),
                format!("entropy-l-alpha={l},2"),
                format!("recursive-l-alpha=3,{l},2"),
            ];
            for goal in goals {
                match publish(&data, partitioner, &goal) {
                    Some(partition) => {
                        let (n, groups) = (partition.n_rows() as u64, partition.n_groups() as u64);
                        let dm = discernibility(partition.sizes());
                        let cavg = average_group_size(n, groups, l);
                        println!("| {l} | `{goal}` | {groups} | {dm} | {cavg:.3} | {:.3} |", kl(&data, &partition));
                    }
                    None => println!("| {l} | `{goal}` | – | | | out of reach |"),
                }
            }
        }
        let whole = Partition::new((0..data.rows() as u32).collect(), &[data.rows() as u32]);
        println!("\nKL of one group: {:.3}.", kl(&data, &whole));
    }
}

/// The groups, unless the whole table fails.
fn publish(data: &Microdata, partitioner: &dyn Partitioner, goal: &str) -> Option<Partition> {
    let spec: PrincipleSpec = goal.parse().unwrap();
    let goal = data.goal(&[spec.into()]).ok()?;
    Some(partitioner.partition(data, &goal, &mut ChaCha20Rng::seed_from_u64(1), &no_progress).unwrap())
}

/// Adult with a made-up sensitive column.
fn microdata(file: &str, folder: &Path) -> Microdata {
    let wanted: Vec<ColumnRequest> = QUASI.iter().map(|name| ColumnRequest::of_kind(*name, Kind::Category)).collect();
    let reader = CsvReader::open(File::open(file).unwrap(), &CsvOptions::default()).unwrap();
    let table = reader.read(&wanted).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let health: Vec<&str> = (0..table.rows()).map(|_| HEALTH.as_flattened()[rng.random_range(0..8)]).collect();
    let mut columns = table.columns().to_vec();
    columns.push(Column::texts("health", health.iter().copied()));
    let attribute = |name: &&str| {
        let text = std::fs::read_to_string(folder.join(format!("{name}.csv"))).unwrap();
        let taxonomy = Some(TaxonomySource::File(TaxonomyFile::parse(&text).unwrap()));
        AttributeSpec { taxonomy, ..AttributeSpec::new(*name, Role::QuasiIdentifier) }
    };
    let mut attributes: Vec<AttributeSpec> = QUASI.iter().map(attribute).collect();
    let categories = HEALTH.iter().map(|values| values.map(str::to_owned).to_vec()).collect();
    attributes.push(AttributeSpec {
        categories: Some((categories, Weights::Sensitivity(2))),
        ..AttributeSpec::new("health", Role::Sensitive)
    });
    Microdata::new(Table::new(columns), &attributes).unwrap()
}

/// Rows of groups that lie in one category, by category.
fn similar(data: &Microdata, partition: &Partition) -> [u64; 4] {
    let health = data.sensitive().unwrap();
    let category = |row: &u32| {
        let value = health.domain().text(health.code(*row as usize)).into_owned();
        HEALTH.iter().position(|values| values.contains(&value.as_str())).unwrap()
    };
    let mut open = [0; 4];
    for group in partition.groups() {
        let first = category(&group[0]);
        if group.iter().all(|row| category(row) == first) {
            open[first] += group.len() as u64;
        }
    }
    open
}

/// The ranks a group's labels cover, how many cells that is, and its sensitive values.
type Shown = (Vec<(u32, u32)>, f64, [u32; 8]);

/// KL-divergence over quasi × sensitive. A row is taken to be anywhere under its group's labels with equal probability.
fn kl(data: &Microdata, partition: &Partition) -> f64 {
    let quasi: Vec<_> = data.quasi().map(|(column, tree)| (column, tree.unwrap())).collect();
    let health = data.sensitive().unwrap();
    let rank = |at: usize, row: u32| quasi[at].1.rank(quasi[at].0.code(row as usize));
    let boxes: Vec<Shown> = partition
        .groups()
        .map(|group| {
            let ends = |at: usize| {
                let (column, tree) = quasi[at];
                let ranks = || group.iter().map(|&row| rank(at, row));
                let node = match partition.recoding() {
                    Some(recoding) => tree.at_level(column.code(group[0] as usize), recoding.levels[at].level),
                    None => tree.common_ancestor(ranks().min().unwrap()..=ranks().max().unwrap()),
                };
                let ranks = &quasi[at].1.node(node).ranks;
                (*ranks.start(), *ranks.end())
            };
            let ends: Vec<(u32, u32)> = (0..quasi.len()).map(ends).collect();
            let area = ends.iter().map(|(low, high)| f64::from(high - low + 1)).product();
            let mut counts = [0; 8];
            group.iter().for_each(|&row| counts[health.code(row as usize) as usize] += 1);
            (ends, area, counts)
        })
        .collect();
    let mut tuples: BTreeMap<Vec<u32>, [u32; 8]> = BTreeMap::new();
    for row in 0..data.rows() as u32 {
        let tuple = (0..quasi.len()).map(|at| rank(at, row)).collect();
        tuples.entry(tuple).or_default()[health.code(row as usize) as usize] += 1;
    }
    let n = data.rows() as f64;
    let tuples: Vec<(Vec<u32>, [u32; 8])> = tuples.into_iter().collect();
    let parts: Vec<f64> = tuples
        .par_iter()
        .map(|(tuple, actual)| {
            let mut guess = [0.0; 8];
            for (ends, area, counts) in &boxes {
                if tuple.iter().zip(ends).all(|(rank, (low, high))| rank >= low && rank <= high) {
                    guess.iter_mut().zip(counts).for_each(|(guess, &count)| *guess += f64::from(count) / area);
                }
            }
            kl_divergence(actual.iter().zip(guess).map(|(&actual, guess)| (f64::from(actual) / n, guess / n)))
        })
        .collect();
    parts.iter().sum()
}
