//! The NVLink switch, model profile NVL-M1 (`nvlink` §5). Basis: model, no product.
//!
//! Modelled: a crossbar with a queue at each input for each output and channel, an allocator that pairs inputs with outputs,
//! requests routed by remapped address and responses by requester, multicast writes to replica sets, reads that the switch
//! reduces.
//! Detail: a packet is stored whole, crosses in as many flit clocks as it has flits, and leaves a hop latency after it came.
//! Left out: internal tiles and their speed-up, ECC, the manager that fills the tables.
//!
//! | file | what |
//! | --- | --- |
//! | [`preset`] | ports of each generation |
//! | [`routing`] | remap table, ports of endpoints, multicast groups |
//! | [`reduction`] | sums in a stated order |
//! | [`crossbar`] | the module |
//!
//! # Invariants
//!
//! What comes in goes out, is copied, reduced, or dropped and counted; messages of one input, output and channel keep their
//! order; a channel without room holds up no other; in particular responses always sink.

pub mod crossbar;
pub mod preset;
pub mod reduction;
pub mod routing;

pub use crossbar::{Crossbar, CrossbarConfig, CrossbarPortEnds, NvlSwitchResult};
pub use preset::{PRESETS, SwitchPreset};
pub use routing::{Groups, NvlRoutes, NvlTarget, RemapEntry, RemapTable, RoutingError};
