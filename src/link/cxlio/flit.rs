//! CXL.io over 256B flits: TLP bytes and the DLLP field (`cxl-io` §3.7, §3.8, §4, `cxl-256b` §1.2, §1.5, §9).
//!
//! Numbers, CRC, FEC and replay are below it: what comes is in order and comes once, only DLLPs may be lost. A walk
//! through one flit clock: [`Client::receive`] joins the TLP bytes to TLPs, those of an even half alone as far as they are
//! whole. [`Client::transmit`] fills a payload flit with TLPs that have credit and NOPs, or makes none; the four DLLP bytes
//! are asked for apart, with [`Client::dllp`], for every CXL.io flit and NOP that leaves. A DLLP that finds none for a
//! while gets a flit of NOPs.

use super::config::{FlitConfig, IoConfig, IoConfigError};
use super::port::{IoChannel, IoPort};
use super::tlp::IoTlpForm;
use crate::cxl256::client::{Client, FlitPart};
use crate::event::LinkEvent;
use crate::line_time::{LineTimeParts, Stream, Use};
use scalepool_protocols::cxl::cxl256::Mode;
use scalepool_protocols::cxl::cxl256::code::FlitType;
use scalepool_protocols::cxl::cxl256::flit::{Cxl256Flit, body_byte, body_bytes};
use scalepool_protocols::cxl::cxl256::header::FlitHeader;
use scalepool_protocols::cxl::cxlio::DW_BYTES;
use scalepool_protocols::cxl::cxlio::code::{DllpType, FcType};
use scalepool_protocols::cxl::cxlio::dllp::{DLLP_BYTES, Dllp, DllpFc};
use scalepool_protocols::cxl::cxlio::stream::{self, GROUP_BYTES, PieceKind, STARTS_PER_GROUP, TlpRegionReader};
use scalepool_protocols::wire::{At, Violation, Wire};
use std::collections::VecDeque;
use std::ops::Range;

/// TLP bytes of the even half of a latency-optimised flit (`cxl-256b` §1.5).
const EVEN_TLP_BYTES: usize = 120;
/// Header, CRC and FEC of a standard flit (`cxl-256b` §1); the latency-optimised one has four more bytes, which its map takes
/// from the TLPs.
const FRAMING_BITS: u32 = 8 * 16;
/// DLLP that says nothing, for payload flits.
const NOTHING: [u8; DLLP_BYTES] = [DllpType::NOP.0, 0, 0, 0];

/// TLP bytes of a flit: the body without its last four bytes, the DLLP.
pub const fn tlp_bytes(mode: Mode) -> usize {
    body_bytes(mode) - DLLP_BYTES
}

/// One end of CXL.io on a 256B link.
#[derive(Debug, Clone)]
pub struct FlitEnd {
    channel: IoChannel,
    flit: FlitConfig,
    /// Bytes of the TLP that has begun.
    stream: VecDeque<u8>,
    /// What they are for.
    stream_uses: Stream,
    /// What the place of the last flit was used for.
    uses: LineTimeParts,
    reader: TlpRegionReader,
    /// TLPs that started in each group of the flit that is being read.
    starts: [usize; 2],
    /// Flit clock since which a DLLP waits.
    dllp_since: Option<u64>,
    resumed: bool,
    now: u64,
}

impl FlitEnd {
    /// An end that has just been told that the link is up.
    ///
    /// # Errors
    /// A choice outside its range.
    pub fn new(config: IoConfig, flit: FlitConfig) -> Result<FlitEnd, IoConfigError> {
        let pbr = flit.mode == Mode::Pbr;
        Ok(FlitEnd {
            channel: IoChannel::new(config, IoTlpForm::Flit { pbr })?,
            flit,
            stream: VecDeque::new(),
            stream_uses: Stream::default(),
            uses: LineTimeParts::default(),
            reader: TlpRegionReader::new(pbr),
            starts: [0; 2],
            dllp_since: None,
            resumed: false,
            now: 0,
        })
    }

    fn tick(&mut self, now: u64) {
        self.now = now;
        if std::mem::take(&mut self.resumed) {
            self.channel.restart_clocks(now);
        }
        self.channel.clock(now);
    }

    // ---- transmitter ---------------------------------------------------------------------------------------------

