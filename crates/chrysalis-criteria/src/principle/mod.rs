//! Conditions on the sensitive values of one group, one file per principle.
//!
//! Each is bound once to the sensitive column, which supplies what it needs to know about the whole table: the numbers
//! behind (k,e), the counts behind t-closeness and β-likeness, the categories behind (l,α). After that
//! [`Principle::holds`] cannot fail, so the hot loops of the partitioners have no error path.

mod alpha_k;
mod beta_likeness;
mod clashes;
mod distinct_l;
mod entropy_l;
mod frequency_l;
mod k_anonymity;
mod ke;
mod l_alpha;
mod m_invariance;
mod others_l;
mod persons;
mod population;
mod recursive_cl;
mod safe;
mod several;
mod t_closeness;
#[cfg(feature = "toy-principle")]
mod toy;

pub use clashes::Clashes;
pub use ke::spans;
pub use persons::{Belongings, OneOfPersons, Sees};
pub use population::PopulationGoal;
pub use several::OneOfSeveral;

use std::fmt;

use chrysalis_table::{Domain, Knob, Remedy, SaCounts, Taxonomy};

use crate::alike::Heaviest;
use crate::{Alike, Categories, CriteriaError, Laws, PrincipleSpec, Rational, Requirement};

/// A principle bound to a sensitive column.
pub trait Principle: fmt::Debug + fmt::Display + Send + Sync {
    /// What a method may rely on.
    fn laws(&self) -> Laws;

    /// Whether a group with these sensitive values passes. Exact: doubt means no.
    fn holds(&self, group: &SaCounts) -> bool;

    /// No smaller group can pass. Lets a partitioner reject a cut without looking at values.
    fn least_size(&self) -> u64;

    /// Whether size is all that matters, so that a group of `least_size` rows passes whatever its values.
    fn is_size_only(&self) -> bool {
        false
    }

    /// The least that a group needs, if that is all the principle asks: then any row may join a group that passes.
    fn minimum(&self) -> Option<Minimum> {
        None
    }

    /// Which values count as one, if that matters: rows whose values count as one do not protect each other.
    fn alike(&self) -> Option<&Alike> {
        None
    }

    /// What a group of about the least size cannot hold twice, if that can be told from codes alone.
    fn clashes(&self) -> Option<Clashes> {
        None
    }

    /// In words: which values count as one, and by which distance and with which weights groups are judged; empty if
    /// the principle itself says it all.
    fn measured(&self) -> String {
        self.alike().map_or_else(String::new, |alike| alike.words().join("; "))
    }

    /// How many of these rows a group must have at least so that it passes whichever of them it gets; `None` if nobody
    /// has proved such a number. It may be larger than needed, also larger than the number of rows.
    fn safe_size(&self, _: &SaCounts) -> Option<u64> {
        None
    }

    /// If rows with some values, by code, may stand in a group in any number: how many rows pass, no two of which have one
    /// value but for those.
    fn beside_ordinary(&self) -> Option<(u64, &[bool])> {
        None
    }

    /// How many rows, at least, must leave a group before the rest satisfies the principle or nothing is left.
    ///
    /// 0 for a group that passes. A lower bound that is cheap to find, not always the exact number.
    fn least_removal(&self, group: &SaCounts) -> u64 {
        if self.holds(group) {
            0
        } else if self.minimum().is_some() || group.total() < self.least_size() {
            // A group that falls short of a minimum still does after rows have left.
            group.total()
        } else {
            1
        }
    }

    /// The principles that it was made of, as they were written; none for a part of a goal.
    fn specs(&self) -> &[Requirement] {
        &[]
    }

    /// Why the whole table fails, and the strongest variant of this principle that it satisfies.
    ///
    /// By monotonicity, what fails for the whole table fails for every partition of it.
    fn limit(&self, whole: &SaCounts, sensitive: Option<&Sensitive<'_>>) -> Limit;
}

/// Lower limits for a group. A group that reaches them still does after more rows have joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Minimum {
    /// Rows.
    pub rows: u64,
    /// Distinct sensitive values.
    pub distinct: u64,
    /// The distance from the smallest to the largest of them; `None` asks nothing.
    pub span: Option<Rational>,
    /// Values that count as different ([`Principle::alike`]); 1 asks nothing beyond `distinct`.
    pub apart: u64,
}

