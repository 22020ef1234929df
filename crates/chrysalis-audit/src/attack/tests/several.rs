//! Several releases of one table, and what they reveal together.

use chrysalis_table::Unwatched;

use super::*;

/// Four diseases, of three people each. Every group lacks one disease, and which one a person's group lacks differs
/// from release to release: two releases leave two diseases, all three leave the true one.
#[test]
fn three_releases_may_tell_what_no_two_of_them_do() {
    let people = || (0..4_u64).flat_map(|value| (0..3).map(move |copy| (value, copy)));
    let values: Vec<u64> = people().map(|(value, _)| value).collect();
    let ages: Vec<i64> = (20..32).collect();
    let table = Table::new(vec![Column::integers("age", &ages), words("disease", "d", &values)]);
    let release = |number: u64| {
        let groups = people().map(|(value, copy)| ((value + 1 + (copy + number) % 3) % 4 + 1) as i64);
        let groups: Vec<i64> = groups.collect();
        verbatim(Form::Anatomy, &table, &groups, &["distinct-l=2"])
    };
    let [one, two, three] = [0, 1, 2].map(release);
    for microdata in [Some(&table), None] {
        for other in [&two, &three] {
            let (check, found) = crate::intersect(&one, other, "other", microdata).unwrap();
            assert!(check.ok && found.fewest == Some(2) && found.people == 12, "{found:?}");
        }
        let (check, found) =
            crate::intersect_all(&one, &[("two", &two), ("three", &three)], microdata, &Unwatched).unwrap();
        assert!(!check.ok);
        assert!(check.detail.starts_with("together with two and three, 12 of 12 "), "{}", check.detail);
        assert_eq!((found.fewest, found.narrowed, found.contradicted), (Some(1), 12, 0));
    }
}

#[test]
fn releases_that_leave_a_person_nothing_are_not_of_one_table() {
    let ages = Column::integers("age", &[20, 30, 40, 50]);
    let table = Table::new(vec![ages.clone(), words("disease", "d", &[1, 2, 3, 4])]);
    let one = verbatim(Form::Anatomy, &table, &[1, 1, 2, 2], &["l=2"]);
    // Two people of the other table have diseases that nobody has here.
    let elsewhere = Table::new(vec![ages, words("disease", "d", &[1, 2, 5, 6])]);
    let other = verbatim(Form::Anatomy, &elsewhere, &[1, 1, 2, 2], &["l=2"]);
    let (check, found) = crate::intersect(&one, &other, "other", Some(&table)).unwrap();
    assert!(!check.ok && check.detail.contains("2 of 4 people of the microdata are left with no"), "{check:?}");
    assert_eq!((found.fewest, found.narrowed, found.contradicted), (Some(2), 0, 2));
    assert!(found.finding().sentence.contains("one of them was not made from this table"), "{:?}", found.finding());
    // A person with a missing value was dropped from the release without missing values, and is not counted.
    let all = Table::new(vec![
        Column::integers("age", &[20, 30, 40, 50, 60]),
        Column::texts("job", ["a", "a", "a", "a", ""].into_iter()),
        words("disease", "d", &[1, 2, 3, 4, 4]),
    ]);
    let whole = verbatim(Form::Anatomy, &all, &[1, 1, 2, 2, 2], &["distinct-l=2"]);
    assert!(whole.manifest.attributes[1].domain.missing);
    let part = verbatim(Form::Anatomy, &all.gather(&[0, 1, 2, 3]), &[1, 1, 2, 2], &["l=2"]);
    let (check, found) = crate::intersect(&whole, &part, "part", Some(&all)).unwrap();
    assert!(check.ok && found.people == 4, "{found:?}");
}

#[test]
fn releases_that_protect_other_columns_are_refused() {
    let columns = [Column::integers("age", &[20, 30]), words("disease", "d", &[1, 2]), words("cost", "c", &[1, 2])];
    let of = |sensitive: usize| Table::new(vec![columns[0].clone(), columns[sensitive].clone()]);
    let mut other = verbatim(Form::Anatomy, &of(1), &[1, 1], &["l=2"]);
    other.manifest.attributes[1].name = "cost".into();
    other.tables[1] = counted(&of(2), &[1, 1], "group_id");
    let one = verbatim(Form::Anatomy, &of(1), &[1, 1], &["l=2"]);
    let error = crate::intersect(&one, &other, "bills", Some(&Table::new(columns.to_vec()))).unwrap_err();
    assert!(error.to_string().starts_with("bills protects `cost`"), "{error}");
    assert_eq!(error.hint(), "name releases that protect `disease`");
}

/// Ranges alone, in groups of as many rows as promised.
#[test]
fn releases_that_protect_no_column_leave_people_to_hide_among() {
    let table = Table::new(vec![
        Column::integers("age", &[20, 30, 40, 50, 60, 70]),
        words("disease", "d", &[1, 2, 3, 4, 5, 6]),
    ]);
    let release = |groups: &[i64], promise: &str| {
        let mut release = generalized(Form::Generalize, &table, groups, &[promise]);
        release.manifest.attributes.pop();
        release.tables[0] = Table::new(release.tables[0].columns()[..3].to_vec());
        release
    };
    let pairs = release(&[1, 1, 2, 2, 3, 3], "k=2");
    let triples = release(&[1, 1, 1, 2, 2, 2], "k=3");
    // The people aged 40 and 50 are each in a group of two and a group of three that have nobody else in common.
    let (check, found) = crate::intersect(&pairs, &triples, "triples", Some(&table)).unwrap();
    assert_eq!((found.promised, found.fewest, found.narrowed, found.people), (2, Some(1), 2, 6));
    let said = "together with triples, 2 of 6 people of the microdata hide among fewer people than promised (1 in the \
                worst case, 2 promised)";
    assert_eq!(check.detail, said);
    assert!(
        found.finding().sentence.contains("2 hide among fewer than the 2 people promised"),
        "{:?}",
        found.finding()
    );
    // Groups that overlap: the person aged 30 may be in either group of the other release, and hides the one aged 20.
    let nested = release(&[1, 2, 2, 2, 2, 1], "k=2");
    let (check, found) = crate::intersect(&pairs, &nested, "nested", Some(&table)).unwrap();
    assert!(check.ok && found.fewest == Some(2), "{found:?}");
    assert!(crate::intersect(&pairs, &pairs, "itself", Some(&table)).unwrap().0.ok);
    let refused = crate::intersect(&pairs, &triples, "triples", None).unwrap_err();
    assert!(
        refused.to_string().contains("no sensitive column") && refused.hint() == "name the microdata with `microdata`",
        "{refused}"
    );
    let anatomy = verbatim(Form::Anatomy, &table, &[1, 1, 1, 2, 2, 2], &["l=2"]);
    let refused = crate::intersect(&pairs, &anatomy, "anatomy", Some(&table)).unwrap_err();
    assert!(refused.to_string().contains("`anatomy` hides nobody among others"), "{refused}");
}
