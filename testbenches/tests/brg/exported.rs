//! Memory of accelerators that a bridge keeps coherent: every message and record against the oracle, recalls, the filter, conflicts,
//! windows and rights, and a system in which hosts and another bridge share it (`bridge` §1.2, §1.3, §5.1).

use super::supercluster::{Told, sound};
use super::systems::resolves;
use scalepool::bridge::cache::data::DataCache;
use scalepool::bridge::flows::LineOperation;
use scalepool::bridge::inbound::exported::ExportedHome;
use scalepool::bridge::inbound::table::InboundSource;
use scalepool::bridge::inbound::{AcceleratorAccess, InboundBridge, InboundConfig, InboundOutput, InboundStep};
use scalepool::bridge::window::{AccessRights, BridgeWindow, BridgeWindows, InboundClass, WindowLimits};
use scalepool::coherence::agent::{Accept, Agent, AgentOutput};
use scalepool::coherence::config::CoherenceConfig;
use scalepool::coherence::content::{CacheLine, LineAddr, LineContent};
use scalepool::coherence::mem::Holders;
use scalepool::coherence::message::Msg;
use scalepool::ordered::OrderedMap;
use scalepool::proof::mutant::CoherenceMutant;
use scalepool::scenario::observe::Outputs;
use scalepool::scenario::{self, ScenarioRequest};
use scalepool_oracle::bridge::{ExportConversion, ExportRecord, exported};
use scalepool_protocols::cxl::cxl256::code::{
    BirspOpcode, BisnpOpcode, DrsOpcode, M2sReqOpcode, M2sRwdOpcode, MetaField, MetaValue, NdrOpcode, SnpType,
};
use scalepool_protocols::ualink::code::Status;
use std::sync::Arc;

const TEXT: &str = include_str!("../../systems/exported_hbm.toml");

/// First address of the window, and its first one at accelerators.
const FROM: u64 = 0x20_0000;
const TO: u64 = 0x4000_0000;
const SIZE: u64 = 4 << 20;
/// Source of a fourth holder, which may only read.
const READER: u16 = 13;
const HOLDERS: u16 = 3;

fn line(n: u64) -> LineAddr {
    LineAddr::of_address(FROM + 64 * n)
}

/// What is made of a message before the home sees it: a wrong home has another row for it.
type Wrong = fn(Msg<CacheLine>) -> Msg<CacheLine>;

fn right(msg: Msg<CacheLine>) -> Msg<CacheLine> {
    msg
}

/// A home in front of the inbound half, with holders that answer recalls as soon as they are told to.
struct Bench {
    home: ExportedHome,
    /// How many hold its lines; the port behind theirs leads to the memory.
    holders: u16,
    config: CoherenceConfig,
    inbound: InboundBridge,
    inbound_config: InboundConfig,
    wrong: Wrong,
    memory: OrderedMap<u64, CacheLine>,
    /// Statuses with which accelerators end, the first one first; then OKAY.
    statuses: Vec<Status>,
    /// Accesses that have not ended.
    open: Vec<(u16, AcceleratorAccess)>,
    /// All that have left.
    accesses: Vec<AcceleratorAccess>,
    /// Recalls that are not answered.
    recalls: Vec<(u16, BisnpOpcode, LineAddr, u16)>,
    /// All of them.
    recalled: Vec<(u16, BisnpOpcode, LineAddr)>,
    answers: Vec<(u16, Msg<CacheLine>)>,
    findings: Vec<&'static str>,
}

impl Bench {
    fn with(holders: u16, filter: [usize; 2], wrong: Wrong) -> Bench {
        Bench::in_front_of(64, holders, filter, wrong)
    }

    /// In front of a table of so many entries.
    fn in_front_of(entries: usize, holders: u16, filter: [usize; 2], wrong: Wrong) -> Bench {
        let mut config = CoherenceConfig::default();
        [config.mem.filter_sets, config.mem.filter_ways] = filter;
        let rights =
            |group| if group == 5 { AccessRights { read: true, ..AccessRights::default() } } else { AccessRights::ALL };
        let window = |base, class| BridgeWindow {
            base,
            size: SIZE,
            out_base: TO + base,
            class,
            ports: vec![0],
            granule: 256,
            rights: std::array::from_fn(rights),
        };
        let windows = vec![window(FROM, InboundClass::Db), window(FROM + 2 * SIZE, InboundClass::Nh)];
        let groups = OrderedMap::from([(READER, 5)]);
        let windows = BridgeWindows::exporting(WindowLimits::INBOUND_UALINK, windows, groups, 1).expect("windows");
        let sources = (0..holders).map(|n| 10 + n).collect();
        let home = ExportedHome::new(&config, Arc::new(windows.clone()), sources);
        let inbound = InboundConfig { windows, decoders: vec![None; 3], entries, cache: None };
        Bench {
            home,
            holders,
            config,
            inbound: InboundBridge::new(inbound.clone()),
            inbound_config: inbound,
            wrong,
            memory: OrderedMap::new(),
            statuses: Vec::new(),
            open: Vec::new(),
            accesses: Vec::new(),
            recalls: Vec::new(),
            recalled: Vec::new(),
            answers: Vec::new(),
            findings: Vec::new(),
        }
    }

    pub(super) fn new() -> Bench {
        Bench::with(HOLDERS, [0, 1], right)
    }

    /// The same with this cache in front of accelerators.
    pub(super) fn cached(self, cache: DataCache) -> Bench {
        let inbound = InboundBridge::new(InboundConfig { cache: Some(cache), ..self.inbound_config.clone() });
        Bench { inbound, ..self }
    }

    /// Whether the home takes a message of a holder, which it then has.
    fn offer(&mut self, holder: u16, msg: Msg<CacheLine>) -> bool {
        let msg = (self.wrong)(msg);
        let takes = self.home.accepts(&self.config, holder, &msg) == Accept::Take;
        if takes {
            let mut out = AgentOutput::default();
            self.home.take(&self.config, holder, msg, 0, &mut out);
            self.follow(out);
        }
        takes
    }

    fn follow(&mut self, out: AgentOutput<CacheLine>) {
        self.findings.extend(out.events.iter().map(|event| event.rule));
        for (port, msg) in out.sends {
            match msg {
                Msg::S2mBisnp { opcode, line, bi_tag } => {
                    self.recalls.push((port, opcode, line, bi_tag));
                    self.recalled.push((port, opcode, line));
                }
                _ if port < self.holders => self.answers.push((port, msg)),
                // What is asked of the memory behind it.
                _ => {
                    let source = InboundSource { class: InboundClass::Db, ..InboundSource::default() };
                    let mut out = InboundOutput::default();
                    let entry = self.inbound.admit(source, msg, &mut out).expect("room");
                    self.inbound.start(entry, &mut out);
                    self.inbound_steps(out);
                }
            }
        }
    }

    fn inbound_steps(&mut self, out: InboundOutput) {
        self.findings.extend(out.findings.iter().map(|finding| finding.rule));
        for step in out.steps {
            match step {
                InboundStep::Send(entry) => {
                    let access = self.inbound.access(entry).expect("an access");
                    self.open.push((entry, access));
                    self.accesses.push(access);
                }
                InboundStep::Respond(entry) => {
                    let (_, answer) = self.inbound.answer(entry).expect("an answer");
                    self.inbound.left(entry);
                    let (mut out, port) = (AgentOutput::default(), self.holders);
                    self.home.take(&self.config, port, answer, 0, &mut out);
                    self.follow(out);
                }
                InboundStep::Drop(entry) => self.inbound.left(entry),
                InboundStep::AccessCache(entry) => {
                    let mut out = InboundOutput::default();
                    self.inbound.cache_accessed(entry, &mut out);
                    self.inbound_steps(out);
                }
                _ => (),
            }
        }
    }

