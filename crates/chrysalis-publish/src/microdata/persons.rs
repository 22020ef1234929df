//! Persons who may have several rows each.
//!
//! Groups are groups of persons: partitioners get a table with one row per person. What a person has in the sensitive
//! columns is one code in it, and a quasi column in which rows of one person differ becomes two, its lowest and its
//! highest values: persons whose boxes are alike then lie close together.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrysalis_criteria::{Belongings, Sees};
use chrysalis_table::{Code, Codes, Column, Domain, Kind, SaCounts, Table, Taxonomy, Value};
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use rayon::prelude::*;

use super::combined::Combined;
use super::{Microdata, Part, counts_of, counts_without_values};
use crate::Partition;

/// What a publication needs to know about persons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PersonsSpec {
    /// The column that says whose a row is. It must have no missing values.
    pub column: String,
    /// Whether attackers know, or can see, how many rows each person has: then only persons with equally many rows
    /// share a group.
    pub rows_known: bool,
    /// What readers see of the persons who have a value.
    pub sees: Sees,
}

/// The persons of a table.
#[derive(Debug)]
pub(crate) struct Persons {
    pub(crate) rows_known: bool,
    pub(crate) sees: Sees,
    /// For every row, its person. Persons are numbered in the order of their first rows.
    of_row: Vec<u32>,
    /// The rows of all persons, person after person.
    rows: Vec<u32>,
    /// Where the rows of every person end.
    ends: Vec<u32>,
    /// By sensitive column: what is behind the codes of what persons have.
    pub(super) has: Vec<Arc<Belongings>>,
    /// One row per person.
    pub(crate) units: Box<Microdata>,
    /// For every quasi column of the table, its columns among the quasi columns of the units.
    pub(crate) places: Vec<Vec<usize>>,
}

/// Persons who may share a group, as a table of their own.
pub(crate) struct UnitClass {
    /// How many rows each of them has; `None` if that does not matter.
    pub(crate) rows_each: Option<u32>,
    /// The persons.
    pub(crate) persons: Vec<u32>,
    /// One row for each of them.
    pub(crate) data: Microdata,
}

