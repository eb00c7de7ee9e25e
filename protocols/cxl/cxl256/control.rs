//! Control slots: H8, and HS8 where the table says so (`cxl-256b` §6). IDE content is opaque.

use super::code::LlCtrl;
use super::slot::SlotKind;
use crate::layout;
use crate::wire::{LayoutDef, Wire};

layout! {
    /// IDE slot.
    pub struct Ide: 112 bits = "cxl256.ide" {
        source: "cxl-256b §6 [A]", basis: Spec, rule: "CXL256-CTL-01";
        /// Slot format, 8.
        slot_fmt: u8 = [0 +: 4], default 8;
        /// Control class.
        llctrl: LlCtrl = [4 +: 4], default 2;
        /// Kind within the class: 0 Idle, 1 Start, 2 TMAC, 3 MAC, 4 Stop.
        sub_type: u8 = [8 +: 4];
        /// Reserved.
        rsvd: u8 = [12 +: 4], reserved;
        /// MAC of TMAC and MAC, else 0.
        mac: u128 = [16 +: 96];
    }
}

layout! {
    /// Viral slot.
    pub struct Viral: 112 bits = "cxl256.viral" {
        source: "cxl-256b §6 [A]", basis: Spec, rule: "CXL256-CTL-01";
        /// Slot format, 8.
        slot_fmt: u8 = [0 +: 4], default 8;
        /// Control class.
        llctrl: LlCtrl = [4 +: 4], default 3;
        /// Kind within the class, 0 Viral.
        sub_type: u8 = [8 +: 4];
        /// Reserved.
        rsvd: u8 = [12 +: 4], reserved;
        /// Logical devices in viral, one bit each.
        ld_ids: u16 = [16 +: 16];
        /// Reserved.
        rsvd1: u128 = [32 +: 80], reserved;
    }
}

layout! {
    /// Poison slot.
    pub struct Poison: 112 bits = "cxl256.poison" {
        source: "cxl-256b §6 [A]", basis: Spec, rule: "CXL256-CTL-01";
        /// Slot format, 8.
        slot_fmt: u8 = [0 +: 4], default 8;
        /// Control class.
        llctrl: LlCtrl = [4 +: 4], default 3;
        /// Kind within the class, 1 Poison.
        sub_type: u8 = [8 +: 4], default 1;
        /// Reserved.
        rsvd: u8 = [12 +: 4], reserved;
        /// Data message that is affected: 0 the one whose data is coming, then those behind it; 0 to 7.
        message: u8 = [16 +: 4];
        /// Reserved.
        rsvd1: u128 = [20 +: 92], reserved;
    }
}

layout! {
    /// INIT.Param slot.
    pub struct InitParam: 112 bits = "cxl256.init_param" {
        source: "cxl-256b §6 [A]", basis: Spec, rule: "CXL256-CTL-01";
        /// Slot format, 8.
        slot_fmt: u8 = [0 +: 4], default 8;
        /// Control class.
        llctrl: LlCtrl = [4 +: 4], default 12;
        /// Kind within the class, 8 Param.
        sub_type: u8 = [8 +: 4], default 8;
        /// Reserved.
        rsvd: u8 = [12 +: 4], reserved;
        /// Capable of direct peer-to-peer CXL.mem.
        direct_p2p: bool = [16 +: 1];
        /// Reserved.
        rsvd1: u128 = [17 +: 95], reserved;
    }
}

/// One row of the control table.
#[derive(Debug)]
pub struct ControlKind {
    /// Name.
    pub name: &'static str,
    /// Layout of the slot.
    pub def: &'static LayoutDef,
    /// Control class.
    pub llctrl: LlCtrl,
    /// Kind within the class.
    pub sub_type: u8,
    /// Whether it may stand in an HS slot.
    pub in_hs: bool,
    /// Whether the other slots of the flit may carry messages.
    pub shares_flit: bool,
    /// Whether it has a payload; else the fields behind `sub_type` are 0.
    pub has_payload: bool,
}

macro_rules! kind {
    ($name:literal $def:ident $class:ident $sub:literal $in_hs:literal $shares:literal $payload:literal) => {
        ControlKind {
            name: $name,
            def: $def::DEF,
            llctrl: LlCtrl::$class,
            sub_type: $sub,
            in_hs: $in_hs,
            shares_flit: $shares,
            has_payload: $payload,
        }
    };
}

/// All kinds, in order of the sheet.
pub static KINDS: [ControlKind; 8] = [
    kind!("IDE.Idle" Ide IDE 0 false false false),
    kind!("IDE.Start" Ide IDE 1 false false false),
    kind!("IDE.TMAC" Ide IDE 2 false false true),
    kind!("IDE.MAC" Ide IDE 3 false true true),
    kind!("IDE.Stop" Ide IDE 4 false false false),
    kind!("Viral" Viral Error 0 true false true),
    kind!("Poison" Poison Error 1 true false true),
    kind!("INIT.Param" InitParam INIT 8 false false true),
];

impl ControlKind {
    /// The slot with every field at its default.
    pub fn default_slot(&self) -> u128 {
        self.def.default_bits() & !0xf00 | u128::from(self.sub_type) << 8
    }

    /// Whether it may stand in a slot of this kind.
    pub const fn may_stand_in(&self, kind: SlotKind) -> bool {
        match kind {
            SlotKind::H => true,
            SlotKind::Hs => self.in_hs,
            SlotKind::G => false,
        }
    }
}

/// The kind of a control slot, `None` for an unlisted pair of codes: dropped.
pub fn kind(slot: u128) -> Option<&'static ControlKind> {
    let (llctrl, sub_type) = ((slot >> 4 & 0xf) as u8, (slot >> 8 & 0xf) as u8);
    KINDS.iter().find(|k| (k.llctrl.0, k.sub_type) == (llctrl, sub_type))
}

/// The kind of a name.
pub fn by_name(name: &str) -> Option<&'static ControlKind> {
    KINDS.iter().find(|k| k.name == name)
}
