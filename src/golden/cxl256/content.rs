//! Legal flits: every slot format, data and trailers, control slots, flits without slots, traffic, repairs.

use super::damage;
use super::send::Cxl256Sender;
use crate::cross;
use crate::legal::{self, plain};
use crate::vectors::{CaseGroup, StreamCase};
use scalepool_kernel::Rng;
use scalepool_protocols::cxl::cxl256::almp::{Almp, L0p};
use scalepool_protocols::cxl::cxl256::code::{FlitType, L0pWidth, VlsmInstance, VlsmState};
use scalepool_protocols::cxl::cxl256::crd::{Crd, RequestCredit};
use scalepool_protocols::cxl::cxl256::flit::{Cxl256Flit, SLOTS, body_bytes, crc_parts, fec_bytes};
use scalepool_protocols::cxl::cxl256::slot::{self, Cxl256SlotPlace, SlotFormat};
use scalepool_protocols::cxl::cxl256::{Class, Mode, control};
use scalepool_protocols::wire::Wire;

pub type Cxl256Case = StreamCase<Cxl256Flit>;

/// A random message that fits its place.
pub fn random(mode: Mode) -> impl FnMut(&Cxl256SlotPlace, &mut Rng) -> u128 {
    move |place, rng| kept(place, legal::random(place.class.def(mode.routing()), rng))
}

/// A plain message with some fields set, that fits its place.
pub fn with(mode: Mode, fields: &[(&'static str, u128)]) -> impl FnMut(&Cxl256SlotPlace, &mut Rng) -> u128 {
    move |place, _| {
        let def = place.class.def(mode.routing());
        kept(place, fields.iter().fold(plain(def), |bits, &(name, raw)| cross::set(def, bits, name, raw)))
    }
}

/// Zero extension: the bits that do not travel are 0.
fn kept(place: &Cxl256SlotPlace, bits: u128) -> u128 {
    bits & (u128::MAX >> (128 - place.kept))
}

/// Formats of slot n with messages of the direction of the sender.
pub fn formats(s: &Cxl256Sender, n: usize) -> Vec<&'static SlotFormat> {
    let own = |f: &&SlotFormat| !f.is_control() && f.classes.iter().all(|c| c.dir() == s.dir);
    slot::formats(s.mode, n).iter().filter(own).collect()
}

/// The first format of slot n with a class.
pub fn format_of(mode: Mode, n: usize, class: Class) -> &'static SlotFormat {
    let found = slot::formats(mode, n).iter().find(|f| f.classes.contains(&class));
    found.unwrap_or_else(|| unreachable!("every class stands in every kind of slot"))
}

/// Data classes of a direction.
pub fn data_classes(s: &Cxl256Sender) -> Vec<Class> {
    Class::ALL.into_iter().filter(|c| c.dir() == s.dir && c.has_data()).collect()
}

/// Every format of the direction in a slot of its kind, all places in use.
pub fn every_format(s: &mut Cxl256Sender) -> CaseGroup<Cxl256Case> {
    let mut cases = Vec::new();
    let slots = if s.mode.is_lopt() { vec![0, 8, 1] } else { vec![0, 1] };
    for kind in slots {
        for (k, format) in formats(s, kind).into_iter().enumerate() {
            // G formats stand in slots 1 to 7.
            let n = if kind == 1 { 1 + k % 7 } else { kind };
            let count = format.classes.len();
            let mode = s.mode;
            cases.push(StreamCase::legal(s.one(n, |s| s.fill(n, format, count, &mut random(mode)))));
        }
    }
    CaseGroup::new("every slot format, all places in use", cases)
}

