//! Accelerators on UALink that ask a bridge.

use super::side::{FrontRequest, RequesterSide};
use crate::outbound::BridgeFinding;
use crate::outbound::request::{BridgeRequest, BridgeResponse, EntryNeed};
use crate::outbound::upli;
use scalepool_kernel::{Cx, In, Out};
use scalepool_nodes::ualink::ledger::UalLedger;
use scalepool_nodes::ualink::request_handle;
use scalepool_protocols::ualink::code::Status;
use scalepool_protocols::ualink::control::ControlField;
use scalepool_protocols::ualink::unpack::Transfer;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Virtual channels of UALink.
pub const VCHANS: usize = 4;

/// Channels of a port by which accelerators ask.
pub struct UalinkRequestEnds {
    /// Requests from the link, by virtual channel.
    pub requests: [In<Box<Transfer>>; VCHANS],
    /// Responses to the link.
    pub responses: Out<Box<Transfer>>,
    /// Responses from the link, if nothing is asked by it.
    pub unasked: Option<In<Box<Transfer>>>,
}

/// UALinks of a bridge: input 4 n + v has requests of link n on virtual channel v, so that none waits for an entry of another channel.
pub struct UalinkRequesters {
    /// Its number among the accelerators.
    own: u16,
    /// Number of its fabric, for traces.
    fabric: u32,
    ports: Vec<UalinkRequestEnds>,
    ledger: Arc<Mutex<UalLedger>>,
}

impl UalinkRequesters {
    /// With these ports; messages are in `ledger` as they pass.
    pub fn new(
        own: u16,
        fabric: u32,
        ports: Vec<UalinkRequestEnds>,
        ledger: Arc<Mutex<UalLedger>>,
    ) -> UalinkRequesters {
        UalinkRequesters { own, fabric, ports, ledger }
    }

    fn ledger(&self) -> MutexGuard<'_, UalLedger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RequesterSide for UalinkRequesters {
    fn inputs(&self) -> usize {
        VCHANS * self.ports.len()
    }

    fn front(&mut self, cx: &Cx, input: usize) -> Option<FrontRequest> {
        let fabric = self.fabric;
        let transfer = self.ports[input / VCHANS].requests[input % VCHANS].peek(cx)?;
        let ControlField::Request(req) = &transfer.field else {
            let need = EntryNeed { class: 0, address: None, buffers: 0 };
            return Some(FrontRequest { need, handle: None });
        };
        let buffers = transfer.data.len() / 2;
        let need = EntryNeed { class: req.vchan, address: Some(req.address), buffers };
        Some(FrontRequest { need, handle: request_handle(fabric, transfer) })
    }

    fn take(&mut self, cx: &mut Cx, input: usize) -> Option<BridgeRequest> {
        let transfer = self.ports[input / VCHANS].requests[input % VCHANS].pop(cx)?;
        self.ledger().takes(input / VCHANS, &transfer);
        upli::asked(&transfer)
    }

    fn has_room(&self, cx: &Cx, input: usize, _: &BridgeResponse<'_>) -> bool {
        self.ports[input / VCHANS].responses.has_room(cx, 1)
    }

    fn respond(&mut self, cx: &mut Cx, input: usize, response: &BridgeResponse<'_>) {
        let Some(answer) = upli::answered(self.own, response) else { return };
        let port = input / VCHANS;
        self.ledger().sends(port, &answer);
        // Room was asked for before.
        let _ = self.ports[port].responses.push(cx, Box::new(answer));
    }

    /// When its link goes down, a port says so by a response.
    fn take_findings(&mut self, cx: &mut Cx) -> Vec<BridgeFinding> {
        let mut findings = Vec::new();
        for port in &mut self.ports {
            let Some(unasked) = &mut port.unasked else { continue };
            while let Some(transfer) = unasked.pop(cx) {
                let ControlField::Response(rsp) = &transfer.field else { continue };
                if rsp.status != Status::ISOLATE {
                    let (found, expected) = (format!("tag {:#x}", rsp.tag), "no response: this port asks nothing");
                    findings.push(BridgeFinding { rule: "SIM-E2E-02", found, expected });
                }
            }
        }
        findings
    }
}
