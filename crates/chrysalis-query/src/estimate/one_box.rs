//! Permuted columns, one box, no keys: the most common question, answered with marks instead of counts per box.

use std::ops::Range;

use rayon::prelude::*;

use super::{Hit, HitsByKey};
use crate::code_test::CodeTest;
use crate::{Cell, OpenRelease, Plan, QueryError};

pub(super) fn hits(release: &OpenRelease, plan: &Plan, cell: &Cell) -> Result<HitsByKey, QueryError> {
    let mut tests = Vec::with_capacity(cell.sets.len());
    for (&field, set) in &cell.sets {
        let column = release.column(plan, field)?;
        tests.push((&column.codes, CodeTest::of(column, set)));
    }
    let piece = |piece: &Range<usize>| {
        let all = release.groups().rows(piece.start).start..release.groups().rows(piece.end - 1).end;
        let mut marks = vec![0_u8; all.len() * tests.len()];
        for ((codes, test), marks) in tests.iter().zip(marks.chunks_exact_mut(all.len().max(1))) {
            test.mark(codes, all.clone(), marks);
        }
        let hits = |group: usize| {
            let (rows, mut few) = (release.groups().rows(group), FewOf::new(release.groups().size(group)));
            for marks in marks.chunks_exact(all.len().max(1)) {
                let marked = &marks[rows.start - all.start..rows.end - all.start];
                few.add(marked.iter().map(|&mark| u32::from(mark)).sum())?;
            }
            Some(few.hit(group))
        };
        piece.clone().filter_map(hits).collect()
    };
    Ok(HitsByKey::ungrouped(release.groups().pieces().par_iter().map(piece).collect()))
}

/// Step 6, permute, for one box, attribute by attribute.
struct FewOf {
    size: u32,
    fewest: u32,
    outside: u64,
    /// Π h/n, and Π h(h−1)/(n(n−1)).
    one: f64,
    two: f64,
}

impl FewOf {
    fn new(size: u32) -> Self {
        FewOf { size, fewest: size, outside: 0, one: 1.0, two: 1.0 }
    }

    /// `None` once nothing can match any more.
    fn add(&mut self, hits: u32) -> Option<()> {
        let (n, h) = (f64::from(self.size), f64::from(hits));
        self.fewest = self.fewest.min(hits);
        self.outside += u64::from(self.size - hits);
        self.one *= h / n;
        if self.size > 1 {
            self.two *= h * (h - 1.0) / (n * (n - 1.0));
        }
        (hits > 0).then_some(())
    }

    fn hit(self, group: usize) -> Hit {
        let n = f64::from(self.size);
        let expected = n * self.one;
        let pairs = if self.size > 1 { n * (n - 1.0) * self.two } else { 0.0 };
        Hit {
            group: group as u32,
            least: u64::from(self.size).saturating_sub(self.outside) as u32,
            most: self.fewest,
            expected,
            others: n - expected,
            variance: (pairs + expected - expected * expected).max(0.0),
        }
    }
}
