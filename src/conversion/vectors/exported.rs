//! Cases of memory of accelerators that the bridge keeps coherent: from CXL (class DB) and from accelerators of the own cluster (class HP,
//! the hairpin) (`bridge` §1.3, §4.4, §5.1, §6.4, §8.2, §8.3).
//!
//! Modelled: every message of a holder, and every access of an accelerator, at every record of its line; copies that are clean, dirty,
//! poisoned and silently dropped; messages that stand in no row; atomics of every operation and size; windows and rights; every status of an
//! accelerator; poison; requests that are there together. Left out: victims of the filter, which a bridge chooses as it likes.
//!
//! A walk through one case: host 1 asks for a line and stores into it; an accelerator writes a part of the line by the hairpin; BISnpInv
//! brings the stored line back, which is written first; at the end host 2 asks for the line, and nobody is asked to give it back.

use super::holders::{Cluster, HolderMood};
use super::nvlink::{self, asked as packet, with_atomic};
use super::peer::PeerAccelerator;
use super::ualink::{Asked, BASE, LIMITED, OWN, element_or_shape, shape};
use super::{CaseWriter, ConversionVectors};
use crate::message::{BridgeMessage, CxlMessage};
use crate::model::{BridgeEvent, BridgePoint};
use scalepool_coherence::content::{CacheLine, LineAddr, WHOLE_LINE};
use scalepool_coherence::message::Msg;
use scalepool_link::nvlink::NvlMessage;
use scalepool_protocols::cxl::cxl256::code::{M2sReqOpcode, M2sRwdOpcode, MetaField, MetaValue, SnpType};
use scalepool_protocols::nvlink::Op;
use scalepool_protocols::ualink::code::ReqCmd;
use serde_json::{Value, json};

/// First address of the window of class DB.
const FROM: u64 = 0x4000_0000;
/// Where the window of class HP leads, in that one.
const HAIRPIN: u64 = FROM + (4 << 20);
/// Bytes of the window of class HP.
const HAIRPIN_BYTES: u64 = 4 << 20;
/// The line of the cases, from the first byte of either window on.
const PLACE: u64 = 0x2140;

pub(super) fn files() -> Vec<ConversionVectors> {
    let of = |name, about: &str, protocol, holders: &[u16]| {
        let mut writer = CaseWriter::new(name, about, config(protocol, holders));
        rows(&mut writer, holders.len());
        if holders.len() > 1 {
            others(&mut writer);
            statuses(&mut writer);
            together(&mut writer);
        }
        writer.vectors
    };
    let hairpin = |name, about: &str, protocol, steps: fn(&mut CaseWriter)| {
        let mut config = config(protocol, &HOLDERS);
        let rights = json!({ "1": "r", "2": "w", "3": "rw", "15": "" });
        config["hairpin"] = json!({
            "windows": [{ "class": "HP", "base": BASE, "size": HAIRPIN_BYTES, "out_base": HAIRPIN, "rights": rights }],
            "groups": { "4": 1, "5": 2, "6": 3, "8": 15 },
            "entries": 64,
        });
        let mut writer = CaseWriter::new(name, about, config);
        steps(&mut writer);
        writer.vectors
    };
    vec![
        of(
            "cxl_to_ualink_db",
            "CXL.mem to UALink, a window of class DB (the bridge keeps it coherent)",
            "ualink",
            &HOLDERS,
        ),
        of("cxl_to_nvlink_db", "CXL.mem to NVLink (model), a window of class DB", "nvlink", &HOLDERS),
        of("cxl_to_ualink_db_host", "CXL.mem to UALink, a window of class DB with one holder", "ualink", &HOLDERS[..1]),
        hairpin(
            "ualink_to_ualink_hp",
            "UALink to UALink of the own cluster, a window of class HP",
            "ualink",
            of_ualink,
        ),
        hairpin("nvlink_to_nvlink_hp", "NVLink (model) to NVLink, a window of class HP", "nvlink", of_nvlink),
    ]
}

/// Who holds lines, by CXL port.
const HOLDERS: [u16; 3] = [10, 11, 12];

fn config(protocol: &str, holders: &[u16]) -> Value {
    json!({
        "protocol": protocol, "direction": "inbound", "own": OWN,
        "windows": [{
            "class": "DB", "base": FROM, "size": 16 << 20, "out_base": "0x100000000", "targets": [3, 1], "granule": 256,
        }],
        "entries": 64,
        "home": { "holders": holders },
    })
}

