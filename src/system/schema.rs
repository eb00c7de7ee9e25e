//! The JSON Schema of descriptions, for editors: names, units, ranges, defaults and meanings as the fields declare them.

use super::field::{Config, Field, FieldRange};
use super::generator::GENERATORS;
use super::kind::{COMPONENTS, LINKS};
use super::memory_map::WindowConfig;
use super::quantity::Unit;
use super::resolve::{ClockConfig, FORMAT, SystemConfig};
use serde_json::{Map, Value, json};

/// The schema, draft 2020-12.
pub fn schema() -> Value {
    let components = COMPONENTS.iter().map(|kind| of_kind(kind.name, kind.about, (kind.fields)(), component_keys()));
    let links = LINKS.iter().map(|kind| of_kind(kind.name, kind.about, (kind.fields)(), link_keys()));
    let generators = GENERATORS.iter().map(|kind| of_kind(kind.name, kind.about, (kind.fields)(), Map::new()));
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "scalepool system description",
        "type": "object",
        "required": ["format", "component"],
        "additionalProperties": false,
        "properties": {
            "format": {"const": FORMAT},
            "system": table(SystemConfig::fields(), Map::new()),
            "clock": named(table(ClockConfig::fields(), Map::new())),
            "component": named(json!({"oneOf": components.collect::<Vec<_>>()})),
            "link": named(json!({"oneOf": links.collect::<Vec<_>>()})),
            "memory_map": named(window()),
            "generator": named(json!({"oneOf": generators.collect::<Vec<_>>()})),
            "part": named(part()),
            "export": named(json!({"type": "string", "description": "the port that others join as a port of this part"})),
            "preset": named_any(json!({"type": "object", "additionalProperties": {"type": "object"}})),
            "settings": {"type": "object", "additionalProperties": {"anyOf": [
                {"type": "string"}, {"type": "array", "minItems": 1, "items": {"type": "string"}},
            ]}},
        },
    })
}

/// Tables by short names.
fn named_any(element: Value) -> Value {
    json!({"type": "object", "additionalProperties": element})
}

fn named(element: Value) -> Value {
    json!({"type": "object", "propertyNames": {"pattern": "^[a-z][a-z0-9_]*$"}, "additionalProperties": element})
}

fn window() -> Value {
    let mut window = table(WindowConfig::fields(), Map::new());
    window["required"] = json!(["base", "size", "targets"]);
    window
}

fn part() -> Value {
    json!({
        "type": "object",
        "required": ["use"],
        "additionalProperties": false,
        "properties": {
            "use": {"type": "string", "description": "file of a description, relative to this one"},
            "count": {"type": "integer", "minimum": 1},
            "set": {"type": "object", "description": "settings of the part: short names or paths, and values"},
            "at": {"type": "object", "description": "exceptions by index"},
        },
    })
}

fn component_keys() -> Map<String, Value> {
    let mut keys = Map::new();
    keys.insert("count".into(), json!({"type": "integer", "minimum": 1}));
    keys.insert("clock".into(), json!({"type": "string", "description": "name of a clock"}));
    keys.insert(
        "external".into(),
        json!({"type": "string", "description": "how a caller stands for the component: flits, or messages, as its kind offers"}),
    );
    keys.insert("at".into(), json!({"type": "object", "description": "exceptions by index"}));
    keys
}

fn link_keys() -> Map<String, Value> {
    let port = json!({"type": "string", "description": "component.port, with indices or index variables"});
    let mut keys = Map::new();
    let pair = json!({"type": "array", "minItems": 2, "maxItems": 2, "items": port});
    keys.insert("between".into(), json!({"anyOf": [pair, {"type": "array", "minItems": 1, "items": pair}]}));
    keys.insert("at".into(), json!({"type": "object", "description": "exceptions by index"}));
    keys
}

fn of_kind(name: &str, about: &str, fields: Vec<&'static Field>, mut keys: Map<String, Value>) -> Value {
    keys.insert("kind".into(), json!({"const": name, "description": about}));
    let mut table = table(fields, keys);
    table["required"] = json!(["kind"]);
    table
}

fn table(fields: Vec<&'static Field>, mut properties: Map<String, Value>) -> Value {
    properties.extend(fields.into_iter().map(|field| (field.name.to_owned(), property(field))));
    json!({"type": "object", "additionalProperties": false, "properties": properties})
}

fn property(field: &Field) -> Value {
    let unit = match field.unit {
        Unit::Of("-") => String::new(),
        unit => format!(" [{}]", unit.name()),
    };
    let text = format!("{}{unit}; {}; default {}", field.doc, field.range, field.default);
    let mut value = match field.range {
        FieldRange::Int(low, high) => {
            json!({"anyOf": [{"type": "integer", "minimum": low, "maximum": high}, {"type": "string"}]})
        }
        FieldRange::OneOf(numbers) => json!({"anyOf": [{"enum": numbers}, {"type": "string"}]}),
        FieldRange::Real(low, high) => json!({"type": "number", "minimum": low, "maximum": high}),
        FieldRange::Words(words) => json!({"enum": words}),
        FieldRange::Switch => json!({"anyOf": [{"type": "boolean"}, {"enum": ["on", "off"]}]}),
        FieldRange::Text(_) => json!({"type": "string"}),
        FieldRange::Texts(_) => json!({"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "string"}]}),
        FieldRange::Table(fields) => table(fields(), Map::new()),
        FieldRange::Tables(fields) => json!({"type": "array", "items": table(fields(), Map::new())}),
    };
    value["description"] = json!(text);
    value
}
