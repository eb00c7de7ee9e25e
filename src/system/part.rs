//! Parts: a description that takes in others, `[part.left]` with `use = "pod.toml"`.
//!
//! Modelled: files relative to the file that names them, arrays of parts, values for the settings of a part, and ports that a
//! part exports. Left out: parts without a file of their own.
//!
//! A walk through one part: its file was read with the description; for each element of the array the values of `set` are
//! applied to a copy; its generators and parts are written out; its clocks, components, links and windows join those of the whole under
//! the name of the part, `left[1].accel`; what its `[export]` names can be joined to as `left[1].uplink`.

use super::description::Description;
use super::document::{DocumentItem, Table, Value};
use super::field::{elements, unknown};
use super::generator;
use super::problem::{Problems, TextPlace};
use super::quantity::{self, Unit};
use super::reference::PortRef;
use super::resolve::{self, MOST};
use scalepool_ordered::OrderedMap;
use std::path::PathBuf;

/// Keys of the table of a part.
const KEYS: [&str; 4] = ["use", "count", "set", "at"];
/// Tables of a part that join those of the whole.
const JOINED: [&str; 4] = ["clock", "component", "link", "memory_map"];

/// A description with everything written out.
#[derive(Debug, Clone, Default)]
pub(super) struct Whole {
    pub root: Table,
    /// Parts by name, those inside others as `left.inner`.
    pub parts: OrderedMap<String, PartArray>,
    /// What its own paths are relative to.
    pub folder: PathBuf,
    /// The same of the parts, by name of the element.
    pub folders: OrderedMap<String, PathBuf>,
}

/// A part, or an array of parts.
#[derive(Debug, Clone)]
pub(super) struct PartArray {
    /// Length; `None`: no array.
    pub count: Option<usize>,
    /// Exported ports: name, where it stands, and the port in each element.
    pub exports: Vec<(String, TextPlace, Vec<PortRef>)>,
}

/// Writes out generators and parts.
pub(super) fn expand(description: &Description, problems: &mut Problems) -> Whole {
    let mut whole = Whole { root: description.with_presets(), folder: description.folder.clone(), ..Whole::default() };
    generator::expand(&mut whole.root, &description.folder, problems);
    let Some(DocumentItem { value: Value::Table(parts), .. }) = description.root.get("part") else { return whole };
    for (name, place, item) in &parts.entries {
        // A part whose file could not be read has been said when the description was read.
        let of = description.parts.iter().find(|(known, _)| known == name);
        if let (Value::Table(table), Some((_, of))) = (&item.value, of) {
            take_in(&mut whole, name, *place, table, of, problems);
        }
    }
    whole
}

/// Takes the elements of one part in.
fn take_in(whole: &mut Whole, name: &str, place: TextPlace, table: &Table, of: &Description, problems: &mut Problems) {
    let path = format!("part.{name}");
    for (key, at, _) in table.entries.iter().filter(|(key, ..)| !KEYS.contains(&key.as_str())) {
        problems.add(*at, format!("{path}.{key}"), unknown("key", KEYS.into_iter()).of(key));
    }
    if whole.root.get("component").is_some_and(|item| matches!(&item.value, Value::Table(t) if t.get(name).is_some())) {
        problems.add(place, path, format!("found a component `{name}` too, expected one of them"));
        return;
    }
    let count = count(table, &path, problems);
    let exceptions = resolve::exceptions(table, &path, count.unwrap_or(0), problems);
    let mut array = PartArray { count, exports: Vec::new() };
    for n in 0..count.unwrap_or(1) {
        let element = if count.is_some() { format!("{name}[{n}]") } else { name.to_owned() };
        let mut own = of.clone();
        let own_table = resolve::element(table, exceptions.get(&n));
        set(&mut own, &own_table, &path, problems);
        if n == 0 {
            resolve::judge(&own, problems);
            resolve::settings(&own, problems);
        }
        let inner = expand(&own, problems);
        export(&mut array, &inner.root, &element, problems);
        join(whole, inner, &element);
        if tables(&whole.root) > MOST {
            problems.add(place, path, format!("found more than {MOST} components and links, expected at most that"));
            return;
        }
    }
    whole.parts.insert(name.to_owned(), array);
}

/// Length of the array.
fn count(table: &Table, path: &str, problems: &mut Problems) -> Option<usize> {
    let item = table.get("count")?;
    let number = match &item.value {
        Value::Number(text) | Value::Text(text) => quantity::parse(text, Unit::Of("-")),
        _ => None,
    };
    let number = number.filter(|n| (1..=MOST as u64).contains(n));
    if number.is_none() {
        problems.add(item.place, format!("{path}.count"), format!("found {}, expected 1 to {MOST}", item.shown()));
    }
    Some(number.unwrap_or(1) as usize)
}

