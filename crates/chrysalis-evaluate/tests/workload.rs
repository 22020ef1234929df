//! Questions as the papers draw them, and answers whose bounds hold, in every form.

#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use chrysalis_criteria::{Minimum, Principle};
use chrysalis_evaluate::EvaluateError;
use chrysalis_evaluate::workload::{Family, Questions, Workload, ask};
use chrysalis_publish::method::{Anatomy, Butterfly, Generalize, Method, Permute, RankSwap, Shuffle};
use chrysalis_publish::{Partition, QuasiIdentifiers};
use chrysalis_query::EstimateMode;
use chrysalis_query::question::{Condition, Constant, Predicate, Question};
use chrysalis_table::{Column, Counted, Stopped, Table, Unwatched, Watch};
use common::{angel, by_column, microdata, publish, publish_as, rng};
use proptest::prelude::*;

fn workload(family: Family, selectivity: f64, dimensions: Option<usize>) -> Workload {
    Workload { family, queries: 25, selectivity, dimensions, unordered: Vec::new() }
}

/// A workload that is answered with the papers' estimates.
fn even(workload: Workload) -> (Workload, EstimateMode) {
    (workload, EstimateMode::Even)
}

/// 60 people: 20 ages, 7 towns, 10 salaries.
fn people() -> Table {
    let towns = ["A", "B", "C", "D", "E", "F", "G"];
    Table::new(vec![
        Column::integers("age", &(0..60).map(|row| 20 + row * 7 % 20).collect::<Vec<_>>()),
        Column::texts("town", (0..60).map(|row| towns[row * 3 % 7])),
        Column::integers("salary", &(0..60).map(|row| 1000 * (1 + row * row % 10)).collect::<Vec<_>>()),
        Column::integers("group", &(0..60).map(|row| row / 6).collect::<Vec<_>>()),
    ])
}

/// The conditions of a question: each column, and how many values it admits.
fn sizes(question: &Question) -> Vec<(String, usize)> {
    let Some(Condition::All(parts)) = &question.condition else { panic!("all of them hold") };
    let size = |part: &Condition| {
        let Condition::Test(test) = part else { panic!("a test of one column") };
        let n = match &test.predicate {
            Predicate::In(values) => values.len(),
            Predicate::Between(Constant::Integer(low), Constant::Integer(high)) => {
                let step = if test.column.text == "salary" { 1000 } else { 1 };
                usize::try_from((high - low) / step).unwrap() + 1
            }
            other => panic!("{other:?}"),
        };
        (test.column.text.clone(), n)
    };
    parts.iter().map(size).collect()
}

#[test]
fn questions_are_as_wide_as_the_papers_say() {
    let table = people();
    let quasi = ["age", "town"].map(str::to_owned);
    let salaries = 1 + (0..60).map(|row| row * row % 10).max().unwrap() as usize;
    let draw = |family, selectivity, dimensions| {
        Questions::draw(&table, &quasi, "salary", workload(family, selectivity, dimensions), &mut rng(1), &Unwatched)
            .unwrap()
    };
    let distinct = table.column("salary").unwrap().domain().len();
    assert!(distinct <= salaries);
    // pa: w = 2, so ⌊|A|·0.1^(1/3)⌋ = ⌊0.464·|A|⌋ of each: 9 of 20 ages, 3 of 7 towns.
    let mut seen = Vec::new();
    for question in draw(Family::Pa, 0.1, Some(2)).questions() {
        let sizes = sizes(question);
        assert_eq!((sizes.len(), sizes[1].0.as_str()), (2, "salary"));
        assert_eq!(sizes[0].1, if sizes[0].0 == "age" { 9 } else { 3 });
        seen.push(sizes[0].0.clone());
    }
    assert!(seen.contains(&"age".to_owned()) && seen.contains(&"town".to_owned()));
    // angel: ⌈|A|·0.1^(1/3)⌉ of every attribute: 10 ages, 4 towns.
    for question in draw(Family::Angel, 0.1, None).questions() {
        let mut sizes = sizes(question);
        sizes.sort();
        assert_eq!(sizes.len(), 3);
        assert_eq!((&sizes[0], &sizes[2]), (&("age".to_owned(), 10), &("town".to_owned(), 4)));
    }
    // Codes have an order that means nothing: any 10 of them are drawn.
    let codes = Workload { unordered: vec!["age".into()], ..workload(Family::Angel, 0.1, None) };
    let drawn = Questions::draw(&table, &quasi, "salary", codes, &mut rng(1), &Unwatched).unwrap();
    let is_list = |question: &Question| format!("{question:?}").matches("In([").count() == 2;
    let has_ten = |question: &Question| sizes(question).contains(&("age".into(), 10));
    assert!(drawn.questions().iter().all(|question| is_list(question) && has_ten(question)));
    // ke, range: one ordered attribute, ⌊20·0.25⌋ ages. Arbitrary: ⌈|A|·0.25^(1/2)⌉ of both.
    for question in draw(Family::KeRange, 0.25, None).questions() {
        assert_eq!(sizes(question), [("age".to_owned(), 5)]);
        assert_eq!(question.aggregates.len(), 3);
    }
    for question in draw(Family::KeArbitrary, 0.25, None).questions() {
        let mut sizes = sizes(question);
        sizes.sort();
        assert_eq!(sizes, [("age".to_owned(), 10), ("town".to_owned(), 4)]);
    }
}

