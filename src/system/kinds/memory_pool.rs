//! `memory.pool`: ranges of addresses in front of several memories, some of them mirrored, whose memories come and go in traffic, see
//! [`scalepool_nodes::cxl::pool`].
//!
//! Modelled: ports of CXL.mem for bridges, hosts and switches, and a port to each memory. Left out: rights of ports. A walk through one
//! description: each range names its memories, one or several that hold the same; the size of the pool is the end of its last range;
//! commands say when a memory leaves or comes, and one whose first command is an insertion is not there before.

use crate::channels::{ChannelWait, Reach};
use crate::field::{Config, FieldRange, config};
use crate::kind::{
    Component, ComponentKind, ComponentNode, ComponentPlug, ConfigFinding, DomainMember, NodeError, Offer, PortDecl,
    PortRole, Site, SitePort, component,
};
use crate::kinds::cxl_links;
use crate::kinds::memory_device::arbiter;
use crate::measured::ComponentMeasured;
use crate::metric::metrics;
use crate::problem::TextPlace;
use crate::quantity::Unit;
use scalepool_arbiter::ARBITER_NAMES;
use scalepool_kernel::{Clock, Time};
use scalepool_nodes::cxl::memory::{MemoryRoute, shown_form};
use scalepool_nodes::cxl::pool::agent::{PoolCommand, RemovalOption};
use scalepool_nodes::cxl::pool::ranges::{MOST_MEMORIES, MemorySet, PoolRange};
use scalepool_nodes::cxl::pool::{
    MOST_ENTRIES, MemoryPool, PoolConfig, PoolMemoryPort, PoolPort, PoolResult, check_ranges,
};
use scalepool_nodes::cxl::transaction_layouts;
use scalepool_ordered::sort_by_key;
use scalepool_protocols::cxl::message::Class;
use scalepool_trace::{Hub, PlaceKind};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

/// The kind.
pub const KIND: ComponentKind = ComponentKind {
    name: "memory.pool",
    about: "ranges of addresses in front of several memories (HDM-H), in one of them or mirrored, whose memories come and go; ports `cxl` for requesters, `memory` for memories",
    fields: MemoryPoolFields::fields,
    read: component::<MemoryPoolFields>,
    external: &["flits", "messages"],
    metrics: &[METRICS],
};

metrics! {
    /// What a pool counts.
    static METRICS {
        REQUESTS = "pool requests" ["requests"] Sum, "requests that were taken, hints left out";
        MIRRORED = "mirrored writes" ["requests"] Sum, "writes that went to more than one copy (MEM-MIR-01)";
        FURTHER = "reads of another copy" ["requests"] Sum, "reads that were asked of a further copy, since the first one was lost or answered with poison (MEM-MIR-03, 04)";
        COPIES_LOST = "copies lost" ["copies"] Sum, "copies of mirrored ranges that are out (MEM-MIR-05)";
        UNMAPPED = "pool unmapped" ["requests"] Sum, "requests that were answered as unmapped: no memory has their bytes (MEM-RMV-02)";
        LATE = "late answers" ["answers"] Sum, "answers of memories that were lost, which came when nobody waited for them";
        REMOVED = "memories removed" ["commands"] Sum, "memories that have left";
        INSERTED = "memories inserted" ["commands"] Sum, "memories that have come";
        REFUSED = "pool commands refused" ["commands"] Sum, "commands that could not be done and changed nothing (MEM-RMV-04)";
    }
}

/// What is named in `memories`.
const MEMORIES: &str = "memories by number, 1 to 64 of them, each once";

