//! A root complex, devices, and a switch between them, that speak CXL.io.
//!
//! Modelled: the host walks configuration space, sizes and places BARs, programs the memory ranges of CXL.mem and locks them,
//! then writes and reads behind the BARs; both sides start power management beside it; root complexes and devices that use memory of
//! devices by unordered I/O ([`uio`]). Left out: ranges of
//! memory that decode addresses of CXL.mem.
//!
//! A walk through one configuration read: the root complex gives it a tag and its bytes go to the host's link end, which
//! frames them, with sequence number and LCRC or in a flit; the device's end checks them and hands them over; the completer
//! answers after its latency; the completion finds its tag and the walk goes on with the next access.

pub mod function;
pub mod held;
pub mod mode;
pub mod root;
pub mod switch;
pub mod tlps;
pub mod uio;
pub mod walk;

use crate::PlacedViolation;
use scalepool_endpoint::event::EndpointEvent;
use scalepool_endpoint::tlp::TlpError;
use scalepool_protocols::wire::Violation;

/// The broken rule of an event; `None`: nothing is wrong, somebody asked for what is not there.
fn violation_of(event: &EndpointEvent) -> Option<Violation> {
    let rule = match event {
        EndpointEvent::Rule(violation) => return Some(violation.clone()),
        EndpointEvent::Refused { .. } | EndpointEvent::Poisoned { .. } => return None,
        EndpointEvent::Malformed(TlpError::Fault(_)) => "CXLIO-FMT-01",
        EndpointEvent::Malformed(_) => "CXLIO-NFM-03",
        EndpointEvent::UnexpectedCompletion { .. } | EndpointEvent::LateCompletion { .. } => "SIM-E2E-02",
        EndpointEvent::CompletionTimeout { .. } => "SIM-E2E-03",
    };
    Some(Violation::at_byte(rule, 0, event, "requests and their completions", "an end of a transaction is wrong"))
}

/// Rules that events say broken at a place.
pub fn broken<'a>(place: &'a str, events: &'a [EndpointEvent]) -> impl Iterator<Item = PlacedViolation> + 'a {
    events.iter().filter_map(violation_of).map(|violation| PlacedViolation { place: place.to_owned(), violation })
}
