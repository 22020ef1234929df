//! What a plan is made from: histograms of all columns, and a sample of quasi values. Surveys of parts of a table are
//! merged into the survey of the whole, in any order.

use chrysalis_table::{Codes, Column, Kind, Table};
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::rows::{self, hashes, mixed};
use super::{Secret, Whole};
use crate::PublishError;

/// Combinations of quasi values that a sample holds at most.
pub(super) const SAMPLED: usize = 1 << 16;
/// Combinations that the sample of a part holds at least, if there are as many.
const LEAST_SAMPLED: usize = 1 << 12;

/// The histograms of some rows, and a sample of their combinations of quasi values.
///
/// The sample holds the combinations with the least keyed hashes, and how many rows have each: it depends on the rows as a
/// set, and on nothing but quasi values. All combinations are in it if there are few.
///
/// LEAK: sensitive values have no influence on the sample, so that the cells made from it say nothing about them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Survey {
    whole: Whole,
    quasi: Vec<String>,
    #[serde(skip)]
    secret: Option<Secret>,
    /// What stands for all rows as a multiset.
    number: u64,
    /// Combinations that the sample holds at most.
    most: usize,
    sample: Vec<Sampled>,
    /// Combinations with hashes from here on are not in the sample.
    limit: Option<u64>,
    /// The places in `sample` by hash.
    #[serde(skip)]
    places: HashMap<u64, usize, FixedState>,
}

/// A combination of quasi values.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Sampled {
    hash: u64,
    /// `None` is the missing value.
    pub(super) texts: Vec<Option<String>>,
    pub(super) rows: u64,
}

/// Rows that are hashed by one task.
const ROWS_PER_TASK: usize = 1 << 14;

impl Survey {
    /// The survey of no rows. `columns` are all columns that are published, `quasi` the names of those whose values are
    /// sampled.
    pub fn new(
        columns: impl IntoIterator<Item = (String, Kind, Vec<String>)>,
        quasi: Vec<String>,
        secret: &Secret,
    ) -> Self {
        Survey {
            whole: Whole::new(columns),
            quasi,
            secret: Some(secret.clone()),
            number: rows::NONE,
            most: SAMPLED,
            sample: Vec::new(),
            limit: None,
            places: HashMap::default(),
        }
    }

    /// The survey of no rows of one of so many parts of a table: their samples together hold about as much as one of all rows.
    pub(super) fn of_part(quasi: Vec<String>, n_parts: usize, secret: &Secret) -> Self {
        let most = (SAMPLED / n_parts.max(1)).max(LEAST_SAMPLED);
        Survey { most, ..Survey::new([], quasi, secret) }
    }

    /// How many rows were seen, and what their columns hold.
    pub fn whole(&self) -> &Whole {
        &self.whole
    }

    /// What stands for all rows as a multiset.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Adds the rows of a table.
    pub fn add(&mut self, table: &Table) -> Result<(), PublishError> {
        let Some(secret) = &self.secret else {
            return Err(PublishError::Internal("a survey that was sent here counts no more rows".into()));
        };
        self.whole.add(table)?;
        let numbers = rows::numbers(secret, &self.whole.of_table(table)?, table.rows());
        self.number = numbers.into_iter().fold(self.number, u64::wrapping_add);
        let key = secret.words("sample");
        let quasi: Option<Vec<&Column>> = self.quasi.iter().map(|name| table.column(name)).collect();
        let quasi = quasi.ok_or_else(|| PublishError::Internal("a quasi column was not read".into()))?;
        let hashes: Vec<Vec<u64>> =
            (0_u64..).zip(&quasi).map(|(at, column)| hashes(key, at, column.domain())).collect();
        let hash = |row: usize| {
            let of_column = |(column, hashes): (&&Column, &Vec<u64>)| hashes[column.code(row) as usize];
            quasi.iter().zip(&hashes).map(of_column).fold(0, mixed)
        };
        let limit = self.limit.unwrap_or(u64::MAX);
        let starts: Vec<usize> = (0..table.rows()).step_by(ROWS_PER_TASK).collect();
        let found: Vec<Vec<(u64, u32)>> = starts
            .into_par_iter()
            .map(|start| {
                let rows = start..(start + ROWS_PER_TASK).min(table.rows());
                // PROOF: rows are numbered in 32 bits.
                rows.map(|row| (hash(row), row as u32)).filter(|(hash, _)| *hash < limit).collect()
            })
            .collect();
        for (hash, row) in found.into_iter().flatten() {
            if self.limit.is_some_and(|limit| hash >= limit) {
                continue;
            }
            match self.places.get(&hash) {
                Some(&place) => self.sample[place].rows += 1,
                None => {
                    let text =
                        |column: &&Column| column.domain().value(column.code(row as usize)).map(|it| it.to_string());
                    self.insert(Sampled { hash, texts: quasi.iter().map(text).collect(), rows: 1 });
                }
            }
        }
        Ok(())
    }

