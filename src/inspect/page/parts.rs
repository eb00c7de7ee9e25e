//! What stands where in a unit: the parts of its bytes, each with the layout that its bits have.
//!
//! Modelled: header, slots with their messages and data, credits, CRC and FEC of CXL.cachemem; header, address extension, byte
//! enables and data of NVLink; flit header, segments, fields of control half-flits and CRC of UALink. The formats of slots, and where TL
//! flits stand, are those that the flit object names, so the state of the stream is not needed again. Left out: fields of UALink in a TL
//! flit that an earlier flit has begun, and TLPs.

use scalepool_forms::number::bytes_of;
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl68::config::Revision;
use scalepool_protocols::cxl::cxl68::control::Control;
use scalepool_protocols::cxl::cxl68::header::FlitHeader as Header68;
use scalepool_protocols::cxl::cxl68::{message::Class as Class68, slot as slot68};
use scalepool_protocols::cxl::cxl256::crd::Crd;
use scalepool_protocols::cxl::cxl256::flit::{self as flit256, crc_parts, fec_bytes, slot_byte};
use scalepool_protocols::cxl::cxl256::header::FlitHeader as Header256;
use scalepool_protocols::cxl::cxl256::{Mode, control as control256, slot as slot256};
use scalepool_protocols::nvlink::{Ae, FLIT_BYTES, NvlHeader};
use scalepool_protocols::ualink::control;
use scalepool_protocols::ualink::flit::{self as flit_ual, SECTOR_BYTES, SECTORS, sector_byte, segment_header_byte};
use scalepool_protocols::ualink::half::{HALF_SECTORS, Half, TL_SECTORS, TlFlit};
use scalepool_protocols::ualink::header::{SegmentHeader, UalHeader};
use scalepool_protocols::ualink::segment::BOUNDS;
use scalepool_protocols::wire::{ByteOrder, LayoutDef, Wire};
use serde_json::Value;

/// Bits that stand together in the unit and in the part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BitRun {
    /// First bit in the unit; bit 8n+b is bit b of byte n.
    pub unit_bit: usize,
    /// First bit in the part.
    pub part_bit: usize,
    /// How many.
    pub bits: usize,
}

/// A part of a unit.
#[derive(Debug, Clone)]
pub(super) struct UnitPart {
    pub label: String,
    /// What its bits are; `None` for bytes without fields.
    pub layout: Option<&'static LayoutDef>,
    pub runs: Vec<BitRun>,
}

fn bytes(label: impl Into<String>, at: std::ops::Range<usize>) -> UnitPart {
    let run = BitRun { unit_bit: 8 * at.start, part_bit: 0, bits: 8 * at.len() };
    UnitPart { label: label.into(), layout: None, runs: vec![run] }
}

fn laid_out(label: impl Into<String>, layout: &'static LayoutDef, unit_bit: usize) -> UnitPart {
    let bits = layout.bits as usize;
    let runs = match layout.order {
        ByteOrder::Little => vec![BitRun { unit_bit, part_bit: 0, bits }],
        // The byte on top comes first.
        ByteOrder::Big => {
            let run = |k: usize| BitRun { unit_bit: unit_bit + 8 * k, part_bit: bits - 8 * (k + 1), bits: 8 };
            (0..bits / 8).map(run).collect()
        }
    };
    UnitPart { label: label.into(), layout: Some(layout), runs }
}

/// Bits of a slot that stand elsewhere in the unit byte by byte.
fn slot_runs(unit_byte: impl Fn(usize) -> usize, slot_bit: usize, part_bit: usize, bits: usize) -> Vec<BitRun> {
    let mut runs: Vec<BitRun> = Vec::new();
    let mut done = 0;
    while done < bits {
        let bit = slot_bit + done;
        let taken = (8 - bit % 8).min(bits - done);
        let run = BitRun { unit_bit: 8 * unit_byte(bit / 8) + bit % 8, part_bit: part_bit + done, bits: taken };
        match runs.last_mut() {
            Some(last) if last.unit_bit + last.bits == run.unit_bit => last.bits += taken,
            _ => runs.push(run),
        }
        done += taken;
    }
    runs
}