/// Why a principle is out of reach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// What was found and what is allowed, as a clause.
    pub reason: String,
    /// The strongest variant that would work, as it is written; `None` if every variant that works promises nothing.
    pub possible: Option<String>,
    /// What to do if there is no such variant.
    pub instead: Remedy,
}

impl Limit {
    /// The strongest variant, if it promises anything, or else what to do instead.
    fn new(reason: String, possible: Option<PrincipleSpec>, instead: impl Into<Remedy>) -> Self {
        match possible.filter(|spec| !spec.promises_nothing()) {
            Some(spec) => Limit { reason, possible: Some(spec.to_string()), instead: Remedy::none() },
            None => Limit { reason, possible: None, instead: instead.into() },
        }
    }

    fn no_rows() -> Self {
        Limit::new("the table has no rows".into(), None, "name a table that has rows")
    }
}

/// The sensitive column, as far as principles look at it.
#[derive(Clone, Copy, Debug)]
pub struct Sensitive<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its values.
    pub domain: &'a Domain,
    /// How often each occurs in the whole table.
    pub counts: &'a SaCounts,
    /// Its taxonomy, which makes t-closeness hierarchical.
    pub taxonomy: Option<&'a Taxonomy>,
    /// Its categories, which the (l,α) principles need.
    pub categories: Option<&'a Categories>,
    /// Which of its values are ordinary, by code.
    pub ordinary: &'a [bool],
    /// Which of its values count as one.
    pub alike: &'a Alike,
}

impl PrincipleSpec {
    /// Binds to a sensitive column; everything that can be wrong is found here.
    pub fn bind(&self, sensitive: Option<&Sensitive<'_>>) -> Result<Box<dyn Principle>, CriteriaError> {
        if let PrincipleSpec::KAnonymity { k } = self {
            return Ok(Box::new(k_anonymity::KAnonymity { k: *k }));
        }
        if let PrincipleSpec::OfPopulation(spec) = self {
            return Ok(Box::new(population::OfPopulation { spec: *spec }));
        }
        let sensitive = sensitive.ok_or_else(|| CriteriaError::NoSensitive { text: self.to_string() })?;
        let categories = || {
            sensitive.categories.ok_or_else(|| CriteriaError::NoCategories {
                text: self.to_string(),
                column: sensitive.name.to_owned(),
            })
        };
        let alike = || sensitive.alike.clone();
        Ok(match self.clone() {
            PrincipleSpec::KAnonymity { k } => Box::new(k_anonymity::KAnonymity { k }),
            PrincipleSpec::OfPopulation(spec) => Box::new(population::OfPopulation { spec }),
            PrincipleSpec::MInvariance { m } => Box::new(m_invariance::MInvariance { m }),
            PrincipleSpec::DistinctL { l } => Box::new(distinct_l::DistinctLDiversity { l, alike: alike() }),
            PrincipleSpec::FrequencyL { l } => Box::new(frequency_l::FrequencyLDiversity { l, alike: alike() }),
            PrincipleSpec::OthersL { l } => Box::new(others_l::OthersLDiversity::bind(l, sensitive)),
            PrincipleSpec::EntropyL { l } => Box::new(entropy_l::EntropyLDiversity::bind(l, sensitive)),
            PrincipleSpec::RecursiveCl { c, l } => Box::new(recursive_cl::RecursiveClDiversity::bind(c, l, sensitive)),
            PrincipleSpec::TCloseness { t } => Box::new(t_closeness::TCloseness::bind(t, sensitive)),
            PrincipleSpec::Ke { k, e } => Box::new(ke::KeAnonymity::bind(k, e, sensitive)?),
            PrincipleSpec::AlphaK { alpha, k } => Box::new(alpha_k::AlphaKAnonymity { alpha, k, alike: alike() }),
            PrincipleSpec::Beta { beta } => Box::new(beta_likeness::BetaLikeness::bind(beta, sensitive)),
            #[cfg(feature = "toy-principle")]
            PrincipleSpec::Toy { n } => Box::new(toy::Toy { n }),
            PrincipleSpec::DistinctLAlpha { .. }
            | PrincipleSpec::EntropyLAlpha { .. }
            | PrincipleSpec::RecursiveLAlpha { .. } => {
                Box::new(l_alpha::LAlphaDiversity::bind(self.clone(), sensitive, categories()?)?)
            }
        })
    }
}

