//! The NVLink link layer of the model profile NVL-M1 (`nvlink` §6.3). The profile is a model of our own and describes no
//! product.
//!
//! Modelled: implicit packet identifiers, delivery of a packet after the CRC in the next header, acknowledgements in
//! headers, replay after a time-out or repeated acknowledgements, REPLAY_INIT, credits per channel, and AE (address
//! extension) flits, which stay in force per channel. Detail: one flit of 16 bytes per flit clock in each direction. A
//! [`port`] is a link end in a simulation. Left out: training, groups of links, FEC.
//!
//! An [`NvlEnd`] is one end of the link. In one flit clock, [`NvlEnd::receive`] takes a flit. A header closes the
//! packet before it with the CRC, so that this packet is accepted; it acknowledges packets that this end sent, and
//! opens the next packet. A header that does not fit makes the receiver hunt for a REPLAY_INIT. [`NvlEnd::transmit`]
//! gives the next flit of the current packet, or begins a packet, in this order: REPLAY_INIT, CREDIT_INIT, replayed
//! packets, new packets, a packet that only carries credits, IDLE.
//!
//! # Choices where §6.3 is silent
//!
//! * A receiver that hunts does not advance its acknowledgement, but repeats it in every header: these repeats are the
//!   "three identical acks". Otherwise a new acknowledgement is sent in two headers, and `ackv` is 0 after that.
//! * When a REPLAY_INIT has ended the hunt of a receiver, the receiver shows this with two headers without
//!   acknowledgement. A sender that has begun an empty replay waits for these headers, or for the time-out: an empty replay
//!   has not failed, so it does not count as a try. On a wire the IDLE flits of an idle end show the same; they are not
//!   modelled, see [`port`].
//! * A REPLAY_INIT with another identifier is ignored, and so is everything after it: it begins a replay of packets that
//!   were received already, or comes from a peer that has lost count. An identifier ahead of the expected one is an event.
//! * While a receiver hunts, it takes each flit for a header with no payload before it, and accepts the acknowledgement of
//!   an IDLE. Otherwise two ends that both hunt would never hear of each other. A sender closes an open payload with IDLE
//!   before REPLAY_INIT.
//! * The time-out of a replay begins when the whole replay has been sent. No new packet follows before some of the replay
//!   is acknowledged.
//! * The credits in a numbered packet count when the packet is accepted, so a replay neither loses nor doubles them. An
//!   IDLE could lose credits, so the ends of the model send none in it. Where no other packet is to be sent, an RSP_DONE
//!   to [`LINK_RID`] carries the credits; it ends at the link and takes no credit itself.
//! * A replay before anything was acknowledged repeats CREDIT_INIT; the end that accepts its REPLAY_INIT discards the
//!   credits of an earlier CREDIT_INIT when another one comes before the next numbered packet. A peer that does not repeat
//!   them keeps what it said.
//!
//! # Invariants
//!
//! Whatever the wire does, each message is delivered once and in the order of its channel, or the link goes down. Credits
//! are never lost. Nothing is sent without credit.

pub mod chain;
pub mod config;
pub mod credit;
pub mod end;
pub mod external;
pub mod flit;
pub mod link_end;
pub mod message;
pub mod monitor;
pub mod packed;
pub mod pair;
pub mod port;
pub mod receiver;
pub mod stall;
pub mod transmitter;
pub mod wiring;

pub use config::{Buffers, LinkConfig};
pub use end::{NvlEnd, Stats};
pub use flit::NvlFlit;
pub use message::{LINK_RID, NvlMessage, NvlRefused};
pub use monitor::Monitor;
pub use pair::Pair;

/// Identifiers are counted modulo this (`nvlink` §6.1: 12 bits).
pub const IDS: u16 = 1 << 12;

/// Steps from one identifier forward to another.
pub(crate) const fn steps(from: u16, to: u16) -> u16 {
    to.wrapping_sub(from) % IDS
}
