//! The proof of the coherence engine: its agents in every order of deliveries, in random runs, and in litmus programs.
//!
//! Modelled: systems of agents as one state each ([`systems`]), with the messages between them ([`net`]). Detail: the agents are
//! those of `scalepool_coherence` that also run clocked; values are tokens that say how old they are. Left out: time and
//! flits.
//!
//! * [`explore`]: every state that any order of deliveries and operations can reach, each judged by the monitors, and
//!   whether everything ends.
//! * [`stress`]: long random runs. [`litmus`]: all outcomes of small programs.
//! * [`flows`]: every flow of the protocol as a chart. [`docs`]: the tables of the agents as a page.
//! * [`replay`]: the way to a fault as a trace, as waves and as a script.
//!
//! One step of a search: a state is taken from the queue; each of its moves (a delivery that no order forbids, or an agent's
//! own operation) makes a next state; the monitors judge the step; a state that is new is queued.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod docs;
pub mod explore;
pub mod flows;
pub mod litmus;
pub mod net;
pub mod replay;
pub mod stress;
pub mod systems;
