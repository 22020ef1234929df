//! What a release gives away whatever it promises: rows whose group leaves a single sensitive value.
//!
//! Measured from the published tables and what the manifest says about the sensitive column, by counts of values per
//! group; the publisher counts rows in its own way.

use chrysalis_criteria::PrincipleSpec;
use chrysalis_release::{Attribute, Manifest};
use chrysalis_table::{Code, Codes, Column, Domain, Kind, Watch};
use rayon::iter::ParallelIterator;

use crate::attack::{Finding, count, counted};
use crate::columns::from_json;
use crate::counting::looks;
use crate::grouping::Key;
use crate::measure::{Group, GroupCounts};
use crate::near::Width;
use crate::{AuditError, Groups};

/// Rows whose sensitive value follows from what is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disclosure {
    /// Rows whose group leaves a single value, or values that count as one.
    pub certain_rows: u64,
    /// Those of them whose value is not ordinary.
    pub disclosed_rows: u64,
    /// Whether the manifest says that the owner accepted this.
    pub is_accepted: bool,
    /// Whether the release was made before disclosed rows were counted, and so could not be accepted.
    pub is_older: bool,
    /// Which values are ordinary, and how close numbers must be to count as one, in words.
    pub rule: String,
    /// How wide a range of values `ke` leaves possible, in words; empty where `ke` is not promised.
    pub ranges: String,
}

impl Disclosure {
    /// Whether nothing is disclosed, or the owner accepted it, or the release is older than acceptance.
    pub fn ok(&self) -> bool {
        self.disclosed_rows == 0 || self.is_accepted || self.is_older
    }
}

/// An attacker who also knows the columns that are kept as they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bystander {
    /// The columns that are kept as they are.
    pub columns: Vec<String>,
    /// Whether the sensitive values of their own rows are shown beside them.
    pub is_beside: bool,
    /// Rows whose values in these columns no other row of their group has.
    pub alone_rows: u64,
    /// Rows whose sensitive value follows from their group and these columns.
    pub certain_rows: u64,
    /// Those of them whose value is not ordinary.
    pub disclosed_rows: u64,
}

/// What a group reveals about its rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    #[default]
    Open,
    Ordinary,
    Disclosed,
}

/// What a user sees: which rows share a group, and the sensitive values of groups.
pub(crate) struct SeenRows<'a> {
    pub(crate) groups: &'a Groups,
    pub(crate) values: &'a GroupCounts,
    /// Groups and values that every person of the group has, ascending, where persons may have several.
    pub(crate) sure: &'a [(u32, Code)],
}

impl SeenRows<'_> {
    /// What a group reveals: a value that it leaves alone, or that all its persons have.
    fn level(&self, rule: &Rule<'_>, index: usize) -> Level {
        let first = self.sure.partition_point(|&(group, _)| (group as usize) < index);
        let sure = self.sure[first..].iter().take_while(|&&(group, _)| group as usize == index);
        let level = |&(_, code): &(u32, Code)| match rule.ordinary.get(code as usize) {
            Some(true) => Level::Ordinary,
            _ => Level::Disclosed,
        };
        sure.map(level).fold(rule.level(self.values.group(index)), Level::max)
    }
}

/// Which values are ordinary, and which numbers count as one.
struct Rule<'a> {
    domain: &'a Domain,
    ordinary: Vec<bool>,
    /// For every code, the least code that looks like it.
    looks: Vec<Code>,
    near: Option<Width>,
    /// How often each code occurs, where the owner does not name ordinary values.
    counts: Option<Vec<u64>>,
    words: String,
}

