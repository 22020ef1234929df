//! Compares the worst level of any group with what was promised.

mod clause;

use chrysalis_criteria::{PrincipleSpec, Rational};
use chrysalis_release::{Attribute, Manifest, Promise, Scope, Unit};
use chrysalis_table::exact::BigRational;
use chrysalis_table::{Domain, Kind, Taxonomy, Watch};

pub(crate) use self::clause::{Clause, Measured, show};
use self::clause::{
    at_least, at_least_exactly, at_most, entropy, equally_often, fraction, frequency, recursive, share_of_others, some,
    worst_ratio,
};
use crate::counting::{Counting, Reading};
use crate::disclosure;
use crate::measure::{self, Categories, Fraction, Ground, Group, GroupCounts, Worst};
use crate::population::NO_POPULATION;
use crate::sensitive::{categories, taxonomy};
use crate::{AuditError, PrincipleResult};

/// Measures every promise of a manifest, in its order.
///
/// `evidence` gives the groups that a promise of some scope is measured on: one entry, one per user, or `None` where a
/// release of this form has nothing of the kind.
pub(crate) fn judge<'e>(
    manifest: &Manifest,
    evidence: impl Fn(Scope) -> Option<&'e [JudgedGroups<'e>]>,
    watch: &dyn Watch,
) -> Result<Vec<PrincipleResult>, AuditError> {
    Ok(measure_all(manifest, evidence, watch)?.into_iter().map(Measured::result).collect())
}

/// The same, so that it can be brought together with what other groups of the release say.
pub(crate) fn measure_all<'e>(
    manifest: &Manifest,
    evidence: impl Fn(Scope) -> Option<&'e [JudgedGroups<'e>]>,
    watch: &dyn Watch,
) -> Result<Vec<Measured>, AuditError> {
    // Promises about persons are judged elsewhere, from what the release says about persons.
    if manifest.persons.is_some() {
        return Ok(Vec::new());
    }
    let mut results = Vec::with_capacity(manifest.promises.len());
    for promise in &manifest.promises {
        let evidence = evidence(promise.scope()).ok_or_else(|| {
            let problem = format!("a release by method `{}` has no {}", manifest.method, said(promise.scope()));
            unusable(promise, problem)
        })?;
        if promise.principle().needs_population() && !crate::takes_population(manifest) {
            let problem = format!("a release by method `{}` shows no labels to count people under", manifest.method);
            return Err(unusable(promise, problem));
        }
        for evidence in evidence {
            watch.pause();
            results.push(evidence.measure(promise)?);
        }
    }
    Ok(results)
}

pub(crate) fn said(scope: Scope) -> &'static str {
    match scope {
        Scope::Group => "groups",
        Scope::Batch => "batches",
        Scope::Bucket => "buckets",
        Scope::User => "users",
    }
}

pub(crate) fn unusable(promise: &Promise, problem: String) -> AuditError {
    AuditError::Promise { principle: promise.principle().to_string(), problem }
}

/// The least number of sensitive values that these promises leave to everybody.
pub(crate) fn promised_values(promises: &[Promise]) -> u64 {
    let least = |l: Rational| l.ceil().to_integer();
    let of_promise = |promise: &Promise| match *promise.principle() {
        PrincipleSpec::FrequencyL { l } | PrincipleSpec::EntropyL { l } => least(l),
        PrincipleSpec::AlphaK { alpha, .. } if alpha > Rational::from_integer(0) => least(alpha.recip()),
        PrincipleSpec::DistinctL { l }
        | PrincipleSpec::RecursiveCl { l, .. }
        | PrincipleSpec::DistinctLAlpha { l, .. }
        | PrincipleSpec::EntropyLAlpha { l, .. }
        | PrincipleSpec::RecursiveLAlpha { l, .. }
        | PrincipleSpec::MInvariance { m: l }
        | PrincipleSpec::Ke { k: l, .. } => l,
        #[cfg(feature = "toy-principle")]
        PrincipleSpec::Toy { n } => n,
        PrincipleSpec::KAnonymity { .. }
        | PrincipleSpec::OfPopulation(_)
        | PrincipleSpec::AlphaK { .. }
        | PrincipleSpec::TCloseness { .. }
        // It says nothing about ordinary values.
        | PrincipleSpec::OthersL { .. }
        | PrincipleSpec::Beta { .. } => 1,
    };
    promises.iter().map(of_promise).max().unwrap_or(1)
}

/// The least number of rows that these promises leave in every group. Different values are in different rows.
pub(crate) fn promised_rows(promises: &[Promise]) -> u64 {
    Promise::largest_k(promises.iter()).unwrap_or(1).max(promised_values(promises))
}

