//! Transparent groups against whoever replays the algorithm: every world of small tables is published again and again.

use std::collections::{BTreeMap, BTreeSet};

use chrysalis_publish::partitioner::{Compact, Mondrian, Nearby, TopDown, Transparent};
use chrysalis_publish::{Microdata, Partition, Partitioner};
use chrysalis_table::{Column, Table};
use chrysalis_testkit::{required, sampled};
use proptest::prelude::*;
use rayon::prelude::*;

use crate::common::{in_threads, partition, plain, specs};

/// The quasi values of a table, column by column, and its sensitive values in any order.
struct Small {
    quasi: &'static [&'static [i64]],
    values: &'static [u8],
}

const QUICK: &[Small] = &[
    Small { quasi: &[&[1, 2, 3, 4, 5]], values: b"aabcd" },
    Small { quasi: &[&[1, 2, 4, 7, 8, 9]], values: b"aabbcd" },
    Small { quasi: &[&[1, 1, 2, 2, 3, 3], &[1, 2, 1, 2, 1, 2]], values: b"aabbcc" },
];
const SLOW: &[Small] = &[
    Small { quasi: &[&[1, 2, 3, 3, 5]], values: b"abcde" },
    Small { quasi: &[&[1, 2, 3, 4, 5, 6]], values: b"aaabcd" },
    Small { quasi: &[&[1, 2, 3, 4, 5, 6]], values: b"aabbcc" },
    Small { quasi: &[&[1, 1, 1, 4, 5, 6], &[1, 2, 3, 3, 2, 1]], values: b"abcdef" },
    Small { quasi: &[&[1, 1, 2, 4, 4, 9], &[5, 1, 1, 2, 2, 2]], values: b"aabbcd" },
    Small { quasi: &[&[1, 2, 3, 4, 5, 6, 7]], values: b"aabbccd" },
    Small { quasi: &[&[1, 2, 3, 4, 5, 6, 7], &[1, 2, 1, 2, 1, 2, 1]], values: b"aaabbcd" },
];

/// All ways to hand the values out.
fn worlds(values: &[u8]) -> Vec<Vec<u8>> {
    let distinct: BTreeSet<u8> = values.iter().copied().collect();
    if values.is_empty() {
        return vec![Vec::new()];
    }
    let with_first = |&first: &u8| {
        let at = values.iter().position(|value| *value == first).unwrap();
        let rest = [&values[..at], &values[at + 1..]].concat();
        worlds(&rest).into_iter().map(move |world| [vec![first], world].concat()).collect::<Vec<_>>()
    };
    distinct.iter().flat_map(with_first).collect()
}

impl Small {
    fn microdata(&self, world: &[u8]) -> Microdata {
        const NAMES: [&str; 2] = ["a", "b"];
        let mut columns: Vec<Column> =
            NAMES.iter().zip(self.quasi).map(|(name, numbers)| Column::integers(*name, numbers)).collect();
        let texts: Vec<String> = world.iter().map(|value| char::from(*value).to_string()).collect();
        columns.push(Column::texts("s", texts.iter().map(String::as_str)));
        plain(Table::new(columns), &NAMES[..self.quasi.len()], Some("s"))
    }

    /// What a form shows of groups: for each its values and, of quasi values, what the form shows.
    fn shown(&self, form: Shows, groups: &Groups) -> Vec<(Vec<u8>, Vec<Vec<i64>>)> {
        let of_group = |(rows, values): &(Vec<u32>, Vec<u8>)| {
            let row = |row: &u32| self.quasi.iter().map(|column| column[*row as usize]).collect::<Vec<i64>>();
            let mut columns: Vec<Vec<i64>> =
                self.quasi.iter().map(|column| rows.iter().map(|row| column[*row as usize]).collect()).collect();
            columns.iter_mut().for_each(|column| column.sort_unstable());
            let quasi = match form {
                Shows::Rows => {
                    let mut rows: Vec<Vec<i64>> = rows.iter().map(row).collect();
                    rows.sort();
                    rows
                }
                Shows::Columns => columns,
                Shows::Boxes => columns.iter().map(|column| vec![column[0], column[column.len() - 1]]).collect(),
            };
            (values.clone(), quasi)
        };
        let mut shown: Vec<_> = groups.iter().map(of_group).collect();
        shown.sort();
        shown
    }
}

/// What forms show of the quasi values of a group: anatomy, permute and generalize.
#[derive(Clone, Copy, Debug)]
enum Shows {
    Rows,
    Columns,
    Boxes,
}

/// Groups as rows and values, in a canonical order.
type Groups = Vec<(Vec<u32>, Vec<u8>)>;

fn groups(partition: &Partition, world: &[u8]) -> Groups {
    let of_group = |rows: &[u32]| {
        let mut rows = rows.to_vec();
        rows.sort_unstable();
        let mut values: Vec<u8> = rows.iter().map(|row| world[*row as usize]).collect();
        values.sort_unstable();
        (rows, values)
    };
    let mut groups: Vec<_> = partition.groups().map(of_group).collect();
    groups.sort();
    groups
}

