//! Which bits of a message at a port mean something, so that nothing else is compared.
//!
//! Modelled: bytes without an enable, bytes of Bogus data, MetaValue without a MetaField, the load of targets, what links of UALink keep of addresses and
//! credits, bytes of a response that nobody asked for, the payload of numbers that are none. Left out: what links refuse before.
//!
//! A walk: a read of 8 bytes at byte 16 of a line is answered by a beat of 64 bytes. [`AnsweredBytes::of`] knows of its request that bytes
//! 16 to 23 were asked for; [`OwedResponse::is_same`] makes the others zero in both responses before they are compared.

use super::message::{BridgeMessage, CxlMessage};
use scalepool_bridge::lines::{self, BLOCK_BYTES, BLOCK_LINES};
use scalepool_coherence::message::Msg;
use scalepool_endpoint::tlp::{Tlp, TlpKind};
use scalepool_nodes::ualink::read::lines_of;
use scalepool_protocols::cxl::cxl256::code::{DevLoad, M2sRwdOpcode, MetaField, MetaValue};
use scalepool_protocols::nvlink::Op;
use scalepool_protocols::ualink::code::ReqCmd;
use scalepool_protocols::ualink::control::ControlField;
use scalepool_protocols::ualink::field::TlReq;
use scalepool_protocols::ualink::pack::with_data;
use scalepool_protocols::ualink::unpack::Transfer;

/// Bytes of a line.
const LINE_BYTES: usize = 64;
/// Bytes of a DWord.
const DWORD_BYTES: usize = 4;

/// A message without what bridges may choose and what says nothing.
pub(crate) fn meant(message: &BridgeMessage) -> BridgeMessage {
    let mut message = message.clone();
    match &mut message {
        BridgeMessage::Cxl(CxlMessage { msg, .. }) => {
            if let Msg::S2mNdr { devload, .. } | Msg::S2mDrs { devload, .. } = msg {
                *devload = DevLoad(0);
            }
            if let Msg::M2sReq { meta_field, meta, .. }
            | Msg::M2sRwd { meta_field, meta, .. }
            | Msg::S2mNdr { meta_field, meta, .. }
            | Msg::S2mDrs { meta_field, meta, .. } = msg
                && *meta_field == MetaField::NoOp
            {
                *meta = MetaValue(0);
            }
            if let Msg::M2sRwd { opcode: M2sRwdOpcode::MemWrPtl, enables, data, .. } = msg {
                clear(&mut data.bytes, |k| *enables >> k & 1 == 1);
            }
            if let Msg::D2hData { bogus, enables, data, .. } = msg {
                // The line was taken away before: its bytes mean nothing (`bridge` §9.6 R8).
                data.poison &= !*bogus;
                clear(&mut data.bytes, |k| !*bogus && *enables >> k & 1 == 1);
            }
        }
        BridgeMessage::Upli(transfer) => {
            // Caches of addresses and pools of credits belong to the link.
            match &mut transfer.field {
                ControlField::Request(req) => (req.cway, req.cload, req.pool) = (0, false, false),
                ControlField::Response(rsp) => rsp.pool = false,
                _ => (),
            }
            if let (ControlField::Request(TlReq { address, .. }), Some(enables)) = (transfer.field, &transfer.enables) {
                let first = address as usize % BLOCK_BYTES as usize / LINE_BYTES * LINE_BYTES;
                let enables = enables.clone();
                let is_enabled = |k: usize| enables.get((first + k) / 8).is_some_and(|byte| byte >> (k % 8) & 1 == 1);
                clear_beats(transfer, is_enabled);
            }
        }
        BridgeMessage::Nvlink(message) => {
            if let Some(be) = message.be {
                clear(&mut message.data, |k| k >= 128 || be >> k & 1 == 1);
            }
        }
        BridgeMessage::Tlp(tlp) => {
            let dw = tlp.data.len() / DWORD_BYTES;
            if let TlpKind::MemWrite { enables, .. } = tlp.kind {
                clear(&mut tlp.data, |k| enables.has(k, dw));
            }
            // Nothing answers it, so its tag names nothing.
            tlp.tag = if message_has_tag(tlp) { tlp.tag } else { 0 };
        }
    }
    message
}

/// Whether the tag of a TLP says anything.
fn message_has_tag(tlp: &Tlp) -> bool {
    tlp.is_non_posted() || tlp.is_completion()
}

/// Makes bytes zero that are not kept.
fn clear(bytes: &mut [u8], keeps: impl Fn(usize) -> bool) {
    for (k, byte) in bytes.iter_mut().enumerate() {
        *byte = if keeps(k) { *byte } else { 0 };
    }
}

/// The same for the beats of UALink, whose bytes count through.
fn clear_beats(transfer: &mut Transfer, keeps: impl Fn(usize) -> bool) {
    let mut beats: Vec<[u8; LINE_BYTES]> = lines_of(&transfer.data).collect();
    for (n, beat) in beats.iter_mut().enumerate() {
        clear(beat, |k| keeps(LINE_BYTES * n + k));
    }
    transfer.data = with_data(transfer.field, &beats, None).data;
}

/// A line behind a sum of floating point numbers: in its elements, of so many bytes, every number that is none becomes the same one.
pub(crate) fn same_nan(message: &mut BridgeMessage, (element_bytes, mask): (usize, u64)) {
    let BridgeMessage::Cxl(CxlMessage { msg: Msg::M2sRwd { data, .. } | Msg::D2hData { data, .. }, .. }) = message
    else {
        return;
    };
    // Bits of the mantissa of binary16, binary32 and binary64.
    let mantissa_bits = match element_bytes {
        2 => 10,
        4 => 23,
        _ => 52,
    };
    for (n, element) in data.bytes.chunks_exact_mut(element_bytes).enumerate() {
        let value = element.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte));
        let magnitude = value & (u64::MAX >> (64 - 8 * element_bytes + 1));
        let infinity = (u64::MAX >> (64 - 8 * element_bytes + 1)) >> mantissa_bits << mantissa_bits;
        if mask >> (n * element_bytes) & 1 == 1 && magnitude > infinity {
            element.fill(0xff);
        }
    }
}

