//! Requests and responses of UALink (`bridge` §4.2).
//!
//! Modelled: what the outbound half is to know of a UPLI request, and the response that it gets. Left out: links. A walk: AtomicR on 8
//! bytes becomes a request of one line with its atomic; its response has one beat, with the old value in place.

use super::request::{AnsweredBeats, BridgeRequest, BridgeResponse, PostedRole, ReplyForm};
use crate::atomics::LineAtomic;
use crate::commands::{self, AccessKind, CommandAction};
use crate::lines::{self, BLOCK_LINES};
use crate::response;
use scalepool_coherence::content::CacheLine;
use scalepool_nodes::ualink::read::lines_of;
use scalepool_protocols::ualink::code::ReqCmd;
use scalepool_protocols::ualink::control::ControlField;
use scalepool_protocols::ualink::field::TlReq;
use scalepool_protocols::ualink::half::Half;
use scalepool_protocols::ualink::unpack::Transfer;

/// Byte enables of a block, line by line.
fn by_line(half: &Half) -> [u64; BLOCK_LINES] {
    std::array::from_fn(|line| u64::from_le_bytes(std::array::from_fn(|k| half[8 * line + k])))
}

/// Bytes that a request covers.
fn bytes(req: &TlReq) -> u64 {
    4 * (u64::from(req.len) + 1)
}

/// The request of a transfer; `None`: it is none.
pub fn asked(transfer: &Transfer) -> Option<BridgeRequest> {
    let ControlField::Request(req) = transfer.field else { return None };
    let row = commands::row(req.cmd, req.metadata);
    let enables = transfer.enables.as_deref().filter(|_| req.cmd != ReqCmd::WriteFull).map(by_line);
    let touched: Vec<_> = lines::touched(req.address, bytes(&req), enables.as_ref()).collect();
    let data: Vec<CacheLine> = lines_of(&transfer.data)
        .enumerate()
        .map(|(n, bytes)| CacheLine { bytes, poison: transfer.poisoned >> n & 1 == 1 })
        .collect();
    let is_atomic = row.access == AccessKind::Atomic;
    let atomic =
        touched.first().filter(|_| is_atomic).and_then(|line| LineAtomic::of(req.attr, line.covered, line.mask));
    let has_data = row.access == AccessKind::Read || data.len() >= touched.len();
    let is_one = !is_atomic || touched.len() == 1 && atomic.is_some();
    Some(BridgeRequest {
        source: req.src,
        class: req.vchan,
        traffic_class: req.vchan,
        address: req.address,
        bytes: bytes(&req),
        action: row.action,
        access: row.access,
        is_legal: !lines::crosses(req.address, bytes(&req)) && has_data && is_one,
        ignored: lines::ignored(req.address, bytes(&req), enables.as_ref()),
        lines: touched,
        buffers: data.len(),
        data,
        atomic,
        posted: PostedRole::Answered,
        reply: ReplyForm::Upli(req),
    })
}

/// The response of accelerator number `own`; `None`: the request is none of UALink.
pub fn answered(own: u16, response: &BridgeResponse<'_>) -> Option<Transfer> {
    let BridgeResponse { request, status, lines, beats: answered } = response;
    let ReplyForm::Upli(req) = &request.reply else { return None };
    let channel = commands::row(req.cmd, req.metadata).answer;
    // A message that ends here has read nothing.
    let zeros = vec![CacheLine::of([0; 64]); request.lines.len()];
    let beats = if request.action == CommandAction::Ended { &zeros } else { lines };
    let AnsweredBeats::One { number, is_last } = *answered else {
        return Some(response::answer(own, req, channel, *status, beats, request.lines.len()));
    };
    let beat = beats.get(usize::from(number)).map(std::slice::from_ref).unwrap_or_default();
    let mut answer = response::answer(own, req, channel, *status, beat, 1);
    if let ControlField::Response(rsp) = &mut answer.field {
        (rsp.offset, rsp.last) = (number, is_last);
    }
    Some(answer)
}
