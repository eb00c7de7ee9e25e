//! Flits in a wave: one file a family, each with the table of what it shows.

pub mod cxl256;
pub mod cxl68;
pub mod nvlink;
pub mod ualink;

use super::signals::SignalTree;
use super::state::SignalValues;
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl256::Mode;
use std::fmt;

/// What a place of flits shows, and what it remembers of the stream.
pub(super) trait FlitVars: fmt::Debug {
    /// Shows what has arrived; missing bytes are 0, bytes behind the unit are ignored.
    fn show(&mut self, state: &mut SignalValues, bytes: &[u8]);

    /// Shows payload that the receiver has taken, where that is not the same as what arrives.
    fn take(&mut self, state: &mut SignalValues, number: u16, bytes: &[u8]) {
        let _ = (state, number, bytes);
    }
}

/// Protocols of which flits can be taken apart.
pub(super) const PROTOCOLS: &str = "`cxl-68b`, `cxl-256b`, `cxl-256b-lopt`, `cxl-256b-pbr`, `ualink` or `nvlink`";

/// Declares the variables of a protocol and direction in the scope of a place; `None` for another one.
pub(super) fn declare(tree: &mut SignalTree, place: usize, protocol: &str, dir: &str) -> Option<Box<dyn FlitVars>> {
    let dir = Dir::ALL.into_iter().find(|d| d.name() == dir)?;
    if protocol == "cxl-68b" {
        return Some(Box::new(cxl68::Cxl68FlitVars::declare(tree, place, dir)));
    }
    if protocol == "ualink" {
        return Some(Box::new(ualink::UalFlitVars::declare(tree, place, dir)));
    }
    if protocol == "nvlink" {
        return Some(Box::new(nvlink::NvlFlitVars::declare(tree, place)));
    }
    let mode = Mode::ALL.into_iter().find(|m| m.protocol() == protocol)?;
    Some(Box::new(cxl256::Cxl256FlitVars::declare(tree, place, mode, dir)))
}
