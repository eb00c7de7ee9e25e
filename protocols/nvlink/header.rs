//! Header and address extension (`nvlink` §6.1). Basis: model.

use super::code::{Op, Vc};
use crate::layout;

/// Lowest bit of the CRC: the header bits below it are covered (`nvlink` §6.2).
pub const CRC_LSB: u32 = 103;

layout! {
    /// Header flit of an NVL-M1 packet: CRC, transaction part (bits 102 to 20), link part (19 to 0). Model, no product.
    pub struct NvlHeader: 128 bits = "nvlink.header" {
        source: "nvlink §6.1 (D)", basis: Model, rule: "NVL-HDR-01";
        /// Identifier of the last flit that was received in order, modulo 4096; in REPLAY_INIT the first of the replay.
        ackid: u16 = [0 +: 12];
        /// `ackid` acknowledges.
        ackv: bool = [12 +: 1];
        /// Application tag.
        atag: u8 = [13 +: 2];
        /// Flits behind the header, 0 to 17.
        len: u8 = [15 +: 5];
        /// Reserved.
        rsvd: u8 = [20 +: 2], reserved;
        /// Data credits returned, one a data flit.
        crd: u8 = [22 +: 5];
        /// Header credits returned, one a packet.
        crh: u8 = [27 +: 4];
        /// Channel of the credits returned.
        crvc: Vc = [31 +: 3];
        /// The data is wrong (poison).
        ep: bool = [34 +: 1];
        /// A BE flit follows.
        be: bool = [35 +: 1];
        /// An AE flit follows.
        ae: bool = [36 +: 1];
        /// Units of 16 bytes asked for or carried, minus 1; in RSP_ERROR the error.
        size: u8 = [37 +: 4];
        /// Byte address bits 37:0; those above are in the AE.
        address: u64 = [41 +: 34], address 4;
        /// Requester: link or endpoint.
        rid: u16 = [75 +: 9];
        /// Names the request; the answer carries it back.
        tag: u16 = [84 +: 10];
        /// Virtual channel.
        vc: Vc = [94 +: 3];
        /// Operation.
        op: Op = [97 +: 6];
        /// CRC over the payload of the packet before and the bits below.
        crc: u32 = [103 +: 25];
    }
}

layout! {
    /// Address extension: sent when it differs from the last one of the channel. Model, no product.
    pub struct Ae: 128 bits = "nvlink.ae" {
        source: "nvlink §6.1 (D)", basis: Model, rule: "NVL-HDR-02";
        /// Reserved.
        rsvd: u64 = [0 +: 64], reserved;
        /// Hint for routing.
        route: u32 = [64 +: 32];
        /// Attributes; operation of an atomic.
        attr: u8 = [96 +: 6];
        /// Byte address bits 63:38.
        address: u64 = [102 +: 26], address 38;
    }
}
