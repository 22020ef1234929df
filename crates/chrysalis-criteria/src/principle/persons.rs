//! Principles that count persons, who may have several rows each.
//!
//! A group is then counted by what its persons have: all persons with the same values, equally often in every sensitive
//! column, share a code. Each column's principles look at one of three measures of a group, all of which survive
//! merging: how many persons have a value; in how many rows it stands, where tables do not show how many persons these
//! are; and the mean over persons of 1/d on each of a person's d values.

use std::fmt;
use std::sync::Arc;

use chrysalis_table::{Code, Knob, Remedy, SaCounts};
use num_integer::Integer;
use num_traits::CheckedMul;

use super::k_anonymity::KAnonymity;
use super::several::{SortedOut, with_empty};
use super::{All, Clashes, Limit, Principle, Sensitive};
use crate::{Alike, CriteriaError, Laws, PrincipleSpec, Rational, Requirement};

/// What persons have in one sensitive column: for every code of what they have in all columns, the values and in how
/// many rows each of them stands.
#[derive(Clone, Debug, Default)]
pub struct Belongings {
    ends: Vec<u32>,
    values: Vec<(Code, u32)>,
}

impl Belongings {
    /// No codes yet.
    pub fn new() -> Self {
        Belongings::default()
    }

    /// Adds the next code: values, each once, with the number of rows in which they stand.
    pub fn push(&mut self, values: impl IntoIterator<Item = (Code, u32)>) {
        self.values.extend(values);
        self.ends.push(u32::try_from(self.values.len()).unwrap_or(u32::MAX));
    }

    /// The values behind a code.
    pub fn of(&self, code: Code) -> &[(Code, u32)] {
        let at = code as usize;
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.values[start as usize..self.ends[at] as usize]
    }

    /// How many codes there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
}

/// One sensitive column of a table in which persons may have several rows.
#[derive(Clone, Debug)]
pub struct OneOfPersons<'a> {
    /// The column.
    pub sensitive: Sensitive<'a>,
    /// What persons have in it.
    pub has: Arc<Belongings>,
}

/// What readers of a release see of the persons who have a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sees {
    /// How many there are.
    Persons,
    /// Only in how many rows the value stands: there are no more persons who have it than that.
    Rows,
}

/// How a group is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Measure {
    /// How many persons have a value.
    Persons,
    /// In how many rows a value stands.
    Rows,
    /// The sum over persons of a common multiple of all d, divided by d, on each of a person's d values.
    Shares(u32),
}

impl Measure {
    fn of(principle: &PrincipleSpec, sees: Sees, common: Option<u32>) -> Option<Measure> {
        match principle {
            PrincipleSpec::FrequencyL { .. } | PrincipleSpec::OthersL { .. } | PrincipleSpec::AlphaK { .. } => {
                Some(if sees == Sees::Persons { Measure::Persons } else { Measure::Rows })
            }
            PrincipleSpec::KAnonymity { .. }
            | PrincipleSpec::DistinctL { .. }
            | PrincipleSpec::Ke { .. }
            | PrincipleSpec::Beta { .. } => Some(Measure::Persons),
            // Labels decide; persons with several rows are not told apart in a population.
            PrincipleSpec::OfPopulation(_) => None,
            // Everybody has one row in a release.
            PrincipleSpec::MInvariance { .. } => None,
            #[cfg(feature = "toy-principle")]
            PrincipleSpec::Toy { .. } => Some(Measure::Persons),
            PrincipleSpec::EntropyL { .. }
            | PrincipleSpec::RecursiveCl { .. }
            | PrincipleSpec::TCloseness { .. }
            | PrincipleSpec::DistinctLAlpha { .. }
            | PrincipleSpec::EntropyLAlpha { .. }
            | PrincipleSpec::RecursiveLAlpha { .. } => common.map(Measure::Shares),
        }
    }

    /// Adds up what the persons of a group have.
    fn count(self, has: &Belongings, group: &SaCounts, counts: &mut SaCounts) {
        for (code, persons) in group.iter() {
            let values = has.of(code);
            // PROOF: persons have 32-bit numbers; the sum of all shares has 32 bits, and counts past that would only
            // occur where a value stands in more rows than a table can have.
            let persons = persons as u32;
            match self {
                Measure::Persons => values.iter().for_each(|&(value, _)| counts.add_many(value, persons)),
                Measure::Rows => values.iter().for_each(|&(value, rows)| counts.add_many(value, persons * rows)),
                Measure::Shares(common) => {
                    let share = common / (values.len() as u32).max(1);
                    values.iter().for_each(|&(value, _)| counts.add_many(value, persons * share));
                }
            }
        }
        if !matches!(self, Measure::Shares(_)) {
            counts.set_total(group.total());
        }
    }
}

