//! From CXL to accelerators: every message against the oracle, status, poison, locks, time-outs (`bridge` §5.2, §6.4, §7, §8.2).

use scalepool::bridge::flows::LineOperation;
use scalepool::bridge::inbound::nvlink::{spelled, understood};
use scalepool::bridge::inbound::poison::MOST_LOST;
use scalepool::bridge::inbound::table::InboundSource;
use scalepool::bridge::inbound::ualink::{upli_spelled, upli_understood};
use scalepool::bridge::inbound::{AcceleratorAccess, InboundBridge, InboundConfig, InboundOutput, InboundStep};
use scalepool::bridge::window::{AccessRights, BridgeWindow, BridgeWindows, GROUPS, InboundClass, WindowLimits};
use scalepool::coherence::content::{CacheLine, LineAddr, LineContent};
use scalepool::coherence::message::Msg;
use scalepool::memory::decoder::{Arithmetic, Decoders, GRANULARITIES, Interleave, Window};
use scalepool::ordered::OrderedMap;
use scalepool_oracle::bridge::{InboundConversion, inbound, status_loses_write, status_of_read};
use scalepool_protocols::cxl::cxl256::code::{
    DrsOpcode, M2sReqOpcode, M2sRwdOpcode, MetaField, MetaValue, NdrOpcode, SnpType,
};
use scalepool_protocols::nvlink::{NvlConfig, Op};
use scalepool_protocols::ualink::code::{RdWr, ReqCmd, Status};
use scalepool_protocols::ualink::control::ControlField;
use scalepool_protocols::ualink::field::TlRsp;
use scalepool_protocols::ualink::pack::with_data;

/// First CXL address of the window.
pub(super) const FROM: u64 = 0x4000_0000;
/// First address in the memory of accelerators.
pub(super) const TO: u64 = 0x1_0000_0000;
pub(super) const SIZE: u64 = 16 << 20;
/// A source that has a group of its own.
const SOURCE: u16 = 9;

pub(super) fn window() -> BridgeWindow<InboundClass> {
    let rights = [AccessRights::ALL; GROUPS];
    let class = InboundClass::Nh;
    BridgeWindow { base: FROM, size: SIZE, out_base: TO, class, ports: vec![0, 1, 2, 3], granule: 256, rights }
}

pub(super) fn config(windows: Vec<BridgeWindow<InboundClass>>, entries: usize) -> InboundConfig {
    let groups = OrderedMap::from([(SOURCE, 5)]);
    let windows = BridgeWindows::within(WindowLimits::INBOUND_NVLINK, windows, groups, 4).expect("windows");
    InboundConfig { windows, decoders: vec![None; 2], entries, cache: None }
}

/// An inbound half in front of accelerators that answer when they are told to.
pub(super) struct Bench {
    pub bridge: InboundBridge,
    pub out: InboundOutput,
    /// Lines by accelerator and address; others are zero.
    pub memory: OrderedMap<(u16, u64), CacheLine>,
    /// Accesses that have left, with their tags.
    pub sent: Vec<(u16, AcceleratorAccess)>,
    /// Those of them that are not answered.
    pub open: Vec<(u16, AcceleratorAccess)>,
    /// Answers to CXL, with their ports.
    pub answers: Vec<(usize, Msg<CacheLine>)>,
    pub findings: Vec<&'static str>,
    /// Entries that have begun to wait.
    pub waiting: Vec<u16>,
    /// Last advance of each entry.
    pub advances: OrderedMap<u16, u64>,
}

impl Bench {
    pub fn new(config: InboundConfig) -> Bench {
        Bench {
            bridge: InboundBridge::new(config),
            out: InboundOutput::default(),
            memory: OrderedMap::new(),
            sent: Vec::new(),
            open: Vec::new(),
            answers: Vec::new(),
            findings: Vec::new(),
            waiting: Vec::new(),
            advances: OrderedMap::new(),
        }
    }

    pub fn plain() -> Bench {
        Bench::new(config(vec![window()], 256))
    }

    pub fn collect(&mut self) {
        self.findings.extend(self.out.findings.drain(..).map(|finding| finding.rule));
        for step in std::mem::take(&mut self.out.steps) {
            match step {
                InboundStep::Send(entry) => {
                    let access = self.bridge.access(entry).expect("an access");
                    self.bridge.sent(entry, &mut self.out);
                    self.sent.push((entry, access));
                    self.open.push((entry, access));
                }
                InboundStep::AccessCache(entry) => self.bridge.cache_accessed(entry, &mut self.out),
                InboundStep::Respond(entry) => {
                    let (source, answer) = self.bridge.answer(entry).expect("an answer");
                    self.answers.push((source.port, answer));
                    self.bridge.left(entry);
                }
                InboundStep::Drop(entry) => self.bridge.left(entry),
                InboundStep::Waits { entry, .. } => self.waiting.push(entry),
                InboundStep::Advanced { entry, advances } => {
                    self.advances.insert(entry, advances);
                }
                InboundStep::GoesOn(_) => (),
            }
        }
        if !self.out.steps.is_empty() {
            self.collect();
        }
    }

