//! Angel: the paper's tables, k in every bucket, batches that all tables share, and the fallback.

use chrysalis_testkit::required;
use std::collections::BTreeMap;

use crate::common::{plain, rng, specs};
use chrysalis_criteria::Principle;
use chrysalis_publish::method::{Anatomy, Angel, Fallback, Method, Outcome};
use chrysalis_publish::partitioner::{ByColumn, Mondrian, Nearby};
use chrysalis_publish::{Job, Microdata, Partition, Partitioner, PublishError};
use chrysalis_release::Release;
use chrysalis_table::{Column, SaCounts, Table, Unwatched, no_progress};
use chrysalis_testkit::{papers, strategies};
use proptest::prelude::*;

fn angel(k: u64, marginals: &[&[&str]], bucket_columns: &[&str]) -> Angel {
    let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    Angel {
        k,
        marginals: marginals.iter().map(|names| owned(names)).collect(),
        bucket_columns: owned(bucket_columns),
        for_reconstruction: false,
        fallback: if bucket_columns.is_empty() { Fallback::KeepingK } else { Fallback::Never },
    }
}

fn by_column(data: &Microdata, column: &str) -> Partition {
    let goal = data.goal(&[]).unwrap();
    ByColumn { column: column.into() }.partition(data, &goal, &mut rng(1), &no_progress).unwrap()
}

fn publish(angel: &Angel, data: &Microdata, batches: &Partition, promise: &[&str]) -> Result<Outcome, PublishError> {
    let guarantees = specs(promise);
    Job::new(data, &required(&guarantees), batches, &mut rng(7), &Unwatched).run(angel)
}

/// Every batch as its rows in every table, without its id; batches are sorted.
fn by_batch(tables: &[&Table]) -> Vec<Vec<Vec<Vec<String>>>> {
    let mut batches: BTreeMap<String, Vec<Vec<Vec<String>>>> = BTreeMap::new();
    for (at, table) in tables.iter().enumerate() {
        let mut names: Vec<&str> = table.columns().iter().map(Column::name).collect();
        names.retain(|name| *name != "batch_id");
        let ids = papers::cells(table, &["batch_id"]);
        for (id, row) in ids.into_iter().zip(papers::cells(table, &names)) {
            let batch = batches.entry(id[0].clone()).or_insert_with(|| vec![Vec::new(); tables.len()]);
            batch[at].push(row);
        }
    }
    let mut batches: Vec<_> = batches.into_values().collect();
    batches.iter_mut().flatten().for_each(|rows| rows.sort());
    batches.sort();
    batches
}

#[track_caller]
fn check_paper(release: &Release, tables: &[(&str, &str)]) {
    let ours: Vec<&Table> = tables.iter().map(|(name, _)| release.table(name).unwrap()).collect();
    let printed: Vec<Table> = tables.iter().map(|(_, path)| papers::table(path)).collect();
    assert_eq!(by_batch(&ours), by_batch(&printed.iter().collect::<Vec<_>>()));
}

#[test]
fn angel_table_3_from_table_1a() {
    let data = plain(papers::table("angel/table-1.csv"), &["age", "sex"], Some("disease"));
    let outcome = publish(&angel(2, &[], &["bucket_id"]), &data, &by_column(&data, "batch_id"), &["l=2", "k=2"]);
    check_paper(&outcome.unwrap().release, &[("bt", "angel/table-3a.csv"), ("gt", "angel/table-3b.csv")]);
}

#[test]
fn angel_table_4_is_the_simple_generalization_as_batches_and_buckets() {
    let data = plain(papers::table("angel/table-1.csv"), &["age", "sex"], Some("disease"));
    let outcome = publish(&angel(2, &[], &["group_id"]), &data, &by_column(&data, "group_id"), &["l=2", "k=2"]);
    let release = outcome.unwrap().release;
    check_paper(&release, &[("bt", "angel/table-4a.csv")]);
    // The paper's star is our label for both sexes.
    let mut rows = papers::cells(release.table("gt").unwrap(), &["age_min", "age_max", "sex"]);
    let mut printed = papers::cells(&papers::table("angel/table-4b.csv"), &["age_min", "age_max", "sex"]);
    printed.iter_mut().filter(|row| row[2] == "*").for_each(|row| row[2] = "{F,M}".to_owned());
    rows.sort();
    printed.sort();
    assert_eq!(rows, printed);
}

