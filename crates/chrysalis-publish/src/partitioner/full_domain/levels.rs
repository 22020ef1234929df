//! The levels of every quasi attribute, and what showing a value at each of them costs.

use chrysalis_criteria::loss::{range_ncp, set_ncp};
use chrysalis_table::{Code, Column, Knob, Remedy, Taxonomy};

use crate::method::node_ncp;
use crate::{Microdata, PublishError};

/// One attribute. Levels that tell values apart exactly like a lower one are left out: they could only cost more. If the
/// owner has fixed the level, it is the only one.
#[derive(Debug)]
pub(super) struct Axis {
    /// The level of the taxonomy behind each level here.
    pub(super) numbers: Vec<usize>,
    /// The last level of the taxonomy.
    height: usize,
    levels: Vec<Level>,
    /// What suppressed rows show.
    pub(super) top: Top,
}

/// The lowest level at which all values look the same.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Top {
    /// Its number in the taxonomy.
    pub(super) number: usize,
    /// The penalty of a row that shows it.
    pub(super) ncp: f64,
}

/// One level: values under the same label look the same.
#[derive(Debug)]
struct Level {
    /// Labels are numbered in the order of their first code.
    label_of_code: Vec<u32>,
    n_labels: usize,
    /// Rows that show each label.
    rows: Vec<u64>,
    /// The penalty of such a row; never below that of a lower level.
    ncp: Vec<f64>,
    /// Σ −log₂(rows with the value / rows with its label) over all rows.
    entropy: f64,
    /// For every level below, the label here of each of its labels.
    up: Vec<Vec<u32>>,
}

impl Axis {
    /// The axes of all quasi attributes, in their order.
    pub(super) fn all(data: &Microdata) -> Vec<Axis> {
        data.quasi().map(|(column, taxonomy)| Axis::new(column, taxonomy)).collect()
    }

    /// The same, some of them at a level that the owner has fixed.
    pub(super) fn some_fixed(data: &Microdata, fixed: &[(String, usize)]) -> Result<Vec<Axis>, PublishError> {
        let axis = |(column, taxonomy): (&Column, Option<&Taxonomy>)| {
            let axis = Axis::new(column, taxonomy);
            let Some((name, number)) = fixed.iter().find(|(name, _)| name == column.name()) else { return Ok(axis) };
            if *number > axis.height {
                let message = format!("column `{name}` has no level {number}: its levels are 0 to {}", axis.height);
                return Err(PublishError::remedied(
                    message,
                    Remedy::from("choose one of these in ").knob(Knob::Levels, ""),
                ));
            }
            Ok(axis.fixed_at(column, taxonomy, *number))
        };
        data.quasi().map(axis).collect()
    }

    /// The axis with one level only.
    fn fixed_at(self, column: &Column, taxonomy: Option<&Taxonomy>, number: usize) -> Axis {
        let top = Top { number: self.top.number.max(number), ..self.top };
        let mut axis = Axis { numbers: Vec::new(), height: self.height, levels: Vec::new(), top };
        let (nodes, ncp) = shown_at(column, taxonomy, number);
        axis.add(number, &nodes, &ncp, &column.histogram());
        axis
    }

    fn new(column: &Column, taxonomy: Option<&Taxonomy>) -> Axis {
        let n_levels = taxonomy.map_or(2, Taxonomy::n_levels);
        let histogram = column.histogram();
        let mut axis = Axis { numbers: Vec::new(), height: n_levels - 1, levels: Vec::new(), top: Top::default() };
        for number in 0..n_levels {
            let (nodes, ncp) = shown_at(column, taxonomy, number);
            axis.add(number, &nodes, &ncp, &histogram);
        }
        let last = axis.levels.last().and_then(|level| level.ncp.first());
        axis.top = Top { number: axis.numbers.last().copied().unwrap_or(0), ncp: last.copied().unwrap_or(0.0) };
        axis
    }

