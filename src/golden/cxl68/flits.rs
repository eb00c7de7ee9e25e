//! `flit_cxl-68b_<dir>`: traffic as the packer makes it, every slot format, and breaks that show in the flits.

use super::build::{Put, control, data_flits, fill, flipped, flits, format, protocol, put, put_last, reheaded};
use crate::legal::{self, plain, random_bits, with};
use crate::vectors::{CaseGroup, StreamCase, VectorContent, VectorSet};
use scalepool_kernel::Rng;
use scalepool_protocols::cxl::cxl68::Dir;
use scalepool_protocols::cxl::cxl68::code::{M2sRwdOpcode, VlsmInstance, VlsmState};
use scalepool_protocols::cxl::cxl68::config::{Cxl68Config, Revision};
use scalepool_protocols::cxl::cxl68::control::{Almp, Control, Llcrd};
use scalepool_protocols::cxl::cxl68::credit::{self, CreditField};
use scalepool_protocols::cxl::cxl68::header::FlitHeader;
use scalepool_protocols::cxl::cxl68::message::{Class, D2hData, H2dData, M2sRwd};
use scalepool_protocols::cxl::cxl68::packer::{Packed, Packer};
use scalepool_protocols::cxl::cxl68::pid;
use scalepool_protocols::cxl::cxl68::slot;
use scalepool_protocols::cxl::cxl68::stream::{Cxl68Message, Data, Size};
use scalepool_protocols::cxl::cxl68::unit::Cxl68Unit;
use scalepool_protocols::wire::Wire;

/// The vectors of one direction; about `4 * count` flits of traffic.
pub fn vectors(dir: Dir, seed: u64, count: u32) -> VectorSet {
    let path = format!("cxl68/flit_cxl-68b_{}", dir.name());
    let mut rng = Rng::for_name(seed, &path);
    let rng = &mut rng;
    let random = (count > 0).then(|| StreamCase::legal(traffic(dir, 4 * count as usize, rng)));
    let mut groups = vec![
        CaseGroup::new(
            "traffic: one stream, packed tightly, with LLCRD, NULL, ALMP and io flits between",
            Vec::from_iter(random),
        ),
        CaseGroup::new("every slot format in every slot, all places in use", every_format(dir, rng)),
        CaseGroup::new("data of zeros, ones and control-like bits; sizes and byte enables", data_patterns(dir, rng)),
        CaseGroup::new("every credit code", credits()),
    ];
    groups.extend(breaks(dir, rng));
    groups.retain(|g| !g.cases.is_empty());
    VectorSet {
        path,
        about: format!("flits of cxl-68b, direction {}, 68 bytes from the protocol ID to the CRC", dir.name()),
        content: VectorContent::Cxl68(dir, groups),
    }
}

/// A random message that may be sent, with its data.
pub fn random_message(class: Class, rng: &mut Rng) -> Cxl68Message {
    let mut bits = legal::random(class.def(), rng);
    if !class.has_data() {
        return Cxl68Message { class, bits, data: None };
    }
    let half = class.may_be_32_bytes() && rng.ratio(1, 4);
    let upper = half && class != Class::S2mDrs && rng.ratio(1, 2);
    let mut data = Data::line([0; 64]);
    data.size = match (half, upper) {
        (false, _) => Size::Line,
        (true, false) => Size::LowerHalf,
        (true, true) => Size::UpperHalf,
    };
    rng.fill_bytes(&mut data.bytes);
    let enabled = match class {
        Class::M2sRwd => M2sRwd::from_bits(bits).opcode == M2sRwdOpcode::MemWrPtl,
        _ => class.may_have_byte_enables() && rng.ratio(1, 4),
    };
    data.byte_enables = enabled.then(|| rng.next_u64());
    if half {
        // ChunkValid names the half that travels.
        let named = match class {
            Class::D2hData => D2hData { chunk_valid: upper, ..D2hData::from_bits(bits) }.to_bits(),
            Class::H2dData => H2dData { chunk_valid: upper, ..H2dData::from_bits(bits) }.to_bits(),
            _ => Ok(bits),
        };
        bits = named.unwrap_or(bits);
    }
    Cxl68Message { class, bits, data: Some(data) }
}