#[test]
fn angel_table_7_has_one_batch_table_for_two_generalized_ones() {
    let data = plain(papers::table("angel/table-2a.csv"), &["age", "sex", "zipcode"], Some("disease"));
    let columns = ["bucket_id", "zipcode_bucket_id"];
    let outcome = publish(&angel(2, &[&["zipcode"]], &columns), &data, &by_column(&data, "batch_id"), &["l=2", "k=2"]);
    let tables = [("bt", "angel/table-7a.csv"), ("gt", "angel/table-7b.csv"), ("gt_zipcode", "angel/table-7c.csv")];
    check_paper(&outcome.unwrap().release, &tables);
}

#[test]
fn with_k_1_angel_says_what_anatomy_says() {
    let data = plain(papers::table("angel/table-1.csv"), &["age", "sex"], Some("disease"));
    let batches = by_column(&data, "batch_id");
    let angel = Angel { fallback: Fallback::Never, ..angel(1, &[], &[]) };
    let release = publish(&angel, &data, &batches, &["l=2", "k=1"]).unwrap().release;
    let anatomy = Job::new(&data, &[], &batches, &mut rng(7), &Unwatched).run(&Anatomy).unwrap().release;
    let mut exact = papers::cells(anatomy.table("qit").unwrap(), &["age", "age", "sex", "group_id"]);
    let mut shown = papers::cells(release.table("gt").unwrap(), &["age_min", "age_max", "sex", "batch_id"]);
    shown.sort();
    exact.sort();
    // The same generator draws the same ids.
    assert_eq!(shown, exact);
}

/// Where sensitive values follow quasi values, cutting under all requirements at once keeps more than mixing batches.
#[test]
fn the_simple_generalization_is_published_where_it_reconstructs_better() {
    let data = plain(
        Table::new(vec![
            Column::integers("q", &[1, 1, 1, 1, 2, 2, 2, 2]),
            Column::texts("s", ["a", "b", "a", "b", "c", "d", "c", "d"].into_iter()),
        ]),
        &["q"],
        Some("s"),
    );
    // Batches that mix what buckets keep apart.
    let batches = Partition::new(vec![0, 4, 1, 5, 2, 6, 3, 7], &[2, 2, 2, 2]);
    let promise = ["l=2", "k=2"];
    let outcome = publish(&angel(2, &[], &[]), &data, &batches, &promise).unwrap();
    assert!(outcome.angelization.unwrap().is_simple);
    assert_eq!(outcome.release.manifest.groups, 2);
    let kept = Angel { fallback: Fallback::Never, ..angel(2, &[], &[]) };
    assert_eq!(publish(&kept, &data, &batches, &promise).unwrap().release.manifest.groups, 4);
    // A k that the simple generalization does not keep is no longer promised, unless it must be kept.
    let alone = Angel { fallback: Fallback::PrinciplesAlone, ..angel(5, &[], &[]) };
    let outcome = publish(&alone, &data, &batches, &["l=2", "k=5"]).unwrap();
    assert!(outcome.angelization.unwrap().is_simple);
    assert_eq!(outcome.release.manifest.guarantees(), ["l=2"]);
    let alone = Angel { fallback: Fallback::PrinciplesAlone, ..angel(4, &[], &[]) };
    assert_eq!(
        publish(&alone, &data, &batches, &["l=2", "k=4"]).unwrap().release.manifest.guarantees(),
        ["l=2", "k=4"]
    );
    let outcome = publish(&angel(5, &[], &[]), &data, &batches, &["l=2", "k=5"]).unwrap();
    assert_eq!(outcome.angelization.unwrap().buckets[0].sizes, (8, 8));
    assert_eq!(outcome.release.manifest.guarantees(), ["l=2", "k=5"]);
    // Batches that reconstruct as well as the simple generalization stay.
    let same = Partition::new((0..8).collect(), &[4, 4]);
    assert!(!publish(&angel(2, &[], &[]), &data, &same, &promise).unwrap().angelization.unwrap().is_simple);
}

