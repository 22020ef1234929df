//! How well persons hide in a table in which they may have several rows.

use chrysalis_table::{Codes, Column, Table, Unwatched};

use crate::grouping::Key;
use crate::profile::{check_size, named};
use crate::{AuditError, Groups};

/// What a table satisfies if persons are counted, who may have several rows each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PersonLevels {
    /// The column that tells persons apart.
    pub column: String,
    /// Persons.
    pub persons: u64,
    /// Rows that name nobody; they count as rows of one more person each.
    pub rows_of_nobody: u64,
    /// The fewest persons who share all quasi values in some rows.
    pub k: u64,
    /// Groups, of rows that agree on all quasi columns, in which there is one person.
    pub groups_of_one: u64,
    /// Groups with more rows than persons: counted by rows, they look larger than they are.
    pub groups_with_repetitions: u64,
    /// Persons with more than one row.
    pub persons_with_several_rows: u64,
    /// The most rows of one person.
    pub most_rows: u64,
    /// Persons whose rows are in several groups.
    pub persons_in_several_groups: u64,
}

/// Counts the persons of groups of rows that agree on all quasi columns.
pub fn profile_persons(table: &Table, quasi: &[impl AsRef<str>], person: &str) -> Result<PersonLevels, AuditError> {
    let quasi: Vec<&Column> = quasi.iter().map(|name| named(table, name.as_ref())).collect::<Result<_, _>>()?;
    let column = named(table, person)?;
    check_size("the table", table.rows())?;
    let groups = Groups::of_columns(&quasi, table.rows(), &Unwatched);
    // A row of nobody is a person of its own: nothing says that two such rows are of one person.
    let has_nobody = column.domain().has_missing();
    let mut next = column.domain().len() as u32;
    let mut rows_of_nobody = 0;
    let mut of_row = |code: u32| match has_nobody && code == 0 {
        false => code,
        true => {
            rows_of_nobody += 1;
            next += 1;
            next - 1
        }
    };
    let persons: Vec<u32> = column.codes().iter().map(&mut of_row).collect();
    let n_persons = next as usize;
    let mut rows = vec![0_u64; n_persons];
    persons.iter().for_each(|&person| rows[person as usize] += 1);
    let codes = [
        (Codes::collect(groups.n_groups.max(1), groups.of_row.iter().copied()), groups.n_groups.max(1)),
        (Codes::collect(n_persons.max(1), persons.iter().copied()), n_persons.max(1)),
    ];
    let keys = codes.each_ref().map(|(codes, n_codes)| Key { codes, n_codes: *n_codes });
    let pairs = Groups::of_keys(&keys, table.rows(), &Unwatched);
    let (mut of_group, mut places) = (vec![0_u64; groups.n_groups], vec![0_u64; n_persons]);
    for row in pairs.some_rows() {
        of_group[groups.of_row[row] as usize] += 1;
        places[persons[row] as usize] += 1;
    }
    let count = |all: &[u64], is_meant: fn(u64) -> bool| all.iter().filter(|n| is_meant(**n)).count() as u64;
    let sizes = groups.sizes();
    Ok(PersonLevels {
        column: person.to_owned(),
        persons: count(&rows, |rows| rows > 0),
        rows_of_nobody,
        k: of_group.iter().copied().min().unwrap_or(0),
        groups_of_one: count(&of_group, |persons| persons == 1),
        groups_with_repetitions: of_group.iter().zip(&sizes).filter(|(persons, rows)| persons < rows).count() as u64,
        persons_with_several_rows: count(&rows, |rows| rows > 1),
        most_rows: rows.iter().copied().max().unwrap_or(0),
        persons_in_several_groups: count(&places, |places| places > 1),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn persons_of_groups_are_counted_once() {
        let table = Table::new(vec![
            Column::texts("id", ["a", "a", "b", "b", "c", "d", ""].into_iter()),
            Column::integers("age", &[20, 20, 20, 30, 30, 40, 40]),
        ]);
        let found = profile_persons(&table, &["age"], "id").unwrap();
        let expected = PersonLevels {
            column: "id".to_owned(),
            persons: 5,
            rows_of_nobody: 1,
            k: 2,
            groups_of_one: 0,
            groups_with_repetitions: 1,
            persons_with_several_rows: 2,
            most_rows: 2,
            persons_in_several_groups: 1,
        };
        assert_eq!(found, expected);
        let alone = table.gather(&[0, 1, 4]);
        let found = profile_persons(&alone, &["age"], "id").unwrap();
        assert_eq!((found.k, found.groups_of_one, found.groups_with_repetitions), (1, 2, 1));
        let error = profile_persons(&table, &["age"], "name").unwrap_err();
        assert_eq!(error.to_string(), "the table has no column `name`");
    }
}
