//! Products of numbers of rows and of sensitive values (step 9e of `spec.md`).

use super::{Gathered, Gatherer, Place, Source, each_row};
use crate::aggregate::{Factor, Paired};
use crate::estimate::{Hit, MatchingRows, Split};
use crate::learned::lean_of_products;
use crate::{OpenRelease, Plan};

impl Gatherer<'_> {
    /// Products of numbers of rows and sensitive values of their groups (step 9e).
    pub(super) fn product(
        &self,
        release: &OpenRelease,
        plan: &Plan,
        place: &Place<'_>,
        factor: &Source<'_>,
    ) -> Gathered {
        if let (Some(own), Source::Exact(numbers)) = (self.own, factor) {
            // Both stand in the row of their person.
            let value = |row: usize, _: usize| {
                let product = numbers[row]? * self.sensitive[own.get(row) as usize]?;
                Some((product, product, true))
            };
            let hits = self.hits(place).iter();
            return Gathered::Chosen(
                hits.filter_map(|hits| self.of_rows(release, place, hits, &value, None)).collect(),
            );
        }
        let values = |group: usize| self.values_of(place, group);
        // A condition on another sensitive column leaves it open which rows count.
        let is_open = !place.beside.is_empty();
        let mut paired = Vec::new();
        match factor {
            Source::Key(at, mapped) => {
                let value = place.group[*at].clone();
                let number = mapped.number(&mapped.term.eval(&|_| value.clone(), &plan.fields));
                for hit in place.pieces.iter().flat_map(|piece| piece.iter()) {
                    let group = hit.group as usize;
                    let n = release.size(group);
                    let factors = number
                        .into_iter()
                        .flat_map(|number| factors_of(hit, hit.most, std::iter::repeat_n(number, hit.most as usize)));
                    paired.push(Paired {
                        group: hit.group,
                        factors: factors.collect(),
                        n,
                        values: values(group),
                        tilt: 0.0,
                    });
                }
            }
            Source::Permuted(column, numbers, test) => {
                for hit in place.pieces.iter().flat_map(|piece| piece.iter()) {
                    let group = hit.group as usize;
                    let codes = release.groups().rows(group).map(|row| column.codes.get(row));
                    let admitted: Vec<Option<f64>> =
                        codes.filter(|code| test.holds(*code)).map(|code| numbers[code as usize]).collect();
                    let m = admitted.len() as u32;
                    let factors = factors_of(hit, m, admitted.into_iter().flatten()).collect();
                    let n = release.size(group);
                    paired.push(Paired { group: hit.group, factors, n, values: values(group), tilt: 0.0 });
                }
            }
            _ => {
                let learned = self.learned(place);
                for hits in self.hits(place) {
                    let group = hits.group as usize;
                    let thinning = if is_open { self.beside_share(release, place, group) } else { 1.0 };
                    let factor = |(row, split): (usize, Split)| {
                        let (low, high, is_number) = self.value(factor, plan, row, group)?;
                        let is_certain = split.is_certain && is_number && !is_open;
                        let (a, b) =
                            (Factor::new(low, is_certain, split.inside), Factor::new(high, is_certain, split.inside));
                        let at = if matches!(hits.rows, MatchingRows::All(_)) { group } else { row };
                        let expected = match &learned {
                            Some((rows, positions)) => rows.pick(at, split.inside, positions).expected(),
                            None => (a.expected + b.expected) / 2.0,
                        } * thinning;
                        Some(Factor { low: a.low.min(b.low), high: a.high.max(b.high), expected })
                    };
                    let factors = each_row(release, hits).filter_map(factor).collect();
                    let n = release.size(group);
                    paired.push(Paired { group: hits.group, factors, n, values: values(group), tilt: 0.0 });
                }
            }
        }
        if self.can_learn && !plan.shape.detail.is_labelled() {
            let tilt = self.tilt_of_products(release, place, &paired);
            paired.iter_mut().for_each(|group| group.tilt = tilt);
        }
        Gathered::Paired(paired)
    }

    /// How far factors and values may go together inside groups, as far as they do across groups.
    fn tilt_of_products(&self, release: &OpenRelease, place: &Place<'_>, paired: &[Paired]) -> f64 {
        let mut factors: Vec<&[Factor]> = vec![&[]; release.groups().len()];
        paired.iter().for_each(|it| factors[it.group as usize] = &it.factors);
        lean_of_products(|each| {
            for (group, factors) in factors.iter().enumerate() {
                let factors: Vec<(f64, f64)> = factors.iter().map(|factor| (factor.expected, 1.0)).collect();
                let values = self.values_of(place, group);
                let values: Vec<(f64, f64)> =
                    values.into_iter().map(|(value, count)| (value, f64::from(count))).collect();
                each(f64::from(release.size(group)), &factors, &values);
            }
        })
    }

    /// The sensitive numbers of a group that count.
    fn values_of(&self, place: &Place<'_>, group: usize) -> Vec<(f64, u32)> {
        let Some(listed) = place.listed else { return Vec::new() };
        let passing = listed.passing(group, place.test);
        passing.filter_map(|(code, count)| Some((self.sensitive[code as usize]?, count))).collect()
    }

    /// The share of a group's rows that are expected to satisfy conditions on other sensitive columns.
    fn beside_share(&self, release: &OpenRelease, place: &Place<'_>, group: usize) -> f64 {
        let n = f64::from(release.size(group));
        place.beside.iter().map(|listed| f64::from(listed.count(group, None)) / n).product()
    }
}

/// The factors of rows of which `hit.least` to `hit.most` are hit.
fn factors_of(hit: &Hit, m: u32, numbers: impl Iterator<Item = f64>) -> impl Iterator<Item = Factor> {
    let is_certain = hit.least == m;
    let chance = hit.expected / f64::from(m.max(1));
    numbers.map(move |number| Factor::new(number, is_certain, chance))
}
