//! Principles that count persons, against their definitions, and what becomes of groups that are put together.

use std::sync::Arc;

use chrysalis::table::{Code, Column, SaCounts};
use chrysalis_criteria::{All, Belongings, OneOfPersons, Principle, PrincipleSpec, Requirement, Sees, Weights};
use chrysalis_testkit::oracle::{RowsOfPerson, holds_of_persons};
use chrysalis_testkit::strategies::{NAMES, fixed, principle};
use chrysalis_testkit::{SensitiveColumn, sampled};
use proptest::prelude::*;

/// Persons with one sensitive column; every person has a code of its own.
struct Persons {
    column: SensitiveColumn,
    rows: Vec<RowsOfPerson>,
}

impl Persons {
    fn of(column: &Column, n_rows: &[usize]) -> Persons {
        let mut at = 0;
        let mut own = |n: usize| {
            at += n;
            (at - n..at).map(|row| column.code(row)).collect::<RowsOfPerson>()
        };
        Persons { column: SensitiveColumn::of(column), rows: n_rows.iter().map(|&n| own(n)).collect() }
    }

    /// Persons whose values are words; an empty one is missing.
    fn of_words(words: &[Vec<&str>]) -> Persons {
        let sizes: Vec<usize> = words.iter().map(Vec::len).collect();
        Persons::of(&Column::texts("disease", words.iter().flatten().copied()), &sizes)
    }

    fn of_numbers(numbers: &[Vec<i64>]) -> Persons {
        let sizes: Vec<usize> = numbers.iter().map(Vec::len).collect();
        Persons::of(&Column::integers("cost", &numbers.concat()), &sizes)
    }

    /// The first half of the values is more sensitive than the others.
    fn in_categories(mut self) -> Persons {
        let texts: Vec<String> =
            (0..self.column.domain.len() as Code).map(|code| self.column.domain.text(code).into_owned()).collect();
        let (first, second) = texts.split_at(texts.len().div_ceil(2));
        let names = [first, second].into_iter().filter(|it| !it.is_empty()).map(<[String]>::to_vec).collect();
        self.column = self.column.with_categories(names, Weights::Uniform);
        self
    }

    fn has(&self) -> Belongings {
        let mut has = Belongings::new();
        for rows in &self.rows {
            let mut codes = rows.clone();
            codes.sort_unstable();
            has.push(codes.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as u32)));
        }
        has
    }

    fn one(&self) -> OneOfPersons<'_> {
        OneOfPersons { sensitive: self.column.sensitive(), has: Arc::new(self.has()) }
    }

    fn whole(&self) -> SaCounts {
        SaCounts::of(self.rows.len(), 0..self.rows.len() as Code)
    }

    fn some(&self, members: &[usize]) -> (SaCounts, Vec<RowsOfPerson>) {
        let counts = SaCounts::of(self.rows.len(), members.iter().map(|&person| person as Code));
        (counts, members.iter().map(|&person| self.rows[person].clone()).collect())
    }
}

fn bound(requirements: &[Requirement], columns: &[&Persons], sees: Sees) -> Option<All> {
    let columns_of: Vec<OneOfPersons<'_>> = columns.iter().map(|persons| persons.one()).collect();
    All::bind_persons(requirements, &columns_of, &columns[0].whole(), sees).ok()
}

fn members(places: &[u8], of: u8) -> Vec<usize> {
    (0..places.len()).filter(|&person| places[person] == of).collect()
}

fn cases(n: u32) -> ProptestConfig {
    fixed(sampled(n, 20 * n))
}

fn sees() -> impl Strategy<Value = Sees> {
    prop::sample::select(vec![Sees::Persons, Sees::Rows])
}

/// Any principle but `ke`, which is about numbers.
fn of_words() -> impl Strategy<Value = PrincipleSpec> {
    let names: Vec<&str> = NAMES.into_iter().filter(|name| *name != "ke").collect();
    prop::sample::select(names).prop_flat_map(principle)
}

/// Words that all look different, four rows at most.
fn clean() -> impl Strategy<Value = Vec<Vec<&'static str>>> {
    let word = prop::sample::select(vec!["a", "a", "b", "c", "d", "e"]);
    prop::collection::vec(prop::collection::vec(word, 1..=4), 1..12)
}

