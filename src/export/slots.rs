//! Slot formats of all families in one form.

use super::names::short;
use scalepool_protocols::cxl::cxl256::Routing;
use scalepool_protocols::cxl::{cxl68, cxl256};

/// One slot format.
pub struct ExportSlotFormat {
    /// Direction where the format number space is one a direction, else empty.
    pub dir: &'static str,
    /// Name, e.g. `H5`.
    pub name: &'static str,
    /// Code in its format field.
    pub code: u8,
    /// Messages and other content, in order.
    pub places: Vec<SlotPiece>,
}

/// One piece of a slot.
pub struct SlotPiece {
    /// Layout without family, or what else stands there.
    pub name: &'static str,
    /// First bit in the slot.
    pub lsb: u32,
    /// Bits.
    pub width: u32,
}

/// All formats of a family.
pub fn of_family(family: &str) -> Vec<ExportSlotFormat> {
    match family {
        "cxl68" => cxl68::slot::all_formats().map(format68).collect(),
        "cxl256" => cxl256::slot::all_formats().filter(|f| f.routing == Routing::Hbr).map(format256).collect(),
        "cxlpbr" => cxl256::slot::all_formats().filter(|f| f.routing == Routing::Pbr).map(format256).collect(),
        _ => Vec::new(),
    }
}

fn format68(f: &'static cxl68::slot::SlotFormat) -> ExportSlotFormat {
    use cxl68::slot::SlotContent;
    let places = match f.content {
        SlotContent::Messages(places) => places.iter().flat_map(place68).collect(),
        SlotContent::Data => vec![SlotPiece { name: "data", lsb: 0, width: 128 }],
        SlotContent::Mac => vec![SlotPiece { name: "mac", lsb: 32, width: 96 }],
    };
    ExportSlotFormat { dir: f.dir.name(), name: f.name, code: f.code, places }
}

fn place68(p: &cxl68::slot::Cxl68SlotPlace) -> impl Iterator<Item = SlotPiece> {
    let message = SlotPiece { name: short(p.class.def().name), lsb: p.lsb.into(), width: p.width.into() };
    let tail = p.devload_lsb.map(|lsb| SlotPiece { name: "s2m_ndr_dev_load", lsb: lsb.into(), width: 2 });
    std::iter::once(message).chain(tail)
}

fn format256(f: &'static cxl256::slot::SlotFormat) -> ExportSlotFormat {
    let place = |p: cxl256::slot::Cxl256SlotPlace| SlotPiece {
        name: short(p.class.def(f.routing).name),
        lsb: p.lsb,
        width: p.kept,
    };
    let mut places: Vec<SlotPiece> = f.places().map(place).collect();
    if f.is_control() {
        places.push(SlotPiece { name: "control", lsb: 4, width: 8 * f.kind.bytes() as u32 - 4 });
    }
    ExportSlotFormat { dir: "", name: f.name, code: f.code, places }
}