    /// The oldest access ends.
    fn ends(&mut self) {
        let (tag, access) = self.open.remove(0);
        let status = if self.statuses.is_empty() { Status::OKAY } else { self.statuses.remove(0) };
        let own = self.memory.entry(access.line.address()).or_insert(CacheLine::of([0; 64]));
        let is_read = access.operation == LineOperation::Read;
        if !is_read && status == Status::OKAY {
            own.merge(&access.data, if access.operation == LineOperation::WriteFull { u64::MAX } else { access.mask });
        }
        let read = (is_read && status == Status::OKAY).then_some(*own);
        let mut out = InboundOutput::default();
        self.inbound.receive(tag, status, read.as_slice(), &mut out);
        self.inbound_steps(out);
    }

    /// The oldest recall is answered: clean copies are kept as far as they may.
    fn answers_recall(&mut self) {
        let (holder, opcode, line, bi_tag) = self.recalls.remove(0);
        let opcode = match opcode {
            BisnpOpcode::BISnpInv => BirspOpcode::BIRspI,
            BisnpOpcode::BISnpData => BirspOpcode::BIRspS,
            _ => BirspOpcode::BIRspE,
        };
        assert!(self.offer(holder, Msg::M2sBirsp { opcode, bi_tag, low_addr: (line.0 & 3) as u8 }));
    }

    /// Everything ends: recalls first.
    fn settle(&mut self) {
        while !self.recalls.is_empty() || !self.open.is_empty() {
            if self.recalls.is_empty() { self.ends() } else { self.answers_recall() }
        }
        assert!(self.home.is_idle() && self.inbound.open() == 0, "something is left");
    }

    fn whole(&mut self, holder: u16, msg: Msg<CacheLine>) -> Vec<Msg<CacheLine>> {
        let before = self.answers.len();
        assert!(self.offer(holder, msg), "{msg:?} waits");
        self.settle();
        self.answers[before..]
            .iter()
            .map(|(to, answer)| {
                assert_eq!(*to, holder);
                *answer
            })
            .collect()
    }

    fn record(&self, line: LineAddr) -> ExportRecord {
        match self.home.dcoh().holders(line) {
            Some(Holders::Owner(owner)) => ExportRecord::A(owner),
            Some(Holders::Shared(all)) if !all.is_empty() => ExportRecord::S(all.iter().collect()),
            _ => ExportRecord::I,
        }
    }

    /// A home with this record, made by messages.
    fn recorded(record: &ExportRecord, wrong: Wrong, holders: u16) -> Bench {
        let mut bench = Bench::with(holders, [0, 1], right);
        bench.memory.insert(TO + FROM, CacheLine::of([9; 64]));
        match record {
            ExportRecord::I => (),
            ExportRecord::A(owner) => drop(bench.whole(*owner, req(M2sReqOpcode::MemRd, ANY, SnpType::SnpInv))),
            ExportRecord::S(all) => {
                for holder in all {
                    bench.whole(*holder, req(M2sReqOpcode::MemRd, SHARED, SnpType::SnpData));
                }
            }
        }
        assert_eq!(bench.record(line(0)), *record);
        bench.accesses.clear();
        bench.recalled.clear();
        bench.wrong = wrong;
        bench
    }
}

const META: MetaField = MetaField::Meta0State;
/// MetaValues by field and value, with their names; without a field there is no value.
type Meta = (MetaField, MetaValue, &'static str);
const ANY: Meta = (META, MetaValue::Any, "Any");
const SHARED: Meta = (META, MetaValue::Shared, "Shared");
const INVALID: Meta = (META, MetaValue::Invalid, "Invalid");
const NONE: Meta = (MetaField::NoOp, MetaValue::Invalid, "NoOp");
const METAS: [Meta; 4] = [ANY, SHARED, INVALID, NONE];
const SNOOPS: [(SnpType, &str); 4] =
    [(SnpType::NoOp, "NoOp"), (SnpType::SnpData, "SnpData"), (SnpType::SnpCur, "SnpCur"), (SnpType::SnpInv, "SnpInv")];

fn req(opcode: M2sReqOpcode, (meta_field, meta, _): Meta, snp: SnpType) -> Msg<CacheLine> {
    Msg::M2sReq { opcode, snp, meta_field, meta, line: line(0), tag: 0x77 }
}

fn rwd(opcode: M2sRwdOpcode, (meta_field, meta, _): Meta, snp: SnpType, enables: u64) -> Msg<CacheLine> {
    let data = CacheLine::of([5; 64]);
    Msg::M2sRwd { opcode, snp, meta_field, meta, line: line(0), tag: 0x78, data, enables }
}

/// The same message for another line.
fn at(msg: Msg<CacheLine>, to: LineAddr) -> Msg<CacheLine> {
    match msg {
        Msg::M2sReq { opcode, snp, meta_field, meta, tag, .. } => {
            Msg::M2sReq { opcode, snp, meta_field, meta, line: to, tag }
        }
        Msg::M2sRwd { opcode, snp, meta_field, meta, tag, data, enables, .. } => {
            Msg::M2sRwd { opcode, snp, meta_field, meta, line: to, tag, data, enables }
        }
        other => other,
    }
}

fn named(answer: &Msg<CacheLine>) -> &'static str {
    match answer {
        Msg::S2mDrs { opcode: DrsOpcode::MemData, .. } => "DRS",
        Msg::S2mNdr { opcode: NdrOpcode::Cmp, .. } => "Cmp",
        Msg::S2mNdr { opcode: NdrOpcode::CmpS, .. } => "Cmp-S",
        Msg::S2mNdr { opcode: NdrOpcode::CmpE, .. } => "Cmp-E",
        Msg::S2mNdr { opcode: NdrOpcode::BIConflictAck, .. } => "Ack",
        other => panic!("{other:?}"),
    }
}

/// What becomes of a message of holder 0 at a home with a record, in the words of the oracle.
fn converted(msg: Msg<CacheLine>, record: &ExportRecord, holders: u16, wrong: Wrong) -> ExportConversion {
    let mut bench = Bench::recorded(record, wrong, holders);
    let answers = bench.whole(0, msg);
    let mut of: Vec<u16> = bench.recalled.iter().map(|(holder, ..)| *holder).collect();
    of.sort_unstable();
    let recall = bench.recalled.first().map(|(_, opcode, _)| (opcode.name().expect("a name"), of));
    assert!(bench.accesses.len() <= 1, "{:?}", bench.accesses);
    let access = bench.accesses.first().map(|access| {
        assert_eq!((access.target, access.line.address()), (0, TO + FROM));
        match access.operation {
            LineOperation::Read => "Read",
            LineOperation::WriteFull => "WriteFull",
            LineOperation::WritePart => "Write",
            LineOperation::Atomic => "Atomic",
        }
    });
    let mut names: Vec<&str> = answers.iter().map(named).collect();
    names.sort_by_key(|name| *name != "DRS");
    for answer in &answers {
        if let Msg::S2mDrs { data, .. } = answer {
            let is_poisoned = !bench.findings.is_empty();
            assert_eq!(*data, CacheLine::of(if is_poisoned { [0xff; 64] } else { [9; 64] }).poisoned(is_poisoned));
        }
    }
    ExportConversion {
        recall,
        access,
        answers: names,
        record: bench.record(line(0)),
        is_legal: bench.findings.is_empty(),
    }
}

