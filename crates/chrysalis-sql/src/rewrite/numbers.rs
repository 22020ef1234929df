//! The integers from 0 on, as sums of digits: databases agree on no other way to list them.

use super::Writer;
use super::expr::{X, col, int, total};
use super::select::Rows;

/// Writes a CTE with the numbers `i` below `size`.
pub(super) fn write(writer: &mut Writer<'_>, name: &str, size: u64) {
    let digits = format!("{name}_digits");
    let tables = (0..10_i64).map(|digit| Rows::default().item(int(digit), "i")).collect();
    writer.ctes.add_union(&digits, tables);
    let n_digits = size.saturating_sub(1).checked_ilog10().map_or(1, |log| log + 1);
    let alias = |at: u32| format!("d{at}");
    let mut rows = Rows::of_alias(&digits, &alias(0));
    for at in 1..n_digits {
        rows = rows.cross(&digits, &alias(at));
    }
    let digit = |at: u32| -> X {
        let digit = col(&format!("{}.i", alias(at)));
        if at == 0 { digit } else { digit * int(10_i128.pow(at)) }
    };
    let number = || total((0..n_digits).map(digit).collect());
    writer.ctes.add(name, rows.item(number(), "i").filter(Some(number().less(int(size)))));
}
