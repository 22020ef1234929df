//! The sensitive values of groups, as far as conditions on attributes that are shown together with them admit them
//! (steps 6a and 6b of `spec.md`).

use chrysalis_release::view::{Combinations, Multisets};
use chrysalis_table::{Code, Domain};

use crate::code_test::CodeTest;
use crate::value_set::ValueSet;
use crate::{OpenRelease, Plan, QueryError};

/// The values of one sensitive attribute, group by group, of rows that pass tests of the attributes shown together with
/// it. A code may be listed several times.
#[derive(Clone, Debug)]
pub(crate) struct Listed<'a> {
    pub(crate) values: &'a Multisets,
    /// Codes in the order of the values, and which of them pass.
    tests: Vec<(&'a [Code], &'a CodeTest)>,
}

impl<'a> Listed<'a> {
    /// The values of a group that pass a test and all others, ascending, with their counts.
    pub(crate) fn passing<'s>(
        &'s self,
        group: usize,
        test: Option<&'s CodeTest>,
    ) -> impl Iterator<Item = (Code, u32)> + use<'s, 'a> {
        let values = self.values.group(group);
        let listed = values.codes.iter().copied().zip(values.counts.iter().copied());
        let pass = move |place: usize| self.tests.iter().all(|(codes, test)| test.holds(codes[place]));
        let passes = move |place: usize, code: Code| test.is_none_or(|test| test.holds(code)) && pass(place);
        self.values.places(group).zip(listed).filter(move |(place, (code, _))| passes(*place, *code)).map(|(_, it)| it)
    }

    /// How many rows of a group pass.
    pub(crate) fn count(&self, group: usize, test: Option<&CodeTest>) -> u32 {
        self.passing(group, test).map(|(_, count)| count).sum()
    }
}

/// Codes, what they stand for, and for words the place of every value among the listed ones.
type KnownCodes<'a> = (&'a [Code], &'a Domain, &'a [Option<usize>]);

/// Conditions on attributes of which one count per group says how many rows satisfy all of them: one attribute, or
/// several that are shown together.
#[derive(Debug)]
pub(crate) struct Part<'a> {
    /// The attribute whose values are listed.
    field: usize,
    values: &'a Multisets,
    /// The attributes that are shown together with it and asked about.
    combinations: Option<&'a Combinations>,
    tests: Vec<(&'a [Code], CodeTest)>,
}

impl<'a> Part<'a> {
    /// The part of a sensitive attribute, without conditions.
    pub(crate) fn new(release: &'a OpenRelease, plan: &Plan, field: usize) -> Result<Self, QueryError> {
        let combinations = match plan.set_of(field) {
            Some(set) => Some(release.combinations(plan, field, set)?),
            None => None,
        };
        let values = match combinations {
            Some(combinations) => &combinations.values,
            None => release.multisets(plan, field)?,
        };
        Ok(Part { field, values, combinations, tests: Vec::new() })
    }

    /// The values of the attribute that are listed.
    pub(crate) fn values(&self) -> &'a Multisets {
        self.values
    }

    /// The codes of an attribute, in the order of the listed values, and what they stand for; `None` if it is not part
    /// of this.
    fn codes(&self, field: usize) -> Option<KnownCodes<'a>> {
        if field == self.field {
            return Some((self.values.codes(), &self.values.domain, &self.values.ranks));
        }
        let other = self.combinations?.others.iter().find(|other| other.field == field)?;
        Some((&other.codes, &other.domain, &other.ranks))
    }

    /// Whether it decides conditions on an attribute.
    pub(crate) fn has(&self, field: usize) -> bool {
        self.codes(field).is_some()
    }

    /// Adds a condition on one of its attributes.
    pub(crate) fn restrict(&mut self, field: usize, set: &ValueSet) {
        if let Some((codes, domain, ranks)) = self.codes(field) {
            self.tests.push((codes, CodeTest::new(domain, ranks, set)));
        }
    }

    /// The test for one value of an attribute of GROUP BY, given as a code of `key`.
    pub(crate) fn only(&self, field: usize, key: &Multisets, code: Code) -> Option<(&'a [Code], CodeTest)> {
        let (codes, domain, _) = self.codes(field)?;
        // A forged table may lack the value.
        let own = domain.code_of(key.domain.value(code)).map_or(0..0, |code| code..code + 1);
        Some((codes, CodeTest::Between(own)))
    }

    /// The listed values that satisfy its conditions, and perhaps one more.
    pub(crate) fn listed<'s>(&'s self, more: Option<&'s (&'a [Code], CodeTest)>) -> Listed<'s> {
        let tests = self.tests.iter().chain(more).map(|(codes, test)| (*codes, test)).collect();
        Listed { values: self.values, tests }
    }
}
