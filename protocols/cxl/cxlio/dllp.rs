//! Data link layer packets: four bytes, on 68B links with a CRC-16 behind them (`cxl-io` section 2).

use super::code::{DllpType, FcType, LastTlp};
use crate::check::pcie;
use crate::layout;
use crate::wire::{At, FieldError, FieldFault, LayoutDef, Violation, Wire};

layout! {
    /// Ack or Nak; not used in 256B mode, where the flit header has them.
    pub struct DllpAckNak: 32 bits = "cxlio.dllp_ack_nak" {
        source: "cxl-io §2.1", basis: Spec, rule: "CXLIO-DLL-05", cross_check: ack_nak, order: Big;
        /// Sequence number of the last good TLP.
        seq: u16 = [0 +: 12];
        /// Reserved.
        rsvd: u16 = [12 +: 12], reserved;
        /// Ack or Nak.
        dllp_type: DllpType = [24 +: 8];
    }
}

layout! {
    /// Data link features.
    pub struct DllpFeature: 32 bits = "cxlio.dllp_feature" {
        source: "cxl-io §2.1", basis: Spec, rule: "CXLIO-DLL-05", cross_check: feature, order: Big;
        /// Features supported; bit 0 scaled flow control.
        feature: u32 = [0 +: 23];
        /// The features of the peer have been seen.
        feature_ack: bool = [23 +: 1];
        /// Feature.
        dllp_type: DllpType = [24 +: 8], default 2;
    }
}

layout! {
    /// InitFC1, InitFC2 or UpdateFC of one credit type.
    pub struct DllpFc: 32 bits = "cxlio.dllp_fc" {
        source: "cxl-io §2.2", basis: Spec, rule: "CXLIO-DLL-02", order: Big;
        /// Data credits; the unit is 4 DW.
        data_fc: u16 = [0 +: 12];
        /// Scale of the data credits: 0 none, else x1, x4, x16.
        data_scale: u8 = [12 +: 2];
        /// Header credits; the unit is one header.
        hdr_fc: u8 = [14 +: 8];
        /// Scale of the header credits: 0 none, else x1, x4, x16.
        hdr_scale: u8 = [22 +: 2];
        /// Virtual channel.
        vc: u8 = [24 +: 3];
        /// 1: shared credits (flit mode), 0: dedicated.
        shared: bool = [27 +: 1];
        /// Step and credit type.
        fc_type: FcType = [28 +: 4], default 8;
    }
}

layout! {
    /// Credits of one virtual channel in a flit whose header bit 4 is set.
    pub struct DllpOptimizedUpdateFc: 32 bits = "cxlio.dllp_optimized_update_fc" {
        source: "cxl-io §2.5", basis: Spec, rule: "CXLIO-DLL-07", cross_check: optimized, order: Big;
        /// Shared posted data credits.
        p_data: u16 = [0 +: 12];
        /// Shared posted header credits.
        p_hdr: u8 = [12 +: 8];
        /// Shared non-posted header credits.
        np_hdr: u8 = [20 +: 8];
        /// Virtual channel.
        vc: u8 = [28 +: 3];
        /// 0: this is no flit marker.
        marker: bool = [31 +: 1];
    }
}

layout! {
    /// Marker of a flit whose header bit 4 is set.
    pub struct DllpFlitMarker: 32 bits = "cxlio.dllp_flit_marker" {
        source: "cxl-io §2.5", basis: Spec, rule: "CXLIO-DLL-07", cross_check: flit_marker, order: Big;
        /// Reserved.
        rsvd: u32 = [0 +: 28], reserved;
        /// Precision time measurement marker.
        ptm: bool = [28 +: 1];
        /// State of the last TLP of the flit.
        last_tlp: LastTlp = [29 +: 2];
        /// 1: this is a flit marker.
        marker: bool = [31 +: 1], default 1;
    }
}

/// Bytes of a DLLP without CRC.
pub const DLLP_BYTES: usize = 4;
/// Bytes of a DLLP with CRC, on links without flits.
pub const FRAMED_BYTES: usize = 6;

/// The four bytes of a DLLP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Dllp(pub [u8; DLLP_BYTES]);

impl Dllp {
    /// The DLLP field of a flit.
    ///
    /// # Errors
    /// Another length than 4.
    pub fn from_bytes(bytes: &[u8]) -> Result<Dllp, FieldError> {
        bytes.try_into().map(Dllp).map_err(|_| length(bytes.len(), DLLP_BYTES))
    }

