//! The simulation kernel: modules, channels and wires as in SystemC, but without delta cycles.
//!
//! *Modelled*: integer time in femtoseconds, any number of clocks with fractional periods, modules that run at edges of
//! their clock, channels and wires between them with a latency of at least one edge, links of physical latency between
//! partitions that run on threads of their own, seeded random numbers, and a check that a run ended cleanly. *Detail*:
//! one evaluation of a module stands for everything that the module does at an edge. *Left out*: zero-delay paths,
//! combinational loops, processes that suspend in the middle of their code, and any knowledge of a protocol.
//!
//! Every transfer from one module to another takes at least one clock edge. Therefore no evaluation has to be repeated
//! within an instant, the order of evaluation does not matter, and an idle module costs nothing.
//!
//! # A walk through one cycle
//!
//! 1. Each clock domain of the partition knows its next edge at which a module runs (a rotate and a count of zeros over the
//!    occupied slots of its timing wheel). The earliest of these edges is *now*; the time in between is skipped. Domains whose
//!    edges coincide run at the same instant.
//! 2. The modules that are scheduled in the slot of that edge run in elaboration order. If a reader and its writer both
//!    run:
//!    * The reader calls [`In::pop`], and an item that was pushed earlier and is due leaves the channel. Its place in the
//!      channel counts as occupied until the instant is over. If the writer had found the channel full, the writer is
//!      scheduled for its next edge.
//!    * The writer calls [`Out::push`]. The item is due `latency` edges of the writer later, and the reader is scheduled in
//!      the slot of that edge. If the channel has no room, the item comes back as [`Full`].
//!
//!    Neither sees what the other did at this instant, so their order does not matter.
//! 3. Each module returns when it wants to run again: [`Next::Busy`] schedules it for the next edge, [`Next::In`] and
//!    [`Next::At`] set its timer, and with [`Next::Idle`] it runs when something arrives.
//! 4. Partitions run independently for one window of time, which is at most as long as the latency of the shortest link
//!    between partitions. At the end of the window, items for other partitions are handed over, the observer is called,
//!    and the next window starts at the earliest instant at which anything can happen in any partition.
//!
//! # Invariants
//!
//! * Shuffling the order within an instant, evaluating idle modules, adding an observer, and changing the number of threads
//!   change no result. [`RunOptions`] has switches for all of them, and property tests use them.
//! * An item is never lost and never reordered within its channel. At the end of a run every channel and link is empty, or
//!   the run returns an error.
//! * The random numbers of a module depend on the seed of the run and on its name, and on nothing else.
//!
//! # Example
//!
//! ```
//! use scalepool_kernel::*;
//!
//! /// Sends the numbers 0, 1, 2, .. whenever the channel has room.
//! struct Source {
//!     tx: Out<u32>,
//!     next: u32,
//! }
//!
//! impl Module for Source {
//!     fn eval(&mut self, cx: &mut Cx) -> Next {
//!         if self.next < 5 && self.tx.push(cx, self.next).is_ok() {
//!             self.next += 1;
//!         }
//!         Next::busy_if(self.next < 5)
//!     }
//! }
//!
//! /// Takes one item per edge; each item counts as one completed transaction.
//! struct Sink {
//!     rx: In<u32>,
//!     sum: u32,
//! }
//!
//! impl Module for Sink {
//!     fn eval(&mut self, cx: &mut Cx) -> Next {
//!         if let Some(number) = self.rx.pop(cx) {
//!             self.sum += number;
//!             cx.progress();
//!         }
//!         Next::busy_if(self.rx.is_due(cx))
//!     }
//!     fn idle_ok(&self) -> Result<(), Pending> {
//!         if self.sum == 10 { Ok(()) } else { Err(Pending::new("numbers missing", Time::ZERO)) }
//!     }
//! }
//!
//! let mut sim = Simulation::new(42);
//! sim.partition(|p| {
//!     let clock = p.clock("core", Clock::with_period_fs(1_000_000)?)?;
//!     let (tx, rx) = p.channel("numbers", 2, 3)?; // two items deep, three edges long
//!     p.module("source", clock, |bind| Source { tx: bind.attach(tx), next: 0 })?;
//!     p.module("sink", clock, |bind| Sink { rx: bind.attach(rx), sum: 0 })
//! });
//! let report = sim.run(&RunOptions::default(), |_window_end| ())?;
//! assert_eq!(report.stop, Stop::Quiescent);
//! assert_eq!(report.completed, 5);
//! // 0 and 1 leave at edges 0 and 1 and arrive at 3 and 4; the slots are free at 4 and 5, and so on: 4 arrives at edge 11.
//! assert_eq!(report.end, Time::from_ns(11));
//! # Ok::<(), SimError>(())
//! ```
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod channel;
mod clock;
mod crew;
mod error;
mod link;
mod module;
mod name;
mod partition;
mod rng;
mod share;
mod simulation;
#[cfg(test)]
mod tests;
pub mod time;
mod wheel;
mod wire;

pub use channel::{Full, In, InEnd, Out, OutEnd};
pub use clock::Clock;
pub use error::{BuildError, SimError, Unfinished};
pub use link::{LinkIn, LinkInEnd, LinkOut, LinkOutEnd};
pub use module::{Binder, Cx, End, Module, Next, Pending};
pub use name::check_name;
pub use partition::{ClockId, PartitionBuilder};
pub use rng::Rng;
pub use share::shared;
pub use simulation::{RunOptions, RunReport, Running, Simulation, Stop};
pub use time::Time;
pub use wire::{WireIn, WireInEnd, WireOut, WireOutEnd};
