//! CXL.cache: device cache and home agent.
//!
//! Modelled: all requests, snoops and answers of `coherence` §2, transient states included. Detail: messages; each
//! transition is a row of a table. Left out: sets, ways and replacement (whoever drives the cache issues the evicts).
//!
//! * [`state`]: states, snoops, answers. [`requests`] (§2.2), [`snoops`] (§2.3, §2.4), [`answers`]: the tables.
//! * [`device::DeviceCache`], [`home::HomeAgent`]: the agents that walk them. [`backing`]: the home's memory.
//!
//! Invariants: one request a line and device; one transaction a line; every answer to a snoop leaves at once.

pub mod answers;
pub mod backing;
pub mod device;
pub mod home;
pub mod requests;
pub mod route;
pub mod snoops;
pub mod state;

use scalepool_protocols::cxl::cxl256::code::GoState;

/// Letter of the state in a GO: S, E, I, Err or M; `?` for a reserved code.
pub(super) fn go_letter(rsp_data: u16) -> &'static str {
    match GoState((rsp_data & 15) as u8) {
        GoState::Shared => "S",
        GoState::Exclusive => "E",
        GoState::Invalid => "I",
        GoState::Error => "Err",
        GoState::Modified => "M",
        _ => "?",
    }
}
