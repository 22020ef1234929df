//! The stream of patients.

use std::fmt;

use rand::rngs::ChaCha12Rng;
use rand::{Rng, SeedableRng};

use crate::patient::{Date, Patient, PatientId, Sex, ZipCode};
use crate::tables::{self, BANDS, DISEASES, Disease, OCCUPATIONS, REGIONS, STAGES};
use crate::weighted::{WeightedDraw, below};

/// An endless stream of patients: the same seed gives the same patients on every machine.
///
/// ```
/// use chrysalis_example::Hospital;
///
/// let children = Hospital::new(7).take(1_000).filter(|patient| patient.age < 6);
/// assert!(children.into_iter().all(|patient| matches!(patient.occupation, Some("child") | None)));
/// ```
pub struct Hospital {
    rng: ChaCha12Rng,
    ids: Numbers,
    ages: WeightedDraw<u8>,
    /// By age band.
    sexes: Vec<WeightedDraw<Sex>>,
    zip_codes: WeightedDraw<ZipCode>,
    /// By stage of life and sex.
    occupations: Vec<[WeightedDraw<Option<&'static str>>; 2]>,
    dates: WeightedDraw<Date>,
    /// By age band, sex and season.
    diseases: Vec<[[WeightedDraw<&'static Disease>; 4]; 2]>,
}

impl Hospital {
    /// Opens the hospital that belongs to `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let mut rng = ChaCha12Rng::seed_from_u64(seed);
        Self {
            ids: Numbers::new(&mut rng),
            rng,
            ages: ages(),
            sexes: tables::WOMEN_PERCENT
                .map(|women| WeightedDraw::new([(Sex::Female, women), (Sex::Male, 100 - women)]))
                .into(),
            zip_codes: zip_codes(),
            occupations: (0..STAGES.len()).map(|stage| [0, 1].map(|sex| occupations(stage, sex))).collect(),
            dates: dates(),
            diseases: (0..BANDS.len())
                .map(|band| [0, 1].map(|sex| [0, 1, 2, 3].map(|season| diseases(band, sex, season))))
                .collect(),
        }
    }

    /// The next patient. Every one takes the same number of words from the generator.
    pub(crate) fn admit(&mut self) -> Patient {
        let rng = &mut self.rng;
        let age = self.ages.draw(rng);
        let band = position(&BANDS, age);
        let sex = self.sexes[band].draw(rng);
        let zip_code = self.zip_codes.draw(rng);
        let occupation = self.occupations[position(&STAGES, age)][sex.index()].draw(rng);
        let admission_date = self.dates.draw(rng);
        let disease = self.diseases[band][sex.index()][season(admission_date.month)].draw(rng);
        let cost = cost(disease, age, rng.next_u64());
        Patient {
            id: PatientId(self.ids.next()),
            age,
            sex,
            zip_code,
            occupation,
            admission_date,
            disease: disease.name,
            cost,
        }
    }

    /// Where somebody lives after a move.
    pub(crate) fn zip_code(&self, rng: &mut impl Rng) -> ZipCode {
        self.zip_codes.draw(rng)
    }

    /// What brings a known patient again.
    pub(crate) fn disease(&self, age: u8, sex: Sex, month: u8, rng: &mut impl Rng) -> &'static Disease {
        self.diseases[position(&BANDS, age)][sex.index()][season(month)].draw(rng)
    }
}

impl Iterator for Hospital {
    type Item = Patient;

    /// Never `None`.
    fn next(&mut self) -> Option<Patient> {
        Some(self.admit())
    }
}

impl fmt::Debug for Hospital {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hospital").field("admitted", &self.ids.issued).finish_non_exhaustive()
    }
}

/// The index of the last of the ascending `starts` that `age` has reached; the first start is 0.
fn position(starts: &[u8], age: u8) -> usize {
    starts.partition_point(|&start| start <= age) - 1
}

/// 0 for winter (December to February) to 3 for autumn.
fn season(month: u8) -> usize {
    usize::from(month % 12 / 3)
}

fn ages() -> WeightedDraw<u8> {
    let knots = tables::PATIENTS_BY_AGE;
    WeightedDraw::new((0..=100).map(|age: u8| {
        let (knot, past) = (usize::from(age / 5), u32::from(age % 5));
        let next = knots[(knot + 1).min(knots.len() - 1)];
        (age, knots[knot] * (5 - past) + next * past)
    }))
}

