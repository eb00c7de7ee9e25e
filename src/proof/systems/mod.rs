//! Systems of agents as one state of a search.
//!
//! [`composite`] is the one system; [`setup`] says of which agents, links and lines it consists, [`part`] what each kind of agent
//! does in it, [`menu`] what agents may begin. [`cache`], [`mem`] and [`bias`] describe the systems of one protocol. [`bridge`] is a
//! system of its own: its agents carry bytes. In [`altered`] one message is changed on its way, in [`misstep`] one
//! step of an agent is wrong.

pub mod altered;
pub mod bias;
pub mod bridge;
pub mod cache;
pub mod composite;
pub mod mem;
pub mod menu;
pub mod misstep;
pub mod part;
pub mod setup;
mod symmetry;
