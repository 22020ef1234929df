//! Columns of which one tells the other, columns that have nothing to do with each other, and tables that make no sense.

use chrysalis_release::Form;
use chrysalis_table::{Column, Counted, Stopped, Table, Unwatched};
use proptest::prelude::*;

use super::margins::Margin;
use super::*;
use crate::Groups;
use crate::attack::Places;
use crate::attack::tests::{dealt, mixed, release_of, words};
use crate::measure::GroupCounts;

const ROWS: u64 = 240;

/// Everybody has a number of their own; the second sensitive column follows the first in `strength` of ten cases.
fn people(strength: u64) -> (Table, Vec<i64>) {
    let disease: Vec<u64> = (0..ROWS).map(|row| row % 6).collect();
    let drug = |row: u64| if mixed(row, 10) < strength { (row % 6 + 2) % 6 } else { mixed(row + 7_000, 6) };
    let drugs: Vec<u64> = (0..ROWS).map(drug).collect();
    let ids: Vec<i64> = (0..ROWS as i64).collect();
    let groups = dealt(&disease, 3);
    let table =
        Table::new(vec![Column::integers("id", &ids), words("disease", "d", &disease), words("drug", "m", &drugs)]);
    (table, groups)
}

/// The attack on columns by group, with everybody's group known or nobody's.
fn attacked(table: &Table, groups: &[i64], is_known: bool, watch: &dyn Watch) -> (Option<Insider>, Finding) {
    let release = release_of(Form::Anatomy, table, Vec::new(), 0, &[]);
    let mut ids: Vec<i64> = groups.to_vec();
    ids.sort_unstable();
    ids.dedup();
    let number = |group: &i64| ids.binary_search(group).unwrap() as u32;
    let of_row: Vec<u32> = groups.iter().map(number).collect();
    let grouped = Groups { of_row: of_row.clone(), n_groups: ids.len() };
    let margin = |at: usize| {
        let column = &table.columns()[at];
        let values = GroupCounts::new(&grouped, column.codes(), column.domain().len());
        Margin { attribute: &release.manifest.attributes[at], domain: column.domain(), values }
    };
    let columns = (1..table.columns().len()).map(margin).collect();
    let margins = Margins { ids: ids.into_iter().map(Some).collect(), columns, group_word: "group" };
    let locate = |rows: &[usize]| -> Places { rows.iter().map(|&row| vec![(of_row[row], 1.0)]).collect() };
    let known = is_known.then_some(Located { microdata: table, quasi: &["id"], locate: &locate });
    attack(&margins, known, watch)
}

#[test]
fn a_column_that_follows_another_is_found_across_groups() {
    let (table, groups) = people(10);
    let (found, finding) = attacked(&table, &groups, true, &Unwatched);
    let found = found.unwrap();
    assert_eq!(found.pairs.len(), 2);
    for pair in &found.pairs {
        // Groups have three values each of both columns.
        assert_eq!((pair.tried, pair.baseline), (ROWS, 0.33333), "{pair:?}");
        assert!(pair.lift > 2.0 && pair.confidence > 0.8 && pair.group.is_some(), "{pair:?}");
        let scored = pair.scored.as_ref().unwrap();
        assert_eq!((scored.people, scored.right_from_groups), (ROWS, 80.0), "{scored:?}");
        assert!(scored.right > 230.0 && scored.right_from_truth > 230.0 && scored.lift > 2.8, "{scored:?}");
    }
    assert!(
        finding.was_run && finding.prevention.starts_with("publish one of `disease` and `drug` only"),
        "{finding:?}"
    );
    assert!(!finding.worst_groups.is_empty() && finding.worst_groups.is_sorted_by(|a, b| a.level >= b.level));
    // Without the microdata the attacker believes the same, and nobody says whether that is right.
    let (alone, _) = attacked(&table, &groups, false, &Unwatched);
    let unscored = |pair: &InsiderPair| InsiderPair { scored: None, ..pair.clone() };
    assert_eq!(alone.unwrap().pairs, found.pairs.iter().map(unscored).collect::<Vec<_>>());
}

