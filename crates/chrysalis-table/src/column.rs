use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use rayon::prelude::*;

use crate::{Code, Codes, Domain, Kind, Value, each_width};

/// A name, a domain, and one code per row.
///
/// `Debug` prints the shape only: a row of microdata never reaches a log.
#[derive(Clone, PartialEq, Eq)]
pub struct Column {
    name: String,
    domain: Arc<Domain>,
    codes: Codes,
}

/// A stretch of rows coded against an unsorted dictionary.
#[derive(Debug)]
pub struct DictionaryChunk {
    /// Codes of the stretch's own, small dictionary.
    pub codes: Codes,
    /// For each of those codes, its position in the dictionary of the whole column.
    pub to_dictionary: Vec<u32>,
}

impl DictionaryChunk {
    /// The rows as positions in the dictionary of the whole column, which has this many.
    pub(crate) fn in_dictionary(&self, len: usize) -> Codes {
        Codes::collect(len, self.codes.iter().map(|code| self.to_dictionary[code as usize]))
    }
}

impl Column {
    /// Puts a column together from a domain and codes that belong to it.
    ///
    /// # Panics
    /// In debug builds, when a code lies outside the domain.
    pub fn new(name: impl Into<String>, domain: Arc<Domain>, codes: Codes) -> Self {
        debug_assert!(codes.iter().all(|code| (code as usize) < domain.len()));
        Column { name: name.into(), domain, codes }
    }

    /// A column from what a reader gathered: values in order of appearance (`None` is missing) and chunks of codes.
    ///
    /// The domain comes out sorted, equal values (`1.0` and `1`) become one, and nothing of the order of appearance
    /// survives. `order` gives the rank of each dictionary entry for ordinals and is empty otherwise.
    pub fn from_dictionary(
        name: impl Into<String>,
        kind: Kind,
        dictionary: Vec<Option<Value>>,
        order: &[usize],
        chunks: Vec<DictionaryChunk>,
    ) -> Self {
        let (domain, code_of) = ordered(kind, dictionary, order);
        let codes = concatenate(domain.len(), &code_of, chunks);
        Column::new(name, Arc::new(domain), codes)
    }

    /// Like [`Column::from_dictionary`], for chunks whose codes are positions in the dictionary itself, as those of a
    /// single reader are.
    pub fn from_entries(
        name: impl Into<String>,
        kind: Kind,
        dictionary: Vec<Option<Value>>,
        order: &[usize],
        chunks: Vec<Codes>,
    ) -> Self {
        let (domain, code_of) = ordered(kind, dictionary, order);
        let mut all = Codes::with_capacity(domain.len(), chunks.iter().map(Codes::len).sum());
        chunks.into_iter().for_each(|chunk| append(&mut all, &chunk, &code_of));
        Column::new(name, Arc::new(domain), all)
    }

    /// The same rows, whose domain has some more values. `rank` gives the place of a value that this one lacks among
    /// the words of an ordinal; it is not asked for other kinds.
    #[must_use]
    pub fn with_values(&self, more: Vec<Value>, rank: impl Fn(&Value) -> usize) -> Column {
        let missing = usize::from(self.domain.has_missing());
        let mut order: Vec<usize> = Vec::new();
        if self.domain.kind() == Kind::Ordinal {
            let known = self.domain.values().iter().map(&rank);
            order = std::iter::repeat_n(0, missing).chain(known).chain(more.iter().map(&rank)).collect();
        }
        let known = (0..self.domain.len() as Code).map(|code| self.domain.value(code).cloned());
        let dictionary = known.chain(more.into_iter().map(Some)).collect();
        Column::from_entries(self.name.clone(), self.domain.kind(), dictionary, &order, vec![self.codes.clone()])
    }

    /// A column of integers, for ids, counts and sums.
    pub fn integers(name: impl Into<String>, numbers: &[i64]) -> Self {
        let name = name.into();
        if let Some(column) = Column::within_narrow_range(&name, numbers) {
            return column;
        }
        Column::sorted(name, Kind::Integer, numbers, i64::cmp, Value::Integer)
    }

