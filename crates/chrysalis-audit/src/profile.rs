use chrysalis_table::{Column, Table, Taxonomy, Unwatched};
use rayon::prelude::*;

use crate::grouping::{Key, combination_sizes};
use crate::measure::{self, Ground, GroupCounts};
use crate::promise::show;
use crate::{AuditError, Groups};

/// What a table satisfies today.
#[derive(Clone, Debug, PartialEq)]
pub struct Levels {
    /// Rows of the table.
    pub rows: u64,
    /// Groups of rows that agree on all quasi columns.
    pub groups: u64,
    /// Size of the smallest group.
    pub k: u64,
    /// What depends on the sensitive column; absent without one, and with several.
    pub sensitive: Option<SensitiveLevels>,
    /// If several columns are sensitive: each of them, and what depends on it.
    pub columns: Vec<(String, SensitiveLevels)>,
    /// How far each quasi column, each pair of them and all together single people out.
    pub uniqueness: Vec<Uniqueness>,
}

/// What the groups of a table satisfy about a sensitive column.
#[derive(Clone, Debug, PartialEq)]
pub struct SensitiveLevels {
    /// Fewest distinct values in any group.
    pub distinct_l: u64,
    /// The largest whole l for which entropy l-diversity holds, decided exactly.
    pub entropy_l: u64,
    /// The least e^H over all groups, of which `entropy_l` is the whole part.
    pub entropy: f64,
    /// The least whole c for which recursive (c,l)-diversity holds at l = `distinct_l`; absent when that is 1.
    pub recursive_c: Option<u64>,
    /// Largest share of one value in any group.
    pub alpha: f64,
    /// The same, exactly.
    pub alpha_text: String,
    /// Largest earth mover's distance of any group from the whole table.
    pub t: f64,
    /// The same, exactly.
    pub t_text: String,
    /// Largest relative gain of any value in any group over the whole table.
    pub beta: f64,
    /// The same, exactly.
    pub beta_text: String,
    /// Largest |ln(p/q)| over the values present in a group.
    pub delta: f64,
}

/// How far some columns single people out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uniqueness {
    /// The columns.
    pub attributes: Vec<String>,
    /// Distinct combinations of their values.
    pub combinations: u64,
    /// Rows whose combination no other row has.
    pub unique_rows: u64,
    /// Rows that share the rarest combination.
    pub smallest: u64,
}

/// Measures a table: quasi columns and the sensitive column by name, and the sensitive column's taxonomy if it has one.
///
/// Without quasi columns the whole table is one group. Definitions are those of pycanon, without its mistakes: entropy
/// l is decided exactly, and the counts of recursive diversity descend.
pub fn profile(
    table: &Table,
    quasi: &[impl AsRef<str>],
    sensitive: Option<&str>,
    taxonomy: Option<&Taxonomy>,
) -> Result<Levels, AuditError> {
    let sensitive: Vec<(&str, Option<&Taxonomy>)> = sensitive.into_iter().map(|name| (name, taxonomy)).collect();
    profile_all(table, quasi, &sensitive)
}

/// The same with any number of sensitive columns, each with its taxonomy if it has one. Groups are the same for all.
pub fn profile_all(
    table: &Table,
    quasi: &[impl AsRef<str>],
    sensitive: &[(&str, Option<&Taxonomy>)],
) -> Result<Levels, AuditError> {
    let quasi: Vec<&Column> = quasi.iter().map(|name| named(table, name.as_ref())).collect::<Result<_, _>>()?;
    let shown = |&(name, taxonomy): &(&str, _)| Ok((named(table, name)?, taxonomy));
    let sensitive = sensitive.iter().map(shown).collect::<Result<Vec<(&Column, Option<&Taxonomy>)>, AuditError>>()?;
    check_size("the table", table.rows())?;
    let groups = Groups::of_columns(&quasi, table.rows(), &Unwatched);
    let sizes = groups.sizes();
    let no_rows = AuditError::NoRows { what: "the table" };
    let k = measure::smallest(&sizes).map(|worst| worst.level).ok_or(no_rows)?;
    let mut columns = Vec::new();
    for (column, taxonomy) in sensitive {
        let levels = sensitive_levels(&groups, column, taxonomy)?;
        columns.extend(levels.map(|levels| (column.name().to_owned(), levels)));
    }
    let only = if columns.len() == 1 { columns.pop().map(|(_, levels)| levels) } else { None };
    let uniqueness = uniqueness(&quasi, table.rows(), &sizes);
    let (rows, groups) = (table.rows() as u64, groups.n_groups as u64);
    Ok(Levels { rows, groups, k, sensitive: only, columns, uniqueness })
}

