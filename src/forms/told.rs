//! Messages in words: their fields as short text, for findings and steps.

use super::Object;
use serde_json::Value;

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
