//! A TLP as requesters and completers see it, the same in every mode, and its bytes in each.
//!
//! Modelled: memory reads and writes, atomics, configuration requests of both types, completions, messages, in non-flit mode, flit
//! mode, and flit mode with port based routing; requests of unordered I/O (UIO) and their completions, which flit mode alone has.
//! Detail: every bit of the headers; an OHC-A is sent where the TLP cannot go without. The sheet gives no header of the completions of UIO
//! beyond their codes and their base of 3 DW, so they have the fields of other completions and OHC-A5 \[D\]. Other requests are known by
//! who waits for an answer and are not taken apart. Left out: prefixes with a meaning, ECRC, IDE, PASID.

use scalepool_protocols::cxl::cxlio::code::{CplStatus, FmType};
use scalepool_protocols::cxl::cxlio::flit_mode::{
    Base, FmCfg, FmCpl, FmMem32, FmMem64, FmMsg, OhcA1, OhcA3, OhcA5, Pth,
};
use scalepool_protocols::cxl::cxlio::non_flit_mode::{NfmCfg, NfmCpl, NfmMem32, NfmMem64, NfmMsg, TlpShape, tlp_bytes};
use scalepool_protocols::cxl::cxlio::tlp::{TlpFault, TlpParts};
use scalepool_protocols::cxl::cxlio::{DW_BYTES, byte_count_bytes, byte_count_field, length_dw, length_field};
use scalepool_protocols::wire::{FieldError, Wire};

/// How TLPs are written on a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TlpForm {
    /// Non-flit mode: 68B links.
    NonFlit,
    /// Flit mode: 256B links.
    Flit,
    /// Flit mode with a PBR header in front (`cxl-io` §3.8).
    Pbr {
        /// Port that sends.
        spid: u16,
        /// Port that is meant.
        dpid: u16,
    },
}

/// Byte enables of the first and the last DW of a memory request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Enables {
    /// First DW.
    pub first: u8,
    /// Last DW; 0 in a request of one DW.
    pub last: u8,
}

impl Enables {
    /// All bytes of `dw` DW.
    pub const fn all(dw: usize) -> Enables {
        Enables { first: 0xf, last: if dw == 1 { 0 } else { 0xf } }
    }

    /// Those of `bytes` bytes from a byte address on, and the number of DW that they touch.
    pub const fn span(address: u64, bytes: usize) -> (Enables, usize) {
        let skip = (address % DW_BYTES as u64) as usize;
        let dw = (skip + bytes).div_ceil(DW_BYTES);
        let first = 0xf << skip & 0xf;
        // Bytes of the last DW behind the span.
        let over = dw * DW_BYTES - skip - bytes;
        let last = 0xf >> over;
        match dw {
            0 | 1 => (Enables { first: first & last, last: 0 }, 1),
            _ => (Enables { first, last }, dw),
        }
    }

    /// Whether byte n of a request of `dw` DW is enabled.
    pub const fn has(self, n: usize, dw: usize) -> bool {
        let be = match n / DW_BYTES {
            0 => self.first,
            last if last + 1 == dw => self.last,
            _ => 0xf,
        };
        be >> (n % DW_BYTES) & 1 == 1
    }

    /// First enabled byte of a request of `dw` DW, and the number of bytes from there to the last enabled one: what byte
    /// count and lower address of its completions count. A request of no byte counts as one of its first byte.
    pub fn bounds(self, dw: usize) -> (usize, usize) {
        let all = 0..dw * DW_BYTES;
        let first = all.clone().find(|&n| self.has(n, dw));
        let last = all.rev().find(|&n| self.has(n, dw));
        match (first, last) {
            (Some(first), Some(last)) => (first, last + 1 - first),
            _ => (0, 1),
        }
    }
}

/// What an atomic does (`cxl-io` §1.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TlpAtomic {
    /// Adds the operand.
    FetchAdd,
    /// Takes the operand.
    Swap,
    /// Takes the second operand, if the element is the first one.
    CompareSwap,
}

impl TlpAtomic {
    /// All, in the order of their codes.
    pub const ALL: [TlpAtomic; 3] = [TlpAtomic::FetchAdd, TlpAtomic::Swap, TlpAtomic::CompareSwap];
    /// First byte of the first one with an address of 32 bits.
    const FIRST_CODE: u8 = 0x4c;

