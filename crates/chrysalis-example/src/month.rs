//! One month of many: who is there.

use std::io::{self, Write};

use crate::{COLUMNS, Hospital};

/// Of so many patients one leaves in a month, and somebody comes instead.
const ONE_LEAVES_OF: u64 = 10;
/// Of so many patients one stays away for a month now and then.
const ONE_PAUSES_OF: u64 = 29;
/// Of so many patients one comes back, for a month, two months after leaving.
const ONE_RETURNS_OF: u64 = 40;

/// Writes a header and the patients who are there in a month, the first one being month 0, and returns how many they are:
/// about `rows`.
///
/// In month 0 those are patients that [`write_csv`](crate::write_csv) writes for the same seed. Patients keep what is said of
/// them. Each month a tenth of them leave and as many come; a few stay away for a month, or come back after two.
///
/// # Errors
///
/// Whatever `out` reports; what was written until then stays written.
pub fn write_month(out: &mut impl Write, rows: u64, seed: u64, month: u64) -> io::Result<u64> {
    let mut out = io::BufWriter::with_capacity(1 << 16, out);
    writeln!(out, "{}", COLUMNS.join(","))?;
    let leaving = (rows / ONE_LEAVES_OF).max(1);
    let mut hospital = Hospital::new(seed);
    let mut n_there = 0;
    for number in 0..month * leaving + rows {
        let patient = hospital.admit();
        if is_there(number, month, (rows, leaving)) {
            patient.write_record(&mut out)?;
            n_there += 1;
        }
    }
    out.flush()?;
    Ok(n_there)
}

/// Patients come and leave in the order of their numbers.
fn is_there(number: u64, month: u64, (rows, leaving): (u64, u64)) -> bool {
    if number < month * leaving {
        // The number of those who left three months ago.
        let left_then = month.checked_sub(3).map(|then| then * leaving..(then + 1) * leaving);
        return number % ONE_RETURNS_OF == 7 && left_then.is_some_and(|them| them.contains(&number));
    }
    let pauses = month > 0 && number % ONE_PAUSES_OF == 11 && (month + number) % 5 == 2;
    number < month * leaving + rows && !pauses
}
