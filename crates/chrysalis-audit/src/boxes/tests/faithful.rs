//! Assignments of people to published rows.

use chrysalis_table::{Date, Unwatched};
use proptest::prelude::*;

use super::super::cells::BoxTable;
use super::super::faithful::place;
use super::super::index::Boxes;
use super::super::matching::{Class, MatchingResult, Slots, assign};
use super::super::space::Axis;
use super::*;

/// A release with one range per row over `age`, everything else alike.
fn ranges(of: &[(i64, i64)], ages: &[i64]) -> (Release, Table) {
    let n = ages.len();
    let microdata = Table::new(vec![
        Column::integers("age", ages),
        Column::texts("sex", std::iter::repeat_n("F", n)),
        Column::texts("city", std::iter::repeat_n("Ulm", n)),
        Column::texts("disease", std::iter::repeat_n("flu", n)),
    ]);
    let rows: Vec<Row> = (0..).zip(of).map(|(group, &ages)| row(group, ages, "F", "Ulm", "flu")).collect();
    (release_of(&rows, &microdata, &[]), microdata)
}

fn outcome(release: &Release, microdata: &Table) -> MatchingResult {
    place(&BoxTable::open(release).unwrap(), microdata, &Unwatched)
}

#[test]
fn a_greedy_choice_is_taken_back() {
    // Whichever person takes [1,2] first, another must be able to push them to a wider range.
    for ranges_of in [[(1, 2), (1, 9), (2, 9)], [(2, 9), (1, 9), (1, 2)], [(1, 9), (1, 2), (2, 9)]] {
        let (release, microdata) = ranges(&ranges_of, &[1, 2, 2]);
        assert_eq!(outcome(&release, &microdata), MatchingResult::default());
        let (release, microdata) = ranges(&ranges_of, &[1, 1, 9]);
        assert_eq!(outcome(&release, &microdata), MatchingResult::default());
    }
}

#[test]
fn three_people_do_not_fit_two_ranges() {
    let (release, microdata) = ranges(&[(1, 2), (2, 3), (3, 9)], &[1, 2, 2]);
    assert_eq!(outcome(&release, &microdata), MatchingResult { uncovered: 0, left_over: 1 });
    let report = audit(&release, Some(&microdata)).unwrap();
    let sentence = "1 rows of the microdata are covered, but find no published row of their own";
    assert!(check(&report, "faithful").findings.contains(&sentence.to_owned()));
}

/// How many people are left over if every range leads to the slots `behind` it, each with this `room`.
fn left_over(ages: &[i64], ranges_of: &[(i64, i64)], behind: &[Vec<u32>], room: &[u32]) -> u64 {
    let (release, microdata) = ranges(ranges_of, ages);
    let published = BoxTable::open(&release).unwrap();
    let sets = published.label_sets();
    let column = microdata.column("age").unwrap();
    let cells = published.quasi.iter().find(|cells| cells.attribute.name == "age").unwrap();
    let axes = [Axis::new(cells, column, &sets)];
    let class = |row| Class { point: vec![axes[0].rank(column.code(row))], rows: 1 };
    let classes: Vec<Class> = (0..ages.len()).map(class).collect();
    let intervals = (0..ranges_of.len()).map(|row| axes[0].interval(row)).collect();
    let boxes = Boxes { axes: &axes, intervals, n: ranges_of.len() };
    let slots = Slots::shared(room.to_vec(), behind.iter().map(Vec::as_slice));
    assign(&classes, &boxes, slots, &Unwatched).left_over
}

/// A batch that has a value once can hold only one of two people with it, although a row of the batch covers each of
/// them.
#[test]
fn boxes_share_the_room_of_their_slot() {
    let (ages, ranges) = ([1, 5], [(1, 2), (4, 5)]);
    assert_eq!(left_over(&ages, &ranges, &[vec![0], vec![0]], &[1]), 1);
    assert_eq!(left_over(&ages, &ranges, &[vec![0], vec![0]], &[2]), 0);
    assert_eq!(left_over(&ages, &ranges, &[vec![0, 1], vec![0]], &[1, 1]), 0);
    assert_eq!(left_over(&ages, &ranges, &[vec![], vec![0]], &[2]), 1);
}

