//! Where the values of a Parquet page end: bytes after them belong to nothing, and no reader looks there.

/// How the values of a page are written, as far as it determines their length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plain {
    /// This many bytes each.
    Fixed(usize),
    /// A length in four bytes, and then that many bytes.
    Texts,
}

impl Plain {
    /// For a physical type of the format; `None` for types that no table of ours has.
    pub(super) fn of_type(number: i64) -> Option<Plain> {
        match number {
            1 | 4 => Some(Plain::Fixed(4)),
            2 | 5 => Some(Plain::Fixed(8)),
            6 => Some(Plain::Texts),
            _ => None,
        }
    }

    /// Whether the bytes are exactly `n` values.
    pub(super) fn fills(self, bytes: &[u8], n: usize) -> bool {
        match self {
            Plain::Fixed(width) => n.checked_mul(width) == Some(bytes.len()),
            Plain::Texts => {
                let mut rest = bytes;
                for _ in 0..n {
                    let Some(after) = rest.get(..4).and_then(|length| {
                        let length = length.iter().rev().fold(0, |sum, byte| sum << 8 | usize::from(*byte));
                        rest.get(4 + length..)
                    }) else {
                        return false;
                    };
                    rest = after;
                }
                rest.is_empty()
            }
        }
    }
}

/// Splits off the levels that say which rows have a value: four bytes with their length, then runs of one bit each.
/// `None` if they are not exactly `n` levels.
pub(super) fn without_levels(bytes: &[u8], n: usize) -> Option<&[u8]> {
    let length = bytes.get(..4)?.iter().rev().fold(0, |sum, byte| sum << 8 | usize::from(*byte));
    let (levels, values) = bytes.get(4..)?.split_at_checked(length)?;
    (runs_end(levels, 1, n)? == levels.len()).then_some(values)
}

/// Whether the bytes are exactly `n` places in a dictionary: a byte for the width, then runs.
pub(super) fn are_places(bytes: &[u8], n: usize) -> bool {
    let Some((&width, runs)) = bytes.split_first() else { return n == 0 };
    width <= 32 && runs_end(runs, usize::from(width), n) == Some(runs.len())
}

/// Where the runs of `n` numbers end. A run repeats one number, or packs numbers tightly, eight at a time; unused bits
/// of the last eight are zero.
fn runs_end(bytes: &[u8], width: usize, n: usize) -> Option<usize> {
    let (mut at, mut left) = (0, n);
    while left > 0 {
        let header = varint(bytes, &mut at)?;
        let count = usize::try_from(header >> 1).ok()?;
        if header & 1 == 0 {
            if count == 0 || count > left {
                return None;
            }
            at = at.checked_add(width.div_ceil(8))?;
            left -= count;
        } else {
            let (numbers, length) = (count.checked_mul(8)?, count.checked_mul(width)?);
            if count == 0 || numbers >= left.checked_add(8)? {
                return None;
            }
            let packed = bytes.get(at..at.checked_add(length)?)?;
            let used = numbers.min(left) * width;
            let is_clear = |bit: usize| packed[bit / 8] >> (bit % 8) & 1 == 0;
            if !(used..8 * length).all(is_clear) {
                return None;
            }
            at += length;
            left -= numbers.min(left);
        }
        if at > bytes.len() {
            return None;
        }
    }
    Some(at)
}

fn varint(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let mut number = 0;
    for shift in (0..35).step_by(7) {
        let byte = *bytes.get(*at)?;
        *at += 1;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return (byte != 0 || shift == 0).then_some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_end_where_the_numbers_do() {
        // Three times a number of one byte, then eight of three bits, of which five are used.
        let packed = [0b1000_1000, 0b0100_0110, 0];
        let runs = [&[3 << 1, 7, 1 << 1 | 1][..], &packed].concat();
        assert_eq!(runs_end(&runs, 3, 8), Some(6));
        assert_eq!(runs_end(&runs, 3, 11), Some(6));
        assert_eq!(runs_end(&runs, 3, 3), Some(2));
        assert_eq!(runs_end(&runs, 3, 12), None, "too few");
        assert_eq!(runs_end(&runs, 3, 2), None, "a run that goes on");
        let forged = [&[3 << 1, 7, 1 << 1 | 1][..], &[0b1000_1000, 0b0100_0110, 0x80]].concat();
        assert_eq!((runs_end(&forged, 3, 11), runs_end(&forged, 3, 8)), (Some(6), None), "bits behind the last number");
        assert_eq!(runs_end(&[3 << 1], 3, 3), None, "no number");
        assert_eq!(runs_end(&[0, 1], 1, 1), None, "a run of nothing");
        assert_eq!(runs_end(&[0xff, 0xff, 0xff, 0xff, 0x1f], 32, usize::MAX), None);
        assert!(are_places(&[3, 3 << 1, 7], 3) && !are_places(&[3, 3 << 1, 7, 0], 3) && !are_places(&[33], 0));
        assert!(are_places(&[], 0) && are_places(&[0], 0) && !are_places(&[], 1));
    }

    #[test]
    fn values_and_levels_fill_their_page() {
        assert!(Plain::Fixed(4).fills(&[0; 8], 2) && !Plain::Fixed(4).fills(&[0; 9], 2));
        let texts = [2, 0, 0, 0, b'a', b'b', 0, 0, 0, 0];
        assert!(Plain::Texts.fills(&texts, 2) && !Plain::Texts.fills(&texts, 1) && !Plain::Texts.fills(&texts, 3));
        assert!(!Plain::Texts.fills(&[255; 4], 1));
        let page = [2, 0, 0, 0, 3 << 1, 1, 9, 9];
        assert_eq!(without_levels(&page, 3), Some(&[9, 9][..]));
        assert_eq!(without_levels(&page, 2), None);
        assert_eq!(without_levels(&[9, 0, 0, 0, 6, 1], 3), None);
        assert_eq!((Plain::of_type(6), Plain::of_type(0)), (Some(Plain::Texts), None));
    }
}
