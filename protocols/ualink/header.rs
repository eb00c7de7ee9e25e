//! Flit header, segment header and sequence numbers (`ualink` §3, §4, §7).

use super::code::FlitOp;
use crate::layout;
use crate::wire::{At, FieldError, LayoutDef, Violation, Wire};

layout! {
    /// Flit header with the flit's whole sequence number.
    pub struct ExplicitHeader: 24 bits = "ualink.fh_explicit" {
        source: "ualink §3.1 (A)", basis: Spec, rule: "UAL-FLH-04", cross_check: explicit_op;
        /// Reserved.
        rsvd: u8 = [0 +: 8], reserved;
        /// Sequence number, 1 to 511; of a NOP the last one sent.
        seq: u16 = [8 +: 9];
        /// Reserved.
        rsvd1: u8 = [17 +: 3], reserved;
        /// 1: the flit has payload and a number of its own.
        payload: bool = [20 +: 1];
        /// Format and meaning.
        op: FlitOp = [21 +: 3];
    }
}

layout! {
    /// Flit header with an acknowledgement or a replay request.
    pub struct CommandHeader: 24 bits = "ualink.fh_command" {
        source: "ualink §3.2 (A)", basis: Spec, rule: "UAL-FLH-04", cross_check: command_op;
        /// Reserved.
        rsvd: u8 = [0 +: 8], reserved;
        /// Low bits of the flit's own sequence number.
        seq_lo: u8 = [8 +: 3];
        /// Number that is acknowledged, or from which on is asked for.
        ack_req_seq: u16 = [11 +: 9];
        /// 1: the flit has payload and a number of its own.
        payload: bool = [20 +: 1];
        /// Format and meaning.
        op: FlitOp = [21 +: 3], default 2;
    }
}

layout! {
    /// Segment header: what begins in 128 bytes of a flit.
    pub struct SegmentHeader: 8 bits = "ualink.sh" {
        source: "ualink §4 (A)", basis: Spec, rule: "UAL-SEG-01";
        /// The first sector holds a DL message DWord.
        alt: bool = [0 +: 1];
        /// Reserved.
        rsvd: bool = [1 +: 1], reserved;
        /// Message indicators of TL Flit 0: bit 0 its lower half, bit 1 its upper half.
        message0: u8 = [2 +: 2];
        /// TL Flit 0 starts here.
        start0: bool = [4 +: 1];
        /// Message indicators of TL Flit 1.
        message1: u8 = [5 +: 2];
        /// TL Flit 1 starts here.
        start1: bool = [7 +: 1];
    }
}

/// Rule of a header that makes a receiver drop the flit.
pub const OP_RULE: &str = "UAL-FLH-03";

fn wrong_op(found: u128, expected: &str, text: &str) -> Violation {
    Violation {
        rule: OP_RULE,
        at: At::Bits { lsb: 21, width: 3 },
        found: format!("{found:#x}"),
        expected: expected.into(),
        text: text.into(),
    }
}

fn explicit_op(bits: u128, found: &mut Vec<Violation>) {
    let header = ExplicitHeader::from_bits(bits);
    if header.op.is_command() {
        found.push(wrong_op(
            header.op.0.into(),
            "0 or 1",
            "ualink.fh_explicit: the op code belongs to a command header",
        ));
    } else if header.op == FlitOp::Replayed && !header.payload {
        found.push(wrong_op(1, "0", "ualink.fh_explicit: a NOP is marked as replayed"));
    }
}

fn command_op(bits: u128, found: &mut Vec<Violation>) {
    let op = CommandHeader::from_bits(bits).op;
    if !op.is_command() && op.name().is_some() {
        found.push(wrong_op(op.0.into(), "2 or 3", "ualink.fh_command: the op code belongs to an explicit header"));
    }
}

/// A flit header of either format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UalHeader {
    /// With the whole sequence number; also what has a reserved `op`.
    Explicit(ExplicitHeader),
    /// With a command.
    Command(CommandHeader),
}

impl UalHeader {
    /// Reads FH\[23:0\].
    pub fn from_bits(bits: u32) -> UalHeader {
        let explicit = ExplicitHeader::from_bits(bits.into());
        match explicit.op.is_command() {
            true => UalHeader::Command(CommandHeader::from_bits(bits.into())),
            false => UalHeader::Explicit(explicit),
        }
    }

    /// FH\[23:0\].
    ///
    /// # Errors
    /// A field does not fit.
    pub fn to_bits(&self) -> Result<u32, FieldError> {
        Ok(match self {
            UalHeader::Explicit(header) => header.to_bits()?,
            UalHeader::Command(header) => header.to_bits()?,
        } as u32)
    }

    /// Its layout.
    pub fn def(&self) -> &'static LayoutDef {
        match self {
            UalHeader::Explicit(_) => ExplicitHeader::DEF,
            UalHeader::Command(_) => CommandHeader::DEF,
        }
    }

    /// Format and meaning.
    pub fn op(&self) -> FlitOp {
        match self {
            UalHeader::Explicit(header) => header.op,
            UalHeader::Command(header) => header.op,
        }
    }

    /// Whether the flit has payload.
    pub fn payload(&self) -> bool {
        match self {
            UalHeader::Explicit(header) => header.payload,
            UalHeader::Command(header) => header.payload,
        }
    }

    /// Whether a receiver uses the flit: no reserved `op`, no replayed NOP (`ualink` §3.2 \[D\]: such a flit is bad).
    pub fn is_usable(&self) -> bool {
        self.op().name().is_some() && (self.op() != FlitOp::Replayed || self.payload())
    }

    /// The rule that a header with the reserved number 0 breaks, and its text. A receiver drops such a flit and
    /// counts no CRC error (`ualink` §7, steps 3 and 4). `None` where no number is 0, and for a header that is not usable.
    pub fn zero_number(&self) -> Option<(&'static str, &'static str)> {
        let zero = match self {
            UalHeader::Explicit(header) if header.seq == 0 => ("UAL-SEQ-01", "a flit has the reserved sequence number"),
            UalHeader::Command(header) if header.ack_req_seq == 0 => {
                ("UAL-RXR-03", "a flit acknowledges or asks for the reserved number")
            }
            _ => return None,
        };
        self.is_usable().then_some(zero)
    }

    /// The flit's own sequence number as a receiver works it out that has taken `last`.
    pub fn own_seq(&self, last: u16) -> u16 {
        match self {
            UalHeader::Explicit(header) => header.seq,
            UalHeader::Command(header) => seq_of_low_bits(last, header.seq_lo, header.payload),
        }
    }
}

/// Largest sequence number; 0 is reserved.
pub const MAX_SEQ: u16 = 511;

/// The number of the first payload flit of a stream.
pub const FIRST_SEQ: u16 = 1;

/// The sequence number behind another one: 511 wraps to 1.
pub const fn next_seq(seq: u16) -> u16 {
    seq % MAX_SEQ + 1
}

/// The sequence number of a flit whose header has its low three bits alone (`ualink` §7, step 5). 0 means that no sender
/// can have sent it behind `last`.
pub const fn seq_of_low_bits(last: u16, low: u8, payload: bool) -> u16 {
    let ahead = (low as u16).wrapping_sub(last) & 7;
    let ahead = if ahead == 0 && payload { 8 } else { ahead };
    (last + ahead) & 0x1ff
}
