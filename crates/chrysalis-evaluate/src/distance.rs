//! How far the distribution that a reader would rebuild is from the microdata, attribute by attribute and pair by pair.

use std::collections::BTreeMap;

use chrysalis_release::{Release, RoleName, View};
use chrysalis_table::{Column, Table, Watch};
use rayon::prelude::*;

use crate::blurred::{AttributeView, Buckets};
use crate::{EvaluateError, opened, table_of, universe};

/// When two attributes are compared, neighbouring values of an attribute with more values than this are merged: a
/// million cells at most.
const MOST_VALUES: usize = 1024;

/// Pairs of quasi attributes are compared only if there are at most this many; pairs with the sensitive one always are.
const MOST_PAIRS: usize = 300;

/// Total variation distances: half the sum of |share in the microdata − share rebuilt|, which is 0 for the same
/// distribution and 1 for no value in common.
#[derive(Clone, Debug)]
pub struct Distances {
    /// Every quasi attribute, and the sensitive one if there is one.
    pub attributes: Vec<Distance>,
    /// Every pair of quasi attributes (unless there are too many), and every quasi attribute with the sensitive one.
    pub pairs: Vec<Distance>,
}

/// The distance between two distributions over one or two attributes.
#[derive(Clone, Debug)]
pub struct Distance {
    /// The attributes.
    pub attributes: Vec<String>,
    /// The table from which they were rebuilt.
    pub table: String,
    /// Total variation.
    pub distance: f64,
    /// Whether neighbouring values were merged because there are so many.
    pub is_bucketed: bool,
}

/// Compares the distributions that can be rebuilt from a release with those of the microdata.
///
/// # Cost
/// O(n log n) in the rows per pair, plus the number of values that labels cover.
pub fn distances(release: &Release, microdata: &Table, watch: &dyn Watch) -> Result<Distances, EvaluateError> {
    let microdata = universe::relevant(&release.manifest, microdata)?;
    let view = opened::open(release)?;
    let quasi: Vec<usize> = opened::with_role(&view, RoleName::Quasi).collect();
    let sensitive: Option<usize> = opened::with_role(&view, RoleName::Sensitive).next();
    let singles = quasi.iter().chain(&sensitive).map(|&field| vec![field]);
    let with_sensitive = sensitive.iter().flat_map(|&own| quasi.iter().map(move |&field| vec![field, own]));
    let n_pairs = quasi.len() * quasi.len().saturating_sub(1) / 2;
    let compared = if n_pairs > MOST_PAIRS { &[] } else { quasi.as_slice() };
    let of_quasi = compared.iter().enumerate().flat_map(|(at, &a)| compared[at + 1..].iter().map(move |&b| vec![a, b]));
    let mut spaces = Vec::new();
    for fields in singles.chain(of_quasi).chain(with_sensitive) {
        let in_table: Vec<usize> = fields.iter().filter(|field| quasi.contains(field)).copied().collect();
        spaces.push(Space { table: table_of(&view, &in_table, None)?.name.clone(), fields });
    }
    let shown = shown(&view, &microdata, &spaces, watch)?;
    let distance = |space: &Space| {
        watch.pause();
        space.distance(&view, &microdata, &shown)
    };
    let found: Vec<Distance> = spaces.par_iter().map(distance).collect();
    let (attributes, pairs) = found.into_iter().partition(|distance| distance.attributes.len() == 1);
    Ok(Distances { attributes, pairs })
}

/// One or two attributes, and the table to rebuild them from.
struct Space {
    fields: Vec<usize>,
    table: String,
}

/// The attributes that tables show.
type ShownAttributes<'a> = BTreeMap<(&'a str, usize), AttributeView>;

fn shown<'a>(
    view: &View,
    microdata: &Table,
    spaces: &'a [Space],
    watch: &dyn Watch,
) -> Result<ShownAttributes<'a>, EvaluateError> {
    let key = |space: &'a Space| space.fields.iter().map(|&field| (space.table.as_str(), field));
    let mut needed: Vec<(&str, usize)> = spaces.iter().flat_map(key).collect();
    needed.sort_unstable();
    needed.dedup();
    let read = |(table, field): (&'a str, usize)| {
        watch.pause();
        Ok(((table, field), AttributeView::new(view, table, field, &microdata.columns()[field])?))
    };
    needed.into_par_iter().map(read).collect()
}

