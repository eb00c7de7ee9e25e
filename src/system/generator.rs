//! Generators: components and links from a few numbers.
//!
//! Modelled: `[generator.NAME]` with a kind of the registry [`GENERATORS`]. A generator writes into the description what a
//! user would write by hand: counts, lengths of arrays of ports, and which ports a link joins. A topology of
//! routers, or of switches with port based routing, is one of [`scalepool_fabric::topology`].
//!
//! A walk through one: its table is read; the components and the link that it names are looked up; what it sets must not be
//! there yet; then it is there, and the description is resolved as if the user had written it.

mod cxl_fabric;
mod cxl_rack;
mod nvlink_pod;
mod segment_windows;
mod topology;
mod topology_file;

use super::document::{self, DocumentItem, Table, Value};
use super::field::{self, Config, Field, FieldRange, config, unknown};
use super::kind::component_fields;
use super::problem::{Problems, TextPlace};
use super::quantity::Unit;
use std::path::Path;

/// A kind of generator.
pub struct GeneratorKind {
    /// Name in descriptions.
    pub name: &'static str,
    /// What it makes.
    pub about: &'static str,
    /// Fields of its table.
    pub fields: fn() -> Vec<&'static Field>,
    /// Writes what it makes.
    generate: fn(&mut Generating<'_>),
}

/// All kinds of generators.
pub static GENERATORS: &[GeneratorKind] = &[
    GeneratorKind {
        name: "pod",
        about: "nodes around switches: port k of each node leads to switch k, which has a port for each node, and behind these for each bridge",
        fields: Pod::fields,
        generate: pod,
    },
    nvlink_pod::KIND,
    cxl_rack::KIND,
    cxl_fabric::KIND,
    topology::KIND,
];

/// Keys of a generator's table that every kind has.
const GENERATOR_KEYS: &[&str] = &["kind"];

config! {
    /// Nodes around switches.
    pub struct Pod {
        nodes: String = "" [Unit::Of("-")] in FieldRange::Text("the name of a component"), "component that is a node; the generator sets its count and its ports";
        switches: String = "" [Unit::Of("-")] in FieldRange::Text("the name of a component"), "component that is a switch; the generator sets its count and its ports";
        link: String = "" [Unit::Of("-")] in FieldRange::Text("the name of a link"), "link between them; the generator sets what it joins";
        node_count: usize = "4" [Unit::Of("nodes")] in FieldRange::Int(2, 1024), "number of nodes, such as accelerators or GPUs";
        switch_count: usize = "1" [Unit::Of("switches")] in FieldRange::Int(1, 16), "number of switches, which is also the number of ports of each node";
        bridges: Option<String> = "" [Unit::Of("-")] in FieldRange::Text("the name of a component"), "component that is a bridge behind the nodes; the generator sets its count and its ports to the switches; left out, there is none";
        bridge_count: usize = "1" [Unit::Of("bridges")] in FieldRange::Int(1, 64), "number of bridges, where there are any";
    }
}

/// The kind of generator of a name.
pub fn generator_kind(name: &str) -> Option<&'static GeneratorKind> {
    GENERATORS.iter().find(|kind| kind.name == name)
}

/// A generator at work.
struct Generating<'a> {
    root: &'a mut Table,
    /// What its paths are relative to.
    folder: &'a Path,
    /// Its own table, where that stands, and its path.
    table: Table,
    place: TextPlace,
    path: String,
    problems: &'a mut Problems,
}

/// Replaces the generators of a description by what they make.
pub fn expand(root: &mut Table, folder: &Path, problems: &mut Problems) {
    let Some(DocumentItem { value: Value::Table(generators), .. }) = root.get("generator").cloned() else { return };
    for (name, place, item) in generators.entries {
        let path = format!("generator.{name}");
        let Value::Table(table) = item.value else {
            problems.add(item.place, path, format!("found {}, expected a table", item.shown()));
            continue;
        };
        let known = || GENERATORS.iter().map(|kind| kind.name);
        let kind = match table.get("kind") {
            Some(DocumentItem { value: Value::Text(kind), place }) => {
                let found = generator_kind(kind);
                if found.is_none() {
                    problems.add(*place, format!("{path}.kind"), unknown("kind of generator", known()).of(kind));
                }
                found
            }
            other => {
                let found = other.map_or("no kind".to_owned(), DocumentItem::shown);
                let text = format!("found {found}, expected one of {}", known().collect::<Vec<_>>().join(", "));
                problems.add(other.map_or(place, |item| item.place), format!("{path}.kind"), text);
                None
            }
        };
        if let Some(kind) = kind {
            (kind.generate)(&mut Generating { root, folder, table, place, path, problems });
        }
    }
}

