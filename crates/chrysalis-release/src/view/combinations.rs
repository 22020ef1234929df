//! The combinations of sensitive values that are shown together, group by group.

use std::sync::Arc;

use chrysalis_table::{Code, Codes, Column, Domain, each_width};
use rayon::prelude::*;

use super::multisets::numbers_of;
use super::{Field, Groups, Multisets};
use crate::{COUNT, Layout, Release, ReleaseError};

/// The combinations of some sensitive attributes, looked at from one of them.
///
/// `values` has an entry per combination, not per value: in every group, codes ascend and may repeat.
#[derive(Debug)]
pub struct Combinations {
    /// The attribute, by its place among the fields.
    pub field: usize,
    /// Its value in every combination, and how often the combination occurs.
    pub values: Multisets,
    /// The values of the other attributes in the same combinations.
    pub others: Vec<OtherValues>,
}

/// The values of one more attribute in every combination.
#[derive(Debug)]
pub struct OtherValues {
    /// The attribute, by its place among the fields.
    pub field: usize,
    /// A code per combination.
    pub codes: Vec<Code>,
    /// What codes stand for.
    pub domain: Arc<Domain>,
    /// For words: the place of every value among the attribute's listed words.
    pub ranks: Vec<Option<usize>>,
}

impl Combinations {
    /// The combinations of a set of attributes, looked at from each of them; nothing if fewer than two of their columns
    /// were read.
    pub(super) fn of(
        release: &Release,
        layout: &Layout,
        fields: &[Field],
        set: &[usize],
        (id, ids, groups): (&str, &Column, &Groups),
    ) -> Result<Vec<Combinations>, ReleaseError> {
        let counted = layout.combinations_of(set);
        let table = match counted {
            Some(table) => release.table(&table.name)?,
            None => release.table(layout.shape.people)?,
        };
        let read: Vec<(usize, &Column)> =
            set.iter().filter_map(|&field| Some((field, table.column(&fields[field].name)?))).collect();
        if read.len() < 2 {
            return Ok(Vec::new());
        }
        let listed = match counted {
            None => Listed {
                places: groups.of_rows_in_order(),
                counts: vec![1; groups.n_rows()],
                codes: read.iter().map(|(_, column)| plain(&groups.arranged(column.codes()))).collect(),
            },
            Some(known) => {
                let needed = |name: &str| super::column(table, &known.name, name);
                let (own, counts) = (needed(id)?, needed(COUNT)?);
                let behind = numbers_of(counts)?;
                Listed {
                    places: groups.places(ids, own)?,
                    counts: counts.codes().iter().map(|code| behind[code as usize]).collect(),
                    codes: read.iter().map(|(_, column)| plain(column.codes())).collect(),
                }
            }
        };
        listed.check(groups)?;
        (0..read.len()).into_par_iter().map(|first| Ok(listed.looked_at_from(first, &read, fields, groups))).collect()
    }
}

/// Combinations in any order, perhaps repeated.
struct Listed {
    places: Vec<u32>,
    counts: Vec<u32>,
    codes: Vec<Vec<Code>>,
}

impl Listed {
    /// Every group has as many combinations as rows.
    fn check(&self, groups: &Groups) -> Result<(), ReleaseError> {
        let mut sizes = vec![0_u64; groups.len()];
        for (&place, &count) in self.places.iter().zip(&self.counts) {
            sizes[place as usize] += u64::from(count);
        }
        match (0..groups.len()).find(|&group| sizes[group] != u64::from(groups.size(group))) {
            None => Ok(()),
            Some(group) => Err(ReleaseError::Nonsense(format!(
                "a group has {} rows and {} combinations of sensitive values",
                groups.size(group),
                sizes[group]
            ))),
        }
    }

    fn looked_at_from(
        &self,
        first: usize,
        read: &[(usize, &Column)],
        fields: &[Field],
        groups: &Groups,
    ) -> Combinations {
        let others: Vec<usize> = (0..read.len()).filter(|&at| at != first).collect();
        let key = |entry: usize| {
            let of_others = others.iter().map(move |&at| self.codes[at][entry]);
            [self.places[entry], self.codes[first][entry]].into_iter().chain(of_others)
        };
        let mut order: Vec<usize> = (0..self.places.len()).collect();
        order.par_sort_unstable_by(|&a, &b| key(a).cmp(key(b)));
        let mut starts = vec![0_u32; groups.len() + 1];
        let (mut kept, mut counts): (Vec<usize>, Vec<u32>) = (Vec::new(), Vec::new());
        for run in order.chunk_by(|&a, &b| key(a).eq(key(b))) {
            starts[self.places[run[0]] as usize + 1] += 1;
            kept.push(run[0]);
            counts.push(run.iter().map(|&entry| self.counts[entry]).sum());
        }
        (0..groups.len()).for_each(|group| starts[group + 1] += starts[group]);
        let codes = |at: usize| kept.iter().map(|&entry| self.codes[at][entry]).collect::<Vec<Code>>();
        let of_other = |&at: &usize| {
            let (field, column) = read[at];
            let domain = Arc::clone(column.domain());
            OtherValues { field, codes: codes(at), ranks: fields[field].ranks_of(&domain), domain }
        };
        let (field, column) = read[first];
        Combinations {
            field,
            values: Multisets::new(column.domain(), &fields[field], starts, codes(first), counts),
            others: others.iter().map(of_other).collect(),
        }
    }
}

fn plain(codes: &Codes) -> Vec<Code> {
    each_width!(codes, codes => codes.iter().map(|&code| Code::from(code)).collect())
}