#[test]
fn what_goes_together_now_and_then_is_learned_in_part() {
    let (table, groups) = people(6);
    let (found, _) = attacked(&table, &groups, true, &Unwatched);
    let found = found.unwrap();
    let scored = found.worst_pair().unwrap().scored.clone().unwrap();
    assert!(scored.right > scored.right_from_groups * 1.2, "{scored:?}");
}

#[test]
fn columns_that_have_nothing_to_do_with_each_other_tell_nothing() {
    let (table, groups) = people(0);
    let (found, finding) = attacked(&table, &groups, false, &Unwatched);
    for pair in &found.unwrap().pairs {
        assert!(pair.lift > 0.999 && pair.lift < 1.15, "{pair:?}");
    }
    assert!(finding.sentence.starts_with("An insider who knows a person's"), "{finding:?}");
}

#[test]
fn every_two_columns_are_tried_and_the_worst_is_told() {
    let (table, groups) = people(10);
    let noise: Vec<u64> = (0..ROWS).map(|row| mixed(row + 31_000, 4)).collect();
    let mut columns = table.columns().to_vec();
    columns.insert(1, words("ward", "w", &noise));
    let (found, finding) = attacked(&Table::new(columns), &groups, true, &Unwatched);
    let found = found.unwrap();
    let names: Vec<(&str, &str)> =
        found.pairs.iter().map(|pair| (pair.known.as_str(), pair.guessed.as_str())).collect();
    let expected = [
        ("ward", "disease"),
        ("disease", "ward"),
        ("ward", "drug"),
        ("drug", "ward"),
        ("disease", "drug"),
        ("drug", "disease"),
    ];
    assert_eq!(names, expected);
    assert!(found.worst >= 4, "{found:?}");
    assert!(finding.sentence.ends_with("No other two sensitive columns tell more about each other."));
}

#[test]
fn the_result_does_not_depend_on_the_number_of_threads() {
    let (table, groups) = people(7);
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| attacked(&table, &groups, true, &Unwatched))
    };
    assert_eq!(with(1), with(3));
}

struct Stop;

