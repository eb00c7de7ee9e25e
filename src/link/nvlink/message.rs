//! What travels for a user of the link: a packet without what the link adds.

use scalepool_protocols::nvlink::stream::NvlDecodedPacket;
use scalepool_protocols::nvlink::{Ae, FLIT_BYTES, NvlConfig, NvlHeader, Op, Packet, PacketError, Vc};
use thiserror::Error;

/// Requester of an RSP_DONE that carries credits and ends at the link: the largest number of the field, our choice.
pub const LINK_RID: u16 = 0x1ff;

/// A message of a channel.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NvlMessage {
    /// Operation.
    pub op: Op,
    /// Virtual channel.
    pub vc: Vc,
    /// Names the request.
    pub tag: u16,
    /// Requester, 0 to 510.
    pub rid: u16,
    /// Units of 16 bytes asked for, minus 1; in RSP_ERROR the error. 0 where the operation carries data, whose length says it.
    pub size: u8,
    /// Poison.
    pub ep: bool,
    /// Application tag.
    pub atag: u8,
    /// Whole byte address, a multiple of 16.
    pub address: u64,
    /// Attributes of the AE.
    pub attr: u8,
    /// Routing hint of the AE.
    pub route: u32,
    /// Byte enables.
    pub be: Option<u128>,
    /// Data, a multiple of 16 bytes up to 256.
    pub data: Vec<u8>,
}

/// Why a message cannot be sent.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NvlRefused {
    /// Its parts are no packet.
    #[error(transparent)]
    Packet(#[from] PacketError),
    /// It belongs to the link itself.
    #[error(
        "nvlink: found {found}, expected an operation of the transaction layer, to a requester below {LINK_RID:#x}"
    )]
    OfTheLink {
        /// What was given.
        found: String,
    },
    /// A channel that does not exist.
    #[error("nvlink: found channel {found}, expected 0 to 7")]
    Channel {
        /// What was given.
        found: u8,
    },
}

impl NvlMessage {
    /// A message of an operation on its channel, all else 0.
    pub fn new(op: Op, codec: &NvlConfig) -> NvlMessage {
        NvlMessage { op, vc: codec.vc_of(op).unwrap_or_default(), ..NvlMessage::default() }
    }

    /// Data flits, each a data credit.
    pub fn data_flits(&self) -> u16 {
        (self.data.len() / FLIT_BYTES) as u16
    }

    /// The AE that has to be in force for it.
    pub(super) fn ae(&self) -> Ae {
        Ae { rsvd: 0, route: self.route, attr: self.attr, address: self.address >> 38 << 38 }
    }

    /// Its packet, with an AE or not, without what the link fills in.
    ///
    /// # Errors
    /// [`NvlRefused`].
    pub(super) fn packet(&self, with_ae: bool) -> Result<Packet, NvlRefused> {
        if !self.op.is_numbered() || self.rid == LINK_RID {
            return Err(NvlRefused::OfTheLink { found: format!("{:?} to {:#x}", self.op, self.rid) });
        }
        if usize::from(self.vc.0) >= Vc::COUNT {
            return Err(NvlRefused::Channel { found: self.vc.0 });
        }
        let header = NvlHeader {
            op: self.op,
            vc: self.vc,
            tag: self.tag,
            rid: self.rid,
            size: self.size,
            ep: self.ep,
            atag: self.atag,
            address: self.address & ((1 << 38) - 1),
            ..NvlHeader::default()
        };
        Ok(Packet::build(header, with_ae.then(|| self.ae()), self.be, &self.data)?)
    }

    /// Its packet as one that judges messages sees it, with an address extension of its own.
    ///
    /// # Errors
    /// [`NvlRefused`].
    pub fn decoded(&self) -> Result<NvlDecodedPacket, NvlRefused> {
        let packet = self.packet(true)?;
        Ok(NvlDecodedPacket { packet, covered_flits: 0, expected_crc: packet.crc(), ae: self.ae() })
    }

    /// The message of a packet for which this AE is in force.
    pub fn of(packet: &Packet, ae: &Ae) -> NvlMessage {
        let parts = packet.parts();
        let data = parts.data.iter().flat_map(|flit| flit.to_le_bytes()).collect();
        NvlMessage::of_parts(packet.header(), ae, parts.be, data)
    }

    /// The message of the parts of a packet; what the link decides is not looked at.
    pub fn of_parts(header: NvlHeader, ae: &Ae, be: Option<u128>, data: Vec<u8>) -> NvlMessage {
        NvlMessage {
            op: header.op,
            vc: header.vc,
            tag: header.tag,
            rid: header.rid,
            size: if header.op.has_data() == Some(true) { 0 } else { header.size },
            ep: header.ep,
            atag: header.atag,
            address: ae.address | header.address,
            attr: ae.attr,
            route: ae.route,
            be,
            data,
        }
    }
}
