//! angel's experiments: reconstruction error, marginals and count queries, on a table like OCC.
//!
//! ```text
//! cargo bench -p chrysalis-evaluate --bench angel -- occ.csv --plot "$PWD/docs/results/angel.svg"
//! ```
//!
//! The file has the columns marital_status, work_class, education, gender, age and occupation. Also `--queries 1000`,
//! `--seed 1`, `--only reconstruction,marginals,queries`.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a program to look at numbers with")]

mod plot;
mod workload;

use chrysalis_testkit::required;
use std::collections::BTreeMap;
use std::fs::File;

use chrysalis_criteria::PrincipleSpec;
use chrysalis_evaluate::{Subspace, evaluate};
use chrysalis_publish::method::{Angel, Fallback, Generalize, Method};
use chrysalis_publish::partitioner::{Compact, Mondrian, Nearby};
use chrysalis_publish::{AttributeSpec, Job, Microdata, Partitioner};
use chrysalis_release::Release;
use chrysalis_table::{ColumnRequest, CsvOptions, CsvReader, Role, Table, Unwatched};
use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;

const QUASI: [&str; 5] = ["marital_status", "work_class", "education", "gender", "age"];
const SENSITIVE: &str = "occupation";

/// The ways of publishing that are compared.
const WAYS: [&str; 5] =
    ["generalize (mondrian)", "generalize (compact)", "angel (paper)", "angel (ours, k kept)", "angel (ours)"];

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|word| word != "--bench");
    let file = arguments.next().expect("a CSV file");
    let mut options: BTreeMap<String, String> = BTreeMap::new();
    while let Some(name) = arguments.next() {
        options.insert(name.trim_start_matches("--").to_owned(), arguments.next().expect("a value"));
    }
    let number = |name: &str, default: u64| options.get(name).map_or(default, |text| text.parse().unwrap());
    let seed = number("seed", 1);
    let is_wanted = |name: &str| options.get("only").is_none_or(|only| only.split(',').any(|one| one == name));
    let wanted: Vec<ColumnRequest> = QUASI.iter().chain([&SENSITIVE]).map(|name| ColumnRequest::named(*name)).collect();
    let table = CsvReader::open(File::open(file).unwrap(), &CsvOptions::default()).unwrap().read(&wanted).unwrap();
    println!("{} rows\n", table.rows());
    let (diversity, closeness) = (
        ["l=2", "l=4", "l=6", "l=8", "l=10"].map(str::to_owned).to_vec(),
        ["t=0.1", "t=0.2", "t=0.3", "t=0.4", "t=0.5"].map(str::to_owned).to_vec(),
    );
    if is_wanted("reconstruction") {
        let mut lines = Vec::new();
        println!("| principle | {} |\n|---|{}", WAYS.join(" | "), "---:|".repeat(WAYS.len()));
        for principle in diversity.iter().chain(&closeness) {
            let errors: Vec<f64> = WAYS.iter().map(|way| error(&table, way, principle, seed)).collect();
            let shown: Vec<String> = errors.iter().map(|error| format!("{error:.3}")).collect();
            println!("| `{principle}` | {} |", shown.join(" | "));
            lines.push(errors);
        }
        if let Some(path) = options.get("plot") {
            std::fs::write(path, plot::svg(&WAYS, &[&diversity, &closeness], &lines)).unwrap();
        }
    }
    if is_wanted("marginals") {
        marginals(&table, seed);
    }
    if is_wanted("queries") {
        let n = number("queries", 1000) as usize;
        println!("\n| principle | {} |\n|---|{}", WAYS.join(" | "), "---:|".repeat(WAYS.len()));
        for principle in diversity.iter().chain(&closeness) {
            let errors = WAYS.iter().map(|way| {
                let release = release(&table, way, principle, &[], seed);
                format!("{:.1} %", 100.0 * workload::mean_error(release, &table, &QUASI, SENSITIVE, (n, 0.05), seed))
            });
            println!("| `{principle}` | {} |", errors.collect::<Vec<_>>().join(" | "));
        }
    }
}

fn error(table: &Table, way: &str, principle: &str, seed: u64) -> f64 {
    let release = release(table, way, principle, &[], seed);
    evaluate(&release, table, &[Subspace::whole()], &Unwatched).unwrap().divergences[0].kl
}

fn release(table: &Table, way: &str, principle: &str, marginals: &[Vec<String>], seed: u64) -> Release {
    let mut attributes: Vec<AttributeSpec> =
        QUASI.iter().map(|name| AttributeSpec::new(*name, Role::QuasiIdentifier)).collect();
    attributes.push(AttributeSpec::new(SENSITIVE, Role::Sensitive));
    let data = Microdata::new(table.clone(), &attributes).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let both: [PrincipleSpec; 2] = [principle.parse().unwrap(), "k=10".parse().unwrap()];
    let partitioner: &dyn Partitioner = match way {
        "generalize (mondrian)" | "angel (paper)" => &Mondrian { relaxed: false },
        "generalize (compact)" => &Compact,
        _ => &Nearby,
    };
    let angel = Angel {
        k: 10,
        marginals: marginals.to_vec(),
        bucket_columns: Vec::new(),
        for_reconstruction: way.starts_with("angel (ours"),
        fallback: match way {
            "angel (ours)" => Fallback::PrinciplesAlone,
            "angel (ours, k kept)" => Fallback::KeepingK,
            _ => Fallback::Never,
        },
    };
    // k = 10 applies to angel's buckets; its batches, and the groups of `generalize`, need only satisfy the principle.
    let (method, require): (&dyn Method, &[PrincipleSpec]) =
        if way.starts_with("angel") { (&angel, &both) } else { (&Generalize, &both[..1]) };
    Job::new(&data, &required(require), partitioner, &mut rng, &Unwatched).run(method).unwrap().release
}

/// The paper's table 9: marginals G1 to G4, rebuilt from the table of all attributes and from tables of their own.
fn marginals(table: &Table, seed: u64) {
    let marginals: Vec<Vec<String>> =
        (1..=4).map(|n| QUASI[..n].iter().map(|&name| name.to_owned()).collect()).collect();
    println!("\n| principle, table | G1 | G2 | G3 | G4 |\n|---|---:|---:|---:|---:|");
    for principle in ["l=10", "t=0.2"] {
        for way in ["angel (paper)", "angel (ours)"] {
            let release = release(table, way, principle, &marginals, seed);
            for (name, is_whole) in [("`gt`", true), ("own", false)] {
                let subspace = |names: &Vec<String>| Subspace {
                    attributes: names.clone(),
                    table: is_whole.then(|| "gt".to_owned()),
                };
                let spaces: Vec<Subspace> = marginals.iter().map(subspace).collect();
                let found = evaluate(&release, table, &spaces, &Unwatched).unwrap().divergences;
                let shown: Vec<String> = found.iter().map(|one| format!("{:.4}", one.kl)).collect();
                println!("| `{principle}`, {way}, {name} | {} |", shown.join(" | "));
            }
        }
    }
}
