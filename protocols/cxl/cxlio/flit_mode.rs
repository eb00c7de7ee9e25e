//! TLP headers of the flit mode, as 256B links carry them: header bases, header extensions (OHC), the PBR header
//! (`cxl-io` section 3).
//!
//! Modelled: what a type code stands for, every base, OHC-A1, A2, A3, A5 and C. OHC-A4, B and E have no settled inner
//! fields and are carried as bytes. How the parts follow each other is in [`super::tlp`].

use super::code::{CplStatus, FmType};
use crate::layout;
use crate::wire::{At, LayoutDef, Violation, Wire};

layout! {
    /// Memory request with a 32-bit address, or I/O request, flit mode.
    pub struct FmMem32: 96 bits = "cxlio.fm_mem32" {
        source: "cxl-io §3.2 §3.5", basis: Spec, rule: "CXLIO-FMT-06", cross_check: mem32, order: Big;
        /// Address type: 0 untranslated, 1 translation request, 2 translated.
        at: u8 = [0 +: 2];
        /// Byte address of the first DW.
        address: u64 = [2 +: 30], address 2;
        /// Names the transaction; the completion carries it back.
        tag: u16 = [32 +: 14];
        /// Reserved.
        rsvd: bool = [46 +: 1], reserved;
        /// 1: the data is poisoned.
        ep: bool = [47 +: 1];
        /// Bus, device and function of the requester.
        requester: u16 = [48 +: 16];
        /// Payload in DW; 0 stands for 1024.
        length: u16 = [64 +: 10];
        /// Attributes: 2 ordering by ID, 1 relaxed ordering, 0 no snoop.
        attr: u8 = [74 +: 3];
        /// Size code of the trailer.
        ts: u8 = [77 +: 3];
        /// Which OHC follow: bit 0 A, 1 B, 2 C, 4:3 E.
        ohc: u8 = [80 +: 5];
        /// Traffic class.
        tc: u8 = [85 +: 3];
        /// Kind of TLP.
        tlp_type: FmType = [88 +: 8], default 3;
    }
}

layout! {
    /// Memory request with a 64-bit address, flit mode.
    pub struct FmMem64: 128 bits = "cxlio.fm_mem64" {
        source: "cxl-io §3.2 §3.5", basis: Spec, rule: "CXLIO-FMT-06", cross_check: mem64, order: Big;
        /// Address type: 0 untranslated, 1 translation request, 2 translated.
        at: u8 = [0 +: 2];
        /// Byte address of the first DW.
        address: u64 = [2 +: 62], address 2;
        /// Names the transaction; the completion carries it back.
        tag: u16 = [64 +: 14];
        /// Reserved.
        rsvd: bool = [78 +: 1], reserved;
        /// 1: the data is poisoned.
        ep: bool = [79 +: 1];
        /// Bus, device and function of the requester.
        requester: u16 = [80 +: 16];
        /// Payload in DW; 0 stands for 1024.
        length: u16 = [96 +: 10];
        /// Attributes: 2 ordering by ID, 1 relaxed ordering, 0 no snoop.
        attr: u8 = [106 +: 3];
        /// Size code of the trailer.
        ts: u8 = [109 +: 3];
        /// Which OHC follow: bit 0 A, 1 B, 2 C, 4:3 E.
        ohc: u8 = [112 +: 5];
        /// Traffic class.
        tc: u8 = [117 +: 3];
        /// Kind of TLP.
        tlp_type: FmType = [120 +: 8], default 32;
    }
}

