//! How exposed the people of a table are today: how many of them stand alone with what others may know.

use chrysalis_audit::Groups;
use chrysalis_table::{Column, Counted, Remedy, Stopped, Table, Watch};
use serde::Serialize;

use crate::Error;

/// Rows by how many rows look like them in the columns that somebody knows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Exposure {
    /// Rows of the table.
    pub rows: u64,
    /// Sets of rows that look alike.
    pub classes: u64,
    /// Rows of the smallest.
    pub smallest: u64,
    /// Rows that no other row looks like.
    pub unique_rows: u64,
    /// How often somebody who knows these columns of a random person finds the right row: classes per row.
    pub found: f64,
    /// Rows by the size of their set.
    pub sizes: Vec<SizeBand>,
}

/// Rows whose sets have sizes in a band.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SizeBand {
    /// The smallest size.
    pub from: u64,
    /// The largest size; `None` for no end.
    pub to: Option<u64>,
    /// Their rows.
    pub rows: u64,
}

/// Where bands begin.
const BANDS: [u64; 6] = [1, 2, 5, 10, 50, 200];

/// Measures a table. Without a column all rows look alike.
pub fn exposure(table: &Table, known: &[String], watch: &dyn Watch) -> Result<Exposure, Error> {
    let column = |name: &String| {
        let missing = || Error::request(format!("there is no column `{name}`"), Remedy::none());
        table.column(name).ok_or_else(missing)
    };
    let columns = known.iter().map(column).collect::<Result<Vec<&Column>, Error>>()?;
    Stopped::catch(|| {
        watch.phase("measure", None, Counted::Rows);
        let sizes = Groups::of_columns(&columns, table.rows(), watch).sizes();
        let rows = table.rows() as u64;
        let band = |(at, &from): (usize, &u64)| {
            let to = BANDS.get(at + 1).map(|next| next - 1);
            let is_inside = |size: &&u64| **size >= from && to.is_none_or(|to| **size <= to);
            SizeBand { from, to, rows: sizes.iter().filter(is_inside).sum() }
        };
        Exposure {
            rows,
            classes: sizes.len() as u64,
            smallest: sizes.iter().copied().min().unwrap_or(0),
            unique_rows: sizes.iter().filter(|&&size| size == 1).count() as u64,
            found: sizes.len() as f64 / rows.max(1) as f64,
            sizes: BANDS.iter().enumerate().map(band).collect(),
        }
    })
    .map_err(Error::from)
}

#[cfg(test)]
mod tests {
    use chrysalis_table::Unwatched;

    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn people_are_counted_by_hand() {
        let ages = [20, 20, 20, 31, 31, 40, 50, 50];
        let sexes = ["f", "f", "m", "m", "m", "f", "f", "m"];
        let table = Table::new(vec![Column::integers("age", &ages), Column::texts("sex", sexes.into_iter())]);
        // (20 f) 2, (20 m) 1, (31 m) 2, (40 f) 1, (50 f) 1, (50 m) 1.
        let found = exposure(&table, &names(&["age", "sex"]), &Unwatched).unwrap();
        assert_eq!((found.rows, found.classes, found.smallest, found.unique_rows), (8, 6, 1, 4));
        assert_eq!(found.found, 0.75);
        let bands: Vec<u64> = found.sizes.iter().map(|band| band.rows).collect();
        assert_eq!(bands, [4, 4, 0, 0, 0, 0]);
        let nothing = exposure(&table, &[], &Unwatched).unwrap();
        assert_eq!((nothing.classes, nothing.unique_rows, nothing.sizes[2].rows), (1, 0, 8));
        let error = exposure(&table, &names(&["zip"]), &Unwatched).unwrap_err();
        assert_eq!(error.message, "there is no column `zip`");
    }
}
