//! The simulation kernel.

pub mod channel;
pub mod clock;
mod crew;
pub mod error;
pub mod link;
pub mod module;
pub mod name;
pub mod partition;
pub mod rng;
pub mod simulation;
pub mod time;
mod wheel;
pub mod wire;

pub use channel::{Full, In, InEnd, Out, OutEnd};
pub use clock::Clock;
pub use error::{BuildError, Open, SimError};
pub use link::{LinkIn, LinkInEnd, LinkOut, LinkOutEnd};
pub use module::{Binder, Cx, End, Module, Next, Pending};
pub use name::check_name;
pub use partition::{ClockId, PartitionBuilder};
pub use rng::Rng;
pub use simulation::{RunOptions, RunReport, Running, Simulation, Stop};
pub use time::Time;
pub use wire::{WireIn, WireInEnd, WireOut, WireOutEnd};