impl Space {
    fn distance(&self, view: &View, microdata: &Table, shown: &ShownAttributes<'_>) -> Distance {
        let axis = |&field: &usize| (&microdata.columns()[field], &shown[&(self.table.as_str(), field)]);
        let axes: Vec<(&Column, &AttributeView)> = self.fields.iter().map(axis).collect();
        let (distance, is_bucketed) = match axes.as_slice() {
            [(column, blurred)] => (single(column, blurred), false),
            [(a, shown_a), (b, shown_b)] => {
                let buckets = [a, b].map(|column| Buckets::new(column.domain().len(), MOST_VALUES));
                let rebuilt = joint(shown_a, shown_b, buckets);
                (total_variation(&actual(a, b, buckets), &rebuilt), buckets.iter().any(|it| it.is_coarse()))
            }
            _ => (0.0, false),
        };
        Distance { attributes: opened::names(view, &self.fields), table: self.table.clone(), distance, is_bucketed }
    }
}

fn single(column: &Column, blurred: &AttributeView) -> f64 {
    let n_codes = column.domain().len();
    let (buckets, rows) = (Buckets::new(n_codes, n_codes), blurred.of_row.len() as f64);
    let mut rebuilt = vec![0.0; n_codes];
    for (label, count) in blurred.labels.iter().zip(blurred.counts()) {
        if count > 0.0 {
            label.visit(buckets, |code, share| rebuilt[code] += count / rows * share);
        }
    }
    let total = column.codes().len() as f64;
    let actual: Vec<f64> = column.histogram().into_iter().map(|count| count as f64 / total).collect();
    total_variation(&actual, &rebuilt)
}

/// Shares of pairs of values in the microdata.
fn actual(a: &Column, b: &Column, buckets: [Buckets; 2]) -> Vec<f64> {
    let mut counts = vec![0_u64; buckets[0].len() * buckets[1].len()];
    for (a, b) in a.codes().iter().zip(b.codes().iter()) {
        counts[buckets[0].of(a) * buckets[1].len() + buckets[1].of(b)] += 1;
    }
    let total = a.codes().len() as f64;
    counts.into_iter().map(|count| count as f64 / total).collect()
}

/// The shares of pairs of values as a reader would rebuild them: rows with the same two labels, spread over both
/// labels' values.
fn joint(a: &AttributeView, b: &AttributeView, buckets: [Buckets; 2]) -> Vec<f64> {
    let width = buckets[1].len();
    let mut cells = vec![0.0; buckets[0].len() * width];
    let mut keys: Vec<u64> = a.of_row.iter().zip(&b.of_row).map(|(&a, &b)| u64::from(a) << 32 | u64::from(b)).collect();
    keys.sort_unstable();
    let rows = keys.len() as f64;
    // The rows of one label of the first attribute, by value of the second; and which of these values occur.
    let (mut line, mut touched) = (vec![0.0; width], Vec::new());
    for of_a in keys.chunk_by(|x, y| x >> 32 == y >> 32) {
        for of_b in of_a.chunk_by(|x, y| x == y) {
            let label = &b.labels[(of_b[0] & u64::from(u32::MAX)) as usize];
            label.visit(buckets[1], |value, share| {
                if line[value] == 0.0 {
                    touched.push(value);
                }
                line[value] += of_b.len() as f64 / rows * share;
            });
        }
        a.labels[(of_a[0] >> 32) as usize].visit(buckets[0], |value, share| {
            let cells = &mut cells[value * width..][..width];
            touched.iter().for_each(|&at| cells[at] += share * line[at]);
        });
        touched.drain(..).for_each(|at| line[at] = 0.0);
    }
    cells
}

/// Mass rebuilt on values that are not in the microdata is missing from `rebuilt`, but counts as distance.
fn total_variation(actual: &[f64], rebuilt: &[f64]) -> f64 {
    let apart: f64 = actual.iter().zip(rebuilt).map(|(actual, rebuilt)| (actual - rebuilt).abs()).sum();
    let elsewhere = (1.0 - rebuilt.iter().sum::<f64>()).max(0.0);
    let distance = (apart + elsewhere) / 2.0;
    // Shares are sums of many fractions, so they are off by rounding errors.
    if distance < 1e-12 { 0.0 } else { distance.min(1.0) }
}