impl<'a> Rule<'a> {
    fn new(
        manifest: &Manifest,
        attribute: &Attribute,
        domain: &'a Domain,
        whole: &[u64],
    ) -> Result<Rule<'a>, AuditError> {
        let ordinary = ordinary(attribute, domain, whole)?;
        let n = |values: usize| counted(values as u64, "value", "values");
        let said = match (&attribute.ordinary, ordinary.iter().filter(|is_ordinary| **is_ordinary).count()) {
            (None, 0) => "no value is ordinary: none has half of all rows".to_owned(),
            (None, 1) => "1 value is ordinary: at least half of all rows have it".to_owned(),
            (None, several) => format!("{} are ordinary: at least half of all rows have each", n(several)),
            (Some(named), _) if named.is_empty() => "the owner calls no value ordinary".to_owned(),
            (Some(named), _) => format!("the owner calls {} ordinary", n(named.len())),
        };
        let near = Width::of(manifest, attribute, domain, whole)?;
        let looks = looks(domain);
        let is_one = (0..).zip(&looks).any(|(code, &first): (Code, _)| first != code);
        let words = match &near {
            None if is_one => format!("{said}; values that look alike count as one"),
            None => said,
            Some(width) if domain.kind().is_numeric() => {
                format!("{said}; numbers less than {} apart count as one", width.shown())
            }
            Some(width) => format!("{said}; dates less than {} days apart count as one", width.shown()),
        };
        let counts = attribute.ordinary.is_none().then(|| whole.to_vec());
        Ok(Rule { domain, ordinary, looks, near, counts, words })
    }

    fn level(&self, group: Group<'_>) -> Level {
        let is_one = match group.values {
            [] => return Level::Open,
            [_] => true,
            [(first, _), .., (last, _)] if self.near.is_some() => self.is_near(*first, *last),
            [(first, _), others @ ..] => {
                others.iter().all(|(code, _)| self.looks[*code as usize] == self.looks[*first as usize])
            }
        };
        let is_ordinary = || match (group.values, &self.counts) {
            // A stretch of numbers that at least half of all rows have is as ordinary as one such value.
            ([(first, _), .., (last, _)], Some(counts)) if self.near.is_some() => {
                let within: u64 = counts[*first as usize..=*last as usize].iter().sum();
                let all: u64 = counts.iter().sum();
                within >= all - within
            }
            (values, _) => values.iter().all(|&(code, _)| self.ordinary[code as usize]),
        };
        match is_one {
            false => Level::Open,
            true if is_ordinary() => Level::Ordinary,
            true => Level::Disclosed,
        }
    }

    /// Codes ascend with values, and the missing value, which is near nothing, comes first.
    fn is_near(&self, first: Code, last: Code) -> bool {
        self.near.as_ref().is_some_and(|near| near.is_near(self.domain, first, last))
    }
}

/// Which values are ordinary: those that the owner names, or else those that at least half of all rows have.
pub(crate) fn ordinary(attribute: &Attribute, domain: &Domain, whole: &[u64]) -> Result<Vec<bool>, AuditError> {
    let Some(named) = &attribute.ordinary else {
        let total: u64 = whole.iter().sum();
        // Values that look alike are one value.
        let looks = looks(domain);
        let mut rows = vec![0; domain.len()];
        looks.iter().zip(whole).for_each(|(&first, &count)| rows[first as usize] += count);
        let of = |&first: &Code| rows[first as usize];
        return Ok(looks.iter().map(|first| of(first) > 0 && of(first) >= total - of(first)).collect());
    };
    let mut ordinary = vec![false; domain.len()];
    for json in named {
        let value = from_json(Kind::from(attribute.kind), json);
        if value.is_none() && !json.is_null() {
            let problem = "calls a value ordinary that is not of its kind".to_owned();
            return Err(AuditError::Attribute { attribute: attribute.name.clone(), problem });
        }
        if let Some(code) = domain.code_of(value.as_ref()) {
            ordinary[code as usize] = true;
        }
    }
    Ok(ordinary)
}

