use std::hash::Hash;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{AnyDictionaryArray, Array, ArrayRef};
use arrow_schema::DataType;
use chrysalis_table::{Codes, Column, ColumnRequest, Date, Kind, TableError, Value};
use foldhash::fast::FixedState;
use hashbrown::HashMap;

use crate::ArrowTableError;

/// Numbers below this have a slot of their own.
const SMALL: usize = 1 << 22;
/// A slot that has no code yet. PROOF: rows, and so codes, stay below it.
const NO_CODE: u32 = u32::MAX;

/// The kind of an Arrow type's values; `None` for types that tables of people do not have.
pub fn kind_of(data_type: &DataType) -> Option<Kind> {
    match values_of(data_type) {
        DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64 => Some(Kind::Integer),
        DataType::UInt8 | DataType::UInt16 | DataType::UInt32 | DataType::UInt64 => Some(Kind::Integer),
        DataType::Float32 | DataType::Float64 | DataType::Decimal128(_, _) => Some(Kind::Real),
        DataType::Date32 => Some(Kind::Date),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Some(Kind::Category),
        DataType::Boolean | DataType::Null => Some(Kind::Category),
        // What is left are times, bytes and nested types, including a dictionary of dictionaries.
        _ => None,
    }
}

/// The type of the values themselves.
fn values_of(data_type: &DataType) -> &DataType {
    match data_type {
        DataType::Dictionary(_, values) => values,
        plain => plain,
    }
}

/// Reads one column, array by array: distinct values in order of appearance, and the rows' codes.
pub struct ColumnReader<'a> {
    request: &'a ColumnRequest,
    kind: Option<Kind>,
    rows: usize,
    dictionary: Vec<Option<Value>>,
    /// Codes of small numbers, by number: looking up is cheaper than hashing, and most numbers are ids, years or days.
    small: Vec<u32>,
    integers: HashMap<i64, u32, FixedState>,
    reals: HashMap<u64, u32, FixedState>,
    texts: HashMap<Box<str>, u32, FixedState>,
    missing: Option<u32>,
    /// The values of the last dictionary and their codes: its slices, and often all batches, share these values.
    shared: Option<(ArrayRef, Vec<u32>)>,
    codes: Vec<Codes>,
    /// The codes of a batch before their width is known; the buffer is reused, because fresh memory costs more than
    /// filling it.
    batch: Vec<u32>,
}

impl<'a> ColumnReader<'a> {
    /// Nothing read yet.
    pub fn new(request: &'a ColumnRequest) -> Self {
        ColumnReader {
            request,
            kind: None,
            rows: 0,
            dictionary: Vec::new(),
            small: Vec::new(),
            integers: HashMap::default(),
            reals: HashMap::default(),
            texts: HashMap::default(),
            missing: None,
            shared: None,
            codes: Vec::new(),
            batch: Vec::new(),
        }
    }

    /// Adds the next rows. All arrays of a column are of one kind; arrays of type `Null` fit any.
    pub fn add(&mut self, array: &dyn Array) -> Result<(), ArrowTableError> {
        self.agree_on(array.data_type())?;
        self.rows += array.len();
        if self.rows > u32::MAX as usize {
            return Err(TableError::TooManyRows { limit: u64::from(u32::MAX) }.into());
        }
        let mut codes = std::mem::take(&mut self.batch);
        codes.clear();
        if !self.encode(array, &mut codes) {
            return Err(self.wrong_type(array.data_type()));
        }
        self.codes.push(Codes::collect(self.dictionary.len(), codes.iter().copied()));
        self.batch = codes;
        Ok(())
    }

    fn agree_on(&mut self, data_type: &DataType) -> Result<(), ArrowTableError> {
        let found = kind_of(data_type).ok_or_else(|| self.wrong_type(data_type))?;
        if *values_of(data_type) == DataType::Null {
            return Ok(());
        }
        match *self.kind.get_or_insert(found) {
            kind if kind == found => Ok(()),
            before => Err(ArrowTableError::TypeChanges { column: self.request.name.clone(), before, found }),
        }
    }

    fn wrong_type(&self, data_type: &DataType) -> ArrowTableError {
        ArrowTableError::ColumnType { column: self.request.name.clone(), found: data_type.to_string() }
    }