fn zip_codes() -> WeightedDraw<ZipCode> {
    WeightedDraw::new(REGIONS.iter().flat_map(|region| {
        (0..region.n_codes).map(|i| (ZipCode(region.first + i * region.step), region.weight * 60 / (i + 3)))
    }))
}

fn occupations(stage: usize, sex: usize) -> WeightedDraw<Option<&'static str>> {
    let known = OCCUPATIONS.iter().map(|each| (Some(each.name), each.by_age[stage] * each.by_sex[sex]));
    let total: u32 = known.clone().map(|(_, weight)| weight).sum();
    let missing = (None, total * tables::MISSING_OCCUPATIONS / (1000 - tables::MISSING_OCCUPATIONS));
    WeightedDraw::new(known.chain([missing]))
}

fn dates() -> WeightedDraw<Date> {
    let dates = [2023, 2024].into_iter().flat_map(|year| {
        (1..=12).flat_map(move |month| (1..=Date::days_in(year, month)).map(move |day| Date { year, month, day }))
    });
    // The 1st of January 2023 was a Sunday, the last of the seven.
    WeightedDraw::new(dates.zip((0..7).cycle().skip(6)).map(|(date, weekday): (Date, usize)| {
        let by_season = tables::ADMISSIONS_BY_SEASON[season(date.month)];
        (date, tables::ADMISSIONS_BY_WEEKDAY[weekday] * by_season)
    }))
}

fn diseases(band: usize, sex: usize, season: usize) -> WeightedDraw<&'static Disease> {
    WeightedDraw::new(DISEASES.iter().map(|each| (each, each.by_age[band] * each.by_sex[sex] * each.by_season[season])))
}

/// Roughly log-normal around what the disease costs at that age: the middle half of the stays lies
/// between two thirds and one and a half times that, the extremes at an eighth and at eight times.
pub(crate) fn cost(disease: &Disease, age: u8, word: u64) -> u32 {
    // The sum of four uniform draws is nearly normal. The exponent is 0 to 6, in units of 2^-16.
    let sum = (0..4).map(|i| (word >> (16 * i)) & 0xffff).sum::<u64>();
    let exponent = sum * 3 / 2;
    // 2^exponent, interpolated between the powers of two, so that no library's rounding matters.
    let factor = ((1 << 16) + (exponent & 0xffff)) << (exponent >> 16);
    let typical = u64::from(disease.cost) * (160 + u64::from(age));
    // Undo the 2^16 of the units, the 2^3 of the middle exponent and the 200 of the age.
    let unit = 200 << 19;
    // PROOF: costs in the tables stay below 2^16 and the factors below 8 * 1.3: nothing is cut off.
    ((typical * factor + unit / 2) / unit) as u32
}

/// Hands out unique numbers in an order that looks random: a keyed permutation of `0..10^8`, then of the next 10^8
/// numbers, and so on. Only the count is remembered.
pub(crate) struct Numbers {
    keys: [u64; 4],
    issued: u64,
}

impl Numbers {
    const HALF: u64 = 10_000;
    const BLOCK: u64 = Self::HALF * Self::HALF;

    pub(crate) fn new(rng: &mut impl Rng) -> Self {
        Self { keys: std::array::from_fn(|_| rng.next_u64()), issued: 0 }
    }

    pub(crate) fn next(&mut self) -> u64 {
        let (block, place) = (self.issued / Self::BLOCK, self.issued % Self::BLOCK);
        self.issued += 1;
        block * Self::BLOCK + self.permute(place)
    }

    /// A Feistel network on two halves of four digits.
    // PROOF: each round can be undone (subtract what was added), so the whole is a bijection
    // whatever `scramble` does.
    fn permute(&self, place: u64) -> u64 {
        let (left, right) = self.keys.iter().fold((place / Self::HALF, place % Self::HALF), |(left, right), key| {
            (right, (left + below(scramble(right ^ key) >> 32, Self::HALF)) % Self::HALF)
        });
        left * Self::HALF + right
    }
}

/// The finalizer of `SplitMix64`: every bit of the input moves every bit of the output.
fn scramble(word: u64) -> u64 {
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}