/// How often groups came out in every world.
struct Replayed {
    worlds: Vec<Vec<u8>>,
    counts: BTreeMap<Groups, Vec<u32>>,
}

impl Replayed {
    fn new(table: &Small, partitioner: &(dyn Partitioner + Sync), l: u64, runs: u64) -> Replayed {
        let worlds = worlds(table.values);
        let of_world = |world: &Vec<u8>| {
            let (data, specs) = (table.microdata(world), specs(&[&format!("l={l}")]));
            let run = |seed: u64| groups(&partition(partitioner, &data, &specs, seed).unwrap(), world);
            (0..runs).map(run).collect::<Vec<_>>()
        };
        let found: Vec<Vec<Groups>> = worlds.par_iter().map(of_world).collect();
        let mut counts: BTreeMap<Groups, Vec<u32>> = BTreeMap::new();
        for (world, found) in found.into_iter().enumerate() {
            for groups in found {
                counts.entry(groups).or_insert_with(|| vec![0; worlds.len()])[world] += 1;
            }
        }
        Replayed { worlds, counts }
    }

    /// How far the likelihoods of groups differ over the worlds that they allow: Pearson's statistic of homogeneity, less
    /// its mean, in units of its standard deviation.
    fn unevenness(&self, runs: u64) -> f64 {
        let (mut sum, mut freedom) = (0.0, 0.0);
        for (groups, counts) in &self.counts {
            let allows = |world: &Vec<u8>| {
                groups.iter().all(|(rows, values)| {
                    let mut there: Vec<u8> = rows.iter().map(|row| world[*row as usize]).collect();
                    there.sort_unstable();
                    there == *values
                })
            };
            let allowed: Vec<f64> =
                self.worlds.iter().zip(counts).filter(|it| allows(it.0)).map(|it| f64::from(*it.1)).collect();
            let mean = allowed.iter().sum::<f64>() / allowed.len() as f64;
            // Rare groups have no normal distribution.
            if mean >= 5.0 && allowed.len() > 1 && mean < runs as f64 * 0.99 {
                let variance = mean * (1.0 - mean / runs as f64);
                sum += allowed.iter().map(|count| (count - mean).powi(2) / variance).sum::<f64>();
                freedom += allowed.len() as f64 - 1.0;
            }
        }
        if freedom == 0.0 { 0.0 } else { (sum - freedom) / (2.0 * freedom).sqrt() }
    }

    /// The surest that somebody is of a person's value, who knows all quasi values and replays the algorithm in every
    /// world: the excess over 1/l, less what chance may add. By Hoeffding's inequality chance adds more to any of the many
    /// posteriors that are looked at in fewer than one of ten thousand such loops.
    fn excess(&self, table: &Small, form: Shows, l: u64) -> f64 {
        let mut by_release: BTreeMap<_, Vec<u32>> = BTreeMap::new();
        for (groups, counts) in &self.counts {
            let sums = by_release.entry(table.shown(form, groups)).or_insert_with(|| vec![0; self.worlds.len()]);
            sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
        let distinct: BTreeSet<&u8> = table.values.iter().collect();
        let n_posteriors = (by_release.len() * table.values.len() * distinct.len()) as f64;
        let mut most = f64::MIN;
        for counts in by_release.values() {
            let total = f64::from(counts.iter().sum::<u32>());
            for person in 0..table.values.len() {
                for value in &distinct {
                    let has = |it: &(&Vec<u8>, &u32)| it.0[person] == **value;
                    let count: u32 = self.worlds.iter().zip(counts).filter(has).map(|it| it.1).sum();
                    let excess = f64::from(count) / total - 1.0 / l as f64;
                    most = most.max(excess - ((n_posteriors * 1e4).ln() / (2.0 * total)).sqrt());
                }
            }
        }
        most
    }
}

fn tables() -> impl Iterator<Item = &'static Small> {
    QUICK.iter().chain(sampled(&[][..], SLOW))
}

/// Whether some release keeps the promise, in all worlds alike.
fn is_feasible(table: &Small, l: u64) -> bool {
    let most = table.values.iter().map(|value| table.values.iter().filter(|it| *it == value).count()).max();
    most.is_some_and(|most| most as u64 * l <= table.values.len() as u64)
}

#[test]
fn every_world_that_transparent_groups_allow_is_equally_likely() {
    let runs = sampled(400, 2_000);
    let mut n_judged = 0;
    for (table, l) in tables().flat_map(|table| [(table, 2), (table, 3)]).filter(|(table, l)| is_feasible(table, *l)) {
        let replayed = Replayed::new(table, &Transparent, l, runs);
        let unevenness = replayed.unevenness(runs);
        let name = format!("{:?}, {}, l={l}", table.quasi, String::from_utf8_lossy(table.values));
        assert!(unevenness < 4.5, "{name}: likelihoods differ by {unevenness} standard deviations");
        for form in [Shows::Rows, Shows::Columns, Shows::Boxes] {
            let surely = replayed.excess(table, form, l);
            assert!(surely <= 0.0, "{name}, {form:?}: a posterior is {surely} above 1/{l}");
        }
        n_judged += 1;
    }
    assert!(n_judged >= 4, "only {n_judged} tables can be published");
}