/// The least common multiple of the numbers of values that persons have, if the shares of all persons together can then
/// be counted in 32 bits, as every principle assumes.
fn common_multiple(has: &Belongings, whole: &SaCounts) -> Option<u32> {
    let most = u64::from(u32::MAX) / whole.total().max(1);
    let common = whole.iter().try_fold(1_u64, |common, (code, _)| {
        let next = common.lcm(&(has.of(code).len() as u64).max(1));
        (next <= most).then_some(next)
    });
    common.and_then(|common| u32::try_from(common).ok())
}

/// The most values that a person may have so that shares can be counted exactly.
fn most_values(persons: u64) -> u64 {
    let most = u64::from(u32::MAX) / persons.max(1);
    let mut common = 1_u64;
    (1..)
        .take_while(|n| {
            common = common.lcm(n);
            common <= most
        })
        .last()
        .unwrap_or(1)
}

impl All {
    /// Binds requirements to the sensitive columns of a table in which persons may have several rows. Groups are then
    /// counted by what their persons have; `whole` are all persons.
    pub fn bind_persons(
        requirements: &[Requirement],
        columns: &[OneOfPersons<'_>],
        whole: &SaCounts,
        sees: Sees,
    ) -> Result<Self, CriteriaError> {
        let all: Vec<Sensitive<'_>> = columns.iter().map(|column| column.sensitive).collect();
        let SortedOut { sizes, populations, of_columns, specs } = SortedOut::new(requirements, &all)?;
        if let Some(spec) = populations.first() {
            let problem = "it counts rows of a population, not persons with several rows".to_owned();
            return Err(CriteriaError::Parameter { text: PrincipleSpec::OfPopulation(*spec).to_string(), problem });
        }
        let mut parts: Vec<Box<dyn Principle>> = Vec::new();
        parts.extend(sizes.into_iter().map(|k| -> Box<dyn Principle> { Box::new(KAnonymity { k }) }));
        let has_several = columns.len() > 1;
        let bind = |(column, principles): (&OneOfPersons<'_>, Vec<PrincipleSpec>)| {
            OfPersons::bind(column, &principles, whole, sees, has_several)
        };
        let mut of_columns = columns.iter().zip(of_columns).map(bind).collect::<Result<Vec<_>, _>>()?;
        of_columns.retain(|column| !column.parts.is_empty());
        // Persons are dealt by the column that constrains most.
        of_columns.sort_by_key(|column| std::cmp::Reverse((column.least_size(), column.most)));
        if let Some(first) = of_columns.first_mut() {
            first.alike = Some(first.of_values.of_combinations(&first.main));
        }
        parts.extend(of_columns.into_iter().map(|column| -> Box<dyn Principle> { Box::new(column) }));
        Ok(All { parts, specs, counts_persons: true })
    }

    /// The first requirement that all persons together fail, why, and the column it is about.
    pub fn why_persons_fail(
        requirements: &[Requirement],
        columns: &[OneOfPersons<'_>],
        whole: &SaCounts,
        sees: Sees,
    ) -> Result<Option<(String, Limit, Option<String>)>, CriteriaError> {
        let all: Vec<Sensitive<'_>> = columns.iter().map(|column| column.sensitive).collect();
        let SortedOut { sizes, of_columns, .. } = SortedOut::new(requirements, &all)?;
        for k in sizes {
            let size = KAnonymity { k };
            if !size.holds(whole) {
                return Ok(Some((size.to_string(), of_persons(size.limit(whole, None)), None)));
            }
        }
        for (column, principles) in columns.iter().zip(of_columns) {
            let bound = OfPersons::bind(column, &principles, whole, sees, columns.len() > 1)?;
            if let Some(part) = bound.parts.iter().find(|part| !bound.part_holds(part, whole)) {
                let name = column.sensitive.name.to_owned();
                let limit = bound.measured_in(part.measure, whole, |counts| bound.why(part, counts, whole, column));
                return Ok(Some((part.written.to_string(), limit, Some(name))));
            }
        }
        Ok(None)
    }
}

/// Limits speak of rows; here persons were counted.
fn of_persons(limit: Limit) -> Limit {
    let reason = limit.reason.replace(" rows", " persons").replace(" row", " person");
    Limit { reason, ..limit }
}

/// The principles of one column.
#[derive(Debug)]
struct OfPersons {
    name: String,
    has_several: bool,
    parts: Vec<Part>,
    has: Arc<Belongings>,
    /// Whether every code is that of the one value which its persons have, once each: then codes are counted as values.
    is_plain: bool,
    n_values: usize,
    /// For every code, the value that most persons have among those that its persons have.
    main: Vec<Code>,
    /// How many persons have the most frequent value.
    most: u64,
    of_values: Alike,
    /// Which codes are dealt as one; for the column by which persons are dealt.
    alike: Option<Alike>,
}

/// One principle, and how groups are measured for it.
#[derive(Debug)]
struct Part {
    written: PrincipleSpec,
    principle: Box<dyn Principle>,
    measure: Measure,
    /// The fewest persons that can pass.
    least: u64,
}

impl OfPersons {
    fn bind(
        column: &OneOfPersons<'_>,
        principles: &[PrincipleSpec],
        whole: &SaCounts,
        sees: Sees,
        has_several: bool,
    ) -> Result<Self, CriteriaError> {
        let (sensitive, has) = (&column.sensitive, &column.has);
        let n_values = sensitive.domain.len();
        let common = common_multiple(has, whole);
        let mut parts = Vec::new();
        for written in principles {
            let Some(measure) = Measure::of(written, sees, common) else {
                return Err(CriteriaError::TooManyValues {
                    text: written.to_string(),
                    column: sensitive.name.to_owned(),
                    most: most_values(whole.total()),
                });
            };
            let mut counts = SaCounts::new(n_values);
            measure.count(has, whole, &mut counts);
            let scaled = scaled(written, measure).ok_or_else(|| CriteriaError::Parameter {
                text: written.to_string(),
                problem: "its weight is too large to be counted in shares of persons".to_owned(),
            })?;
            let principle = scaled.bind(Some(&Sensitive { counts: &counts, ..*sensitive }))?;
            let least = match written {
                // The weight is one of shares.
                PrincipleSpec::DistinctLAlpha { l, .. }
                | PrincipleSpec::EntropyLAlpha { l, .. }
                | PrincipleSpec::RecursiveLAlpha { l, .. } => *l,
                _ => principle.least_size(),
            };
            parts.push(Part { written: written.clone(), principle, measure, least });
        }
        let mut persons = SaCounts::new(n_values);
        Measure::Persons.count(has, whole, &mut persons);
        // Of values that count as one, all count.
        let of_values = sensitive.alike.clone();
        let classes = of_values.classes();
        let class = |value: Code| classes.get(value as usize).copied().unwrap_or(value);
        let mut of_class = vec![0_u64; n_values];
        persons.iter().for_each(|(value, count)| of_class[class(value) as usize] += count);
        let heaviest = |code: Code| {
            let weight = |value: Code| (!of_values.is_missing(value), of_class[class(value) as usize]);
            let values = has.of(code).iter().map(|&(value, _)| value);
            values.max_by_key(|&value| (weight(value), std::cmp::Reverse(value))).unwrap_or(0)
        };
        let main = (0..has.len() as Code).map(heaviest).collect();
        Ok(OfPersons {
            name: sensitive.name.to_owned(),
            has_several,
            parts,
            has: Arc::clone(has),
            is_plain: has.len() == n_values && (0..n_values as Code).all(|code| has.of(code) == [(code, 1)]),
            n_values,
            main,
            most: of_values.most(&persons),
            of_values,
            alike: None,
        })
    }

    /// What `judge` says about a group in a measure.
    fn measured_in<T>(&self, measure: Measure, group: &SaCounts, judge: impl FnOnce(&SaCounts) -> T) -> T {
        if self.is_plain {
            return judge(group);
        }
        with_empty(self.n_values, |counts| {
            measure.count(&self.has, group, counts);
            judge(counts)
        })
    }

    fn part_holds(&self, part: &Part, group: &SaCounts) -> bool {
        // One person with l values is nobody to hide among.
        group.total() >= part.least && self.measured_in(part.measure, group, |counts| part.principle.holds(counts))
    }

    /// Why a part fails for all persons.
    fn why(&self, part: &Part, counts: &SaCounts, whole: &SaCounts, column: &OneOfPersons<'_>) -> Limit {
        if whole.total() < part.least {
            let words = if whole.total() == 1 { "person" } else { "persons" };
            let reason = format!("the table has {} {words}, a group needs {}", whole.total(), part.least);
            return Limit::new(reason, None, "nobody hides alone: add persons");
        }
        let limit = of_persons(part.principle.limit(counts, Some(&Sensitive { counts, ..column.sensitive })));
        match part.measure {
            Measure::Persons => limit,
            Measure::Rows => Limit {
                reason: format!("{}, counting every row as a person because the tables cannot tell", limit.reason),
                possible: limit.possible,
                instead: Remedy::from("use ")
                    .knob(Knob::RowsPerPerson, "1")
                    .words(", or a method that counts values by group: ")
                    .knob(Knob::Method, ""),
            },
            Measure::Shares(_) if part.written.weighs() => {
                Limit { possible: None, instead: "ask for less".into(), ..limit }
            }
            Measure::Shares(_) => limit,
        }
    }
}

/// What to bind so that a principle that adds up weights finds shares where it expects rows: its α, as many times as a
/// whole person has shares.
fn scaled(principle: &PrincipleSpec, measure: Measure) -> Option<PrincipleSpec> {
    let Measure::Shares(common) = measure else { return Some(principle.clone()) };
    let times = |alpha: &Rational| alpha.checked_mul(&Rational::from(u64::from(common)));
    Some(match principle {
        PrincipleSpec::DistinctLAlpha { l, alpha } => PrincipleSpec::DistinctLAlpha { l: *l, alpha: times(alpha)? },
        PrincipleSpec::EntropyLAlpha { l, alpha } => PrincipleSpec::EntropyLAlpha { l: *l, alpha: times(alpha)? },
        PrincipleSpec::RecursiveLAlpha { c, l, alpha } => {
            PrincipleSpec::RecursiveLAlpha { c: *c, l: *l, alpha: times(alpha)? }
        }
        _ => principle.clone(),
    })
}

impl Principle for OfPersons {
    fn laws(&self) -> Laws {
        Laws {
            monotone: self.parts.iter().all(|part| part.principle.laws().monotone),
            // Numbers of persons are needed, too.
            scale_free: false,
        }
    }

    fn holds(&self, group: &SaCounts) -> bool {
        self.parts.iter().all(|part| self.part_holds(part, group))
    }

    fn least_size(&self) -> u64 {
        self.parts.iter().map(|part| part.least).max().unwrap_or(1)
    }

    /// Every person who has a value may be in the group. In shares, a person has as many as the common multiple.
    fn safe_size(&self, group: &SaCounts) -> Option<u64> {
        let of_part = |part: &Part| {
            let size = self.measured_in(part.measure, group, |counts| part.principle.safe_size(counts))?;
            let each = if let Measure::Shares(common) = part.measure { u64::from(common) } else { 1 };
            Some(size.div_ceil(each).max(part.least))
        };
        self.parts.iter().map(of_part).try_fold(1, |most, size| Some(most.max(size?)))
    }

    fn alike(&self) -> Option<&Alike> {
        self.alike.as_ref()
    }

    fn clashes(&self) -> Option<Clashes> {
        if self.is_plain && !self.has_several {
            return None;
        }
        let classes = self.of_values.classes();
        let class = |&(value, _): &(Code, u32)| classes.get(value as usize).copied().unwrap_or(value);
        let keys = |code: Code| self.has.of(code).iter().map(class).collect();
        Some(Clashes::new((0..self.has.len() as Code).map(keys)))
    }

    fn measured(&self) -> String {
        String::new()
    }

    /// Whoever binds persons asks [`All::why_persons_fail`] first, which knows the column.
    fn limit(&self, _: &SaCounts, _: Option<&Sensitive<'_>>) -> Limit {
        Limit::new(format!("all persons together fail {self}"), None, Remedy::none())
    }
}

impl fmt::Display for OfPersons {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = |part: &Part| match self.has_several {
            true => format!("{}:{}", self.name, part.written),
            false => part.written.to_string(),
        };
        f.write_str(&self.parts.iter().map(part).collect::<Vec<_>>().join(" and "))
    }
}

#[cfg(test)]
mod tests {
    use chrysalis_table::{Domain, Kind, Value};

