//! What a release says about one attribute: each row has a label, and each label is a distribution of values.
//!
//! | shown as | a row's label | its distribution |
//! |---|---|---|
//! | exact values | the value | that value |
//! | permuted column | the group | the group's values |
//! | ranges and labels | the label | its points, all equally likely |
//! | sensitive values | the group or batch | its values |
//!
//! Given a row's labels, its attributes are independent of each other: a reader knows nothing more.

use chrysalis_release::{Detail, RoleName, View};
use chrysalis_table::{Code, Column};

use crate::boxes::Distributions;
use crate::coverage::{Coverage, Label};
use crate::permuted::histograms;
use crate::universe::translated;
use crate::{EvaluateError, opened};

/// One attribute of a published table, in codes of the microdata.
pub(crate) struct AttributeView {
    /// The label of every row, group by group.
    pub(crate) of_row: Vec<u32>,
    /// The distribution of each label.
    pub(crate) labels: Vec<Spread>,
}

/// A distribution over codes. It may sum to less than 1: the rest lies on values that do not occur in the microdata.
pub(crate) enum Spread {
    /// The same share for every code from `first` to `last`.
    Even { first: Code, last: Code, each: f64 },
    /// Each code with its share.
    Listed(Vec<(Code, f64)>),
}

impl AttributeView {
    /// `column` is the attribute's column in the microdata.
    pub(crate) fn new(view: &View, table: &str, field: usize, column: &Column) -> Result<Self, EvaluateError> {
        if view.fields[field].role == RoleName::Sensitive {
            let Distributions { of_row, shares } = Distributions::new(view, column)?;
            return Ok(AttributeView { of_row, labels: shares.into_iter().map(Spread::Listed).collect() });
        }
        match view.layout.shape.detail {
            Detail::Exact => exact(view, field, column),
            Detail::Permuted => permuted(view, field, column),
            Detail::GroupBoxes | Detail::RowBoxes => {
                let Coverage { labels, of_row } = Coverage::new(view, table, field, column)?;
                Ok(AttributeView { of_row, labels: labels.into_iter().map(Spread::of_label).collect() })
            }
        }
    }

    /// How many rows have each label.
    pub(crate) fn counts(&self) -> Vec<f64> {
        let mut counts = vec![0.0; self.labels.len()];
        self.of_row.iter().for_each(|&label| counts[label as usize] += 1.0);
        counts
    }
}

fn exact(view: &View, field: usize, column: &Column) -> Result<AttributeView, EvaluateError> {
    let shown = opened::column(view, field)?;
    let one = |code: Option<Code>| Spread::Listed(code.map(|code| (code, 1.0)).into_iter().collect());
    Ok(AttributeView {
        of_row: shown.codes.iter().collect(),
        labels: translated(&shown.domain, column).into_iter().map(one).collect(),
    })
}

fn permuted(view: &View, field: usize, column: &Column) -> Result<AttributeView, EvaluateError> {
    let shown = opened::column(view, field)?;
    let counted = histograms(&view.groups, shown, &translated(&shown.domain, column));
    let share = |(group, mut counted): (usize, Vec<(Code, f64)>)| {
        let size = f64::from(view.groups.size(group));
        counted.iter_mut().for_each(|(_, count)| *count /= size);
        Spread::Listed(counted)
    };
    Ok(AttributeView {
        of_row: view.groups.of_rows_in_order(),
        labels: counted.into_iter().enumerate().map(share).collect(),
    })
}

impl Spread {
    fn of_label(label: Label) -> Spread {
        let each = 1.0 / label.points;
        match label.codes {
            Some(codes) => Spread::Listed(codes.into_iter().map(|code| (code, each)).collect()),
            None => Spread::Even { first: label.ends.0, last: label.ends.1, each },
        }
    }

    /// Calls `visit` with every bucket that has a part of the distribution, and the size of that part.
    pub(crate) fn visit(&self, buckets: Buckets, mut visit: impl FnMut(usize, f64)) {
        match self {
            Spread::Listed(codes) => codes.iter().for_each(|&(code, share)| visit(buckets.of(code), share)),
            Spread::Even { first, last, .. } if first > last => {}
            Spread::Even { first, last, each } => {
                for bucket in buckets.of(*first)..=buckets.of(*last) {
                    let (from, to) = (buckets.start(bucket).max(*first), buckets.start(bucket + 1).min(last + 1));
                    visit(bucket, f64::from(to - from) * each);
                }
            }
        }
    }
}

/// Consecutive codes, merged into buckets where there are too many to keep apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Buckets {
    n_codes: u64,
    n: u64,
}

impl Buckets {
    /// At most `most` buckets, whose widths differ by at most one code.
    pub(crate) fn new(n_codes: usize, most: usize) -> Self {
        Buckets { n_codes: n_codes as u64, n: n_codes.min(most) as u64 }
    }

    /// How many there are.
    pub(crate) fn len(self) -> usize {
        self.n as usize
    }

    /// Whether some buckets hold several codes.
    pub(crate) fn is_coarse(self) -> bool {
        self.n < self.n_codes
    }

    /// The bucket of a code.
    pub(crate) fn of(self, code: Code) -> usize {
        (u64::from(code) * self.n / self.n_codes) as usize
    }

    /// The first code of a bucket; for the place after the last bucket, the number of codes.
    fn start(self, bucket: usize) -> Code {
        (bucket as u64 * self.n_codes).div_ceil(self.n) as Code
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_cover_all_codes_in_order() {
        for (n_codes, most) in [(1, 4), (4, 4), (5, 4), (11, 4), (1000, 7)] {
            let buckets = Buckets::new(n_codes, most);
            assert_eq!(buckets.start(buckets.len()), n_codes as Code);
            for bucket in 0..buckets.len() {
                let codes = buckets.start(bucket)..buckets.start(bucket + 1);
                assert!(!codes.is_empty() && codes.into_iter().all(|code| buckets.of(code) == bucket));
            }
        }
    }

    #[test]
    fn an_even_spread_fills_the_buckets_it_reaches_into() {
        let spread = Spread::Even { first: 2, last: 6, each: 0.1 };
        let mut found = Vec::new();
        spread.visit(Buckets::new(8, 2), |bucket, share| found.push((bucket, (share * 10.0).round())));
        assert_eq!(found, [(0, 2.0), (1, 3.0)]);
        Spread::Even { first: 1, last: 0, each: 1.0 }.visit(Buckets::new(8, 2), |_, _| panic!("it covers nothing"));
    }
}
