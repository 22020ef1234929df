//! Random questions on one to three quasi attributes and the sensitive one, and their true answers.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};

use super::tables::TableSpec;
use crate::shell::Failure;

/// Questions that fewer rows match are left out: a relative error says little about them.
const FEWEST: f64 = 10.0;

/// The columns of a table that questions are about, the sensitive one last.
pub(super) struct Microdata {
    columns: Vec<Column>,
    rows: usize,
}

struct Column {
    name: String,
    /// Its values in order, as they are written.
    values: Vec<String>,
    /// Whether they are whole numbers.
    is_ordered: bool,
    codes: Vec<u32>,
}

/// A question: columns with the values they must have.
pub(super) struct Asked {
    conditions: Vec<(usize, Vec<bool>)>,
    /// How many rows match.
    pub(super) count: f64,
    /// Their sensitive numbers, and those of the first quasi column that has some.
    pub(super) values: Numbers,
    pub(super) numbers: Numbers,
}

/// What is true of the numbers of a column in the rows that match.
#[derive(Clone, Copy, Default)]
pub(super) struct Numbers {
    pub(super) sum: f64,
    pub(super) squares: f64,
    pub(super) average: f64,
    pub(super) median: f64,
    /// What nine of ten are at most.
    pub(super) ninth: f64,
    pub(super) variance: f64,
}

impl Numbers {
    fn of(mut numbers: Vec<f64>) -> Numbers {
        if numbers.is_empty() {
            return Numbers::default();
        }
        numbers.sort_unstable_by(f64::total_cmp);
        let n = numbers.len();
        let sum: f64 = numbers.iter().sum();
        let average = sum / n as f64;
        let variance = numbers.iter().map(|number| (number - average).powi(2)).sum::<f64>() / n as f64;
        let at = |fraction: f64| {
            let rank = fraction * (n - 1) as f64;
            let (below, above) = (numbers[rank.floor() as usize], numbers[rank.ceil() as usize]);
            below + (above - below) * rank.fract()
        };
        let squares = numbers.iter().map(|number| number * number).sum();
        Numbers { sum, squares, average, median: at(0.5), ninth: at(0.9), variance }
    }
}

/// SplitMix64: questions must not depend on a library's generator.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
}

impl Microdata {
    /// Reads a compressed CSV file without quoted fields.
    pub(super) fn read(file: &Path, table: &TableSpec) -> Result<Microdata, Failure> {
        let failed = |error: std::io::Error| Failure::new(format!("cannot read {}: {error}", file.display()));
        let mut child = Command::new("gzip").arg("-dc").arg(file).stdout(Stdio::piped()).spawn().map_err(failed)?;
        let mut text = String::new();
        if let Some(mut output) = child.stdout.take() {
            output.read_to_string(&mut text).map_err(failed)?;
        }
        child.wait().map_err(failed)?;
        let mut lines = text.lines();
        let header: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
        let names = table.quasi.split(',').chain([table.sensitive]);
        let places: Vec<usize> = names
            .map(|name| header.iter().position(|known| *known == name))
            .collect::<Option<_>>()
            .ok_or_else(|| Failure::new(format!("{} lacks a column", file.display())))?;
        let mut cells: Vec<Vec<&str>> = vec![Vec::new(); places.len()];
        for line in lines {
            let fields: Vec<&str> = line.split(',').collect();
            for (cells, place) in cells.iter_mut().zip(&places) {
                cells.push(fields.get(*place).copied().unwrap_or_default());
            }
        }
        let rows = cells[0].len();
        let columns = cells.iter().zip(&places).map(|(cells, place)| Column::new(header[*place], cells)).collect();
        Ok(Microdata { columns, rows })
    }

    pub(super) fn draw(&self, n: usize) -> Vec<Asked> {
        let mut random = Random(1);
        let mut asked = Vec::with_capacity(n);
        let sensitive = self.columns.len() - 1;
        while asked.len() < n {
            let mut chosen: Vec<usize> = (0..sensitive).collect();
            let n_quasi = random.below(3) + 1;
            for at in 0..n_quasi {
                let other = at + random.below(sensitive - at);
                chosen.swap(at, other);
            }
            chosen.truncate(n_quasi);
            chosen.push(sensitive);
            let conditions: Vec<(usize, Vec<bool>)> =
                chosen.into_iter().map(|at| (at, self.columns[at].condition(&mut random))).collect();
            let (count, values, numbers) = self.truth(&conditions);
            if count >= FEWEST {
                asked.push(Asked { conditions, count, values, numbers });
            }
        }
        asked
    }