    /// A message of a source at a port; its entry.
    pub fn ask_of(&mut self, source: InboundSource, msg: Msg<CacheLine>) -> u16 {
        let entry = self.bridge.admit(source, msg, &mut self.out).expect("room");
        self.bridge.start(entry, &mut self.out);
        self.collect();
        entry
    }

    pub fn ask(&mut self, msg: Msg<CacheLine>) -> u16 {
        self.ask_of(InboundSource::default(), msg)
    }

    /// The access at a place of the open ones is done and ends with a status.
    pub fn answer(&mut self, place: usize, status: Status) {
        let (tag, access) = self.open.remove(place);
        let at = (access.target, access.line.address());
        let own = self.memory.entry(at).or_insert(CacheLine::of([0; 64]));
        let is_read = access.operation == LineOperation::Read;
        if !is_read && status == Status::OKAY {
            own.merge(&access.data, access.mask);
        }
        let read = (is_read && status == Status::OKAY).then_some(*own);
        self.bridge.receive(tag, status, read.as_slice(), &mut self.out);
        self.collect();
    }

    /// One message, with an access that ends with a status, if there is one; its answer.
    pub fn whole(&mut self, msg: Msg<CacheLine>, status: Status) -> Option<Msg<CacheLine>> {
        let before = self.answers.len();
        self.ask(msg);
        while !self.open.is_empty() {
            self.answer(0, status);
        }
        self.answers.get(before).map(|(_, answer)| *answer)
    }
}

fn req(opcode: M2sReqOpcode, meta_field: MetaField, snp: SnpType, address: u64) -> Msg<CacheLine> {
    let line = LineAddr::of_address(address);
    Msg::M2sReq { opcode, snp, meta_field, meta: MetaValue::Any, line, tag: 0x77 }
}

pub(super) fn rwd(
    opcode: M2sRwdOpcode,
    field: MetaField,
    snp: SnpType,
    address: u64,
    (data, enables): (CacheLine, u64),
) -> Msg<CacheLine> {
    let line = LineAddr::of_address(address);
    Msg::M2sRwd { opcode, snp, meta_field: field, meta: MetaValue::Any, line, tag: 0x78, data, enables }
}

pub(super) fn read(address: u64) -> Msg<CacheLine> {
    req(M2sReqOpcode::MemRd, MetaField::NoOp, SnpType::NoOp, address)
}

pub(super) fn write(address: u64, value: u8) -> Msg<CacheLine> {
    rwd(M2sRwdOpcode::MemWr, MetaField::Meta0State, SnpType::NoOp, address, (CacheLine::of([value; 64]), u64::MAX))
}

pub(super) fn write_part(address: u64, value: u8, enables: u64) -> Msg<CacheLine> {
    rwd(M2sRwdOpcode::MemWrPtl, MetaField::Meta0State, SnpType::NoOp, address, (CacheLine::of([value; 64]), enables))
}

/// The opcode, the data and the tag of a DRS.
pub(super) fn data(answer: Option<Msg<CacheLine>>) -> (DrsOpcode, CacheLine) {
    match answer {
        Some(Msg::S2mDrs { opcode, data, .. }) => (opcode, data),
        other => panic!("{other:?}"),
    }
}

pub(super) fn is_cmp(answer: Option<Msg<CacheLine>>) -> bool {
    matches!(answer, Some(Msg::S2mNdr { opcode: NdrOpcode::Cmp, .. }))
}

/// What the bridge makes of a message, in the words of the oracle.
fn converted(msg: Msg<CacheLine>) -> InboundConversion {
    let mut bench = Bench::plain();
    let answer = bench.whole(msg, Status::OKAY);
    assert_eq!(bench.bridge.open(), 0);
    let access = bench.sent.first().map(|(_, access)| match access.operation {
        LineOperation::Read => "Read",
        LineOperation::WriteFull => "WriteFull",
        LineOperation::WritePart => "Write",
        LineOperation::Atomic => "Atomic",
    });
    assert!(bench.sent.len() <= 1 && bench.answers.len() <= 1);
    let answer = answer.map(|answer| match answer {
        Msg::S2mDrs { meta_field: MetaField::NoOp, tag: 0x77 | 0x78, .. } => "DRS",
        Msg::S2mNdr { opcode: NdrOpcode::Cmp, meta_field: MetaField::NoOp, tag: 0x77 | 0x78, .. } => "Cmp",
        other => panic!("{other:?}"),
    });
    InboundConversion { access, answer, is_legal: bench.findings.is_empty() }
}

const FIELDS: [(MetaField, &str); 3] =
    [(MetaField::Meta0State, "Meta0"), (MetaField::EMS, "EMS"), (MetaField::NoOp, "NoOp")];
const SNOOPS: [(SnpType, &str); 4] =
    [(SnpType::NoOp, "NoOp"), (SnpType::SnpData, "SnpData"), (SnpType::SnpCur, "SnpCur"), (SnpType::SnpInv, "SnpInv")];

