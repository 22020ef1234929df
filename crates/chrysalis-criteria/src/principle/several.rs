//! Principles of several sensitive columns at once. A group is then counted by the combinations of their values, and
//! each column's principles look at that column's values alone.

use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;

use chrysalis_table::{Code, SaCounts};

use super::{All, Clashes, Limit, Principle, Sensitive, k_anonymity::KAnonymity, population::OfPopulation, safe};
use crate::{Alike, CriteriaError, Laws, PopulationSpec, PrincipleSpec, Requirement};

/// One of several sensitive columns.
#[derive(Clone, Debug)]
pub struct OneOfSeveral<'a> {
    /// The column.
    pub sensitive: Sensitive<'a>,
    /// For every combination of values, by its code, this column's value.
    pub value_of: Arc<[Code]>,
}

/// Requirements, sorted out by what they are about.
pub(super) struct SortedOut {
    /// Those that only count.
    pub(super) sizes: Vec<u64>,
    /// What is asked of the population under the labels of groups.
    pub(super) populations: Vec<PopulationSpec>,
    /// Those of every column, in the order of the columns.
    pub(super) of_columns: Vec<Vec<PrincipleSpec>>,
    /// All of them, each with the column it is about, in the order given.
    pub(super) specs: Vec<Requirement>,
}

impl SortedOut {
    /// A requirement that names no column is one of every column that it can be asked of.
    pub(super) fn new(requirements: &[Requirement], columns: &[Sensitive<'_>]) -> Result<Self, CriteriaError> {
        let of_columns = columns.iter().map(|_| Vec::new()).collect();
        let mut sorted = SortedOut { sizes: Vec::new(), populations: Vec::new(), of_columns, specs: Vec::new() };
        for Requirement { about, principle } in requirements {
            if !principle.needs_sensitive() {
                match principle {
                    PrincipleSpec::OfPopulation(spec) => sorted.populations.push(*spec),
                    PrincipleSpec::KAnonymity { k } => sorted.sizes.push(*k),
                    _ => {}
                }
                sorted.specs.push(Requirement::of_all(principle.clone()));
                continue;
            }
            let is_meant = |column: &&Sensitive<'_>| match about {
                Some(name) => name == column.name,
                None => is_asked(column, principle),
            };
            let meant: Vec<usize> =
                columns.iter().enumerate().filter(|(_, it)| is_meant(it)).map(|(at, _)| at).collect();
            if meant.is_empty() {
                // Where it can be asked of no column, the first one says why.
                principle.bind(columns.first().filter(|_| about.is_none()))?;
                return Err(CriteriaError::NoSensitive { text: principle.to_string() });
            }
            for at in meant {
                sorted.of_columns[at].push(principle.clone());
                sorted.specs.push(Requirement::of(columns[at].name, principle.clone()));
            }
        }
        Ok(sorted)
    }
}

/// Whether a principle that names no column is required of this one.
fn is_asked(column: &Sensitive<'_>, principle: &PrincipleSpec) -> bool {
    match principle {
        PrincipleSpec::Ke { .. } => column.domain.kind().is_numeric(),
        _ => !principle.weighs() || column.categories.is_some(),
    }
}

