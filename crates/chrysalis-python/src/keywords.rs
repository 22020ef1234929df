//! Keywords of a call become the one `Draft`.
//!
//! Which keywords there are is not written down here: serde knows the fields of a draft, so a knob that the hall gets is
//! a keyword at once. What a spec says in `[attributes.COLUMN]` is a dictionary here: `kind={"zip": "category"}`.

use chrysalis::table::edits;
use chrysalis::{AttributeDraft, CompareDraft, Draft, Error, Memory, ReleaseDraft, SensitiveDraft};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyFrozenSet, PyInt, PyList, PySet, PyString, PyTuple};
use serde::de::{DeserializeOwned, Deserializer, Visitor};
use serde_json::{Map, Value, json};

use crate::errors::{OrRaise, refused};
use crate::examples::{example, plainly, principle};

/// What is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    Publish,
    Compare,
    Profile,
    Risk,
    Read,
}

/// Keywords with which a table is read and prepared.
const READING: [&str; 11] = [
    "delimiter",
    "encoding",
    "na",
    "date_format",
    "missing",
    "kind",
    "order",
    "prepare",
    "person",
    "key",
    "attributes",
];

impl Verb {
    /// Whether a keyword has an effect.
    fn takes(self, keyword: &str) -> bool {
        match self {
            Verb::Publish => !is_of::<CompareDraft>(keyword),
            Verb::Compare => !["format", "series", "values_change", "only_new", "after", "like"].contains(&keyword),
            Verb::Profile => READING.contains(&keyword) || ["quasi", "sensitive", "taxonomy"].contains(&keyword),
            Verb::Risk => {
                let is_read = READING.contains(&keyword) && !["prepare", "person", "key"].contains(&keyword);
                is_read || ["quasi", "weight"].contains(&keyword)
            }
            Verb::Read => ["delimiter", "encoding", "na", "date_format", "person", "key"].contains(&keyword),
        }
    }
}

/// Keywords that hold lists; a single text stands for a list of one.
const LISTS: [&str; 7] = ["quasi", "other", "require", "accept", "na", "bucket_columns", "after"];

/// Keywords that name columns. A frame may have numbers as names, which are texts in Arrow.
const COLUMNS: [&str; 7] = ["quasi", "sensitive", "other", "person", "weight", "group_column", "bucket_columns"];

/// Names of columns as texts.
fn named(value: Value) -> Value {
    match value {
        Value::Number(number) => number.to_string().into(),
        Value::Array(values) => values.into_iter().map(named).collect(),
        value => value,
    }
}

/// The draft that keywords describe.
pub(crate) fn draft(keywords: &Bound<'_, PyDict>, verb: Verb) -> PyResult<Draft> {
    let py = keywords.py();
    let mut parts = Parts::default();
    for (name, value) in keywords {
        let name: String = name.extract()?;
        if value.is_none() {
            continue;
        }
        let value = json_of(&value, &name)?;
        check_known(&name, verb).or_raise(py)?;
        parts.place(&name, value).or_raise(py)?;
    }
    let mut draft = parts.draft().or_raise(py)?;
    // One column in a list is one column.
    draft.sensitive = draft.sensitive.as_ref().and_then(|said| SensitiveDraft::of(&said.names()));
    Ok(draft)
}

/// How much memory reading may take, out of the keywords: it is no part of a draft.
pub(crate) fn memory(keywords: &Bound<'_, PyDict>) -> PyResult<Option<Memory>> {
    let Some(said) = keywords.get_item("memory")? else { return Ok(None) };
    keywords.del_item("memory")?;
    if said.is_none() { Ok(None) } else { memory_of(&said).map(Some) }
}

/// An amount of memory, such as `"2GB"`.
pub(crate) fn memory_of(said: &Bound<'_, PyAny>) -> PyResult<Memory> {
    let py = said.py();
    let wrong = |problem: String| refused(py, format!("`memory`: {problem}"), "write `memory=\"2GB\"`");
    let text = said.extract::<String>().map_err(|_| strange(py, "memory", said))?;
    text.parse().map_err(wrong)
}

/// Where keywords belong in a draft.
#[derive(Default)]
struct Parts {
    whole: Map<String, Value>,
    release: Map<String, Value>,
    compare: Map<String, Value>,
    attributes: Map<String, Value>,
}

