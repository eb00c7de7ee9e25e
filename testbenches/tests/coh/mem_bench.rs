//! Single agents of CXL.mem under single messages: what the rule tests are made of.

use scalepool::coherence::agent::{Accept, Agent, AgentOutput};
use scalepool::coherence::bias::{Bias, BiasDevice, BiasHost};
use scalepool::coherence::config::CoherenceConfig;
use scalepool::coherence::content::{CacheLine, LineAddr, LineContent, WHOLE_LINE};
use scalepool::coherence::ids::{AgentPort, IdSet};
use scalepool::coherence::mem::options::{MemConfig, NoRange};
use scalepool::coherence::mem::tables::{
    self, ANSWER_ROWS, Copy4, DeviceAfter, DirectoryRecord, HDM_H_ROWS, HdmRegion, ISSUE_ROWS, REQ_ROWS, RWD_ROWS,
};
use scalepool::coherence::mem::{Dcoh, DeviceOp, HdmH, Holders, HostAccess, HostReq, MemHost};
use scalepool::coherence::message::Msg;
use scalepool_protocols::cxl::cxl256::code::{
    BirspOpcode, BisnpOpcode, D2hReqOpcode, DevLoad, DrsOpcode, M2sReqOpcode, M2sRwdOpcode, MetaField, MetaValue,
    NdrOpcode, SnpType,
};

pub type M = Msg<CacheLine>;
pub const X: LineAddr = LineAddr(8);
pub const TAG: u16 = 0;

pub fn bytes(b: u8) -> CacheLine {
    CacheLine::of([b; 64])
}

pub fn with(mem: MemConfig) -> CoherenceConfig {
    CoherenceConfig { mem, ..CoherenceConfig::default() }
}

/// CQID of the first request of a device that has none open.
pub const CQID: u16 = 0;

pub fn m2s(opcode: M2sReqOpcode, meta: Option<MetaValue>, snp: SnpType) -> M {
    let meta_field = if meta.is_some() { MetaField::Meta0State } else { MetaField::NoOp };
    Msg::M2sReq { opcode, snp, meta_field, meta: meta.unwrap_or(MetaValue::Invalid), line: X, tag: TAG }
}

pub fn write(opcode: M2sRwdOpcode, meta: Option<MetaValue>, snp: SnpType, data: u8) -> M {
    let meta_field = if meta.is_some() { MetaField::Meta0State } else { MetaField::NoOp };
    Msg::M2sRwd {
        opcode,
        snp,
        meta_field,
        meta: meta.unwrap_or(MetaValue::Invalid),
        line: X,
        tag: TAG,
        data: bytes(data),
        enables: WHOLE_LINE,
    }
}

pub fn ndr(opcode: NdrOpcode, tag: u16) -> M {
    Msg::S2mNdr { opcode, meta_field: MetaField::NoOp, meta: MetaValue::Invalid, tag, devload: DevLoad(0) }
}

pub fn drs(tag: u16, data: u8) -> M {
    let (meta_field, meta) = (MetaField::NoOp, MetaValue::Invalid);
    let opcode = DrsOpcode::MemData;
    Msg::S2mDrs { opcode, meta_field, meta, tag, data: bytes(data), devload: DevLoad(0) }
}

pub fn bisnp(opcode: BisnpOpcode, line: LineAddr) -> M {
    Msg::S2mBisnp { opcode, line, bi_tag: 0 }
}

pub fn birsp(opcode: BirspOpcode, low_addr: u8) -> M {
    Msg::M2sBirsp { opcode, bi_tag: 0, low_addr }
}

pub fn give<A: Agent<CacheLine>>(
    agent: &mut A,
    config: &CoherenceConfig,
    port: AgentPort,
    msg: M,
) -> AgentOutput<CacheLine> {
    let mut out = AgentOutput::default();
    assert_eq!(agent.accepts(config, port, &msg), Accept::Take, "{}", msg.label());
    agent.take(config, port, msg, 0, &mut out);
    out
}