#[test]
fn missing_values_are_covered_by_open_ranges() {
    let ages = [None, Some(3), Some(4), None];
    let n = ages.len();
    let microdata = Table::new(vec![
        integers("age", &ages),
        Column::texts("sex", ["", "F", "M", "F"].into_iter()),
        Column::texts("city", std::iter::repeat_n("Ulm", n)),
        Column::texts("disease", std::iter::repeat_n("flu", n)),
    ]);
    let cells =
        [(1, (None, None), ""), (2, (None, Some(3)), "F"), (2, (None, Some(3)), "F"), (3, (Some(4), Some(4)), "M")];
    let rows: Vec<Row> =
        cells.into_iter().map(|(group, age, sex)| Row { group, age, sex, city: "Ulm", disease: "flu" }).collect();
    let mut release = release_of(&rows, &microdata, &["k=1"]);
    release.tables[1] = members(&[("sex", "", ""), ("sex", "F", "F"), ("sex", "M", "M")]);
    release.manifest.tables[1].rows = 3;
    let report = audit(&release, Some(&microdata)).unwrap();
    assert!(report.ok(), "{report:?}");
}

#[test]
fn rows_with_missing_values_may_have_been_dropped() {
    let mut columns = microdata().columns().to_vec();
    let ages: Vec<Option<i64>> = [21, 25, 29, 31, 33, 38, 38, 45].map(Some).into_iter().chain([None]).collect();
    columns[0] = integers("age", &ages);
    for column in &mut columns[1..] {
        let rows: Vec<u32> = (0..8).chain([0]).collect();
        *column = column.gather(&rows);
    }
    let report = audit(&release(), Some(&Table::new(columns))).unwrap();
    assert!(report.ok(), "{report:?}");
    assert!(check(&report, "faithful").detail.ends_with("of its own, 1 with missing values left out"));
}

#[test]
fn dates_reals_and_ordinals_lie_on_a_line() {
    let column = |name: &str, kind: Kind, values: Vec<Value>, codes: &[u32]| {
        let codes = Codes::collect(values.len(), codes.iter().copied());
        Column::new(name, Arc::new(Domain::new(kind, values, false)), codes)
    };
    let days = |days: &[i32]| days.iter().map(|&day| Value::Date(Date(day))).collect::<Vec<_>>();
    let reals = |numbers: &[f64]| numbers.iter().map(|&number| Value::Real(number)).collect::<Vec<_>>();
    let words = |words: &[&str]| words.iter().map(|&word| Value::Text(word.into())).collect::<Vec<_>>();
    let microdata = Table::new(vec![
        column("day", Kind::Date, days(&[-5, 3, 10]), &[0, 1, 2]),
        column("size", Kind::Real, reals(&[-1.5, -0.5, 2.0]), &[2, 0, 1]),
        column("level", Kind::Ordinal, words(&["low", "mid", "high"]), &[1, 0, 2]),
    ]);
    let published = Table::new(vec![
        Column::integers("group_id", &[1, 1, 2]),
        column("day_min", Kind::Date, days(&[-5, 10]), &[0, 0, 1]),
        column("day_max", Kind::Date, days(&[3, 10]), &[0, 0, 1]),
        column("size_min", Kind::Real, reals(&[-1.5, -0.5]), &[0, 0, 1]),
        column("size_max", Kind::Real, reals(&[-0.5, 2.0]), &[1, 1, 0]),
        column("level_min", Kind::Ordinal, words(&["low", "high"]), &[0, 0, 1]),
        column("level_max", Kind::Ordinal, words(&["mid", "high"]), &[0, 0, 1]),
    ]);
    let mut release = release();
    release.manifest.attributes = microdata.columns().iter().map(|column| attribute(RoleName::Quasi, column)).collect();
    release.manifest.quasi_identifiers = vec![["day", "size", "level"].map(str::to_owned).to_vec()];
    promise(&mut release.manifest, &["k=1"]);
    (release.manifest.rows, release.manifest.groups) = (3, 2);
    release.manifest.tables = vec![entry("generalized", &published)];
    release.tables = vec![published];
    let report = audit(&release, Some(&microdata)).unwrap();
    assert!(report.ok(), "{report:?}");
}