/// The largest share of one value that these promises allow in a group, if they bound it: 1/l or α.
pub(crate) fn promised_share(promises: &[Promise]) -> Option<Rational> {
    let of_promise = |promise: &Promise| match *promise.principle() {
        PrincipleSpec::FrequencyL { l } if l > Rational::from_integer(0) => Some(l.recip()),
        PrincipleSpec::AlphaK { alpha, .. } => Some(alpha),
        _ => None,
    };
    promises.iter().filter_map(of_promise).min()
}

/// The largest share of one value that one of several releases allows: the weakest promise, because an attacker who has
/// that release alone can already bet that well. Releases that promise no share are left out; `None` where all are.
pub(crate) fn weakest_share<'a>(releases: impl Iterator<Item = &'a [Promise]>) -> Option<Rational> {
    releases.filter_map(promised_share).max()
}

/// The sensitive column of a release, counted by group.
struct Sensitive<'a> {
    name: &'a str,
    domain: &'a Domain,
    taxonomy: Option<Taxonomy>,
    categories: Option<Categories>,
    /// Which values are ordinary, by code.
    ordinary: Vec<bool>,
    /// What counts as a value.
    counting: Counting<'a>,
    sample: &'a GroupCounts,
}

const NOTHING_SENSITIVE: &str = "the release has no sensitive attribute";

/// The groups that a promise is measured on, as a user sees them.
pub(crate) struct JudgedGroups<'a> {
    /// Rows of every group.
    sizes: &'a [u64],
    /// The published id of every group, if it has one.
    ids: &'a [Option<i64>],
    /// Their sensitive values, or why there are none.
    sensitive: Result<Sensitive<'a>, &'static str>,
    /// The attributes that this user knows, where there are several users.
    user: Option<&'a [String]>,
    /// What sizes and values count.
    unit: Unit,
}

impl<'a> JudgedGroups<'a> {
    /// Groups with the sensitive attribute, its values and how often each occurs in every group, if there is such an
    /// attribute.
    pub(crate) fn new(
        manifest: &Manifest,
        sizes: &'a [u64],
        ids: &'a [Option<i64>],
        shown: Option<(&'a Attribute, &'a Domain, &'a GroupCounts)>,
    ) -> Result<JudgedGroups<'a>, AuditError> {
        let sensitive = match shown {
            None => Err(NOTHING_SENSITIVE),
            Some((attribute, domain, sample)) => {
                Ok(Sensitive::new(manifest, (attribute, domain), sample.whole(), sample)?)
            }
        };
        Ok(JudgedGroups { sizes, ids, sensitive, user: None, unit: Unit::Rows })
    }

    /// Groups whose sizes count persons, and whose values count the persons who have each. `whole` says how many rows
    /// have each value: which values count as one, and which are ordinary, is decided by rows.
    pub(crate) fn of_persons(
        manifest: &Manifest,
        sizes: &'a [u64],
        ids: &'a [Option<i64>],
        shown: Option<(&'a Attribute, &'a Domain, &[u64], &'a GroupCounts)>,
    ) -> Result<JudgedGroups<'a>, AuditError> {
        let sensitive = match shown {
            None => Err(NOTHING_SENSITIVE),
            Some((attribute, domain, whole, sample)) => {
                Ok(Sensitive::new(manifest, (attribute, domain), whole, sample)?)
            }
        };
        Ok(JudgedGroups { sizes, ids, sensitive, user: None, unit: Unit::Persons })
    }

    /// Groups of which only the rows can be counted, and why.
    pub(crate) fn of_rows(sizes: &'a [u64], ids: &'a [Option<i64>], why: &'static str) -> JudgedGroups<'a> {
        JudgedGroups { sizes, ids, sensitive: Err(why), user: None, unit: Unit::Rows }
    }

    /// The same groups, of which persons are counted.
    pub(crate) fn counting_persons(self) -> JudgedGroups<'a> {
        JudgedGroups { unit: Unit::Persons, ..self }
    }

    /// The same groups, as those of a user who knows these attributes.
    pub(crate) fn seen_by(self, user: &'a [String]) -> JudgedGroups<'a> {
        JudgedGroups { user: Some(user), ..self }
    }
}

impl JudgedGroups<'_> {
    /// How well a promise is kept.
    pub(crate) fn judge(&self, promise: &Promise) -> Result<PrincipleResult, AuditError> {
        Ok(self.measure(promise)?.result())
    }

