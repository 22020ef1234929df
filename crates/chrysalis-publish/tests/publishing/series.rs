//! Releases of the same people: what whoever has all of them can conclude.

use std::collections::BTreeMap;

use chrysalis_audit::audit;
use chrysalis_publish::method::{Anatomy, Generalize, Method, Outcome, Permute};
use chrysalis_publish::partitioner::Nobody;
use chrysalis_publish::{Job, Microdata, Past, PublishError};
use chrysalis_release::SeriesEntry;
use chrysalis_table::{Code, Column, Table, Unwatched, Value};
use chrysalis_testkit::required;
use proptest::prelude::*;

use crate::common::{plain, rng, specs};

/// What an owner remembers, by the names of people and values.
#[derive(Clone, Default)]
pub(crate) struct Memory {
    signatures: Vec<Vec<String>>,
    lives: BTreeMap<u32, Vec<u32>>,
    number: u64,
}

/// A person who is in a table: who, where, and with which value.
pub(crate) type Row = (u32, i64, &'static str);

pub(crate) const VALUES: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];

/// What was shown of one group: who is in it, and which values it shows, each as often as it does.
pub(crate) type Shown = (Vec<u32>, Vec<String>);

impl Memory {
    fn table(rows: &[Row], values: &[&str]) -> Microdata {
        let places: Vec<i64> = rows.iter().map(|(_, place, _)| *place).collect();
        let own = Column::texts("s", rows.iter().map(|(_, _, value)| *value));
        let lacks = |value: &&&str| own.domain().code_of(Some(&Value::Text((**value).into()))).is_none();
        let more = values.iter().filter(lacks).map(|value| Value::Text((*value).into())).collect();
        plain(Table::new(vec![Column::integers("q", &places), own.with_values(more, |_| 0)]), &["q"], Some("s"))
    }

    fn past(&self, data: &Microdata, rows: &[Row], takes_changes: bool) -> Past {
        let domain = data.sensitive().unwrap().domain();
        let code = |text: &String| domain.code_of(Some(&Value::Text(text.as_str().into()))).unwrap();
        let codes = |texts: &Vec<String>| texts.iter().map(code).collect::<Vec<Code>>();
        let people: Vec<u32> = self.lives.keys().copied().collect();
        Past {
            signatures: self.signatures.iter().map(codes).collect(),
            lives: self.lives.values().cloned().collect(),
            of_row: rows.iter().map(|(who, ..)| people.binary_search(who).ok().map(|at| at as u32)).collect(),
            takes_changes,
            entry: SeriesEntry { number: self.number + 1, previous: (self.number > 0).then(|| "0".repeat(64)) },
        }
    }

    /// Publishes, and remembers what was published.
    pub(crate) fn publish(
        &mut self,
        method: &dyn Method,
        rows: &[Row],
        (m, values, takes_changes, seed): (u64, &[&str], bool, u64),
    ) -> Result<(Outcome, Vec<Shown>), PublishError> {
        self.publish_under(&[&format!("m={m}")], method, rows, (values, takes_changes, seed))
    }

    /// The same under any principles.
    fn publish_under(
        &mut self,
        require: &[&str],
        method: &dyn Method,
        rows: &[Row],
        (values, takes_changes, seed): (&[&str], bool, u64),
    ) -> Result<(Outcome, Vec<Shown>), PublishError> {
        let data = Memory::table(rows, values);
        let past = self.past(&data, rows, takes_changes);
        let require = required(&specs(require));
        let mut rng = rng(seed);
        let outcome = Job::new(&data, &require, &Nobody, &mut rng, &Unwatched).after(&past).run(method)?;
        let groups = outcome.series.as_ref().unwrap();
        let domain = data.sensitive().unwrap().domain();
        let texts = |codes: &[Code]| codes.iter().map(|&code| domain.display(code).into_owned()).collect::<Vec<_>>();
        self.signatures = groups.signatures.iter().map(|codes| texts(codes)).collect();
        let mut shown = Vec::new();
        for (group, members) in groups.partition.groups().enumerate() {
            let who: Vec<u32> = members.iter().map(|&row| rows[row as usize].0).collect();
            for person in &who {
                let life = self.lives.entry(*person).or_default();
                if life.last() != Some(&groups.of_group[group]) {
                    life.push(groups.of_group[group]);
                }
            }
            let times = groups.times[group] as usize;
            let values = groups.shown(group).iter().flat_map(|&value| std::iter::repeat_n(value, times));
            shown.push((who, texts(&values.collect::<Vec<Code>>())));
        }
        self.number += 1;
        Ok((outcome, shown))
    }
}

