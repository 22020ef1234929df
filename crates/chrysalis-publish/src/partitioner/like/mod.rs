//! Groups like those of an earlier release; see `spec.md` for the steps that the comments number.

mod boxes;
mod kept;
mod merge;
mod nearest;
mod space;

use std::sync::{Arc, Mutex};

use chrysalis_criteria::Principle;
use chrysalis_table::{Code, Progress};
use rand::CryptoRng;

use self::kept::GroupBoxes;
use self::merge::Merging;
use self::space::Space;
use super::Partitioner;
use crate::{Microdata, Partition, PublishError};

pub use boxes::EarlierBoxes;
pub(crate) use kept::KeptColumn;
pub use kept::{KeptLabels, LikeFacts};

/// Puts every row into the box of an earlier release that covers it, and merges only groups that fail.
#[derive(Clone, Debug, Default)]
pub struct Like {
    /// The boxes, once the release was read.
    pub boxes: Option<Arc<EarlierBoxes>>,
}

impl Partitioner for Like {
    fn name(&self) -> &'static str {
        "like"
    }

    fn partition(
        &self,
        data: &Microdata,
        goal: &dyn Principle,
        _: &mut dyn CryptoRng,
        progress: Progress<'_>,
    ) -> Result<Partition, PublishError> {
        // Step 1.
        let boxes = self.boxes.as_ref();
        let boxes = boxes.ok_or_else(|| PublishError::Internal("the earlier release was not read".into()))?;
        boxes.check(data)?;
        // Step 2.
        let space = Space::new(data, boxes)?;
        let places = space.place(data.rows(), progress);
        let groups = Placed::new(&places, &space, boxes.len());
        // Step 3.
        let codes: Vec<Code> = data.sensitive().map_or_else(Vec::new, |column| column.codes().iter().collect());
        let n_codes = data.sensitive().map_or(1, |column| column.domain().len());
        let (axes, rows) = (&space.axes[..], &groups.rows[..]);
        let merging = Merging { axes, goal, rows, codes: &codes, n_codes, progress, spare: Mutex::default() };
        let extents = groups.rows.iter().zip(&groups.boxes).map(|(rows, of)| match of {
            Some(of) => space.extents(*of),
            None => space.extents_of_row(rows[0]),
        });
        let mut merged = merging.merged(merging.pieces(extents.collect()));
        // Step 4.
        merged.sort_unstable_by(|one, other| one.groups.cmp(&other.groups));
        let kept = merged.iter().map(|piece| groups.kept(&piece.groups)).collect();
        let sizes: Vec<u32> = merged.iter().map(|piece| piece.rows as u32).collect();
        let rows = merged.iter().flat_map(|piece| &piece.groups).flat_map(|&group| &groups.rows[group as usize]);
        Ok(Partition::new(rows.copied().collect(), &sizes).keeping(KeptLabels::new(boxes, kept)))
    }
}

/// The rows of every box that has some, and after these rows in no box, by their quasi values.
struct Placed {
    rows: Vec<Vec<u32>>,
    boxes: Vec<Option<u32>>,
}

impl Placed {
    fn new(places: &[Option<u32>], space: &Space<'_>, n_boxes: usize) -> Placed {
        let mut of_box: Vec<Vec<u32>> = vec![Vec::new(); n_boxes];
        let mut outside: Vec<u32> = Vec::new();
        for (row, place) in (0..).zip(places) {
            match place {
                Some(at) => of_box[*at as usize].push(row),
                None => outside.push(row),
            }
        }
        outside.sort_unstable_by(|&one, &other| space.codes(one).cmp(space.codes(other)).then(one.cmp(&other)));
        let inside = of_box.into_iter().zip(0..).filter(|(rows, _)| !rows.is_empty());
        let (mut rows, mut boxes): (Vec<Vec<u32>>, Vec<Option<u32>>) =
            inside.map(|(rows, at)| (rows, Some(at))).unzip();
        for alike in outside.chunk_by(|&one, &other| space.codes(one).eq(space.codes(other))) {
            rows.push(alike.to_vec());
            boxes.push(None);
        }
        Placed { rows, boxes }
    }

    fn kept(&self, groups: &[u32]) -> GroupBoxes {
        let rows = groups.iter().filter(|&&group| self.boxes[group as usize].is_none());
        GroupBoxes {
            boxes: groups.iter().filter_map(|&group| self.boxes[group as usize]).collect(),
            outside: rows.map(|&group| self.rows[group as usize].len() as u64).sum(),
        }
    }
}
