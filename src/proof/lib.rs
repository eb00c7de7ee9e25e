//! Model checking of the coherence engine: its agents run in every order of message deliveries, in random runs, and in
//! litmus programs.
//!
//! Modelled: a system of agents ([`systems`]) with the messages between them ([`net`]) as one state. Detail: the agents are
//! those of `scalepool_coherence`, which simulations run too; a value is a token that tells how old it is. Left out: time
//! and flits.
//!
//! * [`explore`]: visits every state that some order of deliveries and operations can reach, checks each one with the
//!   monitors, and checks that every wait ends.
//! * [`stress`]: long random runs. [`litmus`]: all outcomes of small programs.
//! * [`flows`]: every flow of the protocol as a chart. [`docs`]: the tables of the agents as a page.
//! * [`models`]: the protocols as models for other checkers.
//! * [`mutant`]: rules of the sheet that are off, one at a time, so that each is seen to be needed.
//! * [`replay`]: the steps to a broken rule as a trace, as waves and as a script.
//!
//! One step of a search takes a state from the queue. Each of its moves (a delivery that the ordering rules allow, or an
//! operation that an agent starts) leads to a next state. The monitors check the move, and a next state that is new joins
//! the queue.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod docs;
pub mod explore;
pub mod flows;
pub mod litmus;
pub mod models;
pub mod mutant;
pub mod net;
pub mod replay;
mod shared;
pub mod stress;
pub mod systems;
