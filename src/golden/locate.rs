//! Where two vectors differ, in words of the layout.

use super::text::bytes_hex;
use scalepool_protocols::cxl::cxl68::Dir;
use scalepool_protocols::cxl::cxl68::config::Revision;
use scalepool_protocols::cxl::cxl68::control::Almp;
use scalepool_protocols::cxl::cxl68::header::FlitHeader;
use scalepool_protocols::cxl::cxl68::pid::Enabled;
use scalepool_protocols::cxl::cxl68::stream::{Cxl68DecodedUnit, Cxl68SlotRole, Cxl68UnitKind, Unpacker};
use scalepool_protocols::cxl::cxl68::unit::{Cxl68Unit, map};
use scalepool_protocols::cxl::cxl256::Mode;
use scalepool_protocols::cxl::cxl256::flit::{
    Cxl256Flit, FLIT_BYTES, SLOTS, crc_parts, fec_bytes, slot_byte, standard,
};
use scalepool_protocols::nvlink::{FLIT_BYTES as NVL_FLIT_BYTES, NvlHeader};
use scalepool_protocols::ualink::flit::{SECTORS, map as dl, sector_byte};
use scalepool_protocols::wire::{FieldDef, LayoutDef, Wire};

/// A difference: where, what was found, what was expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GoldenDifference {
    /// Place, from the outside in.
    pub at: String,
    /// What the file holds.
    pub found: String,
    /// What it should hold.
    pub expected: String,
}

impl GoldenDifference {
    pub(super) fn new(
        at: impl Into<String>,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> GoldenDifference {
        GoldenDifference { at: at.into(), found: found.into(), expected: expected.into() }
    }

    /// With an outer place before its own.
    pub(super) fn within(self, outer: &str) -> GoldenDifference {
        let at = if self.at.is_empty() { outer.to_owned() } else { format!("{outer}, {}", self.at) };
        GoldenDifference { at, ..self }
    }
}

/// The value of a field, with the name of its code.
fn shown(field: &FieldDef, bits: u128) -> String {
    let raw = field.extract(bits);
    match field.codes.map(|table| table.name_of(raw)) {
        None => format!("{:#x}", field.value(bits)),
        Some(name) => format!("{} ({raw:#x})", name.unwrap_or("reserved")),
    }
}

/// The first field in which two messages differ.
pub(super) fn in_message(def: &LayoutDef, found: u128, expected: u128) -> GoldenDifference {
    match def.fields.iter().find(|f| f.extract(found) != f.extract(expected)) {
        Some(f) => GoldenDifference::new(format!("field `{}`", f.name), shown(f, found), shown(f, expected)),
        None => GoldenDifference::new("bits above the message", format!("{found:#x}"), format!("{expected:#x}")),
    }
}

/// The first place in which a unit differs from the last one of the stream that should stand there.
pub fn in_stream<'a>(
    dir: Dir,
    stream: impl Iterator<Item = &'a Cxl68Unit>,
    found: &Cxl68Unit,
) -> Option<GoldenDifference> {
    let mut reader = Unpacker::new(dir, Revision::V2_0, Enabled::ALL);
    let expected = stream.map(|unit| reader.read(unit)).last()?;
    in_unit(&expected, found)
}

