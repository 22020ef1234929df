//! What joining the tables of one angel release leaves: the counts of the publisher and of the audit, against brute
//! force over all rows that belong together.

use crate::common::{plain, rng, specs};
use chrysalis_audit::{Joining, audit};
use chrysalis_publish::Job;
use chrysalis_publish::method::{Angel, Fallback, JoinedFacts};
use chrysalis_publish::partitioner::Nearby;
use chrysalis_release::Release;
use chrysalis_table::{Column, Table, Unwatched};
use chrysalis_testkit::papers;
use chrysalis_testkit::required;
use proptest::prelude::*;

const QUASI: [&str; 3] = ["a", "b", "c"];
const MARGINALS: [&[&str]; 2] = [&["a", "b"], &["c"]];

fn release(people: &Table, k: u64, marginals: &[&[&str]]) -> Option<(Release, Option<JoinedFacts>)> {
    let data = plain(people.clone(), &QUASI, Some("s"));
    let angel = Angel {
        k,
        marginals: marginals.iter().map(|names| names.iter().map(|&name| name.to_owned()).collect()).collect(),
        bucket_columns: Vec::new(),
        for_reconstruction: false,
        fallback: Fallback::Never,
    };
    let promise = specs(&["l=2", &format!("k={k}")]);
    let batches = crate::common::partition(&Nearby, &data, &promise[..1], 3).ok()?;
    let outcome = Job::new(&data, &required(&promise), &batches, &mut rng(7), &Unwatched).run(&angel).unwrap();
    Some((outcome.release, outcome.angelization.unwrap().joined))
}

/// The batches of the rows of a table that cover a person.
fn covering(table: &Table, attributes: &[&str], person: &[i64]) -> Vec<i64> {
    let numbers = |name: &str| -> Vec<i64> {
        papers::cells(table, &[name]).into_iter().map(|row| row[0].parse().unwrap()).collect()
    };
    let batches = numbers("batch_id");
    let ends: Vec<(Vec<i64>, Vec<i64>, i64)> = attributes
        .iter()
        .map(|name| {
            let at = QUASI.iter().position(|known| known == name).unwrap();
            (numbers(&format!("{name}_min")), numbers(&format!("{name}_max")), person[at])
        })
        .collect();
    let covers = |row: &usize| ends.iter().all(|(low, high, value)| low[*row] <= *value && *value <= high[*row]);
    (0..table.rows()).filter(covers).map(|row| batches[row]).collect()
}

/// For every person: takes all triples of rows of `gt`, `gt_a_b` and `gt_c` that cover the person and share a batch,
/// counts the rows of each table that are in a triple, and returns the smallest count.
fn by_force(release: &Release, people: &[Vec<i64>]) -> Vec<u64> {
    let tables: [(&str, &[&str]); 3] = [("gt", &QUASI), ("gt_a_b", MARGINALS[0]), ("gt_c", MARGINALS[1])];
    let left = |person: &Vec<i64>| {
        let rows = tables.map(|(name, attributes)| covering(release.table(name).unwrap(), attributes, person));
        let mut seen = rows.clone().map(|rows| vec![false; rows.len()]);
        for (x, a) in rows[0].iter().enumerate() {
            for (y, b) in rows[1].iter().enumerate() {
                for (z, c) in rows[2].iter().enumerate() {
                    if a == b && b == c {
                        (seen[0][x], seen[1][y], seen[2][z]) = (true, true, true);
                    }
                }
            }
        }
        seen.iter().map(|seen| seen.iter().filter(|&&seen| seen).count() as u64).min().unwrap()
    };
    people.iter().map(left).collect()
}

