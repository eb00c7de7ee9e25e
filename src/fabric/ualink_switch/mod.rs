//! The UALink switch: a stateless relay between the ports of accelerators (`ualink` §14).
//!
//! Modelled: stations of four lanes with one, two or four ports; a route table a station, indexed by the destination, with a
//! deny bit for each of its ports; a queue for each pair of ports and class; a fixed latency; credits of every port; up to
//! 1024 ports. Detail: whole transactions, taken out of TL flits and packed again. Relaxed order, where it is on, is that of
//! the output ports, whose transaction layers let virtual channels pass each other; the core keeps the order of a pair of
//! ports. Left out: tables over several switches (there are none), management.
//!
//! A walk through one transaction: a [`slice`](slice::Slice) of up to 32 ports receives it and hands it with its credits to
//! the [`core`]; the core looks its destination up, holds it for the latency of the switch and queues it; the output port
//! serves the queues that ask as its arbiter chooses, requests and responses apart; a grant moves it into the transaction
//! layer of the output port, which has told that it has room, and gives the credits of the input port back.
//!
//! Invariants: what comes in goes out once, or is dropped and counted because its route is denied or does not exist; those
//! of one pair of ports and class keep their order; a request never keeps a response waiting; by round robin a queue
//! that asks is served after each of the others at most once. Work is done for those ports alone that have any.

pub mod core;
pub mod passage;
mod place;
mod resting;
pub mod route;
pub mod slice;

pub use self::core::{CoreModule, Grant, UalSwitchCore};
pub use passage::UalPassageWatch;
pub use place::place_switch;
pub use route::{UalRouteRefused, UalRoutes};
pub use slice::Slice;

use scalepool_link::ualink::tl::{TlClass, TlHeldBuffers};
use scalepool_protocols::ualink::unpack::Transfer;

/// Most ports of a slice: what one module polls.
pub const SLICE_PORTS: usize = 32;

/// From a slice to the core.
#[derive(Debug, Clone)]
pub enum ToCore {
    /// A transaction has come in.
    Arrived {
        /// Port of the switch.
        port: u16,
        /// The transaction itself.
        transfer: Box<Transfer>,
        /// The buffers that it takes at the input port.
        held: TlHeldBuffers,
    },
    /// A transaction of a class has left the queue of an output port.
    Room {
        /// Port of the switch.
        port: u16,
        /// Class.
        class: TlClass,
    },
}

/// From the core to a slice.
#[derive(Debug, Clone)]
pub enum FromCore {
    /// A transaction for an output port.
    Send {
        /// Port of the switch.
        port: u16,
        /// The transaction itself.
        transfer: Box<Transfer>,
    },
    /// A transaction has left the buffers of an input port.
    Release {
        /// Port of the switch.
        port: u16,
        /// Its buffers.
        held: TlHeldBuffers,
    },
}