/// For every person and value, in how many of the worlds that agree with all releases they have it, and how many worlds
/// there are: by brute force. People keep their values for life.
fn posteriors(n_people: usize, values: &[&str], releases: &[Vec<Shown>]) -> (Vec<Vec<u64>>, u64) {
    let groups: Vec<(Vec<usize>, Vec<usize>)> = releases
        .iter()
        .flatten()
        .map(|(who, shown)| {
            let place = |value: &String| values.iter().position(|known| known == value).unwrap();
            (who.iter().map(|&who| who as usize).collect(), shown.iter().map(place).collect())
        })
        .collect();
    let (mut having, mut n_worlds) = (vec![vec![0; values.len()]; n_people], 0);
    let mut world = vec![0; n_people];
    loop {
        let agrees = groups.iter().all(|(who, shown)| {
            // No value has more people than places.
            let having = |value: usize| who.iter().filter(|who| world[**who] == value).count();
            let places = |value: usize| shown.iter().filter(|shown| **shown == value).count();
            (0..values.len()).all(|value| having(value) <= places(value))
        });
        if agrees {
            n_worlds += 1;
            (0..n_people).for_each(|who| having[who][world[who]] += 1);
        }
        // The next world.
        let Some(at) = (0..n_people).find(|&who| world[who] + 1 < values.len()) else { break };
        world[..at].fill(0);
        world[at] += 1;
    }
    (having, n_worlds)
}

/// Who is in which of three releases, and with which of three values, for up to five people. People differ only in
/// where they live, so worlds are looked at once per multiset of lives.
#[test]
fn nobody_falls_below_m_in_any_small_world() {
    let values = &VALUES[..3];
    let n_kinds = 7 * values.len();
    let (mut n_series, mut n_releases, mut n_refused, mut n_worlds_of_five) = (0, 0, 0, 0);
    // Worlds of five people take minutes: every eighth of them will do, unless there is time.
    let every = if std::env::var_os("CHRYSALIS_SLOW").is_some() { 1 } else { 8 };
    for n_people in 2..=5 {
        let mut kinds = vec![0; n_people];
        loop {
            // Values that are renamed make the same world: the first person's value is the first.
            n_worlds_of_five += usize::from(n_people == 5);
            let is_tried = n_people < 5 || n_worlds_of_five % every == 0;
            if kinds[0] % values.len() == 0 && is_tried {
                for (m, k) in [(2, 1), (3, 1), (2, 2), (2, 3)] {
                    let (mut memory, mut seen) = (Memory::default(), Vec::new());
                    for month in 0..3 {
                        let is_there = |kind: usize| (kind / values.len() + 1) >> month & 1 == 1;
                        let rows: Vec<Row> = (0..n_people)
                            .filter(|&who| is_there(kinds[who]))
                            .map(|who| (who as u32, who as i64, values[kinds[who] % values.len()]))
                            .collect();
                        if rows.is_empty() {
                            continue;
                        }
                        let seed = (n_series * 3 + month) as u64;
                        let require = [format!("m={m}"), format!("k={k}")];
                        let require: Vec<&str> = require.iter().map(String::as_str).collect();
                        match memory.publish_under(&require, &Anatomy, &rows, (values, false, seed)) {
                            Ok((_, shown)) => {
                                assert!(shown.iter().all(|(who, _)| who.len() as u64 >= k), "{shown:?}");
                                seen.push(shown);
                            }
                            // A first table with too many people of one value is refused, and so are groups that cannot
                            // have k people; the next one may do.
                            Err(PublishError::Infeasible { .. }) if seen.is_empty() || k > 1 => n_refused += 1,
                            Err(error) => panic!("{error}: {rows:?}"),
                        }
                    }
                    n_releases += seen.len();
                    if seen.is_empty() {
                        continue;
                    }
                    let (having, n_worlds) = posteriors(n_people, values, &seen);
                    let published: Vec<u32> = seen.iter().flatten().flat_map(|(who, _)| who.clone()).collect();
                    assert!(n_worlds > 0);
                    for (who, having) in (0..).zip(&having) {
                        if published.contains(&who) {
                            let most = having.iter().max().unwrap();
                            assert!(most * m <= n_worlds, "{most} of {n_worlds} worlds, m={m}: {kinds:?} {seen:?}");
                        }
                    }
                    n_series += 1;
                }
            }
            // The next multiset: kinds never descend.
            let Some(at) = (0..n_people).rev().find(|&at| kinds[at] + 1 < n_kinds) else { break };
            let next = kinds[at] + 1;
            kinds[at..].fill(next);
        }
    }
    assert!(n_series > 10_000 && n_releases > 10_000 && n_refused > 1_000, "{n_series} {n_releases} {n_refused}");
}

