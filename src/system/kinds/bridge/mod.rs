//! `bridge.ualink` and `bridge.nvlink`: bridge SoCs between accelerators and CXL, see [`scalepool_bridge`].
//!
//! Modelled: what descriptions say of windows, stages and the conversion cache, and how bridges become modules. A walk: the windows of
//! each direction are read and judged; the ports of both sides are joined to the halves of the bridge; one that stands in front of memory
//! says what that holds at first.

pub mod cache;
pub mod nvlink;
pub mod stages;
pub mod ualink;
pub mod windows;

use crate::kind::Site;
use scalepool_nodes::first_lines::FirstLines;
use std::sync::Arc;

/// What the memory at the device's end of a CXL link holds at first, said by the device if its addresses do not say it.
fn first_lines(site: &Site<'_>, link: u32) -> Arc<FirstLines> {
    site.shared.get(&format!("first lines of memory at CXL link {link}"), FirstLines::default)
}
