//! A distribution over all columns: a few classes of rows, in each of which columns are independent (spec, step 3).

use crate::deck::{Deck, Source};

/// How many rows' worth of the whole table's shares every class starts with.
const PRIOR: f32 = 2.0;
/// The share of a cell that nobody has, so that no world has the probability zero.
const FLOOR: f32 = 1e-6;

/// P(row) = Σ over classes of share(class) · Π over columns of share(cell | class).
#[derive(Clone, Debug)]
pub(crate) struct Model {
    pub(crate) n_classes: usize,
    /// The share of every class.
    pub(crate) classes: Vec<f32>,
    /// By column: for every cell its share in every class, classes side by side.
    cells: Vec<Vec<f32>>,
}

/// The cells of some rows, and the class of each.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    pub(crate) classes: Vec<u8>,
    /// By column.
    pub(crate) cells: Vec<Vec<u16>>,
    /// How often each row counts.
    pub(crate) weights: Vec<f32>,
}

impl Model {
    /// The shares of a cell, one per class.
    pub(crate) fn shares(&self, column: usize, cell: u16) -> &[f32] {
        &self.cells[column][usize::from(cell) * self.n_classes..][..self.n_classes]
    }

    /// The number of cells of every column.
    pub(crate) fn sizes(deck: &Deck) -> Vec<usize> {
        let size = |source: &Source| match source {
            Source::Listed(listed) => listed.n_cells,
            Source::Boxed(boxed) => boxed.axis.n_cells(),
        };
        deck.attributes.iter().map(|attribute| size(&attribute.source)).collect()
    }

    /// One class, in which all cells are equally likely.
    pub(crate) fn flat(sizes: &[usize]) -> Model {
        let cells = sizes.iter().map(|&size| vec![1.0 / size.max(1) as f32; size]).collect();
        Model { n_classes: 1, classes: vec![1.0], cells }
    }

    /// A start: class c is the whole table, leaning towards the row `seeds[c]`.
    pub(crate) fn around(seeds: &[usize], rows: &[Rows], sizes: &[usize]) -> Model {
        let n_classes = seeds.len();
        let total: f32 = rows.iter().flat_map(|part| &part.weights).sum();
        let at = |row: usize, column: usize| {
            let mut row = row;
            for part in rows {
                match part.cells[column].get(row) {
                    Some(&cell) => return cell,
                    None => row -= part.cells[column].len(),
                }
            }
            0
        };
        let column = |(column, &size): (usize, &usize)| {
            let mut counts = vec![0.0_f32; size];
            for part in rows {
                for (&cell, &weight) in part.cells[column].iter().zip(&part.weights) {
                    counts[usize::from(cell)] += weight;
                }
            }
            let mut shares: Vec<f32> = counts
                .iter()
                .flat_map(|count| std::iter::repeat_n(0.7 * count / total.max(1.0) + FLOOR, n_classes))
                .collect();
            for (class, &seed) in seeds.iter().enumerate() {
                shares[usize::from(at(seed, column)) * n_classes + class] += 0.3;
            }
            shares
        };
        Model {
            n_classes,
            classes: vec![1.0 / n_classes as f32; n_classes],
            cells: sizes.iter().enumerate().map(column).collect(),
        }
    }

    /// The shares of rows whose classes are known.
    pub(crate) fn fitted(n_classes: usize, rows: &[Rows], sizes: &[usize]) -> Model {
        let mut classes = vec![0.0_f32; n_classes];
        for part in rows {
            part.classes.iter().zip(&part.weights).for_each(|(&class, weight)| classes[usize::from(class)] += weight);
        }
        let total: f32 = classes.iter().sum::<f32>().max(1.0);
        let column = |(column, &size): (usize, &usize)| {
            let mut counts = vec![0.0_f32; size * n_classes];
            for part in rows {
                for ((&cell, &class), weight) in part.cells[column].iter().zip(&part.classes).zip(&part.weights) {
                    counts[usize::from(cell) * n_classes + usize::from(class)] += weight;
                }
            }
            for of_cell in counts.chunks_exact_mut(n_classes) {
                let overall = of_cell.iter().sum::<f32>() / total;
                for (count, of_class) in of_cell.iter_mut().zip(&classes) {
                    *count = (*count + PRIOR * overall) / (of_class + PRIOR) + FLOOR;
                }
            }
            counts
        };
        let cells = sizes.iter().enumerate().map(column).collect();
        let shares = classes.iter().map(|count| (count + 1.0) / (total + n_classes as f32)).collect();
        Model { n_classes, classes: shares, cells }
    }
}
