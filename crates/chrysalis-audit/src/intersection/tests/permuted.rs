//! Columns permuted inside groups: who may be where, and what two releases leave.

use std::collections::BTreeSet;

use chrysalis_release::{Form, Release};
use chrysalis_table::{Column, Table};
use proptest::prelude::*;

use crate::attack::tests::release_of;
use crate::{IntersectionOver, intersect};

/// Age, sex, disease.
type Person = (i64, &'static str, &'static str);

const PEOPLE: [Person; 4] = [(30, "M", "flu"), (31, "M", "cold"), (50, "F", "asthma"), (30, "F", "gastritis")];

fn microdata(people: &[Person]) -> Table {
    Table::new(vec![
        Column::integers("age", &people.iter().map(|person| person.0).collect::<Vec<_>>()),
        Column::texts("sex", people.iter().map(|person| person.1)),
        Column::texts("disease", people.iter().map(|person| person.2)),
    ])
}

fn release(form: Form, people: &[Person], tables: Vec<(&str, Table)>) -> Release {
    release_of(form, &microdata(people), tables, 2, &["distinct-l=2"])
}

/// The tables of `anatomy` or, with ages and sexes each sorted inside their groups, those of `permute`.
fn by_values(is_permuted: bool, people: &[Person], groups: &[i64]) -> Release {
    let mut rows: Vec<(i64, i64, &str)> =
        people.iter().zip(groups).map(|(person, &group)| (group, person.0, person.1)).collect();
    rows.sort_unstable();
    if is_permuted {
        let mut sexes: Vec<(i64, &str)> = rows.iter().map(|row| (row.0, row.2)).collect();
        sexes.sort_unstable();
        rows.iter_mut().zip(sexes).for_each(|(row, (_, sex))| row.2 = sex);
    }
    let quasi = Table::new(vec![
        Column::integers("age", &rows.iter().map(|row| row.1).collect::<Vec<_>>()),
        Column::texts("sex", rows.iter().map(|row| row.2)),
        Column::integers("group_id", &rows.iter().map(|row| row.0).collect::<Vec<_>>()),
    ]);
    let mut values: Vec<(i64, &str)> = people.iter().zip(groups).map(|(person, &group)| (group, person.2)).collect();
    values.sort_unstable();
    let counts = values.chunk_by(|a, b| a == b).map(|run| run.len() as i64).collect::<Vec<_>>();
    values.dedup();
    let sensitive = Table::new(vec![
        Column::integers("group_id", &values.iter().map(|value| value.0).collect::<Vec<_>>()),
        Column::texts("disease", values.iter().map(|value| value.1)),
        Column::integers("count", &counts),
    ]);
    match is_permuted {
        true => release(Form::Permute, people, vec![("pqt", quasi), ("pst", sensitive)]),
        false => release(Form::Anatomy, people, vec![("qit", quasi), ("st", sensitive)]),
    }
}