/// Everything below counts rows in 32 bits.
pub(crate) fn check_size(what: &'static str, rows: usize) -> Result<(), AuditError> {
    match rows {
        0 => Err(AuditError::NoRows { what }),
        rows if u32::try_from(rows).is_err() => Err(AuditError::TooManyRows { what, rows }),
        _ => Ok(()),
    }
}

pub(crate) fn named<'a>(table: &'a Table, name: &str) -> Result<&'a Column, AuditError> {
    let columns = || table.columns().iter().map(|column| column.name().to_owned()).collect();
    table.column(name).ok_or_else(|| AuditError::UnknownColumn {
        what: "table",
        column: name.to_owned(),
        columns: columns(),
    })
}

fn sensitive_levels(
    groups: &Groups,
    column: &Column,
    taxonomy: Option<&Taxonomy>,
) -> Result<Option<SensitiveLevels>, AuditError> {
    let domain = column.domain();
    if taxonomy.is_some_and(|taxonomy| taxonomy.n_leaves() != domain.len()) {
        return Err(AuditError::Taxonomy { column: column.name().to_owned() });
    }
    let sample = GroupCounts::new(groups, column.codes(), domain.len());
    Ok(levels(&sample, Ground::of(domain, taxonomy)))
}

/// `None` only when there are no rows.
fn levels(sample: &GroupCounts, ground: Ground<'_>) -> Option<SensitiveLevels> {
    let distinct_l = measure::distinct(sample)?.level;
    let recursive = measure::recursive(sample, distinct_l)?.level;
    // r₁ < c·tail first holds for the whole number after the quotient.
    let recursive_c = recursive.numerator.checked_div(recursive.denominator).map(|c| c as u64 + 1);
    let alpha = measure::share(sample)?.level.exact()?;
    let t = measure::closeness(sample, ground)?.level;
    let beta = measure::gain(sample)?.level.exact()?;
    let ratio = measure::ratio(sample)?.level.exact()?;
    let entropy_l = measure::entropy_floor(sample)?;
    Some(SensitiveLevels {
        distinct_l,
        entropy_l,
        // An even group reaches its number of values, whatever the rounding of logarithms says.
        entropy: measure::least_entropy(sample)?.level.max(entropy_l as f64),
        recursive_c: recursive_c.filter(|_| distinct_l > 1),
        alpha: measure::to_float(Some(&alpha)),
        alpha_text: show(&alpha),
        t: measure::to_float(Some(&t)),
        t_text: show(&t),
        beta: measure::to_float(Some(&beta)),
        beta_text: show(&beta),
        delta: measure::to_float(Some(&ratio)).ln(),
    })
}

/// Single columns, then pairs, then all of them together where that is more than two.
fn uniqueness(quasi: &[&Column], rows: usize, whole: &[u64]) -> Vec<Uniqueness> {
    let singles = quasi.iter().map(|&column| vec![column]);
    let pairs = quasi.iter().enumerate().flat_map(|(i, &a)| quasi[i + 1..].iter().map(move |&b| vec![a, b]));
    let sets: Vec<Vec<&Column>> = singles.chain(pairs).collect();
    let names = |set: &[&Column]| set.iter().map(|column| column.name().to_owned()).collect();
    let mut all: Vec<Uniqueness> = sets
        .par_iter()
        .map(|set| {
            let keys: Vec<Key<'_>> = set.iter().map(|column| Key::of(column)).collect();
            let sizes = combination_sizes(&keys, rows);
            summary(names(set), sizes.into_iter().map(u64::from))
        })
        .collect();
    if quasi.len() > 2 {
        all.push(summary(names(quasi), whole.iter().copied()));
    }
    all
}

fn summary(attributes: Vec<String>, sizes: impl Iterator<Item = u64>) -> Uniqueness {
    let mut uniqueness = Uniqueness { attributes, combinations: 0, unique_rows: 0, smallest: u64::MAX };
    for size in sizes {
        uniqueness.combinations += 1;
        uniqueness.unique_rows += u64::from(size == 1);
        uniqueness.smallest = uniqueness.smallest.min(size);
    }
    uniqueness
}

#[cfg(test)]
mod tests {
    use chrysalis_table::TaxonomyFile;