/// All messages whose opcode is one of these, or all if there are none.
fn walk(only: &[&str]) -> usize {
    let mut count = 0;
    let mut holds = |name: &str, msg: Msg<CacheLine>, (field, snoop): (&str, &str)| {
        if only.is_empty() || only.contains(&name) {
            assert_eq!(converted(msg), inbound(name, field, snoop), "{name} {field}/{snoop}");
            count += 1;
        }
    };
    for (field, field_name) in FIELDS {
        for (snoop, snoop_name) in SNOOPS {
            for code in 0..16 {
                let opcode = M2sReqOpcode(code);
                let msg = req(opcode, field, snoop, FROM + 0x1_0040);
                holds(opcode.name().unwrap_or("reserved"), msg, (field_name, snoop_name));
                let opcode = M2sRwdOpcode(code);
                let msg = rwd(opcode, field, snoop, FROM + 0x1_0040, (CacheLine::of([5; 64]), 0xff0));
                holds(opcode.name().unwrap_or("reserved"), msg, (field_name, snoop_name));
            }
        }
    }
    count
}

#[test]
fn brg_map_55_p() {
    assert_eq!(walk(&["MemRd", "MemRdData"]), 3 * 8);
    let mut bench = Bench::plain();
    bench.memory.insert((1, TO + 0x100), CacheLine::of([9; 64]));
    assert_eq!(data(bench.whole(read(FROM + 0x100), Status::OKAY)), (DrsOpcode::MemData, CacheLine::of([9; 64])));
    let (_, access) = bench.sent[0];
    assert_eq!((access.target, access.line.address()), (1, TO + 0x100), "the second granule, the address as it is");
}

/// A read changes nothing, and one that was refused asks nobody.
#[test]
fn brg_map_55_n() {
    let mut bench = Bench::plain();
    bench.memory.insert((0, TO), CacheLine::of([9; 64]));
    data(bench.whole(read(FROM), Status::OKAY));
    assert_eq!(bench.memory[&(0, TO)], CacheLine::of([9; 64]));
    let refused = bench.whole(req(M2sReqOpcode::MemRd, MetaField::NoOp, SnpType::SnpInv, FROM), Status::OKAY);
    assert_eq!((data(refused), bench.sent.len()), ((DrsOpcode::MemData, CacheLine::ones().poisoned(true)), 1));
    assert_eq!(bench.findings, ["COH-MEM-29"]);
}

#[test]
fn brg_map_56_p() {
    assert_eq!(walk(&["MemWr", "MemWrPtl"]), 3 * 8);
    let mut bench = Bench::plain();
    assert!(is_cmp(bench.whole(write(FROM + 64, 7), Status::OKAY)));
    assert!(is_cmp(bench.whole(write_part(FROM + 64, 8, 0b110), Status::OKAY)));
    let line = bench.memory[&(0, TO + 64)].bytes;
    assert_eq!(line[..4], [7, 8, 8, 7], "bytes that are enabled and no others");
    assert_eq!(bench.sent[0].1.operation, LineOperation::WriteFull);
}

/// A write that no row has is answered and has no effect; one without a byte asks nobody.
#[test]
fn brg_map_56_n() {
    let mut bench = Bench::plain();
    let whole = (CacheLine::of([7; 64]), u64::MAX);
    let refused = rwd(M2sRwdOpcode::MemWr, MetaField::NoOp, SnpType::NoOp, FROM, whole);
    assert!(is_cmp(bench.whole(refused, Status::OKAY)));
    assert!(is_cmp(bench.whole(write_part(FROM, 8, 0), Status::OKAY)));
    assert_eq!((bench.sent.len(), bench.findings.as_slice()), (0, &["COH-MEM-33"][..]));
    assert_eq!(data(bench.whole(read(FROM), Status::OKAY)).1, CacheLine::of([0; 64]));
}

#[test]
fn brg_map_57_p() {
    assert_eq!(walk(&["MemInv", "MemInvNT"]), 3 * 8);
}

/// An access for it would be seen.
#[test]
fn brg_map_57_n() {
    let invalidated = converted(req(M2sReqOpcode::MemInv, MetaField::NoOp, SnpType::NoOp, FROM));
    assert_eq!(invalidated.access, None);
    assert_ne!(converted(read(FROM)).access, None);
}

#[test]
fn brg_map_58_p() {
    assert_eq!(walk(&["MemSpecRd", "MemRdFill"]), 3 * 8);
    assert_eq!(walk(&[]), 16 * 3 * 8, "and every other code");
}

/// A hint that breaks a rule is told of and not answered either.
#[test]
fn brg_map_58_n() {
    let hint = converted(req(M2sReqOpcode::MemSpecRd, MetaField::NoOp, SnpType::SnpInv, FROM));
    assert_eq!(hint, InboundConversion { access: None, answer: None, is_legal: false });
}

/// One table cell that differs is seen, whichever it is.
#[test]
fn a_changed_cell_of_the_inbound_table_is_seen() {
    let is = converted(write(FROM, 1));
    let want = inbound("MemWr", "Meta0", "NoOp");
    assert_eq!(is, want);
    for spoilt in [
        InboundConversion { access: Some("Write"), ..want.clone() },
        InboundConversion { answer: Some("DRS"), ..want.clone() },
        InboundConversion { is_legal: false, ..want },
    ] {
        assert_ne!(is, spoilt);
    }
}

fn access(operation: LineOperation, mask: u64, poison: bool) -> AcceleratorAccess {
    let data = CacheLine { bytes: std::array::from_fn(|n| n as u8), poison };
    let line = LineAddr::of_address(TO + 0x40);
    AcceleratorAccess { target: 3, line, lines: 1, operation, atomic: None, data, mask, vchan: 0 }
}