    /// The TLP bytes of one flit; `None`: nothing but NOPs.
    fn fill(&mut self) -> Option<Vec<u8>> {
        let (mut region, mut used) = (Vec::with_capacity(tlp_bytes(self.flit.mode)), false);
        let mut starts = [0; 2];
        let mut parts = LineTimeParts::default();
        while region.len() < tlp_bytes(self.flit.mode) {
            let group = usize::from(region.len() >= GROUP_BYTES);
            if self.stream.is_empty()
                && starts[group] < STARTS_PER_GROUP
                && let Some(tlp) = self.channel.next_tlp()
            {
                starts[group] += 1;
                let of_tlp = LineTimeParts::all(Use::Headers).with(Use::Payload, 8 * tlp.payload().len() as u32);
                self.stream_uses.push(8 * tlp.bytes().len() as u32, &of_tlp);
                self.stream.extend(tlp.into_bytes());
            }
            // A NOP is one DW of zeros.
            let dw = self.stream.len().min(DW_BYTES);
            used |= dw > 0;
            self.stream_uses.take(8 * dw as u32, &mut parts);
            region.extend(self.stream.drain(..dw));
            region.resize(region.len() + DW_BYTES - dw, 0);
        }
        let empty = match self.lacks_credit() {
            true => Use::Credits,
            false if self.channel.can_send() => Use::Packing,
            false => Use::Idle,
        };
        self.uses = parts.and_empty(empty);
        if used {
            self.uses = self.uses.with(Use::Headers, FRAMING_BITS).with(Use::Control, 8 * DLLP_BYTES as u32);
        }
        used.then_some(region)
    }

    // ---- receiver ------------------------------------------------------------------------------------------------

    fn read(&mut self, region: &[u8], first: usize) {
        for found in self.reader.read(region) {
            let (piece, at) = (found.piece, first + found.piece.at);
            if piece.begins && piece.kind == PieceKind::Tlp {
                let group = usize::from(at >= GROUP_BYTES);
                self.starts[group] += 1;
                if self.starts[group] == STARTS_PER_GROUP + 1 {
                    let text = format!("too many TLPs start in group {group} of a flit");
                    self.protocol("CXLIO-PLC-02", at, STARTS_PER_GROUP + 1, &STARTS_PER_GROUP.to_string(), &text);
                }
            }
            let bytes = piece.of(region);
            match (piece.kind, found.whole) {
                (PieceKind::Nop, _) if bytes != [0; DW_BYTES] => {
                    let found = format!("{bytes:02x?}");
                    self.protocol("CXLIO-PLC-01", at, found, "four bytes of 0", "a NOP is not four bytes of 0");
                }
                (PieceKind::Nop, _) => (),
                (PieceKind::Dropped(why), _) => {
                    self.channel.stats.unreadable += 1;
                    let found = why.violation(at, bytes);
                    let place = if let At::Byte(at) = found.at { at } else { at };
                    self.channel.protocol(Violation { at: At::Byte(body_byte(self.flit.mode, place)), ..found });
                }
                (PieceKind::Tlp, Some(tlp)) => self.channel.arrived(tlp),
                (PieceKind::Tlp, None) => (),
            }
        }
    }

    /// A finding at a TLP byte.
    fn protocol(&mut self, rule: &'static str, at: usize, found: impl ToString, expected: &str, text: &str) {
        let byte = body_byte(self.flit.mode, at);
        self.channel.protocol(Violation::at_byte(rule, byte, found, expected, text));
    }

    /// A finding in the DLLP field.
    fn protocol_dllp(&mut self, violation: Violation) {
        let at = At::Byte(body_byte(self.flit.mode, tlp_bytes(self.flit.mode)));
        self.channel.protocol(Violation { at, ..violation });
    }

    fn take_dllp(&mut self, dllp: Dllp, now: u64) {
        let fc = DllpFc::from_bits(dllp.bits());
        if FcType(dllp.0[0] >> 4).name().is_some() {
            if let Some(wrong) = self.channel.receive_flow(&fc, now) {
                self.protocol_dllp(wrong);
            }
            return;
        }
        match DllpType(dllp.0[0]) {
            DllpType::NOP => (),
            code => {
                // DLL-06: Ack, Nak and power states have other ways here.
                self.channel.stats.dllps_dropped += 1;
                if code.name().is_none() {
                    let mut found = Vec::new();
                    dllp.check(false, &mut found);
                    found.into_iter().for_each(|violation| self.protocol_dllp(violation));
                }
            }
        }
    }
}