fn records(holders: u16) -> Vec<ExportRecord> {
    use ExportRecord::{A, I, S};
    match holders {
        1 => vec![I, A(0), S(vec![0])],
        _ => vec![I, A(0), A(1), S(vec![0]), S(vec![1]), S(vec![0, 1]), S(vec![1, 2]), S(vec![0, 1, 2])],
    }
}

/// Messages for which a home is not what the oracle says, of those that a choice takes; all are asked of every record.
fn differing(chosen: impl Fn(&str, &str, &str) -> bool, wrong: Wrong) -> (usize, Vec<String>) {
    let (mut count, mut differing) = (0, Vec::new());
    let mut one = |msg: Msg<CacheLine>, names: (&str, &str, &str)| {
        if !chosen(names.0, names.1, names.2) {
            return;
        }
        for holders in [1, HOLDERS] {
            for record in records(holders) {
                count += 1;
                let (is, want) = (converted(msg, &record, holders, wrong), exported(names, 0, &record, holders == 1));
                if is != want {
                    differing.push(format!("{names:?} at {record:?} of {holders}: {is:?}, not {want:?}"));
                }
            }
        }
    };
    for meta in METAS {
        for (snp, snoop) in SNOOPS {
            for code in 0..16 {
                let opcode = M2sReqOpcode(code);
                one(req(opcode, meta, snp), (opcode.name().unwrap_or("reserved"), meta.2, snoop));
                let opcode = M2sRwdOpcode(code);
                let enables = if opcode == M2sRwdOpcode::MemWrPtl { 0xff0 } else { u64::MAX };
                // A conflict without a snoop is none of the table.
                if opcode != M2sRwdOpcode::BIConflict {
                    one(rwd(opcode, meta, snp, enables), (opcode.name().unwrap_or("reserved"), meta.2, snoop));
                }
            }
        }
    }
    (count, differing)
}

/// All messages of a row are what the oracle says.
fn obeys(chosen: impl Fn(&str, &str, &str) -> bool) {
    let (count, differing) = differing(chosen, right);
    assert!(count > 0);
    assert_eq!(differing, [] as [String; 0]);
}

/// A home that takes another message for one of these is found at them, and at no other one.
fn is_found(chosen: impl Fn(&str, &str, &str) -> bool, wrong: Wrong) {
    let (_, at_these) = differing(&chosen, wrong);
    assert!(!at_these.is_empty(), "nothing was found");
    let (_, elsewhere) = differing(|opcode, meta, snoop| !chosen(opcode, meta, snoop), wrong);
    assert_eq!(elsewhere, [] as [String; 0]);
}

/// Puts other fields in place of those of M2S Req with these.
fn swapped(
    msg: Msg<CacheLine>,
    from: (&[M2sReqOpcode], &[(MetaField, MetaValue)], SnpType),
    to: impl Fn(M2sReqOpcode) -> (M2sReqOpcode, Meta, SnpType),
) -> Msg<CacheLine> {
    let Msg::M2sReq { opcode, snp, meta_field, meta, line, tag } = msg else { return msg };
    let has =
        |(field, value): &(MetaField, MetaValue)| *field == meta_field && (*value == meta || *field == MetaField::NoOp);
    if !from.0.contains(&opcode) || !from.1.iter().any(has) || from.2 != snp {
        return msg;
    }
    let (opcode, (meta_field, meta, _), snp) = to(opcode);
    Msg::M2sReq { opcode, snp, meta_field, meta, line, tag }
}

const IS_ANY: &[(MetaField, MetaValue)] = &[(META, MetaValue::Any)];
const IS_SHARED: &[(MetaField, MetaValue)] = &[(META, MetaValue::Shared)];
const IS_LEFT: &[(MetaField, MetaValue)] = &[(META, MetaValue::Invalid), (MetaField::NoOp, MetaValue::Invalid)];
const READ: &[M2sReqOpcode] = &[M2sReqOpcode::MemRd];
const INVALIDATE: &[M2sReqOpcode] = &[M2sReqOpcode::MemInv, M2sReqOpcode::MemInvNT];

fn row_40(opcode: &str, meta: &str, snoop: &str) -> bool {
    (opcode, meta, snoop) == ("MemRd", "Any", "SnpInv")
}

fn row_41(opcode: &str, meta: &str, snoop: &str) -> bool {
    snoop == "SnpData" && ((opcode, meta) == ("MemRd", "Shared") || opcode == "MemRdData")
}

fn row_42(opcode: &str, meta: &str, snoop: &str) -> bool {
    opcode == "MemRd" && ["Invalid", "NoOp"].contains(&meta) && ["SnpCur", "SnpInv"].contains(&snoop)
}

fn row_43(opcode: &str, meta: &str, snoop: &str) -> bool {
    (opcode, meta, snoop) == ("MemRd", "NoOp", "NoOp")
}

fn row_44(opcode: &str, meta: &str, snoop: &str) -> bool {
    ["MemInv", "MemInvNT"].contains(&opcode) && (meta, snoop) == ("Any", "SnpInv")
}

fn row_45(opcode: &str, meta: &str, snoop: &str) -> bool {
    ["MemInv", "MemInvNT"].contains(&opcode) && (meta, snoop) == ("Shared", "SnpData")
}

fn row_46(opcode: &str, meta: &str, snoop: &str) -> bool {
    ["MemInv", "MemInvNT"].contains(&opcode) && ["Invalid", "NoOp"].contains(&meta) && snoop == "SnpInv"
}

fn row_47(opcode: &str, meta: &str, snoop: &str) -> bool {
    (opcode, meta, snoop) == ("MemClnEvct", "Invalid", "NoOp")
}

fn row_48(opcode: &str, _: &str, _: &str) -> bool {
    opcode == "MemSpecRd"
}

fn row_49(opcode: &str, meta: &str, snoop: &str) -> bool {
    ["MemWr", "MemWrPtl"].contains(&opcode) && meta != "NoOp" && snoop == "NoOp"
}

fn row_50(opcode: &str, meta: &str, snoop: &str) -> bool {
    ["MemWr", "MemWrPtl"].contains(&opcode) && (meta, snoop) == ("Invalid", "SnpInv")
}

#[test]
fn brg_map_40_p() {
    obeys(row_40);
}

/// Read without ownership.
#[test]
fn brg_map_40_n() {
    is_found(row_40, |msg| {
        swapped(msg, (READ, IS_ANY, SnpType::SnpInv), |_| (M2sReqOpcode::MemRd, INVALID, SnpType::SnpCur))
    });
}

#[test]
fn brg_map_41_p() {
    obeys(row_41);
}

/// A request for a shared copy is one for ownership.
#[test]
fn brg_map_41_n() {
    is_found(row_41, |msg| {
        swapped(msg, (READ, IS_SHARED, SnpType::SnpData), |_| (M2sReqOpcode::MemRd, ANY, SnpType::SnpInv))
    });
}

#[test]
fn brg_map_42_p() {
    obeys(row_42);
}

