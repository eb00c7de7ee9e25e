//! `{"rule":"CXL68-CRC-01","at":"byte 66","found":..,"expected":..,"text":..}`.

use super::Object;
use scalepool_protocols::wire::Violation;
use serde_json::Value;

/// One broken rule.
pub fn to_json(violation: &Violation) -> Value {
    let mut object = Object::new();
    object.insert("rule".into(), violation.rule.into());
    object.insert("at".into(), violation.at.to_string().into());
    object.insert("found".into(), violation.found.clone().into());
    object.insert("expected".into(), violation.expected.clone().into());
    object.insert("text".into(), violation.text.clone().into());
    Value::Object(object)
}

/// A list of them, in the order of their finding.
pub fn list_to_json(violations: &[Violation]) -> Value {
    violations.iter().map(to_json).collect()
}