#[test]
fn the_same_loop_finds_what_other_partitioners_tell() {
    let runs = sampled(60, 400);
    let others: [Box<dyn Partitioner + Sync>; 4] =
        [Box::new(Nearby), Box::new(Compact), Box::new(TopDown), Box::new(Mondrian::default())];
    for partitioner in others {
        let (mut uneven, mut sure, mut n) = (0, 0, 0);
        for table in tables().filter(|table| is_feasible(table, 2)) {
            let replayed = Replayed::new(table, &*partitioner, 2, runs);
            uneven += usize::from(replayed.unevenness(runs) > 10.0);
            sure += usize::from(replayed.excess(table, Shows::Rows, 2) > 0.0);
            n += 1;
        }
        let name = partitioner.name();
        assert!(
            sure > 0 && uneven > 0,
            "{name}: of {n} tables, likelihoods differ in {uneven}, and somebody is surer in {sure}"
        );
    }
}

/// At c·l = n no cut is safe: the whole table is dealt, as anatomize would.
#[test]
fn where_a_value_is_as_frequent_as_it_may_be_nothing_is_cut() {
    let numbers: Vec<i64> = (0..40).collect();
    let texts: Vec<String> =
        (0..40).map(|at| if at % 2 == 0 { "often".to_owned() } else { format!("v{at}") }).collect();
    let columns = vec![Column::integers("a", &numbers), Column::texts("s", texts.iter().map(String::as_str))];
    let data = plain(Table::new(columns), &["a"], Some("s"));
    let spread = |seed: u64| {
        let groups = partition(&Transparent, &data, &specs(&["l=2"]), seed).unwrap();
        let width = |group: &[u32]| u64::from(group.iter().max().unwrap() - group.iter().min().unwrap());
        groups.groups().map(width).sum::<u64>() as f64 / groups.n_groups() as f64
    };
    let mean = (0..50).map(spread).sum::<f64>() / 50.0;
    // Two random places of 40 are 40/3 apart on average.
    assert!((mean - 40.0 / 3.0).abs() < 1.5, "groups are {mean} wide on average");
}

/// The cut rule is necessary: a region whose rows could all have one value has no release in that world.
#[test]
fn a_smaller_side_than_the_rule_allows_fails_in_some_world() {
    let table = &QUICK[1];
    // Two rows have the most frequent value: a side needs 2·2 rows, and six rows have no cut.
    for world in worlds(table.values) {
        let groups = partition(&Transparent, &table.microdata(&world), &specs(&["l=2"]), 1).unwrap();
        assert!(groups.groups().all(|group| group.len() >= 2));
    }
    let fails = |size: usize| {
        worlds(table.values).iter().any(|world| {
            let side = &world[..size];
            let most = side.iter().map(|value| side.iter().filter(|it| *it == value).count()).max().unwrap();
            most * 2 > size
        })
    };
    assert!(fails(2) && fails(3) && !fails(4));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 150, ..ProptestConfig::default() })]

    /// Every principle with a proof holds in every group, and threads change nothing.
    #[test]
    fn groups_keep_every_principle(
        rows in prop::collection::vec((0i64..20, 0i64..5, 0i64..9), 1..80),
        which in 0usize..9,
        seed in 0u64..1000,
    ) {
        let principles = [
            "k=4", "l=2", "l=3", "distinct-l=3", "entropy-l=2", "recursive-l=2,2", "beta=1", "t=0.3", "ke=3,2",
        ];
        let column = |name: &str, of: &dyn Fn(&(i64, i64, i64)) -> i64| {
            Column::integers(name, &rows.iter().map(of).collect::<Vec<_>>())
        };
        let columns = vec![column("a", &|it| it.0), column("b", &|it| it.1), column("s", &|it| it.2)];
        let data = plain(Table::new(columns), &["a", "b"], Some("s"));
        let specs = specs(&[principles[which]]);
        let made = partition(&Transparent, &data, &specs, seed);
        let Ok(goal) = data.goal(&required(&specs)) else {
            prop_assert!(made.is_err());
            return Ok(());
        };
        let made = made.unwrap();
        let mut seen: Vec<u32> = made.groups().flatten().copied().collect();
        seen.sort_unstable();
        prop_assert_eq!(seen, (0..rows.len() as u32).collect::<Vec<_>>());
        for group in made.groups() {
            let counts = chrysalis_table::SaCounts::of(
                data.sensitive_counts().domain_len(),
                group.iter().map(|&row| data.sensitive().unwrap().code(row as usize)),
            );
            prop_assert!(chrysalis_criteria::Principle::holds(&goal, &counts));
        }
        let again = in_threads(1, || partition(&Transparent, &data, &specs, seed).unwrap());
        prop_assert_eq!(made, again);
    }
}