#[test]
fn brg_map_64_p() {
    let codec = NvlConfig::default();
    let read = spelled(6, 17, &access(LineOperation::Read, 0, false), &codec);
    assert_eq!((read.op, read.size, read.rid, read.tag, read.data.len()), (Op::READ, 3, 6, 17, 0));
    assert_eq!(read.address, 3 << 36 | (TO + 0x40));
    let full = spelled(6, 17, &access(LineOperation::WriteFull, u64::MAX, false), &codec);
    assert_eq!((full.op, full.be, full.data.len(), full.ep), (Op::WRITE_NONPOSTED, None, 64, false));
    let part = spelled(6, 17, &access(LineOperation::WritePart, 0xf0, true), &codec);
    assert_eq!((part.op, part.be, part.data[63], part.ep), (Op::WRITE_NONPOSTED, Some(0xf0), 63, true));
}

/// UALink: in the name of the bridge, one beat, enables by block, poison of the beat.
#[test]
fn accesses_are_spelled_for_ualink() {
    let of = |operation, mask, poison| {
        let transfer = upli_spelled(6, 17, &access(operation, mask, poison));
        let ControlField::Request(req) = transfer.field else { panic!("{transfer:?}") };
        (req, transfer)
    };
    let (req, read) = of(LineOperation::Read, 0, false);
    assert_eq!((req.cmd, req.src, req.dst, req.tag, req.len, read.data.len()), (ReqCmd::Read, 6, 3, 17, 15, 0));
    assert_eq!(req.address, TO + 0x40);
    let (req, full) = of(LineOperation::WriteFull, u64::MAX, false);
    assert_eq!((req.cmd, full.data.len(), full.poisoned, full.enables), (ReqCmd::WriteFull, 2, 0, None));
    let (req, part) = of(LineOperation::WritePart, 0xf0, true);
    let enables = part.enables.expect("enables");
    assert_eq!((req.cmd, part.poisoned, enables[8], enables[9], enables[0]), (ReqCmd::Write, 1, 0xf0, 0, 0));
    // Answers: of the right channel, with data if it is a read; a failed one brings none.
    let response = |rdwr, status, data: &[[u8; 64]]| {
        let rsp = TlRsp { rdwr, status, dst: 6, src: 3, tag: 17, ..TlRsp::default() };
        with_data(ControlField::Response(rsp), data, None)
    };
    let good = upli_understood(true, &response(RdWr::Read, Status::OKAY, &[[4; 64]]));
    assert_eq!(good, Ok((Status::OKAY, vec![CacheLine::of([4; 64])])));
    let failed = upli_understood(true, &response(RdWr::Read, Status::TargetAbort, &[[0xff; 64]]));
    assert_eq!(failed, Ok((Status::TargetAbort, Vec::new())));
    assert!(upli_understood(true, &response(RdWr::Read, Status::OKAY, &[])).is_err());
    assert!(upli_understood(false, &response(RdWr::Read, Status::OKAY, &[])).is_err());
}

/// Answers of another form are not taken for one.
#[test]
fn brg_map_64_n() {
    let codec = NvlConfig::default();
    let of = |op| scalepool::link::nvlink::NvlMessage::new(op, &codec);
    let short = scalepool::link::nvlink::NvlMessage { data: vec![0; 48], ..of(Op::RSP_DATA) };
    assert!(understood(&short).is_err() && understood(&of(Op::WRITE_POSTED)).is_err());
    let error = scalepool::link::nvlink::NvlMessage { size: 3, ..of(Op::RSP_ERROR) };
    assert_eq!(understood(&error), Ok((Status::DecodeError, Vec::new())));
    assert_eq!(understood(&of(Op::RSP_ERROR)), Ok((Status::TargetAbort, Vec::new())), "an error without a code is one");
    let mut bench = Bench::plain();
    bench.ask(read(FROM));
    bench.bridge.receive(200, Status::OKAY, &[], &mut bench.out);
    bench.collect();
    assert_eq!(bench.findings, ["BRG-TAG-02"]);
}

/// Outside of all windows, beyond the addresses of a GPU, without the right: by status 3 and 6, and nobody is asked.
#[test]
fn windows_and_rights_are_looked_at_first() {
    let mut rights = [AccessRights::ALL; GROUPS];
    rights[5] = AccessRights { read: false, write: false, atomic: false };
    let far = BridgeWindow { base: FROM + SIZE, out_base: (1 << 36) - (2 << 20), size: 4 << 20, rights, ..window() };
    let mut bench = Bench::new(config(vec![BridgeWindow { rights, ..window() }, far], 16));
    for address in [FROM - 64, FROM + SIZE + (2 << 20)] {
        assert_eq!(data(bench.whole(read(address), Status::OKAY)), (DrsOpcode::MemDataNXM, CacheLine::ones()));
        assert!(is_cmp(bench.whole(write(address, 1), Status::OKAY)));
    }
    let source = InboundSource { id: SOURCE, ..InboundSource::default() };
    bench.ask_of(source, read(FROM));
    // Of two faults the one that is looked for first is told: rights, then legality.
    bench.ask_of(source, req(M2sReqOpcode::MemRd, MetaField::NoOp, SnpType::SnpInv, FROM));
    for (_, answer) in &bench.answers[4..] {
        assert_eq!(data(Some(*answer)), (DrsOpcode::MemData, CacheLine::ones().poisoned(true)));
    }
    assert_eq!((bench.sent.len(), bench.findings.len(), bench.bridge.counts().refused), (0, 0, 6));
    // The last line of a GPU is one.
    data(bench.whole(read(FROM + SIZE + (2 << 20) - 64), Status::OKAY));
    assert_eq!(bench.sent.len(), 1);
}

