//! Accesses to accelerators as UALink spells them (`bridge` §3.5, §5.4).
//!
//! Modelled: Read, WriteFull, Write, AtomicR and AtomicNR of 64 bytes, and Read of 128 or 256, in the name of the bridge, the tag is the entry, byte enables by block, poison both
//! ways; accesses to bytes of a block ([`upli`]); answers whose beats come one by one ([`UpliAnswer`]); links that go down, with what was asked over them; a block of 256 bytes takes the port of its number. Left out: protection of transactions.
//!
//! A walk through one read: Read of 16 DWords leaves with the tag of its entry; the read response of one beat comes back with it.

use super::AcceleratorAccess;
use super::bar::upli;
use super::beats::UpliAnswer;
use super::side::{AcceleratorAnswer, AcceleratorSide, SideAccess};
use crate::flows::LineOperation;
use crate::lines::{BLOCK_BYTES, BLOCK_LINES};
use crate::outbound::BridgeFinding;
use scalepool_coherence::content::CacheLine;
use scalepool_kernel::{Cx, In, Out};
use scalepool_link::ualink::upli::Ordered;
use scalepool_nodes::ualink::ledger::UalLedger;
use scalepool_nodes::ualink::read::lines_of;
use scalepool_nodes::ualink::request_handle;
use scalepool_ordered::OrderedMap;
use scalepool_protocols::ualink::code::{RdWr, ReqCmd, Status};
use scalepool_protocols::ualink::control::ControlField;
use scalepool_protocols::ualink::field::{TlReq, TlRsp};
use scalepool_protocols::ualink::pack::with_data;
use scalepool_protocols::ualink::unpack::Transfer;
use scalepool_trace::TransactionHandle;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// DWords of a line.
const LINE_DWORDS: u8 = 16;

/// Channels of a port by which accelerators are asked.
pub struct UalinkAccessEnds {
    /// Requests to the link.
    pub requests: Out<Box<Transfer>>,
    /// Responses from the link.
    pub responses: In<Box<Transfer>>,
}

/// An access that is not answered.
struct AskedAccess {
    answer: UpliAnswer,
    target: u16,
    port: usize,
    /// The cycle in which its port has said that its link is down.
    lost_cycle: Option<u64>,
}

/// The UALink side of a bridge.
pub struct UalinkSide {
    /// Its number among the accelerators.
    own: u16,
    /// Number of its fabric, for traces.
    fabric: u32,
    ports: Vec<UalinkAccessEnds>,
    /// Accesses that are not answered, by tag.
    asked: OrderedMap<u16, AskedAccess>,
    /// Of these those that are lost and not told yet.
    lost: Vec<u16>,
    ledger: Arc<Mutex<UalLedger>>,
}

/// The request of an access; `own` is who asks.
pub fn upli_spelled(own: u16, tag: u16, access: &AcceleratorAccess) -> Transfer {
    let AcceleratorAccess { target, line, lines, operation, atomic, data, mask, vchan } = *access;
    let (cmd, has_data) = match (operation, atomic) {
        (LineOperation::Read, _) => (ReqCmd::Read, false),
        (LineOperation::WriteFull, _) => (ReqCmd::WriteFull, true),
        (LineOperation::Atomic, Some((_, true))) => (ReqCmd::AtomicR, true),
        (LineOperation::Atomic, _) => (ReqCmd::AtomicNR, true),
        (LineOperation::WritePart, _) => (ReqCmd::Write, true),
    };
    let attr = atomic.map_or(0, |(atomic, _)| atomic.attributes());
    let (address, len) = (line.address(), LINE_DWORDS * lines - 1);
    let req = TlReq { cmd, src: own, dst: target, tag, vchan, address, len, attr, ..TlReq::default() };
    let enables = (has_data && cmd != ReqCmd::WriteFull).then(|| {
        let mut enables = [0; 8 * BLOCK_LINES];
        let first = line.0 as usize % BLOCK_LINES * 8;
        enables[first..first + 8].copy_from_slice(&mask.to_le_bytes());
        enables
    });
    let beats = if has_data { vec![data.bytes] } else { Vec::new() };
    let poisoned = u8::from(has_data && data.poison);
    Transfer { address: address.into(), poisoned, ..with_data(ControlField::Request(req), &beats, enables) }
}

/// What a response says, to a request whose answer brings bytes or not: its status, and the lines that it brings.
///
/// # Errors
/// What is wrong with it.
pub fn upli_understood(is_read: bool, transfer: &Transfer) -> Result<(Status, Vec<CacheLine>), &'static str> {
    let ControlField::Response(rsp) = &transfer.field else { return Err("no response") };
    if is_read != (rsp.rdwr == RdWr::Read) {
        return Err("a response of the other channel");
    }
    let is_good = is_read && rsp.status == Status::OKAY;
    let lines = lines_of(&transfer.data).enumerate().filter(|_| is_good);
    let lines = lines.map(|(n, bytes)| CacheLine { bytes, poison: transfer.poisoned >> n & 1 == 1 });
    let lines: Vec<CacheLine> = lines.collect();
    if is_good && lines.is_empty() {
        return Err("a read response without data");
    }
    Ok((rsp.status, lines))
}

