use super::block::Block;
use super::line::Line;

/// Groups over a block's atoms, with all that it takes to compute the cost of a change quickly.
#[derive(Clone)]
pub(super) struct Pool<'b> {
    pub(super) block: &'b Block,
    /// Rows per group.
    pub(super) sizes: Vec<u32>,
    /// Penalty of a row per group.
    pub(super) widths: Vec<f64>,
    /// Per group and attribute: the first and the last value; for sets the last is the number of values.
    ends: Vec<(u32, u32)>,
    /// Per group and attribute: the penalty.
    parts: Vec<f64>,
    /// Per group and value: rows.
    held: Vec<u32>,
    /// Per group: atoms of the block with the number of rows.
    pub(super) pieces: Vec<Vec<(u32, u32)>>,
}

/// What leaves a group: an atom and the number of rows.
pub(super) type Departure = (usize, u32);

impl<'b> Pool<'b> {
    pub(super) fn new(block: &'b Block) -> Self {
        Pool {
            block,
            sizes: Vec::new(),
            widths: Vec::new(),
            ends: Vec::new(),
            parts: Vec::new(),
            held: Vec::new(),
            pieces: Vec::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.sizes.len()
    }

    /// Opens an empty group.
    pub(super) fn open(&mut self) -> usize {
        let d = self.block.lines.len();
        self.sizes.push(0);
        self.widths.push(0.0);
        self.ends.extend(self.block.lines.iter().map(|line| if line.is_set() { (0, 0) } else { (u32::MAX, 0) }));
        self.parts.resize(self.parts.len() + d, 0.0);
        self.held.resize(self.held.len() + self.block.n_held, 0);
        self.pieces.push(Vec::new());
        self.len() - 1
    }

    /// Forgets the last group.
    pub(super) fn close_last(&mut self) {
        let last = self.len() - 1;
        let d = self.block.lines.len();
        self.sizes.pop();
        self.widths.pop();
        self.ends.truncate(last * d);
        self.parts.truncate(last * d);
        self.held.truncate(last * self.block.n_held);
        self.pieces.pop();
    }

    /// Forgets a group; the last one takes its number.
    pub(super) fn forget(&mut self, group: usize) {
        let (last, d, n) = (self.len() - 1, self.block.lines.len(), self.block.n_held);
        if group != last {
            self.sizes.swap(group, last);
            self.widths.swap(group, last);
            self.pieces.swap(group, last);
            self.ends.copy_within(last * d.., group * d);
            self.parts.copy_within(last * d.., group * d);
            self.held.copy_within(last * n.., group * n);
        }
        self.close_last();
    }

    /// The penalty of all rows.
    pub(super) fn cost(&self) -> f64 {
        self.sizes.iter().zip(&self.widths).map(|(&size, width)| f64::from(size) * width).sum()
    }

    pub(super) fn cost_of(&self, group: usize) -> f64 {
        f64::from(self.sizes[group]) * self.widths[group]
    }

    fn held(&self, group: usize, line: &Line) -> &[u32] {
        let start = group * self.block.n_held + line.offset;
        &self.held[start..start + line.n]
    }

    /// The width of a group with one more atom, or infinity if that is not below `limit`.
    pub(super) fn width_with(&self, group: usize, atom: usize, limit: f64) -> f64 {
        let cells = self.block.cells(atom);
        let d = self.block.lines.len();
        let ends = &self.ends[group * d..(group + 1) * d];
        let parts = &self.parts[group * d..(group + 1) * d];
        let mut width = 0.0;
        for (at, line) in self.block.lines.iter().enumerate() {
            let (low, high) = ends[at];
            let cell = cells[at];
            width += if line.is_set() {
                let is_new = self.held[group * self.block.n_held + line.offset + cell as usize] == 0;
                if is_new { line.width(0, high + 1) } else { parts[at] }
            } else if cell >= low && cell <= high {
                parts[at]
            } else {
                line.width(low.min(cell), high.max(cell))
            };
            if width >= limit {
                return f64::INFINITY;
            }
        }
        width
    }

    /// The first and last value of an attribute (or the number of them) once some rows have left.
    fn ends_without(&self, group: usize, at: usize, leaving: Departure) -> (u32, u32) {
        let line = &self.block.lines[at];
        let (mut low, mut high) = self.ends[group * self.block.lines.len() + at];
        let cell = self.block.cells(leaving.0)[at];
        let held = self.held(group, line);
        if held[cell as usize] > leaving.1 {
            return (low, high);
        }
        if line.is_set() {
            return (low, high - 1);
        }
        if low == high {
            return (u32::MAX, 0);
        }
        if cell == low {
            low += 1;
            while held[low as usize] == 0 {
                low += 1;
            }
        } else if cell == high {
            high -= 1;
            while held[high as usize] == 0 {
                high -= 1;
            }
        }
        (low, high)
    }

    /// The width of a group once some rows have left.
    pub(super) fn width_without(&self, group: usize, leaving: Departure) -> f64 {
        let width = |(at, line): (usize, &Line)| {
            let (low, high) = self.ends_without(group, at, leaving);
            line.width(low, high)
        };
        self.block.lines.iter().enumerate().map(width).sum()
    }

    /// The first and last values of every attribute once some rows have left.
    pub(super) fn shrunk(&self, group: usize, leaving: Departure, ends: &mut Vec<(u32, u32)>) {
        ends.clear();
        ends.extend((0..self.block.lines.len()).map(|at| self.ends_without(group, at, leaving)));
    }

    /// The width of a group once some rows have left, which made its ends `ends`, and an atom has come; or infinity
    /// if that is not below `limit`.
    pub(super) fn width_exchanged(
        &self,
        group: usize,
        leaving: Departure,
        ends: &[(u32, u32)],
        atom: usize,
        limit: f64,
    ) -> f64 {
        let (cells, gone) = (self.block.cells(atom), self.block.cells(leaving.0));
        let held = &self.held[group * self.block.n_held..(group + 1) * self.block.n_held];
        let mut width = 0.0;
        for (at, line) in self.block.lines.iter().enumerate() {
            let (low, high) = ends[at];
            let cell = cells[at];
            width += if line.is_set() {
                let left = if gone[at] == cell { leaving.1 } else { 0 };
                line.width(0, high + u32::from(held[line.offset + cell as usize] == left))
            } else {
                line.width(low.min(cell), high.max(cell))
            };
            if width >= limit {
                return f64::INFINITY;
            }
        }
        width
    }

    pub(super) fn add(&mut self, group: usize, atom: usize, count: u32) {
        let d = self.block.lines.len();
        let block = self.block;
        let mut total = 0.0;
        for (at, line) in block.lines.iter().enumerate() {
            let cell = block.cells(atom)[at];
            let held = &mut self.held[group * block.n_held + line.offset + cell as usize];
            let (low, high) = &mut self.ends[group * d + at];
            if line.is_set() {
                *high += u32::from(*held == 0);
            } else {
                (*low, *high) = ((*low).min(cell), (*high).max(cell));
            }
            *held += count;
            let width = line.width(*low, *high);
            self.parts[group * d + at] = width;
            total += width;
        }
        self.widths[group] = total;
        self.sizes[group] += count;
        match self.pieces[group].iter_mut().find(|piece| piece.0 == atom as u32) {
            Some(piece) => piece.1 += count,
            None => self.pieces[group].push((atom as u32, count)),
        }
    }

    pub(super) fn remove(&mut self, group: usize, atom: usize, count: u32) {
        let d = self.block.lines.len();
        let block = self.block;
        let mut total = 0.0;
        for (at, line) in block.lines.iter().enumerate() {
            let ends = self.ends_without(group, at, (atom, count));
            self.ends[group * d + at] = ends;
            let width = if self.sizes[group] > count { line.width(ends.0, ends.1) } else { 0.0 };
            self.parts[group * d + at] = width;
            total += width;
            let cell = block.cells(atom)[at];
            self.held[group * block.n_held + line.offset + cell as usize] -= count;
        }
        self.widths[group] = total;
        self.sizes[group] -= count;
        let pieces = &mut self.pieces[group];
        if let Some(at) = pieces.iter().position(|piece| piece.0 == atom as u32) {
            pieces[at].1 -= count;
            if pieces[at].1 == 0 {
                pieces.swap_remove(at);
            }
        }
    }
}