/// Behind a window of the memory map addresses are those of the device.
#[test]
fn decoders_of_the_memory_map_come_first() {
    let mut decoders = Decoders::default();
    let interleave = Interleave::new(1, GRANULARITIES[0], Arithmetic::Modulo).expect("one way");
    decoders.push(Window { base: 1 << 40, size: 1 << 30, interleave });
    let plain = config(vec![BridgeWindow { base: 0, ..window() }], 16);
    let mut bench = Bench::new(InboundConfig { decoders: vec![Some(decoders)], ..plain });
    assert_eq!(data(bench.whole(read(0), Status::OKAY)).0, DrsOpcode::MemDataNXM);
    assert_eq!(data(bench.whole(read((1 << 40) + 0x80), Status::OKAY)).0, DrsOpcode::MemData);
    assert_eq!(bench.sent[0].1.line.address(), TO + 0x80);
}

/// A read and a write that end with a status, against the oracle.
fn ends_as_told(status: u8) {
    let mut bench = Bench::plain();
    bench.memory.insert((0, TO), CacheLine::of([9; 64]));
    let (opcode, poison, is_ones) = status_of_read(status);
    let line = if is_ones { CacheLine::ones() } else { CacheLine::of([9; 64]) };
    let (is, came) = data(bench.whole(read(FROM), Status(status)));
    assert_eq!((is.name(), came), (Some(opcode), line.poisoned(poison)), "{status}");
    assert!(is_cmp(bench.whole(write(FROM, 4), Status(status))), "{status}");
    let is_lost = status_loses_write(status);
    assert_eq!(bench.bridge.lost().len(), usize::from(is_lost), "{status}");
    assert_eq!(bench.bridge.counts().lost_writes, u64::from(is_lost), "{status}");
    assert_eq!(bench.bridge.counts().refused, u64::from(matches!(status, 3 | 6)), "{status}");
}

#[test]
fn brg_err_20_p() {
    ends_as_told(0);
}

/// A status that is not 0 does not end so.
#[test]
fn brg_err_20_n() {
    for status in 1..16 {
        let mut bench = Bench::plain();
        let (opcode, line) = data(bench.whole(read(FROM), Status(status)));
        assert!(opcode == DrsOpcode::MemDataNXM || line.poison, "{status}");
    }
}

#[test]
fn brg_err_21_p() {
    [2, 8, 15, 1, 4, 14].into_iter().for_each(ends_as_told);
}

/// The data of a read that failed are never those of memory.
#[test]
fn brg_err_21_n() {
    for status in [2, 8, 15] {
        let mut bench = Bench::plain();
        bench.memory.insert((0, TO), CacheLine::of([9; 64]));
        assert_ne!(data(bench.whole(read(FROM), Status(status))).1.bytes, [9; 64], "{status}");
    }
}

#[test]
fn brg_err_22_p() {
    ends_as_told(3);
}

/// It is no poison, and nothing is lost.
#[test]
fn brg_err_22_n() {
    let mut bench = Bench::plain();
    assert!(!data(bench.whole(read(FROM), Status::DecodeError)).1.poison);
    bench.whole(write(FROM, 1), Status::DecodeError);
    assert!(bench.bridge.lost().is_empty());
}

#[test]
fn brg_err_23_p() {
    ends_as_told(6);
}

/// Memory keeps the old value, which the next read gets.
#[test]
fn brg_err_23_n() {
    let mut bench = Bench::plain();
    bench.memory.insert((0, TO), CacheLine::of([9; 64]));
    bench.whole(write(FROM, 1), Status::ProtectionViolation);
    assert_eq!(data(bench.whole(read(FROM), Status::OKAY)).1, CacheLine::of([9; 64]));
}

#[test]
fn brg_err_24_p() {
    let mut bench = Bench::plain();
    bench.memory.insert((0, TO), CacheLine::of([9; 64]).poisoned(true));
    let poisoned = CacheLine::of([9; 64]).poisoned(true);
    assert_eq!(data(bench.whole(read(FROM), Status::OKAY)), (DrsOpcode::MemData, poisoned));
}

/// The line beside it is not poisoned.
#[test]
fn brg_err_24_n() {
    let mut bench = Bench::plain();
    bench.memory.insert((0, TO), CacheLine::of([9; 64]).poisoned(true));
    assert!(!data(bench.whole(read(FROM + 64), Status::OKAY)).1.poison);
}

