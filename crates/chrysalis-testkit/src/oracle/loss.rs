use chrysalis_table::{Code, Column, Kind, TaxonomyFile, Value};

use super::principle::path;

/// The normalized certainty penalty of one row whose group consists of these rows, in one attribute (DESIGN.md,
/// section 9): what is published is the tight range, the set of values, or the lowest taxonomy node.
///
/// A range or node that takes in the missing value besides others costs 1.
pub fn cell_ncp(column: &Column, taxonomy: Option<&TaxonomyFile>, rows: &[u32]) -> f64 {
    let domain = column.domain();
    let mut codes: Vec<Code> = rows.iter().map(|&row| column.code(row as usize)).collect();
    codes.sort_unstable();
    codes.dedup();
    if codes.len() <= 1 {
        return 0.0;
    }
    let all: Vec<Code> = (0..domain.len() as Code).collect();
    let (low, high) = match taxonomy {
        None if domain.kind() == Kind::Category => return codes.len() as f64 / domain.len() as f64,
        None => (position(column, codes[0]), position(column, codes[codes.len() - 1])),
        Some(file) => {
            let label = common_label(column, file, &codes);
            let is_below = |code: &Code| path(file, &domain.text(*code)).contains(&label);
            let below: Vec<Code> = all.iter().copied().filter(is_below).collect();
            if domain.kind() == Kind::Category {
                return below.len() as f64 / domain.len() as f64;
            }
            let ends = (position(column, below[0]), position(column, below[below.len() - 1]));
            if ends.0.is_none() || domain.kind() == Kind::Ordinal || path(file, "").contains(&label) {
                ends
            } else {
                // A label stands for all its values, including those that do not occur.
                let leaves = file.lines().filter(|line| line.contains(&label.as_str())).map(|line| line[0]);
                let numbers: Vec<f64> =
                    leaves.map(|leaf| Value::parse(domain.kind(), leaf).unwrap().number().unwrap()).collect();
                (numbers.iter().copied().reduce(f64::min), numbers.into_iter().reduce(f64::max))
            }
        }
    };
    let present = || all.iter().filter_map(|&code| position(column, code));
    match (low, high, present().reduce(f64::min), present().reduce(f64::max)) {
        (Some(low), Some(high), Some(first), Some(last)) => ((high - low) / (last - first)).min(1.0),
        _ => 1.0,
    }
}

/// The sum over a group's rows and attributes.
pub fn group_ncp(attributes: &[(&Column, Option<&TaxonomyFile>)], rows: &[u32]) -> f64 {
    attributes.iter().map(|(column, taxonomy)| rows.len() as f64 * cell_ncp(column, *taxonomy, rows)).sum()
}

fn position(column: &Column, code: Code) -> Option<f64> {
    let value = column.domain().value(code)?;
    Some(value.number().unwrap_or_else(|| f64::from(code)))
}

/// The lowest label above all of these values.
fn common_label(column: &Column, file: &TaxonomyFile, codes: &[Code]) -> String {
    let paths: Vec<Vec<String>> = codes.iter().map(|&code| path(file, &column.domain().text(code))).collect();
    let mut labels = paths[0].iter();
    labels.find(|label| paths.iter().all(|path| path.contains(label))).unwrap().clone()
}
