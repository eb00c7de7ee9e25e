//! A router with virtual channels, as textbooks have it: input-queued, with a buffer for each virtual channel.
//!
//! Modelled: four stages of a cycle each: route computation, allocation of a virtual channel, allocation of the switch, switch traversal;
//! credits; wormhole switching, so a packet keeps its output virtual channel until its last flit has left. Detail: each
//! flit in each stage. Left out: speculation, a switch that is faster than its ports, priorities.
//!
//! | file | what |
//! | --- | --- |
//! | [`flit`] | flits, and what travels on a channel in a cycle |
//! | [`allocation`] | the allocators of [`scalepool_arbiter`] by name, for at most 64 inputs and outputs |
//! | [`route_table`] | the ways from one router to all nodes |
//! | [`router`] | the module |
//!
//! A walk through one flit: at cycle t it is in the buffer of its virtual channel; a head finds its way in t, gets an output
//! virtual channel in t + 1, is granted the switch in t + 2 and crosses it in t + 3; a channel of one cycle brings it to the next
//! router in t + 5. The buffer's place is free from the grant on, and its credit is back two cycles later. The next packet in
//! the buffer begins in the cycle behind the grant of a tail, so one virtual channel passes a packet of one flit every three
//! cycles.
//!
//! # Invariants
//!
//! Nothing is lost, and flits of a packet keep their order; a flit leaves only when the buffer at the other end has room for it; a
//! virtual channel carries one packet at a time. At rest all buffers are empty and all credits are home. Sources:
//! `fabric` §6.1, §6.4, §6.5; stages and their times are our own choice (`fabric` §7 row 8), those of published simulators.

pub mod allocation;
pub mod flit;
pub mod route_table;
pub mod router;

pub use allocation::RouterAllocator;
pub use flit::{ChannelBeat, VcFlit, VcPort, VcPortEnds};
pub use route_table::RouteTable;
pub use router::{VcRouter, VcRouterConfig, VcRouterResult};

/// Most virtual channels of all ports of a router together: a word of request lines.
pub const MOST_LINES: usize = 64;