/// Several principles at once: all must hold.
#[derive(Debug)]
pub struct All {
    parts: Vec<Box<dyn Principle>>,
    specs: Vec<Requirement>,
    counts_persons: bool,
}

impl All {
    /// Binds principles to a sensitive column; without any principle, every non-empty group passes.
    pub fn bind(specs: &[PrincipleSpec], sensitive: Option<&Sensitive<'_>>) -> Result<Self, CriteriaError> {
        let parts = specs.iter().map(|spec| spec.bind(sensitive)).collect::<Result<_, _>>()?;
        let name = sensitive.map_or("", |sensitive| sensitive.name);
        let specs = specs.iter().map(|spec| Requirement::of(name, spec.clone())).collect();
        Ok(All { parts, specs, counts_persons: false })
    }

    /// Joins principles that are already bound. They have no specs, so they cannot be promised.
    pub fn of(parts: Vec<Box<dyn Principle>>) -> Self {
        All { parts, specs: Vec::new(), counts_persons: false }
    }

    /// The principles as they were written, each with the column it is about, in the order given.
    pub fn specs(&self) -> &[Requirement] {
        &self.specs
    }

    /// Whether groups are counted by persons, who may have several rows each.
    pub fn counts_persons(&self) -> bool {
        self.counts_persons
    }

    /// The principles, in the order given.
    pub fn parts(&self) -> &[Box<dyn Principle>] {
        &self.parts
    }

    /// The first principle that fails for a group.
    pub fn first_failure(&self, group: &SaCounts) -> Option<&dyn Principle> {
        self.parts.iter().find(|part| !part.holds(group)).map(|part| &**part)
    }
}

impl Principle for All {
    fn laws(&self) -> Laws {
        Laws {
            monotone: self.parts.iter().all(|part| part.laws().monotone),
            scale_free: self.parts.iter().all(|part| part.laws().scale_free),
        }
    }

    fn holds(&self, group: &SaCounts) -> bool {
        group.total() > 0 && self.parts.iter().all(|part| part.holds(group))
    }

    fn least_size(&self) -> u64 {
        self.parts.iter().map(|part| part.least_size()).max().unwrap_or(1).max(1)
    }

    fn is_size_only(&self) -> bool {
        self.parts.iter().all(|part| part.is_size_only())
    }

    fn safe_size(&self, rows: &SaCounts) -> Option<u64> {
        safe::of_all(self.parts.iter().map(|part| &**part), rows)
    }

    fn beside_ordinary(&self) -> Option<(u64, &[bool])> {
        let mut judging = self.parts.iter().filter(|part| !part.is_size_only());
        let (size, ordinary) = judging.next()?.beside_ordinary()?;
        judging.next().is_none().then(|| (size.max(self.least_size()), ordinary))
    }

    fn specs(&self) -> &[Requirement] {
        &self.specs
    }

    fn minimum(&self) -> Option<Minimum> {
        let nothing = Minimum { rows: 1, distinct: 1, span: None, apart: 1 };
        self.parts.iter().try_fold(nothing, |all, part| {
            let part = part.minimum()?;
            Some(Minimum {
                rows: all.rows.max(part.rows),
                distinct: all.distinct.max(part.distinct),
                span: all.span.max(part.span),
                apart: all.apart.max(part.apart),
            })
        })
    }

    fn measured(&self) -> String {
        String::new()
    }

    /// All parts are bound to one column, so those that have an [`Alike`] agree on it.
    fn alike(&self) -> Option<&Alike> {
        self.parts.iter().find_map(|part| part.alike())
    }

    /// A column that is content with groups of half the size lets a value stand twice.
    fn clashes(&self) -> Option<Clashes> {
        let least = self.least_size();
        let tight = self.parts.iter().filter(|part| 2 * part.least_size() > least);
        tight.filter_map(|part| part.clashes()).reduce(|all, part| all.with(&part))
    }

    fn least_removal(&self, group: &SaCounts) -> u64 {
        self.parts.iter().map(|part| part.least_removal(group)).max().unwrap_or(0)
    }

