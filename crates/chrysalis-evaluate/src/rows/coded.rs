//! Tables as small numbers: one cell per value or range of values, the same for all tables that are compared.

use chrysalis_table::{Column, Kind, Table, Value};

/// Ordered columns with more values are cut into this many ranges of about equally many rows.
const RANGES: usize = 20;
/// Of columns of words, this many have cells of their own; the others share one.
const WORDS: usize = 64;

/// How the values of one column become cells. Cell 0 is the missing value.
#[derive(Clone, Debug)]
pub(super) struct Scale {
    pub(super) name: String,
    pub(super) is_ordered: bool,
    /// Whether several values share a cell.
    pub(super) is_coarse: bool,
    pub(super) n_cells: usize,
    cells: Cells,
}

#[derive(Clone, Debug)]
enum Cells {
    /// The values that begin a range, ascending.
    From(Vec<Value>),
    /// Words that have cells of their own, in the order of the alphabet; others get the last cell.
    Words(Vec<Value>),
}

impl Scale {
    /// A scale for the values of a column, with at most so many ranges where they have an order.
    pub(super) fn new(column: &Column, ranges: usize) -> Scale {
        let domain = column.domain();
        let histogram = column.histogram();
        let counts = &histogram[usize::from(domain.has_missing())..];
        let is_words = matches!(domain.kind(), Kind::Category | Kind::Ordinal);
        let (cells, n_own) = if is_words {
            let mut by_count: Vec<usize> = (0..counts.len()).collect();
            by_count.sort_by_key(|&at| (std::cmp::Reverse(counts[at]), at));
            let mut words: Vec<Value> = by_count.iter().take(WORDS).map(|&at| domain.values()[at].clone()).collect();
            words.sort();
            let n_words = words.len();
            (Cells::Words(words), n_words + 1)
        } else {
            let starts = if counts.len() <= ranges { domain.values().to_vec() } else { starts(column, counts, ranges) };
            let n_starts = starts.len();
            (Cells::From(starts), n_starts.max(1))
        };
        let is_coarse = match &cells {
            Cells::From(starts) => starts.len() < counts.len(),
            Cells::Words(words) => words.len() < counts.len(),
        };
        let name = column.name().to_owned();
        Scale { name, is_ordered: !is_words, is_coarse, n_cells: n_own + 1, cells }
    }

    /// The usual scale.
    pub(super) fn of(column: &Column) -> Scale {
        Scale::new(column, RANGES)
    }

    fn cell(&self, value: Option<&Value>) -> u16 {
        let Some(value) = value else { return 0 };
        let place = match &self.cells {
            Cells::From(starts) => starts.partition_point(|start| start <= value).saturating_sub(1),
            Cells::Words(words) => words.binary_search(value).unwrap_or(words.len()),
        };
        // PROOF: there are at most `WORDS` + 2 cells, or as many as ranges.
        place as u16 + 1
    }

    /// The cell of every row.
    pub(super) fn cells(&self, column: &Column) -> Vec<u16> {
        let domain = column.domain();
        let of_code: Vec<u16> = (0..domain.len() as u32).map(|code| self.cell(domain.value(code))).collect();
        column.codes().iter().map(|code| of_code[code as usize]).collect()
    }
}

/// Values that begin ranges of about equally many rows.
fn starts(column: &Column, counts: &[u64], ranges: usize) -> Vec<Value> {
    let total: u64 = counts.iter().sum();
    let (mut starts, mut seen): (Vec<Value>, u64) = (Vec::new(), 0);
    for (value, count) in column.domain().values().iter().zip(counts) {
        if u128::from(seen) * ranges as u128 >= starts.len() as u128 * u128::from(total) && starts.len() < ranges {
            starts.push(value.clone());
        }
        seen += count;
    }
    starts
}

/// The cells of all columns of a table that have a scale.
pub(super) fn coded(scales: &[Scale], table: &Table) -> Vec<Vec<u16>> {
    scales.iter().filter_map(|scale| table.column(&scale.name).map(|column| scale.cells(column))).collect()
}
