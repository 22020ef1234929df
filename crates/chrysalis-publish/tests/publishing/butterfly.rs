//! Butterflies: the paper's tables, every principle for every user, and never more loss than in the union run.

use chrysalis_testkit::required;
use std::collections::{BTreeMap, BTreeSet};

use crate::common::{in_threads, microdata, partition, plain, quasi, rng, specs};
use chrysalis_criteria::{Principle, PrincipleSpec};
use chrysalis_publish::method::{Butterfly, Generalize, Outcome};
use chrysalis_publish::partitioner::{Hierarchy, Mondrian, Nobody};
use chrysalis_publish::{AttributeSpec, Job, Microdata, PublishError, QuasiIdentifiers, TaxonomySource};
use chrysalis_release::Release;
use chrysalis_table::{Column, Role, SaCounts, Table, TaxonomyFile, Unwatched};
use chrysalis_testkit::papers;
use chrysalis_testkit::strategies::{RandomTable, principles_for, tables};
use proptest::prelude::*;

fn users(sets: &[&[&str]]) -> QuasiIdentifiers {
    let owned = |set: &&[&str]| set.iter().map(|&name| name.to_owned()).collect();
    QuasiIdentifiers::new(sets.iter().map(owned).collect()).unwrap()
}

fn publish_in(
    data: &Microdata,
    users: &QuasiIdentifiers,
    require: &[PrincipleSpec],
    hierarchy: Option<Hierarchy>,
) -> Result<Outcome, PublishError> {
    let butterfly = Butterfly { quasi_identifiers: users.clone(), hierarchy };
    Job::new(data, &required(require), &Nobody, &mut rng(7), &Unwatched).run(&butterfly)
}

fn publish(data: &Microdata, users: &QuasiIdentifiers, require: &[&str]) -> Outcome {
    publish_in(data, users, &specs(require), None).unwrap()
}

/// The columns that show some attributes.
fn shown<'a>(table: &'a Table, attributes: &[String]) -> Vec<&'a Column> {
    let is_shown = |column: &&Column| {
        let name = column.name();
        attributes.iter().any(|it| name == it || name == format!("{it}_min") || name == format!("{it}_max"))
    };
    table.columns().iter().filter(is_shown).collect()
}

/// Rows that look the same to a user who knows these attributes.
fn classes(release: &Release, attributes: &[String]) -> Vec<Vec<u32>> {
    let table = release.table("generalized").unwrap();
    let columns = shown(table, attributes);
    let mut classes: BTreeMap<Vec<u32>, Vec<u32>> = BTreeMap::new();
    for row in 0..table.rows() {
        classes.entry(columns.iter().map(|column| column.code(row)).collect()).or_default().push(row as u32);
    }
    classes.into_values().collect()
}

/// Butterfly table I under the taxonomies of tables II and III.
fn accidents() -> Microdata {
    let taxonomy = |name: &str| {
        let file = TaxonomyFile::parse(papers::text(&format!("butterfly/{name}.taxonomy.csv"))).unwrap();
        quasi(name, Some(TaxonomySource::File(file)))
    };
    let attributes = [
        taxonomy("occupation"),
        quasi("age", None),
        taxonomy("vehicle"),
        quasi("postcode", None),
        AttributeSpec::new("faulty", Role::Sensitive),
    ];
    Microdata::new(papers::table("butterfly/table-1.csv"), &attributes).unwrap()
}

#[test]
fn butterfly_table_1_shows_trucks_and_sedans_beside_medicine_and_finance() {
    let both = users(&[&["age", "vehicle", "postcode"], &["occupation", "age", "postcode"]]);
    let outcome = publish(&accidents(), &both, &["k=2"]);
    let mut rows = papers::cells(outcome.release.table("generalized").unwrap(), &["occupation", "vehicle", "faulty"]);
    rows.sort();
    let expected = [
        ["Finance", "Sedan", "No"],
        ["Finance", "Truck", "No"],
        ["Medical", "Sedan", "Yes"],
        ["Medical", "Truck", "No"],
    ];
    assert_eq!(rows, expected);
    assert_eq!(outcome.butterflies.as_ref().unwrap().butterflies, 1);
    assert_eq!(outcome.release.manifest.quasi_identifiers, both.sets());
}