pub fn rules(out: &AgentOutput<CacheLine>) -> Vec<&'static str> {
    out.events.iter().map(|e| e.rule).collect()
}

pub fn labels(out: &AgentOutput<CacheLine>) -> Vec<String> {
    out.sends.iter().map(|(_, m)| m.label()).collect()
}

/// A device for `hosts` hosts whose line X is held as said.
pub fn device(config: &CoherenceConfig, hosts: AgentPort, holders: Holders) -> Dcoh<CacheLine> {
    let mut dcoh = Dcoh::new(config, hosts);
    dcoh.preset(X, bytes(1), holders);
    dcoh
}

/// A host with a copy of line X.
pub fn host(state: Copy4) -> MemHost<CacheLine> {
    let mut host = MemHost::new(0);
    if state != Copy4::I {
        host.preset(X, state, bytes(1));
    }
    host
}

pub fn issue(host: &mut MemHost<CacheLine>, req: HostReq, want: HostAccess) -> AgentOutput<CacheLine> {
    let mut out = AgentOutput::default();
    host.issue(X, req, want, &mut out);
    out
}

/// Every opcode of a Req row gets the row's answers, and leaves device cache and record as the row says.
pub fn req_obeys(rule: &str) {
    let rows: Vec<_> = REQ_ROWS.iter().filter(|r| r.rule == rule).collect();
    assert_eq!(rows.len(), 1, "{rule}");
    for (row, &opcode) in rows.iter().flat_map(|r| r.opcodes.iter().map(move |o| (r, o))) {
        if row.device == DeviceAfter::Bias {
            let config = CoherenceConfig::default();
            let mut device = BiasDevice::new();
            let forwards_read = opcode == M2sReqOpcode::MemRdFwd;
            let asks = if forwards_read { D2hReqOpcode::RdOwn } else { D2hReqOpcode::WOWrInvF };
            let mut out = AgentOutput::default();
            device.issue(&config, X, asks, Some((bytes(7), WHOLE_LINE)), &mut out);
            let Msg::M2sReq { opcode, snp, meta_field, meta, line, .. } = m2s(opcode, row.meta, row.snp) else {
                return;
            };
            let answer = Msg::M2sReq { opcode, snp, meta_field, meta, line, tag: CQID };
            let out = give(&mut device, &config, 0, answer);
            assert!(out.events.is_empty() && out.sends.is_empty());
            let expected = if forwards_read { Bias::Device } else { Bias::Host };
            assert_eq!(device.bias(X), expected);
            assert_eq!(device.memory(X), if forwards_read { CacheLine::initial(X) } else { bytes(7) });
            continue;
        }
        let grants_e = row.ndr.contains(&NdrOpcode::CmpE);
        let shared = row.meta == Some(MetaValue::Shared) || row.meta_ignored;
        let config = with(MemConfig { shared_grants_exclusive: grants_e, ..MemConfig::default() });
        // A clean copy of the device; where a shared read is granted E the device must have none.
        let own = !(shared && grants_e);
        let before = match opcode {
            M2sReqOpcode::MemClnEvct => Holders::Shared(IdSet::of_bits(1)),
            M2sReqOpcode::MemRdData if !grants_e => Holders::Shared(IdSet::of_bits(2)),
            _ => Holders::NONE,
        };
        let mut dcoh = device(&config, 2, before.clone());
        if own {
            dcoh.issue(&config, X, DeviceOp::ReadShared, &mut AgentOutput::default());
        }
        let out = give(&mut dcoh, &config, 0, m2s(opcode, row.meta, row.snp));
        assert!(out.events.is_empty(), "{rule}: {}", out.events[0]);
        let answers: Vec<_> = out
            .sends
            .iter()
            .filter_map(|(_, m)| if let Msg::S2mNdr { opcode, .. } = m { Some(*opcode) } else { None })
            .collect();
        assert_eq!(answers.first(), row.ndr.first(), "{rule}");
        assert_eq!(out.sends.iter().any(|(_, m)| matches!(m, Msg::S2mDrs { .. })), row.data, "{rule}");
        let left = dcoh.own(X).map_or(Copy4::I, |o| o.0);
        match row.device {
            DeviceAfter::Invalid => assert_eq!(left, Copy4::I, "{rule}"),
            DeviceAfter::SharedOrInvalid => assert!(left <= Copy4::S, "{rule}"),
            _ => assert_eq!(left, if own { Copy4::S } else { Copy4::I }, "{rule}"),
        }
        let record = dcoh.holders(X);
        match row.record {
            DirectoryRecord::Any => assert_eq!(record, Some(Holders::Owner(0)), "{rule}"),
            DirectoryRecord::Shared => assert_eq!(record, Some(Holders::Shared(before.all().with(0))), "{rule}"),
            _ => assert_eq!(record, None, "{rule}"),
        }
    }
}

