//! Shares over all worlds that fit two releases: who can be bet on, what the report says about it, and when it cannot
//! be told.

use chrysalis_criteria::Rational;
use chrysalis_release::{Form, Release};
use chrysalis_table::{Column, Table, Unwatched};

use crate::attack::tests::{verbatim, words};
use crate::{Intersection, IntersectionOver, NotCounted, Shares, SharesOver, intersect, intersect_all};

/// People who each have an age of their own.
fn people(values: &[u64]) -> Table {
    let ages: Vec<i64> = (0..values.len() as i64).collect();
    Table::new(vec![Column::integers("age", &ages), words("disease", "d", values)])
}

fn anatomy(values: &[u64], groups: &[i64], promise: &str) -> Release {
    verbatim(Form::Anatomy, &people(values), groups, &[promise])
}

/// Groups {0, 1, 2} {3, 4, 5} with a, b, c each, and {0, 1, 3} {2, 4, 5} with a, b, c and c, a, b: everybody keeps three
/// values in both.
const VALUES: [u64; 6] = [1, 2, 3, 3, 1, 2];
const FIRST: [i64; 6] = [1, 1, 1, 2, 2, 2];
const SECOND: [i64; 6] = [1, 1, 2, 1, 2, 2];

/// By hand: 2 and 3 must have the same value (the one that 0 and 1 leave in either release), so the worlds are 3 values
/// for them times 2 ways for 0 and 1 times 2 for 4 and 5. Nobody's value is surer than 1/3.
#[test]
fn groups_that_cross_need_not_tell_anything() {
    let (one, other) = (anatomy(&VALUES, &FIRST, "l=3"), anatomy(&VALUES, &SECOND, "l=3"));
    let (check, found) = intersect(&one, &other, "other", Some(&people(&VALUES))).unwrap();
    assert!(check.ok, "{check:?}");
    let shares = found.shares.clone().unwrap();
    assert_eq!((shares.largest, shares.above, shares.people, shares.estimated), (Some(1.0 / 3.0), 0, 6, 0));
    assert_eq!(
        check.detail,
        "together with other, 6 people of the microdata keep at least 3 sensitive values each; nobody's value is the \
         same in more than 33.3 % of the worlds that fit all releases, where at most 33.3 % (1/3) is promised"
    );
    let said = found.finding();
    assert!(
        said.sentence.ends_with(
            "Over all worlds that fit the releases, of 6 people of the microdata who fit all releases, 0 can be bet \
             on with better odds than the 33.3 % (1/3) promised, at best with 33.3 %. All shares are exact."
        ),
        "{said:?}"
    );
    assert!(said.prevention.is_empty());
}

/// Groups {0, 1, 2, 3} {4, 5, 6, 7} with b, b, c, d and a, b, b, d; across {0, 2, 3, 4} and {1, 5, 6, 7} with the same. Nobody is
/// left with fewer than two values.
const MORE: [u64; 8] = [2, 2, 4, 3, 2, 1, 2, 4];
const LEFT: [i64; 8] = [1, 1, 1, 1, 2, 2, 2, 2];
const ACROSS: [i64; 8] = [1, 2, 1, 1, 1, 2, 2, 2];

/// By hand: c is one of 0, 2, 3 and a one of 5, 6, 7. If 1 has d, then 4 has it too, as {0, 2, 3} have b, b, c: 3 · 3 = 9 worlds.
/// If 1 has b, so has 4, and {0, 2, 3} have b, c, d and {5, 6, 7} a, b, d: 6 · 6 = 36 worlds. So 1 and 4 have b in 36 of 45.
#[test]
fn bets_above_a_promise_fail_though_enough_values_are_left() {
    let table = people(&MORE);
    // The weakest promise counts, and a share as large as promised is not above it.
    for (promises, promised, above) in [
        (["l=2", "l=2"], (1, 2), 2),
        (["l=2", "alpha-k=0.7,2"], (7, 10), 2),
        (["alpha-k=0.7,2", "k=2"], (7, 10), 2),
        (["l=2", "alpha-k=0.8,2"], (4, 5), 0),
    ] {
        let (one, other) = (anatomy(&MORE, &LEFT, promises[0]), anatomy(&MORE, &ACROSS, promises[1]));
        let (check, found) = intersect(&one, &other, "other", Some(&table)).unwrap();
        let expected = Shares {
            promised: Some(Rational::new(promised.0, promised.1)),
            largest: Some(0.8),
            is_largest_exact: true,
            people: 8,
            estimated: 0,
            above,
            right: Some(above),
            impossible: 0,
            over: SharesOver::People,
        };
        assert_eq!(found.shares, Ok(expected));
        assert_eq!((found.fewest, found.narrowed, check.ok), (Some(2), 0, above == 0), "{check:?}");
    }
    let (one, other) = (anatomy(&MORE, &LEFT, "l=2"), anatomy(&MORE, &ACROSS, "l=2"));
    let (check, found) = intersect(&one, &other, "other", Some(&table)).unwrap();
    assert_eq!(
        check.findings,
        ["together with other, for 2 of 8 people of the microdata a bet is better than promised: one of their \
             values has a share of up to 80.0 % of the worlds that fit all releases, where at most 50.0 % is promised"]
    );
    let said = found.finding();
    assert!(
        said.sentence.ends_with(
            "Over all worlds that fit the releases, of 8 people of the microdata who fit all releases, 2 can be bet \
             on with better odds than the 50.0 % promised, at best with 80.0 %. Such bets are right for 2 of them \
             (100.0 %). All shares are exact."
        ),
        "{said:?}"
    );
    assert!(said.prevention.contains("the same groups in all of them"), "{said:?}");
}

