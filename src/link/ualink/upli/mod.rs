//! The UPLI, the interface between an accelerator and its transaction layer, cycle by cycle (`ualink` section 12).
//!
//! Modelled: every signal of the four channels and of their credit returns; parity; credits per port and virtual channel or
//! pool, 1 to 4 a return, with InitDone; time slots of 1 to 4 ports; bursts of beats; read responses of all beats and of one;
//! tags; what must keep its order; drop mode and isolation. Detail: one clock cycle. Left out: the cipher (tags are numbers
//! here), what software does to leave drop mode, vendor meanings of commands.
//!
//! A walk through one cycle ([`step`]): [`Originator::drive`] and [`UpliCompleter::drive`] each say what stands on
//! their wires, out of what they knew at the last edge alone. The originator's slot belongs to one port: a beat of a
//! burst that has begun goes out, and beside it the first request of that port that order, its tag and credits allow; a
//! request with data brings its first beat, unless a burst is going on. The completer does the same with responses.
//! Then [`Originator::sample`] and [`UpliCompleter::sample`] hear the other's wires: credits, a response, a request. A
//! [`Monitor`] reads the same wires and names what is broken; an [`OrderCheck`] compares two places.
//!
//! Our choices \[D\]: a bad control parity puts all ports of a completer into drop mode and all ports of an originator into
//! isolation; a bad data parity poisons the beat alone; authentication tags have no parity; both response channels share
//! their phase; ISOLATE concerns the port that it comes from.

pub mod completer;
pub mod config;
pub mod convert;
pub mod credit;
pub mod monitor;
pub mod order;
pub mod originator;
pub mod signals;

pub use completer::UpliCompleter;
pub use config::{Ordering, UpliChannel, UpliConfig, UpliConfigError, UpliCreditCounts};
pub use convert::{ConvertError, Response, UpliRequest};
pub use monitor::Monitor;
pub use order::{OrderCheck, Ordered};
pub use originator::Originator;
pub use signals::{Cycle, FromCompleter, FromOriginator};

/// One cycle of both ends: what stood on the wires.
pub fn step(originator: &mut Originator, completer: &mut UpliCompleter) -> Cycle {
    let cycle = Cycle { originator: originator.drive(), completer: completer.drive() };
    originator.sample(&cycle.completer);
    completer.sample(&cycle.originator);
    cycle
}
