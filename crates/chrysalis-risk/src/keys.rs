//! The distinct combinations of quasi values, and how many rows have each (spec.md, step 1).

use std::sync::Arc;

use chrysalis_audit::Groups;
use chrysalis_table::{Code, Codes, Column, Domain, Kind, Value, Watch};

/// Every combination of quasi values that occurs in the table, or in the population.
pub(crate) struct Keys {
    /// The key of every row of the table.
    pub(crate) of_row: Vec<u32>,
    /// How many columns a key has.
    pub(crate) n_columns: usize,
    /// The codes of every key, one key after the other.
    codes: Vec<Code>,
    /// Rows of the table with exactly this key; 0 for keys of the population alone.
    pub(crate) rows: Vec<u32>,
    /// Rows of the population with exactly this key, if there is a table of the population.
    pub(crate) population: Option<Vec<u32>>,
    /// The columns in which a value is missing somewhere. There the missing value has code 0.
    pub(crate) missing_in: u64,
    /// How many codes each column has.
    pub(crate) n_codes: Vec<usize>,
}

impl Keys {
    pub(crate) fn of(quasi: &[&Column], population: Option<&[&Column]>, watch: &dyn Watch) -> Keys {
        let rows = quasi.first().map_or(0, |column| column.codes().len());
        match population {
            None => Keys::number(quasi, rows, false, watch),
            Some(population) => {
                let both: Vec<Column> = quasi.iter().zip(population).map(|(a, b)| joined(a, b)).collect();
                Keys::number(&both.iter().collect::<Vec<_>>(), rows, true, watch)
            }
        }
    }

    /// The first `n` rows are the table's, all others those of the population.
    fn number(columns: &[&Column], n: usize, has_population: bool, watch: &dyn Watch) -> Keys {
        let all = columns.first().map_or(0, |column| column.codes().len());
        let mut groups = Groups::of_columns(columns, all, watch);
        let mut some_row = vec![0u32; groups.n_groups];
        let (mut rows, mut population) = (vec![0u32; groups.n_groups], vec![0u32; groups.n_groups]);
        for (row, &key) in (0u32..).zip(&groups.of_row) {
            some_row[key as usize] = row;
            let counts = if (row as usize) < n { &mut rows } else { &mut population };
            counts[key as usize] += 1;
        }
        groups.of_row.truncate(n);
        let n_columns = columns.len();
        let mut codes = vec![0; groups.n_groups * n_columns];
        for (at, column) in columns.iter().enumerate() {
            watch.pause();
            let column = column.codes();
            some_row.iter().enumerate().for_each(|(key, &row)| codes[key * n_columns + at] = column.get(row as usize));
        }
        let lacks = |(at, column): (usize, &&Column)| u64::from(column.domain().has_missing()) << at;
        Keys {
            of_row: groups.of_row,
            n_columns,
            codes,
            rows,
            population: has_population.then_some(population),
            missing_in: columns.iter().enumerate().map(lacks).sum(),
            n_codes: columns.iter().map(|column| column.domain().len()).collect(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The codes of a key.
    pub(crate) fn codes(&self, key: u32) -> &[Code] {
        &self.codes[key as usize * self.n_columns..][..self.n_columns]
    }

    pub(crate) fn code(&self, key: u32, column: usize) -> Code {
        self.codes[key as usize * self.n_columns + column]
    }

    /// The columns in which a key lacks a value.
    pub(crate) fn missing(&self, key: u32) -> u64 {
        let lacks = |(at, &code): (usize, &Code)| u64::from(code == 0 && self.missing_in >> at & 1 == 1) << at;
        self.codes(key).iter().enumerate().map(lacks).sum()
    }
}

/// One column over the values of both, the rows of the second after those of the first.
fn joined(first: &Column, second: &Column) -> Column {
    let mut values: Vec<Value> = first.domain().values().iter().chain(second.domain().values()).cloned().collect();
    values.sort_unstable();
    values.dedup();
    let has_missing = first.domain().has_missing() || second.domain().has_missing();
    let shift = usize::from(has_missing);
    let len = values.len() + shift;
    let translate = |column: &Column| -> Vec<Code> {
        let domain = column.domain();
        let place = |value: &Value| values.partition_point(|known| known < value) + shift;
        (0..domain.len()).map(|code| domain.value(code as Code).map_or(0, place) as Code).collect()
    };
    let (one, other) = (translate(first), translate(second));
    let codes = first.codes().iter().map(|code| one[code as usize]);
    let codes = Codes::collect(len, codes.chain(second.codes().iter().map(|code| other[code as usize])));
    // Only the codes are looked at: no order of values is needed.
    let kind = if first.domain().kind() == Kind::Ordinal { Kind::Category } else { first.domain().kind() };
    Column::new(first.name(), Arc::new(Domain::new(kind, values, has_missing)), codes)
}
