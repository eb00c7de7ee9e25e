//! Reading JSON text in which no object has a key twice.
//!
//! A reader that keeps the last of two equal keys, as `serde_json` does, passes over what the writer meant first. Here
//! the second one is an error with its place.

use super::Object;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Number, Value};
use std::fmt;

/// The value of a text.
///
/// # Errors
/// Text that is no JSON or has more behind the value ([`serde_json::Error::is_data`] is false), and an object with a key
/// for the second time (it is true, and line and column are those of the end of that key).
pub fn read(text: &str) -> Result<Value, serde_json::Error> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = Unique.deserialize(&mut reader)?;
    reader.end()?;
    Ok(value)
}

/// Reads any value whose objects have each key once.
struct Unique;

impl<'de> DeserializeSeed<'de> for Unique {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Unique {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = list.next_element_seed(Unique)? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut object = Object::new();
        while let Some(key) = map.next_key::<String>()? {
            if object.contains_key(&key) {
                let key = super::error::shortened(&key);
                return Err(A::Error::custom(format_args!("key `{key}` for the second time")));
            }
            object.insert(key, map.next_value_seed(Unique)?);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_of_serde_json() {
        let texts = [
            r#"{"b":[1,-2,3.5,1e3,18446744073709551615,18446744073709551616],"a":{"b":null,"c":[true,false]},"é\n":"\u00e9"}"#,
            " [ ] ",
            "\"a\"",
            "7",
            "[{\"a\":1},{\"a\":1}]",
        ];
        for text in texts {
            let (value, expected): (Value, Value) = (read(text).unwrap(), serde_json::from_str(text).unwrap());
            assert_eq!(value.to_string(), expected.to_string(), "{text}");
        }
    }

    #[test]
    fn a_key_that_comes_twice_is_named_with_its_place() {
        let rows = [
            (r#"{"a":1,"a":1}"#, "key `a` for the second time at line 1 column 10"),
            (r#"{"a":{"b":1,"c":2,"b":3}}"#, "key `b` for the second time at line 1 column 21"),
            ("{\"a\":[\n{\"x\":0, \"\\u0078\":0}]}", "key `x` for the second time at line 2 column 16"),
        ];
        for (text, error) in rows {
            let refused = read(text).unwrap_err();
            assert!(refused.is_data());
            assert_eq!(refused.to_string(), error);
        }
    }

    #[test]
    fn what_is_no_json_is_refused_as_before() {
        for text in ["", "{", "{\"a\":1,}", "[1 2]", "{} {}", "nul", "{\"a\"}", &"[".repeat(100_000)] {
            let error = read(text).unwrap_err();
            assert!(!error.is_data());
            assert_eq!(error.to_string(), serde_json::from_str::<Value>(text).unwrap_err().to_string());
        }
    }
}