#[test]
fn brg_err_30_p() {
    let mut bench = Bench::plain();
    bench.whole(write(FROM, 4), Status::TargetAbort);
    let sent = bench.sent.len();
    assert_eq!(data(bench.whole(read(FROM), Status::OKAY)).1, CacheLine::ones().poisoned(true));
    assert_eq!((bench.sent.len(), bench.bridge.counts().poisoned_reads), (sent, 1), "the accelerator is not asked");
    bench.whole(write(FROM, 5), Status::OKAY);
    assert_eq!(data(bench.whole(read(FROM), Status::OKAY)).1, CacheLine::of([5; 64]));
}

/// Without the list the old data would be read, as they are where the write was not lost.
#[test]
fn brg_err_30_n() {
    let mut bench = Bench::plain();
    bench.whole(write(FROM, 3), Status::OKAY);
    bench.whole(write(FROM, 4), Status::CompletionTimeout);
    assert_eq!(bench.memory[&(0, TO)], CacheLine::of([3; 64]), "this is what memory has");
    assert!(data(bench.whole(read(FROM), Status::OKAY)).1.poison);
    assert_eq!(data(bench.whole(read(FROM + 64), Status::OKAY)).1, CacheLine::of([0; 64]), "its neighbour is read");
}

/// A bridge that has lost so many writes at port 1.
fn lost(writes: usize) -> Bench {
    let mut bench = Bench::plain();
    for n in 0..writes as u64 {
        bench.ask_of(InboundSource { port: 1, ..InboundSource::default() }, write(FROM + 64 * n, 1));
        bench.answer(0, Status::TargetAbort);
    }
    bench
}

#[test]
fn brg_err_31_p() {
    let mut bench = lost(MOST_LOST + 1);
    assert_eq!((bench.bridge.counts().viral_ports, bench.bridge.lost().len()), (1, MOST_LOST));
    let sent = bench.sent.len();
    bench.ask_of(InboundSource { port: 1, ..InboundSource::default() }, read(FROM + SIZE - 64));
    let (port, answer) = bench.answers[bench.answers.len() - 1];
    assert_eq!(
        (port, data(Some(answer)).1.poison, bench.sent.len()),
        (1, true, sent),
        "nothing is read there any more"
    );
    assert!(!data(bench.whole(read(FROM + SIZE - 64), Status::OKAY)).1.poison, "the other port goes on");
}

/// As many as the list holds make no port viral.
#[test]
fn brg_err_31_n() {
    let bench = lost(MOST_LOST);
    assert_eq!((bench.bridge.counts().viral_ports, bench.bridge.counts().lost_writes), (0, MOST_LOST as u64));
}

#[test]
fn brg_err_32_p() {
    let mut bench = Bench::plain();
    bench.whole(write(FROM, 4), Status::TargetAbort);
    let sent = bench.sent.len();
    bench.whole(write_part(FROM, 5, 0xff), Status::OKAY);
    assert_eq!(bench.sent.len(), sent + 1, "the part is written");
    assert!(data(bench.whole(read(FROM), Status::OKAY)).1.poison);
}

/// A write of all bytes ends it, one with all enables of a part does not.
#[test]
fn brg_err_32_n() {
    let mut bench = Bench::plain();
    bench.whole(write(FROM, 4), Status::TargetAbort);
    bench.whole(write_part(FROM, 5, u64::MAX), Status::OKAY);
    assert!(data(bench.whole(read(FROM), Status::OKAY)).1.poison);
    bench.whole(write(FROM, 5), Status::OKAY);
    assert!(!data(bench.whole(read(FROM), Status::OKAY)).1.poison);
}

#[test]
fn brg_psn_05_p() {
    for poison in [true, false] {
        let line = (CacheLine::of([7; 64]).poisoned(poison), u64::MAX);
        let mut bench = Bench::plain();
        bench.whole(rwd(M2sRwdOpcode::MemWr, MetaField::Meta0State, SnpType::NoOp, FROM, line), Status::OKAY);
        let (tag, access) = bench.sent[0];
        assert_eq!(spelled(1, tag, &access, &NvlConfig::default()).ep, poison);
    }
}

/// A clean write is not marked, and a mark does not go to another line.
#[test]
fn brg_psn_05_n() {
    let mut bench = Bench::plain();
    let line = (CacheLine::of([7; 64]).poisoned(true), 0xf);
    bench.whole(rwd(M2sRwdOpcode::MemWrPtl, MetaField::Meta0State, SnpType::NoOp, FROM, line), Status::OKAY);
    bench.whole(write(FROM + 64, 1), Status::OKAY);
    let marks: Vec<bool> = bench.sent.iter().map(|(_, access)| access.data.poison).collect();
    assert_eq!(marks, [true, false]);
}

#[test]
fn brg_ord_06_p() {
    let mut bench = Bench::plain();
    for n in 0..4 {
        bench.ask(write(FROM + 64 * n, 1));
        bench.ask(read(FROM + 0x1000 + 64 * n));
    }
    assert_eq!((bench.open.len(), bench.waiting.len()), (8, 0), "other lines are free, of one block too");
}