/// Figure 1 and table IV: a table that is already 2-anonymous for every user loses nothing, while the union run does.
#[test]
fn what_every_user_cannot_tell_apart_stays_as_it_is() {
    let figure = Table::new(vec![
        Column::texts("a", ["a1", "a1", "a2", "a2"].into_iter()),
        Column::texts("b", ["b1"; 4].into_iter()),
        Column::texts("c", ["c1", "c2", "c1", "c2"].into_iter()),
    ]);
    let table_4 = papers::table("butterfly/table-4.csv");
    for (table, butterflies) in [(figure, 1), (table_4, 2)] {
        let data = plain(table, &["a", "b", "c"], None);
        let outcome = publish(&data, &users(&[&["a", "b"], &["b", "c"]]), &["k=2"]);
        assert_eq!(outcome.ncp.sum, 0.0);
        let facts = outcome.butterflies.unwrap();
        assert!(facts.union_loss() > 0.0);
        assert_eq!(facts.butterflies, butterflies);
        assert!(facts.users.iter().all(|user| user.sizes == (2, 2)));
    }
}

#[test]
fn users_who_collude_see_no_more_than_one_user_who_knows_everything() {
    let all = users(&[&["age", "vehicle", "postcode"], &["occupation", "age", "postcode"]]).colluding(2).unwrap();
    let outcome = publish(&accidents(), &all, &["k=2"]);
    assert_eq!(outcome.release.manifest.quasi_identifiers.len(), 1);
    let everything = outcome.release.manifest.quasi_identifiers[0].clone();
    assert!(classes(&outcome.release, &everything).iter().all(|class| class.len() >= 2));
}

#[test]
fn columns_that_no_user_knows_and_unknown_ones_are_refused() {
    let data = plain(papers::table("butterfly/table-4.csv"), &["a", "b", "c"], None);
    for sets in [&[&["a"][..], &["b"]][..], &[&["a", "b"], &["c", "d"]]] {
        let error = publish_in(&data, &users(sets), &specs(&["k=2"]), None).unwrap_err();
        assert!(matches!(error, PublishError::Request { .. }), "{error}");
    }
}

/// Some users, each with some of the attributes; every attribute is known to somebody.
fn random_users(data: &RandomTable, masks: &[u8]) -> QuasiIdentifiers {
    let names: Vec<&String> = data.quasi.iter().map(|(name, _)| name).collect();
    let set = |mask: u8| {
        let own: Vec<String> =
            names.iter().enumerate().filter(|(at, _)| mask >> at & 1 == 1).map(|(_, name)| (*name).clone()).collect();
        if own.is_empty() { vec![names[0].clone()] } else { own }
    };
    let mut sets: Vec<Vec<String>> = masks.iter().map(|&mask| set(mask)).collect();
    for name in names {
        if !sets.iter().any(|set| set.contains(name)) {
            sets[0].push(name.clone());
        }
    }
    QuasiIdentifiers::new(sets).unwrap()
}

/// The same table with the attributes of the body first, then those of the wings: the order decides between equal cuts.
fn body_first(random: &RandomTable, users: &QuasiIdentifiers) -> Microdata {
    let sets: Vec<BTreeSet<&String>> = users.sets().iter().map(|set| set.iter().collect()).collect();
    let is_covered = |at: usize| {
        sets.iter()
            .enumerate()
            .any(|(other, set)| other != at && sets[at].is_subset(set) && (sets[at].len() < set.len() || other < at))
    };
    let kept: Vec<usize> = (0..sets.len()).filter(|&at| !is_covered(at)).collect();
    let knowing = |name: &String| kept.iter().filter(|&&at| sets[at].contains(name)).count();
    let first = |name: &String| kept.iter().position(|&at| sets[at].contains(name)).unwrap();
    let place = |name: &String| {
        let in_set = users.sets()[kept[first(name)]].iter().position(|known| known == name).unwrap();
        (knowing(name) == 1, if knowing(name) == 1 { (first(name), in_set) } else { (0, 0) })
    };
    let mut attributes = crate::common::attributes(random);
    // The sort is stable, and the sensitive attribute stays last.
    attributes.sort_by_key(|it| if it.name == "s" { (true, (usize::MAX, 0)) } else { place(&it.name) });
    Microdata::new(random.table.clone(), &attributes).unwrap()
}

