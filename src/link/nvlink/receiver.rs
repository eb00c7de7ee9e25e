//! The receiving side: flits to accepted packets, and the acknowledgement that is due (`nvlink` §6.3).
//!
//! Modelled: framing by `len`, the CRC over payload and next header, acceptance, the hunt for a REPLAY_INIT. Left out:
//! what packets mean.

use super::{IDS, steps};
use scalepool_protocols::nvlink::{MAX_FLITS, NvlConfig, NvlHeader, Op, Packet};
use scalepool_protocols::wire::Wire;

/// Headers in which a new acknowledgement is stated, and in which the end of a hunt is: fewer than begin a replay, more than
/// one wrong bit can spoil.
const ACK_COPIES: u8 = 2;

/// What a flit led to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Heard {
    /// The packet before, which this flit's CRC has confirmed.
    pub confirmed: Option<Packet>,
    /// The packet that is this flit alone.
    pub single: Option<Packet>,
    /// The flit as a good header.
    pub header: Option<NvlHeader>,
    /// The flit as a good IDLE amid a hunt: its acknowledgement alone counts.
    pub idle: Option<NvlHeader>,
    /// A REPLAY_INIT that fits: the peer goes on behind what was accepted last.
    pub goes_on: bool,
    /// A REPLAY_INIT ahead of what was accepted: the peer has lost count.
    pub ahead: bool,
    /// A header whose CRC does not fit.
    pub bad: bool,
    /// A good header that announces more than a packet holds.
    pub too_long: bool,
}

/// The receiver.
#[derive(Debug, Clone)]
pub struct Receiver {
    codec: NvlConfig,
    hunting: bool,
    /// Header of the numbered packet that is not confirmed.
    open: Option<u128>,
    /// Payload behind the last header.
    payload: Vec<u128>,
    /// Flits of it still to come.
    owed: usize,
    /// Identifier of the last flit accepted.
    accepted: u16,
    ack_copies: u8,
    /// Headers that are still due to say that a hunt is over.
    found_copies: u8,
    /// Times that the stream was lost.
    pub losses: u64,
    /// Flits passed over while it was.
    pub discarded: u64,
}

impl Receiver {
    /// A receiver after reset: the first flit will be number 0.
    pub fn new(codec: NvlConfig) -> Receiver {
        Receiver {
            codec,
            hunting: false,
            open: None,
            payload: Vec::new(),
            owed: 0,
            accepted: IDS - 1,
            ack_copies: 0,
            found_copies: 0,
            losses: 0,
            discarded: 0,
        }
    }

    /// Identifier of the last flit accepted; 4095 before the first.
    pub fn accepted(&self) -> u16 {
        self.accepted
    }

    /// Whether it waits for a REPLAY_INIT.
    pub fn is_hunting(&self) -> bool {
        self.hunting
    }

    /// Payload behind the last header, which the next CRC covers.
    pub fn payload(&self) -> &[u128] {
        &self.payload
    }

    /// Nothing is open, nothing is missing, and the peer has been told so.
    pub fn is_quiet(&self) -> bool {
        !self.hunting && self.open.is_none() && self.owed == 0 && self.ack_copies == 0 && self.found_copies == 0
    }

    /// The acknowledgement for the next header, if one is due.
    pub fn ack(&mut self) -> Option<u16> {
        let due = self.hunting || self.ack_copies > 0;
        self.ack_copies = self.ack_copies.saturating_sub(1);
        if !due {
            self.found_copies = self.found_copies.saturating_sub(1);
        }
        due.then_some(self.accepted)
    }

    /// Takes a flit.
    pub fn flit(&mut self, bits: u128) -> Heard {
        let header = NvlHeader::from_bits(bits);
        if self.hunting {
            self.discarded += u64::from(!matches!(header.op, Op::IDLE | Op::REPLAY_INIT));
            return match header.op {
                _ if header.len != 0 || self.codec.crc_of(&[], bits) != header.crc => Heard::default(),
                Op::REPLAY_INIT => self.replay(header),
                Op::IDLE => Heard { idle: Some(header), ..Heard::default() },
                _ => Heard::default(),
            };
        }
        if self.owed > 0 {
            self.owed -= 1;
            self.payload.push(bits);
            return Heard::default();
        }
        if self.codec.crc_of(&self.payload, bits) != header.crc {
            self.hunt();
            return Heard { bad: true, ..Heard::default() };
        }
        let confirmed = self.open.take().and_then(|first| {
            let flits: Vec<u128> = [first].into_iter().chain(self.payload.drain(..)).collect();
            Packet::new(&flits).ok()
        });
        self.payload.clear();
        self.accept(confirmed);
        if usize::from(header.len) >= MAX_FLITS {
            self.hunt();
            return Heard { confirmed, too_long: true, ..Heard::default() };
        }
        self.owed = header.len.into();
        if header.op == Op::REPLAY_INIT {
            return Heard { confirmed, ..self.replay(header) };
        }
        let mut single = None;
        match header.op.is_numbered() {
            true if self.owed == 0 => single = Packet::new(&[bits]).ok(),
            true => self.open = Some(bits),
            false => {}
        }
        self.accept(single);
        Heard { confirmed, single, header: Some(header), ..Heard::default() }
    }

    fn accept(&mut self, packet: Option<Packet>) {
        if let Some(packet) = packet {
            self.accepted = (self.accepted + packet.flits().len() as u16) % IDS;
            self.ack_copies = ACK_COPIES;
        }
    }

    /// Drops what is open and everything up to a REPLAY_INIT.
    fn hunt(&mut self) {
        self.losses += u64::from(!self.hunting);
        self.hunting = true;
        self.open = None;
        self.payload.clear();
        self.owed = 0;
    }

    fn replay(&mut self, header: NvlHeader) -> Heard {
        let ahead = steps((self.accepted + 1) % IDS, header.ackid);
        if ahead != 0 {
            self.hunt();
            return Heard { ahead: ahead < IDS / 2, ..Heard::default() };
        }
        if std::mem::take(&mut self.hunting) {
            self.found_copies = ACK_COPIES;
        }
        Heard { goes_on: true, ..Heard::default() }
    }
}
