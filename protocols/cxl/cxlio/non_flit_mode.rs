//! TLP headers of the non-flit mode, as 68B links carry them (`cxl-io` section 1).
//!
//! Modelled: DW0, the four header shapes, their codes, and the length of a TLP from its first four bytes. Prefixes are
//! known by their first byte and carried as bytes.

use super::code::CplStatus;
use super::{DW_BYTES, length_dw};
use crate::layout;
use crate::wire::{At, LayoutDef, Violation, Wire};

layout! {
    /// Memory request with a 32-bit address, or I/O request, non-flit mode.
    pub struct NfmMem32: 96 bits = "cxlio.nfm_mem32" {
        source: "cxl-io §1.1 §1.3", basis: Spec, rule: "CXLIO-NFM-01", cross_check: mem32, order: Big;
        /// Processing hint.
        ph: u8 = [0 +: 2];
        /// Byte address of the first DW.
        address: u64 = [2 +: 30], address 2;
        /// Byte enables of the first DW.
        first_be: u8 = [32 +: 4];
        /// Byte enables of the last DW.
        last_be: u8 = [36 +: 4];
        /// Tag bits 7:0.
        tag: u8 = [40 +: 8];
        /// Bus, device and function of the requester.
        requester: u16 = [48 +: 16];
        /// Payload in DW; 0 stands for 1024.
        length: u16 = [64 +: 10];
        /// Address type: 0 untranslated, 1 translation request, 2 translated.
        at: u8 = [74 +: 2];
        /// Attributes: 1 relaxed ordering, 0 no snoop.
        attr: u8 = [76 +: 2];
        /// 1: the data is poisoned.
        ep: bool = [78 +: 1];
        /// 1: an ECRC follows.
        td: bool = [79 +: 1];
        /// A processing hint is present.
        th: bool = [80 +: 1];
        /// Reserved.
        rsvd: bool = [81 +: 1], reserved;
        /// Attribute 2: ordering by ID.
        attr_2: bool = [82 +: 1];
        /// Tag bit 8.
        tag_8: bool = [83 +: 1];
        /// Traffic class.
        tc: u8 = [84 +: 3];
        /// Tag bit 9.
        tag_9: bool = [87 +: 1];
        /// Kind of TLP, together with Fmt.
        tlp_type: u8 = [88 +: 5];
        /// Header of 4 DW (bit 0), data (bit 1), prefix (bit 2).
        fmt: u8 = [93 +: 3];
    }
}

layout! {
    /// Memory request with a 64-bit address, non-flit mode.
    pub struct NfmMem64: 128 bits = "cxlio.nfm_mem64" {
        source: "cxl-io §1.1 §1.3", basis: Spec, rule: "CXLIO-NFM-01", cross_check: mem64, order: Big;
        /// Processing hint.
        ph: u8 = [0 +: 2];
        /// Byte address of the first DW.
        address: u64 = [2 +: 62], address 2;
        /// Byte enables of the first DW.
        first_be: u8 = [64 +: 4];
        /// Byte enables of the last DW.
        last_be: u8 = [68 +: 4];
        /// Tag bits 7:0.
        tag: u8 = [72 +: 8];
        /// Bus, device and function of the requester.
        requester: u16 = [80 +: 16];
        /// Payload in DW; 0 stands for 1024.
        length: u16 = [96 +: 10];
        /// Address type: 0 untranslated, 1 translation request, 2 translated.
        at: u8 = [106 +: 2];
        /// Attributes: 1 relaxed ordering, 0 no snoop.
        attr: u8 = [108 +: 2];
        /// 1: the data is poisoned.
        ep: bool = [110 +: 1];
        /// 1: an ECRC follows.
        td: bool = [111 +: 1];
        /// A processing hint is present.
        th: bool = [112 +: 1];
        /// Reserved.
        rsvd: bool = [113 +: 1], reserved;
        /// Attribute 2: ordering by ID.
        attr_2: bool = [114 +: 1];
        /// Tag bit 8.
        tag_8: bool = [115 +: 1];
        /// Traffic class.
        tc: u8 = [116 +: 3];
        /// Tag bit 9.
        tag_9: bool = [119 +: 1];
        /// Kind of TLP, together with Fmt.
        tlp_type: u8 = [120 +: 5];
        /// Header of 4 DW (bit 0), data (bit 1), prefix (bit 2).
        fmt: u8 = [125 +: 3], default 1;
    }
}

