//! A TLP as it stands above the link: its bytes, how they are read, and what they cost.
//!
//! Modelled: both forms, non-flit (68B links) and flit mode (256B links, with a PBR header where ports route); credit
//! class and data credits; the local prefix that carries an LD-ID or PBR-ID. Fields are read with the layouts of
//! [`cxlio`](scalepool_protocols::cxl::cxlio) out of [`IoTlp::header`].

use scalepool_protocols::cxl::cxlio::code::FmType;
use scalepool_protocols::cxl::cxlio::flit_mode::Base;
use scalepool_protocols::cxl::cxlio::non_flit_mode::{self, TlpShape};
pub use scalepool_protocols::cxl::cxlio::tlp::IoTlpForm;
use scalepool_protocols::cxl::cxlio::tlp::{TlpFault, TlpParts};
use scalepool_protocols::cxl::cxlio::{DW_BYTES, length_dw};
use std::fmt;

/// First byte of the local prefix with an LD-ID or PBR-ID, in both forms (`cxl-io` §3.8).
const ID_PREFIX: u8 = FmType::VendorPrefix0.0;
/// A data credit (`cxl-io` §2.2).
pub const DATA_CREDIT_DW: usize = 4;

/// Class of credits and of ordering (`cxl-io` §2.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum IoCreditClass {
    /// Memory writes and messages.
    Posted,
    /// Requests that are answered.
    NonPosted,
    /// Answers.
    Completion,
}

impl IoCreditClass {
    /// All, in order of [`IoCreditClass::index`] and of flow-control DLLPs.
    pub const ALL: [IoCreditClass; 3] = [IoCreditClass::Posted, IoCreditClass::NonPosted, IoCreditClass::Completion];

    /// Place in arrays by kind.
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Kind of a Fmt and Type byte, `None` for a prefix and unlisted ones.
    const fn of_non_flit(byte0: u8) -> Option<IoCreditClass> {
        Some(match TlpShape::of(byte0) {
            None | Some(TlpShape::Prefix) => return None,
            Some(TlpShape::Msg) => IoCreditClass::Posted,
            Some(TlpShape::Cpl) => IoCreditClass::Completion,
            Some(TlpShape::Mem32 | TlpShape::Mem64) if matches!(byte0, 0x40 | 0x60) => IoCreditClass::Posted,
            Some(_) => IoCreditClass::NonPosted,
        })
    }

    /// Kind of a flit-mode type. UIO writes count as posted \[C\].
    const fn of_flit(base: Base, code: FmType) -> IoCreditClass {
        match (base, code) {
            (Base::Msg, _) => IoCreditClass::Posted,
            (Base::Cpl, _) => IoCreditClass::Completion,
            (_, FmType::MWr32 | FmType::MWr64 | FmType::UIOMWr) => IoCreditClass::Posted,
            _ => IoCreditClass::NonPosted,
        }
    }
}

/// Why bytes are no TLP of a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum IoTlpError {
    /// Non-flit: a first byte that is no type.
    #[error("found first byte {code:#04x} at byte {at}, expected Fmt and Type of a TLP")]
    Type {
        /// Found.
        code: u8,
        /// Where.
        at: usize,
    },
    /// Non-flit: not as long as the header says.
    #[error("found {found} bytes, expected {expected} as the header announces")]
    Length {
        /// Bytes given.
        found: usize,
        /// Bytes announced.
        expected: usize,
    },
    /// Flit mode.
    #[error(transparent)]
    Flit(#[from] TlpFault),
}

/// A whole TLP: prefixes, header, data, digest or trailer; no sequence number, no LCRC.
#[derive(Clone, PartialEq, Eq)]
pub struct IoTlp {
    form: IoTlpForm,
    kind: IoCreditClass,
    bytes: Vec<u8>,
    /// First byte of the header, behind prefixes and PBR header.
    header_at: usize,
    header_bytes: usize,
    payload_at: usize,
    payload_bytes: usize,
}

impl fmt::Debug for IoTlp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} ", self.kind)?;
        self.bytes.iter().try_for_each(|b| write!(f, "{b:02x}"))
    }
}

impl IoTlp {
    /// Reads the bytes of one TLP.
    ///
    /// # Errors
    /// The bytes are no TLP of this form, or more or less than one.
    pub fn new(form: IoTlpForm, bytes: Vec<u8>) -> Result<IoTlp, IoTlpError> {
        match form {
            IoTlpForm::NonFlit => IoTlp::non_flit(bytes),
            IoTlpForm::Flit { pbr } => {
                let parts = TlpParts::split(&bytes, pbr)?;
                let kind = IoCreditClass::of_flit(parts.size.base, parts.size.code);
                let header_at = parts.prefixes.len() + parts.pth.len();
                let (header_bytes, payload_bytes) = (parts.header.len(), parts.data.len());
                let payload_at = bytes.len() - parts.trailer.len() - payload_bytes;
                Ok(IoTlp { form, kind, bytes, header_at, header_bytes, payload_at, payload_bytes })
            }
        }
    }

