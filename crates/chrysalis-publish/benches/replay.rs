//! How well groups hide who has which value from somebody who runs the partitioner again on candidate worlds.
//!
//! ```text
//! cargo bench -p chrysalis-publish --bench replay -- ADULT.csv --rows 300 --quasi age,sex,race,education,marital_status \
//!     --sensitive occupation --require l=4 --exchanges 25 --runs 200 --seeds 1,2,3 --only nearby,compact
//! ```
//!
//! For every seed, some rows are drawn and grouped. Then two members of one of these groups exchange their values, and
//! the partitioner runs again and again, with the true and with the exchanged values: how often does the group come
//! out? Principles are separated by `;`. Also `--category a,b` (columns to read as words).

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a program to look at numbers with")]

mod options;

use chrysalis_testkit::required;
use std::collections::BTreeSet;
use std::fs::File;
use std::sync::Arc;

use chrysalis_criteria::PrincipleSpec;
use chrysalis_publish::method::Generalize;
use chrysalis_publish::partitioner::{Anatomize, Compact, Mondrian, Nearby, Similar, TopDown};
use chrysalis_publish::{AttributeSpec, Job, Microdata, Partition, Partitioner};
use chrysalis_table::{Codes, Column, ColumnRequest, CsvOptions, CsvReader, Kind, Role, Table, Unwatched, no_progress};
use rand::rngs::ChaCha20Rng;
use rand::seq::{IndexedRandom, SliceRandom};
use rand::{RngExt, SeedableRng};
use rayon::prelude::*;

/// The result of one exchange: how often the group came out with the true and with the exchanged values.
type Exchange = (usize, usize);

fn main() {
    let (file, options) = options::options();
    let list = |name: &str| -> Vec<String> {
        options.get(name).map_or(Vec::new(), |text| text.split(',').map(str::to_owned).collect())
    };
    let number = |name: &str, default: usize| options.get(name).map_or(default, |text| text.parse().unwrap());
    let (quasi, categories, only) = (list("quasi"), list("category"), list("only"));
    let sensitive = options.get("sensitive").expect("--sensitive").clone();
    let request = |name: &String| match categories.contains(name) {
        true => ColumnRequest::of_kind(name, Kind::Category),
        false => ColumnRequest::named(name),
    };
    let wanted: Vec<ColumnRequest> = quasi.iter().chain([&sensitive]).map(request).collect();
    let table = CsvReader::open(File::open(file).unwrap(), &CsvOptions::default()).unwrap().read(&wanted).unwrap();
    let require: Vec<PrincipleSpec> =
        options.get("require").map_or("l=4", String::as_str).split(';').map(|text| text.parse().unwrap()).collect();
    let seeds = options.get("seeds").map_or("1,2,3", String::as_str).split(',').map(|seed| seed.parse().unwrap());
    let seeds: Vec<u64> = seeds.collect();
    let (n_rows, n_exchanges, n_runs) = (number("rows", 300), number("exchanges", 25), number("runs", 200));
    println!("{n_rows} rows, {n_exchanges} exchanges a seed, {n_runs} runs a world\n");
    println!(
        "{:<11}{:>5}{:>9}{:>9}{:>10}{:>8}{:>8}{:>8}{:>8}{:>9}",
        "", "seed", "true", "changed", "vanished", "median", "upper", "pooled", "seen", "NCP"
    );
    let similar = Similar::default();
    let all: [&(dyn Partitioner + Sync); 6] =
        [&Nearby, &Compact, &Anatomize, &similar, &Mondrian { relaxed: false }, &TopDown];
    for partitioner in all.into_iter().filter(|one| only.is_empty() || only.iter().any(|name| name == one.name())) {
        let mut pooled: Vec<Exchange> = Vec::new();
        let (mut n_vanished, mut losses) = (0, Vec::new());
        for &seed in &seeds {
            let mut rng = ChaCha20Rng::seed_from_u64(seed);
            let mut rows: Vec<u32> = (0..table.rows() as u32).collect();
            rows.shuffle(&mut rng);
            let world =
                World { table: table.gather(&rows[..n_rows.min(rows.len())]), quasi: &quasi, require: &require };
            let (exchanges, vanished) = world.replayed(partitioner, n_exchanges, n_runs, seed);
            let ncp = world.ncp(partitioner, n_runs.min(20));
            report(partitioner.name(), &seed.to_string(), &exchanges, vanished, n_runs, ncp);
            pooled.extend(exchanges);
            n_vanished += vanished;
            losses.push(ncp);
        }
        let ncp = losses.iter().sum::<f64>() / losses.len() as f64;
        report(partitioner.name(), "all", &pooled, n_vanished, n_runs, ncp);
    }
}

