//! The last step: rows with values (spec, step 6).

use std::ops::Range;

use chrysalis_release::view::{Field, Label};
use chrysalis_release::{EstimateMode, Period, Preparation};
use chrysalis_table::{Codes, Column, Date, Kind, Progress, Table, Value};
use rand::rngs::ChaCha8Rng;
use rand::{CryptoRng, Rng, RngExt, SeedableRng};

use crate::axis::Inside;
use crate::deck::{Attribute, Boxed, Deck, Listed, Source};
use crate::redraw::{State, below};

/// A world as a table.
pub(crate) fn table(
    deck: &Deck,
    (state, estimate): (&State, EstimateMode),
    rng: &mut dyn CryptoRng,
    progress: Progress<'_>,
) -> Table {
    let columns = deck.attributes.iter().enumerate().map(|(at, attribute)| {
        progress(0);
        match &attribute.source {
            Source::Listed(listed) => dealt(&attribute.field.name, listed, state),
            Source::Boxed(boxed) => {
                let groups: Vec<_> = match boxed.is_tight && estimate == EstimateMode::Learned {
                    true => (0..deck.groups.len()).map(|group| deck.groups.rows(group)).collect(),
                    false => Vec::new(),
                };
                let mut seed = [0; 32];
                rng.fill_bytes(&mut seed);
                drawn(attribute, (boxed, &groups), &state.cells[at], &mut ChaCha8Rng::from_seed(seed))
            }
        }
    });
    Table::new(columns.collect())
}

fn dealt(name: &str, listed: &Listed, state: &State) -> Column {
    let codes = match listed.block {
        None => listed.codes.clone(),
        Some(block) => {
            let places = state.places[block].iter();
            Codes::collect(listed.domain.len(), places.map(|&place| listed.codes.get(place as usize)))
        }
    };
    Column::new(name, listed.domain.clone(), codes)
}

/// `groups` are those that have the ends of their labels.
fn drawn(
    attribute: &Attribute,
    (boxed, groups): (&Boxed, &[Range<usize>]),
    cells: &[u16],
    rng: &mut ChaCha8Rng,
) -> Column {
    let (field, grain) = (&attribute.field, Grain::of(attribute, boxed));
    let words = matches!(field.kind, Kind::Ordinal | Kind::Category);
    let mut values: Vec<Option<Value>> = Vec::new();
    let mut order: Vec<usize> = Vec::new();
    let mut known: std::collections::HashMap<Key, u32> = std::collections::HashMap::new();
    let mut codes = Codes::with_capacity(1, cells.len());
    let mut keys: Vec<Key> =
        cells.iter().enumerate().map(|(row, &cell)| key(boxed, cell, boxed.label(row), &grain, rng)).collect();
    groups.iter().for_each(|rows| put_ends(boxed.label(rows.start), rows.clone(), cells, &mut keys));
    for key in keys {
        let next = values.len() as u32;
        let code = *known.entry(key).or_insert(next);
        if code == next {
            values.push(key.value(field, words));
            order.push(if let Key::Whole(rank) = key { usize::try_from(rank).unwrap_or(0) } else { 0 });
        }
        codes.push(code);
    }
    Column::from_entries(&field.name, field.kind, values, &order, vec![codes])
}

/// A drawn value: nothing, a whole number or rank, or the bits of a real.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Key {
    Missing,
    Whole(i64),
    Real(u64),
}

impl Key {
    fn value(self, field: &Field, words: bool) -> Option<Value> {
        match self {
            Key::Missing => None,
            Key::Whole(rank) if words => {
                usize::try_from(rank).ok().and_then(|rank| field.words.get(rank)).map(|word| Value::Text(word.clone()))
            }
            Key::Whole(number) => Value::from_whole(field.kind, number),
            Key::Real(bits) => Some(Value::Real(f64::from_bits(bits))),
        }
    }
}

/// Gives the ends of a range to rows in their cells, which may hold other values as well.
fn put_ends(label: &Label, rows: Range<usize>, cells: &[u16], keys: &mut [Key]) {
    let (low, high) = match label {
        Label::Points { ends: Some((low, high)), .. } => (Key::Whole(*low), Key::Whole(*high)),
        Label::Stretch { ends: Some((low, high)), .. } => {
            (Key::Real((low + 0.0).to_bits()), Key::Real((high + 0.0).to_bits()))
        }
        _ => return,
    };
    let known = || rows.clone().filter(|&row| keys[row] != Key::Missing);
    let (Some(least), Some(most)) = (known().min_by_key(|&row| cells[row]), known().max_by_key(|&row| cells[row]))
    else {
        return;
    };
    let (has_low, has_high) = (known().any(|row| keys[row] == low), known().any(|row| keys[row] == high));
    // An empty lower end reaches down to the missing value: the smallest value is not known.
    if !has_high && keys[most] != low {
        keys[most] = high;
    }
    if !has_low && !label.has_missing() && keys[least] != high {
        keys[least] = low;
    }
}