/// Groups have k people, counterfeits not counted, in every form, and over months.
#[test]
fn groups_have_k_people_besides() {
    let forms: [&dyn Method; 3] = [&Anatomy, &Permute, &Generalize];
    for (method, k) in forms.into_iter().zip([5, 7, 10]) {
        let require = ["m=3".to_owned(), format!("k={k}")];
        let require: Vec<&str> = require.iter().map(String::as_str).collect();
        let mut memory = Memory::default();
        let (mut counterfeits, mut larger) = (0, 0);
        for month in 0..6_u32 {
            let there = (month * 20..month * 20 + 100).filter(|who| (who * 7 + month) % 11 > 1);
            let rows: Vec<Row> =
                there.map(|who| (who, i64::from(who * 37 % 101), VALUES[(who * who % 13) as usize % 6])).collect();
            let (outcome, shown) =
                memory.publish_under(&require, method, &rows, (&VALUES[..6], false, u64::from(month))).unwrap();
            for (who, values) in &shown {
                let mut different = values.clone();
                different.dedup();
                assert!(who.len() as u64 >= k && different.len() >= 3);
                larger += usize::from(different.len() < values.len());
                counterfeits += values.len() - who.len();
            }
            let microdata = Memory::table(&rows, &[]);
            for with in [None, Some(microdata.table())] {
                let report = audit(&outcome.release, with, &Unwatched).unwrap();
                assert!(report.ok(), "{}: {report:#?}", method.form());
                let found = report.principles.iter().find(|found| found.principle == format!("k={k}")).unwrap();
                let fewest = shown.iter().map(|(who, _)| who.len()).min().unwrap();
                assert_eq!(found.worst, fewest as f64, "people are counted, not values");
                let tables = report.checks.iter().find(|check| check.name == "tables").unwrap();
                assert!(tables.detail.starts_with(&format!("{} rows, 2 attributes", rows.len())), "{}", tables.detail);
            }
        }
        assert!(counterfeits > 0 && larger > 0, "{counterfeits} {larger}");
    }
}

/// A promise of k that only counterfeits keep is broken.
#[test]
fn counterfeits_do_not_count_as_people() {
    let rows: [Row; 4] = [(0, 1, "a"), (1, 2, "b"), (2, 3, "a"), (3, 4, "b")];
    for method in [&Anatomy as &dyn Method, &Permute, &Generalize] {
        let mut memory = Memory::default();
        memory.publish(method, &rows, (2, &VALUES[..2], false, 1)).unwrap();
        let few = memory.publish(method, &rows[..1], (2, &VALUES[..2], false, 1)).unwrap().0;
        let mut release = few.release;
        assert!(audit(&release, None, &Unwatched).unwrap().ok());
        // What a publisher would have promised who counts values.
        let mut other = Memory::default();
        let honest = other.publish_under(&["m=2", "k=2"], method, &rows, (&VALUES[..2], false, 1)).unwrap().0.release;
        release.manifest.promises = honest.manifest.promises;
        let report = audit(&release, None, &Unwatched).unwrap();
        let broken: Vec<&str> =
            report.principles.iter().filter(|found| !found.holds).map(|found| found.principle.as_str()).collect();
        assert_eq!(broken, ["k=2"], "{}", method.form());
        let next: [Row; 3] = [(1, 2, "b"), (4, 5, "c"), (5, 6, "d")];
        let alone = memory.publish_under(&["m=2", "k=2"], method, &next, (&VALUES[..4], false, 1)).unwrap_err();
        assert_eq!(
            alone.to_string(),
            "cannot reach m=2 with k=2: the groups of 1 person must show the same values of `s` as before, and there are \
             not enough newcomers with these values to make them 2"
        );
    }
}