    use super::*;
    use crate::Near;

    /// Persons by what they have: values 0, 1, 2 … in so many rows each.
    fn check(text: &str, sees: Sees, persons: &[&[(Code, u32)]], expected: bool) {
        let domain =
            Domain::new(Kind::Category, ["a", "b", "c", "d"].map(|text| Value::Text(text.into())).to_vec(), false);
        let mut has = Belongings::new();
        persons.iter().for_each(|values| has.push(values.iter().copied()));
        let group = SaCounts::of(persons.len(), 0..persons.len() as Code);
        let rows = SaCounts::of(4, persons.iter().flat_map(|it| it.iter()).map(|(value, _)| *value));
        let alike = Alike::new(&domain, &Near::Nothing);
        let sensitive = Sensitive {
            name: "s",
            domain: &domain,
            counts: &rows,
            taxonomy: None,
            categories: None,
            ordinary: &[false; 4],
            alike: &alike,
        };
        let columns = [OneOfPersons { sensitive, has: Arc::new(has) }];
        let required = [Requirement::of_all(text.parse().unwrap())];
        let goal = All::bind_persons(&required, &columns, &group, sees).unwrap();
        assert_eq!(goal.holds(&group), expected, "{text} {persons:?}");
    }

    #[test]
    fn a_value_is_counted_by_persons_or_by_rows() {
        // Two persons, one of whom has the value in three rows: half of the persons have it.
        let two: &[&[(Code, u32)]] = &[&[(0, 3)], &[(1, 1)]];
        check("l=2", Sees::Persons, two, true);
        check("l=2", Sees::Rows, two, false);
        check("alpha-k=0.5,2", Sees::Persons, two, true);
        check("alpha-k=0.5,3", Sees::Persons, two, false);
        check("k=2", Sees::Rows, two, true);
        check("k=3", Sees::Rows, two, false);
        // Both have b: everybody does.
        check("l=2", Sees::Persons, &[&[(0, 1), (1, 1)], &[(1, 1)]], false);
        check("l=2", Sees::Rows, &[&[(0, 2)], &[(1, 1)], &[(2, 1)], &[(3, 1)]], true);
    }

