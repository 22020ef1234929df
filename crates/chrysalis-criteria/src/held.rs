use chrysalis_table::SaCounts;
use rayon::prelude::*;

use crate::{All, Principle, Requirement};

/// Evidence that principles hold in every one of some groups. The only way to get it is to examine all of them
/// ([`All::hold_in`]). The caller must vouch that these are the groups that are published; a test of the house rules
/// makes sure that only a publisher's job calls it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldPrinciples {
    principles: Vec<Requirement>,
    counts_persons: bool,
}

impl HeldPrinciples {
    /// The principles that hold, each with the column it is about, in the order they were asked for, each once.
    pub fn principles(&self) -> &[Requirement] {
        &self.principles
    }

    /// Whether persons were counted, who may have several rows each, and not rows.
    pub fn counts_persons(&self) -> bool {
        self.counts_persons
    }
}

impl All {
    /// Examines every group, on all cores, and returns evidence that all principles hold, or the first group where one
    /// does not.
    ///
    /// `count` adds the sensitive values of the group with the given number; `domain_len` is the number of codes.
    pub fn hold_in(
        &self,
        n_groups: usize,
        domain_len: usize,
        count: impl Fn(usize, &mut SaCounts) + Sync,
    ) -> Result<HeldPrinciples, usize> {
        let fails = |counts: &mut SaCounts, group: usize| {
            counts.clear();
            count(group, counts);
            (!self.holds(counts)).then_some(group)
        };
        let failing = (0..n_groups).into_par_iter().map_init(|| SaCounts::new(domain_len), fails);
        match failing.filter_map(|failing| failing).min() {
            Some(group) => Err(group),
            // No group, no evidence.
            None if n_groups == 0 => Err(0),
            None => {
                let mut principles: Vec<Requirement> = Vec::new();
                self.specs().iter().for_each(|spec| {
                    if !principles.contains(spec) {
                        principles.push(spec.clone());
                    }
                });
                Ok(HeldPrinciples { principles, counts_persons: self.counts_persons() })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PrincipleSpec;

    #[test]
    fn only_groups_that_all_pass_are_evidence() {
        let specs = ["k=2", "k=3", "k=2"].map(|text| text.parse::<PrincipleSpec>().unwrap());
        let goal = All::bind(&specs, None).unwrap();
        let specs = specs.map(Requirement::of_all);
        let check = |sizes: &[u32]| goal.hold_in(sizes.len(), 1, |group, counts| counts.add_many(0, sizes[group]));
        assert_eq!(check(&[3, 4, 5]).unwrap().principles(), &specs[..2]);
        assert_eq!(check(&[3, 2, 1]), Err(1));
        assert_eq!(check(&[]), Err(0));
    }
}
