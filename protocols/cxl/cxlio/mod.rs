//! CXL.io: the PCI Express objects that travel beside CXL.cache and CXL.mem.
//!
//! Modelled, bit for bit: TLP headers of the non-flit mode (68B links) and of the flit mode (256B links), the header
//! extensions OHC-A1, A2, A3, A5 and C, the PBR header, DLLPs, the 68B framing tokens, the vendor-defined messages of CXL
//! (sheet `cxl-io`, sections 1 to 6), where one TLP of a flit ends and the next begins, and the registers by which a device
//! says what it can do (section 7); and which TLP may pass which ([`order`]). Carried as bytes: OHC-A4, B and E, end-to-end prefixes, trailers. Left out: credits,
//! replay and timers, which are state.
//!
//! All that travels is big-endian: byte 0 goes first, and bit 0 of a layout is the lowest bit of its last byte. Checksums
//! are in [`crate::check::pcie`].
//!
//! A walk through the TLP bytes of one 256B flit: [`stream::Walker`] cuts them into pieces, each a TLP, a part of one or
//! a NOP; [`tlp::TlpParts`] splits a whole TLP into prefixes, header base, OHC, data and trailer; [`tlp::check`] names
//! the rules it breaks. The DLLP field goes to [`dllp::Dllp`].

pub mod ats;
pub mod code;
pub mod dllp;
pub mod dvsec;
pub mod flit_mode;
pub mod framing;
pub mod non_flit_mode;
pub mod order;
pub mod stream;
pub mod tlp;
pub mod vdm;

use crate::wire::{LayoutDef, Wire};

/// All layouts of the family, in order of the sheet.
pub static LAYOUTS: &[&LayoutDef] = &[
    non_flit_mode::NfmMem32::DEF,
    non_flit_mode::NfmMem64::DEF,
    non_flit_mode::NfmCfg::DEF,
    non_flit_mode::NfmCpl::DEF,
    non_flit_mode::NfmMsg::DEF,
    dllp::DllpAckNak::DEF,
    dllp::DllpFeature::DEF,
    dllp::DllpFc::DEF,
    dllp::DllpOptimizedUpdateFc::DEF,
    dllp::DllpFlitMarker::DEF,
    flit_mode::FmMem32::DEF,
    flit_mode::FmMem64::DEF,
    flit_mode::FmCfg::DEF,
    flit_mode::FmCpl::DEF,
    flit_mode::FmMsg::DEF,
    flit_mode::OhcA1::DEF,
    flit_mode::OhcA2::DEF,
    flit_mode::OhcA3::DEF,
    flit_mode::OhcA5::DEF,
    flit_mode::OhcC::DEF,
    flit_mode::Pth::DEF,
];

/// Bytes of a DW, the unit of every length in this module.
pub const DW_BYTES: usize = 4;

/// A 10-bit Length field as a number of DW: 0 stands for 1024 (`cxl-io` §1.1).
pub const fn length_dw(field: u16) -> usize {
    if field == 0 { 1024 } else { field as usize }
}

/// The 12-bit ByteCount field of a completion as bytes: 0 stands for 4096 (`cxl-io` §1.3).
pub const fn byte_count_bytes(field: u16) -> usize {
    if field == 0 { 4096 } else { field as usize }
}

/// The Length field of a payload, `None` where no field value says it: 0 and more than 1024 DW.
pub const fn length_field(dw: usize) -> Option<u16> {
    match dw {
        1..=1024 => Some((dw % 1024) as u16),
        _ => None,
    }
}

/// The ByteCount field of a completion, `None` where no field value says it: 0 and more than 4096 bytes.
pub const fn byte_count_field(bytes: usize) -> Option<u16> {
    match bytes {
        1..=4096 => Some((bytes % 4096) as u16),
        _ => None,
    }
}