/// Of a newcomer for whom there is no group, nobody says that groups showed anything before.
#[test]
fn newcomers_without_a_group_are_refused_in_words_of_their_own() {
    let rows: [Row; 4] = [(0, 1, "a"), (1, 2, "b"), (2, 3, "a"), (3, 4, "b")];
    let mut memory = Memory::default();
    memory.publish_under(&["m=2", "k=2"], &Anatomy, &rows, (&VALUES[..2], false, 1)).unwrap();
    let next: Vec<Row> = rows.into_iter().chain([(4, 5, "c")]).collect();
    let alone = memory.publish_under(&["m=2", "k=2"], &Anatomy, &next, (&VALUES[..4], false, 1)).unwrap_err();
    assert_eq!(
        alone.to_string(),
        "cannot reach m=2 with k=2: 1 person with no former values to keep can be in no group, because nobody else is left \
         with whom they would be 2, and no larger groups show all of their values of `s`"
    );
}

/// Every form shows what the groups are, counts counterfeits, and passes the audit; and two months later as well.
#[test]
fn all_forms_show_counterfeits_and_pass_the_audit() {
    let forms: [&dyn Method; 3] = [&Anatomy, &Permute, &Generalize];
    for method in forms {
        let mut memory = Memory::default();
        let months: [&[Row]; 3] = [
            &[(0, 1, "a"), (1, 2, "b"), (2, 3, "a"), (3, 4, "b"), (4, 5, "c"), (5, 6, "c")],
            &[(0, 1, "a"), (2, 3, "a"), (4, 5, "c"), (6, 7, "d")],
            &[(1, 2, "b"), (2, 4, "a"), (6, 8, "d"), (7, 9, "d")],
        ];
        let mut all = 0;
        for rows in months {
            let (outcome, shown) = memory.publish(method, rows, (2, &VALUES[..4], false, 7)).unwrap();
            let facts = outcome.series.as_ref().unwrap().facts;
            let expected: usize = shown.iter().map(|(who, values)| values.len() - who.len()).sum();
            assert_eq!(facts.counterfeits, expected as u64, "{}", method.form());
            all += facts.counterfeits;
            let release = &outcome.release;
            let manifest = &release.manifest;
            assert_eq!((manifest.rows, manifest.series.as_ref().unwrap().number), (rows.len() as u64, memory.number));
            let counts = manifest.attributes.last().unwrap().domain.counts.clone().unwrap();
            assert_eq!(
                counts.iter().sum::<u64>(),
                (rows.len() + expected) as u64,
                "real counts would tell counterfeits"
            );
            let listed = release.table("counterfeits").unwrap();
            assert_eq!(listed.rows(), shown.iter().filter(|(who, values)| values.len() > who.len()).count());
            let microdata = Memory::table(rows, &[]);
            for with in [None, Some(microdata.table())] {
                let report = audit(release, with, &Unwatched).unwrap();
                assert!(report.ok(), "{}: {report:#?}", method.form());
                assert_eq!(report.rows, rows.len() as u64);
                assert_eq!(report.checks.iter().filter(|check| check.name == "series").count(), 1);
            }
        }
        assert!(all > 0, "no counterfeit was needed, so nothing was tested");
    }
}

