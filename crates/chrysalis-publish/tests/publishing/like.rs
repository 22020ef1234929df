//! Groups like those of an earlier release: which labels stay, which groups are merged, and that all of them satisfy what is
//! required.

use std::collections::BTreeSet;
use std::sync::Arc;

use chrysalis_criteria::PrincipleSpec;
use chrysalis_publish::method::{Anatomy, Angel, Fallback, Generalize, Method, Outcome, Permute, RankSwap};
use chrysalis_publish::partitioner::{
    Compact, EarlierBoxes, FullDomain, Like, LikeFacts, Mondrian, Nearby, Nobody, Sequential,
};
use chrysalis_publish::{AttributeSpec, Job, Microdata, Partition, Partitioner, PublishError, TaxonomySource};
use chrysalis_release::{Release, View};
use chrysalis_table::{Column, Role, Table, TaxonomyFile, Unwatched};
use chrysalis_testkit::strategies::{RandomTable, fixed, principles_for, tables};
use chrysalis_testkit::{oracle, papers, required};
use proptest::prelude::*;

use crate::common::{as_sets, attributes, microdata, partition, plain, quasi, rng, specs};

fn publish(data: &Microdata, method: &dyn Method, how: &dyn Partitioner, goal: &[PrincipleSpec]) -> Outcome {
    Job::new(data, &required(goal), how, &mut rng(7), &Unwatched).run(method).unwrap()
}

fn boxes(release: &Release) -> Result<EarlierBoxes, PublishError> {
    EarlierBoxes::of(release, &View::open(release).unwrap())
}

fn like(release: &Release) -> Like {
    Like { boxes: Some(Arc::new(boxes(release).unwrap())) }
}

/// The distinct rows of a table, without the column of group ids.
fn shown(release: &Release, columns: &[&str]) -> Vec<Vec<String>> {
    let rows: BTreeSet<Vec<String>> =
        papers::cells(release.table("generalized").unwrap(), columns).into_iter().collect();
    rows.into_iter().collect()
}

fn ages(rows: &[(i64, &str)]) -> Microdata {
    let ages: Vec<i64> = rows.iter().map(|(age, _)| *age).collect();
    let values = Column::texts("s", rows.iter().map(|(_, value)| *value));
    plain(Table::new(vec![Column::integers("age", &ages), values]), &["age"], Some("s"))
}

fn pairs(n: usize) -> Partition {
    Partition::new((0..2 * n as u32).collect(), &vec![2; n])
}

/// Five pairs; a month later the first and the fourth are complete, of the second and the third one person is left, of the fifth
/// nobody, and somebody is new. By hand, over a width of 45 years: the newcomer (65) joins the box 60-61, where three rows
/// lose 5/45 each less the 2/45 that two lost already, 13/45; 31 and 40 join each other for 2 · 9/45.
#[test]
fn labels_stay_where_groups_pass_and_others_join_their_neighbours() {
    let old =
        [(20, "a"), (21, "b"), (30, "a"), (31, "b"), (40, "a"), (41, "b"), (60, "a"), (61, "b"), (80, "a"), (81, "b")];
    let old = publish(&ages(&old), &Generalize, &pairs(5), &specs(&["k=2"])).release;
    let new = ages(&[(20, "a"), (20, "b"), (31, "a"), (40, "b"), (60, "a"), (61, "b"), (65, "b")]);
    let made = publish(&new, &Generalize, &like(&old), &specs(&["k=2", "distinct-l=2"]));
    let expected = [["20", "20"], ["31", "40"], ["60", "65"]];
    assert_eq!(shown(&made.release, &["age_min", "age_max"]), expected);
    assert_eq!(made.like, Some(LikeFacts { boxes: 5, kept: 1, empty: 1, outside: 1 }));
    assert_eq!(made.release.manifest.partitioner, "like");
    // Ends that nobody has any more are not shown: two rows lose 9/45 and three 5/45.
    assert!((made.ncp.sum - 33.0 / 45.0).abs() < 1e-12, "{}", made.ncp.sum);
    // Exact values show no labels, but the groups are the same.
    let exact = publish(&new, &Anatomy, &like(&old), &specs(&["k=2", "distinct-l=2"])).release;
    assert_eq!(exact.manifest.groups, 3);
}

