//! Components that keep lines coherent: homes of lines, agents that hold them with their cores, switches between.
//!
//! Modelled: the agents of [`scalepool_coherence`], each a module with channels to its link ends. Left out: their tables, and
//! what a cache of a host does inside. The kinds come in pairs, the two sides of one protocol:
//!
//! * CXL.cache: [`cxl.home`](home) and [`cxl.cache-device`, `cxl.cache-peer`](cache_device).
//! * HDM-DB: [`cxl.hdm-db-device`](hdm_db_device) and [`cxl.hdm-db-host`, `cxl.hdm-db-peer`](hdm_db_host).
//! * HDM-D: [`cxl.hdm-d-device` and `cxl.hdm-d-host`](hdm_d).
//! * Between them: [`cxl.fabric-switch`](switch), or `cxl.switch.hbr`.
//!
//! A walk through one store: the core of a device misses and its cache sends RdOwn; the link packs it into a flit; the
//! home takes it out of its buffer, snoops the other holders over their links and waits; their answers bring the line home; GO-E
//! and data travel to the device, which stores. Behind each of these steps the watcher of the home checks the line.

pub(in crate::kinds) mod agent;
pub mod cache_device;
pub mod core;
pub(in crate::kinds) mod figures;
pub mod hdm_d;
pub mod hdm_db_device;
pub mod hdm_db_host;
pub mod home;
pub mod switch;

use crate::channels::{ChannelWait, Reach};
use crate::kind::{PortDecl, PortRole, SitePort};
use crate::kinds::cxl_links;
use scalepool_coherence::clocked::waiting::WaitTable;
use scalepool_coherence::message::Class;
use scalepool_protocols::cxl::message::MessageForm;
use scalepool_trace::PlaceKind;

/// The port of the memory of a home, where `memory` says that it is behind one.
fn memory_port(memory: &str) -> Option<PortDecl> {
    let port = PortDecl { name: "memory", len: None, links: cxl_links::NAMES, role: PortRole::HomeMemory };
    (memory == "port").then_some(port)
}

/// How the messages of an agent appear in traces: at each of its ports as its link spells them.
fn shown(ports: &[SitePort]) -> PlaceKind {
    PlaceKind::Messages(MessageForm::layouts_of(ports.iter().map(|port| port.link.cxl().0)))
}

/// What an agent with a wait table leaves where it came, at ports that its agent has.
pub(in crate::kinds) fn coherent_waits(table: &WaitTable, reach: &Reach) -> Vec<ChannelWait> {
    let wait = |(incoming, outgoing): (Class, Class)| ChannelWait {
        incoming: incoming.name(),
        outgoing: outgoing.name(),
        reach: reach.clone(),
        queue: None,
        why: "goes by its wait table (coherence §3.6)",
    };
    table.all().map(wait).collect()
}
