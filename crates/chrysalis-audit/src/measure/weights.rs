use std::collections::BTreeMap;

use chrysalis_table::exact::{self, BigRational};
use chrysalis_table::{Code, Domain, Value};
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Zero};

use super::{Group, GroupCounts, Worst};

/// A sensitive domain in ordered categories with weights (lalpha, definitions 2 and 3).
#[derive(Clone, Debug)]
pub struct Categories {
    category_of: Vec<usize>,
    weights: Vec<BigRational>,
}

impl Categories {
    /// Reads categories and their weights as a manifest keeps them, or says what is wrong with them.
    pub fn new(domain: &Domain, names: &[Vec<String>], weights: &[String]) -> Result<Categories, String> {
        if names.is_empty() || names.len() != weights.len() {
            return Err(format!("{} categories, {} weights", names.len(), weights.len()));
        }
        let mut place: BTreeMap<&str, usize> = BTreeMap::new();
        for (category, name) in
            names.iter().enumerate().flat_map(|(index, all)| all.iter().map(move |name| (index, name)))
        {
            if place.insert(name, category).is_some() {
                return Err(format!("`{name}` is in two categories"));
            }
        }
        let category_of = (0..domain.len() as Code)
            .map(|code| place.get(domain.text(code).as_ref()).copied())
            .map(|category| category.ok_or_else(|| "a published value is in no category".to_owned()))
            .collect::<Result<_, _>>()?;
        let weights = weights
            .iter()
            .map(|text| exact(text).ok_or_else(|| format!("`{text}` is not a weight from 0 to 1")))
            .collect::<Result<_, _>>()?;
        Ok(Categories { category_of, weights })
    }

    /// How many rows of a group lie in each category.
    pub fn counts(&self, group: Group<'_>) -> Vec<u64> {
        self.counts_of(group, |_| true)
    }

    /// The same for rows for whose code `counts` is true.
    pub fn counts_of(&self, group: Group<'_>, counts: impl Fn(Code) -> bool) -> Vec<u64> {
        let mut rows = vec![0; self.weights.len()];
        for &(code, count) in group.values.iter().filter(|(code, _)| counts(*code)) {
            rows[self.category_of[code as usize]] += u64::from(count);
        }
        rows
    }

    /// The same categories, with every value in the most sensitive category of all values that look like it. `looks`
    /// gives, for every code, the least code that looks like it.
    pub fn by_looks(&self, looks: &[Code]) -> Categories {
        let mut lowest = self.category_of.clone();
        for (code, &first) in looks.iter().enumerate() {
            lowest[first as usize] = lowest[first as usize].min(self.category_of[code]);
        }
        let category_of = looks.iter().map(|&first| lowest[first as usize]).collect();
        Categories { category_of, weights: self.weights.clone() }
    }

    /// The weights, most sensitive category first.
    pub fn weights(&self) -> &[BigRational] {
        &self.weights
    }

    /// The weights as whole numbers over a common denominator.
    fn scaled(&self) -> (Vec<BigInt>, BigInt) {
        let denominator = self.weights.iter().fold(BigInt::one(), |all, weight| all.lcm(weight.denom()));
        let scaled = self.weights.iter().map(|weight| weight.numer() * (&denominator / weight.denom()));
        (scaled.collect(), denominator)
    }
}

/// Reads `1`, `0.25` or `36/49`, of any length a manifest could sensibly hold, from 0 to 1.
fn exact(text: &str) -> Option<BigRational> {
    const MAX_DIGITS: usize = 60;
    let whole = |digits: &str| -> Option<BigInt> {
        let plain = digits.len() <= MAX_DIGITS && digits.bytes().all(|byte| byte.is_ascii_digit());
        if plain { digits.parse().ok() } else { None }
    };
    let number = match text.split_once('/') {
        Some((numerator, denominator)) => {
            let denominator = whole(denominator).filter(|denominator| !denominator.is_zero())?;
            BigRational::new(whole(numerator)?, denominator)
        }
        None => {
            let (integer, fraction) = text.split_once('.').unwrap_or((text, ""));
            let scale = BigInt::from(10).pow(u32::try_from(fraction.len()).ok().filter(|&digits| digits <= 60)?);
            BigRational::new(whole(&format!("{integer}{fraction}"))?, scale)
        }
    };
    (number <= BigRational::one()).then_some(number)
}

/// (l,α)-diversity: the least sum of weights over the rows of any group.
///
/// `counts` gives the rows of a group that have a weight, by category.
pub fn least_weight(
    sample: &GroupCounts,
    categories: &Categories,
    counts: impl Fn(Group<'_>) -> Vec<u64> + Sync,
) -> Option<Worst<BigRational>> {
    let (weights, denominator) = categories.scaled();
    let sum = |group: Group<'_>| -> BigInt {
        counts(group).into_iter().zip(&weights).map(|(count, weight)| weight * count).sum()
    };
    let worst = sample.worst(sum, |a, b| b.cmp(a))?;
    Some(Worst { level: BigRational::new(worst.level, denominator), group: worst.group })
}

/// (k,e)-anonymity: the fewest distinct numbers in any group. A missing value does not count.
pub fn distinct_numbers(sample: &GroupCounts, domain: &Domain) -> Option<Worst<u64>> {
    let is_missing =
        |group: Group<'_>| domain.has_missing() && group.values.first().is_some_and(|&(code, _)| code == 0);
    sample.worst(|group| group.values.len() as u64 - u64::from(is_missing(group)), |a, b| b.cmp(a))
}

/// (k,e)-anonymity: the least difference between the largest and the smallest value of any group.
///
/// A missing value has no size and widens nothing. `None` when the column has no numbers or there are no rows.
pub fn span(sample: &GroupCounts, domain: &Domain) -> Option<Worst<BigRational>> {
    let numbers: Vec<Option<BigRational>> = (0..domain.len() as Code).map(|code| number(domain.value(code))).collect();
    if !domain.kind().is_numeric() {
        return None;
    }
    let level = |group: Group<'_>| {
        // Codes ascend with their values, so the ends of the group's list are its extremes.
        let mut present = group.values.iter().filter_map(|&(code, _)| numbers[code as usize].as_ref());
        let first = present.next();
        match (first, present.next_back().or(first)) {
            (Some(low), Some(high)) => high - low,
            _ => BigRational::zero(),
        }
    };
    sample.worst(level, |a, b| b.cmp(a))
}

fn number(value: Option<&Value>) -> Option<BigRational> {
    match value? {
        Value::Integer(number) => Some(BigRational::from_integer(BigInt::from(*number))),
        Value::Real(number) => exact::from_float(*number),
        Value::Date(_) | Value::DateTime(_) | Value::Text(_) => None,
    }
}