/// Of one line they keep their order, and reads that join a read do not pass a write.
#[test]
fn brg_ord_06_n() {
    let mut bench = Bench::plain();
    bench.ask(read(FROM));
    bench.ask(read(FROM));
    bench.ask(write(FROM, 6));
    bench.ask(read(FROM));
    assert_eq!((bench.open.len(), bench.bridge.counts().joined), (1, 1));
    bench.answer(0, Status::OKAY);
    assert_eq!((bench.answers.len(), bench.open.len()), (2, 1), "both reads, then the write");
    bench.answer(0, Status::OKAY);
    bench.answer(0, Status::OKAY);
    assert_eq!(data(Some(bench.answers[3].1)).1, CacheLine::of([6; 64]));
}

#[test]
fn brg_spl_11_p() {
    let mut bench = Bench::plain();
    (0..4).for_each(|n| {
        bench.ask(read(FROM + 64 * n));
    });
    let lines: Vec<u64> = bench.sent.iter().map(|(_, access)| access.line.address()).collect();
    assert_eq!(lines, [TO, TO + 64, TO + 128, TO + 192]);
}

/// Reads that have left as one: sizes of both protocols, each line to its message, poison and status to all that they concern, and an
/// answer that is too short is none.
#[test]
fn lines_that_were_read_together_are_answered_each() {
    let (codec, of) =
        (NvlConfig::default(), |lines| AcceleratorAccess { lines, ..access(LineOperation::Read, 0, false) });
    for (lines, size, len) in [(1, 3, 15), (2, 7, 31), (4, 15, 63)] {
        assert_eq!(spelled(6, 17, &of(lines), &codec).size, size);
        let ControlField::Request(req) = upli_spelled(6, 17, &of(lines)).field else { panic!("a request") };
        assert_eq!(req.len, len);
    }
    let told = |status: Status, read: &[u8]| {
        let mut bench = Bench::plain();
        let all: Vec<u16> = (0..4).map(|n| bench.ask(read_of(n))).collect();
        bench.bridge.merge(all[0], all[1..].to_vec());
        assert_eq!((bench.bridge.access(all[0]).expect("an access").lines, bench.bridge.counts().merged), (4, 3));
        let read: Vec<CacheLine> = read.iter().map(|n| CacheLine { bytes: [*n; 64], poison: *n == 3 }).collect();
        bench.bridge.receive(all[0], status, &read, &mut bench.out);
        bench.collect();
        assert_eq!(bench.bridge.open(), 0);
        let data = |msg: &Msg<CacheLine>| match msg {
            Msg::S2mDrs { opcode, tag, data, .. } => (*tag, opcode.name().unwrap_or("?"), data.bytes[0], data.poison),
            other => panic!("{other:?}"),
        };
        (bench.answers.iter().map(|(_, msg)| data(msg)).collect::<Vec<_>>(), bench.findings)
    };
    let (answers, findings) = told(Status::OKAY, &[1, 2, 3, 4]);
    let lines = [(1, false), (2, false), (3, true), (4, false)];
    let want: Vec<_> = (0u16..).zip(lines).map(|(n, (byte, poison))| (n, "MemData", byte, poison)).collect();
    assert_eq!((answers, findings.len()), (want, 0));
    let (answers, _) = told(Status::DecodeError, &[]);
    assert_eq!(answers, (0..4).map(|n| (n, "MemDataNXM", 0xff, false)).collect::<Vec<_>>());
    let (answers, findings) = told(Status::OKAY, &[1, 2]);
    assert_eq!((findings, answers[3]), (vec!["BRG-MAP-64"], (3, "MemData", 0xff, true)));
}

/// A read of a line of the first block, with the tag of its number.
fn read_of(n: u16) -> Msg<CacheLine> {
    let mut msg = read(FROM + 64 * u64::from(n));
    if let Msg::M2sReq { tag, .. } = &mut msg {
        *tag = n;
    }
    msg
}

/// What a foreign read of an address says: opcode, first byte, accesses that have reached accelerators. The last line in front of what is exported
/// holds 7 and is private.
fn foreign_read(window: BridgeWindow<InboundClass>, address: u64) -> (DrsOpcode, u8, usize) {
    let mut bench = Bench::new(config(vec![window], 16));
    bench.memory.insert((0, TO - 64), CacheLine::of([7; 64]));
    // Its owner has copied it to the first line that is exported.
    bench.memory.insert((0, TO), bench.memory[&(0, TO - 64)]);
    bench.ask(read(address));
    let asked = bench.open.len();
    if asked > 0 {
        bench.answer(0, Status::OKAY);
    }
    match bench.answers[0].1 {
        Msg::S2mDrs { opcode, data, .. } => (opcode, data.bytes[0], asked),
        other => panic!("{other:?}"),
    }
}

/// What lies in no window is private: whoever asks from outside finds no memory there, reads and writes alike, until its owner has copied it.
#[test]
fn brg_tir_01_p() {
    for address in [0, FROM - 64, FROM + SIZE] {
        assert_eq!(foreign_read(window(), address), (DrsOpcode::MemDataNXM, 0xff, 0), "{address:#x}");
        let mut bench = Bench::plain();
        bench.ask(write(address, 1));
        assert_eq!((bench.sent.len(), bench.bridge.counts().refused), (0, 1));
    }
    assert_eq!(foreign_read(window(), FROM), (DrsOpcode::MemData, 7, 1));
}

