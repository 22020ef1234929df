//! The true answer over the microdata, by looking at every row.

use std::cmp::Ordering;

use super::ask::{Ask, Cond};
use super::{ORDER, Val, World};

type Row = Vec<Option<Val>>;

fn order(a: &Val, b: &Val) -> Ordering {
    match (a, b) {
        (Val::Word(a), Val::Word(b)) if ORDER.contains(a) && ORDER.contains(b) => {
            let rank = |word: &str| ORDER.iter().position(|known| *known == word);
            rank(a).cmp(&rank(b))
        }
        (Val::Word(a), Val::Word(b)) => a.as_bytes().cmp(b.as_bytes()),
        _ => a.partial_cmp(b).unwrap(),
    }
}

/// SQL's three-valued logic: `None` is UNKNOWN.
pub(crate) fn holds(condition: &Cond, row: &Row) -> Option<bool> {
    match condition {
        Cond::Compare(col, op, constant) => {
            let ordering = order(row[*col].as_ref()?, constant.as_ref()?);
            Some(match *op {
                "=" => ordering.is_eq(),
                "<>" => ordering.is_ne(),
                "<" => ordering.is_lt(),
                "<=" => ordering.is_le(),
                ">" => ordering.is_gt(),
                ">=" => ordering.is_ge(),
                op => panic!("no operator {op}"),
            })
        }
        Cond::Between(col, low, high) => and(
            holds(&Cond::Compare(*col, ">=", low.clone()), row),
            holds(&Cond::Compare(*col, "<=", high.clone()), row),
        ),
        Cond::In(col, list) => {
            let mut any = Some(false);
            for constant in list {
                any = or(any, holds(&Cond::Compare(*col, "=", constant.clone()), row));
            }
            any
        }
        Cond::Like(col, pattern) => {
            let letters: Vec<char> = row[*col].as_ref()?.text().chars().collect();
            Some(like(&letters, &pattern.chars().collect::<Vec<_>>()))
        }
        Cond::IsNull(col) => Some(row[*col].is_none()),
        Cond::Not(inner) => holds(inner, row).map(|truth| !truth),
        Cond::And(a, b) => and(holds(a, row), holds(b, row)),
        Cond::Or(a, b) => or(holds(a, row), holds(b, row)),
    }
}

fn and(a: Option<bool>, b: Option<bool>) -> Option<bool> {
    match (a, b) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

fn or(a: Option<bool>, b: Option<bool>) -> Option<bool> {
    and(a.map(|truth| !truth), b.map(|truth| !truth)).map(|truth| !truth)
}

fn like(word: &[char], pattern: &[char]) -> bool {
    match pattern.split_first() {
        None => word.is_empty(),
        Some(('%', rest)) => (0..=word.len()).any(|skip| like(&word[skip..], rest)),
        Some(('_', rest)) => word.split_first().is_some_and(|(_, word)| like(word, rest)),
        Some((letter, rest)) => word.split_first().is_some_and(|(first, word)| first == letter && like(word, rest)),
    }
}

/// The aggregates over the rows that match, in order; `None` is NULL.
pub(crate) fn answer<'a>(ask: &Ask, rows: impl Iterator<Item = &'a Row> + Clone) -> Vec<Option<f64>> {
    let matching =
        || rows.clone().filter(|row| ask.condition.as_ref().is_none_or(|cond| holds(cond, row) == Some(true)));
    let one = |(function, col): &(&str, Option<usize>)| {
        let Some(col) = col else { return Some(matching().count() as f64) };
        let values: Vec<&Val> = matching().filter_map(|row| row[*col].as_ref()).collect();
        if *function == "count" {
            return Some(values.len() as f64);
        }
        if *function == "count distinct" {
            let mut texts: Vec<String> = values.into_iter().map(Val::text).collect();
            texts.sort_unstable();
            texts.dedup();
            return Some(texts.len() as f64);
        }
        let mut numbers: Vec<f64> = values.into_iter().map(Val::number).collect();
        numbers.sort_by(f64::total_cmp);
        let (sum, n) = (numbers.iter().sum::<f64>(), numbers.len());
        let squares = || numbers.iter().map(|number| (number - sum / n as f64).powi(2)).sum::<f64>();
        let is_defined = n > usize::from(*function == "stddev_samp");
        is_defined.then(|| match *function {
            "median" => (numbers[(n - 1) / 2] + numbers[n / 2]) / 2.0,
            "stddev_pop" => (squares() / n as f64).sqrt(),
            "stddev_samp" => (squares() / (n - 1) as f64).sqrt(),
            "sum" => sum,
            "avg" => sum / n as f64,
            "min" => numbers.iter().copied().fold(f64::INFINITY, f64::min),
            "max" => numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            function => panic!("no function {function}"),
        })
    };
    ask.aggregates.iter().map(one).collect()
}

/// The key values of a row, as texts.
pub(crate) fn key(world: &World, ask: &Ask, row: usize) -> Vec<Option<String>> {
    ask.keys.iter().map(|&col| world.rows[row][col].as_ref().map(Val::text)).collect()
}