    /// A column of numbers, none of them NaN.
    pub fn reals(name: impl Into<String>, numbers: &[f64]) -> Self {
        // Zero has no sign here: readers drop it, and a table must be written exactly as it was read.
        let numbers: Vec<f64> = numbers.iter().map(|number| number + 0.0).collect();
        Column::sorted(name, Kind::Real, &numbers, f64::total_cmp, Value::Real)
    }

    /// Numbers that lie in a range not much wider than there are rows need no sorting: counts and ids, say.
    fn within_narrow_range(name: &str, numbers: &[i64]) -> Option<Self> {
        let (low, high) = (*numbers.iter().min()?, *numbers.iter().max()?);
        let width = usize::try_from(high.checked_sub(low)?).ok().filter(|&width| width <= numbers.len())?;
        let mut code_of = vec![0; width + 1];
        // PROOF: every number lies between the two.
        let place = |number: i64| (number - low) as usize;
        numbers.iter().for_each(|&number| code_of[place(number)] = 1);
        let mut domain = Vec::new();
        for (number, code) in (low..=high).zip(&mut code_of) {
            if std::mem::replace(code, domain.len() as Code) == 1 {
                domain.push(Value::Integer(number));
            }
        }
        let codes = Codes::collect(domain.len(), numbers.iter().map(|&number| code_of[place(number)]));
        Some(Column::new(name, Arc::new(Domain::new(Kind::Integer, domain, false)), codes))
    }

    fn sorted<T: Copy>(
        name: impl Into<String>,
        kind: Kind,
        numbers: &[T],
        compare: impl Fn(&T, &T) -> Ordering,
        value: impl Fn(T) -> Value,
    ) -> Self {
        let mut rows: Vec<(T, u32)> = numbers.iter().copied().zip(0..).collect();
        // The stable sort, because it makes use of stretches that are already in order, as running sums are.
        rows.sort_by(|(a, _), (b, _)| compare(a, b));
        let mut domain: Vec<Value> = Vec::new();
        let mut codes = vec![0; rows.len()];
        let mut last = None;
        for (number, row) in rows {
            if last.is_none_or(|last| compare(&last, &number).is_ne()) {
                domain.push(value(number));
                last = Some(number);
            }
            codes[row as usize] = domain.len() as Code - 1;
        }
        let codes = Codes::collect(domain.len(), codes.into_iter());
        Column::new(name, Arc::new(Domain::new(kind, domain, false)), codes)
    }

    /// A column of words; an empty word is a missing value.
    pub fn texts<'a>(name: impl Into<String>, texts: impl Iterator<Item = &'a str> + Clone) -> Self {
        let mut values: Vec<&str> = texts.clone().filter(|text| !text.is_empty()).collect();
        values.sort_unstable();
        values.dedup();
        let has_missing = texts.clone().any(str::is_empty);
        let shift = usize::from(has_missing);
        let code = |text: &str| if text.is_empty() { 0 } else { values.partition_point(|value| *value < text) + shift };
        let codes = Codes::collect(values.len() + shift, texts.map(|text| code(text) as Code));
        let values = values.into_iter().map(|text| Value::Text(text.into())).collect();
        Column::new(name, Arc::new(Domain::new(Kind::Category, values, has_missing)), codes)
    }

    /// The column's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its distinct values.
    pub fn domain(&self) -> &Arc<Domain> {
        &self.domain
    }

    /// One code per row.
    pub fn codes(&self) -> &Codes {
        &self.codes
    }

    /// The code of a row.
    pub fn code(&self, row: usize) -> Code {
        self.codes.get(row)
    }

    /// How often each code occurs.
    pub fn histogram(&self) -> Vec<u64> {
        let mut counts = vec![0; self.domain.len()];
        each_width!(&self.codes, codes => codes.iter().for_each(|&code| counts[code as usize] += 1));
        counts
    }

    /// The same values for a selection of rows; values that no longer occur leave the domain.
    pub fn gather(&self, rows: &[u32]) -> Column {
        let codes = self.codes.gather(rows);
        let mut occurs = vec![false; self.domain.len()];
        codes.iter().for_each(|code| occurs[code as usize] = true);
        if occurs.iter().all(|&occurs| occurs) {
            return Column { name: self.name.clone(), domain: Arc::clone(&self.domain), codes };
        }
        let mut next = 0;
        let code_of: Vec<Code> = occurs
            .iter()
            .map(|&occurs| {
                next += Code::from(occurs);
                next.saturating_sub(1)
            })
            .collect();
        let values = (0..self.domain.len())
            .filter(|&code| occurs[code])
            .filter_map(|code| self.domain.value(code as Code).cloned())
            .collect();
        let has_missing = self.domain.has_missing() && occurs[0];
        let domain = Domain::new(self.domain.kind(), values, has_missing);
        let codes = Codes::collect(domain.len(), codes.iter().map(|code| code_of[code as usize]));
        Column { name: self.name.clone(), domain: Arc::new(domain), codes }
    }
}

