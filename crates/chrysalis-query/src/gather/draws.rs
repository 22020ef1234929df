//! Hits as draws from rows with numbers, group by group: how far they may lean (step 7 of `learned/spec.md`).

use chrysalis_table::Code;

use super::{Gatherer, Place, Source, each_row};
use crate::aggregate::Chosen;
use crate::estimate::{Hit, RowHits};
use crate::learned::{Draw, DrawnBy, lean};
use crate::question::Function;
use crate::{OpenRelease, Plan};

/// A group of rows, and their numbers as they are drawn.
type Each<'e> = &'e mut dyn FnMut(Draw, &[(f64, f64)]);

impl Gatherer<'_> {
    /// Where quasi values are exact or permuted: how far the draws of this row of the answer may lean.
    pub(super) fn lean(
        &self,
        release: &OpenRelease,
        plan: &Plan,
        place: &Place<'_>,
        (function, fraction): (Function, f64),
        chosen: &mut [Chosen],
    ) {
        match &self.source {
            Source::Exact(_) => {
                lean((function, fraction), DrawnBy::Values, chosen, |each| self.drawn_rows(release, plan, place, each));
            }
            Source::Permuted(..) => {
                lean((function, fraction), DrawnBy::Both, chosen, |each| self.drawn_columns(release, place, each));
            }
            Source::Constant(_) | Source::Sensitive | Source::Key(..) => {
                lean((function, fraction), DrawnBy::Hits, chosen, |each| self.drawn_values(release, plan, place, each));
            }
            Source::Labels(..) | Source::Product(_) => {}
        }
    }

    /// Hits are drawn from the sensitive values of their group.
    fn drawn_values(&self, release: &OpenRelease, plan: &Plan, place: &Place<'_>, each: Each<'_>) {
        let same = self.same_number(plan, place);
        let number =
            |code: Code| if matches!(self.source, Source::Sensitive) { self.sensitive[code as usize] } else { same };
        let hits = by_group(release, place);
        let mut numbers = Vec::new();
        for (group, hit) in hits.into_iter().enumerate() {
            let n = f64::from(release.size(group));
            numbers.clear();
            match place.listed {
                Some(listed) => {
                    let values = listed.passing(group, place.test);
                    numbers.extend(values.filter_map(|(code, count)| Some((number(code)?, f64::from(count)))));
                }
                None => numbers.extend(same.map(|number| (number, n))),
            }
            each((n, hit), &numbers);
        }
    }

    /// Rows that have the asked sensitive values are drawn from those of their group, whose own numbers are known.
    fn drawn_rows(&self, release: &OpenRelease, plan: &Plan, place: &Place<'_>, each: Each<'_>) {
        let n_groups = release.groups().len();
        let mut rows: Vec<Option<&RowHits>> = vec![None; n_groups];
        self.hits(place).iter().for_each(|hits| rows[hits.group as usize] = Some(hits));
        let mut numbers = Vec::new();
        for (group, hits) in rows.into_iter().enumerate() {
            let size = release.size(group);
            numbers.clear();
            for (row, split) in hits.into_iter().flat_map(|hits| each_row(release, hits)) {
                if let Some((low, ..)) = self.value(&self.source, plan, row, group) {
                    numbers.push((low, split.inside));
                }
            }
            each((f64::from(size), self.drawn(place, group, size)), &numbers);
        }
    }

    /// Hits are drawn from the values of a permuted column that the condition admits.
    fn drawn_columns(&self, release: &OpenRelease, place: &Place<'_>, each: Each<'_>) {
        let Source::Permuted(column, of_codes, test) = &self.source else { return };
        let hits = by_group(release, place);
        let mut numbers = Vec::new();
        for (group, hit) in hits.into_iter().enumerate() {
            numbers.clear();
            let mut admitted = 0.0;
            for code in release.groups().rows(group).map(|row| column.codes.get(row)).filter(|code| test.holds(*code)) {
                admitted += 1.0;
                numbers.extend(of_codes[code as usize].map(|number| (number, 1.0)));
            }
            if admitted > 0.0 {
                each((admitted, hit.and_then(|hit| self.left(release, place, hit, admitted))), &numbers);
            }
        }
    }

    /// The hits that satisfy sensitive conditions as well, as a draw from the rows that a condition admits.
    fn left(&self, release: &OpenRelease, place: &Place<'_>, hit: Hit, admitted: f64) -> Option<Hit> {
        let group = hit.group as usize;
        let hit = match place.listed {
            Some(listed) => hit.thinned(release.size(group), listed.count(group, place.test))?,
            None => hit,
        };
        let expected = hit.expected.min(admitted);
        Some(Hit { expected, others: admitted - expected, ..hit })
    }
}

/// The hit of every group, if it has one.
fn by_group(release: &OpenRelease, place: &Place<'_>) -> Vec<Option<Hit>> {
    let mut hits = vec![None; release.groups().len()];
    place.pieces.iter().flat_map(|piece| piece.iter()).for_each(|hit| hits[hit.group as usize] = Some(*hit));
    hits
}