/// MetaField, MetaValue and SnpType.
type Meta = (MetaField, MetaValue, SnpType);

const fn meta(value: MetaValue, snp: SnpType) -> Meta {
    (MetaField::Meta0State, value, snp)
}

const fn no_meta(snp: SnpType) -> Meta {
    (MetaField::NoOp, MetaValue::Invalid, snp)
}

const OWNS: Meta = meta(MetaValue::Any, SnpType::SnpInv);
const SHARES: Meta = meta(MetaValue::Shared, SnpType::SnpData);

/// The rows of requests (`bridge` §5.1).
const REQUESTS: [(M2sReqOpcode, Meta); 18] = [
    (M2sReqOpcode::MemRd, OWNS),
    (M2sReqOpcode::MemRd, SHARES),
    (M2sReqOpcode::MemRd, meta(MetaValue::Invalid, SnpType::SnpCur)),
    (M2sReqOpcode::MemRd, meta(MetaValue::Invalid, SnpType::SnpInv)),
    (M2sReqOpcode::MemRd, no_meta(SnpType::SnpCur)),
    (M2sReqOpcode::MemRd, no_meta(SnpType::SnpInv)),
    (M2sReqOpcode::MemRd, no_meta(SnpType::NoOp)),
    (M2sReqOpcode::MemRdData, no_meta(SnpType::SnpData)),
    (M2sReqOpcode::MemInv, OWNS),
    (M2sReqOpcode::MemInv, SHARES),
    (M2sReqOpcode::MemInv, meta(MetaValue::Invalid, SnpType::SnpInv)),
    (M2sReqOpcode::MemInv, no_meta(SnpType::SnpInv)),
    (M2sReqOpcode::MemInvNT, OWNS),
    (M2sReqOpcode::MemInvNT, SHARES),
    (M2sReqOpcode::MemInvNT, meta(MetaValue::Invalid, SnpType::SnpInv)),
    (M2sReqOpcode::MemInvNT, no_meta(SnpType::SnpInv)),
    (M2sReqOpcode::MemClnEvct, meta(MetaValue::Invalid, SnpType::NoOp)),
    (M2sReqOpcode::MemSpecRd, no_meta(SnpType::NoOp)),
];

/// Those of writes.
const WRITES: [Meta; 4] = [
    meta(MetaValue::Any, SnpType::NoOp),
    meta(MetaValue::Shared, SnpType::NoOp),
    meta(MetaValue::Invalid, SnpType::NoOp),
    meta(MetaValue::Invalid, SnpType::SnpInv),
];

/// Records of a line: by their names, who has asked for it, and how.
const RECORDS: [(&str, &[(usize, Meta)]); 7] = [
    ("nobody has it", &[]),
    ("0 owns it", &[(0, OWNS)]),
    ("1 owns it", &[(1, OWNS)]),
    ("0 shares it", &[(0, SHARES)]),
    ("1 shares it", &[(1, SHARES)]),
    ("1 and 2 share it", &[(1, SHARES), (2, SHARES)]),
    ("0 and 1 share it", &[(0, SHARES), (1, SHARES)]),
];

const MOODS: [(&str, HolderMood); 4] = [
    ("clean copies", HolderMood::Clean),
    ("dirty copies", HolderMood::Dirty),
    ("poisoned copies", HolderMood::Poisoned),
    ("copies that were dropped", HolderMood::Silent),
];

fn good(mood: HolderMood) -> Cluster {
    Cluster::of(mood, PeerAccelerator::with_status(0))
}

fn asks(port: usize, message: BridgeMessage) -> BridgeEvent {
    BridgeEvent { point: BridgePoint::Request, port, message }
}

impl CaseWriter {
    /// A holder asks for a line.
    fn holder_asks(
        &mut self,
        port: usize,
        opcode: M2sReqOpcode,
        address: u64,
        (meta_field, meta, snp): Meta,
    ) -> BridgeEvent {
        let (line, tag) = (LineAddr::of_address(address), self.rng.below(1 << 12) as u16);
        let msg = Msg::M2sReq { opcode, snp, meta_field, meta, line, tag };
        asks(port, BridgeMessage::Cxl(CxlMessage { msg, ld_id: 0, traffic_class: 0 }))
    }