impl UalinkSide {
    /// A side with its ports; messages are in `ledger` as they pass.
    pub fn new(own: u16, fabric: u32, ports: Vec<UalinkAccessEnds>, ledger: Arc<Mutex<UalLedger>>) -> UalinkSide {
        UalinkSide { own, fabric, ports, asked: OrderedMap::new(), lost: Vec::new(), ledger }
    }

    fn port_of(&self, access: SideAccess<'_>) -> usize {
        (access.address() / BLOCK_BYTES % self.ports.len() as u64) as usize
    }

    /// The link of a port is down: what was asked over it may never be answered.
    fn link_down(&mut self, port: usize, cycle: u64) {
        let open = self.asked.iter_mut().filter(|(_, asked)| asked.port == port && asked.lost_cycle.is_none());
        for (tag, asked) in open {
            asked.lost_cycle = Some(cycle);
            self.lost.push(*tag);
        }
    }

    fn ledger(&self) -> MutexGuard<'_, UalLedger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AcceleratorSide for UalinkSide {
    fn has_room(&self, cx: &Cx, access: SideAccess<'_>) -> bool {
        self.ports[self.port_of(access)].requests.has_room(cx, 1)
    }

    fn send(&mut self, cx: &mut Cx, tag: u16, access: SideAccess<'_>) -> Option<TransactionHandle> {
        let transfer = match access {
            SideAccess::Lines(access) => upli_spelled(self.own, tag, access),
            SideAccess::Block(access) => upli::spelled(self.own, tag, access),
        };
        let port = self.port_of(access);
        let handle = request_handle(self.fabric, &transfer);
        self.ledger().sends(port, &transfer);
        let answer = UpliAnswer::new(access.is_read(), access.lines());
        self.asked.insert(tag, AskedAccess { answer, target: access.target(), port, lost_cycle: None });
        // Room was asked for before.
        let _ = self.ports[port].requests.push(cx, Box::new(transfer));
        handle
    }

    fn receive(&mut self, cx: &mut Cx, answers: &mut Vec<Result<AcceleratorAnswer, BridgeFinding>>) {
        for port in 0..self.ports.len() {
            let Some(transfer) = self.ports[port].responses.pop(cx) else { continue };
            let ControlField::Response(rsp) = transfer.field else { continue };
            if rsp.status == Status::ISOLATE {
                match (rsp.dst, rsp.src) {
                    // A port says of itself that its link is down, and else of a request that it has not sent it for that reason.
                    (0, 0) => self.link_down(port, cx.cycle()),
                    _ => answers.extend(self.asked.remove(&rsp.tag).map(|_| {
                        Ok(AcceleratorAnswer { tag: rsp.tag, status: Status::CompletionTimeout, lines: Vec::new() })
                    })),
                }
                continue;
            }
            let wrong = |found: String, expected| BridgeFinding { rule: "SIM-E2E-02", found, expected };
            let Some(AskedAccess { answer, target, .. }) = self.asked.get_mut(&rsp.tag) else {
                let found = format!("a response with tag {:#x}", rsp.tag);
                answers.push(Err(wrong(found, "a response to an open request")));
                continue;
            };
            // A compressed answer does not say where it comes from.
            let named = TlRsp { src: *target, ..rsp };
            let answer = answer.take(&transfer).unwrap_or_else(|found| {
                // What cannot be used is as if the accelerator had given up.
                answers.push(Err(wrong(found.to_owned(), "the response of its request")));
                Some((Status::TargetAbort, Vec::new()))
            });
            self.ledger().came.add(port, Ordered::response(&named));
            let Some((status, lines)) = answer else { continue };
            self.asked.remove(&rsp.tag);
            answers.push(Ok(AcceleratorAnswer { tag: rsp.tag, status, lines }));
        }
    }

    fn take_lost(&mut self) -> Vec<u16> {
        std::mem::take(&mut self.lost)
    }

    fn forgets(&mut self, tag: u16, lost_cycle: u64) -> bool {
        let is_lost = self.asked.get(&tag).is_some_and(|asked| asked.lost_cycle == Some(lost_cycle));
        is_lost && self.asked.remove(&tag).is_some()
    }

    fn is_due(&self, cx: &Cx) -> bool {
        self.ports.iter().any(|port| port.responses.is_due(cx))
    }
}