/// The present value is read without asking its owner.
#[test]
fn brg_map_42_n() {
    is_found(row_42, |msg| {
        swapped(msg, (READ, IS_LEFT, SnpType::SnpCur), |_| (M2sReqOpcode::MemRd, NONE, SnpType::NoOp))
    });
}

#[test]
fn brg_map_43_p() {
    obeys(row_43);
}

/// A plain read makes its requester a holder.
#[test]
fn brg_map_43_n() {
    is_found(row_43, |msg| {
        let is_plain: &[(MetaField, MetaValue)] = &[(MetaField::NoOp, MetaValue::Invalid)];
        swapped(msg, (READ, is_plain, SnpType::NoOp), |_| (M2sReqOpcode::MemRd, SHARED, SnpType::SnpData))
    });
}

#[test]
fn brg_map_44_p() {
    obeys(row_44);
}

/// The accelerator is asked for bytes that will be overwritten.
#[test]
fn brg_map_44_n() {
    is_found(row_44, |msg| {
        swapped(msg, (INVALIDATE, IS_ANY, SnpType::SnpInv), |_| (M2sReqOpcode::MemRd, ANY, SnpType::SnpInv))
    });
}

#[test]
fn brg_map_45_p() {
    obeys(row_45);
}

/// Others lose the copies that they may keep.
#[test]
fn brg_map_45_n() {
    is_found(row_45, |msg| {
        swapped(msg, (INVALIDATE, IS_SHARED, SnpType::SnpData), |opcode| (opcode, ANY, SnpType::SnpInv))
    });
}

#[test]
fn brg_map_46_p() {
    obeys(row_46);
}

/// Who gives a line up becomes its owner.
#[test]
fn brg_map_46_n() {
    is_found(row_46, |msg| {
        swapped(msg, (INVALIDATE, IS_LEFT, SnpType::SnpInv), |opcode| (opcode, ANY, SnpType::SnpInv))
    });
}

#[test]
fn brg_map_47_p() {
    obeys(row_47);
}

/// The copies of others are taken too.
#[test]
fn brg_map_47_n() {
    is_found(row_47, |msg| {
        let evicts: &[M2sReqOpcode] = &[M2sReqOpcode::MemClnEvct];
        let is_invalid: &[(MetaField, MetaValue)] = &[(META, MetaValue::Invalid)];
        swapped(msg, (evicts, is_invalid, SnpType::NoOp), |_| (M2sReqOpcode::MemInv, INVALID, SnpType::SnpInv))
    });
}

#[test]
fn brg_map_48_p() {
    obeys(row_48);
}

/// The hint is answered.
#[test]
fn brg_map_48_n() {
    is_found(row_48, |msg| match msg {
        Msg::M2sReq { opcode: M2sReqOpcode::MemSpecRd, line: to, .. } => {
            at(req(M2sReqOpcode::MemRd, NONE, SnpType::NoOp), to)
        }
        other => other,
    });
}

#[test]
fn brg_map_49_p() {
    obeys(row_49);
    // Cmp follows the answer of the accelerator, and bytes that are not enabled stay.
    let mut bench = Bench::recorded(&ExportRecord::A(0), right, HOLDERS);
    assert!(bench.offer(0, rwd(M2sRwdOpcode::MemWrPtl, INVALID, SnpType::NoOp, 0xf0)));
    assert_eq!(bench.answers.len(), 2, "those of the read before");
    bench.settle();
    assert_eq!(named(&bench.answers[2].1), "Cmp");
    let bytes = bench.memory[&(TO + FROM)].bytes;
    assert_eq!((bytes[3], bytes[4], bytes[7], bytes[8]), (9, 5, 5, 9));
    // Two parts and a line behind each other end in their order.
    let mut bench = Bench::recorded(&ExportRecord::A(0), right, HOLDERS);
    for (opcode, enables) in
        [(M2sRwdOpcode::MemWrPtl, 0xf0), (M2sRwdOpcode::MemWrPtl, 0xf00), (M2sRwdOpcode::MemWr, u64::MAX)]
    {
        assert!(bench.offer(0, rwd(opcode, ANY, SnpType::NoOp, enables)));
    }
    bench.settle();
    let all = bench.accesses.iter().map(|access| access.operation);
    assert_eq!(all.collect::<Vec<_>>(), [LineOperation::WritePart, LineOperation::WritePart, LineOperation::WriteFull]);
    assert_eq!(bench.memory[&(TO + FROM)].bytes, [5; 64]);
    assert_eq!(bench.answers.len(), 5);
}

/// The record is not what the write says: the owner is forgotten.
#[test]
fn brg_map_49_n() {
    is_found(row_49, |msg| match msg {
        Msg::M2sRwd { opcode, snp: SnpType::NoOp, meta_field: META, line, tag, data, enables, .. } => {
            let (snp, meta_field, meta) = (SnpType::NoOp, META, MetaValue::Invalid);
            Msg::M2sRwd { opcode, snp, meta_field, meta, line, tag, data, enables }
        }
        other => other,
    });
}

#[test]
fn brg_map_50_p() {
    obeys(row_50);
}

/// It is taken for a write of the owner.
#[test]
fn brg_map_50_n() {
    is_found(row_50, |msg| match msg {
        Msg::M2sRwd { opcode, snp: SnpType::SnpInv, meta_field: META, meta: MetaValue::Invalid, enables, .. } => {
            rwd(opcode, INVALID, SnpType::NoOp, enables)
        }
        other => other,
    });
}

/// A conflict is answered at once, though no accelerator answers, and as often as one comes for a recall of its own.
#[test]
fn brg_map_51_p() {
    let mut bench = Bench::recorded(&ExportRecord::A(1), right, HOLDERS);
    // An access that does not end.
    assert!(bench.offer(2, at(req(M2sReqOpcode::MemRd, SHARED, SnpType::SnpData), line(1))));
    assert!(bench.offer(0, req(M2sReqOpcode::MemRd, ANY, SnpType::SnpInv)));
    let before = bench.answers.len();
    assert_eq!(bench.recalls.len(), 1);
    assert!(bench.offer(1, rwd(M2sRwdOpcode::BIConflict, NONE, SnpType::NoOp, 0)));
    let answers: Vec<_> = bench.answers[before..].iter().map(|(to, answer)| (*to, named(answer))).collect();
    assert_eq!((answers, bench.open.len()), (vec![(1, "Ack")], 1));
    bench.settle();
    assert_eq!(bench.record(line(0)), ExportRecord::A(0));
}

/// A home that keeps the conflict back as it keeps requests of a busy line: the recall never ends, for its holder waits for the Ack.
#[test]
fn brg_map_51_n() {
    let keeps_back: Wrong = |msg| match msg {
        Msg::M2sRwd { opcode: M2sRwdOpcode::BIConflict, line: to, .. } => {
            at(req(M2sReqOpcode::MemRd, NONE, SnpType::NoOp), to)
        }
        other => other,
    };
    let mut bench = Bench::recorded(&ExportRecord::A(1), keeps_back, HOLDERS);
    assert!(bench.offer(0, req(M2sReqOpcode::MemRd, ANY, SnpType::SnpInv)));
    assert!(!bench.offer(1, rwd(M2sRwdOpcode::BIConflict, NONE, SnpType::NoOp, 0)), "it waits for what waits for it");
    // One without a recall is told of.
    let mut bench = Bench::new();
    bench.offer(1, rwd(M2sRwdOpcode::BIConflict, NONE, SnpType::NoOp, 0));
    assert_eq!(bench.findings, ["COH-BIC-11"]);
}