proptest! {
    #![proptest_config(cases(4_000))]

    #[test]
    fn every_principle_is_what_its_definition_says(
        words in clean(), spec in of_words(), sees in sees(), places in prop::collection::vec(0..2_u8, 12),
    ) {
        let persons = Persons::of_words(&words).in_categories();
        let goal = bound(&[Requirement::of_all(spec.clone())], &[&persons], sees);
        let Some(goal) = goal else { return Ok(()) };
        let chosen = members(&places[..words.len()], 1);
        if chosen.is_empty() {
            return Ok(());
        }
        let (counts, group) = persons.some(&chosen);
        let expected = holds_of_persons(&spec, &persons.column, &persons.rows, &group, sees == Sees::Persons);
        prop_assert_eq!(goal.holds(&counts), expected, "{} of {:?} among {:?}, {:?}", spec, group, words, sees);
    }

    #[test]
    fn ke_is_what_its_definition_says(
        numbers in prop::collection::vec(prop::collection::vec(0..12_i64, 1..=4), 1..10),
        spec in principle("ke"), places in prop::collection::vec(0..2_u8, 10),
    ) {
        let mut persons = Persons::of_numbers(&numbers);
        persons.column = persons.column.under(std::slice::from_ref(&spec));
        let goal = bound(&[Requirement::of_all(spec.clone())], &[&persons], Sees::Rows);
        let Some(goal) = goal else { return Ok(()) };
        let chosen = members(&places[..numbers.len()], 1);
        if chosen.is_empty() {
            return Ok(());
        }
        let (counts, group) = persons.some(&chosen);
        let expected = holds_of_persons(&spec, &persons.column, &persons.rows, &group, false);
        prop_assert_eq!(goal.holds(&counts), expected, "{} of {:?}", spec, group);
    }

    /// Two groups of persons that satisfy everything satisfy it together: also with missing values, words that look
    /// alike, numbers that lie close together, and a second column.
    #[test]
    fn groups_that_pass_pass_together(
        rows in prop::collection::vec(
            prop::collection::vec((prop::sample::select(vec!["a", "A", "b", "c", "d", ""]), 0..300_i64), 1..=4), 2..16),
        of_words in prop::collection::vec(of_words(), 0..3),
        of_numbers in prop::collection::vec(prop::sample::select(NAMES.to_vec()).prop_flat_map(principle), 0..2),
        sees in sees(),
        places in prop::collection::vec(0..3_u8, 16),
    ) {
        let words: Vec<Vec<&str>> = rows.iter().map(|person| person.iter().map(|row| row.0).collect()).collect();
        let numbers: Vec<Vec<i64>> = rows.iter().map(|person| person.iter().map(|row| row.1).collect()).collect();
        let words = Persons::of_words(&words).in_categories();
        let mut numbers = Persons::of_numbers(&numbers).in_categories();
        numbers.column = numbers.column.under(&of_numbers);
        let named = |name: &'static str| move |spec: &PrincipleSpec| match spec {
            PrincipleSpec::KAnonymity { .. } => Requirement::of_all(spec.clone()),
            _ => Requirement::of(name, spec.clone()),
        };
        let required: Vec<Requirement> =
            of_words.iter().map(named("disease")).chain(of_numbers.iter().map(named("cost"))).collect();
        // A share of one may always be had, so that it forbids nothing, and is no promise that merging could break.
        let forbids = |required: &Requirement| match &required.principle {
            PrincipleSpec::FrequencyL { l } | PrincipleSpec::OthersL { l } => *l > 1.into(),
            PrincipleSpec::AlphaK { alpha, .. } => *alpha < 1.into(),
            _ => true,
        };
        if sees == Sees::Rows && !required.iter().all(forbids) {
            return Ok(());
        }
        let Some(goal) = bound(&required, &[&words, &numbers], sees) else { return Ok(()) };
        prop_assert!(goal.laws().monotone);
        let (one, other) = (members(&places[..rows.len()], 1), members(&places[..rows.len()], 2));
        if one.is_empty() || other.is_empty() {
            return Ok(());
        }
        let (one, other) = (words.some(&one).0, words.some(&other).0);
        if goal.holds(&one) && goal.holds(&other) {
            prop_assert!(goal.holds(&one.merged(&other)), "{} of {:?} {:?}", goal, one, other);
        }
    }
}

/// The random groups above are of both kinds, so that the tests above can fail.
#[test]
fn definitions_are_met_by_some_groups_and_missed_by_others() {
    let persons = Persons::of_words(&[vec!["a", "b"], vec!["a", "a"], vec!["c"], vec!["d", "d", "d"], vec!["b"]]);
    let persons = persons.in_categories();
    let verdict = |text: &str, chosen: &[usize], sees: Sees| {
        let spec: PrincipleSpec = text.parse().unwrap();
        let goal = bound(&[Requirement::of_all(spec)], &[&persons], sees).unwrap();
        goal.holds(&persons.some(chosen).0)
    };
    let both = |text: &str, yes: &[usize], no: &[usize]| {
        assert!(verdict(text, yes, Sees::Persons), "{text} of {yes:?}");
        assert!(!verdict(text, no, Sees::Persons), "{text} of {no:?}");
    };
    // One person with two values is not two persons.
    both("k=2", &[0, 1], &[0]);
    both("distinct-l=2", &[0, 1], &[0]);
    // {a,b} {aa}: both have a. {a,b} {c}: one of two has each.
    both("l=2", &[0, 2], &[0, 1]);
    both("alpha-k=0.5,2", &[0, 2], &[0, 1]);
    // {ddd} and {c}: three rows of one person count once where persons are shown, three times where they are not.
    assert!(verdict("l=2", &[2, 3], Sees::Persons) && !verdict("l=2", &[2, 3], Sees::Rows));
    // {a,b} {c}: 1/4, 1/4, 1/2. Entropy is 1.5·ln 2, that of 2.83 values; but there are only two persons.
    both("entropy-l=2", &[0, 2], &[1]);
    assert!(!verdict("entropy-l=2.5", &[0, 2], Sees::Persons) && verdict("entropy-l=2.5", &[0, 2, 3], Sees::Persons));
    // {a,b} {aa} {c}: a 1/2, b 1/6, c 1/3: 1/2 < 2·(1/6+1/3) holds, and not with c = 1.
    both("recursive-l=2,2", &[0, 1, 2], &[0, 1]);
    assert!(!verdict("recursive-l=1,2", &[0, 1, 2], Sees::Persons));
    // Two of five have a. Where two of two have it, its share is 2.5 times as large, which is 1.5 times more.
    both("beta=1.4", &[0, 1, 2, 3], &[0, 1]);
    assert!(verdict("beta=1.5", &[0, 1], Sees::Persons));
    both("t=0.5", &[0, 2], &[3]);
}
