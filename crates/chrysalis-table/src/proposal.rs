//! Taxonomies for columns that have none: a starting point for the owner to edit.

use std::collections::BTreeSet;

use crate::{Code, Column, Kind, TaxonomyError, TaxonomyFile, Value};

/// The most groups at the finest level.
const MOST_GROUPS: usize = 16;
/// Whole numbers of equal length with at least this many digits are taken for codes.
const DIGITS_OF_A_CODE: usize = 5;

/// How a proposed taxonomy groups values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grouping {
    /// Numbers and dates between quantiles.
    Intervals,
    /// Codes by their first characters.
    Prefixes,
    /// Words next to each other in the alphabet, with about equally many rows in every group.
    Neighbours,
}

impl Grouping {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Grouping::Intervals => "intervals",
            Grouping::Prefixes => "prefixes",
            Grouping::Neighbours => "neighbours",
        }
    }
}

/// A taxonomy for a column that was read as words, so that its leaves are spelled as in the file.
///
/// `kind` is what the owner says the words are; inferred when absent. The result fits the column whether it is later
/// read as words or as that kind.
pub fn propose(column: &Column, kind: Option<Kind>) -> Result<(TaxonomyFile, Grouping), TaxonomyError> {
    let domain = column.domain();
    let histogram = column.histogram();
    let codes = Code::from(domain.has_missing())..domain.len() as Code;
    let mut leaves: Vec<Leaf> = codes
        .map(|code| Leaf { text: domain.text(code).into_owned(), rows: histogram[code as usize], place: None })
        .collect();
    let unfit = |leaf: &&Leaf| leaf.text.contains([';', '\u{feff}']) || leaf.text.trim() != leaf.text;
    if let Some(leaf) = leaves.iter().find(unfit) {
        return Err(TaxonomyError::Unwritable { value: leaf.text.clone() });
    }
    let is_given = kind.is_some();
    let kind = kind.unwrap_or_else(|| Value::infer(leaves.iter().map(|leaf| leaf.text.as_str())));
    let is_number = kind.has_distances();
    let digits =
        |leaf: &Leaf| leaf.text.len() >= DIGITS_OF_A_CODE && leaf.text.bytes().all(|byte| byte.is_ascii_digit());
    let (lines, grouping) = if has_codes(&leaves) && (!is_number || !is_given && leaves.iter().all(digits)) {
        (prefixes(&leaves), Grouping::Prefixes)
    } else if is_number {
        leaves.iter_mut().for_each(|leaf| leaf.place = Value::parse(kind, &leaf.text));
        if let Some(leaf) = leaves.iter().find(|leaf| leaf.place.is_none()) {
            return Err(TaxonomyError::NotOfKind { value: leaf.text.clone(), kind });
        }
        leaves.sort_by(|a, b| (&a.place, &a.text).cmp(&(&b.place, &b.text)));
        (nested(&leaves), Grouping::Intervals)
    } else {
        (nested(&leaves), Grouping::Neighbours)
    };
    Ok((TaxonomyFile::from_lines(&lines)?, grouping))
}

/// One value of the column.
struct Leaf {
    text: String,
    rows: u64,
    /// The parsed value, for numbers and dates only.
    place: Option<Value>,
}

/// Whether the leaves are codes: words of one length, each with a digit, without masks, spaces, hyphens and colons.
fn has_codes(leaves: &[Leaf]) -> bool {
    let length = |leaf: &Leaf| leaf.text.chars().count();
    let first = leaves.first().map_or(0, length);
    let is_code = |leaf: &Leaf| {
        let has_digit = leaf.text.chars().any(|letter| letter.is_ascii_digit());
        length(leaf) == first && has_digit && !leaf.text.contains(['*', ' ', '-', ':'])
    };
    (2..=60).contains(&first) && leaves.len() > 1 && leaves.iter().all(is_code)
}

fn prefixes(leaves: &[Leaf]) -> Vec<Vec<String>> {
    let line = |leaf: &Leaf| {
        let letters: Vec<char> = leaf.text.chars().collect();
        let masked = |kept: usize| -> String {
            letters[..kept].iter().copied().chain(std::iter::repeat_n('*', letters.len() - kept)).collect()
        };
        let inner = (1..letters.len()).rev().map(masked);
        std::iter::once(leaf.text.clone()).chain(inner).chain(["*".to_owned()]).collect()
    };
    leaves.iter().map(line).collect()
}

