//! Memory maps of generated fabrics: a window for each memory or logical device, each in segments of its own (`fabric` EDG-1).

use super::Generating;
use crate::document::{DocumentItem, Table, Value};
use crate::quantity::{self, Unit};
use scalepool_fabric::cxl_switch::pbr::segments::SEGMENT_BYTES;

/// The number of logical devices that the table of a memory says.
pub(super) fn logical_devices(memory: &Table) -> Option<usize> {
    match &memory.get("logical_devices")?.value {
        // The command line gives numbers as text.
        Value::Number(text) | Value::Text(text) => usize::try_from(quantity::parse(text, Unit::Of("-"))?).ok(),
        _ => None,
    }
}

/// A memory map with a window of `bytes` for each of `memories` elements of a component, or for each of their logical devices.
pub(super) fn windows(own: &mut Generating<'_>, component: &str, memories: usize, logical: Option<usize>, bytes: u64) {
    let targets = (0..memories).flat_map(|n| {
        let memory = format!("{component}[{n}]");
        let of_ld = |ld: usize| format!("{memory}.ld[{ld}]");
        logical.map_or_else(|| vec![memory.clone()], |count| (0..count).map(of_ld).collect())
    });
    let place = own.place;
    let entry = |key: &str, value: Value| (key.to_owned(), place, DocumentItem { place, value });
    let number = |n: u64| Value::Number(n.to_string());
    let step = bytes.next_multiple_of(SEGMENT_BYTES);
    let window = |(n, target): (usize, String)| {
        let target = DocumentItem { place, value: Value::Text(target) };
        let entries = vec![
            entry("base", number(n as u64 * step)),
            entry("size", number(bytes)),
            entry("targets", Value::List(vec![target])),
        ];
        entry(&format!("window{n}"), Value::Table(Table { entries }))
    };
    let entries = targets.enumerate().map(window).collect();
    if own.root.get("memory_map").is_some() {
        return own
            .refuse("window", "found a [memory_map] beside it, expected none: the windows are all of it".to_owned());
    }
    own.root.set("memory_map", place, DocumentItem { place, value: Value::Table(Table { entries }) });
}
