//! Messages of link ends as bits and bytes: the bits of a layout, the data, its byte enables, and what else a protocol has.
//!
//! The same message as [`super::message`] has in JSON, for callers who have packed structs. What stands where is said in the text of
//! [`super::typed::sp_link_send_bits`].

use super::message::{CapiMessage, transfer_bits, transfer_of, unknown};
use super::protocol::CapiProtocol;
use super::typed::{SP_LOWER_HALF, SP_METADATA, SP_NO_LAYOUT, SP_UPPER_HALF, SP_WHOLE_LINE};
use crate::message::{def, number_of};
use crate::status::Failure;
use scalepool::forms::FormError;
use scalepool::link::nvlink::NvlMessage;
use scalepool::link::protocol::LinkProtocol;
use scalepool_protocols::cxl::cxl68;
use scalepool_protocols::cxl::cxl68::stream::{Cxl68Message, Data as Data68, Size};
use scalepool_protocols::cxl::cxl256::stream::{Cxl256Message, Data as Data256};
use scalepool_protocols::cxl::cxl256::{self, Mode};
use scalepool_protocols::nvlink::{Ae, NvlHeader};
use scalepool_protocols::ualink::half::{HALF_BYTES, TL_BYTES, TlFlit};
use scalepool_protocols::ualink::unpack::Transfer;
use scalepool_protocols::wire::{LayoutDef, Wire};

/// A message as its caller has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageBits {
    /// Number of the layout.
    pub layout: u32,
    /// The message in wire order.
    pub bits: Vec<u8>,
    /// Its data; empty: none.
    pub data: Vec<u8>,
    /// Byte enables, bit n for byte n; empty: none.
    pub enables: Vec<u8>,
    /// Half, metadata or indicators.
    pub extra: u64,
}

/// The bits of a message of CXL, its line, and the byte enables of that.
type CxlBits = (u128, Option<[u8; 64]>, Option<u64>);

/// Bytes of a header or AE of NVLink.
const NVL_BYTES: usize = 16;

fn length(what: &str, found: usize, expected: &str) -> Failure {
    Failure::range(what, format!("{found} bytes"), expected)
}

/// An array of a fixed length.
fn array<const N: usize>(what: &str, bytes: &[u8]) -> Result<[u8; N], Failure> {
    bytes.try_into().map_err(|_| length(what, bytes.len(), &format!("{N}")))
}

fn extra(found: u64, expected: &str) -> Failure {
    Failure::range("extra", format!("{found:#x}"), expected)
}

impl MessageBits {
    /// The message, for an end of this protocol.
    ///
    /// # Errors
    /// A layout that the protocol does not carry, lengths that do not fit, a value of `extra` that means nothing.
    pub fn read(&self, protocol: CapiProtocol) -> Result<CapiMessage, Failure> {
        let CapiProtocol::Link(protocol) = protocol else { return self.tlp().map(CapiMessage::Tlp) };
        match protocol {
            LinkProtocol::Cxl68 => self.cxl68().map(CapiMessage::Cxl68),
            LinkProtocol::Cxl256(mode) => self.cxl256(mode).map(|message| CapiMessage::Cxl256(mode, message)),
            LinkProtocol::Nvlink => self.nvlink().map(CapiMessage::Nvlink),
            // A transaction layer has fields of a layout, a data link layer TL flits.
            LinkProtocol::Ualink if self.layout == SP_NO_LAYOUT => self.ualink().map(CapiMessage::Ualink),
            LinkProtocol::Ualink => self.ualink_transfer().map(|t| CapiMessage::UalinkTransfer(Box::new(t))),
        }
    }

    /// The bytes of a TLP, which stand alone.
    fn tlp(&self) -> Result<Vec<u8>, Failure> {
        if self.layout != SP_NO_LAYOUT || !self.bits.is_empty() || !self.enables.is_empty() || self.extra != 0 {
            return Err(Failure::range("message", "more than data", "SP_NO_LAYOUT and the bytes of a TLP as data"));
        }
        Ok(self.data.clone())
    }