    /// Appends the codes of an array; `false` if it has a value that cannot be represented.
    fn encode(&mut self, array: &dyn Array, codes: &mut Vec<u32>) -> bool {
        match array.data_type() {
            DataType::Int8 => self.integers(array.as_primitive::<Int8Type>().iter().map(|v| v.map(i64::from)), codes),
            DataType::Int16 => self.integers(array.as_primitive::<Int16Type>().iter().map(|v| v.map(i64::from)), codes),
            DataType::Int32 => self.integers(array.as_primitive::<Int32Type>().iter().map(|v| v.map(i64::from)), codes),
            DataType::Int64 => {
                let numbers = array.as_primitive::<Int64Type>();
                if numbers.null_count() == 0 {
                    self.whole_numbers(numbers.values(), codes);
                } else {
                    self.integers(numbers.iter(), codes);
                }
            }
            DataType::UInt8 => self.integers(array.as_primitive::<UInt8Type>().iter().map(|v| v.map(i64::from)), codes),
            DataType::UInt16 => {
                self.integers(array.as_primitive::<UInt16Type>().iter().map(|v| v.map(i64::from)), codes);
            }
            DataType::UInt32 => {
                self.integers(array.as_primitive::<UInt32Type>().iter().map(|v| v.map(i64::from)), codes);
            }
            DataType::UInt64 => {
                let values = array.as_primitive::<UInt64Type>();
                if values.iter().flatten().any(|value| i64::try_from(value).is_err()) {
                    return false;
                }
                self.integers(values.iter().map(|v| v.and_then(|v| i64::try_from(v).ok())), codes);
            }
            DataType::Float32 => {
                self.reals(array.as_primitive::<Float32Type>().iter().map(|v| v.map(f64::from)), codes)
            }
            DataType::Float64 => self.reals(array.as_primitive::<Float64Type>().iter(), codes),
            DataType::Decimal128(_, scale) => {
                let scale = 10f64.powi(i32::from(*scale));
                self.reals(array.as_primitive::<Decimal128Type>().iter().map(|v| v.map(|v| v as f64 / scale)), codes);
            }
            DataType::Date32 => self.dates(array.as_primitive::<Date32Type>().iter(), codes),
            DataType::Utf8 => self.texts(array.as_string::<i32>().iter(), codes),
            DataType::LargeUtf8 => self.texts(array.as_string::<i64>().iter(), codes),
            DataType::Utf8View => self.texts(array.as_string_view().iter(), codes),
            DataType::Boolean => {
                let values = array.as_boolean().iter();
                self.texts(values.map(|value| value.map(|value| if value { "true" } else { "false" })), codes);
            }
            DataType::Null => self.texts((0..array.len()).map(|_| None::<&str>), codes),
            DataType::Dictionary(_, _) => return self.keys(array.as_any_dictionary(), codes),
            _ => return false,
        }
        true
    }

    fn integers(&mut self, values: impl Iterator<Item = Option<i64>>, codes: &mut Vec<u32>) {
        codes.extend(values.map(|value| self.number(value, Value::Integer)));
    }

    /// Integers without missing values. Whether all of them are small is decided once, not for each of them.
    fn whole_numbers(&mut self, values: &[i64], codes: &mut Vec<u32>) {
        let ends = values.iter().fold((0, 0), |(least, most), &value| (value.min(least), value.max(most)));
        let (0, Ok(most)) = (ends.0, usize::try_from(ends.1)) else {
            return self.integers(values.iter().copied().map(Some), codes);
        };
        if most >= SMALL {
            return self.integers(values.iter().copied().map(Some), codes);
        }
        self.make_room(most);
        codes.extend(values.iter().map(|&value| {
            // PROOF: no value is negative, and there is room for the greatest.
            let slot = &mut self.small[value as usize];
            if *slot == NO_CODE {
                self.dictionary.push(Some(Value::Integer(value)));
                *slot = self.dictionary.len() as u32 - 1;
            }
            *slot
        }));
    }

    /// Makes slots for the numbers up to `at`.
    fn make_room(&mut self, at: usize) {
        if at >= self.small.len() {
            self.small.resize((at + 1).next_power_of_two(), NO_CODE);
        }
    }

    fn dates(&mut self, values: impl Iterator<Item = Option<i32>>, codes: &mut Vec<u32>) {
        // PROOF: every number that comes in here was an i32.
        let date = |day: i64| Value::Date(Date(day as i32));
        codes.extend(values.map(|value| self.number(value.map(i64::from), date)));
    }

    fn number(&mut self, value: Option<i64>, make: impl Fn(i64) -> Value) -> u32 {
        let Some(value) = value else { return missing(&mut self.missing, &mut self.dictionary) };
        let Some(at) = usize::try_from(value).ok().filter(|at| *at < SMALL) else {
            return intern(&mut self.integers, value, &mut self.dictionary, || make(value));
        };
        self.make_room(at);
        if self.small[at] == NO_CODE {
            self.dictionary.push(Some(make(value)));
            self.small[at] = self.dictionary.len() as u32 - 1;
        }
        self.small[at]
    }