/// Gives the settings of a part the values of its user.
fn set(own: &mut Description, table: &Table, path: &str, problems: &mut Problems) {
    match table.get("set") {
        None => (),
        Some(DocumentItem { value: Value::Table(values), .. }) => {
            for (key, place, item) in &values.entries {
                if let Err(text) = own.assign(key, item.clone()) {
                    problems.add(*place, format!("{path}.set.\"{key}\""), text);
                }
            }
        }
        Some(item) => {
            let text = format!("found {}, expected a table of settings and values", item.shown());
            problems.add(item.place, format!("{path}.set"), text);
        }
    }
}

/// Notes the ports that an element exports.
fn export(array: &mut PartArray, root: &Table, element: &str, problems: &mut Problems) {
    let Some(DocumentItem { value: Value::Table(exports), .. }) = root.get("export") else { return };
    for (name, place, item) in &exports.entries {
        let port = match &item.value {
            Value::Text(text) => PortRef::parse(&format!("{element}.{text}")),
            _ => None,
        };
        match (port, array.exports.iter_mut().find(|(known, ..)| known == name)) {
            (Some(port), Some((.., ports))) => ports.push(port),
            (Some(port), None) => array.exports.push((name.clone(), *place, vec![port])),
            (None, _) => {
                let text = format!("found {}, expected a port such as `switch.port[i]`", item.shown());
                problems.add(item.place, format!("export.{name}"), text);
            }
        }
    }
}

/// Puts the tables of an element under its name.
fn join(whole: &mut Whole, inner: Whole, element: &str) {
    for top in JOINED {
        let Some(DocumentItem { value: Value::Table(tables), place }) = inner.root.get(top) else { continue };
        if whole.root.get(top).is_none() {
            whole.root.set(top, *place, DocumentItem { place: *place, value: Value::Table(Table::default()) });
        }
        let Some(DocumentItem { value: Value::Table(all), .. }) = whole.root.get_mut(top) else { continue };
        for (name, place, item) in &tables.entries {
            let mut item = item.clone();
            if let Value::Table(table) = &mut item.value {
                rename(table, top, element);
            }
            all.entries.push((format!("{element}.{name}"), *place, item));
        }
    }
    let under = |(name, part): (String, PartArray)| (format!("{element}.{name}"), part);
    let prefixed = |(name, place, ports): (String, TextPlace, Vec<PortRef>)| {
        (name, place, ports.into_iter().map(|port| port.under(element)).collect())
    };
    whole.parts.extend(
        inner.parts.into_iter().map(under).map(|(name, part)| {
            (name, PartArray { exports: part.exports.into_iter().map(prefixed).collect(), ..part })
        }),
    );
    whole.folders.extend(inner.folders.into_iter().map(|(name, folder)| (format!("{element}.{name}"), folder)));
    whole.folders.insert(element.to_owned(), inner.folder);
}

/// What a table of an element names lies in the element.
fn rename(table: &mut Table, top: &str, element: &str) {
    /// A name, or the names in a list.
    fn put_under(item: &mut DocumentItem, element: &str) {
        match &mut item.value {
            Value::Text(text) => *text = format!("{element}.{text}"),
            Value::List(items) => items.iter_mut().for_each(|item| put_under(item, element)),
            _ => (),
        }
    }
    let under = |item: &mut DocumentItem| put_under(item, element);
    for (key, _, item) in &mut table.entries {
        match (top, key.as_str(), &mut item.value) {
            ("component", "clock", Value::Text(_)) => under(item),
            ("clock", "link", Value::Text(_)) => under(item),
            ("link", "between", Value::List(ports)) => ports.iter_mut().for_each(under),
            ("memory_map", "targets", Value::List(targets)) => targets.iter_mut().for_each(under),
            ("memory_map", "targets", Value::Text(text)) => {
                let targets: Vec<String> = elements(text).map(|target| format!("{element}.{target}")).collect();
                *text = targets.join(",");
            }
            ("component", "at", Value::Table(exceptions)) => {
                for (.., item) in &mut exceptions.entries {
                    if let Value::Table(exception) = &mut item.value {
                        rename(exception, top, element);
                    }
                }
            }
            _ => (),
        }
    }
}

/// Tables of components and links.
fn tables(root: &Table) -> usize {
    let of = |top: &str| match root.get(top) {
        Some(DocumentItem { value: Value::Table(tables), .. }) => tables.entries.len(),
        _ => 0,
    };
    of("component") + of("link")
}