    #[test]
    fn values_of_one_person_are_no_company() {
        check("distinct-l=3", Sees::Persons, &[&[(0, 1), (1, 1), (2, 1)]], false);
        check("distinct-l=3", Sees::Persons, &[&[(0, 1), (1, 1), (2, 1)], &[(0, 1)], &[(0, 1)]], true);
        check("entropy-l=3", Sees::Persons, &[&[(0, 1), (1, 1), (2, 1)]], false);
    }

    #[test]
    fn every_person_has_one_share_to_give() {
        // Shares: a 1/2, b 1/2 of the first person; c and d of the others: 1/6, 1/6, 1/3, 1/3.
        let three: &[&[(Code, u32)]] = &[&[(0, 9), (1, 1)], &[(2, 1)], &[(3, 1)]];
        // The entropy is that of 3.78 values, and four are there.
        check("entropy-l=3", Sees::Persons, three, true);
        // Two persons with two values each: a 1/2, b 1/4, c 1/4.
        let two: &[&[(Code, u32)]] = &[&[(0, 1), (1, 1)], &[(0, 1), (2, 5)]];
        check("recursive-l=2,2", Sees::Persons, two, true);
        check("recursive-l=1,2", Sees::Persons, two, false);
    }

    #[test]
    fn shares_that_leave_32_bits_are_refused() {
        assert_eq!(most_values(71_518), 12);
        assert_eq!(most_values(1), 22);
        assert_eq!(most_values(u64::from(u32::MAX)), 1);
    }