config! {
    /// A range of addresses.
    pub struct PoolRangeFields {
        base: u64 = "0" [Unit::Bytes] in FieldRange::Int(0, (1 << 52) - 64), "first address in the pool, a multiple of 64 bytes";
        size: u64 = "1 MiB" [Unit::Bytes] in FieldRange::Int(64, 1 << 52), "bytes, a multiple of 64";
        to: u64 = "0" [Unit::Bytes] in FieldRange::Int(0, (1 << 52) - 64), "address of its first byte in each of its memories, a multiple of 64 bytes";
        memories: Vec<(String, TextPlace)> = "" [Unit::Of("-")] in FieldRange::Texts(MEMORIES), "memories that hold it: with several, each holds all of it, writes go to all and reads to the one of the lowest number that is there (MEM-MIR-01, 03); left out, memory 0";
    }
}

config! {
    /// What happens to a memory.
    pub struct PoolCommandFields {
        at: u64 = "0" [Unit::Time] in FieldRange::Int(0, 1 << 50), "when it is given";
        command: String = "remove" [Unit::Of("-")] in FieldRange::Words(&["remove", "insert", "link-down"]), "remove: the memory is taken out; insert: it is plugged in, and comes behind the last answer to an earlier request; link-down: its link is lost, which is a removal by surprise. A mirrored range does not use a memory again that has left: it is not filled again (MEM-MIR-05, our choice)";
        memory: usize = "0" [Unit::Of("-")] in FieldRange::Int(0, MOST_MEMORIES as u64 - 1), "which one, by its port";
        option: String = "managed" [Unit::Of("-")] in FieldRange::Words(&["managed", "surprise"]), "how it is removed: managed waits for open requests, surprise does not (as fabric BND-4, BND-6)";
    }
}

config! {
    /// A pool. Numbers without another source are of the model (basis: model).
    pub struct MemoryPoolFields {
        ports: usize = "1" [Unit::Of("ports")] in FieldRange::Int(1, 64), "CXL ports of requesters; all reach all bytes";
        memories: usize = "2" [Unit::Of("ports")] in FieldRange::Int(1, MOST_MEMORIES as u64), "ports to memories, each to one";
        arbiter: Option<String> = "" [Unit::Of("-")] in FieldRange::Words(ARBITER_NAMES), "whose request is taken, one a cycle (fabric §6.2); not given = round-robin";
        entries: usize = "512" [Unit::Of("requests")] in FieldRange::Int(1, MOST_ENTRIES as u64), "requests of all ports that can be open";
        latency_cycles: u64 = "20" [Unit::Of("pool cycles")] in FieldRange::Int(1, 1 << 30), "time of a request to its memories, and of their answers back, each";
        ranges: Vec<(PoolRangeFields, TextPlace)> = "" [Unit::Of("-")] in FieldRange::Tables(PoolRangeFields::fields), "which bytes lie in which memories; addresses in none of them have no memory";
        commands: Vec<(PoolCommandFields, TextPlace)> = "" [Unit::Of("-")] in FieldRange::Tables(PoolCommandFields::fields), "memories that come and go while the system runs; one whose first command is insert is not there before. A command that cannot be done changes nothing, and is a finding of the run (MEM-RMV-04)";
    }
}

impl PoolRangeFields {
    /// The range, of a pool with so many memories.
    fn range(&self, memories: usize) -> Result<PoolRange, String> {
        let mut set = MemorySet::default();
        for (text, _) in &self.memories {
            let wrong = || format!("found memory `{text}`, expected the number of a port below {memories}, once");
            let memory =
                text.parse().ok().filter(|memory| *memory < memories && !set.has(*memory)).ok_or_else(wrong)?;
            set.insert(memory);
        }
        let set = if self.memories.is_empty() { MemorySet::one(0) } else { set };
        Ok(PoolRange { base: self.base, size: self.size, to: self.to, memories: set })
    }
}

impl PoolCommandFields {
    fn command(&self) -> PoolCommand {
        match (self.command.as_str(), self.option.as_str()) {
            ("insert", _) => PoolCommand::Insert(self.memory),
            ("remove", "managed") => PoolCommand::Remove(self.memory, RemovalOption::Managed),
            _ => PoolCommand::Remove(self.memory, RemovalOption::Surprise),
        }
    }
}