    /// A holder writes a line.
    fn holder_writes(&mut self, port: usize, opcode: M2sRwdOpcode, address: u64, of: (Meta, u64)) -> BridgeEvent {
        let ((meta_field, meta, snp), enables) = of;
        let (line, tag) = (LineAddr::of_address(address), self.rng.below(1 << 12) as u16);
        let mut data = CacheLine::of([0; 64]);
        // Zeros follow these two (`cxl-256b` §4.2).
        if !matches!(opcode, M2sRwdOpcode::BIConflict | M2sRwdOpcode::MemRdFill) {
            self.rng.fill_bytes(&mut data.bytes);
        }
        let msg = Msg::M2sRwd { opcode, snp, meta_field, meta, line, tag, data, enables };
        asks(port, BridgeMessage::Cxl(CxlMessage { msg, ld_id: 0, traffic_class: 0 }))
    }

    /// The requests that make a record.
    fn record(&mut self, record: &[(usize, Meta)], address: u64) -> Vec<BridgeEvent> {
        record.iter().map(|(port, meta)| self.holder_asks(*port, M2sReqOpcode::MemRd, address, *meta)).collect()
    }

    /// Makes a record, does something, and then the last holder takes the line from all that have it.
    fn at_record(
        &mut self,
        what: String,
        record: &[(usize, Meta)],
        event: BridgeEvent,
        last: usize,
        mut peer: Cluster,
    ) {
        let mut events = self.record(record, FROM + PLACE);
        events.push(event);
        events.push(self.holder_asks(last, M2sReqOpcode::MemRd, FROM + PLACE, OWNS));
        self.one_by_one(what, events, &mut peer);
    }
}

/// Enables of a write of a part.
fn enables(opcode: M2sRwdOpcode) -> u64 {
    if opcode == M2sRwdOpcode::MemWrPtl { 0xff_0f00_00ff_fff7 } else { WHOLE_LINE }
}

/// Every message that stands in a row, of holder 0, at every record.
fn rows(writer: &mut CaseWriter, holders: usize) {
    let at = FROM + PLACE;
    for (record, asked) in RECORDS.iter().filter(|(_, asked)| asked.iter().all(|(port, _)| *port < holders)) {
        for (mood, of) in MOODS.into_iter().filter(|(_, of)| !asked.is_empty() || *of == HolderMood::Clean) {
            for (opcode, meta) in REQUESTS {
                let event = writer.holder_asks(0, opcode, at, meta);
                let what = format!("{opcode:?} {:?}/{:?} of 0, {record}, {mood}", meta.1, meta.2);
                writer.at_record(what, asked, event, holders - 1, good(of));
            }
            for meta in WRITES {
                for opcode in [M2sRwdOpcode::MemWr, M2sRwdOpcode::MemWrPtl] {
                    let event = writer.holder_writes(0, opcode, at, (meta, enables(opcode)));
                    let what = format!("{opcode:?} {:?}/{:?} of 0, {record}, {mood}", meta.1, meta.2);
                    writer.at_record(what, asked, event, holders - 1, good(of));
                }
            }
        }
    }
}

/// Every opcode with every SnpType and every MetaField that is not reserved, where another one owns the line. A conflict without a snoop is none
/// of the table.
fn others(writer: &mut CaseWriter) {
    let (record, asked) = RECORDS[2];
    for opcode in 0..16u8 {
        for meta_field in [MetaField::Meta0State, MetaField::EMS, MetaField::NoOp] {
            for snp in 0..8 {
                let (field, of) = (meta_field.0, (meta_field, MetaValue(opcode % 4), SnpType(snp)));
                let event = writer.holder_asks(0, M2sReqOpcode(opcode), FROM + PLACE, of);
                let what = format!("M2S Req {opcode}, MetaField {field}, SnpType {snp}, {record}");
                writer.at_record(what, asked, event, 2, good(HolderMood::Dirty));
                let opcode = M2sRwdOpcode(opcode);
                if of.0 == MetaField::EMS || opcode == M2sRwdOpcode::BIConflict {
                    continue;
                }
                let event = writer.holder_writes(0, opcode, FROM + PLACE, (of, enables(opcode)));
                let what = format!("M2S RwD {}, MetaField {field}, SnpType {snp}, {record}", opcode.0);
                writer.at_record(what, asked, event, 2, good(HolderMood::Dirty));
            }
        }
    }
    for address in [FROM - 64, FROM, FROM + 0x100, FROM + (16 << 20) - 64, FROM + (16 << 20)] {
        let read = writer.holder_asks(1, M2sReqOpcode::MemRd, address, OWNS);
        let write = writer.holder_writes(1, M2sRwdOpcode::MemWr, address, (WRITES[0], WHOLE_LINE));
        writer.one_by_one(
            format!("a read and a write at {address:#x}"),
            vec![read, write],
            &mut good(HolderMood::Clean),
        );
    }
}

