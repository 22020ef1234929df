use std::sync::Arc;

use chrysalis_table::{Code, Domain, Value};

use super::boxes::{Cover, EarlierBoxes};

/// The labels of an earlier release that groups keep, although their rows may need less.
#[derive(Clone, Debug, PartialEq)]
pub struct KeptLabels {
    boxes: Arc<EarlierBoxes>,
    groups: Vec<GroupBoxes>,
}

/// The boxes that became one group, and whether anybody in it was in none of them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct GroupBoxes {
    pub(super) boxes: Vec<u32>,
    /// Rows that no box covers.
    pub(super) outside: u64,
}

/// How much of an earlier release's groups is left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LikeFacts {
    /// The boxes of the earlier release.
    pub boxes: u64,
    /// Those that a group shows as they are.
    pub kept: u64,
    /// Those in which nobody is.
    pub empty: u64,
    /// Rows that no box covers.
    pub outside: u64,
}

impl KeptLabels {
    pub(super) fn new(boxes: &Arc<EarlierBoxes>, groups: Vec<GroupBoxes>) -> KeptLabels {
        KeptLabels { boxes: Arc::clone(boxes), groups }
    }

    /// The labels of these groups, and after them those of others that were formed by the same boxes.
    pub(crate) fn followed_by(mut self, other: &KeptLabels) -> KeptLabels {
        self.groups.extend(other.groups.iter().cloned());
        self
    }

    /// What groups keep of one attribute; `None` if the earlier release had no such attribute.
    pub(crate) fn column(&self, name: &str) -> Option<KeptColumn<'_>> {
        self.boxes.place(name).map(|attribute| KeptColumn { kept: self, attribute })
    }

    /// How much is left.
    pub fn facts(&self) -> LikeFacts {
        let mut is_used = vec![false; self.boxes.len()];
        let mut is_kept = is_used.clone();
        for group in &self.groups {
            group.boxes.iter().for_each(|&at| is_used[at as usize] = true);
            if let ([only], 0) = (&group.boxes[..], group.outside) {
                is_kept[*only as usize] = true;
            }
        }
        let count = |all: &[bool], wanted: bool| all.iter().filter(|is| **is == wanted).count() as u64;
        LikeFacts {
            boxes: self.boxes.len() as u64,
            kept: count(&is_kept, true),
            empty: count(&is_used, false),
            outside: self.groups.iter().map(|group| group.outside).sum(),
        }
    }
}

/// What groups keep of one attribute.
#[derive(Clone, Copy)]
pub(crate) struct KeptColumn<'a> {
    kept: &'a KeptLabels,
    attribute: usize,
}

impl<'a> KeptColumn<'a> {
    fn covers(self, group: usize) -> impl Iterator<Item = &'a Cover> {
        let boxes = self.kept.groups.get(group).map_or(&[][..], |group| &group.boxes[..]);
        boxes.iter().map(move |&at| self.kept.boxes.cover(at, self.attribute))
    }

    /// Whether a group keeps nothing: all of its rows were in no box.
    pub(crate) fn is_nothing(self, group: usize) -> bool {
        self.covers(group).next().is_none()
    }

    /// The ends of a group's label that covers the ranges it keeps and also these ends; `None` is the missing value, which
    /// sorts first.
    pub(crate) fn ends(
        self,
        group: usize,
        domain: &Domain,
        (low, high): (Option<Value>, Option<Value>),
    ) -> (Option<Value>, Option<Value>) {
        let mut hull = (low, high);
        // The ends of ranges are values that somebody has: an audit takes any other for a mistake.
        for cover in self.covers(group).filter(|cover| matches!(cover, Cover::Range { .. })) {
            let codes = covered(cover, domain);
            let (Some(&first), Some(&last)) = (codes.first(), codes.last()) else { continue };
            let value = |code: Code| domain.value(code).cloned();
            hull = (hull.0.min(value(first)), hull.1.max(value(last)));
        }
        hull
    }

    /// The codes of all values that the labels stand for, ascending: of ranges, the ends alone.
    pub(crate) fn codes(self, group: usize, domain: &Domain) -> Vec<Code> {
        let mut codes: Vec<Code> = self.covers(group).flat_map(|cover| covered(cover, domain)).collect();
        codes.sort_unstable();
        codes.dedup();
        codes
    }

    /// The name of a group's label, where it is one that does not follow from its values.
    pub(crate) fn name(self, group: usize) -> Option<&'a str> {
        let mut covers = self.covers(group);
        match (covers.next(), covers.next()) {
            (Some(Cover::Words { label: Some(label), .. }), None) => Some(label),
            _ => None,
        }
    }
}

/// The codes of a domain that a label covers, ascending: of a range, the first and the last alone.
pub(super) fn covered(cover: &Cover, domain: &Domain) -> Vec<Code> {
    let lowest = Code::from(domain.has_missing());
    let mut codes: Vec<Code> = match cover {
        Cover::Range { ends: Some((low, high)), .. } => {
            let values = domain.values();
            let first = values.partition_point(|value| value < low) as Code;
            let end = values.partition_point(|value| value <= high) as Code;
            if first < end { vec![lowest + first, lowest + end - 1] } else { Vec::new() }
        }
        Cover::Range { ends: None, .. } => Vec::new(),
        Cover::Words { words, .. } => {
            words.iter().filter_map(|word| domain.code_of(Some(&Value::Text(word.clone())))).collect()
        }
    };
    let (Cover::Range { missing, .. } | Cover::Words { missing, .. }) = cover;
    codes.extend((*missing && domain.has_missing()).then_some(0));
    codes.sort_unstable();
    codes.dedup();
    codes
}
