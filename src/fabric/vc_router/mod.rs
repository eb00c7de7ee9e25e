//! A textbook virtual-channel router: input-queued, with one buffer per virtual channel.
//!
//! Modelled: four stages of one cycle each (route computation, virtual channel allocation, switch allocation, switch
//! traversal); credits; wormhole switching, so a packet keeps its output virtual channel until its last flit has left.
//! Packets that cut through, or that a router takes in as a whole first (store-and-forward).
//! Detail: each flit in each stage. Left out: speculation, a switch that is faster than its ports, priorities.
//!
//! | file | content |
//! | --- | --- |
//! | [`flit`] | flits, and the content of a channel in one cycle |
//! | [`allocation`] | the allocators of [`scalepool_arbiter`] by name, for at most 64 inputs and outputs |
//! | [`route_table`] | the routes from one router to all nodes |
//! | [`router`] | the kernel module |
//!
//! A walk through one flit: in cycle t the flit is in the buffer of its virtual channel. If it is a head flit, its route
//! is computed in t, it gets an output virtual channel in t + 1, is granted the switch in t + 2 and crosses the switch in
//! t + 3. A channel of one cycle brings the flit to the next router in t + 5. The buffer slot is free from the grant on,
//! and its credit arrives upstream two cycles later. The next packet in the buffer starts in the cycle after the grant of
//! the tail flit, so one virtual channel passes a single-flit packet every three cycles.
//!
//! # Invariants
//!
//! No flit is lost, and the flits of a packet keep their order. A flit leaves only if the downstream buffer has room for
//! it. A virtual channel carries one packet at a time. At rest all buffers are empty and all credits have been returned.
//! Sources: `fabric` §6.1, §6.4, §6.5; the stages and their times are our own choice (`fabric` §7 row 8), following
//! published simulators.

pub mod allocation;
pub mod flit;
pub mod route_table;
pub mod router;

pub use allocation::RouterAllocator;
pub use flit::{ChannelBeat, VcFlit, VcPort, VcPortEnds};
pub use route_table::RouteTable;
pub use router::{VcRouter, VcRouterConfig, VcRouterResult};

/// Maximum number of virtual channels of all ports of a router together, because the request lines form one 64-bit
/// word.
pub const MOST_LINES: usize = 64;
