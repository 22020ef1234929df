//! Exact quasi values: every row's point is known, and any row of a group may have any of its sensitive values.

use chrysalis_release::View;
use chrysalis_table::Code;

use crate::boxes::{Distributions, add};
use crate::universe::{Universe, translated};
use crate::{EvaluateError, Reconstruction, opened};

/// Rows by their quasi values.
pub(crate) struct Exact {
    /// The quasi values that rows have, as codes of the microdata, ascending.
    points: Vec<Vec<Option<Code>>>,
    /// Where the groups of each point begin, and where those of the last point end.
    starts: Vec<usize>,
    /// The groups with rows at a point, each with the share of all rows that those are.
    parts: Vec<(u32, f64)>,
    groups: Distributions,
}

impl Exact {
    pub(crate) fn new(view: &View, universe: &Universe<'_>) -> Result<Self, EvaluateError> {
        let groups = Distributions::new(view, universe.sensitive)?;
        let mut columns = Vec::with_capacity(universe.fields.len());
        for (&field, own) in universe.fields.iter().zip(&universe.columns) {
            let column = opened::column(view, field)?;
            columns.push((&column.codes, translated(&column.domain, own)));
        }
        let key = |row: u32| columns.iter().map(move |(shown, codes)| codes[shown.get(row as usize) as usize]);
        let mut rows: Vec<u32> = (0..groups.of_row.len() as u32).collect();
        let group = |row: u32| groups.of_row[row as usize];
        rows.sort_unstable_by(|&a, &b| key(a).cmp(key(b)).then(group(a).cmp(&group(b))));
        let (mut points, mut starts, mut parts) = (Vec::new(), vec![0], Vec::new());
        for run in rows.chunk_by(|&a, &b| key(a).eq(key(b))) {
            points.push(key(run[0]).collect());
            let of_group = |part: &[u32]| (group(part[0]), part.len() as f64 / rows.len() as f64);
            parts.extend(run.chunk_by(|&a, &b| group(a) == group(b)).map(of_group));
            starts.push(parts.len());
        }
        Ok(Exact { points, starts, parts, groups })
    }
}

impl Reconstruction for Exact {
    fn shares(&self, point: &[u32], values: &[u32]) -> Vec<f64> {
        let wanted: Vec<Option<Code>> = point.iter().map(|&code| Some(code)).collect();
        let mut shares = vec![0.0; values.len()];
        if let Ok(point) = self.points.binary_search(&wanted) {
            for &(group, weight) in &self.parts[self.starts[point]..self.starts[point + 1]] {
                add(&mut shares, values, &self.groups.shares[group as usize], weight);
            }
        }
        shares
    }
}
