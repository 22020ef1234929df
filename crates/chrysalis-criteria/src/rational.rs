use num_rational::Ratio;

/// An exact parameter. Numerator and denominator stay below 10¹⁸, so products with counts fit 128 bits.
pub type Rational = Ratio<u64>;

const MAX_WHOLE_DIGITS: usize = 9;
const MAX_FRACTION_DIGITS: usize = 9;

/// Reads `3`, `0.25` or `36/49` exactly; `None` for anything else, negative numbers included.
pub fn parse_rational(text: &str) -> Option<Rational> {
    if let Some((numerator, denominator)) = text.split_once('/') {
        let denominator = whole(denominator)?;
        return if denominator == 0 { None } else { Some(Ratio::new(whole(numerator)?, denominator)) };
    }
    let (integer, fraction) = text.split_once('.').unwrap_or((text, ""));
    if fraction.len() > MAX_FRACTION_DIGITS || text.ends_with('.') {
        return None;
    }
    let scale = 10u64.pow(u32::try_from(fraction.len()).ok()?);
    let integer = if integer.is_empty() && !fraction.is_empty() { 0 } else { whole(integer)? };
    let fraction = if fraction.is_empty() { 0 } else { whole(fraction)? };
    Some(Ratio::new(integer * scale + fraction, scale))
}

fn whole(text: &str) -> Option<u64> {
    let plain = !text.is_empty() && text.len() <= MAX_WHOLE_DIGITS && text.bytes().all(|byte| byte.is_ascii_digit());
    if plain { text.parse().ok() } else { None }
}

/// Writes a rational as a decimal where that is exact, as a fraction otherwise.
pub fn show_rational(number: Rational) -> String {
    let (numerator, denominator) = (*number.numer(), *number.denom());
    let scale = (0..=9u32).map(|digits| (digits, 10u64.pow(digits))).find(|(_, scale)| scale % denominator == 0);
    match scale {
        None => format!("{numerator}/{denominator}"),
        Some((0, _)) => numerator.to_string(),
        Some((digits, scale)) => {
            let scaled = u128::from(numerator) * u128::from(scale / denominator);
            let (whole, fraction) = (scaled / u128::from(scale), scaled % u128::from(scale));
            format!("{whole}.{fraction:0width$}", width = digits as usize)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_and_fractions_are_exact_both_ways() {
        for (text, numerator, denominator) in
            [("3", 3, 1), ("0.25", 1, 4), (".5", 1, 2), ("36/49", 36, 49), ("1.50", 3, 2)]
        {
            assert_eq!(parse_rational(text), Some(Ratio::new(numerator, denominator)), "{text}");
        }
        for text in ["", "-1", "1e3", "1.", "x", "1/0", "0.1234567891", "12345678901", "+1", "1/2/3", "."] {
            assert_eq!(parse_rational(text), None, "{text}");
        }
        for text in ["3", "0.25", "36/49", "1.5", "0.000000001"] {
            assert_eq!(show_rational(parse_rational(text).unwrap()), text);
        }
    }
}
