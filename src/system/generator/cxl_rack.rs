//! `cxl.rack`: hosts and memories at leaf switches with port based routing, and spine switches above all leaves.
//!
//! Modelled: two levels of switches. Leaves towards hosts and leaves towards memories are components of their own, since they
//! differ in their ports; every leaf has an inter-switch link to every spine. Host n is at leaf n divided by the hosts of a
//! leaf, memories alike. Left out: several links between two switches.

use super::{Generating, GeneratorKind};
use crate::document::{DocumentItem, Value};
use crate::field::{Config, FieldRange, config};
use crate::quantity::Unit;
use scalepool_fabric::cxl_switch::pbr::pid::{PidCounts, PidPlan};

/// The kind.
pub(super) const KIND: GeneratorKind = GeneratorKind {
    name: "cxl.rack",
    about: "hosts and memories at leaf switches with port based routing, each leaf joined to every spine switch",
    fields: Rack::fields,
    generate,
};

config! {
    /// Hosts and memories at leaves, and spines above them.
    pub struct Rack {
        hosts: String = "" [Unit::Of("-")] in FieldRange::Text("the name of a component"), "component that is a host; the generator sets its count";
        host_leaves: String = "" [Unit::Of("-")] in FieldRange::Text("the name of a component"), "switch at hosts; the generator sets its count and its ports";
        spines: String = "" [Unit::Of("-")] in FieldRange::Text("the name of a component"), "switch above leaves; the generator sets its count and its ports";
        memory_leaves: String = "" [Unit::Of("-")] in FieldRange::Text("the name of a component"), "switch at memories; the generator sets its count and its ports";
        memories: String = "" [Unit::Of("-")] in FieldRange::Text("the name of a component"), "component that is a memory; the generator sets its count";
        host_link: String = "" [Unit::Of("-")] in FieldRange::Text("the name of a link"), "link between a host and its leaf; the generator sets what it joins";
        memory_link: String = "" [Unit::Of("-")] in FieldRange::Text("the name of a link"), "link between a leaf and a memory; the generator sets what it joins";
        host_trunk: String = "" [Unit::Of("-")] in FieldRange::Text("the name of a link"), "link between a leaf of hosts and a spine; the generator sets what it joins";
        memory_trunk: String = "" [Unit::Of("-")] in FieldRange::Text("the name of a link"), "link between a spine and a leaf of memories; the generator sets what it joins";
        leaf_count: usize = "8" [Unit::Of("switches")] in FieldRange::Int(1, 32), "leaves towards hosts, and as many towards memories";
        spine_count: usize = "4" [Unit::Of("switches")] in FieldRange::Int(1, 16), "spines";
        per_leaf: usize = "8" [Unit::Of("ports")] in FieldRange::Int(1, 64), "hosts at a leaf of hosts, and memories at a leaf of memories";
    }
}

fn generate(own: &mut Generating<'_>) {
    let rack: Rack = own.read();
    let number = |n: usize| Value::Number(n.to_string());
    let count = rack.leaf_count * rack.per_leaf;
    // Every host has a device, so there are as many bindings at least. Refused here, a rack that is too large takes no memory.
    let switches = 2 * rack.leaf_count + rack.spine_count;
    if let Err(error) = PidPlan::new(PidCounts { switches, hosts: count, bindings: count, devices: count }) {
        return own.refuse("per_leaf", error.to_string());
    }
    own.set_of("hosts", &rack.hosts, &[("count", number(count))]);
    own.set_of("memories", &rack.memories, &[("count", number(count))]);
    let leaf = |edge| {
        [("count", number(rack.leaf_count)), (edge, number(rack.per_leaf)), ("fabric", number(rack.spine_count))]
    };
    own.set_of("host_leaves", &rack.host_leaves, &leaf("hosts"));
    own.set_of("memory_leaves", &rack.memory_leaves, &leaf("ports"));
    let of_spine = [("count", number(rack.spine_count)), ("fabric", number(2 * rack.leaf_count))];
    own.set_of("spines", &rack.spines, &of_spine);
    let place = own.place;
    let at_leaf = |own: &Generating<'_>, leaves: &str, edge: &str, ends: &str| {
        let pairs = (0..count).map(|n| {
            let (leaf, port) = (n / rack.per_leaf, n % rack.per_leaf);
            let ports = [format!("{leaves}[{leaf}].{edge}[{port}]"), format!("{ends}[{n}].cxl")];
            DocumentItem { place, value: own.pair(ports) }
        });
        Value::List(pairs.collect())
    };
    let pairs = at_leaf(own, &rack.host_leaves, "usp", &rack.hosts);
    own.join(&rack.host_link, pairs);
    let pairs = at_leaf(own, &rack.memory_leaves, "dsp", &rack.memories);
    own.join(&rack.memory_link, pairs);
    let trunk = |own: &Generating<'_>, leaves: &str, first: usize| {
        let ways = (0..rack.leaf_count).flat_map(|leaf| (0..rack.spine_count).map(move |spine| (leaf, spine)));
        let pairs = ways.map(|(leaf, spine)| {
            let ports =
                [format!("{leaves}[{leaf}].isl[{spine}]"), format!("{}[{spine}].isl[{}]", rack.spines, first + leaf)];
            DocumentItem { place, value: own.pair(ports) }
        });
        Value::List(pairs.collect())
    };
    let pairs = trunk(own, &rack.host_leaves, 0);
    own.join(&rack.host_trunk, pairs);
    let pairs = trunk(own, &rack.memory_leaves, rack.leaf_count);
    own.join(&rack.memory_trunk, pairs);
}