#[test]
fn the_same_groups_again_change_no_share() {
    for values in [&VALUES[..], &[1, 2, 3, 4, 5, 6], &[1, 1, 2, 2, 3, 3]] {
        let table = people(values);
        let one = anatomy(values, &FIRST, "alpha-k=0.7,2");
        for microdata in [None, Some(&table)] {
            let (check, found) = intersect(&one, &one, "itself", microdata).unwrap();
            let shares = found.shares.clone().unwrap();
            let counts = |group: i64, value: u64| {
                VALUES.iter().enumerate().filter(|(at, _)| FIRST[*at] == group && values[*at] == value).count()
            };
            let most = (1..7).flat_map(|value| [counts(1, value), counts(2, value)]).max().unwrap();
            assert_eq!(shares.largest, Some(most as f64 / 3.0));
            assert!(check.ok && shares.above == 0 && shares.estimated == 0, "{check:?}");
        }
    }
}

/// Three releases rule out what no two of them do, and so do their shares.
#[test]
fn three_releases_are_taken_together() {
    let group = |value: u64, copy: u64, release: u64| ((value + 1 + (copy + release) % 3) % 4) as i64;
    let values: Vec<u64> = (0..12).map(|person| person / 3).collect();
    let groups = |release: u64| (0..12).map(|person| group(person / 3, person % 3, release)).collect::<Vec<i64>>();
    let all = [0, 1, 2].map(|release| anatomy(&values, &groups(release), "distinct-l=2"));
    let others = [("b", &all[1]), ("c", &all[2])];
    let (_, found) = intersect_all(&all[0], &others, Some(&people(&values)), &Unwatched).unwrap();
    let shares = found.shares.unwrap();
    // Distinct values promise no share.
    assert_eq!((shares.largest, shares.promised, shares.above), (Some(1.0), None, 0));
}

#[test]
fn a_share_that_nobody_promised_is_told_and_fails_nothing() {
    let (one, other) = (anatomy(&MORE, &LEFT, "distinct-l=2"), anatomy(&MORE, &ACROSS, "distinct-l=2"));
    let (check, found) = intersect(&one, &other, "other", Some(&people(&MORE))).unwrap();
    assert!(check.ok, "{check:?}");
    assert!(
        check.detail.ends_with("of the worlds that fit all releases, and no release promises a limit"),
        "{check:?}"
    );
    let said = found.finding().sentence;
    assert!(said.contains("no release promises how large such a share may be. All shares are exact."), "{said}");
}

/// Rows with exact values are taken for people; rows with ranges are not.
#[test]
fn without_the_microdata_rows_with_exact_values_are_people() {
    let (one, other) = (anatomy(&MORE, &LEFT, "l=2"), anatomy(&MORE, &ACROSS, "l=2"));
    let (_, known) = intersect(&one, &other, "other", Some(&people(&MORE))).unwrap();
    let (check, found) = intersect(&one, &other, "other", None).unwrap();
    let (known, shares) = (known.shares.unwrap(), found.shares.clone().unwrap());
    assert_eq!(shares, Shares { right: None, over: SharesOver::Rows, ..known });
    assert_eq!(found.over, IntersectionOver::Conceivable);
    let said = check.findings.iter().find(|said| said.contains("a bet is better")).unwrap();
    assert!(
        said.contains("of 8 rows with exact quasi values (taken for people) a bet is better than promised"),
        "{said}"
    );
    let said = found.finding().sentence;
    assert!(said.contains("of 8 rows with exact quasi values (taken for people) who fit all releases, "), "{said}");
    assert!(!said.contains("Such bets are right"), "{said}");
}

#[test]
fn without_people_it_cannot_be_told() {
    let one = super::table_2b(&["l=2"]);
    let (check, found) = intersect(&one, &one, "itself", None).unwrap();
    assert_eq!(found.shares, Err(NotCounted::NobodyKnown));
    let why = "shares were not counted: nobody knows who the people are without the microdata, so it cannot be \
               determined whether a bet is better than promised";
    assert!(check.ok && check.detail.ends_with(&format!("; {why}")), "{check:?}");
    assert!(found.finding().sentence.ends_with(&format!(" S{}.", &why[1..])), "{:?}", found.finding());
    let tried = Intersection { shares: Err(NotCounted::TooManyOverlaps), ..found.clone() };
    let said = tried.finding().sentence;
    assert!(
        said.contains("Shares were not counted: so many groups may hold the same people that it cannot be determined"),
        "{said}"
    );
    // That shares do not apply is a different case, and not worth a sentence.
    let tried = Intersection { shares: Err(NotCounted::NothingProtected), ..found };
    assert!(!tried.finding().sentence.contains("hares"), "{:?}", tried.finding());
    assert_eq!(NotCounted::NothingProtected.sentence(), "shares do not apply: a release protects no column");
}