    /// The bits of a layout, the line and its byte enables.
    fn cxl(&self, def: &'static LayoutDef) -> Result<CxlBits, Failure> {
        let bits = def.from_bytes(&self.bits).map_err(FormError::from)?;
        let line = if self.data.is_empty() { None } else { Some(array("data", &self.data)?) };
        let enables = match self.enables.is_empty() {
            true => None,
            false => Some(u64::from_le_bytes(array("enables", &self.enables)?)),
        };
        if line.is_none() && (enables.is_some() || self.extra != 0) {
            return Err(Failure::range("data", "none, with enables or extra", "64 bytes"));
        }
        Ok((bits, line, enables))
    }

    fn cxl68(&self) -> Result<Cxl68Message, Failure> {
        let def = def(self.layout)?;
        let class = cxl68::message::Class::ALL.into_iter().find(|class| class.def().name == def.name);
        let class = class.ok_or_else(|| unknown(def.name, LinkProtocol::Cxl68.name()))?;
        let (bits, line, byte_enables) = self.cxl(def)?;
        let size = match self.extra {
            SP_WHOLE_LINE => Size::Line,
            SP_LOWER_HALF => Size::LowerHalf,
            SP_UPPER_HALF => Size::UpperHalf,
            found => return Err(extra(found, "SP_WHOLE_LINE, SP_LOWER_HALF or SP_UPPER_HALF")),
        };
        Ok(Cxl68Message { class, bits, data: line.map(|bytes| Data68 { bytes, size, byte_enables }) })
    }

    fn cxl256(&self, mode: Mode) -> Result<Cxl256Message, Failure> {
        let def = def(self.layout)?;
        let class = cxl256::Class::ALL.into_iter().find(|class| class.def(mode.routing()).name == def.name);
        let class = class.ok_or_else(|| unknown(def.name, mode.protocol()))?;
        let (bits, line, byte_enables) = self.cxl(def)?;
        let metadata = match self.extra {
            0 => None,
            found if found & u64::from(u32::MAX) == SP_METADATA => Some((found >> 32) as u32),
            found => return Err(extra(found, "0, or SP_METADATA with the metadata in bits 63:32")),
        };
        Ok(Cxl256Message { class, bits, data: line.map(|line| Data256 { line, byte_enables, metadata }) })
    }

    fn nvlink(&self) -> Result<NvlMessage, Failure> {
        let name = def(self.layout)?.name;
        if name != NvlHeader::DEF.name {
            return Err(unknown(name, LinkProtocol::Nvlink.name()).into());
        }
        if self.extra != 0 {
            return Err(extra(self.extra, "0"));
        }
        let both: [u8; 2 * NVL_BYTES] = array("bits", &self.bits)?;
        let [header, ae] = [0, 1].map(|n| u128::from_le_bytes(std::array::from_fn(|k| both[NVL_BYTES * n + k])));
        let (header, ae) = (NvlHeader::from_bits(header), Ae::from_bits(ae));
        let be = match self.enables.is_empty() {
            true => None,
            false => Some(u128::from_le_bytes(array("enables", &self.enables)?)),
        };
        Ok(NvlMessage {
            op: header.op,
            vc: header.vc,
            tag: header.tag,
            rid: header.rid,
            size: header.size,
            ep: header.ep,
            atag: header.atag,
            address: ae.address | header.address,
            attr: ae.attr,
            route: ae.route,
            be,
            data: self.data.clone(),
        })
    }

    fn ualink(&self) -> Result<TlFlit, Failure> {
        if self.layout != SP_NO_LAYOUT || !self.bits.is_empty() || !self.enables.is_empty() {
            return Err(Failure::range("layout", self.layout, "SP_NO_LAYOUT, without bits and enables"));
        }
        let bytes: [u8; TL_BYTES] = array("data", &self.data)?;
        let mut flit =
            TlFlit { halves: [0, 1].map(|n| std::array::from_fn(|k| bytes[HALF_BYTES * n + k])), ..TlFlit::default() };
        if self.extra > 3 {
            return Err(extra(self.extra, "0 to 3"));
        }
        flit.set_indicators(self.extra as u8);
        Ok(flit)
    }