const PLACES: &str =
    "Paris;France;Europe;*\nLyon;France;Europe;*\nRome;Italy;Europe;*\nTokyo;Japan;Asia;*\nOsaka;Japan;Asia;*\n";

fn towns(names: &[&str], has_taxonomy: bool) -> Microdata {
    let values = Column::texts("s", (0..names.len()).map(|at| ["a", "b"][at % 2]));
    let table = Table::new(vec![Column::texts("town", names.iter().copied()), values]);
    let taxonomy = TaxonomySource::File(TaxonomyFile::parse(PLACES).unwrap());
    let attributes = [quasi("town", Some(taxonomy).filter(|_| has_taxonomy)), AttributeSpec::new("s", Role::Sensitive)];
    Microdata::new(table, &attributes).unwrap()
}

/// A label keeps its name, and stands for those of its words that the new table has.
#[test]
fn labels_keep_their_names() {
    let old = towns(&["Paris", "Rome", "Lyon", "Tokyo", "Osaka"], true);
    let old = publish(&old, &Generalize, &Partition::new((0..5).collect(), &[3, 2]), &specs(&["k=2"])).release;
    for has_taxonomy in [false, true] {
        let new = towns(&["Paris", "Paris", "Tokyo", "Osaka"], has_taxonomy);
        let made = publish(&new, &Generalize, &like(&old), &specs(&["k=2"]));
        assert_eq!(shown(&made.release, &["town"]), [["Europe"], ["Japan"]], "{has_taxonomy}");
        let members = papers::cells(made.release.table("members").unwrap(), &["label", "value"]);
        assert_eq!(members, [["Europe", "Paris"], ["Japan", "Osaka"], ["Japan", "Tokyo"]], "{has_taxonomy}");
        assert!(chrysalis_audit::audit(&made.release, Some(new.table()), &Unwatched).unwrap().ok());
    }
    // Without a taxonomy, nothing says where Oslo is: it joins the smaller group, whose label is then a set of words.
    let new = towns(&["Paris", "Paris", "Rome", "Tokyo", "Osaka", "Oslo"], false);
    let made = publish(&new, &Generalize, &like(&old), &specs(&["k=2"]));
    assert_eq!(shown(&made.release, &["town"]), [["Europe"], ["{Osaka,Oslo,Tokyo}"]]);
}

/// Labels that say the same may stand for less now: what they are called must not say otherwise.
#[test]
fn sets_are_called_what_they_stand_for() {
    let old = towns(&["Paris", "Rome", "Tokyo", "Osaka"], false);
    let old = publish(&old, &Generalize, &pairs(2), &specs(&["k=2"])).release;
    assert_eq!(shown(&old, &["town"]), [["{Osaka,Tokyo}"], ["{Paris,Rome}"]]);
    let new = towns(&["Rome", "Rome", "Osaka", "Tokyo"], false);
    let made = publish(&new, &Generalize, &like(&old), &specs(&["k=2"]));
    assert_eq!(shown(&made.release, &["town"]), [["Rome"], ["{Osaka,Tokyo}"]]);
}

/// A row in several boxes goes to the one that loses least. Of a range, the ends are values that somebody has now.
#[test]
fn rows_choose_the_narrowest_box() {
    let old = ages(&[(10, "a"), (40, "b"), (20, "a"), (22, "b"), (21, "a"), (25, "b")]);
    let old = publish(&old, &Generalize, &pairs(3), &specs(&["k=2"])).release;
    let new = ages(&[(10, "a"), (21, "a"), (22, "b"), (23, "a"), (24, "b"), (40, "b")]);
    let made = publish(&new, &Generalize, &like(&old), &specs(&["k=2"])).release;
    assert_eq!(shown(&made, &["age_min", "age_max"]), [["10", "40"], ["21", "22"], ["21", "24"]]);
    // Of exact values, boxes are what groups span. Here they cover nobody: 21 and 22 pair up, 25 and 30, and then 10 and 48
    // join the pairs beside them, for 34 and 59 of 38 years.
    let elsewhere = publish(&ages(&[(1, "a"), (9, "b")]), &Anatomy, &pairs(1), &[]).release;
    let new = ages(&[(10, "a"), (21, "a"), (22, "b"), (25, "a"), (30, "b"), (48, "b")]);
    let groups = as_sets(&partition(&like(&elsewhere), &new, &specs(&["k=2"]), 1).unwrap());
    assert_eq!(groups, BTreeSet::from([BTreeSet::from([0, 1, 2]), BTreeSet::from([3, 4, 5])]));
}