    fn non_flit(bytes: Vec<u8>) -> Result<IoTlp, IoTlpError> {
        let mut header_at = 0;
        loop {
            let short = IoTlpError::Length { found: bytes.len(), expected: header_at + DW_BYTES };
            let dw0: [u8; DW_BYTES] = *bytes[header_at..].first_chunk().ok_or(short)?;
            if TlpShape::of(dw0[0]) == Some(TlpShape::Prefix) {
                header_at += DW_BYTES;
                continue;
            }
            let unknown = IoTlpError::Type { code: dw0[0], at: header_at };
            let kind = IoCreditClass::of_non_flit(dw0[0]).ok_or(unknown)?;
            let expected = header_at + non_flit_mode::tlp_bytes(dw0).ok_or(unknown)?;
            if bytes.len() != expected {
                return Err(IoTlpError::Length { found: bytes.len(), expected });
            }
            let header_bytes = DW_BYTES * (3 + usize::from(dw0[0] >> 5 & 1));
            let has_data = dw0[0] >> 6 & 1 == 1;
            let data_dw = length_dw(u16::from(dw0[2] & 3) << 8 | u16::from(dw0[3]));
            let payload_bytes = if has_data { DW_BYTES * data_dw } else { 0 };
            let payload_at = header_at + header_bytes;
            return Ok(IoTlp {
                form: IoTlpForm::NonFlit,
                kind,
                bytes,
                header_at,
                header_bytes,
                payload_at,
                payload_bytes,
            });
        }
    }

    /// How its bytes are read.
    pub const fn form(&self) -> IoTlpForm {
        self.form
    }

    /// Class of credits and ordering.
    pub const fn kind(&self) -> IoCreditClass {
        self.kind
    }

    /// All bytes, byte 0 first on the wire.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// All bytes, given away.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// The header of 12 or 16 bytes; its first byte tells which layout reads it.
    pub fn header(&self) -> &[u8] {
        &self.bytes[self.header_at..self.header_at + self.header_bytes]
    }

    /// The header as a number for a layout, byte 0 highest.
    pub fn header_bits(&self) -> u128 {
        self.header().iter().fold(0, |n, &b| n << 8 | u128::from(b))
    }

    /// Whether it is unordered I/O, which has a channel of its own.
    pub fn is_uio(&self) -> bool {
        let code = FmType(self.code());
        self.form != IoTlpForm::NonFlit
            && matches!(code, FmType::UIOMRd | FmType::UIOMWr | FmType::UIORdCpl | FmType::UIORdCplD | FmType::UIOWrCpl)
    }

    /// First byte of the header: Fmt and Type, or the flit-mode type.
    pub fn code(&self) -> u8 {
        self.bytes[self.header_at]
    }

    /// The data, a whole number of DW; empty where there is none.
    pub fn payload(&self) -> &[u8] {
        &self.bytes[self.payload_at..self.payload_at + self.payload_bytes]
    }

    /// The parts of a flit-mode TLP; `None` in the other form.
    pub fn parts(&self) -> Option<TlpParts<'_>> {
        match self.form {
            IoTlpForm::NonFlit => None,
            IoTlpForm::Flit { pbr } => TlpParts::split(&self.bytes, pbr).ok(),
        }
    }

    /// Data credits that it takes, 4 DW each (`cxl-io` §2.2); header credits are always one.
    pub const fn data_credits(&self) -> u32 {
        self.payload_bytes.div_ceil(DATA_CREDIT_DW * DW_BYTES) as u32
    }

    /// Whether the data is poisoned: EP, in DW0 or in the flit-mode DW1 (`cxl-io` §1.1, §3.5).
    pub fn is_poisoned(&self) -> bool {
        match self.form {
            IoTlpForm::NonFlit => self.header()[2] & 0x40 != 0,
            IoTlpForm::Flit { .. } => self.header()[6] & 0x80 != 0,
        }
    }

    /// Whether it may pass posted requests: Attr bit 1, relaxed ordering (`cxl-io` §1.1, §3.2).
    pub fn is_relaxed(&self) -> bool {
        match self.form {
            IoTlpForm::NonFlit => self.header()[2] & 0x20 != 0,
            IoTlpForm::Flit { .. } => self.header()[2] & 0x08 != 0,
        }
    }

    /// The prefixes and, on a PBR link, the PBR header.
    pub fn front(&self) -> &[u8] {
        &self.bytes[..self.header_at]
    }

    /// LD-ID or PBR-ID of its local prefix; `None` without such a prefix (`cxl-io` §3.8).
    pub fn id_prefix(&self) -> Option<u16> {
        let pth_bytes = if self.form == (IoTlpForm::Flit { pbr: true }) { DW_BYTES } else { 0 };
        let prefixes = &self.bytes[..self.header_at - pth_bytes];
        let prefix = prefixes.chunks(DW_BYTES).find(|p| p[0] == ID_PREFIX)?;
        Some(u16::from_be_bytes([prefix[1], prefix[2]]))
    }

    /// The same TLP with a local prefix in front that carries an LD-ID or PBR-ID (`cxl-io` §3.8).
    #[must_use]
    pub fn with_id_prefix(mut self, id: u16) -> IoTlp {
        let [high, low] = id.to_be_bytes();
        self.bytes.splice(0..0, [ID_PREFIX, high, low, 0]);
        self.header_at += DW_BYTES;
        self.payload_at += DW_BYTES;
        self
    }
}