/// Whether a message stands in a row, whatever the record.
fn stands(opcode: &str, meta: &str, snoop: &str) -> bool {
    let rows = [row_40, row_41, row_42, row_43, row_44, row_45, row_46, row_47, row_48, row_49, row_50];
    rows.iter().any(|row| row(opcode, meta, snoop))
}

/// What stands in no row is told of, answered, and changes nothing; so does a write of who does not own its line.
#[test]
fn brg_map_52_p() {
    obeys(|opcode, meta, snoop| !stands(opcode, meta, snoop));
    let mut bench = Bench::new();
    let [reserved, foreign] =
        [req(M2sReqOpcode::MemRd, SHARED, SnpType::SnpInv), rwd(M2sRwdOpcode::MemWr, INVALID, SnpType::NoOp, u64::MAX)];
    assert_eq!(bench.whole(0, reserved).iter().map(named).collect::<Vec<_>>(), ["DRS", "Cmp"]);
    assert_eq!(bench.whole(0, foreign).iter().map(named).collect::<Vec<_>>(), ["Cmp"]);
    assert_eq!((bench.findings.len(), bench.accesses.len()), (2, 0));
}

/// A home that has an effect for it: one that takes a wrong snoop for the right one.
#[test]
fn brg_map_52_n() {
    is_found(
        |opcode, meta, snoop| (opcode, meta, snoop) == ("MemRd", "Any", "SnpCur"),
        |msg| swapped(msg, (READ, IS_ANY, SnpType::SnpCur), |opcode| (opcode, ANY, SnpType::SnpInv)),
    );
}

/// Four lines with copies fill a filter of four: for a fifth one the one that was used longest ago is taken back from all its holders, before
/// its entry is used and before the accelerator is asked.
#[test]
fn brg_map_54_p() {
    let mut bench = Bench::with(HOLDERS, [1, 4], right);
    for holder in [0, 1] {
        for n in 0..4 {
            bench.whole(holder, at(req(M2sReqOpcode::MemRd, SHARED, SnpType::SnpData), line(n)));
        }
    }
    let (before, accesses) = (bench.answers.len(), bench.accesses.len());
    assert!(bench.offer(2, at(req(M2sReqOpcode::MemRd, ANY, SnpType::SnpInv), line(4))));
    let asked: Vec<_> = bench.recalls.iter().map(|(holder, opcode, line, _)| (*holder, *opcode, *line)).collect();
    assert_eq!(asked, [(0, BisnpOpcode::BISnpInv, line(0)), (1, BisnpOpcode::BISnpInv, line(0))]);
    bench.answers_recall();
    assert_eq!((bench.answers.len(), bench.accesses.len()), (before, accesses), "one holder has not answered");
    bench.settle();
    assert_eq!((bench.record(line(0)), bench.record(line(4))), (ExportRecord::I, ExportRecord::A(2)));
    // The numbers of the sheet, as a description has them.
    let design = resolves(&TEXT.replace(
        "home = { filter_entries = 16, filter_ways = 4 }
",
        "",
    ))
    .expect("a system");
    let joined = scalepool::system::coherence::joined(&design).expect("homes");
    let mem = &joined[0].home.config.mem;
    assert_eq!((mem.filter_sets * mem.filter_ways, mem.filter_ways, mem.trackers), (65_536, 16, 64));
}

/// A home that uses the entry of a victim before its holders have answered: two lines are granted by a filter of one.
#[test]
fn brg_map_54_n() {
    let answers_before_the_recall_ends = |is_wrong: bool| {
        let mut bench = Bench::with(HOLDERS, [1, 1], right);
        if is_wrong {
            bench.config.rules = CoherenceMutant::EntryLeavesEarly.rules();
        }
        bench.whole(0, at(req(M2sReqOpcode::MemRd, ANY, SnpType::SnpInv), line(0)));
        let before = bench.answers.len();
        assert!(bench.offer(1, at(req(M2sReqOpcode::MemInv, ANY, SnpType::SnpInv), line(1))));
        assert_eq!(bench.recalls.len(), 1);
        bench.answers.len() - before
    };
    assert_eq!([false, true].map(answers_before_the_recall_ends), [0, 1]);
    let error = resolves(&TEXT.replace("filter_entries = 16, filter_ways = 4", "filter_entries = 6, filter_ways = 4"));
    let error = error.err().expect("a finding");
    assert!(error.contains("found filter_entries = 6 and filter_ways = 4, expected whole sets"), "{error}");
}

/// Sheet 13 E5: a shared read of a line that another host has changed.
#[test]
fn a_changed_line_is_written_back_and_read_for_the_next_holder() {
    let mut bench = Bench::recorded(&ExportRecord::A(1), right, HOLDERS);
    assert!(bench.offer(0, req(M2sReqOpcode::MemRd, SHARED, SnpType::SnpData)));
    let [(1, BisnpOpcode::BISnpData, _, bi_tag)] = bench.recalls[..] else { panic!("{:?}", bench.recalls) };
    bench.recalls.clear();
    let before = bench.answers.len();
    assert!(bench.offer(1, rwd(M2sRwdOpcode::MemWr, SHARED, SnpType::NoOp, u64::MAX)));
    bench.ends();
    assert_eq!(bench.answers[before..].iter().map(|(to, a)| (*to, named(a))).collect::<Vec<_>>(), [(1, "Cmp")]);
    assert!(bench.offer(1, Msg::M2sBirsp { opcode: BirspOpcode::BIRspS, bi_tag, low_addr: (line(0).0 & 3) as u8 }));
    bench.settle();
    let asked: Vec<_> = bench.accesses.iter().map(|access| access.operation).collect();
    assert_eq!(asked, [LineOperation::WriteFull, LineOperation::Read]);
    let mut answers: Vec<_> = bench.answers[before + 1..].iter().map(|(to, a)| (*to, named(a))).collect();
    answers.sort_unstable();
    assert_eq!((answers, bench.record(line(0))), (vec![(0, "Cmp-S"), (0, "DRS")], ExportRecord::S(vec![0, 1])));
}