    /// Adds the rows of another survey of the same columns with the same secret.
    pub fn merge(&mut self, other: &Survey) -> Result<(), PublishError> {
        self.whole.merge(&other.whole)?;
        self.number = self.number.wrapping_add(other.number);
        self.index();
        if let Some(limit) = other.limit {
            self.lower(limit);
        }
        for sampled in &other.sample {
            if self.limit.is_some_and(|limit| sampled.hash >= limit) {
                continue;
            }
            match self.places.get(&sampled.hash) {
                Some(&place) => self.sample[place].rows += sampled.rows,
                None => self.insert(sampled.clone()),
            }
        }
        Ok(())
    }

    /// The sample, in the order of its hashes.
    pub(super) fn sampled(&self) -> Vec<&Sampled> {
        let mut all: Vec<&Sampled> = self.sample.iter().collect();
        all.sort_unstable_by_key(|sampled| sampled.hash);
        all.truncate(self.most);
        all
    }

    fn index(&mut self) {
        if self.places.len() != self.sample.len() {
            self.places = self.sample.iter().enumerate().map(|(place, sampled)| (sampled.hash, place)).collect();
        }
    }

    fn insert(&mut self, sampled: Sampled) {
        self.places.insert(sampled.hash, self.sample.len());
        self.sample.push(sampled);
        if self.sample.len() >= 2 * self.most {
            let mut hashes: Vec<u64> = self.sample.iter().map(|sampled| sampled.hash).collect();
            let (_, &mut limit, _) = hashes.select_nth_unstable(self.most);
            self.lower(limit);
        }
    }

    /// PROOF: a limit is the hash of a combination above which there are at least as many as the sample holds, so what is
    /// left out here is in no sample of more rows either; what stays was below every limit before, so all its rows were
    /// counted.
    fn lower(&mut self, limit: u64) {
        if self.limit.is_some_and(|known| known <= limit) {
            return;
        }
        self.limit = Some(limit);
        self.sample.retain(|sampled| sampled.hash < limit);
        self.places.clear();
        self.index();
    }
}

/// The sampled combinations as a table with the domains of the whole one, each as often as it stands for rows, but no more
/// than about `most` rows in all. Also returns how many rows of the whole table stand behind one of these.
pub(super) fn sample_table(survey: &Survey, whole: &Whole, most: u64) -> Result<(Table, f64), PublishError> {
    let sampled = survey.sampled();
    let seen: u64 = sampled.iter().map(|sampled| sampled.rows).sum();
    let share = if seen > most { most as f64 / seen as f64 } else { 1.0 };
    let times = |sampled: &Sampled| ((sampled.rows as f64 * share).round() as usize).max(1);
    let rows: usize = sampled.iter().map(|sampled| times(sampled)).sum();
    let column = |(at, name): (usize, &String)| {
        let known = whole.column(name).ok_or_else(|| PublishError::Internal("a column was not surveyed".into()))?;
        let domain = known.domain();
        let code = |sampled: &&Sampled| {
            let value = sampled.texts[at].as_ref().map(|text| chrysalis_table::Value::parse(domain.kind(), text));
            let code = match value {
                None => domain.code_of(None),
                Some(value) => value.and_then(|value| domain.code_of(Some(&value))),
            };
            code.ok_or_else(|| PublishError::Internal(format!("`{name}` has a value that was not counted")))
        };
        let codes: Vec<u32> = sampled.iter().map(code).collect::<Result<_, _>>()?;
        let all = sampled.iter().zip(codes).flat_map(|(sampled, code)| std::iter::repeat_n(code, times(sampled)));
        Ok(Column::new(&**name, std::sync::Arc::clone(domain), Codes::collect(domain.len(), all)))
    };
    let columns = survey.quasi.iter().enumerate().map(column).collect::<Result<_, PublishError>>()?;
    Ok((Table::new(columns), survey.whole.rows as f64 / rows.max(1) as f64))
}