impl Persons {
    pub(super) fn new(data: &Microdata, spec: &PersonsSpec, column: &Column) -> Persons {
        let n_rows = data.rows();
        let mut number = vec![u32::MAX; column.domain().len()];
        let mut n_persons = 0_u32;
        let of_row: Vec<u32> = (0..n_rows)
            .map(|row| {
                let person = &mut number[column.code(row) as usize];
                if *person == u32::MAX {
                    *person = n_persons;
                    n_persons += 1;
                }
                *person
            })
            .collect();
        let mut ends = vec![0_u32; n_persons as usize + 1];
        of_row.iter().for_each(|&person| ends[person as usize + 1] += 1);
        (1..ends.len()).for_each(|at| ends[at] += ends[at - 1]);
        let mut next = ends.clone();
        let mut rows = vec![0; n_rows];
        for (row, &person) in (0_u32..).zip(&of_row) {
            let place = &mut next[person as usize];
            rows[*place as usize] = row;
            *place += 1;
        }
        ends.remove(0);
        let lists = Lists { rows: &rows, ends: &ends };
        let (bundles, has) = bundles(data, lists);
        let (units, places) = units(data, lists, bundles);
        let (rows_known, sees) = (spec.rows_known, spec.sees);
        Persons { rows_known, sees, of_row, rows, ends, has, units: Box::new(units), places }
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The person whose a row is.
    pub(crate) fn of_row(&self, row: u32) -> u32 {
        self.of_row[row as usize]
    }

    /// The rows of a person.
    pub(crate) fn rows(&self, person: u32) -> &[u32] {
        Lists { rows: &self.rows, ends: &self.ends }.of(person)
    }

    /// The persons of a group that holds all rows of each of them.
    pub(crate) fn of_group<'a>(&'a self, rows: &'a [u32]) -> impl Iterator<Item = u32> + Clone + 'a {
        rows.iter()
            .map(|&row| (row, self.of_row(row)))
            .filter(|&(row, person)| self.rows(person)[0] == row)
            .map(|it| it.1)
    }

    /// The most rows that a person has.
    pub(crate) fn most_rows(&self) -> u32 {
        (0..self.len() as u32).map(|person| self.rows(person).len() as u32).max().unwrap_or(0)
    }

    /// Whether the persons of every group have equally many rows.
    pub(crate) fn has_equal_rows(&self, partition: &Partition) -> bool {
        let n_rows = |person: u32| self.rows(person).len();
        let is_equal = |group: &[u32]| {
            let mut numbers = self.of_group(group).map(n_rows);
            let first = numbers.next();
            numbers.all(|n| Some(n) == first)
        };
        (0..partition.n_groups()).into_par_iter().all(|group| is_equal(partition.group(group)))
    }

    /// Whether some persons may not share a group with others, because they have more or fewer rows.
    pub(crate) fn are_kept_apart(&self) -> bool {
        let first = self.ends.first().copied().unwrap_or(0) as usize;
        self.rows_known && (0..self.len() as u32).any(|person| self.rows(person).len() != first)
    }

    /// The persons who may share a group.
    pub(crate) fn classes(&self) -> Vec<UnitClass> {
        let mut by_rows: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for person in 0..self.len() as u32 {
            by_rows.entry(self.rows(person).len() as u32).or_default().push(person);
        }
        let class = |(rows_each, persons): (u32, Vec<u32>)| UnitClass {
            rows_each: Some(rows_each),
            data: self.units.of_rows(&persons),
            persons,
        };
        by_rows.into_iter().map(class).collect()
    }

    /// Groups of persons as groups of their rows.
    pub(crate) fn to_rows(&self, partition: Partition) -> Partition {
        let (recoding, kept) = (partition.recoding().cloned(), partition.kept().cloned());
        let rows_of = |group: &[u32]| -> u32 { group.iter().map(|&person| self.rows(person).len() as u32).sum() };
        let sizes: Vec<u32> = partition.groups().map(rows_of).collect();
        let rows = partition.into_rows().into_iter().flat_map(|person| self.rows(person)).copied().collect();
        let partition = Partition::new(rows, &sizes);
        match (recoding, kept) {
            (Some(recoding), _) => partition.recoded(recoding),
            (None, Some(kept)) => partition.keeping(kept),
            (None, None) => partition,
        }
    }

    /// Groups of rows, which hold all rows of their persons, as groups of persons.
    pub(crate) fn to_units(&self, partition: &Partition) -> Partition {
        let of_group = |group: &[u32]| self.of_group(group).collect::<Vec<u32>>();
        let groups: Vec<Vec<u32>> = partition.groups().map(of_group).collect();
        let sizes: Vec<u32> = groups.iter().map(|group| group.len() as u32).collect();
        Partition::new(groups.concat(), &sizes)
    }

    /// The first quasi column in which rows of one person differ.
    pub(crate) fn first_varying<'a>(&self, data: &'a Microdata) -> Option<&'a str> {
        data.quasi().zip(&self.places).find(|(_, places)| places.len() > 1).map(|((column, _), _)| column.name())
    }
}

/// The rows of all persons.
#[derive(Clone, Copy)]
struct Lists<'a> {
    rows: &'a [u32],
    ends: &'a [u32],
}

impl<'a> Lists<'a> {
    fn of(self, person: u32) -> &'a [u32] {
        let start = if person == 0 { 0 } else { self.ends[person as usize - 1] };
        &self.rows[start as usize..self.ends[person as usize] as usize]
    }
}

/// Persons are told apart in pieces of this many, on all cores.
const PERSONS_PER_PIECE: usize = 1 << 16;

