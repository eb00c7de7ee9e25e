//! The links to accelerators that ask, of whatever protocol.

use crate::outbound::BridgeFinding;
use crate::outbound::request::{BridgeRequest, BridgeResponse, EntryNeed};
use scalepool_kernel::Cx;
use scalepool_trace::TransactionHandle;

/// The request in front of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrontRequest {
    /// What it needs to get in.
    pub need: EntryNeed,
    /// Its name in traces.
    pub handle: Option<TransactionHandle>,
}

/// The links to accelerators that ask.
pub trait RequesterSide {
    /// Inputs at which requests come, each in an order of its own: ports of UALink, classes of each NVLink.
    fn inputs(&self) -> usize;

    /// The request in front of an input, if there is one.
    fn front(&mut self, cx: &Cx, input: usize) -> Option<FrontRequest>;

    /// Takes the request in front of an input; `None`: it was dropped.
    fn take(&mut self, cx: &mut Cx, input: usize) -> Option<BridgeRequest>;

    /// Whether the response to a request that came at an input has room.
    fn has_room(&self, cx: &Cx, input: usize, response: &BridgeResponse<'_>) -> bool;

    /// The response to a request that came at an input leaves, if it gets one.
    fn respond(&mut self, cx: &mut Cx, input: usize, response: &BridgeResponse<'_>);

    /// Takes messages that answer something, though nothing was asked; broken rules since the last call.
    fn take_findings(&mut self, cx: &mut Cx) -> Vec<BridgeFinding>;
}
