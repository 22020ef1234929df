//! The fields of a manifest that decide how the rest is read; the rest is not kept.

use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

/// These fields, whatever else the file contains.
#[derive(Default)]
pub(super) struct Head {
    pub(super) format: Option<Value>,
    pub(super) version: Option<Value>,
    pub(super) features: Option<Value>,
    pub(super) method: Option<Value>,
}

impl<'de> Deserialize<'de> for Head {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(HeadVisitor)
    }
}

struct HeadVisitor;

impl<'de> Visitor<'de> for HeadVisitor {
    type Value = Head;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a manifest")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Head, A::Error> {
        let mut head = Head::default();
        while let Some(key) = map.next_key::<String>()? {
            let field = match key.as_str() {
                "format" => &mut head.format,
                "version" => &mut head.version,
                "features" => &mut head.features,
                "method" => &mut head.method,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            *field = Some(map.next_value()?);
        }
        Ok(head)
    }

    /// A list is some other JSON file, which the check of the format reports.
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Head, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Head::default())
    }

    fn visit_bool<E>(self, _: bool) -> Result<Head, E> {
        Ok(Head::default())
    }

    fn visit_i64<E>(self, _: i64) -> Result<Head, E> {
        Ok(Head::default())
    }

    fn visit_u64<E>(self, _: u64) -> Result<Head, E> {
        Ok(Head::default())
    }

    fn visit_f64<E>(self, _: f64) -> Result<Head, E> {
        Ok(Head::default())
    }

    fn visit_str<E>(self, _: &str) -> Result<Head, E> {
        Ok(Head::default())
    }

    fn visit_unit<E>(self) -> Result<Head, E> {
        Ok(Head::default())
    }
}
