//! CXL.io in 256B flits over a wire without errors.
//!
//! Modelled: payload flits with numbers that count up, NOPs where a DLLP has nothing to ride on, CRC and FEC of each. Detail:
//! every byte of a flit. Left out: agreeing on the first number, Ack, Nak and replay, which a wire without errors never
//! needs; NOPs that say nothing.

use crate::link::cxl256::client::{Client, Part};
use crate::link::cxl256::number::{LAST, next};
use crate::link::cxlio::FlitEnd;
use crate::link::event::{Event, Severity};
use scalepool_protocols::cxl::cxl256::Mode;
use scalepool_protocols::cxl::cxl256::code::{FlitType, ReplayCommand};
use scalepool_protocols::cxl::cxl256::flit::{Flit, body_byte, body_bytes};
use scalepool_protocols::cxl::cxl256::header::FlitHeader;
use scalepool_protocols::wire::Violation;

/// Bytes of a DLLP, the last ones of the body (`cxl-io` §4).
const DLLP_BYTES: usize = 4;

/// One end.
pub struct FlitLine {
    /// The link layer.
    pub io: FlitEnd,
    mode: Mode,
    /// Number of the last payload flit that was sent.
    sent: u16,
    /// The flit clock before carried payload.
    prior: bool,
    /// Number of the last payload flit that came.
    received: u16,
    units: u64,
    events: Vec<Event>,
}

impl FlitLine {
    /// An end whose link is up.
    pub fn new(io: FlitEnd, mode: Mode) -> FlitLine {
        FlitLine { io, mode, sent: LAST, prior: false, received: LAST, units: 0, events: Vec::new() }
    }

    /// Flit bytes of the DLLP.
    fn dllp_bytes(&self) -> impl Iterator<Item = usize> + use<> {
        let (mode, end) = (self.mode, body_bytes(self.mode));
        (end - DLLP_BYTES..end).map(move |k| body_byte(mode, k))
    }

    /// The flit of this flit clock; `None`: a NOP that says nothing.
    pub fn transmit(&mut self, now: u64) -> Option<Flit> {
        let payload = self.io.transmit(now);
        let dllp = self.io.dllp(now);
        let is_payload = payload.is_some();
        let prior = std::mem::replace(&mut self.prior, is_payload);
        if !is_payload && dllp.is_none() {
            return None;
        }
        let mut flit = payload.unwrap_or(Flit::ZERO);
        for (at, byte) in self.dllp_bytes().zip(dllp.into_iter().flatten()) {
            flit.0[at] = byte;
        }
        if is_payload {
            self.sent = next(self.sent);
        }
        let flit_type = if is_payload { FlitType::Io } else { FlitType::Nop };
        let header =
            FlitHeader { seq: self.sent, command: ReplayCommand::Explicit, dllp_type: false, prior, flit_type };
        // Every field is as wide as its values.
        let fits = flit.set_header(&header);
        debug_assert!(fits.is_ok(), "{header:?}");
        flit.seal(self.mode);
        Some(flit)
    }

    /// Takes a flit off the wire.
    pub fn receive(&mut self, flit: &Flit, now: u64) {
        self.units += 1;
        let read = flit.receive(self.mode);
        let header = read.flit.header();
        if !read.is_good() {
            self.event("CXL256-CRC-01", 242, "a flit that does not fit", "CRC and FEC of the flit");
            return;
        }
        if header.flit_type == FlitType::Io {
            if header.seq != next(self.received) {
                let (found, expected) = (header.seq.to_string(), next(self.received).to_string());
                self.event("CXL256-RTY-01", 0, &found, &expected);
            }
            self.received = header.seq;
            self.io.receive(&read.flit, Part::Whole, now);
        }
        let mut dllp = [0; DLLP_BYTES];
        dllp.iter_mut().zip(self.dllp_bytes()).for_each(|(byte, at)| *byte = read.flit.0[at]);
        self.io.receive_dllp(dllp, now);
    }

    fn event(&mut self, rule: &'static str, byte: usize, found: &str, expected: &str) {
        let violation = Violation::at_byte(rule, byte, found, expected, "a flit on a wire without errors");
        self.events.push(Event { severity: Severity::Uncorrectable, unit: self.units, violation });
    }

    /// Nothing waits to be sent, taken or returned.
    pub fn is_quiet(&self) -> bool {
        self.io.is_quiet()
    }

    /// Events since the last call, without those of the link layer.
    pub fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }
}
