//! Round numbers along an axis.

use super::axis::Stretch;

/// A place on an axis and what is written there.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tick {
    pub(super) at: f64,
    pub(super) text: String,
}

/// About this many steps, so that labels have room.
const STEPS: f64 = 6.0;

/// Steps of 1, 2, 2.5 or 5 times a power of ten, from the last below the low end to the first above the high one.
pub(super) fn linear(low: f64, high: f64, is_percent: bool) -> Stretch {
    let (low, high) = apart(low, high);
    let step = step((high - low) / STEPS);
    let (first, last) = ((low / step + 1e-9).floor(), (high / step - 1e-9).ceil());
    let shown = if is_percent { 100.0 * step } else { step };
    let text = |value: f64| {
        let value = if is_percent { 100.0 * value } else { value };
        let text = if !(1e-6..1e9).contains(&shown) { format!("{value:.2e}") } else { fixed(value, shown) };
        text + if is_percent { " %" } else { "" }
    };
    let n_steps = (last - first).clamp(1.0, 4.0 * STEPS) as u32;
    let ticks = (0..=n_steps).map(|n| (first + f64::from(n)) * step).map(|at| Tick { at, text: text(at) }).collect();
    Stretch { low: first * step, high: last * step, is_log: false, ticks }
}

/// Powers of ten; if these are few, also twice and five times each.
pub(super) fn log(low: f64, high: f64, is_percent: bool) -> Stretch {
    let text = |at: f64| if is_percent { power_text(100.0 * at) + " %" } else { power_text(at) };
    let (first, last) = (low.log10(), high.log10());
    let decades = last - first;
    let factors: &[f64] = if decades <= 3.0 { &[1.0, 2.0, 5.0] } else { &[1.0] };
    // Down and up to the next of these marks.
    let (from, to) = ((first - 1e-9).floor() as i32, (last + 1e-9).ceil() as i32);
    let marks: Vec<f64> =
        (from..=to).flat_map(|power| factors.iter().map(move |factor| factor * 10f64.powi(power))).collect();
    let below = marks.iter().copied().filter(|mark| *mark <= low * (1.0 + 1e-9)).fold(10f64.powi(from), f64::max);
    let above = marks.iter().copied().filter(|mark| *mark >= high * (1.0 - 1e-9)).fold(10f64.powi(to + 1), f64::min);
    let above = if above > below { above } else { 10.0 * below };
    let every = ((decades / (1.5 * STEPS)).ceil() as i32).max(1);
    let is_shown = |mark: &f64| {
        let inside = *mark >= below * (1.0 - 1e-9) && *mark <= above * (1.0 + 1e-9);
        inside && (every == 1 || (mark.log10().round() as i32).rem_euclid(every) == 0)
    };
    let mut ticks: Vec<Tick> = marks.into_iter().filter(is_shown).map(|at| Tick { at, text: text(at) }).collect();
    if ticks.len() < 2 {
        ticks = [below, above].map(|at| Tick { at, text: text(at) }).to_vec();
    }
    Stretch { low: below, high: above, is_log: true, ticks }
}

/// The ends of an axis, moved apart if they are equal.
fn apart(low: f64, high: f64) -> (f64, f64) {
    let least = 1e-9 * low.abs().max(high.abs());
    if high - low > least {
        (low, high)
    } else if low == 0.0 {
        (0.0, 1.0)
    } else {
        // One value: the axis shows it between zero and twice it.
        (low.min(0.0).min(2.0 * low), high.max(0.0).max(2.0 * high))
    }
}

fn step(wanted: f64) -> f64 {
    let power = 10f64.powf(wanted.log10().floor());
    let factor = wanted / power;
    let nice = [1.0, 2.0, 2.5, 5.0].into_iter().find(|nice| factor <= nice * (1.0 + 1e-9));
    nice.unwrap_or(10.0) * power
}