/// The code of what every person has, and what is behind each code, by sensitive column.
///
/// Most persons have what others have, too: they are told apart by hashing, and only what is distinct is sorted.
///
/// LEAK: codes are numbered by what persons have, never by where they first occur.
fn bundles(data: &Microdata, lists: Lists<'_>) -> (Option<Column>, Vec<Arc<Belongings>>) {
    let columns: Vec<&Column> = data.sensitive_columns().map(|column| column.column()).collect();
    if columns.is_empty() {
        return (None, Vec::new());
    }
    let persons: Vec<u32> = (0..lists.ends.len() as u32).collect();
    let pieces: Vec<(Vec<Bundle>, Vec<Code>)> =
        persons.par_chunks(PERSONS_PER_PIECE).map(|persons| told_apart(&columns, lists, persons)).collect();
    let mut distinct: Vec<&Bundle> = pieces.iter().flat_map(|(bundles, _)| bundles).collect();
    distinct.par_sort_unstable();
    distinct.dedup();
    let of_piece = |(bundles, of_person): &(Vec<Bundle>, Vec<Code>)| {
        // PROOF: there are no more bundles than persons, who are numbered in 32 bits.
        let number = |bundle: &Bundle| distinct.partition_point(|known| *known < bundle) as Code;
        let numbers: Vec<Code> = bundles.iter().map(number).collect();
        of_person.iter().map(|&bundle| numbers[bundle as usize]).collect::<Vec<Code>>()
    };
    let codes: Vec<Vec<Code>> = pieces.par_iter().map(of_piece).collect();
    let codes = Codes::collect(distinct.len(), codes.into_iter().flatten());
    let mut has: Vec<Belongings> = columns.iter().map(|_| Belongings::new()).collect();
    for bundle in &distinct {
        for (has, values) in has.iter_mut().zip(bundle.split(|&number| number == END)) {
            has.push(values.chunks_exact(2).map(|pair| (pair[0] - 1, pair[1])));
        }
    }
    let domain = Domain::new(Kind::Integer, (0..distinct.len() as i64).map(Value::Integer).collect(), false);
    let name = columns.iter().map(|column| column.name()).collect::<Vec<_>>().join(", ");
    (Some(Column::new(name, Arc::new(domain), codes)), has.into_iter().map(Arc::new).collect())
}

/// What a person has: for every sensitive column, in ascending order, each value's code plus 1 and the number of rows
/// in which it stands, and then [`END`].
type Bundle = Vec<u32>;

/// Ends a column: neither a code plus 1 nor a number of rows is 0.
const END: u32 = 0;

/// The bundles of some persons, and for each person the place of the bundle.
fn told_apart(columns: &[&Column], lists: Lists<'_>, persons: &[u32]) -> (Vec<Bundle>, Vec<Code>) {
    let mut places: HashMap<Bundle, Code, FixedState> = HashMap::default();
    let (mut bundle, mut codes) = (Bundle::new(), Vec::new());
    let of_person = persons.iter().map(|&person| {
        bundle.clear();
        for column in columns {
            codes.clear();
            codes.extend(lists.of(person).iter().map(|&row| column.code(row as usize)));
            codes.sort_unstable();
            // PROOF: a code is below the number of rows, which are numbered in 32 bits.
            let runs = codes.chunk_by(|a, b| a == b).flat_map(|run| [run[0] + 1, run.len() as u32]);
            bundle.extend(runs);
            bundle.push(END);
        }
        let fresh = places.len() as Code;
        *places.entry_ref(&bundle[..]).or_insert(fresh)
    });
    let of_person: Vec<Code> = of_person.collect();
    let mut bundles: Vec<(Code, Bundle)> = places.into_iter().map(|(bundle, place)| (place, bundle)).collect();
    bundles.sort_unstable_by_key(|(place, _)| *place);
    (bundles.into_iter().map(|(_, bundle)| bundle).collect(), of_person)
}