/// Counts the rows that a release gives away: to everybody alike, or to at least one of several users.
///
/// `others` are the columns kept as they are; `beside` is the sensitive column where it is shown in the same rows.
pub(crate) fn judge(
    manifest: &Manifest,
    (attribute, domain): (&Attribute, &Domain),
    seen: &[SeenRows<'_>],
    others: &[(&Attribute, &Column)],
    beside: Option<&Column>,
    watch: &dyn Watch,
) -> Result<(Disclosure, Option<Bystander>), AuditError> {
    let whole = seen.first().map_or(&[][..], |seen| seen.values.whole());
    let rule = Rule::new(manifest, attribute, domain, whole)?;
    let n_rows = seen.first().map_or(0, |seen| seen.groups.of_row.len());
    watch.pause();
    let alone = match seen {
        [one] => in_one(&rule, one),
        several => {
            let mut levels = vec![Level::Open; n_rows];
            several.iter().for_each(|seen| raise(&mut levels, seen, &rule));
            of_rows(&levels)
        }
    };
    let mut all = alone;
    let bystander = match (others, seen) {
        ([], _) | (_, []) => None,
        (others, seen) => {
            let mut levels = vec![Level::Open; n_rows];
            let mut alone_rows = 0;
            for (at, seen) in seen.iter().enumerate() {
                watch.pause();
                let finer = finer(seen.groups, others.iter().map(|(_, column)| *column), watch);
                if at == 0 {
                    alone_rows = finer.sizes().iter().filter(|&&size| size == 1).count() as u64;
                }
                raise(&mut levels, seen, &rule);
                if let Some(column) = beside {
                    let values = GroupCounts::new(&finer, column.codes(), domain.len());
                    raise(&mut levels, &SeenRows { groups: &finer, values: &values, sure: &[] }, &rule);
                }
            }
            all = of_rows(&levels);
            let columns = others.iter().map(|(attribute, _)| attribute.name.clone()).collect();
            let (certain_rows, disclosed_rows) = all;
            Some(Bystander { columns, is_beside: beside.is_some(), alone_rows, certain_rows, disclosed_rows })
        }
    };
    let disclosure = Disclosure {
        certain_rows: all.0,
        disclosed_rows: all.1,
        is_accepted: manifest.accepts_disclosure(),
        is_older: manifest.version < 2,
        rule: rule.words,
        ranges: ranges(manifest, &attribute.name),
    };
    Ok((disclosure, bystander))
}

/// Counts the rows that several attributes give away, each row once, whichever attribute does. They share their groups
/// and are shown apart, so that columns kept as they are add nothing. Of each attribute, the manifest that is about it
/// alone, and its values by group.
pub(crate) fn of_any(
    columns: &[(&Manifest, &Attribute, &Domain, &GroupCounts)],
    alone: &[&Disclosure],
) -> Result<Option<Disclosure>, AuditError> {
    let mut levels: Vec<(Level, u64)> = Vec::new();
    for (manifest, attribute, domain, values) in columns {
        let rule = Rule::new(manifest, attribute, domain, values.whole())?;
        levels.resize(levels.len().max(values.sizes().len()), (Level::Open, 0));
        for (index, (level, rows)) in levels.iter_mut().enumerate().take(values.sizes().len()) {
            let group = values.group(index);
            // Where tables disagree about a group, the larger number is the safe one.
            (*level, *rows) = ((*level).max(rule.level(group)), (*rows).max(group.size));
        }
    }
    let rows = |least: Level| levels.iter().filter(|(level, _)| *level >= least).map(|(_, rows)| rows).sum();
    let Some(first) = alone.first() else { return Ok(None) };
    let rules = columns.iter().zip(alone).map(|((_, attribute, ..), it)| format!("`{}`: {}", attribute.name, it.rule));
    let rules: Vec<String> = rules.collect();
    let ranges: Vec<&str> = alone.iter().map(|it| it.ranges.as_str()).filter(|words| !words.is_empty()).collect();
    Ok(Some(Disclosure {
        certain_rows: rows(Level::Ordinary),
        disclosed_rows: rows(Level::Disclosed),
        rule: format!("every row once, whichever column gives it away; {}", rules.join("; ")),
        ranges: ranges.join(" "),
        is_accepted: first.is_accepted,
        is_older: first.is_older,
    }))
}

/// Divides groups into rows that also agree on the other columns.
fn finer<'a>(groups: &Groups, others: impl Iterator<Item = &'a Column>, watch: &dyn Watch) -> Groups {
    let others: Vec<&Column> = others.collect();
    let of_group = Codes::collect(groups.n_groups, groups.of_row.iter().copied());
    let mut keys = vec![Key { codes: &of_group, n_codes: groups.n_groups }];
    keys.extend(others.iter().map(|column| Key::of(column)));
    Groups::of_keys(&keys, groups.of_row.len(), watch)
}