/// Who asked: source and tag, of a request, or of a response to it.
pub(crate) fn asker(message: &BridgeMessage) -> Option<(u16, u16)> {
    match message {
        BridgeMessage::Upli(transfer) => match transfer.field {
            ControlField::Request(req) => Some((req.src, req.tag)),
            ControlField::Response(rsp) => Some((rsp.dst, rsp.tag)),
            _ => None,
        },
        BridgeMessage::Nvlink(message) => Some((message.rid, message.tag)),
        BridgeMessage::Cxl(_) | BridgeMessage::Tlp(_) => None,
    }
}

/// What a request is owed: responses with these bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OwedResponse {
    bytes: AnsweredBytes,
    /// Beats that have still to leave, of a read that is answered beat by beat; `None`: one response has all.
    beats_left: Option<usize>,
}

impl OwedResponse {
    /// What a request is owed by a bridge that answers reads beat by beat, or not.
    pub(crate) fn to(request: &BridgeMessage, single_beat: bool) -> OwedResponse {
        let beats = |transfer: &Transfer| match transfer.field {
            ControlField::Request(req) if req.cmd == ReqCmd::Read => {
                let bytes = DWORD_BYTES as u64 * (u64::from(req.len) + 1);
                Some(lines::touched(req.address, bytes, None).count())
            }
            _ => None,
        };
        let beats_left = match request {
            BridgeMessage::Upli(transfer) if single_beat => beats(transfer),
            _ => None,
        };
        OwedResponse { bytes: AnsweredBytes::of(request), beats_left }
    }

    /// Whether a response of the bridge is one of the model. Which beat is the last one follows from what has left.
    pub(crate) fn is_same(&self, found: &BridgeMessage, wanted: &BridgeMessage) -> bool {
        let shown = |message: &BridgeMessage| {
            let mut shown = self.bytes.clear_others(message);
            if let BridgeMessage::Upli(transfer) = &mut shown
                && let ControlField::Response(rsp) = &mut transfer.field
                && self.beats_left.is_some()
            {
                rsp.last = false;
            }
            shown
        };
        // Only what answers the same requester under the same tag can be the same.
        asker(wanted) == asker(found) && shown(wanted) == shown(found)
    }

    /// A response leaves: whether it says rightly if others follow, and whether none does.
    pub(crate) fn leaves(&mut self, response: &BridgeMessage) -> (bool, bool) {
        let (Some(left), BridgeMessage::Upli(transfer)) = (self.beats_left, response) else { return (true, true) };
        let left = left.saturating_sub(lines_of(&transfer.data).count());
        self.beats_left = Some(left);
        let is_last = matches!(transfer.field, ControlField::Response(rsp) if rsp.last);
        (is_last == (left == 0), left == 0)
    }
}

/// The bytes of a response that were asked for, counted from the first byte of its first beat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct AnsweredBytes([bool; BLOCK_LINES * LINE_BYTES]);

impl AnsweredBytes {
    /// What a request asks for: a read what it covers, an atomic its elements.
    fn of(request: &BridgeMessage) -> AnsweredBytes {
        let mut asked = AnsweredBytes([true; BLOCK_LINES * LINE_BYTES]);
        match request {
            BridgeMessage::Upli(transfer) => {
                let ControlField::Request(req) = transfer.field else { return asked };
                let first = req.address as usize % BLOCK_BYTES as usize;
                let behind = first + DWORD_BYTES * (usize::from(req.len) + 1);
                let enables = transfer.enables.as_deref().filter(|_| req.cmd == ReqCmd::AtomicR);
                for (k, byte) in asked.0.iter_mut().enumerate() {
                    let k = first / LINE_BYTES * LINE_BYTES + k;
                    let is_enabled = |e: &[u8; 32]| e.get(k / 8).is_some_and(|byte| byte >> (k % 8) & 1 == 1);
                    *byte = (first..behind).contains(&k) && enables.is_none_or(is_enabled);
                }
            }
            BridgeMessage::Nvlink(message) => {
                if let Some(be) = message.be.filter(|_| message.op == Op::ATOMIC_RETURN) {
                    for (k, byte) in asked.0.iter_mut().enumerate().take(128) {
                        *byte = be >> k & 1 == 1;
                    }
                }
            }
            BridgeMessage::Cxl(_) | BridgeMessage::Tlp(_) => (),
        }
        asked
    }

    /// A response with zeros in all other bytes. The first beat of one that is not the first of its request is the one that its offset names.
    fn clear_others(&self, response: &BridgeMessage) -> BridgeMessage {
        let mut response = response.clone();
        let keeps = |k: usize| self.0.get(k).is_some_and(|asked| *asked);
        match &mut response {
            BridgeMessage::Upli(transfer) => {
                let skipped = match transfer.field {
                    ControlField::Response(rsp) => LINE_BYTES * usize::from(rsp.offset),
                    _ => 0,
                };
                clear_beats(transfer, |k| keeps(skipped + k));
            }
            BridgeMessage::Nvlink(message) => clear(&mut message.data, keeps),
            BridgeMessage::Cxl(_) | BridgeMessage::Tlp(_) => (),
        }
        response
    }
}