/// Every status of an accelerator under a read, under a write back and behind it.
fn statuses(writer: &mut CaseWriter) {
    for status in 0..16 {
        let mut events = writer.record(&[(1, OWNS)], FROM + PLACE);
        for (opcode, meta) in [(M2sRwdOpcode::MemWrPtl, WRITES[0]), (M2sRwdOpcode::MemWr, WRITES[0])] {
            events.push(writer.holder_writes(1, opcode, FROM + PLACE, (meta, enables(opcode))));
            events.push(writer.holder_asks(1, M2sReqOpcode::MemRd, FROM + PLACE, no_meta(SnpType::NoOp)));
        }
        events.push(writer.holder_asks(0, M2sReqOpcode::MemRd, FROM + PLACE, SHARES));
        let mut peer = Cluster::of(HolderMood::Dirty, PeerAccelerator::with_status(status));
        writer.one_by_one(format!("status {status}"), events, &mut peer);
    }
    let read = writer.holder_asks(0, M2sReqOpcode::MemRd, FROM + PLACE, OWNS);
    let mut peer = Cluster::of(HolderMood::Clean, PeerAccelerator::poisoned());
    writer.one_by_one("what is read is poisoned".to_owned(), vec![read], &mut peer);
}

/// Requests for one line, and for two, that are there together.
fn together(writer: &mut CaseWriter) {
    for (name, distance) in [("one line", 0), ("two lines", 64), ("two blocks", 256)] {
        for (first, second) in [(OWNS, OWNS), (SHARES, SHARES), (SHARES, OWNS), (OWNS, SHARES)] {
            let before = writer.record(&[(2, OWNS)], FROM + PLACE);
            let a = writer.holder_asks(0, M2sReqOpcode::MemRd, FROM + PLACE, first);
            let b = writer.holder_asks(1, M2sReqOpcode::MemRd, FROM + PLACE + distance, second);
            let what = format!("{:?} of 0 and {:?} of 1 together: {name}", first.1, second.1);
            writer.events(what, vec![before, vec![a, b]], &mut good(HolderMood::Dirty));
        }
    }
    for meta in [OWNS, SHARES] {
        // Host 1 has dropped the line and asks for it again, so the snoop meets that request.
        let before = writer.record(&[(1, OWNS)], FROM + PLACE);
        let a = writer.holder_asks(0, M2sReqOpcode::MemRd, FROM + PLACE, OWNS);
        let b = writer.holder_asks(1, M2sReqOpcode::MemRd, FROM + PLACE, meta);
        let what = format!("a snoop in conflict with {:?} of 1", meta.1);
        writer.events(what, vec![before, vec![a, b]], &mut good(HolderMood::Silent));
    }
}

// ---- the hairpin -----------------------------------------------------------------------------------------------------

/// Accesses at every record, and what the accelerator answers.
fn at_records(writer: &mut CaseWriter, accesses: &dyn Fn(&mut CaseWriter) -> Vec<(String, BridgeMessage)>) {
    for (record, asked) in RECORDS {
        for (mood, of) in MOODS.into_iter().filter(|(_, of)| !asked.is_empty() || *of == HolderMood::Clean) {
            for (name, message) in accesses(writer) {
                let what = format!("{name}, {record}, {mood}");
                writer.at_hairpin(what, asked, vec![asks(0, message)], good(of));
            }
        }
    }
    for status in 0..16 {
        for (name, message) in accesses(writer) {
            let peer = Cluster::of(HolderMood::Clean, PeerAccelerator::with_status(status));
            let what = format!("{name}, status {status}");
            writer.at_hairpin(what, &[(1, SHARES)], vec![asks(0, message)], peer);
        }
    }
    for (name, message) in accesses(writer) {
        let peer = Cluster::of(HolderMood::Clean, PeerAccelerator::poisoned());
        writer.at_hairpin(format!("{name}, poisoned memory"), &[], vec![asks(0, message)], peer);
    }
    // What is there together: two accesses of one source and of two, and a holder that wants the line.
    for (a, first) in accesses(writer) {
        for (b, second) in accesses(writer) {
            let events = vec![asks(0, first.clone()), asks(0, second)];
            let before = writer.record_at_hairpin(&[(1, OWNS)]);
            writer.events(format!("{a} and {b} together"), vec![before, events], &mut good(HolderMood::Dirty));
        }
        let holder = writer.holder_asks(1, M2sReqOpcode::MemRd, HAIRPIN + PLACE, OWNS);
        let behind = writer.holder_asks(2, M2sReqOpcode::MemRd, HAIRPIN + PLACE, SHARES);
        let what = format!("{a} together with holders that want the line");
        let rounds = vec![vec![asks(0, first), holder, behind]];
        writer.events(what, rounds, &mut good(HolderMood::Dirty));
    }
}