/// The parts of a unit, in the order of their first bytes as far as that is one.
pub(super) fn parts(protocol: &str, dir: Dir, unit: &[u8], form: &Value) -> Vec<UnitPart> {
    match (protocol, Mode::ALL.into_iter().find(|mode| mode.protocol() == protocol)) {
        ("cxl-68b", _) => of_cxl68(dir, unit, form),
        ("nvlink", _) => of_nvlink(unit),
        ("ualink", _) if unit.len() == flit_ual::FLIT_BYTES => of_ualink(unit, form),
        (_, Some(mode)) if unit.len() == flit256::FLIT_BYTES => of_cxl256(mode, unit, form),
        _ => vec![bytes("unit", 0..unit.len())],
    }
}

/// Slots that the flit object names, each with its format.
fn slots(form: &Value) -> impl Iterator<Item = (usize, &str, bool)> {
    let slots = form["slots"].as_array().into_iter().flatten();
    slots.filter_map(|slot| {
        let number = usize::try_from(slot["slot"].as_u64()?).ok()?;
        Some((number, slot["format"].as_str().unwrap_or_default(), slot.get("data").is_some()))
    })
}

fn of_cxl68(dir: Dir, unit: &[u8], form: &Value) -> Vec<UnitPart> {
    const SLOTS_BYTE: usize = 2;
    const SLOT_BYTES: usize = 16;
    const CRC_BYTE: usize = 66;
    let at = |slot: usize| SLOTS_BYTE + SLOT_BYTES * slot;
    let slot_of = |n: usize| unit.get(at(n)..at(n) + SLOT_BYTES).map_or(0, little_endian);
    let mut parts = vec![bytes("protocol ID", 0..SLOTS_BYTE)];
    match form["kind"].as_str().unwrap_or_default() {
        "protocol" => parts.push(laid_out("flit header", Header68::DEF, 8 * SLOTS_BYTE)),
        "control" => {
            let control = Control::from_slot(slot_of(0));
            let layout = control.def().filter(|layout| layout.bits as usize <= 8 * SLOT_BYTES);
            let run = BitRun { unit_bit: 8 * at(0), part_bit: 0, bits: 8 * SLOT_BYTES };
            parts.push(UnitPart { label: control.name().to_owned(), layout, runs: vec![run] });
        }
        "all-data" => {}
        _ => {
            parts.push(bytes("payload", SLOTS_BYTE..unit.len().max(SLOTS_BYTE)));
            return parts;
        }
    }
    for (n, name, is_data) in slots(form).filter(|(n, ..)| *n < 4) {
        let known = slot68::formats(Revision::V2_0, dir, n).iter().find(|format| format.name == name);
        if is_data {
            parts.push(bytes(format!("slot {n}: data"), at(n)..at(n) + SLOT_BYTES));
            continue;
        }
        let places = known.map(|format| format.places()).unwrap_or_default();
        for place in places.iter().filter(|place| place.is_valid(slot_of(n))) {
            let layout = Class68::def(place.class);
            let slot_bit = 8 * at(n);
            let mut runs =
                vec![BitRun { unit_bit: slot_bit + usize::from(place.lsb), part_bit: 0, bits: place.width.into() }];
            runs.extend(place.devload_lsb.map(|lsb| BitRun {
                unit_bit: slot_bit + usize::from(lsb),
                part_bit: place.width.into(),
                bits: layout.bits as usize - usize::from(place.width),
            }));
            parts.push(UnitPart { label: format!("slot {n} {name}"), layout: Some(layout), runs });
        }
    }
    parts.push(bytes("CRC", CRC_BYTE..CRC_BYTE + 2));
    parts
}