fn table(people: &[Vec<i64>], values: &[u8]) -> Table {
    let mut columns: Vec<Column> = QUASI
        .iter()
        .enumerate()
        .map(|(at, name)| Column::integers(*name, &people.iter().map(|person| person[at]).collect::<Vec<_>>()))
        .collect();
    let texts: Vec<String> = values.iter().map(|value| format!("v{value}")).collect();
    columns.push(Column::texts("s", texts.iter().map(String::as_str)));
    Table::new(columns)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn rows_left_after_a_join_are_counted_as_by_force(
        people in prop::collection::vec(prop::collection::vec(0i64..8, 3), 6..40),
        seed in prop::collection::vec(0u8..5, 40),
        k in 2u64..6,
    ) {
        let microdata = table(&people, &seed[..people.len()]);
        prop_assume!(people.len() as u64 >= k);
        let Some((release, told)) = release(&microdata, k, &MARGINALS) else { return Ok(()) };
        let left = by_force(&release, &people);
        let count = |is_meant: &dyn Fn(u64) -> bool| left.iter().filter(|&&rows| is_meant(rows)).count() as u64;
        let expected = Joining {
            tables: 3,
            people: people.len() as u64,
            promised: k,
            fewest: *left.iter().min().unwrap(),
            narrowed: count(&|rows| rows < k),
            alone: count(&|rows| rows == 1),
        };
        let report = audit(&release, Some(&microdata), &Unwatched).unwrap();
        prop_assert_eq!(report.attacks.joining.as_ref(), Some(&expected));
        // This is reported, but breaks no promise: k is promised for each table by itself.
        prop_assert!(report.promises_hold());
        // Ranges of mondrian do not overlap, so the publisher says the same.
        let told = told.unwrap();
        prop_assert_eq!((told.fewest, told.narrowed, told.k), (expected.fewest, expected.narrowed, k));
    }
}

#[test]
fn people_whom_a_join_leaves_below_k_are_told_in_words() {
    let people: Vec<Vec<i64>> = (0..60).map(|row| vec![row % 10, row * 7 % 11, row * 3 % 13]).collect();
    let values: Vec<u8> = (0..60).map(|row| row % 6).collect();
    let microdata = table(&people, &values);
    let (release_3, _) = release(&microdata, 5, &MARGINALS).unwrap();
    let report = audit(&release_3, Some(&microdata), &Unwatched).unwrap();
    let found = report.attacks.joining.clone().unwrap();
    assert!(found.narrowed > 0 && found.fewest < 5, "{found:?}");
    let finding = report.attacks.findings.iter().find(|finding| finding.attack == "joining").unwrap();
    assert_eq!(
        finding.sentence,
        format!(
            "An attacker who knows a person's quasi values finds rows in each of 3 tables, and joins them by their \
             batches. k=5 is promised for each table alone; of 60 people of the microdata, {} keep fewer, {} {} one, \
             and the worst off keep {} {}.",
            found.narrowed,
            found.alone,
            if found.alone == 1 { "keeps" } else { "keep" },
            found.fewest,
            if found.fewest == 1 { "row" } else { "rows" },
        )
    );
    assert_eq!(finding.prevention, "fewer marginals, or none.");
    let row = report.attacks.findings.iter().find(|finding| finding.attack == "row_linking").unwrap();
    assert!(
        row.sentence.ends_with("That is in `gt` alone: joining all tables can leave fewer rows."),
        "{}",
        row.sentence
    );
    // Without the microdata nobody can be looked up, and the report says so.
    let report = audit(&release_3, None, &Unwatched).unwrap();
    assert_eq!(report.attacks.joining, None);
    let finding = report.attacks.findings.iter().find(|finding| finding.attack == "joining").unwrap();
    assert!(!finding.was_run);
    assert_eq!(
        finding.sentence,
        "Not run: only the microdata show how many rows a person keeps once the tables are joined. k=5 is promised \
         for each table alone."
    );
    // A single table has nothing to join with.
    let (alone, told) = release(&microdata, 5, &[]).unwrap();
    let report = audit(&alone, Some(&microdata), &Unwatched).unwrap();
    assert!(told.is_none() && report.attacks.joining.is_none());
    assert!(report.attacks.findings.iter().all(|finding| finding.attack != "joining"));
}