#[test]
fn what_does_not_fit_is_refused_in_words() {
    let two = Table::new(vec![
        Column::integers("age", &[1, 2, 3, 4]),
        Column::texts("sex", ["F", "M", "F", "M"].into_iter()),
        Column::texts("s", ["a", "b", "c", "d"].into_iter()),
    ]);
    let both = || plain(two.clone(), &["age", "sex"], Some("s"));
    let one = ages(&[(1, "a"), (2, "b")]);
    let words = plain(
        Table::new(vec![Column::texts("age", ["x", "y"].into_iter()), Column::texts("s", ["a", "b"].into_iter())]),
        &["age"],
        Some("s"),
    );
    let goal = specs(&["k=2"]);
    let of_both = publish(&both(), &Generalize, &Mondrian::default(), &goal).release;
    let of_one = publish(&one, &Generalize, &Mondrian::default(), &goal).release;
    let refused = |how: &Release, data: &Microdata| partition(&like(how), data, &goal, 1).unwrap_err().to_string();
    assert!(refused(&of_one, &both()).contains("the earlier release has no quasi column `sex`"));
    assert!(refused(&of_both, &one).contains("told apart by `sex` too"));
    assert!(refused(&of_one, &words).contains("`age` is category here, and integer in the earlier release"));
    let angel = Angel {
        k: 2,
        marginals: Vec::new(),
        bucket_columns: Vec::new(),
        for_reconstruction: false,
        fallback: Fallback::Never,
    };
    let angel = publish(&both(), &angel, &Nearby, &specs(&["l=2"])).release;
    let said = boxes(&angel).unwrap_err().to_string();
    assert!(
        said.contains("a release of the form angel is no plan for another: its labels are those of buckets"),
        "{said}"
    );
    let unread = partition(&Like::default(), &one, &goal, 1).unwrap_err();
    assert!(matches!(unread, PublishError::Internal(_)));
    // Swapped values form no groups at all, so nothing of them can be opened.
    let swapped = publish(&both_numbers(), &RankSwap, &Nobody, &[]).release;
    assert!(View::open(&swapped).is_err());
}

fn both_numbers() -> Microdata {
    let table = Table::new(vec![Column::integers("age", &[1, 2, 3, 4]), Column::integers("s", &[1, 2, 3, 4])]);
    plain(table, &["age"], Some("s"))
}

/// A table, of which some rows are published first, and what is required of the others.
fn months() -> impl Strategy<Value = (RandomTable, Vec<u32>, Vec<PrincipleSpec>)> {
    tables(2..=40).prop_flat_map(|data| {
        let rows = data.table.rows() as u32;
        let earlier = prop::sample::subsequence((0..rows).collect::<Vec<u32>>(), 1..=rows as usize);
        let goal = principles_for(&data.sensitive);
        (Just(data), earlier, goal)
    })
}

/// The earlier release of some rows, which shows no sensitive column.
fn earlier(data: &RandomTable, rows: &[u32], which: usize) -> Release {
    let known: Vec<AttributeSpec> =
        attributes(data).into_iter().filter(|attribute| attribute.role == Role::QuasiIdentifier).collect();
    let data = Microdata::new(data.table.gather(rows), &known).unwrap();
    let k = if rows.len() > 5 { "k=3" } else { "k=1" };
    let made: (&dyn Method, &dyn Partitioner) = match which {
        0 => (&Generalize, &Mondrian { relaxed: false }),
        1 => (&Generalize, &Compact),
        2 => (&Generalize, &FullDomain::default()),
        3 => (&Generalize, &Sequential),
        _ => (&Permute, &Nearby),
    };
    publish(&data, made.0, made.1, &specs(&[k])).release
}