    /// A number that is not finite is missing: databases write such numbers where they have no value.
    fn reals(&mut self, values: impl Iterator<Item = Option<f64>>, codes: &mut Vec<u32>) {
        codes.extend(values.map(|value| match value.filter(|value| value.is_finite()).map(|value| value + 0.0) {
            Some(value) => intern(&mut self.reals, value.to_bits(), &mut self.dictionary, || Value::Real(value)),
            None => missing(&mut self.missing, &mut self.dictionary),
        }));
    }

    fn texts<'t>(&mut self, values: impl Iterator<Item = Option<&'t str>>, codes: &mut Vec<u32>) {
        for value in values {
            codes.push(match value.filter(|text| !text.is_empty()) {
                None => missing(&mut self.missing, &mut self.dictionary),
                Some(text) => match self.texts.get(text) {
                    Some(&code) => code,
                    None => intern(&mut self.texts, text.into(), &mut self.dictionary, || Value::Text(text.into())),
                },
            });
        }
    }

    /// Rows that point to values. A value is decoded when the first row has it: values that no row has are not part of
    /// the column.
    fn keys(&mut self, array: &dyn AnyDictionaryArray, codes: &mut Vec<u32>) -> bool {
        let values = array.values();
        let is_known = self.shared.as_ref().is_some_and(|(known, _)| Arc::ptr_eq(known, values));
        let (_, mut code_of) = self
            .shared
            .take()
            .filter(|_| is_known)
            .unwrap_or_else(|| (Arc::clone(values), vec![NO_CODE; values.len()]));
        // Without values there are no valid keys.
        let keys = if values.is_empty() { vec![0; array.len()] } else { array.normalized_keys() };
        let mut decoded = Vec::with_capacity(1);
        for (row, key) in keys.into_iter().enumerate() {
            if values.is_empty() || array.keys().is_null(row) {
                codes.push(missing(&mut self.missing, &mut self.dictionary));
                continue;
            }
            if code_of[key] == NO_CODE {
                decoded.clear();
                if !self.encode(&values.slice(key, 1), &mut decoded) {
                    return false;
                }
                code_of[key] = decoded[0];
            }
            codes.push(code_of[key]);
        }
        self.shared = Some((Arc::clone(values), code_of));
        true
    }

    /// The column. If the requested kind is not that of the arrays, every value is read again from its text.
    pub fn finish(self) -> Result<Column, ArrowTableError> {
        let request = self.request;
        let found = self.kind.unwrap_or(Kind::Category);
        let kind = request.kind.unwrap_or(found);
        let dictionary = self.dictionary.into_iter();
        let dictionary: Vec<Option<Value>> = dictionary
            .map(|value| match value {
                // Dates, too: a day outside the four-digit years has no text that can be read again, and is refused.
                Some(value) if kind != found || kind == Kind::Date => convert(request, kind, &value).map(Some),
                value => Ok(value),
            })
            .collect::<Result<_, _>>()?;
        let order = if kind == Kind::Ordinal { ranks(request, &dictionary)? } else { Vec::new() };
        Ok(Column::from_entries(&request.name, kind, dictionary, &order, self.codes))
    }
}

fn intern<K: Hash + Eq>(
    index: &mut HashMap<K, u32, FixedState>,
    key: K,
    dictionary: &mut Vec<Option<Value>>,
    value: impl FnOnce() -> Value,
) -> u32 {
    *index.entry(key).or_insert_with(|| {
        dictionary.push(Some(value()));
        dictionary.len() as u32 - 1
    })
}

fn missing(known: &mut Option<u32>, dictionary: &mut Vec<Option<Value>>) -> u32 {
    *known.get_or_insert_with(|| {
        dictionary.push(None);
        dictionary.len() as u32 - 1
    })
}

fn convert(request: &ColumnRequest, kind: Kind, value: &Value) -> Result<Value, TableError> {
    let text = value.to_string();
    Value::parse(kind, &text).ok_or_else(|| TableError::WrongKind {
        column: request.name.clone(),
        value: text.chars().take(40).collect(),
        kind,
    })
}

fn ranks(request: &ColumnRequest, dictionary: &[Option<Value>]) -> Result<Vec<usize>, TableError> {
    let ranks = request.ranks();
    let rank = |value: &Option<Value>| match value {
        None => Ok(0),
        Some(value) => {
            let text = value.to_string();
            ranks.get(text.as_str()).copied().ok_or_else(|| TableError::NotInOrder {
                column: request.name.clone(),
                value: text.chars().take(40).collect(),
            })
        }
    };
    dictionary.iter().map(rank).collect()
}
