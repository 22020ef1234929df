//! The sensitive values that several tables leave to everybody.

use chrysalis_table::{Table, Watch};
use rayon::prelude::*;

use super::finder::{Finder, kinds};
use super::tally::IntersectionTally;
use super::views::JoinedView;
use crate::IntersectionOver;
use crate::boxes::index::{Boxes, Index};

/// What the tables together say about everybody. Even where nothing is promised, they must not make anybody's value
/// certain, unless one table alone does.
pub(super) fn together(
    views: &[&JoinedView<'_>],
    (people, over): (&Table, IntersectionOver),
    promised: u64,
    watch: &dyn Watch,
) -> IntersectionTally {
    let finders: Vec<Finder<'_>> = views.iter().map(|view| Finder::new(view, people, false, watch)).collect();
    let boxes: Vec<Boxes<'_>> = finders.iter().map(Finder::boxes).collect();
    let indexes: Vec<Index<'_>> = boxes.iter().map(|boxes| Index::new(boxes, watch)).collect();
    // What each release says to an attacker who knows nothing beyond its own quasi attributes.
    let own_finders: Vec<Finder<'_>> = views.iter().map(|view| Finder::new(view, people, true, watch)).collect();
    let own_boxes: Vec<Boxes<'_>> = own_finders.iter().map(Finder::boxes).collect();
    let own_indexes: Vec<Index<'_>> = own_boxes.iter().map(|boxes| Index::new(boxes, watch)).collect();
    let of_kind = |&(row, n): &(usize, u64)| {
        watch.pause();
        let found: Vec<Vec<u32>> =
            finders.iter().zip(&indexes).map(|(finder, index)| finder.values(index, row)).collect();
        let is_left = |value: &&u32| found.iter().all(|values| values.binary_search(value).is_ok());
        let left = found.first().map_or(0, |first| first.iter().filter(is_left).count() as u64);
        if left == 0 {
            return match over {
                IntersectionOver::People => {
                    IntersectionTally { people: n, contradicted: n, ..IntersectionTally::default() }
                }
                // Nobody can be where the tables contradict each other.
                IntersectionOver::Conceivable => IntersectionTally::default(),
            };
        }
        let alone = |at: usize| {
            let is_same = own_finders[at].axes.len() == finders[at].axes.len();
            if is_same { found[at].len() } else { own_finders[at].values(&own_indexes[at], row).len() }
        };
        let alone = (0..found.len()).map(alone).min().unwrap_or(0) as u64;
        let least = promised.max(alone.min(2));
        IntersectionTally { fewest: Some(left), narrowed: if left < least { n } else { 0 }, people: n, contradicted: 0 }
    };
    let found: Vec<IntersectionTally> = kinds(views, people, watch).par_iter().map(of_kind).collect();
    found.into_iter().fold(IntersectionTally::default(), IntersectionTally::and)
}