impl All {
    /// Binds requirements to several sensitive columns. Groups are then counted by combinations of values. A
    /// requirement that names no column is one of every column that it can be asked of.
    pub fn bind_several(requirements: &[Requirement], columns: &[OneOfSeveral<'_>]) -> Result<Self, CriteriaError> {
        let all: Vec<Sensitive<'_>> = columns.iter().map(|column| column.sensitive).collect();
        let SortedOut { sizes, populations, of_columns, specs } = SortedOut::new(requirements, &all)?;
        let mut parts: Vec<Box<dyn Principle>> = Vec::new();
        parts.extend(sizes.into_iter().map(|k| -> Box<dyn Principle> { Box::new(KAnonymity { k }) }));
        parts.extend(populations.into_iter().map(|spec| -> Box<dyn Principle> { Box::new(OfPopulation { spec }) }));
        let bind = |(column, principles): (&Sensitive<'_>, Vec<PrincipleSpec>)| {
            principles.iter().map(|principle| principle.bind(Some(column))).collect::<Result<Vec<_>, _>>()
        };
        let of_columns = all.iter().zip(of_columns).map(bind).collect::<Result<Vec<_>, _>>()?;
        let mut of_columns: Vec<OfColumn> = columns
            .iter()
            .zip(of_columns)
            .filter(|(_, principles)| !principles.is_empty())
            .map(|(column, principles)| OfColumn {
                name: column.sensitive.name.to_owned(),
                of_values: principles.iter().find_map(|part| part.alike()).cloned(),
                alike: None,
                principles,
                value_of: Arc::clone(&column.value_of),
                n_values: column.sensitive.domain.len(),
                whole: column.sensitive.counts.clone(),
            })
            .collect();
        // Rows are dealt by the column that constrains most.
        of_columns.sort_by_key(|column| std::cmp::Reverse(column.constraint()));
        if let Some(first) = of_columns.first_mut() {
            let of_values = first.of_values.clone().unwrap_or_default();
            first.alike = Some(of_values.of_combinations(&first.value_of));
        }
        parts.extend(of_columns.into_iter().map(|column| -> Box<dyn Principle> { Box::new(column) }));
        Ok(All { parts, specs, counts_persons: false })
    }
}

/// The principles of one of several columns.
#[derive(Debug)]
struct OfColumn {
    name: String,
    principles: Vec<Box<dyn Principle>>,
    value_of: Arc<[Code]>,
    n_values: usize,
    /// The values of the whole table.
    whole: SaCounts,
    /// Which values count as one.
    of_values: Option<Alike>,
    /// Which combinations count as one; for the column by which rows are dealt.
    alike: Option<Alike>,
}

thread_local! {
    /// Empty counts, kept for the next group: groups are judged in hot loops.
    static SPARE: RefCell<Vec<SaCounts>> = const { RefCell::new(Vec::new()) };
}

/// What `judge` says about counts of that many values, which are empty at first.
pub(super) fn with_empty<T>(n_values: usize, judge: impl FnOnce(&mut SaCounts) -> T) -> T {
    SPARE.with(|spare| {
        // Who judges while judging gets counts of its own.
        let Ok(mut spare) = spare.try_borrow_mut() else { return judge(&mut SaCounts::new(n_values)) };
        let at = match spare.iter().position(|counts| counts.domain_len() == n_values) {
            Some(at) => at,
            None => {
                /// More than the columns of any goal.
                const MOST: usize = 16;
                spare.truncate(MOST - 1);
                spare.push(SaCounts::new(n_values));
                spare.len() - 1
            }
        };
        let counts = &mut spare[at];
        counts.clear();
        judge(counts)
    })
}

impl OfColumn {
    /// What `judge` says about this column's values in a group of combinations.
    fn judged<T>(&self, group: &SaCounts, judge: impl FnOnce(&SaCounts) -> T) -> T {
        with_empty(self.n_values, |counts| {
            for (combination, count) in group.iter() {
                // PROOF: counts come from 32-bit counts.
                counts.add_many(self.value_of[combination as usize], count as u32);
            }
            judge(counts)
        })
    }

    /// How much the column asks of groups: how large they must be, and then how frequent its most frequent value is.
    fn constraint(&self) -> (u64, u64) {
        let most = self.of_values.as_ref().map_or_else(|| self.whole.max(), |alike| alike.most(&self.whole));
        (self.least_size(), most)
    }
}

impl Principle for OfColumn {
    fn laws(&self) -> Laws {
        Laws {
            monotone: self.principles.iter().all(|part| part.laws().monotone),
            scale_free: self.principles.iter().all(|part| part.laws().scale_free),
        }
    }

    fn holds(&self, group: &SaCounts) -> bool {
        self.judged(group, |counts| self.principles.iter().all(|part| part.holds(counts)))
    }

    fn least_size(&self) -> u64 {
        self.principles.iter().map(|part| part.least_size()).max().unwrap_or(1)
    }

    fn safe_size(&self, rows: &SaCounts) -> Option<u64> {
        self.judged(rows, |counts| safe::of_all(self.principles.iter().map(|part| &**part), counts))
    }

    fn alike(&self) -> Option<&Alike> {
        self.alike.as_ref()
    }

    fn clashes(&self) -> Option<Clashes> {
        let classes = self.of_values.as_ref()?.classes();
        let class = |value: &Code| vec![classes.get(*value as usize).copied().unwrap_or(*value)];
        Some(Clashes::new(self.value_of.iter().map(class)))
    }

    fn measured(&self) -> String {
        String::new()
    }

    fn least_removal(&self, group: &SaCounts) -> u64 {
        self.judged(group, |counts| self.principles.iter().map(|part| part.least_removal(counts)).max().unwrap_or(0))
    }

    /// The caller looks for what is out of reach column by column, before it binds several at once.
    fn limit(&self, whole: &SaCounts, _: Option<&Sensitive<'_>>) -> Limit {
        self.judged(whole, |counts| match self.principles.iter().find(|part| !part.holds(counts)) {
            Some(part) => part.limit(counts, None),
            None => Limit::new("nothing stands in the way".into(), None, chrysalis_table::Remedy::none()),
        })
    }
}

impl fmt::Display for OfColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<String> = self.principles.iter().map(|part| format!("{}:{part}", self.name)).collect();
        f.write_str(&parts.join(" and "))
    }
}
