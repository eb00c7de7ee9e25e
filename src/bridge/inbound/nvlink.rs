//! Accesses to GPUs as NVLink spells them, model profile NVL-M1 (`bridge` §3.5, §5.4). Basis: model.
//!
//! Modelled: READ, WRITE_NONPOSTED and ATOMIC_RETURN of 64 bytes, and READ of 128 or 256, never posted ones, since the answer carries the status; byte enables for parts of a
//! line; accesses to bytes of a block ([`packets`]); the tag is the entry; a block of 256 bytes takes the link of its number; poison both ways.
//!
//! A walk through one write of a part: WRITE_NONPOSTED with 64 bytes and a BE flit leaves over the link of its block; RSP_DONE comes
//! back with the tag, so the status is 0.

use super::AcceleratorAccess;
use super::bar::packets;
use super::side::{AcceleratorAnswer, AcceleratorSide, SideAccess};
use crate::flows::LineOperation;
use crate::outbound::BridgeFinding;
use crate::outbound::nvlink::nvlink_attributes;
use scalepool_coherence::content::CacheLine;
use scalepool_kernel::{Cx, In, Out};
use scalepool_link::nvlink::NvlMessage;
use scalepool_nodes::nvlink::gpu::request_handle;
use scalepool_nodes::nvlink::ledger::{NvlLedger, NvlPeer};
use scalepool_nodes::nvlink::link_group::{LinkGroup, global};
use scalepool_ordered::OrderedMap;
use scalepool_protocols::nvlink::{NvlConfig, Op};
use scalepool_protocols::ualink::code::Status;
use scalepool_trace::TransactionHandle;
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes of a line.
const LINE_BYTES: usize = 64;
/// Channel of requests with an answer.
const REQUESTS: usize = 0;
/// Channel of answers.
const ANSWERS: usize = 2;

/// Channels of a link by which GPUs are asked.
pub struct NvlinkAccessEnds {
    /// Requests with an answer, to the link.
    pub requests: Out<NvlMessage>,
    /// Answers from the link.
    pub answers: In<NvlMessage>,
}

/// The NVLink side of a bridge.
pub struct NvlinkSide {
    /// Its number among the nodes, which is its requester identifier.
    own: u16,
    /// Number of its fabric, for traces.
    fabric: u32,
    links: Vec<NvlinkAccessEnds>,
    group: LinkGroup,
    codec: NvlConfig,
    /// The GPU that is asked, by tag, and address and bytes of an access that is no line.
    asked: OrderedMap<u16, (u16, Option<(u64, usize)>)>,
    ledger: Arc<Mutex<NvlLedger>>,
}

/// The message of an access; `own` is who asks.
pub fn spelled(own: u16, tag: u16, access: &AcceleratorAccess, codec: &NvlConfig) -> NvlMessage {
    let address = global(access.target, access.line.address());
    let of = |op| NvlMessage { rid: own, tag, address, ..NvlMessage::new(op, codec) };
    if access.operation == LineOperation::Read {
        let units = usize::from(access.lines) * LINE_BYTES / 16;
        return NvlMessage { size: (units - 1) as u8, ..of(Op::READ) };
    }
    if let Some((atomic, _)) = access.atomic {
        let (be, attr) = (Some(access.mask.into()), nvlink_attributes(atomic.attributes()));
        let (ep, data) = (access.data.poison, access.data.bytes.to_vec());
        return NvlMessage { be, attr, ep, data, ..of(Op::ATOMIC_RETURN) };
    }
    let be = (access.operation == LineOperation::WritePart).then_some(access.mask.into());
    NvlMessage { be, ep: access.data.poison, data: access.data.bytes.to_vec(), ..of(Op::WRITE_NONPOSTED) }
}

/// What an answer says: its status, and the lines that it brings.
///
/// # Errors
/// What is wrong with it.
pub fn understood(message: &NvlMessage) -> Result<(Status, Vec<CacheLine>), String> {
    understood_as(message, |message| match message.data.as_chunks::<LINE_BYTES>() {
        // Poison is that of the whole packet (`bridge` §8.3).
        (lines, []) => {
            let line = |bytes: &[u8; LINE_BYTES]| CacheLine { bytes: *bytes, poison: message.ep };
            Ok(lines.iter().map(line).collect())
        }
        _ => Err(format!("{} bytes", message.data.len())),
    })
}