    fn limit(&self, whole: &SaCounts, sensitive: Option<&Sensitive<'_>>) -> Limit {
        match self.first_failure(whole) {
            Some(part) => part.limit(whole, sensitive),
            None => Limit::new("nothing stands in the way".into(), None, Remedy::none()),
        }
    }
}

impl fmt::Display for All {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<String> = self.parts.iter().map(ToString::to_string).collect();
        f.write_str(&parts.join(" and "))
    }
}

/// How many of `total` rows, at least, must leave before a value with `count` of them has a share of at most `p/q < 1`:
/// the other rows all stay, so that `rest·q/(q−p)` rows can stay in all.
fn removal_for_share(count: u64, total: u64, (p, q): (u64, u64)) -> u64 {
    let rest = u128::from(total.saturating_sub(count));
    let can_stay = rest * u128::from(q) / u128::from(q - p).max(1);
    total - u64::try_from(can_stay).unwrap_or(u64::MAX).min(total)
}

/// The same for the most frequent value among the rows that have one, and for missing values among all rows.
///
/// PROOF: a row without a value that leaves helps neither bound by more than that one row, and the rest must satisfy
/// both.
fn removal_for_most(group: &SaCounts, alike: &Alike, share: (u64, u64)) -> u64 {
    let missing = alike.missing(group);
    let of_values = removal_for_share(alike.most(group), group.total().saturating_sub(missing), share);
    of_values.max(removal_for_share(missing, group.total(), share))
}

/// The value with the largest share of a group, or the missing value: whichever stands in the way of a cap on
/// frequency.
///
/// A value's share is taken of the rows that have a value, because the others protect nobody. The share of missing
/// values is taken of all rows.
struct Frequent {
    count: u64,
    of: u64,
    /// As a clause: `value `Flu` of `disease` has 3 of 4 rows (75.00 %)`.
    words: String,
}

impl Frequent {
    fn of(whole: &SaCounts, alike: &Alike, sensitive: Option<&Sensitive<'_>>) -> Frequent {
        let missing = alike.missing(whole);
        let of = whole.total().saturating_sub(missing);
        let heaviest = alike.heaviest(whole, |_| true);
        // PROOF: counts stay below 2³², so the products fit 64 bits.
        if missing * of > heaviest.count * whole.total() || of == 0 {
            let column = column_name(sensitive);
            let words = format!("{column} is missing in {}", share_of_rows(missing, whole.total(), ""));
            return Frequent { count: missing, of: whole.total(), words };
        }
        let which = if missing > 0 { " that have one" } else { "" };
        let words = share_of_rows(heaviest.count, of, which);
        let words = match sensitive {
            None => words,
            Some(column) => format!("{} {words}", said(&heaviest, alike, column)),
        };
        Frequent { count: heaviest.count, of, words }
    }
}

fn share_of_rows(count: u64, of: u64, which: &str) -> String {
    format!("{count} of {of} rows{which} ({:.2} %)", percent(count, of))
}

/// `value `Flu` of `disease` has`: the values that count as one, by all their names, and a verb.
fn said(heaviest: &Heaviest, alike: &Alike, column: &Sensitive<'_>) -> String {
    let (name, quoted) = (column.name, |code: u32| format!("`{}`", column.domain.display(code)));
    let Some((first, last)) = heaviest.ends else { return format!("no value of `{name}` has") };
    if first != last {
        return format!("values {} to {} of `{name}`, which are near each other, have", quoted(first), quoted(last));
    }
    let all: Vec<String> =
        alike.sets().into_iter().find(|set| set[0] == first).into_iter().flatten().map(quoted).collect();
    match all.split_last() {
        Some((last, others)) => format!("values {} and {last} of `{name}`, which look alike, have", others.join(", ")),
        None => format!("value {} of `{name}` has", quoted(first)),
    }
}

/// `value` or `values`.
fn values(n: u64) -> &'static str {
    if n == 1 { "value" } else { "values" }
}

/// `disease` has 3 distinct values, and why these are fewer than it seems.
fn distinct_values(n: u64, alike: &Alike, sensitive: Option<&Sensitive<'_>>) -> String {
    let why = alike.words();
    let why = if why.is_empty() { String::new() } else { format!(" ({})", why.join("; ")) };
    format!("{} has {n} distinct {}{why}", column_name(sensitive), values(n))
}

