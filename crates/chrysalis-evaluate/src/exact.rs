//! Exact quasi values (anatomy, shuffle): who is where is known, and a group's values are anybody's.

use chrysalis_release::{GROUP_ID, Release};
use chrysalis_table::Code;

use crate::boxes::Distributions;
use crate::coverage::find;
use crate::universe::{Universe, translated};
use crate::{EvaluateError, Reconstruction};

/// Rows by their quasi values.
pub(crate) struct Exact {
    /// The quasi values of every run of rows, as codes of the microdata, ascending.
    points: Vec<Vec<Option<Code>>>,
    /// Where each run begins, and where the last one ends.
    starts: Vec<usize>,
    rows: Vec<u32>,
    groups: Distributions,
}

impl Exact {
    pub(crate) fn new(
        release: &Release,
        table: &str,
        universe: &Universe<'_>,
        attributes: &[String],
    ) -> Result<Self, EvaluateError> {
        let published = (table, release.table(table)?);
        let groups = Distributions::new(release, published, GROUP_ID, universe.sensitive)?;
        let mut columns = Vec::with_capacity(attributes.len());
        for (name, own) in attributes.iter().zip(&universe.columns) {
            let column = find(published, name)?;
            columns.push((column, translated(column, own)));
        }
        let key = |row: u32| columns.iter().map(move |(column, codes)| codes[column.code(row as usize) as usize]);
        let mut rows: Vec<u32> = (0..published.1.rows() as u32).collect();
        rows.sort_unstable_by(|&a, &b| key(a).cmp(key(b)).then(a.cmp(&b)));
        let (mut points, mut starts) = (Vec::new(), vec![0]);
        for run in rows.chunk_by(|&a, &b| key(a).eq(key(b))) {
            points.push(key(run[0]).collect());
            starts.push(starts[starts.len() - 1] + run.len());
        }
        Ok(Exact { points, starts, rows, groups })
    }
}

impl Reconstruction for Exact {
    fn shares(&self, point: &[u32], values: &[u32]) -> Vec<f64> {
        let wanted: Vec<Option<Code>> = point.iter().map(|&code| Some(code)).collect();
        let Ok(run) = self.points.binary_search(&wanted) else { return vec![0.0; values.len()] };
        let rows = &self.rows[self.starts[run]..self.starts[run + 1]];
        let share = |value: &u32| {
            let of_row = |&row: &u32| {
                let shares = &self.groups.shares[self.groups.of_row[row as usize] as usize];
                shares.binary_search_by_key(value, |(code, _)| *code).map_or(0.0, |at| shares[at].1)
            };
            rows.iter().map(of_row).sum::<f64>() / self.rows.len() as f64
        };
        values.iter().map(share).collect()
    }
}