/// Groups of neighbouring leaves, then pairs of groups, up to a single one.
fn nested(leaves: &[Leaf]) -> Vec<Vec<String>> {
    let mut groups = quantiles(leaves);
    let texts: BTreeSet<&str> = leaves.iter().map(|leaf| leaf.text.as_str()).collect();
    let mut lines: Vec<Vec<String>> = leaves.iter().map(|leaf| vec![leaf.text.clone()]).collect();
    while groups.iter().max().is_some_and(|last| *last > 0) {
        let labels = labels(leaves, &groups, &texts);
        lines.iter_mut().zip(&groups).for_each(|(line, &group)| line.push(labels[group].clone()));
        groups.iter_mut().for_each(|group| *group /= 2);
    }
    let root = ["*", "(all)", "((all))"].into_iter().find(|root| !texts.contains(root)).unwrap_or("*");
    lines.iter_mut().for_each(|line| line.push(root.to_owned()));
    lines
}

/// The group of every leaf. Groups are contiguous, at most half as many as leaves, and have about equally many rows.
fn quantiles(leaves: &[Leaf]) -> Vec<usize> {
    let most = leaves.len() / 2;
    let n_groups = (0..).map(|power| 1usize << power).take_while(|n| *n <= most.min(MOST_GROUPS)).last().unwrap_or(1);
    let rows: u64 = leaves.iter().map(|leaf| leaf.rows).sum();
    let mut groups = Vec::with_capacity(leaves.len());
    let (mut before, mut group) = (0u64, 0);
    let mut share = None;
    for (at, leaf) in leaves.iter().enumerate() {
        // A leaf belongs to the quantile that holds the middle of its rows; quantiles without a leaf get no group.
        let middle = u128::from(before) * 2 + u128::from(leaf.rows);
        let quantile = middle * n_groups as u128 / (2 * u128::from(rows.max(1)));
        // Two spellings of one number stay together.
        let is_same = at > 0 && leaf.place.is_some() && leaf.place == leaves[at - 1].place;
        group += usize::from(share.is_some_and(|known| known != quantile) && !is_same);
        share = Some(quantile);
        groups.push(group);
        before += leaf.rows;
    }
    groups
}

/// `first..last`, or the value itself for a group of one.
fn labels(leaves: &[Leaf], groups: &[usize], texts: &BTreeSet<&str>) -> Vec<String> {
    let n_groups = groups.last().map_or(0, |last| last + 1);
    let label = |group: usize| {
        let start = groups.partition_point(|&known| known < group);
        let end = groups.partition_point(|&known| known <= group);
        let (first, last) = (&leaves[start].text, &leaves[end - 1].text);
        if end - start == 1 {
            return first.clone();
        }
        let label = format!("{first}..{last}");
        if texts.contains(label.as_str()) { format!("[{label}]") } else { label }
    };
    (0..n_groups).map(label).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(column: &Column, kind: Option<Kind>) -> (Vec<String>, Grouping) {
        let (file, grouping) = propose(column, kind).unwrap();
        (file.lines().map(|line| line.join(";")).collect(), grouping)
    }

    #[test]
    fn numbers_fall_between_quantiles() {
        let ages = ["20", "20", "21", "30", "31", "40", "41", "50", "9"];
        let (lines, grouping) = lines(&Column::texts("age", ages.into_iter()), None);
        assert_eq!(grouping, Grouping::Intervals);
        assert_eq!(lines[0], "9;9..20;9..21;*");
        assert_eq!(lines[2], "21;21;9..21;*", "a group of one is the value itself");
        assert_eq!(lines[7], "50;41..50;30..50;*");
    }

    #[test]
    fn codes_are_masked_and_words_stand_beside_each_other() {
        let zips = Column::texts("zip", ["01234", "01299", "99999"].into_iter());
        let (masked, grouping) = lines(&zips, None);
        assert_eq!((masked[0].as_str(), grouping), ("01234;0123*;012**;01***;0****;*", Grouping::Prefixes));
        let zips = Column::texts("zip", ["11234", "11299"].into_iter());
        assert_eq!(lines(&zips, None).1, Grouping::Prefixes);
        assert_eq!(lines(&zips, Some(Kind::Integer)).1, Grouping::Intervals, "the owner knows better");
        let words = Column::texts("city", ["a", "b", "c", "d", "d", "d", "d", "d", "d"].into_iter());
        let (words, grouping) = lines(&words, None);
        assert_eq!(
            (words, grouping),
            (vec!["a;a..c;*".into(), "b;a..c;*".into(), "c;a..c;*".into(), "d;d;*".into()], Grouping::Neighbours)
        );
    }

    #[test]
    fn values_that_a_file_cannot_hold_are_refused() {
        for value in ["a;b", " a", "a\u{1b}"] {
            let column = Column::texts("word", [value, "c"].into_iter());
            assert!(propose(&column, None).is_err(), "{value:?}");
        }
        assert!(propose(&Column::texts("word", ["x"].into_iter()), Some(Kind::Integer)).is_err());
        assert_eq!(lines(&Column::texts("word", ["*", "b"].into_iter()), None).0, ["*;(all)", "b;(all)"]);
    }
}