/// A table with one row per person, and where its quasi columns come from.
fn units(data: &Microdata, lists: Lists<'_>, bundles: Option<Column>) -> (Microdata, Vec<Vec<usize>>) {
    let (mut columns, mut taxonomies, mut places) = (Vec::new(), Vec::new(), Vec::new());
    for (column, taxonomy) in data.quasi() {
        let lifted = hulls(column, taxonomy, lists);
        places.push((columns.len()..columns.len() + lifted.len()).collect());
        taxonomies.extend(lifted.iter().map(|_| taxonomy.cloned()));
        columns.extend(lifted);
    }
    let quasi = (0..columns.len()).collect();
    let mut tight = Vec::new();
    for sensitive in data.sensitive_columns() {
        let lifted = hulls(sensitive.column(), None, lists);
        tight.extend(columns.len()..columns.len() + lifted.len());
        taxonomies.extend(lifted.iter().map(|_| None));
        columns.extend(lifted);
    }
    let sensitive_counts = bundles.as_ref().map_or_else(|| counts_without_values(lists.ends.len()), counts_of);
    let units = Microdata {
        table: Table::new(columns),
        quasi,
        other: Vec::new(),
        sensitive: Vec::new(),
        tight,
        taxonomies,
        combined: bundles.map(|column| Combined { column, value_of: Vec::new() }),
        sensitive_counts,
        population: None,
        persons: None,
        together: Vec::new(),
        whole_rows: Some(data.rows()),
        part: Part::Everything,
    };
    (units, places)
}

/// The values of a column by person: one column if every person has one value, otherwise the lowest and the highest
/// ones, in the order in which groups are cut.
fn hulls(column: &Column, taxonomy: Option<&Taxonomy>, lists: Lists<'_>) -> Vec<Column> {
    // Persons are numbered in the order of their first rows.
    if lists.ends.len() == lists.rows.len() {
        return vec![column.clone()];
    }
    let place = |code: Code| match taxonomy {
        Some(tree) if !column.domain().kind().is_ordered() => tree.rank(code),
        _ => code,
    };
    let ends = |person: u32| {
        let codes = lists.of(person).iter().map(|&row| column.code(row as usize));
        let lowest = codes.clone().min_by_key(|&code| place(code)).unwrap_or(0);
        (lowest, codes.max_by_key(|&code| place(code)).unwrap_or(0))
    };
    let ends: Vec<(Code, Code)> = (0..lists.ends.len() as u32).into_par_iter().map(ends).collect();
    let with = |codes: &mut dyn Iterator<Item = Code>| {
        Column::new(column.name(), Arc::clone(column.domain()), Codes::collect(column.domain().len(), codes))
    };
    let lowest = with(&mut ends.iter().map(|ends| ends.0));
    match ends.iter().all(|(low, high)| low == high) {
        true => vec![lowest],
        false => vec![lowest, with(&mut ends.iter().map(|ends| ends.1))],
    }
}

impl Microdata {
    /// Some of the rows, for tables with one row per person.
    fn of_rows(&self, rows: &[u32]) -> Microdata {
        // Codes stay what they are: goals and taxonomies are bound to those of the whole table.
        let gathered =
            |column: &Column| Column::new(column.name(), Arc::clone(column.domain()), column.codes().gather(rows));
        let combined = self
            .combined
            .as_ref()
            .map(|combined| Combined { column: gathered(&combined.column), value_of: combined.value_of.clone() });
        Microdata {
            table: Table::new(self.table.columns().iter().map(gathered).collect()),
            quasi: self.quasi.clone(),
            other: Vec::new(),
            sensitive: Vec::new(),
            tight: self.tight.clone(),
            taxonomies: self.taxonomies.clone(),
            sensitive_counts: combined
                .as_ref()
                .map_or_else(|| counts_without_values(rows.len()), |combined| counts_of(&combined.column)),
            combined,
            population: None,
            persons: None,
            together: Vec::new(),
            whole_rows: self.whole_rows,
            part: Part::Everything,
        }
    }

    /// The code of what a person has; without sensitive columns all have the same.
    pub(crate) fn bundle(&self, person: u32) -> Code {
        self.combined.as_ref().map_or(0, |combined| combined.column.code(person as usize))
    }

    /// How many persons a group of persons with these codes has of every code.
    pub(crate) fn bundle_counts(&self, persons: impl Iterator<Item = u32>, counts: &mut SaCounts) {
        match &self.combined {
            Some(combined) => persons.for_each(|person| counts.add(combined.column.code(person as usize))),
            None => persons.for_each(|_| counts.add(0)),
        }
    }
}
