//! Flit objects in words: the messages in them, and their fields as short text.

use scalepool_forms::Object;
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

/// Fields that are not 0, as ` name=value`.
pub fn fields(values: Option<&Object>) -> String {
    let told = values.into_iter().flatten().filter(|(name, value)| {
        name.as_str() != "valid" && **value != 0 && value.as_str() != Some("0x0") && !name.starts_with("rsvd")
    });
    let text = |name: &str, value: &Value| match (value.as_u64(), value.as_str()) {
        (Some(number), _) if name.contains("address") => format!("{number:#x}"),
        (_, Some(name)) => name.to_owned(),
        _ => value.to_string(),
    };
    told.map(|(name, value)| format!(" {name}={}", text(name, value))).collect()
}

/// A time in ns, exact.
pub fn time_ns(t_fs: u64) -> String {
    const FS_PER_NS: u64 = 1_000_000;
    format!("{}.{:06}", t_fs / FS_PER_NS, t_fs % FS_PER_NS)
}