/// Ages 30 to 31 with M, and 30 to 50 with F.
fn by_ranges() -> Release {
    let table = Table::new(vec![
        Column::integers("group_id", &[1, 1, 2, 2]),
        Column::integers("age_min", &[30; 4]),
        Column::integers("age_max", &[31, 31, 50, 50]),
        Column::texts("sex", ["M", "M", "F", "F"].into_iter()),
        Column::texts("disease", ["cold", "flu", "asthma", "gastritis"].into_iter()),
    ]);
    let words = |name: &str, words: [&'static str; 2]| Column::texts(name, words.into_iter());
    let members = vec![words("attribute", ["sex", "sex"]), words("label", ["F", "M"]), words("value", ["F", "M"])];
    release(Form::Generalize, &PEOPLE, vec![("generalized", table), ("members", Table::new(members))])
}

/// Groups by sex, and groups across: the ages 31 and 50 are in one group each, so flu and gastritis are ruled out for
/// the people of these ages. People aged 30 may be in either group across, whatever their sex, and lose nothing.
#[test]
fn permuted_releases_pin_whom_both_locate() {
    let (by_sex, across) = ([1, 1, 2, 2], [1, 2, 1, 2]);
    let people = microdata(&PEOPLE);
    let first = by_values(true, &PEOPLE, &by_sex);
    for one in [&first, &by_ranges(), &by_values(false, &PEOPLE, &by_sex)] {
        let (check, found) = intersect(one, &by_values(true, &PEOPLE, &across), "across", Some(&people)).unwrap();
        assert!(!check.ok, "{check:?}");
        assert_eq!((found.fewest, found.narrowed, found.people), (Some(1), 2, 4), "{}", one.manifest.method);
        assert_eq!(found.over, IntersectionOver::People);
    }
    // Rows whose values belong together tell more: then everybody is pinned.
    let (_, found) = intersect(&first, &by_values(false, &PEOPLE, &across), "across", Some(&people)).unwrap();
    assert_eq!((found.fewest, found.narrowed), (Some(1), 4));
}

#[test]
fn permuted_releases_without_the_microdata_are_tried_where_groups_meet() {
    let across = by_values(true, &PEOPLE, &[1, 2, 1, 2]);
    for one in [by_values(true, &PEOPLE, &[1, 1, 2, 2]), by_ranges()] {
        for (a, b) in [(&one, &across), (&across, &one)] {
            let (_, found) = intersect(a, b, "the other", None).unwrap();
            assert_eq!(found.over, IntersectionOver::Conceivable);
            // Wherever groups meet, somebody aged 30 may be there, who keeps two diseases.
            assert_eq!((found.fewest, found.narrowed), (Some(2), 0), "{found:?}");
        }
    }
    let other_ages: Vec<Person> = PEOPLE.iter().map(|person| (person.0 + 100, person.1, person.2)).collect();
    let elsewhere = by_values(true, &other_ages, &[1, 1, 2, 2]);
    let (_, found) = intersect(&across, &elsewhere, "elsewhere", None).unwrap();
    assert_eq!((found.fewest, found.people), (None, 0), "nobody has an age of both");
}

/// People of one age and sex may be in any group, so a second release rules nothing out.
#[test]
fn permuted_releases_of_people_who_look_alike_rule_nothing_out() {
    let people = PEOPLE.map(|person| (40, "F", person.2));
    let (one, other) = (by_values(true, &people, &[1, 1, 2, 2]), by_values(true, &people, &[1, 2, 1, 2]));
    for microdata in [None, Some(microdata(&people))] {
        let (check, found) = intersect(&one, &other, "across", microdata.as_ref()).unwrap();
        assert!(check.ok, "{check:?}");
        assert_eq!((found.fewest, found.narrowed), (Some(4), 0));
    }
}

/// The values that a release allows a person, looked up group by group.
fn allowed(people: &[Person], groups: &[i64], person: Person) -> BTreeSet<&'static str> {
    let in_group = |group: i64| people.iter().zip(groups).filter(move |(_, known)| **known == group).map(|(it, _)| *it);
    let is_possible = |group: i64| {
        in_group(group).any(|other| other.0 == person.0) && in_group(group).any(|other| other.1 == person.1)
    };
    groups.iter().filter(|group| is_possible(**group)).flat_map(|&group| in_group(group)).map(|it| it.2).collect()
}

const DISEASES: [&str; 5] = ["asthma", "cold", "cough", "flu", "gastritis"];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn permuted_releases_leave_what_looking_up_every_group_leaves(
        drawn in prop::collection::vec((0i64..6, any::<bool>(), 0usize..5, 0i64..12, 0i64..12), 1..40),
    ) {
        let people: Vec<Person> =
            drawn.iter().map(|it| (it.0, if it.1 { "F" } else { "M" }, DISEASES[it.2])).collect();
        let (first, second): (Vec<i64>, Vec<i64>) = drawn.iter().map(|it| (it.3, it.4)).unzip();
        let (one, other) = (by_values(true, &people, &first), by_values(true, &people, &second));
        let (_, found) = intersect(&one, &other, "the other", Some(&microdata(&people))).unwrap();
        let (mut fewest, mut narrowed) = (usize::MAX, 0);
        for person in &people {
            let (a, b) = (allowed(&people, &first, *person), allowed(&people, &second, *person));
            let both = a.intersection(&b).count();
            fewest = fewest.min(both);
            narrowed += u64::from(both < 2);
        }
        prop_assert_eq!((found.fewest, found.narrowed), (Some(fewest as u64), narrowed));
        prop_assert_eq!(found.people, people.len() as u64);
    }
}