/// A credit code that stands for a channel of the opposite direction, or for none.
fn random_credit(dir: Dir, field: CreditField, rng: &mut Rng) -> u8 {
    let mem = rng.ratio(1, 2);
    match credit::channel(dir, field, mem) {
        Some(_) => credit::encode(mem, rng.below(128) as u16).0,
        None => 0,
    }
}

/// At least `count` flits of one stream that ends with nothing owed.
pub fn traffic(dir: Dir, count: usize, rng: &mut Rng) -> Vec<Cxl68Unit> {
    let classes: Vec<Class> = Class::ALL.into_iter().filter(|c| c.dir() == dir).collect();
    let mut packer = Packer::new(dir, Cxl68Config::default());
    let mut units = Vec::new();
    while units.len() < count || !packer.is_empty() {
        if units.len() < count {
            if rng.ratio(1, 16) {
                units.extend(between(packer.in_data_run(), dir, rng));
            }
            if packer.is_empty() || rng.ratio(1, 3) {
                for _ in 0..=rng.below(8) {
                    let class = classes[rng.below(classes.len() as u64) as usize];
                    if packer.push(&random_message(class, rng)).is_err() {
                        unreachable!("the message was made to be sent");
                    }
                }
            }
        }
        match packer.pack(&mut [u16::MAX; 10], usize::MAX) {
            Packed::Nothing => (),
            Packed::AllData(slots) => units.push(Cxl68Unit::from_slots(pid::CACHEMEM, &slots)),
            Packed::Protocol(header, slots) => {
                let header = FlitHeader {
                    ak: rng.ratio(1, 8),
                    rsp_crd: random_credit(dir, CreditField::Rsp, rng),
                    req_crd: random_credit(dir, CreditField::Req, rng),
                    data_crd: random_credit(dir, CreditField::Data, rng),
                    ..header
                };
                units.push(protocol(&header, slots));
            }
        }
    }
    units
}

/// A flit that carries no message. Control flits stay out of a data run (CXL68-PCK-15).
fn between(in_data_run: bool, dir: Dir, rng: &mut Rng) -> Option<Cxl68Unit> {
    Some(match rng.below(8) {
        0 => Cxl68Unit::plain(pid::NULL, &[0; 64]),
        1 => almp(&Almp {
            state: VlsmState::Active,
            request: true,
            instance_id: VlsmInstance::Cachemem,
            ..Almp::default()
        }),
        2 => {
            let mut payload = [0; 64];
            rng.fill_bytes(&mut payload);
            Cxl68Unit::plain(pid::IO, &payload)
        }
        _ if in_data_run => return None,
        _ => {
            let mut llcrd = Llcrd {
                rsp_crd: random_credit(dir, CreditField::Rsp, rng),
                req_crd: random_credit(dir, CreditField::Req, rng),
                data_crd: random_credit(dir, CreditField::Data, rng),
                ..Llcrd::default()
            };
            llcrd.set_full_ack(rng.below(128) as u8);
            control(&Control::LlcrdAcknowledge(llcrd))
        }
    })
}

/// An ARB/MUX packet: four copies, the rest zero.
pub fn almp(almp: &Almp) -> Cxl68Unit {
    let word = almp.to_bits().unwrap_or_else(|_| unreachable!("the fields of an ALMP come from its layout"));
    let mut payload = [0; 64];
    for copy in 0..4 {
        payload[4 * copy..4 * copy + 4].copy_from_slice(&(word as u32).to_le_bytes());
    }
    Cxl68Unit::plain(pid::ALMP, &payload)
}