/// A window that is too large serves private memory, which is seen.
#[test]
fn brg_tir_01_n() {
    let large = BridgeWindow { base: FROM - 4096, out_base: TO - 4096, ports: vec![0], size: SIZE + 4096, ..window() };
    assert_eq!(foreign_read(large, FROM - 64), (DrsOpcode::MemData, 7, 1));
}

/// Each is 64 bytes long as NVLink spells it, neighbours or not.
#[test]
fn brg_spl_11_n() {
    let mut bench = Bench::plain();
    (0..4).for_each(|n| {
        bench.ask(write(FROM + 64 * n, 1));
    });
    let codec = NvlConfig::default();
    assert!(bench.sent.iter().all(|(tag, access)| spelled(1, *tag, access, &codec).data.len() == 64));
}

/// The load that the last of so many transactions under way, of 20, is answered with.
fn told_load(under_way: u64) -> u8 {
    let mut bench = Bench::new(config(vec![window()], 20));
    for n in 0..under_way {
        bench.ask(read(FROM + 64 * n));
    }
    bench.answer(0, Status::OKAY);
    match bench.answers[0].1 {
        Msg::S2mDrs { devload, .. } => devload.0,
        other => panic!("{other:?}"),
    }
}

#[test]
fn brg_qos_02_p() {
    let loads = [(1, 0), (9, 0), (10, 1), (14, 1), (15, 2), (17, 2), (18, 3), (20, 3)];
    for (under_way, load) in loads {
        assert_eq!(told_load(under_way), load, "{under_way} of 20");
    }
}

/// One transaction fewer than a threshold is told as less.
#[test]
fn brg_qos_02_n() {
    for threshold in [10, 15, 18] {
        assert!(told_load(threshold - 1) < told_load(threshold), "{threshold}");
    }
}

#[test]
fn brg_tmo_02_p() {
    let mut bench = Bench::plain();
    for (msg, is_read) in [(read(FROM), true), (write(FROM + 0x1000, 1), false)] {
        let entry = bench.ask(msg);
        let before = bench.answers.len();
        bench.bridge.time_out(entry, bench.advances[&entry], &mut bench.out);
        bench.collect();
        let answer = Some(bench.answers[before].1);
        assert!(if is_read { data(answer).1.poison } else { is_cmp(answer) });
        assert_eq!(bench.bridge.open(), 1, "its tag stays taken");
        bench.answer(0, Status::OKAY);
        assert_eq!(bench.bridge.open(), 0, "until the late answer is there");
    }
    assert_eq!((bench.bridge.counts().timeouts, bench.bridge.counts().late, bench.bridge.lost().len()), (2, 2, 1));
    assert_eq!(bench.answers.len(), 2, "nothing is delivered late");
}

/// The link of an access is reset: it ends at once, and its entry and its line are free when its answer has come or cannot come any more.
#[test]
fn brg_tag_03_p3() {
    let mut bench = Bench::plain();
    for is_forgotten in [true, false] {
        let entry = bench.ask(read(FROM));
        let before = bench.answers.len();
        bench.bridge.link_lost(entry, &mut bench.out);
        bench.collect();
        assert!(data(Some(bench.answers[before].1)).1.poison);
        bench.ask(write(FROM, 1));
        assert_eq!((bench.bridge.open(), bench.open.len()), (2, 1), "the line may still be read");
        if is_forgotten {
            bench.open.remove(0);
            bench.bridge.forget(entry, &mut bench.out);
            bench.collect();
        } else {
            bench.answer(0, Status::OKAY);
        }
        assert_eq!(bench.open.len(), 1, "the write has left");
        bench.answer(0, Status::OKAY);
        assert_eq!(bench.bridge.open(), 0);
    }
    assert_eq!((bench.bridge.counts().timeouts, bench.bridge.counts().late), (2, 1));
    assert!(bench.findings.is_empty());
}

/// An answer to an entry that was forgotten, which cannot come any more, is told.
#[test]
fn brg_tag_03_n2() {
    let mut bench = Bench::plain();
    let entry = bench.ask(read(FROM));
    bench.bridge.link_lost(entry, &mut bench.out);
    bench.bridge.forget(entry, &mut bench.out);
    bench.collect();
    bench.answer(0, Status::OKAY);
    assert_eq!(bench.findings, ["BRG-TAG-02"]);
}

/// One that has got on since, or that waits for one that has its time, is not given up; behind a line that is given up others are.
#[test]
fn brg_tmo_02_n() {
    let mut bench = Bench::plain();
    let first = bench.ask(read(FROM));
    let advances = bench.advances[&first];
    bench.bridge.time_out(first, advances - 1, &mut bench.out);
    let second = bench.ask(write(FROM, 1));
    bench.bridge.time_out(second, bench.advances[&second], &mut bench.out);
    bench.collect();
    assert_eq!(bench.answers.len(), 0);
    for entry in [first, second] {
        bench.bridge.time_out(entry, bench.advances[&entry], &mut bench.out);
        bench.collect();
    }
    assert_eq!((bench.answers.len(), bench.bridge.counts().timeouts), (2, 2));
    bench.answer(0, Status::OKAY);
    assert_eq!((bench.bridge.open(), bench.open.len()), (0, 0), "the write that was given up does not leave");
    assert!(data(bench.whole(read(FROM), Status::OKAY)).1.poison, "whoever asks later learns that it was lost");
}