fn report(name: &str, seed: &str, exchanges: &[Exchange], vanished: usize, n_runs: usize, ncp: f64) {
    let share = |of: fn(&Exchange) -> usize| {
        exchanges.iter().map(of).sum::<usize>() as f64 / (exchanges.len() * n_runs).max(1) as f64
    };
    let (truth, changed) = (share(|one| one.0), share(|one| one.1));
    // The release itself is one more run in which the group came out.
    let mut ratios: Vec<f64> = exchanges.iter().map(|one| (one.0 + 1) as f64 / (one.1 + 1) as f64).collect();
    ratios.sort_by(f64::total_cmp);
    let at = |share: f64| ratios.get((ratios.len() as f64 * share) as usize).copied().unwrap_or(1.0);
    let seen = exchanges.iter().filter(|one| one.0 >= 5).count();
    println!(
        "{name:<11}{seed:>5}{:>8.1}%{:>8.1}%{:>7}/{}{:>8.2}{:>8.2}{:>8.2}{seen:>8}{ncp:>9.5}",
        100.0 * truth,
        100.0 * changed,
        vanished,
        exchanges.len(),
        at(0.5),
        at(0.9),
        truth / changed.max(1e-9),
    );
}

struct World<'a> {
    table: Table,
    quasi: &'a [String],
    require: &'a [PrincipleSpec],
}

impl World<'_> {
    fn microdata(&self, exchanged: Option<(u32, u32)>) -> Microdata {
        let (sensitive, others) = self.table.columns().split_last().unwrap();
        let code = |row: u32| match exchanged {
            Some((a, b)) if row == a => sensitive.code(b as usize),
            Some((a, b)) if row == b => sensitive.code(a as usize),
            _ => sensitive.code(row as usize),
        };
        let codes = Codes::collect(sensitive.domain().len(), (0..self.table.rows() as u32).map(code));
        let column = Column::new(sensitive.name(), Arc::clone(sensitive.domain()), codes);
        let mut attributes: Vec<AttributeSpec> =
            self.quasi.iter().map(|name| AttributeSpec::new(name, Role::QuasiIdentifier)).collect();
        attributes.push(AttributeSpec::new(sensitive.name(), Role::Sensitive));
        let columns = others.iter().cloned().chain([column]).collect();
        Microdata::new(Table::new(columns), &attributes).unwrap()
    }

    fn partition(&self, partitioner: &dyn Partitioner, data: &Microdata, seed: u64) -> Partition {
        let goal = data.goal(&required(self.require)).unwrap();
        partitioner.partition(data, &goal, &mut ChaCha20Rng::seed_from_u64(seed), &no_progress).unwrap()
    }

    /// How often each of some groups comes out.
    fn counts(
        &self,
        by: &(dyn Partitioner + Sync),
        data: &Microdata,
        groups: &[Vec<u32>],
        seeds: std::ops::Range<u64>,
    ) -> Vec<usize> {
        let runs: Vec<BTreeSet<Vec<u32>>> =
            seeds.into_par_iter().map(|seed| sorted(&self.partition(by, data, seed)).into_iter().collect()).collect();
        groups.iter().map(|group| runs.iter().filter(|run| run.contains(group)).count()).collect()
    }

    /// The exchanges, and in how many of them the group did not come out in a first run with the exchanged values.
    fn replayed(
        &self,
        by: &(dyn Partitioner + Sync),
        n_exchanges: usize,
        n_runs: usize,
        seed: u64,
    ) -> (Vec<Exchange>, usize) {
        let truth = self.microdata(None);
        let released = sorted(&self.partition(by, &truth, seed << 32));
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let sensitive = truth.sensitive().unwrap();
        let mut tried: Vec<(Vec<u32>, (u32, u32))> = Vec::new();
        while tried.len() < n_exchanges {
            let group = released.choose(&mut rng).unwrap();
            let (a, b) = (group[rng.random_range(0..group.len())], group[rng.random_range(0..group.len())]);
            if sensitive.code(a as usize) != sensitive.code(b as usize) {
                tried.push((group.clone(), (a, b)));
            }
        }
        let groups: Vec<Vec<u32>> = tried.iter().map(|(group, _)| group.clone()).collect();
        let first = (seed << 32) + 1;
        let with_true = self.counts(by, &truth, &groups, first..first + n_runs as u64);
        let mut vanished = 0;
        let exchanges = tried.iter().zip(with_true).map(|((group, pair), with_true)| {
            let data = self.microdata(Some(*pair));
            let group = std::slice::from_ref(group);
            vanished += usize::from(self.counts(by, &data, group, first..first + 1)[0] == 0);
            (with_true, self.counts(by, &data, group, first..first + n_runs as u64)[0])
        });
        (exchanges.collect(), vanished)
    }

    fn ncp(&self, by: &dyn Partitioner, n_runs: usize) -> f64 {
        let data = self.microdata(None);
        let losses = (0..n_runs as u64).map(|seed| {
            let partition = self.partition(by, &data, seed);
            let mut rng = ChaCha20Rng::seed_from_u64(seed);
            Job::new(&data, &required(self.require), &partition, &mut rng, &Unwatched)
                .run(&Generalize)
                .unwrap()
                .ncp
                .mean()
        });
        losses.sum::<f64>() / n_runs as f64
    }
}

/// The groups, sorted, each with its rows sorted.
fn sorted(partition: &Partition) -> Vec<Vec<u32>> {
    let mut groups: Vec<Vec<u32>> = partition.groups().map(<[u32]>::to_vec).collect();
    groups.iter_mut().for_each(|group| group.sort_unstable());
    groups.sort();
    groups
}
