//! What every form says of one attribute, in one shape: each row has a label, each label is a distribution of values.
//!
//! | form | a row's label | its distribution |
//! |---|---|---|
//! | exact values | the value | that value |
//! | permuted column | the group | the group's values |
//! | ranges and labels | the label | its points, all alike |
//! | sensitive values | the group or batch | its values |
//!
//! Given the labels of a row, its attributes are independent of each other: that is all a reader knows.

use chrysalis_release::{GROUP_ID, Release, RoleName, angelized};
use chrysalis_table::{Code, Column, Table};

use crate::EvaluateError;
use crate::boxes::Distributions;
use crate::coverage::{Coverage, Label, find};
use crate::permuted::histograms;
use crate::universe::translated;

/// One attribute of a published table, in codes of the microdata.
pub(crate) struct Blurred {
    /// The label of every row.
    pub(crate) of_row: Vec<u32>,
    /// What each label says.
    pub(crate) labels: Vec<Spread>,
}

/// A distribution over codes. It may sum to less than 1: the rest lies on values that nobody has.
pub(crate) enum Spread {
    /// The same share for every code from one to another.
    Even { first: Code, last: Code, each: f64 },
    /// Codes with their shares.
    Listed(Vec<(Code, f64)>),
}

impl Blurred {
    /// `column` is the attribute's column in the microdata.
    pub(crate) fn new(release: &Release, table: &str, name: &str, column: &Column) -> Result<Self, EvaluateError> {
        let rows = (table, release.table(table)?);
        let lacks = || EvaluateError::MissingColumn { column: name.to_owned() };
        let attribute = release.manifest.attribute(name).ok_or_else(lacks)?;
        let method = release.manifest.method.as_str();
        if attribute.role == RoleName::Sensitive {
            let group_id = if method == "angel" { angelized::BATCH_ID } else { GROUP_ID };
            let groups = Distributions::new(release, rows, group_id, column)?;
            return Ok(Blurred {
                of_row: groups.of_row,
                labels: groups.shares.into_iter().map(Spread::Listed).collect(),
            });
        }
        match method {
            "generalize" | "butterfly" | "angel" => {
                let Coverage { labels, of_row } = Coverage::new(release, rows, attribute, column)?;
                Ok(Blurred { of_row, labels: labels.into_iter().map(Spread::of_label).collect() })
            }
            "permute" => permuted(rows, name, column),
            _ => {
                let shown = find(rows, name)?;
                let one = |code: Option<Code>| Spread::Listed(code.map(|code| (code, 1.0)).into_iter().collect());
                Ok(Blurred {
                    of_row: shown.codes().iter().collect(),
                    labels: translated(shown, column).into_iter().map(one).collect(),
                })
            }
        }
    }

    /// How many rows have each label.
    pub(crate) fn counts(&self) -> Vec<f64> {
        crate::boxes::sizes(&self.of_row, self.labels.len())
    }
}

fn permuted(rows: (&str, &Table), name: &str, column: &Column) -> Result<Blurred, EvaluateError> {
    let (ids, shown) = (find(rows, GROUP_ID)?, find(rows, name)?);
    let of_row: Vec<u32> = ids.codes().iter().collect();
    let sizes = crate::boxes::sizes(&of_row, ids.domain().len());
    let counted = histograms(&of_row, sizes.len(), shown, &translated(shown, column));
    let share = |(mut counted, size): (Vec<(Code, f64)>, &f64)| {
        counted.iter_mut().for_each(|(_, count)| *count /= size);
        Spread::Listed(counted)
    };
    Ok(Blurred { labels: counted.into_iter().zip(&sizes).map(share).collect(), of_row })
}

impl Spread {
    fn of_label(label: Label) -> Spread {
        let each = 1.0 / label.points;
        match label.codes {
            Some(codes) => Spread::Listed(codes.into_iter().map(|code| (code, each)).collect()),
            None => Spread::Even { first: label.ends.0, last: label.ends.1, each },
        }
    }

    /// Calls `visit` with the buckets that have a part of it, and how large the part is.
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

/// Codes that follow each other, put together where there are too many to tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Buckets {
    n_codes: u64,
    n: u64,
}

impl Buckets {
    /// At most `most` buckets, equally wide but for one code.
    pub(crate) fn new(n_codes: usize, most: usize) -> Self {
        Buckets { n_codes: n_codes as u64, n: n_codes.min(most) as u64 }
    }

    /// How many there are.
    pub(crate) fn len(self) -> usize {
        self.n as usize
    }

    /// Whether some hold several codes.
    pub(crate) fn is_coarse(self) -> bool {
        self.n < self.n_codes
    }

    /// The bucket of a code.
    pub(crate) fn of(self, code: Code) -> usize {
        (u64::from(code) * self.n / self.n_codes) as usize
    }

    /// The first code of a bucket; of the one after the last, the number of codes.
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