    use super::*;

    fn table() -> Table {
        Table::new(vec![
            Column::integers("age", &[1, 1, 1, 2, 2, 3]),
            Column::texts("sex", ["F", "F", "M", "M", "M", "M"].into_iter()),
            Column::texts("zip", ["a", "a", "a", "a", "b", "b"].into_iter()),
            Column::texts("disease", ["flu", "flu", "cold", "flu", "cold", "cold"].into_iter()),
        ])
    }

    #[test]
    fn every_column_every_pair_and_all_are_looked_at() {
        let levels = profile(&table(), &["age", "sex", "zip"], None, None).unwrap();
        assert_eq!((levels.rows, levels.groups, levels.k, levels.sensitive), (6, 5, 1, None));
        let seen: Vec<_> = levels
            .uniqueness
            .iter()
            .map(|set| (set.attributes.join(","), set.combinations, set.unique_rows, set.smallest))
            .collect();
        let expected = [
            ("age", 3, 1, 1),
            ("sex", 2, 0, 2),
            ("zip", 2, 0, 2),
            ("age,sex", 4, 2, 1),
            ("age,zip", 4, 3, 1),
            ("sex,zip", 3, 0, 2),
            ("age,sex,zip", 5, 4, 1),
        ];
        assert_eq!(seen, expected.map(|(names, a, b, c)| (names.to_owned(), a, b, c)));
        assert_eq!(profile(&table(), &["age", "sex"], None, None).unwrap().uniqueness.len(), 3);
    }

    #[test]
    fn without_quasi_columns_the_table_is_one_group() {
        let levels = profile(&table(), &[] as &[&str], Some("disease"), None).unwrap();
        assert_eq!((levels.groups, levels.k, levels.uniqueness.len()), (1, 6, 0));
        let sensitive = levels.sensitive.unwrap();
        assert_eq!((sensitive.distinct_l, sensitive.entropy_l, sensitive.recursive_c), (2, 2, Some(2)));
        assert_eq!((sensitive.t, sensitive.beta, sensitive.delta), (0.0, 0.0, 0.0));
        assert_eq!((sensitive.alpha_text.as_str(), sensitive.t_text.as_str()), ("0.5", "0"));
    }

    /// Of several sensitive columns, each has the levels that it has alone, in the same groups.
    #[test]
    fn several_sensitive_columns_are_measured_one_by_one() {
        let levels = profile_all(&table(), &["age"], &[("disease", None), ("zip", None)]).unwrap();
        assert_eq!((levels.groups, levels.k, &levels.sensitive), (3, 1, &None));
        let names: Vec<&str> = levels.columns.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["disease", "zip"]);
        // Ages 1 and 2 have both diseases, age 3 has one; age 2 has both codes.
        for (name, found) in &levels.columns {
            let alone = profile(&table(), &["age"], Some(name), None).unwrap();
            assert_eq!((alone.sensitive.as_ref(), alone.columns.len()), (Some(found), 0));
            assert_eq!((found.distinct_l, found.alpha), (1, 1.0));
        }
        assert!(levels.columns[0].1.beta_text != levels.columns[1].1.beta_text);
    }

    #[test]
    fn what_cannot_be_measured_is_said() {
        let check = |error: AuditError, message: &str, hint: &str| {
            assert_eq!(error.to_string(), message);
            assert_eq!(error.hint(), hint);
        };
        let error = profile(&table(), &["height"], None, None).unwrap_err();
        check(error, "the table has no column `height`", "the columns are age, sex, zip, disease");
        let error = profile(&Table::new(vec![Column::integers("age", &[])]), &["age"], None, None).unwrap_err();
        check(error, "the table has no rows", "name a file that holds rows below its header");
        let lines = [vec!["F".to_owned(), "*".to_owned()], vec!["M".to_owned(), "*".to_owned()]];
        let taxonomy = TaxonomyFile::from_lines(&lines).unwrap().bind(table().columns()[1].domain()).unwrap();
        let error = profile(&table(), &["sex"], Some("age"), Some(&taxonomy)).unwrap_err();
        check(error, "the taxonomy is not one over the values of `age`", "bind the taxonomy to the domain of `age`");
        let error = check_size("the table", u32::MAX as usize + 1).unwrap_err();
        check(
            error,
            "the table has 4294967296 rows, but at most 4294967295 can be measured",
            "measure a sample of the rows",
        );
    }
}