/// Window, then rights, then legality, then statuses of accelerators, in the words of CXL.mem.
#[test]
fn what_is_refused_ends_in_the_words_of_the_sheet() {
    let read = req(M2sReqOpcode::MemRd, ANY, SnpType::SnpInv);
    let poison = CacheLine::of([0xff; 64]).poisoned(true);
    let (outside, plain) = (LineAddr::of_address(FROM + SIZE), LineAddr::of_address(FROM + 2 * SIZE));
    for to in [outside, plain] {
        let mut bench = Bench::new();
        let answers = bench.whole(0, at(read, to));
        let [Msg::S2mDrs { opcode: DrsOpcode::MemDataNXM, .. }] = answers[..] else { panic!("{answers:?}") };
    }
    // The fourth holder may only read.
    let mut bench = Bench::recorded(&ExportRecord::A(2), right, HOLDERS + 1);
    let answers = bench.whole(3, rwd(M2sRwdOpcode::MemWr, INVALID, SnpType::NoOp, u64::MAX));
    assert_eq!((answers.iter().map(named).collect::<Vec<_>>(), bench.accesses.len()), (vec!["Cmp"], 0));
    assert_eq!(bench.memory[&(TO + FROM)], CacheLine::of([9; 64]), "memory keeps the old value");
    // A read that fails is poison, and one of memory that is not there is no copy.
    let mut bench = Bench::new();
    bench.statuses = vec![Status::TargetAbort, Status::DecodeError];
    let answers = bench.whole(0, read);
    assert!(answers.iter().any(|answer| matches!(answer, Msg::S2mDrs { data, .. } if *data == poison)), "{answers:?}");
    let answers = bench.whole(0, at(read, line(1)));
    let [Msg::S2mDrs { opcode: DrsOpcode::MemDataNXM, .. }] = answers[..] else { panic!("{answers:?}") };
    assert_eq!(bench.record(line(1)), ExportRecord::I);
    // A write that was lost is poison for whoever reads next.
    bench.statuses = vec![Status::TargetAbort];
    bench.whole(0, rwd(M2sRwdOpcode::MemWr, INVALID, SnpType::NoOp, u64::MAX));
    let answers = bench.whole(1, read);
    assert!(answers.iter().any(|answer| matches!(answer, Msg::S2mDrs { data, .. } if *data == poison)), "{answers:?}");
}

/// Who may not write shares lines and never owns one: where a home may grant E it grants S, and ownership is refused without an effect.
#[test]
fn brg_win_10_p() {
    let reader = HOLDERS;
    for record in [ExportRecord::I, ExportRecord::A(0), ExportRecord::S(vec![0, 1])] {
        let recorded = || Bench::recorded(&record, right, HOLDERS + 1);
        for shares in
            [req(M2sReqOpcode::MemRdData, NONE, SnpType::SnpData), req(M2sReqOpcode::MemRd, SHARED, SnpType::SnpData)]
        {
            let mut bench = recorded();
            let mut answers: Vec<_> = bench.whole(reader, shares).iter().map(named).collect();
            answers.sort_unstable();
            assert_eq!(answers, ["Cmp-S", "DRS"], "{record:?}");
            let ExportRecord::S(all) = bench.record(line(0)) else { panic!("{:?}", bench.record(line(0))) };
            assert!(all.contains(&reader) && bench.findings.is_empty(), "{record:?}: {all:?}");
            // What it has it may give up.
            bench.whole(reader, req(M2sReqOpcode::MemClnEvct, INVALID, SnpType::NoOp));
            assert!(!matches!(bench.record(line(0)), ExportRecord::S(all) if all.contains(&reader)), "{record:?}");
        }
        let owning = [
            req(M2sReqOpcode::MemRd, ANY, SnpType::SnpInv),
            req(M2sReqOpcode::MemInv, ANY, SnpType::SnpInv),
            req(M2sReqOpcode::MemInvNT, ANY, SnpType::SnpInv),
            rwd(M2sRwdOpcode::MemWr, ANY, SnpType::NoOp, u64::MAX),
        ];
        for owns in owning {
            let mut bench = recorded();
            let answers = bench.whole(reader, owns);
            assert!(answers.iter().any(|answer| named(answer) == "Cmp"), "{record:?}: {answers:?}");
            let is_poison = |answer: &Msg<CacheLine>| match answer {
                Msg::S2mDrs { data, .. } => *data == CacheLine::of([0xff; 64]).poisoned(true),
                _ => true,
            };
            assert!(answers.iter().all(is_poison), "{record:?}: {answers:?}");
            assert_eq!((bench.record(line(0)), bench.recalled.len(), bench.accesses.len()), (record.clone(), 0, 0));
        }
    }
}

/// Who may write owns a line that nobody else has, so a home that made no difference would be seen.
#[test]
fn brg_win_10_n() {
    for opcode in [M2sReqOpcode::MemRdData, M2sReqOpcode::MemRd] {
        let asks = |holder| {
            let meta = if opcode == M2sReqOpcode::MemRd { (ANY, SnpType::SnpInv) } else { (NONE, SnpType::SnpData) };
            let mut bench = Bench::recorded(&ExportRecord::I, right, HOLDERS + 1);
            bench.whole(holder, req(opcode, meta.0, meta.1));
            bench.record(line(0))
        };
        assert_eq!(asks(0), ExportRecord::A(0));
        assert_ne!(asks(HOLDERS), ExportRecord::A(HOLDERS));
    }
}

/// A host that may only read sees every store of one that may write.
#[test]
fn a_reader_shares_what_others_store() {
    let window = "class = \"DB\" }]";
    let keys = "logical_devices = 2\ninbound_groups = [\"1:1\"]";
    let text = over_hierarchies(2, keys, &bound(2))
        .replace(window, "class = \"DB\", rights = [\"0:rw\", \"1:r\"] }]")
        .replace("core = { accesses = 60,", "core = { pattern = \"producer-consumer\", accesses = 200,");
    let report = sound(&text, &[]);
    assert_eq!(report.json()["components"]["ubridge"]["inbound refused"].as_u64(), Some(0));
    // Without any right it would read poison.
    let report = scenario::run(
        &ScenarioRequest {
            description: Some(text.replace("\"1:r\"", "\"1:-\"")),
            seed: 1,
            threads: 1,
            ..ScenarioRequest::default()
        },
        &mut |_| (),
    )
    .expect("a run");
    assert!(!report.violations.is_empty());
}

/// Two hosts and GPUs behind another bridge hold lines of accelerators, with a filter for 16 lines, and every invariant holds.
#[test]
fn hosts_and_a_bridge_share_the_memory_of_accelerators() {
    let report = sound(TEXT, &[]);
    let json = report.json();
    let of = |name: &str| json["components"]["ubridge"][name].as_u64().unwrap_or_else(|| panic!("{json:?}"));
    assert!(of("inbound accesses") > 500 && of("inbound writes") > 100, "{json:?}");
}

/// An access of a GPU to the memory of an accelerator is one tree over both bridges and the home, and everything that begins ends once.
#[test]
fn an_access_to_exported_memory_is_one_tree() {
    let told = Told::of_system(TEXT, &["host.lines=4"]);
    assert_eq!(told.first_unbalanced(), None);
    let paths = told.paths(|place| place.starts_with("accel["));
    let of_gpus = paths.iter().filter(|path| path.last().is_some_and(|place| place.starts_with("gpu[")));
    let through = ["ubridge.inbound", "ubridge.home", "nbridge"];
    let mut count = 0;
    for path in of_gpus {
        assert!(through.iter().all(|place| path.contains(place)), "{path:?}");
        count += 1;
    }
    assert!(count > 100, "{count}");
}

/// A system of so many hosts that share the memory of an accelerator, with more keys of the bridge, and with these components and links.
fn shared_by(hosts: usize, keys: &str, more: &str, links: &str) -> String {
    format!(
        r#"format = 1
[system]
name = "shared"
about = "hosts that share the memory of an accelerator"
[clock]
accel = {{ period = "640 ps" }}
bridge = {{ period = "1 ns" }}
[component]
accel = {{ kind = "ualink.accelerator", clock = "accel", traffic = {{ operations = 1, regions = 1 }} }}
other = {{ kind = "ualink.accelerator", clock = "accel", traffic = {{ operations = 1, regions = 1 }} }}
uswitch = {{ kind = "ualink.switch", clock = "accel", ports = 3 }}
host = {{ kind = "cxl.hdm-db-host", count = {hosts}, clock = "bridge", core = {{ accesses = 60, lines = 8, cache_lines = 4 }} }}
{more}
[component.ubridge]
kind = "bridge.ualink"
clock = "bridge"
cxl_ports = 0
home_ports = 1
inbound = [{{ base = "0", size = "1 GiB", to = "8 GiB", class = "DB" }}]
{keys}
[link]
ualink = {{ kind = "ualink", order = "relaxed", between = [["accel.port[0]", "uswitch.port[0]"], ["other.port[0]", "uswitch.port[1]"], ["ubridge.x[0]", "uswitch.port[2]"]] }}
{links}
"#
    )
}