layout! {
    /// Configuration request, flit mode.
    pub struct FmCfg: 96 bits = "cxlio.fm_cfg" {
        source: "cxl-io §3.2 §3.5", basis: Spec, rule: "CXLIO-FMT-06", cross_check: cfg, order: Big;
        /// Reserved.
        rsvd2: u8 = [0 +: 2], reserved;
        /// Register DW number.
        reg_dw: u16 = [2 +: 10];
        /// Reserved.
        rsvd1: u8 = [12 +: 4], reserved;
        /// Bus, device and function that is addressed.
        completer: u16 = [16 +: 16];
        /// Names the transaction; the completion carries it back.
        tag: u16 = [32 +: 14];
        /// Reserved.
        rsvd: bool = [46 +: 1], reserved;
        /// 1: the data is poisoned.
        ep: bool = [47 +: 1];
        /// Bus, device and function of the requester.
        requester: u16 = [48 +: 16];
        /// Payload in DW; 0 stands for 1024.
        length: u16 = [64 +: 10];
        /// Attributes: 2 ordering by ID, 1 relaxed ordering, 0 no snoop.
        attr: u8 = [74 +: 3];
        /// Size code of the trailer.
        ts: u8 = [77 +: 3];
        /// Which OHC follow: bit 0 A, 1 B, 2 C, 4:3 E.
        ohc: u8 = [80 +: 5];
        /// Traffic class.
        tc: u8 = [85 +: 3];
        /// Kind of TLP.
        tlp_type: FmType = [88 +: 8], default 4;
    }
}

layout! {
    /// Completion, flit mode.
    pub struct FmCpl: 96 bits = "cxlio.fm_cpl" {
        source: "cxl-io §3.2 §3.5", basis: Spec, rule: "CXLIO-FMT-06", cross_check: cpl, order: Big;
        /// Bytes still to come, this completion included; 0 stands for 4096.
        byte_count: u16 = [0 +: 12];
        /// Byte address bits 5:2 of the first byte that comes.
        lower_addr: u8 = [12 +: 4];
        /// Bus, device and function that the completion goes to.
        requester: u16 = [16 +: 16];
        /// Names the transaction; the completion carries it back.
        tag: u16 = [32 +: 14];
        /// Byte address bit 6 of the first byte that comes.
        lower_addr_6: bool = [46 +: 1];
        /// 1: the data is poisoned.
        ep: bool = [47 +: 1];
        /// Bus, device and function of the completer.
        completer: u16 = [48 +: 16];
        /// Payload in DW; 0 stands for 1024.
        length: u16 = [64 +: 10];
        /// Attributes: 2 ordering by ID, 1 relaxed ordering, 0 no snoop.
        attr: u8 = [74 +: 3];
        /// Size code of the trailer.
        ts: u8 = [77 +: 3];
        /// Which OHC follow: bit 0 A, 1 B, 2 C, 4:3 E.
        ohc: u8 = [80 +: 5];
        /// Traffic class.
        tc: u8 = [85 +: 3];
        /// Kind of TLP.
        tlp_type: FmType = [88 +: 8], default 10;
    }
}

layout! {
    /// Message, flit mode.
    pub struct FmMsg: 128 bits = "cxlio.fm_msg" {
        source: "cxl-io §3.2 §3.5", basis: Inferred, rule: "CXLIO-FMT-06", cross_check: msg, order: Big;
        /// Fourth DW; its meaning depends on the message code.
        dw3: u32 = [0 +: 32];
        /// Third DW; its meaning depends on the message code.
        dw2: u32 = [32 +: 32];
        /// Which message.
        message_code: u8 = [64 +: 8];
        /// Reserved.
        rsvd: u8 = [72 +: 7], reserved;
        /// 1: the data is poisoned.
        ep: bool = [79 +: 1];
        /// Bus, device and function of the requester.
        requester: u16 = [80 +: 16];
        /// Payload in DW; 0 stands for 1024.
        length: u16 = [96 +: 10];
        /// Attributes: 2 ordering by ID, 1 relaxed ordering, 0 no snoop.
        attr: u8 = [106 +: 3];
        /// Size code of the trailer.
        ts: u8 = [109 +: 3];
        /// Which OHC follow: bit 0 A, 1 B, 2 C, 4:3 E.
        ohc: u8 = [112 +: 5];
        /// Traffic class.
        tc: u8 = [117 +: 3];
        /// Kind of TLP.
        tlp_type: FmType = [120 +: 8], default 48;
    }
}

