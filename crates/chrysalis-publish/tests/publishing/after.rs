//! A release beside earlier ones: shares over all worlds, against a count of every single world.

use chrysalis_criteria::Rational;
use chrysalis_publish::method::{Anatomy, Generalize, Method, Permute};
use chrysalis_publish::partitioner::{Mondrian, Nearby};
use chrysalis_publish::{Job, Microdata, Partition, Partitioner, judge_after};
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

/// The share of every value of everybody, over all worlds that fit all groups, one by one.
fn shares(people: &[i64], groups: &[(Vec<i64>, [u64; 3])]) -> Vec<[Rational; 3]> {
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
    having.iter().map(|having| having.map(|n| Rational::new(n, n_worlds))).collect()
}

/// The largest share of a value in one of somebody's own groups.
fn alone(who: i64, groups: &[(Vec<i64>, [u64; 3])]) -> Rational {
    let own = groups.iter().filter(|(members, _)| members.contains(&who));
    let largest =
        |(members, counts): &(Vec<i64>, [u64; 3])| Rational::new(*counts.iter().max().unwrap(), members.len() as u64);
    own.map(largest).max().unwrap()
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
        require in prop::sample::select(vec!["l=1.5", "others-l=1.5", "distinct-l=1"]),
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
        // Values that half of the table has are ordinary.
        let is_ordinary = [0, 1, 2].map(|value| 2 * new.iter().filter(|row| row.1 == value).count() >= new.len());
        let is_above = |(who, shares): &(i64, [Rational; 3])| match require {
            "l=1.5" => shares.iter().any(|share| *share > limit),
            "others-l=1.5" => (0..3).any(|value| !is_ordinary[value] && shares[value] > limit),
            _ => shares.iter().any(|share| *share > alone(*who, &all)),
        };
        let people: Vec<(i64, [Rational; 3])> = ids.iter().copied().zip(shares).collect();
        let above = |are_new: bool| people.iter().filter(|who| is_new(&who.0) == are_new && is_above(who)).count() as u64;
        let (expected, expected_left) = (above(true), above(false));
        let facts = judge_after(&table(&new), &required(&specs(&[require])), &[after, before], &Unwatched).unwrap();
        prop_assert_eq!(facts.open, 0, "everybody can be counted");
        prop_assert_eq!(facts.above, expected, "{} {:?} {:?}", require, people, all);
        prop_assert_eq!(facts.left_above, expected_left, "{} {:?} {:?}", require, people, all);
        let known = new.iter().filter(|(who, _)| old.iter().any(|(known, _)| known == who)).count() as u64;
        prop_assert!(facts.known >= known);
    }
}

/// Whose quasi value changed is taken for somebody else: that is counted, because nothing is judged for such people.
#[test]
fn people_who_changed_are_counted_as_strangers() {
    let before: Vec<Row> = (0..8).map(|who| (who * 10, who as usize % 3)).collect();
    let mut after = before.clone();
    after.iter_mut().take(2).for_each(|row| row.0 += 1_000);
    let releases = |rows: &[Row], seed| published(rows, &Anatomy, &Nearby, "l=1.5", seed).unwrap();
    for (rows, expected) in [(&before, (0, 0)), (&after, (2, 2)), (&before[2..].to_vec(), (0, 2))] {
        let views = [releases(rows, 1), releases(&before, 1)];
        let facts = judge_after(&table(rows), &required(&specs(&["l=1.5"])), &views, &Unwatched).unwrap();
        assert_eq!((facts.unfit, facts.unclaimed), expected, "{facts:?}");
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

/// The same groups, of which one person left: what is shown no more is that person's value. Everybody else keeps a share of a
/// third at most, so that nothing else would be noticed.
#[test]
fn whoever_leaves_a_group_is_not_given_away() {
    let old: Vec<Row> = vec![(1, 0), (2, 1), (3, 2), (4, 0), (5, 1), (6, 2), (7, 0)];
    let new: Vec<Row> = old[..6].to_vec();
    let forms: [(&dyn Method, &dyn Partitioner); 3] =
        [(&Generalize, &Mondrian { relaxed: false }), (&Anatomy, &Nearby), (&Permute, &Nearby)];
    for (method, how) in forms {
        let one = |rows: &[Row]| published(rows, method, how, "k=6", 3).unwrap();
        for require in ["l=2", "k=6"] {
            let facts = judge_after(&table(&new), &required(&specs(&[require])), &[one(&new), one(&old)], &Unwatched);
            let facts = facts.unwrap();
            let told = (facts.above, facts.left_above, facts.open);
            assert_eq!(told, (0, 1, 0), "{} {require}: {facts:?}", method.form());
            assert_eq!(facts.largest, Some(Rational::from_integer(1)));
        }
    }
}

/// Two of four people show flu and gout, the others have the same ordinary value; then each of them stands with one of the
/// others. That gives flu and gout away, and the limit of those who were certain before is no limit for anybody else.
#[test]
fn a_homogeneous_group_is_no_licence_for_its_neighbours() {
    let people: Vec<Row> = vec![(1, 0), (2, 1), (3, 2), (4, 2)];
    let in_pairs = |rows: [u32; 4], method: &dyn Method| {
        published(&people, method, &Partition::new(rows.to_vec(), &[2, 2]), "k=2", 3).unwrap()
    };
    for method in [&Anatomy as &dyn Method, &Permute] {
        let views = || [in_pairs([0, 2, 1, 3], method), in_pairs([0, 1, 2, 3], method)];
        for require in ["distinct-l=2", "others-l=2", "k=2"] {
            let facts = judge_after(&table(&people), &required(&specs(&[require])), &views(), &Unwatched).unwrap();
            let told = (facts.known, facts.above, facts.open);
            assert_eq!(told, (4, 2, 0), "{} {require}: {facts:?}", method.form());
        }
    }
}

/// `HIV` and `hiv` are one disease: that somebody has one of the two, nobody knows which, leaves no doubt.
#[test]
fn words_that_look_alike_are_one_value() {
    let words = Column::texts("s", ["HIV", "hiv", "flu", "gout", "asthma", "ulcer"].into_iter());
    let data = plain(Table::new(vec![Column::integers("q", &[1, 2, 3, 4, 5, 6]), words]), &["q"], Some("s"));
    let require = required(&specs(&["l=2"]));
    let groups = |rows: [u32; 6]| {
        let (how, mut rng) = (Partition::new(rows.to_vec(), &[4, 2]), rng(1));
        let made = Job::new(&data, &require, &how, &mut rng, &Unwatched).run(&Anatomy).unwrap();
        View::open(&made.release).unwrap()
    };
    let views = [groups([0, 1, 4, 5, 2, 3]), groups([0, 1, 2, 3, 4, 5])];
    let facts = judge_after(&data, &require, &views, &Unwatched).unwrap();
    assert_eq!((facts.above, facts.open, facts.largest), (2, 0, Some(Rational::from_integer(1))), "{facts:?}");
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