    /// How many rows match, their sensitive numbers (none if these are words), and their quasi numbers.
    fn truth(&self, conditions: &[(usize, Vec<bool>)]) -> (f64, Numbers, Numbers) {
        let mut hits = vec![true; self.rows];
        for (at, values) in conditions {
            let codes = &self.columns[*at].codes;
            hits.iter_mut().zip(codes).for_each(|(hit, code)| *hit &= values[*code as usize]);
        }
        let of = |column: Option<&Column>| {
            Numbers::of(column.map_or_else(Vec::new, |column| {
                let numbers = column.numbers();
                let rows = hits.iter().zip(&column.codes).filter(|(hit, code)| **hit && !column.is_missing(**code));
                rows.map(|(_, code)| numbers[*code as usize]).collect()
            }))
        };
        let sensitive = self.columns.last().filter(|column| column.is_ordered);
        let count = hits.iter().filter(|hit| **hit).count();
        (count as f64, of(sensitive), of(self.ordered_quasi()))
    }

    /// The first quasi column with numbers.
    fn ordered_quasi(&self) -> Option<&Column> {
        self.columns[..self.columns.len() - 1].iter().find(|column| column.is_ordered)
    }

    /// Its name.
    pub(super) fn quasi_numbers(&self) -> Option<&str> {
        self.ordered_quasi().map(|column| column.name.as_str())
    }

    /// The name of the sensitive column, if it has numbers.
    pub(super) fn numbers(&self) -> Option<&str> {
        self.columns.last().filter(|it| it.is_ordered).map(|it| it.name.as_str())
    }

    pub(super) fn sql(&self, asked: &Asked, aggregate: &str) -> String {
        let conditions: Vec<String> =
            asked.conditions.iter().map(|(at, values)| self.columns[*at].sql(values)).collect();
        format!("SELECT {aggregate} FROM microdata WHERE {}", conditions.join(" AND "))
    }
}

impl Column {
    fn new(name: &str, cells: &[&str]) -> Column {
        let distinct: BTreeSet<&str> = cells.iter().copied().collect();
        let mut values: Vec<&str> = distinct.into_iter().collect();
        let number = |value: &&str| value.parse::<i64>().ok();
        let is_ordered = values.iter().filter(|value| !value.is_empty()).all(|value| number(value).is_some());
        if is_ordered {
            values.sort_by_key(number);
        }
        let sorted: std::collections::BTreeMap<&str, u32> =
            (0..).zip(&values).map(|(code, value)| (*value, code)).collect();
        let codes = cells.iter().map(|cell| sorted[cell]).collect();
        Column {
            name: name.to_owned(),
            values: values.iter().map(|&value| value.to_owned()).collect(),
            is_ordered,
            codes,
        }
    }

    fn numbers(&self) -> Vec<f64> {
        self.values.iter().map(|value| value.parse().unwrap_or(0.0)).collect()
    }

    fn is_missing(&self, code: u32) -> bool {
        self.values[code as usize].is_empty()
    }

    /// An interval of numbers, or up to half of the words; never the missing value.
    fn condition(&self, random: &mut Random) -> Vec<bool> {
        let n = self.values.len();
        let mut chosen = vec![false; n];
        if self.is_ordered {
            let (a, b) = (random.below(n), random.below(n));
            chosen[a.min(b)..=a.max(b)].fill(true);
        } else {
            for _ in 0..=random.below((n / 2).max(1)) {
                chosen[random.below(n)] = true;
            }
        }
        chosen.iter_mut().zip(&self.values).for_each(|(is_in, value)| *is_in &= !value.is_empty());
        chosen
    }

    fn sql(&self, chosen: &[bool]) -> String {
        let values: Vec<&String> =
            self.values.iter().zip(chosen).filter(|(_, is_in)| **is_in).map(|(it, _)| it).collect();
        match (self.is_ordered, values.first(), values.last()) {
            (true, Some(first), Some(last)) => format!("{} BETWEEN {first} AND {last}", self.name),
            _ => {
                let words: Vec<String> = values.iter().map(|word| format!("'{}'", word.replace('\'', "''"))).collect();
                format!("{} IN ({})", self.name, words.join(", "))
            }
        }
    }
}
