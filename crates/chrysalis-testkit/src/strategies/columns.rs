use std::sync::Arc;

use chrysalis_criteria::{Rational, Weights};
use chrysalis_table::{Codes, Column, Date, DateTime, Domain, Kind, SaCounts, Value};
use proptest::prelude::*;

use super::taxonomies::taxonomy_over;
use crate::SensitiveColumn;

/// These include words that labels must quote.
const CATEGORIES: [&str; 7] = ["Flu", "HIV", "a,b", "say \"hi\"", "x y", "{Flu,HIV}", "ä\\"];
/// From lowest to highest, which is not the order of the alphabet.
const ORDINALS: [&str; 7] = ["none", "low", "middle", "high", "extreme", "beyond", "all"];

/// Some of these look alike.
const LOOK_ALIKES: [&str; 7] = ["Flu", "HIV", "HIV ", "hiv", "hiv\u{a0}", "x  y", "x y"];
/// Some of these lie close together.
const CROWD: [i32; 7] = [0, 1, 3, 400, 401, 1_000, 1_009];

/// Whether values are easy to tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Look {
    Different,
    /// Some words look alike, and some numbers are near each other.
    Alike,
}

fn value(kind: Kind, index: usize, step: i32, look: Look) -> Value {
    let number = if look == Look::Alike { CROWD[index] * step } else { index as i32 * step };
    match kind {
        Kind::Integer => Value::Integer(i64::from(number) - 10),
        Kind::Real => Value::Real(f64::from(number) / 10.0 - 0.3),
        Kind::Date => Value::Date(Date(number * 30 + 18_000)),
        // Some before 1970, some after, and some with decimals of a second.
        Kind::DateTime => Value::DateTime(DateTime(i64::from(number) * 1_700_500_000 - 2_000_000_001)),
        Kind::Ordinal => Value::Text(ORDINALS[index].into()),
        Kind::Category if look == Look::Alike => Value::Text(LOOK_ALIKES[index].into()),
        Kind::Category => Value::Text(CATEGORIES[index].into()),
    }
}

/// A domain of one to seven values, possibly with a missing one.
fn domains(kind: impl Strategy<Value = Kind>) -> impl Strategy<Value = Domain> {
    let which = prop::collection::vec(any::<bool>(), 7);
    let look = prop_oneof![2 => Just(Look::Different), 1 => Just(Look::Alike)];
    (kind, which, 1..8i32, prop::bool::weighted(0.25), look).prop_map(|(kind, which, step, has_missing, look)| {
        let chosen = |index: &usize| which[*index] || (*index == 3 && !which.contains(&true));
        let values = (0..7).filter(chosen).map(|index| value(kind, index, step, look)).collect();
        Domain::new(kind, values, has_missing)
    })
}

pub(super) fn kinds() -> impl Strategy<Value = Kind> {
    prop::sample::select(Kind::ALL.to_vec())
}

/// A column of that many rows; some values are much more frequent than others, and only those that occur are in the
/// domain.
pub fn column_of(name: &'static str, kind: impl Strategy<Value = Kind>, rows: usize) -> impl Strategy<Value = Column> {
    let pick = prop_oneof![2 => Just(0u32), 1 => Just(2), 4 => 0..8u32];
    (domains(kind), prop::collection::vec(pick, rows)).prop_map(move |(domain, picks)| {
        let n_codes = domain.len();
        let codes = Codes::collect(n_codes, picks.iter().map(|pick| pick % n_codes as u32));
        let all: Vec<u32> = (0..rows as u32).collect();
        Column::new(name, Arc::new(domain), codes).gather(&all)
    })
}

fn skewed(least: u32) -> impl Strategy<Value = u32> {
    prop_oneof![2 => Just(least), 4 => 1..4u32, 1 => 4..30u32]
}

/// Categories for a domain, with weights of every sort.
pub(super) fn categories_for(domain: &Domain) -> BoxedStrategy<(Vec<Vec<String>>, Weights)> {
    let texts: Vec<String> = (0..domain.len() as u32).map(|code| domain.text(code).into_owned()).collect();
    let places = prop::collection::vec(0..4usize, texts.len());
    let weights = (0..4u32, prop::collection::vec((0..=12u64, 1..=12u64), 4), 0..=4u32);
    (places, weights)
        .prop_map(move |(places, (sort, custom, beta))| {
            let category = |at: usize| texts.iter().zip(&places).filter(move |(_, place)| **place == at);
            let category = |at: usize| category(at).map(|(text, _)| text.clone()).collect::<Vec<_>>();
            let names: Vec<Vec<String>> = (0..4).map(category).filter(|names| !names.is_empty()).collect();
            let share = |&(a, b): &(u64, u64)| Rational::new(a.min(b), b);
            let weights = match sort {
                0 | 1 => Weights::Uniform,
                2 => Weights::Sensitivity(beta),
                _ => Weights::Custom(custom.iter().take(names.len()).map(share).collect()),
            };
            (names, weights)
        })
        .boxed()
}

/// A sensitive column of some kind with whole-table counts, categories, and now and then a taxonomy.
pub fn sensitive_columns(kind: impl Strategy<Value = Kind>) -> impl Strategy<Value = SensitiveColumn> {
    let shape = (domains(kind), prop::bool::weighted(0.3));
    shape.prop_flat_map(|(domain, has_taxonomy)| {
        let counts = prop::collection::vec(skewed(1), domain.len());
        let taxonomy = if has_taxonomy { taxonomy_over(&domain).prop_map(Some).boxed() } else { Just(None).boxed() };
        let categories = categories_for(&domain);
        (Just(domain), counts, taxonomy, categories).prop_map(|(domain, counts, taxonomy, categories)| {
            SensitiveColumn::new("s", Arc::new(domain), sa_counts(&counts), taxonomy, Some(categories))
        })
    })
}

/// A group over a domain of that many codes; it may be empty.
pub fn groups(domain_len: usize) -> impl Strategy<Value = SaCounts> {
    // The order of arrival is the order of `present`: principles must not depend on it.
    let order = Just((0..domain_len as u32).collect::<Vec<_>>()).prop_shuffle();
    (order, prop::collection::vec(skewed(0), domain_len)).prop_map(move |(order, counts)| {
        let mut group = SaCounts::new(domain_len);
        order.iter().for_each(|&code| group.add_many(code, counts[code as usize]));
        group
    })
}

pub(super) fn sa_counts(counts: &[u32]) -> SaCounts {
    let mut all = SaCounts::new(counts.len());
    (0..).zip(counts).for_each(|(code, &count)| all.add_many(code, count));
    all
}
