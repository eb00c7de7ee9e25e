//! The bridge SoC: accelerators on UALink and GPUs on NVLink reach memory on CXL, and hosts and other bridges reach theirs (profile
//! BRG-M1, `bridge`).
//!
//! Modelled: the way from accelerators to CXL.mem for windows of class MN, whose lines have no owner, and of class MC, whose lines the
//! device keeps coherent, and to CXL.cache for windows of class CC, whose lines a host keeps coherent; with the conversion cache, for
//! lines, conversions or both, and without. From there to CXL.io for windows of class IO ([`io`]), past the cache. The way from CXL.mem to accelerators
//! for windows of class NH, memory that hosts alone keep coherent, and of class DB, which the bridge keeps coherent; accelerators reach the
//! latter by the bridge too, by windows of class HP ([`hairpin`]). Windows, rights, the
//! cut into lines, byte masks, the lock of a line, merged answers, status and poison both ways, order, FLUSH, identifiers, time-outs, the
//! load that targets report. Detail: whole transactions; the pipeline is named latencies, and the cache lies in memory with a time of its own.
//! From CXL.io to accelerators for windows of class BR. Left out: CXL.cache to accelerators, and new inbound windows while the bridge runs. Beside it stand the baselines without coherence ([`remote`]).
//!
//! [`OutboundBridge`](outbound::OutboundBridge) and [`InboundBridge`](inbound::InboundBridge) are pure: requests and messages in, messages
//! and answers out, no cycle numbers. [`Bridge`](module::Bridge) and [`InboundModule`](inbound::module::InboundModule) give them a clock.
//! What is converted to what stands in tables: [`commands`], [`flows`], [`nvlink`](outbound::nvlink), [`convert`](inbound::convert).
//!
//! A walk through one read of 128 bytes: the request takes an entry of the table of outbound transactions, its address hits a window,
//! its source may read there, it is cut into two lines; MemRd leaves for each; when both answers are in, one read response with
//! two beats goes back, and the entry is free. With a [`cache`] the second read of them finds both lines there and sends nothing. If the
//! memory is that of GPUs behind another bridge, each MemRd takes an entry of its table of inbound transactions, becomes a READ of 64
//! bytes, and is answered when the GPU has answered.
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