    #[test]
    fn what_stands_in_the_way_is_said_about_persons() {
        let domain = Domain::new(Kind::Category, ["a", "b"].map(|text| Value::Text(text.into())).to_vec(), false);
        let alike = Alike::new(&domain, &Near::Nothing);
        let rows = SaCounts::of(2, [0, 0, 1]);
        let mut has = Belongings::new();
        has.push([(0, 3)]);
        has.push([(1, 1)]);
        let sensitive = Sensitive {
            name: "s",
            domain: &domain,
            counts: &rows,
            taxonomy: None,
            categories: None,
            ordinary: &[false; 2],
            alike: &alike,
        };
        let columns = [OneOfPersons { sensitive, has: Arc::new(has) }];
        let group = SaCounts::of(2, [0, 0, 1]);
        let why = |text: &str, sees: Sees| {
            let required = [Requirement::of_all(text.parse().unwrap())];
            let (principle, limit, _) = All::why_persons_fail(&required, &columns, &group, sees).unwrap().unwrap();
            (principle, limit.reason)
        };
        assert_eq!(why("k=4", Sees::Rows).1, "the table has 3 persons, a group needs 4");
        assert_eq!(
            why("l=2", Sees::Persons).1,
            "value `a` of `s` has 2 of 3 persons (66.67 %), at most 50.00 % may have it"
        );
        let by_rows = why("l=2", Sees::Rows).1;
        assert!(by_rows.ends_with("counting every row as a person because the tables cannot tell"), "{by_rows}");
        assert_eq!(why("distinct-l=5", Sees::Persons).1, "the table has 3 persons, a group needs 5");
    }
}