/// Every row of the format tables that holds messages or a MAC; generic ones in slots 1, 2 and 3.
fn every_format(dir: Dir, rng: &mut Rng) -> Vec<StreamCase> {
    let mut cases = Vec::new();
    for format in slot::all_formats().filter(|f| f.dir == dir) {
        for slot in if format.is_header() { 0..1 } else { 1..4 } {
            if format.places().is_empty() {
                if format.is_header() {
                    let header = FlitHeader { slot0: format.code, ..FlitHeader::from_bits(0) };
                    cases.push(StreamCase::legal(vec![protocol(&header, [random_bits(rng, 128), 0, 0, 0])]));
                }
                continue;
            }
            let puts = fill(slot, format, &Class::ALL, rng);
            let sz = puts.iter().any(|p| p.class().has_data());
            cases.push(StreamCase::legal(flits(dir, &puts, sz, false, rng)));
        }
    }
    cases
}

/// Classes of a direction that carry data.
fn data_classes(dir: Dir) -> impl Iterator<Item = Class> {
    Class::ALL.into_iter().filter(move |c| c.dir() == dir && c.has_data())
}

fn data_patterns(dir: Dir, rng: &mut Rng) -> Vec<StreamCase> {
    let mut cases = Vec::new();
    for class in data_classes(dir) {
        for pattern in [0, u128::MAX, 1] {
            let first = flits(dir, &[put_last(class, plain(class.def()))], true, false, rng)[0];
            cases.push(StreamCase::legal([first].into_iter().chain(data_flits([pattern; 4])).collect()));
        }
        let message = put(class, plain(class.def()));
        for sz in [true, false].into_iter().filter(|&sz| sz || class.may_be_32_bytes()) {
            for be in [false, true].into_iter().filter(|&be| !be || class.may_have_byte_enables()) {
                cases.push(StreamCase::legal(flits(dir, &[message], sz, be, rng)));
            }
        }
    }
    cases
}

/// Flits without messages that return credits: each code in each field.
fn credits() -> Vec<StreamCase> {
    let header = FlitHeader::from_bits(0);
    let rows = (0..16).flat_map(|code| {
        [
            FlitHeader { rsp_crd: code, ..header },
            FlitHeader { req_crd: code, ..header },
            FlitHeader { data_crd: code, ..header },
        ]
    });
    rows.map(|header| StreamCase::legal(vec![protocol(&header, [0; 4])])).collect()
}

/// One case a break; each breaks one rule and no other.
fn breaks(dir: Dir, rng: &mut Rng) -> Vec<CaseGroup<StreamCase>> {
    vec![
        CaseGroup::new("bad CRC: bits of the payload, bits of the CRC, all CRC bits", bad_crc(dir, rng)),
        CaseGroup::new("bad protocol ID: one byte, both bytes, bytes that differ", bad_pid(dir, rng)),
        CaseGroup::new("reserved code in a message", reserved_code(dir, rng)),
        CaseGroup::new("reserved bits of a message", reserved_bits(dir, rng)),
        CaseGroup::new("reserved slot format", reserved_format(dir)),
        CaseGroup::new("too many messages of a class in a flit", too_many(dir, rng)),
        CaseGroup::new("second data header outside an MDH slot", second_header(dir, rng)),
        CaseGroup::new("MDH slot with fewer than two data headers, Sz = 0 or BE = 1", mdh(dir, rng)),
        CaseGroup::new("Sz or BE that the class must not have", size_and_enables(dir, rng)),
        CaseGroup::new("messages where data is owed", owed_slot(dir, rng)),
    ]
}

/// A data class of the direction that has a place in every slot.
pub fn line_class(dir: Dir) -> Class {
    if dir == Dir::Down { Class::H2dData } else { Class::D2hData }
}

/// A line that begins in slot 0.
fn a_line(dir: Dir, rng: &mut Rng) -> Vec<Cxl68Unit> {
    let class = line_class(dir);
    flits(dir, &[put(class, legal::random(class.def(), rng))], true, false, rng)
}

/// First bit of the CRC in a unit.
const CRC_LSB: usize = 8 * 66;