    /// Of the first byte of a header, whatever the length of its address.
    pub fn of_code(code: u8) -> Option<TlpAtomic> {
        let n = (code & !0x20).checked_sub(TlpAtomic::FIRST_CODE)?;
        TlpAtomic::ALL.get(usize::from(n)).copied()
    }

    /// Operands.
    pub fn operands(self) -> usize {
        if self == TlpAtomic::CompareSwap { 2 } else { 1 }
    }
}

/// What a completion of UIO ends (`cxl-io` §3.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UioAnswer {
    /// A write (UIOWrCpl).
    Written,
    /// A read that brings no data (UIORdCpl).
    NoData,
    /// A read, with data (UIORdCplD).
    Data,
}

impl UioAnswer {
    /// The type of its header.
    const fn code(self) -> FmType {
        match self {
            UioAnswer::Written => FmType::UIOWrCpl,
            UioAnswer::NoData => FmType::UIORdCpl,
            UioAnswer::Data => FmType::UIORdCplD,
        }
    }

    /// The one of this type; `None`: it is no completion of UIO.
    const fn of_code(code: FmType) -> Option<UioAnswer> {
        match code {
            FmType::UIOWrCpl => Some(UioAnswer::Written),
            FmType::UIORdCpl => Some(UioAnswer::NoData),
            FmType::UIORdCplD => Some(UioAnswer::Data),
            _ => None,
        }
    }
}

/// What a TLP is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TlpKind {
    /// Memory read.
    MemRead {
        /// Byte address of the first DW.
        address: u64,
        /// Number of DW, 1 to 1024.
        dw: usize,
        /// Bytes that matter.
        enables: Enables,
    },
    /// Memory write.
    MemWrite {
        /// Byte address of the first DW.
        address: u64,
        /// Bytes that are written.
        enables: Enables,
    },
    /// Configuration read of one DW.
    ConfigRead {
        /// 0: the device at the end of this link; 1: one behind it.
        level: u8,
        /// Bus, device, function.
        target: u16,
        /// Byte address of the register, a multiple of 4.
        register: u16,
        /// Bytes that matter.
        enables: u8,
    },
    /// Configuration write of one DW.
    ConfigWrite {
        /// 0: the device at the end of this link; 1: one behind it.
        level: u8,
        /// Bus, device, function.
        target: u16,
        /// Byte address of the register, a multiple of 4.
        register: u16,
        /// Bytes that are written.
        enables: u8,
    },
    /// Completion; with data if there is some.
    Completion {
        /// Who answers.
        completer: u16,
        /// How the request ended.
        status: CplStatus,
        /// Bytes still to come, this completion included, 1 to 4096.
        byte_count: usize,
        /// Low 7 bits of the byte address of the first byte that comes.
        lower_address: u8,
    },
    /// Message; with data if there is some.
    Message {
        /// Routing, 0 to 5 (`cxl-io` §1.2).
        routing: u8,
        /// Message code.
        code: u8,
        /// Third DW.
        dw2: u32,
        /// Fourth DW.
        dw3: u32,
    },
    /// Atomic; its data are its operands, each of the size of the element: one, or of compare and swap the value to compare with and the
    /// new one.
    Atomic {
        /// What is done.
        operation: TlpAtomic,
        /// Byte address of the element, a multiple of its size.
        address: u64,
    },
    /// Memory read of UIO.
    UioRead {
        /// Byte address of the first DW.
        address: u64,
        /// Number of DW, 1 to 1024.
        dw: usize,
        /// Bytes that matter.
        enables: Enables,
    },
    /// Memory write of UIO, which is answered.
    UioWrite {
        /// Byte address of the first DW.
        address: u64,
        /// Bytes that are written.
        enables: Enables,
    },
    /// Completion of UIO.
    UioCompletion {
        /// What it ends.
        of: UioAnswer,
        /// Who answers.
        completer: u16,
        /// How the request ended.
        status: CplStatus,
        /// Bytes still to come, this completion included, 1 to 4096.
        byte_count: usize,
        /// Low 7 bits of the byte address of the first byte that comes.
        lower_address: u8,
    },
    /// A request of another kind: I/O, locked.
    Other {
        /// First byte of its header.
        type_code: u8,
    },
}

