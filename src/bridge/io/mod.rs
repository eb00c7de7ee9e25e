//! What class IO of the bridge makes of requests: TLPs of CXL.io (`bridge` §3.6, §4.1, §4.3, §4.4).
//!
//! Modelled: byte masks of a block as runs of DWs ([`runs`]), the TLPs of a read, a write and an atomic ([`tlps`]), completions put
//! together ([`exchange`]), and the turns of the requests of a source ([`turns`]). Detail: every field of a TLP but its requester.
//! Left out: when they leave, see [`outbound`](crate::outbound), and links. A walk: a write of bytes 5 to 27 of a block becomes one MWr of
//! 6 DWs, and a read of no byte behind it, whose completion says that the write is done.

pub mod exchange;
pub mod runs;
pub mod tlps;
pub mod turns;
