//! What an axis measures, and where a value lies on it.

use super::ticks::{self, Tick};

/// One axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    pub(super) label: String,
    pub(super) scale: Scale,
    pub(super) is_percent: bool,
    /// Values that must be visible.
    includes: Vec<f64>,
    /// Where ticks are; chosen automatically if empty.
    at: Vec<f64>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Scale {
    Linear,
    Log,
    Categories(Vec<String>),
}

impl Axis {
    /// Equal steps are equally long.
    pub fn linear(label: impl Into<String>) -> Self {
        Axis::new(label, Scale::Linear)
    }

    /// Equal factors are equally long; values must be positive, others are left out and the chart says so.
    pub fn log(label: impl Into<String>) -> Self {
        Axis::new(label, Scale::Log)
    }

    /// Names, one after another; a coordinate is an index.
    pub fn categories<T: Into<String>>(label: impl Into<String>, names: impl IntoIterator<Item = T>) -> Self {
        Axis::new(label, Scale::Categories(names.into_iter().map(Into::into).collect()))
    }

    fn new(label: impl Into<String>, scale: Scale) -> Self {
        Axis { label: label.into(), scale, is_percent: false, includes: Vec::new(), at: Vec::new() }
    }

    /// Shares are written as percentages.
    pub fn percent(mut self) -> Self {
        self.is_percent = true;
        self
    }

    /// The axis includes zero, so that lengths can be compared.
    pub fn from_zero(self) -> Self {
        self.including(0.0)
    }

    /// The axis includes this value, whatever the points are.
    pub fn including(mut self, value: f64) -> Self {
        self.includes.push(value);
        self
    }

    /// Ticks are exactly here.
    pub fn ticks_at(mut self, values: impl IntoIterator<Item = f64>) -> Self {
        self.at = values.into_iter().filter(|value| value.is_finite()).collect();
        self
    }

    pub(super) fn is_categories(&self) -> bool {
        matches!(self.scale, Scale::Categories(_))
    }

    /// Whether a coordinate can be shown.
    pub(super) fn shows(&self, value: f64) -> bool {
        match &self.scale {
            Scale::Linear => value.abs() < FAR,
            Scale::Log => value < FAR && value > 1.0 / FAR,
            Scale::Categories(names) => value > -0.5 && value < names.len() as f64 - 0.5,
        }
    }

    /// The stretch that shows all these values, and its ticks.
    pub(super) fn stretch(&self, values: impl Iterator<Item = f64>) -> Stretch {
        if let Scale::Categories(names) = &self.scale {
            let tick = |(at, name): (usize, &String)| Tick { at: at as f64, text: name.clone() };
            let ticks = names.iter().enumerate().map(tick).collect();
            return Stretch { low: -0.5, high: names.len().max(1) as f64 - 0.5, is_log: false, ticks };
        }
        let is_log = self.scale == Scale::Log;
        let wanted = values.chain(self.includes.iter().copied()).chain(self.at.iter().copied());
        let wanted = wanted.filter(|value| self.shows(*value));
        let ends = wanted.fold(None, |ends: Option<(f64, f64)>, value| {
            Some(ends.map_or((value, value), |(low, high)| (low.min(value), high.max(value))))
        });
        let (low, high) = ends.unwrap_or(if is_log { (1.0, 10.0) } else { (0.0, 1.0) });
        let mut stretch =
            if is_log { ticks::log(low, high, self.is_percent) } else { ticks::linear(low, high, self.is_percent) };
        if !self.at.is_empty() {
            // With chosen ticks the points should fill the frame; a little air keeps markers off its edge.
            if !is_log && low < high {
                let air = 0.04 * (high - low);
                (stretch.low, stretch.high) = (low - air, high + air);
            }
            let text = |value: f64| readable(value, self.is_percent);
            stretch.ticks = self.at.iter().map(|at| Tick { at: *at, text: text(*at) }).collect();
        }
        stretch
    }

    /// A coordinate in words.
    pub(super) fn said(&self, value: f64) -> String {
        match &self.scale {
            Scale::Categories(names) => names.get(value.round().max(0.0) as usize).cloned().unwrap_or_default(),
            _ => readable(value, self.is_percent),
        }
    }
}

/// Beyond this nothing can be drawn.
const FAR: f64 = 1e100;

/// The visible part of an axis.
pub(super) struct Stretch {
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) is_log: bool,
    pub(super) ticks: Vec<Tick>,
}

impl Stretch {
    /// Where a value lies between the ends, from 0 to 1 (a little beyond for a value that is not visible).
    pub(super) fn share(&self, value: f64) -> f64 {
        let (low, high, value) =
            if self.is_log { (self.low.ln(), self.high.ln(), value.ln()) } else { (self.low, self.high, value) };
        if high > low { (value - low) / (high - low) } else { 0.5 }
    }
}

/// A number with about four digits.
pub(super) fn readable(value: f64, is_percent: bool) -> String {
    let (value, unit) = if is_percent { (100.0 * value, " %") } else { (value, "") };
    let size = value.abs();
    let text = if size == 0.0 {
        "0".to_owned()
    } else if !(1e-4..1e9).contains(&size) {
        format!("{value:.2e}")
    } else {
        // Percentages are read rather than compared, so three digits are enough.
        let digits = (if is_percent { 2 } else { 3 } - size.log10().floor() as i32).clamp(0, 8) as usize;
        ticks::grouped(&ticks::trimmed(format!("{value:.digits$}")))
    };
    text + unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_digits() {
        let cases = [(0.0, "0"), (2.0, "2"), (0.12345, "0.1235"), (1234.6, "1,235"), (1e12, "1.00e12"), (-3.5, "-3.5")];
        for (value, text) in cases {
            assert_eq!(readable(value, false), text);
        }
        assert_eq!(readable(0.25, true), "25 %");
    }

    #[test]
    fn a_stretch_holds_every_value_it_was_made_for() {
        for axis in [Axis::linear("x"), Axis::log("x"), Axis::linear("x").from_zero(), Axis::linear("x").percent()] {
            for values in [vec![3.0], vec![0.07, 0.41], vec![1e-9, 1e9], vec![99.0, 101.0]] {
                let stretch = axis.stretch(values.iter().copied());
                for value in values {
                    let share = stretch.share(value);
                    assert!((0.0..=1.0).contains(&share), "{axis:?}: {value} at {share}");
                }
            }
        }
    }

    #[test]
    fn categories_stand_in_the_middle_of_their_places() {
        let axis = Axis::categories("", ["a", "b"]);
        let stretch = axis.stretch(std::iter::empty());
        assert_eq!((stretch.share(0.0), stretch.share(1.0)), (0.25, 0.75));
        assert_eq!((axis.said(1.0), axis.shows(2.0)), ("b".into(), false));
    }

    #[test]
    fn what_cannot_be_drawn_is_not_shown() {
        assert!(!Axis::log("x").shows(0.0) && !Axis::log("x").shows(-1.0));
        assert!(!Axis::linear("x").shows(f64::NAN) && !Axis::linear("x").shows(f64::INFINITY));
    }

    #[test]
    fn chosen_ticks_are_the_ticks() {
        let stretch = Axis::linear("l").ticks_at([2.0, 10.0, f64::NAN]).stretch([2.0, 10.0].into_iter());
        let texts: Vec<&str> = stretch.ticks.iter().map(|tick| tick.text.as_str()).collect();
        assert_eq!(texts, ["2", "10"]);
    }
}
