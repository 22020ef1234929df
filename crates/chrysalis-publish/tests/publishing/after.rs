//! A release beside earlier ones: shares over all worlds, against a count of every single world.

use chrysalis_criteria::Rational;
use chrysalis_publish::method::{Anatomy, Generalize, Method, Permute};
use chrysalis_publish::partitioner::{Mondrian, Nearby};
use chrysalis_publish::{Job, Microdata, Partitioner, judge_after};
use chrysalis_release::View;
use chrysalis_table::{Column, Table, Unwatched};
use chrysalis_testkit::required;
use proptest::prelude::*;

use crate::common::{plain, rng, specs};

const VALUES: [&str; 3] = ["a", "b", "c"];

/// Who is in a table: a number that is also the quasi value, and a value.
type Row = (i64, usize);

fn table(rows: &[Row]) -> Microdata {
    let places: Vec<i64> = rows.iter().map(|(who, _)| *who).collect();
    let values = Column::texts("s", rows.iter().map(|(_, value)| VALUES[*value]));
    plain(Table::new(vec![Column::integers("q", &places), values]), &["q"], Some("s"))
}

fn published(rows: &[Row], method: &dyn Method, how: &dyn Partitioner, l: &str, seed: u64) -> Option<View> {
    let (data, require) = (table(rows), required(&specs(&[l])));
    let mut rng = rng(seed);
    let made = Job::new(&data, &require, how, &mut rng, &Unwatched).run(method).ok()?;
    Some(View::open(&made.release).unwrap())
}

/// The groups of an anatomy release: who is in each, and how many of them have each value.
fn groups(view: &View) -> Vec<(Vec<i64>, [u64; 3])> {
    let (shown, values) = (view.column(0).unwrap(), view.values(1).unwrap());
    let who = |row: usize| shown.domain.value(shown.codes.get(row)).unwrap().whole().unwrap();
    let group = |group: usize| {
        let of = values.group(group);
        let mut counts = [0; 3];
        for (&code, &count) in of.codes.iter().zip(of.counts) {
            let text = values.domain.text(code);
            counts[VALUES.iter().position(|value| *value == text).unwrap()] = u64::from(count);
        }
        (view.groups.rows(group).map(who).collect(), counts)
    };
    (0..view.groups.len()).map(group).collect()
}

/// The largest share of a value of everybody, over all worlds that fit all groups, one by one.
fn shares(people: &[i64], groups: &[(Vec<i64>, [u64; 3])]) -> Vec<Rational> {
    let (mut having, mut n_worlds, mut world) = (vec![[0_u64; 3]; people.len()], 0_u64, vec![0_usize; people.len()]);
    loop {
        let value = |who: &i64| world[people.iter().position(|known| known == who).unwrap()];
        let fits = |(who, counts): &(Vec<i64>, [u64; 3])| {
            (0..3).all(|at| who.iter().filter(|who| value(who) == at).count() as u64 == counts[at])
        };
        if groups.iter().all(fits) {
            n_worlds += 1;
            world.iter().zip(&mut having).for_each(|(value, having)| having[*value] += 1);
        }
        let Some(at) = (0..world.len()).find(|&at| world[at] < 2) else { break };
        world[..at].fill(0);
        world[at] += 1;
    }
    having.iter().map(|having| Rational::new(*having.iter().max().unwrap(), n_worlds)).collect()
}

fn people(ids: &[(i64, usize)], from: usize, to: usize) -> Vec<Row> {
    ids[from.min(ids.len())..to.min(ids.len())].to_vec()
}

proptest! {
    /// Who stays is known by the quasi value: every count of people above the limit is that of all worlds.
    #[test]
    fn shares_are_those_of_all_worlds(
        values in prop::collection::vec(0usize..3, 4..9),
        gone in 0usize..3,
        come in 0usize..3,
        seed in 0u64..1000,
        is_again in any::<bool>(),
    ) {
        let ids: Vec<Row> = values.iter().enumerate().map(|(who, value)| (who as i64 * 10, *value)).collect();
        let old = people(&ids, 0, ids.len() - come.min(ids.len() - 3));
        let new = people(&ids, gone.min(ids.len() - 3), ids.len());
        let before = published(&old, &Anatomy, &Nearby, "l=1.5", seed);
        let after = published(&new, &Anatomy, &Nearby, "l=1.5", if is_again { seed } else { seed + 1 });
        let (Some(before), Some(after)) = (before, after) else { return Ok(()) };
        let all: Vec<_> = groups(&before).into_iter().chain(groups(&after)).collect();
        let ids: Vec<i64> = ids.iter().map(|(who, _)| *who).collect();
        let shares = shares(&ids, &all);
        let is_new = |who: &i64| new.iter().any(|(known, _)| known == who);
        let limit = Rational::new(2, 3);
        let expected = ids.iter().zip(&shares).filter(|(who, share)| is_new(who) && **share > limit).count() as u64;
        let facts = judge_after(&table(&new), &required(&specs(&["l=1.5"])), &[after, before], &Unwatched).unwrap();
        prop_assert_eq!(facts.open, 0, "everybody can be counted");
        prop_assert_eq!(facts.above, expected, "{:?} {:?}", shares, all);
        let known = new.iter().filter(|(who, _)| old.iter().any(|(known, _)| known == who)).count() as u64;
        prop_assert!(facts.known >= known);
    }
}

/// Equal boxes and one leaver give the leaver's value away: that is refused in every form that can be judged.
#[test]
fn equal_groups_and_one_who_came_are_noticed() {
    let old: Vec<Row> = vec![(1, 0), (2, 1), (3, 2), (4, 0), (5, 1), (6, 2)];
    let new: Vec<Row> = old.iter().copied().chain([(3, 0)]).collect();
    let forms: [(&dyn Method, &dyn Partitioner); 3] =
        [(&Generalize, &Mondrian { relaxed: false }), (&Anatomy, &Nearby), (&Permute, &Nearby)];
    for (method, how) in forms {
        let one = |rows: &[Row]| published(rows, method, how, "k=6", 3).unwrap();
        let require = required(&specs(&["l=2"]));
        let same = judge_after(&table(&old), &require, &[one(&old), one(&old)], &Unwatched).unwrap();
        let form = method.form();
        assert_eq!((same.known, same.above, same.open), (6, 0, 0), "{form}");
        let more = judge_after(&table(&new), &require, &[one(&new), one(&old)], &Unwatched).unwrap();
        assert!(more.above + more.open > 0, "{form}: {more:?}");
        // Nobody of another town fits anything.
        let away: Vec<Row> = old.iter().map(|(who, value)| (who + 100, *value)).collect();
        let apart = judge_after(&table(&away), &require, &[one(&away), one(&old)], &Unwatched).unwrap();
        assert_eq!((apart.known, apart.above, apart.open), (0, 0, 0), "{form}");
    }
}

/// The same release again tells nothing new.
#[test]
fn the_same_groups_again_are_allowed() {
    let rows: Vec<Row> = (0..12).map(|who| (who * 3, who as usize % 3)).collect();
    for (method, how) in [(&Anatomy as &dyn Method, &Nearby as &dyn Partitioner), (&Permute, &Nearby)] {
        let release = || published(&rows, method, how, "l=3", 5).unwrap();
        let require = required(&specs(&["l=3"]));
        let facts = judge_after(&table(&rows), &require, &[release(), release()], &Unwatched).unwrap();
        assert_eq!((facts.known, facts.above, facts.open), (12, 0, 0), "{}", method.form());
        assert_eq!(facts.largest, Some(Rational::new(1, 3)));
    }
}
