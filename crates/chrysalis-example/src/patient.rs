//! What is known about one patient, and how it is written.

use std::fmt;
use std::io::{self, Write};

/// One patient: a row of the table. Invented, so unlike real microdata it may appear in logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patient {
    /// Unique within one [`Hospital`](crate::Hospital), and unrelated to everything else in the row.
    pub id: PatientId,
    /// In years, 0 to 100.
    pub age: u8,
    /// As registered.
    pub sex: Sex,
    /// Where the patient lives.
    pub zip_code: ZipCode,
    /// A leaf of [`OCCUPATION_TAXONOMY`](crate::OCCUPATION_TAXONOMY); `None` when left empty.
    pub occupation: Option<&'static str>,
    /// A day of 2023 or 2024.
    pub admission_date: Date,
    /// A leaf of [`DISEASE_TAXONOMY`](crate::DISEASE_TAXONOMY).
    pub disease: &'static str,
    /// What the stay cost, in whole units of money; never zero.
    pub cost: u32,
}

impl Patient {
    /// Writes the patient as one line of CSV. No value ever needs quotes.
    pub(crate) fn write_record(&self, out: &mut impl Write) -> io::Result<()> {
        let Self { id, age, sex, zip_code, occupation, admission_date, disease, cost } = self;
        let occupation = occupation.unwrap_or_default();
        write!(out, "{id},{age},{sex},{zip_code},{occupation},")?;
        writeln!(out, "{admission_date},{disease},{cost}")
    }
}

/// The hospital's number for a patient, written `P` and at least eight digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PatientId(pub(crate) u64);

impl fmt::Display for PatientId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "P{:08}", self.0)
    }
}

/// Sex as registered, written `F` or `M`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sex {
    /// `F`
    Female,
    /// `M`
    Male,
}

impl Sex {
    /// Its place in tables of two.
    pub(crate) fn index(self) -> usize {
        match self {
            Self::Female => 0,
            Self::Male => 1,
        }
    }
}

impl fmt::Display for Sex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Female => "F",
            Self::Male => "M",
        })
    }
}

/// A postal code of five digits, leading zeros included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ZipCode(pub(crate) u32);

impl fmt::Display for ZipCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:05}", self.0)
    }
}

/// A day, written `YYYY-MM-DD`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date {
    /// 2023 to 2025.
    pub year: u16,
    /// 1 to 12.
    pub month: u8,
    /// 1 to 31.
    pub day: u8,
}

impl Date {
    pub(crate) fn days_in(year: u16, month: u8) -> u8 {
        match month {
            2 if year.is_multiple_of(4) => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        }
    }

    /// The day that comes `days` later.
    pub(crate) fn after(mut self, days: u32) -> Self {
        let mut day = u32::from(self.day) + days;
        while day > Self::days_in(self.year, self.month).into() {
            day -= u32::from(Self::days_in(self.year, self.month));
            (self.year, self.month) = if self.month == 12 { (self.year + 1, 1) } else { (self.year, self.month + 1) };
        }
        // PROOF: the loop ends at a day of the month, 1 to 31.
        self.day = day as u8;
        self
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}