/// The domain of a dictionary, and the code of every entry.
fn ordered(kind: Kind, mut dictionary: Vec<Option<Value>>, order: &[usize]) -> (Domain, Vec<Code>) {
    let mut by_value: Vec<usize> = (0..dictionary.len()).collect();
    if kind == Kind::Ordinal {
        by_value.sort_by_key(|&entry| dictionary[entry].as_ref().map(|_| order[entry]));
    } else {
        // An id has as many entries as there are rows.
        by_value.par_sort_by(|&a, &b| dictionary[a].cmp(&dictionary[b]));
    }
    let mut code_of = vec![0; dictionary.len()];
    let mut n_codes: Code = 0;
    for (place, &entry) in by_value.iter().enumerate() {
        let repeats = place > 0 && dictionary[by_value[place - 1]] == dictionary[entry];
        n_codes += Code::from(!repeats);
        code_of[entry] = n_codes - 1;
    }
    let has_missing = by_value.first().is_some_and(|&entry| dictionary[entry].is_none());
    let mut values: Vec<Value> = by_value.iter().filter_map(|&entry| dictionary[entry].take()).collect();
    values.dedup();
    (Domain::new(kind, values, has_missing), code_of)
}

/// Rewrites all chunks into final codes, freeing each chunk as it goes.
fn concatenate(domain_len: usize, code_of: &[Code], chunks: Vec<DictionaryChunk>) -> Codes {
    let rows = chunks.iter().map(|chunk| chunk.codes.len()).sum();
    let mut all = Codes::with_capacity(domain_len, rows);
    for chunk in chunks {
        let map: Vec<Code> = chunk.to_dictionary.iter().map(|&entry| code_of[entry as usize]).collect();
        append(&mut all, &chunk.codes, &map);
    }
    all
}

/// Appends codes translated by `map`; `all` must be wide enough for the results.
fn append(all: &mut Codes, codes: &Codes, map: &[Code]) {
    each_width!(codes, codes => match all {
        // PROOF: with_capacity chose a width that holds every code of the domain.
        Codes::U8(all) => all.extend(codes.iter().map(|&code| map[code as usize] as u8)),
        Codes::U16(all) => all.extend(codes.iter().map(|&code| map[code as usize] as u16)),
        Codes::U32(all) => all.extend(codes.iter().map(|&code| map[code as usize])),
    });
}

impl fmt::Debug for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Column({}: {}, {} values, {} rows)",
            self.name,
            self.domain.kind(),
            self.domain.len(),
            self.codes.len()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_get_the_same_column_with_and_without_sorting() {
        let cases: [&[i64]; 6] =
            [&[], &[7], &[3, 1, 3, 2], &[-2, 5, -2, 0, 4, 4, 5], &[0, 1_000_000, 3], &[i64::MIN, i64::MAX, 0]];
        for numbers in cases {
            let sorted = Column::sorted("n", Kind::Integer, numbers, i64::cmp, Value::Integer);
            assert_eq!(Column::integers("n", numbers), sorted, "{numbers:?}");
        }
        assert!(Column::within_narrow_range("n", &[3, 1, 3, 2]).is_some());
        assert!(Column::within_narrow_range("n", &[0, 1_000_000, 3]).is_none());
    }
}
