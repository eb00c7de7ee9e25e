//! Flit objects in words: the messages in them, and their fields as short text.

use scalepool_forms::Object;
pub use scalepool_forms::told::fields;
use serde_json::Value;

/// Every message in a flit object that is there, wherever it stands, in order: layout, fields.
pub fn messages(form: &Value) -> Vec<(&str, &Object)> {
    let mut found = Vec::new();
    match form {
        Value::Object(object) => match (object.get("layout"), object.get("fields")) {
            (Some(Value::String(layout)), Some(Value::Object(fields))) => {
                if fields.get("valid").is_none_or(|valid| valid != 0) {
                    found.push((layout.as_str(), fields));
                }
            }
            _ => found.extend(object.values().flat_map(messages)),
        },
        Value::Array(values) => found.extend(values.iter().flat_map(messages)),
        _ => (),
    }
    found
}

/// A time in ns, exact.
pub fn time_ns(t_fs: u64) -> String {
    const FS_PER_NS: u64 = 1_000_000;
    format!("{}.{:06}", t_fs / FS_PER_NS, t_fs % FS_PER_NS)
}
