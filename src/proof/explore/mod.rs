//! Exhaustive exploration of the agents that the simulations clock.
//!
//! [`ExploredSystem`] is a set of agents with the messages between them; [`search()`] visits every state that any order
//! of deliveries and operations can reach, checks the monitors in each, and gives the shortest way to the first fault;
//! [`liveness`] asks of all of them together whether everything ends.
//! [`named`] has the explorations that can be asked for by name, [`options`] what may be set in them, [`killers`] what each
//! missing rule is found by.

mod desk;
mod expand;
pub mod fingerprint;
mod graph;
pub mod killers;
mod level;
pub mod liveness;
mod memory;
pub mod named;
pub mod options;
pub mod search;
pub mod system;
mod visited;

pub use memory::memory_limit;
pub use named::{Explored, NAMED, NamedExploration};
pub use search::{Counterexample, ExplorationReport, Limits, REPEATS, endless_event, search, search_with};
pub use system::{AgentWait, Awaited, ChartStep, ExploredSystem, Fairness, delivery};
