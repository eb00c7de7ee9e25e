//! The UART stream between firmware (`ualink` §6).
//!
//! Credits are two counters modulo 4096: the receiver tells how many DWords may have been sent in all, the sender counts
//! those that it has sent. A walk: what [`Uart::send`] queued goes in messages as long as credit, content and the limit of
//! 32 DWords allow; read DWords raise the counter, which is told at once after reset, later every fourth flit at most.

use super::{Deadlines, DlMessageFinding, broken, word};
use crate::event::Severity;
use scalepool_protocols::ualink::message::{NoOp, UartCredit, UartResetReq, UartResetRsp, UartTransport};
use scalepool_protocols::wire::{LayoutDef, Wire};
use std::collections::VecDeque;

/// Both counters run modulo this (`ualink` §6).
const MODULO: u16 = 4096;
/// Most DWords of one message (`ualink` §6).
const MOST_DWORDS: u16 = 32;
/// Flits between two credit updates (`ualink` §6).
const UPDATE_FLITS: u8 = 4;
/// No-Ops before a reset request (`ualink` §6).
const RESET_NOOPS: u8 = 40;

/// A reset of the stream that this end asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reset {
    /// No-Ops that are still to be sent.
    NoOps(u8),
    /// The request was sent at this flit time.
    Asked(u64),
}

/// Both directions of the stream at one end.
#[derive(Debug, Clone)]
pub struct Uart {
    buffer_dwords: u16,
    deadlines: Deadlines,
    out: VecDeque<u32>,
    /// DWords of the message that is being sent.
    sending: u16,
    /// TxCount.
    sent: u16,
    /// DataFCSeq of the peer; `None`: not told yet.
    allowed: Option<u16>,
    input: VecDeque<u32>,
    /// DWords of the message that is being received.
    receiving: u16,
    /// They are those of another stream.
    passes_over: bool,
    /// DWords received in all.
    received: u16,
    /// DataFCSeq of our own: what we have told, and what holds.
    told: Option<u16>,
    allows: u16,
    flits_since_told: u8,
    flits_since_heard: u8,
    reset: Option<Reset>,
    answer: Option<u32>,
}

/// The stream of a message that is not that of stream 0; a reset of all streams is.
fn other_stream(def: &LayoutDef, bits: u128) -> Option<u8> {
    let (stream, all) = match def.name {
        name if name == UartTransport::DEF.name => (UartTransport::from_bits(bits).stream, false),
        name if name == UartCredit::DEF.name => (UartCredit::from_bits(bits).stream, false),
        name if name == UartResetReq::DEF.name => {
            let request = UartResetReq::from_bits(bits);
            (request.stream, request.all)
        }
        _ => {
            let response = UartResetRsp::from_bits(bits);
            (response.stream, response.all)
        }
    };
    (stream != 0 && !all).then_some(stream)
}

fn ahead(of: u16, by: u16) -> u16 {
    (of + MODULO - by) % MODULO
}

impl Uart {
    pub(super) fn new(buffer_dwords: u16, deadlines: Deadlines) -> Uart {
        Uart {
            buffer_dwords: buffer_dwords.min(MODULO - 1),
            deadlines,
            out: VecDeque::new(),
            sending: 0,
            sent: 0,
            allowed: None,
            input: VecDeque::new(),
            receiving: 0,
            passes_over: false,
            received: 0,
            told: None,
            allows: buffer_dwords.min(MODULO - 1),
            flits_since_told: 0,
            flits_since_heard: UPDATE_FLITS,
            reset: None,
            answer: None,
        }
    }

    /// Queues a DWord.
    pub fn send(&mut self, dword: u32) {
        self.out.push_back(dword);
    }

    /// Takes the next received DWord; its place is free again.
    pub fn take(&mut self) -> Option<u32> {
        let dword = self.input.pop_front()?;
        self.allows = (self.allows + 1) % MODULO;
        Some(dword)
    }

    /// DWords that wait to be sent.
    pub fn waiting(&self) -> usize {
        self.out.len()
    }

    /// Resets the stream: what is queued and received is lost.
    pub fn start_reset(&mut self) {
        self.reset = Some(Reset::NoOps(RESET_NOOPS));
    }

    /// Whether a reset is under way.
    pub fn is_resetting(&self) -> bool {
        self.reset.is_some()
    }

    /// Nothing has begun that goes on in the next segment.
    pub(super) fn has_finished(&self) -> bool {
        self.reset.is_none() && self.sending == 0
    }

    /// The next DWord of a message that has begun; nothing comes between.
    pub(super) fn payload_word(&mut self) -> Option<u32> {
        self.sending = self.sending.checked_sub(1)?;
        self.out.pop_front()
    }

    pub(super) fn next(&mut self, now: u64, online: bool) -> Option<u32> {
        if let Some(answer) = self.answer.take() {
            return Some(answer);
        }
        match self.reset {
            Some(Reset::NoOps(0)) => {
                self.reset = Some(Reset::Asked(now));
                return Some(word(&UartResetReq::default()));
            }
            Some(Reset::NoOps(left)) => {
                self.reset = Some(Reset::NoOps(left - 1));
                return Some(word(&NoOp::default()));
            }
            Some(Reset::Asked(at)) => {
                if now > at + self.deadlines.long_flits {
                    self.reset = Some(Reset::NoOps(RESET_NOOPS));
                }
                return None;
            }
            None => (),
        }
        if !online {
            return None;
        }
        let due = self.told.is_none_or(|told| told != self.allows && self.flits_since_told >= UPDATE_FLITS);
        if due {
            (self.told, self.flits_since_told) = (Some(self.allows), 0);
            return Some(word(&UartCredit { data_fc_seq: self.allows, ..UartCredit::default() }));
        }
        let credit = ahead(self.allowed?, self.sent);
        let length = credit.min(self.out.len().min(usize::from(MOST_DWORDS)) as u16);
        let last = length.checked_sub(1)?;
        (self.sending, self.sent) = (length, (self.sent + length) % MODULO);
        Some(word(&UartTransport { length: last as u8, ..UartTransport::default() }))
    }