    /// Measures one promise.
    pub(crate) fn measure(&self, promise: &Promise) -> Result<Measured, AuditError> {
        let measured = Measured {
            principle: promise.principle().to_string(),
            untold: None,
            clauses: Vec::new(),
            words: String::new(),
            by_equal_distance: 0.0,
            user: self.user.map(|user| user.join(", ")),
        };
        if promise.principle().needs_population() {
            return Ok(Measured { untold: Some(NO_POPULATION.to_owned()), ..measured });
        }
        let mut clauses = self.clauses(promise).map_err(|problem| unusable(promise, problem))?;
        if clauses.is_empty() {
            return Err(AuditError::NoRows { what: "the release" });
        }
        clauses.iter_mut().for_each(|clause| clause.id = self.ids.get(clause.group).copied().flatten());
        let (words, by_equal_distance) = self.measured(promise);
        Ok(Measured { clauses, words, by_equal_distance, ..measured })
    }

    /// How a promise was measured, in words, where the principle does not say so itself; and the worst level by equal
    /// distance, where these words name it.
    fn measured(&self, promise: &Promise) -> (String, f64) {
        match (&self.sensitive, promise.principle()) {
            (Err(_), _) => (String::new(), 0.0),
            (Ok(sensitive), PrincipleSpec::TCloseness { .. }) => sensitive.distance_words(),
            (Ok(sensitive), principle) => (sensitive.measured(principle), 0.0),
        }
    }

    /// Every condition of a principle; none where there are no rows.
    fn clauses(&self, promise: &Promise) -> Result<Vec<Clause>, String> {
        // What counts something else must not be taken for it.
        if promise.unit() != self.unit {
            return Err("it counts something else than its release".to_owned());
        }
        if let PrincipleSpec::KAnonymity { k } = promise.principle() {
            return Ok(self.size(*k, if self.unit == Unit::Persons { " persons" } else { "" }).into_iter().collect());
        }
        self.clauses_of_values(promise.principle(), self.about(promise)?)
    }

    /// The sensitive values that a promise is about.
    fn about(&self, promise: &Promise) -> Result<&Sensitive<'_>, String> {
        let sensitive = self.sensitive.as_ref().map_err(|why| (*why).to_owned())?;
        match promise.about() {
            Some(name) if name == sensitive.name => Ok(sensitive),
            Some(name) => {
                let name: String = name.chars().take(80).collect();
                Err(format!("it is about `{name}`, which is not the sensitive attribute"))
            }
            None => Err("it does not say which attribute it is about".to_owned()),
        }
    }

    fn clauses_of_values(&self, spec: &PrincipleSpec, sensitive: &Sensitive<'_>) -> Result<Vec<Clause>, String> {
        let (sample, counting) = (sensitive.sample, &sensitive.counting);
        let share = || sample.worst(|group| counting.share(group), Fraction::compare);
        let layouts = || counting.layouts();
        let clauses = match spec {
            PrincipleSpec::KAnonymity { .. } | PrincipleSpec::OfPopulation(_) => Vec::new(),
            PrincipleSpec::DistinctL { l } if self.unit == Unit::Persons => {
                vec![at_least(sensitive.different(), *l, " values"), self.size(*l, " persons")]
            }
            PrincipleSpec::DistinctL { l } => vec![at_least(sensitive.different(), *l, "")],
            // Values that are shown, whether somebody has them or not; near numbers are different values.
            PrincipleSpec::MInvariance { m } => vec![
                at_least(measure::distinct(sample), *m, " values"),
                equally_often(sample.worst(|group| group.max() - group.min(), u64::cmp)),
            ],
            PrincipleSpec::FrequencyL { l } => vec![frequency(share(), l)],
            PrincipleSpec::OthersL { l } => vec![sensitive.frequency_of_others(l)],
            PrincipleSpec::EntropyL { l } => {
                let layouts = layouts();
                vec![entropy(sample, *l, |group| counting.readings(&layouts, group), "")]
            }
            PrincipleSpec::RecursiveCl { c, l } => {
                let layouts = layouts();
                let ratio = |group: Group<'_>| worst_ratio(counting.readings(&layouts, group), *l);
                vec![recursive(sample.worst(ratio, Fraction::compare), c, "")]
            }
            PrincipleSpec::TCloseness { t } => vec![at_most(sensitive.closeness().map(some), t, "")],
            PrincipleSpec::Ke { k, e } if self.unit == Unit::Persons => {
                let mut clauses = sensitive.spread(*k, e)?;
                clauses.push(self.size(*k, " persons"));
                clauses
            }
            PrincipleSpec::Ke { k, e } => sensitive.spread(*k, e)?,
            PrincipleSpec::AlphaK { alpha, k } => {
                let unit = if self.unit == Unit::Persons { " persons" } else { " rows" };
                vec![at_most(share().map(fraction), alpha, "share "), self.size(*k, unit)]
            }
            PrincipleSpec::DistinctLAlpha { .. }
            | PrincipleSpec::EntropyLAlpha { .. }
            | PrincipleSpec::RecursiveLAlpha { .. } => sensitive.weighted(spec)?,
            PrincipleSpec::Beta { beta } => vec![at_most(measure::gain(sample).map(fraction), beta, "")],
            #[cfg(feature = "toy-principle")]
            PrincipleSpec::Toy { n } => vec![at_least(measure::distinct(sample), *n, "")],
        };
        Ok(clauses.into_iter().flatten().collect())
    }

    fn size(&self, k: u64, unit: &str) -> Option<Clause> {
        at_least(measure::smallest(self.sizes), k, unit)
    }
}