    fn ualink_transfer(&self) -> Result<Transfer, Failure> {
        let def = def(self.layout)?;
        let bits = def.from_bytes(&self.bits).map_err(FormError::from)?;
        let (beats, rest) = self.data.as_chunks::<64>();
        if !rest.is_empty() {
            return Err(length("data", self.data.len(), "64 for each beat"));
        }
        let enables = if self.enables.is_empty() { None } else { Some(array("enables", &self.enables)?) };
        let poisoned = u8::try_from(self.extra).map_err(|_| extra(self.extra, "a bit for each beat, 0 to 0xff"))?;
        Ok(transfer_of(def, bits, beats, enables, poisoned)?)
    }

    /// The bits of a message.
    pub fn of(message: &CapiMessage) -> MessageBits {
        match message {
            CapiMessage::Cxl68(message) => {
                let size = message.data.map_or(Size::Line, |data| data.size);
                let extra = match size {
                    Size::Line => SP_WHOLE_LINE,
                    Size::LowerHalf => SP_LOWER_HALF,
                    Size::UpperHalf => SP_UPPER_HALF,
                };
                let data = message.data.map(|data| (data.bytes, data.byte_enables));
                MessageBits::of_cxl(message.class.def(), message.bits, data, extra)
            }
            CapiMessage::Cxl256(mode, message) => {
                let metadata = message.data.and_then(|data| data.metadata);
                let data = message.data.map(|data| (data.line, data.byte_enables));
                let extra = metadata.map_or(0, |metadata| SP_METADATA | u64::from(metadata) << 32);
                MessageBits::of_cxl(message.class.def(mode.routing()), message.bits, data, extra)
            }
            CapiMessage::Nvlink(message) => {
                let header = NvlHeader {
                    op: message.op,
                    vc: message.vc,
                    tag: message.tag,
                    rid: message.rid,
                    size: message.size,
                    ep: message.ep,
                    atag: message.atag,
                    address: message.address & ((1 << 38) - 1),
                    ..NvlHeader::default()
                };
                let ae = Ae { rsvd: 0, route: message.route, attr: message.attr, address: message.address >> 38 << 38 };
                // Fields of a message are within their widths.
                let bits = [header.to_bits().unwrap_or_default(), ae.to_bits().unwrap_or_default()];
                MessageBits {
                    layout: number_of(NvlHeader::DEF),
                    bits: bits.into_iter().flat_map(u128::to_le_bytes).collect(),
                    data: message.data.clone(),
                    enables: message.be.map(|be| be.to_le_bytes().to_vec()).unwrap_or_default(),
                    extra: 0,
                }
            }
            CapiMessage::Ualink(flit) => MessageBits {
                layout: SP_NO_LAYOUT,
                bits: Vec::new(),
                data: flit.halves.concat(),
                enables: Vec::new(),
                extra: flit.indicators().into(),
            },
            CapiMessage::Tlp(bytes) => MessageBits {
                layout: SP_NO_LAYOUT,
                bits: Vec::new(),
                data: bytes.clone(),
                enables: Vec::new(),
                extra: 0,
            },
            CapiMessage::UalinkTransfer(transfer) => {
                let Some((def, bits)) = transfer_bits(transfer) else {
                    unreachable!("it was made of a request or a response")
                };
                MessageBits {
                    layout: number_of(def),
                    bits: def.to_bytes(bits),
                    data: (0..transfer.data.len()).filter_map(|n| transfer.data.get(n)).flatten().collect(),
                    enables: transfer.enables.as_ref().map(|enables| enables.to_vec()).unwrap_or_default(),
                    extra: transfer.poisoned.into(),
                }
            }
        }
    }

    fn of_cxl(def: &'static LayoutDef, bits: u128, data: Option<([u8; 64], Option<u64>)>, extra: u64) -> MessageBits {
        let enables = data.and_then(|(_, enables)| enables);
        MessageBits {
            layout: number_of(def),
            bits: def.to_bytes(bits),
            data: data.map(|(line, _)| line.to_vec()).unwrap_or_default(),
            enables: enables.map(|enables| enables.to_le_bytes().to_vec()).unwrap_or_default(),
            extra,
        }
    }
}
