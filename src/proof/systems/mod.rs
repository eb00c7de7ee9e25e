//! Agents and the messages between them as one state, a system for each protocol.

pub mod bias;
pub mod cache;
pub mod mem;