/// A combination that the table does not have is reported by the device with this rule, or an answer that the row does
/// not have by the host; nothing changes.
pub fn req_breaks(rule: &str) {
    let config = CoherenceConfig::default();
    let row = REQ_ROWS.iter().find(|r| r.rule == rule).expect("a row");
    let metas = [None, Some(MetaValue::Invalid), Some(MetaValue::Any), Some(MetaValue::Shared)];
    let snps = [SnpType::NoOp, SnpType::SnpData, SnpType::SnpCur, SnpType::SnpInv];
    let mut found = false;
    for &opcode in row.opcodes {
        for (meta, snp) in metas.iter().flat_map(|m| snps.iter().map(move |s| (*m, *s))) {
            let mut dcoh = device(&config, 2, Holders::Shared(IdSet::of_bits(2)));
            let before = dcoh.clone();
            let msg = m2s(opcode, meta, snp);
            let Msg::M2sReq { meta_field, meta, .. } = msg else { return };
            if tables::check_req(HdmRegion::HdmDb, opcode, meta_field, meta, snp).err() != Some(row.rule) {
                continue;
            }
            let out = give(&mut dcoh, &config, 0, msg);
            assert_eq!(rules(&out), [rule]);
            assert!(out.sends.is_empty() && dcoh == before, "{rule}: nothing changes");
            found = true;
        }
    }
    if !found {
        let req = HostReq { opcode: row.opcodes[0], meta: row.meta, snp: row.snp };
        let mut host = host(Copy4::I);
        issue(&mut host, req, HostAccess::Nothing);
        let before = host.clone();
        let wrong = if row.ndr == [NdrOpcode::Cmp] { NdrOpcode::CmpE } else { NdrOpcode::Cmp };
        let out = give(&mut host, &config, 0, ndr(wrong, TAG));
        assert_eq!(rules(&out), [rule]);
        assert!(host == before, "{rule}: nothing changes");
    }
}

/// A legal write gets Cmp without meta, memory has its bytes and the record is the row's. Where a row is illegal, its
/// neighbours that differ in one field are legal, or the same message on HDM-H.
pub fn write_obeys(rule: &str) {
    match rule {
        "COH-MEM-25" => ["COH-MEM-21", "COH-MEM-22"].into_iter().for_each(write_obeys),
        "COH-MEM-26" => ["COH-MEM-23", "COH-MEM-24"].into_iter().for_each(write_obeys),
        "COH-MEM-27" => {
            let (mut dcoh, config) = snooping();
            let out = give(&mut dcoh, &config, 0, write(M2sRwdOpcode::BIConflict, None, SnpType::NoOp, 0));
            assert_eq!((rules(&out), labels(&out)), (vec![], vec!["BIConflictAck".to_owned()]));
        }
        "COH-MEM-28" => hdm_h_obeys("COH-MEM-34"),
        _ => legal_write(rule),
    }
}

/// A device that takes line X back from host 0.
fn snooping() -> (Dcoh<CacheLine>, CoherenceConfig) {
    let config = CoherenceConfig::default();
    let mut dcoh = device(&config, 2, Holders::Owner(0));
    dcoh.issue(&config, X, DeviceOp::ReadOwn, &mut AgentOutput::default());
    (dcoh, config)
}