impl MemoryPoolFields {
    fn ranges(&self) -> Result<Vec<PoolRange>, ConfigFinding> {
        let read = |(range, _): &(PoolRangeFields, TextPlace)| range.range(self.memories);
        self.ranges.iter().map(read).collect::<Result<_, _>>().map_err(|text| ("ranges", text))
    }

    /// Bytes up to the end of the last range.
    fn bytes(&self) -> u64 {
        self.ranges.iter().map(|(range, _)| range.base.saturating_add(range.size)).max().unwrap_or(0)
    }

    /// Commands in the order of their times.
    fn timed(&self, clock: Clock) -> VecDeque<(u64, PoolCommand)> {
        let timed = |(given, _): &(PoolCommandFields, TextPlace)| {
            (clock.first_at_or_after(Time::from_fs(given.at)), given.command())
        };
        let mut commands: Vec<_> = self.commands.iter().map(timed).collect();
        sort_by_key(&mut commands, |(due, _)| *due);
        commands.into()
    }

    /// Memories that come before they have left.
    fn absent(&self, clock: Clock) -> MemorySet {
        let commands = self.timed(clock);
        let first = |memory: usize| {
            commands.iter().find_map(|(_, command)| match command {
                PoolCommand::Insert(other) if *other == memory => Some(true),
                PoolCommand::Remove(other, _) if *other == memory => Some(false),
                _ => None,
            })
        };
        (0..self.memories).filter(|memory| first(*memory) == Some(true)).collect()
    }
}

impl Component for MemoryPoolFields {
    fn ports(&self) -> Vec<PortDecl> {
        let port = |name, len, role| PortDecl { name, len: Some(len), links: cxl_links::NAMES, role };
        vec![port("cxl", self.ports, PortRole::Device), port("memory", self.memories, PortRole::Requester)]
    }

    fn offer(&self) -> Offer {
        Offer { memory_bytes: Some(self.bytes()), ..Offer::default() }
    }

    fn check(&self) -> Vec<ConfigFinding> {
        let mut found = Vec::new();
        match self.ranges() {
            Err(wrong) => found.push(wrong),
            Ok(ranges) if ranges.is_empty() => {
                found.push(("ranges", "found none, expected at least one: a pool has no other bytes".to_owned()));
            }
            Ok(_) => (),
        }
        if let Some((command, _)) = self.commands.iter().find(|(command, _)| command.memory >= self.memories) {
            let text = format!("found memory {}, expected one of {} memories", command.memory, self.memories);
            found.push(("commands", text));
        }
        let is_optioned = |command: &PoolCommandFields| command.command != "remove" && command.option != "managed";
        if let Some((command, _)) = self.commands.iter().find(|(command, _)| is_optioned(command)) {
            let text = format!("found option `{}` of {}, expected it at remove alone", command.option, command.command);
            found.push(("commands", text));
        }
        found
    }

    fn check_joined(&self, _: Clock, _: DomainMember, ports: &[SitePort]) -> Vec<ConfigFinding> {
        let bytes: Vec<_> = ports[self.ports..].iter().map(|port| port.peer.memory_bytes).collect();
        let wrong = self.ranges().ok().and_then(|ranges| check_ranges(&ranges, &bytes).err());
        let wrong = wrong.map(|(n, text)| format!("range {n}: {text}"));
        // Who is no bridge knows what memory holds at first by the addresses at which it asks.
        let moved = self.ranges.iter().find(|(range, _)| range.base != range.to);
        let host = ports[..self.ports].iter().find(|port| port.peer_role != PortRole::Requester);
        let seen = moved.zip(host).map(|((range, _), port)| {
            format!(
                "found a range from {:#x} to {:#x} and a host at {}, expected the same address on both sides: a host judges bytes by its addresses",
                range.base, range.to, port.path
            )
        });
        wrong.into_iter().chain(seen).map(|text| ("ranges", text)).collect()
    }

    fn own_wait_fs(&self, clock: Clock) -> u64 {
        clock.periods_fs(self.latency_cycles)
    }

