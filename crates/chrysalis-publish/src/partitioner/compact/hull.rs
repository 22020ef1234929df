use super::line::Line;

/// What the rows of a group have in common, attribute by attribute.
#[derive(Clone)]
pub(super) struct Hull {
    ends: Vec<(u32, u32)>,
    /// The values of sets, ascending.
    sets: Vec<Vec<u32>>,
    /// The penalty of a row.
    pub(super) width: f64,
    /// Rows.
    pub(super) size: u32,
}

impl Hull {
    /// The hull of no rows.
    pub(super) fn new(lines: &[Line]) -> Self {
        Hull { ends: vec![(u32::MAX, 0); lines.len()], sets: vec![Vec::new(); lines.len()], width: 0.0, size: 0 }
    }

    /// The hull of the rows of some records.
    pub(super) fn of<'a>(lines: &[Line], records: impl Iterator<Item = (&'a [u32], u32)> + Clone) -> Self {
        let mut hull = Hull::new(lines);
        hull.size = records.clone().map(|(_, count)| count).sum();
        for (at, line) in lines.iter().enumerate() {
            let cells = records.clone().map(|(cells, _)| cells[at]);
            hull.width += if line.is_set() {
                let set = &mut hull.sets[at];
                set.extend(cells);
                set.sort_unstable();
                set.dedup();
                line.width(0, set.len() as u32)
            } else {
                let (low, high) = cells.fold((u32::MAX, 0), |(low, high), cell| (low.min(cell), high.max(cell)));
                hull.ends[at] = (low, high);
                line.width(low, high)
            };
        }
        hull
    }

    /// The penalty of all rows.
    pub(super) fn cost(&self) -> f64 {
        f64::from(self.size) * self.width
    }

    /// The width with one more record, or infinity if that is not below `limit`.
    pub(super) fn width_with(&self, lines: &[Line], cells: &[u32], limit: f64) -> f64 {
        let mut width = 0.0;
        for (at, line) in lines.iter().enumerate() {
            let (low, high) = self.ends[at];
            let cell = cells[at];
            width += if line.is_set() {
                line.width(0, self.sets[at].len() as u32 + u32::from(self.sets[at].binary_search(&cell).is_err()))
            } else {
                line.width(low.min(cell), high.max(cell))
            };
            if width >= limit {
                return f64::INFINITY;
            }
        }
        width
    }

    /// Adds rows with the same record.
    pub(super) fn add(&mut self, lines: &[Line], cells: &[u32], count: u32) {
        self.size += count;
        self.width = 0.0;
        for (at, line) in lines.iter().enumerate() {
            let cell = cells[at];
            self.width += if line.is_set() {
                if let Err(place) = self.sets[at].binary_search(&cell) {
                    self.sets[at].insert(place, cell);
                }
                line.width(0, self.sets[at].len() as u32)
            } else {
                let (low, high) = &mut self.ends[at];
                (*low, *high) = ((*low).min(cell), (*high).max(cell));
                line.width(*low, *high)
            };
        }
    }
}
