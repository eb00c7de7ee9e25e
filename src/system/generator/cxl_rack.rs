//! `cxl.rack`: hosts and memories at leaf switches with port based routing, and spine switches above all leaves.
//!
//! Modelled: two levels of switches. Leaves towards hosts and leaves towards memories are components of their own, since they
//! differ in their ports; every leaf has an inter-switch link to every spine. Host n is at leaf n divided by the hosts of a
//! leaf, memories alike. Where windows are asked for, each memory or logical device has one in a segment of its own
//! (`fabric` EDG-1). Left out: several links between two switches.

use super::segment_windows::{logical_devices, windows};
use super::{Generating, GeneratorKind};
use crate::document::{DocumentItem, Value};
use crate::field::{Config, FieldRange, config};
use crate::quantity::Unit;
use scalepool_fabric::cxl_switch::pbr::pid::{PidCounts, PidPlan};
use scalepool_fabric::cxl_switch::pbr::segments::SEGMENT_BYTES;
use scalepool_memory::decoder::WINDOW_STEP_BYTES;

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
        leaf_count: usize = "8" [Unit::Of("switches")] in FieldRange::Int(1, 32), "leaves towards hosts";
        memory_leaf_count: Option<usize> = "" [Unit::Of("switches")] in FieldRange::Int(1, 32), "leaves towards memories; not given = as many as towards hosts";
        spine_count: usize = "4" [Unit::Of("switches")] in FieldRange::Int(1, 16), "spines";
        per_leaf: usize = "8" [Unit::Of("ports")] in FieldRange::Int(1, 64), "hosts at a leaf of hosts";
        memories_per_leaf: Option<usize> = "" [Unit::Of("ports")] in FieldRange::Int(1, 64), "memories at a leaf of memories; not given = as many as hosts at a leaf of hosts";
        window: Option<u64> = "" [Unit::Bytes] in FieldRange::Int(WINDOW_STEP_BYTES, SEGMENT_BYTES << 7), "window of each memory or logical device in the memory map, each at the next multiple of 64 GiB; not given = the generator makes none";
    }
}

/// How many leaves there are, and what is at each.
#[derive(Clone, Copy)]
struct LeafSwitches {
    count: usize,
    each: usize,
}

fn generate(own: &mut Generating<'_>) {
    let rack: Rack = own.read();
    let number = |n: usize| Value::Number(n.to_string());
    let of_hosts = LeafSwitches { count: rack.leaf_count, each: rack.per_leaf };
    let of_memories = LeafSwitches {
        count: rack.memory_leaf_count.unwrap_or(rack.leaf_count),
        each: rack.memories_per_leaf.unwrap_or(rack.per_leaf),
    };
    let [hosts, memories] = [of_hosts, of_memories].map(|leaves| leaves.count * leaves.each);
    // Refused here, a rack that is too large takes no memory; bindings may need PIDs too.
    let switches = of_hosts.count + of_memories.count + rack.spine_count;
    let logical = own.named("memories", "component", &rack.memories).and_then(|table| logical_devices(&table));
    let has_segments = own.named("host_leaves", "component", &rack.host_leaves).is_some_and(|table| {
        table.get("decode").is_some_and(|item| matches!(&item.value, Value::Text(text) if text == "ldst"))
    });
    let bindings = if has_segments { 0 } else { memories * logical.unwrap_or(1) };
    if let Err(error) = PidPlan::new(PidCounts { switches, hosts, bindings, devices: memories }) {
        return own.refuse("per_leaf", error.to_string());
    }
    own.set_of("hosts", &rack.hosts, &[("count", number(hosts))]);
    own.set_of("memories", &rack.memories, &[("count", number(memories))]);
    let leaf = |edge, LeafSwitches { count, each }| {
        [("count", number(count)), (edge, number(each)), ("fabric", number(rack.spine_count))]
    };
    own.set_of("host_leaves", &rack.host_leaves, &leaf("hosts", of_hosts));
    own.set_of("memory_leaves", &rack.memory_leaves, &leaf("ports", of_memories));
    let of_spine = [("count", number(rack.spine_count)), ("fabric", number(of_hosts.count + of_memories.count))];
    own.set_of("spines", &rack.spines, &of_spine);
    let place = own.place;
    let at_leaf = |own: &Generating<'_>, (leaves, edge): (&str, &str), ends: &str, LeafSwitches { count, each }| {
        let pairs = (0..count * each).map(|n| {
            let ports = [format!("{leaves}[{}].{edge}[{}]", n / each, n % each), format!("{ends}[{n}].cxl")];
            DocumentItem { place, value: own.pair(ports) }
        });
        Value::List(pairs.collect())
    };
    let pairs = at_leaf(own, (&rack.host_leaves, "usp"), &rack.hosts, of_hosts);
    own.join("host_link", &rack.host_link, pairs);
    let pairs = at_leaf(own, (&rack.memory_leaves, "dsp"), &rack.memories, of_memories);
    own.join("memory_link", &rack.memory_link, pairs);
    let trunk = |own: &Generating<'_>, leaves: &str, first: usize, count: usize| {
        let ways = (0..count).flat_map(|leaf| (0..rack.spine_count).map(move |spine| (leaf, spine)));
        let pairs = ways.map(|(leaf, spine)| {
            let ports =
                [format!("{leaves}[{leaf}].isl[{spine}]"), format!("{}[{spine}].isl[{}]", rack.spines, first + leaf)];
            DocumentItem { place, value: own.pair(ports) }
        });
        Value::List(pairs.collect())
    };
    let pairs = trunk(own, &rack.host_leaves, 0, of_hosts.count);
    own.join("host_trunk", &rack.host_trunk, pairs);
    let pairs = trunk(own, &rack.memory_leaves, of_hosts.count, of_memories.count);
    own.join("memory_trunk", &rack.memory_trunk, pairs);
    if let Some(bytes) = rack.window {
        windows(own, &rack.memories, memories, logical, bytes);
    }
}
