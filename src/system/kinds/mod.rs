//! The kinds of components and links, one file or folder each.
//!
//! A new kind is a file here and a line in [`kind::COMPONENTS`](super::kind::COMPONENTS) or
//! [`kind::LINKS`](super::kind::LINKS).

pub mod accelerator_coherent;
pub mod accelerator_nvlink;
pub mod accelerator_tiers;
pub mod accelerator_ualink;
mod block_nodes;
pub mod bridge;
pub mod cable;
pub mod cxl_coherent;
pub mod cxl_host;
pub mod cxl_io_device;
pub mod cxl_links;
pub mod cxl_memory;
pub mod cxl_root;
pub mod cxl_switch;
pub mod fabric_crossbar;
pub mod fabric_link;
pub mod fabric_node;
pub mod fabric_queue;
pub mod fabric_router;
pub mod gfd;
pub mod media;
pub mod memory_device;
pub mod memory_ecc;
pub mod memory_node;
pub mod memory_pool;
pub mod memory_tray;
pub mod net_rdma;
pub mod nvlink_gpu;
pub mod nvlink_link;
pub mod nvlink_switch;
mod tier_fields;
pub mod ualink_accelerator;
pub mod ualink_link;
pub mod ualink_switch;
pub mod uio;

use super::kind::{ConfigFinding, Site};
use super::problem::TextPlace;
use scalepool_arbiter::ArbiterKind;
use scalepool_link::event::LinkEvent;
use scalepool_link::fault::Fault;
use scalepool_nodes::PlacedViolation;
use scalepool_nodes::first_lines::MemoryBehind;
use std::sync::{Arc, Mutex, PoisonError};

/// The field `fault` of a link: listed faults by end, and what is none of those that are `expected`.
fn faults(list: &[(String, TextPlace)], unit_bytes: usize, expected: &str) -> ([Vec<Fault>; 2], Vec<ConfigFinding>) {
    let (by_end, wrong) = Fault::of_ends(list.iter().map(|(text, _)| text.as_str()), unit_bytes);
    let finding = |text| ("fault", format!("found `{text}`, expected {expected}, bits 0 to {}", 8 * unit_bytes - 1));
    (by_end, wrong.into_iter().map(finding).collect())
}

/// The arbiter that a field of [`ARBITER_NAMES`](scalepool_arbiter::ARBITER_NAMES) names, or that of a kind without one.
fn arbiter(name: Option<&str>, without: &'static ArbiterKind) -> &'static ArbiterKind {
    let named = |name| ArbiterKind::by_name(name).unwrap_or_else(|e| unreachable!("a word of the range: {e}"));
    name.map_or(without, named)
}

/// Which nodes of the fabric of a site stand in front of the memory of others; all of its nodes share it.
fn memory_behind(site: &Site<'_>) -> Arc<MemoryBehind> {
    let name = format!("memory behind nodes of fabric {}", site.member.fabric);
    site.shared.get(&name, || MemoryBehind::new(site.member.nodes))
}

/// What a module has published.
pub(super) fn published<T: Clone>(result: &Arc<Mutex<T>>) -> T {
    result.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Rules that a link end saw broken.
fn broken<'a>(place: &'a str, events: &'a [LinkEvent]) -> impl Iterator<Item = PlacedViolation> + 'a {
    events.iter().map(|event| PlacedViolation { place: place.to_owned(), violation: event.violation.clone() })
}
