//! What coherent agents need beside themselves to be nodes: channels to their link ends, and programs for their cores.
//!
//! Modelled: a channel for each class of messages, patterns of accesses to shared lines, a memory trace that is dealt to
//! many cores, accesses of a peer on CXL.io. Left out: the agents, which are [`scalepool_coherence`]'s, and who is joined to
//! whom, which a system description says. A walk through one access: the program of a core gives a line and what to do with
//! it; the agent of the core sends a message; it goes through the channel of its class to the link end.

pub mod dealt;
pub mod patterns;
pub mod uio;
pub mod wiring;