impl Watch for Stop {
    fn phase(&self, _: &'static str, _: Option<u64>, _: Counted) {}

    fn advance(&self, _: u64) {}

    fn stopped(&self) -> bool {
        true
    }
}

#[test]
fn the_attack_ends_where_it_is_stopped() {
    let (table, groups) = people(7);
    assert_eq!(Stopped::catch(|| attacked(&table, &groups, false, &Stop).0.is_some()), Err(Stopped));
}

#[test]
fn it_is_said_who_knows_what_and_how_often_bets_are_right() {
    let scored =
        InsiderScore { people: 200, right: 150.0, right_from_groups: 50.0, right_from_truth: 180.0, lift: 3.0 };
    let pair = InsiderPair {
        known: "drug".into(),
        guessed: "disease".into(),
        tried: 200,
        mean_confidence: 0.7,
        baseline: 0.25,
        lift: 2.8,
        confidence: 0.9,
        group: Some(3),
        scored: Some(scored),
    };
    let insider = |pairs: Vec<InsiderPair>, left_out: u64| Insider { pairs, worst: 0, left_out };
    let finding = insider(vec![pair.clone()], 0).finding("batch");
    assert_eq!(
        finding.sentence,
        "An insider who knows a person's `drug` and batch, and learns from all groups which values go together, bets on \
         the person's `disease` and expects to be right in 70.0 % of cases (25.0 % from the batch alone). Of bets on \
         200 people, 75.0 % are right (25.0 % from the batch alone); 90.0 % are, if the insider knows beforehand how \
         often values go together."
    );
    assert_eq!(
        finding.prevention,
        "publish one of `drug` and `disease` only, or require more of `disease`; no promise covers what one sensitive \
         column tells about another."
    );
    let plain = InsiderPair { scored: None, mean_confidence: 0.25, lift: 1.0, ..pair.clone() };
    let finding = insider(vec![plain], 2).finding("group");
    assert!(finding.prevention.is_empty() && !finding.sentence.contains("people"), "{finding:?}");
    assert!(
        finding.sentence.ends_with(" 2 pairs of columns were left out, because groups are too large to learn from.")
    );
    assert_eq!(not_applicable().sentence, "Does not apply: there are no two sensitive columns that share groups.");
}

/// Two rows, two values on either side: the chance of a pairing is the product of its associations.
#[test]
fn groups_of_two_are_believed_exactly() {
    let sample = |lines: &[(u32, u32)]| {
        GroupCounts::from_counts(1, 2, lines.iter().map(|&(code, count)| (0, code, count)).collect())
    };
    let table = Table::new(vec![words("a", "a", &[0, 1]), words("b", "b", &[0, 1])]);
    let release = release_of(Form::Anatomy, &table, Vec::new(), 0, &[]);
    let margin = |at: usize| Margin {
        attribute: &release.manifest.attributes[at],
        domain: table.columns()[at].domain(),
        values: sample(&[(0, 1), (1, 1)]),
    };
    let (one, other) = (margin(0), margin(1));
    let learned = Pairing::learned([&one, &other], u64::MAX, &Unwatched).unwrap();
    assert_eq!(learned.believed(0, 0, 0), [(0, 0.5), (1, 0.5)], "one group teaches nothing");
    // Of a hundred pairs, 60 are (a0, b0), 10 (a0, b1), 20 (a1, b0) and 10 (a1, b1); every class gets half a row more.
    let times = |pair: (u32, u32), n: usize| std::iter::repeat_n(pair, n);
    let pairs = times((0, 0), 60).chain(times((0, 1), 10)).chain(times((1, 0), 20)).chain(times((1, 1), 10));
    let taught = learned.taught(pairs, &Unwatched);
    let smoothed = |pairs: f64, all: f64| pairs + 0.5 * all / 100.0;
    let straight = smoothed(60.0, 80.0) * smoothed(10.0, 20.0);
    let crossed = smoothed(10.0, 20.0) * smoothed(20.0, 80.0);
    let expected = straight / (straight + crossed);
    let [(_, found), _] = taught.believed(0, 0, 0)[..] else { panic!("two classes") };
    assert!((found - expected).abs() < 1e-3, "{found} {expected}");
    assert!(Pairing::learned([&one, &other], 3, &Unwatched).is_none(), "four beliefs are too many");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// Tables that disagree about groups, have none, or put people where there is nothing: beliefs stay chances.
    #[test]
    fn tables_that_make_no_sense_do_no_harm(
        ones in prop::collection::vec((0..5_u32, 0..4_u32, 1..40_u32), 0..30),
        others in prop::collection::vec((0..5_u32, 0..3_u32, 1..40_u32), 0..30),
        is_alike in any::<bool>(),
        places in prop::collection::vec(prop::collection::vec((0..9_u32, 0.0..5.0_f32), 0..4), 4),
    ) {
        let table = Table::new(vec![
            Column::integers("a", &[0, 1, 2, 3]),
            words("b", "b", &[0, 1, 2, 2]),
        ]);
        let release = release_of(Form::Anatomy, &table, Vec::new(), 0, &[]);
        let others = if is_alike { ones.iter().map(|&(group, code, n)| (group, code % 3, n)).collect() } else { others };
        let margin = |at: usize, lines: &[(u32, u32, u32)]| Margin {
            attribute: &release.manifest.attributes[at],
            domain: table.columns()[at].domain(),
            values: GroupCounts::from_counts(5, table.columns()[at].domain().len(), lines.to_vec()),
        };
        let columns = vec![margin(0, &ones), margin(1, &others)];
        let margins = Margins { ids: (1..6).map(Some).collect(), columns, group_word: "group" };
        let locate = |rows: &[usize]| -> Places { rows.iter().map(|&row| places[row].clone()).collect() };
        let known = Located { microdata: &table, quasi: &["a", "b"], locate: &locate };
        let (found, finding) = attack(&margins, Some(known), &Unwatched);
        prop_assert!(!finding.sentence.contains("NaN") && !finding.sentence.contains("inf"));
        for pair in found.unwrap().pairs {
            let chances = [pair.mean_confidence, pair.baseline, pair.confidence];
            prop_assert!(chances.iter().all(|chance| (0.0..=1.00001).contains(chance)), "{pair:?}");
            prop_assert!(pair.lift.is_finite());
            if let Some(scored) = &pair.scored {
                let most = scored.people as f64 + 1e-4;
                prop_assert!(scored.right <= most && scored.right_from_groups <= most, "{scored:?}");
            }
        }
    }
}