fn in_unit(decoded: &Cxl68DecodedUnit, found: &Cxl68Unit) -> Option<GoldenDifference> {
    let byte = (0..map::LEN).find(|&n| found.0[n] != decoded.unit.0[n])?;
    let whole = |range: std::ops::Range<usize>, what: &str| {
        let (f, e) = (&found.0[range.clone()], &decoded.unit.0[range]);
        Some(GoldenDifference::new(format!("byte {byte}, {what}"), bytes_hex(f), bytes_hex(e)))
    };
    if map::PID.contains(&byte) {
        return whole(map::PID, "protocol ID");
    }
    if map::TAIL.contains(&byte) {
        return whole(map::TAIL, if decoded.crc_ok.is_some() { "CRC" } else { "tail" });
    }
    let n = (byte - map::SLOT0.start) / 16;
    let (slot, wanted) = (found.slot(n), decoded.unit.slot(n));
    let bit = (slot ^ wanted).trailing_zeros();
    let field = |def: &LayoutDef, f, e| in_message(def, f, e).within(&format!("byte {byte}, slot {n}, {}", def.name));
    match &decoded.kind {
        Cxl68UnitKind::Control(control) if n == 0 => {
            if let Some(def) = control.def() {
                return Some(field(def, slot, wanted));
            }
        }
        Cxl68UnitKind::Almp if byte < map::SLOT0.end => {
            let word = |slot: u128| slot >> (bit / 32 * 32) & 0xffff_ffff;
            return Some(field(Almp::DEF, word(slot), word(wanted)));
        }
        Cxl68UnitKind::Protocol(_) if n == 0 && bit < 32 => {
            return Some(field(FlitHeader::DEF, slot & 0xffff_ffff, wanted & 0xffff_ffff));
        }
        _ => (),
    }
    if let Cxl68SlotRole::Format(format) = decoded.roles[n]
        && let Some(place) = format.places().iter().find(|p| p.bits() >> bit & 1 == 1)
    {
        return Some(field(place.class.def(), place.extract(slot), place.extract(wanted)));
    }
    let what = match decoded.roles[n] {
        Cxl68SlotRole::Data => "data",
        Cxl68SlotRole::ByteEnables => "byte enables",
        _ => "bits without a field",
    };
    whole(Cxl68Unit::slot_byte(n)..Cxl68Unit::slot_byte(n) + 16, &format!("slot {n}, {what}"))
}

/// The first byte in which a flit of 256 bytes differs, with the part of the flit map it stands in. A body is named by its
/// slot whatever the flit carries.
pub(super) fn in_flit(mode: Mode, found: &Cxl256Flit, expected: &Cxl256Flit) -> Option<GoldenDifference> {
    let byte = (0..FLIT_BYTES).find(|&n| found.0[n] != expected.0[n])?;
    let slot = (0..SLOTS).find(|&n| (0..mode.slot_kind(n).bytes()).any(|k| slot_byte(mode, n, k) == byte));
    let part = match slot {
        Some(n) => format!("slot {n}"),
        None if standard::HEADER.contains(&byte) => "flit header".to_owned(),
        None if crc_parts(mode).iter().any(|p| p.bytes.contains(&byte)) => "CRC".to_owned(),
        None if fec_bytes(mode).contains(&byte) => "FEC".to_owned(),
        None => "credits".to_owned(),
    };
    let shown = |flit: &Cxl256Flit| format!("{:02x}", flit.0[byte]);
    Some(GoldenDifference::new(format!("byte {byte}, {part}"), shown(found), shown(expected)))
}

/// The first byte in which a UALink flit differs, with what stands there.
pub(super) fn in_dl_flit(found: &[u8], expected: &[u8]) -> Option<GoldenDifference> {
    let byte = found.iter().zip(expected).position(|(f, e)| f != e)?;
    let sector = (0..SECTORS).find(|&n| (0..4).any(|k| sector_byte(n, k) == byte));
    let part = match sector {
        Some(n) => format!("sector {n}"),
        None if dl::FH.contains(&byte) => "flit header".to_owned(),
        None if dl::CRC.contains(&byte) => "CRC".to_owned(),
        None => format!("segment header {}", byte / 128),
    };
    let shown = |flit: &[u8]| format!("{:02x}", flit[byte]);
    Some(GoldenDifference::new(format!("byte {byte}, {part}"), shown(found), shown(expected)))
}

/// The first place in which an NVLink packet differs: a field of the header, or a byte of a flit behind it.
pub(super) fn in_packet(found: &[u8], expected: &[u8]) -> Option<GoldenDifference> {
    let byte = found.iter().zip(expected).position(|(f, e)| f != e)?;
    if byte < NVL_FLIT_BYTES {
        let header = |bytes: &[u8]| bytes.first_chunk().map(|flit| u128::from_le_bytes(*flit));
        let field = in_message(NvlHeader::DEF, header(found)?, header(expected)?);
        return Some(field.within(&format!("byte {byte}, header")));
    }
    let shown = |packet: &[u8]| format!("{:02x}", packet[byte]);
    let at = format!("byte {byte}, flit {} of the packet", byte / NVL_FLIT_BYTES);
    Some(GoldenDifference::new(at, shown(found), shown(expected)))
}