impl CaseWriter {
    fn record_at_hairpin(&mut self, record: &[(usize, Meta)]) -> Vec<BridgeEvent> {
        self.record(record, HAIRPIN + PLACE)
    }

    /// Makes a record of the line of the hairpin, does something, and then holder 2 takes the line from all that have it.
    fn at_hairpin(&mut self, what: String, record: &[(usize, Meta)], asked: Vec<BridgeEvent>, mut peer: Cluster) {
        let mut events = self.record_at_hairpin(record);
        events.extend(asked);
        events.push(self.holder_asks(2, M2sReqOpcode::MemRd, HAIRPIN + PLACE, OWNS));
        self.one_by_one(what, events, &mut peer);
    }
}

fn of_ualink(writer: &mut CaseWriter) {
    let accesses = |writer: &mut CaseWriter| {
        let mut made = Vec::new();
        for (name, cmd, offset, dwords, poisoned) in [
            ("read", ReqCmd::Read, 0, 16, 0),
            ("read of three lines", ReqCmd::Read, 4, 44, 0),
            ("write full", ReqCmd::WriteFull, 0, 16, 0),
            ("write part", ReqCmd::WriteFull, 8, 3, 0),
            ("poisoned write", ReqCmd::WriteFull, 0, 16, 1),
            ("AtomicR", ReqCmd::AtomicR, 16, 4, 0),
            ("AtomicNR", ReqCmd::AtomicNR, 16, 4, 0),
        ] {
            let asked = Asked { attr: 1 << 2, ..Asked::of(cmd, BASE + PLACE + offset, dwords) };
            made.push((name.to_owned(), asked.message(&mut writer.rng, None, poisoned)));
        }
        made
    };
    at_records(writer, &accesses);
    for (offset, dwords) in [(0, 64), (0x38, 20), (0xf8, 3), (0xfc, 1), (60, 2)] {
        for cmd in [ReqCmd::Read, ReqCmd::WriteFull, ReqCmd::Write] {
            for n in 0..if cmd == ReqCmd::Write { 6 } else { 1 } {
                let enables = shape(n, &mut writer.rng);
                let asked = Asked::of(cmd, BASE + 0x2100 + offset, dwords);
                let message = asked.message(&mut writer.rng, Some(enables), 0);
                let what = format!("command {:#04x} of {dwords} DW at {offset:#x}, enables {n}", cmd.0);
                writer.at_hairpin(what, &[(1, OWNS)], vec![asks(0, message)], good(HolderMood::Dirty));
            }
        }
    }
    for cmd in [ReqCmd::AtomicR, ReqCmd::AtomicNR] {
        for op in 0..32u8 {
            for size in 0..4u8 {
                for (offset, dwords, n) in [(8, 2, 0), (16, 4, 1), (0, 16, 4), (60, 2, 0)] {
                    let attr = (op & 15) << 4 | op >> 4 | size << 2;
                    let asked = Asked { attr, ..Asked::of(cmd, BASE + PLACE + offset, dwords) };
                    let enables = element_or_shape(n, op, size, PLACE + offset, &mut writer.rng);
                    let message = asked.message(&mut writer.rng, Some(enables), 0);
                    let what = format!("command {:#04x}, operation {op}, size {size} at {offset:#x}", cmd.0);
                    writer.at_hairpin(what, &[], vec![asks(0, message)], good(HolderMood::Clean));
                }
            }
        }
    }
    for cmd in [ReqCmd::Read, ReqCmd::WriteFull, ReqCmd::AtomicR, ReqCmd(0x2f), ReqCmd(0x3d)] {
        for address in [BASE - 64, BASE, BASE + HAIRPIN_BYTES - 64, BASE + HAIRPIN_BYTES] {
            let asked = Asked { attr: 1 << 2, ..Asked::of(cmd, address, 16) };
            let message = asked.message(&mut writer.rng, None, 0);
            writer.case(format!("command {:#04x} to {address:#x}", cmd.0), &[message], &mut good(HolderMood::Clean));
        }
        for (source, rights) in LIMITED {
            let asked = Asked { attr: 1 << 2, source, vchan: 2, ..Asked::of(cmd, BASE + PLACE, 16) };
            let message = asked.message(&mut writer.rng, None, 0);
            let what = format!("command {:#04x} in channel 2 with rights `{rights}`", cmd.0);
            writer.case(what, &[message], &mut good(HolderMood::Clean));
        }
    }
}