/// Certain and disclosed rows of groups that everybody sees.
fn in_one(rule: &Rule<'_>, seen: &SeenRows<'_>) -> (u64, u64) {
    let of_group = |(index, group): (usize, Group<'_>)| match seen.level(rule, index) {
        Level::Open => (0, 0),
        Level::Ordinary => (group.size, 0),
        Level::Disclosed => (group.size, group.size),
    };
    seen.values.groups().map(of_group).reduce(|| (0, 0), |(a, b), (c, d)| (a + c, b + d))
}

fn of_rows(levels: &[Level]) -> (u64, u64) {
    let count = |least: Level| levels.iter().filter(|level| **level >= least).count() as u64;
    (count(Level::Ordinary), count(Level::Disclosed))
}

/// Raises the level of every row to that of its group in what this user sees.
fn raise(levels: &mut [Level], seen: &SeenRows<'_>, rule: &Rule<'_>) {
    let of_group: Vec<Level> = (0..seen.values.sizes().len()).map(|index| seen.level(rule, index)).collect();
    for (level, &group) in levels.iter_mut().zip(&seen.groups.of_row) {
        *level = (*level).max(of_group[group as usize]);
    }
}

/// What a promise of (k,e) leaves known.
fn ranges(manifest: &Manifest, name: &str) -> String {
    let promised = manifest.promises.iter().filter_map(|promise| match promise.principle() {
        PrincipleSpec::Ke { k, e } => Some((k, e)),
        _ => None,
    });
    promised.max_by_key(|(_, e)| **e).map_or_else(String::new, |(k, e)| {
        let e = chrysalis_criteria::show_rational(*e);
        format!(
            "An attacker who finds a person's group narrows `{name}` down to at least {k} values that span {e} or \
                 more."
        )
    })
}

impl Bystander {
    /// Rows whose values in these columns no other row of their group has.
    pub(crate) fn alone_rows(groups: &Groups, others: &[&Column], watch: &dyn Watch) -> u64 {
        finer(groups, others.iter().copied(), watch).sizes().iter().filter(|&&size| size == 1).count() as u64
    }

    /// The attack in words, where sensitive values stand in the same rows, but every sensitive column was permuted on
    /// its own inside its groups.
    pub(crate) fn finding_of_permuted(&self, rows: u64) -> Finding {
        let sentence = format!(
            "{} That reveals no more about sensitive values: each sensitive column was permuted inside its groups, so \
             that those in a person's row may be anybody's of the group.",
            self.told_apart(rows)
        );
        Finding::new("bystander", sentence, if self.alone_rows > 0 { KEEP_LESS } else { "" })
    }

    /// Whom the columns tell apart.
    fn told_apart(&self, rows: u64) -> String {
        let columns: Vec<String> = self.columns.iter().map(|name| format!("`{name}`")).collect();
        format!(
            "An attacker who also knows {} can tell {} of {} apart from all others in their groups.",
            columns.join(", "),
            count(self.alone_rows),
            counted(rows, "row", "rows")
        )
    }

