//! The numbers behind the table: who comes, from where, when and with what.
//!
//! All of them are relative weights, chosen to be plausible rather than taken from any source.

/// Patients at the ages 0, 5, 10 … 100; ages in between are interpolated.
pub(crate) const PATIENTS_BY_AGE: [u32; 21] =
    [150, 80, 55, 70, 95, 110, 120, 115, 105, 105, 115, 130, 150, 170, 185, 190, 170, 120, 60, 20, 4];

/// First age of each band in [`WOMEN_PERCENT`] and [`Disease::by_age`].
pub(crate) const BANDS: [u8; 7] = [0, 5, 15, 30, 45, 65, 80];

/// Women among the patients of each age band, in percent.
pub(crate) const WOMEN_PERCENT: [u32; 7] = [46, 46, 56, 54, 48, 50, 60];

/// Admissions by weekday, Monday first.
pub(crate) const ADMISSIONS_BY_WEEKDAY: [u32; 7] = [120, 112, 108, 106, 104, 78, 72];

/// Admissions by season: winter, spring, summer, autumn.
pub(crate) const ADMISSIONS_BY_SEASON: [u32; 4] = [112, 100, 92, 100];

/// Empty occupation fields, out of 1000.
pub(crate) const MISSING_OCCUPATIONS: u32 = 10;

/// Patients by the number of their visits, one to eight; the last ones may fall behind the end of the export.
pub(crate) const PATIENTS_BY_VISITS: [u32; 8] = [680, 170, 70, 36, 20, 12, 7, 5];

/// Age fields of visits that were left open, out of 1000.
pub(crate) const MISSING_AGES: u64 = 5;

/// Patients who live elsewhere when they come again, out of 1000.
pub(crate) const MOVES: u64 = 30;

/// Zip codes that share their first three digits: `first`, `first + step`, … The first code is the town; the others
/// send fewer patients the later they come.
pub(crate) struct Region {
    pub(crate) first: u32,
    pub(crate) step: u32,
    pub(crate) n_codes: u32,
    pub(crate) weight: u32,
}

/// 96 codes behind six prefixes, three of which begin with a zero.
pub(crate) const REGIONS: [Region; 6] = [
    Region { first: 1201, step: 3, n_codes: 26, weight: 300 },
    Region { first: 1301, step: 7, n_codes: 12, weight: 80 },
    Region { first: 6702, step: 8, n_codes: 10, weight: 60 },
    Region { first: 12010, step: 4, n_codes: 18, weight: 120 },
    Region { first: 12106, step: 5, n_codes: 16, weight: 140 },
    Region { first: 12202, step: 2, n_codes: 14, weight: 220 },
];

/// An occupation and how common it is.
pub(crate) struct Occupation {
    pub(crate) name: &'static str,
    /// In each of [`STAGES`].
    pub(crate) by_age: [u32; 9],
    /// Women, men.
    pub(crate) by_sex: [u32; 2],
}

/// First age of each stage of life in [`Occupation::by_age`].
pub(crate) const STAGES: [u8; 9] = [0, 6, 16, 19, 26, 45, 60, 68, 75];

const fn occupation(name: &'static str, by_sex: [u32; 2], by_age: [u32; 9]) -> Occupation {
    Occupation { name, by_age, by_sex }
}

#[rustfmt::skip]
pub(crate) static OCCUPATIONS: [Occupation; 18] = [
    //                             F    M     0     6   16   19   26   45   60   68    75
    occupation("child",           [10, 10], [1000,   0,   0,   0,   0,   0,   0,   0,    0]),
    occupation("pupil",           [10, 10], [   0, 999, 620,   0,   0,   0,   0,   0,    0]),
    occupation("student",         [11, 10], [   0,   0,  80, 380,  40,   0,   0,   0,    0]),
    occupation("homemaker",       [18,  2], [   0,   0,   0,  20,  70,  70,  50,  20,    0]),
    occupation("job seeker",      [ 9, 11], [   0,   0,  40,  60,  60,  60,  40,   0,    0]),
    occupation("retired",         [10, 10], [   0,   0,   0,   0,   0,   0, 330, 880,  990]),
    occupation("nurse",           [17,  3], [   0,   0,  20,  60,  90,  90,  60,   5,    0]),
    occupation("physician",       [10, 10], [   0,   0,   0,   0,  40,  45,  35,  15,    2]),
    occupation("teacher",         [14,  6], [   0,   0,   0,   0,  80,  85,  65,   5,    0]),
    occupation("clerk",           [13,  7], [   0,   0,  40,  80, 120, 130,  90,  10,    0]),
    occupation("engineer",        [ 4, 16], [   0,   0,   0,   0,  80,  75,  50,  10,    0]),
    occupation("programmer",      [ 5, 15], [   0,   0,   5,  40,  90,  50,  25,   2,    0]),
    occupation("builder",         [ 1, 19], [   0,   0,  45,  70,  70,  65,  35,   2,    0]),
    occupation("electrician",     [ 1, 19], [   0,   0,  40,  50,  55,  55,  35,   2,    0]),
    occupation("farmer",          [ 7, 13], [   0,   0,  10,  15,  30,  45,  45,  25,    8]),
    occupation("cook",            [ 9, 11], [   0,   0,  40,  60,  50,  40,  25,   2,    0]),
    occupation("driver",          [ 3, 17], [   0,   0,   0,  45,  60,  70,  50,  10,    0]),
    occupation("sales assistant", [14,  6], [   0,   0,  60,  85,  75,  70,  45,   7,    0]),
];