/// What an auditor must notice.
#[test]
fn a_release_that_shows_too_little_fails_the_audit() {
    let rows: [Row; 3] = [(0, 1, "a"), (1, 2, "b"), (2, 3, "c")];
    let made = |method: &dyn Method| {
        let mut memory = Memory::default();
        memory.publish(method, &rows, (3, &VALUES[..3], false, 1)).unwrap();
        memory.publish(method, &rows[..2], (3, &VALUES[..3], false, 1)).unwrap().0.release
    };
    for method in [&Anatomy as &dyn Method, &Permute, &Generalize] {
        let honest = made(method);
        assert!(audit(&honest, None, &Unwatched).unwrap().ok());
        let place = honest.manifest.tables.iter().position(|table| table.name == "counterfeits").unwrap();
        let forged = |table: Table| {
            let mut release = made(method);
            release.manifest.tables[place].rows = table.rows() as u64;
            release.tables[place] = table;
            release
        };
        let counts = |ids: &[i64], counts: &[i64]| {
            forged(Table::new(vec![Column::integers("group_id", ids), Column::integers("count", counts)]))
        };
        for (ids, numbers) in
            [(&[][..], &[][..]), (&[1], &[2]), (&[1], &[0]), (&[1], &[-1]), (&[2], &[1]), (&[1, 1], &[1, 1])]
        {
            let report = audit(&counts(ids, numbers), None, &Unwatched).unwrap();
            assert!(!report.ok(), "{}: {ids:?} {numbers:?}", method.form());
        }
        let mut release = made(method);
        release.manifest.rows += 1;
        assert!(!audit(&release, None, &Unwatched).unwrap().ok());
    }
}

#[test]
fn a_value_that_left_its_signature_stops_the_run_unless_changes_are_allowed() {
    let before: Vec<Row> = (0..8).map(|who| (who, i64::from(who), VALUES[who as usize % 8])).collect();
    let mut memory = Memory::default();
    memory.publish(&Anatomy, &before, (2, &VALUES, false, 3)).unwrap();
    let old = memory.signatures[memory.lives[&0][0] as usize].clone();
    let other = VALUES.iter().find(|value| !old.contains(&(**value).to_owned())).unwrap();
    let mut after = before.clone();
    after[0].2 = other;
    let error = memory.publish(&Anatomy, &after, (2, &VALUES, false, 3)).unwrap_err();
    assert_eq!(error.to_string(), "cannot reach m=2: 1 person has a value of `s` that their groups never showed");
    memory.publish(&Anatomy, &after, (2, &VALUES, true, 3)).unwrap();
    let life = &memory.lives[&0];
    assert_eq!(life.len(), 2);
    let new = &memory.signatures[life[1] as usize];
    assert!(new.contains(&(*other).to_owned()) && new.iter().all(|value| !old.contains(value)), "{old:?} {new:?}");
    // Back to the first value: no signature can hide that.
    after[0].2 = before[0].2;
    let error = memory.publish(&Anatomy, &after, (2, &VALUES, true, 3)).unwrap_err();
    assert!(error.to_string().contains("a person has a value of `s` again"), "{error}");
}

#[test]
fn what_cannot_be_hidden_is_refused_in_words() {
    let refused = |rows: &[Row], m: u64| {
        let result = Memory::default().publish(&Anatomy, rows, (m, &[], false, 0));
        result.unwrap_err().to_string()
    };
    let rows: [Row; 4] = [(0, 1, "a"), (1, 2, "a"), (2, 3, "a"), (3, 4, "b")];
    assert_eq!(
        refused(&rows, 2),
        "cannot reach m=2: value `a` of `s` has 3 of 4 rows, and groups show every value once"
    );
    assert_eq!(refused(&rows, 3), "cannot reach m=3: `s` has only 2 different values");
    let alike: [Row; 2] = [(0, 1, "a"), (1, 2, "a ")];
    assert_eq!(refused(&alike, 2), "values `a` and `a ` of `s` look alike, and would count as different");
    let data = Memory::table(&rows, &[]);
    let require = required(&specs(&["m=2"]));
    let mut rng = rng(0);
    let alone = Job::new(&data, &require, &Nobody, &mut rng, &Unwatched).run(&Anatomy).unwrap_err();
    assert_eq!(alone.to_string(), "m=2 is about a series, but no series is named");
}

/// Whoever comes alone with a value that no signature has is given one that nobody had: that is said.
#[test]
fn newcomers_of_a_signature_of_their_own_are_counted() {
    let first: Vec<Row> = vec![(0, 0, "a"), (1, 1, "b")];
    let mut memory = Memory::default();
    let (outcome, _) = memory.publish(&Anatomy, &first, (2, &VALUES, false, 3)).unwrap();
    assert_eq!(outcome.series.unwrap().facts.lone, 0);
    for (more, lone) in [(vec![(2, 2, "c")], 1), (vec![(2, 2, "c"), (3, 3, "d")], 0), (vec![(2, 2, "a")], 0)] {
        let rows: Vec<Row> = first.iter().copied().chain(more).collect();
        let (outcome, shown) = memory.clone().publish(&Anatomy, &rows, (2, &VALUES, false, 3)).unwrap();
        assert_eq!(outcome.series.unwrap().facts.lone, lone, "{shown:?}");
    }
}