fn of_nvlink(writer: &mut CaseWriter) {
    let accesses = |writer: &mut CaseWriter| {
        let mut made = Vec::new();
        for (name, op, first, units, be, ep) in [
            ("READ", Op::READ, 0, 4, None, false),
            ("READ of two lines", Op::READ, 3, 5, None, false),
            ("WRITE_NONPOSTED", Op::WRITE_NONPOSTED, 0, 4, None, false),
            ("WRITE_POSTED", Op::WRITE_POSTED, 0, 4, None, false),
            ("WRITE_NONPOSTED of a part", Op::WRITE_NONPOSTED, 1, 1, Some(0x0ff7), false),
            ("poisoned WRITE_NONPOSTED", Op::WRITE_NONPOSTED, 0, 4, None, true),
            ("ATOMIC_RETURN", Op::ATOMIC_RETURN, 1, 2, Some(0xffff), false),
            ("ATOMIC_POSTED", Op::ATOMIC_POSTED, 1, 2, Some(0xffff), false),
        ] {
            let asked = with_atomic(op, packet(op, BASE + PLACE + 16 * first, units, &mut writer.rng));
            made.push((name.to_owned(), nvlink::message(NvlMessage { be, ep, ..asked })));
        }
        made
    };
    at_records(writer, &accesses);
    for op in [Op::ATOMIC_RETURN, Op::ATOMIC_POSTED] {
        for code in 0..16u8 {
            for size in 0..4u8 {
                let bytes = [4, 8, 2, 1][usize::from(size)];
                let one = (1u128 << bytes) - 1;
                for (n, be) in [Some(one), Some(u128::MAX), Some(one >> 1), Some(0), None].into_iter().enumerate() {
                    let asked = packet(op, BASE + PLACE + 16, 3, &mut writer.rng);
                    let message = nvlink::message(NvlMessage { attr: code | size << 4, be, ..asked });
                    let what = format!("operation {}, atomic {code}, size {size}, enables {n}", op.0);
                    writer.at_hairpin(what, &[], vec![asks(0, message)], good(HolderMood::Clean));
                }
            }
        }
    }
    for op in [Op::READ, Op::WRITE_POSTED, Op::WRITE_NONPOSTED, Op::ATOMIC_RETURN, Op::REDUCE_READ] {
        for address in [BASE - 64, BASE, BASE + HAIRPIN_BYTES - 64, BASE + HAIRPIN_BYTES] {
            let asked = with_atomic(op, packet(op, address, 4, &mut writer.rng));
            let what = format!("operation {} to {address:#x}", op.0);
            writer.case(what, &[nvlink::message(asked)], &mut good(HolderMood::Clean));
        }
        for (rid, rights) in LIMITED {
            let asked = with_atomic(op, packet(op, BASE + PLACE, 4, &mut writer.rng));
            let what = format!("operation {} with rights `{rights}`", op.0);
            writer.case(what, &[nvlink::message(NvlMessage { rid, ..asked })], &mut good(HolderMood::Clean));
        }
    }
    for (name, first) in [("good", BASE + PLACE), ("nowhere", BASE - 256)] {
        let posted = packet(Op::WRITE_POSTED, first, 4, &mut writer.rng);
        let flush = NvlMessage { address: 1 << 4, size: 0, ..packet(Op::FLUSH, 0, 1, &mut writer.rng) };
        let asked = [posted, flush.clone(), flush].map(nvlink::message);
        writer.rounds(format!("a posted write and two flushes: {name}"), &[&asked], &mut good(HolderMood::Clean));
    }
}