fn of_cxl256(mode: Mode, unit: &[u8], form: &Value) -> Vec<UnitPart> {
    let mut parts = vec![laid_out("flit header", Header256::DEF, 0)];
    let bit_of = |n: usize, bit: usize| unit[slot_byte(mode, n, bit / 8)] >> (bit % 8) & 1 == 1;
    for (n, name, is_data) in slots(form).filter(|(n, ..)| *n < flit256::SLOTS) {
        let slot_bits = 8 * mode.slot_kind(n).bytes();
        let run = |lsb: usize, bits: usize| slot_runs(|k| slot_byte(mode, n, k), lsb, 0, bits);
        let known = slot256::formats(mode, n).iter().find(|format| format.name == name);
        let Some(format) = known.filter(|_| !is_data) else {
            let label = format!("slot {n}: {}", if is_data { "data" } else { name });
            parts.push(UnitPart { label, layout: None, runs: run(0, slot_bits) });
            continue;
        };
        let label = format!("slot {n} {name}");
        if format.is_control() {
            let bits = (0..slot_bits).rev().fold(0, |bits, bit| bits << 1 | u128::from(bit_of(n, bit)));
            let label = control256::kind(bits).map_or(label, |kind| format!("slot {n} {}", kind.name));
            parts.push(UnitPart { label, layout: None, runs: run(0, slot_bits) });
            continue;
        }
        for place in format.places().filter(|place| bit_of(n, place.lsb as usize)) {
            let layout = place.class.def(mode.routing());
            let runs = run(place.lsb as usize, place.kept as usize);
            parts.push(UnitPart { label: label.clone(), layout: Some(layout), runs });
        }
    }
    if form.get("slots").is_some() {
        parts.push(laid_out("credits", Crd::DEF, 8 * flit256::standard::CRD.start));
    }
    for part in crc_parts(mode) {
        parts.push(bytes(format!("CRC {}", part.half).trim_end().to_owned(), part.bytes.clone()));
    }
    parts.push(bytes("FEC", fec_bytes(mode)));
    parts
}

fn of_nvlink(unit: &[u8]) -> Vec<UnitPart> {
    let mut flits = unit.chunks(FLIT_BYTES).enumerate().map(|(n, flit)| (FLIT_BYTES * n, flit));
    let Some((_, first)) = flits.next() else { return Vec::new() };
    let header = NvlHeader::from_bits(little_endian(first));
    let mut parts = vec![laid_out("header", NvlHeader::DEF, 0)];
    if let Some((at, _)) = flits.next_if_any(header.ae) {
        parts.push(laid_out("address extension", Ae::DEF, 8 * at));
    }
    if let Some((at, flit)) = flits.next_if_any(header.be) {
        parts.push(bytes("byte enables", at..at + flit.len()));
    }
    parts.extend(flits.enumerate().map(|(n, (at, flit))| bytes(format!("data flit {n}"), at..at + flit.len())));
    parts
}

/// The next one, if it is there by the header.
trait NextIfAny: Iterator {
    fn next_if_any(&mut self, is_there: bool) -> Option<Self::Item> {
        if is_there { self.next() } else { None }
    }
}

impl<I: Iterator> NextIfAny for I {}

/// The sectors that TL flits can take in a flit, in order: those of its segments without their DL messages.
fn tl_sectors(unit: &[u8]) -> Vec<usize> {
    let of_segment = |(n, (first, _, end)): (usize, (usize, usize, usize))| {
        let header = SegmentHeader::from_bits(u128::from(unit[segment_header_byte(n)]));
        first + usize::from(header.alt)..end
    };
    BOUNDS.into_iter().enumerate().flat_map(of_segment).collect()
}