/// As many decimals as the step needs.
fn fixed(value: f64, step: f64) -> String {
    let decimals = (0..9).find(|&n| {
        let scaled = step * 10f64.powi(n);
        (scaled - scaled.round()).abs() < 1e-6 * scaled
    });
    let text = format!("{value:.*}", decimals.unwrap_or(9) as usize);
    let text = if text.trim_start_matches('-').chars().all(|letter| "0.".contains(letter)) { "0".into() } else { text };
    grouped(&text)
}

fn power_text(value: f64) -> String {
    if (1e-4..1e6).contains(&value) {
        return grouped(&trimmed(format!("{value:.6}")));
    }
    let power = value.log10().round() as i32;
    let raised = |digit: char| match digit {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        digit => char::from_u32('⁰' as u32 + digit.to_digit(10).unwrap_or(0)).unwrap_or(digit),
    };
    let factor = value / 10f64.powi(power);
    if (factor - 1.0).abs() < 1e-6 {
        format!("10{}", power.to_string().chars().map(raised).collect::<String>())
    } else {
        format!("{value:.0e}")
    }
}

/// Without zeros at the end.
pub(super) fn trimmed(text: String) -> String {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// A comma between thousands.
pub(super) fn grouped(text: &str) -> String {
    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
    let (whole, rest) = digits.find('.').map_or((digits, ""), |at| digits.split_at(at));
    let mut out = sign.to_owned();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(stretch: &Stretch) -> Vec<&str> {
        stretch.ticks.iter().map(|tick| tick.text.as_str()).collect()
    }

    #[test]
    fn linear_ticks_are_round() {
        assert_eq!(texts(&linear(0.0, 10.0, false)), ["0", "2", "4", "6", "8", "10"]);
        assert_eq!(texts(&linear(0.031, 0.274, false)), ["0", "0.05", "0.10", "0.15", "0.20", "0.25", "0.30"]);
        assert_eq!(texts(&linear(0.0, 1.0, true)), ["0 %", "20 %", "40 %", "60 %", "80 %", "100 %"]);
        assert_eq!(texts(&linear(-3.0, 3.0, false)), ["-3", "-2", "-1", "0", "1", "2", "3"]);
        assert_eq!(texts(&linear(0.0, 12_000.0, false)), ["0", "2,000", "4,000", "6,000", "8,000", "10,000", "12,000"]);
    }

    #[test]
    fn one_value_still_gets_an_axis() {
        for value in [0.0, 5.0, -5.0, 1e-7, 1e12] {
            let stretch = linear(value, value, false);
            assert!(stretch.low <= value && value <= stretch.high && stretch.low < stretch.high, "{value}");
            assert!(stretch.ticks.len() >= 2, "{value}");
        }
        let stretch = log(100.0, 100.0, false);
        assert!(stretch.low <= 100.0 && stretch.high > stretch.low && stretch.ticks.len() >= 2);
    }

    #[test]
    fn log_ticks_are_powers() {
        assert_eq!(texts(&log(0.01, 0.9, false)), ["0.01", "0.02", "0.05", "0.1", "0.2", "0.5", "1"]);
        assert_eq!(texts(&log(1.0, 1e5, false)), ["1", "10", "100", "1,000", "10,000", "100,000"]);
        assert_eq!(texts(&log(1e-6, 1.0, false))[0], "10⁻⁶");
        assert_eq!(texts(&log(0.02, 0.2, true)), ["2 %", "5 %", "10 %", "20 %"]);
    }

    #[test]
    fn extreme_ranges_have_few_ticks() {
        for (low, high) in [(1e-90, 1e90), (1.0, 1.0 + 1e-12), (-1e99, 1e99), (0.0, 1e-99)] {
            assert!(linear(low, high, false).ticks.len() <= 25, "{low} {high}");
            if low > 0.0 {
                assert!(log(low, high, false).ticks.len() <= 25, "{low} {high}");
            }
        }
    }
}