fn legal_write(rule: &str) {
    let config = CoherenceConfig::default();
    let row = RWD_ROWS.iter().find(|r| r.rule == rule).expect("a row");
    let hosts = if row.single_host { 1 } else { 2 };
    for &opcode in row.opcodes {
        let before = if row.single_host { Holders::NONE } else { Holders::Owner(0) };
        let mut dcoh = device(&config, hosts, before);
        let out = give(&mut dcoh, &config, 0, write(opcode, row.metas.first().copied(), row.snps[0], 9));
        assert!(out.events.is_empty(), "{}", out.events[0]);
        let [(0, Msg::S2mNdr { opcode: NdrOpcode::Cmp, meta_field: MetaField::NoOp, .. })] = out.sends.as_slice()
        else {
            panic!("{rule}: {:?}", labels(&out));
        };
        assert_eq!(dcoh.memory(X), bytes(9));
        let expected = match row.record {
            DirectoryRecord::Any => Some(Holders::Owner(0)),
            DirectoryRecord::Shared => Some(Holders::Shared(IdSet::of_bits(1))),
            _ => None,
        };
        assert_eq!(dcoh.holders(X), expected, "{rule}");
    }
}

/// An illegal row is reported by the device, and memory stays as it was. Of a legal row, an answer that it does not have
/// is reported by the host, which then waits for the right one.
pub fn write_breaks(rule: &str) {
    let kept = match rule {
        "COH-MEM-21" => Copy4::E,
        "COH-MEM-22" => Copy4::S,
        "COH-MEM-23" => Copy4::I,
        "COH-MEM-24" => return unowned_write_in_shared_memory(),
        "COH-MEM-27" => {
            let (mut dcoh, config) = snooping();
            let wrong = write(M2sRwdOpcode::BIConflict, Some(MetaValue::Any), SnpType::NoOp, 0);
            let out = give(&mut dcoh, &config, 0, wrong);
            return assert_eq!((rules(&out), out.sends.len()), (vec![rule], 0));
        }
        _ => return illegal_write(rule),
    };
    for wrong in [NdrOpcode::CmpS, NdrOpcode::CmpE, NdrOpcode::CmpM] {
        let mut writer = host(Copy4::M);
        writer.write_back(X, kept, &mut AgentOutput::default());
        let before = writer.clone();
        let out = give(&mut writer, &CoherenceConfig::default(), 0, ndr(wrong, TAG));
        assert_eq!((rules(&out), out.sends.len()), (vec![rule], 0), "{wrong:?}");
        assert!(writer == before);
    }
}

fn unowned_write_in_shared_memory() {
    let config = CoherenceConfig::default();
    for holders in [Holders::NONE, Holders::Shared(IdSet::of_bits(2)), Holders::Owner(0)] {
        let mut dcoh = device(&config, 2, holders);
        let out = give(&mut dcoh, &config, 0, write(M2sRwdOpcode::MemWr, Some(MetaValue::Invalid), SnpType::SnpInv, 9));
        assert_eq!((rules(&out), dcoh.memory(X)), (vec!["COH-MEM-24", "COH-MEM-45"], bytes(1)));
    }
}

/// Every combination of an illegal row.
fn illegal_write(rule: &str) {
    let config = CoherenceConfig::default();
    let row = RWD_ROWS.iter().find(|r| r.rule == rule && !r.legal).expect("an illegal row");
    for &opcode in row.opcodes {
        let metas: Vec<_> =
            if row.metas.is_empty() { vec![None] } else { row.metas.iter().copied().map(Some).collect() };
        for (&snp, &meta) in row.snps.iter().flat_map(|s| metas.iter().map(move |m| (s, m))) {
            let mut dcoh = device(&config, 1, Holders::Owner(0));
            let before = dcoh.clone();
            let out = give(&mut dcoh, &config, 0, write(opcode, meta, snp, 9));
            assert_eq!(rules(&out), [rule]);
            assert!(dcoh == before && out.sends.is_empty());
        }
    }
}

