//! What a recipe asks of columns, once their values are known.

use chrysalis_table::{Column, Kind, Knob, Remedy, Role, Table, Watch};

use super::Recipe;
use crate::words::count;
use crate::{Error, Fault};

impl Recipe {
    /// Looks at the values of the columns that were read: a sensitive one must have several, and who names an identifier as quasi
    /// is told.
    pub fn check_rows(&self, table: &Table, watch: &dyn Watch) -> Result<(), Error> {
        for column in self.with_role(Role::Sensitive).filter_map(|name| table.column(name)) {
            check_several_values(column)?;
        }
        for attribute in self.attributes.iter().filter(|attribute| attribute.role == Role::QuasiIdentifier) {
            let column = table.column(&attribute.name).filter(|_| attribute.taxonomy.is_none());
            column.and_then(like_an_identifier).into_iter().for_each(|note| watch.note(&note));
        }
        Ok(())
    }
}

fn check_several_values(column: &Column) -> Result<(), Error> {
    if column.histogram().iter().filter(|&&n| n > 0).count() > 1 {
        return Ok(());
    }
    let message = format!("every row has the same value of `{}`, so nothing of it can be protected", column.name());
    let remedy = Remedy::from("name another column with ").knob(Knob::Sensitive, "").words(", or leave this one out");
    Err(Error { fault: Fault::Infeasible, message, remedy })
}

/// Fewer rows may all differ by chance.
const LEAST_ROWS: usize = 20;

/// A note on a column most of whose rows have a value of their own. A missing value is nobody's own.
fn like_an_identifier(column: &Column) -> Option<String> {
    let (domain, rows) = (column.domain(), column.codes().len());
    let may_name = match domain.kind() {
        Kind::Category | Kind::Ordinal => true,
        Kind::Integer => sounds_like_an_id(column.name()),
        Kind::Real | Kind::Date => false,
    };
    let histogram = column.histogram();
    let own = histogram.iter().skip(usize::from(domain.has_missing())).filter(|&&n| n == 1).count();
    (may_name && rows >= LEAST_ROWS && own * 10 >= rows * 9).then(|| {
        format!(
            "`{}` looks like an identifier: {} of {} rows have a value of their own; without it the other columns would lose less",
            column.name(),
            count(own as u64),
            count(rows as u64),
        )
    })
}

/// `id`, `patient_id`, `patientID`, `ID number`, `MRN`, `ssn`.
fn sounds_like_an_id(name: &str) -> bool {
    let lower = name.to_lowercase();
    let mut words = lower.split(|letter: char| !letter.is_alphanumeric());
    words.any(|word| matches!(word, "id" | "uuid" | "mrn" | "ssn")) || name.ends_with("ID") || name.ends_with("Id")
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use chrysalis_table::Counted;
    use serde_json::json;

    use super::*;
    use crate::Draft;

    /// Keeps what it is told.
    #[derive(Default)]
    struct Notes(Mutex<Vec<String>>);

    impl Watch for Notes {
        fn phase(&self, _: &'static str, _: Option<u64>, _: Counted) {}
        fn advance(&self, _: u64) {}
        fn note(&self, sentence: &str) {
            self.0.lock().unwrap().push(sentence.to_owned());
        }
    }

    fn check(table: &Table) -> Result<Vec<String>, Error> {
        let draft = json!({"quasi": ["a", "patient_id"], "sensitive": "s", "release": {"require": ["k=2"]}});
        let draft: Draft = serde_json::from_value(draft).unwrap();
        let recipe = draft.check(&["a", "patient_id", "s"].map(str::to_owned))?;
        let notes = Notes::default();
        recipe.check_rows(table, &notes)?;
        Ok(notes.0.into_inner().unwrap())
    }

    fn table(a: Column, ids: &[i64], s: &[&'static str]) -> Table {
        Table::new(vec![a, Column::integers("patient_id", ids), Column::texts("s", s.iter().copied())])
    }

    #[test]
    fn a_sensitive_column_has_several_values() {
        let numbers = [1, 2, 3];
        let error = check(&table(Column::integers("a", &numbers), &numbers, &["x", "x", "x"])).unwrap_err();
        assert_eq!(error.message, "every row has the same value of `s`, so nothing of it can be protected");
        assert_eq!(error.remedy, "name another column with `sensitive`, or leave this one out");
        assert_eq!(error.fault, Fault::Infeasible);
        // Ids of three rows may be anything.
        assert_eq!(
            check(&table(Column::integers("a", &numbers), &numbers, &["x", "x", "y"])).unwrap(),
            [] as [&str; 0]
        );
    }

    #[test]
    fn identifiers_among_quasi_columns_are_told() {
        let numbers: Vec<i64> = (0..20).collect();
        let same = vec![7; 20];
        let values: Vec<&str> = (0..20).map(|row| if row % 2 == 0 { "x" } else { "y" }).collect();
        let words: Vec<String> = (0..20).map(|row| format!("name {row}")).collect();
        let words = || Column::texts("a", words.iter().map(String::as_str));
        let note = |name: &str, own: u64| {
            let rows = format!("{own} of 20 rows have a value of their own");
            format!("`{name}` looks like an identifier: {rows}; without it the other columns would lose less")
        };
        // A number whose name says nothing may be an age.
        let told = check(&table(Column::integers("a", &numbers), &numbers, &values)).unwrap();
        assert_eq!(told, [note("patient_id", 20)]);
        assert_eq!(check(&table(words(), &same, &values)).unwrap(), [note("a", 20)]);
        let twice: Vec<i64> = (0..20).map(|row: i64| row.max(1)).collect();
        assert_eq!(check(&table(words(), &twice, &values)).unwrap(), [note("a", 20), note("patient_id", 18)]);
        let often: Vec<i64> = (0..20).map(|row: i64| row.max(2)).collect();
        assert_eq!(check(&table(words(), &often, &values)).unwrap(), [note("a", 20)]);
    }

    #[test]
    fn names_of_ids() {
        for name in ["id", "ID", "patient_id", "patientID", "userId", "ID number", "MRN", "ssn"] {
            assert!(sounds_like_an_id(name), "{name}");
        }
        for name in ["idle", "paid", "age", "video", "width"] {
            assert!(!sounds_like_an_id(name), "{name}");
        }
    }
}