layout! {
    /// Configuration request, non-flit mode.
    pub struct NfmCfg: 96 bits = "cxlio.nfm_cfg" {
        source: "cxl-io §1.1 §1.3", basis: Spec, rule: "CXLIO-NFM-03", cross_check: cfg, order: Big;
        /// Reserved.
        rsvd2: u8 = [0 +: 2], reserved;
        /// Register DW number bits 5:0.
        reg_dw: u8 = [2 +: 6];
        /// Register DW number bits 9:6.
        ext_reg: u8 = [8 +: 4];
        /// Reserved.
        rsvd1: u8 = [12 +: 4], reserved;
        /// Bus, device and function that is addressed.
        completer: u16 = [16 +: 16];
        /// Byte enables of the first DW.
        first_be: u8 = [32 +: 4];
        /// Byte enables of the last DW.
        last_be: u8 = [36 +: 4];
        /// Tag bits 7:0.
        tag: u8 = [40 +: 8];
        /// Bus, device and function of the requester.
        requester: u16 = [48 +: 16];
        /// Payload in DW; 0 stands for 1024.
        length: u16 = [64 +: 10];
        /// Address type: 0 untranslated, 1 translation request, 2 translated.
        at: u8 = [74 +: 2];
        /// Attributes: 1 relaxed ordering, 0 no snoop.
        attr: u8 = [76 +: 2];
        /// 1: the data is poisoned.
        ep: bool = [78 +: 1];
        /// 1: an ECRC follows.
        td: bool = [79 +: 1];
        /// A processing hint is present.
        th: bool = [80 +: 1];
        /// Reserved.
        rsvd: bool = [81 +: 1], reserved;
        /// Attribute 2: ordering by ID.
        attr_2: bool = [82 +: 1];
        /// Tag bit 8.
        tag_8: bool = [83 +: 1];
        /// Traffic class.
        tc: u8 = [84 +: 3];
        /// Tag bit 9.
        tag_9: bool = [87 +: 1];
        /// Kind of TLP, together with Fmt.
        tlp_type: u8 = [88 +: 5], default 4;
        /// Header of 4 DW (bit 0), data (bit 1), prefix (bit 2).
        fmt: u8 = [93 +: 3];
    }
}

layout! {
    /// Completion, non-flit mode.
    pub struct NfmCpl: 96 bits = "cxlio.nfm_cpl" {
        source: "cxl-io §1.1 §1.3", basis: Spec, rule: "CXLIO-NFM-03", cross_check: cpl, order: Big;
        /// Byte address bits 6:0 of the first byte that comes.
        lower_addr: u8 = [0 +: 7];
        /// Reserved.
        rsvd1: bool = [7 +: 1], reserved;
        /// Tag bits 7:0.
        tag: u8 = [8 +: 8];
        /// Bus, device and function of the requester.
        requester: u16 = [16 +: 16];
        /// Bytes still to come, this completion included; 0 stands for 4096.
        byte_count: u16 = [32 +: 12];
        /// Byte count was modified by a bridge.
        bcm: bool = [44 +: 1];
        /// How the request ended.
        status: CplStatus = [45 +: 3];
        /// Bus, device and function of the completer.
        completer: u16 = [48 +: 16];
        /// Payload in DW; 0 stands for 1024.
        length: u16 = [64 +: 10];
        /// Address type: 0 untranslated, 1 translation request, 2 translated.
        at: u8 = [74 +: 2];
        /// Attributes: 1 relaxed ordering, 0 no snoop.
        attr: u8 = [76 +: 2];
        /// 1: the data is poisoned.
        ep: bool = [78 +: 1];
        /// 1: an ECRC follows.
        td: bool = [79 +: 1];
        /// A processing hint is present.
        th: bool = [80 +: 1];
        /// Reserved.
        rsvd: bool = [81 +: 1], reserved;
        /// Attribute 2: ordering by ID.
        attr_2: bool = [82 +: 1];
        /// Tag bit 8.
        tag_8: bool = [83 +: 1];
        /// Traffic class.
        tc: u8 = [84 +: 3];
        /// Tag bit 9.
        tag_9: bool = [87 +: 1];
        /// Kind of TLP, together with Fmt.
        tlp_type: u8 = [88 +: 5], default 10;
        /// Header of 4 DW (bit 0), data (bit 1), prefix (bit 2).
        fmt: u8 = [93 +: 3];
    }
}

layout! {
    /// Message, non-flit mode.
    pub struct NfmMsg: 128 bits = "cxlio.nfm_msg" {
        source: "cxl-io §1.1 §1.3", basis: Spec, rule: "CXLIO-NFM-01", cross_check: msg, order: Big;
        /// Fourth DW; its meaning depends on the message code.
        dw3: u32 = [0 +: 32];
        /// Third DW; its meaning depends on the message code.
        dw2: u32 = [32 +: 32];
        /// Which message.
        message_code: u8 = [64 +: 8];
        /// Tag bits 7:0.
        tag: u8 = [72 +: 8];
        /// Bus, device and function of the requester.
        requester: u16 = [80 +: 16];
        /// Payload in DW; 0 stands for 1024.
        length: u16 = [96 +: 10];
        /// Address type: 0 untranslated, 1 translation request, 2 translated.
        at: u8 = [106 +: 2];
        /// Attributes: 1 relaxed ordering, 0 no snoop.
        attr: u8 = [108 +: 2];
        /// 1: the data is poisoned.
        ep: bool = [110 +: 1];
        /// 1: an ECRC follows.
        td: bool = [111 +: 1];
        /// A processing hint is present.
        th: bool = [112 +: 1];
        /// Reserved.
        rsvd: bool = [113 +: 1], reserved;
        /// Attribute 2: ordering by ID.
        attr_2: bool = [114 +: 1];
        /// Tag bit 8.
        tag_8: bool = [115 +: 1];
        /// Traffic class.
        tc: u8 = [116 +: 3];
        /// Tag bit 9.
        tag_9: bool = [119 +: 1];
        /// Kind of TLP, together with Fmt.
        tlp_type: u8 = [120 +: 5], default 16;
        /// Header of 4 DW (bit 0), data (bit 1), prefix (bit 2).
        fmt: u8 = [125 +: 3], default 1;
    }
}