fn bad_crc(dir: Dir, rng: &mut Rng) -> Vec<StreamCase> {
    let class = if dir == Dir::Down { Class::M2sReq } else { Class::S2mNdr };
    let request = flits(dir, &[put(class, legal::random(class.def(), rng))], false, false, rng)[0];
    let llcrd = control(&Control::LlcrdAcknowledge(Llcrd::default()));
    let spoiled = |unit: &Cxl68Unit| (CRC_LSB..CRC_LSB + 16).fold(*unit, |u, bit| flipped(&u, bit));
    let mut units: Vec<Vec<Cxl68Unit>> = Vec::new();
    units.extend((CRC_LSB..CRC_LSB + 16).map(|bit| vec![flipped(&request, bit)]));
    // Bits 511 (first into the CRC) to 0 of the payload, 32 apart, and their ends.
    units.extend((0..16).map(|n| vec![flipped(&request, 16 + 32 * n)]));
    units.push(vec![flipped(&request, 16 + 511)]);
    units.push(vec![spoiled(&request)]);
    units.push(vec![spoiled(&llcrd)]);
    // An all-data flit that is damaged, then good: the count of owed chunks waits.
    let class = line_class(dir);
    let run = flits(dir, &[put_last(class, plain(class.def()))], true, false, rng);
    units.push(vec![run[0], flipped(&run[1], 16 + 100), run[1]]);
    units.into_iter().map(|units| StreamCase::breaks("CXL68-CRC-01", units)).collect()
}

fn bad_pid(dir: Dir, rng: &mut Rng) -> Vec<StreamCase> {
    let class = if dir == Dir::Down { Class::M2sReq } else { Class::S2mNdr };
    let unit = flits(dir, &[put(class, legal::random(class.def(), rng))], false, false, rng)[0];
    let with_id = |id: u16| {
        let mut unit = unit;
        unit.0[..2].copy_from_slice(&id.to_le_bytes());
        unit
    };
    let pairs = [
        // One bit of one byte: the other byte is used.
        (0x5554, "CXL68-PID-02"),
        (0x5455, "CXL68-PID-02"),
        (0x0055, "CXL68-PID-02"),
        (0x5500, "CXL68-PID-02"),
        (0x5454, "CXL68-PID-03"),
        (0x0000, "CXL68-PID-03"),
        (0x5487, "CXL68-PID-02"),
        (0x5587, "CXL68-PID-04"),
        (0x55ff, "CXL68-PID-04"),
        (0x9955, "CXL68-PID-04"),
        (0xcc1e, "CXL68-PID-04"),
    ];
    pairs.into_iter().map(|(id, rule)| StreamCase::breaks(rule, vec![with_id(id)])).collect()
}

/// Flits around one message of a class, with its data.
fn alone(class: Class, bits: u128, rng: &mut Rng) -> Vec<Cxl68Unit> {
    flits(class.dir(), &[put(class, bits)], class.has_data(), false, rng)
}

fn reserved_code(dir: Dir, rng: &mut Rng) -> Vec<StreamCase> {
    let mut cases = Vec::new();
    for class in Class::ALL.into_iter().filter(|c| c.dir() == dir) {
        for field in class.def().fields {
            let Some(table) = field.codes else { continue };
            if let Some(raw) = (0..=field.max_raw()).rev().find(|&raw| table.name_of(raw).is_none()) {
                let bits = with(plain(class.def()), field, raw);
                cases.push(StreamCase::breaks(table.rule, alone(class, bits, rng)));
            }
        }
    }
    cases
}

fn reserved_bits(dir: Dir, rng: &mut Rng) -> Vec<StreamCase> {
    let mut cases = Vec::new();
    for class in Class::ALL.into_iter().filter(|c| c.dir() == dir) {
        for field in class.def().fields.iter().filter(|f| f.reserved) {
            let bits = with(plain(class.def()), field, field.max_raw());
            cases.push(StreamCase::breaks(class.def().rule, alone(class, bits, rng)));
        }
    }
    cases
}

fn reserved_format(dir: Dir) -> Vec<StreamCase> {
    let slots = (0..4).flat_map(|n| (0..8).map(move |code| (n, code)));
    let reserved = slots.filter(|&(n, code)| slot::format(Revision::V2_0, dir, n, code).is_none());
    let flit = |(n, code)| {
        let mut header = FlitHeader::from_bits(0);
        header.set_slot(n, code);
        StreamCase::breaks("CXL68-SLT-01", vec![protocol(&header, [0; 4])])
    };
    reserved.map(flit).collect()
}

