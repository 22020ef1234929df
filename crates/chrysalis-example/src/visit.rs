//! The stream of visits: patients who come again, as a hospital's own system exports them.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write};

use rand::rngs::ChaCha12Rng;
use rand::{Rng, SeedableRng};

use crate::hospital::{self, Hospital, Numbers};
use crate::name::Name;
use crate::patient::{Date, PatientId, Sex, ZipCode};
use crate::tables::{DISEASES, Disease, MISSING_AGES, MOVES, PATIENTS_BY_VISITS};
use crate::weighted::{WeightedDraw, below};

/// One visit: a row of the export. Invented, like the patients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Visit {
    /// Unique within one export, and unrelated to everything else in the row.
    pub id: VisitId,
    /// Whose visit it is; the same in all visits of a patient, and in the table of patients.
    pub patient: PatientId,
    /// The same in all visits of a patient.
    pub name: Name,
    /// In years, on the day of admission; `None` when left open.
    pub age: Option<u8>,
    /// The same in all visits of a patient.
    pub sex: Sex,
    /// Where the patient lives; a few move between visits.
    pub zip_code: ZipCode,
    /// A day of 2023, 2024 or 2025.
    pub admission_date: Date,
    /// Minutes since midnight.
    pub minute: u16,
    /// A leaf of [`DISEASE_TAXONOMY`](crate::DISEASE_TAXONOMY).
    pub diagnosis: &'static str,
    /// What the stay cost, in hundredths of a unit of money; never zero.
    pub cents: u32,
    /// How long the stay lasted, 1 to 39.
    pub days: u8,
}

impl Visit {
    /// Writes the visit as line `index` of the export. No value ever needs quotes.
    pub(crate) fn write_record(&self, index: u64, out: &mut impl Write) -> io::Result<()> {
        let Self { id, patient, name, age, sex, zip_code, admission_date, minute, diagnosis, cents, days } = self;
        write!(out, "{index};{id};{patient};{name};")?;
        match age {
            Some(age) => write!(out, "{age};")?,
            None => out.write_all(b"NA;")?,
        }
        write!(out, "{sex};{zip_code};{admission_date} {:02}:{:02};", minute / 60, minute % 60)?;
        writeln!(out, "{diagnosis};{},{:02};{days}", cents / 100, cents % 100)
    }
}

/// The hospital's number for a visit, written `V` and at least eight digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VisitId(u64);

impl fmt::Display for VisitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "V{:08}", self.0)
    }
}

/// All visits of a number of patients, in the order in which they are exported.
///
/// The patients are those of the [`Hospital`] with the same seed, and each one's first visit is the stay that the
/// hospital tells of. Visits of one patient follow each other in time, with others' in between.
///
/// ```
/// use chrysalis_example::{Hospital, Visits};
///
/// let patient = Hospital::new(7).next().expect("the stream is endless");
/// let visit = Visits::new(7, 1_000).find(|visit| visit.patient == patient.id).expect("everybody comes at least once");
/// assert_eq!((visit.diagnosis, visit.admission_date), (patient.disease, patient.admission_date));
/// ```
pub struct Visits {
    hospital: Hospital,
    rng: ChaCha12Rng,
    ids: Numbers,
    n_visits: WeightedDraw<u32>,
    /// Patients who came so far, and how many there will be.
    come: u64,
    patients: u64,
    /// Visits not yet exported, by the number of patients they wait for and then by who came first.
    waiting: BTreeMap<(u64, u64), Visit>,
}

impl Visits {
    /// The last day of the export.
    const END: Date = Date { year: 2025, month: 12, day: 31 };
    /// At most so many other patients come between two visits of one patient.
    const BETWEEN: u64 = 1_000;