/// ke 7.2: some groups, and a share of the rows of each.
#[test]
fn constrained_questions_pick_rows_of_some_groups() {
    let mut columns = people().columns().to_vec();
    columns.push(Column::integers("row", &(0..60).collect::<Vec<_>>()));
    let table = Table::new(columns);
    let data = microdata(&table, &["row", "age"], "salary");
    let release = publish(&Shuffle, &data, &by_column(&data, "group"));
    let draw = |release: &_, by: &str, share: f64| {
        let asked = (workload(Family::KeArbitrary, 0.5, None), share);
        Questions::draw_within(release, &table, (by, "salary"), asked, &mut rng(2), &Unwatched)
    };
    let drawn = draw(&release, "row", 0.3).unwrap();
    for question in drawn.questions() {
        let Some(Condition::All(parts)) = &question.condition else { panic!("{question:?}") };
        let [Condition::Test(test)] = parts.as_slice() else { panic!("{parts:?}") };
        let Predicate::In(values) = &test.predicate else { panic!("{test:?}") };
        let group = |value: &Constant| if let Constant::Integer(row) = value { row / 6 } else { panic!("{value:?}") };
        let groups: Vec<i128> = values.iter().map(group).collect();
        // Five of ten groups, and two of six rows each.
        assert_eq!(groups.chunk_by(|a, b| a == b).map(<[_]>::len).collect::<Vec<_>>(), [2; 5], "{groups:?}");
    }
    let asked = drawn.ask(&release, &Unwatched).unwrap();
    assert!(asked.aggregates.iter().all(|it| it.judged == 25 && it.inside == 25), "{asked:?}");
    let refused = |drawn: Result<Questions, EvaluateError>| drawn.err().unwrap().to_string();
    assert!(refused(draw(&release, "row", 1.5)).contains("a share of 1.5"));
    let permuted = publish(&Permute, &data, &by_column(&data, "group"));
    let error = draw(&permuted, "row", 0.3).err().unwrap();
    assert!(error.to_string().contains("no table with groups and the values of `row`"), "{error}");
    assert_eq!(error.hint(), "ask one by anatomy or shuffle");
}

#[test]
fn two_releases_are_asked_the_same_whatever_the_order_of_their_attributes() {
    let table = people();
    let draw = |quasi: [&str; 2], seed| {
        let quasi = quasi.map(str::to_owned);
        let drawn =
            Questions::draw(&table, &quasi, "salary", workload(Family::Pa, 0.1, None), &mut rng(seed), &Unwatched);
        drawn.unwrap().questions().to_vec()
    };
    assert_eq!(draw(["age", "town"], 1), draw(["town", "age"], 1));
    assert_ne!(draw(["age", "town"], 1), draw(["age", "town"], 2));
}

