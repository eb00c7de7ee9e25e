//! GPUs on NVLink that ask a bridge, model profile NVL-M1. Basis: model.

use super::side::{FrontRequest, RequesterSide};
use crate::outbound::BridgeFinding;
use crate::outbound::nvlink::{answered, asked, buffers, operation_row, place};
use crate::outbound::request::{BridgeRequest, BridgeResponse, EntryNeed};
use scalepool_kernel::{Cx, In, Out};
use scalepool_link::nvlink::NvlMessage;
use scalepool_nodes::nvlink::gpu::request_handle;
use scalepool_nodes::nvlink::ledger::{NvlLedger, NvlPeer};
use scalepool_nodes::nvlink::link_group::LinkGroup;
use scalepool_protocols::nvlink::NvlConfig;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Channels of a link by which GPUs ask.
pub struct NvlinkRequestEnds {
    /// Requests with an answer, and posted ones.
    pub requests: [In<NvlMessage>; 2],
    /// Answers.
    pub answers: Out<NvlMessage>,
}

/// Classes of requests of a link.
const CLASSES: usize = 2;
/// Channel of answers.
const ANSWERS: usize = 2;

/// NVLinks of a bridge: input 2 n has requests of link n with an answer, input 2 n + 1 its posted ones, so that neither waits for the
/// other.
pub struct NvlinkRequesters {
    /// Its number among the nodes.
    own: u16,
    /// Number of its fabric, for traces.
    fabric: u32,
    links: Vec<NvlinkRequestEnds>,
    /// Order of posted requests.
    group: LinkGroup,
    codec: NvlConfig,
    ledger: Arc<Mutex<NvlLedger>>,
    findings: Vec<BridgeFinding>,
}

impl NvlinkRequesters {
    /// With these links; messages are in `ledger` as they pass.
    pub fn new(
        own: u16,
        fabric: u32,
        links: Vec<NvlinkRequestEnds>,
        ledger: Arc<Mutex<NvlLedger>>,
    ) -> NvlinkRequesters {
        let (group, codec) = (LinkGroup::new(links.len()), NvlConfig::default());
        NvlinkRequesters { own, fabric, links, group, codec, ledger, findings: Vec::new() }
    }

    fn ledger(&self) -> MutexGuard<'_, NvlLedger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RequesterSide for NvlinkRequesters {
    fn inputs(&self) -> usize {
        CLASSES * self.links.len()
    }

    fn front(&mut self, cx: &Cx, input: usize) -> Option<FrontRequest> {
        let (own, fabric) = (self.own, self.fabric);
        let message = self.links[input / CLASSES].requests[input % CLASSES].peek(cx)?;
        let handle = operation_row(message.op).map(|_| request_handle(fabric, message, own));
        let class = (input % CLASSES) as u8;
        let need = EntryNeed { class, address: place(message), buffers: buffers(message) };
        Some(FrontRequest { need, handle })
    }

    fn take(&mut self, cx: &mut Cx, input: usize) -> Option<BridgeRequest> {
        let (link, class) = (input / CLASSES, input % CLASSES);
        let message = self.links[link].requests[class].pop(cx)?;
        self.ledger().receive((NvlPeer::of_requester(message.rid), link, class), &message);
        let request = asked(&message, link);
        if class == 1
            && request.is_some()
            && let Err((home, tag)) = self.group.arrived(message.rid, link, message.tag, message.address)
        {
            let found =
                format!("link {link}, number {}, from {}, not link {home}, number {tag}", message.tag, message.rid);
            let expected = "posted requests to a block in the order in which they were sent";
            self.findings.push(BridgeFinding { rule: "NVL-TLR-03", found, expected });
        }
        if request.is_none() {
            let found = format!("{:?} from {}", message.op, message.rid);
            let expected = "an operation that a bridge takes; it is dropped";
            self.findings.push(BridgeFinding { rule: "BRG-MAP-28", found, expected });
        }
        request
    }

    fn has_room(&self, cx: &Cx, input: usize, response: &BridgeResponse<'_>) -> bool {
        let is_answered = answered(response, &self.codec).is_some();
        !is_answered || self.links[input / CLASSES].answers.has_room(cx, 1)
    }

    fn respond(&mut self, cx: &mut Cx, input: usize, response: &BridgeResponse<'_>) {
        let Some(answer) = answered(response, &self.codec) else { return };
        let link = input / CLASSES;
        self.ledger().send((NvlPeer::of_requester(answer.rid), link, ANSWERS), &answer);
        // Room was asked for before.
        let _ = self.links[link].answers.push(cx, answer);
    }

    fn take_findings(&mut self, _: &mut Cx) -> Vec<BridgeFinding> {
        std::mem::take(&mut self.findings)
    }
}