/// Hosts behind a fabric, told apart by SPID.
fn over_fabric(hosts: usize) -> String {
    let more = format!("fabric = {{ kind = \"cxl.fabric-switch\", clock = \"bridge\", hosts = {hosts} }}");
    let links = r#"host = { kind = "cxl-256b-pbr", between = ["fabric.host[i]", "host[i].port[0]"] }
trunk = { kind = "cxl-256b-pbr", between = ["fabric.trunk", "ubridge.home[0]"] }"#;
    shared_by(hosts, "", &more, links)
}

/// Hosts behind a switch, told apart by logical devices.
fn over_hierarchies(hosts: usize, keys: &str, bindings: &[String]) -> String {
    let bindings = bindings.join(", ");
    let more = format!(
        "switch = {{ kind = \"cxl.switch.hbr\", clock = \"bridge\", hosts = {hosts}, bindings = [{bindings}] }}"
    );
    let links = r#"host = { kind = "cxl-256b", between = ["host[i].port[0]", "switch.usp[i]"] }
dev = { kind = "cxl-256b", between = ["switch.dsp[0]", "ubridge.home[0]"] }"#;
    shared_by(hosts, keys, &more, links)
}

fn bound(hosts: usize) -> Vec<String> {
    (0..hosts).map(|n| format!("{{ vcs = {n}, ld = {n} }}")).collect()
}

fn refused(text: &str) -> String {
    resolves(text).err().expect("a finding")
}