#[test]
fn requests_that_make_no_sense_are_refused() {
    let table = || {
        Table::new(vec![
            Column::integers("a", &[1, 2]),
            Column::texts("b", ["x", "y"].into_iter()),
            Column::texts("s", ["p", "q"].into_iter()),
        ])
    };
    let data = plain(table(), &["a", "b"], Some("s"));
    let check = |angel: &Angel, data: &Microdata, message: &str| {
        assert_eq!(angel.check(data).unwrap_err().to_string(), message);
    };
    check(&angel(2, &[&["s"]], &[]), &data, "a marginal names `s`, which is not a quasi column");
    check(&angel(2, &[&["a", "a"]], &[]), &data, "the marginal `a,a` names a column twice, or none");
    check(&angel(2, &[&["b", "a"]], &[]), &data, "the marginal `b,a` names a column twice, or none");
    check(&angel(2, &[&["b"], &["b"]], &[]), &data, "the marginal `b` names a column twice, or none");
    check(&angel(2, &[], &["a", "b"]), &data, "2 bucket columns are named for 1 tables of buckets");
    let nothing = plain(table(), &["a", "b"], None);
    let message = "angel separates quasi values from sensitive ones, but no sensitive column is named";
    check(&angel(2, &[], &[]), &nothing, message);
    let clash = Table::new(vec![Column::integers("batch_id", &[1]), Column::integers("count", &[1])]);
    let clash = plain(clash, &["batch_id"], Some("count"));
    check(&angel(2, &[], &[]), &clash, "the published table would have two columns `count`");
    let outcome = publish(&angel(2, &[], &["a"]), &data, &Partition::new(vec![0, 1], &[2]), &["l=2"]);
    assert!(outcome.unwrap_err().to_string().starts_with("cannot keep k=2: group `1` of column `a` fails it"));
}

#[test]
fn marginals_that_look_alike_get_different_tables() {
    let names = ["a b", "a_b", "c"];
    let columns = names.iter().map(|name| Column::integers(*name, &[1, 2, 1, 2])).collect::<Vec<_>>();
    let sensitive = Column::texts("s", ["p", "q", "p", "q"].into_iter());
    let data = plain(Table::new(columns.into_iter().chain([sensitive]).collect()), &names, Some("s"));
    let outcome =
        publish(&angel(2, &[&["a b"], &["a_b"]], &[]), &data, &Partition::new((0..4).collect(), &[4]), &["l=2"]);
    let tables: Vec<String> = outcome.unwrap().release.manifest.tables.iter().map(|table| table.name.clone()).collect();
    assert_eq!(tables, ["bt", "gt", "gt_a_b", "gt_a_b_2", "members"]);
}