impl IoPort for FlitEnd {
    fn channel(&self) -> &IoChannel {
        &self.channel
    }

    fn channel_mut(&mut self) -> &mut IoChannel {
        &mut self.channel
    }
}

/// TLP bytes of a part of a flit.
fn region(flit: &Cxl256Flit, mode: Mode, range: Range<usize>) -> Vec<u8> {
    range.map(|k| flit.0[body_byte(mode, k)]).collect()
}

impl Client for FlitEnd {
    type Flit = Cxl256Flit;

    fn transmit(&mut self, now_flits: u64) -> Option<Cxl256Flit> {
        self.tick(now_flits);
        let region = match self.fill() {
            Some(region) => region,
            None => {
                if !self.channel.has_dllp(now_flits) {
                    self.dllp_since = None;
                    return None;
                }
                let since = *self.dllp_since.get_or_insert(now_flits);
                if now_flits < since + self.flit.dllp_patience_flits {
                    return None;
                }
                self.dllp_since = None;
                self.uses = LineTimeParts::all(Use::Control);
                vec![0; tlp_bytes(self.flit.mode)]
            }
        };
        self.channel.stats.flits += 1;
        let mut flit = Cxl256Flit::ZERO;
        let fits = flit.set_header(&FlitHeader { flit_type: FlitType::Io, ..FlitHeader::default() });
        debug_assert!(fits.is_ok(), "a type of a table has two bits");
        flit.set_body(self.flit.mode, region.into_iter().chain(NOTHING));
        Some(flit)
    }

    fn uses(&self) -> LineTimeParts {
        self.uses
    }

    fn receive(&mut self, flit: &Cxl256Flit, part: FlitPart, now_flits: u64) {
        self.tick(now_flits);
        let all = tlp_bytes(self.flit.mode);
        let range = match part {
            FlitPart::Whole => 0..all,
            FlitPart::Even => 0..EVEN_TLP_BYTES,
            FlitPart::Odd => EVEN_TLP_BYTES..all,
        };
        if range.start == 0 {
            self.starts = [0; 2];
        }
        let bytes = region(flit, self.flit.mode, range.clone());
        match flit.header().flit_type {
            FlitType::Io => self.read(&bytes, range.start),
            FlitType::Nop => {
                let mut found = Vec::new();
                stream::check_nop(&bytes, &mut found);
                for violation in found {
                    let at = match violation.at {
                        At::Byte(at) => range.start + at,
                        At::Bits { .. } | At::Line(_) | At::Message => range.start,
                    };
                    self.channel.protocol(Violation { at: At::Byte(body_byte(self.flit.mode, at)), ..violation });
                }
            }
            // Whoever shares the flits between protocols keeps them apart.
            _ => (),
        }
        self.channel.received += u64::from(range.end == all);
    }

    fn dllp(&mut self, now_flits: u64) -> Option<[u8; DLLP_BYTES]> {
        self.tick(now_flits);
        let dllp = self.channel.next_dllp(now_flits)?;
        self.channel.stats.dllps_sent += 1;
        self.dllp_since = None;
        Some(dllp.0)
    }

    fn receive_dllp(&mut self, bytes: [u8; DLLP_BYTES], now_flits: u64) {
        self.tick(now_flits);
        // A NOP of the physical layer has no DLLP.
        if bytes != [0; DLLP_BYTES] {
            self.take_dllp(Dllp(bytes), now_flits);
        }
    }

    fn phy_down(&mut self) {}

    fn phy_up(&mut self) {
        self.resumed = true;
    }

    /// Begins again: TLPs that wait and credits are gone.
    fn link_reset(&mut self) {
        self.channel.reset();
        self.stream.clear();
        self.stream_uses.clear();
        self.reader = TlpRegionReader::new(self.flit.mode == Mode::Pbr);
        (self.starts, self.dllp_since, self.resumed) = ([0; 2], None, true);
    }

    fn take_retrain_request(&mut self) -> bool {
        false
    }

    fn is_quiet(&self) -> bool {
        self.channel.is_quiet(self.now) && self.stream.is_empty()
    }

    fn wakes_at(&self, now_flits: u64) -> Option<u64> {
        if self.stream.is_empty() && !self.channel.can_send() {
            return self.channel.flow_wakes_at(now_flits);
        }
        Some(now_flits + 1)
    }

    fn take_events(&mut self) -> Vec<LinkEvent> {
        self.take_io_events()
    }
}