    /// A DLLP with its CRC-16 behind it; whether the CRC fits is the second answer.
    ///
    /// # Errors
    /// Another length than 6.
    pub fn from_framed(bytes: &[u8]) -> Result<(Dllp, bool), FieldError> {
        let bytes: &[u8; FRAMED_BYTES] = bytes.try_into().map_err(|_| length(bytes.len(), FRAMED_BYTES))?;
        let [a, b, c, d, crc @ ..] = *bytes;
        let dllp = Dllp([a, b, c, d]);
        Ok((dllp, crc == pcie::dllp_crc(&dllp.0)))
    }

    /// The DLLP with its CRC-16.
    pub fn framed(&self) -> [u8; FRAMED_BYTES] {
        let ([a, b, c, d], [e, f]) = (self.0, pcie::dllp_crc(&self.0));
        [a, b, c, d, e, f]
    }

    /// The 32 bits, byte 0 highest.
    pub fn bits(&self) -> u128 {
        u32::from_be_bytes(self.0).into()
    }

    /// Name of the type: of [`FcType`], of [`DllpType`], or of the two forms with header bit 4 set. `None`: reserved.
    pub fn name(&self, header_bit_4: bool) -> Option<&'static str> {
        let byte0 = self.0[0];
        match (header_bit_4, byte0 >> 7) {
            (true, 0) => Some("OptimizedUpdateFc"),
            (true, _) => Some("FlitMarker"),
            // Bit 3 of the first byte is `shared` of a flow-control DLLP, so only the upper half names it.
            (false, _) => FcType(byte0 >> 4).name().or_else(|| DllpType(byte0).name()),
        }
    }

    /// Layout of its content, `None` where it has no fields of its own. `header_bit_4` is the bit of the flit header
    /// that says which two kinds of DLLP there are; 0 outside of flits.
    pub fn def(&self, header_bit_4: bool) -> Option<&'static LayoutDef> {
        let byte0 = self.0[0];
        Some(match (header_bit_4, byte0 >> 7) {
            (true, 0) => DllpOptimizedUpdateFc::DEF,
            (true, _) => DllpFlitMarker::DEF,
            (false, _) if FcType(byte0 >> 4).name().is_some() => DllpFc::DEF,
            (false, _) => match DllpType(byte0) {
                DllpType::Ack | DllpType::Nak => DllpAckNak::DEF,
                DllpType::Feature => DllpFeature::DEF,
                _ => return None,
            },
        })
    }

    /// Judges it.
    pub fn check(&self, header_bit_4: bool, found: &mut Vec<Violation>) {
        match self.def(header_bit_4) {
            Some(def) => def.check(self.bits(), found),
            None if self.name(header_bit_4).is_some() => (),
            None => found.push(Violation {
                rule: "CXLIO-DLL-01",
                at: At::Bits { lsb: 24, width: 8 },
                found: format!("{:#04x}", self.0[0]),
                expected: "a DLLP type".into(),
                text: "the first byte is not a DLLP type".into(),
            }),
        }
    }
}

fn length(found: usize, expected: usize) -> FieldError {
    FieldError { layout: "cxlio.dllp", fault: FieldFault::Length { found, expected, bits: 8 * expected as u32 } }
}

/// DLL-01: the type is listed, but belongs to another layout.
fn own_type(def: &LayoutDef, bits: u128, own: &[DllpType], found: &mut Vec<Violation>) {
    let code = DllpType((bits >> 24) as u8);
    if code.name().is_some() && !own.contains(&code) {
        found.push(Violation {
            rule: "CXLIO-DLL-01",
            at: At::Bits { lsb: 24, width: 8 },
            found: format!("{code:?}"),
            expected: format!("{own:?}"),
            text: format!("{}: the DLLP type has other content", def.name),
        });
    }
}

fn ack_nak(bits: u128, found: &mut Vec<Violation>) {
    own_type(DllpAckNak::DEF, bits, &[DllpType::Ack, DllpType::Nak], found);
}

fn feature(bits: u128, found: &mut Vec<Violation>) {
    own_type(DllpFeature::DEF, bits, &[DllpType::Feature], found);
}

/// DLL-07: bit 31 tells the two forms apart.
fn marker(def: &LayoutDef, bits: u128, expected: u128, found: &mut Vec<Violation>) {
    if bits >> 31 != expected {
        found.push(Violation {
            rule: "CXLIO-DLL-07",
            at: At::Bits { lsb: 31, width: 1 },
            found: (bits >> 31).to_string(),
            expected: expected.to_string(),
            text: format!("{}: the marker bit is that of the other form", def.name),
        });
    }
}

fn optimized(bits: u128, found: &mut Vec<Violation>) {
    marker(DllpOptimizedUpdateFc::DEF, bits, 0, found);
}

fn flit_marker(bits: u128, found: &mut Vec<Violation>) {
    marker(DllpFlitMarker::DEF, bits, 1, found);
}