    fn add(&mut self, number: usize, nodes: &[usize], ncp_of_code: &[f64], histogram: &[u64]) {
        let mut label_of_node = vec![u32::MAX; nodes.iter().max().map_or(0, |last| last + 1)];
        let mut level = Level {
            label_of_code: Vec::with_capacity(nodes.len()),
            n_labels: 0,
            rows: Vec::new(),
            ncp: Vec::new(),
            entropy: 0.0,
            up: Vec::new(),
        };
        for (code, &node) in nodes.iter().enumerate() {
            if label_of_node[node] == u32::MAX {
                label_of_node[node] = level.n_labels as u32;
                level.n_labels += 1;
                level.rows.push(0);
                level.ncp.push(ncp_of_code[code]);
            }
            let label = label_of_node[node];
            level.label_of_code.push(label);
            level.rows[label as usize] += histogram[code];
        }
        if self.levels.last().is_some_and(|below| below.n_labels == level.n_labels) {
            return;
        }
        let counted = histogram.iter().zip(&level.label_of_code).filter(|(rows, _)| **rows > 0);
        let bits =
            |(&rows, &label): (&u64, &u32)| rows as f64 * (level.rows[label as usize] as f64 / rows as f64).log2();
        level.entropy = counted.map(bits).sum();
        for below in &self.levels {
            let mut up = vec![0; below.n_labels];
            for (&here, &there) in level.label_of_code.iter().zip(&below.label_of_code) {
                up[there as usize] = here;
                // The bounds of intervals may be a rounding error off, but the proofs need penalties that never fall.
                let least = below.ncp[there as usize];
                level.ncp[here as usize] = level.ncp[here as usize].max(least);
            }
            level.up.push(up);
        }
        self.numbers.push(number);
        self.levels.push(level);
    }

    pub(super) fn n_levels(&self) -> usize {
        self.levels.len()
    }

    pub(super) fn n_labels(&self, level: usize) -> usize {
        self.levels[level].n_labels
    }

    /// Rows per label.
    pub(super) fn rows(&self, level: usize) -> &[u64] {
        &self.levels[level].rows
    }

    /// The penalty of a row per label.
    pub(super) fn ncp(&self, level: usize) -> &[f64] {
        &self.levels[level].ncp
    }

    /// Σ −log₂(rows with the value / rows with its label) over all rows.
    pub(super) fn entropy(&self, level: usize) -> f64 {
        self.levels[level].entropy
    }

    /// The label of every code.
    pub(super) fn labels(&self, level: usize) -> &[u32] {
        &self.levels[level].label_of_code
    }

    /// How high the top is, from 0 to 1.
    pub(super) fn top_share_of_height(&self) -> f64 {
        if self.height == 0 { 0.0 } else { self.top.number as f64 / self.height as f64 }
    }

    /// How high a level is, from 0 to 1.
    pub(super) fn share_of_height(&self, level: usize) -> f64 {
        if self.height == 0 { 0.0 } else { self.numbers[level] as f64 / self.height as f64 }
    }

    /// The label at `to` of every label at `from`, which must lie below it.
    pub(super) fn up(&self, from: usize, to: usize) -> &[u32] {
        &self.levels[to].up[from]
    }
}

/// What every code is shown as at a level, and its penalty: the nodes of a taxonomy, or every code on its own, or all
/// codes together.
fn shown_at(column: &Column, taxonomy: Option<&Taxonomy>, number: usize) -> (Vec<usize>, Vec<f64>) {
    let domain = column.domain();
    let codes = || 0..domain.len() as Code;
    match taxonomy {
        Some(tree) => {
            let nodes: Vec<usize> = codes().map(|code| tree.at_level(code, number)).collect();
            let ncp = nodes.iter().map(|&id| node_ncp(domain, tree, tree.node(id))).collect();
            (nodes, ncp)
        }
        None if number == 0 => (codes().map(|code| code as usize).collect(), vec![0.0; domain.len()]),
        None if domain.kind().is_ordered() => {
            let last = domain.len().saturating_sub(1) as Code;
            (vec![0; domain.len()], vec![range_ncp(domain, 0, last); domain.len()])
        }
        None => (vec![0; domain.len()], vec![set_ncp(domain.len(), domain.len()); domain.len()]),
    }
}