layout! {
    /// OHC-A of memory requests, atomics and messages: PASID and byte enables.
    pub struct OhcA1: 32 bits = "cxlio.ohc_a1" {
        source: "cxl-io §3.5", basis: Spec, rule: "CXLIO-FMT-07", cross_check: pasid, order: Big;
        /// Byte enables of the first DW.
        first_be: u8 = [0 +: 4];
        /// Byte enables of the last DW.
        last_be: u8 = [4 +: 4];
        /// Process address space.
        pasid: u32 = [8 +: 20];
        /// Execute requested.
        er: bool = [28 +: 1];
        /// Privileged mode requested.
        pmr: bool = [29 +: 1];
        /// The PASID is valid.
        pv: bool = [30 +: 1];
        /// No write: translation requests only.
        nw: bool = [31 +: 1];
    }
}

layout! {
    /// OHC-A of I/O requests: byte enables.
    pub struct OhcA2: 32 bits = "cxlio.ohc_a2" {
        source: "cxl-io §3.5", basis: Spec, rule: "CXLIO-FMT-07", order: Big;
        /// Byte enables of the first DW.
        first_be: u8 = [0 +: 4];
        /// Byte enables of the last DW; 0, as an I/O request has one DW.
        last_be: u8 = [4 +: 4];
        /// Reserved.
        rsvd: u32 = [8 +: 24], reserved;
    }
}

layout! {
    /// OHC-A of configuration requests: segment and byte enables.
    pub struct OhcA3: 32 bits = "cxlio.ohc_a3" {
        source: "cxl-io §3.5", basis: Spec, rule: "CXLIO-FMT-07", order: Big;
        /// Byte enables of the first DW.
        first_be: u8 = [0 +: 4];
        /// Byte enables of the last DW; 0, as a configuration request has one DW.
        last_be: u8 = [4 +: 4];
        /// Reserved.
        rsvd1: u8 = [8 +: 7], reserved;
        /// The destination segment is valid.
        dsv: bool = [15 +: 1];
        /// Reserved.
        rsvd: u8 = [16 +: 8], reserved;
        /// Segment that is addressed.
        dest_segment: u8 = [24 +: 8];
    }
}

layout! {
    /// OHC-A of completions: segments, low address bits, status.
    pub struct OhcA5: 32 bits = "cxlio.ohc_a5" {
        source: "cxl-io §3.5", basis: Spec, rule: "CXLIO-FMT-07", order: Big;
        /// How the request ended.
        status: CplStatus = [0 +: 3];
        /// Byte address bits 1:0 of the first byte that comes.
        lower_addr: u8 = [3 +: 2];
        /// Reserved.
        rsvd: u16 = [5 +: 10], reserved;
        /// The destination segment is valid.
        dsv: bool = [15 +: 1];
        /// Segment of the completer.
        completer_segment: u8 = [16 +: 8];
        /// Segment of the requester.
        dest_segment: u8 = [24 +: 8];
    }
}

layout! {
    /// OHC-C: requester segment and IDE.
    pub struct OhcC: 32 bits = "cxlio.ohc_c" {
        source: "cxl-io §3.5", basis: Inferred, rule: "CXLIO-FMT-07", order: Big;
        /// The TLP comes from a trusted environment.
        t: bool = [0 +: 1];
        /// IDE key set.
        k: bool = [1 +: 1];
        /// Reserved.
        rsvd: u8 = [2 +: 2], reserved;
        /// IDE sub-stream.
        sub_stream: u8 = [4 +: 4];
        /// IDE stream.
        stream_id: u8 = [8 +: 8];
        /// Posted requests sent, counted for IDE.
        pr_sent: u8 = [16 +: 8];
        /// Segment of the requester.
        requester_segment: u8 = [24 +: 8];
    }
}

