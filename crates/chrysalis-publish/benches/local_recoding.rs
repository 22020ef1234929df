//! What local recoding loses and how long it takes, partitioner by partitioner.
//!
//! ```text
//! cargo bench -p chrysalis-publish --bench local_recoding -- FILE.csv --quasi age,sex,race \
//!     --sensitive occupation --require k=10;distinct-l=4 --taxonomies FOLDER --only mondrian,compact
//! ```
//!
//! Principles are separated by `;`. A folder of taxonomies has one file `COLUMN.csv` for every quasi column; those
//! columns are then read as words and published under the taxonomy's labels. Also `--category a,b` (columns to read as
//! words, shown as sets), `--number a,b` (columns to read as numbers although they have a taxonomy), `--seed N` and
//! `--rows N`.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a program to look at numbers with")]

mod options;

use chrysalis_testkit::required;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::time::Instant;

use chrysalis_criteria::PrincipleSpec;
use chrysalis_publish::method::Generalize;
use chrysalis_publish::partitioner::{Compact, Mondrian, Nearby, TopDown};
use chrysalis_publish::{AttributeSpec, Job, Microdata, Partitioner, TaxonomySource};
use chrysalis_table::{ColumnRequest, CsvOptions, CsvReader, Kind, Role, TaxonomyFile, Unwatched, no_progress};
use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;

fn main() {
    let (file, options) = options::options();
    let list = |name: &str| -> Vec<String> {
        options.get(name).map_or(Vec::new(), |text| text.split(',').map(str::to_owned).collect())
    };
    let data = microdata(&file, &list("quasi"), &list("category"), &options);
    let require: Vec<PrincipleSpec> =
        options.get("require").map_or("k=10", String::as_str).split(';').map(|text| text.parse().unwrap()).collect();
    let goal = data.goal(&required(&require)).unwrap();
    let only = list("only");
    println!("{:<18}{:>9}{:>9}{:>9}{:>10}", "", "seconds", "groups", "largest", "NCP");
    let all: [(&str, &dyn Partitioner); 5] = [
        ("compact", &Compact),
        ("top-down", &TopDown),
        ("mondrian", &Mondrian::default()),
        ("mondrian-relaxed", &Mondrian { relaxed: true }),
        ("nearby", &Nearby),
    ];
    for (name, partitioner) in all.into_iter().filter(|(name, _)| only.is_empty() || only.iter().any(|o| o == name)) {
        let mut rng = ChaCha20Rng::seed_from_u64(options.get("seed").map_or(1, |text| text.parse().unwrap()));
        let start = Instant::now();
        let partition = partitioner.partition(&data, &goal, &mut rng, &no_progress).unwrap();
        let seconds = start.elapsed().as_secs_f64();
        let outcome = Job::new(&data, &required(&require), &partition, &mut rng, &Unwatched).run(&Generalize).unwrap();
        let (n_groups, largest) = (partition.n_groups(), outcome.group_sizes.1);
        println!("{name:<18}{seconds:>9.3}{n_groups:>9}{largest:>9}{:>10.5}", outcome.ncp.mean());
    }
}

fn microdata(file: &str, quasi: &[String], categories: &[String], options: &BTreeMap<String, String>) -> Microdata {
    let sensitive = options.get("sensitive");
    let folder = options.get("taxonomies").map(Path::new);
    let numbers: Vec<&str> = options.get("number").map_or(Vec::new(), |text| text.split(',').collect());
    let is_word = |name: &String| folder.is_some() && sensitive != Some(name) && !numbers.contains(&name.as_str());
    let request = |name: &String| match categories.contains(name) || is_word(name) {
        true => ColumnRequest::of_kind(name, Kind::Category),
        false => ColumnRequest::named(name),
    };
    let wanted: Vec<ColumnRequest> = quasi.iter().chain(sensitive).map(request).collect();
    let reader = CsvReader::open(File::open(file).unwrap(), &CsvOptions::default()).unwrap();
    let table = reader.read(&wanted).unwrap();
    let n_rows = options.get("rows").map_or(table.rows(), |text| text.parse().unwrap()).min(table.rows());
    let table = table.gather(&(0..n_rows as u32).collect::<Vec<_>>());
    let attribute = |name: &String| {
        let mut attribute = AttributeSpec::new(name, Role::QuasiIdentifier);
        attribute.taxonomy = folder.map(|folder| {
            let text = std::fs::read_to_string(folder.join(format!("{name}.csv"))).unwrap();
            TaxonomySource::File(TaxonomyFile::parse(&text).unwrap())
        });
        attribute
    };
    let mut attributes: Vec<AttributeSpec> = quasi.iter().map(attribute).collect();
    attributes.extend(sensitive.map(|name| AttributeSpec::new(name, Role::Sensitive)));
    Microdata::new(table, &attributes).unwrap()
}