fn key(boxed: &Boxed, cell: u16, label: &Label, grain: &Grain, rng: &mut ChaCha8Rng) -> Key {
    match boxed.axis.inside(cell, label) {
        Inside::Missing => Key::Missing,
        Inside::Whole(low, high) => {
            let drawn = if low >= high { low } else { rng.random_range(low..=high) };
            let (least, most) = match label {
                Label::Points { ends: Some(ends), .. } => *ends,
                _ => (low, high),
            };
            Key::Whole(grain.whole(drawn).clamp(least, most))
        }
        Inside::Members(from, to) => match label {
            Label::Members { ranks, .. } if from < to => Key::Whole(ranks[from + below(to - from, rng)] as i64),
            _ => Key::Missing,
        },
        Inside::Real(low, high) => {
            let share = f64::from(rng.next_u32()) / f64::from(u32::MAX);
            // Not low + (high − low)·share, which overflows at the ends of what floats can say.
            let drawn = low * (1.0 - share) + high * share;
            let (least, most) = match label {
                Label::Stretch { ends: Some(ends), .. } => *ends,
                _ => (low, high),
            };
            Key::Real((grain.real(drawn).clamp(least, most) + 0.0).to_bits())
        }
    }
}

/// How finely values are written: drawn ones should look like the others.
struct Grain {
    /// Multiples of this, from 0; for dates with times the coarsest unit that all ends of ranges are written in.
    step: i64,
    period: Option<Period>,
    /// Digits behind the point of a real.
    decimals: i32,
}

/// Microseconds of a day, an hour, a minute and a second.
const UNITS: [i64; 4] = [86_400_000_000, 3_600_000_000, 60_000_000, 1_000_000];
/// More digits than this behind the point are not counted.
const MOST_DECIMALS: i32 = 9;

impl Grain {
    fn of(attribute: &Attribute, boxed: &Boxed) -> Grain {
        let mut grain = Grain { step: 1, period: None, decimals: 0 };
        for preparation in &attribute.preparations {
            match preparation {
                Preparation::Round(by) => grain.step = by.whole().filter(|step| *step > 0).unwrap_or(1),
                Preparation::Date(period) => grain.period = Some(*period),
                _ => {}
            }
        }
        if attribute.field.kind == Kind::DateTime {
            let is_multiple = |unit: i64| {
                boxed.labels.iter().all(|label| match label {
                    Label::Points { ends: Some((low, high)), .. } => low % unit == 0 && high % unit == 0,
                    _ => true,
                })
            };
            grain.step = UNITS.into_iter().find(|&unit| is_multiple(unit)).unwrap_or(1);
        }
        let ends = boxed.labels.iter().filter_map(|label| match label {
            Label::Stretch { ends, .. } => *ends,
            _ => None,
        });
        grain.decimals = ends.flat_map(|(low, high)| [low, high]).map(decimals).max().unwrap_or(0);
        grain
    }

    fn whole(&self, number: i64) -> i64 {
        let number = match self.period {
            None => number,
            Some(period) => {
                let first = i32::try_from(number).ok().and_then(|day| period.first_day(Date(day)));
                first.map_or(number, |first| i64::from(first.0))
            }
        };
        let over = number.rem_euclid(self.step);
        let up = if over > self.step / 2 { self.step } else { 0 };
        (number - over.min(number.saturating_sub(i64::MIN))).saturating_add(up)
    }

    fn real(&self, number: f64) -> f64 {
        let power = 10_f64.powi(self.decimals);
        let rounded = (number * power).round() / power;
        // Numbers so large that they have no digits behind the point stay what they are.
        if rounded.is_finite() && number.abs() < 1e15 { rounded } else { number }
    }
}

/// The digits behind the point in the shortest text of a number.
fn decimals(number: f64) -> i32 {
    let text = format!("{number}");
    let digits = text.split_once('.').map_or(0, |(_, behind)| behind.len());
    i32::try_from(digits).unwrap_or(MOST_DECIMALS).min(MOST_DECIMALS)
}