/// A TLP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tlp {
    /// What it is for.
    pub kind: TlpKind,
    /// Who asked: bus, device, function. A completion goes there.
    pub requester: u16,
    /// Names the transaction at the requester; 0 in messages.
    pub tag: u16,
    /// Traffic class.
    pub tc: u8,
    /// Attributes: 2 ordering by ID, 1 relaxed ordering, 0 no snoop.
    pub attr: u8,
    /// The data is known to be wrong (EP).
    pub poison: bool,
    /// Data in order of addresses, whole DW.
    pub data: Vec<u8>,
}

/// Why a TLP has no bytes, or bytes are no TLP of the model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TlpError {
    /// A value is too wide for its field.
    #[error(transparent)]
    Field(#[from] FieldError),
    /// Flit mode: the parts do not fit together.
    #[error(transparent)]
    Fault(#[from] TlpFault),
    /// Non-flit mode: a first byte without a TLP, or a prefix.
    #[error("found first byte {found:#04x}, expected a TLP of the model")]
    Type {
        /// The byte.
        found: u8,
    },
    /// Non-flit mode: bytes that the header does not announce.
    #[error("found {found} bytes, expected {expected} as the header announces")]
    Length {
        /// Bytes given.
        found: usize,
        /// Bytes announced.
        expected: usize,
    },
    /// A payload that no Length says.
    #[error("found a payload of {found} bytes, expected 1 to 1024 DW")]
    Payload {
        /// Bytes given.
        found: usize,
    },
    /// A byte count that no field says.
    #[error("found a byte count of {found}, expected 1 to 4096")]
    ByteCount {
        /// Bytes given.
        found: usize,
    },
    /// A tag that the mode cannot carry.
    #[error("found tag {found:#x}, expected at most 0x3ff in non-flit mode")]
    Tag {
        /// The tag.
        found: u16,
    },
}

/// Addresses below go into a header of 3 DW, others need 4.
const BELOW_4G: u64 = 1 << 32;

impl Tlp {
    /// A TLP without tag, class and attributes.
    pub fn new(kind: TlpKind, requester: u16, data: Vec<u8>) -> Tlp {
        Tlp { kind, requester, tag: 0, tc: 0, attr: 0, poison: false, data }
    }

    /// Whether somebody waits for a completion.
    pub fn is_non_posted(&self) -> bool {
        match self.kind {
            TlpKind::MemRead { .. }
            | TlpKind::ConfigRead { .. }
            | TlpKind::ConfigWrite { .. }
            | TlpKind::Atomic { .. }
            | TlpKind::UioRead { .. }
            | TlpKind::UioWrite { .. }
            | TlpKind::Other { .. } => true,
            TlpKind::MemWrite { .. }
            | TlpKind::Completion { .. }
            | TlpKind::UioCompletion { .. }
            | TlpKind::Message { .. } => false,
        }
    }

    /// Whether it ends a request, or brings a part of its data.
    pub fn is_completion(&self) -> bool {
        matches!(self.kind, TlpKind::Completion { .. } | TlpKind::UioCompletion { .. })
    }

    /// First address and bytes of a request of UIO, all of its DW; `None` of everything else.
    pub fn uio_span(&self) -> Option<(u64, u64)> {
        match self.kind {
            TlpKind::UioRead { address, dw, .. } => Some((address, (dw * DW_BYTES) as u64)),
            TlpKind::UioWrite { address, .. } => Some((address, self.data.len() as u64)),
            _ => None,
        }
    }

    /// The completion of this request of UIO without data; `None` of everything else. A write that was performed and every request that
    /// was refused has one.
    pub fn uio_ended(&self, completer: u16, status: CplStatus) -> Option<Tlp> {
        let of = match self.kind {
            TlpKind::UioRead { .. } => UioAnswer::NoData,
            TlpKind::UioWrite { .. } => UioAnswer::Written,
            _ => return None,
        };
        let kind = TlpKind::UioCompletion { of, completer, status, byte_count: DW_BYTES, lower_address: 0 };
        Some(Tlp { tag: self.tag, tc: self.tc, attr: self.attr, ..Tlp::new(kind, self.requester, Vec::new()) })
    }

    /// First byte in non-flit mode (`cxl-io` §1.2); of UIO, which is in flit mode alone, the type there.
    pub fn type_code(&self) -> u8 {
        let data = if self.data.is_empty() { 0 } else { 0x40 };
        match self.kind {
            TlpKind::MemRead { address, .. } | TlpKind::MemWrite { address, .. } if address < BELOW_4G => data,
            TlpKind::MemRead { .. } | TlpKind::MemWrite { .. } => 0x20 | data,
            TlpKind::ConfigRead { level, .. } | TlpKind::ConfigWrite { level, .. } => 0x04 | level & 1 | data,
            TlpKind::Completion { .. } => 0x0a | data,
            TlpKind::Message { routing, .. } => 0x30 | routing & 7 | data,
            TlpKind::Atomic { operation, address } => {
                let long = if address < BELOW_4G { 0 } else { 0x20 };
                TlpAtomic::FIRST_CODE + operation as u8 + long
            }
            TlpKind::UioRead { .. } => FmType::UIOMRd.0,
            TlpKind::UioWrite { .. } => FmType::UIOMWr.0,
            TlpKind::UioCompletion { of, .. } => of.code().0,
            TlpKind::Other { type_code } => type_code,
        }
    }

    fn length(&self) -> Result<u16, TlpError> {
        let payload = TlpError::Payload { found: self.data.len() };
        match self.kind {
            TlpKind::MemRead { dw, .. } | TlpKind::UioRead { dw, .. } => {
                length_field(dw).ok_or(TlpError::Payload { found: dw * DW_BYTES })
            }
            TlpKind::ConfigRead { .. } => Ok(1),
            _ if !self.data.len().is_multiple_of(DW_BYTES) => Err(payload),
            TlpKind::MemWrite { .. }
            | TlpKind::UioWrite { .. }
            | TlpKind::ConfigWrite { .. }
            | TlpKind::Atomic { .. } => length_field(self.data.len() / DW_BYTES).ok_or(payload),
            _ if self.data.is_empty() => Ok(0),
            _ => length_field(self.data.len() / DW_BYTES).ok_or(payload),
        }
    }

    /// The bytes on a link, byte 0 first.
    ///
    /// # Errors
    /// A value that does not fit, a payload that no Length says, a request that the model does not take apart.
    pub fn encode(&self, form: TlpForm) -> Result<Vec<u8>, TlpError> {
        let mut bytes = match form {
            TlpForm::NonFlit => self.non_flit()?,
            TlpForm::Flit => self.flit()?,
            TlpForm::Pbr { spid, dpid } => {
                return self.encode_behind(&Pth { spid, dpid, ..Pth::default() });
            }
        };
        bytes.extend(&self.data);
        Ok(bytes)
    }

    /// Its bytes on a link with port based routing, behind this header.
    ///
    /// # Errors
    /// A field that does not fit.
    pub fn encode_behind(&self, header: &Pth) -> Result<Vec<u8>, TlpError> {
        let mut bytes = to_bytes(header)?;
        bytes.extend(self.flit()?);
        bytes.extend(&self.data);
        Ok(bytes)
    }

    /// The header of port based routing in front of a TLP.
    ///
    /// # Errors
    /// Bytes that are no TLP of such a link.
    pub fn pbr_header(bytes: &[u8]) -> Result<Pth, TlpError> {
        Ok(Pth::from_bits(number(TlpParts::split(bytes, true)?.pth)))
    }

    fn non_flit(&self) -> Result<Vec<u8>, TlpError> {
        if self.tag > 0x3ff {
            return Err(TlpError::Tag { found: self.tag });
        }
        let (byte0, length) = (self.type_code(), self.length()?);
        macro_rules! header {
            ($layout:ident { $($field:ident: $value:expr),* $(,)? }) => {
                to_bytes(&$layout {
                    fmt: byte0 >> 5,
                    tlp_type: byte0 & 0x1f,
                    tc: self.tc,
                    attr: self.attr & 3,
                    attr_2: self.attr >> 2 == 1,
                    ep: self.poison,
                    length,
                    requester: self.requester,
                    tag: self.tag as u8,
                    tag_8: self.tag >> 8 & 1 == 1,
                    tag_9: self.tag >> 9 & 1 == 1,
                    $($field: $value,)*
                    ..$layout::default()
                })
            };
        }
        match self.kind {
            TlpKind::MemRead { address, enables, .. } | TlpKind::MemWrite { address, enables } => {
                match address < BELOW_4G {
                    true => header!(NfmMem32 { address: address, first_be: enables.first, last_be: enables.last }),
                    false => header!(NfmMem64 { address: address, first_be: enables.first, last_be: enables.last }),
                }
            }
            // All bytes of the operands are meant.
            TlpKind::Atomic { address, .. } => {
                let enables = Enables::all(self.data.len() / DW_BYTES);
                match address < BELOW_4G {
                    true => header!(NfmMem32 { address: address, first_be: enables.first, last_be: enables.last }),
                    false => header!(NfmMem64 { address: address, first_be: enables.first, last_be: enables.last }),
                }
            }
            TlpKind::ConfigRead { target, register, enables, .. }
            | TlpKind::ConfigWrite { target, register, enables, .. } => {
                let dw = register / DW_BYTES as u16;
                header!(NfmCfg {
                    completer: target,
                    reg_dw: (dw & 0x3f) as u8,
                    ext_reg: (dw >> 6) as u8,
                    first_be: enables,
                })
            }
            TlpKind::Completion { completer, status, byte_count, lower_address } => {
                let byte_count = byte_count_field(byte_count).ok_or(TlpError::ByteCount { found: byte_count })?;
                header!(NfmCpl {
                    completer: completer,
                    status: status,
                    byte_count: byte_count,
                    lower_addr: lower_address,
                })
            }
            TlpKind::Message { code, dw2, dw3, .. } => header!(NfmMsg { message_code: code, dw2: dw2, dw3: dw3 }),
            TlpKind::UioRead { .. }
            | TlpKind::UioWrite { .. }
            | TlpKind::UioCompletion { .. }
            | TlpKind::Other { .. } => Err(TlpError::Type { found: byte0 }),
        }
    }

    fn flit(&self) -> Result<Vec<u8>, TlpError> {
        let length = self.length()?;
        let tlp_type = match self.type_code() {
            // The code of MRd32 changed (`cxl-io` §3.3).
            0x00 => FmType::MRd32,
            code => FmType(code),
        };
        macro_rules! header {
            ($layout:ident, $ohc:expr, { $($field:ident: $value:expr),* $(,)? }) => {{
                let ohc: Option<Vec<u8>> = $ohc;
                let header = $layout {
                    tlp_type,
                    tc: self.tc,
                    ohc: u8::from(ohc.is_some()),
                    attr: self.attr,
                    length,
                    requester: self.requester,
                    ep: self.poison,
                    $($field: $value,)*
                    ..$layout::default()
                };
                let mut bytes = to_bytes(&header)?;
                bytes.extend(ohc.unwrap_or_default());
                Ok(bytes)
            }};
        }
        let is_uio = self.uio_span().is_some();
        match self.kind {
            TlpKind::MemRead { address, enables, .. }
            | TlpKind::MemWrite { address, enables }
            | TlpKind::UioRead { address, enables, .. }
            | TlpKind::UioWrite { address, enables } => {
                // Without OHC-A1 all bytes are meant (`cxl-io` §3.5).
                let ohc = (enables != Enables::all(length_dw(length)))
                    .then(|| to_bytes(&OhcA1 { first_be: enables.first, last_be: enables.last, ..OhcA1::default() }))
                    .transpose()?;
                match address < BELOW_4G && !is_uio {
                    true => header!(FmMem32, ohc, { tag: self.tag, address: address }),
                    // Requests of UIO have 64-bit addresses alone (`cxl-io` §3.3).
                    false => header!(FmMem64, ohc, { tag: self.tag, address: address }),
                }
            }
            TlpKind::Atomic { address, .. } => match address < BELOW_4G {
                true => header!(FmMem32, None, { tag: self.tag, address: address }),
                false => header!(FmMem64, None, { tag: self.tag, address: address }),
            },
            TlpKind::ConfigRead { target, register, enables, .. }
            | TlpKind::ConfigWrite { target, register, enables, .. } => {
                let ohc = Some(to_bytes(&OhcA3 { first_be: enables, ..OhcA3::default() })?);
                header!(FmCfg, ohc, { tag: self.tag, completer: target, reg_dw: register / DW_BYTES as u16 })
            }
            TlpKind::Completion { completer, status, byte_count, lower_address }
            | TlpKind::UioCompletion { completer, status, byte_count, lower_address, .. } => {
                // Without OHC-A5 it is successful and begins at a whole DW.
                let ohc = (status != CplStatus::SC || lower_address & 3 != 0)
                    .then(|| to_bytes(&OhcA5 { status, lower_addr: lower_address & 3, ..OhcA5::default() }))
                    .transpose()?;
                let byte_count = byte_count_field(byte_count).ok_or(TlpError::ByteCount { found: byte_count })?;
                header!(FmCpl, ohc, {
                    tag: self.tag,
                    completer: completer,
                    byte_count: byte_count,
                    lower_addr: lower_address >> 2 & 0xf,
                    lower_addr_6: lower_address >> 6 & 1 == 1,
                })
            }
            TlpKind::Message { code, dw2, dw3, .. } => {
                header!(FmMsg, None, { message_code: code, dw2: dw2, dw3: dw3 })
            }
            TlpKind::Other { type_code } => Err(TlpError::Type { found: type_code }),
        }
    }

    /// Reads the bytes of a TLP; a PBR header is taken off, trailer and ECRC are passed over.
    ///
    /// # Errors
    /// Bytes that are no TLP, or one with a prefix in non-flit mode.
    pub fn decode(bytes: &[u8], form: TlpForm) -> Result<Tlp, TlpError> {
        match form {
            TlpForm::NonFlit => Tlp::of_non_flit(bytes),
            TlpForm::Flit => Tlp::of_flit(&TlpParts::split(bytes, false)?),
            TlpForm::Pbr { .. } => Tlp::of_flit(&TlpParts::split(bytes, true)?),
        }
    }

    fn of_non_flit(bytes: &[u8]) -> Result<Tlp, TlpError> {
        let Some(&dw0) = bytes.first_chunk() else {
            return Err(TlpError::Length { found: bytes.len(), expected: 3 * DW_BYTES });
        };
        let type_code = dw0[0];
        let (Some(shape), Some(expected)) = (TlpShape::of(type_code), tlp_bytes(dw0)) else {
            return Err(TlpError::Type { found: type_code });
        };
        if bytes.len() != expected {
            return Err(TlpError::Length { found: bytes.len(), expected });
        }
        let header_bytes = DW_BYTES * (3 + usize::from(type_code >> 5 & 1));
        let header = number(&bytes[..header_bytes]);
        // Fmt bit 1: with data; TD: an ECRC behind it.
        let ecrc_bytes = DW_BYTES * usize::from(dw0[2] >> 7);
        let data = bytes[header_bytes..expected - ecrc_bytes].to_vec();
        let with_data = type_code & 0x40 != 0;
        macro_rules! tlp {
            ($h:ident, $kind:expr) => {
                Tlp {
                    kind: $kind,
                    requester: $h.requester,
                    tag: u16::from($h.tag) | u16::from($h.tag_8) << 8 | u16::from($h.tag_9) << 9,
                    tc: $h.tc,
                    attr: $h.attr | u8::from($h.attr_2) << 2,
                    poison: $h.ep,
                    data,
                }
            };
        }
        let is_plain_memory = matches!(type_code, 0x00 | 0x20 | 0x40 | 0x60);
        let memory = |address, first, last, length: u16| {
            let enables = Enables { first, last };
            match (is_plain_memory, with_data) {
                (false, _) => TlpAtomic::of_code(type_code)
                    .map_or(TlpKind::Other { type_code }, |operation| TlpKind::Atomic { operation, address }),
                (true, true) => TlpKind::MemWrite { address, enables },
                (true, false) => TlpKind::MemRead { address, dw: length_dw(length), enables },
            }
        };
        Ok(match shape {
            TlpShape::Mem32 | TlpShape::Io => {
                let h = NfmMem32::from_bits(header);
                tlp!(h, memory(h.address, h.first_be, h.last_be, h.length))
            }
            TlpShape::Mem64 => {
                let h = NfmMem64::from_bits(header);
                tlp!(h, memory(h.address, h.first_be, h.last_be, h.length))
            }
            TlpShape::Cfg => {
                let h = NfmCfg::from_bits(header);
                let register = (u16::from(h.ext_reg) << 6 | u16::from(h.reg_dw)) * DW_BYTES as u16;
                tlp!(h, config(with_data, type_code & 1, h.completer, register, h.first_be))
            }
            TlpShape::Cpl => {
                let h = NfmCpl::from_bits(header);
                let kind = TlpKind::Completion {
                    completer: h.completer,
                    status: h.status,
                    byte_count: byte_count_bytes(h.byte_count),
                    lower_address: h.lower_addr,
                };
                tlp!(h, kind)
            }
            TlpShape::Msg => {
                let h = NfmMsg::from_bits(header);
                tlp!(h, TlpKind::Message { routing: type_code & 7, code: h.message_code, dw2: h.dw2, dw3: h.dw3 })
            }
            TlpShape::Prefix => return Err(TlpError::Type { found: type_code }),
        })
    }

    fn of_flit(parts: &TlpParts) -> Result<Tlp, TlpError> {
        let code = parts.size.code;
        let header = number(parts.header);
        let with_data = !parts.data.is_empty();
        macro_rules! tlp {
            ($h:ident, $tag:expr, $kind:expr) => {
                Tlp {
                    kind: $kind,
                    requester: $h.requester,
                    tag: $tag,
                    tc: $h.tc,
                    attr: $h.attr,
                    poison: $h.ep,
                    data: parts.data.to_vec(),
                }
            };
        }
        let memory = |address, length: u16| {
            let (first, last) = parts.byte_enables();
            let enables = Enables { first, last };
            match code {
                FmType::MWr32 | FmType::MWr64 => TlpKind::MemWrite { address, enables },
                FmType::MRd32 | FmType::MRd64 => TlpKind::MemRead { address, dw: length_dw(length), enables },
                FmType::UIOMWr => TlpKind::UioWrite { address, enables },
                FmType::UIOMRd => TlpKind::UioRead { address, dw: length_dw(length), enables },
                _ => TlpAtomic::of_code(code.0)
                    .map_or(TlpKind::Other { type_code: code.0 }, |operation| TlpKind::Atomic { operation, address }),
            }
        };
        Ok(match parts.size.base {
            Base::Mem32 | Base::Io => {
                let h = FmMem32::from_bits(header);
                tlp!(h, h.tag, memory(h.address, h.length))
            }
            Base::Mem64 => {
                let h = FmMem64::from_bits(header);
                tlp!(h, h.tag, memory(h.address, h.length))
            }
            Base::Cfg => {
                let h = FmCfg::from_bits(header);
                let enables = parts.ohc_bits(0).map_or(0xf, |(_, bits)| OhcA3::from_bits(bits).first_be);
                let register = h.reg_dw * DW_BYTES as u16;
                tlp!(h, h.tag, config(with_data, code.0 & 1, h.completer, register, enables))
            }
            Base::Cpl => {
                let h = FmCpl::from_bits(header);
                let (status, low) = parts.completion();
                let (completer, byte_count) = (h.completer, byte_count_bytes(h.byte_count));
                let lower_address = u8::from(h.lower_addr_6) << 6 | h.lower_addr << 2 | low;
                let kind = match UioAnswer::of_code(code) {
                    Some(of) => TlpKind::UioCompletion { of, completer, status, byte_count, lower_address },
                    None => TlpKind::Completion { completer, status, byte_count, lower_address },
                };
                tlp!(h, h.tag, kind)
            }
            Base::Msg => {
                let h = FmMsg::from_bits(header);
                tlp!(h, 0, TlpKind::Message { routing: code.0 & 7, code: h.message_code, dw2: h.dw2, dw3: h.dw3 })
            }
            Base::Nop | Base::Prefix => return Err(TlpError::Type { found: code.0 }),
        })
    }
}

fn config(write: bool, level: u8, target: u16, register: u16, enables: u8) -> TlpKind {
    match write {
        true => TlpKind::ConfigWrite { level, target, register, enables },
        false => TlpKind::ConfigRead { level, target, register, enables },
    }
}

/// Bytes of a layout, byte 0 first.
fn to_bytes<T: Wire>(message: &T) -> Result<Vec<u8>, TlpError> {
    Ok(T::DEF.to_bytes(message.to_bits()?))
}

/// At most 16 bytes as one number, byte 0 highest.
fn number(bytes: &[u8]) -> u128 {
    bytes.iter().fold(0, |n, &b| n << 8 | u128::from(b))
}