/// A TL flit of the flit object: where its sectors are in [`tl_sectors`], as far as they are in this flit, and its halves.
fn tl_flits<'a>(unit: &[u8], sectors: &[usize], form: &'a Value) -> Vec<(usize, [(&'a str, Half); 2])> {
    let mut found = Vec::new();
    let mut next = 0;
    for flit in form["tl_flits"].as_array().into_iter().flatten() {
        let half = |key: &str| {
            let bytes = bytes_of(flit[key]["hex"].as_str()?, key).ok()?;
            Some((flit[key]["kind"].as_str().unwrap_or_default(), Half::try_from(bytes).ok()?))
        };
        let segment = flit["segment"].as_u64().and_then(|n| BOUNDS.get(usize::try_from(n).ok()?));
        let (Some(lower), Some(upper), Some(&(first, _, end))) = (half("lower"), half("upper"), segment) else {
            continue;
        };
        let whole = TlFlit { halves: [lower.1, upper.1], message: [false; 2] };
        let stands_at = |at: &usize| {
            let mut behind = sectors[*at..].iter().take(TL_SECTORS).enumerate();
            behind.all(|(k, sector)| (0..SECTOR_BYTES).all(|b| unit[sector_byte(*sector, b)] == whole.sector(k)[b]))
        };
        let begins = (next..sectors.len()).filter(|at| (first..end).contains(&sectors[*at])).find(stands_at);
        if let Some(at) = begins {
            next = (at + TL_SECTORS).min(sectors.len());
            found.push((at, [lower, upper]));
        }
    }
    found
}

/// Fields of UALink stand in the half-flits of TL flits that the flit object calls control; what goes on in the next flit is not told
/// apart there. All other sectors of a segment are one part.
fn of_ualink(unit: &[u8], form: &Value) -> Vec<UnitPart> {
    let bits = u32::from_le_bytes([
        unit[flit_ual::map::FH.start],
        unit[flit_ual::map::FH.start + 1],
        unit[flit_ual::map::FH.start + 2],
        0,
    ]);
    let mut parts = vec![laid_out("flit header", UalHeader::from_bits(bits).def(), 8 * flit_ual::map::FH.start)];
    let sectors = tl_sectors(unit);
    let mut taken = [false; SECTORS];
    let mut fields = Vec::new();
    for (at, halves) in tl_flits(unit, &sectors, form) {
        for (n, (kind, half)) in halves.into_iter().enumerate() {
            let begin = at + n * HALF_SECTORS;
            if kind != "control" || begin + HALF_SECTORS > sectors.len() {
                continue;
            }
            let byte = |k: usize| sector_byte(sectors[begin + k / SECTOR_BYTES], k % SECTOR_BYTES);
            for placed in control::read(&half).fields {
                let (def, bit) = (placed.field.def(), 8 * SECTOR_BYTES * placed.sector);
                let runs = slot_runs(byte, bit, 0, def.bits as usize);
                (0..placed.field.sectors()).for_each(|k| taken[sectors[begin + placed.sector + k]] = true);
                fields.push(UnitPart { label: def.name.into(), layout: Some(def), runs });
            }
        }
    }
    for (n, (first, _, end)) in BOUNDS.into_iter().enumerate() {
        parts.push(laid_out(format!("header of segment {n}"), SegmentHeader::DEF, 8 * segment_header_byte(n)));
        let rest: Vec<usize> = (first..end).filter(|sector| !taken[*sector]).collect();
        let byte = |k: usize| sector_byte(rest[k / SECTOR_BYTES], k % SECTOR_BYTES);
        let runs = slot_runs(byte, 0, 0, rest.len() * 8 * SECTOR_BYTES);
        if !rest.is_empty() {
            parts.push(UnitPart { label: format!("segment {n}"), layout: None, runs });
        }
    }
    parts.extend(fields);
    parts.push(bytes("CRC", flit_ual::map::CRC));
    parts
}

fn little_endian(bytes: &[u8]) -> u128 {
    bytes.iter().take(16).rev().fold(0, |all, &byte| all << 8 | u128::from(byte))
}