proptest! {
    #![proptest_config(fixed(300))]

    /// Whatever the earlier release was like: groups cover every row once and satisfy everything, in the judgement of the
    /// oracle and of the audit; and they do not depend on the order of rows.
    #[test]
    fn every_promise_holds((data, rows, goal) in months(), which in 0usize..5, seed in any::<u64>()) {
        let how = like(&earlier(&data, &rows, which));
        let all: Vec<u32> = (0..data.table.rows() as u32).collect();
        let bound = microdata(&data);
        let column = data.sensitive.under(&goal);
        let holds = |group: &[u32]| goal.iter().all(|spec| oracle::holds(spec, &column, &data.counts(group)));
        let Ok(groups) = partition(&how, &bound, &goal, 1) else {
            prop_assert!(!holds(&all), "refused, but the whole table satisfies {:?}", goal);
            return Ok(());
        };
        let mut seen: Vec<u32> = groups.groups().flatten().copied().collect();
        seen.sort_unstable();
        prop_assert_eq!(&seen, &all);
        for group in groups.groups() {
            prop_assert!(holds(group), "rows {:?} fail {:?}", group, goal);
        }
        // A release that promises nothing fails every audit.
        let methods = [&Generalize as &dyn Method, &Permute];
        for method in methods.into_iter().filter(|_| !goal.is_empty()) {
            let Ok(made) = Job::new(&bound, &required(&goal), &how, &mut rng(seed), &Unwatched).run(method) else {
                continue;
            };
            let report = chrysalis_audit::audit(&made.release, Some(&data.table), &Unwatched).unwrap();
            let broken: Vec<_> = report.checks.iter().filter(|check| !check.ok).collect();
            prop_assert!(broken.is_empty(), "{:?}", broken);
            prop_assert!(report.principles.iter().all(|found| found.holds), "{:?}", report.principles);
        }
        // Row by row in another order.
        let turned: Vec<u32> = all.iter().rev().copied().collect();
        let other = partition(&how, &microdata(&data.reordered(&turned)), &goal, 2).unwrap();
        let back = as_sets(&other).into_iter().map(|group| group.into_iter().map(|row| turned[row as usize]).collect());
        prop_assert_eq!(as_sets(&groups), back.collect::<BTreeSet<BTreeSet<u32>>>());
    }

    /// The same table again, with the same requirement, keeps the groups, and with them all labels.
    #[test]
    fn the_same_table_keeps_its_labels(rows in prop::collection::vec((0i64..30, 0usize..4, 0usize..3), 2..60), k in 1usize..6) {
        let ages: Vec<i64> = rows.iter().map(|row| row.0).collect();
        let table = Table::new(vec![
            Column::integers("age", &ages),
            Column::texts("town", rows.iter().map(|row| ["p", "q", "r", "s"][row.1])),
            Column::texts("s", rows.iter().map(|row| ["a", "b", "c"][row.2])),
        ]);
        let data = plain(table, &["age", "town"], Some("s"));
        let goal = specs(&[&format!("k={}", k.min(rows.len()))]);
        let how = Mondrian { relaxed: false };
        let first = publish(&data, &Generalize, &how, &goal).release;
        let again = publish(&data, &Generalize, &like(&first), &goal);
        let columns = ["age_min", "age_max", "town", "s"];
        let rows_of = |release: &Release| {
            let mut rows = papers::cells(release.table("generalized").unwrap(), &columns);
            rows.sort();
            rows
        };
        prop_assert_eq!(rows_of(&first), rows_of(&again.release));
        let facts = again.like.unwrap();
        prop_assert_eq!((facts.kept, facts.empty, facts.outside), (facts.boxes, 0, 0));
        prop_assert_eq!(as_sets(&partition(&how, &data, &goal, 1).unwrap()), as_sets(&partition(&like(&first), &data, &goal, 1).unwrap()));
    }
}