/// The legal messages of an HDM-H row are answered as the row says.
pub fn hdm_h_obeys(rule: &str) {
    if rule == "COH-MEM-35" {
        return (29..=34).for_each(|row| hdm_h_obeys(&format!("COH-MEM-{row}")));
    }
    let config = with(MemConfig { meta_stored: true, ..MemConfig::default() });
    let row = HDM_H_ROWS.iter().find(|r| r.rule == rule && r.legal).expect("a legal row");
    let metas: Vec<Option<MetaValue>> =
        [row.noop.then_some(None), row.meta0.then_some(Some(MetaValue::Shared))].into_iter().flatten().collect();
    for &meta in &metas {
        let reqs = row.req.iter().map(|&o| m2s(o, meta, SnpType::NoOp));
        let writes = row.rwd.iter().map(|&o| write(o, meta, SnpType::NoOp, 9));
        for msg in reqs.chain(writes) {
            let mut memory = HdmH::new();
            let out = give(&mut memory, &config, 0, msg);
            assert!(out.events.is_empty(), "{}", out.events[0]);
            let (cmp, data) = (labels(&out).contains(&"Cmp".into()), labels(&out).contains(&"MemData".into()));
            assert_eq!((cmp, data), (row.ndr, row.data), "{rule}");
            if row.rwd.contains(&M2sRwdOpcode::MemWr) {
                assert_eq!(memory.memory(X), bytes(9));
            }
            if row.meta0 && meta.is_some() {
                assert_eq!(memory.meta(X), MetaValue::Shared);
            }
            if row.req.contains(&M2sReqOpcode::MemRdData) {
                assert_eq!(memory.meta(X), MetaValue::Any, "a stored I becomes A");
            }
        }
    }
}

/// A snoop, or a MetaField that the row does not have, is reported and changes nothing.
pub fn hdm_h_breaks(rule: &str) {
    let config = CoherenceConfig::default();
    let row = HDM_H_ROWS.iter().find(|r| r.rule == rule).expect("a row");
    let mut wrong = Vec::new();
    for snp in [SnpType::SnpData, SnpType::SnpCur, SnpType::SnpInv] {
        wrong.extend(row.req.iter().map(|&o| m2s(o, None, snp)));
        wrong.extend(row.rwd.iter().map(|&o| write(o, None, snp, 9)));
    }
    if !row.noop {
        wrong.extend(row.rwd.iter().map(|&o| write(o, None, SnpType::NoOp, 9)));
    }
    if !row.meta0 && !row.req.contains(&M2sReqOpcode::MemSpecRd) {
        wrong.extend(row.req.iter().map(|&o| m2s(o, Some(MetaValue::Any), SnpType::NoOp)));
        wrong.extend(row.rwd.iter().map(|&o| write(o, Some(MetaValue::Any), SnpType::NoOp, 9)));
    }
    for msg in wrong {
        let mut memory = HdmH::new();
        let out = give(&mut memory, &config, 0, msg);
        let snooped = matches!(msg, Msg::M2sReq { snp, .. } | Msg::M2sRwd { snp, .. } if snp != SnpType::NoOp);
        let expected = if snooped && rule != "COH-MEM-35" { vec!["COH-MEM-35", rule] } else { vec![rule] };
        assert_eq!(rules(&out), expected, "{}", msg.label());
        assert!(out.sends.is_empty() && memory == HdmH::new());
    }
}

/// Messages of a row of the start states.
fn issued(rule: &str) -> Vec<HostReq> {
    let of = |r: &HostReq| {
        let field = if r.meta.is_some() { MetaField::Meta0State } else { MetaField::NoOp };
        tables::issue_req(r.opcode, field, r.meta.unwrap_or(MetaValue::Invalid)).is_some_and(|row| row.rule == rule)
    };
    HostReq::ALL.into_iter().filter(of).collect()
}

