//! By how much the counts of sensitive values differ between two releases: the difference reveals the values of people
//! who joined or left.

use std::collections::BTreeMap;

use chrysalis_release::{Attribute, Release};

use crate::columns::only_sensitive;

/// The difference of the counts of two releases, added up over all values. `None` where there are several others, or a
/// manifest has no counts.
pub(super) fn differ_by(release: &Release, others: &[(&str, &Release)]) -> Option<u64> {
    let [(_, other)] = others else { return None };
    let sensitive = |release| only_sensitive(release).ok().flatten();
    let (own, other) = (sensitive(&release.manifest)?, sensitive(&other.manifest)?);
    let mut counts: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for (value, n) in listed(own)? {
        counts.entry(value).or_default().0 += n;
    }
    for (value, n) in listed(other)? {
        counts.entry(value).or_default().1 += n;
    }
    Some(counts.values().map(|(own, other)| own.abs_diff(*other)).fold(0, u64::saturating_add))
}

/// How often every value occurs, as the manifest says; the check `sensitive values` makes sure that this is true.
fn listed(attribute: &Attribute) -> Option<impl Iterator<Item = (String, u64)> + '_> {
    let (values, counts) = (attribute.domain.values.as_ref()?, attribute.domain.counts.as_ref()?);
    Some(values.iter().map(ToString::to_string).zip(counts.iter().copied()))
}

#[cfg(test)]
mod tests {
    use chrysalis_release::Form;
    use chrysalis_table::{Column, Table};

    use super::*;
    use crate::attack::tests::{verbatim, words};
    use crate::intersect;

    fn release(values: &[u64]) -> Release {
        let ages: Vec<i64> = (0..values.len() as i64).collect();
        let table = Table::new(vec![Column::integers("age", &ages), words("disease", "d", values)]);
        verbatim(Form::Anatomy, &table, &vec![1; values.len()], &["distinct-l=2"])
    }

    /// What the audit says about two releases, after comparing their difference with one counted value by value.
    fn check(one: &[u64], other: &[u64]) -> (u64, String) {
        let (_, found) = intersect(&release(one), &release(other), "the other", None).unwrap();
        let n = |all: &[u64], value: u64| all.iter().filter(|known| **known == value).count() as u64;
        let expected = (0..10).map(|value| n(one, value).abs_diff(n(other, value))).sum();
        assert_eq!(found.counts_differ_by, Some(expected));
        (expected, found.finding().sentence)
    }

    #[test]
    fn who_comes_or_leaves_takes_the_difference_along() {
        let (n, said) = check(&[1, 1, 2, 3], &[3, 2, 1, 1]);
        assert!(n == 0 && !said.contains("between the two releases"), "{said}");
        for other in [&[1, 1, 2][..], &[1, 1, 2, 3, 3], &[1, 1, 2, 3, 4]] {
            let (n, said) = check(&[1, 1, 2, 3], other);
            assert!(n == 1 && said.contains("One sensitive value came or went"), "{said}");
        }
        for other in [&[1, 1, 2, 2][..], &[1, 1, 2, 7], &[1, 2], &[1, 1, 2, 3, 3, 3]] {
            let (n, said) = check(&[1, 1, 2, 3], other);
            assert!(n == 2 && said.contains("Two sensitive values came or went"), "{said}");
        }
        let (n, said) = check(&[1, 1, 2, 3], &[5, 6, 7]);
        assert!(n == 7 && !said.contains("between the two releases"), "{said}");
    }

    #[test]
    fn several_others_at_once_have_no_difference() {
        let [one, two, three] = [&[1, 2][..], &[1, 2, 3], &[1, 2]].map(release);
        let others = [("two", &two), ("three", &three)];
        let (_, found) = crate::intersect_all(&one, &others, None, &chrysalis_table::Unwatched).unwrap();
        assert_eq!(found.counts_differ_by, None);
        let (_, found) = intersect(&one, &two, "two", None).unwrap();
        assert!(found.finding().prevention.starts_with("handing out the same release again"));
    }
}
