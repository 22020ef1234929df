//! Rows as databases take them.

use chrysalis_table::{Code, Column, Table, Value};

/// Rows between two calls of `progress`.
pub(crate) const STRIDE: usize = 1 << 13;

/// Rows in the text format of PostgreSQL's COPY, a piece at a time.
pub(crate) struct CopyText<'a> {
    columns: Vec<(&'a Column, Vec<Vec<u8>>)>,
    rows: usize,
}

impl<'a> CopyText<'a> {
    pub(crate) fn of(table: &'a Table) -> Self {
        let columns = table.columns().iter().map(|column| (column, fields(column))).collect();
        CopyText { columns, rows: table.rows() }
    }

    /// Writes the lines of the next rows, and returns how many rows these are.
    pub(crate) fn lines(&self, from: usize, lines: &mut Vec<u8>) -> usize {
        lines.clear();
        let to = self.rows.min(from + STRIDE);
        for row in from..to {
            for (at, (column, fields)) in self.columns.iter().enumerate() {
                if at > 0 {
                    lines.push(b'\t');
                }
                lines.extend_from_slice(&fields[column.code(row) as usize]);
            }
            lines.push(b'\n');
        }
        to - from
    }
}

/// The field of every code.
fn fields(column: &Column) -> Vec<Vec<u8>> {
    let field = |code: Code| match column.domain().value(code) {
        None => b"\\N".to_vec(),
        Some(Value::Text(text)) => escaped(text),
        // The shortest digits that read back as the same number.
        Some(Value::Real(number)) => format!("{number:?}").into_bytes(),
        Some(value) => value.to_string().into_bytes(),
    };
    (0..column.domain().len() as Code).map(field).collect()
}

fn escaped(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'\\' => bytes.extend_from_slice(b"\\\\"),
            b'\t' => bytes.extend_from_slice(b"\\t"),
            b'\n' => bytes.extend_from_slice(b"\\n"),
            b'\r' => bytes.extend_from_slice(b"\\r"),
            byte => bytes.push(byte),
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_survive_the_text_form_of_copy() {
        let check = |text: &str, field: &str| assert_eq!(escaped(text), field.as_bytes());
        check("plain", "plain");
        check("a\tb\nc\rd", "a\\tb\\nc\\rd");
        check("\\N", "\\\\N");
        check("\\.", "\\\\.");
    }

    #[test]
    fn a_missing_value_is_no_empty_word() {
        let table =
            Table::new(vec![Column::texts("a", ["x", "", "y"].into_iter()), Column::integers("b", &[1, -2, 3])]);
        let (copy, mut lines) = (CopyText::of(&table), Vec::new());
        assert_eq!(copy.lines(0, &mut lines), 3);
        assert_eq!(String::from_utf8(lines).unwrap(), "x\t1\n\\N\t-2\ny\t3\n");
    }
}
