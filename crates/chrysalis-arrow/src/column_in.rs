use std::hash::Hash;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type, Float32Type, Float64Type,
    Int8Type, Int16Type, Int32Type, Int64Type, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{AnyDictionaryArray, Array, ArrayRef};
use arrow_schema::{DataType, TimeUnit};
use chrysalis_table::{Codes, Column, ColumnRequest, Date, DateTime, Kind, TableError, Value};
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
        DataType::Float32 | DataType::Float64 => Some(Kind::Real),
        DataType::Decimal32(_, scale)
        | DataType::Decimal64(_, scale)
        | DataType::Decimal128(_, scale)
        | DataType::Decimal256(_, scale) => Some(if *scale > 0 { Kind::Real } else { Kind::Integer }),
        DataType::Date32 | DataType::Date64 => Some(Kind::Date),
        DataType::Timestamp(_, _) => Some(Kind::DateTime),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Some(Kind::Category),
        DataType::Boolean | DataType::Null => Some(Kind::Category),
        // What is left are times of day, durations, bytes and nested types, including a dictionary of dictionaries.
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
        self.encode(array, &mut codes).map_err(|unfit| self.refused(array.data_type(), unfit))?;
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

    fn refused(&self, data_type: &DataType, unfit: Unfit) -> ArrowTableError {
        match unfit {
            Unfit::Type => self.wrong_type(data_type),
            Unfit::Digits(finer) => {
                ArrowTableError::Digits { column: self.request.name.clone(), found: data_type.to_string(), finer }
            }
        }
    }

    /// Appends the codes of an array.
    fn encode(&mut self, array: &dyn Array, codes: &mut Vec<u32>) -> Result<(), Unfit> {
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
                    return Err(Unfit::Type);
                }
                self.integers(values.iter().map(|v| v.and_then(|v| i64::try_from(v).ok())), codes);
            }
            DataType::Float32 => {
                self.reals(array.as_primitive::<Float32Type>().iter().map(|v| v.map(f64::from)), codes)
            }
            DataType::Float64 => self.reals(array.as_primitive::<Float64Type>().iter(), codes),
            DataType::Decimal32(_, scale) => {
                let values = array.as_primitive::<Decimal32Type>().iter();
                return self.decimals(values.map(|value| value.map(|value| Some(value.into()))), *scale, codes);
            }
            DataType::Decimal64(_, scale) => {
                let values = array.as_primitive::<Decimal64Type>().iter();
                return self.decimals(values.map(|value| value.map(|value| Some(value.into()))), *scale, codes);
            }
            DataType::Decimal128(_, scale) => {
                let values = array.as_primitive::<Decimal128Type>().iter();
                return self.decimals(values.map(|value| value.map(Some)), *scale, codes);
            }
            DataType::Decimal256(_, scale) => {
                let values = array.as_primitive::<Decimal256Type>().iter();
                return self.decimals(values.map(|value| value.map(|value| value.to_i128())), *scale, codes);
            }
            DataType::Date64 => {
                let milliseconds = array.as_primitive::<Date64Type>();
                let day =
                    |value: i64| (value % 86_400_000 == 0).then(|| i32::try_from(value / 86_400_000).ok()).flatten();
                let days: Vec<Option<i32>> = milliseconds
                    .iter()
                    .map(|value| value.map(|value| day(value).ok_or(Unfit::Type)).transpose())
                    .collect::<Result<_, _>>()?;
                self.dates(days.into_iter(), codes);
            }
            DataType::Timestamp(TimeUnit::Second, _) => {
                return self.moments(
                    array.as_primitive::<TimestampSecondType>().iter(),
                    &|s| s.checked_mul(1_000_000),
                    codes,
                );
            }
            DataType::Timestamp(TimeUnit::Millisecond, _) => {
                return self.moments(
                    array.as_primitive::<TimestampMillisecondType>().iter(),
                    &|ms| ms.checked_mul(1_000),
                    codes,
                );
            }
            DataType::Timestamp(TimeUnit::Microsecond, _) => {
                return self.moments(array.as_primitive::<TimestampMicrosecondType>().iter(), &Some, codes);
            }
            DataType::Timestamp(TimeUnit::Nanosecond, _) => {
                let values = array.as_primitive::<TimestampNanosecondType>();
                if values.iter().flatten().any(|value| value % 1_000 != 0) {
                    return Err(Unfit::Digits("moments finer than a microsecond"));
                }
                return self.moments(values.iter(), &|ns| Some(ns / 1_000), codes);
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
            _ => return Err(Unfit::Type),
        }
        Ok(())
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

    /// Moments, of which some may lie beyond 64 bits of microseconds. Those without a text are refused in the end.
    fn moments(
        &mut self,
        values: impl Iterator<Item = Option<i64>>,
        microseconds: &dyn Fn(i64) -> Option<i64>,
        codes: &mut Vec<u32>,
    ) -> Result<(), Unfit> {
        for value in values {
            let value = value.map(|value| microseconds(value).ok_or(Unfit::Type)).transpose()?;
            codes.push(self.number(value, |moment| Value::DateTime(DateTime(moment))));
        }
        Ok(())
    }

    /// Decimals: integers without decimal places, reals otherwise, but only if a real has all their digits. The inner
    /// `None` is a number beyond 128 bits.
    fn decimals(
        &mut self,
        values: impl Iterator<Item = Option<Option<i128>>>,
        scale: i8,
        codes: &mut Vec<u32>,
    ) -> Result<(), Unfit> {
        for value in values {
            let code = match value {
                None => missing(&mut self.missing, &mut self.dictionary),
                Some(number) if scale <= 0 => {
                    let zeros = 10_i128.checked_pow(u32::from(scale.unsigned_abs()));
                    let whole = number.zip(zeros).and_then(|(number, zeros)| number.checked_mul(zeros));
                    let whole = whole.and_then(|whole| i64::try_from(whole).ok()).ok_or(Unfit::Type)?;
                    self.number(Some(whole), Value::Integer)
                }
                Some(number) => {
                    let real = number.and_then(|number| exact_real(number, scale.unsigned_abs()));
                    let real = real.ok_or(Unfit::Digits("numbers with more digits than a real keeps"))?;
                    intern(&mut self.reals, real.to_bits(), &mut self.dictionary, || Value::Real(real))
                }
            };
            codes.push(code);
        }
        Ok(())
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
    fn keys(&mut self, array: &dyn AnyDictionaryArray, codes: &mut Vec<u32>) -> Result<(), Unfit> {
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
                self.encode(&values.slice(key, 1), &mut decoded)?;
                code_of[key] = decoded[0];
            }
            codes.push(code_of[key]);
        }
        self.shared = Some((Arc::clone(values), code_of));
        Ok(())
    }

    /// Takes the rows that were added away, as positions in the dictionary, which only grows: [`ColumnReader::entries`]
    /// says in the end what stands there.
    pub fn take(&mut self) -> Codes {
        let width = self.dictionary.len();
        let taken = std::mem::take(&mut self.codes);
        match taken.len() {
            1 => taken.into_iter().next().unwrap_or_else(|| Codes::with_capacity(0, 0)),
            _ => Codes::collect(width, taken.iter().flat_map(Codes::iter)),
        }
    }

    /// The dictionary as a column with one row per position.
    pub fn entries(mut self) -> Result<Column, ArrowTableError> {
        let width = self.dictionary.len();
        self.codes = vec![Codes::collect(width, 0..width as u32)];
        self.finish()
    }

    /// The column. If the requested kind is not that of the arrays, every value is read again from its text.
    pub fn finish(self) -> Result<Column, ArrowTableError> {
        let request = self.request;
        let found = self.kind.unwrap_or(Kind::Category);
        let kind = request.kind.unwrap_or(found);
        let dictionary = self.dictionary.into_iter();
        let dictionary: Vec<Option<Value>> = dictionary
            .map(|value| match value {
                // A date stands for its midnight.
                Some(Value::Date(date)) if kind == Kind::DateTime => {
                    convert(request, kind, &Value::DateTime(DateTime::midnight(date))).map(Some)
                }
                Some(Value::DateTime(moment)) if kind == Kind::DateTime && moment.is_writable() => {
                    Ok(Some(Value::DateTime(moment)))
                }
                // A day or a moment outside the four-digit years has no text that can be read again, and is refused.
                Some(value) if kind != found || matches!(kind, Kind::Date | Kind::DateTime) => {
                    convert(request, kind, &value).map(Some)
                }
                value => Ok(value),
            })
            .collect::<Result<_, _>>()?;
        let order = if kind == Kind::Ordinal { ranks(request, &dictionary)? } else { Vec::new() };
        Ok(Column::from_entries(&request.name, kind, dictionary, &order, self.codes))
    }
}

/// Why an array cannot be read.
enum Unfit {
    /// Its type, or a value beyond what its kind holds.
    Type,
    /// Some values would lose digits: what they are.
    Digits(&'static str),
}

/// `number · 10^-scale`, if the text of the real has the same digits.
fn exact_real(number: i128, scale: u8) -> Option<f64> {
    // PROOF: fifteen digits survive in a double, and so far both operands are exact.
    if number.unsigned_abs() < 1_000_000_000_000_000 && scale <= 22 {
        return Some(number as f64 / 10f64.powi(i32::from(scale)) + 0.0);
    }
    let real: f64 = format!("{number}e-{scale}").parse().ok()?;
    // Written out, without the zeros at the end that a decimal has and a real has not.
    let digits = format!("{:0>width$}", number.unsigned_abs(), width = usize::from(scale) + 1);
    let (whole, decimals) = digits.split_at(digits.len() - usize::from(scale));
    let decimals = decimals.trim_end_matches('0');
    let sign = if number < 0 { "-" } else { "" };
    let point = if decimals.is_empty() { "" } else { "." };
    (real.to_string() == format!("{sign}{whole}{point}{decimals}")).then_some(real + 0.0)
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