/// Issued from every state of the row, from no other.
pub fn issue_obeys(rule: &str) {
    let row = ISSUE_ROWS.iter().find(|r| r.rule == rule).expect("a row");
    for state in [Copy4::M, Copy4::E, Copy4::S, Copy4::I] {
        let legal = row.states.contains(&state);
        let mut out = AgentOutput::default();
        match rule {
            "COH-MEM-42" => host(state).write_back(X, Copy4::I, &mut out),
            "COH-MEM-43" => host(state).write_unowned(X, bytes(9), WHOLE_LINE, &mut out),
            _ => issued(rule).into_iter().for_each(|r| host(state).issue(X, r, HostAccess::Nothing, &mut out)),
        }
        assert_eq!((out.events.is_empty(), !out.sends.is_empty()), (legal, legal), "{rule} from {state:?}");
    }
}

/// From a state without the mark: reported with the rule, nothing is sent.
pub fn issue_breaks(rule: &str) {
    let row = ISSUE_ROWS.iter().find(|r| r.rule == rule).expect("a row");
    let mut wrong = Vec::new();
    for state in [Copy4::M, Copy4::E, Copy4::S, Copy4::I].into_iter().filter(|s| !row.states.contains(s)) {
        let mut out = AgentOutput::default();
        match rule {
            "COH-MEM-42" => host(state).write_back(X, Copy4::I, &mut out),
            "COH-MEM-43" => host(state).write_unowned(X, bytes(9), WHOLE_LINE, &mut out),
            _ => issued(rule).into_iter().for_each(|r| host(state).issue(X, r, HostAccess::Nothing, &mut out)),
        }
        wrong.push(out);
    }
    // Rows that allow every state are broken by a second request on the line.
    if row.states.len() == 4 {
        let mut host = host(Copy4::I);
        let req = issued(rule)[0];
        issue(&mut host, req, HostAccess::Nothing);
        wrong.push(issue(&mut host, req, HostAccess::Nothing));
    }
    for out in wrong {
        assert!(!out.events.is_empty() && rules(&out).iter().all(|r| *r == rule) && out.sends.is_empty(), "{rule}");
    }
}

/// Every legal answer of a host state is taken by the device, and our host gives the first of them.
pub fn answers_obey(rule: &str) {
    let config = CoherenceConfig::default();
    for row in ANSWER_ROWS.iter().filter(|r| r.rule == rule) {
        assert_eq!(tables::check_answer(row.snoop, row.answer), Ok(rule));
        let first = tables::answers(row.snoop, row.from).next().expect("a row");
        let mut host = host(row.from);
        let mut out = give(&mut host, &config, 0, bisnp(row.snoop, X));
        if first.write_back {
            let [(0, Msg::M2sRwd { opcode: M2sRwdOpcode::MemWr, tag, .. })] = out.sends[..] else {
                panic!("{rule}: {:?}", labels(&out))
            };
            out = give(&mut host, &config, 0, ndr(NdrOpcode::Cmp, tag));
        }
        assert_eq!(labels(&out), [first.answer.name().expect("a name")]);
        assert_eq!(host.copy(X).state, first.left);
    }
}

/// An answer that no state of the host can give is reported, and the back-invalidate stays open.
pub fn answers_break(rule: &str) {
    let config = CoherenceConfig::default();
    let snoop = ANSWER_ROWS.iter().find(|r| r.rule == rule).expect("a row").snoop;
    let op = match snoop {
        BisnpOpcode::BISnpInv => DeviceOp::ReadOwn,
        BisnpOpcode::BISnpData => DeviceOp::ReadShared,
        _ => DeviceOp::ReadOnce,
    };
    let mut named = false;
    for answer in [0, 1, 2, 3, 4, 5, 6].map(BirspOpcode) {
        if ANSWER_ROWS.iter().any(|r| r.snoop == snoop && r.answer == answer) {
            continue;
        }
        let mut dcoh = device(&config, 2, Holders::Owner(0));
        dcoh.issue(&config, X, op, &mut AgentOutput::default());
        let before = dcoh.clone();
        let out = give(&mut dcoh, &config, 0, birsp(answer, 0));
        let expected = if answer.is_block() { "COH-BLK-03" } else { rule };
        assert_eq!(rules(&out), [expected], "{answer:?}");
        assert!(dcoh == before);
        named |= expected == rule;
    }
    assert!(named, "{rule} itself is named");
}