/// Every principle holds for every user in the published table, groups are the rows that look alike, and nothing is
/// worse than the union run.
fn check(random: &RandomTable, require: &[PrincipleSpec], users: &QuasiIdentifiers, hierarchy: Option<Hierarchy>) {
    let data = microdata(random);
    let Ok(goal) = data.goal(&required(require)) else { return };
    let outcome = publish_in(&data, users, require, hierarchy).unwrap();
    let table = outcome.release.table("generalized").unwrap();
    let sensitive = table.column("s").unwrap();
    let whole = random.table.column("s").unwrap();
    let code = |row: &u32| whole.domain().code_of(sensitive.domain().value(sensitive.code(*row as usize))).unwrap();
    for set in users.sets() {
        for class in classes(&outcome.release, set) {
            let counts = SaCounts::of(whole.domain().len(), class.iter().map(code));
            assert!(goal.holds(&counts), "a class of {} rows fails {goal} for {set:?}", class.len());
        }
    }
    let all: Vec<String> = random.quasi.iter().map(|(name, _)| name.clone()).collect();
    let ids = table.column("group_id").unwrap();
    let looks: BTreeSet<Vec<u32>> = classes(&outcome.release, &all).into_iter().collect();
    let mut by_id: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    (0..table.rows()).for_each(|row| by_id.entry(ids.code(row)).or_default().push(row as u32));
    assert_eq!(by_id.into_values().collect::<BTreeSet<_>>(), looks);
    let facts = outcome.butterflies.as_ref().unwrap();
    let data = body_first(random, users);
    let union = partition(&Mondrian::default(), &data, require, 1).unwrap();
    let generalized = Job::new(&data, &required(require), &union, &mut rng(1), &Unwatched).run(&Generalize).unwrap();
    assert!((facts.union_loss() - generalized.ncp.sum).abs() < 1e-9, "the union run is mondrian's");
    let tried = facts.tried.iter().map(|(_, loss)| *loss).fold(f64::INFINITY, f64::min);
    match hierarchy {
        Some(Hierarchy::BodyFirst) => {}
        _ => {
            assert!(outcome.ncp.sum <= generalized.ncp.sum + 1e-9);
            assert!((outcome.ncp.sum - tried).abs() < 1e-9, "published {}, found {tried}", outcome.ncp.sum);
        }
    }
}

proptest! {
    #[test]
    fn every_principle_holds_for_every_user(
        (random, require) in tables(1..=60).prop_flat_map(|random| {
            let require = principles_for(&random.sensitive);
            (Just(random), require)
        }),
        masks in prop::collection::vec(0..8_u8, 1..4),
        which in 0..3_usize,
    ) {
        let hierarchy = [None, Some(Hierarchy::Union), Some(Hierarchy::BodyFirst)][which];
        check(&random, &require, &random_users(&random, &masks), hierarchy);
    }

    #[test]
    fn k_holds_for_every_user_of_larger_tables(
        random in tables(100..=200),
        masks in prop::collection::vec(1..8_u8, 2..4),
        k in 2..20_u64,
    ) {
        check(&random, &[PrincipleSpec::KAnonymity { k }], &random_users(&random, &masks), None);
    }

    #[test]
    fn the_order_of_the_input_does_not_matter(
        random in tables(2..=40),
        masks in prop::collection::vec(0..8_u8, 2),
        seed in 0..1000_u64,
    ) {
        let users = random_users(&random, &masks);
        let mut order: Vec<u32> = (0..random.table.rows() as u32).collect();
        rand::seq::SliceRandom::shuffle(&mut order[..], &mut rng(seed));
        let of = |random: &RandomTable| {
            publish_in(&microdata(random), &users, &specs(&["k=2"]), None).unwrap().release
        };
        let (one, other) = (of(&random), of(&random.reordered(&order)));
        prop_assert_eq!(one.manifest, other.manifest);
        let names: Vec<&str> = one.tables[0].columns().iter().map(Column::name).collect();
        prop_assert_eq!(papers::cells(&one.tables[0], &names), papers::cells(&other.tables[0], &names));
    }
}

#[test]
fn the_number_of_threads_does_not_matter() {
    let numbers = |factor: u64, domain: u64| -> Vec<i64> {
        (0..40_000_u64).map(|row| ((row * factor + row * row % 97) % 9_973 % domain) as i64).collect()
    };
    let columns = [("a", 31, 50), ("b", 7, 9), ("c", 17, 30), ("d", 3, 5)];
    let table = Table::new(columns.map(|(name, factor, n)| Column::integers(name, &numbers(factor, n))).to_vec());
    let data = plain(table, &["a", "b", "c", "d"], None);
    let users = users(&[&["a", "b", "c"], &["a", "d"]]);
    let release = |n: usize| in_threads(n, || publish(&data, &users, &["k=5"]).release);
    let (one, four) = (release(1), release(4));
    assert_eq!(one.manifest, four.manifest);
    let names: Vec<&str> = one.tables[0].columns().iter().map(Column::name).collect();
    assert!(papers::cells(&one.tables[0], &names) == papers::cells(&four.tables[0], &names));
}