/// Who holds lines is told apart by SPID on links with port based routing, by LD-ID at a device with logical devices, and alone on others.
#[test]
fn brg_prt_03_p() {
    let alone =
        shared_by(1, "", "", r#"host = { kind = "cxl-256b", between = ["host[0].port[0]", "ubridge.home[0]"] }"#);
    for text in [over_fabric(2), over_hierarchies(2, "logical_devices = 2", &bound(2)), alone] {
        let report = sound(&text, &[]);
        let json = report.json();
        assert!(json["components"]["ubridge"]["inbound accesses"].as_u64() > Some(20), "{json:?}");
    }
}

/// A second holder where nothing tells two apart, logical devices beside other ports or at a host, and a requester at a link without port
/// based routing.
#[test]
fn brg_prt_03_n() {
    let twice = refused(&over_hierarchies(2, "", &bound(2)));
    assert!(twice.contains("logical device"), "{twice}");
    let link = r#"host = { kind = "cxl-256b", between = ["host[0].port[0]", "ubridge.home[0]"] }"#;
    let at_host = refused(&shared_by(1, "logical_devices = 2", "", link));
    assert!(at_host.contains("found logical devices at the port of a host, expected a switch there"), "{at_host}");
    let beside = refused(&TEXT.replace("home_ports = 3", "home_ports = 3\nlogical_devices = 2"));
    assert!(beside.contains("found logical devices and 3 home ports beside 0 target ports"), "{beside}");
    let requester = refused(&TEXT.replace("peer = { kind = \"cxl-256b-pbr\"", "peer = { kind = \"cxl-256b\""));
    assert!(requester.contains("cxl-256b-pbr"), "{requester}");
}

/// Sixteen hosts are told apart by logical devices, seventeen by ports of a fabric.
#[test]
fn brg_sup_04_p() {
    for (text, hosts) in [(over_hierarchies(16, "logical_devices = 16", &bound(16)), 16), (over_fabric(17), 17)] {
        let system = resolves(&text).unwrap_or_else(|error| panic!("{error}"));
        let joined = scalepool::system::coherence::joined(&system).expect("a home");
        assert_eq!((joined.len(), joined[0].holders.len()), (1, hosts));
    }
}

/// A seventeenth logical device.
#[test]
fn brg_sup_04_n() {
    let text = over_hierarchies(16, "logical_devices = 16", &bound(16));
    let devices = refused(&text.replace("logical_devices = 16", "logical_devices = 17"));
    assert!(devices.contains("logical_devices: found `17`") || devices.contains("found 17"), "{devices}");
    let binding = refused(&text.replace("vcs = 15, ld = 15", "vcs = 15, ld = 16"));
    assert!(binding.contains("ld"), "{binding}");
}

/// One home takes messages in several forms, and one form spells all of them in waves and traces.
#[test]
fn a_home_of_several_forms_is_in_the_wave() {
    let folder = tempfile::tempdir().expect("a folder");
    for (n, text) in [TEXT.to_owned(), over_fabric(2)].into_iter().enumerate() {
        let [vcd, fst] = ["vcd", "fst"].map(|ending| folder.path().join(format!("{n}.{ending}")));
        let outputs = Outputs { vcd: Some(vcd.clone()), fst: Some(fst.clone()), ..Outputs::default() };
        let set = if n == 0 {
            vec!["host.lines=4".to_owned(), "component.host.core.accesses=30".to_owned()]
        } else {
            Vec::new()
        };
        let request = ScenarioRequest {
            description: Some(text),
            seed: 1,
            threads: 1,
            set,
            outputs,
            ..ScenarioRequest::default()
        };
        let report = scenario::run(&request, &mut |_| ()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(report.violations, []);
        let wave = std::fs::read_to_string(vcd).expect("a wave");
        assert!(wave.contains("ubridge") && fst.metadata().is_ok_and(|file| file.len() > 0));
    }
}

/// Accelerators keep the mark of a poisoned line and not its bytes, and no value is lost by that.
#[test]
fn poison_of_exported_memory_is_a_mark_alone() {
    let report = sound(TEXT, &["component.host.core.poison_every=3", "component.host.core.accesses=150"]);
    let json = report.json();
    assert!(json["components"]["host[0]"]["poisoned loads"].as_u64() > Some(3), "{json:?}");
}

/// Atomics through a window of class MC return old values in the lanes of their elements, and nothing is said of others.
#[test]
fn atomics_on_exported_memory_return_their_elements() {
    sound(&TEXT.replace("pattern = \"accesses\", requests = 100", "pattern = \"mix\", requests = 60"), &[]);
}

/// What the home refuses is counted, and its answers tell the load of the inbound half where that is the larger one.
#[test]
fn refusals_are_counted_and_answers_tell_the_larger_load() {
    let mut bench = Bench::with(HOLDERS + 1, [0, 1], right);
    bench.whole(0, at(req(M2sReqOpcode::MemRd, ANY, SnpType::SnpInv), LineAddr::of_address(FROM + SIZE)));
    bench.whole(3, rwd(M2sRwdOpcode::MemWr, INVALID, SnpType::NoOp, u64::MAX));
    assert_eq!(bench.home.refusals(), 2);
    let load = |answer: &Msg<CacheLine>| match answer {
        Msg::S2mDrs { devload, .. } | Msg::S2mNdr { devload, .. } => devload.0,
        _ => 0,
    };
    // A table of one entry is full when it answers.
    let mut bench = Bench::in_front_of(1, HOLDERS, [0, 1], right);
    let answers = bench.whole(0, req(M2sReqOpcode::MemRd, ANY, SnpType::SnpInv));
    assert_eq!(answers.iter().map(load).collect::<Vec<_>>(), [3, 3]);
}

/// A part that is written beside an open read of its line goes on as a part, whatever the read brings.
#[test]
fn a_part_beside_an_open_read_stays_a_part() {
    for status in [Status::TargetAbort, Status::OKAY] {
        let mut bench = Bench::with(1, [0, 1], right);
        bench.memory.insert(TO + FROM, CacheLine::of([9; 64]));
        bench.statuses = vec![status];
        assert!(bench.offer(0, req(M2sReqOpcode::MemRd, NONE, SnpType::NoOp)));
        assert!(bench.offer(0, rwd(M2sRwdOpcode::MemWrPtl, INVALID, SnpType::SnpInv, 0xff)));
        bench.settle();
        let asked: Vec<_> = bench.accesses.iter().map(|access| access.operation).collect();
        assert_eq!(asked[..2], [LineOperation::Read, LineOperation::WritePart], "{status:?}");
        assert!(!asked.contains(&LineOperation::WriteFull), "{status:?}: {asked:?}");
        let mut kept = [9; 64];
        kept[..8].fill(5);
        assert_eq!(bench.memory[&(TO + FROM)], CacheLine::of(kept), "{status:?}");
    }
}

/// Windows and figures of a home with which a run would do nothing, or would not end.
#[test]
fn homes_that_cannot_work_are_refused() {
    let link = r#"host = { kind = "cxl-256b", between = ["host[0].port[0]", "ubridge.home[0]"] }"#;
    let alone = shared_by(1, "", "", link);
    let window = "{ base = \"0\", size = \"1 GiB\", to = \"8 GiB\", class = \"DB\" }";
    let with = |other: &str| refused(&alone.replace(window, other));
    let high = with("{ base = \"4 GiB\", size = \"1 GiB\", to = \"8 GiB\", class = \"DB\" }");
    assert!(high.contains("whose core works on 8 lines from address 0 on"), "{high}");
    let two = |second: &str| {
        let windows = format!(
            "{{ base = \"0\", size = \"512 MiB\", to = \"8 GiB\", class = \"DB\", accelerators = [\"0\", \"1\"] }}, {{ base = \"{second}\", size = \"512 MiB\", to = \"16 GiB\", class = \"DB\", accelerators = [\"0\", \"1\"] }}"
        );
        let one = "{ base = \"0\", size = \"1 GiB\", to = \"8 GiB\", class = \"DB\", accelerators = [\"0\", \"1\"], granule = \"4 KiB\" }";
        resolves(
            &TEXT
                .replace(one, &windows)
                .replace("size = \"80 MiB\", to = \"1 MiB\"", "size = \"80 MiB\", to = \"480 MiB\""),
        )
        .err()
    };
    assert_eq!(two("512 MiB"), None);
    let gap = two("1 GiB").expect("a window into a gap");
    assert!(
        gap.contains("expected addresses of the memory there, 0x0 to 0x60000000, but 0x20000000 to 0x40000000"),
        "{gap}"
    );
    let slow = refused(&shared_by(1, "home = { directory_cycles = 50000 }", "", link));
    assert!(slow.contains("found 50000, expected less than stages.timeout_cycles = 50000"), "{slow}");
    let slow = refused(&shared_by(1, "merge_inbound = \"on\"\nmerge_cycles = 60000", "", link));
    assert!(slow.contains("found 60000, expected less than stages.timeout_cycles = 50000"), "{slow}");
}

/// What is behind a target port is no memory at a port of the home.
#[test]
fn ports_of_each_class_offer_their_own_memory() {
    let text = TEXT
        .replace("home_ports = 3", "home_ports = 3\ntarget_ports = 1")
        .replace(
            "granule = \"4 KiB\" }]",
            "granule = \"4 KiB\" }, { base = \"4 GiB\", size = \"2 MiB\", to = \"4 GiB\" }]",
        )
        .replace("[component.ubridge]", "hh = { kind = \"cxl.host\", clock = \"agents\" }\n[component.ubridge]")
        .replace(
            "cxl = { kind",
            "nh = { kind = \"cxl-256b\", between = [\"hh.cxl\", \"ubridge.target[0]\"] }\ncxl = { kind",
        )
        .replace("size = \"80 MiB\", to = \"1 MiB\"", "size = \"2 MiB\", to = \"4 GiB\"");
    let error = refused(&text);
    assert!(error.contains("expected addresses of the memory there, 0x0 to 0x40000000"), "{error}");
}

/// A cache in front of accelerators is nothing to the home: the same answers, recalls and records, and fewer accesses.
#[test]
fn a_cache_in_front_of_accelerators_is_not_recorded() {
    use super::inbound_cache::cache;
    use scalepool::bridge::cache::policy::EvictionPolicy;
    let asks = || {
        let of_line = |n| {
            let owns = at(req(M2sReqOpcode::MemRd, ANY, SnpType::SnpInv), line(n));
            let shares = at(req(M2sReqOpcode::MemRd, SHARED, SnpType::SnpData), line(n));
            let gives = at(rwd(M2sRwdOpcode::MemWr, INVALID, SnpType::NoOp, u64::MAX), line(n));
            let takes = at(req(M2sReqOpcode::MemInv, ANY, SnpType::SnpInv), line(n));
            [(0, owns), (0, gives), (1, shares), (0, shares), (1, takes), (1, gives), (1, owns), (0, shares)]
        };
        [0, 1, 2, 5, 0, 9, 1].into_iter().flat_map(of_line)
    };
    let told = |mut bench: Bench| {
        let answers: Vec<_> = asks().map(|(holder, msg)| bench.whole(holder, msg)).collect();
        let records: Vec<_> = (0..10).map(|n| bench.record(line(n))).collect();
        assert_eq!(bench.findings, [""; 0]);
        (answers, bench.recalled.clone(), records, bench.accesses.len())
    };
    let without = told(Bench::new());
    for (sets, ways) in [(1, 1), (4, 2)] {
        let within = told(Bench::new().cached(cache(sets, ways, EvictionPolicy::Lru)));
        assert_eq!((&within.0, &within.1, &within.2), (&without.0, &without.1, &without.2));
        assert!(within.3 < without.3, "{} and {}", within.3, without.3);
    }
}

/// A home that keeps few lines takes one back for each further one: many requests of another cluster wait for longer than their bridge does,
/// and with more time all of them are served.
#[test]
fn a_home_with_few_lines_serves_all_in_their_time() {
    let violations = |timeout_cycles: u64| {
        let timeout = format!("component.nbridge.stages.timeout_cycles={timeout_cycles}");
        let less = ["component.gpu.traffic.requests=20", "component.host.core.accesses=60"];
        let set = [&["home.filter_entries=4", &timeout][..], &less].concat();
        crate::fab_hbr::systems::run(TEXT, &set).unwrap_or_else(|error| panic!("{error}")).violations
    };
    assert_eq!(violations(1_000_000), []);
    let late = violations(8000);
    assert!(!late.is_empty() && late.iter().all(|broken| broken.violation.found == "error 8"), "{late:?}");
}