/// A disease, whom it brings to the hospital, and what a stay costs.
pub(crate) struct Disease {
    pub(crate) name: &'static str,
    /// In each of [`BANDS`].
    pub(crate) by_age: [u32; 7],
    /// Women, men.
    pub(crate) by_sex: [u32; 2],
    /// Winter, spring, summer, autumn.
    pub(crate) by_season: [u32; 4],
    /// What a typical stay costs, before age and chance.
    pub(crate) cost: u32,
    /// How long a typical stay lasts.
    pub(crate) days: u32,
}

const fn disease(
    name: &'static str,
    [cost, days]: [u32; 2],
    by_sex: [u32; 2],
    by_season: [u32; 4],
    by_age: [u32; 7],
) -> Disease {
    Disease { name, by_age, by_sex, by_season, cost, days }
}

// Whatever the age, sex and season, no disease should take a quarter of the patients: small groups
// of similar patients must be able to satisfy l=4.
#[rustfmt::skip]
pub(crate) static DISEASES: [Disease; 20] = [
    //                             cost days     F   M     win spr sum aut     0    5   15   30   45   65   80
    disease("asthma",             [ 2600,  3], [10,  9], [ 9, 13,  8, 11], [150, 140,  80,  55,  40,  25,  15]),
    disease("bronchitis",         [ 2100,  3], [ 9, 10], [15, 10,  6, 11], [160,  90,  50,  45,  55,  60,  60]),
    disease("influenza",          [ 1900,  4], [10, 10], [22,  9,  2,  8], [110,  95,  60,  50,  45,  50,  65]),
    disease("pneumonia",          [ 5400,  7], [ 8, 10], [14, 10,  7, 10], [125,  60,  35,  35,  60,  90, 120]),
    disease("heart attack",       [14800,  7], [ 6, 11], [12, 10,  9, 10], [  0,   0,   4,  25,  85,  85,  65]),
    disease("heart failure",      [ 8900,  8], [ 9, 10], [12, 10,  9, 10], [  3,   3,   6,  15,  55, 105, 130]),
    disease("hypertension",       [ 2900,  3], [10, 10], [11, 10,  9, 10], [  2,   4,  20,  60, 100, 100,  90]),
    disease("stroke",             [12400, 10], [ 9, 10], [11, 10, 10, 10], [  1,   3,   8,  20,  60,  95, 115]),
    disease("appendicitis",       [ 5900,  4], [ 9, 10], [10, 10, 11, 10], [ 12, 125, 115,  60,  30,  15,   8]),
    disease("gastritis",          [ 1800,  2], [10, 10], [10, 10, 10, 11], [ 35,  55,  80,  80,  60,  40,  30]),
    disease("gastroenteritis",    [ 1500,  2], [10, 10], [11,  9, 12,  9], [140, 100,  70,  50,  40,  35,  40]),
    disease("breast cancer",      [11200,  6], [20,  0], [10, 10, 10, 10], [  0,   0,   3,  35,  60,  50,  35]),
    disease("lung cancer",        [13600,  9], [ 8, 11], [10, 10, 10, 10], [  0,   0,   2,  12,  60,  70,  35]),
    disease("alcohol dependence", [ 4300,  8], [ 6, 14], [11, 10, 10, 10], [  0,   2,  70,  85,  65,  25,   6]),
    disease("depression",         [ 5100, 10], [13,  8], [12, 10,  8, 11], [  0,  25, 110, 100,  70,  35,  25]),
    disease("diabetes",           [ 3700,  5], [ 9, 10], [10, 10, 10, 10], [ 10,  50,  40,  55,  85,  85,  65]),
    disease("kidney stones",      [ 3300,  3], [ 7, 12], [ 8, 10, 13, 10], [  3,   8,  50,  80,  70,  40,  18]),
    disease("urinary infection",  [ 2300,  4], [15,  7], [ 9, 10, 12, 10], [ 70,  45,  60,  50,  45,  55,  80]),
    disease("concussion",         [ 2000,  2], [ 8, 11], [ 9, 11, 12, 10], [ 70, 100,  80,  40,  28,  30,  35]),
    disease("fracture",           [ 6700,  6], [10, 10], [12,  9, 10,  9], [ 85, 150, 105,  75,  65,  75, 115]),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Exact, from the weights: a disease depends on nothing but age band, sex and season.
    #[test]
    fn no_disease_has_a_quarter_of_similar_patients() {
        for band in 0..BANDS.len() {
            for (sex, season) in (0..2).flat_map(|sex| (0..4).map(move |season| (sex, season))) {
                let weight = |each: &Disease| each.by_age[band] * each.by_sex[sex] * each.by_season[season];
                let total: u32 = DISEASES.iter().map(weight).sum();
                for each in &DISEASES {
                    let found = weight(each);
                    assert!(found * 4 < total, "{}: {found} of {total}", each.name);
                }
            }
        }
    }

    #[test]
    fn zip_codes_stay_behind_the_prefix_of_their_region() {
        for region in &REGIONS {
            let last = region.first + (region.n_codes - 1) * region.step;
            assert_eq!(region.first / 100, last / 100);
        }
    }
}