impl<'a> Sensitive<'a> {
    /// `whole` says how many rows have each value.
    fn new(
        manifest: &Manifest,
        (attribute, domain): (&'a Attribute, &'a Domain),
        whole: &[u64],
        sample: &'a GroupCounts,
    ) -> Result<Sensitive<'a>, AuditError> {
        Ok(Sensitive {
            name: &attribute.name,
            domain,
            taxonomy: taxonomy(attribute, domain)?,
            categories: categories(attribute, domain)?,
            ordinary: disclosure::ordinary(attribute, domain, whole)?,
            counting: Counting::new(manifest, attribute, domain, whole)?,
            sample,
        })
    }
}

impl Sensitive<'_> {
    fn spread(&self, k: u64, e: &Rational) -> Result<Vec<Option<Clause>>, &'static str> {
        if !self.domain.kind().is_numeric() {
            return Err("the sensitive attribute is not numeric");
        }
        let values = at_least(measure::distinct_numbers(self.sample, self.domain), k, " values");
        Ok(vec![values, at_least_exactly(measure::span(self.sample, self.domain), e, "span ")])
    }

    /// The fewest values that count as different.
    fn different(&self) -> Option<Worst<u64>> {
        self.sample.worst(|group| self.counting.different(group), |a, b| b.cmp(a))
    }

    fn ground(&self) -> Ground<'_> {
        let ground = Ground::of(self.domain, self.taxonomy.as_ref());
        match self.counting.reading {
            Reading::Plain => ground.as_written(),
            Reading::Strict => ground,
        }
    }

    /// The larger of two distances: of values as they are and, where an order or a tree has values that look alike,
    /// with these as one.
    fn closeness(&self) -> Option<Worst<BigRational>> {
        let ground = self.ground();
        let plain = measure::closeness(self.sample, ground)?;
        if matches!(ground, Ground::Equal) || !self.counting.has_look_alikes() {
            return Some(plain);
        }
        let folded = measure::closeness(&self.counting.by_looks(self.sample), ground)?;
        Some(if folded.level > plain.level { folded } else { plain })
    }

    fn weighted(&self, spec: &PrincipleSpec) -> Result<Vec<Option<Clause>>, &'static str> {
        let categories = self.categories.as_ref().ok_or("the sensitive attribute has no categories with weights")?;
        let categories = categories.by_looks(&self.counting.looks);
        let is_all_missing = |group: Group<'_>| self.counting.missing(group) == group.size;
        let of_values = |group: Group<'_>| {
            let all = is_all_missing(group);
            categories.counts_of(group, |code| all || self.counting.is_there(code))
        };
        let readings = |group: Group<'_>| vec![categories.counts(group), of_values(group)];
        let (l, alpha, extra) = match spec {
            PrincipleSpec::EntropyLAlpha { l, alpha } => {
                (l, alpha, entropy(self.sample, Rational::from_integer(*l), readings, "entropy "))
            }
            PrincipleSpec::RecursiveLAlpha { c, l, alpha } => {
                let ratio = |group: Group<'_>| worst_ratio(readings(group), *l);
                (l, alpha, recursive(self.sample.worst(ratio, Fraction::compare), c, "ratio "))
            }
            PrincipleSpec::DistinctLAlpha { l, alpha } => (l, alpha, None),
            _ => return Ok(Vec::new()),
        };
        let weight = measure::least_weight(self.sample, &categories, of_values);
        let weight = at_least_exactly(weight, alpha, "weight ");
        Ok(vec![at_least(self.different(), *l, " values"), weight, extra])
    }

    /// The largest share of one value that is not ordinary; a group without such values is as good as can be.
    fn frequency_of_others(&self, l: &Rational) -> Option<Clause> {
        let most = |group: Group<'_>| self.counting.share_among(group, |code| !self.ordinary[code as usize]);
        share_of_others(self.sample.worst(most, Fraction::compare), l)
    }

    /// How a principle was measured, in words, where it does not say so itself: what counts as one value, by which distance, with
    /// which weights.
    fn measured(&self, spec: &PrincipleSpec) -> String {
        let mut words = match spec {
            PrincipleSpec::KAnonymity { .. }
            | PrincipleSpec::Ke { .. }
            | PrincipleSpec::Beta { .. }
            | PrincipleSpec::TCloseness { .. } => Vec::new(),
            _ => self.counting.words(),
        };
        if let (true, Some(categories)) = (spec.weighs(), &self.categories) {
            words.push(weight_words(categories.weights()));
        }
        words.join("; ")
    }

    /// The name of the distance behind t, and the level by equal distance.
    fn distance_words(&self) -> (String, f64) {
        let ground = self.ground();
        let name = match ground {
            Ground::Equal => return ("equal distance".to_owned(), 0.0),
            Ground::Ordered if self.domain.kind() == Kind::Ordinal => {
                format!("distance ordered by the order given: {}", order(self.domain))
            }
            Ground::Ordered => "distance ordered by value".to_owned(),
            Ground::Hierarchical(..) => {
                format!("hierarchical distance, {}", levels(ground.levels(self.sample.whole())))
            }
            Ground::Written(_) => {
                let levels = levels(ground.levels(self.sample.whole()));
                format!("hierarchical distance, {levels} as they are written, as version 1 counted")
            }
        };
        let equal = measure::closeness(self.sample, Ground::Equal);
        let equal = equal.map_or(0.0, |worst| measure::to_float(Some(&worst.level)));
        (format!("{name}; {} by equal distance", rounded(equal)), equal)
    }
}