impl Generating<'_> {
    fn read<C: Config>(&mut self) -> C {
        // What the generator makes is part of the system; its own numbers are not.
        let mut resolved = Vec::new();
        field::read(&self.table, self.place, &self.path, GENERATOR_KEYS, self.problems, &mut resolved)
    }

    fn refuse(&mut self, key: &str, text: String) {
        let place = self.table.get(key).map_or(self.place, |item| item.place);
        self.problems.add(place, format!("{}.{key}", self.path), text);
    }

    /// A table of the description, `component.accel`.
    fn table_of(&self, top: &str, name: &str) -> Option<Table> {
        match self.root.get(top)?.value {
            Value::Table(ref tables) => match &tables.get(name)?.value {
                Value::Table(table) => Some(table.clone()),
                _ => None,
            },
            _ => None,
        }
    }

    /// The table that a field names, `component.accel`; a finding if there is none.
    fn named(&mut self, key: &str, top: &str, name: &str) -> Option<Table> {
        let tables = match self.root.get(top) {
            Some(DocumentItem { value: Value::Table(tables), .. }) => tables.clone(),
            _ => Table::default(),
        };
        match tables.get(name) {
            Some(DocumentItem { value: Value::Table(table), .. }) => return Some(table.clone()),
            _ if name.is_empty() => self.refuse(key, format!("found no name, expected the name of a {top}")),
            _ => {
                let text = unknown(top, tables.entries.iter().map(|(name, ..)| name.as_str())).of(name);
                self.refuse(key, text);
            }
        }
        None
    }

    /// Sets what nobody has set yet.
    fn set(&mut self, top: &str, name: &str, key: &str, value: Value) {
        let Some(table) = self.named("kind", top, name) else { return };
        let own = format!("{top}.{name}.{key}");
        match table.get(key) {
            Some(item) => {
                let text = format!("found {}, expected none: {} sets it", item.shown(), self.path);
                self.problems.add(item.place, own, text);
            }
            None => {
                let path = [top, name, key].map(str::to_owned);
                document::edit(self.root, &path, DocumentItem { place: self.place, value });
            }
        }
    }

    /// Sets a field of one element of a component, which nobody has set yet.
    fn set_at(&mut self, component: &str, n: usize, key: &str, value: Value) {
        let element = n.to_string();
        let path = ["component", component, "at", &element, key].map(str::to_owned);
        // Looked up in place: a component of thousands of elements is asked for each of them.
        let mut given = Some(&*self.root);
        let mut keys = path.iter().map(String::as_str).peekable();
        let mut found = None;
        while let (Some(table), Some(key)) = (given.take(), keys.next()) {
            match table.get(key) {
                item if keys.peek().is_none() => found = item.map(|item| (item.place, item.shown())),
                Some(DocumentItem { value: Value::Table(inner), .. }) => given = Some(inner),
                _ => (),
            }
        }
        if let Some((place, shown)) = found {
            let text = format!("found {shown}, expected none: {} sets it", self.path);
            self.problems.add(place, path.join("."), text);
            return;
        }
        document::edit(self.root, &path, DocumentItem { place: self.place, value });
    }

    /// Sets fields of a component that a field of the generator names.
    fn set_of(&mut self, role: &str, name: &str, values: &[(&str, Value)]) {
        if self.named(role, "component", name).is_some() {
            values.iter().for_each(|(key, value)| self.set("component", name, key, value.clone()));
        }
    }

    /// Makes a component an array whose elements have these ports each.
    fn array(&mut self, role: &str, name: &str, count: usize, ports: usize) {
        let Some(table) = self.named(role, "component", name) else { return };
        let kind = match table.get("kind") {
            Some(DocumentItem { value: Value::Text(kind), .. }) => kind.as_str(),
            _ => return, // Said where the component is read.
        };
        if component_fields(kind).is_some_and(|fields| !fields.iter().any(|field| field.name == "ports")) {
            let text = format!("found `{name}`, a {kind}, expected a component with an array of ports");
            self.refuse(role, text);
            return;
        }
        self.set("component", name, "count", Value::Number(count.to_string()));
        self.set("component", name, "ports", Value::Number(ports.to_string()));
    }

    /// Makes a component an array of bridges with so many ports to accelerators each.
    fn bridges(&mut self, role: &str, name: &str, count: usize, ports: usize) {
        let Some(table) = self.named(role, "component", name) else { return };
        if let Some(DocumentItem { value: Value::Text(kind), .. }) = table.get("kind")
            && component_fields(kind).is_some_and(|fields| !fields.iter().any(|field| field.name == "x_ports"))
        {
            let text = format!("found `{name}`, a {kind}, expected a bridge, which has ports to accelerators");
            return self.refuse(role, text);
        }
        self.set("component", name, "count", Value::Number(count.to_string()));
        self.set("component", name, "x_ports", Value::Number(ports.to_string()));
    }

    /// Two ports, as a link joins them.
    fn pair(&self, ports: [String; 2]) -> Value {
        let place = self.place;
        Value::List(ports.map(|port| DocumentItem { place, value: Value::Text(port) }).to_vec())
    }

    /// Says which ports the link joins that a field of the generator names.
    fn join(&mut self, role: &str, link: &str, between: Value) {
        if self.named(role, "link", link).is_some() {
            self.set("link", link, "between", between);
        }
    }
}

fn pod(own: &mut Generating<'_>) {
    let Pod { nodes, switches, link, node_count, switch_count, bridges, bridge_count } = own.read();
    own.array("nodes", &nodes, node_count, switch_count);
    let bridge_count = bridges.as_ref().map_or(0, |_| bridge_count);
    own.array("switches", &switches, switch_count, node_count + bridge_count);
    let Some(bridges) = bridges else {
        let between = own.pair([format!("{nodes}[i].port[k]"), format!("{switches}[k].port[i]")]);
        return own.join("link", &link, between);
    };
    own.bridges("bridges", &bridges, bridge_count, switch_count);
    let of_nodes = (0..node_count).map(|n| (n, format!("{nodes}[{n}].port")));
    let of_bridges = (0..bridge_count).map(|n| (node_count + n, format!("{bridges}[{n}].x")));
    let place = own.place;
    let pairs =
        of_nodes.chain(of_bridges).flat_map(|(n, port)| (0..switch_count).map(move |k| (n, format!("{port}[{k}]"), k)));
    let pairs =
        pairs.map(|(n, port, k)| DocumentItem { place, value: own.pair([port, format!("{switches}[{k}].port[{n}]")]) });
    let between = Value::List(pairs.collect());
    own.join("link", &link, between);
}