#[test]
fn what_cannot_be_asked_is_refused_by_name() {
    let table = people();
    let data = microdata(&table, &["age", "salary"], "town");
    let release = publish(&Anatomy, &data, &by_column(&data, "group"));
    let refusal = |release: &_, workload| {
        let error: EvaluateError = ask(release, &table, workload, &mut rng(1), &Unwatched).unwrap_err();
        format!("{error}: {}", error.hint())
    };
    let cases = [
        (workload(Family::KeRange, 0.1, None), "`town` holds no numbers"),
        (workload(Family::KeRange, 0.1, None), "use `workload = pa` or angel"),
        (workload(Family::Pa, 0.0, None), "a selectivity of 0 is not above 0"),
        (workload(Family::Pa, 0.0, None), "for example `selectivity = 0.05`"),
        (workload(Family::Pa, f64::NAN, None), "a selectivity of NaN"),
        (workload(Family::Pa, 1.5, None), "a selectivity of 1.5"),
        (workload(Family::Pa, 0.1, Some(4)), "`dimensions` lies between 1 and 3"),
        (workload(Family::Angel, 0.1, Some(0)), "about 0 attributes cannot be asked"),
        (Workload { queries: 0, ..workload(Family::Pa, 0.1, None) }, "0 questions cannot be asked"),
    ];
    for (workload, expected) in cases {
        let said = refusal(&release, even(workload));
        assert!(said.contains(expected), "{said}");
    }
    assert!("pb".parse::<Family>().unwrap_err().hint().to_string().contains("pa, angel, ke-range, ke-arbitrary"));
    let numbers = microdata(&table, &["town"], "salary");
    let swapped = publish_as(&RankSwap, &numbers, &Partition::new((0..60).collect(), &[60]), &["ke=2,1"]);
    assert!(refusal(&swapped, even(workload(Family::Pa, 0.1, None))).contains("does not tell which rows were swapped"));
    let drawn =
        Questions::draw(&table, &["town".into()], "salary", workload(Family::Pa, 0.1, None), &mut rng(1), &Unwatched)
            .unwrap();
    let minimum = Minimum { rows: 1, distinct: 2, span: None, apart: 1 };
    let error = drawn.ask_swapped(&swapped, minimum, &table, &Unwatched).unwrap_err();
    assert!(error.to_string().contains("conditions on the sensitive values, which were swapped"), "{error}");
    assert_eq!(error.hint(), "use `workload = ke-range` or ke-arbitrary");
    let unordered = publish(&Anatomy, &numbers, &by_column(&numbers, "group"));
    let drawn = Questions::draw(
        &table,
        &["town".into()],
        "salary",
        workload(Family::KeArbitrary, 0.1, None),
        &mut rng(1),
        &Unwatched,
    );
    let error = drawn.unwrap().ask_swapped(&unordered, minimum, &table, &Unwatched).unwrap_err();
    assert_eq!(error.to_string(), "in a release by `anatomy` no values were swapped");
    assert_eq!(error.hint(), "ask one by rank-swap");
    assert!(
        refusal(&unordered, even(workload(Family::KeRange, 0.1, None))).contains("no quasi attribute for ke-range")
    );
    assert_eq!(Family::suited(&unordered.manifest), Family::KeArbitrary);
    assert_eq!(Family::suited(&release.manifest), Family::Pa);
}

/// Everyone in a group of their own: the release is the microdata, so every answer is the truth.
#[test]
fn a_release_that_hides_nothing_is_never_wrong() {
    let table = people();
    let data = microdata(&table, &["age", "town"], "salary");
    let release = publish(&Shuffle, &data, &Partition::new((0..60).collect(), &[1; 60]));
    for family in Family::ALL {
        let found = ask(&release, &table, even(workload(family, 0.2, None)), &mut rng(5), &Unwatched).unwrap();
        for aggregate in &found.aggregates {
            assert!(aggregate.nonzero > 5, "{family} {aggregate:?}");
            assert_eq!(aggregate.inside, aggregate.judged);
            let (error, width) = (aggregate.error.unwrap(), aggregate.width.unwrap());
            assert!(error.quantiles[4] < 1e-12 && width.quantiles[4] < 1e-12, "{family} {aggregate:?}");
        }
    }
}

/// Stops after a number of questions.
struct Impatient(std::sync::atomic::AtomicUsize);

