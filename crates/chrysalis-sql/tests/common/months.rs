//! Small worlds of the same people, month after month, published as a series.

use std::collections::BTreeMap;

use chrysalis_publish::method::{Anatomy, Generalize, Method, Permute};
use chrysalis_publish::partitioner::Nobody;
use chrysalis_publish::{Job, Past};
use chrysalis_release::{Release, SeriesEntry};
use chrysalis_table::{Code, Kind, Unwatched, Value};
use rand::RngExt;
use rand::rngs::ChaCha20Rng;

use super::World;

pub(crate) const FORMS: [&str; 3] = ["anatomy", "permute", "generalize"];

/// A world for every month, and its release.
pub(crate) struct Months {
    pub(crate) worlds: Vec<World>,
    pub(crate) releases: Vec<Release>,
    pub(crate) counterfeits: u64,
    /// How often the values of a group are shown at most.
    pub(crate) times: u64,
}

/// What an owner remembers, by the names of people and values.
#[derive(Default)]
struct Memory {
    signatures: Vec<Vec<String>>,
    lives: BTreeMap<usize, Vec<u32>>,
}

impl Months {
    /// `None` where the first month cannot be published: one value is too frequent. Many people leave and few come, so
    /// that counterfeits are needed; `require` may name more than an m.
    pub(crate) fn random(
        form: &str,
        (kind, require, months): (Kind, &[String], usize),
        rng: &mut ChaCha20Rng,
    ) -> Option<Months> {
        let pool = World::random(rng, 60, 1, kind, 0.0);
        let mut there: Vec<usize> = (0..rng.random_range(10..24)).collect();
        let mut next = there.len();
        let mut memory = Memory::default();
        let mut made = Months { worlds: Vec::new(), releases: Vec::new(), counterfeits: 0, times: 0 };
        for number in 1..=months {
            if number > 1 {
                for _ in 0..rng.random_range(1..6) {
                    if there.len() > 4 {
                        there.swap_remove(rng.random_range(0..there.len()));
                    }
                }
                let coming = rng.random_range(0..4);
                there.extend(next..next + coming);
                next += coming;
            }
            let rows = there.iter().map(|&row| pool.rows[row].clone()).collect();
            let world = World { rows, groups: Vec::new(), cols: pool.cols.clone(), n_buckets: 1 };
            let (release, (counterfeits, times)) =
                memory.publish(form, (&pool, &world, &there), (require, number as u64), rng)?;
            made.counterfeits += counterfeits;
            made.times = made.times.max(times);
            made.worlds.push(world);
            made.releases.push(release);
        }
        Some(made)
    }
}

impl Memory {
    fn publish(
        &mut self,
        form: &str,
        (pool, world, there): (&World, &World, &[usize]),
        (require, number): (&[String], u64),
        rng: &mut ChaCha20Rng,
    ) -> Option<(Release, (u64, u64))> {
        let method: &dyn Method = match form {
            "anatomy" => &Anatomy,
            "permute" => &Permute,
            "generalize" => &Generalize,
            _ => panic!("no series of {form}"),
        };
        let data = world.microdata_with_values_of(pool);
        let column = data.sensitive().unwrap();
        let domain = column.domain();
        let code = |text: &String| domain.code_of(Some(&Value::parse(domain.kind(), text).unwrap())).unwrap();
        let codes = |texts: &Vec<String>| {
            let mut codes: Vec<Code> = texts.iter().map(code).collect();
            codes.sort_unstable();
            codes
        };
        let people: Vec<usize> = self.lives.keys().copied().collect();
        let past = Past {
            signatures: self.signatures.iter().map(codes).collect(),
            lives: self.lives.values().cloned().collect(),
            of_row: there.iter().map(|who| people.binary_search(who).ok().map(|at| at as u32)).collect(),
            takes_changes: false,
            entry: SeriesEntry { number, previous: (number > 1).then(|| "0".repeat(64)) },
        };
        let require: Vec<_> = require.iter().map(|text| text.parse().unwrap()).collect();
        let outcome = Job::new(&data, &require, &Nobody, rng, &Unwatched).after(&past).run(method).ok()?;
        let groups = outcome.series.unwrap();
        let texts = |codes: &Vec<Code>| codes.iter().map(|&code| domain.text(code).into_owned()).collect::<Vec<_>>();
        self.signatures = groups.signatures.iter().map(texts).collect();
        for (group, members) in groups.partition.groups().enumerate() {
            for &row in members {
                let life = self.lives.entry(there[row as usize]).or_default();
                if life.last() != Some(&groups.of_group[group]) {
                    life.push(groups.of_group[group]);
                }
            }
        }
        let times = groups.times.iter().copied().max().unwrap_or(1);
        Some((outcome.release, (groups.facts.counterfeits, u64::from(times))))
    }
}