/// What an answer to an access of so many bytes from an address on says: its status, and the lines in which the bytes lie.
///
/// # Errors
/// What is wrong with it.
pub fn understood_block(
    (address, bytes): (u64, usize),
    message: &NvlMessage,
) -> Result<(Status, Vec<CacheLine>), String> {
    understood_as(message, |message| packets::lines_of(address, bytes, message))
}

/// The same, with what is made of its data.
fn understood_as(
    message: &NvlMessage,
    lines: impl Fn(&NvlMessage) -> Result<Vec<CacheLine>, String>,
) -> Result<(Status, Vec<CacheLine>), String> {
    match message.op {
        Op::RSP_DATA => Ok((Status::OKAY, lines(message)?)),
        Op::RSP_DONE => Ok((Status::OKAY, Vec::new())),
        // An error without a code is one nevertheless.
        Op::RSP_ERROR if message.size == 0 => Ok((Status::TargetAbort, Vec::new())),
        Op::RSP_ERROR => Ok((Status(message.size), Vec::new())),
        other => Err(format!("{other:?}")),
    }
}

impl NvlinkSide {
    /// A side with its links; messages are in `ledger` as they pass.
    pub fn new(own: u16, fabric: u32, links: Vec<NvlinkAccessEnds>, ledger: Arc<Mutex<NvlLedger>>) -> NvlinkSide {
        NvlinkSide {
            own,
            fabric,
            group: LinkGroup::new(links.len()),
            links,
            codec: NvlConfig::default(),
            asked: OrderedMap::new(),
            ledger,
        }
    }

    fn ledger(&self) -> std::sync::MutexGuard<'_, NvlLedger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AcceleratorSide for NvlinkSide {
    fn has_room(&self, cx: &Cx, access: SideAccess<'_>) -> bool {
        let link = self.group.link_of(access.address());
        self.links[link].requests.has_room(cx, 1)
    }

    fn send(&mut self, cx: &mut Cx, tag: u16, access: SideAccess<'_>) -> Option<TransactionHandle> {
        let (link, target) = (self.group.link_of(access.address()), access.target());
        let (message, extent) = match access {
            SideAccess::Lines(access) => (spelled(self.own, tag, access, &self.codec), None),
            SideAccess::Block(access) => {
                (packets::spelled(self.own, tag, access, &self.codec), Some((access.address, access.bytes)))
            }
        };
        let handle = request_handle(self.fabric, &message, target);
        self.ledger().send((NvlPeer::Gpu(target), link, REQUESTS), &message);
        self.asked.insert(tag, (target, extent));
        // Room was asked for before.
        let _ = self.links[link].requests.push(cx, message);
        Some(handle)
    }

    fn receive(&mut self, cx: &mut Cx, answers: &mut Vec<Result<AcceleratorAnswer, BridgeFinding>>) {
        for link in 0..self.links.len() {
            let Some(message) = self.links[link].answers.pop(cx) else { continue };
            let asked = (message.rid == self.own).then(|| self.asked.remove(&message.tag)).flatten();
            let wrong = |found: String, expected| BridgeFinding { rule: "NVL-TLR-01", found, expected };
            let Some((target, extent)) = asked else {
                let found = format!("{:?} to {} with tag {}", message.op, message.rid, message.tag);
                answers.push(Err(wrong(found, "an answer to an open request")));
                continue;
            };
            self.ledger().receive((NvlPeer::Gpu(target), link, ANSWERS), &message);
            let tag = message.tag;
            let understood = match extent {
                Some(extent) => understood_block(extent, &message),
                None => understood(&message),
            };
            let (status, lines) = understood.unwrap_or_else(|found| {
                // What cannot be used is as if the accelerator had given up.
                answers.push(Err(wrong(found, "the bytes that were asked for, RSP_DONE or RSP_ERROR")));
                (Status::TargetAbort, Vec::new())
            });
            answers.push(Ok(AcceleratorAnswer { tag, status, lines }));
        }
    }

    fn is_due(&self, cx: &Cx) -> bool {
        self.links.iter().any(|ends| ends.answers.is_due(cx))
    }
}