    /// The attack in words.
    pub(crate) fn finding(found: Option<&Bystander>, rows: u64) -> Finding {
        let Some(found) = found else {
            return Finding::not_run("bystander", "Does not apply: no column is kept as it is.");
        };
        let alone = found.told_apart(rows);
        let (rest, prevention) = match (found.is_beside, found.certain_rows) {
            (false, _) => (
                " That reveals no more about sensitive values, which are shown for whole groups.".to_owned(),
                if found.alone_rows > 0 { KEEP_LESS } else { "" },
            ),
            (true, 0) => (" No sensitive value follows from it.".to_owned(), ""),
            (true, certain) => (
                format!(
                    " The sensitive value of {} follows from it, {} of them with a value that is not ordinary.",
                    counted(certain, "row", "rows"),
                    count(found.disclosed_rows)
                ),
                KEEP_LESS,
            ),
        };
        Finding::new("bystander", format!("{alone}{rest}"), prevention)
    }
}

const KEEP_LESS: &str = "keep fewer columns as they are, or name them as quasi columns";

#[cfg(test)]
mod tests {
    use chrysalis_release::Form;
    use chrysalis_table::Table;

    use crate::attack::tests::{verbatim, words};
    use crate::testing::audit;

    use super::*;

    fn of(values: &[u64], groups: &[i64], require: &[&str]) -> Disclosure {
        let ages: Vec<i64> = (0..values.len() as i64).collect();
        let people = Table::new(vec![Column::integers("age", &ages), words("disease", "d", values)]);
        audit(&verbatim(Form::Anatomy, &people, groups, require), None).unwrap().disclosure.unwrap()
    }

    fn of_numbers(wages: &[i64], groups: &[i64], require: &[&str]) -> Disclosure {
        let ages: Vec<i64> = (0..wages.len() as i64).collect();
        let people = Table::new(vec![Column::integers("age", &ages), Column::integers("wage", wages)]);
        audit(&verbatim(Form::Anatomy, &people, groups, require), None).unwrap().disclosure.unwrap()
    }

    #[test]
    fn a_group_of_one_value_is_certain_and_disclosed_unless_it_is_ordinary() {
        let found = of(&[1, 1, 2, 3, 3, 2], &[1, 1, 2, 2, 3, 3], &["k=2"]);
        assert_eq!((found.certain_rows, found.disclosed_rows), (2, 2));
        // Half of all rows have it.
        let found = of(&[1, 1, 1, 2, 3, 2], &[1, 1, 2, 2, 3, 3], &["k=2"]);
        assert_eq!((found.certain_rows, found.disclosed_rows), (2, 0));
        assert!(found.rule.starts_with("1 value is ordinary"), "{}", found.rule);
        assert_eq!(of(&[1, 2, 1, 2], &[1, 1, 2, 2], &["k=2"]).certain_rows, 0);
    }

    #[test]
    fn numbers_that_lie_close_together_are_one() {
        // The 5th and 95th percentiles are 5,000 and 95,000, so values less than 900 apart are one.
        let mut wages: Vec<i64> = (1..=100).map(|n| n * 1_000).collect();
        let groups: Vec<i64> = (0..100).map(|n| n / 2).map(|n| n + 1).collect();
        assert_eq!(of_numbers(&wages, &groups, &["k=2"]).disclosed_rows, 0);
        wages[1] = 1_899;
        let found = of_numbers(&wages, &groups, &["k=2"]);
        assert_eq!((found.certain_rows, found.disclosed_rows), (2, 2), "{}", found.rule);
        wages[1] = 1_900;
        assert_eq!(of_numbers(&wages, &groups, &["k=2"]).disclosed_rows, 0);
        // Where (k,e) is promised, its e says what is near.
        let found = of_numbers(&wages, &groups, &["k=2", "ke=2,900"]);
        assert_eq!(found.disclosed_rows, 0);
        assert!(found.ranges.contains("at least 2 values that span 900 or more"), "{}", found.ranges);
        assert_eq!(of_numbers(&wages, &groups, &["k=2", "ke=2,901"]).disclosed_rows, 2);
    }
}
