//! CSV out: commas, quotes where needed, an empty field for a missing value.

use std::io::{self, BufWriter, Write};

use chrysalis_table::{Code, Table};

pub(crate) fn write(table: &Table, out: impl Write) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 18, out);
    let header: Vec<String> = table.columns().iter().map(|column| quoted(column.name())).collect();
    writeln!(out, "{}", header.join(","))?;
    // A lone empty field would be a blank line, which readers pass over.
    let missing = if table.columns().len() == 1 { "\"\"" } else { "" };
    let texts: Vec<Vec<String>> = table
        .columns()
        .iter()
        .map(|column| {
            let domain = column.domain();
            let text =
                |code| if domain.value(code).is_none() { missing.to_owned() } else { quoted(&domain.text(code)) };
            (0..domain.len() as Code).map(text).collect()
        })
        .collect();
    for row in 0..table.rows() {
        for (at, (column, texts)) in table.columns().iter().zip(&texts).enumerate() {
            if at > 0 {
                out.write_all(b",")?;
            }
            out.write_all(texts[column.code(row) as usize].as_bytes())?;
        }
        out.write_all(b"\n")?;
    }
    out.flush()
}

/// Spaces at the ends are quoted too, because readers trim unquoted fields.
fn quoted(text: &str) -> String {
    let needs = text.contains([',', '"', '\n', '\r', ';', '\t', '|']) || text.trim() != text;
    if needs { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}