layout! {
    /// PBR header: one DW before the header base of every TLP but NOP on a PBR link.
    pub struct Pth: 32 bits = "cxlio.pth" {
        source: "cxl-io §3.8", basis: Spec, rule: "CXLIO-PTH-01", cross_check: pth, order: Big;
        /// Destination port.
        dpid: u16 = [0 +: 12];
        /// Source port.
        spid: u16 = [12 +: 12];
        /// PIF flag.
        pif: bool = [24 +: 1];
        /// DSAR flag.
        dsar: bool = [25 +: 1];
        /// Hie flag.
        hie: bool = [26 +: 1];
        /// Reserved.
        rsvd: u8 = [27 +: 3], reserved;
        /// 3: this is a PBR header.
        marker: u8 = [30 +: 2], default 3;
    }
}

/// Header base that a type code stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Base {
    /// Filler of one DW.
    Nop,
    /// Local prefix of one DW; the TLP follows.
    Prefix,
    /// Memory request or atomic with a 32-bit address.
    Mem32,
    /// Memory request or atomic with a 64-bit address.
    Mem64,
    /// I/O request; its base is that of [`Base::Mem32`].
    Io,
    /// Configuration request.
    Cfg,
    /// Completion.
    Cpl,
    /// Message.
    Msg,
}

impl Base {
    /// Base of a type code (`cxl-io` §3.3). `None` where nothing is known, not even a size.
    ///
    /// The reserved codes 36h, 37h, 76h and 77h are sized as messages (§9), 80h to 8Ch as prefixes (§3.6).
    pub const fn of(code: FmType) -> Option<Base> {
        Some(match code.0 {
            0x00 => Base::Nop,
            0x01 | 0x03 | 0x40 | 0x4c..=0x4e | 0x5b => Base::Mem32,
            0x20..=0x22 | 0x60 | 0x61 | 0x6c..=0x6e | 0x7b => Base::Mem64,
            0x02 | 0x42 => Base::Io,
            0x04 | 0x05 | 0x44 | 0x45 => Base::Cfg,
            0x0a..=0x0d | 0x48 | 0x4a | 0x4b => Base::Cpl,
            0x30..=0x37 | 0x70..=0x77 => Base::Msg,
            0x80..=0x8f => Base::Prefix,
            _ => return None,
        })
    }

    /// Length in DW.
    pub const fn dw(self) -> usize {
        match self {
            Base::Nop | Base::Prefix => 1,
            Base::Mem32 | Base::Io | Base::Cfg | Base::Cpl => 3,
            Base::Mem64 | Base::Msg => 4,
        }
    }

    /// Layout; NOP and prefixes have none.
    pub const fn def(self) -> Option<&'static LayoutDef> {
        Some(match self {
            Base::Mem32 | Base::Io => FmMem32::DEF,
            Base::Mem64 => FmMem64::DEF,
            Base::Cfg => FmCfg::DEF,
            Base::Cpl => FmCpl::DEF,
            Base::Msg => FmMsg::DEF,
            Base::Nop | Base::Prefix => return None,
        })
    }

    /// Layout of its OHC-A, `None` where it has no settled one: A4 of a message by ID, and bases without OHC.
    pub const fn ohc_a(self, code: FmType) -> Option<&'static LayoutDef> {
        match (self, code) {
            (Base::Msg, FmType::MsgById | FmType::MsgDById) => None,
            (Base::Mem32 | Base::Mem64 | Base::Msg, _) => Some(OhcA1::DEF),
            (Base::Io, _) => Some(OhcA2::DEF),
            (Base::Cfg, _) => Some(OhcA3::DEF),
            (Base::Cpl, _) => Some(OhcA5::DEF),
            (Base::Nop | Base::Prefix, _) => None,
        }
    }
}

/// Whether Length DW of data follow (`cxl-io` §3.3): bit 6 of the code, in prefixes not.
pub const fn has_data(code: FmType) -> bool {
    code.0 >> 6 == 1
}