impl Parts {
    fn place(&mut self, name: &str, value: Value) -> Result<(), Error> {
        let value = if COLUMNS.contains(&name) { named(value) } else { value };
        let value = match value {
            Value::String(text) if LISTS.contains(&name) => json!([text]),
            value => value,
        };
        match value {
            Value::Object(columns) if name == "attributes" => {
                for (column, said) in columns {
                    let Value::Object(said) = said else { return Err(not_columns(name)) };
                    said.into_iter().for_each(|(key, value)| self.say_of(&column, &key, value));
                }
                Ok(())
            }
            Value::Object(columns) if is_of::<AttributeDraft>(name) => {
                columns.into_iter().for_each(|(column, value)| self.say_of(&column, name, value));
                Ok(())
            }
            Value::String(column) if name == "prefix" => {
                self.say_of(&column, name, true.into());
                Ok(())
            }
            Value::Array(columns) if name == "prefix" => {
                let columns: Option<Vec<&str>> = columns.iter().map(Value::as_str).collect();
                let columns = columns.ok_or_else(|| not_columns(name))?;
                columns.iter().for_each(|column| self.say_of(column, name, true.into()));
                Ok(())
            }
            value if is_of::<Draft>(name) => checked::<Draft>(name, value, &mut self.whole),
            value if is_of::<ReleaseDraft>(name) => checked::<ReleaseDraft>(name, value, &mut self.release),
            value if is_of::<CompareDraft>(name) => checked::<CompareDraft>(name, value, &mut self.compare),
            _ => Err(not_columns(name)),
        }
    }

    /// What is said of one column. Steps and widths that stand alone are lists of one.
    fn say_of(&mut self, column: &str, name: &str, value: Value) {
        let value = match (name, value) {
            ("prepare" | "ordinary" | "order", Value::String(text)) => json!([text]),
            ("intervals", value @ (Value::String(_) | Value::Number(_))) => json!([value]),
            (_, value) => value,
        };
        let said = self.attributes.entry(column).or_insert_with(|| json!({}));
        if let Value::Object(said) = said {
            said.insert(name.to_owned(), value);
        }
    }

    fn draft(mut self) -> Result<Draft, Error> {
        for (column, said) in &self.attributes {
            let Value::Object(said) = said else { continue };
            for (name, value) in said {
                let about = |error: Error| error.about(&format!("column `{column}`"));
                if !is_of::<AttributeDraft>(name) {
                    return Err(about(unknown(name, &fields_of::<AttributeDraft>())));
                }
                checked::<AttributeDraft>(name, value.clone(), &mut Map::new()).map_err(about)?;
            }
        }
        if !self.compare.is_empty() {
            self.whole.insert("compare".into(), self.compare.into());
        }
        self.whole.insert("release".into(), self.release.into());
        self.whole.insert("attributes".into(), self.attributes.into());
        serde_json::from_value(self.whole.into()).map_err(|error| Error::request(error.to_string(), MANUAL))
    }
}

/// Where keywords are explained.
const MANUAL: &str = "see `help(chrysalis.publish)`";

fn not_columns(name: &str) -> Error {
    let message = format!("`{name}` says something of columns, so it is a dictionary with their names");
    Error::request(message, how(name).unwrap_or_else(|| format!("write `{name}={{\"COLUMN\": …}}`")))
}

/// How a keyword is written.
fn how(name: &str) -> Option<String> {
    example(name).map(|example| format!("write it like `{example}`"))
}

/// Adds a keyword, if its value is what its field takes.
fn checked<T: DeserializeOwned>(name: &str, value: Value, into: &mut Map<String, Value>) -> Result<(), Error> {
    let alone: Map<String, Value> = std::iter::once((name.to_owned(), value.clone())).collect();
    match serde_json::from_value::<T>(alone.into()) {
        Err(error) => {
            let message = format!("`{name}`: {}", plainly(&error.to_string()));
            Err(Error::request(message, how(name).unwrap_or_else(|| MANUAL.to_owned())))
        }
        Ok(_) => {
            into.insert(name.to_owned(), value);
            Ok(())
        }
    }
}