/// A device without line X.
pub fn outside() -> CoherenceConfig {
    with(MemConfig { no_range: vec![NoRange { first: 0, last: 0xffff }], ..MemConfig::default() })
}

/// An HDM-D device with an own copy in device bias.
pub fn bias_device(state: Copy4) -> BiasDevice<CacheLine> {
    let mut device = BiasDevice::new();
    let bias = if state >= Copy4::E { Bias::Device } else { Bias::Host };
    device.preset(X, bytes(1), bias, state, (state != Copy4::I).then(|| bytes(if state == Copy4::M { 5 } else { 1 })));
    device
}

/// An HDM-D host with a copy.
pub fn bias_host(state: Copy4) -> BiasHost<CacheLine> {
    let mut host = BiasHost::new(0);
    if state != Copy4::I {
        host.mem.preset(X, state, bytes(1));
    }
    host
}

pub fn d2h(opcode: D2hReqOpcode) -> M {
    Msg::D2hReq { opcode, line: X, cqid: X.0 as u16 }
}

/// A row of the bias flow: the request, what the host answers that has the line in M, and an answer that the row does not
/// have.
fn bias_row(rule: &str) -> (D2hReqOpcode, &'static str, M2sReqOpcode, MetaValue) {
    let (read, write) = (M2sReqOpcode::MemRdFwd, M2sReqOpcode::MemWrFwd);
    match rule {
        "COH-BIA-02" => (D2hReqOpcode::RdCurr, "MemRdFwd Any NoOp", write, MetaValue::Any),
        "COH-BIA-03" => (D2hReqOpcode::RdShared, "MemRdFwd Shared NoOp", read, MetaValue::Any),
        "COH-BIA-04" => (D2hReqOpcode::RdAny, "MemRdFwd Shared NoOp", read, MetaValue::Any),
        "COH-BIA-05" => (D2hReqOpcode::RdOwn, "MemRdFwd Invalid NoOp", read, MetaValue::Shared),
        "COH-BIA-06" => (D2hReqOpcode::CLFlush, "MemRdFwd Invalid NoOp", read, MetaValue::Shared),
        "COH-BIA-07" => (D2hReqOpcode::WOWrInvF, "MemWrFwd Invalid NoOp", write, MetaValue::Shared),
        other => panic!("{other} has no row here"),
    }
}

/// The host writes its dirty copy back, and then answers as the row says.
pub fn bias_obeys(rule: &str) {
    let config = CoherenceConfig::default();
    let (request, answer, ..) = bias_row(rule);
    let mut host = bias_host(Copy4::M);
    let out = give(&mut host, &config, 0, d2h(request));
    let Msg::M2sRwd { tag, .. } = out.sends[0].1 else { panic!("the write back first") };
    let out = give(&mut host, &config, 0, ndr(NdrOpcode::Cmp, tag));
    assert_eq!(labels(&out), [answer]);
}

/// An answer that the row does not have is reported by the device, and nothing changes.
pub fn bias_breaks(rule: &str) {
    let config = CoherenceConfig::default();
    let (request, _, opcode, meta) = bias_row(rule);
    let mut device = bias_device(Copy4::I);
    device.issue(&config, X, request, Some((bytes(2), WHOLE_LINE)), &mut AgentOutput::default());
    let before = device.clone();
    let (snp, meta_field) = (SnpType::NoOp, MetaField::Meta0State);
    let wrong = Msg::M2sReq { opcode, snp, meta_field, meta, line: X, tag: CQID };
    assert_eq!(rules(&give(&mut device, &config, 0, wrong)), [rule]);
    assert!(device == before);
}