    /// The visits of the first `patients` patients of the hospital that belongs to `seed`.
    #[must_use]
    pub fn new(seed: u64, patients: u64) -> Self {
        // A stream of its own, so that the patients are the same with and without their visits.
        let mut rng = ChaCha12Rng::seed_from_u64(seed);
        rng.set_stream(1);
        Self {
            hospital: Hospital::new(seed),
            ids: Numbers::new(&mut rng),
            rng,
            n_visits: WeightedDraw::new((1..).zip(PATIENTS_BY_VISITS)),
            come: 0,
            patients,
            waiting: BTreeMap::new(),
        }
    }

    /// Takes in the next patient with all visits.
    fn take_in(&mut self) {
        let patient = self.hospital.admit();
        let rng = &mut self.rng;
        let name = Name::draw(patient.sex, rng);
        let n_visits = self.n_visits.draw(rng);
        let since_birthday = draw_below(365, rng);
        // PROOF: nobody is older than 100 at first, and the export ends three years later.
        let age_after = |days| patient.age + ((since_birthday + u64::from(days)) / 365) as u8;

        // The first visit is the stay that the table of patients tells of.
        let (mut zip_code, mut admission_date) = (patient.zip_code, patient.admission_date);
        let (mut disease, mut cost) = (named(patient.disease), patient.cost);
        let (mut elapsed, mut due) = (0, self.come);
        for n_left in (0..n_visits).rev() {
            let id = VisitId(self.ids.next());
            let days = days(disease, cost, rng);
            let visit = Visit {
                id,
                patient: patient.id,
                name,
                age: (draw_below(1000, rng) >= MISSING_AGES).then(|| age_after(elapsed)),
                sex: patient.sex,
                zip_code,
                admission_date,
                // Most come around noon.
                minute: (draw_below(720, rng) + draw_below(720, rng)) as u16,
                diagnosis: disease.name,
                // Rounded to whole units this is the cost again.
                cents: cost * 100 - 50 + draw_below(100, rng) as u32,
                days,
            };
            self.waiting.insert((due, self.come), visit);

            let gap = u32::from(days) + 7 + draw_below(170, rng) as u32;
            (elapsed, admission_date) = (elapsed + gap, admission_date.after(gap));
            if n_left == 0 || admission_date > Self::END {
                break;
            }
            if draw_below(1000, rng) < MOVES {
                zip_code = self.hospital.zip_code(rng);
            }
            // Every other time it is the same disease again.
            if draw_below(2, rng) == 0 {
                disease = self.hospital.disease(age_after(elapsed), patient.sex, admission_date.month, rng);
            }
            cost = hospital::cost(disease, age_after(elapsed), rng.next_u64());
            due += 1 + draw_below(Self::BETWEEN, rng);
        }
        self.come += 1;
    }
}

impl Iterator for Visits {
    type Item = Visit;

    fn next(&mut self) -> Option<Visit> {
        // Whoever comes later has visits that are due later.
        while self.come < self.patients && self.waiting.first_key_value().is_none_or(|(key, _)| key.0 >= self.come) {
            self.take_in();
        }
        self.waiting.pop_first().map(|(_, visit)| visit)
    }
}

impl fmt::Debug for Visits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Visits").field("come", &self.come).field("patients", &self.patients).finish_non_exhaustive()
    }
}

fn draw_below(bound: u64, rng: &mut impl Rng) -> u64 {
    below(rng.next_u64() >> 32, bound)
}

/// The disease of that name; every patient's is in the table.
fn named(name: &str) -> &'static Disease {
    DISEASES.iter().find(|each| each.name == name).unwrap_or(&DISEASES[0])
}

/// Between one day and twice what is typical; stays that cost more than usual last longer, too.
fn days(disease: &Disease, cost: u32, rng: &mut impl Rng) -> u8 {
    let typical = disease.days * cost.clamp(disease.cost / 2, disease.cost * 2) / disease.cost;
    let typical = u64::from(typical.max(1));
    // PROOF: typical stays have at most 10 days, so that `typical` is at most 20.
    (1 + draw_below(typical, rng) + draw_below(typical, rng)) as u8
}