/// `a < b < c`, or the ends of a long order.
fn order(domain: &Domain) -> String {
    let names: Vec<String> = domain.values().iter().map(|value| format!("`{value}`")).collect();
    match &names[..] {
        [first, second, .., last] if names.len() > MOST_NAMES => format!("{first} < {second} < … < {last}"),
        names => names.join(" < "),
    }
}

const MOST_NAMES: usize = 8;

fn levels(n: usize) -> String {
    if n == 1 { "1 level".to_owned() } else { format!("{n} levels") }
}

fn rounded(number: f64) -> String {
    let text = format!("{number:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The weights of categories, most sensitive first.
fn weight_words(weights: &[BigRational]) -> String {
    let all: Vec<String> = weights.iter().map(show).collect();
    match &all[..] {
        [first, others @ ..] if !others.is_empty() && others.iter().all(|other| other == first) => {
            format!("all {} categories weigh {first}: none counts as worse than another", all.len())
        }
        all => format!("categories weigh {}", all.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use chrysalis_table::{Codes, Value};

    use chrysalis_release::Form;

    use super::*;
    use crate::Groups;
    use crate::testing::promises;

    #[test]
    fn doubt_is_said_and_means_fail() {
        let words = ["a", "b"].map(|word| Value::Text(word.into())).to_vec();
        let domain = Domain::new(Kind::Category, words, false);
        let judge = |counts: [usize; 2]| {
            let codes = (0u8..).zip(counts).flat_map(|(code, count)| std::iter::repeat_n(code, count)).collect();
            let n = counts[0] + counts[1];
            let sample = GroupCounts::new(&Groups { of_row: vec![0; n], n_groups: 1 }, &Codes::U8(codes), 2);
            let sensitive = Sensitive {
                name: "disease",
                domain: &domain,
                taxonomy: None,
                categories: None,
                ordinary: vec![false; domain.len()],
                counting: Counting::plain(&domain),
                sample: &sample,
            };
            let evidence = JudgedGroups {
                sizes: sample.sizes(),
                ids: &[Some(7)],
                sensitive: Ok(sensitive),
                user: None,
                unit: Unit::Rows,
            };
            evidence.judge(&promises(Form::Generalize, Some("disease"), &["entropy-l=2"])[0]).unwrap()
        };
        let doubtful = judge([1_000_000, 1_000_001]);
        assert_eq!((doubtful.holds, doubtful.worst_text.as_str()), (false, "2, too close to decide"));
        let even = judge([1_000_000, 1_000_000]);
        assert_eq!((even.holds, even.worst, even.worst_text.as_str()), (true, 2.0, "2"));
    }
}