/// What to do if one value is too frequent to be hidden among others: some principles allow that.
fn other_principles(whole: &SaCounts, alike: &Alike, sensitive: Option<&Sensitive<'_>>) -> Remedy {
    if alike.distinct(whole) < 2 {
        let column = column_name(sensitive);
        let same = if whole.distinct() < 2 { "the same value" } else { "what counts as one value" };
        return format!("every row has {same} of {column}, so nothing about it can be hidden: leave it out").into();
    }
    Remedy::from("one value is too frequent for it; ")
        .knob(Knob::Require, "beta=1")
        .words(" or ")
        .knob(Knob::Require, "t=0.2")
        .words(" compare every group with the whole table instead")
}

fn percent(part: u64, whole: u64) -> f64 {
    100.0 * part as f64 / whole as f64
}

/// The column's name in backticks, or a phrase if there is none.
fn column_name(sensitive: Option<&Sensitive<'_>>) -> String {
    sensitive.map_or_else(|| "the sensitive column".to_owned(), |column| format!("`{}`", column.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is reported if a table with these counts cannot satisfy a principle.
    fn limit(text: &str, counts: &[u32]) -> (String, Option<String>, String) {
        let values = (0..counts.len() as i64).map(chrysalis_table::Value::Integer).collect();
        let domain = Domain::new(chrysalis_table::Kind::Integer, values, false);
        let mut whole = SaCounts::new(counts.len());
        (0..).zip(counts).for_each(|(code, &count)| whole.add_many(code, count));
        let ordinary = vec![false; counts.len()];
        let sensitive = Sensitive {
            name: "s",
            domain: &domain,
            counts: &whole,
            taxonomy: None,
            categories: None,
            ordinary: &ordinary,
            alike: &Alike::default(),
        };
        let principle = text.parse::<PrincipleSpec>().unwrap().bind(Some(&sensitive)).unwrap();
        assert!(!principle.holds(&whole), "{text} holds");
        let Limit { reason, possible, instead } = principle.limit(&whole, Some(&sensitive));
        (reason, possible, instead.to_string())
    }

    #[test]
    fn where_one_value_is_too_frequent_other_principles_are_proposed() {
        let (reason, possible, instead) = limit("l=3", &[6, 1]);
        assert_eq!(reason, "value `0` of `s` has 6 of 7 rows (85.71 %), at most 33.33 % may have it");
        assert_eq!(possible, None);
        let other = "one value is too frequent for it; `require = beta=1` or `require = t=0.2` compare every group \
                     with the whole table instead";
        assert_eq!(instead, other);
        let proposed = |text: &str, counts: &[u32]| limit(text, counts).1.unwrap_or_default();
        assert_eq!(proposed("l=3", &[3, 3]), "l=2");
        assert_eq!(proposed("entropy-l=3", &[6, 1]), "entropy-l=1.5");
        assert_eq!(proposed("alpha-k=0.5,2", &[6, 1]), "alpha-k=0.8572,2");
        assert_eq!(proposed("ke=1,9", &[6, 1]), "ke=1,1");
    }

    #[test]
    fn of_one_value_nothing_is_proposed() {
        let constant = "every row has the same value of `s`, so nothing about it can be hidden: leave it out";
        for text in ["l=2", "distinct-l=2", "entropy-l=2", "recursive-l=1,2", "alpha-k=0.5,2"] {
            let (_, possible, instead) = limit(text, &[6]);
            assert_eq!((possible, instead.as_str()), (None, constant), "{text}");
        }
        let (reason, possible, _) = limit("ke=2,1", &[6]);
        assert_eq!((reason.as_str(), possible), ("`s` has 1 distinct number, a group needs 2", None));
        assert_eq!(limit("distinct-l=2", &[6]).0, "`s` has 1 distinct value, a group needs 2");
        let (reason, possible, instead) = limit("k=2", &[1]);
        assert_eq!((reason.as_str(), possible), ("the table has 1 row, a group needs 2", None));
        assert_eq!(instead, "nobody hides alone: add rows");
    }
}