impl Watch for Impatient {
    fn phase(&self, _: &'static str, _: Option<u64>, _: Counted) {}
    fn advance(&self, _: u64) {}

    fn stopped(&self) -> bool {
        let left = |left: usize| left.checked_sub(1);
        self.0.fetch_update(std::sync::atomic::Ordering::Relaxed, std::sync::atomic::Ordering::Relaxed, left).is_err()
    }
}

/// 25 questions are drawn, answered by the microdata, and asked: each of these is a chance to stop.
#[test]
fn whoever_does_not_want_to_wait_can_stop_it_at_any_question() {
    let table = people();
    let data = microdata(&table, &["age", "town"], "salary");
    let release = publish(&Shuffle, &data, &by_column(&data, "group"));
    let asked = |patience: usize| {
        let watch = Impatient(patience.into());
        Stopped::catch(|| {
            ask(&release, &table, even(workload(Family::KeRange, 0.2, None)), &mut rng(5), &watch).unwrap()
        })
    };
    assert!([0, 24, 49, 74].into_iter().all(|patience| asked(patience).is_err()));
    assert!(asked(75).is_ok());
}

type Row = (i64, Option<usize>, i64, i64, i64, i64);

fn table_of(rows: &[Row]) -> Table {
    let words = ["x", "y", "z"];
    let numbers = |pick: fn(&Row) -> i64| rows.iter().map(pick).collect::<Vec<_>>();
    Table::new(vec![
        Column::integers("a", &numbers(|row| row.0)),
        Column::texts("b", rows.iter().map(|row| row.1.map_or("", |word| words[word]))),
        Column::reals("r", &rows.iter().map(|row| row.2 as f64 / 4.0).collect::<Vec<_>>()),
        Column::integers("s", &numbers(|row| row.3)),
        Column::integers("g", &numbers(|row| row.4)),
        Column::integers("h", &numbers(|row| row.5)),
    ])
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn the_truth_lies_within_the_bounds_in_every_form(
        rows in prop::collection::vec(
            (0i64..8, prop::option::weighted(0.8, 0usize..3), 0i64..6, -3i64..9, 0i64..4, 0i64..3), 2..40),
        selectivity in 0.01f64..1.0,
        seed in any::<u64>(),
    ) {
        let table = table_of(&rows);
        let data = microdata(&table, &["a", "b", "r"], "s");
        let groups = by_column(&data, "g");
        let users = [["a", "b"], ["a", "r"]].map(|set| set.map(str::to_owned).to_vec()).to_vec();
        let quasi_identifiers = QuasiIdentifiers::new(users).unwrap();
        let methods: [(Box<dyn Method>, &[&str]); 6] = [
            (Box::new(Generalize), &[]),
            (Box::new(Anatomy), &[]),
            (Box::new(Permute), &[]),
            (Box::new(Shuffle), &[]),
            (Box::new(angel(&["h"], &[])), &[]),
            // Butterfly forms its own groups.
            (Box::new(Butterfly { quasi_identifiers, hierarchy: None }), &["k=2"]),
        ];
        for (method, require) in methods {
            let release = publish_as(&*method, &data, &groups, require);
            for family in Family::ALL {
                let asked = ask(&release, &table, even(workload(family, selectivity, None)), &mut rng(seed), &Unwatched).unwrap();
                for aggregate in asked.aggregates {
                    prop_assert_eq!(aggregate.inside, aggregate.judged, "{} {}: {:?}", method.form(), family, aggregate);
                }
            }
        }
    }

    #[test]
    fn the_truth_lies_within_the_bounds_of_who_knows_how_far_values_were_swapped(
        rows in prop::collection::vec((0i64..8, Just(None), Just(0), -3i64..30, Just(0), Just(0)), 2..60),
        (k, e) in (1u64..5, 0u64..12),
        selectivity in 0.01f64..1.0,
        seed in any::<u64>(),
    ) {
        let table = table_of(&rows);
        let data = microdata(&table, &["a"], "s");
        let principle = format!("ke={k},{e}");
        let Ok(goal) = data.goal(&[principle.parse().unwrap()]) else { return Ok(()) };
        let whole = Partition::new((0..rows.len() as u32).collect(), &[rows.len() as u32]);
        let release = publish_as(&RankSwap, &data, &whole, &[&principle]);
        for family in [Family::KeRange, Family::KeArbitrary] {
            let quasi = ["a".to_owned()];
            let drawn = Questions::draw(&table, &quasi, "s", workload(family, selectivity, None), &mut rng(seed), &Unwatched).unwrap();
            let asked = drawn.ask_swapped(&release, goal.minimum().unwrap(), &table, &Unwatched).unwrap();
            for aggregate in asked.aggregates {
                prop_assert_eq!(aggregate.inside, aggregate.judged, "{}: {:?}", family, aggregate);
            }
        }
    }
}