/// What the first byte of a TLP says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TlpShape {
    /// Memory request or atomic with a 32-bit address.
    Mem32,
    /// Memory request or atomic with a 64-bit address.
    Mem64,
    /// I/O request; its header is that of [`TlpShape::Mem32`].
    Io,
    /// Configuration request.
    Cfg,
    /// Completion.
    Cpl,
    /// Message.
    Msg,
    /// Local or end-to-end prefix: one DW, the TLP follows.
    Prefix,
}

impl TlpShape {
    /// Shape of a Fmt and Type byte, `None` for an unlisted one (`cxl-io` §1.2).
    pub const fn of(byte0: u8) -> Option<TlpShape> {
        Some(match byte0 {
            0x00 | 0x01 | 0x40 | 0x4c..=0x4e | 0x5b => TlpShape::Mem32,
            0x20 | 0x21 | 0x60 | 0x6c..=0x6e | 0x7b => TlpShape::Mem64,
            0x02 | 0x42 => TlpShape::Io,
            0x04 | 0x05 | 0x44 | 0x45 => TlpShape::Cfg,
            0x0a | 0x0b | 0x4a | 0x4b => TlpShape::Cpl,
            0x30..=0x35 | 0x70..=0x75 => TlpShape::Msg,
            0x80..=0x9f => TlpShape::Prefix,
            _ => return None,
        })
    }

    /// Layout of the header; a prefix has none.
    pub const fn def(self) -> Option<&'static LayoutDef> {
        Some(match self {
            TlpShape::Mem32 | TlpShape::Io => NfmMem32::DEF,
            TlpShape::Mem64 => NfmMem64::DEF,
            TlpShape::Cfg => NfmCfg::DEF,
            TlpShape::Cpl => NfmCpl::DEF,
            TlpShape::Msg => NfmMsg::DEF,
            TlpShape::Prefix => return None,
        })
    }
}

/// Length of a TLP in bytes, header, data and ECRC, from its first DW; prefixes, sequence number and LCRC do not count.
/// `None` for a prefix and for an unlisted type.
pub const fn tlp_bytes(dw0: [u8; DW_BYTES]) -> Option<usize> {
    let header_dw = match TlpShape::of(dw0[0]) {
        None | Some(TlpShape::Prefix) => return None,
        // Fmt bit 0: four DW.
        Some(_) => 3 + (dw0[0] >> 5 & 1) as usize,
    };
    // Fmt bit 1: with data.
    let data_dw = if dw0[0] >> 6 & 1 == 1 { length_dw((dw0[2] as u16 & 3) << 8 | dw0[3] as u16) } else { 0 };
    let digest_dw = (dw0[2] >> 7) as usize;
    Some(DW_BYTES * (header_dw + data_dw + digest_dw))
}

/// Judges Fmt and Type of a header that is read as one of `shapes`.
fn shape(def: &LayoutDef, bits: u128, shapes: &[TlpShape], found: &mut Vec<Violation>) {
    let byte0 = (bits >> (def.bits - 8)) as u8;
    let (rule, text) = match TlpShape::of(byte0) {
        Some(shape) if shapes.contains(&shape) => return,
        Some(_) => ("CXLIO-NFM-03", "the TLP type has another header"),
        None => ("CXLIO-NFM-02", "Fmt and Type name no TLP"),
    };
    found.push(Violation {
        rule,
        at: At::Bits { lsb: def.bits - 8, width: 8 },
        found: format!("{byte0:#04x}"),
        expected: format!("a type of {shapes:?}"),
        text: format!("{}: {text}", def.name),
    });
}

fn mem32(bits: u128, found: &mut Vec<Violation>) {
    shape(NfmMem32::DEF, bits, &[TlpShape::Mem32, TlpShape::Io], found);
}

fn mem64(bits: u128, found: &mut Vec<Violation>) {
    shape(NfmMem64::DEF, bits, &[TlpShape::Mem64], found);
}

fn cfg(bits: u128, found: &mut Vec<Violation>) {
    shape(NfmCfg::DEF, bits, &[TlpShape::Cfg], found);
}

fn cpl(bits: u128, found: &mut Vec<Violation>) {
    shape(NfmCpl::DEF, bits, &[TlpShape::Cpl], found);
}

fn msg(bits: u128, found: &mut Vec<Violation>) {
    shape(NfmMsg::DEF, bits, &[TlpShape::Msg], found);
}
