//! The bridge SoC: through it, accelerators on UALink and GPUs on NVLink access memory on CXL, and hosts and other bridges access
//! the memory of these accelerators and GPUs (profile BRG-M1, `bridge`).
//!
//! Modelled, from accelerators to CXL, by the class of the address window:
//!
//! * MN: CXL.mem, for lines that have no owner. MC: CXL.mem, for lines that the device keeps coherent.
//! * CC: CXL.cache, for lines that a host keeps coherent.
//! * IO: CXL.io ([`io`]), which bypasses the conversion cache.
//! * HP: the memory of class DB below, which accelerators then access through the bridge that keeps it coherent ([`hairpin`]).
//!
//! Modelled, from CXL to accelerators:
//!
//! * NH: CXL.mem, for memory that hosts alone keep coherent. DB: CXL.mem, for memory that the bridge keeps coherent.
//! * BR: CXL.io.
//!
//! The conversion cache holds lines, conversions or both, or is absent. Both directions have windows, access rights, the split of a
//! request into lines, byte masks, line locks, merged responses, status and poison, ordering, FLUSH, identifiers, time-outs, and the
//! load that targets report. Detail: whole transactions; the pipeline is a set of named latencies, and the cache lies in a memory
//! with its own access time. Left out: CXL.cache to accelerators, and a change of inbound windows while the bridge runs. The
//! baselines without coherence are in [`remote`].
//!
//! [`OutboundBridge`](outbound::OutboundBridge) and [`InboundBridge`](inbound::InboundBridge) are pure: they take requests and
//! messages and return messages and responses, without cycle numbers. [`Bridge`](module::Bridge) and
//! [`InboundModule`](inbound::module::InboundModule) give them a clock. The conversions are tables: [`commands`], [`flows`],
//! [`nvlink`](outbound::nvlink), [`convert`](inbound::convert).
//!
//! A walk through one read of 128 bytes: the request takes an entry of the table of outbound transactions. Its address hits a window
//! in which its source may read, and the request is split into two lines. One MemRd leaves for each line. When both answers have
//! arrived, one read response with two beats goes back, and the entry is free. With a [`cache`], a second read of the same bytes
//! finds both lines there and sends nothing. If the memory belongs to GPUs behind another bridge, each MemRd takes an entry of that
//! bridge's table of inbound transactions, becomes a READ of 64 bytes, and is answered when the GPU has answered.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub use scalepool_nodes::ualink::atomics;
pub mod cache;
pub mod cache_memory;
pub mod commands;
mod entries;
pub mod flows;
pub mod hairpin;
pub mod inbound;
pub mod io;
pub mod lines;
pub mod load;
pub mod locks;
pub mod module;
pub mod outbound;
pub mod registers;
pub mod remote;
pub mod response;
pub mod status;
pub mod timing;
pub mod waits;
pub mod watched;
pub mod window;