/// Lines of zeros and ones, every kind of trailer, headers whose data crosses to the next flit.
pub fn data(s: &mut Cxl256Sender) -> CaseGroup<Cxl256Case> {
    let mut cases = Vec::new();
    let mode = s.mode;
    let mut one = |s: &mut Cxl256Sender, n: usize, class: Class, count: usize, fields: &[(&'static str, u128)]| {
        let format = format_of(mode, n, class);
        cases.push(StreamCase::legal(s.one(n, |s| s.fill(n, format, count, &mut with(mode, fields)))));
    };
    for class in data_classes(s) {
        one(s, 14, class, 1, &[]);
    }
    if s.dir == Class::M2sRwd.dir() {
        one(s, 1, Class::M2sRwd, 1, &[("opcode", 2), ("meta_field", 3), ("trp", 1)]);
        one(s, 1, Class::M2sRwd, 1, &[("opcode", 10), ("meta_field", 1), ("trp", 1)]);
        one(s, 1, Class::M2sRwd, 1, &[("opcode", 1), ("meta_field", 1), ("trp", 1)]);
        one(s, 1, Class::M2sRwd, 1, &[("opcode", 4)]);
    } else {
        one(s, 1, Class::D2hData, 2, &[("bep", 1)]);
        one(s, 1, Class::S2mDrs, 2, &[("meta_field", 1), ("trp", 1)]);
        let format = format_of(mode, 1, Class::S2mDrs);
        let mut nth = 0;
        // TRP in the second header alone: the trailer still stands behind the first line.
        let mut second = |place: &Cxl256SlotPlace, rng: &mut Rng| {
            nth += 1;
            with(mode, if nth == 2 { &[("meta_field", 1), ("trp", 1)] } else { &[] })(place, rng)
        };
        cases.push(StreamCase::legal(s.one(1, |s| s.fill(1, format, 2, &mut second))));
    }
    // The last pattern has the format code of a control slot in every slot.
    for pattern in [0, u128::MAX, 8] {
        let class = data_classes(s)[0];
        let put = |s: &mut Cxl256Sender| {
            s.fill(1, format_of(mode, 1, class), 1, &mut with(mode, &[]));
            s.owe_pattern(pattern);
        };
        cases.push(StreamCase::legal(s.one(1, put)));
    }
    CaseGroup::new("data and trailers: random, then zeros, ones and control-like bits", cases)
}

/// Every kind of control slot.
pub fn controls(s: &mut Cxl256Sender) -> CaseGroup<Cxl256Case> {
    let mut cases = Vec::new();
    let mode = s.mode;
    for kind in &control::KINDS {
        let mut bits = kind.default_slot();
        if kind.name == "Poison" {
            // Poisons a message whose data is still to come.
            let class = data_classes(s)[0];
            s.begin();
            s.fill(14, format_of(mode, 14, class), 1, &mut with(mode, &[]));
            let mut flits = vec![s.end(Crd::default())];
            s.begin();
            s.raw(0, bits);
            flits.push(s.end(Crd::default()));
            flits.extend(s.drain());
            cases.push(StreamCase::legal(flits));
            continue;
        }
        if kind.has_payload {
            for field in kind.def.fields.iter().filter(|f| f.lsb >= 16 && !f.reserved) {
                bits |= legal::random_bits(s.rng, field.width) << field.lsb;
            }
        }
        cases.push(StreamCase::legal(s.one(0, |s| {
            s.raw(0, bits);
            if kind.shares_flit {
                let format = formats(s, 1)[0];
                s.fill(1, format, 1, &mut random(mode));
            }
        })));
        if mode.is_lopt() && kind.in_hs {
            cases.push(StreamCase::legal(s.one(8, |s| s.raw(8, bits & (u128::MAX >> 32)))));
        }
    }
    CaseGroup::new("every kind of control slot", cases)
}

/// The body of a flit that carries an ALMP.
pub fn almp_body(word: u128) -> Vec<u8> {
    (word as u32).to_le_bytes().to_vec()
}

fn word(bits: Result<u128, scalepool_protocols::wire::FieldError>) -> u128 {
    bits.unwrap_or_else(|_| unreachable!("the fields of an ALMP come from its layout"))
}

/// Flits without slots, and the Empty flit; every ALMP in the standard map alone, as no map changes it. The IDLE flit is the first of the file: it has no sequence number.
pub fn without_slots(s: &mut Cxl256Sender) -> CaseGroup<Cxl256Case> {
    let mut idle = Cxl256Flit::ZERO;
    idle.seal(s.mode);
    let mut cases = vec![StreamCase::legal(vec![idle])];
    let empty = Crd { request: RequestCredit::EmptyFlit, ..Crd::default() };
    let channel = if s.dir == Class::H2dReq.dir() { Class::D2hData } else { Class::H2dData };
    let mut with_credits = empty;
    with_credits.give(channel, 4);
    for crd in [empty, with_credits] {
        s.begin();
        cases.push(StreamCase::legal(vec![s.end(crd)]));
    }
    cases.push(StreamCase::legal(vec![s.of_body(FlitType::Nop, false, &[])]));
    // CXL.io: NOP TLPs, and a DLLP UpdateFC of posted requests, 5 headers and 7 data (`cxl-io` §2.2).
    let mut body = vec![0; body_bytes(s.mode)];
    let dllp = body.len() - 4;
    body[dllp..].copy_from_slice(&[0x80, 0x01, 0x40, 0x07]);
    cases.push(StreamCase::legal(vec![s.of_body(FlitType::Io, false, &body)]));
    let vlsm = |state, request, instance_id| word(Almp { state, request, instance_id, ..Almp::default() }.to_bits());
    let instances = VlsmInstance::TABLE.codes.iter().map(|c| VlsmInstance(c.value as u8));
    let mut words: Vec<u128> = instances.map(|i| vlsm(VlsmState::Active, true, i)).collect();
    let instance = VlsmInstance::Cachemem;
    if s.mode != Mode::Standard {
        words.truncate(1);
    } else {
        words.push(vlsm(VlsmState::Reset, false, instance));
        words.push(vlsm(VlsmState::ActivePMNAK, false, instance));
        words.push(vlsm(VlsmState::Dapm, true, instance));
        words.push(vlsm(VlsmState::Retrain, true, instance));
        words.push(word(L0p { request: true, width: L0pWidth::X8, ..L0p::default() }.to_bits()));
        words.push(word(L0p { width: L0pWidth::NAK, ..L0p::default() }.to_bits()));
    }
    cases.extend(words.into_iter().map(|w| StreamCase::legal(vec![s.of_body(FlitType::Almp, false, &almp_body(w))])));
    CaseGroup::new("flits without messages: IDLE, Empty, NOP, io, ALMP", cases)
}

/// Credits of each channel of the other direction, every count; the three groups of a flit side by side.
pub fn credits(s: &mut Cxl256Sender) -> CaseGroup<Cxl256Case> {
    let other: Vec<Class> = Class::ALL.into_iter().filter(|c| c.dir() != s.dir).collect();
    let mut crds: Vec<Crd> = Vec::new();
    for class in other {
        for (k, n) in [1, 4, 8, 12, 16].into_iter().enumerate() {
            let mut one = Crd::default();
            one.give(class, n);
            // CXL.cache first, CXL.mem behind.
            let at = k + if class.is_mem() { 5 } else { 0 };
            crds.resize(crds.len().max(at + 1), Crd::default());
            merge(&mut crds[at], &one);
        }
    }
    let case = |crd| {
        s.begin();
        StreamCase::legal(vec![s.end(crd)])
    };
    CaseGroup::new("every credit code of the direction", crds.into_iter().map(case).collect())
}

/// Adds the credits of groups that are free.
fn merge(crd: &mut Crd, one: &Crd) {
    if one.request.0 != 0 {
        crd.request = one.request;
    }
    if one.data.0 != 0 {
        crd.data = one.data;
    }
    if one.response.0 != 0 {
        crd.response = one.response;
    }
}

/// At least `count` flits of random messages, one stream.
pub fn traffic(s: &mut Cxl256Sender, count: u32) -> CaseGroup<Cxl256Case> {
    let mut flits = Vec::new();
    let mode = s.mode;
    for _ in 0..count {
        s.begin();
        // A group is left to data once one of its slots is free: packing without gaps.
        let mut closed = false;
        for n in 0..SLOTS {
            closed &= n % 4 != 0;
            if s.data(n) || closed {
                continue;
            }
            let rows = formats(s, n);
            let format = rows[s.rng.below(rows.len() as u64) as usize];
            let places = format.classes.len();
            let some = n % 8 != 0;
            let count = if some { 1 + s.rng.below(places as u64) as usize } else { places };
            closed = !s.messages(n, format, count, &mut random(mode));
        }
        let mut crd = Crd::default();
        let other: Vec<Class> = Class::ALL.into_iter().filter(|c| c.dir() != s.dir).collect();
        for _ in 0..s.rng.below(3) {
            let mut one = Crd::default();
            one.give(other[s.rng.below(other.len() as u64) as usize], s.rng.below(20) as u16);
            merge(&mut crd, &one);
        }
        flits.push(s.end(crd));
    }
    flits.extend(s.drain());
    let cases = if count > 0 { vec![StreamCase::legal(flits)] } else { Vec::new() };
    CaseGroup::new("traffic: one stream of random messages with data and credits", cases)
}

/// A flit with one message.
pub fn message_flit(s: &mut Cxl256Sender) -> Cxl256Flit {
    let mode = s.mode;
    let format = formats(s, 1)[0];
    s.one(1, |s| s.fill(1, format, 1, &mut random(mode)))[0]
}

/// Flits with wrong bytes that the FEC repairs: one in each group at most.
pub fn repairs(mode: Mode, mut flit: impl FnMut() -> Cxl256Flit) -> CaseGroup<Cxl256Case> {
    let (crc, fec) = (crc_parts(mode)[0].bytes.start, fec_bytes(mode).start);
    let rows: [&[(usize, u8)]; 7] = [
        &[(0, 0x80)],
        &[(17, 0xff)],
        &[(200, 0x01)],
        &[(crc + 1, 0x10)],
        &[(fec, 0x01)],
        &[(fec + 5, 0xa5)],
        &[(30, 0x55), (61, 0x0f), (92, 0xf0)],
    ];
    // PBR flits have the map of standard ones.
    let shown = if mode == Mode::Pbr { 2 } else { rows.len() };
    let case = |wrong: &&[(usize, u8)]| StreamCase::legal(vec![damage::bytes(&flit(), wrong)]);
    CaseGroup::new(
        "wrong bytes that the FEC repairs, at most one in each of its groups",
        rows[..shown].iter().map(case).collect(),
    )
}