/// How often each combination of values of the columns occurs.
fn counted(table: &Table, columns: &[&str]) -> BTreeMap<Vec<String>, u64> {
    let mut counts = BTreeMap::new();
    papers::cells(table, columns).into_iter().for_each(|row| *counts.entry(row).or_default() += 1);
    counts
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn buckets_have_k_rows_and_batches_the_same_ones_everywhere(
        table in strategies::tables(4..=40),
        k in 1u64..4,
        l in 1u64..3,
        is_paper in any::<bool>(),
        for_reconstruction in any::<bool>(),
        order in any::<prop::sample::Index>(),
    ) {
        let promise = [format!("l={l}"), format!("k={k}")];
        let promise: Vec<&str> = promise.iter().map(String::as_str).collect();
        let partitioner: &dyn Partitioner = if is_paper { &Mondrian { relaxed: false } } else { &Nearby };
        let marginals: &[&[&str]] = if table.quasi.len() > 1 { &[&["b"]] } else { &[] };
        let for_reconstruction = for_reconstruction && !is_paper;
        let angel = Angel { for_reconstruction, ..angel(k, marginals, &[]) };
        let release = |table: &strategies::RandomTable| {
            let data = crate::common::microdata(table);
            let batches = crate::common::partition(partitioner, &data, &specs(&promise[..1]), 3).ok()?;
            Some((publish(&angel, &data, &batches, &promise).unwrap().release, data))
        };
        let Some((published, data)) = release(&table) else { return Ok(()) };
        let bt = published.table("bt").unwrap();
        let counts: BTreeMap<String, u64> = papers::cells(bt, &["batch_id", "count"]).into_iter().fold(
            BTreeMap::new(),
            |mut sizes, row| { *sizes.entry(row[0].clone()).or_default() += row[1].parse::<u64>().unwrap(); sizes },
        );
        let goal = data.goal(&required(&specs(&promise[..1]))).unwrap();
        let values = bt.column("s").unwrap();
        for batch in papers::groups(bt, "batch_id") {
            let mut sensitive = SaCounts::new(values.domain().len());
            for &row in &batch {
                let count = papers::cells(bt, &["count"])[row as usize][0].parse().unwrap();
                sensitive.add_many(values.code(row as usize), count);
            }
            // l looks at counts alone, so codes of another domain will do.
            prop_assert!(goal.holds(&sensitive));
        }
        for (entry, gt) in published.manifest.tables.iter().zip(&published.tables).filter(|(entry, _)| entry.name.starts_with("gt")) {
            let sizes = counted(gt, &["batch_id"]).into_iter().map(|(id, n)| (id[0].clone(), n)).collect();
            prop_assert_eq!(&counts, &sizes, "{}", entry.name);
            let mut labels: Vec<&str> = gt.columns().iter().map(Column::name).collect();
            labels.retain(|name| *name != "batch_id");
            prop_assert!(counted(gt, &labels).values().all(|&n| n >= k), "{}", entry.name);
        }
        // Mondrian leaves nothing to chance, so rows in another order give the same release.
        if is_paper {
            let mut rows: Vec<u32> = (0..table.table.rows() as u32).collect();
            let turn = order.index(rows.len());
            rows.rotate_left(turn);
            let (other, _) = release(&table.reordered(&rows)).unwrap();
            prop_assert_eq!(by_batch(&published.tables[..2].iter().collect::<Vec<_>>()), by_batch(&other.tables[..2].iter().collect::<Vec<_>>()));
        }
    }
}

/// A table large enough to be worked on in several parts.
fn large() -> Microdata {
    let mix = |row: u64, prime: u64, n: u64| (row * row * 31 + row * prime) % 104_729 % n;
    let column = |name: &str, prime, n| {
        let numbers: Vec<i64> = (0..160_000).map(|row| mix(row, prime, n) as i64).collect();
        Column::integers(name, &numbers)
    };
    plain(Table::new(vec![column("a", 7919, 90), column("b", 6007, 12), column("s", 4001, 40)]), &["a", "b"], Some("s"))
}

#[test]
fn the_number_of_threads_does_not_show_in_a_release() {
    let data = large();
    let batches = crate::common::partition(&Nearby, &data, &specs(&["l=4"]), 3).unwrap();
    let angel = Angel { for_reconstruction: true, ..angel(10, &[&["a"]], &[]) };
    let release =
        |threads| crate::common::in_threads(threads, || publish(&angel, &data, &batches, &["l=4", "k=10"]).unwrap());
    let (one, two) = (release(1), release(3));
    assert_eq!(one.release.tables, two.release.tables);
    // Rows did change places: without exchanges the release is different.
    let kept = Angel { for_reconstruction: false, ..angel };
    assert_ne!(publish(&kept, &data, &batches, &["l=4", "k=10"]).unwrap().release.tables, one.release.tables);
}