/// The size of a largest assignment, by the textbook: one augmenting path after another.
fn most_placed(fits: &[Vec<bool>]) -> usize {
    fn try_place(person: usize, fits: &[Vec<bool>], tried: &mut [bool], taken: &mut [Option<usize>]) -> bool {
        for slot in 0..taken.len() {
            if fits[person][slot] && !std::mem::replace(&mut tried[slot], true) {
                let free = taken[slot].is_none_or(|other| try_place(other, fits, tried, taken));
                if free {
                    taken[slot] = Some(person);
                    return true;
                }
            }
        }
        false
    }
    let n = fits.first().map_or(0, Vec::len);
    let mut taken = vec![None; n];
    (0..fits.len()).filter(|&person| try_place(person, fits, &mut vec![false; n], &mut taken)).count()
}

type Person = (i64, &'static str, &'static str);
type ShownAttribute = ((i64, i64), &'static str, &'static str);

fn people_and_rows() -> impl Strategy<Value = (Vec<Person>, Vec<ShownAttribute>)> {
    let sex = || prop::sample::select(vec!["F", "M"]);
    let disease = || prop::sample::select(vec!["flu", "flu", "cold"]);
    let range = (0i64..12, 0i64..6).prop_map(|(low, width)| (low, low + width));
    let label = prop::sample::select(vec!["F", "M", "{F,M}"]);
    (
        prop::collection::vec((0i64..12, sex(), disease()), 1..40),
        prop::collection::vec((range, label, disease()), 1..40),
    )
}

proptest! {
    #[test]
    fn a_best_assignment_is_found((people, shown) in people_and_rows()) {
        let microdata = Table::new(vec![
            Column::integers("age", &people.iter().map(|person| person.0).collect::<Vec<_>>()),
            Column::texts("sex", people.iter().map(|person| person.1)),
            Column::texts("city", people.iter().map(|_| "Ulm")),
            Column::texts("disease", people.iter().map(|person| person.2)),
        ]);
        let rows: Vec<Row> =
            shown.iter().map(|&(ages, label, disease)| row(1, ages, label, "Ulm", disease)).collect();
        let release = release_of(&rows, &microdata, &[]);
        let fits: Vec<Vec<bool>> = people
            .iter()
            .map(|person| shown.iter().map(|(ages, label, disease)| {
                (ages.0..=ages.1).contains(&person.0) && label.contains(person.1) && *disease == person.2
            }).collect())
            .collect();
        let outcome = outcome(&release, &microdata);
        prop_assert_eq!(outcome.left_over as usize, people.len() - most_placed(&fits));
        let uncovered = fits.iter().filter(|fits| !fits.iter().any(|&fits| fits)).count();
        prop_assert_eq!(outcome.uncovered as usize, uncovered);
    }

    #[test]
    fn a_best_assignment_to_slots_with_several_boxes_is_found(
        ages in prop::collection::vec(0i64..12, 1..30),
        ranges in prop::collection::vec((0i64..12, 0i64..6), 1..20),
        room in prop::collection::vec(0u32..4, 1..8),
        choices in prop::collection::vec(prop::collection::vec(any::<bool>(), 8), 20),
    ) {
        let ranges: Vec<(i64, i64)> = ranges.into_iter().map(|(low, width)| (low, low + width)).collect();
        let behind: Vec<Vec<u32>> = (0..ranges.len())
            .map(|at| (0..room.len() as u32).filter(|&slot| choices[at][slot as usize]).collect())
            .collect();
        let places: Vec<u32> = (0..).zip(&room).flat_map(|(slot, &n)| std::iter::repeat_n(slot, n as usize)).collect();
        let covers = |age: i64, slot: u32| {
            ranges.iter().zip(&behind).any(|(&(low, high), slots)| low <= age && age <= high && slots.contains(&slot))
        };
        let fits: Vec<Vec<bool>> =
            ages.iter().map(|&age| places.iter().map(|&slot| covers(age, slot)).collect()).collect();
        let placed = most_placed(&fits);
        prop_assert_eq!(left_over(&ages, &ranges, &behind, &room) as usize, ages.len() - placed);
        // Where every slot takes one, whoever finds a slot also finds room in some box behind which there are so many.
        let ones = vec![1; room.len()];
        let rooms: Vec<u32> = behind.iter().map(|slots| slots.len() as u32).collect();
        let alone: Vec<Vec<u32>> = (0..ranges.len() as u32).map(|at| vec![at]).collect();
        prop_assert!(left_over(&ages, &ranges, &alone, &rooms) <= left_over(&ages, &ranges, &behind, &ones));
    }
}