/// DW of each kind of OHC that the presence bits announce: A, B, C, E (`cxl-io` §3.4).
pub const fn ohc_dw(presence: u8) -> [usize; 4] {
    let e = match presence >> 3 & 3 {
        0 => 0,
        1 => 1,
        2 => 2,
        _ => 4,
    };
    [(presence & 1) as usize, (presence >> 1 & 1) as usize, (presence >> 2 & 1) as usize, e]
}

/// DW of the trailer by its size code (`cxl-io` §3.6).
pub const TRAILER_DW: [usize; 8] = [0, 1, 1, 2, 2, 3, 4, 5];

/// Judges the type of a header that is read as one of `bases`; unlisted types are named by their code table.
fn base(def: &LayoutDef, bits: u128, bases: &[Base], found: &mut Vec<Violation>) {
    let code = FmType((bits >> (def.bits - 8)) as u8);
    if code.name().is_none() || Base::of(code).is_some_and(|b| bases.contains(&b)) {
        return;
    }
    found.push(Violation {
        rule: "CXLIO-FMT-04",
        at: At::Bits { lsb: def.bits - 8, width: 8 },
        found: format!("{code:?}"),
        expected: format!("a type of {bases:?}"),
        text: format!("{}: the TLP type has another header base", def.name),
    });
}

fn mem32(bits: u128, found: &mut Vec<Violation>) {
    base(FmMem32::DEF, bits, &[Base::Mem32, Base::Io], found);
}

fn mem64(bits: u128, found: &mut Vec<Violation>) {
    base(FmMem64::DEF, bits, &[Base::Mem64], found);
}

fn cfg(bits: u128, found: &mut Vec<Violation>) {
    base(FmCfg::DEF, bits, &[Base::Cfg], found);
}

fn cpl(bits: u128, found: &mut Vec<Violation>) {
    base(FmCpl::DEF, bits, &[Base::Cpl], found);
}

fn msg(bits: u128, found: &mut Vec<Violation>) {
    base(FmMsg::DEF, bits, &[Base::Msg], found);
}

/// FMT-10: without a valid PASID nothing of it may be set.
fn pasid(bits: u128, found: &mut Vec<Violation>) {
    let ohc = OhcA1::from_bits(bits);
    if !ohc.pv && (ohc.pasid != 0 || ohc.er || ohc.pmr) {
        found.push(Violation {
            rule: "CXLIO-FMT-10",
            at: At::Bits { lsb: 8, width: 22 },
            found: format!("PASID {:#x}, ER {}, PMR {}", ohc.pasid, u8::from(ohc.er), u8::from(ohc.pmr)),
            expected: "0".into(),
            text: "cxlio.ohc_a1: PASID, ER or PMR is set although PV is 0".into(),
        });
    }
}

/// PTH-03: the two highest bits of the first byte tell a PBR header from other first bytes on a PBR link.
fn pth(bits: u128, found: &mut Vec<Violation>) {
    let class = PbrFirstByte::of((bits >> 24) as u8);
    if class != PbrFirstByte::Pth {
        found.push(Violation {
            rule: "CXLIO-PTH-03",
            at: At::Bits { lsb: 30, width: 2 },
            found: format!("{class:?}"),
            expected: "3".into(),
            text: "cxlio.pth: the first byte is not that of a PBR TLP header".into(),
        });
    }
}

/// What a first byte stands for on a PBR link (`cxl-io` §3.8).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PbrFirstByte {
    /// A NOP.
    Nop,
    /// A type that is no NOP: its TLP has no PBR header.
    Bare,
    /// Reserved: dropped.
    Reserved,
    /// A local prefix.
    Prefix,
    /// A PBR header.
    Pth,
}

impl PbrFirstByte {
    /// The class of a byte.
    pub const fn of(byte: u8) -> PbrFirstByte {
        match byte {
            0 => PbrFirstByte::Nop,
            0x01..=0x3f => PbrFirstByte::Bare,
            0x40..=0x7f => PbrFirstByte::Reserved,
            0x80..=0xbf => PbrFirstByte::Prefix,
            0xc0..=0xff => PbrFirstByte::Pth,
        }
    }
}
