//! UALink scenarios: `ualink-pair`, two accelerators over one link, and `ualink-pod`, accelerators around switches.
//!
//! Modelled: accelerators that read, write and update each other's memory with real bytes, every byte checked end to end;
//! links bit by bit from the transaction layer down to DL flits; switches; at the end, every message of every pair and port
//! is looked for where it was to arrive, once and in order. Clocks: that of the accelerators (the
//! reference), that of the flits. Left out: rate changes, the node's own coherence.
//!
//! A walk through one write: the originator takes a tag and sends the request with its data over the port of its region,
//! signal by signal over the UPLI where that is on; the port protects it where that is on and packs it into TL flits and DL flits; a switch takes it out, looks its destination up and packs it again; the
//! completer writes the bytes; the response goes the same way back and frees the tag.

mod build;
mod keys;
mod result;

pub use keys::{PAIR_KEYS, POD_KEYS};

use super::drive::{Built, identity};
use super::settings::Settings;
use super::{Request, RunError};
use scalepool_kernel::SimError;
use scalepool_trace::Hub;

/// Names on the command line.
pub const NAMES: [&str; 2] = ["ualink-pair", "ualink-pod"];
/// What they are.
pub const DOCS: [&str; 2] = [
    "two UALink accelerators that read and write each other's memory over one link",
    "a pod of UALink accelerators around switches with a port for each",
];

/// A settling limit above all time-outs: a request is late after `accel.timeout_fs`, 2 ms by default; a link that nobody answers leaves Up
/// after 40,000 flit times, 1 ms at x1 (`ualink` §7).
const STALL_LIMIT_FS: u64 = 5_000_000_000_000;

/// Builds `ualink-pair`.
///
/// # Errors
/// Anything that keeps it from running.
pub fn build_pair(request: &Request, settings: &Settings) -> Result<Built, RunError> {
    build(0, request, settings)
}

/// Builds `ualink-pod`.
///
/// # Errors
/// Anything that keeps it from running.
pub fn build_pod(request: &Request, settings: &Settings) -> Result<Built, RunError> {
    build(1, request, settings)
}

fn build(scenario: usize, request: &Request, settings: &Settings) -> Result<Built, RunError> {
    let design = build::Design::read(scenario, settings)?;
    let mut hub = Hub::default();
    let (sim, results) =
        build::build(&design, request.seed, &mut hub).map_err(|e| RunError::Build(SimError::Build(e)))?;
    Ok(Built {
        sim,
        hub,
        identity: identity(request, settings),
        ber: settings.real("link.ber"),
        clock_fs: design.accel_clock_fs,
        stall_limit_fs: STALL_LIMIT_FS,
        stimulus: Vec::new(),
        ports: results.ports.iter().map(|(port, _)| port.clone()).collect(),
        report: Box::new(move |request, ended| result::report(NAMES[scenario], request, &design, ended, &results)),
        chart: None,
    })
}
