//! The NVLink link layer, model profile NVL-M1 (`nvlink` §6.3). Basis: model, no product.
//!
//! Modelled: implicit identifiers, delivery behind the CRC of the next header, acknowledgements in headers, replay after a
//! time-out or repeated acknowledgements, REPLAY_INIT, credits per channel, AE that stays in force per channel. Detail: one
//! flit of 16 bytes a flit clock in each direction. [`port`] is an end in a simulation. Left out: training, ganged links, FEC.
//!
//! One [`End`] is one side of the link. A walk through one flit clock: [`End::receive`] takes a flit; as a header it
//! closes the packet before with its CRC, which is then accepted, acknowledges what we sent and opens a packet; a header
//! that does not fit makes the receiver hunt for a REPLAY_INIT. [`End::transmit`] gives the next flit of the packet under
//! way, or begins one: REPLAY_INIT, CREDIT_INIT, replayed packets, new ones, a carrier of credits, IDLE.
//!
//! # Choices where §6.3 is silent
//!
//! * A receiver that hunts does not move its acknowledgement on, but states it in every header: that is what makes the
//!   "three identical acks". Otherwise a new one is stated in two headers, and `ackv` is 0.
//! * A receiver whose hunt a REPLAY_INIT has ended says so in two headers without acknowledgement, and a sender that has
//!   begun a replay of nothing waits for them, or for the time-out: that replay has not failed, so it is no try. On a wire
//!   the IDLE flits of an end at rest say it; they are not modelled, see [`port`].
//! * REPLAY_INIT with another identifier is ignored, and so is everything behind it: it begins a replay of packets that are
//!   here already, or of a peer that has lost count. One ahead of us is an event.
//! * While it hunts, a receiver takes each flit for a header without payload before it, and hears the acknowledgement of an
//!   IDLE: two ends that both hunt would else never hear of each other. A sender closes an open payload
//!   with IDLE before REPLAY_INIT.
//! * The time-out of a replay begins when all of it has gone; behind it nothing new goes before some of it is acknowledged.
//! * Credits of a numbered packet count when it is accepted, so a replay neither loses nor doubles them. IDLE could lose
//!   them, so our ends send none there: where nothing else goes, an RSP_DONE to [`LINK_RID`] carries them; it ends at the
//!   link and takes no credit.
//! * A replay before anything was acknowledged repeats CREDIT_INIT; whoever accepts its REPLAY_INIT forgets what
//!   CREDIT_INIT said before.
//!
//! # Invariants
//!
//! A message comes out once, in the order of its channel, whatever the wire does, or the link is down; credits are never
//! lost; nothing is sent without credit.

pub mod chain;
pub mod config;
pub mod credit;
pub mod end;
pub mod external;
pub mod flit;
pub mod link_end;
pub mod message;
pub mod monitor;
pub mod pair;
pub mod port;
pub mod receiver;
pub mod stall;
pub mod transmitter;
pub mod wiring;

pub use config::{Buffers, LinkConfig};
pub use end::{End, Stats};
pub use flit::Flit;
pub use message::{LINK_RID, Message, Refused};
pub use monitor::Monitor;
pub use pair::Pair;

/// Identifiers are counted modulo this (`nvlink` §6.1: 12 bits).
pub const IDS: u16 = 1 << 12;

/// Steps from one identifier forward to another.
pub(crate) const fn steps(from: u16, to: u16) -> u16 {
    to.wrapping_sub(from) % IDS
}
