//! UALink accelerators, with their ports, UPLI stations, protection and traffic.
//!
//! Modelled: accelerators that read, write and update each other's memory with real bytes, checked end to end. Left out:
//! switches (see [`scalepool_fabric`]) and the node's own coherence. A walk through one write: the originator takes a tag and
//! sends the request with its data; the port packs it; the completer of the peer writes the bytes; the response frees the
//! tag.

pub mod accelerator;
pub mod atomics;
pub mod check;
pub mod completer;
pub mod draws;
pub mod guard;
pub mod ledger;
pub mod open;
pub mod port;
pub mod read;
pub mod regions;
pub mod station;
pub mod traffic;
pub mod unknown;

use scalepool_kernel::{BuildError, InEnd, OutEnd, PartitionBuilder};
use scalepool_protocols::ualink::control::ControlField;
use scalepool_protocols::ualink::unpack::Transfer;
use scalepool_trace::{RequestIdentifier, TransactionHandle};

/// Transactions in a channel between an accelerator and its port.
const CHANNEL_DEPTH: u32 = 16;

/// The two ends of an accelerator's channels with a port: to it and from it, by class.
pub type Ends = (OutEnds, InEnds);
/// Channels that are read, by class.
pub type InEnds = [InEnd<Box<Transfer>>; 2];
/// Channels that are written, by class.
pub type OutEnds = [OutEnd<Box<Transfer>>; 2];
/// Ends of channels of received requests by virtual channel, 1 to 3: those of the node, and those of its port.
pub type RequestEnds = ([InEnd<Box<Transfer>>; 3], [OutEnd<Box<Transfer>>; 3]);

/// Channels of both classes away from an accelerator and towards it: its ends, and those of the other side.
///
/// # Errors
/// A name that is used twice.
pub fn channels(
    p: &mut PartitionBuilder,
    name: &str,
    kind: &str,
    n: usize,
) -> Result<(Ends, (InEnds, OutEnds)), BuildError> {
    let mut channel = |what: &str| p.channel::<Box<Transfer>>(&format!("{name}.{kind}{what}[{n}]"), CHANNEL_DEPTH, 1);
    let (req_out, req_tx) = channel("tx_requests")?;
    let (rsp_out, rsp_tx) = channel("tx_responses")?;
    let (req_rx, req_in) = channel("rx_requests")?;
    let (rsp_rx, rsp_in) = channel("rx_responses")?;
    Ok((([req_out, rsp_out], [req_in, rsp_in]), ([req_tx, rsp_tx], [req_rx, rsp_rx])))
}

/// Channels of received requests of virtual channels 1 to 3, of a node that has each by itself; its port puts those of channel 0 and all
/// responses into [`channels`].
///
/// # Errors
/// A name that is used twice.
pub fn request_channels(p: &mut PartitionBuilder, name: &str, kind: &str, n: usize) -> Result<RequestEnds, BuildError> {
    let mut channel = |vchan: usize| {
        p.channel::<Box<Transfer>>(&format!("{name}.{kind}rx_requests[{n}].vchan[{vchan}]"), CHANNEL_DEPTH, 1)
    };
    let [(tx1, rx1), (tx2, rx2), (tx3, rx3)] = [channel(1)?, channel(2)?, channel(3)?];
    Ok(([rx1, rx2, rx3], [tx1, tx2, tx3]))
}

/// A request as its originator and its completer know it in traces.
pub fn request_handle(fabric: u32, request: &Transfer) -> Option<TransactionHandle> {
    let ControlField::Request(req) = &request.field else { return None };
    let owner = u32::from(req.src) << 16 | u32::from(req.dst);
    // Each port of an originator has tags of its own; requests to one address take one port.
    Some(TransactionHandle {
        identifier: RequestIdentifier::UalinkTag,
        link: fabric,
        owner,
        value: req.tag,
        address: req.address,
    })
}