    /// Takes a DWord of a message that has begun; `false`: none has.
    pub(super) fn take_payload(&mut self, dword: u32, online: bool) -> bool {
        let Some(left) = self.receiving.checked_sub(1) else { return false };
        self.receiving = left;
        if online && !self.passes_over && self.input.len() < usize::from(self.buffer_dwords) {
            self.input.push_back(dword);
        }
        true
    }

    pub(super) fn receive(&mut self, def: &LayoutDef, bits: u32, online: bool, found: &mut Vec<DlMessageFinding>) {
        let bits = bits.into();
        if let Some(stream) = other_stream(def, bits) {
            // [D] Stream 0 is the only one. What belongs to another one is told and changes nothing; its DWords are passed over.
            let text = "a message of a UART stream that is not there is ignored";
            found.push((Severity::Protocol, broken(def.rule, format!("stream {stream}"), "stream 0", text)));
            if def.name == UartTransport::DEF.name {
                (self.receiving, self.passes_over) = (u16::from(UartTransport::from_bits(bits).length) + 1, true);
            }
            return;
        }
        if def.name == UartTransport::DEF.name {
            let length = u16::from(UartTransport::from_bits(bits).length) + 1;
            let credit = ahead(self.allows, self.received);
            if online && length > credit {
                let text = "UART payload is received although the sender has no credit";
                found.push((Severity::Protocol, broken("UAL-URT-01", length, format!("at most {credit}"), text)));
            }
            self.received = (self.received + length) % MODULO;
            (self.receiving, self.passes_over) = (length, false);
        } else if def.name == UartCredit::DEF.name {
            if self.allowed.is_some() && self.flits_since_heard < UPDATE_FLITS {
                let (n, text) = (self.flits_since_heard, "two UART credit updates follow too closely");
                found.push((Severity::Corrected, broken("UAL-URT-02", n, "at least 4", text)));
            }
            (self.allowed, self.flits_since_heard) = (Some(UartCredit::from_bits(bits).data_fc_seq), 0);
        } else if def.name == UartResetReq::DEF.name {
            self.reset_by_peer();
            self.answer = Some(word(&UartResetRsp::default()));
        } else if def.name == UartResetRsp::DEF.name {
            let status = UartResetRsp::from_bits(bits).status;
            if status != 0 {
                // [D] The stream is not reset: it is asked for again when its time is up.
                let text = "the peer has not reset the UART stream";
                found.push((Severity::Protocol, broken("UAL-URT-05", format!("status {status}"), "0, success", text)));
                return;
            }
            if self.reset.take().is_none_or(|r| matches!(r, Reset::NoOps(_))) {
                let text = "a UART reset response is received without a request";
                found.push((Severity::Protocol, broken("UAL-URT-05", "a response", "a request before", text)));
            }
            self.clear();
        }
    }

    /// The end that is followed has sent a message.
    pub(super) fn sent(&mut self, def: &LayoutDef, bits: u32) {
        if def.name == UartCredit::DEF.name {
            self.allows = UartCredit::from_bits(bits.into()).data_fc_seq;
        } else if def.name == UartResetReq::DEF.name {
            self.reset = Some(Reset::Asked(0));
        } else if def.name == UartResetRsp::DEF.name {
            self.reset_by_peer();
        }
    }

    /// The peer begins the stream anew. A message that is being sent goes to its end, because no other one may come between its
    /// DWords: the peer would take the response for one of them. A reset that this end has asked for still waits for its own
    /// response.
    fn reset_by_peer(&mut self) {
        let (sending, reset) = (self.sending, self.reset);
        let rest: VecDeque<u32> = self.out.drain(..usize::from(sending).min(self.out.len())).collect();
        self.clear();
        (self.sending, self.reset, self.out) = (sending, reset, rest);
    }

    /// The stream begins anew, in both directions.
    fn clear(&mut self) {
        *self = Uart::new(self.buffer_dwords, self.deadlines);
    }

    pub(super) fn flit_sent(&mut self, _now: u64) {
        self.flits_since_told = self.flits_since_told.saturating_add(1);
    }

    /// A replay leaves out the NOPs that were between, so nothing can be said of the distance to the update before.
    pub(super) fn flit_received(&mut self, replayed: bool) {
        self.flits_since_heard = if replayed { UPDATE_FLITS } else { self.flits_since_heard.saturating_add(1) };
    }

    pub(super) fn link_down(&mut self) {
        let out = std::mem::take(&mut self.out);
        self.clear();
        self.out = out;
    }

    pub(super) fn is_quiet(&self, online: bool) -> bool {
        let can_send = online && self.allowed.is_some_and(|allowed| ahead(allowed, self.sent) > 0);
        let must_tell = online && self.told != Some(self.allows);
        self.answer.is_none()
            && self.reset.is_none()
            && self.sending == 0
            && self.receiving == 0
            && !must_tell
            && (self.out.is_empty() || !can_send)
    }
}