/// A class, and slots with formats that hold too many of it.
type Crowd = (Class, &'static [(usize, &'static str)]);

/// Classes whose places in one flit can exceed the maximum; of the others the formats hold no more than may be sent.
fn too_many(dir: Dir, rng: &mut Rng) -> Vec<StreamCase> {
    let (rule, rows): (_, &[Crowd]) = match dir {
        Dir::Down => (
            "CXL68-PCK-02",
            &[
                (Class::H2dReq, &[(0, "H0"), (1, "G2"), (2, "G2")]),
                (Class::H2dRsp, &[(0, "H0"), (1, "G1")]),
                (Class::M2sReq, &[(0, "H5"), (1, "G4"), (2, "G4")]),
            ],
        ),
        Dir::Up => {
            ("CXL68-PCK-01", &[(Class::D2hRsp, &[(1, "G1"), (2, "G2")]), (Class::S2mNdr, &[(0, "H0"), (1, "G5")])])
        }
    };
    let case = |&(class, slots): &Crowd| {
        let puts: Vec<Put> = slots.iter().flat_map(|&(n, name)| fill(n, format(dir, name), &[class], rng)).collect();
        StreamCase::breaks(rule, flits(dir, &puts, false, false, rng))
    };
    rows.iter().map(case).collect()
}

/// Only a 32 B transfer leaves a slot behind its data in the same flit for a second header: slot 0, then slot 3.
fn second_header(dir: Dir, rng: &mut Rng) -> Vec<StreamCase> {
    let pairs = match dir {
        Dir::Down => [("H1", "G2"), ("H2", "G4")],
        Dir::Up => [("H0", "G2"), ("H3", "G4")],
    };
    let case = |(first, second)| {
        let data: Vec<Class> = data_classes(dir).collect();
        let mut puts = fill(0, format(dir, first), &data, rng);
        puts.extend(fill(3, format(dir, second), &data, rng));
        StreamCase::breaks("CXL68-PCK-12", flits(dir, &puts, false, false, rng))
    };
    pairs.into_iter().map(case).collect()
}

fn mdh(dir: Dir, rng: &mut Rng) -> Vec<StreamCase> {
    let mut cases = Vec::new();
    for format in slot::all_formats().filter(|f| f.dir == dir && f.mdh) {
        let slot = if format.is_header() { 0 } else { 1 };
        let data: Vec<Class> = data_classes(dir).collect();
        let puts = fill(slot, format, &data, rng);
        let others: Vec<Put> =
            fill(slot, format, &Class::ALL, rng).into_iter().filter(|p| !p.class().has_data()).collect();
        let mut broken =
            |puts: &[Put], sz, be| cases.push(StreamCase::breaks("CXL68-PCK-13", flits(dir, puts, sz, be, rng)));
        broken(&puts[..1], true, false);
        if !others.is_empty() {
            broken(&others, false, false);
        }
        broken(&puts[..2], false, false);
        if puts[0].class().may_have_byte_enables() {
            broken(&puts[..2], true, true);
        }
    }
    cases
}

fn size_and_enables(dir: Dir, rng: &mut Rng) -> Vec<StreamCase> {
    let mut cases = Vec::new();
    for class in data_classes(dir) {
        let message = put(class, plain(class.def()));
        if !class.may_be_32_bytes() {
            cases.push(StreamCase::breaks("CXL68-HDR-03", flits(dir, &[message], false, false, rng)));
        }
        if !class.may_have_byte_enables() {
            cases.push(StreamCase::breaks("CXL68-HDR-04", flits(dir, &[message], true, true, rng)));
        }
    }
    cases
}

/// Slots that carry owed data under another code than G0.
fn owed_slot(dir: Dir, rng: &mut Rng) -> Vec<StreamCase> {
    let rows = [1, 2, 3].map(|slot| {
        let mut units = a_line(dir, rng);
        units[0] = reheaded(&units[0], |h| h.set_slot(slot, 1));
        StreamCase::breaks("CXL68-PCK-06", units)
    });
    rows.into()
}
