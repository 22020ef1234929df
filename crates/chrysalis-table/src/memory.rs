//! How much memory may be used: readers compare a file's claims with it before they believe them.

use std::fmt;
use std::str::FromStr;

use crate::{Knob, Remedy};

const GB: u64 = 1_000_000_000;

/// An amount of allowed memory, such as `2GB`.
///
/// A file's claims are compared with it before anything is read: see [`Memory::allows`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Memory {
    bytes: u64,
}

impl Default for Memory {
    fn default() -> Self {
        Memory { bytes: 2 * GB }
    }
}

impl Memory {
    /// This many bytes.
    pub const fn of(bytes: u64) -> Self {
        Memory { bytes }
    }

    /// The amount in bytes.
    pub fn bytes(self) -> u64 {
        self.bytes
    }

    /// One of `n` equal parts.
    #[must_use]
    pub fn part(self, n: u64) -> Self {
        Memory { bytes: self.bytes / n.max(1) }
    }

    /// Whether this many bytes are within the amount.
    pub fn allows(self, bytes: u64) -> bool {
        bytes <= self.bytes
    }

    /// The remedy for a refusal: allow enough memory that one of `n` equal parts holds this many bytes.
    pub fn more(bytes: u64, n: u64) -> Remedy {
        Remedy::from("if you trust where it comes from, allow more with ")
            .knob(Knob::Memory, Memory::above(bytes.saturating_mul(n.max(1))).flag())
    }

    /// A round amount that is enough for this many bytes.
    fn above(bytes: u64) -> Self {
        let unit = if bytes > 10 * GB { GB } else { GB / 10 };
        Memory { bytes: bytes.div_ceil(unit).saturating_mul(unit) }
    }

    /// As it is typed: without a space.
    fn flag(self) -> String {
        self.to_string().replace(' ', "")
    }
}

/// `1.5 GB`, with at most one digit after the point.
impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // An amount that would round to 1000 of one unit is shown as 1 of the next.
        let (unit, name) = match self.bytes {
            0..1_000 => return write!(f, "{} bytes", self.bytes),
            1_000..999_950 => (1_000, "kB"),
            999_950..999_950_000 => (1_000_000, "MB"),
            _ => (GB, "GB"),
        };
        let unit = u128::from(unit);
        let tenths = (u128::from(self.bytes) * 10 + unit / 2) / unit;
        match tenths % 10 {
            0 => write!(f, "{} {name}", tenths / 10),
            rest => write!(f, "{}.{rest} {name}", tenths / 10),
        }
    }
}

impl FromStr for Memory {
    type Err = String;

    /// Reads `500MB`, `2GB` or `1.5 gb`.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("expected an amount such as 500MB, 2GB or 1.5GB, found `{text}`");
        let trimmed = text.trim();
        let end = trimmed.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(trimmed.len());
        let (number, unit) = trimmed.split_at(end);
        let unit: u64 = match unit.trim_start().to_ascii_lowercase().as_str() {
            "kb" => 1_000,
            "mb" => 1_000_000,
            "gb" => GB,
            "tb" => 1_000 * GB,
            _ => return Err(wrong()),
        };
        let (whole, part) = number.split_once('.').unwrap_or((number, ""));
        if whole.is_empty() || part.len() > 9 || part.contains('.') || (part.is_empty() && number.contains('.')) {
            return Err(wrong());
        }
        let digits: u128 = format!("{whole}{part}").parse().map_err(|_| wrong())?;
        let bytes = digits.checked_mul(u128::from(unit)).ok_or_else(wrong)? / 10_u128.pow(part.len() as u32);
        let bytes = u64::try_from(bytes).map_err(|_| wrong())?;
        if bytes == 0 { Err(wrong()) } else { Ok(Memory { bytes }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_as_people_write_them() {
        let check = |text: &str, bytes: u64| assert_eq!(text.parse(), Ok(Memory { bytes }), "{text}");
        check("500MB", 500_000_000);
        check("2GB", 2_000_000_000);
        check("1.5GB", 1_500_000_000);
        check(" 0.25 tb ", 250_000_000_000);
        check("64kb", 64_000);
        for text in ["", "GB", "2", "-1GB", "1.GB", ".5GB", "1.2.3GB", "2 GiB", "2G", "0MB", "0.0000001kB", "1e3MB"] {
            let said = text.parse::<Memory>().unwrap_err();
            assert_eq!(said, format!("expected an amount such as 500MB, 2GB or 1.5GB, found `{text}`"));
        }
        assert!("99999999999999999999TB".parse::<Memory>().is_err());
    }

    #[test]
    fn amounts_are_shown_short() {
        let check = |bytes: u64, text: &str| assert_eq!(Memory { bytes }.to_string(), text);
        check(12, "12 bytes");
        check(64_000, "64 kB");
        check(999_950, "1 MB");
        check(999_960_000, "1 GB");
        check(1_250_000, "1.3 MB");
        check(2_000_000_000, "2 GB");
        assert_eq!(Memory::default().to_string(), "2 GB");
        check(u64::MAX, "18446744073.7 GB");
    }

    #[test]
    fn a_refusal_names_an_amount_that_is_enough() {
        let check = |bytes: u64, n: u64, text: &str| {
            assert_eq!(Memory::more(bytes, n), *format!("if you trust where it comes from, allow more with {text}"));
        };
        check(2_010_000_000, 1, "`memory = 2.1GB`");
        check(63_000_000, 32, "`memory = 2.1GB`");
        check(11_500_000_001, 1, "`memory = 12GB`");
        assert!(Memory::above(2_010_000_000).allows(2_010_000_000));
    }
}
