//! What several quasi-identifiers cost: the union run against butterflies.
//!
//! ```text
//! cargo bench -p chrysalis-publish --bench butterfly -- FILE.csv \
//!     --sets 'age,race,education;age,race,work_class' --k 5,10,50 --rows 20000
//! ```
//!
//! Sets are separated by `;`. Also `--category a,b` (columns to read as words, shown as sets), `--taxonomies FOLDER` (with a
//! file `COLUMN.csv` for those columns that have a taxonomy) and `--sensitive s --require l=4` (for every user, beside k).

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a program to look at numbers with")]

mod options;

use chrysalis_testkit::required;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::time::Instant;

use chrysalis_criteria::PrincipleSpec;
use chrysalis_publish::method::{Butterfly, ButterflyFacts};
use chrysalis_publish::partitioner::Hierarchy;
use chrysalis_publish::{AttributeSpec, Job, Microdata, Partition, QuasiIdentifiers, TaxonomySource};
use chrysalis_table::{ColumnRequest, CsvOptions, CsvReader, Kind, Role, TaxonomyFile, Unwatched};
use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;

fn main() {
    let (file, options) = options::options();
    let list = |text: &str| -> Vec<String> { text.split(',').map(|name| name.trim().to_owned()).collect() };
    let sets: Vec<Vec<String>> = options["sets"].split(';').map(list).collect();
    let users = QuasiIdentifiers::new(sets.clone()).unwrap();
    let data = microdata(&file, &sets.concat(), &options);
    println!("{} rows", data.rows());
    println!(
        "{:>4}{:>12}{:>12}{:>12}{:>8}{:>8}{:>8}{:>9}{:>9}{:>9}{:>9}{:>9}",
        "k",
        "union run",
        "union tree",
        "body-first",
        "saved",
        "saved",
        "nodes",
        "by body",
        "by bound",
        "built",
        "kept",
        "seconds"
    );
    for k in options.get("k").map_or("10", String::as_str).split(',') {
        let mut require: Vec<PrincipleSpec> = vec![format!("k={k}").parse().unwrap()];
        require.extend(options.get("require").map(|text| text.parse().unwrap()));
        let (paper, ..) = run(&data, &users, &require, Some(Hierarchy::Union));
        let (facts, seconds, lost) = run(&data, &users, &require, None);
        let rows = data.rows() as f64;
        let each = facts.union_by_attribute.iter().zip(&lost);
        let each: Vec<String> =
            each.map(|((name, union), (_, own))| format!("{name} {:.4} → {:.4}", union / rows, own / rows)).collect();
        let union = facts.union_loss();
        let lost = |hierarchy| facts.tried.iter().find(|(known, _)| *known == hierarchy).unwrap().1;
        let (tree, body) = (lost(Hierarchy::Union), lost(Hierarchy::BodyFirst));
        let saved = |loss: f64| format!("{:.1} %", 100.0 * (union - loss) / union);
        println!(
            "{k:>4}{union:>12.1}{tree:>12.1}{body:>12.1}{:>8}{:>8}{:>8}{:>9}{:>9}{:>9}{:>9}{seconds:>9.2}",
            saved(tree),
            saved(body),
            paper.tally.nodes,
            paper.tally.passed_by_body,
            paper.tally.passed_by_bound,
            paper.tally.built,
            paper.tally.kept
        );
        println!("     per row: {}", each.join(", "));
    }
}

fn run(
    data: &Microdata,
    users: &QuasiIdentifiers,
    require: &[PrincipleSpec],
    hierarchy: Option<Hierarchy>,
) -> (ButterflyFacts, f64, Vec<(String, f64)>) {
    let butterfly = Butterfly { quasi_identifiers: users.clone(), hierarchy };
    let start = Instant::now();
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let nobody = Partition::new(Vec::new(), &[]);
    let outcome = Job::new(data, &required(require), &nobody, &mut rng, &Unwatched).run(&butterfly).unwrap();
    let seconds = start.elapsed().as_secs_f64();
    (outcome.butterflies.unwrap(), seconds, outcome.ncp_by_attribute)
}

fn microdata(file: &str, quasi: &[String], options: &BTreeMap<String, String>) -> Microdata {
    let mut names: Vec<String> = Vec::new();
    for name in quasi {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    let categories: Vec<&str> = options.get("category").map_or(Vec::new(), |text| text.split(',').collect());
    let taxonomy = |name: &String| {
        let path = Path::new(options.get("taxonomies")?).join(format!("{name}.csv"));
        let text = std::fs::read_to_string(path).ok()?;
        Some(TaxonomySource::File(TaxonomyFile::parse(&text).unwrap()))
    };
    let request = |name: &String| match categories.contains(&name.as_str()) || taxonomy(name).is_some() {
        true => ColumnRequest::of_kind(name, Kind::Category),
        false => ColumnRequest::named(name),
    };
    let sensitive = options.get("sensitive");
    let mut wanted: Vec<ColumnRequest> = names.iter().map(request).collect();
    wanted.extend(sensitive.map(ColumnRequest::named));
    let reader = CsvReader::open(File::open(file).unwrap(), &CsvOptions::default()).unwrap();
    let table = reader.read(&wanted).unwrap();
    let n_rows = options.get("rows").map_or(table.rows(), |text| text.parse().unwrap()).min(table.rows());
    let table = table.gather(&(0..n_rows as u32).collect::<Vec<_>>());
    let attribute =
        |name: &String| AttributeSpec { taxonomy: taxonomy(name), ..AttributeSpec::new(name, Role::QuasiIdentifier) };
    let mut attributes: Vec<AttributeSpec> = names.iter().map(attribute).collect();
    attributes.extend(sensitive.map(|name| AttributeSpec::new(name, Role::Sensitive)));
    Microdata::new(table, &attributes).unwrap()
}