/// The second month lacks the third person and has another instead.
#[test]
fn shares_of_two_months_are_over_those_in_both() {
    let table = people(&VALUES);
    let one = anatomy(&VALUES, &FIRST, "l=3");
    let ages = [0, 1, 9, 3, 4, 5];
    let later = Table::new(vec![Column::integers("age", &ages), words("disease", "d", &VALUES)]);
    let other = verbatim(Form::Anatomy, &later, &SECOND, &["l=3"]);
    let (check, found) = intersect(&one, &other, "may", Some(&table)).unwrap();
    let shares = found.shares.clone().unwrap();
    assert_eq!((found.people, found.contradicted, shares.people), (6, 1, 5));
    assert!(!check.ok && check.findings.len() == 1 && check.findings[0].contains("1 of 6 people"), "{check:?}");
    let said = found.finding().sentence;
    assert!(said.contains("of 5 people of the microdata who fit all releases, 0 can be bet on"), "{said}");
}

/// Everybody fits every release, but the counts do not.
#[test]
fn releases_that_no_world_fits_are_told() {
    let table = people(&[1, 2, 1, 2]);
    let one = anatomy(&[1, 2, 1, 2], &[1, 1, 2, 2], "l=2");
    let other = verbatim(Form::Anatomy, &people(&[1, 1, 1, 2]), &[1, 1, 2, 2], &["k=2"]);
    let (check, found) = intersect(&one, &other, "april", Some(&table)).unwrap();
    let shares = found.shares.clone().unwrap();
    assert_eq!((shares.impossible, shares.people), (2, 2));
    let said = "no way of assigning the values fits 2 of 4 people of the microdata: the releases do not have the same \
                rows (one may be from another month), and nothing was counted for these people";
    assert!(check.findings.contains(&format!("together with april, {said}")), "{check:?}");
    assert!(found.finding().sentence.contains(&format!(" N{}. ", &said[1..])), "{:?}", found.finding());
    // Nobody says that the rows of one release are people of the other.
    let (check, _) = intersect(&one, &other, "april", None).unwrap();
    assert!(!check.findings.iter().any(|found| found.contains("no way of assigning")), "{check:?}");
}

/// What the report says about shares that were estimated.
#[test]
fn estimates_are_called_so() {
    let (one, other) = (anatomy(&VALUES, &FIRST, "l=3"), anatomy(&VALUES, &SECOND, "l=3"));
    let (_, found) = intersect(&one, &other, "other", Some(&people(&VALUES))).unwrap();
    let exact = found.shares.clone().unwrap();
    let with = |shares: Shares| Intersection { shares: Ok(shares), ..found.clone() };
    let above = Shares {
        largest: Some(0.81),
        is_largest_exact: false,
        people: 30_162,
        estimated: 30_000,
        above: 7_052,
        right: Some(2_736),
        ..exact.clone()
    };
    let tried = with(above.clone());
    let check = tried.check();
    assert_eq!(
        check.findings,
        ["together with other, for 7052 of 30162 people of the microdata a bet is better than promised: one of \
             their values has a share of up to about 81.0 % of the worlds that fit all releases, where at most 33.3 % \
             (1/3) is promised"]
    );
    assert!(!check.ok);
    let said = tried.finding();
    assert!(
        said.sentence.ends_with(
            "7,052 can be bet on with better odds than the 33.3 % (1/3) promised, at best with about 81.0 %. Such \
             bets are right for 2,736 of them (38.8 %). The shares of 162 of them are exact, those of 30,000 are \
             estimates, which count as above the promise only if they exceed it by more than 10 %."
        ),
        "{said:?}"
    );
    assert!(said.prevention.contains("the same groups in all of them"), "{said:?}");
    let all = with(Shares { estimated: 30_162, ..above.clone() }).finding().sentence;
    assert!(
        all.ends_with(
            "All shares are estimates, which count as above the promise only if they exceed it by more than \
                       10 %."
        ),
        "{all}"
    );
    // Somewhat above is within the error.
    let near = with(Shares { largest: Some(0.35), above: 0, right: Some(0), ..above });
    assert!(near.check().ok);
    let said = "somebody's value is the same in about 35.0 % of the worlds that fit all releases, where at most 33.3 \
                % (1/3) is promised: the difference is within the error of the estimate, 10 %";
    assert!(near.check().detail.ends_with(said), "{:?}", near.check());
    let said = near.finding().sentence;
    assert!(said.contains("That is above the promise, but within the error of the estimate."), "{said}");
    let nobody = with(Shares { largest: None, people: 0, ..exact });
    assert!(nobody.finding().sentence.contains("Shares were not counted: nobody fits all releases."));
}
