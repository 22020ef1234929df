//! CSV out: commas, quotes where needed, an empty field for a missing value.

use std::io::{self, BufWriter, Write};

use chrysalis_table::{Code, Column, Progress, Table, pause_at};

/// Rows between two places to stop.
const AT_A_TIME: usize = 1 << 14;

/// Writes a table, and reports how many rows are done.
pub(crate) fn write(table: &Table, out: impl Write, progress: Progress<'_>) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 18, out);
    let header: Vec<String> = table.columns().iter().map(|column| quoted(column.name())).collect();
    writeln!(out, "{}", header.join(","))?;
    // A lone empty field would be a blank line, which readers skip.
    let missing = if table.columns().len() == 1 { "\"\"" } else { "" };
    let fields: Vec<Fields> = table.columns().iter().map(|column| Fields::of(column, missing, progress)).collect();
    for start in (0..table.rows()).step_by(AT_A_TIME) {
        let end = table.rows().min(start + AT_A_TIME);
        for row in start..end {
            for (at, (column, fields)) in table.columns().iter().zip(&fields).enumerate() {
                if at > 0 {
                    out.write_all(b",")?;
                }
                out.write_all(fields.get(column.code(row)))?;
            }
            out.write_all(b"\n")?;
        }
        progress((end - start) as u64);
    }
    out.flush()
}

/// What every code of a column is written as, in one allocation: millions of small ones take long to free.
struct Fields {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Fields {
    fn of(column: &Column, missing: &str, progress: Progress<'_>) -> Self {
        let domain = column.domain();
        let mut fields = Fields { bytes: Vec::new(), ends: Vec::with_capacity(domain.len()) };
        for code in 0..domain.len() as Code {
            pause_at(progress, code as usize);
            match domain.value(code) {
                None => fields.bytes.extend_from_slice(missing.as_bytes()),
                Some(_) => fields.bytes.extend_from_slice(quoted(&domain.text(code)).as_bytes()),
            }
            fields.ends.push(fields.bytes.len());
        }
        fields
    }

    fn get(&self, code: Code) -> &[u8] {
        let at = code as usize;
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.bytes[start..self.ends[at]]
    }
}

/// Spaces at the ends are quoted too, because readers trim unquoted fields.
fn quoted(text: &str) -> String {
    let needs = text.contains([',', '"', '\n', '\r', ';', '\t', '|']) || text.trim() != text;
    if needs { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}