    fn waits(&self) -> Option<Vec<ChannelWait>> {
        // A place for the answers of memories is set aside with each request. One that waits for a place, or for its line, waits for what
        // is in front of it, which may be of either class.
        let ways: Vec<_> = (0..self.ports)
            .flat_map(|port| (0..self.memories).map(move |memory| (port, self.ports + memory)))
            .collect();
        let asks = |(incoming, outgoing): (Class, Class)| ChannelWait {
            incoming: incoming.name(),
            outgoing: outgoing.name(),
            reach: Reach::Ways(ways.iter().copied().collect()),
            queue: Some("table of requests"),
            why: "asks memories for what it is asked for",
        };
        use Class::{M2sReq, M2sRwd};
        let asked = [(M2sReq, M2sReq), (M2sReq, M2sRwd), (M2sRwd, M2sReq), (M2sRwd, M2sRwd)].map(asks);
        Some(cxl_links::answered_memory().into_iter().chain(asked).collect())
    }

    fn elaborate(self: Box<Self>, site: &Site<'_>, hub: &mut Hub) -> Result<ComponentNode, NodeError> {
        let joined = |text| NodeError::Joined { path: site.path.to_owned(), text };
        let ranges = self.ranges().map_err(|(_, text)| joined(text))?;
        let (ports, memories) = site.ports.split_at(self.ports);
        let name = format!("{}.pool", site.path);
        let shown = shown_form(site.ports.iter().map(|port| port.link.cxl().0));
        let tap = hub.tap(&name, PlaceKind::Messages(transaction_layouts(shown)));
        let port = |port: &SitePort| {
            let (form, ids) = port.link.cxl();
            let id = site.requesters.as_ref().map_or(ids[1], |requesters| requesters.own);
            let is_direct = matches!(port.peer_role, PortRole::HomeMemory | PortRole::Requester);
            let decoders = if is_direct { None } else { site.map.decoders(0) };
            PoolPort { route: MemoryRoute { id, form }, link: port.number, decoders }
        };
        let memory = |port: &SitePort| {
            let (form, ids) = port.link.cxl();
            PoolMemoryPort { form, ids, link: port.number }
        };
        let config = PoolConfig {
            place: name.clone(),
            ranges,
            ports: ports.iter().map(port).collect(),
            memories: memories.iter().map(memory).collect(),
            absent: self.absent(site.clock),
            entries: self.entries,
            latency_cycles: self.latency_cycles,
            commands: self.timed(site.clock),
            arbiter: arbiter(self.arbiter.as_deref(), self.ports, site)?,
            shown,
            dropped: site.dropped_stores(),
        };
        let result = Arc::<Mutex<PoolResult>>::default();
        let left = result.clone();
        Ok(ComponentNode {
            place: Box::new(move |p, clock, plugs| {
                p.module(&name, clock, |bind| {
                    let (mut up, mut down) = (Vec::new(), Vec::new());
                    for plug in plugs {
                        match plug {
                            ComponentPlug::Cxl(tx, rx) => up.push((bind.attach(rx), bind.attach(tx))),
                            other => down.push(other.coherent().attach_classes(bind)),
                        }
                    }
                    MemoryPool::new(config, up, down, tap, result)
                })
            }),
            measure: Box::new(move || measured(&super::published(&left))),
            digest: Vec::new(),
            ledger: None,
        })
    }
}

fn measured(result: &PoolResult) -> ComponentMeasured {
    let counts = result.counts;
    ComponentMeasured {
        counts: vec![
            (&REQUESTS, counts.requests),
            (&MIRRORED, counts.mirrored_writes),
            (&FURTHER, counts.further_reads),
            (&COPIES_LOST, counts.copies_lost),
            (&UNMAPPED, counts.unmapped),
            (&LATE, counts.late),
            (&REMOVED, counts.removed),
            (&INSERTED, counts.inserted),
            (&REFUSED, counts.refused),
        ],
        broken: result.broken.clone(),
        ..ComponentMeasured::default()
    }
}
