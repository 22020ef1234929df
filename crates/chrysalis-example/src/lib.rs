//! A hospital table to try things on: as many patients as you like, none of them real.
//!
//! Documentation, demonstrations and benchmarks need microdata that may be passed on and that come
//! in any size. This crate draws them from a seed, one patient at a time, so memory stays constant.
//! The columns depend on each other the way a reader expects (nobody retires at six, influenza comes
//! in winter, heart attacks hit men more often), because a table of independent columns makes every
//! method look good.
//!
//! It is *not* a model of any real hospital: the shares are plausible, not measured. It opens no
//! file and draws no randomness of its own; the seed is an argument.
//!
//! - Everything is integer arithmetic on a ChaCha stream, so one seed gives one table on every
//!   machine.
//! - No disease has a tenth of the rows, so requirements up to `l=10` can be met; within one age
//!   band, sex and season none has a quarter, so `l=4` leaves small groups possible.
//! - The things that real files trip over: about one occupation in a hundred is missing, half of the
//!   zip codes begin with a zero, and patient ids tell nothing about the order of the rows.
//! - [`write_visits`] writes the same patients' visits, as a hospital's own system exports them: one to eight rows of
//!   a patient, names, times of admission, and three columns that nobody may learn (diagnosis, cost, days).
//! - [`write_month`] writes who is there in one month of many: most of them are those of the month before.
//!
//! ```
//! let mut csv = Vec::new();
//! chrysalis_example::write_csv(&mut csv, 1_000, 7)?;
//! let text = String::from_utf8(csv).expect("the table is ASCII");
//! assert_eq!(text.lines().count(), 1_001);
//! assert!(text.starts_with("patient_id,age,sex,zip_code,occupation,admission_date,disease,cost\n"));
//! # Ok::<(), std::io::Error>(())
//! ```

mod hospital;
mod month;
mod name;
mod patient;
mod tables;
mod visit;
mod weighted;

#[cfg(test)]
mod month_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod visit_tests;

use std::io::{self, Write};

pub use hospital::Hospital;
pub use month::write_month;
pub use name::Name;
pub use patient::{Date, Patient, PatientId, Sex, ZipCode};
pub use visit::{Visit, VisitId, Visits};

/// The columns of the table of patients, in order.
pub const COLUMNS: [&str; 8] =
    ["patient_id", "age", "sex", "zip_code", "occupation", "admission_date", "disease", "cost"];

/// The columns of the export of visits, in order. The first is an index, which has no name.
pub const VISIT_COLUMNS: [&str; 11] =
    ["", "visit_id", "patient_id", "name", "age", "sex", "zip_code", "admitted", "diagnosis", "cost", "days"];

/// Taxonomy of the occupations in the format of ARX, three levels: `nurse;health and teaching;*`.
///
/// A missing occupation is not a leaf.
pub const OCCUPATION_TAXONOMY: &str = include_str!("../data/occupation.csv");

/// Taxonomy of the diseases, and of the diagnoses of visits, in the format of ARX, three levels: `asthma;respiratory;*`.
pub const DISEASE_TAXONOMY: &str = include_str!("../data/disease.csv");

/// A commented `chrysalis.toml` for the table.
///
/// It expects the table beside it as `patients.csv` and [`OCCUPATION_TAXONOMY`] as `occupation.csv`.
pub const SPEC: &str = include_str!("../data/chrysalis.toml");

/// Writes a header and `rows` patients as CSV: commas, no quotes, `\n` line ends, an empty field for
/// a missing value.
///
/// Output is collected into large pieces, so `out` needs no buffer of its own.
///
/// # Errors
///
/// Whatever `out` reports; what was written until then stays written.
pub fn write_csv(out: &mut impl Write, rows: u64, seed: u64) -> io::Result<()> {
    let mut out = io::BufWriter::with_capacity(1 << 16, out);
    writeln!(out, "{}", COLUMNS.join(","))?;
    let mut hospital = Hospital::new(seed);
    for _ in 0..rows {
        hospital.admit().write_record(&mut out)?;
    }
    out.flush()
}

/// Writes a header and all visits of the first `patients` patients as a raw export, and returns how many there are.
///
/// Semicolons, decimal commas, no quotes, `\n` line ends, an index without a name, `NA` for a missing age. The
/// patients are those that [`write_csv`] writes for the same seed, and the first visit of each is the stay in that
/// table. Memory stays constant here, too.
///
/// # Errors
///
/// Whatever `out` reports; what was written until then stays written.
pub fn write_visits(out: &mut impl Write, patients: u64, seed: u64) -> io::Result<u64> {
    let mut out = io::BufWriter::with_capacity(1 << 16, out);
    writeln!(out, "{}", VISIT_COLUMNS.join(";"))?;
    let mut n_visits = 0;
    for visit in Visits::new(seed, patients) {
        visit.write_record(n_visits, &mut out)?;
        n_visits += 1;
    }
    out.flush()?;
    Ok(n_visits)
}