/// Refuses a keyword that nobody knows, or that has no effect on what is called.
fn check_known(name: &str, verb: Verb) -> Result<(), Error> {
    let all: Vec<&str> = [fields_of::<Draft>(), fields_of::<ReleaseDraft>(), fields_of::<AttributeDraft>()]
        .concat()
        .into_iter()
        .chain(fields_of::<CompareDraft>())
        // Parts of a draft that keywords fill by their own names, and the table, which is the first argument.
        .filter(|field| !["input", "release", "compare", "role", "quasi_identifiers"].contains(field))
        .collect();
    if !all.contains(&name) {
        return Err(unknown(name, &all));
    }
    if verb.takes(name) {
        return Ok(());
    }
    Err(Error::request(format!("`{name}` has no effect here"), "leave it out"))
}

fn unknown(name: &str, all: &[&str]) -> Error {
    if let Some(principle) = principle(name) {
        let remedy = format!("principles are required: `require=[\"{principle}\"]`");
        return Error::request(format!("there is no keyword `{name}`"), remedy);
    }
    let nearest = all.iter().min_by_key(|known| edits(name, known));
    let near = nearest.filter(|known| edits(name, known) <= 1 + name.len() / 3);
    let remedy = near.map_or_else(|| MANUAL.to_owned(), |known| format!("did you mean `{known}`?"));
    Error::request(format!("there is no keyword `{name}`"), remedy)
}

fn is_of<T: DeserializeOwned>(name: &str) -> bool {
    fields_of::<T>().contains(&name)
}

/// The fields of a struct, as serde knows them.
fn fields_of<T: DeserializeOwned>() -> Vec<&'static str> {
    let mut fields: &'static [&'static str] = &[];
    // It has no value to give, so it always fails, after it was told the fields.
    let _ = T::deserialize(FieldNames(&mut fields));
    fields.to_vec()
}

struct FieldNames<'a>(&'a mut &'static [&'static str]);

impl<'de> Deserializer<'de> for FieldNames<'_> {
    type Error = serde::de::value::Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Self::Error> {
        Err(serde::de::Error::custom("there is no value"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        *self.0 = fields;
        self.deserialize_any(visitor)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

/// A value of Python as JSON: texts, numbers, truth values, paths, lists and dictionaries of them.
fn json_of(value: &Bound<'_, PyAny>, name: &str) -> PyResult<Value> {
    let py = value.py();
    if let Ok(truth) = value.cast::<PyBool>() {
        return Ok(truth.is_true().into());
    }
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(text.to_str()?.into());
    }
    if value.cast::<PyInt>().is_ok() {
        let too_large = || refused(py, format!("`{name}`: {value} is too large a number"), "use a smaller one");
        return value.extract::<i64>().map(Value::from).map_err(|_| too_large());
    }
    if let Ok(number) = value.cast::<PyFloat>() {
        let number = number.extract::<f64>()?;
        return serde_json::Number::from_f64(number)
            .map(Value::from)
            .ok_or_else(|| refused(py, format!("`{name}`: {number} is not a number to use"), "use a finite one"));
    }
    if let Ok(members) = value.cast::<PyDict>() {
        let mut object = Map::new();
        for (key, value) in members {
            let key = key.cast::<PyString>().map_err(|_| strange(py, name, &key))?.to_str()?.to_owned();
            object.insert(key, json_of(&value, name)?);
        }
        return Ok(object.into());
    }
    if value.cast::<PyList>().is_ok() || value.cast::<PyTuple>().is_ok() {
        let items: Vec<Value> = value.try_iter()?.map(|item| json_of(&item?, name)).collect::<PyResult<_>>()?;
        return Ok(items.into());
    }
    // Paths, numbers and texts of numpy, indexes and series of pandas.
    for method in ["__fspath__", "tolist"] {
        if value.hasattr(method)? {
            return json_of(&value.call_method0(method)?, name);
        }
    }
    Err(strange(py, name, value))
}

fn strange(py: Python<'_>, name: &str, value: &Bound<'_, PyAny>) -> PyErr {
    let class = value.get_type().name().map_or_else(|_| "object".to_owned(), |name| name.to_string());
    let remedy = match value.cast::<PySet>().is_ok() || value.cast::<PyFrozenSet>().is_ok() {
        true => "write a list: a set has no order".to_owned(),
        false => how(name).unwrap_or_else(|| MANUAL.to_owned()),
    };
    refused(py, format!("`{name}`: a value of type {class} cannot be used"), remedy)
}