/// Lives of up to forty people over up to eight months: present or not, with a value for life.
fn lives() -> impl Strategy<Value = Vec<(usize, u8, i64)>> {
    prop::collection::vec((0..VALUES.len(), 1u8..=255, 0i64..100), 4..40)
}

proptest! {
    /// Signatures never change, groups show each of m values once, and nothing but shortage makes counterfeits.
    #[test]
    fn signatures_are_for_life(lives in lives(), m in 2u64..=4, seed in 0u64..1000) {
        let mut memory = Memory::default();
        for month in 0..8 {
            let there = lives.iter().enumerate().filter(|(_, (_, months, _))| months >> month & 1 == 1);
            let rows: Vec<Row> = there.map(|(who, (value, _, place))| (who as u32, *place, VALUES[*value])).collect();
            if rows.is_empty() {
                continue;
            }
            let known = memory.lives.clone();
            match memory.publish(&Anatomy, &rows, (m, &VALUES, false, seed)) {
                Ok((outcome, shown)) => {
                    let report = audit(&outcome.release, None, &Unwatched).unwrap();
                    prop_assert!(report.ok(), "{report:?}");
                    for (who, life) in &known {
                        prop_assert_eq!(&memory.lives[who], life);
                    }
                    let facts = outcome.series.unwrap().facts;
                    prop_assert_eq!(facts.stay + facts.newcomers, rows.len() as u64);
                    if known.is_empty() {
                        prop_assert_eq!(facts.counterfeits, 0);
                    }
                    for (who, values) in shown {
                        prop_assert!(!who.is_empty() && values.len() as u64 >= m);
                    }
                }
                Err(PublishError::Infeasible { .. }) if known.is_empty() => {}
                Err(error) => prop_assert!(false, "{error}"),
            }
        }
    }

    /// As many more newcomers as there is room for, with one value, whichever it is, take no more counterfeits.
    #[test]
    fn who_finds_room_takes_no_counterfeits(
        lives in lives(),
        (m, k) in (2u64..=4, 1u64..=6),
        value in 0..VALUES.len(),
        seed in 0u64..1000,
    ) {
        let mut memory = Memory::default();
        let require = [format!("m={m}"), format!("k={k}")];
        let require: Vec<&str> = require.iter().map(String::as_str).collect();
        for month in 0..4 {
            let there = lives.iter().enumerate().filter(|(_, (_, months, _))| months >> month & 1 == 1);
            let rows: Vec<Row> = there.map(|(who, (value, _, place))| (who as u32, *place, VALUES[*value])).collect();
            let mut before = memory.clone();
            let Ok((outcome, _)) = memory.publish_under(&require, &Anatomy, &rows, (&VALUES, false, seed)) else { break };
            let facts = outcome.series.unwrap().facts;
            prop_assert!(facts.room == 0 || k <= m, "{facts:?}");
            let more = (0..facts.room as u32).map(|at| (1_000 + at, i64::from(at), VALUES[value]));
            let rows: Vec<Row> = rows.into_iter().chain(more).collect();
            let (outcome, _) = before.publish_under(&require, &Anatomy, &rows, (&VALUES, false, seed)).unwrap();
            let with_them = outcome.series.unwrap().facts;
            prop_assert!(with_them.counterfeits <= facts.counterfeits, "{facts:?} {with_them:?}");
        }
    }

    /// The groups depend on the rows and the generator, not on the number of threads.
    #[test]
    fn threads_do_not_change_the_groups(lives in lives(), seed in 0u64..1000) {
        let rows: Vec<Row> =
            lives.iter().enumerate().map(|(who, (value, _, place))| (who as u32, *place, VALUES[*value])).collect();
        let made = |threads| {
            crate::common::in_threads(threads, || {
                let result = Memory::default().publish(&Permute, &rows, (2, &VALUES, false, seed));
                result.map(|(outcome, _)| outcome.release.tables).map_err(|error| error.to_string())
            })
        };
        prop_assert_eq!(made(1), made(4));
    }
}
